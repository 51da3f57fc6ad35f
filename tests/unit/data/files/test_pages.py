"""What a Parquet file says of itself, judged by pyarrow, which wrote it."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.data.files.parquet import (
    BYTE_ARRAY_TYPE,
    UNPACKED,
    footer_of,
    read_page,
    read_pages,
    read_row_groups,
    read_structure,
)
from rhale.data.files.regular import RegularFile

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = pa.table(
    {
        "x": np.random.default_rng(0).normal(size=500),
        "t": [f"word {i % 7}" for i in range(500)],
        "l": [[1, 2, 3]] * 500,
    }
)


@pytest.fixture(params=["1.0", "2.0"])
def file(request, tmp_path):
    """Rows in three groups, one column of which is not packed."""
    path = str(tmp_path / "r.parquet")
    packed = {"x": "none", "t": "zstd", "l.list.element": "snappy"}
    pq.write_table(
        ROWS,
        path,
        row_group_size=200,
        compression=packed,
        use_dictionary=["t"],
        data_page_version=request.param,
        data_page_size=256,
        write_batch_size=16,
    )
    with RegularFile(path) as opened:
        yield opened


def judged(file):
    """The same facts, from pyarrow: columns as they are stored, group by group."""
    told = pq.ParquetFile(file.native()).metadata
    groups = [told.row_group(g) for g in range(told.num_row_groups)]
    return [(group.num_rows, [group.column(c) for c in range(3)]) for group in groups]


def test_the_footer_is_what_stands_before_its_length_and_four_letters(file):
    content = file.read_at(0, file.size)
    n_bytes = int.from_bytes(content[-8:-4], "little")
    assert content[-4:] == b"PAR1"
    assert footer_of(file) == content[-8 - n_bytes : -8]


def test_groups_and_columns_are_those_of_pyarrow(file):
    groups = read_row_groups(footer_of(file))
    assert [group.n_rows for group in groups] == [200, 200, 100]
    for group, (_, columns) in zip(groups, judged(file), strict=True):
        for found, told in zip(group.columns, columns, strict=True):
            assert b".".join(found.path).decode() == told.path_in_schema
            assert found.size == told.total_compressed_size
            assert found.place == (told.dictionary_page_offset or told.data_page_offset)
            assert (found.kind == BYTE_ARRAY_TYPE) == (told.physical_type == "BYTE_ARRAY")
            assert (found.codec == UNPACKED) == (told.compression == "UNCOMPRESSED")


def test_the_pages_of_a_column_follow_each_other_to_its_end(file):
    for group, (_, columns) in zip(read_row_groups(footer_of(file)), judged(file), strict=True):
        for stored, told in zip(group.columns, columns, strict=True):
            pages = list(read_pages(file, stored))
            data = [page for page in pages if not page.is_dictionary]
            assert pages[-1].end == stored.place + stored.size
            assert sum(page.n_values for page in data) == told.num_values
            assert pages[0].is_dictionary == told.has_dictionary_page
            assert len(data) > 1 or told.path_in_schema == "t"


def test_pages_that_are_not_packed_have_one_size(file):
    numbers = read_row_groups(footer_of(file))[0].columns[0]
    pages = list(read_pages(file, numbers))
    assert all(page.expanded == page.size for page in pages)
    assert sum(page.size for page in pages) >= 8 * 200


def test_bytes_that_are_no_page_are_none(file):
    assert read_page(file, file.size - 4) is None
    assert read_page(file, file.size) is None


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_footer_that_is_cut_off_is_refused(file, share):
    footer = footer_of(file)
    with pytest.raises(ValueError, match=r"ends too early|it has"):
        read_row_groups(footer[: int(share * len(footer))])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content):
    with suppress(IndexError, ValueError):  # and nothing else is raised
        assert read_structure(content)[1] <= len(content)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\x16\xff", IndexError),  # a number that goes on
        (b"\x19\xf6" + b"\xff" * 8 + b"\x0f", IndexError),  # a list longer than its bytes
        (b"\x16" + b"\xff" * 10 + b"\x00", ValueError),  # a number of more than 64 bits
        (b"\x1c" * 99, ValueError),  # structures in structures
        (b"\x19" * 9999, ValueError),  # lists in lists
        (b"\x1d\x00", ValueError),  # a type that there is not
    ],
)
def test_what_no_writer_writes_is_refused(content, error):
    with pytest.raises(error):
        read_structure(content)
