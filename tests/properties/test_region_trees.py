"""Laws of regions: who is in them, what they add up to, and what does not change them."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import generators

import rhale

N = 500


def is_v(rows):
    return (rows["s"] == "v").to_numpy()


def above(rows, cut):
    return rows["b"].to_numpy() > cut


GATES = {
    "threshold": lambda rows: np.where(above(rows, 0.2), 3.0, -1.0),
    "missing": lambda rows: np.where(rows["b"].isna(), 3.0, -1.0),
    "names": lambda rows: np.where(is_v(rows), -1.0, 3.0),
    "both": lambda rows: np.where(above(rows, -0.3) & ~is_v(rows), 3.0, -1.0),
    "gradual": lambda rows: 3 * rows["b"].fillna(-0.5).to_numpy(),
    "none": lambda rows: np.ones(len(rows)),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """A table, weights, and a function in which the effects of a and k differ by a gate.

    f = scale (a + own(a) + k) gate(b, s) + shift, where own is a² or, without gradients, has steps.
    """

    table: pd.DataFrame
    weights: np.ndarray | None
    gate: str
    by_gradient: bool
    scale: float = 1.0
    shift: float = 0.0

    def predict(self, rows):
        a, k = rows["a"].to_numpy(), rows["k"].to_numpy()
        own = a**2 if self.by_gradient else np.floor(2 * a)
        return self.scale * (a + own + k) * GATES[self.gate](rows) + self.shift

    def gradient(self, rows):
        found = np.zeros(rows.shape)
        slope = (1 + 2 * rows["a"].to_numpy()) * GATES[self.gate](rows)
        found[:, list(rows.columns).index("a")] = self.scale * slope
        return found

    def explain(self, **options):
        options = {"features": ["a", "k"], "regions": True, "weights": self.weights, **options}
        if self.by_gradient:
            options |= {"gradient": self.gradient, "local": "gradient"}
        return rhale.explain(self.predict, self.table, **options)

    def take(self, some):
        table = self.table[some].reset_index(drop=True)
        return replace(self, table=table, weights=self.weights[some])


@st.composite
def problems(draw, *, weighted=None):
    rng = draw(generators)
    table = pd.DataFrame(
        {
            "a": np.where(rng.random(N) < 0.05, np.nan, rng.normal(size=N)),
            "k": rng.integers(0, 3, N),
            "b": np.where(rng.random(N) < 0.2, np.nan, rng.uniform(-1, 1, N)),
            "s": pd.Series(rng.choice(["u", "v", "w"], N), dtype="str"),
        }
    )
    table["a"] = table["a"].fillna(0.0)  # a value that many rows share
    is_weighted = draw(st.booleans()) if weighted is None else weighted
    weights = rng.choice([0.5, 1.0, 2.0], N) if is_weighted else None
    return Problem(table, weights, draw(st.sampled_from(sorted(GATES))), draw(st.booleans()))


few = settings(max_examples=5)


def totals(effect):
    """Sum of the weights, and of local effects times weights."""
    means = effect.mean if effect.parts == "levels" else effect.level
    return float(effect.weight.sum()), float((effect.weight * means).sum())


def assert_same_tree(found, wanted, *, to=1e-9):
    assert (found.state, found.why, found.gradual) == (wanted.state, wanted.why, wanted.gradual)
    assert [r.rule for r in found] == [r.rule for r in wanted]
    assert [r.count for r in found] == [r.count for r in wanted]
    assert [r.rule for r in found.thirds] == [r.rule for r in wanted.thirds]
    assert [p.feature for p in found.partners] == [p.feature for p in wanted.partners]
    np.testing.assert_allclose(found.share, wanted.share, rtol=to, atol=to)
    for one, other in zip(found.splits, wanted.splits, strict=True):
        assert (one.feature, one.threshold, one.levels) == (
            other.feature, other.threshold, other.levels,
        )  # fmt: skip


@few
@given(problems())
def test_regions_are_disjoint_and_cover_every_row(problem):
    fx = problem.explain()
    weight = np.ones(N) if problem.weights is None else problem.weights
    for effect in fx.effects:
        tree = effect.regions
        place = tree.locate(problem.table)
        assert np.bincount(place, minlength=len(tree)).tolist() == [r.count for r in tree]
        shares = np.bincount(place, weight) / weight.sum()
        np.testing.assert_allclose([r.share_of_rows for r in tree], shares, rtol=1e-12)
        assert sum(region.effect.count.sum() for region in tree) == effect.count.sum()
        assert all(region.effect.regions is None for region in tree)


@few
@given(problems())
def test_sampled_rows_are_in_the_regions_that_locate_names(problem):
    problem = replace(
        problem, table=problem.table.assign(a=np.random.default_rng(1).normal(size=N))
    )
    fx = problem.explain()
    row = {a: k for k, a in enumerate(problem.table["a"])}
    order = [row[a] for a in fx.sample_x[:, 0]]
    for effect in fx.effects:
        tree = effect.regions
        if len(tree) > 1:
            np.testing.assert_array_equal(tree.sampled, tree.locate(problem.table)[order])


@few
@given(problems())
def test_what_regions_have_adds_up_to_what_all_rows_have(problem):
    for effect in problem.explain().effects:
        whole = totals(effect)
        regions = np.sum([totals(region.effect) for region in effect.regions], axis=0)
        np.testing.assert_allclose(regions[0], whole[0], rtol=1e-12)
        if problem.by_gradient or effect.parts == "levels":  # secants reach over the ends of bins
            np.testing.assert_allclose(regions[1], whole[1], rtol=1e-9, atol=1e-9)
        sampled = sum(len(region.effect.sample.x) for region in effect.regions)
        assert sampled == len(effect.sample.x)


@few
@given(problems(weighted=True), generators)
def test_a_row_of_weight_zero_is_absent(problem, rng):
    present = rng.random(N) < 0.8
    zero = replace(problem, weights=np.where(present, problem.weights, 0.0)).explain()
    absent = problem.take(present).explain()
    for found, wanted in zip(zero.effects, absent.effects, strict=True):
        assert_same_tree(found.regions, wanted.regions)
        for one, other in zip(found.regions, wanted.regions, strict=True):
            np.testing.assert_allclose(one.effect.mean, other.effect.mean, rtol=1e-9, atol=1e-9)


@few
@given(problems(weighted=True), st.sampled_from([2.0**-20, 3.0, 1e6]))
def test_weights_of_another_size_change_no_tree(problem, factor):
    found = replace(problem, weights=factor * problem.weights).explain()
    for one, other in zip(found.effects, problem.explain().effects, strict=True):
        assert_same_tree(one.regions, other.regions)


@few
@given(problems())
def test_regions_that_were_found_can_be_given(problem):
    for effect in problem.explain().effects:
        tree = effect.regions
        if tree.state != "found":
            continue
        again = problem.explain(features=[effect.name], regions=rhale.By(tree))
        found = again[effect.name].regions
        assert found.state == "given"
        assert [r.rule for r in found] == [r.rule for r in tree]
        for one, other in zip(found, tree, strict=True):
            assert (one.count, one.share_of_rows) == (other.count, other.share_of_rows)
            assert one.effect.edges.tolist() == other.effect.edges.tolist()
            np.testing.assert_allclose(one.effect.mean, other.effect.mean, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(one.effect.std, other.effect.std, rtol=1e-9, atol=1e-9)


@few
@given(problems())
def test_twice_the_function_has_the_same_regions_and_twice_the_effects(problem):
    found = replace(problem, scale=2.0, shift=3.0).explain()
    for effect, other in zip(found.effects, problem.explain().effects, strict=True):
        assert_same_tree(effect.regions, other.regions)
        for region, wanted in zip(effect.regions, other.regions, strict=True):
            size = np.abs(wanted.effect.mean).max()
            np.testing.assert_allclose(
                region.effect.mean, 2 * wanted.effect.mean, rtol=1e-9, atol=1e-9 * size
            )


@few
@given(problems())
def test_the_order_of_rows_changes_no_region(problem):
    order = np.random.default_rng(2).permutation(N)
    weights = None if problem.weights is None else problem.weights[order]
    table = problem.table.iloc[order].reset_index(drop=True)
    found = replace(problem, table=table, weights=weights).explain(batch_size=97)
    for one, other in zip(found.effects, problem.explain().effects, strict=True):
        assert_same_tree(one.regions, other.regions)
        np.testing.assert_array_equal(one.regions.sampled, other.regions.sampled)


@settings(max_examples=4)
@given(problems(), st.sampled_from([True, rhale.By("s"), rhale.By("b", cuts=[0.0, 0.5])]))
def test_what_is_saved_is_what_is_loaded(tmp_path_factory, problem, regions):
    fx = problem.explain(regions=regions)
    path = tmp_path_factory.mktemp("saved") / "fx.json"
    fx.save(path)
    again = rhale.load(path)
    assert again.effects == fx.effects
    for effect, loaded in zip(fx.effects, again.effects, strict=True):
        places = effect.regions.locate(problem.table)
        np.testing.assert_array_equal(loaded.regions.locate(problem.table), places)


@pytest.mark.parametrize("gate", sorted(GATES))
def test_the_gates_are_found(gate):
    """So that the laws say something."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "k": rng.integers(0, 3, N),
            "b": np.where(rng.random(N) < 0.2, np.nan, rng.uniform(-1, 1, N)),
            "s": pd.Series(rng.choice(["u", "v", "w"], N), dtype="str"),
        }
    )
    tree = Problem(table, None, gate, by_gradient=True).explain()["a"].regions
    wanted = {"names": {"s"}, "both": {"b", "s"}, "none": set()}.get(gate, {"b"})
    assert set(tree.splitters) >= wanted
    assert wanted or len(tree) == 1
