"""Walkers: what is done before and after the walk of a forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.data import Chunk, as_matrix
from rhale.data.table import Change
from rhale.effects.jumps import JumpQuestion, JumpReply, JumpRows
from rhale.models.questions import (
    DependenceQuestion,
    Dependences,
    HeldPoints,
    PairQuestion,
    PairReply,
)
from rhale.models.sklearn import log_odds
from rhale.models.trees.ensemble import MIXED
from rhale.models.trees.forest import MOST_CUTS, interpolate_thresholds, own_cuts
from rhale.models.trees.links import (
    LINKS,
    WIDEST_ODDS,
    OutputTransform,
    bound_combined,
    bound_jumps,
    bound_mapped,
    identity,
    round_up,
)
from rhale.models.trees.reading import Reading
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

RAW = ("margin", "decision_function")


@dataclass(frozen=True, eq=False)
class TreeWalker:
    """Trees, and what is done before and after walking them."""

    reading: Reading  # the trees and their link
    response: str  # which answer: raw sums, or after the link
    is_pair: bool  # whether one probability becomes two outputs
    # Maps answers (..., n_outputs) number by number to other units, where they are wanted so
    after: Callable[[FloatArray], FloatArray] | None = None

    def walk(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Answers of all outputs, each for one column replaced: (n_changes, n_rows, n_outputs)."""
        found = self.reading
        rows, values = self.inputs(chunk, changes)
        columns = np.array([c for c, _ in changes], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        return self.sums(rows, features, values)

    def walk_curves(self, chunk: Chunk, held: Sequence[HeldPoints]) -> list[FloatArray]:
        """Answers with one column held in all rows: (n_points, n_rows, n_outputs) for each."""
        from rhale.models.trees.curve_walk import CurveQuestion, walk_curves

        found = self.reading
        columns = np.array([one.column for one in held], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        points = [
            self.points_seen(one, int(feature), chunk)
            for one, feature in zip(held, features, strict=True)
        ]
        question = CurveQuestion(features, points)
        sums = walk_curves(found.forest, self.matrix(chunk.rows), question, found.base)
        return [self.link(own).transpose(1, 0, 2) for own in sums]

    def points_seen(self, held: HeldPoints, feature: int, chunk: Chunk) -> FloatArray:
        """What the trees see of the points of a column."""
        points = chunk.representable(held.column, held.points)
        seen = self.numbers_seen(held.column, feature, chunk, points) if feature >= 0 else points
        is_missing = self.stands_for_missing(seen)
        return seen if is_missing is None else np.where(is_missing, np.nan, seen)

    def sees(self, column: int) -> bool:
        """Whether a column goes its own way to the trees, so that changes of it can be walked."""
        return self.reading.columns is None or int(self.reading.columns[column]) != MIXED

    def predict(self, rows: Any) -> FloatArray:
        """Answers for rows as they are, shape (n_rows, n_outputs)."""
        matrix = self.matrix(rows)
        nothing_new = np.ascontiguousarray(matrix[:, 0])[None]
        return np.asarray(self.sums(matrix, np.zeros(1, dtype=np.int64), nothing_new)[0])

    def sums(self, rows: FloatArray, features: IntArray, values: FloatArray) -> FloatArray:
        """Walk, and turn sums of leaves into answers."""
        from rhale.models.trees.walk import walk

        return self.link(walk(self.reading.forest, rows, features, values, self.reading.base))

    def matrix(self, rows: Any) -> FloatArray:
        """The user's rows as the trees see them."""
        transform = self.reading.transform
        given = rows if transform is None else transform(rows)
        dense = given.toarray() if hasattr(given, "toarray") else given  # of a sparse matrix
        matrix = np.ascontiguousarray(as_matrix(dense), dtype=np.float64)
        is_missing = self.stands_for_missing(matrix)
        return matrix if is_missing is None else np.where(is_missing, np.nan, matrix)

    def stands_for_missing(self, values: FloatArray) -> BoolArray | None:
        """Which values the library takes for missing ones; None if only nan is."""
        if np.isnan(self.reading.missing):
            return None
        with np.errstate(over="ignore"):
            seen = values.astype(np.float32) if self.reading.forest.is_single else values
        return np.asarray(seen == self.reading.missing)

    def inputs(self, chunk: Chunk, changes: Sequence[Change]) -> tuple[FloatArray, FloatArray]:
        """Rows and changed values as the trees see them."""
        values = np.empty((len(changes), chunk.n_rows))
        if self.reading.transform is None:
            for i, (column, new) in enumerate(changes):
                values[i] = chunk.representable(column, new)
            is_missing = self.stands_for_missing(values)
            if is_missing is not None:
                values[is_missing] = np.nan
        else:
            self.transform(chunk, changes, values)
        return self.matrix(chunk.rows), values

    def transform(self, chunk: Chunk, changes: Sequence[Change], values: FloatArray) -> None:
        """Send changes through the steps before the trees, one change of every column at a time."""
        columns, left = self.reading.columns, list(range(len(changes)))
        assert columns is not None  # noqa: S101 - our own mistake
        while left:
            layer = {changes[i][0]: i for i in reversed(left)}  # the first of each column
            rows = self.matrix(chunk.substitute([changes[i] for i in layer.values()]))
            for column, i in layer.items():
                values[i] = rows[:, columns[column]]
            left = [i for i in left if i not in layer.values()]

    def places(self, column: int, chunk: Chunk, values: FloatArray) -> FloatArray | None:
        """Thresholds of a column in the user's units, never falling; None if it has no such.

        Shapes: values (n_values,), result (n_cuts,).
        """
        found = self.reading
        feature = column if found.columns is None else int(found.columns[column])
        if feature < 0 or values.size == 0:
            return None
        cuts = own_cuts(found.forest, feature)
        if cuts is None or cuts.size == 0 or cuts.size > MOST_CUTS:
            return cuts if cuts is not None and cuts.size == 0 else None
        seen = self.numbers_seen(column, feature, chunk, values)
        if seen.min() <= found.missing <= seen.max():
            return None
        return cuts if np.array_equal(seen, values) else interpolate_thresholds(cuts, seen, values)

    def numbers_seen(
        self, column: int, feature: int, chunk: Chunk, values: FloatArray
    ) -> FloatArray:
        """What the trees see of values of a column."""
        if self.reading.transform is None:
            return values
        copies = chunk.take(np.zeros(values.size, dtype=np.int64))
        return self.matrix(copies.substitute([(column, values)]))[:, feature]

    def walk_jumps(
        self,
        chunk: Chunk,
        questions: Sequence[JumpQuestion],
        rows: JumpRows,
        chosen: tuple[int, ...],
    ) -> list[JumpReply]:
        """Sums of the jumps of all rows, and slopes of each row, for the chosen outputs."""
        from rhale.models.trees.jump_walk import walk_jumps

        found = self.reading
        columns = np.array([q.column for q in questions], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        matrix = self.matrix(chunk.rows)
        return walk_jumps(found.forest, matrix, questions, features, rows, self.answering(chosen))

    def walk_pairs(
        self, chunk: Chunk, question: PairQuestion, chosen: tuple[int, ...]
    ) -> PairReply:
        """Mixed differences of all pairs and rows, for the chosen outputs."""
        from rhale.models.trees.pair_walk import walk_linked_pairs, walk_pairs

        found = self.reading
        columns = np.array([side.column for side in question.sides], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        changes = [(s.column, v) for s in question.sides for v in (s.low, s.high)]
        rows, values = self.inputs(chunk, changes)
        for i, side in enumerate(question.sides):  # rows that stand nowhere are not changed
            nowhere = side.positions.cell < 0
            if features[i] >= 0 and nowhere.any():
                values[2 * i : 2 * i + 2, nowhere] = rows[nowhere, features[i]]
        answering = self.answering(chosen)
        walk = walk_pairs if answering.link is None else walk_linked_pairs
        return walk(found.forest, (rows, values), question, features, answering)

    def answering(self, chosen: tuple[int, ...]) -> OutputTransform:
        """How sums of leaves become answers, and how far these can jump."""
        found, forest = self.reading, self.reading.forest
        if found.combine is not None and self.after is None:
            bounds = {"predict_proba": 1.0, "log_odds": WIDEST_ODDS}
            bound = bounds.get(self.response) or bound_combined(found)
            return OutputTransform(found.base, self.link, 1.0, chosen, bound)
        if self.after is not None:
            return OutputTransform(
                found.base, self.link, 1.0, chosen, bound_mapped(found, self.link)
            )
        is_raw = self.response in RAW
        factor = found.raw_factor if is_raw else 1.0
        is_sum = LINKS.get(found.link) is identity and not self.is_pair
        if is_raw or (is_sum and self.response != "log_odds"):
            bound = round_up(2 * forest.largest_sum * abs(factor))
            return OutputTransform(found.base, None, factor, chosen, bound)
        if self.response == "log_odds":
            return OutputTransform(found.base, self.link, 1.0, chosen, WIDEST_ODDS)
        bound = bound_jumps(found)
        return OutputTransform(found.base, self.link, 1.0, chosen, bound)

    def link(self, sums: FloatArray) -> FloatArray:
        """Turn sums of leaves into the answers that are wanted."""
        if self.reading.combine is not None:
            answers = self.reading.combine(sums)
            answers = log_odds(answers) if self.response == "log_odds" else answers
        elif self.response in RAW:
            answers = sums if self.reading.raw_factor == 1 else sums * self.reading.raw_factor
        else:
            answers = LINKS[self.reading.link](sums, self.reading.alpha)
            answers = np.concatenate([1 - answers, answers], axis=-1) if self.is_pair else answers
            answers = log_odds(answers) if self.response == "log_odds" else answers
        return answers if self.after is None else self.after(answers)

    def partial_dependences(
        self, chunk: Chunk, question: DependenceQuestion, chosen: tuple[int, ...]
    ) -> Dependences | None:
        """Partial dependences at the rows, from the leaves; None if answers are no sums of them."""
        from rhale.models.trees.leaf_dependences import LeafQuestion, compute_leaf_dependences

        found, answering = self.reading, self.answering(chosen)
        columns = np.array(question.columns, dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        if answering.link is not None or np.any(features == MIXED):
            return None
        wanted = LeafQuestion(features, question.pairs, chosen, answering.factor)
        return compute_leaf_dependences(
            found.forest, self.matrix(chunk.rows), wanted, question.shares
        )
