"""How much larger than its bytes a table may say it is."""

import pytest

from rhale.data.files.regular import (
    HELD,
    MAX_TABLE_EXPANSION,
    ROWS_IN_BYTE,
    most_from,
    require_likely,
    require_likely_rows,
)
from rhale.errors import BadTableError


@pytest.mark.parametrize("n_bytes", [0, 1, HELD // MAX_TABLE_EXPANSION])
def test_few_bytes_may_become_what_any_file_may_ask_for(n_bytes):
    assert most_from(n_bytes) == HELD


def test_many_bytes_may_become_so_many_times_as_many():
    assert most_from(HELD) == MAX_TABLE_EXPANSION * HELD


@pytest.mark.parametrize("n_bytes", [10, HELD])
def test_the_most_is_taken_and_one_byte_more_is_refused_in_words(n_bytes):
    most = most_from(n_bytes)
    require_likely(most, n_bytes, "a page")
    with pytest.raises(ValueError, match=rf"^a page has {n_bytes:,} bytes .* {most + 1:,}; "):
        require_likely(most + 1, n_bytes, "a page")


def test_no_compression_that_arrow_knows_gets_near():
    """A column of zeros, the best case there is."""
    pa = pytest.importorskip("pyarrow")
    plain = bytes(2**22)
    for codec in ("lz4", "snappy"):
        assert len(plain) < MAX_TABLE_EXPANSION * len(pa.compress(plain, codec))


def test_rows_that_a_file_cannot_hold_name_it():
    require_likely_rows("r.arrow", 100 * ROWS_IN_BYTE, 100)
    with pytest.raises(BadTableError, match=r"^r.arrow says .* 104,857,601 rows in 100 bytes"):
        require_likely_rows("r.arrow", 100 * ROWS_IN_BYTE + 1, 100)
