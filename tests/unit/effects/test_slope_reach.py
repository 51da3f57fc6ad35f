from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.conftest import make_stepped

import rhale
from rhale.effects.staircase import Jump
from rhale.effects.support import hold_jumps, reach_slopes

UP, DOWN = Jump(1.0, 1.0, 2.0), Jump(3.0, 3.0, -1.0)


def binned(stepped, edges, *jumps):
    """The stepped effect in other bins, of which these jumps are real ones."""
    x = np.linspace(0.0, 4.0, 401)
    made = rhale.effect(x, np.zeros(x.size), bins=rhale.Edges(edges))
    made = replace(made, stairs=stepped.stairs)
    vars(made)["jumps"] = jumps  # as the property keeps them
    return made


def test_a_bin_holds_the_jumps_at_which_it_is_behind(stepped):
    effect = binned(stepped, [0, 0.5, 1, 3, 4], UP, DOWN)
    assert hold_jumps(effect).tolist() == [False, True, True, False]


def test_the_axis_leaves_out_most_of_a_jump(stepped):
    effect = binned(stepped, [0, 0.985, 1.005, 2, 4], UP)
    np.testing.assert_allclose(effect.mean, [0, 100, 0, -0.5], atol=1e-9)
    assert reach_slopes(effect) == pytest.approx((-0.5, 0.25))  # half as far again, but no farther


@pytest.mark.parametrize(
    ("edges", "jumps"),
    [
        ([0, 0.985, 1.005, 2, 4], ()),  # no real jump
        ([0, 2, 4], (UP,)),  # 1 beside 0.5: all can be seen
        ([0, 0.985, 1.005, 2.985, 3.005, 4], (UP, DOWN)),  # nothing else moves
    ],
)
def test_slopes_that_can_be_compared_are_shown_whole(stepped, edges, jumps):
    assert reach_slopes(binned(stepped, edges, *jumps)) is None


def test_what_has_no_stairs_is_shown_whole(every_kind):
    assert [reach_slopes(result) for result in every_kind] == [None] * 6


@given(st.lists(st.floats(0.01, 3.99), min_size=1, max_size=12, unique=True), st.booleans())
def test_no_slope_without_a_jump_is_ever_cut(limits, both):
    jumps = (UP, DOWN) if both else (DOWN,)
    effect = binned(make_stepped(), [0.0, *sorted(limits), 4.0], *jumps)
    reach = reach_slopes(effect)
    if reach is not None:
        rest = effect.mean[~hold_jumps(effect)]
        assert reach[0] <= rest.min(initial=0.0) <= rest.max(initial=0.0) <= reach[1]
