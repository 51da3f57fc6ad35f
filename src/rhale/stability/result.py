"""Refits: the effects of a learner in several trainings; the result of `rhale.refit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Protocol, Unpack

import numpy as np

from rhale.effects import store
from rhale.effects.explanation import Explanation
from rhale.effects.result_set import StoredResultSet
from rhale.errors import BadSettingError
from rhale.interaction.result import Interactions
from rhale.interaction.settings import read_pairs
from rhale.naming import find_feature
from rhale.output.columns import Listing
from rhale.output.frame import as_frame
from rhale.output.labels import Captions, caption
from rhale.output.picture_options import RefitsOptions, with_options
from rhale.output.text import as_notes
from rhale.stability import table
from rhale.stability.compare import AxisSample, compare_trainings, lighten_result, tabulate_rules
from rhale.stability.refit_effect import RefitEffect, RefitPair, rank_pairs
from rhale.stability.replication import Overlap
from rhale.stability.table import (
    find_correlated,
    part_rows,
    tabulate_refit_effects,
    tabulate_refit_pairs,
)
from rhale.stats.arrays import IntArray, as_read_only


class Failure(NamedTuple):
    """A training that gave no effects: its number, from 1 on, and why.

    Attributes
    ----------
    number : int
        Which training, from 1 on.
    reason : str
        What it said.

    Examples
    --------
    >>> Failure(3, "the solver did not converge").number
    3
    """

    number: int
    reason: str


class PairSource(Protocol):
    """Trained models that can still be asked about pairs."""

    def measure(self, pairs: Any) -> tuple[RefitPair, ...]:
        """Measure pairs of features in all trainings.

        Parameters
        ----------
        pairs : "all" or sequence of pairs of str or int
            Which pairs.

        Returns
        -------
        tuple of RefitPair

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (25, 1))
        >>> model = lambda rows: rows[:, 0] * rows[:, 1]
        >>> rx = rhale.refits([model, model], x, train=[np.arange(50), np.arange(50, 100)])
        >>> [pair.names for pair in rx.trained.measure("all")]
        [('x0', 'x1')]
        """


@dataclass(frozen=True, eq=False, repr=False)
class Refits(StoredResultSet[RefitEffect]):
    """The effects of all features in every training, on the same rows and with the same bins.

    Attributes
    ----------
    explanations : tuple of Explanation
        One for each training that succeeded.
    overlap : Overlap
        Which rows the trainings share; `factor` and `degrees` follow from it.
    own : Explanation or None
        Effects of the user's own model, where one was given.
    pairs : tuple of RefitPair
        Pairs of features that were measured, pairs first, outputs within them.
    failures : tuple of Failure
        Trainings that failed.
    provenance : mapping
        What was trained and explained, how, on how many rows, with which versions.
    notes : tuple of Note
        What a reader should know about the whole.
    trained : PairSource or None
        The models, as long as they are in memory; not saved, and not compared.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.2 * rows[:, 0]]
    >>> rx = rhale.refits(models, x, train=[np.arange(50), np.arange(50, 100)])
    >>> rx.n_trainings, rx.features
    (2, ('x0', 'x1'))
    >>> np.diff(rx["x0"].curve([0.0, 1.0])).round(6), np.diff(rx["x0"].curves([0.0, 1.0])).round(6).ravel()
    (array([2.1]), array([2. , 2.2]))
    """

    explanations: tuple[Explanation, ...]
    overlap: Overlap
    own: Explanation | None = None
    pairs: tuple[RefitPair, ...] = ()
    failures: tuple[Failure, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    trained: PairSource | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "provenance", as_read_only(self.provenance))
        object.__setattr__(self, "notes", as_notes(self.notes))
        object.__setattr__(self, "pairs", caption(self.pairs, self.captions))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features, in the table's order."""
        return self.explanations[0].features

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs, in the model's order."""
        return self.explanations[0].outputs

    @property
    def captions(self) -> Captions:
        """What people read for features and outputs; `features` and `outputs` are keys."""
        return self.explanations[0].captions

    @property
    def n_trainings(self) -> int:
        """How many trainings there are."""
        return len(self.explanations)

    @property
    def n_train(self) -> IntArray:
        """Rows of each training, shape (n_trainings,)."""
        return self.overlap.n_train

    @property
    def factor(self) -> float:
        """Variance of a mean over the trainings, in squared deviations between them, by their rows alone."""
        return self.overlap.factor

    _called: ClassVar[str] = "rx"

    @property
    def _results(self) -> tuple[RefitEffect, ...]:
        return self.effects

    @staticmethod
    def _rank(result: RefitEffect) -> tuple[float, float]:
        return float(-np.nan_to_num(result.replicated)), -result.importance

    @property
    def _words_asked(self) -> Any:
        return self.explanations[0]._words_asked  # noqa: SLF001 - of the same base

    @cached_property
    def effects(self) -> tuple[RefitEffect, ...]:
        """One `RefitEffect` for each feature and output: features first, outputs within them."""
        first = self.explanations[0]
        found = []
        for place in range(len(first.effects)):
            results = tuple(fx.effects[place] for fx in self.explanations)
            own = None if self.own is None else self.own.effects[place]
            x = first.sample_x[:, place // len(self.outputs)]
            rows = AxisSample(x, first.sample_weight)
            found.append(compare_trainings(results, self.overlap, rows, own))
        return tuple(found)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "trained": None}

    def __str__(self) -> str:
        return str(self._listing())

    def _listing(self, **options: Any) -> Listing:
        """The tables of what would come back, and notes."""
        found = self.ranked(), self.provenance, self._remarks(), self._correlated, self.pairs
        return table.list_refits(*found, **options)

    @cached_property
    def _correlated(self) -> dict[str, list[str]]:
        """Features that each feature can hardly be told from."""
        first = self.explanations[0]
        return find_correlated(first.features, first.sample_x, first.sample_weight)

    def _remarks(self) -> tuple[str, ...]:
        """Notes, and trainings that failed."""
        return (*self.notes, *(f"training {f.number} failed: {f.reason}" for f in self.failures))

    def replication(self, pairs: Any = None, backend: str | None = None) -> Any:
        """What would come back: one row per feature and output, or per pair.

        Parameters
        ----------
        pairs : None, True, "all" or sequence of pairs, optional
            Features by default; True: the pairs that were measured with the trainings; "all" or
            pairs of names: these, measured now if the models are still in memory.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame
            `importance` (or `strength`) is the mean over the trainings, with its interval between
            trainings; `replicated` is what is left of it without what the learner took from
            chance; `p_value` says how likely trainings would agree so well if there were no
            effect; `comes_back` is p of .05 or less, and nothing where p is not known.
            `correlated_with` names features that a feature can hardly be told from.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rng = np.random.default_rng(1)
        >>> x = rng.normal(size=(100, 2))
        >>> def learn(rows, target):
        ...     slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        ...     return lambda rows: rows @ slopes
        >>> rx = rhale.refit(learn, x, 2 * x[:, 0] + rng.normal(size=100), n_refits=8)
        >>> rx.replication(backend="pandas")[["feature", "comes_back"]].to_numpy().tolist()
        [['x0', True], ['x1', False]]
        """
        if pairs is None:
            rows = tabulate_refit_effects(self.ranked(), self._correlated)
        else:
            if pairs is True and self.pairs:
                found = self.pairs
            elif self.trained is not None:
                found = self.trained.measure("all" if pairs is True else pairs)
            else:
                columns = self.provenance.get("columns", self.features)
                found = tuple(select_pairs(self.pairs, pairs, columns))
            rows = tabulate_refit_pairs(rank_pairs(found))
        return as_frame(rows, backend, self._backend)

    def regions(
        self,
        feature: str | int | None = None,
        *,
        output: str | int | None = None,
        backend: str | None = None,
    ) -> Any:
        """Which rules come back, where every training searched regions for itself.

        Parameters
        ----------
        feature : str or int, optional
            Whose effect; all features by default.
        output : str or int, optional
            Which output; all by default.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame
            One row per feature, output and splitter: `found_in` is the share of the trainings
            that split rows by it, `threshold` the mean of their first such thresholds (`at` in
            words, or the levels that part), `threshold_between` its deviation between trainings,
            `share` how much of the spread it explains in them on average.

        Raises
        ------
        BadSettingError
            If regions were not searched. Groups that you named are in `rx["age"].regions`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> model = lambda rows: rows[:, 0] * np.sign(rows[:, 1])
        >>> halves = [np.arange(200), np.arange(200, 400)]
        >>> rx = rhale.refits([model, model], x, train=halves, regions=True)
        >>> rx.regions("x0", backend="pandas")[["splitter", "found_in"]].to_numpy().tolist()
        [['x1', 1.0]]
        """
        trees = [e.regions for e in self.explanations[0].effects if e.regions is not None]
        if any(tree.state == "given" for tree in trees):
            msg = f"regions were named, not searched: see rx[{self.features[0]!r}].regions"
            raise BadSettingError(msg)
        if not trees:
            msg = "regions were not asked for; call rhale.refit(..., regions=True)"
            raise BadSettingError(msg)
        name = None if feature is None else self.features[self._find_feature(feature)]
        wanted = [one for one in self._of_output(output) if name in (None, one.name)]
        return as_frame(tabulate_rules(wanted), backend, self._backend)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per feature, output and bin (level or point), with what differs between trainings.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame
            `curve` is the mean of the trainings, `low` and `high` its interval, `between` the deviation
            between trainings; all in units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.2 * rows[:, 0]]
        >>> rx = rhale.refits(models, x, train=[np.arange(50), np.arange(50, 100)])
        >>> found = rx.to_frame("pandas")
        >>> found["feature"].unique().tolist(), bool((found["between"] >= 0).all())
        (['x0', 'x1'], True)
        """
        return as_frame(part_rows(self.effects), backend, self._backend)

    @with_options(RefitsOptions)
    def plot(
        self,
        feature: str | int | None = None,
        *,
        output: str | int | None = None,
        ax: Any = None,
        **options: Unpack[RefitsOptions],
    ) -> Any:
        """Draw one feature in all retrained models, or how stable all features are.

        Parameters
        ----------
        feature : str or int, optional
            One feature: the curves of all trainings, their mean and its interval. None: the
            importance of all features with its interval between trainings, and whether it comes
            back.
        output : str or int, optional
            Which output, where there are several.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options

        Returns
        -------
        Axes

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.2 * rows[:, 0]]
        >>> rx = rhale.refits(models, x, train=[np.arange(50), np.arange(50, 100)])
        >>> ax = rx.plot("x0")
        >>> ax.get_xlabel()
        'x0'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        from rhale import plots
        from rhale.plots.choice import draw

        if feature is None:
            return draw(plots.plot_replication, self.ranked(output), ax=ax, **options)
        key = feature if output is None else (feature, output)
        return draw(plots.plot_refits, self[key], ax=ax, **options)

    def _repr_html_(self) -> str:
        """The table of what would come back, for notebooks."""
        from rhale.stability.report import REFIT_NOTEBOOK_COLUMNS

        return self._listing(columns=REFIT_NOTEBOOK_COLUMNS).as_html()

    def _pack(self) -> Any:
        return store.pack_refits(self)

    def _page(self, title: str | None) -> str:
        from rhale.report.page import render
        from rhale.stability.report import make_refit_page

        return render(make_refit_page(self, title))


def lighten(fx: Explanation) -> Explanation:
    """Leave out what only one training by itself needs: cells, single rows, digits of chance."""
    effects = tuple(map(lighten_result, fx.effects))
    return replace(fx, effects=effects, cells={}, partner_matrix=None)


def select_pairs(known: Sequence[RefitPair], asked: Any, columns: Sequence[str]) -> list[RefitPair]:
    """Measured pairs of those that are requested; refuse others."""
    wanted = read_pairs("all" if asked is True else asked)
    if isinstance(wanted, tuple):
        named = [frozenset(columns[find_feature(one, columns)] for one in pair) for pair in wanted]
        found = [pair for pair in known if frozenset(pair.names) in named]
        are_there = {frozenset(pair.names) for pair in found} == set(named)
    else:
        found = list(known)
        are_there = wanted == "all" and bool(found)
    if not are_there:
        msg = (
            f"pairs={asked!r:.60} were not measured, and the models are not in memory; measure "
            "them with the trainings: rhale.refit(..., pairs='all')"
        )
        raise BadSettingError(msg)
    return found


def load(path: str | PathLike[str]) -> Explanation | Interactions | Refits:
    """Read what `Explanation.save`, `Interactions.save` or `Refits.save` wrote.

    Parameters
    ----------
    path : path-like
        The JSON file.

    Returns
    -------
    Explanation, Interactions or Refits
        The file says which.

    Raises
    ------
    BadFileError
        If the file is of another program, or anything in it is not as `save` writes it. What is
        loaded can be used like any other result, wherever it comes from.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
    >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "effects.json")
    >>> fx.save(path)
    >>> rhale.load(path)["x0"].mean.round(6)
    array([2.])
    >>> folder.cleanup()
    """
    return restore_result(store.read_result_file(path), str(path))


def restore_result(content: Any, source: str) -> Explanation | Interactions | Refits:
    """Make a result of the plain values in a file or a message, which may be hostile."""
    kind, found = store.unpack_any(content, source)
    if kind == "explanation":
        return Explanation(**found)
    if kind == "interactions":
        return Interactions(**found)
    own = found["own"]
    return Refits(
        explanations=tuple(Explanation(**one) for one in found["explanations"]),
        overlap=found["overlap"],
        own=None if own is None else Explanation(**own),
        pairs=found["pairs"],
        failures=tuple(Failure(*one) for one in found["failures"]),
        provenance=found["provenance"],
        notes=found["notes"],
    )
