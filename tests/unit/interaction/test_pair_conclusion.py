from dataclasses import replace

import numpy as np
import pytest
from tests.unit.interaction.test_pair_task import make_task

from rhale.interaction.estimate import conclude_pairs, importances
from rhale.interaction.settings import PairSettings


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(400, 3))


def test_of_two_directions_the_stronger_one_is_told(rows):
    """A gate has no slope: only slopes along the other feature see it."""

    def gate(z):
        return 2 * z[:, 0] * (z[:, 1] > 0)

    def slopes(z):
        return np.stack([2.0 * (z[:, 1] > 0), 0 * z[:, 0], 0 * z[:, 0]], axis=1)

    task, chunk = make_task(rows, "gradient", gate)
    adapter = replace(task.predictor.adapter, derivative=slopes)
    predictor = replace(task.predictor, adapter=adapter)
    sums = replace(task, model=replace(task.model, predictor=predictor))(chunk)
    turned = replace(sums, pairs=sums.reversed, reversed=sums.pairs)
    pair, *_ = conclude_pairs(task.plan, sums, ["y"], PairSettings(), len(rows))
    again, *_ = conclude_pairs(task.plan, turned, ["y"], PairSettings(), len(rows))
    assert pair.strength == again.strength > 0.7


def test_rows_that_are_left_out_are_told(rows):
    rows[::10, 0] = np.nan
    task, chunk = make_task(rows, "corners", lambda z: np.nan_to_num(z[:, 0]) * z[:, 1])
    pairs = conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows))
    assert [pair.n_left_out for pair in pairs] == [40, 40, 0]
    assert "40 of 400 rows have no value of 'x0' or 'x1'" in pairs[0].notes[0]


def test_pairs_come_first_and_outputs_within_them(rows):
    task, chunk = make_task(rows, "corners", lambda z: np.stack([z[:, 0] * z[:, 1], z[:, 2]], 1))
    sums = task(chunk)
    pairs = conclude_pairs(task.plan, sums, ["a", "b"], PairSettings(), len(rows))
    assert [(p.names, p.output) for p in pairs[:3]] == [
        (("x0", "x1"), "a"),
        (("x0", "x1"), "b"),
        (("x0", "x2"), "a"),
    ]
    assert pairs[0].strength > 0.8
    assert pairs[1].strength == 0
    assert importances(task.plan, sums, 2)[2] == pytest.approx([0, rows[:, 2].std()])
    assert pairs[0].variance == pytest.approx((rows[:, 0] * rows[:, 1]).var())


def test_main_effects_are_those_of_the_features_alone(rows):
    task, chunk = make_task(rows, "corners", lambda z: z[:, 0] * z[:, 1] + 3 * z[:, 2])
    pair = conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows))[2]
    nodes = pair.axes[1].nodes
    assert pair.main[1] == pytest.approx(3 * (nodes - rows[:, 2].mean()))


def test_a_feature_of_one_value_interacts_with_nothing():
    rows = np.column_stack([np.ones(50), np.arange(50.0), np.arange(50.0) ** 2])
    task, chunk = make_task(rows, "corners")
    plan = replace(task.plan, ways=("still", "still", "corners"))
    sums = replace(task, plan=plan)(chunk)
    pair = conclude_pairs(plan, sums, ["y"], PairSettings(), 50)[0]
    assert (pair.strength, pair.p_value, pair.strength_error) == (0.0, 1.0, 0.0)
    assert pair.notes[0].kind == "constant"


def additive(z):
    return np.sin(z[:, 0]) + z[:, 1] ** 2 + z[:, 2] + 3


def single(model):
    return lambda z: model(z).astype(np.float32)


def test_rounding_of_single_precision_is_no_interaction(rows):
    task, chunk = make_task(rows, "corners", single(additive))
    for pair in conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows)):
        assert (pair.strength, pair.strength_error, pair.p_value) == (0.0, 0.0, 1.0)
        assert not pair.heights.any()


def test_a_weak_pair_is_seen_through_single_precision(rows):
    weak = single(lambda z: 1e-3 * z[:, 0] * z[:, 1] + additive(z))
    task, chunk = make_task(rows, "corners", weak)
    pairs = conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows))
    assert [pair.strength > 0 for pair in pairs] == [True, False, False]
    assert pairs[0].strength == pytest.approx(1e-3, rel=0.25)


def test_double_precision_sees_what_single_cannot(rows):
    task, chunk = make_task(rows, "corners", lambda z: 1e-8 * z[:, 0] * z[:, 1] + additive(z))
    pair, *_ = conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows))
    assert pair.strength == pytest.approx(1e-8, rel=0.25)


def test_whole_numbers_are_exact_however_large(rows):
    """Single precision holds them, too, and could not tell them from rounding."""
    task, chunk = make_task(rows, "corners", lambda z: 8e6 + np.rint(2 * z[:, 0] * z[:, 1]))
    pair, *_ = conclude_pairs(task.plan, task(chunk), ["y"], PairSettings(), len(rows))
    assert pair.strength == pytest.approx(2, rel=0.25)
