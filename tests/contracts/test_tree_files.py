"""Model files answer as the model that was saved."""

import numpy as np
import pytest
from tests.contracts.test_trees import (
    DOUBLE,
    SILENT,
    SINGLE,
    assert_same_answers,
    catboost,
    lightgbm,
    table,
    target,
    xgboost,
)

from rhale.errors import BadFileError
from rhale.models import wrap
from rhale.models.files.load import load_model

X = table(0)
Y = target(X, 0)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_the_file_of_an_estimator_answers_as_the_estimator(n_classes, booster, tmp_path):
    kind = xgboost.XGBClassifier if n_classes else xgboost.XGBRegressor
    model = kind(n_estimators=60, early_stopping_rounds=2, learning_rate=0.9, booster=booster)
    z = table(1)
    model.fit(X, target(X, n_classes), eval_set=[(z, target(z, n_classes))], verbose=False)
    assert 0 < model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    model.save_model(tmp_path / "model.json")
    expected = model.predict_proba(X) if n_classes else model.predict(X)
    loaded = wrap(tmp_path / "model.json")
    assert loaded.predict(X) == pytest.approx(expected, abs=1e-6)
    assert_same_answers(loaded.model, X, SINGLE)


@pytest.mark.parametrize("name", ["probabilities", "classes", "counts", "doubts", "numbers"])
def test_a_file_of_catboost_answers_as_the_model_that_was_saved(name, tmp_path):
    model = {
        "counts": catboost.CatBoostRegressor(loss_function="Poisson", n_estimators=5, **SILENT),
        "doubts": catboost.CatBoostRegressor(
            loss_function="RMSEWithUncertainty", n_estimators=5, **SILENT
        ),
        "numbers": catboost.CatBoostRegressor(n_estimators=5, **SILENT),
    }.get(name, catboost.CatBoostClassifier(n_estimators=5, **SILENT))
    y = {"counts": np.exp(Y / 2), "numbers": Y, "doubts": Y, "probabilities": target(X, 2)}.get(
        name, np.array(["u", "v", "w"])[target(X, 3)]
    )
    model.fit(X, y).save_model(str(tmp_path / "model.cbm"))
    loaded = wrap(tmp_path / "model.cbm")
    expected = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    assert loaded.predict(X) == pytest.approx(expected)
    assert loaded.labels == wrap(model).labels
    assert_same_answers(loaded.model, X, DOUBLE)


def trained_xgboost(**settings):
    labels = settings.pop("labels", Y)
    rows = settings.pop("rows", X)
    data = xgboost.DMatrix(rows, labels, enable_categorical=True)
    return xgboost.train({"nthread": 1, "max_depth": 3, **settings}, data, 3)


def frame(names):
    """A table whose last column holds categories."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(X[:, :3], columns=["a", "b", "c"])
    return rows.assign(c=pandas.Categorical(np.array(names)[np.arange(len(X)) % 5]))


XGBOOST = {
    "classes": lambda: trained_xgboost(
        objective="multi:softprob", num_class=3, labels=target(X, 3)
    ),
    "labels": lambda: trained_xgboost(objective="multi:softmax", num_class=3, labels=target(X, 3)),
    "dart": lambda: trained_xgboost(booster="dart", rate_drop=0.5),
    "linear": lambda: trained_xgboost(booster="gblinear", max_depth=None),
    "outputs": lambda: trained_xgboost(labels=np.c_[Y, -Y, Y * 2]),
    "leaves of outputs": lambda: trained_xgboost(
        labels=np.c_[Y, -Y, Y * 2], multi_strategy="multi_output_tree"
    ),
    "quantiles": lambda: trained_xgboost(objective="reg:quantileerror", quantile_alpha=[0.1, 0.9]),
    "parallel": lambda: trained_xgboost(num_parallel_tree=2),
    "pruned": lambda: trained_xgboost(tree_method="exact", gamma=5),
    "flat": lambda: trained_xgboost(gamma=1e9),
    "names": lambda: trained_xgboost(rows=frame(["u", "v", "w", "ä", "y"]), max_cat_to_onehot=1),
    "numbers": lambda: trained_xgboost(rows=frame([3, 1, 4, 10, 5]), max_cat_to_onehot=9),
}


@pytest.mark.filterwarnings("ignore:.*Parameters")
@pytest.mark.parametrize("suffix", ["json", "ubj"])
@pytest.mark.parametrize("name", XGBOOST)
def test_whole_files_of_xgboost_answer_as_the_model(name, suffix, tmp_path):
    model = XGBOOST[name]()
    model.save_model(tmp_path / f"model.{suffix}")
    rows = frame(["u", "v", "w", "ä", "y"] if name == "names" else [3, 1, 4, 10, 5])
    data = xgboost.DMatrix(rows if name in ("names", "numbers") else X, enable_categorical=True)
    loaded = load_model(tmp_path / f"model.{suffix}")
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))


LIGHTGBM = {
    "classes": {"objective": "multiclass", "num_class": 3},
    "one against all": {"objective": "multiclassova", "num_class": 3},
    "linear": {"linear_tree": True},
    "forest": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5},
    "dart": {"boosting": "dart"},
    "flat": {"min_data_in_leaf": 10**6},
    "quantile": {"objective": "quantile", "alpha": 0.2},
    "counts": {"objective": "poisson"},
    "monotone": {"monotone_constraints": [1] + [0] * (X.shape[1] - 1)},
}


@pytest.mark.parametrize("name", LIGHTGBM)
def test_whole_files_of_lightgbm_answer_as_the_model(name, tmp_path):
    settings = {"verbose": -1, "num_threads": 1, "num_leaves": 6, "min_data_in_leaf": 5}
    settings |= LIGHTGBM[name]
    labels = target(X, 3) if "num_class" in settings else np.abs(Y)
    data = lightgbm.Dataset(X, labels, params={"linear_tree": name == "linear"})
    model = lightgbm.train(settings, data, 3)
    model.save_model(tmp_path / "model.txt")
    loaded = load_model(tmp_path / "model.txt")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_file_of_lightgbm_keeps_the_categories_of_its_data_frame(tmp_path):
    rows = frame(["u", "v", "w", "ä", "y"])
    settings = {"verbose": -1, "num_threads": 1, "min_data_per_group": 1, "cat_smooth": 1}
    model = lightgbm.train(settings, lightgbm.Dataset(rows, Y), 3)
    model.save_model(tmp_path / "model.txt")
    loaded = load_model(tmp_path / "model.txt")
    assert loaded.pandas_categorical == model.pandas_categorical == [["u", "v", "w", "y", "ä"]]
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_a_file_of_an_unknown_kind_is_answered_with_the_known_ones(tmp_path):
    (tmp_path / "model.h5").write_bytes(b"\x89HDF")
    with pytest.raises(BadFileError, match=r"\.json\), .*\.ubj\), .*\.txt\), .*\.cbm\)"):
        wrap(tmp_path / "model.h5")
