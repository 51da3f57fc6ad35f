"""What no library writes today, and what treelite refuses, is never walked."""

import numpy as np
import pytest

from rhale.models import meet, wrap
from rhale.models.trees.read import (
    CannotReadError,
    _treelite_tree,
    _zero_is_missing,
)
from rhale.tables import open_table

STUMP = {
    "cleft": np.array([1, -1, -1]),
    "cright": np.array([2, -1, -1]),
    "threshold": np.array([0.5, 0.0, 0.0]),
    "cmp": np.array([2, 0, 0]),
    "node_type": np.array([1, 0, 0]),
    "split_index": np.array([0, -1, -1]),
    "default_left": np.array([1, 0, 0]),
    "leaf_value": np.array([0.0, 1.0, 2.0]),
    "leaf_vector": np.arange(4.0),
    "leaf_vector_begin": np.array([0, 0, 2]),
    "leaf_vector_end": np.array([0, 2, 4]),
}


def read(leaf_size=1, **other):
    return _treelite_tree((STUMP | other).__getitem__, leaf_size, 0, 1.0)


def test_a_stump_is_read():
    assert read().threshold[0] == 0.5
    assert read(cmp=np.array([3, 0, 0])).threshold[0] == np.nextafter(0.5, 1)
    assert read().value.tolist() == [[0.0], [1.0], [2.0]]
    assert read(leaf_size=2).value.tolist() == [[0.0, 0.0], [0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("leaf_size", "other", "reason"),
    [
        (1, {"cmp": np.array([5, 0, 0])}, "compares in an unknown way"),
        (1, {"node_type": np.array([3, 0, 0])}, "neither by a threshold nor by categories"),
        (2, {"leaf_vector_end": np.array([0, 2, 3])}, "of different sizes"),
    ],
)
def test_unknown_kinds_of_splits_and_leaves_are_refused(leaf_size, other, reason):
    with pytest.raises(CannotReadError, match=reason):
        read(leaf_size, **other)


def test_zeros_that_are_missing_in_some_trees_only_are_refused():
    tree = "split_feature=0 1\ndecision_type={} 2\n"
    assert _zero_is_missing(tree.format(6) + tree.format(6)) == [0]
    assert _zero_is_missing(tree.format(10) + tree.format(2)) == []
    with pytest.raises(CannotReadError, match="mean different things"):
        _zero_is_missing(tree.format(6) + tree.format(10))


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
        "trees asked as a black box, which is only slower: treelite refuses it: too new",
    )
    assert predictor.predict(x, 80).ravel() == pytest.approx(model.predict(x))
