"""A run: table, model, device, threads and checkpoint, opened once and closed whatever happens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np

from rhale.data import Table, TableInMemory, open_table
from rhale.data.files.table import names_files, open_files
from rhale.data.pieces import PiecedTable
from rhale.data.table import find_columns
from rhale.effects import store
from rhale.effects.binning.moments import Moments
from rhale.effects.explanation import Explanation, note_explained
from rhale.effects.local.choose import Choice
from rhale.effects.local.measure import (
    NO_KEY,
    Conclusion,
    Measure,
    MeasureContext,
    MeasureTask,
    SampleParts,
    split_sample_columns,
    with_bins,
)
from rhale.effects.local.precomputed import MAX_RESULT_SAMPLE_ROWS
from rhale.effects.local.queries import FEWEST_WALKED, BatchedModel
from rhale.effects.support import hold_once, same_places, share_sample
from rhale.effects.table import Missing
from rhale.errors import BadSettingError, RhaleError
from rhale.execution import open_on_engine, rows_of_parts
from rhale.execution.checkpoint.folder import digest_of, identify
from rhale.execution.fold import FIRST_LOOK, FIRST_LOOK_AGAIN, SECOND_LOOK, Passes
from rhale.execution.gpu.task import cuda_of, most_rows, move_to_device, on_device, survey_on_device
from rhale.execution.threads import count_jobs, limit_libraries, limit_threads
from rhale.features.feature import Columns, name_splitters
from rhale.features.naming import keep_words, make_captions, name_columns
from rhale.features.survey import Survey, SurveyTask
from rhale.interaction.estimate import PairPass
from rhale.interaction.h_statistic import WholeRows, WholeRowsTask
from rhale.models import Adapter, Predictor, meet, wrap
from rhale.models.columns import columns_for, describe_left_out_columns, match_columns, naming_cause
from rhale.models.conversions import ConvertedModel, convert
from rhale.models.wrap import read_model, unbind
from rhale.naming import list_asked
from rhale.output.labels import CAPTIONS_KEY
from rhale.output.text import Note
from rhale.regions.estimate import RegionSearchPlan, plan_partners, read_search_rows, search_regions
from rhale.regions.groups import recall_regions
from rhale.regions.partners import PartnerMatrix
from rhale.regions.result import RegionTree
from rhale.regions.settings import By, Regions
from rhale.settings import IDENTITY, USUAL_BINS, Settings, describe_bins
from rhale.stats.arrays import FloatArray

Opened = TableInMemory | PiecedTable
Sums = TypeVar("Sums")
WALKED_NUMBERS = 2**21  # predictions of one walk; twice as many of wide tables:
FEW_CHUNK_ROWS = 2**14  # chunks of fewer feel what every chunk costs for each feature
CHUNKS = (6, 32)  # of a table, at least and at most, however many threads share them
CHUNK_BATCHES, MAX_RUN_CHUNK_NUMBERS = 16, 2**22  # of a chunk, at most: 32 MiB of slopes
SAMPLE_NUMBERS = 400_000  # and not many more numbers than this, however wide the table
FEWEST_SAMPLED = 200
SEARCH_NUMBERS = 2**24  # of all rows that are searched for regions: 128 MiB


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured in the passes over the rows."""

    results: tuple[Any, ...]  # features first, outputs within them
    cells: dict[str, Moments]  # by feature
    predictions: FloatArray  # (n_sample, n_outputs)
    sample_x: FloatArray  # (n_sample, n_features)
    sample_weight: FloatArray  # (n_sample,)
    asked: int  # rows that the model was queried at
    notes: tuple[Note, ...] = ()
    partners: PartnerMatrix | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """A table and a model that are open."""

    asked: Settings  # features by name
    table: Opened
    adapter: Adapter
    batch_rows: int  # in one call of the model
    n_in_table: int | None  # rows of the user's table, where that is known
    n_jobs: int | None  # threads to use
    memory: Any = None  # the checkpoint, where finished work is kept
    notes: tuple[Note, ...] = ()  # on the table

    def survey(self, task: SurveyTask) -> Survey:
        """Survey all rows once; once more if parts of very uneven size sent too few for a sample."""
        size = self.chunk_rows(len(self.table.names))  # the model is not asked
        passes = replace(self._passes(self.table, self.table.n_rows), batch_rows=size)
        found = passes.fold(survey_on_device(task, self.table), FIRST_LOOK)
        if found.sample.is_sure:
            return found
        return passes.fold(task.again(found), FIRST_LOOK_AGAIN)

    def probe_model(self, columns: Columns) -> BatchedModel:
        """Probe the model: what it predicts, and in which batches it is queried."""
        predictor, n_asked = meet(self.adapter, columns.probe, self.asked.output)
        if self.memory is not None:
            probe = columns.probe
            n_asked += probe.n_rows
            self.memory.same_answers(predictor.predict(probe.rows, probe.n_rows))
        names, n_threads = columns.table.names, self.n_jobs or 1
        asker = BatchedModel(predictor, names, self.batch_rows, n_threads, n_asked)
        if not predictor.walks:
            return asker
        # chunks whose features are all answered by one walk of the trees, a few for every core
        n_threads = predictor.n_threads if self.n_jobs is None else self.n_jobs
        fit = WALKED_NUMBERS // (4 * len(columns.features) * predictor.n_all)
        fit = max(fit, min(2 * fit, FEW_CHUNK_ROWS))
        most = max(asker.batch_rows, FEWEST_WALKED)
        size = int(
            np.clip(min(fit, _walked_chunk_rows(columns.survey.n_rows)), FEWEST_WALKED, most)
        )
        return replace(asker, batch_rows=size, n_threads=n_threads)

    def measure(
        self, asker: BatchedModel, columns: Columns, measures: Sequence[Measure]
    ) -> Findings:
        """Pass over the rows until no measure wants another pass."""
        left, number, n_asked = tuple(measures), SECOND_LOOK, 0
        keys = self._last_keys(columns, left, len(asker.outputs))
        found, first, search = list[tuple[Measure, Conclusion]](), None, None
        partners: PartnerMatrix | None = None
        while left:
            weight, moved_key = columns.survey.weight, find_moved_key(left)
            task = on_device(
                MeasureTask(asker, left, keys[0], self.asked.seed, weight, keys[1], moved_key)
            )
            fitting = asker.fit_rows(sum(measure.n_changes for measure in left))
            # chunks that suit the task: slopes are many numbers for each row, a GPU has its limit
            size, most = fitting.batch_rows, most_rows(columns.table, task)
            if isinstance(task, MeasureTask) and any(m.needs == "slopes" for m in left):
                n_numbers = max(len(asker.names), *(m.n_changes for m in left))
                size = self.chunk_rows(n_numbers * len(asker.outputs))
            size = size if most is None else min(size, most)
            passes = self._passes(columns.table, columns.survey.n_rows)
            passes = replace(passes, batch_rows=size, n_threads=fitting.n_threads)
            sums = passes.fold(task, number)
            sampled = split_sample_columns(sums.sample, len(asker.outputs), left)
            shown, notes = sampled.up_to(keys[0]), asker.predictor.notes
            about = MeasureContext(columns.survey, asker.outputs, notes, shown.weight, keys[0])
            is_searched = first is None and self.asked.is_searched
            some = sampled.searched(keys[1]) if is_searched else None
            with self.wrap_checkpoint_errors():
                done = conclude_all(left, sums.totals, (sampled, shown, some), about)
            found, n_asked, number = found + done, n_asked + sums.asked, number + 1
            left = tuple(more for _, one in done for more in one.more)
            rows = None if some is None else read_search_rows(columns, done, some)
            if some is not None and rows is not None and self.asked.partners:
                planned = plan_partners(columns, done, some, rows)
                # rows that are searched for regions may be many more than those of the result
                is_small = self.asked.regions is None
                partners = PartnerMatrix.later(planned.measure) if is_small else planned.measure()
            if some is not None and rows is not None and self.asked.regions is not None:
                search = search_regions(self.asked.regions, columns, done, some, rows)
                again = recall_regions(search.measures, done, some, rows, columns)
                searched = again.sampled, again.sampled.up_to(keys[0]), None
                found += conclude_all(again.measures, again.totals, searched, about)
                left += again.left
            first, keys = first or shown, (keys[0], keys[0])
        assert first is not None  # noqa: S101 - our own mistake: there is always a feature
        gathered = gather_findings(columns, found, first, n_asked, search)
        if (asked := self.asked.regions) is None:
            return replace(gathered, partners=partners)
        fewer: tuple[Note, ...] = ()  # where regions were searched in fewer rows than asked for
        fit = fit_search_rows(asked, measures, len(asker.outputs))
        if fit < min(asked.search_rows, columns.survey.n_rows):
            hold = f"as many as fit into {SEARCH_NUMBERS // 2**17} MiB"
            fewer = (Note("sample", f"regions were searched in {fit:,} rows, {hold}"),)
        return replace(gathered, notes=fewer, partners=partners)

    @contextmanager
    def wrap_checkpoint_errors(self) -> Iterator[None]:
        """Blame the checkpoint that was read, where errors of sums come from it."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            read = None if self.memory is None else self.memory.last_read
            is_told = isinstance(error, RhaleError) and not isinstance(error, BadSettingError)
            if read is None or is_told:  # what was asked for was checked before
                raise
            why = f"its sums cannot be used: {error}"[:200]
            raise self.memory.damaged(read, why) from error

    def measure_pairs(self, task: PairPass[Sums], columns: Columns, number: int) -> Sums:
        """Go through the rows once for all pairs."""
        n_rows, asker = columns.survey.n_rows, task.model
        size = task.chunk_rows(self.batch_rows)
        if asker.predictor.walks:
            size = min(size, max(_walked_chunk_rows(n_rows), FEWEST_WALKED))
        elif asker.n_threads > 1:
            size = min(size, max(-(-n_rows // (3 * asker.n_threads)), FEWEST_WALKED))
        most = most_rows(columns.table, task)
        passes = self._passes(columns.table, n_rows)
        size = size if most is None else min(size, most)
        return replace(passes, batch_rows=size, n_threads=asker.n_threads).fold(task, number)

    def keep_rows(self, columns: Columns, n_rows: int, number: int) -> WholeRows:
        """Whole rows with the smallest keys, at most so many."""
        last_key = columns.survey.sample.last_key(n_rows)
        passes = self._passes(columns.table, columns.survey.n_rows)
        return passes.fold(WholeRowsTask(last_key, self.asked.seed), number).first(n_rows)

    def chunk_rows(self, n_numbers: int) -> int:
        """Rows in a chunk, of so many numbers each: several batches, since every chunk has its price.

        One batch where rows are read from elsewhere. Threads change nothing of it, nor of any bit.
        """
        if not self.table.storage.is_memory:
            return self.batch_rows
        fit = min(MAX_RUN_CHUNK_NUMBERS // n_numbers, _usual_rows(self.table, self.adapter))
        return self.batch_rows * int(np.clip(fit // self.batch_rows, 1, CHUNK_BATCHES))

    def _passes(self, table: Table, n_rows: int | None) -> Passes:
        return Passes(
            table, self.batch_rows, self.asked.progress, n_rows, self.n_jobs or 1, self.memory
        )

    def _last_keys(
        self, columns: Columns, measures: Sequence[Measure], n_outputs: int
    ) -> tuple[np.uint64, np.uint64]:
        """Largest keys of the rows that the result keeps, and of those searched for regions."""
        n_numbers = 1 + max(m.n_points for m in measures) * n_outputs
        wide = SAMPLE_NUMBERS // (len(columns.features) * n_numbers)
        sample = columns.survey.sample
        last_key = sample.last_key(int(np.clip(wide, FEWEST_SAMPLED, MAX_RESULT_SAMPLE_ROWS)))
        if self.asked.regions is None:
            return last_key, last_key
        fit = fit_search_rows(self.asked.regions, measures, n_outputs)
        return last_key, sample.last_key(fit)


def _walked_chunk_rows(n_rows: int) -> int:
    """Rows of a chunk of a table that trees walk: threads share chunks, sums depend on them."""
    return -(-n_rows // int(np.clip(n_rows // FEW_CHUNK_ROWS, *CHUNKS)))


def conclude_all(
    measures: Sequence[Measure],
    totals: Sequence[Any],
    rows: tuple[SampleParts, SampleParts, SampleParts | None],
    about: MeasureContext,
) -> list[tuple[Measure, Conclusion]]:
    """Conclude every measure from its sums, and from what was kept of some rows.

    `rows` are all of these, those that the result keeps, and those that are searched for regions.
    """
    sampled, shown, searched = rows

    def conclusions() -> Iterator[Conclusion]:
        for at, (measure, total) in enumerate(zip(measures, totals, strict=True)):
            own = replace(
                about,
                sampled=sampled.of_measure(at),
                searched=None if searched is None else searched.of_measure(at),
            )
            yield measure.conclude(total, shown.kept[at], own)

    return list(zip(measures, with_bins(conclusions()), strict=True))


def find_moved_key(measures: Sequence[Measure]) -> np.uint64:
    """Largest key of the rows that some measure moves to values near their own."""
    bases = [getattr(measure, "base", measure) for measure in measures]
    nearby = [near for base in bases if (near := getattr(base, "nearby", None)) is not None]
    return max((one.last_key for one in nearby), default=NO_KEY)


def fit_search_rows(asked: Regions | By, measures: Sequence[Measure], n_outputs: int) -> int:
    """Rows that are searched for regions: as many as the user says, if they fit into memory."""
    fit = SEARCH_NUMBERS // (n_outputs + sum(m.n_kept(n_outputs) for m in measures))
    return min(asked.search_rows, fit)


def gather_findings(
    columns: Columns,
    found: Sequence[tuple[Measure, Conclusion]],
    sampled: SampleParts,
    n_asked: int,
    search: RegionSearchPlan | None = None,
) -> Findings:
    """Put conclusions in order: features first, outputs within them, with all that was found."""
    results, missing = dict[str, tuple[Any, ...]](), dict[str, tuple[Missing | None, ...]]()
    cells, thirds = dict[str, Moments](), dict[str, Conclusion]()
    for measure, one in found:
        name = measure.feature.name
        if one.results:
            results[name] = one.results
        if one.missing:
            missing[name] = one.missing
        if one.cells is not None:
            cells[name] = one.cells
        if one.parts:
            thirds[name] = one
    positions = dict[str, FloatArray]()
    for (measure, _), kept in zip(found, sampled.kept, strict=False):
        if kept.shape[1]:
            positions.setdefault(measure.feature.name, kept[:, :1])
    rows = np.hstack([positions[feature.name] for feature in columns.features])
    sample_x, weight = hold_once(rows, sampled.weight)
    ordered = list[Any]()
    for feature, column in zip(columns.features, sample_x.T, strict=True):
        own = results[feature.name]
        points = missing.get(feature.name, (None,) * len(own))
        shared = list[Any]()
        for r, point in zip(own, points, strict=True):
            fields: dict[str, Any] = {"missing": point}
            if r.parts == "bins":  # rows, and their places for all outputs, are held once
                alike = same_places(r.row_places, own[0].row_places)
                fields["row_places"] = (own[0] if alike else r).row_places
                fields["sample"] = share_sample(r, column, weight) or r.sample
            shared.append(replace(r, **fields))
        own = tuple(shared)
        if search is not None:
            third = thirds.get(feature.name)
            own = tuple(search.attach(r, output, third) for output, r in enumerate(own))
        ordered += own
    predictions = sampled.predictions.copy()  # all else that was kept of the rows may go
    return Findings(tuple(ordered), cells, predictions, sample_x, weight, n_asked)


@contextmanager
def open_run(model: Any, data: Any, asked: Settings) -> Iterator[Run]:
    """Open the table and the model, and close whatever was opened."""
    model, response = unbind(read_model(model), asked.response)
    asked = asked if response == asked.response else replace(asked, response=response)
    pieced = open_files(data) if names_files(data) else open_on_engine(data)
    table: Opened
    if pieced is None:
        table = name_columns(open_table(data, asked.weights), asked)
        if asked.columns is not None:
            table = table.select(find_columns(table.names, asked.columns))
    else:  # of files and engines only the columns that the model is to see are read
        pieced = pieced.weigh_by(asked.weights)
        wanted = asked.columns
        wanted = columns_for(model, pieced.names) if wanted is None else list(wanted)
        table = pieced if wanted is None else pieced.only(wanted)
    asked = asked.by_name(table.names)
    table, asked, notes = _match_model_columns(model, table, asked)
    table, n_in_table = _draw(table, asked)
    find_columns(table.names, asked.features)  # refused before a model is moved or a folder made
    name_splitters(table.names, asked)
    jobs = count_jobs(asked.n_jobs)
    adapter = wrap(model, gradient=asked.gradient, response=asked.response)
    if asked.transform is not None or asked.output_transform is not None:
        table, ways = convert(table, asked.transform, asked.output_names, asked.output_transform)
        adapter = ConvertedModel(adapter, ways)
    with limit_libraries(jobs):  # rows are copied by the threads of torch
        adapter, placed = move_to_device(adapter, table, asked.device)
    host, table = table, placed if asked.checkpoint is None else table  # checkpoints keep its rows
    batch_rows = asked.batch_size or _usual_rows(table, adapter)
    run = Run(asked, table, adapter, batch_rows, n_in_table, jobs, notes=notes)
    with (
        _keep(run) as memory,
        limit_threads(adapter, jobs) as alone,
        alone.session(),
        naming_cause(adapter.columns, host),
    ):
        yield replace(run, adapter=alone, memory=memory)


def _match_model_columns(
    model: Any, table: Opened, asked: Settings
) -> tuple[Opened, Settings, tuple[Note, ...]]:
    """Leave a table in memory the columns that the model was fitted on, in its order."""
    wanted = match_columns(model, table.names) if asked.columns is None else None
    if wanted is None or not table.storage.is_memory:
        return table, asked, ()
    named = keep_words(asked.without_positions(table.names), table.names, wanted)
    places = {name: place for place, name in enumerate(table.names)}
    kept = {*wanted}
    left = [name for name in places if name not in kept]
    asked_for = {*list_asked(named.features or [""], "features"), *(named.splitters or ())}
    if asked_for & {*left}:  # the model may take more than it was fitted on
        return table, asked, ()
    matched = cast(TableInMemory, table).select([places[name] for name in wanted])
    return matched, named, (describe_left_out_columns(left),) if left else ()


def _draw(table: Opened, asked: Settings) -> tuple[Opened, int | None]:
    """Draw rows if the user wants fewer; and say how many there are, as far as that is known."""
    if asked.n_rows is None:
        return table, table.n_rows
    pieced = None if table.storage.is_memory else cast(PiecedTable, table)
    part_rows = rows_of_parts(pieced) if pieced else (cast(int, table.n_rows),)
    n_all = sum(part_rows)
    if asked.n_rows >= n_all:
        return table, n_all
    rng = np.random.default_rng(asked.seed)
    places = np.sort(rng.choice(n_all, asked.n_rows, replace=False))
    if pieced:
        return pieced.take(places, part_rows), n_all
    return cast(TableInMemory, table).take(places), n_all


def _usual_rows(table: Table, adapter: Adapter) -> int:
    """Rows in one call of the model: tens of thousands, fewer for very wide tables."""
    most = 2**16 if cuda_of(adapter) is None else 2**19  # a GPU has room for more
    return table.storage.usual_rows or int(np.clip(2**23 // len(table.names), 2**10, most))


@contextmanager
def _keep(run: Run) -> Iterator[Any]:
    """Open the folder that keeps finished work, if the user names one."""
    if run.asked.checkpoint is None:
        yield None
        return
    if run.table.storage.no_resume:
        msg = f"checkpoint= does not work with {run.table.storage.no_resume}"
        raise BadSettingError(msg)
    from rhale.execution.checkpoint.folder import Checkpoint  # a tenth of the time of all imports

    said = say_settings(run.asked, run.table.names) | {"batch": run.batch_rows}
    with Checkpoint.open(run.asked.checkpoint, identify(run.table, said)) as memory:
        yield memory


def say_settings(asked: Settings, names: Sequence[str]) -> dict[str, Any]:
    """Settings that numbers depend on, and versions: the identity of a run in a checkpoint."""
    return {
        **{name: getattr(asked, name) for name in IDENTITY},
        "bins": plain_bins(asked.bins),
        "regions": plain_regions(asked.regions),
        "features": find_columns(names, asked.features),
        "pairing": None if asked.pairing is None else vars(asked.pairing),
        "rhale": own_version(),
        "numpy": np.__version__,
    }


def plain_bins(bins: Any) -> Any:
    """Bins of other explanations by their numbers, whenever they were made; others as they are."""
    if isinstance(bins, Mapping):
        return {feature: plain_bins(asked) for feature, asked in bins.items()}
    if not isinstance(bins, Explanation):
        return bins
    return f"bins of {sign(bins)}"


def sign(explanation: Explanation) -> str:
    """Digest of the numbers of an explanation, the same whenever it was made."""
    packed = store.pack_explanation(explanation).items()
    numbers = {name: held for name, held in packed if name != "provenance"}
    return digest_of(json.dumps(numbers, sort_keys=True).encode())


def plain_regions(regions: Regions | By | None) -> Any:
    """Regions that were found before by their splits, in full; others as they are."""
    if isinstance(regions, By) and isinstance(regions.column, RegionTree):
        return f"By({regions.column.splits!r})"
    return regions


def conclude(
    run: Run, columns: Columns, asker: BatchedModel, choice: Choice, found: Findings
) -> Explanation:
    """Put what was measured together with the record of how it was made."""
    predictor, n_asked = asker.predictor, found.asked + choice.asked
    asked = {
        "rows_asked": asker.n_probed + (predictor.checked_rows if predictor.walks else n_asked),
        "answers_walked": n_asked if predictor.walks else 0,
        "local_effects": {name: str(way) for name, way in choice.ways.items()},
        "ways": {name: way.kind for name, way in choice.ways.items()},
        "sample_rows": len(found.sample_x),
    }
    made = Explanation(
        features=tuple(f.name for f in columns.features),
        outputs=asker.outputs,
        effects=found.results,
        predictions=found.predictions,
        sample_x=found.sample_x,
        sample_weight=found.sample_weight,
        cells=found.cells,
        provenance={**describe_run(run, columns, predictor), **asked},
        notes=(*run.notes, *found.notes),
        partner_matrix=found.partners,
    )
    return note_explained(made)


def describe_run(run: Run, columns: Columns, predictor: Predictor) -> dict[str, Any]:
    """Record what was explained, and how."""
    asked, survey = run.asked, columns.survey
    bins = USUAL_BINS[asked.method] if asked.bins is None else asked.bins
    return {
        "model": predictor.adapter.kind,
        "method": asked.method,
        "bins": describe_bins(bins),
        "local": asked.local,
        "asked": asked.sources(),
        "table": run.table.kind,
        "columns": list(run.table.names),
        "rows": survey.n_rows,
        "rows_in_table": survey.n_rows if run.n_in_table is None else run.n_in_table,
        "kinds": {f.name: f.kind for f in columns.features},
        "weighted": bool(survey.weight_squares != survey.n_rows),
        "seed": asked.seed,
        "rhale": own_version(),
        "numpy": np.__version__,
        CAPTIONS_KEY: make_captions(asked, columns.table, predictor).plain(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@cache
def own_version() -> str:
    """Version of the installed package; unknown in a source tree that was never installed."""
    from importlib.metadata import PackageNotFoundError, version  # as slow as a tenth of NumPy

    try:
        return version("rhale")
    except PackageNotFoundError:
        return "unknown"
