import copy

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.multioutput import RegressorChain
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.tree import DecisionTreeRegressor

from rhale.models.files.check_sklearn import check_sklearn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
X[:, 2] = RNG.integers(0, 5, 60)
Y = X[:, 0] * 2 + X[:, 1] + np.sin(X[:, 2] * 3)
CLASSES = np.digitize(Y, [-1, 1])
SMALL = DecisionTreeRegressor(max_depth=3, random_state=0)
WHOLE = {
    "tree": lambda: SMALL.fit(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), SMALL).fit(X, Y),
    "forest": lambda: RandomForestRegressor(2, max_depth=3).fit(X, Y),
    "bagging": lambda: BaggingRegressor(SMALL, n_estimators=2, max_features=2).fit(X, Y),
    "isolation": lambda: IsolationForest(n_estimators=2).fit(X),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=2).fit(X, Y),
    "classes": lambda: GradientBoostingClassifier(n_estimators=2).fit(X, CLASSES),
    "histograms": lambda: HistGradientBoostingClassifier(
        max_iter=2, max_leaf_nodes=5, categorical_features=[2]
    ).fit(X, CLASSES),
    "stack": lambda: StackingRegressor([("a", SMALL), ("b", Ridge())]).fit(X, Y),
    "chain": lambda: RegressorChain(SMALL).fit(X, np.c_[Y, Y]),
    "neighbours": lambda: KNeighborsRegressor(algorithm="kd_tree", leaf_size=5).fit(X, Y),
    "balls": lambda: KNeighborsRegressor(algorithm="ball_tree", leaf_size=5).fit(X, Y),
    "machine": lambda: SVC(probability=True).fit(X, CLASSES),
    "sparse machine": lambda: SVC().fit(sparse.csr_matrix(X), CLASSES),
    "regression": lambda: SVR().fit(X, Y),
    "one class": lambda: OneClassSVM().fit(X),
    "given kernel": lambda: SVC(kernel="precomputed").fit(X @ X.T, CLASSES),
    "sparse weights": lambda: {"a": [sparse.csr_matrix(X), sparse.coo_matrix(X)]},
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", WHOLE)
def test_whole_models_pass(name):
    check_sklearn(WHOLE[name]())


def with_nodes(tree, **changes):
    """A tree whose arrays of nodes were changed: name=(place, value)."""
    maker, arguments, state = tree.__reduce__()
    nodes = state["nodes"].copy()
    for name, (place, value) in changes.items():
        nodes[name][place] = value
    made = maker(*arguments)
    made.__setstate__(state | {"nodes": nodes})
    return made


TREE_DAMAGES = [
    {"left_child": (0, 10**6)},
    {"left_child": (0, 0)},
    {"left_child": (1, 0)},
    {"right_child": (0, -5)},
    {"feature": (0, 3)},
    {"feature": (0, -7)},
]


@pytest.mark.parametrize("change", TREE_DAMAGES, ids=str)
@pytest.mark.parametrize("where", ["tree", "pipeline", "forest", "boosting", "stack"])
def test_a_tree_that_leads_out_of_its_arrays_is_refused(where, change):
    model = copy.deepcopy(WHOLE[where]())
    member = {
        "tree": lambda: model,
        "pipeline": lambda: model.steps[-1][1],
        "forest": lambda: model.estimators_[1],
        "boosting": lambda: model.estimators_[1, 0],
        "stack": lambda: model.estimators_[0],
    }[where]()
    member.tree_ = with_nodes(member.tree_, **change)
    with pytest.raises(ValueError, match="it holds a tree"):
        check_sklearn(model)


def test_trees_of_more_columns_than_their_model_are_refused():
    wide = DecisionTreeRegressor(max_depth=3).fit(np.c_[X, Y], Y)
    for name in ("tree", "forest", "boosting", "isolation", "bagging"):
        model = WHOLE[name]()
        member = model if name == "tree" else np.ravel(model.estimators_)[0]
        member.tree_ = wide.tree_
        with pytest.raises(ValueError, match="other columns"):
            check_sklearn(model)


def test_rounds_of_more_trees_than_outputs_are_refused():
    model = WHOLE["boosting"]()
    model.estimators_ = np.hstack([model.estimators_] * 3)
    with pytest.raises(ValueError, match="rounds of other sizes"):
        check_sklearn(model)


@pytest.mark.parametrize(
    ("field", "value"),
    [("left", 10**6), ("right", 0), ("feature_idx", 99), ("feature_idx", -1), ("bitset_idx", 99)],
)
def test_nodes_of_histograms_that_lead_nowhere_are_refused(field, value):
    model = WHOLE["histograms"]()
    for predictor in model._predictors[0]:
        nodes = predictor.nodes
        nodes["is_categorical"][0], nodes["feature_idx"][0] = 1, 0  # those with categories first
        if not len(predictor.raw_left_cat_bitsets):
            predictor.raw_left_cat_bitsets = np.zeros((1, 8), np.uint32)
            predictor.binned_left_cat_bitsets = np.zeros((1, 8), np.uint32)
    check_sklearn(model)
    model._predictors[0][1].nodes[field][0] = value
    with pytest.raises(ValueError, match="it holds a tree"):
        check_sklearn(model)


def test_categories_of_a_column_that_has_none_are_refused():
    model = WHOLE["histograms"]()
    nodes = model._predictors[0][0].nodes
    nodes["is_categorical"][0], nodes["feature_idx"][0] = 1, 2
    with pytest.raises(ValueError, match="it holds a tree with"):
        check_sklearn(model)


def test_sparse_matrices_with_indices_beyond_their_shape_are_refused():
    matrix = sparse.csr_matrix(X)
    matrix.indices[0] = 1000
    with pytest.raises(ValueError, match=r"indices|index"):
        check_sklearn([matrix])
    matrix = sparse.coo_matrix(X)
    matrix.coords[0][0] = 1000
    with pytest.raises(ValueError, match="beyond its shape"):
        check_sklearn([matrix])


@pytest.mark.parametrize("name", ["neighbours", "balls"])
@pytest.mark.parametrize("field", ["idx_start", "idx_end", "places", "is_leaf"])
def test_search_trees_that_lead_out_of_their_rows_are_refused(name, field):
    model = WHOLE[name]()
    _, places, nodes, _ = (np.asarray(a) for a in model._tree.get_arrays())
    if field == "places":
        places[3] = 1000
    else:
        nodes[field][-1] = 0 if field == "is_leaf" else 1000
    with pytest.raises(ValueError, match="it holds a search tree"):
        check_sklearn(model)


@pytest.mark.parametrize(
    "change",
    [
        {"_n_support": np.array([0, -(2**31), 12], np.int32)},
        {"_n_support": np.array([60], np.int32)},
        {"_dual_coef_": np.zeros((2, 3))},
        {"_intercept_": np.zeros(1)},
        {"_probA": np.zeros(1)},
        {"support_": np.zeros(2, np.int32)},
        {"support_vectors_": np.zeros((60, 1))},
    ],
    ids=lambda c: next(iter(c)),
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_support_vectors_that_were_miscounted_are_refused(change):
    model = WHOLE["machine"]()
    vars(model).update(change)
    with pytest.raises(ValueError, match="it holds"):
        check_sklearn(model)


def test_a_model_that_holds_itself_is_looked_through_once():
    model = {"a": []}
    model["a"].append(model)
    check_sklearn(model)
