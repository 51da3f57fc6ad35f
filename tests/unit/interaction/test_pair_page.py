from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.pair_cases import make_interactions, three_numbers, with_levels

import rhale
from rhale.interaction.pair_effect import CORRELATED_NOTE_KIND, PairIndex
from rhale.interaction.report import (
    MAX_PAIR_MATRIX_FEATURES,
    MAX_RANKING_ROWS,
    format_variance_percent,
    make_pair_page,
)
from rhale.interaction.result import Interactions
from rhale.output.number_format import UNKNOWN_DASH
from rhale.output.text import Note


def indices(n_features, method="h"):
    """All pairs with strengths 1, 2, ... as numbers alone."""
    names = [f"x{i}" for i in range(n_features)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    made = tuple(PairIndex(p, "y", method, k + 1.0, 1e8) for k, p in enumerate(pairs))
    importance = np.ones((n_features, 1))
    return Interactions(tuple(names), ("y",), made, importance, np.array([1e8]), {"rows": 10})


def test_the_ranking_has_the_numbers_of_the_pairs():
    ix = with_levels()
    (output,) = make_pair_page(ix).outputs
    for row, pair in zip(output.ranking, ix.ranked(), strict=False):
        assert row.names == pair.names
        assert row.strength == pair.strength
        assert row.error == pair.strength_error
        assert row.share == pytest.approx(pair.share)
    assert len(output.ranking) + output.n_none == len(ix)
    assert [part.ranked for part in output.pairs] == list(output.ranking)


def test_pairs_that_do_not_interact_are_counted_and_not_listed():
    (output,) = make_pair_page(three_numbers()).outputs
    assert [row.names for row in output.ranking] == [("age", "income")]
    assert (output.n_weaker, output.n_none) == (0, 2)


def test_an_additive_model_has_a_page_too():
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    page = make_pair_page(make_interactions({"y": lambda r: r.sum(axis=1)}, rows, ["a", "b"]))
    (output,) = page.outputs
    assert output.pairs == ()
    assert [row.strength for row in output.ranking] == [0.0]


def test_the_matrix_is_that_of_the_interactions_reordered():
    ix = three_numbers()
    (output,) = make_pair_page(ix).outputs
    matrix, found = output.matrix, ix.matrix()
    order = [ix.features.index(name) for name in matrix.names]
    assert order[2] == 2  # rooms has no partner
    for i, row in zip(order, matrix.cells, strict=True):
        for j, cell in zip(order, row, strict=True):
            assert float(cell.words) == pytest.approx(found[i, j], rel=0.06, abs=1e-9)
    assert matrix.cells[0][1] == matrix.cells[1][0]
    assert matrix.cells[0][1].shade == 10
    assert matrix.cells[0][1].part == 0
    assert matrix.is_numbered


def test_what_was_not_measured_is_blank():
    ix = three_numbers()
    some = replace(ix, pairs=ix.pairs[:1])
    page = make_pair_page(some)
    blank = [cell for row in page.outputs[0].matrix.cells for cell in row if cell.shade is None]
    assert len(blank) == 4
    assert {cell.words for cell in blank} == {""}
    assert dict(page.facts)["Pairs"] == "1 of 3"


def test_many_features_are_cut_and_counted():
    (output,) = make_pair_page(indices(33)).outputs
    assert len(output.ranking) == MAX_RANKING_ROWS
    assert output.n_weaker == 33 * 32 // 2 - MAX_RANKING_ROWS
    assert len(output.matrix.names) == MAX_PAIR_MATRIX_FEATURES
    assert output.matrix.n_left == 3
    assert not output.matrix.is_numbered
    assert output.ranking[0].names == ("x31", "x32")


@pytest.mark.parametrize(
    ("method", "words"), [("h", "normalised H²"), ("greenwell", "factor"), ("shap", "SHAP")]
)
def test_numbers_alone_have_no_charts_and_a_meaning_of_their_own(method, words):
    page = make_pair_page(indices(4, method))
    assert page.outputs[0].pairs == ()
    assert words in page.sections[0].meaning


def test_every_output_has_its_own_ranking():
    rows = np.random.default_rng(0).uniform(size=(300, 3))
    functions = {"a": lambda r: r[:, 0] * r[:, 1], "b": lambda r: r[:, 1] * r[:, 2]}
    page = make_pair_page(make_interactions(functions, rows, ["x", "y", "z"]))
    assert [output.name for output in page.outputs] == ["a", "b"]
    assert [output.ranking[0].names for output in page.outputs] == [("x", "y"), ("y", "z")]
    assert "ix['x', 'y', 'a']" in page.sections[0].code


def test_shares_of_pairs_are_told_together():
    ix = with_levels()
    together = 100 * sum(pair.share for pair in ix.values())
    told = dict(make_pair_page(ix).facts)["Sum of the shares of these pairs"]
    assert float(told.split()[0]) == pytest.approx(together, rel=1e-2)


def test_notes_are_gathered_and_numbered():
    ix = three_numbers()
    pairs = tuple(replace(p, notes=(Note("missing", "3 rows are left out"),)) for p in ix.pairs[:2])
    ix = replace(ix, pairs=(*pairs, ix.pairs[2]), notes=("on the margin, where trees add up",))
    page = make_pair_page(ix)
    assert [note.text for note in page.notes] == [
        "on the margin, where trees add up",
        "3 rows are left out",
    ]
    assert page.notes[1].about == "age × income, age × rooms"  # noqa: RUF001 - as on the page
    assert page.outputs[0].ranking[0].notes == (1,)


def test_the_code_of_the_page_is_python_and_asks_the_same():
    asked = {"pairs": "[('age', 'income')]", "n_rows": "100"}
    ix = three_numbers()
    ix = replace(ix, provenance={**ix.provenance, "asked": asked})
    code = make_pair_page(ix).sections[0].code
    compile(code, "page", "exec")
    assert "rhale.interactions(" in code
    assert "pairs=[('age', 'income')],\n    n_rows=100," in code


def test_a_page_holds_plain_values():
    page = make_pair_page(three_numbers(), "A title")
    assert page.title == "A title"
    assert make_pair_page(three_numbers()).title == "Which features interact"


def test_small_numbers_are_told_as_such():
    assert format_variance_percent(None) == UNKNOWN_DASH
    row = make_pair_page(indices(3)).outputs[0].ranking[0]
    assert row.strength_in_words(3.0) == "3.000"


def test_partial_dependence_is_drawn_without_errors_and_claims_nothing():
    rows = np.random.default_rng(0).uniform(size=(300, 2))
    pdp = rhale.interactions(lambda r: r[:, 0] * r[:, 1], rows, pairs=[(0, 1)], method="pdp")
    page = make_pair_page(pdp)
    (part,) = page.outputs[0].pairs
    assert part.reading.startswith("Partial dependence comes without standard errors")
    assert {half for line in part.lines.lines for half in line.path.half} == {None}
    assert sum(height is not None for height in part.map.heights) == pdp.pairs[0].measured.sum()
    assert "far from the rows" in page.sections[0].meaning


def test_pairs_that_one_model_cannot_rank_are_marked():
    ix = three_numbers()
    first = ix.ranked()[0]
    pairs = tuple(
        replace(p, notes=(Note(CORRELATED_NOTE_KIND, "so"),)) if p is first else p for p in ix.pairs
    )
    rows = make_pair_page(replace(ix, pairs=pairs)).outputs[0].ranking
    assert [row.can_be_ranked for row in rows] == [False] + [True] * (len(rows) - 1)
