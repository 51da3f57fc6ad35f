"""Broken lines, against NumPy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.stats.interpolation import BucketedLimits, Knots

numbers = st.floats(-1e9, 1e9, allow_subnormal=False)
wild = st.one_of(numbers, st.sampled_from([0.0, 5e-324, -1e-300, 1e300, -1e300]))


@given(st.lists(wild, max_size=40, unique=True), st.lists(wild, max_size=20))
def test_values_are_located_as_by_searchsorted(limits, more):
    limits = np.sort(np.array(limits, dtype=float))
    x = np.concatenate([limits, np.nextafter(limits, np.inf), np.nextafter(limits, -np.inf), more])
    assert (
        BucketedLimits(limits).locate(x).tolist()
        == np.searchsorted(limits, x, side="right").tolist()
    )


@pytest.mark.parametrize("limits", [[0.0, 5e-324], [0.0, 1e-310, 1e-309], [-1e308, 0.0, 1.7e308]])
def test_spans_without_a_scale_are_searched(limits):
    limits = np.array(limits)
    x = np.concatenate([limits, [-1.7e308, 1.0, 1.7e308]])
    assert (
        BucketedLimits(limits).locate(x).tolist()
        == np.searchsorted(limits, x, side="right").tolist()
    )


@given(st.lists(numbers, min_size=1, max_size=30, unique=True), st.integers(0, 1000))
def test_lines_are_those_of_interp(knots, seed):
    knots, rng = np.sort(np.array(knots)), np.random.default_rng(seed)
    one, two = rng.normal(size=(2, knots.size))
    x = np.concatenate([knots, rng.uniform(knots[0] - 1, knots[-1] + 1, 50)])
    found = Knots(knots).read(x, one, two)
    for line, heights in zip(found, (one, two), strict=True):
        assert line == pytest.approx(np.interp(x, knots, heights), rel=1e-12, abs=1e-12)


def test_places_in_random_order_and_on_the_knots_give_the_very_same_bits():
    rng = np.random.default_rng(0)
    knots = np.unique(rng.lognormal(0, 2, 500))
    heights, x = rng.normal(size=knots.size), np.concatenate([rng.lognormal(0, 2, 5000), knots])
    assert Knots(knots).read(x, heights)[0].tolist() == np.interp(x, knots, heights).tolist()
