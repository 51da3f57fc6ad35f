"""Tree ensembles: walked once per row for all features, or asked as a black box that says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from rhale.data import open_table
from rhale.errors import RhaleError
from rhale.models.adapter import Adapter
from rhale.models.boosters import limit_own_threads
from rhale.models.libraries import RESPONSE_WORDS, Answer
from rhale.models.trees.read_model import Ask, check_walker, read_walker
from rhale.models.trees.reading import CannotReadError
from rhale.models.trees.walker import TreeWalker
from rhale.output.text import Note

BLACK_BOX = "black box"  # kind of the note
WHAT_IS_LOST = "the trees are evaluated as a black box, which is slower and draws jumps as ramps"


@dataclass(frozen=True, eq=False)
class TreeModel(Adapter):
    """A tree ensemble."""

    function: Ask  # the model as a black box: rows in, answers out
    model: Any  # the ensemble, or a pipeline that ends in one
    response: str  # which of its answers is explained
    # kind, labels, usual_outputs, columns: as in `Adapter`
    kind: str = "tree ensemble"
    labels: tuple[str, ...] | None = None
    usual_outputs: tuple[int, ...] | None = None
    columns: tuple[str, ...] | None = None
    # Answers by walking the trees; None before they have been read, or where they cannot be
    walker: TreeWalker | None = None
    checked_rows: int = 0  # rows that were asked to check the walker
    notes: tuple[Note, ...] = ()  # why the trees are not walked

    @property
    def answers(self) -> Answer:
        """What the numbers are, for people."""
        return RESPONSE_WORDS.get(self.response, "prediction")

    @property
    def n_threads(self) -> int:
        """Chunks walked at a time: numba's own setting, by default all cores."""
        if self.walker is None or find_spec("numba") is None:
            return 1
        from numba import config

        return int(vars(config)["NUMBA_NUM_THREADS"])

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks, for a while."""
        with limit_own_threads(self.function):
            yield self

    def predict(self, rows: Any) -> Any:
        """Walk the rows' own paths, or ask the library."""
        return self.function(rows) if self.walker is None else self.walker.predict(rows)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without the ensemble once its trees were read: it is not asked any more."""
        state = dict(vars(self))
        if self.walker is not None:
            state |= {"model": None, "function": _refuse_to_answer}
        return state

    def recognise(self, rows: Any, answer: Any) -> Adapter:
        """Read the trees, and walk them from now on if that gives the library's own answers."""
        if self.walker is not None:
            return self
        try:
            walker = read_walker(self.model, self.response, open_table(rows))
            n_checked = check_walker(walker, self.function, rows, answer)
        except (CannotReadError, RhaleError) as error:
            return replace(self, notes=(Note(BLACK_BOX, f"{WHAT_IS_LOST}: {error}"),))
        return replace(self, walker=walker, checked_rows=n_checked)


def _refuse_to_answer(rows: Any) -> Any:
    msg = f"an ensemble that is walked was asked about {len(rows)} rows; it was not sent along"
    raise AssertionError(msg)  # our own mistake
