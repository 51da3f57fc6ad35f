import math
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.refit_cases import SLOPES, X, straight, two_outputs, with_levels, with_pairs

import rhale
from rhale.output.number_format import UNKNOWN_DASH
from rhale.stability.replication import Overlap
from rhale.stability.report import MAX_REFIT_PAIR_ROWS, make_refit_page


def same_rows():
    """All trainings had the same rows: there is no interval, and nothing is known to come back."""
    rx = straight()
    n_trainings = rx.n_trainings
    sizes = np.full(n_trainings, 50)
    return replace(rx, overlap=Overlap(np.full((n_trainings, n_trainings), 0.02), sizes, 101))


def test_rows_have_the_numbers_of_the_refits():
    rx = straight()
    (output,) = make_refit_page(rx).outputs
    for part, effect in zip(output.parts, rx.ranked(), strict=True):
        assert part.row.names == (effect.name,)
        assert part.row.size == effect.importance
        assert (part.row.low, part.row.high) == effect.importance_ci()
        assert part.row.replicated == effect.replicated
        assert part.row.comes_back == ("yes" if effect.comes_back else "no")


def test_a_straight_line_has_the_size_of_its_slope():
    (output,) = make_refit_page(straight()).outputs
    assert output.parts[0].row.size == pytest.approx(SLOPES.mean() * X.std())


def test_without_other_rows_nothing_is_known_to_come_back():
    page = make_refit_page(same_rows())
    assert not page.sections[0].has_intervals
    row = page.outputs[0].parts[0].row
    assert row.comes_back == row.p == UNKNOWN_DASH
    assert row.high is None
    assert row.size_in_words(0.9) == f"{row.size:.3f}"
    assert page.outputs[0].largest == row.size


def test_pairs_are_ranked_by_what_comes_back():
    page = make_refit_page(with_pairs(straight()))
    names = [row.names for row in page.outputs[0].pairs]
    assert names == [("age", "noise"), ("noise", "age")]
    assert [row.comes_back for row in page.outputs[0].pairs] == ["yes", "no"]


def test_pairs_beyond_the_table_are_counted():
    rx = with_pairs(straight())
    many = replace(rx, pairs=rx.pairs * MAX_REFIT_PAIR_ROWS)
    (output,) = make_refit_page(many).outputs
    assert len(output.pairs) == MAX_REFIT_PAIR_ROWS
    assert output.n_left == MAX_REFIT_PAIR_ROWS


def test_failures_come_before_notes_and_name_the_training():
    page = make_refit_page(with_pairs(straight()))
    assert page.notes[0].text == "Training 3 failed: it <b>broke</b>"
    assert page.notes[1].text == straight().notes[0]
    assert ("Retrainings", "6, models as given, 1 failed") in page.facts


def test_notes_of_trainings_are_told_once_a_kind():
    page = make_refit_page(with_levels())
    texts = [note.text for note in page.notes]
    assert len(texts) == len(set(texts))
    assert not [text for text in texts if "limits moved" in text]
    for part in page.outputs[0].parts:
        assert all(0 <= place < len(texts) for place in part.row.notes)


def test_copies_are_named():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    rows[:, 1] = rows[:, 0] + 0.01 * rows[:, 1]
    models = [lambda r, a=a: a * r[:, 0] for a in SLOPES]
    rx = rhale.refits(models, rows, scheme="independent")
    page = make_refit_page(rx)
    assert page.sections[0].has_correlated
    assert {part.row.names[0]: part.row.correlated for part in page.outputs[0].parts} == {
        "x0": "x1",
        "x1": "x0",
    }
    assert "each trained on its own data." in page.sections[0].trained


def test_each_output_is_ranked_by_itself():
    first, second = make_refit_page(two_outputs()).outputs
    assert [part.row.names[0] for part in first.parts] == ["x0", "x1"]
    assert [part.row.names[0] for part in second.parts] == ["x1", "x0"]


def test_a_page_says_what_was_trained_and_how_to_do_so_again():
    page = make_refit_page(straight(own=True), "A title")
    assert page.title == "A title"
    assert page.sections[0].has_own
    assert not make_refit_page(straight()).sections[0].has_own
    assert page.sections[0].trained.startswith("6 models (function) were given")
    assert "(50 to 51 of 101)" in page.sections[0].trained
    assert "rhale.refits(\n    models,\n    X,\n    train=train,\n" in page.sections[0].code
    assert make_refit_page(straight()).title.startswith("Which effects are stable when the model")


@pytest.mark.parametrize(
    ("scheme", "words", "call"),
    [
        ("half-samples", "a random half", "scheme='half-samples',\n    n_refits=6"),
        ("own rows", "the rows that were given", "y,\n    train=train"),
    ],
)
def test_schemes_are_told_in_words(scheme, words, call):
    rx = straight()
    page = make_refit_page(replace(rx, provenance={**rx.provenance, "scheme": scheme}))
    assert f"was trained 6 times, each time on {words}" in page.sections[0].trained
    assert call in page.sections[0].code


def test_no_number_of_a_row_is_nan():
    for rx in (straight(), same_rows(), with_levels(), two_outputs()):
        for output in make_refit_page(rx).outputs:
            for part in output.parts:
                row = part.row
                for value in (row.size, row.low, row.high, row.replicated):
                    assert value is None or math.isfinite(value)


def test_profiles_have_places_and_no_bins():
    rows = np.random.default_rng(0).normal(size=(60, 1))
    models = [lambda r, a=a: a * r[:, 0] for a in SLOPES]
    rx = rhale.refits(models, rows, scheme="independent", method="pdp")
    page = make_refit_page(rx)
    assert "at the same places" in page.sections[0].trained
    assert "with the same bins" in make_refit_page(straight()).sections[0].trained
    assert page.outputs[0].parts[0].shape.form == "curve"


def test_what_is_but_rounding_does_not_come_back():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    models = [lambda r, a=a: a * (r[:, 0] + 1e-13 * r[:, 1]) for a in SLOPES]
    rx = rhale.refits(models, rows, scheme="independent")
    page = make_refit_page(rx)
    first, second = (part.row for part in page.outputs[0].parts)
    assert first.comes_back == "yes"
    assert (second.size, second.low, second.high, second.replicated) == (0.0, 0.0, 0.0, 0.0)
    assert (second.p, second.comes_back) == (UNKNOWN_DASH, "no")
    assert page.outputs[0].parts[1].reading == "x1 has no effect in any retrained model."
    assert page.outputs[0].reading == "1 of 2 features have a stable effect."


def test_small_effects_keep_their_interval():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    models = [lambda r, a=a: a * (1e6 * r[:, 0] + 2e-3 * r[:, 1]) for a in SLOPES]
    rx = rhale.refits(models, rows, scheme="independent")
    row = make_refit_page(rx).outputs[0].parts[1].row
    assert (row.low, row.high) == rx["x1"].importance_ci()
    assert 0 < row.low < row.size < row.high
