from dataclasses import replace

import numpy as np
import pytest
from tests.pair_rows_by_hand import (
    KINDS,
    fill_of,
    pure_surface,
    random_rows,
    read_rows,
    step_means,
    twisted,
)

from rhale.interaction.strength import PairStack, stack_pairs


def holey(kinds, seed=0, **settings):
    """Rows of which those in one corner are missing."""
    rows = random_rows(kinds, n=70, seed=seed, **settings)
    (a, _), (b, _) = rows.positions
    return rows.take(np.flatnonzero((a > 1) | (b > 0)))


def stack_of(rows):
    return PairStack([rows.axes], [rows.measure(twisted)])


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("make", [random_rows, holey])
def test_mean_squares_are_those_over_the_rows_and_noise_is_a_trace(kinds, make):
    rows = make(kinds, weighted=True)
    stack = stack_of(rows)
    steps, weight = step_means(rows, twisted)
    filling = fill_of(rows.axes, weight)
    surface = pure_surface(rows, filling.fill(steps))
    expected = np.average(read_rows(rows, surface) ** 2, weights=rows.w)
    assert stack.raw()[0] == pytest.approx(expected)
    # what every measured difference does at the rows, found by moving it
    units = np.eye(weight.size).reshape(-1, *weight.shape)
    at_rows = [read_rows(rows, pure_surface(rows, filling.fill(unit))) for unit in units]
    products = np.array(at_rows) * rows.w @ np.array(at_rows).T / rows.w.sum()
    covariance = stack.covariances.as_matrix(weight.size)
    assert stack.noise()[0] == pytest.approx(np.sum(products * covariance), rel=1e-10)


def test_many_pairs_are_concluded_as_each_alone():
    stacks = [stack_of(holey(("levels", "numbers"), seed)) for seed in range(4)]
    together = stack_pairs(stacks)
    np.testing.assert_allclose(together.raw(), [s.raw()[0] for s in stacks], rtol=1e-12)
    np.testing.assert_allclose(together.noise(), [s.noise()[0] for s in stacks], rtol=1e-12)


def test_read_at_the_middle_of_cells_all_rows_stand_there():
    rows = random_rows(("levels", "numbers"))
    moments = rows.measure(twisted)
    found = PairStack([rows.axes], [moments], "cells")
    edges, stand = rows.axes[1].nodes, rows.positions[1].cell
    middles = replace(rows, y=(edges[stand] + edges[stand + 1]) / 2)
    np.testing.assert_allclose(
        found.cell_weights.places[0], middles.measure(twisted).places, atol=1e-13
    )


def test_what_is_rounding_of_the_accumulated_height_is_nothing():
    rows = random_rows(("numbers", "numbers"), n=1)
    rows = replace(rows, axes=random_rows(("numbers", "numbers")).axes)
    stack = PairStack([rows.axes], [rows.measure(lambda x, y, z: 1e3 * x * y + z)])
    assert np.abs(stack.steps.mean).max() > 0
    assert stack.raw().tolist() == [0.0]
    assert stack.noise().tolist() == [0.0]
