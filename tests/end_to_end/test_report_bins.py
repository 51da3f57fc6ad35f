"""Bins chosen on the page, in a real browser: the numbers are those of Python."""

import numpy as np
import pytest

import rhale
from rhale.report.numbers import shape_of

pytestmark = pytest.mark.browser
DOWN, HOME = "\ue015", "\ue011"
TABLE, ABOUT = "#f0 .bins-table td", "#f0 .other-bins p"
OPTIONS = "[...document.querySelectorAll('#f0-bins option')].map(one => one.text)"
CURVE = "document.querySelector('#f0 .effect-line path').getAttribute('d')"
BAND = "document.querySelector('#f0 .spread-area path').getAttribute('d')"
BARS = "document.querySelectorAll('#f0 .bar-area path').length"
EQUAL = (5, 10, 20)


@pytest.fixture(scope="module")
def fx():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=600), rng.lognormal(size=600), rng.integers(0, 3, 600)])
    return rhale.explain(
        lambda r: np.sin(2 * r[:, 0]) + r[:, 0] * np.log(r[:, 1]) + r[:, 2],
        rows,
        categorical=["x2"],
    )


@pytest.fixture(scope="module")
def trees():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    target = np.sin(3 * rows[:, 0]) + rows[:, 0] * rows[:, 1]
    model = ensemble.GradientBoostingRegressor(n_estimators=40, random_state=0).fit(rows, target)
    return rhale.explain(model, rows)


@pytest.fixture
def opened(page, fx, tmp_path):
    page.open(fx.report(tmp_path / "effects.html"))
    page.show("#f0")
    yield page
    assert page.complaints() == []
    assert page.requests() == []


def assert_table(page, effect):
    """The table has the numbers of an effect, in three digits, or two of errors."""
    bins = shape_of(effect).bins
    columns = (bins.left, bins.right, bins.count, bins.mean, bins.error, bins.std)
    shown = [float(text.replace("\u2212", "-").replace(",", "")) for text in page.texts(TABLE)]
    table = np.reshape(shown, (effect.n_parts, len(columns))).T
    for values, known, digits in zip(table, columns, (4, 4, 9, 3, 2, 3), strict=True):
        np.testing.assert_allclose(values, known, rtol=0.51 * 10.0 ** (1 - digits), atol=1e-3)


def open_table(page):
    page.driver.execute_script("document.querySelector('#f0 details').open = true")
    page.wait("document.querySelector('#f0 .bins-table td')")


def choose(page, place, select="#f0-bins"):
    page.find(select).find_elements("css selector", "option")[place].click()


def test_at_first_the_bins_are_those_of_python(opened, fx):
    n = fx["x0"].n_parts
    equal = [f"{k} bins of equal counts" for k in EQUAL]
    assert opened.ask(OPTIONS) == [f"{n} bins, as chosen", *equal]
    assert opened.find("#f0-bins").get_attribute("value") == "0"
    assert opened.find("#f0-bins").accessible_name == "Bins x0"
    assert opened.texts(ABOUT) == []
    assert opened.ask(BARS) == n


@pytest.mark.parametrize("place", range(len(EQUAL)))
def test_every_choice_has_the_numbers_of_explain(opened, fx, place):
    known = fx.rebin(rhale.Quantile(EQUAL[place]))["x0"]
    open_table(opened)
    choose(opened, place + 1)
    assert_table(opened, known)
    assert opened.ask(BARS) == known.n_parts
    shape = opened.ask(
        "(({x, y, low, high, spread}) => ({x, y, low, high, spread}))(charts.get(0).shape)"
    )
    x = np.array(shape["x"])
    height = np.ptp(known.curve(x))
    for name, values in (("y", known.curve(x)), ("spread", known.spread(x))):
        np.testing.assert_allclose(shape[name], values, atol=2e-3 * height)
    np.testing.assert_allclose(known.spread(x), fx["x0"].spread(x))


def test_curve_and_bins_follow_and_the_first_choice_leads_back(opened):
    before = opened.ask(CURVE)
    choose(opened, 1)
    assert opened.texts(ABOUT)[0].startswith(
        "Changed on this page to 5 bins of equal counts. Curve,"
    )
    assert opened.ask(CURVE) != before
    choose(opened, 0)
    assert opened.texts(ABOUT) == []
    assert opened.ask(CURVE) == before


def test_keys_choose_too(opened):
    opened.find("#f0-bins").send_keys(DOWN)
    assert opened.ask(BARS) == 5
    opened.find("#f0-bins").send_keys(HOME)
    assert opened.texts(ABOUT) == []


def test_levels_have_no_choice(opened):
    opened.show("#f2")
    assert opened.texts("#f2 .other-bins") == []


def test_print_tells_changed_bins_and_hides_the_choice(opened):
    command = opened.driver.execute_cdp_cmd
    command("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert opened.texts("#f0 .other-bins") == []
        command("Emulation.setEmulatedMedia", {"media": ""})
        choose(opened, 1)
        command("Emulation.setEmulatedMedia", {"media": "print"})
        assert opened.texts(ABOUT)[0].startswith("Changed on this page")
        assert not opened.find("#f0-bins").is_displayed()
    finally:
        command("Emulation.setEmulatedMedia", {"media": ""})


def test_bars_of_trees_follow_and_their_curve_stays(page, trees, tmp_path):
    page.open(trees.report(tmp_path / "trees.html"))
    page.show("#f0")
    before, band = page.ask(CURVE), page.ask(BAND)
    open_table(page)
    for place, n_bins in enumerate(EQUAL):
        choose(page, place + 1)
        assert page.ask(CURVE) == before
        assert page.ask(BAND) == band
        assert_table(page, trees.rebin(rhale.Quantile(n_bins))["x0"])
    page.find("#curve").send_keys("smooth")
    assert page.ask(BARS) == n_bins
    assert page.complaints() == []


def test_each_output_has_a_choice_of_its_own(page, tmp_path):
    rows = np.random.default_rng(0).normal(size=(300, 1))
    two = rhale.explain(lambda r: np.column_stack([np.sin(2 * r[:, 0]), r[:, 0]]), rows)
    page.open(two.report(tmp_path / "two.html"))
    page.show("#f0")
    choose(page, 1)
    choose(page, 1, "#output")
    assert page.find("#f0-bins").get_attribute("value") == "0"
    assert page.ask(OPTIONS)[0] == "1 bin, as chosen"
    choose(page, 0, "#output")
    assert page.find("#f0-bins").get_attribute("value") == "1"
    assert page.complaints() == []
