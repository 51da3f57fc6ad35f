"""Where things are on the page: links land where they say, charts have their room, print has keys."""

import base64
import json
import re

import numpy as np
import pytest

import rhale

pytestmark = pytest.mark.browser
TOP = 160  # pixels below the upper edge: the bar that stays there, and some room
LEVELS = ["bank transfer (automatic)", "credit card", "electronic check", "mailed check", "other"]


@pytest.fixture(scope="module")
def fx():
    """Eleven features: numbers, a heavy tail, few and many levels, dates, two values, one value."""
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(0), 600
    table = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(4)})
    table["amount"] = rng.lognormal(3, 1.5, n)
    table["region"] = rng.choice([f"region number {i}" for i in range(12)], n)
    table["payment"] = rng.choice(LEVELS, n)
    table["calls"] = rng.integers(0, 9, n)
    table["paperless"] = rng.random(n) < 0.5
    table["signup"] = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1400, n), "D")
    table["same"] = 1.0

    def predict(rows):
        days = (rows["signup"] - pd.Timestamp("2019-01-01")).dt.days.to_numpy() / 1400
        numbers = rows[["x0", "x1", "x2", "x3"]].to_numpy() @ np.array([1.0, 0.5, 0.2, 0.1])
        levels = rows["region"].str[-1:].astype(int) + (rows["payment"] == "other")
        return numbers + days + np.log(rows["amount"]) + 0.1 * levels * rows["calls"]

    words = {"x0": "Age of the customer"}
    units = {"x0": "years", "amount": "$", "y0": "$"}
    return rhale.explain(predict, table, feature_names=words, output_names=["price"], units=units)


@pytest.fixture(scope="module")
def path(fx, tmp_path_factory):
    return fx.report(tmp_path_factory.mktemp("places") / "effects.html")


def heading(page, place):
    """How far below the upper edge of the window the name of a feature is."""
    return page.ask(f"document.querySelector('#f{place}-name').getBoundingClientRect().top")


def settle(page):
    """Wait until charts that came into view are drawn, and the page stays where it is."""
    page.settle()
    page.driver.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
    )


@pytest.mark.parametrize("order", [1, pytest.param(-1, marks=pytest.mark.slow)])
def test_every_link_of_the_ranking_lands_at_its_feature(page, path, fx, order):
    for place in range(len(fx.features))[::order]:
        page.open(path)  # nothing is drawn yet
        page.driver.execute_script(
            "document.querySelector(arguments[0]).click()", f"a[href='#f{place}']"
        )
        settle(page)
        end = page.ask("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
        assert 0 <= heading(page, place) <= TOP or end
        page.wait(
            "[...document.querySelectorAll('.effect .drawing')].every((f) => f.querySelector('svg'))"
        )
        settle(page)  # everything is drawn, above it, too
        assert 0 <= heading(page, place) <= TOP or end
    assert page.complaints() == []


def test_an_address_with_a_feature_opens_there(page, path):
    page.driver.get("about:blank")
    page.driver.get(path.resolve().as_uri() + "#f9")
    page.wait("document.documentElement.dataset.ready === 'true'")
    settle(page)
    assert 0 <= heading(page, 9) <= TOP


@pytest.mark.parametrize("width", [390, 1280])
def test_charts_take_the_room_that_was_left_for_them(page, path, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open(path)
        frames = "[...document.querySelectorAll('.feature .drawing, #map')]"
        page.wait(f"{frames}.every((frame) => frame.querySelector('svg'))")
        room = page.ask(
            f"{frames}.map((f) => [parseFloat(f.style.minHeight), f.querySelector('svg').clientHeight])"
        )
        assert len(room) == 11
        assert all(abs(left - drawn) <= 1 for left, drawn in room), room
        assert page.ask("document.documentElement.scrollWidth") <= width
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_words_of_people_stand_beside_the_axes(page, path):
    page.open(path)
    page.show("#f0")
    titles = page.texts("#f0 .role-axis-title text")
    assert "effect on price ($)" in titles
    assert "Age of the customer (years)" in titles
    assert "slope: change per years" in titles
    assert not re.search(
        r"\by0\b", page.ask("document.querySelector('main').innerText").partition("How to")[0]
    )


def test_a_heavy_tail_is_read_and_zoomed_on_its_logarithmic_axis(page, path, fx):
    from selenium.webdriver import Keys

    place = fx.features.index("amount")
    page.open(path)
    page.show(f"#f{place}")
    assert page.ask(f"charts.get({place}).kind") == "log curve"
    page.find(f"#f{place} .chart").send_keys("+")
    low, high = page.ask(f"charts.get({place}).view.scale('x').domain()")
    first, last = fx["amount"].axis[[0, -1]]
    middle = np.sqrt(first * last)
    assert np.sqrt(low * high) == pytest.approx(middle, rel=0.01)
    assert np.log(high / low) == pytest.approx(np.log(last / first) / 2, rel=0.01)
    page.find(f"#f{place} .chart").send_keys(Keys.HOME)
    assert page.texts(f"#f{place} .readout")[0].startswith("0.")


def test_levels_without_an_order_stand_from_the_highest_to_the_lowest(page, path, fx):
    place = fx.features.index("region")
    page.open(path)
    page.show(f"#f{place}")
    labels = page.ask(f"PAGE.features[{place}].parts[0].shape.labels")
    heights = [float(fx["region"].curve([label])[0]) for label in labels]
    assert heights == sorted(heights, reverse=True)
    assert "no order of their own" in page.texts(f"#f{place} figcaption")[0]


def test_prints_have_their_keys_and_all_charts(page, path, fx, tmp_path):
    page.open(path)
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(printed["data"]))
    assert page.ask("document.querySelectorAll('.feature svg').length") == len(fx.features) - 1
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        look = "getComputedStyle(document.querySelector('.key.spread')).printColorAdjust"
        assert page.ask(look) == "exact"
        room = (
            "[...document.querySelectorAll('.drawing')].map((f) => getComputedStyle(f).minHeight)"
        )
        assert set(page.ask(room)) == {"0px"}
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_frame_of_what_has_the_focus_is_not_cut(page, path):
    page.open(path)
    page.show("#f0")
    clipped = """(() => {
        for (let e = document.querySelector('#f0 .chart').parentElement; e; e = e.parentElement) {
            const style = getComputedStyle(e);
            if (e !== document.documentElement && (style.overflowX !== 'visible' || style.contain.includes('paint')
                || style.contentVisibility === 'auto')) return e.className || e.tagName;
        }
        return '';
    })()"""
    assert page.ask(clipped) == ""


def test_interactions_and_refits_are_sections_of_the_page(page, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, size=(300, 3))
    models = [lambda r, a=a: a * r[:, 0] * r[:, 1] + r[:, 2] for a in (1.0, 1.2, 0.9)]
    fx, ix = rhale.explain(models[0], rows), rhale.interactions(models[0], rows)
    rx = rhale.refits(models, rows, train=[np.arange(i, 300, 2) for i in (0, 1, 0)])
    page.open(fx.report(tmp_path / "all.html", interactions=ix, refits=rx))
    page.driver.execute_script("document.querySelector('#interactions a').click()")
    page.wait("document.querySelectorAll('#interactions-0-0 svg').length >= 2")
    assert (
        0
        <= page.ask("document.querySelector('#interactions-0-0 h4').getBoundingClientRect().top")
        <= TOP
    )
    strongest = ix.ranked()[0]
    assert page.texts("#interactions .pair")[0] == "{} \u00d7 {}".format(*strongest.names)
    assert len(page.texts("#stability .ranking tbody tr")) == 3
    assert "fx = rhale.explain(" in page.texts("pre")[0]
    assert len(page.texts("pre")) == 3
    assert json.dumps(page.complaints()) == "[]"


def test_50_features_whose_bins_can_be_changed_are_less_than_1_and_a_half_megabytes(tmp_path):
    for name in ("jinja2", "vl_convert"):
        pytest.importorskip(name)
    rows = np.random.default_rng(0).normal(size=(600, 50))
    fx = rhale.explain(lambda r: np.sin(r) @ np.arange(50) + r[:, 0] * r[:, 1], rows)
    assert fx.report(tmp_path / "fifty.html").stat().st_size < 1_500_000
