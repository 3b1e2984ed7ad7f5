"""The page in a real browser, Chromium without a window: it draws, fits, and asks for nothing."""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from manetlab.report import write
from tests.reports import results

PHONE, DESK = 360, 1280
FAR_S = 60.0
"""How long a page may take at most, in s; it takes one or two."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        # No name leads anywhere, and what tries an address meets a closed door.
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-server=127.0.0.1:1",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = shutil.which("chromedriver") or "chromedriver"
    made = Chrome(options=options, service=ChromeService(driver))
    yield made
    made.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report that has every kind of figure, long names, and failed runs."""
    folder = tmp_path_factory.mktemp("report")
    long = "a very long error without any end " * 5 + "/a/path/without/any/place/to/break/it" * 4
    made = results(
        metrics=["tcp_throughput_bps", "cbr_delivery_fraction"],
        factors={
            "tcp": ["reno", "reno-f"],
            "movement.waypoint.speed_max": [5.0, 20.0],
            "load": [
                {"label": "low <b>&", "fields": {"traffic.random.cbr": 2}},
                {"label": "high", "fields": {"traffic.random.cbr": 10}},
            ],
        },
        failed=[(1, 3, long)],
    )
    return write(made, folder / "out")[0].as_uri()


@pytest.fixture(scope="module")
def bars_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report whose only factor has names."""
    folder = tmp_path_factory.mktemp("bars")
    return write(results(factors={"profile": ["rfc", "ns-2.35"]}), folder / "out")[0].as_uri()


def show(browser: Chrome, address: str, width: int = DESK, scheme: str = "light") -> None:
    """Opens a page in a window of that width and waits until it has drawn."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    browser.execute_script("localStorage.clear()")
    browser.get(address)
    wait_for(browser, "document.documentElement.dataset.ready !== undefined")


def wait_for(browser: Chrome, condition: str) -> None:
    end = time.monotonic() + FAR_S
    while not browser.execute_script(f"return {condition}"):
        assert time.monotonic() < end, f"never came: {condition}; {browser.get_log('browser')}"
        time.sleep(0.05)


def ground(browser: Chrome) -> str:
    return str(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_draws_its_marks_and_nothing_complains(
    browser: Chrome, page: str, bars_page: str, width: int, scheme: str
) -> None:
    for address in (page, bars_page):
        show(browser, address, width, scheme)
        drawn: list[dict[str, Any]] = browser.execute_script(
            """const figures = JSON.parse(document.getElementById("data").textContent).figures;
            return [...document.querySelectorAll(".plot")].map((plot) => ({
                name: plot.dataset.figure,
                marks: plot.querySelectorAll(".points path, .point path, path.js-line, path.box").length,
                wanted: figures[plot.dataset.figure].data.length,
                width: plot.querySelector("svg.main-svg")?.getBoundingClientRect().width ?? 0,
                shown: getComputedStyle(plot).display,
            }))"""
        )
        assert len(drawn) >= 4
        for figure in drawn:
            assert figure["marks"] >= figure["wanted"] >= 1, figure
            assert 0 < figure["width"] <= width, figure
            assert figure["shown"] == "block"
        assert browser.get_log("browser") == []
        asked = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
        assert [
            name for name in browser.execute_script(asked) if not name.startswith(("data:", "blob:"))
        ] == []


def test_nothing_is_wider_than_a_phone(browser: Chrome, page: str) -> None:
    show(browser, page, PHONE)
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert browser.execute_script("return document.documentElement.scrollWidth") == PHONE
    # What scrolls within itself may hold more; what holds it may not be wider than the window.
    wide = browser.execute_script(
        """return [...document.querySelectorAll("body *")].filter((each) =>
            !each.closest(".scroll > *, pre > *, .plot, .skip") && each.getBoundingClientRect().right > 360.5
        ).map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert wide == []
    scrolls = (
        "return [...document.querySelectorAll('.scroll')].some((each) => each.scrollWidth > each.clientWidth)"
    )
    assert browser.execute_script(scrolls)


def test_dark_and_light_differ_in_ground_and_figures(browser: Chrome, page: str) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        show(browser, page, DESK, scheme)
        line = "return getComputedStyle(document.querySelector('path.js-line')).stroke"
        seen[scheme] = (ground(browser), browser.execute_script(line))
    assert seen["light"] == ("rgb(255, 255, 255)", "rgb(0, 114, 178)")
    assert seen["dark"] == ("rgb(20, 24, 29)", "rgb(79, 179, 240)")


def test_the_switch_goes_round_and_is_remembered(browser: Chrome, page: str) -> None:
    show(browser, page, DESK, "light")
    button = browser.find_element("id", "theme")
    seen = [(button.text, ground(browser))]
    for _ in range(2):
        button.click()
        seen.append((button.text, ground(browser)))
    white, black = "rgb(255, 255, 255)", "rgb(20, 24, 29)"
    assert seen == [("Theme: system", white), ("Theme: light", white), ("Theme: dark", black)]
    browser.refresh()
    wait_for(browser, "document.documentElement.dataset.ready !== undefined")
    assert ground(browser) == black
    browser.find_element("id", "theme").click()
    assert ground(browser) == white


def test_without_scripts_the_figures_are_there_all_the_same(browser: Chrome, page: str) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(page)
        images = browser.find_elements("css selector", "img.static")
        assert len(images) >= 4
        assert all(image.is_displayed() and image.size["height"] > 100 for image in images)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_on_paper_it_is_light_and_its_figures_are_the_static_ones(
    browser: Chrome, page: str, tmp_path: Path
) -> None:
    show(browser, page, DESK, "dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    assert ground(browser) == "rgb(255, 255, 255)"
    for selector, shown in ((".plot", False), ("img.static", True), ("#theme", False), ("nav", False)):
        found = browser.find_elements("css selector", selector)
        assert found
        assert all(each.is_displayed() == shown for each in found), selector
    paper = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    file = tmp_path / "page.pdf"
    file.write_bytes(base64.b64decode(paper["data"]))
    assert file.read_bytes().startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
