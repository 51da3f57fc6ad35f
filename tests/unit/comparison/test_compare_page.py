from tests.compared_by_hand import straight, with_everything

from rhale.comparison.report import make_compare_page, signed


def test_the_page_says_what_was_compared():
    page = make_compare_page(straight())
    assert page.title == "new compared with old"
    assert dict(page.facts)["Zero"] == "on average over the rows of old"
    assert [part.name for part in page.outputs[0].parts] == ["x1", "x0"]
    assert "cx = rhale.compare({\n    'old': fx1,\n    'new': fx2,\n})" in page.sections[0].code


def test_rows_of_the_table_have_the_numbers_of_the_comparison():
    cx = straight()
    row = make_compare_page(cx).outputs[0].parts[0].rows[0]
    assert row.size.startswith(f"{cx['x1'].size:.3f} ± ")
    assert (row.differs, row.rows, row.length) == ("yes", "0 %", 100)
    assert row.moved is False


def test_a_difference_that_is_small_looks_small_beside_the_largest():
    large, small = (part.rows[0] for part in make_compare_page(straight()).outputs[0].parts)
    spans = []
    for row in (large, small):
        heights = [float(point.split()[1]) for point in row.sparkline[1:].split("L")]
        spans.append(max(heights) - min(heights))
    assert spans[0] > 10
    assert spans[1] < 2


def test_notes_and_unknown_numbers_are_there():
    page = make_compare_page(with_everything(), "A title")
    assert page.title == "A title"
    assert any("Paris" in note.text for note in page.notes)
    last = page.outputs[0].parts[-1].rows[0]
    assert (last.size, last.p) == ("\u2013", "\u2013")


def test_signs_are_written():
    assert (signed(1.5), signed(-1.5), signed(0.0)) == ("+1.5", "\u22121.5", "0")
