"""Trees of CatBoost, through its own export."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from rhale.models.libraries import classes_of
from rhale.models.trees.forest import Tree, build_forest, just_above
from rhale.models.trees.reading import CannotReadError, Reading


def read_catboost(model: Any) -> Reading:
    """Symmetric or other trees from the JSON export; features of numbers only."""
    for kind in ("cat", "text", "embedding"):
        if getattr(model, f"get_{kind}_feature_indices")():
            name = {"cat": "categorical"}.get(kind, kind)
            msg = f"CatBoost's {name} features are not thresholds"
            raise CannotReadError(msg)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        exported = json.loads(path.read_text(encoding="utf-8"))
    floats = {f["feature_index"]: f for f in exported["features_info"]["float_features"]}
    scale, bias = exported["scale_and_bias"]
    n_outputs = max(len(bias), 1)
    nodes = exported.get("oblivious_trees")
    if nodes is not None:
        trees = [_symmetric_tree(t, floats, n_outputs, scale) for t in nodes]
    else:
        trees = [_nested_tree(t, floats, n_outputs, scale) for t in exported["trees"]]
    n_features = 1 + max(f["flat_feature_index"] for f in floats.values())
    forest = build_forest(trees, n_features, n_outputs=n_outputs, is_single=True)
    base, names = np.asarray(bias, dtype=np.float64), tuple(str(n) for n in model.feature_names_)
    return Reading(forest, base, _catboost_link(model, n_outputs), names=names)


def _catboost_link(model: Any, n_outputs: int) -> str:
    """What predict or predict_proba does; the class CatBoost itself answers with raw sums."""
    loss = str(model.get_all_params().get("loss_function", "")).partition(":")[0]
    if hasattr(model, "predict_proba"):
        if loss in ("MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy"):
            return "multiclass_ova"
        return "softmax" if n_outputs > 1 else "sigmoid"
    if "catboost.CatBoostRegressor" not in classes_of(model):
        return "identity"
    return {
        "Poisson": "exponential",
        "Tweedie": "exponential",
        "RMSEWithUncertainty": "mean_and_variance",
    }.get(loss, "identity")


def _symmetric_tree(tree: Any, floats: Any, n_outputs: int, scale: float) -> Tree:
    """Level by level: a complete tree, the last split of the list at the root."""
    splits, n_splits = tree["splits"] or [], len(tree["splits"] or [])
    n_inner = 2**n_splits - 1
    n_nodes = 2 * n_inner + 1
    level = np.floor(np.log2(np.arange(1, n_nodes + 1))).astype(np.int64)
    chosen = [_catboost_split(splits[n_splits - 1 - i], floats) for i in range(n_splits)]
    feature, threshold = np.full(n_nodes, -1), np.zeros(n_nodes)
    missing_left, value = np.zeros(n_nodes, np.bool_), np.zeros((n_nodes, n_outputs))
    for i, (f, t, missing) in enumerate(chosen):
        feature[level == i], threshold[level == i], missing_left[level == i] = f, t, missing
    left = np.where(feature >= 0, 2 * np.arange(n_nodes) + 1, -1)
    right = np.where(feature >= 0, left + 1, -1)
    value[n_inner:] = np.reshape(tree["leaf_values"], (-1, n_outputs)) * scale
    return Tree(feature, threshold, left, right, missing_left, value)


def _catboost_split(split: Any, floats: Any) -> tuple[int, float, bool]:
    """Feature, threshold and where missing values go; values above the border go right."""
    if split.get("split_type", "FloatFeature") != "FloatFeature":
        msg = f"a split of kind {split['split_type']}"
        raise CannotReadError(msg)
    feature = floats[split["float_feature_index"]]
    border = float(np.float32(split["border"]))
    missing_left = feature.get("nan_value_treatment", "AsIs") != "AsTrue"
    return feature["flat_feature_index"], float(just_above(np.array(border))), missing_left


def _nested_tree(tree: Any, floats: Any, n_outputs: int, scale: float) -> Tree:
    """Trees of other growing policies: nodes within nodes."""
    rows: list[tuple[int, float, int, int, bool, Any]] = []

    def add(node: Any) -> int:
        place = len(rows)
        rows.append((-1, 0.0, -1, -1, False, node.get("value", 0.0)))
        if "split" in node:
            feature, threshold, missing = _catboost_split(node["split"], floats)
            left = add(node["left"])
            rows[place] = (feature, threshold, left, add(node["right"]), missing, 0.0)
        return place

    add(tree)
    feature, threshold, left, right, missing, value = zip(*rows, strict=True)
    values = [np.broadcast_to(np.asarray(v, dtype=np.float64), n_outputs) for v in value]
    return Tree(
        np.array(feature),
        np.array(threshold),
        np.array(left),
        np.array(right),
        np.array(missing, dtype=np.bool_),
        np.array(values) * scale,
    )
