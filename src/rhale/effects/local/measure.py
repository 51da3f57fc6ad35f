"""What a measure is: it asks about rows, adds up what it hears, and concludes results from sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change
from rhale.effects.binning.fit import Unbinned, bin_all
from rhale.effects.binning.moments import Moments
from rhale.effects.jumps import JumpQuestion, JumpReply, make_jump_rows
from rhale.effects.local.queries import BatchedModel, Curves
from rhale.effects.table import Missing
from rhale.errors import BadPredictionError, ModelFailedError
from rhale.features.feature import Feature
from rhale.features.survey import Survey, rows_keys, sample_chunk_rows
from rhale.models import Predictor
from rhale.models.questions import HeldPoints
from rhale.output.note import Note
from rhale.regions.settings import Target
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, lay_columns
from rhale.stats.records import crosses_processes
from rhale.stats.sampling import MAX_ROW_HASH, KeyArray, Sample

Needs = Literal["nothing", "predictions", "slopes"]
EFFECTS_BINNED_TOGETHER = 32  # effects whose bins are chosen together
NO_ANSWERS = np.empty((0, 0, 0))
NO_KEY = np.uint64(0)
OTHER_BIT = np.uint64(6)  # of a row's key: smaller ones tell groups of rows, and halves


@dataclass(frozen=True, eq=False)
class MeasuredChunk:
    """A chunk at work.

    Attributes
    ----------
    chunk : Chunk
        The rows.
    key : ndarray of shape (n_rows,)
        Their keys.
    sampled : ndarray of shape (n_sampled,)
        Which of them something is kept of: all that the result keeps, and more where they are
        searched for regions.
    last_key : int
        Rows with keys up to this one are those that the result keeps.
    counted : ndarray of shape (n_rows,) or None
        Which of them count at all, where a region is measured; None for all.
    """

    chunk: Chunk
    key: KeyArray
    sampled: IntArray
    last_key: np.uint64 = MAX_ROW_HASH
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
        """Sampled rows with keys up to one, each of several that are alike once.

        Returns
        -------
        rows : ndarray of shape (n_some,)
            Which rows of the chunk; the same array for the same key, so that questions about them
            can be put together.
        among : ndarray of shape (n_sampled,)
            Which of these each sampled row is like; -1 where its key is larger.
        """
        if last_key not in self.found:
            key = self.key[self.sampled]
            small = np.flatnonzero(key <= last_key)
            _, first, same = np.unique(key[small], return_index=True, return_inverse=True)
            order = np.argsort(first)  # rows as they stand in the chunk
            among = np.full(key.size, -1)
            among[small] = np.argsort(order)[same]
            self.found[last_key] = self.sampled[small[first[order]]], among
        return self.found[last_key]


@dataclass(frozen=True, eq=False)
class SubsetQuery:
    """What is asked about some rows of a chunk only.

    Attributes
    ----------
    rows : ndarray of shape (n_some,)
        Which rows.
    changes : sequence of (column, values)
        What to replace in each copy of them; values of shape (n_some,).
    may_fail : bool
        Whether the model may refuse: answers are nan then.
    """

    rows: IntArray
    changes: Sequence[Change]
    may_fail: bool = False


@dataclass(frozen=True, eq=False)
class Questions:
    """What one measure asks about a chunk, and what it has to remember until it is answered.

    Attributes
    ----------
    changes : sequence of (column, values)
        What to replace in each copy of all rows.
    memory : object
        Whatever `add_up` wants back.
    asides : sequence of SubsetQuery
        What is asked about some of the rows besides.
    jumps : sequence of JumpQuestion
        What is asked about the jumps of a model that is walked.
    held : HeldPoints or None
        At which points the column is held in all rows.
    """

    changes: Sequence[Change] = ()
    memory: Any = None
    asides: Sequence[SubsetQuery] = ()
    jumps: Sequence[JumpQuestion] = ()
    held: HeldPoints | None = None

    def n_asked(self, n_rows: int) -> int:
        """Rows that the model is asked about; once, where their jumps are."""
        some = sum(len(aside.changes) * aside.rows.size for aside in self.asides)
        n_points = 0 if self.held is None else self.held.points.size
        return (len(self.changes) + n_points + len(self.jumps)) * n_rows + some


@dataclass(frozen=True, eq=False)
class Replies:
    """What the model says about a chunk.

    Attributes
    ----------
    predictions : ndarray of shape (n_rows, n_outputs)
        Of the rows as they are; no rows where no measure needs them.
    slopes : mapping of int to ndarray of shape (n_outputs, n_rows)
        Along the columns for which a measure needs them.
    changed : ndarray of shape (n_changes, n_rows, n_outputs)
        Answers to the changes that the measure asked about.
    asides : sequence of ndarray of shape (n_changes, n_some, n_outputs)
        Answers to what it asked about some of the rows.
    jumps : sequence of JumpReply
        Answers to what it asked about jumps.
    curves : callable or None
        Gives answers for some rows with the column held at the points; None where it is not.
    """

    predictions: FloatArray
    slopes: Mapping[int, FloatArray]
    changed: FloatArray
    asides: Sequence[FloatArray] = ()
    jumps: Sequence[JumpReply] = ()
    curves: Curves | None = None


@dataclass(frozen=True, eq=False)
class ChunkResult:
    """What one measure makes of a chunk.

    Attributes
    ----------
    total : object
        Adds up with those of other chunks.
    kept : ndarray of shape (n_sampled, n_kept)
        What is kept of the sampled rows: where they stand on the feature's axis, then the rest.
    """

    total: Any
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
    """What a measure may want to know when it concludes.

    Attributes
    ----------
    survey : Survey
        What the first pass learned.
    outputs : tuple of str
        Names of the outputs.
    notes : tuple of Note
        What the model has to say.
    weight : ndarray of shape (n_sample,)
        Weights of the sampled rows.
    last_key : int
        MeasuredChunk with keys up to this one are the sampled ones.
    searched : MeasureSample or None
        What the measure kept of the rows that are searched for regions; None where none are.
    sampled : MeasureSample or None
        What it kept of all rows: those that the result keeps are the first of them.
    """

    survey: Survey
    outputs: tuple[str, ...]
    notes: tuple[Note, ...]
    weight: FloatArray
    last_key: np.uint64
    searched: MeasureSample | None = None
    sampled: MeasureSample | None = None


class PartResult(NamedTuple):
    """The effect in one group of one division.

    Attributes
    ----------
    division, group, output : int
        Which.
    effect : Effect, LevelEffect, Unbinned or None
        `Unbinned` where its bins are to be chosen together with others; None where the group has
        too few rows.
    """

    division: int
    group: int
    output: int
    effect: Any


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What a measure makes of all rows.

    Attributes
    ----------
    results : tuple
        One for each output; `Unbinned` where its bins are to be chosen together with others.
    missing : tuple of Missing or None
        What happens when the value is removed, one for each output, where that was the question.
    cells : Moments or None
        Fine cells from which bins can be chosen anew.
    more : tuple of Measure
        What to measure next, in another pass over the rows.
    targets : tuple of Target
        Local effects of the rows that are searched for regions, one for each output.
    parts : tuple of PartResult
        The effect in groups of rows, where that was the question.
    groups : ndarray of shape (n_sample, n_divisions) or None
        Groups of the sampled rows in each division, where that was the question.
    """

    results: tuple[Any, ...] = ()
    missing: tuple[Missing | None, ...] = ()
    cells: Moments | None = None
    more: tuple[Measure, ...] = ()
    targets: tuple[Target, ...] = ()
    parts: tuple[PartResult, ...] = ()
    groups: IntArray | None = None

    @property
    def unbinned(self) -> list[Unbinned]:
        """What waits for its bins."""
        every = (*self.results, *(part.effect for part in self.parts))
        return [one for one in every if isinstance(one, Unbinned)]

    def with_effects(self, effects: Iterator[Any]) -> Conclusion:
        """Put the next of some effects wherever one waits for its bins."""

        def fill(one: Any) -> Any:
            return next(effects) if isinstance(one, Unbinned) else one

        results = tuple(fill(one) for one in self.results)
        parts = tuple(part._replace(effect=fill(part.effect)) for part in self.parts)
        return replace(self, results=results, parts=parts)


def with_bins(conclusions: Iterable[Conclusion]) -> Iterator[Conclusion]:
    """Choose the bins of all results that wait for them, those of some features together."""
    waiting, n_unbinned = list[Conclusion](), 0
    for made in conclusions:
        waiting.append(made)
        n_unbinned += len(made.unbinned)
        if (
            n_unbinned >= EFFECTS_BINNED_TOGETHER
        ):  # so that cells of few features are in memory more than once
            yield from _bin(waiting)
            waiting, n_unbinned = [], 0
    yield from _bin(waiting)


def _bin(conclusions: Sequence[Conclusion]) -> Iterator[Conclusion]:
    unbinned = [one for made in conclusions for one in made.unbinned]
    effects = (effect for (effect,) in bin_all(unbinned))
    yield from (made.with_effects(effects) for made in conclusions)


class Measure(Protocol):
    """One kind of measurement of one feature: asked, added up and concluded in one file."""

    @property
    def feature(self) -> Feature:
        """Whose effect is measured."""

    @property
    def needs(self) -> Needs:
        """What it needs of the rows as they are."""

    @property
    def n_changes(self) -> int:
        """How many changed copies of all rows it asks about."""

    @property
    def n_points(self) -> int:
        """Numbers of a sampled row for each output by which the size of the sample is chosen."""

    def n_kept(self, n_outputs: int) -> int:
        """Numbers that it keeps of a sampled row."""

    def questions(self, rows: MeasuredChunk) -> Questions:
        """Rows as the model is to see them."""

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Turn answers into sums, and into what is kept of the sampled rows."""

    def conclude(self, total: Any, kept: FloatArray, about: MeasureContext) -> Conclusion:
        """Turn sums over all rows into results."""


@crosses_processes
@dataclass(frozen=True, eq=False)
class MeasureSums:
    """What one or more chunks have to say.

    Attributes
    ----------
    totals : tuple
        One for each measure.
    sample : Sample
        Of a bounded number of rows: predictions, then what each measure keeps.
    asked : int
        MeasuredChunk that the model was asked about.
    """

    totals: tuple[Any, ...]
    sample: Sample
    asked: int

    def __add__(self, other: MeasureSums) -> MeasureSums:
        totals = tuple(a + b for a, b in zip(self.totals, other.totals, strict=True))
        return MeasureSums(totals, self.sample + other.sample, self.asked + other.asked)


@dataclass(frozen=True, eq=False)
class SampleParts:
    """The sampled rows, taken apart into what was kept of them.

    Attributes
    ----------
    predictions : ndarray of shape (n_sample, n_outputs)
        Answers.
    kept : tuple of ndarray of shape (n_sample, n_kept)
        One for each measure.
    weight : ndarray of shape (n_sample,)
        Weights.
    key : ndarray of shape (n_sample,)
        Keys, increasing.
    """

    predictions: FloatArray
    kept: tuple[FloatArray, ...]
    weight: FloatArray
    key: KeyArray

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
    """The task of a pass over the rows: ask for all measures, add up for each.

    Attributes
    ----------
    asker : BatchedModel
        The model.
    measures : tuple of Measure
        What is measured.
    last_key : int
        Rows with keys up to this one are kept in the sample of the result.
    seed : int
        Of the rows' keys.
    weight : float
        What all rows of the table weigh.
    search_key, moved_key : int
        Rows with keys up to these are searched for regions, and moved to places near their own,
        besides.
    """

    asker: BatchedModel
    measures: tuple[Measure, ...]
    last_key: np.uint64
    seed: int
    weight: float = 1.0
    search_key: np.uint64 = NO_KEY
    moved_key: np.uint64 = NO_KEY

    @property
    def predictor(self) -> Predictor:
        """The model, for whoever sends the task to other processes."""
        return self.asker.predictor

    @property
    def kept_key(self) -> np.uint64:
        """Largest key of the rows that something is kept of."""
        return max(self.last_key, self.search_key, self.moved_key)

    def __call__(self, chunk: Chunk) -> MeasureSums:
        """Ask the model once about every row and measure, and keep sums."""
        key = rows_keys(chunk, self.seed)
        rows = MeasuredChunk(chunk, key, np.flatnonzero(key <= self.kept_key), self.last_key)
        base, n_asked = self.as_they_are(rows)
        tallies = list[ChunkResult]()
        for group in self.groups(chunk.n_rows):
            asked = [measure.questions(rows) for measure in group]
            replies = self.replies(rows, asked, base)
            for measure, questions, reply in zip(group, asked, replies, strict=True):
                tallies.append(measure.add_up(rows, questions, reply))
                n_asked += questions.n_asked(chunk.n_rows)
            del asked, replies, questions, reply  # their memory serves the next group
        values = stack_sample_columns(base.sampled, [tally.kept for tally in tallies])
        sample = sample_chunk_rows(chunk, rows.sampled, key[rows.sampled], values)
        return MeasureSums(tuple(tally.total for tally in tallies), sample, n_asked)

    def as_they_are(self, rows: MeasuredChunk) -> tuple[Base, int]:
        """What the model says of the rows as they are, and about how many it was asked."""
        chunk, predictor = rows.chunk, self.predictor
        needs = {m.needs for m in self.measures}
        none = np.empty((0, len(predictor.chosen)))
        if "slopes" in needs:
            if predictor.gives_slopes and "predictions" not in needs:
                slopes, some = self.asker.slopes_alone(chunk), self.answers_for(rows.sampled, chunk)
                return Base(none, self.along_columns(slopes), some), chunk.n_rows
            answers, slopes = self.asker.differentiate(chunk)
            return Base(answers, self.along_columns(slopes), answers[rows.sampled]), chunk.n_rows
        if "predictions" in needs:
            answers = predictor.predict(chunk.rows, chunk.n_rows)
            return Base(answers, {}, answers[rows.sampled]), chunk.n_rows
        some = np.full((rows.sampled.size, none.shape[1]), np.nan)
        shown = np.flatnonzero(rows.key[rows.sampled] <= rows.last_key)
        some[shown] = self.answers_for(rows.sampled[shown], chunk)
        return Base(none, {}, some), shown.size

    def along_columns(self, slopes: FloatArray) -> dict[int, FloatArray]:
        """Slopes of all rows, column by column, where a measure needs them."""
        columns = sorted({m.feature.column for m in self.measures if m.needs == "slopes"})
        some = slopes if len(columns) == slopes.shape[2] else slopes[:, :, columns]
        return dict(zip(columns, lay_columns(some), strict=True))

    def answers_for(self, some: IntArray, chunk: Chunk) -> FloatArray:
        """What the model says of some rows as they are."""
        if not some.size:
            return np.empty((0, len(self.predictor.chosen)))
        return self.predictor.predict(chunk.take(some).rows, some.size)

    def groups(self, n_rows: int) -> Iterator[list[Measure]]:
        """Measures whose questions are asked together: as many as fill a call of the model."""
        most = self.asker.changes_at_once(n_rows, len(self.measures))
        group, n_changes = list[Measure](), 0
        for measure in self.measures:
            if group and n_changes + measure.n_changes > most:
                yield group
                group, n_changes = [], 0
            group.append(measure)
            n_changes += measure.n_changes
        yield group

    def replies(self, rows: MeasuredChunk, asked: Sequence[Questions], base: Base) -> list[Replies]:
        """Ask for some measures at once, and give each its own answers."""
        changes = [change for questions in asked for change in questions.changes]
        answers = self.asker.ask(rows.chunk, changes) if changes else NO_ANSWERS
        ends = np.cumsum([len(questions.changes) for questions in asked])
        jumps = iter(self.ask_jumps(rows, [one for q in asked for one in q.jumps]))
        held = [questions.held for questions in asked if questions.held is not None]
        curves = iter(self.asker.ask_curves(rows.chunk, held) if held else ())
        asides = iter(self.ask_asides(rows.chunk, [one for q in asked for one in q.asides]))
        return [
            Replies(
                base.predictions,
                base.slopes,
                own,
                tuple(next(asides) for _ in questions.asides),
                tuple(next(jumps) for _ in questions.jumps),
                None if questions.held is None else next(curves),
            )
            for own, questions in zip(np.split(answers, ends[:-1]), asked, strict=True)
        ]

    def ask_jumps(self, rows: MeasuredChunk, questions: Sequence[JumpQuestion]) -> list[JumpReply]:
        """Walk once for the jumps along all columns, and again where a column is asked about again."""
        if not questions:
            return []
        counted = make_jump_rows(rows.key, rows.chunk.weights, self.weight)
        replies, left = dict[int, JumpReply](), list(range(len(questions)))
        while left:
            first = {questions[place].column: place for place in reversed(left)}
            walk = sorted(first.values())
            asked = [questions[place] for place in walk]
            found = self.asker.ask_jumps(rows.chunk, asked, counted)
            replies |= dict(zip(walk, found, strict=True))
            left = [place for place in left if place not in replies]
        return [replies[place] for place in range(len(questions))]

    def ask_asides(self, chunk: Chunk, asides: Sequence[SubsetQuery]) -> list[FloatArray]:
        """Ask about some rows of a chunk: what is asked about the same rows is asked together."""
        alike, found = dict[int, list[int]](), dict[int, FloatArray]()
        for place, aside in enumerate(asides):
            alike.setdefault(id(aside.rows), []).append(place)
        for places in alike.values():
            rows, sizes = asides[places[0]].rows, [len(asides[k].changes) for k in places]
            changes = [change for k in places for change in asides[k].changes]
            answers = np.empty((len(changes), rows.size, len(self.asker.outputs)))
            if rows.size:
                some = chunk if rows.size == chunk.n_rows else chunk.take(rows)
                most = self.asker.changes_at_once(rows.size, 1)
                for start in range(0, len(changes), most):
                    part = slice(start, start + most)
                    try:
                        answers[part] = self.asker.ask(some, changes[part])
                    except (ModelFailedError, BadPredictionError):
                        if not all(asides[k].may_fail for k in places):
                            raise
                        if len(places) > 1:  # the model may take the changes of other features
                            found |= {k: self.ask_asides(chunk, [asides[k]])[0] for k in places}
                            break
                        answers[:] = np.nan
                        break
            if places[0] in found:
                continue
            found |= zip(places, np.split(answers, np.cumsum(sizes)[:-1]), strict=True)
        return [found[place] for place in range(len(asides))]


@dataclass(frozen=True, eq=False)
class Base:
    """What the model says of rows as they are: of all where that is needed, and of the sampled.

    Of sampled rows that the result does not keep it may say nothing: nan.
    """

    predictions: FloatArray
    slopes: Mapping[int, FloatArray]
    sampled: FloatArray = field(repr=False)
