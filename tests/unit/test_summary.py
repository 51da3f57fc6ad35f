from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale import summary
from rhale.errors import MissingExtraError

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3))


def weak_strong(rows):
    return 0.1 * rows[:, 0] + 5.0 * rows[:, 2]


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(weak_strong, TABLE)


def lines_of(fx):
    return str(fx).splitlines()


def test_the_text_ranks_the_largest_effect_first(fx):
    title, header, *rows = lines_of(fx)
    assert title == "rhale of a function, 200 rows"
    assert header.split() == [
        "feature",
        "effect",
        "±",
        "error",
        "typical",
        "spread",
        "bins",
        "notes",
    ]
    assert [row.split()[0] for row in rows[:3]] == ["x2", "x0", "x1"]


def test_the_numbers_in_the_text_are_those_of_the_effects(fx):
    row = lines_of(fx)[2].split()
    assert row[1] == f"{fx['x2'].importance:.4g}"
    assert row[3] == f"{fx['x2'].importance_error:.2g}"
    assert row[5] == str(fx["x2"].mean.size)


def test_columns_are_aligned(fx):
    header, *rows = lines_of(fx)[1:5]
    end = header.index("spread") + len("spread")
    assert all(row[end - 1] != " " and row[end] == " " for row in rows)


def test_no_line_ends_in_blanks(fx):
    assert all(line == line.rstrip() for line in lines_of(fx))


def test_notes_are_numbered_once_each():
    effects = [
        replace(rhale.effect([0.0, 1.0], [size, size], name=name), local_notes=notes)
        for name, size, notes in [
            ("a", 1.0, ("shared",)),
            ("b", 3.0, ("own", "shared")),
            ("c", 2.0, ()),
        ]
    ]
    text = summary.as_text(effects, {"method": "rhale", "rows": 2}, ("about the whole",))
    title, _, first, second, third, *footer = text.splitlines()
    assert title == "rhale of a model, 2 rows"
    assert first.startswith("b ")
    assert first.endswith("1, 2")
    assert second.startswith("c ")
    assert third.endswith(" 2")
    assert footer == ["1  own", "2  shared", "about the whole"]


def test_fewer_rows_than_the_table_has_are_told():
    fx = rhale.explain(weak_strong, np.tile(TABLE, (10, 1)), n_rows=1000)
    assert lines_of(fx)[0] == "rhale of a function, 1,000 of 2,000 rows"


def test_several_outputs_have_a_column():
    fx = rhale.explain(lambda rows: rows[:, :2], TABLE, features=[0, 1])
    header, *rows = lines_of(fx)[1:6]
    assert header.split()[:2] == ["feature", "output"]
    assert sorted(tuple(row.split()[:2]) for row in rows[:4]) == [
        ("x0", "y0"),
        ("x0", "y1"),
        ("x1", "y0"),
        ("x1", "y1"),
    ]


def test_profiles_have_points():
    assert "points" in lines_of(rhale.explain(weak_strong, TABLE, method="pdp"))[1]


def test_effects_that_cannot_be_measured_come_last():
    table = TABLE.copy()
    table[:, 0] = 7.0
    _, _, *rows = lines_of(rhale.explain(weak_strong, table))
    assert rows[0].startswith("x2")
    assert any("constant: always 7" in row for row in rows)


def test_long_names_are_cut_and_names_stay_on_one_line():
    pd = pytest.importorskip("pandas")
    names = ["a" * 50, "two\nlines", "  "]
    frame = pd.DataFrame(TABLE, columns=names)
    text = str(rhale.explain(lambda rows: rows.to_numpy()[:, 0], frame))
    assert "a" * 31 + "…" in text
    assert "a" * 32 not in text
    assert "two lines" in text


def test_shorten_cuts_at_the_longest():
    assert summary.shorten("abcde", 5) == "abcde"
    assert summary.shorten("abcdef", 5) == "abcd…"
    assert summary.shorten("a \n b") == "a b"
    assert summary.shorten("  ") == "  "


def test_aligned_pads_the_first_left_and_numbers_right():
    rows = [["name", "n", "notes"], ["a", "10", ""], ["long name", "5", "1"]]
    assert summary.aligned(rows, n_left=1) == [
        "name        n  notes",
        "a          10",
        "long name   5  1",
    ]


def test_bin_rows_are_tidy():
    effect = rhale.effect([0.0, 0.5, 1.0, 2.0], [1.0, 1.0, 3.0, 3.0], bins=rhale.Edges([0, 1, 2]))
    rows = summary.bin_rows([effect, replace(effect, name="z")])
    assert rows["feature"] == ["x", "x", "z", "z"]
    assert rows["bin"] == [0, 1, 0, 1]
    assert rows["left"] == [0.0, 1.0, 0.0, 1.0]
    assert rows["right"] == [1.0, 2.0, 1.0, 2.0]
    assert rows["count"] == [2, 2, 2, 2]
    assert rows["mean"] == [1.0, 3.0, 1.0, 3.0]
    np.testing.assert_allclose(rows["curve_right"][:1], rows["curve_left"][1:2])
    np.testing.assert_allclose(np.subtract(rows["curve_right"], rows["curve_left"]), rows["mean"])
    assert len({len(v) for v in rows.values()}) == 1


def test_effect_rows_have_one_row_per_effect(fx):
    rows = summary.effect_rows(fx.ranked())
    assert rows["feature"] == ["x2", "x0", "x1"]
    assert rows["importance"] == [e.importance for e in fx.ranked()]
    assert rows["bins"] == [e.mean.size for e in fx.ranked()]
    assert rows["low"] == [TABLE[:, c].min() for c in (2, 0, 1)]
    assert rows["high"] == [TABLE[:, c].max() for c in (2, 0, 1)]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_kind_asked_for(backend):
    pytest.importorskip(backend)
    frame = summary.as_frame({"a": [1, 2], "b": ["x", "ü"]}, backend)
    assert type(frame).__module__.partition(".")[0] == backend
    assert frame.shape == (2, 2)


def test_without_any_library_for_frames_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(summary, "find_spec", lambda name: None)  # noqa: ARG005
    for backend in (None, "numpy", "polars"):
        with pytest.raises(MissingExtraError, match="pip install"):
            summary.as_frame({"a": [1]}, backend)


def test_the_first_library_that_is_there_is_used(monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr(summary, "find_spec", lambda name: name == "polars" or None)
    frame = summary.as_frame({"a": [1]}, "numpy")
    assert type(frame).__module__.startswith("polars")


def test_bins_are_described_for_people(fx):
    assert summary.describe(rhale.Fixed(3)) == "Fixed(n_bins=3, closed='left')"
    assert summary.describe({"a": 5}) == "{'a': 5}"
    assert summary.describe(fx) == "another explanation"
