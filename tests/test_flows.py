"""Flows of messages: what a user writes, what a run measures."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab import InputError, Result, Scenario, metrics, run
from manetlab.flows import kinds, read_trace
from tests.conftest import Cli

KINDS: dict[str, dict[str, Any]] = {
    "on-off": {"bytes": 200, "interval_s": 0.05, "on_s": 0.5, "off_s": 0.5},
    "poisson": {"bytes": 300, "interval_s": 0.2},
    "trace": {"packets": [[0.0, 100], [0.5, 2000]]},
    "video": {},
}


def scenario(*flows: dict[str, Any], **changes: Any) -> Scenario:
    """Three nodes in a line with these flows from end to end."""
    ends = {"src": 0, "dst": 2, "start_s": 1.0, "stop_s": 8.0}
    return Scenario.build(
        {
            "movement": {"chain": {"nodes": 3}},
            "traffic": {"flows": [{**ends, **flow} for flow in flows]},
            "duration_s": 10.0,
            **changes,
        }
    )


def test_a_call_is_over_rtp() -> None:
    speech = {"kind": "voice", "codec": "g729", "on_s": 1e6, "off_s": 0.0}
    # A search for a route would hold the first packet up, and with it all of the only spurt.
    [flow] = run(scenario(speech, routing="static")).flows
    # A packet every 20 ms for 7 s.
    assert (flow["transport"], flow["messages_made"]) == ("rtp-udp", 350)
    assert flow["voice_lost_fraction"] == 0.0
    assert flow["voice_mos"] == pytest.approx(4.1, abs=0.05)


@pytest.mark.parametrize("transport", ["udp", "adp", "psp", "tcp", "rtp-udp", "rtp-adp"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_flow_brings_its_messages(kind: str, transport: str) -> None:
    result: Result = run(scenario({"kind": kind, "transport": transport, **KINDS[kind]}))
    [flow] = result.flows
    assert (flow["kind"], flow["transport"]) == (kind, transport)
    assert flow["messages_made"] == flow["messages_delivered"] > 0
    assert result.totals["message_delivery_fraction"] == 1.0
    assert ("rtp_in_time_fraction" in flow) == transport.startswith("rtp")
    assert ("video_decodable_fraction" in result.totals) and (
        (result.totals["video_decodable_fraction"] is not None) == (kind == "video")
    )


def test_tables_show_every_kind_of_flow_in_the_order_of_the_models() -> None:
    assert list(metrics.FLOWS) == list(kinds())


def test_every_message_has_one_fate() -> None:
    far = {"positions": [[0, 0], [200, 0], [5000, 0]]}
    for transport in ("udp", "adp", "psp", "tcp"):
        flow = run(scenario({"kind": "video", "transport": transport}, movement=far)).flows[0]
        fates = ("delivered", "dropped", "lost", "waiting")
        assert sum(flow[f"messages_{fate}"] for fate in fates) == flow["messages_made"] == 105
        assert flow["messages_delivered"] == 0


def test_without_messages_there_are_no_totals_of_them() -> None:
    result = run(scenario({"kind": "tcp"}))
    assert not [key for key in result.totals if key.startswith(("message", "video"))]


def test_a_trace_file_is_read_with_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("bytes,time_s,note\n100,0.0,x\n200,0.25,\n")
    text = """
duration_s = 5
movement = { chain = { nodes = 2 } }
traffic = { flows = [{ kind = "trace", src = 0, dst = 1, start_s = 1.0, file = "a.csv" }] }
"""
    (tmp_path / "s.toml").write_text(text)
    read = Scenario.load(tmp_path / "s.toml")
    (tmp_path / "a.csv").unlink()
    assert read.resolve().flows[0]["packets"] == [[0.0, 100], [0.25, 200]]
    listed = read.changed(
        traffic={
            "flows": [
                {"kind": "trace", "src": 0, "dst": 1, "start_s": 1.0, "packets": [(0.0, 100), (0.25, 200)]}
            ]
        }
    )
    assert listed.resolve().hash == read.resolve().hash


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 65_507)), min_size=1))
def test_a_written_trace_is_read_again(packets: list[tuple[float, int]]) -> None:
    import tempfile

    packets = sorted(packets, key=lambda packet: packet[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text("time_s,bytes\n" + "".join(f"{time!r},{size}\n" for time, size in packets))
        assert read_trace(path) == packets


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("time,bytes\n0,1\n", "the columns time_s and bytes"),
        ("time_s,bytes\n", "one packet per line"),
        ("time_s,bytes\n0\n", "the columns time_s and bytes"),
        ("time_s,bytes\nx,1\n", "a time in s"),
        ("time_s,bytes\nnan,1\n", "a time not before"),
        ("time_s,bytes\n1,1\n0.5,1\n", "a time not before"),
        ("time_s,bytes\n0,1.5\n", "a whole number of bytes"),
        ("time_s,bytes\n0,0\n", "from 1 to 65507"),
        ('time_s,bytes\n"0,1\n', "CSV"),
        ("time_s,bytes\n\xff", "CSV in UTF-8"),
    ],
)
def test_a_trace_that_cannot_be_used_says_where(tmp_path: Path, text: str, wanted: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        scenario({"kind": "trace", "file": str(path)})
    assert wanted in caught.value.wanted
    assert str(path) in caught.value.where


@pytest.mark.parametrize(
    "flow",
    [
        {"kind": "trace"},
        {"kind": "trace", "packets": [[0, 1]], "file": "x"},
        {"kind": "trace", "packets": [[1, 1], [0, 1]]},
        {"kind": "trace", "packets": [[0, 0]]},
        {"kind": "on-off", **KINDS["on-off"], "durations": "uniform"},
        {"kind": "on-off", **KINDS["on-off"], "shape": 1.0},
        {"kind": "poisson", **KINDS["poisson"], "interval_s": 0.0},
        {"kind": "video", "transport": "sctp"},
        {"kind": "video", "frames": 3},
        {"kind": "adp", "transport": "udp"},
    ],
    ids=str,
)
def test_a_flow_that_cannot_be_is_refused(flow: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        scenario(flow).resolve()


def test_parameters_of_adp_and_video_reach_the_run() -> None:
    video = {"kind": "video", "transport": "adp"}
    plain = run(scenario(video)).flows[0]
    cut = run(scenario(video, video={"packet_bytes": 500})).flows[0]
    assert cut["packets_sent"] > plain["packets_sent"] == plain["messages_made"]
    delayed = run(scenario(video, adp={"ack_every": 2})).flows[0]
    assert delayed["acks_sent"] < plain["acks_sent"] == plain["packets_received"]
    reported = run(scenario({**video, "transport": "rtp-udp"}, rtp={"report_interval_s": 0.1})).flows[0]
    assert reported["rtp_reports_received"] > 30
    late = run(scenario(video, video={"playout_deadline_s": 0.001})).flows[0]
    assert late["frames_late"] > 0 and late["decodable_fraction"] < 1


def test_the_table_of_rtp_says_that_it_counts_the_whole_run(cli: Cli, tmp_path: Path) -> None:
    head = "duration_s = 20.0\nwarmup_s = 10.0\nmovement.chain.nodes = 3\n"
    call = '[[traffic.flows]]\nkind = "voice"\nsrc = 0\ndst = 2\nstart_s = 1.0\n'
    (tmp_path / "call.toml").write_text(head + call, encoding="utf-8")
    done = cli("run", "call.toml")
    assert "RTP counts the whole run, warm-up included" in done.stdout, done.stderr
