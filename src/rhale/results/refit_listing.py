"""Results of refits as text: the table that `print` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rhale.results.listing import MAX_LISTED_ROWS, aligned, name_few, shorten_name
from rhale.results.numerals import write_between, write_number
from rhale.results.pair_effect import write_p
from rhale.results.pair_listing import MAX_LISTED_PAIRS, captioned, write_pair_name
from rhale.results.refit_effect import RefitEffect
from rhale.results.refit_pair import RefitPair, rank_pairs
from rhale.results.refit_regions import find_splits

LEGEND = (
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
    """Write what would come back, in the order of the effects; and pairs, by what comes back.

    Parameters
    ----------
    effects : sequence of RefitEffect
        The largest replicated importance first.
    provenance : mapping
        What was trained and explained, how, on how many rows.
    remarks : sequence of str
        What follows the table.
    correlated : mapping of str to sequence of str, optional
        Features that each feature can hardly be told from.
    pairs : sequence of RefitPair
        Pairs that were measured, in any order.
    """
    shown = effects[:MAX_LISTED_ROWS]
    columns = {"feature": [shorten_name(e.captions.feature(e.name)) for e in shown]}
    if len({e.output for e in effects}) > 1:
        columns["output"] = [shorten_name(e.captions.output(e.output)) for e in shown]
    n_left = len(columns)
    columns["importance [95 %]"] = [write_interval(e) for e in shown]
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
    return "\n".join([head, *table, *more, *list_refit_pairs(pairs), LEGEND, *remarks])


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
    """Name the features that tell rows apart, and in how many trainings: the verdict on regions.

    Examples
    --------
    "sex (20 of 20), age (3 of 20)" where most trainings agree; nothing where none has regions.
    """
    found = find_splits(effect)
    named = sorted(found, key=lambda name: -len(found[name]))
    return name_few(
        [f"{effect.captions.feature(n)} ({len(found[n])} of {effect.n_trainings})" for n in named]
    )


def write_answer(effect: RefitEffect | RefitPair) -> str:
    """Say whether an effect comes back; "?" where nobody knows."""
    if np.isnan(effect.p_value):
        return "?"
    return "yes" if effect.comes_back else "no"


def write_known(number: float) -> str:
    """Write a number; "?" where it is not known."""
    return "?" if np.isnan(number) else write_number(number)


def write_interval(effect: RefitEffect) -> str:
    """Importance with its interval between trainings, where that is known."""
    low, high = effect.importance_ci()
    if np.isnan(low):
        return write_known(effect.importance)
    return write_between(effect.importance, low, high)


def refit_title(provenance: Mapping[str, Any]) -> str:
    """Say in one line what was trained, and on what."""
    n = provenance.get("trainings", 0)
    learner, scheme = provenance.get("learner", "model"), provenance.get("scheme", "")
    rows = provenance.get("rows", 0)
    how = f", {scheme}" if scheme else ""
    return f"{n} trainings of {learner}{how}, explained on {rows:,} rows by {provenance.get('method', '?')}"
