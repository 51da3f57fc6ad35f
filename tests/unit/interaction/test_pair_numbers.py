from dataclasses import replace

import numpy as np
import pytest
from tests.unit.report.pair_cases import (
    make_interactions,
    three_numbers,
    with_a_hole,
    with_levels,
)

from rhale.interaction.charts import (
    choose_ticks,
    lines_of,
    map_of,
    path_of_section,
    scale_pair_places,
    side_of,
    unit_of_axis,
    write_fixed_value,
    write_pair_value,
)
from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_profile import cut_sections, read_surface_cells


def test_lines_are_the_sections_of_the_surface():
    pair = three_numbers()["age", "income"]
    shape = lines_of(pair)
    assert (shape.form, shape.gradual, shape.dots) == ("curve", True, False)
    np.testing.assert_allclose(shape.y, pair.main[0], atol=1e-3)
    for line, section in zip(shape.lines, cut_sections(pair), strict=True):
        np.testing.assert_allclose(line.path.x, pair.axes[0].nodes, atol=1e-3)
        np.testing.assert_allclose(line.path.y, section.height, atol=1e-3)
        assert line.rule.startswith("income is about ")


def test_a_line_is_broken_where_no_row_is():
    axis = PairAxis(np.arange(6.0))
    section = cut_sections(three_numbers()["age", "income"])[0]
    has_rows = np.array([True, True, False, True, False])
    heights = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    path = path_of_section(
        axis, section._replace(height=heights, error=heights, has_rows=has_rows), 4.0
    )
    assert path.x == (0, 1, 2, 2.5, 3, 4)
    assert path.y == (0, 1, 2, None, 3, 4)
    assert path.half[3] is None


def test_levels_without_rows_have_no_point():
    axis = PairAxis(np.arange(3.0), ("a", "b", "c"))
    section = cut_sections(with_levels()["region", "owner"])[0]
    section = section._replace(
        height=np.array([1.0, np.nan, 3.0]),
        error=np.ones(3),
        has_rows=np.array([True, False, True]),
    )
    assert path_of_section(axis, section, 1.0).x == (0, 2)


def test_named_levels_stand_below_one_another():
    shape = lines_of(with_levels()["region", "owner"])
    assert (shape.form, shape.labels, shape.dots) == ("levels", ("north", "middle", "south"), True)
    assert [line.rule for line in shape.lines] == ["owner is “no”", "owner is “yes”"]
    assert not shape.gradual


def test_a_map_has_numbers_where_rows_are_and_nowhere_else():
    pair = with_a_hole()["long", "lat"]
    shape = map_of(pair)
    known = [height is not None for height in shape.heights]
    assert known == pair.measured.ravel().tolist()
    assert [error is not None for error in shape.errors] == known
    assert shape.counts == tuple(pair.count.ravel().tolist())
    assert shape.largest == pytest.approx(np.nanmax(np.abs(read_surface_cells(pair)[0])))
    assert 0 < shape.reach <= shape.largest


def test_levels_on_a_map_are_cells_around_whole_numbers():
    side = side_of(with_levels()["income", "region"].axes[1])
    assert side.edges == (-0.5, 0.5, 1.5, 2.5)
    assert side.names == ("“north”", "“middle”", "“south”")
    assert side.ticks == (0, 1, 2)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3.2, 7.9), (1e-7, 2e-7), (-1e9, 5e9), (17.0, 17.4)])
def test_ticks_are_few_round_numbers_within_the_axis(ends):
    ticks = choose_ticks(PairAxis(np.array(ends)))
    assert 2 <= ticks.size <= 6
    assert ends[0] <= ticks[0] <= ticks[-1] <= ends[1]


def test_dates_and_durations_are_drawn_as_the_other_page_does():
    dates = PairAxis(np.array([18_000.0, 18_100.0, 18_400.0]), kind="date")
    assert scale_pair_places(dates, dates.nodes)[0] == 18_000 * 86_400_000
    assert write_pair_value(dates, 18_000.0) == "2019-04-14"
    waits = PairAxis(np.array([0.0, 3_600.0, 36_000.0]), kind="duration")
    assert (unit_of_axis(waits), scale_pair_places(waits, waits.nodes)) == ("h", (0, 1, 10))
    assert choose_ticks(waits)[1] == 7_200.0
    assert write_fixed_value("wait", waits, 5_400.0) == "wait is about 1.5 h"


def test_a_feature_of_dates_has_lines_and_a_map():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(18_000, 18_900, 400), rng.uniform(0, 1, 400)])
    ix = make_interactions(
        {"y": lambda r: (r[:, 0] - 18_400) * r[:, 1]}, rows, ["day", "x"], kinds={"day": "date"}
    )
    pair = ix["day", "x"]
    assert lines_of(pair).form == "dates"
    assert all(len(word) == 10 for word in map_of(pair).along.words)


def test_names_that_turn_the_direction_are_kept_apart():
    pair = replace(three_numbers()["age", "income"], names=("age", "\u05d0"))
    assert lines_of(pair).lines[0].rule.startswith("\u2068\u05d0\u2069 is")
