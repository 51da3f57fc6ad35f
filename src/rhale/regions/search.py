"""The search for regions: gains of all cuts from histograms of residuals, pairs of splits, trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhale.regions.residuals import N_COARSE_CELLS, CodedRows, Codes, Residuals, Some, cut_evenly
from rhale.regions.rules import Branch, Rule, list_rules, locate_rows
from rhale.regions.settings import Regions
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

REGION_WEIGHT_ROUNDING = 1e-12  # of a weight: what rounding leaves of it


@dataclass(frozen=True, eq=False)
class Histogram:
    """Weights, and weighted sums of residuals, of any groups of rows and cells of the features."""

    weight: FloatArray  # (..., n_cells): weights
    sums: FloatArray  # (n_series, ..., n_cells): weighted sums of residuals

    def __add__(self, other: Histogram) -> Histogram:
        return Histogram(self.weight + other.weight, self.sums + other.sums)

    def __sub__(self, other: Histogram) -> Histogram:
        return Histogram(self.weight - other.weight, self.sums - other.sums)

    def __getitem__(self, groups: Any) -> Histogram:
        groups = groups if isinstance(groups, tuple) else (groups,)
        return Histogram(self.weight[groups], self.sums[(slice(None), *groups)])

    def total(self, axis: int = -2) -> Histogram:
        """Add up groups."""
        return Histogram(self.weight.sum(axis=axis), self.sums.sum(axis=axis))

    def cumulate(self, axis: int = -2) -> Histogram:
        """Add up groups one after the other."""
        return Histogram(self.weight.cumsum(axis=axis), self.sums.cumsum(axis=axis))


def fill_one(residuals: Residuals, some: Some, group: IntArray, n_groups: int) -> Histogram:
    """Fill the histogram of one grouping of some effects, shape (n_groups, n_cells)."""
    weight = residuals.weight[some]
    key = group * residuals.n_cells + residuals.cell[some]
    shape = (n_groups, residuals.n_cells)
    columns = [weight, *(weight * v for v in residuals.values[:, some])]
    size = n_groups * residuals.n_cells
    filled = np.stack([np.bincount(key, c, size).reshape(shape) for c in columns]).astype(float)
    return Histogram(filled[0], filled[1:])


def fill(residuals: Residuals, some: IntArray, codes: Codes, splitters: IntArray) -> Histogram:
    """Fill the histograms of several splitters, shape (n_splitters, n_codes, n_cells)."""
    # The last code is that of missing values, for all splitters alike. O(n_effects n_splitters).
    n_codes = int(codes.n_cells[splitters].max(initial=1)) + 1
    shape = (splitters.size, n_codes, residuals.n_cells)
    weight, base, rows = residuals.weight[some], residuals.cell[some], residuals.row[some]
    columns = [weight, *(weight * v for v in residuals.values[:, some])]
    filled = np.empty((len(columns), *shape))
    for place, k in enumerate(splitters):
        key = codes.codes[k].take(rows) * np.intp(residuals.n_cells) + base
        for column, one in zip(columns, filled, strict=True):
            counted = np.bincount(key, column, n_codes * residuals.n_cells)
            one[place] = counted.reshape(shape[1:])
    own = codes.n_cells[splitters]
    for short in np.flatnonzero(own < n_codes - 1):
        filled[:, short, -1] = filled[:, short, own[short]]
        filled[:, short, own[short]] = 0.0
    return Histogram(filled[0], filled[1:])


def gain_between(first: Histogram, total: Histogram, factor: FloatArray) -> FloatArray:
    """Sum of squares between the groups that go first and the others, without that of steps."""
    # $G$ of the method of regions (docs/method/regions.md), for weights that add up to 1.
    rest = total - first
    least = REGION_WEIGHT_ROUNDING * total.weight
    both = (first.weight > least) & (rest.weight > least)
    one, other = np.where(both, first.weight, 1.0), np.where(both, rest.weight, 1.0)
    apart = first.sums / one - rest.sums / other
    square = apart[0] ** 2 - (apart[1:] ** 2).sum(axis=0)
    shared = np.where(both, factor * one * other / (one + other), 0.0)
    return np.asarray((shared * square).sum(axis=-1))


def squares(histogram: Histogram, factor: FloatArray) -> FloatArray:
    """Sum of squares of the groups' means, without that of steps."""
    mass = np.where(histogram.weight > 0, histogram.weight, 1.0)
    own, steps = histogram.sums[0] ** 2, (histogram.sums[1:] ** 2).sum(axis=0)
    return np.asarray((factor * (own - steps) / mass).sum(axis=-1))


# --- Look-ahead: pairs of splits that explain together what neither explains alone


def find_first_split_of_pair(
    residuals: Residuals, some: IntArray, by: tuple[Codes, IntArray], least: float
) -> tuple[int, int] | None:
    """Find the first split of the best tree of two levels, over all cuts of all pairs of splitters.

    `by` holds splitters in coarse cells, and which of them are searched; `least` is the weight that
    either side of a split must have. Returns the splitter and the last of its codes that goes
    first; None where no pair gains anything.
    """
    # The tree is the best there is on these cells: for every first cut the best second one on
    # either side. O(n_effects n_splitters^2).
    codes, splitters = by
    if splitters.size < 2:
        return None
    # Wider cells of the explained features: a pair has many groups, and rows are few.
    n_coarse = int(residuals.coarse_cell.max(initial=-1)) + 1
    counts = np.bincount(residuals.coarse_cell, minlength=n_coarse)
    coarse = Residuals(
        row=residuals.row,
        cell=residuals.coarse_cell[residuals.cell],
        values=residuals.values,
        square=residuals.square,
        weight=residuals.weight,
        is_holdout=residuals.is_holdout,
        factor=np.bincount(residuals.coarse_cell, residuals.factor, n_coarse) / counts,
        feature=np.zeros(n_coarse, dtype=np.intp),
        coarse_cell=np.arange(n_coarse),
    )
    histograms = _fill_pairs(coarse, some, codes, splitters)
    best, found = 0.0, None
    for place, splitter in enumerate(splitters):
        joint = histograms[place][np.delete(np.arange(splitters.size), place)]
        before = joint.cumulate(axis=-3)[:, :-1]
        total = joint.total(axis=-3)[:, None]
        # gains of every first cut of this splitter, with the best second cut on either side
        gains = np.zeros(before.weight.shape[1])
        for child in (before, total - before):
            margin = child.total()
            weight = margin.weight[0].sum(axis=-1)
            seconds = child.cumulate()[:, :, :-1]
            parts = gain_between(seconds, margin[:, :, None], coarse.factor)
            share = seconds.weight.sum(axis=-1)
            fits = (share >= least) & (weight[:, None] - share >= least)
            second = np.where(fits, parts, 0.0).max(axis=(0, 2))
            gains += squares(margin[0], coarse.factor) + np.maximum(second, 0.0)
            gains[weight < least] = -np.inf
        cut = int(np.argmax(gains))
        if gains[cut] > best * (1 + 1e-9):
            best, found = float(gains[cut]), (int(splitter), cut)
    return found


def _fill_pairs(
    coarse: Residuals, some: IntArray, codes: Codes, splitters: IntArray
) -> list[Histogram]:
    """For every splitter, its histogram with all: shape (n_splitters, n_codes, n_codes, n_cells).

    Axes are the other splitter, the code of this one, and that of the other. Rows without a value
    are in the last code, so that they stay together with the largest ones, or alone.
    """
    n_splitters, n_cells = splitters.size, coarse.n_cells
    n_codes = int(codes.n_cells[splitters].max()) + 1
    mine = codes.codes[np.ix_(splitters, coarse.row[some])].astype(np.intp)
    if not np.any(mine == codes.n_cells[splitters][:, None]):
        n_codes -= 1
    weight = coarse.weight[some]
    columns = [weight, *(weight * v for v in coarse.values[:, some])]
    shape = (n_splitters, n_codes, n_codes, n_cells)
    filled = np.zeros((len(columns), n_splitters, *shape))
    cell, size = coarse.cell[some], n_codes * n_codes * n_cells
    for k in range(n_splitters - 1):
        others = mine[k + 1 :]
        base = mine[k] * (n_codes * n_cells) + cell
        key = (others * n_cells + base + np.arange(len(others))[:, None] * size).ravel()
        for column, one in zip(columns, filled, strict=True):
            counted = np.bincount(key, np.tile(column, len(others)), len(others) * size)
            counted = counted.reshape(len(others), *shape[1:])
            one[k, k + 1 :] = counted
            one[k + 1 :, k] = counted.swapaxes(1, 2)
    return [Histogram(filled[0, k], filled[1:, k]) for k in range(n_splitters)]


# --- The search: the best split of some rows, thresholds between rows, and trees


MAX_EXPLAINED_TO_LOOK_AHEAD = 0.9  # of the spread: no pairs are searched beyond such a tree
FEW_ENDS = 16  # of cells: limits of intervals, before both are moved to any end
MAX_THRESHOLD_CANDIDATES = 128  # where a threshold may lie inside the cells beside a cut
LOOKED_AT, MOST_PAIRED = 4_000, 64  # rows and splitters that pairs are looked for among
PAIR_NUMBERS = 10_000_000  # of the histograms of all pairs, at most
GAIN_TIE_TOLERANCE = 1e-9  # of a gain: cuts that gain as much, but for rounding


@dataclass(frozen=True, eq=False)
class SplitSearch:
    """What a search works on."""

    coded: CodedRows  # rows and their splitters
    residuals: Residuals  # what is to be explained
    settings: Regions
    splitters: IntArray  # (n_allowed,): splitters that may be used, in order

    def goes_first(self, rule: Rule, some: IntArray) -> BoolArray:
        """Find which of some effects go first."""
        return np.asarray(self.coded.goes_first(rule)[self.residuals.row[some]])

    def locate(self, tree: Branch | None, some: IntArray) -> IntArray:
        """Find the region of each of some effects."""
        values, rows = self.coded.rows.values, self.residuals.row[some]
        return locate_rows(list_rules(tree), lambda k: values[rows, k], some.size)

    def explained(self, tree: Branch | None, some: IntArray) -> float:
        """Sum of squares that the regions of a tree explain in the effects themselves."""
        region = self.locate(tree, some)
        histogram = fill_one(self.residuals, some, region, int(region.max(initial=0)) + 1)
        factor = self.residuals.factor
        return float(squares(histogram, factor).sum() - squares(histogram.total(), factor))

    def swap_folds(self) -> SplitSearch:
        """The search with the halves exchanged: in holdout rows, validated by the searched ones."""
        return replace(
            self, residuals=replace(self.residuals, is_holdout=~self.residuals.is_holdout)
        )

    def part(self, some: IntArray) -> SearchNode:
        """All effects that are looked at: either side of a split has a share of their weight."""
        total = float(self.residuals.weight[some].sum())
        least_rows = self.settings.min_rows / max(self.residuals.count_rows(some), 1)
        limit = self.settings.min_gain * float(self.residuals.spreads(some).sum())
        return SearchNode(some, total * max(self.settings.min_share, least_rows), limit)


@dataclass(frozen=True, eq=False)
class SearchNode:
    """Some effects, what either side of a split must weigh, and what a second limit must gain."""

    some: IntArray
    least: float
    limit: float = 0.0

    def divide(self, first: BoolArray) -> tuple[SearchNode, SearchNode]:
        """Divide it into those that go first and those that do not."""
        return replace(self, some=self.some[first]), replace(self, some=self.some[~first])


@dataclass(frozen=True)
class Cut:
    """A split that was looked at, and what it gains."""

    gain: float
    rule: Rule


def best_of(cuts: list[Cut]) -> Cut | None:
    """Choose the first of those that gain most."""
    top = max((cut.gain for cut in cuts), default=0.0)
    return next(
        (cut for cut in cuts if top > 0 and cut.gain >= top * (1 - GAIN_TIE_TOLERANCE)), None
    )


def find_best_split(search: SplitSearch, part: SearchNode) -> Cut | None:
    """Find the best split of some effects; None where no split gains anything."""
    # An interval (some years, the hours of the day) is one rule with two limits. It is taken where
    # it gains more than the best rule with one limit by as much as a further rule must explain.
    # O(n_effects n_splitters), and as much again for every cell of a splitter, not of rows.
    if part.some.size == 0 or search.splitters.size == 0:
        return None
    codes, levels = search.coded.fine, search.coded.rows.n_levels[search.splitters]
    histogram = fill(search.residuals, part.some, codes, search.splitters)
    factor, least = search.residuals.factor, part.least
    cuts: list[Cut] = []
    # One threshold: gains of all cuts in the order of codes, shape (n_splitters, 2, n_codes - 1).
    # Rows without a value go second, then first.
    numbers = np.flatnonzero(levels == 0)
    ordered = histogram[numbers]
    known, missing, total = ordered[:, :-1].cumulate(), ordered[:, -1:], ordered.total()[:, None]
    by_side = [_gain_of_sides(known, total, factor, least)]
    if missing.weight.any():
        by_side.append(_gain_of_sides(known + missing, total, factor, least))
        by_side[1][~missing.weight.any(axis=(1, 2))] = -np.inf
    for k, gains in zip(search.splitters[numbers], np.stack(by_side, axis=1), strict=True):
        side, at = np.unravel_index(_first_best(gains.ravel()), gains.shape)
        threshold = float(codes.ends[k][at]) if at < codes.ends[k].size else np.inf
        rule = Rule(int(k), threshold, missing_first=bool(side))
        cuts.append(Cut(float(gains[side, at]), rule))
    # Levels: groups of them against the rest.
    for place in np.flatnonzero(levels):
        n_levels = int(codes.n_cells[search.splitters[place]])
        one = histogram[int(place)]
        k = int(search.splitters[place])
        cuts.extend(_cut_levels(k, one[slice(0, n_levels)], one[-1], (factor, least)))
    best = best_of(sorted(cuts, key=lambda cut: cut.rule.splitter))
    needed = part.limit + (0.0 if best is None else best.gain)
    # Intervals. No groups of a splitter's codes explain more than the codes themselves, so few
    # splitters have to be searched.
    most = squares(histogram, factor).sum(axis=-1) - squares(histogram.total(), factor)
    between = [
        _cut_between(int(k), histogram[int(place)], codes.ends[k], (factor, least))
        for place, k in enumerate(search.splitters)
        if most[place] > needed and codes.ends[k].size > 1
    ]
    interval = best_of(between)
    return best if interval is None or interval.gain <= needed else interval


def _gain_of_sides(
    first: Histogram, total: Histogram, factor: FloatArray, least: float
) -> FloatArray:
    """Gains of groups that go first; none where either side is too small."""
    share, everything = first.weight.sum(axis=-1), total.weight.sum(axis=-1)
    is_small = (share < least) | (everything - share < least)
    return np.where(is_small, -np.inf, gain_between(first, total, factor))


def _first_best(gains: FloatArray) -> int:
    """First of the largest gains, equal ones being those that differ by rounding only."""
    top = gains.max()
    return int(np.argmax(gains >= top - GAIN_TIE_TOLERANCE * abs(top))) if top > -np.inf else 0


def _cut_between(
    splitter: int, cells: Histogram, ends: FloatArray, how: tuple[FloatArray, float]
) -> Cut:
    """Find the best interval of a splitter: rows between two ends of cells against all others."""
    # All pairs of a few ends, then each limit at every end while the other is kept.
    factor, least = how
    known, missing, total = cells.cumulate(), cells[-1], cells.total()[None]
    trial = np.unique(np.linspace(0, ends.size - 1, FEW_ENDS).astype(int))
    pairs = trial[np.stack(np.triu_indices(trial.size, 1))]
    found = []
    for with_missing in (False, True) if missing.weight.any() else (False,):

        def gains(low: IntArray, high: IntArray, more: Histogram | None) -> FloatArray:
            first = known[high] - known[low]
            return _gain_of_sides(first if more is None else first + more, total, factor, least)

        more = missing[None] if with_missing else None
        low, high = pairs[:, _first_best(gains(pairs[0], pairs[1], more))].tolist()
        for _ in range(2):
            above = np.arange(low + 1, ends.size)
            high = above[_first_best(gains(np.full(above.size, low), above, more))]
            below = np.arange(high)
            low = below[_first_best(gains(below, np.full(below.size, high), more))]
        gain = float(gains(np.array([low]), np.array([high]), more)[0])
        rule = Rule(splitter, float(ends[high]), missing_first=with_missing, above=float(ends[low]))
        found.append(Cut(gain, rule))
    return max(found, key=lambda cut: cut.gain)


def _cut_levels(
    splitter: int, levels: Histogram, missing: Histogram, how: tuple[FloatArray, float]
) -> list[Cut]:
    """Cut levels in the order of their effects, and try each against the rest."""
    factor, least = how
    total = levels.total()[None] + missing[None]
    present = np.flatnonzero(levels.weight.sum(axis=-1) > 0)
    order = present[order_levels_by_residual(levels[present], factor)]
    runs = levels[order].cumulate()
    cuts: list[Cut] = []
    for with_missing in (False, True) if missing.weight.any() else (False,):
        for groups, firsts in ((order, runs), (present, levels[present])):
            firsts = firsts + missing[None] if with_missing else firsts
            gains = _gain_of_sides(firsts, total, factor, least)
            if gains.size:
                best = _first_best(gains)
                chosen = groups[: best + 1] if groups is order else groups[best : best + 1]
                names = tuple(sorted(int(level) for level in chosen))
                rule = Rule(splitter, levels=names, missing_first=with_missing)
                cuts.append(Cut(float(gains[best]), rule))
    return cuts


def order_levels_by_residual(levels: Histogram, factor: FloatArray) -> IntArray:
    """Order levels along the direction in which their mean residuals differ most."""
    # Scores on the first principal component of the level means over the cells: a search over all
    # 2^n groups becomes one over n - 1 (Coppersmith, Hong and Hosking, 1999; exact for one cell by
    # Fisher, 1958).
    mass = np.where(levels.weight > 0, levels.weight, 1.0)
    total = levels.total()
    common = total.sums[0] / np.where(total.weight > 0, total.weight, 1.0)
    apart = np.where(levels.weight > 0, levels.sums[0] / mass - common, 0.0)
    weight = levels.weight * factor
    direction = np.linalg.svd(np.sqrt(weight) * apart, full_matrices=False)[2][0]
    direction = direction * (1.0 if direction.sum() >= 0 else -1.0)
    along = np.sqrt(weight.sum(axis=0))
    direction = np.divide(direction, along, out=np.zeros_like(direction), where=along > 0)
    size = (weight * direction**2).sum(axis=1)
    score = (weight * apart * direction).sum(axis=1) / np.where(size > 0, size, 1.0)
    return np.argsort(score, kind="stable")


def move(
    search: SplitSearch,
    tree: Branch,
    part: SearchNode,
    ends: FloatArray | None = None,
    reach: int = 1,
) -> Branch:
    """Move the limits of the first rule to the best values near them; the branches below stay.

    A limit may move by `reach` cells of its splitter, whose `ends` are those of the fine cells
    unless given.
    """
    ends = search.coded.fine.ends[tree.rule.splitter] if ends is None else ends
    for is_lower in (False, True):
        limit = tree.rule.above if is_lower else tree.rule.threshold
        if not tree.rule.levels and np.isfinite(limit):
            tree = _move_limit(search, tree, part, around(limit, ends, reach), is_lower=is_lower)
    return tree


def _move_limit(
    search: SplitSearch,
    tree: Branch,
    part: SearchNode,
    limits: tuple[float, float],
    *,
    is_lower: bool,
) -> Branch:
    """Move one limit of the first rule to the best value between `limits`.

    The grid of candidates is refined until every value there is one of them.
    """
    # Rows beyond the other limit of an interval stay where they are: on the side of the first code,
    # or of the last.
    rule = tree.rule
    x = search.coded.rows.values[search.residuals.row[part.some], rule.splitter]
    beyond = x > rule.threshold if is_lower else x <= rule.above
    low, high = limits
    inside = np.unique(x[(x > low) & (x <= high) & ~beyond])
    cuts = cut_evenly(inside, MAX_THRESHOLD_CANDIDATES)
    if cuts.size == 0:
        return tree
    code = np.searchsorted(cuts, np.where(np.isnan(x), np.inf, x), side="left")
    code[beyond] = 0 if is_lower else cuts.size
    code[np.isnan(x)] = 0 if rule.missing_first != is_lower else cuts.size
    sides = (tree.second, tree.first) if is_lower else (tree.first, tree.second)
    # Sum of squares of all regions for every candidate: rows beyond it change sides, and each side
    # keeps its regions, whichever rows they get.
    n_codes, factor = int(code.max()) + 1, search.residuals.factor
    gains = np.zeros(n_codes - 1)
    for side, below in enumerate(sides):
        region = search.locate(below, part.some)
        for one in range(int(region.max(initial=0)) + 1):
            mine = region == one
            histogram = fill_one(search.residuals, part.some[mine], code[mine], n_codes)
            before = histogram.cumulate()[:-1]
            taken = histogram.total()[None] - before if side else before
            gains += squares(taken, factor)
            gains[taken.weight.sum(axis=-1) < part.least] = -np.inf
    if not np.any(gains > -np.inf):
        return tree
    best = _first_best(gains)
    cut, ends = float(cuts[best]), np.concatenate([[low], cuts, [high]])
    if cuts.size + 1 < inside.size:
        near = float(ends[best]), float(ends[best + 2])
        return _move_limit(search, _with_limit(tree, cut, is_lower), part, near, is_lower=is_lower)
    above = float(inside[np.searchsorted(inside, cut, side="right")])
    column = search.coded.rows.values[:, rule.splitter]
    gap = np.sort(column[(column >= cut) & (column < above)])  # rows that were not looked at, too
    return _with_limit(tree, float(gap[gap.size // 2]), is_lower)


def _with_limit(tree: Branch, limit: float, is_lower: bool) -> Branch:  # noqa: FBT001
    """The same tree with another limit of its first rule."""
    rule = tree.rule
    other = replace(rule, above=limit) if is_lower else replace(rule, threshold=limit)
    return replace(tree, rule=other)


def around(threshold: float, ends: FloatArray, reach: int) -> tuple[float, float]:
    """Find the ends of cells so many places before and behind a threshold."""
    at = int(np.searchsorted(ends, threshold, side="left"))
    low = float(ends[at - reach]) if at >= reach else -np.inf
    return low, float(ends[at + reach]) if at + reach < ends.size else np.inf


def grow_greedily(
    search: SplitSearch, part: SearchNode, depth: int, first: Rule | None = None
) -> Branch | None:
    """Grow a tree, each split the best one for its rows; the first may be given."""
    if depth == 0:
        return None
    rule = first
    if rule is None:
        cut = find_best_split(search, part)
        if cut is None:
            return None
        rule = move(search, Branch(cut.rule), part).rule
    sides = part.divide(search.goes_first(rule, part.some))
    return Branch(rule, *(grow_greedily(search, side, depth - 1) for side in sides))


def grow(search: SplitSearch, part: SearchNode) -> Branch | None:
    """Grow a tree that looks ahead, where what the greedy one leaves is worth it."""
    # Of an exclusive or no first split gains anything: pairs of splits are looked at as a whole.
    settings = search.settings
    greedy = grow_greedily(search, part, settings.depth)
    total = float(search.residuals.spreads(part.some).sum())
    found = search.explained(greedy, part.some)
    if not settings.look_ahead or settings.depth < 2 or found > MAX_EXPLAINED_TO_LOOK_AHEAD * total:
        return greedy
    first = look_ahead(search, part)
    if first is None:
        return greedy
    other = grow_greedily(search, part, settings.depth, first)
    for _ in range(2):
        if other is None or other.n_rules == 1:
            return greedy
        coarse = search.coded.coarse.ends[other.rule.splitter]
        moved = move(search, other, part, coarse)
        other = grow_greedily(search, part, settings.depth, moved.rule)
    better = search.explained(other, part.some) > found + settings.min_gain * total
    return other if better else greedy


def look_ahead(search: SplitSearch, part: SearchNode) -> Rule | None:
    """Find the first split of the best two on coarse cells; None where there are none."""
    coded, residuals = search.coded, search.residuals
    some = first_rows(search, part.some, LOOKED_AT)
    weight = residuals.weight
    least = part.least * float(weight[some].sum() / weight[part.some].sum())
    splitters = search.splitters[coded.rows.n_levels[search.splitters] <= N_COARSE_CELLS]
    n_coarse = int(residuals.coarse_cell.max(initial=0)) + 1
    most = min(MOST_PAIRED, int(np.sqrt(PAIR_NUMBERS / ((N_COARSE_CELLS + 1) ** 2 * n_coarse))))
    if splitters.size > most:  # only those that explain most alone
        histogram = fill(residuals, some, coded.coarse, splitters)
        gains = squares(histogram, residuals.factor).sum(axis=-1)
        splitters = np.sort(splitters[np.argsort(-gains, kind="stable")[:most]])
    pair = find_first_split_of_pair(residuals, some, (coded.coarse, splitters), least)
    if pair is None:
        return None
    splitter, place = pair
    if coded.rows.n_levels[splitter]:
        return Rule(splitter, levels=tuple(range(place + 1)))
    ends = coded.coarse.ends[splitter]
    return Rule(splitter, float(ends[place]) if place < ends.size else np.inf)


def first_rows(search: SplitSearch, some: IntArray, n_rows: int) -> IntArray:
    """Take some effects where there are many: those of rows that come first by their codes."""
    ranks = search.coded.rank[search.residuals.row[some]]
    rows = np.unique(ranks)
    return some[ranks <= rows[n_rows - 1]] if rows.size > n_rows else some


def refine_thresholds(search: SplitSearch, tree: Branch | None, part: SearchNode) -> Branch | None:
    """Move all thresholds of a tree once more, with more rows than it was grown with."""
    if tree is None:
        return None
    moved = move(search, tree, part, reach=3)
    first, second = part.divide(search.goes_first(moved.rule, part.some))
    return Branch(
        moved.rule,
        refine_thresholds(search, tree.first, first),
        refine_thresholds(search, tree.second, second),
    )
