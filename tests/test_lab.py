"""The laboratory: a page in which scenarios are written, run beside each other, and repeated."""

from __future__ import annotations

import base64
import json
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome

import manetlab
from manetlab import Scenario, run
from manetlab.stats import mean_interval, paired_interval
from tests.browsers import WITH_WEBGL, chromium, wait_for
from tests.conftest import Cli
from tests.engine import needs_engine
from tests.test_live import choose, hash_of, make_run, show, status, wait_until

BASE = """duration_s = 4.0
seed = 7
routing = "aodv"
movement = { chain = { nodes = 3, spacing_m = 200.0 } }

[tcp]
window = 8

[[traffic.flows]]
kind = "tcp"
src = 0
dst = 2
start_s = 0.5
"""
EDITS: list[tuple[str, str]] = [
    ('"aodv"', '"dsr"'),
    ("seed = 7", "seed = 18446744073709551615"),
    ("duration_s = 4.0", "duration_s = 6"),
    ("window = 8", 'window = 2\nsender = "vegas"'),
    ("window = 8", ""),
    ("nodes = 3, spacing_m = 200.0", "nodes = 4"),
    (
        "{ chain = { nodes = 3, spacing_m = 200.0 } }",
        "{ grid = { columns = 3, rows = 2, spacing_m = 1.5e2 } }",
    ),
    (
        "{ chain = { nodes = 3, spacing_m = 200.0 } }",
        "{ positions = [[0, 0], [123.456, 0.1], [240.0, -7]] }",
    ),
    ("[tcp]", "[mac]\nrts_threshold_bytes = 0\ndata_rate_bps = 11e6\n[tcp]"),
    (
        'kind = "tcp"\nsrc = 0',
        'kind = "cbr"\nbytes = 300\ninterval_s = 0.02\nsrc = 1\ndst = 0\nstart_s = 1\n[[traffic.flows]]\n'
        'kind = "tcp"\nsrc = 0',
    ),
]
"""What is replaced in the text, and by what."""
WRONG: list[tuple[str, str]] = [
    ("window = 8", "window = 0"),
    ("window = 8", "window = 1.5"),
    ("window = 8", 'window = "many"'),
    ("window = 8", "windw = 8"),
    ("duration_s = 4.0", "duration_s = 0"),
    ("duration_s = 4.0", "duration_s = 4.0\nduraton_s = 4"),
    ('"aodv"', '"aodw"'),
    ("[tcp]", "[mac]\nrts_threshold_bytes = -1\n[tcp]"),
    ("[tcp]", "[aodv]\nexpanding_ring = 1\n[tcp]"),
    ("start_s = 0.5", "start_s = 0.5\nwindoww = 4"),
    ("start_s = 0.5", "start_s = 0.5\nwindow = -4"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "base.toml").write_text(BASE)
    return manetlab.view(folder / "base.toml", live=True, lab=True).save(folder / "lab.html")


def write(browser: Chrome, text: str) -> None:
    browser.execute_script(
        "const area = document.getElementById('editor-text'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input', { bubbles: true }))",
        text,
    )


def run_text(browser: Chrome, text: str, state: str = "done") -> None:
    write(browser, text)
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "editor-run").click()
    wait_until(browser, state)


def refused(browser: Chrome, text: str) -> str:
    """What the page says of a text that it does not run."""
    write(browser, text)
    browser.find_element("id", "editor-run").click()
    return browser.find_element("id", "editor-error").text


def open_anew(browser: Chrome, page: Path, fragment: str = "") -> None:
    """Opens the page as somebody does who was never here."""
    show(browser, page)
    browser.execute_script("localStorage.clear()")
    if fragment:
        browser.get("about:blank")
        browser.get(f"{page.as_uri()}{fragment}")
    else:
        show(browser, page)


@needs_engine
def test_edited_scenarios_have_the_native_results(browser: Chrome, page: Path) -> None:
    open_anew(browser, page)
    assert browser.execute_script("return document.getElementById('editor-text').value") == BASE
    for before, after in EDITS:
        text = BASE.replace(before, after)
        assert text != BASE
        run_text(browser, text)
        wanted = run(Scenario.build(tomllib.loads(text)))
        assert hash_of(browser) == wanted.hash, after
        assert browser.find_element("id", "editor-error").text == ""


@needs_engine
def test_errors_are_the_command_lines(browser: Chrome, page: Path, cli: Cli, tmp_path: Path) -> None:
    open_anew(browser, page)
    for before, after in WRONG:
        text = BASE.replace(before, after)
        (tmp_path / "base.toml").write_text(text)
        wanted = cli("scenario", "check", "base.toml")
        assert wanted.returncode == 2
        assert refused(browser, text).split() == wanted.stderr.split(), after
    # What the page has no error of its own for, the engine says in its words.
    run_text(browser, BASE.replace("dst = 2", "dst = 9"), "failed")
    assert "9" in browser.find_element("id", "editor-error").text
    assert "not TOML" in refused(browser, "a = [1")
    for before, after in [
        ('"aodv"', '"aodv"\nprofile = "ns-2.35"'),
        ("[tcp]", "[radio]\ntx_power_w = 1\n[tcp]"),
    ]:
        assert "cannot be changed in a page" in refused(browser, BASE.replace(before, after))


@needs_engine
def test_nothing_is_lost_on_reload_and_a_link_brings_all_back(browser: Chrome, page: Path) -> None:
    open_anew(browser, page)
    half_written = BASE + "\n[mac]\nrts_thres"
    write(browser, half_written)
    show(browser, page)
    assert browser.execute_script("return document.getElementById('editor-text').value") == half_written
    text = BASE.replace("window = 8", "window = 3")
    run_text(browser, text)
    first = hash_of(browser)
    choose(browser, "routing", "dsdv")
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "live-beside").click()
    wait_until(browser, "done")
    second = hash_of(browser)
    wanted = Scenario.build(tomllib.loads(text))
    assert (first, second) == (run(wanted).hash, run(wanted.changed(routing="dsdv")).hash)
    browser.execute_script("manetlabReplay.seek(2.5e9)")
    browser.find_element("css selector", "[data-kind=arp]").click()
    link: str = browser.execute_script("return manetlabReplay.link()")
    open_anew(browser, page, "#" + link.partition("#")[2])
    wait_for(browser, "document.querySelectorAll('.stage').length === 3")
    wait_until(browser, "done")
    assert hash_of(browser) == second
    assert browser.execute_script("return manetlabReplay.time()") == 2.5e9
    assert not browser.find_element("css selector", "[data-kind=arp]").is_selected()
    assert browser.execute_script("return document.getElementById('editor-text').value") == text
    assert browser.execute_script("return manetlabReplay.link()") == link


@needs_engine
def test_up_to_four_runs_are_played_in_step(browser: Chrome, page: Path) -> None:
    open_anew(browser, page)
    hashes = []
    for routing in ("dsr", "dsdv", "olsr", "static"):
        choose(browser, "routing", routing)
        browser.execute_script("delete document.documentElement.dataset.live")
        beside = browser.find_element("id", "live-beside")
        (beside if beside.is_displayed() else browser.find_element("id", "live-run")).click()
        wait_until(browser, "done")
        hashes.append(hash_of(browser))
        browser.execute_script("manetlabReplay.seek(1.5e9)")
    assert len(browser.find_elements("css selector", ".stage")) == 4
    names = [each.text for each in browser.find_elements("css selector", ".results thead th.number")][:4]
    assert names == ["as made", "dsr", "dsdv", "static"]
    base = Scenario.build(tomllib.loads(BASE))
    assert hashes == [run(base.changed(routing=each)).hash for each in ("dsr", "dsdv", "olsr", "static")]
    make_run(browser)
    assert len(browser.find_elements("css selector", ".stage")) == 2


@needs_engine
def test_seeds_are_repeated_in_workers_with_pythons_intervals(browser: Chrome, page: Path) -> None:
    open_anew(browser, page)
    text = BASE.replace("nodes = 3", "nodes = 5").replace("dst = 2", "dst = 4")
    run_text(browser, text)
    browser.find_element("css selector", "#seeds summary").click()
    count = browser.find_element("id", "seeds-count")
    count.clear()
    count.send_keys("1")
    browser.find_element("id", "seeds-run").click()
    assert "2 to 200" in browser.find_element("id", "seeds-status").text
    count.clear()
    count.send_keys("4")
    browser.find_element("id", "seeds-run").click()
    wait_for(browser, "document.querySelector('#seeds-results [data-hashes]') !== null")
    found = json.loads(
        browser.find_element("css selector", "#seeds-results table").get_attribute("data-hashes") or ""
    )
    made: list[list[Any]] = [
        [run(Scenario.build({**tomllib.loads(each), "seed": seed})) for seed in range(7, 11)]
        for each in (BASE, text)
    ]
    assert found == [[each.hash for each in of] for of in made]
    assert "n = 4 seeds, 7 to 10" in browser.find_element("id", "seeds-status").text
    cells = browser.find_elements("css selector", "#seeds-results [data-key=tcp_throughput_bps] td")
    values = [[each.totals["tcp_throughput_bps"] / 1000 for each in of] for of in made]
    wanted = [mean_interval(values[0]), mean_interval(values[1]), paired_interval(values[1], values[0])]
    for cell, interval in zip(cells, wanted, strict=True):
        mean, half = (float(cell.get_attribute(f"data-{name}") or "") for name in ("mean", "half"))
        assert (mean - half, mean + half) == pytest.approx((interval.low, interval.high), rel=1e-6)


@needs_engine
def test_long_runs_stop_and_the_page_answers_meanwhile(browser: Chrome, page: Path) -> None:
    open_anew(browser, page)
    write(browser, BASE.replace("duration_s = 4.0", "duration_s = 1e6"))
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "editor-run").click()
    wait_until(browser, "running")
    browser.execute_script("manetlabReplay.seek(1e9)")
    assert browser.execute_script("return manetlabReplay.time()") == 1e9
    browser.find_element("id", "live-cancel").click()
    wait_until(browser, "cancelled")
    assert status(browser) == "The run was cancelled."


@needs_engine
def test_hostile_texts_and_links_run_no_script(browser: Chrome, page: Path) -> None:
    def packed(text: bytes) -> str:
        return quote(f"text={quote(base64.b64encode(zlib.compress(text, 9)).decode())}")

    evil = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>'
    hostile = [
        packed(f'routing = "{evil.replace(chr(34), chr(39))}"'.encode()),
        packed(b"a" * 200_000_000),
        quote("text=AAAA"),
        quote(f"routing={evil}"),
        quote("moved=1e99:1:1"),
        quote("seed=-1"),
    ]
    for each in hostile:
        open_anew(browser, page, f"#t=1&with1={each}")
        wait_for(
            browser,
            "/^The (link cannot be followed|run was not made)/.test("
            "document.getElementById('live-status')?.textContent)",
        )
        assert browser.execute_script("return window.evil") is None
    open_anew(browser, page)
    for text in (f"# {evil}\n{BASE}x = '''{evil}'''", "[" * 100_000, f"{evil}", "a" * 1_100_000):
        assert refused(browser, text).startswith("error: ")
    run_text(browser, BASE.replace("seed = 7", f"seed = 8 # {evil}"))
    assert browser.execute_script("return window.evil") is None


@needs_engine
def test_the_command_writes_a_page_with_its_text_open(browser: Chrome, cli: Cli, tmp_path: Path) -> None:
    made = cli("lab", "-o", "mine.html")
    assert made.returncode == 0, made.stderr
    open_anew(browser, tmp_path / "mine.html")
    text = browser.find_element("id", "editor-text")
    assert text.is_displayed()
    written = text.get_attribute("value") or ""
    assert "# Two nodes" in written
    more = written.replace("start_s = 1.0", "start_s = 2.0") + "\n[mac]\nrts_threshold_bytes = 0\n"
    run_text(browser, more)
    assert hash_of(browser) == run(Scenario.build(tomllib.loads(more))).hash
    assert browser.get_log("browser") == []
