"""A real browser without a window, for tests of the report."""

import json
import os
import shutil
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 120  # seconds: they bound a hang, and nothing else
SCHEMES = ("file:", "data:", "blob:", "about:", "chrome:")


def open_browser(width=1280, height=900):
    """Start Chromium, or skip with the reason why not."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    found, driver = next(filter(None, map(shutil.which, NAMES)), None), shutil.which("chromedriver")
    if found is None or driver is None:
        pytest.skip("no browser: install Debian's chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found
    root = getattr(os, "geteuid", lambda: 1)() == 0
    for argument in (
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",  # which is small, or not there, in some containers
        "--hide-scrollbars",
        *["--no-sandbox"] * root,
    ):
        options.add_argument(argument)
    options.add_argument("--force-prefers-reduced-motion")
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


class Report:
    """A page in the browser, and what a reader does with it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        """Open the page, and wait until it can be used."""
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.resolve().as_uri())
        self.wait("document.documentElement.dataset.ready === 'true'")

    def ask(self, expression, *arguments):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def wait(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.ask(expression):
            assert time.monotonic() < end, f"waited in vain for {expression}"
            time.sleep(0.02)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        """Texts of the elements that are shown."""
        found = "[...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent !== null)"
        return self.ask(f"{found}.map(e => e.textContent.trim())", selector)

    def complaints(self):
        """Whatever the page wrote to the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked a network for."""
        entries = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        asked = [e["params"] for e in entries if e["method"] == "Network.requestWillBeSent"]
        return [p["request"]["url"] for p in asked if not p["request"]["url"].startswith(SCHEMES)]

    def settle(self):
        """Wait until what is in view has been told so: a later observer hears of it later."""
        self.driver.execute_async_script(
            "const done = arguments[0]; new IntersectionObserver(() => done()).observe(document.body)"
        )

    def show(self, selector):
        """Scroll to an element, and wait until its chart is drawn."""
        self.driver.execute_script(
            "document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant'})", selector
        )
        self.wait(f"document.querySelector({json.dumps(selector + ' svg')})")
