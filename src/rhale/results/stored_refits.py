"""Refits as files hold them: what all trainings share stands there once, and models do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rhale.errors import BadSettingError
from rhale.kernels import FloatArray
from rhale.kernels.overlap import Overlap
from rhale.results.refit_pair import RefitPair

MOST_TRAININGS = 10_000
MOST_HEIGHTS = 2**26  # of all curves at the sampled rows: half a gigabyte to compare them


@dataclass(frozen=True, eq=False)
class StoredRefitPair:
    """The fields of a `RefitPair`, but for the rows that trainings share: these stand apart."""

    names: tuple[str, str]
    output: str
    strengths: FloatArray
    gram: FloatArray


def store_refit_pairs(pairs: Sequence[RefitPair]) -> list[StoredRefitPair]:
    """Leave out what stands apart."""
    return [StoredRefitPair(p.names, p.output, p.strengths, p.gram) for p in pairs]


def restore_refit_pairs(
    stored: Sequence[StoredRefitPair], overlap: Overlap
) -> tuple[RefitPair, ...]:
    """Give pairs what stands apart."""
    return tuple(RefitPair(p.names, p.output, p.strengths, p.gram, overlap) for p in stored)


def describe_excess(n_trainings: int, n_rows: int) -> str | None:
    """Say what is too much for a file; None where nothing is.

    Examples
    --------
    >>> describe_excess(20, 2_000)
    >>> describe_excess(20_000, 2_000)
    '20000 trainings, more than 10000'
    """
    if n_trainings > MOST_TRAININGS:
        return f"{n_trainings} trainings, more than {MOST_TRAININGS}"
    if n_trainings * n_rows > MOST_HEIGHTS:
        return f"{n_trainings} trainings at {n_rows} rows, more than {MOST_HEIGHTS} numbers"
    return None


def require_storable(n_trainings: int, n_rows: int) -> None:
    """Refuse to write what no reader would take."""
    if excess := describe_excess(n_trainings, n_rows):
        msg = f"these refits have {excess}, which a file does not hold; train fewer with n_refits="
        raise BadSettingError(msg)
