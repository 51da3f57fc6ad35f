"""The page of refits in a real browser: nothing is asked of a network, all can be used."""

import pytest
from tests.unit.report.refit_cases import (
    renamed,
    straight,
    two_outputs,
    with_levels,
    with_missing,
    with_pairs,
)

from rhale.report.sentences import format_report_number

pytestmark = pytest.mark.browser
NASTY = (
    "<script>document.title = 'broken'</script>",
    "\"'><img src=x onerror=\"document.title = 'broken'\">",
    "a" * 900,
    "\u202eright to left\u202d",
    "datum.x || (document.title = 'broken')",
)
RIGHT = "\ue014"


def count(page, selector):
    return page.ask("document.querySelectorAll(arguments[0]).length", selector)


def test_every_training_is_a_line_and_so_is_the_own_model(opened):
    page = opened(straight(own=True))
    page.show("#stability-0-0")
    assert count(page, "#stability-0-0 .training-line path") == 6
    assert count(page, "#stability-0-0 .own-line path") == 1
    assert count(page, "#stability-0-0 .effect-line path") == 1
    assert count(page, "#stability-0-0 .between-area path") == 1


def test_every_kind_of_feature_is_drawn(opened):
    page = opened(with_levels())
    for part in ("#stability-0-0", "#stability-0-1", "#stability-0-2"):
        page.show(part)
    assert count(page, "#stability-0-0 .training-tick path") == 18  # three cities, six trainings
    assert count(page, "#stability-0-0 .own-dot path") == 3
    assert count(page, ".training-part") == 4
    assert count(page, ".training-part .drawing") == 3  # a feature with one value has no chart


def test_arrow_keys_read_the_mean_and_its_interval(opened):
    rx = straight()
    page = opened(rx)
    page.show("#stability-0-0")
    page.find("#stability-0-0 .chart").send_keys(RIGHT)
    low, high = rx["age"].ci([0.0])
    (told,) = page.texts("#stability-0-0 .readout")
    assert told.startswith("0: mean of the models \u22121 (")
    assert f"({format_report_number(low[0])} to {format_report_number(high[0])})" in told
    assert f"± {format_report_number(rx['age'].between([0.0])[0])}" in told


def test_missing_values_have_a_point_and_a_level_of_their_own(opened):
    rx = with_missing()
    page = opened(rx)
    names = [effect.name for effect in rx.ranked()]
    curve, city = f"#stability-0-{names.index('x')}", f"#stability-0-{names.index('city')}"
    page.show(curve)
    assert count(page, f"{curve} .missing-dot path") == 1
    page.show(city)
    assert count(page, f"{city} .missing-dot path") == 1
    page.find(f"{city} .chart").send_keys("\ue010")  # end
    (told,) = page.texts(f"{city} .readout")
    assert told.startswith(
        f"missing: mean of the models {format_report_number(rx['city'].missing.curve)}"
    )


def test_names_are_but_names(opened):
    page = opened(renamed(with_levels(), NASTY))
    page.show("#stability-0-0")
    assert page.ask("document.title").startswith("Which effects are stable")
    assert count(page, "img") == 0


def test_outputs_take_turns(opened):
    page = opened(two_outputs())
    assert len(page.texts(".ranking")) == 1
    page.find("#output").send_keys("prediction 2")
    assert page.texts("h2 bdi")[0] == "prediction 2"
    page.show("#stability-1-0")


def test_printing_draws_all_charts(opened):
    page = opened(with_pairs(straight()))
    page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    page.wait("document.querySelectorAll('.training-part svg').length === 2")


def test_a_dark_page_has_the_ink_of_trainings_in_a_lighter_shade(opened):
    page = opened(straight())
    page.show("#stability-0-0")
    line = "getComputedStyle(document.querySelector('#stability-0-0 .training-line path')).stroke"
    assert page.ask(line) == "rgb(204, 121, 167)"  # inks.BETWEEN
    page.driver.execute_script("document.documentElement.dataset.theme = 'dark'")
    assert page.ask(line) == "rgb(224, 156, 196)"


def test_a_phone_shows_what_comes_back_without_scrolling_sideways(opened):
    page = opened(straight())
    device = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    try:
        box = "document.querySelector('.scroll')"
        page.wait(f"document.documentElement.clientWidth === 390 && {box}.clientWidth < 390")
        assert page.ask(f"{box}.scrollWidth <= {box}.clientWidth")
        assert page.ask("document.documentElement.scrollWidth") <= 390
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
