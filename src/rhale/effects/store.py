"""Numbers to one versioned JSON file, and back exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from typing import Any, Literal, NamedTuple, NoReturn, cast, get_args

import numpy as np

from rhale.effects.binning.moments import Moments
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
    """What an effect may share with others: the explanation's rows, and the sample of all rows.

    Attributes
    ----------
    column, weight : ndarray of shape (n_rows,)
        Where the sampled rows stand on the axis of one feature, and their weights.
    whole : LocalEffects
        The sample of the effect of all rows, for those of its regions.
    places : RowPlaces or None
        Where all rows stand, if the cells of the feature tell.
    """

    column: FloatArray
    weight: FloatArray
    whole: LocalEffects = NO_SAMPLE
    places: RowPlaces | None = None

    def of(self, effect: Any, region: int) -> SharedRows:
        """Those of one region, or of a third, whose rows are not told (-1)."""
        tree = effect.regions
        if len(tree.regions) == 1 and region == 0:
            return self
        is_told = region >= 0 and tree.sampled.size == self.weight.size
        here = tree.sampled == region if is_told else slice(0)
        return SharedRows(self.column[here], self.weight[here], effect.sample)


def pack_explanation(explanation: Any) -> dict[str, Any]:
    """Turn an explanation into plain values; what effects share with it stands there alone."""
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
    packed = dict(
        serialize_records(replace(effect, sample=_short_sample(effect, rows), regions=None))
    )
    if effect.parts == "bins" and same_places(effect.row_places, rows.places):
        packed["row_places"] = serialize_records(CellPlaces())
    if effect.regions is not None:
        packed["regions"] = _pack_tree(effect, packed, rows)
    return packed


def _short_sample(effect: Any, rows: SharedRows) -> LocalEffects | SharedSample | PartRows:
    """Leave out of a sample what stands elsewhere, the same to the bit."""
    sample = effect.sample
    places = places_in(sample, rows.whole) if rows.whole.x.size else None
    if places is not None:
        return PartRows(places)
    if share_sample(effect, rows.column, rows.weight) is not None:
        return SharedSample(sample.local_effects)
    return cast(LocalEffects, sample)


def places_in(part: LocalEffects, whole: LocalEffects) -> IntArray | None:
    """Places of rows among others, in their order; None if some are not there.

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


def _pack_tree(effect: Any, packed: dict[str, Any], rows: SharedRows) -> dict[str, Any]:
    """Leave the effect of the only region out, where it is that of all rows."""
    tree = effect.regions
    regions = [_pack_region(r, rows.of(effect, i)) for i, r in enumerate(tree.regions)]
    if len(regions) == 1 and regions[0]["effect"] == packed:
        regions[0]["effect"] = None
    thirds = [_pack_region(third, rows.of(effect, -1)) for third in tree.thirds]
    content = serialize_records(replace(tree, regions=(), thirds=()))
    return {**content, "regions": regions, "thirds": thirds}


def _pack_region(region: Region, rows: SharedRows) -> dict[str, Any]:
    """Refuse regions within regions, which no file holds."""
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
    """Turn plain values back into the fields of what they hold, and say what that is.

    Parameters
    ----------
    content, source
        As in `unpack_explanation`; of `pack_interactions` and `pack_refits`, too.
    """
    held = find_held(content, source)
    readers = {"interactions": _unpack_interactions, "refits": _unpack_refits}
    return held, readers.get(held, unpack_explanation)(content, source)


def find_held(content: Any, source: str) -> Held:
    """Say what plain values hold, or why they cannot be read."""
    _readable_version(content, source)
    held = content.get(KIND, "explanation")
    if held in get_args(Held):
        return cast(Held, held)
    known = " or ".join(get_args(Held))
    msg = f"{source} holds {quote_file_value(held)}; this version of rhale reads {known}: upgrade"
    raise BadFileError(msg)


def _unpack_interactions(content: Any, source: str) -> dict[str, Any]:
    """Turn plain values back into the fields of interactions."""
    try:
        return dict(INTERACTIONS.read(_without_marks(content), ""))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"{source} is damaged: {error}; save the interactions again"
        raise BadFileError(msg) from error


def _unpack_refits(content: Any, source: str) -> dict[str, Any]:
    """Turn plain values, which are used up, back into the fields of refits."""
    try:
        plain_values = _without_marks(content)
        put_back(plain_values, read_arrays(plain_values.pop("arrays", None)))
        found = REFITS.read(plain_values, "")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"{source} is damaged: {error}; save the refits again"
        raise BadFileError(msg) from error
    nowhere = SharedRows(*NO_SAMPLE[:2])
    for one in (*found["explanations"], found["own"] or {"effects": ()}):
        one["effects"] = tuple(_with_rows(effect, nowhere) for effect in one["effects"])
    return dict(found)


def _without_marks(content: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in content.items() if k not in (VERSION, KIND)}


def unpack_explanation(content: Any, source: str) -> dict[str, Any]:
    """Turn plain values back into the fields of an explanation; anything else is refused.

    Parameters
    ----------
    content : dict
        What `pack_explanation` gave, with the version of its format; or what someone else made up.
    source : str
        Where it came from, for messages.
    """
    version = _readable_version(content, source)
    if (held := find_held(content, source)) != "explanation":
        msg = f"{source} holds {held}, where an explanation belongs; read it with rhale.load"
        raise BadFileError(msg)
    try:
        found = EXPLANATION.read(_without_marks(content), "")
        shared = hold_once(found["sample_x"], found["sample_weight"])
        found["sample_x"], found["sample_weight"] = shared
        found["effects"] = _with_all_rows(**found)
        if version == 1:
            found["effects"] = tuple(map(_from_format_1, found["effects"]))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        msg = f"{source} is damaged: {error}; save the explanation again"
        raise BadFileError(msg) from error
    return dict(found)


def _with_all_rows(
    *,
    effects: Sequence[Any],
    features: Sequence[str],
    outputs: Sequence[str],
    sample_x: FloatArray,
    sample_weight: FloatArray,
    cells: Mapping[str, Moments],
    **_: Any,
) -> tuple[Any, ...]:
    """Give all effects what the explanation has for them, feature by feature."""
    found, n = list[Any](), len(outputs)
    for i, (name, column) in enumerate(zip(features, sample_x.T, strict=True)):
        own = effects[i * n : (i + 1) * n]
        is_asked = any(e.parts == "bins" and isinstance(e.row_places, CellPlaces) for e in own)
        places = _places_of(cells[name], name) if is_asked and name in cells else None
        rows = SharedRows(column, sample_weight, places=places)
        found += [_with_rows(effect, rows) for effect in own]
    return tuple(found)


def _places_of(cells: Moments, name: str) -> RowPlaces:
    """Row places that follow from cells, of which a file may hold any."""
    where = f"cells of {quote_file_value(name)} give row places: "
    with np.errstate(all="ignore"):
        found = build_quadrature(cells)
    if not found.x.size:
        refuse_file_content(f"{where}none")
    ROW_PLACES.check(found, where)
    return found


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
    effect = replace(effect, sample=_whole_sample(effect, rows))
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


def _whole_sample(effect: Any, rows: SharedRows) -> LocalEffects:
    """Give a sample what was left out of it."""
    sample = effect.sample
    if isinstance(sample, PartRows):
        if np.any(sample.rows >= rows.whole.x.size):
            refuse_file_content(
                f"the sample of a region of {quote_file_value(effect.name)} has rows that are not there"
            )
        return LocalEffects(*(column[sample.rows] for column in rows.whole))
    if not isinstance(sample, SharedSample):
        return cast(LocalEffects, sample)
    where = f"the sample of {quote_file_value(effect.name)} has "
    (x, known), effects = effect.locate_sample(rows.column), effect.sample[0]
    if x.size != effects.size:
        refuse_file_content(
            f"{where}{effects.size} local effects for {x.size} places of rows with a value"
        )
    if np.any(np.abs(x) > MAX_AXIS_VALUE):
        refuse_file_content(f"{where}a value {np.abs(x).max()}, which it cannot have")
    return LocalEffects(x, effects, take(rows.weight, known))


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
    fits = replace(effect.bins, level=np.where(known, effect.bins.level, 0.0))
    return replace(
        effect,
        level=bridge_levels(fits, known),
        std=np.where(known, effect.std, fill_gaps(effect.std, middle)),
        std_plain=np.where(known, effect.std_plain, fill_gaps(effect.std_plain, middle)),
    )


def serialize_records(value: Any, put: Put | None = None) -> Any:
    """Turn arrays and records into lists and dictionaries, so that `unpack_explanation` can undo it.

    Parameters
    ----------
    value : object
        What is to be written.
    put : callable, optional
        What to write for an array; its numbers by default.
    """
    if isinstance(value, np.ndarray):
        return _write_plain_array(value) if put is None else put(value)
    if isinstance(value, FilledPairCells | FilledProfileCells | OtherOutput):
        return {RECORD: RECORD_NAMES[type(value)], **_packed_fields(value)}
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


def _packed_fields(cells: FilledPairCells | FilledProfileCells | OtherOutput) -> dict[str, Any]:
    """Write the sums of cells, of which there are many, and their counts by their digits."""
    found = {f.name: getattr(cells, f.name) for f in fields(cells)}
    return {
        name: serialize_records(value)
        if value is None or value.dtype.kind == "i"
        else pack_numbers(value)
        for name, value in found.items()
    }


def _field(value: Any, put: Put | None = None) -> Any:
    """Write a field of a record: a list there is always a tuple, so that it needs no mark."""
    return (
        [serialize_records(v, put) for v in value]
        if type(value) is tuple
        else serialize_records(value, put)
    )


def _write_plain_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"array": _numbers(array), "type": array.dtype.name, "shape": list(array.shape)}


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
