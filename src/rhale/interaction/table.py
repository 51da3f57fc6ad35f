"""Pairs as rows of tables and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.effects.listing import title
from rhale.effects.table import UNDEFINED, Columns
from rhale.interaction.pair_effect import (
    PAIR_NAME_SEPARATOR,
    PairResult,
    can_be_ranked,
    write_strength_with_error,
)
from rhale.output.columns import (
    MAX_LISTED_ROWS,
    OUTPUT_COLUMN,
    Column,
    Listing,
    TableRow,
    frame_only,
    isolate,
    lay_out,
    number_notes,
    some,
    tabulate,
    words,
)
from rhale.output.frame import add_labels, stack_columns
from rhale.output.labels import NO_CAPTIONS
from rhale.output.number_format import write_number, write_share
from rhale.output.text import MAX_NAMED_IN_SENTENCE, SIGN, as_notes, short_notes, shorten_name
from rhale.stability.refit_effect import RefitPair
from rhale.stats.arrays import FloatArray

# --- The ranked table of pairs: its columns, for data frame, `print`, notebook, page and command


@dataclass(frozen=True)
class PairRow(TableRow):
    """A pair in a table: numbers of its notes, the largest strength, whether errors are wanted."""

    marks: str = ""
    largest: float = 0.0
    errors: bool = True


def name_strength(rows: Sequence[PairRow]) -> str:
    """The header of strengths: with their errors, where these are known."""
    has_errors = any(not np.isnan(row.strength_error) for row in rows)
    return "strength" + (f"{SIGN}error" if has_errors else "")


def isolate_pair_name(row: Any) -> str:
    """The names of a pair as HTML, each in its own direction of writing."""
    return PAIR_NAME_SEPARATOR.join(isolate(shorten_name(name)) for name in captioned(row))


PAIR_NAME_COLUMN = words(
    None, "pair", lambda row: write_pair_name(captioned(row)), markup=isolate_pair_name
)
PAIR_COLUMNS = (
    PAIR_NAME_COLUMN,
    Column("first", value=lambda row: row.names[0]),
    Column("second", value=lambda row: row.names[1]),
    OUTPUT_COLUMN,
    Column("strength", name_strength, write_strength_with_error, lambda row: float(row.strength)),
    Column("strength_error", value=lambda r: float(r.strength_error) if r.errors else UNDEFINED),
    Column("p_value", value=lambda row: float(row.p_value) if row.errors else UNDEFINED),
    Column(
        "share",
        "share of prediction variance",
        lambda row: write_share(row.share),
        lambda row: float(row.share),
        shown=lambda rows: any(np.isfinite(row.share) for row in rows),
    ),
    Column("rank_correlation", value=lambda row: getattr(row, "rank_correlation", UNDEFINED)),
    Column("can_be_ranked", value=can_be_ranked),
    Column("cells", value=lambda row: int(row.n_cells)),
    Column("unmeasured", value=lambda row: int(row.n_unmeasured)),
    Column("left_out", value=lambda row: int(row.n_left_out)),
    *frame_only("method"),
    Column(
        "h2",
        "H²",
        lambda row: "" if np.isnan(row.h2) else write_number(row.h2, 2),
        lambda row: float(row.h2),
        shown=lambda rows: any(not np.isnan(row.h2) for row in rows),
    ),
    words(
        "notes",
        "notes",
        lambda row: row.marks,
        lambda row: short_notes(as_notes(row.notes)),
        shown=some("marks"),
    ),
)


def tabulate_pairs(pairs: Sequence[PairResult], *, errors: bool = True) -> Columns:
    """One row per pair and output, in the given order, and what people read for both."""
    columns = tabulate([PairRow(pair, errors=errors) for pair in pairs], PAIR_COLUMNS)
    return add_labels(columns, pairs[0].captions if pairs else NO_CAPTIONS)


def cell_rows(pairs: Sequence[PairResult]) -> Columns:
    """One row per pair, output and cell; pairs without a surface have none."""
    parts = [
        ({"first": pair.names[0], "second": pair.names[1], "output": pair.output}, pair.table())
        for pair in pairs
    ]
    columns = stack_columns(parts) if parts else {"first": [], "second": [], "output": []}
    return add_labels(columns, pairs[0].captions if pairs else NO_CAPTIONS)


STRENGTH_NOTE = (
    "strength: typical size of the joint effect (interaction only), in units of the output"
)
EVIDENCE_NOTE = (
    "strengths and errors are of this model; rhale.refit(..., pairs='all') shows "
    "which interactions come back in retrained models, and ranks them by that"
)


def list_pairs(
    ranked: Sequence[PairResult],
    provenance: Mapping[str, Any],
    notes: Sequence[str],
    columns: Sequence[Column] = PAIR_COLUMNS,
    most: int = MAX_LISTED_ROWS,
) -> Listing:
    """The ranked table that `print` shows."""
    shown = ranked[:most]
    marks, remarks = number_notes([pair.notes for pair in shown])
    largest = max((pair.strength for pair in shown), default=0.0)
    rows = [PairRow(pair, mark, largest) for pair, mark in zip(shown, marks, strict=True)]
    n_more = len(ranked) - len(shown)
    more = f"and {n_more:,} weaker ones: ix.to_frame() has all" if n_more else ""
    head = f"interactions by {title(provenance)}{describe_estimators(ranked)}{name_single_output(ranked)}"
    notes = (*note_evidence(ranked), *notes)
    return Listing(head, (lay_out(rows, columns, more),), remarks, notes)


def describe_estimators(pairs: Sequence[PairResult]) -> str:
    """Say how strengths were found; nothing about features that have one value."""
    ways = list(dict.fromkeys(pair.how for pair in pairs if pair.how))
    return f"; from {' or '.join(ways)}" if ways else ""


def note_evidence(pairs: Sequence[PairResult]) -> list[str]:
    """Say what strengths are, and what they are evidence of, where there are any."""
    found = any(p.method == "ale" and p.strength > 0 for p in pairs)
    return [STRENGTH_NOTE, EVIDENCE_NOTE] if found else []


def name_single_output(results: Sequence[Any]) -> str:
    """Name the one output of results; nothing where a column does."""
    outputs = {result.output for result in results}
    if len(outputs) != 1:
        return ""
    return f"; on {shorten_name(results[0].captions.value_axis(outputs.pop()))}"


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
    """Say how large the variances of pairs are, and of features alone, each counted by itself.

    `pairs` and `singles` (n_outputs,) are shares of the variance; nan where they are not known.
    """
    known = [found for found in zip(outputs, pairs, singles, strict=True) if np.isfinite(found[1])]
    sentences = []
    for output, pair, single in known[:MAX_NAMED_IN_SENTENCE]:
        where = f" of {shorten_name(output)!r}" if len(outputs) > 1 else ""
        alone = f", of the effects of single features {write_share(single)}"
        sentences.append(
            f"relative to the variance of the predictions{where}, the variances of these joint "
            f"effects sum to {write_share(pair)}{alone if np.isfinite(single) else ''}; such sums are "
            "explained shares only where features are independent (correlated ones count twice)"
        )
    return sentences
