import gc
import gzip
import os
import pickle
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data import pieces as ahead
from rhale.data.files import table as file_table
from rhale.data.files.table import least_size, names_files, open_files, read_all, read_some
from rhale.errors import BadTableError, MissingExtraError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = pd.DataFrame({"x": [1.5, 2.5, None], "n": [1, 2, 3], "name": ["a", None, "c"]})
OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, rows=ROWS):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
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


def numbered(n_rows, start=0):
    return pd.DataFrame({"n": np.arange(start, start + n_rows), "x": 0.5})


def chunks(table, size=2, first=0):
    return list(table.chunks(size, first))


def read(data, **settings):
    table = open_files(data)
    parts = [chunk.frame.to_native().to_pandas() for chunk in chunks(table, **settings)]
    return pd.concat(parts, ignore_index=True)


def lengths(table, **settings):
    return [chunk.n_rows for chunk in chunks(table, **settings)]


# --- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "r.csv",
        "r.csv.gz",
        "r.tsv",
        "r.parquet",
        "r.feather",
        "r.arrow",
        "stream.arrow",
    ],
)
def test_every_kind_gives_the_same_table(name):
    found = read(write(name))
    np.testing.assert_array_equal(found["x"], ROWS["x"])
    assert found["n"].tolist() == [1, 2, 3]
    assert found["name"].isna().tolist() == [False, True, False]
    assert open_files(name).n_rows == 3


def test_the_content_tells_the_kind_where_it_can():
    Path(write("r.parquet")).rename("rows.data")
    assert len(read("rows.data")) == 3


def test_many_files_are_one_table_in_the_order_of_their_names():
    write("b.csv", ROWS[2:])
    write("a.csv", ROWS[:2])
    assert read("*.csv")["n"].tolist() == [1, 2, 3]
    assert read(["b.csv", Path("a.csv")])["n"].tolist() == [3, 1, 2]


def test_a_folder_is_all_tables_below_it():
    for place, name in enumerate(
        ["1.parquet", "2/b.parquet", "2/a.csv", ".hidden.csv", "_old/c.csv"]
    ):
        write(f"rows/{name}", numbered(1, place))
    Path("rows/readme.txt").write_text("n,x\n7,7\n")
    assert read("rows")["n"].tolist() == [0, 2, 1]
    assert read("ro*")["n"].tolist() == [0, 2, 1]


def test_a_name_with_signs_of_a_pattern_is_a_name_first():
    write("rows[1].csv", numbered(2))
    assert len(read("rows[1].csv")) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("*.csv", "names no file"),
        ("empty", "no table in the folder empty"),
        ("hive", r"pyarrow.dataset.dataset\('hive', partitioning='hive'\)"),
        (["a.parquet", "*.parquet"], "a.parquet is named twice"),
    ],
)
def test_what_names_no_table_is_an_error(asked, message):
    Path("empty").mkdir()
    write("hive/year=2020/a.parquet")
    write("a.parquet")
    with pytest.raises(BadTableError, match=message):
        open_files(asked)


def test_only_paths_and_datasets_are_files():
    write("r.parquet")
    for data in ("r.parquet", Path("r.parquet"), ["r.parquet"], ds.dataset("r.parquet")):
        assert names_files(data)
    for data in ([], [1.0, 2.0], [[1, 2], [3, 4]], ["a", 1], ROWS, ROWS.to_numpy(), None):
        assert not names_files(data)


def test_files_that_are_open_are_files_and_are_not_opened_again():
    table = open_files(write("r.parquet"))
    assert names_files(table)
    assert open_files(table) is table


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(file_table, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"rhale\[files\]"):
        open_files("r.parquet")


# --- columns -------------------------------------------------------------------------------------


def test_row_names_of_pandas_are_no_column():
    write("r.parquet", ROWS.set_index(pd.Index(["k", "l", "m"], name="key")))
    assert open_files("r.parquet").names == ("x", "n", "name")


def test_the_model_sees_plain_types_whatever_pandas_noted_in_the_file():
    rows = numbered(60).astype({"n": "Int64"}).assign(k=pd.array([None, *range(59)], dtype="Int64"))
    write("r.parquet", rows)
    seen = set()

    def model(rows):
        seen.add(tuple(str(kind) for kind in rows.dtypes))
        return rows["n"].to_numpy() ** 2.0

    rhale.explain(model, "r.parquet", features=["n", "k"])
    assert seen == {("int64", "float64", "float64")}


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.arrow", "stream.arrow", "dataset"])
def test_only_the_wanted_columns_are_read(name):
    data = ds.dataset(write("r.parquet")) if name == "dataset" else write(name)
    table = open_files(data).only(["name", "x"])
    pieces = [
        b for part in table.source.parts for b in part.batches(pa.schema([("x", "double")]), 2)
    ]
    assert {tuple(batch.schema.names) for batch in pieces} == {("x",)}
    assert list(chunks(table)[0].frame.columns) == ["name", "x"]


def test_damage_in_a_column_that_is_not_wanted_is_not_even_seen():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=500), "bad": rng.normal(size=500), "w": 1.0})
    rows.to_parquet("r.parquet", compression="snappy", use_dictionary=False)
    damage("r.parquet", column=1)
    fx = rhale.explain(lambda r: r["x"].to_numpy(), "r.parquet", columns=["x"], weights="w")
    assert fx.features == ("x",)
    with pytest.raises(BadTableError, match=r"^r.parquet cannot be read as parquet"):
        rhale.explain(lambda r: r["x"].to_numpy(), "r.parquet")


def test_a_flipped_bit_is_seen_where_the_file_has_checksums():
    rows = pa.table({"x": np.random.default_rng(0).normal(size=500)})
    pq.write_table(
        rows, "r.parquet", compression=None, use_dictionary=False, write_page_checksum=True
    )
    content = bytearray(Path("r.parquet").read_bytes())
    content[2000] ^= 1  # another number, and no sign of it but the checksum
    Path("r.parquet").write_bytes(content)
    with pytest.raises(BadTableError, match=r"^r.parquet cannot be read as parquet: .*CRC"):
        rhale.explain(lambda r: r["x"].to_numpy(), "r.parquet")


def damage(path, column, row_group=0):
    """Overwrite the bytes of one column."""
    place = pq.ParquetFile(path).metadata.row_group(row_group).column(column)
    with Path(path).open("r+b") as file:
        file.seek(place.data_page_offset)
        file.write(b"\xff" * place.total_compressed_size)


def test_numbers_of_any_width_are_one_column():
    write("a.parquet", pd.DataFrame({"x": np.array([1, 2], dtype="int32")}))
    write("b.parquet", pd.DataFrame({"x": np.array([3], dtype="int64")}))
    write("c.parquet", pd.DataFrame({"x": [0.5]}))
    assert read("*.parquet")["x"].tolist() == [1, 2, 3, 0.5]
    assert read(["a.parquet", "b.parquet"])["x"].dtype == "int64"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_against_numbers_is_an_error_that_names_file_and_column(ending):
    write(f"a.{ending}", pd.DataFrame({"x": [1.0]}))
    write(f"b.{ending}", pd.DataFrame({"x": ["one"]}))
    with pytest.raises(BadTableError, match=rf"b.{ending}: column 'x' holds .*string, and double"):
        open_files(f"*.{ending}")


def test_files_with_different_columns_are_named_with_the_difference():
    write("a.csv")
    write("b.csv", ROWS.rename(columns={"x": "y"}))
    with pytest.raises(BadTableError, match=r"b.csv and a.csv have different columns: x, y"):
        open_files("*.csv")


def test_columns_may_stand_in_another_order():
    write("a.csv")
    write("b.csv", ROWS[["name", "n", "x"]])
    assert read("*.csv", size=10)["n"].tolist() == [1, 2, 3, 1, 2, 3]


# --- types of CSV --------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("rhale.data.files.csv.CSV_BLOCK_BYTES", 64)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("usual", "last"),
    [
        ("1", "1.5"),
        ("1", "one"),
        ("1", "true"),
        ("7", "true"),
        ("7", "2020-01-01"),
        ("", "3"),
        ("", "text"),
        ("2020-01-01", "2020-01-01 10:00:00"),
        ("2020-01-01 10:00:00", "2020-01-01 10:00:00.5"),
        ("2020-01-01", "17"),
        ("12:30", "noon"),
        ("true", "0.5"),
        ("0.5", "NaN"),
    ],
)
def test_types_of_csv_are_those_of_all_rows(usual, last):
    """What pyarrow finds with the whole file in one block."""
    Path("r.csv").write_text("k,x\n" + f"1,{usual}\n" * 200 + f"2,{last}\n", encoding="utf-8")
    from pyarrow import csv

    whole = csv.read_csv("r.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True))
    table = open_files("r.csv")
    assert table.source.schema == whole.schema
    found = [chunk.frame.to_native() for chunk in chunks(table, size=64)]
    assert pa.concat_tables(found).equals(whole)
    assert table.n_rows == 201


@pytest.mark.usefixtures("small_blocks")
def test_text_of_csv_may_have_several_lines():
    rows = pd.DataFrame({"n": range(50), "t": ["first line\nsecond, line"] * 50})
    assert read(write("r.csv", rows))["t"].tolist() == rows["t"].tolist()


@pytest.mark.usefixtures("small_blocks")
def test_a_ragged_row_is_named():
    Path("r.csv").write_text("a,b\n" + "1,2\n" * 100 + "1,2,3\n", encoding="utf-8")
    with pytest.raises(BadTableError, match=r"^r.csv cannot be read as csv: .*Row #102: .*1,2,3"):
        open_files("r.csv")


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_a_column_without_any_value_is_one_of_numbers(name):
    write(name, numbered(3).assign(e=None))
    assert read(name)["e"].isna().all()
    with pytest.raises(BadTableError, match="'e' has no value in any of 3 rows; leave it out"):
        rhale.explain(len, name)


def test_a_header_alone_contributes_nothing():
    Path("a.csv").write_text("n,x\n", encoding="utf-8")
    write("b.csv", numbered(2))
    assert read("*.csv")["n"].tolist() == [0, 1]
    with pytest.raises(BadTableError, match="no rows"):
        rhale.explain(len, "a.csv")


# --- what is wrong with files --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.xlsx", b"PK", "r.xlsx is not a table .* it reads Parquet"),
        ("r.parquet", b"nothing", "r.parquet .* its content is none"),
        ("r.parquet", b"PAR1 and then nothing", "r.parquet cannot be read as parquet"),
        ("r.arrow", b"ARROW1 and then nothing", "r.arrow cannot be read as arrow"),
        ("r.feather", b"FEA1 and more", "r.feather is Feather of version 1, .* write it anew"),
        ("r.csv", b"", "r.csv is empty: 0 bytes"),
        ("r.parquet", b"", "r.parquet is empty: 0 bytes"),
        ("r.csv.gz", b"no gzip", "r.csv.gz cannot be read as csv"),
        ("r.csv", b"a,a\n1,2\n", r"r.csv: column names must differ; repeated: \['a'\]"),
    ],
)
def test_a_file_that_is_no_table_is_an_error(name, content, message):
    Path(name).write_bytes(content)
    with pytest.raises(BadTableError, match=message):
        open_files(name)


def test_a_page_that_is_damaged_in_the_middle_names_the_file():
    write("a.parquet", numbered(4))
    numbered(4).to_parquet("b.parquet", row_group_size=2, compression="snappy")
    damage("b.parquet", column=0, row_group=1)
    table = open_files("*.parquet")
    found = table.chunks(2)
    assert [next(found).n_rows for _ in range(3)] == [2, 2, 2]
    with pytest.raises(BadTableError, match=r"b.parquet cannot be read as parquet"):
        next(found)


def test_an_infinite_value_names_the_file_and_the_row_in_it():
    write("a.parquet", numbered(400))
    write("b.parquet", numbered(400).assign(x=[1.0] * 399 + [np.inf]))
    with pytest.raises(BadTableError, match=r"^b.parquet: .* \(first in row 399: inf\)"):
        rhale.explain(len, "*.parquet", batch_size=300)


def test_small_files_that_are_read_together_are_named_together():
    write("a.parquet", numbered(4))
    write("b.parquet", numbered(4).assign(x=[1.0] * 3 + [np.inf]))
    where = r"^a.parquet to b.parquet \(2 files, rows counted through\): .* row 7: inf"
    with pytest.raises(BadTableError, match=where):
        rhale.explain(len, "*.parquet")


@pytest.mark.parametrize("as_dataset", [False, True])
@pytest.mark.parametrize("what", ["vanish", "change", "touch"])
def test_a_file_that_changes_between_two_readings_is_an_error(what, as_dataset):
    write("r.parquet", numbered(5))
    table = open_files(ds.dataset("r.parquet") if as_dataset else "r.parquet")
    assert lengths(table) == [2, 2, 1]
    if what == "vanish":
        Path("r.parquet").unlink()
    elif what == "change":
        Path("r.parquet").write_bytes(b"something else")
    else:
        os.utime("r.parquet", ns=(0, 0))
    message = "No such file" if what == "vanish" and not as_dataset else "changed while"
    with pytest.raises(BadTableError, match=f"r.parquet .*{message}"):
        chunks(table)


def test_a_file_that_changes_while_it_is_read_is_an_error():
    table = open_files(write("r.csv", numbered(5)))
    found = table.chunks(2)
    next(found)
    os.utime("r.csv", ns=(0, 0))
    with pytest.raises(BadTableError, match=r"r.csv changed while"):
        list(found)


def test_a_file_that_may_not_be_read_is_named(monkeypatch):
    write("r.parquet")

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied", "r.parquet")

    monkeypatch.setattr("os.open", refused)
    with pytest.raises(BadTableError, match=r"r.parquet cannot be read .*: Permission denied"):
        open_files("r.parquet")


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (lambda: ds.dataset("r.parquet").filter(ds.field("n") > 1), "the dataset is filtered"),
        (lambda: ds.dataset(pa.table({"x": [1]})), "in memory; pass dataset.to_table"),
        (lambda: ds.dataset("empty", format="parquet"), "no files"),
    ],
)
def test_a_dataset_that_is_not_files_is_an_error(dataset, message):
    write("r.parquet")
    Path("empty").mkdir()
    with pytest.raises(BadTableError, match=message):
        open_files(dataset())


# --- chunks --------------------------------------------------------------------------------------


def write_parts(*sizes):
    for place, start in enumerate(np.cumsum((0, *sizes[:-1]))):
        write(f"{place}.parquet", numbered(sizes[place], start))
    return open_files("*.parquet")


def test_large_files_are_cut_and_small_ones_are_read_together():
    table = write_parts(7, 1, 0, 1, 3, 2)
    assert lengths(table, size=3) == [3, 3, 1, 2, 3, 2]
    assert table.n_rows == 14
    assert table.source.part_rows == (7, 1, 0, 1, 3, 2)


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.arrow", "stream.arrow"])
def test_every_number_of_known_chunks_leaves_the_others_as_they_were(name):
    rows = numbered(23)
    rows.to_parquet(name, row_group_size=5) if name == "r.parquet" else write(name, rows)
    write_parts(2, 1)
    table = open_files([name, "0.parquet", "1.parquet"])
    everything = [chunk.column(0).tolist() for chunk in chunks(table, size=4)]
    for first in range(len(everything) + 2):
        found = chunks(table, size=4, first=first)
        assert [chunk.column(0).tolist() for chunk in found] == everything[first:]


def test_known_chunks_are_not_read():
    write_parts(4, 4)
    numbered(8).to_parquet("2.parquet", row_group_size=2)
    damage("0.parquet", column=0)
    damage("2.parquet", column=0, row_group=1)
    table = open_files("*.parquet")
    found = chunks(table, first=6)
    assert [chunk.row_numbers.tolist() for chunk in found] == [[4, 5], [6, 7]]


def test_chunks_without_any_weight_do_not_come_and_are_not_counted():
    rows = numbered(12).assign(w=[1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0])
    table = open_files(write("r.parquet", rows)).weigh_by("w")
    everything = [chunk.column(0).tolist() for chunk in chunks(table)]
    assert everything == [[0, 1], [6], [8, 9]]
    for first in range(4):
        found = [chunk.column(0).tolist() for chunk in chunks(table, first=first)]
        assert found == everything[first:]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_drawn_rows_are_those_at_their_places_in_all_files(size):
    table = write_parts(5, 4, 0, 1, 30)
    places = np.array([0, 4, 9, 12, 20, 39])
    table = table.take(places, table.source.part_rows)
    everything = [chunk.column(0).tolist() for chunk in chunks(table, size=size)]
    assert [n for numbers in everything for n in numbers] == places.tolist()
    for first in range(len(everything) + 1):
        found = chunks(table, size=size, first=first)
        assert [chunk.column(0).tolist() for chunk in found] == everything[first:]


def test_files_without_a_drawn_row_are_not_read():
    write_parts(5, 5, 5)
    damage("1.parquet", column=0)
    table = open_files("*.parquet").take(np.array([1, 12]), (5, 5, 5))
    assert [chunk.column(0).tolist() for chunk in chunks(table)] == [[1, 12]]


@pytest.mark.parametrize("as_dataset", [False, True])
def test_files_travel(as_dataset):
    write_parts(3, 3)
    table = open_files(ds.dataset(".", format="parquet") if as_dataset else "*.parquet")
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own
    assert lengths(again) == lengths(table) == [2, 1, 2, 1]


def test_the_identity_of_files_is_plain_and_follows_their_content():
    found = write_parts(3, 3).source.identity
    assert [entry[0] for entry in found] == ["0.parquet", "1.parquet"]
    assert found[0][1] == Path("0.parquet").stat().st_size
    os.utime("1.parquet", ns=(0, 0))  # a copy of the same content
    assert open_files("*.parquet").source.identity == found
    content = pq.read_table("1.parquet")
    pq.write_table(content.set_column(0, "n", pa.array([7, 8, 9])), "1.parquet")
    other = open_files("*.parquet").source.identity
    assert other[0] == found[0]
    assert other[1] != found[1]


def test_the_identity_of_a_text_file_is_its_size_and_time():
    Path("a.csv").write_text("n\n1\n2\n")
    os.utime("a.csv", ns=(5, 5))
    assert open_files("a.csv").source.identity == [["a.csv", 6, 5]]


def test_progress_counts_both_readings():
    write_parts(300, 300, 300)
    told = []
    rhale.explain(
        lambda rows: rows["n"].to_numpy() ** 2,
        "*.parquet",
        batch_size=300,
        progress=lambda done, of: told.append((done, of)),
    )
    once = np.cumsum([256, 44] * 3)  # at least 256 rows in a step, and no file is cut in two
    assert told == [(done, 1800) for done in [*once, *(900 + once)]]


def open_here():
    """Names of the files of this folder that this process has open, where the system tells."""
    found = set()
    for link in OPEN_FILES.iterdir() if OPEN_FILES.exists() else ():
        with suppress(OSError):  # closed meanwhile
            found.add(link.readlink())
    return {path.name for path in found if path.parent == Path.cwd()}


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="open files are listed in /proc")
def test_an_open_file_would_be_seen():
    write_parts(300, 300)
    with Path("1.parquet").open("rb"):
        assert open_here() == {"1.parquet"}
    assert open_here() == set()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
def test_a_run_that_is_stopped_leaves_no_thread_and_no_open_file(stop, monkeypatch):
    write_parts(*[300] * 8)  # more than are read ahead: one is open when it stops
    started = []

    class Noted(threading.Thread):
        def start(self):
            started.append(self)
            super().start()

    monkeypatch.setattr(ahead, "Thread", Noted)

    def model(rows):
        if len(rows) == 300:
            raise stop
        return rows["n"].to_numpy() ** 2

    with pytest.raises((stop, rhale.errors.ModelFailedError)):
        rhale.explain(model, "*.parquet", batch_size=300)
    gc.collect()  # what is left of the error
    assert started
    assert not any(thread.is_alive() for thread in started)
    assert open_here() == set()


def test_few_rows_are_drawn_from_all_files_into_memory():
    table = write_parts(300, 0, 500)
    found = read_some(table, 50, {"columns": ["n"], "seed": 3})
    assert list(found.columns) == ["n"]
    wanted = np.sort(np.random.default_rng(3).choice(800, 50, replace=False))
    assert found["n"].tolist() == wanted.tolist()


def test_all_rows_of_all_files_come_as_pandas_reads_them():
    ROWS.to_parquet("a.parquet")
    ROWS[::-1].to_parquet("b.parquet")
    found = read_all(open_files(["a.parquet", "b.parquet"]))
    wanted = pd.concat([ROWS, ROWS[::-1]], ignore_index=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert [found[name].dtype.kind for name in "xn"] == ["f", "i"]
    assert list(read_all(open_files("a.parquet").only(["n", "x"])).columns) == ["n", "x"]


@pytest.mark.parametrize("many", [70_000, 200_000])
def test_many_rows_are_one_table_too(many):
    rows = pd.DataFrame({"x": np.arange(many, dtype=np.float64)})
    rows.to_csv("a.csv", index=False)
    assert read_all(open_files("a.csv"))["x"].tolist() == rows["x"].tolist()


def test_the_least_size_of_rows_is_known_before_they_are_read():
    columns = {
        "x": pa.array([1.5, 2.5, 3.5]),
        "small": pa.array([1, 2, 3], pa.int16()),
        "truth": pa.array([True, False, None]),
        "text": pa.array(["a", "b" * 100, None]),
    }
    pq.write_table(pa.table(columns), "a.parquet")
    table = open_files("a.parquet")
    assert least_size(table) == 3 * (8 + 2 + 1 + 8)
    assert least_size(table.only(["small"])) == 3 * 2
