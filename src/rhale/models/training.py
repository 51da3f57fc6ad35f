"""Train an estimator again on some of the rows, or use models trained elsewhere."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data import TableInMemory
from rhale.errors import BadSettingError, BadTableError, ModelFailedError, UnknownModelError
from rhale.models.columns import columns_of
from rhale.models.libraries import classes_of
from rhale.stability.splits import as_units, check_indices, find_missing, read_labels
from rhale.stats.arrays import IntArray

FITS = "fit(rows, target) -> model"


@dataclass(frozen=True, eq=False)
class Trainer:
    """A learner that can be trained as often as one likes."""

    learner: Any  # what the user gave; it is copied and never fitted itself
    name: str  # name of its class or function
    is_classifier: bool = False  # whether it says that it learns classes
    # Makes an unfitted learner from it; None for a function, which makes its own
    renew: Callable[[Any], Any] | None = None

    def train(self, rows: Any, target: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Fit a new model."""
        params = {} if params is None else params
        if self.renew is None:
            found = self.learner(rows, target, **params)
            return self._require_model(found, f"{self.name} returned")
        fresh = self.renew(self.learner)
        found = fresh.fit(rows, target, **params)
        known = [one for one in (found, fresh) if hasattr(one, "predict")]
        return known[0] if known else self._require_model(found, f"fit of {self.name} returned")

    def _require_model(self, found: Any, what: str) -> Any:
        if not isinstance(found, type) and (hasattr(found, "predict") or callable(found)):
            return found
        said = "None" if found is None else f"{type(found).__name__} {found!r:.60}"
        msg = f"{what} {said}, which has no predict; return the fitted model, or a function of rows"
        raise UnknownModelError(msg)


def as_trainer(estimator: Any) -> Trainer:
    """Make a trainer of whatever can be trained."""
    _require_trainable(estimator)
    if hasattr(estimator, "fit"):
        has_params = hasattr(estimator, "get_params") and hasattr(estimator, "set_params")
        renew = _clone if has_params else _copy_estimator
        return Trainer(estimator, type(estimator).__name__, is_classifier(estimator), renew)
    return Trainer(estimator, _function_name(estimator))


def _require_trainable(estimator: Any) -> None:
    """Refuse what cannot be trained, and say what may have been meant."""
    kind = type(estimator).__name__
    if isinstance(estimator, str | bytes | PathLike):
        msg = f"{estimator!r:.80} is not a learner; pass the estimator itself, not a name or a file"
    elif isinstance(estimator, type):
        own = estimator.__name__
        other = "" if hasattr(estimator, "fit") else f", or a function {FITS}"
        msg = f"{own} is a class; pass an instance of it: {own}(){other}"
    elif "sklearn.FrozenEstimator" in classes_of(_end_of(estimator)):
        msg = f"{kind} ends in a FrozenEstimator, which no training changes; pass what is inside"
    elif hasattr(estimator, "fit"):
        return
    elif "torch.Module" in classes_of(estimator):
        msg = f"{kind} is a network, not a way to train one; pass a function {FITS}"
    elif hasattr(estimator, "predict"):
        msg = (
            f"{kind} has predict and no fit: it cannot be trained again. Pass an estimator or a "
            f"function {FITS}, or models that are fitted to rhale.refits"
        )
    elif callable(estimator):
        return
    else:
        msg = f"{kind} has no fit and cannot be called; pass an estimator or a function {FITS}"
    raise UnknownModelError(msg)


def is_classifier(estimator: Any) -> bool:
    """Tell whether an estimator, or the end of a pipeline, says that it learns classes."""
    end = _end_of(estimator)
    # what libraries say that do without scikit-learn, and scikit-learn before 1.6
    if getattr(end, "_estimator_type", None) == "classifier":
        return True
    base = _sklearn_base() if hasattr(type(estimator), "__sklearn_tags__") else None
    try:
        return base is not None and bool(base.is_classifier(estimator))
    except AttributeError:  # a mixin without BaseEstimator behind it
        return "sklearn.ClassifierMixin" in classes_of(end)


def _end_of(estimator: Any) -> Any:
    """The last step of pipelines; the estimator itself if it is none."""
    while "sklearn.Pipeline" in classes_of(estimator) and estimator.steps:
        estimator = estimator.steps[-1][1]
    return estimator


def _function_name(function: Any) -> str:
    if isinstance(function, partial):
        return _function_name(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


# --- new learners ----------------------------------------------------------------------------------


def _clone(estimator: Any) -> Any:
    """An unfitted estimator with the same parameters."""
    base = _sklearn_base()
    try:
        if base is not None:
            return base.clone(estimator)
        return type(estimator)(**deepcopy(estimator.get_params(deep=False)))
    except (RuntimeError, TypeError):
        # CatBoost copies lists of columns on its way in, which clone does not allow; alone or
        # inside a pipeline it is copied as it is, and fit begins anew
        return _copy_estimator(estimator)


def _copy_estimator(learner: Any) -> Any:
    try:
        return deepcopy(learner)
    except Exception as error:
        kind = type(learner).__name__
        msg = f"{kind} cannot be copied ({error}), and is not fitted itself; pass a function {FITS}"
        raise UnknownModelError(msg) from error


def _sklearn_base() -> Any:
    """scikit-learn's ways with estimators; None where it is not installed."""
    try:
        import sklearn.base
    except ImportError:
        return None
    return sklearn.base


# --- rows of targets and parameters ----------------------------------------------------------------


def take_training_rows(values: Any, rows: IntArray) -> Any:
    """Take rows of a target or a table, in its own library.

    Shapes: rows (n_taken,).
    """
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if any(name.startswith("pyarrow.") for name in classes_of(values)):
        return values.take(rows)
    if isinstance(values, Sequence) and not hasattr(values, "__array__"):
        return [values[i] for i in rows.tolist()]
    return values[rows]


def take_params(params: Any, rows: IntArray, n_rows: int) -> dict[str, Any]:
    """Cut those arguments of a fit that have one entry per row, such as weights, to some rows.

    Shapes: rows (n_taken,).
    """
    if params is None:
        return {}
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        msg = f"fit_params={params!r:.60} is not a mapping from names to values; pass a dict"
        raise BadSettingError(msg)
    return {
        name: take_training_rows(value, rows) if _n_entries(value) == n_rows else value
        for name, value in params.items()
    }


def _n_entries(value: Any) -> int | None:
    """Entries of a list, column, array or table; None for anything else."""
    known = hasattr(type(value), "__getitem__") and hasattr(type(value), "__len__")
    if not known or isinstance(value, str | bytes | Mapping):
        return None
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(value)


def check_target(target: Any, n_rows: int) -> Any:
    """Refuse a target that no learner can learn; give it back as it is otherwise.

    Shapes: target (n_rows,) or (n_rows, n_outputs).
    """
    if target is None:
        msg = "target=None: training needs one value per row to learn; pass target="
        raise BadTableError(msg)
    values = read_labels(target)
    if values is None or values.ndim > 2:
        msg = f"target is not an array but {type(target).__name__}; pass one value per row"
        raise BadTableError(msg)
    if len(values) != n_rows:
        msg = f"target has {len(values)} values, the table has {n_rows} rows; give one per row"
        raise BadTableError(msg)
    # below the mask of a NumPy array there may be any number
    masked = np.ma.getmaskarray(target) if np.ma.isMaskedArray(target) else np.zeros(n_rows, bool)
    missing = find_missing(values) | np.asarray(masked.reshape(n_rows, -1).any(axis=1))
    if missing.any():
        msg = (
            f"target is missing in row {int(np.argmax(missing))} ({int(missing.sum())} of {n_rows} "
            "rows); leave these rows out of the table and the target"
        )
        raise BadTableError(msg)
    # two columns may be limits, of which infinity is one
    if values.dtype.kind == "f" and values.ndim == 1 and np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        msg = f"target is infinite in row {row}; leave such rows out of the table and the target"
        raise BadTableError(msg)
    if n_rows and bool(np.all(values == values[0])):
        msg = f"target is {values[0]!s:.60} in all {n_rows} rows; there is nothing to learn"
        raise BadTableError(msg)
    return target


# --- A learner with the rows it learns from: trainings on part of them


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What is learned from which rows."""

    trainer: Trainer  # trains a new model
    table: TableInMemory  # rows, without what is learned
    target: Any  # what is learned, one entry a row
    # Passed on to the learner; what has one entry a row goes with the rows
    params: Mapping[str, Any] | None = None

    @property
    def strata(self) -> npt.NDArray[Any] | None:
        """Classes that every training should have its share of; None where none are learned."""
        values = read_labels(self.target) if self.trainer.is_classifier else None
        return values if values is not None and values.ndim == 1 else None

    @cached_property
    def _classes(self) -> tuple[npt.NDArray[Any], IntArray]:
        """Every class once, and the number of each row's class; none where none are learned."""
        labels = self.strata
        if labels is None:
            return np.empty(0), np.empty(0, dtype=np.intp)
        unit, _ = as_units(labels, self.table.n_rows, argument="target")
        return labels[np.unique(unit, return_index=True)[1]], unit

    def train(self, rows: IntArray) -> Any:
        """Train a new model on some of the rows; refuse to if a class has none among them.

        Shapes: rows (n_trained,).
        """
        # A learner that never sees a class answers other outputs than the others, or fails with
        # words of its own.
        labels, unit = self._classes
        if len(labels):  # every class needs rows
            lacking = labels[np.bincount(unit[rows], minlength=len(labels)) == 0]
            if len(lacking):
                names = ", ".join(repr(str(label)) for label in lacking[:3])
                msg = f"none of its {rows.size} rows is of class {names}; give more rows of it, or leave it out"
                raise ModelFailedError(msg)
        part = self.table.take(rows)
        seen = part.chunk(0, part.n_rows).rows
        params = take_params(self.params, rows, self.table.n_rows)
        return self.trainer.train(seen, take_training_rows(self.target, rows), params)


# --- Models that were trained elsewhere, and the rows that each was trained on


MIN_PREFITTED_MODELS = 2  # trainings that can be compared


def read_models(models: Any, train: Any, test: Any) -> tuple[list[Any], Any, Any]:
    """Read models, or what scikit-learn's `cross_validate` returned."""
    if isinstance(models, Mapping):
        # The dictionary of scikit-learn's `cross_validate`; rows that the user gives come first
        wanted = {"estimator": "return_estimator"}
        if train is None and test is None:
            wanted["indices"] = "return_indices"
        for name, option in wanted.items():
            if name not in models:
                known = ", ".join(repr(key) for key in list(models)[:6])
                msg = f"models= is a dict of {known} without {name!r}; call cross_validate(..., {option}=True)"
                raise BadSettingError(msg)
        if "indices" in wanted:
            train, test = (models["indices"].get(name) for name in ("train", "test"))
        return read_models(models["estimator"], train, test)
    is_one = callable(models) or hasattr(models, "predict")
    if is_one or isinstance(models, str) or not isinstance(models, Iterable):
        what = "one model" if is_one else "not a sequence of models"
        msg = (
            f"models={models!r:.60} is {what}; give a list of models that were trained on different "
            "rows, or let rhale.refit train them"
        )
        raise BadSettingError(msg)
    models = list(models)
    if len(models) < MIN_PREFITTED_MODELS:
        msg = f"{len(models)} models were given, too few to compare retrainings; give two or more, 20 are usual"
        raise BadSettingError(msg)
    require_same_columns(models)
    return models, train, test


def require_same_columns(models: Sequence[Any]) -> None:
    """Refuse models that say they were fitted on other columns than the first."""
    first, *others = map(describe_columns, models)
    for number, own in enumerate(others, start=2):
        if first and own and own != first:
            msg = (
                f"model 1 was fitted on {first}, model {number} on {own}; retrained models are compared on "
                "the same columns"
            )
            raise BadSettingError(msg)


def describe_columns(model: Any) -> str:
    """Columns of a model by their names, or else their number; nothing if it does not say."""
    names, n_columns = columns_of(model), getattr(model, "n_features_in_", None)
    if names is not None:
        return f"({', '.join(names)})"
    return "" if n_columns is None else f"{n_columns} columns"


def refuse_rows(**given: Any) -> None:
    """Refuse what is said about rows of trainings that share none."""
    for name, value in given.items():
        if value is not None:
            msg = f"scheme='independent' says that no two models share a row; leave {name}= out"
            raise BadSettingError(msg)


def require_training_rows(
    models: Sequence[Any], train: Any, test: Any, n_rows: int
) -> tuple[IntArray, ...]:
    """Rows of each training, one entry a model."""
    if train is None and test is None:
        msg = (
            "which rows was each model trained on? Give train= (or test=, the rows left out), one "
            "array of row numbers a model; scheme='independent' if no two share a row"
        )
        raise BadSettingError(msg)
    rows = check_indices(train, test, n_rows)
    if len(rows) != len(models):
        msg = f"there are {len(models)} models, and rows of {len(rows)} retrainings; give one array per model"
        raise BadSettingError(msg)
    return rows


# --- How much memory models take, as far as their pickles tell


class _TooLargeError(Exception):
    """More bytes than were to be counted."""


class _Counter:
    """A file that counts bytes, keeps none, and raises beyond a limit."""

    def __init__(self, most: int) -> None:
        self.left = most

    def write(self, data: Any) -> int:
        """Count some bytes."""
        size = len(data) if isinstance(data, bytes | bytearray) else memoryview(data).nbytes
        self.left -= size
        if self.left < 0:
            raise _TooLargeError
        return size


def count_bytes(model: Any, most: int) -> int:
    """Bytes of a model as it would be pickled, counted up to `most` plus one; 0 if it cannot be."""
    counter = _Counter(most)
    try:
        pickle.Pickler(counter, protocol=pickle.HIGHEST_PROTOCOL).dump(model)
    except _TooLargeError:
        return most + 1
    except Exception:  # noqa: BLE001 - functions and other models that nobody can pickle
        return 0
    return most - counter.left


def is_larger(models: Sequence[Any], most: int) -> bool:
    """Tell whether models of one kind take more bytes than `most` together, by the first of them."""
    return bool(models) and count_bytes(models[0], most // len(models)) > most // len(models)
