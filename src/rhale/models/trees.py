"""Tree ensembles: walked once per row for all features, or asked as a black box that says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from rhale.errors import RhaleError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.forest import CATEGORY
from rhale.models.base import Adapter, check_answer
from rhale.models.function import FunctionModel
from rhale.models.links import LINKS
from rhale.models.read_trees import CannotReadError, Reading, classes_of, first_line, reader_of
from rhale.models.steps import MIXED, where_columns_go
from rhale.tables import Chunk, as_matrix, open_table
from rhale.tables.chunk import Change

DOUBLE, SINGLE = 1e-9, 1e-5  # agreement with the library's own answers
INSTALL = 'pip install "rhale[trees]" makes this many times faster'
CHECKED_FEATURES = 100
LARGEST = float(np.finfo(np.float32).max)
RAW = ("margin", "decision_function")


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree ensemble.

    Attributes
    ----------
    asked : FunctionModel
        The model as a black box.
    model : object
        The ensemble, or a pipeline that ends in one.
    response : str
        Which of its answers is explained.
    walker : Walker or None
        Answers by walking the trees; None before they have been read, or where they cannot be.
    checked_rows : int
        Rows that were asked to check the walker.
    notes : tuple of str
        Why the trees are not walked.
    """

    asked: FunctionModel
    model: Any
    response: str
    walker: Walker | None = None
    checked_rows: int = 0
    notes: tuple[str, ...] = ()

    is_differentiable = False

    @property
    def kind(self) -> str:
        """What the model is, for people."""
        return self.asked.kind

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the outputs."""
        return self.asked.labels

    @property
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Outputs to explain when none is named."""
        return self.asked.usual_outputs

    @property
    def n_threads(self) -> int:
        """Chunks walked at a time: numba's own setting, all cores unless told otherwise."""
        if self.walker is None:
            return 1
        from numba import config

        return int(vars(config)["NUMBA_NUM_THREADS"])

    def session(self) -> AbstractContextManager[None]:
        """Nothing to prepare."""
        return self.asked.session()

    def predict(self, rows: Any) -> Any:
        """Walk the rows' own paths, or ask the library."""
        return self.asked.predict(rows) if self.walker is None else self.walker.predict(rows)

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """Trees have no slopes."""
        return self.asked.gradient(rows, outputs)

    def recognise(self, rows: Any, answer: Any) -> Adapter:
        """Read the trees, and walk them from now on if that gives the library's own answers."""
        try:
            walker = read_walker(self.model, self.response)
            n_checked = check_walker(walker, self.asked, rows, answer)
        except (CannotReadError, RhaleError) as error:
            return replace(self, notes=(f"trees asked as a black box: {error}",))
        return replace(self, walker=walker, checked_rows=n_checked)


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

    def predict(self, rows: Any) -> FloatArray:
        """Answers for rows as they are, shape (n_rows, n_outputs)."""
        matrix = self.matrix(rows)
        nothing_new = np.ascontiguousarray(matrix[:, 0])[None]
        return np.asarray(self.sums(matrix, np.zeros(1, dtype=np.int64), nothing_new)[0])

    def sums(self, rows: FloatArray, features: IntArray, values: FloatArray) -> FloatArray:
        """Walk, and turn sums of leaves into answers."""
        from rhale.kernels.tree_walk import walk

        return self.linked(walk(self.reading.forest, rows, features, values, self.reading.base))

    def matrix(self, rows: Any) -> FloatArray:
        """The user's rows as the trees see them."""
        transform, missing = self.reading.transform, self.reading.missing
        matrix = numbers_of(rows if transform is None else transform(rows))
        return matrix if np.isnan(missing) else np.where(matrix == missing, np.nan, matrix)

    def inputs(self, chunk: Chunk, changes: Sequence[Change]) -> tuple[FloatArray, FloatArray]:
        """Rows and changed values as the trees see them."""
        values = np.empty((len(changes), chunk.n_rows))
        if self.reading.transform is None:
            for i, (column, new) in enumerate(changes):
                values[i] = chunk.representable(column, new)
            if not np.isnan(self.reading.missing):
                values[values == self.reading.missing] = np.nan
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
        return np.concatenate([1 - answers, answers], axis=-1) if self.is_pair else answers


def numbers_of(rows: Any) -> FloatArray:
    """What a step gives, as a matrix of floats."""
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.ascontiguousarray(as_matrix(dense), dtype=np.float64)


# --- reading -----------------------------------------------------------------------------------


def is_tree_model(model: Any) -> bool:
    """Tell whether a model is a tree ensemble or a pipeline that ends in one."""
    return reader_of(last_step(model)) is not None


def last_step(model: Any) -> Any:
    """The estimator at the end of a pipeline; the model itself if it is none."""
    return model.steps[-1][1] if "sklearn.Pipeline" in classes_of(model) else model


def read_walker(model: Any, response: str) -> Walker:
    """Read a model's trees, or raise CannotReadError with the reason."""
    for library in ("numba", "treelite"):
        if find_spec(library) is None:
            msg = f"{library} is not installed; {INSTALL}"
            raise CannotReadError(msg)
    ensemble = last_step(model)
    reader = reader_of(ensemble)
    if reader is None:
        msg = "no tree ensemble that rhale can read"
        raise CannotReadError(msg)
    classes = getattr(ensemble, "classes_", None)  # CatBoost's regressors have none in a list
    if response == "predict" and classes is not None and len(classes):
        msg = "its answer is a class label"
        raise CannotReadError(msg)
    try:
        found = reader(ensemble)
        if ensemble is not model:
            found = through_steps(model, found)
    except CannotReadError:
        raise
    except Exception as error:
        msg = f"its trees cannot be read ({type(error).__name__}: {first_line(error)})"
        raise CannotReadError(msg) from error
    if response not in RAW and found.link not in LINKS:
        msg = f"its link {found.link!r} is not known"
        raise CannotReadError(msg)
    is_pair = response == "predict_proba" and found.forest.n_outputs == 1
    return Walker(found, response, is_pair)


def through_steps(model: Any, found: Reading) -> Reading:
    """Put the steps of a pipeline before the trees, if each column goes its own way."""
    n_columns = int(model.n_features_in_)
    names = [str(n) for n in getattr(model, "feature_names_in_", range(n_columns))]
    before = [step for _, step in model.steps[:-1]]
    places = where_columns_go(before, n_columns, names)
    first = model[:-1].transform
    if found.columns is not None:
        known = places >= 0
        places[known] = found.columns[places[known]]
    transform = first if found.transform is None else partial(_in_turn, first, found.transform)
    return replace(found, columns=places, transform=transform)


def _in_turn(first: Callable[[Any], Any], then: Callable[[Any], Any], rows: Any) -> Any:
    return then(first(rows))


# --- checking ----------------------------------------------------------------------------------


def check_walker(walker: Walker, asked: FunctionModel, rows: Any, answer: Any) -> int:
    """Compare with asked answers at the thresholds themselves; rows asked, or CannotReadError."""
    table = open_table(rows)
    chunk = table.chunk(0, table.n_rows)
    columns = walker.reading.columns
    n_expected = walker.reading.forest.n_features if columns is None else len(columns)
    if len(table.names) != n_expected:
        msg = f"they have {n_expected} features, the table has {len(table.names)} columns"
        raise CannotReadError(msg)
    if columns is not None:
        for name, place, i in zip(table.names, columns, range(len(columns)), strict=True):
            if place == MIXED and table.holds(i) == "numbers":
                msg = f"a step before them mixes {name!r} with other columns"
                raise CannotReadError(msg)
    changes = telling_changes(walker.reading, chunk)
    try:
        own = check_answer(answer, chunk.n_rows)
        compare(walker, own, _walked(walker.predict, chunk.rows))
        expected = check_answer(asked.predict(chunk.varied(changes)), chunk.n_rows * len(changes))
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
    n_missing = check_missing(walker, asked, chunk, changes)
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
        if feature < 0:
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


def check_missing(
    walker: Walker, asked: FunctionModel, chunk: Chunk, changes: Sequence[Change]
) -> int:
    """Compare where rows without a value go, if the model takes such rows at all."""
    columns = [c for c in dict.fromkeys(c for c, _ in changes) if can_miss(chunk, c)]
    missing = [(c, np.full(chunk.n_rows, np.nan)) for c in columns]
    if not missing:
        return 0
    try:
        answer = asked.predict(chunk.varied(missing))
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


def compare(walker: Walker, expected: FloatArray, found: FloatArray) -> None:
    """Refuse trees whose answers are not the library's, or raise CannotReadError."""
    if found.shape != expected.shape:
        msg = f"they give {found.shape[-1]} outputs, the model {expected.shape[-1]}"
        raise CannotReadError(msg)
    reading = walker.reading
    size = float(np.abs(expected).max())
    if walker.response in RAW or reading.link.startswith("identity"):  # sums that cancel
        size = max(size, reading.forest.largest_sum)
    allowed = (SINGLE if reading.forest.is_single else DOUBLE) * size
    gap = np.abs(found - expected)
    if not gap.max() <= allowed:
        place = np.unravel_index(int(np.argmax(gap)), gap.shape)
        msg = f"they give {found[place]:.9g} where the model answers {expected[place]:.9g}"
        raise CannotReadError(msg)
