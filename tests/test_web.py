"""Web sessions: drawn, written, read again and run."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab import InputError, Scenario, run, web
from tests.conftest import Cli

CYCLE: dict[str, Any] = {
    "think_s": 1.0,
    "request_bytes": 300,
    "server_delay_s": 0.0,
    "replies_bytes": [2000, 10],
}
SESSION: dict[str, Any] = {"src": 0, "dst": 2, "start_s": 1.0, "cycles": [CYCLE]}


def scenario(source: dict[str, Any], **changes: Any) -> Scenario:
    """Twenty nodes that move, with these Web sessions."""
    return Scenario.build(
        {
            "movement": {"waypoint": {"nodes": 20, "width_m": 600.0, "height_m": 600.0}},
            "traffic": {"web": source},
            "duration_s": 60.0,
            "warmup_s": 10.0,
            **changes,
        }
    )


def test_sessions_of_a_file_run_like_those_drawn(tmp_path: Path) -> None:
    drawn = scenario({})
    path = tmp_path / "sessions.json"
    path.write_text(web.text(drawn.resolve().flows))
    of_file = drawn.changed(traffic={"web": {"sessions": str(path)}})
    path.unlink()
    first, second = run(drawn), run(of_file)
    assert first.hash == second.hash
    assert first.provenance["scenario_hash"] == second.provenance["scenario_hash"]
    assert len(first.flows) == 10
    assert (drawn.is_drawn, scenario({"sessions": [SESSION]}, movement={"chain": {"nodes": 3}}).is_drawn) == (
        True,
        False,
    )


def test_a_file_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    text = web.text(scenario({"cycles": 0, "server_delay_s": 0.25}).resolve().flows)
    path.write_text(text)
    assert web.text(web.read(path)) == text
    assert json.loads(text)["format"] == "manetlab-web-sessions"


seconds = st.floats(0, 1e6, allow_nan=False)
lengths = st.integers(1, 10**12)
cycles = st.fixed_dictionaries(
    {
        "think_s": seconds,
        "request_bytes": lengths,
        "server_delay_s": seconds,
        "replies_bytes": st.lists(lengths, min_size=1, max_size=3),
    }
)
ends = st.tuples(st.integers(0, 24), st.integers(25, 49))
sessions = st.tuples(ends, seconds, st.none() | seconds, st.lists(cycles, min_size=1, max_size=2))


@settings(deadline=None)
@given(st.lists(sessions, min_size=1, max_size=2))
def test_whatever_is_written_reads_back(drawn: list[Any]) -> None:
    import tempfile

    listed = [
        {
            "src": src,
            "dst": dst,
            "start_s": start,
            **({} if stop is None else {"stop_s": stop}),
            "cycles": turns,
        }
        for (src, dst), start, stop, turns in drawn
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.json"
        path.write_text(web.text(listed))
        assert web.read(path) == listed
        assert web.text(web.read(path)) == path.read_text()


def test_the_command_writes_what_the_scenario_runs(cli: Cli, tmp_path: Path) -> None:
    toml = tmp_path / "s.toml"
    head = "duration_s = 30\nmovement = { waypoint = { nodes = 20 } }\n"
    toml.write_text(head + "traffic = { web = { clients = 4 } }\nseed = 7\n")
    assert cli("scenario", "sessions", toml, "-o", "sessions.json").returncode == 0
    expected = web.text(Scenario.load(toml).resolve().flows)
    assert (tmp_path / "sessions.json").read_text() == expected
    assert cli("scenario", "sessions", toml).stdout == expected
    assert cli("scenario", "sessions", toml, "--seed", 8).stdout != expected
    assert cli("scenario", "sessions", toml, "-o", toml).returncode == 2
    toml.write_text(head + "traffic = { random = { tcp = 1 } }\n")
    refused = cli("scenario", "sessions", toml)
    assert refused.returncode == 2 and "no Web sessions" in refused.stderr


def test_sessions_stand_beside_other_traffic_and_change_none_of_it() -> None:
    random = {"tcp": 2, "cbr": 3}
    alone = scenario({}, traffic={"random": random}).resolve().flows
    both = scenario({}, traffic={"random": random, "web": {}}).resolve().flows
    assert both[:5] == alone
    assert [flow["kind"] for flow in both[5:]] == ["web"] * 10
    assert {flow["start_s"] for flow in both[5:]} == {10.0}
    later = scenario({"after_warmup_s": 2.5}).resolve().flows
    assert {flow["start_s"] for flow in later} == {12.5}


def test_a_session_is_measured() -> None:
    quiet = {"movement": {"chain": {"nodes": 3}}, "warmup_s": 0.0, "network": {"start_jitter_ms": 0.0}}
    result = run(scenario({"sessions": [SESSION]}, **quiet))
    [flow] = result.flows
    assert (flow["kind"], flow["cycles_completed"], flow["connections"]) == ("web", 1, 2)
    assert flow["delivered_bytes"] == 2310
    assert flow["completed_s"] == pytest.approx(2.0 + flow["service_time_s"])
    assert flow["session_time_s"] == pytest.approx(1.0 + flow["service_time_s"])
    assert flow["throughput_bps"] == pytest.approx(8 * 2310 / flow["service_time_s"])
    totals = result.totals
    assert totals["web_sessions_finished"] == totals["web_sessions"] == 1
    assert totals["web_combined_throughput_bps"] == totals["web_throughput_bps"] == flow["throughput_bps"]
    assert not [key for key in run(scenario({}, traffic={"random": {"cbr": 1}})).totals if "web" in key]


def test_combined_throughput_is_that_of_all_sessions_together() -> None:
    result = run(scenario({}))
    totals, flows = result.totals, result.flows
    service_s = sum(flow["service_time_s"] for flow in flows)
    delivered = sum(flow["delivered_bytes"] for flow in flows)
    assert totals["web_throughput_bps"] == pytest.approx(8 * delivered / service_s)
    assert totals["web_combined_throughput_bps"] == pytest.approx(80 * delivered / service_s)
    # An unfinished session is in service or thinking whenever the run goes on.
    for flow, spec in zip(flows, scenario({}).resolve().flows, strict=True):
        thought = sum(cycle["think_s"] for cycle in spec["cycles"][: flow["cycles_completed"]])
        assert flow["service_time_s"] + thought <= 50.0 + 1e-6


BAD_FILES = {
    "not JSON": ("{", "a JSON object"),
    "a list": ("[]", "a JSON object"),
    "another format": ('{"format": "x"}', "a JSON object"),
    "another version": ('{"format": "manetlab-web-sessions", "version": 2}', "version 1"),
    "a version that is none": ('{"format": "manetlab-web-sessions", "version": true}', "version 1"),
    "no sessions": ('{"format": "manetlab-web-sessions", "version": 1}', "a list of sessions"),
    "an unknown key": ('{"format": "manetlab-web-sessions", "version": 1, "x": 1}', "one of"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, name: str) -> None:
    text, wanted = BAD_FILES[name]
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        scenario({"sessions": str(path)})
    assert wanted in caught.value.wanted
    assert str(path) in caught.value.where


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"cycles": []}, "sessions[0].cycles"),
        ({"dst": 0}, "sessions[0]"),
        ({"src": -1}, "sessions[0].src"),
        ({"start_s": "now"}, "sessions[0].start_s"),
        ({"colour": "red"}, "sessions[0].colour"),
        ({"cycles": [{**CYCLE, "think_s": -1.0}]}, "sessions[0].cycles[0].think_s"),
        ({"cycles": [{**CYCLE, "request_bytes": 0}]}, "sessions[0].cycles[0].request_bytes"),
        ({"cycles": [CYCLE, {**CYCLE, "replies_bytes": []}]}, "sessions[0].cycles[1].replies_bytes"),
        ({"cycles": [{"think_s": 1.0}]}, "sessions[0].cycles[0].request_bytes"),
    ],
    ids=str,
)
def test_a_session_that_cannot_be_says_where(change: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario({"sessions": [{**SESSION, **change}]})
    assert place in caught.value.where


@pytest.mark.parametrize(
    "source",
    [
        {"clients": 0},
        {"clients": 18, "servers": 3},
        {"client": 3},
        {"cycles": 2.5},
        {"distributions": "normal"},
        {"reply_min_bytes": 5000.0, "reply_max_bytes": 4000.0},
        {"think_max_s": 0.0},
        {"sessions": [SESSION], "clients": 3},
        {"sessions": []},
        {"sessions": 5},
        {"sessions": [3]},
        {"sessions": "nowhere.json"},
        {"sessions": [{**SESSION, "dst": 99}]},
        {"sessions": [{**SESSION, "start_s": 60.0}]},
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(source: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        scenario(source).resolve()


def test_traffic_needs_a_source() -> None:
    for source in ({}, {"random": {"tcp": 1}, "file": "x", "web": {}}):
        with pytest.raises(InputError, match="web can be combined with it"):
            scenario({}, traffic=source)
