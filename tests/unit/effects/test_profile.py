from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

import rhale
from rhale.effects.curve import RowPlaces
from rhale.effects.profile import Profile, differentiate, trapezoid_weights
from rhale.errors import BadSettingError

GRID = np.array([0.0, 1.0, 3.0])
RNG = np.random.default_rng(0)
CURVES = RNG.normal(0, 1, (40, 1)) + RNG.normal(0, 1, (40, 1)) * GRID + np.sin(GRID)
SHARE = np.array([0.5, 0.25, 0.25])
CENTERS = ("mean", "start", "uniform")
CENTRING = {
    "mean": SHARE,
    "start": np.array([1.0, 0.0, 0.0]),
    "uniform": np.array([0.5, 1.5, 1.0]) / 3,
}


def profile(method="ice", **changes):
    """The profile of forty known curves."""
    shapes = CURVES - CURVES.mean(axis=1, keepdims=True)
    made = Profile(
        name="age",
        output="y0",
        method=method,
        grid=GRID,
        mean=CURVES.mean(axis=0),
        std=CURVES.std(axis=0, ddof=1),
        covariance=np.cov(shapes.T),
        rows=np.full(3, 40.0),
        share=SHARE,
        curves=CURVES,
        curve_x=np.zeros(40),
    )
    return replace(made, **changes)


def error(found, x, n_rows=40, **options):
    """Standard error behind an interval, which is Student's."""
    low, high = found.ci(x, level=0.9, **options)
    return (high - low) / 2 / student.ppf(0.95, np.asarray(n_rows) - 1)


def centred(center):
    return CURVES - (CURVES @ CENTRING[center])[:, None]


@pytest.mark.parametrize("center", CENTERS)
def test_the_curve_is_the_average_of_centred_curves(center):
    np.testing.assert_allclose(profile().curve(GRID, center=center), centred(center).mean(axis=0))


@pytest.mark.parametrize("center", CENTERS)
def test_spread_is_the_deviation_of_centred_curves(center):
    found = profile().spread(GRID, center=center)
    np.testing.assert_allclose(found, centred(center).std(axis=0, ddof=1), atol=1e-7)


@pytest.mark.parametrize("center", CENTERS)
def test_the_interval_is_that_of_a_mean_of_centred_curves(center):
    variance = centred(center).var(axis=0, ddof=1) / 40
    if center == "mean":  # other rows would have another mean of the curve
        variance += profile().importance ** 2 / 39
    np.testing.assert_allclose(error(profile(), GRID, center=center), np.sqrt(variance), atol=1e-7)
    low, high = profile().ci(GRID, center=center)
    np.testing.assert_allclose((high + low) / 2, centred(center).mean(axis=0))


@pytest.mark.parametrize("center", [*CENTERS, None])
def test_between_points_spread_and_interval_are_those_of_straight_curves(center):
    x = np.array([0.0, 0.3, 1.5, 2.9])
    curves = CURVES if center is None else centred(center)
    read = np.array([np.interp(x, GRID, curve) for curve in curves])
    np.testing.assert_allclose(
        profile().spread(x, center=center), read.std(axis=0, ddof=1), atol=1e-7
    )
    shift = profile().importance ** 2 / 39 if center == "mean" else 0.0
    expected = np.sqrt(read.var(axis=0, ddof=1) / 40 + shift)
    np.testing.assert_allclose(error(profile(), x, center=center), expected, atol=1e-7)


def test_without_centring_levels_stay():
    found = profile()
    np.testing.assert_allclose(found.curve(GRID, center=None), CURVES.mean(axis=0))
    np.testing.assert_allclose(found.spread(GRID, center=None), CURVES.std(axis=0, ddof=1))
    np.testing.assert_allclose(found.standard_error, CURVES.std(axis=0, ddof=1) / np.sqrt(40))
    np.testing.assert_allclose(error(found, GRID, center=None), found.standard_error)


def test_between_points_the_curve_is_straight_and_outside_it_is_undefined():
    found, mean = profile(), CURVES.mean(axis=0)
    np.testing.assert_allclose(found.curve(2.0, center=None), (mean[1] + mean[2]) / 2)
    assert np.isnan(found.curve([-0.1, 3.1])).all()
    assert np.isnan(found.spread([-0.1, 3.1])).all()
    assert np.ndim(found.curve(2.0)) == 0


@pytest.mark.parametrize("center", CENTERS)
def test_ice_curves_are_centred_one_by_one(center):
    np.testing.assert_allclose(profile().ice(center=center), centred(center))


def test_ice_curves_are_centred_at_a_value():
    np.testing.assert_allclose(profile().ice(center=1.0), CURVES - CURVES[:, [1]])
    at_two = (CURVES[:, 1] + CURVES[:, 2]) / 2
    np.testing.assert_allclose(profile().ice(center=2), CURVES - at_two[:, None])
    np.testing.assert_allclose(profile().ice(center=np.float64(1.0)), CURVES - CURVES[:, [1]])
    np.testing.assert_array_equal(profile().ice(), CURVES)


def test_a_value_outside_the_grid_is_no_centre():
    with pytest.raises(BadSettingError, match="center=9 is outside the grid"):
        profile().ice(center=9)


def test_dice_is_right_at_both_ends():
    squares = profile(grid=np.array([0.0, 1.0, 2.0]), curves=np.array([[0.0, 1.0, 4.0]]))
    np.testing.assert_allclose(squares.dice(), [[0, 2, 4]], atol=1e-12)
    np.testing.assert_allclose(profile(curves=GRID[None] ** 2).dice(), 2 * GRID[None], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-290, 1e-200, 1e140])
def test_the_unit_of_the_feature_does_not_matter_for_slopes(scale):
    squares = np.array([[0.0, 1.0, 9.0]])
    found = differentiate(squares, GRID * scale) * scale
    np.testing.assert_allclose(found, [[0, 2, 6]], atol=1e-14)


def test_dice_of_two_points_is_their_slope_and_of_one_unknown():
    two = differentiate(np.array([[1.0, 7.0]]), np.array([0.0, 2.0]))
    assert two.tolist() == [[3, 3]]
    assert np.isnan(differentiate(np.array([[1.0]]), np.array([0.0]))).all()


def test_dice_is_the_slope_of_straight_curves():
    lines = np.array([[0.0, 2.0, 6.0], [1.0, 0.0, -2.0]])
    np.testing.assert_allclose(profile(curves=lines).dice(), [[2, 2, 2], [-1, -1, -1]])


def test_single_rows_are_asked_of_ice_only():
    with pytest.raises(BadSettingError, match="use method='ice'"):
        profile("pdp", curves=np.empty((0, 0))).ice()
    with pytest.raises(BadSettingError, match="use method='ice'"):
        profile("pdp", curves=np.empty((0, 0))).dice()


def test_importance_is_the_deviation_of_the_curve_over_the_rows():
    mean = CURVES.mean(axis=0)
    size = np.sqrt(SHARE @ (mean - SHARE @ mean) ** 2)
    np.testing.assert_allclose(profile().importance, size)


def test_importance_is_that_of_the_curve_where_the_rows_stand():
    x = np.array([0.0, 0.25, 0.5, 2.0, 3.0])
    share = np.array([1 + 0.75 + 0.5, 0.25 + 0.5 + 0.5, 0.5 + 1]) / 5
    found = profile(share=share, row_places=RowPlaces(x, np.full(5, 0.2)))
    curve = np.interp(x, GRID, CURVES.mean(axis=0))
    np.testing.assert_allclose(found.importance, curve.std())
    np.testing.assert_allclose(found.curve(x), curve - curve.mean(), atol=1e-12)
    read = np.array([np.interp(x, GRID, row) for row in CURVES])
    apart = (read - read.mean(axis=1, keepdims=True)).var(axis=0, ddof=1)
    np.testing.assert_allclose(found.typical_spread, np.sqrt(apart.mean()))


def test_the_error_of_importance_is_that_of_the_curve_and_of_the_draw_of_rows():
    mean = CURVES.mean(axis=0)
    gap = mean - SHARE @ mean
    pull = SHARE * gap / np.sqrt(SHARE @ gap**2)
    of_curve = np.var(CURVES @ (pull - SHARE * pull.sum()), ddof=1) / 40
    squares = gap**2 - SHARE @ gap**2  # a variance is a mean of squares, its root moves half as far
    of_draw = SHARE @ squares**2 / (4 * SHARE @ gap**2) / 40
    expected = np.sqrt(of_curve + of_draw)
    np.testing.assert_allclose(profile().importance_error, expected, rtol=1e-9)


def test_a_flat_profile_has_no_importance():
    flat = profile(mean=np.full(3, 7.0))
    assert (flat.importance, flat.importance_error) == (0.0, 0.0)


def test_heterogeneity_is_the_weighted_deviation_of_centred_curves():
    variance = centred("mean").var(axis=0, ddof=1)
    np.testing.assert_allclose(profile().heterogeneity, np.sqrt(SHARE @ variance))


def test_marginal_points_have_their_own_rows():
    """No row has a curve there: spread is as it is, and errors of points are independent."""
    std, rows = np.array([1.0, 2.0, 3.0]), np.array([4.0, 16.0, 9.0])
    found = profile("mplot", std=std, rows=rows, covariance=np.diag(std**2))
    np.testing.assert_allclose(found.spread(GRID), std)
    for center in CENTERS:
        shift = np.eye(3) - CENTRING[center]
        variance = shift**2 @ (std**2 / rows)
        if center == "mean":  # shares of the points would be others, too
            variance += found.importance**2 / (4 + 16 + 9 - 1)
        np.testing.assert_allclose(error(found, GRID, rows, center=center), np.sqrt(variance))


def test_trapezoid_weights_average_straight_curves():
    np.testing.assert_allclose(trapezoid_weights(GRID), CENTRING["uniform"])
    assert trapezoid_weights(np.array([5.0])).tolist() == [1.0]


def test_unknown_centres_are_refused():
    with pytest.raises(BadSettingError, match="center='zero' is not known"):
        profile().curve(0.5, center="zero")


def test_a_profile_is_frozen_and_compares_by_value():
    found = profile()
    with pytest.raises(FrozenInstanceError):
        found.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        found.mean[0] = 1
    assert found == profile()
    assert found != profile("pdp")
    assert found != profile(notes=("a note",))
    assert found != "a profile"
    with pytest.raises(TypeError):
        hash(found)


def test_places_to_draw_hold_the_points_and_where_these_are_few_some_between():
    few, many = profile().places(), np.linspace(0, 1, 40)
    assert set(GRID) < set(few)
    assert few.size > 32
    assert np.all(np.diff(few) > 0)
    numbers = {"mean": many, "std": many, "rows": many, "share": many, "covariance": np.eye(40)}
    assert profile(grid=many, **numbers).places().tolist() == many.tolist()
    assert profile("mplot").places().tolist() == GRID.tolist()
    assert profile(levels=("a", "b", "c")).places().tolist() == GRID.tolist()


@pytest.mark.parametrize(("start", "stop"), [(0.0, 3.0), (3.0, 1.0), (0.25, 2.0)])
def test_the_difference_of_two_places_is_that_of_the_rows_curves(start, stop):
    first, last = (np.array([np.interp(x, GRID, c) for c in CURVES]) for x in (start, stop))
    found, change = profile().difference(start, stop), last - first
    spread = change.std(ddof=1)
    np.testing.assert_allclose(found, [change.mean(), spread / np.sqrt(40), spread])


def test_repr_is_one_line():
    text = repr(profile())
    assert text.startswith("Profile('age', output='y0', ice, 3 points on [0, 3], importance=")
    assert "\n" not in text


def test_rows_of_a_file_of_format_4_stand_at_the_points():
    """f = x² + x z at 0, 2, 10, shares .2, .4, .4 of five rows; z has mean .5 and variance 1.25."""
    found = rhale.load(Path(__file__).parents[1] / "samples" / "format_4_profile.json")["x0"]
    assert (found.row_places, found.own_covariance) == (None, None)
    np.testing.assert_allclose(found.curve([0, 2, 10]), [-44, -39, 61])
    size = np.sqrt(0.2 * 44**2 + 0.4 * 39**2 + 0.4 * 61**2)
    np.testing.assert_allclose(found.importance, size)
    np.testing.assert_allclose(found.spread([0, 2, 10]), np.sqrt(1.25) * np.array([4.8, 2.8, 5.2]))
    spread = np.sqrt(1.25 * (0.2 * 4.8**2 + 0.4 * 2.8**2 + 0.4 * 5.2**2))
    np.testing.assert_allclose(found.typical_spread, spread)
    expected = np.sqrt(1.25 * 4.8**2 / 5 + size**2 / 4)
    np.testing.assert_allclose(error(found, 0.0, 5), expected)


# --- through explain -----------------------------------------------------------------------------

TABLE = np.column_stack([np.random.default_rng(1).uniform(-1, 1, (60, 2)), np.full(60, 4.0)])


def model(rows):
    return rows[:, 0] ** 2 + 3 * rows[:, 0] * rows[:, 1]


def by_hand(column, points):
    """One changed copy of the table per point."""
    answers = []
    for point in points:
        changed = TABLE.copy()
        changed[:, column] = point
        answers.append(model(changed))
    return np.array(answers).T


@pytest.mark.parametrize("method", ["pdp", "ice"])
def test_partial_dependence_is_the_average_over_changed_tables(method):
    found = rhale.explain(model, TABLE, method=method, bins=8)["x0"]
    np.testing.assert_allclose(found.grid, np.linspace(TABLE[:, 0].min(), TABLE[:, 0].max(), 9))
    curves = by_hand(0, found.grid)
    np.testing.assert_allclose(found.mean, curves.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.std, curves.std(axis=0, ddof=1), rtol=1e-9)
    if method == "ice":
        order, mine = np.argsort(found.curve_x), np.argsort(TABLE[:, 0])
        np.testing.assert_allclose(found.curves[order], curves[mine], atol=1e-12)


def test_weights_count_in_partial_dependence():
    w = np.random.default_rng(2).uniform(0.1, 2, 60)
    found = rhale.explain(model, TABLE, method="pdp", bins=4, weights=w)["x1"]
    expected = np.average(by_hand(1, found.grid), axis=0, weights=w)
    np.testing.assert_allclose(found.mean, expected, atol=1e-12)


def test_the_marginal_plot_averages_predictions_bin_by_bin():
    edges = np.array([-1.0, -0.2, 0.5, 1.0])
    found = rhale.explain(model, TABLE, method="mplot", bins=rhale.Edges(edges))["x0"]
    for k in range(3):
        inside = (TABLE[:, 0] >= edges[k]) & (TABLE[:, 0] < edges[k + 1])
        np.testing.assert_allclose(found.grid[k], TABLE[inside, 0].mean())
        np.testing.assert_allclose(found.mean[k], model(TABLE[inside]).mean())
        np.testing.assert_allclose(found.std[k], model(TABLE[inside]).std(ddof=1))
        assert found.rows[k] == inside.sum()


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
def test_a_constant_feature_has_a_profile_of_one_point(method):
    found = rhale.explain(model, TABLE, method=method, features="x2")["x2"]
    assert found.grid.tolist() == [4.0]
    assert found.importance == 0.0


def test_a_huge_level_of_the_rows_does_not_drown_the_spread_of_their_shapes():
    """Curves are 1e8 x1 + x0 x1: their levels differ by 1e8 times as much as their shapes."""
    found = rhale.explain(
        lambda rows: rows[:, 1] * (1e8 + rows[:, 0]), TABLE, method="pdp", features="x0"
    )["x0"]
    low, high = TABLE[:, 0].min(), TABLE[:, 0].max()
    expected = (high - low) * TABLE[:, 1].std(ddof=1)
    np.testing.assert_allclose(found.spread(high, center="start"), expected, rtol=1e-5)
    np.testing.assert_allclose(found.std[0], 1e8 * TABLE[:, 1].std(ddof=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [(("0", "1", "3"), True), (("0.0", "1.0", "3.0"), True), (("a", "1", "3"), False), ((), False)],
)
def test_levels_that_are_the_grid_are_numbers(levels, expected):
    assert profile(levels=levels).is_number is expected


def test_statistics_are_over_the_rows_between_the_points():
    places = RowPlaces(np.array([0.0, 0.5, 2.0]), np.array([0.5, 0.25, 0.25]))
    mean, share = np.array([0.0, 4.0, 0.0]), np.array([0.625, 0.25, 0.125])
    found = profile("pdp", mean=mean, row_places=places, share=share).statistics()
    heights = np.array([0.0, 2.0, 2.0]) - 1.0  # where the rows stand, less their mean
    assert found.read == "points"
    assert found.aled == pytest.approx(places.weight @ np.abs(heights))
    assert found.aled_sd == pytest.approx(found.importance)
    assert found.aler == (-1.0, 3.0)


def test_points_without_rows_are_not_in_the_range():
    share = np.array([0.5, 0.5, 0.0])
    made = profile("mplot", mean=np.array([1.0, 3.0, np.nan]), share=share)
    assert made.statistics().aler == (-1.0, 1.0)


@pytest.mark.parametrize("method", ["pdp", "mplot"])
def test_the_denoised_square_of_a_null_profile_is_zero_on_average(method):
    """Of x0 in x0 x1 the partial dependence is noise of the mean of x1."""
    rng, raw, squares = np.random.default_rng(3), [], []
    for _ in range(120):
        rows = rng.normal(size=(60, 2))
        bins = rhale.Fixed(4) if method == "pdp" else rhale.Quantile(4)
        fx = rhale.explain(lambda x: x[:, 0] * x[:, 1], rows, method=method, bins=bins)
        raw.append(fx["x0"].importance ** 2)
        squares.append(raw[-1] - fx["x0"]._read_for_statistics()[2])
    error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(raw) > 5 * error
    assert abs(np.mean(squares)) < 3 * error
