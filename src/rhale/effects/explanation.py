"""Explanation: the effects of all features, what `explain` returns and users hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from rhale.effects import listing, store
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.fit import MOVED_LIMITS, ModelCells, Unbinned, bin_all
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.partition import Edges, Partition, Quantile
from rhale.effects.contributions import SampledCurves, as_table_like, contribute
from rhale.effects.curve import Center
from rhale.effects.effect import Effect
from rhale.effects.local.notes import (
    ENOUGH_EXPLAINED_VARIANCE,
    EXPLAINED_VARIANCE_NOTE,
    IMPLAUSIBLE,
    describe_explained,
    describe_implausible,
)
from rhale.effects.result import Outside, Result, is_constant
from rhale.effects.result_set import StoredResultSet
from rhale.errors import BadSettingError
from rhale.naming import list_asked
from rhale.output.columns import Listing
from rhale.output.frame import as_frame
from rhale.output.labels import Captions, caption, captions_of
from rhale.output.picture_options import ExplanationOptions, with_options
from rhale.output.text import Note, as_notes
from rhale.regions.partners import PartnerMatrix, Partners, partners_of_regions
from rhale.settings import PROFILES, describe_bins, name_keys, parse_bins_setting, partition_for
from rhale.stats.arrays import FloatArray, as_read_only
from rhale.system.files import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rhale.comparison.result import Comparison
    from rhale.interaction.result import Interactions
    from rhale.stability.result import Refits

Bins = Any  # Partition, int, limits, Explanation, or a mapping from feature to one of these

TIED = Note(
    "bins",
    "bins stay: beside a value that many rows share they belong to its local effects; call explain "
    "again with the bins you want",
)

OTHER_BINS = (5, 10, 20)  # numbers of bins that a reader of a page may choose instead
FEWEST_IN_BIN = 5  # rows
MOST_CHOICES = 60  # features

REGIONS_STAY = Note(
    "regions", "regions stay with the bins that they had; call explain again for other ones"
)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(StoredResultSet[Result]):
    """The effects of all explained features on all explained outputs.

    Attributes
    ----------
    features, outputs : tuple of str
        Names, in the table's and the model's order.
    effects : tuple of Effect or Profile
        Features first, outputs within them.
    predictions : ndarray of shape (n_sample, n_outputs)
        Predictions of the sampled rows.
    sample_x, sample_weight : ndarray of shape (n_sample, n_features), (n_sample,)
        Their feature values and weights.
    cells : mapping of str to Moments
        Fine cells of each feature, from which `rebin` works; empty where bins cannot change.
    provenance : mapping
        What was explained, how, on how many rows, with which versions.
    notes : tuple of Note
        What a reader should know about the whole.
    partner_matrix : PartnerMatrix or None
        With which features the spread of every feature goes, for `partners`; None where that was
        not asked for.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
    >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
    >>> fx.features, fx.outputs, len(fx)
    (('x0', 'x1'), ('y0',), 2)
    >>> fx["x0"].mean.round(6), [effect.name for effect in fx.ranked()]
    (array([2.]), ['x0', 'x1'])
    >>> round(fx.explained_variance, 6)  # a sum of curves
    1.0
    """

    features: tuple[str, ...]
    outputs: tuple[str, ...]
    effects: tuple[Result, ...]
    predictions: FloatArray
    sample_x: FloatArray
    sample_weight: FloatArray
    cells: Mapping[str, Moments] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    partner_matrix: PartnerMatrix | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", as_read_only(self.cells))
        object.__setattr__(self, "provenance", as_read_only(self.provenance))
        object.__setattr__(self, "notes", as_notes(self.notes))
        captioned = caption(self.effects, captions_of(self.provenance))
        object.__setattr__(self, "effects", captioned)

    def __str__(self) -> str:
        return str(self._listing())

    @property
    def captions(self) -> Captions:
        """What people read for features and outputs; `features` and `outputs` are keys."""
        return self.effects[0].captions

    @property
    def _results(self) -> tuple[Result, ...]:
        return self.effects

    @staticmethod
    def _rank(result: Result) -> float:
        return -result.importance if np.isfinite(result.importance) else 0.0

    @with_options(ExplanationOptions)
    def plot(
        self,
        feature: str | int | Iterable[str | int] | None = None,
        *,
        output: str | int | None = None,
        ax: Any = None,
        **options: Unpack[ExplanationOptions],
    ) -> Any:
        """Draw one feature in detail, several in the order asked for, or all, the largest first.

        Parameters
        ----------
        feature : str, int or list of these, optional
            One feature gives the two panels of the paper (or its curves), or small pictures of
            all outputs where there are several. Several features give small pictures in this
            order, with a shared y axis; none gives those with the largest effect, 20 at most.
        output : str or int, optional
            Which output; all if not given.
        ax : matplotlib Axes or a sequence of them, optional
            Where to draw; a new figure if not given.
        **options

        Returns
        -------
        Axes, a pair of them, or an array of them

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> ax = fx.plot("x0", kind="curve")
        >>> ax.get_xlabel()
        'x0'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        from rhale import plots
        from rhale.plots.choice import choose_plot, draw
        from rhale.plots.overview import main_outputs
        from rhale.plots.row_curves import RowColors, choose_color

        settings: dict[str, Any] = {**options}
        if isinstance(feature, str | int | np.integer):
            name = self.features[self._find_feature(feature)]
            if output is None and len(self.outputs) > 1:
                results = [self[name, label] for label in self.outputs]
                return draw(plots.plot_outputs, results, axes=ax, **settings)
            result = self[name] if output is None else self[name, output]
            among = tuple(effect for effect in self.effects if effect.output == result.output)
            color = settings.get("color")
            if color is not None and color is not False:
                partners = self.partners(name, result.output) if color is True else None
                other = self[choose_color(color, self.features, partners), result.output]
                values = self.sample_x[:, self._find_feature(other.name)]
                settings["color"] = RowColors(other, values)
            return draw(choose_plot(result), result, ax=ax, among=among, **settings)
        if feature is None:
            names = list(self.features)
        else:
            given: Any = feature
            wanted = given if isinstance(given, Iterable) else [given]
            names = list(dict.fromkeys(self.features[self._find_feature(f)] for f in wanted))
        by_name: dict[str, list[Result]] = {e.name: [] for e in self.effects if e.name in names}
        for effect in self.effects:
            if effect.name in by_name and (
                output is None or effect.output == self.outputs[self._find_output(output)]
            ):
                by_name[effect.name].append(effect)
        # the largest first, on any of those outputs that are drawn; a list keeps its own order
        drawn = main_outputs([effect for some in by_name.values() for effect in some])
        size = {
            name: max(np.nan_to_num(e.importance) for e in some if e.output in drawn)
            for name, some in by_name.items()
        }
        order = sorted(by_name, key=lambda name: -size[name])
        if feature is not None and not isinstance(feature, AbstractSet):
            order.sort(key=names.index)
        chosen = [effect for name in order for effect in by_name[name]]
        if feature is not None:
            settings = {"top": len({result.name for result in chosen}) or None, **settings}
        return draw(plots.plot_all, chosen, axes=ax, **settings)

    def compare(
        self,
        others: Mapping[str, Explanation],
        feature: str | int,
        *,
        name: str = "this",
        output: str | int | None = None,
        ax: Axes | None = None,
        center: Center = "mean",
        smooth: bool = False,
    ) -> Axes:
        """Draw one feature of several explanations (methods, models) on one axes.

        All features, with differences and intervals, are compared by `rhale.compare`.

        Parameters
        ----------
        others : mapping of str to Explanation
            The others, by the name to show.
        feature : str or int
            The feature.
        name : str
            What to call this explanation.
        output : str or int, optional
            Which output.
        ax : matplotlib Axes, optional
            Where to draw.
        center : {"mean", "start", "uniform"}
            Where curves are zero; "mean" is one common zero, on average over the rows of this
            explanation, so that one model on two periods gives one curve.
        smooth : bool
            As in `plot`.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> other = rhale.explain(lambda rows: 3 * rows[:, 0], x)
        >>> ax = fx.compare({"new": other}, "x0", name="old")
        >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
        ['old', 'new']
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        from rhale import plots

        given: Any = others
        if not isinstance(given, Mapping):
            msg = (
                f"{type(given).__name__} has no name to show beside {name!r}; name each of them: "
                "fx.compare({'other': fx2}, 'age'), or rhale.compare(fx, fx2) for all features"
            )
            raise BadSettingError(msg)
        key = feature if output is None else (feature, output)
        items = {name: self[key], **{n: fx[key] for n, fx in others.items()}}
        return plots.plot_compare(items, ax=ax, center=center, smooth=smooth)

    def to_frame(self, backend: str | None = None, *, regions: bool = False) -> Any:
        """One tidy row per feature, output and bin (or point of a profile).

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.
        regions : bool
            Whether bins of the regions follow those of all rows: columns `region` and `rule` come
            first, and region -1 is all rows.

        Returns
        -------
        data frame
            Of bins: `bin`, `from`, `to`, `left`, `right`, `count`, `weight`, `mean`, `std`,
            `standard_error`, `slope`, `curve_left`, `curve_right` and more; of points: `x`, `at`, `mean`,
            `std`, `curve`, `spread`.

        Notes
        -----
        `left` and `right` (of profiles `x`) are numbers, for programs: days since 1970 for dates,
        seconds for durations, places of levels. `from` and `to` (`at`) are the same places as
        text, for people: ISO dates, names of levels. `feature` and `output` hold keys;
        `feature_label` and `output_label`, the last columns, what people read for them.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> fx.to_frame("pandas")[["feature", "count", "mean"]].round(6).to_numpy().tolist()
        [['x0', 200, 2.0], ['x1', 200, 1.0]]
        """
        if regions:
            self._require_regions()
            rows = listing.region_rows(self.effects)
        else:
            rows = listing.bin_rows(self.effects)
        return as_frame(rows, backend, self._backend)

    def curve_frame(
        self,
        feature: str | int | Sequence[str | int] | None = None,
        *,
        output: str | int | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Any:
        """The curves on a grid as a table, with their spreads and intervals.

        Parameters
        ----------
        feature : str, int or sequence of these, optional
            Whose curves; all if not given.
        output : str or int, optional
            Which output; all if not given.
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in `to_frame`.
        **options
            `n`, `center`, `level` and `smooth`, as in `Effect.curve_frame`, where the columns are
            described.

        Returns
        -------
        data frame
            As of `Effect.curve_frame`, one feature after the other.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> found = fx.curve_frame("x0", n=3, center="start", backend="pandas")
        >>> float((found["curve"] - 2 * (found["x"] - found["x"][0])).abs().max().round(6))
        0.0
        """
        asked = self.features if feature is None else list_asked(feature, "feature")
        names = [self.features[self._find_feature(name)] for name in asked]
        outputs = self.outputs if output is None else (self.outputs[self._find_output(output)],)
        effects = [self[name, label] for name in names for label in outputs]
        return listing.curve_frame(effects, backend, self._backend, **options)

    def contributions(
        self,
        X: Any,  # noqa: N803 - what every library of this kind calls a table
        output: str | int | None = None,
        *,
        regions: bool = False,
        outside: Outside = "nan",
        backend: str | None = None,
    ) -> Any:
        """The curve of every feature at every row of a table: what each adds to the prediction.

        Parameters
        ----------
        X : NumPy array, pandas, polars or pyarrow table
            Rows, explained or new; no model is asked. A data frame has the explained features by
            name, in any order and with other columns; an array has the columns of the explained
            table. With `transform=` of `explain`, in people's units.
        output : str or int, optional
            Which output, where there are several.
        regions : bool
            Whether rows have the curves of their regions instead of the common ones: of features
            where that explains more, as in `explained_with_regions`.
        outside : {"nan", "extend", "raise"}
            Of a value beyond the explained range, or a level that no explained row had: nan; or, as
            a guess, the outermost bins as they go on, and new names with the rare ones where some
            are pooled; or an error.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of X if not given, an array for an array.

        Returns
        -------
        data frame or ndarray of shape (n_rows, n_features)
            One column for each explained feature. A row without a value has the change that was
            measured for missing ones, nan where it was not.

        Notes
        -----
        `fx.base(output)` plus the sum of a row is the model's prediction, up to what interactions
        add, features that were not explained, and what the curves of correlated features count
        twice; `explained_variance` says how much that is. Values of shap share interactions out
        among the features of a row; here they are left out.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(500, 2))
        >>> fx = rhale.explain(lambda rows: 3 * rows[:, 0] + rows[:, 1], x)
        >>> (fx.base() + fx.contributions(np.array([[1.0, 2.0]])).sum(axis=1)).round(6)
        array([5.])
        """
        number = self._choose_output(output, "fx.contributions(X, {})")
        if regions:
            self._require_regions()
        columns = self.provenance.get("columns", self.features)
        found = contribute(self._curves(number), X, columns, outside=outside, regions=regions)
        return as_table_like(X, self.features, found, backend)

    def base(self, output: str | int | None = None) -> float:
        """The prediction where all contributions are zero: its mean over the explained rows.

        Parameters
        ----------
        output : str or int, optional
            Which output, where there are several.

        Returns
        -------
        float
            In units of the output.

        Notes
        -----
        Read from the explanation's sample: the mean of the sampled predictions less the curves
        there, which are zero on average over all rows that have a value. Of a sum of effects it is
        exact. What missing values add on average is in the contributions, not here.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> round(fx.base() - float(np.mean(2 * x[:, 0] + x[:, 1])), 6)
        0.0
        """
        return self._curves(self._choose_output(output, "fx.base({})")).base

    def splits_frame(self, backend: str | None = None) -> Any:
        """One row per feature, output and split.

        `share` is what a split explains of the spread, with the splits below it, in `rows` that the
        search did not see. `threshold` is nan, and `levels` names those that go first, where the
        splitter has levels. `above` is the lower limit of an interval, nan where there is none.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * np.sign(rows[:, 1]), x, regions=True)
        >>> found = fx.splits_frame("pandas")
        >>> found[["feature", "splitter", "threshold"]].round(1).to_numpy().tolist()[0]
        ['x0', 'x1', 0.0]
        """
        self._require_regions()
        return as_frame(listing.tabulate_splits(self.effects), backend, self._backend)

    def partners(self, feature: str | int, output: str | int | None = None) -> Partners:
        """With which features the spread of a feature goes, and what goes with none; no query of the model.

        Parameters
        ----------
        feature, output : str or int
            The feature, and which output, where there are several.

        Returns
        -------
        Partners
            A sequence, largest share first, that prints as a table; `unexplained` and `to_frame`.

        Notes
        -----
        The partners are the explained features; with regions those that may define them.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], x)
        >>> found = fx.partners("x0")
        >>> found[0].feature, found[0].share > 0.9
        ('x1', True)
        """
        effect = self[feature if output is None else (feature, output)]
        if self.partner_matrix is not None:
            places = {(one.name, one.output): i for i, one in enumerate(self.effects)}
            place = places[effect.name, effect.output]
            return self.partner_matrix.tell(place, effect, self._backend)
        if effect.regions is not None:
            return partners_of_regions(effect, effect.regions, self._backend)
        method = self.provenance.get("method")
        if method in PROFILES:
            msg = (
                f"partners go with local effects, and method={method!r} has none; use "
                "method='rhale', 'ale' or 'dale'"
            )
        elif self.provenance.get("asked", {}).get("partners") == "False":
            msg = "partners=False was asked for; call explain again without it"
        else:
            msg = "this explanation was made before partners were kept; call explain again"
        raise BadSettingError(msg)

    def _require_regions(self) -> None:
        """Refuse what needs regions where they were not asked for."""
        if any(effect.regions is None for effect in self.effects):
            msg = (
                "regions were not asked for; call explain again with regions=True, or with "
                "regions=rhale.By('column') for groups of your own"
            )
            raise BadSettingError(msg)

    def _share_notes(self) -> tuple[str, ...]:
        """How much the curves explain, and with regions where these were asked for."""
        has_regions = any(effect.regions is not None for effect in self.effects)
        is_said = any(note.kind == EXPLAINED_VARIANCE_NOTE for note in as_notes(self.notes))
        if self.effects[0].quantity == "prediction" or (is_said and not has_regions):
            return ()
        curves = [self._curves(i) for i in range(len(self.outputs))]
        shares = [
            (one.explained(), one.explained_with_regions() if has_regions else np.nan)
            for one in curves
        ]
        some = listing.count_some(self.provenance, self.features)
        return listing.describe_shares(list(map(self.captions.output, self.outputs)), shares, some)

    def summary(self, backend: str | None = None) -> Any:
        """One row per feature and output, largest effect first.

        `notes` says what the notes of an effect are about; `effect.notes` has them in full.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; that of the explained table if not given.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> found = fx.summary("pandas")
        >>> found["feature"].tolist(), bool(found["importance"][0] > found["importance"][1])
        (['x0', 'x1'], True)
        """
        return as_frame(listing.tabulate_effects(self.ranked()), backend, self._backend)

    def _pack(self) -> Any:
        return store.pack_explanation(self)

    def report(
        self,
        path: str | PathLike[str],
        title: str | None = None,
        *,
        interactions: Interactions | None = None,
        refits: Refits | None = None,
        comparison: Comparison | None = None,
    ) -> Path:
        """Write one HTML page that needs no network: ranking, charts, sentences, notes.

        Parameters
        ----------
        path : path-like
            The file, for example "effects.html".
        title : str, optional
            Heading of the page.
        interactions : Interactions, optional
            Of the same outputs: the strongest pairs get a section, three of them with charts.
        refits : Refits, optional
            Of the same outputs: a section says what would come back after another training.
        comparison : Comparison, optional
            Of the same outputs: a section says what differs from other explanations.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> import tempfile, pathlib
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = fx.report(pathlib.Path(folder.name, "effects.html"), title="Two lines")
        >>> "<h1" in path.read_text(encoding="utf-8")
        True
        >>> folder.cleanup()
        """
        from rhale.report.effects import add_sections, make_page
        from rhale.report.page import render

        sections = {"interactions": interactions, "refits": refits, "comparison": comparison}
        for (name, given), part in zip(
            sections.items(), ("pairs", "explanations", "names"), strict=True
        ):
            if given is not None and not hasattr(given, part):
                msg = f"{name}={given!r:.60} is nothing that rhale has found; pass its result"
                raise BadSettingError(msg)
        curves = {o: self._curves(i) for i, o in enumerate(self.outputs)}
        shares = {o: one.explained() for o, one in curves.items()}
        options: dict[str, Any] = {"notes": self.notes, "explained": shares, "title": title}
        if any(effect.regions is not None for effect in self.effects):
            with_regions = {o: one.explained_with_regions() for o, one in curves.items()}
            options["explained_with_regions"] = with_regions
        # other numbers of bins to choose from, for the largest effects, so that a page stays small
        names = [effect.name for effect in self.ranked() if effect.name in self.cells]
        some = {name: self.cells[name] for name in list(dict.fromkeys(names))[:MOST_CHOICES]}
        choices = [
            {
                name: Quantile(n_bins, cells.grid.closed)
                for name, cells in some.items()
                if cells.total_rows >= FEWEST_IN_BIN * n_bins
            }
            for n_bins in OTHER_BINS
        ]
        others = [rebin_alike([self], bins)[0].effects for bins in choices]
        if self.partner_matrix is not None:
            pairs = [(e.name, e.output) for e in self.effects]
            options["partners"] = {pair: self.partners(*pair) for pair in pairs}
        page = make_page(self.effects, self.provenance, others=others, **options)
        page = add_sections(page, interactions, refits, comparison)
        write_text(path, render(page))
        return Path(path)

    def _repr_html_(self) -> str:
        """The ranked table with the shape of each curve, for notebooks."""
        from rhale.report.notebook import NOTEBOOK_COLUMNS

        return self._listing(columns=NOTEBOOK_COLUMNS).as_html()

    def _listing(self, **options: Any) -> Listing:
        """The ranked table and its notes."""
        notes = (*self._share_notes(), *self.notes)
        return listing.list_effects(self.effects, self.provenance, notes, **options)

    def rebin(self, bins: Bins) -> Explanation:
        """Choose bins anew from the fine cells, without asking the model.

        Parameters
        ----------
        bins : Partition, int, sequence of limits, Explanation or mapping
            As in `explain`. Limits that are not limits of cells move to the nearest one, and the
            notes say so. Bins that end at a value that many rows share stay, and so do levels.
            Regions stay with the bins that they have, as their cells are not kept; a note says so.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> fx["x0"].n_parts, fx.rebin(rhale.Fixed(4))["x0"].n_parts
        (1, 4)
        """
        if not self.cells:
            msg = (
                f"method {self.provenance.get('method')!r} ties its numbers to its bins; "
                "call explain again with the bins you want"
            )
            raise BadSettingError(msg)
        (made,) = rebin_alike([self], bins, is_noted=True)
        return made

    def copy_bins(self, feature: str, output: str) -> Partition | None:
        """Bins of one feature and output, for another explanation; None where it has levels.

        Parameters
        ----------
        feature, output : str
            Whose bins.

        Returns
        -------
        Edges or None

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> len(fx.copy_bins("x0", "y0").edges)
        2
        """
        found = self[(feature, output) if len(self.outputs) > 1 else feature]
        if found.parts == "points":
            msg = "a profile has no bins to copy; pass an explanation by 'rhale', 'dale' or 'ale'"
            raise BadSettingError(msg)
        if found.parts == "levels":
            return None
        effect = cast(Effect, found)
        return Edges(effect.edges, effect.closed, linear=effect.linear)

    def level_order(self, feature: str) -> tuple[str, ...]:
        """Levels of a feature in their order; none where it has none.

        Parameters
        ----------
        feature : str
            The feature; one that was not explained has no levels.

        Returns
        -------
        tuple of str

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> rhale.explain(lambda rows: rows[:, 0] ** 2, rooms).level_order("x0")
        ('1', '2', '3')
        """
        if feature not in self.features:
            return ()
        found = self[feature, self.outputs[0]]
        return found.labels if found.parts == "levels" else ()

    @property
    def explained_variance(self) -> float | dict[str, float]:
        """Share of the model's variance that the sum of the curves explains, on the sample.

        One number, or one per output. Low values say that single curves do not describe the
        model: mostly because of interactions, but also where a step is next to a small gradient, or where waves are finer than the windows. Where features are explained that
        are all the model sees, a share below one half is a note, too. Of some features only it is
        what their curves explain, and print, command and page say so.

        It is 1 - var(f - sum of the curves) / var(f), which is below zero where the curves miss
        the predictions by more than a constant would. Curves of correlated features do that:
        (x0 - x1)² hardly varies if x0 is close to x1, but each curve rises like a parabola.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x)
        >>> abs(fx.explained_variance) < 0.1  # a product has no effects of its own
        True
        """
        return self._share_of_each(SampledCurves.explained)

    @property
    def explained_with_regions(self) -> float | dict[str, float]:
        """The same, where rows may have the curves of their regions instead of the common ones.

        Features take the curves of their regions one by one, the one that explains most first, as
        long as that explains more: a difference that two features share, as in x1 x2, is counted
        for one of them. Without regions it is `explained_variance`.
        """
        return self._share_of_each(SampledCurves.explained_with_regions)

    def _share_of_each(
        self, explained: Callable[[SampledCurves], float]
    ) -> float | dict[str, float]:
        """A share of the variance: one number, or one by the name of each output."""
        shares = {name: explained(self._curves(i)) for i, name in enumerate(self.output_names)}
        return shares if len(shares) > 1 else shares[self.output_names[0]]

    def _curves(self, output: int) -> SampledCurves:
        effects = self.effects[output :: len(self.outputs)]
        return SampledCurves(
            effects, self.sample_x, self.predictions[:, output], self.sample_weight
        )


def rebin_alike(
    explanations: Sequence[Explanation],
    bins: Bins,
    *,
    axes: Mapping[str, FeatureAxis] | None = None,
    is_noted: bool = False,
) -> tuple[Explanation, ...]:
    """Choose bins anew for models of one table: the same for all, from the moments of all.

    The explanations are of the same features, outputs and rows; `bins` as in `Explanation.rebin`.
    `axes` describe where the rows of each feature are, by default from its cells. `is_noted` adds
    notes on what stays and which limits moved, for readers who know other bins.
    """
    first = explanations[0]
    bins = name_keys(parse_bins_setting(bins), first.features)
    cells_of = [[fx.cells.get(effect.name) for fx in explanations] for effect in first.effects]
    unbinned: list[list[Unbinned]] = []  # of each feature and output, one for all models or each
    for place, (effect, cells) in enumerate(zip(first.effects, cells_of, strict=True)):
        partition = partition_for(bins, effect.name, effect.output)
        models = [
            ModelCells(
                one.series(first.outputs.index(effect.output)),
                fx.effects[place].stairs,
                getattr(fx.effects[place], "row_spread", None),
            )
            for one, fx in zip(cells, explanations, strict=True)
            if one is not None
        ]
        alike = len(models) == len(cells) and all(
            m.cells.cells == models[0].cells.cells for m in models
        )
        # models of several kinds: each has bins of its own
        together = [models] if alike else [[one] for one in models]
        axis = (axes or {}).get(effect.name)
        unbinned.append(
            []
            if partition is None
            else [Unbinned(effect.name, effect.output, own, partition, axis) for own in together]
        )
    chosen = iter(bin_all([one for of_effect in unbinned for one in of_effect]))
    rebinned: list[tuple[Result, ...]] = []
    for place, (of_effect, cells) in enumerate(zip(unbinned, cells_of, strict=True)):
        before = tuple(fx.effects[place] for fx in explanations)
        made = iter([effect for _ in of_effect for effect in next(chosen)])
        if of_effect or all(one is None for one in cells):
            before = tuple(
                _without_cells(old) if one is None else _with_new_bins(old, next(made), one)
                for old, one in zip(before, cells, strict=True)
            )
        rebinned.append(before)
    found = []
    for fx, effects in zip(explanations, zip(*rebinned, strict=True), strict=True):
        carried = tuple(map(carry_regions, fx.effects, effects))
        if not is_noted:
            carried = tuple(map(_without_bin_notes, carried))
        provenance = {**fx.provenance, "bins": describe_bins(bins)}
        found.append(note_explained(replace(fx, effects=carried, provenance=provenance)))
    return tuple(found)


def _without_cells(effect: Result) -> Result:
    """The effect as it is: constant, with levels, or with bins that end at a point mass.

    A note says so of the last, whose bins a reader might have expected to change.
    """
    if effect.parts != "bins" or is_constant(effect):
        return effect
    own = cast(Effect, effect)
    return replace(own, bin_notes=(*own.bin_notes, TIED))


def _with_new_bins(before: Result, made: Effect, cells: Moments) -> Effect:
    """An effect with new bins, and what of the one before does not depend on bins."""
    own = cast(Effect, before)
    carried = {n: getattr(own, n) for n in ("local_notes", "sample", "kind", "missing")}
    if cells.is_stepped and own.row_spread is None:
        # a file from before rows were moved: what it knows of the spread stays
        width = np.diff(made.edges)
        std = np.diff(own.spread(made.edges, center="start")) / np.where(width > 0, width, 1.0)
        carried |= {"std": std, "std_plain": std}
    # limits that were searched in these rows stay so, however they are asked for
    search = own.search if np.array_equal(made.edges, own.axis) else made.search
    return replace(made, search=search, **carried)


def _without_bin_notes(result: Result) -> Result:
    """The result without notes on which bins stayed and which limits moved."""
    if result.parts != "bins":
        return result
    effect = cast(Effect, result)
    kept = [n for n in effect.bin_notes if n not in (TIED, REGIONS_STAY) and n.kind != MOVED_LIMITS]
    return replace(effect, bin_notes=tuple(kept))


def carry_regions(before: Result, result: Result) -> Result:
    """Give an effect with other bins the regions that it had: the only one has its effect."""
    tree, effect = before.regions, cast(Effect, result)
    if tree is None:
        return result
    if len(tree) == 1:
        alone = replace(tree[0], effect=replace(effect, regions=None))
        return replace(effect, regions=replace(tree, regions=(alone,)))
    if not np.array_equal(before.axis, effect.axis):
        effect = replace(effect, bin_notes=(*effect.bin_notes, REGIONS_STAY))
    return replace(effect, regions=tree)


def note_explained(fx: Explanation) -> Explanation:
    """Record how much the curves explain, with a note where that is little, or cannot be.

    Curves of some features only, and marginal ones, are not meant to add up to the model: they get
    no note. Nor do curves that explain enough once rows have those of their regions.
    """
    curves = {o: fx._curves(i) for i, o in enumerate(fx.outputs)}  # noqa: SLF001 - of this module
    shares = {o: one.explained() for o, one in curves.items()}
    with_regions = {o: one.explained_with_regions() for o, one in curves.items()}
    little = {
        o: share for o, share in shares.items() if not with_regions[o] >= ENOUGH_EXPLAINED_VARIANCE
    }
    recorded = {o: round(share, 6) if np.isfinite(share) else None for o, share in shares.items()}
    is_effect = fx.effects[0].quantity == "effect"
    add_up = fx.provenance.get("method") != "mplot" and not listing.count_some(
        fx.provenance, fx.features
    )
    ways = fx.provenance.get("ways")
    how = {} if ways is None else {"ways": set(ways.values())}
    kept = tuple(
        n for n in as_notes(fx.notes) if n.kind not in (EXPLAINED_VARIANCE_NOTE, IMPLAUSIBLE)
    )
    for place, output in enumerate(fx.outputs if is_effect else ()):
        known = np.isfinite(fx.predictions[:, place]) & (fx.sample_weight > 0)
        own = [effect for effect in fx.effects if effect.output == output]
        found = fx.predictions[known, place], fx.sample_weight[known], fx.sample_x[known]
        kept += describe_implausible(own, *found) if known.sum() > 1 else ()
    return replace(
        fx,
        provenance={**fx.provenance, "explained_variance": recorded},
        notes=kept + (describe_explained(little, **how) if add_up else ()),
    )


def load_explanation(path: str | PathLike[str]) -> Explanation:
    """Read an explanation that `Explanation.save` wrote; `rhale.load` reads interactions, too.

    Anything that is not as `Explanation.save` writes it is refused with BadFileError: what is
    loaded can be used like any other explanation, wherever it comes from.
    """
    return restore_explanation(store.read_result_file(path), str(path))


def restore_explanation(content: Any, source: str) -> Explanation:
    """Make an explanation of the plain values in a file or a message, which may be hostile.

    `content` is what `pack_explanation` gave, with the version of its format; `source` says in
    messages where it came from.
    """
    return Explanation(**store.unpack_explanation(content, source))
