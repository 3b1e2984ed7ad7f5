"""Pages that make runs: what they offer, and that Chromium gets the results that the simulator has here."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import manetlab
from manetlab import Scenario, run
from manetlab.replay import live, page
from tests.browsers import WITH_WEBGL, chromium, set_window, wait_for
from tests.conftest import Cli
from tests.engine import needs_engine

TCP = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 0.5}
CBR = {"kind": "cbr", "src": 2, "dst": 0, "start_s": 1.0, "bytes": 512, "interval_s": 0.1}
PLACES = [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [200.0, 150.0]]
LARGE_SEED = 2**64 - 1
STANDING = Scenario(
    duration_s=5.0, seed=LARGE_SEED, movement={"positions": PLACES}, traffic={"flows": [TCP, CBR]}
)
WALKING = Scenario(
    duration_s=5.0,
    seed=3,
    movement={"waypoint": {"nodes": 6, "width_m": 400.0, "height_m": 300.0}},
    traffic={"flows": [TCP, CBR]},
)


def merged(table: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """What the engine does with a patch."""
    made = dict(table)
    for key, value in patch.items():
        both = isinstance(made.get(key), dict) and isinstance(value, dict)
        made[key] = merged(made[key], value) if both else value
    return made


def patched(offered: dict[str, Any], *patches: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(offered["scenario"])
    for patch in patches:
        table = merged(table, json.loads(patch))
    return table


@pytest.mark.parametrize("profile", ["rfc", "ns-2.35"])
def test_every_routing_with_a_sender_is_the_scenario_with_both(profile: str) -> None:
    scenario = STANDING.changed(profile=profile, aodv={"hello_interval_s": 0.5})
    offered = live.choices(scenario.resolve())
    assert offered["routings"][0]["name"] == "aodv" and len(offered["routings"]) > 10
    assert offered["senders"][0]["name"] == "reno" and len(offered["senders"]) > 10
    for number, routing in enumerate(offered["routings"]):
        for other, sender in list(enumerate(offered["senders"]))[::5]:
            pair = offered["pairs"].get(f"{number} {other}")
            found = patched(offered, *([routing["patch"], sender["patch"]] if pair is None else [pair]))
            changed = scenario.changed(routing=routing["name"], tcp={"sender": sender["name"]})
            assert found == changed.resolve().core, (routing["name"], sender["name"])


def test_patches_that_touch_the_same_value_are_kept_as_pairs() -> None:
    routings = [{"name": "aodv", "patch": "{}"}, {"name": "dsr", "patch": '{"params":{"tcp":{"sack":true}}}'}]
    senders = [{"name": "reno", "patch": "{}"}, {"name": "sack", "patch": '{"params":{"tcp":{"sack":true}}}'}]
    found = live._pairs(STANDING.resolve(), routings, senders)
    assert list(found) == ["1 1"]
    both = STANDING.changed(routing="dsr", tcp={"sender": "sack"}).resolve().core
    assert merged(STANDING.resolve().core, json.loads(found["1 1"])) == both


def test_seeds_that_draw_movement_come_with_it_and_others_are_free() -> None:
    assert live.choices(STANDING.resolve())["draws"] == []
    offered = live.choices(WALKING.resolve())
    assert [each["name"] for each in offered["draws"]] == ["3", "4", "5", "6", "7"]
    for draw in offered["draws"]:
        other = WALKING.changed(seed=int(draw["name"])).resolve()
        assert patched(offered, draw["patch"]) == other.core
        assert draw["movement"] == other.movement.to_ns2()
    throttled = WALKING.changed(throttle={"mode": "oracle"}, traffic={"flows": [{**CBR, "bytes": 600}]})
    assert len(live.choices(throttled.resolve())["draws"]) == 1


def test_senders_are_offered_only_where_something_goes_over_tcp() -> None:
    assert live.choices(STANDING.changed(traffic={"flows": [CBR]}).resolve())["senders"] == []
    assert live.choices(STANDING.changed(tcp="vegas").resolve())["senders"][0]["name"] == "vegas"
    own = STANDING.changed(tcp={"window": 7}).resolve()
    assert live.choices(own)["senders"][0]["name"] == "reno"


def test_without_an_engine_the_page_replays_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(live, "engine", lambda: None)
    made = manetlab.view(STANDING, live=True)
    assert not made.is_live
    assert "worker-src" not in made.html and 'id="engine"' not in made.html
    made.save(tmp_path / "page.html")
    with chromium(*WITH_WEBGL) as browser:
        browser.get((tmp_path / "page.html").as_uri())
        wait_for(browser, "document.getElementById('no-engine') !== null")
        assert "cannot make others" in browser.find_element("id", "no-engine").text
        assert browser.find_elements("id", "live") == []
        assert browser.get_log("browser") == []


def test_what_cannot_be_run_again_is_refused(cli: Cli, tmp_path: Path) -> None:
    run(STANDING, record=tmp_path / "run.mlrec")
    refused = cli("view", "run.mlrec", "--live")
    assert refused.returncode == 2 and "a recording cannot be run" in refused.stderr
    assert not (tmp_path / "replay.html").exists()
    with pytest.raises(manetlab.InputError, match="one run at first"):
        manetlab.view(STANDING, STANDING, live=True)
    listens = STANDING.changed(routing="python:manetlab.examples.flooding.Flooding")
    with pytest.raises(manetlab.InputError, match="a page cannot run a protocol in Python"):
        manetlab.view(listens, live=True)


def test_only_pages_that_make_runs_may_start_workers() -> None:
    made = manetlab.view(STANDING)
    assert "script-src 'unsafe-inline'; style-src" in made.html
    assert page.LIVE_SCRIPTS not in made.html


@needs_engine
def test_the_page_holds_the_engine_and_the_scenario_and_names_no_address() -> None:
    made = manetlab.view(STANDING, live=True)
    found = dict(re.findall(r'id="(engine|live-data)">(.*?)</script>', made.html))
    assert zlib.decompress(base64.b64decode(found["engine"])) == live.engine()
    data = json.loads(zlib.decompress(base64.b64decode(found["live-data"])))
    assert f'"seed":{LARGE_SEED}' in data["scenario"]
    assert "script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:;" in made.html
    assert set(re.findall(r"https?://[\w./-]+", made.html)) <= {"http://www.w3.org/2000/svg"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return manetlab.view(STANDING, live=True).save(tmp_path_factory.mktemp("live") / "standing.html")


@pytest.fixture(scope="module")
def walking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return manetlab.view(WALKING, live=True).save(tmp_path_factory.mktemp("live") / "walking.html")


def show(browser: Chrome, path: Path, width: int = 1280, scheme: str = "light") -> None:
    set_window(browser, width, 800, scheme, is_mobile=width < 500)
    browser.get("about:blank")
    browser.get(path.as_uri())
    wait_until(browser, "ready")


def wait_until(browser: Chrome, state: str) -> None:
    wait_for(browser, f"document.documentElement.dataset.live === '{state}'")


def choose(browser: Chrome, what: str, value: str) -> None:
    Select(browser.find_element("id", f"live-{what}")).select_by_value(value)


def make_run(browser: Chrome, state: str = "done") -> None:
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "live-run").click()
    wait_until(browser, state)


def hash_of(browser: Chrome) -> str | None:
    """The result hash of the run that was made in the page."""
    return browser.find_element("id", "live-hash").get_attribute("data-hash")


def status(browser: Chrome) -> str:
    return browser.find_element("id", "live-status").text


@needs_engine
def test_the_unchanged_run_has_the_native_result_and_the_page_says_so(
    browser: Chrome, standing: Path
) -> None:
    show(browser, standing)
    verdict = browser.find_element("id", "live-check")
    assert verdict.text == "Same result as on the machine that made this page"
    assert (verdict.get_attribute("title") or "").count(run(STANDING).hash) == 2


@needs_engine
def test_a_browser_without_webassembly_replays_and_says_so(standing: Path) -> None:
    with chromium(*WITH_WEBGL) as other:
        without = {"source": "delete window.WebAssembly"}
        other.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", without)
        other.get(standing.as_uri())
        wait_for(other, "document.getElementById('no-engine') !== null")
        assert "cannot make runs" in other.find_element("id", "no-engine").text
        assert len(other.find_elements("css selector", ".stage")) == 1


@needs_engine
def test_another_result_is_told(browser: Chrome, tmp_path: Path) -> None:
    html = manetlab.view(STANDING, live=True).html.replace(run(STANDING).hash, "0" * 64)
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    show(browser, tmp_path / "page.html")
    assert "another result" in browser.find_element("id", "live-check").text


@needs_engine
def test_another_protocol_sender_and_seed_are_run_as_here(browser: Chrome, standing: Path) -> None:
    show(browser, standing)
    choose(browser, "routing", "dsr")
    choose(browser, "sender", "vegas")
    seed = browser.find_element("id", "live-seed")
    assert seed.get_attribute("value") == str(LARGE_SEED)
    seed.clear()
    seed.send_keys("9007199254740993")
    make_run(browser)
    wanted = run(STANDING.changed(routing="dsr", tcp={"sender": "vegas"}, seed=2**53 + 1))
    assert hash_of(browser) == wanted.hash
    # Both runs are shown, and the totals are those of the new one.
    names = [each.text for each in browser.find_elements("css selector", ".stage .name")]
    assert names == [f"as made: aodv, reno, seed {LARGE_SEED}", "dsr, vegas, seed 9007199254740993"]
    cells = browser.find_elements("css selector", "[data-key=tcp_throughput_bps] td")
    throughputs = [run(STANDING).totals, wanted.totals]
    assert [each.text for each in cells] == [
        f"{each['tcp_throughput_bps'] / 1e3:.1f}" for each in throughputs
    ]
    frames = [each["frames"] for each in browser.execute_script("return manetlabReplay.counts()")]
    assert len(frames) == 2 and frames[0] != frames[1]


@needs_engine
def test_another_draw_is_run_as_here(browser: Chrome, walking: Path) -> None:
    show(browser, walking)
    choose(browser, "seed", "5")
    choose(browser, "routing", "flooding")
    make_run(browser)
    assert hash_of(browser) == run(WALKING.changed(seed=5, routing="flooding")).hash


@needs_engine
def test_a_dragged_node_is_run_where_it_was_put(browser: Chrome, standing: Path) -> None:
    show(browser, standing)
    browser.find_element("id", "live-move").click()
    assert status(browser).startswith("Drag a node to another place.")
    browser.execute_script("manetlabReplay.seek(1e9)")
    x, y = browser.execute_script("return manetlabReplay.toPage(200, 0, 0)")
    chain = ActionChains(browser, duration=0)
    chain.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    chain.w3c_actions.pointer_action.pointer_down()
    chain.w3c_actions.pointer_action.move_to_location(round(x) + 30, round(y) - 40)
    chain.w3c_actions.pointer_action.pointer_up()
    browser.execute_script("delete document.documentElement.dataset.live")
    chain.perform()
    wait_until(browser, "done")
    [moved] = browser.find_elements("css selector", "#live-moved li span")
    found = re.fullmatch(r"Node 1: ([\d.]+) m east, ([\d.]+) m north", moved.text)
    assert found is not None, moved.text
    east_m, north_m = map(float, found.groups())
    assert east_m > 5 and north_m > 5
    places = [list(each) for each in PLACES]
    places[1] = [200.0 + east_m, north_m]
    assert hash_of(browser) == run(STANDING.changed(movement={"positions": places})).hash
    after = browser.execute_script("return manetlabReplay.state(1)[1].nodes[1]")
    assert after == pytest.approx(places[1])
    assert status(browser).startswith("Run made")


@needs_engine
def test_a_node_that_moves_is_displaced_with_its_whole_path(browser: Chrome, walking: Path) -> None:
    show(browser, walking)
    browser.find_element("css selector", "#live-form summary").click()
    for name, value in (("node", "4"), ("east", "−50"), ("north", "12.5")):
        field = browser.find_element("id", f"move-{name}")
        field.clear()
        field.send_keys(value)
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "move-north").send_keys(Keys.ENTER)
    wait_until(browser, "done")
    for t in (0.0, 2.5, 4.9):
        was, found = browser.execute_script("return manetlabReplay.state(arguments[0])", t)
        assert found["nodes"][4] == pytest.approx(
            [was["nodes"][4][0] - 50, was["nodes"][4][1] + 12.5], abs=1e-3
        )
        assert found["nodes"][3] == pytest.approx(was["nodes"][3], abs=1e-3)
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.find_element("id", "live-reset").click()
    wait_until(browser, "ready")
    assert len(browser.find_elements("css selector", ".stage")) == 1


@needs_engine
def test_what_is_wrong_is_said_in_words(browser: Chrome, standing: Path) -> None:
    show(browser, standing)
    browser.find_element("id", "live-run").click()
    assert status(browser).startswith("Nothing is changed")
    seed = browser.find_element("id", "live-seed")
    seed.clear()
    seed.send_keys("12x", Keys.ENTER)
    assert status(browser).startswith("A seed is a whole number")
    assert seed.get_attribute("aria-invalid") == "true"
    seed.clear()
    seed.send_keys("1")
    browser.find_element("css selector", "#live-form summary").click()
    browser.find_element("id", "move-node").send_keys("1")
    browser.find_element("id", "move-east").send_keys("00000000")
    browser.find_element("id", "move-east").clear()
    browser.find_element("id", "move-east").send_keys("1e9", Keys.ENTER)
    wait_until(browser, "failed")
    assert "wanted up to 1e7 m from 0" in status(browser)


@needs_engine
def test_a_run_can_be_cancelled_and_the_page_goes_on(browser: Chrome, tmp_path: Path) -> None:
    long = STANDING.changed(duration_s=3000.0, traffic={"flows": [{**CBR, "start_s": 2990.0}]})
    manetlab.view(long, live=True).save(tmp_path / "long.html")
    show(browser, tmp_path / "long.html")
    # Reports of neighbours every few milliseconds keep the engine busy for minutes.
    choose(browser, "routing", "aodv:aodv-uu-hello")
    browser.execute_script(
        "delete document.documentElement.dataset.live; document.getElementById('live-run').click();"
        "document.getElementById('live-cancel').click()"
    )
    wait_until(browser, "cancelled")
    assert status(browser) == "The run was cancelled."
    choose(browser, "routing", "static")
    make_run(browser)
    assert hash_of(browser) == run(long.changed(routing="static")).hash


@needs_engine
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_complains_of_nothing_and_asks_for_nothing(
    browser: Chrome, standing: Path, width: int, scheme: str
) -> None:
    show(browser, standing, width, scheme)
    choose(browser, "routing", "dsr")
    make_run(browser)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    image = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("L")
    assert len(image.getcolors(1 << 24) or []) > 20


@needs_engine
def test_it_can_be_used_with_the_keyboard_alone(browser: Chrome, standing: Path) -> None:
    show(browser, standing)
    browser.execute_script("document.getElementById('live-routing').focus()")
    browser.switch_to.active_element.send_keys("dsdv")
    time_before = browser.execute_script("return manetlabReplay.time()")
    for _ in range(3):
        browser.switch_to.active_element.send_keys(Keys.TAB)
    browser.execute_script("delete document.documentElement.dataset.live")
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.get_attribute("id") == "live-run"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    wait_until(browser, "done")
    assert browser.switch_to.active_element.get_attribute("id") == "live-run"
    # Letters that choose in a list are none of the replay's keys.
    assert browser.execute_script("return manetlabReplay.time()") == time_before
    chosen = browser.find_element("id", "live-routing").get_attribute("value")
    assert chosen == "dsdv"
    assert hash_of(browser) == run(STANDING.changed(routing="dsdv")).hash
