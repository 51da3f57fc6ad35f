"""explain(): the steps from a model and a table to an Explanation, in order. Start reading here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, reduce
from importlib.metadata import PackageNotFoundError, version
from operator import add
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rhale.binning import bin_cells, fine_grid
from rhale.effect import NO_SAMPLE, Effect, LocalEffects
from rhale.engines import map_chunks
from rhale.errors import BadEffectsError, BadSettingError, BadTableError
from rhale.explanation import Bins, Explanation, partition_for
from rhale.kernels import FloatArray
from rhale.kernels.grid import Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.partition import require_count
from rhale.kernels.sample import collect, row_keys
from rhale.local import LocalTask, Measured
from rhale.models import Predictor, meet, wrap
from rhale.models.sklearn import Response
from rhale.plan import (
    PROFILES,
    USUAL_BINS,
    Cells,
    Feature,
    Local,
    Method,
    Settings,
    list_features,
    plan_cells,
    plan_local,
    plan_points,
)
from rhale.profiles import ProfileTask, grid_of_points, make_profiles
from rhale.summary import describe
from rhale.tables import Chunk, Table, open_table
from rhale.tables.chunk import find_columns, read_chunks
from rhale.tables.open import check_weights
from rhale.tables.survey import Survey, survey

Progress = Callable[[int, int], object]
Piece = TypeVar("Piece")
SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
SAMPLE_ROWS = 2_000  # distinct rows kept in the result
SAMPLE_NUMBERS = 400_000  # and not many more numbers than this, however wide the table
FEWEST_SAMPLED = 200


def explain(
    model: Any,
    data: Any,
    *,
    features: str | int | Sequence[str | int] | None = None,
    method: Method = "rhale",
    bins: Bins = None,
    local: Local = "auto",
    gradient: Callable[[Any], Any] | None = None,
    output: str | int | Sequence[str | int] | None = None,
    response: Response = "auto",
    weights: npt.ArrayLike | None = None,
    categorical: Any = None,
    limits: tuple[float, float] | Mapping[str | int, tuple[float, float]] | None = None,
    window: float | None = None,
    spread_window: float | None = None,
    n_rows: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    progress: bool | Progress | None = None,
) -> Explanation:
    """Explain how each feature moves a model's predictions, how rows differ, and how sure we are.

    Parameters
    ----------
    model : callable, estimator with `predict`, torch module or JAX function
        A fitted model. Left as it was.
    data : NumPy array, pandas, polars or pyarrow table
        Rows to explain the model on; the model sees the same kind of table. Never modified.
    features : str, int or sequence of these, optional
        Names or positions of the features to explain; all by default.
    method : {"rhale", "dale", "ale", "pdp", "ice", "mplot"}
        "rhale": local effects and bins chosen by the method. "dale": gradients in equal bins.
        "ale": secants over quantile bins. The others are profiles of predictions.
    bins : Optimal, Fixed, Quantile, Edges, int, Explanation or mapping, optional
        How bins are chosen (for profiles: their limits are the grid); a mapping goes from feature
        to any of these.
    local : {"auto", "gradient", "secant"}
        Local effects; "auto" takes gradients where the model has useful ones.
    gradient : callable, optional
        Derivative of a callable model: rows -> (n_rows, n_features).
    output : str, int or sequence of these, optional
        Outputs to explain; all by default (of two classes, the second).
    response : {"auto", "predict", "predict_proba", "decision_function", "margin"}
        Which answer of an estimator to explain.
    weights : array-like of shape (n_rows,), optional
        How much each row matters.
    categorical : optional
        Reserved: categorical features are not supported yet.
    limits : (low, high) or mapping of feature to (low, high), optional
        Range to explain; rows outside are left out of that feature, and the notes say so.
    window, spread_window : float, optional
        Share of the rows inside the windows of secants, for the mean and for the spread.
    n_rows : int, optional
        Use at most so many rows, drawn with `seed`; all by default.
    seed : int
        Of the row draw and of the bounded sample.
    batch_size : int, optional
        Rows in one call of the model.
    progress : bool or callable, optional
        True shows a bar; a callable gets (rows done, rows in all).

    Returns
    -------
    Explanation

    Examples
    --------
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> fx = explain(lambda rows: 3 * rows[:, 0] + rows[:, 1] ** 2, x)
    >>> fx["x0"].mean.round(6)
    array([3.])
    """
    settings = Settings(method, bins, local, limits, window, spread_window)
    _refuse_categorical(categorical)
    table = open_table(data, weights)
    n_in_table = table.n_rows
    table = _drawn(table, n_rows, seed)
    columns = _explained_columns(table, features)
    rows = Rows(table, _batch_rows(batch_size, len(table.names)), progress)
    adapter = wrap(model, gradient=gradient, response=response)
    with adapter.session():
        probe_rows = int(np.clip(table.n_rows // 20, 32, 256))
        first = rows.fold(
            partial(
                survey,
                columns=columns,
                names=table.names,
                sizes=(SURVEY_ROWS, probe_rows),
                seed=seed,
            )
        )
        predictor, asked = meet(adapter, first.probe.chunk, output)
        known = list_features(first, table.names, columns, limits)
        job = Job(settings, rows, first, predictor, known, seed)
        made = job.profiles() if method in PROFILES else job.effects()
    return Explanation(
        tuple(f.name for f in known),
        predictor.outputs,
        made.effects,
        made.predictions,
        made.sample_x,
        made.sample_weight,
        made.cells,
        {
            **_provenance(settings, predictor, table, first, seed),
            "rows_in_table": n_in_table,
            "rows_asked": asked + made.asked,
            "sample_rows": len(made.sample_x),
        },
    )


def effect(
    x: npt.ArrayLike,
    local_effects: npt.ArrayLike,
    *,
    bins: Bins = None,
    weights: npt.ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    name: str = "x",
) -> Effect:
    """Make an effect from local effects that are already there.

    Parameters
    ----------
    x : array-like of shape (n_rows,)
        Feature values.
    local_effects : array-like of shape (n_rows,)
        Local effect of every row.
    bins : Optimal, Fixed, Quantile, Edges or int, optional
        How bins are chosen; the usual bins of method "rhale" by default.
    weights : array-like of shape (n_rows,), optional
        How much each row matters.
    limits : (low, high), optional
        Range to explain; rows outside are left out, and the notes say so.
    name : str
        What to call the feature.

    Returns
    -------
    Effect

    Examples
    --------
    >>> effect([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]).curve([0, 3], center="start")
    array([0., 3.])
    """
    places, values = np.array(x, dtype=np.float64), np.array(local_effects, dtype=np.float64)
    if places.ndim != 1 or places.shape != values.shape:
        msg = f"x has shape {places.shape}, local_effects {values.shape}; both must be (n_rows,)"
        raise BadTableError(msg)
    table = open_table(places[:, None], weights)
    if weights is not None:
        values = values[check_weights(weights, places.size) > 0]
    if not np.all(np.isfinite(values)):
        msg = f"local effects of {name!r} must be finite; row {int(np.argmin(np.isfinite(values)))} is not"
        raise BadEffectsError(msg)
    chunk = table.chunk(0, table.n_rows)
    first = survey(chunk, [0], [name], (SURVEY_ROWS, 1), 0)
    (feature,) = list_features(first, [name], [0], limits)
    partition = partition_for(bins, name, "y0") or USUAL_BINS["rhale"]
    if feature.is_constant:
        return constant_effect(feature, "y0", first)
    grid = fine_grid(feature.axis, partition.candidates(feature.axis), partition.closed)
    cells = measure(grid, chunk.column(0), values, chunk.weights)
    weight = np.ones(values.size) if chunk.weights is None else chunk.weights
    kept = np.column_stack([chunk.column(0), values])
    sample = collect(row_keys(kept), kept, weight, size=SAMPLE_ROWS)
    shown = LocalEffects(sample.values[:, 0], sample.values[:, 1], sample.weight)
    return bin_cells(
        name, "y0", cells, partition, axis=feature.axis, notes=left_out(first, cells), sample=shown
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """The table, read in chunks as often as needed, with progress."""

    table: Table
    batch_rows: int
    progress: bool | Progress | None

    def fold(self, task: Callable[[Chunk], Piece]) -> Piece:
        """Apply a task to all chunks and add up what comes back, in order."""
        return reduce(add, self._shown(map_chunks(task, read_chunks(self.table, self.batch_rows))))

    def _shown(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Pass pieces on, and tell how far the work is."""
        if not self.progress:
            yield from pieces
            return
        n_rows, done = self.table.n_rows, 0
        if callable(self.progress):
            for piece in pieces:
                yield piece
                done = min(done + self.batch_rows, n_rows)
                self.progress(done, n_rows)
            return
        from tqdm.auto import tqdm

        with tqdm(total=n_rows, unit="row", unit_scale=True, desc="rhale") as bar:
            for piece in pieces:
                yield piece
                step = min(self.batch_rows, n_rows - done)
                done += step
                bar.update(step)


@dataclass(frozen=True, eq=False)
class Made:
    """What a job made, ready to be put into an Explanation."""

    effects: tuple[Any, ...]
    predictions: FloatArray
    sample_x: FloatArray
    sample_weight: FloatArray
    cells: dict[str, Moments]
    asked: int


@dataclass(frozen=True, eq=False)
class Job:
    """The second pass, and what follows from it."""

    settings: Settings
    rows: Rows
    survey: Survey
    predictor: Predictor
    features: list[Feature]
    seed: int

    def effects(self) -> Made:
        """Local effects, moments, bins."""
        names, outputs = self.rows.table.names, self.predictor.outputs
        varying = [f for f in self.features if not f.is_constant]
        cells = [plan_cells(self.settings, f, outputs) for f in varying]
        plans, how, asked = plan_local(
            self.settings, self.predictor, self.survey, varying, cells, names, self.rows.batch_rows
        )
        task = LocalTask(
            self.predictor,
            names,
            tuple(f.column for f in varying),
            tuple(c.grid for c in cells),
            plans,
            self.last_key(1 + len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        measured = self.rows.fold(task)
        made: dict[str, list[Effect]] = {}
        for place, (feature, chosen) in enumerate(zip(varying, cells, strict=True)):
            made[feature.name] = [
                self.one_effect(feature, chosen, measured, place, output, how[place])
                for output in range(len(outputs))
            ]
        for feature in self.features:
            if feature.is_constant:
                made[feature.name] = [constant_effect(feature, o, self.survey) for o in outputs]
        fine = {f.name: m for f, m in zip(varying, measured.cells, strict=True)}
        return Made(
            tuple(e for f in self.features for e in made[f.name]),
            measured.sample.values[:, len(varying) : len(varying) + len(outputs)],
            self.sampled_columns(measured.sample.values, varying),
            measured.sample.weight,
            {} if self.settings.method == "ale" else fine,
            asked + measured.asked,
        )

    def one_effect(
        self, feature: Feature, cells: Cells, measured: Measured, place: int, output: int, how: str
    ) -> Effect:
        """Bin one feature for one output."""
        n_outputs, n_features = len(self.predictor.outputs), len(measured.cells)
        found, sample = measured.cells[place], measured.sample
        column = n_features + n_outputs + place * n_outputs + output
        return bin_cells(
            feature.name,
            self.predictor.outputs[output],
            found.series(*range(output, len(found.mean), n_outputs)),
            cells.partitions[output],
            axis=feature.axis,
            notes=(how, *cells.notes, *left_out(self.survey, found)),
            sample=LocalEffects(sample.values[:, place], sample.values[:, column], sample.weight),
        )

    def profiles(self) -> Made:
        """Predictions along grids."""
        names, outputs, settings = self.rows.table.names, self.predictor.outputs, self.settings
        if settings.method == "mplot":
            grids = [Grid(plan_points_or_value(settings, f, outputs[0])) for f in self.features]
        else:
            grids = [grid_of_points(plan_points(settings, f, outputs[0])) for f in self.features]
        n_points = max(g.n_cells for g in grids) if settings.method == "ice" else 1
        task = ProfileTask(
            self.predictor,
            settings.method,  # type: ignore[arg-type]
            names,
            tuple(f.column for f in self.features),
            tuple(grids),
            self.last_key(1 + n_points * len(outputs)),
            self.rows.batch_rows,
            self.seed,
        )
        traced = self.rows.fold(task)
        n_features = len(self.features)
        values = traced.sample.values
        notes = [left_out(self.survey, c) for c in traced.cells]
        return Made(
            tuple(make_profiles(task, traced, notes)),
            values[:, n_features : n_features + len(outputs)],
            values[:, :n_features],
            traced.sample.weight,
            {},
            traced.asked,
        )

    def last_key(self, n_numbers: int) -> np.uint64:
        """Largest key of the rows that the result keeps."""
        wide = SAMPLE_NUMBERS // (len(self.features) * n_numbers)
        n_kept = int(np.clip(wide, FEWEST_SAMPLED, SAMPLE_ROWS))
        keys = self.survey.sample.key
        return np.uint64(keys[n_kept - 1] if keys.size > n_kept else np.iinfo(np.uint64).max)

    def sampled_columns(self, values: FloatArray, varying: Sequence[Feature]) -> FloatArray:
        """Sampled values of all explained features, constant ones included."""
        columns = np.empty((len(values), len(self.features)))
        for place, feature in enumerate(self.features):
            columns[:, place] = feature.axis.low
            if feature in varying:
                columns[:, place] = values[:, varying.index(feature)]
        return columns


def plan_points_or_value(settings: Settings, feature: Feature, output: str) -> FloatArray:
    """Limits of the marginal plot's bins; one value twice for a constant feature."""
    if feature.is_constant:
        return np.array([feature.axis.low, feature.axis.high])
    return plan_points(settings, feature, output)


def constant_effect(feature: Feature, output: str, survey: Survey) -> Effect:
    """Say that a feature with one value has no curve."""
    value, unknown = feature.axis.low, np.full(1, np.nan)
    note = f"constant: always {value:g}, so no effect can be measured"
    return Effect(
        feature.name,
        output,
        np.array([value, value]),
        np.array([survey.n_rows]),
        np.array([feature.axis.rows]),
        np.array([survey.weight]),
        np.array([value]),
        unknown,
        np.zeros(1),
        unknown,
        unknown,
        unknown,
        np.zeros(1),
        notes=(note,),
        sample=NO_SAMPLE,
    )


def left_out(survey: Survey, cells: Moments) -> tuple[str, ...]:
    """Say how many rows lie outside the cells."""
    missing = survey.n_rows - int(cells.count.sum())
    if not missing:
        return ()
    low, high = cells.grid.edges[[0, -1]]
    return (
        f"{missing:,} of {survey.n_rows:,} rows lie outside [{low:g}, {high:g}] and are left out",
    )


def _explained_columns(table: Table, features: Any) -> list[int]:
    """Find the features, and refuse columns that hold no numbers."""
    columns = find_columns(table.names, features)
    for column in columns:
        refusal = table.refusal(column)
        if refusal:
            msg = (
                f"column {table.names[column]!r} {refusal}; rhale explains numeric columns only, so "
                "far: name the ones to explain in features= (the model still gets all columns)"
            )
            raise BadTableError(msg)
    return columns


def _drawn(table: Table, n_rows: int | None, seed: int) -> Table:
    """Draw rows if the user wants fewer."""
    if n_rows is None:
        return table
    require_count("n_rows", n_rows)
    if n_rows >= table.n_rows:
        return table
    if n_rows < 2:
        msg = "n_rows=1 leaves one row; an effect needs at least two"
        raise BadSettingError(msg)
    rng = np.random.default_rng(seed)
    return table.take(np.sort(rng.choice(table.n_rows, n_rows, replace=False)))


def _batch_rows(batch_size: int | None, n_columns: int) -> int:
    """Rows in one call of the model: tens of thousands, fewer for very wide tables."""
    if batch_size is not None:
        require_count("batch_size", batch_size)
        return batch_size
    return int(np.clip(2**23 // n_columns, 2**10, 2**16))


def _refuse_categorical(categorical: Any) -> None:
    if categorical is not None:
        msg = "categorical= is not supported yet; explain the numeric columns with features="
        raise BadSettingError(msg)


def _provenance(
    settings: Settings, predictor: Predictor, table: Table, survey: Survey, seed: int
) -> dict[str, Any]:
    """Record what was explained, and how."""
    bins = USUAL_BINS[settings.method] if settings.bins is None else settings.bins
    try:
        own_version = version("rhale")
    except PackageNotFoundError:  # run from a source tree without installation
        own_version = "unknown"
    return {
        "model": predictor.adapter.kind,
        "method": settings.method,
        "bins": describe(bins),
        "local": settings.local,
        "table": table.kind,
        "columns": list(table.names),
        "rows": survey.n_rows,
        "weighted": bool(survey.weight_squares != survey.n_rows),
        "seed": seed,
        "rhale": own_version,
        "numpy": np.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


__all__ = ["effect", "explain"]
