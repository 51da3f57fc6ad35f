"""FeatureComparison: one feature in several explanations, each against the first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rhale.effects.alignment import share_places
from rhale.effects.difference import CurveDifference
from rhale.effects.result import Result, SeveralResults, is_constant
from rhale.errors import BadSettingError
from rhale.naming import find, near_names
from rhale.stats.arrays import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class FeatureComparison(SeveralResults):
    """One feature and output in several explanations.

    Attributes
    ----------
    names : tuple of str
        What the explanations are called.
    results : tuple of Result
        One for each.
    differences : tuple of CurveDifference
        Of every other one to the first.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> one = cx["x1"]
    >>> one.names, one.differs, one.moved
    (('old', 'new'), True, False)
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]
    differences: tuple[CurveDifference, ...]

    def __repr__(self) -> str:
        sizes = ", ".join(
            f"{one.second_name!r}: size={one.size:.3g}, p_value={one.p_value:.3g}"
            for one in self.differences
        )
        return f"FeatureComparison({self.name!r}, against {self.names[0]!r}: {sizes})"

    @property
    def _first(self) -> Result:
        return self.results[0]

    @property
    def size(self) -> float:
        """The largest size of the differences, by which features are ranked; nan if none is known."""
        return max((one.size for one in self.differences if one.is_known), default=float("nan"))

    @property
    def differs(self) -> bool:
        """Whether any of them differs from the first by more than the draw of the rows explains."""
        return any(one.differs for one in self.differences)

    @property
    def moved(self) -> bool:
        """Whether the rows of any of them moved against those of the first: data drift."""
        return any(one.drift is not None and one.drift.moved for one in self.differences)

    def against(self, other: str | int | None = None) -> CurveDifference:
        """The difference of one explanation to the first; name it where there are several.

        Parameters
        ----------
        other : str or int, optional
            Which explanation, by name or place behind the first; needed where there are more than two.

        Returns
        -------
        CurveDifference

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> cx["x1"].against("new").second_name
        'new'
        """
        others = self.names[1:]
        if other is None and len(others) > 1:
            msg = f"there are several to compare with {self.names[0]!r}, name one; "
            raise BadSettingError(msg + near_names("", others))
        place = 0 if other is None else find(other, others)
        if place is None:
            msg = f"{other!r} is not compared with {self.names[0]!r}; {near_names(str(other), others)}"
            raise BadSettingError(msg)
        return self.differences[place]

    def difference(self, x: Any, other: str | int | None = None) -> FloatArray:
        """How far a curve is above the first at x; nan beyond what both have.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values.
        other : str or int, optional
            Which explanation; needed where there are more than two.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> np.diff(cx["x1"].difference([0.0, 0.5])).round(6)
        array([1.])
        """
        return self.against(other).difference(x)

    def ci(
        self, x: Any, other: str | int | None = None, *, level: float | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval of that difference; as in `difference`.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values.
        other : str or int, optional
            Which explanation; needed where there are more than two.
        level : float, optional
            Probability to cover at one x; that of the comparison if not given.

        Returns
        -------
        low, high : ndarray of shape (n_x,)

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> low, high = cx["x1"].ci(0.5)
        >>> bool(low < cx["x1"].difference(0.5) < high)
        True
        """
        return self.against(other).ci(x, level=level)

    @cached_property
    def lifts(self) -> tuple[float, ...]:
        """What is added to each centred curve, so that all have one zero: one per explanation."""
        first, one = self.results[0], self.differences[0]
        base = 0.0  # the zero of the first is over its own rows
        if is_constant(first):
            pass
        elif one.zero_at is not None:
            base = -float(first.height(np.array([one.zero_at]))[0])
        elif one.standing is not first:
            places = share_places(first, first, one.standing)
            base = -float(places.weight @ first.height(places.x)) if places.x.size else 0.0
        return (base, *(base + one.lift for one in self.differences))
