from dataclasses import replace

import numpy as np
from tests.unit.conftest import NASTY
from tests.unit.interaction.test_pair_page import indices
from tests.unit.report.pair_cases import three_numbers, with_levels
from tests.unit.report.test_render import parsed

from rhale.interaction.pair_effect import CORRELATED_NOTE_KIND, PairIndex
from rhale.output.labels import Captions
from rhale.output.number_format import write_with_error
from rhale.output.text import Note


def test_the_strongest_pair_comes_first_with_its_numbers():
    ix = with_levels()
    html = ix._repr_html_()
    first = html.split("<tbody><tr>")[1].split("</tr>")[0]
    assert "<bdi>income</bdi> × <bdi>region</bdi>" in first  # noqa: RUF001 - as shown
    strongest = ix.ranked()[0]
    assert write_with_error(strongest.strength, strongest.strength_error) in first
    assert "<th" in html
    assert "script" not in html


def test_numbers_alone_have_no_error_and_no_p():
    html = indices(7)._repr_html_()
    assert ">p</th>" not in html
    assert "and 1 weaker ones: ix.to_frame() has all" in html


def test_words_of_the_user_make_no_element():
    ix = three_numbers()
    pairs = tuple(replace(p, names=(NASTY[0], NASTY[1]), output=NASTY[2]) for p in ix.pairs)
    nasty = replace(ix, pairs=pairs, outputs=(NASTY[2],), notes=(NASTY[0],))
    tags = {tag for tag, _ in parsed(nasty._repr_html_()).tags}
    assert tags <= {tag for tag, _ in parsed(ix._repr_html_()).tags} | {"p"}


def test_several_outputs_are_named():
    ix = three_numbers()
    two = (*ix.pairs, *(replace(p, output="z") for p in ix.pairs))
    importance, variance = np.repeat(ix.importance, 2, axis=1), np.repeat(ix.variance, 2)
    both = replace(ix, outputs=("y", "z"), pairs=two, importance=importance, variance=variance)
    html = both._repr_html_()
    assert ">output</th>" in html
    assert "<bdi>z</bdi>" in html


def test_one_pair_shows_its_map_and_what_it_says():
    ix = with_levels()
    strongest, *_, weakest = ix.ranked()
    html = strongest._repr_html_()
    assert html.count("<svg") == 1
    for told in (">income<", ">region<", "of the variance", "cells without rows are hatched"):
        assert told in html
    assert "<script" not in html
    assert len(html) < 100_000
    nothing = replace(weakest, captions=Captions({name: f"<b>{name}" for name in weakest.names}))
    assert "<b>" + weakest.names[0] not in nothing._repr_html_()


def test_an_index_has_words_and_no_map():
    html = PairIndex(("a", "b"), "y", "h", 0.5, 1.0)._repr_html_()
    assert "<svg" not in html
    assert "strength 0.5" in html


def test_pairs_that_one_model_cannot_rank_have_a_number_that_is_explained_and_not_folded():
    ix = three_numbers()
    assert "cannot be ranked" not in ix._repr_html_()
    first = ix.ranked()[0]
    note = Note(CORRELATED_NOTE_KIND, "cannot be ranked by this model: a copy")
    pairs = tuple(replace(p, notes=(note,)) if p is first else p for p in ix.pairs)
    html = replace(ix, pairs=pairs)._repr_html_()
    assert html.count("<bdi>1</bdi></td>") == 1
    assert "<p>1 cannot be ranked by this model: a copy</p>" in html
    assert ">p</th>" not in html
