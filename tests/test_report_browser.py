"""The page in a real browser, Chromium without a window: it draws, fits, and asks for nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

from manetlab.report import write
from tests.browsers import WITHOUT_WEBGL, chromium, set_window, wait_for
from tests.reports import results

PHONE, DESK = 360, 1280
SCREENS = ((360, 800), (768, 1024), (1280, 800), (1920, 1080))
"""Width and height of a phone, a tablet, a laptop and a desk, in CSS pixels."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITHOUT_WEBGL) as made:
        yield made


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


@pytest.fixture(scope="module")
def best_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report that answers which of four protocols is best, by three measures."""

    def measured(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
        place = ["aodv", "dsdv", "dsr", "adv"].index(levels["routing"])
        noise = replication * (3 + 2 * place) % 11 / 11
        return {
            "tcp_throughput_bps": 0.0,
            "cbr_sent": 1000.0,
            "cbr_delivery_fraction": 0.9 - 0.1 * place + 0.01 * noise,
            "cbr_latency_mean_s": 0.04 - 0.005 * place + 0.001 * noise,
            "frame_bytes_per_delivered_byte": 3.0 + place + 0.1 * noise,
        }

    made = results(
        measured,
        question="Which routing protocol should our team use?",
        factors={"routing": ["aodv", "dsdv", "dsr", "adv"], "movement.waypoint.speed_max": [1.0, 20.0]},
        metrics=["cbr_delivery_fraction", "cbr_latency_mean_s", "frame_bytes_per_delivered_byte"],
    )
    return write(made, tmp_path_factory.mktemp("best") / "out")[0].as_uri()


def show(browser: Chrome, address: str, width: int = DESK, scheme: str = "light", height: int = 800) -> None:
    """Opens a page in a window of that width and waits until it has drawn."""
    set_window(browser, width, height, scheme, is_mobile=width == PHONE)
    browser.get(address)
    browser.execute_script("localStorage.clear()")
    browser.get(address)
    wait_for(browser, "document.documentElement.dataset.ready !== undefined")


def unfold(browser: Chrome) -> None:
    """Unfolds everything, and lets what was folded draw."""
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
    wait_for(browser, "[...document.querySelectorAll('.plot')].every((plot) => plot.childElementCount > 0)")


def ground(browser: Chrome) -> str:
    return str(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_draws_its_marks_and_nothing_complains(
    browser: Chrome, page: str, bars_page: str, width: int, scheme: str
) -> None:
    for address in (page, bars_page):
        show(browser, address, width, scheme)
        unfold(browser)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_verdict_is_on_the_first_screen_and_comparisons_need_no_scrolling(
    browser: Chrome, page: str, best_page: str, width: int, height: int, scheme: str
) -> None:
    for address in (page, best_page):
        show(browser, address, width, scheme, height)
        lead = browser.execute_script(
            "const at = document.querySelector('.carries .plot').getBoundingClientRect();"
            "return [at.top, at.bottom, document.documentElement.scrollHeight]"
        )
        # Without unfolding, the figure that carries the answer begins on the first screen, and most of it is
        # there.
        assert 0 < lead[0] < lead[1]
        assert height - lead[0] >= 0.5 * (lead[1] - lead[0])
        unfold(browser)
        found = browser.execute_script(
            """const verdict = document.querySelector("#answer .first").getBoundingClientRect();
            const warnings = [...document.querySelectorAll("#answer .warned li")]
                .map((each) => each.getBoundingClientRect())
                .filter((at) => at.height > 0 && at.bottom <= verdict.top);
            const tables = [...document.querySelectorAll("table.by-row")];
            const cells = tables.flatMap((table) => [...table.querySelectorAll("tbody th, tbody td")]);
            return {
                verdict: [verdict.top, verdict.bottom],
                warnings: warnings.map((at) => [at.left, at.right]),
                wanted: document.querySelectorAll("#answer .tested li").length,
                page: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                tables: tables.length,
                sideways: tables.map((table) => table.parentElement).filter((place) =>
                    place.scrollWidth > place.clientWidth).map((place) => place.textContent),
                outside: cells.filter((cell) => {
                    const at = cell.getBoundingClientRect();
                    const most = document.documentElement.clientWidth + 0.5;
                    return at.left < 0 || at.right > most || at.height < 8
                        || cell.scrollWidth > cell.clientWidth + 1;
                }).map((cell) => cell.outerHTML),
            }"""
        )
        assert found["tables"] >= 2
        assert 0 < found["verdict"][0] < found["verdict"][1] <= height
        # What decides whether the question was tested at all is read before the verdict.
        assert len(found["warnings"]) == min(found["wanted"], 3)
        assert all(0 <= left < right <= width for left, right in found["warnings"])
        assert (found["page"], found["sideways"], found["outside"]) == (0, [], [])
        if address == best_page:
            assert found["wanted"] >= 2


def test_no_error_bar_covers_another(browser: Chrome, page: str, best_page: str) -> None:
    for address in (page, best_page):
        show(browser, address)
        unfold(browser)
        places = browser.execute_script(
            """return [...document.querySelectorAll(".plot")].map((plot) => plot.data.filter((trace) =>
                trace.type === "scatter" && (trace.error_x || trace.error_y)).flatMap((trace) =>
                [...(trace.error_x ? trace.y : trace.x)]))"""
        )
        assert any(len(each) > 2 for each in places)
        assert all(len(set(each)) == len(each) for each in places)


def test_nothing_is_wider_than_a_phone(browser: Chrome, page: str) -> None:
    show(browser, page, PHONE)
    unfold(browser)
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


def test_on_a_phone_plots_keep_room_beside_their_legends_and_numbers_their_digits(
    browser: Chrome, best_page: str
) -> None:
    show(browser, best_page, PHONE)
    unfold(browser)
    heights = browser.execute_script(
        """return [...document.querySelectorAll(".plot")]
            .flatMap((plot) => [...plot.querySelectorAll("rect.nsewdrag")])
            .map((area) => area.getBoundingClientRect().height)"""
    )
    assert min(heights) > 110, heights
    broken = browser.execute_script(
        """return [...document.querySelectorAll(".by-row td.number")].filter((cell) => {
            const number = document.createRange();
            number.selectNodeContents(cell.firstChild);
            return new Set([...number.getClientRects()].map((line) => Math.round(line.top))).size > 1;
        }).map((cell) => cell.textContent)"""
    )
    assert broken == []


def test_what_is_for_specialists_is_folded_and_links_unfold_it(browser: Chrome, best_page: str) -> None:
    show(browser, best_page)
    shown = "return document.documentElement.scrollHeight"
    short = browser.execute_script(shown)
    unfold(browser)
    assert browser.execute_script(shown) > 2 * short
    show(browser, best_page)
    opened = "return [...document.querySelectorAll('details[open]')].map((fold) => fold.parentElement.id)"
    assert browser.execute_script(opened) == []
    for link, section in (("nav a[href='#set-up']", "set-up"), (".carries figcaption a", "results")):
        browser.execute_script("document.querySelector(arguments[0]).click()", link)
        wait_for(browser, f"document.querySelector('#{section} details').open")
    wanted = "return document.querySelector('#metric-cbr-delivery-fraction').getBoundingClientRect().height"
    assert browser.execute_script(wanted) > 100


def test_no_table_is_cut_off_on_a_laptop(browser: Chrome, page: str, best_page: str) -> None:
    for address in (page, best_page):
        show(browser, address, DESK)
        unfold(browser)
        wide = (
            "return [...document.querySelectorAll('.scroll')].filter((each) => "
            "each.scrollWidth > each.clientWidth).map((each) => each.querySelector('table').id)"
        )
        assert browser.execute_script(wide) == []


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
        # What scrolls smoothly is not where a click goes.
        calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": calm})
        browser.get(page)
        for fold in browser.find_elements("css selector", "main > section > details.section > summary"):
            fold.click()
        images = browser.find_elements("css selector", "img.static")
        assert len(images) >= 4
        assert all(image.is_displayed() and image.size["height"] > 100 for image in images)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_on_paper_it_is_light_and_its_figures_are_the_static_ones(
    browser: Chrome, page: str, tmp_path: Path
) -> None:
    show(browser, page, DESK, "dark")
    unfold(browser)
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
