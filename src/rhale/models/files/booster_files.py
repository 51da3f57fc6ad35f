"""Files that XGBoost, LightGBM and CatBoost have saved, read by them: they hold numbers, no code."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rhale.errors import BadFileError, MissingExtraError
from rhale.models.library_errors import first_line

ESTIMATORS = {
    "classifier": "XGBClassifier",
    "regressor": "XGBRegressor",
    "ranker": "XGBRanker",
}
LIBRARY_OF = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}


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
    return import_module("lightgbm").Booster(model_str=content.decode())


def _load_catboost(content: bytes) -> Any:
    """With the face that answers as the saved model did: probabilities, counts or sums."""
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
    ".json": _load_xgboost,
    ".ubj": _load_xgboost,
    ".txt": _load_lightgbm,
    ".cbm": _load_catboost,
}
