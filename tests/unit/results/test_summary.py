from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pytest

import rhale
from rhale.errors import MissingExtraError
from rhale.results import summary
from rhale.results.effect import Missing

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


MISSING = Missing(5, 0.2, -1.5, 0.5, 25.0)
X = np.linspace(0.0, 10.0, 41)


@pytest.fixture
def every_kind(make_levels):
    number = rhale.effect(X, np.ones(41), bins=2, name="number")
    return [
        replace(number, missing=MISSING),
        replace(number, name="date", kind="date"),
        replace(number, name="duration", kind="duration"),
        make_levels(("1", "2", "5"), [2.0, 6.0], edges=[1.0, 2.0, 5.0], name="steps"),
        make_levels(("b", "a"), 3.0, rows=[10, 30], name="categories", missing=MISSING),
        make_levels(("only",), (), name="one"),
    ]


def rows_of(effects, name):
    rows = summary.bin_rows(effects)
    mine = [i for i, feature in enumerate(rows["feature"]) if feature == name]
    return {column: [values[i] for i in mine] for column, values in rows.items()}


def test_from_and_to_say_in_words_what_left_and_right_say_in_numbers(every_kind):
    found = {e.name: rows_of(every_kind, e.name) for e in every_kind}
    assert (found["number"]["from"][:2], found["number"]["to"][:2]) == (["0", "5"], ["5", "10"])
    assert found["date"]["to"] == ["1970-01-06", "1970-01-11"]
    assert found["duration"]["right"] == [5.0, 10.0]
    assert (found["steps"]["from"], found["steps"]["to"]) == (["1", "2"], ["2", "5"])
    assert (found["steps"]["left"], found["steps"]["right"]) == ([1.0, 2.0], [2.0, 5.0])
    assert found["categories"]["from"] == ["b", "missing"]


def test_dates_within_a_day_are_written_with_their_time():
    effect = rhale.effect(X / 80, np.ones(41), bins=1)
    assert summary.bin_rows([replace(effect, kind="date")])["to"] == ["1970-01-01T03:00:00"]


def test_steps_are_per_unit_and_end_on_the_curve(every_kind):
    rows = rows_of(every_kind, "steps")
    assert rows["mean"] == [2.0, 2.0]
    assert rows["count"] == [20, 20]
    np.testing.assert_allclose(np.subtract(rows["curve_right"], rows["curve_left"]), [2.0, 6.0])
    rows = rows_of(every_kind, "categories")
    np.testing.assert_allclose(rows["curve_left"][0], -0.75 * 3.0)  # three quarters are at a


def test_missing_values_have_a_row_after_the_bins(every_kind):
    """A fifth of the weight is missing: a quarter of the weight that is there."""
    rows = rows_of(every_kind, "categories")
    assert (rows["bin"], rows["to"]) == ([0, 1], ["a", "missing"])
    assert np.isnan([rows[name][1] for name in ("left", "right", "slope")]).all()
    assert rows["count"][1] == 5
    assert rows["weight"][1] == pytest.approx(10.0)
    assert (rows["mean"][1], rows["std"][1], rows["standard_error"][1]) == (-1.5, 0.5, 0.1)
    assert rows["curve_left"][1] == rows["curve_right"][1] == -1.5


def test_a_feature_of_one_level_keeps_a_row(every_kind):
    rows = rows_of(every_kind, "one")
    assert (rows["from"], rows["to"], rows["count"]) == (["only"], ["only"], [10])
    assert np.isnan(rows["mean"][0])
    assert rows["curve_left"] == [0.0]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("rows", [summary.bin_rows, summary.effect_rows])
def test_all_kinds_of_features_fit_in_one_frame(every_kind, backend, rows):
    pytest.importorskip(backend)
    frame = nw.from_native(summary.as_frame(rows(every_kind), backend))
    words = {"feature", "output", "from", "to", "kind", "notes"}
    for name, dtype in frame.schema.items():
        assert dtype == nw.String if name in words else dtype.is_numeric(), name


def test_effect_rows_tell_kind_levels_and_missing(every_kind):
    rows = summary.effect_rows(every_kind)
    assert rows["kind"] == ["number", "date", "duration", "steps", "categories", "categories"]
    assert rows["bins"] == [2, 2, 2, 3, 2, 1]
    assert rows["from"] == ["0", "1970-01-01", "0", "1", "b", "only"]
    assert rows["high"] == [10.0, 10.0, 10.0, 5.0, 1.0, 0.0]
    np.testing.assert_array_equal(rows["missing_share"], [0.2, *[np.nan] * 3, 0.2, np.nan])
    np.testing.assert_array_equal(rows["missing_mean"], [-1.5, *[np.nan] * 3, -1.5, np.nan])


def profile(**fields):
    found = rhale.explain(weak_strong, TABLE, method="pdp", bins=3)["x2"]
    return replace(found, **fields)


def test_points_of_a_profile_say_where_they_are():
    plain = profile(missing=MISSING)
    labels = tuple(f"level {i}" for i in range(plain.grid.size))
    rows = summary.bin_rows([plain, replace(plain, missing=None, levels=labels)])
    n_points = plain.grid.size
    assert rows["at"][n_points:] == ["missing", *labels]
    assert [float(text) for text in rows["at"][:n_points]] == pytest.approx(plain.grid.tolist())
    assert rows["mean"][n_points] == -1.5
    np.testing.assert_allclose(rows["curve"][n_points], -1.5 - plain.share @ plain.mean)
    found = summary.effect_rows([replace(plain, levels=labels), replace(plain, kind="date")])
    assert found["kind"] == ["categories", "date"]


def test_the_text_shows_kinds_levels_and_missing_values(every_kind):
    text = summary.as_text(every_kind, {}, ()).splitlines()
    assert text[1].split()[:2] == ["feature", "kind"]
    assert "bins/levels  if missing (share)" in text[1]
    line = next(line for line in text if line.startswith("categories"))
    assert line.split()[-4:] == ["2", "-1.5", "(20", "%)"]


def test_columns_are_aligned_with_wide_letters_and_accents(make_levels):
    names = ["plain", "日本語", "\U0001f995 dino", "cafe\u0301", "\u202eevil\x1b[31m", "\ud800"]
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    effects = [make_levels(("a", "b"), 1.0, name=name) for name in [*names, family]]
    lines = summary.as_text(effects, {}, ()).splitlines()[2:]
    assert len({summary.text_width(line) for line in lines}) == 1
    assert len({summary.text_width(line.partition("categories")[0]) for line in lines}) == 1
    assert not any(sign in "".join(lines) for sign in "\u202e\x1b\ud800")
    assert summary.text_width(family) == 2


def test_a_cut_name_is_no_wider_than_the_longest():
    assert summary.shorten("日" * 40, 10) == "日" * 4 + "…"
    assert summary.shorten("e\u0301" * 12, 12) == "e\u0301" * 12


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_halves_of_signs_do_not_keep_a_result_from_becoming_a_table(backend):
    """Columns of objects can hold them, text in tables cannot."""
    frame = summary.as_frame({"level": ["\ud800x", "面积"], "mean": [1.0, 2.0]}, backend)
    assert list(
        map(str, frame["level"].to_pylist() if backend == "pyarrow" else frame["level"])
    ) == [
        r"\ud800x",
        "面积",
    ]
