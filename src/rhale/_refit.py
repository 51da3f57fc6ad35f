"""refit() and refits(): the steps from a learner, or its models, and a table to Refits, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import count
from operator import getitem
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale._interact import interactions
from rhale._run import conclude, open_run
from rhale.engines.fold import Progress
from rhale.engines.threads import count_jobs
from rhale.errors import (
    BadSettingError,
    BadTableError,
    MissingExtraError,
    ModelFailedError,
    NotDifferentiableError,
    UnknownModelError,
    UnknownNameError,
    excerpt,
)
from rhale.explanation import Explanation, rebin_alike
from rhale.features.first_pass import Columns, FirstPass
from rhale.kernels import IntArray
from rhale.kernels.overlap import Overlap
from rhale.kernels.splits import Scheme, as_units, check_indices
from rhale.measures.choose import choose
from rhale.models.fitting import as_trainer, check_target
from rhale.models.lesson import Lesson, Training, train_ahead
from rhale.models.model_size import is_larger
from rhale.names import find_feature, near_names
from rhale.results.note import Note
from rhale.results.refit_pair import RefitPair
from rhale.settings import PROFILES, USUAL_BINS, Settings
from rhale.tables import open_table
from rhale.tables.chunk import TableInMemory, find_columns
from rhale.tables.columns import column_at
from rhale.tables.files.sources import names_files
from rhale.trainings import Failure, Refits, lighten

FEWEST, ENOUGH = 2, 10  # trainings
KEPT_BYTES = 2**30  # of all models together, for questions about pairs
PAIR_OPTIONS = (
    *("output", "response", "gradient", "weights", "categorical"),
    *("n_rows", "seed", "batch_size", "n_jobs", "device"),
)
ONE_TRAINING = ("checkpoint", "progress", "pairing", "partners", "n_jobs", "seed")
# wrong questions: no training would answer them
WRONG = (
    *(BadSettingError, BadTableError, UnknownNameError, MissingExtraError),
    *(NotDifferentiableError, UnknownModelError),
)


def refit(
    estimator: Any,
    data: Any,
    target: Any,
    *,
    scheme: str = "half-samples",
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
    progress: bool | Progress | None = None,
    **options: Any,
) -> Refits:
    """Train a learner again and again on part of the rows, and explain every training.

    Parameters
    ----------
    estimator : estimator or callable
        An estimator with `fit` (scikit-learn, a pipeline, XGBoost, LightGBM, CatBoost), which is
        cloned and stays as it is; or a function (rows, target) -> fitted model.
    data : NumPy array, pandas, polars or pyarrow table
        Rows to train and to explain on, in memory. Every training is explained on all of them.
    target : array-like of shape (n_rows,) or str
        What is learned; or the column that holds it, which is then no feature.
    scheme : {"half-samples", "subsamples", "folds", "bootstraps"}
        Which rows a training has. Half-samples come as complementary halves, which is what
        `Refits.replication` needs.
    n_refits : int
        How many trainings.
    share : float, optional
        Of the rows in a subsample; two thirds by default.
    folds : int
        Of one round; 20 trainings are four rounds of five.
    train : sequence of arrays of int or bool, optional
        Rows of each training, where you know better: time, clusters, a design of your own. It
        replaces `scheme`.
    groups : array-like of shape (n_rows,) or str, optional
        Rows that belong together (a customer, a patient) go into a training together; or the
        column that says so, which is then no feature.
    fit_params : mapping, optional
        Passed on to `fit`; what has one entry a row is cut to the rows of the training.
    model : fitted model, optional
        The model that you use: its curve is drawn over those of the trainings.
    pairs : "all" or sequence of pairs, optional
        Measure interactions, too; see `Refits.replication`.
    seed : int
        Of the draw of the rows.
    n_jobs : int, optional
        Trainings at a time, in threads of this process; -1 for one per core.
    progress : bool or callable, optional
        True shows a bar with the time that is left; a callable gets (trainings done, all).
    **options
        As in `rhale.explain`: features, method, bins, local, gradient, output, response, columns,
        weights (for the explanation; learners get theirs by `fit_params`), categorical, limits,
        window, spread_window, regions, n_rows, batch_size, device.

    Returns
    -------
    Refits
        Of the trainings that succeeded; those that failed are named in `failures`. An interrupted
        run gives those that are done, and says so, if there are two.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 2))
    >>> def learn(rows, target):
    ...     slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
    ...     return lambda rows: rows @ slopes
    >>> rx = refit(learn, x, 2 * x[:, 0] + rng.normal(size=200))
    >>> [effect.name for effect in rx if effect.comes_back]
    ['x0']
    """
    asked = read_options(options, seed, n_jobs)
    rows = read_rows(data, asked, target=target, groups=groups)
    lesson = Lesson(as_trainer(estimator), rows.table, rows.target, fit_params or {})
    n_rows = rows.table.n_rows
    if train is None:
        drawn = Scheme(scheme, n_refits, share, folds)
        parts = drawn.draw(n_rows, groups=rows.groups, strata=lesson.strata, seed=seed)
    else:
        parts = check_indices(train, None, n_rows)
    work = Work(rows.table, rows.asked, pairs, len(parts), progress)
    done = work.explain_all(train_ahead(lesson, parts, count_jobs(n_jobs) or 1), own=model)
    overlap = Overlap.of(parts, n_rows, rows.units)
    told = {"learner": lesson.trainer.name, "scheme": "own rows" if train else drawn.name}
    return gather(work, done, overlap, told)


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
        What you have; or what scikit-learn's `cross_validate(..., return_estimator=True,
        return_indices=True)` returned.
    data : table
        All rows, as in `rhale.explain`; every model is explained on all of them.
    train, test : sequence of arrays of int or bool, optional
        Rows that each model was trained on, or those that were left out.
    scheme : {"auto", "independent"}
        "independent": models were trained on data of their own, no two on the same rows; `train`
        is not needed then.
    groups : array-like of shape (n_rows,) or str, optional
        Rows that belong together, if trainings kept them together.
    model, pairs, seed, n_jobs, progress, **options
        As in `rhale.refit`; `seed` is that of the sample of rows.

    Returns
    -------
    Refits

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.2 * rows[:, 0]]
    >>> rx = refits(models, x, train=[np.arange(50), np.arange(50, 100)])
    >>> rx["x0"].curve([0.0, 1.0], center="start").round(2)
    array([0. , 2.1])
    """
    models, train, test = read_models(models, train, test)
    asked = read_options(options, seed, n_jobs)
    if scheme == "independent":
        refuse_rows(train, test)
        table, overlap = data, Overlap.independent(len(models))
    elif scheme == "auto":
        rows = read_rows(data, asked, groups=groups)
        table, asked, n_rows = rows.table, rows.asked, rows.table.n_rows
        overlap = Overlap.of(require_rows(models, train, test, n_rows), n_rows, rows.units)
    else:
        msg = f"scheme={scheme!r} is not known here; use 'auto' with train=, or 'independent'"
        raise BadSettingError(msg)
    work = Work(table, asked, pairs, len(models), progress, are_given=True)
    done = work.explain_all(hand_over(models), own=model)
    learner = Counter(type(one).__name__ for one in models).most_common(1)[0][0]
    return gather(work, done, overlap, {"learner": learner, "scheme": "models as given"})


def read_options(options: Mapping[str, Any], seed: int, n_jobs: int | None) -> Settings:
    """Read what is passed on to the explanation of every training."""
    known = [one.name for one in fields(Settings) if one.name not in ONE_TRAINING]
    for name in options:
        if name not in known:
            msg = f"{name}= is no option of refits; " + near_names(name, known)
            raise BadSettingError(msg)
    return Settings(**options, seed=seed, n_jobs=n_jobs, partners=False)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that are explained, and what is known of them beside their features."""

    table: TableInMemory
    asked: Settings
    target: Any = None
    groups: Any = None

    @property
    def units(self) -> IntArray | None:
        """Number of the group of each row; None where rows stand for themselves."""
        return None if self.groups is None else as_units(self.groups, self.table.n_rows)[0]


def read_rows(data: Any, asked: Settings, *, target: Any = None, groups: Any = None) -> Rows:
    """Open the table, and take columns out of it that are no features: target, groups, weights."""
    table = require_memory(data)
    given = {"target": target, "groups": groups, "weights": asked.weights}
    taken = {
        name: find_feature(one, table.names) for name, one in given.items() if isinstance(one, str)
    }
    for name, place in taken.items():
        given[name] = read_column(table, place)
    wanted = asked.columns
    if wanted is None:
        kept = [i for i in range(len(table.names)) if i not in taken.values()]
    else:
        kept = find_columns(table.names, wanted)
    if target is not None:
        check_target(given["target"], table.n_rows)
    asked = replace(asked, weights=given["weights"], columns=None)
    return Rows(table.select(kept), asked, given["target"], given["groups"])


def require_memory(data: Any) -> TableInMemory:
    """Open rows that are in memory, since trainings take part of them."""
    if names_files(data):
        msg = f"{data!r:.80} names files; trainings take part of the rows: read the table first"
        raise BadTableError(msg)
    return open_table(data)


def read_column(table: TableInMemory, place: int) -> Any:
    """One column, in the user's kind of table."""
    rows = table.select([place]).chunk(0, table.n_rows).rows
    if isinstance(rows, np.ndarray):
        return rows[:, 0]
    return column_at(nw.from_native(rows, eager_only=True), 0).to_native()


def read_models(models: Any, train: Any, test: Any) -> tuple[list[Any], Any, Any]:
    """Read models, or what scikit-learn's `cross_validate` returned."""
    if isinstance(models, Mapping):
        for name, option in (("estimator", "return_estimator"), ("indices", "return_indices")):
            if name not in models and (name == "estimator" or (train is None and test is None)):
                msg = f"models= is a dict without {name!r}; call cross_validate(..., {option}=True)"
                raise BadSettingError(msg)
        found = models.get("indices", {})
        train = found.get("train") if train is None else train
        test = found.get("test") if test is None else test
        models = models["estimator"]
    if isinstance(models, str) or not isinstance(models, Iterable):
        msg = f"models={models!r:.60} is no sequence of fitted models"
        raise BadSettingError(msg)
    models = list(models)
    if len(models) < FEWEST:
        msg = f"{len(models)} model tells nothing about other trainings; give two or more, best 20"
        raise BadSettingError(msg)
    return models, train, test


def refuse_rows(train: Any, test: Any) -> None:
    """Refuse rows of trainings that are said to have rows of their own."""
    if train is not None or test is not None:
        msg = "scheme='independent' says that no two trainings share a row; leave train= and test= out"
        raise BadSettingError(msg)


def require_rows(models: Sequence[Any], train: Any, test: Any, n_rows: int) -> tuple[IntArray, ...]:
    """Rows of each training, one entry a model."""
    if train is None and test is None:
        msg = (
            "which rows was each model trained on? Give train= (or test=, the rows left out), one "
            "array of row numbers a model; scheme='independent' if no two share a row"
        )
        raise BadSettingError(msg)
    rows = check_indices(train, test, n_rows)
    if len(rows) != len(models):
        msg = f"there are {len(models)} models, and rows of {len(rows)} trainings; give one array a model"
        raise BadSettingError(msg)
    return rows


def hand_over(models: Sequence[Any]) -> Generator[Training]:
    """Models that are there already, as trainings."""
    for number in range(len(models)):
        yield number, partial(getitem, models, number)


@dataclass(frozen=True, eq=False)
class Done:
    """What came out of the trainings: explanations and models by their numbers, and failures."""

    explanations: dict[int, Explanation]
    models: dict[int, Any]
    failures: list[Failure]
    own: Explanation | None = None
    is_interrupted: bool = False


@dataclass(frozen=True, eq=False)
class Work:
    """One call at work: the same questions to every model.

    Attributes
    ----------
    data : table
        Rows that are explained.
    asked : Settings
        What is asked of every model.
    pairs : object
        Pairs of features that are measured, too.
    n_trainings : int
        How many there are to be.
    progress : bool, callable or None
        Who is told.
    are_given : bool
        Whether models are the user's: none of them may fail.
    """

    data: Any
    asked: Settings
    pairs: Any
    n_trainings: int
    progress: bool | Progress | None = None
    are_given: bool = False

    def explain_all(self, trainings: Generator[Training], own: Any = None) -> Done:
        """Explain every model as soon as it is there; keep what is done, whatever happens."""
        columns, done = None, Done({}, {}, [])
        with closing(trainings), self._telling() as tell:
            try:
                if own is not None:
                    fx, columns = self._explain(own, None)
                    done = replace(done, own=fx)
                for number, wait in trainings:
                    try:
                        model = wait()
                        fx, columns = self._explain(model, columns)
                    except Exception as error:  # noqa: BLE001 - learners fail as they like
                        self._fail(done, number, error)
                    else:
                        done.explanations[number], done.models[number] = fx, model
                    tell()
            except KeyboardInterrupt:
                if len(done.explanations) < FEWEST:
                    raise
                done = replace(done, is_interrupted=True)
        return done

    def _explain(self, model: Any, columns: Columns | None) -> tuple[Explanation, Columns]:
        """Explain one model; what is known of the columns serves all of them."""
        with open_run(model, self.data, self.asked) as run:
            if columns is None:
                first = FirstPass.plan(run.table, run.asked)
                columns = first.settle(run.survey(first.task))
            asker = run.meet(columns)
            choice = choose(columns, asker, run.asked)
            measured = run.measure(asker, columns, choice.measures)
        return conclude(run, columns, asker, choice, measured), columns

    def _fail(self, done: Done, number: int, error: Exception) -> None:
        """Note a training that failed; a question that no training would answer is the user's."""
        if self.are_given or isinstance(error, WRONG):
            raise error
        done.failures.append(Failure(number + 1, f"{type(error).__name__}: {excerpt(error)}"))
        if len(done.failures) > self.n_trainings - FEWEST:
            msg = (
                f"{len(done.failures)} of {self.n_trainings} trainings failed, too many to compare "
                f"the others; the first, training {done.failures[0].number}: {done.failures[0].reason}"
            )
            raise ModelFailedError(msg) from error

    @contextmanager
    def _telling(self) -> Iterator[Callable[[], object]]:
        """Give what is to be called when a training is done."""
        if callable(self.progress):
            yield partial(
                lambda tell, numbers: tell(next(numbers), self.n_trainings), self.progress, count(1)
            )
        elif self.progress:
            from tqdm.auto import tqdm

            with tqdm(total=self.n_trainings, unit="training", desc="rhale, refits") as bar:
                yield bar.update
        else:
            yield lambda: None


def gather(work: Work, done: Done, overlap: Overlap, told: Mapping[str, Any]) -> Refits:
    """Give all trainings the same bins, and put them together with the record of how they came."""
    done = check_alike(done, are_given=work.are_given)
    numbers = sorted(done.explanations)
    overlap = overlap.take(numbers)
    found = [done.explanations[number] for number in numbers]
    found += [] if done.own is None else [done.own]
    if work.asked.method not in PROFILES:
        usual = USUAL_BINS[work.asked.method]
        found = list(rebin_alike(found, usual if work.asked.bins is None else work.asked.bins))
    own = None if done.own is None else lighten(found.pop())
    source = Trained([done.models[number] for number in numbers], work, overlap)
    pairs = () if work.pairs is None else source.measure(work.pairs)
    is_kept = work.are_given or not is_larger(source.models, KEPT_BYTES)
    return Refits(
        explanations=tuple(map(lighten, found)),
        overlap=overlap,
        own=own,
        pairs=pairs,
        failures=tuple(done.failures),
        provenance=record(found[0], work, overlap, told),
        notes=tell(work, done, overlap, is_kept=is_kept),
        trained=source if is_kept else None,
    )


def check_alike(done: Done, *, are_given: bool) -> Done:
    """Trainings whose models have the same outputs; the others failed, or are refused."""
    usual = Counter(fx.outputs for fx in done.explanations.values()).most_common(1)[0][0]
    failures, kept = list(done.failures), {}
    for number, fx in done.explanations.items():
        if fx.outputs == usual:
            kept[number] = fx
            continue
        reason = f"it answers {', '.join(fx.outputs)}, most others {', '.join(usual)}"
        if are_given:
            msg = f"model {number + 1} is of another kind: {reason}; explain it by itself"
            raise BadSettingError(msg)
        failures.append(Failure(number + 1, reason))
    if len(kept) < FEWEST:
        msg = f"{len(kept)} training is left, too few to compare; training {failures[0].number}: {failures[0].reason}"
        raise ModelFailedError(msg)
    if done.own is not None and done.own.outputs != usual:
        msg = f"model= answers {', '.join(done.own.outputs)}, the trainings {', '.join(usual)}"
        raise BadSettingError(msg)
    return replace(done, explanations=kept, failures=sorted(failures))


def record(
    first: Explanation, work: Work, overlap: Overlap, told: Mapping[str, Any]
) -> dict[str, Any]:
    """Record what was trained and explained, and how."""
    sizes = overlap.n_train
    return {
        **first.provenance,
        **told,
        "trainings": overlap.n_trainings,
        "trainings_asked": work.n_trainings,
        "rows_trained": [int(sizes.min()), int(sizes.max())],
    }


def tell(work: Work, done: Done, overlap: Overlap, *, is_kept: bool) -> tuple[Note, ...]:
    """What a reader should know about the trainings."""
    notes = []
    n_done = overlap.n_trainings
    if done.is_interrupted:
        text = f"interrupted: {n_done} of {work.n_trainings} trainings are done"
        notes.append(Note("interrupted", text))
    if n_done < ENOUGH:
        text = f"{n_done} trainings tell little about how trainings differ; 20 are usual"
        notes.append(Note("few trainings", text))
    if overlap.is_same:
        text = (
            "all trainings had the same rows: what differs between them is the learner's own chance, "
            "and nothing is known about training on other rows, so there is no interval"
        )
        notes.append(Note("same rows", text))
    if len(overlap.halves) < FEWEST:
        text = (
            "replication compares trainings without a common row, and there are none here; "
            "half-samples have them"
        )
        notes.append(Note("no halves", text))
    if not is_kept:
        text = (
            f"the models take more than {KEPT_BYTES // 2**30} GiB and were not kept: interactions "
            "are measured with the trainings only, by pairs="
        )
        notes.append(Note("models", text))
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class Trained:
    """Models that can still be asked about pairs."""

    models: list[Any] = field(repr=False)
    work: Work
    overlap: Overlap

    def measure(self, pairs: Any) -> tuple[RefitPair, ...]:
        """Measure pairs of features in all trainings, in the same cells."""
        asked = self.work.asked
        options = {name: getattr(asked, name) for name in PAIR_OPTIONS}
        found = [
            interactions(model, self.work.data, pairs=pairs, features=asked.features, **options)
            for model in self.models
        ]
        return tuple(RefitPair.of(alike, self.overlap) for alike in zip(*found, strict=True))
