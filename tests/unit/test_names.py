import inspect
import re
from typing import get_args

import numpy as np
import pytest

import rhale
from rhale.errors import (
    BadSettingError,
    UnknownArgumentError,
    UnknownFeatureError,
    UnknownOutputError,
)
from rhale.interaction.settings import MeasuredPairMethod
from rhale.naming import (
    ARGUMENT_SYNONYMS,
    OPTION_VALUE_SYNONYMS,
    answering_unknown,
    find_feature,
    find_level,
    find_output,
    guess,
    near_names,
    read_word,
)
from rhale.settings import Local, Method, Response


@pytest.mark.parametrize("find", [find_feature, find_output])
def test_a_name_is_found_before_a_position(find):
    known = ["2", "1", "0", "b"]
    assert find("2", known) == 0
    assert find(1, known) == 1
    assert find(0, known) == 2
    assert find(3, known) == 3
    assert find(-1, known) == 3
    assert find(np.int64(3), known) == 3


@pytest.mark.parametrize("asked", ["c", "1", 2, -3, 0.5, None])
def test_what_is_not_there_is_refused_with_all_that_is(asked):
    with pytest.raises(UnknownFeatureError, match=r"no feature .*Known: 'a', 'b'"):
        find_feature(asked, ["a", "b"])
    with pytest.raises(UnknownOutputError, match=r"no output .*Known: 'a', 'b'"):
        find_output(asked, ["a", "b"])


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("agee", ["age", "income"], "did you mean 'age'? Known: 'age', 'income'"),
        ("zzz", ["age"], "Known: 'age'"),
        ("x", [], "Known: "),
    ],
)
def test_near_names_are_suggested(name, known, text):
    assert near_names(name, known) == text


def test_a_long_list_of_names_is_cut_and_counted():
    text = near_names("q", [f"column {i}" for i in range(30)], limit=3)
    assert text == "Known: 'column 0', 'column 1', 'column 2' and 27 more"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("BMI", ["age", "bmi"], "did you mean 'bmi'? "),
        ("bmi", ["BMI", "Bmi"], "did you mean 'BMI' or 'Bmi'? "),
        ("STRASSE", ["straße"], "did you mean 'straße'? "),
        ("ZZZ", ["age"], ""),
    ],
)
def test_upper_and_lower_case_are_alike_where_it_is_guessed(name, known, meant):
    assert guess(name, known) == meant


def test_a_name_in_another_case_is_no_name():
    with pytest.raises(UnknownFeatureError, match="no feature 'BMI'; did you mean 'bmi'"):
        find_feature("BMI", ["age", "bmi"])
    with pytest.raises(UnknownOutputError, match="no output 'YES'; did you mean 'yes'"):
        find_output("YES", ["no", "yes"])
    with pytest.raises(BadSettingError, match="no level 'berlin'; did you mean 'Berlin'"):
        find_level("city", "berlin", ["Berlin", "Rome"])


def test_words_are_read_in_any_case():
    assert read_word("method", "RHALE", ["rhale", "ale"]) == "rhale"
    assert read_word("method", "ale", ["rhale", "ale"]) == "ale"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "logit",
            "response='logit' is not known; did you mean 'log_odds'? use one of auto, log_odds",
        ),
        ("LOGIT", "did you mean 'log_odds'?"),
        ("logodds", "did you mean 'log_odds'?"),
        ("log odds", "did you mean 'log_odds'?"),
        ("xyz", "response='xyz' is not known; use one of auto, log_odds"),
        (3, "response=3 is not known; use one of auto, log_odds"),
    ],
)
def test_other_words_are_answered_with_ours(given, said):
    with pytest.raises(BadSettingError, match=re.escape(said)):
        read_word("response", given, ["auto", "log_odds"])


def test_a_word_of_others_is_not_offered_where_ours_is_not_known():
    with pytest.raises(BadSettingError, match=r"known; use one of rhale$"):
        read_word("method", "logit", ["rhale"])


@answering_unknown("bins")
def asked(model, data, *, weights=None, **options):
    """Say what was asked."""
    return model, data, weights, options


def test_a_call_that_answers_unknown_arguments_stays_what_it_was():
    assert asked(1, 2, weights=3, bins=4) == (1, 2, 3, {"bins": 4})
    assert list(inspect.signature(asked).parameters) == ["model", "data", "weights", "options"]
    assert (asked.__name__, asked.__doc__) == ("asked", "Say what was asked.")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sample_weight", "asked has no argument 'sample_weight'; it is called weights="),
        ("X", "it is called data="),
        ("grid_resolution", "it is called bins="),
        ("weight", "did you mean 'weights'?"),
        ("random_state", "it has model, data, weights, bins"),
    ],
)
def test_arguments_that_are_not_there_are_answered_with_those_that_are(name, said):
    with pytest.raises(UnknownArgumentError, match=re.escape(said)):
        asked(1, 2, **{name: 3})


def test_every_word_of_others_is_offered_for_an_argument_or_a_value_that_there_is():
    calls = (rhale.explain, rhale.interactions, rhale.refit)
    arguments = {name for call in calls for name in inspect.signature(call).parameters}
    values = {
        *get_args(Method),
        *get_args(Local),
        *get_args(Response),
        *get_args(MeasuredPairMethod),
    }
    assert set(ARGUMENT_SYNONYMS) <= arguments
    assert set(OPTION_VALUE_SYNONYMS) <= values


def test_a_target_by_position_is_answered_in_words():
    """It is what fingers type who know `permutation_importance`."""
    rows = np.zeros((9, 2))
    for call in (rhale.explain, rhale.interactions):
        with pytest.raises(
            UnknownArgumentError, match=r"was given 3 values.*a target is not needed"
        ):
            call(lambda x: x[:, 0], rows, rows[:, 0])
    with pytest.raises(UnknownArgumentError, match="no argument 'y'; a target is not needed"):
        rhale.explain(lambda x: x[:, 0], rows, y=rows[:, 0])
    with pytest.raises(UnknownArgumentError, match=r"needs target: refit\(estimator, data, target"):
        rhale.refit(object(), rows)
