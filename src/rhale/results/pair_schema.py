"""What saved interactions may hold: type, length and range of every field, and what must agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from rhale.kernels.grid import Closed
from rhale.kernels.moments import LARGEST
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_strength import Reading, Square
from rhale.kernels.times import AxisKind
from rhale.results.packed_numbers import Packed
from rhale.results.pair_effect import PairIndex, PairMethod, Way
from rhale.results.plain_values import (
    Anything,
    Kind,
    Lengths,
    Maybe,
    Named,
    Number,
    Numbers,
    Part,
    Record,
    Remark,
    Several,
    Side,
    Text,
    Truth,
    refuse,
    shown,
)
from rhale.results.stored_pairs import (
    MOST_CELLS,
    MOST_NUMBERS,
    FilledCells,
    OtherOutput,
    StoredPair,
    count_numbers,
    restore_pairs,
)
from rhale.results.stored_profiles import FilledStands, StoredProfile

HEAVY = 1e120  # more than all rows of the largest weight together
FAR = 1e300  # axes end here, as in explanations
NEXT_TO_NOTHING = 1e-9  # what rounding may leave, of the variance or of a weight
TEXT, COUNT = Text(), Number(0, whole=True)
NAMES = Several(TEXT, Side("features of a pair", least=2, most=2), unique=True)
NOTES = Several(Remark())
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
        refuse(f"{where}labels has {len(axis.labels)} entries for {axis.nodes.size} nodes")
    if axis.labels and np.any(np.diff(axis.nodes) == 0):
        refuse(f"{where}nodes does not increase")
    if axis.n_stands == 0:
        refuse(f"{where}nodes has 1 number, and no cell")


def _agree_cells(cells: FilledCells | FilledStands, n_cells: int, where: str) -> None:
    """Cells are there, in order, and rows stand in them: shares of the way are at most one."""
    if np.any(cells.stands >= n_cells) or np.any(np.diff(cells.stands) <= 0):
        refuse(f"{where}stands are not cells in order")
    weight = cells.count if cells.weight is None else cells.weight
    if np.any(cells.places > weight[:, None] * (1 + NEXT_TO_NOTHING)):
        refuse(f"{where}places are beyond the cells")


def _agree_pair(pair: StoredPair, where: str) -> None:
    """Sums and main effects fit the axes, and squares are none of a negative number."""
    n_cells, n_ways = pair.shape[0] * pair.shape[1], pair.axes[0].n_ways * pair.axes[1].n_ways
    if n_cells > MOST_CELLS:
        refuse(f"{where}axes have {n_cells} cells, more than {MOST_CELLS}")
    for name, columns in (("mean", n_ways), ("products", n_ways**2)):
        if (found := getattr(pair.moments, name).shape[1]) != columns:
            refuse(f"{where}moments.{name} has {found} columns, not {columns}")
    if isinstance(pair.moments, FilledCells):
        _agree_cells(pair.moments, n_cells, f"{where}moments.")
    for side, (main, axis) in enumerate(zip(pair.main, pair.axes, strict=True)):
        if main.size != axis.nodes.size:
            refuse(f"{where}main[{side}] has {main.size} numbers for {axis.nodes.size} nodes")
    least = -NEXT_TO_NOTHING * (pair.variance if np.isfinite(pair.variance) else 0.0)
    if pair.square.raw < least:
        refuse(f"{where}square.raw is {pair.square.raw}, which it cannot be")


def _agree_profile(pair: StoredProfile, where: str) -> None:
    """Stands and averages fit the axes."""
    n_cells = pair.shape[0] * pair.shape[1]
    if n_cells > MOST_CELLS:
        refuse(f"{where}axes have {n_cells} cells, more than {MOST_CELLS}")
    _agree_cells(pair.moments, n_cells, f"{where}moments.")
    nodes = tuple(axis.nodes.size for axis in pair.axes)
    if pair.dependence.shape != nodes:
        refuse(f"{where}dependence has shape {pair.dependence.shape} for {nodes} nodes")
    for side, (single, size) in enumerate(zip(pair.single, nodes, strict=True)):
        if single.size != size:
            refuse(f"{where}single[{side}] has {single.size} numbers for {size} nodes")


def _build_interactions(**found: Any) -> dict[str, Any]:
    """Give every pair the cells that it shares with the output before, and those without rows."""
    _agree_names(found)
    if (total := count_numbers(found["pairs"])) > MOST_NUMBERS:
        refuse(f"pairs take {total} numbers, more than {MOST_NUMBERS}")
    return {**found, "pairs": tuple(restore_pairs(found["pairs"]))}


def _agree_names(found: dict[str, Any]) -> None:
    """Each pair of known features has its result for every output, in order, by one method."""
    pairs, outputs, known = found["pairs"], found["outputs"], set(found["features"])
    seen: set[frozenset[str]] = set()
    if len(pairs) % len(outputs):
        refuse(f"pairs has {len(pairs)} entries, not the same number for {len(outputs)} outputs")
    for i, pair in enumerate(pairs):
        if not known.issuperset(pair.names):
            refuse(f"pairs[{i}].names has {shown(pair.names[0])} or another unknown feature")
        first = pairs[i - i % len(outputs)]
        if pair.names != first.names or pair.output != outputs[i % len(outputs)]:
            refuse(f"pairs[{i}] is of another pair or output than its place says")
        if pair is first and frozenset(pair.names) in seen:
            refuse(f"pairs[{i}].names are those of another pair")
        seen.add(frozenset(pair.names))
        if _method(pair) != _method(pairs[0]):
            refuse(f"pairs[{i}] is by another method than the first")


def _method(pair: StoredPair | StoredProfile | PairIndex) -> str:
    if isinstance(pair, PairIndex):
        return pair.method
    return "ale" if isinstance(pair, StoredPair) else "pdp"


def _rows(columns: str, low: float, high: float) -> Packed:
    """Packed numbers with a row for each cell that has rows."""
    return Packed(Numbers((Side("stands"), Side(columns)), low, high))


DIFFERENCES: dict[str, Kind] = {
    "mean": _rows("ways", -LARGEST, LARGEST),
    "products": _rows("products", -(LARGEST**2), LARGEST**2),
}
WEIGHTS = Packed(Numbers((Side("stands"),), 0, HEAVY))
STANDS: dict[str, Kind] = {
    "stands": Numbers((Side("stands"),), 0, whole=True, rising=True),
    "count": Numbers((Side("stands"),), 0, whole=True),
    "weight": Maybe(WEIGHTS),
    "weight_squares": Maybe(Packed(Numbers((Side("stands"),), 0, HEAVY**2))),
    "places": Packed(Numbers((Side("stands"), Side("powers", least=8, most=8)), 0, HEAVY)),
}
FILLED_CELLS = Record(FilledCells, {**STANDS, **DIFFERENCES})
FILLED_STANDS = Record(FilledStands, STANDS)
OTHER_OUTPUT = Record(OtherOutput, DIFFERENCES)
PAIR_AXIS = Record(
    PairAxis,
    {
        "nodes": Numbers((Side("nodes", least=1, most=MOST_CELLS + 1),), -FAR, FAR, rising=True),
        "labels": Several(TEXT, unique=True),
        "kind": Text(get_args(AxisKind)),
        "closed": Text(get_args(Closed)),
    },
    _agree_axis,
)
SQUARE = Record(Square, {"raw": Number(), "noise": Number()})
BOTH = Side("sides", least=2, most=2)
STORED_PAIR = Record(
    StoredPair,
    {
        "names": NAMES,
        "output": TEXT,
        "axes": Several(Part({"pair_axis": PAIR_AXIS}), BOTH),
        "moments": Part({"filled_cells": FILLED_CELLS, "other_output": OTHER_OUTPUT}),
        "main": Several(Alone(Numbers((Side("nodes"),), -LARGEST, LARGEST)), BOTH),
        "square": Part({"square": SQUARE}),
        "variance": VARIANCE,
        "n_left_out": COUNT,
        "reading": Text(get_args(Reading)),
        "smooth": Truth(),
        "way": Text(get_args(Way)),
        "notes": NOTES,
    },
    _agree_pair,
)
PAIR_INDEX = Record(
    PairIndex,
    {
        "names": NAMES,
        "output": TEXT,
        "method": Text(tuple(m for m in get_args(PairMethod) if m not in ("ale", "pdp"))),
        "strength": Number(0, unknown=True),
        "variance": VARIANCE,
        "h2": Number(unknown=True),
        "n_left_out": COUNT,
        "notes": NOTES,
    },
)
STORED_PROFILE = Record(
    StoredProfile,
    {
        "names": NAMES,
        "output": TEXT,
        "axes": Several(Part({"pair_axis": PAIR_AXIS}), BOTH),
        "moments": Part({"filled_stands": FILLED_STANDS}),
        "dependence": Numbers((Side("first nodes"), Side("second nodes")), -LARGEST, LARGEST),
        "single": Several(Alone(Numbers((Side("nodes"),), -LARGEST, LARGEST)), BOTH),
        "variance": VARIANCE,
        "n_left_out": COUNT,
        "notes": NOTES,
    },
    _agree_profile,
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
        "features": Several(TEXT, Side("features", least=2), unique=True),
        "outputs": Several(TEXT, Side("outputs", least=1), unique=True),
        "pairs": Several(
            Part(
                {
                    "pair_effect": STORED_PAIR,
                    "pair_profile": STORED_PROFILE,
                    "pair_index": PAIR_INDEX,
                }
            ),
            Side("pairs", least=1),
        ),
        "importance": Numbers((Side("features"), Side("outputs")), 0, unknown=True),
        "variance": Numbers((Side("outputs"),), 0, unknown=True),
        "provenance": Named(Anything(), {"rows": COUNT, "rows_in_table": COUNT}),
        "notes": NOTES,
    },
    build=_build_interactions,
)
