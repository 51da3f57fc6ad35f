"""The process that holds the model: reads the files, explains, and answers in plain JSON.

A model that crashes, hangs or eats memory ends this process, and nothing else.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from rhale._explain import explain
from rhale._interact import interactions
from rhale.cli.rehearse import rehearse
from rhale.cli.request import Request, read_request
from rhale.cli.sizes import written_size
from rhale.errors import BadTableError, RhaleError
from rhale.models.expected_columns import columns_for
from rhale.models.files.load import is_named_object, load_file, load_named
from rhale.names import near_names
from rhale.results import store
from rhale.system.processes import (
    Say,
    claimed_output,
    end_with_parent,
    is_about_memory,
    limit_this_process,
    speaker,
)
from rhale.tables.files.sources import open_files

DOING = {
    "explain": "explaining",
    "check": "trying a few rows",
    "interactions": "measuring pairs",
}


def main() -> None:
    """Read one request, do it, answer."""
    request = read_request(sys.stdin.buffer.readline())
    limit_this_process(request.max_memory, request.max_seconds)
    end_with_parent()
    say = speaker(claimed_output())
    try:
        say(result=work(request, say))
    except SystemExit as left:
        os._exit(left.code if isinstance(left.code, int) else 1)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent tells it
        say(error=described(error, request))
    os._exit(0)  # no farewell of libraries, some of which hang in it


def work(request: Request, say: Say) -> dict[str, Any]:
    """Read the files, and explain, rehearse or measure pairs."""
    say(doing="reading the table")
    table = open_files(request.data)
    say(doing="reading the model")
    if is_named_object(request.model):
        model = load_named(request.model)
    else:
        model = load_file(
            request.model, trust=request.trust, allow_pickle=request.allow_pickle, contained=True
        )
    have = columns_left(table.names, request)
    columns = columns_for(model, have) or have
    left_out = [name for name in have if name not in columns]
    if left_out:
        say(note=f"columns that the model does not know are left out: {', '.join(left_out)}")
    settings = {"columns": columns, **request.arguments}
    say(doing=DOING[request.task])
    if request.task == "check":
        return asdict(rehearse(model, table, **settings))
    settings["progress"] = lambda done, n: say(done=done, of=n)
    if request.task == "interactions":
        with told(say):
            found = store.pack_interactions(interactions(model, table, **settings))
    else:
        found = store.pack(explain(model, table, **settings))
    return {store.VERSION: store.FORMAT, **found}


@contextmanager
def told(say: Say) -> Iterator[None]:
    """Pass on what rhale would warn of: what all pairs cost, before it is paid."""
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: say(note=record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("rhale")
    log.addHandler(listener)
    try:
        yield
    finally:
        log.removeHandler(listener)


def columns_left(names: Sequence[str], request: Request) -> list[str]:
    """Columns that are neither the target nor the weights."""
    if request.target is not None and request.target not in names:
        msg = f"there is no column {request.target!r} to leave out; "
        raise BadTableError(msg + near_names(request.target, names))
    return [name for name in names if name not in (request.target, request.asked.get("weights"))]


def described(error: BaseException, request: Request) -> dict[str, str]:
    """What to tell of an error: its kind, one sentence, and its traceback for those who ask."""
    trace = "".join(traceback.format_exception(error))
    if is_about_memory(error):
        size = written_size(request.max_memory)
        msg = f"the model and the table need more than {size} of memory; --max-memory allows more"
        return {"kind": "ModelStoppedError", "message": msg, "trace": trace}
    if isinstance(error, RhaleError):
        return {"kind": type(error).__name__, "message": str(error), "trace": trace}
    if not isinstance(error, Exception):  # Ctrl-C does not come here: it ends the parent
        msg = f"the model raised {type(error).__name__}, which ends a program: {error}"
        return {"kind": "ModelFailedError", "message": msg, "trace": trace}
    msg = f"something unexpected happened ({type(error).__name__}: {error}); --debug shows where"
    return {"kind": "RhaleError", "message": msg, "trace": trace}


if __name__ == "__main__":
    main()
