"""One file of a table: what it is, its columns, how many rows, and these in batches."""

from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rhale.data.files.table import (
    footer_digest,
    index_of_pandas,
    is_named_as_table,
    is_table,
    open_file,
    without_index,
)
from rhale.errors import BadTableError

pa = pytest.importorskip("pyarrow")
ROWS = pd.DataFrame({"n": np.arange(20), "t": ["a", "b"] * 10})
WRITERS = {
    "r.parquet": lambda rows, path: rows.to_parquet(path),
    "r.csv": lambda rows, path: rows.to_csv(path, index=False),
    "r.arrow": lambda rows, path: rows.to_feather(path),
}


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, rows=ROWS):
    WRITERS[name](rows, name)
    return name


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_says_its_kind_its_columns_and_its_rows(name):
    found = open_file(write(name))
    assert found.kind == name.partition(".")[2]
    assert (found.schema.names, found.n_rows) == (["n", "t"], 20)
    assert found.stamp == (Path(name).stat().st_size, Path(name).stat().st_mtime_ns)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("skip", [0, 7, 20])
def test_batches_hold_all_rows_but_those_at_the_start(name, skip):
    found = open_file(write(name))
    batches = list(found.batches(found.schema, 6, skip))
    assert [n for batch in batches for n in batch.column("n").to_pylist()] == list(range(skip, 20))


def test_the_content_counts_more_than_the_name():
    Path(write("r.parquet")).rename("r.csv")
    assert open_file("r.csv").kind == "parquet"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", b"", "r.csv is empty"),
        ("r.arrow", b"text", "named as a table, but its content is none"),
        ("r.txt", b"text", r"not a table that rhale reads; it reads Parquet"),
        ("r.feather", b"FEA1....", "Feather of version 1"),
    ],
)
def test_what_is_no_table_is_refused_by_name(name, content, message):
    Path(name).write_bytes(content)
    with pytest.raises(BadTableError, match=message):
        open_file(name)


def test_a_table_is_named_so_or_begins_like_one():
    Path(write("r.parquet")).rename("rows.data")
    Path("notes.txt").write_text("a,b\n1,2\n")
    assert is_named_as_table("ROWS.CSV.GZ")
    assert not is_named_as_table("rows.data")
    assert is_table("rows.data")
    assert not is_table("notes.txt")


def test_the_identity_of_parquet_is_its_footer_and_of_others_their_time():
    content = Path(write("r.parquet")).read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    digest = blake2b(footer, digest_size=16).hexdigest()
    assert footer_digest("r.parquet") == digest
    assert open_file("r.parquet").identity == ["r.parquet", len(content), digest]
    size, changed = Path(write("r.csv")).stat().st_size, Path("r.csv").stat().st_mtime_ns
    assert open_file("r.csv").identity == ["r.csv", size, changed]


def test_a_file_that_changed_is_refused_before_it_is_read():
    found = open_file(write("r.csv"))
    write("r.csv", ROWS[:3])
    with pytest.raises(BadTableError, match=r"r.csv changed while it was being explained"):
        next(found.batches(found.schema, 6))


def test_row_names_of_pandas_are_no_columns_and_its_notes_are_gone():
    rows = ROWS.set_index(pd.Index([f"row {n}" for n in range(20)], name="key"))
    schema = pa.Table.from_pandas(rows).schema
    assert index_of_pandas(schema, "r") == {"key"}
    found = without_index(schema, "r")
    assert (found.names, found.metadata) == (["n", "t"], None)


def test_repeated_columns_are_named():
    Path("r.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(BadTableError, match=r"r.csv: column names must differ; repeated: \['a'\]"):
        open_file("r.csv")
