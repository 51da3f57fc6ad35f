"""What goes out comes back: given edges, files, bins chosen anew."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators, matrices, models, tables

import rhale

PARTITIONS = [rhale.Optimal(25), rhale.Fixed(7), rhale.Quantile(6), rhale.Fixed(4, "right")]
NUMBERS = ("edges", "count", "rows", "weight", "mean_x", "mean", "slope", "std", "std_plain")
pd = pytest.importorskip("pandas")


def reopened(fx):
    with tempfile.TemporaryDirectory() as folder:
        fx.save(Path(folder) / "effects.json")
        return rhale.load(Path(folder) / "effects.json")


@given(tables(least=4), st.sampled_from(PARTITIONS))
def test_edges_of_a_finished_effect_reproduce_it(rows, bins):
    effect = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
    given_edges = rhale.Edges(effect.edges, effect.closed)
    again = rhale.effect(rows.x, rows.d, bins=given_edges, weights=rows.weights)
    rounding = 1e-14 * np.abs(rows.d).max()
    for name in NUMBERS:
        np.testing.assert_allclose(
            getattr(again, name), getattr(effect, name), rtol=1e-8, atol=rounding, err_msg=name
        )
    assert again.closed == effect.closed


@settings(max_examples=15)
@given(matrices(), models(), st.sampled_from(PARTITIONS))
def test_an_explanation_given_as_bins_reproduces_its_edges(table, model, bins):
    first = rhale.explain(model.predict, table, gradient=model.gradient, bins=bins)
    again = rhale.explain(model.predict, table, gradient=model.gradient, bins=first)
    for a, b in zip(again.values(), first.values(), strict=True):
        np.testing.assert_array_equal(a.edges, b.edges)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(
    matrices(least=10, most=80),
    models(),
    st.sampled_from(["rhale", "dale", "ale", "pdp", "ice", "mplot"]),
    generators,
)
def test_saving_and_loading_is_the_identity(table, model, method, rng):
    frame = pd.DataFrame(table, columns=["größe", "μ ✓", "a\nb"])
    weights = rng.uniform(0.1, 3, len(table)) if rng.random() < 0.5 else None
    bins = rhale.Fixed(30) if method in ("rhale", "dale") else None  # some bins are empty: nan
    fx = rhale.explain(
        model.predict, frame, gradient=model.gradient, method=method, bins=bins, weights=weights
    )
    again = reopened(fx)
    assert again == fx
    assert again.features == ("größe", "μ ✓", "a\nb")
    assert str(again) == str(fx)
    for a, b in zip(again.values(), fx.values(), strict=True):
        assert type(a) is type(b)
        assert a.notes == b.notes


@settings(max_examples=10)
@given(matrices(), models())
def test_several_outputs_and_cells_survive_the_file(table, model):
    def both(rows):
        return np.column_stack([model.predict(rows), np.zeros(len(rows))])

    fx = rhale.explain(both, table, bins=rhale.Optimal(20))
    again = reopened(fx)
    assert again == fx
    assert again.outputs == ("y0", "y1")
    assert again.rebin(3) == fx.rebin(3)


@settings(max_examples=10)
@given(
    generators,
    st.sampled_from(["rhale", "ale", "pdp", "ice", "mplot"]),
    st.sampled_from([None, rhale.Adaptive(spread_bins="own"), rhale.Fixed(12, "right"), 1]),
)
def test_columns_of_every_kind_survive_the_file(rng, method, bins):
    n = int(rng.integers(30, 120))
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "word": rng.choice([*"ab", *(f"r{i}" for i in range(9))], n),
            "truth": rng.random(n) < 0.5,
            "whole": rng.integers(-2, 3, n),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "took": pd.to_timedelta(rng.uniform(0, 9e4, n), "s"),
            "same": 1.5,
        }
    )

    def model(rows):
        known = np.nan_to_num(rows["gap"].to_numpy(), nan=2.0) + (rows["word"] == "a").to_numpy()
        days = (rows["day"] - pd.Timestamp("2020-01-01")).dt.days.to_numpy()
        one = rows["number"].to_numpy() * known + rows["whole"].to_numpy() + days / 100
        return np.column_stack([one, -(one**2)])

    weights = rng.uniform(0.1, 3, n) if rng.random() < 0.5 else None
    fx = rhale.explain(model, frame, method=method, bins=bins, weights=weights)
    assert reopened(fx) == fx


@settings(max_examples=25)
@given(
    matrices(least=10),
    models(),
    st.sampled_from(PARTITIONS),
    st.sampled_from(["gradient", "secant"]),
)
def test_rebinning_to_the_same_bins_reproduces_the_effects(table, model, bins, local):
    fx = rhale.explain(model.predict, table, gradient=model.gradient, local=local, bins=bins)
    again = fx.rebin(fx)
    for a, b in zip(again.values(), fx.values(), strict=True):
        assert a == b
    assert again.rebin(fx).effects == fx.effects


@settings(max_examples=15)
@given(matrices(), models(), st.integers(1, 12))
def test_rebinning_to_limits_of_cells_equals_explaining_with_them(table, model, n_bins):
    """Fixed(100) has the cells of every Fixed(k) where k divides 100."""
    n_bins = 100 // max(1, 100 // n_bins) if 100 % n_bins else n_bins
    if 100 % n_bins:
        n_bins = 10
    ask = {"gradient": model.gradient, "local": "gradient"}
    rebinned = rhale.explain(model.predict, table, bins=100, **ask).rebin(n_bins)
    direct = rhale.explain(model.predict, table, bins=n_bins, **ask)
    for a, b in zip(rebinned.values(), direct.values(), strict=True):
        np.testing.assert_allclose(a.edges, b.edges, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(a.count, b.count)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(a.std, b.std, rtol=1e-9, atol=1e-12)
