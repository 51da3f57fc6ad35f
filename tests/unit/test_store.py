import json
import os
import stat
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import rhale
from rhale import store
from rhale.effect import Missing
from rhale.errors import BadFileError

TABLE = np.random.default_rng(0).normal(size=(50, 2))


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
    assert content["rhale_format"] == 3
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
    "array",
    [
        np.array([1.5, np.nan, -0.0, np.inf, -np.inf, 5e-324, 1 / 3]),
        np.array([[1, 2], [3, 4]], dtype=np.int64),
        np.array([True, False]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.empty((0, 3)),
        np.array(7.25),
    ],
)
def test_arrays_come_back_bit_by_bit(array):
    again = store.restored(json.loads(json.dumps(store.plain(array), allow_nan=False)))
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes() or np.isnan(array).any()
    np.testing.assert_array_equal(again, array)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(array))


def test_plain_values_and_mappings_come_back():
    value = {"a": [1, 2.5, None, True, "ü"], "b": {"c": {}}, "array": "a word"}
    assert store.restored(json.loads(json.dumps(store.plain(value)))) == value
    assert store.plain(np.float64(0.1)) == 0.1
    assert type(store.plain(np.int64(3))) is int


@pytest.mark.parametrize(
    "content", [b"", b"{", b"not json", b"\xff\xfe\x00", b'{"rhale_format": 1']
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


@pytest.mark.parametrize("version", [4, 99])
def test_a_format_of_the_future_says_upgrade(saved, version):
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, "rhale_format": version}), encoding="utf-8")
    with pytest.raises(BadFileError, match=f"format {version}.*upgrade"):
        rhale.load(saved)


def test_a_file_of_format_1_is_read_and_its_empty_bin_interpolated():
    """Means .85 and 6.45 of [0, 1] and [2, 4] are read at 0.5 and 2.5; std at the middles."""
    effect = rhale.load(Path(__file__).parent / "samples" / "format_1.json")["x0"]
    assert effect.count.tolist() == [4, 0, 4]
    np.testing.assert_allclose(effect.mean, [0.85, 3.65, 6.45])
    np.testing.assert_allclose(effect.std[1], 0.6 * effect.std[0] + 0.4 * effect.std[2])
    np.testing.assert_allclose(effect.curve([0, 1, 2, 4], center="start"), [0, 0.85, 4.5, 17.4])
    assert np.all(np.isfinite(effect.ci([0.5, 1.5, 3])))


@pytest.mark.parametrize("version", [0, "1.5"])
def test_an_unknown_format_is_refused(saved, version):
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, "rhale_format": version}), encoding="utf-8")
    with pytest.raises(BadFileError, match=f"format {version}.*reads formats 1 to 3"):
        rhale.load(saved)


def without(content, name):
    return {k: v for k, v in content.items() if k != name}


def other_effect(content, **changes):
    first, *rest = content["effects"]
    return {**content, "effects": [{**first, **changes}, *rest]}


DAMAGE = {
    "no features": lambda c: without(c, "features"),
    "no effects": lambda c: without(c, "effects"),
    "no predictions": lambda c: without(c, "predictions"),
    "an unknown field": lambda c: {**c, "surprise": 1},
    "an unknown record": lambda c: other_effect(c, record="mystery"),
    "a number missing": lambda c: other_effect(
        c, edges={"array": [0.0], "type": "float64", "shape": [7]}
    ),
    "an unknown type": lambda c: other_effect(
        c, edges={"array": [0.0], "type": "quaternion", "shape": [1]}
    ),
    "a word for a number": lambda c: other_effect(
        c, mean={"array": ["much"], "type": "float64", "shape": [1]}
    ),
    "a field missing": lambda c: {**c, "effects": [without(e, "mean") for e in c["effects"]]},
    "effects that are no list": lambda c: {**c, "effects": 3},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_content_is_refused_by_the_name_of_the_file(saved, damage):
    content = DAMAGE[damage](json.loads(saved.read_text(encoding="utf-8")))
    saved.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadFileError, match=r"effects\.json"):
        rhale.load(saved)


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
        store.write(tmp_path / "effects.json", {"value": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_saved_file_has_the_permissions_of_any_new_file(saved):
    other = saved.with_name("other.txt")
    other.write_text("", encoding="utf-8")
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_a_file_of_format_2_is_read():
    """Local effects of x0² are 2 x0, those of x1 are 1."""
    fx = rhale.load(Path(__file__).parent / "samples" / "format_2.json")
    place = np.digitize(fx.sample_x[:, 0], [1, 2])
    expected = [2 * fx.sample_x[place == k, 0].mean() for k in range(3)]
    np.testing.assert_allclose(fx["x0"].mean, expected)
    np.testing.assert_allclose(fx["x1"].curve([0, 3], center="start"), [0, 3])
    assert (fx["x0"].kind, fx["x0"].missing) == ("number", None)


MISSING = Missing(3, 0.25, -1.5, 0.5, 9.0)
UNKNOWN = Missing(1, 1.0, float("nan"), float("nan"), 0.0)


@pytest.fixture
def mixed(fx, make_levels):
    """An explanation of all kinds of results, as far as the file is concerned."""
    labels = ('"quoted"', "<b>", "\U0001f995", "عربي", "a\nb", "\ud800", "x" * 1000)
    levels = make_levels(labels, 1.0, noise=0.5, pooled=("c", "d"), missing=MISSING)
    numbers = make_levels(("1", "2", "5"), 2.0, edges=[1.0, 2.0, 5.0], bin_notes=("a note",))
    pdp = rhale.explain(lambda rows: rows[:, 0], TABLE, method="ice")["x0"]
    effects = (
        replace(fx["x0"], kind="date", missing=UNKNOWN),
        levels,
        numbers,
        make_levels(("only",), ()),
        replace(pdp, kind="duration", missing=MISSING),
        replace(pdp, levels=tuple("abcdefghij"[: pdp.grid.size])),
    )
    provenance = {"order": ("a", "b"), "kinds": {"x0": "date"}, "list": [1, (2.5, None)]}
    provenance["limit"] = float("-inf")
    return replace(fx, effects=effects, provenance=provenance)


def test_every_kind_of_result_comes_back_with_its_types(mixed, tmp_path):
    mixed.save(tmp_path / "mixed.json")
    again = rhale.load(tmp_path / "mixed.json")
    assert again == mixed
    for found, expected in zip(again, mixed, strict=True):
        assert type(found) is type(expected)
        assert type(found.missing) is type(expected.missing)
        for field in fields(expected):
            assert type(getattr(found, field.name)) is type(getattr(expected, field.name))
    assert again.provenance["list"] == [1, (2.5, None)]


def test_what_comes_back_can_be_used(mixed, tmp_path):
    mixed.save(tmp_path / "mixed.json")
    levels = rhale.load(tmp_path / "mixed.json").effects[1]
    np.testing.assert_array_equal(levels.curve(), mixed.effects[1].curve())
    assert np.isnan(rhale.load(tmp_path / "mixed.json").effects[0].missing.standard_error)
