"""What only all rows together tell about columns: gaps, categories, what stands for no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rhale.errors import BadTableError
from rhale.kernels.records import crosses_processes

Categories = tuple[Any, ...]


@crosses_processes
@dataclass(frozen=True)
class ColumnFacts:
    """Facts about all columns of some rows; those of two pieces of a table add up.

    Attributes
    ----------
    names : tuple of str
        The columns.
    gaps : tuple of bool
        Whether a column has rows without a value.
    categories : tuple of (tuple or None)
        Categories of each column whose type has some, in order of appearance.
    ordered : tuple of bool
        Whether the type says that their order means something.
    missing : tuple of object
        What stands for a missing value in a column of any type: None, nan, NA.
    """

    names: tuple[str, ...]
    gaps: tuple[bool, ...]
    categories: tuple[Categories | None, ...]
    ordered: tuple[bool, ...]
    missing: tuple[Any, ...]

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        return ColumnFacts(
            self.names,
            tuple(a or b for a, b in zip(self.gaps, other.gaps, strict=True)),
            tuple(
                unite_categories(name, a, b, is_ordered=ordered)
                for name, a, b, ordered in zip(
                    self.names, self.categories, other.categories, self.ordered, strict=True
                )
            ),
            tuple(a or b for a, b in zip(self.ordered, other.ordered, strict=True)),
            tuple(b if a is None else a for a, b in zip(self.missing, other.missing, strict=True)),
        )


NO_FACTS = ColumnFacts((), (), (), (), ())


def unite_categories(
    name: str, first: Categories | None, second: Categories | None, *, is_ordered: bool
) -> Categories | None:
    """Categories of two pieces of a column.

    Examples
    --------
    >>> unite_categories("size", ("S", "M"), ("M", "L"), is_ordered=False)
    ('S', 'M', 'L')
    """
    if first is None or second is None or first == second:
        return second if first is None else first
    if not is_ordered:
        return tuple(dict.fromkeys(first + second))
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    rank = {value: place for place, value in enumerate(longer)}
    places = [rank.get(value, -1) for value in shorter]
    if -1 in places or places != sorted(places):
        msg = (
            f"the ordered categories of {name!r} differ from piece to piece: {list(first)} and "
            f"{list(second)}; give all pieces the same ones, or pass categorical={{{name!r}: [...]}}"
        )
        raise BadTableError(msg)
    return longer
