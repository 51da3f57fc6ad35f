"""Sums of many pairs against those of one pair at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.pair_corners import ask_pairs, ask_side, levels_of

from rhale.errors import RhaleError
from rhale.interaction.moments import CellPositions, PairAxis, measure_pair
from rhale.models.trees.pair_walk import add_pair, measure_pairs

CELLS = PairAxis(np.array([-3.0, -0.5, 0.0, 1.5, 3.5]))  # a few rows lie outside
FIELDS = ("count", "weight", "weight_squares", "places", "mean", "products")


def case(seed, n_rows=80, n_outputs=2, levels=(3,)):
    """Four columns with gaps, the last with levels, and differences of all pairs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    x[:, 3] = rng.integers(0, 4, n_rows)
    x[rng.random(x.shape) < 0.1] = np.nan
    axes = [levels_of(np.arange(4.0)) if c in levels else CELLS for c in range(4)]
    question = ask_pairs([ask_side(c, x[:, c], a) for c, a in enumerate(axes)])
    ways = [axes[j].n_ways * axes[k].n_ways for j, k in question.pairs]
    mixed = [1e6 + rng.normal(size=(n_outputs, n_rows, n)) for n in ways]
    return question, mixed, rng


def one_by_one(question, mixed, weights=None):
    found = []
    for (j, k), differences in zip(question.pairs, mixed, strict=True):
        one, two = question.sides[j], question.sides[k]
        positions = one.positions, two.positions
        found.append(measure_pair((one.axis, two.axis), positions, differences, weights))
    return found


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 200),
    n_outputs=st.integers(1, 3),
    weighted=st.booleans(),
)
def test_all_pairs_are_summed_like_each_alone(seed, n_rows, n_outputs, weighted):
    question, mixed, rng = case(seed, n_rows, n_outputs)
    weights = rng.choice([0.0, 0.3, 1.0, 7.0], n_rows) if weighted else None
    found, expected = measure_pairs(question, mixed, weights), one_by_one(question, mixed, weights)
    for one, other in zip(found, expected, strict=True):
        for name in FIELDS:
            mine, theirs = getattr(one, name), getattr(other, name)
            assert mine.shape == theirs.shape, name
            assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-12), name


@given(seed=st.integers(0, 10**6), value=st.floats(1e-9, 1e9), weighted=st.booleans())
def test_equal_differences_deviate_by_nothing(seed, value, weighted):
    question, mixed, rng = case(seed, levels=())
    weights = rng.uniform(0.1, 3, 80) if weighted else None
    found = measure_pairs(question, [np.full_like(m, value) for m in mixed], weights)
    for one in found:
        assert not one.products.any()
        assert set(np.unique(one.mean[:, one.count > 0])) <= {value}
        assert not one.mean[:, one.count == 0].any()


def take(side, rows):
    """The same question about some of the rows."""
    positions = CellPositions(*(values[rows] for values in side.positions))
    return replace(side, positions=positions, low=side.low[rows], high=side.high[rows])


def test_parts_add_up_to_the_whole():
    question, mixed, _ = case(1, 160)
    halves = []
    for rows in (slice(0, 70), slice(70, 160)):
        part = ask_pairs([take(side, rows) for side in question.sides])
        halves.append(measure_pairs(part, [m[:, rows] for m in mixed]))
    for one, other, whole in zip(*halves, measure_pairs(question, mixed), strict=True):
        added = one + other
        for name in FIELDS:
            mine, theirs = getattr(added, name), getattr(whole, name)
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9), name


def test_no_argument_is_changed_and_any_layout_is_taken_without_compiling_anew():
    question, mixed, rng = case(2, n_outputs=1)
    weights = rng.uniform(size=160)[::2]
    strided = [np.repeat(m, 2, axis=1)[:, ::2] for m in mixed]
    before = [m.copy() for m in mixed]
    same = measure_pairs(question, mixed, weights.copy())
    n_compiled = len(add_pair.signatures)
    for array in (weights, *mixed):
        array.flags.writeable = False
    for differences in (mixed, strided):
        found = measure_pairs(question, differences, weights)
        assert all(np.array_equal(a.products, b.products) for a, b in zip(found, same, strict=True))
    assert len(add_pair.signatures) == n_compiled
    assert all(np.array_equal(a, b) for a, b in zip(mixed, before, strict=True))


def test_differences_that_are_too_large_to_be_squared_are_refused():
    question, mixed, _ = case(3, levels=())
    mixed[2][0, 5, 0] = 1e200
    with pytest.raises(RhaleError):
        measure_pairs(question, mixed)
