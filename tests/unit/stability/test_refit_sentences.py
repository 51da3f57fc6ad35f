import math

import numpy as np
import pytest
from tests.unit.report.refit_cases import straight, two_outputs, with_levels, with_missing
from tests.unit.stability.test_refit_page import same_rows

from rhale.output.number_format import UNKNOWN_DASH
from rhale.report.sentences import format_report_number
from rhale.stability.charts import trace_refits
from rhale.stability.report import (
    comes_back_in_words,
    count_stable_sentence,
    tell_nothing,
    tell_refits,
)


def told(effect, alike=()):
    return tell_refits(effect, trace_refits(effect), effect.importance_ci(), list(alike))


def test_an_effect_that_comes_back_is_told_with_its_course():
    effect = straight()["age"]
    words = told(effect)
    assert words.startswith("The effect of age is stable: ")
    assert (
        f"Its importance is {format_report_number(effect.importance)}, with a 95\u00a0% interval from "
        in words
    )
    assert "rises by 2 from its lowest point, at 0, to its highest, at 1" in words
    assert "6 of 6 models rise between these points, too" in words


def test_an_effect_that_does_not_come_back_has_no_course():
    words = told(straight()["noise"])
    assert words.startswith("The effect of noise is not significant: ")
    assert "p\u00a0=\u00a01" in words
    assert "mean curve" not in words


def test_levels_are_compared_by_name():
    words = told(with_levels()["city"])
    assert "“south”, the highest, is 2 above" in words
    assert "above it in 6 of 6 models" in words


def test_one_value_tells_nothing():
    assert told(with_levels()["one"]).startswith("one has one value")


def test_the_same_rows_tell_nothing_of_other_rows():
    effect = same_rows()["age"]
    words = told(effect)
    assert "is unknown: all models were trained on the same rows" in words
    assert ", without an interval; single models gave" in words
    assert comes_back_in_words(effect) == UNKNOWN_DASH
    assert math.isnan(effect.p_value)


@pytest.mark.parametrize("name", ["age", "noise"])
def test_sizes_of_single_trainings_are_those_of_the_refits(name):
    effect = straight()[name]
    least, most = np.min(effect.importances), np.max(effect.importances)
    assert (
        f"single models gave {format_report_number(least)} to {format_report_number(most)}."
        in told(effect)
    )


def test_copies_are_warned_of():
    assert "It is strongly correlated with copy: " in told(straight()["age"], ["copy"])


def test_how_many_come_back_is_told_beside_what_chance_would_do():
    assert count_stable_sentence(["yes", "no"]) == "1 of 2 features have a stable effect."
    assert count_stable_sentence(["no"]) == "0 of 1 feature has a stable effect."
    assert count_stable_sentence(["no"] * 40) == (
        "0 of 40 features have a stable effect; if no feature had an effect, about 2 would still be "
        "called stable by chance."
    )
    assert "is unknown" in count_stable_sentence([UNKNOWN_DASH, UNKNOWN_DASH])


def test_what_is_but_rounding_has_no_course():
    assert "mean curve" in told(same_rows()["age"])
    assert "mean curve" not in told(same_rows()["noise"])  # the slopes add up to zero


def test_a_feature_that_no_training_uses_is_told_in_few_words():
    assert tell_nothing(two_outputs()["x1", "y0"]) == "x1 has no effect in any retrained model."


def test_missing_values_are_told():
    found = with_missing()["x"].missing
    words = f"For rows without a value the mean is {format_report_number(found.curve)} ({format_report_number(found.low)} to "
    assert words in told(with_missing()["x"])
    assert "without a value" not in told(straight()["age"])
