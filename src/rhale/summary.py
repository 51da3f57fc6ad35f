"""Numbers to rows, and rows to text or to the user's kind of data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from rhale.effect import Effect
from rhale.errors import MissingExtraError
from rhale.profile import Profile

Rows = dict[str, list[Any]]
FRAMES = ("pandas", "polars", "pyarrow")
LONGEST_NAME = 32


def bin_rows(effects: Sequence[Effect | Profile]) -> Rows:
    """One row per feature, output and bin (or point of a profile)."""
    parts = [_of_effect(e) if isinstance(e, Effect) else _of_profile(e) for e in effects]
    return {name: [v for part in parts for v in part[name]] for name in parts[0]}


def _of_effect(effect: Effect) -> Rows:
    n_bins, at_edges = effect.mean.size, effect.curve(effect.edges)
    return {
        "feature": [effect.name] * n_bins,
        "output": [effect.output] * n_bins,
        "bin": list(range(n_bins)),
        "left": effect.edges[:-1].tolist(),
        "right": effect.edges[1:].tolist(),
        "count": effect.count.tolist(),
        "weight": effect.weight.tolist(),
        "mean": effect.mean.tolist(),
        "slope": effect.slope.tolist(),
        "std": effect.std.tolist(),
        "std_plain": effect.std_plain.tolist(),
        "standard_error": effect.standard_error.tolist(),
        "curve_left": at_edges[:-1].tolist(),
        "curve_right": at_edges[1:].tolist(),
    }


def _of_profile(profile: Profile) -> Rows:
    n_points = profile.grid.size
    return {
        "feature": [profile.name] * n_points,
        "output": [profile.output] * n_points,
        "point": list(range(n_points)),
        "x": profile.grid.tolist(),
        "rows": profile.rows.tolist(),
        "mean": profile.mean.tolist(),
        "std": profile.std.tolist(),
        "standard_error": profile.standard_error.tolist(),
        "curve": profile.curve(profile.grid).tolist(),
        "spread": profile.spread(profile.grid).tolist(),
    }


def effect_rows(effects: Sequence[Effect | Profile]) -> Rows:
    """One row per feature and output, in the given order."""
    return {
        "feature": [e.name for e in effects],
        "output": [e.output for e in effects],
        "importance": [e.importance for e in effects],
        "importance_error": [e.importance_error for e in effects],
        "typical_spread": [e.typical_spread for e in effects],
        "heterogeneity": [e.heterogeneity for e in effects],
        "bins": [_n_bins(e) for e in effects],
        "low": [_range(e)[0] for e in effects],
        "high": [_range(e)[1] for e in effects],
        "notes": ["; ".join(e.notes) for e in effects],
    }


def as_frame(rows: Rows, backend: str | None) -> Any:
    """Turn rows into a data frame of the given kind, or of the first kind that is installed."""
    import narwhals.stable.v2 as nw

    known = backend if backend in FRAMES else None
    chosen = known or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {backend or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    return nw.from_dict(rows, backend=cast(Any, chosen)).to_native()


def as_text(
    effects: Sequence[Effect | Profile], provenance: Mapping[str, Any], notes: Sequence[str]
) -> str:
    """Write the ranked table that `print` shows."""
    several = len({e.output for e in effects}) > 1
    lines, remarks = [], {}  # type: list[list[str]], dict[str, int]
    ranked = sorted(effects, key=lambda e: -np.nan_to_num(e.importance))
    for effect in ranked:
        marks = [remarks.setdefault(note, len(remarks) + 1) for note in effect.notes]
        row = [shorten(effect.name)]
        row += [shorten(effect.output)] if several else []
        row += [
            f"{effect.importance:.4g} ± {effect.importance_error:.2g}",
            f"{effect.typical_spread:.4g}",
            str(_n_bins(effect)),
            ", ".join(map(str, marks)),
        ]
        lines.append(row)
    header = ["feature", *(["output"] if several else []), "effect ± error"]
    header += ["typical spread", "points" if isinstance(effects[0], Profile) else "bins", "notes"]
    table = aligned([header, *lines], n_left=2 if several else 1)
    footer = [f"{number}  {note}" for note, number in remarks.items()] + list(notes)
    return "\n".join([_title(provenance), *table, *footer])


def _title(provenance: Mapping[str, Any]) -> str:
    method, rows = provenance.get("method", "?"), provenance.get("rows", 0)
    of = provenance.get("rows_in_table", rows)
    shown = f"{rows:,} rows" if rows == of else f"{rows:,} of {of:,} rows"
    return f"{method} of a {provenance.get('model', 'model')}, {shown}"


def aligned(rows: Sequence[Sequence[str]], n_left: int) -> list[str]:
    """Pad cells to columns: the first to the left, numbers to the right, the last as it is."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < n_left or i == len(row) - 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    return text


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long name, and keep a name on one line.

    Examples
    --------
    >>> shorten("a name that goes on", 10)
    'a name th…'
    """
    line = " ".join(name.split()) or name
    return line if len(line) <= longest else line[: longest - 1] + "…"


def describe(bins: Any) -> str:
    """Name the bins in the provenance."""
    if isinstance(bins, Mapping):
        return "{" + ", ".join(f"{k!r}: {describe(v)}" for k, v in bins.items()) + "}"
    return "another explanation" if hasattr(bins, "effects") else repr(bins)


def _n_bins(effect: Effect | Profile) -> int:
    return effect.mean.size


def _range(effect: Effect | Profile) -> tuple[float, float]:
    axis = effect.edges if isinstance(effect, Effect) else effect.grid
    return float(axis[0]), float(axis[-1])
