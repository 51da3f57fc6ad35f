from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.conftest import divide

import rhale
from rhale.effects.effect import NO_SAMPLE
from rhale.regions.report import (
    are_multiples,
    compare_regions,
    farthest_apart,
    rows_reach,
    share_between,
    shared_places,
)
from rhale.regions.result import Region

X = np.linspace(0.0, 10.0, 401)


def test_a_region_on_a_small_stretch_leaves_the_others_to_compare():
    effect = divide(X, {"a": 1.0, "b": 3.0, "c": 5.0})
    tree = effect.regions
    short = rhale.effect(X[X <= 1], np.full((X <= 1).sum(), 5.0), name="age")
    small = replace(tree[2], effect=short, share_of_rows=0.01)
    kept, places = shared_places((tree[0], tree[1], small))
    assert kept == [0, 1]
    assert places[0][[0, -1]].tolist() == [0.0, 10.0]


def test_limits_beyond_the_rows_are_no_common_stretch():
    effect = rhale.effect(X[X <= 5], np.ones((X <= 5).sum()), bins=rhale.Edges([0.0, 5.01, 10.0]))
    assert rows_reach(effect) == (0.0, 5.01)


def test_a_stretch_counts_by_its_rows_and_not_by_its_length():
    """Two regions with one far row each, on opposite sides: nearly all rows are on both."""
    near = np.linspace(0.0, 1.0, 200)
    parts = [rhale.effect(np.append(near, far), np.ones(201), bins=1) for far in (-99.0, 99.0)]
    regions = [Region(str(far), 201, 0.5, part) for far, part in enumerate(parts)]
    kept, places = shared_places(regions)
    assert kept == [0, 1]
    assert places[0][[0, -1]].tolist() == [0.0, 1.0]
    half = share_between(parts[0], 0.5, 99.0)
    assert half == pytest.approx(0.5, abs=0.01)
    # without sampled rows, rows are spread evenly over their bins
    assert share_between(replace(parts[0], sample=NO_SAMPLE), 0.5, 99.0) == pytest.approx(0.005)


@given(st.integers(2, 5), st.integers(2, 9), st.integers(0, 999))
def test_no_pair_of_curves_and_places_is_farther_apart(n_curves, n_places, seed):
    heights = np.random.default_rng(seed).normal(size=(n_curves, n_places))
    (i, j), first, last = farthest_apart(heights, has_order=False)
    found = abs((heights[i] - heights[j])[last] - (heights[i] - heights[j])[first])
    most = max(
        abs((heights[a] - heights[b])[q] - (heights[a] - heights[b])[p])
        for a in range(n_curves)
        for b in range(a)
        for p in range(n_places)
        for q in range(p)
    )
    assert found == pytest.approx(most)


@given(st.integers(-40, 40), st.floats(-9.0, 9.0), st.integers(0, 999))
def test_a_curve_is_a_multiple_of_itself_however_high_it_stands(times, lift, seed):
    curve = np.random.default_rng(seed).normal(size=20)
    assert are_multiples(np.array([curve, times / 10 * curve + lift])) == (times != 0)


def test_curves_of_other_shapes_are_no_multiples():
    assert not are_multiples(np.array([X, (X - 5) ** 2]))
    assert not are_multiples(np.array([X, X, X]))


def test_regions_that_do_not_differ_are_hardly_ever_told_apart():
    """Rows of one and the same effect in two groups, drawn anew: at most one of 15."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(15):
        x = rng.normal(size=(2, 300))
        parts = [rhale.effect(one, np.cos(one) + rng.normal(size=300)) for one in x]
        regions = [Region(str(i), 300, 0.5, part) for i, part in enumerate(parts)]
        told += compare_regions(parts[0], regions, ["a", "b"]).is_sure
    assert told <= 1


@pytest.mark.parametrize(("noise", "sure"), [(0.0, True), (60.0, False)])
def test_a_difference_is_sure_beyond_what_a_search_could_find(noise, sure):
    rng = np.random.default_rng(0)
    slopes = {rule: slope + rng.normal(0, noise, 401) for rule, slope in (("a", 1.0), ("b", 2.0))}
    effect = divide(X, slopes, bins=1)
    found = compare_regions(effect, effect.regions.regions, ["a", "b"])
    assert found.is_sure == sure
    assert found.tells_all
