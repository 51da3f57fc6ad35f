"""Partial dependence and individual curves of iml and ALEPlot, through the public interface."""

import numpy as np
import pytest
from tests.peers.r_numbers import black_box, cases, read, table, within

import rhale

pytestmark = pytest.mark.peer


def one_feature(method):
    return lambda case: case.get("method") == method and "feature" in case


pdp = pytest.mark.parametrize(("name", "number"), cases("iml_pdp_ice", one_feature("pdp")))
ice = pytest.mark.parametrize(("name", "number"), cases("iml_pdp_ice", one_feature("ice")))
pdplot = pytest.mark.parametrize(
    ("name", "number"), cases("pdplot", lambda case: "feature" in case and "grid" in case)
)


def profile(name, case, method):
    rows, feature = table(name), case["feature"]
    bins = rhale.Edges(case["grid"])
    return rhale.explain(black_box(name), rows, features=[feature], method=method, bins=bins)[
        feature
    ]


@pdp
def test_partial_dependence_keeps_the_level_of_the_predictions_as_iml_does(name, number):
    case = read(name)["cases"][number]
    found = profile(name, case, "pdp")
    assert found.grid.tolist() == case["grid"]
    assert found.mean == within(case["pd"])
    assert found.curve(case["grid"], center=None) == within(case["pd"])


@ice
def test_individual_curves_equal_those_of_iml_row_by_row(name, number):
    case = read(name)["cases"][number]
    found = profile(name, case, "ice")
    center = None if case["center_at"] is None else float(case["center_at"])
    values = table(name)[case["feature"]].to_numpy()
    assert np.unique(values).size == values.size  # a value tells which row a curve belongs to
    order = [values.tolist().index(x) for x in found.curve_x.tolist()]
    assert sorted(order) == list(range(values.size))
    assert found.ice(center=center) == within(np.array(case["ice"])[order])


def count_up_to(points, values):
    """Rows of each point as R's PDPlot counts them: those after the point before, and up to it."""
    return np.bincount(np.searchsorted(points, values, side="left"), minlength=len(points))


@pdplot
def test_partial_dependence_equals_pdplot_once_zero_is_where_r_has_it(name, number):
    """PDPlot takes off the mean of the points, each as often as rows lie before it; `center="mean"`
    that of the curve over the rows."""
    case = read(name)["cases"][number]
    found = profile(name, case, "pdp")
    values = table(name)[case["feature"]].to_numpy()
    zero = np.average(found.mean, weights=count_up_to(found.grid, values))
    assert found.curve(case["grid"], center=None) - zero == within(case["pd"])
