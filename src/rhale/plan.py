"""Decisions before the second pass: which local effects, which windows, which cells, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rhale.errors import BadSettingError, NotDifferentiableError
from rhale.explanation import Bins, Explanation, partition_for
from rhale.features.feature import Feature, Reader
from rhale.features.survey import Survey
from rhale.kernels import FloatArray
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.fixed import Edges, Fixed, Quantile
from rhale.kernels.grid import Grid
from rhale.kernels.partition import Partition
from rhale.kernels.times import AxisKind, as_numbers, written
from rhale.kernels.windows import even_window, window
from rhale.measures import OwnBin, SecantPlan, probe_smoothness, reacts
from rhale.measures.tracing import grid_of_points
from rhale.models import Predictor
from rhale.names import find_feature
from rhale.results.fit import fine_grid
from rhale.results.level_effect import LevelEffect

Method = Literal["rhale", "dale", "ale", "pdp", "ice", "mplot"]
Local = Literal["auto", "gradient", "secant"]
PROFILES = ("pdp", "ice", "mplot")
MARGINAL_BINS = Quantile(20)
USUAL_BINS: dict[str, Partition] = {
    "rhale": Adaptive(),
    "dale": Fixed(20),
    "ale": Quantile(20),
    "pdp": Fixed(50),
    "ice": Fixed(50),
    "mplot": MARGINAL_BINS,
}
SMOOTH_SHARE, MEAN_SHARE, SPREAD_SHARE = 0.01, 0.1, 0.3
WINDOW_ROWS, WIDEST_SHARE = 45, 0.15  # of few rows a window takes a larger share
MEAN_LEAST, SPREAD_LEAST = 1 / 5, 1 / 2  # of the share, at the ends of the axis
BY_GRADIENT, OVER_BINS = "local effects by gradient", "secants over the row's own bin"
BY_STEPS = "steps between neighbouring levels"
USUAL_WAYS = (BY_GRADIENT, OVER_BINS)  # not worth a note


@dataclass(frozen=True)
class Settings:
    """What the user asked for, checked."""

    method: Method = "rhale"
    bins: Bins = None
    local: Local = "auto"
    limits: Any = None
    window: float | None = None
    spread_window: float | None = None

    def __post_init__(self) -> None:
        _one_of("method", self.method, get_args(Method))
        _one_of("local", self.local, get_args(Local))
        for name in ("window", "spread_window"):
            share = getattr(self, name)
            if share is not None and not (isinstance(share, int | float) and 0 < share <= 1):
                msg = f"{name}={share!r} is not a share of the rows; pass a number in (0, 1], say 0.05"
                raise BadSettingError(msg)
        if self.method == "dale" and self.local == "secant":
            msg = "method='dale' is defined by gradients; use method='ale' or 'rhale' for secants"
            raise BadSettingError(msg)
        if self.method == "ale" and self.local == "gradient":
            msg = "method='ale' is defined by secants over bins; use method='dale' for gradients"
            raise BadSettingError(msg)

    def partition(self, feature: str, output: str) -> Partition:
        """Bins of one feature and output: the user's, or the method's usual ones."""
        return partition_for(self.bins, feature, output) or USUAL_BINS[self.method]

    def wants_numbers(self, feature: str) -> bool:
        """Whether few whole numbers are to be binned all the same: bins, limits or slopes."""
        limited = self.limits is not None
        if isinstance(self.limits, Mapping):
            limited = feature in self.limits
        asked = self.bins.get(feature) if isinstance(self.bins, Mapping) else self.bins
        if asked is not None and self.levels_of(feature):
            asked = None
        slopes = self.local == "gradient" or self.method == "dale"
        return limited or asked is not None or slopes

    def levels_of(self, feature: str) -> tuple[str, ...]:
        """Levels of a feature in another explanation whose bins are to be used; none if it is not."""
        asked = self.bins.get(feature) if isinstance(self.bins, Mapping) else self.bins
        if not isinstance(asked, Explanation) or feature not in asked:
            return ()
        found = asked[feature, asked.outputs[0]]
        return found.levels if isinstance(found, LevelEffect) else ()


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one feature and the partition of each output that chooses among them."""

    grid: Grid
    partitions: tuple[Partition, ...]
    notes: tuple[str, ...] = ()


def list_features(reader: Reader, limits: Any) -> list[Feature]:
    """Gather what the first pass learned about each feature."""
    wanted = read_limits(limits, reader)
    features = []
    for place, column in enumerate(reader.columns):
        feature = reader.feature(place, wanted.get(column))
        axis = feature.axis
        require_rows(feature, axis.values.size, (axis.low, axis.high), reader.survey)
        features.append(feature)
    return features


def require_rows(
    feature: Feature, n_rows: int, limits: tuple[float, float], survey: Survey
) -> None:
    """Refuse limits between which a feature has no rows."""
    if n_rows == 0:
        low, high = (written(v, feature.axis_kind) for v in limits)
        first, last = (
            written(float(v[feature.place]), feature.axis_kind) for v in (survey.low, survey.high)
        )
        msg = (
            f"feature {feature.name!r} has no rows within [{low}, {high}]; its values go from "
            f"{first} to {last}"
        )
        raise BadSettingError(msg)


def read_limits(limits: Any, reader: Reader) -> dict[int, tuple[float, float]]:
    """Turn limits into a mapping from column to (low, high)."""
    names, columns = reader.table.names, reader.columns
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        if len(columns) != 1:
            msg = f"limits={limits!r} for {len(columns)} features; pass a mapping from feature to (low, high)"
            raise BadSettingError(msg)
        limits = {names[columns[0]]: limits}
    found = {}
    for feature, pair in limits.items():
        column = find_feature(feature, names)
        found[column] = _pair(feature, pair, reader.axis_kind(column))
    return found


def plan_cells(settings: Settings, feature: Feature, outputs: Sequence[str]) -> Cells:
    """Choose the cells of a feature so that every output's partition can choose among them."""
    partitions = tuple(settings.partition(feature.name, output) for output in outputs)
    closed = partitions[0].closed
    if any(p.closed != closed for p in partitions):
        msg = f"bins of {feature.name!r} are closed on different sides for different outputs"
        raise BadSettingError(msg)
    offered = [p.candidates(feature.axis) for p in partitions]
    notes = _about_quantiles(feature, partitions[0])
    if settings.method != "ale":
        return Cells(fine_grid(feature.axis, np.concatenate(offered), closed), partitions, notes)
    if any(not np.array_equal(offered[0], other) for other in offered):
        msg = f"method='ale' needs the same bins of {feature.name!r} for all outputs"
        raise BadSettingError(msg)
    edges = reachable(feature, partitions[0], offered[0])
    own = Edges(edges, closed)
    return Cells(Grid(edges, closed), (own,) * len(partitions), notes)


def plan_points(settings: Settings, feature: Feature, output: str) -> FloatArray:
    """Points of a profile's grid: the limits of its bins, as values that the feature can take."""
    if feature.levels is not None:
        return feature.levels.edges
    partition = settings.partition(feature.name, output)
    return np.unique(reachable(feature, partition, partition.candidates(feature.axis)))


def plan_marginal(settings: Settings, feature: Feature, output: str) -> Grid:
    """Bins of the marginal plot; one for each value where there are few and none were asked for."""
    values, partition = feature.axis.values, settings.partition(feature.name, output)
    if feature.levels is not None:
        return grid_of_points(feature.levels.edges)
    if feature.is_constant:
        return Grid(np.array([feature.axis.low, feature.axis.high]))
    if partition is MARGINAL_BINS and values.size <= MARGINAL_BINS.n_bins:
        between = values[:-1] + 0.5 * np.diff(values)
        return Grid(np.concatenate([[feature.axis.low], between, [feature.axis.high]]))
    return Grid(partition.candidates(feature.axis), partition.closed)


def reachable(feature: Feature, partition: Partition, edges: FloatArray) -> FloatArray:
    """Limits at which the model can be asked: whole numbers for features of whole numbers."""
    if not feature.whole or isinstance(partition, Edges):
        return edges
    inner = np.rint(edges[1:-1])
    rounded = np.unique(np.concatenate([np.ceil(edges[:1]), inner, np.floor(edges[-1:])]))
    return rounded if rounded.size > 1 else edges


def plan_local(
    settings: Settings,
    predictor: Predictor,
    survey: Survey,
    features: Sequence[Feature],
    cells: Sequence[Cells],
    names: Sequence[str],
    batch_rows: int,
) -> tuple[list[SecantPlan], list[str], int]:
    """Decide for every feature: gradient, or secants over which windows.

    Returns
    -------
    plans : list of SecantPlan
        One for each feature, or none where gradients serve.
    notes : list of str
        What was decided, one for each feature.
    asked : int
        Rows that were predicted to decide.
    """
    if settings.method == "ale":
        pairs = zip(features, cells, strict=True)
        own = [SecantPlan(feature.column, OwnBin(c.grid)) for feature, c in pairs]
        return own, [OVER_BINS] * len(features), 0
    wants_gradient = settings.local == "gradient" or settings.method == "dale"
    if wants_gradient and not predictor.adapter.is_differentiable:
        msg = (
            f"a gradient was asked for, but this {predictor.adapter.kind} has none; pass "
            "gradient=, or use local='auto' or 'secant' (method='rhale' or 'ale')"
        )
        raise NotDifferentiableError(msg)
    why, asked = "", 0
    if predictor.adapter.is_differentiable and settings.local != "secant":
        if wants_gradient:
            return [], [BY_GRADIENT] * len(features), 0
        why, notes, asked = _judge_gradient(predictor, survey, features, names, batch_rows)
        if not why:
            return [], notes, asked
    plans, kinds, more = _windows(settings, predictor, survey, features, names, batch_rows)
    return plans, [why + kind for kind in kinds], asked + more


def _judge_gradient(
    predictor: Predictor,
    survey: Survey,
    features: Sequence[Feature],
    names: Sequence[str],
    batch_rows: int,
) -> tuple[str, list[str], int]:
    """Say why the gradient is of no use ("" if it is), and what to note about each feature."""
    probe, notes = survey.probe.chunk, [BY_GRADIENT] * len(features)
    try:
        _, slopes = predictor.gradient(probe)
    except NotDifferentiableError as error:
        return f"no gradient ({error}): ", notes, probe.n_rows
    flat = [i for i, f in enumerate(features) if not np.any(slopes[:, :, f.column])]
    if not flat:
        return "", notes, probe.n_rows
    wide = [window(features[i].axis, SPREAD_SHARE, whole=features[i].whole) for i in flat]
    columns = [features[i].column for i in flat]
    moved, asked = reacts(predictor, probe, columns, wide, names, batch_rows)
    if not np.any(slopes) and moved.any():
        why = "the gradient is zero everywhere although predictions differ: "
        return why, notes, probe.n_rows + asked
    for i in np.array(flat)[moved]:
        notes[i] = (
            "local effects by gradient, which is zero although predictions change with this "
            "feature (steps?): local='secant' measures that"
        )
    return "", notes, probe.n_rows + asked


def _windows(
    settings: Settings,
    predictor: Predictor,
    survey: Survey,
    features: Sequence[Feature],
    names: Sequence[str],
    batch_rows: int,
) -> tuple[list[SecantPlan], list[str], int]:
    """Probe where the model is smooth, and choose the windows of the secants."""
    smooth, asked = np.zeros(len(features), dtype=np.bool_), 0
    if settings.window is None or settings.spread_window is None:
        narrow = [window(f.axis, SMOOTH_SHARE, whole=f.whole) for f in features]
        columns = [f.column for f in features]
        smooth, asked = probe_smoothness(
            predictor, survey.probe.chunk, columns, narrow, names, batch_rows
        )
    plans, notes = [], []
    for feature, is_smooth in zip(features, smooth, strict=True):
        share = settings.window or (SMOOTH_SHARE if is_smooth else _mean_share(feature.axis.rows))
        spread_share = settings.spread_window or (None if is_smooth else SPREAD_SHARE)
        plans.append(_secant_plan(feature, share, spread_share))
        kind = "smooth" if is_smooth else "stepped"
        if settings.window and settings.spread_window:
            kind = "windows given by hand"
        spread = f", {spread_share:.3g} for the spread" if spread_share else ""
        whole = ", and end at whole numbers" if feature.whole else ""
        notes.append(f"secants ({kind}): windows hold {share:.3g} of the rows{spread}{whole}")
    return plans, notes, asked


def _mean_share(n_rows: float) -> float:
    """Share of the rows in the windows of a stepped model."""
    return float(np.clip(WINDOW_ROWS / n_rows, MEAN_SHARE, WIDEST_SHARE))


def _secant_plan(feature: Feature, share: float, spread_share: float | None) -> SecantPlan:
    axis, whole = feature.axis, feature.whole
    if spread_share is None:
        return SecantPlan(feature.column, window(axis, share, whole=whole))
    mean = even_window(axis, share, MEAN_LEAST * share, whole=whole, gaps=True)
    spread = even_window(axis, spread_share, SPREAD_LEAST * spread_share, whole=whole)
    return SecantPlan(feature.column, mean, spread)


def _about_quantiles(feature: Feature, partition: Partition) -> tuple[str, ...]:
    if isinstance(partition, Quantile) and not feature.is_complete:
        n_rows = f"{feature.axis.values.size:,}"
        return (f"quantile limits from a sample with {n_rows} distinct values",)
    return ()


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        msg = f"{name}={value!r} is not known; use one of {', '.join(known)}"
        raise BadSettingError(msg)


def _pair(feature: Any, pair: Any, kind: AxisKind) -> tuple[float, float]:
    try:
        low, high = (float(as_numbers(v, kind)) for v in pair)
    except (TypeError, ValueError) as error:
        what = "dates" if kind == "date" else "numbers"
        msg = f"limits of {feature!r} must be two {what} (low, high); found {pair!r}"
        raise BadSettingError(msg) from error
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        msg = f"limits of {feature!r} must be finite with low < high; found ({low}, {high})"
        raise BadSettingError(msg)
    return low, high
