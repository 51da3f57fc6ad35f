"""Trees, sparse matrices and neighbours of scikit-learn: indices that its compiled code trusts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rhale.kernels import BoolArray, IntArray
from rhale.models.ancestry import classes_of

LEAF = -1
PLAIN = (str, bytes, int, float, bool, type(None), np.generic)


def check_sklearn(model: Any) -> None:
    """Refuse a model whose compiled parts lead out of their arrays, or raise ValueError.

    Parameters
    ----------
    model : object
        A model that was loaded from a file, with all that it holds.

    Notes
    -----
    A tree's nodes name their children and columns by numbers, and scikit-learn walks them without
    comparing these with the arrays: a wrong one ends the process at the first row that meets it.
    """
    for part in _parts_of(model):
        classes = classes_of(part)
        for name, check in CHECKS.items():
            if name in classes:
                check(part)


def _parts_of(model: Any) -> Iterator[Any]:
    """Everything that a model holds, each once."""
    waiting, seen = [model], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, PLAIN):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        elif not isinstance(part, type):
            waiting += getattr(part, "__dict__", {}).values()


# --- trees -------------------------------------------------------------------------------------


def _check_tree(tree: Any) -> None:
    """One tree: children behind their parents, columns that it knows."""
    left, right = tree.children_left, tree.children_right
    is_split = left != LEAF
    if tree.node_count < 1 or len(left) != tree.node_count:
        _refuse("a tree without nodes")
    _check_children(left, right, is_split)
    _check_columns(tree.feature[is_split], tree.n_features)


def _check_children(left: IntArray, right: IntArray, is_split: BoolArray) -> None:
    """Children come behind their parents, so that no row goes round in a circle."""
    here = np.flatnonzero(is_split)
    for child in (left[here].astype(np.int64), right[here].astype(np.int64)):
        if np.any((child <= here) | (child >= len(left))):
            _refuse("a tree with a child that is not there")


def _check_columns(columns: IntArray, n_columns: int) -> None:
    if columns.size and (columns.min() < 0 or columns.max() >= n_columns):
        _refuse("a tree that splits a column that is not there")


def _check_member(model: Any) -> None:
    """A model of one tree: it takes as many columns as its tree."""
    tree = getattr(model, "tree_", None)
    if tree is not None and tree.n_features != model.n_features_in_:
        _refuse("a tree of other columns than its model")


def _check_ensemble(model: Any) -> None:
    """Trees that are given the rows of the whole ensemble, unlooked at."""
    members = [
        m for m in np.ravel(np.asarray(model.estimators_, dtype=object)) if hasattr(m, "tree_")
    ]
    if any(m.tree_.n_features > model.n_features_in_ for m in members):
        _refuse("a tree of other columns than its model")


def _check_boosting(model: Any) -> None:
    """As many trees in a round as the model has outputs to add them to."""
    _check_ensemble(model)
    members = np.asarray(model.estimators_, dtype=object)
    start = model._raw_predict_init(np.zeros((1, int(model.n_features_in_))))  # noqa: SLF001
    if members.ndim != 2 or members.shape[1] != np.shape(start)[1]:
        _refuse("rounds of other sizes than its outputs")
    trees = [getattr(member, "tree_", None) for member in members.ravel()]
    if any(tree is None or tree.value.shape[1:] != (1, 1) for tree in trees):
        _refuse("a tree of other outputs than its model")


def _check_histograms(model: Any) -> None:
    """HistGradientBoosting: nodes, and sets of categories of columns that have some."""
    mapper = model._bin_mapper  # noqa: SLF001
    is_named = np.asarray(mapper.is_categorical_, dtype=np.bool_)
    n_columns = len(is_named)
    if model._preprocessor is None and n_columns != model.n_features_in_:  # noqa: SLF001
        _refuse("a tree of other columns than its model")
    for stage in model._predictors:  # noqa: SLF001
        for member in stage:
            _check_predictor(member, is_named)
    _check_known(mapper, is_named)


def _check_predictor(member: Any, is_named: BoolArray) -> None:
    nodes = member.nodes
    is_split = ~nodes["is_leaf"].astype(np.bool_)
    if len(nodes) < 1:
        _refuse("a tree without nodes")
    _check_children(nodes["left"], nodes["right"], is_split)
    columns = nodes["feature_idx"][is_split].astype(np.int64)
    _check_columns(columns, len(is_named))
    by_set = nodes["is_categorical"][is_split].astype(np.bool_)
    sets = nodes["bitset_idx"][is_split][by_set]
    for bits in (member.raw_left_cat_bitsets, member.binned_left_cat_bitsets):
        if np.ndim(bits) != 2 or np.shape(bits)[1] != 8 or np.any(sets >= len(bits)):
            _refuse("a tree with a set of categories that is not there")
    if not np.all(is_named[columns[by_set]]):
        _refuse("a tree with categories of a column that has none")


def _check_known(mapper: Any, is_named: BoolArray) -> None:
    """Lists of known categories, of as many columns."""
    known, places = mapper.make_known_categories_bitsets()
    if len(known) != is_named.sum() or len(places) != len(is_named):
        _refuse("lists of categories for other columns")


# --- other compiled parts ----------------------------------------------------------------------


def _check_sparse(matrix: Any) -> None:
    """A sparse matrix: all indices, not only its lengths."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    elif hasattr(matrix, "coords"):
        _check_coordinates(matrix)


def _check_coordinates(matrix: Any) -> None:
    for places, length in zip(matrix.coords, matrix.shape, strict=True):
        if len(places) and (places.min() < 0 or places.max() >= length):
            _refuse("a sparse matrix with indices beyond its shape")


def _check_neighbours(tree: Any) -> None:
    """KDTree and BallTree: nodes that hold rows that are there."""
    data, places, nodes, _ = tree.get_arrays()
    n_rows = len(data)
    begin, end = nodes["idx_start"], nodes["idx_end"]
    is_row = (places >= 0) & (places < n_rows)
    if len(places) != n_rows or not np.all(is_row) or not len(nodes):
        _refuse("a search tree of other rows than its own")
    if np.any((begin < 0) | (begin > end) | (end > n_rows)):
        _refuse("a search tree with a node beyond its rows")
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    if np.any(2 * inner + 2 >= len(nodes)):
        _refuse("a search tree with a child that is not there")


def _check_machine(model: Any) -> None:
    """Support vector machines: libsvm counts through arrays that it is not told the lengths of."""
    n_vectors, counts = len(model.support_), np.asarray(model._n_support)  # noqa: SLF001
    n_classes = len(getattr(model, "classes_", (0, 1)))
    is_classifier = hasattr(model, "classes_")
    n_pairs = n_classes * (n_classes - 1) // 2
    weights, starts = model._dual_coef_, model._intercept_
    n_weights = len(weights.data) if hasattr(weights, "indptr") else np.size(weights)
    vectors = model.support_vectors_
    counted = counts.sum() if is_classifier else counts[0]
    if np.any(counts < 0) or counted != n_vectors or (is_classifier and len(counts) != n_classes):
        _refuse("another number of support vectors than it counts")
    if n_weights != (n_classes - 1) * n_vectors or np.shape(weights)[1] != n_vectors:
        _refuse("weights of other support vectors")
    is_given = model.kernel == "precomputed" or callable(model.kernel)
    if not is_given and vectors.shape != (n_vectors, model.n_features_in_):
        _refuse("support vectors of other columns than its model")
    scales = [getattr(model, name, ()) for name in ("_probA", "_probB")]  # not of all versions
    if {len(starts), *(len(scale) or n_pairs for scale in scales)} != {n_pairs}:
        _refuse("constants of other classes than its model")


def _refuse(what: str) -> None:
    msg = f"it holds {what}"
    raise ValueError(msg)


CHECKS = {
    "sklearn.Tree": _check_tree,
    "sklearn.BaseDecisionTree": _check_member,
    "sklearn.BaseForest": _check_ensemble,
    "sklearn.BaseBagging": _check_ensemble,
    "sklearn.BaseGradientBoosting": _check_boosting,
    "sklearn.BaseHistGradientBoosting": _check_histograms,
    "sklearn.BinaryTree32": _check_neighbours,
    "sklearn.BinaryTree64": _check_neighbours,
    "sklearn.BaseLibSVM": _check_machine,
    "scipy._spbase": _check_sparse,
}
