"""Datasets of pyarrow: their fragments are read like files."""

import os

import pytest

from rhale.data.files.table import is_dataset, open_dataset, stamp_of_fragment
from rhale.errors import BadTableError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = pa.table({"n": list(range(30)), "year": [2020] * 10 + [2021] * 20})


@pytest.fixture
def folder(tmp_path):
    """One file a year, whose folder says the year."""
    parts = ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive")
    ds.write_dataset(ROWS, tmp_path / "rows", format="parquet", partitioning=parts)
    return tmp_path / "rows"


@pytest.fixture
def fragments(folder):
    found = open_dataset(ds.dataset(folder, partitioning="hive"))
    return sorted(found, key=lambda fragment: fragment.path)


def test_only_datasets_of_pyarrow_are_datasets(folder):
    assert is_dataset(ds.dataset(folder))
    assert is_dataset(ds.dataset([ds.dataset(folder)]))
    assert not any(is_dataset(other) for other in (ROWS, str(folder), folder, None))


def test_every_file_is_a_fragment_with_its_rows_counted(fragments):
    assert [fragment.n_rows for fragment in fragments] == [10, 20]
    assert {tuple(fragment.schema.names) for fragment in fragments} == {("n", "year")}


@pytest.mark.parametrize("skip", [0, 3, 20])
def test_the_name_of_a_folder_becomes_a_column(fragments, skip):
    schema = pa.schema([("year", pa.int32()), ("n", pa.int64())])
    batches = list(fragments[1].batches(schema, 8, skip))
    assert [n for b in batches for n in b.column("n").to_pylist()] == list(range(10 + skip, 30))
    assert {y for b in batches for y in b.column("year").to_pylist()} <= {2021}
    assert max((batch.num_rows for batch in batches), default=0) <= 8


def test_only_the_wanted_columns_are_read(fragments):
    batches = fragments[0].batches(pa.schema([("n", pa.int64())]), 100)
    assert {tuple(batch.schema.names) for batch in batches} == {("n",)}


def test_a_fragment_is_known_by_its_size_and_its_time(fragments):
    first = fragments[0]
    told = os.stat(first.path)  # noqa: PTH116 - a text, as the file system of Arrow has it
    assert first.stamp == stamp_of_fragment(first.fragment) == (told.st_size, told.st_mtime_ns)
    assert first.identity == [first.path, told.st_size, told.st_mtime_ns]


def test_a_fragment_that_changed_is_refused_before_it_is_read(fragments):
    os.utime(fragments[0].path, ns=(0, 0))
    with pytest.raises(BadTableError, match="changed while it was being explained"):
        next(fragments[0].batches(pa.schema([("n", pa.int64())]), 100))


def test_a_fragment_that_changes_while_it_is_read_is_refused_at_its_end(fragments):
    batches = fragments[0].batches(pa.schema([("n", pa.int64())]), 100)
    assert next(batches).num_rows == 10
    os.utime(fragments[0].path, ns=(0, 0))
    with pytest.raises(BadTableError, match="changed while it was being explained"):
        next(batches)


def test_what_is_no_regular_file_is_named(fragments):
    path = fragments[0].path
    os.remove(path)  # noqa: PTH107
    os.mkdir(path)  # noqa: PTH102
    with pytest.raises(BadTableError, match="is not a regular file; leave it out of the dataset"):
        stamp_of_fragment(fragments[0].fragment)


def test_row_names_of_pandas_are_no_columns(tmp_path):
    frame = ROWS.to_pandas().set_index("n")
    frame.to_parquet(tmp_path / "r.parquet")
    (found,) = open_dataset(ds.dataset(tmp_path / "r.parquet"))
    assert found.schema.names == ["year"]
