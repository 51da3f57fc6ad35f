"""Columns that are no features are taken out of the table, whatever its kind; see tests/unit/stability/test_refit.py, too."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError
from rhale.features.row_columns import open_in_memory, read_column, read_explained_rows
from rhale.settings import Settings

TABLE = pd.DataFrame(
    {"a": [1.0, 2, 3, 4], "price": [5.0, 6, 7, 8], "who": ["x", "x", "y", "z"], "w": [1.0, 0, 2, 1]}
)


@pytest.mark.parametrize("make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas])
def test_target_groups_and_weights_are_no_features(make):
    asked = Settings(weights="w")

    found = read_explained_rows(make(TABLE), asked, target="price", groups="who")

    assert found.table.names == ("a",)
    assert np.asarray(found.target).tolist() == [5, 6, 7, 8]
    assert np.asarray(found.asked.weights).tolist() == [1, 0, 2, 1]
    assert found.units.tolist() == [0, 0, 1, 2]


def test_rows_without_groups_stand_for_themselves():
    assert read_explained_rows(TABLE[["a", "w"]], Settings(), target=[1, 2, 3, 4]).units is None


def test_a_column_of_an_array_is_found_by_its_number():
    table = open_in_memory(np.array([[1.0, 5], [2, 6], [3, 7]]))

    assert read_column(table, 1).tolist() == [5, 6, 7]


@pytest.mark.parametrize(
    ("options", "target", "error", "said"),
    [
        ({}, "prize", UnknownFeatureError, "target='prize' is not a column.*'price'"),
        ({"features": ["a", "price"]}, "price", BadSettingError, "'price', which is the target"),
        ({"columns": ["a", "price"]}, "price", BadSettingError, "columns= names 'price'"),
        ({"weights": "who"}, "price", BadTableError, "'who' is a column without numbers"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(options, target, error, said):
    with pytest.raises(error, match=said):
        read_explained_rows(TABLE, Settings(**options), target=target)


def test_a_table_of_the_target_alone_is_refused():
    with pytest.raises(BadTableError, match="no column beside target; a model needs features"):
        read_explained_rows(TABLE[["price"]], Settings(), target="price")


def test_files_are_refused_since_trainings_have_part_of_the_rows():
    with pytest.raises(BadTableError, match="must be in memory; read the table first"):
        open_in_memory("rows.parquet")


def test_columns_of_an_array_may_be_asked_for_by_names_that_the_user_gives():
    rows = np.arange(8.0).reshape(4, 2)
    read_explained_rows(rows, Settings(feature_names=["age", "bmi"], features=["bmi"]))
    with pytest.raises(UnknownFeatureError, match="'age', 'bmi'"):
        read_explained_rows(rows, Settings(feature_names=["age", "bmi"], features=["x1"]))
