"""From one result a training to a RefitEffect: curves compared at the rows, region by region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.overlap import Overlap
from rhale.results.effect import NO_SAMPLE, Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.profile import Profile
from rhale.results.refit_effect import RefitEffect
from rhale.results.region_tree import RegionTree
from rhale.results.result import Result, heights, normal_quantile, reach

ERROR_INTERVAL_LEVEL, N_ERROR_POINTS = 0.95, 33  # of the intervals by which errors are read


class AxisSample(NamedTuple):
    """Values of one feature and weights of some rows, both of shape (n_sample,)."""

    x: FloatArray
    weight: FloatArray

    def take(self, kept: BoolArray) -> AxisSample:
        """Some of the rows."""
        return AxisSample(self.x[kept], self.weight[kept])


def compare_trainings(
    results: Sequence[Result], overlap: Overlap, rows: AxisSample, own: Result | None = None
) -> RefitEffect:
    """Compare one effect in several trainings, and in each group of rows if groups were given.

    Parameters
    ----------
    results : sequence of Result
        One a training, all of the same feature, output and rows.
    overlap : Overlap
        Which rows the trainings share.
    rows : AxisSample
        Rows at which curves are compared.
    own : Result, optional
        The effect in the user's own model.
    """
    counted = move_sample_to_axis(rows, results[0])
    return RefitEffect(
        effects=tuple(results),
        overlap=overlap,
        gram=multiply_curves(results, counted),
        own=own,
        drawn=mean_square_error(results, counted),
        inside=compare_groups(results, overlap, rows, own),
    )


def compare_groups(
    results: Sequence[Result], overlap: Overlap, rows: AxisSample, own: Result | None
) -> tuple[RefitEffect, ...]:
    """The same inside the groups that the user named; nothing where there are none."""
    compared = [*results] if own is None else [*results, own]
    trees = [tree for one in compared if (tree := one.regions) is not None]
    if len(trees) < len(compared) or not have_same_groups(trees):
        return ()
    found = []
    for number, alike in enumerate(zip(*trees, strict=True)):
        inside = [region.effect for region in alike]
        own_inside = None if own is None else inside.pop()
        sampled = trees[0].sampled
        here = rows.take(sampled == number) if sampled.size else rows
        found.append(compare_trainings(inside, overlap, here, own_inside))
    return tuple(found)


def have_same_groups(trees: Sequence[RegionTree]) -> bool:
    """Whether all trainings have the same groups of rows, since the user named them."""
    rules = {tuple(region.rule for region in tree) for tree in trees}
    return len(rules) == 1 and all(tree.state == "given" for tree in trees)


def move_sample_to_axis(rows: AxisSample, result: Result) -> AxisSample:
    """Place rows where the importance of a result has them.

    Marginal plots have them at their points, and a partial dependence has those beyond its grid at
    the nearest end.
    """
    if not isinstance(result, Profile):
        return rows
    if result.row_places is None:
        return AxisSample(result.grid, result.share)
    return AxisSample(np.clip(rows.x, *reach(result)), rows.weight)


def multiply_curves(results: Sequence[Result], rows: AxisSample) -> FloatArray:
    """Mean over some rows of the product of every two curves, (n_curves, n_curves).

    Rows count that have a value, as in the importance, and at which all curves are known; nan where
    there are none.
    """
    curves = np.stack([heights(result, rows.x) for result in results])
    known = np.isfinite(rows.x) & np.isfinite(curves).all(axis=0) & (rows.weight > 0)
    if not known.any():
        return np.full((len(results), len(results)), np.nan)
    share = rows.weight[known] / rows.weight[known].sum()
    return np.asarray((curves[:, known] * share) @ curves[:, known].T)


def mean_square_error(results: Sequence[Result], rows: AxisSample) -> float:
    """Mean square of what the draw of the rows adds to a curve: of its standard error, at the rows.

    Nan where no error is known.
    """
    known = np.isfinite(rows.x) & (rows.weight > 0)
    if not known.any():
        return float("nan")
    squares = []
    for result in results:
        trace = result.trace("mean", ERROR_INTERVAL_LEVEL, N_ERROR_POINTS)
        error = (trace.high - trace.low) / (2 * normal_quantile(ERROR_INTERVAL_LEVEL))
        told = np.isfinite(error)
        if not told.any():
            return float("nan")
        at = np.interp(rows.x[known], trace.x[told], error[told])
        squares.append(np.average(at**2, weights=rows.weight[known]))
    return float(np.mean(squares))


def lighten_result(result: Result) -> Result:
    """Leave out what only one training by itself needs: single rows, digits of what chance does."""
    tree = result.regions
    if isinstance(result, Effect | LevelEffect):
        result = replace(result, sample=NO_SAMPLE)
        if tree is not None:
            kept = tuple(replace(one, effect=lighten_result(one.effect)) for one in tree)
            result = replace(result, regions=replace(tree, regions=kept))
    if isinstance(result, Effect) and result.stairs is not None:
        result = replace(result, stairs=result.stairs.rounded())
    return result
