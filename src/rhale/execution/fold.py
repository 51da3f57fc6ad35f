"""Passes over the rows of a table, as many as are needed: with progress, threads and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

from rhale.data import Chunk, Table
from rhale.data.pieces import naming_source
from rhale.errors import BadTableError, RhaleError
from rhale.execution import list_work
from rhale.execution.checkpoint.folder import Checkpoint
from rhale.execution.worker import AdaptiveTask, keep_freed_memory

Progress = Callable[[int, int], object]
Term = TypeVar("Term")
N_STEPS, MIN_ROWS_PER_PROGRESS_STEP = 50, 256  # of a progress bar, and rows in each
FIRST_LOOK, SECOND_LOOK = 0, 1  # numbers of passes; more may follow
FIRST_LOOK_AGAIN = -1  # where parts sent too little
PASS_NAMES = {
    FIRST_LOOK: "first look",
    FIRST_LOOK_AGAIN: "first look, again",
    SECOND_LOOK: "effects",
}


class RunningSum(NamedTuple):
    """How many terms are done, and their sum: one value, so that no interruption parts them."""

    done: int
    total: Any


def name_pass(number: int) -> str:
    """What to call a pass: its checkpoints, and its bar.

    Examples
    --------
    >>> [name_pass(n) for n in range(3)]
    ['first look', 'effects', 'effects, pass 3']
    """
    return PASS_NAMES.get(number, f"effects, pass {number + 1}")


@dataclass(frozen=True, eq=False)
class Passes:
    """A table that is read in chunks as often as needed."""

    table: Table  # the rows
    batch_rows: int  # rows in a chunk: those of one call of the model, or of several
    progress: bool | Progress | None = None  # how to tell how far the work is
    n_rows: int | None = None  # how many rows there are, as far as that is known
    n_threads: int = 1  # chunks that are worked on at a time in this process
    memory: Checkpoint | None = None  # where finished work is kept

    def fold(self, task: Callable[[Chunk], Term], number: int) -> Term:
        """Apply a task to all rows and add up what comes back, in order."""
        if self.memory and self.is_silent(number):  # sooner done again than kept
            return replace(self, memory=None).fold(task, number)
        size = self.batch_rows if self.is_silent(number) else self.chunk_rows
        kept_as = f"{name_pass(number).replace(',', '').replace(' ', '-')}-{size}"
        kept = self.memory.load(kept_as) if self.memory else None
        so_far = RunningSum(kept.done, kept.folded) if kept else RunningSum(0, None)
        if kept and kept.is_last:
            return cast(Term, so_far.total)
        now = AdaptiveTask(task)
        with self._fitting(kept_as, kept):
            now.learn(so_far.total)
        keep_freed_memory()
        work = list_work(now, self.table, size, first=so_far.done, n_threads=self.n_threads)
        # summaries of an engine are of parts, not of chunks
        has_parts = self.table.storage.engine is not None
        before = 0 if has_parts else so_far.done * size
        try:
            # closed whatever happens: an error would keep files open and engines at work
            with closing(work), self._telling(number, before) as tell:
                for part in work:
                    with naming_source(part.where):
                        term = part.do()
                    with self._fitting(kept_as, kept):
                        if term is None:  # a part without rows adds nothing
                            so_far = RunningSum(so_far.done + 1, so_far.total)
                        elif so_far.total is None:
                            so_far = RunningSum(so_far.done + 1, term)
                        else:
                            so_far = RunningSum(so_far.done + 1, so_far.total + term)
                        now.learn(so_far.total)
                    if self.memory and self.memory.is_due():
                        self._keep(kept_as, so_far)
                    tell(part.n_rows)
                    del part, term  # their memory serves the next ones
        except BaseException:
            with suppress(RhaleError):  # what stopped the work is worth more than this
                self._keep(kept_as, so_far)
            raise
        if so_far.total is None:
            msg = "the table has no rows; an effect needs at least two rows with different values"
            raise BadTableError(msg)
        self._keep(kept_as, so_far, is_last=True)
        return cast(Term, so_far.total)

    @contextmanager
    def _fitting(self, name: str, kept: Any) -> Iterator[None]:
        """Blame the sum that was kept, if there was one, where nothing can be added to it."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if self.memory is None or kept is None or isinstance(error, RhaleError):
                raise
            why = f"it does not fit the rows: {type(error).__name__}"
            raise self.memory.damaged(name, why) from error

    def _keep(self, name: str, so_far: RunningSum, *, is_last: bool = False) -> None:
        """Keep what is done, if there is a place for it."""
        if self.memory and so_far.total is not None:
            self.memory.save(name, so_far.done, so_far.total, is_last=is_last)

    def is_silent(self, number: int) -> bool:
        """Whether a pass is so short that it is not shown: a first look at rows in memory."""
        return number == FIRST_LOOK and self.table.storage.is_memory

    @property
    def chunk_rows(self) -> int:
        """Rows in a chunk: as many as were asked for, fewer where progress is watched.

        A slow model answers for minutes about one large chunk. Small ones cost little: changes of
        several features are stacked until the model's batch is full.
        """
        has_parts = self.table.storage.engine is not None
        if not self.progress or self.n_rows is None or has_parts:
            return self.batch_rows
        return min(max(self.n_rows // N_STEPS, MIN_ROWS_PER_PROGRESS_STEP), self.batch_rows)

    @contextmanager
    def _telling(self, number: int, done: int) -> Iterator[Callable[[int], object]]:
        """Give what is to be called with the rows of each term that is done."""
        if not self.progress or self.is_silent(number):
            yield lambda _: None
        elif callable(self.progress):
            # Call back with rows done and rows in all: those of all passes that are known to come
            progress, is_memory = self.progress, self.table.storage.is_memory
            before = number - 1 if is_memory else max(number, FIRST_LOOK)  # passes shown so far
            n_passes = max(before + 1, 1 if is_memory else 2)

            def tell(n_rows: int) -> None:
                nonlocal done
                done += n_rows
                n_all = max(self.n_rows or 0, done)
                progress(before * (self.n_rows or 0) + done, n_passes * n_all)

            yield tell
        else:
            from tqdm.auto import tqdm

            label = "rhale" if number == SECOND_LOOK else f"rhale, {name_pass(number)}"
            total = self.n_rows
            with tqdm(total=total, initial=done, unit="row", unit_scale=True, desc=label) as bar:
                yield bar.update
