import pickle
from contextlib import contextmanager
from types import SimpleNamespace

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest

from rhale.data.frame import FrameTable
from rhale.data.pieces import PiecedTable
from rhale.errors import BadTableError, ModelFailedError
from rhale.execution.worker import (
    AdaptiveTask,
    Parcel,
    PartTask,
    Summary,
    count_task,
    pack,
    unite,
    work,
)

FRAME = pd.DataFrame({"a": np.arange(5.0), "w": [1.0, 0.0, 1.0, 0.0, 1.0]})
HEAD = FrameTable(nw.from_native(FRAME[:0], eager_only=True))
TABLE = PiecedTable(HEAD, HEAD.names)


def total(chunk):
    return float(chunk.column(0).sum())


def refuse(chunk):
    msg = f"{chunk.n_rows} rows are too many"
    raise ModelFailedError(msg)


def test_a_part_is_one_summary_of_all_its_chunks():
    found = PartTask(total, TABLE, 2)(0, [FRAME[:1], FRAME[1:]])
    assert (found.n_rows, found.term, found.failure) == (5, 10.0, None)


def test_a_part_without_rows_contributes_nothing():
    found = PartTask(total, TABLE, 2)(0, [FRAME[:0]])
    assert (found.n_rows, found.term) == (0, None)
    assert unite(found, Summary(3, 7.0)).term == 7.0


def test_pieces_are_added_in_order():
    found = unite(Summary(1, [1]), Summary(2, [2, 3]))
    assert (found.n_rows, found.term) == (3, [1, 2, 3])


def test_errors_of_ours_come_back_with_the_number_of_the_part():
    found = pickle.loads(pickle.dumps(PartTask(refuse, TABLE, 9)(4, [FRAME])))  # noqa: S301
    with pytest.raises(ModelFailedError, match=r"^partition 4: 5 rows are too many") as caught:
        found.open()
    assert "in refuse" in caught.value.__notes__[0]


def test_errors_of_others_are_left_to_the_engine():
    def fail(_):
        raise OSError

    with pytest.raises(OSError, match=r"^$"):
        PartTask(fail, TABLE, 9)(0, [FRAME])


def test_rows_are_drawn_by_the_place_of_the_part():
    drawn = PiecedTable(HEAD, HEAD.names, drawn=np.array([5, 9, 11]), starts=(0, 5, 10, 15))
    assert PartTask(total, drawn, 9)(1, [FRAME]).term == 0.0 + 4.0
    assert PartTask(total, drawn, 9)(2, [FRAME]).term == 1.0


@pytest.mark.parametrize(
    ("starts", "index"),
    [((0, 6, 10), 0), ((0, 4, 10), 0), ((0, 5, 10), 2), ((0, 5, 10), 7)],
)
def test_rows_are_not_drawn_from_parts_that_are_cut_anew(starts, index):
    drawn = PiecedTable(HEAD, HEAD.names, drawn=np.array([1, 8]), starts=starts)
    with pytest.raises(BadTableError, match=f"^partition {index}: 5 rows here, and"):
        PartTask(total, drawn, 9)(index, [FRAME]).open()


def test_new_parts_may_be_empty_where_rows_are_drawn():
    drawn = PiecedTable(HEAD, HEAD.names, drawn=np.array([1, 8]), starts=(0, 5, 10))
    found = PartTask(total, drawn, 9)(9, [FRAME[:0]])
    assert (found.n_rows, found.term, found.failure) == (0, None, None)


def test_rows_are_counted_whatever_their_weight():
    table = TABLE.weigh_by("w")
    assert PartTask(total, table, 9)(0, [FRAME]).n_rows == 3
    assert count_task(table)(0, [FRAME]).n_rows == 5


def test_a_worker_opens_what_was_sent_to_it():
    parcel = pack(PartTask(total, TABLE, 9), pickle.dumps)
    assert work(parcel, 0, [FRAME]).term == 10.0


def test_a_worker_that_cannot_open_it_says_so():
    with pytest.raises(ModelFailedError, match="a worker cannot open"):
        work(Parcel(b"nothing", "digest of nothing"), 0, []).open()


def test_a_part_with_other_columns_is_named():
    with pytest.raises(BadTableError, match=r"^partition 3: there is no column 'w'"):
        PartTask(total, TABLE, 9)(3, [FRAME[["a"]]]).open()


def test_the_model_is_asked_inside_its_session():
    entered = []

    class MeasureTask:
        @property
        def predictor(self):
            return SimpleNamespace(adapter=SimpleNamespace(session=self.session))

        @contextmanager
        def session(self):
            entered.append("in")
            yield
            entered.append("out")

        def __call__(self, chunk):
            entered.append(chunk.n_rows)
            return 1

    assert PartTask(MeasureTask(), TABLE, 9)(0, [FRAME]).term == 1
    assert entered == ["in", 5, "out"]


def test_a_task_shows_the_model_in_it():
    class Asks:
        predictor = "model"

        def __call__(self, chunk):
            return chunk

    assert PartTask(Asks(), TABLE, 9).predictor == "model"
    assert PartTask(total, TABLE, 9).predictor is None


def test_a_task_learns_only_if_it_can_and_something_is_known():
    class Counts:
        known = None

        def __call__(self, chunk):
            return chunk

        def after(self, total):
            self.known = total
            return self

    task = Counts()
    latest = AdaptiveTask(task)
    latest.learn(None)
    assert task.known is None
    latest.learn(7)
    assert latest.task.known == 7
    plain = AdaptiveTask(total)
    plain.learn(7)
    assert plain.task is total


def test_a_part_learns_from_its_chunks_and_sends_what_its_task_leaves():
    class Lists:
        def __init__(self, known=()):
            self.known = known

        def __call__(self, chunk):
            return [(tuple(self.known), chunk.n_rows)]

        def after(self, total):
            return Lists(total)

        def trim(self, term, part):
            return term, part

    (first, second), part = PartTask(Lists(), TABLE, 3)(7, [FRAME]).term
    assert (first, part) == (((), 3), 7)
    assert second == (((((), 3),)), 2)
    assert PartTask(Lists(), TABLE, 3)(7, [FRAME[:0]]).term is None
