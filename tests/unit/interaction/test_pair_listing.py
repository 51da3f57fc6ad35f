from dataclasses import dataclass, replace

import numpy as np

import rhale
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.table import (
    describe_estimators,
    pair_ranking,
    pairs_as_text,
    write_pair_explained_variance,
)
from rhale.output.labels import Captions

TOLD = {"model": "Forest", "method": "h", "rows": 1_000}


def indices(n, **fields):
    return [PairIndex((f"a{i}", "b"), "y", "h", 1 / (i + 1), 4.0, **fields) for i in range(n)]


def test_the_strongest_are_listed_and_the_others_counted():
    lines = pairs_as_text(indices(435), TOLD, ["a note"]).splitlines()
    assert lines[0] == "pairs by h of a Forest, 1,000 rows; from unnormalised H; on y"
    assert lines[1].split() == ["pair", "strength", "share", "notes"]
    assert lines[2].split() == ["a0", "\u00d7", "b", "1", "25", "%"]
    assert len(lines) == 2 + 20 + 2
    assert lines[-2:] == ["and 415 weaker ones: ix.to_frame() has all", "a note"]


def test_few_pairs_are_all_listed():
    assert "weaker" not in pairs_as_text(indices(20), TOLD, [])


def test_notes_are_numbered_and_written_once():
    pairs = indices(3, notes=("few rows", "links"))
    columns, n_left, remarks = pair_ranking(pairs)
    assert columns["notes"] == ["1, 2"] * 3
    assert (n_left, remarks) == (1, ["few rows", "links"])
    assert pairs_as_text(pairs, TOLD, []).endswith("1  few rows\n2  links")


def test_outputs_and_the_normalised_h_have_columns_where_there_are_any():
    other = PairIndex(("a", "b"), "z", "h", 0.5, 1.0, h2=0.125)
    columns, n_left, _ = pair_ranking([*indices(1), other])
    assert columns["output"] == ["y", "z"]
    assert columns["H²"] == ["", "0.12"]
    assert n_left == 2
    assert "output" not in pair_ranking(indices(2))[0]


def test_an_index_without_shares_has_no_column_of_them():
    greenwell = [PairIndex(("a", "b"), "y", "greenwell", 0.5, 1.0)]
    assert list(pair_ranking(greenwell)[0]) == ["pair", "strength", "notes"]


def test_every_way_is_told_once_and_none_where_nothing_was_asked():
    @dataclass
    class Told:
        how: str

    assert describe_estimators([Told("a"), Told(""), Told("b"), Told("a")]) == "; from a or b"
    assert describe_estimators([Told("")]) == ""


def test_long_names_are_cut_and_stay_on_one_line():
    pair = PairIndex(("x" * 99, "a\nb"), "y", "h", 0.5, 1.0)
    (name,) = pair_ranking([pair])[0]["pair"]
    assert name == "x" * 31 + "… \u00d7 a b"


def test_what_pairs_and_features_have_of_the_variance_is_told_and_not_added_up():
    told = write_pair_explained_variance(["y"], np.array([0.00096]), np.array([0.26]))
    assert told[0] == (
        "of the variance of the predictions, these pairs have < 0.1 %, single features 26 %: each "
        "counted by itself, which adds up only where features are independent"
    )
    told = write_pair_explained_variance(
        ["y", "z"], np.array([0.25, np.nan]), np.array([np.nan, 0.1])
    )
    assert [t.split(":")[0] for t in told] == [
        "of the variance of the predictions of 'y', these pairs have 25 %"
    ]


def test_small_shares_are_not_written_as_nothing():
    pairs = [PairIndex(("a", "b"), "y", "h", s, 1.0) for s in (0.5, 0.1, 0.031, 0.01, 0.0)]
    assert pair_ranking(pairs)[0]["share"] == ["25 %", "1 %", "< 0.1 %", "< 0.1 %", "0 %"]


def test_p_is_no_column_and_the_table_says_what_strengths_are_evidence_of():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    ix = rhale.interactions(lambda z: z[:, 0] * z[:, 1], rows, cells=4)
    assert list(pair_ranking(ix.ranked())[0]) == ["pair", "strength ± error", "share", "notes"]
    assert "rhale.refit(..., pairs='all') tells which pairs come back" in str(ix)
    assert "p < 0.001 of no interaction in this model" in str(ix["x0", "x1"])
    assert "refit" not in pairs_as_text(indices(2), TOLD, [])  # of H nothing is known


def test_people_read_captions():
    captions = Captions({"a0": "Age"}, {"y": "price"}, {"y": "$"})
    pairs = [replace(pair, captions=captions) for pair in indices(2)]
    head, _, first, _ = pairs_as_text(pairs, TOLD, []).splitlines()
    assert head.endswith("; on price ($)")
    assert first.startswith("Age \u00d7 b ")
