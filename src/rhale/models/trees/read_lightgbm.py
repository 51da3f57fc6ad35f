"""Trees of LightGBM, through treelite and the text of the model."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rhale.kernels import FloatArray
from rhale.models.library_errors import first_line
from rhale.models.trees.forest import ROUNDED_TO_ZERO
from rhale.models.trees.from_treelite import from_treelite
from rhale.models.trees.reading import CannotReadError, Reading
from rhale.models.trees.recode import recode
from rhale.tables import as_matrix

ZERO_MISSING = 1  # LightGBM's number for "zero is a missing value"


def read_lightgbm(model: Any) -> Reading:
    """A Booster, as many rounds of it as its own predict uses."""
    import treelite

    booster = getattr(model, "booster_", model)
    if booster is not model and model.get_params().get("pred_early_stop"):
        msg = "it leaves out trees for rows that are clear without them (pred_early_stop)"
        raise CannotReadError(msg)
    text = booster.model_to_string()  # up to best_iteration, as predict and treelite do
    if re.search(r"^is_linear=1", text, re.MULTILINE):
        msg = "its leaves hold linear models"
        raise CannotReadError(msg)
    try:
        found = _load_text(treelite, _write_directions(text))
    except treelite.TreeliteError as error:
        msg = f"treelite refuses it: {first_line(error)}"
        raise CannotReadError(msg) from error
    reading = from_treelite(found, kind=ROUNDED_TO_ZERO, zero_is_missing=_zero_is_missing(text))
    sigmoid = re.search(r"^objective=.*\bsigmoid:(\S+)", text, re.MULTILINE)
    if sigmoid:  # treelite keeps it in single precision
        reading = replace(reading, alpha=float(sigmoid[1]))
    named = getattr(booster, "pandas_categorical", None)
    if not named:
        return reading
    columns = np.arange(reading.forest.n_features)
    return replace(reading, columns=columns, transform=partial(_recode_lightgbm, named=named))


def _recode_lightgbm(rows: Any, *, named: list[list[Any]]) -> FloatArray:
    """LightGBM lists the categories of the columns that have some, in order."""
    if not hasattr(rows, "iloc"):
        return as_matrix(rows)
    left = iter(named)
    is_category = [hasattr(rows.iloc[:, i], "cat") for i in range(rows.shape[1])]
    return recode(rows, categories=[next(left) if c else None for c in is_category])


def _write_directions(text: str) -> str:
    """Write "zero is missing" as "nan is missing": treelite forgets where zeros go."""

    def rewrite(line: re.Match[str]) -> str:
        kinds = (int(word) for word in line[1].split())
        return "decision_type=" + " ".join(str(k ^ 12 if (k >> 2) & 3 == 1 else k) for k in kinds)

    return re.sub(r"^decision_type=(.*)$", rewrite, text, flags=re.MULTILINE)


def _load_text(treelite: Any, text: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        path.write_text(text, encoding="utf-8")
        return treelite.frontend.load_lightgbm_model(path)


def _zero_is_missing(text: str) -> list[int]:
    """Features whose zeros LightGBM takes for missing values."""
    found: dict[int, bool] = {}
    features = re.findall(r"^split_feature=(.*)$", text, re.MULTILINE)
    decisions = re.findall(r"^decision_type=(.*)$", text, re.MULTILINE)
    for left, right in zip(features, decisions, strict=True):
        for feature, decision in zip(left.split(), right.split(), strict=True):
            is_category, kind = int(decision) & 1, (int(decision) >> 2) & 3
            zero = not is_category and kind == ZERO_MISSING
            if found.setdefault(int(feature), zero) != zero:
                msg = "missing values mean different things in different trees"
                raise CannotReadError(msg)
    return [feature for feature, zero in found.items() if zero]
