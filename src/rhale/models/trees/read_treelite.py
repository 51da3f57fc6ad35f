"""Trees of LightGBM and XGBoost, read through treelite."""

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

from rhale.data import as_matrix
from rhale.models.libraries import first_line
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
from rhale.stats.arrays import FloatArray


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
