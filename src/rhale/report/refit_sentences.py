"""What trainings say about one feature, in plain sentences: whether it comes back, and how large it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rhale.report.page import EFFECT_SIZE_ROUNDING
from rhale.report.sentences import at
from rhale.report.wording import (
    UNKNOWN_DASH,
    chance_in_words,
    clean,
    format_report_number,
    isolated,
    listed,
    unbroken,
)
from rhale.results.refit_effect import REPLICATION_LEVEL, RefitEffect, RefitTrace
from rhale.results.refit_pair import RefitPair

MAX_NAME_LETTERS_IN_TEXT = 60
MIN_FEATURES_FOR_CHANCE = 20  # features: one in twenty comes back by chance
YES, NO = "yes", "no"


def comes_back_in_words(effect: RefitEffect | RefitPair) -> str:
    """Say whether something comes back; a dash where that cannot be told."""
    if not math.isfinite(effect.p_value):
        return UNKNOWN_DASH
    return YES if effect.comes_back else NO


def count_stable_sentence(found: Sequence[str]) -> str:
    """Say how many features come back, told in words, and how many would by chance alone."""
    tested = [words for words in found if words != UNKNOWN_DASH]
    if not tested:
        return "Whether features come back is not known: all trainings had the same rows."
    n_back, n = tested.count(YES), len(tested)
    told = f"{n_back} of {n} {'feature comes' if n == 1 else 'features come'} back"
    if n < MIN_FEATURES_FOR_CHANCE:
        return f"{told}."
    return f"{told}; if none of them did anything, chance would still let about {REPLICATION_LEVEL * n:.0f} come back."


def tell_nothing(effect: RefitEffect) -> str:
    """Say that a feature moves nothing, but for rounding."""
    return f"{isolated(clean(effect.captions.feature(effect.name), MAX_NAME_LETTERS_IN_TEXT))} does nothing in any training."


def tell_refits(
    effect: RefitEffect, path: RefitTrace | None, ends: tuple[float, float], alike: list[str]
) -> str:
    """Say what the trainings show.

    Parameters
    ----------
    effect : RefitEffect
        One feature and output.
    path : RefitTrace or None
        What is drawn of it; None where the feature has one value.
    ends : pair of float
        Of the interval of its importance.
    alike : list of str
        Features that it can hardly be told from.
    """
    name = isolated(clean(effect.captions.feature(effect.name), MAX_NAME_LETTERS_IN_TEXT))
    if path is None:
        return f"{name} has one value in these rows: no training can tell what it does."
    told = [tell_replication(effect, name), describe_refit_importance(effect, ends)]
    if not effect.p_value > REPLICATION_LEVEL:  # trainings share rows: they agree on chance, too
        told += describe_trend(effect, path) + describe_missing_values(effect)
    return unbroken(" ".join(told + tell_alike(alike)))


def tell_replication(effect: RefitEffect, name: str) -> str:
    """Say whether the effect comes back, and by which evidence."""
    chance = chance_in_words(effect.p_value)
    p = f"p\u00a0{chance}" if chance.startswith("<") else f"p\u00a0=\u00a0{chance}"
    if not math.isfinite(effect.p_value):
        return f"Whether {name} comes back is not known: all trainings had the same rows."
    if effect.comes_back:
        return f"{name} comes back: the trainings agree better than chance would let them ({p})."
    return f"{name} does not come back: chance may let trainings agree as well as these ({p})."


def describe_refit_importance(effect: RefitEffect, ends: tuple[float, float]) -> str:
    """Say how large the effect is, on average over trainings and in single ones."""
    low, high = ends
    least, most = float(effect.importances.min()), float(effect.importances.max())
    sure = (
        f", between {format_report_number(low)} and {format_report_number(high)} for the average of all such trainings (95 %)"
        if math.isfinite(high)
        else ", without an interval"
    )
    return (
        f"Importance {format_report_number(effect.importance)}{sure}; "
        f"single trainings gave {format_report_number(least)} to {format_report_number(most)}."
    )


def describe_trend(effect: RefitEffect, path: RefitTrace) -> list[str]:
    """Say where the mean curve is lowest and highest, and how many trainings have the same order."""
    finite = path.curve[np.isfinite(path.curve)]
    if not finite.size or np.ptp(finite) <= EFFECT_SIZE_ROUNDING * np.nanmax(np.abs(path.curves)):
        return []
    least, most = int(np.nanargmin(path.curve)), int(np.nanargmax(path.curve))
    higher = path.curves[:, most] > path.curves[:, least]
    some = f"{int(higher.sum())} of {effect.n_trainings} trainings"
    low, high = (at(effect.effects[0], float(path.x[i])) for i in (least, most))
    size = format_report_number(float(path.curve[most] - path.curve[least]))
    if effect.column_kind == "categories":
        told = f"{high} is {size} above {low}, the lowest, on average, and above it in {some}."
    elif least < most:
        told = f"The mean curve rises by {size} from its lowest, at {low}, to its highest, at {high}, and so do {some}."
    else:
        told = f"The mean curve falls by {size} from its highest, at {high}, to its lowest, at {low}, and so do {some}."
    return [told]


def describe_missing_values(effect: RefitEffect) -> list[str]:
    """Say where rows without a value stand; nothing where that was not measured."""
    found = effect.missing
    if found is None or not math.isfinite(found.curve):
        return []
    sure = (
        f" ({format_report_number(found.low)} to {format_report_number(found.high)})"
        if math.isfinite(found.low)
        else ""
    )
    return [f"Without a value the mean is {format_report_number(found.curve)}{sure}."]


def tell_alike(alike: list[str]) -> list[str]:
    """Say which features a learner may take for this one; nothing if none."""
    names = listed([isolated(clean(name, MAX_NAME_LETTERS_IN_TEXT)) for name in alike])
    return [f"It goes closely with {names}: a learner may take one for the other."] if alike else []
