"""What one process asks of the other, and what comes back: one line of JSON each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rhale.cli.bins import parse_bins_option
from rhale.cli.which_pairs import read_typed_pairs
from rhale.cli.which_trainings import read_typed_trainings
from rhale.cli.who_differs import read_typed_regions

Task = Literal["explain", "check", "interactions", "refit"]


@dataclass(frozen=True)
class Request:
    """One piece of work on a model and a table.

    Attributes
    ----------
    task : {"explain", "check", "interactions", "refit"}
        What to do.
    model, data : str, tuple of str
        The files; of refits, the name of the learner and the files.
    target : str or None
        A column that is not shown to the model, and that trainings learn.
    asked : dict
        Arguments of `rhale.explain` by name, as `rhale.settings.Settings` has them, or those of
        `rhale.interactions` or `rhale.refit`; bins and cells as text, regions and pairs as plain
        values.
    trust, allow_pickle, max_memory, max_seconds
        As the options of the command.
    """

    task: Task
    model: str
    data: tuple[str, ...]
    target: str | None = None
    asked: dict[str, Any] = field(default_factory=dict)
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
    """Undo `written`.

    Examples
    --------
    >>> asked = Request("check", "m.onnx", ("a.csv",), asked={"features": ["x"]})
    >>> read_request(asked.written()) == asked
    True
    """
    fields: dict[str, Any] = json.loads(line)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Request(**{**fields, **lists})
