import json
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rhale import problems

GOLDEN_FILE = Path(__file__).resolve().parents[3] / "shared" / "paper" / "golden.json"

VARIANTS = [
    problems.case_a(continuous=True),
    problems.study_1(std=0.3, kinks=(0.213, 0.387, 0.461, 0.523)),
    problems.study_2(std=0.8),
    problems.correlated(rho=-0.9),
]
PROBLEMS = [make() for make in problems.ALL] + VARIANTS

PUBLISHED = {
    "intro/x2/rhale": (problems.intro, "x2"),
    "intro/x1/rhale": (problems.intro, "x1"),
    "intro/x3/rhale": (problems.intro, "x3"),
    "running": (problems.running, "x1"),
    "running_5_bins": (problems.running, "x1"),
    "example1/x1": (problems.case_a, "x1"),
    "example1/x2": (problems.case_a, "x2"),
    "example2/x1": (problems.case_b, "x1"),
    "example2/x2": (problems.case_b, "x2"),
    "example3/x1": (problems.case_c, "x1"),
    "example3/x2": (problems.case_c, "x2"),
    "example3/x3": (problems.case_c, "x3"),
    "split1": (problems.study_1, "x1"),
    "split2": (problems.study_2, "x1"),
}

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)


def published(key):
    if not GOLDEN_FILE.exists():
        pytest.skip("the published numbers (shared/paper/golden.json) are not beside the checkout")
    return json.loads(GOLDEN_FILE.read_text())[key]


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


def test_a_kink_belongs_to_the_stretch_on_its_right():
    kinks = np.array([0.25, 0.5])
    assert problems.case_a().truths["x1"].mean(kinks).tolist() == [-1.0, 0.0]
    assert problems.study_1().truths["x1"].mean(kinks[1:]).tolist() == [1.0]


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


@pytest.mark.parametrize(
    ("make", "shape", "first", "last"),
    [
        (problems.intro, (100, 3), -1.0, 1.0),
        (problems.running, (60, 3), -0.5, 0.5),
        (problems.case_a, (502, 3), 0.0, 1.0),
        (problems.case_b, (502, 3), 0.0, 1.0),
        (problems.case_c, (502, 3), 0.0, 1.0),
        (problems.study_1, (502, 2), 0.0, 1.0),
        (problems.study_2, (502, 2), 0.0, 1.0),
    ],
)
def test_the_samples_of_the_paper_have_their_size_and_forced_ends(make, shape, first, last):
    rows = make().paper_sample()
    assert rows.shape == shape
    assert (rows[0, 0], rows[-1, 0]) == (first, last)
    assert rows[1:-1, 0].min() > first
    assert rows[1:-1, 0].max() < last


def test_the_sample_of_the_running_example_has_fifty_rows_below_zero():
    x1 = problems.running().paper_sample()[:, 0]
    assert (x1 < 0).sum() == 50
    assert (x1[49], x1[50]) == (-1e-5, 0.0)


def test_the_first_two_features_of_the_cases_are_equal():
    for make in (problems.case_a, problems.case_b, problems.case_c):
        rows = make().paper_sample()
        assert np.array_equal(rows[:, 0], rows[:, 1])


def test_drawing_leaves_the_global_random_state_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 (the state we must not touch)
    for problem in PROBLEMS:
        problem.draw(10)
        if problem.paper_sample is not None:
            problem.paper_sample()
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_samples_of_a_study_follow_one_another_in_one_stream():
    samples = problems.study_samples(0.5)
    first, second = next(samples), next(samples)
    assert np.array_equal(first, problems.study_1().paper_sample())
    assert second.shape == (502, 2)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("key", PUBLISHED)
def test_bins_of_the_sample_have_the_published_effects_and_deviations(key):
    bins = published(key)
    make, feature = PUBLISHED[key]
    problem, column = make(), make().names.index(feature)
    rows = problem.paper_sample()
    edges = np.round(bins["limits"], 5)
    number = np.clip(np.searchsorted(edges, rows[:, column], "right") - 1, 0, len(edges) - 2)
    effects = problem.gradient(rows)[:, column]
    groups = [effects[number == k] for k in range(len(edges) - 1)]
    np.testing.assert_allclose([group.mean() for group in groups], bins["effect"], atol=1e-6)
    np.testing.assert_allclose([group.std() for group in groups], bins["std"], atol=1e-6)


@pytest.mark.parametrize("key", ["example1/x1", "example1/x2", "example2/x1", "example2/x2"])
def test_the_truth_of_cases_a_and_b_is_the_published_effect(key):
    bins = published(key)
    make, feature = PUBLISHED[key]
    truth, edges = make().truths[feature], np.round(bins["limits"], 5)
    middle = 0.5 * (edges[1:] + edges[:-1])
    np.testing.assert_allclose(truth.mean(middle), bins["effect"], atol=1e-6)
    np.testing.assert_allclose(truth.std(middle), bins["std"], atol=1e-6)
    rises = np.diff(truth.curve(edges)) / np.diff(edges)
    np.testing.assert_allclose(rises, bins["effect"], atol=1e-6)


@pytest.mark.parametrize(("continuous", "start"), [(False, 0.0), (True, 0.25)])
def test_partial_dependence_of_case_a_tells_its_two_versions_apart(continuous, start):
    problem = problems.case_a(continuous=continuous)
    others = problem.draw(200_000, seed=6)
    for z in (0.1, 0.25, 0.4):
        others[:, 0] = z
        values = problem.predict(others) - (start - z**2 / 2)
        assert within_five_standard_errors(values), z


@pytest.mark.parametrize("z", [-0.3, -0.1, 0.2])
def test_partial_dependence_of_the_running_example_is_a_scaled_wave(z):
    problem = problems.running()
    others = problem.draw(200_000, seed=8)
    others[:, 0] = z
    expected = np.sin(2 * np.pi * z) * ((z < 0) - 5 / 3)
    assert within_five_standard_errors(problem.predict(others) - expected)


def test_a_threshold_changes_the_prediction_without_a_spread_of_slopes():
    problem = problems.threshold()
    low, high = problem.draw(100_000, seed=9), problem.draw(100_000, seed=9)
    low[:, 0], high[:, 0] = 0.4, 0.6
    change = problem.predict(high) - problem.predict(low)
    assert abs(change.std() - 1) <= 5 / np.sqrt(2 * len(change))
    assert np.all(problem.truths["x1"].std(change) == 0)
