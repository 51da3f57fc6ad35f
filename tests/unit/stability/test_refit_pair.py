import numpy as np
import pytest
from tests.unit.effects.refitted import N_ROWS, SLOPES, TRAIN

import rhale
from rhale.stability.refit_effect import RefitPair, compare_surfaces
from rhale.stability.replication import Overlap, mean_factor, replicate

stats = pytest.importorskip("scipy.stats")


def product(weight):
    return lambda rows: weight * rows[:, 0] * rows[:, 1] + rows[:, 0]


def make_table(n_rows=N_ROWS):
    return np.random.default_rng(4).normal(size=(n_rows, 2))


@pytest.fixture(scope="module")
def pairs():
    return [rhale.interactions(product(s), make_table(), pairs="all")["x0", "x1"] for s in SLOPES]


@pytest.fixture(scope="module")
def pair(pairs):
    return RefitPair.of(pairs, Overlap.of(TRAIN, N_ROWS))


def test_products_of_surfaces_are_those_of_their_weights(pairs, pair):
    unit = pairs[0].strength_raw ** 2 / SLOPES[0] ** 2
    np.testing.assert_allclose(pair.gram, np.outer(SLOPES, SLOPES) * unit, rtol=1e-9)
    np.testing.assert_allclose(compare_surfaces(pairs), pair.gram)


def test_products_are_means_over_the_rows(pairs):
    """Of the surfaces at the rows themselves, within what cells know of their rows."""
    surfaces = np.array([one.surface(*make_table().T) for one in pairs[:2]])
    expected = surfaces @ surfaces.T / N_ROWS
    np.testing.assert_allclose(compare_surfaces(pairs[:2]), expected, rtol=0.05)


def test_strengths_and_their_interval(pairs, pair):
    np.testing.assert_allclose(pair.strengths, [one.strength for one in pairs])
    assert pair.strength == pytest.approx(pair.strengths.mean())
    assert pair.strength_between == pytest.approx(pair.strengths.std(ddof=1))
    low, high = pair.strength_ci(0.9)
    factor = mean_factor(pair.gram, pair.overlap)
    half = stats.t.ppf(0.95, pair.overlap.degrees) * np.sqrt(factor) * pair.strength_between
    assert high - pair.strength == pytest.approx(half, rel=0.01)
    assert (low + high) / 2 == pytest.approx(pair.strength)
    with pytest.raises(rhale.errors.BadSettingError, match="between 0 and 1"):
        pair.strength_ci(95)


def test_a_pair_that_all_trainings_have_comes_back(pair):
    assert pair.comes_back
    assert 0 < pair.replicated < pair.gram.max() ** 0.5
    assert pair.names == ("x0", "x1")
    assert repr(pair).startswith("RefitPair(('x0', 'x1'), output=")
    assert pair == RefitPair(pair.names, pair.output, pair.strengths, pair.gram, pair.overlap)


def test_trainings_on_the_same_rows_have_no_interval(pairs):
    same = RefitPair.of(pairs, Overlap.of([np.arange(9)] * SLOPES.size, N_ROWS))
    assert np.isnan([*same.strength_ci(), same.p_value, same.replicated]).all()
    assert not same.comes_back


def test_what_the_rows_add_to_all_surfaces_is_no_interaction():
    """Of x0 x1 x2 the mean effect of two is none: all that trainings agree on are the rows."""
    table = np.random.default_rng(8).normal(size=(300, 3))
    models = [lambda rows, s=s: s * rows.prod(axis=1) for s in SLOPES]
    found = [rhale.interactions(one, table, pairs=[("x0", "x1")])["x0", "x1"] for one in models]
    pair = RefitPair.of(found, Overlap.independent(SLOPES.size))
    assert pair.drawn == pytest.approx(
        np.mean([min(one.square.raw, one.square.noise) for one in found])
    )
    assert replicate(pair.gram, pair.overlap).p_value < 1e-4
    assert pair.p_value > 0.05
    assert not pair.comes_back
