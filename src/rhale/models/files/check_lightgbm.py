"""Text of a LightGBM model: all lists fit together, or LightGBM never sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np

from rhale.kernels import IntArray

Fields = Mapping[bytes, bytes]

HEADER_LINE = re.compile(rb"([a-z_]+)(?:=(.*))?")
OBJECTIVE = re.compile(rb"\w+(?: \S+)*")
TREE_LINE = re.compile(rb"([a-z_]+)=(.*)")
PARAMETER = re.compile(rb"\[[a-z_0-9]+: .*\]")
# Possessive throughout: a list of a million numbers is read once, whatever stands in it.
NUMBER = rb"-?[0-9]++(?:\.[0-9]++)?+(?:e[-+]?[0-9]++)?+"
ODD_NUMBER = rb"-?(?>[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|nan|inf)"
NUMBERS, ODD_NUMBERS = (re.compile(rb"(?:%s )*+%s" % (n, n)) for n in (NUMBER, ODD_NUMBER))
WHOLE = re.compile(rb"(?:-?[0-9]++ )*+-?[0-9]++")
MOST_LINES = 22  # LightGBM reads no more of a tree
CATEGORICAL, DECISIONS = 1, 12  # a bit of decision_type; below 12, missing values are known
WORD = 2**32  # categories are bits of words
LARGEST = 2**31 - 1
OPTIONAL = (b"split_gain", b"internal_value", b"internal_weight", b"internal_count")
CATEGORIES = "pandas_categorical:"


def check_lightgbm(content: bytes) -> None:
    """Refuse a damaged model, or raise ValueError: LightGBM ends the whole process on most.

    Parameters
    ----------
    content : bytes
        The whole file.

    Notes
    -----
    Its header lists how many bytes each tree has. Children must be behind their parents, so that
    no row walks in a circle or out of the arrays. Nothing is allocated by a number in the file
    before that was compared with the length of a list in it.
    """
    if not content.startswith(b"tree\n"):
        msg = "it does not begin as a model of LightGBM does"
        raise ValueError(msg)
    if b"\0" in content or b"\r" in content:
        msg = "it holds letters that LightGBM does not write"
        raise ValueError(msg)
    head, _, rest = content.partition(b"\nTree=0\n")
    header = _read_header(head)
    sizes = _read_whole(header, b"tree_sizes", "its header")
    n_columns = _check_header(header, len(sizes))
    rest, end = b"Tree=0\n" + rest, 0
    for number, size in enumerate(sizes.tolist()):
        tree, end = rest[end : end + max(size, 0)], end + max(size, 0)
        _check_tree(tree, number, n_columns)
    _check_tail(rest[end:])


def _read_header(head: bytes) -> dict[bytes, bytes]:
    """Lines of the header by their names, each of which is there once."""
    found: dict[bytes, bytes] = {}
    for line in filter(None, head.splitlines()):
        parts = HEADER_LINE.fullmatch(line)
        if parts is None or parts[1] in found:
            msg = "its header has a line that LightGBM does not write"
            raise ValueError(msg)
        found[parts[1]] = parts[2] or b""
    return found


def _check_header(header: Fields, n_trees: int) -> int:
    """Compare counts with lists, or raise ValueError; the number of columns."""
    n_columns = _read_count(header, b"max_feature_idx", "its header") + 1
    n_classes = _read_count(header, b"num_class", "its header")
    n_in_round = _read_count(header, b"num_tree_per_iteration", "its header")
    _read_whole(header, b"label_index", "its header", length=1)
    objective = header.get(b"objective", b"custom")
    named = re.findall(rb"\bnum_class:(\S*)", objective)
    if not 0 < n_classes == n_in_round or n_trees % n_in_round:
        msg = f"its {n_trees} trees do not make up rounds of {n_in_round} for {n_classes} classes"
        raise ValueError(msg)
    if not OBJECTIVE.fullmatch(objective) or any(name != b"%d" % n_classes for name in named):
        msg = "its objective is damaged, or has another number of classes than its header"
        raise ValueError(msg)
    for name in (b"feature_names", b"feature_infos"):
        if len(header.get(name, b"").split()) != n_columns:
            msg = f"its {name.decode()} are not {n_columns}"
            raise ValueError(msg)
    return n_columns


def _check_tree(tree: bytes, number: int, n_columns: int) -> None:
    """Refuse a tree whose lists do not fit together, or raise ValueError."""
    where, mark = f"its tree {number}", b"Tree=%d\n" % number
    if not tree.startswith(mark) or not tree.endswith(b"\n\n"):
        msg = f"{where} is damaged or cut off"
        raise ValueError(msg)
    fields = _read_fields(tree[len(mark) :].rstrip(b"\n"), where)
    n_leaves = _read_count(fields, b"num_leaves", where)
    is_linear = _read_flag(fields, b"is_linear", where)
    _check_numbers(fields, b"leaf_value", n_leaves, where)
    if b"shrinkage" in fields:
        _check_numbers(fields, b"shrinkage", 1, where)
    n_categorical = _read_count(fields, b"num_cat", where)
    if n_leaves == 1 and not is_linear:
        return  # LightGBM reads no further
    if n_leaves > 1:
        kinds = _check_splits(fields, n_leaves - 1, n_columns, where)
        _check_categories(fields, kinds, n_categorical, where)
    if b"leaf_weight" in fields:
        _check_numbers(fields, b"leaf_weight", n_leaves, where)
    for name, length in [*((n, n_leaves - 1) for n in OPTIONAL), (b"leaf_count", n_leaves)]:
        if fields.get(name):
            _check_numbers(fields, name, length, where)
    if is_linear:
        _check_linear(fields, n_leaves, n_columns, where)


def _read_fields(text: bytes, where: str) -> dict[bytes, bytes]:
    """Lines of a tree by their names, each of which is there once."""
    lines = [TREE_LINE.fullmatch(line) for line in text.split(b"\n")]
    found = {line[1]: line[2] for line in lines if line}
    if len(found) != len(lines) or len(lines) > MOST_LINES:
        msg = f"{where} has a line that LightGBM does not write"
        raise ValueError(msg)
    return found


def _check_splits(fields: Fields, n_splits: int, n_columns: int, where: str) -> IntArray:
    """Children, columns and thresholds of the splits, or raise ValueError; their kinds."""
    left = _read_whole(fields, b"left_child", where, length=n_splits)
    right = _read_whole(fields, b"right_child", where, length=n_splits)
    children, here = np.concatenate([left, right]), np.tile(np.arange(n_splits), 2)
    used = np.sort(children)  # each node once, but the root
    expected = np.delete(np.arange(-n_splits - 1, n_splits), n_splits + 1)
    if np.any((children >= 0) & (children <= here)) or not np.array_equal(used, expected):
        msg = f"{where} has children that do not form a tree"
        raise ValueError(msg)
    features = _read_whole(fields, b"split_feature", where, length=n_splits)
    kinds = _read_whole(fields, b"decision_type", where, length=n_splits)
    _check_numbers(fields, b"threshold", n_splits, where)
    if features.min() < 0 or features.max() >= n_columns:
        msg = f"{where} splits a column that is not there"
        raise ValueError(msg)
    if kinds.min() < 0 or kinds.max() >= DECISIONS:
        msg = f"{where} decides in a way that LightGBM does not know"
        raise ValueError(msg)
    return kinds


def _check_categories(fields: Fields, kinds: IntArray, n_sets: int, where: str) -> None:
    """Sets of categories, and the splits that name one, or raise ValueError."""
    nodes = np.flatnonzero(kinds & CATEGORICAL)
    words = fields[b"threshold"].split() if nodes.size else []
    if not all(w.isdigit() and len(w) < 11 and int(w) < n_sets for w in (words[n] for n in nodes)):
        msg = f"{where} splits by a set of categories that is not there"
        raise ValueError(msg)
    if n_sets == 0:
        return
    bounds = _read_whole(fields, b"cat_boundaries", where, length=n_sets + 1)
    sets = _read_whole(fields, b"cat_threshold", where)
    if bounds[0] != 0 or bounds[-1] != len(sets) or np.any(np.diff(bounds) < 0):
        msg = f"{where} has sets of categories beyond its categories"
        raise ValueError(msg)
    if np.any((sets < 0) | (sets >= WORD)):
        msg = f"{where} has sets of categories that are no bits"
        raise ValueError(msg)


def _check_linear(fields: Fields, n_leaves: int, n_columns: int, where: str) -> None:
    """Linear models in the leaves, or raise ValueError."""
    counts = _read_whole(fields, b"num_features", where, length=n_leaves)
    _check_ordinary(fields, b"leaf_const", n_leaves, where)
    lists = {}
    for name in (b"leaf_features", b"leaf_coeff"):
        lists[name] = b" ".join(fields.get(name, b"").split())  # those of a leaf end with a space
    total = int(counts.sum()) if np.all((counts >= 0) & (counts <= n_columns)) else -1
    if total == 0 and not lists[b"leaf_features"] and not lists[b"leaf_coeff"]:
        return
    columns = _read_whole(lists, b"leaf_features", where, length=total)
    _check_ordinary(lists, b"leaf_coeff", total, where)
    if columns.size and (columns.min() < 0 or columns.max() >= n_columns):
        msg = f"{where} has a leaf of a column that is not there"
        raise ValueError(msg)


def _check_ordinary(fields: Fields, name: bytes, length: int, where: str) -> None:
    """Refuse numbers too large or too small for a float: here LightGBM ends the process on them."""
    _check_numbers(fields, name, length, where)
    words = fields[name].split()
    values = np.abs(np.array(words, dtype=np.float64))
    is_odd = np.isinf(values) & np.array([b"inf" not in word for word in words])
    if np.any(is_odd | ((values > 0) & (values < np.finfo(np.float64).tiny))):
        msg = f"{where} has a leaf with a number that is too large or too small"
        raise ValueError(msg)


# --- what follows the trees --------------------------------------------------------------------


def _check_tail(tail: bytes) -> None:
    """Settings of the training and the categories of data frames, or raise ValueError."""
    if not tail.startswith(b"end of trees\n"):
        msg = "its end is damaged or cut off"
        raise ValueError(msg)
    try:
        text = tail.decode()
    except UnicodeDecodeError:
        msg = "its end is no text"
        raise ValueError(msg) from None
    if not _is_settings(tail.split(b"\n")):
        msg = "its parameters have a line that LightGBM does not write"
        raise ValueError(msg)
    last = text.strip().rpartition("\n")[2]
    if last.startswith(CATEGORIES) and not _is_categories(last.removeprefix(CATEGORIES)):
        msg = "its categories of data frames are damaged"
        raise ValueError(msg)


def _is_settings(lines: list[bytes]) -> bool:
    """Whether all lines between two others are settings; LightGBM takes them apart unseen."""
    begin = lines.index(b"parameters:") + 1 if b"parameters:" in lines else len(lines)
    end = (
        lines.index(b"end of parameters", begin) if b"end of parameters" in lines[begin:] else None
    )
    return all(PARAMETER.fullmatch(line) for line in lines[begin:end] if line)


def _is_categories(text: str) -> bool:
    """Whether a text is a list of lists of categories, or null."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return found is None or (isinstance(found, list) and all(isinstance(c, list) for c in found))


# --- fields ------------------------------------------------------------------------------------


def _read_count(fields: Fields, name: bytes, where: str) -> int:
    """A number that is not negative."""
    text = fields.get(name, b"")
    if not text.isdigit() or len(text) > len(str(LARGEST)) or int(text) >= LARGEST:
        msg = f"{where} has no right {name.decode()}"
        raise ValueError(msg)
    return int(text)


def _read_flag(fields: Fields, name: bytes, where: str) -> bool:
    return name in fields and _read_count(fields, name, where) > 0


def _read_whole(fields: Fields, name: bytes, where: str, *, length: int | None = None) -> IntArray:
    """A list of whole numbers; those too large become the largest."""
    text = fields.get(name, b"")
    if not WHOLE.fullmatch(text) or (length is not None and text.count(b" ") + 1 != length):
        _refuse_list(name, where)
    return np.fromstring(text, dtype=np.int64, sep=" ")


def _check_numbers(fields: Fields, name: bytes, length: int, where: str) -> None:
    """Refuse what is no list of as many numbers, without reading them one by one."""
    text = fields.get(name, b"")
    is_list = NUMBERS.fullmatch(text) or ODD_NUMBERS.fullmatch(text)  # the second is slower
    if text.count(b" ") + 1 != length or not is_list:
        _refuse_list(name, where)


def _refuse_list(name: bytes, where: str) -> None:
    msg = f"the list {name.decode()} of {where} is damaged or has another length than the others"
    raise ValueError(msg)
