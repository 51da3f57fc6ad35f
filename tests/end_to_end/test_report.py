"""The report in a real browser: nothing is asked of a network, and everything can be used."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.report.test_page import with_features

import rhale
from rhale.report.effects import MOST_WITH_ROWS, make_page
from rhale.report.sentences import fixed, format_report_number

pytestmark = pytest.mark.browser
MEGABYTE = 1_000_000
DRAWN = "document.querySelectorAll('.feature svg').length"
NASTY = (
    "<script>document.title = 'broken'</script>",
    "\"'><img src=x onerror=\"document.title = 'broken'\">",
    "</script><script>document.title = 'broken'</script>",
    "a" * 1_000,
    "\u202eright to left\u202d",
    "عمر المريض بالسنوات",
    "line\u2028sep\u2029end",
    "datum.x || (document.title = 'broken')",
    "tab\tnew\nline\x00nul",
)


@pytest.fixture(scope="module")
def table():
    """Numbers with gaps, few whole numbers, dates, durations, categories, one value."""
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(0), 500
    made = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(18, 80, n)),
            "income": rng.lognormal(10, 0.6, n),
            "city": rng.choice(["harbour", "hills", "centre"], n),
            "rooms": rng.integers(1, 7, n),
            "same": 1.0,
        }
    )
    made["sold"] = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    made["wait"] = pd.to_timedelta(rng.integers(60, 7200, n), "s")
    return made


def predict(rows):
    age = rows["age"].fillna(60.0).to_numpy()
    city = rows["city"].map({"harbour": 2.0, "hills": -1.0, "centre": 0.0}).to_numpy()
    days = rows["sold"].to_numpy().astype("datetime64[D]").astype(float) / 365
    hours = rows["wait"].dt.total_seconds().to_numpy() / 3600
    total = (
        np.sin(age / 10) + city * (age > 40) + days + 0.2 * np.log(rows["income"]) * rows["rooms"]
    )
    return np.column_stack([total - hours, rows["rooms"].to_numpy() - 0.1 * total])


@pytest.fixture(scope="module")
def fx(table):
    return rhale.explain(predict, table)


@pytest.fixture(scope="module")
def path(fx, tmp_path_factory):
    return fx.report(tmp_path_factory.mktemp("report") / "effects.html")


@pytest.fixture
def opened(page, path):
    page.open(path)
    yield page
    assert page.complaints() == []
    assert page.requests() == []


def names(page):
    return page.texts("#ranking tbody .name")


def test_it_opens_quietly_and_draws_every_chart(opened, fx):
    for place, name in enumerate(fx.features):
        if name != "same":
            opened.show(f"#f{place}")
    assert opened.ask(DRAWN) == len(fx.features) - 1
    opened.show("#map")


def test_it_is_ranked_by_the_first_output(opened, fx):
    assert names(opened) == [effect.name for effect in fx.ranked(0)]
    assert opened.texts(".feature h3") == names(opened)


def test_searching_leaves_what_matches(opened):
    opened.find("#search").send_keys("RO")
    assert names(opened) == ["rooms"]
    assert opened.texts(".feature h3") == ["rooms"]
    assert opened.texts("#found") == ["1 of 7 features"]
    opened.find("#search").clear()
    opened.find("#search").send_keys(" ")
    assert len(names(opened)) == 7


def test_sorting_by_name_and_back(opened):
    button = opened.find("#ranking th[data-sort=name] button")
    button.click()
    assert names(opened) == sorted(names(opened))
    assert opened.ask("document.querySelector('th[data-sort=name]').ariaSort") == "ascending"
    button.click()
    assert names(opened) == sorted(names(opened), reverse=True)


def test_another_output_has_its_own_numbers_order_and_words(opened, fx):
    before = opened.texts(".feature .reading")
    opened.driver.execute_script(
        "const s = document.querySelector('#output'); s.value = '1'; s.dispatchEvent(new Event('change'))"
    )
    assert names(opened) == [effect.name for effect in fx.ranked(1)]
    assert opened.texts(".output-name") == ["prediction 2", "prediction 2"]
    assert opened.texts(".feature .reading") != before
    first = fx.ranked(1)[0]
    assert opened.texts("#ranking td.size")[0].startswith(f"{first.importance:.3f} ± ")


def test_pointing_at_a_chart_tells_its_values(opened):
    from selenium.webdriver import ActionChains

    opened.show("#f0")
    ActionChains(opened.driver).move_to_element(opened.find("#f0 svg")).perform()
    opened.wait("document.querySelector('#f0 .readout').textContent.includes('effect')")
    words = opened.texts("#f0 .readout")[0]
    assert "interval" in words
    assert 18 <= float(words.partition(":")[0]) <= 80
    assert opened.ask("document.querySelector('#f0 .here-line line') !== null")


def test_dragging_zooms_both_panels_and_double_clicking_undoes_it(opened):
    from selenium.webdriver import ActionChains

    opened.show("#f0")
    everything, chart = labels(opened), opened.find("#f0 svg")
    ActionChains(opened.driver).move_to_element(chart).click_and_hold().move_by_offset(
        120, 0
    ).release().perform()
    opened.wait(f"JSON.stringify({LABELS}) !== {everything!r}")
    ActionChains(opened.driver).double_click(chart).perform()
    opened.wait(f"JSON.stringify({LABELS}) === {everything!r}")


LABELS = (
    "[...document.querySelectorAll('#f0 .role-axis-label text')].map(e => e.textContent).sort()"
)


def labels(page):
    return page.ask(f"JSON.stringify({LABELS})")


def test_a_chart_is_read_and_zoomed_by_keyboard(opened):
    from selenium.webdriver import Keys

    opened.show("#f0")
    everything, chart = labels(opened), opened.find("#f0 .chart")
    chart.send_keys(Keys.HOME)
    first = opened.texts("#f0 .readout")[0]
    chart.send_keys(Keys.ARROW_RIGHT)
    assert opened.texts("#f0 .readout")[0] != first
    chart.send_keys("+")
    assert labels(opened) != everything
    chart.send_keys("0")
    assert labels(opened) == everything


def test_levels_and_their_missing_values_are_read_by_keyboard(opened):
    from selenium.webdriver import Keys

    opened.show("#f2")
    opened.find("#f2 .chart").send_keys(Keys.END)
    assert opened.texts("#f2 .readout")[0].partition(":")[0] in ("harbour", "hills", "centre")


def test_everything_can_be_reached_by_the_tab_key(opened):
    from selenium.webdriver import ActionChains, Keys

    reached = []
    for _ in range(16):
        ActionChains(opened.driver).send_keys(Keys.TAB).perform()
        reached.append(
            opened.ask("document.activeElement.id || document.activeElement.textContent.trim()")
        )
    assert reached[:3] == ["Skip to the ranking", "search", "output"]
    assert {"theme", "Feature", "age", "city"} <= set(reached)


def test_bins_are_a_table_that_opens(opened, fx):
    from selenium.webdriver import Keys

    opened.show("#f0")
    opened.find("#f0 summary").send_keys(Keys.ENTER)
    opened.wait("document.querySelectorAll('#f0 .bins-table tbody tr').length > 0")
    counts = [int(n) for n in opened.texts("#f0 .bins-table tbody td:nth-child(3)")]
    assert counts == fx["age", "y0"].count.tolist()


def test_a_dot_of_the_map_leads_to_its_feature(opened):
    opened.show("#map")
    opened.driver.execute_script(
        "document.querySelector('#map .map-dot path').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    opened.wait("document.activeElement.classList.contains('feature')")


def test_scripts_write_numbers_as_the_library_does(opened):
    values = [0.0, 0.12345, -0.5, 12.34567, 1234.4, 98765.4, 2.5e7, -1.234e-6, 3e-5]
    assert opened.ask("arguments[0].map((v) => number(v))", values) == [
        format_report_number(v) for v in values
    ]
    largest = [0.0, 0.4, 7.7, 5e5, 3e9]
    asked = opened.ask("arguments[0].map((most) => fixed(0.123, most))", largest)
    assert asked == [fixed(0.123, most) for most in largest]


def test_light_and_dark(opened):
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.ask(paper)
    assert opened.texts("#theme") == ["Switch to dark"]  # what it will do
    opened.find("#theme").click()
    assert opened.texts("#theme") == ["Switch to light"]
    assert opened.ask(paper) != light
    opened.find("#theme").click()
    assert opened.ask(paper) == light


MEASURED = "[...document.querySelectorAll('#f{} .measured-line path')]"
FAINT = "[...document.querySelectorAll('#f{} .estimated-line path')]"


def test_rows_are_drawn_on_demand_and_leave_again(opened, fx):
    for place, name in ((1, "income"), (3, "rooms")):
        effect = fx[name, 0]
        opened.show(f"#f{place}")
        measured, faint = MEASURED.format(place), FAINT.format(place)
        assert opened.ask(f"{measured}.length") == 0
        axis = f"[...document.querySelectorAll('#f{place} .role-axis-label text')].map(e => e.textContent)"
        before = opened.ask(axis)
        switch = opened.find(f"#f{place} .show-rows input")
        assert switch.accessible_name == f"Show rows of {name}"
        switch.send_keys(" ")
        told = opened.texts(f"#f{place} .rows-key")[0]
        n_rows = int(told.split()[0])
        assert told.endswith("rows, pale where estimated")
        assert opened.ask(f"{measured}.length") == n_rows == min(50, effect.row_curves().row.size)
        assert opened.ask(f"{faint}.length") > 0
        clear, pale = (
            float(opened.ask(f"getComputedStyle({lines}[0]).opacity"))
            for lines in (measured, faint)
        )
        assert pale < clear / 3
        switch.send_keys(" ")
        assert opened.texts(f"#f{place} .rows-key") == []
        assert opened.ask(f"{measured}.length") == 0
        assert opened.ask(axis) == before


def test_rows_stay_on_for_another_output_and_levels_have_ticks(opened):
    opened.show("#f2")
    opened.find("#f2 .show-rows input").send_keys(" ")
    ticks = (
        "[...document.querySelectorAll('#f2 .measured-tick path')].map(e => e.getAttribute('d'))"
    )
    first = opened.ask(ticks)
    assert len(first) == 50 * 3
    assert "estimated" not in opened.texts("#f2 .rows-key")[0]  # names have no order: all are near
    opened.driver.execute_script(
        "const s = document.querySelector('#output'); s.value = '1'; s.dispatchEvent(new Event('change'))"
    )
    opened.show("#f2")
    second = opened.ask(ticks)
    assert len(second) == 50 * 3
    assert second != first


def test_estimated_rows_do_not_stretch_the_axis(opened):
    opened.show("#f1")
    opened.find("#f1 .show-rows input").send_keys(" ")
    heights = "(rows) => rows.map(({y}) => y)"
    low, high = opened.ask(
        f"((all) => [Math.min(...all), Math.max(...all)])([...heightsOf(charts.get(1).shape).filter(Number.isFinite), "
        f"...({heights})(charts.get(1).view.data('measured'))])"
    )
    faint = opened.ask(f"({heights})(charts.get(1).view.data('estimated'))")
    room = 1e-9 * (high - low)
    assert low - room <= min(faint)
    assert max(faint) <= high + room


def test_print_hides_the_switch_and_keeps_the_rows(opened):
    opened.show("#f0")
    opened.find("#f0 .show-rows input").send_keys(" ")
    command = opened.driver.execute_cdp_cmd
    command("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not opened.find("#f0 .show-rows input").is_displayed()
        assert opened.texts("#f0 .rows-key")
        assert opened.ask(f"{MEASURED.format(0)}.length") > 0
    finally:
        command("Emulation.setEmulatedMedia", {"media": ""})


def test_it_fits_a_phone(opened):
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    opened.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for feature in ("#f0", "#f2"):
        opened.show(feature)
    opened.wait("document.documentElement.scrollWidth <= 360")
    opened.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_printing_draws_all_charts(opened, fx):
    opened.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    opened.wait(f"document.querySelectorAll('.feature svg').length === {len(fx.features) - 1}")


def test_the_policy_stops_other_scripts(page, path, tmp_path):
    broken = tmp_path / "broken.html"
    text = path.read_text(encoding="utf-8").replace(
        "<main>", "<main><script>document.title = 'broken'</script>"
    )
    broken.write_text(text, encoding="utf-8", newline="\n")
    page.open(broken)
    assert page.driver.title != "broken"
    assert any("Content Security Policy" in complaint for complaint in page.complaints())


def test_a_browser_that_cannot_unpack_says_so_and_has_the_ranking(page, path, fx):
    command = page.driver.execute_cdp_cmd
    source = {"source": "delete window.DecompressionStream"}
    added = command("Page.addScriptToEvaluateOnNewDocument", source)
    try:
        page.driver.get(path.resolve().as_uri())
        page.wait("document.querySelector('main > .warning') !== null")
        assert "too old" in page.texts("main > .warning")[0]
        assert names(page) == [effect.name for effect in fx.ranked(0)]
    finally:
        command("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.parametrize("method", ["ice", "pdp", "mplot"])
def test_profiles_are_drawn_too(page, table, method, tmp_path):
    fx = rhale.explain(predict, table, method=method, features=["age", "city", "sold"], output=0)
    page.open(fx.report(tmp_path / "profile.html"))
    for place in range(3):
        page.show(f"#f{place}")
    assert page.complaints() == []


def test_a_single_feature_has_a_page(page, tmp_path):
    fx = rhale.explain(lambda r: r[:, 0], np.arange(40.0)[:, None])
    page.open(fx.report(tmp_path / "single.html"))
    page.show("#f0")
    assert page.complaints() == []


def test_names_that_want_to_be_more_than_names_are_harmless(page, tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=200) for name in NASTY}
    table = pd.DataFrame(
        {**columns, "level": rng.choice([NASTY[0], NASTY[2], '"]; alert(1); //'], 200)}
    )
    fx = rhale.explain(lambda t: t.iloc[:, 0] * t.iloc[:, 1] + t.iloc[:, 3], table)
    page.open(fx.report(tmp_path / "nasty.html", title=NASTY[2]))
    for place in range(len(fx.features)):
        page.show(f"#f{place}")
    page.show("#map")
    assert page.driver.title == NASTY[2]
    assert page.complaints() == []
    assert page.requests() == []
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    """A page of a model that jumps up by 2 at 1 and down by 1 at 3; smooth, it rises evenly."""
    from rhale.report.numbers import Line
    from rhale.report.page import render

    path = tmp_path_factory.mktemp("stepped") / "stepped.html"
    x = np.linspace(0.0, 4.0, 401)
    made = make_page([rhale.effect(x, np.ones(401), name="trees")], {"method": "rhale"})
    stairs = Line(
        (0, 1, 1, 3, 3, 4), (0, 0, 2, 2, 1, 1), (0,) * 6, (0, 0, 2, 2, 1, 1), (0, 0, 2, 2, 1, 1)
    )
    even = Line((0, 4), (0, 1), (0, 0), (0, 1), (0, 1))
    (feature,) = made.sections[0].features
    shape = replace(
        feature.parts[0].shape, **vars(stairs), smooth=even, reach=(-0.5, 0.25), jumps=((1, 2),)
    )
    feature = replace(feature, parts=(replace(feature.parts[0], shape=shape),))
    path.write_text(render(with_features(made, [feature])), encoding="utf-8", newline="\n")
    return path


LINE = "document.querySelector('#f0 .effect-line path').getAttribute('d')"
CAPTION = "document.querySelector('#f0 figcaption').textContent"


def test_a_staircase_has_vertical_jumps_and_flat_treads(page, stepped):
    page.open(stepped)
    page.show("#f0")
    points = [tuple(map(float, p.split(","))) for p in page.ask(LINE).lstrip("M").split("L")]
    assert len(points) == 6
    for (x, y), (next_x, next_y) in pairwise(points):
        assert (x == next_x) != (y == next_y)
    assert page.complaints() == []


def test_a_cut_bar_says_how_far_it_goes(page, stepped):
    page.open(stepped)
    page.show("#f0")
    assert "jumps by 2" in page.texts("#f0 .plain-text text")
    assert page.ask("charts.get(0).view.signal('reach')") == [-0.5, 0.25]


def test_curves_are_switched_by_keyboard_for_the_whole_page(page, stepped):
    from selenium.webdriver import Keys

    page.open(stepped)
    page.show("#f0")
    with_steps = page.ask(LINE)
    page.find("#f0 .chart").send_keys("+")
    zoomed = page.ask(LINE)
    assert zoomed != with_steps
    page.find("#curve").send_keys(Keys.ARROW_DOWN)
    assert "small steps evened out" in page.ask(CAPTION)
    assert page.ask(LINE).count("L") == 1
    page.find("#curve").send_keys(Keys.ARROW_UP)
    assert "small steps" not in page.ask(CAPTION)
    assert page.ask(LINE) == zoomed  # the stretch that is shown stays
    page.find("#f0 .chart").send_keys("0")
    assert page.ask(LINE) == with_steps
    assert page.complaints() == []
    assert page.requests() == []


def test_a_pointer_reads_its_own_side_of_a_jump(page, stepped):
    page.open(stepped)
    page.show("#f0")
    found = page.ask("arguments[0].map((x) => charts.get(0).nearest(x))", [0.9, 1.1, 2.9, 3.1])
    assert found == [1, 2, 3, 4]


def test_a_page_without_steps_has_no_switch(opened):
    assert opened.ask("document.querySelector('#curve') === null")


def test_printing_keeps_the_chosen_curve(page, stepped):
    from selenium.webdriver import Keys

    page.open(stepped)
    page.find("#curve").send_keys(Keys.ARROW_DOWN)
    page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    page.wait("document.querySelectorAll('.feature svg').length === 1")
    assert "small steps evened out" in page.ask(CAPTION)


@pytest.fixture(scope="module")
def wide():
    """200 features and 10 outputs: the numbers of one feature under many names."""
    rows = np.random.default_rng(0).normal(size=(300, 2))
    powers = np.arange(1, 11)
    fx = rhale.explain(lambda r: np.sin(np.outer(r[:, 0], powers)) * (1 + r[:, [1]]), rows)
    page = make_page(fx.effects, fx.provenance)
    features = [replace(page.sections[0].features[i % 2], name=f"feature {i}") for i in range(200)]
    features[MOST_WITH_ROWS // 10 :] = map(without_rows, features[MOST_WITH_ROWS // 10 :])
    return with_features(page, features)


def without_rows(feature):
    """The same, as `make_page` has all but the largest effects."""
    parts = (replace(part, shape=replace(part.shape, row_lines=None)) for part in feature.parts)
    return replace(feature, parts=tuple(parts))


def test_200_features_and_10_outputs_are_drawn_as_they_come_into_view(page, wide, tmp_path):
    from rhale.report.page import render

    path = tmp_path / "wide.html"
    path.write_text(render(wide), encoding="utf-8", newline="\n")
    page.open(path)
    page.settle()
    assert path.stat().st_size < 9 * MEGABYTE  # four kilobytes for each of 2,000 curves
    assert page.ask("document.querySelectorAll('*').length") < 60 * 200
    assert page.ask(DRAWN) == 0
    page.show("#f0")
    page.settle()
    assert 1 <= page.ask(DRAWN) <= 4  # what is in view, or nearly
    assert page.complaints() == []
    assert page.requests() == []


def test_50_features_are_less_than_1_and_a_half_megabytes(wide, page):  # noqa: ARG001 - needs what the page needs
    from rhale.report.page import render

    some = [
        replace(wide.sections[0].features[i % 2], parts=wide.sections[0].features[i % 2].parts[:1])
        for i in range(50)
    ]
    text = render(with_features(wide, some, outputs=wide.outputs[:1]))
    assert len(text.encode()) < 1.5 * MEGABYTE


def test_far_values_are_beyond_at_first_and_can_be_had(page, tmp_path):
    x = np.append(np.random.default_rng(4).normal(5.7, 0.9, 1_999), 58.9)
    effect = rhale.effect(x, np.where(x < 50, 1.0, -50.0), bins=10, name="y")
    fx = rhale.explain(lambda rows: rows[:, 0], x[:, None])
    fx = replace(fx, features=("y",), effects=(replace(effect, output=fx.outputs[0]),))
    page.open(fx.report(tmp_path / "far.html"))
    page.show("#f0")
    highest = "Math.max(...view().scale('x').domain().map(Number))"
    lowest = "Math.min(...view().scale('concat_0_y').domain())"
    page.driver.execute_script("window.view = () => charts.get(0).view")
    cut, steep = np.sort(x)[-21], page.ask(lowest)
    assert page.ask(highest) == pytest.approx(cut, abs=1e-3)
    assert "y (20 rows beyond, up to 58.9)" in page.texts("#f0 .role-axis-title text")
    page.find("#f0 [data-zoom='0']").click()
    assert page.ask(highest) == pytest.approx(58.9)
    assert page.ask(lowest) < 10 * steep < 0
    assert "y" in page.texts("#f0 .role-axis-title text")
    page.find("#f0 [data-zoom='0']").click()
    assert page.ask(highest) == pytest.approx(cut, abs=1e-3)
    page.find("#f0 [data-zoom='2']").click()
    assert cut < page.ask(highest) < 58.9
    assert page.complaints() == []
