"""Bins that a reader may choose instead: few cells, plain fits, a price for every number of bins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.adaptive import Adaptive
from rhale.kernels.axis_row import AxisRow
from rhale.kernels.gaps import Sides, read_sides
from rhale.kernels.moments import Moments
from rhale.kernels.noise import local_noise
from rhale.kernels.pure_error import FilledCells
from rhale.results.bin_fits import fit_effect
from rhale.results.effect import Effect
from rhale.results.fit import ModelCells, Unbinned, bin_all, offer_cells
from rhale.results.result import Result, is_constant

N_LIMITS = 60  # of each kind: a page has room for so many cells
PRICES = tuple(2.0**power for power in range(-1, 12, 2))  # of a parameter, where bins come finished
MOST_EFFECTS = 60  # whose bins may be changed: a page stays small, and is soon made
FEWEST_ROWS = 20.0  # below that there is nothing to choose


class PlainCells(NamedTuple):
    """What bins are chosen from by the mean effect alone.

    Attributes
    ----------
    moments : Moments
        Of one output, in at most about twice `N_LIMITS` cells; where a black box has steps, the
        series of its spread and of their noise are there, too.
    noise : ndarray of shape (n_cells,)
        Local noise.
    sides : Sides
        Wide gaps, and what the rows beside them suggest.
    """

    moments: Moments
    noise: FloatArray
    sides: Sides


class OtherBins(NamedTuple):
    """How the bins of one effect may be changed.

    Attributes
    ----------
    cells : PlainCells or None
        From which they are found; None where bins are given.
    finished : tuple of Effect
        The same effect with fewer and more bins, where the curve is the model's own and cells do
        not tell it.
    """

    cells: PlainCells | None = None
    finished: tuple[Effect, ...] = ()


def find_other_bins(
    effects: Sequence[Result], cells: Mapping[str, Moments], outputs: Sequence[str]
) -> tuple[OtherBins | None, ...]:
    """Say for every effect how its bins may be changed; None where they cannot be.

    Parameters
    ----------
    effects : sequence of Effect, LevelEffect or Profile
        Of the cells.
    cells : mapping of str to Moments
        Fine cells of the features, with the series of all outputs.
    outputs : sequence of str
        All outputs, in the order of the series.

    Notes
    -----
    Of many effects the largest ones, over all outputs.
    """
    sizes = np.nan_to_num([effect.importance for effect in effects])
    largest = set(np.argsort(-sizes, kind="stable")[:MOST_EFFECTS].tolist())
    return tuple(
        _find_one(effect, cells.get(effect.name), outputs) if place in largest else None
        for place, effect in enumerate(effects)
    )


def _find_one(effect: Result, cells: Moments | None, outputs: Sequence[str]) -> OtherBins | None:
    if cells is None or effect.parts != "bins" or is_constant(effect):
        return None
    own = cells.series(outputs.index(effect.output))
    if own.total_rows < FEWEST_ROWS:
        return None
    if own.is_stepped:  # the spread of a bin is no sum of what its cells have
        return OtherBins(finished=tuple(finish_bins(cast(Effect, effect), own)))
    return OtherBins(offer_plain(own))


def plain_search(cells: Moments, penalty: float) -> Adaptive:
    """How bins are searched by the mean effect alone, at some price of a parameter."""
    closed = cells.grid.closed
    return Adaptive(n_limits=N_LIMITS, penalty=penalty, spread_bins="mean", closed=closed)


def offer_plain(cells: Moments) -> PlainCells:
    """Unite the cells of one output to few, and measure what a search needs."""
    search = plain_search(cells, PRICES[0])
    (offer,) = offer_cells([Unbinned("", "", [ModelCells(cells)], search)])
    (moments,) = offer.united
    return PlainCells(
        moments, local_noise(FilledCells.of(AxisRow.of([moments]))), read_sides(moments)
    )


def fit_plain(name: str, output: str, cells: PlainCells, penalty: float) -> Effect:
    """Search bins at some price, and fit them plainly: what a page does in the browser.

    Parameters
    ----------
    name, output : str
        Feature and output.
    cells : PlainCells
        Among which to choose.
    penalty : float
        As in `Adaptive`.

    Notes
    -----
    As with given bins, the curve is that of the fits and what they miss counts as spread; that
    the bins were searched counts in the intervals.
    """
    cuts = plain_search(cells.moments, penalty)(cells.moments)
    plain = replace(cuts, trust=None, noise=None, followed=None)
    return fit_effect(name, output, cells.moments, plain)


def finish_bins(effect: Effect, cells: Moments) -> Iterator[Effect]:
    """Bins of a model with steps, from many to few; each number of bins once."""
    models, seen = [ModelCells(cells, effect.stairs, effect.row_spread)], {effect.n_parts}
    for price in PRICES:
        search = plain_search(cells, price)
        ((made,),) = bin_all([Unbinned(effect.name, effect.output, models, search)])
        if made.n_parts not in seen:
            yield made
        seen.add(made.n_parts)
        if made.n_parts == 1:
            return
