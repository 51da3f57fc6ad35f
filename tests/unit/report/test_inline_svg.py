"""Pictures of notebooks: one element each that a parser of XML takes, and that touches no other."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from tests.unit.report import refit_cases
from tests.unit.report.pair_cases import three_numbers

import rhale

SVG = "{http://www.w3.org/2000/svg}"
X = np.linspace(0.0, 10.0, 401)
HOSTILE = '</text><b>&amp; ]]> <!-- -- \x00\x1b[31m\ud800\uffff " \' id="x"'


def elements(html):
    """The picture in a piece of HTML."""
    (text,) = re.findall(r'<svg role="img".*?</svg>', html, re.DOTALL)
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def texts(root):
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def kinds():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    profile = rhale.explain(lambda r: r[:, 0] ** 2, rows, method="ice")["x0"]
    table = pd.DataFrame({"town": ["a", "b", "c", None] * 50, "x": rows[:, 0]})
    levels = rhale.explain(lambda r: (r["town"] == "a") * 1.0, table)["town"]
    return {
        "curve": rhale.effect(X, np.cos(X), name="age"),
        "levels": levels,
        "profile": profile,
        "trainings": refit_cases.straight()["age"],
        "pair": three_numbers().ranked()[0],
    }


@pytest.fixture(scope="module", params=["curve", "levels", "profile", "trainings", "pair"])
def one(request):
    return kinds()[request.param]


def test_a_picture_is_xml_with_words_for_who_does_not_see_it(one):
    root = elements(one._repr_html_())
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert len(root.get("aria-label")) > 10
    assert any(getattr(one, "name", "income") in text for text in texts(root))  # text stays text
    assert not {"style", "script", "metadata"} & {e.tag.removeprefix(SVG) for e in root.iter()}
    assert "max-width:100%" in root.get("style")


def test_nothing_is_asked_of_a_network(one):
    html = one._repr_html_()
    found = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', html)
    assert all((a or b).startswith(("#", "data:image/png")) for a, b in found)
    assert "font-face" not in html


def test_pictures_in_one_notebook_share_no_name_and_find_their_own_parts():
    taken = set()
    effects = [*kinds().values(), rhale.effect(X, np.sin(X), name="age")]
    for effect in effects:
        html = effect._repr_html_()
        names = re.findall(r' id="([^"]*)"', html)
        asked = re.findall(r'(?:href="|url\()#([^")]*)', html)
        assert len(names) == len(set(names))
        assert set(asked) == set(names)
        assert not taken & set(names)
        taken |= set(names)


def test_the_same_effect_has_the_same_picture_and_pyplot_knows_none(one):
    before = plt.get_fignums()
    assert one._repr_html_() == one._repr_html_()
    assert plt.get_fignums() == before


def test_names_of_any_signs_are_text():
    effect = replace(rhale.effect(X, np.cos(X)), name=HOSTILE)
    root = elements(effect._repr_html_())
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        *("svg", "g", "defs", "path", "use", "text", "clipPath", "rect")
    }
    assert any("]]>" in text and 'id="x"' in text for text in texts(root))


def test_files_that_users_draw_are_xml_too(tmp_path):
    effect = replace(rhale.effect(X, np.cos(X)), name=HOSTILE)
    ax, _ = effect.plot(title=f"two\nlines {HOSTILE}")
    ax.figure.savefig(tmp_path / "picture.svg")
    ElementTree.parse(tmp_path / "picture.svg")  # noqa: S314 - our own
    plt.close(ax.figure)


def test_the_curve_is_drawn_at_the_heights_that_the_axis_says():
    effect = rhale.effect(X, np.cos(X), name="age")
    html = effect._repr_html_()
    curve, _ = re.findall(r'<path d="([^"]*)"[^>]*stroke: #0072b2', html)  # and that of the legend
    x, y = np.array(re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", curve), float).T
    places = np.interp(x, x[[0, -1]], X[[0, -1]])
    top, bottom = effect.curve(X).max(), effect.curve(X).min()
    read = np.interp(-y, [-y.max(), -y.min()], [bottom, top])
    np.testing.assert_allclose(read, effect.curve(places), atol=0.01)


def test_pictures_of_many_steps_are_small():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows = np.random.default_rng(0).normal(size=(2_000, 1))
    target = np.sin(3 * rows[:, 0])
    model = ensemble.ExtraTreesRegressor(20, random_state=0).fit(rows, target)
    html = rhale.explain(model, rows)["x0"]._repr_html_()
    assert len(html) < 150_000
    assert "<image" in html
    elements(html)
