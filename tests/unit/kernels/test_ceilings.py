"""Bins of package ale: which ceilings, and what rows at the minimum say."""

from datetime import date

import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.kernels.axis import Axis
from rhale.kernels.ceilings import Ceilings, borrow_effects, set_minimum_apart
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure


def axis(values):
    values, weight = np.unique(np.asarray(values, dtype=float), return_counts=True)
    return Axis(values[0], values[-1], values, weight.astype(float), float(weight.sum()))


def test_so_many_ceilings_are_the_minimum_and_quantiles():
    assert Ceilings(5).candidates(axis(np.arange(1, 9))).tolist() == [1.0, 2.0, 4.0, 6.0, 8.0]
    assert Ceilings().candidates(axis(np.arange(901))).size == 10


def test_fewer_ceilings_come_out_where_values_repeat():
    assert Ceilings(5).candidates(axis([0, 0, 0, 0, 0, 1, 2, 3])).tolist() == [0.0, 1.0, 3.0]


def test_given_ceilings_stay():
    assert Ceilings([0, 2.5, 9]).candidates(axis([1, 2, 3])).tolist() == [0.0, 2.5, 9.0]
    assert Ceilings([0, 2.5, 9]).closed == Ceilings(3).closed == "right"
    assert Ceilings([date(1970, 1, 2), date(1970, 1, 4)]).ceilings == (1.0, 3.0)


@pytest.mark.parametrize("ceilings", [0, -3, 1.5, "many", None, True])
def test_a_number_of_ceilings_is_a_positive_whole_number(ceilings):
    with pytest.raises(BadSettingError, match="positive whole number"):
        Ceilings(ceilings)


@pytest.mark.parametrize(
    ("ceilings", "complaint"),
    [(1, "at least 2"), ([1.0], "at least two"), ([2.0, 1.0], "increasing"), ([], "at least two")],
)
def test_bins_need_two_ceilings_that_rise(ceilings, complaint):
    with pytest.raises(BadSettingError, match=complaint):
        Ceilings(ceilings)


@pytest.mark.parametrize("method", ["rhale", "pdp", "mplot"])
def test_they_go_with_one_method_alone(method):
    rows = np.arange(20.0).reshape(10, 2)
    with pytest.raises(BadSettingError, match="keep rows at the minimum apart"):
        rhale.explain(lambda x: x[:, 0], rows, method=method, bins=Ceilings(4))


def test_finished_results_are_not_binned_by_them():
    cells = measure(Grid(np.array([0.0, 1.0])), np.array([0.5]), np.array([1.0]))
    with pytest.raises(BadSettingError, match="keep rows at the minimum apart"):
        Ceilings(4)(cells)


def test_they_do_not_go_with_local_effects_or_pairs():
    with pytest.raises(BadSettingError, match="keep rows at the minimum apart"):
        rhale.effect(np.arange(9.0), np.ones(9), bins=Ceilings(4))
    rows = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(BadSettingError, match="cells="):
        rhale.interactions(lambda x: x[:, 0], rows, cells=Ceilings(4))


@pytest.mark.parametrize("first", [0.0, -3.25, 1e300, 7.0])
def test_the_minimum_has_a_cell_of_its_own(first):
    edges = np.array([first, first + max(abs(first), 1.0), first + 3 * max(abs(first), 1.0)])
    grid = set_minimum_apart(Grid(edges, "right"))
    assert grid.n_cells == 3
    assert grid.edges[[0, 2, 3]].tolist() == edges.tolist()
    assert grid.locate(np.append(edges, edges[0] + 1e-9 * edges[1])).tolist()[:3] == [0, 1, 2]


def test_neighbouring_numbers_leave_no_room_for_one():
    edges = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert set_minimum_apart(Grid(edges, "right")).edges.tolist() == edges.tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_at_the_minimum_count_and_say_nothing(weighted):
    rng = np.random.default_rng(0)
    x = np.concatenate([np.zeros(30), rng.uniform(0.1, 1, 8), rng.uniform(1.1, 2, 9)])
    d, w = rng.normal(size=x.size), rng.uniform(1, 2, x.size) if weighted else None
    grid = Grid(np.array([0.0, 1.0, 2.0]), "right")
    found = borrow_effects(measure(set_minimum_apart(grid), x, d, w)).unite(np.array([0, 2, 3]))
    above = x > 0
    others = measure(grid, x[above], d[above], None if w is None else w[above])
    whole = measure(grid, x, d, w)
    np.testing.assert_allclose(found.mean, others.mean)
    np.testing.assert_allclose(found.variance, others.variance)
    np.testing.assert_allclose(found.rows, others.rows)
    np.testing.assert_allclose(found.weight, whole.weight)
    assert found.count.tolist() == whole.count.tolist()
    np.testing.assert_allclose(found.mean_x, whole.mean_x)


@pytest.mark.parametrize("x", [[0.0, 0.0, 1.5], [0.5, 0.6, 1.5]])
def test_nothing_changes_where_rows_are_all_at_the_minimum_or_all_above(x):
    grid = set_minimum_apart(Grid(np.array([0.0, 1.0, 2.0]), "right"))
    cells = measure(grid, np.array(x), np.array([1.0, 2.0, 3.0]))
    assert borrow_effects(cells) is cells
