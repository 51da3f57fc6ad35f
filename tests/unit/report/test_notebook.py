import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from tests.unit.effects.with_regions import make_regional

import rhale
from rhale.effects.listing import write_spread
from rhale.output.labels import Captions


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags(html):
    reader = Tags()
    reader.feed(html)
    return reader.found


def test_every_effect_has_a_row_with_a_picture(fx):
    found = [tag for tag, _ in tags(fx._repr_html_())]
    assert found.count("tr") == 1 + len(fx.effects)
    assert found.count("svg") == len(fx.effects)


def test_words_of_the_user_make_no_element(fx, nasty):
    kinds = {tag for tag, _ in tags(nasty._repr_html_())}
    assert kinds == {tag for tag, _ in tags(fx._repr_html_())}
    assert "script" not in kinds
    nasty._repr_html_().encode()


def test_who_differs_is_a_column_where_that_was_asked_for(fx):
    assert "differs by" not in fx._repr_html_()
    html = make_regional()._repr_html_()
    cells = [tag for tag, _ in tags(html)]
    assert (cells.count("th"), cells.count("td")) == (8, 24)
    for told in (
        ">differs by (in this model)<",
        "gradually with x1, x2 (99 ± 1 %)",
        "perhaps x1",
        "with regions",
    ):
        assert told in html


def test_it_is_small_even_for_many_features():
    rows = np.random.default_rng(0).normal(size=(60, 50))
    html = rhale.explain(lambda r: r.sum(axis=1), rows)._repr_html_()
    assert len(html) < 30_000
    assert "and 30 smaller ones: fx.summary() has all" in html


def test_it_needs_no_library_of_the_report():
    code = (
        "import sys; sys.modules['jinja2'] = sys.modules['vl_convert'] = None;"
        "import numpy, rhale; fx = rhale.explain(lambda r: r[:, 0], numpy.arange(40.0)[:, None]);"
        "print(fx._repr_html_()[:5])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "<div>"


def test_page_and_table_need_no_matplotlib(tmp_path):
    code = (
        "import sys, numpy, rhale; X = numpy.arange(80.0).reshape(40, 2);"
        "fx = rhale.explain(lambda r: r[:, 0] ** 2, X); fx._repr_html_();"
        f"fx.report({str(tmp_path / 'page.html')!r}); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "False"


def test_one_effect_shows_its_curve_numbers_and_sentences(fx):
    for effect in fx.values():
        html = effect._repr_html_()
        pictures = [attrs for tag, attrs in tags(html) if tag == "svg" and "role" in attrs]
        assert len(pictures) == 1
        assert "script" not in {tag for tag, _ in tags(html)}
        for told in ("importance ", "typical spread ", "95 % interval of the mean", "where rows"):
            assert told in html
        assert len(html) < 100_000


def test_one_effect_is_named_for_people_and_its_notes_are_folded():
    effect = rhale.effect([0.0, 1.0, 2.0], [1.0, 1.0, 2.0], name="x0")
    captions = Captions({"x0": "<b>Age"}, {"y0": "price & more"}, {"x0": "years"})
    html = replace(effect, captions=captions, local_notes=("<i>first", "second"))._repr_html_()
    for told in ("&lt;b&gt;Age (years)", "effect on price &amp; more", "2 notes", "&lt;i&gt;first"):
        assert told in html
    assert not {tag for tag, _ in tags(html)} & {"i"}


def test_hostile_names_make_no_element_in_one_effect(fx, nasty):
    usual = {tag for effect in fx.values() for tag, _ in tags(effect._repr_html_())}
    for effect in nasty.values():
        assert {tag for tag, _ in tags(effect._repr_html_())} <= usual | {"circle", "rect", "text"}
        effect._repr_html_().encode()


def test_what_has_one_value_has_words_and_no_picture():
    fx = rhale.explain(lambda r: r[:, 0], np.array([[1.0, 7.0]] * 20))
    html = fx["x1"]._repr_html_()
    assert "<svg" not in html
    assert "Every row has the same value" in html


def test_the_typical_spread_has_its_error(fx):
    effect = fx["x0", "y1"]
    told = write_spread(effect.typical_spread, effect.typical_spread_error)
    assert "±" in told
    assert f"typical spread {told}" in effect._repr_html_()
    assert f">{told}<" in fx._repr_html_()
