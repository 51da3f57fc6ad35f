import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from tests.jumps_by_hand import ask_about, assert_same_jumps, count_some, jumps_by_hand
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.effects.local.queries import STACKED_NUMBERS, BatchedModel
from rhale.errors import ModelFailedError
from rhale.models import meet, wrap
from rhale.models.questions import HeldPoints

X = np.arange(12.0).reshape(6, 2)
NAMES = ("a", "b")


class Recorder:
    """Sums its columns and remembers the sizes of its batches."""

    def __init__(self):
        self.sizes = []

    def __call__(self, rows):
        self.sizes.append(len(rows))
        return rows.sum(axis=1)


def asked(model, changes, batch_rows):
    chunk = open_table(X).chunk(0, len(X))
    asker = asker_for(model, chunk, NAMES, batch_rows)
    model.sizes.clear()
    return asker.ask(chunk, changes)


def changes(n):
    return [(i % 2, np.full(6, float(i))) for i in range(n)]


def test_every_change_gets_its_own_answers_in_order():
    found = asked(Recorder(), changes(5), batch_rows=1000)
    assert found.shape == (5, 6, 1)
    for i, (column, values) in enumerate(changes(5)):
        assert found[i, :, 0].tolist() == (values + X[:, 1 - column]).tolist()


def test_nothing_asked_is_nothing_answered():
    model = Recorder()
    assert asked(model, [], batch_rows=1000).shape == (0, 6, 1)
    assert model.sizes == []


@pytest.mark.parametrize("batch_rows", [1000, 12])
def test_answers_stay_though_the_model_writes_the_next_ones_over_them(batch_rows):
    class Thrifty(Recorder):
        room = np.empty(1000)

        def __call__(self, rows):
            return np.sum(rows, axis=1, out=self.room[: len(rows)])

    model = Thrifty()
    found = asked(model, changes(2), batch_rows)
    model(X)
    assert found[:, :, 0].tolist() == [(X[:, 1]).tolist(), (X[:, 0] + 1).tolist()]


@pytest.mark.parametrize(
    ("batch_rows", "sizes"),
    [
        (1000, [30]),
        (30, [30]),
        (29, [24, 6]),
        (12, [12, 12, 6]),
        (6, [6] * 5),
        (4, [4] * 5 + [4, 4, 2]),  # of two thirds of the rows, then of the others
        (1, [1] * 30),
    ],
)
def test_changes_are_stacked_up_to_the_size_of_a_batch(batch_rows, sizes):
    model = Recorder()
    asked(model, changes(5), batch_rows)
    assert model.sizes == sizes


def test_batches_do_not_change_the_answers():
    whole, *pieces = (asked(Recorder(), changes(7), size) for size in (1000, 10, 4, 1))
    assert all(whole.tolist() == some.tolist() for some in pieces)


def as_it_likes(rows):
    """The first column; the caller's memory is written into, as some models do."""
    answer = np.array(rows)[:, 0]
    rows[:] = -1.0
    return answer


class Keeper:
    """Answers with a part of what it is asked about, and keeps that."""

    def __init__(self):
        self.kept = []

    def __call__(self, rows):
        self.kept.append(rows)
        return rows[:, 0]


@pytest.mark.parametrize("batch_rows", [1000, 12, 6, 4])
def test_what_a_model_is_handed_is_its_own(batch_rows):
    """To write into, to keep, and to answer with a view of it."""
    held, keeper = HeldPoints(0, np.array([3.0, 5.0, 9.0])), Keeper()
    chunk, some = open_table(X).chunk(0, len(X)), np.array([4, 1, 2, 0, 5])
    for model in (as_it_likes, keeper):
        (curves,) = asker_for(model, chunk, NAMES, batch_rows).ask_curves(chunk, [held])
        keeper.kept.clear()
        assert curves(some)[..., 0].tolist() == [[point] * 5 for point in (3.0, 5.0, 9.0)]
    rows = np.concatenate(keeper.kept)
    expected = [(point, X[row, 1]) for point in held.points for row in some]
    assert sorted(map(tuple, rows.tolist())) == sorted(expected)


@pytest.mark.parametrize(
    ("batch_rows", "sizes"), [(1000, [6]), (6, [6]), (4, [4, 2]), (2, [2, 2, 2]), (1, [1] * 6)]
)
def test_slopes_of_a_chunk_are_asked_for_in_batches(batch_rows, sizes):
    seen = []

    def gradient(rows):
        seen.append(len(rows))
        return np.column_stack([rows[:, 1], rows[:, 0]])

    chunk = open_table(X).chunk(0, len(X))
    model = wrap(lambda rows: rows[:, 0] * rows[:, 1], gradient=gradient)
    asker = BatchedModel(meet(model, chunk)[0], NAMES, batch_rows)
    answers, slopes = asker.differentiate(chunk)
    assert seen == sizes
    assert answers.tolist() == (X[:, :1] * X[:, 1:]).tolist()
    assert slopes.tolist() == X[:, None, ::-1].tolist()


@pytest.mark.parametrize("batch_rows", [1000, 3])
def test_a_rejected_value_is_named_with_its_row_and_column(batch_rows):
    class Fragile(Recorder):
        def __call__(self, rows):
            if rows[:, 0].max() > 50:
                msg = "too old"
                raise ValueError(msg)
            return super().__call__(rows)

    values = np.where(np.arange(6) == 4, 99.0, 1.0)
    with pytest.raises(ModelFailedError) as caught:
        asked(Fragile(), [(1, values), (0, values)], batch_rows)
    row = f"{open_table(X).array[4, 0]:g}"
    assert f"rejects row 4 when 'a' is changed from {row} to 99" in str(caught.value)
    assert "ValueError: too old" in str(caught.value)


def test_a_failure_on_rows_as_they_are_says_which_features_were_moved_and_how_far():
    class Moody(Recorder):
        def __call__(self, rows):
            if len(rows) > 6:
                raise ValueError
            return super().__call__(rows)

    with pytest.raises(ModelFailedError, match="with 'a' between 60 and 99, 'b' set to 3"):
        asked(Moody(), [(0, np.full(6, 60.0)), (0, np.full(6, 99.0)), (1, np.full(6, 3.0))], 1000)


@pytest.mark.parametrize(("n_columns", "copies"), [(2, 54), (1_000, 1), (100, 17)])
def test_wide_rows_are_stacked_less_high(n_columns, copies):
    asker = BatchedModel(None, tuple(map(str, range(n_columns))), 10**6)
    assert asker.copies_at_once(600) == copies
    assert copies == 1 or copies * 600 * n_columns <= STACKED_NUMBERS


def test_jumps_are_walked_for_all_columns_together():
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = GradientBoostingRegressor(n_estimators=3, max_depth=1).fit(x, x[:, 0])
    chunk = open_table(x).chunk(0, 60)
    asker = asker_for(model, chunk, NAMES)
    walker, rows = asker.predictor.walker, count_some(60)
    cuts = [walker.places(i, chunk, np.sort(x[:, i])) for i in range(2)]
    questions = [ask_about(i, x[:, i], cuts[i]) for i in range(2)]
    replies = asker.ask_jumps(chunk, questions, rows)
    assert [r.slopes.shape for r in replies] == [(1, 60)] * 2
    for i, (question, reply) in enumerate(zip(questions, replies, strict=True)):

        def predict(values, i=i):
            return model.predict(chunk.substitute([(i, values)]))[:, None]

        jumps = jumps_by_hand(predict, question, cuts[i])
        assert_same_jumps(reply, question, rows, jumps, 1e-9)
