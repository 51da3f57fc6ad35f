"""How much larger than its bytes a table may be: what a file says of itself is no reason for more."""

from __future__ import annotations

from rhale.errors import BadTableError

HELD = 2**28  # bytes that any file may ask for
MAX_TABLE_EXPANSION = (
    256  # beyond that, so many times its own bytes: more than LZ4 and snappy can do
)
ROWS_IN_BYTE = 2**20  # a column of one value takes some hundred bytes for 67 million rows


def most_from(n_bytes: int) -> int:
    """How many bytes so many compressed ones may become.

    Examples
    --------
    >>> most_from(1000) == 2**28, most_from(2**30) == 2**38
    (True, True)
    """
    return max(HELD, MAX_TABLE_EXPANSION * n_bytes)


def require_likely(expanded: int, n_bytes: int, what: str) -> None:
    """Refuse what is said to become far larger than the bytes that it is made of."""
    if expanded > most_from(n_bytes):
        msg = (
            f"{what} has {n_bytes:,} bytes and says that they become {expanded:,}; it is damaged, "
            "or needs smaller parts"
        )
        raise ValueError(msg)


def require_likely_rows(path: str, n_rows: int, n_bytes: int) -> None:
    """Refuse more rows than the bytes of a file can hold."""
    if n_rows > ROWS_IN_BYTE * n_bytes:
        msg = f"{path} says that it has {n_rows:,} rows in {n_bytes:,} bytes: it is damaged"
        raise BadTableError(msg)
