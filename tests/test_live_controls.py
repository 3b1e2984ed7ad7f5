"""Controls of live pages: what they offer is what the scenario makes of it, here and in Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import manetlab
from manetlab import Scenario, run
from manetlab.replay import live
from tests.browsers import WITH_WEBGL, chromium
from tests.conftest import Cli
from tests.engine import needs_engine
from tests.test_live import CBR, STANDING, TCP, WALKING, hash_of, make_run, patched, show, status

CHAIN = """
duration_s = 5.0
movement.chain = { nodes = 3 }
traffic.flows = [
  { kind = "tcp", src = 0, dst = 2, start_s = 0.5 },
  { kind = "cbr", src = 1, dst = 0, start_s = 1.0, bytes = 512, interval_s = 0.1 },
]
"""
LIVE = """
[live]
controls = [
  "mac.rts_threshold_bytes", "tcp.window", "traffic.flows.1.start_s", "traffic.flows.*.interval_s", "routing",
  { field = "movement.chain.nodes", values = [3, 4, 6] },
  { label = "Range", values = [
    { label = "near", fields = { "radio.range_m" = 250.0 } },
    { label = "far", fields = { "radio.range_m" = 450.0, "radio.carrier_sense_range_m" = 900.0 } },
  ] },
]
"""


def chain(controls: Any = None, **changes: Any) -> Scenario:
    data: dict[str, Any] = {
        "duration_s": 5.0,
        "movement": {"chain": {"nodes": 3}},
        "traffic": {"flows": [TCP, CBR]},
        **changes,
    }
    return Scenario.build(data if controls is None else {**data, "live": {"controls": controls}})


def offered(scenario: Scenario) -> dict[str, Any]:
    return live.choices(scenario.resolve())


def named(found: dict[str, Any], name: str) -> dict[str, Any]:
    [control] = [each for each in (*found["controls"], *found["listed"]) if each["name"] == name]
    return control


def test_a_scenario_has_controls_by_its_kind() -> None:
    def names(scenario: Scenario) -> list[str]:
        found = offered(scenario)
        return [each["name"] for each in (*found["listed"], *found["controls"])]

    always = ["mac.rts_threshold_bytes", "mac.data_rate_bps"]
    starts = ["traffic.flows.0.start_s", "traffic.flows.1.start_s", "duration_s"]
    assert names(STANDING) == [*always, "tcp.window", *starts]
    assert names(chain()) == ["movement.chain.nodes", *always, "tcp.window", *starts]
    only_cbr = STANDING.changed(traffic={"flows": [CBR]})
    of_cbr = ["traffic.flows.*.interval_s", "traffic.flows.*.bytes", "traffic.flows.0.start_s"]
    assert names(only_cbr) == [*always, *of_cbr, "duration_s"]
    # A walk is drawn for the run's length: no single value could change it.
    assert names(WALKING) == [*always, "tcp.window", *starts[:2]]


@pytest.mark.parametrize(
    ("name", "value"), [("mac.rts_threshold_bytes", 0), ("tcp.window", 3), ("duration_s", 7.0)]
)
def test_a_value_changes_what_the_scenario_with_it_has(name: str, value: Any) -> None:
    found = offered(chain())
    patch: Any = value
    for key in reversed(named(found, name)["path"]):
        patch = {key: patch}
    section, _, field = name.partition(".")
    changed = chain().changed(**({section: {field: value}} if field else {name: value}))
    assert patched(found, json.dumps(patch)) == changed.resolve().core


def test_every_choice_of_a_list_is_the_scenario_with_it() -> None:
    found = offered(chain(["movement.chain.nodes", {"field": "radio.range_m", "values": [250.0, 450.0]}]))
    nodes, ranges = found["listed"]
    # The rounded thresholds of a range in m are not those of the profile.
    assert nodes["options"][nodes["own"]] == "3" and ranges["options"] == ["as made", "250.0", "450.0"]
    assert len(found["variants"]) == len(nodes["options"]) * 3 - 1 and not found["refused"]
    for key, variant in found["variants"].items():
        many, far = (int(each) for each in key.split())
        count = int(nodes["options"][many])
        # The first flow ends at the last node, however many there are.
        flows = [{**TCP, "dst": count - 1}, {**CBR, "src": count - 1}]
        wanted = chain(
            movement={"chain": {"nodes": count}},
            traffic={"flows": flows},
            radio=[{}, {"range_m": 250.0}, {"range_m": 450.0}][far],
        ).resolve()
        assert patched(found, variant["patch"]) == wanted.core
        assert found["movements"][variant["movement"]] == wanted.movement.to_ns2()


def test_each_draw_has_each_choice() -> None:
    walking = Scenario.build({**WALKING.to_dict(), "live": {"controls": ["movement.waypoint.nodes"]}})
    found = offered(walking)
    assert found["listed"][0]["options"] == ["3", "6", "12"]
    for draw in found["draws"]:
        wanted = walking.changed(
            seed=int(draw["name"]), movement={"waypoint": {**WALKING.movement.waypoint, "nodes": 12}}
        ).resolve()
        variant = found["variants"][f"{draw['name']} 2"]
        assert patched(found, variant["patch"]) == wanted.core
        assert found["movements"][variant["movement"]] == wanted.movement.to_ns2()


def test_a_choice_that_cannot_be_had_is_refused_in_the_words_of_the_command_line() -> None:
    levels = [{"label": "late", "fields": {"traffic.flows.1.start_s": 3.0}}]
    found = offered(
        chain([{"field": "duration_s", "values": [5.0, 2.0]}, {"label": "Start", "values": levels}])
    )
    [words] = found["refused"].values()
    with pytest.raises(manetlab.InputError) as caught:
        chain(duration_s=2.0, traffic={"flows": [TCP, {**CBR, "start_s": 3.0}]}).resolve()
    assert words == str(caught.value)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        (["tcp.windw"], "no such field of a scenario"),
        ([{"label": "x", "values": [{"label": "y", "fields": {"tcp.windw": 1}}]}], "no such field"),
        (["profile"], "the profile cannot be a control"),
        (["radio.range_m"], "this field cannot be a control by itself"),
        ([{"field": "tcp.window", "values": [0]}], "tcp.window cannot have this value"),
        ([{"values": [1]}], "a field; or a label, and levels as values"),
        ([{"field": "tcp.window", "value": 1}], "no such key"),
        ("tcp.window", "a list"),
        (
            [{"field": f"tcp.{name}", "values": list(range(1, 31))} for name in ("window", "segment_bytes")],
            "too many",
        ),
    ],
)
def test_controls_that_cannot_be_are_refused(controls: Any, words: str) -> None:
    with pytest.raises(manetlab.InputError) as caught:
        offered(chain(controls))
    assert words in str(caught.value)


def test_no_run_depends_on_the_live_page(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "with.toml").write_text(CHAIN + LIVE)
    (tmp_path / "without.toml").write_text(CHAIN)
    with_page, without = (Scenario.load(tmp_path / f"{each}.toml") for each in ("with", "without"))
    assert with_page.resolve().hash == without.resolve().hash
    assert with_page.to_dict() == without.to_dict()
    assert with_page.changed(seed=2).live == with_page.live is not None
    assert cli("run", "with.toml").returncode == 0
    misspelt = cli("run", "with.toml", "--set", "tcp.windw=1")
    assert misspelt.returncode == 2
    (tmp_path / "with.toml").write_text(CHAIN + "live.control = []\n")
    wrong = cli("run", "with.toml")
    assert wrong.returncode == 2 and 'did you mean "controls"' in wrong.stderr


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls")
    (folder / "chain.toml").write_text(CHAIN + LIVE)
    return manetlab.view(folder / "chain.toml", live=True).save(folder / "chain.html")


def fill(browser: Chrome, name: str, value: str) -> None:
    field = browser.find_element("id", f"control-{name}")
    field.clear()
    field.send_keys(value)


@needs_engine
def test_controls_are_run_as_here(browser: Chrome, page: Path) -> None:
    scenario = Scenario.load(page.with_suffix(".toml"))
    show(browser, page)
    assert len(browser.find_elements("css selector", "#live-controls label")) == 6
    Select(browser.find_element("id", "control-movement-chain-nodes")).select_by_value("6")
    fill(browser, "mac-rts_threshold_bytes", "0")
    fill(browser, "traffic-flows-1-start_s", "0.25")
    fill(browser, "traffic-flows-interval_s", "0.05")
    make_run(browser)
    flows = [
        {"kind": "tcp", "src": 0, "dst": 5, "start_s": 0.5},
        {"kind": "cbr", "src": 1, "dst": 0, "start_s": 0.25, "bytes": 512, "interval_s": 0.05},
    ]
    changes = {"movement": {"chain": {"nodes": 6}}, "traffic": {"flows": flows}}
    wanted = run(scenario.changed(**changes, mac={"rts_threshold_bytes": 0}))
    assert hash_of(browser) == wanted.hash
    names = [each.text for each in browser.find_elements("css selector", ".stage .name")]
    assert names[1].startswith("Nodes in the chain 6, RTS threshold 0 byte, Start of flow 1 0.25 s")
    assert browser.get_log("browser") == []
    # With another sender the window is that sender's, or the one that was typed.
    browser.execute_script("document.getElementById('live-reset').click()")
    fill(browser, "tcp-window", "3")
    Select(browser.find_element("id", "live-sender")).select_by_value("vegas")
    make_run(browser)
    assert hash_of(browser) == run(scenario.changed(tcp={"sender": "vegas", "window": 3})).hash


@needs_engine
def test_a_value_that_is_not_allowed_is_told_in_the_words_of_the_command_line(
    browser: Chrome, page: Path
) -> None:
    show(browser, page)
    fill(browser, "tcp-window", "0")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    with pytest.raises(manetlab.InputError) as caught:
        Scenario.load(page.with_suffix(".toml"), assigned={"tcp.window": 0}).resolve()
    error = caught.value
    assert status(browser) == f"{error.what}: found 0, wanted {error.wanted}. {error.hint}"
    field = browser.find_element("id", "control-tcp-window")
    assert field.get_attribute("aria-invalid") == "true"
    assert browser.switch_to.active_element == field
    # What several values together make impossible is told by the engine.
    fill(browser, "tcp-window", "20")
    fill(browser, "traffic-flows-1-start_s", "9")
    make_run(browser, "failed")
    assert "flows[1].start_s: found 9, wanted from 0 to less than the duration, 5 s" in status(browser)
