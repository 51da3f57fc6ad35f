"""Bins changed on the page, in a real browser: the numbers are those of Python."""

import numpy as np
import pytest

import rhale
from rhale.report.wording import number
from rhale.results.plain_bins import find_other_bins, fit_plain

pytestmark = pytest.mark.browser
LEFT, RIGHT, HOME, END = "\ue012", "\ue014", "\ue011", "\ue010"
PRICES = sorted(2.0**power * factor for power in range(-4, 12) for factor in (1.0, 1.5))
TOLD, TABLE = "#f0 .bins-told", "#f0 .bins-table td"
CURVE = "document.querySelector('#f0 .effect-line path').getAttribute('d')"
BAND = "document.querySelector('#f0 .spread-area path').getAttribute('d')"
BARS = "document.querySelectorAll('#f0 .bar-area path').length"


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


def rows_of(effect):
    """The table of its bins as the page writes it, from unrounded numbers."""
    numbers = (effect.count, effect.mean, effect.standard_error, effect.std)
    columns = zip(effect.edges[:-1], effect.edges[1:], *numbers, strict=True)
    return [
        text
        for left, right, count, mean, error, std in columns
        for text in (
            *(number(place, 4) for place in (left, right)),
            f"{count:,}",
            *(number(mean), number(error, 2), number(std)),
        )
    ]


def read(texts):
    return [float(text.replace("\u2212", "-").replace(",", "")) for text in texts]


def open_table(page):
    page.driver.execute_script("document.querySelector('#f0 details').open = true")
    page.wait("document.querySelector('#f0 .bins-table td')")


def n_bins(page):
    return int(page.texts(TOLD)[0].split()[0])


def test_at_first_it_stands_at_the_bins_as_chosen(opened, fx):
    n = fx["x0"].n_parts
    assert opened.texts(TOLD) == [f"{n} bins, as chosen"]
    assert opened.find("#f0-bins").get_attribute("aria-valuetext") == f"{n} bins, as chosen"
    assert opened.ask(BARS) == n
    assert opened.find("#f0-bins").accessible_name == "Bins x0"


def test_every_position_has_the_numbers_of_python(opened, fx):
    plain = find_other_bins(fx.effects, fx.cells, fx.outputs)[0].cells
    known = {}
    for price in PRICES:
        effect = fit_plain("x0", "y0", plain, price)
        known.setdefault(effect.n_parts, effect)
    slider, seen = opened.find("#f0-bins"), []
    open_table(opened)
    slider.send_keys(HOME)
    for _ in range(int(slider.get_attribute("max")) + 1):
        seen.append(n_bins(opened))
        if seen[-1] != fx["x0"].n_parts:
            assert opened.texts(TOLD)[0].endswith("changed on this page")
            assert opened.texts(TABLE) == rows_of(known[seen[-1]])
        assert opened.ask(BARS) == seen[-1]
        slider.send_keys(RIGHT)
    assert seen == sorted({*known, fx["x0"].n_parts})


def test_the_curve_follows_and_the_button_leads_back(opened, fx):
    slider, before = opened.find("#f0-bins"), opened.ask(CURVE)
    slider.send_keys(HOME)
    assert opened.texts(TOLD) == ["1 bin, changed on this page"]
    assert "Sentences and ranking speak of the bins as chosen" in opened.texts("#f0 .bins-about")[0]
    assert opened.ask(CURVE) != before
    opened.find("#f0 .other-bins button").click()
    assert opened.texts(TOLD) == [f"{fx['x0'].n_parts} bins, as chosen"]
    assert opened.ask(CURVE) == before
    assert opened.ask("document.activeElement.id") == "f0-bins"


def test_the_spread_stays_whatever_bins_are_chosen(opened, fx):
    opened.find("#f0-bins").send_keys(HOME)
    assert "the band of the spread stays" in opened.texts("#f0 .bins-about")[0]
    shown = "charts.get(0).shape"
    x, spread = (np.array(opened.ask(f"{shown}.{name}")) for name in ("x", "spread"))
    known = fx["x0"].spread(x)
    np.testing.assert_allclose(spread, known, atol=0.01 * known.max())


def test_levels_have_no_slider(opened):
    opened.show("#f2")
    assert opened.texts("#f2 .other-bins") == []


def test_print_tells_changed_bins_and_hides_the_slider(opened):
    command = opened.driver.execute_cdp_cmd
    command("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert opened.texts(TOLD) == []
        command("Emulation.setEmulatedMedia", {"media": ""})
        opened.find("#f0-bins").send_keys(LEFT)
        command("Emulation.setEmulatedMedia", {"media": "print"})
        assert opened.texts(TOLD)[0].endswith("changed on this page")
        assert not opened.find("#f0-bins").is_displayed()
    finally:
        command("Emulation.setEmulatedMedia", {"media": ""})


def test_bars_of_trees_follow_and_their_curve_stays(page, trees, tmp_path):
    page.open(trees.report(tmp_path / "trees.html"))
    page.show("#f0")
    before, band, slider = page.ask(CURVE), page.ask(BAND), page.find("#f0-bins")
    finished = find_other_bins(trees.effects, trees.cells, trees.outputs)[0].finished
    known = {effect.n_parts: effect for effect in finished}
    open_table(page)
    for key in (HOME, END):
        slider.send_keys(key)
        assert page.ask(CURVE) == before
        assert page.ask(BAND) == band
        if n_bins(page) in known:
            shown, ours = page.texts(TABLE), rows_of(known[n_bins(page)])
            # four digits are sent, so that a third one may be rounded twice
            np.testing.assert_allclose(read(shown), read(ours), rtol=6e-3, atol=1e-3)
    page.find("#curve").send_keys("smooth")
    assert page.ask(BARS) == n_bins(page)
    assert page.complaints() == []
