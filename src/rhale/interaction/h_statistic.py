"""Other definitions of interaction: the H statistic of Friedman and Popescu, and Greenwell's index.

Both combine every row with every other one, and so predict rows that do not exist.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from rhale.data import Chunk
from rhale.effects.local.profiles import complement_dependence, partial_dependence
from rhale.effects.local.queries import BatchedModel
from rhale.features.survey import rows_keys
from rhale.interaction.pair_effect import PairIndex
from rhale.models.questions import DependenceQuestion, Dependences, centre, normalise_row_weights
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray, crosses_processes
from rhale.stats.sampling import KeyArray

Pair = tuple[int, int]
DependenceSource = Literal["leaves", "rows"]
MAX_DEPENDENCE_NUMBERS = 2**21  # of the dependences of pairs that are held in memory
ROUNDING_VARIANCE_SHARE = (
    1e-10  # of the variance of the predictions: smaller numerators are rounding
)
MIN_H_DENOMINATOR = 1e-6  # of that variance: smaller denominators make no ratio
NO_RATIO = Note(
    "no ratio",
    "the two features together hardly change the predictions: the normalised H² is a ratio of two "
    "numbers near 0, and is left out",
)


@dataclass(frozen=True, eq=False)
class HStatistics:
    """H of some features and pairs, by the definition of R's hstats."""

    columns: tuple[int, ...]  # the features, by their columns
    pairs: tuple[Pair, ...]  # two columns each
    numerator: FloatArray  # (n_pairs, n_outputs): mean square over the rows of F_jk - F_j - F_k
    denominator: FloatArray  # (n_pairs, n_outputs): mean square of F_jk, centred
    importance: FloatArray  # (n_columns, n_outputs): deviation over the rows of F_j
    # (n_columns, n_outputs): mean square of F - F_j - F_rest, all interactions of a feature
    overall: FloatArray
    variance: FloatArray  # (n_outputs,): of the predictions of the rows
    n_rows: int  # rows that everything is averaged over
    n_asked: int  # rows that were predicted
    source: DependenceSource  # counted in leaves, or predicted

    @property
    def strength(self) -> FloatArray:
        """Unnormalised H, in units of the output: (n_pairs, n_outputs)."""
        return np.asarray(np.sqrt(self.numerator))

    @property
    def h2(self) -> FloatArray:
        """Normalised H² of the pairs; nan where both features together hardly do anything."""
        return divide_or_nan(self.numerator, self.denominator, MIN_H_DENOMINATOR * self.variance)

    @property
    def overall_h2(self) -> FloatArray:
        """Normalised H² of the features, each against all others."""
        return divide_or_nan(self.overall, np.broadcast_to(self.variance, self.overall.shape), 0.0)


def divide_or_nan(above: FloatArray, below: FloatArray, least: FloatArray | float) -> FloatArray:
    """Ratios; nan where the denominator is not larger than some least."""
    ratios = np.full(above.shape, np.nan)
    np.divide(above, below, out=ratios, where=below > least)
    return ratios


def h_statistics(
    asker: BatchedModel,
    chunk: Chunk,
    columns: Sequence[int],
    pairs: Sequence[Pair],
    weights: FloatArray | None = None,
) -> HStatistics:
    """H of pairs of columns, averaged over the rows of a chunk and evaluated at them.

    Some hundreds of rows for any model, some thousands for trees; `weights` (n_rows,) are 1 if None.
    """
    # F_j(x) is the mean prediction over the rows with x_j held at x, centred. H^2 of a pair is the
    # mean square of F_jk - F_j - F_k over that of F_jk, at the rows themselves (Friedman & Popescu
    # 2008); a numerator under 1e-10 of the variance of the predictions is rounding, and 0. Cost: n + n^2
    # (2 n_columns + n_pairs) predictions; of trees whose outputs are sums of leaves n, in linear time.
    shares = normalise_row_weights(chunk.n_rows, weights)
    places = {column: place for place, column in enumerate(columns)}
    wanted = np.array([[places[a], places[b]] for a, b in pairs], dtype=np.intp).reshape(-1, 2)
    question = DependenceQuestion(tuple(columns), wanted, shares)
    answers = centre(asker.predictor.predict(chunk.rows, chunk.n_rows).T, shares)
    # in the leaves of trees where these can be counted, some pairs at a time; else from predictions
    predictor = asker.predictor
    at_once = max(1, MAX_DEPENDENCE_NUMBERS // (chunk.n_rows * len(asker.outputs)))
    block, *others = question.in_blocks(at_once)
    counted = predictor.partial_dependences(chunk, block)
    source: DependenceSource = "rows" if counted is None else "leaves"
    blocks: Iterable[Dependences] = ask_dependences(asker, chunk, question)
    if counted is not None:
        later = (predictor.partial_dependences(chunk, block) for block in others)
        blocks = chain([counted], (block for block in later if block is not None))
    squares = []
    for found in blocks:
        # numerator and denominator of H^2: mean squares of F_jk - F_j - F_k and of F_jk
        first, second = found.pairs.T
        both = found.pure + found.single[first] + found.single[second]
        squares.append((np.asarray(found.pure**2 @ shares), np.asarray(both**2 @ shares)))
        together, alone = answers - found.single - found.rest, found.single
    numerator, denominator = (np.concatenate(parts) for parts in zip(*squares, strict=True))
    variance = np.asarray(answers**2 @ shares)
    n_asked = count_h_rows(chunk.n_rows, len(columns), len(pairs))
    return HStatistics(
        columns=tuple(columns),
        pairs=tuple(pairs),
        numerator=zero_rounding_numerators(numerator, variance),
        denominator=denominator,
        importance=np.sqrt(alone**2 @ shares),
        overall=zero_rounding_numerators(together**2 @ shares, variance),
        variance=variance,
        n_rows=chunk.n_rows,
        n_asked=chunk.n_rows if source == "leaves" else n_asked,
        source=source,
    )


def zero_rounding_numerators(squares: FloatArray, variance: FloatArray) -> FloatArray:
    """Mean squares, 0 where rounding can have made them."""
    return np.where(squares < ROUNDING_VARIANCE_SHARE * variance, 0.0, squares)


def count_h_rows(n_rows: int, n_columns: int, n_pairs: int) -> int:
    """Rows to predict for H of a model that is no tree ensemble."""
    return n_rows + n_rows**2 * (2 * n_columns + n_pairs)


def ask_dependences(
    asker: BatchedModel, chunk: Chunk, question: DependenceQuestion
) -> Generator[Dependences]:
    """Ask a model for partial dependences: the values of every row, in all rows."""
    columns, shares = question.columns, question.shares
    values = [(column, chunk.column(column)) for column in columns]
    single = centre(
        np.stack([partial_dependence(asker, chunk, [v], shares) for v in values]), shares
    )
    rest = centre(
        np.stack([complement_dependence(asker, chunk, c, shares) for c in columns]), shares
    )
    yield Dependences(single, rest, question.pairs[:0], np.empty((0, *single.shape[1:])))
    for pair in question.pairs:
        first, second = pair
        both = centre(
            partial_dependence(asker, chunk, [values[first], values[second]], shares), shares
        )
        pure = both - single[first] - single[second]
        yield Dependences(single, rest, pair[None], pure[None])


def conclude_h(
    found: HStatistics, names: Sequence[str], outputs: Sequence[str]
) -> tuple[PairIndex, ...]:
    """Make results of H: pairs first, outputs within."""
    return tuple(
        PairIndex(
            names=(names[first], names[second]),
            output=output,
            method="h",
            strength=float(found.strength[i, o]),
            variance=float(found.variance[o]),
            h2=float(found.h2[i, o]),
            notes=(NO_RATIO,) if np.isnan(found.h2[i, o]) else (),
        )
        for i, (first, second) in enumerate(found.pairs)
        for o, output in enumerate(outputs)
    )


def note_h(found: HStatistics) -> tuple[Note, ...]:
    """What a reader should know about all of them."""
    source = "the leaves of the trees" if found.source == "leaves" else "predictions of the model"
    text = (
        f"H was computed from {source}, on {found.n_rows:,} rows: it combines values of features "
        "that no row has, and the predictions there count; pairs are ranked by the unnormalised H"
    )
    return (Note("h", text),)


# --- Whole rows with the smallest keys, for definitions that combine every row with every other one


@crosses_processes
@dataclass(frozen=True, eq=False)
class WholeRows:
    """Some rows of a table."""

    key: KeyArray  # (n_rows,): their keys
    weight: FloatArray  # (n_rows,): how much each matters
    chunk: Chunk  # the rows

    def __add__(self, other: WholeRows) -> WholeRows:
        return WholeRows(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.weight, other.weight]),
            self.chunk.join(other.chunk),
        )

    def first(self, n_rows: int) -> WholeRows:
        """Those with the smallest keys, at most so many, in the order of the keys."""
        some = np.argsort(self.key, kind="stable")[:n_rows]
        return WholeRows(self.key[some], self.weight[some], self.chunk.take(some))


@dataclass(frozen=True, eq=False)
class WholeRowsTask:
    """The task of a pass that keeps the rows with keys up to some last one."""

    last_key: np.uint64
    seed: int

    def __call__(self, chunk: Chunk) -> WholeRows:
        """Keep some rows of a chunk."""
        key = rows_keys(chunk, self.seed)
        some = np.flatnonzero(key <= self.last_key)
        kept = chunk.take(some)
        weight = np.ones(some.size) if kept.weights is None else kept.weights
        return WholeRows(key[some], weight, kept)


# --- Greenwell's index, for comparison: how the variation along one feature varies along the other


GREENWELL_POINTS = 8  # of a number


@dataclass(frozen=True, eq=False)
class GridSide:
    """Values at which one feature is held."""

    column: int  # the column
    values: FloatArray  # (n_points,): increasing
    is_levels: bool = False  # whether they are levels, whose variation is a quarter of the range

    def deviate(self, heights: FloatArray, axis: int) -> FloatArray:
        """Variation along the side: the standard deviation, of levels a quarter of the range."""
        if self.values.size < 2:
            return np.zeros(np.delete(heights.shape, axis))
        if self.is_levels:
            return np.asarray(np.ptp(heights, axis=axis) / 4)
        return np.asarray(np.std(heights, axis=axis, ddof=1))


@dataclass(frozen=True, eq=False)
class GreenwellIndices:
    """Greenwell's index of some pairs."""

    pairs: tuple[tuple[int, int], ...]  # two columns each
    strength: FloatArray  # (n_pairs, n_outputs): the index, in units of the output
    # (n_sides, n_outputs): variation of each feature's own partial dependence over its points
    importance: FloatArray
    variance: FloatArray  # (n_outputs,): of the predictions of the rows
    n_rows: int  # rows that are averaged over
    n_asked: int  # rows that were predicted


def choose_grid_points(
    chunk: Chunk, column: int, *, is_levels: bool = False, n_points: int = GREENWELL_POINTS
) -> GridSide:
    """Choose points of a column: all levels, or values of rows at equal steps of their number."""
    # Quantiles (k + ½) / n_points, as values that rows have; equal ones count once, missing ones
    # not.
    values = chunk.column(column)
    known = np.unique(values[~np.isnan(values)], return_counts=True)
    distinct, counts = known
    if is_levels or distinct.size <= n_points:
        return GridSide(column, distinct, is_levels)
    wanted = (np.arange(n_points) + 0.5) / n_points * counts.sum()
    places = np.searchsorted(np.cumsum(counts), wanted)
    return GridSide(column, distinct[np.unique(places)], is_levels)


def greenwell_indices(
    asker: BatchedModel,
    chunk: Chunk,
    sides: Sequence[GridSide],
    pairs: Sequence[tuple[int, int]],
    weights: FloatArray | None = None,
) -> GreenwellIndices:
    """Find Greenwell's index of pairs of features from two-way partial dependences.

    `weights` (n_rows,) are 1 if None.
    """
    # Greenwell, Boehmke, McCarthy (2018): the standard deviation along one feature of the
    # standard deviation along the other of their partial dependence; both ways, averaged. A
    # product of two gets less than its deviation, and more the farther its factors are from 0 on
    # average: an index to compare with, not a size. The model is asked about one row for each row
    # and point.
    shares = normalise_row_weights(chunk.n_rows, weights)
    answers = centre(asker.predictor.predict(chunk.rows, chunk.n_rows).T, shares)
    variance = np.asarray(answers**2 @ shares)
    by_column = {side.column: side for side in sides}
    sizes = {side.column: side.values.size for side in sides}
    n_points = sum(sizes.values()) + sum(sizes[first] * sizes[second] for first, second in pairs)
    alone = [
        side.deviate(partial_dependence(asker, chunk, [(side.column, side.values)], shares), 1)
        for side in sides
    ]
    strength = np.zeros((len(pairs), len(asker.outputs)))
    for place, columns in enumerate(pairs):
        first, second = (by_column[column] for column in columns)
        shape = first.values.size, second.values.size
        if 0 in shape:
            continue
        held = [
            (first.column, np.repeat(first.values, shape[1])),
            (second.column, np.tile(second.values, shape[0])),
        ]
        heights = partial_dependence(asker, chunk, held, shares).reshape(-1, *shape)
        # the variation along one feature of the variation along the other; both orders, averaged
        orders = (
            second.deviate(first.deviate(heights, 1), 1),
            first.deviate(second.deviate(heights, 2), 1),
        )
        strength[place] = (orders[0] + orders[1]) / 2
    is_rounding = strength**2 < ROUNDING_VARIANCE_SHARE * variance
    return GreenwellIndices(
        pairs=tuple(pairs),
        strength=np.where(is_rounding, 0.0, strength),
        importance=np.array(alone).reshape(len(sides), len(asker.outputs)),
        variance=variance,
        n_rows=chunk.n_rows,
        n_asked=chunk.n_rows * (1 + n_points),
    )


def conclude_greenwell(
    found: GreenwellIndices, names: Sequence[str], outputs: Sequence[str]
) -> tuple[PairIndex, ...]:
    """Make results of the indices: pairs first, outputs within."""
    return tuple(
        PairIndex(
            names=(names[first], names[second]),
            output=output,
            method="greenwell",
            strength=float(found.strength[i, o]),
            variance=float(found.variance[o]),
        )
        for i, (first, second) in enumerate(found.pairs)
        for o, output in enumerate(outputs)
    )


def note_greenwell(found: GreenwellIndices) -> tuple[Note, ...]:
    """What a reader should know about all of them."""
    text = (
        f"Greenwell's index was computed on {found.n_rows:,} rows: how much the variation along one "
        "feature varies along the other, also over rows that do not exist; it is not the deviation "
        "of an effect, and its square is not a share of the variance"
    )
    return (Note("greenwell", text),)
