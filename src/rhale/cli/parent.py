"""Requests to the process that holds the model: one line of JSON each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from rhale.cli.values import (
    parse_bins_option,
    read_typed_pairs,
    read_typed_regions,
    read_typed_trainings,
)
from rhale.models.files.load import is_named_object
from rhale.models.files.sandbox import ChildLimits, Hear, open_for, run_child

# --- What one process asks of the other, and what comes back: one line of JSON each


Task = Literal["explain", "check", "interactions", "refit"]


@dataclass(frozen=True)
class Request:
    """One piece of work on a model and a table."""

    task: Task  # what to do
    model: str  # model, data: the files; of refits, the name of the learner and the files.
    data: tuple[str, ...]
    target: str | None = None  # a column that is not shown to the model, and that trainings learn.
    # arguments of `rhale.explain` by name, as `rhale.settings.Settings` has them, or those of
    # `rhale.interactions` or `rhale.refit`; bins and cells as text, regions and pairs as
    # plain values.
    asked: dict[str, Any] = field(default_factory=dict)
    # trust, allow_pickle, max_memory, max_seconds: as the options of the command
    trust: tuple[str, ...] = ()
    allow_pickle: str | None = None
    max_memory: int = 2**33
    max_seconds: float = 3600.0

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `explain`, `interactions` or `refit`."""
        if self.task == "interactions":
            return read_typed_pairs(self.asked)
        if self.task == "refit":
            return read_typed_trainings(self.asked)
        bins, regions = self.asked.get("bins"), self.asked.get("regions")
        return {
            **self.asked,
            "bins": parse_bins_option(bins),
            "regions": read_typed_regions(regions),
        }

    def written(self) -> bytes:
        """The request as a line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def read_request(line: bytes) -> Request:
    """Undo `written`."""
    fields: dict[str, Any] = json.loads(line)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Request(**{**fields, **lists})


def ask_child(request: Request, hear: Hear, *, debug: bool = False) -> dict[str, Any]:
    """Have a request done by a process of its own, which may read what the request names.

    Named objects, and what is trained, are the user's own code, which may do all that the user may.
    `hear` gets what the child reports on its way: what it is doing, how far it is, notes. `debug`
    shows what the child and its model print, and tracebacks.
    """
    is_own = request.task == "refit" or is_named_object(request.model)
    opened = open_for([request.model], request.data, request.asked.get("checkpoint"))
    return run_child(
        "rhale.cli.child",
        asdict(request),
        limits_of(request),
        hear,
        opened=None if is_own else opened,
        keeps=request.task == "refit",
        compiles=(Path(request.model).suffix.lower(), request.task.replace("check", "explain")),
        debug=debug,
    )


def limits_of(request: Request) -> ChildLimits:
    """What the child may use, and how to allow more."""
    less = (
        "--checkpoint keeps finished retrainings"
        if request.task == "refit"
        else "--rows uses fewer rows"
    )
    more = f"--max-seconds allows more, {less}"
    return ChildLimits(request.max_memory, request.max_seconds, "--max-memory", more)
