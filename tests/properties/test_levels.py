"""Laws of features with levels: merging, chunks, order of rows, weights, names."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import WEIGHTS, generators

import rhale
from rhale.effects.levels import level_distances, measure_levels, order_levels_by_distance
from rhale.features.categories import Levels

few = settings(max_examples=12)
LETTERS = "abcdefgh"


def close(found, expected, tolerance=1e-9):
    size = 1 + np.nanmax(np.abs(expected), initial=0.0)
    return found == pytest.approx(expected, rel=0, abs=tolerance * size, nan_ok=True)


# --- moments -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Steps:
    """Levels of rows, their steps and their weights."""

    level: np.ndarray
    down: np.ndarray
    up: np.ndarray
    weights: np.ndarray | None
    n_levels: int

    def take(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return Steps(self.level[rows], self.down[:, rows], self.up[:, rows], weights, self.n_levels)

    @property
    def moments(self):
        return measure_levels(self.level, self.down, self.up, self.n_levels, self.weights)


@st.composite
def steps(draw, *, least=1):
    rng, n_levels = draw(generators), draw(st.integers(2, 6))
    n = draw(st.integers(max(least, n_levels), 80))
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    down, up = draw(st.sampled_from([0.0, 1e6])) + rng.normal(size=(2, 2, n))
    weights = WEIGHTS[draw(st.sampled_from(list(WEIGHTS)))](rng, n)
    order = rng.permutation(n)
    return Steps(level[order], down, up, weights, n_levels), rng


def assert_same_moments(a, b):
    for field in fields(a):
        assert close(getattr(a, field.name), getattr(b, field.name), 1e-8)


@given(steps())
def test_merging_pieces_in_any_order_equals_measuring_the_whole(case):
    rows, rng = case
    cuts = np.sort(rng.integers(0, rows.level.size + 1, 4))
    pieces = [rows.take(p).moments for p in np.split(rng.permutation(rows.level.size), cuts)]
    assert_same_moments(sum(pieces[1:], pieces[0]), rows.moments)


@given(steps(), steps())
def test_merging_commutes_and_no_rows_are_its_identity(one, other):
    a, b = one[0], replace(other[0], n_levels=6)
    a = replace(a, n_levels=6)
    assert_same_moments(a.moments + b.moments, b.moments + a.moments)
    nothing = a.take(np.empty(0, dtype=int)).moments
    for field in fields(nothing):
        assert np.array_equal(
            getattr(a.moments + nothing, field.name), getattr(a.moments, field.name)
        )


@given(steps(), steps(), steps())
def test_merging_associates(one, two, three):
    a, b, c = (replace(case[0], n_levels=6).moments for case in (one, two, three))
    assert_same_moments((a + b) + c, a + (b + c))


@given(steps(), st.sampled_from([0.25, 8.0, 1024.0]))
def test_scaling_the_weights_changes_no_step(case, factor):
    rows, _ = case
    weights = np.ones(rows.level.size) if rows.weights is None else rows.weights
    plain, scaled = (replace(rows, weights=w).moments.steps for w in (weights, factor * weights))
    for name in ("mean", "std", "rows", "correlation"):
        assert np.array_equal(getattr(plain, name), getattr(scaled, name), equal_nan=True)


@given(steps())
def test_correlations_are_those_of_real_means(case):
    correlation = case[0].moments.steps.correlation
    assert np.all(np.abs(correlation) <= 1 + 1e-9)
    assert np.min(np.linalg.eigvalsh(correlation)) > -1e-9


# --- order -------------------------------------------------------------------------------------


@given(generators, st.integers(3, 8))
def test_the_order_of_levels_does_not_depend_on_their_numbering(rng, n_levels):
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 60)])
    values, codes = rng.normal(level, 1.0), rng.integers(0, 3, level.size)
    again, ones = rng.permutation(n_levels), np.ones(level.size)
    first = order_levels_by_distance(
        level_distances(level, n_levels, [values], [codes], ones)
    ).tolist()
    other = order_levels_by_distance(
        level_distances(again[level], n_levels, [values], [codes], ones)
    )
    back = np.argsort(again)[other].tolist()
    assert back in (first, first[::-1])


@given(generators, st.integers(1, 8))
def test_every_level_is_found_where_it_is_put(rng, n_levels):
    places = rng.choice(20, n_levels, replace=False).astype(float)
    levels = Levels(tuple(map(str, places)), places)
    level = rng.integers(0, n_levels, 30)
    assert np.array_equal(levels.locate(levels.at(level, rng.random(30))), level)


# --- effects -----------------------------------------------------------------------------------


@st.composite
def raw(draw, *, rare=False):
    """A table of names, few numbers, truth values and numbers; some values are missing."""
    rng, n_levels = draw(generators), draw(st.integers(2, 6))
    n = draw(st.integers(8 * n_levels, 150))
    level = np.concatenate(
        [np.repeat(np.arange(n_levels), 6), rng.integers(0, n_levels, n - 6 * n_levels)]
    )
    names = np.array(list(LETTERS))[level].astype(object)
    if rare:
        names[rng.choice(n, 4, replace=False)] = ["r1", "r2", "r3", "r3"]
    table = pd.DataFrame(
        {
            "f": pd.array(names, dtype="str"),
            "x": rng.normal(0.7 * level, 1.0),
            "k": rng.integers(0, 4, n),
            "t": rng.random(n) < 0.5,
        }
    )
    table.loc[:3, ["k", "t"]] = [[0, True], [1, False], [2, True], [3, False]]
    order = rng.permutation(n)
    table = table.iloc[order].reset_index(drop=True)
    table.loc[rng.random(n) < 0.1, "x"] = np.nan
    return table, rng


def own(rng):
    """What each name is worth by itself."""
    return dict(zip([*LETTERS, "r1", "r2", "r3"], rng.normal(0, 2, 11), strict=True))


def additive(worth, rows):
    return rows["f"].map(worth).to_numpy(dtype=float)


def interacting(worth, rows):
    x = np.nan_to_num(rows["x"].to_numpy())
    return additive(worth, rows) * (1 + x) + rows["k"].to_numpy() ** 2 * np.where(rows["t"], x, 1.0)


def explain(model, worth, table, **other):
    return rhale.explain(lambda rows: model(worth, rows), table, features=["f", "k", "t"], **other)


def assert_same_effects(found, expected):
    for a, b in zip(found.values(), expected.values(), strict=True):
        assert a.levels == b.levels
        assert a.pooled == b.pooled
        for name in ("level_count", "level_weight", "mean", "std", "rows", "correlation"):
            assert close(getattr(a, name), getattr(b, name), 1e-8), name
        assert close(a.spread(), b.spread(), 1e-8)


@few
@given(raw(rare=True), st.integers(5, 90))
def test_any_batches_give_the_same_levels_in_the_same_order_with_the_same_steps(case, batch_size):
    table, rng = case
    worth = own(rng)
    assert_same_effects(
        explain(interacting, worth, table, batch_size=batch_size),
        explain(interacting, worth, table),
    )


@few
@given(raw(rare=True))
def test_any_order_of_the_rows_gives_the_same_levels_in_the_same_order_with_the_same_steps(case):
    table, rng = case
    worth, rows = own(rng), rng.permutation(len(table))
    assert_same_effects(
        explain(interacting, worth, table.iloc[rows]), explain(interacting, worth, table)
    )


@few
@given(raw(), st.sampled_from([0.001, 3.0, 1e6]))
def test_scaling_all_weights_changes_nothing(case, factor):
    table, rng = case
    worth, weights = own(rng), rng.uniform(0.1, 3, len(table))
    plain = explain(interacting, worth, table, weights=weights)
    scaled = explain(interacting, worth, table, weights=factor * weights)
    for a, b in zip(plain.values(), scaled.values(), strict=True):
        assert a.levels == b.levels
        assert close(b.level_weight, factor * a.level_weight)
        for name in ("mean", "std", "rows", "correlation"):
            assert close(getattr(a, name), getattr(b, name), 1e-8)


@few
@given(raw())
def test_a_row_without_weight_is_absent(case):
    table, rng = case
    worth, weights = (
        own(rng),
        np.where(rng.random(len(table)) < 0.2, 0.0, rng.uniform(0.5, 2, len(table))),
    )
    weights[:2] = 1.0
    kept = weights > 0
    assert_same_effects(
        explain(interacting, worth, table, weights=weights),
        explain(interacting, worth, table[kept], weights=weights[kept]),
    )


@few
@given(raw())
def test_a_row_of_weight_two_counts_in_means_as_the_row_twice(case):
    table, rng = case
    worth, weights = own(rng), rng.integers(1, 4, len(table))
    order = {"f": sorted(table["f"].unique())}
    heavy = explain(interacting, worth, table, weights=weights, categorical=order)
    often = table.loc[np.repeat(np.arange(len(table)), weights)]
    for a, b in zip(
        heavy.values(), explain(interacting, worth, often, categorical=order).values(), strict=True
    ):
        assert a.levels == b.levels
        assert close(a.mean, b.mean)
        assert close(a.level_weight, b.level_count)
        assert close(a.curve(), b.curve())


@few
@given(raw())
def test_of_an_additive_model_each_level_has_its_own_contribution_and_no_spread(case):
    table, rng = case
    worth = own(rng)

    def model(_, rows):
        x = np.nan_to_num(rows["x"].to_numpy())
        return (
            additive(worth, rows)
            + 0.5 * rows["k"].to_numpy() ** 2
            + np.sin(x)
            - 3 * rows["t"].to_numpy()
        )

    found = explain(model, worth, table)
    parts = {
        "f": worth,
        "k": {str(k): 0.5 * k**2 for k in range(4)},
        "t": {"False": 0.0, "True": -3.0},
    }
    for effect in found.values():
        expected = np.array([parts[effect.name][level] for level in effect.levels])
        expected -= np.average(expected, weights=effect.level_count)
        assert close(effect.curve(), expected)
        assert effect.std == pytest.approx(np.zeros(effect.std.size), abs=1e-9)
        for center in ("mean", "start", "uniform"):
            assert effect.spread(center=center) == pytest.approx(0.0 * expected, abs=1e-9)
        assert effect.typical_spread == pytest.approx(0.0, abs=1e-9)
        assert effect.importance == pytest.approx(np.sqrt(effect.share @ expected**2), abs=1e-9)


def centred_curves(model, worth, table, effect, zero):
    """Predictions of all rows at every level, each row's less its own average over the levels."""
    moved = [model(worth, table.assign(f=level)) for level in effect.levels]
    curves = np.stack(moved, axis=1)
    return curves - curves @ zero[:, None]


@few
@given(raw())
def test_names_without_an_order_spread_as_the_rows_centred_curves_do(case):
    table, rng = case
    worth = own(rng)
    effect = explain(interacting, worth, table)["f"]
    n_levels = len(effect.levels)
    zeros = {
        "mean": effect.share,
        "start": np.eye(1, n_levels)[0],
        "uniform": np.ones(n_levels) / n_levels,
    }
    for center, zero in zeros.items():
        curves = centred_curves(interacting, worth, table, effect, zero)
        assert close(effect.spread(center=center), curves.std(axis=0, ddof=1))
    curves = centred_curves(interacting, worth, table, effect, effect.share)
    expected = np.sqrt(effect.share @ curves.var(axis=0, ddof=1))
    assert effect.typical_spread == pytest.approx(expected, rel=1e-9)


@few
@given(raw())
def test_the_spread_of_names_does_not_depend_on_the_order_they_got(case):
    table, rng = case
    worth = own(rng)
    plain = explain(interacting, worth, table)["f"]
    place = dict(zip(LETTERS, rng.permutation(8), strict=True))
    other = explain(interacting, worth, table.assign(apart=table["f"].map(place)))["f"]
    assert close(other.spread(list(plain.levels)), plain.spread())
    assert other.typical_spread == pytest.approx(plain.typical_spread, rel=1e-9)


@few
@given(raw())
def test_adding_a_function_of_other_features_changes_nothing(case):
    table, rng = case
    worth = own(rng)

    def more(_, rows):
        return interacting(worth, rows) + 7 * np.cos(np.nan_to_num(rows["x"].to_numpy()))

    for a, b in zip(
        explain(more, worth, table).values(),
        explain(interacting, worth, table).values(),
        strict=True,
    ):
        assert a.levels == b.levels
        assert close(a.mean, b.mean)
        assert a.std == pytest.approx(b.std, abs=1e-8)
        assert a.spread() == pytest.approx(b.spread(), abs=1e-7)


@few
@given(raw())
def test_other_names_for_the_levels_are_other_names_in_the_result(case):
    table, rng = case
    worth = own(rng)
    new = dict(zip(LETTERS, rng.permutation([f"level {c}" for c in LETTERS]), strict=True))
    renamed = table.assign(f=table["f"].map(new))
    first = explain(interacting, worth, table)["f"]
    other = explain(interacting, {new.get(k, k): v for k, v in worth.items()}, renamed)["f"]
    names = [new[level] for level in first.levels]
    assert list(other.levels) in (names, names[::-1])
    assert close(other.curve(names), first.curve())
    assert close(other.spread(names), first.spread())


@few
@given(raw())
def test_an_order_read_from_its_end_gives_the_same_curve(case):
    table, rng = case
    worth, order = own(rng), list(rng.permutation(sorted(table["f"].unique())))
    there = explain(interacting, worth, table, categorical={"f": order})["f"]
    back = explain(interacting, worth, table, categorical={"f": order[::-1]})["f"]
    assert close(back.curve(order), there.curve())
    assert close(back.std, there.std[::-1])
    for one, other in zip(there.ci(), back.ci(order), strict=True):
        assert close(one, other, 1e-7)


@few
@given(raw(), st.integers(-3, 3), st.sampled_from([1, 2, 5]))
def test_moving_and_stretching_whole_numbers_moves_and_stretches_the_steps(case, shift, factor):
    table, rng = case
    worth = own(rng)

    def model(_, rows):
        return interacting(worth, rows.assign(k=(rows["k"] - shift) // factor))

    plain = explain(interacting, worth, table)["k"]
    moved = explain(model, worth, table.assign(k=factor * table["k"] + shift))["k"]
    assert np.array_equal(moved.edges, factor * plain.edges + shift)
    assert close(moved.curve(), plain.curve())
    assert close(moved.std * factor, plain.std)
    assert moved.importance == pytest.approx(plain.importance, abs=1e-9)
