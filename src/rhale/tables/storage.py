"""Where the rows of a table are, and what a run may do with them for that reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Engine(Protocol):
    """Works on the parts of a table where they are, and keeps their order.

    What has these members is taken for an engine, whoever wrote it; `rhale.engines.open_parts`
    makes a table with it. Whatever `map_parts` raises ends the run.
    """

    @property
    def name(self) -> str:
        """What to call it: the kind of its tables."""

    @property
    def no_resume(self) -> str:
        """Why an interrupted run cannot go on behind a part, after "with"; nothing if it can."""

    def map_parts(self, part_task: Any, source: Any, first: int) -> Iterator[Any]:
        """Give `part_task(index, pieces)` of every part from number `first` on, in order.

        Parameters
        ----------
        part_task : rhale.engines.worker.PartTask
            From the number of a part and its pieces (data frames, record batches or arrays that
            follow each other) to a summary. It pickles; it may run in any process.
        source : object
            What the table was opened from.
        first : int
            Parts before this one are known already.
        """


@dataclass(frozen=True, eq=False)
class Storage:
    """Where rows are.

    Attributes
    ----------
    is_memory : bool
        Whether this process has them all: then they can be cut anywhere, and are cheap to see.
    engine : Engine or None
        Who works on the parts of the table; None where this process reads chunks of rows.
    device : object
        The device that has them; None for the memory of the host.
    usual_rows : int or None
        Rows in a chunk, where that does not depend on the model.
    no_resume : str
        Why an interrupted run cannot go on, after "with"; nothing if it can.
    """

    is_memory: bool = True
    engine: Engine | None = None
    device: Any = None
    usual_rows: int | None = None
    no_resume: str = ""


IN_MEMORY = Storage()
