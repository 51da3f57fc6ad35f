"""Models in the user's units: `transform=` of columns and predictions, and the map of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from types import EllipsisType
from typing import Any, NamedTuple, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data import Table, TableInMemory
from rhale.data.array import ArrayTable
from rhale.data.columns import column_at
from rhale.data.frame import FrameTable
from rhale.data.replaced import RowTypes, read_numbers, replace_columns
from rhale.errors import BadSettingError, BadTableError, UnknownOutputError, excerpt
from rhale.models.adapter import Adapter, Walker
from rhale.models.libraries import Answer
from rhale.models.questions import check_answer
from rhale.models.trees.model import BLACK_BOX, WHAT_IS_LOST
from rhale.models.trees.walker import RAW, TreeWalker
from rhale.naming import find, near_names
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray

Map = Callable[[Any], Any]
LINE_TOLERANCE = 1e-9  # of the range: what differs less lies on a line
EPS = float(np.finfo(np.float64).eps)
# Of differences of fourth order, near the ends of a domain, too.
DERIVATIVE_STEP, MIN_STEP_SCALE = EPS**0.2 / 4, 0.1
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


@dataclass(frozen=True, eq=False)
class UnitMap:
    """From a model's units to people's, number by number."""

    what: str  # what is mapped, for messages: "'age'"
    to_people: Map  # from the model's units to people's
    to_model: Map | None = None  # the way back; None where it is not known, or not needed
    # Of `to_people`, at numbers in the model's units; None to find it by differences
    derivative: Map | None = None
    # Size of these numbers, by which steps of differences are measured near zero
    scale: FloatArray | float = 1.0
    # Whether the functions take a table with a column for each mapped one, nan where values are
    # missing; else they take the known values of one column
    is_block: bool = False

    def people(self, values: FloatArray) -> FloatArray:
        """Numbers of the model, shape (n, n_columns) or any shape of one, as people read them."""
        return self._apply(self.to_people, values)

    def model(self, values: FloatArray) -> FloatArray:
        """Numbers of people as the model takes them."""
        assert self.to_model is not None  # noqa: S101 - callers know of an inverse
        return self._apply(self.to_model, values)

    def slope(self, values: FloatArray) -> FloatArray:
        """Derivative of `people` at numbers of the model: known, or by differences to 1e-10."""
        if self.derivative is not None:
            return self._apply(self.derivative, values)
        step = DERIVATIVE_STEP * np.maximum(np.abs(values), MIN_STEP_SCALE * np.asarray(self.scale))
        with np.errstate(invalid="ignore", over="ignore"):
            parts = [weight * self.people(values + at * step) for at, weight in STENCIL]
        return np.asarray(sum(parts) / step)

    def _apply(self, function: Map, values: FloatArray) -> FloatArray:
        if self.is_block:
            table = values if values.ndim == 2 else values.reshape(-1, 1)
            found = np.asarray(function(table), dtype=np.float64)
            self._require(found.shape == table.shape, found.shape, table.shape)
            return found.reshape(values.shape)
        known = ~np.isnan(values)
        mapped = np.full(values.shape, np.nan)
        found = np.asarray(function(values[known]), dtype=np.float64)
        self._require(found.shape == (int(known.sum()),), found.shape, (int(known.sum()),))
        mapped[known] = found
        return mapped

    def _require(self, good: bool, found: Any, wanted: Any) -> None:  # noqa: FBT001
        if not good:
            msg = (
                f"transform= of {self.what} gave an array of shape {found} for one of {wanted}; use "
                "functions that map each number separately"
            )
            raise BadSettingError(msg)


# functions that NumPy knows the way back of: that, and the derivative
KNOWN_INVERSES: dict[Any, tuple[Map, Map]] = {
    np.exp: (np.log, np.exp),
    np.expm1: (np.log1p, np.exp),
    np.exp2: (np.log2, lambda z: np.log(2.0) * np.exp2(z)),
    np.log: (np.exp, np.reciprocal),
    np.log1p: (np.expm1, lambda z: 1 / (1 + z)),
    np.log2: (np.exp2, lambda z: 1 / (z * np.log(2.0))),
    np.log10: (lambda x: 10.0**x, lambda z: 1 / (z * np.log(10.0))),
    np.sqrt: (np.square, lambda z: 0.5 / np.sqrt(z)),
    np.square: (np.sqrt, lambda z: 2 * z),
    np.cbrt: (lambda x: x**3, lambda z: 1 / (3 * np.cbrt(z) ** 2)),
    np.reciprocal: (np.reciprocal, lambda z: -1 / z**2),
    np.sinh: (np.arcsinh, np.cosh),
    np.arcsinh: (np.sinh, lambda z: 1 / np.sqrt(1 + z**2)),
    np.tanh: (np.arctanh, lambda z: 1 / np.cosh(z) ** 2),
    np.arctanh: (np.tanh, lambda z: 1 / (1 - z**2)),
}


def complete_unit_map(
    found: UnitMap, values: FloatArray, precision: FloatArray
) -> tuple[UnitMap, FloatArray]:
    """Try a map on all numbers of a table; straight lines are made exact, and get a way back.

    Shapes: values (n_rows, n_columns), precision (n_columns,), result (n_rows, n_columns).
    """
    people = try_map(found, values)
    line = find_line(found, values, people)
    if line is not None:
        settled = line
    elif found.to_model is None:
        msg = (
            f"transform= of {found.what} is a function whose inverse is not known; pass both, "
            "(to_original, to_model), such as (np.exp, np.log)"
        )
        raise BadSettingError(msg)
    else:
        settled = replace(found, scale=compute_column_scale(values))
    people = make_whole(people, precision)  # so that years stay years
    require_way_back(settled, values, people, precision)
    return settled, people


def try_map(found: UnitMap, values: FloatArray) -> FloatArray:
    """Map all numbers; what goes wrong is the user's function's."""
    try:
        with np.errstate(all="ignore"):
            people = found.people(values)
    except BadSettingError:
        raise
    except Exception as error:
        msg = f"transform= of {found.what} failed: {type(error).__name__}: {excerpt(error)}"
        raise BadSettingError(msg) from error
    lost = np.isfinite(values) & ~np.isfinite(people)
    if lost.any():
        first = values[lost][0]
        msg = (
            f"transform= of {found.what} turns {first:.6g} into "
            f"{people[lost][0]}; it maps the model's units to original units: np.exp for log(x)"
        )
        raise BadSettingError(msg)
    return people


def find_line(found: UnitMap, values: FloatArray, people: FloatArray) -> UnitMap | None:
    """The straight line that a map is in every column, with the line back; None if it is not."""
    low, high = _ends(values)
    ends = try_map(found, np.stack([low, high]))
    factor = (ends[1] - ends[0]) / (high - low)
    shift = ends[0] - factor * low
    digits = 64 * EPS * np.abs(ends).max(axis=0)
    room = np.maximum(LINE_TOLERANCE * np.abs(ends[1] - ends[0]), digits)
    with np.errstate(invalid="ignore"):
        off = np.abs(shift + factor * values - people) > room
        middle = np.abs(try_map(found, (low + high)[None] / 2)[0] - ends.mean(axis=0)) > room
    if off.any() or middle.any() or not np.all(np.isfinite(factor) & (factor != 0)):
        return None
    return UnitMap(
        found.what,
        partial(_line_to_people, factor, shift),
        partial(_line_back, factor, shift),
        partial(_line_slope, factor),
        is_block=True,
    )


def _ends(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest known number of each column; one apart where they are the same."""
    known = np.isfinite(values)
    low = np.where(known, values, np.inf).min(axis=0)
    high = np.where(known, values, -np.inf).max(axis=0)
    low = np.where(np.isfinite(low), low, 0.0)
    return low, np.where(high > low, high, low + 1.0)


def _line_to_people(factor: FloatArray, shift: FloatArray, values: FloatArray) -> FloatArray:
    return shift + factor * values


def _line_back(factor: FloatArray, shift: FloatArray, values: FloatArray) -> FloatArray:
    return (values - shift) / factor


def _line_slope(factor: FloatArray, values: FloatArray) -> FloatArray:
    return np.broadcast_to(factor, values.shape)


def compute_column_scale(values: FloatArray) -> FloatArray:
    """Root of the mean square of each column; 1 where there is none."""
    known = np.where(np.isfinite(values), values, np.nan)
    counted = np.isfinite(known).any(axis=0)
    size = np.sqrt(np.nanmean(np.where(counted, known, 1.0) ** 2, axis=0))
    return np.where(size > 0, size, 1.0)


def make_whole(people: FloatArray, precision: FloatArray) -> FloatArray:
    """Make columns whole whose numbers are, but for the rounding on their way to the model."""
    largest = np.nanmax(np.abs(people), axis=0, initial=0.0)
    room = 16 * precision * np.maximum(largest, 1.0)
    whole = np.rint(people)
    with np.errstate(invalid="ignore"):
        is_whole = ~np.any(np.abs(people - whole) > room, axis=0) & (room < 0.01)
    return np.where(is_whole, whole, people)


def require_way_back(
    settled: UnitMap, values: FloatArray, people: FloatArray, precision: FloatArray
) -> None:
    """Refuse maps that do not come back, or that change the order of numbers in a column."""
    with np.errstate(all="ignore"):
        back = settled.model(people)
        digits = 64 * EPS * np.abs(people / settled.slope(values))  # that people's numbers have
    room = np.fmax(
        np.sqrt(precision) * np.maximum(np.abs(values), compute_column_scale(values)), digits
    )
    lost = np.isfinite(values) & ~(np.abs(back - values) <= room)
    if lost.any():
        place = tuple(np.argwhere(lost)[0])
        msg = (
            f"transform= of {settled.what} is not undone by its inverse: {values[place]:.6g} becomes "
            f"{people[place]:.6g} in original units and {back[place]:.6g} for the model; pass "
            "functions that undo each other, (to_original, to_model)"
        )
        raise BadSettingError(msg)
    order = np.argsort(values, axis=0)
    steps = np.diff(np.take_along_axis(people, order, axis=0), axis=0)
    with np.errstate(invalid="ignore"):
        mixed = (steps > 0).any(axis=0) & (steps < 0).any(axis=0)
    if mixed.any():
        msg = (
            f"transform= of {settled.what} rises in places and falls in others; an axis needs a "
            "function that only rises, or only falls"
        )
        raise BadSettingError(msg)


# --- Models in the user's units: `transform=` of columns and predictions


OpenedTable = TypeVar("OpenedTable", bound=Table)
FLOAT32_EPS, FLOAT64_EPS = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)
PREDICTION_LABEL = "prediction"  # what the one output of a regressor is called for people
CONVERSION_PROBE_ROWS, FEW_PROBE_ROWS = 64, 8
PIPELINE = (
    "put it into a pipeline with the model, and explain the raw table: "
    "rhale.explain(make_pipeline(scaler, model), raw)"
)


@dataclass(frozen=True, eq=False)
class Conversions:
    """Conversion of rows to the units of the model, and of predictions to original units."""

    # Columns that are mapped, each once, together with others where one map is of several
    columns: tuple[tuple[tuple[int, ...], UnitMap], ...]
    # Maps of the answers, by what the user calls the outputs; by `...` that of all of them
    outputs: Mapping[str | EllipsisType, UnitMap]
    # Types of the model's rows
    types: RowTypes = field(default_factory=lambda: RowTypes(np.dtype(np.float64), {}))
    words: Any = None  # what people read for outputs, as in `rhale.explain`
    names: tuple[str, ...] = ()  # columns of the table

    def model_numbers(self, rows: Any) -> list[FloatArray]:
        """Numbers of the model for each of `columns`, shape (n_rows, n_columns)."""
        with np.errstate(all="ignore"):
            return [one.model(read_numbers(rows, places)) for places, one in self.columns]

    def model_rows(self, rows: Any, numbers: Sequence[FloatArray] | None = None) -> Any:
        """Rows in the model's units; `numbers` are those of `model_numbers`, if they are known."""
        numbers = self.model_numbers(rows) if numbers is None else numbers
        new = {
            place: found[:, i]
            for (places, _), found in zip(self.columns, numbers, strict=True)
            for i, place in enumerate(places)
        }
        return self.types.write(rows, new) if new else rows

    def people_answers(self, named: Outputs, answers: FloatArray) -> FloatArray:
        """Answers of the model, shape (..., n_outputs), as people read them."""
        mapped = np.array(answers)
        with np.errstate(all="ignore"):  # what is not finite is refused, with its row
            for place, one in self.find_outputs(named).items():
                mapped[..., place] = one.people(answers[..., place])
        return mapped

    def find_outputs(self, named: Outputs) -> dict[int, UnitMap]:
        """Maps of the answers by the place of the output, once outputs are known."""
        found = {}
        for name, one in self.outputs.items():
            if isinstance(name, EllipsisType):
                return dict.fromkeys(range(len(named.labels)), one)
            place = named.find(name, self.words)
            if place is None:
                msg = f"transform= or output_transform= names {name!r}, which is no feature or output; "
                raise UnknownOutputError(msg + near_names(name, [*self.names, *named.labels]))
            found[place] = one
        return found


class Outputs(NamedTuple):
    """What a model calls its outputs, and which are explained unless others are asked for."""

    labels: tuple[str, ...]
    usual: tuple[int, ...]

    @classmethod
    def of(cls, adapter: Adapter, n_outputs: int) -> Outputs:
        """Those of a model that gives so many answers; y0, y1, ... where it has no names."""
        labels, usual = adapter.labels, adapter.usual_outputs
        if labels is None or len(labels) != n_outputs:
            labels, usual = tuple(f"y{i}" for i in range(n_outputs)), None
        return cls(labels, tuple(range(n_outputs)) if usual is None else usual)

    def find(self, asked: str, words: Any) -> int | None:
        """Place of an output: by its label, or by what people read (`output_names=`)."""
        place = find(asked, self.labels)
        if place is not None:
            return place
        if isinstance(words, Mapping):
            told = {word: find(label, self.labels) for label, word in words.items()}
        else:
            listed = [words] if isinstance(words, str) or words is None else list(words)
            is_one_each = len(listed) == len(self.usual)
            told = dict(zip(listed, self.usual, strict=True)) if is_one_each else {}
        if len(self.usual) == 1:
            told.setdefault(PREDICTION_LABEL, self.usual[0])
        return told.get(asked)


def convert(
    table: OpenedTable, transform: Any, words: Any = None, output_transform: Any = None
) -> tuple[OpenedTable, Conversions]:
    """Bring a table from the model's units to people's, and learn the way back."""
    asked, outputs = read_transform(transform, table.names, is_array=isinstance(table, ArrayTable))
    if output_transform is not None:
        outputs = read_output_transform(output_transform, outputs)
    if not asked:  # rows stay as they are, wherever they are
        return table, Conversions((), outputs, words=words, names=table.names)
    if not isinstance(table, TableInMemory) or not table.storage.is_memory:
        msg = (
            f"transform= needs a table in memory, and this is one of {table.kind}; for others, "
            + PIPELINE.replace("it ", "the scaler ", 1)
        )
        raise BadSettingError(msg)
    columns, new = list[tuple[tuple[int, ...], UnitMap]](), dict[int, FloatArray]()
    for places, one in asked:
        # only numbers have units
        for place in places:
            if table.holds(place) != "number" or table.is_truth(place):
                what = "truth values" if table.is_truth(place) else f"{table.holds(place)}s"
                msg = f"transform= names {table.names[place]!r}, which holds {what}; it is for numbers"
                raise BadSettingError(msg)
        chunk = table.chunk(0, table.n_rows)
        values = np.stack([chunk.column(place) for place in places], axis=1)
        # relative precision of the numbers: that of float32 where a column holds such
        if isinstance(table, FrameTable):
            singles = [column_at(table.frame, place).dtype == nw.Float32 for place in places]
        else:
            singles = [isinstance(table, ArrayTable) and table.array.dtype.itemsize <= 4] * len(
                places
            )
        precision = np.where(singles, FLOAT32_EPS, FLOAT64_EPS)
        settled, people = complete_unit_map(one, values, precision)
        columns.append((places, settled))
        new |= {place: people[:, i] for i, place in enumerate(places)}
    types = RowTypes.of(table, list(new))
    ways = Conversions(tuple(columns), outputs, types, words, table.names)
    return cast("OpenedTable", replace_columns(table, new)), ways


def describe_conversions(
    table: TableInMemory, transform: Any, output_transform: Any = None
) -> dict[str, Any]:
    """Tell a transform from others by what it does to a few numbers, as plain values."""
    made, ways = convert(table, transform, output_transform=output_transform)
    chunk = made.chunk(0, min(made.n_rows, FEW_PROBE_ROWS))
    places = [place for several, _ in ways.columns for place in several]
    columns = {made.names[place]: chunk.column(place).tolist() for place in places}
    some = np.linspace(-1.0, 1.0, FEW_PROBE_ROWS)
    return columns | {str(name): one.people(some).tolist() for name, one in ways.outputs.items()}


def read_output_transform(
    given: Any, named: Mapping[str | EllipsisType, UnitMap]
) -> dict[str | EllipsisType, UnitMap]:
    """Read `output_transform=`: one way for all outputs, or a mapping from some of them.

    `named` are outputs that `transform=` has named already, and which may not be given twice.
    """
    if named:
        msg = (
            f"transform= names {next(iter(named))!r}, which is no feature, and output_transform= "
            "is given, too; name outputs in one of the two"
        )
        raise BadSettingError(msg)
    if isinstance(given, Mapping):
        return {
            str(key): read_map(how, repr(key), "output_transform") for key, how in given.items()
        }
    return {...: read_map(given, "the outputs", "output_transform")}


def read_transform(
    transform: Any, names: Sequence[str], *, is_array: bool = False
) -> tuple[list[tuple[tuple[int, ...], UnitMap]], dict[str | EllipsisType, UnitMap]]:
    """What is asked of columns, by their places, and of outputs, by what the user calls them."""
    if transform is None:
        return [], {}
    if isinstance(transform, Mapping):
        columns = list[tuple[tuple[int, ...], UnitMap]]()
        outputs = dict[str | EllipsisType, UnitMap]()
        for key, how in transform.items():
            place, one = find(key, names), read_map(how, repr(key))
            if place is None:
                outputs[str(key)] = one
            elif any(place in places for places, _ in columns):
                msg = f"transform= names {names[place]!r} twice"
                raise BadSettingError(msg)
            else:
                columns.append(((place,), one))
        return columns, outputs
    refuse_class(transform)
    kind = type(transform).__name__
    if not hasattr(transform, "inverse_transform"):
        if hasattr(transform, "transform"):
            msg = f"transform={kind} has no inverse_transform, so original units are unknown; {PIPELINE}"
        else:
            msg = (
                f"transform={excerpt(repr(transform), 60)} does not say which columns or outputs it "
                "belongs to; pass a scaler that was fitted on the table, or a mapping from feature "
                "or output to a function: {'price': np.exp}. A function of the output alone is "
                "output_transform=, which can be combined with transform=scaler"
            )
        raise BadSettingError(msg)
    places = places_of(transform, names, is_array=is_array)
    return [(places, scaler_map(transform, kind, len(places)))], {}


def read_map(how: Any, what: str, argument: str = "transform") -> UnitMap:
    """Read one conversion to original units: a function, a pair of them, or a scaler of one column."""
    refuse_class(how, argument)
    if hasattr(how, "inverse_transform") and not callable(how):
        n_columns = getattr(how, "n_features_in_", 1)
        if n_columns != 1:
            msg = (
                f"{argument}= of {what} was fitted on {n_columns} columns; pass one of a single "
                "column, or transform=scaler for the whole table"
            )
            raise BadSettingError(msg)
        return scaler_map(how, what, 1)
    if isinstance(how, tuple | list) and len(how) == 2 and all(map(callable, how)):
        return UnitMap(what, how[0], how[1])
    try:
        back, derivative = KNOWN_INVERSES[how]
    except (KeyError, TypeError):
        if callable(how):
            return UnitMap(what, how)
    else:
        return UnitMap(what, how, back, derivative)
    msg = (
        f"{argument}= of {what} is {how!r:.60}; pass a function from the model's units to original "
        "units, such as np.exp, a pair (to_original, to_model), or a fitted scaler"
    )
    raise BadSettingError(msg)


def refuse_class(how: Any, argument: str = "transform") -> None:
    """Refuse a class where a fitted instance is meant."""
    if isinstance(how, type):
        msg = f"{argument}= holds {how.__name__}, which is a class; pass a fitted instance of it"
        raise BadSettingError(msg)


def places_of(scaler: Any, names: Sequence[str], *, is_array: bool) -> tuple[int, ...]:
    """Columns of the table that a scaler was fitted on: by name, where both have names."""
    known = getattr(scaler, "feature_names_in_", None)
    n_columns = getattr(scaler, "n_features_in_", len(names))
    if known is None or is_array:
        if n_columns != len(names):
            msg = (
                f"transform={type(scaler).__name__} was fitted on {n_columns} columns, the table "
                f"has {len(names)}, and they have no names in common; pass a mapping from feature "
                "to a function that returns original units, or fit it on a data frame and explain one"
            )
            raise BadSettingError(msg)
        return tuple(range(n_columns))
    lacking = [str(name) for name in known if str(name) not in names]
    if lacking:
        msg = (
            f"transform={type(scaler).__name__} was fitted on {lacking[0]!r}, which the table does "
            f"not have; {near_names(lacking[0], list(names))}"
        )
        raise BadTableError(msg)
    return tuple(list(names).index(str(name)) for name in known)


def scaler_map(scaler: Any, what: str, n_columns: int) -> UnitMap:
    """The map of a fitted scaler, which must treat every column by itself."""
    # a copy that takes arrays: scikit-learn warns of those where a scaler has seen names
    nameless = deepcopy(scaler)
    for part in (nameless, *(step for _, step in getattr(nameless, "steps", ()))):
        getattr(part, "__dict__", {}).pop("feature_names_in_", None)
    back = getattr(nameless, "transform", None)
    found = UnitMap(what, nameless.inverse_transform, back, is_block=True)
    rng = np.random.default_rng(0)
    probe = rng.uniform(0.1, 0.9, size=(CONVERSION_PROBE_ROWS, n_columns))
    try:
        mapped = found.people(probe)
    except BadSettingError:
        raise
    except Exception as error:
        msg = f"transform={what} cannot undo itself: {type(error).__name__}: {excerpt(error)}"
        raise BadSettingError(msg) from error
    turned = rng.permuted(np.tile(np.arange(CONVERSION_PROBE_ROWS), (n_columns, 1)).T, axis=0)
    again = found.people(np.take_along_axis(probe, turned, axis=0))
    if not np.allclose(again, np.take_along_axis(mapped, turned, axis=0), equal_nan=True):
        msg = f"transform={what} mixes columns, which then have no units of their own; {PIPELINE}"
        raise BadSettingError(msg)
    return found


# --- A model in original units: rows are converted before it predicts, predictions after it


SHARED_SUMS = ("softmax",)  # links whose answers depend on the sums of all outputs
WHY_ASKED = (
    "transform= of an output needs outputs that are each computed from their own sum of leaves, but "
    "each of these depends on the sums of all; leave it out, or take response='margin'"
)


@dataclass(frozen=True, eq=False)
class ConvertedModel(Adapter):
    """A model of any kind whose rows and predictions are in original units."""

    inner: Adapter  # the model, in units of its own
    ways: Conversions  # the way to these, and from its answers to people's
    # (n_outputs,): size of its answers, by which steps of differences are measured
    scale: FloatArray | float = 1.0
    # Walks the trees of the model behind the way to its units; None where that is not possible
    walker: Walker | None = None

    @property
    def kind(self) -> str:
        """What the model is, for people."""
        return self.inner.kind

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of all outputs, where the model has names for them."""
        return self.inner.labels

    @property
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Outputs to explain when the user names none."""
        return self.inner.usual_outputs

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns that the model takes, in its order."""
        return self.inner.columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the model says, and that its trees are not walked, where they could have been."""
        if self.walker is not None or self.inner.walker is None:
            return self.inner.notes
        return (*self.inner.notes, Note(BLACK_BOX, f"{WHAT_IS_LOST}: {WHY_ASKED}"))

    @property
    def answers(self) -> Answer:
        """What the numbers are, for people; a margin that is mapped is none any more."""
        is_mapped = bool(self.ways.outputs) and self.inner.answers != "probability"
        return "prediction" if is_mapped else self.inner.answers

    @property
    def is_differentiable(self) -> bool:
        """Whether the model is: units change by the chain rule."""
        return self.inner.is_differentiable

    @property
    def checked_rows(self) -> int:
        """Rows that were asked to see whether the walker gives the model's own answers."""
        return self.inner.checked_rows

    @property
    def n_threads(self) -> int:
        """How many chunks may be answered at a time."""
        return 1 if self.walker is None else self.inner.n_threads

    @property
    def device(self) -> Any:
        """Where the model computes."""
        return self.inner.device

    @property
    def is_placed(self) -> bool:
        """Whether it computes there and nowhere else."""
        return self.inner.is_placed

    def move_to(self, device: Any) -> Adapter:
        """The same with the model on a device; rows and slopes come from the host."""
        return replace(self, inner=self.inner.move_to(device))

    def session(self) -> AbstractContextManager[None]:
        """Prepare the model, and leave it afterwards as it was."""
        return self.inner.session()

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks, for a while."""
        with self.inner.answer_alone() as alone:
            yield replace(self, inner=alone)

    def predict(self, rows: Any) -> Any:
        """Ask about rows in the model's units, and give answers in people's."""
        answer = self.inner.predict(self.ways.model_rows(rows))
        if not self.ways.outputs:
            return answer
        own = check_answer(answer, len(rows))
        mapped = self.ways.people_answers(Outputs.of(self.inner, own.shape[1]), own)
        # maps that lose answers of the model, which is not to blame for that
        lost = np.isfinite(own) & ~np.isfinite(mapped)
        if lost.any():
            msg = (
                f"transform= of an output turns the prediction {own[lost][0]:.6g} into "
                f"{mapped[lost][0]}; it maps the model's units to original units: np.exp for log(y)"
            )
            raise BadSettingError(msg)
        return mapped

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """Answers, and slopes of people's answers along people's numbers, by the chain rule."""
        numbers = self.ways.model_numbers(rows)
        answer, found = self.inner.gradient(self.ways.model_rows(rows, numbers), outputs)
        slopes = np.array(found, dtype=np.float64)
        for (places, one), own in zip(self.ways.columns, numbers, strict=True):
            with np.errstate(divide="ignore"):
                stretch = 1 / one.slope(own)
            # a row without a value has a slope all the same, which counts for nothing
            slopes[:, :, list(places)] *= np.where(np.isnan(own), 1.0, stretch)[:, None]
        if not self.ways.outputs:
            return answer, slopes
        own = check_answer(answer, len(rows))
        # how steeply people's answers follow the model's, shape (n_rows, n_outputs)
        named = Outputs.of(self.inner, own.shape[1])
        steepness, scale = np.ones_like(own), np.broadcast_to(self.scale, own.shape[1:])
        for place, output_map in self.ways.find_outputs(named).items():
            scaled = replace(output_map, scale=float(scale[place]))
            with np.errstate(all="ignore"):  # what is not finite is refused, with its row
                steepness[:, place] = scaled.slope(own[:, place])
        mapped = self.ways.people_answers(named, own)
        return mapped, slopes * steepness[:, list(outputs), None]

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Let the model see an answer of its own, and learn how large its answers are."""
        seen = self.ways.model_rows(rows)
        own = self.inner.predict(seen)
        inner = self.inner.recognise(seen, own)
        answers = check_answer(own, len(rows))
        made = replace(self, inner=inner, scale=compute_column_scale(answers))
        if not isinstance(inner.walker, TreeWalker):
            return made
        return replace(made, walker=self._walk_between(inner.walker, rows, answers.shape[1]))

    def _walk_between(self, walker: TreeWalker, rows: Any, n_outputs: int) -> Walker | None:
        """The walker of the model between the ways to its units and from them."""
        reading, after = walker.reading, None
        if self.ways.outputs:
            shares = walker.response not in RAW and reading.link in SHARED_SUMS
            if shares or reading.combine is not None:
                return None
            after = partial(self.ways.people_answers, Outputs.of(self.inner, n_outputs))
        if not self.ways.columns:
            return replace(walker, after=after)
        columns = np.arange(np.shape(rows)[1]) if reading.columns is None else reading.columns
        transform = partial(_in_turn, self.ways, reading.transform)
        reading = replace(reading, columns=columns, transform=transform)
        return replace(walker, reading=reading, after=after)


def _in_turn(ways: Conversions, transform: Any, rows: Any) -> Any:
    """Rows as the trees see them: in the model's units, and through its own steps."""
    seen = ways.model_rows(rows)
    return seen if transform is None else transform(seen)
