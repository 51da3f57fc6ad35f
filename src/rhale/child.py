"""The process that makes a call with a model file: it reads arguments, calls, and replies in plain values.

A model that crashes, hangs or eats memory ends this process, and nothing else.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import rhale
from rhale.effects import store
from rhale.effects.explanation import Explanation
from rhale.errors import RhaleError
from rhale.interaction.result import Interactions
from rhale.models.files import sandbox
from rhale.stability.result import Refits
from rhale.system.processes import (
    Say,
    claim_output,
    end_with_parent,
    is_about_memory,
    limit_this_process,
    make_speaker,
    written_size,
)

LATER = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
LEARNERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    ".txt": ("lightgbm", "LGBMRegressor", {}),
    ".json": ("xgboost", "XGBRegressor", {}),
    ".ubj": ("xgboost", "XGBRegressor", {}),
    ".cbm": ("catboost", "CatBoostRegressor", {"allow_writing_files": False}),
    ".skops": ("sklearn.ensemble", "RandomForestRegressor", {}),
}
CALLS = ("explain", "interactions", "refit", "refits")
Work = Callable[[Say], dict[str, Any]]


def main() -> None:
    """Do the call that was asked for."""
    request = json.loads(sys.stdin.buffer.readline())
    size = written_size(request["max_memory"])
    too_much = f"{request['model']} and the rows need more than {size} of memory"
    serve(
        lambda: _call_of(request["call"]),
        request,
        too_much,
        "load the model yourself (rhale.models.load_file) to see where",
    )


def serve(
    begin: Callable[[], Work],  # reads the rest of the input, and returns the work
    limits: Mapping[str, Any],  # `max_memory` in bytes and `max_seconds`
    too_much: str,  # the message where memory runs out
    hint: str,  # advice for errors that nobody expected
) -> NoReturn:
    """Do one piece of work within limits, answer, and end."""
    limit_this_process(limits["max_memory"], limits["max_seconds"])
    say = make_speaker(claim_output())
    try:
        work = begin()
        end_with_parent()
        with forward_warnings(say):
            say(result=work(say))
    except SystemExit as left:
        os._exit(left.code if isinstance(left.code, int) else 1)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent tells it
        say(error=described(error, too_much, hint))
    os._exit(0)  # no farewell of libraries, some of which hang in it


def _call_of(name: str) -> Work:
    """Read the arguments of a call, which our own parent writes."""
    stream, arguments = sys.stdin.buffer, dict[str, Any]()
    while (argument := pickle.load(stream)) is not None:  # noqa: S301 - our own parent's
        arguments[argument] = pickle.load(stream)  # noqa: S301
    sandbox.IS_CHILD_PROCESS = True

    def work(say: Say) -> dict[str, Any]:
        if arguments["progress"]:  # which makes chunks smaller
            arguments["progress"] = lambda done, of: say(done=int(done), of=int(of))
        with warned(say):
            return packed(getattr(rhale, CALLS[CALLS.index(name)])(**arguments))

    return work


def compile_tree_loops(ending: str, call: str) -> None:
    """Have numba compile, and keep, what walks trees: for a model of our own, from no file."""
    module, name, silent = LEARNERS[ending]
    rows = np.random.default_rng(0).normal(size=(200, 3))
    model = getattr(import_module(module), name)(n_estimators=3, **silent)
    model.fit(rows, rows[:, 0] * rows[:, 1])
    getattr(rhale, call)(model, rows)


def packed(found: Any) -> dict[str, Any]:
    """A result as `rhale.load` reads it from files."""
    packs = {
        Explanation: store.pack_explanation,
        Interactions: store.pack_interactions,
        Refits: store.pack_refits,
    }
    return {store.VERSION: store.FORMAT, **packs[type(found)](found)}


@contextmanager
def forward_warnings(say: Say) -> Iterator[None]:
    """Pass on what rhale would warn of: what all pairs cost, before it is paid."""
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: say(note=record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("rhale")
    log.addHandler(listener)
    try:
        yield
    finally:
        log.removeHandler(listener)


@contextmanager
def warned(say: Say) -> Iterator[None]:
    """Pass on warnings; those of libraries about their own future stay here."""
    house = str(Path(rhale.__file__).parent)

    def pass_on(message: Any, category: type[Warning], filename: str, *_: Any, **__: Any) -> None:
        if not issubclass(category, LATER) or filename.startswith(house):
            say(warning=[category.__name__, str(message)])

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = pass_on
        yield


def described(error: BaseException, too_much: str, hint: str) -> dict[str, Any]:
    """What to tell of an error: its kind, one sentence, and its traceback for those who ask."""
    trace = "".join(traceback.format_exception(error))
    if is_about_memory(error):
        return {"kind": "ModelStoppedError", "message": too_much, "trace": trace}
    if isinstance(error, RhaleError):
        return {"kind": type(error).__name__, "message": str(error), "trace": trace}
    if isinstance(error, OSError) and isinstance(error.filename, str):
        place = {"errno": error.errno, "filename": error.filename}
        return {"kind": "OSError", "message": str(error.strerror), "trace": trace, **place}
    if not isinstance(error, Exception):  # Ctrl-C does not come here: it ends the parent
        msg = f"the model raised {type(error).__name__}, which ends a program: {error}"
        return {"kind": "ModelFailedError", "message": msg, "trace": trace}
    msg = f"something unexpected happened ({type(error).__name__}: {error}); {hint}"
    return {"kind": "RhaleError", "message": msg, "trace": trace}
