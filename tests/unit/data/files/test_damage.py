"""Damaged tables are refused in one line that names them, and never end the process."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data.files.table import open_files
from rhale.errors import BadTableError, excerpt

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
KINDS = ("r.arrow", "r.arrows", "r.feather")
N = 40
READ = """
import json, sys
import rhale
from rhale.data.files.table import open_files

for path in sys.argv[1:]:
    said = "read"
    try:
        table = open_files(path)
        chunks = list(table.chunks(16))
        for chunk in chunks:
            chunk.keys()
        seen = sum((chunk.facts() for chunk in chunks[1:]), chunks[0].facts())
        for chunk in chunks:
            table.with_column_types(seen).settle_chunk(chunk).rows
    except rhale.errors.BadTableError as error:
        said = str(error)
    print(json.dumps(said), flush=True)
"""


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def outcomes(paths):
    """Read files in another process: what happened to each of them."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", READ, *paths], capture_output=True, text=True, check=False
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (paths[len(said)], done.returncode, done.stderr[-2000:])
    return said


def table():
    words = [f"word {i % 7}" for i in range(N)]
    return pa.table(
        {
            "x": np.arange(N) * 0.5,
            "t": words,
            "c": pa.array(words).dictionary_encode(),
            "l": pa.array([[1, 2]] * N),
            "when": pa.array(range(N), pa.timestamp("s", "Europe/Zurich")),
        }
    )


def write(path, rows, n_rows=16, **options):
    if path.endswith("parquet"):
        pq.write_table(rows, path, **options)
        return path
    wanted = pa.ipc.IpcWriteOptions(**options)
    kind = pa.ipc.new_stream if path.endswith("arrows") else pa.ipc.new_file
    with pa.OSFile(path, "wb") as file, kind(file, rows.schema, options=wanted) as writer:
        writer.write_table(rows, max_chunksize=n_rows)
    return path


def change(path, old, new):
    """Write a file anew with some bytes replaced, where they stand first."""
    content = Path(path).read_bytes()
    assert old in content
    Path(path).write_bytes(content.replace(old, new, 1))


def words(*numbers, kind="<i4"):
    return np.array(numbers, dtype=kind).tobytes()


# --- Arrow ---------------------------------------------------------------------------------------


def test_offsets_and_numbers_of_categories_that_lead_beyond_their_bytes_are_refused():
    codes, paths = pa.array([0, 1, 0, 1, 1], pa.int32()), []
    for kind in KINDS:
        write(f"offset-{kind}", pa.table({"x": [1.0, 2.0, 3.0], "t": ["aa", "bbb", "c"]}))
        change(f"offset-{kind}", words(0, 2, 5, 6), words(0, 2, 2**30, 6))
        write(f"code-{kind}", pa.table({"c": pa.DictionaryArray.from_arrays(codes, ["u", "v"])}))
        change(f"code-{kind}", words(0, 1, 0, 1, 1), words(0, 1, 2**28, 1, 1))
        paths += [f"offset-{kind}", f"code-{kind}"]
    for path, said in zip(paths, outcomes(paths), strict=True):
        assert said.startswith(f"{path} cannot be read as ")
        assert "\n" not in said


@pytest.mark.parametrize("path", [*KINDS, "r.parquet"])
def test_text_that_is_no_text_is_refused(path):
    options = {"use_dictionary": False, "write_statistics": False} if "parquet" in path else {}
    write(path, pa.table({"t": ["abcdef", "ghi"]}), **options)
    change(path, b"abcdef", b"ab\xff\xfeef")
    with pytest.raises(BadTableError, match=rf"^{path} cannot be read as .*UTF8"):
        rhale.explain(len, path)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("lie", [2**40, 2**62])
def test_a_buffer_that_says_it_becomes_larger_than_any_memory_is_refused(path, codec, lie):
    write(path, pa.table({"x": np.zeros(9999)}), n_rows=9999, compression=codec)
    change(path, words(8 * 9999, kind="<i8"), words(lie, kind="<i8"))
    with pytest.raises(BadTableError, match=rf"{path} .* says that they become [\d,]{{17,}}; "):
        open_files(path)


def test_a_batch_beyond_its_bytes_is_refused_by_its_real_size_too(monkeypatch):
    monkeypatch.setattr("rhale.data.files.regular.HELD", 2**16)
    for name, n_rows in (("small.arrow", 2**13), ("large.arrow", 2**20)):
        write(name, pa.table({"x": np.zeros(n_rows)}), n_rows, compression="zstd")
    assert open_files("small.arrow").n_rows == 2**13
    with pytest.raises(BadTableError, match=r"large.arrow .* become 8,388,608; .*smaller parts"):
        open_files("large.arrow")


@pytest.mark.parametrize("path", KINDS)
def test_more_rows_than_bytes_can_hold_are_refused(path):
    write(path, pa.table({"x": pa.nulls(16), "y": pa.nulls(16)}))
    content = Path(path).read_bytes()
    Path(path).write_bytes(content.replace(words(16, kind="<i8"), words(2**60, kind="<i8")))
    with pytest.raises(BadTableError, match=r"says that it has 1,152,921,504,606,846,976 rows"):
        open_files(path)


@pytest.mark.parametrize("path", KINDS)
def test_rows_are_counted_without_reading_them(path, monkeypatch):
    write(path, table(), compression="zstd")
    monkeypatch.setattr("rhale.data.files.arrow.read_arrow_batches", None)
    assert open_files(path).n_rows == N


@pytest.mark.parametrize("path", KINDS)
def test_a_file_that_ends_too_early_is_refused(path):
    content = Path(write(path, table())).read_bytes()
    for cut in range(64, len(content) - 8, len(content) // 12):  # the last 8 only say: this is all
        Path(path).write_bytes(content[:cut])
        with pytest.raises(BadTableError, match=f"^{path} "):
            next(iter_chunks(path))


def test_text_in_views_is_text():
    """As polars writes it."""
    rows = pa.table({"x": [1.0, 2.0], "t": pa.array(["a", "b"]).cast(pa.string_view())})
    chunk = next(iter_chunks(write("r.arrow", rows)))
    assert chunk.frame.to_native().schema.field("t").type == pa.string()
    assert chunk.take(np.array([1])).distinct(1)[0] == ["b"]


def test_views_that_all_show_one_long_text_are_refused():
    """Other values that share their bytes are tried in tests/unit/execution/checkpoint."""
    views = np.array([[10**6, *np.frombuffer(b"aaaa", "<i4"), 0, 0]] * 3000, dtype="<i4")
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"a" * 10**6)]
    text = pa.Array.from_buffers(pa.string_view(), 3000, buffers)
    write("r.arrow", pa.table({"x": np.arange(3000.0), "t": text}), n_rows=3000)
    with pytest.raises(BadTableError, match=r"^r.arrow .* column 't' .* become 3,000,024,000;"):
        next(iter_chunks("r.arrow"))


def iter_chunks(path, size=10):
    opened = open_files(path)
    return iter(opened.chunks(size))


@pytest.mark.parametrize(
    "column",
    [
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), ["u", "v"]),
        lambda: pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([1, 2, 3])]),
    ],
)
def test_a_type_that_arrow_cannot_take_rows_of_is_named(column):
    write("r.arrow", pa.table({"x": [1.0, 2.0, 3.0], "odd": column()}))
    with pytest.raises(BadTableError, match=r"^r.arrow: column 'odd' holds .*without it"):
        open_files("r.arrow")


# --- Parquet -------------------------------------------------------------------------------------


def test_no_flipped_bit_of_a_footer_ends_the_process():
    """pyarrow ends it where it is asked about a column that contradicts itself."""
    options = {"data_page_version": "2.0", "column_encoding": {"t": "DELTA_BYTE_ARRAY"}}
    write("r.parquet", table().select(["x", "t"]), use_dictionary=False, **options)
    content = Path("r.parquet").read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    paths = []
    for place in range(start, len(content), 5):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        paths.append(f"{place}.parquet")
        Path(paths[-1]).write_bytes(damaged)
    for path, said in zip(paths, outcomes(paths), strict=True):
        assert said == "read" or (said.startswith(path) and "\n" not in said), said


def test_a_page_that_becomes_far_larger_than_its_bytes_is_refused(monkeypatch):
    rows = pa.table({"x": [1.0, 2.0], "t": ["a", "b" * 2**20]})
    write("r.parquet", rows, compression="zstd", use_dictionary=False)
    assert len(next(iter_chunks("r.parquet")).frame) == 2
    monkeypatch.setattr("rhale.data.files.regular.HELD", 2**16)
    with pytest.raises(BadTableError, match=r"r.parquet .* a page of column 't' has .* become"):
        next(iter_chunks("r.parquet"))
    assert len(next(iter_chunks_of("r.parquet", ["x"])).frame) == 2


def iter_chunks_of(path, names):
    opened = open_files(path).only(names)
    return iter(opened.chunks(10))


def test_a_long_text_that_many_rows_refer_to_is_refused_unless_it_stays_a_category(monkeypatch):
    """Some kilobytes become as many as the text is long times the rows."""
    long = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 500, pa.int32()), ["a", "b" * 2**14])
    rows = pa.table({"x": np.arange(1000.0), "t": long})
    write("kept.parquet", rows)
    write("plain.parquet", rows, store_schema=False)
    assert sum(len(c.frame) for c in iter_chunks("plain.parquet", 100)) == 1000
    for module in ("regular", "parquet"):
        monkeypatch.setattr(f"rhale.data.files.{module}.HELD", 2**20)
    with pytest.raises(BadTableError, match=r"plain.parquet .* rows of 8,\d+ bytes has"):
        list(iter_chunks("plain.parquet", 1000))
    assert sum(len(chunk.frame) for chunk in iter_chunks("kept.parquet", 100)) == 1000


def test_one_long_text_among_many_short_ones_is_read(monkeypatch):
    for module in ("regular", "parquet"):
        monkeypatch.setattr(f"rhale.data.files.{module}.HELD", 2**20)
    texts = ["b" * 2**14, *(["a", "c"] * 500)]
    write("r.parquet", pa.table({"x": np.arange(1001.0), "t": texts}))
    found = [chunk.frame["t"].to_list() for chunk in iter_chunks("r.parquet", 1000)]
    assert [text for chunk in found for text in chunk] == texts


def test_a_list_with_far_more_elements_than_bytes_is_refused(monkeypatch):
    monkeypatch.setattr("rhale.data.files.regular.HELD", 2**16)
    lists = pa.ListArray.from_arrays([0, 1, 2**20], pa.array(np.zeros(2**20)))
    write("r.parquet", pa.table({"x": [1.0, 2.0], "l": lists}))
    with pytest.raises(BadTableError, match=r"column 'l.list.element' .* become 8,388,608"):
        next(iter_chunks("r.parquet"))


def test_a_footer_that_contradicts_itself_about_rows_is_refused():
    write("r.parquet", pa.table({"x": np.arange(1000.0)}))
    change("r.parquet", b"\x16\xd0\x0f\x19", b"\x16\xd2\x0f\x19")  # 1001 instead of 1000
    with pytest.raises(BadTableError, match=r"has 1,001 rows, and 1,000 in its row groups"):
        open_files("r.parquet")


def test_a_file_with_other_rows_than_it_says_is_named(monkeypatch):
    write("r.parquet", pa.table({"x": np.arange(10.0)}))
    opened = open_files("r.parquet")
    monkeypatch.setattr(
        "rhale.data.files.parquet.read_parquet_batches",
        lambda *_: pa.table({"x": [1.0]}).to_batches(),
    )
    with pytest.raises(BadTableError, match=r"^r.parquet says that it has 10 rows, but has 1$"):
        list(opened.chunks(5))


# --- notes of pandas -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows"])
@pytest.mark.parametrize(
    "noted",
    [
        b"{",
        b"\xff\xfe",
        b"[1, 2]",
        b'"text"',
        b'{"index_columns": 7}',
        b'{"index_columns": "x"}',
        b'{"index_columns": [7]}',
        b'{"index_columns": null}',
        b"[" * 100_000,
        b'{"index_columns": ' + b"9" * 5000 + b"}",
    ],
)
def test_damaged_notes_of_pandas_name_the_file(ending, noted):
    rows = pa.table({"x": [1.0, 2.0]}).replace_schema_metadata({"pandas": noted})
    path = write(f"r.{ending}", rows)
    with pytest.raises(BadTableError, match=rf"^{path}: what pandas noted .* is damaged") as found:
        open_files(path)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 300


@pytest.mark.parametrize("noted", [b"{}", b'{"index_columns": []}', b"null"])
def test_notes_that_name_no_index_are_no_damage(noted):
    rows = pa.table({"x": [1.0, 2.0]}).replace_schema_metadata({"pandas": noted})
    assert open_files(write("r.parquet", rows)).names == ("x",)


def test_an_index_of_row_numbers_is_described_and_no_column():
    pd.DataFrame({"x": [1.0, 2.0]}, index=pd.RangeIndex(5, 9, 2)).to_parquet("r.parquet")
    assert open_files("r.parquet").names == ("x",)


# --- words ---------------------------------------------------------------------------------------


def test_an_open_quote_gives_one_short_line():
    Path("r.csv").write_text('a,b\n1,2\n"' + "secret,3\n" * 100_000, encoding="utf-8")
    with pytest.raises(BadTableError, match=r"^r.csv cannot be read as csv: ") as found:
        open_files("r.csv")
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 400


def test_signs_that_steer_a_terminal_do_not_come_through():
    Path("r.csv").write_bytes(b"a,b\n1,2\n\x1b[31mred\x07,\x00\n1,2,3\n")
    with pytest.raises(BadTableError, match=r"^r.csv cannot be read as csv") as found:
        open_files("r.csv")
    assert str(found.value).isprintable()


def test_an_excerpt_is_one_line_and_short():
    assert excerpt("  a\n\n b\t c\x00") == "a b c"
    assert len(excerpt("x" * 10**6)) < 310


def test_values_that_pandas_cannot_hold_name_the_file():
    """A category that stands there twice is no damage to Arrow."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 300, pa.int8()), ["u", "u"])
    write("r.arrow", pa.table({"x": np.arange(600.0), "c": twice}), n_rows=600)
    with pytest.raises(
        BadTableError, match=r"^r.arrow cannot be made into a table of pandas: .*un"
    ):
        rhale.explain(lambda rows: rows["x"].to_numpy(), "r.arrow", features=["x"])


@pytest.mark.parametrize("name", ["", "x" * 5000, "a\nb", "\x1b[31m", "ä.ö", "index"])
def test_names_of_any_kind_are_names(name):
    write("r.parquet", pa.table([np.arange(60.0), np.arange(60.0)], names=[name, "y"]))
    fx = rhale.explain(lambda rows: rows.iloc[:, 0].to_numpy(), "r.parquet")
    assert fx.features == (name, "y")


def test_a_name_that_is_no_text_names_the_file():
    write("r.arrow", pa.table({"abcdef": [1.0, 2.0]}))
    change("r.arrow", b"abcdef", b"ab\xff\xfeef")
    content = Path("r.arrow").read_bytes()
    Path("r.arrow").write_bytes(content.replace(b"abcdef", b"ab\xff\xfeef"))  # in the footer, too
    with pytest.raises(BadTableError, match=r"^r.arrow cannot be read as arrow: .*utf-8"):
        open_files("r.arrow")


def test_a_time_zone_that_is_no_text_names_the_file():
    write("r.arrow", table().select(["x", "when"]))
    content = Path("r.arrow").read_bytes()
    Path("r.arrow").write_bytes(content.replace(b"Europe/Zurich", b"Eu\xff\xfepe/Zurich"))
    with pytest.raises(BadTableError, match=r"^r.arrow cannot be read as arrow: .*utf-8"):
        open_files("r.arrow")


def test_repeated_names_are_listed_briefly():
    names = [f"c{i // 2}" for i in range(4000)]
    Path("r.csv").write_text(",".join(names) + "\n" + "1," * 3999 + "1\n", encoding="utf-8")
    with pytest.raises(BadTableError, match=r"repeated: \['c0', .* and 1990 more") as found:
        open_files("r.csv")
    assert len(str(found.value)) < 400
