"""Pairs as rows of tables: one for each pair, or one for each cell of its surface."""

from __future__ import annotations

from collections.abc import Sequence

from rhale.results.captions import NO_CAPTIONS, Captions
from rhale.results.note import as_notes
from rhale.results.pair_effect import PairEffect, PairResult, can_be_ranked
from rhale.results.table_rows import UNDEFINED, Columns, add_labels, short_notes


def tabulate_pairs(pairs: Sequence[PairResult], *, errors: bool = True) -> Columns:
    """One row per pair and output, in the given order.

    Parameters
    ----------
    pairs : sequence of PairResult
        The pairs.
    errors : bool
        Whether errors and p-values are found, which takes some 40 ms a pair; nan if not.
    """
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
