"""The shape of a curve as a tiny picture."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.report.numbers import (
    SPARKLINE_HEIGHT,
    SPARKLINE_MARGIN,
    SPARKLINE_WIDTH,
    Shape,
    scaled,
    shape_of,
    write_sparkline_path,
)

X = np.linspace(0, 10, 401)
NUMBERS = st.floats(-1e9, 1e9)


def test_a_sparkline_stays_in_its_picture():
    path = write_sparkline_path(shape_of(rhale.effect(X, np.sin(X))))
    numbers = [float(n) for n in path[1:].replace("L", " ").split()]
    assert all(0 <= x <= SPARKLINE_WIDTH for x in numbers[::2])
    assert all(0 <= y <= SPARKLINE_HEIGHT for y in numbers[1::2])


def test_high_values_are_at_the_top_of_the_picture():
    path = write_sparkline_path(Shape("curve", x=(0.0, 5.0, 10.0), y=(1.0, 3.0, 1.0)))
    assert path == "M2 22L48 2L94 22"


def test_a_flat_curve_runs_through_the_middle():
    assert write_sparkline_path(Shape("curve", x=(0.0, 1.0), y=(7.0, 7.0))) == "M2 12L94 12"


def test_a_curve_with_a_reach_is_small_where_it_is_small_beside_it():
    shape = Shape("curve", x=(0.0, 1.0), y=(-1.0, 1.0))
    assert write_sparkline_path(shape, 1.0) == "M2 22L94 2"  # all of the height
    assert write_sparkline_path(shape, 2.0) == "M2 17L94 7"  # half of it


def test_points_that_are_not_known_are_left_out():
    with_gap = Shape("curve", x=(0.0, 1.0, 2.0, 4.0), y=(0.0, None, 1.0, 0.0))
    assert write_sparkline_path(with_gap) == write_sparkline_path(
        Shape("curve", x=(0.0, 2.0, 4.0), y=(0.0, 1.0, 0.0))
    )


def test_nothing_to_draw_is_an_empty_path():
    assert write_sparkline_path(Shape("constant")) == ""
    assert write_sparkline_path(Shape("curve", x=(0.0,), y=(None,))) == ""


def test_levels_are_strokes_of_one_length_inside_the_picture():
    path = write_sparkline_path(Shape("levels", x=(0.0, 1.0, 2.0), y=(0.0, 1.0, 2.0), dots=True))
    strokes = np.array(re.findall(r"M(\S+) (\S+)h([\d.]+)", path), dtype=float)
    left, height, length = strokes.T
    assert height.tolist() == [22.0, 12.0, 2.0]
    assert set(length) == {length[0]}
    assert left[0] == pytest.approx(SPARKLINE_MARGIN, abs=0.1)
    assert left[-1] + length[-1] == pytest.approx(SPARKLINE_WIDTH - SPARKLINE_MARGIN, abs=0.1)


def test_scaled_values_end_at_the_limits():
    assert scaled([1.0, 3.0, 2.0], 0.0, 10.0) == [0.0, 10.0, 5.0]


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.floats(0, 10), st.floats(20, 100))
def test_scaled_values_lie_between_the_limits_in_their_order(values, low, high):
    found = np.array(scaled(values, low, high))
    assert np.all((found >= low - 0.05) & (found <= high + 0.05))  # one decimal
    assert np.all(np.diff(found[np.argsort(values, kind="stable")]) >= 0)


def test_a_tiny_picture_has_the_axis_of_the_chart():
    shape = Shape("curve", x=(1.0, 10.0, 100.0), y=(0.0, 1.0, 2.0), log=True)
    assert write_sparkline_path(shape) == "M2 22L48 12L94 2"
