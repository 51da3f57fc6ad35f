"""An effect in plain sentences; numbers, places and names as words."""

from __future__ import annotations

import math
import re
import unicodedata
from itertools import pairwise

import numpy as np

from rhale.effects.result import Difference, Result, find_result_axis_kind, is_constant, reach
from rhale.effects.staircase import Jump
from rhale.effects.support import find_shown_part
from rhale.output.labels import Captions
from rhale.output.number_format import (
    MINUS_SIGN,
    PLAIN_NUMBER_RANGE,
    SECONDS_PER_DAY,
    UNKNOWN_DASH,
    AxisKind,
    decimals_of,
    format_axis_value,
    is_plain,
    without_zeros,
    write_decimals,
    write_number,
    write_with_error,
    write_with_unit,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.distributions import Z_SCORE_95

# --- Numbers, places on an axis and names as words of a page


INSTEAD = "\ufffd"
MAX_NAME_LETTERS = 1_000  # letters of a name
SMALL_P = 1e-4  # a smaller chance is but called small
CONTROL_CATEGORIES = {"Cc", "Cs"}  # control signs and halves of letters, which no page can hold
NO_LETTERS = "\ufffe\uffff"  # nor these, in a picture
TURNING = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "RLI", "LRI", "FSI", "PDF", "PDI"}
# Of models, in words.
OUTPUT_KIND_WORDS = "prediction", "probability", "log-odds", "margin", "score"
UNNAMED_OUTPUT_PATTERN = re.compile(r"y\d*")  # keys of outputs without a name
SHORT_OUTPUT, SHORT_UNIT = 80, 20
DURATION_UNITS = {"d": SECONDS_PER_DAY, "h": 3_600.0, "min": 60.0, "s": 1.0}


def clean(text: object, longest: int = MAX_NAME_LETTERS) -> str:
    r"""Write a name on one line, with nothing that a page cannot hold, and cut it if need be."""
    line = without_steering(" ".join(str(text).split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shorten_middle(text: object, longest: int) -> str:
    """Write a long name without its middle: names that begin alike are still told apart."""
    line, half = clean(text, len(str(text)) + 1), (longest - 1) // 2
    return line if len(line) <= longest else f"{line[:half]}…{line[-half:]}"


def without_steering(text: str) -> str:
    """Replace letters that steer, line ends among them, by a sign that they are there."""
    return "".join(
        INSTEAD if unicodedata.category(c) in CONTROL_CATEGORIES or c in NO_LETTERS else c
        for c in text
    )


def format_report_number(value: float, digits: int = 3) -> str:
    """Write a number with so many digits; a dash if it is not known."""
    known = math.isfinite(value)
    return write_number(value, digits).replace("-", MINUS_SIGN) if known else UNKNOWN_DASH


def trimmed(value: float, decimals: int) -> str:
    """Write a number with at most so many decimals; thousands apart from 10,000 on.

    Examples
    --------
    >>> trimmed(2019.0, 1), trimmed(65432.1, -2)
    ('2019', '65,400')
    """
    return without_zeros(write_decimals(value, decimals)).replace("-", MINUS_SIGN)


def fixed(value: float, largest: float, digits: int = 4) -> str:
    """Write a number of a column whose largest one has so many digits, so that the points align."""
    if not math.isfinite(value) or largest == 0 or not is_plain(largest):
        return format_report_number(value)
    decimals = max(0, decimals_of(largest, digits))
    return write_decimals(value, decimals, apart=True).replace("-", MINUS_SIGN)


def fixed_or_dash(value: float | None, largest: float, digits: int = 4) -> str:
    """Write a number of a column; a dash if it is not known."""
    return fixed(float("nan") if value is None else value, largest, digits)


def plus_minus(value: float, error: float) -> str:
    """Write a number and its standard error, but for an error that is too small to be seen."""
    if not math.isfinite(error) or error < 5e-4 * abs(value) or error == 0:
        return format_report_number(value)
    return write_with_error(value, error).replace("-", MINUS_SIGN)


def chance_in_words(p: float) -> str:
    r"""Write a p-value."""
    if not math.isfinite(p):
        return UNKNOWN_DASH
    return f"<\u00a0{SMALL_P:.4f}" if p < SMALL_P else format_report_number(p, 2)


def isolated(name: str) -> str:
    r"""Keep a name that turns the direction of writing from turning the words around it."""
    turns = any(unicodedata.bidirectional(letter) in TURNING for letter in name)
    return f"\u2068{name}\u2069" if turns else name


def named_output(captions: Captions, output: str, *, unit: bool = False) -> str:
    """Name an output within a sentence, perhaps with its unit; a given name stands as it is."""
    is_bare = output not in captions.outputs and UNNAMED_OUTPUT_PATTERN.fullmatch(output)
    words = "prediction" if is_bare else isolated(clean(captions.output(output), SHORT_OUTPUT))
    own = clean(captions.unit(output), SHORT_UNIT) if unit else ""
    named = f"the {words}" if words.startswith(OUTPUT_KIND_WORDS) else words
    return f"{named} ({isolated(own)})" if own else named


def breakable(name: str) -> list[str]:
    """Cut a long name where a line may end: behind an underscore, before a hump."""
    return re.split(r"(?<=_)(?=\w)|(?<=[a-z])(?=[A-Z])", name)


def unbroken(text: str) -> str:
    r"""Keep a number, its error and its unit on one line.

    Examples
    --------
    >>> unbroken("92 ± 1 % of all") == "92\u00a0±\u00a01\u00a0% of all"
    True
    """
    return text.replace(" ± ", "\u00a0±\u00a0").replace(" %", "\u00a0%")


def straight(text: str) -> str:
    r"""Keep the brackets behind a name of another direction where they are."""
    before, bracket, after = text.rpartition(" (")
    return f"{before}\u200e (" + after if isolated(before) != before else before + bracket + after


def format_axis_position(value: float, kind: AxisKind, span: float) -> str:
    """Write a place on an axis that is `span` long, to about a hundredth of it."""
    if kind == "date":
        return format_axis_value(float(np.rint(value)) if span > 10 else value, "date")
    if kind == "duration":
        unit = unit_of(span)
        return f"{format_axis_position(value / DURATION_UNITS[unit], 'number', span / DURATION_UNITS[unit])} {unit}"
    if not math.isfinite(span) or span <= 0 or not PLAIN_NUMBER_RANGE[0] <= span < 1e9:
        return format_report_number(value, 4)
    decimals = 2 - math.floor(math.log10(span))
    return trimmed(value, decimals if decimals >= 0 else min(0, decimals + 1))


def unit_of(seconds: float) -> str:
    """Name the unit in which a stretch of time is written."""
    return next((name for name, size in DURATION_UNITS.items() if seconds >= 2 * size), "s")


def listed(names: list[str], most: int = 6) -> str:
    """List some names, and count the others."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


N_SENTENCE_POINTS = 201
MOST_STRETCHES, MOST_TOLD_STRETCHES = 4, 2
MAX_JUMPS_IN_TEXT = 3
MIN_TURN_SHARE = 0.1  # of the range: smaller turns are no turns
FLAT_EFFECT_SHARE = 0.02  # of the largest range among the features: less is hardly an effect
MAX_STEEP_SHARE = 0.6  # of a stretch: most of the change happens in less than this
MAX_EFFECT_LEVEL_LETTERS = 60
HETEROGENEITY_WORDS = (  # below these shares of the average change
    (0.1, "rows hardly differ"),
    (0.25, "rows differ a little"),
    (0.4, "rows differ somewhat"),
    (1.0, "rows differ clearly"),
)


def describe_effect(result: Result, *, largest: float = 0.0) -> tuple[str, ...]:
    """Say in sentences what an effect shows.

    `largest` is the largest range of a curve among the features: what is small beside it is hardly
    an effect.
    """
    if is_constant(result):
        shown = at(result, reach(result)[0])
        words = f"Every row has the same value, {shown}: there is no effect to show."
        return (words, *missing_sentence(result))
    if not np.isfinite(curve_range(result)):
        return ("The effect is not known: too few rows.",)
    if is_flat(result, largest):
        return (flat_sentence(result, largest), *missing_sentence(result))
    if result.column_kind == "categories":
        return (*level_sentences(result), *missing_sentence(result))
    return (*stretch_sentences(result), *jump_sentence(result), *missing_sentence(result))


def curve_range(result: Result) -> float:
    """How far the curve goes from its lowest to its highest point."""
    values = curve_points(result)[1]
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if known.size else float("nan")


def curve_points(result: Result) -> tuple[FloatArray, FloatArray]:
    """Places where a curve may turn, and its height there."""
    x = result.places(N_SENTENCE_POINTS)
    return x, result.height(x)


def is_flat(result: Result, largest: float) -> bool:
    """Tell whether the average hardly moves, or no more than chance would move it."""
    x, values = curve_points(result)
    size = float(np.nanmax(values) - np.nanmin(values))
    if size <= FLAT_EFFECT_SHARE * largest or size <= 1e-12 * float(np.nanmax(np.abs(values))):
        return True
    change = result.difference(x[int(np.nanargmin(values))], x[int(np.nanargmax(values))])
    return not is_sure(change)


def flat_sentence(result: Result, largest: float) -> str:
    """Say that the average hardly moves, and whether single rows do."""
    size, spread = curve_range(result), result.typical_spread
    most = in_output_unit(result, format_report_number(size, 2))
    moves = f"moves by at most {most}" if size > 0 else "does not move"
    start = f"On average {output_of(result)} {moves} over the whole range"
    if size > FLAT_EFFECT_SHARE * largest > 0:
        start += ", which is not significant"
    if np.isfinite(spread) and spread > max(2 * result.importance, FLAT_EFFECT_SHARE * largest):
        typical = in_output_unit(result, format_report_number(spread, 2))
        return (
            f"{start}, but rows differ: typical spread {typical}. "
            "The feature interacts with others, in different directions."
        )
    return f"{start}, and rows hardly differ."


def stretch_sentences(result: Result) -> tuple[str, ...]:
    """One sentence for each stretch over which the curve rises or falls; of many, the largest two."""
    x, values = curve_points(result)
    found: list[str] = []
    changes = [(i, j, result.difference(x[i], x[j])) for i, j in pairwise(turning_points(result))]
    largest = sorted((abs(change.size) for *_, change in changes), reverse=True)
    told = [one for one in changes if abs(one[2].size) in largest[:MOST_TOLD_STRETCHES]]
    for first, last, change in told[:MOST_TOLD_STRETCHES]:
        verb = "rises" if change.size > 0 else "falls"
        who = output_of(result) if not found else "it"
        sentence = f"From {at(result, x[first])} to {with_unit(result, x[last])} {who} {verb} by "
        sentence += in_output_unit(result, plus_minus(abs(change.size), change.error))
        sentence += mostly(result, x[first : last + 1], values[first : last + 1])
        found.append(f"{sentence}{differ(change)}.")
    more = ["Elsewhere it has smaller ups and downs."] if len(changes) > len(found) else []
    return (*found, *more)


def turning_points(result: Result) -> IntArray:
    """Positions where the curve turns; turns that are small, or no more than chance, are left out."""
    x, values = curve_points(result)
    least = MIN_TURN_SHARE * float(np.ptp(values))
    while (turns := zigzag(values, least)).size > 2:
        changes = [result.difference(x[i], x[j]) for i, j in pairwise(turns)]
        if len(changes) <= MOST_STRETCHES and all(map(is_sure, changes)):
            return turns
        least *= 1.5
    if is_sure(result.difference(x[0], x[-1])):
        return turns
    return np.sort([np.argmin(values), np.argmax(values)])


def is_sure(change: Difference) -> bool:
    """Tell whether a change is more than chance."""
    return abs(change.size) > Z_SCORE_95 * change.error


def zigzag(values: FloatArray, least: float) -> IntArray:
    """Positions between which a curve goes up or down by at least so much."""
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
    if x[stop] - x[start] >= MAX_STEEP_SHARE * (x[-1] - x[0]):
        return ""
    first, last = at(result, x[start]), with_unit(result, x[stop])
    same = first == at(result, x[stop])
    where = f"at {last}" if same else f"between {first} and {last}"
    return f", nearly all of it {where}"


def jump_sentence(result: Result) -> tuple[str, ...]:
    """Say where the curve jumps, if it does: the largest jumps, in their order along the axis."""
    # A jump is a part of the stretches that other sentences are about.
    sizes = sorted((abs(jump.size) for jump in result.jumps), reverse=True)
    named = [jump for jump in result.jumps if abs(jump.size) in sizes[:MAX_JUMPS_IN_TEXT]]
    if not named:
        return ()
    words, rest = listed([jump_in_words(result, jump) for jump in named]), len(sizes) - len(named)
    more = f", and less at {rest} other place{'s' if rest > 1 else ''}" if rest > 0 else ""
    return (f"It jumps {words}{more}.",)


def jump_in_words(result: Result, jump: Jump) -> str:
    """Say how far a curve jumps, and where."""
    middle = jump.start + (jump.stop - jump.start) / 2
    way = "up" if jump.size > 0 else "down"
    size = in_output_unit(result, format_report_number(abs(jump.size)))
    return f"{way} by {size} at {with_unit(result, middle)}"


def level_sentences(result: Result) -> tuple[str, ...]:
    """Say which level is highest and which lowest."""
    levels, (x, values) = levels_of(result), curve_points(result)
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    if len(levels) == 2:
        change = result.difference(x[0], x[1])
        verb = "raises" if change.size > 0 else "lowers"
        size = in_output_unit(result, plus_minus(abs(change.size), change.error))
        words = f"A change from {levels[0]} to {levels[1]} {verb} {output_of(result)} by {size}"
        return (f"{words}{differ(change)}.",)
    change = result.difference(x[low], x[high])
    size = in_output_unit(result, plus_minus(abs(change.size), change.error))
    who = capital(output_of(result))
    words = f"{who} is highest at {levels[high]} and lowest at {levels[low]}: {size} apart"
    return (f"{words}{differ(change)}.",)


def missing_sentence(result: Result) -> tuple[str, ...]:
    """Say what happens where the value is missing, if that was measured."""
    path = result.missing_trace()
    if path is None or result.missing is None:
        return ()
    size, spread = float(path.curve[0]), float(path.spread[0])
    if result.quantity == "prediction":  # rows that have none are other rows
        spread = float("nan")
    change = Difference(size, result.missing.standard_error, spread)
    words = "about the same as on average"
    if is_sure(change):
        way = "higher" if size > 0 else "lower"
        by = in_output_unit(result, plus_minus(abs(size), change.error))
        words = f"{by} {way} than on average"
    share, about = format_report_number(100 * result.missing.share, 2), differ(change)
    return (f"Without a value ({share} % of the rows) {output_of(result)} is {words}{about}.",)


def differ(change: Difference) -> str:
    """Say how much rows differ in this change, measured by its size on average."""
    if not np.isfinite(change.spread):
        return ""
    if change.spread <= 1e-3 * abs(change.size):
        return f"; {HETEROGENEITY_WORDS[0][1]}"
    share = change.spread / abs(change.size) if change.size else np.inf
    words = next(
        (words for limit, words in HETEROGENEITY_WORDS if share < limit), "rows differ a lot"
    )
    return f"; {words}"


def output_of(result: Result) -> str:
    """Name the output within a sentence."""
    return named_output(result.captions, result.output)


def in_output_unit(result: Result, number: str) -> str:
    """Write the unit of the output with a number: a currency before it, any other behind."""
    return write_with_unit(number, isolated(clean(result.captions.unit(result.output), SHORT_UNIT)))


def with_unit(result: Result, value: float) -> str:
    """Write a place on the axis of a feature, with its unit."""
    unit = clean(result.captions.unit(result.name), SHORT_UNIT)
    is_number = unit and not result.labels and find_result_axis_kind(result) == "number"
    return write_with_unit(at(result, value), isolated(unit)) if is_number else at(result, value)


def capital(sentence: str) -> str:
    """Begin with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def at(result: Result, value: float) -> str:
    """Write a place on the axis of a feature."""
    if result.labels:
        return levels_of(result)[int(np.searchsorted(result.axis, value))]
    part = find_shown_part(result)
    if part.is_log:
        return format_report_number(value)  # far to the left a hundredth of the axis is no place
    is_seen = find_result_axis_kind(result) == "number" and part.low <= value <= part.high
    low, high = part[:2] if is_seen else reach(result)  # far values leave small ones their digits
    return format_axis_position(value, find_result_axis_kind(result), high - low)


def levels_of(result: Result) -> list[str]:
    """Labels of the levels, those that are names in quotation marks."""
    levels = [clean(label, MAX_EFFECT_LEVEL_LETTERS) for label in result.labels]
    return levels if result.column_kind == "steps" else [f"“{level}”" for level in levels]
