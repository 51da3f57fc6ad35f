"""Names as readers wrote them: never read as mathematics, never too long, never a missing glyph."""

from __future__ import annotations

from textwrap import wrap
from typing import TypedDict

from matplotlib.font_manager import FontProperties, findfont, get_font

from rhale.results.numerals import write_number, write_with_error


class Literal(TypedDict):
    """Keywords that make Matplotlib show a text letter by letter."""

    parse_math: bool
    usetex: bool


LITERAL = Literal(parse_math=False, usetex=False)
MINUS = "\u2212"
TIE, SIGNS = "\u00a0", "=≤>±"  # a space at which no line is broken
STAND_INS = "\u25a1?"


def shown(name: str, length: int) -> str:
    """Write a name on one line of at most `length` letters, all of which the font has.

    Examples
    --------
    >>> shown("country_of_origin_is_Norway", 15)
    'country…_Norway'
    """
    line = "".join(_drawable(" ".join(str(name).split())))
    if len(line) <= length:
        return line
    tail = (length - 1) // 2
    return f"{line[: length - 1 - tail]}…{line[len(line) - tail :]}"


def wrapped(name: str, length: int) -> str:
    """Write a name on one line, or on two where it is longer than `length` letters.

    Examples
    --------
    >>> print(wrapped("country_of_origin_is_Norway", 20))
    country_of_origin_is
    _Norway
    """
    line = shown(name, 2 * length)
    return f"{line[:length]}\n{line[length:]}" if len(line) > length else line


def folded(sentence: str, length: int, lines: int = 2) -> str:
    """Write a sentence on lines of at most `length` letters, broken between words where it can be.

    Examples
    --------
    >>> print(folded("sex = female and smoker = yes", 20))
    sex = female and
    smoker = yes
    """
    parts = wrap(_tied(shown(sentence, 10_000)), length)
    if len(parts) > lines:
        parts = wrap(_tied(shown(sentence, lines * length)), length)[:lines]
    return "\n".join(parts).replace(TIE, " ")


def _tied(sentence: str) -> str:
    """Hold signs and what stands around them together."""
    for sign in SIGNS:
        sentence = sentence.replace(f" {sign} ", f"{TIE}{sign}{TIE}")
    return sentence.replace(" %", f"{TIE}%")


def joined(names: list[str], length: int) -> str:
    """Write different names side by side, each once."""
    return shown(" / ".join(dict.fromkeys(names)), length)


def number(value: float, digits: int = 3) -> str:
    r"""Write a number with so many digits; a number that is not known is a dash.

    Examples
    --------
    >>> number(12345.0), number(0.5), number(-2e-7)
    ('12,345', '0.5', '\u22122e\u22127')
    """
    return write_number(value, digits).replace("-", MINUS)


def number_with_error(value: float, error: float) -> str:
    """Write a number and its standard error, the digits of which say how many the number has.

    Examples
    --------
    >>> number_with_error(97466.3, 781.2)
    '97,470 ± 780'
    """
    return write_with_error(value, error).replace("-", MINUS)


def plain_number(value: float, digits: int = 3) -> str:
    """Write a number with so many digits that count: those behind them are zeros.

    Examples
    --------
    >>> plain_number(27_051.0), plain_number(0.4567, 2), plain_number(2.5e7)
    ('27,100', '0.46', '2.5e7')
    """
    return number(float(f"{value:.{digits}g}"), 6)


def _drawable(text: str) -> list[str]:
    """Replace letters that the reader's fonts lack (they would draw nothing, and warn)."""
    families = FontProperties().get_family()
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in families]

    def has(letter: str) -> bool:
        return letter.isascii() or any(font.get_char_index(ord(letter)) for font in fonts)

    stand_in = next(letter for letter in STAND_INS if has(letter))
    return [letter if has(letter) else stand_in for letter in text]
