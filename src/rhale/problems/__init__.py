"""Synthetic problems whose mean effect, spread and accumulated curve are known exactly."""

from collections.abc import Callable

from rhale.problems.paper import (
    case_a,
    case_b,
    case_c,
    intro,
    running,
    study_1,
    study_2,
    study_samples,
)
from rhale.problems.textbook import (
    additive,
    correlated,
    lognormal,
    product,
    sine_product,
    square,
    threshold,
)
from rhale.problems.truth import FloatArray, Problem, Truth

__all__ = [
    "ALL",
    "FloatArray",
    "Problem",
    "Truth",
    "additive",
    "case_a",
    "case_b",
    "case_c",
    "correlated",
    "intro",
    "lognormal",
    "product",
    "running",
    "sine_product",
    "square",
    "study_1",
    "study_2",
    "study_samples",
    "threshold",
]

ALL: tuple[Callable[[], Problem], ...] = (
    intro,
    running,
    case_a,
    case_b,
    case_c,
    study_1,
    study_2,
    sine_product,
    square,
    product,
    threshold,
    additive,
    lognormal,
    correlated,
)
