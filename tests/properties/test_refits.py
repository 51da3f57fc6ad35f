"""Laws of refits: copies do not differ, order does not matter, units scale everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, models, seeds

import rhale
from rhale.stability.replication import Overlap, replicate
from rhale.stability.splits import Scheme

N_ROWS, N_MODELS = 60, 4
FEW = settings(max_examples=5, deadline=None)
SCHEMES = ["half-samples", "folds", "subsamples", "bootstraps"]
X = np.array([-0.7, 0.0, 0.4])


def draw_train(seed, name="half-samples", n_rows=N_ROWS):
    return Scheme(name, N_MODELS, folds=4).draw(n_rows, seed=seed)


def refit(found, table, train, **options):
    return rhale.refits(found, table, train=train, bins=5, **options)


@st.composite
def several(draw):
    """Models, a table and the rows that each is said to be trained on."""
    found = [draw(models()) for _ in range(N_MODELS)]
    table = draw(generators).normal(size=(N_ROWS, 3))
    return found, table, draw_train(draw(seeds), draw(st.sampled_from(SCHEMES)))


def numbers(effect):
    """All that is told of an effect, one after the other."""
    told = [effect.curve(X), effect.between(X), *effect.ci(X), effect.spread(X)]
    ends = effect.importance_ci()
    return np.concatenate([*told, [effect.importance, effect.importance_between, *ends]])


@FEW
@given(several())
def test_copies_of_one_model_do_not_differ(drawn):
    found, table, train = drawn
    rx = refit([found[0]] * N_MODELS, table, train)
    alone = rhale.explain(found[0], table, bins=5)
    for effect in rx.values():
        assert np.array_equal(effect.between(X), np.zeros(X.size))
        assert effect.importance_between == 0
        np.testing.assert_allclose(effect.curve(X), alone[effect.name].curve(X), atol=1e-9)
        np.testing.assert_allclose(effect.ci(X), alone[effect.name].ci(X), atol=1e-9)


@FEW
@given(several(), generators)
def test_the_order_of_the_trainings_does_not_matter(drawn, rng):
    found, table, train = drawn
    order = rng.permutation(N_MODELS)
    one = refit(found, table, train)
    other = refit([found[i] for i in order], table, [train[i] for i in order])
    for left, right in zip(one.values(), other.values(), strict=True):
        np.testing.assert_allclose(numbers(left), numbers(right), rtol=1e-6, atol=1e-9)
        assert left.p_value == pytest.approx(right.p_value, rel=1e-6)
        assert left.replication.square == pytest.approx(right.replication.square, rel=1e-6)


@FEW
@given(several(), st.sampled_from([2.0**-20, 0.5, 1024.0]))
def test_units_of_the_output_scale_everything_but_p(drawn, factor):
    found, table, train = drawn
    scaled = [
        type(one)(one.linear * factor, one.square * factor, one.product * factor) for one in found
    ]
    one, other = refit(found, table, train), refit(scaled, table, train)
    for left, right in zip(one.values(), other.values(), strict=True):
        np.testing.assert_allclose(numbers(left) * factor, numbers(right), rtol=1e-9)
        assert right.replicated == pytest.approx(left.replicated * factor, rel=1e-9)
        assert right.p_value == pytest.approx(left.p_value, rel=1e-6)


@given(seeds, st.sampled_from(SCHEMES), st.integers(12, 90))
def test_a_scheme_and_its_indices_have_the_same_factor(seed, name, n_rows):
    """Rows of a training in any order, or as masks where none repeats, are the same rows."""
    train = draw_train(seed, name, n_rows)
    rng = np.random.default_rng(seed)
    one = Overlap.of(train, n_rows)
    other = Overlap.of([rng.permutation(rows) for rows in train], n_rows)
    assert one == other


@given(seeds, st.sampled_from(SCHEMES), st.integers(3, 40))
def test_the_mean_of_trainings_varies_no_less_than_that_of_all_rows(seed, name, n_rows):
    """No weighting of rows has a smaller variance than equal weights: F S² >= v / N."""
    train = draw_train(seed, name, 3 * n_rows)
    overlap = Overlap.of(train, 3 * n_rows)
    assert overlap.shared.mean() >= (1 - 1e-12) / (3 * n_rows)
    assert overlap.factor > 0
    assert 1 - 1e-9 <= overlap.degrees <= N_MODELS - 1 + 1e-9


@given(seeds, st.sampled_from(SCHEMES), st.integers(1, 5))
def test_p_values_are_probabilities_and_do_not_depend_on_units_or_order(seed, name, n_places):
    rng = np.random.default_rng(seed)
    curves, order = rng.normal(size=(N_MODELS, n_places)), rng.permutation(N_MODELS)
    overlap = Overlap.of(draw_train(seed, name), N_ROWS)
    gram = curves @ curves.T
    found = replicate(gram, overlap)
    assert 0 <= found.p_value <= 1
    assert replicate(gram * 1e-30, overlap).p_value == pytest.approx(found.p_value)
    turned = replicate(gram[np.ix_(order, order)], overlap.take(order))
    assert turned == pytest.approx(found, rel=1e-6)
    assert replicate(gram, overlap, drawn=1.0).p_value >= found.p_value - 1e-9
