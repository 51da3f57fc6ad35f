"""A browser, and pages opened in it, for the tests of every kind of page."""

import pytest
from tests.end_to_end.browser import Report, open_browser


@pytest.fixture(scope="module")
def page():
    for name in ("jinja2", "vl_convert"):
        pytest.importorskip(name)
    driver = open_browser()
    yield Report(driver)
    driver.quit()


@pytest.fixture
def opened(page, tmp_path):
    """Open the page of pairs, trainings or a comparison; it must not complain or load anything."""

    def open_page(result):
        page.open(result.report(tmp_path / "page.html"))
        return page

    yield open_page
    assert page.complaints() == []
    assert page.requests() == []
