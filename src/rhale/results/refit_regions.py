"""Which rules come back: the regions that every training found for itself, compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.times import AxisKind
from rhale.results.refit_effect import RefitEffect, deviation_over_refits, mean_over_refits
from rhale.results.region_tree import Split
from rhale.results.table_rows import Columns, write_place

RULE_COLUMNS = (
    *("feature", "output", "splitter", "found_in"),
    *("at", "threshold", "threshold_between", "share"),
)


def rule_rows(effects: Sequence[RefitEffect]) -> Columns:
    """One row per feature, output and splitter: in how many trainings it tells rows apart.

    Parameters
    ----------
    effects : sequence of RefitEffect
        In the order of the rows; those of one effect have the splitter of most trainings first.
    """
    columns: Columns = {name: [] for name in RULE_COLUMNS}
    for effect in effects:
        found = find_splits(effect)
        for splitter in sorted(found, key=lambda name: -len(found[name])):
            row = describe_splits(found[splitter], effect.n_trainings)
            told = {"feature": effect.name, "output": effect.output, "splitter": splitter, **row}
            for name, cells in columns.items():
                cells.append(told[name])
    return columns


def find_splits(effect: RefitEffect) -> dict[str, list[Split]]:
    """By splitter: its first rule in every training that has one."""
    found: dict[str, list[Split]] = {}
    for result in effect.effects:
        tree = result.regions
        first: dict[str, Split] = {}
        for split in sorted(() if tree is None else tree.splits, key=lambda one: one.depth):
            first.setdefault(split.feature, split)
        for name, split in first.items():
            found.setdefault(name, []).append(split)
    return found


def describe_splits(splits: Sequence[Split], n_trainings: int) -> dict[str, object]:
    """How often a splitter was found, where rows part, and how much of the spread it explains.

    Notes
    -----
    `at` is the mean threshold in words, the mean limits where most trainings found an interval, or
    the levels that go first in most of them; a deviation between trainings needs two thresholds.
    """
    thresholds = np.array([s.threshold for s in splits if s.threshold is not None])
    above = np.array([s.above for s in splits if s.above is not None])
    shares = np.array([split.share for split in splits])
    known = shares[np.isfinite(shares)]
    return {
        "found_in": len(splits) / n_trainings,
        "at": write_limits(above, thresholds, splits[0].kind)
        if thresholds.size
        else name_levels(splits),
        "threshold": float(mean_over_refits(thresholds)) if thresholds.size else np.nan,
        "threshold_between": float(deviation_over_refits(thresholds))
        if thresholds.size > 1
        else np.nan,
        "share": float(known.mean()) if known.size else np.nan,
    }


def write_limits(above: FloatArray, thresholds: FloatArray, kind: AxisKind) -> str:
    """Write where rows part on average: at one value, or at both ends of an interval."""
    high = write_mean(thresholds, kind)
    return f"{write_mean(above, kind)} to {high}" if 2 * above.size > thresholds.size else high


def write_mean(thresholds: FloatArray, kind: AxisKind) -> str:
    """Write where rows part on average."""
    return write_place(float(mean_over_refits(thresholds)), kind)


def name_levels(splits: Sequence[Split]) -> str:
    """Name the levels that go first in most of the trainings, whichever side is called first."""
    sides = Counter(min(s.levels, s.others, key=lambda side: (len(side), side)) for s in splits)
    return ", ".join(sides.most_common(1)[0][0])
