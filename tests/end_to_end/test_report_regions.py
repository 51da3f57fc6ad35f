"""Regions on the page, in a real browser: drawn, read by pointer and keys, switched with the output."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import divide, make
from tests.unit.report.test_page import with_features

import rhale
from rhale.regions.report import RegionPath
from rhale.regions.result import Partner, Region, RegionTree
from rhale.report.effects import make_page
from rhale.report.numbers import Line

pytestmark = pytest.mark.browser
X = np.linspace(0.0, 10.0, 401)
SHARE = {"share": 0.921, "standard_error": 0.012}
NASTY = "</script><script>document.title = 'broken'</script>"
CURVES = (
    "[...document.querySelectorAll('#f0 .regions .mark-line path')].map(e => e.getAttribute('d'))"
)


def effects():
    """Two regions that go opposite ways, thirds, levels, and a feature where nothing was found."""
    tilted = divide(X, {"sex = male": 4.0, "sex = female": -2.0}, name="age", **SHARE)
    thirds = divide(X, {"low": 1.0, "middle": 2.0, "high": 3.0}).regions.regions
    gradual = divide(X, {"a": 1.0, "b": 3.0}, name="rooms", gradual="z", thirds=thirds, **SHARE)
    level = make(["hills", "harbour", "centre"], [1.0, -2.0], noise=0.1)
    other = make(["hills", "harbour", "centre"], [-1.0, 0.0], noise=0.1)
    regions = (Region("z > 0", 30, 0.5, level), Region("z ≤ 0", 30, 0.5, other))
    city = replace(level, regions=RegionTree("city", "y0", "found", "", regions, **SHARE))
    plain = rhale.effect(X, np.ones(401), name="plain")
    tree = RegionTree("plain", "y0", "none", "rows hardly differ", (Region("all", 1, 1.0, plain),))
    return [tilted, gradual, city, replace(plain, regions=tree)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(make_page(effects(), {"method": "rhale"}), tmp_path_factory.mktemp("regions"))


def write(made, folder):
    from rhale.report.page import render

    path = folder / "regions.html"
    path.write_text(render(made), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def opened(page, path):
    page.open(path)
    yield page
    assert page.complaints() == []
    assert page.requests() == []


def test_features_with_regions_have_a_second_chart(opened):
    for place, kind in enumerate(["regions", "regions", "level regions"]):
        opened.show(f"#f{place} .regions .drawing")
        assert opened.ask("regionCharts.get(arguments[0]).kind", place) == kind
    assert opened.texts("#f3 .region-reading") == ["No groups found: rows hardly differ."]
    assert opened.texts("#f3 .regions h4, #f3 .regions figure, #f3 .regions details") == []


def test_curves_stand_over_the_common_one_on_the_axis_of_the_feature(opened):
    """The common slope is 1, those of the regions 4 and -2; up is where numbers are small."""
    opened.show("#f0 .regions .drawing")
    common, first, second = (
        [tuple(map(float, point.split(","))) for point in path.lstrip("M").split("L")]
        for path in opened.ask(CURVES)
    )
    rise = [line[0][1] - line[-1][1] for line in (common, first, second)]
    assert rise[1] / rise[0] == pytest.approx(4.0, rel=0.01)
    assert rise[2] / rise[0] == pytest.approx(-2.0, rel=0.01)
    axes = [
        opened.ask(f"{charts}.get(0).view.scale('{name}').domain()")
        for charts, name in (("charts", "concat_0_y"), ("regionCharts", "y"))
    ]
    assert axes[0] == axes[1]


def test_the_legend_names_rules_and_shares(opened):
    opened.show("#f0 .regions .drawing")
    assert opened.texts("#f0 .legend li") == [
        "sex = male, 50 % of the rows",
        "sex = female, 50 % of the rows",
        "all rows",
        "shaded: 95 % intervals",
    ]
    assert opened.ask("document.querySelector('#f1 .regions figure').className") == "gradual"


def test_regions_are_read_and_zoomed_by_keyboard(opened):
    from selenium.webdriver import Keys

    opened.show("#f0 .regions .drawing")
    chart, before = opened.find("#f0 .regions .chart"), opened.ask(CURVES)
    chart.send_keys(Keys.HOME)
    words = opened.texts("#f0 .regions .readout")[0]
    assert words.startswith("0: effect \u221220 (")
    assert " where sex = male; 10 (" in words
    assert words.endswith(" where sex = female; \u22125 in all rows")
    chart.send_keys("+")
    assert opened.ask(CURVES) != before
    chart.send_keys("0")
    assert opened.ask(CURVES) == before


def test_levels_of_regions_are_read_one_by_one(opened):
    from selenium.webdriver import Keys

    opened.show("#f2 .regions .drawing")
    opened.find("#f2 .regions .chart").send_keys(Keys.END)
    assert opened.texts("#f2 .regions .readout")[0].startswith("centre: effect ")


def test_pointing_at_a_curve_tells_its_values(opened):
    from selenium.webdriver import ActionChains

    opened.show("#f0 .regions .drawing")
    ActionChains(opened.driver).move_to_element(opened.find("#f0 .regions .drawing svg")).perform()
    opened.wait(
        "document.querySelector('#f0 .regions .readout').textContent.includes('in all rows')"
    )


def test_the_table_of_regions_says_what_the_chart_shows(opened):
    opened.driver.execute_script("document.querySelector('#f0 .regions details').open = true")
    assert opened.texts("#f0 .regions-table tbody th") == ["sex = male", "sex = female"]
    assert opened.texts("#f0 .regions-table tbody td")[:2] == ["401", "50 %"]


def test_another_output_has_its_own_regions(page, tmp_path):
    first, _, _, none = effects()
    second = replace(none, name=first.name, output="y1")
    page.open(write(make_page([first, second], {"method": "rhale"}), tmp_path))
    page.show("#f0 .regions .drawing")
    page.driver.execute_script(
        "const s = document.querySelector('#output'); s.value = '1'; s.dispatchEvent(new Event('change'))"
    )
    assert page.texts("#f0 .region-reading") == ["No groups found: rows hardly differ."]
    assert page.texts("#f0 .regions figure") == []
    page.driver.execute_script("showOutput(0)")
    assert page.texts("#f0 .regions h4") == ["Regions (who differs)"]
    assert page.complaints() == []


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_and_many_groups_stay_within_the_page(page, tmp_path, width):
    slopes = {f"{NASTY * 3} = {i}": float(i) for i in range(20)}
    partners = (Partner("\u202e" + NASTY, 0.5, 0.01),)
    effect = divide(X, slopes, name="a" * 400, state="given", partners=partners, **SHARE)
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    page.open(write(make_page([effect], {}, title="plain"), tmp_path))
    page.show("#f0 .regions .drawing")
    assert len(page.texts("#f0 .legend li")) == 7  # four, all rows, intervals, how many more
    assert page.driver.title == "plain"
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    assert page.complaints() == []
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_curves_of_regions_are_switched_with_the_others(page, tmp_path):
    """A staircase that is drawn smooth as one straight line, in the chart and in its regions."""
    made = make_page([divide(X, {"a": 4.0, "b": -2.0})], {"method": "rhale"})
    (feature,) = made.sections[0].features
    (part,) = feature.parts
    even = Line((0, 10), (0, 1), (0, 0), (0, 1), (0, 1))
    steps = RegionPath((0, 5, 5, 10), (0, 0, 2, 2), (0, 0, 0, 0))
    lines = tuple(
        replace(line, path=steps, smooth=RegionPath((0, 10), (0, 2), (0, 0)))
        for line in part.regions.lines
    )
    part = replace(
        part,
        shape=replace(part.shape, smooth=even),
        regions=replace(part.regions, lines=lines),
    )
    made = with_features(made, [replace(feature, parts=(part,))])
    page.open(write(made, tmp_path))
    page.show("#f0 .regions .drawing")
    assert [path.count("L") for path in page.ask(CURVES)[1:]] == [3, 3]
    page.driver.execute_script("showCurve(true)")
    assert [path.count("L") for path in page.ask(CURVES)] == [1, 1, 1]
    page.driver.execute_script("showCurve(false)")
    assert [path.count("L") for path in page.ask(CURVES)[1:]] == [3, 3]
    assert page.complaints() == []


def test_printing_draws_regions_too(page, path):
    page.open(path)
    page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    page.wait("document.querySelectorAll('.regions .drawing svg').length === 3")
