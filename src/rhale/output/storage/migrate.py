"""Files of earlier formats: what their records were like, and how they become those of today.

| format | what was different before it |
| --- | --- |
| 2 | bins without rows had no mean and no spread |
| 3 | a record had its mark in "kind" (`RecordUnion` reads both) |
| 4 | a note was its text alone (`Remark` reads both) |
| 5 | fits were means at the middles of bins; rows had no ends and no places; cells no ends |
| 6, 7 | no staircases, no regions |
| 8, 9 | no interactions, no refits |
| 10 | row places were never those of the cells |
| 11 | levels without an order had covariances of levels; cells had slopes for the spread of steps |
| 12 | no record of what rows say across gaps |
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from rhale.effects.binning.moments import Moments
from rhale.effects.curve import fill_gaps, middles, scatter_rows
from rhale.effects.effect import Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.schema import explanation_record
from rhale.effects.spread import RowSpread
from rhale.effects.variance import bridge_levels
from rhale.output.storage.values import Maybe, Numbers, Past, refuse_file_content
from rhale.stability.storage import refits_record
from rhale.stats.arrays import LARGEST_SQUARABLE

MIN_TOTAL_WEIGHT = 1e-300  # instead of a weight of zero, which is refused later


def upgrade_effect(found: dict[str, Any]) -> None:
    """Files before format 5 hold fits at the middles of the bins."""
    mean, edges, origin = found.pop("mean", None), found["edges"], found["mean_x"]
    if "level" not in found:
        if mean is None:
            refuse_file_content("level of an effect is missing")
        found["level"] = mean + found["slope"] * (origin - middles(edges))
        if np.any(np.abs(found["level"]) > LARGEST_SQUARABLE):
            refuse_file_content("a slope of an effect is too large for its bin")
    found.setdefault("low_x", edges[:-1])
    found.setdefault("high_x", edges[1:])
    if "row_places" not in found:
        found["row_places"] = scatter_rows(origin, found["std_x"], found["weight"])


def upgrade_levels(found: dict[str, Any]) -> None:
    """Files before format 11 hold covariances of levels without an order.

    Some hold the steps of the rows of the higher levels alone (`down`).
    """
    found.pop("down", None)
    covariance = found.pop("covariance", None)
    if covariance is not None and np.all(np.isfinite(covariance)) and len(covariance) > 1:
        n_levels, weight = len(covariance), found["level_weight"]
        found["has_order"] = False
        found["row_spread"] = RowSpread(
            places=found["edges"],
            shares=weight / max(weight.sum(), MIN_TOTAL_WEIGHT),
            covariance=np.diff(np.diff(covariance, axis=0), axis=1),
            error=float("nan"),
            first=np.zeros(n_levels, dtype=np.intp),
            last=np.full(n_levels, n_levels - 1),
            x=np.empty(0),
            rows=np.empty((0, n_levels - 1)),
        )


def upgrade_moments(found: dict[str, Any]) -> None:
    """Files before format 5 know no more than the cell of a row; rows may be anywhere in it."""
    filled, edges = found["count"] > 0, found["grid"].edges
    # how many cells there are is checked later
    found.setdefault("low", np.where(filled, np.resize(edges[:-1], filled.size), inf))
    found.setdefault("high", np.where(filled, np.resize(edges[1:], filled.size), -inf))


def upgrade_explanation(found: dict[str, Any]) -> None:
    """Files before format 11 hold slopes of models with steps beside the steps, for the spread."""
    n_outputs = len(found["outputs"])
    for name, moments in found["cells"].items():
        if moments.mean.shape[0] in (3 * n_outputs, 4 * n_outputs):
            found["cells"][name] = replace(moments.series(*range(n_outputs)), is_stepped=True)


def interpolate_empty_bins(effect: Any) -> Any:
    """Interpolate bins without rows: format 1 left their mean and std open."""
    if not isinstance(effect, Effect) or effect.measured.all():
        return effect
    known, middle = effect.measured, middles(effect.edges)
    fits = replace(effect._bin_fits, level=np.where(known, effect._bin_fits.level, 0.0))  # noqa: SLF001
    return replace(
        effect,
        level=bridge_levels(fits, known),
        std=np.where(known, effect.std, fill_gaps(effect.std, middle)),
        std_plain=np.where(known, effect.std_plain, fill_gaps(effect.std_plain, middle)),
    )


LEVELS_BEFORE = Past(
    {
        "down": Maybe(Numbers.means("steps")),
        "covariance": Maybe(Numbers.products("levels", "levels", unknown=True)),
    },
    upgrade=upgrade_levels,
)
EFFECT_BEFORE = Past(
    {"mean": Numbers.means("bins")},
    ("low_x", "high_x", "level", "row_places"),
    upgrade_effect,
)
ANY_EXPLANATION = explanation_record(
    {
        Effect: EFFECT_BEFORE,
        LevelEffect: LEVELS_BEFORE,
        Moments: Past({}, ("low", "high"), upgrade_moments),
        dict: Past({}, ("partner_matrix",), upgrade_explanation),
    }
)
ANY_REFITS = refits_record({LevelEffect: LEVELS_BEFORE})  # since format 9
