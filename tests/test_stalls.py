"""What held flows up: the parts are a flow's life, they name known causes, and pages say the same.

``python -m tests.test_stalls 1000`` tries so many random runs.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import manetlab
from manetlab import Scenario, course, recording
from manetlab.errors import InputError
from manetlab.recording import Recording, RecordTo
from manetlab.stalls import CAUSES
from tests.browsers import WITH_WEBGL, chromium
from tests.recordings import SHAPES, Recorded, Row
from tests.replay_pages import ask, show

RUNS = 40
MS = 1_000_000
S = 1000 * MS
ROUTINGS = (
    "aodv",
    "dsr",
    "dsdv",
    "olsr",
    "batman",
    "flooding",
    "static",
    "tsr",
    "babel",
    "dymo",
    "tora",
    "zrp",
    "ssa",
    "abr",
    "cedar",
)
SENDERS = ("reno", "newreno", "sack", "elfn", "tcp-bus", "vegas", "reno-f")


def recorded(folder: Path, **fields: Any) -> Recording:
    path = folder / "run.mlrec"
    manetlab.run(Scenario.build(fields), record=path)
    return recording.open(path)


def drawn(number: int) -> dict[str, Any]:
    """A small random scenario."""
    draw = random.Random(number)
    nodes = draw.randint(2, 8)
    flows: list[dict[str, Any]] = []
    for _ in range(draw.randint(1, 3)):
        src, dst = draw.sample(range(nodes), 2)
        flow = {"kind": "tcp", "src": src, "dst": dst, "start_s": draw.uniform(0.0, 4.0)}
        if draw.random() < 0.5:
            flow |= {"kind": "cbr", "bytes": 512, "interval_s": draw.choice([0.01, 0.1, 1.0])}
            if draw.random() < 0.5:
                flow["stop_s"] = flow["start_s"] + draw.uniform(0.5, 4.0)
        flows.append(flow)
    return {
        "duration_s": draw.uniform(4.1, 10.0),
        "seed": number,
        "routing": draw.choice(ROUTINGS),
        "tcp": draw.choice(SENDERS),
        "movement": {
            "waypoint": {
                "nodes": nodes,
                "width_m": draw.uniform(100.0, 900.0),
                "height_m": 300.0,
                "speed_max": draw.choice([1.0, 20.0]),
            }
        },
        "traffic": {"flows": flows},
    }


def check_parts(opened: Recording) -> None:
    """The parts of each flow follow each other from its begin to its end, and are those of the shares."""
    end_ns = round(opened.head["duration_s"] * 1e9)
    steps = opened.events("flow").to_pylist()
    for flow in (each["id"] for each in opened.flows):
        rows = opened.stalls(flow).to_pylist()
        mine = [row for row in steps if row["flow"] == flow]
        if not rows:
            # It never began, or its only packet was dropped at once.
            assert len({row["time_ns"] for row in mine}) <= 1 and (not mine or mine[-1]["step"] == "closed")
            continue
        assert rows[0]["from_ns"] == mine[0]["time_ns"] < rows[-1]["until_ns"]
        assert rows[-1]["until_ns"] >= (mine[-1]["time_ns"] if mine[-1]["step"] == "closed" else end_ns)
        for before, after in itertools.pairwise(rows):
            assert before["until_ns"] == after["from_ns"], (flow, before, after)
            assert [before[key] for key in ("cause", "node", "reason")] != [
                after[key] for key in ("cause", "node", "reason")
            ]
        assert all(row["from_ns"] < row["until_ns"] and row["cause"] in CAUSES for row in rows)
        shares = opened.stall_shares(flow)
        assert sum(shares["share"].to_pylist()) == pytest.approx(1.0, abs=1e-12)
        life_ns = rows[-1]["until_ns"] - rows[0]["from_ns"]
        assert sum(round(each * 1e9) for each in shares["time_s"].to_pylist()) == life_ns


def test_the_parts_of_random_runs_are_each_flows_life(tmp_path: Path) -> None:
    seen = set()
    for number in range(RUNS):
        opened = recorded(tmp_path, **drawn(number))
        check_parts(opened)
        for flow in opened.flows:
            seen |= set(opened.stalls(flow["id"])["cause"].to_pylist())
    assert seen >= set(CAUSES) - {"kept"}


def longest(opened: Recording, flow: int) -> list[Row]:
    rows: list[Row] = opened.stall_shares(flow).to_pylist()
    return rows


def test_a_flow_whose_ends_are_apart_has_no_path(tmp_path: Path) -> None:
    flows = [{"kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0, "bytes": 512, "interval_s": 0.5}]
    places = [(0.0, 0.0), (200.0, 0.0), (900.0, 0.0)]
    opened = recorded(
        tmp_path, movement={"positions": places}, traffic={"flows": flows}, duration_s=60.0, routing="aodv"
    )
    cause = longest(opened, 0)[0]
    assert (cause["cause"], cause["node"]) == ("no-path", 0) and cause["share"] > 0.99


def test_a_flow_behind_anothers_packets_waits_in_that_queue(tmp_path: Path) -> None:
    flows = [
        {"kind": "cbr", "src": 1, "dst": 2, "start_s": 1.0, "bytes": 512, "interval_s": 0.5},
        {"kind": "cbr", "src": 1, "dst": 0, "start_s": 1.0, "bytes": 1400, "interval_s": 0.002},
    ]
    opened = recorded(
        tmp_path,
        movement={"chain": {"nodes": 3}},
        traffic={"flows": flows},
        duration_s=20.0,
        routing="static",
    )
    held = [each for each in longest(opened, 0) if each["cause"] not in ("idle", "lost")]
    assert (held[0]["cause"], held[0]["node"]) == ("queue", 1)
    assert held[0]["share"] > 10 * next(each["share"] for each in held if each["cause"] == "on-air")
    lost = [each for each in longest(opened, 0) if each["cause"] == "lost"]
    assert [(each["node"], each["reason"]) for each in lost] == [(1, "queue-full")]


def test_reno_waits_for_its_timer_long_after_the_path_is_back(tmp_path: Path) -> None:
    path = tmp_path / "outage.mlrec"
    manetlab.run(Scenario.load(course.exercise("outage").scenario), record=path)
    rows = [row for row in recording.open(path).stalls(0).to_pylist() if row["until_s"] - row["from_s"] > 1.9]
    causes = [(row["cause"], row["node"]) for row in rows]
    assert causes == [("no-path", 0), ("timeout", 0)]
    assert rows[0]["until_s"] == pytest.approx(47.4)
    assert rows[1]["reason"] == "no-route" and rows[1]["until_s"] - rows[1]["from_s"] > 20.0


def test_a_hidden_senders_packet_is_between_tries_and_lost_at_the_limit(tmp_path: Path) -> None:
    flows = [
        {"kind": "cbr", "src": src, "dst": 1, "start_s": 1.0, "bytes": 1400, "interval_s": interval_s}
        for src, interval_s in ((0, 0.2), (2, 0.006))
    ]
    places = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)]
    opened = recorded(
        tmp_path,
        movement={"positions": places},
        traffic={"flows": flows},
        duration_s=20.0,
        routing="static",
        radio={"carrier_sense_range_m": 250.0, "capture_ratio": 1e6},
        mac={"rts_threshold_bytes": 2347},
    )
    told = {(each["cause"], each["node"], each["reason"]): each["share"] for each in longest(opened, 0)}
    assert told["back-off", 0, None] > told["queue", 0, None]
    assert told["lost", 0, "link-failure"] > 0.2


def hand_made() -> Recorded:
    """Two hops: 0 finds a route, two tries to 1, which has none for a second; then 1 loses the packet."""
    made = Recorded(nodes=3, duration_s=4.0)
    made.flows = [{"id": 0, "kind": "cbr", "src": 0, "dst": 2, "start_s": 1.0}]
    for node in range(3):
        made.point(node, 0, 200.0 * node, 0.0)
    packet = {"what": "cbr", "src": 0, "dst": 2, "bytes": 512, "cause": "", "flow": 0}
    data = ("data", "data", 540, 3 * MS)
    on = {"packet": packet, "uid": 7, "ttl": 64}
    made.event(1 * S, 0, "flow", flow=0, step="opened")
    made.event(1 * S, 0, "made", **on, number=0)
    made.event(1 * S + 10 * MS, 0, "sent", **on, next_hop=1)
    made.frame(1 * S + 15 * MS, 0, 1, data, 7, [(1, "collided")])
    made.frame(1 * S + 20 * MS, 0, 1, data, 7, [(1, "received")])
    made.frame(
        1 * S + 23 * MS + 10_000, 1, 0, ("ack", "data", 14, SHAPES["ack"] * 1000), 7, [(0, "received")]
    )
    made.event(2 * S + 23 * MS, 1, "sent", **on, next_hop=2)
    made.event(2 * S + 30 * MS, 1, "dropped", **on, reason="queue-full")
    made.event(3 * S, 0, "flow", flow=0, step="closed")
    return made


def test_each_part_begins_and_ends_at_its_event(tmp_path: Path) -> None:
    for block_events in (65_536, 2):
        made = hand_made()
        made.block_events = block_events
        path = tmp_path / "hand.mlrec"
        path.write_bytes(made.to_bytes())
        rows = recording.open(path).stalls(0).to_pylist()
        acked = 1023 * MS + 10_000 + SHAPES["ack"] * 1000
        expected = [
            (1000 * MS, "searching", 0, None),
            (1010 * MS, "queue", 0, None),
            (1015 * MS, "on-air", None, None),
            (1018 * MS, "back-off", 0, None),
            (1020 * MS, "on-air", None, None),
            (acked, "searching", 1, None),
            (2023 * MS, "queue", 1, None),
            (2030 * MS, "lost", 1, "queue-full"),
        ]
        assert [(row["from_ns"], row["cause"], row["node"], row["reason"]) for row in rows] == expected
        assert rows[-1]["until_ns"] == 3 * S


def test_what_a_recording_leaves_out_is_asked_for(tmp_path: Path) -> None:
    flows = [{"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 99, "interval_s": 0.5}] * 2
    scenario = Scenario.build(
        {"movement": {"chain": {"nodes": 2}}, "traffic": {"flows": flows}, "duration_s": 2.0}
    )
    path = tmp_path / "part.mlrec"
    for chosen, what in [
        ({"nodes": (0,)}, "nodes"),
        ({"from_s": 1.0}, "from_s"),
        ({"flows": (1,)}, "leaves the flow out"),
        ({"kinds": ("made", "sent")}, "reception"),
    ]:
        manetlab.run(scenario, record=RecordTo(path, **chosen))
        with pytest.raises(InputError, match=what):
            recording.open(path).stalls(0)
    with pytest.raises(InputError, match="unknown flow"):
        recording.open(path).stalls(2)


@pytest.mark.parametrize(("flows", "wanted"), [(0, "nothing: there is none"), (1, "0"), (2, "0 to 1")])
def test_an_unknown_flow_leads_to_those_that_there_are(tmp_path: Path, flows: int, wanted: str) -> None:
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 100, "interval_s": 0.5}
    chain = {"duration_s": 2.0, "movement": {"chain": {"nodes": 2}}, "traffic": {"flows": [flow] * flows}}
    path = tmp_path / "run.mlrec"
    manetlab.run(manetlab.Scenario.build(chain), record=path)
    with pytest.raises(InputError) as raised:
        recording.open(path).stalls(7)
    assert raised.value.wanted == wanted


def test_pages_say_what_the_tables_say(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    pairs = [[tmp_path / f"{number}.mlrec" for number in pair] for pair in ((3, 4), (8, 9), (11, 12))]
    with chromium(*WITH_WEBGL) as browser:
        for pair in pairs:
            for path in pair:
                fields = {**drawn(int(path.stem)), "duration_s": 8.0}
                manetlab.run(Scenario.build(fields), record=path)
            manetlab.view(*pair).save(page)
            show(browser, page.as_uri())
            for run, path in enumerate(pair):
                opened = recording.open(path)
                for flow in (each["id"] for each in opened.flows):
                    rows = opened.stalls(flow).to_pylist()
                    wanted = [(row["from_ns"], row["until_ns"], row["cause"], row["node"]) for row in rows]
                    found = ask(browser, "stalls", flow, run)
                    keys = ("from", "until", "cause", "node")
                    assert [tuple(each.get(key) for key in keys) for each in found] == wanted, (path, flow)
                    assert [each.get("reason") for each in found] == [row["reason"] for row in rows]
        assert browser.get_log("browser") == []
        titles = [each.text for each in browser.find_elements("css selector", ".plot .label b")]
        assert any(title.startswith("What held flow") for title in titles)
        assert browser.find_elements("css selector", "#stalls tbody tr")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for each in range(int(sys.argv[1])):
            check_parts(recorded(Path(made), **drawn(each)))
    print(f"{sys.argv[1]} runs: all parts add up")
