"""Curves of regions beside the common one: which, where they stand, how they look, what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.curve import Center
from rhale.plots import style
from rhale.plots.compare import moved
from rhale.plots.fields import NO_CURVE, Item, Layers, read_item
from rhale.plots.lettering import fit_name
from rhale.plots.slots import LevelLayout, lay_out_levels
from rhale.plots.view import PLAIN_VIEW, AxisView
from rhale.results.listing import share_told, write_share
from rhale.results.region_heights import align
from rhale.results.region_tree import Region, RegionTree
from rhale.results.result import Result, Trace, is_constant, reach
from rhale.results.rules_in_words import call_features, join_words, short_rules

MAX_REGION_CURVES = 4
THIRD_LABELS = ("lowest third: ", "middle third: ", "highest third: ")
N_EVEN = 400  # places that stand for an axis
MIN_LINE_SHARE = 0.01  # of the axis: what is drawn as a line


class RegionCurve(NamedTuple):
    """One region as it is drawn."""

    place: int
    item: Item
    look: style.Look
    label: str = ""

    def is_point(self, common: Item) -> bool:
        """Tell whether a region has (nearly) one value: a line would not be seen."""
        known = self.item.path.x[np.isfinite(self.item.path.curve)]
        if not (known.size and common.path.x.size) or common.result.labels:
            return False
        return float(np.ptp(known)) < MIN_LINE_SHARE * float(np.ptp(common.path.x))


def require_regions(effect: Result) -> RegionTree:
    """Find the regions of an effect, in words for people; refuse where nobody asked for them."""
    if effect.regions is not None:
        return call_features(effect.regions, effect.captions)
    msg = f"{effect.name!r} has no regions to plot: they were not asked for; call "
    msg += "rhale.explain(..., regions=True), or plot without regions=True"
    if effect.parts == "points":
        msg = f"{effect.name!r} has no regions to plot: profiles (pdp, ice, mplot) have none; "
        msg += "call rhale.explain(..., regions=True) with another method"
    raise BadSettingError(msg)


def read_region_curves(
    effect: Result, layers: Layers, *, smooth: bool = False, view: AxisView = PLAIN_VIEW
) -> list[RegionCurve]:
    """Read the curves of an effect's regions, or of thirds where it changes gradually.

    Parameters
    ----------
    effect : Effect or LevelEffect
        With regions.
    layers : Layers
        Where curves are zero, and the level of the interval.
    smooth : bool
        As in `Effect.curve`.
    view : AxisView
        Which part of the axis is shown.

    Returns
    -------
    list of RegionCurve
        The four largest at most, in the order of the tree; none where there is one region.

    Notes
    -----
    A curve is known up to a constant. Each is moved to agree with the common curve where its
    zero is: on average over the rows of the region ("mean"), at the first value that they have
    ("start"), on average over the stretch that they cover ("uniform").
    """
    tree = require_regions(effect)
    regions, looks = (tree.thirds, style.THIRDS) if tree.thirds else (tree.regions, style.REGIONS)
    if len(regions) < 2:
        return []
    common = read_item(effect, layers.center, layers.level, smooth=smooth)
    curves: list[RegionCurve] = []
    for place, look in zip(choose_largest(regions), looks, strict=False):
        region = regions[place].effect
        item = read_item(region, layers.center, layers.level, smooth=smooth)
        if is_constant(region):
            item = item._replace(path=find_point(common, region))
        else:
            lift = find_lift(common, item, layers.center)
            item = read_item(region, layers.center, layers.level, smooth=smooth, view=view)
            item = moved(item, lift)
            item = item._replace(path=mask_region_curve(item))
        curves.append(RegionCurve(place, item if layers.uncertainty else certain(item), look))
    return rename(curves, tree, style.REGION_LABEL)


def rename(
    curves: Sequence[RegionCurve], tree: RegionTree, length: int, unit: str = " of rows"
) -> list[RegionCurve]:
    """Call curves by who is in their regions, in at most so many letters."""
    names = name_regions(tree, length, unit) if curves else []
    alone = ["" if curve.item.path.x.size else " (no curve)" for curve in curves]
    return [c._replace(label=names[c.place] + a) for c, a in zip(curves, alone, strict=True)]


def name_regions(tree: RegionTree, length: int, unit: str = " of rows") -> list[str]:
    """Say who is in each region, and how many rows that are; or which third it is."""
    if tree.thirds:
        names = THIRD_LABELS if len(tree.thirds) == len(THIRD_LABELS) else ("",) * len(tree.thirds)
        return [
            name + fit_name(third.rule, max(8, length - len(name)))
            for name, third in zip(names, tree.thirds, strict=True)
        ]
    shares = [f", {format_row_percent(region.share_of_rows)}{unit}" for region in tree]
    rules = short_rules(tree, max(8, length - max(map(len, shares))))
    return [rule + share for rule, share in zip(rules, shares, strict=True)]


def certain(item: Item) -> Item:
    """The same without intervals."""
    none, missing = np.full(item.path.x.size, np.nan), item.missing
    if missing is not None:
        missing = missing._replace(low=np.full(1, np.nan), high=np.full(1, np.nan))
    return item._replace(path=item.path._replace(low=none, high=none), missing=missing)


def choose_largest(regions: Sequence[Region]) -> list[int]:
    """Choose the regions with the most rows, in their order."""
    by_size = sorted(range(len(regions)), key=lambda i: -regions[i].share_of_rows)
    return sorted(by_size[:MAX_REGION_CURVES])


def find_point(common: Item, result: Result) -> Trace:
    """The one place of a region with one value, on the common curve; nothing else is known."""
    if not common.path.x.size:
        return NO_CURVE
    x, none = np.array(reach(result)[:1]), np.full(1, np.nan)
    return Trace(x, read_common(common, result, x), none, none, none)


def read_common(common: Item, result: Result, x: FloatArray) -> FloatArray:
    """Read the common curve at places on the axis of a region."""
    if not result.labels:
        return np.interp(x, common.path.x, common.path.curve)
    slots = lay_out_levels([common.result, result])
    return _at_slots(common, slots, slots.locate(result, x))


def find_lift(common: Item, item: Item, center: Center | None) -> float:
    """How far a region's curve must rise to agree with the common one, where its zero is."""
    if not (common.path.x.size and item.path.x.size):
        return 0.0
    if (center or "mean") == "mean":
        return align(item.result, common.result)
    low, high = reach(item.result)
    x = np.array([low])
    if center == "uniform":
        x = item.result.axis if item.result.labels else np.linspace(low, high, N_EVEN)
    return float(np.nanmean(read_common(common, item.result, x)))


def _at_slots(item: Item, slots: LevelLayout, places: FloatArray) -> FloatArray:
    """Values of levels at places, nan where there is no such level."""
    x = slots.locate(item.result, item.path.x)
    known = dict(zip(x.tolist(), item.path.curve.tolist(), strict=True))
    return np.array([known.get(place, np.nan) for place in places.tolist()])


def mask_region_curve(item: Item) -> Trace:
    """The curve of a region where it has rows, and nothing elsewhere."""
    path = item.path
    if not path.x.size:
        return path
    seen = has_rows(item.result, path.x)
    if not seen.any():
        return NO_CURVE
    hidden = {name: np.where(seen, getattr(path, name), np.nan) for name in path._fields[1:]}
    return path._replace(**hidden)


def has_rows(result: Result, x: FloatArray) -> BoolArray:
    """Tell at which places on its axis a result has rows."""
    if result.labels:
        rows = result.level_rows().rows
        return np.asarray(rows[np.searchsorted(result.axis, x)] > 0)
    _, limits, density, gaps = result.support()
    some = np.flatnonzero(density > 0)
    if not some.size:
        return np.zeros(x.size, dtype=np.bool_)
    seen = (x >= limits[some[0]]) & (x <= limits[some[-1] + 1])
    for left, right in gaps:
        seen &= (x <= left) | (x >= right)
    return np.asarray(seen)


def count_rest(tree: RegionTree, drawn: Sequence[RegionCurve]) -> str:
    """Say how many regions are not drawn, and how many rows they have; nothing where all are."""
    n_left = 0 if tree.thirds else len(tree) - len(drawn)
    if n_left <= 0 or not drawn:
        return ""
    share = 1.0 - sum(tree[curve.place].share_of_rows for curve in drawn)
    noun = "group" if tree.state == "given" else "region"
    return (
        f"and {n_left} more {noun}{'s' if n_left > 1 else ''}, {format_row_percent(share)} of rows"
    )


def describe_tree(tree: RegionTree, length: int = 10_000) -> str:
    """Say in one sentence what tells rows apart, and how much of the spread that is.

    Parameters
    ----------
    tree : RegionTree
        Whose.
    length : int
        About as many letters as the sentence should have: long names are shortened.

    Examples
    --------
    >>> describe_tree(RegionTree("age", "y", "none", "rows hardly differ", ()))
    'no regions: rows hardly differ'
    """
    share, most = write_share(*share_told(tree)), (length - 36) // max(1, len(tree.splitters))
    if len(tree) < 2 and tree.state == "given":
        return "only one group has rows"
    if len(tree) < 2:
        return f"{'doubtful' if tree.state == 'doubtful' else 'no regions'}: {tree.why}"
    if tree.gradual is not None:
        return f"changes gradually with {fit_name(tree.gradual, max(12, length - 40))} ({share})"
    if not tree.splits:
        return f"these groups explain {share} of the spread" if tree.share > 0 else ""
    names = [fit_name(name, max(12, most)) for name in tree.splitters]
    verb = "explain" if len(names) > 1 else "explains"
    return f"{join_words(names, 'and')} {verb} {share} of the spread"


def describe_briefly(tree: RegionTree, length: int) -> str:
    """Say the same in about so many letters, above a small panel.

    Examples
    --------
    >>> from rhale.results.region_tree import Split
    >>> tree = RegionTree("age", "y", "found", "", (), (Split(0, "sex", 1, 0.5),), 0.92, 0.01)
    >>> describe_briefly(tree, 30)
    'by sex (92 ± 1 %)'
    """
    share = write_share(*share_told(tree))
    if tree.gradual is not None:
        return f"gradually with {fit_name(tree.gradual, max(8, length - 30))} ({share})"
    if not tree.splits:
        return f"by groups ({share})" if tree.share > 0 else "by groups"
    return f"by {fit_name(', '.join(tree.splitters), max(8, length - 18))} ({share})"


def format_row_percent(share: float) -> str:
    """Write a share of the rows in per cent; few rows are not none.

    Examples
    --------
    >>> format_row_percent(0.483), format_row_percent(0.003), format_row_percent(0.0)
    ('48 %', '0.3 %', '0 %')
    """
    return f"{100 * share:.1g} %" if 0 < share < 0.01 else f"{100 * share:.0f} %"
