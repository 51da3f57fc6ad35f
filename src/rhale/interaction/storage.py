"""Saved interactions: their schema, without empty cells, nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import numpy as np

from rhale.effects.binning.cells import Closed
from rhale.effects.binning.moments import LARGEST_SQUARABLE
from rhale.effects.schema import MAX_AXIS_VALUE, MAX_TOTAL_WEIGHT
from rhale.errors import BadFileError, BadSettingError
from rhale.interaction.moments import POWERS, PairAxis, PairMoments
from rhale.interaction.pair_effect import PairEffect, PairIndex, PairMethod, PairResult, Way
from rhale.interaction.pair_profile import PairProfile
from rhale.interaction.strength import Reading, Square
from rhale.output.storage.arrays import Packed
from rhale.output.storage.values import (
    ANY_TEXT,
    WHOLE_NUMBER,
    Anything,
    ArrayDimension,
    Kind,
    Lengths,
    Maybe,
    Named,
    Number,
    Numbers,
    Record,
    RecordUnion,
    Remark,
    Several,
    Text,
    Truth,
    quote_file_value,
    refuse_file_content,
    written_fields,
)
from rhale.output.times import AxisKind
from rhale.stats.arrays import FloatArray, IntArray
from rhale.stats.records import same_value

# --- Two-way partial dependence as files hold it: no cells without rows


@dataclass(frozen=True, eq=False)
class FilledProfileCells:
    """Rows of a profile, in the cells that have some."""

    stands: IntArray  # (n_filled,): which cells they are, numbered row by row
    count: IntArray  # (n_filled,): rows
    # (n_filled,), of `PairMoments`; None where they are the
    # counts, as rows without weights have them
    weight: FloatArray | None
    weight_squares: FloatArray | None
    places: FloatArray  # (n_filled, 8): of `PairMoments`


@dataclass(frozen=True, eq=False)
class StoredProfile:
    """The fields of a `PairProfile`, but for cells without rows."""

    names: tuple[str, str]
    output: str
    axes: tuple[PairAxis, PairAxis]
    moments: FilledProfileCells
    dependence: FloatArray
    single: tuple[FloatArray, FloatArray]
    variance: float
    n_left_out: int
    notes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Cells of both sides."""
        return self.axes[0].n_cells, self.axes[1].n_cells

    @property
    def n_numbers(self) -> int:
        """Numbers that it takes in memory."""
        return self.shape[0] * self.shape[1] * (3 + len(POWERS)) + self.dependence.size


def list_profile_cells(moments: PairMoments) -> FilledProfileCells:
    """List the cells that have rows."""
    stands = np.flatnonzero(moments.count)
    count = moments.count.ravel()[stands]
    weight, squares = (sums.ravel()[stands] for sums in (moments.weight, moments.weight_squares))
    return FilledProfileCells(
        stands=stands,
        count=count,
        weight=None if np.array_equal(weight, count) else weight,
        weight_squares=None if np.array_equal(squares, count) else squares,
        places=np.ascontiguousarray(moments.places.reshape(len(POWERS), -1).T[stands]),
    )


def fill_profile_cells(cells: FilledProfileCells, shape: tuple[int, int]) -> PairMoments:
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


# --- Pairs as files hold them: no cells without rows, and nothing twice that outputs share


MAX_STORED_CELLS = 2**14  # of one pair: errors of more take gigabytes
MAX_STORED_NUMBERS = 2**26  # of all pairs, with cells that have no rows: half a gigabyte


@dataclass(frozen=True, eq=False)
class FilledPairCells:
    """Sums of the cells that have rows."""

    stands: IntArray  # (n_filled,): which cells they are, numbered row by row
    count: IntArray  # (n_filled,): rows
    # (n_filled,), of `PairMoments`; None where they are the
    # counts, as rows without weights have them
    weight: FloatArray | None
    weight_squares: FloatArray | None
    places: FloatArray  # (n_filled, 8): of `PairMoments`
    mean: FloatArray  # (n_filled, n_ways): of one output
    products: FloatArray  # (n_filled, n_ways * n_ways): of one output


@dataclass(frozen=True, eq=False)
class OtherOutput:
    """What the same rows say about one more output: `mean` and `products` of `FilledPairCells`."""

    mean: FloatArray
    products: FloatArray


@dataclass(frozen=True, eq=False)
class StoredPair:
    """The fields of a `PairEffect`, but for its sums, which leave out cells without rows."""

    names: tuple[str, str]
    output: str
    axes: tuple[PairAxis, PairAxis]
    moments: FilledPairCells | OtherOutput
    main: tuple[FloatArray, FloatArray]
    square: Square
    variance: float
    n_left_out: int
    reading: Reading
    smooth: bool
    way: Way
    notes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Cells of both sides."""
        return self.axes[0].n_cells, self.axes[1].n_cells

    @property
    def n_numbers(self) -> int:
        """Numbers that its sums take in memory."""
        shared = 0 if isinstance(self.moments, OtherOutput) else 3 + len(POWERS)
        n_ways = int(self.moments.mean.shape[1])
        return self.shape[0] * self.shape[1] * (shared + n_ways + n_ways**2)


def store_pairs(pairs: Sequence[PairResult]) -> list[StoredPair | StoredProfile | PairResult]:
    """Leave out cells without rows, and what an output shares with the one before."""
    stored: list[StoredPair | StoredProfile | PairResult] = []
    before: PairEffect | None = None
    for pair in pairs:
        if pair.n_cells > MAX_STORED_CELLS:
            msg = (
                f"the pair {pair.names[0]!r}, {pair.names[1]!r} has {pair.n_cells} cells, and a "
                f"file holds up to {MAX_STORED_CELLS} of a pair; ask for fewer with cells="
            )
            raise BadSettingError(msg)
        named = {name: getattr(pair, name) for name in written_fields(pair)}
        if isinstance(pair, PairEffect):
            cells: FilledPairCells | OtherOutput | None = None
            if before is not None and before.names == pair.names:
                cells = list_other_output(pair.moments, before.moments)
            moments = cells or list_filled_cells(pair.moments)
            stored.append(StoredPair(**{**named, "moments": moments}))
            before = pair
        elif isinstance(pair, PairProfile):
            rows = list_profile_cells(pair.moments)
            stored.append(StoredProfile(**{**named, "moments": rows}))
        else:
            stored.append(pair)
    if (total := count_numbers(stored)) > MAX_STORED_NUMBERS:
        msg = (
            f"these pairs have {total} numbers, and a file holds up to {MAX_STORED_NUMBERS}; save the "
            "results of fewer pairs or outputs"
        )
        raise BadSettingError(msg)
    return stored


def count_numbers(stored: Sequence[StoredPair | StoredProfile | PairResult]) -> int:
    """Numbers that the sums of all pairs take in memory."""
    return sum(pair.n_numbers for pair in stored if isinstance(pair, StoredPair | StoredProfile))


def restore_pairs(stored: Sequence[StoredPair | StoredProfile | PairIndex]) -> list[PairResult]:
    """Make pairs of what is stored, whose sums fit their axes."""
    made: list[PairResult] = []
    before: PairEffect | None = None
    stands: IntArray = np.empty(0, dtype=np.int64)
    for i, pair in enumerate(stored):
        if isinstance(pair, StoredProfile):
            known = {f.name: getattr(pair, f.name) for f in fields(pair)}
            rows = fill_profile_cells(pair.moments, pair.shape)
            made.append(PairProfile(**{**known, "moments": rows}))
        if not isinstance(pair, StoredPair):
            made += [pair] if isinstance(pair, PairIndex) else []
            continue
        if isinstance(pair.moments, FilledPairCells):
            moments, stands = fill_cells(pair.moments, pair.shape), pair.moments.stands
        else:  # the rows of the output before, which must be of the same pair
            where, n_rows = f"pairs[{i}].moments", len(pair.moments.mean)
            if before is None or (before.names, before.axes) != (pair.names, pair.axes):
                msg = f"{where} are not those of the pair before it"
                raise BadFileError(msg)
            if n_rows != stands.size:
                msg = f"{where} has {n_rows} rows for {stands.size} cells"
                raise BadFileError(msg)
            mean, products = _spread_ways(pair.moments, stands, pair.shape)
            moments = replace(before.moments, mean=mean, products=products)
        named = {name: getattr(pair, name) for name in written_fields(pair)}
        before = PairEffect(**{**named, "moments": moments})
        made.append(before)
    return made


def list_filled_cells(moments: PairMoments) -> FilledPairCells:
    """List the cells with any sum that is not zero."""
    n_cells = moments.count.size
    places = moments.places.reshape(len(POWERS), n_cells).T
    mean, products = _by_cell(moments)
    sums = [s.reshape(n_cells, -1) for s in (moments.count, moments.weight, moments.weight_squares)]
    told = np.concatenate([*sums, places, mean, products], axis=1)
    stands = np.flatnonzero(np.any(told != 0, axis=1))
    count, weight, squares = (s[stands, 0] for s in sums)
    return FilledPairCells(
        stands=stands,
        count=count,
        weight=None if np.array_equal(weight, count) else weight,
        weight_squares=None if np.array_equal(squares, count) else squares,
        places=places[stands],
        mean=mean[stands],
        products=products[stands],
    )


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


def fill_cells(cells: FilledPairCells, shape: tuple[int, int]) -> PairMoments:
    """Expand listed cells to all cells, with zeros in the others."""
    mean, products = _spread_ways(OtherOutput(cells.mean, cells.products), cells.stands, shape)
    rows = FilledProfileCells(
        **{f.name: getattr(cells, f.name) for f in fields(FilledProfileCells)}
    )
    return replace(fill_profile_cells(rows, shape), mean=mean, products=products)


def _spread_ways(
    output: OtherOutput, stands: IntArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Means and products of one output in all cells, zeros in those that are not listed."""
    n_ways = output.mean.shape[1]
    mean = np.zeros((shape[0] * shape[1], n_ways))
    products = np.zeros((shape[0] * shape[1], n_ways**2))
    mean[stands], products[stands] = output.mean, output.products
    return mean.reshape(1, *shape, n_ways), products.reshape(1, *shape, n_ways, n_ways)


NEXT_TO_NOTHING = 1e-9  # what rounding may leave, of the variance or of a weight
PAIR_FEATURE_NAMES = Several(
    ANY_TEXT, ArrayDimension("features of a pair", least=2, most=2), unique=True
)
PAIR_NOTE_LIST = Several(Remark())
VARIANCE = Number(0, unknown=True)


@dataclass(frozen=True)
class Alone:
    """Something whose lengths agree with nothing else."""

    kind: Kind

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:  # noqa: ARG002
        """Read it by itself."""
        return self.kind.read(value, where, {})


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


def _agree_pair_cells(
    cells: FilledPairCells | FilledProfileCells, n_cells: int, where: str
) -> None:
    """Cells exist, in order, and positions of rows in them are at most one."""
    if np.any(cells.stands >= n_cells) or np.any(np.diff(cells.stands) <= 0):
        refuse_file_content(f"{where}stands are not cells in order")
    weight = cells.count if cells.weight is None else cells.weight
    if np.any(cells.places > weight[:, None] * (1 + NEXT_TO_NOTHING)):
        refuse_file_content(f"{where}places are beyond the cells")


def _agree_pair_sums(pair: StoredPair, where: str) -> None:
    """Sums and main effects fit the axes, and squares are none of a negative number."""
    n_cells, n_ways = pair.shape[0] * pair.shape[1], pair.axes[0].n_ways * pair.axes[1].n_ways
    if n_cells > MAX_STORED_CELLS:
        refuse_file_content(f"{where}axes have {n_cells} cells, more than {MAX_STORED_CELLS}")
    for name, columns in (("mean", n_ways), ("products", n_ways**2)):
        if (found := getattr(pair.moments, name).shape[1]) != columns:
            refuse_file_content(f"{where}moments.{name} has {found} columns, not {columns}")
    if isinstance(pair.moments, FilledPairCells):
        _agree_pair_cells(pair.moments, n_cells, f"{where}moments.")
    for side, (main, axis) in enumerate(zip(pair.main, pair.axes, strict=True)):
        if main.size != axis.nodes.size:
            refuse_file_content(
                f"{where}main[{side}] has {main.size} numbers for {axis.nodes.size} nodes"
            )
    least = -NEXT_TO_NOTHING * (pair.variance if np.isfinite(pair.variance) else 0.0)
    if pair.square.raw < least:
        refuse_file_content(f"{where}square.raw is {pair.square.raw}, which it cannot be")


def _agree_pair_profile(pair: StoredProfile, where: str) -> None:
    """Stands and averages fit the axes."""
    n_cells = pair.shape[0] * pair.shape[1]
    if n_cells > MAX_STORED_CELLS:
        refuse_file_content(f"{where}axes have {n_cells} cells, more than {MAX_STORED_CELLS}")
    _agree_pair_cells(pair.moments, n_cells, f"{where}moments.")
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
        if _find_pair_method(pair) != _find_pair_method(pairs[0]):
            refuse_file_content(f"pairs[{i}] is by another method than the first")
    if (total := count_numbers(found["pairs"])) > MAX_STORED_NUMBERS:
        refuse_file_content(f"pairs take {total} numbers, more than {MAX_STORED_NUMBERS}")
    return {**found, "pairs": tuple(restore_pairs(found["pairs"]))}


def _find_pair_method(pair: StoredPair | StoredProfile | PairIndex) -> str:
    if isinstance(pair, PairIndex):
        return pair.method
    return "ale" if isinstance(pair, StoredPair) else "pdp"


def _rows(columns: str, low: float, high: float) -> Packed:
    """Packed numbers with a row for each cell that has rows."""
    return Packed(Numbers((ArrayDimension("stands"), ArrayDimension(columns)), low, high))


DIFFERENCES: dict[str, Kind] = {
    "mean": _rows("ways", -LARGEST_SQUARABLE, LARGEST_SQUARABLE),
    "products": _rows("products", -(LARGEST_SQUARABLE**2), LARGEST_SQUARABLE**2),
}
WEIGHTS = Packed(Numbers((ArrayDimension("stands"),), 0, MAX_TOTAL_WEIGHT))
STANDS: dict[str, Kind] = {
    "stands": Numbers((ArrayDimension("stands"),), 0, whole=True, rising=True),
    "count": Numbers((ArrayDimension("stands"),), 0, whole=True),
    "weight": Maybe(WEIGHTS),
    "weight_squares": Maybe(Packed(Numbers((ArrayDimension("stands"),), 0, MAX_TOTAL_WEIGHT**2))),
    "places": Packed(
        Numbers(
            (ArrayDimension("stands"), ArrayDimension("powers", least=8, most=8)),
            0,
            MAX_TOTAL_WEIGHT,
        )
    ),
}
FILLED_CELLS = Record(FilledPairCells, {**STANDS, **DIFFERENCES})
FILLED_STANDS = Record(FilledProfileCells, STANDS)
OTHER_OUTPUT = Record(OtherOutput, DIFFERENCES)
PAIR_AXIS = Record(
    PairAxis,
    {
        "nodes": Numbers(
            (ArrayDimension("nodes", least=1, most=MAX_STORED_CELLS + 1),),
            -MAX_AXIS_VALUE,
            MAX_AXIS_VALUE,
            rising=True,
        ),
        "labels": Several(ANY_TEXT, unique=True),
        "kind": Text(get_args(AxisKind)),
        "closed": Text(get_args(Closed)),
    },
    _agree_axis,
)
SQUARE = Record(Square, {"raw": Number(), "noise": Number()})
TWO_AXES = ArrayDimension("sides", least=2, most=2)
STORED_PAIR = Record(
    StoredPair,
    {
        "names": PAIR_FEATURE_NAMES,
        "output": ANY_TEXT,
        "axes": Several(RecordUnion({"pair_axis": PAIR_AXIS}), TWO_AXES),
        "moments": RecordUnion({"filled_cells": FILLED_CELLS, "other_output": OTHER_OUTPUT}),
        "main": Several(
            Alone(Numbers((ArrayDimension("nodes"),), -LARGEST_SQUARABLE, LARGEST_SQUARABLE)),
            TWO_AXES,
        ),
        "square": RecordUnion({"square": SQUARE}),
        "variance": VARIANCE,
        "n_left_out": WHOLE_NUMBER,
        "reading": Text(get_args(Reading)),
        "smooth": Truth(),
        "way": Text(get_args(Way)),
        "notes": PAIR_NOTE_LIST,
    },
    _agree_pair_sums,
)
PAIR_INDEX = Record(
    PairIndex,
    {
        "names": PAIR_FEATURE_NAMES,
        "output": ANY_TEXT,
        "method": Text(tuple(m for m in get_args(PairMethod) if m not in ("ale", "pdp"))),
        "strength": Number(0, unknown=True),
        "variance": VARIANCE,
        "h2": Number(unknown=True),
        "n_left_out": WHOLE_NUMBER,
        "notes": PAIR_NOTE_LIST,
    },
)
STORED_PROFILE = Record(
    StoredProfile,
    {
        "names": PAIR_FEATURE_NAMES,
        "output": ANY_TEXT,
        "axes": Several(RecordUnion({"pair_axis": PAIR_AXIS}), TWO_AXES),
        "moments": RecordUnion({"filled_stands": FILLED_STANDS}),
        "dependence": Numbers(
            (ArrayDimension("first nodes"), ArrayDimension("second nodes")),
            -LARGEST_SQUARABLE,
            LARGEST_SQUARABLE,
        ),
        "single": Several(
            Alone(Numbers((ArrayDimension("nodes"),), -LARGEST_SQUARABLE, LARGEST_SQUARABLE)),
            TWO_AXES,
        ),
        "variance": VARIANCE,
        "n_left_out": WHOLE_NUMBER,
        "notes": PAIR_NOTE_LIST,
    },
    _agree_pair_profile,
)
PAIR_RECORDS = {
    "pair_effect": STORED_PAIR,
    "pair_profile": STORED_PROFILE,
    "filled_stands": FILLED_STANDS,
    "pair_index": PAIR_INDEX,
    "pair_axis": PAIR_AXIS,
    "filled_cells": FILLED_CELLS,
    "other_output": OTHER_OUTPUT,
    "square": SQUARE,
}
INTERACTIONS = Record(
    dict,
    {
        "features": Several(ANY_TEXT, ArrayDimension("features", least=2), unique=True),
        "outputs": Several(ANY_TEXT, ArrayDimension("outputs", least=1), unique=True),
        "pairs": Several(
            RecordUnion(
                {
                    "pair_effect": STORED_PAIR,
                    "pair_profile": STORED_PROFILE,
                    "pair_index": PAIR_INDEX,
                }
            ),
            ArrayDimension("pairs", least=1),
        ),
        "importance": Numbers(
            (ArrayDimension("features"), ArrayDimension("outputs")), 0, unknown=True
        ),
        "variance": Numbers((ArrayDimension("outputs"),), 0, unknown=True),
        "provenance": Named(Anything(), {"rows": WHOLE_NUMBER, "rows_in_table": WHOLE_NUMBER}),
        "notes": PAIR_NOTE_LIST,
    },
    build=_build_interactions,
)
