from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np
import pytest
from tests.unit.conftest import MISSING, X
from tests.unit.effects.with_regions import make_regional

import rhale
from rhale.effects import listing
from rhale.errors import BadSettingError, MissingExtraError
from rhale.output import frame as frames
from rhale.output.columns import Column, tabulate
from rhale.output.frame import as_frame
from rhale.output.labels import Captions
from rhale.output.text import Note

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3))


def weak_strong(rows):
    return 0.1 * rows[:, 0] + 5.0 * rows[:, 2]


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(weak_strong, TABLE)


def test_bin_rows_are_tidy():
    effect = rhale.effect([0.0, 0.5, 1.0, 2.0], [1.0, 1.0, 3.0, 3.0], bins=rhale.Edges([0, 1, 2]))
    rows = listing.bin_rows([effect, replace(effect, name="z")])
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
    rows = listing.tabulate_effects(fx.ranked())
    assert rows["feature"] == ["x2", "x0", "x1"]
    assert rows["importance"] == [e.importance for e in fx.ranked()]
    assert rows["bins"] == [e.mean.size for e in fx.ranked()]
    assert rows["low"] == [TABLE[:, c].min() for c in (2, 0, 1)]
    assert rows["high"] == [TABLE[:, c].max() for c in (2, 0, 1)]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_kind_asked_for(backend):
    pytest.importorskip(backend)
    frame = as_frame({"a": [1, 2], "b": ["x", "ü"]}, backend)
    assert type(frame).__module__.partition(".")[0] == backend
    assert frame.shape == (2, 2)


def test_without_any_library_for_frames_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)  # noqa: ARG005
    for backend, usual in ((None, None), (None, "numpy"), ("polars", None), (None, "polars")):
        with pytest.raises(MissingExtraError, match="pip install"):
            as_frame({"a": [1]}, backend, usual)


@pytest.mark.parametrize("backend", ["zz", "numpy", 3])
def test_a_kind_of_frame_that_is_not_known_is_refused(backend):
    with pytest.raises(BadSettingError, match="is not known; use one of pandas, polars, pyarrow"):
        as_frame({"a": [1]}, backend, "pandas")


def test_the_usual_kind_is_that_of_the_table():
    pytest.importorskip("polars")
    assert type(as_frame({"a": [1]}, None, "polars")).__module__.startswith("polars")


def test_the_first_library_that_is_there_is_used(monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr(frames, "find_spec", lambda name: name == "polars" or None)
    frame = as_frame({"a": [1]}, None, "numpy")
    assert type(frame).__module__.startswith("polars")


def rows_of(effects, name):
    rows = listing.bin_rows(effects)
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
    assert listing.bin_rows([replace(effect, kind="date")])["to"] == ["1970-01-01T03:00:00"]


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
@pytest.mark.parametrize("rows", [listing.bin_rows, listing.tabulate_effects])
def test_all_kinds_of_features_fit_in_one_frame(every_kind, backend, rows):
    pytest.importorskip(backend)
    frame = nw.from_native(as_frame(rows(every_kind), backend))
    words = {"feature", "output", "from", "to", "kind", "notes"}
    words |= {"feature_label", "output_label"}
    for name, dtype in frame.schema.items():
        assert dtype == nw.String if name in words else dtype.is_numeric(), name


def test_effect_rows_tell_kind_levels_and_missing(every_kind):
    rows = listing.tabulate_effects(every_kind)
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
    rows = listing.bin_rows([plain, replace(plain, missing=None, levels=labels)])
    n_points = plain.grid.size
    assert rows["at"][n_points:] == ["missing", *labels]
    assert [float(text) for text in rows["at"][:n_points]] == pytest.approx(plain.grid.tolist())
    assert rows["mean"][n_points] == -1.5
    np.testing.assert_allclose(rows["curve"][n_points], -1.5 - plain.share @ plain.mean)
    found = listing.tabulate_effects([replace(plain, levels=labels), replace(plain, kind="date")])
    assert found["kind"] == ["categories", "date"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_halves_of_signs_do_not_keep_a_result_from_becoming_a_table(backend):
    """Columns of objects can hold them, text in tables cannot."""
    frame = as_frame({"level": ["\ud800x", "面积"], "mean": [1.0, 2.0]}, backend)
    assert list(
        map(str, frame["level"].to_pylist() if backend == "pyarrow" else frame["level"])
    ) == [
        r"\ud800x",
        "面积",
    ]


def test_a_column_that_joins_the_list_is_in_frame_print_and_notebook(fx):
    joined = (*listing.EFFECT_COLUMNS, Column("rank", "place", value=lambda row: len(row.name)))
    rows = [listing.EffectRow(effect) for effect in fx.effects]
    assert tabulate(rows, joined)["rank"] == [len(name) for name in fx.features]
    found = listing.list_effects(fx.effects, fx.provenance, (), columns=joined)
    assert found.tables[0].headers[-1].text == "place"
    assert [row[-1].text for row in found.tables[0].cells] == ["2"] * len(fx.features)
    assert str(found).splitlines()[1].endswith("place")
    assert ">place</th>" in found.as_html()


@pytest.fixture(scope="module")
def regional():
    return make_regional()


def test_bins_of_regions_follow_those_of_all_rows(regional):
    rows = listing.region_rows(regional.effects)
    assert list(rows)[:4] == ["region", "rule", "feature", "output"]
    assert {len(values) for values in rows.values()} == {len(rows["mean"])}
    found = dict.fromkeys(zip(rows["feature"], rows["region"], rows["rule"], strict=True))
    assert list(found) == [
        ("x0", -1, "all rows"),
        ("x0", 0, "x1 ≤ 0"),
        ("x0", 1, "x1 > 0 and x2 = 0, 1 or missing"),
        ("x0", 2, "x1 > 0 and x2 = 2 or 3"),
        ("x1", -1, "all rows"),
        ("x2", -1, "all rows"),
        ("x2", 0, "x1 ≤ 0"),
        ("x2", 1, "x1 > 0"),
    ]
    keys = zip(rows["feature"], rows["region"], strict=True)
    own = [m for m, key in zip(rows["mean"], keys, strict=True) if key == ("x0", 2)]
    assert own == regional["x0"].regions[2].effect.table()["mean"]
    bins = listing.bin_rows(regional.effects)
    every = [m for m, region in zip(rows["mean"], rows["region"], strict=True) if region == -1]
    assert every == bins["mean"]


def test_results_without_regions_have_rows_of_all_rows_alone(fx):
    rows = listing.region_rows(fx.effects)
    assert set(rows["region"]) == {-1}
    assert rows["mean"] == listing.bin_rows(fx.effects)["mean"]


def test_splits_have_a_row_each(regional, fx):
    rows = listing.tabulate_splits(regional.effects)
    assert rows["splitter"] == ["x1", "x2"]
    assert rows["depth"] == [0, 1]
    np.testing.assert_array_equal(rows["threshold"], [0.0, np.nan])
    assert rows["levels"] == ["", "0, 1"]
    assert rows["missing"] == ["none", "first"]
    assert (rows["share"], rows["standard_error"]) == ([0.99, 0.25], [0.01, 0.02])
    assert rows["rows"] == [200, 90]
    assert all(values == [] for values in listing.tabulate_splits(fx.effects).values())


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_no_splits_are_a_frame_without_rows(fx, backend):
    pytest.importorskip(backend)
    frame = nw.from_native(as_frame(listing.tabulate_splits(fx.effects), backend))
    assert frame.shape == (0, 13)


def test_the_summary_says_who_differs_where_that_was_asked_for(regional, fx):
    assert "differs_by" not in listing.tabulate_effects(fx.effects)
    rows = listing.tabulate_effects(regional.effects)
    assert rows["differs_by"] == ["gradually with x1, x2", "perhaps x1", "x1"]
    np.testing.assert_array_equal(rows["share"], [0.99, 0.2, 0.5])
    np.testing.assert_array_equal(rows["share_error"], [0.01, 0.01, np.nan])
    assert rows["regions"] == [3, 1, 2]


def test_what_people_read_is_in_the_last_columns(every_kind):
    captions = Captions({"number": "A number"}, {"y0": "price"})
    effects = [replace(effect, captions=captions) for effect in every_kind]
    for rows in (listing.bin_rows(effects), listing.tabulate_effects(effects)):
        assert list(rows)[-2:] == ["feature_label", "output_label"]
        known = zip(rows["feature"], rows["feature_label"], strict=True)
        assert all(label == captions.feature(name) for name, label in known)
        assert "A number" in rows["feature_label"]
        assert set(rows["output"]) == {"y0"}
        assert set(rows["output_label"]) == {"price"}


def test_a_row_of_the_summary_is_one_line_high():
    notes = (Note("gap", "no rows between 1 and 2" * 20), Note("gap", "more"), Note("jump", "x"))
    effect = replace(rhale.effect([0.0, 1.0], [1.0, 1.0]), local_notes=(*notes, "a text"))
    assert listing.tabulate_effects([effect])["notes"] == ["gap, jump, other"]
