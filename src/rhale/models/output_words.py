"""What people read for an output, where the user does not say: prediction, probability of a class."""

from __future__ import annotations

import re
from typing import Literal

Answer = Literal["prediction", "probability", "log-odds", "margin", "score"]
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
    """Say what an answer about one class is; a prediction that has a name is called by it.

    Examples
    --------
    >>> word_class("probability", "1", "churn"), word_class("probability", "1")
    ('probability of churn = 1', 'probability of class 1')
    >>> word_class("log-odds", "Barolo")
    'log-odds of Barolo'
    """
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
    """Say what an answer without a label is, by its place where there are several.

    Examples
    --------
    >>> word_number("prediction", 0, 1), word_number("prediction", 1, 3, "price")
    ('prediction', 'price 2')
    """
    words = target if target and answer == "prediction" else answer
    words = f"{answer} of {target}" if target and answer != "prediction" else words
    return words if n_all == 1 else f"{words} {place + 1}"
