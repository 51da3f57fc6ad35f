"""Interactions: which pairs of features interact, and how strongly; the result of `rhale.interactions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from rhale.effects import store
from rhale.effects.result_set import StoredResultSet
from rhale.errors import BadSettingError, UnknownFeatureError, UnknownNameError
from rhale.interaction import table
from rhale.interaction.pair_effect import PAIR_NAME_SEPARATOR, PairMethod, PairResult
from rhale.interaction.shap import note_shap, pairs_from_shap
from rhale.naming import near_names
from rhale.output.columns import Listing
from rhale.output.frame import as_frame
from rhale.output.labels import Captions, caption, captions_of
from rhale.output.picture_options import InteractionsOptions, with_options
from rhale.output.text import as_notes
from rhale.stats.arrays import FloatArray, as_read_only, freeze


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(StoredResultSet[PairResult]):
    """Pairs of features, and what they do together to each output.

    Attributes
    ----------
    features, outputs : tuple of str
        Names: features in the table's order, outputs in the model's.
    pairs : tuple of PairEffect or PairIndex
        Pairs first, outputs within them.
    importance : ndarray of shape (n_features, n_outputs)
        Deviation over the rows of each feature's own effect; nan where it is not known.
    variance : ndarray of shape (n_outputs,)
        Of the predictions.
    provenance : mapping
        What was measured, how, on how many rows, with which versions.
    notes : tuple of Note
        What a reader should know about the whole.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
    >>> round(ix["x0", "x1"].strength, 1), round(ix["x0", "x2"].strength, 1)
    (1.0, 0.0)
    >>> ix.ranked()[0].names, ("x0", "x2") in ix
    (('x0', 'x1'), True)
    """

    features: tuple[str, ...]
    outputs: tuple[str, ...]
    pairs: tuple[PairResult, ...]
    importance: FloatArray
    variance: FloatArray
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)
        object.__setattr__(self, "provenance", as_read_only(self.provenance))
        object.__setattr__(self, "notes", as_notes(self.notes))
        object.__setattr__(self, "pairs", caption(self.pairs, self.captions))

    @classmethod
    def from_shap(
        cls, values: Any, features: Sequence[str], outputs: Sequence[str] | None = None
    ) -> Interactions:
        """Read SHAP interaction values that another program has computed.

        Parameters
        ----------
        values : array-like of shape (n_rows, n_features, n_features) or with n_outputs behind
            What `shap.TreeExplainer(model).shap_interaction_values(X)` returns.
        features : sequence of str
            Names of the features.
        outputs : sequence of str, optional
            Names of the outputs; y0, y1, ... by default.

        Examples
        --------
        >>> import numpy as np
        >>> a, b = np.random.default_rng(0).choice([-1.0, 1.0], (2, 1000))
        >>> values = np.array([[2 * a, a * b / 2], [a * b / 2, 0 * b]]).transpose(2, 0, 1)
        >>> ix = Interactions.from_shap(values, ["a", "b"])
        >>> round(ix["a", "b"].strength, 1), ix.importance[:, 0].round(1).tolist()
        (1.0, [2.0, 0.0])
        """
        found = pairs_from_shap(values, features, outputs)
        return cls(
            features=found.features,
            outputs=found.outputs,
            pairs=found.pairs,
            importance=found.importance,
            variance=found.variance,
            provenance={"method": "shap", "rows": found.n_rows, "pairs": len(found.pairs)},
            notes=note_shap(found),
        )

    @cached_property
    def captions(self) -> Captions:
        """What people read for features and outputs; `features` and `outputs` are keys."""
        return captions_of(self.provenance)

    @property
    def method(self) -> PairMethod:
        """What the pairs were measured by."""
        return self.pairs[0].method

    _called: ClassVar[str] = "ix"

    @property
    def _results(self) -> tuple[PairResult, ...]:
        return self.pairs

    @staticmethod
    def _rank(result: PairResult) -> float:
        return float(-np.nan_to_num(result.strength, nan=-1.0))

    def _by_key(self) -> dict[Any, PairResult]:
        called = dict(zip(self.outputs, self.output_names, strict=True))
        several = len(self.outputs) > 1
        return {
            (*pair.names, called[pair.output]) if several else pair.names: pair
            for pair in self.pairs
        }

    def __contains__(self, key: object) -> bool:
        try:
            names, output = self._asked(key)
        except (BadSettingError, UnknownNameError):
            return False
        return self._find(names, output) is not None

    def __str__(self) -> str:
        return str(self._listing())

    def _listing(self, **options: Any) -> Listing:
        """The ranked table and its notes."""
        shares: list[str] = []
        if self.method == "ale":  # of other methods strengths are no parts of the variance
            total = np.where(self.variance > 0, self.variance, np.nan)
            singles = (self.importance**2).sum(axis=0) / total
            outputs = list(map(self.captions.output, self.outputs))
            shares = table.write_pair_explained_variance(outputs, self._shares(), singles)
        notes = (*shares, *self.notes)
        return table.list_pairs(self.ranked(), self.provenance, notes, **options)

    def __getitem__(self, key: Any) -> PairResult:
        names, output = self._asked(key)
        number = self._choose_output(output, f"ix[{names[0]!r}, {names[1]!r}, {{}}]")
        found = self._find(names, self.outputs[number])
        if found is None:
            first, second = names
            measured = list(
                dict.fromkeys(PAIR_NAME_SEPARATOR.join(pair.names) for pair in self.pairs)
            )
            msg = (
                f"the pair {first!r}, {second!r} was not measured; ask for it with "
                f"rhale.interactions(..., pairs=[({first!r}, {second!r})]); "
            )
            raise UnknownFeatureError(msg + near_names(PAIR_NAME_SEPARATOR.join(names), measured))
        return found if found.names == names else found.transposed()

    def _asked(self, key: Any) -> tuple[tuple[str, str], str | None]:
        """The two features and the output that a key names."""
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            msg = f"ix[{key!r}] names no pair; name two features, ix['a', 'b'], and one of several outputs"
            raise BadSettingError(msg)
        first, second = (self.features[self._find_feature(name)] for name in key[:2])
        if first == second:
            msg = (
                f"{first!r} twice is no pair; name two features, or read what it does alone: "
                "ix.importance, rhale.explain"
            )
            raise BadSettingError(msg)
        output = self.outputs[self._find_output(key[2])] if len(key) == 3 else None
        return (first, second), output

    def _find(self, names: tuple[str, str], output: str | None) -> PairResult | None:
        """The pair in either order, of one output, or of any."""
        for pair in self.pairs:
            if pair.names in (names, names[::-1]) and output in (None, pair.output):
                return pair
        return None

    def matrix(self, output: str | int | None = None) -> FloatArray:
        """Strengths of all pairs of features, importance on the diagonal; nan where not measured.

        Parameters
        ----------
        output : str or int, optional
            Which output, where there are several; the first by default.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 3))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> ix.matrix().round(1)  # x2 acts alone
        array([[0.1, 1. , 0. ],
               [1. , 0.1, 0. ],
               [0. , 0. , 1. ]])
        """
        place = 0 if output is None else self._find_output(output)
        found = np.full((len(self.features), len(self.features)), np.nan)
        np.fill_diagonal(found, self.importance[:, place])
        for pair in self.pairs[place :: len(self.outputs)]:
            i, j = (self.features.index(name) for name in pair.names)
            found[i, j] = found[j, i] = pair.strength
        return found

    @property
    def explained(self) -> float | dict[str, float]:
        """Share of the variance of the predictions that all these pairs have together.

        One number, or one per output: the sum of squared strengths over the variance. Where
        features are independent, squared importance of the features, squared strengths of all
        pairs and what three or more features do together add up to the variance; where they
        depend on each other, shares overlap.
        """
        shares = dict(zip(self.output_names, self._shares().tolist(), strict=True))
        return shares if len(shares) > 1 else shares[self.output_names[0]]

    def _shares(self) -> FloatArray:
        """Sums of squared strengths over the variance, (n_outputs,)."""
        found = [sum(p.share for p in self.pairs if p.output == o) for o in self.outputs]
        return np.array(found, dtype=np.float64)

    @with_options(InteractionsOptions)
    def plot(
        self,
        pair: tuple[Any, Any] | None = None,
        *,
        kind: str | None = None,
        output: str | int | None = None,
        ax: Any = None,
        **options: Unpack[InteractionsOptions],
    ) -> Any:
        """Draw one pair, or how strongly all of them interact.

        Parameters
        ----------
        pair : pair of str or int, optional
            Two features; none for the matrix of all strengths, with importance on its diagonal,
            and the ranking of the strongest pairs beside it.
        kind : {"map", "lines"}, optional
            How one pair is drawn, as in `PairEffect.plot`; a map if not given.
        output : str or int, optional
            Which output, where there are several; all pairs together: the first if not given.
        ax : matplotlib Axes or a pair of them, optional
            Where to draw; a new figure if not given. One Axes takes the matrix alone.
        **options

        Returns
        -------
        Axes, or a pair of them

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x, cells=4)
        >>> ax = ix.plot(("x0", "x1"))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('x0', 'x1')
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        given: Any = pair
        if given is not None and not isinstance(given, Sequence):
            msg = f"{pair!r:.60} names no pair; pass two features, as in ix.plot(('a', 'b'))"
            raise BadSettingError(msg)
        if pair is not None:
            key = (*pair,) if output is None else (*pair, output)
            settings: dict[str, Any] = {**options}
            return self[key].plot(kind or "map", ax=ax, **settings)
        if kind is not None:
            msg = f"kind={kind!r} draws one pair; name it: ix.plot(('a', 'b'), kind={kind!r})"
            raise BadSettingError(msg)
        from rhale.plots import plot_interactions
        from rhale.plots.choice import draw

        return draw(plot_interactions, self, output=output, ax=ax, **options)

    def to_frame(self, backend: str | None = None, *, errors: bool = True) -> Any:
        """One row per pair and output, the strongest first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.
        errors : bool
            Whether `strength_error` and `p_value` are found, which takes some 40 ms a pair; they are
            nan if not.

        Returns
        -------
        data frame
            `strength` with its error, `share` of the variance, cells and rows. `p_value` is of "this
            model has no interaction here", and says nothing of other trainings of the same learner.
            `rank_correlation` is that of the two features; `can_be_ranked` is false where one of
            them goes together with another feature so closely that a learner may take either.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 3))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> ix.to_frame("pandas", errors=False)[["first", "second", "strength"]].round(1).values.tolist()[0]
        ['x0', 'x1', 1.0]
        """
        rows = table.tabulate_pairs(self.ranked(), errors=errors)
        return as_frame(rows, backend, self._backend)

    def cells_to_frame(self, backend: str | None = None) -> Any:
        """One row per pair, output and cell of the surface; columns as in `PairEffect.table`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in `to_frame`.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x, cells=4)
        >>> len(ix.cells_to_frame("pandas"))  # four cells a side
        16
        """
        if not any(pair.n_cells for pair in self.pairs):
            msg = (
                f"method {self.method!r} gives a number for each pair and no cells; "
                "use to_frame, or method='ale'"
            )
            raise BadSettingError(msg)
        return as_frame(table.cell_rows(self.pairs), backend, self._backend)

    def _pack(self) -> Any:
        return store.pack_interactions(self)

    def _page(self, title: str | None) -> str:
        from rhale.interaction.report import make_pair_page
        from rhale.report.page import render

        return render(make_pair_page(self, title))

    def _repr_html_(self) -> str:
        """The ranked table, for notebooks."""
        from rhale.interaction.report import PAIR_NOTEBOOK_COLUMNS

        return self._listing(columns=PAIR_NOTEBOOK_COLUMNS).as_html()
