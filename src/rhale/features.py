"""What each explained feature is: a number, a date, a few steps, or categories in some order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rhale.errors import BadSettingError, BadTableError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.order import level_distances, order_levels
from rhale.level_effect import name_others
from rhale.names import find_feature, list_asked
from rhale.tables import Table
from rhale.tables.columns import Labels, hashed, texts_of
from rhale.tables.levels import Levels
from rhale.tables.survey import Survey
from rhale.times import AxisKind, as_numbers, in_full, written

FeatureKind = Literal["number", "date", "duration", "steps", "categories"]
Said = bool | tuple[Any, ...]
KINDS: dict[str, AxisKind] = {"numbers": "number", "dates": "date", "durations": "duration"}
MOST_LEVELS, FEWEST_ROWS = 50, 5  # levels in no order of their own beyond that are pooled


@dataclass(frozen=True, eq=False)
class Feature:
    """One explained feature: where it is, and what is known of it.

    Attributes
    ----------
    name : str
        Its name.
    column, place : int
        Its column in the table, and its place among the explained ones.
    kind : {"number", "date", "duration", "steps", "categories"}
        How it is explained.
    axis : Axis
        Range and quantiles; of the levels' places, where there are levels.
    whole : bool
        Whether it takes whole numbers only.
    is_complete : bool
        Whether the axis knows every row.
    levels : Levels or None
        The levels of steps and categories, in order.
    n_missing : int
        Rows without a value.
    missing_share : float
        Their share of the weight.
    notes : tuple of str
        What a reader should know.
    """

    name: str
    column: int
    place: int
    kind: FeatureKind
    axis: Axis
    whole: bool
    is_complete: bool
    levels: Levels | None = None
    n_missing: int = 0
    missing_share: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether there is only one value."""
        return self.axis.low == self.axis.high if self.levels is None else self.levels.size == 1

    @property
    def axis_kind(self) -> AxisKind:
        """What its numbers are."""
        return self.kind if self.kind in ("date", "duration") else "number"


# --- what the user says ------------------------------------------------------------------------


def read_categorical(categorical: Any, names: Sequence[str]) -> dict[int, Said]:
    """Turn `categorical=` into a mapping from column to yes, no or an order of levels.

    Examples
    --------
    >>> read_categorical({"size": ["S", "M", "L"], "zip": True}, ["zip", "size"])
    {1: ('S', 'M', 'L'), 0: True}
    """
    if categorical is None:
        return {}
    if not isinstance(categorical, Mapping):
        if isinstance(categorical, bool):
            msg = "categorical= goes by column: pass {'column': True}, or a list of columns"
            raise BadSettingError(msg)
        categorical = dict.fromkeys(list_asked(categorical, "categorical"), True)
    said: dict[int, Said] = {}
    for feature, value in categorical.items():
        if isinstance(value, bool | np.bool_):
            said[find_feature(feature, names)] = bool(value)
            continue
        said[find_feature(feature, names)] = _order(feature, value)
    return said


def _order(feature: Any, value: Any) -> tuple[Any, ...]:
    """Check an order of levels."""
    if isinstance(value, str | Mapping | AbstractSet) or not isinstance(value, Iterable):
        msg = (
            f"categorical={{{feature!r}: {value!r:.60}}} is neither True, False nor an order of "
            "levels (a list)"
        )
        raise BadSettingError(msg)
    order = tuple(value)
    try:
        n_levels = len({plain_key(v) for v in order})
    except TypeError as error:
        msg = f"categorical= lists what is no level of {feature!r} ({error}); list names or numbers"
        raise BadSettingError(msg) from error
    if n_levels < len(order):
        msg = f"categorical= names a level of {feature!r} twice: {list(order)}"
        raise BadSettingError(msg)
    return order


def check_columns(table: Table, columns: Sequence[int], said: Mapping[int, Any]) -> None:
    """Refuse columns that hold what cannot be explained."""
    for column in columns:
        name, held = table.names[column], table.holds(column)
        if held is None:
            msg = (
                f"column {name!r} holds neither numbers, dates nor names; name the columns to "
                "explain in features= (the model still gets all columns)"
            )
            raise BadTableError(msg)
        if held in ("names", "objects") and said.get(column) is False:
            msg = f"categorical={{{name!r}: False}}, but the column holds no numbers; leave it out"
            raise BadSettingError(msg)


def has_no_order(table: Table, column: int, said: Said | None) -> bool:
    """Tell whether a column has levels without an order, given or declared."""
    if isinstance(said, tuple):
        return False
    named = table.holds(column) in ("names", "objects")
    return (named or said is True) and table.declared_order(column) is None


# --- what the rows say -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reader:
    """Turn what a first pass learned into features.

    Attributes
    ----------
    table : Table
        The table.
    survey : Survey
        What was learned.
    columns, beside : sequence of int
        The explained columns, and others that were sampled with them.
    said : mapping of int to bool or tuple
        From `read_categorical`.
    as_numbers : callable
        Tells of a feature of few whole numbers whether the user wants bins all the same.
    wanted_order : callable
        Gives the levels of a feature in the order in which another explanation has them.
    """

    table: Table
    survey: Survey
    columns: Sequence[int]
    beside: Sequence[int]
    said: Mapping[int, Said]
    as_numbers: Callable[[str], bool]
    wanted_order: Callable[[str], tuple[str, ...]] = lambda _: ()

    def labels(self) -> dict[int, Labels]:
        """Names of the explained columns of names, numbered in the order of their texts."""
        found = {}
        for census, column in zip(self.survey.census, self.columns, strict=True):
            if self.is_named(column):
                values = [value for _, value in census.found]
                values.sort(key=lambda v: (str(v), str(type(v))))
                found[column] = Labels(tuple(values), self.table.missing_value(column))
        return found

    def is_named(self, column: int) -> bool:
        """Whether a column holds names."""
        return self.table.holds(column) in ("names", "objects")

    def axis_kind(self, column: int) -> AxisKind:
        """What the numbers of a column are."""
        return KINDS.get(str(self.table.holds(column)), "number")

    def kind(self, place: int) -> FeatureKind:
        """How a feature is explained."""
        column = self.columns[place]
        held, said = self.table.holds(column), self.said.get(column)
        if self.is_named(column) or (said is not None and said is not False):
            return "categories"
        census = self.survey.census[place]
        few = len(census.found) > 1 and bool(self.survey.whole[place])  # none if there are many
        numbers = (
            held == "numbers" and said is None and not self.as_numbers(self.table.names[column])
        )
        if numbers and few:
            return "steps"
        return self.axis_kind(column)

    def feature(self, place: int, limits: tuple[float, float] | None) -> Feature:
        """Gather what is known of one feature."""
        column, seen = self.columns[place], self.survey
        name = self.table.names[column]
        if not seen.n_known[place]:
            msg = f"feature {name!r} has no value in any of {seen.n_rows:,} rows; leave it out"
            raise BadTableError(msg)
        kind, levels = self.kind(place), None
        notes: tuple[str, ...] = ()
        if kind in ("steps", "categories"):
            if limits is not None:
                msg = f"limits= are for numbers, but {name!r} has levels; select rows instead"
                raise BadSettingError(msg)
            levels, notes = self.levels(place, kind)
            axis = Axis(0.0, levels.size - 1.0, levels.edges, np.ones(levels.size), 1.0)
        else:
            axis = seen.axis(place, limits)
        n_missing = seen.n_rows - int(seen.n_known[place])
        share = 1.0 - float(seen.known_weight[place]) / seen.weight if n_missing else 0.0
        whole, complete = bool(seen.whole[place]), seen.sample.is_complete
        return Feature(
            name, column, place, kind, axis, whole, complete, levels, n_missing, share, notes
        )

    # --- levels --------------------------------------------------------------------------------

    def levels(self, place: int, kind: FeatureKind) -> tuple[Levels, tuple[str, ...]]:
        """Levels of a feature in order, and what to say about that."""
        column, census = self.columns[place], self.survey.census[place]
        weight = {key: w for key, (_, w) in census.found.items()}
        if kind == "steps":
            values = np.array(sorted(weight))
            is_truth = self.table.is_truth(column)
            names = tuple(str(bool(v)) if is_truth else plain_number(v) for v in values)
            return Levels(names, values, is_number=True), ()
        keys = self._keys(column) if self.is_named(column) else sorted(weight)
        texts = self._texts(column, keys)
        said = self.said.get(column)
        order = said if isinstance(said, tuple) else self.table.declared_order(column)
        if order is not None:
            chosen = self._declared(column, keys, order)
            places = self._places(column, keys)[chosen]
            increasing = not self.is_named(column) and bool(np.all(np.diff(places) > 0))
            return Levels(tuple(texts[i] for i in chosen), places, increasing), ()
        return self._by_similarity(place, keys, texts, np.array([weight[k] for k in keys]))

    def _keys(self, column: int) -> list[Any]:
        """Keys of a column's names in the order in which they are numbered."""
        return [(type(v), v) for v in self.table.labels_of(column).values]

    def _places(self, column: int, keys: Sequence[Any]) -> FloatArray:
        """What `Chunk.column` reads for each of these keys."""
        if self.is_named(column):
            return np.arange(len(keys), dtype=np.float64)
        return np.array(keys, dtype=np.float64)

    def _texts(self, column: int, keys: Sequence[Any]) -> tuple[str, ...]:
        """What to call the levels."""
        if self.is_named(column):
            return texts_of([value for _, value in keys])
        kind = self.axis_kind(column)
        if kind == "number":
            is_truth = self.table.is_truth(column)
            return tuple(str(bool(k)) if is_truth else plain_number(k) for k in keys)
        texts = tuple(written(k, kind) for k in keys)
        return texts if len(set(texts)) == len(keys) else tuple(in_full(k, kind) for k in keys)

    def _declared(self, column: int, keys: Sequence[Any], order: Sequence[Any]) -> list[int]:
        """Positions of the levels that have rows, in the declared order."""
        at: dict[Any, int]
        wanted: list[Any]
        if self.is_named(column):
            at = {plain_key(v): i for i, (_, v) in enumerate(keys)}
            wanted = [plain_key(v) for v in order]
        else:
            at = {key: i for i, key in enumerate(keys)}
            wanted = self._as_numbers(column, order)
        chosen = [at.get(v) for v in wanted]
        left = set(range(len(keys))) - set(chosen)
        if left:
            texts = self._texts(column, keys)
            shown = ", ".join(sorted(repr(texts[i]) for i in left)[:5])
            msg = (
                f"the order given for {self.table.names[column]!r} leaves out {len(left)} of its "
                f"levels: {shown}; list every level that the rows have"
            )
            raise BadSettingError(msg)
        return [i for i in chosen if i is not None]

    def _as_numbers(self, column: int, order: Sequence[Any]) -> list[float]:
        """Levels of a column of numbers or dates, as the user listed them."""
        try:
            return list(as_numbers(list(order), self.axis_kind(column)).tolist())
        except BadSettingError as error:
            msg = f"the order given for {self.table.names[column]!r}: {error}"
            raise BadSettingError(msg) from error

    def _by_similarity(
        self, place: int, keys: Sequence[Any], texts: tuple[str, ...], weight: FloatArray
    ) -> tuple[Levels, tuple[str, ...]]:
        """Pool rare levels, and order the rest by how similar their rows are."""
        column, seen = self.columns[place], self.survey
        places = self._places(column, keys)
        rows = np.array([seen.census[place].found[k][0] for k in keys])
        kept, pooled = split_rare(rows, weight)
        names = [texts[i] for i in kept]
        if pooled.size:
            names.append(_unlike(name_others(pooled.size), texts))
        group = np.full(len(keys), len(kept))
        group[kept] = np.arange(len(kept))
        wanted = self.wanted_order(self.table.names[column])
        if wanted:
            order, how = (
                _as_wanted(self.table.names[column], names, wanted),
                "as in the other explanation",
            )
        else:
            order, how = self._ordered(place, keys, group, len(names))
        spots = np.append(places[kept], [np.nan] if pooled.size else [])[order]
        notes = [f"levels ordered {how}"] if len(names) > 2 else []
        levels = Levels(tuple(names[i] for i in order), spots)
        if pooled.size:
            shown = ", ".join(texts[i] for i in pooled[:3])
            notes.append(
                f"{pooled.size} rare levels are pooled: {shown}{', ...' if pooled.size > 3 else ''}"
            )
            levels = replace(
                levels,
                pooled=places[pooled],
                pooled_weight=weight[pooled],
                pooled_names=tuple(texts[i] for i in pooled),
            )
        return levels, tuple(notes)

    def _ordered(
        self, place: int, keys: Sequence[Any], group: IntArray, n_levels: int
    ) -> tuple[IntArray, str]:
        """Order of the levels, and how it was found."""
        sample, is_named = self.survey.sample, self.is_named(self.columns[place])
        own = {hashed(k[1]) if is_named else k: g for k, g in zip(keys, group, strict=True)}
        level = np.array([own.get(v, -1) for v in sample.values[:, place]], dtype=np.int64)
        rows = level >= 0
        numbers, names = [], []
        for i, column in enumerate((*self.columns, *self.beside)):
            values = sample.values[rows, i]
            if i == place:
                continue
            if self.is_named(column):
                names.append(np.unique(values, return_inverse=True)[1])
            elif self.table.holds(column) is not None:
                numbers.append(values)
        if not (numbers or names):
            return np.arange(n_levels), "by name, for want of other columns to compare them by"
        if not rows.any():
            return np.arange(n_levels), "by name, as none of their rows are in the sample"
        found = np.unique(level[rows])
        lacking = np.setdiff1d(np.arange(n_levels), found)
        weight = sample.weight[rows] * (self.survey.weight / self.survey.weight_squares)
        own_place = np.searchsorted(found, level[rows])
        distance = level_distances(own_place, found.size, numbers, names, weight)
        how = "by similarity of the other columns"
        if not sample.is_complete:
            how += f" in a sample of {len(level):,} rows"
        if lacking.size:
            are = "level that it lacks comes" if lacking.size == 1 else "levels that it lacks come"
            how += f"; {lacking.size} {are} last"
        return np.concatenate([found[order_levels(distance)], lacking]), how


def _as_wanted(feature: str, names: Sequence[str], wanted: Sequence[str]) -> IntArray:
    """Order of levels that another explanation has."""
    new = [name for name in names if name not in wanted]
    if new:
        msg = (
            f"the other explanation has no levels {', '.join(map(repr, new[:5]))} of {feature!r}; "
            f"give their order with categorical={{{feature!r}: [...]}}"
        )
        raise BadSettingError(msg)
    return np.array(sorted(range(len(names)), key=lambda i: wanted.index(names[i])))


def split_rare(rows: IntArray, weight: FloatArray) -> tuple[IntArray, IntArray]:
    """Positions of the levels to keep, and of those to pool; one alone is not pooled.

    Examples
    --------
    >>> split_rare(np.array([9, 1, 2, 8]), np.array([9.0, 1.0, 2.0, 8.0]))
    (array([0, 3]), array([1, 2]))
    """
    rank = np.empty(rows.size, dtype=np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(rows.size)
    rare = (rows < FEWEST_ROWS) | (rank >= MOST_LEVELS)
    if rare.sum() < 2:
        rare[:] = False
    return np.flatnonzero(~rare), np.flatnonzero(rare)


def plain_key(value: Any) -> tuple[type, Any]:
    """Tell values apart as a model does, but NumPy's from Python's not.

    Examples
    --------
    >>> plain_key(np.str_("a")) == plain_key("a"), plain_key(1) == plain_key(True)
    (True, False)
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    return type(value), value


def _unlike(name: str, texts: Sequence[str]) -> str:
    """A name that none of the levels has."""
    while name in texts:
        name += " "
    return name


def plain_number(value: float) -> str:
    """Write a number in full.

    Examples
    --------
    >>> plain_number(3.0), plain_number(1e7), plain_number(0.25)
    ('3', '10000000', '0.25')
    """
    return str(int(value)) if value == int(value) else repr(float(value))
