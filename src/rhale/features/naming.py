"""What people read for columns and outputs: what the user says, or else what the model answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from rhale.data.columns import repeated_in
from rhale.data.table import NumbersAlone, Table, TableInMemory
from rhale.errors import BadSettingError
from rhale.models import Predictor
from rhale.naming import find, near_names
from rhale.output.labels import Captions
from rhale.settings import Settings, name_all


def name_columns(table: TableInMemory, asked: Settings) -> TableInMemory:
    """Give columns of an array, which have no names of their own, those that the user says."""
    if not has_bare_columns(table):
        return table
    if asked.feature_names is None:
        unknown = [*(asked.columns or ())]
        if unknown and not {*map(str, unknown)} & {*table.names}:
            msg = (
                f"columns= names {unknown[0]!r:.60}, and the columns of a {table.kind} have no names; "
                "feature_names= gives them names, columns= chooses some of them"
            )
            raise BadSettingError(msg)
        return table
    words = list_words("feature_names", asked.feature_names, table.names)
    named: Any = table
    return cast(
        TableInMemory,
        replace(named, column_names=tuple(words.get(name, name) for name in table.names)),
    )


def keep_words(asked: Settings, names: Sequence[str], kept: Sequence[str]) -> Settings:
    """The same, with words by the names of columns, of those that are kept: columns will move."""
    words, left = asked.feature_names, {*names} - {*kept}
    if words is None or isinstance(words, str):
        return asked
    if not isinstance(words, Mapping):
        listed = names if len(words) == len(names) else [n for n in names if n not in left]
        if len(words) != len(listed):  # refused later, with the columns that are kept
            return asked
        words = dict(zip(listed, words, strict=True))
    named = zip(name_all(words, names), words.values(), strict=True)
    return replace(asked, feature_names={key: word for key, word in named if key not in left})


def has_bare_columns(table: Any) -> bool:
    """Tell whether columns are those of an array."""
    return isinstance(table, NumbersAlone)


def make_captions(asked: Settings, table: Table, predictor: Predictor) -> Captions:
    """Say what people read for the columns of a table and for what the model answers."""
    features = dict[str, str]()
    if asked.feature_names is not None and not has_bare_columns(table):
        features = list_words("feature_names", asked.feature_names, table.names)
    # words for outputs: the user's, or else what the model says of itself; a text names the target
    target = asked.output_names if isinstance(asked.output_names, str) else ""
    outputs = {label: predictor.word(label, target) for label in predictor.outputs}
    if asked.output_names is not None and not target:
        outputs |= list_words("output_names", asked.output_names, predictor.outputs)
    told = {**{name: name for name in (*table.names, *predictor.outputs)}, **features, **outputs}
    return Captions(features, outputs, read_units(asked.units, told))


def list_words(argument: str, asked: Any, keys: Sequence[str]) -> dict[str, str]:
    """Words by key: one for each key, in order, or a mapping by name or position.

    Examples
    --------
    >>> list_words("feature_names", ["Age", "Sex"], ["x0", "x1"])
    {'x0': 'Age', 'x1': 'Sex'}
    >>> list_words("feature_names", {1: "Sex"}, ["x0", "x1"])
    {'x1': 'Sex'}
    """
    if isinstance(asked, Mapping):
        words = {keys[_find_named_key(argument, key, keys)]: word for key, word in asked.items()}
    else:
        given = [asked] if isinstance(asked, str) else list(asked)
        if len(given) != len(keys):
            msg = (
                f"{argument}= has {len(given)} names for {len(keys)}: {', '.join(keys[:8])}; give "
                "one for each, in this order, or a mapping from some of them"
            )
            raise BadSettingError(msg)
        words = dict(zip(keys, given, strict=True))
    for key, word in words.items():
        if not isinstance(word, str) or not word.strip():
            msg = f"{argument}= calls {key!r} {word!r:.60}; give a text that people can read"
            raise BadSettingError(msg)
    repeated = repeated_in([words.get(key, key) for key in keys])
    if repeated:
        msg = f"{argument}= calls two by the same name, {repeated}; names must differ"
        raise BadSettingError(msg)
    return words


def read_units(asked: Any, told: Mapping[str, str]) -> dict[str, str]:
    """Units by key; the user may name features and outputs by what people read, too."""
    units = dict[str, str]()
    for name, unit in (asked or {}).items():
        found = [key for key, word in told.items() if name in (key, word)]
        if not found:
            known = list(dict.fromkeys(word for pair in told.items() for word in pair))
            msg = f"units= names {name!r:.60}, which is no feature and no output; "
            raise BadSettingError(msg + near_names(str(name), known))
        if not isinstance(unit, str):
            msg = f"units= gives {unit!r:.60} for {name!r}; give a text, say '$'"
            raise BadSettingError(msg)
        units[found[0]] = unit
    return units


def _find_named_key(argument: str, key: Any, keys: Sequence[str]) -> int:
    place = find(key, keys)
    if place is None:
        msg = f"{argument}= names {key!r:.60}, which is not there; {near_names(str(key), keys)}"
        raise BadSettingError(msg)
    return place
