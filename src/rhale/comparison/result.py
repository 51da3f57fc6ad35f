"""Comparison: several explanations side by side, at one common zero. What the user holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Unpack, cast

import numpy as np

from rhale.comparison import table
from rhale.comparison.feature_comparison import FeatureComparison
from rhale.comparison.table import describe_comparison
from rhale.effects.curve import RowPlaces
from rhale.effects.difference import CurveDifference
from rhale.effects.explanation import Explanation
from rhale.effects.result import Result, as_points, find_result_axis_kind, require_level
from rhale.effects.result_set import ResultSet
from rhale.errors import BadSettingError
from rhale.naming import find, find_feature, near_names
from rhale.output.columns import Listing
from rhale.output.frame import as_frame
from rhale.output.labels import Captions
from rhale.output.picture_options import ComparisonOptions, with_options
from rhale.output.text import Note

Zero = str | int | Mapping[str, Any] | None
MIN_COMPARED_EXPLANATIONS = 2
COUNTED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ResultSet[FeatureComparison]):
    """Explanations side by side: how far the curves of every feature are from those of the first.

    Attributes
    ----------
    names : tuple of str
        What the explanations are called.
    explanations : tuple of Explanation
        The explanations themselves.
    zero : str, int, mapping or None
        Where curves are zero, as it was asked for.
    level : float
        Of intervals.

    Notes
    -----
    Errors of the curves are added as those of independent draws of rows are. Where both explain
    the same rows, intervals are mostly too wide: see `rhale.effects.difference`.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> [one.name for one in cx.ranked() if one.differs]
    ['x1']
    >>> np.diff(cx["x1"].difference([0.0, 0.5])).round(6)
    array([1.])
    """

    names: tuple[str, ...]
    explanations: tuple[Explanation, ...]
    zero: Zero = None
    level: float = 0.95

    _called: ClassVar[str] = "cx"

    @property
    def _results(self) -> tuple[FeatureComparison, ...]:
        return self.comparisons

    @staticmethod
    def _rank(result: FeatureComparison) -> float:
        return float(-np.nan_to_num(result.size, nan=-1.0))

    @property
    def provenance(self) -> Mapping[str, Any]:
        """How the first explanation was made."""
        return self.explanations[0].provenance

    def __str__(self) -> str:
        return str(self._listing())

    def _listing(self, **options: Any) -> Listing:
        """The ranked table and its notes."""
        found = self.ranked(), self.names, self.zero_in_words, self.notes
        return table.list_comparison(*found, **options)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Features that all explanations have, in the order of the first."""
        first, *others = self.explanations
        return tuple(n for n in first.features if all(n in fx.features for fx in others))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Outputs that all have, as the first calls them; of one output each, that one."""
        first, *others = self.explanations
        if all(len(fx.outputs) == 1 for fx in self.explanations):
            return first.outputs
        return tuple(o for o in first.outputs if all(o in fx.outputs for fx in others))

    @property
    def captions(self) -> Captions:
        """What people read for features and outputs: the captions of the first."""
        return self.explanations[0].captions

    @cached_property
    def comparisons(self) -> tuple[FeatureComparison, ...]:
        """One for each feature and output: features first, outputs within them."""
        return tuple(self._compare(f, o) for f in self.features for o in self.outputs)

    def _compare(self, feature: str, output: str) -> FeatureComparison:
        """Set one feature and output of all explanations side by side."""
        results = tuple(
            fx[feature] if len(fx.outputs) == 1 else fx[feature, output] for fx in self.explanations
        )
        standing, zero_at = results[0], None
        if isinstance(self.zero, Mapping):
            zero_at = place_zero(self.zero, standing)
        elif self.zero is not None:
            standing = results[cast(int, find(self.zero, self.names))]
        first, *others = (sampled_values(fx, feature) for fx in self.explanations)
        return FeatureComparison(
            self.names,
            results,
            tuple(
                CurveDifference(
                    first_name=self.names[0],
                    second_name=name,
                    first=results[0],
                    second=second,
                    standing=standing,
                    rows=None if first is None or other is None else (first, other),
                    zero_at=zero_at,
                    level=self.level,
                )
                for name, second, other in zip(self.names[1:], results[1:], others, strict=True)
            ),
        )

    @property
    def zero_in_words(self) -> str:
        """Where curves are zero, in words."""
        if isinstance(self.zero, Mapping):
            rest = (
                ""
                if len(self.zero) >= len(self.features)
                else f", else over the rows of {self.names[0]}"
            )
            some = ", ".join(f"{name} = {value}" for name, value in list(self.zero.items())[:3])
            return f"at {some}{rest}"
        whose = self.names[0 if self.zero is None else cast(int, find(self.zero, self.names))]
        return f"on average over the rows of {whose}"

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know: what cannot be compared, and why."""
        return describe_comparison(self.names, self.explanations, self.comparisons)

    def summary(self, backend: str | None = None) -> Any:
        """One row per feature, output and explanation that is compared; largest difference first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the first explained table if not given.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> cx.summary("pandas")["feature"].tolist()
        ['x1', 'x0']
        """
        rows = table.comparison_rows(self.ranked())
        return as_frame(rows, backend, self._backend)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per feature, output, explanation and place: both curves, difference, interval.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in `summary`.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> found = cx.to_frame("pandas")
        >>> bool((found[found["feature"] == "x0"]["difference"] == 0).all())
        True
        """
        rows = table.place_rows_of(self.ranked())
        return as_frame(rows, backend, self._backend)

    @with_options(ComparisonOptions)
    def plot(
        self,
        feature: str | int | None = None,
        *,
        output: str | int | None = None,
        ax: Any = None,
        **options: Unpack[ComparisonOptions],
    ) -> Any:
        """Draw one feature in detail, or all of them, the largest difference first.

        Parameters
        ----------
        feature : str or int, optional
            One feature: the curves of all explanations at one zero, their differences to the
            first with intervals, and where the rows are. None draws small pictures of the curves.
        output : str or int, optional
            Which output, where there are several; the first if not given.
        ax : matplotlib Axes or a sequence of them, optional
            Where to draw; a new figure if not given. One feature takes two: curves, differences.
        **options

        Returns
        -------
        An array of Axes

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> axes = cx.plot("x1")
        >>> len(axes)  # curves, differences, rows
        3
        >>> import matplotlib.pyplot as plt
        >>> plt.close(axes[0].figure)
        """
        from rhale.comparison.plot import plot_difference, plot_differences
        from rhale.plots.choice import draw

        label = self.outputs[0 if output is None else self._find_output(output)]
        if feature is None:
            return draw(plot_differences, self.ranked(label), axes=ax, **options)
        return draw(plot_difference, self[feature, label], axes=ax, **options)

    def _page(self, title: str | None) -> str:
        from rhale.comparison.report import make_compare_page
        from rhale.report.page import render

        return render(make_compare_page(self, title))

    def _repr_html_(self) -> str:
        """The ranked table, for notebooks."""
        from rhale.comparison.report import COMPARISON_NOTEBOOK_COLUMNS

        return self._listing(columns=COMPARISON_NOTEBOOK_COLUMNS).as_html()


def sampled_values(fx: Explanation, feature: str) -> RowPlaces | None:
    """Values of a feature in the rows that an explanation keeps; None where it keeps none."""
    values = fx.sample_x[:, fx.features.index(feature)] if fx.sample_x.size else np.empty(0)
    known = np.isfinite(values)
    weight = fx.sample_weight[known] if values.size else values
    return RowPlaces(values[known], weight / weight.sum()) if weight.sum() > 0 else None


def compare(
    *explanations: Explanation | Mapping[str, Explanation],
    names: Sequence[str] | None = None,
    zero: Zero = None,
    level: float = 0.95,
) -> Comparison:
    """Compare explanations of models, periods or groups, all features centred at one common zero.

    Parameters
    ----------
    *explanations : Explanation
        Two or more; every other one is compared with the first. Or one mapping from names to
        explanations.
    names : sequence of str, optional
        Names of the explanations; those of their models if these differ, else "first", "second", ...
    zero : str, int or mapping, optional
        Where curves are zero. None: on average over the rows of the first, on the stretch or at
        the levels that both have. A name or position: over the rows of that explanation. A mapping
        from features to values: there; features that are not named stay at None.
    level : float
        Level of the intervals; 1 - level is the chance that equal curves are reported to differ.

    Returns
    -------
    Comparison
        Prints as a ranked table; `plot`, `summary`, `to_frame`, `report`, and `cx["age"]`.

    Notes
    -----
    Data drift is reported separately: the same model on other rows has the same curves, where both
    have rows. Curves are compared where both have rows.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> old = rhale.explain(lambda X: X[:, 0], X)
    >>> new = rhale.explain(lambda X: X[:, 0] + 2 * X[:, 1], X)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> [one.name for one in cx.ranked()], cx["x1"].differs, cx["x0"].differs
    (['x1', 'x0'], True, False)
    >>> cx["x1"].difference([-1.0, 1.0]).round(1).tolist()  # zero on average over the rows
    [-2.0, 2.0]
    """
    named = name_explanations(explanations, names)
    require_level(level)
    if len(named) < MIN_COMPARED_EXPLANATIONS:
        msg = f"compare takes at least {MIN_COMPARED_EXPLANATIONS} explanations, and was given {len(named)}"
        raise BadSettingError(msg)
    for name, fx in named.items():
        given: Any = fx
        if not isinstance(given, Explanation):
            is_path = isinstance(given, str | PathLike)
            hint = "; read the file first, with rhale.load" if is_path else ""
            msg = (
                f"compare takes explanations, as rhale.explain makes them, and {name!r} is a "
                f"{type(given).__name__}{hint}"
            )
            raise BadSettingError(msg)
    made = Comparison(tuple(named), tuple(named.values()), zero, level)
    require_common(made)
    require_zero(made)
    return made


def name_explanations(given: Sequence[Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Names of explanations: those given, else their models' where these differ, else counted."""
    if len(given) == 1 and isinstance(given[0], Mapping):
        if names is not None:
            msg = "names= goes with explanations one by one; a mapping has names of its own"
            raise BadSettingError(msg)
        return {str(name): fx for name, fx in given[0].items()}
    if names is None:
        models = [
            str(fx.provenance.get("model", "")).partition(",")[0]
            for fx in given
            if isinstance(fx, Explanation)
        ]
        is_named = len(set(models)) == len(given) and all(models)
        names = (
            models
            if is_named
            else [COUNTED[i] if i < len(COUNTED) else f"number {i + 1}" for i in range(len(given))]
        )
    given_names: Any = names
    if not isinstance(given_names, Iterable):
        msg = f"names={names!r:.60} are no names; pass a list with one for each explanation"
        raise BadSettingError(msg)
    chosen = [str(name) for name in ([names] if isinstance(names, str) else names)]
    if len(chosen) != len(given) or len(set(chosen)) != len(chosen):
        msg = f"names={chosen} are {len(chosen)} for {len(given)} explanations; give each a name of its own"
        raise BadSettingError(msg)
    return dict(zip(chosen, given, strict=True))


def require_common(made: Comparison) -> None:
    """Refuse explanations that have nothing in common, or show different things."""
    first = made.explanations[0]
    for name, fx in zip(made.names[1:], made.explanations[1:], strict=True):
        quantities = [one.effects[0].quantity for one in (first, fx)]
        if quantities[0] != quantities[1]:
            msg = (
                f"{made.names[0]!r} shows {quantities[0]}s and {name!r} shows {quantities[1]}s "
                f"(methods {first.provenance.get('method')!r} and {fx.provenance.get('method')!r}); "
                "explain both by the same method"
            )
            raise BadSettingError(msg)
        for what, mine, other in (
            ("feature", first.features, fx.features),
            ("output", first.outputs, fx.outputs),
        ):
            alone = what == "output" and len(mine) == len(other) == 1
            if not alone and not set(mine) & set(other):
                msg = f"{made.names[0]!r} and {name!r} have no {what} in common; "
                msg += f"{made.names[0]!r} has {abbreviate_names(mine)}, {name!r} has {abbreviate_names(other)}"
                raise BadSettingError(msg)
    if not made.features or not made.outputs:
        what = "output" if made.features else "feature"
        msg = f"no {what} is in all of {abbreviate_names(made.names)}; compare them two by two"
        raise BadSettingError(msg)


def abbreviate_names(names: Sequence[str], most: int = 5) -> str:
    """Some names, for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def require_zero(made: Comparison) -> None:
    """Refuse a zero that no explanation and no feature has."""
    if isinstance(made.zero, Mapping):
        for feature in made.zero:
            find_feature(feature, made.features)
        for one in made.comparisons:
            place_zero(made.zero, one.results[0])
    elif made.zero is not None and find(made.zero, made.names) is None:
        msg = (
            f"zero={made.zero!r} names none of the explanations; "
            f"{near_names(str(made.zero), made.names)}, or give values: zero={{'age': 30}}"
        )
        raise BadSettingError(msg)


def place_zero(zero: Mapping[str, Any], first: Result) -> float | None:
    """Place of the value that is asked for as zero on the axis of a feature; None if none is."""
    if first.name not in zero:
        return None
    value = zero[first.name]
    if first.labels and str(value) in first.labels:
        return float(first.axis[first.labels.index(str(value))])
    if first.column_kind == "categories":
        msg = f"zero of {first.name!r} is {value!r}; {near_names(str(value), first.labels)}"
        raise BadSettingError(msg)
    place = float(np.ravel(as_points(value, find_result_axis_kind(first))[0])[0])
    if not first.axis[0] <= place <= first.axis[-1]:
        msg = (
            f"zero of {first.name!r} is {value!r}, where the first explanation has no rows: "
            f"choose a value between {first.axis[0]:.4g} and {first.axis[-1]:.4g}"
        )
        raise BadSettingError(msg)
    return place
