"""Pairs as files hold them: no cells without rows, and nothing twice that outputs share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from rhale.errors import BadFileError, BadSettingError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import POWERS, PairMoments
from rhale.kernels.pair_strength import Reading, Square
from rhale.kernels.records import same_value
from rhale.results.pair_effect import PairEffect, PairIndex, PairResult, Way
from rhale.results.pair_profile import PairProfile
from rhale.results.plain_values import written_fields
from rhale.results.stored_profiles import (
    FilledProfileCells,
    StoredProfile,
    fill_stands,
    restore_profile,
    store_profile,
)

MAX_STORED_CELLS = 2**14  # of one pair: errors of more take gigabytes
MAX_STORED_NUMBERS = 2**26  # of all pairs, with cells that have no rows: half a gigabyte


@dataclass(frozen=True, eq=False)
class FilledPairCells:
    """Sums of the cells that have rows.

    Attributes
    ----------
    stands : ndarray of shape (n_filled,)
        Which cells they are, numbered row by row.
    count : ndarray of shape (n_filled,)
        Rows.
    weight, weight_squares : ndarray of shape (n_filled,), or None
        Of `PairMoments`; None where they are the counts, as rows without weights have them.
    places : ndarray of shape (n_filled, 8)
        Of `PairMoments`.
    mean : ndarray of shape (n_filled, n_ways)
        Of one output.
    products : ndarray of shape (n_filled, n_ways * n_ways)
        Of one output.
    """

    stands: IntArray
    count: IntArray
    weight: FloatArray | None
    weight_squares: FloatArray | None
    places: FloatArray
    mean: FloatArray
    products: FloatArray


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
        """Where rows can stand on both sides."""
        return self.axes[0].n_stands, self.axes[1].n_stands

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
        if isinstance(pair, PairEffect):
            stored.append(_store(pair, before))
            before = pair
        else:
            stored.append(store_profile(pair) if isinstance(pair, PairProfile) else pair)
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


def _store(pair: PairEffect, before: PairEffect | None) -> StoredPair:
    cells: FilledPairCells | OtherOutput | None = None
    if before is not None and before.names == pair.names:
        cells = list_other_output(pair.moments, before.moments)
    named = {name: getattr(pair, name) for name in written_fields(pair)}
    return StoredPair(**{**named, "moments": cells or list_filled_cells(pair.moments)})


def restore_pairs(stored: Sequence[StoredPair | StoredProfile | PairIndex]) -> list[PairResult]:
    """Make pairs of what is stored, whose sums fit their axes.

    Raises
    ------
    BadFileError
        If a pair shares its rows with one before it that is not there, or is another.
    """
    made: list[PairResult] = []
    before: PairEffect | None = None
    stands: IntArray = np.empty(0, dtype=np.int64)
    for i, pair in enumerate(stored):
        if not isinstance(pair, StoredPair):
            made.append(restore_profile(pair) if isinstance(pair, StoredProfile) else pair)
            continue
        if isinstance(pair.moments, FilledPairCells):
            moments, stands = fill_cells(pair.moments, pair.shape), pair.moments.stands
        else:
            _require_same_rows(pair, before, stands.size, f"pairs[{i}].moments")
            moments = fill_other_output(pair.moments, stands, before.moments)  # type: ignore[union-attr]
        named = {name: getattr(pair, name) for name in written_fields(pair)}
        before = PairEffect(**{**named, "moments": moments})
        made.append(before)
    return made


def _require_same_rows(
    pair: StoredPair, before: PairEffect | None, n_stands: int, where: str
) -> None:
    """Refuse to share the rows of a pair that is another one."""
    if before is None or (before.names, before.axes) != (pair.names, pair.axes):
        msg = f"{where} are not those of the pair before it"
        raise BadFileError(msg)
    if len(pair.moments.mean) != n_stands:
        msg = f"{where} has {len(pair.moments.mean)} rows for {n_stands} cells"
        raise BadFileError(msg)


def list_filled_cells(moments: PairMoments) -> FilledPairCells:
    """List the cells that have anything to tell."""
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
    """Give the cells their places among all, which have nothing to tell.

    Parameters
    ----------
    cells : FilledPairCells
        What is known.
    shape : pair of int
        Where rows can stand on both sides.
    """
    mean, products = _spread_ways(OtherOutput(cells.mean, cells.products), cells.stands, shape)
    rows = FilledProfileCells(
        **{f.name: getattr(cells, f.name) for f in fields(FilledProfileCells)}
    )
    return replace(fill_stands(rows, shape), mean=mean, products=products)


def fill_other_output(output: OtherOutput, stands: IntArray, before: PairMoments) -> PairMoments:
    """Sums of one more output, which has rows, weights and places of the one before."""
    mean, products = _spread_ways(output, stands, before.count.shape)
    return replace(before, mean=mean, products=products)


def _spread_ways(
    output: OtherOutput, stands: IntArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    n_ways = output.mean.shape[1]
    mean = _expand_filled_cells(output.mean, stands, shape)
    products = _expand_filled_cells(output.products, stands, shape)
    return mean[None], products.reshape(1, *shape, n_ways, n_ways)


def _expand_filled_cells(rows: FloatArray, stands: IntArray, shape: tuple[int, ...]) -> FloatArray:
    """A row for each cell, of zeros where nothing is told: (*shape, n_columns)."""
    found = np.zeros((shape[0] * shape[1], rows.shape[1]))
    found[stands] = rows
    return found.reshape(*shape, rows.shape[1])
