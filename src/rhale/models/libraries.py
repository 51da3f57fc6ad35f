"""What other libraries call things: classes of models, messages of errors, names of outputs."""

from __future__ import annotations

import re
from typing import Any, Literal


def classes_of(model: Any) -> list[str]:
    """Names of a model's class and its ancestors, with their libraries."""
    return [f"{c.__module__.partition('.')[0]}.{c.__name__}" for c in type(model).__mro__]


# --- What other libraries say when they fail, in short


SOURCE_LINE = re.compile(r"^(\[[\d:]+\] )?\S+\.(cc|cpp|cu|h):\d+: ")
MAX_LIBRARY_MESSAGE = 200  # letters


def first_line(error: BaseException) -> str:
    r"""The first words of a long message, without the line of source that raised it."""
    lines = SOURCE_LINE.sub("", str(error).strip()).splitlines()
    return lines[0][:MAX_LIBRARY_MESSAGE] if lines else type(error).__name__


# --- What people read for an output, where the user does not say: prediction, probability of a class


Answer = Literal["prediction", "probability", "log-odds", "margin", "score", "risk score"]
RESPONSE_WORDS: dict[str, Answer] = {  # by the response of an estimator
    "predict_proba": "probability",
    "log_odds": "log-odds",
    "margin": "margin",
    "decision_function": "score",
}
BARE_CLASS_LABEL = re.compile(
    r"[-+]?\d+(\.\d*)?|True|False"
)  # says nothing without the name of its target


def word_class(answer: Answer, label: str, target: str = "") -> str:
    """Say what an answer about one class is; a prediction that has a name is called by it."""
    if answer == "prediction":
        return label
    if target:
        return f"{answer} of {target} = {label}"
    return (
        f"{answer} of class {label}"
        if BARE_CLASS_LABEL.fullmatch(label)
        else f"{answer} of {label}"
    )


def word_number(answer: Answer, place: int, n_all: int, target: str = "") -> str:
    """Say what an answer without a label is, by its place where there are several."""
    words = target if target and answer == "prediction" else answer
    words = f"{answer} of {target}" if target and answer != "prediction" else words
    return words if n_all == 1 else f"{words} {place + 1}"
