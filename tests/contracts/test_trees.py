"""Walked trees answer as their library does: changed rows, whole explanations, odd models."""

import warnings
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import rhale
from rhale.data import open_table
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.jumps import find_near, near_share
from rhale.models import meet, wrap

pytest.importorskip("numba")
pytest.importorskip("treelite")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
catboost = pytest.importorskip("catboost")
pandas = pytest.importorskip("pandas")

DOUBLE, SINGLE = 1e-9, 1e-5
N_ROWS, N_COLUMNS = 300, 5
QUIET = {"n_jobs": 1, "verbose": -1}
SILENT = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}


def table(seed, *, missing=0.0, dtype=np.float64):
    """Normal, skewed, whole, few-valued and constant-ish columns; some of them missing."""
    rng = np.random.default_rng(seed)
    x = np.column_stack(
        [
            rng.normal(size=N_ROWS),
            rng.lognormal(0, 2, N_ROWS),
            rng.integers(0, 9, N_ROWS),
            rng.choice([0.0, 0.5, 3.0], N_ROWS),
            rng.uniform(-1, 1, N_ROWS),
        ]
    ).astype(dtype)
    x[rng.random(x.shape) < missing] = np.nan
    return x


def target(x, n_classes, seed=0):
    known = np.nan_to_num(x, nan=-0.5)
    y = known[:, 0] + np.log1p(np.abs(known[:, 1])) * known[:, 4] + (known[:, 2] % 3 == 0)
    y = y + 0.1 * np.random.default_rng(seed).normal(size=len(x))
    if not n_classes:
        return y
    return np.digitize(y, np.quantile(y, [0.3, 0.6][: n_classes - 1]))


def walked(model, x, response="auto"):
    """The adapter after it has met the table."""
    chunk = open_table(x).chunk(0, len(x))
    return meet(wrap(model, response=response), chunk)[0]


def changes_of(x, seed):
    """Three changes of every column: other rows' values, the next floats, far away."""
    rng, numbers = np.random.default_rng(seed), np.asarray(x, dtype=np.float64)
    changes = []
    for column in range(numbers.shape[1]):
        others = rng.permutation(numbers[:, column])
        beside = np.nextafter(others, rng.choice([-np.inf, np.inf], len(others)))
        far = numbers[:, column] + rng.normal(0, 3 * np.nanstd(numbers[:, column]) + 1, len(others))
        changes += [(column, others), (column, beside), (column, far)]
    return [changes[i] for i in rng.permutation(len(changes))]


def assert_same_answers(model, x, precision, response="auto", changes=None):
    predictor = walked(model, x, response)
    assert predictor.walks, predictor.notes
    chunk = open_table(x).chunk(0, len(x))
    changes = changes_of(x, 1) if changes is None else changes
    found = predictor.walk(predictor.walker, chunk, changes, "")
    ask = wrap(model, walk=False, response=response)
    for answers, change in zip(found, changes, strict=True):
        expected = np.asarray(ask.predict(chunk.vary([change])), dtype=np.float64)
        expected = expected.reshape(len(x), -1)[:, list(predictor.chosen)]
        assert answers == pytest.approx(expected, abs=precision * max(1, np.abs(expected).max()))


@dataclass(frozen=True)
class Family:
    """A library's regressor and classifier, and what they take."""

    name: str
    regressor: Any
    classifier: Any
    precision: float = DOUBLE
    takes_missing: bool = True
    has_margin: bool = True


FAMILIES = [
    Family("xgboost", xgboost.XGBRegressor, xgboost.XGBClassifier, SINGLE),
    Family("lightgbm", lightgbm.LGBMRegressor, lightgbm.LGBMClassifier),
    Family("catboost", catboost.CatBoostRegressor, catboost.CatBoostClassifier),
    Family("tree", DecisionTreeRegressor, DecisionTreeClassifier, has_margin=False),
    Family("forest", RandomForestRegressor, RandomForestClassifier, has_margin=False),
    Family("extra trees", ExtraTreesRegressor, ExtraTreesClassifier, has_margin=False),
    Family("boosting", GradientBoostingRegressor, GradientBoostingClassifier, takes_missing=False),
    Family("hist", HistGradientBoostingRegressor, HistGradientBoostingClassifier),
]
BY_NAME = {f.name: f for f in FAMILIES}
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)


def options(name, rng):
    """Random hyper-parameters of a family."""
    depth, rounds = int(rng.integers(1, 7)), int(rng.integers(1, 12))
    rate = float(rng.uniform(0.05, 0.9))
    if name == "xgboost":
        return {
            "n_estimators": rounds,
            "max_depth": depth,
            "learning_rate": rate,
            "n_jobs": 1,
            "num_parallel_tree": int(rng.integers(1, 3)),
            "booster": str(rng.choice(["gbtree", "dart"])),
            "rate_drop": 0.3,
            "tree_method": str(rng.choice(["hist", "exact"])),
        }
    if name == "lightgbm":
        return {
            "n_estimators": rounds,
            "num_leaves": int(rng.integers(2, 40)),
            "learning_rate": rate,
            "min_child_samples": 3,
            "boosting_type": str(rng.choice(["gbdt", "dart", "rf"])),
            "subsample": 0.7,
            "subsample_freq": 1,
            "zero_as_missing": bool(rng.integers(2)),
            "use_missing": bool(rng.integers(4)),
            **QUIET,
        }
    if name == "catboost":
        policy = str(rng.choice(["SymmetricTree", "Depthwise", "Lossguide"]))
        return {"n_estimators": rounds, "max_depth": depth, "grow_policy": policy, **SILENT}
    if name == "hist":
        return {"max_iter": rounds, "max_depth": depth + 1, "learning_rate": rate}
    common = {"max_depth": [depth, None][int(rng.integers(2))], "random_state": 0}
    if name == "tree":
        return common
    if name == "boosting":
        return {**common, "n_estimators": rounds, "learning_rate": rate, "max_depth": depth}
    return {**common, "n_estimators": rounds, "bootstrap": True}


@each_family
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.2]))
def test_every_change_of_every_column_is_answered_as_the_library_does(
    family, n_classes, seed, missing
):
    rng = np.random.default_rng(seed)
    x = table(seed, missing=missing if family.takes_missing else 0.0)
    kind = family.classifier if n_classes else family.regressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**options(family.name, rng)).fit(x, target(x, n_classes))
    response = "margin" if family.has_margin and n_classes and rng.integers(2) else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_answers(model, x, family.precision, response)


def simple(name, x, n_classes=0, **more):
    family, rng = BY_NAME[name], np.random.default_rng(3)
    kind = family.classifier if n_classes else family.regressor
    settings_ = options(name, rng) | more
    return kind(**settings_).fit(x, target(x, n_classes))


@each_family
@pytest.mark.parametrize("method", ["ale", "pdp", "ice", "mplot"])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_whole_explanations_are_those_of_the_black_box(family, method, n_classes):
    x = table(0)
    model = simple(family.name, x, n_classes)
    fast = rhale.explain(model, x, method=method)
    slow = rhale.explain(wrap(model, walk=False), x, method=method)
    assert fast.provenance["rows_asked"] < slow.provenance["rows_asked"] or method == "mplot"
    for one, other in zip(fast.values(), slow.values(), strict=True):
        size = max(1.0, np.abs(other.mean).max())
        assert one.mean == pytest.approx(other.mean, abs=30 * family.precision * size)
        assert one.std == pytest.approx(other.std, abs=1e-3 * size)
        assert one.notes == other.notes


def curve_by_predictions(ask, x, column, stairs, near):
    """Mean change of the predictions across each place, over the rows near it, added up."""
    jumps = []
    for place, (start, stop) in zip(stairs.places, near, strict=True):
        mine = x[(x[:, column] >= start) & (x[:, column] <= stop)]
        ends = []
        for value in (
            np.nextafter(np.float32(place), np.float32(-np.inf)),
            np.nextafter(np.float32(place), np.float32(np.inf)),
        ):
            moved = mine.copy()
            moved[:, column] = value
            ends.append(np.asarray(ask.predict(moved), dtype=np.float64).reshape(len(mine), -1))
        jumps.append(np.mean(ends[1] - ends[0], axis=0))
    return np.cumsum(jumps, axis=0)


@each_family
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_curves_are_those_of_predictions_beside_every_threshold(family, n_classes):
    """Of what the library itself answers, a float32 before and behind each threshold."""
    x = table(0)[:120]
    more = {"zero_as_missing": False} if family.name == "lightgbm" else {}
    model = simple(family.name, x, n_classes, **more)
    share = near_share(len(x))  # one share: all rows near a threshold count alike
    fx = rhale.explain(model, x, features=[0], window=share)
    ask = wrap(model, walk=False)
    chosen = [1] if n_classes == 2 else range(len(fx.outputs))
    for output, effect in zip(chosen, fx.values(), strict=True):
        stairs = effect.stairs
        axis = FeatureAxis(*effect.edges[[0, -1]], *np.unique(x[:, 0], return_counts=True), len(x))
        near = np.column_stack(find_near(axis, stairs.places, share))
        expected = curve_by_predictions(ask, x, 0, stairs, near)[:, output]
        found = effect.curve(stairs.places, center="start")
        assert found == pytest.approx(
            expected, abs=30 * family.precision * max(1, np.ptp(expected))
        )


# --- categories, missing values, types -----------------------------------------------------------


def frame(seed=0, *, missing=0.1):
    """Two columns of numbers around one of categories and one of text-like categories."""
    rng = np.random.default_rng(seed)
    colours = rng.choice(["red", "green", "blue", "grey", "black"], N_ROWS)
    data = pandas.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "colour": pandas.Categorical(
                colours, categories=["black", "blue", "green", "grey", "red"]
            ),
            "b": rng.uniform(-1, 1, N_ROWS),
            "size": pandas.Categorical(rng.integers(0, 12, N_ROWS)),
        }
    )
    data.loc[rng.random(N_ROWS) < missing, ["colour", "b"]] = None
    lift = data["colour"].isin(["red", "blue"]).to_numpy() * 2.0
    return data, data["a"].to_numpy() * (1 + lift) + np.nan_to_num(data["b"].to_numpy()) ** 2


CATEGORICAL = {
    "xgboost": lambda: xgboost.XGBRegressor(
        n_estimators=8, enable_categorical=True, max_cat_to_onehot=1, n_jobs=1
    ),
    "xgboost, one by one": lambda: xgboost.XGBRegressor(
        n_estimators=8, enable_categorical=True, max_cat_to_onehot=20, n_jobs=1
    ),
    "lightgbm": lambda: lightgbm.LGBMRegressor(
        n_estimators=8, min_child_samples=5, cat_smooth=1, min_data_per_group=5, **QUIET
    ),
    "hist": lambda: HistGradientBoostingRegressor(max_iter=8, categorical_features="from_dtype"),
}


@pytest.mark.parametrize("name", CATEGORICAL)
def test_categories_of_a_data_frame_are_followed(name):
    data, y = frame()
    model = CATEGORICAL[name]().fit(data, y)
    rng = np.random.default_rng(5)
    changes = [(0, rng.normal(size=N_ROWS)), (2, rng.uniform(-1, 1, N_ROWS))] * 2
    precision = SINGLE if name.startswith("xgboost") else DOUBLE
    assert_same_answers(model, data, precision, changes=changes)
    fast = rhale.explain(model, data, features=["a"], method="ale")
    slow = rhale.explain(wrap(model, walk=False), data, features=["a"], method="ale")
    assert fast["a"].mean == pytest.approx(slow["a"].mean, abs=100 * precision)
    assert rhale.explain(model, data, features=["a"])["a"].stairs.n_places > 0


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "hist"])
def test_a_column_of_numbers_may_be_categorical_for_the_model(name):
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 40, N_ROWS), rng.normal(size=N_ROWS)]).astype(float)
    x[::17, 0] = np.nan
    y = np.isin(x[:, 0] % 7, [0, 1, 5]) * x[:, 1]
    if name == "xgboost":
        model = xgboost.XGBRegressor(
            n_estimators=8, feature_types=["c", "q"], enable_categorical=True,
            max_cat_to_onehot=1, n_jobs=1,
        ).fit(x, y)  # fmt: skip
    elif name == "lightgbm":
        model = lightgbm.LGBMRegressor(
            n_estimators=8, min_child_samples=5, cat_smooth=1, min_data_per_group=5, **QUIET
        ).fit(x, y, categorical_feature=[0])  # fmt: skip
    else:
        model = HistGradientBoostingRegressor(max_iter=8, categorical_features=[0]).fit(x, y)
    never = [-3.0, 39.0, 0.0] if name == "xgboost" else [77.0, -3.0, 0.5]
    changes = [
        (0, rng.integers(0, 40, N_ROWS).astype(float)),
        (0, rng.choice(never, N_ROWS)),
        (0, np.full(N_ROWS, np.nan)),
        (1, rng.normal(size=N_ROWS)),
    ]
    if name == "xgboost":
        changes.pop(1)  # it refuses categories that it has not seen
    assert_same_answers(model, x, SINGLE if name == "xgboost" else DOUBLE, changes=changes)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "hist", "forest"])
def test_tables_of_other_types_are_walked_with_values_that_they_can_hold(name, dtype):
    x = table(2)
    x = (x > 0.4) if dtype is np.bool_ else np.clip(np.abs(x) * 3, 0, 200).astype(dtype)
    model = simple(name, x)
    fast = rhale.explain(model, x, method="ale")
    slow = rhale.explain(wrap(model, walk=False), x, method="ale")
    assert fast.provenance["answers_walked"] > 0
    for one, other in zip(fast.values(), slow.values(), strict=True):
        assert one.mean == pytest.approx(other.mean, abs=30 * BY_NAME[name].precision)


def test_a_value_that_stands_for_missing_is_taken_as_missing():
    x = table(4)
    x[::5, 0] = -99.0
    model = xgboost.XGBRegressor(n_estimators=5, missing=-99.0, n_jobs=1).fit(x, target(x, 0))
    changes = [(0, np.where(np.arange(N_ROWS) % 2, -99.0, x[:, 0])), (1, x[::-1, 1].copy())]
    assert_same_answers(model, x, SINGLE, changes=changes)


# --- rounds, links, boosters, files ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost", "hist", "boosting"])
def test_rounds_after_early_stopping_are_those_of_predict(name):
    x, z = table(0), table(1)
    y, noise = target(x, 0), np.random.default_rng(0).normal(size=N_ROWS)
    if name == "xgboost":
        model = xgboost.XGBRegressor(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
        model.fit(x, y, eval_set=[(z, noise)], verbose=False)
        assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    elif name == "lightgbm":
        model = lightgbm.LGBMRegressor(n_estimators=60, **QUIET)
        stop = lightgbm.early_stopping(2, verbose=False)
        is_new = "eval_X" in signature(model.fit).parameters  # from 4.7 on
        held_out = {"eval_X": z, "eval_y": noise} if is_new else {"eval_set": [(z, noise)]}
        model.fit(x, y, callbacks=[stop], **held_out)
        assert 0 < model.best_iteration_ < 60
    elif name == "catboost":
        model = catboost.CatBoostRegressor(n_estimators=60, early_stopping_rounds=2, **SILENT)
        model.fit(x, y, eval_set=(z, noise))
    elif name == "hist":
        model = HistGradientBoostingRegressor(max_iter=60, early_stopping=True).fit(x, y)
    else:
        model = GradientBoostingRegressor(n_estimators=60, n_iter_no_change=2).fit(x, y)
    assert_same_answers(model, x, BY_NAME[name].precision)


LINKED = {
    "xgboost poisson": lambda: xgboost.XGBRegressor(objective="count:poisson", n_estimators=5),
    "xgboost gamma": lambda: xgboost.XGBRegressor(objective="reg:gamma", n_estimators=5),
    "xgboost tweedie": lambda: xgboost.XGBRegressor(objective="reg:tweedie", n_estimators=5),
    "xgboost base score": lambda: xgboost.XGBRegressor(base_score=3.5, n_estimators=5),
    "xgboost forest": lambda: xgboost.XGBRFRegressor(n_estimators=9),
    "xgboost absolute": lambda: xgboost.XGBRegressor(objective="reg:absoluteerror", n_estimators=5),
    "xgboost quantiles": lambda: xgboost.XGBRegressor(
        objective="reg:quantileerror", quantile_alpha=[0.2, 0.8], n_estimators=4
    ),
    "lightgbm poisson": lambda: lightgbm.LGBMRegressor(
        objective="poisson", n_estimators=5, **QUIET
    ),
    "lightgbm square root": lambda: lightgbm.LGBMRegressor(reg_sqrt=True, n_estimators=5, **QUIET),
    "lightgbm quantile": lambda: lightgbm.LGBMRegressor(
        objective="quantile", alpha=0.8, n_estimators=5, **QUIET
    ),
    "hist poisson": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=5),
    "hist gamma": lambda: HistGradientBoostingRegressor(loss="gamma", max_iter=5),
    "boosting from zero": lambda: GradientBoostingRegressor(init="zero", n_estimators=5),
    "boosting huber": lambda: GradientBoostingRegressor(loss="huber", n_estimators=5),
    "catboost poisson": lambda: catboost.CatBoostRegressor(
        loss_function="Poisson", n_estimators=5, **SILENT
    ),
}


@pytest.mark.parametrize("name", LINKED)
def test_links_and_base_scores_are_the_library_s(name):
    x = table(0)
    model = LINKED[name]().fit(x, np.exp(0.5 * target(x, 0)))
    assert_same_answers(model, x, SINGLE if name.startswith("xgboost") else DOUBLE)


CLASSIFIERS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=5, objective="multi:softprob"),
    "lightgbm one against all": lambda: lightgbm.LGBMClassifier(
        objective="multiclassova", sigmoid=0.7, n_estimators=5, **QUIET
    ),
    "catboost one against all": lambda: catboost.CatBoostClassifier(
        loss_function="MultiClassOneVsAll", n_estimators=5, **SILENT
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_of_several_classes_are_the_library_s(name):
    x = table(0)
    model = CLASSIFIERS[name]().fit(x, target(x, 3))
    assert_same_answers(model, x, SINGLE if name.startswith("xgboost") else DOUBLE)


def test_boosting_by_exponential_loss_has_its_own_link():
    x = table(0)
    model = GradientBoostingClassifier(loss="exponential", n_estimators=5).fit(x, target(x, 2))
    assert_same_answers(model, x, DOUBLE)


def test_forests_of_several_targets_have_several_outputs():
    x = table(0)
    y = np.column_stack([target(x, 0), -target(x, 0, 1)])
    assert_same_answers(RandomForestRegressor(5, random_state=0).fit(x, y), x, DOUBLE)
    assert_same_answers(xgboost.XGBRegressor(n_estimators=5).fit(x, y), x, SINGLE)


def booster_of(name, x, y):
    if name == "xgboost":
        data = xgboost.DMatrix(x, y)
        return xgboost.train({"max_depth": 3, "nthread": 1}, data, 6)
    data = lightgbm.Dataset(x, y)
    return lightgbm.train({"num_threads": 1, "verbose": -1, "min_data_in_leaf": 5}, data, 6)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("response", ["auto", "margin"])
def test_a_booster_is_walked(name, response):
    x = table(0, missing=0.1)
    booster = booster_of(name, x, target(x, 0))
    assert_same_answers(booster, x, BY_NAME[name].precision, response)
    assert wrap(booster).kind.startswith(f"{name} Booster")


@pytest.mark.parametrize("name", ["xgboost.json", "xgboost.ubj", "lightgbm.txt", "catboost.cbm"])
def test_a_model_file_is_loaded_and_walked(name, tmp_path):
    x = table(0)
    path, library = tmp_path / name, name.partition(".")[0]
    if library == "catboost":
        model = simple("catboost", x)
        model.save_model(str(path))
        expected = model.predict(x)
    else:
        booster = booster_of(library, x, target(x, 0))
        booster.save_model(str(path))
        expected = booster.predict(x if library == "lightgbm" else xgboost.DMatrix(x))
    fx = rhale.explain(str(path), x)
    assert fx.provenance["answers_walked"] > 0
    assert np.sort(fx.predictions[:, 0]) == pytest.approx(np.sort(expected), abs=1e-5)


@pytest.mark.parametrize("name", ["bad.json", "bad.ubj", "bad.txt", "bad.cbm"])
def test_a_corrupt_model_file_is_refused_by_name(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(rhale.errors.BadFileError, match=f"no model file .*{name}"):
        wrap(path)
    path.write_bytes(b"{not a model")
    with pytest.raises(rhale.errors.BadFileError, match=f"cannot load .*{name}"):
        wrap(path)


# --- pipelines ---------------------------------------------------------------------------------------


def test_a_pipeline_of_column_by_column_steps_is_walked():
    x = table(0, missing=0.1)
    model = make_pipeline(
        SimpleImputer(),
        VarianceThreshold(0.9),
        StandardScaler(),
        GradientBoostingRegressor(n_estimators=5, random_state=0),
    ).fit(x, target(x, 0))
    assert model[:2].transform(x).shape[1] < N_COLUMNS  # one column is dropped
    assert_same_answers(model, x, DOUBLE)


def test_a_pipeline_with_parts_for_some_columns_is_walked():
    data, y = frame(missing=0.0)
    parts = ColumnTransformer(
        [
            ("names", OneHotEncoder(sparse_output=False), ["colour", "size"]),
            ("scaled", MinMaxScaler(), ["b"]),
        ],
        remainder="passthrough",
    )
    model = make_pipeline(parts, RandomForestRegressor(5, random_state=0)).fit(data, y)
    rng = np.random.default_rng(5)
    changes = [(2, rng.uniform(-1, 1, N_ROWS)), (0, rng.normal(size=N_ROWS))]
    assert_same_answers(model, data, DOUBLE, changes=changes)


def test_a_pipeline_that_mixes_columns_is_asked_and_says_so():
    x = table(0)
    model = make_pipeline(PCA(3), HistGradientBoostingRegressor(max_iter=5)).fit(x, target(x, 0))
    predictor = walked(model, x)
    assert not predictor.walks
    note = "a step before them mixes 'x0' with other columns or makes several of it"
    assert predictor.notes == (
        f"the trees are evaluated as a black box, which is slower and draws jumps as ramps: {note}",
    )
    assert "mixes 'x0'" in rhale.explain(model, x)[0].notes[-1]


# --- what cannot be walked ---------------------------------------------------------------------------


def test_walking_can_be_switched_off():
    x = table(0)
    fx = rhale.explain(wrap(simple("lightgbm", x), walk=False), x)
    assert fx.provenance["answers_walked"] == 0
    assert not [n for e in fx.values() for n in e.notes if "black box" in n]


UNREADABLE = {
    "leaves with lines": lambda x: lightgbm.LGBMRegressor(
        linear_tree=True, n_estimators=5, **QUIET
    ).fit(x, target(x, 0)),
    "no trees": lambda x: xgboost.XGBRegressor(booster="gblinear", n_estimators=3).fit(
        x, target(x, 0)
    ),
    "not from a constant": lambda x: GradientBoostingRegressor(
        init=LinearRegression(), n_estimators=5
    ).fit(x, target(x, 0)),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_trees_that_cannot_be_read_are_asked_and_say_so(name):
    x = table(0)
    model = UNREADABLE[name](x)
    fx = rhale.explain(model, x, features=[0, 4])
    slow = rhale.explain(wrap(model, walk=False), x, features=[0, 4])
    assert fx[0].mean.tolist() == slow[0].mean.tolist()
    assert (
        fx[0]
        .notes[-1]
        .startswith(
            "the trees are evaluated as a black box, which is slower and draws jumps as ramps: "
        )
    )


def test_catboost_with_categories_is_asked_and_says_so():
    data, y = frame(missing=0.0)
    data = data.astype({"colour": str, "size": int})
    model = catboost.CatBoostRegressor(n_estimators=5, cat_features=["colour"], **SILENT)
    predictor = walked(model.fit(data, y), data)
    assert not predictor.walks
    assert "categorical features are not thresholds" in predictor.notes[0]


class Shifted(HistGradientBoostingRegressor):
    """A model whose predict is not the sum of its trees."""

    def predict(self, rows):
        return super().predict(rows) + 1e-3 * np.sin(np.asarray(rows)[:, 0])


def test_trees_that_do_not_give_the_model_s_answers_are_not_walked():
    x = table(0)
    predictor = walked(Shifted(max_iter=5).fit(x, target(x, 0)), x)
    assert not predictor.walks
    assert "where the model returns" in predictor.notes[0]


@pytest.mark.parametrize("library", ["numba", "treelite"])
def test_without_the_extra_the_notes_say_what_to_install(library, monkeypatch):
    from rhale.models.trees import read_model

    real = read_model.find_spec
    monkeypatch.setattr(
        read_model, "find_spec", lambda name: None if name == library else real(name)
    )
    x = table(0)
    fx = rhale.explain(simple("xgboost", x), x)
    assert f'{library} is not installed; pip install "rhale[trees]"' in fx[0].notes[-1]


def test_a_table_with_too_few_columns_is_refused_by_the_model():
    x = table(0)
    with pytest.raises(rhale.errors.ModelFailedError, match="on the first test call"):
        rhale.explain(simple("hist", x), x[:, :3])


class Tolerant(HistGradientBoostingRegressor):
    """A model that looks at the first columns only."""

    def predict(self, rows):
        return super().predict(rows[:, : self.n_features_in_])


def test_columns_that_the_trees_do_not_know_are_left_to_the_model():
    x = table(0)
    model = Tolerant(max_iter=5).fit(x, target(x, 0))
    wide = np.column_stack([x, x[:, 0]])
    predictor = walked(model, wide)
    assert not predictor.walks
    assert "5 features, the table has 6 columns" in predictor.notes[0]
    assert "6 columns" in rhale.explain(model, wide, method="pdp")[0].notes[-1]


def test_threads_and_chunks_change_nothing(monkeypatch):
    numba = pytest.importorskip("numba")
    x = np.vstack([table(seed) for seed in range(12)])
    model = simple("lightgbm", x, 3)
    results = []
    for n_threads, batch_size in [(1, None), (3, None), (3, 600)]:
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
        results.append(rhale.explain(model, x, batch_size=batch_size))
    for other in results[1:]:
        for one, two in zip(results[0].values(), other.values(), strict=True):
            assert one.mean == pytest.approx(two.mean, rel=1e-9, abs=1e-12)


def test_a_walked_model_goes_through_pickle():
    import pickle

    data, y = frame(missing=0.0)
    model = make_pipeline(
        ColumnTransformer([("scaled", MinMaxScaler(), ["a", "b"])]),
        HistGradientBoostingRegressor(max_iter=5),
    ).fit(data, y)
    predictor = walked(model, data)
    assert predictor.walks, predictor.notes
    again = pickle.loads(pickle.dumps(predictor))  # noqa: S301 - our own bytes
    assert again.predict(data, N_ROWS).tolist() == predictor.predict(data, N_ROWS).tolist()
