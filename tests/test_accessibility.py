"""No page breaks a rule of axe-core (WCAG A and AA, and best practices), in any theme, wide or narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

import manetlab
from manetlab import Campaign, Scenario, course
from manetlab.report import write
from tests.browsers import WITH_WEBGL, chromium, set_window, wait_for
from tests.conftest import ROOT
from tests.engine import needs_engine
from tests.test_lab import refused, run_text
from tests.test_live import choose

AXE = ROOT / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is installed by `make viewer-tests`")
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]

FLOW = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.5}
CHAIN = Scenario(duration_s=3.0, movement={"chain": {"nodes": 3}}, traffic={"flows": [FLOW]}, routing="aodv")


def replay(folder: Path) -> Path:
    return manetlab.view(CHAIN, CHAIN.changed(routing="dsr")).save(folder / "replay.html")


def live(folder: Path) -> Path:
    return manetlab.view(CHAIN, live=True).save(folder / "live.html")


def lab(folder: Path) -> Path:
    return manetlab.view(CHAIN, live=True, lab=True, title="Laboratory").save(folder / "lab.html")


def exercise(folder: Path) -> Path:
    course.write("rts", folder / "rts.html")
    return folder / "rts.html"


def index(folder: Path) -> Path:
    course.write_index(folder / "index.html")
    return folder / "index.html"


def report(folder: Path) -> Path:
    campaign = Campaign(base=CHAIN.to_dict(), factors={"routing": ["aodv", "dsr"]}, replications=3)
    results = campaign.run(folder / "small.db", jobs=1)
    return write(results, folder / "report")[0]


PAGES: list[Callable[[Path], Path]] = [replay, live, lab, exercise, index, report]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


def violations(browser: Chrome) -> list[str]:
    """What axe finds in the page that is open: the rule, and where."""
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations))"
    )
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}" for each in found for node in each["nodes"]
    ]


@needs_axe
@needs_engine
@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.__name__)
def test_axe_finds_nothing(browser: Chrome, page: Callable[[Path], Path], tmp_path: Path) -> None:
    made = page(tmp_path)
    told = {}
    for width, scheme in LOOKS:
        set_window(browser, width, 800, scheme, is_mobile=width < 500)
        browser.get("about:blank")
        browser.get(made.as_uri())
        if page in (live, lab, exercise):
            wait_for(browser, "document.documentElement.dataset.live === 'ready'")
        elif page is replay:
            wait_for(browser, "document.documentElement.dataset.ready !== undefined")
        browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
        if found := violations(browser):
            told[width, scheme] = found
    assert told == {}


@needs_axe
@needs_engine
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_axe_finds_nothing_while_a_laboratory_is_used(
    browser: Chrome, tmp_path: Path, width: int, scheme: str
) -> None:
    set_window(browser, width, 800, scheme, is_mobile=width < 500)
    browser.get(lab(tmp_path).as_uri())
    wait_for(browser, "document.documentElement.dataset.live === 'ready'")
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    text = browser.find_element("id", "editor-text").get_attribute("value") or ""
    assert "cannot be changed" in refused(browser, f'profile = "ns-2.35"\n{text}')
    assert violations(browser) == []
    for routing in ("dsdv", "olsr"):
        run_text(browser, text.replace("aodv", routing))
    for routing in ("dsr", "static"):
        choose(browser, "routing", routing)
        browser.execute_script("delete document.documentElement.dataset.live")
        browser.execute_script("document.getElementById('live-beside').click()")
        wait_for(browser, "document.documentElement.dataset.live === 'done'")
    browser.execute_script(
        "document.getElementById('seeds-count').value = 2; document.getElementById('seeds-run').click()"
    )
    wait_for(browser, "document.querySelector('#seeds-results [data-hashes]') !== null")
    assert len(browser.find_elements("css selector", ".stage")) == 4
    assert violations(browser) == []
    browser.execute_script("document.querySelector('.plot.low .larger').click()")
    assert violations(browser) == []


@needs_axe
def test_axe_finds_what_is_wrong(browser: Chrome) -> None:
    browser.get("data:text/html,<title>x</title><img src='data:,'><p style='color:%23aaa'>pale")
    found = violations(browser)
    assert any(each.startswith("image-alt") for each in found)
    assert any(each.startswith("color-contrast") for each in found)
