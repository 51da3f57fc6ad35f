import numpy as np
import pytest
from tests.unit.measures.askers import asker_for

from rhale.kernels.axis import Axis
from rhale.kernels.windows import window
from rhale.measures.probe import probe_reactions, probe_smoothness
from rhale.tables import open_table

X = np.random.default_rng(2).normal(size=(300, 3))


def windows(rows, share):
    found = []
    for column in rows.T:
        values, counts = np.unique(column, return_counts=True)
        found.append(window(Axis(values[0], values[-1], values, counts * 1.0, len(rows)), share))
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
