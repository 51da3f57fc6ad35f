"""How sums of leaves become answers: link functions, under the names that treelite uses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rhale.kernels import FloatArray


def identity(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """The sums themselves."""
    return sums


def sigmoid(sums: FloatArray, alpha: float) -> FloatArray:
    """Probability of one class, or of each class against all others."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-alpha * sums)))


def softmax(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """Probabilities of several classes."""
    powers = np.exp(sums - sums.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def exponential(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """Means of counts and of positive numbers."""
    with np.errstate(over="ignore"):  # infinite answers are refused, with the reason
        return np.asarray(np.exp(sums))


def signed_square(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """Undo LightGBM's square root of the target."""
    return np.asarray(np.sign(sums) * sums**2)


def log_one_plus_exp(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """Positive numbers, nearly linear where they are large."""
    return np.asarray(np.logaddexp(0, sums))


def mean_and_variance(sums: FloatArray, alpha: float) -> FloatArray:  # noqa: ARG001
    """CatBoost's mean and the logarithm of its deviation."""
    with np.errstate(over="ignore"):
        return np.stack([sums[..., 0], np.exp(2 * sums[..., 1])], axis=-1)


LINKS: dict[str, Callable[[FloatArray, float], FloatArray]] = {
    "identity": identity,
    "identity_multiclass": identity,
    "sigmoid": sigmoid,
    "multiclass_ova": sigmoid,
    "softmax": softmax,
    "exponential": exponential,
    "signed_square": signed_square,
    "logarithm_one_plus_exp": log_one_plus_exp,
    "mean_and_variance": mean_and_variance,
}
