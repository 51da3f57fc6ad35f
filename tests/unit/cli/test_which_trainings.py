"""Trainings as they are typed, sent and understood."""

import json

import pytest

import rhale
from rhale.cli.values import read_scheme, read_typed_trainings, trainings_as_typed
from rhale.errors import BadSettingError
from rhale.stability.splits import Scheme


def test_what_was_not_given_is_left_to_refit():
    names = ("scheme", "n_refits", "share", "folds", "groups", "jobs", "pairs")
    assert trainings_as_typed(dict.fromkeys(names)) == {}


def test_trainings_arrive_as_refit_takes_them():
    given = {"n_refits": 4, "groups": "shop", "jobs": -1}
    sent = json.loads(json.dumps(trainings_as_typed({**given, "pairs": "a:b, b:c"})))
    assert read_typed_trainings({**sent, "bins": "fixed:7", "regions": {"by": "sex"}}) == {
        "n_refits": 4,
        "groups": "shop",
        "n_jobs": -1,
        "pairs": [("a", "b"), ("b", "c")],
        "bins": rhale.Fixed(7),
        "regions": rhale.By("sex"),
    }


def test_all_pairs_are_a_word_and_none_are_none():
    assert read_typed_trainings(trainings_as_typed({"pairs": "all"}))["pairs"] == "all"
    assert "pairs" not in read_typed_trainings({})


def test_a_scheme_is_what_was_given_and_the_usual_rest():
    assert read_scheme({}) == Scheme()
    assert read_scheme({"scheme": "subsamples", "share": 0.5, "seed": 3}) == Scheme(
        "subsamples", share=0.5
    )
    with pytest.raises(BadSettingError, match="not a whole number of rounds"):
        read_scheme({"scheme": "folds", "n_refits": 7})
