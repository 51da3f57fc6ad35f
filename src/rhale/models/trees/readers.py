"""Trees of scikit-learn and CatBoost, from their own arrays, and of LightGBM and XGBoost, by treelite."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.data import as_matrix
from rhale.models.libraries import classes_of, first_line
from rhale.models.trees.forest import (
    NUMBER,
    ROUNDED_TO_ZERO,
    Categories,
    Tree,
    build_forest,
    just_above,
)
from rhale.models.trees.reading import (
    CLASS_LABEL,
    CannotReadError,
    Reading,
    lightgbm_categories,
    recode,
)
from rhale.stats.arrays import FloatArray, IntArray


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


# --- Trees of CatBoost, through its own export


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


# --- Trees of LightGBM and XGBoost, read through treelite


def from_treelite(
    model: Any,
    *,
    is_single: bool = False,
    missing: float = np.nan,
    kind: int = NUMBER,
    zero_is_missing: Sequence[int] = (),
) -> Reading:
    """Bring a model of treelite into flat arrays; rows and zeros as its library sees them."""
    head = model.get_header_accessor().get_field
    n_trees, n_targets = model.num_tree, int(head("num_target")[0])
    n_classes, shape = int(head("num_class").max()), tuple(head("leaf_vector_shape"))
    n_outputs = n_targets * n_classes
    whole = shape != (1, 1)  # every leaf adds to all outputs
    n_rounds = n_trees if whole else n_trees / n_outputs
    factor = 1 / n_rounds if head("average_tree_output")[0] else 1.0
    target_of, class_of = head("target_id"), head("class_id")
    trees = []
    for i in range(n_trees):
        tree = model.get_tree_accessor(i).get_field
        target = max(int(target_of[i]), 0) * n_classes + max(int(class_of[i]), 0)
        trees.append(_treelite_tree(tree, n_outputs if whole else 1, target, factor))
    forest = build_forest(
        trees,
        int(head("num_feature")[0]),
        n_outputs=n_outputs,
        is_single=is_single,
        kind=kind,
        zero_is_missing=zero_is_missing,
    )
    base = np.zeros(n_outputs) + np.asarray(head("base_scores"), dtype=np.float64).ravel()
    link, alpha = str(head("postprocessor")), float(head("sigmoid_alpha")[0])
    return Reading(forest, base, link, alpha, missing, 1 / factor)


def _treelite_tree(tree: Callable[[str], Any], leaf_size: int, target: int, factor: float) -> Tree:
    left, threshold, compare = tree("cleft"), tree("threshold").astype(np.float64), tree("cmp")
    is_leaf, is_numeric = left < 0, tree("node_type") == 1
    known = set(np.unique(compare[is_numeric]).tolist())
    if not known <= {2, 3}:  # below, at most
        msg = "a split compares in an unknown way"
        raise CannotReadError(msg)
    threshold = np.where(compare == 3, just_above(threshold), threshold)
    if np.any(~np.isin(tree("node_type"), (0, 1, 2))):
        msg = "a split is neither by a threshold nor by categories"
        raise CannotReadError(msg)
    if leaf_size == 1:
        value = tree("leaf_value")[:, None].astype(np.float64)
    else:
        value = np.zeros((len(left), leaf_size))
        begin, leaves = tree("leaf_vector_begin"), np.flatnonzero(is_leaf)
        if np.any(tree("leaf_vector_end")[leaves] - begin[leaves] != leaf_size):
            msg = "its leaves are of different sizes"
            raise CannotReadError(msg)
        places = begin[leaves, None].astype(np.int64) + np.arange(leaf_size)
        value[leaves] = tree("leaf_vector")[places]
    return Tree(
        feature=np.where(is_leaf, -1, tree("split_index")),
        threshold=threshold,
        left=left,
        right=tree("cright"),
        missing_left=tree("default_left").astype(np.bool_),
        value=value * factor,
        sets=_treelite_sets(tree),
        target=target,
    )


def _treelite_sets(tree: Callable[[str], Any]) -> dict[int, Categories]:
    """Splits by category: treelite lists those of one child, all others go to the other."""
    sets = {}
    none = np.empty(0, np.int64)
    for node in np.flatnonzero(tree("node_type") == 2):
        begin, end = (int(tree(f"category_list_{e}")[node]) for e in ("begin", "end"))
        listed = tree("category_list")[begin:end].astype(np.int64)
        to_right = bool(tree("category_list_right_child")[node])
        left, right = (none, listed) if to_right else (listed, none)
        sets[int(node)] = Categories(left, right, other_left=to_right)
    return sets


# --- Trees of LightGBM, through treelite and the text of the model


ZERO_MISSING = 1  # LightGBM's number for "zero is a missing value"


def read_lightgbm(model: Any) -> Reading:
    """A Booster, as many rounds of it as its own predict uses."""
    import treelite

    booster = getattr(model, "booster_", model)
    if booster is not model and model.get_params().get("pred_early_stop"):
        msg = "it leaves out trees for rows that are clear without them (pred_early_stop)"
        raise CannotReadError(msg)
    text = booster.model_to_string()  # up to best_iteration, as predict and treelite do
    if re.search(r"^is_linear=1", text, re.MULTILINE):
        msg = "its leaves hold linear models"
        raise CannotReadError(msg)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.txt"
            path.write_text(_write_directions(text), encoding="utf-8")
            found = treelite.frontend.load_lightgbm_model(path)
    except treelite.TreeliteError as error:
        msg = f"treelite refuses it: {first_line(error)}"
        raise CannotReadError(msg) from error
    reading = from_treelite(found, kind=ROUNDED_TO_ZERO, zero_is_missing=_zero_is_missing(text))
    sigmoid = re.search(r"^objective=.*\bsigmoid:(\S+)", text, re.MULTILINE)
    if sigmoid:  # treelite keeps it in single precision
        reading = replace(reading, alpha=float(sigmoid[1]))
    named = getattr(booster, "pandas_categorical", None)
    if not named:
        return reading
    columns = np.arange(reading.forest.n_features)
    transform = partial(_recode_lightgbm, named=named, by_column=lightgbm_categories(booster))
    return replace(reading, columns=columns, transform=transform)


def _recode_lightgbm(
    rows: Any, *, named: list[list[Any]], by_column: list[list[Any] | None] | None
) -> FloatArray:
    """LightGBM lists the categories of the columns that have some, in order."""
    if not hasattr(rows, "iloc"):
        return as_matrix(rows)
    left = iter(named)
    is_category = [hasattr(rows.iloc[:, i], "cat") for i in range(rows.shape[1])]
    if by_column is not None and sum(is_category) != len(named):  # rows of a file, as text
        return recode(rows, categories=by_column)
    return recode(rows, categories=[next(left) if c else None for c in is_category])


def _write_directions(text: str) -> str:
    """Write "zero is missing" as "nan is missing": treelite forgets where zeros go."""

    def rewrite(line: re.Match[str]) -> str:
        kinds = (int(word) for word in line[1].split())
        return "decision_type=" + " ".join(str(k ^ 12 if (k >> 2) & 3 == 1 else k) for k in kinds)

    return re.sub(r"^decision_type=(.*)$", rewrite, text, flags=re.MULTILINE)


def _zero_is_missing(text: str) -> list[int]:
    """Features whose zeros LightGBM takes for missing values."""
    found: dict[int, bool] = {}
    features = re.findall(r"^split_feature=(.*)$", text, re.MULTILINE)
    decisions = re.findall(r"^decision_type=(.*)$", text, re.MULTILINE)
    for left, right in zip(features, decisions, strict=True):
        for feature, decision in zip(left.split(), right.split(), strict=True):
            is_category, kind = int(decision) & 1, (int(decision) >> 2) & 3
            zero = not is_category and kind == ZERO_MISSING
            if found.setdefault(int(feature), zero) != zero:
                msg = "missing values mean different things in different trees"
                raise CannotReadError(msg)
    return [feature for feature, zero in found.items() if zero]


# --- Trees of XGBoost, through treelite


WITHOUT_LINK = ("reg:quantileerror", "reg:absoluteerror")  # objectives new to treelite 4.8


def read_xgboost(model: Any) -> Reading:
    """A Booster, as many rounds of it as its own predict uses."""
    import treelite

    booster, missing = model, np.nan
    categories = xgboost_categories(booster_of(model))  # a slice of a Booster forgets them
    if hasattr(model, "get_booster"):
        booster, missing = booster_of(model), float(np.float32(model.missing))
        best = getattr(model, "best_iteration", None)  # XGBoost raises without early stopping
        if best is not None and best + 1 < booster.num_boosted_rounds():
            booster = booster[: best + 1]
    learner = json.loads(booster.save_config())["learner"]
    if learner["gradient_booster"]["name"] == "gblinear":
        msg = "it is a linear model (gblinear) without trees"
        raise CannotReadError(msg)
    objective = learner["objective"]["name"]
    try:
        if categories is None and objective not in WITHOUT_LINK:
            found = treelite.frontend.from_xgboost(booster)
        else:
            # As JSON without names of categories, and with an objective that treelite knows
            exported = json.loads(booster.save_raw("json"))
            _tree_part(exported).pop("cats", None)
            if exported["learner"]["objective"]["name"] in WITHOUT_LINK:
                exported["learner"]["objective"] = {"name": "reg:squarederror"}  # no link either
            found = treelite.frontend.from_xgboost_json(json.dumps(exported))
    except treelite.TreeliteError as error:
        msg = f"treelite refuses it: {first_line(error)}"
        raise CannotReadError(msg) from error
    reading = from_treelite(found, is_single=True, missing=missing)
    reading = replace(reading, adds_in_single=True)
    if objective == "binary:hinge" or (
        objective == "multi:softmax" and not hasattr(model, "predict_proba")
    ):
        reading = replace(reading, link=CLASS_LABEL)
    if categories is None:
        return reading
    # categories of a data frame become the numbers that the trees know them by
    columns = np.arange(reading.forest.n_features)
    return replace(reading, columns=columns, transform=partial(recode, categories=categories))


def booster_of(model: Any) -> Any:
    """The Booster inside an estimator of XGBoost, or the Booster itself."""
    return model.get_booster() if hasattr(model, "get_booster") else model


def xgboost_categories(booster: Any) -> list[list[Any] | None] | None:
    """Categories of each column of the data frame in training; None if there were none.

    XGBoost before 3.1 does not keep them: it goes by the places of categories in each table.
    """
    if "c" not in (booster.feature_types or ()):
        return None
    exported = json.loads(booster.save_raw("json"))
    listed = _tree_part(exported).get("cats", {}).get("enc", [])
    named = [_listed_names(one) for one in listed]
    if any(c is not None for c in named):
        return named
    return None if booster.feature_names is None else [None] * len(booster.feature_names)


def _listed_names(listed: dict[str, Any]) -> list[Any] | None:
    """Categories of one column: numbers, or text as bytes and where each begins."""
    if "offsets" not in listed:
        return list(listed["values"])
    text = np.array(listed["values"], dtype=np.int64).astype(np.uint8).tobytes()
    places = listed["offsets"]
    words = [text[a:b].decode() for a, b in pairwise(places)]
    return words or None


def _tree_part(exported: Any) -> Any:
    """Where the JSON of a Booster keeps its trees: one level deeper for dart."""
    part = exported["learner"]["gradient_booster"]
    return part.get("gbtree", part)["model"]
