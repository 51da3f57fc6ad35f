"""The process that holds the model: reads the files, explains or trains, and answers in plain JSON.

A model that crashes, hangs or eats memory ends this process, and nothing else.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rhale.api import explain
from rhale.child import packed, serve
from rhale.cli.parent import Request, read_request
from rhale.cli.values import find_learner
from rhale.data.files.table import least_size, names_files, open_files, read_all, read_some
from rhale.data.pieces import PiecedTable
from rhale.effects.explanation import Explanation
from rhale.effects.local.nearby import rows_to_move
from rhale.errors import BadTableError
from rhale.interaction.api import interactions
from rhale.models.columns import columns_for
from rhale.models.files.load import is_named_object, load_file, load_named
from rhale.models.trees.model import BLACK_BOX
from rhale.naming import near_names
from rhale.stability.api import refit
from rhale.system.processes import Say, written_size

# --- Try a model on a few rows, and say how the whole table would be explained and what it costs


SMALL_TRIAL_ROWS, LARGE_TRIAL_ROWS = 250, 1_000  # rows of the two trials
N_SHOWN_PREDICTIONS = 5
N_READINGS = 2  # of files


@dataclass(frozen=True)
class Rehearsal:
    """What a run on the whole table would be."""

    model: str  # what the model is
    rows: int  # rows, columns: size of the table
    columns: int
    features: int  # how many features would be explained
    outputs: tuple[str, ...]  # names of the outputs that would be explained
    predictions: tuple[tuple[float, ...], ...]  # answers to the first sampled rows, at most five
    # how local effects are found: "gradient", "secants", "walked trees", "steps" or
    # "profiles".
    path: str
    ways: dict[str, int]  # how many features go each way, in the words of the provenance.
    rows_asked: int  # rows that the model would be asked about, roughly
    seconds: float  # how long it would take, roughly, the start included
    notes: tuple[str, ...]  # why a faster path is not taken, where there is a reason
    # rows_for_regions, seconds_for_regions: what regions would cost beyond that, at most: a
    # third pass, no dearer than the second. Zero where they are not asked for.
    rows_for_regions: int = 0
    seconds_for_regions: float = 0.0


def rehearse(model: Any, data: Any, **settings: Any) -> Rehearsal:
    """Explain a model on few rows, twice, and tell from the difference what all rows cost."""
    most, reading, n_all = settings.get("n_rows"), 0.0, None
    regions = settings.pop("regions", None)
    start, found = time.perf_counter(), list[tuple[Explanation, float]]()
    if names_files(data):  # reading all rows for a few would count as the price of these few
        table = open_files(data)
        data, n_all = (
            read_some(table, min(LARGE_TRIAL_ROWS, most or LARGE_TRIAL_ROWS), settings),
            table.n_rows,
        )
        reading = time.perf_counter() - start
        start = time.perf_counter()
    for size in (SMALL_TRIAL_ROWS, LARGE_TRIAL_ROWS):
        fx = explain(model, data, **{**settings, "n_rows": min(size, most or size)})
        now = time.perf_counter()
        found.append((fx, now - start))
        start = now
    (few, cold), (more, warm) = found
    n_rows = n_all or int(more.provenance["rows_in_table"])
    n_rows = min(n_rows, most or n_rows)
    estimate = _extrapolate_cost(few, more, n_rows, (cold, warm))
    estimate = replace(estimate, seconds=estimate.seconds + N_READINGS * reading)
    if regions is None:
        return estimate
    tried = {
        **settings,
        "n_rows": min(SMALL_TRIAL_ROWS, most or SMALL_TRIAL_ROWS),
        "regions": regions,
    }
    explain(model, data, **tried)  # a splitter that is not there is refused here
    return replace(
        estimate, rows_for_regions=estimate.rows_asked, seconds_for_regions=estimate.seconds
    )


def _extrapolate_cost(
    few: Explanation, more: Explanation, n_rows: int, seconds: tuple[float, float]
) -> Rehearsal:
    """Draw the line from a few rows over some more to all of them.

    Rows that are moved for the spread are bounded, and stand beside the line.
    """
    record = more.provenance
    n_few, n_more = int(few.provenance["rows"]), int(record["rows"])
    beyond = (n_rows - n_more) / max(n_more - n_few, 1)
    moved = np.array([count_moved(more, n) for n in (n_few, n_more, n_rows)])
    word = "answers_walked" if record["answers_walked"] else "rows_asked"
    line = np.array([few.provenance[word], record[word]]) - moved[:2]
    work = line[1] + max(beyond, 0.0) * max(line[1] - line[0], 0.0) + moved[2]
    cold, warm = seconds
    more_work = work / max(record[word], 1)  # what a start costs makes it an upper bound
    ways = list(record["local_effects"].values())
    return Rehearsal(
        model=str(record["model"]),
        rows=n_rows,
        columns=len(record["columns"]),
        features=len(more.features),
        outputs=more.outputs,
        predictions=tuple(tuple(row) for row in more.predictions[:N_SHOWN_PREDICTIONS].tolist()),
        path=_path(more),
        ways={way: ways.count(way) for way in dict.fromkeys(ways)},
        rows_asked=int(record["rows_asked"]) if word == "answers_walked" else round(float(work)),
        seconds=max(cold - warm, 0.0) + warm * max(float(more_work), 1.0),
        notes=tuple(
            dict.fromkeys(n for e in more.values() for n in e.notes if n.kind == BLACK_BOX)
        ),
    )


def count_moved(fx: Explanation, n_rows: int) -> int:
    """How many rows are moved for the spread of all features, of a table of so many."""
    spreads = [getattr(e, "row_spread", None) for e in fx.values() if e.output == fx.outputs[0]]
    sizes = [int((own.last - own.first).max()) + 1 for own in spreads if own is not None]
    return sum(n_asked * min(n_rows, rows_to_move(n_asked)) for n_asked in sizes)


def _path(fx: Explanation) -> str:
    """Name the way that most features go: the first of these that one of them goes."""
    if fx.provenance["answers_walked"]:
        return "walked trees"
    ways = set(fx.provenance["ways"].values())
    order = ("gradient", "secants over bins", "secants", "steps")
    return next((way for way in order if way in ways), "profiles")


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
            f"and {written_size(max_memory)} are allowed; retrainings need all rows in memory: write "
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
