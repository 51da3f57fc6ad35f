"""Bins, effects and deviations behind the published figures, with the settings of their code."""

import json
from pathlib import Path

import numpy as np
import pytest

import problems
import rhale

CHECKOUT = Path(__file__).resolve().parents[2]
ORIGINAL = CHECKOUT.parent / "shared" / "paper" / "golden.json"
COPY = CHECKOUT / "paper" / "published.json"
READ_OFF = 1e-6  # limits are read off a drawing
PRINTED = 2e-7


def published_settings(max_bins, min_points, discount):
    return rhale.Optimal(max_bins=max_bins, discount=discount, min_points=min_points, ddof=0)


INTRO, CASES = published_settings(20, 10, 0.5), published_settings(20, 10, 0.3)
FITS = {
    "intro/x2/rhale": (problems.intro, 1, INTRO, (-1, 1)),
    "intro/x3/rhale": (problems.intro, 2, INTRO, (-1, 1)),
    "intro/x1/ale20": (problems.intro, 0, rhale.Fixed(20), (-1, 1)),
    "intro/x2/ale20": (problems.intro, 1, rhale.Fixed(20), (-1, 1)),
    "intro/x3/ale20": (problems.intro, 2, rhale.Fixed(20), (-1, 1)),
    "running": (problems.running, 0, published_settings(50, 5, 0.1), (-0.5, 0.5)),
    "running_5_bins": (problems.running, 0, rhale.Fixed(5), (-0.5, 0.5)),
    "running_10_bins": (problems.running, 0, rhale.Fixed(10), (-0.5, 0.5)),
    "running_50_bins": (problems.running, 0, rhale.Fixed(50), (-0.5, 0.5)),
    "example1/x1": (problems.case_a, 0, CASES, (0, 1)),
    "example1/x2": (problems.case_a, 1, CASES, (0, 1)),
    "example1/x3": (problems.case_a, 2, CASES, (-2, 2)),
    "example2/x1": (problems.case_b, 0, CASES, (0, 1)),
    "example2/x2": (problems.case_b, 1, CASES, (0, 1)),
    "example2/x3": (problems.case_b, 2, CASES, (-2, 2)),
    "example3/x1": (problems.case_c, 0, CASES, (0, 1)),
    "example3/x2": (problems.case_c, 1, CASES, (0, 1)),
    "example3/x3": (problems.case_c, 2, CASES, (-2, 2)),
    "split1": (problems.study_1, 0, published_settings(40, 10, 0.3), (0, 1)),
    "split2": (problems.study_2, 0, published_settings(40, 10, 0.3), (0, 1)),
}
each_fit = pytest.mark.parametrize("key", FITS)


def published(key):
    source = ORIGINAL if ORIGINAL.exists() else COPY
    return json.loads(source.read_text())[key]


def fit(key):
    make, column, bins, limits = FITS[key]
    problem = make()
    rows = problem.paper_sample()
    return rhale.effect(
        rows[:, column], problem.gradient(rows)[:, column], bins=bins, limits=limits
    )


def published_deviation(effect):
    """Deviation as the figures show it: divisor n; variance of thin bins interpolated by index."""
    place, known = np.arange(effect.std.size), effect.count >= 2
    variance = effect.std**2 * (effect.count - 1) / np.maximum(effect.count, 1)
    return np.sqrt(np.interp(place, place[known], variance[known]))


def published_effect(effect):
    """Effect as the figures show it: bins without rows interpolated by index."""
    place, known = np.arange(effect.mean.size), effect.count >= 1
    return np.interp(place, place[known], effect.mean[known])


def near(values, tolerance):
    return pytest.approx(np.array(values), rel=0, abs=tolerance)


def test_the_copy_for_users_is_the_original():
    if not ORIGINAL.exists():
        pytest.skip("there is only the copy")
    assert json.loads(COPY.read_text()) == json.loads(ORIGINAL.read_text())


def test_all_synthetic_fits_but_the_one_split_by_rounding_are_compared():
    source = ORIGINAL if ORIGINAL.exists() else COPY
    content = json.loads(source.read_text())
    synthetic = {k for k, v in content.items() if "limits" in v and "california" not in k}
    assert len(synthetic) == 21
    assert synthetic - {"intro/x1/rhale"} == set(FITS)


@each_fit
def test_limits_of_the_bins_are_the_published_ones(key):
    assert fit(key).edges == near(published(key)["limits"], READ_OFF)


@each_fit
def test_effects_of_the_bins_are_the_published_ones(key):
    assert published_effect(fit(key)) == near(published(key)["effect"], PRINTED)


@each_fit
def test_deviations_in_the_bins_are_the_published_ones(key):
    assert published_deviation(fit(key)) == near(published(key)["std"], PRINTED)


@each_fit
def test_curve_centred_over_x_ends_where_the_published_one_does(key):
    effect = fit(key)
    # the authors centre over 999 midpoints instead of an integral, and the axis is read off
    start, end = effect.curve(effect.edges[[0, -1]], center="uniform")
    golden = published(key)
    assert start == pytest.approx(golden["curve_start"], abs=2e-5)
    assert end == pytest.approx(golden["curve_end"], abs=2e-5)


@each_fit
def test_accumulated_deviation_ends_where_the_published_band_does(key):
    effect = fit(key)
    assert published_deviation(effect) @ np.diff(effect.edges) == pytest.approx(
        published(key)["std_end"], abs=2e-6
    )


def test_fifty_equal_bins_agree_wherever_the_published_ones_have_rows():
    problem, golden = problems.running(), published("running_50_bins")
    rows = problem.paper_sample()
    effect = rhale.effect(rows[:, 0], problem.gradient(rows)[:, 0], bins=50, limits=(-0.5, 0.5))
    measured = effect.count >= 2  # the others are interpolated over the bin's index there
    assert measured.sum() > 15
    assert effect.mean[measured] == near(np.array(golden["effect"])[measured], PRINTED)


def test_the_constant_slope_of_the_introduction_is_one_bin_where_rounding_gave_four():
    problem = problems.intro()
    rows = problem.paper_sample()
    effect = rhale.effect(rows[:, 0], problem.gradient(rows)[:, 0], bins=INTRO, limits=(-1, 1))
    assert len(published("intro/x1/rhale")["effect"]) == 4
    assert effect.edges.tolist() == [-1.0, 1.0]


@pytest.mark.parametrize("key", [k for k in FITS if "x3" not in k or "example3" in k])
def test_explaining_the_model_gives_the_same_bins_as_its_derivatives(key):
    make, column, bins, limits = FITS[key]
    problem = make()
    rows = problem.paper_sample()
    fx = rhale.explain(
        problem.predict,
        rows,
        gradient=problem.gradient,
        features=column,
        bins=bins,
        limits=limits,
        local="gradient",
    )
    expected = fit(key)
    assert fx[0].edges.tolist() == expected.edges.tolist()
    assert fx[0].mean == pytest.approx(expected.mean, rel=1e-13, abs=1e-15, nan_ok=True)
