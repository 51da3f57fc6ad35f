"""What an effect says, in plain sentences."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.curve import fill_gaps, middles
from rhale.kernels.grid import Grid
from rhale.plots.layers import has_levels, is_constant, kind_of, missing_trace, reach
from rhale.report.wording import clean, number, place, plus_minus
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile
from rhale.results.summary import kind_of as kind_in_words

Result = Effect | LevelEffect | Profile
N_POINTS = 201
MOST_STRETCHES = 4
TURN = 0.1  # of the range: smaller turns are no turns
FLAT = 0.02  # of the largest range among the features: less is hardly an effect
MOSTLY = 0.6  # of a stretch: most of the change happens in less than this
SURE = 1.96  # standard errors
SHORT_LEVEL = 60
WORDS = ((0.1, "rows hardly differ"), (0.5, "rows differ a little"), (1.0, "rows differ"))


class Change(NamedTuple):
    """How much a curve changes between two places, how sure that is, and how rows differ."""

    size: float
    error: float
    spread: float


def read(result: Result, *, largest: float = 0.0) -> tuple[str, ...]:
    """Say in sentences what an effect shows.

    Parameters
    ----------
    result : Effect, LevelEffect or Profile
        What to read.
    largest : float
        Largest range of a curve among the features: what counts as hardly an effect.
    """
    if is_constant(result):
        shown = levels_of(result)[0] if has_levels(result) else at(result, reach(result)[0])
        words = f"Every row has the same value, {shown}: there is no effect to show."
        return (words, *missing_sentence(result))
    if not np.isfinite(curve_range(result)):
        return ("The effect is not known: too few rows.",)
    if is_flat(result, largest):
        return (flat_sentence(result, largest), *missing_sentence(result))
    if kind_in_words(result) == "categories":
        return (*level_sentences(result), *missing_sentence(result))
    return (*stretch_sentences(result), *missing_sentence(result))


def curve_range(result: Result) -> float:
    """How far the curve goes from its lowest to its highest point."""
    values = curve_points(result)[1]
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if known.size else float("nan")


def curve_points(result: Result) -> tuple[FloatArray, FloatArray]:
    """Places where a curve may turn, and its height there."""
    if isinstance(result, Profile):
        known = np.isfinite(result.mean)
        return result.grid[known], result.curve(result.grid[known])
    if isinstance(result, LevelEffect):
        return result.edges, result.curve()
    x = np.union1d(result.edges, np.linspace(*reach(result), N_POINTS))
    return x, result.curve(x)


def is_flat(result: Result, largest: float) -> bool:
    """Tell whether the average hardly moves, or no more than chance would move it."""
    x, values = curve_points(result)
    size = float(np.nanmax(values) - np.nanmin(values))
    if size <= FLAT * largest or size <= 1e-12 * float(np.nanmax(np.abs(values))):
        return True
    change = change_between(result, x[int(np.nanargmin(values))], x[int(np.nanargmax(values))])
    return not is_sure(change)


def flat_sentence(result: Result, largest: float) -> str:
    """Say that the average hardly moves, and whether single rows do."""
    size, spread = curve_range(result), result.typical_spread
    moves = f"moves by at most {number(size, 2)}" if size > 0 else "does not move"
    start = f"On average the prediction {moves} over the whole range"
    if size > FLAT * largest > 0:
        start += ", which chance alone could do"
    if np.isfinite(spread) and spread > max(2 * result.importance, FLAT * largest):
        return (
            f"{start}, but rows differ: typical spread {number(spread, 2)}. "
            "The feature works together with others, in different directions."
        )
    return f"{start}, and rows hardly differ."


def stretch_sentences(result: Result) -> tuple[str, ...]:
    """One sentence for each stretch over which the curve rises or falls."""
    x, values = curve_points(result)
    found: list[str] = []
    for first, last in pairwise(turning_points(result)):
        change = change_between(result, x[first], x[last])
        verb = "rises" if change.size > 0 else "falls"
        who = "the prediction" if not found else "it"
        sentence = f"From {at(result, x[first])} to {at(result, x[last])} {who} {verb} by "
        sentence += plus_minus(abs(change.size), change.error)
        sentence += mostly(result, x[first : last + 1], values[first : last + 1])
        found.append(f"{sentence}{differ(change)}.")
    return tuple(found)


def turning_points(result: Result) -> IntArray:
    """Positions where the curve turns; turns that are small, or no more than chance, are left out."""
    x, values = curve_points(result)
    least = TURN * float(np.ptp(values))
    while (turns := zigzag(values, least)).size > 2:
        changes = [change_between(result, x[i], x[j]) for i, j in pairwise(turns)]
        if len(changes) <= MOST_STRETCHES and all(map(is_sure, changes)):
            return turns
        least *= 1.5
    if is_sure(change_between(result, x[0], x[-1])):
        return turns
    return np.sort([np.argmin(values), np.argmax(values)])


def is_sure(change: Change) -> bool:
    """Tell whether a change is more than chance."""
    return abs(change.size) > SURE * change.error


def zigzag(values: FloatArray, least: float) -> IntArray:
    """Positions between which a curve goes up or down by at least so much.

    Examples
    --------
    >>> zigzag(np.array([0.0, 1.0, 0.9, 2.0, 0.0]), 0.5)
    array([0, 3, 4])
    """
    turns, low, high, top, way = [0], 0, 0, 0, 0
    for i, value in enumerate(values):
        if way == 0:
            low, high = min(low, i, key=values.__getitem__), max(high, i, key=values.__getitem__)
            way = int(value - values[low] >= least) or -int(values[high] - value >= least)
            top = i
        elif way * (value - values[top]) > 0:
            top = i
        elif way * (values[top] - value) >= least:
            turns.append(top)
            top, way = i, -way
    return np.unique([*turns, values.size - 1])


def mostly(result: Result, x: FloatArray, values: FloatArray) -> str:
    """Say where most of a change happens, if that is a small part of the stretch."""
    share = (values - values[0]) / (values[-1] - values[0])
    start = int(np.flatnonzero(share <= 0.05)[-1])
    after = np.flatnonzero(share[start:] >= 0.95)
    stop = start + int(after[0]) if after.size else x.size - 1
    if x[stop] - x[start] >= MOSTLY * (x[-1] - x[0]):
        return ""
    return f", nearly all of it between {at(result, x[start])} and {at(result, x[stop])}"


def level_sentences(result: Result) -> tuple[str, ...]:
    """Say which level is highest and which lowest."""
    levels, (x, values) = levels_of(result), curve_points(result)
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if len(levels) == 2:
        change = change_between(result, x[0], x[1])
        verb = "raises" if change.size > 0 else "lowers"
        size = plus_minus(abs(change.size), change.error)
        words = f"A change from {levels[0]} to {levels[1]} {verb} the prediction by {size}"
        return (f"{words}{differ(change)}.",)
    change = change_between(result, x[low], x[high])
    known = not isinstance(result, Profile) or result.method != "mplot"
    spread = result.typical_spread if known else float("nan")
    typical = Change(result.importance, 0.0, spread)
    size = plus_minus(abs(change.size), change.error)
    words = f"The prediction is highest at {levels[high]} and lowest at {levels[low]}: {size} apart"
    return (f"{words}{differ(typical)}.",)


def missing_sentence(result: Result) -> tuple[str, ...]:
    """Say what happens where the value is missing, if that was measured."""
    path = missing_trace(result, "mean", 0.95)
    if path is None or result.missing is None:
        return ()
    size, spread = float(path.curve[0]), float(path.spread[0])
    if isinstance(result, Profile):
        spread = float("nan")
    change = Change(size, result.missing.standard_error, spread)
    words = "about the same as on average"
    if is_sure(change):
        way = "higher" if size > 0 else "lower"
        words = f"{plus_minus(abs(size), change.error)} {way} than on average"
    share, about = number(100 * result.missing.share, 2), differ(change)
    return (f"Without a value ({share} % of the rows) the prediction is {words}{about}.",)


def differ(change: Change) -> str:
    """Say how much rows differ, measured by the size of the average change."""
    if not np.isfinite(change.spread):
        return ""
    if change.spread <= 1e-3 * abs(change.size):
        return f"; {WORDS[0][1]}"
    share = change.spread / abs(change.size) if change.size else np.inf
    words = next((words for limit, words in WORDS if share < limit), "rows differ a lot")
    return f"; {words}: spread {number(change.spread, 2)}"


def change_between(result: Result, start: float, stop: float) -> Change:
    """How the curve changes from one place to another, with its standard error and its spread.

    Notes
    -----
    The error is that of the difference itself, which is smaller than the errors of both ends
    suggest: they have most of it in common.
    """
    if isinstance(result, Profile):
        return change_of_profile(result, start, stop)
    if isinstance(result, LevelEffect):
        return change_of_levels(result, start, stop)
    x = np.array([start, stop], dtype=np.float64)
    size, spread = np.diff(result.curve(x))[0], np.abs(np.diff(result.spread(x)))[0]
    maps = result.fit.centred_design(x, Grid(result.fit.edges).locate(x).astype(np.intp), "start")
    levels, slopes = (np.diff(one, axis=0) for one in maps)
    error = np.sqrt(result.doubt.variance(levels, slopes)[0])
    return Change(float(size), float(error), float(spread))


def change_of_levels(effect: LevelEffect, start: float, stop: float) -> Change:
    """The sum of the steps between two levels, which are correlated."""
    first, last = np.searchsorted(effect.edges, [min(start, stop), max(start, stop)])
    width = np.diff(effect.edges)
    error = np.nan_to_num(fill_gaps(effect.standard_error, middles(effect.edges))) * width
    covariance = (error[:, None] * effect.correlation * error)[first:last, first:last]
    ends = np.searchsorted(effect.edges, [start, stop])
    size, spread = np.diff(effect.curve()[ends])[0], np.abs(np.diff(effect.spread()[ends]))[0]
    return Change(float(size), float(np.sqrt(max(covariance.sum(), 0.0))), float(spread))


def change_of_profile(profile: Profile, start: float, stop: float) -> Change:
    """The difference of two points; rows are the same at both, except in a marginal plot."""
    first, last = np.searchsorted(profile.grid, [start, stop])
    size = float(profile.mean[last] - profile.mean[first])
    errors = profile.standard_error[[first, last]]
    if profile.method == "mplot":
        return Change(size, float(np.hypot(*errors)), float("nan"))
    both = profile.covariance[np.ix_([first, last], [first, last])]
    spread = float(np.sqrt(max(both[0, 0] + both[1, 1] - 2 * both[0, 1], 0.0)))
    return Change(size, spread / float(np.sqrt(profile.rows[[first, last]].mean())), spread)


def at(result: Result, value: float) -> str:
    """Write a place on the axis of a feature."""
    if has_levels(result):
        return levels_of(result)[int(np.searchsorted(axis_of(result), value))]
    low, high = reach(result)
    return place(value, kind_of(result), high - low)


def levels_of(result: Result) -> list[str]:
    """Labels of the levels, those that are names in quotation marks."""
    levels: tuple[str, ...] = getattr(result, "levels", ())
    if kind_in_words(result) == "steps":
        return [clean(level, SHORT_LEVEL) for level in levels]
    return [f"“{clean(level, SHORT_LEVEL)}”" for level in levels]


def axis_of(result: Result) -> FloatArray:
    """Places of the bins, points or levels of a result."""
    return result.grid if isinstance(result, Profile) else result.edges
