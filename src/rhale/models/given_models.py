"""Models that were trained elsewhere, and the rows that each was trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rhale.errors import BadSettingError
from rhale.kernels import IntArray
from rhale.kernels.splits import check_indices
from rhale.models.expected_columns import columns_of

MIN_PREFITTED_MODELS = 2  # trainings that can be compared


def read_models(models: Any, train: Any, test: Any) -> tuple[list[Any], Any, Any]:
    """Read models, or what scikit-learn's `cross_validate` returned."""
    if isinstance(models, Mapping):
        return read_validated(models, train, test)
    is_one = callable(models) or hasattr(models, "predict")
    if is_one or isinstance(models, str) or not isinstance(models, Iterable):
        what = "one model" if is_one else "no sequence of models"
        msg = (
            f"models={models!r:.60} is {what}; give a list of models that were trained on different "
            "rows, or let rhale.refit train them"
        )
        raise BadSettingError(msg)
    models = list(models)
    if len(models) < MIN_PREFITTED_MODELS:
        msg = f"{len(models)} models were given, which tell nothing about other trainings; give two or more, 20 are usual"
        raise BadSettingError(msg)
    require_same_columns(models)
    return models, train, test


def read_validated(found: Mapping[str, Any], train: Any, test: Any) -> tuple[list[Any], Any, Any]:
    """Read what scikit-learn's `cross_validate` returned; rows that the user gives come first."""
    wanted = {"estimator": "return_estimator"}
    if train is None and test is None:
        wanted["indices"] = "return_indices"
    for name, option in wanted.items():
        if name not in found:
            known = ", ".join(repr(key) for key in list(found)[:6])
            msg = f"models= is a dict of {known} without {name!r}; call cross_validate(..., {option}=True)"
            raise BadSettingError(msg)
    if "indices" in wanted:
        train, test = (found["indices"].get(name) for name in ("train", "test"))
    return read_models(found["estimator"], train, test)


def require_same_columns(models: Sequence[Any]) -> None:
    """Refuse models that say they were fitted on other columns than the first."""
    first, *others = map(describe_columns, models)
    for number, own in enumerate(others, start=2):
        if first and own and own != first:
            msg = (
                f"model 1 was fitted on {first}, model {number} on {own}; trainings are compared on "
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
        msg = f"there are {len(models)} models, and rows of {len(rows)} trainings; give one array a model"
        raise BadSettingError(msg)
    return rows
