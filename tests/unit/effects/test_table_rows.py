import numpy as np
import pytest
from tests.unit.conftest import MISSING

from rhale.effects.table import add_missing_bin, add_row, name_places

COLUMNS = {"bin": [0], "from": ["0"], "weight": [8.0], "mean": [1.0], "slope": [0.5]}


def test_a_row_that_is_added_is_unknown_where_nothing_is_said():
    rows = add_row(COLUMNS, {"bin": 1, "from": "1"})
    assert (rows["bin"], rows["from"]) == ([0, 1], ["0", "1"])
    assert np.isnan([rows["mean"][1], rows["slope"][1]]).all()
    assert COLUMNS["bin"] == [0]


def test_missing_values_weigh_what_their_share_says():
    rows = add_missing_bin(COLUMNS, MISSING, np.array([3.0, 5.0]))
    assert rows["weight"][1] == pytest.approx(2.0)  # a fifth of 10
    assert (rows["from"][1], rows["mean"][1]) == ("missing", -1.5)


def test_where_nothing_was_measured_there_is_no_row():
    assert add_missing_bin(COLUMNS, None, np.ones(1)) == COLUMNS


def test_places_are_written_as_what_they_are():
    axis = np.array([0.0, 1.0])
    assert name_places(axis, (), "number") == ["0", "1"]
    assert name_places(axis, (), "date") == ["1970-01-01", "1970-01-02"]
    assert name_places(axis, ("a", "b"), "number") == ["a", "b"]
