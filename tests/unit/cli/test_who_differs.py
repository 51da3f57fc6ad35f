"""Regions between the command line and `explain`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.cli.values import read_typed_regions, regions_as_typed
from rhale.errors import BadSettingError

NAMES = st.text(st.characters(exclude_characters=",", categories=["L", "N"]), min_size=1)


def test_nothing_typed_is_nothing_asked():
    assert (
        regions_as_typed({"regions": False, "depth": None, "splitters": None, "by": None}) is None
    )
    assert read_typed_regions(None) is None


@given(st.integers(1, 3), st.lists(NAMES, min_size=1))
def test_what_is_typed_is_what_explain_gets(depth, names):
    plain = regions_as_typed({"regions": True, "depth": depth, "splitters": ", ".join(names)})
    assert read_typed_regions(plain) == rhale.Regions(depth=depth, splitters=names)


def test_a_column_called_by_any_name_is_a_column():
    assert read_typed_regions(regions_as_typed({"by": "by"})) == rhale.By("by")


def test_cuts_are_numbers_or_dates():
    plain = regions_as_typed({"by": "sold", "cuts": "2020-01-31, 2021-06-30"})
    assert read_typed_regions(plain) == rhale.By("sold", cuts=["2020-01-31", "2021-06-30"])
    plain = regions_as_typed({"by": "age", "cuts": "30,-1.5"})
    assert read_typed_regions(plain) == rhale.By("age", cuts=[30, -1.5])


def test_a_search_and_named_groups_are_two_things():
    with pytest.raises(BadSettingError, match="use one of the two"):
        regions_as_typed({"regions": True, "by": "sex"})


@pytest.mark.parametrize("name", ["depth", "splitters"])
def test_how_to_search_needs_a_search(name):
    with pytest.raises(BadSettingError, match=f"--{name} .* add --regions"):
        regions_as_typed({name: "1"})
