import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.models.trees.forest import (
    CATEGORY,
    NUMBER,
    ROUNDED_TO_ZERO,
    ZERO_IS_MISSING,
    Forest,
    interpolate_thresholds,
    own_cuts,
    undo_single,
)
from rhale.models.trees.walk import LIGHTGBM_ZERO

floats = st.floats(allow_nan=False, width=64)


@given(st.one_of(floats, st.floats(allow_nan=False, width=32)))
def test_the_place_is_the_first_double_that_rounds_to_the_cut_or_above(cut):
    place = undo_single(np.array([cut]))[0]
    with np.errstate(over="ignore"):
        assert float(np.float32(place)) >= cut
        before = np.nextafter(place, -np.inf)
        assert cut == -np.inf or float(np.float32(before)) < cut


@given(st.lists(floats, min_size=2, max_size=20))
def test_places_never_fall(cuts):
    found = undo_single(np.sort(cuts))
    assert np.all(found[1:] >= found[:-1])


def forest_of(cuts, kind, *, is_single=False):
    none = np.empty(0, np.int64)
    return Forest(
        nodes=np.empty((0, 4), np.uint32), bits=np.zeros(1, np.uint32), roots=none, targets=none,
        leaves=np.empty((0, 1), np.int64), exponent=0, cuts=np.array(cuts, dtype=float),
        cut_starts=np.array([0, len(cuts)], dtype=np.uint64), kinds=np.array([kind]),
        n_outputs=1, depth=0, is_single=is_single,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [CATEGORY, ZERO_IS_MISSING])
def test_features_that_are_no_ordinary_numbers_have_no_places(kind):
    assert own_cuts(forest_of([3.0], kind), 0) is None
    assert own_cuts(forest_of([], kind), 0).size == 0


CLOSE = [0.0, 1e-40, 5e-36, LIGHTGBM_ZERO, np.nextafter(LIGHTGBM_ZERO, 1), 2e-35, 1.0]


@pytest.mark.parametrize("cut", [*CLOSE, *(-c for c in CLOSE)])
@pytest.mark.parametrize("kind", [NUMBER, ROUNDED_TO_ZERO])
@pytest.mark.parametrize("is_single", [False, True])
def test_values_at_or_above_a_place_are_those_that_are_coded_behind_it(cut, kind, is_single):
    walk = pytest.importorskip("rhale.models.trees.walk")
    place = own_cuts(forest_of([cut], kind, is_single=is_single), 0)[0]
    x = np.array([*CLOSE, *(-c for c in CLOSE), cut, place])
    x = np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    code = np.empty(x.size, np.uint32)
    walk.encode(x.copy(), np.array([cut]), kind, is_single, code)
    assert ((code == 2) == (x >= place)).all()


def test_places_lie_between_the_values_that_differ():
    values = np.array([1.0, 2.0, 4.0, 8.0])
    found = interpolate_thresholds(
        np.array([-1.0, 0.0, 0.5, 1.0, 2.5, 3.0, 3.1]), np.log2(values), values
    )
    assert found.tolist() == [-np.inf, -np.inf, 1.5, 2.0, 6.0, 8.0, np.inf]


@pytest.mark.parametrize("seen", [[0.0, 2.0, 1.0], [0.0, np.nan, 1.0], [0.0, 1.0, np.inf]])
def test_values_in_another_order_have_no_places(seen):
    assert interpolate_thresholds(np.array([0.5]), np.array(seen), np.arange(3.0)) is None


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True),
    st.lists(st.floats(-3e18, 3e18), min_size=1, max_size=9, unique=True),
)
def test_the_given_values_are_on_the_right_side(values, cuts):
    values, cuts = np.sort(values), np.sort(cuts)
    seen = values**3
    found = interpolate_thresholds(cuts, seen, values)
    assert np.all(np.diff(found[np.isfinite(found)]) >= 0)
    assert ((values[:, None] >= found) == (seen[:, None] >= cuts)).all()
