import copy
import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.effects.with_regions import make_regional

import rhale
from rhale.effects.binning.partition import Edges, Fixed
from rhale.effects.effect import Effect
from rhale.effects.profile import Profile
from rhale.effects.result import heights
from rhale.errors import BadSettingError, ReadOnlyError, UnknownFeatureError, UnknownOutputError
from rhale.report.effects import make_page
from rhale.settings import partition_for

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.uniform(-1, 1, (300, 3)), columns=["age", "income", "rooms"])


def additive(rows):
    return np.asarray(rows)[:, 0] ** 2 + 2 * np.asarray(rows)[:, 1]


def two_outputs(rows):
    return np.column_stack([additive(rows), -additive(rows)])


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(additive, FRAME)


@pytest.fixture(scope="module")
def both():
    return rhale.explain(two_outputs, FRAME)


# --- looking up ----------------------------------------------------------------------------------


def test_effects_are_found_by_name_and_by_position(fx):
    assert fx["income"].name == "income"
    assert fx[1] is fx["income"]
    assert fx[-1] is fx["rooms"]
    assert fx[np.int64(0)] is fx["age"]
    assert fx["age", "y0"] is fx["age", 0] is fx["age"]


def test_outputs_are_found_by_name_and_by_position(both):
    assert both["age", "y1"].output == "y1"
    assert both["age", 1] is both["age", "y1"] is both[0, -1]
    assert (both["rooms", "y0"].name, both["rooms", "y0"].output) == ("rooms", "y0")


def test_an_unknown_feature_is_told_near_names(fx):
    with pytest.raises(
        UnknownFeatureError, match="no feature 'incom'; did you mean 'income'"
    ) as error:
        fx["incom"]
    assert "'age', 'income', 'rooms'" in str(error.value)
    assert isinstance(error.value, KeyError)


@pytest.mark.parametrize("key", [3, -4, "", None, 1.5])
def test_features_that_are_not_there_are_refused(fx, key):
    with pytest.raises(UnknownFeatureError):
        fx[key]


def test_several_outputs_are_listed_when_none_is_named(both):
    with pytest.raises(UnknownOutputError, match="several outputs") as error:
        both["age"]
    assert "'y0', 'y1'" in str(error.value)
    assert "fx['age', 'y0']" in str(error.value)


@pytest.mark.parametrize("key", ["y2", 2, -3])
def test_outputs_that_are_not_there_are_refused(both, key):
    with pytest.raises(UnknownOutputError, match=r"Known: 'y0', 'y1'"):
        both["age", key]


def test_a_name_that_looks_like_a_number_is_a_name_first():
    frame = pd.DataFrame(RNG.normal(size=(40, 2)), columns=[1, 0])
    fx = rhale.explain(lambda rows: rows.to_numpy()[:, 0], frame)
    assert fx.features == ("1", "0")
    assert fx[1].name == fx["1"].name == "1"
    assert fx["1"].importance > fx["0"].importance


def test_length_order_and_membership(fx, both):
    assert len(fx) == 3
    assert len(both) == 6
    assert [e.name for e in fx.values()] == ["age", "income", "rooms"]
    assert [(e.name, e.output) for e in both.values()][:3] == [
        ("age", "y0"),
        ("age", "y1"),
        ("income", "y0"),
    ]
    assert "age" in fx
    assert "weight" not in fx


def test_ranked_puts_the_largest_first(fx, both):
    assert [e.name for e in fx.ranked()] == ["income", "age", "rooms"]
    assert {e.output for e in both.ranked("y1")} == {"y1"}
    assert len(both.ranked(0)) == 3


def test_equality_is_by_value(fx):
    again = rhale.explain(additive, FRAME)
    assert again.effects == fx.effects
    assert fx == fx.rebin(fx).rebin(fx) or fx.rebin(fx).provenance != fx.provenance
    assert fx != fx.rebin(2)
    assert fx != "an explanation"
    with pytest.raises(TypeError):
        hash(fx)


def test_provenance_tells_what_was_done(fx):
    told = fx.provenance
    assert (told["method"], told["rows"], told["table"], told["seed"]) == (
        "rhale",
        300,
        "pandas",
        0,
    )
    assert told["columns"] == ["age", "income", "rooms"]
    assert told["weighted"] is False


def test_printing_is_the_ranked_table(fx):
    assert str(fx) == repr(fx)
    assert str(fx).splitlines()[2].startswith("income")


# --- frames --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_kind_of_the_table(kind):
    pytest.importorskip(kind)
    data = FRAME
    if kind == "polars":
        data = pytest.importorskip("polars").from_pandas(FRAME)
    if kind == "pyarrow":
        data = pytest.importorskip("pyarrow").Table.from_pandas(FRAME)

    def model(rows):
        return additive(rows if kind != "pyarrow" else rows.to_pandas())

    fx = rhale.explain(model, data, bins=4)
    for frame in (fx.to_frame(), fx.summary()):
        assert type(frame).__module__.partition(".")[0] == kind
    assert fx.to_frame().shape[0] == 12
    assert fx.summary().shape[0] == 3


def test_the_frame_of_an_array_is_of_the_first_kind_installed(fx):
    of_array = rhale.explain(additive, FRAME.to_numpy())
    assert isinstance(of_array.to_frame(), pd.DataFrame)
    polars = pytest.importorskip("polars")
    assert isinstance(fx.to_frame("polars"), polars.DataFrame)
    assert isinstance(fx.summary(backend="polars"), polars.DataFrame)


def test_a_frame_has_one_row_per_feature_output_and_bin(both):
    frame = both.to_frame()
    sizes = frame.groupby(["feature", "output"]).size()
    for effect in both.values():
        part = frame[(frame.feature == effect.name) & (frame.output == effect.output)]
        assert sizes[effect.name, effect.output] == effect.mean.size
        np.testing.assert_array_equal(part["mean"], effect.mean)
        np.testing.assert_array_equal(part["left"], effect.edges[:-1])
        np.testing.assert_array_equal(part["std"], effect.std)


def test_the_summary_is_ranked(fx):
    frame = fx.summary()
    assert frame.feature.tolist() == ["income", "age", "rooms"]
    assert frame.importance.tolist() == sorted(frame.importance, reverse=True)


def test_a_profile_has_one_row_per_point():
    fx = rhale.explain(additive, FRAME, method="pdp", bins=10)
    frame = fx.to_frame()
    assert len(frame) == 33
    np.testing.assert_allclose(frame["mean"][:11], fx["age"].mean)


# --- rebin ---------------------------------------------------------------------------------------


def test_rebin_asks_no_model():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return additive(rows)

    explained = rhale.explain(counted, FRAME)
    before = len(calls)
    explained.rebin(rhale.Fixed(7))
    assert len(calls) == before


def test_rebin_moves_limits_to_cells_and_notes_it(fx):
    moved = fx.rebin({"age": rhale.Edges([-0.987654, 0.123456, 0.99])})["age"]
    assert any("limits moved to the nearest limits of cells" in note for note in moved.notes)
    asked = np.array([-0.987654, 0.123456, 0.99])
    assert np.abs(moved.edges - asked).max() < 0.02
    assert not any("limits moved" in note for note in fx.rebin(1)["age"].notes)


def test_rebin_forgets_what_was_said_about_the_old_bins():
    """An empty stretch in the middle: twenty bins have empty ones, one bin has none."""
    table = np.concatenate([RNG.uniform(0, 1, 100), RNG.uniform(5, 6, 100)])[:, None]
    fx = rhale.explain(lambda rows: rows[:, 0] ** 2, table, bins=20)
    assert any("of 20 bins have no rows" in note for note in fx["x0"].notes)
    assert not any("bins have no rows" in note for note in fx.rebin(1)["x0"].notes)
    again = fx.rebin(fx)["x0"]
    assert again.notes == fx["x0"].notes


def test_rebin_by_mapping_leaves_the_others_as_they_are(fx):
    some = fx.rebin({"age": 3})
    assert some["age"].mean.size == 3
    assert some["income"] == fx["income"]
    assert some["rooms"] == fx["rooms"]


def test_rebin_to_the_bins_of_another(fx):
    other = rhale.explain(additive, FRAME, bins=10)
    edges = fx.rebin(other)["age"].edges
    np.testing.assert_allclose(edges, other["age"].edges, atol=0.01)


def test_rebin_records_the_bins_and_keeps_the_original(fx):
    before = fx["age"].edges.copy()
    again = fx.rebin(rhale.Fixed(3))
    assert again.provenance["bins"] == "Fixed(n_bins=3, closed='left')"
    np.testing.assert_array_equal(fx["age"].edges, before)
    assert again["age"].sample == fx["age"].sample or all(
        np.array_equal(a, b) for a, b in zip(again["age"].sample, fx["age"].sample, strict=True)
    )


@pytest.mark.parametrize("method", ["ale", "pdp", "ice", "mplot"])
def test_numbers_that_are_tied_to_their_bins_are_not_rebinned(method):
    with pytest.raises(BadSettingError, match=f"method '{method}' ties its numbers to its bins"):
        rhale.explain(additive, FRAME, method=method).rebin(3)


def test_a_constant_feature_survives_rebin():
    table = np.column_stack([FRAME.to_numpy()[:, 0], np.full(300, 2.0)])
    fx = rhale.explain(lambda rows: rows[:, 0], table)
    assert fx.rebin(4)["x1"] == fx["x1"]


# --- bins ----------------------------------------------------------------------------------------


def test_every_way_to_give_bins_is_understood(fx):
    assert partition_for(None, "age", "y0") is None
    assert partition_for(5, "age", "y0") == partition_for(np.int64(5), "age", "y0") == Fixed(5)
    assert partition_for(Fixed(4), "age", "y0") == Fixed(4)
    assert partition_for({"age": 3}, "age", "y0") == Fixed(3)
    assert partition_for({"age": 3}, "rooms", "y0") is None
    assert partition_for(fx, "age", "y0") == Edges(fx["age"].edges, linear=fx["age"].linear)


def test_the_bins_of_several_outputs_are_copied_one_by_one(both):
    assert partition_for(both, "age", "y1") == Edges(
        both["age", "y1"].edges, linear=both["age", "y1"].linear
    )


@pytest.mark.parametrize("bins", ["many", 2.5, True, [0, 1, 2], Fixed])
def test_bins_that_are_not_understood_are_refused(bins):
    with pytest.raises(BadSettingError, match="is not understood; pass Adaptive"):
        partition_for(bins, "age", "y0")


def test_a_profile_has_no_bins_to_copy():
    with pytest.raises(BadSettingError, match="a profile has no bins"):
        partition_for(rhale.explain(additive, FRAME, method="pdp"), "age", "y0")


# --- explained variance --------------------------------------------------------------------------


def slopes(rows):
    rows = np.asarray(rows)
    return np.column_stack([2 * rows[:, 0], np.full(len(rows), 2.0), np.zeros(len(rows))])


def test_the_curves_of_an_additive_model_explain_it():
    fx = rhale.explain(additive, FRAME, gradient=slopes, bins=100)
    assert fx.explained_variance == pytest.approx(1.0, abs=1e-3)


def test_the_curve_of_a_linear_model_explains_it_exactly():
    fx = rhale.explain(lambda rows: 3 * np.asarray(rows)[:, 1], FRAME)
    assert fx.explained_variance == pytest.approx(1.0, abs=1e-12)


def test_no_curve_explains_a_pure_interaction():
    table = np.random.default_rng(4).uniform(-1, 1, (4000, 2))
    fx = rhale.explain(
        lambda rows: rows[:, 0] * rows[:, 1], table, gradient=lambda rows: rows[:, ::-1]
    )
    assert abs(fx.explained_variance) < 0.02


def test_half_interaction_is_half_explained():
    """x0 + sqrt(3) x0 x1 on the unit square: variances 1/3 and 3/9."""
    table = np.random.default_rng(4).uniform(-1, 1, (4000, 2))
    root = np.sqrt(3)
    fx = rhale.explain(
        lambda rows: rows[:, 0] * (1 + root * rows[:, 1]),
        table,
        gradient=lambda rows: np.column_stack([1 + root * rows[:, 1], root * rows[:, 0]]),
    )
    assert fx.explained_variance == pytest.approx(0.5, abs=0.05)


def test_each_output_has_its_own_share(both):
    shares = both.explained_variance
    assert shares.keys() == {"y0", "y1"}
    assert shares["y0"] == pytest.approx(shares["y1"])


def test_a_constant_model_has_nothing_to_explain():
    fx = rhale.explain(lambda rows: np.ones(len(rows)), FRAME)
    assert np.isnan(fx.explained_variance)


def test_constant_features_do_not_disturb_the_share():
    table = np.column_stack([FRAME.to_numpy()[:, 0], np.full(300, 2.0)])
    fx = rhale.explain(lambda rows: rows[:, 0] + rows[:, 1], table)
    assert fx.explained_variance == pytest.approx(1.0, abs=1e-12)


def test_weights_count_in_the_share():
    """All weight on rows where the interaction is switched off."""
    table = np.random.default_rng(1).uniform(-1, 1, (2000, 2))
    weights = np.where(table[:, 0] > 0, 1.0, 1e-9)

    def predict(rows):
        return rows[:, 0] + np.where(rows[:, 0] > 0, 0.0, 5 * rows[:, 1])

    fx = rhale.explain(
        predict,
        table,
        gradient=lambda rows: np.column_stack(
            [np.ones(len(rows)), np.where(rows[:, 0] > 0, 0.0, 5.0)]
        ),
        weights=weights,
    )
    assert fx.explained_variance == pytest.approx(1.0, abs=1e-3)


SQUARE = np.random.default_rng(4).uniform(-1, 1, (1000, 2))
WAVES = np.random.default_rng(4).uniform(-3, 3, (1000, 2))
WHOLE = np.random.default_rng(4).integers(0, 400, (1000, 2)).astype(float)
NORMAL = np.random.default_rng(4).normal(size=(4000, 2))
TWINS = NORMAL @ [[np.sqrt(0.95)] * 2, [np.sqrt(0.05), -np.sqrt(0.05)]]  # correlated by 0.9
SILENT = {
    "a jump beside a small gradient": (
        SQUARE,
        lambda r: 0.01 * r[:, 0] + (r[:, 0] > 0),
        {"gradient": lambda r: np.tile([0.01, 0.0], (len(r), 1))},
    ),
    "oscillation finer than the windows": (WAVES, lambda r: np.sin(40 * r[:, 0]), {}),
    "parity": (WHOLE, lambda r: r[:, 0] % 2, {}),
    "product": (SQUARE, lambda r: r[:, 0] * r[:, 1], {}),
    "curves that add up to more than the model": (TWINS, lambda r: (r[:, 0] - r[:, 1]) ** 2, {}),
}


@pytest.mark.parametrize("case", SILENT.values(), ids=SILENT)
def test_curves_that_explain_little_say_so_wherever_they_are_shown(case):
    rows, model, options = case
    fx = rhale.explain(model, rows, **options)
    (note,) = (note for note in fx.notes if note.kind == "explained variance")
    others = [other.kind for other in fx.notes if other is not note]
    # rows of twins differ by 2 sd(x1 | x0) along x0: more than the model moves
    assert others == (["implausible"] * 2 if rows is TWINS else [])
    told = [other for other in fx.notes if "most with x1 (rank correlation 0.8" in other]
    assert len(told) == (rows is TWINS)  # of normal values with r = .9: 6 / pi asin(.45) = .89
    percent = float(note.partition("explains ")[2].partition(" %")[0])
    assert percent == pytest.approx(100 * fx.explained_variance, rel=0.05)
    assert ("correlated features" in note) == (round(100 * fx.explained_variance) < 0)
    assert note in str(fx)
    assert "explains" in fx._repr_html_()
    page = make_page(fx.effects, fx.provenance, notes=fx.notes)
    assert note in [footnote.text for footnote in page.notes]
    share = fx.provenance["explained_variance"]["y0"]
    assert share == pytest.approx(fx.explained_variance, abs=1e-6)


def test_curves_of_twins_explain_less_than_nothing():
    """Of (x0 - x1)², with r = 0.9, the curves are (1 - r) x².

    Their sum has the variance (1 - r)² (4 + 4 r²) = .0724, the model 8 (1 - r)² = .08, and the
    covariance of both is 4 (1 - r)³ = .004: (2 * .004 - .0724) / .08 = -.805.
    """
    rows, model, _ = SILENT["curves that add up to more than the model"]
    off = {"gradient": lambda r: 2 * (r[:, :1] - r[:, 1:]) * [1.0, -1.0]}
    share = rhale.explain(model, rows, **off).explained_variance
    assert share == pytest.approx(-0.805, abs=0.25)


@pytest.mark.parametrize(
    "options", [{"features": "x0"}, {"method": "mplot"}, {"features": [1], "method": "pdp"}]
)
def test_curves_that_are_not_meant_to_add_up_get_no_note(options):
    fx = rhale.explain(lambda r: r[:, 0] * r[:, 1], SQUARE, **options)
    assert fx.notes == ()
    assert fx.provenance["explained_variance"]["y0"] < 0.5


def test_curves_that_explain_the_model_and_models_without_variance_get_no_note(both):
    assert both.notes == ()
    constant = rhale.explain(lambda rows: np.ones(len(rows)), FRAME)
    assert constant.notes == ()
    assert constant.provenance["explained_variance"] == {"y0": None}


def test_other_bins_bring_another_note():
    fx = rhale.explain(lambda r: r[:, 0] ** 2, SQUARE)
    coarse = fx.rebin(rhale.Fixed(1))
    assert fx.notes == fx.rebin(rhale.Fixed(50)).notes == ()
    assert [note.kind for note in coarse.notes] == [
        "explained variance"
    ]  # a constant bin: no curve
    assert [note.kind for note in coarse.rebin(rhale.Fixed(1)).notes] == ["explained variance"]


JUMP = {"gradient": lambda r: np.tile([0.3, 0.0], (len(r), 1))}
NORMAL_ROWS = np.random.default_rng(5).normal(size=(2_000, 2))
ZIPS = np.random.default_rng(5).integers(10_000, 99_999, (2_000, 2)).astype(float)
CONTRADICTED = {
    "jump": (SQUARE, lambda r: (r[:, 0] > 0) + 0.3 * r[:, 0], JUMP),
    "waves": (NORMAL_ROWS, lambda r: np.sin(40 * r[:, 0]), {}),
    "parity": (WHOLE, lambda r: r[:, 0] % 2, {}),
    "hash": (ZIPS, lambda r: r[:, 0] * 2654435761 % 2**32 / 2**32, {}),
    "eighths": (np.round(8 * NORMAL_ROWS) / 8, lambda r: np.sin(6 * r[:, 0]), {}),
    "box": (NORMAL_ROWS, lambda r: 3.0 * (np.abs(r[:, 0] - 0.3) < 0.06), {}),
    "waves that differ": (NORMAL_ROWS, lambda r: np.sin(40 * r[:, 0]) * (1 + r[:, 1]), {}),
}


@pytest.mark.parametrize("case", CONTRADICTED.values(), ids=CONTRADICTED)
def test_a_curve_that_moved_rows_contradict_says_so_first_wherever_it_is_shown(case):
    rows, model, options = case
    fx = rhale.explain(model, rows, features=[0], **options)
    (note,) = (note for note in fx[0].notes if note.kind == "audit")
    assert note is fx[0].notes[0]
    assert ("small gradient" in note) == ("gradient" in options)
    assert ("finer than the windows" in note) == ("gradient" not in options)
    assert "1  moved rows contradict this curve" in str(fx)
    assert "moved rows contradict" in fx._repr_html_()
    page = make_page(fx.effects, fx.provenance, notes=fx.notes)
    assert page.notes[0].text == note


def test_the_note_says_how_far_curve_and_moved_rows_are_apart():
    """[x > 0] deviates by 1/2, .3x by .3 / root 3, and both covary by .3 E[x; x > 0] = .075."""
    rows, model, options = CONTRADICTED["jump"]
    note = rhale.explain(model, rows, features=[0], **options)[0].notes[0]
    moved, told, off = map(float, re.findall(r" by ([\d.]+\d)", note))
    assert moved == pytest.approx(np.sqrt(0.25 + 0.03 + 2 * 0.075), rel=0.05)
    assert told == pytest.approx(0.3 / np.sqrt(3), rel=0.05)
    assert off == pytest.approx(0.5, rel=0.05)


AGREED = {
    "product": (lambda r: r[:, 0] * r[:, 1], {}),
    "wave": (lambda r: np.sin(3 * r[:, 0]) + r[:, 1], {}),
    "step asked by secants": (lambda r: (r[:, 0] > 0) + 0.3 * r[:, 0], {"local": "secant"}),
    "nothing": (lambda r: r[:, 1], {}),
    "rows that differ": (
        lambda r: r[:, 1] * np.sin(5 * r[:, 0]),
        {
            "gradient": lambda r: (
                np.cos(5 * r[:, :1]) * r[:, 1:] * [5, 0] + np.sin(5 * r[:, :1]) * [0, 1]
            )
        },
    ),
}


@pytest.mark.parametrize("case", AGREED.values(), ids=AGREED)
@pytest.mark.parametrize("rows", [SQUARE, TWINS], ids=["independent", "twins"])
def test_a_curve_that_moved_rows_agree_with_gets_no_such_note(case, rows):
    model, options = case
    fx = rhale.explain(model, rows, **options)
    assert not [note for effect in fx.values() for note in effect.notes if note.kind == "audit"]


def test_moved_rows_judge_the_bins_there_are(tmp_path):
    fx = rhale.explain(lambda r: r[:, 0] ** 2, SQUARE)
    coarse = fx.rebin(rhale.Fixed(1))  # a constant bin: no curve
    assert [note.kind for note in coarse[0].notes][:1] == ["audit"]
    assert not [note for note in coarse.rebin(rhale.Fixed(50))[0].notes if note.kind == "audit"]
    coarse.save(tmp_path / "fx.json")
    assert rhale.load(tmp_path / "fx.json")[0].notes == coarse[0].notes


def test_the_note_is_saved(tmp_path):
    fx = rhale.explain(lambda r: r[:, 0] * r[:, 1], SQUARE)
    fx.save(tmp_path / "fx.json")
    assert rhale.load(tmp_path / "fx.json").notes == fx.notes


# --- verbs that draw -----------------------------------------------------------------------------


def test_plot_draws_one_feature_or_all(fx):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    assert len(fx.plot("age")) == 2
    assert len(np.ravel(fx.plot())) >= 3
    assert len(np.ravel(fx.plot(["age", 1]))) >= 2
    profile = rhale.explain(additive, FRAME, method="ice")
    assert isinstance(profile["age"], Profile)
    profile.plot("age")
    fx.compare({"other": fx.rebin(3)}, "age")
    plt.close("all")


def test_features_are_drawn_in_the_order_asked_for(fx):
    from matplotlib.figure import Figure

    def names(panels):
        return [ax.get_title("left") for ax in panels]

    ranked = list(dict.fromkeys(effect.name for effect in fx.ranked()))
    wanted = ranked[::-1]
    assert names(fx.plot(wanted)) == wanted
    assert names(fx.plot(tuple(fx.features.index(name) for name in wanted))) == wanted
    assert names(fx.plot(iter(wanted))) == wanted
    axes = Figure().subplots(1, len(wanted))
    assert list(fx.plot(wanted, ax=axes)) == list(axes)
    assert names(fx.plot([wanted[0], wanted[0]])) == wanted[:1]
    assert names(fx.plot()) == names(fx.plot(set(wanted))) == ranked
    assert names(fx.plot(top=2)) == ranked[:2]
    assert names(fx.plot(wanted, top=2)) == ranked[:2][::-1]


@pytest.mark.parametrize("smooth", [False, True])
def test_plot_and_compare_draw_smooth_or_as_it_is(fx, stepped, smooth):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    trees = replace(fx, features=("age",), outputs=("y0",), effects=(stepped,))
    drawn = [
        trees.plot("age", smooth=smooth)[0],
        trees.plot(smooth=smooth)[0],
        trees.compare({"other": trees}, "age", smooth=smooth),
    ]
    for ax in drawn:
        (x, y) = ax.findobj(lambda artist: artist.get_gid() == "rhale:curve")[0].get_data()
        np.testing.assert_allclose(y, stepped.curve(x, smooth=smooth), atol=1e-12)
    rhale.explain(additive, FRAME, method="ice").plot("age", smooth=smooth)  # has no steps
    plt.close("all")


def test_effects_are_effects(fx):
    assert all(isinstance(e, Effect) for e in fx.values())


# --- Rows without a value ------------------------------------------------------------------------


def gappy():
    rows = np.random.default_rng(3).normal(size=(300, 2))
    rows[::10, 0] = np.nan
    return rows


def filled(rows):
    return np.where(np.isnan(rows[:, 0]), -5.0, rows[:, 0]) + rows[:, 1]


def test_rows_without_a_value_stand_at_their_own_point():
    effect = rhale.explain(filled, gappy())["x0"]
    known = np.nanmean(gappy()[:, 0])
    found = heights(effect, np.array([np.nan, 1.0, 99.0]))
    assert found[:2] == pytest.approx([-5.0 - known, 1.0 - known])
    assert np.isnan(found[2])


def test_rows_without_a_value_stand_at_the_centred_point_of_a_profile():
    profile = rhale.explain(filled, gappy(), method="pdp")["x0"]
    level = profile.share @ profile.mean
    (found,) = heights(profile, np.array([np.nan]))
    assert found == pytest.approx(-5.0 + gappy()[:, 1].mean() - level)


def test_rows_without_a_value_count_for_the_explained_variance():
    def model(rows):
        empty = np.isnan(rows[:, 0])
        return np.where(empty, 10 * rows[:, 1], np.nan_to_num(rows[:, 0]))

    fx = rhale.explain(model, gappy())
    total = sum(heights(fx[i], gappy()[:, i]) for i in range(2))
    answer = model(gappy())
    assert fx.explained_variance == pytest.approx(1 - np.var(answer - total) / np.var(answer))


def test_the_largest_numbers_of_a_table_or_a_model_are_no_error():
    """The curve follows its cells; squares of squares of x nearly fill a number."""
    x = np.random.default_rng(0).normal(size=(3_000, 2)) * [1e49, 1.0]

    def model(rows):
        return np.sin(8e-49 * rows[:, 0]) + rows[:, 1] * np.exp(1e-49 * rows[:, 0])

    with np.errstate(over="ignore", invalid="ignore"):
        wavy = rhale.explain(model, x, features="x0")
        assert wavy["x0"].cells is not None
        assert 0 < wavy["x0"].importance_error < wavy["x0"].importance
        high = rhale.explain(lambda rows: 1e300 + 0 * rows[:, 0], x, features="x1")
        assert np.isnan(high.explained_variance)


def test_what_an_explanation_says_of_itself_cannot_be_changed(fx):
    for said in (fx.provenance, fx.cells):
        with pytest.raises(ReadOnlyError, match="cannot be changed"):
            said["x"] = 1


def test_an_explanation_can_be_pickled_and_copied(fx):
    assert pickle.loads(pickle.dumps(fx)) == fx  # noqa: S301
    assert copy.deepcopy(fx) == fx


# --- regions -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def regional():
    return make_regional()


def test_explanations_with_other_regions_are_not_equal(regional):
    assert regional == copy.deepcopy(regional)
    tree = replace(regional["x0"].regions, share=0.5)
    other = replace(regional["x0"], regions=tree)
    assert replace(regional, effects=(other, *regional.effects[1:])) != regional


def test_frames_of_regions_splits_and_partners(regional):
    pd = pytest.importorskip("pandas")
    frame = regional.to_frame(regions=True)
    assert list(frame.columns[:4]) == ["region", "rule", "feature", "output"]
    plain = regional.to_frame()
    every = frame[frame["region"] == -1].drop(columns=["region", "rule"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(every, plain)
    assert list(regional.splits_frame()["splitter"]) == ["x1", "x2"]
    assert [partner.feature for partner in regional.partners("x0")] == ["x1", "x2"]
    assert list(regional.partners("x0", "y0").to_frame()["partner"]) == ["x1", "x2"]


def test_frames_of_regions_are_of_any_kind(regional):
    pa = pytest.importorskip("pyarrow")
    made = [
        regional.to_frame("pyarrow", regions=True),
        regional.splits_frame("pyarrow"),
        regional.partners("x0").to_frame("pyarrow"),
    ]
    assert all(isinstance(frame, pa.Table) for frame in made)


def test_regions_that_nobody_asked_for_are_not_told(fx):
    for ask in (
        lambda: fx.to_frame(regions=True),
        fx.splits_frame,
    ):
        with pytest.raises(BadSettingError, match=r"not asked for; call explain .* regions=True"):
            ask()
    assert fx.explained_with_regions == pytest.approx(fx.explained_variance)


def test_partners_of_several_outputs_are_named():
    several = make_regional(lambda rows: np.column_stack([rows[:, 0] * (rows[:, 1] > 0)] * 2))
    with pytest.raises(UnknownOutputError):
        several.partners("x0")
    assert len(several.partners("x0", 1)) == 2
    assert several.explained_with_regions.keys() == {"y0", "y1"}


def test_regions_explain_what_common_curves_do_not(regional):
    """(x0 + x2) [x1 > 0] + x2: regions of x0 and x2 tell all but the edge of x1."""
    assert regional.explained_with_regions > 0.97 > regional.explained_variance


def test_rebin_keeps_regions_with_their_bins_and_says_so(regional):
    again = regional.rebin(3)
    assert again["x0"].regions == regional["x0"].regions
    assert [note.kind for note in again["x0"].notes].count("regions") == 1
    assert again["x2"] == regional["x2"]


def test_rebin_gives_the_only_region_the_new_bins(regional):
    again = regional.rebin(3)["x1"]
    assert again.regions[0].effect == replace(again, regions=None)
    assert again.regions[0].effect.mean.size == 3
    assert "regions" not in [note.kind for note in again.notes]


def test_rebin_to_the_same_bins_says_nothing_about_regions(regional):
    again = regional.rebin(Edges(regional["x0"].edges, linear=regional["x0"].linear))["x0"]
    assert "regions" not in [note.kind for note in again.notes]
    assert again.regions == regional["x0"].regions


@pytest.mark.parametrize("closed", ["left", "right"])
def test_a_page_offers_other_bins_where_rows_are_enough(tmp_path, closed):
    pytest.importorskip("jinja2")
    rows = np.random.default_rng(0).normal(size=(60, 3))
    rows[:, 1] = 1.0
    bins = rhale.Adaptive(closed=closed)
    fx = rhale.explain(lambda r: r[:, 0] ** 3 + r[:, 2], rows, categorical=["x2"], bins=bins)
    text = fx.report(tmp_path / "page.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'id="page-data"[^>]*>(.*?)</script>', text)
    offered = [one["parts"][0].get("choice", []) for one in json.loads(data)["features"]]
    # 20 bins would have 3 rows each; the others are constant, and levels
    assert [[len(bins["bins"]["mean"]) for bins in one] for one in offered] == [[5, 10], [], []]
    assert text.count('<div class="other-bins">') == 1
