import re

import numpy as np
from tests.unit.report.test_inline_svg import parsed

from rhale.report.inline_map import N_SHADES, colour_of, map_chart, shade_of
from rhale.report.pair_numbers import MapShape, MapSide
from rhale.results import inks

ALONG = MapSide((0.0, 1.0, 3.0), (0.0, 2.0), ("0", "2"), ("0 to 1", "1 to 3"))
BY = MapSide((-0.5, 0.5, 1.5), (0, 1), ("<i>a", "b"), ("a", "b"))
SHAPE = MapShape(ALONG, BY, (1.0, -1.0, 0.0, None), (0.0,) * 4, (5, 5, 5, 0), 1.0, 1.0)


def cells(html):
    """Left, top and width of the cells of each colour."""
    found = {}
    for tag, attrs in parsed(html).tags:
        if tag == "path" and attrs["fill"] != "none":
            found[attrs["fill"]] = np.array(
                re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", attrs["d"]), dtype=float
            )
    return found


def test_cells_stand_where_their_values_are_and_empty_ones_stay_empty():
    found = cells(map_chart(SHAPE, ("x", "y"), "a map"))
    high, low, zero = (found[ink.lower()] for ink in (inks.HIGH, inks.LOW, inks.ZERO))
    assert [len(one) for one in (high, low, zero)] == [1, 1, 1]
    assert high[0, 0] == low[0, 0] < zero[0, 0]  # both at the first value along
    assert low[0, 1] < high[0, 1]  # the second value of the other stands above
    assert abs(zero[0, 2] / high[0, 2] - 2) < 0.05  # twice as wide


def test_shades_grow_from_zero_to_both_ends():
    assert [shade_of(h, 1.0) for h in (-5.0, -1.0, 0.0, 1.0, 5.0)] == [-6, -6, 0, 6, 6]
    assert shade_of(1.0, 0.0) == 0
    assert colour_of(-N_SHADES) == inks.LOW.lower()
    assert len({colour_of(s) for s in range(-N_SHADES, N_SHADES + 1)}) == 2 * N_SHADES + 1


def test_names_are_words_and_the_key_tells_the_ends():
    found = parsed(map_chart(SHAPE, ("<script>", "y & z"), "a map"))
    assert {tag for tag, _ in found.tags} == {"svg", "path", "rect", "text"}
    assert {"<script>", "y & z", "<i>a", "1", "\u22121"} <= set(found.texts)


def test_many_levels_are_named_as_far_as_there_is_room():
    n = 60
    side = MapSide(
        tuple(i - 0.5 for i in range(n + 1)), tuple(range(n)), tuple(map(str, range(n))), ()
    )
    shape = MapShape(side, side, (0.5,) * n**2, (0.0,) * n**2, (1,) * n**2, 1.0, 1.0)
    found = parsed(map_chart(shape, ("x", "y"), "a map"))
    assert len(found.texts) < 40
