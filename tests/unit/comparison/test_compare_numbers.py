import numpy as np
import pytest
from tests.compared_by_hand import drifted, straight, with_everything

from rhale.comparison.charts import shape_of_comparison


def test_curves_stand_at_one_zero_and_the_difference_is_between_them():
    shape = shape_of_comparison(straight()["x1"])
    old, new = shape.lines
    (gap,) = shape.gaps
    at = np.array(gap.x)
    between = np.interp(at, new.x, new.y) - np.interp(at, old.x, old.y)
    assert gap.y == pytest.approx(between, abs=0.01)
    assert (old.k, new.k, gap.k) == (0, 1, 1)


def test_rows_of_each_have_limits_of_their_own():
    first, second = shape_of_comparison(drifted()["x0"]).rows
    assert first.limits[0] == pytest.approx(0, abs=1e-3)
    assert second.limits[0] == pytest.approx(0.5, abs=1e-3)
    assert max(second.rows) == 100


def test_levels_of_all_stand_in_one_order():
    shape = shape_of_comparison(with_everything()["city"])
    assert shape.form == "levels"
    assert set(shape.labels) == {"Bonn", "Oslo", "Rome", "Paris"}
    for rows in shape.rows:
        assert sum(rows.rows) == pytest.approx(100, abs=0.1)
    paris = shape.labels.index("Paris")
    assert [paris in line.x for line in shape.lines] == [False, False, True]


def test_one_value_has_no_chart():
    assert shape_of_comparison(with_everything()["one"]).form == "constant"
    assert shape_of_comparison(with_everything()["day"]).form == "dates"
