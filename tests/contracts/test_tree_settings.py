"""Settings, tables and wrappers of tree ensembles under which walking is easily wrong."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor
from tests.contracts.test_trees import (
    DOUBLE,
    N_ROWS,
    QUIET,
    SILENT,
    SINGLE,
    assert_same_answers,
    catboost,
    frame,
    lightgbm,
    pandas,
    table,
    target,
    walked,
    xgboost,
)

import rhale
from rhale.errors import BadTableError, ModelFailedError
from rhale.models import wrap

X = table(0)
Y = target(X, 0)
FRAME = pandas.DataFrame(X, columns=list("abcde"))
BLACK_BOX = "the trees are evaluated as a black box, which is slower and draws jumps as ramps: "
FEW = {"n_estimators": 5, **QUIET}


def assert_asked(model, x, reason, response="auto"):
    predictor = walked(model, x, response)
    assert not predictor.walks
    assert predictor.notes[0].startswith(BLACK_BOX)
    assert reason in predictor.notes[0]


# --- XGBoost -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.1, -99.0, 0.0])
def test_a_missing_value_is_compared_in_single_precision(missing, dtype):
    x = X.astype(dtype)
    x[::5, 0] = missing
    model = xgboost.XGBRegressor(n_estimators=5, missing=missing, n_jobs=1).fit(x, Y)
    near = np.nextafter(np.full(N_ROWS, missing), 9.0)
    assert_same_answers(model, x, SINGLE, changes=[(0, near), (4, near), (1, x[::-1, 0] + 0.0)])


def test_categories_are_known_to_a_model_that_stopped_early():
    data, y = frame()
    model = xgboost.XGBRegressor(
        n_estimators=60, early_stopping_rounds=2, learning_rate=0.9, enable_categorical=True
    )
    model.fit(data[:200], y[:200], eval_set=[(data[200:], y[200:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    changes = [(0, np.random.default_rng(0).normal(size=N_ROWS))]
    assert_same_answers(model, data, SINGLE, changes=changes)


CATEGORIES = {
    "text": ["rouge", "bleu", "", "noir fonce", "gris"],
    "whole": [30, -2, 7, 0, 1000],
}


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_all_kinds_are_read(name, booster):
    rng, kinds = np.random.default_rng(0), CATEGORIES[name]
    codes = rng.integers(0, len(kinds), N_ROWS)
    named = pandas.Categorical.from_codes(codes, categories=pandas.Index(kinds))
    data = pandas.DataFrame({"a": rng.normal(size=N_ROWS), "kind": named})
    model = xgboost.XGBRegressor(
        n_estimators=4, booster=booster, enable_categorical=True, max_cat_to_onehot=1
    ).fit(data, data["a"] * (codes % 2))
    data["kind"] = data["kind"].cat.reorder_categories(kinds[::-1])
    assert_same_answers(model, data, SINGLE, changes=[(0, rng.normal(size=N_ROWS))])


def test_a_model_that_keeps_no_categories_goes_by_their_places_in_the_table():
    data, y = frame()
    booster = xgboost.XGBRegressor(
        n_estimators=8, enable_categorical=True, max_cat_to_onehot=1, n_jobs=1
    ).fit(data, y).get_booster()  # fmt: skip
    exported = json.loads(booster.save_raw("json"))
    exported["learner"]["gradient_booster"]["model"].pop("cats", None)  # as before XGBoost 3.1
    old = xgboost.Booster(model_file=bytearray(json.dumps(exported).encode()))
    data["colour"] = data["colour"].cat.set_categories(["red", "grey", "green", "blue", "black"])
    changes = [(0, np.random.default_rng(0).normal(size=N_ROWS))]
    assert_same_answers(old, data, SINGLE, changes=changes)


def test_a_linear_booster_is_asked_and_named(capfd):
    model = xgboost.XGBRegressor(booster="gblinear", n_estimators=3).fit(X, Y)
    capfd.readouterr()
    assert_asked(model, X, "it is a linear model (gblinear) without trees")
    assert "Error" not in capfd.readouterr().err


@pytest.mark.parametrize("objective", ["multi:softmax", "binary:hinge"])
def test_labels_of_a_booster_are_asked(objective):
    n_classes = 3 if objective == "multi:softmax" else 2
    settings = {"objective": objective, "nthread": 1}
    if n_classes == 3:
        settings["num_class"] = 3
    booster = xgboost.train(settings, xgboost.DMatrix(X, target(X, n_classes)), 4)
    assert_asked(booster, X, "its prediction is a class label")
    assert_same_answers(booster, X, SINGLE, "margin")


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_trees_of_several_targets_are_walked(strategy):
    y = np.column_stack([Y, X[:, 0] - 2 * Y])
    model = xgboost.XGBRegressor(n_estimators=5, multi_strategy=strategy, n_jobs=1).fit(X, y)
    assert_same_answers(model, X, SINGLE)


# --- LightGBM --------------------------------------------------------------------------------------


def test_rows_that_leave_out_trees_are_asked():
    model = lightgbm.LGBMClassifier(
        n_estimators=12, pred_early_stop=True, pred_early_stop_margin=1e6, **QUIET
    ).fit(X, target(X, 2))
    assert_asked(model, X, "pred_early_stop")


@pytest.mark.parametrize("objective", ["cross_entropy", "cross_entropy_lambda", "tweedie", "gamma"])
@pytest.mark.parametrize("boosting", ["gbdt", "rf"])
@pytest.mark.parametrize("response", ["auto", "margin"])
def test_links_of_lightgbm_s_own_training_are_known(objective, boosting, response):
    y = 1 / (1 + np.exp(-Y)) if objective.startswith("cross") else np.exp(Y / 2)
    settings = {
        "objective": objective, "boosting": boosting, "bagging_fraction": 0.7, "bagging_freq": 1,
        "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5,
    }  # fmt: skip
    assert_same_answers(lightgbm.train(settings, lightgbm.Dataset(X, y), 5), X, DOUBLE, response)


def lightgbm_of(face):
    model = lightgbm.LGBMRegressor(**FEW).fit(FRAME, Y)
    if face == "search":
        model = GridSearchCV(lightgbm.LGBMRegressor(**FEW), {"max_depth": [3]}, cv=2).fit(FRAME, Y)
    return model.booster_ if face == "booster" else model


@pytest.mark.parametrize("face", ["estimator", "booster", "search"])
@pytest.mark.parametrize("walk", [True, False])
def test_columns_go_by_name_and_other_names_are_refused(face, walk):
    model = wrap(lightgbm_of(face), walk=walk)
    turned = rhale.explain(model, FRAME[list("bacde")])
    assert turned.effects == rhale.explain(model, FRAME).effects
    with pytest.raises(BadTableError, match=r"another order .*: b, a, c, d, e instead of a, b, c"):
        rhale.explain(model, FRAME, columns=list("bacde"))
    with pytest.raises(
        BadTableError, match=r"no column 'a'.*other names .*: v, b, c, d, e instead"
    ):
        rhale.explain(model, FRAME.rename(columns={"a": "v"}))


def test_columns_of_a_model_without_names_go_by_position():
    model = lightgbm.LGBMRegressor(**FEW).fit(X, Y)
    assert_same_answers(model, FRAME, DOUBLE)
    assert_same_answers(lightgbm.LGBMRegressor(**FEW).fit(FRAME, Y).booster_, X, DOUBLE)


def test_names_behind_a_step_are_the_step_s_own():
    parts = ColumnTransformer([("scaled", StandardScaler(), list("edcba"))])
    model = make_pipeline(parts.set_output(transform="pandas"), lightgbm.LGBMRegressor(**FEW))
    assert_same_answers(model.fit(FRAME, Y), FRAME, DOUBLE)


def test_names_with_spaces_are_those_that_lightgbm_writes():
    data = FRAME.rename(columns={"a": "the first\tone", "b": "é b"})
    model = lightgbm.LGBMRegressor(**FEW).fit(data, Y)
    assert walked(model, data).walks


# --- columns by name -------------------------------------------------------------------------------


def test_catboost_finds_its_columns_by_name_and_so_does_the_walk():
    model = catboost.CatBoostRegressor(n_estimators=5, **SILENT).fit(FRAME, Y)
    assert_same_answers(model, FRAME[list("bacde")], DOUBLE)
    assert_same_answers(model, FRAME.assign(more=1.0), DOUBLE)
    assert_same_answers(model, X, DOUBLE)


def test_names_of_arrays_are_no_names():
    data = FRAME.set_axis(["x1", "x0", "x2", "x4", "x3"], axis=1)
    model = catboost.CatBoostRegressor(n_estimators=5, **SILENT).fit(data, Y)
    assert_same_answers(model, X, DOUBLE)


def test_categories_and_numbers_are_found_by_name_in_any_order():
    data, y = frame()
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(data, y)
    changes = [(0, np.random.default_rng(0).uniform(-1, 1, N_ROWS)), (2, np.full(N_ROWS, 0.3))]
    assert_same_answers(model, data[["b", "size", "a", "colour"]], DOUBLE, changes=changes)


def parts():
    return ColumnTransformer(
        [
            ("names", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["colour"]),
            ("order", OrdinalEncoder(), ["size"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["b", "a"]),
        ],
        verbose_feature_names_out=False,
    )


@pytest.mark.parametrize(
    "columns", [["b", "size", "a", "colour"], ["a", "more", "colour", "b", "size"]]
)
def test_parts_of_a_pipeline_find_their_columns_by_name(columns):
    data, y = frame()
    model = make_pipeline(parts(), RandomForestRegressor(4, random_state=0)).fit(data, y)
    given = data.assign(more=1.0)[columns]
    rng = np.random.default_rng(0)
    changes = [(given.columns.get_loc(n), rng.normal(size=N_ROWS)) for n in ("a", "b")]
    assert_same_answers(model, given, DOUBLE, changes=changes)


def test_a_second_step_finds_the_columns_of_the_first_by_name():
    data, y = frame()
    again = ColumnTransformer([("again", MinMaxScaler(), ["a"])], remainder="passthrough")
    model = make_pipeline(
        parts().set_output(transform="pandas"), again, RandomForestRegressor(4, random_state=0)
    ).fit(data, y)
    rng = np.random.default_rng(0)
    changes = [(0, rng.normal(size=N_ROWS)), (2, rng.normal(size=N_ROWS))]
    assert_same_answers(model, data, DOUBLE, changes=changes)


MISFITS = {
    "xgboost": lambda: xgboost.XGBRegressor(n_estimators=3),
    "forest": lambda: RandomForestRegressor(3),
    "catboost": lambda: catboost.CatBoostRegressor(n_estimators=3, **SILENT),
}


@pytest.mark.parametrize("name", MISFITS)
def test_other_names_and_too_few_columns_are_refused(name):
    model = MISFITS[name]().fit(FRAME, Y)
    for data in (FRAME.rename(columns={"a": "v"}), FRAME[["b", "c", "d", "e"]]):
        with pytest.raises(BadTableError, match=r"no column 'a', which .* on the first test call"):
            rhale.explain(model, data)
    with pytest.raises(
        ModelFailedError, match=r"^the model failed on 32 rows on the first test call"
    ):
        rhale.explain(model, X[:, :2])


# --- CatBoost ----------------------------------------------------------------------------------------


LOSSES = ["Poisson", "Tweedie:variance_power=1.5", "RMSEWithUncertainty", "Quantile:alpha=0.3"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["CatBoostRegressor", "CatBoost"])
def test_losses_of_catboost_have_their_links(loss, kind):
    settings = {"loss_function": loss, "n_estimators": 5, **SILENT}
    model = catboost.CatBoost(settings) if kind == "CatBoost" else None
    model = model or catboost.CatBoostRegressor(**settings)
    assert_same_answers(model.fit(X, np.exp(Y / 2)), X, DOUBLE)


@pytest.mark.parametrize("loss", ["MultiLogloss", "MultiCrossEntropy"])
@pytest.mark.parametrize("response", ["auto", "margin"])
def test_several_labels_at_once_have_a_probability_each(loss, response):
    labels = np.column_stack([Y > 0, Y > 0.5, Y**2 > 1]).astype(int)
    model = catboost.CatBoostClassifier(loss_function=loss, n_estimators=5, **SILENT)
    assert_same_answers(model.fit(X, labels), X, DOUBLE, response)


@pytest.mark.parametrize("loss", ["Logloss", "MultiClass"])
def test_the_plain_class_of_catboost_answers_with_sums(loss):
    y = target(X, 3 if loss == "MultiClass" else 2)
    model = catboost.CatBoost({"loss_function": loss, "n_estimators": 5, **SILENT}).fit(X, y)
    assert_same_answers(model, X, DOUBLE)


@pytest.mark.parametrize("kind", ["text", "embedding"])
def test_text_and_embeddings_are_asked(kind):
    rng = np.random.default_rng(0)
    words = ["red fox", "blue dog jumps", "grey cat sat", "fox dog"]
    column = rng.choice(words, N_ROWS) if kind == "text" else list(rng.normal(size=(N_ROWS, 3)))
    data = FRAME.assign(extra=column)
    model = catboost.CatBoostClassifier(n_estimators=3, **SILENT)
    model.fit(data, target(X, 2), **{f"{kind}_features": ["extra"]})
    assert_asked(model, data, f"CatBoost's {kind} features are not thresholds")


# --- wrappers ----------------------------------------------------------------------------------------

FOREST = RandomForestRegressor(4, random_state=0, max_depth=5)
VOTES = RandomForestClassifier(4, random_state=0, max_depth=5)
DEPTHS = {"max_depth": [2, 4]}

PASSED_ON = {
    "grid": lambda: GridSearchCV(FOREST, DEPTHS, cv=2).fit(X, Y),
    "grid of classes": lambda: GridSearchCV(VOTES, DEPTHS, cv=2).fit(X, target(X, 3)),
    "random": lambda: RandomizedSearchCV(FOREST, DEPTHS, cv=2, n_iter=1).fit(X, Y),
    "grid of a pipeline": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), FOREST), {"randomforestregressor__max_depth": [3]}, cv=2
    ).fit(X, Y),
    "grid in a pipeline": lambda: make_pipeline(
        StandardScaler(), GridSearchCV(FOREST, DEPTHS, cv=2)
    ).fit(X, Y),
    "frozen": lambda: FrozenEstimator(RandomForestRegressor(4).fit(X, Y)),
    "threshold": lambda: FixedThresholdClassifier(VOTES, threshold=0.3).fit(X, target(X, 2)),
    "alone in a pipeline": lambda: make_pipeline(RandomForestRegressor(4)).fit(X, Y),
    "behind nothing": lambda: Pipeline(
        [("no", "passthrough"), ("none", None), ("it", RandomForestRegressor(4))]
    ).fit(X, Y),
    "a pipeline in a pipeline": lambda: make_pipeline(
        StandardScaler(), make_pipeline(MinMaxScaler(), RandomForestRegressor(4))
    ).fit(X, Y),
    "behind a frozen step": lambda: make_pipeline(
        FrozenEstimator(StandardScaler().fit(X)), RandomForestRegressor(4)
    ).fit(X, Y),
    "behind means of the target": lambda: make_pipeline(
        ColumnTransformer([("means", TargetEncoder(), [3, 2])], remainder="passthrough"),
        RandomForestRegressor(4),
    ).fit(X, Y),
}


@pytest.mark.parametrize("name", PASSED_ON)
def test_trees_behind_an_estimator_that_only_passes_on_are_walked(name):
    assert_same_answers(PASSED_ON[name](), X, DOUBLE)


BAGS = {
    "all columns": {},
    "some columns": {"max_features": 0.6},
    "columns twice": {"max_features": 0.6, "bootstrap_features": True},
    "few rows": {"max_samples": 4},
}


@pytest.mark.parametrize("name", BAGS)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_bags_of_trees_are_walked(name, n_classes):
    x, settings = table(0, missing=0.1), {"n_estimators": 5, "random_state": 0, **BAGS[name]}
    if n_classes:
        model = BaggingClassifier(DecisionTreeClassifier(max_depth=4), **settings)
    else:
        model = BaggingRegressor(ExtraTreeRegressor(max_depth=4), **settings)
    assert_same_answers(model.fit(x, target(x, n_classes)), x, DOUBLE)


COMBINED = {
    "VotingRegressor": lambda: VotingRegressor([("a", FOREST), ("b", LinearRegression())]),
    "AdaBoostRegressor": lambda: AdaBoostRegressor(n_estimators=3),
    "OneVsRestClassifier": lambda: OneVsRestClassifier(VOTES),
}


@pytest.mark.parametrize("name", COMBINED)
def test_trees_that_are_parts_of_something_else_are_asked_and_say_so(name):
    model = COMBINED[name]().fit(X, target(X, 2) if "Classifier" in name else Y)
    (note,) = walked(model, X).notes
    assert note.startswith(BLACK_BOX)
    assert f"parts of {name}" in note
    effect = next(iter(rhale.explain(model, X, features=[0], method="ale").values()))
    assert effect.notes[-1] == note
    slow = next(
        iter(rhale.explain(wrap(model, walk=False), X, features=[0], method="ale").values())
    )
    assert effect.mean.tolist() == slow.mean.tolist()


def test_what_holds_no_trees_has_no_such_note():
    line = LinearRegression()
    for model in (VotingRegressor([("a", line), ("b", line)]), BaggingRegressor(line, 2)):
        assert walked(model.fit(X, Y), X).notes == ()
    assert wrap(BaggingRegressor()).kind == "sklearn BaggingRegressor, predict"  # not fitted
    assert wrap(GridSearchCV(FOREST, DEPTHS)).kind == "sklearn GridSearchCV, predict"


@pytest.mark.parametrize(
    "step",
    [KBinsDiscretizer(4, strategy="uniform"), SimpleImputer(add_indicator=True)],
    ids=["bins", "indicator"],
)
def test_steps_that_make_several_columns_of_one_are_asked(step):
    x = table(0, missing=0.1 if isinstance(step, SimpleImputer) else 0.0)
    model = make_pipeline(step, RandomForestRegressor(3)).fit(x, Y)
    assert_asked(model, x, "mixes 'x0' with other columns or makes several of it")


WITH_GAPS = {
    "forest": lambda: RandomForestRegressor(4, random_state=0),
    "hist": lambda: HistGradientBoostingRegressor(max_iter=4),
    "xgboost": lambda: xgboost.XGBRegressor(n_estimators=4),
    "lightgbm": lambda: lightgbm.LGBMRegressor(**FEW),
}


@pytest.mark.parametrize("name", WITH_GAPS)
@pytest.mark.parametrize("dtype", ["Int64", "boolean"])
def test_whole_numbers_with_gaps_stay_as_they_are_while_others_change(name, dtype):
    rng = np.random.default_rng(0)
    whole = pandas.Series(rng.integers(0, 2, N_ROWS)).astype(dtype)
    whole[::7] = pandas.NA
    data = FRAME[["a", "e"]].assign(whole=whole)
    model = WITH_GAPS[name]().fit(data, data["a"] * np.where(whole.isna(), 3.0, 1.0))
    changes = [(0, rng.normal(size=N_ROWS)), (1, rng.uniform(-1, 1, N_ROWS))]
    assert_same_answers(model, data, SINGLE, changes=changes)
    fx = rhale.explain(model, data, features=["a"], method="ale")
    slow = rhale.explain(wrap(model, walk=False), data, features=["a"], method="ale")
    assert fx["a"].mean == pytest.approx(slow["a"].mean, abs=1e-4)


# --- checking ----------------------------------------------------------------------------------------


class OffByLittle(RandomForestRegressor):
    """Adds a millionth of the answers' size where the first column is large."""

    def predict(self, rows):
        return super().predict(rows) + 1e-6 * (np.asarray(rows)[:, 0] > 0.5)


class OddsByLittle(HistGradientBoostingClassifier):
    """Moves probabilities by a millionth."""

    def predict_proba(self, rows):
        return np.add(super().predict_proba(rows), [-1e-6, 1e-6])


def test_libraries_that_add_in_double_precision_are_held_to_it():
    model = OffByLittle(4, random_state=0).fit(X, Y)
    assert_asked(model, X, "where the model returns")
    model = OddsByLittle(max_iter=4).fit(X, target(X, 2))
    assert_asked(model, X, "where the model returns")


def test_leaves_too_far_apart_for_one_unit_are_asked():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, target(X, 3))
    tree = model.estimators_[0, 0].tree_
    tree.value[np.flatnonzero(tree.children_left < 0)[-1]] = 3e15
    assert_asked(model, X, "where the model returns")


class MissesOtherwise(HistGradientBoostingRegressor):
    """Adds one where the last column has no value."""

    def predict(self, rows):
        return super().predict(rows) + np.isnan(np.asarray(rows)[:, -1])


def test_missing_values_are_checked_where_the_table_has_none():
    assert_asked(MissesOtherwise(max_iter=4).fit(X, Y), X, "where the model returns")


class LargeLeaf(GradientBoostingClassifier):
    """Is wrong by one, and has a leaf of a billion that no row reaches."""

    def decision_function(self, rows):
        return super().decision_function(rows) + 1


def test_a_huge_leaf_somewhere_hides_no_error():
    model = LargeLeaf(n_estimators=3, random_state=0).fit(X, target(X, 2))
    tree = model.estimators_[0, 0].tree_
    tree.value[np.flatnonzero(tree.children_left < 0)[-1]] = 1e10
    response = "decision_function"
    assert_asked(model, X[X[:, 0] < 0], "where the model returns", response)


BLOCKED = """
    import sys

    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {blocked}:
                raise ModuleNotFoundError(name)

    sys.meta_path.insert(0, Blocked())
    import importlib.util
    real = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *more: None if name in {blocked} else real(name, *more)
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    import rhale

    x = np.random.default_rng(0).normal(size=(200, 2))
    fx = rhale.explain(HistGradientBoostingRegressor(max_iter=3).fit(x, x[:, 0]), x)
    print(fx[0].notes[-1])
    print(fx.provenance["answers_walked"])
    print(not {blocked} & {{name.partition(".")[0] for name in sys.modules}})
"""


@pytest.mark.parametrize("blocked", [{"numba", "treelite"}, {"treelite"}])
def test_without_the_extra_a_fresh_process_asks_and_says_what_to_install(blocked):
    code = textwrap.dedent(BLOCKED.format(blocked=blocked))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    note, n_walked, is_clean = done.stdout.splitlines()
    assert note.startswith(BLACK_BOX)
    assert any(f"{name} is not installed" in note for name in blocked)
    assert 'pip install "rhale[trees]" makes this many times faster' in note
    assert (n_walked, is_clean) == ("0", "True")
