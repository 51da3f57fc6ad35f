import copy

import numpy as np
import pytest

from rhale.models.files.check_xgboost import MOST_SPLITS, check_xgboost

TREE = {
    "base_weights": [0.0, 1.0, 2.0, 3.0, 4.0],
    "categories": [0, 7],
    "categories_nodes": [2],
    "categories_segments": [0],
    "categories_sizes": [2],
    "default_left": [0, 0, 1, 0, 0],
    "id": 0,
    "left_children": [1, -1, 3, -1, -1],
    "loss_changes": [1.0, 0.0, 1.0, 0.0, 0.0],
    "parents": [2147483647, 0, 0, 2, 2],
    "right_children": [2, -1, 4, -1, -1],
    "split_conditions": [0.5, 1.0, 2.0, 3.0, 4.0],
    "split_indices": [0, 0, 1, 0, 0],
    "split_type": [0, 0, 1, 0, 0],
    "sum_hessian": [4.0, 1.0, 3.0, 2.0, 1.0],
    "tree_param": {
        "num_deleted": "0",
        "num_feature": "2",
        "num_nodes": "5",
        "size_leaf_vector": "1",
    },
}
CATS = {
    "enc": [{"values": []}, {"offsets": [0, 1, 3], "values": [48, 49, 50]}],
    "feature_segments": [0, 0, 2],
    "sorted_idx": [1, 0],
}
MODEL = {
    "learner": {
        "attributes": {},
        "feature_names": ["a", "b"],
        "feature_types": ["float", "c"],
        "gradient_booster": {
            "model": {
                "cats": CATS,
                "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2"},
                "iteration_indptr": [0, 1, 2],
                "tree_info": [0, 0],
                "trees": [TREE, {**TREE, "id": 1}],
            },
            "name": "gbtree",
        },
        "learner_model_param": {
            "base_score": "[5E-1]",
            "num_class": "0",
            "num_feature": "2",
            "num_target": "1",
        },
        "objective": {"name": "reg:squarederror"},
    },
    "version": [3, 2, 0],
}
BOOSTER, FOREST = "learner/gradient_booster", "learner/gradient_booster/model"
SECOND = f"{FOREST}/trees/1"


def changed(model, path, value):
    """A copy with one part replaced; left out if the value is Ellipsis."""
    whole = copy.deepcopy(model)
    *way, last = [int(p) if p.isdigit() else p for p in path.split("/")]
    part = whole
    for step in way:
        part = part[step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return whole


def as_arrays(part):
    """Lists of numbers as the binary format gives them."""
    if isinstance(part, dict):
        return {name: as_arrays(value) for name, value in part.items()}
    if isinstance(part, list) and part and not isinstance(part[0], int | float):
        return [as_arrays(value) for value in part]
    return np.array(part, dtype=">f4" if 0.5 in part else ">i4") if isinstance(part, list) else part


def test_a_whole_model_passes():
    check_xgboost(MODEL)
    check_xgboost(as_arrays(MODEL) | {"version": [3]})


def test_models_of_older_versions_pass():
    old = changed(MODEL, f"{FOREST}/cats", ...)
    old = changed(old, f"{FOREST}/iteration_indptr", ...)
    old = changed(old, "learner/learner_model_param/num_target", ...)
    old = changed(old, "learner/learner_model_param/base_score", "5E-1")
    old = changed(old, f"{FOREST}/gbtree_model_param/num_parallel_tree", ...)
    for number in (0, 1):
        tree = f"{FOREST}/trees/{number}"
        for name in ("split_type", *(n for n in TREE if n.startswith("categories"))):
            old = changed(old, f"{tree}/{name}", ...)
        old = changed(old, f"{tree}/default_left", [False, False, True, False, False])
        old = changed(old, f"{tree}/tree_param/size_leaf_vector", "0")
    check_xgboost(old)


def test_a_tree_with_a_deleted_node_passes():
    tree = {n: [*v, v[-1]] if isinstance(v, list) and len(v) == 5 else v for n, v in TREE.items()}
    tree["split_indices"] = [*TREE["split_indices"], 2**31 - 1]
    tree["tree_param"] = TREE["tree_param"] | {"num_nodes": "6", "num_deleted": "1"}
    check_xgboost(changed(MODEL, SECOND, tree | {"id": 1}))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("left_children", [0, -1, 3, -1, -1]),
        ("left_children", [9, -1, 3, -1, -1]),
        ("left_children", [-2, -1, 3, -1, -1]),
        ("right_children", [1, -1, 4, -1, -1]),
        ("right_children", [2, -1, 2, -1, -1]),
        ("right_children", [2, -1, 2**31 - 1, -1, -1]),
        ("right_children", [2, -1, 4, -1]),
        ("right_children", [2, -1, 4.5, -1, -1]),
        ("right_children", None),
        ("right_children", ...),
        ("left_children", [-1, -1, 3, -1, -1]),
        ("parents", [2147483647, 2, 0, 2, 2]),
        ("parents", [2147483647, 0, 0, 2]),
        ("split_indices", [0, 0, 2, 0, 0]),
        ("split_indices", [-1, 0, 1, 0, 0]),
        ("split_indices", [0, 0, 2**31 - 1, 0, 0]),
        ("split_type", [0, 0, 2, 0, 0]),
        ("split_type", [1, 0, 1, 0, 0]),
        ("split_type", [0, 0, 0, 0, 0]),
        ("split_type", ...),
        ("categories", [0, -7]),
        ("categories", [0, 2**30]),
        ("categories", ...),
        ("categories_nodes", [9]),
        ("categories_segments", [1]),
        ("categories_segments", [-1]),
        ("categories_segments", [2**31 - 1]),
        ("categories_sizes", [0]),
        ("categories_sizes", [3]),
        ("categories_sizes", [1, 1]),
        ("base_weights", [0.0]),
        ("split_conditions", [0.5, 1.0, 2.0, 3.0]),
        ("sum_hessian", [[1.0], [1.0], [1.0], [1.0], [1.0]]),
        ("loss_changes", ["x", 1.0, 1.0, 1.0, 1.0]),
        ("tree_param/num_nodes", "4"),
        ("tree_param/num_nodes", "2147483647"),
        ("tree_param/num_nodes", "0"),
        ("tree_param/num_deleted", "1"),
        ("tree_param/num_feature", "3"),
        ("tree_param/size_leaf_vector", "3"),
        ("tree_param", ...),
        ("id", 0),
        ("id", True),
        ("id", ...),
    ],
)
def test_a_tree_that_does_not_fit_together_is_refused(path, value):
    with pytest.raises(ValueError, match=r"tree"):
        check_xgboost(changed(MODEL, f"{SECOND}/{path}", value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("learner", ...),
        ("learner", [1]),
        ("learner/learner_model_param", ...),
        ("learner/learner_model_param/num_feature", "1"),
        ("learner/learner_model_param/num_feature", "-2"),
        ("learner/learner_model_param/num_feature", 2),
        ("learner/learner_model_param/num_class", "2147483647"),
        ("learner/learner_model_param/num_class", "99999999999"),
        ("learner/learner_model_param/num_target", "x"),
        ("learner/learner_model_param/base_score", "[1,2]"),
        ("learner/learner_model_param/base_score", "x"),
        ("learner/learner_model_param/base_score", 0.5),
        ("learner/feature_names", ["a"]),
        ("learner/feature_types", [1, 2]),
        ("learner/attributes", {"a": 1}),
        ("learner/objective", ...),
        ("learner/objective", {"name": "multi:softprob"}),
        (
            "learner/objective",
            {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": "3"}},
        ),
        (f"{BOOSTER}/name", "strange"),
        (f"{BOOSTER}/name", "dart"),
        (f"{BOOSTER}/model", ...),
        (f"{FOREST}/trees", {}),
        (f"{FOREST}/trees", [TREE]),
        (f"{FOREST}/tree_info", [0, 1]),
        (f"{FOREST}/tree_info", [0, -1]),
        (f"{FOREST}/tree_info", [0]),
        (f"{FOREST}/gbtree_model_param/num_trees", "3"),
        (f"{FOREST}/gbtree_model_param/num_parallel_tree", "0"),
        (f"{FOREST}/iteration_indptr", [0, 1, 3]),
        (f"{FOREST}/iteration_indptr", [0, 2, 2]),
        (f"{FOREST}/iteration_indptr", []),
        (f"{FOREST}/cats/enc", []),
        (f"{FOREST}/cats/enc/1/offsets", [0, 1, 4]),
        (f"{FOREST}/cats/enc/1/offsets", [0, 3, 1]),
        (f"{FOREST}/cats/enc/1/offsets", [1, 2, 3]),
        (f"{FOREST}/cats/feature_segments", [0, 0, 3]),
        (f"{FOREST}/cats/sorted_idx", [0, 2]),
        (f"{FOREST}/cats/sorted_idx", [0, 0]),
        (f"{FOREST}/cats/sorted_idx", [0]),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(path, value):
    with pytest.raises(ValueError, match=r"^(it|a tree|\w+ has)"):
        check_xgboost(changed(MODEL, path, value))


def test_rounds_that_are_not_listed_must_come_out_even():
    model = changed(MODEL, f"{FOREST}/iteration_indptr", ...)
    with pytest.raises(ValueError, match="its 2 trees do not make up rounds"):
        check_xgboost(changed(model, f"{FOREST}/gbtree_model_param/num_parallel_tree", "4"))


def test_weights_of_dart_are_as_many_as_its_trees():
    inner = MODEL["learner"]["gradient_booster"]
    booster = {"name": "dart", "gbtree": inner, "weight_drop": [1.0, 0.5]}
    check_xgboost(changed(MODEL, BOOSTER, booster))
    with pytest.raises(ValueError, match="weight_drop has 1 values instead of 2"):
        check_xgboost(changed(MODEL, BOOSTER, booster | {"weight_drop": [1.0]}))


def test_weights_of_a_linear_model_are_as_many_as_its_columns():
    linear = {"name": "gblinear", "model": {"weights": [1.0, 2.0, 0.5]}}
    check_xgboost(changed(MODEL, BOOSTER, linear))
    linear["model"]["weights"] = [1.0, 2.0]
    with pytest.raises(ValueError, match="its weights are not those of 2 columns"):
        check_xgboost(changed(MODEL, BOOSTER, linear))


def test_leaves_of_several_numbers_name_places_that_are_there():
    model = changed(MODEL, "learner/learner_model_param/num_target", "2")
    for number in (0, 1):
        tree = f"{FOREST}/trees/{number}"
        model = changed(model, f"{tree}/tree_param/size_leaf_vector", "2")
        model = changed(model, f"{tree}/base_weights", [0.5] * 10)
        model = changed(model, f"{tree}/leaf_weights", [0.5] * 6)
        model = changed(model, f"{tree}/right_children", [2, 0, 4, 1, 2])
    check_xgboost(model)
    with pytest.raises(ValueError, match="its tree 1 has a leaf beyond its leaf_weights"):
        check_xgboost(changed(model, f"{SECOND}/leaf_weights", [0.5] * 4))
    with pytest.raises(ValueError, match="its tree 1 has no right list leaf_weights"):
        check_xgboost(changed(model, f"{SECOND}/leaf_weights", "none"))


def test_leaves_of_older_versions_are_for_older_versions():
    old = changed(MODEL, "learner/learner_model_param/num_target", "2")
    for number in (0, 1):
        tree = f"{FOREST}/trees/{number}"
        old = changed(old, f"{tree}/tree_param/size_leaf_vector", "2")
        old = changed(old, f"{tree}/base_weights", [0.5] * 10)
        for name in ("loss_changes", "sum_hessian"):
            old = changed(old, f"{tree}/{name}", ...)
    check_xgboost(old, (2, 1))
    with pytest.raises(ValueError, match=r"tree 0 has leaves as XGBoost before 3\.2 wrote them"):
        check_xgboost(old, (3, 2))
    with pytest.raises(ValueError, match="the base_weights of its tree 1 do not fit its 5 nodes"):
        check_xgboost(changed(old, f"{SECOND}/base_weights", [0.5] * 5), (2, 1))


def test_a_tree_as_long_as_a_rope_is_refused():
    n_splits = MOST_SPLITS + 1
    inner = np.arange(n_splits)
    left = np.concatenate([inner + 1, np.full(n_splits + 1, -1)])
    right = np.concatenate([inner + n_splits + 1, np.full(n_splits + 1, -1)])
    parents = np.concatenate([[2**31 - 1], inner, inner])
    zeros = np.zeros(2 * n_splits + 1)
    rope = {
        "left_children": left,
        "right_children": right,
        "parents": parents,
        "split_indices": zeros.astype(int),
        "default_left": zeros.astype(int),
        "id": 1,
        **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian", "split_conditions"), zeros),
        "tree_param": TREE["tree_param"] | {"num_nodes": str(len(zeros))},
    }
    with pytest.raises(ValueError, match="more than 10000 splits on a path"):
        check_xgboost(changed(MODEL, SECOND, rope))


def test_categories_that_would_take_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr("rhale.models.files.check_xgboost.MOST_BITS", 13)
    with pytest.raises(ValueError, match="too large for its splits"):
        check_xgboost(MODEL)
