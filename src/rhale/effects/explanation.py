"""Explanation: what the user holds. Its verbs call the rooms below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from rhale.effects import listing, store, summary
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.fit import MOVED_LIMITS, ModelCells, Unbinned, bin_all
from rhale.effects.binning.fixed import Edges, Quantile
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.partition import Partition
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
from rhale.errors import BadSettingError, UnknownOutputError
from rhale.naming import find_feature, find_output, list_asked, near_names
from rhale.output.labels import Captions, caption, captions_of
from rhale.output.note import Note, as_notes
from rhale.regions.partners import PartnerMatrix, Partners, partners_of_regions
from rhale.settings import PROFILES, describe_bins, name_keys, parse_bins_setting, partition_for
from rhale.stats.arrays import FloatArray
from rhale.stats.records import as_read_only, same_fields, same_value
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
class Explanation:
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
        With whom the spread of every feature goes, which `partners` tells; None where that was
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

    def __len__(self) -> int:
        return len(self.effects)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.effects)

    def __contains__(self, feature: object) -> bool:
        return feature in self.features

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        names = ["features", "outputs", "effects", "predictions", "sample_x", "sample_weight"]
        names += ["partner_matrix"]
        same = all(same_value(getattr(self, n), getattr(other, n)) for n in names)
        same = same and self.cells.keys() == other.cells.keys()
        same = same and all(same_fields(m, other.cells[name]) for name, m in self.cells.items())
        return same and self.provenance == other.provenance and self.notes == other.notes

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return listing.as_text(self.effects, self.provenance, (*self._shares_told(), *self.notes))

    __repr__ = __str__

    def __getitem__(self, key: Any) -> Result:
        feature, output = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        place = self._feature(feature)
        number = self._one_output(output, f"fx[{feature!r}, {self.outputs[0]!r}]")
        return self.effects[place * len(self.outputs) + number]

    @property
    def captions(self) -> Captions:
        """What people read for features and outputs; `features` and `outputs` are keys."""
        return self.effects[0].captions

    def ranked(self, output: str | int | None = None) -> list[Result]:
        """Effects with the largest first; of one output, or of all.

        Parameters
        ----------
        output : str or int, optional
            Which output; all of them if not given.

        Returns
        -------
        list of Effect, LevelEffect or Profile
            By `importance`, the largest first.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> [effect.name for effect in fx.ranked()]
        ['x0', 'x1']
        """
        wanted = [e for e in self.effects if output is None or e.output == self._label(output)]
        return sorted(wanted, key=lambda e: -e.importance if np.isfinite(e.importance) else 0.0)

    def plot(
        self,
        feature: str | int | Iterable[str | int] | None = None,
        *,
        output: str | int | None = None,
        ax: Any = None,
        center: Center = "mean",
        smooth: bool = False,
        **options: Any,
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
        center : {"mean", "start", "uniform"}
            Where curves are zero.
        smooth : bool
            Of a model that moves in steps, such as trees: False draws its own curve, flat but for
            its jumps; True evens out small steps and keeps the real jumps, as in `Effect.curve`.
        **options
            Of one feature: `kind="curve"`, "bins" or "both" chooses its panels; `rows=50` draws the
            curves of so many sampled rows, `color="latitude"` colours them by another feature, and
            `color=True` by that with which they differ most (see `partners`). Of several: `top=12`
            draws the largest, `columns` and `sharey` arrange them. Of both: `limits="1%..99%"` or
            (low, high) shows a part of the axis, `xscale="log"` or "linear" is chosen otherwise,
            `sort="effect"` or "order" orders levels, `regions=True` draws the curves of regions over
            the common one. Of every picture: `colors` (of the effect, "black"; of several curves, a
            list; or by role, {"spread": "grey"}), `figsize`, `legend=False`, `title`. The others
            are those of `rhale.plots.plot_effect`, `plot_profile`, `plot_all`, `plot_outputs` and
            `plot_regions`; the page "Pictures" of the documentation shows all.

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
        from rhale.plots.row_curves import RowColors, choose_color

        options = {"center": center, "smooth": smooth, **options}
        if isinstance(feature, str | int | np.integer):
            name = self.features[self._feature(feature)]
            if output is None and len(self.outputs) > 1:
                results = [self[name, label] for label in self.outputs]
                return draw(plots.plot_outputs, results, axes=ax, **options)
            result = self[name] if output is None else self[name, output]
            among = tuple(effect for effect in self.effects if effect.output == result.output)
            color = options.get("color")
            if color is not None and color is not False:
                partners = self.partners(name, result.output) if color is True else None
                other = self[choose_color(color, self.features, partners), result.output]
                values = self.sample_x[:, self._feature(other.name)]
                options["color"] = RowColors(other, values)
            return draw(choose_plot(result), result, ax=ax, among=among, **options)
        chosen = self._results_of(feature, output)
        if feature is not None:
            options = {"top": len({result.name for result in chosen}) or None, **options}
        return draw(plots.plot_all, chosen, axes=ax, **options)

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
            rows = summary.region_rows(self.effects)
        else:
            rows = summary.bin_rows(self.effects)
        return summary.as_frame(rows, backend, self._backend)

    def curve_frame(
        self,
        feature: str | int | Sequence[str | int] | None = None,
        *,
        output: str | int | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Any:
        """The curves on a grid as a table: how rows differ and how sure they are beside them.

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
        names = [self.features[self._feature(name)] for name in asked]
        outputs = self.outputs if output is None else (self._label(output),)
        effects = [self[name, label] for name in names for label in outputs]
        return summary.curve_frame(effects, backend, self._backend, **options)

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
            name, in any order and beside other columns; an array has the columns of the explained
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
        number = self._one_output(output, f"fx.contributions(X, {self.outputs[0]!r})")
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
        return self._curves(self._one_output(output, f"fx.base({self.outputs[0]!r})")).base

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
        return summary.as_frame(summary.tabulate_splits(self.effects), backend, self._backend)

    def partners(self, feature: str | int, output: str | int | None = None) -> Partners:
        """With whom the spread of a feature goes, and what goes with nobody; no model is asked.

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
        Looked at are the explained features; with regions those that may tell them apart.

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
        if effect.regions is None:
            raise BadSettingError(self._why_no_partners())
        return partners_of_regions(effect, effect.regions, self._backend)

    def _why_no_partners(self) -> str:
        """Say why nobody knows with whom spreads go."""
        method = self.provenance.get("method")
        if method in PROFILES:
            return (
                f"partners go with local effects, and method={method!r} has none; use "
                "method='rhale', 'ale' or 'dale'"
            )
        if self.provenance.get("asked", {}).get("partners") == "False":
            return "partners=False was asked for; call explain again without it"
        return "this explanation was made before partners were kept; call explain again"

    def _require_regions(self) -> None:
        """Refuse to tell who differs where nobody asked."""
        if any(effect.regions is None for effect in self.effects):
            msg = (
                "regions were not asked for; call explain again with regions=True, or with "
                "regions=rhale.By('column') for groups of your own"
            )
            raise BadSettingError(msg)

    def _shares_told(self) -> tuple[str, ...]:
        """How much the curves explain, where regions were asked for: with them, and without."""
        if all(effect.regions is None for effect in self.effects):
            return ()
        curves = [self._curves(i) for i in range(len(self.outputs))]
        shares = [(one.explained(), one.explained_with_regions()) for one in curves]
        some = listing.count_some(self.provenance, self.features)
        return listing.tell_shares(list(map(self.captions.output, self.outputs)), shares, some)

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
        return summary.as_frame(summary.tabulate_effects(self.ranked()), backend, self._backend)

    def save(self, path: str | PathLike[str]) -> None:
        """Write one JSON file that `rhale.load` reads back exactly.

        Parameters
        ----------
        path : path-like
            The file, for example "effects.json".

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(0, 10, size=(200, 2))
        >>> fx = rhale.explain(lambda rows: 2 * rows[:, 0] + rows[:, 1], x)
        >>> import tempfile, pathlib
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "effects.json")
        >>> fx.save(path)
        >>> rhale.load(path) == fx
        True
        >>> folder.cleanup()
        """
        store.write_result_file(path, store.pack_explanation(self))

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
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
        from rhale.report.page import add_partners, make_page, with_choices
        from rhale.report.render import render
        from rhale.report.sections import add_sections

        beside = {"interactions": interactions, "refits": refits, "comparison": comparison}
        for (name, given), part in zip(
            beside.items(), ("pairs", "explanations", "names"), strict=True
        ):
            if given is not None and not hasattr(given, part):
                msg = f"{name}={given!r:.60} is nothing that rhale has found; pass its result"
                raise BadSettingError(msg)
        page = make_page(self.effects, self.provenance, **self._told(title))
        page = with_choices(page, self.effects, self._other_bins())
        page = add_partners(page, self._partners_told())
        page = add_sections(page, interactions, refits, comparison)
        write_text(path, render(page))
        return Path(path)

    def _other_bins(self) -> list[tuple[Result, ...]]:
        """The effects with some numbers of bins of equal counts, where bins can be had.

        Only features with the largest effects, so that a page stays small.
        """
        names = [effect.name for effect in self.ranked() if effect.name in self.cells]
        some = {name: self.cells[name] for name in list(dict.fromkeys(names))[:MOST_CHOICES]}
        asked = [
            {
                name: Quantile(n_bins, cells.grid.closed)
                for name, cells in some.items()
                if cells.total_rows >= FEWEST_IN_BIN * n_bins
            }
            for n_bins in OTHER_BINS
        ]
        return [rebin_alike([self], bins)[0].effects for bins in asked]

    def _partners_told(self) -> dict[tuple[str, str], str]:
        """With whom spreads go, in words, by feature and output; nothing where nobody knows."""
        from rhale.regions.report import tell_partners

        if self.partner_matrix is None:
            return {}
        return {
            (e.name, e.output): tell_partners(self.partners(e.name, e.output), e.captions)
            for e in self.effects
        }

    def _told(self, title: str | None = None) -> dict[str, Any]:
        """What a page says besides the effects."""
        shares = {o: self._explained(i) for i, o in enumerate(self.outputs)}
        told = {"notes": self.notes, "explained": shares, "title": title}
        if any(effect.regions is not None for effect in self.effects):
            told["explained_with_regions"] = {
                o: self._curves(i).explained_with_regions() for i, o in enumerate(self.outputs)
            }
        return told

    def _repr_html_(self) -> str:
        """The ranked table with the shape of each curve, for notebooks."""
        from rhale.report.notebook import as_html

        return as_html(self.ranked(), self.provenance, (*self._shares_told(), *self.notes))

    def rebin(self, bins: Bins) -> Explanation:
        """Choose bins anew from the fine cells, without asking the model.

        Parameters
        ----------
        bins : Partition, int, sequence of limits, Explanation or mapping
            As in `explain`. Limits that are not limits of cells move to the nearest one, and the
            notes say so. Bins that end beside a value that many rows share stay, and so do levels.
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
        (made,) = rebin_alike([self], bins, is_told=True)
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
        if feature not in self:
            return ()
        found = self[feature, self.outputs[0]]
        return found.labels if found.parts == "levels" else ()

    @property
    def explained_variance(self) -> float | dict[str, float]:
        """Share of the model's variance that the sum of the curves explains, on the sample.

        One number, or one per output. Low values say that single curves do not tell the whole
        story: mostly because of interactions, but also where a step stands beside a small
        gradient, or where waves are finer than the windows. Where features are explained that
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
        shares = {o: self._explained(i) for i, o in enumerate(self.outputs)}
        return shares if len(shares) > 1 else shares[self.outputs[0]]

    @property
    def explained_with_regions(self) -> float | dict[str, float]:
        """The same, where rows may have the curves of their regions instead of the common ones.

        Features take the curves of their regions one by one, the one that explains most first, as
        long as that explains more: a difference that two features share, as in x1 x2, is told by
        one of them. Without regions it is `explained_variance`.
        """
        shares = {o: self._curves(i).explained_with_regions() for i, o in enumerate(self.outputs)}
        return shares if len(shares) > 1 else shares[self.outputs[0]]

    def _explained(self, output: int) -> float:
        return self._curves(output).explained()

    def _curves(self, output: int) -> SampledCurves:
        effects = self.effects[output :: len(self.outputs)]
        return SampledCurves(
            effects, self.sample_x, self.predictions[:, output], self.sample_weight
        )

    @property
    def _backend(self) -> str | None:
        return cast("str | None", self.provenance.get("table"))

    def _by_importance(self, names: Sequence[str], output: str | int | None) -> list[Result]:
        """Effects of some features, the largest first: on any of those outputs that are drawn."""
        from rhale.plots.overview import main_outputs

        wanted = {e.name: [] for e in self.effects if e.name in names}  # type: dict[str, list[Result]]
        for effect in self.effects:
            if effect.name in wanted and (output is None or effect.output == self._label(output)):
                wanted[effect.name].append(effect)
        drawn = main_outputs([effect for some in wanted.values() for effect in some])
        size = {
            name: max(np.nan_to_num(e.importance) for e in some if e.output in drawn)
            for name, some in wanted.items()
        }
        order = sorted(wanted, key=lambda name: -size[name])
        return [effect for name in order for effect in wanted[name]]

    def _results_of(
        self, features: Iterable[str | int] | None, output: str | int | None
    ) -> list[Result]:
        """Results in the order asked for; the largest first where all are, or a set."""
        if features is None:
            return self._by_importance(self.features, output)
        given: Any = features
        wanted = given if isinstance(given, Iterable) else [given]
        names = list(dict.fromkeys(self.features[self._feature(f)] for f in wanted))
        ranked = self._by_importance(names, output)
        if isinstance(features, AbstractSet):
            return ranked
        return sorted(ranked, key=lambda result: names.index(result.name))

    def _label(self, output: str | int) -> str:
        return self.outputs[self._output(output)]

    def _feature(self, feature: Any) -> int:
        return find_feature(self.captions.feature_key(feature), self.features)

    def _output(self, output: Any) -> int:
        return find_output(self.captions.output_key(output), self.outputs)

    def _one_output(self, output: Any, example: str) -> int:
        """Place of an output, which need not be named where there is one."""
        if output is None and len(self.outputs) > 1:
            msg = f"there are several outputs, name one: {example}; "
            raise UnknownOutputError(msg + near_names("", list(self.outputs)))
        return 0 if output is None else self._output(output)


def rebin_alike(
    explanations: Sequence[Explanation],
    bins: Bins,
    *,
    axes: Mapping[str, FeatureAxis] | None = None,
    is_told: bool = False,
) -> tuple[Explanation, ...]:
    """Choose bins anew for models of one table: the same for all, from the moments of all.

    Parameters
    ----------
    explanations : sequence of Explanation
        Of the same features, outputs and rows.
    bins : Partition, int, Explanation or mapping
        As in `Explanation.rebin`, where the rules for what stays as it is are.
    axes : mapping of str to FeatureAxis, optional
        Where the rows of each feature are; described by the cells if not given.
    is_told : bool
        Whether notes say what stays and which limits moved, to a reader who knows other bins.
    """
    first = explanations[0]
    bins = name_keys(parse_bins_setting(bins), first.features)
    asked = [
        _AskedAnew.of(explanations, place, bins, (axes or {}).get(effect.name))
        for place, effect in enumerate(first.effects)
    ]
    chosen = iter(bin_all([unbinned for one in asked for unbinned in one.unbinned]))
    rebinned = [one.carry(chosen) for one in asked]
    carry = carry_regions if is_told else _carry_quietly
    return tuple(
        note_explained(
            replace(
                fx,
                effects=tuple(map(carry, fx.effects, effects)),
                provenance={**fx.provenance, "bins": describe_bins(bins)},
            )
        )
        for fx, effects in zip(explanations, zip(*rebinned, strict=True), strict=True)
    )


class _AskedAnew(NamedTuple):
    """One feature and output of all models: what it was, and which bins are to be chosen.

    Attributes
    ----------
    before : tuple of Result
        What each model has.
    cells : list of Moments or None
        Cells among which bins can be chosen, of each model that has any.
    unbinned : list of Unbinned
        One for all models, or for each that has cells; none where nothing was asked.
    """

    before: tuple[Result, ...]
    cells: list[Moments | None]
    unbinned: list[Unbinned]

    @classmethod
    def of(
        cls, explanations: Sequence[Explanation], place: int, bins: Bins, axis: FeatureAxis | None
    ) -> _AskedAnew:
        """Ask for the bins of one feature and output."""
        before = tuple(fx.effects[place] for fx in explanations)
        name, output, outputs = before[0].name, before[0].output, explanations[0].outputs
        partition, at = partition_for(bins, name, output), outputs.index(output)
        cells = [fx.cells.get(name) for fx in explanations]
        models = [
            ModelCells(one.series(at), effect.stairs, getattr(effect, "row_spread", None))
            for one, effect in zip(cells, before, strict=True)
            if one is not None
        ]
        if partition is None:
            return cls(before, cells, [])
        alike = len(models) == len(cells) and all(
            m.cells.cells == models[0].cells.cells for m in models
        )
        # models of several kinds: each has bins of its own
        together = [models] if alike else [[one] for one in models]
        return cls(
            before, cells, [Unbinned(name, output, own, partition, axis) for own in together]
        )

    def carry(self, chosen: Iterator[tuple[Effect, ...]]) -> tuple[Result, ...]:
        """Take the effects with the bins that were asked for, and keep the others."""
        if not self.unbinned and any(cells is not None for cells in self.cells):
            return self.before
        made = iter([effect for _ in self.unbinned for effect in next(chosen)])
        # without cells: constant, with levels, or with a pile of rows
        return tuple(
            _stay(effect)
            if cells is None
            else _carry(effect, next(made), is_stepped=cells.is_stepped)
            for effect, cells in zip(self.before, self.cells, strict=True)
        )


def _stay(effect: Result) -> Result:
    """An effect whose bins cannot change; a note where a reader might have expected that."""
    if effect.parts != "bins" or is_constant(effect):
        return effect
    own = cast(Effect, effect)
    return replace(own, bin_notes=(*own.bin_notes, TIED))


def _carry(before: Result, made: Effect, *, is_stepped: bool) -> Effect:
    """Give an effect with other bins what does not depend on bins."""
    carried = {n: getattr(before, n) for n in ("local_notes", "sample", "kind", "missing")}
    own = cast(Effect, before)
    if is_stepped and own.row_spread is None:
        # a file from before rows were moved: what it knows of the spread stays
        width = np.diff(made.edges)
        std = np.diff(own.spread(made.edges, center="start")) / np.where(width > 0, width, 1.0)
        carried |= {"std": std, "std_plain": std}
    # limits that were searched in these rows stay so, however they are asked for
    search = cast(Effect, before).search if np.array_equal(made.edges, before.axis) else made.search
    return replace(made, search=search, **carried)


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


def _carry_quietly(before: Result, result: Result) -> Result:
    """The same without notes on what other bins would be."""
    found = carry_regions(before, result)
    if found.parts != "bins":
        return found
    effect = cast(Effect, found)
    told = (TIED, REGIONS_STAY)
    kept = [n for n in effect.bin_notes if n not in told and n.kind != MOVED_LIMITS]
    return replace(effect, bin_notes=tuple(kept))


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

    Parameters
    ----------
    path : path-like
        The JSON file.

    Raises
    ------
    BadFileError
        If the file is of another program, or anything in it is not as `Explanation.save` writes
        it. What is loaded can be used like any other explanation, wherever it comes from.
    """
    return restore_explanation(store.read_result_file(path), str(path))


def restore_explanation(content: Any, source: str) -> Explanation:
    """Make an explanation of the plain values in a file or a message, which may be hostile.

    Parameters
    ----------
    content : dict
        What `rhale.effects.store.pack_explanation` gave, with the version of its format.
    source : str
        Where it came from, for messages.
    """
    return Explanation(**store.unpack_explanation(content, source))
