"""What axes, outputs and intervals are called: by captions, in the words of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rhale.kernels.curve import Center
from rhale.kernels.times import AXIS_KIND_UNITS
from rhale.plots.lettering import folded, folded_first, join_names
from rhale.results.captions import Captions
from rhale.results.result import Result, find_result_axis_kind

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

    Parameters
    ----------
    results : sequence of Result
        What is drawn.
    center : {"mean", "start", "uniform"} or None
        Where curves are zero.
    length : int
        Letters of a line.
    each : bool
        Whether every output has a curve or a panel of its own, which says its name.
    """
    is_prediction = center is None or all(r.quantity == "prediction" for r in results)
    if each:
        words = each_output(results)
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
    """Name an output behind "effect on", with its unit.

    Notes
    -----
    What a model answers has an article; what the user calls it stands as it is.
    """
    return write_output_label(result.captions, result.output)


def write_output_label(captions: Captions, output: str) -> str:
    """Name the output of a key behind "effect on", with its unit.

    Examples
    --------
    >>> write_output_label(Captions(outputs={"y0": "prediction"}), "y0")
    'the prediction'
    >>> write_output_label(Captions(outputs={"y0": "price"}, units={"y0": "$"}), "y0")
    'price ($)'
    """
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


def each_output(results: Sequence[Captioned]) -> str:
    """Name several outputs in one, with the unit that all of them have."""
    captions, keys = results[0].captions, list(dict.fromkeys(r.output for r in results))
    answer = common_answer([captions.output(key) for key in keys])
    words = f"the {answer} of each class" if answer else EACH_OUTPUT
    units = {captions.unit(key) for key in keys}
    unit = units.pop() if len(units) == 1 else ""
    return f"{words} ({unit})" if unit else words


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
