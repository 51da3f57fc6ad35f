import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.features.naming import keep_words, list_words, read_units
from rhale.settings import Settings

X = np.random.default_rng(0).uniform(size=(60, 2))


def first(rows):
    return rows[:, 0] + rows[:, 1] ** 2


class Classifier:
    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict(self, rows):
        return self.classes_[(rows[:, 0] > 0.5).astype(int)]

    def predict_proba(self, rows):
        p = np.linspace(0.5, 1, len(self.classes_)) * rows[:, :1]
        return p / p.sum(axis=1, keepdims=True)


def test_columns_of_an_array_are_found_by_the_names_that_are_given():
    fx = rhale.explain(first, X, feature_names=["age", "bmi"], features=["bmi"])
    assert fx.features == ("bmi",)
    assert fx["bmi"].name == "bmi"


def test_names_may_be_the_columns_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=["age", "bmi"])
    assert rhale.explain(first, X, feature_names=table.columns).features == ("age", "bmi")


def test_columns_of_an_array_may_be_named_by_position():
    fx = rhale.explain(first, X, feature_names={1: "bmi"})
    assert fx.features == ("x0", "bmi")


def test_columns_of_an_array_may_be_renamed_and_left_out_at_once():
    fx = rhale.explain(lambda rows: rows[:, 0], X, feature_names={"x1": "bmi"}, columns=["bmi"])
    assert (fx.features, dict(fx.captions.features)) == (("bmi",), {})


def test_names_of_an_array_reach_pairs_and_trainings():
    names = {"feature_names": ["age", "bmi"], "output_names": "risk"}
    ix = rhale.interactions(first, X, **names)
    assert ix["age", "bmi"].captions.output("y0") == "risk"
    rx = rhale.refits([first, first], X, scheme="independent", **names)
    assert rx["age"].captions.output("y0") == "risk"


def test_trainings_are_called_by_their_target():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "price": first(X)})

    def learn(rows, target):
        slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        return lambda rows: np.asarray(rows) @ slopes

    rx = rhale.refit(learn, table, "price", n_refits=4)
    assert rx.captions.output("y0") == "price"
    rx = rhale.refit(learn, table, "price", n_refits=4, output_names=["cost"])
    assert rx.captions.output("y0") == "cost"


@pytest.mark.parametrize(
    ("classes", "output_names", "words"),
    [
        ([0, 1], None, {"1": "probability of class 1"}),
        ([0, 1], "churn", {"1": "probability of churn = 1"}),
        (["no", "yes"], None, {"yes": "probability of yes"}),
        ([0, 1], ["will leave"], {"1": "will leave"}),
        ([0, 1], {"1": "will leave"}, {"1": "will leave"}),
        (["a", "b", "c"], {"b": "B"}, {"a": "probability of a", "b": "B", "c": "probability of c"}),
    ],
)
def test_a_classifier_tells_of_what_its_probability_is(classes, output_names, words):
    fx = rhale.explain(Classifier(classes), X, output_names=output_names)
    assert dict(fx.captions.outputs) == words


def test_log_odds_are_told_as_such():
    fx = rhale.explain(Classifier([0, 1]), X, response="log_odds", output_names="churn")
    assert fx.captions.output("1") == "log-odds of churn = 1"


def test_several_predictions_without_names_are_numbered():
    fx = rhale.explain(lambda rows: rows, X, output="y1")
    assert dict(fx.captions.outputs) == {"y1": "prediction 2"}


def test_units_are_given_by_either_name():
    fx = rhale.explain(first, X, output_names="price", units={"x0": "years", "price": "$"})
    assert fx.captions.axis("x0") == "x0 (years)"
    assert fx.captions.value_axis("y0") == "price ($)"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"feature_names": ["age"]}, "has 1 names for 2: x0, x1"),
        ({"feature_names": ["age", "age"]}, r"the same name, \['age'\]"),
        ({"feature_names": {"x0": "x1"}}, r"the same name, \['x1'\]"),
        ({"feature_names": {"x7": "age"}}, "'x7', which is not there"),
        ({"feature_names": [1, 2]}, "calls 'x0' 1; give a text"),
        ({"feature_names": ["age", " "]}, "calls 'x1' ' '"),
        ({"feature_names": 3}, "feature_names=3 is not understood"),
        ({"output_names": ["a", "b"]}, "has 2 names for 1: y0"),
        ({"units": {"prize": "$"}, "output_names": "price"}, "did you mean 'price'"),
        ({"units": {"x0": 3}}, "gives 3 for 'x0'"),
        ({"units": "$"}, "is no mapping"),
    ],
)
def test_names_that_do_not_fit_are_refused_with_what_was_found(names, message):
    with pytest.raises(BadSettingError, match=message):
        rhale.explain(first, X, **names)


def test_one_name_is_enough_for_one_column():
    assert list_words("feature_names", "age", ["x0"]) == {"x0": "age"}


def test_no_units_are_no_units():
    assert read_units(None, {"a": "a"}) == {}


def test_words_go_with_their_columns_where_these_move():
    names, kept = ["id", "c", "a"], ["a", "c"]

    def words(given):
        return keep_words(Settings(feature_names=given), names, kept).feature_names

    assert words(["Number", "Third", "First"]) == {"c": "Third", "a": "First"}
    assert words(["Third", "First"]) == {"c": "Third", "a": "First"}
    assert words({0: "Number", 2: "First"}) == {"a": "First"}
    assert words({"z": "Last"}) == {"z": "Last"}
    assert words(["one"]) == ["one"]
    assert words(None) is None


def test_columns_without_names_are_named_by_feature_names():
    with pytest.raises(BadSettingError, match="feature_names= gives them names, columns= chooses"):
        rhale.explain(lambda rows: rows[:, 0], np.zeros((9, 2)), columns=["age", "income"])
