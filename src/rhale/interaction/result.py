"""Interactions: which pairs of features interact, and how strongly; as rows of tables and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from rhale.effects import store
from rhale.effects.listing import title
from rhale.effects.result_set import StoredResultSet
from rhale.effects.table import UNDEFINED, Columns
from rhale.errors import BadSettingError, UnknownFeatureError, UnknownNameError
from rhale.interaction.pair_effect import (
    PAIR_NAME_SEPARATOR,
    PairMethod,
    PairResult,
    can_be_ranked,
    write_strength_with_error,
)
from rhale.interaction.shap import note_shap, pairs_from_shap
from rhale.naming import near_names
from rhale.output.columns import (
    MAX_LISTED_ROWS,
    OUTPUT_COLUMN,
    Column,
    Listing,
    TableRow,
    frame_only,
    isolate,
    lay_out,
    number_notes,
    some,
    tabulate,
    words,
)
from rhale.output.frame import add_labels, as_frame, stack_columns
from rhale.output.labels import NO_CAPTIONS, Captions, caption, captions_of
from rhale.output.number_format import write_number, write_share
from rhale.output.picture_options import InteractionsOptions, with_options
from rhale.output.text import MAX_NAMED_IN_SENTENCE, SIGN, as_notes, short_notes, shorten_name
from rhale.stability.refit_effect import RefitPair
from rhale.stats.arrays import FloatArray, as_read_only, freeze

# --- The ranked table of pairs: its columns, for data frame, `print`, notebook, page and command


@dataclass(frozen=True)
class PairRow(TableRow):
    """A pair in a table: numbers of its notes, the largest strength, whether errors are wanted."""

    marks: str = ""
    largest: float = 0.0
    errors: bool = True


def name_strength(rows: Sequence[PairRow]) -> str:
    """The header of strengths: with their errors, where these are known."""
    has_errors = any(not np.isnan(row.strength_error) for row in rows)
    return "strength" + (f"{SIGN}error" if has_errors else "")


def isolate_pair_name(row: Any) -> str:
    """The names of a pair as HTML, each in its own direction of writing."""
    return PAIR_NAME_SEPARATOR.join(isolate(shorten_name(name)) for name in captioned(row))


PAIR_NAME_COLUMN = words(
    None, "pair", lambda row: write_pair_name(captioned(row)), markup=isolate_pair_name
)
PAIR_COLUMNS = (
    PAIR_NAME_COLUMN,
    Column("first", value=lambda row: row.names[0]),
    Column("second", value=lambda row: row.names[1]),
    OUTPUT_COLUMN,
    Column("strength", name_strength, write_strength_with_error, lambda row: float(row.strength)),
    Column("strength_error", value=lambda r: float(r.strength_error) if r.errors else UNDEFINED),
    Column("p_value", value=lambda row: float(row.p_value) if row.errors else UNDEFINED),
    Column(
        "share",
        "share of prediction variance",
        lambda row: write_share(row.share),
        lambda row: float(row.share),
        shown=lambda rows: any(np.isfinite(row.share) for row in rows),
    ),
    Column("rank_correlation", value=lambda row: getattr(row, "rank_correlation", UNDEFINED)),
    Column("can_be_ranked", value=can_be_ranked),
    Column("cells", value=lambda row: int(row.n_cells)),
    Column("unmeasured", value=lambda row: int(row.n_unmeasured)),
    Column("left_out", value=lambda row: int(row.n_left_out)),
    *frame_only("method"),
    Column(
        "h2",
        "H²",
        lambda row: "" if np.isnan(row.h2) else write_number(row.h2, 2),
        lambda row: float(row.h2),
        shown=lambda rows: any(not np.isnan(row.h2) for row in rows),
    ),
    words(
        "notes",
        "notes",
        lambda row: row.marks,
        lambda row: short_notes(as_notes(row.notes)),
        shown=some("marks"),
    ),
)


def tabulate_pairs(pairs: Sequence[PairResult], *, errors: bool = True) -> Columns:
    """One row per pair and output, in the given order, and what people read for both."""
    columns = tabulate([PairRow(pair, errors=errors) for pair in pairs], PAIR_COLUMNS)
    return add_labels(columns, pairs[0].captions if pairs else NO_CAPTIONS)


def cell_rows(pairs: Sequence[PairResult]) -> Columns:
    """One row per pair, output and cell; pairs without a surface have none."""
    parts = [
        ({"first": pair.names[0], "second": pair.names[1], "output": pair.output}, pair.table())
        for pair in pairs
    ]
    columns = stack_columns(parts) if parts else {"first": [], "second": [], "output": []}
    return add_labels(columns, pairs[0].captions if pairs else NO_CAPTIONS)


STRENGTH_NOTE = (
    "strength: typical size of the joint effect (interaction only), in units of the output"
)
EVIDENCE_NOTE = (
    "strengths and errors are of this model; rhale.refit(..., pairs='all') shows "
    "which interactions come back in retrained models, and ranks them by that"
)


def list_pairs(
    ranked: Sequence[PairResult],
    provenance: Mapping[str, Any],
    notes: Sequence[str],
    columns: Sequence[Column] = PAIR_COLUMNS,
    most: int = MAX_LISTED_ROWS,
) -> Listing:
    """The ranked table that `print` shows."""
    shown = ranked[:most]
    marks, remarks = number_notes([pair.notes for pair in shown])
    largest = max((pair.strength for pair in shown), default=0.0)
    rows = [PairRow(pair, mark, largest) for pair, mark in zip(shown, marks, strict=True)]
    n_more = len(ranked) - len(shown)
    more = f"and {n_more:,} weaker ones: ix.to_frame() has all" if n_more else ""
    head = f"interactions by {title(provenance)}{describe_estimators(ranked)}{name_single_output(ranked)}"
    notes = (*note_evidence(ranked), *notes)
    return Listing(head, (lay_out(rows, columns, more),), remarks, notes)


def describe_estimators(pairs: Sequence[PairResult]) -> str:
    """Say how strengths were found; nothing about features that have one value."""
    ways = list(dict.fromkeys(pair.how for pair in pairs if pair.how))
    return f"; from {' or '.join(ways)}" if ways else ""


def note_evidence(pairs: Sequence[PairResult]) -> list[str]:
    """Say what strengths are, and what they are evidence of, where there are any."""
    found = any(p.method == "ale" and p.strength > 0 for p in pairs)
    return [STRENGTH_NOTE, EVIDENCE_NOTE] if found else []


def name_single_output(results: Sequence[Any]) -> str:
    """Name the one output of results; nothing where a column does."""
    outputs = {result.output for result in results}
    if len(outputs) != 1:
        return ""
    return f"; on {shorten_name(results[0].captions.value_axis(outputs.pop()))}"


def captioned(pair: PairResult | RefitPair) -> tuple[str, str]:
    """What people read for the features of a pair."""
    first, second = map(pair.captions.feature, pair.names)
    return first, second


def write_pair_name(names: tuple[str, str]) -> str:
    """Write the names of a pair on one line.

    Examples
    --------
    >>> write_pair_name(("age", "income")).split(PAIR_NAME_SEPARATOR)
    ['age', 'income']
    """
    return PAIR_NAME_SEPARATOR.join(map(shorten_name, names))


def write_pair_explained_variance(
    outputs: Sequence[str], pairs: FloatArray, singles: FloatArray
) -> list[str]:
    """Say how large the variances of pairs are, and of features alone, each counted by itself.

    `pairs` and `singles` (n_outputs,) are shares of the variance; nan where they are not known.
    """
    known = [found for found in zip(outputs, pairs, singles, strict=True) if np.isfinite(found[1])]
    sentences = []
    for output, pair, single in known[:MAX_NAMED_IN_SENTENCE]:
        where = f" of {shorten_name(output)!r}" if len(outputs) > 1 else ""
        alone = f", of the effects of single features {write_share(single)}"
        sentences.append(
            f"relative to the variance of the predictions{where}, the variances of these joint "
            f"effects sum to {write_share(pair)}{alone if np.isfinite(single) else ''}; such sums are "
            "explained shares only where features are independent (correlated ones count twice)"
        )
    return sentences


# --- Interactions: which pairs of features interact, and how strongly; the result of `rhale.interactions`


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
            shares = write_pair_explained_variance(outputs, self._shares(), singles)
        notes = (*shares, *self.notes)
        return list_pairs(self.ranked(), self.provenance, notes, **options)

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
        rows = tabulate_pairs(self.ranked(), errors=errors)
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
        return as_frame(cell_rows(self.pairs), backend, self._backend)

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
