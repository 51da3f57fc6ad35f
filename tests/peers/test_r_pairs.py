"""Surfaces of pairs as in ALEPlot and iml, by the public call."""

import numpy as np
import pytest
from tests.peers.r_numbers import black_box, cases, read, table, within

import rhale

pytestmark = pytest.mark.peer


def sides(case):
    """Edges of numbers, closed on the right as in R; levels in R's order."""
    given, order = {}, {}
    for feature, number in zip(case["features"], ("1", "2"), strict=True):
        edges = case.get(f"edges_{number}")
        if edges is None:
            order[feature] = case["levels_ordered"]
        else:
            given[feature] = rhale.Edges(edges, closed="right")
    return given, order


@pytest.mark.parametrize(("name", "number"), [*cases("aleplot_2d"), *cases("iml_ale_2d")])
def test_the_surface_is_that_of_r(name, number):
    case = read(name)["cases"][number]
    pair = tuple(case["features"])
    cells, order = sides(case)
    ix = rhale.interactions(
        black_box(name), table(name), pairs=[pair], cells=cells, categorical=order, reading="cells"
    )
    assert ix[pair].fit.surface == within(np.array(case["ale"]))


@pytest.mark.parametrize(("name", "number"), cases("aleplot_2d__tree_california"))
def test_nothing_is_told_where_no_row_is(name, number):
    case = read(name)["cases"][number]
    pair, rows = tuple(case["features"]), table(name)
    cells, _ = sides(case)
    found = rhale.interactions(black_box(name), rows, pairs=[pair], cells=cells)[pair]
    (x, y), count = found.edges, found.count
    middles = np.meshgrid((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2, indexing="ij")
    counted, *_ = np.histogram2d(rows[pair[0]], rows[pair[1]], bins=[x, y])
    assert np.array_equal(np.isnan(found.surface(*middles)), count == 0)
    assert count.sum() == counted.sum() == len(rows)
