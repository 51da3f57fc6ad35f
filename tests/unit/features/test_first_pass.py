import numpy as np
import pandas as pd
import pytest

from rhale.data import open_table
from rhale.errors import BadTableError, UnknownFeatureError
from rhale.features.feature import FirstPass, Reader, parse_limits_setting
from rhale.regions.settings import Regions
from rhale.settings import Settings

X = np.random.default_rng(8).uniform(-1, 1, size=(100, 2))
TABLE = open_table(pd.DataFrame(X, columns=["a", "b"]))
NAMED = open_table(pd.DataFrame({"a": X[:, 0], "c": ["u", "v"] * 50, "d": X[:, 1]}))


def settled(table, **asked):
    first = FirstPass.plan(table, Settings(**asked))
    return first.resolve_columns(first.task(table.chunk(0, table.n_rows)))


def test_limits_are_read_by_name_position_or_alone():
    def reader(*columns):
        return Reader(TABLE, None, columns, (), {}, Settings())

    assert parse_limits_setting(None, reader(0, 1), 2) == {}
    assert parse_limits_setting((0, 1), reader(1), 1) == {1: (0.0, 1.0)}
    both = parse_limits_setting({"b": [0, 1], 0: (2, 3)}, reader(0, 1), 2)
    assert both == {1: (0.0, 1.0), 0: (2.0, 3.0)}
    with pytest.raises(UnknownFeatureError, match="'c'"):
        parse_limits_setting({"c": (0, 1)}, reader(0, 1), 2)


def test_columns_beside_the_explained_ones_are_sampled():
    assert FirstPass.plan(NAMED, Settings(features="a")).auxiliary_columns == [1, 2]
    assert FirstPass.plan(NAMED, Settings(features="c")).auxiliary_columns == [0, 2]


def test_columns_of_wide_tables_are_sampled_where_levels_need_an_order(monkeypatch):
    monkeypatch.setattr("rhale.features.feature.MOST_COMBINED", 2)
    assert FirstPass.plan(NAMED, Settings(features="a")).auxiliary_columns == []
    assert FirstPass.plan(NAMED, Settings(features="c")).auxiliary_columns == [0, 2]
    given = Settings(features="c", categorical={"c": ["v", "u"]})
    assert FirstPass.plan(NAMED, given).auxiliary_columns == []


def test_features_stand_in_the_order_that_was_asked_for_and_names_have_numbers():
    found = settled(NAMED, features=["c", "a"])
    assert [(f.name, f.kind, f.place) for f in found.features] == [
        ("c", "categories", 0),
        ("a", "number", 1),
    ]
    assert set(found.probe.column(1)) == {0.0, 1.0}
    assert found.features[1].axis.low == X[:, 0].min()


def test_one_row_is_too_few():
    first = FirstPass.plan(TABLE, Settings())
    with pytest.raises(BadTableError, match="one row"):
        first.resolve_columns(first.task(TABLE.chunk(0, 1)))


def test_columns_that_nobody_named_may_hold_what_cannot_be_read():
    rows = pd.DataFrame({"a": X[:, 0], "lists": [[1]] * len(X), "ids": 2**60 + np.arange(len(X))})
    rows["infinite"] = np.where(np.arange(len(X)) == 3, -np.inf, 1.0)
    rows["b"] = X[:, 1]
    table = open_table(rows)
    found = settled(table, features="a", regions=Regions())
    assert [feature.name for feature in found.splitters] == ["a", "b"]
    named = FirstPass.plan(table, Settings(features="a", regions=Regions(splitters=["ids", "b"])))
    assert named.offered == []
    with pytest.raises(BadTableError, match="'ids' has whole numbers beyond"):
        named.resolve_columns(named.task(table.chunk(0, len(X))))
