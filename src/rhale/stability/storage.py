"""Saved refits: what must hold between their fields; what all trainings share is written once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from rhale.effects.schema import (
    EXPLANATION,
    OF_ALL,
    ROW_PLACES,
    SAMPLE,
    Pasts,
    agree_explanation,
    effect_records,
)
from rhale.errors import BadSettingError
from rhale.output.storage.values import (
    ANY_TEXT,
    MAX_SHARE,
    NOTE_LIST,
    TRAININGS,
    Anything,
    ArrayDimension,
    Lengths,
    Maybe,
    Named,
    Number,
    Put,
    Record,
    RecordUnion,
    Several,
    checks,
    quote_file_value,
    refuse_file_content,
)
from rhale.stability.refit_effect import RefitPair
from rhale.stability.replication import Overlap
from rhale.stats.arrays import FloatArray

MAX_STORED_TRAININGS = 10_000
MAX_STORED_HEIGHTS = 2**26  # of all curves at the sampled rows: half a gigabyte to compare them


def describe_excess(n_trainings: int, n_rows: int) -> str | None:
    """Say what is too much for a file; None where nothing is.

    Examples
    --------
    >>> describe_excess(20, 2_000)
    >>> describe_excess(20_000, 2_000)
    '20000 trainings, more than 10000'
    """
    if n_trainings > MAX_STORED_TRAININGS:
        return f"{n_trainings} trainings, more than {MAX_STORED_TRAININGS}"
    if n_trainings * n_rows > MAX_STORED_HEIGHTS:
        return f"{n_trainings} trainings at {n_rows} rows, more than {MAX_STORED_HEIGHTS} numbers"
    return None


def require_storable(n_trainings: int, n_rows: int) -> None:
    """Refuse to write what no reader would take."""
    if excess := describe_excess(n_trainings, n_rows):
        msg = f"these refits have {excess}, which a file does not hold; train fewer with n_refits="
        raise BadSettingError(msg)


@dataclass(frozen=True)
class FailureKind:
    """A training that failed: its number, and why."""

    def read(self, value: Any, where: str, lengths: Lengths) -> tuple[int, str]:
        """Read a list of two."""
        if type(value) is not list or len(value) != 2:
            refuse_file_content(
                f"{where} is {quote_file_value(value)}, not the number of a training and a reason"
            )
        number = Number(1, whole=True).read(value[0], f"{where}[0]", lengths)
        return int(number), ANY_TEXT.read(value[1], f"{where}[1]", lengths)

    def write(self, value: Any, put: Put | None = None) -> list[Any]:  # noqa: ARG002
        """Write a list of two."""
        return [value.number, value.reason]


def _require_symmetric(matrix: FloatArray, where: str) -> None:
    if not np.array_equal(matrix, matrix.T, equal_nan=True):
        refuse_file_content(f"{where} is not symmetric")


@checks(Overlap)
def _agree_overlap(overlap: Overlap, where: str) -> None:
    """Every training has rows, and shares no more of them than it has."""
    shared, own = overlap.shared, np.diag(overlap.shared)
    _require_symmetric(shared, f"{where}shared")
    if not np.all(own > 0):
        refuse_file_content(f"{where}shared has a training without rows")
    if np.any(shared > MAX_SHARE * np.sqrt(own) * np.sqrt(own)[:, None]):
        refuse_file_content(f"{where}shared has trainings that share more rows than they have")


@checks(RefitPair)
def _agree_refit_pair(pair: RefitPair, where: str) -> None:
    _require_symmetric(pair.gram, f"{where}gram")


def _agree_kinds(one: Any, first: Any, where: str) -> None:
    """Results of one feature and output are at the same places in all trainings."""
    if (one["features"], one["outputs"]) != (first["features"], first["outputs"]):
        refuse_file_content(f"{where} is of other features or outputs than the first training")
    for place, (effect, other) in enumerate(zip(one["effects"], first["effects"], strict=True)):
        here = f"{where}.effects[{place}]"
        if type(effect) is not type(other) or effect.quantity != other.quantity:
            refuse_file_content(f"{here} is of another kind than in the first training")
        if effect.parts == "bins":  # which need not be the same
            continue
        is_same = effect.labels == other.labels and np.array_equal(effect.axis, other.axis)
        if is_same and effect.parts == "points":
            gaps = (np.isnan(effect.mean), np.isnan(other.mean))
            is_same = effect.method == other.method and np.array_equal(*gaps)
        if not is_same:
            refuse_file_content(f"{here} has other places than in the first training")


def _build_refits(**found: Any) -> dict[str, Any]:
    """Check that trainings and pairs are as many everywhere, of the same features and outputs."""
    trainings, n_trainings = found["explanations"], found["overlap"].n_trainings
    first = trainings[0]
    if excess := describe_excess(len(trainings), len(first["sample_weight"])):
        refuse_file_content(f"explanations has {excess}")
    if len(trainings) != n_trainings:
        refuse_file_content(
            f"explanations has {len(trainings)} entries for {n_trainings} trainings"
        )
    for i, one in enumerate(trainings):
        _agree_kinds(one, first, f"explanations[{i}]")
    if found["own"] is not None:
        _agree_kinds(found["own"], first, "own")
    seen = set[Any]()
    for i, pair in enumerate(found["pairs"]):
        here, key = f"pairs[{i}]", (frozenset(pair.names), pair.output)
        if not set(pair.names) <= set(first["features"]) or pair.output not in first["outputs"]:
            refuse_file_content(f"{here} is of an unknown feature or output")
        if pair.strengths.size != n_trainings:
            refuse_file_content(
                f"{here} has {pair.strengths.size} strengths for {n_trainings} trainings"
            )
        if key in seen:
            refuse_file_content(f"{here} is there twice")
        seen.add(key)
    shared = (replace(pair, overlap=found["overlap"]) for pair in found["pairs"])
    return {**found, "pairs": tuple(shared)}


def refits_record(past: Pasts) -> Record:
    """The record of refits, whose classes may have had other fields in the past."""
    # Samples are written in full, and no bins are made up from other fields as for files of old
    # formats: what is read takes no more memory than what is written, however often an array is
    # named.
    training = Record(
        dict,
        {
            **{n: k for n, k in EXPLANATION.kinds.items() if n not in ("cells", "partner_matrix")},
            "effects": Several(effect_records(SAMPLE, SAMPLE, ROW_PLACES, past)),
        },
        agree=agree_explanation,
    )
    trainings = RecordUnion({"explanation": training})
    pair = Record(RefitPair, omitted=("overlap",), make=partial(RefitPair, overlap=cast(Any, None)))
    return Record(
        dict,
        {
            "overlap": RecordUnion.of(Overlap),
            "explanations": Several(trainings, TRAININGS),
            "own": Maybe(trainings),
            "pairs": Several(RecordUnion.of(pair)),
            "failures": Several(
                FailureKind(), ArrayDimension("failures", most=MAX_STORED_TRAININGS)
            ),
            "provenance": Named(Anything(), OF_ALL),
            "notes": NOTE_LIST,
        },
        make=_build_refits,
    )


REFITS = refits_record({})
