"""The method on torch tensors, where they are: keys of rows, cells, joint moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import torch

from rhale.effects.binning.cells import Grid, as_axis_cells
from rhale.effects.binning.moments import Moments
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.sampling import KeyArray

LOWEST = -(2**63)
NAN_BITS = 0x7FF8000000000000
FIRST_FACTOR, SECOND_FACTOR = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
N_OWN = 7  # sums of a cell before those of its series
STAGED_BYTES, N_STAGED = 2**24, 4  # buffers on the way to a device: one is filled, others are sent


# --- keys --------------------------------------------------------------------------------------


def device_row_keys(rows: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Keys of rows: the bits of `rhale.stats.sampling.hash_rows`.

    Shapes: rows (n_rows, n_columns), result (n_rows,).
    """
    start = int(np.random.default_rng(seed).integers(2**63))
    key = torch.full((len(rows),), start, dtype=torch.int64, device=rows.device)
    for column in rows.unbind(dim=1):
        known = column.double() + 0.0  # -0.0 is 0.0
        key ^= known.view(torch.int64).masked_fill_(known.isnan(), NAN_BITS)
        key ^= _shift(key, 30)
        key *= FIRST_FACTOR
        key ^= _shift(key, 27)
        key *= SECOND_FACTOR
        key ^= _shift(key, 31)
    return key


def row_facts(rows: torch.Tensor, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys of rows, and facts about all columns.

    Shapes: key (n_rows,), facts (4, n_columns).
    """
    numbers = rows.double()
    missing = numbers.isnan()
    facts = (
        numbers.masked_fill(missing, torch.inf).amin(dim=0),
        numbers.masked_fill(missing, -torch.inf).amax(dim=0),
        missing.sum(dim=0),
        (missing | (numbers == numbers.round())).all(dim=0),
    )
    return device_row_keys(rows, seed), torch.stack([fact.double() for fact in facts])


def _shift(key: torch.Tensor, n_bits: int) -> torch.Tensor:
    """Shift right, zeros moving in; torch moves the sign in."""
    shifted: torch.Tensor = (key >> n_bits) & (2 ** (64 - n_bits) - 1)
    return shifted


def as_ordered(key: torch.Tensor) -> torch.Tensor:
    """Numbers in the order that the keys have as unsigned ones."""
    flipped: torch.Tensor = key ^ LOWEST
    return flipped


def up_to(key: torch.Tensor, last: np.uint64) -> torch.Tensor:
    """Rows with keys up to this one, increasing."""
    found: torch.Tensor = torch.nonzero(as_ordered(key) <= int(last) + LOWEST)[:, 0]
    return found


def find_up_to(
    rows: torch.Tensor, seed: int, last: np.uint64
) -> tuple[torch.Tensor, IntArray, KeyArray]:
    """Rows with keys up to this one: where they are, on the device and on the host, and their keys."""
    key = device_row_keys(rows, seed)
    found = up_to(key, last)
    return found, found.cpu().numpy(), as_keys(key[found])


def as_keys(key: torch.Tensor) -> KeyArray:
    """Keys as the host knows them."""
    bits: KeyArray = key.cpu().numpy().view(np.uint64)
    return bits


# --- moments -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DeviceCells:
    """Cells of several columns, ready on a device."""

    grids: tuple[Grid, ...]  # cells of each explained column
    columns: tuple[int, ...]  # the explained columns
    edges: torch.Tensor  # (n_features, n_most + 1): limits of all cells, filled up with inf

    @property
    def n_most(self) -> int:
        """Largest number of cells of a column."""
        return self.edges.shape[1] - 1


def send_grids_to_device(
    grids: Sequence[Grid], columns: Sequence[int], device: torch.device
) -> DeviceCells:
    """Send cells to a device."""
    edges = np.full((len(grids), 1 + max(grid.n_cells for grid in grids)), np.inf)
    for place, grid in enumerate(grids):
        edges[place, : grid.edges.size] = grid.edges
    return DeviceCells(tuple(grids), tuple(columns), torch.from_numpy(edges).to(device))


def measure_all(
    cells: DeviceCells,
    rows: torch.Tensor,
    slopes: torch.Tensor,
    weights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Measure the joint moments of several columns and of their slopes in every cell.

    Shapes: rows (n_rows, n_columns), slopes (n_rows, n_outputs, n_columns), weights (n_rows,),
    result (n_features, 7 + 3 n_outputs, n_most): count, weight, squared weights, mean of x, Sxx,
    smallest and largest x, then mean, Sxd and Sdd of each output.
    """
    # O(n_rows n_features n_outputs). As in `rhale.effects.binning.moments.measure_moments`, values
    # are taken from one value of their cell first, and from its mean then: nothing is lost to
    # cancellation, and equal values deviate by exactly nothing. On a GPU the order of the
    # additions changes from run to run, and with it the last digits.
    shape = len(cells.grids), N_OWN + 3 * slopes.shape[1], cells.n_most
    packed = torch.zeros(shape, dtype=torch.float64, device=rows.device)
    packed[:, 5], packed[:, 6] = torch.inf, -torch.inf  # cells that some columns do not have
    for place, (grid, column) in enumerate(zip(cells.grids, cells.columns, strict=True)):
        found = _measure_device_column(
            grid, cells.edges[place], rows[:, column], slopes[:, :, column], weights
        )
        packed[place, :, : grid.n_cells] = found
    return packed


def _measure_device_column(
    grid: Grid,
    edges: torch.Tensor,
    x: torch.Tensor,
    slopes: torch.Tensor,
    weights: torch.Tensor | None,
) -> torch.Tensor:
    """Measure one column; rows outside go to one more cell, which is dropped at the end."""
    x = x.double().contiguous()
    inner = edges[1 : grid.n_cells].contiguous()
    outside = ~((x >= edges[0]) & (x <= edges[grid.n_cells]))
    cell = torch.bucketize(x, inner, right=grid.closed == "left")
    cell = cell.masked_fill_(outside, grid.n_cells)
    n_all = grid.n_cells + 1
    count = torch.bincount(cell, minlength=n_all).double()
    weight, squares = count, count
    if weights is not None:
        weight = torch.bincount(cell, weights, n_all)
        squares = torch.bincount(cell, weights**2, n_all)

    def total(values: torch.Tensor) -> torch.Tensor:
        return torch.bincount(cell, values if weights is None else values * weights, n_all)

    def deviations(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        one = values.new_zeros(n_all)
        one[cell] = values  # whichever comes last
        values = values - one[cell]
        shift = torch.where(weight > 0, total(values) / weight, 0.0)
        return one + shift, values - shift[cell]

    def end(way: str, start: float) -> torch.Tensor:
        return x.new_full((n_all,), start).scatter_reduce_(0, cell, x, way)

    mean_x, dx = deviations(x)
    found = [count, weight, squares, mean_x, total(dx * dx)]
    found += [end("amin", torch.inf), end("amax", -torch.inf)]
    for series in slopes.unbind(dim=1):
        mean, dd = deviations(series.double())
        found += [mean, total(dx * dd), total(dd * dd)]
    return torch.stack(found)[:, :-1]


def unpack_device_moments(grids: Sequence[Grid], packed: FloatArray) -> tuple[Moments, ...]:
    """Moments of all columns, from what `measure_all` found."""
    made = []
    for grid, found in zip(grids, packed, strict=True):
        own = found[:, : grid.n_cells]
        count, weight, squares, mean_x, sxx, low, high = own[:N_OWN]
        mean, sxd, sdd = (np.ascontiguousarray(own[N_OWN + i :: 3]) for i in range(3))
        made.append(
            Moments(
                cells=as_axis_cells(grid),
                count=count.astype(np.intp),
                weight=weight,
                weight_squares=squares,
                mean_x=mean_x,
                sxx=sxx,
                low=low,
                high=high,
                mean=mean,
                sxd=sxd,
                sdd=sdd,
            )
        )
    return tuple(made)


# --- to and fro --------------------------------------------------------------------------------


def on_host(*tensors: torch.Tensor) -> list[FloatArray]:
    """Copies of several tensors in the host's memory, as arrays of floats."""
    return [tensor.double().cpu().numpy() for tensor in tensors]


def to_device_tensor(rows: Any, device: torch.device) -> torch.Tensor:
    """Rows or weights on a device: a tensor as it is, an array in single or double precision."""
    if isinstance(rows, torch.Tensor):
        return rows.to(device)
    kind = torch.float32 if rows.dtype == np.float32 else torch.float64
    return copy_to_device(torch.tensor(rows, dtype=kind), device)


def copy_to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A tensor on a device: as it is if it is there, else a copy in the same layout."""
    # A device reads pinned memory several times faster than any other, and while it does the
    # processor's threads fill the next buffer: a copy takes as long as the slower of both.
    if tensor.device.type != "cpu" or device.type != "cuda" or tensor.nbytes <= STAGED_BYTES:
        return tensor.to(device)
    is_plain = tensor.is_contiguous()
    if not is_plain and tensor.T.is_contiguous():
        return copy_to_device(tensor.T, device).T
    sent = torch.empty(tensor.shape, dtype=tensor.dtype, device=device)
    own, there = (t.view(-1) if is_plain else t for t in (tensor, sent))
    size = max(1, STAGED_BYTES * len(own) // tensor.nbytes)
    with torch.cuda.device(device):
        stages = [_Stage(own, size) for _ in range(N_STAGED)]
        for stage, start in zip(cycle(stages), range(0, len(own), size), strict=False):
            stage.pass_on(own[start : start + size], there[start : start + size])
    return sent


class _Stage:
    """A buffer of pinned memory that numbers pass through."""

    def __init__(self, like: torch.Tensor, size: int) -> None:
        self.buffer = like.new_empty((size, *like.shape[1:]), pin_memory=True)
        self.is_free = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def pass_on(self, part: torch.Tensor, there: torch.Tensor) -> None:
        """Copy a part as soon as the one before it is sent, and send it."""
        self.is_free.synchronize()
        staged = self.buffer[: len(part)].copy_(part)
        there.copy_(staged, non_blocking=True)
        self.is_free.record()


def largest(answers: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    """Largest absolute slope of each column, then of the answers; nan if one is nan."""
    of_slopes = torch.linalg.vector_norm(slopes, torch.inf, dim=(0, 1)).double()
    of_answers = torch.linalg.vector_norm(answers, torch.inf).double()
    return torch.cat([of_slopes, of_answers[None]])


def gather_device_sample(
    places: torch.Tensor, rows: torch.Tensor, answers: torch.Tensor, slopes: torch.Tensor
) -> torch.Tensor:
    """What the sample may keep of some rows: values, answers, slopes of each column and output."""
    own = slopes[places].transpose(1, 2).flatten(1)
    return torch.cat([part.double() for part in (rows[places], answers[places], own)], dim=1)
