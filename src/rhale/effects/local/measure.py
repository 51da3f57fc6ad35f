"""The protocol of a measure: questions about rows, sums of the answers, results from the sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change
from rhale.effects.binning.fit import Unbinned, bin_all
from rhale.effects.binning.moments import Moments
from rhale.effects.curve import RowPlaces
from rhale.effects.effect import Effect
from rhale.effects.jumps import JumpQuestion, JumpReply, make_jump_rows
from rhale.effects.level_effect import LevelEffect
from rhale.effects.local.queries import BatchedModel, Curves
from rhale.effects.table import Missing
from rhale.errors import BadPredictionError, ModelFailedError
from rhale.features.feature import Feature
from rhale.features.survey import Survey, rows_keys, sample_chunk_rows
from rhale.models import Predictor
from rhale.models.questions import HeldPoints
from rhale.output.number_format import format_axis_value
from rhale.output.text import Note
from rhale.regions.settings import Target
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, crosses_processes, lay_columns
from rhale.stats.sampling import MAX_ROW_HASH, KeyArray, Sample

Needs = Literal["nothing", "predictions", "slopes"]
EFFECTS_BINNED_TOGETHER = 32  # effects whose bins are chosen together
NO_ANSWERS = np.empty((0, 0, 0))
NO_KEY = np.uint64(0)
OTHER_BIT = np.uint64(6)  # of a row's key: smaller bits choose groups of rows, and halves


@dataclass(frozen=True, eq=False)
class MeasuredChunk:
    """A chunk of rows, with what its measures share."""

    chunk: Chunk
    key: KeyArray  # (n_rows,): their keys
    # (n_sampled,): which of them something is kept of: all that the result keeps, and more where
    # they are searched for regions
    sampled: IntArray
    # rows with keys up to this one are those that the result keeps
    last_key: np.uint64 = MAX_ROW_HASH
    # (n_rows,): which of them count at all, where a region is measured; None for all
    counted: BoolArray | None = None
    found: dict[np.uint64, tuple[IntArray, IntArray]] = field(default_factory=dict, repr=False)

    def count_only(self, values: FloatArray) -> FloatArray:
        """Values of the rows that count; nan for the others, as if they had none."""
        return values if self.counted is None else np.where(self.counted, values, np.nan)

    @cached_property
    def every_other(self) -> IntArray:
        """About half of the rows, by their keys: one array, however often it is asked about."""
        return np.flatnonzero(self.key >> OTHER_BIT & np.uint64(1))

    def distinct_up_to(self, last_key: np.uint64) -> tuple[IntArray, IntArray]:
        """Sampled rows with keys up to `last_key`, each of several that are alike once.

        Returns these rows of the chunk, the same array for the same key so that queries can be
        joined, and for each sampled row which of them it is like, -1 where its key is larger.
        """
        if last_key not in self.found:
            key = self.key[self.sampled]
            small = np.flatnonzero(key <= last_key)
            _, first, same = np.unique(key[small], return_index=True, return_inverse=True)
            order = np.argsort(first)  # rows in the order of the chunk
            among = np.full(key.size, -1)
            among[small] = np.argsort(order)[same]
            self.found[last_key] = self.sampled[small[first[order]]], among
        return self.found[last_key]


@dataclass(frozen=True, eq=False)
class SubsetQuery:
    """A query about some rows of a chunk only."""

    rows: IntArray  # (n_some,): which rows
    changes: Sequence[Change]  # what to replace in each copy of them; values of shape (n_some,)
    may_fail: bool = False  # whether the model may refuse: answers are nan then


@dataclass(frozen=True, eq=False)
class Questions:
    """The queries of one measure about a chunk, and what it needs again with the answers."""

    changes: Sequence[Change] = ()  # what to replace in each copy of all rows
    memory: Any = None  # whatever `add_up` wants back
    subset_queries: Sequence[SubsetQuery] = ()  # queries about some of the rows
    jumps: Sequence[JumpQuestion] = ()  # what is asked about the jumps of a model that is walked
    held: HeldPoints | None = None  # at which points the column is held in all rows

    def n_asked(self, n_rows: int) -> int:
        """Rows that the model is asked about; once, where their jumps are."""
        some = sum(len(query.changes) * query.rows.size for query in self.subset_queries)
        n_points = 0 if self.held is None else self.held.points.size
        return (len(self.changes) + n_points + len(self.jumps)) * n_rows + some


@dataclass(frozen=True, eq=False)
class Replies:
    """The answers of the model about a chunk, for one measure."""

    # (n_rows, n_outputs): of the rows as they are; no rows where no measure needs them
    predictions: FloatArray
    # (n_outputs, n_rows): along the columns for which a measure needs them
    slopes: Mapping[int, FloatArray]
    # (n_changes, n_rows, n_outputs): answers to the changes that the measure asked about
    changed: FloatArray
    # (n_changes, n_some, n_outputs): answers to what it asked about some of the rows
    subset_answers: Sequence[FloatArray] = ()
    jumps: Sequence[JumpReply] = ()  # answers to what it asked about jumps
    # gives answers for some rows with the column held at the points; None where it is not
    curves: Curves | None = None


@dataclass(frozen=True, eq=False)
class ChunkResult:
    """Sums of one measure over a chunk, and what is kept of its sampled rows."""

    total: Any  # adds up with those of other chunks
    # (n_sampled, n_kept): what is kept of the sampled rows: their positions on the feature's axis,
    # then the rest
    kept: FloatArray


class MeasureSample(NamedTuple):
    """What a measure kept of sampled rows, with their weights and keys, which increase."""

    kept: FloatArray
    weight: FloatArray
    key: KeyArray

    def up_to(self, last_key: np.uint64) -> MeasureSample:
        """The rows with keys up to this one."""
        some = slice(0, int(np.searchsorted(self.key, last_key, "right")))
        return MeasureSample(self.kept[some], self.weight[some], self.key[some])


@dataclass(frozen=True, eq=False)
class MeasureContext:
    """What a measure may need to conclude."""

    survey: Survey  # what the first pass learned
    outputs: tuple[str, ...]  # names of the outputs
    notes: tuple[Note, ...]  # notes of the model
    weight: FloatArray  # (n_sample,): weights of the sampled rows
    last_key: np.uint64  # rows with keys up to this one are the sampled ones
    # what the measure kept of the rows that are searched for regions; None where none are
    searched: MeasureSample | None = None
    # what it kept of all rows: those that the result keeps are the first of them
    sampled: MeasureSample | None = None


class PartResult(NamedTuple):
    """The effect in one group of one division."""

    division: int
    group: int
    output: int
    # `Unbinned` where its bins are to be chosen together with others; None where the group has too
    # few rows
    effect: Any


@dataclass(frozen=True, eq=False)
class Conclusion:
    """Results of a measure over all rows."""

    # one for each output; `Unbinned` where its bins are to be chosen together with others
    results: tuple[Any, ...] = ()
    # what happens when the value is removed, one for each output, where that was the question
    missing: tuple[Missing | None, ...] = ()
    cells: Moments | None = None  # fine cells from which bins can be chosen anew
    more: tuple[Measure, ...] = ()  # what to measure next, in another pass over the rows
    # local effects of the rows that are searched for regions, one for each output
    targets: tuple[Target, ...] = ()
    parts: tuple[PartResult, ...] = ()  # the effect in groups of rows, where that was the question
    # (n_sample, n_divisions): groups of the sampled rows in each division, where that was the
    # question
    groups: IntArray | None = None

    @property
    def unbinned(self) -> list[Unbinned]:
        """Effects that wait for their bins."""
        every = (*self.results, *(part.effect for part in self.parts))
        return [one for one in every if isinstance(one, Unbinned)]


def with_bins(conclusions: Iterable[Conclusion]) -> Iterator[Conclusion]:
    """Choose the bins of all results that wait for them, those of some features together."""
    waiting, n_unbinned = list[Conclusion](), 0
    for made in conclusions:
        waiting.append(made)
        n_unbinned += len(made.unbinned)
        # a bound, so that cells of few features are in memory more than once
        if n_unbinned >= EFFECTS_BINNED_TOGETHER:
            yield from _bin(waiting)
            waiting, n_unbinned = [], 0
    yield from _bin(waiting)


def _bin(conclusions: Sequence[Conclusion]) -> Iterator[Conclusion]:
    """Choose the bins of all results of some conclusions together."""
    unbinned = [one for made in conclusions for one in made.unbinned]
    effects = (effect for (effect,) in bin_all(unbinned))

    def fill(one: Any) -> Any:
        return next(effects) if isinstance(one, Unbinned) else one

    for made in conclusions:
        results = tuple(fill(one) for one in made.results)
        parts = tuple(part._replace(effect=fill(part.effect)) for part in made.parts)
        yield replace(made, results=results, parts=parts)


class Measure(Protocol):
    """One kind of measurement of one feature: its queries, its sums and its result."""

    @property
    def feature(self) -> Feature:
        """Whose effect is measured."""

    @property
    def needs(self) -> Needs:
        """What it needs of the rows as they are."""

    @property
    def n_changes(self) -> int:
        """Number of changed copies of all rows in a query."""

    @property
    def n_points(self) -> int:
        """Numbers of a sampled row for each output by which the size of the sample is chosen."""

    def n_kept(self, n_outputs: int) -> int:
        """Numbers that it keeps of a sampled row."""

    def questions(self, rows: MeasuredChunk) -> Questions:
        """Queries about the rows of a chunk."""

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Turn answers into sums, and into what is kept of the sampled rows."""

    def conclude(self, total: Any, kept: FloatArray, context: MeasureContext) -> Conclusion:
        """Turn sums over all rows into results."""


@crosses_processes
@dataclass(frozen=True, eq=False)
class MeasureSums:
    """Sums and samples of one or more chunks."""

    totals: tuple[Any, ...]  # one for each measure
    sample: Sample  # of a bounded number of rows: predictions, then what each measure keeps
    asked: int  # rows that the model was asked about

    def __add__(self, other: MeasureSums) -> MeasureSums:
        totals = tuple(a + b for a, b in zip(self.totals, other.totals, strict=True))
        return MeasureSums(totals, self.sample + other.sample, self.asked + other.asked)


@dataclass(frozen=True, eq=False)
class SampleParts:
    """The sampled rows, taken apart into what was kept of them."""

    predictions: FloatArray  # (n_sample, n_outputs): answers
    kept: tuple[FloatArray, ...]  # (n_sample, n_kept): one for each measure
    weight: FloatArray  # (n_sample,): weights
    key: KeyArray  # (n_sample,): keys, increasing

    def up_to(self, last_key: np.uint64) -> SampleParts:
        """The rows with keys up to this one."""
        return self.take(slice(0, int(np.searchsorted(self.key, last_key, "right"))))

    def searched(self, search_key: np.uint64) -> SampleParts:
        """The rows that are searched for regions: up to this key, with a weight."""
        some = self.up_to(search_key)
        weighs = some.weight > 0
        return some if weighs.all() else some.take(weighs)

    def of_measure(self, at: int) -> MeasureSample:
        """What one measure kept."""
        return MeasureSample(self.kept[at], self.weight, self.key)

    def take(self, some: slice | BoolArray) -> SampleParts:
        """Some of the rows."""
        kept = tuple(part[some] for part in self.kept)
        return SampleParts(self.predictions[some], kept, self.weight[some], self.key[some])


def chances(key: KeyArray) -> FloatArray:
    """Turn the keys of rows into numbers in [0, 1)."""
    # the upper 53 bits, as many as a double holds
    return np.asarray((key >> np.uint64(11)) / 2.0**53)


def stack_sample_columns(predictions: FloatArray, kept: Sequence[FloatArray]) -> FloatArray:
    """Put what is kept of sampled rows side by side; `split_sample_columns` undoes it."""
    return np.hstack([predictions, *kept])


def split_sample_columns(
    sample: Sample, n_outputs: int, measures: Sequence[Measure]
) -> SampleParts:
    """Undo `stack_sample_columns`."""
    limits = np.cumsum([n_outputs, *(m.n_kept(n_outputs) for m in measures)])
    parts = np.split(sample.values, limits[:-1], axis=1)
    return SampleParts(parts[0], tuple(parts[1:]), sample.weight, sample.key)


@dataclass(frozen=True, eq=False)
class MeasureTask:
    """The task of a pass over the rows: query the model for all measures, add up for each."""

    model: BatchedModel
    measures: tuple[Measure, ...]
    last_key: np.uint64  # rows with keys up to this one are kept in the sample of the result
    seed: int  # of the rows' keys
    weight: float = 1.0  # what all rows of the table weigh
    # search_key, moved_key: rows with keys up to these are searched for regions, and moved to
    # places near their own, in addition
    search_key: np.uint64 = NO_KEY
    moved_key: np.uint64 = NO_KEY

    @property
    def predictor(self) -> Predictor:
        """The model, for whoever sends the task to other processes."""
        return self.model.predictor

    @property
    def kept_key(self) -> np.uint64:
        """Largest key of the rows that something is kept of."""
        return max(self.last_key, self.search_key, self.moved_key)

    def __call__(self, chunk: Chunk) -> MeasureSums:
        """Ask the model once about every row and measure, and keep sums."""
        key = rows_keys(chunk, self.seed)
        rows = MeasuredChunk(chunk, key, np.flatnonzero(key <= self.kept_key), self.last_key)
        base, n_asked = self.predict_unchanged(rows)
        chunk_results = list[ChunkResult]()
        for group in self.groups(chunk.n_rows):
            asked = [measure.questions(rows) for measure in group]
            replies = self.replies(rows, asked, base)
            for measure, questions, reply in zip(group, asked, replies, strict=True):
                chunk_results.append(measure.add_up(rows, questions, reply))
                n_asked += questions.n_asked(chunk.n_rows)
            del asked, replies, questions, reply  # their memory serves the next group
        values = stack_sample_columns(base.sampled, [result.kept for result in chunk_results])
        sample = sample_chunk_rows(chunk, rows.sampled, key[rows.sampled], values)
        return MeasureSums(tuple(result.total for result in chunk_results), sample, n_asked)

    def predict_unchanged(self, rows: MeasuredChunk) -> tuple[BasePredictions, int]:
        """Predictions and slopes of the rows as they are, and the number of rows predicted."""
        chunk, predictor = rows.chunk, self.predictor
        needs = {m.needs for m in self.measures}
        none = np.empty((0, len(predictor.chosen)))
        if "slopes" in needs:
            if predictor.gives_slopes and "predictions" not in needs:
                slopes, some = self.model.slopes_alone(chunk), self.answers_for(rows.sampled, chunk)
                return BasePredictions(none, self.along_columns(slopes), some), chunk.n_rows
            answers, slopes = self.model.differentiate(chunk)
            return BasePredictions(
                answers, self.along_columns(slopes), answers[rows.sampled]
            ), chunk.n_rows
        if "predictions" in needs:
            answers = predictor.predict(chunk.rows, chunk.n_rows)
            return BasePredictions(answers, {}, answers[rows.sampled]), chunk.n_rows
        some = np.full((rows.sampled.size, none.shape[1]), np.nan)
        shown = np.flatnonzero(rows.key[rows.sampled] <= rows.last_key)
        some[shown] = self.answers_for(rows.sampled[shown], chunk)
        return BasePredictions(none, {}, some), shown.size

    def along_columns(self, slopes: FloatArray) -> dict[int, FloatArray]:
        """Slopes of all rows, column by column, where a measure needs them."""
        columns = sorted({m.feature.column for m in self.measures if m.needs == "slopes"})
        some = slopes if len(columns) == slopes.shape[2] else slopes[:, :, columns]
        return dict(zip(columns, lay_columns(some), strict=True))

    def answers_for(self, some: IntArray, chunk: Chunk) -> FloatArray:
        """Predictions of some rows as they are."""
        if not some.size:
            return np.empty((0, len(self.predictor.chosen)))
        return self.predictor.predict(chunk.take(some).rows, some.size)

    def groups(self, n_rows: int) -> Iterator[list[Measure]]:
        """Measures whose questions are asked together: as many as fill a call of the model."""
        most = self.model.changes_at_once(n_rows, len(self.measures))
        group, n_changes = list[Measure](), 0
        for measure in self.measures:
            if group and n_changes + measure.n_changes > most:
                yield group
                group, n_changes = [], 0
            group.append(measure)
            n_changes += measure.n_changes
        yield group

    def replies(
        self, rows: MeasuredChunk, asked: Sequence[Questions], base: BasePredictions
    ) -> list[Replies]:
        """Ask for some measures at once, and give each its own answers."""
        changes = [change for questions in asked for change in questions.changes]
        answers = self.model.ask(rows.chunk, changes) if changes else NO_ANSWERS
        ends = np.cumsum([len(questions.changes) for questions in asked])
        jumps = iter(self.ask_jumps(rows, [one for q in asked for one in q.jumps]))
        held = [questions.held for questions in asked if questions.held is not None]
        curves = iter(self.model.ask_curves(rows.chunk, held) if held else ())
        subset_queries = iter(
            self.ask_subsets(rows.chunk, [one for q in asked for one in q.subset_queries])
        )
        return [
            Replies(
                base.predictions,
                base.slopes,
                own,
                tuple(next(subset_queries) for _ in questions.subset_queries),
                tuple(next(jumps) for _ in questions.jumps),
                None if questions.held is None else next(curves),
            )
            for own, questions in zip(np.split(answers, ends[:-1]), asked, strict=True)
        ]

    def ask_jumps(self, rows: MeasuredChunk, questions: Sequence[JumpQuestion]) -> list[JumpReply]:
        """Walk once for the jumps along all columns, and again for a second query of a column."""
        if not questions:
            return []
        counted = make_jump_rows(rows.key, rows.chunk.weights, self.weight)
        replies, left = dict[int, JumpReply](), list(range(len(questions)))
        while left:
            first = {questions[place].column: place for place in reversed(left)}
            walk = sorted(first.values())
            asked = [questions[place] for place in walk]
            found = self.model.ask_jumps(rows.chunk, asked, counted)
            replies |= dict(zip(walk, found, strict=True))
            left = [place for place in left if place not in replies]
        return [replies[place] for place in range(len(questions))]

    def ask_subsets(self, chunk: Chunk, subset_queries: Sequence[SubsetQuery]) -> list[FloatArray]:
        """Ask about some rows of a chunk: what is asked about the same rows is asked together."""
        alike, found = dict[int, list[int]](), dict[int, FloatArray]()
        for place, query in enumerate(subset_queries):
            alike.setdefault(id(query.rows), []).append(place)
        for places in alike.values():
            rows, sizes = (
                subset_queries[places[0]].rows,
                [len(subset_queries[k].changes) for k in places],
            )
            changes = [change for k in places for change in subset_queries[k].changes]
            answers = np.empty((len(changes), rows.size, len(self.model.outputs)))
            if rows.size:
                some = chunk if rows.size == chunk.n_rows else chunk.take(rows)
                most = self.model.changes_at_once(rows.size, 1)
                for start in range(0, len(changes), most):
                    part = slice(start, start + most)
                    try:
                        answers[part] = self.model.ask(some, changes[part])
                    except (ModelFailedError, BadPredictionError):
                        if not all(subset_queries[k].may_fail for k in places):
                            raise
                        if len(places) > 1:  # the model may take the changes of other features
                            found |= {
                                k: self.ask_subsets(chunk, [subset_queries[k]])[0] for k in places
                            }
                            break
                        answers[:] = np.nan
                        break
            if places[0] in found:
                continue
            found |= zip(places, np.split(answers, np.cumsum(sizes)[:-1]), strict=True)
        return [found[place] for place in range(len(subset_queries))]


@dataclass(frozen=True, eq=False)
class BasePredictions:
    """Predictions of rows as they are: of all where they are needed, and of the sampled ones.

    They may be nan for sampled rows that the result does not keep.
    """

    predictions: FloatArray
    slopes: Mapping[int, FloatArray]
    sampled: FloatArray = field(repr=False)


# --- A feature with one value: there is no effect to measure


NO_EFFECT = "so no effect can be measured"


@dataclass(frozen=True, eq=False)
class Constant:
    """A feature with one value."""

    feature: Feature
    missing: tuple[Note, ...] = ()  # about rows without a value
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """The position of a row."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """Nothing but the value."""
        return ChunkResult(0, np.full((rows.sampled.size, 1), self.feature.axis.low))

    def conclude(self, total: int, kept: FloatArray, context: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Say that there is no effect to measure."""
        place, seen = self.feature.place, context.survey
        n_rows, weight = int(seen.n_known[place]), seen.known_weight[place]
        made = (describe_constant(self.feature, name, n_rows, weight) for name in context.outputs)
        return Conclusion(
            tuple(replace(one, local_notes=one.local_notes + self.missing) for one in made)
        )


def describe_constant(
    feature: Feature, output: str, n_rows: int, weight: float
) -> Effect | LevelEffect:
    """An effect without a curve, of rows that all have one value or one level."""
    if feature.levels is not None:
        (name,), none = feature.levels.names, np.empty(0)
        return LevelEffect(
            name=feature.name,
            output=output,
            levels=(name,),
            level_count=np.array([n_rows]),
            level_weight=np.array([weight]),
            edges=np.nan_to_num(feature.levels.edges),
            count=np.empty(0, dtype=np.intp),
            rows=none,
            weight=none,
            mean=none,
            std=none,
            correlation=np.empty((0, 0)),
            is_number=feature.levels.is_number,
            pooled=feature.levels.pooled_names,
            local_notes=(note_constant(feature),),
            bin_notes=feature.notes,
        )
    value, unknown, zero = feature.axis.low, np.full(1, np.nan), np.zeros(1)
    return Effect(
        name=feature.name,
        output=output,
        edges=np.array([value, value]),
        count=np.array([n_rows]),
        rows=np.array([feature.axis.rows]),
        weight=np.array([weight]),
        mean_x=np.array([value]),
        std_x=zero,
        low_x=np.array([value]),
        high_x=np.array([value]),
        level=unknown,
        slope=zero,
        std=unknown,
        std_plain=unknown,
        level_error=unknown,
        slope_error=zero,
        row_places=RowPlaces(np.array([value]), np.ones(1)),
        local_notes=(note_constant(feature),),
        kind=feature.axis_kind,
    )


def note_constant(feature: Feature, *, is_traced: bool = False) -> Note:
    """Say that a feature has one value or one level; `is_traced` if the model saw other values."""
    if feature.levels is None:
        shown = format_axis_value(feature.axis.low, feature.axis_kind)
        so = "so the rest of the curve is extrapolated" if is_traced else NO_EFFECT
        return Note("constant", f"constant: always {shown}, {so}")
    if feature.levels.pooled_names:
        n_levels = len(feature.levels.pooled_names)
        return Note("constant", f"all {n_levels:,} levels are rare, {NO_EFFECT}")
    (name,) = feature.levels.names
    return Note("constant", f"constant: always {name!r}, {NO_EFFECT}")


# --- Columns that are not explained: kept of the searched rows as splitters of regions


@dataclass(frozen=True, eq=False)
class SplitterColumn:
    """Positions of the rows on a column that is not measured."""

    feature: Feature
    needs: ClassVar[Needs] = "nothing"
    n_changes: ClassVar[int] = 0
    n_points: ClassVar[int] = 1

    def n_kept(self, n_outputs: int) -> int:  # noqa: ARG002
        """The position of a row."""
        return 1

    def questions(self, rows: MeasuredChunk) -> Questions:  # noqa: ARG002
        """None."""
        return Questions()

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:  # noqa: ARG002
        """No sums; the positions of the sampled rows."""
        return ChunkResult(0, self.feature.axis_positions(rows.chunk)[rows.sampled, None])

    def conclude(self, total: int, kept: FloatArray, context: MeasureContext) -> Conclusion:  # noqa: ARG002
        """Nothing."""
        return Conclusion()
