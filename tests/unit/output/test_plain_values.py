import json

import numpy as np
import pytest

from rhale.errors import BadFileError
from rhale.output.storage.values import (
    Anything,
    ArrayDimension,
    Named,
    Nothing,
    Number,
    Numbers,
    Several,
    Text,
    Truth,
    quote_file_value,
)

ROWS = (ArrayDimension("rows"),)


def array(values, name="float64"):
    return {"array": values, "type": name, "shape": [len(values)]}


def read(kind, value, lengths=None):
    return kind.read(json.loads(json.dumps(value)), "it", {} if lengths is None else lengths)


def test_nothing_is_nothing():
    assert read(Nothing(), None) is None
    for value in (0, False, "", [], {}):
        with pytest.raises(BadFileError, match=r"it is .*, where nothing belongs"):
            read(Nothing(), value)


def test_the_first_length_counts_for_all_others():
    lengths = {}
    read(Numbers((ArrayDimension("bins", 1),)), array([1.0, 2.0, 3.0]), lengths)
    assert lengths == {"bins": 2}
    read(Numbers((ArrayDimension("bins"),)), array([1.0, 2.0]), lengths)
    with pytest.raises(BadFileError, match="it has 3 numbers for 2 bins"):
        read(Numbers((ArrayDimension("bins"),)), array([1.0, 2.0, 3.0]), lengths)


def test_longer_lists_than_there_can_be_are_refused_before_they_are_read():
    few = Several(Text(), ArrayDimension("words", most=2))
    assert read(few, ["a", "b"]) == ("a", "b")
    with pytest.raises(BadFileError, match="it has 3 entries, more than 2"):
        read(few, [1, 2, 3])


@pytest.mark.parametrize(
    "value",
    [
        array([1.0], "float32"),
        array([1.0], "<f8"),
        array([1.0], "f8,f8"),
        array([1.0], None),
        array(["1.0"]),
        array([[1.0]]),
        array([False]),
        array([None]),
        array([10**400]),
        {**array([1.0]), "shape": [1, 1]},
        {**array([1.0]), "shape": [1.0]},
        {**array([1.0]), "shape": [True]},
        {**array([]), "shape": [-1]},
        {**array([]), "shape": [0, 2**60]},
        {**array([1.0]), "more": 1},
        {"array": [1.0]},
        {**array([1.0]), "array": "1"},
        [1.0],
        None,
    ],
)
def test_what_is_no_array_of_numbers_is_refused(value):
    with pytest.raises(BadFileError, match=r"^it "):
        read(Numbers(ROWS), value)


def test_unknown_numbers_are_read_where_they_may_be():
    found = read(Numbers(ROWS, -np.inf, np.inf, unknown=True), array([None, "inf", "-inf", 2]))
    np.testing.assert_array_equal(found, [np.nan, np.inf, -np.inf, 2.0])
    assert np.isnan(read(Numbers(ROWS, 0.0, unknown=True), array([None, None]))).all()
    with pytest.raises(BadFileError, match=r"it holds -1\.0, which it cannot"):
        read(Numbers(ROWS, 0.0, unknown=True), array([None, -1.0]))
    with pytest.raises(BadFileError, match="it holds inf, which it cannot"):
        read(Numbers(ROWS, unknown=True), array(["inf"]))
    with pytest.raises(BadFileError, match="it holds '1e5' where a number belongs"):
        read(Numbers(ROWS, unknown=True), array(["1e5"]))


@pytest.mark.parametrize("value", [True, "1", None, 1.5, [1], {"number": "nan"}, -1, 2**60])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(BadFileError, match=r"^it is "):
        read(Number(least=0, whole=True), value)


def test_one_number_may_be_unknown():
    assert np.isnan(read(Number(unknown=True), {"number": "nan"}))
    assert type(read(Number(), 3)) is float
    for value in ({"number": "1e5"}, {"number": 1}, {"number": "nan", "more": 1}):
        with pytest.raises(BadFileError, match="it is an object, not a number"):
            read(Number(unknown=True), value)


def test_texts_and_truth_values_are_what_they_are():
    assert read(Several(Text(("a", "b"))), ["a", "b", "a"]) == ("a", "b", "a")
    assert read(Several(Truth()), [False, True]) == (False, True)
    for kind, value in ((Text(), 1), (Text(("a",)), "c"), (Truth(), 1), (Several(Text()), "ab")):
        with pytest.raises(BadFileError, match=r"^it "):
            read(kind, value)


@pytest.mark.parametrize("pairs", [3, [["a"]], [["a", 1, 2]], [[1, 2]], ["ab"], {"a": 1}])
def test_what_is_no_mapping_is_refused(pairs):
    with pytest.raises(BadFileError, match=r"^it "):
        read(Named(Anything()), {"mapping": pairs})


def test_plain_values_are_read_down_to_a_limit():
    assert read(Anything(2), [[1]]) == [[1]]
    with pytest.raises(BadFileError, match="too deep"):
        read(Anything(2), [[[1]]])
    for value in ({"a": 1}, {"tuple": 3}, {"record": "effect"}, array([1.0])):
        with pytest.raises(BadFileError, match=r"^it is an object"):
            read(Anything(), value)


@pytest.mark.parametrize("value", ["\n\x1b[2J" * 1_000, 10**4_000, 1e308, ["x"] * 10**6, None])
def test_a_value_in_a_message_is_short_and_on_one_line(value):
    assert len(quote_file_value(value)) <= 60
    assert quote_file_value(value).isprintable()


def test_an_array_of_a_pool_is_taken_as_it_is():
    array, lengths = np.array([0.0, 0.5]), {}
    assert Numbers((ArrayDimension("rows"),), 0, 1).read(array, "x", lengths) is array
    assert lengths == {"rows": 2}
    with pytest.raises(BadFileError, match="x has 2 numbers for 3 rows"):
        Numbers((ArrayDimension("rows"),)).read(array, "x", {"rows": 3})


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.array([2.0]), "x holds 2.0, which it cannot"),
        (np.array([np.nan]), "x holds nan, which it cannot"),
        (np.array([1]), "x has numbers of the type 'int64'"),
        (np.array([True]), "x has numbers of the type 'bool'"),
        (np.array([1.0], dtype=np.float32), "x has numbers of the type 'float32'"),
        (np.array([[1.0]]), "x has 1 numbers for the shape"),
        (np.array(1.0), "x has 1 numbers for the shape"),
    ],
)
def test_an_array_of_a_pool_is_checked_like_any_other(array, told):
    with pytest.raises(BadFileError, match=told):
        Numbers((ArrayDimension("rows"),), 0, 1).read(array, "x", {})


def test_an_array_stands_nowhere_but_where_numbers_stand():
    array = np.zeros(3)
    for kind in (Text(), Truth(), Number(unknown=True), Named(Anything()), Several(Text())):
        with pytest.raises(BadFileError, match="x is an array, not"):
            kind.read(array, "x", {})
    with pytest.raises(BadFileError, match="x is an array, where plain values belong"):
        Anything().read([array], "x", {})
