from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.plots.labels import slope_label, value_label


@pytest.fixture
def effect():
    return rhale.effect(np.linspace(0.0, 1.0, 20), np.ones(20), name="age")


def test_the_values_are_named_by_what_they_are_and_where_they_are_zero(effect):
    output = effect.output
    assert value_label([effect], "mean", 40) == f"effect on {output}\n(centred)"
    assert value_label([effect], "start", 40, each=True).startswith("effect on each output\n")
    assert value_label([effect], None, 40) == f"prediction of {output}"


def test_profiles_show_predictions_even_where_they_are_centred():
    rows = np.linspace(0.0, 1.0, 40).reshape(20, 2)
    profile = rhale.explain(lambda r: r[:, 0], rows, method="pdp")["x0"]
    assert value_label([profile], "mean", 40) == "prediction of y0\n(centred)"


def test_a_slope_has_the_unit_of_its_feature(effect):
    assert slope_label(effect, 40) == f"d {effect.output} / d age"
    assert slope_label(replace(effect, kind="date"), 40) == f"d {effect.output} / d age, per day"
