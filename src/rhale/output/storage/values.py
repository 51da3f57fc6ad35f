"""Plain values from a file, checked: texts, numbers, arrays, records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cached_property
from math import inf, isnan, prod
from typing import Any, NoReturn, Protocol

import numpy as np

from rhale.errors import BadFileError
from rhale.output.note import Note

RECORD, OLD_RECORD = "record", "kind"  # results have a field "kind" since format 3
Lengths = dict[str, int]  # what was counted in a record so far, by the name of what is counted
MAX_EXACT_FILE_INTEGER = 2**53  # whole numbers up to here are exact as floats, too
FINITE = float(np.finfo(np.float64).max)
MAX_NESTING = 20  # lists within lists
MAX_QUOTED_LENGTH = 60  # letters of a name in a message
NO_NUMBERS = {"nan", "inf", "-inf"}  # as texts: JSON has no such numbers


class Kind(Protocol):
    """What a field may hold."""

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:
        """Turn plain values into what the field holds, or refuse them by the name `where`."""
        ...


def written_fields(record: Any) -> tuple[str, ...]:
    """Names of the fields of a dataclass that files hold, in its order."""
    return tuple(f.name for f in fields(record) if f.metadata.get("is_written", True))


@dataclass(frozen=True)
class ArrayDimension:
    """How long one side of an array is: as many as there are of something, and `more`."""

    of: str
    more: int = 0
    least: int = 0
    most: float = inf

    def agree(self, size: int, what: str, lengths: Lengths) -> None:
        """Refuse a length that does not agree with the lengths before; the first one counts."""
        if size > self.most:
            refuse_file_content(f"{what}, more than {self.most}")
        counted = lengths.setdefault(self.of, size - self.more)
        if counted + self.more != size or counted < self.least:
            refuse_file_content(f"{what} for {counted} {self.of}")


@dataclass(frozen=True)
class Text:
    """Any text, or one of a few words."""

    words: tuple[str, ...] = ()

    def read(self, value: Any, where: str, lengths: Lengths) -> str:  # noqa: ARG002
        """Give a text back as it is."""
        if type(value) is not str:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not a text")
        if self.words and value not in self.words:
            refuse_file_content(
                f"{where} is {quote_file_value(value)}, not one of {', '.join(self.words)}"
            )
        return str(value)


@dataclass(frozen=True)
class Remark:
    """A note: its kind and its text, or, before format 4, a text alone."""

    def read(self, value: Any, where: str, lengths: Lengths) -> Note:
        """Make a note; a text alone has no kind."""
        parts = value if type(value) is list else ["", value]
        if len(parts) != 2:
            refuse_file_content(f"{where} has {len(parts)} entries, not a kind and a text")
        kind, text = (Text().read(part, where, lengths) for part in parts)
        return Note(kind, text)


@dataclass(frozen=True)
class Truth:
    """True or false."""

    def read(self, value: Any, where: str, lengths: Lengths) -> bool:  # noqa: ARG002
        """Give a truth value back as it is."""
        if type(value) is not bool:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not true or false")
        return bool(value)


@dataclass(frozen=True)
class Number:
    """One number, as in `Numbers`."""

    least: float = -FINITE
    most: float = FINITE
    whole: bool = False
    unknown: bool = False

    def read(self, value: Any, where: str, lengths: Lengths) -> float:  # noqa: ARG002
        """Give a number back; a whole one for a float too, as other programs write 1 for 1.0."""
        number = value
        if self.unknown and type(value) is dict and value.keys() == {"number"}:
            text = value["number"]  # the mark of a number that JSON lacks
            number = float(text) if type(text) is str and text in NO_NUMBERS else value
        if type(number) is not int and (self.whole or type(number) is not float):
            refuse_file_content(
                f"{where} is {quote_file_value(value)}, not a {'whole ' * self.whole}number"
            )
        is_unknown = self.unknown and isnan(number)
        most = min(self.most, MAX_EXACT_FILE_INTEGER) if isinstance(number, int) else self.most
        if not is_unknown and not self.least <= number <= most:
            refuse_file_content(f"{where} is {quote_file_value(number)}, which it cannot be")
        return number if self.whole else float(number)


@dataclass(frozen=True)
class Numbers:
    """An array: its sides, and which numbers it may hold."""

    sides: tuple[ArrayDimension, ...]
    least: float = -FINITE
    most: float = FINITE
    whole: bool = False  # counts
    unknown: bool = False  # numbers may be nan
    rising: bool = False  # increasing; two equal numbers alone mean one value

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:
        """Make an array, once its lengths are known to agree; one of a pool is there already."""
        types = ("int64", "int32") if self.whole else ("float64",)
        if isinstance(value, np.ndarray):
            if value.dtype.name not in types:
                refuse_file_content(
                    f"{where} has numbers of the type {quote_file_value(value.dtype.name)}"
                )
            self.agree(list(value.shape), value.size, where, lengths)
            self.check(value, where)
            return value
        keys = {"array", "type", "shape"}
        if type(value) is not dict or value.keys() != keys or type(value["array"]) is not list:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not an array of numbers")
        self.agree(value["shape"], len(value["array"]), where, lengths)
        flat, name = value["array"], value["type"]
        if name not in types:
            refuse_file_content(f"{where} has numbers of the type {quote_file_value(name)}")
        found = set(map(type, flat))  # one fast look at all of them: text and nan are rare
        texts = [v for v in flat if type(v) is str] if self.unknown and str in found else []
        if texts and NO_NUMBERS.issuperset(texts):
            flat = [float(v) if type(v) is str else v for v in flat]
            found.discard(str)
        known = {int} if self.whole else {int, float}
        if not found <= (known | {type(None)} if self.unknown else known):
            odd = next(v for v in flat if type(v) not in known)
            refuse_file_content(f"{where} holds {quote_file_value(odd)} where a number belongs")
        try:
            array = np.array(flat, dtype=name)  # None becomes nan
        except OverflowError:
            refuse_file_content(f"{where} holds a number that is too large")
        self.check(array, where)
        return array.reshape(value["shape"])

    def agree(self, shape: Any, size: int, where: str, lengths: Lengths) -> None:
        """Refuse so many numbers if they do not fill the shape, or that one does not agree."""
        is_shape = type(shape) is list and all(type(n) is int and n >= 0 for n in shape)
        if not is_shape or len(shape) != len(self.sides) or prod(shape) != size:
            refuse_file_content(
                f"{where} has {size} numbers for the shape {quote_file_value(shape)}"
            )
        words = ("numbers",) if len(shape) == 1 else ("rows", "columns")
        for n, side, word in zip(shape, self.sides, words, strict=True):
            side.agree(n, f"{where} has {n} {word}", lengths)

    def check(self, array: Any, where: str) -> None:
        """Refuse numbers that are out of range or out of order."""
        if array.size == 0:
            return
        low, high = array.min(), array.max()  # nan where one of them is
        if self.unknown and isnan(low):
            low, high = np.fmin.reduce(array, None), np.fmax.reduce(array, None)
            if isnan(low):
                return
        if not (
            self.least <= low
            and high <= min(self.most, MAX_EXACT_FILE_INTEGER if self.whole else inf)
        ):
            refuse_file_content(
                f"{where} holds {low if not self.least <= low else high}, which it cannot"
            )
        one_value = array.size == 2 and low == high
        if self.rising and not (one_value or np.all(array[1:] > array[:-1])):
            refuse_file_content(f"{where} does not increase")


@dataclass(frozen=True)
class Maybe:
    """Something, or nothing."""

    kind: Kind

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:
        """Give nothing back as it is."""
        return None if value is None else self.kind.read(value, where, lengths)


@dataclass(frozen=True)
class Nothing:
    """Nothing: what a field of an inner record may not hold."""

    def read(self, value: Any, where: str, lengths: Lengths) -> None:  # noqa: ARG002
        """Refuse anything."""
        if value is not None:
            refuse_file_content(f"{where} is {quote_file_value(value)}, where nothing belongs")


@dataclass(frozen=True)
class Several:
    """A list of things of one kind, as a tuple."""

    kind: Kind
    side: ArrayDimension | None = None
    unique: bool = False

    def read(self, value: Any, where: str, lengths: Lengths) -> tuple[Any, ...]:
        """Read one after the other."""
        if type(value) is not list:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not a list")
        if self.side is not None:
            self.side.agree(len(value), f"{where} has {len(value)} entries", lengths)
        found = tuple(self.kind.read(v, f"{where}[{i}]", lengths) for i, v in enumerate(value))
        if self.unique and len(set(found)) < len(found):
            refuse_file_content(f"{where} names one twice")
        return found


ANY_TEXT, WHOLE_NUMBER = Text(), Number(0, whole=True)


@dataclass(frozen=True)
class Named:
    """Things by name: those of the `known` names of a kind of their own."""

    kind: Kind
    known: Mapping[str, Kind] = field(default_factory=dict)

    def read(self, value: Any, where: str, lengths: Lengths) -> dict[str, Any]:
        """Read one after the other, each name once."""
        if type(value) is not dict or value.keys() != {"mapping"}:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not a mapping")
        found: dict[str, Any] = {}
        for name, held in pairs(value["mapping"], where):
            kind = self.known.get(name, self.kind)
            found[name] = kind.read(held, f"{where}[{quote_file_value(name)}]", lengths)
        return found


@dataclass(frozen=True)
class Anything:
    """Plain values of any kind, lists and mappings of them; no arrays, no records."""

    depth: int = MAX_NESTING

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:
        """Read what is inside, down to a limit."""
        if isinstance(value, np.ndarray):
            refuse_file_content(f"{where} is {quote_file_value(value)}, where plain values belong")
        if not isinstance(value, list | dict):
            return value
        if self.depth == 0:
            refuse_file_content(f"{where} holds lists within lists, too deep")
        inner = Anything(self.depth - 1)
        if isinstance(value, list):
            return [inner.read(v, where, lengths) for v in value]
        if value.keys() == {"tuple"} and type(value["tuple"]) is list:
            return tuple(inner.read(v, where, lengths) for v in value["tuple"])
        if value.keys() == {"number"}:
            return Number(-inf, inf, unknown=True).read(value, where, lengths)
        return Named(inner).read(value, where, lengths)


@dataclass(frozen=True)
class Record:
    """The fields of a record, how it is made of them, and what must hold between them.

    `build` makes a record whose fields in a file are not those of its class. Older files do not
    have the fields `later`, and newer ones not those that are `former`.
    """

    make: Callable[..., Any]
    fields: Mapping[str, Kind]
    agree: Callable[[Any, str], None] | None = None
    build: Callable[..., Any] | None = None
    later: tuple[str, ...] = ()
    former: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, in the order of the class."""
        if self.build is not None or not is_dataclass(self.make):
            return tuple(name for name in self.fields if name not in self.former)
        return written_fields(self.make)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default."""
        if self.build is not None or not is_dataclass(self.make):
            return tuple(name for name in self.names if name not in self.later)
        return tuple(
            f.name
            for f in fields(self.make)
            if f.default is MISSING and f.default_factory is MISSING
        )

    def read(self, content: Mapping[str, Any], where: str) -> Any:
        """Read all fields, then compare them with each other."""
        for name in content:
            if name not in self.fields:
                refuse_file_content(f"{where}{quote_file_value(name)} is unknown")
        for name in self.required:
            if name not in content:
                refuse_file_content(f"{where}{name} is missing")
        lengths: Lengths = {}
        made = (self.build or self.make)(
            **{
                name: kind.read(content[name], where + name, lengths)
                for name, kind in self.fields.items()
                if name in content
            }
        )
        if self.agree is not None:
            self.agree(made, where)
        return made

    def check(self, made: Any, where: str) -> None:
        """Refuse a record of arrays that was made of other fields, if it cannot be."""
        for name, kind in self.fields.items():
            if isinstance(kind, Numbers):
                kind.check(getattr(made, name), where + name)
        if self.agree is not None:
            self.agree(made, where)


@dataclass(frozen=True)
class RecordUnion:
    """One of several records, chosen by its mark."""

    records: Mapping[str, Record]

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:  # noqa: ARG002
        """Find the record by its mark, and read its fields."""
        if type(value) is not dict:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not a record")
        mark = RECORD if RECORD in value else OLD_RECORD
        name = value.get(mark)
        if type(name) is not str or name not in self.records:
            refuse_file_content(
                f"{where} is a record {quote_file_value(name)}, not {' or '.join(self.records)}"
            )
        content = {n: v for n, v in value.items() if n != mark}
        return self.records[name].read(content, f"{where}.")


def refuse_file_content(what: str) -> NoReturn:
    """Say what is wrong with the content."""
    raise BadFileError(what)


def quote_file_value(value: Any) -> str:
    r"""Write a value from a file on one line, and cut it if need be.

    Examples
    --------
    >>> quote_file_value("two\nlines"), quote_file_value(True), quote_file_value([1, 2]), quote_file_value({})
    ("'two\\nlines'", 'true', 'a list', 'an object')
    """
    if isinstance(value, np.ndarray):
        return "an array"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > MAX_EXACT_FILE_INTEGER:
        return "a huge number"
    text = repr(value[:MAX_QUOTED_LENGTH] if isinstance(value, str) else value)
    return text if len(text) <= MAX_QUOTED_LENGTH else f"{text[: MAX_QUOTED_LENGTH - 1]}…"


def pairs(listed: Any, where: str) -> list[tuple[str, Any]]:
    """The names of a mapping and their values; each name once."""
    if type(listed) is not list or not all(type(p) is list and len(p) == 2 for p in listed):
        refuse_file_content(f"{where} is not a mapping of names")
    if not all(type(name) is str for name, _ in listed):
        refuse_file_content(f"{where} has a name that is not a text")
    if len({name for name, _ in listed}) < len(listed):
        refuse_file_content(f"{where} has a name twice")
    return [(name, held) for name, held in listed]
