"""Adaptive bins: constant or linear, as many as the data can resolve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from rhale.effects.binning.axis import (
    BatchedCells,
    FeatureAxis,
    join_batch_limits,
    nearest,
    pad_batch_values,
)
from rhale.effects.binning.cells import Closed, require_closed, uniform_edges
from rhale.effects.binning.gaps import are_gaps, locate_gaps
from rhale.effects.binning.moments import SMALLEST_NORMAL, Moments, about_line
from rhale.effects.binning.noise import (
    NonEmptyCells,
    cut_outliers,
    excess,
    follow_cells,
    local_noise,
    pure_squares,
    residual_squares,
)
from rhale.effects.binning.partition import (
    ENOUGH_SPREAD_ROWS,
    Cuts,
    is_number_setting,
    require_count,
)
from rhale.effects.binning.segments import (
    CONSTANTS,
    LEAST_SHARE,
    LINES,
    RUN_FIELDS,
    SPREADS,
    CellRuns,
    alike,
    batch_axes_by_cells,
    cheapest_paths,
    each_axis,
    find_cheapest,
    list_runs,
    runs_by_end,
    stack_run_costs,
    trace_all,
    weights_of,
    zero_rounding_squares,
)
from rhale.errors import BadSettingError
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.jit import choose_compiled_loops

Weight = Literal["rows", "width", "geometric"]
SpreadBins = Literal["joint", "mean", "own"]
MIN_ROWS_PER_BIN = 5.0
FEWEST_LIMITS, MOST_LIMITS = 100, 200
LIMITS_GROW_FROM, LIMITS_GROWTH = 3000, 0.301  # rows; twice as many limits for ten times the rows
STEPPED_SHARE = 1 / 20  # of the rows: secants over overlapping windows resolve no less
SPREAD_SHARE, FEWEST_SPREAD_ROWS = 1 / 10, 20.0  # a bin that is cut for the spread's sake
SPREAD_LIMIT_TOLERANCE = 1 / 50  # of the rows, between a limit of the spread and one of a bin
SPREAD_PENALTY = 4.0
LEAST_SPREAD = 0.05  # of the local noise: smaller squares are alike
# local effects are measured in the time that one run is priced: for the choice of compiled loops
PRICED, PRICED_SPREAD = 3, 1
TAIL_COST_SHARE = 0.15  # how much outliers raise that price, although they are cut off


@dataclass(frozen=True)
class Adaptive:
    """Variable-size bins with a constant or a linear effect each; the usual choice.

    Parameters
    ----------
    n_limits : int, optional
        Candidate limits, so many at equal steps of x and so many at equal counts, each moved
        midway between two values; all midpoints where there are no more values than this. If
        not given 100, growing to 200 between 3,000 and 30,000 rows.
    linear : bool
        Whether a bin may be linear.
    weight : {"rows", "width", "geometric"}
        What a bin's misfit counts by: its rows, its width as in the paper, or the root of both.
    penalty : float
        What a parameter costs, in units of log N times the local noise.
    min_rows : float, optional
        Smallest number of rows in a bin; 5 if not given, and a twentieth of all rows where local
        effects are secants of a model with steps.
    spread_bins : {"joint", "mean", "own"}
        "joint": a bin also ends where the spread between rows changes. "mean": bins look at the
        mean effect alone. "own": as "mean", and the spread gets bins of its own.
    closed : {"left", "right"}
        Which limit belongs to a bin.

    Notes
    -----
    Minimises the sum over bins of weight (s² + p penalty log(N) v / n): s² is the variance about
    the bin's fit with p = 1 or 2 parameters, v the local noise, n the rows of the bin. With
    "rows" that is the residual sum of squares with a price for every parameter, and a constant
    effect stays one bin at any number of rows. "width" and "geometric" reward cuts where the
    density of rows changes, whatever the effect: with many rows they cut a constant effect.

    A stretch without rows of at least 5 % of the range becomes a bin of its own, interpolated,
    if the bins on its sides differ.

    O(n_limits²), whatever the number of rows.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 401)
    >>> found = rhale.effect(x, np.where(x < 0.25, 1.0, 2 * x), bins=Adaptive())
    >>> found.edges.round(2), found.slope.round(2)
    (array([0.  , 0.25, 1.  ]), array([0., 2.]))
    """

    n_limits: int | None = None
    linear: bool = True
    weight: Weight = "rows"
    penalty: float = 2.0
    min_rows: float | None = None
    spread_bins: SpreadBins = "joint"
    closed: Closed = "left"

    def __post_init__(self) -> None:
        if self.n_limits is not None:
            require_count("n_limits", self.n_limits)
        require_closed(self.closed)
        for name, kind in (("weight", Weight), ("spread_bins", SpreadBins)):
            value = getattr(self, name)
            if value not in get_args(kind):
                msg = f"{name}={value!r} is not known; use one of {', '.join(get_args(kind))}"
                raise BadSettingError(msg)
        if not (is_number_setting(self.penalty) and 0 < self.penalty < np.inf):
            msg = f"penalty={self.penalty!r} is not a positive number; 2 is usual"
            raise BadSettingError(msg)
        if self.min_rows is not None and not (
            is_number_setting(self.min_rows) and 0 <= self.min_rows < np.inf
        ):
            msg = f"min_rows={self.min_rows!r} is not a number of rows"
            raise BadSettingError(msg)

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Midpoints between distinct values.

        Parameters
        ----------
        axis : FeatureAxis
            What is known of the feature: its range, values and their weights.

        Returns
        -------
        ndarray of shape (n_cells + 1,)
            Increasing, in units of the feature.

        Examples
        --------
        >>> from rhale.effects.binning.axis import FeatureAxis
        >>> axis = FeatureAxis(0.0, 4.0, np.arange(5.0), np.ones(5), 5.0)
        >>> Adaptive().candidates(axis)
        array([0. , 0.5, 1.5, 2.5, 3.5, 4. ])
        """
        between = axis.values[:-1] + 0.5 * np.diff(axis.values)
        between = between[(between > axis.low) & (between < axis.high)]
        n_limits = self._count_limits(axis)
        if between.size and axis.values.size > n_limits:
            even = uniform_edges(axis.low, axis.high, n_limits)[1:-1]
            counted = axis.quantiles(np.arange(1, n_limits) / n_limits)
            between = np.unique(nearest(between, np.concatenate([even, counted])))
        return np.concatenate([[axis.low], between, [axis.high]])

    def gaps(self, axis: FeatureAxis, cells: Moments) -> FloatArray:
        """Gaps between rows that are to be cells of their own, shape (n_gaps, 2).

        Parameters
        ----------
        axis : FeatureAxis
            What is known of the feature: its range, values and their weights.
        cells : Moments
            What was measured in the cells.

        Returns
        -------
        ndarray of shape (n_gaps, 2)

        Examples
        --------
        >>> from rhale.effects.binning.axis import FeatureAxis
        >>> axis = FeatureAxis(0.0, 4.0, np.arange(5.0), np.ones(5), 5.0)
        >>> from rhale.effects.binning.cells import Grid
        >>> from rhale.effects.binning.moments import measure_moments
        >>> cells = measure_moments(Grid(Adaptive().candidates(axis)), axis.values, axis.values)
        >>> Adaptive().gaps(axis, cells).shape  # few values have a gap after each of them
        (0, 2)
        """
        # few values have a gap after each of them
        many = axis.values.size > self._count_limits(axis)
        return locate_gaps(cells) if many else np.empty((0, 2))

    def _count_limits(self, axis: FeatureAxis) -> int:
        """How many candidate limits of each kind there are."""
        if self.n_limits is not None:
            return int(self.n_limits)
        grown = FEWEST_LIMITS * (max(axis.rows, 1.0) / LIMITS_GROW_FROM) ** LIMITS_GROWTH
        return int(np.rint(min(max(FEWEST_LIMITS, grown), MOST_LIMITS)))

    def __call__(self, moments: Moments) -> Cuts:
        """Find the cheapest bins, then where the spread changes, then where a fit is too plain."""
        (cuts,) = self.choose([moments])
        return cuts

    def choose(self, batch: Sequence[Moments]) -> list[Cuts]:
        """Choose bins of several axes, of each as if it were alone.

        Parameters
        ----------
        batch : sequence of Moments
            Of one series each.

        Returns
        -------
        list of Cuts

        Examples
        --------
        >>> from rhale.effects.binning.cells import Grid
        >>> from rhale.effects.binning.moments import measure_moments
        >>> x = np.arange(100.0)
        >>> grid = Grid(np.linspace(0, 99, 11))
        >>> steps = [measure_moments(grid, x, np.where(x < middle, 0.0, 1.0)) for middle in (29.7, 69.3)]
        >>> [cuts.limits.tolist() for cuts in Adaptive().choose(steps)]
        [[0, 3, 10], [0, 7, 10]]
        """
        found = dict[int, Cuts]()
        for places in alike(batch):
            found |= zip(places, self._choose([batch[k] for k in places]), strict=True)
        return [found[k] for k in range(len(batch))]

    def _choose(self, batch: Sequence[Moments]) -> Iterator[Cuts]:
        """Choose bins of axes with about as many cells each."""
        # 1. how much local effects vary by themselves: the unit in which parameters are priced
        axes = BatchedCells.of(batch)
        cells = NonEmptyCells.of(axes)
        noise = local_noise(cells)
        rows = np.array([moments.total_rows for moments in batch])
        if self.min_rows is not None:
            least = [self.min_rows] * len(batch)
        else:
            least = [
                max(MIN_ROWS_PER_BIN, STEPPED_SHARE * m.total_rows)
                if m.is_stepped
                else MIN_ROWS_PER_BIN
                for m in batch
            ]
        # 2. the cheapest bins of the mean effect, by dynamic programming
        means = MeanSearch(self, axes, noise, rows, np.array(least))
        paths = find_cheapest(means)
        limits = [
            np.array([0, moments.grid.n_cells]) if path is None else path
            for path, moments in zip(paths, batch, strict=True)
        ]
        linear = means.are_linear(limits)
        # 3. where the spread about these fits changes: what they leave over, so the mean comes
        # first
        spread: Sequence[IntArray | None] = [None] * len(batch)
        parts = spread
        if self.spread_bins != "mean":
            kinds = np.concatenate(linear)
            squares = axes.split(residual_squares(axes.cells, axes.join(limits), kinds))
            # a spread that is far below the noise is not worth a bin
            most = np.maximum(pure_squares(cells), LEAST_SPREAD * noise)
            spread = found = spread_paths(batch, squares, least, axes.split(most))
            if self.spread_bins == "joint":
                moved = list(map(move_to_near, found, limits, batch))
                limits = list(map(np.union1d, limits, moved))
                spread, parts = parts, moved
                # both halves of a line that was cut may be constant: their kinds are chosen anew
                if any(own.size > of.size + 1 for own, of in zip(limits, linear, strict=True)):
                    linear = means.are_linear(limits)
        # 4. where a fit is too plain, the curve follows the means of pooled cells
        for k, followed in enumerate(follow_cells(axes, batch, axes.split(noise), limits, linear)):
            # one bin can always be had; that is worth a note only where a number of rows was given
            is_noted = paths[k] is None and self.min_rows is not None
            note = f"no bin can have {least[k]:g} rows out of {batch[k].total_rows:g}: one bin"
            yield Cuts(
                limits=limits[k],
                linear=linear[k],
                notes=(note,) if is_noted else (),
                trust=followed.cell_weight,
                noise=followed.noise,
                followed=followed.cells,
                spread_limits=spread[k],
                spread_parts=parts[k],
                is_searched=True,
            )


@dataclass(frozen=True, eq=False)
class MeanSearch:
    """A search for bins that are cheapest as far as the mean effect goes, constant or linear."""

    settings: Adaptive
    axes: BatchedCells
    noise: FloatArray  # (n_cells,): their local noise
    # rows, least (n_axes,): effective rows of each axis, and the fewest in a bin
    rows: FloatArray
    least: FloatArray

    @property
    def sizes(self) -> IntArray:
        """How many cells each axis has."""
        return self.axes.sizes

    @property
    def penalty(self) -> FloatArray:
        """What a parameter costs, in units of the local noise, shape (n_axes,)."""
        # log N for each parameter, as in BIC (Schwarz, 1978), times the setting
        return np.asarray(self.settings.penalty * np.log(np.maximum(self.rows, 2.0)))

    @property
    def needed(self) -> FloatArray:
        """Rows that a bin must have, shape (n_axes,); a variance needs two."""
        return np.asarray(np.maximum(self.least, 2.0) * (1 - 1e-12))  # they carry rounding

    @cached_property
    def _are_gaps(self) -> BoolArray:
        """Whether each cell is a wide one without rows."""
        left, right = self.axes.ends
        span = np.repeat(self.axes.spans, self.sizes)
        return are_gaps(self.axes.cells.count, right - left, span)

    @cached_property
    def gaps(self) -> list[IntArray]:
        """Wide cells without rows, of each axis."""
        return list(map(np.flatnonzero, self.axes.split(self._are_gaps)))

    def unite(self, limits: Sequence[IntArray]) -> MeanSearch:
        """Search among fewer limits."""
        starts, weight = self.axes.join(limits)[:-1], self.axes.cells.weight
        total, summed = (np.add.reduceat(own, starts) for own in (weight, weight * self.noise))
        noise = np.divide(summed, total, out=np.zeros(total.size), where=total > 0)
        return replace(self, axes=self.axes.unite(limits), noise=noise)

    def cheapest_paths(self) -> list[IntArray | None]:
        """Limits of the cheapest bins of each axis; None where it may have none.

        Where it pays, a compiled loop finds them (`stats.jit`): its prices have the same bits.
        """
        cells, sizes = self.axes.cells, self.sizes.tolist()
        # what adds up over cells, and what merges by deviations: all that a price needs of a run
        sums = [*weights_of([cells]), cells.weight * self.noise]
        means, products = (cells.mean_x, cells.mean[0]), (cells.sxx, cells.sxd[0], cells.sdd[0])
        loops = choose_compiled_loops(PRICED * int(self.sizes @ self.sizes) // 2)
        if loops is not None and self.settings.weight == "rows":
            prices = np.stack([self.penalty, self.needed, np.zeros(len(sizes))])
            every = zip(RUN_FIELDS, (sums[0], *sums[-2:], *means, *products), strict=True)
            runs = list_runs(cells.weight.size, **dict(every))
            kind = LINES if self.settings.linear else CONSTANTS
            found = loops.search(runs, self.sizes, self._are_gaps, prices, kind, len(sums) > 2)
            return trace_all(self.axes.split(found[0]), found[1])
        padded = [pad_batch_values(np.stack(own), self.sizes) for own in (sums, means, products)]
        parts = [list(self._prices(some, *padded)) for some in batch_axes_by_cells(sizes)]
        return cheapest_paths(stack_run_costs(parts), sizes)

    def _prices(
        self, some: slice, sums: FloatArray, means: FloatArray, products: FloatArray
    ) -> Iterator[FloatArray]:
        """What every run of some axes would cost as one bin, as in `CellRuns`; inf where none may be."""
        most = int(self.sizes[some].max())
        needed, penalty = each_axis(self.needed[some]), each_axis(self.penalty[some])
        for runs in runs_by_end(*(own[:, some, :most] for own in (sums, means, products))):
            rows = runs.rows(weighted=len(sums) > 2)
            price, _ = _misfit(runs, rows, penalty, linear=self.settings.linear)
            price *= self._count(some, runs, rows)
            price[rows < needed] = np.inf
            # a gap is a bin of its own for nothing, and no other bin starts or ends with one: else
            # the bins beside it would take the gap in, and stretch their fits across it
            for own, gaps in zip(price, self.gaps[some], strict=True):
                for gap in gaps[gaps < runs.first + len(own)]:
                    own[max(gap - runs.first, 0) :, gap] = np.inf
                    if gap >= runs.first:
                        own[gap - runs.first] = np.inf
                        own[gap - runs.first, gap] = 0.0
            yield price

    def _count(self, some: slice, runs: CellRuns, rows: FloatArray) -> FloatArray:
        """What the misfit of every run of some axes counts by, times rows / weight.

        Up to a factor of each axis, which no bins depend on.
        """
        if self.settings.weight == "rows":
            return rows
        left, right = (pad_batch_values(own, self.sizes)[some] for own in self.axes.ends)
        weight = np.where(rows > 0, runs.sums[0], 1.0)
        wide = np.maximum(runs.spans(left, right), 0.0)
        counted = wide if self.settings.weight == "width" else np.sqrt(wide * weight)
        return np.asarray(counted * (rows / weight))

    def are_linear(self, limits: Sequence[IntArray]) -> list[BoolArray]:
        """Whether each bin between these limits of each axis is cheaper as a line."""
        bins = self.axes.unite(limits)
        noise = np.add.reduceat(self.axes.cells.weight * self.noise, self.axes.join(limits)[:-1])
        own, penalty = bins.cells, np.repeat(self.penalty, bins.sizes)
        sdd = zero_rounding_squares(own.weight, own.mean[0], own.sdd[0])
        runs = CellRuns(0, np.stack([own.weight, noise]), np.stack([own.sxx, own.sxd[0], sdd]))
        _, is_line = _misfit(runs, own.rows, penalty, linear=self.settings.linear)
        return bins.split(is_line)


def _misfit(
    runs: CellRuns, rows: FloatArray, penalty: FloatArray, *, linear: bool
) -> tuple[FloatArray, BoolArray]:
    """Squares about the fit and price of its parameters, and whether that is a line.

    For each unit of weight that a row has: rows / weight is factored out.
    """
    # s² + p penalty v / n, with s² = S / (n - p) of the constant (p = 1) and of the line (p = 2);
    # arrays are reused in place, as there are n_cells² / 2 runs
    sxx, sxd, sdd = runs.products
    # runs of fewer than two rows are refused later, whatever their price here
    parameter = np.maximum(rows, 0.5)
    parameter *= parameter
    np.divide(runs.sums[-1], parameter, out=parameter)
    parameter *= penalty
    free = np.maximum(rows - 1, 0.5)
    misfit = np.divide(sdd, free, out=free)
    misfit += parameter
    if not linear:
        return misfit, np.zeros(misfit.shape, dtype=np.bool_)
    free = rows - 2
    sloped = about_line(sxx, sxd, sdd)
    sloped /= np.maximum(free, 1e-9)
    parameter *= 2
    sloped += parameter
    is_line = sloped < misfit
    is_line &= free > 1e-9
    np.copyto(misfit, sloped, where=is_line)
    return misfit, is_line


def spread_paths(
    batch: Sequence[Moments],
    squares: Sequence[FloatArray],
    fewest: Sequence[float],
    most: Sequence[FloatArray | None],
) -> list[IntArray]:
    """Limits between which the spread is constant, of several axes.

    `squares` (n_cells,): mean squared residual of each cell; `fewest`: rows that a bin must have,
    besides a tenth of all, or 150 where that is less; `most` (n_cells,) or None: what squares may
    count at most: the rest is misfit.
    """
    # Minimises the sum of n log(variance), twice the negative log-likelihood of normal residuals,
    # with a price for every bin that grows with the tails of the residuals: squares of heavy-tailed
    # ones vary more than those of normal ones.
    places, shares, prices = list[int](), list[FloatArray](), list[tuple[float, float, float]]()
    for k, moments in enumerate(batch):
        total, filled = moments.total_rows, moments.weight > 0
        level = float(moments.weight @ squares[k]) / float(moments.weight.sum())
        if np.count_nonzero(filled) < 3 or level <= 0.0:
            continue  # nothing to search
        # one odd row must not make a bin: outliers are cut off, and raise the price a little
        rows, tame = moments.rows[filled], np.zeros(filled.size)
        tame[filled] = cut_outliers(squares[k][filled], rows)
        outliers = 1 + TAIL_COST_SHARE * (excess(squares[k][filled], rows) - 1)
        cost = SPREAD_PENALTY * float(np.log(total)) * max(excess(tame[filled], rows), outliers)
        cap = most[k]
        if cap is not None:
            tame = np.minimum(tame, cap)  # misfit is no spread
        least = max(fewest[k], FEWEST_SPREAD_ROWS, min(SPREAD_SHARE * total, ENOUGH_SPREAD_ROWS))
        places.append(k)
        shares.append(tame)
        prices.append((level, cost, least * (1 - 1e-12)))
    found = [np.array([0, moments.grid.n_cells]) for moments in batch]
    if places:
        searched = [batch[k] for k in places]
        rows = np.concatenate([moments.row_shares for moments in searched])
        sums = np.stack([*weights_of(searched), rows, rows * np.concatenate(shares)])
        sizes = np.array([moments.weight.size for moments in searched])
        level_cost_least = (each_axis(own) for own in zip(*prices, strict=True))
        paths = find_cheapest(SpreadSearch(sums, sizes, *level_cost_least))
        for k, path in zip(places, paths, strict=True):
            found[k] = found[k] if path is None else path
    return found


@dataclass(frozen=True, eq=False)
class SpreadSearch:
    """A search for the cheapest bins of constant spread."""

    # (n_sums, n_cells): of the cells of all axes: weights, shares of the rows, and their squares
    sums: FloatArray
    sizes: IntArray  # (n_axes,): how many cells each axis has
    # (n_axes, 1, 1): mean square, what a bin costs, and the rows that it must have
    level: FloatArray
    cost: FloatArray
    least: FloatArray

    @property
    def gaps(self) -> list[IntArray]:
        """None: the spread of a gap is that of its neighbours."""
        return [np.empty(0, dtype=np.intp)] * self.sizes.size

    def unite(self, limits: Sequence[IntArray]) -> SpreadSearch:
        """Search among fewer limits."""
        sums = np.add.reduceat(self.sums, join_batch_limits(limits, self.sizes)[:-1], axis=1)
        return replace(self, sums=sums, sizes=np.array([own.size - 1 for own in limits]))

    def cheapest_paths(self) -> list[IntArray | None]:
        """Limits of the cheapest bins of each axis; None where it may have none."""
        sizes, n_cells = self.sizes.tolist(), self.sums.shape[1]
        loops = choose_compiled_loops(PRICED_SPREAD * int(self.sizes @ self.sizes) // 2)
        if loops is not None:
            prices = np.stack([own.ravel() for own in (self.cost, self.least, self.level)])
            squares, rows, squared = self.sums[-3:]  # where rows count alike, weights are squares
            given = {"weight": self.sums[0], "squares": squares, "noise": rows, "sdd": squared}
            runs, gaps = list_runs(n_cells, **given), np.zeros(n_cells, np.bool_)
            found = loops.search(runs, self.sizes, gaps, prices, SPREADS, len(self.sums) > 3)
            return trace_all(np.split(found[0], np.cumsum(self.sizes)[:-1]), found[1])
        sums = pad_batch_values(self.sums, self.sizes)
        parts = [list(self._prices(some, sums)) for some in batch_axes_by_cells(sizes)]
        return cheapest_paths(stack_run_costs(parts), sizes)

    def _prices(self, some: slice, sums: FloatArray) -> Iterator[FloatArray]:
        """What every run of some axes would cost as one bin, as in `CellRuns`."""
        most = int(self.sizes[some].max())
        for runs in runs_by_end(sums[:, some, :most]):
            held, squared = runs.sums[-2:]
            # twice the negative log-likelihood of normal residuals
            price = np.maximum(held, SMALLEST_NORMAL)
            np.divide(squared, price, out=price)
            price /= self.level[some]
            np.log(np.maximum(price, LEAST_SHARE, out=price), out=price)
            price *= held
            price += self.cost[some]
            price[runs.rows(weighted=len(sums) > 3) < self.least[some]] = np.inf
            yield price


def move_to_near(found: IntArray, limits: IntArray, moments: Moments) -> IntArray:
    """Move limits of the spread to inner limits of bins that are near: no bin of few rows is made."""
    inner, reached = limits[1:-1], np.append(0.0, np.cumsum(moments.rows))
    if not inner.size:
        return found
    # near is counted in rows between both limits; the ends of the axis stay
    near = inner[np.abs(reached[found][:, None] - reached[inner]).argmin(axis=1)]
    few = np.abs(reached[found] - reached[near]) < max(
        FEWEST_SPREAD_ROWS, SPREAD_LIMIT_TOLERANCE * reached[-1]
    )
    few[[0, -1]] = False
    return np.unique(np.where(few, near, found))
