from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.report import inline_svg
from rhale.report.inline_svg import Scale, known_runs, round_places, scale_for, ticks_of


class Texts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    reader = Texts()
    reader.feed(html)
    return reader


def test_a_scale_is_a_straight_line_through_its_ends():
    scale = Scale(-2.0, 6.0, 100.0, 0.0)
    assert [scale(v) for v in (-2.0, 2.0, 6.0)] == [100.0, 50.0, 0.0]
    assert Scale(3.0, 3.0, 0.0, 10.0)(3.0) == 5.0


def test_unknown_values_need_no_room():
    scale = scale_for([None, 0.0, 10.0], 0.0, 108.0)
    assert (scale(0.0), scale(10.0)) == (pytest.approx(4.0), pytest.approx(104.0))
    assert scale_for([None], 0.0, 10.0)(0.0) == 5.0


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_ticks_are_few_round_numbers_inside(low, length):
    high = low + length
    found = np.array(round_places(low, high))
    if not high > low:
        return
    assert found.size <= 6
    assert np.all((found >= low - 1e-9 * length) & (found <= high + 1e-9 * length))


def test_dates_are_written_as_dates():
    scale = Scale(0.0, 400 * 86_400_000.0, 0.0, 1.0)
    assert [told for _, told in ticks_of(scale, "dates")] == [
        "1970-01-01",
        "1970-04-11",
        "1970-07-20",
        "1970-10-28",
        "1971-02-05",
    ]


def test_runs_end_where_a_number_is_not_known():
    assert known_runs([(0.0, 1.0, 2.0, 3.0), (None, 5.0, 6.0, None)]) == [[(1.0, 5.0), (2.0, 6.0)]]
    assert known_runs([(), ()]) == []


def test_words_are_taken_for_nothing_but_words():
    hostile = '</text><script>alert("1")</script>'
    found = parsed(inline_svg.picture([inline_svg.words((1, 2), hostile)], (10, 10), hostile))
    assert [tag for tag, _ in found.tags] == ["svg", "text"]
    assert found.tags[0][1]["aria-label"] == hostile
    assert found.texts == [hostile]


def test_text_has_the_colour_of_the_reader():
    html = inline_svg.picture([inline_svg.rule((0, 0), (1, 1))], (10, 10), "a picture")
    assert 'fill="currentColor"' in html
    assert 'stroke="currentColor"' in html


def test_areas_go_along_one_line_and_back_along_the_other():
    html = inline_svg.area([(0, 1), (2, 1)], [(0, 3), (2, 3)], "#123456", 0.5)
    assert 'd="M0 1L2 1L2 3L0 3Z"' in html
    assert 'fill-opacity="0.5"' in html
