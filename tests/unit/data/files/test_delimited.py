import gzip
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rhale.data.files import csv as delimited
from rhale.data.files.regular import RegularFile
from rhale.data.files.table import open_files
from rhale.errors import BadTableError

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
KINDS = {  # cells of each type that Arrow tells apart, and some that belong to several
    "nothing": ["", "NA", "null"],
    "whole": ["1", "0", "-7", " 12 ", "0x10", "99999999999999999999"],
    "truth": ["true", "False", "1", "0"],
    "date": ["2020-01-01", "1500-12-31"],
    "hour": ["12:30", "23:59:59"],
    "moment": ["2020-01-01 10:00:00", "2020-01-01T10:00:00.5", "1500-01-01 00:00:00"],
    "zoned": ["2020-01-01 10:00:00Z", "2020-01-01T10:00:00.25+02:00"],
    "number": ["0.5", "1e5", "-3", "inf", "7"],
    "text": ["one", 'say "a"', "a, b", "two\nlines", "é"],
}


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(delimited, "CSV_BLOCK_BYTES", 512)


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def write(columns):
    """Write columns of cells."""
    lines = [",".join(f"c{i}" for i in range(len(columns)))]
    lines += [",".join(quoted(cell) for cell in row) for row in zip(*columns, strict=True)]
    Path("r.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def found_by_arrow():
    """Types with all rows in one block."""
    options = csv.ReadOptions(block_size=2**26), csv.ParseOptions(newlines_in_values=True)
    as_null = csv.ConvertOptions(strings_can_be_null=True)
    return csv.read_csv("r.csv", *options, as_null).schema


COLUMN = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3, unique=True).flatmap(
    lambda kinds: st.tuples(
        *[
            st.lists(st.sampled_from(KINDS[kind]), min_size=n, max_size=n)
            for kind, n in zip(kinds, (84, 4, 2), strict=False)
        ]
    )
)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(COLUMN, min_size=1, max_size=4))
def test_types_of_columns_that_change_late_are_those_of_all_rows(columns):
    cells = [[cell for kind in column for cell in kind] for column in columns]
    write([(column * 40)[:40] for column in cells])
    with RegularFile("r.csv") as file:
        schema, n_rows = delimited.measure_delimited(file)
    assert schema == found_by_arrow()
    assert n_rows == 40


def count_readings(monkeypatch):
    opened, real = [], delimited._open_csv_reader

    def counted(file, options):
        opened.append(options)
        return real(file, options)

    monkeypatch.setattr(delimited, "_open_csv_reader", counted)
    return opened


@pytest.mark.parametrize("n_columns", [1, 20])
@pytest.mark.parametrize("late", ["text", "0.5", "2020-01-01"])
def test_however_many_columns_change_late_the_file_is_read_once_more(monkeypatch, late, n_columns):
    write([["1"] * 300 + [late]] * n_columns)
    opened = count_readings(monkeypatch)
    open_files("r.csv")
    assert len(opened) == 2


def test_a_file_whose_types_hold_is_read_once(monkeypatch):
    write([["1"] * 200, ["one"] * 200])
    opened = count_readings(monkeypatch)
    assert open_files("r.csv").n_rows == 200
    assert len(opened) == 1


def test_types_that_are_struck_out_are_not_tried_again(monkeypatch):
    """Each block is tried for the types that are left: few after the first."""
    write([["1"] * 400 + ["one"] + ["2"] * 400])
    tried, real = [], delimited._converts
    monkeypatch.setattr(
        delimited, "_converts", lambda written, kind: tried.append(str(kind)) or real(written, kind)
    )
    open_files("r.csv")
    assert tried.count("date32[day]") == 1
    last = len(tried) - 1 - tried[::-1].index("int64")
    assert set(tried[last + 1 :]) <= {"bool", "double", "string"}
    assert tried[-1] == "string"


def test_bytes_that_are_no_text_are_bytes():
    Path("r.csv").write_bytes(b"x,y\n" + b"1,a\n" * 200 + b"1,\xff\xfe\n")
    with RegularFile("r.csv") as file:
        schema, n_rows = delimited.measure_delimited(file)
    assert schema == pa.schema([("x", pa.int64()), ("y", pa.binary())])
    assert n_rows == 201


def test_a_row_that_is_too_long_is_said_to_be():
    Path("r.csv").write_text("x,y\n1," + "a" * 4000 + "\n", encoding="utf-8")
    with pytest.raises(BadTableError, match=r"r.csv .*: it has a row of more than 512 bytes, or a"):
        open_files("r.csv")
    Path("r.csv").write_text(",".join(f"c{i}" for i in range(400)) + "\n1\n", encoding="utf-8")
    with pytest.raises(BadTableError, match=r"no rows, or a first one of more than 512 bytes"):
        open_files("r.csv")


def test_guesses_are_tried_in_the_order_of_arrow():
    """Each is what Arrow finds for a cell that no guess before it can hold."""
    cells = ["", "7", "true", "2020-01-01", "12:30", "2020-01-01 10:00", "2020-01-01 10:00:00.5"]
    cells += ["2020-01-01 10:00Z", "2020-01-01 10:00:00.5Z", "0.5", "text"]
    known = list(delimited.guesses())
    places = []
    for cell in cells:
        write([[cell]])
        places.append(known.index(found_by_arrow().field(0).type))
    assert places == list(range(len(known) - 1))
    assert all(a < b for a, b in pairwise(places))


@pytest.mark.parametrize("name", ["wide.csv", "wide.tsv", "wide.csv.gz"])
def test_a_header_that_the_rows_cannot_fill_is_refused_before_arrow_reads_it(name, monkeypatch):
    """Arrow takes 8 kB for a column: half a megabyte of commas took two gigabytes."""
    monkeypatch.setattr(delimited, "CSV_BLOCK_BYTES", 2**21)
    sign = "\t" if ".tsv" in name else ","
    text = sign.join(f"c{i}" for i in range(100_000)) + "\n1\n"
    content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    Path(name).write_bytes(content)
    monkeypatch.setattr(delimited, "_open_csv_reader", lambda *_: pytest.fail("it was read"))
    with pytest.raises(BadTableError, match=rf"{name} cannot be read .* names 100,000 columns"):
        open_files(name)


def test_wide_rows_that_are_there_are_read(monkeypatch):
    monkeypatch.setattr(delimited, "CSV_BLOCK_BYTES", 2**21)
    names, row = ",".join(f"c{i}" for i in range(3000)), ",".join(["1.5"] * 3000)
    Path("wide.csv").write_text(f"{names}\n{row}\n{row}\n")
    assert len(open_files("wide.csv").names) == 3000
