import pickle
from itertools import pairwise

import numpy as np
import pytest

import problems

VARIANTS = [
    problems.case_a(continuous=True),
    problems.study_1(std=0.3, kinks=(0.213, 0.387, 0.461, 0.523)),
    problems.study_2(std=0.8),
    problems.correlated(rho=-0.9),
]
PROBLEMS = [make() for make in problems.ALL] + VARIANTS

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)


def local_effects_by_feature(problem, rows):
    slopes = problem.gradient(rows)
    for column, (name, truth) in enumerate(problem.truths.items()):
        yield name, truth, rows[:, column], slopes[:, column]


def within_five_standard_errors(values):
    return abs(values.mean()) <= 5 * values.std() / np.sqrt(len(values)) + 1e-9


def slices(x, limits, n_slices=25):
    edges = np.linspace(*limits, n_slices + 1)
    members = [(low <= x) & (x < high) for low, high in pairwise(edges)]
    populated = [inside for inside in members if inside.sum() >= 100]
    assert len(populated) > n_slices // 2
    return populated


@each_problem
def test_the_gradient_equals_central_differences(problem):
    rows, step = problem.draw(500, seed=3), 1e-6
    for column in range(rows.shape[1]):
        move = np.zeros_like(rows)
        move[:, column] = step
        difference = (problem.predict(rows + move) - problem.predict(rows - move)) / (2 * step)
        np.testing.assert_allclose(
            problem.gradient(rows)[:, column], difference, rtol=1e-6, atol=1e-6
        )


@each_problem
def test_the_mean_is_the_average_local_effect_in_every_thin_slice(problem):
    rows = problem.draw(100_000, seed=5)
    for name, truth, x, effects in local_effects_by_feature(problem, rows):
        error = effects - truth.mean(x)
        for inside in slices(x, truth.limits):
            assert within_five_standard_errors(error[inside]), (name, x[inside].mean())


@each_problem
def test_the_std_is_the_deviation_of_local_effects_in_every_thin_slice(problem):
    rows = problem.draw(100_000, seed=7)
    for name, truth, x, effects in local_effects_by_feature(problem, rows):
        error = (effects - truth.mean(x)) ** 2 - truth.std(x) ** 2
        for inside in slices(x, truth.limits):
            assert within_five_standard_errors(error[inside]), (name, x[inside].mean())


def integrate(function, edges):
    """Gauss's rule on every panel: exact to rounding where kinks lie on the edges."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, None] / 2
    values = function((edges[:-1, None] + half + half * nodes).ravel()).reshape(-1, len(nodes))
    return np.concatenate([[0.0], np.cumsum(half[:, 0] * (values @ weights))])


@each_problem
def test_the_curve_is_the_integral_of_the_mean_from_the_lower_limit(problem):
    for name, truth in problem.truths.items():
        edges = np.linspace(*truth.limits, 2001)
        integral = integrate(truth.mean, edges)
        np.testing.assert_allclose(
            truth.curve(edges), integral, rtol=1e-10, atol=1e-10, err_msg=name
        )


@each_problem
def test_truths_keep_the_shape_of_their_argument(problem):
    for truth in problem.truths.values():
        z = np.linspace(*truth.limits, 7)
        for answer in (truth.mean, truth.std, truth.curve):
            assert answer(z).shape == z.shape
            assert np.all(np.isfinite(answer(z)))


@each_problem
def test_a_problem_has_one_truth_per_column_and_one_value_per_row(problem):
    rows = problem.draw(20, seed=1)
    assert rows.shape == (20, len(problem.names))
    assert problem.gradient(rows).shape == rows.shape
    assert problem.predict(rows).shape == (20,)


@each_problem
def test_neither_prediction_nor_gradient_changes_or_shares_the_rows(problem):
    rows = problem.draw(20, seed=1)
    rows.flags.writeable = False
    problem.predict(rows)
    assert not np.shares_memory(problem.gradient(rows), rows)


@each_problem
def test_the_seed_alone_decides_the_rows(problem):
    first = problem.draw(50, seed=4)
    assert np.array_equal(first, problem.draw(50, seed=4))
    assert not np.array_equal(first, problem.draw(50, seed=5))


@each_problem
def test_a_problem_survives_pickling(problem):
    rows = problem.draw(50, seed=2)
    copy = pickle.loads(pickle.dumps(problem))  # noqa: S301 (our own bytes)
    assert np.array_equal(copy.predict(rows), problem.predict(rows))
    assert np.array_equal(copy.gradient(rows), problem.gradient(rows))


def test_names_of_problems_are_the_names_of_their_functions():
    assert [make().name for make in problems.ALL] == [make.__name__ for make in problems.ALL]


def test_drawing_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (the state we must not touch)
    for problem in PROBLEMS:
        problem.draw(10)
        if problem.paper_sample is not None:
            problem.paper_sample()
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
