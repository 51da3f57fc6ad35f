"""One list of columns is data frame, text, HTML and cells of a page."""

from dataclasses import dataclass

import pytest

from rhale.output.columns import (
    WIDEST_TABLE,
    Column,
    Listing,
    TableRow,
    frame_only,
    insert_after,
    lay_out,
    number_notes,
    some,
    tabulate,
    words,
)
from rhale.output.text import Note, align_points, aligned, text_width


@dataclass
class Town:
    name: str
    people: int
    share: float
    seaside: str = ""


TOWNS = [TableRow(Town("Oslo", 700_000, 0.5, "fjord")), TableRow(Town("<Rome>", 3, -0.25))]
COLUMNS = (
    words("name", "town"),
    Column("people", "people"),
    *frame_only("share"),
    words(None, "sea", lambda row: row.seaside, shown=some("seaside"), kept=some("seaside")),
)


def test_a_frame_has_the_keys_in_their_order_and_the_values_as_they_are():
    assert tabulate(TOWNS, COLUMNS) == {
        "name": ["Oslo", "<Rome>"],
        "people": [700_000, 3],
        "share": [0.5, -0.25],
    }


def test_people_read_headers_and_not_what_only_frames_have():
    assert str(lay_out(TOWNS, COLUMNS, "and 5 more")).splitlines() == [
        "town    people  sea",
        "Oslo    700000  fjord",
        "<Rome>       3",
        "and 5 more",
    ]


def test_a_column_without_anything_to_show_is_left_out():
    assert [header.text for header in lay_out(TOWNS[1:], COLUMNS).headers] == ["town", "people"]


def test_cells_of_a_page_have_texts_and_markup_that_makes_no_element():
    _, row = lay_out(TOWNS, (*COLUMNS, Column("share", "share"))).cells
    assert [cell.text for cell in row] == ["<Rome>", "3", "", "-0.25"]
    assert row[0].markup == "<bdi>&lt;Rome&gt;</bdi>"
    assert row[-1].markup == "\u22120.25"


def test_pictures_join_behind_a_column_and_stay_out_of_frames():
    drawn = insert_after(COLUMNS, "town", words(header="coast", markup=lambda _: "<svg/>"))
    html = lay_out(TOWNS, drawn).as_html()
    assert html.count('text-align:left"><svg/></td>') == 2
    assert html.index(">town<") < html.index(">coast<") < html.index(">people<")
    assert list(tabulate(TOWNS, drawn)) == ["name", "people", "share"]


def test_notebooks_fold_remarks_but_for_those_that_say_what_not_to_trust():
    remarks = (Note("gap", "no rows < 3"), Note("audit", "do not trust it"))
    listing = Listing("towns", (lay_out(TOWNS, COLUMNS),), remarks, ("a note",))
    html = listing.as_html()
    assert "<p>2 do not trust it</p>" in html
    assert '<summary>1 note</summary><ol><li value="1">no rows &lt; 3</li></ol>' in html
    assert str(listing).splitlines()[-3:] == ["1  no rows < 3", "2  do not trust it", "a note"]


def test_notes_are_numbered_once_in_the_order_in_which_they_come():
    marks, remarks = number_notes([["a", "b"], [], ["b", "c"]])
    assert (marks, remarks) == (["1, 2", "", "2, 3"], ("a", "b", "c"))


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["1", "0.11", "12.5"], [" 1   ", " 0.11", "12.5 "]),
        (["1.5 ± 0.2", "", "10 ± 3"], [" 1.5 ± 0.2", "          ", "10   ± 3  "]),
        (["-1.5", "2"], ["-1.5", " 2  "]),
        (["< 0.001", "1"], ["< 0.001", "1"]),
        ([], []),
    ],
)
def test_points_of_numbers_are_below_one_another(cells, wanted):
    assert align_points(cells) == wanted


def test_headers_of_a_table_that_is_too_wide_take_two_lines():
    rows = [["name", "share of all the rows", "bins/levels"], ["a", "5 %", "12"]]
    assert len(aligned(rows, [True, False, False], WIDEST_TABLE)) == 2
    assert aligned(rows, [True, False, False], 30) == [
        "          share of   bins/",
        "name  all the rows  levels",
        "a              5 %      12",
    ]
    assert text_width(aligned(rows, [True, False, False], 30)[1]) <= 30
