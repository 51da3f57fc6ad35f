"""Merging commutes, associates and has an identity; neither chunks nor row order matter."""

from functools import reduce
from itertools import pairwise
from operator import add
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import (
    cell_edges,
    generators,
    matrices,
    models,
    seeds,
    tables,
)

import rhale
from rhale.data import open_table
from rhale.data.array import ArrayTable
from rhale.data.pieces import PiecedTable
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import empty, measure_moments
from rhale.effects.curve_sums import measure_curves
from rhale.execution.worker import PartTask
from rhale.features.survey import SurveyTask
from rhale.stats.sampling import collect, hash_rows

NAMES = ("weight", "weight_squares", "mean_x", "mean", "sxx", "sxd", "sdd")


def moments_of(grid, rows):
    return measure_moments(grid, rows.x, rows.d, rows.weights)


def assert_same_moments(a, b, rows):
    """Equal to the rounding of sums over these rows."""
    w = rows.w.sum()
    dx, dd = np.abs(rows.x).max(), np.abs(rows.d).max()
    range_x, range_d = max(np.ptp(rows.x), 1e-9 * dx), max(np.ptp(rows.d), 1e-9 * dd)
    size = {
        "weight": w,
        "weight_squares": (rows.w**2).sum(),
        "mean_x": dx,
        "mean": dd,
        "sxx": w * range_x**2,
        "sxd": w * range_x * range_d,
        "sdd": w * range_d**2,
    }
    np.testing.assert_array_equal(a.count, b.count)
    for name in NAMES:
        np.testing.assert_allclose(
            getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-11 * size[name], err_msg=name
        )


@given(st.data())
def test_pieces_in_any_order_add_up_to_the_moments_of_the_whole(data):
    rows = data.draw(tables())
    grid = Grid(data.draw(cell_edges(rows)))
    pieces = [moments_of(grid, p) for p in rows.pieces(data.draw(generators))]
    assert_same_moments(reduce(add, pieces), moments_of(grid, rows), rows)


@given(st.data())
def test_adding_moments_commutes_and_associates(data):
    rows = data.draw(tables(least=3))
    grid = Grid(data.draw(cell_edges(rows)))
    order = data.draw(generators).permutation(rows.n)
    a, b, c = (moments_of(grid, rows.take(part)) for part in np.array_split(order, 3))
    assert_same_moments(a + b, b + a, rows)
    assert_same_moments((a + b) + c, a + (b + c), rows)


@given(st.data())
def test_the_moments_of_no_rows_change_nothing_at_all(data):
    rows = data.draw(tables())
    grid = Grid(data.draw(cell_edges(rows)))
    found = moments_of(grid, rows)
    for same in (found + empty(grid), empty(grid) + found):
        for name in ("count", *NAMES):
            np.testing.assert_array_equal(getattr(same, name), getattr(found, name), err_msg=name)


@given(st.data())
def test_uniting_cells_equals_measuring_in_the_united_cells(data):
    rows = data.draw(tables())
    edges = data.draw(cell_edges(rows))
    inner = np.arange(1, edges.size - 1)
    kept = inner[data.draw(generators).random(inner.size) < 0.4]
    limits = np.concatenate([[0], kept, [edges.size - 1]]).astype(np.intp)
    united = moments_of(Grid(edges), rows).unite(limits)
    direct = moments_of(Grid(edges[limits]), rows)
    np.testing.assert_array_equal(united.grid.edges, direct.grid.edges)
    filled = direct.count > 0
    united_means = np.where(filled, united.mean, 0.0)
    np.testing.assert_allclose(united_means, direct.mean, rtol=1e-9, atol=1e-11 * abs(rows.d).max())
    np.testing.assert_array_equal(united.count, direct.count)
    for name in ("sxx", "sdd"):
        size = getattr(direct, name).max()
        np.testing.assert_allclose(
            getattr(united, name), getattr(direct, name), rtol=1e-7, atol=1e-9 * size
        )


def sample_of(columns, weights, size):
    return collect(hash_rows(columns), columns, weights, size=size)


def assert_same_sample(a, b):
    np.testing.assert_array_equal(a.key, b.key)
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-12)
    assert (a.seen, a.is_complete, a.size) == (b.seen, b.is_complete, b.size)


@st.composite
def sampled_rows(draw):
    """Rows that repeat often, their weights, and a size that may or may not hold them all."""
    rng, n = draw(generators), draw(st.integers(3, 120))
    columns = rng.integers(0, draw(st.integers(1, 12)), (n, 2)) / 3.0
    return columns, rng.uniform(0.5, 2, n), draw(st.integers(1, 40))


@given(sampled_rows(), generators)
def test_samples_of_pieces_add_up_to_the_sample_of_the_whole(rows, rng):
    columns, weights, size = rows
    parts = np.array_split(rng.permutation(len(columns)), 3)
    a, b, c = (sample_of(columns[p], weights[p], size) for p in parts)
    whole = sample_of(columns, weights, size)
    for merged in ((a + b) + c, a + (b + c), c + b + a):
        assert_same_sample(merged, whole)


@given(sampled_rows())
def test_the_sample_of_no_rows_changes_nothing(rows):
    columns, weights, size = rows
    whole, nothing = (sample_of(columns[:n], weights[:n], size) for n in (None, 0))
    assert_same_sample(whole + nothing, whole)
    assert_same_sample(nothing + whole, whole)


@given(sampled_rows())
def test_a_sample_holds_the_distinct_rows_with_the_smallest_keys(rows):
    columns, weights, size = rows
    key, sample = hash_rows(columns), sample_of(*rows)
    smallest = sorted(set(key.tolist()))[:size]
    assert sample.key.tolist() == smallest
    assert sample.is_complete == (len(set(key.tolist())) <= size)
    expected = [weights[key == k].sum() for k in sample.key]
    np.testing.assert_allclose(sample.weight, expected, rtol=1e-12)


@st.composite
def curves(draw):
    rng, n = draw(generators), draw(st.integers(3, 40))
    shape = (draw(st.integers(1, 2)), n, draw(st.integers(1, 5)))
    level = draw(st.sampled_from([0.0, 1e6]))
    return level + rng.normal(0, 1, shape), draw(st.sampled_from([None, rng.uniform(0.5, 2, n)]))


def scatter_of(curves, weights, rows):
    return measure_curves(curves[:, rows], None if weights is None else weights[rows])


def assert_same_scatter(a, b):
    assert np.isclose(a.weight, b.weight)
    assert np.isclose(a.weight_squares, b.weight_squares)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(a.products, b.products, rtol=1e-7, atol=1e-7)


@given(curves(), generators)
def test_scatters_of_pieces_add_up_to_the_scatter_of_the_whole(drawn, rng):
    values, weights = drawn
    everything = np.arange(values.shape[1])
    parts = np.array_split(rng.permutation(everything), 3)
    a, b, c = (scatter_of(values, weights, p) for p in parts)
    whole = scatter_of(values, weights, everything)
    for merged in ((a + b) + c, a + (b + c), c + b + a):
        assert_same_scatter(merged, whole)


@given(curves())
def test_the_scatter_of_no_curves_changes_nothing(drawn):
    values, weights = drawn
    found = measure_curves(values, weights)
    nothing = measure_curves(values[:, :0])
    assert_same_scatter(found + nothing, found)
    assert_same_scatter(nothing + found, found)
    assert_same_scatter(nothing + nothing, nothing)


def survey_of(table, seed, weights=None):
    opened = open_table(table, weights)
    return SurveyTask([0, 2], opened.names, (25, 7), seed)(opened.chunk(0, opened.n_rows))


def assert_same_survey(a, b):
    assert a.n_rows == b.n_rows
    assert np.isclose(a.weight, b.weight, rtol=1e-12)
    assert np.isclose(a.weight_squares, b.weight_squares, rtol=1e-12)
    for name in ("low", "high", "whole"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert_same_sample(a.sample, b.sample)
    np.testing.assert_array_equal(a.probe.key, b.probe.key)
    np.testing.assert_array_equal(a.probe.chunk.rows, b.probe.chunk.rows)


@given(matrices(), seeds, generators)
def test_surveys_of_pieces_add_up_to_the_survey_of_the_whole(table, seed, rng):
    weights = rng.uniform(0.5, 2, len(table))
    parts = np.array_split(rng.permutation(len(table)), 3)
    a, b, c = (survey_of(table[p], seed, weights[p]) for p in parts)
    whole = survey_of(table, seed, weights)
    for merged in ((a + b) + c, a + (b + c), c + b + a):
        assert_same_survey(merged, whole)


@given(matrices(), seeds, generators)
def test_a_survey_that_knows_what_it_no_longer_needs_finds_the_same(table, seed, rng):
    task = SurveyTask([0, 2], open_table(table).names, (5, 3), seed)
    found, first = None, task
    for part in np.array_split(rng.permutation(len(table)), 4):
        piece = task(ArrayTable(table[part]).chunk(0, part.size))
        found = piece if found is None else found + piece
        task = task.after(found)
    whole = first(open_table(table).chunk(0, len(table)))
    assert_same_survey(found, whole)
    assert found.sample.is_complete == whole.sample.is_complete


@given(matrices(), seeds)
def test_the_survey_of_no_rows_changes_nothing(table, seed):
    opened = open_table(table)
    found = survey_of(table, seed)
    nothing = SurveyTask([0, 2], opened.names, (25, 7), seed)(opened.chunk(0, 0))
    assert_same_survey(found + nothing, found)
    assert_same_survey(nothing + found, found)


def test_a_feature_is_whole_only_if_every_piece_of_it_is():
    whole = np.arange(12.0).reshape(4, 3)
    broken = whole + np.array([0.5, 0.0, 0.0])
    assert (survey_of(whole, 0) + survey_of(broken, 0)).whole.tolist() == [False, True]
    assert (survey_of(broken, 0) + survey_of(whole, 0)).whole.tolist() == [False, True]


def assert_same_explanation(a, b):
    assert len(a) == len(b)
    for one, other in zip(a.values(), b.values(), strict=True):
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_array_equal(one.count, other.count)
        points = np.linspace(one.edges[0], one.edges[-1], 17)
        size = max(np.abs(one.curve(points, center="start")).max(), 1e-300)
        np.testing.assert_allclose(one.curve(points), other.curve(points), atol=1e-9 * size)
        for mine, theirs in zip(one.sample, other.sample, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    np.testing.assert_array_equal(a.sample_x, b.sample_x)
    np.testing.assert_array_equal(a.predictions, b.predictions)


@settings(max_examples=12)
@given(
    matrices(),
    models(),
    st.sampled_from(["gradient", "secant"]),
    st.integers(1, 60),
    st.sampled_from([1, 2, 16]),
)
def test_batches_change_nothing_but_rounding(table, model, local, batch_size, n_batches):
    ask = {"gradient": model.gradient, "local": local}
    whole = rhale.explain(model.predict, table, **ask)
    with patch("rhale.pipeline.CHUNK_BATCHES", n_batches):
        other = rhale.explain(model.predict, table, batch_size=batch_size, **ask)
    assert_same_explanation(other, whole)


@settings(max_examples=12)
@given(matrices(), models(), st.sampled_from(["gradient", "secant"]), generators)
def test_the_order_of_rows_changes_nothing_but_rounding(table, model, local, rng):
    order = rng.permutation(len(table))
    weights = rng.integers(1, 4, len(table)).astype(float)
    ask = {"gradient": model.gradient, "local": local}
    first = rhale.explain(model.predict, table, weights=weights, **ask)
    other = rhale.explain(model.predict, table[order], weights=weights[order], **ask)
    assert_same_explanation(first, other)


@settings(max_examples=8)
@given(matrices(), models(), st.sampled_from(["pdp", "ice", "mplot"]), generators)
def test_profiles_depend_neither_on_batches_nor_on_order(table, model, method, rng):
    first = rhale.explain(model.predict, table, method=method)
    shuffled = table[rng.permutation(len(table))]
    other = rhale.explain(model.predict, shuffled, method=method, batch_size=17)
    for a, b in zip(first.values(), other.values(), strict=True):
        np.testing.assert_allclose(a.grid, b.grid, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(a.std, b.std, rtol=1e-8, atol=1e-8)
        np.testing.assert_array_equal(a.curves, b.curves)


@given(sampled_rows(), generators)
def test_parts_that_send_fewer_rows_give_the_sample_of_the_whole_or_say_that_they_may_not(
    rows, rng
):
    columns, weights, size = rows
    limits = np.sort(rng.integers(0, len(columns) + 1, 4))
    parts = np.split(rng.permutation(len(columns)), limits)
    sent = [sample_of(columns[p], weights[p], size).first(rng.integers(1, 20)) for p in parts]
    merged, whole = reduce(add, sent), sample_of(columns, weights, size)
    if merged.is_sure:
        assert_same_sample(merged, whole)


@given(sampled_rows(), generators, st.integers(1, 30))
def test_parts_of_any_size_give_the_survey_of_the_whole_table(rows, rng, fewest):
    """Where parts sent too few rows of the sample, that is noticed, and a second look mends it."""
    columns, _, size = rows
    head = ArrayTable(columns[:0])
    task = SurveyTask((0, 1), head.names, (size, 5), 0)
    limits = np.sort(rng.integers(0, len(columns) + 1, rng.integers(0, 8)))
    parts = [columns[low:high] for low, high in pairwise([0, *limits, len(columns)])]

    def look(task):
        pieced = PartTask(task, PiecedTable(head, head.names), 7)
        sent = (pieced(index, [part]).term for index, part in enumerate(parts))
        return reduce(add, (term for term in sent if term is not None))

    few = {"PART_SAMPLE_FACTOR": 1, "FEWEST_SENT": fewest, "PART_SAMPLE_NUMBERS": 1}
    with patch.multiple("rhale.features.survey", **few):
        found = look(task)
        found = found if found.sample.is_sure else look(task.again(found))
    whole = task(open_table(columns).chunk(0, len(columns)))
    assert_same_sample(found.sample, whole.sample)
    np.testing.assert_array_equal(found.probe.chunk.rows, whole.probe.chunk.rows)
    for name in ("n_rows", "weight", "n_known", "low", "high", "whole"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert [c.found for c in found.census] == [c.found for c in whole.census]
