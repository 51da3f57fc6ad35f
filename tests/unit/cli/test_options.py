"""Options as they are typed, made into a request; what makes no sense is wrong usage."""

import pytest

typer = pytest.importorskip("typer")

from rhale.cli.options import request
from rhale.system.processes import usual_memory

NOTHING = dict.fromkeys(
    (
        *("target", "features", "bins", "output", "weights", "rows", "allow_pickle"),
        *("depth", "splitters", "by"),
    )
)
USUAL = {
    **NOTHING,
    "model": "m.onnx",
    "data": ["a.csv", "b.csv"],
    "method": "rhale",
    "seed": 0,
    "response": "auto",
    "regions": False,
    "trust": [],
    "max_memory": "",
    "max_seconds": 60.0,
    "debug": True,  # an option of the screen, no argument of explain
}


def made(**given):
    return request("explain", {**USUAL, **given})


def test_options_that_were_not_given_are_left_to_explain():
    found = made()
    assert found.asked == {"method": "rhale", "seed": 0, "response": "auto"}
    assert found.data == ("a.csv", "b.csv")


def test_features_are_names_between_commas():
    assert made(features="age, size (m),zip").asked["features"] == ["age", "size (m)", "zip"]


@pytest.mark.parametrize(("text", "output"), [("1", 1), ("cat", "cat"), ("1st", "1st")])
def test_an_output_is_a_label_or_a_position(text, output):
    assert made(output=text).asked["output"] == output


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"regions": True}, {}),
        ({"regions": True, "depth": 3}, {"depth": 3}),
        ({"regions": True, "splitters": "age, size (m)"}, {"splitters": ["age", "size (m)"]}),
        ({"by": "sex"}, {"by": "sex"}),
        ({"by": "age", "cuts": "30,1e2"}, {"by": "age", "cuts": [30.0, 100.0]}),
    ],
)
def test_regions_are_sent_as_plain_values(given, plain):
    assert made(**given).asked["regions"] == plain


def test_rows_are_the_number_of_rows_to_draw():
    assert made(rows=100).asked["n_rows"] == 100


def test_memory_is_a_size_or_what_the_machine_can_spare():
    assert made(max_memory="512M").max_memory == 2**29
    assert made().max_memory == usual_memory()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_memory": "lots"}, "--max-memory lots is not a size"),
        ({"max_memory": "0"}, "--max-memory 0 is not a size"),
        ({"allow_pickle": "yes"}, "sha256:"),
        ({"method": "shap"}, "shap"),
        ({"regions": True, "by": "sex"}, "--regions searches for groups and --by sex names them"),
        ({"depth": 1}, "--depth 1 is a setting of the search for regions; add --regions"),
        (
            {"splitters": "a,b"},
            "--splitters a,b is a setting of the search for regions; add --regions",
        ),
        ({"depth": 2, "by": "sex"}, "--depth 2 is a setting of the search"),
        ({"cuts": "30,60"}, "--cuts 30,60 divides a column into groups; name it with --by"),
        ({"depth": 4, "regions": True}, "depth=4 of regions is none of 1, 2 and 3"),
        ({"method": "pdp", "regions": True}, "method='pdp' has none"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(given, words):
    with pytest.raises(typer.BadParameter, match=words):
        made(**given)


def test_a_hash_may_be_allowed():
    assert made(allow_pickle="sha256:00").allow_pickle == "sha256:00"


def asked_for_pairs(**given):
    usual = {**USUAL, "method": "ale", "pairs": None, "top": None, "cells": None, "smooth": False}
    return request("interactions", {**usual, **given})


def test_arguments_of_interactions_are_those_that_were_given():
    assert asked_for_pairs().asked == {"seed": 0, "response": "auto", "method": "ale"}
    found = asked_for_pairs(pairs="age:sex", cells="12", features="age,sex", rows=500)
    assert found.asked["pairs"] == [["age", "sex"]]
    assert found.arguments["cells"] == 12
    assert found.asked["features"] == ["age", "sex"]
    assert found.asked["n_rows"] == 500


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": "age:age"}, "a pair needs two features"),
        ({"pairs": "age:sex", "top": 3}, "use one of the two"),
        ({"cells": "many"}, "--cells many is not understood"),
        ({"cells": "1"}, "is not between 2 and"),
        ({"method": "h", "cells": "9"}, "is about surfaces"),
    ],
)
def test_pairs_that_make_no_sense_are_wrong_usage(given, message):
    with pytest.raises(typer.BadParameter, match=message):
        asked_for_pairs(**given)


def asked_for_trainings(**given):
    usual = {
        **USUAL,
        **dict.fromkeys(("columns", "groups", "share", "folds", "jobs", "pairs")),
        "model": "shop:make",
        "target": "price",
        "scheme": "half-samples",
        "n_refits": 20,
    }
    return request("refit", {**usual, **given})


def test_arguments_of_refit_are_those_that_were_given():
    found = asked_for_trainings()
    usual = {"method": "rhale", "seed": 0, "response": "auto"}
    usual |= {"output_names": "price"}
    assert found.asked == {**usual, "scheme": "half-samples", "n_refits": 20}
    assert (found.model, found.target) == ("shop:make", "price")
    found = asked_for_trainings(
        columns=" a ,size (m)", jobs=2, pairs="a:b", rows=50, checkpoint="kept"
    )
    assert found.arguments["checkpoint"] == "kept"
    assert found.asked["columns"] == ["a", "size (m)"]
    assert (found.asked["n_jobs"], found.asked["n_rows"]) == (2, 50)
    assert found.arguments["pairs"] == [("a", "b")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": "model.onnx"}, "model.onnx names no learner; write module:name"),
        ({"scheme": "folds", "n_refits": 7}, "n_refits=7 is not a whole number of rounds"),
        ({"share": 0.5}, "share=0.5 is for scheme='subsamples'"),
        ({"scheme": "subsamples", "share": 1.5}, "share=1.5 is not a share of the rows"),
        ({"pairs": "a"}, "--pairs 'a' is not a pair"),
        ({"bins": "many"}, "--bins many"),
        ({"method": "pdp", "regions": True}, "method='pdp' has none"),
    ],
)
def test_trainings_that_make_no_sense_are_wrong_usage(given, message):
    with pytest.raises(typer.BadParameter, match=message):
        asked_for_trainings(**given)
