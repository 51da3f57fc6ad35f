import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.unit.conftest import divide
from tests.unit.report.test_page import with_features

import rhale
from rhale.regions.result import Partner
from rhale.report.effects import make_page
from rhale.report.numbers import Line
from rhale.report.sentences import clean

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from rhale.report import page as render

X = np.linspace(0.0, 10.0, 401)


class Reader(HTMLParser):
    """Elements, attributes, and the text of scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.open = [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_data(self, data):
        self.texts.append((self.open, data))


def parsed(html):
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.fixture(scope="module")
def html(fx):
    return render.render(make_page(fx.effects, fx.provenance))


@pytest.fixture(scope="module")
def nasty_html(nasty):
    told = {"notes": ("<script>alert(4)</script>",), "title": "</title><script>alert(5)</script>"}
    return render.render(make_page(nasty.effects, nasty.provenance, **told))


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


def test_no_element_has_a_style_or_a_handler_of_its_own(html):
    for _, attributes in parsed(html).tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]


def test_words_of_the_user_make_no_element(html, nasty_html):
    def kinds(page):
        return {tag for tag, _ in parsed(page).tags}

    assert kinds(nasty_html) <= kinds(html)
    assert sum(tag == "script" for tag, _ in parsed(nasty_html).tags) == 3
    assert sum(tag == "title" for tag, _ in parsed(nasty_html).tags) == 1


def test_words_of_the_user_are_no_template(nasty_html):
    assert "{{ 7 * 7 }}{% raw %}" in nasty_html
    assert "49" not in re.findall(r"<h3[^>]*>.*?</h3>", nasty_html)


def test_the_data_come_back_whole(nasty, nasty_html):
    (data,) = [
        text for tag, text in parsed(nasty_html).texts if tag == "script" and '{"features"' in text
    ]
    names = [feature["name"] for feature in json.loads(data)["features"]]
    assert names == [clean(name) for name in nasty.features]
    assert not set("<>&\u2028\u2029") & set(data)


def test_specifications_hold_none_of_the_users_words(nasty, nasty_html):
    (data,) = [
        text for tag, text in parsed(nasty_html).texts if tag == "script" and '{"features"' in text
    ]
    specifications = json.dumps(json.loads(data)["charts"])
    assert "alert" not in specifications
    assert not any(clean(name) in specifications for name in nasty.features)


def test_the_page_is_the_same_every_time(fx, html):
    assert render.render(make_page(fx.effects, fx.provenance)) == html


def test_numbers_that_json_does_not_know_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        render.as_json({"x": float("nan")})


def test_only_charts_that_are_needed_are_in_the_page(html):
    (data,) = [
        text for tag, text in parsed(html).texts if tag == "script" and '{"features"' in text
    ]
    assert set(json.loads(data)["charts"]) == {"curve", "map"}


def test_the_page_is_written_and_its_path_given_back(fx, tmp_path):
    path = fx.report(str(tmp_path / "effects.html"), title="A <b>bold</b> title")
    assert path == tmp_path / "effects.html"
    assert '<h1 dir="auto">A &lt;b&gt;bold&lt;/b&gt; title</h1>' in path.read_text(encoding="utf-8")


def test_a_page_is_written_whole_or_not_at_all(fx, tmp_path, monkeypatch):
    path = tmp_path / "effects.html"
    path.write_text("the old page", encoding="utf-8")

    def fail(self, target):  # noqa: ARG001
        raise OSError

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match=r"^$"):
        fx.report(path)
    assert path.read_text(encoding="utf-8") == "the old page"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_of_curves_without_steps_has_no_switch(fx):
    text = render.render(make_page(fx.effects, fx.provenance))
    assert 'id="curve"' not in text
    assert 'class="curve-name"' not in text
    assert '"smooth"' not in text.split('id="page-data">')[1].split("</script>")[0]


def test_a_page_with_steps_has_a_switch_and_both_curves(stepped):
    page = make_page([stepped], {"method": "rhale"})
    (feature,) = page.sections[0].features
    (part,) = feature.parts
    both = replace(
        part, shape=replace(part.shape, smooth=Line((0, 4), (0, 1), (0, 0), (0, 1), (0, 1)))
    )
    text = render.render(with_features(page, [replace(feature, parts=(both,))]))
    assert '<select id="curve"' in text
    assert "moves in steps" in text
    assert '"smooth":{"x":[0,4],"y":[0,1],' in text


def data_in(text):
    (data,) = [
        data for tag, data in parsed(text).texts if tag == "script" and '{"features"' in data
    ]
    return json.loads(data)


def test_a_page_without_regions_says_nothing_of_them(html):
    assert "Differs by" not in html
    assert 'class="regions"' not in html
    assert not {"regions", "differs"} & set(data_in(html)["features"][0]["parts"][0])


def test_only_features_with_regions_have_a_chart_of_them():
    plain = rhale.effect(X, np.ones(401), name="plain")
    text = render.render(make_page([divide(X, {"a": 4.0, "b": 2.0}), plain], {}))
    assert text.count('<div class="regions">') == 1
    assert text.count('<td class="wide differs">') == 2
    assert set(data_in(text)["charts"]) == {"curve", "map", "regions"}


def test_an_output_without_regions_beside_one_with_them_has_an_empty_place():
    plain = rhale.effect(X, np.ones(401), name="age")
    other = replace(divide(X, {"a": 4.0, "b": 2.0}), output="y1")
    text = render.render(make_page([plain, other], {}))
    assert "<h4 hidden>" in text
    assert text.count('<div class="regions">') == 1
    assert "<h4>" in render.render(make_page([other, replace(plain, output="y2")], {}))


def test_each_kind_of_axis_has_its_chart_of_regions(make_levels):
    days = divide(X, {"a": 4.0, "b": 2.0}, name="days")
    dates = replace(days, kind="date")
    level = make_levels(["a", "b"], 1.0)
    tree = replace(days.regions, regions=tuple(replace(r, effect=level) for r in days.regions))
    page = make_page([dates, replace(level, regions=tree)], {})
    assert set(data_in(render.render(page))["charts"]) >= {"date regions", "level regions"}


def test_rules_that_want_to_be_more_than_words_are_harmless():
    rules = {"<script>alert(7)</script>": 4.0, "</script><svg onload=alert(8)>": 2.0}
    partner = Partner("<img src=x onerror=alert(9)>", 0.5, 0.01)
    effect = divide(X, rules, share=0.9, standard_error=0.01, partners=(partner,))
    text = render.render(make_page([effect, replace(effect, name="other")], {}))
    assert sum(tag == "script" for tag, _ in parsed(text).tags) == 3
    assert not [tag for tag, _ in parsed(text).tags if tag == "img"]
    part = data_in(text)["features"][0]["parts"][0]["regions"]
    assert [row["rule"] for row in part["rows"]] == list(rules)
    assert "alert" not in json.dumps(data_in(text)["charts"])


def test_regions_add_a_few_kilobytes_to_a_feature():
    """Two curves with intervals, a table of two rows, a sentence; the chart is there once."""
    effects = [
        divide(X, {"a": np.sin(X), "b": np.cos(X)}, bins=40, name=f"x{i}", share=0.9)
        for i in range(5)
    ]
    page = make_page(effects, {})
    without = make_page([replace(e, regions=None) for e in effects], {})
    more = len(render.render(page).encode()) - len(render.render(without).encode())
    assert more < 12_000 + 5 * 6_000


def test_the_page_of_an_explanation_tells_what_regions_explain(tmp_path):
    """x (2 ± 1): the curve 2 x explains 4 of 5 parts of the variance, the regions all of it."""
    rows = np.random.default_rng(0).uniform(-1, 1, size=(1_500, 2))
    fx = rhale.explain(
        lambda r: r[:, 0] * (2 + np.sign(r[:, 1])), rows, regions=rhale.Regions(depth=1)
    )
    text = fx.report(tmp_path / "regions.html").read_text(encoding="utf-8")
    shares = re.findall(r"<dt>Explained (\w+ \w+).*?<dd[^>]*>(\S+) %", text)
    assert [name for name, _ in shares] == ["by the", "with regions"]
    assert [float(share) for _, share in shares] == pytest.approx([80, 100], abs=3)
    assert "Where x1 &gt; " in text
    assert "the effect of x0 is about 3 times that where x1 ≤ " in text


def test_settings_stand_at_the_end_and_importance_is_called_so(html):
    top, _, end = html.partition('id="again-title"')
    assert "Adaptive(" in end
    assert "Adaptive(" not in top.partition("<main>")[0]
    shown = html.partition('<script type="application/json"')[0].lower()
    assert "importance" in shown
    assert "size of the effect" not in shown


def test_the_typical_spread_has_its_error_in_both_places(fx, html):
    page = make_page(fx.effects, fx.provenance)
    part, largest = (
        page.sections[0].features[0].parts[1],
        page.sections[0].features[0].parts[1].size,
    )
    told = part.spread_in_words(largest)
    assert re.fullmatch(r"[\d.]+ ± [\d.]+", told)
    assert "±" not in replace(part, spread_error=None).spread_in_words(largest)
    assert "±" not in replace(part, spread=0.0, spread_error=0.0).spread_in_words(largest)
    shown = [
        one.parts[0].spread_in_words(page.sections[0].features[0].parts[0].size)
        for one in page.sections[0].features
    ]
    for words in shown:
        assert html.count(f">{words}<") >= 2  # ranking and section


def test_rows_have_a_switch_that_is_off_where_they_were_kept(html):
    boxes = [attrs for tag, attrs in parsed(html).tags if attrs.get("type") == "checkbox"]
    assert len(boxes) == 2
    assert all("checked" not in attrs for attrs in boxes)
    assert [attrs["aria-label"] for attrs in boxes] == ["Show rows of x0", "Show rows of x1"]
    alone = render.render(make_page([rhale.effect(X, np.sin(X))], {}))
    assert "checkbox" not in alone.partition("<body>")[2].partition("<script")[0]
    assert "Show rows" not in alone.partition("<body>")[2].partition("<script")[0]


def test_the_page_says_what_the_spread_is(html):
    assert "how far the curves of single rows lie apart, each centred at zero" in html
    assert "measured by moving rows to nearby values" in html


def test_at_most_two_short_paragraphs_stand_before_the_first_chart(html):
    before = html.partition("<main>")[2].partition('id="map"')[0]
    hints = re.findall(r'<p class="hint">(.*?)</p>', before)
    assert len(hints) == 2
    assert all(len(words) < 330 for words in hints)
    folded = html.partition('<details class="how hint">')[2].partition("</details>")[0]
    assert "95 % interval" in folded


def test_readers_are_told_once_why_correlated_features_rank_differently(html):
    assert html.count("strongly correlated") == 1
    rows = np.random.default_rng(0).normal(size=(50, 2))
    profile = rhale.explain(lambda r: r[:, 0] + r[:, 1], rows, method="pdp")
    text = render.render(make_page(profile.effects, profile.provenance))
    assert "strongly correlated" not in text


def test_the_libraries_are_packed_and_the_policy_has_the_hash_of_what_they_are(html):
    (packed,) = re.findall(r'id="libraries">([^<]*)<', html)
    script = gzip.decompress(base64.b64decode(packed))
    assert b"vegaEmbed" in script
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert f"sha256-{digest}" in policy
    assert len(packed) < len(script) / 2


def test_what_a_single_output_has_in_its_text_is_not_in_the_data_again(fx):
    (first,) = data_in(render.render(make_page(fx.effects[::2], fx.provenance)))["features"][:1]
    assert not {"reading", "sparkline"} & set(first["parts"][0])
    both = data_in(render.render(make_page(fx.effects, fx.provenance)))["features"][0]
    assert {"reading", "sparkline"} <= set(both["parts"][0])
