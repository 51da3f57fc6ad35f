"""Pairs where features are named: what `explain` makes of them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import rhale
from rhale.errors import BadSettingError, UnknownFeatureError
from rhale.interaction.api import pairs_among
from rhale.interaction.result import Interactions

ROWS = np.random.default_rng(3).normal(size=(60, 3))


def product(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


def traced(**options):
    return rhale.explain(product, ROWS, **{"method": "pdp", "features": [("x0", "x1")], **options})


def test_explain_gives_partial_dependence_of_pairs():
    found = traced(bins=rhale.Quantile(4))
    wanted = rhale.interactions(product, ROWS, method="pdp", pairs=[("x0", "x1")], cells=4)
    assert isinstance(found, Interactions)
    assert found.pairs == wanted.pairs
    assert found.method == "pdp"


def test_a_number_of_bins_has_equal_widths_as_for_one_feature():
    pair = traced(bins=4)["x0", "x1"]
    one = rhale.explain(product, ROWS, method="pdp", features="x0", bins=4)["x0"]
    np.testing.assert_allclose(pair.edges[0], one.grid)
    np.testing.assert_allclose(pair.single[0], one.mean, rtol=1e-12, atol=1e-14)
    other = traced(bins={"x0": 4, "x1": rhale.Edges([-5.0, 0.0, 5.0])})["x0", "x1"]
    np.testing.assert_array_equal(other.edges[1], [-5, 0, 5])
    np.testing.assert_allclose(other.edges[0], one.grid)


def test_positions_name_pairs_by_the_columns_of_the_table():
    assert traced(features=[(0, 2)], bins=2)["x0", "x2"].strength == 0.0
    rows = np.column_stack([ROWS[:, 2], ROWS])  # x1 and x2 are the two that act together
    ix = rhale.interactions(lambda r: r[:, 1] * r[:, 2] + r[:, 3], rows, pairs=[(1, 2), (1, 3)])
    assert [pair.names for pair in ix.values()] == [("x1", "x2"), ("x1", "x3")]
    assert ix["x1", "x2"].strength > 0.5
    assert ix["x1", "x3"].strength == 0.0


def test_the_answer_of_a_classifier_is_that_of_one_feature():
    y = (ROWS[:, 0] > 0).astype(int)
    trees = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(ROWS, y)
    both = rhale.explain(trees, ROWS, method="pdp", features=[("x0", "x1")], bins=3)
    one = rhale.explain(trees, ROWS, method="pdp", features="x0", bins=3)["x0"]
    np.testing.assert_allclose(both.pairs[0].single[0], one.mean, rtol=1e-9)
    assert both.provenance["asked"]["response"] == "'predict_proba'"
    assert [note.kind for note in both.notes] == ["margin"]


def test_names_and_pairs_take_two_calls():
    with pytest.raises(BadSettingError, match=r"'x0', 'x1'.*'x2'; make two calls"):
        traced(features=[("x0", "x1"), "x2"])


@pytest.mark.parametrize("method", ["rhale", "ale", "ice"])
def test_other_methods_point_to_interactions(method):
    with pytest.raises(BadSettingError, match=r"rhale\.interactions\(model, data, pairs="):
        traced(method=method)


@pytest.mark.parametrize("option", [{"limits": (0, 1)}, {"window": 0.1}, {"local": "secant"}])
def test_what_is_not_for_pairs_is_refused(option):
    with pytest.raises(BadSettingError, match="not for pairs"):
        traced(**option)


def test_unknown_features_of_pairs_are_named():
    with pytest.raises(UnknownFeatureError, match="x9"):
        traced(features=[("x0", "x9")])
    with pytest.raises(BadSettingError, match="with itself"):
        traced(features=[("x0", "x0")])


def test_features_without_pairs_stay_what_they_are():
    assert pairs_among(None) is None
    assert pairs_among("ab") is None
    assert pairs_among(3) is None
    assert pairs_among(("a", "b")) is None
