"""Accumulated local effects of ALEPlot and iml, through the public interface."""

import numpy as np
import pytest
from tests.peers.r_numbers import black_box, cases, read, table, within

import rhale

pytestmark = pytest.mark.peer

aleplot = pytest.mark.parametrize(("name", "number"), cases("aleplot_1d"))
iml = pytest.mark.parametrize(("name", "number"), cases("iml_ale_1d"))
exact = pytest.mark.parametrize(
    ("name", "number"), cases("aleplot_1d", lambda case: case["edges_if_exact_ranks"])
)
rounded = pytest.mark.parametrize(
    ("name", "number"), cases("aleplot_1d", lambda case: not case["edges_if_exact_ranks"])
)


def case_of(name, number):
    return read(name)["cases"][number]


def ale(name, case, bins):
    fx = rhale.explain(
        black_box(name), table(name), features=[case["feature"]], method="ale", bins=bins
    )
    return fx[case["feature"]]


def test_every_black_box_is_the_one_that_r_evaluated():
    names = {str(p.values[0]) for kind in ("aleplot_1d", "iml_ale_1d") for p in cases(kind)}
    if names == {"None"}:
        pytest.skip("shared/fixtures/r is not beside the checkout")
    for name in names:
        answer, published = black_box(name)(table(name)), read(name)["function"]
        assert answer[:10] == within(published["f_head"][:10], 1e-12)
        assert answer.mean() == pytest.approx(published["f_mean"], rel=1e-12)


@aleplot
def test_curve_on_given_limits_equals_aleplot(name, number):
    case = case_of(name, number)
    effect = ale(name, case, rhale.Edges(case["edges"], closed="right"))
    assert effect.edges.tolist() == case["edges"]
    assert effect.curve(effect.edges) == within(case["ale"])


@aleplot
def test_bins_hold_the_rows_mean_and_deviation_of_aleplot(name, number):
    case = case_of(name, number)
    effect, derived = (
        ale(name, case, rhale.Edges(case["edges"], closed="right")),
        case["derived"],
    )
    width = np.diff(effect.edges)
    assert effect.count.tolist() == derived["bin_counts"]
    assert effect.mean * width == within(derived["bin_mean_delta"])
    # a bin with one row has no deviation, neither in R nor here
    assert effect.std * width == within(np.array(derived["bin_sd_delta"], dtype=float))


@exact
def test_quantile_bins_equal_those_of_r_where_its_ranks_are_exact(name, number):
    case = case_of(name, number)
    effect = ale(name, case, rhale.Quantile(case["K_requested"], closed="right"))
    assert effect.edges.tolist() == case["edges"]
    assert effect.curve(effect.edges) == within(case["ale"])


@rounded
def test_quantile_bins_follow_exact_ranks_where_r_rounds_them(name, number):
    case = case_of(name, number)
    effect = ale(name, case, rhale.Quantile(case["K_requested"], closed="right"))
    assert effect.edges.tolist() == case["exact_ranks"]["edges"]
    assert effect.curve(effect.edges) == within(case["exact_ranks"]["ale"])


@iml
def test_curve_on_given_limits_equals_iml(name, number):
    case = case_of(name, number)
    effect = ale(name, case, rhale.Edges(case["edges"], closed="right"))
    assert effect.curve(case["edges"]) == within(case["ale"])
    assert effect.count.sum() == len(table(name))


@pytest.mark.parametrize(("n_rows", "n_bins"), [(25, 25), (25, 50), (29, 29), (39, 39), (41, 41)])
def test_ranks_of_quantile_bins_are_exact_where_floating_point_is_not(n_rows, n_bins):
    values = np.random.default_rng(n_rows).normal(size=n_rows)
    ranks = [-(-n_rows * k // n_bins) for k in range(1, n_bins + 1)]  # ceil(n k / K), in integers
    assert any(np.ceil(k / n_bins * n_rows) != r for k, r in enumerate(ranks, start=1))
    expected = np.unique([values.min(), *np.sort(values)[np.array(ranks) - 1]])
    effect = rhale.effect(values, values, bins=rhale.Quantile(n_bins, closed="right"))
    assert effect.edges.tolist() == expected.tolist()
