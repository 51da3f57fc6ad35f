"""RefitPair: what two features do together, in several trainings of a learner. Frozen numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.overlap import Overlap
from rhale.kernels.records import freeze, same_fields
from rhale.kernels.replication import Replication, replicate
from rhale.kernels.student import student_quantile
from rhale.kernels.training_noise import mean_factor
from rhale.results.captions import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.results.numerals import write_number
from rhale.results.pair_effect import PairEffect
from rhale.results.refit_effect import REPLICATION_LEVEL
from rhale.results.result import require_level


@dataclass(frozen=True, eq=False, repr=False)
class RefitPair:
    """How strongly two features interact in every training, and whether that comes back.

    Attributes
    ----------
    names : tuple of str
        The two features.
    output : str
        What is moved.
    strengths : ndarray of shape (n_trainings,)
        Strength in every training.
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two surfaces.
    overlap : Overlap
        Which rows the trainings share.
    captions : Captions
        What people read for features and outputs.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
    >>> models = [lambda rows: rows[:, 0] * rows[:, 1], lambda rows: 3 * rows[:, 0] * rows[:, 1]]
    >>> halves = [np.arange(50), np.arange(50, 100)]
    >>> pair = rhale.refits(models, x, train=halves, pairs="all").pairs[0]
    >>> pair.names, round(float(pair.strengths[1] / pair.strengths[0]), 6)
    (('x0', 'x1'), 3.0)
    """

    names: tuple[str, str]
    output: str
    strengths: FloatArray
    gram: FloatArray
    overlap: Overlap
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"RefitPair({self.names!r}, output={self.output!r}, {len(self.strengths)} trainings, "
            f"strength={write_number(self.strength)}, replicated={write_number(self.replicated)}, "
            f"p={self.p_value:.2g})"
        )

    @classmethod
    def of(cls, pairs: Sequence[PairEffect], overlap: Overlap) -> RefitPair:
        """Compare one pair in several trainings, all measured in the same cells.

        Parameters
        ----------
        pairs : sequence of PairEffect
            The same pair in every training.
        overlap : Overlap
            Which rows the trainings share.

        Returns
        -------
        RefitPair

        Examples
        --------
        >>> import numpy as np, rhale
        >>> from rhale.kernels.overlap import Overlap
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
        >>> found = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> RefitPair.of([found, found], Overlap.independent(2)).strength_between
        0.0
        """
        first = pairs[0]
        strengths = np.array([pair.strength for pair in pairs])
        return cls(first.names, first.output, strengths, compare_surfaces(pairs), overlap)

    @property
    def strength(self) -> float:
        """Mean of the strength over the trainings, in units of the output."""
        return float(self.strengths.mean())

    @property
    def strength_between(self) -> float:
        """Deviation of the strength between trainings, in units of the output."""
        return float(self.strengths.std(ddof=1))

    def strength_ci(self, level: float = 0.95) -> tuple[float, float]:
        """Where the mean strength of all possible trainings is; never below zero.

        Parameters
        ----------
        level : float
            Probability that the interval covers.

        Returns
        -------
        low, high : float
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
        >>> models = [lambda rows: rows[:, 0] * rows[:, 1], lambda rows: 3 * rows[:, 0] * rows[:, 1]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> pair = rhale.refits(models, x, train=halves, pairs="all").pairs[0]
        >>> low, high = pair.strength_ci()
        >>> low <= pair.strength <= high
        True
        """
        require_level(level)
        quantile = student_quantile(level, np.array([self.overlap.degrees]))[0]
        factor = mean_factor(self.gram, self.overlap)
        half = float(quantile * np.sqrt(factor)) * self.strength_between
        return float(np.maximum(self.strength - half, 0.0)), self.strength + half

    @cached_property
    def replication(self) -> Replication:
        """What trainings agree on beyond chance."""
        return replicate(self.gram, self.overlap, self.drawn)

    @property
    def drawn(self) -> float:
        """Mean square of what the draw of the rows adds to a surface: what strengths leave out."""
        return float(np.mean(np.maximum(np.diag(self.gram) - self.strengths**2, 0.0)))

    @property
    def replicated(self) -> float:
        """Strength without what the learner took from chance; 0 where nothing comes back."""
        return self.replication.size

    @property
    def p_value(self) -> float:
        """How likely, 0 to 1, surfaces would agree so well if the two did not interact."""
        return self.replication.p_value

    @property
    def comes_back(self) -> bool:
        """Whether trainings on other rows show the interaction again: p of .05 or less."""
        return self.p_value <= REPLICATION_LEVEL


def rank_pairs(pairs: Iterable[RefitPair]) -> list[RefitPair]:
    """Pairs with the largest replicated strength first; by strength where that is not known."""
    return sorted(pairs, key=lambda pair: (-np.nan_to_num(pair.replicated), -pair.strength))


def compare_surfaces(pairs: Sequence[PairEffect]) -> FloatArray:
    """Mean over the rows of the product of every two surfaces, (n_surfaces, n_surfaces).

    Notes
    -----
    By their sums and differences, whose mean squares over the rows are known in closed form.
    """
    ground = pairs[0].fit.ground
    surfaces = [pair.fit.surface for pair in pairs]
    gram = np.empty((len(pairs), len(pairs)))
    for i, own in enumerate(surfaces):
        for j, other in enumerate(surfaces[: i + 1]):
            both = float(ground.mean_square(own + other)) - float(ground.mean_square(own - other))
            gram[i, j] = gram[j, i] = both / 4
    return gram
