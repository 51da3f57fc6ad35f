"""Link functions: from sums of leaves to predictions, and how far a prediction can jump."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rhale.effects.jumps import JUMP_FIXED_POINT_SCALE
from rhale.models.trees.forest import Forest
from rhale.models.trees.reading import Reading
from rhale.stats.arrays import FloatArray, IntArray


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


# --- How sums of leaves become answers, and how far an answer can jump


PROBABILITIES = ("sigmoid", "multiclass_ova", "softmax", "identity", "identity_multiclass")
GROWING = ("exponential", "mean_and_variance")  # beyond all bounds that a forest of leaves gives
MAX_JUMP_RATIO = 2.0**24  # times the usual answer: jumps beyond are refused
N_BETWEEN = 65  # places between the extremes
N_CORNERS = 512  # draws of smallest, mean and largest sums of several parts
WIDEST_ODDS = 2.0**11  # log-odds of the smallest float64 and of the largest below 1


@dataclass(frozen=True, eq=False)
class OutputTransform:
    """How sums of leaves become the answers whose jumps are wanted."""

    base: FloatArray  # (n_outputs,): what is added to the sums
    # Turns sums (n, n_outputs) into answers; None where a jump of the sum, times `factor`, is the
    # jump of the answer
    link: Callable[[FloatArray], FloatArray] | None
    factor: float  # of a jump of the sum, where `link` is None
    chosen: tuple[int, ...]  # the outputs that are wanted, of all the answers
    bound: float  # A power of two that no jump exceeds

    @property
    def unit(self) -> float:
        """Of the jumps in whole numbers: no sum of shares of them overflows."""
        return self.bound / JUMP_FIXED_POINT_SCALE


def bound_jumps(reading: Reading) -> float:
    """A power of two that no jump of an answer exceeds, from the trees and the link alone."""
    # Links that are no probabilities rise, output by output: no answer lies outside those for the
    # sums of all smallest and all largest leaves. Exponentials of these may be far from any
    # answer, and a unit that allows for them would be coarse. So there the bound is also at most
    # 2**24 times the answer for mean leaves, and jumps beyond it are refused by whoever meets
    # them.
    if reading.link in PROBABILITIES:
        return 1.0
    least, mean, most = sum_leaves(reading.forest)
    ends = np.stack([least, mean, most]) * np.ldexp(1.0, -reading.forest.exponent) + reading.base
    with np.errstate(over="ignore", invalid="ignore"):
        low, usual, high = LINKS[reading.link](ends, reading.alpha)
        widest = float(np.max(high - low))
    if reading.link in GROWING:
        widest = float(np.fmin(widest, MAX_JUMP_RATIO * np.max(np.abs(usual))))
    return round_up(widest)


def bound_mapped(reading: Reading, link: Callable[[FloatArray], FloatArray]) -> float:
    """The same where answers are mapped further: from answers between those of all extreme leaves."""
    # As there, no bound is beyond 2**24 times what is usual: the answer for mean leaves, or how
    # far it is from the nearer one of the extremes.
    least, mean, most = (v.astype(np.float64) for v in sum_leaves(reading.forest))
    part = np.linspace(0.0, 1.0, N_BETWEEN)[:, None]
    sums = np.concatenate([mean[None], least + part * (most - least)])
    with np.errstate(all="ignore"):
        found = link(sums * np.ldexp(1.0, -reading.forest.exponent) + reading.base)
        usual, between = found[0], found[1:]
        widest = float(np.nanmax(between.max(axis=0) - between.min(axis=0)))
        beside = np.fmin(np.abs(usual - between[0]), np.abs(between[-1] - usual))
        size = float(np.nanmax(np.fmax(np.abs(usual), beside)))
    return round_up(float(np.fmin(widest, MAX_JUMP_RATIO * size)))


def bound_combined(reading: Reading) -> float:
    """The same where several sums are combined, which may go up and down against each other."""
    assert reading.combine is not None  # noqa: S101 - our own mistake
    least, mean, most = (v.astype(np.float64) for v in sum_leaves(reading.forest))
    ends = np.stack([least, mean, most]) * np.ldexp(1.0, -reading.forest.exponent) + reading.base
    rng, column = np.random.default_rng(0), np.arange(ends.shape[1])
    corners = ends[rng.integers(0, 3, (N_CORNERS, ends.shape[1])), column]
    with np.errstate(all="ignore"):
        found = reading.combine(np.concatenate([ends, corners]))
        usual = float(np.max(np.abs(found[1])))
        widest = float(np.nanmax(found.max(axis=0) - found.min(axis=0)))
    # a corner that was not drawn is hardly more than four times as far
    return round_up(4 * float(np.fmin(widest, MAX_JUMP_RATIO * max(usual, np.finfo(float).tiny))))


def sum_leaves(forest: Forest) -> tuple[IntArray, FloatArray, IntArray]:
    """Sums over the trees of the smallest, the mean and the largest leaf, for each output."""
    sizes = (np.diff(np.append(forest.roots, len(forest.nodes))) + 1) // 2
    starts = np.cumsum(sizes) - sizes
    n_outputs = forest.n_outputs
    found = np.zeros(n_outputs, np.int64), np.zeros(n_outputs), np.zeros(n_outputs, np.int64)
    if not sizes.size:
        return found
    leaves, width = forest.leaves, forest.leaves.shape[1]
    each = (
        np.minimum.reduceat(leaves, starts),
        np.add.reduceat(leaves.astype(np.float64), starts) / sizes[:, None],
        np.maximum.reduceat(leaves, starts),
    )
    outputs = forest.targets[:, None] + np.arange(width)
    for total, one in zip(found, each, strict=True):
        np.add.at(total, outputs, one)
    return found


def round_up(size: float) -> float:
    """The next power of two above a size.

    Examples
    --------
    >>> round_up(3.0), round_up(4.0), round_up(0.0)
    (4.0, 8.0, 1.0)
    """
    return float(np.ldexp(1.0, int(np.frexp(size)[1])))
