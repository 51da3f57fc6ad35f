"""Look through an exported program, and give torch nothing of it but numbers and known names."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any

from rhale.errors import BadFileError
from rhale.models.files.graph_pt2 import (
    Graph,
    dtype_of,
    field,
    listing,
    only,
    read_graph,
    refuse,
    refuse_damage,
    text,
    whole,
)
from rhale.models.library_errors import first_line

GRAPH, ORDER = "models/model.json", "byteorder"
CONFIGS = {
    "data/weights/": "data/weights/model_weights_config.json",
    "data/constants/": "data/constants/model_constants_config.json",
}
RAW = re.compile(r"data/(weights/weight|constants/tensor)_\d+")
PICKLED = re.compile(r"data/(weights|constants)/model\.pt")
UNREAD = re.compile(
    r"data/sample_inputs/model\.pt|archive_(format|version)|version"
    r"|\.data/(version|serialization_id)|\.format_version|\.storage_alignment"
)
SCHEMA = 8  # the format of graphs that is read here
HEADER = 30  # bytes before the name of a member, at least
MOST_MEMBERS, LONGEST_GRAPH, MOST_DIMENSIONS = 10**5, 2**26, 64
LARGEST_WEIGHT = 2**28  # bytes of a weight that repeats what the file holds once
ITEM_SIZES = {
    **dict.fromkeys(["uint8", "int8", "bool"], 1),
    **dict.fromkeys(["int16", "float16", "bfloat16"], 2),
    **dict.fromkeys(["int32", "float32"], 4),
    **dict.fromkeys(["int64", "float64", "complex64"], 8),
    "complex128": 16,
}
SYMBOL = re.compile(r"Symbol\('(\w{1,40})'(, \w{1,20}=(True|False)){0,4}\)|(\w{1,40})")
TRAINING = "call model.eval() before torch.export.export"


@dataclass(frozen=True)
class Weight:
    """Numbers of the model: how to look at the bytes of a member.

    Attributes
    ----------
    member : str
        Where the bytes are; several weights may share them.
    dtype : str
        Kind of numbers, a name of torch.
    sizes, strides : tuple of int
        One per dimension.
    offset : int
        Numbers before the first.
    is_trained : bool
        Whether it was a parameter that learns.
    """

    member: str
    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    is_trained: bool


@dataclass(frozen=True)
class Rows:
    """What the program wants to be asked.

    Attributes
    ----------
    name : str
        Of the input.
    dtype : str
        Kind of numbers, a name of torch.
    sizes : tuple of (int, int or None)
        Fewest and most of each dimension; None where there is no limit.
    """

    name: str
    dtype: str
    sizes: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, eq=False)
class ProgramParts:
    """An exported program of which everything is known.

    Attributes
    ----------
    graph : Graph
        What it computes.
    weights : dict of str to Weight
        By the name of the graph's input.
    content : dict of str to bytearray
        Members that weights refer to.
    rows : Rows
        The input that is not a weight.
    """

    graph: Graph
    weights: dict[str, Weight]
    content: dict[str, bytearray]
    rows: Rows


def inspect_program(content: bytes) -> ProgramParts:
    """Read an archive, and refuse all that is more than numbers and known operations.

    Parameters
    ----------
    content : bytes
        The whole file; whoever knows its name puts it in front of messages.
    """
    try:
        return _inspect(content)
    except BadFileError:
        raise
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError) as error:
        refuse_damage(f"{type(error).__name__}: {first_line(error)}")
    except ValueError as error:  # numbers of thousands of digits, bytes that are no text
        refuse_damage(first_line(error))


def _inspect(content: bytes) -> ProgramParts:
    members = _members(content)
    if members.get(ORDER, sys.byteorder.encode()) != sys.byteorder.encode():
        msg = "was saved on a machine with another order of bytes; export it on this one"
        raise BadFileError(msg)
    program = _parse(members, GRAPH)
    if field(field(program, "schema_version"), "major") != SCHEMA:
        msg = f"was saved by a torch whose format rhale does not know; {SCHEMA} is the one it reads"
        raise BadFileError(msg)
    module = field(program, "graph_module")
    stored = _read_weights(members)
    graph = read_graph(field(module, "graph"))
    signature = field(module, "signature")
    answers = _answers(field(signature, "output_specs"), graph)
    weights, name = _inputs(field(signature, "input_specs"), stored)
    if sorted(graph.inputs) != sorted([*weights, name]):
        refuse_damage("its inputs are not those of its graph")
    ranges = program.get("range_constraints", {})
    rows = _rows(name, field(field(module, "graph"), "tensor_values"), ranges)
    used = {weight.member for weight in weights.values()}
    content_used = {n: bytearray(members[n]) for n in used}
    return ProgramParts(replace(graph, outputs=answers), weights, content_used, rows)


def _members(content: bytes) -> dict[str, bytes]:
    """Members by name; anything unknown is refused, compiled code above all."""
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        listed = archive.infolist()
        _check_places(listed, len(content))
        for info in listed:
            name = info.filename.partition("/")[2]
            if UNREAD.fullmatch(name):
                continue
            if PICKLED.fullmatch(name):
                msg = "was saved by an older torch, as pickles; save it with torch 2.9 or newer"
                raise BadFileError(msg)
            if name not in (GRAPH, ORDER, *CONFIGS.values()) and not RAW.fullmatch(name):
                refuse(f"a member {name!r:.80}")
            if name in found:
                refuse(f"a member {name!r:.80} that is there twice")
            found[name] = archive.read(info)
    missing = [name for name in (GRAPH, *CONFIGS.values()) if name not in found]
    if missing:
        msg = f"has no {missing[0]}; write it with torch.export.save of torch 2.9 or newer"
        raise BadFileError(msg)
    return found


def _check_places(listed: list[zipfile.ZipInfo], n_bytes: int) -> None:
    """Members are stored as they are, one behind the other, and no larger than the file."""
    if len(listed) > MOST_MEMBERS:
        refuse(f"{len(listed)} members")
    for info in listed:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            refuse(f"a member {info.filename!r:.80} that is packed")
    ordered = sorted(listed, key=lambda info: info.header_offset)
    ends = [info.header_offset + HEADER + info.file_size for info in ordered]
    if any(
        end > later.header_offset for end, (_, later) in zip(ends, pairwise(ordered), strict=False)
    ):
        refuse("members that lie over each other")
    if ends and ends[-1] > n_bytes:
        refuse_damage("a member is longer than the file")


def _parse(members: dict[str, bytes], name: str) -> Any:
    if len(members[name]) > LONGEST_GRAPH:
        refuse(f"a member {name!r} of {len(members[name])} bytes")
    try:
        return json.loads(members[name])
    except RecursionError as error:
        msg = f"is damaged: {name} is nested too deep"
        raise BadFileError(msg) from error


def _read_weights(members: dict[str, bytes]) -> dict[str, Weight]:
    """All weights and constants by name, each within the bytes of its member."""
    found: dict[str, Weight] = {}
    for folder, config in CONFIGS.items():
        for name, payload in _records(field(_parse(members, config), "config")):
            if field(payload, "use_pickle") is not False:
                refuse(f"weights {name!r:.80} that are a pickle")
            member = folder + text(field(payload, "path_name"))
            if not RAW.fullmatch(member) or name in found:
                refuse(f"weights {name!r:.80} in {member!r:.80}")
            if member not in members:
                refuse_damage(f"the weights {name!r:.80} are missing")
            found[name] = _weight(name, member, payload, len(members[member]))
    return found


def _records(value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        refuse_damage(f"{value!r:.80} where records by name belong")
    return list(value.items())


def _weight(name: str, member: str, payload: Any, n_bytes: int) -> Weight:
    """Where the numbers of a weight are, none of them outside of its member."""
    meta = field(payload, "tensor_meta")
    dtype = dtype_of(field(meta, "dtype")).name
    is_trained = payload.get("is_param") is True and meta.get("requires_grad") is True
    sizes, strides = _numbers(field(meta, "sizes")), _numbers(field(meta, "strides"))
    (offset,) = _numbers([field(meta, "storage_offset")])
    item = ITEM_SIZES[dtype]
    if len(sizes) != len(strides) or n_bytes % item:
        refuse_damage(f"the weights {name!r:.80} have a shape that does not fit their bytes")
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if 0 not in sizes and (last + 1) * item > n_bytes:
        refuse_damage(f"the weights {name!r:.80} lie outside of their {n_bytes} bytes")
    if prod(sizes) * item > max(n_bytes, LARGEST_WEIGHT) or offset * item > n_bytes:
        refuse(f"weights {name!r:.80} of {prod(sizes)} numbers in {n_bytes} bytes")
    return Weight(member, dtype, sizes, strides, offset, is_trained)


def _numbers(sizes: Any) -> tuple[int, ...]:
    """Sizes of a weight: numbers that are there, not below zero."""
    found = []
    for size in listing(sizes, MOST_DIMENSIONS):
        kind, value = only(size)
        if kind != "as_int" or whole(value) < 0:
            refuse_damage(f"a weight with the size {value!r:.80}")
        found.append(value)
    return tuple(found)


def _inputs(specs: Any, stored: dict[str, Weight]) -> tuple[dict[str, Weight], str]:
    """Weights by the name of the graph's input, and the name of the one input that has none."""
    weights: dict[str, Weight] = {}
    asked: list[str] = []
    for spec in listing(specs, MOST_MEMBERS):
        kind, value = only(spec)
        if kind == "user_input":
            asked.append(_name_of(field(value, "arg")))
        elif kind in ("parameter", "buffer", "tensor_constant"):
            target = text(field(value, f"{kind}_name"))
            if target not in stored:
                refuse_damage(f"the weights {target!r:.80} are missing")
            weights[text(field(field(value, "arg"), "name"))] = stored[target]
        else:
            refuse(f"an input of the kind {kind!r:.40}")
    if len(asked) != 1:
        msg = f"takes {len(asked)} inputs; rhale asks programs of one matrix of rows"
        raise BadFileError(msg)
    return weights, asked[0]


def _name_of(union: Any) -> str:
    kind, value = only(union)
    if kind != "as_tensor":
        refuse(f"an input of the kind {kind!r:.40}", "export it with one matrix of rows as input")
    return text(field(value, "name"))


def _answers(specs: Any, graph: Graph) -> tuple[Any, ...]:
    """The outputs that are answers; a program that changes its weights answers differently later."""
    kinds = [only(spec)[0] for spec in listing(specs, MOST_MEMBERS)]
    if len(kinds) != len(graph.outputs):
        refuse_damage("its outputs are not those of its graph")
    for kind in kinds:
        if kind in ("buffer_mutation", "parameter_mutation"):
            refuse("a step that changes its own weights", TRAINING)
        if kind not in ("user_output", "user_input_mutation"):
            refuse(f"an output of the kind {kind!r:.40}")
    pairs = zip(kinds, graph.outputs, strict=True)
    return tuple(output for kind, output in pairs if kind == "user_output")


def _rows(name: str, values: Any, ranges: Any) -> Rows:
    meta = field(values, name)
    sizes = listing(field(meta, "sizes"), MOST_DIMENSIONS)
    return Rows(name, dtype_of(field(meta, "dtype")).name, tuple(_limits(s, ranges) for s in sizes))


def _limits(size: Any, ranges: Any) -> tuple[int, int | None]:
    """Fewest and most: of a symbol what the file says; what else torch works out is not asked."""
    kind, value = only(size)
    if kind == "as_int":
        return whole(value), whole(value)
    symbol = SYMBOL.fullmatch(str(field(value, "expr_str")))
    limits = ranges.get(symbol[1] or symbol[4]) if symbol and isinstance(ranges, dict) else None
    if not isinstance(limits, dict):
        return 0, None
    fewest, most = limits.get("min_val"), limits.get("max_val")
    return whole(fewest or 0), None if most is None else whole(most)
