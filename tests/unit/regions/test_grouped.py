"""A measure taken apart: the parts are those of the rows alone, and add up to the whole."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from tests.unit.effects.askers import asker_for

import rhale
from rhale.data import open_table
from rhale.effects.levels import LevelMoments
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.measure import (
    Conclusion,
    MeasureContext,
    MeasureTask,
    PartResult,
    split_sample_columns,
    with_bins,
)
from rhale.effects.local.tree_steps import JumpTotal
from rhale.features.feature import FirstPass
from rhale.regions.groups import NOBODY, Grouped, GroupingRules, GroupMeasure, take_parts
from rhale.regions.rules import Rule
from rhale.regions.settings import Regions
from rhale.settings import Settings

N, LAST = 240, np.uint64(2**64 - 1)
RNG = np.random.default_rng(17)
TABLE = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": np.where(RNG.random(N) < 0.1, np.nan, RNG.uniform(-1, 1, N)),
        "k": RNG.integers(0, 4, N).astype(float),
    }
)
WEIGHT = RNG.choice([0.5, 1.0, 2.0], N)
BELOW = (TABLE["b"] <= 0).to_numpy()  # a row without a value is not
BY_SIGN = (Rule(1, 0.0),)


def curved(rows):
    """Two outputs of which the first differs by b; floors are not smooth."""
    a, b, k = (rows[name].to_numpy(dtype=float) for name in "abk")
    return np.column_stack([np.floor(3 * a) * np.where(b <= 0, 1, 2) + k * a, a + k**2])


TREES = HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=5, random_state=0).fit(
    TABLE, TABLE["a"] * np.where(BELOW, 1, 3) + TABLE["k"]
)
CASES = {"binned": (curved, "a"), "steps": (curved, "k"), "walked": (TREES, "a")}


def opened(model, feature, rules=BY_SIGN, n_groups=2, output=0, rows=TABLE):
    """A measure of a feature, taken apart by rules; and what it needs to work."""
    table = open_table(rows, weights=WEIGHT)
    settings = Settings(features=feature, regions=Regions())
    first = FirstPass.plan(table, settings)
    columns = first.resolve_columns(first.task(table.chunk(0, N)))
    asker = asker_for(model, columns.probe, table.names)
    base = choose_measures(columns, asker, settings).measures[0]
    division = GroupingRules(rules, columns.splitters, n_groups)
    axes = [base.feature.axis] * n_groups
    grouped = Grouped(base, (division,), tuple(take_parts(base, 0, output, axes)))
    return base, grouped, asker, columns


def summed(measure, asker, columns, some=None):
    """Sums of all rows, or of some."""
    chunk = columns.table.chunk(0, N)
    task = MeasureTask(asker, (measure,), LAST, 0, columns.survey.weight, LAST)
    return task(chunk if some is None else chunk.take(np.flatnonzero(some)))


def concluded(grouped, asker, columns):
    """Effects of the parts, and what was known of the rows."""
    sums = summed(grouped, asker, columns)
    sampled = split_sample_columns(sums.sample, len(asker.outputs), (grouped,))
    known = columns.survey, asker.outputs, (), sampled.weight, LAST
    about = MeasureContext(*known, sampled=sampled.of_measure(0))
    (made,) = with_bins([grouped.conclude(sums.totals[0], sampled.kept[0], about)])
    return made, about


def numbers_in(total):
    """Numbers of a total: cells of local effects, or moments of levels."""
    if isinstance(total, LevelMoments):
        return total.count, total.weight, total.mean, total.products
    cells = total.cells if isinstance(total, JumpTotal) else total
    return cells.count, cells.weight, cells.mean, cells.sdd


def assert_same_totals(found, wanted):
    for one, other in zip(numbers_in(found), numbers_in(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_part_has_the_sums_of_its_rows_alone(name):
    base, grouped, asker, columns = opened(*CASES[name])
    found = summed(grouped, asker, columns).totals[0].totals
    for total, some in zip(found, (BELOW, ~BELOW), strict=True):
        assert_same_totals(total, summed(base, asker, columns, some).totals[0])


def test_rows_of_a_part_alone_are_moved_to_every_level():
    named = TABLE.assign(s=pd.Series(RNG.choice(["u", "v", "w"], N), dtype="str"))

    def model(rows):
        return rows["a"].to_numpy() * rows["s"].map({"u": 0.0, "v": 1.0, "w": 3.0}).to_numpy()

    _, grouped, asker, columns = opened(model, "s", rows=named)
    made, _ = concluded(grouped, asker, columns)
    one = np.sum(WEIGHT**2) / WEIGHT.sum()
    for part, some in zip(made.parts, (BELOW, ~BELOW), strict=True):
        worth = [{"u": 0.0, "v": 1.0, "w": 3.0}[name] for name in part.effect.levels]
        steps, weight = TABLE["a"].to_numpy()[some, None] * np.diff(worth), WEIGHT[some, None]
        off = steps - np.sum(weight * steps, axis=0) / weight.sum()
        wanted = (weight * off).T @ off / (weight.sum() - one)  # centred ICE: all of the part
        found = part.effect.row_spread
        np.testing.assert_allclose(found.covariance, wanted, rtol=1e-9, atol=1e-12)
        names = named["s"].to_numpy()
        held = [WEIGHT[some & (names == name)].sum() for name in part.effect.levels]
        np.testing.assert_allclose(found.shares, held / weight.sum())


@pytest.mark.parametrize("name", CASES)
def test_parts_add_up_to_the_whole(name):
    base, grouped, asker, columns = opened(*CASES[name])
    first, second = summed(grouped, asker, columns).totals[0].totals
    whole = summed(base, asker, columns).totals[0]
    assert_same_totals(first + second, whole)
    if name == "walked":  # jumps are whole numbers, and rows near each place are those of all
        np.testing.assert_array_equal((first + second).sums.near, whole.sums.near)
        np.testing.assert_array_equal((first + second).sums.jumps, whole.sums.jumps)


@pytest.mark.parametrize("name", CASES)
def test_totals_of_halves_add_up(name):
    _, grouped, asker, columns = opened(*CASES[name])
    odd = np.arange(N) % 2 == 1
    halves = [summed(grouped, asker, columns, some).totals[0] for some in (odd, ~odd)]
    for found, wanted in zip(
        (halves[0] + halves[1]).totals,
        summed(grouped, asker, columns).totals[0].totals,
        strict=True,
    ):
        assert_same_totals(found, wanted)


@pytest.mark.parametrize("name", CASES)
def test_what_is_kept_of_a_row_does_not_depend_on_its_group(name):
    base, grouped, asker, columns = opened(*CASES[name])
    n_outputs = len(asker.outputs)
    plain = split_sample_columns(summed(base, asker, columns).sample, n_outputs, (base,))
    parts = split_sample_columns(summed(grouped, asker, columns).sample, n_outputs, (grouped,))
    assert grouped.n_kept(n_outputs) == base.n_kept(n_outputs) + 1
    np.testing.assert_array_equal(parts.key, plain.key)
    np.testing.assert_array_equal(parts.kept[0][:, :-1], plain.kept[0])
    assert np.sort(parts.kept[0][:, -1]).tolist() == sorted((~BELOW).astype(float))


@pytest.mark.parametrize("name", CASES)
def test_the_effect_of_a_part_is_that_of_its_rows(name):
    base, grouped, asker, columns = opened(*CASES[name])
    made, about = concluded(grouped, asker, columns)
    assert [(one.division, one.group, one.output) for one in made.parts] == [(0, 0, 0), (0, 1, 0)]
    for one, some in zip(made.parts, (BELOW, ~BELOW), strict=True):
        alone = summed(base, asker, columns, some)
        kept = split_sample_columns(alone.sample, len(asker.outputs), (base,))
        known = replace(about, weight=kept.weight, sampled=kept.of_measure(0))
        part = PartResult(0, 0, 0, base.conclude_region(alone.totals[0], kept.kept[0], known, 0))
        ((_, _, _, wanted),) = next(with_bins([Conclusion(parts=(part,))])).parts
        np.testing.assert_array_equal(one.effect.edges, wanted.edges)
        np.testing.assert_allclose(one.effect.mean, wanted.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(one.effect.count, wanted.count)
        np.testing.assert_allclose(one.effect.weight.sum(), wanted.weight.sum())
        for mine, theirs in zip(one.effect.sample, wanted.sample, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for part in ("places", "shares", "covariance", "error", "x", "rows"):
            mine, theirs = (getattr(e.row_spread, part) for e in (one.effect, wanted))
            np.testing.assert_array_equal(mine, theirs, part)
        assert one.effect.typical_spread > 0
    located = grouped.divisions[0].locate(columns.table.chunk(0, N))
    np.testing.assert_array_equal(np.sort(made.groups[:, 0]), np.sort(located))


def test_a_part_is_concluded_for_its_own_output():
    _, grouped, asker, columns = opened(curved, "k", output=1)
    for one in concluded(grouped, asker, columns)[0].parts:
        assert (one.output, one.effect.output) == (1, asker.outputs[1])
        np.testing.assert_allclose(one.effect.mean, [1.0, 3.0, 5.0], rtol=1e-12)  # of k²


def test_rows_of_groups_that_do_not_count_are_nobody_s():
    rules = (Rule(1, np.inf, first=1, second=-4), Rule(1, -0.5, first=-1, second=2),
             Rule(1, 0.5, first=-2, second=-3))  # fmt: skip
    base, grouped, asker, columns = opened(curved, "a", rules, n_groups=3)
    b = TABLE["b"].to_numpy()
    wanted = np.select([np.isnan(b), b <= -0.5, b <= 0.5], [NOBODY, 0, 1], 2)
    np.testing.assert_array_equal(grouped.divisions[0].locate(columns.table.chunk(0, N)), wanted)
    found = summed(grouped, asker, columns).totals[0].totals
    assert [int(total.count.sum()) for total in found] == [np.sum(wanted == g) for g in range(3)]
    united = found[0] + found[1] + found[2]
    assert_same_totals(united, summed(base, asker, columns, ~np.isnan(b)).totals[0])


def test_it_asks_as_often_as_its_measure_does():
    for name in ("binned", "steps"):
        base, grouped, asker, columns = opened(*CASES[name])
        assert (grouped.n_changes, grouped.needs) == (base.n_changes, base.needs)
        assert grouped.feature is base.feature
        assert summed(grouped, asker, columns).asked == summed(base, asker, columns).asked


def test_groups_without_an_axis_are_not_measured():
    base = SimpleNamespace(in_region=lambda axis: f"measure on {axis}")
    assert take_parts(base, 2, 1, ["left", None, "right"]) == [
        GroupMeasure("measure on left", 2, 0, 1),
        GroupMeasure("measure on right", 2, 2, 1),
    ]


def test_the_effect_of_trees_in_a_region_is_that_of_its_rows_alone():
    """The splitter goes with the feature, so that each region has a part of the axis."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=2_000)
    rows = np.column_stack([z + 0.4 * rng.normal(size=2_000), z])
    truth = rows[:, 0] * np.where(z > 0.5, 3, 1)
    trees = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(rows, truth)
    fx = rhale.explain(trees, rows, features=[0], regions=rhale.By("x1", cuts=[0.5]))
    for region, some in zip(fx["x0"].regions, (z <= 0.5, z > 0.5), strict=True):
        alone = rhale.explain(trees, rows[some], features=[0])["x0"]
        x = np.quantile(rows[some, 0], np.linspace(0, 1, 50))
        np.testing.assert_allclose(region.effect.curve(x), alone.curve(x), atol=1e-9)
        assert region.effect.importance == pytest.approx(alone.importance, rel=1e-9)


@pytest.mark.parametrize("alike", [False, True], ids=["distinct", "alike"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("kind", ["gradient", "predictions"])
def test_regions_ask_nothing_again_where_every_row_is_kept(kind, weighted, alike):
    """Only of rows that are alike and have weights nobody knows how many they are."""
    rng = np.random.default_rng(5)
    n = 400
    rows = pd.DataFrame(
        {"x": rng.normal(size=n), "k": rng.integers(0, 4, n), "z": rng.normal(size=n)}
    )
    if alike:
        rows = pd.concat([rows, rows[:150], rows[:20]], ignore_index=True)
    weights = rng.uniform(0.5, 2, len(rows)) if weighted else None
    asked = [0]

    def model(table):
        asked[0] += len(table)
        x, k, z = (table[name].to_numpy(dtype=float) for name in "xkz")
        return x**2 * np.where(z > 0, 1, -1) + k * np.where(z > 0, 2, 1)

    def slopes(table):
        asked[0] += len(table)
        x, z = (table[name].to_numpy(dtype=float) for name in "xz")
        zero = np.zeros(len(table))
        return np.column_stack([2 * x * np.where(z > 0, 1, -1), zero, zero])

    more = {"gradient": slopes} if kind == "gradient" else {"method": "ale"}
    settings = {"features": ["x", "k"], "bins": {"x": rhale.Edges([-4, -1, 0, 1, 4])}, **more}
    counted = []
    for regions in (None, rhale.By("z", cuts=[0])):
        asked[0] = 0
        fx = rhale.explain(model, rows, weights=weights, regions=regions, **settings)
        counted.append(asked[0])
    assert (counted[0] == counted[1]) == (not weighted or not alike)
    for group, some in enumerate((rows["z"] <= 0, rows["z"] > 0)):
        own = None if weights is None else weights[some]
        alone = rhale.explain(model, rows[some], weights=own, **settings)
        for name in ("x", "k"):
            found, wanted = fx[name].regions[group].effect, alone[name]
            np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-9)
            np.testing.assert_allclose(found.std, wanted.std, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(found.count, wanted.count)
            assert found.importance == pytest.approx(wanted.importance, rel=1e-9)


@pytest.mark.parametrize("asked", [Regions(), rhale.By("z", cuts=[0.5])], ids=["Regions", "By"])
@pytest.mark.parametrize("kind", ["gradient", "ale", "trees"])
def test_given_limits_stay_as_they_are_inside_regions(kind, asked):
    """As when the rows of a region are explained alone; the limits go beyond all rows."""
    rng = np.random.default_rng(3)
    z = (rng.random(1_500) < 0.5).astype(float)
    x = rng.normal(size=1_500) + 2 * z
    rows = pd.DataFrame({"x": x, "z": z})

    def bent(rows):
        return np.where(rows["z"] > 0.5, rows["x"], -(rows["x"] ** 2)).astype(float)

    def slope(rows):
        own = np.where(rows["z"] > 0.5, 1.0, -2 * rows["x"])
        return np.column_stack([own, np.zeros(len(rows))])

    model, more = bent, {"gradient": {"gradient": slope}, "ale": {"method": "ale"}}.get(kind, {})
    if kind == "trees":
        model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(rows, bent(rows))
    limits = [-9.0, -1.0, 0.0, 1.5, 9.0]
    bins = rhale.Edges(limits)
    fx = rhale.explain(model, rows, features=["x"], bins=bins, regions=asked, **more)
    assert len(fx["x"].regions) == 2
    for region, some in zip(fx["x"].regions, (z < 0.5, z > 0.5), strict=True):
        alone = rhale.explain(model, rows[some], features=["x"], bins=bins, **more)["x"]
        assert region.effect.edges.tolist() == alone.edges.tolist() == limits
        np.testing.assert_allclose(region.effect.curve(limits), alone.curve(limits), atol=1e-9)
        assert region.effect.importance == pytest.approx(alone.importance, rel=1e-9)


def test_jumps_of_several_divisions_are_kept_apart():
    base, grouped, asker, columns = opened(TREES, "a")
    rules = (Rule(1, np.inf, first=1, second=-3), Rule(1, 0.4, first=-1, second=-2))
    known = GroupingRules(rules, columns.splitters, 2)  # rows without a value are nobody's
    more = take_parts(base, 1, 0, [base.feature.axis] * 2)
    both = replace(grouped, divisions=(*grouped.divisions, known), parts=(*grouped.parts, *more))
    found = summed(both, asker, columns).totals[0].totals
    b = TABLE["b"].to_numpy()
    for total, some in zip(found, (BELOW, ~BELOW, b <= 0.4, b > 0.4), strict=True):
        wanted = summed(base, asker, columns, some).totals[0].sums
        for name in ("jumps", "near", "row_shares"):
            np.testing.assert_array_equal(getattr(total.sums, name), getattr(wanted, name), name)
