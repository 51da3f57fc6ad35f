from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

import rhale
from rhale.effects.binning import adaptive, segments
from rhale.effects.binning.adaptive import Adaptive, move_to_near, spread_paths
from rhale.effects.binning.axis import BatchedCells, FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import are_gaps
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import (
    NonEmptyCells,
    cut_outliers,
    excess,
    local_noise,
    residual_squares,
)
from rhale.effects.binning.partition import Partition
from rhale.errors import BadSettingError

INF = np.inf


def filled(moments):
    """Cells of one axis whose means count."""
    return NonEmptyCells.of(BatchedCells.of([moments]))


def wide_empty_cells(moments):
    """Gaps among the cells of one axis."""
    edges = moments.grid.edges
    return np.flatnonzero(are_gaps(moments.count, np.diff(edges), np.ptp(edges)))


def spread_path(moments, squares, fewest, most=None):
    """Limits of the spread of one axis."""
    (found,) = spread_paths([moments], [squares], [fewest], [most])
    return found


def axis(values, weight=None, low=None, high=None):
    values = np.asarray(values, dtype=float)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=float)
    low = float(values.min()) if low is None else low
    high = float(values.max()) if high is None else high
    return FeatureAxis(low, high, values, weight, weight.sum() ** 2 / (weight**2).sum())


def test_it_is_a_partition_and_the_usual_one():
    assert isinstance(Adaptive(), Partition)
    assert Adaptive() == rhale.Adaptive(
        n_limits=None, linear=True, weight="rows", penalty=2.0, spread_bins="joint"
    )
    x = np.linspace(0, 1, 60)
    assert rhale.effect(x, x**3) == rhale.effect(x, x**3, bins=Adaptive())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_limits": 0}, "n_limits=0"),
        ({"n_limits": 2.5}, r"n_limits=2\.5"),
        ({"n_limits": True}, "n_limits=True"),
        ({"weight": "area"}, "weight='area' is not known; use one of rows, width, geometric"),
        ({"spread_bins": "no"}, "spread_bins='no' is not known; use one of joint, mean, own"),
        ({"penalty": 0}, "penalty=0 is not a positive number"),
        ({"penalty": -1.0}, r"penalty=-1\.0"),
        ({"penalty": INF}, "penalty=inf"),
        ({"penalty": float("nan")}, "penalty=nan"),
        ({"min_rows": -1}, "min_rows=-1 is not a number of rows"),
        ({"min_rows": INF}, "min_rows=inf"),
        ({"min_rows": float("nan")}, "min_rows=nan"),
        ({"closed": "both"}, "both"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(BadSettingError, match=message):
        Adaptive(**settings)


# What bins cost


def run_price(rows, first, last, noise, settings):
    """Cheaper of constant and linear for the rows of some cells, and whether it is linear.

    weight (s² + p penalty log(N) v / n); s² about the mean with n - 1, about the line with n - 2.
    """
    x, d, w, edges = rows
    mine = (x >= edges[first]) & ((x < edges[last + 1]) | (last == edges.size - 2))
    if not mine.any():
        return INF, False
    total = w.sum() ** 2 / (w**2).sum()
    n = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
    if n < max(settings["min_rows"], 2) * (1 - 1e-9):
        return INF, False
    share = w[mine] / w[mine].sum()
    cell = np.clip(np.searchsorted(edges, x[mine], side="right") - 1, 0, edges.size - 2)
    v = share @ noise[cell]
    row_share, width = w[mine].sum() / w.sum(), (edges[last + 1] - edges[first]) / np.ptp(edges)
    weight = {"rows": row_share, "width": width, "geometric": np.sqrt(row_share * width)}
    weight = total * weight[settings["weight"]]
    price = settings["penalty"] * np.log(max(total, 2)) * v / n
    off = d[mine] - share @ d[mine]
    constant = share @ off**2 * n / (n - 1) + price
    far = x[mine] - share @ x[mine]
    if not settings["linear"] or n <= 2 or share @ far**2 == 0:
        return weight * constant, False
    off = off - far * (share @ (far * off)) / (share @ far**2)
    line = share @ off**2 * n / (n - 2) + 2 * price
    return weight * min(constant, line), bool(line < constant)


def brute_force(rows, moments, settings):
    """Price of every run from its rows; a wide cell without rows is free, but no end of a bin."""
    noise, n_cells = local_noise(filled(moments)), moments.grid.n_cells
    prices = {}
    for first in range(n_cells):
        for last in range(first, n_cells):
            prices[first, last] = run_price(rows, first, last, noise, settings)
    for gap in wide_empty_cells(moments):
        for first, last in prices:
            if gap in (first, last):
                prices[first, last] = (0.0 if first == last else INF), False
    return prices


def cost(limits, prices):
    return sum(prices[a, b - 1][0] for a, b in pairwise(limits))


def every_partition(n_cells):
    for size in range(n_cells):
        for kept in combinations(range(1, n_cells), size):
            yield (0, *kept, n_cells)


def table(rng, n_cells, *, weighted, gaps):
    """Rows in cells of different width: steps, a line and noise of changing size."""
    edges = np.append(0.0, np.cumsum(rng.uniform(0.5, 2, n_cells)))
    counts = rng.integers(1, 12, n_cells)
    if gaps:
        counts[rng.random(n_cells) < 0.3] = 0
        counts[[0, -1]] = 8
    x = np.concatenate(
        [rng.uniform(a, b, n) for (a, b), n in zip(pairwise(edges), counts, strict=True)]
    )
    level = np.repeat(rng.choice([0.0, 0.0, 1.0, 3.0], n_cells), counts)
    d = level + rng.choice([0.0, 0.5]) * x + rng.normal(0, rng.choice([0.05, 0.3, 1]), x.size)
    w = rng.lognormal(0, 1, x.size) if weighted else np.ones(x.size)
    return x, d, w, edges


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_no_partition_is_cheaper(seed, gaps, weighted):
    rng = np.random.default_rng(seed)
    n_cells = int(rng.integers(2 if gaps else 1, 11))
    rows = table(rng, n_cells, weighted=weighted, gaps=gaps)
    x, d, w, edges = rows
    moments = measure_moments(Grid(edges), x, d, w if weighted else None)
    for weight in ("rows", "width", "geometric"):
        settings = {
            "weight": weight,
            "linear": bool(rng.random() < 0.7),
            "penalty": float(rng.choice([0.5, 2.0, 5.0])),
            "min_rows": float(rng.choice([0, 3, 5, 9])),
        }
        prices = brute_force(rows, moments, settings)
        cuts = Adaptive(spread_bins="mean", **settings)(moments)
        limits = [int(k) for k in cuts.limits]
        best = min(cost(p, prices) for p in every_partition(n_cells))
        if not np.isfinite(best):
            assert limits == [0, n_cells]
            continue
        assert cost(limits, prices) <= best * (1 + 1e-9)
        kinds = [prices[a, b - 1][1] for a, b in pairwise(limits)]
        assert cuts.linear.tolist() == kinds


def one_look(monkeypatch, moments, **settings):
    """Bins from one look at all limits."""
    with monkeypatch.context() as patch:
        patch.setattr(segments, "MAX_EXHAUSTIVE_CELLS", INF)
        return Adaptive(**settings)(moments)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_two_looks_at_many_limits_cost_hardly_more_than_one(monkeypatch, seed, noise, weighted):
    """Prices are those of the rows, bin by bin; no bins are cheaper than those of one look."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 6000) ** (1 + seed)
    x = x[(x < 0.5) | (x > 0.58)]
    mean = np.sin(9 * x) if seed % 2 else np.floor(5 * x)
    d = mean + noise * rng.normal(size=x.size) * np.where(x < 0.3, 1.0, 3.0)
    w = rng.lognormal(0, 0.5, x.size) if weighted else np.ones(x.size)
    inner = np.append(np.quantile(x, np.linspace(0, 1, 200)), np.linspace(0, 1, 200))
    inner = inner[(inner > x.min()) & (inner < x.max()) & ((inner <= 0.5) | (inner >= 0.58))]
    edges = np.unique([x.min(), 0.504, 0.576, *inner, x.max()])
    moments = measure_moments(Grid(edges), x, d, w if weighted else None)
    settings = {"weight": "rows", "linear": True, "penalty": 2.0, "min_rows": 5.0}
    local, gaps = local_noise(filled(moments)), wide_empty_cells(moments)
    assert edges.size > 300
    assert gaps.size == 1

    def price(first, last):
        if first == last == gaps[0]:
            return 0.0, False
        return run_price((x, d, w, edges), first, last, local, settings)

    def paid(cuts):
        return sum(price(a, b - 1)[0] for a, b in pairwise(cuts.limits))

    one = one_look(monkeypatch, moments, spread_bins="mean", min_rows=5.0)
    two = Adaptive(spread_bins="mean", min_rows=5.0)(moments)
    assert paid(one) * (1 - 1e-9) <= paid(two) <= paid(one) * 1.01
    assert two.linear.tolist() == [price(a, b - 1)[1] for a, b in pairwise(two.limits)]


@pytest.mark.parametrize("n_cells", [20, 300])
def test_rounding_makes_no_line_of_a_constant_effect(n_cells):
    """Deviations of 1e-14 of the effect, along a line or not, are those of a model's arithmetic."""
    x = np.linspace(0, 1, 40 * n_cells)
    cells = measure_moments(Grid(np.linspace(0, 1, n_cells + 1)), x, 5.0 * (1 + 1e-14 * x))
    found = Adaptive()(cells)
    assert found.limits.tolist() == [0, n_cells]
    assert found.linear.tolist() == [False]


def test_a_jump_of_the_spread_is_found_in_two_looks(monkeypatch):
    """301 cells, deviations of 1 and 2 on the two sides of a limit that the first look has not."""
    edges = np.linspace(0, 1, 302)
    x = np.repeat(edges[:-1] + 0.5 / 301, 40)
    d = np.tile([1.0, -1.0], x.size // 2) * np.where(x < edges[101], 1.0, 2.0)
    moments = measure_moments(Grid(edges), x, d)
    two, one = Adaptive()(moments), one_look(monkeypatch, moments)
    assert two.limits.tolist() == one.limits.tolist() == [0, 101, 301]


@pytest.mark.parametrize("weight", ["rows", "width", "geometric"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_of_many_cells_no_partition_is_cheaper_either(gaps, weighted, weight):
    """70 cells, more than are looked at together: the cheapest way to each limit in turn."""
    rows = table(np.random.default_rng(70), 70, weighted=weighted, gaps=gaps)
    x, d, w, edges = rows
    moments = measure_moments(Grid(edges), x, d, w if weighted else None)
    settings = {"weight": weight, "linear": True, "penalty": 0.5, "min_rows": 5.0}
    prices = brute_force(rows, moments, settings)
    best = np.zeros(71)
    for end in range(1, 71):
        best[end] = min(best[start] + prices[start, end - 1][0] for start in range(end))
    cuts = Adaptive(spread_bins="mean", **settings)(moments)
    limits = [int(k) for k in cuts.limits]
    assert len(limits) > 5
    assert cost(limits, prices) <= best[-1] * (1 + 1e-9)
    assert cuts.linear.tolist() == [prices[a, b - 1][1] for a, b in pairwise(limits)]


def test_five_rows_are_the_least():
    """Steps of four rows each cannot be bins, steps of five rows each can."""
    for n in (4, 5):
        x = np.arange(3.0 * n)
        found = rhale.effect(x, np.repeat([0.0, 1.0, 0.0], n) + 1e-3 * np.sin(99 * x))
        assert found.count.min() == 5
        assert n == 4 or found.count.tolist() == [5, 5, 5]


def test_a_secant_of_a_stepped_model_needs_a_twentieth_of_the_rows():
    """Steps of 25 of 1000 rows can be told apart if they are not those of a model."""
    x = (np.arange(1000) + 0.5) / 1000
    d = np.floor(40 * x) % 2 + 1e-3 * np.random.default_rng(0).normal(size=1000)
    grid = Grid(np.linspace(0, 1, 201))
    one = measure_moments(grid, x, d)
    stepped = replace(one, is_stepped=True)
    bins = Adaptive(spread_bins="mean")
    assert np.diff(bins(one).limits).tolist() == [5] * 40
    assert np.diff(bins(stepped).limits).min() >= 10
    asked = Adaptive(spread_bins="mean", min_rows=5)
    assert np.diff(asked(stepped).limits).tolist() == [5] * 40


def test_min_rows_hold_for_every_bin():
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 300)
    d = np.floor(20 * x) % 2 + 0.01 * rng.normal(size=300) * (1 + 50 * (x > 0.5))
    for spread_bins in ("mean", "joint", "own"):
        for least in (1, 20, 60, 160):
            bins = Adaptive(min_rows=least, spread_bins=spread_bins)
            assert rhale.effect(x, d, bins=bins).count.min() >= least
    assert rhale.effect(x, d, bins=Adaptive(min_rows=1000)).count.tolist() == [300]


def test_an_exact_number_of_rows_is_enough_with_weights_that_round():
    """Twice ten rows of weight 0.1 are ten effective rows each, to the last digits."""
    x, w = np.arange(20.0), np.full(20, 0.1)
    d = np.repeat([0.0, 1.0], 10) + 1e-3 * np.sin(99 * x)
    found = rhale.effect(x, d, bins=Adaptive(min_rows=10), weights=w)
    assert found.count.tolist() == [10, 10]


def test_without_linear_bins_a_line_becomes_steps():
    x = np.linspace(0, 1, 400)
    straight = rhale.effect(x, 3 * x + 1)
    assert straight.edges.tolist() == [0.0, 1.0]
    np.testing.assert_allclose((straight.mean[0], straight.slope[0]), (2.5, 3.0))
    steps = rhale.effect(x, 3 * x + 1, bins=Adaptive(linear=False))
    assert steps.mean.size > 5
    assert not steps.linear.any()
    assert np.all(steps.slope == 0.0)


def test_a_higher_price_of_parameters_gives_fewer_bins():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 1, 1000)
    d = np.sin(9 * x) + rng.normal(0, 0.2, 1000)
    every = [Adaptive(penalty=p, spread_bins="mean") for p in (0.5, 4.0, 1e4)]
    sizes = [rhale.effect(x, d, bins=bins).mean.size for bins in every]
    assert sizes[0] > sizes[1] > sizes[2] == 1


def test_bins_are_closed_as_asked():
    """Rows at 0 ... 9; the limit of the bins lies between values, so both sides agree."""
    x = np.repeat(np.arange(10.0), 6)
    d = np.where(x < 4, 0.0, 1.0)
    for closed in ("left", "right"):
        found = rhale.effect(x, d, bins=Adaptive(closed=closed))
        assert found.closed == closed
        assert found.edges.tolist() == [0.0, 3.5, 9.0]


# Candidates


def test_few_values_are_parted_at_all_midpoints():
    values = [0.0, 1.0, 4.0, 4.5, 10.0]
    found = Adaptive(n_limits=5).candidates(axis(values))
    assert found.tolist() == [0.0, 0.5, 2.5, 4.25, 7.25, 10.0]


def test_midpoints_stay_inside_given_limits():
    found = Adaptive().candidates(axis(np.arange(11.0), low=2.5, high=7.5))
    assert found.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5, 7.5]


def test_two_values_have_one_midpoint_and_one_has_none():
    assert Adaptive().candidates(axis([3.0, 5.0])).tolist() == [3.0, 4.0, 5.0]
    lone = axis([3.0], low=0.0, high=4.0)
    assert Adaptive().candidates(lone).tolist() == [0.0, 4.0]


@pytest.mark.parametrize("n_limits", [1, 2, 7, 50])
def test_many_values_are_parted_near_equal_steps_and_equal_counts(n_limits):
    """The nearest midpoint to each of n - 1 equal steps and to each of n - 1 quantiles."""
    rng = np.random.default_rng(3)
    values = np.sort(rng.lognormal(0, 0.3, 201))
    middle = (values[1:] + values[:-1]) / 2
    even = np.linspace(values[0], values[-1], n_limits + 1)[1:-1]
    ranks = np.ceil(np.arange(1, n_limits) / n_limits * 201 - 1e-9).astype(int) - 1
    wanted = np.concatenate([even, values[ranks]])
    nearest = {middle[np.argmin(np.abs(middle - z))] for z in wanted}
    found = Adaptive(n_limits=n_limits).candidates(axis(values))
    assert found.tolist() == [values[0], *sorted(nearest), values[-1]]


@pytest.mark.parametrize(
    ("rows", "n_limits"), [(100, 100), (3000, 100), (9487, 141), (30_000, 200), (1e9, 200)]
)
def test_more_rows_get_more_limits(rows, n_limits):
    """Twice as many for ten times the rows, from 3,000 to 30,000: 141 is 100 times root 2."""
    values = np.linspace(0, 1, 5001) ** 2
    known = FeatureAxis(0.0, 1.0, values, np.ones(values.size), float(rows))
    found = Adaptive().candidates(known)
    assert found.tolist() == Adaptive(n_limits=n_limits).candidates(known).tolist()
    few = axis(np.arange(150.0))
    assert Adaptive(n_limits=20).candidates(few).size < 42


# Gaps


def parted(left, right, *, low=2.0, noise=0.1):
    """200 rows on [0, 1] and 200 from `low` to 3, with different effects."""
    rng = np.random.default_rng(4)
    x = np.concatenate([np.linspace(0, 1, 200), np.linspace(low, 3, 200)])
    return x, np.repeat([left, right], 200) + noise * rng.normal(size=400)


def test_a_gap_between_two_effects_is_a_bin_of_its_own():
    x, d = parted(1.0, 5.0)
    effect = rhale.effect(x, d)
    np.testing.assert_allclose(effect.edges, [0, 1.05, 1.95, 3])
    assert effect.count.tolist() == [200, 0, 200]
    assert effect.measured.tolist() == [True, False, True]
    a, b = d[:200], d[200:]
    np.testing.assert_allclose(effect.mean, [a.mean(), (a.mean() + b.mean()) / 2, b.mean()])
    np.testing.assert_allclose(effect.std[[0, 2]], [a.std(ddof=1), b.std(ddof=1)])
    np.testing.assert_allclose(effect.std[1], effect.std[[0, 2]].mean())
    assert effect.linear.tolist() == [False, False, False]
    assert "1 of 3 bins have no rows: they are interpolated" in effect.notes


def test_a_gap_inside_one_effect_is_no_bin():
    x, d = parted(2.0, 2.0)
    assert rhale.effect(x, d).edges.tolist() == [0.0, 3.0]
    assert rhale.effect(x, 2 * x).edges.tolist() == [0.0, 3.0]


def test_a_narrow_gap_is_no_bin():
    x, d = parted(1.0, 5.0, low=1.1)
    effect = rhale.effect(x, d)
    assert effect.mean.size == 2
    assert effect.measured.all()


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_behind_a_gap_that_a_sample_missed_keep_their_place(seed):
    """Six of 100,006 rows lie on [10.3, 10.8], before 50,000 others and behind a gap.

    Their line, from 1.5 to -1.5, was read in the middle of a bin that took in the gap: an effect
    of -10 and an importance of 20. Whether a sample saw these rows must not matter.
    """
    rng = np.random.default_rng(seed)
    others = rng.uniform(0, 6.6, 50_000), rng.uniform(11, 17, 50_000)
    x, d = np.concatenate([*others, np.linspace(10.3, 10.8, 6)]), 0.2 * rng.normal(size=100_006)
    d[-6:] = np.linspace(1.5, -1.5, 6)
    effect = rhale.effect(x, d)
    assert np.abs(effect.mean).max() < 1.5
    assert effect.importance < 0.2


def test_gaps_are_where_the_rows_are_not_whatever_the_sample_is():
    """30,000 rows beside a gap; limits of the gap stand a twentieth of it from the outermost rows."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(0, 1, 30_000), rng.uniform(3, 4, 30_000)])
    effect = rhale.effect(x, np.where(x < 2, 0.0, 5.0) + 0.1 * rng.normal(size=x.size))
    low, high = x[x < 2].max(), x[x > 2].min()
    margin = 0.05 * (high - low)
    np.testing.assert_allclose(effect.edges[1:-1], [low + margin, high - margin], rtol=1e-12)
    assert effect.count.tolist() == [30_000, 0, 30_000]


@pytest.mark.parametrize("closed", ["left", "right"])
def test_given_bins_reproduce_those_beside_gaps(closed):
    x, d = parted(1.0, 5.0)
    found = rhale.effect(x, d, bins=Adaptive(closed=closed))
    again = rhale.effect(x, d, bins=rhale.Edges(found.edges, closed, linear=found.linear))
    assert again.count.tolist() == found.count.tolist()
    np.testing.assert_allclose(again.level, found.level, rtol=1e-12)


def test_a_row_between_two_gaps_joins_them():
    """One row between two gaps is too few for a bin: the bin that holds it spans both gaps."""
    x = np.concatenate([np.linspace(0, 1, 100), [2.0], np.linspace(3, 4, 100)])
    effect = rhale.effect(x, np.where(x < 1.5, 0.0, 4.0), bins=Adaptive(n_limits=50))
    assert effect.count[effect.measured].min() >= 5
    assert effect.count.sum() == 201


# Spread


def jumping(seed, n=2000, at=0.4, small=0.5, large=2.0):
    """A constant mean whose noise jumps."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 1, n))
    return x, 1.0 + np.where(x < at, small, large) * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
def test_a_jump_of_the_spread_ends_a_bin(seed):
    x, d = jumping(seed)
    effect = rhale.effect(x, d)
    assert effect.mean.size == 2
    assert effect.edges[1] == pytest.approx(0.4, abs=0.03)
    np.testing.assert_allclose(effect.std, [0.5, 2.0], rtol=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_bins_of_the_mean_do_not_see_the_spread(seed):
    x, d = jumping(seed)
    effect = rhale.effect(x, d, bins=Adaptive(spread_bins="mean"))
    assert effect.edges.tolist() == [x[0], x[-1]]
    assert effect.spread_edges is effect.spread_std is None


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_can_have_bins_of_its_own(seed):
    x, d = jumping(seed)
    effect = rhale.effect(x, d, bins=Adaptive(spread_bins="own"))
    assert effect.edges.tolist() == [x[0], x[-1]]
    assert effect.spread_edges[[0, -1]].tolist() == [x[0], x[-1]]
    assert effect.spread_edges[1:-1] == pytest.approx([0.4], abs=0.03)
    np.testing.assert_allclose(effect.spread_std, [0.5, 2.0], rtol=0.1)
    reached = np.interp(
        0.7,
        effect.spread_edges,
        np.append(0, np.cumsum(effect.spread_std * np.diff(effect.spread_edges))),
    )
    np.testing.assert_allclose(effect.spread(0.7, center="start"), reached, rtol=1e-12)


def test_own_bins_of_the_spread_do_not_end_where_the_mean_jumps():
    x, d = jumping(4, small=1.0, large=1.0)
    effect = rhale.effect(x, d + np.where(x < 0.7, 0.0, 8.0), bins=Adaptive(spread_bins="own"))
    assert effect.edges[1:-1] == pytest.approx([0.7], abs=0.02)
    assert effect.spread_edges.tolist() == [x[0], x[-1]]


@pytest.mark.parametrize("step", [0.0, 8.0])
def test_own_spread_is_the_deviation_of_the_rows_about_the_fits_of_the_mean(step):
    """Mean squares of the rows in a bin of the spread, each n/(n - 1) of its bin of the mean."""
    x, d = jumping(3)
    d = d + np.where(x < 0.7, 0.0, step)
    effect = rhale.effect(x, d, bins=Adaptive(spread_bins="own"))
    assert effect.mean.size == 1 + (step > 0)
    assert not effect.linear.any()
    off = np.empty(x.size)
    for low, high in pairwise(effect.edges):
        mine = (x >= low) & ((x < high) | (high == x[-1]))
        n = mine.sum()
        off[mine] = (d[mine] - d[mine].mean()) ** 2 * n / (n - 1)
    for std, (low, high) in zip(effect.spread_std, pairwise(effect.spread_edges), strict=True):
        mine = (x >= low) & ((x < high) | (high == x[-1]))
        np.testing.assert_allclose(std, np.sqrt(off[mine].mean()), rtol=1e-9)


def test_a_jump_of_mean_and_spread_makes_bins_for_both():
    x, d = jumping(5)
    d = d + np.where(x < 0.7, 0.0, 8.0)
    effect = rhale.effect(x, d)
    assert effect.edges[1:-1] == pytest.approx([0.4, 0.7], abs=0.03)


def test_one_wild_row_is_no_stretch_of_spread():
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(0, 1, 400))
    d = rng.normal(0, 1, 400)
    d[200] = 20.0
    limits = measure_moments(Grid(np.linspace(0, 1, 101)), x, d)
    squares = residual_squares(limits, np.array([0, 100]), np.array([False]))
    assert spread_path(limits, squares, 0.0).tolist() == [0, 100]


@pytest.mark.parametrize(("n", "least"), [(500, 50), (1000, 100), (2000, 150), (4000, 150)])
def test_bins_of_the_spread_hold_a_tenth_of_the_rows_or_150(n, least):
    """The last rows are ten times as wide; a cut takes so many rows, or those that are wide."""
    for share in (0.7 * least / n, 2 * least / n):
        x, d = jumping(7, n=n, at=1 - share, small=0.2, large=2.0)
        effect = rhale.effect(x, d)
        assert least <= effect.count[-1] <= max(least, share * n) + 0.03 * n


def test_whole_numbers_may_differ_in_their_spread():
    """Rows at two of thirty values differ five times as much: 100,000 rows show it."""
    rng = np.random.default_rng(9)
    x = rng.poisson(12, 100_000) * 1.0
    d = np.where((x == 12) | (x == 13), 2.5, 0.5) * rng.normal(size=x.size)
    effect = rhale.effect(x, d)
    assert effect.edges[1:-1].tolist() == [11.5, 13.5]
    np.testing.assert_allclose(effect.std, [0.5, 2.5, 0.5], rtol=0.03)


# Misfit


WAVES = {
    "sin 3x": lambda x: 3 * np.cos(3 * x),
    "sin 10x": lambda x: 10 * np.cos(10 * x),
    "tanh 20x": lambda x: 20 / np.cosh(20 * x) ** 2,
    "exp": np.exp,
}


@pytest.mark.parametrize("name", WAVES)
def test_what_the_fits_leave_of_a_function_of_one_feature_is_no_spread(name):
    x = np.random.default_rng(10).uniform(-1, 1, 1000)
    for bins in (Adaptive(), Adaptive(spread_bins="own")):
        effect = rhale.effect(x, WAVES[name](x), bins=bins)
        assert effect.typical_spread < 0.03 * effect.importance


@pytest.mark.parametrize("seed", range(3))
def test_spread_is_still_spread_where_fits_are_plain(seed):
    """One bin for two waves: the rows' own deviation is 0.3, the misfit 0.7."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 2000)
    d = np.sin(4 * np.pi * x) + 0.3 * rng.normal(size=2000)
    effect = rhale.effect(x, d, bins=Adaptive(penalty=1e6, spread_bins="mean"))
    assert effect.mean.size == 1
    assert effect.std_plain[0] > 0.7
    assert effect.std[0] == pytest.approx(0.3, rel=0.1)


def test_the_spread_is_cut_where_it_jumps():
    x, d = jumping(8)
    moments = measure_moments(Grid(np.linspace(0, 1, 51)), x, d)
    squares = residual_squares(moments, np.array([0, 50]), np.array([False]))
    assert spread_path(moments, squares, 0.0).tolist() == [0, 20, 50]


def test_limits_of_the_spread_move_to_limits_of_bins_that_are_near():
    """100 rows in ten cells: fewer than 20 are few, so 4 moves to 5; ends stay ends."""
    x = (np.arange(100) + 0.5) / 100
    moments = measure_moments(Grid(np.linspace(0, 1, 11)), x, x)
    found = move_to_near(np.array([0, 4, 9, 10]), np.array([0, 5, 10]), moments)
    assert found.tolist() == [0, 5, 9, 10]


def test_bins_of_few_rows_have_the_std_of_all_between_which_it_does_not_change():
    """Ten steps of the mean, 60 rows each, and one spread; 400 rows a bin keep their own."""
    rng = np.random.default_rng(5)
    few, many = (
        rhale.effect(x, 30 * np.floor(10 * x) + rng.normal(size=x.size))
        for x in (rng.uniform(0, 1, n) for n in (600, 4000))
    )
    assert few.mean.size >= 10
    np.testing.assert_allclose(few.std, few.std[0], rtol=1e-12)
    np.testing.assert_allclose(few.std, 1.0, rtol=0.2)
    own = many.std[many.rows >= 150]
    assert np.unique(own).size == own.size >= 9


def test_squares_count_no_more_than_they_may():
    """All that changes is misfit: where squares are limited to one number, nothing is cut."""
    x, d = jumping(8)
    moments = measure_moments(Grid(np.linspace(0, 1, 51)), x, d)
    squares = residual_squares(moments, np.array([0, 50]), np.array([False]))
    limited = spread_path(moments, squares, 0.0, most=np.full(50, 0.1))
    assert limited.tolist() == [0, 50]
    free = spread_path(moments, squares, 0.0, most=np.full(50, np.inf))
    assert free.tolist() == [0, 20, 50]


@pytest.mark.parametrize("fewest", [0.0, 300.0, 900.0])
def test_bins_of_the_spread_have_the_rows_asked_for(fewest):
    """800 of 2000 rows lie before the jump: 900 cannot."""
    x, d = jumping(8)
    moments = measure_moments(Grid(np.linspace(0, 1, 51)), x, d)
    squares = residual_squares(moments, np.array([0, 50]), np.array([False]))
    limits = spread_path(moments, squares, fewest)
    assert np.add.reduceat(moments.count, limits[:-1]).min() >= fewest
    assert (20 in limits) == (fewest < 800)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_bins_of_the_spread_are_cheaper(seed, weighted):
    """Sum of n log(variance) + penalty log(N) tails over all partitions of nine cells.

    Tails: excess of the squares without outliers, or a part of that with them if it is more.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 9, 150)
    d = np.where(x < rng.uniform(2, 7), 1.0, 2.5) * rng.normal(size=150)
    moments = measure_moments(
        Grid(np.arange(10.0)), x, d, rng.lognormal(0, 1, 150) if weighted else None
    )
    squares = residual_squares(moments, np.array([0, 9]), np.array([False]))
    share, weight = moments.row_shares, moments.weight
    tame = cut_outliers(squares, moments.rows)
    outliers = 1 + adaptive.TAIL_COST_SHARE * (excess(squares, moments.rows) - 1)
    tails = max(excess(tame, moments.rows), outliers)
    parameter = adaptive.SPREAD_PENALTY * np.log(moments.total_rows) * tails
    least = max(adaptive.FEWEST_SPREAD_ROWS, adaptive.SPREAD_SHARE * moments.total_rows)

    def price(limits):
        total = 0.0
        for a, b in pairwise(limits):
            part = slice(a, b)
            held = weight[part].sum() ** 2 / moments.weight_squares[part].sum()
            if held < least * (1 - 1e-9):
                return INF
            variance = np.average(tame[part], weights=weight[part])
            total += share[part].sum() * np.log(variance) + parameter
        return total

    best = min(map(price, every_partition(9)))
    found = tuple(int(k) for k in spread_path(moments, squares, 0.0))
    assert price(found) <= best + 1e-9 * abs(best)


def test_no_spread_is_not_cut():
    x = np.linspace(0, 1, 200)
    moments = measure_moments(Grid(np.linspace(0, 1, 21)), x, np.full(200, 0.3))
    assert spread_path(moments, np.zeros(20), 0.0).tolist() == [0, 20]


# What is left of the cells


def test_cuts_carry_the_noise_and_how_far_to_trust_the_cells():
    x = np.linspace(0, 1, 200)
    moments = measure_moments(Grid(np.linspace(0, 1, 21)), x, x**2)
    cuts = Adaptive(penalty=1e6, spread_bins="mean")(moments)
    assert cuts.limits.tolist() == [0, 20]
    np.testing.assert_allclose(cuts.noise, local_noise(filled(moments)), rtol=1e-12)
    assert 0.5 < cuts.trust[0] < 1.0
    assert cuts.spread_limits is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"penalty": "2"}, "penalty='2' is not a positive number"),
        ({"penalty": True}, "penalty=True is not a positive number"),
        ({"min_rows": "5"}, "min_rows='5' is not a number of rows"),
    ],
)
def test_settings_that_are_no_numbers_are_refused_in_words(settings, said):
    with pytest.raises(BadSettingError, match=said):
        Adaptive(**settings)


@pytest.mark.parametrize("settings", [{"discount": "0.2"}, {"min_points": "5"}])
def test_optimal_refuses_settings_that_are_no_numbers(settings):
    with pytest.raises(BadSettingError, match="is not"):
        rhale.Optimal(**settings)
