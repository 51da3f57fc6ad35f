import struct

import numpy as np
import pytest

from rhale.models.files.nesting import DEEPEST
from rhale.models.files.ubjson import read_json, read_ubj


def size(n):
    return b"L" + struct.pack(">q", n)


def name(text):
    return size(len(text)) + text


def test_values_of_every_kind_are_read():
    content = (
        b"{" + name(b"text") + b"S" + name("ä".encode()) + name(b"none") + b"Z"
        + name(b"yes") + b"T" + name(b"no") + b"F" + name(b"small") + b"i\xff"
        + name(b"long") + b"l\x00\x00\x01\x00" + name(b"half") + b"d" + struct.pack(">f", 0.5)
        + name(b"list") + b"[#" + size(2) + b"U\x01U\x02" + name(b"open") + b"[U\x03]"
        + name(b"inner") + b"{}" + b"}"
    )  # fmt: skip
    assert read_ubj(content) == {
        "text": "ä", "none": None, "yes": True, "no": False, "small": -1, "long": 256, "half": 0.5,
        "list": [1, 2], "open": [3], "inner": {},
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_lists_of_numbers_become_arrays(kind):
    letter = {"i1": b"i", "u1": b"U", "i2": b"I", "i4": b"l", "i8": b"L", "f4": b"d", "f8": b"D"}
    values = np.arange(5).astype(kind)
    content = b"[$" + letter[kind] + b"#" + size(5) + values.astype(f">{kind}").tobytes()
    found = read_ubj(content)
    np.testing.assert_array_equal(found, values)
    assert found.dtype == np.dtype(f">{kind}")
    assert read_ubj(b"[$" + letter[kind] + b"#" + size(0)).size == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cut off"),
        (b"S" + size(2) + b"a", "cut off"),
        (b"S" + size(-1), "cut off"),
        (b"S" + size(2**62), "cut off"),
        (b"[$d#" + size(2**62), "cut off"),
        (b"[$d#" + size(-4), "cut off"),
        (b"[#" + size(2**40) + b"Z", "cut off"),
        (b"[#" + size(-1), "cut off"),
        (b"[$x#" + size(1) + b"a", "unknown kind"),
        (b"H", "unknown kind"),
        (b"[$dL", "damaged at byte 3"),
        (b"{U\x01a", "damaged at byte 1"),
        (b"{" + name(b"a") + b"Z" + name(b"a") + b"Z}", "'a' twice"),
        (b"ZZ", "behind its end"),
        (b"[" * (DEEPEST + 2), "nested more than 100 deep"),
        (b"[" * 1_000_000, "nested more than 100 deep"),
        (b"S" + size(1) + b"\xff", "utf-8"),
    ],
)
def test_what_is_damaged_is_refused_before_anything_is_made_of_it(content, reason):
    with pytest.raises(ValueError, match=reason):
        read_ubj(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a": 1, "a": 2}', "twice"),
        (b' {"a": 1}', "begin"),
        ('{"a": 1}'.encode("utf-16-le"), "."),
        (b"[" * 200_000, "nested"),
        (b'{"a": ' + b"1" * 5000 + b"}", "digits"),
        (b'{"a": ', "."),
        (b"", "begin"),
    ],
)
def test_json_that_xgboost_would_read_otherwise_is_refused(content, reason):
    with pytest.raises(ValueError, match=reason):
        read_json(content)


def test_text_and_binary_files_of_xgboost_hold_the_same():
    xgboost = pytest.importorskip("xgboost")
    rows = np.random.default_rng(0).normal(size=(50, 3))
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(rows, rows[:, 0]), 2)
    by_text = read_json(bytes(booster.save_raw("json")))
    by_bytes = read_ubj(bytes(booster.save_raw("ubj")))
    one, other = (m["learner"]["gradient_booster"]["model"]["trees"] for m in (by_text, by_bytes))
    for left, right in zip(one, other, strict=True):
        assert left.keys() == right.keys()
        np.testing.assert_array_equal(left["left_children"], right["left_children"])
        np.testing.assert_allclose(left["split_conditions"], right["split_conditions"])
