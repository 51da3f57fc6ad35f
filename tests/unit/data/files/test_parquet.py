"""Parquet files in batches, judged by pyarrow; and how many rows of long text are safe."""

import numpy as np
import pytest

from rhale.data.files import parquet
from rhale.data.files.parquet import footer_of, read_row_groups
from rhale.data.files.regular import HELD, RegularFile

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = pa.table({"n": np.arange(100), "x": np.arange(100.0) ** 2, "t": ["a", "b" * 300] * 50})


@pytest.fixture
def write(tmp_path):
    opened = []

    def write(rows=ROWS, **options):
        path = str(tmp_path / f"{len(opened)}.parquet")
        pq.write_table(rows, path, **options)
        opened.append(RegularFile(path).__enter__())
        return opened[-1]

    yield write
    for file in opened:
        file.close()


def read(file, names=("n", "t"), size=7, skip=0):
    return list(parquet.read_parquet_batches(file, list(names), size, skip))


def safe_rows(file, size, whole=()):
    (group,) = read_row_groups(footer_of(file))
    return parquet.safe_rows(file, group, 0, {"n", "t"}, set(whole), size)


def test_columns_and_rows_are_told_without_reading_any(write):
    schema, n_rows = parquet.measure_parquet(write())
    assert schema.names == ["n", "x", "t"]
    assert n_rows == 100


@pytest.mark.parametrize("skip", [0, 1, 30, 31, 99, 100])
def test_rows_come_in_order_after_those_that_are_left_out(write, skip):
    file = write(row_group_size=30)
    batches = read(file, skip=skip)
    found = pa.Table.from_batches(batches, schema=ROWS.select(["n", "t"]).schema)
    assert found.equals(ROWS.select(["n", "t"]).slice(skip))
    assert max((batch.num_rows for batch in batches), default=0) <= 7


def test_groups_before_the_first_wanted_row_are_not_touched(write):
    file = write(row_group_size=50, compression="snappy")
    stored = read_row_groups(footer_of(file))[0].columns[0]
    with open(file.name, "r+b") as damaged:  # noqa: PTH123 - its name is a text
        damaged.seek(stored.place)
        damaged.write(b"\xff" * stored.size)
    assert sum(batch.num_rows for batch in read(file, skip=50)) == 50
    with pytest.raises((OSError, ValueError)):
        read(file, skip=49)


def test_numbers_and_categories_are_as_safe_as_any_number_of_rows(write):
    file = write(ROWS)
    assert (
        parquet.safe_rows(file, read_row_groups(footer_of(file))[0], 0, {"n", "x"}, set(), 50) == 50
    )
    assert safe_rows(file, 50, whole=["t"]) == 50


def test_text_is_safe_where_all_rows_at_their_longest_fit(write, monkeypatch):
    file = write()
    assert safe_rows(file, 50) == 50
    monkeypatch.setattr("rhale.data.files.regular.MAX_TABLE_EXPANSION", 1)
    for module in ("regular", "parquet"):
        monkeypatch.setattr(f"rhale.data.files.{module}.HELD", 1_000)
    assert safe_rows(file, 50) == 3  # of 300 letters each, in 1,000 bytes


def test_the_longest_text_of_a_dictionary_is_measured(write):
    file = write()
    (group,) = read_row_groups(footer_of(file))
    assert parquet.longest_entry(file, group.columns[2], 0) == 300


def test_nested_text_could_be_of_any_length(write):
    file = write(pa.table({"l": [["a"], ["b"]]}))
    (group,) = read_row_groups(footer_of(file))
    assert parquet.longest_entry(file, group.columns[0], 0) == HELD


def test_only_types_that_refer_to_a_dictionary_are_dictionaries():
    assert parquet.is_dictionary(pa.dictionary(pa.int8(), pa.string()))
    assert not parquet.is_dictionary(pa.string())
