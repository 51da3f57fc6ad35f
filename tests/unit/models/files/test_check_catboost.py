import struct

import numpy as np
import pytest

from rhale.models.files.check_catboost import (
    BINS,
    COUNTED,
    FLOAT,
    LEAF_OF,
    LEAVES,
    SIZES,
    SPLITS,
    STARTS,
    STEPS,
    TREES,
    WEIGHTS,
    check_catboost,
)
from rhale.system.flatbuffers import SIZE, FlatTable

catboost = pytest.importorskip("catboost")


def follow(table, slot):
    """Where the list of a field begins."""
    place = table.find(slot)
    return place + table.at(place, SIZE)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] * 2 + X[:, 1]
CLASSES = np.digitize(Y, [-1, 1])
NAMED = X.astype(object)
NAMED[:, 2] = [f"k{i}" for i in RNG.integers(0, 20, 200)]
BY_NAME = Y + np.array([int(n[1:]) % 7 for n in NAMED[:, 2]])
SETTINGS = {
    "iterations": 4,
    "depth": 3,
    "verbose": 0,
    "thread_count": 1,
    "random_seed": 0,
    "allow_writing_files": False,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Contents of files of all kinds."""
    folder = tmp_path_factory.mktemp("cbm")
    models = {
        "plain": catboost.CatBoostRegressor(**SETTINGS).fit(X, Y),
        "classes": catboost.CatBoostClassifier(**SETTINGS).fit(X, CLASSES),
        "two": catboost.CatBoostClassifier(**SETTINGS).fit(X, CLASSES > 1),
        "nodes": catboost.CatBoostRegressor(**SETTINGS, grow_policy="Lossguide").fit(X, Y),
        "nodes of classes": catboost.CatBoostClassifier(**SETTINGS, grow_policy="Depthwise").fit(
            X, CLASSES
        ),
        "counts": catboost.CatBoostRegressor(**SETTINGS, cat_features=[2]).fit(NAMED, BY_NAME),
        "one-hot": catboost.CatBoostRegressor(
            **SETTINGS, cat_features=[2], one_hot_max_size=50
        ).fit(NAMED, BY_NAME),
        "no splits": catboost.CatBoostRegressor(**SETTINGS | {"l2_leaf_reg": 1e9}).fit(
            np.zeros((200, 3)) + (np.arange(200) > 198)[:, None], Y
        ),
    }
    for name, model in models.items():
        model.save_model(str(folder / f"{name}.cbm"))
    return {name: (folder / f"{name}.cbm").read_bytes() for name in models}


def trees_of(content):
    core = content[8 : 8 + struct.unpack_from("<I", content, 4)[0]]
    return FlatTable.root(core).table(TREES)


def with_value(content, field, place, kind, value):
    """A copy with one value of an array of the trees replaced."""
    trees = trees_of(content)
    begin = 8 + follow(trees, field) + 4
    changed = bytearray(content)
    struct.pack_into(kind, changed, begin + place * struct.calcsize(kind), value)
    return bytes(changed)


@pytest.mark.parametrize(
    "name",
    ["plain", "classes", "two", "nodes", "nodes of classes", "counts", "one-hot", "no splits"],
)
def test_whole_models_pass(name, files):
    check_catboost(files[name])


def test_the_places_of_fields_are_those_of_the_file(files):
    trees = trees_of(files["plain"])
    assert (
        trees.array(SIZES, "<i4").sum()
        == len(trees.array(SPLITS, "<i4"))
        == len(trees.array(BINS, "<u4"))
    )
    assert len(trees.array(LEAVES, "<f8")) == (2 ** trees.array(SIZES, "<i4")).sum()
    assert len(trees.tables(FLOAT)) == 3
    assert trees_of(files["counts"]).tables(COUNTED)


@pytest.mark.parametrize("size", [0, 3, 7, 8, 20, -1])
def test_a_file_that_was_cut_off_is_refused(size, files):
    with pytest.raises(ValueError, match="cut off"):
        check_catboost(files["plain"][:size])


@pytest.mark.parametrize(
    ("name", "field", "kind", "value"),
    [
        ("plain", SPLITS, "<i", 9999),
        ("plain", SPLITS, "<i", -1),
        ("plain", SIZES, "<i", 4),
        ("plain", SIZES, "<i", -3),
        ("plain", SIZES, "<i", 2**31 - 1),
        ("plain", STARTS, "<i", 1),
        ("plain", BINS, "<H", 60000),
        ("nodes", STEPS, "<H", 60000),
        ("nodes", LEAF_OF, "<I", 2**31),
        ("nodes of classes", LEAF_OF, "<I", 10**6),
    ],
)
def test_trees_that_lead_out_of_their_arrays_are_refused(name, field, kind, value, files):
    place = 0
    if field == LEAF_OF:  # the first node that ends
        steps = trees_of(files[name]).array(STEPS, "<u4")
        place = int(np.flatnonzero(steps == 0)[0])
    damaged = with_value(files[name], field, place, kind, value)
    with pytest.raises(ValueError, match=r"tree"):
        check_catboost(damaged)


def test_trees_of_nodes_without_weights_are_refused(files):
    trees = trees_of(files["nodes"])
    offsets = trees.place - struct.unpack_from("<i", trees.content, trees.place)[0]
    damaged = bytearray(files["nodes"])
    struct.pack_into("<H", damaged, 8 + offsets + 4 + 2 * WEIGHTS, 0)  # the field is not there
    with pytest.raises(ValueError, match="no weights"):
        check_catboost(bytes(damaged))


def test_columns_that_are_numbered_otherwise_are_refused(files):
    feature = trees_of(files["plain"]).tables(FLOAT)[1]
    damaged = bytearray(files["plain"])
    struct.pack_into("<i", damaged, 8 + feature.find(2), 10**9)
    with pytest.raises(ValueError, match="its columns are not numbered"):
        check_catboost(bytes(damaged))


@pytest.mark.parametrize("labels", [b"[0,1,3]", b"[0,1,9]", b"[0,1,x", b'"0,1,2'])
def test_a_class_without_a_name_is_refused(labels, files):
    old = b'"class_to_label":[0,1,2]'
    assert files["classes"].count(old) == 1
    new = (b'"class_to_label":' + labels).ljust(len(old))
    with pytest.raises(ValueError, match=r"class|JSON|Expecting|string"):
        check_catboost(files["classes"].replace(old, new))


def part_of(content):
    return 8 + struct.unpack_from("<I", content, 4)[0]


@pytest.mark.parametrize("place", [0, 4, 8])
@pytest.mark.parametrize("value", [2**31, 2**32 - 1])
def test_tables_of_categories_that_lead_beyond_their_end_are_refused(place, value, files):
    damaged = bytearray(files["counts"])
    struct.pack_into("<I", damaged, part_of(damaged) + place, value)
    with pytest.raises(ValueError, match=r"tables? "):
        check_catboost(bytes(damaged))


def table_of(content):
    """The first table of categories, and where it lies."""
    begin = part_of(content) + 8
    size = struct.unpack_from("<I", content, begin - 4)[0]
    held = content[begin : begin + size]
    return FlatTable.root(held), begin


def test_a_category_whose_counts_are_not_there_is_refused(files):
    table, begin = table_of(files["counts"])
    buckets = begin + follow(table, 1) + 4
    hashes = np.frombuffer(table.array(1, "u1").tobytes(), np.dtype("<u8,<u4"))
    used = int(np.flatnonzero(hashes["f0"] != 2**64 - 1)[0])
    damaged = bytearray(files["counts"])
    struct.pack_into("<I", damaged, buckets + 12 * used + 8, 10**6)
    with pytest.raises(ValueError, match="its tables of categories"):
        check_catboost(bytes(damaged))


def test_a_list_so_full_that_a_search_never_ends_is_refused(files):
    table, begin = table_of(files["counts"])
    buckets = begin + follow(table, 1) + 4
    damaged = bytearray(files["counts"])
    for number in range(len(table.array(1, "u1")) // 12):
        struct.pack_into("<Q", damaged, buckets + 12 * number, number)
    with pytest.raises(ValueError, match="its tables of categories"):
        check_catboost(bytes(damaged))


def test_no_damage_of_a_few_bytes_raises_anything_else(files):
    rng = np.random.default_rng(0)
    for content in files.values():
        for _ in range(200):
            damaged = bytearray(content)
            for place in rng.integers(0, len(content), rng.integers(1, 4)):
                damaged[place] = rng.integers(0, 256)
            try:
                check_catboost(bytes(damaged))
            except ValueError as error:
                assert "\n" not in str(error)  # noqa: PT017 - most damages are refused
