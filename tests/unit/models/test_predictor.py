from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.jumps_by_hand import ask_about, count_some
from tests.pair_corners import ask_pairs, ask_side, cells_of

from rhale.data import open_table
from rhale.effects.jumps import JumpReply
from rhale.errors import BadPredictionError, ModelFailedError
from rhale.models import meet, wrap
from rhale.models.questions import PairReply

X = np.random.default_rng(0).normal(size=(60, 2))


def chunk():
    return open_table(X).chunk(0, len(X))


class Recorder:
    def __init__(self, function):
        self.function, self.sizes = function, []

    def __call__(self, rows):
        self.sizes.append(len(rows))
        return self.function(rows)


def test_the_first_question_is_small_and_asked_twice():
    model = Recorder(lambda rows: rows[:, 0])
    predictor, asked = meet(wrap(model), chunk())
    assert model.sizes == [32, 16]
    assert asked == 48
    assert predictor.outputs == ("y0",)


def test_only_the_chosen_outputs_are_answered_in_the_order_they_were_named():
    def model(rows):
        return np.column_stack([rows[:, 0], 2 * rows[:, 0], 3 * rows[:, 0]])

    predictor, _ = meet(wrap(model), chunk(), ["y2", 0])
    assert predictor.outputs == ("y2", "y0")
    assert predictor.predict(X, 60) == pytest.approx(np.column_stack([3 * X[:, 0], X[:, 0]]))


def test_gradients_of_chosen_outputs_follow_their_order():
    def slopes(rows):
        return np.stack([k * np.ones_like(rows) for k in (1.0, 2.0, 3.0)], axis=1)

    def model(rows):
        return np.outer(rows.sum(axis=1), [1, 2, 3])

    predictor, _ = meet(wrap(model, gradient=slopes), chunk(), ["y2", "y0"])
    answers, found = predictor.gradient(chunk())
    assert answers == pytest.approx(model(X)[:, [2, 0]])
    assert found[0].tolist() == [[3.0, 3.0], [1.0, 1.0]]


def test_a_failing_model_says_how_many_rows_it_was_asked():
    def broken(rows):
        msg = f"cannot do {len(rows)}"
        raise LookupError(msg)

    with pytest.raises(
        ModelFailedError, match="failed on 32 rows on the first test call"
    ) as caught:
        meet(wrap(broken), chunk())
    assert isinstance(caught.value.__cause__, LookupError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_stop_is_no_failure_of_the_model(error):
    def stopped(_):
        raise error

    with pytest.raises(error):
        meet(wrap(stopped), chunk())


def test_outputs_come_in_the_order_they_were_asked_for():
    model = wrap(lambda rows: np.column_stack([rows[:, 0], 10 * rows[:, 0]]))
    predictor, _ = meet(model, chunk(), output=[1, 0])
    rows = chunk()
    answer = predictor.predict(rows.rows, rows.n_rows)
    assert predictor.outputs == ("y1", "y0")
    np.testing.assert_array_equal(answer[:, 0], 10 * answer[:, 1])


class Walks:
    """A walker that answers with given slopes, or fails."""

    def __init__(self, slopes):
        self.slopes, self.chosen = slopes, None

    def walk_jumps(self, chunk, questions, rows, chosen):  # noqa: ARG002
        self.chosen = chosen
        if self.slopes is None:
            raise LookupError
        return [JumpReply(None, self.slopes) for _ in questions]


def walk_jumps(slopes):
    predictor, _ = meet(wrap(lambda rows: np.column_stack([rows[:, 0]] * 3)), chunk(), [2, 0])
    question, walker = ask_about(0, X[:, 0], np.zeros(1)), Walks(slopes)
    replies = predictor.walk_jumps(walker, chunk(), [question], count_some(60), "with 'a' changed")
    return replies, walker


def test_jumps_are_asked_for_the_chosen_outputs():
    replies, walker = walk_jumps(np.zeros((2, 60)))
    assert walker.chosen == (2, 0)
    assert not replies[0].slopes.any()


def test_jumps_that_are_no_finite_numbers_are_refused():
    with pytest.raises(BadPredictionError, match=r"nan or infinity with 'a' changed \(column 0"):
        walk_jumps(np.full((2, 60), np.inf))


def test_a_walker_that_fails_is_blamed():
    with pytest.raises(ModelFailedError, match="failed on 60 rows with 'a' changed"):
        walk_jumps(None)


class WalksPairs:
    """A walker that answers with given differences, or fails."""

    def __init__(self, mixed):
        self.mixed, self.chosen = mixed, None

    def walk_pairs(self, chunk, question, chosen):  # noqa: ARG002
        self.chosen = chosen
        if self.mixed is None:
            raise LookupError
        return PairReply([self.mixed], [self.mixed] * 2)


def walk_pairs(mixed):
    predictor, _ = meet(wrap(lambda rows: np.column_stack([rows[:, 0]] * 3)), chunk(), [2, 0])
    sides = [ask_side(c, X[:, c], cells_of(X[:, c])) for c in (0, 1)]
    walker = WalksPairs(mixed)
    reply = predictor.walk_pairs(walker, chunk(), ask_pairs(sides), "with two columns changed")
    return reply, walker


def test_pairs_are_asked_for_the_chosen_outputs():
    reply, walker = walk_pairs(np.zeros((2, 60, 1)))
    assert walker.chosen == (2, 0)
    assert not reply.mixed[0].any()


def test_differences_that_are_no_finite_numbers_are_refused():
    with pytest.raises(BadPredictionError, match=r"two columns changed \(columns 0 and 1\)"):
        walk_pairs(np.full((2, 60, 1), np.nan))


def test_a_walker_that_fails_on_pairs_is_blamed():
    with pytest.raises(ModelFailedError, match="failed on 60 rows with two columns changed"):
        walk_pairs(None)


@pytest.mark.parametrize(("walker", "answer"), [(None, False), (Walks(None), False)])
def test_walkers_that_are_older_than_pairs_are_not_asked_for_them(walker, answer):
    predictor, _ = meet(wrap(lambda rows: rows[:, 0]), chunk())
    adapter = SimpleNamespace(walker=walker)
    assert replace(predictor, adapter=adapter).walks_pairs == answer
    newer = replace(predictor, adapter=SimpleNamespace(walker=WalksPairs(None)))
    assert newer.walks_pairs
