"""Pairs as rows of tables and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rhale.effects.listing import MAX_NAMED_IN_SENTENCE, align_signs, aligned, shorten_name, title
from rhale.effects.table import UNDEFINED, Columns, add_labels, short_notes
from rhale.interaction.pair_effect import (
    PAIR_NAME_SEPARATOR,
    PairEffect,
    PairResult,
    can_be_ranked,
    write_part,
    write_strength_with_error,
)
from rhale.output.labels import NO_CAPTIONS, Captions
from rhale.output.note import as_notes
from rhale.output.number_format import write_number
from rhale.stability.refit_effect import RefitPair
from rhale.stats.arrays import FloatArray


def tabulate_pairs(pairs: Sequence[PairResult], *, errors: bool = True) -> Columns:
    """One row per pair and output, in the given order."""
    columns: Columns = {
        "first": [pair.names[0] for pair in pairs],
        "second": [pair.names[1] for pair in pairs],
        "output": [pair.output for pair in pairs],
        "strength": [float(pair.strength) for pair in pairs],
        "strength_error": [float(pair.strength_error) if errors else UNDEFINED for pair in pairs],
        "p_value": [float(pair.p_value) if errors else UNDEFINED for pair in pairs],
        "share": [float(pair.share) for pair in pairs],
        "rank_correlation": [
            pair.rank_correlation if isinstance(pair, PairEffect) else UNDEFINED for pair in pairs
        ],
        "can_be_ranked": [can_be_ranked(pair) for pair in pairs],
        "cells": [int(pair.n_cells) for pair in pairs],
        "unmeasured": [int(pair.n_unmeasured) for pair in pairs],
        "left_out": [int(pair.n_left_out) for pair in pairs],
        "method": [pair.method for pair in pairs],
        "h2": [float(pair.h2) for pair in pairs],
        "notes": [short_notes(as_notes(pair.notes)) for pair in pairs],
    }
    return label_pairs(columns, pairs[0].captions if pairs else NO_CAPTIONS)


def label_pairs(columns: Columns, captions: Captions) -> Columns:
    """Add what people read for the features and outputs of a table of pairs."""
    words = {"first": captions.feature, "second": captions.feature, "output": captions.output}
    return add_labels(columns, {key: list(map(read, columns[key])) for key, read in words.items()})


def cell_rows(pairs: Sequence[PairResult]) -> Columns:
    """One row per pair, output and cell; pairs without a surface have none."""
    columns: Columns = {"first": [], "second": [], "output": []}
    for pair in pairs:
        table = pair.table()
        n_rows = pair.n_cells
        columns["first"] += [pair.names[0]] * n_rows
        columns["second"] += [pair.names[1]] * n_rows
        columns["output"] += [pair.output] * n_rows
        for name, values in table.items():
            columns.setdefault(name, []).extend(values)
    return label_pairs(columns, pairs[0].captions if pairs else NO_CAPTIONS)


# --- Pairs as text: the ranked table that `print` and the command show


MAX_LISTED_PAIRS = 20
EVIDENCE_NOTE = (
    "strengths and errors are of this model; rhale.refit(..., pairs='all') tells "
    "which pairs come back after another training, and ranks them by that"
)


def pairs_as_text(
    ranked: Sequence[PairResult],
    provenance: Mapping[str, Any],
    notes: Sequence[str],
    most: int = MAX_LISTED_PAIRS,
) -> str:
    """Write the ranked table that `print` shows."""
    columns, n_left, remarks = pair_ranking(ranked[:most])
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    footer = (
        [f"and {len(ranked) - most:,} weaker ones: ix.to_frame() has all"]
        if len(ranked) > most
        else []
    )
    footer += [f"{number}  {note}" for number, note in enumerate(remarks, start=1)]
    footer += note_evidence(ranked)
    head = f"pairs by {title(provenance)}{describe_estimators(ranked)}{name_single_output(ranked)}"
    return "\n".join([head, *table, *footer, *notes])


def describe_estimators(pairs: Sequence[PairResult]) -> str:
    """Say how strengths were found; nothing about features that have one value."""
    ways = list(dict.fromkeys(pair.how for pair in pairs if pair.how))
    return f"; from {' or '.join(ways)}" if ways else ""


def pair_ranking(ranked: Sequence[PairResult]) -> tuple[dict[str, list[str]], int, list[str]]:
    """The cells of the ranked table, as `listing.ranking` gives those of features."""
    remarks: dict[str, int] = {}
    columns = {"pair": [write_pair_name(captioned(pair)) for pair in ranked]}
    if len({pair.output for pair in ranked}) > 1:
        columns["output"] = [shorten_name(pair.captions.output(pair.output)) for pair in ranked]
    n_left = len(columns)
    has_errors = any(not np.isnan(pair.strength_error) for pair in ranked)
    sizes = align_signs(list(map(write_strength_with_error, ranked)))
    columns["strength ± error" if has_errors else "strength"] = sizes
    if any(np.isfinite(pair.share) for pair in ranked):
        columns["share"] = [write_part(pair.share) for pair in ranked]
    if any(not np.isnan(pair.h2) for pair in ranked):
        columns["H²"] = ["" if np.isnan(pair.h2) else write_number(pair.h2, 2) for pair in ranked]
    marks = [[remarks.setdefault(n, len(remarks) + 1) for n in pair.notes] for pair in ranked]
    columns["notes"] = [", ".join(map(str, numbers)) for numbers in marks]
    return columns, n_left, list(remarks)


def note_evidence(pairs: Sequence[PairResult]) -> list[str]:
    """Say what strengths are evidence of, where there are any."""
    return [EVIDENCE_NOTE] if any(p.method == "ale" and p.strength > 0 for p in pairs) else []


def name_single_output(pairs: Sequence[PairResult]) -> str:
    """Name the one output of pairs; nothing where a column does."""
    outputs = {pair.output for pair in pairs}
    return (
        f"; on {shorten_name(pairs[0].captions.value_axis(outputs.pop()))}"
        if len(outputs) == 1
        else ""
    )


def captioned(pair: PairResult | RefitPair) -> tuple[str, str]:
    """What people read for the features of a pair."""
    first, second = map(pair.captions.feature, pair.names)
    return first, second


def write_pair_name(names: tuple[str, str]) -> str:
    """Write the names of a pair on one line.

    Examples
    --------
    >>> write_pair_name(("age", "income")).split(PAIR_NAME_SEPARATOR)
    ['age', 'income']
    """
    return PAIR_NAME_SEPARATOR.join(map(shorten_name, names))


def write_pair_explained_variance(
    outputs: Sequence[str], pairs: FloatArray, singles: FloatArray
) -> list[str]:
    """Say how much of the variance pairs have, and features alone, each counted by itself.

    `pairs` and `singles` (n_outputs,) are shares of the variance; nan where they are not known.
    """
    told = []
    for output, pair, single in list(zip(outputs, pairs, singles, strict=True))[
        :MAX_NAMED_IN_SENTENCE
    ]:
        where = f" of {shorten_name(output)!r}" if len(outputs) > 1 else ""
        alone = f", single features {write_part(single)}" if np.isfinite(single) else ""
        if np.isfinite(pair):
            told.append(
                f"of the variance of the predictions{where}, these pairs have {write_part(pair)}"
                f"{alone}: each counted by itself, which adds up only where features are independent"
            )
    return told
