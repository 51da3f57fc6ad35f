"""Refits as rows of tables and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rhale.effects.table import Columns
from rhale.interaction.pair_effect import write_p
from rhale.interaction.table import PAIR_NAME_COLUMN, name_single_output
from rhale.output.columns import (
    FEATURE_COLUMN,
    MAX_LISTED_ROWS,
    OUTPUT_COLUMN,
    Column,
    Listing,
    TableRow,
    frame_only,
    lay_out,
    some,
    tabulate,
    words,
)
from rhale.output.frame import add_labels, stack_columns
from rhale.output.labels import NO_CAPTIONS
from rhale.output.number_format import UNKNOWN_DASH, write_between, write_digits
from rhale.output.text import name_few
from rhale.stability.compare import find_splits
from rhale.stability.refit_effect import TRACED, RefitEffect, RefitPair, rank_pairs
from rhale.stats.arrays import FloatArray, correlate, rank_values

CORRELATED = 0.8  # from here on, a learner may take one feature for the other

# --- Tables of refits: their columns, for data frame, `print`, notebook, page and command


@dataclass(frozen=True)
class RefitLine(TableRow):
    """An effect in a table of refits: features correlated with its own, and the end of all bars."""

    correlated: Sequence[str] = ()
    largest: float = 0.0

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Between what the mean importance, or strength, of all such retrainings is."""
        found = self.found
        return found.strength_ci() if isinstance(found, RefitPair) else found.importance_ci()

    @cached_property
    def splits(self) -> str:
        """Features that split the rows, and in how many retrained models."""
        return write_rules(self.found)

    @property
    def copies(self) -> str:
        """What people read for the features that go closely with this one."""
        return name_few([self.captions.feature(name) for name in self.correlated])


def list_size_columns(size: str) -> tuple[Column, ...]:
    """Columns that effects and pairs have alike; `size` is what their size is called."""

    def write_size(row: RefitLine) -> str:
        found, (low, high) = getattr(row, size), row.interval
        return write_known(found) if np.isnan(low) else write_between(found, low, high)

    return (
        OUTPUT_COLUMN,
        Column(size, f"{size} [95 %]", write_size),
        Column(f"{size}_low", value=lambda row: row.interval[0]),
        Column(f"{size}_high", value=lambda row: row.interval[1]),
        *frame_only(f"{size}_between"),
        Column("replicated", "corrected for chance", lambda row: write_known(row.replicated)),
        Column("p_value", "p-value of no effect", lambda row: write_p(row.p_value) or UNKNOWN_DASH),
        words("comes_back", "stable", write_answer, read_replication_verdict),
    )


def read_replication_verdict(result: Any) -> bool | None:
    """Whether it comes back; None where that is not known."""
    return None if np.isnan(result.p_value) else result.comes_back


def write_answer(result: Any) -> str:
    """Write whether it comes back; a dash where that is not known."""
    return {None: UNKNOWN_DASH, True: "yes", False: "no"}[read_replication_verdict(result)]


REFIT_COLUMNS = (
    FEATURE_COLUMN,
    *list_size_columns("importance"),
    words(None, "differs by (retrained models)", lambda row: row.splits, shown=some("splits")),
    words(
        "correlated_with",
        "correlated with",
        lambda row: row.copies,
        lambda row: ", ".join(row.correlated),
        shown=some("copies"),
    ),
)
REFIT_PAIR_COLUMNS = (
    PAIR_NAME_COLUMN,
    Column("first", value=lambda row: row.names[0]),
    Column("second", value=lambda row: row.names[1]),
    *list_size_columns("strength"),
)


def tabulate_refit_effects(
    effects: Sequence[RefitEffect], correlated: Mapping[str, Sequence[str]]
) -> Columns:
    """One row per feature and output: what would come back."""
    rows = [RefitLine(effect, correlated[effect.name]) for effect in effects]
    return add_labels(tabulate(rows, REFIT_COLUMNS), effects[0].captions)


def tabulate_refit_pairs(pairs: Sequence[RefitPair]) -> Columns:
    """One row per pair and output: which interactions would come back."""
    columns = tabulate([RefitLine(pair) for pair in pairs], REFIT_PAIR_COLUMNS)
    return add_labels(columns, pairs[0].captions if pairs else NO_CAPTIONS)


def part_rows(effects: Sequence[RefitEffect]) -> Columns:
    """One row per feature, output and place: limits of bins, levels or points; missing values."""
    parts = []
    for effect in effects:
        own = effect.table()
        table = {name: own[name] for name in ("at", "x", *TRACED)}
        parts.append(({"feature": effect.name, "output": effect.output}, table))
    return add_labels(stack_columns(parts), effects[0].captions)


def find_correlated(
    features: Sequence[str], sample: FloatArray, weight: FloatArray
) -> dict[str, list[str]]:
    """Features whose ranks go together so closely that a learner may take one for the other."""
    ranks = np.stack([rank_values(column) for column in sample.T])
    found: dict[str, list[str]] = {name: [] for name in features}
    for i, first in enumerate(features):
        for j, second in enumerate(features):
            if i != j and abs(correlate(ranks[i], ranks[j], weight)) > CORRELATED:
                found[first].append(second)
    return found


# --- Results of refits as text: the tables that `print` shows


REFIT_LEGEND = (
    "importance: average over retrained models [95 % interval]; corrected for chance: the part that "
    "retrained models agree on; p-value of no effect: how likely they agree as well by chance alone"
)


def list_refits(
    effects: Sequence[RefitEffect],
    provenance: Mapping[str, Any],
    remarks: Sequence[str],
    correlated: Mapping[str, Sequence[str]] | None = None,
    pairs: Sequence[RefitPair] = (),
    columns: Sequence[Column] = REFIT_COLUMNS,
) -> Listing:
    """What would come back, in the order of the effects; and pairs, by what comes back."""
    shown, copies = effects[:MAX_LISTED_ROWS], correlated or {}
    largest = float(
        np.nanmax([*(e.importance for e in shown), *(e.importance_ci()[1] for e in shown)])
    )
    rows = [RefitLine(effect, copies.get(effect.name, ()), largest) for effect in shown]
    n_more = len(effects) - len(rows)
    more = f"and {n_more:,} more: rx.replication() has all" if n_more else ""
    tables = [lay_out(rows, columns, more)]
    if pairs:
        ranked = rank_pairs(pairs)
        pair_rows = [RefitLine(pair) for pair in ranked[:MAX_LISTED_ROWS]]
        n_more = len(ranked) - len(pair_rows)
        more = f"and {n_more:,} more: rx.replication(pairs=True) has all" if n_more else ""
        tables.append(lay_out(pair_rows, REFIT_PAIR_COLUMNS, more))
    notes = (REFIT_LEGEND, *remarks)
    head = f"{refit_title(provenance)}{name_single_output(effects)}"
    return Listing(head, tuple(tables), notes=notes)


def write_rules(effect: RefitEffect) -> str:
    """Name the features that split the rows, and in how many trainings."""
    found = find_splits(effect)
    named = sorted(found, key=lambda name: -len(found[name]))
    return name_few(
        [f"{effect.captions.feature(n)} ({len(found[n])} of {effect.n_trainings})" for n in named]
    )


def write_known(number: float) -> str:
    """Write a number; a dash where it is not known."""
    return UNKNOWN_DASH if np.isnan(number) else write_digits(number)


def refit_title(provenance: Mapping[str, Any]) -> str:
    """Say in one line what was trained, and on what."""
    n = provenance.get("trainings", 0)
    learner, scheme = provenance.get("learner", "model"), provenance.get("scheme", "")
    rows = provenance.get("rows", 0)
    how = f", {scheme}" if scheme else ""
    by = provenance.get("method", "?")
    return f"{n} retrained models ({learner}{how}), explained on {rows:,} rows by {by}"
