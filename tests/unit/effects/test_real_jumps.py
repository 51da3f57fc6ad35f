"""Real jumps: found where functions jump, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.staircase import Staircase, find_jumps

SEEDS = st.integers(0, 10_000)
N = 1000
X = (np.arange(N) + 0.5) / N
SMOOTH = {
    "line": lambda z: 3 * z,
    "sine": lambda z: np.sin(6 * z),
    "kink": lambda z: np.abs(z - 0.4),
    "exp": lambda z: np.exp(4 * z),
    "steep": lambda z: np.tanh(8 * (z - 0.5)),
}


def stairs_of(places, jumps, deviation=0.0, x=X):
    """A staircase of rows that jump alike, or with a deviation that they show at all places."""
    n = places.size
    count = np.bincount(np.searchsorted(places, x, "right"), minlength=n + 1)
    # groups of as many rows: the mean jump of the 100 rows near a place has deviation / 10
    sign = np.where(np.arange(32) % 2, 1.0, -1.0)
    return Staircase(
        places=places,
        jumps=jumps,
        near_shares=np.full(n, 100 / x.size),
        row_shares=count / x.size,
        influence=np.outer(sign, np.full(n, deviation / 10 / np.sqrt(32))),
        drawn=np.zeros((2, 32)),
        group_shares=np.full(32, 1 / 32),
        low=float(x.min()),
        high=float(x.max()),
    )


def steps_of(function, n, seed):
    """Steps of a function as trees make them, at uneven places."""
    places = (np.arange(n) + np.random.default_rng(seed).uniform(0.1, 0.9, n)) / n
    middles = np.concatenate([X[:1], (places[1:] + places[:-1]) / 2, X[-1:]])
    return places, np.diff(function(middles))


def add_steps(steps, places, sizes):
    both = np.concatenate([steps[0], places])
    order = np.argsort(both)
    return both[order], np.concatenate([steps[1], sizes])[order]


@pytest.mark.parametrize("name", SMOOTH)
@given(SEEDS, st.integers(60, 250), st.sampled_from([1.0, -0.25]))
def test_smooth_functions_do_not_jump(name, seed, n, scale):
    places, jumps = steps_of(SMOOTH[name], n, seed)
    assert find_jumps(stairs_of(places, scale * jumps), N) == []


@pytest.mark.parametrize("name", ["line", "sine", "kink"])
@given(SEEDS, st.sampled_from([1.0, -2.0]), st.integers(1, 4))
def test_a_jump_is_found_where_it_is(name, seed, sign, n):
    steps = steps_of(lambda z: SMOOTH[name](z) / 3, 120, seed)
    at = 0.3005 + 0.001 * np.arange(n)
    places, jumps = add_steps(steps, at, np.full(n, sign / n))
    (found,) = find_jumps(stairs_of(places, jumps), N)
    assert found.start <= at[0]
    assert found.stop >= at[-1]
    assert found.stop - found.start <= 0.011
    np.testing.assert_allclose(found.size, sign, atol=0.1)


def test_jumps_are_told_in_the_order_of_their_places():
    places, jumps = add_steps(
        steps_of(SMOOTH["line"], 100, 0), np.array([0.7005, 0.2005]), np.array([3.0, -1.0])
    )
    found = find_jumps(stairs_of(places, jumps), N)
    assert [round(one.start, 1) for one in found] == [0.2, 0.7]
    np.testing.assert_allclose([one.size for one in found], [-1, 3], atol=0.15)


def test_small_steps_beside_a_jump_do_not_belong_to_it():
    at = np.array([0.499, 0.5, 0.501, 0.502])
    (found,) = find_jumps(stairs_of(at, np.array([0.01, 1.0, 1.0, -0.01])), N)
    assert found == pytest.approx((0.5, 0.501, 2.0))


def test_rows_must_agree_about_a_jump():
    one = np.array([0.5])
    assert find_jumps(stairs_of(one, np.array([1.0]), deviation=0.49), N) == [(0.5, 0.5, 1.0)]
    assert find_jumps(stairs_of(one, np.array([1.0]), deviation=0.51), N) == []


def test_jumps_are_those_of_as_many_rows_as_are_asked_about():
    """Two per cent of the rows apart: two jumps of many rows, one of fifty; asked in any order."""
    places, sizes = np.array([0.3, 0.5, 0.52]), np.array([0.0, 2.0, 1.0])
    stairs = stairs_of(places, sizes)
    for _ in range(2):
        assert [one.stop for one in find_jumps(stairs, N)] == [0.5]
        assert [one.stop for one in find_jumps(stairs, 50)] == [0.52]


@pytest.mark.parametrize("at", [0.03, 0.97])
def test_ends_of_the_axis_are_no_jumps(at):
    assert find_jumps(stairs_of(np.array([at]), np.array([1.0])), N) == []


def test_a_jump_below_a_tenth_of_the_range_is_none():
    def found(size):
        steps = steps_of(SMOOTH["line"], 200, 1)
        return find_jumps(stairs_of(*add_steps(steps, np.array([0.5]), np.array([size]))), N)

    assert found(0.25) == []
    assert len(found(0.6)) == 1


def test_equal_steps_are_a_slope_if_close_and_jumps_if_not():
    close, far = np.linspace(0.4, 0.6, 9), np.array([0.2, 0.5, 0.8])
    assert find_jumps(stairs_of(close, np.ones(9)), N) == []
    assert [one.start for one in find_jumps(stairs_of(far, np.ones(3)), N)] == list(far)


@pytest.mark.parametrize("n", [0, 5])
def test_a_curve_that_does_not_move_has_no_jumps(n):
    assert find_jumps(stairs_of(np.linspace(0.2, 0.8, n), np.zeros(n)), N) == []
