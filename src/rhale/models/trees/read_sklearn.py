"""Trees of scikit-learn, from the arrays of its estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.models.trees.forest import Categories, Tree, build_forest, just_above
from rhale.models.trees.reading import CannotReadError, Reading
from rhale.stats.arrays import IntArray


def read_sklearn_forest(model: Any) -> Reading:
    """Decision trees, random forests and extra trees: averages of leaves."""
    members = getattr(model, "estimators_", None)
    members = [model] if members is None else members
    classes = getattr(model, "classes_", None)
    if getattr(model, "n_outputs_", 1) > 1 and classes is not None:
        msg = "a classifier of several targets"
        raise CannotReadError(msg)
    trees = [_sklearn_tree(m.tree_, classes is not None, 1 / len(members)) for m in members]
    n_outputs = trees[0].value.shape[1]
    return Reading(
        build_forest(trees, model.n_features_in_, n_outputs=n_outputs, is_single=True),
        np.zeros(n_outputs),
    )


def _sklearn_tree(tree: Any, is_classifier: bool, factor: float) -> Tree:  # noqa: FBT001
    is_leaf = tree.children_left < 0
    value = tree.value[:, 0, :] if is_classifier else tree.value[:, :, 0]
    if is_classifier:  # fractions since scikit-learn 1.3, counts before
        value = value / np.where(value.sum(axis=1) > 0, value.sum(axis=1), 1.0)[:, None]
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(len(is_leaf), np.bool_))
    return Tree(
        np.where(is_leaf, -1, tree.feature),
        just_above(tree.threshold),
        tree.children_left,
        tree.children_right,
        missing_left.astype(np.bool_),
        value * factor,
    )


def read_sklearn_boosting(model: Any) -> Reading:
    """GradientBoosting: the constant it starts from, and trees scaled by the learning rate."""
    zeros = np.zeros((1, model.n_features_in_))
    if model.init_ != "zero" and "Dummy" not in type(model.init_).__name__:
        msg = f"it starts from a {type(model.init_).__name__}, not from a constant"
        raise CannotReadError(msg)
    base = np.asarray(model._raw_predict_init(zeros), dtype=np.float64)[0]  # noqa: SLF001
    trees = []
    for stage in model.estimators_:
        for target, member in enumerate(stage):
            tree = _sklearn_tree(member.tree_, False, float(model.learning_rate))  # noqa: FBT003
            trees.append(replace(tree, target=target))
    forest = build_forest(trees, model.n_features_in_, n_outputs=len(base), is_single=True)
    link = {"exponential": "sigmoid"}.get(model.loss, "")
    if hasattr(model, "classes_"):
        link = link or ("sigmoid" if len(base) == 1 else "softmax")
    alpha = 2.0 if model.loss == "exponential" else 1.0
    return Reading(forest, base, link or "identity", alpha)


def read_hist_boosting(model: Any) -> Reading:
    """HistGradientBoosting: its own arrays of nodes."""
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()  # noqa: SLF001
    known, places = model._bin_mapper.make_known_categories_bitsets()  # noqa: SLF001
    trees = []
    for stage in model._predictors:  # noqa: SLF001
        for target, member in enumerate(stage):
            trees.append(_hist_tree(member, known, places, target))
    n_features = len(model._bin_mapper.n_bins_non_missing_)  # noqa: SLF001
    forest = build_forest(trees, n_features, n_outputs=len(base))
    link = "identity"
    if hasattr(model, "classes_"):
        link = "sigmoid" if len(base) == 1 else "softmax"
    elif model.loss in ("poisson", "gamma"):
        link = "exponential"
    prepare = model._preprocessor  # noqa: SLF001
    if prepare is None:
        return Reading(forest, base, link)
    names = getattr(model, "feature_names_in_", None)
    named = np.asarray(model.is_categorical_, dtype=np.bool_)
    columns = np.empty(n_features, dtype=np.int64)
    columns[named] = np.arange(named.sum())
    columns[~named] = np.arange(named.sum(), n_features)
    return Reading(
        forest,
        base,
        link,
        columns=columns,
        transform=prepare.transform,
        names=None if names is None else tuple(str(n) for n in names),
    )


def _hist_tree(member: Any, known: Any, places: Any, target: int) -> Tree:
    nodes = member.nodes
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    sets = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~is_leaf):
        left = members_of(member.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        named = members_of(known[places[nodes["feature_idx"][node]]])
        other_left = bool(nodes["missing_go_to_left"][node])
        sets[int(node)] = Categories(left, np.setdiff1d(named, left), other_left)
    return Tree(
        feature=np.where(is_leaf, -1, nodes["feature_idx"].astype(np.int64)),
        threshold=just_above(nodes["num_threshold"]),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_),
        value=nodes["value"][:, None],
        sets=sets,
        target=target,
    )


def members_of(bits: npt.NDArray[np.uint32]) -> IntArray:
    """Numbers whose bits are set."""
    words = np.ascontiguousarray(bits, dtype=np.uint32).view(np.uint8)
    return np.flatnonzero(np.unpackbits(words, bitorder="little"))
