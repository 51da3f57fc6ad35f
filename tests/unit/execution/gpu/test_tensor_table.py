import numpy as np
import pytest
import torch

from rhale.data.array import ArrayTable
from rhale.errors import BadTableError
from rhale.execution.gpu.table import TensorSurveyTask, TensorTable, open_tensor, send_to
from rhale.features.survey import SurveyTask

N = 5000
NAMES = ["x0", "x1", "x2", "x3"]
DEVICES = ["cpu"] + (["cuda:0"] if torch.cuda.is_available() else [])


def values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 4))
    x[::50, 1] = np.nan
    x[:, 3] = rng.integers(0, 5, N)
    x[7, 0], x[9, 3] = -0.0, np.nan
    return x


def both(x, weights=None, device="cpu"):
    tensor = TensorTable(torch.from_numpy(x).to(device), torch.device(device), weights)
    return ArrayTable(x, weights).chunk(0, len(x)), tensor.chunk(0, len(x))


def assert_same_census(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.most, ours.is_many) == (theirs.most, theirs.is_many)
        assert sorted(ours.found) == sorted(theirs.found)
        for value, pair in theirs.found.items():
            np.testing.assert_allclose(ours.found[value], pair, rtol=1e-12)


def survey_there(chunk, *about, **how):
    return TensorSurveyTask(SurveyTask(*about, **how))(chunk)


def assert_same_survey(found, expected):
    facts = ("n_rows", "weight", "weight_squares", "n_known", "known_weight", "known_squares")
    for name in (*facts, "low", "high", "whole"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    assert_same_census(found.census, expected.census)
    np.testing.assert_array_equal(found.sample.key, expected.sample.key)
    np.testing.assert_array_equal(found.sample.values, expected.sample.values)
    np.testing.assert_allclose(found.sample.weight, expected.sample.weight, rtol=1e-13)
    for name in ("size", "seen", "is_complete"):
        assert getattr(found.sample, name) == getattr(expected.sample, name)
    np.testing.assert_array_equal(found.probe.key, expected.probe.key)
    np.testing.assert_array_equal(found.probe.chunk.keys(), expected.probe.chunk.keys())
    differ = np.unique(expected.probe.key).size == expected.probe.key.size
    if differ:  # which of several equal rows is shown does not matter
        numbers = expected.probe.chunk.row_numbers
        np.testing.assert_array_equal(found.probe.chunk.row_numbers, numbers)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [300, 6000])
def test_a_survey_of_a_tensor_is_that_of_the_array(weighted, size, device):
    weights = np.random.default_rng(1).uniform(0.1, 2, N) if weighted else None
    host, there = both(values(), weights, device)
    how = {"auxiliary_columns": [2], "counted": [3]}
    expected = SurveyTask([3, 0, 1], NAMES, (size, 64), 1, **how)(host)
    assert_same_survey(survey_there(there, [3, 0, 1], NAMES, (size, 64), 1, **how), expected)


def test_few_distinct_rows_are_kept_whole_with_all_their_weight():
    x = np.random.default_rng(0).integers(0, 3, size=(N, 4)).astype(np.int32)
    weights = np.random.default_rng(1).uniform(0.1, 2, N)
    host, there = both(x, weights)
    expected = SurveyTask([0, 1, 2, 3], NAMES, (100, 64), 1)(host)
    assert expected.sample.is_complete
    assert_same_survey(survey_there(there, [0, 1, 2, 3], NAMES, (100, 64), 1), expected)


def test_more_distinct_rows_than_are_kept_among_many_equal_ones():
    x = np.random.default_rng(0).integers(0, 4, size=(N, 4)).astype(np.float32)
    host, there = both(x)
    expected = SurveyTask([0, 1, 2, 3], NAMES, (100, 64), 1)(host)
    assert not expected.sample.is_complete
    assert_same_survey(survey_there(there, [0, 1, 2, 3], NAMES, (100, 64), 1), expected)


def test_surveys_of_pieces_add_up_to_that_of_the_whole():
    x = values()
    host, _ = both(x)
    expected = SurveyTask([0, 1, 2, 3], NAMES, (300, 64), 1)(host)
    table = TensorTable(torch.from_numpy(x), torch.device("cpu"))
    pieces = [
        survey_there(table.chunk(a, a + 1000), [0, 1, 2, 3], NAMES, (300, 64), 1)
        for a in range(0, N, 1000)
    ]
    assert_same_survey(sum(pieces[1:], pieces[0]), expected)


@pytest.mark.parametrize(("value", "said"), [(np.inf, "infinite"), (1e200, "beyond 1e")])
def test_values_that_cannot_be_squared_are_refused_with_their_row(value, said):
    x = values()
    x[40, 2] = value
    _, there = both(x)
    with pytest.raises(BadTableError, match=f"'x2' has .*{said}.*first in row 40"):
        survey_there(there, [0, 2], NAMES, (10, 10), 0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_a_chunk_answers_like_one_of_an_array(dtype):
    x = (3 * np.random.default_rng(0).random((20, 4)) - 1).astype(dtype)
    host, there = both(x, np.arange(1.0, 21))
    new = np.linspace(-0.6, 2.7, 20)
    for name, arguments in {
        "column": (1,), "key": (2,), "keys": (), "representable": (0, new), "write_value": (0, 0.5),
        "distinct": (0,), "vary": ([(0, new), (2, new)],), "substitute": ([(0, new), (2, new)],),
    }.items():  # fmt: skip
        ours, theirs = getattr(there, name)(*arguments), getattr(host, name)(*arguments)
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(np.asarray(ours), theirs)
            assert np.asarray(ours).dtype == theirs.dtype
        else:
            assert ours == theirs
    some = np.array([5, 2, 9])
    np.testing.assert_array_equal(there.take(some).weights, host.take(some).weights)
    joined, expected = there.take(some).join(there), host.take(some).join(host)
    np.testing.assert_array_equal(joined.keys(), expected.keys())
    np.testing.assert_array_equal(joined.row_numbers, expected.row_numbers)


def test_the_rows_a_model_sees_are_a_copy():
    x = values()
    _, there = both(x)
    there.rows.zero_()
    there.substitute([(0, np.zeros(N))])
    np.testing.assert_array_equal(there.tensor.numpy(), values())


def test_values_that_nobody_may_write_to_are_put_into_rows_without_a_warning():
    """torch warns once in a process, so a warning would meet whoever comes first."""
    chunk = TensorTable(torch.ones(4, 2), torch.device("cpu")).chunk(0, 4)
    given = np.arange(4.0)
    given.flags.writeable = False
    torch.set_warn_always(True)
    try:
        rows = chunk.substitute([(1, given)])
    finally:
        torch.set_warn_always(False)
    assert rows[:, 1].tolist() == [0, 1, 2, 3]


def test_a_table_is_cut_like_an_array():
    x = values()
    weights = np.arange(1.0, N + 1)
    host, there = (
        ArrayTable(x, weights),
        TensorTable(torch.from_numpy(x), torch.device("cpu"), weights),
    )
    rows = np.array([7, 3, 4000])
    pairs = [
        (host.chunk(10, 20), there.chunk(10, 20)),
        (host.take(rows).chunk(1, 3), there.take(rows).chunk(1, 3)),
        (
            host.take(rows).take(rows[:0] + 1).chunk(0, 0),
            there.take(rows).take(rows[:0] + 1).chunk(0, 0),
        ),
        (host.select([0, 1, 3]).chunk(0, 5), there.select([0, 1, 3]).chunk(0, 5)),
    ]
    for theirs, ours in pairs:
        np.testing.assert_array_equal(ours.keys(), theirs.keys())
        np.testing.assert_array_equal(ours.row_numbers, theirs.row_numbers)
        np.testing.assert_array_equal(ours.weights, theirs.weights)
    assert there.select([0, 1, 3]).names == host.select([0, 1, 3]).names == ("x0", "x1", "x3")
    assert there.holds(0) == host.holds(0)


def test_chunks_that_are_to_be_sent_are_smaller_for_wide_tables():
    few, many = (torch.zeros(1, n) for n in (8, 10_000))
    far = torch.device("meta")
    assert TensorTable(few, far).storage.usual_rows == 2**24
    assert TensorTable(many, far).storage.usual_rows * 10_000 <= 2**27
    assert TensorTable(many, many.device).storage.usual_rows == 2**26  # nothing is copied


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.zeros(3), r"shape \(3,\); .*reshape"),
        (torch.zeros(3, 2, 2), r"shape \(3, 2, 2\)"),
        (torch.zeros(3, 2, dtype=torch.complex64), "complex64"),
        (torch.zeros(3, 2).to_sparse(), "sparse"),
    ],
)
def test_what_is_no_table_is_refused(tensor, said):
    with pytest.raises(BadTableError, match=said):
        open_tensor(tensor)


def test_a_tensor_with_a_graph_is_read_without_it():
    table = open_tensor(torch.zeros(3, 2, requires_grad=True))
    assert not table.tensor.requires_grad


def test_types_that_torch_lacks_stay_on_the_host():
    assert send_to(np.zeros((3, 2), dtype=np.longdouble), torch.device("cpu")) is None
