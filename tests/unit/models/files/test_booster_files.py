import numpy as np
import pytest

from rhale.errors import BadFileError, MissingExtraError
from rhale.models.files import load
from rhale.models.files.load import load_model


def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch):
    path = tmp_path / "model.cbm"
    path.write_bytes(b"...")
    monkeypatch.setattr(load, "find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(MissingExtraError, match=r"model\.cbm is .* catboost; pip install catboost"):
        load_model(path)


def test_an_estimator_of_a_strange_kind_is_refused(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    rows = np.arange(20.0).reshape(10, 2)
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(rows, rows[:, 0]), 1)
    booster.set_attr(scikit_learn='{"_estimator_type": "model"}')
    booster.save_model(tmp_path / "m.json")
    with pytest.raises(BadFileError, match=r"m\.json"):
        load_model(tmp_path / "m.json")
