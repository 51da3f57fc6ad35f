import numpy as np
import pytest

from rhale.errors import UnknownFeatureError, UnknownOutputError
from rhale.names import find_feature, find_output, near_names


@pytest.mark.parametrize("find", [find_feature, find_output])
def test_a_name_is_found_before_a_position(find):
    known = ["2", "1", "0", "b"]
    assert find("2", known) == 0
    assert find(1, known) == 1
    assert find(0, known) == 2
    assert find(3, known) == 3
    assert find(-1, known) == 3
    assert find(np.int64(3), known) == 3


@pytest.mark.parametrize("asked", ["c", "1", 2, -3, 0.5, None])
def test_what_is_not_there_is_refused_with_all_that_is(asked):
    with pytest.raises(UnknownFeatureError, match=r"no feature .*Known: 'a', 'b'"):
        find_feature(asked, ["a", "b"])
    with pytest.raises(UnknownOutputError, match=r"no output .*Known: 'a', 'b'"):
        find_output(asked, ["a", "b"])


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("agee", ["age", "income"], "did you mean 'age'? Known: 'age', 'income'"),
        ("zzz", ["age"], "Known: 'age'"),
        ("x", [], "Known: "),
    ],
)
def test_near_names_are_suggested(name, known, text):
    assert near_names(name, known) == text


def test_a_long_list_of_names_is_cut_and_counted():
    text = near_names("q", [f"column {i}" for i in range(30)], limit=3)
    assert text == "Known: 'column 0', 'column 1', 'column 2' and 27 more"
