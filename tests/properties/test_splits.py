"""Laws of splits: what every draw of rows for trainings keeps to, whatever the table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.stability.splits import REFIT_SCHEMES, Scheme, check_indices

few = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(10, 60)
names = st.sampled_from(REFIT_SCHEMES)


def labels_of(n_rows, n_labels, seed):
    """Labels of rows, each of them at least once."""
    rng = np.random.default_rng(seed)
    own = np.append(np.arange(n_labels), rng.integers(0, n_labels, n_rows - n_labels))
    return rng.permutation(own)


@few
@given(sizes, st.integers(2, 9), seeds)
def test_halves_are_disjoint_and_cover_all_rows(n_rows, n_refits, seed):
    drawn = Scheme(n_refits=n_refits).draw(n_rows, seed=seed)
    assert len(drawn) == n_refits
    for one, other in zip(drawn[::2], drawn[1::2], strict=False):
        assert np.sort(np.concatenate([one, other])).tolist() == list(range(n_rows))
        assert abs(one.size - other.size) <= 1


@few
@given(sizes, st.integers(2, 8), st.integers(1, 3), seeds)
def test_the_parts_of_a_round_share_out_the_rows(n_rows, folds, rounds, seed):
    drawn = Scheme("folds", n_refits=folds * rounds, folds=folds).draw(n_rows, seed=seed)
    for start in range(0, folds * rounds, folds):
        tested = [np.setdiff1d(np.arange(n_rows), rows) for rows in drawn[start : start + folds]]
        assert np.sort(np.concatenate(tested)).tolist() == list(range(n_rows))
        assert np.ptp([rows.size for rows in tested]) <= 1


@few
@given(sizes, names, st.integers(5, 10), seeds)
def test_groups_are_never_split(n_rows, name, n_groups, seed):
    groups = labels_of(n_rows, n_groups, seed)
    for rows in Scheme(name, n_refits=5).draw(n_rows, groups=groups, seed=seed):
        times = np.bincount(rows, minlength=n_rows)
        assert all(np.ptp(times[groups == g]) == 0 for g in range(n_groups))
        assert np.all(np.diff(rows) >= 0)


@few
@given(sizes, names, seeds)
def test_the_same_seed_draws_the_same_and_more_keep_the_first(n_rows, name, seed):
    once, more = Scheme(name, n_refits=5), Scheme(name, n_refits=10)
    for one, other in zip(once.draw(n_rows, seed=seed), more.draw(n_rows, seed=seed), strict=False):
        np.testing.assert_array_equal(one, other)


@few
@given(sizes, names, st.integers(1, 10), seeds)
def test_strata_are_divided_as_all_rows_are(n_rows, name, n_strata, seed):
    strata = labels_of(n_rows, n_strata, seed)
    size = np.bincount(strata)
    for rows in Scheme(name, n_refits=10).draw(n_rows, strata=strata, seed=seed):
        own = np.bincount(strata[rows], minlength=n_strata)
        assert np.all(np.abs(own - size * rows.size / n_rows) <= 1)


@few
@given(sizes, names, seeds)
def test_groups_of_one_row_are_rows(n_rows, name, seed):
    scheme, labels = Scheme(name, n_refits=5), [f"row {i}" for i in range(n_rows)]
    grouped = scheme.draw(n_rows, groups=labels, seed=seed)
    for one, other in zip(scheme.draw(n_rows, seed=seed), grouped, strict=True):
        np.testing.assert_array_equal(one, other)


@few
@given(sizes, st.sampled_from(["half-samples", "subsamples", "folds"]), seeds)
def test_what_was_drawn_is_read_back(n_rows, name, seed):
    drawn = Scheme(name, n_refits=5).draw(n_rows, seed=seed)
    masks = [np.isin(np.arange(n_rows), rows) for rows in drawn]
    for own in (
        check_indices(drawn, None, n_rows),
        check_indices(masks, [~m for m in masks], n_rows),
        check_indices(None, [~m for m in masks], n_rows),
    ):
        assert all(a.tolist() == b.tolist() for a, b in zip(own, drawn, strict=True))
