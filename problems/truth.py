"""What a problem is: a model, its rows, and the exact answer for every feature."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

FloatArray = npt.NDArray[np.float64]
Limits = tuple[float, float]

UNIFORM_STD = 1 / math.sqrt(12)


@dataclass(frozen=True)
class Truth:
    """The exact answer for one feature of a problem.

    Parameters
    ----------
    mean : callable
        Maps values z, shape (n,), to mu(z) = E[d | x_s = z], d being the derivative along x_s.
    std : callable
        Maps values z to sigma(z) = Std[d | x_s = z].
    curve : callable
        Maps values z to the integral of mu from the lower limit to z.
    limits : tuple of two floats
        Where the answer is meant to be compared; the curve is zero at the first.

    Examples
    --------
    >>> from problems import study_2
    >>> truth = study_2().truths["x1"]
    >>> truth.mean(np.array([0.0, 1.0]))
    array([0., 9.])
    >>> truth.curve(np.array([0.0, 1.0]))
    array([0. , 4.5])
    """

    mean: Callable[[FloatArray], FloatArray]
    std: Callable[[FloatArray], FloatArray]
    curve: Callable[[FloatArray], FloatArray]
    limits: Limits


@dataclass(frozen=True)
class Problem:
    """A function, its derivatives, a distribution of rows, and the exact answers.

    Parameters
    ----------
    name : str
        Name of the problem.
    predict : callable
        Maps rows, shape (n_rows, n_features), to values, shape (n_rows,).
    gradient : callable
        Maps rows to derivatives, shape (n_rows, n_features). At a kink it takes one side.
    sampler : callable
        Maps a random generator and a number of rows to rows; `draw` calls it with a seed.
    truths : mapping from str to Truth
        The exact answer for every feature, in the order of the columns.
    paper_sample : callable, optional
        Takes nothing and gives the very rows behind the published figure.

    Notes
    -----
    Every callable is a module-level function or a partial of one, so a problem pickles.

    Examples
    --------
    >>> from problems import intro
    >>> problem = intro()
    >>> problem.names
    ('x1', 'x2', 'x3')
    >>> problem.gradient(problem.draw(1000, seed=0)).shape
    (1000, 3)
    """

    name: str
    predict: Callable[[FloatArray], FloatArray]
    gradient: Callable[[FloatArray], FloatArray]
    sampler: Callable[[np.random.Generator, int], FloatArray]
    truths: Mapping[str, Truth]
    paper_sample: Callable[[], FloatArray] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in the order of the columns."""
        return tuple(self.truths)

    def draw(self, n_rows: int, seed: int = 0) -> FloatArray:
        """Draw independent rows.

        Parameters
        ----------
        n_rows : int
            How many rows to draw.
        seed : int
            Seed of a fresh generator; the global random state is not touched.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            One column per feature.

        Examples
        --------
        >>> from problems import case_a
        >>> case_a().draw(5, seed=1).shape
        (5, 3)
        """
        return self.sampler(np.random.default_rng(seed), n_rows)


def polynomial_truth(mean: Sequence[float], std: float, limits: Limits) -> Truth:
    """Truth whose mean effect is a polynomial (lowest power first) and whose spread is constant."""
    effect = Polynomial(mean)
    return Truth(effect, Polynomial([std]), effect.integ(lbnd=limits[0]), limits)


@dataclass(frozen=True)
class BrokenLine:
    """A continuous line from the origin, with one slope per stretch between positive kinks."""

    kinks: tuple[float, ...]
    slopes: tuple[float, ...]

    def slope(self, z: FloatArray) -> FloatArray:
        """Slope at z; a kink belongs to the stretch on its right."""
        return np.asarray(self.slopes)[np.searchsorted(self.kinks, z, side="right")]

    def height(self, z: FloatArray) -> FloatArray:
        """Integral of the slope from 0 to z: a line plus one hinge per kink."""
        height = self.slopes[0] * z
        for kink, change in zip(self.kinks, np.diff(self.slopes), strict=True):
            height = height + change * np.maximum(z - kink, 0.0)
        return height


def split_columns(rows: FloatArray) -> tuple[FloatArray, ...]:
    """Take rows apart into one array per feature."""
    return tuple(rows.T)


def normal_density(z: FloatArray) -> FloatArray:
    """Density of the standard normal distribution."""
    return np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)


def normal_cumulative(z: FloatArray) -> FloatArray:
    """Distribution function of the standard normal distribution."""
    tails: FloatArray = np.vectorize(math.erfc, otypes=[np.float64])(-z / math.sqrt(2))
    return 0.5 * tails
