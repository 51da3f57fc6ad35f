"""Settings of interactions: which pairs, on which cells, by which differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rhale.effects.binning.partition import Edges, Fixed, Partition, Quantile, require_count
from rhale.errors import BadSettingError
from rhale.interaction.strength import Reading
from rhale.naming import read_word

MeasuredPairMethod = Literal["ale", "h", "greenwell", "pdp"]
FeatureKey = str | int
PRESET_PARTITIONS = (Fixed, Quantile, Edges)  # partitions that need no effects to be chosen
MIN_PAIR_CELLS, MAX_DEFAULT_PAIR_CELLS, ROWS_PER_PAIR_CELL = 5, 20, 5
FEW_PAIR_ROWS = 50  # below these a note is due
MAX_PAIR_CELLS = 64  # a side: errors need a number for each two cells of a pair, 1.5 GB with these


@dataclass(frozen=True, eq=False)
class PairSettings:
    """Arguments of `rhale.interactions` that `rhale.explain` does not have; see there."""

    pairs: Any = None  # which pairs
    method: MeasuredPairMethod = "ale"  # what is measured
    cells: Any = None  # cells of numbers
    reading: Reading = "rows"  # where rows count
    smooth: bool = False  # whether slopes of neighbouring cells are evened out
    # fingerprint of the effects by which pairs are chosen, for checkpoints: finished work of other
    # pairs belongs to another run
    explanation: str = ""

    def __post_init__(self) -> None:
        for name, known in (
            ("method", get_args(MeasuredPairMethod)),
            ("reading", get_args(Reading)),
        ):
            object.__setattr__(self, name, read_word(name, getattr(self, name), known))
        smooth: Any = self.smooth
        if not isinstance(smooth, bool):
            msg = f"smooth={smooth!r} is neither True nor False"
            raise BadSettingError(msg)
        object.__setattr__(self, "pairs", read_pairs(self.pairs))
        self._check_cells()
        if self.method == "pdp" and (self.pairs is None or isinstance(self.pairs, int)):
            msg = (
                f"method='pdp' with pairs={self.pairs!r} would choose pairs by itself, and evaluates "
                "the model on every point of a grid for each row and pair, 441 by default; name "
                "them, pairs=[('a', 'b')], or accept the cost of pairs='all'"
            )
            raise BadSettingError(msg)
        # H and Greenwell's index have no surface, partial dependence no differences in cells
        usual: dict[str, Any] = {"cells": None, "reading": "rows", "smooth": False}
        about = "surfaces"
        if self.method == "pdp":
            del usual["cells"]
            about = "differences in cells"
        for name, value in usual.items():
            if self.method != "ale" and getattr(self, name) != value:
                msg = (
                    f"{name}={getattr(self, name)!r} is about {about}, and method={self.method!r} "
                    "has none; leave it out, or use method='ale'"
                )
                raise BadSettingError(msg)

    def _check_cells(self) -> None:
        """Refuse cells that no pair can have: one partition, one for each side, or a mapping."""
        cells = self.cells
        if cells is None or isinstance(cells, Mapping):
            for partition in (cells or {}).values():
                _require_cells(partition)
        elif isinstance(cells, tuple | list):
            if len(cells) != 2:
                msg = f"cells= has {len(cells)} partitions; a pair has two sides"
                raise BadSettingError(msg)
            if not isinstance(self.pairs, tuple) or len(self.pairs) != 1:
                msg = (
                    "cells= gives two partitions, one for each side of a pair; name that pair, "
                    "pairs=[('a', 'b')], or pass a mapping from feature to partition"
                )
                raise BadSettingError(msg)
            for partition in cells:
                _require_cells(partition)
        else:
            _require_cells(cells)

    @property
    def bins(self) -> Any:
        """Cells as partitions, by feature where they differ; None for the default."""
        cells = self.cells
        if isinstance(cells, tuple | list):
            return dict(zip(self.pairs[0], map(_as_partition, cells), strict=True))
        if isinstance(cells, Mapping):
            return {feature: _as_partition(given) for feature, given in cells.items()}
        is_number = isinstance(cells, int | np.integer)
        return None if cells is None or is_number else cells

    def n_cells(self, n_rows: float) -> int:
        """Cells of a side where none were given: 5 rows a cell of a pair, on average."""
        if isinstance(self.cells, int | np.integer):
            return int(self.cells)
        if self.method == "pdp":  # points of a grid need no rows of their own
            return MAX_DEFAULT_PAIR_CELLS
        return int(
            np.clip(np.sqrt(n_rows / ROWS_PER_PAIR_CELL), MIN_PAIR_CELLS, MAX_DEFAULT_PAIR_CELLS)
        )


def read_pairs(pairs: Any) -> str | int | tuple[tuple[FeatureKey, FeatureKey], ...] | None:
    """Check the argument `pairs`."""
    if pairs is None or (isinstance(pairs, str) and pairs == "all"):
        return pairs
    if isinstance(pairs, int | np.integer) and not isinstance(pairs, bool):
        require_count("pairs", pairs)
        return int(pairs)
    if not isinstance(pairs, str) and isinstance(pairs, Sequence | set | frozenset):
        found = [_parse_pair(pair) for pair in pairs]
        # two names instead of a list of pairs: pairs=("ab", "cd")
        if found and not all(isinstance(name, str) for name in pairs):
            return tuple(found)
    msg = f"pairs={pairs!r:.60} is not understood; pass 'all', a number, or pairs: [('a', 'b')]"
    raise BadSettingError(msg)


def _parse_pair(pair: Any) -> tuple[FeatureKey, FeatureKey]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        msg = f"pairs= lists {pair!r:.60}, which is not a pair of features; write ('a', 'b')"
        raise BadSettingError(msg)
    first, second = pair
    if first == second:
        msg = f"pairs= has {first!r} with itself; a pair needs two features"
        raise BadSettingError(msg)
    return first, second


def _as_partition(given: Any) -> Partition:
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return Quantile(int(given))
    partition: Partition = given
    return partition


def _require_cells(given: Any) -> None:
    """Refuse what cannot divide an axis before any effect is known."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        require_count("cells", given)
        if not 2 <= given <= MAX_PAIR_CELLS:
            msg = f"cells={given} is not between 2 and {MAX_PAIR_CELLS}, so many a side; 20 to 40 are usual"
            raise BadSettingError(msg)
    elif not isinstance(given, PRESET_PARTITIONS):
        msg = (
            f"cells={given!r:.60} is not understood; pass a number, rhale.Quantile(20), "
            "rhale.Fixed(20) or rhale.Edges([...]), two of these for one pair, or a mapping from "
            "feature to one (bins that are searched need effects of one feature)"
        )
        raise BadSettingError(msg)
    elif count_cells(given) > MAX_PAIR_CELLS:
        msg = f"cells={given!r:.60} has {count_cells(given)} cells; pairs have at most {MAX_PAIR_CELLS} a side"
        raise BadSettingError(msg)


def count_cells(given: Fixed | Quantile | Edges) -> int:
    """Cells of a partition, at most."""
    return len(given.edges) - 1 if isinstance(given, Edges) else given.n_bins
