"""What a reader of a comparison should know: what only some explanations have, and what is not compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rhale.comparison.feature_comparison import FeatureComparison
from rhale.effects.alignment import can_be_named, can_compare
from rhale.effects.difference import CurveDifference
from rhale.effects.listing import name_few, shorten_name, write_share
from rhale.effects.result import Result, is_constant
from rhale.output.note import Note

if TYPE_CHECKING:
    from rhale.effects.explanation import Explanation

LITTLE = 0.5  # of the rows on what both have: less is worth a word


def tell_differences(
    names: Sequence[str], given: Sequence[Explanation], found: Sequence[FeatureComparison]
) -> tuple[Note, ...]:
    """Say what a reader should know.

    Parameters
    ----------
    names : sequence of str
        What the explanations are called.
    given : sequence of Explanation
        The explanations.
    found : sequence of FeatureComparison
        What was compared.
    """
    every = [one for comparison in found for one in comparison.differences]
    notes = [
        *_only_in(names, [fx.features for fx in given], "feature"),
        *_only_in(names, [fx.outputs for fx in given], "output"),
        *_tell_methods(names, given),
        *_tell_same_rows(names, given),
        *_tell_about(every, "kind", _is_other_kind, "categories in one and numbers in the other"),
        *_tell_about(every, "constant", _is_constant, "one value only, so that there is no curve"),
        *_tell_about(every, "apart", _is_apart, "no stretch or level in common"),
        *_tell_overlap(every),
        *(note for comparison in found for note in _tell_levels(comparison)),
    ]
    return tuple(dict.fromkeys(notes))


def _only_in(names: Sequence[str], known: Sequence[Sequence[str]], what: str) -> list[Note]:
    """Say which features or outputs are not in all; of one output each, names do not count."""
    if what == "output" and all(len(some) == 1 for some in known):
        return []
    common, notes = set(known[0]).intersection(*known[1:]), []
    for name, some in zip(names, known, strict=True):
        if lone := [one for one in some if one not in common]:
            where = "only in" if len(names) == 2 else "not in all, but in"
            notes.append(
                Note(f"{what}s", f"{what}s {where} {shorten_name(name)}: {name_few(lone)}")
            )
    return notes


def _tell_methods(names: Sequence[str], given: Sequence[Explanation]) -> list[Note]:
    """Say that explanations were made in different ways."""
    methods = [str(fx.provenance.get("method", "")) for fx in given]
    if len(set(methods)) < 2:
        return []
    told = ", ".join(
        f"{shorten_name(n)} by {shorten_name(m)}" for n, m in zip(names, methods, strict=True)
    )
    return [Note("methods", f"made by different methods ({told}): these differ, too")]


def _tell_same_rows(names: Sequence[str], given: Sequence[Explanation]) -> list[Note]:
    """Say that some explain the same rows as the first, so that errors are not independent."""
    first = given[0]
    same = [
        name
        for name, fx in zip(names[1:], given[1:], strict=True)
        if fx.features == first.features
        and fx.sample_x.shape == first.sample_x.shape
        and first.sample_x.size
        and np.array_equal(fx.sample_x, first.sample_x, equal_nan=True)
    ]
    if not same:
        return []
    text = (
        f"{name_few([names[0], *same])} explain the same rows: errors are added as if rows were "
        "drawn anew, which makes intervals too wide where models are alike"
    )
    return [Note("same rows", text)]


def _is_other_kind(one: CurveDifference) -> bool:
    return not can_compare(one.first, one.second)


def _is_constant(one: CurveDifference) -> bool:
    return not _is_other_kind(one) and (is_constant(one.first) or is_constant(one.second))


def _is_apart(one: CurveDifference) -> bool:
    return not one.is_known and not _is_other_kind(one) and not _is_constant(one)


def _tell_about(
    every: Sequence[CurveDifference], kind: str, ask: Callable[[CurveDifference], bool], why: str
) -> list[Note]:
    """Say of which features curves are not compared, for one reason."""
    some = list(dict.fromkeys(read_feature_caption(one.first) for one in every if ask(one)))
    return [Note(kind, f"not compared: {name_few(some)} ({why})")] if some else []


def _tell_overlap(every: Sequence[CurveDifference]) -> list[Note]:
    """Say where few rows stand on what both have."""
    some = {
        read_feature_caption(one.first): one.places.part
        for one in every
        if one.is_known and one.places.part < LITTLE
    }
    return [
        Note(
            "overlap", f"{shorten_name(name)} is compared where {write_share(part)} of the rows are"
        )
        for name, part in list(some.items())[:10]
    ]


def _tell_levels(comparison: FeatureComparison) -> list[Note]:
    """Say which levels only some explanations have."""
    results = comparison.results
    if not all(map(can_be_named, results)):
        return []
    common, notes = set(results[0].labels).intersection(*(r.labels for r in results[1:])), []
    for name, result in zip(comparison.names, results, strict=True):
        if lone := [label for label in result.labels if label not in common]:
            told = f"levels of {shorten_name(read_feature_caption(result))} that are not in all, but in {shorten_name(name)}"
            notes.append(Note("levels", f"{told}: {name_few(lone)}"))
    return notes


def read_feature_caption(result: Result) -> str:
    """What people read for the feature of a result."""
    return result.captions.feature(result.name)
