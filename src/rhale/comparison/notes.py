"""Notes of a comparison: what only some explanations have, and what is not compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.alignment import can_be_named, can_compare
from rhale.effects.listing import name_few, shorten_name, write_share
from rhale.effects.result import Result, is_constant
from rhale.output.note import Note

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation

LITTLE = 0.5  # of the rows on what both have: less is worth a word
MAX_OVERLAP_NOTES = 10


def describe_comparison(
    names: Sequence[str], given: Sequence[Explanation], found: Sequence[FeatureComparison]
) -> tuple[Note, ...]:
    """Notes on what only some explanations have, how they were made, and what is not compared.

    `names` are what the explanations `given` are called, `found` is what was compared.
    """
    notes = list[Note]()
    # features and outputs that are not in all; of one output each, names do not count
    for what, known in (
        ("feature", [fx.features for fx in given]),
        ("output", [fx.outputs for fx in given]),
    ):
        if what == "output" and all(len(some) == 1 for some in known):
            continue
        common = set(known[0]).intersection(*known[1:])
        where = "only in" if len(names) == 2 else "not in all, but in"
        for name, some in zip(names, known, strict=True):
            if lone := [one for one in some if one not in common]:
                text = f"{what}s {where} {shorten_name(name)}: {name_few(lone)}"
                notes.append(Note(f"{what}s", text))
    methods = [str(fx.provenance.get("method", "")) for fx in given]
    if len(set(methods)) > 1:
        made = ", ".join(
            f"{shorten_name(n)} by {shorten_name(m)}" for n, m in zip(names, methods, strict=True)
        )
        notes.append(Note("methods", f"made by different methods ({made}): these differ, too"))
    # explanations of the same rows as the first: their errors are not independent
    first = given[0]
    same = [
        name
        for name, fx in zip(names[1:], given[1:], strict=True)
        if fx.features == first.features
        and fx.sample_x.shape == first.sample_x.shape
        and first.sample_x.size
        and np.array_equal(fx.sample_x, first.sample_x, equal_nan=True)
    ]
    if same:
        text = (
            f"{name_few([names[0], *same])} explain the same rows: errors are added as if rows were "
            "drawn anew, which makes intervals too wide where models are alike"
        )
        notes.append(Note("same rows", text))
    # features whose curves are not compared, by the first reason that there is
    reasons = {
        "kind": "categories in one and numbers in the other",
        "constant": "one value only, so that there is no curve",
        "apart": "no stretch or level in common",
    }
    left_out: dict[str, dict[str, None]] = {kind: {} for kind in reasons}
    overlap: dict[str, float] = {}
    for one in (one for comparison in found for one in comparison.differences):
        name = read_feature_caption(one.first)
        if not can_compare(one.first, one.second):
            left_out["kind"][name] = None
        elif is_constant(one.first) or is_constant(one.second):
            left_out["constant"][name] = None
        elif not one.is_known:
            left_out["apart"][name] = None
        if one.is_known and one.places.part < LITTLE:
            overlap[name] = one.places.part
    for kind, features in left_out.items():
        if features:
            text = f"not compared: {name_few(list(features))} ({reasons[kind]})"
            notes.append(Note(kind, text))
    for name, part in list(overlap.items())[:MAX_OVERLAP_NOTES]:
        text = f"{shorten_name(name)} is compared where {write_share(part)} of the rows are"
        notes.append(Note("overlap", text))
    # levels that are not in all explanations
    for comparison in found:
        results = comparison.results
        if not all(map(can_be_named, results)):
            continue
        common = set(results[0].labels).intersection(*(r.labels for r in results[1:]))
        for name, result in zip(comparison.names, results, strict=True):
            if lone := [label for label in result.labels if label not in common]:
                levels = (
                    f"levels of {shorten_name(read_feature_caption(result))} that are not in all, "
                    f"but in {shorten_name(name)}"
                )
                notes.append(Note("levels", f"{levels}: {name_few(lone)}"))
    return tuple(dict.fromkeys(notes))


def read_feature_caption(result: Result) -> str:
    """What people read for the feature of a result."""
    return result.captions.feature(result.name)
