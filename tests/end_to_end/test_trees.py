"""Boosted trees and forests of known functions: curve and spread are recovered without slopes."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import problems
import rhale

PROBLEMS = {
    p.name: p
    for p in (
        problems.sine_product(),
        problems.study_1(),
        problems.square(),
        problems.product(),
        problems.correlated(0.5),
    )
}
PROBLEMS["strongly correlated"] = problems.correlated(0.9)
KINDS = {
    "boosted": lambda: HistGradientBoostingRegressor(random_state=0),
    "forest": lambda: RandomForestRegressor(60, min_samples_leaf=3, random_state=0, n_jobs=1),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_feature = pytest.mark.parametrize(
    ("name", "feature"), [(n, f) for n, p in PROBLEMS.items() for f in p.names]
)


@cache
def fitted(name, kind):
    problem = PROBLEMS[name]
    rows = problem.draw(5000, seed=1)
    noise = np.random.default_rng(0).normal(0, 0.1, len(rows))
    return KINDS[kind]().fit(rows, problem.predict(rows) + noise)


@cache
def explained(name, kind, max_bins=100):
    rows = PROBLEMS[name].draw(1000, seed=2)
    return rhale.explain(fitted(name, kind), rows, bins=rhale.Optimal(max_bins=max_bins))


def effect_of(name, kind, feature, max_bins=100):
    return explained(name, kind, max_bins)[PROBLEMS[name].names.index(feature)]


def exact_effect(name, feature):
    """Effect from the true derivatives of the same rows."""
    problem = PROBLEMS[name]
    rows, place = problem.draw(1000, seed=2), problem.names.index(feature)
    return rhale.effect(rows[:, place], problem.gradient(rows)[:, place], bins=50)


def secants_by_predictions(model, rows, place, edges):
    """Deviation of the secants of the rows of each bin over it, and their number; nan below 30.

    About the mean of rows that are near each other, so that a mean that changes is no deviation.
    """
    found, counts = [], []
    for low, high in pairwise(edges):
        own = rows[(rows[:, place] >= low) & (rows[:, place] <= high)]
        own = own[np.argsort(own[:, place])]
        counts.append(len(own) if len(own) >= 30 else 0)
        if len(own) < 30:
            found.append(np.nan)
            continue
        ends = [own.copy(), own.copy()]
        ends[0][:, place], ends[1][:, place] = low, high
        secant = (model.predict(ends[1]) - model.predict(ends[0])) / (high - low)
        off = np.concatenate([part - part.mean() for part in np.array_split(secant, 4)])
        found.append(np.sqrt(np.sum(off**2) / (off.size - 4)))
    return np.array(found), np.array(counts)


@each_kind
@each_feature
def test_the_std_of_bins_is_that_of_the_secants_of_rows_over_them(name, feature, kind):
    """The model's own, by predictions for other rows: steps that it learned by mistake are in it."""
    effect, place = effect_of(name, kind, feature), PROBLEMS[name].names.index(feature)
    rows, model = PROBLEMS[name].draw(6000, seed=5), fitted(name, kind)
    expected, counts = secants_by_predictions(model, rows, place, effect.edges)
    some = counts > 0
    sizes = [
        np.sqrt(np.average(s[some] ** 2, weights=counts[some])) for s in (effect.std, expected)
    ]
    assert 1 / 1.35 < sizes[0] / sizes[1] < 1.35


@each_kind
@each_feature
def test_the_spread_does_not_depend_on_the_bins(name, feature, kind):
    few, many = (effect_of(name, kind, feature, k) for k in (20, 400))
    assert few.typical_spread == many.typical_spread
    z = np.linspace(*few.edges[[0, -1]], 50)
    np.testing.assert_array_equal(few.spread(z), many.spread(z))


@each_kind
@each_feature
def test_the_curve_is_close_to_the_true_curve(name, feature, kind):
    effect, truth = effect_of(name, kind, feature), PROBLEMS[name].truths[feature]
    low, high = max(effect.edges[0], truth.limits[0]), min(effect.edges[-1], truth.limits[1])
    z = np.linspace(low, high, 60)
    error = effect.curve(z) - truth.curve(z)
    # what even exact slopes of these rows do not know
    standard_error = np.mean(np.diff(exact_effect(name, feature).ci(z, level=0.6827), axis=0)) / 2
    assert error.std() < 0.05 * np.ptp(truth.curve(z)) + 4 * standard_error


@each_kind
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_tiny_step_would_have_seen_nothing(name, kind):
    rows = PROBLEMS[name].draw(1000, seed=2)
    model, step = fitted(name, kind), 1e-6 * np.array([1.0, 0.0])
    change = model.predict(rows + step) - model.predict(rows)
    assert np.mean(change != 0) < 0.01
    assert np.mean(effect_of(name, kind, "x1").sample.local_effects != 0) > 0.9


@each_kind
def test_the_notes_say_where_jumps_are_and_over_which_rows_they_are_averaged(kind):
    effect = effect_of("sine_product", kind, "x1")
    told = "exact tree jumps, averaged over the nearest 10 % of rows"
    assert effect.notes[0] == told


@each_kind
def test_a_window_over_four_fifths_of_the_wave_flattens_it(kind):
    """Of a black box; the jumps of trees stay what they are, whoever is near."""
    rows, model = PROBLEMS["sine_product"].draw(1000, seed=2), fitted("sine_product", kind)
    asked = rhale.models.wrap(model, walk=False)
    wide = rhale.explain(asked, rows, features=0, window=0.8)[0]
    # moved rows see the wave that such windows cannot
    assert wide.notes[0].kind == "audit"
    assert "over the nearest 80 % of rows" in wide.notes[1]
    # over [x - 0.4, x + 0.4] the secant of sin(2 pi x) is its slope, 1 / 0.8 pi times sin(0.8 pi)
    fall = np.sin(1.2 * np.pi) - np.sin(0.8 * np.pi)
    flat = fall * np.sin(0.8 * np.pi) / (0.8 * np.pi)
    assert np.diff(wide.curve([0.4, 0.6])) == pytest.approx(flat, abs=0.1)
    for window in (None, 0.8):
        walked = rhale.explain(model, rows, features=0, window=window)[0]
        assert np.diff(walked.curve([0.4, 0.6])) == pytest.approx(fall, abs=0.1)


INTERACTIONS = {
    "product": lambda x: x[:, 0] * x[:, 1],
    "one threshold": lambda x: (x[:, 0] > 0.3) * x[:, 1],
    "exclusive or": lambda x: 1.0 * ((x[:, 0] > 0) ^ (x[:, 1] > 0)),
}
JUMPS = {
    "larger for some": lambda x: (x[:, 0] > 0.3) * (1 + 0.4 * x[:, 1]),
    "hardly any for some": lambda x: (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1]),
    "on a wave": lambda x: np.sin(2 * x[:, 0]) + (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1]),
}


def compare_spreads(function, draw):
    """Typical spread of boosted trees, and the deviation of the centred curves of rows (ICE)."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(3000, 2)) if draw == "normal" else rng.uniform(-1, 1, (3000, 2))
    model = HistGradientBoostingRegressor(max_iter=80, random_state=0)
    model.fit(rows, function(rows) + rng.normal(0, 0.1, 3000))
    effect = rhale.explain(model, rows, features=[0])[0]
    places = np.quantile(rows[:, 0], np.linspace(0.0025, 0.9975, 200))
    asked = np.repeat(rows[:300], 200, axis=0)
    asked[:, 0] = np.tile(places, 300)
    curves = model.predict(asked).reshape(300, 200)
    curves -= curves.mean(axis=1, keepdims=True)
    return effect.typical_spread, np.sqrt(curves.var(axis=0).mean())


@pytest.mark.parametrize("draw", ["normal", "uniform"])
@pytest.mark.parametrize("name", INTERACTIONS)
def test_the_spread_of_trees_is_that_of_the_centred_curves_of_the_rows(name, draw):
    """Of tails without thresholds, and of rows that jump differently at one."""
    found, expected = compare_spreads(INTERACTIONS[name], draw)
    assert found == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("draw", ["normal", "uniform"])
@pytest.mark.parametrize("name", JUMPS)
def test_rows_that_jump_by_more_or_less_where_all_do_are_spread_so_far(name, draw):
    """The deviation that 32 groups tell has itself a deviation of an eighth."""
    found, expected = compare_spreads(JUMPS[name], draw)
    assert found == pytest.approx(expected, rel=0.3)


def dose_regions(response, *, walk):
    """Regions of boosted trees that learned a response to a dose, beside the age and two others."""
    pd, rng = pytest.importorskip("pandas"), np.random.default_rng(7)
    rows = pd.DataFrame(rng.normal(size=(3000, 4)), columns=["dose", "age", "height", "weight"])
    model = HistGradientBoostingRegressor(max_iter=80, random_state=0)
    model.fit(rows, response(rows["dose"], rows["age"]) + rng.normal(0, 0.1, len(rows)))
    fx = rhale.explain(rhale.models.wrap(model, walk=walk), rows, regions=True)
    return {effect.name: effect.regions for effect in fx.values()}


@pytest.mark.parametrize("walk", [True, False])
def test_a_dose_that_acts_from_one_threshold_on_has_regions_by_age(walk):
    regions = dose_regions(lambda dose, age: (dose > 0.3) * age, walk=walk)
    assert regions["dose"].splitters == ("age",)
    assert regions["dose"].splits[0].threshold == pytest.approx(0, abs=0.25)
    assert regions["dose"].share > 0.5
    assert regions["age"].splitters == ("dose",)
    assert regions["age"].splits[0].threshold == pytest.approx(0.3, abs=0.02)
    assert len(regions["height"]) == len(regions["weight"]) == 1


@pytest.mark.parametrize("walk", [True, False])
def test_a_dose_that_acts_alike_from_one_threshold_on_has_none(walk):
    regions = dose_regions(lambda dose, age: 2.0 * (dose > 0.3) + age, walk=walk)
    assert [len(one) for one in regions.values()] == [1, 1, 1, 1]


@pytest.mark.parametrize("walk", [True, False])
def test_regions_of_boosted_trees_spread_as_the_centred_curves_of_the_rows(walk):
    xgboost, pd = pytest.importorskip("xgboost"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    region = pd.Categorical(np.array(list("abcdefgh"))[rng.integers(0, 8, 1000)])
    rows = pd.DataFrame({"region": region, "x": rng.normal(size=1000), "z": rng.normal(size=1000)})
    y = rows["x"] + 0.3 * region.codes + 0.05 * (region.codes - 4.0) * rows["z"]
    model = xgboost.XGBRegressor(
        n_estimators=30, max_depth=4, enable_categorical=True, n_jobs=1, tree_method="hist"
    ).fit(rows, y + rng.normal(0, 0.3, 1000))
    fx = rhale.explain(rhale.models.wrap(model, walk=walk), rows, features=["region"])
    effect = fx["region"]
    moved = [
        model.predict(rows.assign(region=pd.Categorical([level] * 1000, region.categories)))
        for level in effect.levels
    ]
    curves = np.stack(moved, axis=1).astype(float)
    curves -= curves @ effect.share[:, None]
    assert effect.spread() == pytest.approx(curves.std(axis=0, ddof=1), rel=1e-4)
    typical = np.sqrt(effect.share @ curves.var(axis=0, ddof=1))
    assert effect.typical_spread == pytest.approx(typical, rel=1e-4)
    asked = "answers_walked" if walk else "rows_asked"
    assert fx.provenance[asked] >= (1 + 2 + 8) * 1000  # as they are, beside, everywhere
