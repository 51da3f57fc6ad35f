import numpy as np

from rhale.regions.partner_shares import add_up_cells, code_partners, count_own_cells, cut_own
from rhale.regions.settings import SearchRows, Target


def rows_of(values, n_levels=None, weight=None):
    n_rows, n_partners = values.shape
    return SearchRows(
        values,
        np.zeros(n_partners, dtype=int) if n_levels is None else np.array(n_levels),
        np.ones(n_rows) if weight is None else weight,
        np.zeros(n_rows, dtype=bool),
    )


def target_of(x, effects, **more):
    return Target(np.arange(x.size), x, effects, np.zeros(x.size), **more)


def test_cells_of_partners_stand_one_behind_the_other():
    values = np.random.default_rng(0).normal(size=(1_000, 3))
    values[:, 1] = np.arange(1_000) % 4
    values[:7, 2] = np.nan
    values[:, 0] = 5.0
    found = code_partners(rows_of(values, [0, 4, 0]))
    assert found.starts.tolist() == [0, 2, 7, 18]
    assert found.varies.tolist() == [False, True, True]
    np.testing.assert_array_equal(found.codes[1], 2 + values[:, 1])
    assert set(found.codes[2, :7]) == {17}  # missing
    counts = np.bincount(found.codes[2, 7:] - 7)
    assert counts.max() - counts.min() <= 1
    assert counts.size == 10


def test_few_rows_have_few_cells():
    assert [count_own_cells(n) for n in (30, 200, 2_000, 40_000)] == [2, 3, 8, 8]
    values = np.random.default_rng(0).normal(size=(40, 1))
    assert code_partners(rows_of(values)).n_cells == 4  # three, and one for missing values


def test_a_straight_curve_is_taken_off():
    x = np.random.default_rng(0).normal(size=400)
    own = cut_own(target_of(x, 3 * x - 1), np.ones(400))
    assert np.abs(own.values).max() < 1e-12
    assert own.n_cells == 6
    np.testing.assert_allclose(own.width.sum(), np.ptp(x))


def test_bends_of_a_curve_are_not_what_neighbours_differ_by():
    rng = np.random.default_rng(0)
    x, other = rng.normal(size=(2, 2_000))
    bent = cut_own(target_of(x, np.cos(3 * x)), np.ones(2_000))
    assert bent.pure < 0.05 * np.sum(bent.values[0] ** 2)
    differing = cut_own(target_of(x, other), np.ones(2_000))
    np.testing.assert_allclose(differing.pure, np.sum(other**2), rtol=0.1)


def test_steps_are_cells_and_lose_their_means():
    step = np.array([0, 0, 2, 2, 2])
    target = Target(
        np.array([0, 1, 1, 2, 3]),
        np.array([0.0, 1, 1, 2, 3]),
        np.array([1.0, 3, 5, 6, 10]),
        np.zeros(5),
        step=step,
    )
    own = cut_own(target, np.ones(4))
    np.testing.assert_allclose(own.values[0], [-1, 1, -2, -1, 3])
    assert own.cell.tolist() == [0, 0, 1, 1, 1]
    assert own.level.tolist() == [0, 1, 1, 1, 2]
    assert own.pure == np.inf


def test_cells_where_rows_differ_very_much_count_less():
    x = np.linspace(0, 8, 800, endpoint=False)
    effects = np.where(x < 1, 100.0, 1.0) * np.tile([1, -1, -1, 1], 200)
    own = cut_own(target_of(x, effects), np.ones(800))
    np.testing.assert_allclose(own.factor, [30 / 1e4, *np.ones(7)], rtol=0.01)
    np.testing.assert_allclose(own.size, (1e4 + 7) / 8)


def test_sums_are_those_of_a_loop_over_rows():
    rng = np.random.default_rng(1)
    values, weight = rng.normal(size=(150, 3)), rng.uniform(0.5, 2, size=150)
    partners = code_partners(rows_of(values, weight=weight))
    some = np.arange(20, 140)
    effects = 1 + rng.normal(size=some.size)
    target = Target(some, values[some, 0], effects, np.zeros(some.size))
    own = cut_own(target, weight)
    found = add_up_cells(own, partners)
    sums, mass = np.zeros_like(found.sums), np.zeros_like(found.weight)
    squares = np.zeros_like(mass)
    for i, row in enumerate(some):
        for k in range(3):
            at = own.cell[i], partners.codes[k, row]
            mass[at] += weight[row]
            squares[at] += weight[row] ** 2
            sums[(slice(None), *at)] += weight[row] * own.values[:, i]
    for a, b in ((found.weight, mass), (found.squares, squares), (found.sums, sums)):
        np.testing.assert_allclose(a, b, atol=1e-12)
    first = slice(partners.starts[1], partners.starts[2])
    np.testing.assert_allclose(own.sums.weight, mass[:, first].sum(axis=1))
    np.testing.assert_allclose(own.sums.values, sums[..., first].sum(axis=2), atol=1e-12)


def test_equal_weights_are_counted_once():
    values = np.random.default_rng(1).normal(size=(200, 2))
    even, uneven = np.full(200, 2.5), np.full(200, 2.5)
    uneven[0] = np.nextafter(2.5, 3)
    found = []
    for weight in (even, uneven):
        partners = code_partners(rows_of(values, weight=weight))
        found.append(add_up_cells(cut_own(target_of(values[:, 0], values[:, 1]), weight), partners))
    np.testing.assert_allclose(found[0].weight, found[1].weight)
    np.testing.assert_allclose(found[0].squares, found[1].squares)
