"""What may be asked for when rows are told apart."""

import pytest

from rhale.errors import BadSettingError
from rhale.regions.settings import By, Regions, parse_regions_option


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"depth": 0}, "depth=0 of regions is none of 1, 2 and 3"),
        ({"depth": 4}, "depth=4 of regions is none of 1, 2 and 3"),
        ({"depth": True}, "depth=True of regions is none of 1, 2 and 3"),
        ({"min_share": 0.5}, "min_share=0.5 of regions is not a share between 0 and 0.5"),
        ({"min_gain": 0.0}, "min_gain=0.0 of regions is not a share between 0 and 0.5"),
        ({"min_total": "x"}, "min_total='x' of regions is not a share between 0 and 0.5"),
        ({"min_output": -1.0}, "min_output=-1.0 of regions is not a number of zero or more"),
        ({"confidence": float("inf")}, "confidence=inf of regions is not a number"),
        ({"splitters": "sex"}, "splitters='sex' is one name; pass a list"),
    ],
)
def test_settings_that_make_no_sense_are_refused(asked, words):
    with pytest.raises(BadSettingError, match=words):
        Regions(**asked)


def test_a_bar_beside_steps_is_set_no_more():
    with pytest.warns(DeprecationWarning, match="min_noise= of regions does nothing any more"):
        asked = Regions(min_noise=2.0)
    assert asked == Regions()


@pytest.mark.parametrize("name", ["min_rows", "search_rows"])
def test_counts_are_whole(name):
    with pytest.raises(BadSettingError, match=name):
        Regions(**{name: 1.5})


def test_what_is_asked_for_is_read():
    for asked, read in ((None, None), (False, None), (True, Regions()), (By("sex"), By("sex"))):
        assert parse_regions_option(asked) == read
    with pytest.raises(BadSettingError, match="regions='yes' is not understood"):
        parse_regions_option("yes")


def test_splitters_are_kept_as_they_were_named():
    assert Regions(splitters=["a", 2]).splitters == ("a", 2)


def test_a_column_is_cut_or_its_levels_are_united():
    with pytest.raises(BadSettingError, match="has cuts and groups"):
        By("age", cuts=[1], groups={"a": ["x"]})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"column": None}, r"By\(None\) names no groups; pass a column, or regions"),
        ({"column": 2.5}, r"By\(2.5\) names no groups"),
        ({"column": True}, r"By\(True\) names no groups"),
        ({"column": "age", "cuts": 30}, r"cuts=30\) is not a list of cuts; pass cuts=\[30\]"),
        ({"column": "age", "cuts": "30"}, r"cuts='30'\) is not a list of cuts; pass cuts=\['30'\]"),
        ({"column": "sex", "groups": ["f"]}, r"groups=\['f'\]\) names no groups"),
        ({"column": "sex", "groups": {}}, r"names no groups.*groups=\{'name': \[levels\]\}"),
        ({"column": "sex", "groups": {"x": []}}, r"group 'x' of \[\]; pass a list of levels"),
        ({"column": "sex", "groups": {"x": "f"}}, "group 'x' of 'f'; pass a list of levels"),
        ({"column": "sex", "groups": {"x": 1}}, "group 'x' of 1; pass a list of levels"),
    ],
)
def test_groups_that_make_no_sense_are_refused(asked, words):
    with pytest.raises(BadSettingError, match=words):
        By(**asked)


def test_cuts_and_groups_are_kept_as_they_were_named():
    assert By("age", cuts=iter([30, 50])).cuts == (30, 50)
    assert By("zip", groups={1: [8000, 8001]}).groups == {"1": (8000, 8001)}
    assert By("age").columns == ("age",)
    assert Regions(splitters=["a"]).columns == ("a",)
    assert Regions().columns == ()
