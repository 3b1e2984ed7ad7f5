"""Plots of replays as large pictures and as files, and the moments that matter, in Chromium."""

from __future__ import annotations

import csv
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

import manetlab
from manetlab import course
from manetlab.recording import Recording
from tests.browsers import FAR_S, WITH_WEBGL, chromium, wait_for
from tests.replay_pages import ask, show

PLOTS = ("segments-of-flow-0", "congestion-window-of-flow-0", "interface-queue-of-node-0")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plots")
    manetlab.run(course.exercise("outage").scenario, record=folder / "outage.mlrec")
    return manetlab.view(folder / "outage.mlrec").save(folder / "outage.html")


def saved(browser: Chrome, folder: Path, name: str) -> Path:
    """The file of that name, once the browser has written it."""
    end = time.monotonic() + FAR_S
    while not (folder / name).exists():
        assert time.monotonic() < end, (name, list(folder.iterdir()), browser.get_log("browser"))
        time.sleep(0.05)
    return folder / name


def into(browser: Chrome, folder: Path) -> None:
    folder.mkdir()
    where = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)


def press(browser: Chrome, label: str) -> None:
    browser.find_element("css selector", f"dialog.large button[aria-label='{label}']").click()


def test_each_plot_is_saved_as_picture_drawing_and_table(
    browser: Chrome, outage: Path, tmp_path: Path
) -> None:
    into(browser, tmp_path / "saved")
    show(browser, outage.as_uri())
    for number, name in enumerate(PLOTS):
        browser.find_elements("css selector", ".plot .larger")[number].click()
        for kind in ("PNG", "SVG", "CSV"):
            press(browser, f"Save as {kind}")
        picture = Image.open(saved(browser, tmp_path / "saved", f"{name}.png")).convert("RGB")
        assert picture.width > 2000 and len(picture.getcolors(1 << 24) or []) > 10
        drawing = ElementTree.parse(saved(browser, tmp_path / "saved", f"{name}.svg"))
        texts = {"".join(each.itertext()) for each in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert {"time (s)", "0", "80"} <= texts
        with saved(browser, tmp_path / "saved", f"{name}.csv").open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        assert head[:3] == ["time_s", "run", "curve"] and head[3] in texts and len(rows) > 100
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        wait_for(browser, "!document.querySelector('dialog.large')")
    with (tmp_path / "saved" / "congestion-window-of-flow-0.csv").open(encoding="utf-8", newline="") as file:
        found = [float(value) for _, _, curve, value in list(csv.reader(file))[1:] if curve == "window"]
    windows = Recording(outage.with_suffix(".mlrec")).events("window")
    assert found == pytest.approx(windows["cwnd"].to_pylist())


def test_values_are_read_at_any_time_with_pointer_or_keys(browser: Chrome, outage: Path) -> None:
    show(browser, outage.as_uri())
    browser.find_elements("css selector", ".plot .larger")[1].click()
    chart = browser.find_element("css selector", "dialog.large .chart")
    chart.send_keys(Keys.END)
    assert (chart.get_attribute("aria-valuetext") or "").startswith(
        "80.000 s · congestion window (segments): "
    )
    chart.send_keys(Keys.HOME)
    assert "window –" in (chart.get_attribute("aria-valuetext") or "")
    for _ in range(50):
        chart.send_keys(Keys.ARROW_RIGHT)
    assert chart.get_attribute("aria-valuenow") == pytest.approx("40")
    [go] = [
        each
        for each in browser.find_elements("css selector", "dialog.large button")
        if each.text == "Go to this time"
    ]
    go.click()
    assert ask(browser, "time") == pytest.approx(40e9, abs=1e3)


def test_the_picture_of_the_network_is_saved_as_it_is_seen(
    browser: Chrome, outage: Path, tmp_path: Path
) -> None:
    into(browser, tmp_path / "saved")
    show(browser, outage.as_uri())
    ask(browser, "seek", 5e9)
    browser.find_element("id", "picture").click()
    picture = Image.open(saved(browser, tmp_path / "saved", "network-5s.png")).convert("RGB")
    stage = browser.find_element("css selector", ".stage").rect
    assert picture.size == (round(stage["width"]), round(stage["height"]))
    box = browser.execute_script(
        "const b = document.querySelector('.stage').getBoundingClientRect(); return [b.left, b.top]"
    )
    x, y = ask(browser, "toPage", 0.0, 1000.0, 0)
    # The disc of node 0.
    assert sum(picture.getpixel((round(x - box[0]), round(y - box[1])))) < 200  # type: ignore[arg-type]


def test_next_trouble_goes_from_the_stall_to_losses_and_timeouts(browser: Chrome, outage: Path) -> None:
    show(browser, outage.as_uri())
    ask(browser, "seek", 0)
    told: list[tuple[float, str]] = []
    for _ in range(30):
        browser.find_element("tag name", "body").send_keys("m")
        what = browser.find_element("id", "mattered").text
        if what.startswith("No later"):
            break
        told.append((ask(browser, "time") / 1e9, what))
    assert [t for t, _ in told] == sorted(t for t, _ in told)
    result = manetlab.run(course.exercise("outage").scenario)
    assert sum("timeout" in what for _, what in told) == result.totals["tcp_timeouts"]
    [(left, stall)] = [(t, what) for t, what in told if "nothing arrives" in what and "for" in what][:1]
    assert 8 < left < 11 and float(stall.split()[-2]) > 35
    wait_for(browser, "document.getElementById('mattered').textContent !== ''")
    assert browser.get_log("browser") == []
