import pytest

from rhale.models.files.check_lightgbm import check_lightgbm

HEAD = (
    b"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n"
    b"objective=regression\nfeature_names=a b\nfeature_infos=[0:1] none\ntree_sizes=%d\n\n"
)
TREE = (
    b"Tree=0\nnum_leaves=3\nnum_cat=0\nsplit_feature=0 1\nsplit_gain=1 2\nthreshold=0.5 -1\n"
    b"decision_type=2 10\nleft_child=1 -1\nright_child=-2 -3\nleaf_value=1 2e-05 3\n"
    b"leaf_weight=1 2 3\nleaf_count=1 2 3\ninternal_value=0 1\ninternal_weight=0 1\n"
    b"internal_count=3 2\nis_linear=0\nshrinkage=0.1\n\n\n"
)
TAIL = (
    b"end of trees\n\nfeature_importances:\na=1\n\nparameters:\n[boosting: gbdt]\n[data: ]\n\n"
    b'end of parameters\n\npandas_categorical:[["u", "v"]]\n'
)
BY_SET = (
    (b"num_cat=0", b"num_cat=1"),
    (b"threshold=0.5", b"threshold=0"),
    (b"decision_type=2", b"decision_type=9"),
    (b"is_linear", b"cat_boundaries=0 2\ncat_threshold=5 4294967295\nis_linear"),
)
LEAVES = (
    b"is_linear=1\nleaf_const=1 2 3\nnum_features=1 0 2\nleaf_features=0  0 1  \n"
    b"leaf_coeff=1  0.5 nan  "
)
LINEAR = ((b"is_linear=0", LEAVES),)


def text(*changes, tail=TAIL):
    """A model whose tree has some changes, with the right list of sizes."""
    tree = TREE
    for old, new in changes:
        assert tree.count(old) == 1
        tree = tree.replace(old, new)
    return HEAD % len(tree) + tree + tail


@pytest.mark.parametrize("changes", [(), BY_SET, LINEAR])
def test_a_whole_text_passes(changes):
    check_lightgbm(text(*changes))


def test_a_tree_of_one_leaf_passes_although_most_of_its_lists_are_empty():
    tree = b"Tree=0\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nleaf_value=5\nleaf_weight=\n\n\n"
    check_lightgbm(HEAD % len(tree) + tree + TAIL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"left_child=1", b"left_child=0"),
        (b"left_child=1", b"left_child=7"),
        (b"right_child=-2", b"right_child=-1"),
        (b"num_leaves=3", b"num_leaves=4"),
        (b"num_leaves=3", b"num_leaves=1"),
        (b"num_leaves=3", b"num_leaves=-3"),
        (b"num_leaves=3", b"num_leaves=400000000"),
        (b"num_leaves=3", b"num_leaves=99999999999999999999"),
        (b"num_cat=", b"num_kat="),
        (b"split_feature=0 1", b"split_feature=0 2"),
        (b"split_feature=0 1", b"split_feature=0 -1"),
        (b"split_feature=0 1", b"split_feature=0 1 1"),
        (b"threshold=0.5", b"threshold=x"),
        (b"threshold=0.5", b"threshold="),
        (b"decision_type=2 10", b"decision_type=2 12"),
        (b"decision_type=2 10", b"decision_type=2 11"),
        (b"leaf_value=1 2e-05 3", b"leaf_value=1 2e-05 "),
        (b"leaf_value=1", b"leaf_value=-"),
        (b"leaf_weight=1", b"leaf_weight=e"),
        (b"internal_value=0 1", b"internal_value=0 \xe91"),
        (b"shrinkage=0.1", b"shrinkage=x"),
        (b"leaf_value=", b"leaf-value="),
        (b"is_linear=0", b"num_leaves=3"),
        (b"is_linear=0", b"is_linear=x"),
        (b"is_linear=0", b"nothing"),
        (b"is_linear=0", b"is_linear=1"),
        (b"is_linear=0", b"\nis_linear=0"),
        (b"is_linear=0", b"\n".join(b"x%s=" % (b"x" * i) for i in range(9))),
        (b"Tree=0", b"Tree=1"),
    ],
)
def test_a_damaged_tree_is_refused(old, new):
    with pytest.raises(ValueError, match=r"tree 0|header|do not make up"):
        check_lightgbm(text((old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"threshold=0 ", b"threshold=1 "),
        (b"threshold=0 ", b"threshold=99999999999999 "),
        (b"cat_boundaries=0 2", b"cat_boundaries=0 3"),
        (b"cat_boundaries=0 2", b"cat_boundaries=1 2"),
        (b"cat_boundaries=0 2", b"cat_boundaries=0 1 2"),
        (b"cat_threshold=5 4294967295", b"cat_threshold=5"),
        (b"cat_threshold=5 4294967295", b"cat_threshold=5 4294967296"),
        (b"cat_threshold=5", b"cat_threshold=-5"),
        (b"num_cat=1", b"num_cat=0"),
        (b"num_cat=1", b"num_cat=2147483646"),
    ],
)
def test_a_set_of_categories_that_is_not_there_is_refused(old, new):
    with pytest.raises(ValueError, match="tree 0"):
        check_lightgbm(text(*BY_SET, (old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"leaf_features=0 ", b"leaf_features=99999999 "),
        (b"leaf_features=0 ", b"leaf_features=-1 "),
        (b"leaf_features=0 ", b"leaf_features= "),
        (b"num_features=1 0 2", b"num_features=1 0 1"),
        (b"num_features=1 0 2", b"num_features=1 -1 3"),
        (b"leaf_coeff=1 ", b"leaf_coeff=1e400 "),
        (b"leaf_coeff=1 ", b"leaf_coeff=1e-320 "),
        (b"leaf_const=1 ", b"leaf_const="),
    ],
)
def test_a_linear_leaf_that_does_not_fit_is_refused(old, new):
    with pytest.raises(ValueError, match="tree 0"):
        check_lightgbm(text(*LINEAR, (old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"tree\n", b""),
        (b"tree\n", b"\ntree\n"),
        (b"version=v4", b"version=v4\0"),
        (b"version=v4", b"version=v4\r"),
        (b"num_class=1", b"num_class=2"),
        (b"num_class=1", b"num_class=0"),
        (b"num_tree_per_iteration=1", b"num_tree_per_iteration=2147483647"),
        (b"num_tree_per_iteration=1", b"num_tree_per_iteration=0"),
        (b"objective=regression", b"objective=multiclass num_class:3"),
        (b"objective=regression", b"objective= "),
        (b"feature_names=a b", b"feature_names=a"),
        (b"feature_infos=[0:1] none", b"feature_infos=none"),
        (b"max_feature_idx=1", b"max_feature_idx=0"),
        (b"max_feature_idx=1", b"max_feature_idx=1\nmax_feature_idx=1"),
        (b"label_index=0", b"Tree=5"),
        (b"label_index=0\n", b""),
        (b"tree_sizes", b"tree_size"),
        (b"\ntree_sizes=", b"\ntree_sizes=1 "),
        (b"end of trees", b"end"),
        (b"[boosting: gbdt]", b"boosting: gbdt"),
        (b"end of parameters", b"end of parameters "),
        (b'[["u", "v"]]', b'{"u": 1}'),
        (b'[["u", "v"]]', b"[" * 100_000),
        (b'[["u", "v"]]', b'[["u'),
    ],
)
def test_a_damaged_header_or_end_is_refused(old, new):
    content = text()
    assert content.count(old) >= 1
    with pytest.raises(ValueError, match=r"its |^it "):
        check_lightgbm(content.replace(old, new, 1))


@pytest.mark.parametrize("size", [-40, -1, 1])
def test_a_tree_that_is_longer_or_shorter_than_listed_is_refused(size):
    with pytest.raises(ValueError, match=r"its (tree 0|end) is damaged"):
        check_lightgbm(HEAD % (len(TREE) + size) + TREE + TAIL)


def test_a_circle_of_nodes_that_no_row_enters_is_refused():
    tree = (
        b"Tree=0\nnum_leaves=4\nnum_cat=0\nsplit_feature=0 1 1\nthreshold=0.5 -1 2\n"
        b"decision_type=2 2 2\nleft_child=-1 2 1\nright_child=-2 -3 -4\nleaf_value=1 2 3 4\n\n\n"
    )
    with pytest.raises(ValueError, match="its tree 0 has children that do not form a tree"):
        check_lightgbm(HEAD % len(tree) + tree + TAIL)
