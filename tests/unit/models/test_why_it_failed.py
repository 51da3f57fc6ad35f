"""What a table tells about the failure of a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import rhale
from rhale.data import open_table
from rhale.errors import BadPredictionError, BadSettingError, BadTableError, ModelFailedError
from rhale.models.columns import count_missing, describe_missing_columns, find_reason, naming_cause

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
MODEL = LinearRegression().fit(X, X["a"] - X["c"])
GAPS = X.assign(b=X["b"].where(X.index > 4), c=X["c"].where(X.index != 7))


def test_columns_with_missing_values_are_named_before_the_model_speaks():
    with pytest.raises(ModelFailedError) as failed:
        rhale.explain(MODEL, GAPS)
    said = str(failed.value)
    assert said.startswith("values are missing in 'b' (5 of 60 rows) and 'c' (1); the model failed")
    assert "Input X contains NaN" in said


def test_so_they_are_where_the_model_answers_nan():
    with pytest.raises(BadPredictionError, match=r"^values are missing in 'b' \(5 of 60 rows\); "):
        rhale.explain(lambda rows: rows["b"].to_numpy(), GAPS[["a", "b"]])


def test_missing_values_of_every_kind_of_column_are_counted():
    table = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0],
            "text": ["x", None, None],
            "date": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "whole": [1, 2, 3],
        }
    )
    assert count_missing(open_table(table)) == {"number": 1, "text": 2, "date": 1}


def test_columns_of_the_training_that_are_not_there_are_named():
    with pytest.raises(BadTableError, match=r"^the table has no column 'b', .* did you mean 'B'\?"):
        rhale.explain(MODEL, X.rename(columns={"b": "B"}))


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (
            ModelFailedError("it takes no text"),
            ["a", "b"],
        ),  # the table has gaps, but that is not it
        (ModelFailedError("too few columns"), ["u", "v"]),  # a table of another kind
        (ModelFailedError("too few columns"), None),
        (BadTableError("nan is no column"), ["a"]),
    ],
)
def test_what_the_table_does_not_tell_is_left_to_the_model(error, wanted):
    assert find_reason(error, wanted, open_table(GAPS)) is None
    with pytest.raises(type(error)) as raised, naming_cause(wanted, open_table(GAPS)):
        raise error
    assert raised.value is error


def test_other_errors_pass():
    error = BadSettingError("nan")
    with pytest.raises(BadSettingError, match=r"^nan$"), naming_cause(["z"], open_table(GAPS)):
        raise error


def test_many_columns_are_counted():
    gaps = {f"x{i}": 10 - i for i in range(8)}
    assert describe_missing_columns(gaps, 1000).endswith("'x5' (5) and 2 more columns")
    assert describe_missing_columns({"x": 1}, 1000) == "values are missing in 'x' (1 of 1,000 rows)"
