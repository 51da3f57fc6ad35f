from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.output.labels import Captions
from rhale.plots.labels import output_names, slope_label, value_label, write_output_label

CHURN = Captions({"age": "Age"}, {"y0": "probability of churn = 1"}, {"age": "years"})
WINES = Captions(outputs={"a": "probability of Barolo", "b": "probability of Barbera"})


@pytest.fixture
def effect():
    return rhale.effect(np.linspace(0.0, 1.0, 20), np.ones(20), name="age")


@pytest.fixture
def profile():
    rows = np.linspace(0.0, 1.0, 40).reshape(20, 2)
    return rhale.explain(lambda r: r[:, 0], rows, method="pdp")["x0"]


def test_the_values_are_named_by_what_they_are_and_where_they_are_zero(effect):
    assert value_label([effect], "mean", 40) == "effect on the prediction\n(centred)"
    assert value_label([effect], "start", 40, each=True).startswith("effect on each output\n")
    assert value_label([effect], None, 40) == "prediction"


def test_outputs_are_called_what_people_read_with_their_unit(effect):
    priced = replace(effect, captions=Captions(outputs={"y0": "price"}, units={"y0": "$"}))
    assert value_label([priced], "mean", 40) == "effect on price ($)\n(centred)"
    churned = replace(effect, captions=CHURN)
    assert value_label([churned], "mean", 40) == "effect on the probability of churn = 1\n(centred)"


def test_long_words_go_on_in_the_next_line_and_lose_nothing(effect):
    label = value_label([replace(effect, captions=CHURN)], "mean", 28)
    assert label.replace("\n", " ") == "effect on the probability of churn = 1 (centred)"
    assert max(map(len, label.split("\n"))) <= 28


def test_profiles_show_predictions_even_where_they_are_centred(profile):
    assert value_label([profile], "mean", 40) == "prediction\n(centred)"
    bare = replace(profile, captions=Captions())
    assert value_label([bare], None, 40) == "prediction of y0"
    assert value_label([bare], None, 40, each=True) == "prediction of each output"


def test_classes_are_told_apart_by_what_differs(effect):
    wines = [replace(effect, output=key, captions=WINES) for key in ("a", "b")]
    assert output_names(wines) == {"a": "Barolo", "b": "Barbera"}
    assert value_label(wines, "mean", 60, each=True) == (
        "effect on the probability of each class\n(centred)"
    )
    assert output_names(wines[:1]) == {"a": "probability of Barolo"}


def test_several_outputs_share_a_unit_or_have_none(effect):
    two = [replace(effect, output=key) for key in ("a", "b")]
    both = Captions(units={"a": "$", "b": "$"})
    labels = [
        value_label([replace(e, captions=c) for e in two], None, 60, each=True)
        for c in (both, Captions(units={"a": "$"}))
    ]
    assert labels == ["prediction of each output ($)", "prediction of each output"]


def test_a_slope_has_the_unit_of_its_feature(effect):
    assert slope_label(effect, 40) == "change of the prediction per unit of age"
    assert slope_label(replace(effect, kind="date"), 40) == "change of the prediction per day"
    churned = replace(effect, captions=CHURN)
    assert slope_label(churned, 90).endswith(" per unit of Age (years)")


def test_a_slope_says_less_where_there_is_little_room(effect):
    churned = replace(effect, captions=CHURN)
    assert slope_label(churned, 14).replace("\n", " ") == "change per unit of Age (years)"
    assert slope_label(replace(effect, name="x" * 90), 20) == "change per unit"


def test_a_name_that_the_user_gave_has_no_article():
    assert (
        write_output_label(Captions(outputs={"y0": "score in points"}), "y0") == "score in points"
    )
    assert write_output_label(Captions(outputs={"y1": "prediction 2"}), "y1") == "prediction 2"
