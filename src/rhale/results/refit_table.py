"""Results of refits as rows: what would come back, and every bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.sorting import correlate, rank_values
from rhale.results.captions import NO_CAPTIONS
from rhale.results.pair_table import label_pairs
from rhale.results.refit_effect import TRACED, RefitEffect
from rhale.results.refit_pair import RefitPair
from rhale.results.table_rows import Columns, add_labels

CORRELATED = 0.8  # from here on, a learner may take one feature for the other


def tabulate_refit_effects(
    effects: Sequence[RefitEffect], correlated: Mapping[str, Sequence[str]]
) -> Columns:
    """One row per feature and output: what would come back.

    Parameters
    ----------
    effects : sequence of RefitEffect
        In the order of the rows.
    correlated : mapping of str to sequence of str
        Features that each feature can hardly be told from (`find_correlated`).
    """
    ends = [effect.importance_ci() for effect in effects]
    columns: Columns = {
        "feature": [effect.name for effect in effects],
        "output": [effect.output for effect in effects],
        "importance": [effect.importance for effect in effects],
        "importance_low": [low for low, _ in ends],
        "importance_high": [high for _, high in ends],
        "importance_between": [effect.importance_between for effect in effects],
        "replicated": [effect.replicated for effect in effects],
        "p_value": [effect.p_value for effect in effects],
        "comes_back": [read_replication_verdict(effect) for effect in effects],
        "correlated_with": [", ".join(correlated[effect.name]) for effect in effects],
    }
    return label_refits(columns, effects)


def label_refits(columns: Columns, effects: Sequence[RefitEffect]) -> Columns:
    """Add what people read for the features and outputs of a table."""
    captions = effects[0].captions
    words = {"feature": captions.feature, "output": captions.output}
    return add_labels(columns, {key: list(map(read, columns[key])) for key, read in words.items()})


def read_replication_verdict(result: RefitEffect | RefitPair) -> bool | None:
    """Whether it comes back; None where nobody knows."""
    return None if np.isnan(result.p_value) else result.comes_back


def tabulate_refit_pairs(pairs: Sequence[RefitPair]) -> Columns:
    """One row per pair and output: which interactions would come back."""
    ends = [pair.strength_ci() for pair in pairs]
    columns: Columns = {
        "first": [pair.names[0] for pair in pairs],
        "second": [pair.names[1] for pair in pairs],
        "output": [pair.output for pair in pairs],
        "strength": [pair.strength for pair in pairs],
        "strength_low": [low for low, _ in ends],
        "strength_high": [high for _, high in ends],
        "strength_between": [pair.strength_between for pair in pairs],
        "replicated": [pair.replicated for pair in pairs],
        "p_value": [pair.p_value for pair in pairs],
        "comes_back": [read_replication_verdict(pair) for pair in pairs],
    }
    return label_pairs(columns, pairs[0].captions if pairs else NO_CAPTIONS)


def part_rows(effects: Sequence[RefitEffect]) -> Columns:
    """One row per feature, output and place: limits of bins, levels or points; missing values."""
    columns: Columns = {name: [] for name in PART_COLUMNS}
    for effect in effects:
        own = effect.table()
        n_rows = len(own["at"])
        own = {"feature": [effect.name] * n_rows, "output": [effect.output] * n_rows, **own}
        for name, cells in columns.items():
            cells += own[name]
    return label_refits(columns, effects)


PART_COLUMNS = ("feature", "output", "at", "x", *TRACED)


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
