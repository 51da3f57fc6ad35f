from dataclasses import replace

import numpy as np
import pytest
from tests.unit.interaction.test_pair_plan import survey

from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadEffectsError
from rhale.interaction.estimate import Answers, PairTask, measure_predictions
from rhale.interaction.plan import PairPlan, every_pair, make_sides
from rhale.interaction.settings import PairSettings
from rhale.models import meet, wrap


def model(z):
    return z[:, 0] * z[:, 1] + z[:, 1] * z[:, 2]


def gradient(z):
    return np.stack([z[:, 1], z[:, 0] + z[:, 2], z[:, 1]], axis=1)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 3, 300)])


def make_task(rows, way, function=model, weights=None):
    features, chunk, asked = survey(rows)
    slopes = gradient if way == "gradient" else None
    predictor, _ = meet(wrap(function, gradient=slopes), chunk)
    asker = BatchedModel(predictor, ("x0", "x1", "x2"), 10_000)
    sides = make_sides(features, asked, PairSettings(cells=5), len(rows))
    plan = PairPlan(sides, every_pair(3), (way,) * 3)
    chunk = chunk if weights is None else replace(chunk, weights=weights)
    return PairTask(asker, plan, 0), chunk


def test_slopes_and_corners_agree_on_bilinear_functions(rows):
    found = {}
    for way in ("gradient", "corners"):
        task, chunk = make_task(rows, way)
        found[way] = task(chunk)
    for slopes, corners in zip(found["gradient"].pairs, found["corners"].pairs, strict=True):
        assert slopes.mean == pytest.approx(corners.mean, abs=1e-12)
        assert np.array_equal(slopes.count, corners.count)
    both = found["gradient"].reversed
    assert both[0].mean == pytest.approx(found["gradient"].pairs[0].mean)
    assert both[1] is both[2] is None  # a level has no slope
    for slopes, corners in zip(found["gradient"].mains, found["corners"].mains, strict=True):
        assert slopes.mean == pytest.approx(corners.mean)


@pytest.mark.parametrize(
    ("pairs", "n_slopes", "n_predictions"),
    [
        ([[0, 1], [0, 2], [1, 2]], 1 + 2 + 2 + 2, 1 + 2 + 2 + 2),  # as they are, and both ends
        ([[0, 2]], 1 + 2, 1 + 2 + 2),  # of a number and a level, slopes along the number alone
        ([[0, 1]], 2 + 2, 1 + 2 + 2),
    ],
)
def test_nothing_is_asked_twice_and_no_slopes_that_no_pair_needs(
    rows, pairs, n_slopes, n_predictions
):
    asked = {"slopes": 0, "predictions": 0}

    def counted(name, function):
        def call(z):
            asked[name] += len(z)
            return function(z)

        return call

    features, chunk, settings = survey(rows)
    function = wrap(counted("predictions", model), gradient=counted("slopes", gradient))
    predictor, _ = meet(function, chunk)
    sides = make_sides(features, settings, PairSettings(cells=5), len(rows))
    plan = PairPlan(sides, np.array(pairs), ("gradient",) * len(pairs))
    asked.update(slopes=0, predictions=0)
    PairTask(BatchedModel(predictor, ("x0", "x1", "x2"), 10_000), plan, 0)(chunk)
    assert asked == {"slopes": 300 * n_slopes, "predictions": 300 * n_predictions}


def test_what_a_feature_does_alone_is_asked_since_slopes_do_not_see_jumps(rows):
    def jumps(z):
        return model(z) + 5 * (z[:, 0] > 0)

    task, chunk = make_task(rows, "gradient", function=jumps)
    main, axis = task(chunk).mains[0], task.plan.sides[0].axis
    told = main.curve(axis, 0).importance
    jump = np.where(rows[:, 0] > 0, 5.0, 0.0)
    slope = rows[:, 0] * rows[:, 1].mean()
    assert told == pytest.approx((jump + slope).std(), rel=0.1)


@pytest.mark.parametrize("way", ["corners", "gradient"])
def test_many_rows_are_added_up_in_a_compiled_loop_with_the_same_sums(rows, way, monkeypatch):
    pytest.importorskip("numba")
    task, chunk = make_task(rows, way)
    plain = task(chunk)
    monkeypatch.setattr("rhale.interaction.estimate.MIN_COMPILED_PAIR_ROWS", 0)
    compiled = task(chunk)
    for one, other in zip(
        plain.pairs + plain.reversed, compiled.pairs + compiled.reversed, strict=True
    ):
        assert (one is None) == (other is None)
        for name in () if one is None else ("count", "places", "mean", "products"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-12)


@pytest.mark.parametrize("way", ["corners", "gradient"])
def test_rows_that_are_asked_are_counted(rows, way):
    asked = []

    def counting(z):
        asked.append(len(z))
        return model(z)

    task, chunk = make_task(rows, way, counting)
    asked.clear()
    sums = task(chunk)
    n = len(rows)
    expected = n + (4 + 6 + 6) * n if way == "corners" else n + 3 * 2 * n
    assert sums.asked == sum(asked) == expected


def test_chunks_add_up(rows):
    task, chunk = make_task(rows, "corners")
    whole = task(chunk)
    parts = [task(chunk.take(np.arange(a, b))) for a, b in ((0, 100), (100, 130), (130, 300))]
    total = parts[0] + parts[1] + parts[2]
    for a, b in zip(total.pairs, whole.pairs, strict=True):
        assert np.array_equal(a.count, b.count)
        assert a.mean == pytest.approx(b.mean)
        assert a.products == pytest.approx(b.products, abs=1e-12)
    assert total.answers.variance == pytest.approx(model(rows).var())
    assert total.asked == whole.asked


def test_pairs_with_a_feature_of_one_value_are_counted_and_nothing_is_asked():
    rows = np.column_stack([np.ones(50), np.arange(50.0), np.arange(50.0) ** 2])
    task, chunk = make_task(rows, "corners")
    plan = replace(task.plan, ways=("still", "still", "corners"))
    sums = replace(task, plan=plan)(chunk)
    assert sums.asked == 50 + 4 * 50
    assert sums.pairs[0].count.sum() == 50
    assert not sums.pairs[0].mean.any()
    assert sums.mains[0] is None


def test_rows_without_weight_say_nothing(rows):
    task, chunk = make_task(rows, "corners", weights=np.zeros(len(rows)))
    sums = task(chunk)
    assert sums.answers.weight == 0
    assert sums.answers.variance.tolist() == [0.0]


def test_answers_of_two_pieces_have_their_joint_variance():
    first = Answers(2.0, np.array([1.0]), np.array([2.0]))
    second = Answers(1.0, np.array([4.0]), np.array([0.0]))
    assert (first + second).variance == pytest.approx(np.var([0.0, 2.0, 4.0]))


def test_answers_are_single_precision_where_all_pieces_are():
    coarse = measure_predictions(np.array([[0.1], [0.7]], dtype=np.float32).astype(float), None)
    fine = measure_predictions(np.array([[0.1], [0.7]]), None)
    assert (coarse + coarse).is_single
    assert not (coarse + fine).is_single


def test_predictions_whose_squares_are_no_numbers_are_refused():
    with pytest.raises(BadEffectsError, match=r"differ by 2e\+200 from their mean"):
        measure_predictions(np.array([[-2e200], [2e200]]), None)
    assert measure_predictions(np.array([[2e200], [2e200]]), None).variance.tolist() == [0.0]


def test_chunks_are_as_large_as_memory_and_the_model_allow(rows):
    task, _ = make_task(rows, "corners")
    assert task.chunk_rows(65_536) == 16_384
    walked = replace(task, plan=replace(task.plan, ways=("walk",) * 3))
    assert walked.chunk_rows(65_536) == 65_536
