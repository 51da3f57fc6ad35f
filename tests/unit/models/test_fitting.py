import pickle
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rhale.errors import BadSettingError, BadTableError, UnknownModelError
from rhale.models.training import (
    as_trainer,
    check_target,
    is_classifier,
    take_params,
    take_training_rows,
)

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3))
TARGET = ROWS @ [1.0, -2.0, 0.5] + 3.0
CLASSES = np.where(TARGET > 3, "high", "low")


class Mean:
    """A learner of one's own that follows nobody's ways."""

    def __init__(self, shift=0.0):
        self.shift = shift
        self.seen = None

    def fit(self, rows, target, weights=None):
        self.seen = len(rows)
        self.mean = np.average(target, weights=weights) + self.shift

    def predict(self, rows):
        return np.full(len(rows), self.mean)


class Styled(Mean):
    """The same in scikit-learn's style, without scikit-learn."""

    def get_params(self, deep=None):  # noqa: ARG002
        return {"shift": self.shift}

    def set_params(self, **params):
        self.__dict__.update(params)
        return self


def fit_line(rows, target, weights=None):
    """Least squares, as a function of rows."""
    root = np.ones(len(rows)) if weights is None else np.sqrt(weights)
    wide = np.column_stack([np.ones(len(rows)), rows])
    found = np.linalg.lstsq(wide * root[:, None], target * root, rcond=None)[0]
    return lambda asked: found[0] + asked @ found[1:]


def sklearn_learners():
    linear = pytest.importorskip("sklearn.linear_model")
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    line = linear.LinearRegression()
    return {
        "estimator": line,
        "pipeline": make_pipeline(StandardScaler(), line),
        "search": GridSearchCV(linear.Ridge(), {"alpha": [1e-9, 10.0]}, cv=3),
        "wrapped": TransformedTargetRegressor(line, transformer=StandardScaler()),
        "in a search": GridSearchCV(
            make_pipeline(line), {"linearregression__copy_X": [True]}, cv=2
        ),
    }


def boosters():
    """Regressors and classifiers of the libraries that are installed."""
    few = {"n_estimators": 5, "n_jobs": 1}
    found = {}
    if "lightgbm" in INSTALLED:
        import lightgbm as lgb

        found["lightgbm"] = (lgb.LGBMRegressor, lgb.LGBMClassifier, {**few, "verbose": -1})
    if "xgboost" in INSTALLED:
        import xgboost as xgb

        found["xgboost"] = (xgb.XGBRegressor, xgb.XGBClassifier, few)
    if "catboost" in INSTALLED:
        import catboost as cat

        quiet = {"iterations": 5, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
        found["catboost"] = (cat.CatBoostRegressor, cat.CatBoostClassifier, quiet)
    return found


def is_installed(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


INSTALLED = [name for name in ("lightgbm", "xgboost", "catboost") if is_installed(name)]


def booster(library, which=0, **more):
    if library not in INSTALLED:
        pytest.skip(f"{library} is not installed")
    made = boosters()[library]
    return made[which](**made[2], **more)


# --- training --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["estimator", "pipeline", "search", "wrapped", "in a search"])
def test_estimators_are_cloned_and_stay_unfitted(kind):
    estimator = sklearn_learners()[kind]
    before, params = set(vars(estimator)), repr(estimator.get_params())
    trainer = as_trainer(estimator)
    model = trainer.train(ROWS, TARGET)
    np.testing.assert_allclose(model.predict(ROWS), TARGET, atol=1e-6)
    assert model is not estimator
    assert trainer.name == type(estimator).__name__
    assert set(vars(estimator)) == before
    assert repr(estimator.get_params()) == params
    assert not hasattr(estimator, "n_features_in_")


def test_steps_of_a_pipeline_stay_unfitted():
    pipeline = sklearn_learners()["pipeline"]
    as_trainer(pipeline).train(ROWS, TARGET)
    assert not any(hasattr(step, "n_features_in_") for _, step in pipeline.steps)


def test_a_fitted_estimator_is_trained_anew_and_keeps_its_fit():
    line = sklearn_learners()["estimator"].fit(ROWS, TARGET)
    own = line.coef_.copy()
    model = as_trainer(line).train(ROWS[:, :2], -TARGET)
    assert model.coef_.shape == (2,)
    np.testing.assert_array_equal(line.coef_, own)


def test_every_training_is_a_model_of_its_own():
    trainer = as_trainer(sklearn_learners()["estimator"])
    one, other = trainer.train(ROWS, TARGET), trainer.train(ROWS, 2 * TARGET)
    np.testing.assert_allclose(2 * one.coef_, other.coef_)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosters_are_trained_through_their_estimators(library):
    estimator = booster(library)
    state = pickle.dumps(estimator.get_params())
    model = as_trainer(estimator).train(ROWS, TARGET)
    direct = booster(library).fit(ROWS, TARGET)
    np.testing.assert_array_equal(model.predict(ROWS), direct.predict(ROWS))
    assert pickle.dumps(estimator.get_params()) == state
    with pytest.raises(Exception, match=r"(?i)fit"):
        estimator.predict(ROWS)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_fitted_boosters_begin_anew(library):
    estimator = booster(library).fit(ROWS, -TARGET)
    before = estimator.predict(ROWS)
    model = as_trainer(estimator).train(ROWS, TARGET)
    direct = booster(library).fit(ROWS, TARGET)
    np.testing.assert_array_equal(model.predict(ROWS), direct.predict(ROWS))
    np.testing.assert_array_equal(estimator.predict(ROWS), before)


def test_catboost_with_columns_of_categories_is_trained_alone_and_in_a_pipeline():
    """Its constructor copies the list, which scikit-learn's clone does not allow."""
    estimator = booster("catboost", cat_features=[0])
    pipelines = pytest.importorskip("sklearn.pipeline")
    rows = np.column_stack([np.where(ROWS[:, 0] > 0, "a", "b").astype(object), ROWS[:, 1]])
    direct = booster("catboost", cat_features=[0]).fit(rows, TARGET)
    for learner in (estimator, pipelines.make_pipeline("passthrough", estimator)):
        model = as_trainer(learner).train(rows, TARGET)
        np.testing.assert_array_equal(model.predict(rows), direct.predict(rows))
    assert not estimator.is_fitted()


def test_an_object_of_ones_own_is_copied():
    mean = Mean(shift=1.0)
    trainer = as_trainer(mean)
    model = trainer.train(ROWS, TARGET, {"weights": np.ones(60)})
    assert isinstance(model, Mean)
    np.testing.assert_allclose(model.predict(ROWS[:1]), TARGET.mean() + 1.0)
    assert mean.seen is None
    assert trainer.name == "Mean"


def test_what_fit_returns_is_the_model_where_it_can_predict():
    class Results:
        def predict(self, rows):
            return rows[:, 0]

    class Makes:
        def fit(self, rows, target):  # noqa: ARG002
            return Results()

    class Gives:
        def fit(self, rows, target):  # noqa: ARG002
            return np.sum

    assert isinstance(as_trainer(Makes()).train(ROWS, TARGET), Results)
    assert as_trainer(Gives()).train(ROWS, TARGET) is np.sum


def test_a_function_fits_a_model():
    trainer = as_trainer(fit_line)
    assert (trainer.name, trainer.is_classifier) == ("fit_line", False)
    np.testing.assert_allclose(trainer.train(ROWS, TARGET)(ROWS), TARGET)
    half = np.repeat([0.0, 1.0], 30)
    changed = np.where(half > 0, TARGET, 0.0)
    model = trainer.train(ROWS, changed, {"weights": half})
    np.testing.assert_allclose(model(ROWS), TARGET)  # rows without weight say nothing


def test_functions_are_named():
    assert as_trainer(partial(fit_line, weights=None)).name == "fit_line"
    assert as_trainer(lambda rows, target: fit_line(rows, target)).name == "<lambda>"


def test_a_trainer_travels_to_other_processes():
    for learner in (sklearn_learners()["pipeline"], fit_line):
        trainer = pickle.loads(pickle.dumps(as_trainer(learner)))  # noqa: S301 - our own
        model = trainer.train(ROWS, TARGET)
        np.testing.assert_allclose(getattr(model, "predict", model)(ROWS), TARGET)


def test_without_scikit_learn_a_new_instance_has_the_same_parameters(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    learner = Styled(shift=2.0)
    learner.seen = "kept"
    model = as_trainer(learner).train(ROWS, TARGET)
    assert (model.shift, model.seen, learner.seen) == (2.0, 60, "kept")
    np.testing.assert_allclose(model.predict(ROWS[:1]), TARGET.mean() + 2.0)


def test_what_has_scikit_learns_style_is_cloned_by_it():
    pytest.importorskip("sklearn.base")
    learner = Styled(shift=2.0)
    assert as_trainer(learner).train(ROWS, TARGET).shift == 2.0
    assert learner.seen is None


@pytest.mark.parametrize(
    ("result", "said"), [(None, "lost returned None, which has no predict"), (3.0, "float 3.0")]
)
def test_a_function_that_returns_no_model_is_refused(result, said):
    def lost(rows, target):  # noqa: ARG001
        return result

    with pytest.raises(UnknownModelError, match=said):
        as_trainer(lost).train(ROWS, TARGET)
    with pytest.raises(UnknownModelError, match="returned type <class"):
        as_trainer(lambda rows, target: Mean).train(ROWS, TARGET)  # noqa: ARG005


def test_an_estimator_that_cannot_predict_is_refused():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    with pytest.raises(UnknownModelError, match="fit of StandardScaler returned StandardScaler"):
        as_trainer(preprocessing.StandardScaler()).train(ROWS, TARGET)


def test_an_object_that_cannot_be_copied_is_refused():
    learner = Mean()
    learner.lock = threading.Lock()
    with pytest.raises(UnknownModelError, match=r"Mean cannot be copied .*pass a function fit"):
        as_trainer(learner).train(ROWS, TARGET)


def test_what_cannot_be_trained_is_refused():
    class Fitted:
        def predict(self, rows):
            return rows[:, 0]

    for estimator, said in [
        (Mean, r"Mean is a class; pass an instance of it: Mean\(\)$"),
        (Fitted, r"Fitted\(\), or a function fit\(rows, target\)"),
        ("model.pkl", "'model.pkl' is not a learner; pass the estimator itself"),
        (Path("model.pkl"), "is not a learner"),
        (Fitted(), "has predict and no fit: .* rhale.refits"),
        (None, "NoneType has no fit and cannot be called"),
        ([Mean()], "list has no fit"),
    ]:
        with pytest.raises(UnknownModelError, match=said):
            as_trainer(estimator)


def test_a_network_is_no_way_to_train_one():
    torch = pytest.importorskip("torch")
    with pytest.raises(UnknownModelError, match="Linear is a network"):
        as_trainer(torch.nn.Linear(3, 1))


def test_frozen_estimators_cannot_be_trained_again():
    frozen = pytest.importorskip("sklearn.frozen")
    from sklearn.pipeline import make_pipeline

    line = sklearn_learners()["estimator"].fit(ROWS, TARGET)
    for learner in (frozen.FrozenEstimator(line), make_pipeline(frozen.FrozenEstimator(line))):
        with pytest.raises(UnknownModelError, match="ends in a FrozenEstimator"):
            as_trainer(learner)


# --- classifiers -----------------------------------------------------------------------------------


def test_classifiers_are_told_from_regressors():
    linear = pytest.importorskip("sklearn.linear_model")
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = linear.LogisticRegression()
    pipeline = make_pipeline(StandardScaler(), logistic)
    for learner in (logistic, pipeline, GridSearchCV(pipeline, {})):
        assert as_trainer(learner).is_classifier
    for learner in sklearn_learners().values():
        assert not as_trainer(learner).is_classifier
    assert as_trainer(pipeline).train(ROWS, CLASSES).classes_.tolist() == ["high", "low"]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosted_classifiers_are_classifiers(library):
    pipelines = pytest.importorskip("sklearn.pipeline")
    for which, expected in enumerate([False, True]):
        learner = booster(library, which)
        assert as_trainer(learner).is_classifier is expected
        assert as_trainer(pipelines.make_pipeline("passthrough", learner)).is_classifier is expected


def test_ones_own_classifier_says_so():
    class Vote(Mean):
        _estimator_type = "classifier"

    assert is_classifier(Vote())
    assert not is_classifier(Mean())
    pipelines = pytest.importorskip("sklearn.pipeline")
    assert is_classifier(pipelines.Pipeline([("only", Vote())]))


def test_a_mixin_without_its_base_says_what_it_is():
    base = pytest.importorskip("sklearn.base")
    votes = type("Vote", (base.ClassifierMixin, Mean), {})()
    means = type("Average", (base.RegressorMixin, Mean), {})()
    assert is_classifier(votes)
    assert not is_classifier(means)
    assert as_trainer(votes).train(ROWS, TARGET).seen == 60


def test_steps_of_ones_own_are_no_pipeline():
    learner = Mean()
    learner.steps = [1, 2]
    assert not as_trainer(learner).is_classifier


def test_asking_ones_own_learner_imports_no_scikit_learn(monkeypatch):
    monkeypatch.setattr("rhale.models.training._sklearn_base", None)  # calling it fails
    assert as_trainer(Mean()).train(ROWS, TARGET).seen == 60
    assert not as_trainer(Mean()).is_classifier


# --- rows ------------------------------------------------------------------------------------------

TAKEN = np.array([3, 0, 0])


@pytest.mark.parametrize("values", [["a", "b", "c", "d"], ("a", "b", "c", "d")])
def test_rows_of_lists_are_taken(values):
    assert take_training_rows(values, TAKEN) == ["d", "a", "a"]


def test_rows_of_arrays_are_taken():
    assert take_training_rows(np.arange(4.0), TAKEN).tolist() == [3.0, 0.0, 0.0]
    assert take_training_rows(np.arange(8).reshape(4, 2), TAKEN).tolist() == [
        [6, 7],
        [0, 1],
        [0, 1],
    ]
    assert take_training_rows(range(4), TAKEN) == [3, 0, 0]


def test_rows_of_pandas_keep_index_and_type():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([1, None, 3, 4], index=list("wxyz"), dtype="Int64", name="y")
    taken = take_training_rows(column, TAKEN)
    assert taken.tolist() == [4, 1, 1]
    assert taken.index.tolist() == ["z", "w", "w"]
    assert taken.dtype == column.dtype
    table = take_training_rows(column.to_frame(), TAKEN)
    assert table["y"].tolist() == [4, 1, 1]
    assert take_training_rows(pandas.Index([5, 6, 7, 8]), TAKEN).tolist() == [8, 5, 5]
    assert take_training_rows(pandas.Categorical(list("abca")), TAKEN).tolist() == ["a", "a", "a"]


def test_rows_of_polars_and_arrow_stay_what_they_are():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    column = polars.Series("y", [1, 2, 3, None])
    assert take_training_rows(column, TAKEN).to_list() == [None, 1, 1]
    assert take_training_rows(column.to_frame(), TAKEN).equals(
        polars.DataFrame({"y": [None, 1, 1]})
    )
    plain = arrow.array([1, 2, 3, None])
    chunked = arrow.chunked_array([[1, 2], [3, None]])
    for values in (plain, chunked):
        assert take_training_rows(values, TAKEN).to_pylist() == [None, 1, 1]
    table = take_training_rows(arrow.table({"y": chunked}), TAKEN)
    assert table.to_pydict() == {"y": [None, 1, 1]}


def test_parameters_by_row_are_cut_and_others_are_not():
    pandas = pytest.importorskip("pandas")
    params = {
        "list": [1, 2, 3, 4],
        "array": np.arange(4.0),
        "column": pandas.Series([1, 2, 3, 4]),
        "table": np.zeros((4, 2)),
        "step__sample_weight": (1, 2, 3, 4),
    }
    for name, value in take_params(params, TAKEN, 4).items():
        assert len(value) == 3, name
    passed = {
        "word": "four",
        "mapping": dict.fromkeys("abcd"),
        "set": {1, 2, 3, 4},
        "other": [1, 2, 3],
        "number": np.array(4),
        "none": None,
        "wide": np.zeros((3, 4)),
        "type": list[int],
        "class": list,
    }
    kept = take_params(passed, TAKEN, 4)
    assert all(kept[name] is value for name, value in passed.items())
    assert take_params(None, TAKEN, 4) == {}


@pytest.mark.parametrize("params", [["sample_weight"], {1: 2}, "weights"])
def test_parameters_without_names_are_refused(params):
    with pytest.raises(BadSettingError, match="is not a mapping from names to values"):
        take_params(params, TAKEN, 4)


def test_weights_reach_a_step_of_a_pipeline():
    pipeline = sklearn_learners()["pipeline"]
    half = np.repeat([0.0, 1.0], 30)
    rows = np.arange(10, 60)
    params = take_params({"linearregression__sample_weight": half}, rows, 60)
    model = as_trainer(pipeline).train(ROWS[rows], np.where(half > 0, TARGET, 0.0)[rows], params)
    np.testing.assert_allclose(model.predict(ROWS), TARGET)


# --- targets ---------------------------------------------------------------------------------------


def test_targets_are_given_back_as_they_are():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    records = np.array([(True, 1.0), (False, 2.0)], dtype=[("event", "?"), ("time", "f8")])
    for target in (
        [1, 2],
        ["a", "b"],
        np.array([True, False]),
        np.array([[1.0, 1.0], [1.0, 2.0]]),
        np.array([[1.0, np.inf], [1.0, 2.0]]),  # limits of what is only known to lie between
        np.ma.array([1, 2], mask=False),
        records,
        pandas.Series(["a", "b"], dtype="category"),
        pandas.DataFrame({"a": [1, 1], "b": [1, 2]}),
        polars.Series([1.5, 2.5]),
    ):
        assert check_target(target, 2) is target


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (None, "target=None: training needs one value per row"),
        ("price", "target is not an array but str"),
        (5.0, "target is not an array but float"),
        ({0: 1}, "target is not an array but dict"),
        (np.zeros((4, 1, 1)), "target is not an array but ndarray"),
        ([[1], [2, 3], [4], [5]], "target is not an array but list"),
        ([1, 2, 3], "target has 3 values, the table has 4 rows"),
        ([1.0, np.nan, 2.0, np.nan], r"target is missing in row 1 \(2 of 4 rows\)"),
        (["a", "b", None, "c"], r"target is missing in row 2 \(1 of 4 rows\)"),
        (["a", "b", float("nan"), "c"], "target is missing in row 2"),
        (np.array([[1.0, 2.0], [3.0, np.nan], [4.0, 5.0], [6.0, 7.0]]), "missing in row 1"),
        (np.ma.masked_equal([1, 2, 9, 9], 9), r"target is missing in row 2 \(2 of 4 rows\)"),
        ([1.0, 2.0, 3.0, -np.inf], "target is infinite in row 3"),
        ([7, 7, 7, 7], "target is 7 in all 4 rows; there is nothing to learn"),
        (["a"] * 4, "target is a in all 4 rows"),
        (np.ones((4, 2)), "in all 4 rows"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(target, said):
    with pytest.raises(BadTableError, match=said):
        check_target(target, 4)


def test_missing_targets_of_data_frames_are_found():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    for target in (
        pandas.Series([1, None, 3], dtype="Int64"),
        pandas.Series(["a", None, "b"], dtype="category"),
        polars.Series(["a", None, "b"]),
        polars.Series([1, None, 3]),
        arrow.array([1, None, 3]),
        arrow.chunked_array([["a", None], ["b"]]),
    ):
        with pytest.raises(BadTableError, match="target is missing in row 1"):
            check_target(target, 3)
