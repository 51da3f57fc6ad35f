import pickle
from dataclasses import replace
from datetime import date

import narwhals.stable.v2 as nw
import numpy as np
import pytest

import rhale
from rhale.errors import BadTableError, UnknownFeatureError
from rhale.regions.result import Group, Groups, Partner, Region, RegionTree, Split

NAN, INF = float("nan"), float("inf")
EFFECT = rhale.effect([0.0, 1.0], [1.0, 1.0])


def tree_of(n_regions, splits=(), **changes):
    regions = tuple(Region(f"rule {i}", 5, 1 / n_regions, EFFECT) for i in range(n_regions))
    return RegionTree("x", "y", "found", "", regions, tuple(splits), **changes)


BY_SEX_AND_AGE = tree_of(
    3,
    [
        Split(0, "sex", 1, None, ("f",), "second", first=1, second=-3, others=("m",)),
        Split(1, "age", 0, 40.0, missing="first"),
    ],
)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request):
    pytest.importorskip(request.param)
    return lambda **columns: nw.from_dict(columns, backend=request.param).to_native()


def test_rows_of_a_frame_are_located_by_the_names_of_its_columns(frame):
    rows = frame(sex=["f", "f", "m", None, "f"], more=[0] * 5, age=[40.0, 41.0, 10.0, 10.0, None])
    assert BY_SEX_AND_AGE.locate(rows).tolist() == [0, 1, 2, 2, 0]


def test_rows_of_an_array_are_located_by_the_places_of_its_columns():
    tree = tree_of(2, [Split(0, "age", 1, 40.0)])
    assert tree.locate(np.array([[99.0, 40.0], [0.0, 40.5], [0.0, NAN]])).tolist() == [0, 1, 1]
    assert tree.locate([[0, 0]]).tolist() == [0]


def test_dates_are_cut_as_dates(frame):
    tree = tree_of(2, [Split(0, "day", 0, 1.0, kind="date")])
    rows = frame(day=[date(1970, 1, 2), date(1970, 1, 3), None])
    assert tree.locate(rows).tolist() == [0, 1, 1]


@pytest.mark.parametrize(("rest", "side"), [("first", 0), ("second", 1)])
def test_levels_that_are_named_nowhere_go_where_the_rare_ones_go(frame, rest, side):
    names = {"first": (("a", "other (2 levels)"), ("b",)), "second": (("a",), ("b",))}[rest]
    tree = tree_of(2, [Split(0, "c", 0, None, names[0], others=names[1], rest=rest)])
    assert tree.locate(frame(c=["a", "b", "rare", "new"])).tolist() == [0, 1, side, side]


def test_rows_without_a_value_alone_can_be_a_region(frame):
    tree = tree_of(2, [Split(0, "c", 0, None, (), "first", others=("a",))])
    assert tree.locate(frame(c=["a", None, "b"])).tolist() == [1, 0, 1]


def test_one_region_has_all_rows(frame):
    assert tree_of(1).locate(frame(a=[1, 2])).tolist() == [0, 0]
    assert tree_of(1).locate(np.empty((0, 3))).tolist() == []


def test_groups_between_cuts_are_located(frame):
    """A value at a cut lies below it; rows in no group are told."""
    groups = (Group(high=30.0), Group(30.0, 50.0), Group(INF, INF, missing=True))
    tree = tree_of(3, groups=Groups("age", 0, groups, is_cut=True))
    assert tree.locate(frame(age=[30.0, 30.5, 50.0, 51.0, None])).tolist() == [0, 1, 1, -1, 2]


def test_groups_of_levels_are_located(frame):
    groups = (Group(levels=("a", "b"), name="north"), Group(levels=("c",), missing=True))
    tree = tree_of(2, groups=Groups("city", 0, groups))
    assert tree.locate(frame(city=["a", "c", "b", None, "d"])).tolist() == [0, 1, 0, 1, -1]
    rest = tree_of(3, groups=Groups("city", 0, (*groups, Group(rest=True))))
    assert rest.locate(frame(city=["a", "d"])).tolist() == [0, 2]


def test_what_cannot_be_located_is_told_by_the_name_of_the_column(frame):
    with pytest.raises(UnknownFeatureError, match="'age'"):
        BY_SEX_AND_AGE.locate(frame(sex=["f"]))
    with pytest.raises(BadTableError, match="'sex' is column 1"):
        BY_SEX_AND_AGE.locate(np.ones((2, 1)))
    with pytest.raises(BadTableError, match="column 'age'"):
        BY_SEX_AND_AGE.locate(frame(sex=["f"], age=["old"]))


def test_a_tree_is_a_sequence_of_regions():
    assert len(BY_SEX_AND_AGE) == 3
    assert [region.rule for region in BY_SEX_AND_AGE] == ["rule 0", "rule 1", "rule 2"]
    assert BY_SEX_AND_AGE[-1].rule == "rule 2"
    assert BY_SEX_AND_AGE.splitters == ("sex", "age")
    assert repr(BY_SEX_AND_AGE).startswith("RegionTree('x', found in this model, 'rule 0', ")


CHANGES = [
    {"share": 0.5},
    {"partners": (Partner("a", NAN, 0.1),)},
    {"splits": ()},
    {"sampled": np.array([1])},
    {"groups": Groups("a", 0, ())},
    {"regions": BY_SEX_AND_AGE.regions[:2]},
    {"regions": (replace(BY_SEX_AND_AGE[0], effect=replace(EFFECT, output="z")),)},
]


@pytest.mark.parametrize("change", CHANGES)
def test_trees_compare_by_value(change):
    again = pickle.loads(pickle.dumps(BY_SEX_AND_AGE))  # noqa: S301
    assert again == BY_SEX_AND_AGE
    changed = replace(again, **change)
    assert changed != again
    assert replace(EFFECT, regions=changed) != replace(EFFECT, regions=again)
    assert replace(EFFECT, regions=changed) == replace(EFFECT, regions=replace(changed))


def test_what_a_tree_holds_cannot_be_changed():
    tree = tree_of(1, sampled=np.zeros(3, dtype=np.int64))
    with pytest.raises(ValueError, match="read-only"):
        tree.sampled[0] = 1
