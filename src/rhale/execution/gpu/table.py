"""Torch tensors on an accelerator as tables: what is learned of them is learned there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
import numpy.typing as npt
import torch

from rhale.data.columns import Labels
from rhale.data.open import require_two_dimensions
from rhale.data.table import (
    NO_FACTS,
    Change,
    ColumnFacts,
    NumbersAlone,
    Storage,
    numbers_at,
    numbers_between,
)
from rhale.errors import BadTableError
from rhale.execution.gpu.moments import (
    as_keys,
    as_ordered,
    copy_to_device,
    on_host,
    row_facts,
    up_to,
)
from rhale.features.survey import (
    FIRST_VALUES,
    MAX_COUNTED_VALUES,
    MAX_FEATURE_VALUE,
    Census,
    Survey,
    SurveyTask,
    check_column,
    count_values,
    smallest,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import Sample

# In a chunk.
MAX_TENSOR_CHUNK_NUMBERS, MIN_TENSOR_CHUNK_ROWS, MAX_TENSOR_CHUNK_ROWS = 2**27, 2**10, 2**26
TENSOR_NO_RESUME = "rows on a device; pass them from the host's memory"
TENSOR_SAMPLE_FACTOR = 1.25  # times the wanted rows are looked at: keys are like random numbers


@dataclass(frozen=True, eq=False)
class TensorChunk:
    """Some rows of a tensor, on the device where the model computes."""

    tensor: torch.Tensor  # (n_rows, n_columns): the rows, of the user's type
    first: int = 0  # number of the first row
    # Numbers of all rows, where they are not `first`, `first` + 1, ...
    numbers: IntArray | None = None
    weights: FloatArray | None = None  # (n_rows,): how much each row matters; in the host's memory

    where = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.tensor)

    @property
    def row_numbers(self) -> IntArray:
        """Places of the rows in the user's table, for messages."""
        numbers = self.numbers
        return np.arange(self.first, self.first + self.n_rows) if numbers is None else numbers

    @property
    def rows(self) -> torch.Tensor:
        """A fresh copy: some models write into their input."""
        return self.tensor.clone()

    def column(self, index: int) -> FloatArray:
        """One column as floats, in the host's memory."""
        found: FloatArray = on_host(self.tensor[:, index])[0]
        return found

    def distinct(self, index: int) -> None:
        """Tensors hold no names."""

    def key(self, index: int) -> FloatArray:
        """Numbers that tell the values of one column apart: the values."""
        return self.column(index)

    def keys(self) -> FloatArray:
        """Numbers that tell rows apart: all columns as floats."""
        found: FloatArray = on_host(self.tensor)[0]
        return found.T

    def facts(self) -> ColumnFacts:
        """Tensors hide nothing."""
        return NO_FACTS

    def write_value(self, index: int, value: float) -> str:  # noqa: ARG002
        """A value as people write it."""
        return f"{value:g}"

    def representable(self, index: int, values: FloatArray) -> FloatArray:  # noqa: ARG002
        """The values after a round trip through the tensor's own type."""
        found: FloatArray = on_host(self._send(values))[0]
        return found

    def vary(self, changes: Sequence[Change]) -> torch.Tensor:
        """Stack one copy of the rows per change, each with one column replaced."""
        stacked = self.tensor.repeat(len(changes), 1)
        for i, (index, values) in enumerate(changes):
            stacked[i * self.n_rows : (i + 1) * self.n_rows, index] = self._send(values)
        return stacked

    def substitute(self, changes: Sequence[Change]) -> torch.Tensor:
        """One copy of the rows with all these columns replaced."""
        rows = self.rows
        for index, values in changes:
            rows[:, index] = self._send(values)
        return rows

    def take(self, rows: IntArray) -> TensorChunk:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        numbers = self.first + rows if self.numbers is None else self.numbers[rows]
        return TensorChunk(self.tensor[torch.from_numpy(rows)], 0, numbers, weights)

    def join(self, other: TensorChunk) -> TensorChunk:
        """These rows followed by the others."""
        numbers = np.concatenate([self.row_numbers, other.row_numbers])
        return TensorChunk(torch.cat([self.tensor, other.tensor]), 0, numbers)

    def label(self, labels: Mapping[int, Labels]) -> TensorChunk:  # noqa: ARG002
        """The same rows: there are no names."""
        return self

    def _send(self, values: FloatArray) -> torch.Tensor:
        """Values on the device, in the tensor's own type."""
        if self.tensor.dtype == torch.bool:
            values = values > 0.5  # type: ignore[assignment]
        elif not self.tensor.is_floating_point():
            values = np.rint(values)
        return torch.tensor(values, dtype=self.tensor.dtype, device=self.tensor.device)

    def survey(self, task: SurveyTask) -> Survey:
        """Survey the rows where they are; the same as `SurveyTask`."""
        sizes, chosen, weight = (
            task.sizes,
            list(task.columns),
            None if self.weights is None else self._weight(),
        )
        key, found = row_facts(self.tensor, task.seed)
        facts = on_host(found)[0][:, chosen]
        low, high, missing, whole = facts
        for place in np.flatnonzero(
            (low < -MAX_FEATURE_VALUE) | (high > MAX_FEATURE_VALUE)
        ).tolist():
            index = chosen[place]
            if index in task.unchecked:
                continue
            check_column(self.column(index), task.names[index], self.row_numbers)
        rows, sample = self._sample(key, (*chosen, *task.auxiliary_columns), sizes[0], weight)
        near = rows[as_ordered(key[rows]).topk(min(sizes[1], len(rows)), largest=False).indices]
        near = near.sort().values
        held = squares = n_known = (self.n_rows - missing).astype(np.intp)
        total = total_squares = float(self.n_rows)
        if weight is not None:
            total, total_squares = float(weight.sum()), float((weight**2).sum())
            known = (~self.tensor[:, chosen].isnan()).double()
            held, squares = on_host(weight @ known, weight**2 @ known)
        return Survey(
            n_rows=self.n_rows,
            weight=total,
            weight_squares=total_squares,
            n_known=n_known,
            known_weight=held.astype(np.float64),
            known_squares=squares.astype(np.float64),
            low=low,
            high=high,
            whole=whole.astype(np.bool_),
            census=self._census(chosen, task.counted, weight),
            sample=sample,
            probe=smallest(sizes[1], as_keys(key[near]), self.take(near.cpu().numpy())),
        )

    def _weight(self) -> torch.Tensor:
        return torch.as_tensor(self.weights, device=self.tensor.device)

    def _census(
        self, columns: Sequence[int], counted: Collection[int], weight: torch.Tensor | None
    ) -> tuple[Census, ...]:
        """Count distinct values; a column comes to the host only as what it holds, and how often."""
        first, found = on_host(self.tensor[:FIRST_VALUES])[0], []
        for index in columns:
            most = None if index in counted else MAX_COUNTED_VALUES
            start = count_values(first[:, index], np.ones(len(first)), most)
            found.append(
                start
                if start.is_many
                else _count_tensor_values(self.tensor[:, index], weight, most)
            )
        return tuple(found)

    def _sample(
        self, key: torch.Tensor, columns: Sequence[int], size: int, weight: torch.Tensor | None
    ) -> tuple[torch.Tensor, Sample]:
        """Rows that surely include those with the smallest keys, and the distinct ones kept."""
        share = min(1.0, TENSOR_SAMPLE_FACTOR * size / self.n_rows)
        rows = up_to(key, np.uint64(min(int(share * 2.0**64), 2**64 - 1)))
        kept, place = torch.unique(as_ordered(key[rows]), return_inverse=True)
        if kept.numel() < size and rows.numel() < self.n_rows:  # many rows are equal
            rows = torch.arange(self.n_rows, device=key.device)
            kept, place = torch.unique(as_ordered(key), return_inverse=True)
        n_kept = kept.numel()
        held = torch.bincount(place, None if weight is None else weight[rows], n_kept)
        first = torch.full((n_kept,), self.n_rows, device=key.device)
        first = first.scatter_reduce_(0, place, rows, "amin")[:size]
        values = self.tensor[first][:, list(columns)]
        complete = rows.numel() == self.n_rows and n_kept <= size
        small, own, of_rows = as_keys(as_ordered(kept[:size])), *on_host(held[:size], values)
        return rows, Sample(size, small, own, of_rows, self.n_rows, complete)


@dataclass(frozen=True, eq=False)
class TensorSurveyTask:
    """Survey chunks on a device, one after the other."""

    task: SurveyTask

    def __call__(self, chunk: Any) -> Survey:
        """Survey a chunk of a table on a device."""
        found: Survey = chunk.survey(self.task)
        return found


@dataclass(frozen=True, eq=False)
class TensorTable(NumbersAlone):
    """A two-dimensional tensor of numbers; columns are called x0, x1, ..."""

    # (n_rows, n_columns): the rows; on the device, or in the host's memory if they do not fit
    # there
    tensor: torch.Tensor
    device: torch.device  # where chunks are
    weights: FloatArray | None = None  # (n_rows,): how much each row matters; in the host's memory
    row_numbers: IntArray | None = None  # numbers of the rows, where they are not 0, 1, 2,
    column_names: tuple[str, ...] = ()  # names, where they are not x0, x1, ...
    kind: str = "torch"  # the library the table comes from

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return self.column_names or tuple(f"x{i}" for i in range(self.tensor.shape[1]))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.tensor)

    @property
    def storage(self) -> Storage:
        """On the device, in large chunks, since each chunk makes the device wait for the host.

        Rows that are there already are not copied; those that are not must fit beside the model.
        """
        size = MAX_TENSOR_CHUNK_ROWS
        if self.tensor.device != self.device:
            size = max(
                MIN_TENSOR_CHUNK_ROWS,
                min(MAX_TENSOR_CHUNK_NUMBERS // len(self.names), MAX_TENSOR_CHUNK_ROWS),
            )
        return Storage(device=self.device, usual_rows=size, no_resume=TENSOR_NO_RESUME)

    def is_truth(self, index: int) -> bool:  # noqa: ARG002
        """Whether the tensor holds truth values."""
        return self.tensor.dtype == torch.bool

    def chunk(self, start: int, stop: int) -> TensorChunk:
        """Rows start to stop."""
        weights = None if self.weights is None else self.weights[start:stop]
        numbers = self.row_numbers
        own = None if numbers is None else numbers_between(numbers, start, stop)
        return TensorChunk(
            copy_to_device(self.tensor[start:stop], self.device), start, own, weights
        )

    def take(self, rows: IntArray) -> TensorTable:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        tensor = self.tensor[torch.from_numpy(rows).to(self.tensor.device)]
        numbers = numbers_at(self.row_numbers, rows)
        return replace(self, tensor=tensor, weights=weights, row_numbers=numbers)

    def select(self, columns: Sequence[int]) -> TensorTable:
        """The same table with these columns only; they keep their names."""
        names = tuple(self.names[column] for column in columns)
        return replace(self, tensor=self.tensor[:, list(columns)], column_names=names)

    def weigh(self, weights: FloatArray) -> TensorTable:
        """The same rows, with their weights."""
        return replace(self, weights=weights)


def open_tensor(data: torch.Tensor) -> TensorTable:
    """Open a tensor on a CUDA device, or say what is wrong with it."""
    require_two_dimensions("tensor", data.shape)
    if data.is_complex() or data.layout != torch.strided:
        what = data.dtype if data.is_complex() else data.layout
        msg = f"the tensor is {what}; rhale needs real numbers in rows and columns"
        raise BadTableError(msg)
    return TensorTable(data.detach(), data.device)


def send_to(
    array: npt.NDArray[Any],
    device: torch.device,
    weights: FloatArray | None = None,
    row_numbers: IntArray | None = None,
    column_names: tuple[str, ...] = (),
) -> TensorTable | None:
    """An array as a table on a device, whole if it fits; None if torch lacks its type."""
    plain = array if all(step > 0 for step in array.strides) else array.copy()
    try:
        with catch_warnings():
            filterwarnings("ignore", "The given NumPy array is not writable")  # nobody writes
            tensor = torch.from_numpy(plain)
    except TypeError:
        return None
    fits = device.type != "cuda" or array.nbytes < torch.cuda.mem_get_info(device)[0] // 2
    tensor = copy_to_device(tensor, device) if fits else tensor
    return TensorTable(tensor, device, weights, row_numbers, column_names, "numpy")


def _count_tensor_values(
    column: torch.Tensor, weight: torch.Tensor | None, most: int | None
) -> Census:
    """Count the distinct values of a column."""
    values = column.double()
    known = ~values.isnan()
    distinct, place, count = torch.unique(values[known], return_inverse=True, return_counts=True)
    if most is not None and distinct.numel() > most:
        return Census({}, most, is_many=True)
    held = count.double()
    if weight is not None:
        held = torch.bincount(place, weight[known], distinct.numel())
    numbers = (v.tolist() for v in on_host(distinct, held))
    pairs = zip(*numbers, count.tolist(), strict=True)
    return Census({value: (n, w) for value, w, n in pairs}, most)
