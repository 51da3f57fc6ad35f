import numpy as np
import pytest

pytest.importorskip("numba")

import rhale
from rhale.data import open_table
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.read_model import can_miss, check_walker
from rhale.models.trees.reading import CannotReadError, Reading
from rhale.models.trees.walker import TreeWalker

ROWS = np.random.default_rng(0).normal(size=(20, 2))


def stump(**other):
    """Column 0 below 1 gives 3, all else gives 5."""
    tree = Tree(
        feature=np.array([0, -1, -1]),
        threshold=np.array([1.0, 0.0, 0.0]),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.array([True, False, False]),
        value=np.array([[0.0], [3.0], [5.0]]),
    )
    return TreeWalker(
        Reading(build_forest([tree], 2), np.zeros(1), **other), "predict", is_pair=False
    )


def as_the_stump(rows):
    return np.where(rows[:, 0] >= 1.0, 5.0, 3.0)


def at_the_threshold(rows):
    return np.where(rows[:, 0] > 1.0, 5.0, 3.0)


def where_nothing_is_known(rows):
    return np.where(np.isnan(rows[:, 0]), 5.0, as_the_stump(rows))


def test_rows_at_and_beside_the_thresholds_and_without_a_value_are_asked():
    """Two changes of column 0, one of column 1 that no tree sees, and each without a value."""
    assert check_walker(stump(), as_the_stump, ROWS, as_the_stump(ROWS)) == 20 * (3 + 2)


@pytest.mark.parametrize("model", [at_the_threshold, where_nothing_is_known])
def test_a_model_that_differs_in_such_rows_only_is_not_walked(model):
    with pytest.raises(CannotReadError, match=r"they give . where the model returns ."):
        check_walker(stump(), model, ROWS, model(ROWS))


def test_a_table_of_another_width_is_refused():
    with pytest.raises(CannotReadError, match="they have 2 features, the table has 1 columns"):
        check_walker(stump(), as_the_stump, ROWS[:, :1], as_the_stump(ROWS))


def test_a_table_of_names_alone_is_checked_as_it_is():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"a": ["low", "high", "low"], "b": ["x", "y", "x"]})

    def encode(table):
        return (table.to_numpy() == "high") * 2.0

    named = stump(columns=np.arange(2), transform=encode)
    assert check_walker(named, lambda table: as_the_stump(encode(table)), rows, [3.0, 5, 3]) == 0
    with pytest.raises(CannotReadError, match="they give 5 where the model returns 4"):
        check_walker(named, None, rows, [3.0, 4, 3])


def test_a_column_of_truth_values_is_not_asked_without_a_value():
    """A missing one would be False, and the trees be blamed for it."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"a": ROWS[:, 0] > 0, "b": ROWS[:, 1]})

    def ask(table):
        return np.where(table["a"], 5.0, 3.0)

    assert check_walker(stump(), ask, rows, ask(rows)) == 20 * (3 + 1)
    assert not can_miss(open_table(rows).chunk(0, 20), 0)
    assert can_miss(open_table(rows).chunk(0, 20), 1)


def test_xgboost_with_truth_values_is_walked():
    pandas, xgboost = pytest.importorskip("pandas"), pytest.importorskip("xgboost")
    x = np.random.default_rng(1).normal(size=(300, 2))
    rows = pandas.DataFrame({"x": x[:, 0], "b": x[:, 1] > 0})
    model = xgboost.XGBRegressor(n_estimators=5).fit(rows, x[:, 0] + rows["b"])
    fx = rhale.explain(model, rows)
    assert fx.provenance["answers_walked"] > 0
    assert not [note for effect in fx.values() for note in effect.notes if note.kind == "black box"]
