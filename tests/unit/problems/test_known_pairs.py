import pickle

import numpy as np
import pytest

import problems
from problems.known_pairs import XOR, two_factors

every_problem = pytest.mark.parametrize("make", problems.PAIRED, ids=lambda make: make.__name__)


@every_problem
def test_slopes_are_derivatives(make):
    problem = make()
    rows = problem.draw(60, 1)
    slopes, step = problem.gradient(rows), 1e-6
    smooth = np.abs(rows[:, 1:3]).min(axis=1) > 1e-4  # off kinks and jumps
    for column in range(rows.shape[1]):
        low, high = rows.copy(), rows.copy()
        low[:, column] -= step
        high[:, column] += step
        change = (problem.function(high) - problem.function(low)) / (2 * step)
        assert change[smooth] == pytest.approx(slopes[smooth, column], rel=1e-5, abs=1e-6)


@every_problem
def test_strengths_are_deviations_of_what_two_features_add(make):
    """Independent features: of f less what single features tell, by averages over many rows."""
    problem = make()
    if problem.correlated:
        pytest.skip("the closed form of independent features")
    rows = np.random.default_rng(2).normal(size=(300, 10))
    if problem.shape is not None:
        rows[:, 0] = problem.shape(rows[:, 0])
    for (a, b), truth in problem.strengths.items():
        base = np.zeros((300 * 300, 10))
        base[:, 0] = 1.0 if problem.shape else 0.0
        base[:, a], base[:, b] = np.repeat(rows[:, a], 300), np.tile(rows[:, b], 300)
        table = problem.function(base).reshape(300, 300)
        pure = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
        assert pure.std() == pytest.approx(truth, rel=0.12)


def test_the_mean_of_a_squared_tanh():
    z, weight = np.polynomial.hermite_e.hermegauss(180)
    assert np.average(np.tanh(3 * z) ** 2, weights=weight) == pytest.approx(XOR, abs=1e-4)


def test_columns_go_together_as_said():
    rows = two_factors(0.9).draw(50_000, 0)
    assert np.corrcoef(rows[:, 0], rows[:, 1])[0, 1] == pytest.approx(0.9, abs=0.01)


@every_problem
def test_problems_pickle(make):
    problem = pickle.loads(pickle.dumps(make()))  # noqa: S301 - our own
    rows = problem.draw(5, 0)
    assert np.array_equal(problem.function(rows), make().function(rows))
