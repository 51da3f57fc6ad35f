"""Boosters without a scikit-learn face, and model files: made askable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import BadFileError, BadTableError, MissingExtraError
from rhale.models.ancestry import classes_of
from rhale.models.files.check_catboost import check_catboost
from rhale.models.files.check_lightgbm import check_lightgbm
from rhale.models.files.check_xgboost import check_xgboost
from rhale.models.files.ubjson import read_json, read_ubj
from rhale.models.library_errors import first_line
from rhale.models.trees.ensemble import taken_apart

ESTIMATORS = {
    "classifier": "XGBClassifier",
    "regressor": "XGBRegressor",
    "ranker": "XGBRanker",
}
LIBRARY_OF = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}


@dataclass(frozen=True, eq=False)
class XGBoostBooster:
    """A Booster that takes tables: XGBoost's own takes its own kind of matrix only."""

    booster: Any

    def predict(self, rows: Any) -> Any:
        """Answers of all rounds, as the Booster's own predict gives them."""
        return self.booster.predict(self._matrix(rows))

    def decision_function(self, rows: Any) -> Any:
        """Answers before the link function."""
        return self.booster.predict(self._matrix(rows), output_margin=True)

    def _matrix(self, rows: Any) -> Any:
        from xgboost import DMatrix

        names = self.booster.feature_names if isinstance(rows, np.ndarray) else None
        types = self.booster.feature_types if isinstance(rows, np.ndarray) else None
        return DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=True)


def askable(model: Any) -> Any:
    """Give a model that answers for tables: an XGBoost Booster gets a face, others stay."""
    return XGBoostBooster(model) if "xgboost.Booster" in classes_of(model) else model


def load_model(path: str | Path) -> Any:
    """Load a model that XGBoost, LightGBM or CatBoost has saved, with that library.

    Parameters
    ----------
    path : str or Path
        A file ending in .json or .ubj (XGBoost), .txt (LightGBM) or .cbm (CatBoost).
    """
    place = Path(path)
    library = LIBRARY_OF[place.suffix.lower()]
    if not place.is_file():
        found = "; it is a folder" if place.is_dir() else ""
        msg = f"there is no model file {str(path)!r}{found}; give the path of a saved model"
        raise BadFileError(msg)
    if find_spec(library) is None:
        msg = f"{place.name} is a model of {library}; pip install {library} to load it"
        raise MissingExtraError(msg)
    try:
        return _LOADERS[place.suffix.lower()](place.read_bytes())
    except Exception as error:
        msg = (
            f"{library} cannot load {str(path)!r}: {first_line(error)}. Is it a whole file that "
            f"{library}'s save_model has written? Save the model again"
        )
        raise BadFileError(msg) from error


def _load_xgboost_json(content: bytes) -> Any:
    check_xgboost(read_json(content))
    return _load_xgboost(content)


def _load_xgboost_ubj(content: bytes) -> Any:
    check_xgboost(read_ubj(content))
    return _load_xgboost(content)


def _load_xgboost(content: bytes) -> Any:
    """A Booster, or the estimator that saved it: that one stops at its best round."""
    library = import_module("xgboost")
    booster = library.Booster()
    booster.load_model(bytearray(content))
    written = booster.attr("scikit_learn")
    if written is None:
        return booster
    kind = json.loads(written).get("_estimator_type", "regressor")
    estimator = getattr(library, ESTIMATORS[kind])()
    estimator.load_model(bytearray(content))
    return estimator


def _load_lightgbm(content: bytes) -> Any:
    check_lightgbm(content)
    return import_module("lightgbm").Booster(model_str=content.decode())


def _load_catboost(content: bytes) -> Any:
    """With the face that answers as the saved model did: probabilities, counts or sums."""
    check_catboost(content)
    library = import_module("catboost")
    with TemporaryDirectory() as folder:  # from bytes, CatBoost forgets its settings
        path = str(Path(folder) / "model.cbm")
        Path(path).write_bytes(content)
        model = library.CatBoost().load_model(path)
        loss = str(model.get_all_params().get("loss_function", "")).partition(":")[0]
        if len(model.classes_):
            return library.CatBoostClassifier().load_model(path)
        linked = loss in ("Poisson", "Tweedie", "RMSEWithUncertainty")
        return library.CatBoostRegressor().load_model(path) if linked else model


_LOADERS = {
    ".json": _load_xgboost_json,
    ".ubj": _load_xgboost_ubj,
    ".txt": _load_lightgbm,
    ".cbm": _load_catboost,
}


# --- columns in the order of the training ------------------------------------------------------


def minding_names(model: Any, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ask LightGBM only with the columns of its training: it goes by position, in silence."""
    names = _lightgbm_names(model)
    return ask if names is None else partial(_ask_in_order, names, ask)


def _lightgbm_names(model: Any) -> tuple[str, ...] | None:
    """Columns that a LightGBM model was trained on; None if it has no names for them."""
    steps, model = taken_apart(model)
    classes = classes_of(model)
    if steps:
        return None
    if "lightgbm.LGBMModel" in classes:
        names = getattr(model, "feature_name_", None)
    else:
        names = model.feature_name() if "lightgbm.Booster" in classes else None
    if names is None or all(re.fullmatch(r"Column_\d+", n) for n in names):
        return None
    return tuple(names)


def _ask_in_order(names: tuple[str, ...], ask: Callable[[Any], Any], rows: Any) -> Any:
    table = nw.from_native(rows, pass_through=True)
    found = tuple(str(c) for c in table.columns) if isinstance(table, nw.DataFrame) else names
    given, wanted = ([re.sub(r"\s", "_", n) for n in some] for some in (found, names))
    if given != wanted:  # LightGBM writes spaces as underscores
        what = "another order" if sorted(given) == sorted(wanted) else "other names"
        msg = (
            f"the table's columns have {what} than those the model was trained on: "
            f"{in_short(found)} instead of {in_short(names)}. LightGBM goes by position; "
            "reorder or rename the columns, or pass them as an array"
        )
        raise BadTableError(msg)
    return ask(rows)


def in_short(names: Sequence[str]) -> str:
    """The first names of many."""
    return ", ".join(names[:6]) + (f", ... ({len(names)})" if len(names) > 6 else "")
