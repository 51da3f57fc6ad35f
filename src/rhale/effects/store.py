"""Saved results: one versioned JSON file, read back exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from typing import Any, Literal, NamedTuple, NoReturn, cast, get_args

import numpy as np

from rhale.effects.curve import RowPlaces, build_quadrature, fill_gaps, middles
from rhale.effects.effect import NO_SAMPLE, Effect, LocalEffects
from rhale.effects.schema import (
    EXPLANATION,
    EXPLANATION_RECORDS,
    MAX_AXIS_VALUE,
    ROW_PLACES,
    CellPlaces,
    PartRows,
    SharedSample,
)
from rhale.effects.support import hold_once, same_places, share_sample, take
from rhale.effects.variance import bridge_levels
from rhale.errors import BadFileError, BadSettingError
from rhale.interaction.storage import (
    INTERACTIONS,
    PAIR_RECORDS,
    FilledPairCells,
    FilledProfileCells,
    OtherOutput,
    store_pairs,
)
from rhale.output.note import as_notes
from rhale.output.storage.arrays import ArrayPool, pack_numbers, put_back, read_arrays
from rhale.output.storage.values import RECORD, quote_file_value, refuse_file_content
from rhale.regions.result import Region
from rhale.stability.storage import (
    REFIT_RECORDS,
    REFITS,
    TRAINING,
    require_storable,
    store_refit_pairs,
)
from rhale.stats.arrays import FloatArray, IntArray
from rhale.system.files import as_path, once_each, write_text

VERSION = "rhale_format"
FORMAT = 12
READABLE = tuple(range(1, FORMAT + 1))
NOTE_FIELD_NAMES = ("local_notes", "bin_notes", "notes")  # fields that hold notes
ALL_RECORDS = {**EXPLANATION_RECORDS, **PAIR_RECORDS, **REFIT_RECORDS}
RECORD_NAMES = {record.make: name for name, record in ALL_RECORDS.items()}
KIND = "kind"
# what a file is about; those without a word: the first
Held = Literal["explanation", "interactions", "refits"]
Put = Callable[[np.ndarray[Any, Any]], Any]


class SharedRows(NamedTuple):
    """What an effect may share with others: the explanation's rows, and the sample of all rows."""

    column: FloatArray  # (n_rows,): positions of the sampled rows on the axis of one feature
    weight: FloatArray  # (n_rows,)
    whole: LocalEffects = NO_SAMPLE  # sample of the effect of all rows, for those of its regions
    places: RowPlaces | None = None  # of all rows, where the cells of the feature give them

    def of(self, effect: Any, region: int) -> SharedRows:
        """Those of one region, or of a third (-1), whose rows are not known."""
        tree = effect.regions
        if len(tree.regions) == 1 and region == 0:
            return self
        is_known = region >= 0 and tree.sampled.size == self.weight.size
        here = tree.sampled == region if is_known else slice(0)
        return SharedRows(self.column[here], self.weight[here], effect.sample)


def pack_explanation(explanation: Any) -> dict[str, Any]:
    """Turn an explanation into plain values; what effects share with it is written once."""
    n_outputs, columns = len(explanation.outputs), explanation.sample_x.T
    places = {name: build_quadrature(cells) for name, cells in explanation.cells.items()}
    short = [
        _pack_effect(
            e,
            SharedRows(
                columns[i // n_outputs],
                explanation.sample_weight,
                places=places.get(explanation.features[i // n_outputs]),
            ),
        )
        for i, e in enumerate(explanation.effects)
    ]
    return _all_fields(explanation) | {"effects": short}


def _pack_effect(effect: Any, rows: SharedRows) -> dict[str, Any]:
    """Leave out what the effect shares with others."""
    if effect.parts == "points":
        return dict(serialize_records(effect))
    # a sample that is elsewhere, the same to the bit, is named instead
    sample: Any = effect.sample
    places = places_in(sample, rows.whole) if rows.whole.x.size else None
    if places is not None:
        sample = PartRows(places)
    elif share_sample(effect, rows.column, rows.weight) is not None:
        sample = SharedSample(sample.local_effects)
    packed = dict(serialize_records(replace(effect, sample=sample, regions=None)))
    if effect.parts == "bins" and same_places(effect.row_places, rows.places):
        packed["row_places"] = serialize_records(CellPlaces())
    if (tree := effect.regions) is not None:
        regions = [_pack_region(r, rows.of(effect, i)) for i, r in enumerate(tree.regions)]
        if len(regions) == 1 and regions[0]["effect"] == packed:
            regions[0]["effect"] = None  # the effect of the only region is that of all rows
        thirds = [_pack_region(third, rows.of(effect, -1)) for third in tree.thirds]
        content = serialize_records(replace(tree, regions=(), thirds=()))
        packed["regions"] = {**content, "regions": regions, "thirds": thirds}
    return packed


def places_in(part: LocalEffects, whole: LocalEffects) -> IntArray | None:
    """Indices of rows among others, in their order; None if some are not there.

    Examples
    --------
    >>> row, whole = (np.array([0.5]),) * 3, (np.array([0.5, 1.0]),) * 3
    >>> places_in(LocalEffects(*row), LocalEffects(*whole))
    array([0])
    """
    wanted, there = (
        np.stack(sample, axis=1).astype(np.float64).view("V24").ravel().tolist()
        for sample in (part, whole)
    )
    ahead = enumerate(there)
    places = [next((i for i, row in ahead if row == one), -1) for one in wanted]
    return None if -1 in places else np.array(places, dtype=np.int64)


def _pack_region(region: Region, rows: SharedRows) -> dict[str, Any]:
    """Turn a region into plain values; regions within regions are refused, as no file holds them."""
    if region.effect.regions is not None:
        msg = f"region {region.rule!r} of {region.effect.name!r} has regions of its own; give none"
        raise BadSettingError(msg)
    return {RECORD: "region", **_all_fields(region), "effect": _pack_effect(region.effect, rows)}


def pack_interactions(interactions: Any) -> dict[str, Any]:
    """Turn interactions into plain values; cells without rows are left out."""
    short = [serialize_records(pair) for pair in store_pairs(interactions.pairs)]
    return {KIND: "interactions", **_all_fields(replace(interactions, pairs=())), "pairs": short}


def pack_refits(refits: Any) -> dict[str, Any]:
    """Turn refits into plain values, with every array once; models and cells are left out."""
    require_storable(refits.n_trainings, len(refits.explanations[0].sample_weight))
    pool = ArrayPool()
    trainings = [_pack_training(fx, pool) for fx in refits.explanations]
    content = {
        "overlap": serialize_records(refits.overlap, pool.put),
        "explanations": trainings,
        "own": None if refits.own is None else _pack_training(refits.own, pool),
        "pairs": [serialize_records(pair, pool.put) for pair in store_refit_pairs(refits.pairs)],
        "failures": [[f.number, f.reason] for f in refits.failures],
        "provenance": serialize_records(refits.provenance),
        "notes": _notes(refits.notes),
    }
    return {KIND: "refits", "arrays": pool.written, **content}


def _pack_training(explanation: Any, pool: ArrayPool) -> dict[str, Any]:
    """Turn the explanation of one training into plain values."""
    return {RECORD: "explanation", **_fields(explanation, TRAINING.names, pool.put)}


def unpack_any(content: Any, source: str) -> tuple[Held, dict[str, Any]]:
    """Turn plain values, which are used up, back into fields, and say of what they are.

    `content` and `source` as in `unpack_explanation`; of interactions and refits, too.
    """
    held = find_held(content, source)
    if held == "explanation":
        return held, unpack_explanation(content, source)
    try:
        values = _without_marks(content)
        if held == "interactions":
            return held, dict(INTERACTIONS.read(values, ""))
        put_back(values, read_arrays(values.pop("arrays", None)))
        found = REFITS.read(values, "")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"{source} is damaged: {error}; save the {held} again"
        raise BadFileError(msg) from error
    nowhere = SharedRows(*NO_SAMPLE[:2])
    for one in (*found["explanations"], found["own"] or {"effects": ()}):
        one["effects"] = tuple(_with_rows(effect, nowhere) for effect in one["effects"])
    return held, dict(found)


def find_held(content: Any, source: str) -> Held:
    """Say what plain values hold, or why they cannot be read."""
    _readable_version(content, source)
    held = content.get(KIND, "explanation")
    if held in get_args(Held):
        return cast(Held, held)
    known = " or ".join(get_args(Held))
    msg = f"{source} holds {quote_file_value(held)}; this version of rhale reads {known}: upgrade"
    raise BadFileError(msg)


def _without_marks(content: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in content.items() if k not in (VERSION, KIND)}


def unpack_explanation(content: Any, source: str) -> dict[str, Any]:
    """Turn plain values back into the fields of an explanation; anything else is refused.

    `content` is what `pack_explanation` gave, with the version of its format, or what someone made
    up; `source` says in messages where it came from.
    """
    version = _readable_version(content, source)
    if (held := find_held(content, source)) != "explanation":
        msg = f"{source} holds {held}, where an explanation belongs; read it with rhale.load"
        raise BadFileError(msg)
    try:
        found = EXPLANATION.read(_without_marks(content), "")
        shared = hold_once(found["sample_x"], found["sample_weight"])
        found["sample_x"], found["sample_weight"] = shared
        n_outputs, effects = len(found["outputs"]), list[Any]()
        for i, (name, column) in enumerate(zip(found["features"], shared[0].T, strict=True)):
            own = found["effects"][i * n_outputs : (i + 1) * n_outputs]
            places, cells = None, found["cells"]
            if name in cells and any(
                e.parts == "bins" and isinstance(e.row_places, CellPlaces) for e in own
            ):
                with np.errstate(all="ignore"):  # a file may hold any cells
                    places = build_quadrature(cells[name])
                where = f"cells of {quote_file_value(name)} give row places: "
                if not places.x.size:
                    refuse_file_content(f"{where}none")
                ROW_PLACES.check(places, where)
            rows = SharedRows(column, shared[1], places=places)
            effects += [_with_rows(effect, rows) for effect in own]
        found["effects"] = tuple(effects)
        if version == 1:
            found["effects"] = tuple(map(_from_format_1, found["effects"]))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"{source} is damaged: {error}; save the explanation again"
        raise BadFileError(msg) from error
    return dict(found)


def _with_rows(effect: Any, rows: SharedRows) -> Any:
    """Give an effect, and those of its regions, what the explanation has for all of them."""
    if effect.parts == "points":
        return effect
    if effect.parts == "bins" and isinstance(effect.row_places, CellPlaces):
        if rows.places is None:
            refuse_file_content(
                f"row places of {quote_file_value(effect.name)} follow from cells that are not there"
            )
        effect = replace(effect, row_places=rows.places)
    sample: Any = effect.sample
    if isinstance(sample, PartRows):
        if np.any(sample.rows >= rows.whole.x.size):
            refuse_file_content(
                f"the sample of a region of {quote_file_value(effect.name)} has rows that are not there"
            )
        sample = LocalEffects(*(column[sample.rows] for column in rows.whole))
    elif isinstance(sample, SharedSample):
        where = f"the sample of {quote_file_value(effect.name)} has "
        (x, known), effects = effect.locate_sample(rows.column), sample.local_effects
        if x.size != effects.size:
            refuse_file_content(
                f"{where}{effects.size} local effects for {x.size} places of rows with a value"
            )
        if np.any(np.abs(x) > MAX_AXIS_VALUE):
            refuse_file_content(f"{where}a value {np.abs(x).max()}, which it cannot have")
        sample = LocalEffects(x, effects, take(rows.weight, known))
    effect = replace(effect, sample=sample)
    tree = effect.regions
    if tree is None:
        return effect
    alone = replace(effect, regions=None)
    regions = tuple(
        replace(r, effect=alone if r.effect is None else _with_rows(r.effect, rows.of(effect, i)))
        for i, r in enumerate(tree.regions)
    )
    thirds = tuple(
        replace(r, effect=_with_rows(r.effect, rows.of(effect, -1))) for r in tree.thirds
    )
    return replace(effect, regions=replace(tree, regions=regions, thirds=thirds))


def _readable_version(content: Any, source: str) -> int:
    """The version of the format, or why it cannot be read."""
    version = content.get(VERSION) if isinstance(content, dict) else None
    if version is None:
        msg = f"{source} is JSON, but not written by Explanation.save: it has no {VERSION!r}"
        raise BadFileError(msg)
    if type(version) is not int or version not in READABLE:  # true is no 1
        msg = (
            f"{source} has format {quote_file_value(version)}; "
            f"this version of rhale reads formats 1 to {FORMAT}: upgrade"
        )
        raise BadFileError(msg)
    return version


def _from_format_1(effect: Any) -> Any:
    """Interpolate bins without rows: format 1 left their mean and std open."""
    if not isinstance(effect, Effect) or effect.measured.all():
        return effect
    known, middle = effect.measured, middles(effect.edges)
    fits = replace(effect._bin_fits, level=np.where(known, effect._bin_fits.level, 0.0))  # noqa: SLF001
    return replace(
        effect,
        level=bridge_levels(fits, known),
        std=np.where(known, effect.std, fill_gaps(effect.std, middle)),
        std_plain=np.where(known, effect.std_plain, fill_gaps(effect.std_plain, middle)),
    )


def serialize_records(value: Any, put: Put | None = None) -> Any:
    """Turn arrays and records into lists and dictionaries, which `unpack_explanation` turns back.

    `put` says what to write for an array; its numbers by default.
    """
    if isinstance(value, np.ndarray):
        if put is not None:
            return put(value)
        return {"array": _numbers(value), "type": value.dtype.name, "shape": list(value.shape)}
    if isinstance(value, FilledPairCells | FilledProfileCells | OtherOutput):
        # sums of cells, of which there are many, are packed; counts are written by their digits
        columns = {f.name: getattr(value, f.name) for f in fields(value)}
        packed = {
            name: serialize_records(column)
            if column is None or column.dtype.kind == "i"
            else pack_numbers(column)
            for name, column in columns.items()
        }
        return {RECORD: RECORD_NAMES[type(value)], **packed}
    if type(value) in RECORD_NAMES:
        name = RECORD_NAMES[type(value)]
        return {RECORD: name, **_fields(value, ALL_RECORDS[name].names, put)}
    if isinstance(value, Mapping):
        return {"mapping": [[k, serialize_records(v, put)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": _field(value, put)}
    if isinstance(value, list):
        return [serialize_records(v, put) for v in value]
    if isinstance(value, np.generic):
        return serialize_records(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    return str(value) if isinstance(value, str) else value  # a note by itself is its text


def _fields(record: Any, names: Sequence[str], put: Put | None = None) -> dict[str, Any]:
    """Write the fields of a record by their names, notes with their kinds."""
    return {
        name: _notes(value) if name in NOTE_FIELD_NAMES else _field(value, put)
        for name, value in ((name, getattr(record, name)) for name in names)
    }


def _all_fields(record: Any) -> dict[str, Any]:
    """Write all fields of a result, which is no record."""
    return _fields(record, [f.name for f in fields(record)])


def _notes(notes: Any) -> list[list[str]]:
    return [[note.kind, note.text] for note in as_notes(notes)]


def _field(value: Any, put: Put | None = None) -> Any:
    """Write a field of a record: a list there is always a tuple, so that it needs no mark."""
    return (
        [serialize_records(v, put) for v in value]
        if type(value) is tuple
        else serialize_records(value, put)
    )


def _numbers(array: np.ndarray[Any, Any]) -> list[Any]:
    """List the numbers; nan and infinity, which JSON lacks, as null and text."""
    flat = array.ravel().tolist()
    if array.dtype.kind != "f" or np.all(np.isfinite(array)):
        return flat
    return [None if v != v else str(v) if abs(v) == np.inf else v for v in flat]  # noqa: PLR0124


def write_result_file(path: str | PathLike[str], content: dict[str, Any]) -> None:
    """Write an explanation whole or not at all."""
    write_text(path, json.dumps({VERSION: FORMAT, **content}, allow_nan=False))


def read_result_file(path: str | PathLike[str]) -> Any:
    """Read the plain values of a file, or say why there are none."""
    file = as_path(path)
    if file.exists() and not file.is_file():  # a pipe would be waited for
        msg = f"{path} is a folder or a device; name a file that Explanation.save wrote"
        raise BadFileError(msg)
    try:
        return parsed(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        msg = f"{path} is damaged: lists are nested too deep; save the explanation again"
        raise BadFileError(msg) from error
    except ValueError as error:
        msg = f"{path} is not a JSON file ({error}); it may be damaged or of another program"
        raise BadFileError(msg) from error


def parsed(text: str) -> Any:
    """Read JSON as it is defined: no numbers but numbers, no name twice.

    Examples
    --------
    >>> parsed('{"a": [1, null]}')
    {'a': [1, None]}
    """
    return json.loads(text, parse_constant=_refuse_json_constant, object_pairs_hook=once_each)


def _refuse_json_constant(text: str) -> NoReturn:
    msg = f"{text} is not a number"
    raise BadFileError(msg)
