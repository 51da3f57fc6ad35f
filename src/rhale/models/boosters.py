"""Boosters without a scikit-learn face, and model files: made askable."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rhale.errors import BadFileError, MissingExtraError
from rhale.models.read_trees import classes_of, first_line

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


def is_model_file(model: Any) -> bool:
    """Tell whether this is the path of a model file that rhale can load."""
    return isinstance(model, str | Path) and Path(model).suffix.lower() in LIBRARY_OF


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
        msg = f"there is no model file {str(path)!r}"
        raise BadFileError(msg)
    if find_spec(library) is None:
        msg = f"{place.name} is a model of {library}; pip install {library} to load it"
        raise MissingExtraError(msg)
    try:
        return _LOADERS[library](str(place))
    except Exception as error:
        msg = f"{library} cannot load {str(path)!r}: {first_line(error)}"
        raise BadFileError(msg) from error


def _load_xgboost(path: str) -> Any:
    booster = import_module("xgboost").Booster()
    booster.load_model(path)
    return booster


def _load_lightgbm(path: str) -> Any:
    return import_module("lightgbm").Booster(model_file=path)


def _load_catboost(path: str) -> Any:
    return import_module("catboost").CatBoost().load_model(path)


_LOADERS = {"xgboost": _load_xgboost, "lightgbm": _load_lightgbm, "catboost": _load_catboost}
