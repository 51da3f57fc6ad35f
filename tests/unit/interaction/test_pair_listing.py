from dataclasses import dataclass, replace

import numpy as np

import rhale
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.table import describe_estimators, list_pairs, write_pair_explained_variance
from rhale.output.labels import Captions

TOLD = {"model": "Forest", "method": "h", "rows": 1_000}


def told_by(*given):
    return str(list_pairs(*given))


def columns_of(pairs):
    """Cells by header."""
    headers, *rows = list_pairs(pairs, TOLD, []).tables[0].texts
    return {name: [row[i].strip() for row in rows] for i, name in enumerate(headers)}


def indices(n, **fields):
    return [PairIndex((f"a{i}", "b"), "y", "h", 1 / (i + 1), 4.0, **fields) for i in range(n)]


def test_the_strongest_are_listed_and_the_others_counted():
    lines = told_by(indices(435), TOLD, ["a note"]).splitlines()
    assert lines[0] == "interactions by h of a Forest, 1,000 rows; from unnormalised H; on y"
    assert lines[1].split() == ["pair", "strength", "share", "of", "prediction", "variance"]
    assert lines[2].split() == ["a0", "\u00d7", "b", "1", "25", "%"]
    assert len(lines) == 2 + 20 + 2
    assert lines[-2:] == ["and 415 weaker ones: ix.to_frame() has all", "a note"]


def test_few_pairs_are_all_listed():
    assert "weaker" not in told_by(indices(20), TOLD, [])


def test_notes_are_numbered_and_written_once():
    pairs = indices(3, notes=("few rows", "links"))
    assert columns_of(pairs)["notes"] == ["1, 2"] * 3
    assert list_pairs(pairs, TOLD, []).remarks == ("few rows", "links")
    assert told_by(pairs, TOLD, []).endswith("1  few rows\n2  links")


def test_outputs_and_the_normalised_h_have_columns_where_there_are_any():
    other = PairIndex(("a", "b"), "z", "h", 0.5, 1.0, h2=0.125)
    columns = columns_of([*indices(1), other])
    assert columns["output"] == ["y", "z"]
    assert columns["H²"] == ["", "0.12"]
    assert list(columns)[:2] == ["pair", "output"]
    assert "output" not in columns_of(indices(2))


def test_an_index_without_shares_has_no_column_of_them():
    greenwell = [PairIndex(("a", "b"), "y", "greenwell", 0.5, 1.0)]
    assert list(columns_of(greenwell)) == ["pair", "strength"]


def test_every_way_is_told_once_and_none_where_nothing_was_asked():
    @dataclass
    class Told:
        how: str

    assert describe_estimators([Told("a"), Told(""), Told("b"), Told("a")]) == "; from a or b"
    assert describe_estimators([Told("")]) == ""


def test_long_names_are_cut_and_stay_on_one_line():
    pair = PairIndex(("x" * 99, "a\nb"), "y", "h", 0.5, 1.0)
    (name,) = columns_of([pair])["pair"]
    assert name == "x" * 31 + "… \u00d7 a b"


def test_what_pairs_and_features_have_of_the_variance_is_told_and_not_added_up():
    told = write_pair_explained_variance(["y"], np.array([0.00096]), np.array([0.26]))
    assert told[0] == (
        "relative to the variance of the predictions, the variances of these joint effects sum to "
        "< 0.1 %, of the effects of single features 26 %; such sums are explained shares only where "
        "features are independent (correlated ones count twice)"
    )
    told = write_pair_explained_variance(
        ["y", "z"], np.array([0.25, np.nan]), np.array([np.nan, 0.1])
    )
    (said,) = told
    assert said.startswith("relative to the variance of the predictions of 'y', the variances of")
    assert "sum to 25 %;" in said


def test_small_shares_are_not_written_as_nothing():
    pairs = [PairIndex(("a", "b"), "y", "h", s, 1.0) for s in (0.5, 0.1, 0.031, 0.01, 0.0)]
    assert columns_of(pairs)["share of prediction variance"] == [
        "25 %",
        "1 %",
        "< 0.1 %",
        "< 0.1 %",
        "0 %",
    ]


def test_p_is_no_column_and_the_table_says_what_strengths_are_evidence_of():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 1], rows, cells=4)
    wanted = ["pair", "strength ± error", "share of prediction variance"]
    assert list(columns_of(ix.ranked())) == wanted
    assert "rhale.refit(..., pairs='all') shows which interactions come back" in str(ix)
    assert "typical size of the joint effect (interaction only)" in str(ix)
    assert "p < 0.001 of no interaction in this model" in str(ix["x0", "x1"])
    assert "refit" not in told_by(indices(2), TOLD, [])  # of H nothing is known


def test_people_read_captions():
    captions = Captions({"a0": "Age"}, {"y": "price"}, {"y": "$"})
    pairs = [replace(pair, captions=captions) for pair in indices(2)]
    head, _, first, _ = told_by(pairs, TOLD, []).splitlines()
    assert head.endswith("; on price ($)")
    assert first.startswith("Age \u00d7 b ")
