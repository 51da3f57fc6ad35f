"""The schema of interactions knows every field, and numbers that do not belong together."""

import json
from base64 import b64encode
from dataclasses import fields, replace

import numpy as np
import pytest
from tests.pairs_by_hand import as_profile, grid, make_interactions

from rhale.effects.store import FORMAT, VERSION, pack_interactions
from rhale.errors import BadFileError
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.result import Interactions
from rhale.interaction.storage import INTERACTIONS
from rhale.stability.result import restore_result

ROWS = grid(np.arange(6.0), np.arange(5.0), np.arange(2))


@pytest.fixture(scope="module")
def ix():
    models = {"y": lambda r: r[:, 0] * r[:, 1], "z": lambda r: r[:, 2] * r[:, 0]}
    return make_interactions(models, ROWS, ["a", "b", "c"], labels={"c": ("no", "yes")}, n_cells=2)


@pytest.fixture(scope="module")
def h(ix):
    index = PairIndex(("a", "b"), "y", "h", 0.5, 1.0, h2=0.1, notes=("a note",))
    return replace(
        ix, outputs=("y",), pairs=(index, replace(index, names=("c", "a"), h2=np.nan)),
        importance=np.full((3, 1), np.nan), variance=np.array([2.0]),
    )  # fmt: skip


@pytest.fixture(scope="module")
def pdp(ix):
    return replace(ix, pairs=tuple(map(as_profile, ix.pairs)))


def content_of(ix):
    return json.loads(json.dumps({VERSION: FORMAT, **pack_interactions(ix)}, allow_nan=False))


def told(content):
    """What is said of damaged content."""
    with pytest.raises(BadFileError) as error:
        restore_result(content, "it")
    message = str(error.value)
    assert message.endswith("; save the interactions again")
    assert "\n" not in message
    assert len(message) < 300
    return message.removeprefix("it is damaged: ").removesuffix("; save the interactions again")


def test_the_schema_has_every_field_of_interactions():
    assert set(INTERACTIONS.fields) == {f.name for f in fields(Interactions)}


@pytest.mark.parametrize("name", ["ix", "h", "pdp"])
def test_what_is_stored_comes_back(name, request):
    expected = request.getfixturevalue(name)
    again = restore_result(content_of(expected), "it")
    assert again == expected
    assert [type(pair) for pair in again.values()] == [type(pair) for pair in expected.values()]
    assert str(again) == str(expected)


def numbers(values, name="float64"):
    return {"array": values, "type": name, "shape": [len(values)]}


def packed(values, shape):
    return {"base64": b64encode(np.array(values, "<f8").tobytes()).decode(), "shape": shape}


def in_pair(place=0, **changes):
    def change(c):
        c["pairs"][place] |= changes
        return c

    return change


def in_moments(place=0, **changes):
    def change(c):
        c["pairs"][place]["moments"] |= changes
        return c

    return change


def in_axis(side=0, **changes):
    def change(c):
        c["pairs"][0]["axes"][side] |= changes
        return c

    return change


def with_pairs(choose):
    return lambda c: {**c, "pairs": choose(c["pairs"])}


SQUARE = {"record": "square", "noise": 0.0}
DAMAGE = {
    "'surprise' is unknown": lambda c: {**c, "surprise": 1},
    "pairs is missing": lambda c: {k: v for k, v in c.items() if k != "pairs"},
    "pairs is 3, not a list": lambda c: {**c, "pairs": 3},
    "pairs has 0 entries for 0 pairs": lambda c: {**c, "pairs": []},
    "pairs[0] is null, not a record": lambda c: {**c, "pairs": [None]},
    "pairs[0] is a record 'effect', not pair_effect or pair_profile": in_pair(record="effect"),
    "pairs has 5 entries, not the same number for 2 outputs": with_pairs(lambda p: p[:5]),
    "pairs[1] is of another pair or output": with_pairs(lambda p: [p[0], p[3]]),
    "pairs[0] is of another pair or output": with_pairs(lambda p: p[1::-1]),
    "pairs[2].names are those of another pair": with_pairs(lambda p: p[:2] * 2),
    "features has 1 entries for 1 features": lambda c: {**c, "features": ["a"]},
    "features names one twice": lambda c: {**c, "features": ["a", "a", "b"]},
    "pairs[0].names has 'a' or another unknown feature": lambda c: {
        **c,
        "features": ["d", "b", "c"],
    },
    "importance has 2 rows for 3 features": lambda c: {
        **c,
        "importance": {"array": [1.0] * 4, "type": "float64", "shape": [2, 2]},
    },
    "importance holds -1.0": lambda c: {
        **c,
        "importance": {"array": [-1.0] * 6, "type": "float64", "shape": [3, 2]},
    },
    "variance has 3 numbers for 2 outputs": lambda c: {**c, "variance": numbers([1.0] * 3)},
    "provenance['rows'] is 'many', not a whole": lambda c: {
        **c,
        "provenance": {"mapping": [["rows", "many"]]},
    },
    "notes[0] has 1 entries, not a kind": lambda c: {**c, "notes": [["gap"]]},
    "pairs[0].names has 3 entries, more than 2": in_pair(names=["a", "b", "c"]),
    "pairs[0].names has 1 entries for 1": in_pair(names=["a"]),
    "pairs[0].names names one twice": in_pair(names=["a", "a"]),
    "pairs[0].'h2' is unknown": in_pair(h2=1.0),
    "pairs[0].axes has 1 entries for 1 sides": lambda c: in_pair(axes=c["pairs"][0]["axes"][:1])(c),
    "pairs[0].axes[0].nodes does not increase": in_axis(nodes=numbers([0.0, 5.0, 5.0])),
    "pairs[0].axes[1].nodes does not increase": in_axis(
        1, nodes=numbers([2.0, 2.0]), labels=["a", "b"]
    ),
    "pairs[0].axes[1].nodes has 1 number, and no cell": in_axis(1, nodes=numbers([2.0])),
    "pairs[0].axes[0].nodes holds 1e+301": in_axis(nodes=numbers([0.0, 1.0, 1e301])),
    "pairs[0].axes[0].nodes has 0 numbers for 0": in_axis(nodes=numbers([])),
    "pairs[0].axes[0].nodes has 16386 numbers, more": in_axis(
        nodes=numbers([float(i) for i in range(16_386)])
    ),
    "pairs[0].axes[0].labels has 1 entries for 3 nodes": in_axis(labels=["a"]),
    "pairs[0].axes[0].labels names one twice": in_axis(labels=["a", "a", "b"]),
    "pairs[0].axes[0].kind is 'place', not one of number": in_axis(kind="place"),
    "pairs[0].axes[0].closed is true, not a text": in_axis(closed=True),
    "pairs[0].moments.mean has 1 columns, not 2": in_axis(labels=["a", "b", "c"]),
    "pairs[0].moments.stands are not cells in order": in_moments(
        stands=numbers([0, 1, 2, 4], "int64")
    ),
    "pairs[0].moments.stands does not increase": in_moments(stands=numbers([0, 1, 1, 2], "int64")),
    "pairs[0].moments.stands holds -1": in_moments(stands=numbers([-1, 1, 2, 3], "int64")),
    "pairs[0].moments.count has 3 numbers for 4 stands": in_moments(
        count=numbers([1, 1, 1], "int64")
    ),
    "pairs[0].moments.count has numbers of the type 'float64'": in_moments(
        count=numbers([1.0] * 4)
    ),
    "pairs[0].moments.weight holds -1.0": in_moments(weight=packed([-1.0] * 4, [4])),
    "pairs[0].moments.weight is an object": in_moments(weight=numbers([1.0] * 4)),
    "pairs[0].moments.places has 9 columns, more than 8": in_moments(
        places=packed([0.0] * 36, [4, 9])
    ),
    "pairs[0].moments.places has 7 columns for 7 powers": in_moments(
        places=packed([0.0] * 28, [4, 7])
    ),
    "pairs[0].moments.places are beyond the cells": in_moments(places=packed([1e3] * 32, [4, 8])),
    "pairs[0].moments.mean has 2 columns, not 1": in_moments(mean=packed([0.0] * 8, [4, 2])),
    "pairs[0].moments.mean holds nan": in_moments(mean=packed([np.nan] * 4, [4, 1])),
    "pairs[0].moments.products has 2 columns, not 1": in_moments(
        products=packed([0.0] * 8, [4, 2])
    ),
    "pairs[1].moments has 3 rows for 4 cells": in_moments(
        1, mean=packed([0.0] * 3, [3, 1]), products=packed([0.0] * 3, [3, 1])
    ),
    "pairs[0].moments are not those of the pair before it": lambda c: in_pair(
        moments=c["pairs"][1]["moments"]
    )(c),
    "pairs[3].moments is a record 'pair_moments'": in_moments(3, record="pair_moments"),
    "pairs[0].main[1] has 2 numbers for 3 nodes": in_pair(
        main=[numbers([0.0] * 3), numbers([0.0] * 2)]
    ),
    "pairs[0].main has 1 entries for 2 sides": in_pair(main=[numbers([0.0] * 3)]),
    "pairs[0].square.raw is -1.0, which it cannot": in_pair(square={**SQUARE, "raw": -1.0}),
    "pairs[0].square.raw is null, not a number": in_pair(square={**SQUARE, "raw": None}),
    "pairs[0].square.noise is 'x'": in_pair(square={**SQUARE, "raw": 1.0, "noise": "x"}),
    "pairs[0].variance is -1.0": in_pair(variance=-1.0),
    "pairs[0].n_left_out is 1.5, not a whole": in_pair(n_left_out=1.5),
    "pairs[0].reading is 'words', not one of": in_pair(reading="words"),
    "pairs[0].smooth is 1, not true or false": in_pair(smooth=1),
    "pairs[0].way is 'guess', not one of": in_pair(way="guess"),
}


@pytest.mark.parametrize("text", DAMAGE)
def test_damage_is_told_by_the_name_of_the_field(ix, text):
    assert told(DAMAGE[text](content_of(ix))).startswith(text)


INDEX_DAMAGE = {
    "pairs[0].method is 'ale', not one of": in_pair(method="ale"),
    "pairs[0].strength is -0.5": in_pair(strength=-0.5),
    "pairs[0].h2 is 'nan', not a number": in_pair(h2="nan"),
    "pairs[1] is by another method than the first": in_pair(1, method="shap"),
}


@pytest.mark.parametrize("text", INDEX_DAMAGE)
def test_damage_of_numbers_without_a_surface_is_told(h, text):
    assert told(INDEX_DAMAGE[text](content_of(h))).startswith(text)


PROFILE_DAMAGE = {
    "pairs[0].dependence has shape (1, 3) for (3, 3) nodes": in_pair(
        dependence={"array": [0.0] * 3, "type": "float64", "shape": [1, 3]}
    ),
    "pairs[0].dependence holds 1e+200": in_pair(
        dependence={"array": [1e200] * 9, "type": "float64", "shape": [3, 3]}
    ),
    "pairs[0].single[0] has 2 numbers for 3 nodes": in_pair(single=[numbers([0.0] * 2)] * 2),
    "pairs[0].moments is a record 'filled_cells', not filled_stands": in_moments(
        record="filled_cells"
    ),
    "pairs[0].moments.stands are not cells in order": in_moments(
        stands=numbers([0, 1, 2, 9], "int64")
    ),
    "pairs[0].moments.places are beyond": in_moments(count=numbers([0] * 4, "int64")),
}


@pytest.mark.parametrize("text", PROFILE_DAMAGE)
def test_damage_of_profiles_is_told(pdp, text):
    assert told(PROFILE_DAMAGE[text](content_of(pdp))).startswith(text)


def test_empty_cells_take_no_memory_before_they_are_counted(ix):
    """A thousand pairs of 128 x 128 cells without rows are 2 GB."""
    content = content_of(ix)
    axis = {"record": "pair_axis", "nodes": numbers([float(i) for i in range(129)]),
            "labels": [], "kind": "number", "closed": "left"}  # fmt: skip
    empty = {"record": "filled_cells", "stands": numbers([], "int64"), "count": numbers([], "int64"),
             "weight": None, "weight_squares": None, "places": packed([], [0, 8]),
             "mean": packed([], [0, 1]), "products": packed([], [0, 1])}  # fmt: skip
    main = [numbers([0.0] * 129)] * 2
    names = [f"x{i}" for i in range(1001)]
    pairs = [
        {**content["pairs"][0], "names": [names[0], name], "axes": [axis, axis], "main": main,
         "moments": empty}
        for name in names[1:]
    ]  # fmt: skip
    importance = {"array": [0.0] * 1001, "type": "float64", "shape": [1001, 1]}
    big = {**content, "features": names, "outputs": ["y"], "pairs": pairs,
           "importance": importance, "variance": numbers([1.0])}  # fmt: skip
    assert told(big).startswith("pairs take 212992000 numbers, more than 67108864")
    few = {**big, "pairs": pairs[:2]}
    assert restore_result(few, "it").pairs[0].n_unmeasured == 128**2
