import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

from rhale.errors import BadTableError
from rhale.models.columns import columns_for, columns_of, describe_left_out_columns, match_columns

X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a b", "c", "d"])
MODEL = LinearRegression().fit(X, X["c"])


def boosted(library, rows):
    module = pytest.importorskip(library)
    if library == "xgboost":
        return module.XGBRegressor(n_estimators=2).fit(rows, X["c"]).get_booster()
    if library == "lightgbm":
        fitted = module.LGBMRegressor(n_estimators=2, verbose=-1, min_child_samples=5)
        return fitted.fit(rows, X["c"]).booster_
    fitted = module.CatBoost({"iterations": 2, "verbose": 0, "allow_writing_files": False})
    return fitted.fit(rows, X["c"])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_boosters_know_their_columns_unless_they_saw_an_array(library):
    assert columns_for(boosted(library, X), ["e", "d", "c", "a b"]) == ["a b", "c", "d"]
    assert columns_of(boosted(library, X.to_numpy())) is None


def test_estimators_of_lightgbm_say_it_behind_a_search_too():
    learner = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=2, verbose=-1)
    assert columns_of(learner) is None
    for model in (learner, GridSearchCV(learner, {"max_depth": [2]}, cv=2)):
        assert columns_for(model.fit(X, X["c"]), ["d", "c", "a b"]) == ["a b", "c", "d"]


def test_a_model_that_does_not_say_names_no_columns():
    assert columns_for(len, ["a"]) is None


def test_missing_columns_are_named():
    with pytest.raises(BadTableError, match=r"no column 'c', which .* did you mean 'C'"):
        columns_for(MODEL, ["a b", "C", "d"])
    with pytest.raises(BadTableError, match=r"no column 'a b', 'c', which .* did you mean 'C'"):
        columns_for(MODEL, ["C", "d"])


def test_a_table_in_memory_is_matched_where_all_columns_are_there():
    assert match_columns(MODEL, ["d", "target", "c", "a b"]) == ["a b", "c", "d"]
    assert match_columns(MODEL, ["a b", "c", "d"]) is None
    assert match_columns(MODEL, ["a b", "C", "d"]) is None
    assert match_columns(MODEL, ["x0", "x1", "x2"]) is None
    assert match_columns(len, ["d", "c"]) is None


def test_names_are_compared_as_lightgbm_writes_them():
    model = boosted("lightgbm", X)
    assert columns_of(model) == ("a_b", "c", "d")
    assert match_columns(model, ["d", "c", "a b", "id"]) == ["a b", "c", "d"]
    assert match_columns(model, ["a b", "c", "d"]) is None


def test_columns_that_are_left_out_are_told():
    note = describe_left_out_columns([f"x{i}" for i in range(12)])
    assert note.kind == "columns"
    assert note.endswith("'x8', 'x9' and 2 more")
    assert (
        describe_left_out_columns(["id"])
        == "column left out, as the model was not fitted on it: 'id'"
    )
