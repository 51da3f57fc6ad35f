import numpy as np
import pytest

from rhale.plots.categorical_axis import (
    LevelLayout,
    choose_level_labels,
    fold_whole,
    keep_apart,
    lay_out_levels,
)


def equal(n_levels, length=1, *, is_number=False, has_missing=False):
    labels = tuple("x" * length for _ in range(n_levels))
    return LevelLayout(labels, np.arange(float(n_levels)), is_number, has_missing)


def test_missing_values_stand_apart_after_the_last_level():
    assert equal(3, has_missing=True).missing == 3.5
    assert equal(5, is_number=True, has_missing=True).missing == pytest.approx(4.8)
    assert equal(3, has_missing=True).limits[1] > 3.5


def test_levels_of_several_results_are_united(make_levels):
    layout = lay_out_levels([make_levels(("a", "b"), 1.0), make_levels(("c", "b"), 1.0)])
    assert layout.labels == ("a", "b", "c")
    second = make_levels(("c", "b"), 1.0)
    np.testing.assert_array_equal(layout.locate(second, np.array([0.0, 1.0])), [2, 1])


def test_numbers_of_several_results_are_united_in_order(make_levels):
    first = make_levels(("1", "5"), 1.0, edges=[1.0, 5.0])
    layout = lay_out_levels([first, make_levels(("0", "2"), 1.0, edges=[0.0, 2.0])])
    assert layout.labels == ("0", "1", "2", "5")
    assert layout.places.tolist() == [0, 1, 2, 5]
    mixed = lay_out_levels([first, make_levels(("5", "a"), 1.0)])
    assert (mixed.labels, mixed.is_number) == (("1", "5", "a"), False)
    np.testing.assert_array_equal(mixed.locate(first, np.array([1.0, 5.0])), [0, 1])


@pytest.mark.parametrize(
    ("layout", "rotation"),
    [(equal(4, 3), 0.0), (equal(8, 12), 35.0), (equal(40, 12), 90.0), (equal(40, 2), 90.0)],
)
def test_names_are_turned_where_they_would_touch(layout, rotation):
    assert choose_level_labels(layout, 5.0, 10.0, 18).rotation == rotation


def test_numbers_stay_level_and_every_second_is_written():
    naming = choose_level_labels(equal(20, 2, is_number=True), 5.0, 10.0, 18)
    assert naming.rotation == 0.0
    assert [i for i, name in enumerate(naming.labels) if name][:3] == [0, 2, 4]


def test_uneven_places_keep_the_names_that_have_room():
    at = np.array([0.0, 0.1, 0.2, 5.0, 10.0])
    assert keep_apart(list("abcde"), at, [1.0] * 5, 0.0) == ["a", "", "", "d", "e"]


def named(*labels, inches=2.0):
    layout = LevelLayout(labels, np.arange(float(len(labels))), is_number=False, has_missing=False)
    return choose_level_labels(layout, inches, 7.0, 14)


def test_names_go_on_in_a_second_line_before_they_are_turned():
    naming = named("month-to-month", "one year", "two year")
    assert (naming.labels[0], naming.rotation) == ("month-to-\nmonth", 0.0)


def test_names_are_turned_before_they_are_cut():
    naming = named("bank transfer (automatic)", "credit card", "check", "mailed check")
    assert naming.labels[0] == "bank transfer\n(automatic)"
    assert naming.rotation > 0
    assert "…" in named("Donaudampfschifffahrtsgesellschaft", *"abc").labels[0]


@pytest.mark.parametrize("n_levels", range(2, 20))
def test_no_name_is_left_out_or_cut_that_has_room(n_levels):
    naming = named(*(f"level {i}" for i in range(n_levels)), inches=0.2 * n_levels)
    assert [" ".join(name.split()) for name in naming.labels] == [
        f"level {i}" for i in range(n_levels)
    ]


def test_a_name_is_folded_whole_or_not_at_all():
    assert fold_whole("Greater London", 10) == "Greater\nLondon"
    assert fold_whole("Constantinople", 10) is None
    assert fold_whole("a b c d e f g h i j k l m", 10) is None
