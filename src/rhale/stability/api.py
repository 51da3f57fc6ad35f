"""refit() and refits(): the steps from a learner, or fitted models, and a table to Refits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, combinations, count
from os import PathLike
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data.table import TableInMemory
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.explanation import Explanation, rebin_alike
from rhale.effects.local.choose import choose_measures, postpone_bins
from rhale.errors import (
    BadSettingError,
    BadTableError,
    CheckpointError,
    MissingExtraError,
    ModelFailedError,
    NotDifferentiableError,
    RhaleError,
    UnknownModelError,
    UnknownNameError,
    excerpt,
)
from rhale.execution.fold import Progress
from rhale.execution.threads import count_jobs, limit_libraries, map_in_threads
from rhale.features.feature import Columns, FirstPass
from rhale.features.row_columns import read_explained_rows
from rhale.interaction.api import interactions, pairs_among
from rhale.interaction.result import Interactions
from rhale.interaction.settings import read_pairs
from rhale.models.conversions import describe_conversions
from rhale.models.files.sandbox import containing
from rhale.models.training import (
    MIN_PREFITTED_MODELS,
    TrainingSet,
    as_trainer,
    check_target,
    is_larger,
    read_models,
    refuse_rows,
    require_training_rows,
)
from rhale.models.wrap import read_model, unbind
from rhale.naming import answering_unknown, find_feature
from rhale.output.text import Note, as_notes
from rhale.pipeline import Run, conclude, open_run, say_settings
from rhale.settings import USUAL_BINS, Settings, name_keys
from rhale.stability.refit_effect import RefitPair
from rhale.stability.replication import Overlap
from rhale.stability.result import Failure, Refits, lighten
from rhale.stability.splits import Scheme, check_indices
from rhale.stats.arrays import IntArray
from rhale.system import LOG

MIN_USUAL_TRAININGS = 10  # trainings
KEPT_BYTES = 2**30  # of all models together, for questions about pairs
SAME_TRAINING_ROWS_NOTE = Note(
    "same rows",
    "all retrainings used the same rows: they differ only by the randomness of the learner. Nothing "
    "is known about training on other rows, so there is no interval",
)
MODELS_TOO_LARGE = Note(
    "models",
    f"the models take more than {KEPT_BYTES // 2**30} GiB and were not kept: interactions can "
    "only be measured during the retrainings, by pairs=",
)
MODELS_NOT_IN_CHECKPOINT = Note(
    "models",
    "some retrainings come from the checkpoint of an earlier call, which keeps no models: "
    "interactions can only be measured during the retrainings, by pairs=",
)
PAIR_OPTIONS = (
    *("output", "response", "transform", "output_transform", "weights", "columns", "categorical"),
    *("n_rows", "seed", "batch_size", "device"),
)
# of one explanation alone, or read beside the options; a gradient is that of one model
NOT_OPTIONS = (*("checkpoint", "progress", "pairing", "partners", "n_jobs", "seed", "gradient"),)
REFIT_OPTIONS = tuple(one.name for one in fields(Settings) if one.name not in NOT_OPTIONS)
# errors that every training would raise
FATAL_ERRORS = (
    *(BadSettingError, BadTableError, UnknownNameError, MissingExtraError),
    *(NotDifferentiableError, UnknownModelError),
)


@answering_unknown(*REFIT_OPTIONS)
@containing
def refit(
    estimator: Any,
    data: Any,
    target: Any,
    *,
    scheme: str | None = None,
    n_refits: int = 20,
    share: float | None = None,
    folds: int = 5,
    train: Sequence[npt.ArrayLike] | None = None,
    groups: npt.ArrayLike | str | None = None,
    fit_params: Mapping[str, Any] | None = None,
    model: Any = None,
    pairs: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> Refits:
    """Retrain a learner on parts of the rows, and measure which effects are stable.

    Parameters
    ----------
    estimator : estimator or callable
        An estimator with `fit` (scikit-learn, a pipeline, XGBoost, LightGBM, CatBoost), which is
        cloned and not changed; or a function (rows, target) -> fitted model.
    data : NumPy array, pandas, polars or pyarrow table
        Rows to train and to explain on, in memory. Every retrained model is explained on all of them.
    target : array-like of shape (n_rows,) or str
        Values to predict; or the column that holds them, which is then not a feature.
    scheme : {"half-samples", "subsamples", "folds", "bootstraps"}, optional
        Which rows each retraining uses: half-samples if not given, or subsamples where `share` is.
        Half-samples come as complementary halves, which say most about training on other rows.
    n_refits : int
        Number of retrainings.
    share : float, optional
        Share of the rows in a subsample; two thirds by default.
    folds : int
        Folds of one round; 20 retrainings are four rounds of five.
    train : sequence of arrays of int or bool, optional
        Rows of each retraining, where you know better: time, clusters, a design of your own. It
        replaces `scheme`.
    groups : array-like of shape (n_rows,) or str, optional
        Labels of rows that belong together (a customer, a patient), which are never divided; or
        the column of these labels, which is then not a feature.
    fit_params : mapping, optional
        Passed on to `fit`; what has one entry per row is cut to the rows of the retraining.
    model : fitted model, optional
        The model that you use: its curve is drawn over those of the retrained models.
    pairs : "all" or sequence of pairs, optional
        Measure interactions, too; see `Refits.replication`.
    seed : int
        Seed of the draw of the rows.
    n_jobs : int, optional
        Retrainings at a time, -1 for one per core: each is fitted and explained in one thread of this
        process, and numbers are the same for any of them. By default one after the other, with as
        many threads as the learner likes.
    checkpoint : path, optional
        Folder where finished retrainings are kept, without their models. The same call, made again
        after an interruption, continues from there and ends with the same numbers; retrainings that
        failed are tried again. A learner is known by its class and parameters, a function by its
        name.
    progress : bool or callable, optional
        True shows a bar with the time that is left; a callable gets (retrainings done, all).
    **options
        As in `rhale.explain`: features, output, response, method, regions; transform (the learner
        sees the table as it is), output_transform, limits, categorical, weights (for the
        explanation; learners get theirs by `fit_params`); columns, feature_names, output_names (by
        default the name of the target, if it has one), units; bins, local, window, n_rows (that are
        explained); batch_size, device.

    Returns
    -------
    Refits
        Results of the retrainings that succeeded; those that failed are listed in `failures`. An
        interrupted run returns those that are done, with a note, if there are at least two.

    Notes
    -----
    With `n_jobs`, libraries are kept to the thread that calls them. CatBoost cannot be while it
    learns: give it `thread_count=1`.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(200, 2))
    >>> def learn(rows, target):
    ...     slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
    ...     return lambda rows: rows @ slopes
    >>> rx = rhale.refit(learn, x, 2 * x[:, 0] + rng.normal(size=200))
    >>> [effect.name for effect in rx.values() if effect.comes_back]
    ['x0']
    """
    # outputs are named after the target, where it has a name
    name = target if isinstance(target, str) else getattr(target, "name", None)
    if isinstance(name, str) and name:
        options = {"output_names": name, **options}
    asked = read_options(options, seed, n_jobs)
    rows = read_explained_rows(data, asked, target=target, groups=groups)
    n_rows = rows.table.n_rows
    lesson = TrainingSet(
        as_trainer(estimator), rows.table, check_target(rows.target, n_rows), fit_params
    )
    if train is None:
        usual = "half-samples" if share is None else "subsamples"
        drawn = Scheme(usual if scheme is None else scheme, n_refits, share, folds)
        parts = drawn.draw(n_rows, groups=rows.groups, strata=lesson.strata, seed=seed)
    else:
        parts = check_indices(train, None, n_rows)
    work = RefitRun(rows.table, rows.asked, len(parts), n_jobs, progress, pairs)
    with keep_trainings(work, lesson, parts, checkpoint) as keeping:
        done = keeping.explain_all(lambda number: lesson.train(parts[number]), own=model)
    told = {"learner": lesson.trainer.name, "scheme": drawn.name if train is None else "own rows"}
    return assemble_refits(work, done, Overlap.of(parts, n_rows, rows.units), told)


@answering_unknown(*REFIT_OPTIONS)
@containing
def refits(
    models: Any,
    data: Any,
    *,
    train: Sequence[npt.ArrayLike] | None = None,
    test: Sequence[npt.ArrayLike] | None = None,
    scheme: str = "auto",
    groups: npt.ArrayLike | str | None = None,
    model: Any = None,
    pairs: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    **options: Any,
) -> Refits:
    """Explain models that were trained on different rows of one table.

    Parameters
    ----------
    models : sequence of fitted models, or dict
        Models that are fitted; or what scikit-learn's `cross_validate(..., return_estimator=True,
        return_indices=True)` returned.
    data : table
        All rows, as in `rhale.explain`; every model is explained on all of them. In memory, unless
        models are independent.
    train, test : sequence of arrays of int or bool, optional
        Rows that each model was trained on, or those that were left out.
    scheme : {"auto", "independent"}
        "independent": models were trained on data of their own, no two on the same rows; `train`
        is not needed then.
    groups : array-like of shape (n_rows,) or str, optional
        Labels of rows that belong together, if no training divided them.
    model, pairs, seed, n_jobs, progress, **options
        As in `rhale.refit`; `seed` is that of the sample of rows.

    Returns
    -------
    Refits

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.2 * rows[:, 0]]
    >>> rx = rhale.refits(models, x, train=[np.arange(50), np.arange(50, 100)])
    >>> np.diff(rx["x0"].curve([0.0, 1.0])).round(2)
    array([2.1])
    """
    models, train, test = read_models(models, train, test)
    models = [read_model(one) for one in models]
    asked = read_options(options, seed, n_jobs)
    if scheme == "independent":
        refuse_rows(train=train, test=test, groups=groups)
        table, overlap = data, Overlap.independent(len(models))
    elif scheme == "auto":
        rows = read_explained_rows(data, asked, groups=groups)
        table, asked, n_rows = rows.table, rows.asked, rows.table.n_rows
        overlap = Overlap.of(require_training_rows(models, train, test, n_rows), n_rows, rows.units)
    else:
        msg = (
            f"scheme={scheme!r} is not known here; use 'auto', with the rows of each model in "
            "train=, or 'independent' where no two models share a row"
        )
        raise BadSettingError(msg)
    work = RefitRun(table, asked, len(models), n_jobs, progress, pairs, are_given=True)
    done = work.explain_all(models.__getitem__, own=model)
    names = [type(unbind(one, "auto")[0]).__name__ for one in models]
    learner = Counter(names).most_common(1)[0][0]
    return assemble_refits(work, done, overlap, {"learner": learner, "scheme": "models as given"})


def read_options(options: Mapping[str, Any], seed: int, n_jobs: int | None) -> Settings:
    """Settings of every explanation; trainings that run at the same time have a thread each."""
    threads = None if count_jobs(n_jobs) is None else 1
    asked = Settings(**options, seed=seed, n_jobs=threads, partners=False)
    if named := pairs_among(asked.features):
        msg = f"features= names pairs, {named[0]!r}; name them in pairs=, beside the features"
        raise BadSettingError(msg)
    return asked


# --- trainings, one after the other or several at a time -------------------------------------------


@dataclass(frozen=True, eq=False)
class Training:
    """The result of one training: a model and its effects, or an error."""

    number: int
    model: Any = None
    explanation: Explanation | None = None
    pairs: Interactions | None = None
    error: Exception | None = None


@dataclass(eq=False)
class TrainingResults:
    """Results of all trainings so far."""

    own: Explanation | None = None  # effects of the user's own model
    # by the number of the training, from 0 on; no models of trainings from a checkpoint folder, and
    # no pairs where they are measured later
    models: dict[int, Any] = field(default_factory=dict)
    explanations: dict[int, Explanation] = field(default_factory=dict)
    pairs: dict[int, Interactions] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    is_interrupted: bool = False  # whether the user stopped before the last one


class SharedFirstPass:
    """The first pass over the columns, made by the training that comes first, for all of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.seen: Columns | None = None
        self.pairs: list[tuple[str, str]] | None = None
        self.bins: Any = None  # features by name, whatever order the models have

    def columns(self, run: Run) -> Columns:
        """Columns as the first pass found them; other threads wait for it."""
        with self._lock:
            if self.seen is None or self.seen.table.names != run.table.names:
                first = FirstPass.plan(run.table, run.asked)
                self.seen = first.resolve_columns(run.survey(first.task))
                self.bins = run.asked.bins
            return self.seen


@dataclass(frozen=True, eq=False)
class RefitRun:
    """One call at work: the settings of every explanation, and what trainings share."""

    data: Any  # rows that are explained
    asked: Settings  # settings of every explanation
    n_trainings: int  # how many there are to be
    n_jobs: int | None = None  # how many at a time, each in one thread
    progress: bool | Progress | None = None
    pairs: Any = None  # pairs of features that are measured, too
    are_given: bool = False  # whether models are the user's: none of them may fail
    first_look: SharedFirstPass = field(
        default_factory=SharedFirstPass
    )  # what is known of the columns
    kept: Any = None  # where finished trainings are kept

    def explain_all(self, make: Callable[[int], Any], own: Any = None) -> TrainingResults:
        """Explain every model as soon as it is there; keep what is done, whatever happens."""
        if self.pairs is not None:  # refuse what cannot be measured before anything is trained
            asked = read_same_pairs(self.pairs)
            if isinstance(self.data, TableInMemory) and not isinstance(asked, str):
                for name in chain.from_iterable(asked):
                    find_feature(name, self.data.names)
        done = TrainingResults()
        with limit_libraries(count_jobs(self.n_jobs)), self._telling() as tell:
            try:
                if own is not None:
                    with name_failed_model("model="):
                        done.own = self._explain(own)
                with closing(self._run(make)) as trainings:
                    for training in trainings:
                        self._take(done, training)
                        tell()
            except KeyboardInterrupt:
                if len(done.explanations) < MIN_PREFITTED_MODELS:
                    raise
                done.is_interrupted = True
        return done

    def _run(self, make: Callable[[int], Any]) -> Generator[Training]:
        """Trainings in order; threads work ahead, and none begins once this is closed."""
        one, numbers = partial(self._train, make), range(self.n_trainings)
        n_threads = min(count_jobs(self.n_jobs) or 1, self.n_trainings)
        yield from map(one, numbers) if n_threads == 1 else map_in_threads(one, numbers, n_threads)

    def _train(self, make: Callable[[int], Any], number: int) -> Training:
        """Train and explain one model, or read what the checkpoint folder has of it; catch errors."""
        try:
            found = None if self.kept is None else self.kept.load(number)
            if found is not None:
                known = None if found.pairs is None else Interactions(**found.pairs)
                return Training(number, None, Explanation(**found.explanation), known)
            model = make(number)
            fx, pairs = self._explain(model), None
            if self.kept is not None:
                if self.pairs is not None:
                    as_asked = number == 0 or not isinstance(self.pairs, str)  # one warning of cost
                    asked = self.pairs if as_asked else list(combinations(fx.features, 2))
                    pairs = self.measure_pairs(model, asked, self.asked.n_jobs)
                self.kept.save(number, fx, pairs)
            return Training(number, model, fx, pairs)
        except Exception as error:  # noqa: BLE001 - learners fail as they like
            return Training(number, error=error)

    def measure_pairs(self, model: Any, pairs: Any, n_jobs: int | None) -> Interactions:
        """Measure pairs of one training, in so many threads; warn of the cost of all trainings once."""
        options = {name: getattr(self.asked, name) for name in PAIR_OPTIONS}
        named = (self.first_look.pairs or pairs) if isinstance(pairs, str) else pairs
        features = self.asked.features if named == "all" else None
        options |= {"n_jobs": n_jobs, "pairs": named, "features": features}
        found = interactions(model, self.data, **options)
        if named == "all":
            self.first_look.pairs = [pair.names for pair in found.pairs[:: len(found.outputs)]]
            if found.provenance["ways"].get("corners"):
                LOG.warning("and as much for each of %d retrainings", self.n_trainings)
        return found

    def _explain(self, model: Any) -> Explanation:
        """Explain one model; the first pass over the columns is shared by all of them."""
        with open_run(model, self.data, self.asked) as run:
            columns = self.first_look.columns(run)
            asker = run.probe_model(columns)
            choice = choose_measures(columns, asker, run.asked)
            if run.asked.regions is None:  # whose bins are chosen with them
                choice = postpone_bins(choice)
            measured = run.measure(asker, columns, choice.measures)
        return conclude(run, columns, asker, choice, measured)

    def find_axes(self) -> dict[str, FeatureAxis]:
        """Axes of the features; surveyed anew if all trainings come from a checkpoint folder."""
        columns = self.first_look.seen
        if columns is None:
            # settings that only some models understand do not concern columns
            asked = replace(self.asked, output=None, response="auto", local="auto", device=None)
            with open_run(lambda rows: np.zeros(len(rows)), self.data, asked) as run:
                columns = self.first_look.columns(run)
        return {feature.name: feature.axis for feature in columns.features}

    def _take(self, done: TrainingResults, training: Training) -> None:
        """Keep the result of a training; raise errors that concern all of them."""
        number, fx = training.number, training.explanation
        if (error := training.error) is not None:
            if isinstance(error, CheckpointError):
                raise error
            is_first = not done.explanations and done.own is None
            if isinstance(error, FATAL_ERRORS) and is_first and not (self.are_given and number):
                raise error
            if self.are_given:
                with name_failed_model(f"model {number + 1}"):
                    raise error
            done.failures.append(Failure(number + 1, describe_failure(error)))
            if len(done.failures) > self.n_trainings - MIN_PREFITTED_MODELS:
                failed = done.failures[0]
                msg = (
                    f"{len(done.failures)} of {self.n_trainings} retrainings failed, too many to compare "
                    f"the others; retraining {failed.number}: {failed.reason}"
                )
                raise ModelFailedError(msg) from error
        if fx is None:
            return
        if not done.explanations:
            check_own(done.own, fx)
        elif self.are_given and fx.outputs != (first := done.explanations[0]).outputs:
            msg = (
                f"model 1 returns {', '.join(first.outputs)}, model {number + 1} {', '.join(fx.outputs)}; "
                "retrained models are compared on the same outputs: choose them by output="
            )
            raise BadSettingError(msg)
        if training.model is not None:
            done.models[number] = training.model
        if training.pairs is not None:
            done.pairs[number] = training.pairs
        done.explanations[number] = fx

    @contextmanager
    def _telling(self) -> Iterator[Callable[[], object]]:
        """Give the function to call when a training is done, or has failed."""
        progress, numbers = self.progress, count(1)
        if not progress:
            yield lambda: None
        elif callable(progress):
            yield lambda: progress(next(numbers), self.n_trainings)
        else:
            from tqdm.auto import tqdm

            with tqdm(total=self.n_trainings, unit="training", desc="rhale, refits") as bar:
                yield bar.update


@contextmanager
def keep_trainings(
    work: RefitRun, lesson: TrainingSet, parts: Sequence[IntArray], folder: Any
) -> Iterator[RefitRun]:
    """Give the run, with a checkpoint folder for finished trainings if the user names one."""
    if folder is None:
        yield work
        return
    from rhale.execution.checkpoint.folder import Checkpoint  # a tenth of the time of all imports
    from rhale.execution.checkpoint.kept_trainings import (
        KeptTrainings,
        fingerprint_value,
        identify_trainings,
    )

    asked = work.asked
    said = say_settings(asked, lesson.table.names) | {"pairs": work.pairs}
    for name in ("n_rows", "batch_size", "n_jobs", "gradient", "weights"):
        said[name] = fingerprint_value(getattr(asked, name))
    if asked.transform is not None or asked.output_transform is not None:
        ways = describe_conversions(lesson.table, asked.transform, asked.output_transform)
        said["transform"] = ways
    with Checkpoint.open(folder, identify_trainings(lesson, parts, said)) as memory:
        yield replace(work, kept=KeptTrainings(memory))


@contextmanager
def name_failed_model(called: str) -> Iterator[None]:
    """Name the model in the message of an error."""
    try:
        yield
    except Exception as error:
        if is_unfitted(error) or is_unfitted(error.__cause__):
            msg = f"{called} is not fitted; pass models that are, or let rhale.refit train an estimator"
            raise ModelFailedError(msg) from error
        if isinstance(error, RhaleError):
            msg = f"{called}: {error}"
            raise type(error)(msg) from error
        msg = f"{called} cannot be explained: {describe_failure(error)}"
        raise ModelFailedError(msg) from error


def is_unfitted(error: BaseException | None) -> bool:
    """Whether a library says that a model was not fitted; they all follow scikit-learn here."""
    return any(kind.__name__ == "NotFittedError" for kind in type(error).__mro__)


def describe_failure(error: Exception) -> str:
    """Why a training failed, in one line."""
    kind = "" if isinstance(error, RhaleError) else f"{type(error).__name__}: "
    return kind + excerpt(error)


def check_own(own: Explanation | None, fx: Explanation) -> None:
    """Refuse a model of the user's own that answers something else than the trainings."""
    if own is not None and own.features != fx.features:
        msg = (
            f"model= was fitted on {', '.join(own.features)}, and the retrained models on "
            f"{', '.join(fx.features)}; pass a model of the same columns, or leave model= out"
        )
        raise BadSettingError(msg)
    if own is not None and own.outputs != fx.outputs:
        msg = (
            f"model= returns {', '.join(own.outputs)}, and the retrained models {', '.join(fx.outputs)}; "
            "pass the same kind of model, or leave model= out"
        )
        raise BadSettingError(msg)


# --- the whole -------------------------------------------------------------------------------------


def assemble_refits(
    work: RefitRun, done: TrainingResults, overlap: Overlap, told: Mapping[str, Any]
) -> Refits:
    """Give all trainings the same bins, and assemble the result with its record and notes."""
    numbers = keep_same_outputs(done)
    overlap = overlap.take(numbers)
    found = [done.explanations[number] for number in numbers]
    found += [] if done.own is None else [done.own]
    if any(fx.cells for fx in found):
        axes = work.find_axes()
        # bins that were asked for, or the default; of a mapping feature by feature
        usual, bins = USUAL_BINS[work.asked.method], work.first_look.bins
        if isinstance(bins, Mapping):
            named = name_keys(bins, found[0].provenance["columns"])
            bins = {feature: named.get(feature, usual) for feature in found[0].features}
        found = list(rebin_alike(found, usual if bins is None else bins, axes=axes))
    own = None if done.own is None else lighten(found.pop())
    source = KeptModels([done.models[n] for n in numbers if n in done.models], work, overlap)
    # why models cannot be asked about pairs later; None if they can
    left: Note | None = None
    lost = tuple[Note, ...]()
    if len(source.models) < overlap.n_trainings:
        left = MODELS_NOT_IN_CHECKPOINT
    elif not work.are_given and is_larger(source.models, KEPT_BYTES):
        left = MODELS_TOO_LARGE
    columns = (note for note in as_notes(found[0].notes) if note.kind == "columns")
    if work.pairs is None or done.pairs:
        pairs = compare_refit_pairs([done.pairs[n] for n in numbers if n in done.pairs], overlap)
    else:
        try:  # what stops pairs must not cost the trainings
            pairs = source.measure(work.pairs)
        except (KeyboardInterrupt, RhaleError) as error:
            why = "interrupted" if isinstance(error, KeyboardInterrupt) else excerpt(error)
            pairs, lost = (), (Note("pairs", f"pairs were not measured: {why}"),)
    # what was trained and explained, without what every training has of itself
    asked = found[0].provenance["asked"]
    record = {
        **found[0].provenance,
        **told,
        "asked": {name: asked[name] for name in asked if name not in ("partners", "n_jobs")},
        "trainings": overlap.n_trainings,
        "trainings_asked": work.n_trainings,
    }
    if overlap.n_rows:
        record["rows_trained"] = [int(overlap.n_train.min()), int(overlap.n_train.max())]
    return Refits(
        explanations=tuple(map(lighten, found)),
        overlap=overlap,
        own=own,
        pairs=pairs,
        failures=tuple(sorted(done.failures)),
        provenance=record,
        notes=(*columns, *note_trainings(work, done, overlap, left), *lost),
        trained=source if left is None else None,
    )


def keep_same_outputs(done: TrainingResults) -> list[int]:
    """Numbers of the trainings whose models have the same outputs; note the others as failed."""
    usual = Counter(fx.outputs for fx in done.explanations.values()).most_common(1)[0][0]
    kept = []
    for number, fx in sorted(done.explanations.items()):
        if fx.outputs == usual:
            kept.append(number)
        else:
            reason = (
                f"its outputs are {', '.join(fx.outputs)}, those of most others {', '.join(usual)}"
            )
            done.failures.append(Failure(number + 1, reason))
    if len(kept) < MIN_PREFITTED_MODELS:
        last = done.failures[-1]
        msg = f"{len(kept)} retraining is left, too few to compare; retraining {last.number}: {last.reason}"
        raise ModelFailedError(msg)
    return kept


def note_trainings(
    work: RefitRun, done: TrainingResults, overlap: Overlap, left: Note | None
) -> tuple[Note, ...]:
    """Notes about the trainings, and why their models are not kept."""
    n_done, notes = overlap.n_trainings, list[Note]()
    if done.is_interrupted:
        text = f"interrupted: {n_done} of {work.n_trainings} retrainings are done"
        notes.append(Note("interrupted", text))
    if n_done < MIN_USUAL_TRAININGS:
        text = f"{n_done} retrainings are too few for a reliable interval; 20 are usual"
        notes.append(Note("few trainings", text))
    if overlap.is_same:
        notes.append(SAME_TRAINING_ROWS_NOTE)
    if left is not None and not (left is MODELS_NOT_IN_CHECKPOINT and done.pairs):
        notes.append(left)
    return tuple(notes)


# --- pairs -----------------------------------------------------------------------------------------


def read_same_pairs(pairs: Any) -> Any:
    """Read which pairs are measured; refuse to choose other ones in every training."""
    asked = read_pairs(pairs)
    if asked is None or isinstance(asked, int):
        msg = (
            f"pairs={pairs!r} would choose other pairs in every retraining; name them, "
            "pairs=[('a', 'b')], or pass pairs='all'"
        )
        raise BadSettingError(msg)
    return asked


@dataclass(frozen=True, eq=False)
class KeptModels:
    """Models in memory, for interactions that are measured later."""

    models: list[Any] = field(repr=False)  # those that were explained, in order
    work: RefitRun
    overlap: Overlap  # which rows they share

    def measure(self, pairs: Any) -> tuple[RefitPair, ...]:
        """Measure pairs of features in all trainings, in the same cells."""
        asked, found = read_same_pairs(pairs), list[Interactions]()
        for number, model in enumerate(self.models, start=1):
            with name_failed_model(f"model {number} of {len(self.models)}"):
                found.append(self.work.measure_pairs(model, asked, self.work.n_jobs))
        return compare_refit_pairs(found, self.overlap)


def compare_refit_pairs(found: Sequence[Interactions], overlap: Overlap) -> tuple[RefitPair, ...]:
    """Compare pairs of all trainings, which were measured in the same cells."""
    alike = zip(*(ix.pairs for ix in found), strict=True)
    return tuple(RefitPair.of(same, overlap) for same in alike)
