"""Tree ensembles: walked once per row for all features, or asked as a black box that says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from rhale.errors import RhaleError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.models.adapter import Adapter, check_answer
from rhale.models.ancestry import classes_of
from rhale.models.library_errors import first_line
from rhale.models.own_threads import asked_alone
from rhale.models.sklearn import BY_CLASS, log_odds
from rhale.models.trees.forest import CATEGORY
from rhale.models.trees.links import LINKS
from rhale.models.trees.pipeline import MIXED, NOWHERE, where_columns_go
from rhale.models.trees.read import (
    CLASS_LABEL,
    CannotReadError,
    Reading,
    reader_of,
)
from rhale.results.note import Note
from rhale.tables import Chunk, Table, as_matrix, open_table
from rhale.tables.chunk import Change

Ask = Callable[[Any], Any]
DOUBLE, SINGLE = 1e-9, 1e-5  # agreement with the library's own answers
BLACK_BOX = "black box"  # kind of the note
ONLY_SLOWER = "trees asked as a black box, which is only slower"
INSTALL = 'pip install "rhale[trees]" makes this many times faster'
CHECKED_FEATURES = 100
LARGEST = float(np.finfo(np.float32).max)
RAW = ("margin", "decision_function")
# estimators that pass every question on, and where they keep the one that answers
FACES = {
    "sklearn.BaseSearchCV": "best_estimator_",
    "sklearn.FrozenEstimator": "estimator",
    "sklearn.BaseThresholdClassifier": "estimator_",
}
# where estimators keep those that they combine
PARTS = (
    "estimators_",
    "estimator_",
    "estimator",
    "final_estimator_",
    "regressor_",
)


@dataclass(frozen=True, eq=False)
class TreeModel(Adapter):
    """A tree ensemble.

    Attributes
    ----------
    function : callable
        The model as a black box: rows in, answers out.
    model : object
        The ensemble, or a pipeline that ends in one.
    response : str
        Which of its answers is explained.
    kind, labels, usual_outputs, columns
        As in `Adapter`.
    walker : Walker or None
        Answers by walking the trees; None before they have been read, or where they cannot be.
    checked_rows : int
        Rows that were asked to check the walker.
    notes : tuple of Note
        Why the trees are not walked.
    """

    function: Ask
    model: Any
    response: str
    kind: str = "tree ensemble"
    labels: tuple[str, ...] | None = None
    usual_outputs: tuple[int, ...] | None = None
    columns: tuple[str, ...] | None = None
    walker: Walker | None = None
    checked_rows: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def n_threads(self) -> int:
        """Chunks walked at a time: numba's own setting, all cores unless told otherwise."""
        if self.walker is None:
            return 1
        from numba import config

        return int(vars(config)["NUMBA_NUM_THREADS"])

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks, for a while."""
        with asked_alone(self.function):
            yield self

    def predict(self, rows: Any) -> Any:
        """Walk the rows' own paths, or ask the library."""
        return self.function(rows) if self.walker is None else self.walker.predict(rows)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without the ensemble once its trees were read: it is not asked any more."""
        state = dict(vars(self))
        if self.walker is not None:
            state |= {"model": None, "function": _left_behind}
        return state

    def recognise(self, rows: Any, answer: Any) -> Adapter:
        """Read the trees, and walk them from now on if that gives the library's own answers."""
        if self.walker is not None:
            return self
        try:
            walker = read_walker(self.model, self.response, open_table(rows))
            n_checked = check_walker(walker, self.function, rows, answer)
        except (CannotReadError, RhaleError) as error:
            return replace(self, notes=(Note(BLACK_BOX, f"{ONLY_SLOWER}: {error}"),))
        return replace(self, walker=walker, checked_rows=n_checked)


def _left_behind(rows: Any) -> Any:
    msg = f"an ensemble that is walked was asked about {len(rows)} rows; it was not sent along"
    raise AssertionError(msg)  # our own mistake


@dataclass(frozen=True, eq=False)
class Walker:
    """Trees, and what is done before and after walking them.

    Attributes
    ----------
    reading : Reading
        The trees and their link.
    response : str
        Which answer: raw sums, or after the link.
    is_pair : bool
        Whether one probability becomes two outputs.
    """

    reading: Reading
    response: str
    is_pair: bool

    def walk(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Answers of all outputs, each for one column replaced: (n_changes, n_rows, n_outputs)."""
        found = self.reading
        rows, values = self.inputs(chunk, changes)
        columns = np.array([c for c, _ in changes], dtype=np.int64)
        features = columns if found.columns is None else found.columns[columns]
        return self.sums(rows, features, values)

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

        return self.linked(walk(self.reading.forest, rows, features, values, self.reading.base))

    def matrix(self, rows: Any) -> FloatArray:
        """The user's rows as the trees see them."""
        transform = self.reading.transform
        matrix = numbers_of(rows if transform is None else transform(rows))
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
            rows = self.matrix(chunk.replaced([changes[i] for i in layer.values()]))
            for column, i in layer.items():
                values[i] = rows[:, columns[column]]
            left = [i for i in left if i not in layer.values()]

    def linked(self, sums: FloatArray) -> FloatArray:
        """Turn sums of leaves into the model's answers."""
        if self.response in RAW:
            return sums if self.reading.raw_factor == 1 else sums * self.reading.raw_factor
        answers = LINKS[self.reading.link](sums, self.reading.alpha)
        answers = np.concatenate([1 - answers, answers], axis=-1) if self.is_pair else answers
        return log_odds(answers) if self.response == "log_odds" else answers


def numbers_of(rows: Any) -> FloatArray:
    """What a step gives, as a matrix of floats."""
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.ascontiguousarray(as_matrix(dense), dtype=np.float64)


# --- reading -----------------------------------------------------------------------------------


def is_tree_model(model: Any) -> bool:
    """Tell whether a model is a tree ensemble, ends in one, or combines some."""
    return holds_trees(taken_apart(model)[1])


def holds_trees(model: Any, n_levels: int = 3) -> bool:
    """Tell whether a model is an ensemble that rhale reads, or has one among its parts."""
    if reader_of(model) is not None:
        return True
    if n_levels == 0 or "sklearn.BaseEstimator" not in classes_of(model):
        return False
    found = [vars(model).get(name) for name in PARTS]
    parts = [p for f in found for p in (f if isinstance(f, list | tuple) else [f])]
    return any(holds_trees(taken_apart(p)[1], n_levels - 1) for p in parts if p is not None)


def taken_apart(model: Any) -> tuple[list[Any], Any]:
    """Steps before the last one of pipelines, and the estimator behind all of them."""
    steps: list[Any] = []
    while True:
        model = without_face(model)
        if "sklearn.Pipeline" not in classes_of(model):
            return steps, model
        steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        model = model.steps[-1][1]


def without_face(model: Any) -> Any:
    """The estimator that a search has found, or that a wrapper only passes questions on to."""
    classes = classes_of(model)
    inner = next((FACES[name] for name in classes if name in FACES), None)
    found = None if inner is None else getattr(model, inner, None)
    return model if found is None else without_face(found)


def read_walker(model: Any, response: str, table: Table) -> Walker:
    """Read a model's trees, or raise CannotReadError with the reason."""
    steps, ensemble = taken_apart(model)
    reader = reader_of(ensemble)
    if reader is None:
        msg = f"they are parts of {type(ensemble).__name__}, which rhale does not take apart"
        raise CannotReadError(msg)
    for library in ("numba", "treelite"):
        if find_spec(library) is None:
            msg = f"{library} is not installed; {INSTALL}"
            raise CannotReadError(msg)
    classes = getattr(ensemble, "classes_", None)  # CatBoost's regressors have none in a list
    is_classifier = classes is not None and len(classes) and hasattr(ensemble, "predict_proba")
    try:
        found = reader(ensemble)
        found = through_steps(steps, found) if steps else found
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"its trees cannot be read ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    is_label = found.link == CLASS_LABEL and response not in RAW
    if is_label or (response == "predict" and is_classifier):
        msg = "its answer is a class label"
        raise CannotReadError(msg)
    if response not in RAW and found.link not in LINKS:
        msg = f"its link {found.link!r} is not known"
        raise CannotReadError(msg)
    is_pair = response in BY_CLASS and found.forest.n_outputs == 1
    return Walker(by_name(found, table), response, is_pair)


def through_steps(steps: Sequence[Any], found: Reading) -> Reading:
    """Put the steps of a pipeline before the trees, if each column goes its own way."""
    n_columns = int(steps[0].n_features_in_)
    known = getattr(steps[0], "feature_names_in_", None)
    names = [str(n) for n in (range(n_columns) if known is None else known)]
    places = where_columns_go(steps, n_columns, names)
    if found.columns is not None:
        is_known = places >= 0
        places[is_known] = found.columns[places[is_known]]
    transforms = [step.transform for step in steps]
    if found.transform is not None:
        transforms.append(found.transform)
    return replace(
        found,
        columns=places,
        transform=partial(_in_turn, transforms),
        names=None if known is None else tuple(names),
    )


def _in_turn(transforms: Sequence[Callable[[Any], Any]], rows: Any) -> Any:
    for transform in transforms:
        rows = transform(rows)
    return rows


def by_name(found: Reading, table: Table) -> Reading:
    """Follow columns by their names, for a table that has those of the training elsewhere."""
    wanted, names = found.names, table.names
    if wanted is None or table.kind == "numpy" or wanted == names or set(wanted) - set(names):
        return found  # by position; a model that minds has said so at the first question
    columns = np.arange(len(wanted)) if found.columns is None else found.columns
    places = [columns[wanted.index(n)] if n in wanted else NOWHERE for n in names]
    transform = found.transform or partial(_picked, list(wanted))
    return replace(found, columns=np.array(places, dtype=np.int64), transform=transform)


def _picked(names: list[str], rows: Any) -> Any:
    return rows[names]


# --- checking ----------------------------------------------------------------------------------


def check_walker(walker: Walker, ask: Ask, rows: Any, answer: Any) -> int:
    """Compare with asked answers at the thresholds themselves; rows asked, or CannotReadError."""
    table = open_table(rows)
    chunk = table.chunk(0, table.n_rows)
    columns = walker.reading.columns
    n_expected = walker.reading.forest.n_features if columns is None else len(columns)
    if len(table.names) != n_expected:
        msg = f"they have {n_expected} features, the table has {len(table.names)} columns"
        raise CannotReadError(msg)
    if columns is not None and np.all(columns == MIXED):
        msg = (
            f"a step before them mixes {table.names[0]!r} with other columns or makes several of it"
        )
        raise CannotReadError(msg)
    changes = telling_changes(walker.reading, chunk)
    try:
        own = check_answer(answer, chunk.n_rows)
        compare(walker, own, _walked(walker.predict, chunk.rows))
        expected = check_answer(ask(chunk.varied(changes)), chunk.n_rows * len(changes))
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"they cannot be checked ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    if not changes:
        return 0
    compare(
        walker,
        expected.reshape(len(changes), chunk.n_rows, -1),
        _walked(walker.walk, chunk, changes),
    )
    n_missing = check_missing(walker, ask, chunk, changes)
    return chunk.n_rows * (len(changes) + n_missing)


def _walked(work: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
    """Try a walk; whatever goes wrong, the model can still be asked."""
    try:
        return work(*arguments)
    except Exception as error:
        msg = f"they cannot be walked on this table ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error


def telling_changes(found: Reading, chunk: Chunk) -> list[Change]:
    """Values at the thresholds of each feature, and just beside them; up to 100 features."""
    rng = np.random.default_rng(0)
    forest, parts = found.forest, list[list[Change]]()
    table = open_table(chunk.rows)
    for column in range(len(table.names)):
        if table.holds(column) != "numbers":
            continue
        feature = column if found.columns is None else int(found.columns[column])
        if feature < 0 or cannot_change(chunk, column):
            continue
        cuts = forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]
        cuts = cuts[np.abs(cuts) < LARGEST]  # infinite where only missing values part
        if not cuts.size or found.transform is not None:
            parts.append([(column, rng.permutation(chunk.column(column)))])
            continue
        drawn = rng.choice(cuts, chunk.n_rows)
        if forest.kinds[feature] == CATEGORY:
            drawn = rng.integers(0, int(cuts[0]) + 1, chunk.n_rows).astype(np.float64)
        beside = np.nextafter(drawn, rng.choice([-np.inf, np.inf], chunk.n_rows))
        if forest.is_single:
            drawn = drawn.astype(np.float32).astype(np.float64)
            beside = beside.astype(np.float32).astype(np.float64)
        parts.append([(column, drawn), (column, beside)])
    chosen = rng.permutation(len(parts))[:CHECKED_FEATURES]
    return [change for i in np.sort(chosen) for change in parts[i]]


def check_missing(walker: Walker, ask: Ask, chunk: Chunk, changes: Sequence[Change]) -> int:
    """Compare where rows without a value go, if the model takes such rows at all."""
    columns = [c for c in dict.fromkeys(c for c, _ in changes) if can_miss(chunk, c)]
    missing = [(c, np.full(chunk.n_rows, np.nan)) for c in columns]
    if not missing:
        return 0
    try:
        answer = ask(chunk.varied(missing))
    except Exception:  # noqa: BLE001 - a model that refuses them will never see one
        return 0
    expected = check_answer(answer, chunk.n_rows * len(missing))
    compare(
        walker,
        expected.reshape(len(missing), chunk.n_rows, -1),
        _walked(walker.walk, chunk, missing),
    )
    return len(missing)


def can_miss(chunk: Chunk, column: int) -> bool:
    """Whether a column of this type can hold nan."""
    with np.errstate(invalid="ignore"):
        try:
            return bool(np.isnan(chunk.representable(column, np.full(chunk.n_rows, np.nan))).all())
        except (TypeError, ValueError):
            return False


def cannot_change(chunk: Chunk, column: int) -> bool:
    """Whether a copy of the column cannot hold its missing values: whole numbers of data frames."""
    return bool(np.isnan(chunk.column(column)).any()) and not can_miss(chunk, column)


def compare(walker: Walker, expected: FloatArray, found: FloatArray) -> None:
    """Refuse trees whose answers are not the library's, or raise CannotReadError."""
    if found.shape != expected.shape:
        msg = f"they give {found.shape[-1]} outputs, the model {expected.shape[-1]}"
        raise CannotReadError(msg)
    reading = walker.reading
    size = float(np.abs(expected).max())
    precision = SINGLE if reading.adds_in_single else DOUBLE
    if walker.response in RAW or reading.link.startswith("identity"):  # sums that cancel
        size = max(size, reading.forest.largest_sum)
        unit = np.finfo(np.float32 if reading.adds_in_single else np.float64).eps
        precision = min(precision, 2 * (reading.forest.n_trees + 1) * float(unit))
    allowed = precision * size
    gap = np.abs(found - expected)
    if not gap.max() <= allowed:
        place = np.unravel_index(int(np.argmax(gap)), gap.shape)
        msg = f"they give {found[place]:.9g} where the model answers {expected[place]:.9g}"
        raise CannotReadError(msg)
