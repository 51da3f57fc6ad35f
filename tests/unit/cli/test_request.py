"""A request between two processes: one line, and nothing is lost on the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.cli.parent import Request, read_request

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
REQUESTS = st.builds(
    Request,
    task=st.sampled_from(["explain", "check", "interactions", "refit"]),
    model=TEXTS,
    data=st.lists(TEXTS).map(tuple),
    target=st.none() | TEXTS,
    asked=st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS | st.lists(TEXTS)),
    trust=st.lists(TEXTS).map(tuple),
    allow_pickle=st.none() | TEXTS,
    max_memory=st.integers(1, 2**50),
    max_seconds=st.floats(0.1, 1e9),
)


@given(REQUESTS)
def test_what_is_written_is_read_again(request):
    line = request.written()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert read_request(line) == request


def test_a_request_is_plain_json_with_the_options_names():
    written = json.loads(Request("check", "m.onnx", ("a.csv", "b.csv"), max_seconds=9.0).written())
    assert written["data"] == ["a.csv", "b.csv"]
    assert (written["task"], written["max_seconds"]) == ("check", 9.0)


def test_bins_travel_as_text_and_arrive_as_bins():
    request = read_request(Request("explain", "m", ("t",), asked={"bins": "fixed:7"}).written())
    assert request.asked["bins"] == "fixed:7"
    assert request.arguments["bins"] == rhale.Fixed(7)


def test_no_word_about_bins_leaves_them_to_the_method():
    found = Request("explain", "m", ("t",), asked={"seed": 3}).arguments
    assert found == {"seed": 3, "bins": None, "regions": None}


@pytest.mark.parametrize(
    ("plain", "regions"),
    [
        ({}, rhale.Regions()),
        (
            {"depth": 1, "splitters": ["sex", "age"]},
            rhale.Regions(depth=1, splitters=["sex", "age"]),
        ),
        ({"by": "sex"}, rhale.By("sex")),
    ],
)
def test_regions_travel_as_plain_values_and_arrive_as_regions(plain, regions):
    request = read_request(Request("explain", "m", ("t",), asked={"regions": plain}).written())
    assert request.asked["regions"] == plain
    assert request.arguments["regions"] == regions


def test_pairs_travel_as_lists_and_arrive_as_pairs():
    asked = {"pairs": [["a", "b"]], "cells": "quantile:9", "seed": 3}
    request = read_request(Request("interactions", "m", ("t",), asked=asked).written())
    assert request.arguments == {"pairs": [("a", "b")], "cells": rhale.Quantile(9), "seed": 3}


def test_trainings_travel_as_plain_values_and_arrive_as_refit_takes_them():
    asked = {"scheme": "folds", "pairs": [["a", "b"]], "bins": "9", "regions": {"depth": 1}}
    request = read_request(Request("refit", "m:f", ("t",), target="y", asked=asked).written())
    assert request.asked == asked
    assert request.arguments == {
        "scheme": "folds",
        "pairs": [("a", "b")],
        "bins": 9,
        "regions": rhale.Regions(depth=1),
    }
