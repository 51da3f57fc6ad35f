from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import Unfitted, fit_effect, fit_effects
from rhale.effects.binning.moments import Moments, measure_moments
from rhale.effects.binning.partition import Cuts, Fixed

OWN_SPREAD = Adaptive(spread_bins="own")
CHOOSERS = [Adaptive(), Adaptive(linear=False), Fixed(12), OWN_SPREAD, Adaptive(penalty=40.0)]


def cells_of(seed: int, *, is_stepped: bool) -> Moments:
    """Cells of a bent effect with a gap, and cells without rows."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(40, 400))
    x = np.where(rng.random(n_rows) < 0.8, rng.normal(size=n_rows), rng.normal(6, 0.3, n_rows))
    noise = rng.normal(size=n_rows) * rng.choice([0.0, 0.1, 1.0]) * np.where(x < 0, 1.0, 3.0)
    effects = np.sin(3 * x) + noise
    weight = rng.uniform(0.2, 3, n_rows) if rng.random() < 0.5 else None
    grid = Grid(np.linspace(x.min(), x.max(), int(rng.integers(30, 90))))
    return replace(measure_moments(grid, x, effects, weight), is_stepped=is_stepped)


def unfitted_of(seed: int) -> Unfitted:
    fine = cells_of(seed, is_stepped=seed % 5 > 2)
    chooser = CHOOSERS[seed // 5 % len(CHOOSERS)]
    offered = np.unique(np.append(np.arange(0, fine.grid.n_cells, 2), fine.grid.n_cells))
    cells = fine.unite(offered)
    cuts = chooser(cells)
    return Unfitted(f"x{seed}", "y", cells, cuts, fine, offered[cuts.limits])


def same_bits(one, other) -> bool:
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same_bits(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return bool(one == other)


@pytest.mark.parametrize("size", [2, 7, 50])
def test_effects_that_are_fitted_together_are_to_the_bit_those_of_each_alone(size):
    unfitted = [unfitted_of(seed) for seed in range(50)]
    alone = [fit_effect(*one[:4], fine=one.fine, limits=one.limits) for one in unfitted]
    kinds = {one.likeness for one in unfitted}
    assert len(kinds) == 6  # all that is told apart
    assert sum(effect.cells is not None for effect in alone) > 5
    assert any(not effect.measured.all() for effect in alone)
    assert any(effect.gaps.left.size for effect in alone)

    together = [
        e for first in range(0, 50, size) for e in fit_effects(unfitted[first : first + size])
    ]

    for one, other in zip(alone, together, strict=True):
        assert same_bits(one, other), one.name


def test_no_effects_need_no_fit():
    assert fit_effects([]) == []


def test_parts_of_what_was_fitted_together_cannot_be_changed():
    made = fit_effects([unfitted_of(0), unfitted_of(1)])
    for effect in made:
        for name in ("count", "weight", "mean_x", "level", "slope", "std", "level_error"):
            assert not getattr(effect, name).flags.writeable, name


def test_nothing_that_was_given_is_changed():
    one = unfitted_of(0)
    before = [getattr(one.fine, name).copy() for name in ("count", "weight", "mean", "low")]
    fit_effects([one])
    for name, kept in zip(("count", "weight", "mean", "low"), before, strict=True):
        array = getattr(one.fine, name)
        np.testing.assert_array_equal(array, kept)
        assert array.flags.writeable


def test_cells_that_are_followed_need_no_limits_of_their_own():
    x = np.linspace(0, 1, 400)
    cells = measure_moments(Grid(np.linspace(0, 1, 21)), x, np.where(x < 0.5, 0.0, 1.0))
    plain = Cuts(np.array([0, 20]), np.array([False]), trust=np.ones(1), noise=np.full(20, 0.1))
    named = replace(plain, followed=np.arange(21))
    effect = fit_effect("x", "y", cells, plain)
    assert effect == fit_effect("x", "y", cells, named)
    assert effect.curve([0.5, 1.0], center="start") == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize(("n_rows", "pooled"), [(60, True), (160, False)])
def test_bins_of_few_rows_have_the_spread_of_all_rows_of_their_part(n_rows, pooled):
    """Variances about two means, of as many rows each: the spread of the part is the root of their mean."""
    d = np.random.default_rng(0).normal(size=(2, n_rows)) * [[1.0], [1.3]]
    x = np.linspace(0, 1, n_rows, endpoint=False)
    cells = measure_moments(
        Grid(np.linspace(0, 2, 13)), np.append(x, 1 + x), np.append(d[0], 5 + d[1])
    )
    cuts = Cuts(np.array([0, 6, 12]), np.zeros(2, dtype=bool), spread_parts=np.array([0, 12]))
    own = d.std(axis=1, ddof=1)
    expected = np.full(2, np.sqrt(np.mean(own**2))) if pooled else own
    np.testing.assert_allclose(fit_effect("x", "y", cells.series(0), cuts).std, expected)
