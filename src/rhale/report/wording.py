"""Numbers, places on an axis and names as words of a page."""

from __future__ import annotations

import math
import re
import unicodedata

import numpy as np

from rhale.kernels.times import SECONDS_PER_DAY, AxisKind, format_axis_value
from rhale.results import numerals
from rhale.results.captions import Captions
from rhale.results.numerals import (
    PLAIN_NUMBER_RANGE,
    decimals_of,
    is_plain,
    without_zeros,
    write_decimals,
    write_number,
    write_with_error,
)

MINUS_SIGN, UNKNOWN_DASH, INSTEAD = "\u2212", numerals.UNKNOWN_DASH, "\ufffd"
MAX_NAME_LETTERS = 1_000  # letters of a name
SMALL_P = 1e-4  # a smaller chance is but called small
CONTROL_CATEGORIES = {"Cc", "Cs"}  # control signs and halves of letters, which no page can hold
NO_LETTERS = "\ufffe\uffff"  # nor these, in a picture
TURNING = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "RLI", "LRI", "FSI", "PDF", "PDI"}
OUTPUT_KIND_WORDS = (
    "prediction",
    "probability",
    "log-odds",
    "margin",
    "score",
)  # of models, in words
UNNAMED_OUTPUT_PATTERN = re.compile(r"y\d*")  # keys of outputs without a name
SHORT_OUTPUT, SHORT_UNIT = 80, 20
DURATION_UNITS = {"d": SECONDS_PER_DAY, "h": 3_600.0, "min": 60.0, "s": 1.0}


def clean(text: object, longest: int = MAX_NAME_LETTERS) -> str:
    r"""Write a name on one line, with nothing that a page cannot hold, and cut it if need be.

    Examples
    --------
    >>> clean("two\nlines"), clean("a long name", 7)
    ('two lines', 'a long…')
    """
    line = without_steering(" ".join(str(text).split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def shorten_middle(text: object, longest: int) -> str:
    """Write a long name without its middle: names that begin alike are still told apart.

    Examples
    --------
    >>> shorten_middle("a long name = 7", 9), shorten_middle("short", 9)
    ('a lo… = 7', 'short')
    """
    line, half = clean(text, len(str(text)) + 1), (longest - 1) // 2
    return line if len(line) <= longest else f"{line[:half]}…{line[-half:]}"


def without_steering(text: str) -> str:
    """Replace letters that steer, line ends among them, by a sign that they are there."""
    return "".join(
        INSTEAD if unicodedata.category(c) in CONTROL_CATEGORIES or c in NO_LETTERS else c
        for c in text
    )


def format_report_number(value: float, digits: int = 3) -> str:
    """Write a number with so many digits; a dash if it is not known.

    Examples
    --------
    >>> format_report_number(0.12345), format_report_number(12345.6), format_report_number(2.5e7), format_report_number(float("nan")) == UNKNOWN_DASH
    ('0.123', '12,346', '2.5e7', True)
    """
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
    """Write a number of a column whose largest one has so many digits, so that the points align.

    Examples
    --------
    >>> fixed(1.23456, 12.0), fixed(0.0004, 12.0), fixed(0.5, 1e9)
    ('1.23', '0.00', '0.5')
    """
    if not math.isfinite(value) or largest == 0 or not is_plain(largest):
        return format_report_number(value)
    decimals = max(0, decimals_of(largest, digits))
    return write_decimals(value, decimals, apart=True).replace("-", MINUS_SIGN)


def fixed_or_dash(value: float | None, largest: float, digits: int = 4) -> str:
    """Write a number of a column; a dash if it is not known."""
    return fixed(float("nan") if value is None else value, largest, digits)


def plus_minus(value: float, error: float) -> str:
    """Write a number and its standard error, but for an error that nobody would see.

    Examples
    --------
    >>> plus_minus(0.3123, 0.0214), plus_minus(0.3123, 1e-9)
    ('0.312 ± 0.021', '0.312')
    """
    if not math.isfinite(error) or error < 5e-4 * abs(value) or error == 0:
        return format_report_number(value)
    return write_with_error(value, error).replace("-", MINUS_SIGN)


def chance_in_words(p: float) -> str:
    r"""Write a p-value.

    Examples
    --------
    >>> chance_in_words(0.0312), chance_in_words(1e-30), chance_in_words(1.0)
    ('0.031', '<\xa00.0001', '1')
    """
    if not math.isfinite(p):
        return UNKNOWN_DASH
    return f"<\u00a0{SMALL_P:.4f}" if p < SMALL_P else format_report_number(p, 2)


def isolated(name: str) -> str:
    r"""Keep a name that turns the direction of writing from turning the words around it.

    Examples
    --------
    >>> isolated("age"), isolated("\u202eega") == "\u2068\u202eega\u2069"
    ('age', True)
    """
    turns = any(unicodedata.bidirectional(letter) in TURNING for letter in name)
    return f"\u2068{name}\u2069" if turns else name


def named_output(captions: Captions, output: str, *, unit: bool = False) -> str:
    """Name an output within a sentence, perhaps with its unit; a given name stands as it is.

    Examples
    --------
    >>> captions = Captions(outputs={"1": "probability of churn = 1", "y0": "price"})
    >>> [named_output(captions, name) for name in ("1", "y0", "y1")]
    ['the probability of churn = 1', 'price', 'the prediction']
    """
    is_bare = output not in captions.outputs and UNNAMED_OUTPUT_PATTERN.fullmatch(output)
    words = "prediction" if is_bare else isolated(clean(captions.output(output), SHORT_OUTPUT))
    own = clean(captions.unit(output), SHORT_UNIT) if unit else ""
    named = f"the {words}" if words.startswith(OUTPUT_KIND_WORDS) else words
    return f"{named} ({isolated(own)})" if own else named


def breakable(name: str) -> list[str]:
    """Cut a long name where a line may end: behind an underscore, before a hump.

    Examples
    --------
    >>> breakable("HistGradientBoosting"), breakable("body_mass")
    (['Hist', 'Gradient', 'Boosting'], ['body_', 'mass'])
    """
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
    r"""Keep the brackets behind a name of another direction where they are.

    Examples
    --------
    >>> straight("sex (92 %)"), straight("\u05d0 (92 %)") == "\u05d0\u200e (92 %)"
    ('sex (92 %)', True)
    """
    before, bracket, after = text.rpartition(" (")
    return f"{before}\u200e (" + after if isolated(before) != before else before + bracket + after


def format_axis_position(value: float, kind: AxisKind, span: float) -> str:
    """Write a place on an axis that is `span` long, to about a hundredth of it.

    Examples
    --------
    >>> format_axis_position(20.123, "format_report_number", 60.0), format_axis_position(18000.0, "date", 400.0), format_axis_position(5400.0, "duration", 9e3)
    ('20.1', '2019-04-14', '1.5 h')
    """
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
    """Name the unit in which a stretch of time is written.

    Examples
    --------
    >>> unit_of(7200.0), unit_of(90.0)
    ('h', 's')
    """
    return next((name for name, size in DURATION_UNITS.items() if seconds >= 2 * size), "s")


def listed(names: list[str], most: int = 6) -> str:
    """List some names, and count the others.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
