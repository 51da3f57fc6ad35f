import warnings
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pairs_by_hand import grid, make_axis, make_pair

import rhale
from rhale.errors import BadSettingError
from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_effect import PairEffect, PairIndex, read_places
from rhale.interaction.result import Interactions
from rhale.interaction.strength import PairFit
from rhale.output.number_format import write_with_error
from rhale.output.text import Note

X, Y = np.arange(9.0), np.array([0.0, 1, 3, 4, 7])
GRID = grid(X, Y)
CITY = ("Rome", "Oslo", "Bonn")


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 0] ** 2


@pytest.fixture(scope="module")
def pair():
    """x y over all combinations: with no other dependence, (x - mean) (y - mean) is pure."""
    axes = make_axis(GRID[:, 0]), make_axis(GRID[:, 1], n_cells=3)
    return make_pair(product, GRID, (0, 1), axes, names=("x", "y"))


@pytest.fixture(scope="module")
def levels():
    """x where the city is Oslo, twice that in Bonn."""
    rows = grid(X, np.arange(3))
    axes = make_axis(X), make_axis(None, CITY)
    return make_pair(lambda r: r[:, 0] * r[:, 1], rows, (0, 1), axes, names=("x", "city"))


@pytest.fixture(scope="module")
def hole():
    """No row has both x and y above 4."""
    rows = GRID[(GRID[:, 0] < 4) | (GRID[:, 1] < 4)]
    axes = make_axis(GRID[:, 0]), make_axis(GRID[:, 1], n_cells=3)
    return make_pair(product, rows, (0, 1), axes, names=("x", "y"))


def test_the_surface_of_a_product_is_the_product_of_deviations(pair):
    x, y = np.array([0.0, 2.2, 8.0])[:, None], np.array([0.0, 3.5, 7.0])
    expected = (x - X.mean()) * (y - Y.mean())
    np.testing.assert_allclose(pair.surface(x, y), expected, atol=1e-12)
    np.testing.assert_allclose(pair.strength_raw, X.std() * Y.std())


def test_numbers_give_a_number_and_arrays_broadcast(pair):
    assert isinstance(pair.surface(1, 2), float)
    assert pair.surface([1, 2], 3).shape == (2,)
    assert pair.surface([[1], [2]], [0, 1, 2]).shape == (2, 3)
    assert pair.surface([], []).shape == (0,)


def test_beyond_the_axes_and_for_missing_values_there_is_nothing(pair):
    assert np.isnan(pair.surface([-1, 9, np.nan, 1], [1, 1, 1, 8])).all()


def test_where_no_row_stands_nothing_is_told(hole):
    assert not hole.measured[-1, -1]
    assert np.isnan(hole.surface(8.0, 6.0))
    assert np.isnan(hole.heights[-1, -1])
    assert np.isnan(hole.standard_error[-1, -1])
    assert np.isnan(hole.mean[-1, -1])
    assert np.isfinite(hole.surface(1.0, 6.0))
    assert hole.n_unmeasured == np.sum(~hole.measured) > 0
    assert f"{hole.n_unmeasured} without rows" in str(hole)


def test_levels_are_named(levels):
    x = np.array([0.0, 3.0, 8.0])
    for place, city in enumerate(CITY):
        expected = (x - X.mean()) * (place - 1)
        np.testing.assert_allclose(levels.surface(x, city), expected, atol=1e-12)
        np.testing.assert_allclose(levels.surface(x, place), expected, atol=1e-12)
    both = levels.surface([1.0, 2.0], ["Bonn", None])
    assert np.isnan(both).tolist() == [False, True]


def test_a_level_that_is_not_there_brings_near_names(levels):
    with pytest.raises(BadSettingError, match="'city' has no level 'Osl'; did you mean 'Oslo'"):
        levels.surface(1.0, "Osl")


def test_places_between_levels_have_no_rows(levels):
    assert np.isnan(levels.surface(1.0, 0.5))


def test_two_levels_on_both_sides_split_the_difference_by_their_shares():
    """2 x 2 independent: the surface is delta (a - P(a)) (b - P(b))."""
    rows = np.repeat(grid([0, 1], [0, 1]), [6, 2, 3, 1], axis=0)
    axes = make_axis(None, ("no", "yes")), make_axis(None, ("cold", "hot"))
    pair = make_pair(
        lambda r: 5 * r[:, 0] * r[:, 1] + r[:, 1], rows, (0, 1), axes, names=("a", "b")
    )
    expected = 5 * np.outer([-1 / 3, 2 / 3], [-1 / 4, 3 / 4])
    np.testing.assert_allclose(
        pair.surface([["no"], ["yes"]], ["cold", "hot"]), expected, atol=1e-12
    )
    assert pair.count.shape == pair.measured.shape == pair.heights.shape == (2, 2)
    assert pair.mean.shape == pair.std.shape == (1, 1)


def test_truth_values_are_levels_by_name():
    axis = PairAxis(np.arange(2.0), ("False", "True"))
    np.testing.assert_array_equal(read_places("flag", axis, [True, False]), [1.0, 0.0])
    np.testing.assert_array_equal(read_places("flag", axis, np.array([["True"]])), [[1.0]])


def test_dates_and_durations_are_read_as_such():
    rows = grid(np.arange(10.0), np.arange(5.0) * 60)
    axes = make_axis(rows[:, 0], kind="date"), make_axis(rows[:, 1], kind="duration")
    pair = make_pair(lambda r: r[:, 0] * r[:, 1], rows, (0, 1), axes, names=("day", "took"))
    told = pair.surface(["1970-01-03", np.datetime64("1970-01-05")], np.timedelta64(2, "m"))
    np.testing.assert_allclose(told, [(2 - 4.5) * 0, 0.0], atol=1e-9)
    told = pair.surface(np.datetime64("1970-01-03"), np.timedelta64(1, "m"))
    np.testing.assert_allclose(told, (2 - 4.5) * (60 - 120))
    with pytest.raises(BadSettingError, match="cannot be read as dates"):
        pair.surface("someday", 1.0)
    assert pair.table()["first_from"][0] == "1970-01-01"


def test_both_main_effects_and_the_surface_are_the_function(pair):
    """x y + x² at the nodes, less the mean over the rows."""
    x, y = (axis.nodes for axis in pair.axes)
    found = pair.effect_at(x[:, None], y)
    expected = x[:, None] * y + x[:, None] ** 2
    assert np.ptp(found - expected) < 1e-9
    assert np.isnan(pair.effect_at(-1.0, 1.0))


def test_main_effects_of_levels_are_those_of_the_level(levels):
    x = levels.axes[0].nodes[:, None]
    found = levels.effect_at(x, [list(CITY)])
    assert np.ptp(found - x * np.arange(3.0)) < 1e-9


def slopes(third):
    """Mixed slopes of a x y are those of a, which rows have three of in every place."""
    rows = grid(X, Y, third)
    axes = make_axis(rows[:, 0]), make_axis(rows[:, 1], n_cells=3)
    f = lambda r: r[:, 0] * r[:, 1] * r[:, 2]
    return rows, axes, f


def test_std_is_the_deviation_of_the_rows_own_mixed_slopes():
    rows, axes, f = slopes([1.0, 2.0, 6.0])
    pair = make_pair(f, rows, (0, 1), axes, names=("x", "y"))
    stands = [axis.locate(rows[:, i]).cell for i, axis in enumerate(axes)]
    for a in range(axes[0].n_steps):
        for b in range(axes[1].n_steps):
            own = rows[(stands[0] == a) & (stands[1] == b), 2]
            np.testing.assert_allclose(pair.mean[a, b], own.mean())
            np.testing.assert_allclose(pair.std[a, b], own.std(ddof=1))


def test_std_of_levels_is_that_of_both_levels_of_a_step():
    rows = grid(np.arange(3), np.arange(2), [1.0, 2.0, 6.0])
    rows[:, 2] += rows[:, 0]
    axes = make_axis(None, CITY), make_axis(None, ("no", "yes"))
    pair = make_pair(
        lambda r: r[:, 0] * r[:, 1] * r[:, 2], rows, (0, 1), axes, names=("city", "flag")
    )
    for step in (0, 1):
        own = rows[(rows[:, 0] == step) | (rows[:, 0] == step + 1), 2]
        np.testing.assert_allclose(pair.mean[step, 0], own.mean())
        np.testing.assert_allclose(pair.std[step, 0], own.std(ddof=1))


def test_one_row_in_a_cell_has_no_deviation():
    axes = make_axis(GRID[:, 0]), make_axis(GRID[:, 1], n_cells=3)
    rows = np.vstack([GRID[:5], GRID[-1:]])
    pair = make_pair(product, rows, (0, 1), axes, names=("x", "y"))
    assert np.isnan(pair.std[pair.count < 2]).all()
    assert np.isfinite(pair.std[pair.count >= 2]).all()


def test_the_interval_of_the_strength_lies_about_it():
    rows, axes, f = slopes([-1.0, 0.0, 2.5])
    pair = make_pair(f, rows, (0, 1), axes, names=("x", "y"))
    low, high = pair.strength_ci()
    assert 0 <= low < pair.strength < high
    reach = 1.959964 * 2 * pair.strength * pair.strength_error
    np.testing.assert_allclose(high**2 - pair.strength**2, reach, rtol=1e-6)
    wide = pair.strength_ci(0.999)
    assert wide[0] <= low
    assert wide[1] > high
    with pytest.raises(BadSettingError, match="level=2"):
        pair.strength_ci(2)


def test_a_pair_that_does_not_interact_has_strength_zero():
    axes = make_axis(GRID[:, 0]), make_axis(GRID[:, 1], n_cells=3)
    pair = make_pair(lambda r: 2 * r[:, 0] + r[:, 1], GRID, (0, 1), axes, names=("x", "y"))
    assert (pair.strength, pair.strength_error, pair.p_value, pair.share) == (0.0, 0.0, 1.0, 0.0)
    assert pair.strength_ci() == (0.0, 0.0)


@pytest.mark.parametrize(
    "other", [PairAxis(np.array([2.0, 2.0])), PairAxis(np.array([2.0]), ("only",))]
)
@pytest.mark.parametrize("n_rows", [9, 0])
def test_a_side_of_one_value_has_a_flat_surface(other, n_rows, tmp_path):
    rows = np.column_stack([X, np.full(9, 2.0)])[:n_rows]
    axes = make_axis(X), other
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the variance of no rows
        pair = make_pair(lambda r: r[:, 0], rows, (0, 1), axes, names=("x", "one"), variance=1.0)
    assert (pair.strength, pair.strength_error, pair.p_value) == (0.0, 0.0, 1.0)
    height = 0.0 if n_rows else np.nan
    np.testing.assert_array_equal(pair.surface(X, 2.0), np.full(9, height))
    np.testing.assert_array_equal(pair.heights, np.full(pair.heights.shape, height))
    assert np.isnan(pair.mean).all()
    assert np.isnan(pair.std).all()
    assert len(pair.table()["count"]) == pair.n_cells
    whole = Interactions(("x", "one"), ("y",), (pair,), np.ones((2, 1)), np.ones(1))
    whole.save(tmp_path / "ix.json")
    assert rhale.load(tmp_path / "ix.json") == whole


def test_evened_slopes_have_their_own_errors_and_the_p_of_their_rows():
    rng = np.random.default_rng(0)
    rows, axes, f = slopes(rng.normal(size=4))
    pair = make_pair(f, rows, (0, 1), axes, names=("x", "y"))
    fit = PairFit(pair.axes, pair.moments, smooth=True)
    smooth = replace(pair, smooth=True, square=fit.square)
    assert smooth.p_value == pair.p_value
    np.testing.assert_allclose(smooth.strength_ci(), np.sqrt(fit.square_interval()))
    np.testing.assert_allclose(pair.strength_ci(), np.sqrt(pair.fit.square_interval()))


def test_predictions_that_do_not_vary_have_no_shares(pair):
    assert replace(pair, variance=0.0).share == 0.0
    assert PairIndex(("a", "b"), "y", "h", 1.0, 0.0).share == 0.0


@pytest.mark.parametrize("name", ["pair", "levels", "hole"])
def test_sides_can_be_exchanged_and_back(name, request):
    pair = request.getfixturevalue(name)
    other = pair.transposed()
    assert other != pair
    assert other.transposed() == pair
    np.testing.assert_allclose(other.heights, pair.heights.T, atol=1e-12)
    np.testing.assert_array_equal(other.std, pair.std.T)
    np.testing.assert_allclose(other.strength_error, pair.strength_error)


def test_pairs_are_compared_by_value_and_cannot_be_changed(pair):
    assert pair == replace(pair)
    assert pair != replace(pair, variance=2.0)
    assert pair != replace(pair, main=(pair.main[0], pair.main[1] + 1))
    assert pair != "pair"
    for array in (pair.count, pair.weight, *pair.edges, *pair.main, pair.moments.mean):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(FrozenInstanceError):
        pair.output = "z"


def test_the_callers_arrays_stay_writable(pair):
    main = tuple(np.array(m) for m in pair.main)
    replace(pair, main=main)
    main[0][0] = 1.0


def test_a_pair_says_what_it_is_on_one_line(pair):
    told = str(replace(pair, notes=("a note",), n_left_out=3))
    n_rows = int(pair.count.sum())
    share = 100 * pair.strength**2 / pair.variance * n_rows / (n_rows + 3)
    size = write_with_error(pair.strength, pair.strength_error)
    assert told.startswith(f"x \u00d7 y on y: strength {size}, ")
    assert f", {share:.2g} % of the variance, p < 0.001 of no interaction in this model; " in told
    assert told.endswith("; 3 rows left out; a note")
    told = str(replace(pair, notes=(Note("missing", "3 rows have no x"),), n_left_out=3))
    assert told.endswith(" without rows; 3 rows have no x")
    assert repr(pair) == str(pair)
    assert "\n" not in told


def test_an_index_has_a_strength_and_no_surface():
    index = PairIndex(("a", "b"), "y", "h", 0.5, 2.0, h2=0.25, notes=("few rows",))
    assert (
        str(index)
        == "a \u00d7 b on y: strength 0.5, 12 % of the variance; unnormalised H; few rows"
    )
    assert np.isnan([index.strength_error, index.p_value]).all()
    assert (index.n_cells, index.n_unmeasured, index.table()) == (0, 0, {})
    assert index.transposed().names == ("b", "a")
    assert index.transposed().transposed() == index
    assert replace(index, h2=np.nan) == replace(index, h2=np.nan)
    assert str(replace(index, method="greenwell")).startswith(
        "a \u00d7 b on y: strength 0.5; Greenwell"
    )


def test_the_table_has_one_row_for_each_cell(levels):
    table = levels.table()
    assert {len(column) for column in table.values()} == {levels.n_cells} == {12}
    assert table["second_from"][:3] == table["second_to"][:3] == list(CITY)
    assert table["first_left"][:4] == [0.0, 0.0, 0.0, table["first_right"][0]]
    middle = (table["first_left"][5] + table["first_right"][5]) / 2
    np.testing.assert_allclose(table["surface"][5], middle - X.mean())
    assert sum(table["count"]) == 27
    np.testing.assert_allclose(table["mean"][:2], 1.0)
    assert np.isnan(table["mean"][2])  # nothing is above the last level


def test_the_table_leaves_open_what_is_not_measured(hole):
    table = hole.table()
    empty = ~np.array(table["measured"])
    assert empty.sum() == hole.n_unmeasured
    for name in ("surface", "mean", "std"):
        assert np.isnan(np.array(table[name])[empty]).all()
    assert np.array(table["count"])[empty].sum() == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_surface_is_zero_on_average_over_the_rows(seed, has_levels):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.normal(size=60)])
    labels = CITY if has_levels else ()
    second = 1 if has_levels else 2
    axes = make_axis(rows[:, 0]), make_axis(rows[:, second], labels)
    f = lambda r: np.sin(2 * r[:, 0]) * (r[:, 1] + r[:, 2] ** 2)
    pair = make_pair(f, rows, (0, second), axes, names=("x", "z"))
    heights = pair.surface(rows[:, 0], rows[:, second])
    assert np.isfinite(heights).all()
    np.testing.assert_allclose(heights.mean(), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.mean(heights**2), pair.square.raw, rtol=1e-9, atol=1e-12)
    assert isinstance(pair, PairEffect)


@pytest.mark.parametrize("exponent", [-460, 460])
@pytest.mark.parametrize("smooth", [False, True])
def test_doubt_is_known_near_the_ends_of_numbers(exponent, smooth):
    """Its fourth powers do not fit into a number: 2^460 is 3e138."""
    rows = np.random.default_rng(0).normal(size=(400, 3))

    def twisted(z):
        return z[:, 0] * z[:, 1] * (1 + z[:, 2])

    near, far = (
        rhale.interactions(
            lambda z, e=e: np.ldexp(twisted(z), e), rows, pairs=[("x0", "x1")], smooth=smooth
        ).pairs[0]
        for e in (0, exponent)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert far.p_value == near.p_value
        assert far.strength_error == np.ldexp(near.strength_error, exponent)
        assert far.strength_ci() == tuple(np.ldexp(near.strength_ci(), exponent))


def test_rows_that_are_left_out_have_no_part_in_the_share(pair):
    fewer = replace(pair, n_left_out=3 * int(pair.count.sum()))
    assert fewer.share == pytest.approx(pair.share / 4)


def test_a_number_has_no_surface_and_says_so():
    index = PairIndex(("a", "b"), "y", "h", 1.0, 4.0)
    with pytest.raises(BadSettingError, match="no surface"):
        index.surface(0, 0)


def test_statistics_are_those_of_the_surface_at_the_rows():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (4000, 2))
    axes = make_axis(rows[:, 0]), make_axis(rows[:, 1])
    pair = make_pair(product, rows, (0, 1), axes, names=("x", "y"))
    found = pair.statistics(y=[-1.0, 0.0, 1.0])
    assert found.read == "rows"
    assert found.features == ("x", "y")
    assert found.aled == pytest.approx(1 / 4, rel=0.03)  # of |x y|
    assert found.aled_sd == found.importance == pair.strength_raw
    assert found.importance_denoised == pair.strength
    assert found.aler == pytest.approx((-1, 1), abs=0.15)


def test_statistics_of_cells_are_read_at_two_corners(pair):
    cells = replace(pair, reading="cells")
    found, surface = cells.statistics(), cells.fit.surface
    middle = (surface[1:, 1:] + surface[:-1, :-1]) / 2
    assert found.read == "cells"
    assert found.aled == pytest.approx(np.average(np.abs(middle), weights=cells.weight))
    assert found.aler == pytest.approx((middle.min(), middle.max()))


def test_statistics_of_cells_are_read_at_levels_where_there_are_any(levels):
    cells = replace(levels, reading="cells")
    surface = cells.fit.surface
    middle = (surface[1:] + surface[:-1]) / 2
    expected = np.average(np.abs(middle), weights=cells.weight)
    assert cells.statistics().aled == pytest.approx(expected)


def test_rank_correlation_is_spearmans_of_the_cells_that_rows_stand_in():
    stats = pytest.importorskip("scipy.stats")
    x = np.random.default_rng(5).normal(size=(500, 3))
    x[:, 1] = np.exp(x[:, 0]) + 0.3 * x[:, 1]
    x[:, 2] = -np.rint(x[:, 0])
    ix = rhale.interactions(lambda z: z[:, 0], x, pairs="all", cells=8)
    for pair in ix.values():
        sides = [
            axis.locate(x[:, int(name[1])]).cell
            for axis, name in zip(pair.axes, pair.names, strict=True)
        ]
        assert pair.rank_correlation == pytest.approx(stats.spearmanr(*sides).statistic)
    assert ix["x0", "x1"].rank_correlation > 0.9
    assert ix["x2", "x0"].rank_correlation < -0.9


def test_a_feature_with_one_value_goes_with_nothing():
    x = np.column_stack([np.arange(20.0), np.ones(20)])
    assert rhale.interactions(lambda z: z[:, 0], x).pairs[0].rank_correlation == 0.0
