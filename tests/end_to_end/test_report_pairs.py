"""The page of interactions in a real browser: nothing is asked of a network, all can be used."""

import numpy as np
import pytest
from tests.unit.interaction.test_pair_page import indices
from tests.unit.report.pair_cases import make_interactions, with_a_hole, with_levels
from tests.unit.report.test_pair_render import renamed

from rhale.interaction.pair_profile import lay_along, read_surface_cells
from rhale.report.sentences import format_report_number

pytestmark = pytest.mark.browser
NASTY = (
    "<script>document.title = 'broken'</script>",
    "\"'><img src=x onerror=\"document.title = 'broken'\">",
    "a" * 900,
    "\u202eright to left\u202d",
    "datum.x || (document.title = 'broken')",
)
CELLS = "document.querySelectorAll('#interactions-0-0 .zero-cell path').length"


def test_a_map_has_a_cell_where_rows_are_and_nowhere_else(opened):
    ix = with_a_hole()
    pair = ix.ranked()[0]
    page = opened(ix)
    page.show("#interactions-0-0 .map")
    assert page.ask(CELLS) == pair.measured.sum()


def test_names_over_the_matrix_have_room(opened):
    page = opened(renamed(with_levels(), ("total_bedrooms_per_house", *"abcd")))
    heads = "[...document.querySelectorAll('.matrix thead th span')]"
    assert page.ask(f"{heads}.every(head => head.scrollHeight <= head.clientHeight)")


def test_every_kind_of_pair_is_drawn(opened):
    page = opened(with_levels())
    for part in ("#interactions-0-0", "#interactions-0-1"):
        for figure in ("lines", "map"):
            page.show(f"{part} .{figure}")
    assert (
        len(page.texts("#interactions-0-0 .legend li")) == 4
    )  # three regions and the average; all rows agree


def test_arrow_keys_read_cells_and_lines(opened):
    ix = with_levels()
    page = opened(ix)
    page.show("#interactions-0-0 .map")
    page.find("#interactions-0-0 .map .chart").send_keys("\ue014")  # right
    pair = lay_along(ix.ranked()[0])
    heights, _ = read_surface_cells(pair)
    (told,) = page.texts("#interactions-0-0 .map .readout")
    first = next(h for h in heights.ravel().tolist() if h == h)  # noqa: PLR0124 - not nan
    assert f": {format_report_number(first)}" in told
    assert "rows" in told
    page.find("#interactions-0-0 .lines .chart").send_keys("\ue014")
    (told,) = page.texts("#interactions-0-0 .lines .readout")
    assert "where region is “north”" in told


def test_names_are_but_names(opened):
    page = opened(renamed(with_levels(), NASTY))
    page.show("#interactions-0-0 .map")
    assert page.ask("document.title").startswith("Which features interact")
    assert page.ask("document.querySelectorAll('img').length") == 0


def test_outputs_take_turns(opened):
    rows = np.random.default_rng(0).uniform(size=(300, 3))
    functions = {"one": lambda r: r[:, 0] * r[:, 1], "two": lambda r: r[:, 1] * r[:, 2]}
    page = opened(make_interactions(functions, rows, ["x", "y", "z"]))
    assert len(page.texts(".ranking")) == 1
    page.find("#output").send_keys("two")
    assert page.texts("h2 bdi")[0] == "two"
    page.show("#interactions-1-0 .lines")


def test_numbers_alone_need_no_chart(opened):
    page = opened(indices(6))
    assert len(page.texts(".ranking tbody tr")) == 15
    assert page.ask("document.querySelectorAll('.drawing').length") == 0
