"""The process that holds the model: reads the files, explains or trains, and answers in plain JSON.

A model that crashes, hangs or eats memory ends this process, and nothing else.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from rhale.api import explain
from rhale.child import packed, serve
from rhale.cli.parent import Request, read_request
from rhale.cli.refit_options import find_learner
from rhale.cli.rehearse import rehearse
from rhale.data.files.table import least_size, open_files, read_all
from rhale.data.pieces.table import PiecedTable
from rhale.errors import BadTableError
from rhale.interaction.api import interactions
from rhale.models.columns import columns_for
from rhale.models.files.load import is_named_object, load_file, load_named
from rhale.naming import near_names
from rhale.stability.api import refit
from rhale.system.processes import Say, written_size

DOING = {
    "explain": "explaining",
    "check": "trying a few rows",
    "interactions": "measuring pairs",
    "refit": "training",
}


def main() -> None:
    """Read one request, do it, answer."""
    request = read_request(sys.stdin.buffer.readline())
    size = written_size(request.max_memory)
    too_much = f"the model and the table need more than {size} of memory; --max-memory allows more"
    serve(lambda: partial(run_request, request), asdict(request), too_much, "--debug shows where")


def run_request(request: Request, say: Say) -> dict[str, Any]:
    """Read the files, and explain, rehearse, measure pairs or train."""
    say(doing="reading the table")
    table = open_files(request.data)
    if request.task == "refit":
        # Read the learner and all rows, train and explain; Ctrl-C keeps what is done.
        table = columns_needed(table, request)
        say(doing="reading the learner")
        learner = find_learner(request.model)
        say(doing="reading the rows")
        rows = read_training_rows(table, request.max_memory)

        def tell(done: int, n_trainings: int) -> None:
            say(done=done, of=n_trainings, unit="trainings")
            if done == n_trainings:  # what is left is to answer, which needs no haste
                signal.signal(signal.SIGINT, signal.SIG_IGN)

        say(doing=DOING[request.task])
        return packed(refit(learner, rows, request.target, **request.arguments, progress=tell))
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
    settings = {"columns": columns, **request.arguments}
    say(doing=DOING[request.task])
    if request.task == "check":
        return asdict(rehearse(model, table, **settings))
    settings["progress"] = lambda done, n: say(done=done, of=n)
    call = interactions if request.task == "interactions" else explain
    return packed(call(model, table, **settings))


def columns_needed(table: PiecedTable, request: Request) -> PiecedTable:
    """The columns that trainings learn from, with the target, the groups and the weights."""
    asked = {"target": request.target, **{n: request.asked.get(n) for n in ("groups", "weights")}}
    named = {option: name for option, name in asked.items() if name is not None}
    for option, name in named.items():
        if name not in table.names:
            msg = f"--{option} {name}: the table has no such column; "
            raise BadTableError(msg + near_names(name, table.names))
    columns = request.asked.get("columns")
    if columns is None:
        return table
    return table.only(list(dict.fromkeys([*columns, *named.values()])))


def read_training_rows(table: PiecedTable, max_memory: int) -> Any:
    """Read all rows, if there can be room for them."""
    size = least_size(table)
    if size > max_memory:
        msg = (
            f"{table.n_rows:,} rows of {len(table.names)} columns take {written_size(size)} or more, "
            f"and {written_size(max_memory)} are allowed; trainings need all rows in memory: write "
            "some of them to a file, name fewer --columns, or allow more by --max-memory"
        )
        raise BadTableError(msg)
    return read_all(table)


def columns_left(names: Sequence[str], request: Request) -> list[str]:
    """Columns that are neither the target nor the weights."""
    if request.target is not None and request.target not in names:
        msg = f"there is no column {request.target!r} to leave out; "
        raise BadTableError(msg + near_names(request.target, names))
    return [name for name in names if name not in (request.target, request.asked.get("weights"))]
