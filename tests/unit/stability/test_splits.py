from collections import Counter
from datetime import date

import numpy as np
import pytest

from rhale.errors import BadSettingError, BadTableError
from rhale.stability.splits import Scheme, as_units, check_indices, find_missing

# --- schemes ---------------------------------------------------------------------------------------


def test_singular_names_mean_the_same():
    for name in ("half-sample", "subsample", "fold", "bootstrap"):
        assert Scheme(name) == Scheme(f"{name}s")


def test_a_scheme_has_its_usual_settings():
    assert Scheme() == Scheme("half-samples", 20, None, 5)
    assert Scheme("subsamples").share == 2 / 3
    assert Scheme("subsamples", share=0.5).share == 0.5
    assert type(Scheme(n_refits=np.int64(4)).n_refits) is int


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "quarters"}, "'quarters' is not known; use one of half-samples, subsamples, fo"),
        ({"name": None}, "None is not known"),
        ({"name": ["folds"]}, "is not known"),
        (
            {"n_refits": 1},
            "n_refits=1: pass a whole number of 2 or more, because retrained models are compared",
        ),
        ({"n_refits": True}, "n_refits=True: pass"),
        ({"n_refits": 20.0}, "n_refits=20.0: pass"),
        ({"folds": 1}, "folds=1: pass a whole number of 2 or more, because one is left out"),
        ({"folds": False}, "folds=False: pass"),
        ({"folds": "5"}, "folds='5': pass"),
        ({"share": 0.5}, "share=0.5 is for scheme='subsamples'"),
        ({"name": "folds", "share": 0.5}, "folds have none"),
        ({"name": "subsamples", "share": 0.0}, "share=0.0 is not a share"),
        ({"name": "subsamples", "share": 1}, "share=1 is not a share"),
        ({"name": "subsamples", "share": True}, "share=True is not a share"),
        ({"name": "subsamples", "share": "half"}, "share='half' is not a share"),
        ({"name": "subsamples", "share": float("nan")}, "share=nan is not a share"),
        ({"name": "folds", "folds": 3}, "use n_refits=21, say .n_refits=20 is 4 rounds of 5"),
    ],
)
def test_settings_that_make_no_sense_are_refused(fields, said):
    with pytest.raises(BadSettingError, match=said):
        Scheme(**fields)


@pytest.mark.parametrize("name", ["half-samples", "subsamples", "folds", "bootstraps"])
def test_too_few_rows_are_refused(name):
    with pytest.raises(BadSettingError, match=f"{name} were requested, and the table has 3 rows"):
        Scheme(name, n_refits=5).draw(3)
    with pytest.raises(BadSettingError, match="has 2 groups"):
        Scheme(name, n_refits=5).draw(10, groups=[0, 1] * 5)


def test_every_fold_has_a_unit():
    assert len(Scheme("folds").draw(5)) == 20
    with pytest.raises(BadSettingError, match="at least 7"):
        Scheme("folds", n_refits=14, folds=7).draw(6)


@pytest.mark.parametrize("share", [0.1, 0.99])
def test_a_subsample_holds_two_and_leaves_one_out(share):
    with pytest.raises(BadSettingError, match=f"share={share} of 10 rows is (1|10); subsamples"):
        Scheme("subsamples", share=share).draw(10)


def test_halves_of_an_odd_number_take_turns_to_be_larger():
    assert [rows.size for rows in Scheme(n_refits=8).draw(7)] == [4, 3, 3, 4, 4, 3, 3, 4]


def test_an_odd_number_of_halves_leaves_the_last_complement_out():
    five, six = Scheme(n_refits=5).draw(10), Scheme(n_refits=6).draw(10)
    assert len(five) == 5
    for own, other in zip(five, six, strict=False):
        np.testing.assert_array_equal(own, other)


def test_sizes_are_those_of_the_scheme():
    assert {rows.size for rows in Scheme("subsamples").draw(30)} == {20}
    assert {rows.size for rows in Scheme("subsamples", share=0.3).draw(30)} == {9}
    assert sorted(rows.size for rows in Scheme("folds", n_refits=5).draw(12)) == [9, 9, 10, 10, 10]
    assert {rows.size for rows in Scheme("bootstraps").draw(30)} == {30}


def test_every_half_of_four_rows_is_as_likely():
    drawn = Scheme(n_refits=6000).draw(4)[::2]
    counts = Counter(tuple(rows.tolist()) for rows in drawn)
    assert len(counts) == 6
    # 3000 draws of probability 1/6: deviation 20.4
    assert all(abs(count - 500) < 5 * 20.4 for count in counts.values())


@pytest.mark.parametrize("strata", [None, [0, 0, 0, 1, 1, 2, 3]])
def test_every_row_is_in_a_subsample_as_often(strata):
    drawn = Scheme("subsamples", n_refits=7000, share=0.4).draw(7, strata=strata)
    counts = np.bincount(np.concatenate(drawn), minlength=7)  # three of seven, each time
    assert np.all(np.abs(counts - 3000) < 5 * np.sqrt(7000 * 3 / 7 * 4 / 7))


def test_a_bootstrap_draws_with_replacement():
    rows = np.concatenate([np.unique(r) for r in Scheme("bootstraps", n_refits=200).draw(1000)])
    assert rows.size / 200_000 == pytest.approx(1 - 0.999**1000, abs=0.002)


def test_a_bootstrap_of_groups_takes_all_rows_of_a_group_as_often():
    groups = np.array(["a", "b", "a", "c", "d", "d", "d"])
    for rows in Scheme("bootstraps").draw(7, groups=groups):
        times = np.bincount(rows, minlength=7)
        assert times[0] == times[2]
        assert times[4] == times[5] == times[6]
        assert times[[0, 1, 3, 4]].sum() == 4


def test_a_bootstrap_of_strata_keeps_their_sizes():
    strata = np.array([0, 1, 1, 2, 0, 2, 2])
    for rows in Scheme("bootstraps").draw(7, strata=strata):
        assert np.bincount(strata[rows]).tolist() == [2, 2, 3]


def test_groups_win_over_strata():
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    with_both = Scheme().draw(8, groups=groups, strata=[0, 1] * 4)
    for own, other in zip(with_both, Scheme().draw(8, groups=groups), strict=True):
        np.testing.assert_array_equal(own, other)


def test_another_seed_draws_other_rows():
    one, other = Scheme().draw(50, seed=1), Scheme().draw(50, seed=2)
    assert any(a.tolist() != b.tolist() for a, b in zip(one, other, strict=True))


# --- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "c"],
        ("b", "a", "b", "c"),
        np.array(["b", "a", "b", "c"]),
        np.array(["b", "a", "b", "c"], dtype=object),
        [7, -1, 7, 3],
        np.array([0.5, 0.1, 0.5, np.inf]),
        [date(2020, 1, 2), date(2019, 1, 1), date(2020, 1, 2), date(2021, 1, 1)],
        np.array(["2020-01-02", "2019-01-01", "2020-01-02", "2021-01-01"], dtype="datetime64[D]"),
        ["1", 1, "1", 2.5],
        ["nan", "x", "nan", ""],
    ],
)
def test_groups_are_numbered_as_they_appear(labels):
    unit, n_units = as_units(labels, 4)
    assert unit.tolist() == [0, 1, 0, 2]
    assert n_units == 3
    assert unit.dtype == np.intp


def test_every_row_is_a_unit_without_groups():
    unit, n_units = as_units(None, 3)
    assert unit.tolist() == [0, 1, 2]
    assert n_units == 3


def test_columns_of_data_frames_are_groups():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    words = ["b", "a", "b", "c"]
    columns = [pandas.Series(words, index=[9, 9, 8, 7]), pandas.Series(words, dtype="category")]
    columns += [
        pandas.Series([5, 4, 5, 6], dtype="Int64"),
        polars.Series(words),
        arrow.array(words),
    ]
    for column in columns:
        assert as_units(column, 4)[0].tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", None, None],
        ["a", "b", float("nan"), None],
        [1.0, 2.0, np.nan, np.nan],
        np.array(["2020-01-01", "2020-01-02", "NaT", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_a_row_without_a_label_is_named(labels):
    with pytest.raises(BadTableError, match=r"groups has no label in row 2 \(2 of 4 rows"):
        as_units(labels, 4)


def test_missing_values_of_data_frames_are_missing():
    pandas = pytest.importorskip("pandas")
    for column in (pandas.Series([1, None, 3], dtype="Int64"), pandas.Series(["a", None, "b"])):
        with pytest.raises(BadTableError, match="strata has no label in row 1"):
            Scheme().draw(3 + 1, strata=pandas.concat([column, column[:1]]))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            [1, 2, 3],
            r"groups: labels of shape \(3,\) for a table of 4 rows; give one label per row",
        ),
        (np.zeros((4, 1)), r"labels of shape \(4, 1\)"),
        ([[1], [2, 3], [4], [5]], "groups: list for a table"),
        ("site", "groups: str for"),
        ({1: 2}, "groups: dict for"),
        (np.array([[1], {2}, {3}, None, {4}], dtype=object)[[0, 1, 2, 4]], "cannot be compared"),
    ],
)
def test_what_are_no_labels_is_refused(labels, said):
    with pytest.raises(BadTableError, match=said):
        as_units(labels, 4)


def test_missing_parts_of_records_are_missing():
    records = np.array([(True, 1.0), (False, np.nan)], dtype=[("event", "?"), ("time", "f8")])
    assert find_missing(records).tolist() == [False, True]
    assert find_missing(np.array([[1.0, 2.0], [np.nan, 1.0]])).tolist() == [False, True]


# --- the user's own indices ------------------------------------------------------------------------


def assert_rows(found, wanted):
    assert [rows.tolist() for rows in found] == wanted
    assert all(rows.dtype == np.intp for rows in found)


def test_rows_are_read_in_the_users_order():
    assert_rows(check_indices([[3, 1], (0, 0, 2)], None, 4), [[3, 1], [0, 0, 2]])
    assert_rows(check_indices(np.array([[1, 2], [0, 3]], dtype="uint8"), None, 4), [[1, 2], [0, 3]])


def test_masks_are_read():
    mask = np.array([True, False, True, True])
    assert_rows(check_indices([mask, ~mask], None, 4), [[0, 2, 3], [1]])
    assert_rows(check_indices([mask.tolist(), [1]], None, 4), [[0, 2, 3], [1]])


def test_what_was_not_tested_was_trained():
    assert_rows(check_indices(None, [[0], [True, False, True, False]], 4), [[1, 2, 3], [1, 3]])


def test_rows_that_are_left_out_of_both_are_fine():
    assert_rows(check_indices([[0, 1], [2, 3]], [[2], [0]], 4), [[0, 1], [2, 3]])


def test_the_indices_of_cross_validation_are_read():
    selection = pytest.importorskip("sklearn.model_selection")
    pairs = list(selection.KFold(3).split(np.zeros(10)))
    train, test = [a for a, _ in pairs], [b for _, b in pairs]
    assert_rows(check_indices(train, test, 10), [rows.tolist() for rows in train])
    assert_rows(check_indices(None, tuple(test), 10), [rows.tolist() for rows in train])


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        (None, None, "neither train nor test was given"),
        ("rows", None, "train is not a sequence but str"),
        (3, None, "train is not a sequence but int"),
        (iter([[0], [1]]), None, "train is not a sequence but list_iterator"),
        (None, {"train": [], "test": []}, r"test is a mapping; .* pass test=indices\['test'\]"),
        ([0, 1, 2], None, r"train holds single values \(\[0, 1, 2\]\); give one array"),
        (np.array([0, 1, 2]), None, "train holds single values"),
        ([], None, "train lists the rows of 0; at least 2"),
        ([[0, 1]], None, "train lists the rows of 1; at least 2"),
        ([[0, 1], []], None, "train 2 has no rows"),
        ([[0, 1], [False] * 4], None, "train 2 has no rows"),
        ([[0, 1], [1.0, 2.0]], None, "train 2 holds float64 instead of whole numbers"),
        ([[0, 1], ["a"]], None, "train 2 holds object instead"),
        (
            [[0, 1], [0, 4]],
            None,
            "train 2 names row 4, its largest, and the table has 4: use 0 to 3",
        ),
        ([[0, 1], [-1, 2]], None, "train 2 names row -1"),
        ([[0, 1], [True, False]], None, "train 2 is a mask of 2 rows, and the table has 4"),
        (
            [[0, 1], [[0, 1], [2, 3]]],
            None,
            r"train 2 is not a list of rows but list of shape \(2, 2\)",
        ),
        ([[0, 1], ([0], [1, 2])], None, "train 2 is not a list of rows but tuple"),
        ([[0, 1], "ab"], None, "train 2 is not a list of rows but str"),
        (None, [[0], [0, 1, 2, 3]], "test 2 has all 4 rows, which leaves none to train on"),
        ([[0], [1]], [[1], [0], [2]], "train has the rows of 2 retrainings, test of 3"),
        (
            [[0], [1, 2, 3]],
            [[1], [3, 2, 2]],
            "training 2 has 2 rows both in train and in test, row 2",
        ),
    ],
)
def test_indices_that_do_not_fit_are_refused(train, test, said):
    with pytest.raises(BadSettingError, match=said):
        check_indices(train, test, 4)
