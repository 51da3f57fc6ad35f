import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from rhale.data import as_matrix, open_table
from rhale.errors import BadTableError

X = np.arange(12.0).reshape(6, 2)
TABLES = {
    "numpy": X,
    "pandas": pd.DataFrame(X, columns=["a", "b"]),
    "polars": pl.DataFrame(X, schema=["a", "b"]),
    "pyarrow": pa.table({"a": X[:, 0], "b": X[:, 1]}),
}
each_table = pytest.mark.parametrize(("kind", "data"), TABLES.items(), ids=TABLES)


@each_table
def test_a_table_knows_its_kind_names_and_size(kind, data):
    table = open_table(data)
    assert table.kind == kind
    assert table.n_rows == 6
    assert table.names == (("x0", "x1") if kind == "numpy" else ("a", "b"))
    assert table.holds(0) == "number"


@each_table
def test_rows_are_the_caller_s_kind_and_read_as_a_matrix(kind, data):
    chunk = open_table(data).chunk(2, 5)
    assert type(chunk.rows) is type(data), kind
    assert as_matrix(chunk.rows).tolist() == X[2:5].tolist()
    np.testing.assert_array_equal(np.transpose(chunk.keys()), X[2:5])


@each_table
def test_rows_of_weight_zero_are_left_out_and_the_others_keep_theirs(kind, data):
    weights = np.array([0.0, 1, 0, 2, 3, 0])
    table = open_table(data, weights)
    chunk = table.chunk(0, table.n_rows)
    assert chunk.weights.tolist() == [1.0, 2.0, 3.0], kind
    assert chunk.column(0).tolist() == [2.0, 6.0, 8.0]
    assert chunk.row_numbers.tolist() == [1, 3, 4]


def test_a_matrix_of_words_is_refused_with_the_column():
    with pytest.raises(BadTableError, match="column 'b' holds"):
        as_matrix(pd.DataFrame({"a": [1.0], "b": ["x"]}))


def test_truth_values_and_small_integers_become_numbers():
    rows = pd.DataFrame({"a": [True, False], "b": np.array([1, 2], dtype=np.int8)})
    assert as_matrix(rows).tolist() == [[1.0, 1.0], [0.0, 2.0]]


def test_subclasses_of_arrays_are_arrays():
    assert open_table(np.ma.array(X)).names == ("x0", "x1")
    assert open_table(X.view(np.recarray)).n_rows == 6


def test_a_tensor_that_is_part_of_a_graph_is_refused_with_the_librarys_own_advice():
    rows = torch.ones(4, 2, requires_grad=True)
    with pytest.raises(BadTableError, match=r"Tensor cannot be read as an array: .*detach"):
        open_table(rows)


def test_a_tensor_in_memory_is_a_table():
    table = open_table(torch.arange(6.0).reshape(3, 2))
    assert table.chunk(0, 3).column(1).tolist() == [1.0, 3.0, 5.0]
