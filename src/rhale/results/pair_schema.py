"""What saved interactions may hold: type, length and range of every field, and what must agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from rhale.kernels.grid import Closed
from rhale.kernels.moments import LARGEST_SQUARABLE
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_strength import Reading, Square
from rhale.kernels.times import AxisKind
from rhale.results.packed_numbers import Packed
from rhale.results.pair_effect import PairIndex, PairMethod, Way
from rhale.results.plain_values import (
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
)
from rhale.results.stored_pairs import (
    MAX_STORED_CELLS,
    MAX_STORED_NUMBERS,
    FilledPairCells,
    OtherOutput,
    StoredPair,
    count_numbers,
    restore_pairs,
)
from rhale.results.stored_profiles import FilledProfileCells, StoredProfile

MAX_TOTAL_WEIGHT = 1e120  # more than all rows of the largest weight together
MAX_AXIS_VALUE = 1e300  # axes end here, as in explanations
NEXT_TO_NOTHING = 1e-9  # what rounding may leave, of the variance or of a weight
ANY_TEXT, WHOLE_NUMBER = Text(), Number(0, whole=True)
PAIR_FEATURE_NAMES = Several(
    ANY_TEXT, ArrayDimension("features of a pair", least=2, most=2), unique=True
)
NOTE_LIST = Several(Remark())
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
    if axis.n_stands == 0:
        refuse_file_content(f"{where}nodes has 1 number, and no cell")


def _agree_pair_cells(
    cells: FilledPairCells | FilledProfileCells, n_cells: int, where: str
) -> None:
    """Cells are there, in order, and rows stand in them: shares of the way are at most one."""
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
    """Give every pair the cells that it shares with the output before, and those without rows."""
    _agree_names(found)
    if (total := count_numbers(found["pairs"])) > MAX_STORED_NUMBERS:
        refuse_file_content(f"pairs take {total} numbers, more than {MAX_STORED_NUMBERS}")
    return {**found, "pairs": tuple(restore_pairs(found["pairs"]))}


def _agree_names(found: dict[str, Any]) -> None:
    """Each pair of known features has its result for every output, in order, by one method."""
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
        "notes": NOTE_LIST,
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
        "notes": NOTE_LIST,
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
        "notes": NOTE_LIST,
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
        "notes": NOTE_LIST,
    },
    build=_build_interactions,
)
