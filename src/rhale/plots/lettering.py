"""Names as readers wrote them: never read as mathematics, never too long, never a missing glyph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TypedDict

from matplotlib.font_manager import FontProperties, findfont, get_font

from rhale.results.numerals import write_number, write_with_error


class Literal(TypedDict):
    """Keywords that make Matplotlib show a text letter by letter."""

    parse_math: bool
    usetex: bool


LITERAL = Literal(parse_math=False, usetex=False)
MINUS_SIGN = "\u2212"
NO_BREAK_SPACE, RELATION_SIGNS = "\u00a0", "=≤>±"  # a space at which no line is broken
BREAKS = " _-/.,;:)"  # behind which a name may go on in the next line
STAND_INS = "\u25a1?"


def fit_name(name: str, length: int) -> str:
    """Write a name on one line of at most `length` letters, all of which the font has.

    Examples
    --------
    >>> fit_name("country_of_origin_is_Norway", 15)
    'country…_Norway'
    """
    line = drawable(" ".join(str(name).split()))
    if len(line) <= length:
        return line
    tail = (length - 1) // 2
    return f"{line[: length - 1 - tail]}…{line[len(line) - tail :]}"


def wrapped(name: str, length: int) -> str:
    """Write a name on one line, or on two where it is longer than `length` letters.

    Notes
    -----
    Lines end behind spaces, underscores and the like; inside of a word only where the word alone
    is longer than a line.

    Examples
    --------
    >>> print(wrapped("country_of_origin_is_Norway", 20))
    country_of_origin_
    is_Norway
    """
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
    """Write a sentence on lines of at most `length` letters, broken between words where it can be.

    Examples
    --------
    >>> print(folded("sex = female and smoker = yes", 20))
    sex = female and
    smoker = yes
    """
    parts = wrap(_tied(fit_name(sentence, 10_000)), length)
    if len(parts) > lines:
        parts = wrap(_tied(fit_name(sentence, lines * length)), length)[:lines]
    return "\n".join(parts).replace(NO_BREAK_SPACE, " ")


def small_percent(share: float) -> str:
    """Write a share in per cent; what is hardly more than nothing is said to be that.

    Examples
    --------
    >>> small_percent(0.0065), small_percent(1e-11), small_percent(0.0)
    ('0.65 %', '< 0.01 %', '0 %')
    """
    return "< 0.01 %" if 0 < share < 1e-4 else f"{format_label_number(100 * share, 2)} %"


def folded_first(sentences: Sequence[str], length: int, lines: int = 2) -> str:
    """Write the first of some sentences, ever shorter, that has room on so many lines.

    Examples
    --------
    >>> print(folded_first(["change of the price per unit of age", "change per unit of age"], 12))
    change per
    unit of age
    """
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
    r"""Write a number with so many digits; a number that is not known is a dash.

    Examples
    --------
    >>> format_label_number(12345.0), format_label_number(0.5), format_label_number(-2e-7)
    ('12,345', '0.5', '\u22122e\u22127')
    """
    return write_number(value, digits).replace("-", MINUS_SIGN)


def number_with_error(value: float, error: float) -> str:
    """Write a number and its standard error, the digits of which say how many the number has.

    Examples
    --------
    >>> number_with_error(97466.3, 781.2)
    '97,470 ± 780'
    """
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
