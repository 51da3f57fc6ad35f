"""Rows that are moved to places near their own: which, where to, and what follows from it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from tests.jumps_by_hand import axis_of
from tests.unit.effects.askers import asker_for, sampled_rows

import rhale
from rhale.data import open_table
from rhale.effects.local.choose import choose_measures
from rhale.effects.local.measure import (
    MeasureContext,
    MeasuredChunk,
    MeasureSample,
    MeasureTask,
    split_sample_columns,
    with_bins,
)
from rhale.effects.local.nearby import MovedRows, Nearby, place_levels
from rhale.effects.spread import Places, choose_spread_positions, measure_spread
from rhale.features.categories import Levels
from rhale.features.feature import FirstPass
from rhale.settings import Settings
from rhale.stats.sampling import MAX_ROW_HASH, collect

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1_500, 3))


def slopes(rows):
    """Gradient of `product`."""
    return np.column_stack([rows[:, 1], rows[:, 0] + 0 * rows[:, 1], np.cos(rows[:, 2])])


def product(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 2])


def stepped(rows):
    return np.floor(4 * rows[:, 0]) * rows[:, 1] + np.floor(3 * rows[:, 2])


FOREST = RandomForestRegressor(10, max_depth=5, random_state=0).fit(X, product(X))
WAYS = {
    "gradients": (product, {"gradient": slopes}),
    "a smooth black box": (product, {}),
    "a black box with steps": (stepped, {}),
    "walked trees": (FOREST, {}),
}
SPREAD = ("places", "shares", "covariance", "error", "first", "last", "x", "rows")


def spreads(results):
    return [getattr(effect.row_spread, name) for effect in results for name in SPREAD]


def assert_same_bits(one, other):
    for ours, theirs in zip(spreads(one), spreads(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def centred_ice(predict, rows, column):
    """Root mean square over the rows of how far their curves lie apart, each centred by itself."""
    at = rows[:: max(len(rows) // 300, 1), column]
    curves = []
    for value in at:
        moved = rows.copy()
        moved[:, column] = value
        curves.append(predict(moved))
    curves = np.array(curves).T
    return np.sqrt(np.mean((curves - curves.mean(axis=1, keepdims=True)).var(axis=0)))


# --- laws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_rows_chunks_and_threads_changes_no_bit(way):
    model, ask = WAYS[way]
    whole = rhale.explain(model, X, **ask)
    assert whole["x0"].typical_spread > 0.1
    order = np.random.default_rng(1).permutation(len(X))
    assert_same_bits(rhale.explain(model, X[order], **ask).values(), whole.values())
    assert_same_bits(rhale.explain(model, X, batch_size=97, **ask).values(), whole.values())
    assert_same_bits(
        rhale.explain(model, X, batch_size=200, n_jobs=2, **ask).values(), whole.values()
    )


def test_of_many_rows_the_same_are_moved_in_whatever_order_they_come():
    rows = np.random.default_rng(2).normal(size=(5_000, 3))
    whole = rhale.explain(product, rows, gradient=slopes)
    for changed, ask in ((rows[::-1], {}), (rows, {"batch_size": 333})):
        assert_same_bits(
            rhale.explain(product, changed, gradient=slopes, **ask).values(), whole.values()
        )


@pytest.mark.parametrize("way", ["gradients", "a smooth black box", "a black box with steps"])
def test_scaling_the_output_by_a_power_of_two_scales_the_spread_exactly(way):
    model, ask = WAYS[way]
    if "gradient" in ask:
        ask = {"gradient": lambda rows: 8 * slopes(rows)}
    one = rhale.explain(model, X, **WAYS[way][1])
    other = rhale.explain(lambda rows: 8 * model(rows), X, **ask)
    for ours, theirs in zip(one.values(), other.values(), strict=True):
        np.testing.assert_array_equal(64 * ours.row_spread.covariance, theirs.row_spread.covariance)
        assert 8 * ours.typical_spread == theirs.typical_spread
        assert 8 * ours.typical_spread_error == theirs.typical_spread_error
        x = np.linspace(-1, 1, 9)
        np.testing.assert_array_equal(8 * ours.spread(x), theirs.spread(x))


def test_scaling_the_feature_scales_its_places_exactly_and_no_spread():
    """Rows have other keys, and so another order, where their values are others: to rounding."""
    scale = np.array([16.0, 1.0, 1.0])
    one = rhale.explain(product, X)["x0"]
    other = rhale.explain(lambda rows: product(rows / scale), X * scale)["x0"]
    np.testing.assert_array_equal(other.row_spread.places, 16 * one.row_spread.places)
    np.testing.assert_array_equal(other.row_spread.first, one.row_spread.first)
    np.testing.assert_allclose(other.row_spread.covariance, one.row_spread.covariance, rtol=1e-9)
    x = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(other.spread(16 * x), one.spread(x), rtol=1e-9)


@pytest.mark.parametrize("way", ["a smooth black box", "a black box with steps"])
def test_adding_a_function_of_other_features_changes_nothing(way):
    model, ask = WAYS[way]

    def more(rows):
        return model(rows) + 5 * np.cos(rows[:, 1] * rows[:, 2]) + np.floor(rows[:, 1])

    one, other = (rhale.explain(f, X, features=[0], **ask)["x0"] for f in (model, more))
    np.testing.assert_allclose(
        other.row_spread.covariance, one.row_spread.covariance, rtol=1e-9, atol=1e-9
    )
    assert other.typical_spread == pytest.approx(one.typical_spread, rel=1e-9)


ADDITIVE = {
    "linear": lambda rows: 0.1 * rows[:, 0] - 0.7 * rows[:, 1] + rows[:, 2] / 3,
    "curved": lambda rows: np.exp(rows[:, 0]) + np.sin(3 * rows[:, 1]) + rows[:, 2] ** 3,
    "with steps": lambda rows: np.floor(7 * rows).sum(axis=1) / 7 + np.sign(rows[:, 0]),
}


@pytest.mark.parametrize("name", [*ADDITIVE, "stumps"])
def test_an_additive_model_has_exactly_none(name):
    stumps = GradientBoostingRegressor(n_estimators=80, max_depth=1, random_state=0)
    model = ADDITIVE[name] if name in ADDITIVE else stumps.fit(X, product(X))
    for effect in rhale.explain(model, X).values():
        assert effect.typical_spread == 0.0
        x = np.quantile(X, np.linspace(0, 1, 21))
        for center in ("mean", "start", "uniform"):
            assert effect.spread(x, center=center).max() <= 1e-9 * effect.importance


def test_a_product_of_independent_features_has_the_product_of_their_deviations():
    expected = X[:, 0].std() * X[:, 1].std()
    for way in ("gradients", "a smooth black box"):
        model, ask = WAYS[way]
        fx = rhale.explain(model, X, **ask)
        for name in ("x0", "x1"):
            assert fx[name].typical_spread == pytest.approx(expected, rel=0.06)
            error = fx[name].typical_spread_error
            assert 0.01 * expected < error < 0.15 * expected


@pytest.mark.parametrize("way", ["a black box with steps", "walked trees"])
def test_of_independent_features_it_is_centred_ice(way):
    model, ask = WAYS[way]
    predict = getattr(model, "predict", model)
    fx = rhale.explain(model, X, **ask)
    for column, name in enumerate(("x0", "x1")):
        expected = centred_ice(predict, X, column)
        assert fx[name].typical_spread == pytest.approx(expected, rel=0.15)


def test_whole_numbers_that_turn_at_every_step_do_not_add_up():
    """Parity times a sign: rows lie half of one apart, wherever they stand."""
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.integers(0, 50, 2_000), rng.choice([-1.0, 1.0], 2_000)])
    effect = rhale.explain(lambda r: r[:, 0] % 2 * r[:, 1], rows.astype(float), features=[0])["x0"]
    assert effect.typical_spread == pytest.approx(0.5, rel=0.35)


def test_a_gate_at_a_value_that_many_rows_share_is_seen():
    """A third of the rows stand at 0, and jump by z behind it: sd(z) root(p (1 - p)), p = 1/3."""
    rng = np.random.default_rng(4)
    x = np.repeat([-1.0, 0.0, 1.0], 700) * rng.uniform(0.5, 1, 2_100)
    rows = np.column_stack([x, rng.normal(size=2_100)])
    effect = rhale.explain(lambda r: (r[:, 0] > 0) * r[:, 1], rows, features=[0])["x0"]
    assert effect.typical_spread == pytest.approx(rows[:, 1].std() * np.sqrt(2 / 9), rel=0.05)


@pytest.mark.parametrize("way", WAYS)
def test_curves_of_shown_rows_are_those_of_the_model_between_the_places_they_were_moved_to(way):
    model, ask = WAYS[way]
    predict = getattr(model, "predict", model)
    fx = rhale.explain(model, X, **ask)
    for column, effect in enumerate(fx.values()):
        places = effect.row_spread.places
        for center in ("mean", "start", "uniform"):
            shown = effect.row_curves(center=center)
            assert shown.heights.shape == (100, places.size)
            np.testing.assert_array_equal(shown.x, fx.sample_x[shown.row, column])
        for row, heights, first, last in zip(
            shown.row[:20], shown.heights, shown.first, shown.last, strict=False
        ):
            moved = np.repeat(fx.sample_x[[row]], last - first + 1, axis=0)
            moved[:, column] = places[first : last + 1]
            np.testing.assert_allclose(
                np.diff(heights[first : last + 1]), np.diff(predict(moved)), atol=1e-9
            )
            assert places[first] <= fx.sample_x[row, column] <= places[last]


# --- rows that are moved -----------------------------------------------------------------------


def test_rows_are_asked_only_at_places_near_their_own():
    asked = []

    def model(rows):
        asked.append(rows.copy())
        return product(rows)

    effect = rhale.explain(model, X, features=[0], method="ale", bins=4)["x0"]
    places = effect.row_spread.places
    own = {row[1]: row[0] for row in X}
    seen = np.concatenate(asked)
    moved = seen[np.isin(seen[:, 0], places[1:-1])]
    assert moved.shape[0] >= 5 * len(X)
    nearest = places[np.argmin(np.abs(places - np.array([[own[z]] for z in moved[:, 1]])), axis=1)]
    steps = np.abs(np.searchsorted(places, moved[:, 0]) - np.searchsorted(places, nearest))
    assert steps.max() == 3  # an eighth of the rows


def test_a_black_box_with_steps_is_asked_three_times_a_row_and_fourteen_thousand_times_beside():
    rows, asked = np.random.default_rng(0).normal(size=(30_000, 2)), []

    def model(rows):
        asked.append(len(rows))
        return np.floor(4 * rows[:, 0]) * rows[:, 1]

    rhale.explain(model, rows, features=[0], partners=False)
    # every other row by its key is not exactly half of them; first questions, probe, sample
    chance, beside = 3 * np.sqrt(30_000), 2_000 + 48 + 3 * 1_500
    assert sum(asked) <= 3 * 30_000 + 14_000 + chance + beside


def test_equal_rows_are_asked_about_once():
    rows, asked = np.repeat(X[:150], 10, axis=0), []

    def model(rows):
        asked.append(len(rows))
        return product(rows)

    effect = rhale.explain(model, rows, features=[0], gradient=slopes)["x0"]
    n_asked = int((effect.row_spread.last - effect.row_spread.first).max()) + 1
    assert 150 * n_asked in asked
    once = rhale.explain(product, X[:150], features=[0], gradient=slopes)["x0"]
    assert effect.typical_spread == pytest.approx(once.typical_spread, rel=0.1)


def settled(rows, **asked):
    """Columns of a table, and the measure of the first."""
    table = open_table(rows)
    plan = Settings(features=0, **asked)
    first = FirstPass.plan(table, plan)
    return table, first.resolve_columns(first.task(table.chunk(0, table.n_rows))), plan


@pytest.mark.parametrize("model", [stepped, product, FOREST], ids=["steps", "smooth", "trees"])
def test_two_halves_of_the_rows_give_what_the_whole_gives(model):
    table, columns, plan = settled(X)
    chunk = table.chunk(0, len(X))
    asker = asker_for(model, chunk, table.names)
    measure = choose_measures(columns, asker, plan).measures[0]
    task = MeasureTask(asker, (measure,), MAX_ROW_HASH, 0, columns.survey.weight)
    halves = [task(chunk.take(np.arange(k, len(X), 2))) for k in (0, 1)]
    found = []
    for sums in (task(chunk), halves[0] + halves[1], halves[1] + halves[0]):
        sample = split_sample_columns(sums.sample, 1, (measure,))
        known = columns.survey, asker.outputs, (), sample.weight, MAX_ROW_HASH
        about = MeasureContext(*known, sampled=sample.of_measure(0))
        made = measure.conclude(sums.totals[0], sample.kept[0], about)
        found.append(next(with_bins([made])).results)
    for other in found[1:]:
        assert_same_bits(other, found[0])


def test_the_error_of_numbers_counts_where_places_happen_to_lie():
    """The jackknife's error, and a fiftieth of the spread, as two that are independent."""
    near, n_rows = nearby(X[:, 0]), len(X)
    own = near.places.locate(X[:, 0])
    around = near.places.around(own).T
    increments = X[:, 1, None] * np.diff(near.places.values[around], axis=1)
    key = np.random.default_rng(0).integers(0, 2**63, n_rows).astype(np.uint64)
    alone = measure_spread(
        near.places, own, increments, np.ones(n_rows), (key % 32).astype(int), one=1.0
    )
    order = np.argsort(key)
    kept = np.column_stack([X[:, 0], increments])[order]
    about = SimpleNamespace(
        sampled=MeasureSample(kept, np.ones(n_rows), key[order]),
        survey=SimpleNamespace(weight_squares=1.0 * n_rows, weight=1.0 * n_rows),
        weight=np.ones(70),
    )
    found = near.conclude(about, 0)
    np.testing.assert_allclose(found.covariance, alone.covariance, rtol=1e-9)
    assert found.error == pytest.approx(np.hypot(alone.error, alone.typical / 50), rel=1e-6)
    np.testing.assert_array_equal(found.x, X[order[:70], 0])  # no more than the result keeps
    np.testing.assert_array_equal(found.rows, increments[order[:70]])
    few = replace(near, last_key=key[order[0]])
    assert few.conclude(about, 0) is None


def test_how_many_rows_are_moved_follows_from_answers_and_memory():
    def n_moved(n_asked, n_features=1, n_outputs=1):
        levels = Levels(tuple(map(str, range(n_asked))), np.arange(float(n_asked)), has_order=False)
        sample = collect(
            np.arange(5_000, dtype=np.uint64), np.zeros((5_000, 1)), np.ones(5_000), size=9_000
        )
        columns = SimpleNamespace(survey=SimpleNamespace(sample=sample), features=[0] * n_features)
        feature = SimpleNamespace(levels=levels, place=0)
        made = Nearby.of(feature, columns, n_outputs, every=False)
        assert made.last_key == made.n_rows - 1  # those with the smallest keys
        assert made.n_kept == n_outputs * (n_asked - 1)
        return made.n_rows

    assert n_moved(7) == 2_000
    assert n_moved(20) == 14_000 // 20
    assert n_moved(100) == 200
    assert n_moved(8, n_features=100, n_outputs=40) == 2**24 // (100 * 40 * 8)


def nearby(x, **fields):
    feature = SimpleNamespace(column=0, levels=None, axis=axis_of(x))
    return Nearby(feature, choose_spread_positions(feature.axis), 1, **fields)


def test_rows_without_a_value_stay_as_they_are_and_tell_nothing():
    rows = X[:80].copy()
    rows[::4, 0] = np.nan
    chunk = open_table(rows).chunk(0, 80)
    asker, near = asker_for(lambda r: product(np.nan_to_num(r)), chunk), nearby(rows[:, 0])
    some = sampled_rows(chunk)
    aside = near.ask(some)
    assert all(np.isnan(values[::4]).all() for _, values in aside.changes)
    kept = near.keep(some, asker.ask(chunk, aside.changes))
    sampled = MeasureSample(np.column_stack([rows[:, 0], kept]), np.ones(80), some.key)
    found = near.read(sampled, 0)
    assert found.row.tolist() == [k for k in range(80) if k % 4]
    np.testing.assert_array_equal(found.x, rows[found.row, 0])
    around = near.places.around(found.place).T
    expected = rows[found.row, 1, None] * np.diff(near.places.values[around], axis=1)
    np.testing.assert_allclose(found.increments, expected, atol=1e-12)


def test_rows_beyond_limits_or_without_a_weight_are_not_read():
    near = nearby(np.linspace(0, 1, 40))
    kept = np.zeros((4, 1 + near.n_kept))
    kept[:, 0] = [0.5, 1.5, -0.1, 0.7]
    sampled = MeasureSample(kept, np.array([1.0, 1.0, 1.0, 0.0]), np.arange(4, dtype=np.uint64))
    assert near.read(sampled, 0).row.tolist() == [0]


def test_numbers_of_a_column_are_asked_as_it_can_hold_them():
    seen = []

    def model(rows):
        seen.append(rows["a"].to_numpy().astype(float))
        return rows["a"].to_numpy() * 1.0 * rows["b"].to_numpy()

    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.integers(0, 900, 800), "b": rng.normal(size=800)})
    effect = rhale.explain(model, rows, features=["a"])["a"]
    values = np.concatenate(seen)
    assert np.array_equal(values, np.rint(values))
    assert effect.typical_spread == pytest.approx(rows["a"].std() * rows["b"].std(), rel=0.08)


def test_all_rows_that_are_searched_are_moved_where_a_model_with_steps_is():
    key = np.arange(50, dtype=np.uint64)
    rows = MeasuredChunk(open_table(X[:50]).chunk(0, 50), key, np.arange(0, 50, 2))
    assert nearby(X[:50, 0], last_key=np.uint64(10)).moved(rows)[0].tolist() == [0, 2, 4, 6, 8, 10]
    every = nearby(X[:50, 0], last_key=np.uint64(10), every=True)
    assert every.moved(rows)[0].tolist() == list(range(0, 50, 2))


def test_who_differs_is_not_changed_by_a_search_for_regions():
    plain = rhale.explain(stepped, X, features=[0])["x0"]
    searched = rhale.explain(stepped, X, features=[0], regions=True)["x0"]
    for name in SPREAD:
        ours, theirs = (getattr(one.row_spread, name) for one in (searched, plain))
        np.testing.assert_array_equal(ours, theirs)


# --- levels ----------------------------------------------------------------------------------------


def test_levels_in_order_are_near_by_their_ranks_and_others_all():
    names = tuple(f"level {k:02}" for k in range(40))
    codes, weight = np.repeat(np.arange(40.0), 10), np.ones(400)
    ordered = place_levels(Levels(names, np.arange(40.0)), codes, weight)
    reach = ordered.last - np.arange(40)
    assert reach[:35].tolist() == [5] * 35  # an eighth of 40 levels
    assert ordered.n_asked == 11
    free = place_levels(Levels(names, np.arange(40.0), has_order=False), codes, weight)
    assert (free.first.tolist(), free.last.tolist()) == ([0] * 40, [39] * 40)


def test_a_step_of_an_ordered_category_is_measured_as_rows_differ():
    """Worth 0, 1, 3 and 6 times a number of deviation s: curves s times these, centred."""
    rng = np.random.default_rng(5)
    names, worth = ["low", "mid", "high", "top"], np.array([0.0, 1.0, 3.0, 6.0])
    rows = pd.DataFrame(
        {
            "size": pd.Categorical(rng.choice(names, 1_000), names, ordered=True),
            "z": rng.normal(size=1_000),
        }
    )

    def model(table):
        return worth[table["size"].cat.codes.to_numpy()] * table["z"].to_numpy()

    effect = rhale.explain(model, rows, features=["size"])["size"]
    assert effect.has_order
    shares = rows["size"].value_counts(normalize=True)[names].to_numpy()
    expected = rows["z"].std() * np.abs(worth - shares @ worth)
    np.testing.assert_allclose(effect.spread(), expected, rtol=0.05)


# --- roughness -------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_way", [False, True])
def test_roughness_is_one_of_steps_by_themselves_and_less_of_those_that_go_one_way(one_way):
    """Six steps of variance 1: sums of variance 6 or 36, so that 6 / 6 or 6 / 36."""
    rng = np.random.default_rng(0)
    n_rows, places = 20_000, Places(np.arange(7.0), np.zeros(7, int), np.full(7, 6))
    steps = (
        np.repeat(rng.normal(size=(n_rows, 1)), 6, 1) if one_way else rng.normal(size=(n_rows, 6))
    )
    own = rng.integers(0, 7, n_rows)
    near = Nearby(SimpleNamespace(column=0, levels=None), places, 1)
    rows = MovedRows(
        np.arange(n_rows), own * 1.0, own, steps + own[:, None], np.ones(n_rows), np.arange(n_rows)
    )
    expected = 1 / 6 if one_way else 1.0
    assert near.roughness(rows) == pytest.approx(expected, rel=0.03)
    assert near.roughness(rows._replace(increments=np.zeros((n_rows, 6)))) == 0.0


def test_limits_around_one_value_are_places_themselves():
    x = np.column_stack([np.repeat(np.arange(100.0) + 0.5, 10), np.tile([1.0, 3.0], 500)])
    model, limits = (lambda rows: rows[:, 0] * rows[:, 1]), (5.2, 5.8)
    effect = rhale.explain(model, x, features=[0], limits=limits, categorical={0: False})[0]
    assert effect.row_spread.places.tolist() == [5.2, 5.8]
    # ten rows of slope 1 or 3, divisor 9: .6 times root of 10 / 9
    assert effect.spread(5.8, center="start") == pytest.approx(0.6 * np.sqrt(10 / 9))


def test_a_model_that_refuses_one_feature_to_be_moved_has_the_spread_of_the_others():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))[:, [0, 1, 0]]  # the last column is a copy of the first

    def model(rows):
        if np.any(rows[:, 0] != rows[:, 2]):
            raise KeyError
        return rows[:, 0] * rows[:, 1]

    def gradient(rows):
        return np.column_stack([rows[:, 1], rows[:, 0], 0 * rows[:, 0]])

    fx = rhale.explain(model, x, gradient=gradient, local="gradient", features=[0, 1])
    assert fx["x0"].row_spread is None
    assert any(note.kind == "spread" for note in fx["x0"].notes)
    assert fx["x1"].typical_spread == pytest.approx(x[:, 0].std() * x[:, 1].std(), rel=0.1)
    assert not any(note.kind == "spread" for note in fx["x1"].notes)


# --- across stretches without rows ---------------------------------------------------------------


def slope_of(curve):
    """The gradient of a function of the first of two columns, by central differences."""

    def gradient(rows):
        z = rows[:, 0]
        return np.column_stack([(curve(z + 1e-5) - curve(z - 1e-5)) / 2e-5, np.full(z.size, 0.3)])

    return gradient


def logistic(z):
    return 3 / (1 + np.exp(-2 * (z - 5)))


def two_clusters(rng, far):
    return np.where(rng.random(2_000) < 0.5, rng.normal(size=2_000), rng.normal(far, 1, 2_000))


def one_far(rng, far):
    x = rng.normal(size=2_000)
    x[7] = far
    return x


ASKED = {"gradient": lambda curve: {"gradient": slope_of(curve)}, "predictions": lambda _: {}}
CROSSED = {
    "one x of 1e6 among 2,000": (one_far, 1e6, np.tanh),
    "one x of -1e30": (one_far, -1e30, np.tanh),
    "logistic in the gap": (two_clusters, 10, logistic),
    "clusters 100 apart, a step between": (two_clusters, 100, lambda z: (z > 50) * 1.0),
    "clusters 100 apart, a sine": (two_clusters, 100, lambda z: 0.39 * np.sin(z)),
    "scores from 1 to 5 and 99": (
        lambda rng, far: rng.choice(np.append(np.arange(1, 5.5, 0.5), far), 2_000),
        99.0,
        lambda z: 3 * np.tanh(z / 5),
    ),
}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("name", CROSSED)
def test_of_an_additive_model_the_curve_is_right_on_both_sides_of_a_gap(name, ask):
    """Importance is the deviation of the function over the rows, and its rise that of the function."""
    draw, far, curve = CROSSED[name]
    rng = np.random.default_rng(8)
    rows = np.column_stack([draw(rng, far), rng.normal(size=2_000)])
    effect = rhale.explain(
        lambda rows: curve(rows[:, 0]) + 0.3 * rows[:, 1], rows, features=[0], **ASKED[ask](curve)
    )["x0"]
    assert effect.importance == pytest.approx(curve(rows[:, 0]).std(), rel=0.01)
    assert effect.importance_error < 0.02 * effect.importance
    x = np.unique(rows[:, 0])
    widest = np.argmax(np.diff(x))
    rise = effect.difference(x[widest], x[widest + 1])
    assert rise.size == pytest.approx(np.diff(curve(x[widest : widest + 2]))[0], abs=1e-9)
    assert rise.error < 1e-9
    (note,) = (note for note in effect.notes if note.kind == "gap")
    assert "straight line, whose change is that of the predictions of the nearest rows" in note


def test_the_interval_across_a_gap_comes_from_the_rows_beside_it():
    """x z / 10 on both sides and a step between: by hand, from the sixty nearest rows and the ends'."""
    rng = np.random.default_rng(3)
    rows = np.column_stack([two_clusters(rng, 10), rng.normal(size=2_000)])
    effect = rhale.explain(
        lambda rows: (rows[:, 0] > 5) + rows[:, 0] * rows[:, 1] / 10, rows, features=[0]
    )["x0"]
    x = np.sort(rows[:, 0])
    left, right = x[x < 5][-1], x[x > 5][0]
    own = effect.row_spread.places
    own = own[np.argmin(np.abs(rows[:, :1] - own), axis=1)]
    order = np.argsort(rows[:, 0])
    middle = np.searchsorted(x, 5)
    near = np.union1d(order[middle - 30 : middle + 30], np.flatnonzero(np.isin(own, [left, right])))
    z = rows[near, 1]
    found = effect.difference(left, right)
    assert found.size == pytest.approx(1 + (right - left) * z.mean() / 10, rel=1e-9)
    error = (right - left) * z.std(ddof=1) / np.sqrt(z.size) / 10
    assert found.error == pytest.approx(error, rel=1e-9)
    for center in ("start", "mean"):
        formula, drawn = (
            np.subtract(*effect.ci([7.5, 11.0], center=center, method=method)[::-1])
            for method in ("formula", "bootstrap")
        )
        np.testing.assert_allclose(drawn, formula, rtol=0.2)


def test_a_gap_costs_no_more_predictions():
    """Rows are asked at seven places, as they are where nothing is empty."""

    def count(far):
        rows, asked = X[:, :2].copy(), []
        rows[:200, 0] += far

        def model(rows):
            asked.append(len(rows))
            return np.tanh(rows[:, 0]) * rows[:, 1]

        ask = {"gradient": lambda rows: 0 * rows + 1, "local": "gradient"}
        effect = rhale.explain(model, rows, features=[0], **ask)["x0"]
        assert (effect._crossings is None) == (far == 0)
        return sum(asked)

    assert count(40) == count(0) <= 8 * len(X) + 200


def test_ale_and_jumps_reach_across_a_gap_by_themselves():
    rng = np.random.default_rng(4)
    rows = np.column_stack([two_clusters(rng, 10), rng.normal(size=2_000)])
    forest = RandomForestRegressor(10, max_depth=4, random_state=0)
    forest.fit(rows, logistic(rows[:, 0]))
    trees = rhale.explain(forest, rows, features=[0])["x0"]
    ale = rhale.explain(forest, rows, features=[0], method="ale", bins=rhale.Quantile(20))["x0"]
    for effect, words in (
        (trees, "the jumps of the trees"),
        (ale, "rows of a bin around it are moved"),
    ):
        assert effect._crossings is None
        assert any(note.kind == "gap" and words in note for note in effect.notes)
        assert effect.curve(9.0) - effect.curve(1.0) == pytest.approx(3, abs=0.1)


def test_a_model_that_refuses_moved_rows_has_its_neighbours_across_a_gap():
    rng = np.random.default_rng(5)
    rows = np.column_stack([two_clusters(rng, 10), rng.normal(size=2_000)])
    known = set(map(tuple, rows))

    def model(asked):
        if not known.issuperset(map(tuple, asked)):
            msg = "no such row"
            raise ValueError(msg)
        return asked[:, 0]

    def gradient(asked):
        return np.tile([1.0, 0.0], (len(asked), 1))

    effect = rhale.explain(model, rows, features=[0], gradient=gradient)["x0"]
    assert effect._crossings is None
    assert any("relies on the rows on both sides" in note for note in effect.notes)


@pytest.mark.parametrize("ask", [{"batch_size": 97}, {"batch_size": 200, "n_jobs": 2}])
def test_what_rows_say_across_a_gap_is_the_same_in_any_order(ask):
    rows = X[:, :2].copy()
    rows[:500, 0] += 40
    whole, other = (
        rhale.explain(lambda rows: np.sin(rows[:, 0]) * rows[:, 1], some, features=[0], **how)["x0"]
        for some, how in ((rows, {}), (np.random.default_rng(1).permutation(rows), ask))
    )
    for ours, theirs in zip(whole._crossings, other._crossings, strict=True):
        np.testing.assert_array_equal(ours, theirs)
