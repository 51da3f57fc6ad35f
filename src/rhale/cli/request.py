"""What one process asks of the other, and what comes back: one line of JSON each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Request:
    """One piece of work on a model and a table; fields as the options of `rhale explain`."""

    task: Literal["explain", "check"]
    model: str
    data: tuple[str, ...]
    target: str | None = None
    features: tuple[str, ...] | None = None
    method: str = "rhale"
    bins: str | None = None
    output: str | None = None
    weights: str | None = None
    rows: int | None = None
    seed: int = 0
    response: str = "auto"
    checkpoint: str | None = None
    trust: tuple[str, ...] = ()
    allow_pickle: str | None = None
    max_memory: int = 2**33
    max_seconds: float = 3600.0

    def written(self) -> bytes:
        """The request as a line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def read_request(line: bytes) -> Request:
    """Undo `written`.

    Examples
    --------
    >>> asked = Request("check", "m.onnx", ("a.csv",), features=("x",))
    >>> read_request(asked.written()) == asked
    True
    """
    fields: dict[str, Any] = json.loads(line)
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Request(**{**fields, **lists})
