import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from rhale.errors import BadTableError
from rhale.models.expected_columns import columns_for, columns_of

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


def test_a_model_that_does_not_say_names_no_columns():
    assert columns_for(len, ["a"]) is None


def test_missing_columns_are_named():
    with pytest.raises(BadTableError, match=r"no column 'c', which .* did you mean 'C'|Known"):
        columns_for(MODEL, ["a b", "C", "d"])
