from rhale.report.chart_numbers import Shape
from rhale.report.sparkline import HEIGHT, path_of, scaled


def test_points_that_are_not_known_are_left_out():
    shape = Shape("curve", x=(0.0, 1.0, 2.0), y=(0.0, None, 1.0))
    assert path_of(shape) == "M2 22L94 2"


def test_levels_are_short_strokes():
    assert path_of(Shape("levels", x=(0, 1), y=(0.0, 1.0), dots=True)).count("h") == 2


def test_a_flat_curve_lies_in_the_middle():
    assert (
        path_of(Shape("curve", x=(0.0, 1.0), y=(3.0, 3.0)))
        == f"M2 {HEIGHT / 2:g}L94 {HEIGHT / 2:g}"
    )


def test_nothing_known_is_nothing_drawn():
    assert path_of(Shape("constant")) == ""


def test_values_end_at_the_limits():
    assert scaled([1.0, 3.0, 2.0], 0.0, 10.0) == [0.0, 10.0, 5.0]
