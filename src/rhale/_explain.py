"""explain(): the steps from a model and a table to an Explanation, in order. Start reading here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from rhale.engines import open_on_engine, rows_of_parts
from rhale.engines.checkpoint.identity import digest_of, identify
from rhale.engines.fold import FIRST_LOOK, Progress, Rows
from rhale.engines.thread_limits import limit_threads
from rhale.engines.threads import count_jobs
from rhale.errors import BadEffectsError, BadSettingError, BadTableError
from rhale.explanation import Bins, Explanation, named_bins, partition_for
from rhale.features.feature import Reader, check_columns, has_no_order, read_categorical
from rhale.features.survey import Survey, SurveyTask, survey
from rhale.gpu.task import cuda_of, place, survey_on_device
from rhale.kernels.moments import measure
from rhale.kernels.partition import require_count
from rhale.kernels.sample import collect, row_keys
from rhale.making import constant_effect
from rhale.models import Adapter, Predictor, meet, wrap
from rhale.models.expected_columns import columns_for
from rhale.models.sklearn import Response
from rhale.models.wrap import loaded
from rhale.notes import left_out
from rhale.passes import SAMPLE_ROWS, Job
from rhale.plan import (
    PROFILES,
    USUAL_BINS,
    Local,
    Method,
    Settings,
    list_features,
    require_rows,
)
from rhale.results import store
from rhale.results.effect import Effect, LocalEffects
from rhale.results.fit import bin_cells, fine_grid
from rhale.results.summary import describe
from rhale.tables import Table, TableInMemory, open_table
from rhale.tables.chunk import find_columns
from rhale.tables.files.sources import names_files, open_files
from rhale.tables.open import require_two_rows
from rhale.tables.pieces.table import PiecedTable
from rhale.tables.weights import check_weights

if TYPE_CHECKING:
    from rhale.engines.checkpoint.folder import Checkpoint

SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
PROBE_ROWS = 32, 256  # rows that a model is asked about first, at least and at most
Opened = TableInMemory | PiecedTable
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
    columns: Sequence[str] | None = None,
    weights: npt.ArrayLike | str | None = None,
    categorical: Any = None,
    limits: tuple[float, float] | Mapping[str | int, tuple[float, float]] | None = None,
    window: float | None = None,
    spread_window: float | None = None,
    n_rows: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    device: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
) -> Explanation:
    """Explain how each feature moves a model's predictions, how rows differ, and how sure we are.

    Parameters
    ----------
    model : callable, estimator with `predict`, torch module, JAX function or path
        A fitted model, left as it was; or a model file: ONNX, XGBoost, LightGBM, CatBoost, skops
        or an exported program of torch. Pickles are refused.
    data : table, path or paths
        Rows to explain the model on. In memory: NumPy array, pandas, polars or pyarrow table; the
        model sees the same kind, and nothing is modified. Larger: the path of Parquet, CSV or
        Arrow files (`"rows/*.parquet"`), a pyarrow dataset, a Dask data frame or array, a Spark
        data frame or a Ray dataset; the model sees pieces of it, as pandas (as NumPy, for arrays).
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
    columns : sequence of str, optional
        Columns that the model sees, in its order; only they are read. All by default; of tables
        that are not in memory, those that the model was fitted on, where it says so.
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
    n_jobs : int, optional
        Threads to use in this process, those of the model included; -1 for one per core. By
        default the model uses as many as it likes, and rhale adds none but for trees that it walks.
    device : str, torch.device or JAX device, optional
        Where a torch module or JAX function computes, on a copy of it there; by default where it
        is. With a module on a CUDA device, slopes and moments stay there.
    checkpoint : path, optional
        Folder where finished work is kept. The same call, made again after an interruption, goes
        on from there and ends with the same numbers.
    progress : bool or callable, optional
        True shows a bar; a callable gets (rows done, rows in all). Tables that are not in memory
        are read twice, and both readings count.

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
    model = loaded(model)
    table = _opened(model, data, weights, columns)
    bins, limits = named_bins(bins, table.names), named_bins(limits, table.names)
    settings = Settings(method, bins, local, limits, window, spread_window)
    table, n_in_table = _drawn(table, n_rows, seed)
    places = find_columns(table.names, features)
    jobs = count_jobs(n_jobs)
    adapter, placed = place(wrap(model, gradient=gradient, response=response), table, device)
    table = placed if checkpoint is None else table  # checkpoints keep rows of the host's memory
    batch_rows = _batch_rows(batch_size, table, adapter)
    rows = Rows(table, batch_rows, progress, table.n_rows, jobs or 1)
    asked_for = {"output": output, "response": response, "categorical": categorical}
    with (
        _kept(checkpoint, rows, settings, places, seed, asked_for) as memory,
        limit_threads(adapter, jobs) as adapter,
        adapter.session(),
    ):
        rows = replace(rows, memory=memory)
        first, reader = _first_pass(rows, settings, places, categorical, seed)
        rows = replace(rows, table=reader.table, n_rows=first.n_rows)
        known = list_features(reader, limits)
        predictor, asked = meet(adapter, first.probe.chunk, output)
        if memory is not None:
            asked += first.probe.chunk.n_rows
            memory.same_answers(predictor.predict(first.probe.chunk.rows, first.probe.chunk.n_rows))
        if predictor.walks:
            rows = _rows_to_walk(rows, len(known), predictor, jobs)
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
            "rows_in_table": first.n_rows if n_in_table is None else n_in_table,
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


def _opened(model: Any, data: Any, weights: Any, columns: Sequence[str] | None) -> Opened:
    """Open a table, with the columns that the model is to see."""
    pieced = open_files(data) if names_files(data) else open_on_engine(data)
    if pieced is None:
        table = open_table(data, weights)
        return table if columns is None else table.select(find_columns(table.names, columns))
    pieced = pieced.weighed_by(weights)
    wanted = columns_for(model, pieced.names) if columns is None else list(columns)
    return pieced if wanted is None else pieced.only(wanted)


@contextmanager
def _kept(
    checkpoint: Any,
    rows: Rows,
    settings: Settings,
    places: Sequence[int],
    seed: int,
    asked_for: Mapping[str, Any],
) -> Iterator[Checkpoint | None]:
    """Open the folder that keeps finished work, if the user names one."""
    if checkpoint is None:
        yield None
        return
    if rows.table.storage.no_resume:
        msg = f"checkpoint= does not work with {rows.table.storage.no_resume}"
        raise BadSettingError(msg)
    from rhale.engines.checkpoint.folder import Checkpoint  # a tenth of the time of all imports

    said = {**vars(settings), **asked_for, "features": places, "seed": seed}
    said["bins"] = plain_bins(settings.bins)
    said |= {"batch": rows.batch_rows, "rhale": own_version(), "numpy": np.__version__}
    with Checkpoint.open(checkpoint, identify(rows.table, said)) as memory:
        yield memory


def plain_bins(bins: Any) -> Any:
    """Bins of other explanations by their numbers, whenever they were made; others as they are."""
    if isinstance(bins, Mapping):
        return {feature: plain_bins(asked) for feature, asked in bins.items()}
    if not isinstance(bins, Explanation):
        return bins
    numbers = {name: held for name, held in store.pack(bins).items() if name != "provenance"}
    return f"bins of {digest_of(json.dumps(numbers, sort_keys=True).encode())}"


def _first_pass(
    rows: Rows, settings: Settings, columns: list[int], categorical: Any, seed: int
) -> tuple[Survey, Reader]:
    """Look at all rows once, and number the names of columns of names."""
    table = rows.table
    said = read_categorical(categorical, table.names)
    check_columns(table, columns, said)
    unordered = [c for c in columns if has_no_order(table, c, said.get(c))]
    asked = set(columns)
    beside = [c for c in range(len(table.names)) if c not in asked] if unordered else []
    look = SurveyTask(
        columns=columns,
        names=table.names,
        sizes=(SURVEY_ROWS, PROBE_ROWS[1]),
        seed=seed,
        beside=beside,
        counted=[c for c in columns if said.get(c)],
        is_pieced=not table.storage.is_memory,
    )
    first = rows.fold(survey_on_device(look, table), FIRST_LOOK)
    require_two_rows(first.n_rows)
    table = table.settle(first.facts)
    wants = settings.wants_numbers, settings.levels_of
    reader = Reader(table, first, columns, beside, said, *wants)
    table = table.labelled(reader.labels())
    probe = first.probe.first(int(np.clip(first.n_rows // 20, *PROBE_ROWS)))
    first = replace(first, probe=replace(probe, chunk=table.settle_chunk(probe.chunk)))
    return first, replace(reader, table=table, survey=first)


def _drawn(table: Opened, n_rows: int | None, seed: int) -> tuple[Opened, int | None]:
    """Draw rows if the user wants fewer; and say how many there are, as far as that is known."""
    if n_rows is None:
        return table, table.n_rows
    require_count("n_rows", n_rows)
    if n_rows < 2:
        msg = f"n_rows={n_rows} leaves one row; an effect needs at least two"
        raise BadSettingError(msg)
    pieced = None if table.storage.is_memory else cast(PiecedTable, table)
    part_rows = rows_of_parts(pieced) if pieced else (cast(int, table.n_rows),)
    n_all = sum(part_rows)
    if n_rows >= n_all:
        return table, n_all
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(n_all, n_rows, replace=False))
    if pieced:
        return pieced.take(places, part_rows), n_all
    return cast(TableInMemory, table).take(places), n_all


def _batch_rows(batch_size: int | None, table: Table, adapter: Adapter) -> int:
    """Rows in one call of the model: tens of thousands, fewer for very wide tables."""
    if batch_size is not None:
        require_count("batch_size", batch_size)
        return batch_size
    most = 2**16 if cuda_of(adapter) is None else 2**19  # a GPU has room for more
    return table.storage.usual_rows or int(np.clip(2**23 // len(table.names), 2**10, most))


def _rows_to_walk(rows: Rows, n_features: int, predictor: Predictor, jobs: int | None) -> Rows:
    """Chunks whose features are all answered by one walk, a few for every core."""
    fit = WALKED_NUMBERS // (4 * n_features * predictor.n_all)
    n_threads = predictor.n_threads if jobs is None else jobs
    shared = -(-(rows.n_rows or 0) // (3 * n_threads)) if n_threads > 1 else rows.batch_rows
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
