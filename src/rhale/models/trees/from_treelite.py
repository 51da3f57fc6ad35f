"""Trees as treelite has them, brought into our form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rhale.models.trees.forest import NUMBER, Categories, Tree, just_above
from rhale.models.trees.plant import build_forest
from rhale.models.trees.reading import CannotReadError, Reading


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
