import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from rhale.errors import BadTableError
from rhale.models.columns import columns_of, fitted_to

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
    table, left_out = fitted_to(boosted(library, X), X.assign(e=1)[["e", "d", "c", "a b"]])
    assert list(table.columns) == ["a b", "c", "d"]
    assert left_out == ("e",)
    assert columns_of(boosted(library, X.to_numpy())) is None


def test_a_model_that_does_not_say_gets_the_table_as_it_is():
    assert fitted_to(len, X) == (X, ())


def test_a_table_with_the_columns_is_not_copied():
    assert fitted_to(MODEL, X)[0] is X


def test_weights_stay_beside_the_columns_of_the_model():
    table, left_out = fitted_to(MODEL, X.assign(w=1, e=2), besides=["w"])
    assert list(table.columns) == ["a b", "c", "d", "w"]
    assert left_out == ("e",)


def test_missing_columns_are_named():
    with pytest.raises(BadTableError, match=r"no column 'c', which .* did you mean 'C'|Known"):
        fitted_to(MODEL, X.rename(columns={"c": "C"}))
