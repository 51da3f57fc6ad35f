"""Partial dependence and individual curves against algebra and brute force."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import t as student

import rhale
from rhale.effects.local import profiles
from rhale.errors import BadSettingError

N = 400
X = np.random.default_rng(3).normal(size=(N, 2))
X[:, 1] += 0.9 * X[:, 0]
GRID = [-1.0, 0.0, 0.5, 2.0]
WEIGHTS = np.random.default_rng(4).uniform(0, 2, N)


def model(rows):
    return rows[:, 0] ** 2 + 3 * rows[:, 0] * rows[:, 1]


def profile(method, **options):
    options = {"features": 0, "bins": rhale.Edges(GRID), **options}
    return rhale.explain(model, X, method=method, **options)[0]


def test_partial_dependence_averages_the_other_features_whatever_their_correlation():
    z, found = np.array(GRID), profile("pdp")
    assert found.grid.tolist() == GRID
    assert found.mean == pytest.approx(z**2 + 3 * z * X[:, 1].mean(), rel=1e-12)
    assert found.std == pytest.approx(3 * np.abs(z) * X[:, 1].std(ddof=1), abs=1e-12)
    assert found.rows.tolist() == [N] * 4


def test_a_profile_counts_every_row_whatever_its_grid_and_does_not_say_otherwise():
    assert np.sum(np.abs(X[:, 0]) > 2) > 0
    assert profile("pdp").rows.tolist() == [N] * 4
    assert not any("left out" in note for note in profile("pdp").notes)


def test_weights_count_in_every_average():
    z, found = np.array(GRID), profile("pdp", weights=WEIGHTS)
    centre = np.average(X[:, 1], weights=WEIGHTS)
    assert found.mean == pytest.approx(z**2 + 3 * z * centre, rel=1e-12)


def test_centres_of_a_profile():
    found, z = profile("pdp"), np.array(GRID)
    assert found.curve(z, center=None) == pytest.approx(found.mean)
    assert found.curve(-1.0, center="start") == 0.0
    assert found.share @ found.curve(z, center="mean") == pytest.approx(0, abs=1e-12)
    uniform = found.curve(z, center="uniform")
    area = np.sum(np.diff(z) * (uniform[1:] + uniform[:-1]) / 2)
    assert area == pytest.approx(0, abs=1e-12)
    with pytest.raises(BadSettingError, match="center='left'"):
        found.curve(z, center="left")


def test_a_profile_is_straight_between_points_and_unknown_outside():
    found = profile("pdp")
    assert found.curve(0.25) == pytest.approx((found.curve(0.0) + found.curve(0.5)) / 2)
    assert np.isnan(found.curve([-1.01, 2.01])).all()
    assert np.shape(found.curve(0.3)) == ()


def test_a_row_shares_itself_between_the_two_points_beside_it():
    rows = np.array([[0.0], [0.5], [1.5], [3.0], [9.0]])
    found = rhale.explain(lambda r: r[:, 0], rows, method="pdp", bins=rhale.Edges([0, 2, 3]))[0]
    assert found.share == pytest.approx(np.array([1 + 0.75 + 0.25, 0.25 + 0.75, 2]) / 5)


def test_rows_outside_the_points_count_at_the_nearest_end_and_that_is_said():
    found, inside = profile("pdp"), np.clip(X[:, 0], -1, 2)
    assert found.curve(inside).mean() == pytest.approx(0, abs=1e-12)
    n_outside = np.sum((X[:, 0] < -1) | (X[:, 0] > 2))
    (note,) = found.notes
    assert note.startswith(f"{n_outside} of {N} rows lie outside [-1, 2]")
    assert "count at the nearest end" in note


def test_individual_curves_are_those_of_the_rows():
    found, z = profile("ice"), np.array(GRID)
    assert found.curves.shape == (N, 4)
    other = dict(X.tolist())
    partner = np.array([other[x] for x in found.curve_x])
    assert found.ice() == pytest.approx(z**2 + 3 * z * partner[:, None], abs=1e-12)
    assert found.mean == pytest.approx(found.curves.mean(axis=0), rel=1e-10)


def test_centred_curves_are_zero_where_they_are_centred():
    found = profile("ice")
    assert np.all(found.ice(center="start")[:, 0] == 0)
    assert np.all(found.ice(center=0.5)[:, 2] == 0)
    assert found.ice(center="mean") @ found.share == pytest.approx(np.zeros(N), abs=1e-12)
    halfway = found.ice(center=0.25)
    assert (halfway[:, 1] + halfway[:, 2]) / 2 == pytest.approx(np.zeros(N), abs=1e-12)
    with pytest.raises(BadSettingError, match=r"center=7.* outside the grid"):
        found.ice(center=7)


def test_slopes_of_individual_curves_are_derivatives():
    def cubic(rows):
        return 2 * rows[:, 0] * rows[:, 1]

    found = rhale.explain(cubic, X, features=0, method="ice", bins=rhale.Edges(GRID))[0]
    other = dict(X.tolist())
    slopes = np.array([2 * other[x] for x in found.curve_x])
    assert found.dice() == pytest.approx(np.repeat(slopes[:, None], 4, axis=1), abs=1e-10)


def test_curves_of_single_rows_need_the_method_that_keeps_them():
    for verb in ("ice", "dice"):
        with pytest.raises(BadSettingError, match="method='ice'"):
            getattr(profile("pdp"), verb)()


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_spread_and_uncertainty_are_those_of_the_centred_curves(center):
    """Where curves are centred over the rows, other rows would also shift all of them."""
    found = profile("ice")
    curves = found.ice(center=center)
    variance = curves.var(axis=0, ddof=1)  # nothing at one of the points, to rounding of the others
    assert found.spread(GRID, center=center) ** 2 == pytest.approx(variance, rel=1e-12, abs=1e-13)
    low, high = found.ci(GRID, level=0.95, center=center)
    shift = found.curve(np.clip(found.curve_x, -1, 2))[:, None] if center == "mean" else 0.0
    reach = student.ppf(0.975, N - 1) * (curves - shift).std(axis=0, ddof=1) / np.sqrt(N)
    assert (high - low) / 2 == pytest.approx(reach, abs=1e-8)
    assert (high + low) / 2 == pytest.approx(found.curve(GRID, center=center))


def test_heterogeneity_of_a_model_without_interactions_is_nothing():
    fx = rhale.explain(lambda r: r[:, 0] ** 3 + 100 * r[:, 1], X, method="pdp")
    assert fx["x0"].heterogeneity < 1e-9
    assert profile("pdp").heterogeneity > 1


def test_the_importance_of_a_skewed_feature_does_not_depend_on_the_grid():
    """A line has the deviation of its feature, whatever the points."""
    x = np.random.default_rng(0).lognormal(0, 1.5, (500, 1))
    for bins in (1, 2, 7, 50, rhale.Quantile(3), rhale.Quantile(10)):
        found = rhale.explain(lambda r: 3 * r[:, 0], x, method="pdp", bins=bins)[0]
        assert found.importance == pytest.approx(3 * x.std(), rel=1e-12)
        assert found.curve(x[:, 0]) == pytest.approx(3 * (x[:, 0] - x.mean()), rel=1e-10)
        assert found.typical_spread == 0.0


def test_the_importance_of_a_line_is_as_sure_as_a_deviation_over_so_many_rows():
    """The curve is known exactly; the variance of a variance is (kurtosis - 1) variance² / n."""
    x, size = X[:, 0] - X[:, 0].mean(), X[:, 0].std()
    found = rhale.explain(lambda r: r[:, 0], X, features=0, method="pdp")[0]
    kurtosis = np.mean(x**4) / size**4
    assert found.importance_error == pytest.approx(
        size * np.sqrt((kurtosis - 1) / (4 * N)), rel=0.01
    )


def test_the_typical_spread_of_a_product_is_the_product_of_the_deviations():
    """Curves (x - mean) z: their variance is that of z times (x - mean) squared."""
    for bins in (1, 5, rhale.Quantile(4)):
        fx = rhale.explain(lambda r: r[:, 0] * r[:, 1], X, method="pdp", bins=bins)
        expected = np.sqrt(N / (N - 1)) * X[:, 0].std() * X[:, 1].std()
        assert [fx[0].typical_spread, fx[1].typical_spread] == pytest.approx([expected] * 2)


def test_the_interval_knows_that_a_rows_curve_and_its_place_go_together():
    """f = x (1 + z), z correlated with x: a row moves the curve at v by (v - mean) (1 + z), and
    its zero by (x - mean) (1 + mean of z)."""
    found = rhale.explain(lambda r: r[:, 0] * (1 + r[:, 1]), X, method="pdp", bins=4)[0]
    x, z, v = X[:, 0] - X[:, 0].mean(), X[:, 1], found.grid - X[:, 0].mean()
    moves = v * (1 + z[:, None]) - (x * (1 + z.mean()))[:, None]
    low, high = found.ci(found.grid)
    error = moves.std(axis=0, ddof=1) / np.sqrt(N)
    assert (high - low) / 2 == pytest.approx(student.ppf(0.975, N - 1) * error, rel=1e-8)


def test_the_usual_grid_covers_the_range():
    found = rhale.explain(model, X, features=0, method="pdp")[0]
    assert found.grid[[0, -1]].tolist() == [X[:, 0].min(), X[:, 0].max()]
    assert found.grid.size == 51
    assert np.diff(found.grid) == pytest.approx(np.full(50, np.ptp(X[:, 0]) / 50))


@pytest.mark.parametrize("method", ["pdp", "ice"])
def test_batches_do_not_change_a_profile(method):
    whole, pieces = (profile(method, batch_size=size, weights=WEIGHTS) for size in (None, 90))
    assert whole.mean == pytest.approx(pieces.mean, rel=1e-12)
    assert whole.share == pytest.approx(pieces.share, rel=1e-12)
    for name in ("importance", "importance_error", "typical_spread"):
        assert getattr(whole, name) == pytest.approx(getattr(pieces, name), rel=1e-10)
    assert whole.ci(GRID) == pytest.approx(np.array(pieces.ci(GRID)), rel=1e-10)
    assert whole.std == pytest.approx(pieces.std, rel=1e-10, abs=1e-12)
    assert whole.spread(whole.grid) == pytest.approx(pieces.spread(pieces.grid), abs=1e-9)


def two_outputs(rows):
    known = np.nan_to_num(rows)
    return np.column_stack([model(known), np.sin(known[:, 0] + known[:, 1])])


@pytest.mark.parametrize("n_rows", [1, 7, 399])
def test_curves_added_up_in_blocks_are_those_of_all_rows(n_rows, monkeypatch):
    """Weights, missing values and two outputs, by brute force; where rows stand, in one block."""
    x, options = X.copy(), {"features": 0, "weights": WEIGHTS, "bins": rhale.Edges(GRID)}
    x[::9, 0] = np.nan
    whole = rhale.explain(two_outputs, x, method="ice", **options)
    monkeypatch.setattr(profiles, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(profiles, "MIN_TRACED_BLOCK_ROWS", n_rows)
    fx = rhale.explain(two_outputs, x, method="ice", **options)
    held = [two_outputs(np.column_stack([np.full(N, at), x[:, 1]])) for at in GRID]
    n = WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum()
    for output in range(2):
        found, one = fx[0, output], whole[0, output]
        curves = np.stack(held, axis=1)[..., output]
        shapes = (curves - curves.mean(axis=1)[:, None]).T
        covariance = np.cov(shapes, aweights=WEIGHTS, ddof=0) * n / (n - 1)
        assert found.mean == pytest.approx(np.average(curves, axis=0, weights=WEIGHTS), rel=1e-12)
        np.testing.assert_allclose(found.covariance, covariance, rtol=1e-10, atol=1e-12)
        assert {*map(tuple, found.curves)} == {*map(tuple, curves)}
        assert [found.curves.tolist(), str(found.curve_x)] == [
            one.curves.tolist(),
            str(one.curve_x),
        ]
        np.testing.assert_allclose(found.own_covariance, one.own_covariance, rtol=1e-9, atol=1e-12)


def test_rows_that_hardly_count_do_not_blur_the_others(monkeypatch):
    """All curves are measured about those of one block: a heavy one, whichever block is first."""
    monkeypatch.setattr(profiles, "BLOCK_NUMBERS", 1)
    monkeypatch.setattr(profiles, "MIN_TRACED_BLOCK_ROWS", 50)
    x, weights = X[np.argsort(X[:, 0])].copy(), np.ones(N)
    x[:50, 1] += 1e7
    weights[:50] = 1e-22
    options = {"features": 0, "method": "pdp", "bins": rhale.Edges(GRID), "weights": weights}
    found = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x, **options)[0]
    scatter = np.sqrt(np.cov(x[:, 1], aweights=weights, ddof=0) * (N - 50) / (N - 51))
    shape = np.array(GRID) - np.mean(GRID)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(np.abs(shape) * scatter, rel=1e-11)


def test_curves_of_all_rows_are_never_held_at_a_time():
    rows = np.random.default_rng(0).normal(size=(20_000, 2))
    profile("pdp")  # whatever is loaded at the first call
    tracemalloc.start()
    rhale.explain(model, rows, features=0, method="pdp", bins=300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 300 * len(rows) / 3


def test_curves_that_are_kept_are_bounded_and_whole():
    rows = np.random.default_rng(0).normal(size=(5000, 2))
    found = rhale.explain(model, rows, method="ice")
    for name in ("x0", "x1"):
        assert 200 <= len(found[name].curves) <= 2000
        assert found[name].rows.tolist() == [5000] * 51
    z, own = found["x0"].grid, dict(rows.tolist())
    partner = np.array([own[x] for x in found["x0"].curve_x])
    assert found["x0"].curves == pytest.approx(z**2 + 3 * z * partner[:, None], abs=1e-10)


def test_ice_says_when_it_keeps_the_curves_of_some_rows_only():
    x = np.random.default_rng(0).normal(size=(2500, 2))
    many = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x, method="ice", bins=5)
    few = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x[:500], method="ice", bins=5)
    assert many[0].curves.shape == (2000, 6)
    assert many[0].notes == ("the curves of 2,000 of 2,500 rows are kept; averages use all rows",)
    assert many[0].rows.tolist() == [2500.0] * 6
    assert few[0].notes == ()


# --- grids -------------------------------------------------------------------------------------


def grid_of(values, bins=None, **options):
    rows = np.asarray(values, dtype=float)[:, None]
    return rhale.explain(lambda r: r[:, 0], rows, method="pdp", bins=bins, **options)[0].grid


def test_points_are_quantiles_where_these_are_asked_for():
    values = np.random.default_rng(0).lognormal(size=101)
    assert (
        grid_of(values, rhale.Quantile(4)).tolist()
        == np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    )


def test_given_points_stay_as_they_are_however_few_the_values():
    assert grid_of([0, 1, 2] * 9, rhale.Edges([0.25, 0.5, 7])).tolist() == [0.25, 0.5, 7]


@pytest.mark.parametrize("bins", [None, 4, rhale.Quantile(4)])
def test_few_values_are_the_points(bins):
    values = np.array([0.1, 0.2, 0.7, 3.5, 10.5])
    assert grid_of(np.repeat(values, 9), bins).tolist() == values.tolist()


def test_more_values_than_points_are_not_the_points():
    assert grid_of(np.arange(30) + 0.5, 4).tolist() == [0.5, 7.75, 15, 22.25, 29.5]


def test_few_values_within_limits_are_points_beside_the_limits():
    found = grid_of([0.5, 1.5, 2.5, 3.5] * 5, limits=(1, 3))
    assert found.tolist() == [1, 1.5, 2.5, 3]


# --- features with one value -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pdp", "ice"])
def test_a_constant_feature_has_a_note_and_no_importance(method):
    rows = np.column_stack([X, np.full(N, 4.0)])
    found = rhale.explain(lambda r: r[:, 0] * r[:, 2], rows, method=method)["x2"]
    assert found.grid.tolist() == [4.0]
    assert found.notes == ("constant: always 4, so no effect can be measured",)
    assert [found.notes[0].kind, found.share.tolist()] == ["constant", [1.0]]
    assert [found.importance, found.importance_error, found.typical_spread] == [0, 0, 0]
    assert found.curve(4.0) == found.spread(4.0) == 0
    assert np.isnan(found.spread(5.0))


def test_given_points_around_the_value_of_a_constant_feature_are_traced():
    """The model answers there, but no row stands anywhere else: no importance."""
    rows = np.full((30, 1), 2.0)
    found = rhale.explain(lambda r: r[:, 0] ** 2, rows, method="pdp", bins=rhale.Edges([1, 2, 4]))[
        0
    ]
    assert found.curve([1, 2, 4]).tolist() == [-3, 0, 12]
    assert found.importance == 0
    assert found.notes == ("constant: always 2, so the rest of the curve is extrapolated",)
