import html
import json
import re

import pytest

pytest.importorskip("vl_convert")

from tests.compared_by_hand import explained, straight, with_everything

import rhale
from rhale.comparison.report import make_compare_page
from rhale.report.page import render

NASTY = "<script>document.title = 'broken'</script>"


def test_hostile_names_are_words():
    fx = explained(names=(NASTY, "x1"))
    text = render(make_compare_page(rhale.compare({NASTY: fx, "\"'>": fx})))
    assert NASTY not in text
    assert "&lt;script&gt;document.title" in text
    assert len(re.findall("<script", text)) == 3  # data, libraries, ours


def test_the_policy_allows_what_the_page_holds_and_nothing_else():
    text = render(make_compare_page(straight()))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert html.unescape(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_page_carries_the_numbers_of_its_charts():
    text = render(make_compare_page(with_everything()))
    found = json.loads(re.search(r'id="page-data">(.*?)</script>', text)[1])
    assert found["names"] == ["base", "next", "last"]
    assert len(found["compared"][0]) == 4
    assert found["compared"][0][-1] == {"form": "constant"}
