"""Laws of piles: a jump beside a value that many rows share is a jump, and elsewhere nothing moves."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators

import rhale
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.gaps import find_point_masses

few = settings(max_examples=10)
PLACES = {"first": 0.0, "inside": 2.5, "last": 5.0}


@st.composite
def piled(draw, where=None):
    """Rows whose first feature has a pile; jumps up to it and away from it; a slope."""
    rng, share = draw(generators), draw(st.sampled_from([0.1, 0.3, 0.6]))
    pile = PLACES[where or draw(st.sampled_from(list(PLACES)))]
    n = 1500
    x = np.where(rng.random(n) < share, pile, rng.uniform(0, 5, n))
    jumps = np.where([pile > 0, pile < 5], draw(st.sampled_from([1.0, -2.0, 0.5])), 0.0)
    return np.column_stack([x, rng.normal(size=n)]), pile, jumps * [1.0, 1.5]


def stretches_of(x, pile):
    """Ends of the stretches beside the pile."""
    values, count = np.unique(x, return_counts=True)
    axis = FeatureAxis(values[0], values[-1], values, count.astype(float), float(x.size))
    found = find_point_masses(axis)
    assert found.values.tolist() == [pile]
    return found.stretches


def rise(effect, a, b):
    return float(effect.curve(b) - effect.curve(a))


@few
@given(piled(), st.sampled_from([0.2, 0.0, -1.0]))
def test_a_jump_beside_a_pile_is_a_jump_and_the_slope_elsewhere_is_the_slope(case, slope):
    rows, pile, (up_to, away) = case

    def model(r):
        x = r[:, 0]
        return up_to * (x >= pile) + away * (x > pile) + slope * x + r[:, 1]

    effect = rhale.explain(model, rows, features=[0]).effects[0]
    for a, b in stretches_of(rows[:, 0], pile):
        jump = up_to if b == pile else away
        assert rise(effect, a, b) == pytest.approx(jump + slope * (b - a), rel=0.05, abs=1e-6)
    for a, b in ((0.5, 2.0), (3.0, 4.5)):
        assert rise(effect, a, b) == pytest.approx(slope * (b - a), rel=0.05, abs=1e-6)
    assert effect.std == pytest.approx(np.zeros(effect.std.size), abs=1e-6)


@few
@given(piled("inside"), st.integers(100, 900))
def test_any_batches_put_the_rows_of_a_pile_on_the_same_sides(case, batch_size):
    rows, pile, (up_to, away) = case

    def model(r):
        return (up_to * (r[:, 0] >= pile) + away * (r[:, 0] > pile)) * (1 + r[:, 1])

    one = rhale.explain(model, rows, features=[0]).effects[0]
    other = rhale.explain(model, rows, features=[0], batch_size=batch_size).effects[0]
    assert np.array_equal(one.edges, other.edges)
    assert np.array_equal(one.count, other.count)
    assert other.mean == pytest.approx(one.mean, rel=1e-9)
    assert other.std == pytest.approx(one.std, rel=1e-6, abs=1e-9)


@few
@given(piled())
def test_bins_that_were_given_stay_as_they_were_given(case):
    rows, _, _ = case
    effect = rhale.explain(lambda r: r[:, 0] ** 2, rows, features=[0], bins=7).effects[0]
    assert effect.edges == pytest.approx(np.linspace(rows[:, 0].min(), rows[:, 0].max(), 8))


@few
@given(piled())
def test_gradients_keep_their_derivative(case):
    rows, _, _ = case
    found = rhale.explain(
        lambda r: r[:, 0] ** 2,
        rows,
        features=[0],
        gradient=lambda r: np.column_stack([2 * r[:, 0], 0 * r[:, 0]]),
    ).effects[0]
    assert rise(found, 1.0, 4.0) == pytest.approx(15.0, rel=1e-6)
    assert not any("very common value" in note for note in found.notes)


@few
@given(piled())
def test_bins_beside_a_pile_are_reproduced_by_their_edges_and_cannot_be_chosen_anew(case):
    rows, pile, (up_to, away) = case

    def model(r):
        x = r[:, 0]
        return (up_to * (x >= pile) + away * (x > pile)) * (1 + r[:, 1]) + x + np.sin(r[:, 1])

    fx = rhale.explain(model, rows)
    again = rhale.explain(model, rows, bins=fx)
    assert np.array_equal(again[0].edges, fx[0].edges)
    assert again[0].std == pytest.approx(fx[0].std, rel=1e-9, abs=1e-12)
    kept, other = fx.rebin(3).values()
    assert np.array_equal(kept.edges, fx[0].edges)
    assert any(note.startswith("bins stay") for note in kept.notes)
    assert other.edges.size == 4


@few
@given(generators, st.sampled_from([np.float64, np.int64]))
def test_the_step_from_none_to_one_of_many_counts_is_a_step(rng, dtype):
    counts = np.where(rng.random(2000) < 0.5, 0, rng.geometric(0.03, 2000)).astype(dtype)
    table = pd.DataFrame({"count": counts, "z": rng.normal(size=2000)})

    def model(rows):
        count = rows["count"].to_numpy()
        return 2.0 * (count > 0) - 0.01 * count + rows["z"].to_numpy()

    effect = rhale.explain(model, table, features=["count"])["count"]
    ((first, last),) = stretches_of(counts.astype(float), 0.0)
    assert first == 0
    assert rise(effect, 0, last) == pytest.approx(2 - 0.01 * last, rel=0.05)
    assert rise(effect, last + 5, 60) == pytest.approx(-0.01 * (55 - last), rel=0.05)
