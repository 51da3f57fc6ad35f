"""Tables are written here by hand, after the rules of FlatBuffers."""

from struct import pack

import numpy as np
import pytest

from rhale.system.flatbuffers import BYTE, LONG, WORD, FlatTable

# root -> 4; list of offsets at 4 (three fields), table at 14, then what its fields lead to
LIST = pack("<HHHHH", 10, 16, 4, 8, 12)
TABLE = pack("<iiII", 10, -7, 8, 18)
NUMBERS = pack("<Ihh", 2, 5, -6)
INNER = pack("<HHH", 6, 8, 4) + pack("<ib", 6, 9)
CONTENT = pack("<I", 14) + LIST + TABLE + NUMBERS + INNER


def root():
    return FlatTable.root(CONTENT)


def test_fields_are_numbers_lists_and_tables():
    assert root().number(0, WORD) == -7
    assert root().array(1, np.dtype("<i2")).tolist() == [5, -6]
    assert root().text(1)[:2] == pack("<h", 5)
    assert root().table(2).number(0, BYTE) == 9


def test_a_field_that_is_absent_is_nothing():
    assert (root().number(9, LONG), root().number(9, LONG, absent=-1)) == (0, -1)
    assert root().table(9) is None
    assert root().tables(9) == []
    assert root().array(9, np.dtype("<i2")).size == 0
    assert root().text(9) == b""


def test_a_list_of_tables_leads_to_each_of_them():
    offsets = pack("<III", 2, 8, 12)  # from the place of each offset
    content = pack("<I", 10) + pack("<HHH", 6, 8, 4) + pack("<iI", 6, 4) + offsets + b"abcdefgh"
    assert [table.place for table in FlatTable.root(content).tables(0)] == [30, 38]


@pytest.mark.parametrize("length", range(0, 34, 3))
def test_bytes_that_are_cut_off_are_refused(length):
    cut = CONTENT[:length]
    with pytest.raises(ValueError, match="a table in it"):
        FlatTable.root(cut).array(1, np.dtype("<i2"))


def test_a_list_that_is_longer_than_its_bytes_is_refused():
    long = CONTENT.replace(NUMBERS, pack("<Ihh", 2**32 - 1, 5, -6))
    with pytest.raises(ValueError, match="a list of 4294967295 entries"):
        FlatTable.root(long).array(1, np.dtype("<i2"))
