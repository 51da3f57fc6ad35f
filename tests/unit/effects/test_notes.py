"""What a reader of a result should know, in words and as a kind."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.local.notes import (
    ACROSS,
    MAX_MODEL_REASON_LETTERS,
    describe_curves,
    describe_ends,
    describe_explained,
    describe_gaps,
    describe_implausible,
    describe_missing,
    describe_outside,
    without_point,
)
from rhale.output.labels import NO_CAPTIONS
from rhale.output.number_format import as_numbers

SURVEY = SimpleNamespace(n_rows=2_000)
LAST = np.iinfo(np.uint64).max


def cells(x, low=0.0, high=4.0):
    return measure_moments(Grid(np.array([low, high])), x, np.ones_like(x))


def feature(values, *, whole=False, kind="number"):
    values = np.asarray(values, dtype=float)
    axis = FeatureAxis(values[0], values[-1], values, np.ones(values.size), values.size)
    return SimpleNamespace(axis=axis, whole=whole, axis_kind=kind)


def effect_of(
    *, importance=0.0, error=0.0, spread=0.0, spread_error=0.0, heights=(0.0, 0.0), name="age"
):
    return SimpleNamespace(
        name=name,
        captions=NO_CAPTIONS,
        importance=importance,
        importance_error=error,
        typical_spread=spread,
        typical_spread_error=spread_error,
        places=lambda: np.arange(float(len(heights))),
        height=lambda places: np.array(heights)[places.astype(int)],
    )


WIDE = np.array([-1.0, 1.0, 3.0]), np.array([1.0, 2.0, 1.0])  # of mean 1 and deviation root 2
ALONE = np.zeros((3, 1))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"importance": 1.42}, r"the importance of age \(1\.42\) exceeds .* predictions \(1\.41\)"),
        ({"importance": 1.41}, None),
        ({"importance": 1.5, "error": 0.05}, None),  # within two errors
        ({"importance": 1.52, "error": 0.05}, "the importance of age"),
        ({"spread": 3.0, "spread_error": 0.5}, r"the typical spread of age \(3\) exceeds"),
        ({"spread": 3.0, "spread_error": float("nan")}, "the typical spread of age"),
        ({"spread": 3.0, "spread_error": 0.9}, None),
    ],
)
def test_what_exceeds_the_deviation_of_the_predictions_cannot_be(numbers, words):
    notes = describe_implausible([effect_of(**numbers)], *WIDE, ALONE)
    assert len(notes) == (words is not None)
    for note in notes:
        assert note.kind == "implausible"
        assert re.match(words, note)


def test_a_curve_of_probabilities_spans_no_more_than_one():
    chances = np.array([0.0, 0.2, 1.0]), np.ones(3)
    (note,) = describe_implausible([effect_of(heights=(-0.5, 0.1, 0.75))], *chances, ALONE)
    assert re.match(r"the curve of age spans 1\.25, although predictions lie between 0 and 1", note)
    assert not describe_implausible([effect_of(heights=(-0.5, 0.1, 0.5))], *chances, ALONE)
    assert not describe_implausible([effect_of(heights=(-0.5, 0.1, 0.75))], *WIDE, ALONE)


def test_a_partner_is_named_with_its_rank_correlation():
    """Ranks 0 1 2 3 and 0 1 3 2: their squared differences add up to 2, so r = 1 - 6 * 2 / 60."""
    values = np.array([[0.0, 5.0, 0.0], [1.0, 3.0, 1.0], [2.0, 9.0, 30.0], [9.0, 1.0, 7.0]])
    effects = [effect_of(importance=9.0, name=name) for name in ("a", "b", "c")]
    predictions, weight = np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4)
    notes = describe_implausible(effects, predictions, weight, values)
    assert "other features, most with c (rank correlation 0.80), whose effects" in notes[0]
    assert "most with a (rank correlation 0.80)" in notes[2]
    chances = [effect_of(heights=(0.0, 1.44), name=name) for name in ("a", "b", "c")]
    assert "most with c" in describe_implausible(chances, predictions, weight, values)[0]
    alone = describe_implausible(effects[:1], predictions, weight, values[:, :1])[0]
    assert "rank correlation" not in alone


@pytest.mark.parametrize(("error", "is_told"), [(1.41, False), (1.42, True), (float("nan"), False)])
def test_an_importance_with_an_error_beyond_all_predictions_is_not_known(error, is_told):
    notes = describe_implausible([effect_of(importance=0.7, error=error)], *WIDE, ALONE)
    assert len(notes) == is_told
    for note in notes:
        assert re.match(r"the importance of age is unknown: its error \(1\.42\) exceeds", note)


TWO_CLOUDS = np.concatenate([np.linspace(0, 1, 60), np.linspace(9, 10, 60)])


def test_rows_without_a_value_are_counted_with_their_share():
    (note,) = describe_missing(SimpleNamespace(n_missing=1_500, missing_share=0.75), SURVEY, ".")
    assert (note.kind, note) == ("missing", "1,500 of 2,000 rows (75 %) have no value.")


def test_the_reason_of_a_model_is_one_line_and_not_too_long():
    assert "(no nan, please)" in without_point("  no nan, please\nTraceback: ...")
    reason = without_point("z" * 1_000)
    assert "z" * (MAX_MODEL_REASON_LETTERS - 1) + "…" in reason
    assert "z" * MAX_MODEL_REASON_LETTERS not in reason


def test_kept_curves_are_counted_where_some_rows_are_left_out():
    assert describe_curves(SURVEY, np.uint64(LAST), 2_000) == ()
    (note,) = describe_curves(SURVEY, np.uint64(LAST - 1), 1_000)
    assert note.kind == "sample"
    assert note.startswith("the curves of 1,000 of 2,000 rows are kept")


def test_outputs_of_which_curves_explain_little_are_named_and_counted():
    shares = {"a": 0.1, "b": 0.9, "c": -2.0, "d": 0.499, "e": 0.2, "f": float("nan")}
    (note,) = describe_explained(shares)
    assert note.kind == "explained variance"
    assert "10 % for 'a', -200 % for 'c', 50 % for 'd' (and little for 1 more) of the" in note
    assert "correlated features add up" in note
    assert describe_explained({"a": 0.5, "b": float("nan")}) == ()


@pytest.mark.parametrize(
    ("ways", "gradient", "windows"),
    [
        ({"gradient", "steps"}, True, True),
        ({"secants"}, False, True),
        ({"secants over bins"}, False, True),
        ({"jumps", "steps"}, False, False),  # walked trees are asked at every threshold
        ((), False, False),  # profiles are asked at their points
    ],
)
def test_a_low_share_is_blamed_on_what_can_have_missed_something(ways, gradient, windows):
    (note,) = describe_explained({"a": 0.1}, ways)
    assert "interactions (then the spread is large)" in note
    assert ("gradient cannot see" in note) == gradient
    assert ("finer than the windows" in note) == windows


def test_rows_outside_the_cells_are_counted_with_the_limits():
    x = np.array([-1.0, 0.0, 2.0, 4.0, 5.0])
    (note,) = describe_outside(5, cells(x))
    assert (note.kind, note) == ("outside", "2 of 5 rows lie outside [0, 4] and are left out")


def test_rows_beyond_the_points_of_a_profile_are_counted_with_its_ends():
    (note,) = describe_ends(1_200, 2_000, (0.0, 2.5), "number")
    assert note.kind == "outside"
    assert note.startswith(
        "1,200 of 2,000 rows lie outside [0, 2.5]; the model is evaluated on them, too"
    )
    assert describe_ends(0, 2_000, (0.0, 2.5), "number") == ()


def test_limits_of_dates_are_written_as_dates():
    low, high = as_numbers(["2024-01-01", "2024-02-01"], "date")
    (note,) = describe_outside(2, cells(np.array([low, high + 1]), low, high), kind="date")
    assert "[2024-01-01, 2024-02-01]" in note


def test_what_is_not_there_is_not_spoken_of():
    assert describe_missing(SimpleNamespace(n_missing=0, missing_share=0.0), SURVEY) == ()
    assert describe_outside(3, cells(np.array([0.0, 2.0, 4.0]))) == ()
    assert describe_ends(0, 3, (0.0, 4.0), "number") == ()
    assert describe_gaps(feature(np.linspace(0, 1, 200))) == ()


def test_a_gap_between_two_clouds_is_named_by_its_ends():
    (note,) = describe_gaps(feature(TWO_CLOUDS))
    assert note.kind == "gap"
    assert note.startswith("there are no rows between 1 and 9:")


def test_the_widest_gaps_are_named_and_the_others_counted():
    clouds = np.add.outer([0.0, 10, 30, 60, 100, 1e6], np.linspace(0, 1, 50)).ravel()
    (note,) = describe_gaps(feature(clouds), ACROSS)
    assert note.startswith(
        "there are no rows between 31 and 60, 61 and 100, 101 and 1e+06, and in 2 narrower gaps: the "
        "curve there is a straight line, whose change is that of the predictions of the nearest rows"
    )
