"""Whole runs in a browser: at chosen instants the page shows what the recording's other reader says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

import manetlab
from manetlab import recording
from manetlab.scenario import Scenario
from tests.browsers import WITH_WEBGL, chromium
from tests.recordings import BROADCAST, Recorded
from tests.replay_pages import LIGHT, ask, has_colour, on_page, picture, show, written

Line = dict[str, Any]
NONE = -2
WALK = {
    "movement": {"waypoint": {"nodes": 20, "width_m": 1200.0, "height_m": 300.0, "speed_max": 20.0}},
    "traffic": {"random": {"tcp": 2, "cbr": 3, "tcp_start_s": 2.0}},
    "duration_s": 30.0,
}
STEPS = ("made", "sent", "delivered", "marked", "kept", "dropped")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with chromium(*WITH_WEBGL) as made:
        yield made


def ns(line: Line) -> int:
    return round(line["t"] * 1e9)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Scenario, list[Line]]:
    """A run's page, its scenario, and its events as JSON lines."""
    folder = tmp_path_factory.mktemp("run")
    scenario = Scenario.build(WALK)
    manetlab.run(scenario, record=folder / "run.mlrec")
    recording.open(folder / "run.mlrec").export_json_lines(folder / "run.jsonl")
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    page = manetlab.view(folder / "run.mlrec").save(folder / "run.html")
    return page.as_uri(), scenario, lines[1:]


def last_before(lines: list[Line], event: str, time_ns: int) -> dict[tuple[int, Any], Line]:
    """Of each node, and destination where there is one, the last event of a kind at or before a time."""
    found = {}
    for line in lines:
        if line["event"] == event and ns(line) <= time_ns:
            found[line["node"], line.get("dst")] = line
    return found


def test_what_is_shown_is_what_was_recorded(browser: Chrome, run: tuple[str, Scenario, list[Line]]) -> None:
    page, scenario, lines = run
    show(browser, page)
    counts = ask(browser, "counts")[0]
    kinds = Counter(line["event"] for line in lines)
    assert counts["steps"] == {step: kinds[step] for step in STEPS}
    for table, kind in (("frames", "frame"), ("routes", "route"), ("queues", "queue"), ("windows", "window")):
        assert counts[table] == kinds[kind] > 20
    resolved = scenario.resolve()
    frames = [line for line in lines if line["event"] == "frame"]
    destinations = {flow["dst"] for flow in resolved.flows}
    # In the middle of frames, all over the run.
    on_air = 0
    for frame in frames[100 :: len(frames) // 12]:
        time_ns = ns(frame) + round(frame["airtime_s"] * 5e8)
        state = ask(browser, "state", time_ns / 1e9)[0]
        for shown, known in zip(state["nodes"], resolved.movement.positions(time_ns / 1e9), strict=True):
            assert shown == pytest.approx(known, abs=1e-6)
        queues = last_before(lines, "queue", time_ns)
        assert state["queues"] == [queues.get((node, None), {}).get("packets", 0) for node in range(20)]
        wanted = [each for each in frames if ns(each) <= time_ns < ns(each) + round(each["airtime_s"] * 1e9)]
        on_air += len(wanted)
        assert [as_shown(each) for each in wanted] == [
            (each["start_ns"], each["node"], each["to"], each["kind"], receivers(each["receivers"]))
            for each in state["frames"]
        ]
        routes = last_before(lines, "route", time_ns)
        for dst in destinations:
            hops = [routes.get((node, dst), {}).get("next_hop", NONE) for node in range(20)]
            assert ask(browser, "nextHops", dst, time_ns / 1e9) == hops
        # Drawn as well: the filter lets everything pass, and at the very instant only what is so is drawn.
        ask(browser, "seek", time_ns)
        assert ask(browser, "drawn")["frames"] == len(wanted)
        image = picture(browser)
        colour = LIGHT["routing" if frame["for"] == "routing" else "data"]
        if frame["kind"] == "data" and frame["for"] in ("routing", "data"):
            assert has_colour(image, *on_page(browser, frame["node"], time_ns / 1e9), colour)
    assert on_air >= 12


def as_shown(frame: Line) -> tuple[Any, ...]:
    to = BROADCAST if frame["to"] == "broadcast" else frame["to"]
    return ns(frame), frame["node"], to, frame["kind"], receivers(frame.get("receivers", []))


def receivers(of: Any) -> list[tuple[int, str]]:
    pairs = of.items() if isinstance(of, dict) else ((each["node"], each["outcome"]) for each in of)
    return sorted((int(node), outcome) for node, outcome in pairs)


def test_journeys_are_whole(browser: Chrome, run: tuple[str, Scenario, list[Line]]) -> None:
    page, _, lines = run
    show(browser, page)
    ends: dict[str, list[int]] = {"delivered": [], "dropped": []}
    for line in lines:
        if line["event"] in ends:
            ends[line["event"]].append(line["uid"])
    for uids in ends.values():
        for uid in uids[:: max(1, len(uids) // 5)]:
            wanted = [line for line in lines if line.get("uid") == uid]
            journey = ask(browser, "journey", uid)
            assert [(each["t_ns"], each["node"]) for each in journey] == [
                (ns(line), line["node"]) for line in wanted
            ]
            for each, line in zip(journey, wanted, strict=True):
                words = {"made": "makes", "sent": "sends", "delivered": "is delivered", "dropped": "drops"}
                pattern = words.get(line["event"], "frame|RTS|CTS|ACK" if line["event"] == "frame" else "")
                assert re.search(pattern, each["text"]), (line, each)


def test_ten_thousand_nodes_are_drawn_where_they_are(browser: Chrome, tmp_path: Path) -> None:
    side, apart = 100, 100.0
    made = Recorded(side * side, 10.0)
    made.flows = [{"id": 0, "kind": "cbr", "src": 0, "dst": 9_999, "start_s": 1.0}]
    for node in range(side * side):
        made.point(node, 0, apart * (node % side), apart * (node // side))
    made.frame(10**9, 5_050, BROADCAST, ("data", "routing", 64, 10**6), 1, [(5_051, "received")])
    show(browser, f"{written(tmp_path / 'large.html', made)}#t=1.0005")
    assert ask(browser, "drawn") | {"drops": []} == {
        "renderer": "WebGL2",
        # All nodes, the ring around the destination, and around the one receiver.
        "marks": 10_002,
        "lines": 0,
        # Of more than 2,000 nodes none are drawn.
        "links": 0,
        "rings": 2,
        "drops": [],
        "frames": 1,
    }
    image = picture(browser)
    assert has_colour(image, *on_page(browser, 5_050, 1.0005), LIGHT["routing"], reach=1)
    for node in range(7, 10_000, 1_111):
        assert has_colour(image, *on_page(browser, node, 1.0005), (90, 104, 117), reach=1), node
