"""The graph of an exported program, read from its JSON: known fields only, all else refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from rhale.errors import BadFileError, UnsafeFileError
from rhale.models.files.operations import (
    ARITHMETIC,
    BRANCH,
    GRAD_MODE,
    LARGEST,
    NOTES,
    is_listed,
)

ATEN = "torch.ops.aten."
DTYPES = dict(  # by torch's numbers; kinds that tables never lead to are left out
    [
        *enumerate(
            ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"], start=1
        ),
        *enumerate(["complex64", "complex128", "bool", "bfloat16"], start=10),
    ]
)
FORMATS = dict(
    enumerate(
        ["contiguous_format", "channels_last", "channels_last_3d", "preserve_format"], start=1
    )
)
STRIDED = 7  # the one layout of tensors that is no special case
FLOATS = {"Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan")}
SETTING = re.compile(r"[\w ,.>+:\-]{0,400}")  # a word for an operation, such as an einsum
MOST_STEPS, MOST_ITEMS, DEEPEST, LONGEST_NAME = 10**5, 2**14, 8, 1000
ADVICE = "export the model as ONNX, or pass the module itself in Python"


@dataclass(frozen=True)
class Name:
    """A value that a step before has computed, by its name."""

    name: str


@dataclass(frozen=True)
class Word:
    """A member of torch: a dtype or a memory format."""

    name: str


@dataclass(frozen=True)
class Place:
    """Any device: a program computes where its rows are."""


@dataclass(frozen=True)
class Step:
    """One operation.

    Attributes
    ----------
    target : str
        Which; one of the list.
    arguments : tuple of (str, object)
        Names, empty where the operation has none, and values.
    outputs : tuple
        Names for what comes out: text, None for nothing, or a tuple of these for a list.
    """

    target: str
    arguments: tuple[tuple[str, Any], ...]
    outputs: tuple[Any, ...]


@dataclass(frozen=True)
class Graph:
    """Steps in their order, from inputs to outputs.

    Attributes
    ----------
    inputs : tuple of str
        Names of what goes in.
    steps : tuple of Step
        Each uses what is there by then.
    outputs : tuple
        Names and plain numbers.
    """

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Any, ...]


def refuse(what: str, advice: str = ADVICE) -> NoReturn:
    """Refuse what is not on a list; whoever knows the file puts its name in front."""
    msg = f"holds {what}, which rhale does not run; {advice}"
    raise UnsafeFileError(msg)


def refuse_damage(what: str) -> NoReturn:
    """Refuse what no program of torch looks like."""
    msg = f"is damaged: {what}"
    raise BadFileError(msg)


def read_graph(graph: Any, depth: int = 0) -> Graph:
    """Read a graph, and refuse everything in it that is not on a list.

    Parameters
    ----------
    graph : object
        What JSON gave.
    depth : int
        How many graphs are around this one.
    """
    if depth > DEEPEST:
        refuse(f"graphs in graphs, more than {DEEPEST} deep")
    nodes = listing(field(graph, "nodes"), MOST_STEPS)
    inputs = tuple(_name_of_input(one) for one in listing(field(graph, "inputs"), MOST_ITEMS))
    known: set[str] = set()
    _define(inputs, known)
    steps = []
    for node in nodes:
        if text(field(node, "target")) not in NOTES:
            steps.append(_read_step(node, known, depth))
            _define(names_in(steps[-1].outputs), known)
    outputs = [_read_value(one, depth) for one in listing(field(graph, "outputs"), MOST_ITEMS)]
    _check_known(outputs, known)
    return Graph(inputs, tuple(steps), tuple(outputs))


def names_in(values: Any) -> Iterator[str]:
    """The names of outputs, however they are nested."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            yield from names_in(value)


def _define(names: Any, known: set[str]) -> None:
    for name in names:
        if name in known:
            refuse_damage(f"the value {name!r:.80} is computed twice")
        known.add(name)


def _check_known(values: Any, known: set[str]) -> None:
    """Refuse names of values that are not there by then."""
    for value in values:
        if isinstance(value, Name) and value.name not in known:
            refuse_damage(f"the value {value.name!r:.80} is used before it is computed")
        if isinstance(value, list):
            _check_known(value, known)


def _read_step(node: Any, known: set[str], depth: int) -> Step:
    target = text(field(node, "target"))
    if not _is_allowed(target):
        refuse(f"the operation {target!r:.80}")
    free = target.startswith(f"{ATEN}_assert_")  # their messages are for people
    arguments = tuple(
        _read_argument(one, depth, free=free) for one in listing(field(node, "inputs"), MOST_ITEMS)
    )
    _check_known([value for _, value in arguments], known)
    _check_graphs(target, [value for _, value in arguments])
    outputs = listing(field(node, "outputs"), MOST_ITEMS)
    return Step(target, arguments, tuple(_read_output(one) for one in outputs))


def _is_allowed(target: str) -> bool:
    if target.startswith(ATEN):
        return is_listed(target.removeprefix(ATEN)) or target in ARITHMETIC
    return target in ARITHMETIC or target in (BRANCH, GRAD_MODE)


def _check_graphs(target: str, values: list[Any]) -> None:
    """Graphs stand where the two operations that take some expect them, and nowhere else."""
    expected = {BRANCH: [1, 2], GRAD_MODE: [1]}.get(target, [])
    if [k for k, value in enumerate(values) if isinstance(value, Graph)] != expected:
        refuse(f"graphs at other places of {target!r} than rhale knows")
    if target == GRAD_MODE and not isinstance(values[0], bool):
        refuse_damage("a mode that is neither true nor false")
    if target == BRANCH and (len(values) != 4 or not isinstance(values[3], list)):
        refuse_damage("a branch without its four arguments")


def _read_argument(argument: Any, depth: int, *, free: bool) -> tuple[str, Any]:
    name, value = text(field(argument, "name")), field(argument, "arg")
    if free and isinstance(value, dict) and list(value) == ["as_string"]:
        return name, str(value["as_string"])[:200]
    return name, _read_value(value, depth)


def _read_value(union: Any, depth: int) -> Any:
    """Read an argument of a known kind; torch resolves some of the others to any function."""
    kind, value = only(union)
    if kind == "as_graph":
        return read_graph(field(value, "graph"), depth + 1)
    if kind not in KINDS:
        refuse(f"an argument of the kind {kind!r:.40}")
    return KINDS[kind](value)


def _name_of_input(union: Any) -> str:
    kind, value = only(union)
    if kind == "as_sym_int":
        return text(field(value, "as_name"))
    if kind != "as_tensor":
        refuse(f"an input of the kind {kind!r:.40}", "export it with one matrix of rows as input")
    return text(field(value, "name"))


def _read_output(union: Any) -> Any:
    """A name for what comes out, None for nothing, several for a list."""
    kind, value = only(union)
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return text(field(value, "name"))
    if kind == "as_tensors":
        return tuple(text(field(one, "name")) for one in listing(value, MOST_ITEMS))
    if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        return text(field(value, "as_name"))
    return refuse(f"an output of the kind {kind!r:.40}")


def field(record: Any, name: str) -> Any:
    """A field that must be there."""
    if not isinstance(record, dict) or name not in record:
        refuse_damage(f"{name!r} is missing")
    return record[name]


def only(union: Any) -> tuple[str, Any]:
    """Kind and value of what is one of several kinds."""
    if not isinstance(union, dict) or len(union) != 1:
        refuse_damage("a value of no kind, or of two")
    return next(iter(union.items()))


def text(value: Any) -> str:
    """A text that is not too long for a name."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        refuse_damage(f"{value!r:.80} where a name belongs")
    return value


def listing(value: Any, most: int) -> list[Any]:
    """A list that is not too long."""
    if not isinstance(value, list) or len(value) > most:
        refuse_damage(f"{value!r:.80} where a list of at most {most} belongs")
    return value


def whole(value: Any) -> int:
    """A whole number of 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST:
        refuse_damage(f"{value!r:.80} where a whole number belongs")
    return value


def _real(value: Any) -> float:
    if isinstance(value, str) and value in FLOATS:
        return FLOATS[value]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        refuse_damage(f"{value!r:.80} where a number belongs")
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        refuse_damage(f"{value!r:.80} where true or false belongs")
    return value


def _setting(value: Any) -> str:
    if not SETTING.fullmatch(text(value)):
        refuse(f"the text {value!r:.80}")
    return text(value)


def _choice(value: Any, known: dict[int, str], what: str) -> Word:
    if not isinstance(value, int) or value not in known:
        refuse(f"the {what} {value!r:.40}")
    return Word(known[value])


def dtype_of(value: Any) -> Word:
    """A known kind of numbers."""
    return _choice(value, DTYPES, "kind of numbers")


def _tensor(value: Any) -> Name:
    return Name(text(field(value, "name")))


def _optional_tensor(union: Any) -> Name | None:
    kind, value = only(union)
    return None if kind == "as_none" else _tensor(value)


def _symbol(union: Any) -> Any:
    """A size: a number, or the name of one."""
    kind, value = only(union)
    readers = {"as_int": whole, "as_float": _real, "as_bool": _boolean}
    if kind == "as_name":
        return Name(text(value))
    if kind not in readers:
        refuse(f"a size of the kind {kind!r:.40}")
    return readers[kind](value)


def _device(value: Any) -> Place:
    text(field(value, "type"))
    return Place()


def _layout(value: Any) -> None:
    """Tensors that are no special case need not be told so."""
    if value != STRIDED:
        refuse(f"the layout {value!r:.40}")


def _several(read: Any) -> Any:
    return lambda values: [read(value) for value in listing(values, MOST_ITEMS)]


KINDS: dict[str, Any] = {
    "as_none": lambda _: None,
    "as_bool": _boolean,
    "as_bools": _several(_boolean),
    "as_int": whole,
    "as_ints": _several(whole),
    "as_float": _real,
    "as_floats": _several(_real),
    "as_string": _setting,
    "as_tensor": _tensor,
    "as_tensors": _several(_tensor),
    "as_optional_tensor": _optional_tensor,
    "as_optional_tensors": _several(_optional_tensor),
    "as_sym_int": _symbol,
    "as_sym_ints": _several(_symbol),
    "as_sym_float": _symbol,
    "as_sym_floats": _several(_symbol),
    "as_sym_bool": _symbol,
    "as_sym_bools": _several(_symbol),
    "as_scalar_type": dtype_of,
    "as_memory_format": lambda value: _choice(value, FORMATS, "memory format"),
    "as_layout": _layout,
    "as_device": _device,
}
