"""CUDA sums of cells in the memory that the threads of a block share: faster than in the L2 cache."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

N_THREADS, N_BLOCKS, MOST_COPIES = 512, 1056, 4
SHARED_BYTES = 47 * 2**10  # of a block, without asking for more
MOST_SUMS = 4  # of a feature and an output: x, slopes, weights, their squares
NAMES = {torch.float32: "float", torch.float64: "double"}

SOURCE = """extern "C" __global__ void add_up(
    const X_TYPE* rows, const D_TYPE* slopes, const double* weights, const int* about,
    const int* cell, const double* base, double* sums,
    int n_rows, int n_columns, int n_cells, int n_sums, int n_copies)
{
    extern __shared__ double held[];
    const int feature = blockIdx.y, output = blockIdx.z, n_outputs = gridDim.z;
    const int column = about[3 * feature], n_own = 4 * n_cells;
    for (int i = threadIdx.x; i < n_copies * n_own; i += blockDim.x) held[i] = 0.0;
    __syncthreads();
    double* own = held + ((threadIdx.x >> 5) % n_copies) * n_own;
    const double* base_x = base + (long long) feature * (1 + n_outputs) * n_cells;
    const double* base_d = base_x + (1 + output) * n_cells;
    for (long long row = blockIdx.x * blockDim.x + threadIdx.x; row < n_rows;
         row += (long long) gridDim.x * blockDim.x) {
        const int c = cell[(long long) feature * n_rows + row];
        if (c < 0) continue;
        const double dx = (double) rows[row * n_columns + column] - base_x[c];
        const double dd =
            (double) slopes[(row * n_outputs + output) * n_columns + column] - base_d[c];
        const double w = WEIGHTED ? weights[row] : 1.0;
        if (SQUARES) {
            if (output == 0) atomicAdd(own + c, w * dx * dx);
            atomicAdd(own + n_cells + c, w * dx * dd);
            atomicAdd(own + 2 * n_cells + c, w * dd * dd);
        } else {
            if (output == 0) atomicAdd(own + c, w * dx);
            atomicAdd(own + n_cells + c, w * dd);
            if (WEIGHTED && output == 0) {
                atomicAdd(own + 2 * n_cells + c, w);
                atomicAdd(own + 3 * n_cells + c, w * w);
            }
        }
    }
    __syncthreads();
    double* to = sums + (long long) feature * n_sums * n_cells;
    for (int i = threadIdx.x; i < n_own; i += blockDim.x) {
        const int which = i / n_cells, c = i % n_cells;
        double total = 0.0;
        for (int k = 0; k < n_copies; k++) total += held[k * n_own + i];
        int place = which == 0 ? 0 : SQUARES ? which + 2 * output
                  : which == 1 ? 1 + output : n_outputs + which - 1;
        if (total != 0.0) atomicAdd(to + (long long) place * n_cells + c, total);
    }
}
"""


def shared_sums(
    rows: torch.Tensor,
    slopes: torch.Tensor,
    weights: torch.Tensor | None,
    about: torch.Tensor,
    cell: torch.Tensor,
    base: torch.Tensor,
    sums: torch.Tensor,
    *,
    squares: bool,
) -> bool:
    """Add up what `rhale.gpu.fused_moments` adds up; False where that cannot be done here."""
    n_features, n_sums, n_cells = sums.shape
    n_copies = min(MOST_COPIES, SHARED_BYTES // (MOST_SUMS * n_cells * 8))
    if n_copies == 0 or not (rows.is_contiguous() and slopes.is_contiguous()):
        return False
    types = rows.dtype, slopes.dtype
    kernel = _compiled(rows.device, *types, weighted=weights is not None, squares=squares)
    if kernel is None:
        return False
    n_rows, n_outputs = len(rows), slopes.shape[1]
    n_blocks = max(1, min(N_BLOCKS // (n_features * n_outputs), -(-n_rows // N_THREADS)))
    some = base if weights is None else weights
    kernel(
        grid=(n_blocks, n_features, n_outputs),
        block=(N_THREADS, 1, 1),
        args=[rows, slopes, some, about, cell, base, sums, n_rows, rows.shape[1], n_cells, n_sums, n_copies],
        shared_mem=n_copies * MOST_SUMS * n_cells * 8,
    )  # fmt: skip
    return True


@cache
def _compiled(
    device: torch.device,  # noqa: ARG001 - a kernel is loaded for one
    x: torch.dtype,
    d: torch.dtype,
    *,
    weighted: bool,
    squares: bool,
) -> Any:
    """The kernel for these types; None where torch cannot compile it."""
    if x not in NAMES or d not in NAMES:
        return None
    said = {"X_TYPE": NAMES[x], "D_TYPE": NAMES[d], "WEIGHTED": weighted, "SQUARES": squares}
    source = SOURCE
    for word, value in said.items():
        source = source.replace(word, str(value).lower())
    try:
        return torch.cuda._compile_kernel(source, "add_up")  # noqa: SLF001
    except Exception:  # noqa: BLE001 - not every torch has it, nor every machine its compiler
        return None
