"""A CatBoost model: splits and leaves that are there; its tables are read within their bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from rhale.kernels import IntArray
from rhale.models.files.nesting import check_depth
from rhale.system.flatbuffers import BYTE, WORD, FlatTable

MARK = b"CBM1"
ABSENT = -1  # numbers that are not there: features count from 0 on
DEEPEST = 16  # splits of a symmetric tree
LARGEST, MOST_CLASSES = 2**31 - 1, 2**20
CLASS_NOTES = (b"class_params", b"multiclass_params")
IN_BUCKET = 254  # splits of one column that CatBoost counts together
# places of fields in CatBoost's tables
TREES, NOTES, PARTS = 1, 2, 3
DIMENSION, SPLITS, SIZES, STARTS, LEAVES, WEIGHTS, STEPS, LEAF_OF, BIAS, BINS = (
    0, 1, 2, 3, 8, 9, 10, 11, 16, 17,
)  # fmt: skip
CATEGORICAL, FLOAT, ONE_HOT, COUNTED, TEXT, ESTIMATED, EMBEDDING = 4, 5, 6, 7, 12, 13, 18
STEP = np.dtype([("left", "<u2"), ("right", "<u2")])
BUCKET = np.dtype([("hash", "<u8"), ("place", "<u4")])
EMPTY = 2**64 - 1
COUNTS = b"static_provider_v1"  # the part of the file that holds tables of categories
BY_CLASS, MEANS, N_KINDS = (0, 1), (2, 3), 6  # kinds of tables: what they count
BIN = np.dtype([("bucket", "<u2"), ("mask", "u1"), ("split", "u1")])


def check_catboost(content: bytes) -> None:
    """Refuse a model whose splits or leaves are not there, or raise ValueError.

    Parameters
    ----------
    content : bytes
        The whole file.

    Notes
    -----
    CatBoost looks at the form of the tables of its trees itself, but not at the numbers in them: a
    node, a leaf or a column beyond its array ends the process. At the tables of categories, which
    follow the trees, it does not look at all. What it knows of texts and embeddings is not looked
    at here.
    """
    size = struct.unpack_from("<I", content, 4)[0] if len(content) >= 8 else 0
    if not content.startswith(MARK) or not 0 < size <= len(content) - 8:
        msg = "it is cut off, or does not begin as a model of CatBoost does"
        raise ValueError(msg)
    core = content[8 : 8 + size]
    try:
        root = FlatTable.root(core)
        trees = _inside(root, TREES)
        _check_features(trees)
        _check_trees(trees)
        _check_classes(root, trees.number(DIMENSION, WORD, ABSENT))
        if root.texts(PARTS) == [COUNTS]:
            _check_counts(content[8 + size :], trees)
    except (struct.error, IndexError, OverflowError, AttributeError, TypeError):
        msg = "its tables lead beyond their end"
        raise ValueError(msg) from None


def _check_features(trees: FlatTable) -> None:
    """Columns are numbered from 0 on, all of them and those of each kind."""
    kinds = {FLOAT: 1, CATEGORICAL: 0, TEXT: 0, EMBEDDING: 0}  # kind, and the field of its number
    features = {kind: trees.tables(kind) for kind in kinds}
    own = {k: [f.number(kinds[k], WORD, ABSENT) for f in some] for k, some in features.items()}
    flat = [f.number(kinds[k] + 1, WORD, ABSENT) for k, some in features.items() for f in some]
    listed = [*own.values(), flat]
    if any(sorted(numbers) != list(range(len(numbers))) for numbers in listed):
        msg = "its columns are not numbered one after the other"
        raise ValueError(msg)


def _check_classes(root: FlatTable, dimension: int) -> None:
    """Names of classes, and which of them an answer means."""
    for note in root.tables(NOTES):
        if note.text(0) not in CLASS_NOTES:
            continue
        check_depth(note.text(1))
        found = json.loads(note.text(1))
        names, labels = found.get("class_names", []), found.get("class_to_label", [])
        n_classes = len(names) or found.get("classes_count", 0)
        is_known = all(isinstance(i, int | float) and 0 <= i < n_classes for i in labels)
        if not is_known or len(labels) < dimension or n_classes > MOST_CLASSES:
            msg = "its classes do not fit its outputs"
            raise ValueError(msg)


def _check_trees(trees: FlatTable) -> None:
    """Lists of splits and leaves fit together."""
    dimension = trees.number(DIMENSION, WORD, ABSENT)
    splits, sizes = _whole(trees, SPLITS), _whole(trees, SIZES)
    n_leaves, starts = len(trees.array(LEAVES, "<f8")), _whole(trees, STARTS)
    n_biases, n_weights = len(trees.array(BIAS, "<f8")), len(trees.array(WEIGHTS, "<f8"))
    bins = trees.array(BINS, BIN)
    if not 0 < dimension <= max(n_leaves, 1) or n_biases not in (0, 1, dimension):
        msg = f"its leaves do not hold {dimension} outputs"
        raise ValueError(msg)
    expected = np.cumsum(sizes) - sizes
    if np.any(sizes < 0) or sizes.sum() != len(splits) or not np.array_equal(starts, expected):
        msg = "its trees have other sizes than their lists of splits"
        raise ValueError(msg)
    if len(bins) not in (0, len(splits)) or n_weights * dimension not in (0, n_leaves):
        msg = "its lists of splits and leaves are of different lengths"
        raise ValueError(msg)
    _check_splits(trees, splits, bins["bucket"])
    steps, leaf_of = trees.array(STEPS, STEP), trees.array(LEAF_OF, "<u4").astype(np.int64)
    if len(steps) or len(leaf_of):
        if n_weights == 0:  # CatBoost itself can then not write these trees
            msg = "its trees have no weights of leaves"
            raise ValueError(msg)
        _check_nodes(steps, leaf_of, starts + sizes, sizes, n_leaves - dimension)
    elif np.any(sizes > DEEPEST) or np.sum(2**sizes) * dimension != n_leaves:
        msg = "its trees have other leaves than their splits make"
        raise ValueError(msg)


def _check_splits(trees: FlatTable, splits: IntArray, buckets: IntArray) -> None:
    """Each split is one of those that the features know."""
    if trees.tables(ESTIMATED):  # text and embeddings know theirs elsewhere
        return
    known = [len(f.array(3, "<f4")) for f in trees.tables(FLOAT)]
    known += [len(f.array(1, "<i4")) for f in trees.tables(ONE_HOT)]
    known += [len(f.array(1, "<f4")) for f in trees.tables(COUNTED)]
    n_buckets = sum(-(-n // IN_BUCKET) for n in known)
    is_split = (splits >= 0) & (splits < max(sum(known), 1))
    if not np.all(is_split) or np.any(buckets >= max(n_buckets, 1)):
        msg = "a tree splits in a way that no column knows"
        raise ValueError(msg)


def _check_nodes(steps: Any, leaf_of: IntArray, ends: IntArray, sizes: IntArray, last: int) -> None:
    """Steps of trees that are not symmetric lead forward, inside their tree, to a leaf."""
    n_nodes = int(sizes.sum())
    if not len(steps) == len(leaf_of) == n_nodes or np.any(sizes < 1):
        msg = "its trees have other nodes than their lists"
        raise ValueError(msg)
    farthest = np.arange(n_nodes) + np.maximum(steps["left"], steps["right"])
    if np.any(farthest >= np.repeat(ends, sizes)):
        msg = "a tree has a child beyond its nodes"
        raise ValueError(msg)
    is_end = (steps["left"] == 0) | (steps["right"] == 0)
    if np.any(leaf_of[is_end] > last):
        msg = "a tree has a leaf beyond the leaves"
        raise ValueError(msg)


# --- categories --------------------------------------------------------------------------------


def _check_counts(part: bytes, trees: FlatTable) -> None:
    """Tables that say what is known of each category, and the splits that ask them."""
    n_tables, place = int(struct.unpack_from("<I", part, 0)[0]), 4
    n_classes: dict[Any, int] = {}
    n_columns = {kind: len(trees.tables(kind)) for kind in (CATEGORICAL, FLOAT)}
    for _ in range(n_tables):
        size = int(struct.unpack_from("<I", part, place)[0])
        if size > len(part) - place - 4:
            raise IndexError
        held = part[place + 4 : place + 4 + size]
        table = FlatTable.root(held)
        n_classes[_base_of(table, n_columns)] = _check_table(table)
        place += 4 + size
    for feature in trees.tables(COUNTED):
        asked = _inside(feature, 0)
        border = asked.number(1, WORD)
        if not 0 <= border < n_classes.get(_base_of(asked, n_columns), 0):
            _refuse_counts()


def _base_of(table: FlatTable, n_columns: dict[int, int]) -> tuple[Any, ...]:
    """What is counted, in a form that compares: kind, categories, and splits beside them."""
    base = _inside(table, 0)
    together, kind = _inside(base, 0), base.number(1, BYTE)
    columns = _whole(together, 0)
    numbers, named = together.array(1, "<i4,<f4"), together.array(2, "<i4,<i4")
    limits = [(columns, CATEGORICAL), (numbers["f0"], FLOAT), (named["f0"], CATEGORICAL)]
    if kind >= N_KINDS or any(
        np.any((places < 0) | (places >= n_columns[known])) for places, known in limits
    ):
        _refuse_counts()
    return kind, columns.tobytes(), numbers.tobytes(), named.tobytes()


def _check_table(table: FlatTable) -> int:
    """Refuse places beyond the counts, and a list so full that a search in it never ends."""
    kind = _inside(table, 0).number(1, BYTE)
    n_classes = table.number(4, WORD, ABSENT) if kind in BY_CLASS else 1
    size = 4 * n_classes * (2 if kind in MEANS else 1)
    n_octets, counts = len(table.array(1, "u1")), len(table.array(2, "u1"))
    n_buckets = n_octets // BUCKET.itemsize
    if n_classes < 1 or n_octets % BUCKET.itemsize or n_buckets.bit_count() != 1:
        _refuse_counts()
    buckets = np.frombuffer(table.array(1, "u1").tobytes(), BUCKET)
    is_used = buckets["hash"] != EMPTY
    if np.all(is_used) or np.any(buckets["place"][is_used] >= counts // size):
        _refuse_counts()
    return max(n_classes, 1) if kind in BY_CLASS else LARGEST


def _refuse_counts() -> None:
    msg = "its tables of categories do not fit together"
    raise ValueError(msg)


def _inside(table: FlatTable, slot: int) -> FlatTable:
    """A table that must be there."""
    found = table.table(slot)
    if found is None:
        msg = "a table in it is missing"
        raise ValueError(msg)
    return found


def _whole(table: FlatTable, slot: int) -> IntArray:
    """A list of whole numbers."""
    return np.asarray(table.array(slot, "<i4"), dtype=np.int64)
