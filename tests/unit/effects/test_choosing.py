"""Bins of many axes that are chosen together are those of each axis alone, to the last bit."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.choose import choose_all
from rhale.effects.binning.gaps import BetweenStretches, ReservedIntervals
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.optimal import Optimal
from rhale.effects.binning.partition import Fixed, constant_cuts
from rhale.effects.binning.segments import (
    MAX_EXHAUSTIVE_CELLS,
    PATH_BATCH_CELLS,
    RUN_BATCH_CELLS,
    RUN_BLOCK_ENDS,
    alike,
    batch_axes_by_cells,
)


def axis(seed, n_rows, n_cells, *, weighted=False, stepped=False):
    """Rows of a bent effect whose spread changes, some with a gap; one series or three."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n_rows)
    x = x[(x < 0.4) | (x > 0.6)] if seed % 3 == 0 else x
    noise = rng.normal(size=x.size) * np.where(x < 0.5, 0.1, 1.0 + seed % 2)
    d = np.sin(6 * x) + (x > 0.7) * (seed % 4) + noise
    series = np.stack([d, d + noise, noise]) if stepped else d
    weights = rng.lognormal(size=x.size) if weighted else None
    cells = measure_moments(Grid(np.linspace(0, 1, n_cells + 1)), x, series, weights)
    return cells.series(0)


def same(one, other):
    return all(
        (getattr(one, f.name) is None) == (getattr(other, f.name) is None)
        and np.array_equal(getattr(one, f.name), getattr(other, f.name))
        for f in fields(one)
    )


AXES = st.builds(
    axis,
    st.integers(0, 50),
    st.sampled_from([4, 30, 300, 3000]),
    st.sampled_from(
        [
            1,
            2,
            7,
            RUN_BLOCK_ENDS,
            RUN_BLOCK_ENDS + 1,
            90,
            160,
            MAX_EXHAUSTIVE_CELLS - 5,
            MAX_EXHAUSTIVE_CELLS + 40,
        ]
    ),
    weighted=st.booleans(),
    stepped=st.booleans(),
)
SEARCHES = st.builds(
    Adaptive,
    linear=st.booleans(),
    weight=st.sampled_from(["rows", "width", "geometric"]),
    min_rows=st.sampled_from([None, 40.0]),
    spread_bins=st.sampled_from(["joint", "mean", "own"]),
)


@given(SEARCHES, st.lists(AXES, min_size=1, max_size=30))
def test_each_axis_has_the_bins_that_it_has_alone(search, batch):
    together = search.choose(batch)
    assert len(together) == len(batch)
    assert all(same(search(one), found) for one, found in zip(batch, together, strict=True))


@given(st.permutations(range(6)))
def test_every_partition_is_asked_about_its_own_axis(order):
    stretch = ReservedIntervals(np.array([[0.25, 0.5]]), np.array([0.25]))
    inside = BetweenStretches(Adaptive(), stretch)
    partitions = [Adaptive(), inside, Optimal(40), Adaptive(penalty=9.0), Fixed(40), inside]
    batch = [axis(seed, 500, 40) for seed in range(6)]
    partitions, batch = [partitions[k] for k in order], [batch[k] for k in order]
    found = choose_all(partitions, batch)
    assert all(same(p(m), cuts) for p, m, cuts in zip(partitions, batch, found, strict=True))
    assert len({cuts.limits.size for cuts in found}) > 2


def test_no_axes_have_no_bins():
    assert Adaptive().choose([]) == choose_all([], []) == []


def test_a_class_made_from_adaptive_chooses_in_its_own_way():
    class Halves(Adaptive):
        def __call__(self, moments):
            return constant_cuts(np.array([0, 20, moments.grid.n_cells]))

    (found,) = choose_all([Halves()], [axis(1, 500, 40)])
    assert found.limits.tolist() == [0, 20, 40]


@pytest.mark.parametrize("weighted", [[], [0, 3], range(12)])
def test_axes_stand_together_with_their_like(weighted):
    sizes = [90, 210, 500, 7, 160, PATH_BATCH_CELLS, 1, 3 * PATH_BATCH_CELLS, 7, 7, 160, 90]
    batch = [axis(k, 200, n, weighted=k in weighted) for k, n in enumerate(sizes)]
    groups = list(alike(batch))
    assert sorted(k for group in groups for k in group) == list(range(12))
    assert max(map(len, groups)) > 3
    for group in groups:
        assert len({(k in weighted, sizes[k] > MAX_EXHAUSTIVE_CELLS) for k in group}) == 1
        own = [sizes[k] for k in group]
        assert own == sorted(own)
        assert len(own) == 1 or len(own) * own[-1] <= PATH_BATCH_CELLS


@given(st.lists(st.integers(1, 3 * RUN_BATCH_CELLS), min_size=1).map(sorted))
def test_runs_of_few_cells_are_looked_at_together(sizes):
    parts = [sizes[part] for part in batch_axes_by_cells(sizes)]
    assert [size for part in parts for size in part] == sizes
    assert all(len(part) == 1 or len(part) * part[-1] <= RUN_BATCH_CELLS for part in parts)
    for part, following in pairwise(parts):
        assert (len(part) + 1) * following[0] > RUN_BATCH_CELLS
