"""explain(): the steps from a model and a table to an Explanation, in order. Start reading here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rhale.binning import bin_cells, fine_grid
from rhale.effect import Effect, LocalEffects
from rhale.errors import BadEffectsError, BadSettingError, BadTableError
from rhale.explanation import Bins, Explanation, named_bins, partition_for
from rhale.features import Reader, check_columns, has_no_order, read_categorical
from rhale.kernels.moments import measure
from rhale.kernels.partition import require_count
from rhale.kernels.sample import collect, row_keys
from rhale.models import Predictor, meet, wrap
from rhale.models.sklearn import Response
from rhale.notes import left_out
from rhale.passes import SAMPLE_ROWS, Job, Progress, Rows
from rhale.plan import (
    PROFILES,
    USUAL_BINS,
    Local,
    Method,
    Settings,
    list_features,
    require_rows,
)
from rhale.results import constant_effect
from rhale.summary import describe
from rhale.tables import Table, open_table
from rhale.tables.chunk import find_columns
from rhale.tables.open import check_weights
from rhale.tables.survey import Survey, survey

SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
WALKED_NUMBERS, FEWEST_WALKED = 2**21, 2**9  # answers of one walk in memory, rows in one


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
    weights: npt.ArrayLike | str | None = None,
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
    model : callable, estimator with `predict`, torch module, JAX function or path
        A fitted model, left as it was; or a model file: ONNX, XGBoost, LightGBM, CatBoost, skops
        or an exported program of torch. Pickles are refused.
    data : NumPy array, pandas, polars or pyarrow table
        Rows to explain the model on; the model sees the same kind of table. Never modified.
    features : str, int or sequence of these, optional
        Names or positions of the features to explain; all by default.
    method : {"rhale", "dale", "ale", "pdp", "ice", "mplot"}
        "rhale": local effects and bins chosen by the method. "dale": gradients in equal bins.
        "ale": secants over quantile bins. The others are profiles of predictions.
    bins : Adaptive, Optimal, Fixed, Quantile, Edges, int, Explanation or mapping, optional
        How bins are chosen (for profiles: their limits are the grid); a mapping goes from feature
        to any of these.
    local : {"auto", "gradient", "secant"}
        Local effects; "auto" takes gradients where the model has useful ones.
    gradient : callable, optional
        Derivative of a callable model: rows -> (n_rows, n_features).
    output : str, int or sequence of these, optional
        Outputs to explain; all by default (of two classes, the second).
    response : {"auto", "predict", "predict_proba", "decision_function", "margin", "log_odds"}
        Which answer of an estimator to explain: "auto" is `predict`, and `predict_proba` for
        classifiers; "margin" is the answer before the link function, "log_odds" is
        log(p / (1 - p)).
    weights : array-like of shape (n_rows,) or str, optional
        How much each row matters; or the column that says so, which is then no feature and is
        not shown to the model.
    categorical : mapping of feature to bool or list, or list of features, optional
        True: each value is a category; a list: the order of the levels; False: numbers, where at
        most 20 whole numbers would be steps. Names and truth values are categories by themselves.
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
    _check_arguments(gradient, seed)
    table = open_table(data, weights)
    bins, limits = named_bins(bins, table.names), named_bins(limits, table.names)
    settings = Settings(method, bins, local, limits, window, spread_window)
    n_in_table = table.n_rows
    table = _drawn(table, n_rows, seed)
    columns = find_columns(table.names, features)
    rows = Rows(table, _batch_rows(batch_size, len(table.names)), progress)
    adapter = wrap(model, gradient=gradient, response=response)
    with adapter.session():
        first, reader = _first_pass(rows, settings, columns, categorical, seed)
        rows = replace(rows, table=reader.table)
        known = list_features(reader, limits)
        predictor, asked = meet(adapter, first.probe.chunk, output)
        if predictor.walks:
            rows = _rows_to_walk(rows, len(known), predictor)
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
            "kinds": {f.name: f.kind for f in known},
            "rows_asked": asked + (predictor.checked_rows if predictor.walks else made.asked),
            "answers_walked": made.asked if predictor.walks else 0,
            "local_effects": made.local_effects,
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
    bins : Adaptive, Optimal, Fixed, Quantile, Edges or int, optional
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
    try:
        places, values = np.array(x, dtype=np.float64), np.array(local_effects, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"x and local_effects of {name!r} must be numbers, one per row: {error}"
        raise BadTableError(msg) from error
    if places.ndim != 1 or places.shape != values.shape:
        msg = f"x has shape {places.shape}, local_effects {values.shape}; both must be (n_rows,)"
        raise BadTableError(msg)
    table = open_table(places[:, None], weights)
    if weights is not None:
        used = check_weights(weights, places.size) > 0
        values = np.where(used, values, 0.0)
    if not np.all(np.isfinite(values)):
        row = int(np.argmin(np.isfinite(values)))
        msg = f"local effects of {name!r} must be finite; row {row} is {values[row]}"
        raise BadEffectsError(msg)
    if weights is not None:
        values = values[used]
    chunk = table.chunk(0, table.n_rows)
    if np.any(np.isnan(chunk.column(0))):
        row = chunk.row_numbers[np.argmax(np.isnan(chunk.column(0)))]
        msg = f"feature {name!r} has missing values (first in row {row}); leave these rows out"
        raise BadTableError(msg)
    first = survey(chunk, [0], [name], (SURVEY_ROWS, 1), 0)
    reader = Reader(table, first, [0], [], {0: False}, lambda _: True)
    feature = replace(list_features(reader, limits)[0], name=name)
    partition = partition_for(bins, name, "y0") or USUAL_BINS["rhale"]
    if feature.is_constant:
        return cast(Effect, constant_effect(feature, "y0", first))
    grid = fine_grid(feature.axis, partition.candidates(feature.axis), partition.closed)
    cells = measure(grid, chunk.column(0), values, chunk.weights)
    require_rows(feature, int(cells.count.sum()), (grid.edges[0], grid.edges[-1]), first)
    weight = np.ones(values.size) if chunk.weights is None else chunk.weights
    kept = np.column_stack([chunk.column(0), values])
    sample = collect(row_keys(kept), kept, weight, size=SAMPLE_ROWS)
    shown = LocalEffects(sample.values[:, 0], sample.values[:, 1], sample.weight)
    return bin_cells(
        name,
        "y0",
        cells,
        partition,
        axis=feature.axis,
        notes=left_out(first.n_rows, cells),
        sample=shown,
    )


def _first_pass(
    rows: Rows, settings: Settings, columns: list[int], categorical: Any, seed: int
) -> tuple[Survey, Reader]:
    """Look at all rows once, and number the names of columns of names."""
    table = rows.table
    said = read_categorical(categorical, table.names)
    check_columns(table, columns, said)
    probe_rows = int(np.clip(table.n_rows // 20, 32, 256))
    unordered = [c for c in columns if has_no_order(table, c, said.get(c))]
    beside = [c for c in range(len(table.names)) if c not in columns] if unordered else []
    look = partial(
        survey,
        columns=columns,
        names=table.names,
        sizes=(SURVEY_ROWS, probe_rows),
        seed=seed,
        beside=beside,
        counted=[c for c in columns if said.get(c)],
    )
    first = rows.fold(look, silent=True)
    wants = settings.wants_numbers, settings.levels_of
    reader = Reader(table, first, columns, beside, said, *wants)
    labels = reader.labels()
    chunk = first.probe.chunk.labelled(labels)
    first = replace(first, probe=replace(first.probe, chunk=chunk))
    return first, replace(reader, table=table.labelled(labels), survey=first)


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


def _rows_to_walk(rows: Rows, n_features: int, predictor: Predictor) -> Rows:
    """Chunks whose features are all answered by one walk, a few for every core."""
    fit = WALKED_NUMBERS // (4 * n_features * predictor.n_all)
    n_threads = predictor.n_threads
    shared = -(-rows.table.n_rows // (3 * n_threads)) if n_threads > 1 else rows.batch_rows
    size = int(np.clip(min(fit, shared), FEWEST_WALKED, max(rows.batch_rows, FEWEST_WALKED)))
    return replace(rows, batch_rows=size, n_threads=n_threads)


def _check_arguments(gradient: Any, seed: Any) -> None:
    """Refuse values of arguments that no later step would name."""
    if gradient is not None and not callable(gradient):
        msg = f"gradient={gradient!r:.60} is not callable; pass rows -> (n_rows, n_features)"
        raise BadSettingError(msg)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        msg = f"seed={seed!r} is not a whole number of zero or more"
        raise BadSettingError(msg)


def own_version() -> str:
    """Version of the installed package; unknown in a source tree that was never installed."""
    try:
        return version("rhale")
    except PackageNotFoundError:
        return "unknown"


def _provenance(
    settings: Settings, predictor: Predictor, table: Table, survey: Survey, seed: int
) -> dict[str, Any]:
    """Record what was explained, and how."""
    bins = USUAL_BINS[settings.method] if settings.bins is None else settings.bins
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
        "rhale": own_version(),
        "numpy": np.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


__all__ = ["effect", "explain"]
