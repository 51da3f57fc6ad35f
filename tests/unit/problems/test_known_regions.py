"""Problems with known regions: gradients, labels, and what each claims about its rows."""

import pickle

import numpy as np
import pytest

import problems

VARIANTS = [problems.near_copy(30), problems.either_or(30), problems.rippled_gate(0.6)]
PROBLEMS = [make() for make in problems.REGIONAL] + VARIANTS

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
STEP = 1e-6


def moved(rows, column, step):
    rows = rows.copy()
    rows[:, column] += step
    return rows


@each_problem
def test_the_gradient_equals_central_differences(problem):
    rows = problem.draw(500, seed=3)
    for column in range(rows.shape[1]):
        change = problem.predict(moved(rows, column, STEP))
        change = (change - problem.predict(moved(rows, column, -STEP))) / (2 * STEP)
        near_edge = np.abs(change) > 1e4  # a jump, or a whole number that is no longer one
        slopes = problem.gradient(rows)[:, column]
        assert near_edge.mean() < 0.01 or column in problem.splitters
        np.testing.assert_allclose(slopes[~near_edge], change[~near_edge], rtol=1e-4, atol=1e-4)


@each_problem
def test_labels_divide_the_gradient_of_the_target_as_they_claim(problem):
    rows = problem.draw(2_000, seed=5)
    labels = problem.labels(rows)
    if not problem.factors:
        assert not labels.any()
        return
    assert set(labels) == set(range(len(problem.factors)))
    x, part = rows[:, problem.target], problem.parts.get(problem.target)
    shared = 0.0 if part is None else part.slope(x)
    expected = shared + problem.own.slope(x) * np.array(problem.factors)[labels]
    np.testing.assert_allclose(problem.gradient(rows)[:, problem.target], expected)


@each_problem
def test_rows_that_agree_in_the_splitters_are_of_one_kind(problem):
    rows = problem.draw(500, seed=7)
    others = problem.draw(500, seed=8)
    others[:, list(problem.splitters)] = rows[:, list(problem.splitters)]
    weight = np.ones(500) if problem.weigh is None else problem.weigh(rows) * problem.weigh(others)
    same = problem.labels(rows) == problem.labels(others)
    assert weight @ same >= 0.995 * weight.sum()


@each_problem
def test_features_that_are_alike_have_slopes_of_their_own_value_alone(problem):
    rows = problem.draw(300, seed=9)
    for column in problem.alike:
        others = problem.draw(300, seed=10)
        others[:, column] = rows[:, column]
        slopes = [problem.gradient(some)[:, column] for some in (rows, others)]
        np.testing.assert_array_equal(*slopes)


@each_problem
def test_what_is_claimed_fits_together(problem):
    n_features = problem.draw(2).shape[1]
    named = {*problem.alike, *problem.splitters, *problem.partners, *problem.categorical}
    assert named <= set(range(n_features))
    assert problem.target not in {*problem.alike, *problem.splitters, *problem.partners}
    assert not set(problem.alike) & {*problem.splitters, *problem.partners}
    assert set(problem.entangled) <= set(problem.alike)
    assert (problem.n_regions > 1) == bool(problem.splitters)
    for column in problem.categorical:
        values = problem.draw(300)[:, column]
        assert np.array_equal(values, np.round(values))


@each_problem
def test_a_problem_survives_pickling_and_its_seed_decides_the_rows(problem):
    copy = pickle.loads(pickle.dumps(problem))  # noqa: S301 (our own bytes)
    rows = problem.draw(50, seed=4)
    np.testing.assert_array_equal(copy.draw(50, seed=4), rows)
    np.testing.assert_array_equal(copy.predict(rows), problem.predict(rows))
    assert not np.array_equal(problem.draw(50, seed=5), rows, equal_nan=True)


def test_names_of_problems_are_the_names_of_their_functions():
    made = [make() for make in problems.REGIONAL]
    assert [problem.name for problem in made] == [make.__name__ for make in problems.REGIONAL]
