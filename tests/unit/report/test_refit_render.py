import json
import re

import numpy as np
import pytest
from tests.unit.conftest import NASTY
from tests.unit.report.refit_cases import renamed, straight, two_outputs, with_levels, with_pairs
from tests.unit.report.test_render import parsed

from rhale.stability.report import make_refit_page

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from rhale.report.page import bar_position, bundle, pack_script, render

KILOBYTE = 1_000


@pytest.fixture(scope="module")
def html():
    return render(make_refit_page(with_pairs(straight(own=True))))


@pytest.fixture(scope="module")
def nasty_html():
    return render(make_refit_page(renamed(with_levels(), NASTY), NASTY[2]))


def page_data(html):
    (text,) = re.findall(r'id="page-data">(.*?)</script>', html, flags=re.DOTALL)
    return json.loads(text)


def test_the_page_loads_nothing(html, nasty_html):
    for page in (html, nasty_html):
        for tag, attributes in parsed(page).tags:
            assert tag not in ("link", "img", "iframe", "object", "embed", "base")
            assert "src" not in attributes
            assert attributes.get("href", "#").startswith("#")


def test_the_policy_allows_three_texts_and_no_eval(html):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 3


def test_no_element_has_a_style_or_a_handler_of_its_own(html, nasty_html):
    for page in (html, nasty_html):
        for _, attributes in parsed(page).tags:
            assert "style" not in attributes
            assert not [name for name in attributes if name.startswith("on")]


def test_words_of_the_user_make_no_element(html, nasty_html):
    kinds = {tag for tag, _ in parsed(html).tags}
    assert {tag for tag, _ in parsed(nasty_html).tags} <= kinds
    assert len([tag for tag, _ in parsed(nasty_html).tags if tag == "script"]) == 3
    nasty_html.encode()  # half a letter cannot be


def test_charts_hold_no_word_of_the_user(nasty_html):
    charts = json.dumps(page_data(nasty_html)["charts"])
    assert "alert" not in charts
    assert "north" not in charts


def test_links_lead_to_parts_that_are_there(html):
    tags = parsed(html).tags
    places = {attributes["id"] for _, attributes in tags if "id" in attributes}
    links = {a["href"][1:] for tag, a in tags if tag == "a"}
    assert links <= places
    assert {"stability-0-0", "stability-0-1"} <= links


def test_the_table_needs_no_script_and_has_the_numbers_of_the_refits(html):
    rx = straight(own=True)
    body = html.split('class="ranking"')[1].split("</tbody>")[0]
    for effect in rx.values():
        low, high = effect.importance_ci()
        assert f"{effect.importance:.3f} [{low:.3f},\u00a0{high:.3f}]" in body
    assert body.count(">yes</td>") == 1
    assert body.count(">no</td>") == 1


def test_pairs_and_failures_are_told(html):
    body = html.split('class="ranking pairs"')[1].split("</tbody>")[0]
    first, second = re.findall(r'<th scope="row" class="pair">(.*?)</th>', body)
    assert first.startswith("<bdi>age</bdi>")
    assert second.startswith("<bdi>noise</bdi>")
    assert "2.00 [" in body
    assert "Training 3 failed: it &lt;b&gt;broke&lt;/b&gt;" in html


def test_what_is_not_covered_is_said(html):
    told = " ".join(text for _, text in parsed(html).texts)
    for words in ("three different things", "Bias", "strongly correlated", "not causal"):
        assert words in told
    assert "Your model is one more" in told


def test_every_output_has_its_own_table():
    html = render(make_refit_page(two_outputs()))
    assert html.count('class="ranking"') == 2
    assert len(page_data(html)["trainings"]) == 2


def test_ten_features_are_small_beyond_vega(html):
    rows = len(html) - len(pack_script(bundle()))
    assert rows < 90 * KILOBYTE
    data = page_data(html)
    for shape in data["trainings"][0]:
        assert len(json.dumps(shape)) < 5 * KILOBYTE


@pytest.mark.parametrize(("value", "largest", "told"), [(0.5, 2.0, "25"), (np.pi, 0.0, "0")])
def test_bars_end_where_the_largest_number_does(value, largest, told):
    assert bar_position(value, largest) == told
