"""What may make a run an artefact of its set-up is said before it is run, and only with reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manetlab import Scenario, _core, run
from manetlab.cautions import (
    CONVERGES,
    absent_on_paths,
    cautions,
    degrees,
    dsdv_converges_s,
    hidden_phases,
    kept_replies,
    lockstep,
    notes,
    speeds,
    standing,
    unconverged,
    unreported,
    unreserved,
    without_wire,
)
from tests.conftest import Cli

CELL = [[0, 0], [200, 0], [100, 0]]
HIDDEN = [[0, 0], [200, 0], [400, 0]]
EXACT = {"network": {"start_jitter_ms": 0.0}}


def cbr(src: int, dst: int, start_s: float, **fields: Any) -> dict[str, Any]:
    flow = {"kind": "cbr", "src": src, "dst": dst, "start_s": start_s, "bytes": 200, "interval_s": 0.25}
    return {**flow, **fields}


def resolved(flows: list[dict[str, Any]], positions: list[Any] | None = None, **fields: Any) -> Any:
    movement = {"positions": CELL if positions is None else positions}
    data = {"duration_s": 60.0, "routing": "static", "movement": movement, "traffic": {"flows": flows}}
    return Scenario.build({**data, **fields}).resolve()


@pytest.mark.parametrize(
    "flows",
    [
        [cbr(0, 2, 1.0), cbr(1, 2, 1.0)],
        [cbr(0, 2, 1.0), cbr(1, 2, 2.0)],
        [cbr(0, 2, 1.0), cbr(1, 2, 31.0, interval_s=0.5)],
        [
            {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0},
            {"kind": "tcp", "src": 1, "dst": 2, "start_s": 1.0},
        ],
        [
            {
                "kind": "trace",
                "src": src,
                "dst": 2,
                "start_s": 1.0,
                "packets": [[k / 7, 80] for k in range(9)],
            }
            for src in (0, 1)
        ],
    ],
)
def test_flows_in_lockstep_are_named(flows: list[dict[str, Any]]) -> None:
    told = lockstep(resolved(flows, **EXACT))
    assert told is not None
    assert told.startswith("flows 0 and 1 send at the same nanosecond again and again")
    assert lockstep(resolved(flows)) is None, "starts are jittered"
    assert lockstep(resolved(flows, profile="ns-2.35")) is None, "stations draw a backoff first"
    assert lockstep(resolved(flows, profile="cmu-1998")) is not None
    csma = resolved(flows, profile="ns-2.35", mac={"access_protocol": "csma"})
    assert lockstep(csma) is not None, "without a backoff"


@pytest.mark.parametrize(
    ("flows", "positions"),
    [
        ([cbr(0, 2, 1.0), cbr(1, 2, 1.1)], CELL),
        ([cbr(0, 2, 1.0, random=True), cbr(1, 2, 1.0, random=True)], CELL),
        ([cbr(0, 1, 1.0), cbr(0, 2, 1.0)], CELL),
        ([cbr(0, 1, 1.0), cbr(2, 3, 1.0)], [[0, 0], [100, 0], [5000, 0], [5100, 0]]),
        ([cbr(0, 2, 1.0, max_packets=1), cbr(1, 2, 30.0)], CELL),
    ],
)
def test_other_flows_are_in_no_lockstep(flows: list[dict[str, Any]], positions: list[Any]) -> None:
    assert lockstep(resolved(flows, positions, **EXACT)) is None


def test_hidden_sources_with_equal_intervals_are_named() -> None:
    fields = {"radio": {"carrier_sense_range_m": 250.0}}
    flows = [cbr(0, 1, 1.0, bytes=1000, interval_s=0.01), cbr(2, 1, 1.0, bytes=1000, interval_s=0.01)]
    told = hidden_phases(resolved(flows, HIDDEN, **fields))
    assert told is not None
    assert "random = true" in told
    assert hidden_phases(resolved(flows, HIDDEN)) is None, "they sense each other"
    with_rts = {**fields, "mac": {"rts_threshold_bytes": 0}}
    assert hidden_phases(resolved(flows, HIDDEN, **with_rts)) is None
    with_fama = {**fields, "mac": {"access_protocol": "fama"}}
    assert hidden_phases(resolved(flows, HIDDEN, **with_fama)) is None
    without = {**fields, "mac": {"access_protocol": "csma", "rts_threshold_bytes": 0}}
    assert hidden_phases(resolved(flows, HIDDEN, **without)) is not None, "CSMA has no RTS"
    varied = [{**flow, "random": True} for flow in flows]
    assert hidden_phases(resolved(varied, HIDDEN, **fields)) is None
    assert hidden_phases(resolved([cbr(0, 1, 1.0), cbr(2, 1, 1.0)], HIDDEN, **fields)) is None, "few overlap"


def test_dsdv_is_measured_when_it_has_converged() -> None:
    chain = {"movement": {"chain": {"nodes": 5}}, "routing": "dsdv", "duration_s": 400.0}

    def told(start_s: float, **fields: Any) -> str | None:
        return unconverged(resolved([cbr(0, 4, start_s)], **{**chain, **fields}))

    early = told(1.0)
    assert early is not None
    assert "110 s until it knows routes of 4 hops, and what is measured begins at 1 s" in early
    assert told(120.0) is None
    assert told(1.0, warmup_s=120.0) is None
    assert told(1.0, routing="aodv") is None
    assert unconverged(resolved([cbr(0, 1, 1.0)], **chain)) is None, "neighbours know each other at once"
    triggers = {"trigger_on_seqno": True, "initial_settling_s": 6.0, "settling_factor": 2.0}
    assert dsdv_converges_s({**triggers, "update_interval_s": 15.0}, 2) == 24.0


PROACTIVE = [
    # rip:quick knows its routes before anybody minds.
    "rip:rfc2453",
    *(f"{routing}:{name}" for routing in ("olsr", "babel", "batman") for name in _core.routing_sets(routing)),
]


@pytest.mark.parametrize("routing", PROACTIVE)
def test_a_proactive_protocol_knows_its_routes_when_it_is_said_to(routing: str) -> None:
    hops = 4
    chain = {"movement": {"chain": {"nodes": hops + 1}}, "routing": routing, "duration_s": 100.0}
    flow = cbr(0, hops, 0.1)
    early = resolved([flow], **chain)
    said = unconverged(early)
    name, converges_s = CONVERGES[routing.partition(":")[0]]
    needed_s = converges_s(early.params[routing.partition(":")[0]], hops)
    assert said is not None and said.startswith(f"{name} needs about {needed_s:.0f} s until it knows routes")
    assert unconverged(resolved([flow], **chain, warmup_s=needed_s)) is None
    runs = [run(resolved([flow], **chain, seed=seed, warmup_s=needed_s)) for seed in range(1, 7)]
    lost_s = [0.25 * (made.flows[0]["sent"] - made.flows[0]["received"]) for made in runs]
    assert sum(each <= 1.5 for each in lost_s) >= 5, lost_s
    # And it is no caution for nothing: before that time packets are lost.
    first = run(resolved([flow], **chain, seed=1)).flows[0]
    assert first["received"] < first["sent"] - 4


def test_movement_that_ends_long_before_the_run_is_told(tmp_path: Path) -> None:
    moved = "$node_(0) set X_ 0.0\n$node_(0) set Y_ 0.0\n$node_(1) set X_ 9.0\n$node_(1) set Y_ 0.0\n"
    moved += '$ns_ at 1.0 "$node_(0) setdest 19.0 0.0 1.0"\n'

    (tmp_path / "moved").write_text(moved, encoding="utf-8")

    def told(duration_s: float, **fields: Any) -> str | None:
        data = {"duration_s": duration_s, "movement": str(tmp_path / "moved"), **fields}
        return standing(resolved([cbr(0, 1, 1.0)], **data))

    assert told(21.0) is None
    assert told(100.0) == (
        "the movement ends at 20 s and the run at 100 s: nothing moves for 80 % of what is measured; give a "
        "duration_s of 20, or longer movement"
    )
    late = told(100.0, warmup_s=60.0)
    assert late is not None and "100 % of what is measured" in late
    assert standing(resolved([cbr(0, 1, 1.0)])) is None, "a network that never moves is meant to stand still"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (
            (0, 10_000),
            "no node is faster than 0.01 m/s over 10000 s of movement: are its times in milliseconds?",
        ),
        ((0, 10), None),
        ((0, 0.1), "nodes move at 1000 m/s over 0.1 s of movement: are its times in minutes?"),
    ],
)
def test_milliseconds_are_no_seconds(times: tuple[float, float], said: str | None, tmp_path: Path) -> None:
    rows = [
        f"{time_s},{node},{100 * later * node},0" for later, time_s in enumerate(times) for node in (0, 1)
    ]
    (tmp_path / "tracks.csv").write_text("\n".join(["time,id,x,y", *rows]), encoding="utf-8")
    data = {"movement": str(tmp_path / "tracks.csv"), "duration_s": 20_000.0}
    told = speeds(resolved([cbr(0, 1, 1.0)], **data))
    assert (told is None) if said is None else (told is not None and told.startswith(said))
    assert speeds(resolved([cbr(0, 1, 1.0)])) is None, "nothing moves"


def test_degrees_are_no_metres() -> None:
    places = [[8.5401, 47.3701], [8.5423, 47.3701], [8.5445, 47.3788]]
    told = degrees(resolved([cbr(0, 2, 1.0)], places))
    assert told is not None
    assert "are these degrees?" in told
    assert degrees(resolved([cbr(0, 2, 1.0)], CELL)) is None
    assert degrees(resolved([cbr(0, 2, 1.0)], [[0, 0], [1, 0], [2, 3]])) is None, "a table"
    assert degrees(resolved([cbr(0, 2, 1.0)], [[7.1234, 3.4567]] * 3)) is None, "all in one place"


def test_fair_rates_along_paths_that_are_away_are_told() -> None:
    def said(mode: str, **fields: Any) -> str | None:
        flow = {"kind": "tcp", "start_s": 1.0}
        flows = [{**flow, "src": 0, "dst": 3}, {**flow, "src": 2, "dst": 3}]
        chain = {"duration_s": 40.0, "movement": {"chain": {"nodes": 4}}, "traffic": {"flows": flows}}
        return absent_on_paths(Scenario.build({**chain, "throttle": {"mode": mode}, **fields}).resolve())

    failures = [{"node": 1, "at_s": 20.0, "for_s": 10.0}]
    assert "node 1 count also while it is away" in str(said("oracle", failures=failures))
    assert said("oracle") is said("off", failures=failures) is None
    # After the end nobody is missed.
    assert said("oracle", failures=[{"node": 1, "at_s": 45.0}]) is None


def test_answers_that_nodes_on_the_way_keep_are_told() -> None:
    def made(routing: str, **aodv: bool) -> Scenario:
        flow = {"kind": "cbr", "dst": 3, "bytes": 200, "interval_s": 0.2}
        return Scenario.build(
            {
                "duration_s": 12.0,
                "routing": routing,
                "movement": {"positions": [[0, 0], [200, 0], [400, 0], [600, 0], [200, 200]]},
                "traffic": {
                    "flows": [{**flow, "src": 0, "start_s": 1.0}, {**flow, "src": 4, "start_s": 3.0}]
                },
                "aodv": aodv,
            }
        )

    def second(scenario: Scenario) -> float:
        return float(run(scenario).flows[1]["delivery_fraction"])

    silent = made("aodv:aodv-uu-ll", destination_only=True)
    assert "aodv.pass_known_rreps" in str(kept_replies(silent.resolve()))
    assert kept_replies(silent.resolve()) in cautions(silent.resolve())
    assert second(silent) == 0.0
    for other in (
        made("aodv:aodv-uu-ll", destination_only=True, pass_known_rreps=True),
        made("aodv:aodv-uu-ll"),
        made("aodv:rfc-3561", destination_only=True),
        made("aodv:ns-2.35", destination_only=True, pass_known_rreps=False),
    ):
        assert kept_replies(other.resolve()) is None
        assert second(other) > 0.9
    assert kept_replies(made("dsr", destination_only=True, pass_known_rreps=False).resolve()) is None


def test_a_plain_scenario_has_no_cautions() -> None:
    mobile = {"waypoint": {"nodes": 20, "width_m": 500.0, "height_m": 300.0}}
    built = Scenario.build(
        {
            "duration_s": 30.0,
            "movement": mobile,
            "traffic": {"random": {"tcp": 2, "cbr": 5}},
            "routing": "aodv",
        }
    )
    assert cautions(built.resolve()) == []
    assert notes(built.resolve()) == []


MOVEMENT = """\
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ 150.0
$node_(1) set Y_ 0.0
$ns_ at 2.0 "$node_(1) setdest 100.0 0.0 10.0"
$ns_ at 4.0 "$node_(1) setdest 128.6 0.0 0.00"
$ns_ at 9.0 "$node_(1) setdest 100.0 0.0 5.0"
"""
TRAFFIC = "".join(
    f"""\
set udp_({number}) [new Agent/UDP]
$ns_ attach-agent $node_(0) $udp_({number})
set null_({number}) [new Agent/Null]
$ns_ attach-agent $node_(1) $null_({number})
set cbr_({number}) [new Application/Traffic/CBR]
$cbr_({number}) set packetSize_ 200
$cbr_({number}) set interval_ 0.5
$cbr_({number}) attach-agent $udp_({number})
$ns_ connect $udp_({number}) $null_({number})
$ns_ at {start_s} "$cbr_({number}) start"
"""
    for number, start_s in ((0, 1.0), (1, 150.0))
)


def test_run_and_check_note_what_files_say_that_is_not_done(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cars.tcl").write_text(MOVEMENT, encoding="utf-8")
    (tmp_path / "cbr.tcl").write_text(TRAFFIC, encoding="utf-8")
    (tmp_path / "cars.toml").write_text(
        'duration_s = 100.0\nrouting = "static"\nmovement = "cars.tcl"\ntraffic = "cbr.tcl"\n',
        encoding="utf-8",
    )
    for command in ("run", "scenario check"):
        done = cli(*command.split(), str(tmp_path / "cars.toml"))
        assert done.returncode == 0, done.stderr
        assert "note: the movement has one order at speed 0 to a place where the node is not" in done.stderr
        assert (
            "note: one flow of the traffic file begins when the run has ended, at 100 s, and is"
            in done.stderr
        )
    loaded = Scenario.load(tmp_path / "cars.toml").resolve()
    assert len(loaded.flows) == 1
    assert loaded.movement.positions(8.0)[1] == (130.0, 0.0), "it stands until its next order"
    assert loaded.movement.positions(20.0)[1] == (100.0, 0.0)


def test_a_flow_of_the_scenarios_own_must_begin_before_the_end() -> None:
    with pytest.raises(Exception, match="start_s"):
        resolved([cbr(0, 2, 61.0)])


def test_a_complete_transfer_shows_how_long_it_took(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "transfer.toml").write_text(
        'duration_s = 30.0\nrouting = "static"\nmovement.chain = { nodes = 2 }\n'
        'traffic.flows = [{ kind = "tcp", src = 0, dst = 1, start_s = 5.0, bytes = 20000 },\n'
        '{ kind = "tcp", src = 1, dst = 0, start_s = 5.0 }]\n',
        encoding="utf-8",
    )
    shown = cli("run", str(tmp_path / "transfer.toml")).stdout
    table = shown[shown.index("Transfers that are complete") :]
    [line] = [line for line in table.splitlines()[:8] if line.strip().startswith("0 ")]
    start, complete, took = map(float, line.split()[-3:])
    assert start == 5.0
    assert took == pytest.approx(complete - start, abs=1e-3)
    assert 0.05 < took < 5.0


def test_the_time_to_live_of_data_is_obeyed_by_every_protocol() -> None:
    from manetlab import run

    for routing in ("dsdv", "flooding", "aodv", "aodv:ns-2.35", "dsr", "static"):
        for ttl, is_delivered in ((2, False), (3, True)):
            built = Scenario.build(
                {
                    "duration_s": 250.0,
                    "routing": routing,
                    "network": {"data_ttl": ttl},
                    "movement": {"chain": {"nodes": 4}},
                    "traffic": {"flows": [cbr(0, 3, 220.0, interval_s=2.0)]},
                }
            )
            assert (run(built).totals["cbr_received"] > 0) == is_delivered, (routing, ttl)


def test_reservations_that_nobody_makes_or_asks_for_are_named() -> None:
    asks = {"reserve_bps": 60e3}
    on = {"insignia": {"mode": "on"}}
    plain, asking = cbr(0, 1, 1.0), cbr(0, 2, 1.0, **asks)
    assert unreserved(resolved([plain, plain])) is None
    assert unreserved(resolved([plain, asking], **on)) is None
    assert unreserved(resolved([plain, asking])) == (
        "flow 1 asks for a reservation (reserve_bps), and nodes make none: set insignia.mode to on"
    )
    assert (unreserved(resolved([asking] * 6)) or "").startswith("flows 0, 1, 2, 3 and others ask")
    assert (unreserved(resolved([plain], **on)) or "").startswith("no flow has reserve_bps")


def test_base_stations_that_are_not_there_are_named() -> None:
    flows = [{"kind": "tcp", "src": 0, "dst": 1, "start_s": 1.0}]
    wired = [{"nodes": [0, 2], "rate_bps": 1e7, "delay_s": 0.001}]
    assert without_wire(resolved(flows)) is None
    assert without_wire(resolved(flows, tcp={"base_station": "m-tcp"}, wired=wired)) is None
    said = without_wire(resolved(flows, tcp={"base_station": "m-tcp"}))
    assert (said or "").startswith('tcp.base_station = "m-tcp" does nothing')


def test_broken_links_that_nobody_reports_are_named() -> None:
    waypoint = {"waypoint": {"nodes": 5, "width_m": 300, "height_m": 300, "speed_max": 5}}

    def told(access_protocol: str, routing: str, **fields: Any) -> str | None:
        usual = {"movement": waypoint, "routing": routing, "mac": {"access_protocol": access_protocol}}
        return unreported(resolved([cbr(0, 1, 1.0)], **{**usual, **fields}))

    said = told("csma", "aodv")
    assert said is not None
    assert said.startswith("AODV learns of broken links from the MAC")
    assert "set aodv.hello" in said
    assert told("csma", "aodv", aodv={"hello": True}) is None
    dsr = told("csma", "dsr")
    assert dsr is not None
    assert "hellos or beacons" in dsr
    assert told("csma", "olsr") is None
    assert told("fama", "dsr") is None
    assert told("dcf", "dsr") is None
    still = {"positions": CELL}
    assert told("csma", "dsr", movement=still) is None, "nothing breaks"
    failures = [{"node": 2, "at_s": 5.0}]
    assert told("csma", "dsr", movement=still, failures=failures) is not None
