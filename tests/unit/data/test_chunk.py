"""Chunks of every kind of table: copies with one column replaced, in the column's own type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rhale.data import open_table
from rhale.data.table import HeldColumn, find_columns, numbers_at, numbers_between, read_chunks
from rhale.errors import BadSettingError

COLUMNS = {
    "f": np.array([0.5, 1.5, 2.5, 3.5]),
    "i": np.array([1, 2, 3, 4]),
    "b": np.array([True, False, True, False]),
}
TABLES = {
    "numpy": np.column_stack(list(COLUMNS.values())).astype(float),
    "pandas": pd.DataFrame(COLUMNS, index=[3, 3, 1, 0]),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}
each_kind = pytest.mark.parametrize("kind", TABLES)


def whole(kind):
    table = open_table(TABLES[kind])
    return table.chunk(0, table.n_rows)


def values(rows, name, place):
    return rows[:, place] if isinstance(rows, np.ndarray) else rows[name].to_numpy()


@each_kind
def test_copies_are_stacked_with_one_column_replaced_in_each(kind):
    rows = whole(kind).vary([(0, np.full(4, 9.0)), (1, np.full(4, 7.0)), (0, np.arange(4.0))])
    assert len(rows) == 12
    assert values(rows, "f", 0).tolist() == [9.0] * 4 + [0.5, 1.5, 2.5, 3.5] + [0.0, 1.0, 2.0, 3.0]
    assert values(rows, "i", 1).tolist() == [1, 2, 3, 4] + [7] * 4 + [1, 2, 3, 4]
    assert values(rows, "b", 2).tolist() == [1, 0, 1, 0] * 3


@each_kind
def test_a_column_is_held_at_each_point_in_one_copy(kind):
    rows = whole(kind).vary(HeldColumn(1, np.array([7.0, 9.0, 8.0]), 4)[1:])
    assert values(rows, "f", 0).tolist() == [0.5, 1.5, 2.5, 3.5] * 2
    assert values(rows, "i", 1).tolist() == [9] * 4 + [8] * 4


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("points", [[2.5], [2.5, -1.0, 4.0], [2.5, np.nan]])
def test_a_held_column_is_as_if_each_of_its_changes_were_given(kind, points):
    """Rows that miss the value, too, may be asked about what happens without one."""
    floats = {name: np.array([0.5, np.nan, 2.5]) for name in "ab"}
    table = {
        "numpy": np.column_stack(list(floats.values())),
        "pandas": pd.DataFrame(floats),
        "polars": pl.DataFrame(floats),
        "pyarrow": pa.table(floats),
    }
    chunk, held = open_table(table[kind]).chunk(0, 3), HeldColumn(1, np.array(points), 3)
    one, other = (chunk.vary(changes) for changes in (held, [held[i] for i in range(len(held))]))
    for place, name in enumerate("ab"):
        found, expected = (write_out(rows, name, place) for rows in (one, other))
        assert found == expected
    assert values(one, "b", 1).tolist()[:3] == [2.5] * 3


def write_out(rows, name, place):
    """A column as text, in which null is not nan."""
    column = rows[:, place] if isinstance(rows, np.ndarray) else rows[name]
    return str(column.to_pylist() if isinstance(rows, pa.Table) else list(column))


def test_the_changes_of_a_held_column_can_be_listed():
    held = HeldColumn(3, np.array([0.5, 2.0, 7.0]), n_rows=2)
    listed = [(column, values.tolist()) for column, values in held]
    assert listed == [(3, [0.5, 0.5]), (3, [2.0, 2.0]), (3, [7.0, 7.0])]
    assert listed == [(held[i][0], held[i][1].tolist()) for i in range(3)]


@pytest.mark.parametrize(
    ("dtype", "held"), [("i4", [0, 2]), ("?", [False, True]), ("f4", [0.4, 1.6])]
)
def test_a_held_column_has_the_type_of_its_array(dtype, held):
    rows = (
        open_table(np.ones((3, 2), dtype=dtype))
        .chunk(0, 3)
        .vary(HeldColumn(0, np.array([0.4, 1.6]), 3))
    )
    assert rows.dtype == dtype
    assert rows[:, 0].tolist() == np.repeat(np.array(held, dtype=dtype), 3).tolist()
    assert (rows[:, 1] == 1).all()


@each_kind
def test_the_rows_themselves_do_not_change_when_copies_do(kind):
    chunk = whole(kind)
    chunk.vary([(0, np.full(4, 9.0))])
    assert chunk.column(0).tolist() == [0.5, 1.5, 2.5, 3.5]


@each_kind
def test_rows_are_handed_out_as_copies(kind):
    chunk = whole(kind)
    rows = chunk.rows
    if kind == "numpy":
        rows[:] = 0
    elif kind == "pandas":
        rows["f"] = 0.0
    assert chunk.column(0).tolist() == [0.5, 1.5, 2.5, 3.5]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_values_are_rounded_to_what_the_column_can_hold(kind):
    chunk, wanted = whole(kind), np.array([0.2, 0.7, 1.4, 2.6])
    assert chunk.representable(0, wanted).tolist() == wanted.tolist()
    assert chunk.representable(1, wanted).tolist() == [0.0, 1.0, 1.0, 3.0]
    assert chunk.representable(2, wanted).tolist() == [0.0, 1.0, 1.0, 1.0]
    rows = chunk.vary([(1, wanted)])
    assert rows["i"].to_numpy().tolist() == [0, 1, 1, 3]


@each_kind
def test_rows_are_taken_and_joined_in_the_given_order(kind):
    chunk = whole(kind)
    taken = chunk.take(np.array([2, 0]))
    assert taken.column(0).tolist() == [2.5, 0.5]
    assert taken.row_numbers.tolist() == [2, 0]
    joined = taken.join(chunk.take(np.array([3])))
    assert joined.column(1).tolist() == [3.0, 1.0, 4.0]
    assert joined.row_numbers.tolist() == [2, 0, 3]


@each_kind
@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_a_table_is_read_from_top_to_bottom(kind, size):
    pieces = list(read_chunks(open_table(TABLES[kind]), size))
    assert max(piece.n_rows for piece in pieces) <= size
    assert np.concatenate([p.column(1) for p in pieces]).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.concatenate([p.row_numbers for p in pieces]).tolist() == [0, 1, 2, 3]


@each_kind
def test_reading_goes_on_behind_the_chunks_that_are_known(kind):
    pieces = list(read_chunks(open_table(TABLES[kind]), 3, first=1))
    assert [piece.row_numbers.tolist() for piece in pieces] == [[3]]
    assert list(read_chunks(open_table(TABLES[kind]), 2, first=2)) == []


@pytest.mark.parametrize("numbers", [None, np.array([0, 1, 2, 3])])
def test_rows_without_numbers_are_counted_from_nought(numbers):
    assert numbers_between(numbers, 1, 3).tolist() == [1, 2]
    assert numbers_at(numbers, np.array([3, 0])).tolist() == [3, 0]


def test_rows_keep_the_numbers_they_were_given():
    numbers = np.array([7, 5, 3])
    assert numbers_between(numbers, 1, 3).tolist() == [5, 3]
    assert numbers_at(numbers, np.array([2, 0])).tolist() == [3, 7]


@pytest.mark.parametrize(
    ("wanted", "places"), [(None, [0, 1, 2]), ("b", [1]), (-1, [2]), (["c", 0], [2, 0])]
)
def test_columns_are_found_by_name_and_by_place_in_the_order_asked_for(wanted, places):
    assert find_columns(["a", "b", "c"], wanted) == places


@pytest.mark.parametrize("wanted", [["a", "a"], ["a", 0], [0, -2]])
def test_a_feature_that_is_named_twice_is_refused(wanted):
    with pytest.raises(BadSettingError, match="names a feature twice"):
        find_columns(["a", "b"], wanted)
