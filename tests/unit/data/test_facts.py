import pytest

from rhale.data.table import ColumnFacts, unite_categories
from rhale.errors import BadTableError


def seen(*, gap=False, categories=None, ordered=False, missing=None):
    return ColumnFacts(("size",), (gap,), (categories,), (ordered,), (missing,))


def test_a_gap_in_either_piece_is_a_gap_of_the_table():
    assert (seen() + seen(gap=True)).gaps == (True,)
    assert (seen() + seen()).gaps == (False,)


def test_categories_of_two_pieces_are_united_in_order_of_appearance():
    found = seen(categories=("S", "L")) + seen(categories=("M", "L"))
    assert found.categories == (("S", "L", "M"),)


def test_a_piece_without_categories_takes_those_of_the_other():
    assert (seen() + seen(categories=("S",))).categories == (("S",),)
    assert (seen(categories=("S",)) + seen()).categories == (("S",),)


def test_what_stands_for_a_missing_value_is_that_of_the_first_piece_that_has_one():
    nan = float("nan")
    assert (seen() + seen(missing=nan)).missing == (nan,)
    assert (seen(missing="NA") + seen(missing=nan)).missing == ("NA",)


@pytest.mark.parametrize(
    ("first", "second"), [(("S", "M", "L"), ("S", "L")), (("M",), ("S", "M", "L"))]
)
def test_ordered_categories_may_lack_some_of_the_others(first, second):
    assert unite_categories("size", first, second, is_ordered=True) == ("S", "M", "L")


@pytest.mark.parametrize("second", [("L", "S"), ("S", "XL")])
def test_ordered_categories_that_contradict_each_other_are_refused(second):
    with pytest.raises(BadTableError, match="ordered categories of 'size' differ"):
        unite_categories("size", ("S", "M", "L"), second, is_ordered=True)
