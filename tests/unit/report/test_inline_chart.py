"""What is drawn in a notebook is read back from the picture, and is what the effect says."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.test_inline_svg import parsed

import rhale
from rhale.report.chart_numbers import MissingPoint, Shape, shape_of
from rhale.report.inline_chart import MOST_LEVELS, Words, chart, low_high, refit_chart
from rhale.report.refit_numbers import RefitShape, TrainingCurve
from rhale.results import inks

TEXT = Words("age", "effect on y", "a curve")
X = np.linspace(0, 10, 401)


def points(path):
    return np.array(re.findall(r"[ML]([-\d.e]+) ([-\d.e]+)", path), dtype=float)


def paths(html, **wanted):
    return [
        attrs
        for tag, attrs in parsed(html).tags
        if tag == "path" and all(attrs.get(name) == value for name, value in wanted.items())
    ]


def written_places(html):
    """Numbers at the ticks of the value axis, and where they stand."""
    found = [attrs for tag, attrs in parsed(html).tags if tag == "text"]
    told = [text for text in parsed(html).texts if text.strip()]
    rows = [
        (float(text.replace("\u2212", "-").replace(",", "")), float(a["y"]) - 4)
        for a, text in zip(found, told, strict=True)
        if a["text-anchor"] == "end"
    ]
    return np.array(rows)


def test_the_curve_is_drawn_at_the_heights_that_the_axis_says():
    effect = rhale.effect(X, np.cos(X))
    html = chart(shape_of(effect), TEXT)
    (curve,) = paths(html, stroke=inks.EFFECT)
    values, heights = written_places(html).T
    drawn = points(curve["d"])
    read = np.interp(
        -drawn[:, 1], -heights[np.argsort(-heights)][::1], values[np.argsort(-heights)]
    )
    inside = (drawn[:, 1] <= heights.max()) & (drawn[:, 1] >= heights.min())
    shape = shape_of(effect)
    np.testing.assert_allclose(read[inside], np.array(shape.y)[inside], atol=0.01)
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_spread_and_interval_have_inks_of_their_own():
    shape = Shape("curve", (0, 1), (0, 1), (1, 1), (-0.1, 0.9), (0.1, 1.1))
    html = chart(shape, TEXT)
    (spread,), (interval,) = (paths(html, fill=ink) for ink in (inks.SPREAD, inks.UNCERTAINTY))
    tall = [np.ptp(points(one["d"])[:, 1]) for one in (spread, interval)]
    assert tall[0] / tall[1] == pytest.approx(3 / 1.2, rel=0.01)


def test_curves_are_broken_where_nothing_is_known():
    shape = Shape("curve", (0, 1, 2), (0, None, 1), (0, 0, 0), (0, None, 1), (0, None, 1))
    assert len(paths(chart(shape, TEXT), stroke=inks.EFFECT)) == 2
    assert low_high((1.0, None, 2.0), (0.5, 1.0, None)) == ((0.5, None, None), (1.5, None, None))


def test_what_has_one_value_has_no_picture():
    assert chart(Shape("constant"), TEXT) == ""
    assert refit_chart(RefitShape("constant"), TEXT) == ""


def test_levels_stand_below_one_another_and_too_many_are_cut():
    n = MOST_LEVELS + 5
    labels, flat = tuple(f"<b>{i}" for i in range(n)), tuple(float(i) for i in range(n))
    shape = Shape("levels", flat, flat, flat, flat, flat, dots=True, rows=flat, labels=labels)
    found = parsed(chart(shape, TEXT))
    dots = [attrs for tag, attrs in found.tags if tag == "circle"]
    assert len(dots) == MOST_LEVELS
    across, down = ([float(dot[name]) for dot in dots] for name in ("cx", "cy"))
    assert across == sorted(across)
    assert down == sorted(down)
    assert "<b>3" in found.texts
    assert "b" not in {tag for tag, _ in found.tags}


def test_rows_without_a_value_are_a_point_beside_the_curve():
    shape = Shape("curve", (0, 1), (0, 1), (0, 0), (0, 1), (0, 1))
    gone = MissingPoint(0.5, 0.4, 0.6, 0.1, 0.1)
    found = parsed(chart(replace(shape, missing=gone), TEXT))
    assert "missing" in found.texts
    assert [tag for tag, _ in found.tags].count("circle") == 1
    levels = replace(shape, form="levels", labels=("a", "b"), rows=(1, 2), dots=True, missing=gone)
    assert "(missing)" in parsed(chart(levels, TEXT)).texts


def test_levels_that_are_numbers_are_dots_on_an_axis():
    shape = Shape(
        "curve", (1, 2, 5), (0, 1, 2), (0, 0, 0), (0, 1, 2), (0, 1, 2), dots=True, rows=(1, 2, 3)
    )
    found = parsed(chart(shape, TEXT))
    across = [float(attrs["cx"]) for tag, attrs in found.tags if tag == "circle"]
    assert (across[2] - across[1]) / (across[1] - across[0]) == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("form", ["curve", "levels"])
def test_every_training_is_drawn_in_the_ink_between_trainings(form):
    curves = tuple(TrainingCurve((0, 1), (0.0, y)) for y in (0.5, 1.0, 1.5))
    shape = RefitShape(
        form, (0, 1), (0, 1), (-1, 0), (1, 2), (1, 1), labels=("a", "b"), rows=(1, 1)
    )
    shape = replace(shape, curves=curves, grid=(0.0, 1.0), dots=form == "levels", limits=(0, 1))
    html = refit_chart(shape, TEXT)
    assert len(paths(html, stroke=inks.BETWEEN)) == (3 if form == "curve" else 0)
    assert inks.SPREAD not in html
    assert inks.UNCERTAINTY not in html
