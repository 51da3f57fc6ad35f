"""Refits as rows of tables and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rhale.effects.listing import MAX_LISTED_ROWS, aligned, name_few, shorten_name
from rhale.effects.table import Columns, add_labels
from rhale.interaction.pair_effect import write_p
from rhale.interaction.table import MAX_LISTED_PAIRS, captioned, label_pairs, write_pair_name
from rhale.output.labels import NO_CAPTIONS
from rhale.output.number_format import write_between, write_number
from rhale.stability.compare import find_splits
from rhale.stability.refit_effect import TRACED, RefitEffect, RefitPair, rank_pairs
from rhale.stats.arrays import FloatArray, correlate, rank_values

CORRELATED = 0.8  # from here on, a learner may take one feature for the other


def tabulate_refit_effects(
    effects: Sequence[RefitEffect], correlated: Mapping[str, Sequence[str]]
) -> Columns:
    """One row per feature and output: what would come back."""
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
    """Whether it comes back; None where that is not known."""
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


# --- Results of refits as text: the table that `print` shows


REFIT_LEGEND = (
    "importance: mean of the trainings [95 % interval]; replicated: the same without chance; "
    "p: that chance alone agrees so well"
)


def refits_as_text(
    effects: Sequence[RefitEffect],
    provenance: Mapping[str, Any],
    remarks: Sequence[str],
    correlated: Mapping[str, Sequence[str]] | None = None,
    pairs: Sequence[RefitPair] = (),
) -> str:
    """Write what would come back, in the order of the effects; and pairs, by what comes back."""
    shown = effects[:MAX_LISTED_ROWS]
    columns = {"feature": [shorten_name(e.captions.feature(e.name)) for e in shown]}
    if len({e.output for e in effects}) > 1:
        columns["output"] = [shorten_name(e.captions.output(e.output)) for e in shown]
    n_left = len(columns)
    ends = [effect.importance_ci() for effect in shown]  # nan where they are not known
    columns["importance [95 %]"] = [
        write_known(e.importance) if np.isnan(low) else write_between(e.importance, low, high)
        for e, (low, high) in zip(shown, ends, strict=True)
    ]
    columns["replicated"] = [write_known(e.replicated) for e in shown]
    columns["p"] = [write_p(e.p_value) or "?" for e in shown]
    columns["comes back"] = [write_answer(e) for e in shown]
    rules = [write_rules(e) for e in shown]
    if any(rules):
        columns["differs by (in so many trainings)"] = rules
    copies = [
        name_few([e.captions.feature(name) for name in (correlated or {}).get(e.name, ())])
        for e in shown
    ]
    if any(copies):
        columns["hardly told from"] = copies
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    n_more = len(effects) - len(shown)
    more = [f"and {n_more:,} more: rx.replication() has all"] if n_more else []
    head = refit_head(effects, provenance)
    return "\n".join([head, *table, *more, *list_refit_pairs(pairs), REFIT_LEGEND, *remarks])


def list_refit_pairs(pairs: Sequence[RefitPair]) -> list[str]:
    """Write the pairs that would come back first as a table below that of the features."""
    ranked = rank_pairs(pairs)
    shown = ranked[:MAX_LISTED_PAIRS]
    if not shown:
        return []
    columns = {"pair": [write_pair_name(captioned(pair)) for pair in shown]}
    if len({pair.output for pair in ranked}) > 1:
        columns["output"] = [shorten_name(pair.captions.output(pair.output)) for pair in shown]
    n_left, ends = len(columns), [pair.strength_ci() for pair in shown]
    columns["strength [95 %]"] = [
        write_known(pair.strength) if np.isnan(low) else write_between(pair.strength, low, high)
        for pair, (low, high) in zip(shown, ends, strict=True)
    ]
    columns["replicated"] = [write_known(pair.replicated) for pair in shown]
    columns["p"] = [write_p(pair.p_value) or "?" for pair in shown]
    columns["comes back"] = [write_answer(pair) for pair in shown]
    table = aligned([list(columns), *zip(*columns.values(), strict=True)], n_left=n_left)
    n_more = len(ranked) - len(shown)
    return [
        "",
        *table,
        *([f"and {n_more:,} more: rx.replication(pairs=True) has all"] if n_more else []),
    ]


def refit_head(effects: Sequence[RefitEffect], provenance: Mapping[str, Any]) -> str:
    """Say in one line what was trained, and which output its effects are on, if that is one."""
    outputs = {effect.output for effect in effects}
    if len(outputs) != 1:
        return refit_title(provenance)
    return f"{refit_title(provenance)}; on {shorten_name(effects[0].captions.value_axis(outputs.pop()))}"


def write_rules(effect: RefitEffect) -> str:
    """Name the features that split the rows, and in how many trainings."""
    found = find_splits(effect)
    named = sorted(found, key=lambda name: -len(found[name]))
    return name_few(
        [f"{effect.captions.feature(n)} ({len(found[n])} of {effect.n_trainings})" for n in named]
    )


def write_answer(effect: RefitEffect | RefitPair) -> str:
    """Write whether an effect comes back; "?" where that is not known."""
    if np.isnan(effect.p_value):
        return "?"
    return "yes" if effect.comes_back else "no"


def write_known(number: float) -> str:
    """Write a number; "?" where it is not known."""
    return "?" if np.isnan(number) else write_number(number)


def refit_title(provenance: Mapping[str, Any]) -> str:
    """Say in one line what was trained, and on what."""
    n = provenance.get("trainings", 0)
    learner, scheme = provenance.get("learner", "model"), provenance.get("scheme", "")
    rows = provenance.get("rows", 0)
    how = f", {scheme}" if scheme else ""
    return f"{n} trainings of {learner}{how}, explained on {rows:,} rows by {provenance.get('method', '?')}"
