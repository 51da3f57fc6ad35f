"""Structure of an XGBoost model: trees that are trees, columns and classes that are there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from rhale.kernels import BoolArray, IntArray

Lists = dict[str, IntArray]

MOST_SPLITS = 10_000  # on a path: XGBoost calls itself for each
MOST_OUTPUTS = 1000  # of a model that has fewer trees than that
MOST_CATEGORIES, MOST_BITS = 2**24, 2**31  # of a split (a float32 counts no further), of all
LARGEST = 2**31 - 1
LEAF_LISTS = (3, 2)  # the version from which leaves of several numbers have a list of their own
STATISTICS = ("loss_changes", "sum_hessian")  # trees with such leaves had none before
INDICES = ("left_children", "right_children", "parents", "split_indices", "default_left")
SETS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
CATEGORIES = ("split_type", *SETS)
NUMBER = re.compile(r"[-+]?(?>\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")


def check_xgboost(model: Any, version: tuple[int, ...] = LEAF_LISTS) -> None:
    """Refuse a model whose parts do not fit together, or raise ValueError.

    Parameters
    ----------
    model : object
        What `read_json` or `read_ubj` gives.
    version : tuple of int
        Of the XGBoost that is to load it.

    Notes
    -----
    XGBoost does not compare indices with lengths: a child, a column, a class or a set of
    categories beyond its array ends the process. All trees are checked at once; O(nodes), and one
    step for each level of the deepest tree.
    """
    learner = _part(model, "learner", "it")
    settings = _part(learner, "learner_model_param", "its learner")
    n_columns = _count(settings, "num_feature", "its learner")
    n_classes = _count(settings, "num_class", "its learner")
    n_targets = _count(settings, "num_target", "its learner", usual=1)
    n_outputs = max(n_classes, n_targets, 1)
    _check_scores(settings.get("base_score"), n_outputs)
    _check_objective(learner, n_classes)
    _check_words(learner, n_columns)
    booster = _part(learner, "gradient_booster", "its learner")
    if booster.get("name") == "gblinear":
        _check_weights(_part(booster, "model", "its booster"), n_columns, n_outputs)
    elif booster.get("name") in ("gbtree", "dart"):
        _check_forest(booster, n_columns, n_outputs)
        if version >= LEAF_LISTS:
            _refuse_old_leaves(booster)
    else:
        msg = "its booster is none that XGBoost has"
        raise ValueError(msg)


# --- the learner -------------------------------------------------------------------------------


def _check_scores(text: Any, n_outputs: int) -> None:
    """What all answers begin with: one number, or one for each output."""
    words = text.strip("[]").split(",") if isinstance(text, str) else []
    if len(words) not in (1, n_outputs) or not all(NUMBER.fullmatch(word) for word in words):
        msg = "its base_score is no list of as many numbers as it has outputs"
        raise ValueError(msg)


def _check_objective(learner: Mapping[str, Any], n_classes: int) -> None:
    objective = _part(learner, "objective", "its learner")
    named = [part["num_class"] for part in objective.values() if _has(part, "num_class")]
    if any(name != str(n_classes) for name in named):
        msg = "its objective has another number of classes than its learner"
        raise ValueError(msg)
    if str(objective.get("name")).startswith("multi:") and (not named or n_classes == 0):
        msg = "its objective has no number of classes"
        raise ValueError(msg)


def _check_words(learner: Mapping[str, Any], n_columns: int) -> None:
    """Names and types of columns, and what a user has noted."""
    for name in ("feature_names", "feature_types"):
        words = learner.get(name, [])
        is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
        if not is_list or len(words) not in (0, n_columns):
            msg = f"its {name} are not {n_columns}"
            raise ValueError(msg)
    noted = learner.get("attributes", {})
    if not isinstance(noted, dict) or not all(isinstance(v, str) for v in noted.values()):
        msg = "its attributes are no texts"
        raise ValueError(msg)


def _check_weights(model: Mapping[str, Any], n_columns: int, n_outputs: int) -> None:
    """Weights of a linear model: of all columns and a constant, for each output."""
    weights = _numbers(model, "weights", "its booster")
    if len(weights) != (n_columns + 1) * n_outputs:
        msg = f"its weights are not those of {n_columns} columns and {n_outputs} outputs"
        raise ValueError(msg)


# --- trees -------------------------------------------------------------------------------------


def _check_forest(booster: Mapping[str, Any], n_columns: int, n_outputs: int) -> None:
    model = _model_of(booster)
    trees = _list(model, "trees", "its booster")
    if booster["name"] == "dart":
        _same_length(_numbers(booster, "weight_drop", "its booster"), len(trees), "weight_drop")
    if n_outputs > max(len(trees), MOST_OUTPUTS):
        msg = f"its {len(trees)} trees cannot give {n_outputs} outputs"
        raise ValueError(msg)
    _check_rounds(model, len(trees), n_outputs)
    numbers: list[Any] = [tree.get("id") if isinstance(tree, dict) else None for tree in trees]
    if any(type(n) is not int for n in numbers) or sorted(numbers) != list(range(len(trees))):
        msg = "its trees are not numbered one after the other"
        raise ValueError(msg)
    lists = [_read_lists(tree, i, n_columns, n_outputs) for i, tree in enumerate(trees)]
    if lists:
        _check_shape(lists, n_columns)
        _check_sets(lists)
    _check_encoding(model.get("cats"), n_columns)


def _model_of(booster: Mapping[str, Any]) -> dict[str, Any]:
    """Where a booster keeps its trees: one level deeper for dart."""
    inner = _part(booster, "gbtree", "its booster") if booster["name"] == "dart" else booster
    return _part(inner, "model", "its booster")


def _refuse_old_leaves(booster: Mapping[str, Any]) -> None:
    """Refuse leaves of several numbers that stand in no list of their own: XGBoost would crash."""
    for number, tree in enumerate(_model_of(booster)["trees"]):
        where = f"its tree {number}"
        if _has_old_leaves(tree, where):
            msg = f"{where} has leaves as XGBoost before 3.2 wrote them; this one is newer"
            raise ValueError(msg)


def _has_old_leaves(tree: Mapping[str, Any], where: str) -> bool:
    n_values = _count(_part(tree, "tree_param", where), "size_leaf_vector", where, usual=1)
    return n_values > 1 and "leaf_weights" not in tree


def _check_rounds(model: Mapping[str, Any], n_trees: int, n_outputs: int) -> None:
    """Which trees belong to a round, and to which output."""
    settings = _part(model, "gbtree_model_param", "its booster")
    n_parallel = _count(settings, "num_parallel_tree", "its booster", usual=1)
    if _count(settings, "num_trees", "its booster") != n_trees or not 0 < n_parallel < LARGEST:
        msg = f"its counts of trees are not those of its {n_trees} trees"
        raise ValueError(msg)
    outputs = _whole(model, "tree_info", "its booster")
    _same_length(outputs, n_trees, "tree_info")
    if n_trees and (outputs.min() < 0 or outputs.max() >= n_outputs):
        msg = f"a tree belongs to an output beyond its {n_outputs}"
        raise ValueError(msg)
    if "iteration_indptr" in model:
        rounds = _whole(model, "iteration_indptr", "its booster")
        is_whole = len(rounds) > 0 and rounds[0] == 0 and rounds[-1] == n_trees
        if not is_whole or np.any(np.diff(rounds) <= 0):
            msg = "its rounds do not begin one after the other"
            raise ValueError(msg)
    elif n_trees % (n_parallel * n_outputs):
        msg = f"its {n_trees} trees do not make up rounds"
        raise ValueError(msg)


def _read_lists(tree: Any, number: int, n_columns: int, n_outputs: int) -> Lists:
    """Lists of a tree that hold indices; ValueError where a list is not one value for a node."""
    where = f"its tree {number}"
    settings = _part(tree, "tree_param", where)
    n_nodes = _count(settings, "num_nodes", where)
    n_values = max(_count(settings, "size_leaf_vector", where, usual=1), 1)
    if n_values not in (1, n_outputs) or _count(settings, "num_feature", where) > n_columns:
        msg = f"{where} has leaves or columns unlike the model's"
        raise ValueError(msg)
    lists = {name: _whole(tree, name, where) for name in INDICES}
    lists["split_type"] = np.zeros_like(lists["parents"])  # XGBoost 1.0 knew no categories
    lists |= {name: _whole(tree, name, where) for name in CATEGORIES if name in tree}
    lengths: dict[str, float] = {n: len(v) for n, v in lists.items() if n not in SETS}
    is_old = _has_old_leaves(tree, where)
    known = () if is_old else STATISTICS
    lengths |= {n: len(_numbers(tree, n, where)) for n in ("split_conditions", *known)}
    lengths["base_weights"] = len(_numbers(tree, "base_weights", where)) / n_values
    wrong = [name for name, length in lengths.items() if length != n_nodes]
    if wrong or n_nodes == 0:
        name = wrong[0] if wrong else "num_nodes"
        msg = f"the {name} of {where} do not fit its {n_nodes} nodes"
        raise ValueError(msg)
    if n_values > 1 and not is_old:
        _check_leaves(lists, len(_numbers(tree, "leaf_weights", where)) // n_values, where)
    lists["num_deleted"] = np.array([_count(settings, "num_deleted", where, usual=0)])
    return lists


def _check_leaves(lists: Lists, n_leaves: int, where: str) -> None:
    """Leaves of several numbers name their places in a list of their own."""
    places = lists["right_children"][lists["left_children"] == -1]
    if np.any((places < 0) | (places >= n_leaves)):
        msg = f"{where} has a leaf beyond its leaf_weights"
        raise ValueError(msg)


def _check_shape(trees: list[Lists], n_columns: int) -> None:
    """Each node has one parent, which knows it, and is reached from the first node of its tree."""
    sizes = np.array([len(tree["parents"]) for tree in trees])
    starts = np.cumsum(sizes) - sizes
    shift, last = np.repeat(starts, sizes), np.repeat(sizes, sizes) - 1
    left, right, parent, column = (np.concatenate([t[name] for t in trees]) for name in INDICES[:4])
    splits = np.flatnonzero(left != -1)
    children = np.stack([left[splits], right[splits]])
    _refuse_any(
        starts, splits, (children < 1) | (children > last[splits]), "a child beyond its nodes"
    )
    children += shift[splits]
    is_strange = parent[children] + shift[children] != splits
    _refuse_any(starts, splits, is_strange, "a child of another parent")
    is_shared = np.bincount(children.ravel(), minlength=len(left))[children] > 1
    _refuse_any(starts, splits, is_shared, "a child of two parents")
    column = column[splits]
    is_missing = (column < 0) | (column >= n_columns)
    _refuse_any(starts, splits, is_missing[None], "a split of a column that is not there")
    n_left_out = sum(int(tree["num_deleted"][0]) for tree in trees)
    if _count_reached(left + shift, right + shift, left != -1, starts) + n_left_out != len(left):
        msg = "a tree has nodes that no row reaches"
        raise ValueError(msg)


def _refuse_any(starts: IntArray, splits: IntArray, is_wrong: BoolArray, what: str) -> None:
    """Name the first tree of which something is wrong, in a ValueError."""
    if np.any(is_wrong):
        node = splits[np.any(is_wrong, axis=0)][0]
        msg = f"its tree {int(np.searchsorted(starts, node, side='right')) - 1} has {what}"
        raise ValueError(msg)


def _count_reached(left: IntArray, right: IntArray, is_split: BoolArray, roots: IntArray) -> int:
    """Nodes below the roots, themselves included; none has two parents, so there is no circle."""
    n_reached, level = 0, roots
    for _ in range(MOST_SPLITS + 1):
        n_reached, level = n_reached + level.size, level[is_split[level]]
        if not level.size:
            return n_reached
        level = np.concatenate([left[level], right[level]])
    msg = f"a tree has more than {MOST_SPLITS} splits on a path"
    raise ValueError(msg)


# --- categories --------------------------------------------------------------------------------


def _check_sets(trees: list[Lists]) -> None:
    """Sets of categories that splits ask for, or raise ValueError."""
    n_bits = 0
    for number, tree in enumerate(trees):
        kinds = tree["split_type"]
        if np.any((kinds != 0) & (kinds != 1)):
            msg = f"its tree {number} splits in a way that XGBoost does not know"
            raise ValueError(msg)
        if np.any(kinds) or any(len(tree.get(name, ())) for name in SETS):
            n_bits += _count_bits(tree, np.flatnonzero(kinds), f"its tree {number}")
    if n_bits > MOST_BITS:
        msg = "its categories are numbers too large for its splits"
        raise ValueError(msg)


def _count_bits(tree: Lists, splits: IntArray, where: str) -> int:
    """How many bits the sets of a tree take, or raise ValueError."""
    categories, nodes, begins, lengths = (tree.get(n, np.zeros(0, np.int64)) for n in SETS)
    if not np.array_equal(nodes, splits) or not len(nodes) == len(begins) == len(lengths):
        msg = f"{where} has sets of categories for other splits"
        raise ValueError(msg)
    ends = begins + lengths
    if np.any((begins < 0) | (lengths < 1) | (ends > len(categories))):
        msg = f"{where} has a set beyond its categories"
        raise ValueError(msg)
    if np.any((categories < 0) | (categories >= MOST_CATEGORIES)):
        msg = f"{where} has a category that is no small number"
        raise ValueError(msg)
    return sum(int(categories[a:b].max()) for a, b in zip(begins, ends, strict=True))


def _check_encoding(cats: Any, n_columns: int) -> None:
    """Names of categories that came with a data frame (XGBoost 3), or raise ValueError."""
    if cats is None:
        return
    where = "its list of categories"
    listed, segments = _list(cats, "enc", where), _whole(cats, "feature_segments", where)
    order = _whole(cats, "sorted_idx", where)
    if not listed and not len(segments) and not len(order):
        return
    counts = np.array([_count_names(one, where) for one in listed], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    if len(listed) != n_columns or not np.array_equal(segments, starts):
        msg = f"{where} does not fit its columns"
        raise ValueError(msg)
    expected = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    owner = np.repeat(np.arange(n_columns), counts)
    if len(order) != len(owner) or not np.array_equal(order[np.lexsort((order, owner))], expected):
        msg = f"{where} has another order than it has categories"
        raise ValueError(msg)


def _count_names(listed: Any, where: str) -> int:
    """Categories of one column: numbers, or text as bytes and where each begins."""
    if not _has(listed, "offsets"):
        return len(_numbers(listed, "values", where))
    values, offsets = _whole(listed, "values", where), _whole(listed, "offsets", where)
    is_empty = not len(offsets) and not len(values)
    is_whole = is_empty or (len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(values))
    if not is_whole or np.any(np.diff(offsets) < 0):
        msg = f"{where} has names beyond their letters"
        raise ValueError(msg)
    return max(len(offsets) - 1, 0)


# --- parts -------------------------------------------------------------------------------------


def _has(part: Any, name: str) -> bool:
    return isinstance(part, dict) and name in part


def _part(whole: Any, name: str, where: str) -> dict[str, Any]:
    """A mapping in a mapping."""
    if not _has(whole, name) or not isinstance(whole[name], dict):
        msg = f"{where} has no {name}"
        raise ValueError(msg)
    return dict(whole[name])


def _list(whole: Any, name: str, where: str) -> list[Any]:
    if not _has(whole, name) or not isinstance(whole[name], list):
        msg = f"{where} has no list {name}"
        raise ValueError(msg)
    return list(whole[name])


def _count(part: Mapping[str, Any], name: str, where: str, *, usual: int | None = None) -> int:
    """A number that is not negative; XGBoost writes them as texts."""
    text = part.get(name, usual if usual is None else str(usual))
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > LARGEST:
        msg = f"{where} has no right {name}"
        raise ValueError(msg)
    return int(text)


def _numbers(part: Any, name: str, where: str, kinds: str = "fiu") -> Any:
    """A list of numbers as an array."""
    values = part.get(name) if isinstance(part, dict) else None
    is_list = isinstance(values, list | np.ndarray)
    found = np.asarray(values if is_list else [None])
    if found.ndim != 1 or (found.size and found.dtype.kind not in kinds):
        msg = f"{where} has no right list {name}"
        raise ValueError(msg)
    return found


def _whole(part: Any, name: str, where: str) -> IntArray:
    """A list of whole numbers, or of yes and no."""
    return np.asarray(_numbers(part, name, where, "iub"), dtype=np.int64)


def _same_length(values: Any, length: int, what: str) -> None:
    if len(values) != length:
        msg = f"{what} has {len(values)} values instead of {length}"
        raise ValueError(msg)
