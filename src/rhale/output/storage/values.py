"""Plain values of a file: what each field of a record holds, read with all checks, and written.

| kind | what a field holds |
| --- | --- |
| `Text`, `Truth`, `Number`, `Anything` | plain values |
| `Numbers` | an array: its sides, and the range of its numbers |
| `Several`, `Named`, `Maybe`, `Nothing` | a tuple, a mapping, perhaps nothing, nothing |
| `Record`, `RecordUnion` | the fields of a class; one of several classes, by its mark |

The kind stands with the field, `std: FloatArray = field(metadata=stored(Numbers.errors("bins")))`.
A type that says enough needs none: texts, truth values, counts, literals, other records, tuples of
these. A class without such fields (a named tuple), or one that `import rhale` loads, has the kind
in its type: `left: Annotated[FloatArray, Numbers.places("gaps")]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cached_property
from math import inf, isfinite, isnan, prod
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    Protocol,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from rhale.errors import BadFileError
from rhale.output.text import Note, as_notes
from rhale.stats.arrays import LARGEST_SQUARABLE

RECORD, OLD_RECORD = "record", "kind"  # results have a field "kind" since format 3
MAX_SHARE = 1 + 1e-9  # shares of the rows add up to one, to rounding
STORED = "stored"  # where the metadata of a field has its kind
MAX_TOTAL_WEIGHT = 1e120  # more than all rows of the largest weight together
MAX_AXIS_VALUE = 1e300  # axes end here: the room around a drawing must be a number, too
Lengths = dict[str, int]  # what was counted in a record so far, by the name of what is counted
Put = Callable[[np.ndarray[Any, Any]], Any]  # what to write for an array, if not its numbers
Check = TypeVar("Check", bound=Callable[[Any, str], None])
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

    def write(self, value: Any, put: Put | None = None) -> Any:
        """Turn what the field holds into plain values."""
        ...


class PlainKind:
    """What is written as any plain value is."""

    def write(self, value: Any, put: Put | None = None) -> Any:
        """Turn plain values of Python and NumPy into those of JSON."""
        return write_plain_value(value, put)


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
class Text(PlainKind):
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

    def write(self, value: Any, put: Put | None = None) -> list[str]:  # noqa: ARG002
        """Write the kind and the text."""
        (note,) = as_notes((value,))
        return [note.kind, note.text]


@dataclass(frozen=True)
class Truth(PlainKind):
    """True or false."""

    def read(self, value: Any, where: str, lengths: Lengths) -> bool:  # noqa: ARG002
        """Give a truth value back as it is."""
        if type(value) is not bool:
            refuse_file_content(f"{where} is {quote_file_value(value)}, not true or false")
        return bool(value)


@dataclass(frozen=True)
class Number(PlainKind):
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

    sides: tuple[ArrayDimension | str, ...]  # a name: as many as there are of these
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
        for n, of, word in zip(shape, self.sides, words, strict=True):
            side = ArrayDimension(of) if isinstance(of, str) else of
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

    def write(self, value: Any, put: Put | None = None) -> Any:
        """Write the numbers, or what `put` says."""
        return write_plain_value(value, put)

    # --- what arrays of results usually hold

    @classmethod
    def places(cls, *of: ArrayDimension | str, rising: bool = False, unknown: bool = False) -> Self:
        """Values on an axis, or of something that ends there, too."""
        return cls(of, -MAX_AXIS_VALUE, MAX_AXIS_VALUE, rising=rising, unknown=unknown)

    @classmethod
    def limits(cls, of: str) -> Self:
        """Limits of bins or cells, one more than there are of them."""
        return cls.places(ArrayDimension(of, 1, least=1), rising=True)

    @classmethod
    def counts(cls, *of: ArrayDimension | str, rising: bool = False) -> Self:
        """Whole numbers from 0 on."""
        return cls(of, least=0, whole=True, rising=rising)

    @classmethod
    def sizes(cls, *of: ArrayDimension | str, unknown: bool = False) -> Self:
        """Numbers that are not negative."""
        return cls(of, least=0, unknown=unknown)

    @classmethod
    def shares(cls, *of: ArrayDimension | str, unknown: bool = False) -> Self:
        """Numbers between 0 and 1."""
        return cls(of, 0, 1, unknown=unknown)

    @classmethod
    def weights(cls, *of: ArrayDimension | str) -> Self:
        """Sums of the weights of rows."""
        return cls(of, 0, MAX_TOTAL_WEIGHT)

    @classmethod
    def weight_squares(cls, *of: ArrayDimension | str) -> Self:
        """Sums of the squares of these."""
        return cls(of, 0, MAX_TOTAL_WEIGHT**2)

    @classmethod
    def ends(cls, of: str, *, low: bool) -> Self:
        """The lowest or the highest value of a cell; infinite in one without rows."""
        least, most = (-MAX_AXIS_VALUE, inf) if low else (-inf, MAX_AXIS_VALUE)
        return cls((of,), least, most, unknown=True)

    @classmethod
    def means(cls, *of: ArrayDimension | str, unknown: bool = True) -> Self:
        """Numbers whose squares are ordinary numbers."""
        return cls(of, -LARGEST_SQUARABLE, LARGEST_SQUARABLE, unknown=unknown)

    @classmethod
    def products(cls, *of: ArrayDimension | str, unknown: bool = False) -> Self:
        """Products of two such numbers: variances, covariances."""
        return cls(of, -(LARGEST_SQUARABLE**2), LARGEST_SQUARABLE**2, unknown=unknown)

    @classmethod
    def slopes(cls, *of: ArrayDimension | str) -> Self:
        """Any numbers: a slope is infinite on an axis of next to no length."""
        return cls(of, -inf, inf, unknown=True)

    @classmethod
    def errors(cls, *of: ArrayDimension | str) -> Self:
        """Standard deviations and errors, infinite where slopes are."""
        return cls(of, 0, inf, unknown=True)


@dataclass(frozen=True)
class Maybe:
    """Something, or nothing."""

    kind: Kind

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:
        """Give nothing back as it is."""
        return None if value is None else self.kind.read(value, where, lengths)

    def write(self, value: Any, put: Put | None = None) -> Any:
        """Write nothing as null."""
        return None if value is None else self.kind.write(value, put)


@dataclass(frozen=True)
class Nothing(PlainKind):
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

    def write(self, value: Any, put: Put | None = None) -> list[Any]:
        """Write one after the other."""
        return [self.kind.write(held, put) for held in value]


ANY_TEXT, WHOLE_NUMBER, ANY_NUMBER = Text(), Number(0, whole=True), Number(-inf, inf, unknown=True)
STANDARD_ERROR_NUMBER = Number(0, inf, unknown=True)
AXIS_NUMBER = Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE)
# above one, too, where steps are taken out
SPREAD_SHARE_NUMBER = Number(-MAX_AXIS_VALUE, MAX_AXIS_VALUE, unknown=True)
VARIANCE_NUMBER = Number(0, unknown=True)
UNIQUE_TEXTS, NOTE_LIST = Several(ANY_TEXT, unique=True), Several(Remark())
TRAININGS = ArrayDimension("trainings", least=2)
BOTH_SIDES = ArrayDimension("sides", least=2, most=2)
PAIR_FEATURE_NAMES = Several(
    ANY_TEXT, ArrayDimension("features of a pair", least=2, most=2), unique=True
)


@dataclass(frozen=True)
class Alone:
    """Something whose lengths agree with nothing else."""

    kind: Kind

    def read(self, value: Any, where: str, lengths: Lengths) -> Any:  # noqa: ARG002
        """Read it by itself."""
        return self.kind.read(value, where, {})

    def write(self, value: Any, put: Put | None = None) -> Any:
        """Write it as it is."""
        return self.kind.write(value, put)


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

    def write(self, value: Any, put: Put | None = None) -> dict[str, Any]:
        """Write names and values as pairs."""
        items = value.items()
        return {"mapping": [[k, self.known.get(k, self.kind).write(v, put)] for k, v in items]}


@dataclass(frozen=True)
class Anything(PlainKind):
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
class Past:
    """What records of earlier formats are like, and how they become those of today."""

    fields: Mapping[str, Kind] = field(default_factory=dict)  # which they alone have
    later: tuple[str, ...] = ()  # fields of today that they may lack, without a default
    upgrade: Callable[[dict[str, Any]], None] = lambda _: None  # changes what was read


@dataclass(frozen=True, eq=False)
class Record:
    """The fields of a class in files, and what must hold between them.

    `kinds` are fields of another kind than the class says, or that it does not have. Files do not
    hold what is `omitted`; `make` makes the record without it. Fields are in the order of the class
    after those that come `first`. One with a default may be missing, unless a file `has_all`. A
    dictionary has no other fields than `kinds`, and all of them.
    """

    of: type[Any]
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    has_all: bool = False
    make: Callable[..., Any] | None = None
    agree: Callable[[Any, str], None] | None = None  # instead of that of the class
    past: Past = field(default_factory=Past)

    @cached_property
    def fields(self) -> dict[str, Kind]:
        """Kinds of the fields, in the order of files."""
        own = {} if self.of is dict else kinds_of_fields(self.of, {*self.kinds, *self.omitted})
        known = {**own, **self.kinds}
        order = dict.fromkeys((*self.first, *known))
        return {name: known[name] for name in order if name not in self.omitted}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Names of the fields that have no default, and that files of any format have."""
        defaults = set(self.past.later)
        if is_dataclass(self.of) and not self.has_all:
            defaults |= {
                f.name
                for f in fields(self.of)
                if f.default is not MISSING or f.default_factory is not MISSING
            }
        return tuple(name for name in self.fields if name not in defaults)

    def read(self, content: Mapping[str, Any], where: str) -> Any:
        """Read all fields, then compare them with each other."""
        known = {**self.fields, **self.past.fields}
        for name in content:
            if name not in known:
                refuse_file_content(f"{where}{quote_file_value(name)} is unknown")
        for name in self.required:
            if name not in content:
                refuse_file_content(f"{where}{name} is missing")
        lengths: Lengths = {}
        found = {
            name: kind.read(content[name], where + name, lengths)
            for name, kind in known.items()
            if name in content
        }
        self.past.upgrade(found)
        made = (self.make or self.of)(**found)
        agree = self.agree or CHECKS.get(self.of)
        if agree is not None:
            agree(made, where)
        return made

    def write(self, made: Any, put: Put | None = None, **written: Any) -> dict[str, Any]:
        """Write all fields, but those that are `written` already."""
        return {
            name: written[name] if name in written else kind.write(getattr(made, name), put)
            for name, kind in self.fields.items()
        }

    def check(self, made: Any, where: str) -> None:
        """Refuse a record of arrays that was made of other fields, if it cannot be."""
        for name, kind in self.fields.items():
            if isinstance(kind, Numbers):
                kind.check(getattr(made, name), where + name)
        if self.of in CHECKS:
            CHECKS[self.of](made, where)


@dataclass(frozen=True, eq=False)
class RecordUnion:
    """One of several records, chosen by its mark."""

    records: Mapping[str, Record]

    @classmethod
    def of(cls, *records: Record | type[Any]) -> Self:
        """Records by the marks of their classes."""
        made = [r if isinstance(r, Record) else RECORDS.setdefault(r, Record(r)) for r in records]
        return cls({mark_of(record.of): record for record in made})

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

    def write(self, value: Any, put: Put | None = None, **written: Any) -> dict[str, Any]:
        """Write the mark and the fields, but those that are `written` already."""
        name = mark_of(type(value))
        return {RECORD: name, **self.records[name].write(value, put, **written)}


# --- The kinds of the fields of a class, and what must hold between them


CHECKS: dict[type[Any], Callable[[Any, str], None]] = {}  # by the class
RECORDS: dict[type[Any], Record] = {}  # of classes that say all that files hold


def stored(kind: Kind) -> dict[str, Any]:
    """Metadata of a field that holds a `kind`.

    Examples
    --------
    >>> @dataclass
    ... class Bins:
    ...     edges: Any = field(metadata=stored(Numbers.limits("bins")))
    ...     name: str = ""
    >>> list(Record(Bins).fields)
    ['edges', 'name']
    """
    return {STORED: kind}


def checks(of: type[Any]) -> Callable[[Check], Check]:
    """Have a function compare the fields of every record of a class that was read."""

    def known(check: Check) -> Check:
        CHECKS[of] = check
        return check

    return known


def mark_of(of: type[Any]) -> str:
    """The mark of a class in files.

    Examples
    --------
    >>> mark_of(RecordUnion)
    'record_union'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", of.__name__).lower()


def kinds_of_fields(of: type[Any], left_out: set[str]) -> dict[str, Kind]:
    """Kinds of the fields of a class that files hold; nothing useful for those `left_out`."""
    scope = {"Numbers": Numbers, "ArrayDimension": ArrayDimension, "Result": Any}
    hints = get_type_hints(of, localns=scope, include_extras=True)
    names = (
        [f for f in fields(of) if f.metadata.get("is_written", True)] if is_dataclass(of) else []
    )
    given = {f.name: f.metadata.get(STORED) for f in names} or dict.fromkeys(hints)
    return {
        name: NOTHING if name in left_out else infer_kind(hints[name], kind)
        for name, kind in given.items()
    }


def infer_kind(hint: Any, given: Kind | None = None) -> Kind:
    """The kind of what is of a type; `given` where the type does not say enough.

    Examples
    --------
    >>> infer_kind(Literal["a", "b"] | None)
    Maybe(kind=Text(words=('a', 'b')))
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return infer_kind(args[0], args[1])
    if NoneType in args:
        (inner,) = (arg for arg in args if arg is not NoneType)
        return Maybe(infer_kind(inner, given))
    if given is not None:
        return given
    if origin is Literal:
        return Text(args)
    if origin is tuple and args[1:] == (...,):
        return Several(infer_kind(args[0]))
    if hint in PLAIN_KINDS:
        return PLAIN_KINDS[hint]
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return RecordUnion.of(hint)
    msg = f"{hint} does not say what files hold: add field(metadata=stored(...))"
    raise TypeError(msg)


NOTHING = Nothing()
PLAIN_KINDS: dict[type[Any], Kind] = {
    str: ANY_TEXT,
    bool: Truth(),
    int: WHOLE_NUMBER,
    float: Number(),
    Note: Remark(),
}


def write_plain_value(value: Any, put: Put | None = None) -> Any:
    """Turn plain values of Python and NumPy into those of JSON.

    Examples
    --------
    >>> write_plain_value({"a": (np.float64(0.5), float("nan"))})
    {'mapping': [['a', {'tuple': [0.5, {'number': 'nan'}]}]]}
    """
    if isinstance(value, np.ndarray):
        if put is not None:
            return put(value)
        return {"array": list_numbers(value), "type": value.dtype.name, "shape": [*value.shape]}
    if isinstance(value, Mapping):
        return {"mapping": [[k, write_plain_value(v, put)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [write_plain_value(v, put) for v in value]}
    if isinstance(value, list):
        return [write_plain_value(v, put) for v in value]
    if isinstance(value, np.generic):
        return write_plain_value(value.item())
    if isinstance(value, float) and not isfinite(value):
        return {"number": str(value)}
    return str(value) if isinstance(value, str) else value  # a note by itself is its text


def list_numbers(array: np.ndarray[Any, Any]) -> list[Any]:
    """List the numbers; nan and infinity, which JSON lacks, as null and text."""
    flat: list[Any] = array.ravel().tolist()
    if array.dtype.kind != "f" or np.all(np.isfinite(array)):
        return flat
    return [None if v != v else str(v) if abs(v) == inf else v for v in flat]  # noqa: PLR0124


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
