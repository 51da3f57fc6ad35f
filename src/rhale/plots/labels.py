"""Names of features and outputs as text (never mathematics, never too long), and the ticks of axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Any, Literal, Protocol, TypedDict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ticker import Formatter, Locator, MaxNLocator

from rhale.effects.curve import Center
from rhale.effects.result import Result, find_result_axis_kind, reach
from rhale.output.labels import Captions
from rhale.output.number_format import (
    AXIS_KIND_UNITS,
    MINUS_SIGN,
    SECONDS_PER_DAY,
    AxisKind,
    format_axis_value,
    write_number,
    write_with_error,
)

# --- Names as readers wrote them: never read as mathematics, never too long, never a missing glyph


class LiteralText(TypedDict):
    """Keywords that make Matplotlib show a text letter by letter."""

    parse_math: bool
    usetex: bool


LITERAL = LiteralText(parse_math=False, usetex=False)
NO_BREAK_SPACE, RELATION_SIGNS = "\u00a0", "=≤>±"  # a space at which no line is broken
BREAKS = " _-/.,;:)"  # behind which a name may go on in the next line
STAND_INS = "\u25a1?"


def fit_name(name: str, length: int) -> str:
    """Write a name on one line of at most `length` letters, all of which the font has."""
    line = drawable(" ".join(str(name).split()))
    if len(line) <= length:
        return line
    tail = (length - 1) // 2
    return f"{line[: length - 1 - tail]}…{line[len(line) - tail :]}"


def wrapped(name: str, length: int) -> str:
    """Write a name on one line, or on two where it is longer than `length` letters."""
    # Lines end behind spaces, underscores and the like; inside of a word only where the word
    # alone is longer than a line.
    line = fit_name(name, 10_000)
    if len(line) <= length:
        return line
    cut = find_break(line, length)
    return f"{line[:cut].rstrip()}\n{fit_name(line[cut:].lstrip(), length)}"


def find_break(line: str, length: int) -> int:
    """Find where the first of two lines ends.

    Examples
    --------
    >>> find_break("month-to-month", 10), find_break("Constantinople", 10)
    (9, 10)
    """
    places = [i for i in range(1, length + 1) if line[i - 1] in BREAKS or line[i] == " "]
    best = max(places, default=length)
    is_early = best < length // 2 and len(line) - best > length  # a long word comes next
    return length if is_early else best


def folded(sentence: str, length: int, lines: int = 2) -> str:
    """Write a sentence on lines of at most `length` letters, broken between words where it can be."""
    parts = wrap(_tied(fit_name(sentence, 10_000)), length)
    if len(parts) > lines:
        parts = wrap(_tied(fit_name(sentence, lines * length)), length)[:lines]
    return "\n".join(parts).replace(NO_BREAK_SPACE, " ")


def small_percent(share: float) -> str:
    """Write a share in per cent; what is hardly more than nothing is said to be that."""
    return "< 0.01 %" if 0 < share < 1e-4 else f"{format_label_number(100 * share, 2)} %"


def folded_first(sentences: Sequence[str], length: int, lines: int = 2) -> str:
    """Write the first of some sentences, ever shorter, that has room on so many lines."""
    for sentence in sentences:
        parts = wrap(_tied(fit_name(sentence, 10_000)), length, break_long_words=False)
        if len(parts) <= lines and all(len(part) <= length for part in parts):
            return folded(sentence, length, lines)
    return folded(sentences[-1], length, lines)


def _tied(sentence: str) -> str:
    """Hold signs and what stands around them together, and a number with the word before it."""
    for sign in RELATION_SIGNS:
        sentence = sentence.replace(f" {sign} ", f"{NO_BREAK_SPACE}{sign}{NO_BREAK_SPACE}")
    return re.sub(r" (?=%|\d+(?: |$))", NO_BREAK_SPACE, sentence)


def join_names(names: list[str], length: int) -> str:
    """Write different names side by side, each once."""
    return fit_name(" / ".join(dict.fromkeys(names)), length)


def format_label_number(value: float, digits: int = 3) -> str:
    r"""Write a number with so many digits; a number that is not known is a dash."""
    return write_number(value, digits).replace("-", MINUS_SIGN)


def number_with_error(value: float, error: float) -> str:
    """Write a number and its standard error, the digits of which say how many the number has."""
    return write_with_error(value, error).replace("-", MINUS_SIGN)


def format_rounded_number(value: float, digits: int = 3) -> str:
    """Write a number with so many digits that count: those behind them are zeros.

    Examples
    --------
    >>> format_rounded_number(27_051.0), format_rounded_number(0.4567, 2), format_rounded_number(2.5e7)
    ('27,100', '0.46', '2.5e7')
    """
    return format_label_number(float(f"{value:.{digits}g}"), 6)


def drawable(text: str) -> str:
    """Replace letters that the reader's fonts lack (they would draw nothing, and warn).

    Control signs are replaced, too, but for ends of lines: no SVG may hold them.
    """
    families = FontProperties().get_family()
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in families]

    def has(letter: str) -> bool:
        if letter.isascii():
            return letter.isprintable() or letter == "\n"
        return any(font.get_char_index(ord(letter)) for font in fonts)

    stand_in = next(letter for letter in STAND_INS if has(letter))
    return "".join(letter if has(letter) else stand_in for letter in text)


CENTRED = {"mean": "centred", "start": "zero at the start", "uniform": "centred over x"}
CLASS_OUTPUT_KINDS = ("probability", "log-odds", "margin", "score")  # of a model, about a class
PREDICTION_WORD = "prediction"
EACH_OUTPUT = "each output"


class Captioned(Protocol):
    """What has an output, and words for it."""

    @property
    def output(self) -> str:
        """The key of the output."""

    @property
    def captions(self) -> Captions:
        """What people read."""


def value_label(
    results: Sequence[Result], center: Center | None, length: int, *, each: bool = False
) -> str:
    """Say what the y axis of a curve shows: what on, in which unit, and where it is zero.

    With `each`, every output has a curve or a panel of its own, which says its name.
    """
    is_prediction = center is None or all(r.quantity == "prediction" for r in results)
    if each:
        # Name several outputs in one, with the unit that all of them have.
        captions, keys = results[0].captions, list(dict.fromkeys(r.output for r in results))
        answer = common_answer([captions.output(key) for key in keys])
        words = f"the {answer} of each class" if answer else EACH_OUTPUT
        units = {captions.unit(key) for key in keys}
        unit = units.pop() if len(units) == 1 else ""
        words = f"{words} ({unit})" if unit else words
    elif is_prediction:
        words = join_names([predicted(result) for result in results], 2 * length)
    else:
        words = join_names([in_sentence(result) for result in results], 2 * length)
    if not is_prediction:
        words = f"effect on {words}"
    elif each:
        is_class = not words.startswith(EACH_OUTPUT)
        words = words.removeprefix("the ") if is_class else f"{PREDICTION_WORD} of {words}"
    if center is None:
        return folded(words, length)
    zero = f"({CENTRED[center]})"
    if len(words) <= length:
        return f"{words}\n{zero}"
    return folded(f"{words} {zero}", length, lines=3)


def predicted(result: Captioned) -> str:
    """Name what a model predicts, with its unit; a bare key says that it is a prediction."""
    words = result.captions.value_axis(result.output)
    return words if result.output in result.captions.outputs else f"{PREDICTION_WORD} of {words}"


def in_sentence(result: Captioned) -> str:
    """Name an output behind "effect on", with its unit."""
    # What a model answers has an article; what the user calls it stands as it is.
    return write_output_label(result.captions, result.output)


def write_output_label(captions: Captions, output: str) -> str:
    """Name the output of a key behind "effect on", with its unit."""
    called, words = captions.output(output), captions.value_axis(output)
    is_answer = called.startswith(tuple(f"{answer} of " for answer in CLASS_OUTPUT_KINDS))
    return f"the {words}" if is_answer or called == PREDICTION_WORD else words


def tell_apart(words: Sequence[str]) -> list[str]:
    """Say of several outputs what tells them apart: all may be probabilities of something.

    Examples
    --------
    >>> tell_apart(["probability of wine = Barolo", "probability of wine = Barbera"])
    ['wine = Barolo', 'wine = Barbera']
    >>> tell_apart(["price", "rent"])
    ['price', 'rent']
    """
    answer = common_answer(words)
    return [word.removeprefix(f"{answer} of ") for word in words] if answer else list(words)


def common_answer(words: Sequence[str]) -> str:
    """What a model answers about all of several classes; nothing where these are no classes."""
    if len(words) < 2:
        return ""
    found = (a for a in CLASS_OUTPUT_KINDS if all(word.startswith(f"{a} of ") for word in words))
    return next(found, "")


def output_names(results: Sequence[Captioned]) -> dict[str, str]:
    """What people read for each of several outputs, where the axis says what all of them are."""
    keys = list(dict.fromkeys(result.output for result in results))
    words = tell_apart([results[0].captions.output(key) for key in keys])
    return dict(zip(keys, words, strict=True))


def slope_label(result: Result, length: int) -> str:
    """Say what a slope is of: so much of the output for one unit of the feature."""
    captions = result.captions
    per = AXIS_KIND_UNITS[find_result_axis_kind(result)] or f"unit of {captions.axis(result.name)}"
    return folded_first(
        [f"change of {in_sentence(result)} per {per}", f"change per {per}", "change per unit"],
        length,
        lines=3,
    )


def interval_name(level: float) -> str:
    """Say what the ribbon is.

    Examples
    --------
    >>> interval_name(0.95)
    '95 % interval of the mean'
    """
    return f"{100 * level:.4g} % interval of the mean"


# --- Ticks of a continuous axis: plain numbers, dates, durations


CALENDAR = (-719_162.0, 2_932_896.0)  # days from 1970 to the years 1 and 9999
FEWEST_DATES = 5  # ticks: with fewer Matplotlib finds no step for 19 to 23 months, and warns
SECOND, MINUTE, HOUR = 1.0, 60.0, 3_600.0
TICK_UNITS = {"d": SECONDS_PER_DAY, "h": HOUR, "min": MINUTE, "s": SECOND, "ms": 1e-3, "µs": 1e-6}
MAX_TICKS = 8  # ticks of a large panel
LOG_PARTS = ((1.0, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0, 3.0))
CLOCK_STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    SECONDS_PER_DAY,
)


class DurationLocator(Locator):
    """Ticks at whole seconds, minutes, hours or days, whichever fit the range."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self) -> Any:
        """Ticks of the axis that this belongs to."""
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Ticks between two numbers of seconds."""
        low, high = min(vmin, vmax), max(vmin, vmax)
        least = (high - low) / self.most
        if not CLOCK_STEPS[0] <= least <= CLOCK_STEPS[-1]:
            unit = SECONDS_PER_DAY if least > SECONDS_PER_DAY else SECOND
            plain = MaxNLocator(self.most, steps=[1, 2, 5, 10])
            return np.asarray(plain.tick_values(low / unit, high / unit)) * unit
        step = next(step for step in CLOCK_STEPS if step >= least)
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        return np.arange(first, last + 1) * step + 0.0  # 0, not -0


class DurationFormatter(Formatter):
    """Seconds in the largest unit in which all ticks are whole: '30 min', '2 h'."""

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002
        """Write one number of seconds by itself."""
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Write all ticks."""
        ticks = np.asarray(values, dtype=np.float64)
        whole = {name: np.allclose(ticks / u, np.rint(ticks / u)) for name, u in TICK_UNITS.items()}
        name = next((name for name in TICK_UNITS if whole[name]), "s")
        return [
            f"{tick / TICK_UNITS[name] + 0.0:.10g} {name}".replace("-", MINUS_SIGN)
            for tick in ticks
        ]


def dress_places(
    ax: Axes,
    kind: AxisKind,
    ends: tuple[float, float],
    *,
    ticks: int = 8,
    along: Literal["x", "y"] = "x",
) -> None:
    """Write the values of a feature that reaches from one end to another, along either axis."""
    axis, set_limits = (ax.xaxis, ax.set_xlim) if along == "x" else (ax.yaxis, ax.set_ylim)
    if kind == "date" and in_calendar(ends):
        low, high = axis.get_view_interval()
        set_limits(max(low, CALENDAR[0]), min(high, CALENDAR[1]), auto=True)
        most = max(FEWEST_DATES, ticks)
        locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    elif kind == "duration":
        axis.set_major_locator(DurationLocator(max(3, ticks - 2)))  # '30 min' is wide
        axis.set_major_formatter(DurationFormatter())


def count_log(low: float, high: float, parts: Sequence[float]) -> int:
    """Count such parts of the powers of ten between two numbers.

    Examples
    --------
    >>> count_log(1.0, 100.0, (1.0, 2.0, 5.0))
    7
    """
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    places = np.outer(powers, parts)
    return int(((places >= low) & (places <= high)).sum())


def log_text(value: float, position: int | None) -> str:  # noqa: ARG001
    """Write the number at a tick (a function with a name, so that figures can be pickled)."""
    return format_rounded_number(value, 3)


def in_calendar(ends: tuple[float, float]) -> bool:
    """Tell the same of days since 1970."""
    return CALENDAR[0] <= ends[0] and ends[1] <= CALENDAR[1] + 1


def axis_name(result: Result, length: int) -> str:
    """Name the axis of a feature."""
    words = result.captions.axis(result.name)
    return places_name(words, find_result_axis_kind(result), reach(result), length)


def places_name(name: str, kind: AxisKind, ends: tuple[float, float], length: int) -> str:
    """Name an axis that reaches from one end to another."""
    unit = " (days since 1970)" if kind == "date" and not in_calendar(ends) else ""
    return fit_name(name, length) + unit


def write_only_value(result: Result) -> str:
    """Write the one value of a constant feature."""
    value, kind = reach(result)[0], find_result_axis_kind(result)
    if result.labels:
        return f"one level '{fit_name(result.labels[0], 20)}'"
    return (
        f"one value {value:.6g}"
        if kind == "number"
        else f"one value {format_axis_value(value, kind)}"
    )
