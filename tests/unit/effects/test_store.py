import json
import os
import stat
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from tests.pairs_by_hand import make_interactions

import rhale
from rhale.effects import store
from rhale.effects.explanation import load_explanation, restore_explanation
from rhale.effects.table import Missing
from rhale.errors import BadFileError, BadSettingError
from rhale.output.storage.values import write_plain_value
from rhale.output.text import Note
from rhale.stability.result import restore_result

TABLE = np.random.default_rng(0).normal(size=(50, 2))


def pack_any(result):
    packs = {rhale.Interactions: store.pack_interactions, rhale.Refits: store.pack_refits}
    packed = packs.get(type(result), store.pack_explanation)(result)
    return {store.VERSION: store.FORMAT, **packed}


@pytest.fixture
def fx():
    return rhale.explain(lambda rows: rows[:, 0] ** 2, TABLE, bins=6)


@pytest.fixture
def saved(fx, tmp_path):
    path = tmp_path / "effects.json"
    fx.save(path)
    return path


def test_a_file_is_plain_json_with_its_format(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["rhale_format"] == 12
    assert content["features"] == ["x0", "x1"]


def test_loading_gives_the_same_explanation(fx, saved):
    again = rhale.load(str(saved))
    assert again == fx
    assert isinstance(again.features, tuple)
    assert isinstance(again["x0"].notes, tuple)
    assert again["x0"].count.dtype == fx["x0"].count.dtype


@pytest.mark.parametrize("name", ["größe.json", "effects", "with space.json"])
def test_any_file_name_will_do(fx, tmp_path, name):
    fx.save(tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert rhale.load(tmp_path / name) == fx


def test_saving_again_replaces_the_file(fx, saved):
    fx.rebin(2).save(saved)
    assert rhale.load(saved)["x0"].mean.size == 2


@pytest.mark.parametrize(
    "numbers",
    [[1.5, np.nan, -0.0, 5e-324, 1 / 3, -1e150, 2.0], [0.1] * 7, [float(n) for n in range(7)]],
)
def test_numbers_come_back_bit_by_bit(fx, tmp_path, numbers):
    mean = np.array(numbers[:6])
    effects = (replace(fx["x0"], level=mean), fx["x1"])
    replace(fx, effects=effects).save(tmp_path / "numbers.json")
    again = rhale.load(tmp_path / "numbers.json")["x0"].level
    assert again.tobytes() == mean.tobytes()


def test_errors_that_became_infinite_come_back(fx, tmp_path):
    """The slope of a line over next to no x has a variance that no number can hold."""
    error = np.array([0.0, np.inf, np.nan, 1.0, 2.0, 0.0])
    effects = (replace(fx["x0"], slope_error=error), fx["x1"])
    replace(fx, effects=effects).save(tmp_path / "numbers.json")
    np.testing.assert_array_equal(rhale.load(tmp_path / "numbers.json")["x0"].slope_error, error)


def test_plain_values_and_mappings_come_back(fx, tmp_path):
    told = {"a": [1, 2.5, None, True, "ü"], "b": {"c": {}}, "array": "a word", "d": (1, ("x",))}
    told |= {"limits": [float("-inf"), float("inf")]}
    replace(fx, provenance=told).save(tmp_path / "told.json")
    assert rhale.load(tmp_path / "told.json").provenance == told


def test_numbers_of_numpy_are_written_as_plain_ones():
    assert write_plain_value(np.float64(0.1)) == 0.1
    assert type(write_plain_value(np.int64(3))) is int


def test_whole_numbers_for_floats_are_read_as_other_programs_write_them(fx, saved):
    text = saved.read_text(encoding="utf-8").replace(".0,", ",").replace(".0]", "]")
    saved.write_text(text, encoding="utf-8")
    again = rhale.load(saved)
    assert again == fx
    assert again["x0"].weight.dtype == np.float64


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"not json",
        b"\xff\xfe\x00",
        b'{"rhale_format": 1',
        b'\xef\xbb\xbf{"rhale_format": 3}',
        '{"rhale_format": 3}'.encode("utf-16"),
        b'{"rhale_format": 3, "notes": NaN}',
        b'{"rhale_format": 3, "notes": [-Infinity]}',
        b'{"rhale_format": 3, "rhale_format": 3}',
        b'{"rhale_format": 3, "seed": ' + b"9" * 5_000 + b"}",
    ],
)
def test_a_file_that_is_no_json_is_refused(tmp_path, content):
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(BadFileError, match=r"broken\.json is not a JSON file"):
        rhale.load(path)


@pytest.mark.parametrize("content", ["[]", "3", '"text"', "null", "{}", '{"a": 1}'])
def test_json_of_another_program_is_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadFileError, match=r"not written by Explanation\.save"):
        rhale.load(path)


@pytest.mark.parametrize("version", [13, 99])
def test_a_format_of_the_future_says_upgrade(saved, version):
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, "rhale_format": version}), encoding="utf-8")
    with pytest.raises(BadFileError, match=f"format {version}.*upgrade"):
        rhale.load(saved)


def test_a_file_of_format_1_is_read_and_its_empty_bin_interpolated():
    """Means .85 and 6.45 of [0, 1] and [2, 4] are read at 0.5 and 2.5; std at the middles."""
    effect = rhale.load(Path(__file__).parents[1] / "samples" / "format_1.json")["x0"]
    assert effect.count.tolist() == [4, 0, 4]
    np.testing.assert_allclose(effect.mean, [0.85, 3.65, 6.45])
    np.testing.assert_allclose(effect.std[1], 0.6 * effect.std[0] + 0.4 * effect.std[2])
    np.testing.assert_allclose(effect.curve([0, 1, 2, 4], center="start"), [0, 0.85, 4.5, 17.4])
    assert np.all(np.isfinite(effect.ci([0.5, 1.5, 3])))


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (0, "0"),
        ("1.5", "'1.5'"),
        (True, "true"),
        (5.0, r"5\.0"),
        ("5", "'5'"),
        ([5], "a list"),
        (10**300, "a huge number"),
        ("x" * 10_000, "'xxxx"),
    ],
)
def test_an_unknown_format_is_refused(saved, version, told):
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, "rhale_format": version}), encoding="utf-8")
    with pytest.raises(BadFileError, match=f"format {told}.*reads formats 1 to 12") as error:
        rhale.load(saved)
    assert len(str(error.value)) < 300


def without(content, name):
    return {k: v for k, v in content.items() if k != name}


def other_effect(content, **changes):
    first, *rest = content["effects"]
    return {**content, "effects": [{**first, **changes}, *rest]}


def numbers(values, name="float64"):
    return {"array": values, "type": name, "shape": [len(values)]}


def nested(depth):
    return [] if depth == 0 else [nested(depth - 1)]


DAMAGE = {
    "features is missing": lambda c: without(c, "features"),
    "effects is missing": lambda c: without(c, "effects"),
    "predictions is missing": lambda c: without(c, "predictions"),
    "'surprise' is unknown": lambda c: {**c, "surprise": 1},
    "effects[0].'surprise' is unknown": lambda c: other_effect(c, surprise=1),
    "effects[0] is a record 'mystery', not effect": lambda c: other_effect(c, record="mystery"),
    "effects[0] is a record a list": lambda c: other_effect(c, record=["effect"]),
    "level of an effect is missing": lambda c: {
        **c,
        "effects": [without(e, "level") for e in c["effects"]],
    },
    "effects is 3, not a list": lambda c: {**c, "effects": 3},
    "effects[1] is null, not a record": lambda c: {**c, "effects": [c["effects"][0], None]},
    "effects[0].edges has 1 numbers for the shape": lambda c: other_effect(
        c, edges={"array": [0.0], "type": "float64", "shape": [7]}
    ),
    "effects[0].std has 5 numbers for 6 bins": lambda c: other_effect(c, std=numbers([1.0] * 5)),
    "effects[0].edges has 1 numbers for 0 bins": lambda c: other_effect(c, edges=numbers([1.0])),
    "effects[0].edges has numbers of the type 'U500000000'": lambda c: other_effect(
        c, edges=numbers([0.0, 1.0], "U500000000")
    ),
    "effects[0].edges has numbers of the type '(11000,11000)f8'": lambda c: other_effect(
        c, edges=numbers([0.0, 1.0], "(11000,11000)f8")
    ),
    "effects[0].count has numbers of the type 'float64'": lambda c: other_effect(
        c, count=numbers([1.0] * 6)
    ),
    "effects[0].mean holds 'much' where a number belongs": lambda c: other_effect(
        c, mean=numbers(["much"] * 6)
    ),
    "effects[0].mean holds true where a number belongs": lambda c: other_effect(
        c, mean=numbers([0.0, True, 0.0, 0.0, 0.0, 0.0])
    ),
    "effects[0].mean holds a list where": lambda c: other_effect(c, mean=numbers([[1.0]] * 6)),
    "effects[0].weight holds null where": lambda c: other_effect(c, weight=numbers([None] * 6)),
    "effects[0].weight holds -1.0, which": lambda c: other_effect(c, weight=numbers([-1.0] * 6)),
    "effects[0].weight is zero in all bins": lambda c: other_effect(c, weight=numbers([0.0] * 6)),
    "effects[0].mean holds a number that is too large": lambda c: other_effect(
        c, mean=numbers([10**400] * 6)
    ),
    "effects[0].count holds a number that is too large": lambda c: other_effect(
        c, count=numbers([2**63] * 6, "int64")
    ),
    "effects[0].count holds -1, which it cannot": lambda c: other_effect(
        c, count=numbers([-1] * 6, "int64")
    ),
    "effects[0].edges does not increase": lambda c: other_effect(
        c, edges=numbers([0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    ),
    "effects[0].closed is 'both', not one of left, right": lambda c: other_effect(c, closed="both"),
    "effects[0].name is 7, not a text": lambda c: other_effect(c, name=7),
    "effects[0] is of another feature": lambda c: other_effect(c, name="x1"),
    "effects[0].local_notes[1] is null, not a text": lambda c: other_effect(
        c, local_notes=["a", None]
    ),
    "effects has 1 entries for 2 features and 1 outputs": lambda c: {
        **c,
        "effects": c["effects"][:1],
    },
    "features names one twice": lambda c: {**c, "features": ["x0", "x0"]},
    "features has 0 entries for 0 features": lambda c: {**c, "features": [], "effects": []},
    "sample_weight has 49 numbers for 50 rows": lambda c: {
        **c,
        "sample_weight": numbers([1.0] * 49),
    },
    "cells['surprise'] belongs to no effect": lambda c: {
        **c,
        "cells": {"mapping": [["surprise", c["cells"]["mapping"][0][1]]]},
    },
    "cells has a name twice": lambda c: {
        **c,
        "cells": {"mapping": [c["cells"]["mapping"][0]] * 2},
    },
    "provenance['rows'] is 'many', not a whole number": lambda c: {
        **c,
        "provenance": {"mapping": [["rows", "many"]]},
    },
    "provenance['a'] holds lists within lists, too deep": lambda c: {
        **c,
        "provenance": {"mapping": [["a", nested(40)]]},
    },
    "provenance['a'] is an object, not a mapping": lambda c: {
        **c,
        "provenance": {"mapping": [["a", numbers([1.0])]]},
    },
    "notes is an object, not a list": lambda c: {**c, "notes": {}},
}


@pytest.mark.parametrize("told", DAMAGE)
def test_damage_is_told_by_the_names_of_file_and_field(saved, told):
    content = DAMAGE[told](json.loads(saved.read_text(encoding="utf-8")))
    saved.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadFileError, match=r"effects\.json is damaged: ") as error:
        rhale.load(saved)
    message = str(error.value).removeprefix(f"{saved} is damaged: ")
    assert message.startswith(told)
    assert message.endswith("; save the explanation again")
    assert "\n" not in message


def test_a_number_beyond_all_numbers_is_refused(saved):
    content = other_effect(json.loads(saved.read_text(encoding="utf-8")), mean=numbers(["?"] * 6))
    saved.write_text(json.dumps(content).replace('"?"', "1e400"), encoding="utf-8")
    with pytest.raises(BadFileError, match=r"effects\[0\]\.mean holds inf, which it cannot"):
        rhale.load(saved)


def test_names_in_messages_are_short_and_on_one_line(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["line\nbreak" + "x" * 10_000] = 1
    saved.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadFileError, match=r"'line\\nbreakx+… is unknown") as error:
        rhale.load(saved)
    assert len(str(error.value)) < len(str(saved)) + 150


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"rhale_format": 3, "notes": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(BadFileError, match=r"deep\.json is damaged: lists are nested too deep"):
        rhale.load(path)


def test_messages_are_checked_like_files(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    for message in (None, [], {}, {**content, "rhale_format": True}, without(content, "notes")):
        with pytest.raises(BadFileError, match="the answer"):
            restore_explanation(message, "the answer")
    assert restore_explanation(content, "the answer") == rhale.load(saved)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(BadFileError, match="is a folder or a device"):
        rhale.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadFileError, match="is a folder or a device"):
        rhale.load(tmp_path / "pipe.json")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices with names are those of POSIX")
def test_a_device_is_refused():
    with pytest.raises(BadFileError, match="is a folder or a device"):
        rhale.load("/dev/zero")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        rhale.load(tmp_path / "nowhere.json")


def test_a_missing_folder_leaves_nothing_behind(fx, tmp_path):
    with pytest.raises(FileNotFoundError):
        fx.save(tmp_path / "nowhere" / "effects.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["replace", "write_text"])
def test_a_failure_leaves_the_old_file_and_no_other(fx, saved, monkeypatch, error, step):
    before = saved.read_bytes()
    real = Path.write_text

    def fail(self, content, **options):
        if step == "write_text":  # half of it is on disk when the disk is full
            real(self, content[: len(content) // 2], **options)
        raise error

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(type(error)):
        fx.rebin(2).save(saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_numbers_that_json_cannot_hold_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.write_result_file(tmp_path / "effects.json", {"value": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_saved_file_has_the_permissions_of_any_new_file(saved):
    other = saved.with_name("other.txt")
    other.write_text("", encoding="utf-8")
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_a_file_of_format_2_is_read():
    """Local effects of x0² are 2 x0, those of x1 are 1."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_2.json")
    place = np.digitize(fx.sample_x[:, 0], [1, 2])
    expected = [2 * fx.sample_x[place == k, 0].mean() for k in range(3)]
    np.testing.assert_allclose(fx["x0"].mean, expected)
    np.testing.assert_allclose(fx["x1"].curve([0, 3], center="start"), [0, 3])
    assert (fx["x0"].kind, fx["x0"].missing) == ("number", None)


def test_a_file_of_format_3_is_read():
    """Secants of x0² over [0, 1], [1, 2] and [2, 4] are 1, 3 and 6; b is 2 above a."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_3.json")
    np.testing.assert_allclose(fx["x0"].mean, [1.0, 3.0, 6.0])
    np.testing.assert_allclose(np.diff(fx["c"].curve(["a", "b"])), 2.0)
    assert (fx["g"].missing.count, fx["g"].missing.rows) == (4, 20.0)


def test_a_file_of_format_4_is_read():
    """As before; x0 + g + 2 (c is b), and 7 for g without a value, where its mean is 1.55."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_4.json")
    np.testing.assert_allclose(fx["x0"].mean, [1.0, 3.0, 6.0])
    np.testing.assert_allclose(np.diff(fx["c"].curve(["a", "b"])), 2.0)
    np.testing.assert_allclose(fx["g"].missing.mean, 7.0 - 1.55)
    assert [(note.kind, note.text) for note in fx["x0"].notes] == [("gap", "a note with a kind")]
    np.testing.assert_array_equal(fx["x0"].sample.x, fx.sample_x[:, 0])
    np.testing.assert_allclose(fx["g"].sample.local_effects, np.ones(10))
    assert fx["g"].sample.x.mean() == pytest.approx(1.55)


def test_a_file_of_format_5_is_read():
    """Secants of x0² over [0, 1] and [1, 4.5] are 1 and 5.5; format 5 knew no staircases."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_5.json")
    np.testing.assert_allclose(fx["x0"].mean, [1.0, 5.5])
    assert fx["x0"].stairs is None
    assert fx["x0"].jumps == ()


def test_files_of_before_say_that_they_keep_no_partners():
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_6.json")
    assert fx.partner_matrix is None
    with pytest.raises(BadSettingError, match="before partners were kept; call explain again"):
        fx.partners(0, 0)


def test_a_file_of_format_6_is_read():
    """Jumps of 2 and -1, of 5, 8 and 3 of 16 rows: 2 - 3/16 above the first; no regions."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_6.json")
    np.testing.assert_allclose(fx["x0"].stairs.jumps, [2.0, -1.0])
    np.testing.assert_allclose(fx["x0"].curve([0, 2, 3.5], center="start"), [0.0, 2.0, 1.0])
    np.testing.assert_allclose(fx["x0"].curve(0.0), -(2 * 8 + 1 * 3) / 16)
    assert fx["x1"].labels == ("0", "1", "2")
    assert (fx["x0"].regions, fx["x1"].regions) == (None, None)


def test_a_file_of_format_7_is_read():
    """(1 + x1) x0 rises by 14 up to 7 where x1 is 1, and not at all where it is -1."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_7.json")
    curves = [region.effect.curve([0, 7], center="start") for region in fx["x0"].regions]
    np.testing.assert_allclose(curves, [[0, 0], [0, 14]], atol=1e-12)
    assert [region.count for region in fx["x0"].regions] == [8, 8]


def test_interactions_of_format_8_are_read():
    """x y + 3 x z over all combinations: products of deviations, and no other pair."""
    ix = rhale.load(Path(__file__).parents[1] / "samples" / "format_8_interactions.json")
    assert isinstance(ix, rhale.Interactions)
    x, y, z = (np.arange(n).std() for n in (6, 5, 3))
    np.testing.assert_allclose(ix["x", "y", "sum"].strength, x * y)
    np.testing.assert_allclose(ix["z", "x", "sum"].strength, 3 * x * z)
    assert ix["y", "z", "sum"].strength < 1e-12
    np.testing.assert_allclose(ix["x", "z", "sum"].surface(0, ["low", "high"]), [7.5, -7.5])
    np.testing.assert_allclose(ix["z", "x", "double"].surface("low", 5), -15.0)
    np.testing.assert_allclose(ix.importance[1, 0], 2.5 * y)
    assert [(n.kind, n.text) for n in ix["x", "y", "sum"].notes] == [("gap", "a note")]


@pytest.fixture
def ix():
    f = {"y": lambda rows: rows[:, 0] * rows[:, 1]}
    return make_interactions(f, TABLE, ["x0", "x1"], n_cells=3)


def test_a_file_says_what_it_holds(ix, fx, tmp_path):
    ix.save(tmp_path / "ix.json")
    fx.save(tmp_path / "fx.json")
    assert json.loads((tmp_path / "ix.json").read_text(encoding="utf-8"))["kind"] == "interactions"
    assert rhale.load(tmp_path / "ix.json") == ix
    assert rhale.load(tmp_path / "fx.json") == fx


def test_interactions_are_no_explanation(ix, tmp_path):
    ix.save(tmp_path / "ix.json")
    with pytest.raises(BadFileError, match="holds interactions, where an explanation belongs"):
        load_explanation(tmp_path / "ix.json")


@pytest.mark.parametrize("kind", ["pairs", "", None, 1, [], {}])
def test_a_kind_of_the_future_says_upgrade(saved, kind):
    content = json.loads(saved.read_text(encoding="utf-8"))
    with pytest.raises(BadFileError, match=r"a message holds .*; this version of rhale reads expl"):
        store.unpack_any({**content, "kind": kind}, "a message")
    assert store.unpack_any({**content, "kind": "explanation"}, "a message")[0] == "explanation"


def sampled(saved, place=0):
    content = json.loads(saved.read_text(encoding="utf-8"))
    return content, content["effects"][place]["sample"]


def test_what_effects_share_with_the_explanation_is_written_once(fx, saved):
    _, sample = sampled(saved)
    assert sample.keys() == {"record", "local_effects"}
    again = rhale.load(saved)["x0"].sample
    for column, expected in zip(again, fx["x0"].sample, strict=True):
        assert column.tobytes() == expected.tobytes()


def test_row_places_that_follow_from_cells_are_not_written(fx, saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert [e["row_places"] for e in content["effects"]] == 2 * [{"record": "cell_places"}]
    again = rhale.load(saved)
    for one, other in zip(again.values(), fx.values(), strict=True):
        assert one.row_places.x.tobytes() == other.row_places.x.tobytes()
        assert one.row_places.weight.tobytes() == other.row_places.weight.tobytes()


def test_row_places_of_their_own_are_written_whole(fx, tmp_path):
    places = fx["x0"].row_places
    other = replace(fx["x0"], row_places=places._replace(x=places.x[::-1].copy()))
    for changed in (replace(fx, effects=(other, fx["x1"])), replace(fx, cells={})):
        changed.save(tmp_path / "own.json")
        assert rhale.load(tmp_path / "own.json") == changed


def first_cells(content, **arrays):
    name, cells = content["cells"]["mapping"][0]
    for field, number in arrays.items():
        cells[field]["array"] = [number] * len(cells[field]["array"])
    return name


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"weight": 0.0}, "cells of 'x0' give row places: none"),
        ({"weight": 5e-324}, "cells of 'x0' give row places: x holds -inf"),
    ],
)
def test_cells_that_tell_no_row_places_are_refused(saved, arrays, told):
    content = json.loads(saved.read_text(encoding="utf-8"))
    first_cells(content, **arrays)
    with pytest.raises(BadFileError, match=told):
        restore_explanation(content, "a message")


def test_row_places_of_cells_that_are_not_there_are_refused(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    del content["cells"]["mapping"][0]
    with pytest.raises(BadFileError, match="row places of 'x0' follow from cells that are not"):
        restore_explanation(content, "a message")


@pytest.mark.parametrize("number", [9, 10])
def test_files_with_row_places_and_without_them_are_read(number):
    """2 x0 + x1 and -x0, at the eight rows x0 = 0, ..., 7."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / f"format_{number}.json")
    np.testing.assert_allclose([e.mean for e in fx.values()], [[2, 2], [-1, -1]])
    for effect in fx.values():
        assert effect.row_places.x.tolist() == list(range(8))
        assert effect.row_places.weight.tolist() == 8 * [0.125]
        assert sorted(effect.sample.x.tolist()) == list(range(8))


def test_a_file_of_format_11_is_read():
    """2 x0 + h(k) z, where z is -1 or 1 in half of 48 rows, and h is 0, 1 and 3 for a, b and c."""
    fx = rhale.load(Path(__file__).parents[1] / "samples" / "format_11.json")
    assert fx["x0"].mean.tolist() == [2.0, 2.0]
    spread = fx["k"].spread(["a", "b", "c"], center="start")
    np.testing.assert_allclose(spread, np.array([0.0, 1.0, 3.0]) * np.sqrt(48 / 47))
    assert not fx["k"].has_order
    assert fx["x0"].row_spread.crossings is None


def test_every_past_format_has_a_file_that_is_read():
    files = sorted((Path(__file__).parents[1] / "samples").glob("format_*.json"))
    formats = {json.loads(file.read_text(encoding="utf-8"))["rhale_format"] for file in files}
    assert formats == set(range(1, store.FORMAT))
    for file in files:
        result = rhale.load(file)
        assert restore_result(store.parsed(json.dumps(pack_any(result))), "it") == result


@pytest.mark.parametrize("change", [{"x": -TABLE[:, 0]}, {"weight": np.full(50, 2.0)}])
def test_a_sample_of_its_own_is_written_whole(fx, tmp_path, change):
    other = replace(fx["x0"], sample=fx["x0"].sample._replace(**change))
    replace(fx, effects=(other, fx["x1"])).save(tmp_path / "own.json")
    assert sampled(tmp_path / "own.json")[1].keys() == {"record", "x", "local_effects", "weight"}
    assert rhale.load(tmp_path / "own.json")["x0"] == other


def test_rows_without_a_value_are_no_part_of_the_sample(tmp_path):
    gaps = np.where(np.arange(50)[:, None] % [5, 7] == 0, np.nan, TABLE)
    fx = rhale.explain(lambda rows: np.nan_to_num(rows[:, 0]), gaps, bins=3)
    fx.save(tmp_path / "gaps.json")
    assert "x" not in sampled(tmp_path / "gaps.json")[1]
    assert rhale.load(tmp_path / "gaps.json") == fx


def test_local_effects_of_other_rows_than_the_sampled_are_refused(saved):
    content, sample = sampled(saved)
    sample["local_effects"] = {"array": [1.0] * 49, "type": "float64", "shape": [49]}
    with pytest.raises(BadFileError, match="sample of 'x0' has 49 local effects for 50 places"):
        restore_explanation(content, "a message")


def test_values_that_no_axis_holds_are_refused(saved):
    content, _ = sampled(saved)
    content["sample_x"]["array"][2] = 1e305
    with pytest.raises(BadFileError, match=r"sample of 'x1' has a value 1e\+305|sample of 'x0'"):
        restore_explanation(content, "a message")


def test_steps_of_levels_are_found_from_the_sampled_levels(tmp_path):
    """Rows of the first and last level have one step, the others two; some have no level."""
    level = np.append(np.arange(49.0) % 3, np.nan)[:, None]
    fx = rhale.explain(lambda rows: np.nan_to_num(rows[:, 0]), level, categorical=["x0"])
    assert np.unique(fx["x0"].sample.x).tolist() == [0.5, 1.5]
    fx.save(tmp_path / "levels.json")
    assert sampled(tmp_path / "levels.json")[1].keys() == {"record", "local_effects"}
    again = rhale.load(tmp_path / "levels.json")["x0"]
    for column, expected in zip(again.sample, fx["x0"].sample, strict=True):
        assert column.tobytes() == expected.tobytes()


def test_notes_come_back_with_their_kinds(fx, tmp_path):
    noted = replace(fx["x0"], local_notes=(Note("gap", "no rows"), "a text"))
    replace(fx, effects=(noted, fx["x1"]), notes=("whole",)).save(tmp_path / "noted.json")
    again = rhale.load(tmp_path / "noted.json")
    assert [(note.kind, note.text) for note in again["x0"].local_notes] == [
        ("gap", "no rows"),
        ("", "a text"),
    ]
    assert [(note.kind, note.text) for note in again.notes] == [("", "whole")]


def test_a_note_among_other_values_is_its_text(fx, tmp_path):
    replace(fx, provenance={"how": Note("gap", "no rows")}).save(tmp_path / "told.json")
    assert rhale.load(tmp_path / "told.json").provenance == {"how": "no rows"}


@pytest.mark.parametrize("note", [["gap"], ["gap", 1], ["gap", "a", "b"], 7, {}])
def test_a_note_that_is_no_kind_and_text_is_refused(saved, note):
    content, _ = sampled(saved)
    content["effects"][0]["local_notes"] = [note]
    with pytest.raises(BadFileError, match=r"effects\[0\].local_notes\[0\]"):
        restore_explanation(content, "a message")


MISSING = Missing(3, 0.25, -1.5, 0.5, 9.0)
UNKNOWN = Missing(1, 1.0, float("nan"), float("nan"), 0.0)


@pytest.fixture
def mixed(fx, make_levels):
    """An explanation of all kinds of effects, as far as the file is concerned."""
    labels = ('"quoted"', "<b>", "\U0001f995", "عربي", "a\nb", "\ud800", "x" * 1000)
    others = {"pooled": ("c", "d"), "missing": MISSING, "name": "words"}
    numbers = {"edges": [1.0, 2.0, 5.0], "bin_notes": ("a note",), "name": "numbers"}
    effects = (
        replace(fx["x0"], kind="date", missing=UNKNOWN),
        make_levels((*labels, "other (2 levels)  "), 1.0, noise=0.5, **others),
        make_levels(("1", "2", "5"), 2.0, **numbers),
        make_levels(("only",), (), name="one"),
    )
    provenance = {"order": ("a", "b"), "kinds": {"x0": "date"}, "list": [1, (2.5, None)]}
    return of_effects(fx, effects, {**provenance, "limit": float("-inf")})


@pytest.fixture
def profiles(fx):
    """An explanation of all kinds of profiles, likewise."""
    pdp = rhale.explain(lambda rows: rows[:, 0], TABLE, method="ice")["x0"]
    labels = tuple(map(str, range(pdp.grid.size)))
    effects = (
        replace(pdp, kind="duration", missing=MISSING),
        replace(pdp, name="x1", levels=labels),
        replace(pdp, name="x2", method="mplot", curves=np.empty((0, 0)), curve_x=np.empty(0)),
    )
    return of_effects(fx, effects, fx.provenance)


def of_effects(fx, effects, provenance):
    names, sample = tuple(e.name for e in effects), np.zeros((len(fx.sample_x), len(effects)))
    changes = {"features": names, "effects": effects, "sample_x": sample, "cells": {}}
    changes |= {"partner_matrix": None}
    return replace(fx, provenance=provenance, **changes)


@pytest.mark.parametrize("kinds", ["mixed", "profiles"])
def test_every_kind_of_result_comes_back_with_its_types(kinds, request, tmp_path):
    saved = request.getfixturevalue(kinds)
    saved.save(tmp_path / "mixed.json")
    again = rhale.load(tmp_path / "mixed.json")
    assert again == saved
    for found, expected in zip(again.values(), saved.values(), strict=True):
        assert type(found) is type(expected)
        assert type(found.missing) is type(expected.missing)
        for field in fields(expected):
            assert type(getattr(found, field.name)) is type(getattr(expected, field.name))
    assert again.provenance == saved.provenance


def test_what_comes_back_can_be_used(mixed, tmp_path):
    mixed.save(tmp_path / "mixed.json")
    levels = rhale.load(tmp_path / "mixed.json").effects[1]
    np.testing.assert_array_equal(levels.curve(), mixed.effects[1].curve())
    assert levels.curve("c") == levels.curve("other (2 levels)  ")
    assert np.isnan(rhale.load(tmp_path / "mixed.json").effects[0].missing.standard_error)


def test_steps_of_the_higher_levels_alone_are_read_over(mixed, tmp_path):
    """Files of format 12 and before may hold them as `down`; nothing uses them any more."""
    mixed.save(tmp_path / "mixed.json")
    content = json.loads((tmp_path / "mixed.json").read_text(encoding="utf-8"))
    content["effects"][1]["down"] = content["effects"][1]["mean"]
    (tmp_path / "mixed.json").write_text(json.dumps(content), encoding="utf-8")
    assert rhale.load(tmp_path / "mixed.json") == mixed
