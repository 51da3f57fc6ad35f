"""The schema of refits knows every field, and numbers that do not belong together."""

import json
from base64 import b64decode
from copy import deepcopy
from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("pandas")
from tests.refits_by_hand import HALVES, make_frame, make_refits, of_frame

import rhale
from rhale.effects.store import FORMAT, VERSION, pack_refits
from rhale.errors import BadFileError
from rhale.output.storage.arrays import write_array
from rhale.stability.result import restore_result
from rhale.stability.storage import REFITS


@pytest.fixture(scope="module")
def saved():
    frame = make_frame(np.random.default_rng(0))
    rx = make_refits(of_frame, frame, features=["city", "gap"], pairs=[("city", "gap")])
    return json.loads(json.dumps({VERSION: FORMAT, **pack_refits(rx)}, allow_nan=False))


@pytest.fixture
def content(saved):
    return deepcopy(saved)


def told(content):
    """What is said of damaged content."""
    with pytest.raises(BadFileError) as error:
        restore_result(content, "it")
    message = str(error.value)
    assert message.endswith("; save the refits again")
    assert "\n" not in message
    assert len(message) < 300
    return message.removeprefix("it is damaged: ").removesuffix("; save the refits again")


def pooled(content, array):
    """The mark of a new array."""
    content["arrays"].append(write_array(np.asarray(array)))
    return {"pooled": len(content["arrays"]) - 1}


def numbers(content, mark):
    written = content["arrays"][mark["pooled"]]
    found = np.frombuffer(b64decode(written["base64"]), written["as"]).astype(written["type"])
    return found.reshape(written["shape"])


def test_the_schema_has_every_field_of_refits():
    assert set(REFITS.fields) | {"trained"} == {f.name for f in fields(rhale.Refits)}


def test_the_schema_has_every_field_of_an_explanation_but_what_trainings_leave_out():
    known = {f.name for f in fields(rhale.Explanation)}
    assert set(REFITS.fields["own"].kind.records["explanation"].fields) == known - {
        "cells",
        "partner_matrix",
    }


def test_every_field_is_needed(saved):
    for name in (*REFITS.fields, "arrays"):
        content = deepcopy(saved)
        del content[name]
        assert f"{name} is " in told(content)


SHARED = {
    "overlap.shared is not symmetric": lambda k: k + np.triu(np.full_like(k, 1e-3), 1),
    "overlap.shared has a training without rows": lambda k: k * (1 - np.eye(len(k))),
    "overlap.shared holds nan": lambda k: k * np.nan,
    "overlap.shared holds -": lambda k: -k,
    "overlap.shared holds inf": lambda k: k + np.inf,
    "overlap.shared holds 33": lambda k: 1e3 * k,
    "overlap.shared has trainings that share more": lambda k: np.where(np.eye(len(k)), k, 0.5),
    "overlap.shared has 3 columns for 4 trainings": lambda k: k[:, :3],
    "overlap.n_train has 4 numbers for 3 trainings": lambda k: k[:3, :3],
    "overlap.shared has 16 numbers for the shape": lambda k: k.ravel(),
}


@pytest.mark.parametrize("expected", SHARED)
def test_what_trainings_share_is_checked(content, expected):
    shared = numbers(content, content["overlap"]["shared"])
    content["overlap"]["shared"] = pooled(content, SHARED[expected](shared))
    assert told(content).startswith(expected)


def first(content, **changes):
    content["explanations"][0].update(changes)


def pair(content, **changes):
    content["pairs"][0].update(changes)


DAMAGE = {
    "explanations has 3 entries for 4 trainings": lambda c: c["explanations"].pop(),
    "explanations has 1 entries for 1 trainings": lambda c: c.update(
        explanations=c["explanations"][:1]
    ),
    "explanations[1] is of other features": lambda c: first(
        c, features=["city", "x"],
        effects=[c["explanations"][0]["effects"][0], {**c["explanations"][0]["effects"][1], "name": "x"}],
    ),
    "explanations[0].effects[0] is of another feature": lambda c: first(
        c, effects=c["explanations"][0]["effects"][::-1]
    ),
    "explanations[0].effects[0].level_weight is zero": lambda c: c["explanations"][0]["effects"][
        0
    ].update(level_weight=pooled(c, np.zeros(5))),
    "explanations[2].effects[0] has other places": lambda c: c["explanations"][2]["effects"][
        0
    ].update(levels=["b", "a", "c", "d", "e"]),
    "own.effects[0] has other places": lambda c: c["own"]["effects"][0].update(
        levels=["b", "a", "c", "d", "e"]
    ),
    "explanations[0].predictions has numbers of the type 'int64'": lambda c: first(
        c, predictions=pooled(c, np.zeros((60, 1), dtype=np.int64))
    ),
    "explanations[0].'cells' is unknown": lambda c: first(c, cells={"mapping": []}),
    "explanations[0].effects[1].level is missing": lambda c: c["explanations"][0]["effects"][
        1
    ].pop("level"),
    "explanations[0].effects[1].'mean' is unknown": lambda c: c["explanations"][0]["effects"][
        1
    ].update(mean=c["explanations"][0]["effects"][1]["level"]),
    "explanations[0].effects[1].sample is a record 'sampled_rows'": lambda c: c["explanations"][0][
        "effects"
    ][1].update(sample={"record": "sampled_rows", "local_effects": pooled(c, np.zeros(60))}),
    "explanations[0].effects[1].name is an array": lambda c: c["explanations"][0]["effects"][
        1
    ].update(name={"pooled": 0}),
    "pairs[0].gram is not symmetric": lambda c: pair(
        c, gram=pooled(c, np.triu(np.ones((4, 4))))
    ),
    "pairs[0].gram has 3 rows for 4 trainings": lambda c: pair(c, gram=pooled(c, np.ones((3, 3)))),
    "pairs[0] has 3 strengths for 4 trainings": lambda c: pair(
        c, gram=pooled(c, np.ones((3, 3))), strengths=pooled(c, np.ones(3))
    ),
    "pairs[0].strengths holds -1.0": lambda c: pair(c, strengths=pooled(c, -np.ones(4))),
    "pairs[0] is of an unknown feature": lambda c: pair(c, names=["city", "nobody"]),
    "pairs[0] is of an unknown feature or output": lambda c: pair(c, output="z"),
    "pairs[0].names names one twice": lambda c: pair(c, names=["gap", "gap"]),
    "pairs[1] is there twice": lambda c: c["pairs"].append(
        {**c["pairs"][0], "names": c["pairs"][0]["names"][::-1]}
    ),
    "failures has 10001 entries, more than 10000": lambda c: c.update(failures=[[1, ""]] * 10_001),
    "failures[0] is 3, not the number": lambda c: c.update(failures=[3]),
    "failures[0][0] is 0, which it cannot be": lambda c: c.update(failures=[[0, "why"]]),
    "failures[0][0] is 1.0, not a whole number": lambda c: c.update(failures=[[1.0, "why"]]),
    "failures[0][1] is null, not a text": lambda c: c.update(failures=[[1, None]]),
    "provenance['rows'] is null": lambda c: c.update(provenance={"mapping": [["rows", None]]}),
    "provenance['a'] is an array, where plain values": lambda c: c.update(
        provenance={"mapping": [["a", {"pooled": 0}]]}
    ),
    "provenance['a'] is an array, where plain": lambda c: c.update(
        provenance={"mapping": [["a", [[{"pooled": 0}]]]]}
    ),
    "notes[0] is an array, not a text": lambda c: c.update(notes=[["kind", {"pooled": 0}]]),
    "'trained' is unknown": lambda c: c.update(trained=1),
    "an array 10000 is named": lambda c: first(c, sample_x={"pooled": 10_000}),
    "overlap is an array, not a record": lambda c: c.update(overlap={"pooled": 0}),
}  # fmt: skip


@pytest.mark.parametrize("expected", DAMAGE)
def test_damage_is_told_by_the_name_of_the_field(content, expected):
    DAMAGE[expected](content)
    assert told(content).startswith(expected)


def test_too_many_numbers_to_compare_are_refused(content, monkeypatch):
    monkeypatch.setattr("rhale.stability.storage.MAX_STORED_HEIGHTS", 4 * 60 - 1)
    assert told(content) == "explanations has 4 trainings at 60 rows, more than 239 numbers"


def test_points_without_a_curve_are_the_same_in_all_trainings():
    rx = make_refits(of_frame, make_frame(np.random.default_rng(0)), features=["gap"], method="pdp")
    content = json.loads(json.dumps({VERSION: FORMAT, **pack_refits(rx)}))
    effect = content["explanations"][1]["effects"][0]
    mean = numbers(content, effect["mean"])
    effect["mean"] = pooled(content, np.where(np.arange(mean.size) == 2, np.nan, mean))
    assert told(content).startswith("explanations[1].effects[0] has other places")


def test_trainings_on_halves_are_as_they_were(content):
    again = restore_result(content, "it")
    assert again.overlap.n_train.tolist() == [half.size for half in HALVES]
