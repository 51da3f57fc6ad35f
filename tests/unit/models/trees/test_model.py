import pickle

import numpy as np
import pytest

from rhale.data import open_table
from rhale.models import meet, wrap
from rhale.models.trees.model import BLACK_BOX


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
def test_a_model_that_treelite_refuses_is_asked(name, monkeypatch):
    treelite = pytest.importorskip("treelite")
    pytest.importorskip("numba")
    library = pytest.importorskip(name)
    x = np.random.default_rng(0).normal(size=(80, 2))
    kind = library.XGBRegressor if name == "xgboost" else library.LGBMRegressor
    settings = {"verbosity": 0} if name == "xgboost" else {"verbose": -1}
    model = kind(n_estimators=3, n_jobs=1, **settings).fit(x, x[:, 0])

    def refuse(*_):
        msg = "[1:2:3] /src/a.cc:5: too new"
        raise treelite.TreeliteError(msg)

    monkeypatch.setattr(treelite.frontend, "from_xgboost", refuse)
    monkeypatch.setattr(treelite.frontend, "load_lightgbm_model", refuse)
    predictor, _ = meet(wrap(model), open_table(x).chunk(0, 80))
    assert predictor.notes == (
        "the trees are evaluated as a black box, which is slower and draws jumps as ramps: treelite refuses it: too new",
    )
    assert predictor.predict(x, 80).ravel() == pytest.approx(model.predict(x))
    assert [note.kind for note in predictor.notes] == [BLACK_BOX]


def test_walked_trees_travel_without_their_library_s_model():
    pytest.importorskip("treelite")
    pytest.importorskip("numba")
    from sklearn.tree import DecisionTreeRegressor

    x = np.random.default_rng(0).normal(size=(80, 2))
    model = DecisionTreeRegressor(max_depth=3).fit(x, x[:, 0])
    met, _ = meet(wrap(model), open_table(x).chunk(0, 80))
    sent = pickle.loads(pickle.dumps(met))  # noqa: S301 - our own
    assert sent.walks
    assert sent.adapter.model is None
    np.testing.assert_array_equal(sent.predict(x, 80), met.predict(x, 80))
    with pytest.raises(AssertionError, match="asked about 80 rows; it was not sent along"):
        sent.adapter.function(x)
