import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from tests.unit.effects.askers import asker_for

import rhale
from rhale.data import open_table
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.local.choose import probe_reactions, probe_smoothness
from rhale.effects.local.finite_difference import window

X = np.random.default_rng(2).normal(size=(300, 3))


def windows(rows, share):
    found = []
    for column in rows.T:
        values, counts = np.unique(column, return_counts=True)
        found.append(
            window(FeatureAxis(values[0], values[-1], values, counts * 1.0, len(rows)), share)
        )
    return found


def probed(probe, model, rows=X, share=0.01):
    chunk = open_table(rows).chunk(0, len(rows))
    columns = list(range(rows.shape[1]))
    return probe(asker_for(model, chunk), chunk, columns, windows(rows, share))


def test_smooth_and_stepped_features_of_one_model_are_told_apart():
    def model(rows):
        return np.tanh(rows[:, 0]) + np.floor(8 * rows[:, 1]) + rows[:, 0] * rows[:, 2] ** 2

    smooth, asked = probed(probe_smoothness, model)
    assert smooth.tolist() == [True, False, True]
    assert asked == 300 * (1 + 2 * 3)


def test_a_feature_without_reaction_counts_as_stepped():
    smooth, _ = probed(probe_smoothness, lambda rows: rows[:, 0])
    assert smooth.tolist() == [True, False, False]


def test_a_feature_that_is_rough_for_one_output_is_rough():
    def model(rows):
        return np.column_stack([rows[:, 0], np.floor(20 * rows[:, 0])])

    smooth, _ = probed(probe_smoothness, model)
    assert not smooth[0]


def test_a_feature_of_two_values_counts_as_smooth():
    rows = np.column_stack([np.arange(300) % 2, X[:, 0], X[:, 1]])
    smooth, _ = probed(probe_smoothness, lambda asked: asked[:, 0] * 3, rows)
    assert smooth[0]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_smoothness_does_not_depend_on_scales(scale):
    smooth, _ = probed(probe_smoothness, lambda r: scale * np.sin(r[:, 0] / scale), X * scale)
    assert smooth[0]


def test_a_reaction_is_seen_across_wide_windows():
    moved, asked = probed(probe_reactions, lambda rows: np.sign(rows[:, 1]), share=0.5)
    assert moved.tolist() == [False, True, False]
    assert asked == 300 * 2 * 3


GRID = np.random.default_rng(11)
ON_A_GRID = np.column_stack(
    [
        (3.7 + GRID.gamma(1, 1.5, 1_500)).round(2),  # hundredths, as the lengths of diamonds
        GRID.poisson(300, 1_500),
        GRID.normal(size=1_500).astype(np.float32),
    ]
).astype(float)


def ways(model, rows=ON_A_GRID):
    """What is said of each feature of a black box."""
    told = rhale.explain(model, rows).provenance["local_effects"]
    return ["stepped" if "change in steps" in way else "smooth" for way in told.values()]


@pytest.mark.parametrize("steep", [1.0, 3.0])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_an_exponential_over_a_grid_of_values_is_smooth(kind, steep):
    """Its windows are wide in the tail, where slopes on both sides differ by as much as they are."""

    def model(rows):
        return np.exp(steep * (rows[:, 0] + rows[:, 1] / 30 + rows[:, 2]) / 2).astype(kind)

    assert ways(model) == ["smooth"] * 3


@pytest.mark.parametrize("kind", ["forest", "boosting", "neighbours"])
def test_steps_stay_steps_at_every_distance(kind):
    made = {
        "forest": RandomForestRegressor(30, min_samples_leaf=5, random_state=0),
        "boosting": HistGradientBoostingRegressor(max_iter=40, random_state=0),
        "neighbours": KNeighborsRegressor(10),
    }[kind]
    scaled = (ON_A_GRID - ON_A_GRID.mean(axis=0)) / ON_A_GRID.std(axis=0)
    made.fit(scaled, np.exp(scaled.sum(axis=1) / 2))

    def model(rows):
        return made.predict((rows - ON_A_GRID.mean(axis=0)) / ON_A_GRID.std(axis=0))

    assert ways(model) == ["stepped"] * 3
