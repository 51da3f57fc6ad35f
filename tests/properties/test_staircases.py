"""The laws of the curves of walked trees: they are the model's own, jump by jump."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

import rhale
from rhale.effects.jumps import near_share

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=5, deadline=None)


def draw(seed: int, n: int = 240) -> np.ndarray:
    """Three correlated features, one of them rounded."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3)) @ np.array([[1, 0.6, 0.3], [0, 0.8, 0], [0, 0, 1.0]])
    rows[:, 2] = np.round(rows[:, 2], 1)
    return rows


def learn(seed: int, make=None):
    rows = draw(seed + 1)
    answers = np.sin(2 * rows[:, 0]) + rows[:, 0] * rows[:, 1] + np.abs(rows[:, 2])
    make = make or (lambda: HistGradientBoostingRegressor(max_iter=25, max_leaf_nodes=6))
    return make().fit(rows, answers)


def near_rows(x: np.ndarray, place: float, part: float) -> np.ndarray:
    """Which rows are near a place: counted one by one, as the design says."""
    n, ordered, least = x.size, np.sort(x), 20 if part == 1 else 10
    below = int(np.sum(x < place))
    half = min(max(min(below, n - below), least / 2), max(part * near_share(n) * n, least) / 2)
    first, last = max(int(np.floor(below - half)), 0), min(int(np.ceil(below + half)), n)
    if last - first < least:
        first, last = (max(n - least, 0), n) if last == n else (0, min(least, n))
    return (x >= ordered[first]) & (x <= ordered[last - 1])


def curve_of_predictions(predict, rows: np.ndarray, column: int, places: np.ndarray, part=1.0):
    """The mean change of the predictions across each place, over the rows near it, added up."""
    jumps = []
    for place in places:
        near = rows[near_rows(rows[:, column], place, part)]
        above, below = near.copy(), near.copy()
        above[:, column], below[:, column] = place, np.nextafter(place, -np.inf)
        jumps.append(np.mean(predict(above) - predict(below)))
    heights = np.append(0.0, np.cumsum(jumps))

    def curve(x: np.ndarray) -> np.ndarray:
        return heights[np.searchsorted(places, x, "right")]

    return lambda x: curve(x) - curve(rows[:, column]).mean()


def assert_between(effect, predict, rows, column):
    """The curve lies between that of all rows near each place and that of the nearest quarter."""
    every, nearest = (
        curve_of_predictions(predict, rows, column, effect.stairs.places, part)
        for part in (1.0, 0.25)
    )
    x = np.linspace(effect.edges[0], effect.edges[-1], 301)
    apart = nearest(x) - every(x)
    w = np.clip(apart @ (effect.curve(x) - every(x)) / max(apart @ apart, 1e-30), 0, 1)
    np.testing.assert_allclose(effect.curve(x), every(x) + w * apart, atol=1e-9)
    at = rows[:, column]
    size = (every(at) + w * (nearest(at) - every(at))).std()
    np.testing.assert_allclose(effect.importance, size, atol=1e-9)


@few
@given(SEEDS)
def test_the_curve_is_made_of_predictions_on_both_sides_of_every_threshold(seed):
    model, rows = learn(seed), draw(seed)
    for column, effect in enumerate(rhale.explain(model, rows, features=[0, 1]).values()):
        assert_between(effect, model.predict, rows, column)
    share = near_share(len(rows))  # one share is that of all rows
    for column, effect in enumerate(
        rhale.explain(model, rows, features=[0, 1], window=share).values()
    ):
        by_hand = curve_of_predictions(model.predict, rows, column, effect.stairs.places)
        x = np.linspace(effect.edges[0], effect.edges[-1], 301)
        np.testing.assert_allclose(effect.curve(x), by_hand(x), atol=1e-9)
        np.testing.assert_allclose(effect.importance, by_hand(rows[:, column]).std(), atol=1e-9)


@few
@given(SEEDS)
def test_probabilities_jump_as_predictions_do(seed):
    rows, new = draw(seed + 1), draw(seed)
    label = np.digitize(rows[:, 0] + rows[:, 0] * rows[:, 1], [-0.5, 1.0])
    model = HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=5).fit(rows, label)
    fx = rhale.explain(model, new, features=[0])
    for output, effect in enumerate(fx.values()):
        assert_between(effect, lambda r, k=output: model.predict_proba(r)[:, k], new, 0)


@few
@given(SEEDS)
def test_no_threshold_is_missed(seed):
    """Between two places no row's prediction moves, wherever it stands."""
    model, rows = learn(seed), draw(seed)
    effect = rhale.explain(model, rows, features=[0])[0]
    limits = np.concatenate([effect.edges[:1], effect.stairs.places, effect.edges[-1:]])
    for low, high in pairwise(limits):
        moved = [rows.copy() for _ in range(2)]
        moved[0][:, 0], moved[1][:, 0] = low, np.nextafter(high, -np.inf)
        if high > low:
            np.testing.assert_array_equal(*(model.predict(r) for r in moved))


@few
@given(SEEDS)
def test_an_additive_ensemble_has_the_same_jump_for_every_row_and_no_spread(seed):
    """Trees of one split: whichever rows are near, the jump is the sum of the leaves."""
    model = learn(seed, lambda: GradientBoostingRegressor(n_estimators=30, max_depth=1))
    rows = draw(seed)
    for column, effect in enumerate(rhale.explain(model, rows).values()):
        row = np.repeat(rows[:1], 201, axis=0)
        row[:, column] = x = np.linspace(effect.edges[0], effect.edges[-1], 201)
        alone = model.predict(row)
        np.testing.assert_allclose(np.diff(effect.curve(x)), np.diff(alone), atol=1e-9)
        rounding = 1e-9 * effect.importance
        assert effect.typical_spread == 0.0
        assert np.all(effect.spread(x) <= rounding)
        assert np.all(effect.std * np.diff(effect.edges) <= rounding)
        np.testing.assert_allclose(
            effect.ci(x, center="start"), [effect.curve(x, center="start")] * 2, atol=1e-9
        )


@few
@given(SEEDS)
def test_a_monotone_map_of_x_moves_thresholds_only(seed):
    """Powers of two and signs are exact; so is what the trees learn from them."""
    rows, new = draw(seed + 1), draw(seed)
    answers = np.sin(2 * rows[:, 0]) + rows[:, 0] * rows[:, 1]
    found = []
    for factor in (1.0, 8.0):
        scale = np.array([factor, 1.0, 1.0])
        model = RandomForestRegressor(5, random_state=0, max_depth=4).fit(rows * scale, answers)
        # how far the nearest rows count is told by groups of rows, whose keys change with the values
        share = near_share(len(new))
        found.append(rhale.explain(model, new * scale, features=[0], window=share)[0])
    one, other = found
    np.testing.assert_array_equal(other.stairs.places, 8 * one.stairs.places)
    np.testing.assert_array_equal(other.stairs.jumps, one.stairs.jumps)
    # which jumps are real is told by groups of rows, drawn by keys that change with the values:
    # one on the border may be taken for real on one scale only, and bins end there
    if len(one.jumps) == len(other.jumps):
        np.testing.assert_array_equal(other.edges, 8 * one.edges)


@few
@given(SEEDS)
def test_adding_a_function_of_other_features_changes_nothing(seed):
    """Trees that see only the second feature are added to those of a boosted model."""
    rows, new = draw(seed + 1), draw(seed)
    model = learn(seed, lambda: GradientBoostingRegressor(n_estimators=12, max_depth=3))
    plain = rhale.explain(model, new, features=[0])[0]
    only = rows * np.array([0.0, 1.0, 0.0])
    for _ in range(3):
        more = GradientBoostingRegressor(n_estimators=1, max_depth=3, init="zero")
        tree = more.fit(only, np.cos(rows[:, 1])).estimators_
        model.estimators_ = np.concatenate([model.estimators_, tree])
        model.n_estimators_ = len(model.estimators_)
    added = rhale.explain(model, new, features=[0])[0]
    np.testing.assert_array_equal(added.stairs.places, plain.stairs.places)
    np.testing.assert_allclose(added.stairs.jumps, plain.stairs.jumps, atol=1e-12)
    np.testing.assert_allclose(added.std, plain.std, atol=1e-9)


@few
@given(SEEDS, st.integers(20, 100), st.integers(1, 2))
def test_chunks_order_and_threads_give_the_same_bits(seed, batch_size, n_jobs):
    model, rows = learn(seed), draw(seed)
    order = np.random.default_rng(seed).permutation(len(rows))
    plain = rhale.explain(model, rows, features=[0, 2])
    other = rhale.explain(model, rows[order], features=[0, 2], batch_size=batch_size, n_jobs=n_jobs)
    for a, b in zip(plain.values(), other.values(), strict=True):
        for name in ("places", "jumps", "row_shares", "influence"):
            np.testing.assert_array_equal(getattr(a.stairs, name), getattr(b.stairs, name))


@few
@given(SEEDS)
def test_weights_count_as_rows_do_and_their_scale_does_not_matter(seed):
    model, rows = learn(seed), draw(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(rows))
    one, other = (
        rhale.explain(model, rows, features=[0], weights=factor * weight)[0] for factor in (1, 16)
    )
    np.testing.assert_array_equal(one.stairs.jumps, other.stairs.jumps)


def test_the_tail_behind_the_last_threshold_is_flat():
    """The demo: curves of windows go on rising where no row's prediction moves."""
    x, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=6, learning_rate=0.08, min_samples_leaf=15, random_state=0
    ).fit(x, y)
    effect = rhale.explain(model, x, features=["bmi"])["bmi"]
    beyond = np.linspace(effect.stairs.places[-1], x["bmi"].max(), 30)
    assert beyond[0] < 36 < beyond[-1] == 42.2
    assert np.ptp([model.predict(x.assign(bmi=v)) for v in beyond], axis=0).max() == 0
    assert np.ptp(effect.curve(beyond)) == 0
    assert np.ptp(effect.ci(beyond)[0]) == 0
    assert np.ptp(effect.spread(beyond)) == 0
