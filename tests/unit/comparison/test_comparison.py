import pickle

import numpy as np
import pandas as pd
import pytest
from tests.compared_by_hand import drifted, explained, straight, with_everything

import rhale
from rhale.errors import BadSettingError, UnknownFeatureError, UnknownOutputError


def test_the_feature_that_differs_comes_first_and_the_other_agrees():
    cx = straight()
    assert [one.name for one in cx.ranked()] == ["x1", "x0"]
    assert (cx["x1"].differs, cx["x0"].differs) == (True, False)
    assert cx["x1"].difference([0.0, 1.0]) == pytest.approx([-1, 1], abs=0.01)
    assert cx["x0"].size == 0


def test_the_same_model_on_rows_that_moved_has_no_difference_but_a_drift():
    cx = drifted()
    assert not any(one.differs for one in cx.values())
    assert [one.size for one in cx.values()] == [0, 0]
    assert [one.moved for one in cx.values()] == [True, False]
    assert "the curves of all features agree; data drift: 1 of 2 features drifted" in str(cx)


def test_names_are_given_or_come_from_the_models():
    fx, other = explained(), explained((1.0, 3.0))
    assert rhale.compare(fx, other).names == ("first", "second")
    assert rhale.compare(fx, other, names=["a", "b"]).names == ("a", "b")
    assert rhale.compare({2023: fx, 2024: other}).names == ("2023", "2024")
    linear = pytest.importorskip("sklearn.linear_model")
    x = pd.DataFrame({"x0": np.arange(50.0), "x1": np.arange(50.0) % 7})
    models = [linear.LinearRegression(), linear.Ridge()]
    made = [rhale.explain(model.fit(x, x["x0"]), x) for model in models]
    assert rhale.compare(*made).names == ("sklearn LinearRegression", "sklearn Ridge")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda fx: rhale.compare(fx), "at least 2 explanations"),
        (lambda fx: rhale.compare({"a": fx}), "at least 2 explanations"),
        (lambda fx: rhale.compare(fx, "b.json"), "rhale.load"),
        (lambda fx: rhale.compare(fx, 3), "is a int"),
        (lambda fx: rhale.compare(fx, fx, names=["a", "a"]), "a name of its own"),
        (lambda fx: rhale.compare(fx, fx, names=["a"]), "2 explanations"),
        (lambda fx: rhale.compare({"a": fx, "b": fx}, names=["a", "b"]), "names of its own"),
        (lambda fx: rhale.compare(fx, fx, zero="third"), "names none of the explanations"),
        (lambda fx: rhale.compare(fx, fx, zero={"x0": 7.0}), "between 0 and 1"),
        (lambda fx: rhale.compare(fx, fx, level=95), "between 0 and 1"),
        (lambda fx: rhale.compare(fx, explained(names=("p", "q"))), "no feature in common"),
        (lambda fx: fx.compare(fx, "x0"), "rhale.compare"),
    ],
)
def test_what_cannot_be_compared_is_told(call, words):
    with pytest.raises(BadSettingError, match=words):
        call(explained())


def test_effects_and_predictions_are_not_compared():
    x = np.random.default_rng(0).uniform(size=(100, 2))
    effects, profiles = (
        rhale.explain(lambda r: r[:, 0], x, method=method) for method in ("rhale", "pdp")
    )
    with pytest.raises(BadSettingError, match="shows effects and 'second' shows predictions"):
        rhale.compare(effects, profiles)
    assert rhale.compare(profiles, profiles)["x0"].size == 0


def test_outputs_are_matched_by_name_and_one_each_whatever_its_name():
    x = np.random.default_rng(0).uniform(size=(200, 2))
    two = rhale.explain(lambda r: r, x)
    cx = rhale.compare(two, two)
    assert len(cx) == 4
    with pytest.raises(UnknownOutputError, match="several outputs"):
        cx["x0"]
    assert cx["x0", 1].output == two.outputs[1]
    assert len(cx.ranked(0)) == 2
    with pytest.raises(UnknownFeatureError, match="no feature 'age'"):
        cx["age", 0]


def test_the_zero_may_be_that_of_another_or_a_value():
    """Slopes 1 and 3 over x: at zero over other rows, or at 0.25, the difference is 2 (x - zero)."""
    fx, other = explained((1.0, 1.0)), explained((3.0, 1.0), shift=0.5)
    there = rhale.compare({"a": fx, "b": other}, zero="b")["x0"]
    assert there.difference(0.75) == pytest.approx(0, abs=0.01)  # rows of b on [0.5, 1]
    here = rhale.compare({"a": fx, "b": other}, zero={"x0": 0.75})["x0"]
    assert here.difference([0.75, 1.0]) == pytest.approx([0, 0.5], abs=1e-6)
    assert here.lifts[0] == pytest.approx(-0.25, abs=1e-3)  # x - 1/2 is zero at 3/4


def test_tables_have_a_row_for_each_feature_and_for_each_place():
    cx = straight()
    table = cx.summary("pandas")
    assert table["feature"].tolist() == ["x1", "x0"]
    assert table["differs"].tolist() == [True, False]
    places = cx.to_frame("pandas")
    gap = (places["curve"] - places["curve_with"] - places["difference"]).abs().max()
    assert gap < 1e-9
    assert (places["low"] <= places["difference"] + 1e-12).all()


def test_three_explanations_are_compared_with_the_first():
    cx = with_everything()
    assert [one.second_name for one in cx["x"].differences] == ["next", "last"]
    with pytest.raises(BadSettingError, match="name one"):
        cx["x"].difference(0.5)
    assert cx["x"].difference(0.5, "last") == pytest.approx(0, abs=0.02)
    with pytest.raises(BadSettingError, match="'nxt' is not compared"):
        cx["x"].difference(0.5, "nxt")


def test_a_comparison_is_plain_numbers():
    cx = straight()
    again = pickle.loads(pickle.dumps(cx))  # noqa: S301 - our own
    assert str(again) == str(cx)
    assert "x1" in cx
    assert len(list(cx.values())) == 2
    assert cx._repr_html_().count("<tr>") == 3


def test_pictures_of_all_features_and_of_one():
    cx = straight()
    assert len(cx.plot(top=1)) == 1
    assert len(cx.plot("x1")) == 3
    with pytest.raises(BadSettingError, match="no option 'colour'"):
        cx.plot(colour="red")


def test_the_page_is_one_file(tmp_path):
    pytest.importorskip("vl_convert")
    path = straight().report(tmp_path / "c.html", title="Champion")
    text = path.read_text(encoding="utf-8")
    assert '<h1 dir="auto">Champion</h1>' in text
    assert "Effects differ in 1 of 2 features" in text
