"""Saved interactions: without empty cells, nothing twice; what must hold between their fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from rhale.effects.schema import OF_ALL
from rhale.errors import BadSettingError
from rhale.interaction.moments import MAX_STORED_CELLS, POWERS, PairAxis, PairMoments
from rhale.interaction.pair_effect import PairEffect, PairIndex, PairResult
from rhale.interaction.pair_profile import PairProfile
from rhale.output.storage.arrays import Packed
from rhale.output.storage.values import (
    ANY_TEXT,
    NOTE_LIST,
    Anything,
    ArrayDimension,
    Named,
    Numbers,
    Record,
    RecordUnion,
    Several,
    checks,
    quote_file_value,
    refuse_file_content,
    stored,
)
from rhale.stats.arrays import FloatArray, IntArray, same_value

# --- Pairs as files hold them: no cells without rows, and nothing twice that outputs share


MAX_STORED_NUMBERS = 2**26  # of all pairs, with cells that have no rows: half a gigabyte
NEXT_TO_NOTHING = 1e-9  # what rounding may leave, of the variance or of a weight
PACKED_MEANS = Packed(Numbers.means("stands", "ways", unknown=False))
PACKED_PRODUCTS = Packed(Numbers.products("stands", "products"))


@dataclass(frozen=True, eq=False)
class FilledStands:
    """Rows of a pair, in the cells that have some."""

    # (n_filled,): which cells they are, numbered row by row
    stands: IntArray = field(metadata=stored(Numbers.counts("stands", rising=True)))
    count: IntArray = field(metadata=stored(Numbers.counts("stands")))  # (n_filled,): rows
    # (n_filled,), of `PairMoments`; None where they are the
    # counts, as rows without weights have them
    weight: FloatArray | None = field(metadata=stored(Packed(Numbers.weights("stands"))))
    weight_squares: FloatArray | None = field(
        metadata=stored(Packed(Numbers.weight_squares("stands")))
    )
    # (n_filled, 8): of `PairMoments`
    places: FloatArray = field(
        metadata=stored(
            Packed(Numbers.weights("stands", ArrayDimension("powers", least=8, most=8)))
        )
    )


@dataclass(frozen=True, eq=False)
class FilledCells(FilledStands):
    """Sums of the cells that have rows."""

    mean: FloatArray = field(metadata=stored(PACKED_MEANS))  # (n_filled, n_ways): of one output
    # (n_filled, n_ways * n_ways): of one output
    products: FloatArray = field(metadata=stored(PACKED_PRODUCTS))


@dataclass(frozen=True, eq=False)
class OtherOutput:
    """What the same rows say about one more output: `mean` and `products` of `FilledCells`."""

    mean: FloatArray = field(metadata=stored(PACKED_MEANS))
    products: FloatArray = field(metadata=stored(PACKED_PRODUCTS))


def list_profile_cells(moments: PairMoments) -> FilledStands:
    """List the cells that have rows."""
    return FilledStands(**_list_rows(moments, np.flatnonzero(moments.count)))


def _list_rows(moments: PairMoments, stands: IntArray) -> dict[str, Any]:
    """What `FilledStands` holds of some cells."""
    columns = (moments.count, moments.weight, moments.weight_squares)
    count, weight, squares = (sums.ravel()[stands] for sums in columns)
    return {
        "stands": stands,
        "count": count,
        "weight": None if np.array_equal(weight, count) else weight,
        "weight_squares": None if np.array_equal(squares, count) else squares,
        "places": np.ascontiguousarray(moments.places.reshape(len(POWERS), -1).T[stands]),
    }


def fill_profile_cells(cells: FilledStands, shape: tuple[int, int]) -> PairMoments:
    """Expand listed cells to all cells; the others have no rows."""
    known = cells.count.astype(np.float64)
    sums = np.zeros((2 + len(POWERS), shape[0] * shape[1]))
    sums[0, cells.stands] = known if cells.weight is None else cells.weight
    sums[1, cells.stands] = known if cells.weight_squares is None else cells.weight_squares
    sums[2:, cells.stands] = cells.places.T
    count = np.zeros(shape, dtype=np.int64)
    count.ravel()[cells.stands] = cells.count
    weight, squares, *places = sums.reshape(-1, *shape)
    nothing = np.zeros((0, *shape, 1))
    return PairMoments(count, weight, squares, np.stack(places), nothing, nothing[..., None])


def store_pairs(pairs: Sequence[PairResult]) -> list[Any]:
    """Leave out cells without rows, and what an output shares with the one before."""
    stored: list[Any] = []
    before: PairEffect | None = None
    pair: Any
    for pair in pairs:
        if pair.n_cells > MAX_STORED_CELLS:
            msg = (
                f"the pair {pair.names[0]!r}, {pair.names[1]!r} has {pair.n_cells} cells, and a "
                f"file holds up to {MAX_STORED_CELLS} of a pair; ask for fewer with cells="
            )
            raise BadSettingError(msg)
        if isinstance(pair, PairIndex):
            stored.append(pair)
            continue
        cells: Any = None
        if isinstance(pair, PairProfile):
            cells = list_profile_cells(pair.moments)
        elif before is not None and before.names == pair.names:
            cells = list_other_output(pair.moments, before.moments)
        stored.append(replace(pair, moments=cells or list_filled_cells(pair.moments)))
        before = pair if isinstance(pair, PairEffect) else before
    if (total := count_numbers(stored)) > MAX_STORED_NUMBERS:
        msg = (
            f"these pairs have {total} numbers, and a file holds up to {MAX_STORED_NUMBERS}; save the "
            "results of fewer pairs or outputs"
        )
        raise BadSettingError(msg)
    return stored


def count_numbers(stored: Sequence[Any]) -> int:
    """Numbers that the sums of all pairs take in memory."""

    def count(pair: Any) -> int:
        sums, shared = pair.moments, 3 + len(POWERS)
        if isinstance(pair, PairProfile):
            return _n_cells(pair) * shared + int(pair.dependence.size)
        n_ways = int(sums.mean.shape[1])
        return _n_cells(pair) * ((isinstance(sums, FilledCells) and shared) + n_ways + n_ways**2)

    return sum(count(pair) for pair in stored if not isinstance(pair, PairIndex))


def _shape(pair: Any) -> tuple[int, int]:
    """Cells of both sides."""
    return pair.axes[0].n_cells, pair.axes[1].n_cells


def _n_cells(pair: Any) -> int:
    return prod(_shape(pair))


def restore_pairs(stored: Sequence[Any]) -> list[PairResult]:
    """Make pairs of what is stored, whose sums fit their axes."""
    made: list[PairResult] = []
    before: PairEffect | None = None
    stands: IntArray = np.empty(0, dtype=np.int64)
    for i, pair in enumerate(stored):
        if isinstance(pair, PairIndex):
            made.append(pair)
            continue
        listed: Any = pair.moments
        if isinstance(listed, OtherOutput):  # of the rows before, which must be of the same pair
            where = f"pairs[{i}].moments"
            if before is None or (before.names, before.axes) != (pair.names, pair.axes):
                refuse_file_content(f"{where} are not those of the pair before it")
            if len(listed.mean) != stands.size:
                refuse_file_content(f"{where} has {len(listed.mean)} rows for {stands.size} cells")
            mean, products = _spread_ways(listed, stands, _shape(pair))
            moments = replace(before.moments, mean=mean, products=products)
        elif isinstance(listed, FilledCells):
            moments, stands = fill_cells(listed, _shape(pair)), listed.stands
        else:
            moments = fill_profile_cells(listed, _shape(pair))
        made.append(replace(pair, moments=moments))
        before = made[-1] if isinstance(made[-1], PairEffect) else before
    return made


def list_filled_cells(moments: PairMoments) -> FilledCells:
    """List the cells with any sum that is not zero."""
    n_cells, (mean, products) = moments.count.size, _by_cell(moments)
    sums = [s.reshape(n_cells, -1) for s in (moments.count, moments.weight, moments.weight_squares)]
    places = moments.places.reshape(len(POWERS), n_cells).T
    told = np.concatenate([*sums, places, mean, products], axis=1)
    stands = np.flatnonzero(np.any(told != 0, axis=1))
    return FilledCells(**_list_rows(moments, stands), mean=mean[stands], products=products[stands])


def list_other_output(moments: PairMoments, before: PairMoments) -> OtherOutput | None:
    """List what differs from the output before; None if the rows are not the same."""
    shared = ("count", "weight", "weight_squares", "places")
    if not all(same_value(getattr(moments, n), getattr(before, n)) for n in shared):
        return None
    stands, own = list_filled_cells(before).stands, list_filled_cells(moments)
    mean, products = _by_cell(moments)
    same_cells = np.isin(own.stands, stands).all()
    return OtherOutput(mean[stands], products[stands]) if same_cells else None


def _by_cell(moments: PairMoments) -> tuple[FloatArray, FloatArray]:
    """Means and products of one output, a row for each cell."""
    n_cells, n_ways = moments.count.size, moments.mean.shape[-1]
    return moments.mean.reshape(n_cells, n_ways), moments.products.reshape(n_cells, n_ways**2)


def fill_cells(cells: FilledCells, shape: tuple[int, int]) -> PairMoments:
    """Expand listed cells to all cells, with zeros in the others."""
    mean, products = _spread_ways(OtherOutput(cells.mean, cells.products), cells.stands, shape)
    return replace(fill_profile_cells(cells, shape), mean=mean, products=products)


def _spread_ways(
    output: OtherOutput, stands: IntArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Means and products of one output in all cells, zeros in those that are not listed."""
    n_ways = output.mean.shape[1]
    mean = np.zeros((shape[0] * shape[1], n_ways))
    products = np.zeros((shape[0] * shape[1], n_ways**2))
    mean[stands], products[stands] = output.mean, output.products
    return mean.reshape(1, *shape, n_ways), products.reshape(1, *shape, n_ways, n_ways)


@checks(PairAxis)
def _agree_axis(axis: PairAxis, where: str) -> None:
    """Every level has a name and a place; numbers have a cell, of one value without width."""
    if axis.labels and len(axis.labels) != axis.nodes.size:
        refuse_file_content(
            f"{where}labels has {len(axis.labels)} entries for {axis.nodes.size} nodes"
        )
    if axis.labels and np.any(np.diff(axis.nodes) == 0):
        refuse_file_content(f"{where}nodes does not increase")
    if axis.n_cells == 0:
        refuse_file_content(f"{where}nodes has 1 number, and no cell")


def _agree_pair_cells(cells: FilledStands, n_cells: int, where: str) -> None:
    """Cells exist, in order, and positions of rows in them are at most one."""
    if np.any(cells.stands >= n_cells) or np.any(np.diff(cells.stands) <= 0):
        refuse_file_content(f"{where}stands are not cells in order")
    weight = cells.count if cells.weight is None else cells.weight
    if np.any(cells.places > weight[:, None] * (1 + NEXT_TO_NOTHING)):
        refuse_file_content(f"{where}places are beyond the cells")


@checks(PairEffect)
def _agree_pair_sums(pair: PairEffect, where: str) -> None:
    """Sums and main effects fit the axes, and squares are none of a negative number."""
    moments: Any = pair.moments  # as files hold them
    n_cells, n_ways = _n_cells(pair), pair.axes[0].n_ways * pair.axes[1].n_ways
    if n_cells > MAX_STORED_CELLS:
        refuse_file_content(f"{where}axes have {n_cells} cells, more than {MAX_STORED_CELLS}")
    for name, columns in (("mean", n_ways), ("products", n_ways**2)):
        if (found := getattr(moments, name).shape[1]) != columns:
            refuse_file_content(f"{where}moments.{name} has {found} columns, not {columns}")
    if isinstance(moments, FilledCells):
        _agree_pair_cells(moments, n_cells, f"{where}moments.")
    for side, (main, axis) in enumerate(zip(pair.main, pair.axes, strict=True)):
        if main.size != axis.nodes.size:
            refuse_file_content(
                f"{where}main[{side}] has {main.size} numbers for {axis.nodes.size} nodes"
            )
    least = -NEXT_TO_NOTHING * (pair.variance if np.isfinite(pair.variance) else 0.0)
    if pair.square.raw < least:
        refuse_file_content(f"{where}square.raw is {pair.square.raw}, which it cannot be")


@checks(PairProfile)
def _agree_pair_profile(pair: PairProfile, where: str) -> None:
    """Stands and averages fit the axes."""
    moments: Any = pair.moments  # as files hold them
    n_cells = _n_cells(pair)
    if n_cells > MAX_STORED_CELLS:
        refuse_file_content(f"{where}axes have {n_cells} cells, more than {MAX_STORED_CELLS}")
    _agree_pair_cells(moments, n_cells, f"{where}moments.")
    nodes = tuple(axis.nodes.size for axis in pair.axes)
    if pair.dependence.shape != nodes:
        refuse_file_content(
            f"{where}dependence has shape {pair.dependence.shape} for {nodes} nodes"
        )
    for side, (single, size) in enumerate(zip(pair.single, nodes, strict=True)):
        if single.size != size:
            refuse_file_content(f"{where}single[{side}] has {single.size} numbers for {size} nodes")


def _build_interactions(**found: Any) -> dict[str, Any]:
    """Check the pairs, and fill in the cells that they share with the output before."""
    # each pair of known features has its result for every output, in order, by one method
    pairs, outputs, known = found["pairs"], found["outputs"], set(found["features"])
    seen: set[frozenset[str]] = set()
    if len(pairs) % len(outputs):
        refuse_file_content(
            f"pairs has {len(pairs)} entries, not the same number for {len(outputs)} outputs"
        )
    for i, pair in enumerate(pairs):
        if not known.issuperset(pair.names):
            refuse_file_content(
                f"pairs[{i}].names has {quote_file_value(pair.names[0])} or another unknown feature"
            )
        first = pairs[i - i % len(outputs)]
        if pair.names != first.names or pair.output != outputs[i % len(outputs)]:
            refuse_file_content(f"pairs[{i}] is of another pair or output than its place says")
        if pair is first and frozenset(pair.names) in seen:
            refuse_file_content(f"pairs[{i}].names are those of another pair")
        seen.add(frozenset(pair.names))
        if pair.method != pairs[0].method:
            refuse_file_content(f"pairs[{i}] is by another method than the first")
    if (total := count_numbers(found["pairs"])) > MAX_STORED_NUMBERS:
        refuse_file_content(f"pairs take {total} numbers, more than {MAX_STORED_NUMBERS}")
    return {**found, "pairs": tuple(restore_pairs(found["pairs"]))}


PAIRS = RecordUnion.of(
    Record(PairEffect, {"moments": RecordUnion.of(FilledCells, OtherOutput)}, has_all=True),
    Record(PairProfile, {"moments": RecordUnion.of(FilledStands)}, has_all=True),
    PairIndex,
)
INTERACTIONS = Record(
    dict,
    {
        "features": Several(ANY_TEXT, ArrayDimension("features", least=2), unique=True),
        "outputs": Several(ANY_TEXT, ArrayDimension("outputs", least=1), unique=True),
        "pairs": Several(PAIRS, ArrayDimension("pairs", least=1)),
        "importance": Numbers.sizes("features", "outputs", unknown=True),
        "variance": Numbers.sizes("outputs", unknown=True),
        "provenance": Named(Anything(), OF_ALL),
        "notes": NOTE_LIST,
    },
    make=_build_interactions,
)
