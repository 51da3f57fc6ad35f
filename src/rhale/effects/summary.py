"""Results as rows, and rows as the user's kind of data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from rhale.effects.listing import curve_rows, name_differing, share_told
from rhale.effects.result import STATISTICS, Result, find_result_axis_kind, reach
from rhale.effects.table import UNDEFINED, Columns, add_labels, name_places, short_notes
from rhale.errors import BadSettingError, MissingExtraError
from rhale.regions.wording import ALL_ROWS
from rhale.stats.arrays import FloatArray

FRAMES = ("pandas", "polars", "pyarrow")


def bin_rows(effects: Sequence[Result]) -> Columns:
    """One row per feature, output and bin (step between levels, or point of a profile).

    `left`, `right` and `x` are numbers: days since 1970 for dates, seconds for durations, places
    of levels. `from`, `to` and `at` are the same as text: ISO dates, numbers, labels of levels.
    A step counts the rows of both its levels; a feature of one level has one row, from it to it.
    Where the removal of values was measured, one more row follows the bins: `from`, `to` or `at`
    is "missing", its places are nan, `mean` is the change of the prediction (of a profile: the
    prediction) without a value, `count` and `weight` are those of the rows that have none.
    """
    parts = [({"feature": e.name, "output": e.output}, e.table()) for e in effects]
    return _labelled(stack_columns(parts), effects)


def region_rows(effects: Sequence[Result]) -> Columns:
    """The same for all rows, whose `region` is -1, and for each of the regions, where there are any."""
    parts = []
    for effect in effects:
        tree = effect.regions
        regions = tree.regions if tree is not None and len(tree) > 1 else ()
        named = [(-1, ALL_ROWS, effect), *((i, r.rule, r.effect) for i, r in enumerate(regions))]
        for number, rule, own in named:
            first = {"region": number, "rule": rule, "feature": own.name, "output": own.output}
            parts.append((first, own.table()))
    return _labelled(stack_columns(parts), effects)


def _labelled(columns: Columns, effects: Sequence[Result]) -> Columns:
    """Add what people read for the features and outputs of a table."""
    captions = effects[0].captions
    words = {"feature": captions.feature, "output": captions.output}
    return add_labels(columns, {key: list(map(read, columns[key])) for key, read in words.items()})


def stack_columns(parts: Sequence[tuple[dict[str, Any], Columns]]) -> Columns:
    """Tables one below the other, each with columns that are alike in all of its rows."""
    named, table = parts[0]
    columns: Columns = {name: [] for name in (*named, *table)}
    for named, table in parts:
        n_rows = len(next(iter(table.values())))
        for name, value in named.items():
            columns[name] += [value] * n_rows
        for name, values in table.items():
            columns[name] += values
    return columns


def curve_frame(
    effects: Sequence[Result], backend: str | None, usual: str | None = None, **options: Any
) -> Any:
    """The curves of some effects on a grid, one below the other, as a data frame.

    `backend` and `usual` as in `as_frame`, the other options as in `curve_rows`.
    """
    parts = [({"feature": e.name, "output": e.output}, curve_rows(e, **options)) for e in effects]
    return as_frame(_labelled(stack_columns(parts), effects), backend, usual)


def tabulate_splits(effects: Sequence[Result]) -> Columns:
    """One row per feature, output and split."""
    splits = [(e, split) for e in effects if e.regions is not None for split in e.regions.splits]
    columns: Columns = {
        "feature": [e.name for e, _ in splits],
        "output": [e.output for e, _ in splits],
        "depth": [split.depth for _, split in splits],
        "splitter": [split.feature for _, split in splits],
        "threshold": [UNDEFINED if s.threshold is None else float(s.threshold) for _, s in splits],
        "above": [UNDEFINED if s.above is None else float(s.above) for _, s in splits],
        "levels": [", ".join(split.levels) for _, split in splits],
        "missing": [split.missing for _, split in splits],
        "share": [float(split.share) for _, split in splits],
        "standard_error": [float(split.standard_error) for _, split in splits],
        "rows": [int(split.rows) for _, split in splits],
    }
    return _labelled(columns, effects)


def tabulate_effects(effects: Sequence[Result]) -> Columns:
    """One row per feature and output, in the given order.

    `kind` is number, date, duration, steps (few whole numbers) or categories. `bins` counts the
    levels of the last two, and the points of profiles. `low` and `high` are numbers, `from` and
    `to` the same as text. `missing_share` and `missing_mean` are nan where not measured. Where
    regions were asked for, `differs_by` names the features that define them, `share` and `share_error` say how much
    of the spread that explains, and `regions` counts them. `notes` says what the notes are about;
    `effect.notes` has them in full. What people read for `feature` and `output` comes last.
    """
    measured = [e.missing for e in effects]
    places = [name_places(e.axis, e.labels, find_result_axis_kind(e)) for e in effects]
    trees, regions = [e.regions for e in effects], Columns()
    if any(tree is not None for tree in trees):
        shares = [(UNDEFINED, UNDEFINED) if t is None else share_told(t) for t in trees]
        regions = {
            "differs_by": ["" if tree is None else name_differing(tree) for tree in trees],
            "share": [float(share) for share, _ in shares],
            "share_error": [float(error) for _, error in shares],
            "regions": [0 if tree is None else len(tree) for tree in trees],
        }
    columns: Columns = {
        "feature": [e.name for e in effects],
        "output": [e.output for e in effects],
        "kind": [e.column_kind for e in effects],
        **{name: [read(e) for e in effects] for name, read in STATISTICS.items()},
        "bins": [e.n_parts for e in effects],
        "low": [reach(e)[0] for e in effects],
        "high": [reach(e)[1] for e in effects],
        "from": [names[0] for names in places],
        "to": [names[-1] for names in places],
        "missing_share": [float(m.share) if m else UNDEFINED for m in measured],
        "missing_mean": [float(m.mean) if m else UNDEFINED for m in measured],
        **regions,
        "notes": [short_notes(e.notes) for e in effects],
    }
    return _labelled(columns, effects)


def as_frame(
    rows: Mapping[str, list[Any] | FloatArray], backend: str | None, usual: str | None = None
) -> Any:
    """Turn columns into a data frame: of the kind `backend`, else `usual`, else any installed.

    `usual` is the kind of the explained table, which need not be a data frame.
    """
    import narwhals.stable.v2 as nw

    if backend is not None and backend not in FRAMES:
        msg = f"backend={backend!r:.60} is not known; use one of {', '.join(FRAMES)}"
        raise BadSettingError(msg)
    asked = backend or (usual if usual in FRAMES else None)
    chosen = asked or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {asked or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    shown = {
        _readable(name): values if isinstance(values, np.ndarray) else [*map(_readable, values)]
        for name, values in rows.items()
    }
    return nw.from_dict(shown, backend=cast(Any, chosen)).to_native()


def _readable(value: Any) -> Any:
    r"""A value as tables can hold it: halves of signs, which UTF-8 has not, as they are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
