"""H of models that are asked; numbers from algebra."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.interaction.h_statistic import conclude_h, count_h_rows, h_statistics, note_h

ROWS = np.random.default_rng(0).normal(np.array([1.0, 0.5, 0.0]), 1.0, (30, 3))
PAIRS = [(0, 1), (0, 2), (1, 2)]


def find(model, rows=ROWS, weights=None, pairs=PAIRS):
    table = open_table(rows)
    chunk = table.chunk(0, table.n_rows)
    columns = range(len(table.names))
    return h_statistics(asker_for(model, chunk, table.names), chunk, columns, pairs, weights)


def product(rows):
    return rows[:, 0] * rows[:, 1]


@given(st.integers(0, 10**6), st.booleans())
def test_a_product_has_the_product_of_deviations(seed, is_weighted):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(15, 3)), rng.uniform(0, 2, 15) if is_weighted else None
    found = find(product, rows, weights)
    w = np.full(15, 1 / 15) if weights is None else weights / weights.sum()
    a, b = (rows - w @ rows).T[:2]
    pure = a * b - w @ (a * b)
    both = rows[:, 0] * rows[:, 1]
    both = both - w @ both
    np.testing.assert_allclose(found.strength[:, 0], [np.sqrt(w @ pure**2), 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.h2[0, 0], w @ pure**2 / (w @ both**2), rtol=1e-9)
    assert np.nan_to_num(found.h2[1:, 0]).tolist() == [0.0, 0.0]
    importance = [abs(w @ rows[:, 1]) * np.sqrt(w @ a**2), abs(w @ rows[:, 0]) * np.sqrt(w @ b**2)]
    np.testing.assert_allclose(found.importance[:, 0], [*importance, 0], atol=1e-12)
    np.testing.assert_allclose(found.overall[:, 0], [w @ pure**2, w @ pure**2, 0], atol=1e-12)
    np.testing.assert_allclose(found.variance, [w @ both**2], rtol=1e-12)


def test_additive_functions_have_exactly_none():
    found = find(lambda x: np.stack([np.exp(x[:, 0]) + x[:, 1] ** 2 - 3 * x[:, 2], x[:, 0]], 1))
    assert found.strength.tolist() == [[0.0] * 2] * 3
    assert found.overall.tolist() == [[0.0] * 2] * 3
    assert found.h2[:, 0].tolist() == [0.0] * 3


def test_a_pair_that_does_nothing_has_no_ratio_and_says_so():
    found = find(lambda x: x[:, 0])
    assert np.isnan(found.h2[:, 0]).tolist() == [False, False, True]
    pairs = conclude_h(found, ["a", "b", "c"], ["y"])
    assert [p.names for p in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [bool(p.notes) for p in pairs] == [False, False, True]
    assert pairs[2].notes[0].kind == "no ratio"
    assert pairs[2].strength == 0


def test_a_constant_model_has_zeros():
    found = find(lambda x: np.full(len(x), 0.1))
    assert found.strength.tolist() == [[0.0]] * 3
    assert found.variance.tolist() == [0.0]
    assert np.isnan(found.h2).all()
    assert np.isnan(found.overall_h2).all()


def test_a_row_of_weight_zero_is_absent_and_scale_is_nothing():
    weights = np.r_[np.ones(20), np.zeros(10)]
    some, none = find(product, ROWS[:20]), find(product, ROWS, 7 * weights)
    np.testing.assert_allclose(none.numerator, some.numerator, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(none.denominator, some.denominator, rtol=1e-12)


def test_outputs_are_told_within_pairs():
    found = find(lambda x: np.stack([product(x), 2 * product(x), x[:, 2]], axis=1))
    pairs = conclude_h(found, ["a", "b", "c"], ["u", "v", "w"])
    assert [(p.names, p.output) for p in pairs[:4]] == [
        *[(("a", "b"), output) for output in "uvw"],
        (("a", "c"), "u"),
    ]
    assert pairs[1].strength == pytest.approx(2 * pairs[0].strength)
    assert pairs[1].h2 == pytest.approx(pairs[0].h2)
    assert pairs[0].share == pytest.approx(found.numerator[0, 0] / found.variance[0])


def test_the_rows_that_are_asked_are_counted():
    n_asked = 0

    def counting(rows):
        nonlocal n_asked
        n_asked += len(rows)
        return product(rows)

    table = open_table(ROWS)
    chunk = table.chunk(0, 30)
    asker = asker_for(counting, chunk)
    n_asked = 0
    found = h_statistics(asker, chunk, [0, 1, 2], PAIRS[:2])
    assert found.n_asked == n_asked == count_h_rows(30, 3, 2) == 30 + 900 * (6 + 2)
    assert found.source == "rows"
    assert "unnormalised" in note_h(found)[0]


def test_names_are_held_as_they_are():
    frame = pd.DataFrame({"a": ["u", "v", "u", "v", "u", "v"], "b": [1.0, 2, 3, 4, 5, 7]})
    table = open_table(frame)
    from rhale.data.columns import Labels

    table = table.label({0: Labels(("u", "v"))})
    chunk = table.chunk(0, 6)

    def model(rows):
        return np.where(rows["a"].to_numpy() == "u", 1.0, -1.0) * rows["b"].to_numpy()

    found = h_statistics(asker_for(model, chunk, table.names), chunk, [0, 1], [(0, 1)])
    sign = np.array([1.0, -1.0] * 3)
    b = frame["b"].to_numpy() - frame["b"].mean()
    pure = sign * b - (sign * b).mean()
    assert found.strength[0, 0] == pytest.approx(np.sqrt((pure**2).mean()), rel=1e-12)
