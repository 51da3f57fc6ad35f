import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rhale.errors import BadTableError
from rhale.tables.files import read_files

pa = pytest.importorskip("pyarrow")
ROWS = pd.DataFrame({"x": [1.5, 2.5, None], "n": [1, 2, 3], "name": ["a", None, "c"]})


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, rows=ROWS):
    if name.endswith(".gz"):
        with gzip.open(name, "wt") as file:
            rows.to_csv(file, index=False)
    elif name.endswith("sv"):
        rows.to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")
    elif name.endswith("parquet"):
        rows.to_parquet(name)
    elif name == "stream.arrow":
        table = pa.Table.from_pandas(rows)
        with pa.OSFile(name, "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    else:
        rows.to_feather(name)
    return name


@pytest.mark.parametrize(
    "name",
    ["r.csv", "r.csv.gz", "r.tsv", "r.parquet", "r.feather", "r.arrow", "stream.arrow"],
)
def test_every_kind_gives_the_same_table(name):
    found = read_files(write(name))
    np.testing.assert_array_equal(found["x"], ROWS["x"])
    assert found["n"].tolist() == [1, 2, 3]
    assert found["name"].isna().tolist() == [False, True, False]


def test_the_content_tells_the_kind_where_it_can():
    Path(write("r.parquet")).rename("rows.data")
    assert len(read_files("rows.data")) == 3


def test_many_files_are_one_table_in_the_order_of_their_names():
    write("b.csv", ROWS[2:])
    write("a.csv", ROWS[:2])
    assert read_files("*.csv")["n"].tolist() == [1, 2, 3]
    assert read_files(["b.csv", "a.csv"])["n"].tolist() == [3, 1, 2]


def test_whole_numbers_in_one_file_and_others_in_the_next_are_numbers():
    write("a.csv", pd.DataFrame({"x": [1, 2]}))
    write("b.csv", pd.DataFrame({"x": [0.5]}))
    assert read_files("*.csv")["x"].tolist() == [1, 2, 0.5]


def test_a_column_is_left_out():
    assert list(read_files(write("r.csv"), without="n").columns) == ["x", "name"]
    with pytest.raises(BadTableError, match="no column 'm' to leave out"):
        read_files("r.csv", without="m")


def test_files_with_different_columns_are_named_with_the_difference():
    write("a.csv")
    write("b.csv", ROWS.rename(columns={"x": "y"}))
    with pytest.raises(BadTableError, match=r"b.csv and a.csv have different columns: x, y"):
        read_files("*.csv")


def test_columns_of_different_types_are_an_error():
    write("a.parquet", pd.DataFrame({"x": [1.0]}))
    write("b.parquet", pd.DataFrame({"x": ["one"]}))
    with pytest.raises(BadTableError, match="different types"):
        read_files("*.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.xlsx", b"PK", "it reads Parquet"),
        ("r.parquet", b"nothing", "its content is none"),
        ("r.parquet", b"PAR1 and then nothing", "cannot be read as parquet"),
        ("r.csv", b"", "cannot be read as csv"),
        ("r.csv", b"a,b\n1,2\n1,2,3\n", "cannot be read as csv"),
    ],
)
def test_a_file_that_is_no_table_is_an_error(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadTableError, match=message):
        read_files(name)


def test_no_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(BadTableError, match="names no file"):
        read_files("*.csv")
    with pytest.raises(BadTableError, match="is a folder"):
        read_files(str(tmp_path))
