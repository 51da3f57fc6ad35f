"""The second pass where a torch module computes: slopes stay there, moments come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from rhale.data import Chunk, Table, as_matrix
from rhale.data.array import ArrayTable
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import check_magnitude
from rhale.effects.local.binned import BinnedEffects
from rhale.effects.local.measure import (
    Constant,
    MeasuredChunk,
    MeasureSums,
    MeasureTask,
    stack_sample_columns,
)
from rhale.errors import BadSettingError
from rhale.features.survey import Survey, SurveyTask, sample_chunk_rows
from rhale.models import Adapter, Predictor
from rhale.models.questions import wrap_model_errors
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import KeyArray

SLAB_NUMBERS = 2**25  # slopes that are measured at a time
HOST_ROWS = 2**18  # rows that come to the host at a time


def move_to_device(adapter: Adapter, table: Any, device: Any = None) -> tuple[Adapter, Any]:
    """Bring a model and a table to one device."""
    if device is not None:
        adapter = adapter.move_to(device)
    here = table.storage.device
    if here is not None and not adapter.is_placed:
        adapter = adapter.move_to(here)
    home = cuda_of(adapter)
    if here is not None and home is None:
        found = adapter.device
        on = "" if found is None else f" on {found}"
        way = ", or device=" if found is not None and device is None else ""
        msg = (
            f"the table is a tensor on {here}, and this {adapter.kind}{on} does not compute there; "
            f"pass data.cpu(){way}{repr(str(here)) if way else ''}"
        )
        raise BadSettingError(msg)
    if here is not None and here != home:
        if device is None:
            msg = f"the table is on {here} and the module on {home}; move one, or pass device="
            raise BadSettingError(msg)
        return adapter, replace(table, device=home)
    if home is not None and isinstance(table, ArrayTable):
        from rhale.execution.gpu.table import send_to

        names = table.column_names
        sent = send_to(table.array, home, table.weights, table.row_numbers, names)
        return adapter, table if sent is None else sent
    return adapter, table


def cuda_of(adapter: Adapter) -> Any:
    """The CUDA device on which a torch module computes; None for any other model or place."""
    is_there = adapter.gives_tensors and adapter.device.type == "cuda"
    return adapter.device if is_there else None


def on_device(task: MeasureTask) -> MeasureTask | DeviceTask:
    """The same task on the model's device, where slopes of a torch module are all it needs.

    Secants, steps between levels and removed values are measured on the host: they ask the model
    about changed rows, and the model answers on its device all the same.
    """
    is_there = cuda_of(task.predictor.adapter) is not None
    there, still = DeviceTask(task), [m for m in task.measures if isinstance(m, Constant)]
    only_slopes = bool(there.slopes) and len(there.slopes) + len(still) == len(task.measures)
    return there if only_slopes and is_there else task


def survey_on_device(task: SurveyTask, table: Table) -> Callable[[Chunk], Survey]:
    """The same first look where the rows are: only what was learned comes to the host."""
    if table.storage.device is None:
        return task
    from rhale.execution.gpu.table import TensorSurveyTask

    return TensorSurveyTask(task)


def most_rows(table: Table, task: object) -> int | None:
    """Rows of a table on a device that a task takes at a time if it works on the host, else None."""
    is_there = table.storage.device is not None
    return HOST_ROWS if is_there and not isinstance(task, DeviceTask) else None


class UnusableError(Exception):
    """What a device gave is not what it should be: the host looks at it, row by row."""


@dataclass(frozen=True, eq=False)
class DeviceTask:
    """Measure the slopes of some features in a chunk, where the module computes them."""

    # What to measure; it measures chunks where something is wrong, and says what
    task: MeasureTask

    @property
    def predictor(self) -> Predictor:
        """The model."""
        return self.task.predictor

    @property
    def slopes(self) -> list[BinnedEffects]:
        """Its measures, less those of constant features."""
        return [
            m for m in self.task.measures if isinstance(m, BinnedEffects) and m.needs == "slopes"
        ]

    @property
    def columns(self) -> list[int]:
        """The explained columns."""
        return [m.feature.column for m in self.slopes]

    @property
    def grids(self) -> list[Grid]:
        """Cells of each."""
        return [m.cells.grid for m in self.slopes]

    def __call__(self, chunk: Chunk) -> MeasureSums:
        """Differentiate once, and bring moments and the sampled rows back."""
        try:
            return reduce(add, self.measure(chunk))
        except UnusableError:
            # the host says where slopes are no numbers; those along missing values do not count
            starts = range(0, chunk.n_rows, HOST_ROWS)
            rows = (np.arange(s, min(s + HOST_ROWS, chunk.n_rows)) for s in starts)
            return reduce(add, (self.task(chunk.take(some)) for some in rows))

    def measure(self, chunk: Chunk) -> Iterator[MeasureSums]:
        """Measure one slab of a chunk after the other."""
        from rhale.execution.gpu import moments as ops

        predictor, device = self.predictor, self.predictor.adapter.device
        rows = ops.to_device_tensor(self.rows_of(chunk), device)
        sampled, places, key = ops.find_up_to(rows, self.task.seed, self.task.kept_key)
        weights = None if chunk.weights is None else ops.to_device_tensor(chunk.weights, device)
        cells = ops.send_grids_to_device(self.grids, self.columns, device)
        size = max(1, SLAB_NUMBERS // (len(predictor.chosen) * rows.shape[1]))
        for start in range(0, chunk.n_rows, size):
            part = rows[start : start + size]
            with wrap_model_errors(len(part), "when computing its gradient"):
                answer, slopes = predictor.adapter.differentiate(part, predictor.chosen)
            answer = answer.reshape(len(part), -1)
            if answer.shape[1] != predictor.n_all:
                raise UnusableError
            own = None if weights is None else weights[start : start + size]
            mine = slice(*np.searchsorted(places, [start, start + len(part)]))
            found = ops.on_host(
                ops.measure_all(cells, part, slopes, own),
                ops.largest(answer, slopes),
                ops.gather_device_sample(sampled[mine] - start, part, answer, slopes),
            )
            yield self.read(chunk, len(part), places[mine], key[mine], found)

    def read(
        self,
        chunk: Chunk,
        n_rows: int,
        sampled: IntArray,
        key: KeyArray,
        found: list[FloatArray],
    ) -> MeasureSums:
        """Read what was found in a slab."""
        from rhale.execution.gpu.moments import unpack_device_moments

        packed, most, kept = found
        if not np.all(np.isfinite(most)):
            raise UnusableError
        for column in self.columns:
            check_magnitude(most[column : column + 1])
        moments = iter(unpack_device_moments(self.grids, packed))
        near, n_asked = self.move_rows(chunk, sampled, key)
        sample = sample_chunk_rows(chunk, sampled, key, self.select(kept, most.size - 1, near))
        totals = tuple(0 if isinstance(m, Constant) else next(moments) for m in self.task.measures)
        return MeasureSums(totals, sample, n_rows + n_asked)

    def move_rows(
        self, chunk: Chunk, sampled: IntArray, key: KeyArray
    ) -> tuple[Iterator[FloatArray], int]:
        """Increments of the sampled rows between places near, by feature; how many rows were asked."""
        rows = MeasuredChunk(chunk.take(sampled), key, np.arange(sampled.size), self.task.last_key)
        asked = [measure.nearby.ask(rows, may_fail=True) for measure in self.slopes]
        answers = self.task.ask_subsets(rows.chunk, asked)
        pairs = zip(self.slopes, answers, strict=True)
        increments = (measure.nearby.keep(rows, own) for measure, own in pairs)
        return increments, sum(len(one.changes) * one.rows.size for one in asked)

    def select(
        self, kept: FloatArray, n_columns: int, increments: Iterator[FloatArray]
    ) -> FloatArray:
        """Of sampled rows: chosen answers; by feature where they stand, slopes and increments."""
        predictor = self.task.predictor
        x, answers, slopes = np.split(kept, [n_columns, n_columns + predictor.n_all], axis=1)
        by_column = slopes.reshape(len(kept), n_columns, len(predictor.chosen))
        parts = []
        for measure in self.task.measures:
            column = measure.feature.column
            if isinstance(measure, Constant):
                parts.append(np.full((len(kept), 1), measure.feature.axis.low))
            else:
                parts.append(
                    np.column_stack([x[:, column], by_column[:, column], next(increments)])
                )
        return stack_sample_columns(answers[:, list(predictor.chosen)], parts)

    def rows_of(self, chunk: Chunk) -> Any:
        """The rows as one tensor or matrix; nobody writes into it."""
        own = getattr(chunk, "tensor", None)
        return as_matrix(chunk.rows) if own is None else own
