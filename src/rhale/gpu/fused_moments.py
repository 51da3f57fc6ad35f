"""Triton kernels for rows on a CUDA device: each goes over the rows once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rhale.gpu.device_moments import DeviceCells

TILE, N_WARPS = 128, 4
MOST_COPIES = 128  # of the sums: programs that add to the same one wait for each other
MOST_NUMBERS = 2**24  # in all copies together
KEY_TILE = 1024
FIRST_ROWS = 2**16  # give most cells the value that the others are taken from


def fused_keys(rows: torch.Tensor, start: int) -> torch.Tensor:
    """Keys of rows, from the key that all of them start with."""
    return _look(rows, start, n_facts=0)[0]


def fused_facts(rows: torch.Tensor, start: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys of rows, and of each column: lowest, highest, rows without a value, whether whole."""
    key, (low, high, missing, whole) = _look(rows, start, n_facts=4)
    return key, torch.stack([low.amin(1), high.amax(1), missing.sum(1), whole.amin(1)])


def _look(rows: torch.Tensor, start: int, n_facts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys, and facts about every tile of rows, shape (n_facts, n_columns, n_tiles)."""
    n_rows, n_columns = rows.shape
    n_tiles = triton.cdiv(n_rows, KEY_TILE)
    key = torch.empty(n_rows, dtype=torch.int64, device=rows.device)
    shape = n_facts, n_columns, n_tiles
    facts = torch.empty(shape, dtype=torch.float64, device=rows.device)
    with torch.cuda.device(rows.device):
        _look_at[(n_tiles,)](
            rows, *rows.stride(), key, facts, n_rows, n_columns, start, FACTS=n_facts > 0,
            TILE=KEY_TILE,
        )  # fmt: skip
    return key, facts


@triton.jit(do_not_specialize=["start"])  # type: ignore[untyped-decorator]
def _look_at(  # type: ignore[no-untyped-def]  # noqa: ANN202
    rows, row_step, column_step, key, facts, n_rows, n_columns, start,  # noqa: ANN001
    FACTS: tl.constexpr, TILE: tl.constexpr,  # noqa: N803
):  # fmt: skip
    tile, n_tiles = tl.program_id(0), tl.num_programs(0)
    row = tile.to(tl.int64) * TILE + tl.arange(0, TILE)
    there = row < n_rows
    mixed = tl.full([TILE], 0, tl.uint64) + start.to(tl.uint64)
    for column in range(n_columns):
        value = tl.load(rows + row * row_step + column * column_step, mask=there, other=0)
        value = value.to(tl.float64)
        lacking = value != value  # noqa: PLR0124 - nan
        bits = tl.where(value == 0, 0.0, value).to(tl.uint64, bitcast=True)
        mixed ^= tl.where(lacking, 0x7FF8000000000000, bits)
        mixed ^= mixed >> 30
        mixed *= 0xBF58476D1CE4E5B9
        mixed ^= mixed >> 27
        mixed *= 0x94D049BB133111EB
        mixed ^= mixed >> 31
        if FACTS:
            known = there & (lacking == 0)
            broken = known & (value != tl.floor(value))
            to, step = facts + column * n_tiles + tile, n_columns * n_tiles
            tl.store(to, tl.min(tl.where(known, value, float("inf"))))
            tl.store(to + step, tl.max(tl.where(known, value, float("-inf"))))
            tl.store(to + 2 * step, tl.sum((there & lacking).to(tl.int32)).to(tl.float64))
            tl.store(to + 3 * step, 1.0 - tl.max(broken.to(tl.int32)).to(tl.float64))
    tl.store(key + row, mixed.to(tl.int64, bitcast=True), mask=there)


def fused_moments(
    cells: DeviceCells, rows: torch.Tensor, slopes: torch.Tensor, weights: torch.Tensor | None
) -> torch.Tensor:
    """Joint moments of several columns; see `rhale.gpu.device_moments.measure_all`."""
    with torch.cuda.device(rows.device):
        return _Moments(cells, rows, slopes, weights).pack()


class _Moments:
    """The rows, their cells and what the kernels need to know, prepared once."""

    def __init__(
        self,
        cells: DeviceCells,
        rows: torch.Tensor,
        slopes: torch.Tensor,
        weights: torch.Tensor | None,
    ) -> None:
        self.rows, self.slopes, self.weights = rows, slopes, weights
        self.n_rows, self.n_outputs = len(rows), slopes.shape[1]
        self.n_features, self.n_cells = len(cells.grids), cells.n_most
        self.edges, self.about = cells.edges, cells.about
        self.cell = torch.empty(self.n_features, self.n_rows, dtype=torch.int32, device=rows.device)
        # one value of each cell, of x and of every output
        shape = self.n_features, 1 + self.n_outputs, self.n_cells
        self.base = torch.zeros(shape, dtype=torch.float64, device=rows.device)
        # smallest and largest x of each cell
        self.ends = torch.empty(
            self.n_features, 2, self.n_cells, dtype=torch.float64, device=rows.device
        )
        self.ends[:, 0], self.ends[:, 1] = torch.inf, -torch.inf

    def pack(self) -> torch.Tensor:
        """Find the cells, add up deviations from one value, then squares about the mean."""
        first = min(FIRST_ROWS, self.n_rows)
        self._locate(0, first)
        self._locate(first, self.n_rows)
        sums = self._sums(squares=False)
        count = weight = squares = sums[:, 1 + self.n_outputs]
        if self.weights is not None:
            weight, squares = sums[:, -2], sums[:, -1]
        shift = torch.where(weight > 0, 1 / weight, 0.0)[:, None] * sums[:, : 1 + self.n_outputs]
        self.base += shift
        products = self._sums(squares=True)
        series = torch.stack([self.base[:, 1:], products[:, 1::2], products[:, 2::2]], dim=2)
        own = torch.stack([count, weight, squares, self.base[:, 0], products[:, 0]], dim=1)
        return torch.cat([own, self.ends, series.flatten(1, 2)], dim=1)

    def _locate(self, start: int, stop: int) -> None:
        if start == stop:
            return
        n_tiles = triton.cdiv(stop - start, TILE)
        _cells[(n_tiles, self.n_features)](
            self.rows, *self.rows.stride(), self.slopes, *self.slopes.stride(),
            self.edges, self.about, self.cell, self.base, self.ends, start, stop,
            self.n_rows, self.n_cells, self.n_outputs,
            N_STEPS=int(self.n_cells - 1).bit_length(), TILE=TILE, num_warps=N_WARPS,
        )  # fmt: skip

    def _sums(self, *, squares: bool) -> torch.Tensor:
        """Sums of every feature and cell."""
        n_sums = 1 + 2 * self.n_outputs
        if not squares:
            n_sums = 1 + self.n_outputs + (1 if self.weights is None else 3)
        fit = MOST_NUMBERS // (self.n_features * n_sums * self.n_cells)
        n_tiles = triton.cdiv(self.n_rows, TILE)
        tiles_each = triton.cdiv(n_tiles, max(1, min(MOST_COPIES, fit)))
        n_copies = triton.cdiv(n_tiles, tiles_each)
        shape = n_copies, self.n_features, n_sums, self.n_cells
        sums = torch.zeros(shape, dtype=torch.float64, device=self.rows.device)
        weights = self.rows if self.weights is None else self.weights
        _add_up[(n_copies, self.n_features)](
            self.rows, *self.rows.stride(), self.slopes, *self.slopes.stride(), weights,
            self.about, self.cell, self.base, sums, self.n_rows, self.n_cells,
            self.n_outputs, n_sums, tiles_each, WEIGHTED=self.weights is not None, SQUARES=squares,
            TILE=TILE, num_warps=N_WARPS,
        )  # fmt: skip
        return sums.sum(dim=0)


@triton.jit  # type: ignore[untyped-decorator]
def _cells(  # type: ignore[no-untyped-def]  # noqa: ANN202
    rows, row_step, column_step,  # noqa: ANN001
    slopes, slope_row_step, output_step, slope_column_step,  # noqa: ANN001
    edges, about, cell, base, ends, start, stop, n_rows, n_cells,  # noqa: ANN001
    n_outputs,  # noqa: ANN001
    N_STEPS: tl.constexpr, TILE: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Find the cell of every value (-1: none), and ends and one value of each cell."""
    feature = tl.program_id(1)
    column = tl.load(about + 3 * feature)
    own_cells = tl.load(about + 3 * feature + 1)
    is_left = tl.load(about + 3 * feature + 2)
    limits = edges + feature * (n_cells + 1)
    row = start + tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    there = row < stop
    x = tl.load(rows + row * row_step + column * column_step, mask=there, other=0)
    x = x.to(tl.float64)
    low = tl.zeros([TILE], tl.int32)
    high = tl.zeros([TILE], tl.int32) + own_cells - 1
    for _ in tl.static_range(N_STEPS):  # how many inner limits lie before the value
        middle = (low + high) // 2
        limit = tl.load(limits + 1 + middle)
        after = (x > limit) | ((x == limit) & (is_left != 0))
        searching = low < high
        high = tl.where(searching & (after == 0), middle, high)
        low = tl.where(searching & after, middle + 1, low)
    inside = there & (x >= tl.load(limits)) & (x <= tl.load(limits + own_cells))
    found = tl.where(inside, low, -1)
    tl.store(cell + feature.to(tl.int64) * n_rows + row, found, mask=there)
    # most values lie between those that were seen: few have to wait for each other
    at = ends + feature * 2 * n_cells + found
    lowest = tl.load(at, mask=inside, other=0.0)
    tl.atomic_min(at, x, mask=inside & (x < lowest), sem="relaxed")
    is_higher = inside & (x > tl.load(at + n_cells, mask=inside, other=0.0))
    tl.atomic_max(at + n_cells, x, mask=is_higher, sem="relaxed")
    # whoever finds a cell empty gives it a value: one of several rows, for each series
    is_first = inside & (lowest == float("inf"))
    at = base + feature * (1 + n_outputs) * n_cells + found
    tl.store(at, x, mask=is_first)
    for output in range(n_outputs):
        from_ = slopes + row * slope_row_step + output * output_step
        slope = tl.load(from_ + column * slope_column_step, mask=is_first, other=0.0)
        tl.store(at + (1 + output) * n_cells, slope.to(tl.float64), mask=is_first)


@triton.jit  # type: ignore[untyped-decorator]
def _add_up(  # type: ignore[no-untyped-def]  # noqa: ANN202
    rows, row_step, column_step,  # noqa: ANN001
    slopes, slope_row_step, output_step, slope_column_step,  # noqa: ANN001
    weights, about, cell, base, sums, n_rows, n_cells, n_outputs, n_sums,  # noqa: ANN001
    tiles_each,  # noqa: ANN001
    WEIGHTED: tl.constexpr, SQUARES: tl.constexpr, TILE: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Add up deviations from the base of each cell, or their squares and products with x."""
    copy, feature = tl.program_id(0), tl.program_id(1)
    n_features = tl.num_programs(1)
    column = tl.load(about + 3 * feature)
    own_base = base + feature * (1 + n_outputs) * n_cells
    to = sums + ((copy * n_features + feature) * n_sums).to(tl.int64) * n_cells
    one = tl.full([TILE], 1.0, tl.float64)
    for tile in range(tiles_each):
        row = (copy * tiles_each + tile).to(tl.int64) * TILE + tl.arange(0, TILE)
        there = row < n_rows
        found = tl.load(cell + feature.to(tl.int64) * n_rows + row, mask=there, other=-1)
        inside = found >= 0
        x = tl.load(rows + row * row_step + column * column_step, mask=inside, other=0)
        dx = x.to(tl.float64) - tl.load(own_base + found, mask=inside, other=0.0)
        weight = 1.0
        if WEIGHTED:
            weight = tl.load(weights + row, mask=inside, other=0.0)
        wdx = dx * weight
        if SQUARES:
            tl.atomic_add(to + found, wdx * dx, mask=inside, sem="relaxed")
        else:
            tl.atomic_add(to + found, wdx, mask=inside, sem="relaxed")
            at = to + (1 + n_outputs) * n_cells + found
            tl.atomic_add(at, one, mask=inside, sem="relaxed")
            if WEIGHTED:
                tl.atomic_add(at + n_cells, weight, mask=inside, sem="relaxed")
                tl.atomic_add(at + 2 * n_cells, weight * weight, mask=inside, sem="relaxed")
        for output in range(n_outputs):
            place = row * slope_row_step + output * output_step + column * slope_column_step
            slope = tl.load(slopes + place, mask=inside, other=0.0).to(tl.float64)
            at = own_base + (1 + output) * n_cells + found
            dd = slope - tl.load(at, mask=inside, other=0.0)
            if SQUARES:
                at = to + (1 + 2 * output) * n_cells + found
                tl.atomic_add(at, wdx * dd, mask=inside, sem="relaxed")
                tl.atomic_add(at + n_cells, dd * dd * weight, mask=inside, sem="relaxed")
            else:
                at = to + (1 + output) * n_cells + found
                tl.atomic_add(at, dd * weight, mask=inside, sem="relaxed")
