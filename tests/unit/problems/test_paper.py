import json
from pathlib import Path

import numpy as np
import pytest

import problems

GOLDEN_FILE = Path(__file__).resolve().parents[4] / "shared" / "paper" / "golden.json"

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


def published(key):
    if not GOLDEN_FILE.exists():
        pytest.skip("the published numbers (shared/paper/golden.json) are not beside the checkout")
    return json.loads(GOLDEN_FILE.read_text())[key]


def within_five_standard_errors(values):
    return abs(values.mean()) <= 5 * values.std() / np.sqrt(len(values)) + 1e-9


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


def test_a_kink_belongs_to_the_stretch_on_its_right():
    kinks = np.array([0.25, 0.5])
    assert problems.case_a().truths["x1"].mean(kinks).tolist() == [-1.0, 0.0]
    assert problems.study_1().truths["x1"].mean(kinks[1:]).tolist() == [1.0]
