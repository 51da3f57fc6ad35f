"""Pairs as they are typed, sent and understood."""

import json

import pytest

import rhale
from rhale.cli.values import pairs_as_typed, read_typed_pairs
from rhale.errors import BadSettingError


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ({"pairs": "a:b"}, [("a", "b")]),
        ({"pairs": " a : b ,size (m):c"}, [("a", "b"), ("size (m)", "c")]),
        ({"pairs": "all"}, "all"),
        ({"top": 7}, 7),
    ],
)
def test_pairs_arrive_as_interactions_takes_them(given, pairs):
    sent = json.loads(json.dumps(pairs_as_typed(given)))
    assert read_typed_pairs(sent) == {"pairs": pairs}


def test_what_was_not_given_is_left_to_interactions():
    assert pairs_as_typed({"pairs": None, "top": None, "cells": None, "smooth": False}) == {}
    assert pairs_as_typed({"smooth": True, "method": "ale"}) == {"method": "ale", "smooth": True}


@pytest.mark.parametrize("text", ["a", "a:b:c", "a:", ":b", "a:b,", ""])
def test_what_is_no_pair_is_refused_with_how_to_write_one(text):
    with pytest.raises(BadSettingError, match="is not a pair; write a:b"):
        pairs_as_typed({"pairs": text})


def test_pairs_are_named_or_chosen_and_not_both():
    with pytest.raises(BadSettingError, match="use one of the two"):
        pairs_as_typed({"pairs": "a:b", "top": 3})


def test_cells_are_a_number_or_a_partition():
    assert read_typed_pairs({"cells": "12"}) == {"cells": 12}
    assert read_typed_pairs({"cells": "fixed:7"}) == {"cells": rhale.Fixed(7)}
    with pytest.raises(BadSettingError, match="--cells many is not understood"):
        read_typed_pairs({"cells": "many"})
