"""Jump cells and sums of jumps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.jumps import (
    N_JUMP_GROUPS,
    JumpMarks,
    JumpSums,
    find_jump_cells,
    find_jump_reach,
    join_marks,
    make_jump_rows,
    near_share,
)


def axis_of(x: np.ndarray) -> FeatureAxis:
    values, count = np.unique(x, return_counts=True)
    return FeatureAxis(float(x.min()), float(x.max()), values, count.astype(float), float(x.size))


def near_by_hand(x: np.ndarray, place: float, share: float, least: int) -> tuple[float, float]:
    """Rows near a place: counted one by one."""
    ordered, n = np.sort(x), x.size
    below = int(np.sum(x < place))
    half = min(max(min(below, n - below), least / 2), max(share * n, least) / 2)
    first, last = int(np.floor(below - half)), int(np.ceil(below + half))
    first, last = max(first, 0), min(last, n)
    if last - first < least:
        first, last = (max(n - least, 0), n) if last == n else (0, min(least, n))
    return ordered[first], ordered[last - 1]


@given(st.integers(0, 10_000), st.integers(2, 300), st.sampled_from([0.02, 0.1, 0.15]))
def test_neighbourhoods_hold_as_many_rows_on_both_sides(seed: int, n: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n), 1)
    if x.min() == x.max():
        return
    cuts = np.sort(rng.uniform(x.min(), x.max(), 7))
    found = find_jump_cells(axis_of(x), cuts, share, inner=True)
    kept = cuts[(cuts > x.min()) & (cuts <= x.max())]
    np.testing.assert_array_equal(found.places, kept)
    expected = [near_by_hand(x, t, share, 20) for t in kept]
    np.testing.assert_array_equal(np.column_stack([found.starts, found.stops]), expected)
    # and the innermost quarter of these rows, ten at least
    assert found.inner is not None
    starts, stops = found.inner
    expected = [near_by_hand(x, t, share / 4, 10) for t in kept]
    np.testing.assert_array_equal(np.column_stack([starts, stops]), expected)
    assert np.all(starts >= found.starts)
    assert np.all(stops <= found.stops)
    assert find_jump_cells(axis_of(x), cuts, share).inner is None


@given(st.integers(0, 10_000))
def test_rows_serve_the_cells_in_whose_neighbourhood_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=60), 1)
    found = find_jump_cells(axis_of(x), np.sort(rng.normal(size=9)), 0.1)
    asked = np.append(x, [np.nan, 99.0, -99.0])
    first, last = found.serve(asked)
    served = (np.arange(found.n_cells) >= first[:, None]) & (
        np.arange(found.n_cells) < last[:, None]
    )
    inside = (asked[:, None] >= found.starts) & (asked[:, None] <= found.stops)
    np.testing.assert_array_equal(served, inside)


def test_thresholds_outside_the_rows_have_no_cell() -> None:
    found = find_jump_cells(axis_of(np.arange(50.0)), np.array([0.0, 0.5, 49.0, 49.5]), 0.1)
    np.testing.assert_array_equal(found.cell_of_cut, [-1, 0, 1, -1])
    np.testing.assert_array_equal(found.places, [0.5, 49.0])


@given(st.integers(0, 1000), st.integers(3, 40))
def test_close_thresholds_share_a_cell_where_there_are_too_many(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.exponential(size=200))
    found = find_jump_cells(axis_of(rng.exponential(size=500)), cuts, 0.1, most)
    assert found.n_cells <= most
    assert found.is_merged
    kept = found.cell_of_cut[found.cell_of_cut >= 0]
    assert set(np.diff(kept)) <= {0, 1}
    assert kept[0] == 0
    for cell, place in enumerate(found.places):
        assert place in cuts[found.cell_of_cut == cell]


def test_neighbourhoods_get_narrower_with_more_rows() -> None:
    np.testing.assert_allclose(
        [near_share(n) for n in (500, 2000, 10_000)], [0.126, 0.079, 0.046], atol=1e-3
    )


def test_shares_do_not_depend_on_rounding_of_the_total() -> None:
    key, weight = np.arange(64, dtype=np.uint64), np.linspace(0.1, 2, 64)
    total = float(weight.sum())
    rows, again = (make_jump_rows(key, weight, t) for t in (total, np.nextafter(total, 0)))
    np.testing.assert_array_equal(rows.share, again.share)
    assert 0.5 < rows.share.sum() <= 1
    np.testing.assert_array_equal(np.bincount(rows.group), np.full(N_JUMP_GROUPS, 2))


def test_rows_without_weights_count_alike() -> None:
    rows = make_jump_rows(np.arange(5, dtype=np.uint64), None, 5.0)
    np.testing.assert_array_equal(rows.share, np.full(5, 1 / 8))


def test_sums_over_different_places_do_not_add_up() -> None:
    def sums(n: int, unit: float = 1.0, inner: JumpSums | None = None) -> JumpSums:
        return JumpSums(
            np.ones((2, n, 1), np.int64),
            np.ones((2, n + 1), np.int64),
            np.ones((2, n + 1), np.int64),
            unit,
            inner,
        )

    both = sums(3, inner=sums(3)) + sums(3, inner=sums(3))
    assert both.inner is not None
    for own in (both, both.inner):
        assert (own.jumps == 2).all()
        assert (own.near == 2).all()
        assert (own.row_shares == 2).all()
    for other in (sums(4), sums(3, 0.5)):
        with pytest.raises(ValueError, match="cannot be added"):
            sums(3) + other


def test_sums_between_two_cells_are_those_of_the_cells_alone():
    """Rows that stand before or behind them stand at their ends; near is kept as steps."""
    rng = np.random.default_rng(0)
    near = rng.integers(0, 9, (N_JUMP_GROUPS, 5))
    sums = JumpSums(
        jumps=rng.integers(-9, 9, (N_JUMP_GROUPS, 5, 2)),
        near=np.diff(near, axis=1, prepend=0, append=0),
        row_shares=rng.integers(0, 9, (N_JUMP_GROUPS, 6)),
        unit=1.0,
    )
    found = sums.between(1, 4)
    np.testing.assert_array_equal(found.jumps, sums.jumps[:, 1:4])
    np.testing.assert_array_equal(
        np.cumsum(found.near, axis=1), np.pad(near[:, 1:4], ((0, 0), (0, 1)))
    )
    ends = [
        sums.row_shares[:, :2].sum(1),
        sums.row_shares[:, 2],
        sums.row_shares[:, 3],
        sums.row_shares[:, 4:].sum(1),
    ]
    np.testing.assert_array_equal(found.row_shares, np.stack(ends, axis=1))


def test_sums_of_parts_stand_one_behind_the_other():
    both = [
        JumpSums(*(np.full((N_JUMP_GROUPS, *s), k) for s in ((2, 1), (3,), (3,))), 1.0)
        for k in (1, 2)
    ]
    names = ("jumps", "near", "row_shares")
    sums = JumpSums(*(np.concatenate([getattr(p, n) for p in both]) for n in names), 1.0)
    for k, part in enumerate(both):
        for name in names:
            np.testing.assert_array_equal(getattr(sums.of_part(k), name), getattr(part, name))


@given(seed=st.integers(0, 10**6))
def test_what_is_reached_is_near_or_inside_a_window(seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(20, 8, replace=False)).astype(float)
    near = tuple(np.sort(rng.integers(0, 9, (2, 6)), axis=0))
    window = tuple(np.sort(rng.integers(-2, 22, (2, 6)), axis=0) / 1.0)
    cells = np.arange(8)
    for i, (first, last) in enumerate(zip(*find_jump_reach(places, near, window), strict=True)):
        seen = (cells >= near[0][i]) & (cells < near[1][i])
        seen |= (places > window[0][i]) & (places < window[1][i])
        mine = cells[seen]
        assert (first, last) == (mine[0], mine[-1] + 1) if mine.size else first >= last


def test_marks_of_parts_stand_one_behind_the_other():
    ends = np.arange(2.0), np.arange(2.0) + 1
    cells = np.array([0, 1]), np.array([2, 3])
    one = JumpMarks(np.array([4, 5]), cells, cells, ends, np.zeros(2, dtype=int))
    both = join_marks([one, one.of_part(3)])
    assert both.n_marks == 4
    assert both.part.tolist() == [0, 0, 3, 3]
    assert both.near[1].tolist() == [2, 3, 2, 3]
    assert both.window[0].tolist() == [0, 1, 0, 1]
