"""What libraries say about bytes that they cannot read: one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rhale.errors import BadTableError, RhaleError, excerpt

MAX_TABLE_COLUMNS_NAMED = 10  # names of columns
# What pyarrow, narwhals and pandas raise for bytes that nobody wrote on purpose.
DAMAGED_TABLE_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)
DAMAGED_TABLE_ERRORS += (ArithmeticError, NotImplementedError, RecursionError, MemoryError)


@contextmanager
def naming_file(path: str, kind: str) -> Iterator[None]:
    """Say which file it was that could not be read."""
    with naming_failure(f"{path} cannot be read as {kind}"):
        yield


@contextmanager
def naming_failure(what: str) -> Iterator[None]:
    """Say what failed before the words of the library that did."""
    try:
        yield
    except RhaleError:
        raise
    except Exception as error:
        if not is_damage(error):
            raise
        said = excerpt(getattr(error, "strerror", None) or error) or type(error).__name__
        msg = f"{what}: {said}"
        raise BadTableError(msg) from error


def is_damage(error: Exception) -> bool:
    """Tell whether an error is one that damaged bytes give; pyarrow need not be there for that."""
    is_of_arrow = any(kind.__name__ == "ArrowException" for kind in type(error).__mro__)
    return is_of_arrow or isinstance(error, DAMAGED_TABLE_ERRORS)


def shown_names(names: Sequence[str]) -> str:
    """Some names of columns, for a message.

    Examples
    --------
    >>> shown_names([f"x{i}" for i in range(12)])
    'x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 2 more'
    """
    more = (
        f" and {len(names) - MAX_TABLE_COLUMNS_NAMED} more"
        if len(names) > MAX_TABLE_COLUMNS_NAMED
        else ""
    )
    return ", ".join(excerpt(name, 60) for name in names[:MAX_TABLE_COLUMNS_NAMED]) + more
