"""A page that holds Python: its text may be any scenario, and says what the command line says."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

import manetlab
from manetlab import InputError, Scenario, run
from manetlab.replay import python_in_page
from tests.browsers import WITH_WEBGL, chromium, wait_for
from tests.conftest import Cli
from tests.engine import needs_engine
from tests.test_lab import open_anew, run_text, write
from tests.test_live import hash_of, status, wait_until

BASE = """duration_s = 6.0
seed = 7
routing = "aodv"

[movement.waypoint]
nodes = 8
width_m = 500.0
height_m = 300.0
speed_max = 5.0

[traffic.random]
cbr = 2
tcp = 1
"""
CHAIN = """duration_s = 6.0
movement.chain = { nodes = 4, spacing_m = 150.0 }
[[traffic.flows]]
kind = "cbr"
src = 0
dst = 3
start_s = 1.0
bytes = 512
interval_s = 0.05
"""
ANY = {
    "random movement": BASE.replace("nodes = 8", "nodes = 12"),
    "random traffic": BASE.replace("cbr = 2\ntcp = 1", "cbr = 3"),
    "seed": BASE.replace("seed = 7", "seed = 18446744073709551615"),
    "radio in metres": BASE + "[radio]\nrange_m = 180.0\ncarrier_sense_range_m = 300.0\n",
    "profile": 'profile = "ns-2.35"\n' + BASE,
    "throttle": CHAIN + '[throttle]\nmode = "oracle"\n',
    "walls": CHAIN + "[[walls]]\npoints = [[225, -50], [225, 50]]\ndb = 6.0\n",
    "failures": CHAIN + '[[failures]]\nnode = 1\nat_s = 2.0\nfor_s = 1.0\nkind = "crash"\n[[failures]]\n'
    "up_mean_s = 5.0\ndown_mean_s = 1.0\nnodes = [2]\n",
    "energy": CHAIN + "[energy]\nbattery_j = 4.0\n",
    "areas": CHAIN.partition("movement")[0]
    + "movement.areas = { sources = 2, sinks = 2, forwarders = 3, hops = 3 }\n[[traffic.flows]]\n"
    + CHAIN.partition("[[traffic.flows]]\n")[2],
    "Web sessions": BASE.replace("[traffic.random]\ncbr = 2\ntcp = 1", "[traffic.web]\nclients = 2"),
    "paths that hold": BASE.replace("cbr = 2\ntcp = 1", "tcp = 1\nhops = 2\nhops_share = 0.5"),
    "radio of a device": BASE + '[radio]\npath_loss = "log-distance"\nshadowing_db = 4.0\n',
}
WRONG = {
    "no equals sign": "duration_s 6\n",
    "no end of a string": 'routing = "aodv\n',
    "a key twice": "seed = 1\nseed = 2\n",
    "no value": "seed =\n",
    "a table and a value": "seed = 1\n[seed]\n",
    "a key that does not exist": BASE + "[radios_]\nx = 1\n",
    "a profile that does not exist": 'profile = "ns-2.36"\n' + BASE,
    "too small a network": BASE.replace("nodes = 8", "nodes = 1"),
    "speeds that cross": BASE.replace("speed_max = 5.0", "speed_max = 5.0\nspeed_min = 6.0"),
    "ranges that cross": BASE + "[radio]\nrange_m = -1.0\n",
    "a flow to nowhere": CHAIN.replace("dst = 3", "dst = 9"),
    "a failure of nobody": CHAIN + "[[failures]]\nnode = 9\nat_s = 2.0\n",
    "a wall without ends": CHAIN + "[[walls]]\ndb = 6.0\n",
    "a battery of a wrong kind": CHAIN + '[energy]\nbattery_j = "full"\n',
    "throttling that is none": CHAIN + '[throttle]\nmode = "orakle"\n',
    "a warm-up without end": "warmup_s = 6.0\n" + BASE,
    "a file that is not there": 'movement = "walk.tcl"\nduration_s = 6.0\ntraffic.flows = []\n',
    "a campaign": "[factors]\nrouting = ['aodv', 'dsr']\n",
    "brackets without end": "a = " + "[" * 20_000,
}

STARTS_S = 300.0
"""How long Python may take to begin at most, in s; it takes two or three."""

pytestmark = needs_engine


def test_the_pages_half_of_the_core_has_what_resolving_asks() -> None:
    # Without a browser, so that it is told at once.
    says = "import sys, manetlab.resolving, manetlab.replay.scenario_text; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", says], capture_output=True, text=True, check=True).stdout
    in_page = python_in_page.IN_PAGE / "core.py"
    there = {
        getattr(each, "name", None) or getattr(getattr(each, "target", None), "id", None)
        for each in ast.parse(in_page.read_text(encoding="utf-8")).body
    }
    asked = {
        node.attr
        for name in told.split()
        if (path := python_in_page.PACKAGE / f"{name.removeprefix('manetlab.')}.py").is_file()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_core"
    }
    # A type, and where the extension is.
    assert asked - there <= {"Plane", "__file__"}
    assert {"sections", "sha256", "normalize"} <= asked


@pytest.fixture(scope="module", autouse=True)
def python_for_pages() -> None:
    """Downloads Pyodide where it has not been yet."""
    try:
        python_in_page.archive()
    except InputError as error:
        pytest.skip(f"Pyodide is not here: {error}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "base.toml").write_text(BASE)
    return manetlab.view(folder / "base.toml", live=True, lab=True, python=True).save(folder / "lab.html")


def press_run(browser: Chrome, text: str, state: str) -> None:
    """Runs a text, and waits for Python to begin."""
    write(browser, text)
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "editor-run").click()
    wait_long(browser, state)


def wait_long(browser: Chrome, state: str) -> None:
    end = time.monotonic() + STARTS_S
    while browser.execute_script("return document.documentElement.dataset.live") != state:
        assert time.monotonic() < end, status(browser)
        time.sleep(0.05)


def open_page(browser: Chrome, page: Path, lab: bool = True) -> None:
    """Opens the page anew, and waits until Python has answered once."""
    open_anew(browser, page)
    wait_until(browser, "ready")
    if not lab:
        browser.find_element("css selector", "#editor summary").click()
    press_run(browser, "", "refused")


def said_of(browser: Chrome, text: str) -> str:
    """What the page says of a text that it refuses."""
    run_text(browser, text, "refused")
    found: str = browser.execute_script("return document.getElementById('editor-error').textContent")
    return found


def test_any_scenario_has_the_native_result(browser: Chrome, page: Path) -> None:
    open_page(browser, page)
    for kind, text in ANY.items():
        run_text(browser, text)
        assert hash_of(browser) == run(Scenario.build(tomllib.loads(text))).hash, kind
        assert browser.find_element("id", "editor-error").text == ""
    assert browser.get_log("browser") == []


def test_errors_are_the_command_lines_word_for_word(
    browser: Chrome, page: Path, cli: Cli, tmp_path: Path
) -> None:
    open_page(browser, page)
    for kind, text in WRONG.items():
        (tmp_path / "base.toml").write_text(text)
        wanted = cli("scenario", "check", "base.toml")
        assert wanted.returncode == 2, kind
        assert said_of(browser, text) == wanted.stderr.rstrip("\n"), kind
    assert "a page cannot run a protocol in Python" in said_of(
        browser, BASE.replace('"aodv"', '"python:antigravity.Routing"')
    )


def test_choices_beside_the_text_are_resolved_with_it(browser: Chrome, page: Path) -> None:
    open_page(browser, page)
    text = ANY["radio in metres"]
    run_text(browser, text)
    seed = browser.find_element("id", "live-seed")
    seed.clear()
    # No draw of this seed is in the page.
    seed.send_keys("4711")
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "live-run").click()
    wait_until(browser, "done")
    wanted = Scenario.build(tomllib.loads(text)).changed(seed=4711)
    assert hash_of(browser) == run(wanted).hash
    link: str = browser.execute_script("return manetlabReplay.link()")
    open_anew(browser, page, "#" + link.partition("#")[2])
    wait_long(browser, "done")
    wait_for(browser, "document.querySelectorAll('.stage').length === 2")
    wait_until(browser, "done")
    assert hash_of(browser) == run(wanted).hash
    browser.find_element("css selector", "#seeds summary").click()
    count = browser.find_element("id", "seeds-count")
    count.clear()
    count.send_keys("6")
    browser.find_element("id", "seeds-run").click()
    wait_for(browser, "document.querySelector('#seeds-results [data-hashes]') !== null")
    table = browser.find_element("css selector", "#seeds-results table")
    found = json.loads(table.get_attribute("data-hashes") or "")
    # Six seeds: more than the page holds draws of.
    made = [Scenario.build(tomllib.loads(each)) for each in (BASE, text)]
    assert found == [[run(of.changed(seed=seed)).hash for seed in range(7, 13)] for of in made]


def test_a_text_that_takes_long_can_be_stopped(browser: Chrome, page: Path) -> None:
    open_page(browser, page)
    write(browser, BASE.replace("cbr = 2\ntcp = 1", "tcp = 1\nhops = 6\nhops_draws = 100000000"))
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "editor-run").click()
    wait_until(browser, "running")
    browser.execute_script("manetlabReplay.seek(1e9)")
    assert browser.execute_script("return manetlabReplay.time()") == 1e9
    browser.find_element("id", "live-cancel").click()
    wait_until(browser, "cancelled")
    assert status(browser) == "The run was cancelled."
    press_run(browser, ANY["random movement"], "done")
    assert hash_of(browser) == run(Scenario.build(tomllib.loads(ANY["random movement"]))).hash


def test_files_that_a_scenario_reads_are_in_the_page(browser: Chrome, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    walk = "".join(
        f"$node_({node}) set {axis}_ {place}\n"
        for node, x in enumerate((0.0, 150.0, 300.0))
        for axis, place in zip("XYZ", (x, 0.0, 0.0), strict=True)
    )
    (tmp_path / "walk.tcl").write_text(walk + '$ns_ at 1.0 "$node_(1) setdest 150.0 40.0 5.0"\n')
    text = CHAIN.replace("movement.chain = { nodes = 4, spacing_m = 150.0 }", 'movement = "../walk.tcl"')
    text = text.replace("dst = 3", "dst = 2")
    (tmp_path / "sub" / "mine.toml").write_text(text)
    made = manetlab.view(tmp_path / "sub" / "mine.toml", live=True, python=True)
    open_page(browser, made.save(tmp_path / "mine.html"), lab=False)
    changed = 'profile = "ns-2.35"\n' + text
    run_text(browser, changed)
    (tmp_path / "sub" / "changed.toml").write_text(changed)
    assert hash_of(browser) == run(Scenario.load(tmp_path / "sub" / "changed.toml")).hash


def test_pyodide_is_downloaded_once_and_only_if_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = python_in_page.archive()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    there = tmp_path / "there.tgz"
    monkeypatch.setattr(python_in_page, "URL", there.as_uri())
    with pytest.raises(InputError, match="cannot be downloaded") as missing:
        python_in_page.archive()
    assert "npm pack pyodide@" in missing.value.hint
    there.write_bytes(right[:-1])
    with pytest.raises(InputError, match="this is not Pyodide"):
        python_in_page.archive()
    assert not python_in_page.cached().exists()
    there.write_bytes(right)
    assert python_in_page.archive() == right == python_in_page.cached().read_bytes()
    there.unlink()
    assert python_in_page.archive() == right
