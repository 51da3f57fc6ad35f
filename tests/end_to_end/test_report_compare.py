"""The page of a comparison in a real browser: nothing is asked of a network, all can be used."""

import re

import pytest
from tests.compared_by_hand import explained, straight, with_everything

import rhale
from rhale.report.sentences import format_report_number

pytestmark = pytest.mark.browser
NASTY = (
    "<script>document.title = 'broken'</script>",
    "\"'><img src=x onerror=\"document.title = 'broken'\">",
)
RIGHT = "\ue014"


def count(page, selector):
    return page.ask("document.querySelectorAll(arguments[0]).length", selector)


def test_curves_differences_and_rows_of_each_are_drawn(opened):
    page = opened(straight())
    page.show("#comparison-0-0")
    assert count(page, "#comparison-0-0 .look0-line path") == 1  # the first is zero below
    assert count(page, "#comparison-0-0 .look1-line path") == 2  # a curve, and its difference
    assert count(page, "#comparison-0-0 .look0-rows path") > 10
    assert count(page, "#comparison-0-0 .look1-rows path") > 10


def test_every_kind_of_feature_is_drawn(opened):
    page = opened(with_everything())
    for part in ("#comparison-0-0", "#comparison-0-1", "#comparison-0-2"):
        page.show(part)
    assert count(page, ".compare-part") == 4
    assert count(page, ".compare-part .drawing") == 3  # a feature with one value has no chart
    assert count(page, ".compare-part .drawing svg") == 3


def test_arrow_keys_read_the_curves_and_their_difference(opened):
    cx = straight()
    page = opened(cx)
    page.show("#comparison-0-0")
    page.find("#comparison-0-0 .chart").send_keys(RIGHT)
    (told,) = page.texts("#comparison-0-0 .readout")
    assert told.startswith("0: old ")
    assert f"difference {format_report_number(cx['x1'].difference(0.0))} (" in told
    ends = [float(word) for word in re.findall(r"-?[\d.]+", told.replace("\u2212", "-"))[-2:]]
    assert ends == pytest.approx([float(end) for end in cx["x1"].ci(0.0)], abs=6e-3)  # three digits


def test_hostile_names_stay_words(opened):
    fx = explained(names=NASTY)
    page = opened(rhale.compare({NASTY[0]: fx, NASTY[1]: explained((1.0, 3.0), names=NASTY)}))
    page.show("#comparison-0-0")
    assert "broken" not in page.ask("document.title").replace("= 'broken'", "")
    assert count(page, "main img") == 0
