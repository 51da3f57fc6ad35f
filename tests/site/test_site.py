"""The built site: links lead somewhere, nothing is loaded from outside, pages fit their screens."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.end_to_end.browser import Report, open_browser
from tests.site.html_facts import read_facts

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
MADE = ("_live", "gallery", "generated", "images")
if not (SITE / "index.html").exists():
    pytest.skip("there is no site/: make docs builds it", allow_module_level=True)

PAGES = {
    path: read_facts(path.read_text(encoding="utf-8"))
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts  # parts of the theme, which nobody opens
}
OUTSIDE = ("http:", "https:", "//")
SHOWN = sorted(
    p for p in PAGES if p.parent != SITE or p.name in ("index.html", "architecture.html")
)
ALIKE = ("generated", "gallery")  # pages of one make: every tenth is opened
OPENED = [page for page in SHOWN if not set(page.parts) & set(ALIKE)]
OPENED += [page for page in SHOWN if set(page.parts) & set(ALIKE)][::10]
CHAT = re.compile(r"\[PST\]|invalid theme mode")  # what the theme tells the console
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def name_of(path):
    return path.relative_to(SITE).as_posix()


def test_every_page_that_was_written_is_there():
    sources = [
        path.relative_to(ROOT / "docs").with_suffix(".html")
        for path in (ROOT / "docs").rglob("*.md")
        if not set(path.relative_to(ROOT).parts) & set(MADE)
    ]
    assert len(sources) >= 40
    assert [path for path in sources if SITE / path not in PAGES] == []


def test_every_link_leads_to_a_page_and_to_a_place_on_it():
    broken = [
        f"{name_of(page)}: {link}"
        for page, facts in PAGES.items()
        for link in facts.links
        if not link.startswith((*OUTSIDE, "mailto:")) and not leads_somewhere(page, link)
    ]
    assert broken == []


def leads_somewhere(page, link):
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in PAGES or anchor in PAGES[target].anchors


def test_a_broken_link_is_found():
    assert not leads_somewhere(SITE / "index.html", "no-such-page.html")
    assert not leads_somewhere(SITE / "index.html", "#no-such-place")
    assert leads_somewhere(SITE / "index.html", "architecture.html")


def test_nothing_is_loaded_from_elsewhere():
    loaded = {link for facts in PAGES.values() for link in facts.loaded}
    assert [link for link in loaded if link.startswith(OUTSIDE)] == []
    for sheet in SITE.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"url\(\s*['\"]?(https?:)?//|@import\s+['\"]?http", text), sheet


def test_pictures_say_in_words_what_they_show():
    """Thumbnails do not: the title of their example stands beside them, in the same link."""
    silent = [
        f"{name_of(page)}: {src}"
        for page, facts in PAGES.items()
        for src, alt in facts.pictures
        if not alt and not src.endswith("_thumb.png")
    ]
    assert silent == []


def test_every_page_has_one_title():
    assert [name_of(page) for page in SHOWN if PAGES[page].titles != 1] == []


def test_the_gallery_has_pictures_of_at_least_24_examples():
    examples = [p for p in (SITE / "gallery").rglob("plot_*.html") if p.name != "index.html"]
    assert len(examples) >= 24
    for page in examples:
        assert any("sphx_glr" in src for src, _ in PAGES[page].pictures), page


@pytest.fixture(scope="module")
def browser():
    driver = open_browser()
    yield Report(driver)
    driver.quit()


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_the_screen_load_nothing_and_do_not_complain(browser, size):
    width, height = SIZES[size]
    browser.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"},
    )
    wide = []
    for page in OPENED:
        browser.driver.get(page.as_uri())
        needed = browser.ask("document.scrollingElement.scrollWidth")
        if needed > width:
            wide.append((name_of(page), needed))
    assert wide == []
    assert [said for said in browser.complaints() if not CHAT.search(said)] == []
    assert browser.requests() == []
