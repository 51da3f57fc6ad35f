import numpy as np
import pytest

from rhale.errors import BadFileError, BadTableError, MissingExtraError
from rhale.models import boosters
from rhale.models.boosters import (
    DEEPEST,
    check_depth,
    check_lightgbm_text,
    in_short,
    is_model_file,
    load_model,
)
from rhale.models.read_trees import first_line

TEXT = b"tree\nmax_feature_idx=1\ntree_sizes=%d\n\n%send of trees\n\nmore"
TREE = (
    b"Tree=0\nnum_leaves=3\nsplit_feature=0 1\nthreshold=0.5 -1\ndecision_type=2 2\n"
    b"left_child=1 -1\nright_child=-2 -3\nleaf_value=1 2 3\n\n"
)


def test_a_whole_text_passes():
    check_lightgbm_text(TEXT % (len(TREE), TREE))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "begin"),
        (b"tree\nmax_feature_idx=1\n", "begin"),
        (b"\n" + TEXT % (len(TREE), TREE), "begin"),
        (TEXT % (len(TREE) - 1, TREE), "end"),
        (TEXT % (len(TREE) + 1, TREE), "end"),
        (TEXT % (len(TREE) - 40, TREE), "tree 0"),
        (TEXT % (len(TREE), TREE.replace(b"left_child=1", b"left_child=0")), "tree 0"),
        (TEXT % (len(TREE), TREE.replace(b"num_leaves=3", b"num_leaves=4")), "tree 0"),
        (TEXT % (len(TREE), TREE.replace(b"num_leaves=3", b"num_leaves=1")), "tree 0"),
        (TEXT % (len(TREE), TREE.replace(b"split_feature=0 1", b"split_feature=0 2")), "tree 0"),
        (TEXT % (len(TREE), TREE.replace(b"Tree=0", b"Tree=1")), "begin|damaged"),
    ],
)
def test_a_damaged_text_is_refused_with_the_place(content, reason):
    with pytest.raises(ValueError, match=reason):
        check_lightgbm_text(content)


def test_a_circle_of_nodes_that_no_row_enters_is_refused():
    tree = (
        b"Tree=0\nnum_leaves=4\nsplit_feature=0 1 1\nthreshold=0.5 -1 2\ndecision_type=2 2 2\n"
        b"left_child=-1 2 1\nright_child=-2 -3 -4\nleaf_value=1 2 3 4\n\n"
    )
    with pytest.raises(ValueError, match="tree 0"):
        check_lightgbm_text(TEXT % (len(tree), tree))


@pytest.mark.parametrize("name", ["m.json", "m.UBJ", "a.b.txt", "m.cbm"])
def test_model_files_are_known_by_their_endings(name, tmp_path):
    assert is_model_file(name)
    assert is_model_file(tmp_path / name)
    assert not is_model_file(name + ".pkl")
    assert not is_model_file(object())


def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch):
    path = tmp_path / "model.cbm"
    path.write_bytes(b"...")
    monkeypatch.setattr(boosters, "find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(MissingExtraError, match=r"model\.cbm is .* catboost; pip install catboost"):
        load_model(path)


def test_many_names_are_cut_short():
    assert in_short(["a", "b"]) == "a, b"
    assert in_short([str(i) for i in range(9)]) == "0, 1, 2, 3, 4, 5, ... (9)"


def test_arrays_have_no_names_to_be_wrong():
    ask = boosters.partial(boosters._ask_in_order, ("a", "b"), len)
    assert ask(np.zeros((3, 2))) == 3
    pandas = pytest.importorskip("pandas")
    assert ask(pandas.DataFrame({"a": [1.0], "b": [2.0]})) == 1
    with pytest.raises(BadTableError, match="other names"):
        ask(pandas.DataFrame({"a": [1.0], "c": [2.0]}))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("[13:58:55] /src/common/json.cc:409: Expecting digit\nStack trace:", "Expecting digit"),
        ("catboost/libs/model/model.cpp:1185: Incorrect file", "Incorrect file"),
        ("nothing to leave out: 5", "nothing to leave out: 5"),
        ("", "ValueError"),
    ],
)
def test_messages_lose_the_lines_of_source_that_raised_them(message, expected):
    assert first_line(ValueError(message)) == expected


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_json_that_is_nested_too_deep_is_refused(pair, monkeypatch):
    monkeypatch.setattr(boosters, "BLOCK", 7)
    deep = (pair[0] * DEEPEST + pair[1] * DEEPEST).encode()
    assert check_depth(deep * 3) is None
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        check_depth(deep + pair[0].encode() * (DEEPEST + 1))


def test_a_file_that_would_crash_xgboost_is_refused(tmp_path):
    pytest.importorskip("xgboost")
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000 + "]" * 200_000)
    with pytest.raises(BadFileError, match="nested"):
        load_model(path)
