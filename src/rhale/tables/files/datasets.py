"""Datasets of pyarrow: their fragments are read like files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rhale.errors import BadTableError
from rhale.tables.files.arrow import skip_rows, validate
from rhale.tables.files.damage import naming_file
from rhale.tables.files.formats import without_index
from rhale.tables.files.regular import Stamp

DATASET_READ_AHEAD = 1  # batches and fragments that pyarrow reads before they are asked for


@dataclass(frozen=True, eq=False)
class Fragment:
    """One file of a dataset, with the columns that its folder gives it.

    Attributes
    ----------
    fragment : pyarrow.dataset.Fragment
        Where its rows are.
    stamp : (int, int)
        Size in bytes and time of the last change in nanoseconds.
    schema : pyarrow.Schema
        Columns of the whole dataset.
    n_rows : int
        How many rows it has.
    """

    fragment: Any
    stamp: Stamp
    schema: Any
    n_rows: int

    @property
    def path(self) -> str:
        """Where it is in its file system."""
        return str(self.fragment.path)

    @property
    def identity(self) -> list[Any]:
        """What tells it from another file: size and time of the last change."""
        return [self.path, *self.stamp]

    def batches(self, schema: Any, size: int, skip: int = 0) -> Iterator[Any]:
        """Read rows in record batches of at most about `size` rows."""
        self.require_unchanged()
        with naming_file(self.path, "part of a dataset"):
            found = self.fragment.scanner(
                schema=self.schema,
                columns=schema.names,
                batch_size=size,
                batch_readahead=DATASET_READ_AHEAD,
                fragment_readahead=DATASET_READ_AHEAD,
                use_threads=False,
            )
            yield from skip_rows(map(validate, found.to_batches()), skip)
        self.require_unchanged()

    def require_unchanged(self) -> None:
        """Refuse a file that is not as it was when it was opened."""
        if stamp_of_fragment(self.fragment) != self.stamp:
            msg = f"{self.path} changed while it was being explained; let it rest, and start again"
            raise BadTableError(msg)


def is_dataset(data: Any) -> bool:
    """Tell whether an object is a dataset of pyarrow."""
    return any(
        f"{k.__module__}.{k.__name__}" == "pyarrow._dataset.Dataset" for k in type(data).__mro__
    )


def open_dataset(dataset: Any) -> list[Fragment]:
    """List the fragments; of rows, only those of CSV are read, to count them."""
    try:
        found = list(dataset.get_fragments())
    except ValueError as error:
        msg = f"the dataset is filtered; write the rows that you want to files first ({error})"
        raise BadTableError(msg) from error
    if any(not hasattr(fragment, "path") for fragment in found):
        msg = "the dataset is in memory; pass dataset.to_table()"
        raise BadTableError(msg)
    if not found:
        msg = "the dataset has no files"
        raise BadTableError(msg)
    schema = without_index(dataset.schema, found[0].path)
    return [_open_fragment(fragment, schema) for fragment in found]


def _open_fragment(fragment: Any, schema: Any) -> Fragment:
    stamp = stamp_of_fragment(fragment)  # first: to count the rows of a pipe would wait for ever
    with naming_file(fragment.path, "part of a dataset"):
        n_rows = fragment.count_rows()
    return Fragment(fragment, stamp, schema, n_rows)


def stamp_of_fragment(fragment: Any) -> Stamp:
    """Size of a file, and when it was changed; -1 where the file system does not tell."""
    with naming_file(fragment.path, "part of a dataset"):
        found = fragment.filesystem.get_file_info(fragment.path)
    if found.type.name not in ("File", "NotFound"):
        msg = f"{fragment.path} is no regular file; leave it out of the dataset"
        raise BadTableError(msg)
    size, time = found.size, found.mtime_ns
    return -1 if size is None else size, -1 if time is None else time
