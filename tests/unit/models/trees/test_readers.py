from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import ExtraTreeRegressor

from rhale.models.trees.ensemble import is_tree_model, reader_of
from rhale.models.trees.readers import read_sklearn_forest

X = [[0.0], [1.0], [2.0]]


def test_a_class_is_read_as_its_nearest_known_ancestor():
    class Own(ExtraTreeRegressor):
        pass

    assert reader_of(Own()) is read_sklearn_forest
    assert reader_of(LinearRegression()) is None


def test_a_bag_of_lines_holds_no_trees():
    def bag(of):
        return BaggingRegressor(of, n_estimators=2).fit(X, [0.0, 1.0, 2.0])

    assert is_tree_model(bag(ExtraTreeRegressor()))
    assert not is_tree_model(bag(LinearRegression()))
