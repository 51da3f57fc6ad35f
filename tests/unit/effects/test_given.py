"""Local effects that are already there: what is refused, and what is made of the rest."""

import numpy as np
import pytest

import problems
import rhale
from rhale import errors
from rhale.effects.local.precomputed import MAX_RESULT_SAMPLE_ROWS

X = np.random.default_rng(6).normal(size=(200, 3))


def test_an_effect_can_be_made_of_local_effects_alone():
    problem = problems.sine_product()
    rows = problem.draw(800, seed=1)
    d = problem.gradient(rows)[:, 0]
    made = rhale.effect(rows[:, 0], d, name="x0")
    explained = rhale.explain(problem.predict, rows, gradient=problem.gradient)["x0"]
    assert made.edges.tolist() == explained.edges.tolist()
    assert made.mean == pytest.approx(explained.mean, rel=1e-13)
    assert made.std == pytest.approx(explained.std, rel=1e-12)


@pytest.mark.parametrize(
    ("x", "d", "found"),
    [
        (X[:, 0], X[:-1, 1], "(200,), local_effects (199,)"),
        (X, X, "(200, 3)"),
        (X[:0, 0], X[:0, 0], "no rows"),
        (X[:1, 0], X[:1, 0], "one row"),
        (X[:, 0], np.where(np.arange(200) == 9, np.nan, 1.0), "row 9"),
        (X[:, 0], np.where(np.arange(200) == 3, np.inf, 1.0), "row 3"),
        (np.where(np.arange(200) == 4, np.nan, 1.0), X[:, 0], "row 4"),
        (["a", "b"], [1.0, 2.0], "numbers"),
        ([1.0, 2.0], ["a", "b"], "numbers"),
    ],
)
def test_local_effects_that_make_no_sense_are_refused(x, d, found):
    with pytest.raises(errors.RhaleError) as caught:
        rhale.effect(x, d, name="age")
    assert isinstance(caught.value, ValueError)
    assert found in str(caught.value)


@pytest.mark.parametrize("options", [{"limits": (50, 60)}, {"bins": rhale.Edges([50, 60])}])
def test_an_effect_without_rows_is_refused(options):
    with pytest.raises(errors.RhaleError, match="50"):
        rhale.effect(X[:, 0], X[:, 1], **options)


def test_local_effects_of_a_constant_feature_have_a_note():
    effect = rhale.effect(np.ones(10), np.arange(10.0))
    assert effect.importance == 0.0
    assert "constant" in effect.notes[0]


def test_local_effects_outside_the_limits_are_left_out_and_counted():
    effect = rhale.effect(X[:, 0], X[:, 1], limits=(0, 1), bins=2)
    inside = (X[:, 0] >= 0) & (X[:, 0] <= 1)
    assert effect.count.sum() == inside.sum()
    assert any(f"{200 - inside.sum()} of 200 rows" in note for note in effect.notes)
    assert effect.mean @ effect.count == pytest.approx(X[inside, 1].sum(), rel=1e-12)


def test_weights_of_local_effects_are_those_of_their_rows():
    weights = np.where(np.arange(200) % 3 == 0, 0.0, 1.0 + np.arange(200) % 2)
    effect = rhale.effect(X[:, 0], X[:, 1], weights=weights, bins=1)
    assert effect.mean == pytest.approx([np.average(X[:, 1], weights=weights)], rel=1e-12)


def test_the_sample_holds_rows_as_they_were_given_with_their_weights():
    weights = 1 + np.abs(X[:, 0])
    sample = rhale.effect(X[:, 0], X[:, 1], weights=weights, name="age").sample
    order, given = np.argsort(sample.x), np.argsort(X[:, 0])
    assert np.array_equal(sample.x[order], X[given, 0])
    assert np.array_equal(sample.local_effects[order], X[given, 1])
    assert np.array_equal(sample.weight[order], weights[given])


def test_the_sample_of_many_rows_is_bounded():
    x = np.random.default_rng(1).normal(size=3 * MAX_RESULT_SAMPLE_ROWS)
    sample = rhale.effect(x, 2 * x, name="age").sample
    assert sample.x.size == MAX_RESULT_SAMPLE_ROWS
    assert np.array_equal(sample.local_effects, 2 * sample.x)


def test_rows_of_weight_zero_may_hold_anything():
    x, d, weights = X[:, 0].copy(), X[:, 1].copy(), np.ones(200)
    x[3], d[7], weights[[3, 7]] = np.nan, np.inf, 0.0
    sample = rhale.effect(x, d, weights=weights, name="age").sample
    assert sorted(sample.local_effects) == sorted(d[weights > 0])
    assert sorted(sample.x) == sorted(x[weights > 0])


def test_few_whole_numbers_are_binned_like_other_numbers():
    x = np.arange(60.0) % 3
    effect = rhale.effect(x, np.full(60, 5.0), bins=1)
    assert effect.curve(2.0) - effect.curve(0.0) == pytest.approx(10.0)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100])
def test_a_range_whose_powers_are_no_numbers_is_refused(scale):
    """D7."""
    u = X[:, 0]
    with pytest.raises(errors.BadTableError, match=r"'x' goes from .* by a power of ten"):
        rhale.effect(u * scale, np.sin(6 * u))


@pytest.mark.parametrize("scale", [1e-49, 1e49])
@pytest.mark.parametrize("keeps_the_curve", [True, False])
def test_ranges_that_pass_are_explained_as_any_other(scale, keeps_the_curve):
    u = np.random.default_rng(0).uniform(-0.4, 0.4, 1_500)
    slopes = np.sin(15 * u) + 0.1 * u
    plain = rhale.effect(u, slopes)
    found = rhale.effect(u * scale, slopes / (scale if keeps_the_curve else 1.0))
    height, x = 1.0 if keeps_the_curve else scale, np.linspace(-0.35, 0.35, 9)
    assert found.curve(scale * x) / height == pytest.approx(plain.curve(x), rel=1e-6)
    assert np.stack(found.ci(scale * x)) / height == pytest.approx(np.stack(plain.ci(x)), rel=1e-4)
    assert found.importance / height == pytest.approx(plain.importance, rel=1e-9)
    assert found.importance_error / height == pytest.approx(plain.importance_error, rel=1e-3)


def test_whole_numbers_beyond_floats_are_refused():
    """D8."""
    with pytest.raises(errors.BadTableError, match="'x' has whole numbers beyond"):
        rhale.effect(2**60 + np.arange(200), X[:, 1])
    assert rhale.effect(1e12 * np.arange(200.0), X[:, 1]).count.sum() == 200


def test_one_row_with_all_the_weight_gets_a_note():
    """D10."""
    weights = np.where(np.arange(200) == 7, 1e15, 1.0)
    effect = rhale.effect(X[:, 0], X[:, 1], weights=weights)
    assert np.isnan(effect.heterogeneity)
    assert [note.kind for note in effect.notes if note.kind == "weights"] == ["weights"]
    rows = np.column_stack([X[:, 0], np.arange(200) % 3, X[:, 2]])
    for method in ("rhale", "ale", "pdp"):
        fx = rhale.explain(lambda r: r.sum(axis=1), rows, weights=weights, method=method)
        for one in fx.values():
            assert "weights" in [note.kind for note in one.notes]


def test_what_is_explained_is_called_a_prediction():
    for x in ([0.0, 1.0, 2.0], [1.0, 1.0, 1.0]):
        made = rhale.effect(x, [1.0, 2.0, 3.0])
        assert made.captions.output(made.output) == "prediction"
