"""Second-order effects as in ALEPlot and iml: numbers with numbers, levels with numbers."""

import numpy as np
import pytest
from tests.pairs_by_hand import PairRows
from tests.peers.r_numbers import black_box, cases, read, table, within

from rhale.kernels.pair_axis import PairAxis

pytestmark = pytest.mark.peer


each_surface = pytest.mark.parametrize(
    ("name", "number"), [*cases("aleplot_2d"), *cases("iml_ale_2d")]
)


def side_of(case, place, values):
    """An axis with R's limits, or R's order of levels, and the values on it."""
    if place == 0 and "levels_ordered" in case:
        order = list(case["levels_ordered"])
        codes = np.array([order.index(value) for value in values], dtype=float)
        return codes, PairAxis(np.arange(float(len(order))), tuple(order))
    return values.to_numpy(float), PairAxis(
        np.array(case[f"edges_{place + 1}"], dtype=float), closed="right"
    )


def as_column(axis, values):
    return np.array(axis.labels)[values.astype(int)] if axis.is_levels else values


@each_surface
def test_surfaces_read_in_the_middle_of_cells_equal_those_of_r(name, number):
    case, rows, model = read(name)["cases"][number], table(name), black_box(name)
    first, second = case["features"]
    (x, across), (y, along) = (side_of(case, i, rows[f]) for i, f in enumerate((first, second)))

    def predict(x, y, _):
        return model(rows.assign(**{first: as_column(across, x), second: as_column(along, y)}))

    found = PairRows(x, y, x, (across, along)).fit(predict, reading="cells")
    assert found.surface == within(case["ale"])
