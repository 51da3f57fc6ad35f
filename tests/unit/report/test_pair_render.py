import json
import re
from dataclasses import replace

import pytest
from tests.unit.conftest import NASTY
from tests.unit.interaction.test_pair_page import indices
from tests.unit.report.pair_cases import three_numbers, with_levels
from tests.unit.report.test_render import parsed

from rhale.interaction.report import make_pair_page
from rhale.interaction.result import Interactions

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from rhale.report.page import bundle, pack_script, render

KILOBYTE = 1_000


def renamed(ix, names):
    """The same with other names of features, of the model and of levels."""
    new = dict(zip(ix.features, names, strict=False))
    pairs = []
    for pair in ix.pairs:
        axes = tuple(
            replace(axis, labels=tuple(f"{names[3]} {label}" for label in axis.labels))
            for axis in pair.axes
        )
        named = tuple(new[name] for name in pair.names)
        pairs.append(replace(pair, names=named, axes=axes, output=names[4], notes=names))
    provenance = {**ix.provenance, "model": names[1]}
    return Interactions(
        tuple(new.values()),
        (names[4],),
        tuple(pairs),
        ix.importance,
        ix.variance,
        provenance,
        names,
    )


@pytest.fixture(scope="module")
def html():
    return render(make_pair_page(with_levels()))


@pytest.fixture(scope="module")
def nasty_html():
    return render(make_pair_page(renamed(with_levels(), NASTY), NASTY[2]))


def test_the_page_loads_nothing(html):
    for tag, attributes in parsed(html).tags:
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
    assert {tag for tag, _ in parsed(nasty_html).tags} <= kinds | {"ol", "li"}
    scripts = [tag for tag, _ in parsed(nasty_html).tags if tag == "script"]
    assert len(scripts) == 3
    nasty_html.encode()  # half a letter cannot be


def test_charts_hold_no_word_of_the_user(nasty_html):
    (text,) = re.findall(r'id="page-data">(.*?)</script>', nasty_html, flags=re.DOTALL)
    charts = json.dumps(json.loads(text)["charts"])
    assert "alert" not in charts
    assert "north" not in charts


def test_links_lead_to_parts_that_are_there(html):
    tags = parsed(html).tags
    places = {attributes["id"] for _, attributes in tags if "id" in attributes}
    links = {a["href"][1:] for tag, a in tags if tag == "a"}
    assert links <= places
    assert "interactions-0-0" in links


def test_a_page_of_numbers_alone_comes_without_vega():
    html = render(make_pair_page(indices(5)))
    assert len(html) < 76 * KILOBYTE
    assert "vegaEmbed = vegaEmbed" not in html
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.count("sha256-") == 2


def test_a_page_is_small_beyond_vega(html):
    assert len(html) - len(pack_script(bundle())) < 104 * KILOBYTE
    many = render(make_pair_page(indices(30)))
    assert len(many) < 150 * KILOBYTE


def test_every_cell_of_the_matrix_has_its_number_for_those_who_listen():
    html = render(make_pair_page(three_numbers()))
    body = html.split('class="matrix')[1].split("</table>")[0]
    assert body.count("<td class=") == 9
    assert len(re.findall(r"<td class=\"[os]\d+\"><(?:a [^>]*|span)>[^<]+<", body)) == 9
