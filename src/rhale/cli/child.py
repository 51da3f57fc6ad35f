"""The process that holds the model: reads the files, explains, and answers in plain JSON.

A model that crashes, hangs or eats memory ends this process, and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import IO, Any

from rhale import store
from rhale.cli.bins import read_bins
from rhale.cli.limits import limit_this_process, written_size
from rhale.cli.request import Request, read_request
from rhale.errors import BadTableError, RhaleError
from rhale.explain import explain
from rhale.models.columns import columns_for
from rhale.models.files import is_named_object, load_file, load_named
from rhale.names import near_names
from rhale.rehearse import rehearse
from rhale.tables.files import open_files

Say = Callable[..., None]


def main() -> None:
    """Read one request, do it, answer."""
    request = read_request(sys.stdin.buffer.readline())
    limit_this_process(request.max_memory, request.max_seconds)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    say = speaker(claimed_output())
    try:
        say(result=work(request, say))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent tells it
        say(error=described(error, request))
    except SystemExit as left:
        os._exit(left.code if isinstance(left.code, int) else 1)
    os._exit(0)  # no farewell of libraries, some of which hang in it


def work(request: Request, say: Say) -> dict[str, Any]:
    """Read the files, and explain or rehearse."""
    say(doing="reading the table")
    table = open_files(request.data)
    say(doing="reading the model")
    if is_named_object(request.model):
        model = load_named(request.model)
    else:
        model = load_file(request.model, trust=request.trust, allow_pickle=request.allow_pickle)
    have = columns_left(table.names, request)
    columns = columns_for(model, have) or have
    left_out = [name for name in have if name not in columns]
    if left_out:
        say(note=f"columns that the model does not know are left out: {', '.join(left_out)}")
    settings = {"columns": columns, **settings_of(request)}
    say(doing="explaining" if request.task == "explain" else "trying a few rows")
    if request.task == "check":
        return asdict(rehearse(model, table, **settings))
    fx = explain(
        model,
        table,
        checkpoint=request.checkpoint,
        progress=lambda done, n: say(done=done, of=n),
        **settings,
    )
    return {store.VERSION: store.FORMAT, **store.pack(fx)}


def columns_left(names: Sequence[str], request: Request) -> list[str]:
    """Columns that are neither the target nor the weights."""
    if request.target is not None and request.target not in names:
        msg = f"there is no column {request.target!r} to leave out; "
        raise BadTableError(msg + near_names(request.target, names))
    return [name for name in names if name not in (request.target, request.weights)]


def settings_of(request: Request) -> dict[str, Any]:
    """Arguments of `explain`; whole numbers name features and outputs by position too."""
    return {
        "features": request.features,
        "method": request.method,
        "bins": read_bins(request.bins),
        "output": _name_or_place(request.output),
        "response": request.response,
        "weights": request.weights,
        "n_rows": request.rows,
        "seed": request.seed,
    }


def _name_or_place(output: str | None) -> str | int | None:
    return int(output) if output is not None and output.isdigit() else output


def described(error: Exception, request: Request) -> dict[str, str]:
    """What to tell of an error: its kind, one sentence, and its traceback for those who ask."""
    trace = "".join(traceback.format_exception(error))
    if _is_about_memory(error):
        size = written_size(request.max_memory)
        msg = f"the model and the table need more than {size} of memory; --max-memory allows more"
        return {"kind": "ModelStoppedError", "message": msg, "trace": trace}
    if isinstance(error, RhaleError):
        return {"kind": type(error).__name__, "message": str(error), "trace": trace}
    msg = f"something unexpected happened ({type(error).__name__}: {error}); --debug shows where"
    return {"kind": "RhaleError", "message": msg, "trace": trace}


def _is_about_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError) or "std::bad_alloc" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def claimed_output() -> IO[bytes]:
    """Keep standard output for answers; what models print goes to standard error."""
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine


def speaker(stream: IO[bytes]) -> Say:
    """A function that writes its arguments as one line of JSON."""

    def say(**words: Any) -> None:
        stream.write(json.dumps(words).encode() + b"\n")
        stream.flush()

    return say


def _end_with_parent() -> None:
    """End when the parent is gone: it never writes again, so reading ends with it."""
    while os.read(0, 2**12):
        continue
    os._exit(1)


if __name__ == "__main__":
    main()
