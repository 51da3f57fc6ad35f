"""The measure of walked trees: what is asked, added up and concluded."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tests.unit.effects.askers import asker_for, no_sampled, rows_of

import rhale
from rhale.data import open_table
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.fit import bin_all
from rhale.effects.jumps import find_near, near_share
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.measure import MeasureContext, MeasureTask, split_sample_columns, with_bins
from rhale.effects.local.tree_steps import JumpEffects
from rhale.features.feature import FirstPass
from rhale.settings import Settings

ALL_KEYS = np.uint64(2**64 - 1)
RNG = np.random.default_rng(3)
X = np.column_stack([RNG.uniform(0, 8, 400), RNG.normal(size=400)])
STUMP = GradientBoostingRegressor(n_estimators=1, max_depth=1, learning_rate=1.0, init="zero").fit(
    X, 6.0 * (X[:, 0] >= 5)
)


def measured(rows=X, model=STUMP, weights=None, **asked):
    table = open_table(rows, weights=weights)
    settings = Settings(features=0, **asked)
    first = FirstPass.plan(table, settings)
    chunk = table.chunk(0, table.n_rows)
    columns = first.resolve_columns(first.task(chunk))
    asker = asker_for(model, chunk, table.names)
    measure = choose_measures(columns, asker, settings).measures[0]
    task = MeasureTask(asker, (measure,), ALL_KEYS, 0, columns.survey.weight)
    return measure, columns, asker, task, chunk


def concluded(measure, columns, asker, sums):
    sample = split_sample_columns(sums.sample, 1, (measure,))
    about = MeasureContext(
        columns.survey, asker.outputs, (), sample.weight, ALL_KEYS, None, sample.of_measure(0)
    )
    return next(with_bins([measure.conclude(sums.totals[0], sample.kept[0], about)]))


def test_a_stump_jumps_where_it_splits_and_nowhere_else():
    measure, columns, asker, task, chunk = measured()
    assert isinstance(measure, JumpEffects)
    (effect,) = concluded(measure, columns, asker, task(chunk)).results
    above, below = X[X[:, 0] >= 5, 0].min(), X[X[:, 0] < 5, 0].max()
    (place,) = effect.stairs.places
    assert below < place <= above
    np.testing.assert_allclose(effect.stairs.jumps, [6.0], rtol=1e-12)
    share = np.mean(X[:, 0] >= 5)
    np.testing.assert_allclose(effect.curve([0.0, 8.0]), [-6 * share, 6 * (1 - share)], rtol=1e-12)
    np.testing.assert_allclose(effect.importance, 6 * np.sqrt(share * (1 - share)))
    np.testing.assert_array_equal(effect.std, 0.0)


def test_rows_without_a_value_or_outside_the_limits_count_nowhere():
    rows = X.copy()
    rows[::7, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0])
    measure, *_, task, chunk = measured(rows, model, limits=(2.0, 7.0))
    sums = task(chunk).totals[0].sums
    inside = (rows[:, 0] >= 2) & (rows[:, 0] <= 7)
    np.testing.assert_allclose(sums.row_shares.sum() / 2.0**61, inside.sum() / 512)
    (asked,) = measure.questions(rows_of(chunk)).jumps
    np.testing.assert_array_equal(asked.mark >= 0, inside)


def test_totals_of_halves_add_up_to_the_total():
    *_, task, chunk = measured()
    whole = task(chunk).totals[0]
    halves = [task(chunk.take(np.arange(k, 400, 2))).totals[0] for k in (0, 1)]
    both = halves[0] + halves[1]
    np.testing.assert_array_equal(both.sums.jumps, whole.sums.jumps)
    np.testing.assert_array_equal(both.sums.near, whole.sums.near)
    np.testing.assert_allclose(both.cells.mean, whole.cells.mean, atol=1e-12)


def test_rows_of_a_cell_share_their_windows():
    measure, *_, chunk = measured()
    cell = measure.cells.grid.locate(X[:, 0])
    (asked,) = measure.questions(rows_of(chunk)).jumps
    for k in np.unique(cell):
        for ends in asked.marks.window:
            assert len(set(ends[asked.mark[cell == k]])) == 1


@pytest.mark.parametrize("bins", [None, rhale.Fixed(7, closed="right"), rhale.Quantile(9)])
@pytest.mark.parametrize("limits", [None, (1.0, 6.5)])
def test_what_is_asked_is_that_of_every_row_by_itself(bins, limits):
    """Also of rows that stand on a threshold, on a limit, at an end, or nowhere."""
    trees = HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=5).fit(X, np.sin(X[:, 0]))
    measure, *_ = measured(X, trees, bins=bins, limits=limits)
    grid, places = measure.cells.grid, measure.places
    special = [places.places, places.starts, places.stops, *places.inner]
    special += [grid.edges, [np.nan, -99.0, 99.0]]
    x = np.concatenate(
        [X[:, 0], *special, *(np.nextafter(v, d) for v in special for d in (-9, 99))]
    )
    rows = np.column_stack([x, np.zeros(x.size)])
    (asked,) = measure.questions(rows_of(open_table(rows).chunk(0, x.size))).jumps
    inside = (x >= grid.edges[0]) & (x <= grid.edges[-1])
    np.testing.assert_array_equal(asked.mark >= 0, inside)
    marks, mark, x = asked.marks, asked.mark[inside], x[inside]
    np.testing.assert_array_equal(marks.position[mark], (places.places <= x[:, None]).sum(axis=1))
    np.testing.assert_array_equal(np.array(marks.near)[:, mark], places.serve(x))
    np.testing.assert_array_equal(np.array(marks.inner)[:, mark], places.serve_inner(x))
    expected = np.array(measure.window.ends(grid.middles))[:, grid.locate(x)]
    np.testing.assert_array_equal(np.array(marks.window)[:, mark], expected)
    starts, stops = expected[..., None]
    inner = (places.places > starts) & (places.places < stops)
    assert_reached(
        np.arange(places.n_cells), inner, places.serve(x), np.array(marks.reach)[:, mark]
    )


def assert_reached(cells, inner, near, reach):
    """All cells inside a window or near a row are reached, and none before or behind these."""
    seen = inner | ((cells >= near[0][:, None]) & (cells < near[1][:, None]))
    for own, first, last in zip(seen, *reach, strict=True):
        assert (
            (first, last) == (cells[own].min(), cells[own].max() + 1)
            if own.any()
            else first >= last
        )


def test_what_is_seen_of_a_row_is_the_slope_of_its_own_staircase():
    """A jump of 6 at u in a window of half width h: 6 · ¾ (1 - u²) / h."""
    measure, columns, asker, task, chunk = measured()
    (effect,) = concluded(measure, columns, asker, task(chunk)).results
    cell = measure.cells.grid.locate(effect.sample.x)
    starts, stops = (ends[cell] for ends in measure.window.ends(measure.cells.grid.middles))
    half, place = (stops - starts) / 2, effect.stairs.places[0]
    u = (place - (starts + stops) / 2) / half
    expected = 6 * 0.75 * np.maximum(1 - u**2, 0) / half
    np.testing.assert_allclose(effect.sample.local_effects, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("asked", "way"),
    [
        ({"method": "ale"}, "effects measured by finite differences over the bin of each row"),
        ({"window": 0.3}, "averaged over the nearest 30 % of rows"),
        ({}, "exact tree jumps, averaged over the nearest 14 % of rows"),
    ],
)
def test_the_way_is_told(asked, way):
    fx = rhale.explain(STUMP, X, features=[0], **asked)
    assert way in next(iter(fx.provenance["local_effects"].values()))


def test_a_feature_without_thresholds_has_a_flat_curve():
    effect = rhale.explain(STUMP, X, features=[1])[0]
    assert effect.stairs.n_places == 0
    np.testing.assert_array_equal(effect.curve([-1.0, 1.0]), 0.0)
    np.testing.assert_array_equal(effect.ci([-1.0, 1.0]), 0.0)
    assert (effect.importance, effect.typical_spread) == (0.0, 0.0)


def test_thresholds_that_are_too_many_are_taken_together_and_that_is_told():
    # rows that the trees have not learned: beside its own leaf a row of theirs jumps by less
    learned, rows = RNG.normal(size=(2, 3000, 2))
    model = ExtraTreesRegressor(3, random_state=0).fit(learned, learned[:, 0] + learned[:, 1] ** 2)
    effect = rhale.explain(model, rows, features=[0])[0]
    assert effect.stairs.n_places <= 1000
    told = next(note for note in effect.notes if note.kind == "merged jumps")
    assert told.endswith(f"close ones are merged to {effect.stairs.n_places:,} places")
    ends = rows.copy(), rows.copy()
    low, high = np.quantile(rows[:, 0], [0.4, 0.6])
    ends[0][:, 0], ends[1][:, 0] = low, high
    change = np.mean(model.predict(ends[1]) - model.predict(ends[0]))
    assert np.diff(effect.curve([low, high]))[0] == pytest.approx(change, abs=0.05)


def test_importance_that_depends_on_the_cut_of_the_axis_is_noted_and_its_error_counts_that():
    """sign(x1) where |x2| < .015, x2 being x1 and noise of .02: only rows beside 0 jump.

    At 0.005, where the tree jumps, they are Phi(.5) - Phi(-1) = .533 of the rows, and .533 is the
    importance. Most of a tenth of the rows are farther away and do not jump.
    """
    grid = np.linspace(-1, 1, 201)
    learned = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    model = DecisionTreeRegressor().fit(
        learned, np.sign(learned[:, 0]) * (np.abs(learned[:, 1]) < 0.015)
    )
    truth, told = 0.533, []
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1, 1, 1000)
        rows = np.column_stack([x, x + 0.02 * np.random.default_rng(seed + 9).normal(size=1000)])
        found = rhale.explain(model, rows, features=[0])[0]
        assert abs(found.importance - truth) < 2 * found.importance_error
        assert 0.1 < found.importance < 1
        told += [str(note) for note in found.local_notes if note.kind == "cuts"]
        # a share that the user gives is one cut, whose error is that of chance alone
        alike = rhale.explain(model, rows, features=[0], window=0.1)[0]
        assert alike.importance + 4 * alike.importance_error < truth
        assert not any(note.kind == "cuts" for note in alike.local_notes)
    assert len(told) == 3
    for text in told:
        of_all, of_nearest = map(float, re.findall(r"0\.\d+", text))
        assert of_all < 0.2
        assert 0.25 < of_nearest < 0.6


def test_an_effect_that_is_alike_by_any_cut_has_no_note_of_cuts():
    for rows in (RNG.normal(size=(300, 2)), RNG.normal(size=(3000, 2))):
        model = HistGradientBoostingRegressor(max_iter=20).fit(rows, rows[:, 0] * (1 + rows[:, 1]))
        for effect in rhale.explain(model, rows).values():
            assert not any(note.kind == "cuts" for note in effect.local_notes)


# --- regions -------------------------------------------------------------------------------------

STAIRS = HistGradientBoostingRegressor(max_iter=9, max_leaf_nodes=6, random_state=0).fit(
    X, np.floor(X[:, 0]) * np.where(X[:, 1] > 0, 2.0, -1.0)
)


def test_a_region_has_the_places_inside_it_and_its_own_rows_near_them():
    measure, columns, asker, task, chunk = measured(model=STAIRS, regions=True)
    cuts = measure.places.places
    low, high = (cuts[1] + cuts[2]) / 2, cuts[-2]  # up to a place itself
    axis = FeatureAxis(low, high, np.linspace(low, high, 50), np.ones(50), 50.0)
    own = measure.in_region(axis)
    near = find_near(axis, cuts, near_share(50.0))
    np.testing.assert_array_equal([own.places.starts, own.places.stops], near)
    inner = find_near(axis, cuts, near_share(50.0) / 4, 10)
    np.testing.assert_array_equal(own.places.inner, inner)
    assert own.window is measure.window
    assert own.nearby is measure.nearby
    total = replace(task, measures=(own,))(chunk).totals[0]
    none = no_sampled(own)
    about = MeasureContext(
        columns.survey, asker.outputs, (), none.weight, np.uint64(0), sampled=none
    )
    ((effect,),) = bin_all([own.conclude_region(total, none.kept, about, 0)])
    np.testing.assert_array_equal(effect.stairs.places, cuts[2:-1])


def test_the_share_of_rows_near_a_place_is_that_of_the_user():
    measure, *_ = measured(model=STAIRS, regions=True, window=0.3)
    axis = FeatureAxis(1.0, 6.0, np.linspace(1.0, 6.0, 80), np.ones(80), 80.0)
    own = measure.in_region(axis).places
    np.testing.assert_array_equal(own.starts, find_near(axis, own.places, 0.3)[0])
    assert own.inner is None  # rows that the user asks for are averaged alike


def test_regions_are_to_tell_secants_over_places_near_apart():
    measure, columns, asker, task, chunk = measured(model=STAIRS, regions=True)
    sample = split_sample_columns(task(chunk).sample, 1, (measure,))
    total = task(chunk).totals[0]
    about = MeasureContext(columns.survey, asker.outputs, (), sample.weight, ALL_KEYS)
    rows = sample.of_measure(0)
    (target,) = measure.conclude(
        total, sample.kept[0], replace(about, searched=rows, sampled=rows)
    ).targets
    places = measure.nearby.places
    own = np.argmin(np.abs(places.values[:, None] - target.x), axis=0)
    ends = places.values[places.first[own]], places.values[places.last[own]]
    other = dict(X)  # the other feature of every row, by its value of this one
    moved = [np.column_stack([end, [other[x] for x in target.x]]) for end in ends]
    change = STAIRS.predict(moved[1]) - STAIRS.predict(moved[0])
    np.testing.assert_allclose(target.effects, change / (ends[1] - ends[0]), atol=1e-12)
    assert target.row.size == len(X)
    for k in np.unique(own):
        mean = target.effects[own == k].mean()
        np.testing.assert_allclose(target.shared[own == k], mean, atol=1e-12)


def test_a_region_of_one_row_has_no_effect():
    measure, columns, asker, task, chunk = measured(model=STAIRS, regions=True)
    about = MeasureContext(columns.survey, asker.outputs, (), np.ones(1), np.uint64(2**64 - 1))
    one = task(chunk.take(np.arange(1)))
    assert measure.conclude_region(one.totals[0], np.empty((0, 2)), about, 0) is None


def noisy_rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, 5))
    return rows, 4 * rows[:, 0] + 2 * np.sin(6 * rows[:, 1]) + rng.normal(size=n_rows)


def few_rows_notes(fx):
    return [
        effect.name
        for effect in fx.values()
        if any(n.kind == "few rows jump" for n in effect.notes)
    ]


def friedman(n_rows, seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, 7))
    target = 10 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20 * (rows[:, 2] - 0.5) ** 2
    return rows, target + 10 * rows[:, 3] + 5 * rows[:, 4] + rng.normal(size=n_rows)


def test_trees_deeper_than_the_rows_can_carry_keep_their_own_curve_beside_rows_they_remember():
    rows, target = friedman(600, 0)
    deep = GradientBoostingRegressor(n_estimators=30, max_depth=14, learning_rate=0.3)
    deep.set_params(random_state=0).fit(rows, target)
    ours = rhale.explain(deep, rows, features=[0, 2, 4, 5])
    # brute force: how predictions of rows that it did not learn from change over whole bins
    other, edges = friedman(4000, 50)[0], np.linspace(0.0, 1.0, 21)
    off = []
    for name, column in (("x0", 0), ("x2", 2), ("x4", 4)):
        place = np.minimum(np.floor(other[:, column] * 20).astype(int), 19)
        low, high = other.copy(), other.copy()
        low[:, column], high[:, column] = edges[place], edges[place + 1]
        change = deep.predict(high) - deep.predict(low)
        steps = np.bincount(place, change) / np.bincount(place)
        theirs = np.append(0.0, np.cumsum(steps))[1:-1]
        off.append(np.std(ours[name].curve(edges[1:-1]) - theirs) / np.std(theirs))
    assert max(off) < 0.25  # .34, were the nearest rows believed where halves of them disagree
    assert "x5" in few_rows_notes(ours)  # does nothing, and what it does was remembered


def test_trees_that_fit_the_rows_are_not_told_to_be_too_deep():
    rows, target = noisy_rows(500, 2)
    model = HistGradientBoostingRegressor(max_iter=60, min_samples_leaf=20).fit(rows, target)
    assert few_rows_notes(rhale.explain(model, rows)) == []
