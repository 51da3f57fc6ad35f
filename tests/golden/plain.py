"""Results as plain numbers, whatever the classes are called and wherever they live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

FIELDS = [
    "name",
    "output",
    "edges",
    "count",
    "rows",
    "weight",
    "mean_x",
    "std_x",
    "mean",
    "slope",
    "std",
    "std_plain",
    "level_error",
    "slope_error",
    "closed",
    "density",
    "spread_edges",
    "spread_std",
    "kind",
    "levels",
    "level_count",
    "level_weight",
    "correlation",
    "is_number",
    "pooled",
    "method",
    "grid",
    "covariance",
    "share",
    "curves",
    "curve_x",
    "importance",
    "importance_error",
    "heterogeneity",
    "typical_spread",
    "standard_error",
]
CELLS = ["left", "right", "bin", "weight", "mean_x", "std_x", "residual", "error", "trust"]
MOMENTS = ["count", "weight", "weight_squares", "mean_x", "sxx", "mean", "sxd", "sdd"]
MISSING = ["count", "share", "mean", "std", "rows", "standard_error"]


def plain(found: Any) -> Any:
    """An explanation, or one effect, as what JSON holds exactly."""
    if not hasattr(found, "effects"):
        return result(found)
    provenance = found.provenance
    return {
        "features": list(found.features),
        "outputs": list(found.outputs),
        "effects": [result(one) for one in found.effects],
        "predictions": value(found.predictions),
        "sample_x": value(found.sample_x),
        "sample_weight": value(found.sample_weight),
        "cells": {
            name: {"edges": value(m.grid.edges), "closed": m.grid.closed, **fields(m, MOMENTS)}
            for name, m in found.cells.items()
        },
        "explained": value(found.explained_variance),
        "rows": [provenance[k] for k in ("rows", "rows_in_table", "rows_asked", "sample_rows")],
        "how": value(provenance["local_effects"]),
        "kinds": value(provenance["kinds"]),
        "notes": [text(n) for n in found.notes],
        "table": value(found.to_frame("pandas").to_dict("list")),
        "summary": value(found.summary("pandas").to_dict("list")),
    }


def result(one: Any) -> dict[str, Any]:
    """Fields of one result, and what it says at places along its axis."""
    made = fields(one, FIELDS)
    made["notes"] = [text(n) for n in one.notes]
    if getattr(one, "missing", None) is not None:
        made["missing"] = fields(one.missing, MISSING)
    if getattr(one, "cells", None) is not None:
        made["cells"] = fields(one.cells, CELLS)
    if getattr(one, "sample", None) is not None:
        made["sample"] = [value(np.asarray(column)) for column in one.sample]
    return {**made, **curves(one)}


def curves(one: Any) -> dict[str, Any]:
    """Curve, spread and interval."""
    if hasattr(one, "levels") and not hasattr(one, "grid"):
        return {"curve": value(one.curve()), "spread": value(one.spread()), "ci": value(one.ci())}
    axis = one.grid if hasattr(one, "grid") else one.edges
    x = np.linspace(axis[0], axis[-1], 9)
    made = {"spread": value(one.spread(x))}
    for center in ("mean", "start", "uniform"):
        made[f"curve {center}"] = value(one.curve(x, center=center))
        made[f"ci {center}"] = value(one.ci(x, center=center))
    return made


def fields(record: Any, names: list[str]) -> dict[str, Any]:
    """Those of the named fields that a record has."""
    return {name: value(getattr(record, name)) for name in names if hasattr(record, name)}


def value(found: Any) -> Any:
    """Arrays, tuples, mappings and numbers as lists, dictionaries and texts; floats keep their bits."""
    if isinstance(found, np.ndarray):
        return value(found.tolist())
    if isinstance(found, Mapping):
        return {str(k): value(v) for k, v in found.items()}
    if isinstance(found, list | tuple):
        return [value(v) for v in found]
    if isinstance(found, np.generic):
        return value(found.item())
    if isinstance(found, float):
        return found.hex()
    return found if found is None or isinstance(found, bool | int | str) else str(found)


def text(note: Any) -> str:
    """A note as people read it."""
    return str(getattr(note, "text", note))
