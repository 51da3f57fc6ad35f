"""SHAP interaction values; numbers from algebra, and from XGBoost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.errors import BadSettingError, WrongShapeError
from rhale.interaction.result import Interactions
from rhale.interaction.shap import note_shap, pairs_from_shap

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 50))


def product_values():
    """Of 3 a + a b + c with independent features that are 0 on average: a b is shared evenly."""
    values = np.zeros((50, 3, 3))
    values[:, 0, 0], values[:, 2, 2] = 3 * A, C
    values[:, 0, 1] = values[:, 1, 0] = A * B / 2
    return values


def test_a_product_has_its_own_deviation():
    found = pairs_from_shap(product_values(), ["a", "b", "c"])
    assert [pair.names for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    strengths = [pair.strength for pair in found.pairs]
    assert strengths == pytest.approx([np.std(A * B), 0, 0], rel=1e-12)
    assert strengths[1:] == [0.0, 0.0]
    np.testing.assert_allclose(found.importance[:, 0], [3 * np.std(A), 0, np.std(C)], rtol=1e-12)
    assert found.variance == pytest.approx([np.var(3 * A + A * B + C)], rel=1e-12)
    assert found.pairs[0].share == pytest.approx(np.var(A * B) / np.var(3 * A + A * B + C))
    assert "50 rows" in note_shap(found)[0]


@given(st.integers(0, 10**6), st.floats(-1e6, 1e6), st.integers(1, 3))
def test_constants_change_nothing_and_scales_scale(seed, where, n_outputs):
    values = np.random.default_rng(seed).normal(size=(9, 4, 4, n_outputs))
    values += np.swapaxes(values, 1, 2)
    plain, moved = (pairs_from_shap(v, [*"pqrs"]) for v in (values, 2 * values + where))
    near = {"rtol": 1e-9, "atol": 1e-14 * (1 + abs(where))}
    for a, b in zip(plain.pairs, moved.pairs, strict=True):
        np.testing.assert_allclose(b.strength, 2 * a.strength, **near)
    np.testing.assert_allclose(moved.importance, 2 * plain.importance, **near)


def test_several_outputs_stand_behind_or_in_a_list():
    values = product_values()
    behind = pairs_from_shap(np.stack([values, 2 * values], axis=-1), [*"abc"], ["u", "v"])
    listed = pairs_from_shap([values, 2 * values], [*"abc"], ["u", "v"])
    assert behind.pairs == listed.pairs
    assert [(p.names, p.output) for p in behind.pairs[:2]] == [(("a", "b"), "u"), (("a", "b"), "v")]
    assert behind.pairs[1].strength == pytest.approx(2 * behind.pairs[0].strength)
    assert pairs_from_shap([values, values], [*"abc"]).outputs == ("y0", "y1")


def test_interactions_are_read_from_values():
    ix = Interactions.from_shap(product_values(), ["a", "b", "c"])
    assert ix.method == "shap"
    assert ix["b", "a"].strength == pytest.approx(np.std(A * B))
    assert ix.ranked()[0].names == ("a", "b")
    assert ix.matrix()[0, 0] == pytest.approx(3 * np.std(A))
    assert "50 rows" in str(ix)


def test_values_of_xgboost_add_up_to_its_predictions():
    xgboost = pytest.importorskip("xgboost")
    x = np.random.default_rng(1).normal(size=(200, 3))
    model = xgboost.train({"max_depth": 3, "nthread": 1}, xgboost.DMatrix(x, x[:, 0] * x[:, 1]), 9)
    values = model.predict(xgboost.DMatrix(x), pred_interactions=True)
    with pytest.raises(WrongShapeError, match=r"bias.*values\[:, :-1, :-1\]"):
        pairs_from_shap(values, [*"abc"])
    found = pairs_from_shap(values[:, :-1, :-1], [*"abc"])
    margin = model.predict(xgboost.DMatrix(x), output_margin=True)
    assert found.variance == pytest.approx([np.var(margin.astype(float))], rel=1e-4)
    assert max(found.pairs, key=lambda pair: pair.strength).names == ("a", "b")


def broken(**what):
    values = product_values()
    if "at" in what:
        values[3, 1, 2] = what["at"]
    return values


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [
        (np.zeros((5, 3)), WrongShapeError, "single features"),
        (np.zeros((5, 3, 2)), WrongShapeError, "n_features, n_features"),
        (np.zeros((5, 2, 2)), WrongShapeError, "name every column"),
        (np.zeros((1, 3, 3)), WrongShapeError, "two at least"),
        (broken(at=np.nan), BadSettingError, "row 3, features 1 and 2"),
        (broken(at=np.inf), BadSettingError, "finite"),
        (broken(at=7.0), BadSettingError, "not symmetric: in row 3 features 1 and 2 have 7"),
        ("values", WrongShapeError, "shap_interaction_values"),
        ([np.zeros((2, 3, 3)), np.zeros((2, 4, 4))], WrongShapeError, "shap_interaction_values"),
    ],
)
def test_what_are_no_interaction_values_is_refused(values, error, told):
    with pytest.raises(error, match=told):
        pairs_from_shap(values, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("features", "outputs", "told"),
    [
        (["a"], None, "makes no pair"),
        ("abc", None, "makes no pair"),
        (["a", "b", "a"], None, "'a' twice"),
        (["a", "b", "c"], ["u", "v"], "1 different names"),
    ],
)
def test_names_must_fit(features, outputs, told):
    with pytest.raises(BadSettingError, match=told):
        pairs_from_shap(product_values(), features, outputs)


def test_predictions_that_are_all_the_same_have_zeros():
    found = pairs_from_shap(np.full((5, 2, 2), 0.1), ["a", "b"])
    assert found.variance.tolist() == [0.0]
    assert found.pairs[0].strength == 0.0
    assert found.importance.tolist() == [[0.0], [0.0]]
