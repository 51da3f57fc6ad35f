"""Partial dependence, individual curves and marginal plots against algebra."""

import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.measures.tracing import grid_of_points, points_of

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
    assert np.trapezoid(found.curve(z, center="uniform"), z) == pytest.approx(0, abs=1e-12)
    with pytest.raises(BadSettingError, match="center='left'"):
        found.curve(z, center="left")


def test_a_profile_is_straight_between_points_and_unknown_outside():
    found = profile("pdp")
    assert found.curve(0.25) == pytest.approx((found.curve(0.0) + found.curve(0.5)) / 2)
    assert np.isnan(found.curve([-1.01, 2.01])).all()
    assert np.shape(found.curve(0.3)) == ()


def test_the_share_of_a_point_is_that_of_the_rows_up_to_it():
    found, x = profile("pdp"), X[:, 0]
    inside = [np.sum((x > a) & (x <= b)) for a, b in ((-1, 0), (0, 0.5), (0.5, 2))]
    assert found.share == pytest.approx(np.array([0, *inside]) / sum(inside))


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
    found = profile("ice")
    curves = found.ice(center=center)
    assert found.spread(GRID, center=center) == pytest.approx(curves.std(axis=0, ddof=1), abs=1e-9)
    low, high = found.ci(GRID, level=0.95, center=center)
    reach = 1.959963985 * curves.std(axis=0, ddof=1) / np.sqrt(N)
    assert (high - low) / 2 == pytest.approx(reach, abs=1e-9)
    assert (high + low) / 2 == pytest.approx(found.curve(GRID, center=center))


def test_heterogeneity_of_a_model_without_interactions_is_nothing():
    fx = rhale.explain(lambda r: r[:, 0] ** 3 + 100 * r[:, 1], X, method="pdp")
    assert fx["x0"].heterogeneity < 1e-9
    assert profile("pdp").heterogeneity > 1


def test_importance_is_the_deviation_of_the_centred_curve_over_the_points():
    found = profile("pdp")
    curve = found.curve(GRID)
    assert found.importance == pytest.approx(np.sqrt(found.share @ curve**2))


def test_the_marginal_plot_averages_predictions_of_the_rows_of_each_bin():
    edges = np.array([-1.0, 0.0, 1.0])
    found = rhale.explain(model, X, features=0, method="mplot", bins=rhale.Edges(edges))[0]
    for k, (low, high) in enumerate(((-1, 0), (0, 1))):
        inside = (X[:, 0] >= low) & ((X[:, 0] < high) | ((k == 1) & (X[:, 0] == high)))
        assert found.grid[k] == pytest.approx(X[inside, 0].mean(), rel=1e-12)
        assert found.mean[k] == pytest.approx(model(X[inside]).mean(), rel=1e-12)
        assert found.std[k] == pytest.approx(model(X[inside]).std(ddof=1), rel=1e-12)
        assert found.rows[k] == inside.sum()
    out = np.sum(np.abs(X[:, 0]) > 1)
    assert any(f"{out} of {N} rows" in note for note in found.notes)


def test_the_marginal_plot_mixes_correlated_features_where_partial_dependence_does_not():
    fx = {m: rhale.explain(lambda r: r[:, 1], X, features=0, method=m)[0] for m in ("mplot", "pdp")}
    assert fx["pdp"].importance == pytest.approx(0, abs=1e-12)
    assert fx["mplot"].importance > 0.7


def test_the_usual_grid_covers_the_range():
    found = rhale.explain(model, X, features=0, method="pdp")[0]
    assert found.grid[[0, -1]].tolist() == [X[:, 0].min(), X[:, 0].max()]
    assert found.grid.size == 51
    assert np.diff(found.grid) == pytest.approx(np.full(50, np.ptp(X[:, 0]) / 50))


def test_points_and_cells_of_a_grid_belong_together():
    points = np.array([0.0, 1.0, 5.0])
    grid = grid_of_points(points)
    assert points_of(grid).tolist() == points.tolist()
    assert grid.locate(np.array([0.0, 0.5, 1.0, 1.5, 5.0])).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
def test_batches_do_not_change_a_profile(method):
    whole, pieces = (profile(method, batch_size=size, weights=WEIGHTS) for size in (None, 90))
    assert whole.mean == pytest.approx(pieces.mean, rel=1e-12)
    assert whole.std == pytest.approx(pieces.std, rel=1e-10, abs=1e-12)
    assert whole.spread(whole.grid) == pytest.approx(pieces.spread(pieces.grid), abs=1e-9)


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
    assert many[0].notes == ("single curves of 2,000 of 2,500 rows are kept; averages use all",)
    assert many[0].rows.tolist() == [2500.0] * 6
    assert few[0].notes == ()
