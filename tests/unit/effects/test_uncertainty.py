"""Variances of curves against the full map of the rows, moved one by one."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import fit_effect
from rhale.effects.binning.gaps import Gaps
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import residual_squares
from rhale.effects.binning.partition import Cuts
from rhale.effects.curve import BinFits
from rhale.effects.variance import bridge_levels, find_bridges

CENTERS = ("mean", "start", "uniform")
EDGES = np.array([0.0, 0.5, 1.5, 2.0, 3.0, 3.5, 4.5, 5.0, 6.0, 7.0])
LIMITS = np.array([0, 4, 5, 9])  # of bins [0, 3), [3, 3.5) and [3.5, 7]
COUNTS = {
    "full": [2, 3, 4, 2, 6, 3, 2, 5, 3],
    "empty cells": [0, 3, 0, 4, 6, 3, 0, 0, 3],
    "empty bin": [2, 3, 4, 2, 0, 3, 2, 5, 3],
}
KINDS = {
    "constant": ([False, False, False], [0.4, 0.0, 0.7]),
    "linear": ([True, False, True], [0.4, 0.0, 0.7]),
    "mixed": ([False, True, True], [0.0, 0.0, 1.0]),
    "plain": ([True, False, False], [0.0, 0.0, 0.0]),
}


def bins_of(edges, level=None, slope=None, origin=None):
    """Fits of bins that are full of rows."""
    edges = np.asarray(edges, dtype=float)
    zero, middle = np.zeros(edges.size - 1), (edges[1:] + edges[:-1]) / 2
    given = [zero if v is None else np.asarray(v) for v in (level, slope)]
    return BinFits(edges, middle if origin is None else origin, *given, edges[:-1], edges[1:])


def rows_of(counts, weights):
    """Rows in pairs of one x; with weights 1 and 3, so that lines of a bin lose nothing to them."""
    rng = np.random.default_rng(sum(counts))
    pairs = [rng.uniform(a, b, n) for (a, b), n in zip(pairwise(EDGES), counts, strict=True)]
    x = np.repeat(np.concatenate(pairs), 2)
    d = np.sin(x) + x / 2 + rng.normal(0, 0.3, x.size)
    w = {
        "none": None,
        "pairs": np.tile([1.0, 3.0], x.size // 2),
        "any": rng.lognormal(0, 1, x.size),
    }
    return x, d, w[weights]


def row_map(effect_of, d, read):
    """How what is read moves with every row's local effect, shape (n_x, n_rows)."""
    base = read(effect_of(d))
    return np.column_stack([read(effect_of(d + unit)) - base for unit in np.eye(d.size)])


def noise_of_rows(cells, x, linear, trust, noise):
    """Variance of every row: given for cells that are followed, else its cell's residuals."""
    cell = np.searchsorted(EDGES, x, side="right") - 1
    followed = trust[np.searchsorted(LIMITS, cell, side="right") - 1] > 0
    return np.where(followed, noise[cell], residual_squares(cells, LIMITS, linear)[cell])


def hidden_variance(effect, x, share, center, places):
    """What gaps add: the squared way through each of them, less its average where it is centred."""
    zero = {"mean": x, "start": np.zeros(1), "uniform": np.linspace(0, 7, 70_001)}[center]
    weights = share if center == "mean" else None
    total = np.zeros(places.size)
    for left, right, variance in zip(*effect.gaps, strict=True):
        ways = [np.clip(z, left, right) - left for z in (places, zero)]
        total += (ways[0] - np.average(ways[1], weights=weights)) ** 2 * variance
    return total


@pytest.mark.parametrize(
    ("kind", "weights"),
    [(kind, weights) for kind in KINDS for weights in ("none", "pairs")] + [("constant", "any")],
)
@pytest.mark.parametrize("counts", COUNTS)
def test_the_variance_is_that_of_the_map_from_rows_to_curve(counts, kind, weights):
    """Given bins and trust the curve is linear in the rows: Var = sum of coefficient² noise."""
    x, d, w = rows_of(COUNTS[counts], weights)
    linear, trust = map(np.array, KINDS[kind])
    noise = np.linspace(0.05, 0.4, EDGES.size - 1)
    grid, cuts = Grid(EDGES), Cuts(LIMITS, linear, (), trust, noise)

    def effect_of(values):
        return fit_effect("x", "y", measure_moments(grid, x, values, w), cuts)

    effect, places = effect_of(d), np.linspace(-0.2, 7.2, 23)
    row_noise = noise_of_rows(measure_moments(grid, x, d, w), x, linear, trust, noise)
    if weights == "any":  # noise is not told apart by weight: it is that of the bin
        bin_ = np.searchsorted(EDGES[LIMITS], x, side="right") - 1
        row_noise = np.where(trust[bin_] > 0, row_noise, effect.std[bin_] ** 2)
    share = np.ones(x.size) if w is None else w
    n_rows = share.sum() ** 2 / np.sum(share**2)
    for center in CENTERS:
        coefficients = row_map(effect_of, d, lambda e, c=center: e.curve(places, center=c))
        expected = coefficients**2 @ row_noise + hidden_variance(effect, x, share, center, places)
        expected += effect.importance**2 / n_rows if center == "mean" else 0.0
        found = effect._doubt.of_curve(places, center).variance
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_of_importance_is_that_of_its_first_order(kind):
    """The derivative of importance with respect to every row, by small differences."""
    x, d, w = rows_of(COUNTS["empty cells"], "pairs")
    linear, trust = map(np.array, KINDS[kind])
    noise = np.linspace(0.05, 0.4, EDGES.size - 1)
    grid, cuts = Grid(EDGES), Cuts(LIMITS, linear, (), trust, noise)

    def effect_of(values):
        return fit_effect("x", "y", measure_moments(grid, x, values, w), cuts)

    effect, step = effect_of(d), 1e-5
    slope = [
        (effect_of(d + step * u).importance - effect_of(d - step * u).importance) / (2 * step)
        for u in np.eye(d.size)
    ]
    row_noise = noise_of_rows(measure_moments(grid, x, d, w), x, linear, trust, noise)
    expected = np.square(slope) @ row_noise
    # and of a deviation over drawn rows: (m4 - s⁴) / (4 s² n)
    places, size = effect.row_places, effect.importance
    fourth = places.weight @ effect.curve(places.x) ** 4
    expected += (fourth - size**4) / (4 * size**2 * w.sum() ** 2 / np.sum(w**2))
    np.testing.assert_allclose(effect.importance_error, np.sqrt(expected), rtol=1e-5)


def test_an_empty_bin_between_two_has_a_share_of_both():
    """Bins of width 1, 1 and 4: read at 0.5 and, half the empty bin away, at 2.5."""
    (line,) = find_bridges(bins_of([0, 1, 2, 6]), np.array([True, False, True]))
    assert line.bin == 1
    assert line.ends == ((0, 0.5, 0.5), (2, 2.5, 0.5))


def test_an_empty_bin_at_an_end_has_one_neighbour():
    first, last = find_bridges(bins_of([0, 1, 3, 4]), np.array([False, True, False]))
    assert first == (0, ((1, 1.5, 1.0),))  # half of the empty bin away from its limit
    assert last == (2, ((1, 2.5, 1.0),))


def test_two_empty_bins_are_read_at_the_same_places():
    """0.5 on the left, 4.5 on the right: middles 1.5 and 3 are at a quarter and at 5/8."""
    measured = np.array([True, False, False, True])
    one, two = find_bridges(bins_of([0, 1, 2, 4, 5]), measured)
    assert one.ends == ((0, 0.5, 0.75), (3, 4.5, 0.25))
    assert two.ends == ((0, 0.5, 0.375), (3, 4.5, 0.625))


def test_no_bin_with_rows_has_no_bridges():
    assert find_bridges(bins_of([0, 1, 2]), np.array([False, False])) == [
        (0, ()),
        (1, ()),
    ]
    assert find_bridges(bins_of([0, 1, 2]), np.array([True, True])) == []


def test_bridged_levels_are_read_on_the_lines_of_the_neighbours():
    """10 + 2 (x - 0.4) at 0.5 is 10.2, 4 - (x - 2.2) at 2.5 is 3.7: the middle is 6.95."""
    level, origin = np.array([10.0, 99.0, 4.0]), np.array([0.4, 1.5, 2.2])
    bins = bins_of([0, 1, 2, 3], level, [2.0, 0.0, -1.0], origin)
    found = bridge_levels(bins, np.array([True, False, True]))
    np.testing.assert_allclose(found, [10.0, 6.95, 4.0])
    assert level[1] == 99.0


def test_a_neighbour_is_read_where_it_has_rows():
    """The line 10 + 2 (x - 0.4) ends at 0.45, the other starts at 2.6."""
    bins = bins_of([0, 1, 2, 3], [10.0, 0.0, 4.0], [2.0, 0.0, -1.0], np.array([0.4, 1.5, 2.7]))
    bins = replace(bins, low=np.array([0.0, 1.0, 2.6]), high=np.array([0.45, 2.0, 3.0]))
    (line,) = find_bridges(bins, np.array([True, False, True]))
    assert line.ends == ((0, 0.45, 0.5), (2, 2.6, 0.5))


@pytest.mark.parametrize("kind", KINDS)
def test_errors_add_the_mean_variance_over_the_rows_to_a_square(kind):
    linear, trust = KINDS[kind]
    x, d, w = rows_of(COUNTS["full"], "none")
    cells = measure_moments(Grid(EDGES), x, d, w)
    cuts = Cuts(
        LIMITS,
        np.array(linear),
        trust=np.array(trust),
        noise=np.full(EDGES.size - 1, 0.09),
    )
    effect = fit_effect("x", "y", cells, cuts)
    doubt, rows = effect._doubt, effect._fit.rows
    drawn = effect.importance**2 / doubt.n_rows
    expected = rows.weight @ doubt.of_curve(rows.x, "mean").variance - drawn
    assert doubt.added_square() == pytest.approx(expected)


def test_what_gaps_may_hide_adds_nothing_to_a_square():
    x, d, w = rows_of(COUNTS["empty bin"], "none")
    cells = measure_moments(Grid(EDGES), x, d, w)
    known = fit_effect("x", "y", cells, Cuts(LIMITS, np.zeros(3, dtype=bool)))
    gaps = Gaps(np.array([3.0]), np.array([3.5]), np.array([4.0]))
    effect, at = replace(known, gaps=gaps), np.array([5.0])
    assert effect._doubt.of_curve(at, "mean").variance > known._doubt.of_curve(at, "mean").variance
    assert effect._doubt.added_square() == pytest.approx(known._doubt.added_square())
