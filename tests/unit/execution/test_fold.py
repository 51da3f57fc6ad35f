from dataclasses import dataclass, replace
from threading import current_thread
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rhale.data.array import ArrayTable
from rhale.data.columns import read_column_floats
from rhale.data.files.table import open_files
from rhale.errors import BadTableError, CheckpointError, RhaleError
from rhale.execution import Work
from rhale.execution.fold import FIRST_LOOK, FIRST_LOOK_AGAIN, SECOND_LOOK, Passes, name_pass

TABLE = ArrayTable(np.arange(20.0).reshape(10, 2))


def total(chunk):
    return chunk.array.sum()


class Kept:
    """A checkpoint in memory; saves are due when `due` says so."""

    def __init__(self, *, due=True):
        self.saved, self.due = {}, due

    def load(self, name):
        return self.saved.get(name)

    def is_due(self):
        return self.due

    def save(self, name, done, folded, *, is_last=False):
        self.saved[name] = SimpleNamespace(done=done, folded=folded, is_last=is_last)

    def damaged(self, name, why):
        return CheckpointError(f"{name}: {why}")


def test_a_sum_to_which_nothing_can_be_added_is_told_as_what_it_is():
    memory = Kept()
    memory.save("effects-3", 1, "no sum")
    with pytest.raises(CheckpointError, match=r"effects-3: it does not fit the rows: \w+Error"):
        Passes(TABLE, 3, memory=memory).fold(total, SECOND_LOOK)


def test_mistakes_of_a_task_are_not_blamed_on_a_checkpoint():
    memory = Kept()
    memory.save("effects-3", 1, 0.0)
    with pytest.raises(ZeroDivisionError):
        Passes(TABLE, 3, memory=memory).fold(lambda chunk: 1 / 0, SECOND_LOOK)  # noqa: ARG005


def test_pieces_are_added_in_order():
    assert Passes(TABLE, 3).fold(lambda chunk: [chunk.array[0, 0]], SECOND_LOOK) == [0, 6, 12, 18]


def test_pieces_are_added_in_order_by_threads_too():
    rows = Passes(TABLE, 1, n_threads=3)
    assert rows.fold(lambda chunk: [chunk.array[0, 0]], SECOND_LOOK) == list(range(0, 20, 2))


@pytest.mark.parametrize("stop_at", [1, 2, 4])
def test_an_interrupted_pass_goes_on_behind_the_last_whole_chunk(stop_at):
    memory, seen = Kept(), []

    def stops(chunk):
        seen.append(chunk.n_rows)
        if len(seen) == stop_at:
            raise KeyboardInterrupt
        return total(chunk)

    rows = Passes(TABLE, 3, memory=memory)
    with pytest.raises(KeyboardInterrupt):
        rows.fold(stops, SECOND_LOOK)
    assert rows.fold(stops, SECOND_LOOK) == TABLE.array.sum()
    assert len(seen) == 4 + 1  # the chunk that failed, once more


def test_an_interruption_right_behind_a_chunk_counts_it_once():
    memory = Kept(due=False)

    @dataclass
    class Interrupted:
        n_learned: int = 0

        def __call__(self, chunk):
            return total(chunk)

        def after(self, _):
            if self.n_learned == 1:
                raise KeyboardInterrupt
            return Interrupted(self.n_learned + 1)

    rows = Passes(TABLE, 3, memory=memory)
    with pytest.raises(KeyboardInterrupt):
        rows.fold(Interrupted(), SECOND_LOOK)
    (kept,) = memory.saved.values()
    assert (kept.done, kept.folded) == (2, TABLE.array[:6].sum())
    assert rows.fold(total, SECOND_LOOK) == TABLE.array.sum()


def test_what_is_done_when_a_pass_fails_is_kept_even_if_no_save_was_due():
    memory = Kept(due=False)

    def fails(chunk):
        if chunk.array[0, 0] >= 12:
            msg = "no"
            raise RhaleError(msg)
        return total(chunk)

    with pytest.raises(RhaleError, match="no"):
        Passes(TABLE, 3, memory=memory).fold(fails, SECOND_LOOK)
    (kept,) = memory.saved.values()
    assert (kept.done, kept.folded) == (2, TABLE.array[:6].sum())
    assert not kept.is_last


def test_a_failing_save_does_not_hide_why_a_pass_failed():
    class Full(Kept):
        def save(self, *_, **__):
            msg = "full"
            raise RhaleError(msg)

    def fails(chunk):
        if chunk.array[0, 0] > 0:
            msg = "the model"
            raise RhaleError(msg)
        return total(chunk)

    with pytest.raises(RhaleError, match="the model"):
        Passes(TABLE, 3, memory=Full(due=False)).fold(fails, SECOND_LOOK)


def test_a_finished_pass_is_not_even_begun_again(monkeypatch):
    rows = Passes(TABLE, 3, memory=Kept())
    first = rows.fold(total, SECOND_LOOK)
    monkeypatch.delattr("rhale.execution.fold.list_work")  # no file is opened, no engine is started
    assert rows.fold(total, SECOND_LOOK) == first == 190.0


def test_chunks_of_another_size_are_not_mistaken_for_these():
    memory = Kept()
    Passes(TABLE, 3, memory=memory).fold(total, SECOND_LOOK)
    Passes(TABLE, 4, memory=memory).fold(total, SECOND_LOOK)
    assert len(memory.saved) == 2


def test_the_two_passes_are_kept_apart():
    rows = Passes(TABLE, 3, memory=Kept())
    assert rows.fold(total, FIRST_LOOK) == 190.0
    assert rows.fold(lambda chunk: chunk.n_rows, SECOND_LOOK) == 10


def test_no_rows_at_all_are_an_error():
    with pytest.raises(BadTableError, match="no rows"):
        Passes(ArrayTable(np.empty((0, 2))), 3).fold(total, SECOND_LOOK)


@dataclass(frozen=True)
class Counting:
    """A task that tells what it knew when it was applied."""

    known: int = 0

    def __call__(self, _):
        return [self.known]

    def after(self, total):
        return replace(self, known=len(total))


def test_a_task_that_can_learn_knows_what_was_found_before():
    assert Passes(TABLE, 3).fold(Counting(), FIRST_LOOK) == [0, 1, 2, 3]


def test_a_resumed_task_has_learned_what_was_found_before_the_interruption():
    memory = Kept()
    name = "first-look-3"
    memory.save(name, 2, [0, 1])
    assert Passes(TABLE, 3, memory=memory).fold(Counting(), FIRST_LOOK) == [0, 1, 2, 3]


def progress_of(name, table=TABLE, n_rows=10):
    calls = []
    rows = Passes(table, 256, lambda done, n: calls.append((done, n)), n_rows)
    rows = replace(rows, batch_rows=3)
    rows.fold(total, name)
    return calls


def test_progress_counts_rows_of_the_second_pass():
    assert progress_of(SECOND_LOOK) == [(3, 10), (6, 10), (9, 10), (10, 10)]


def test_a_first_look_at_rows_in_memory_is_too_short_to_be_shown():
    assert progress_of(FIRST_LOOK) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (FIRST_LOOK, [(4, 20), (10, 20)]),
        (FIRST_LOOK_AGAIN, [(4, 20), (10, 20)]),
        (SECOND_LOOK, [(14, 20), (20, 20)]),
    ],
)
def test_both_readings_of_a_table_in_pieces_count(monkeypatch, name, expected):
    from rhale.data.pieces import PiecedTable

    def two(*_, **__):
        yield Work(4, "", lambda: 1.0)
        yield Work(6, "", lambda: 2.0)

    monkeypatch.setattr("rhale.execution.fold.list_work", two)
    assert progress_of(name, PiecedTable(TABLE, ()), 10) == expected


def test_the_end_of_a_table_of_unknown_length_moves_on(monkeypatch):
    from rhale.data.pieces import PiecedTable

    monkeypatch.setattr(
        "rhale.execution.fold.list_work",
        lambda *_, **__: (s for s in [Work(4, "", lambda: 1.0)] * 2),
    )
    assert progress_of(
        FIRST_LOOK, PiecedTable(TABLE, (), engine=SimpleNamespace(name="any", no_resume="")), None
    ) == [(4, 8), (8, 16)]


@pytest.mark.parametrize(
    ("engine", "first"), [(None, 3 * 2 + 4), (SimpleNamespace(name="any", no_resume=""), 4)]
)
def test_a_resumed_pass_tells_the_rows_before_it_where_they_are_known(monkeypatch, engine, first):
    from rhale.data.pieces import PiecedTable

    memory, calls = Kept(), []
    memory.save("first-look-3", 2, 1.0)
    monkeypatch.setattr(
        "rhale.execution.fold.list_work", lambda *_, **__: (s for s in [Work(4, "", lambda: 1.0)])
    )
    table = PiecedTable(TABLE, (), engine=engine)
    rows = Passes(table, 3, lambda done, _: calls.append(done), memory=memory)
    rows.fold(total, FIRST_LOOK)
    assert calls == [first]


def test_a_part_without_rows_adds_nothing(monkeypatch):
    found = [Work(0, "", lambda: None), Work(4, "", lambda: 1.5), Work(0, "", lambda: None)]
    monkeypatch.setattr("rhale.execution.fold.list_work", lambda *_, **__: (s for s in found))
    assert Passes(TABLE, 3).fold(total, SECOND_LOOK) == 1.5


def test_a_look_that_is_repeated_has_a_name_of_its_own():
    """Its checkpoint stands beside that of the first, not in its place."""
    assert name_pass(FIRST_LOOK_AGAIN) not in {name_pass(number) for number in range(9)}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_numbers_of_files_are_made_by_who_reads_unless_several_threads_work(
    monkeypatch, tmp_path, n_threads
):
    workers = set()

    def noted(column):
        workers.add(current_thread().name)
        return read_column_floats(column)

    pq.write_table(pa.table({"a": np.arange(10.0)}), tmp_path / "rows.parquet")
    monkeypatch.setattr("rhale.data.frame.read_column_floats", noted)
    rows = Passes(open_files(tmp_path / "rows.parquet"), 3, n_threads=n_threads)

    assert rows.fold(lambda chunk: chunk.column(0).sum(), SECOND_LOOK) == 45
    assert ("rhale reading" in workers) == (n_threads == 1)
