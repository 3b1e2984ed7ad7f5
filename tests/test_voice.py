"""Calls: who talks to whom, and how many a network bears."""

from __future__ import annotations

import re
from typing import Any

import pytest

from manetlab import InputError, Scenario, _core, run
from tests.conftest import ROOT
from validation.theory import Frames

RTP_HEADER_BYTES = 12


def around_one_place(calls: int, **changes: Any) -> dict[str, Any]:
    """Calls without a pause between nodes that all hear each other, at 11 Mb/s."""
    places = [[10.0 * (number % 6), 10.0 * (number // 6)] for number in range(2 * calls)]
    ends = [(2 * call, 2 * call + 1) for call in range(calls)]
    speech = {"kind": "voice", "codec": "g711", "off_s": 0.0, "on_s": 10.0, "start_s": 1.0}
    flows = [
        {**speech, "src": src, "dst": dst, "call": call}
        for call, pair in enumerate(ends)
        for src, dst in (pair, pair[::-1])
    ]
    fields = {
        "duration_s": 12.0,
        "warmup_s": 2.0,
        "routing": "static",
        "movement": {"positions": places},
        # ACKs at 1 Mb/s, as the closed form that is known from elsewhere has them.
        "mac": {"data_rate_bps": 11e6, "rts_threshold_bytes": 2347, "response_rate": "control"},
        "network": {"start_jitter_ms": 20.0},
        "traffic": {"flows": flows},
    }
    return {**fields, **changes}


def totals(fields: dict[str, Any]) -> dict[str, Any]:
    return dict(run(Scenario.build(fields)).totals)


def test_one_hop_bears_as_many_calls_as_its_air_time_allows() -> None:
    """A call has two packets in 20 ms. A packet of 160 bytes takes 0.73 ms with DIFS, SIFS and its ACK, and
    1.04 ms if a mean backoff passes before each, so the air has room for 9.6 to 13.7 calls: where stations
    contend, backoffs pass together."""
    scenario = Scenario.build(around_one_place(1))
    frames = Frames.of(scenario.resolve().params, 160 + RTP_HEADER_BYTES)
    backoff_s = frames.slot * (frames.windows[0] - 1) / 2
    least, most = (0.020 / (2 * each) for each in (frames.success + backoff_s, frames.success))
    assert (round(least, 1), round(most, 1)) == (9.6, 13.7)
    few, many = totals(around_one_place(int(least))), totals(around_one_place(int(most) + 1))
    assert (few["voice_calls"], few["voice_satisfied_fraction"]) == (9, 1.0)
    assert many["voice_calls"] == 14
    assert few["voice_mos_mean"] == pytest.approx(4.41, abs=0.02)
    # 20 ms of speech and 60 ms of playout. The network adds what the first packet of each spurt waits for;
    # here that is ARP's jitter, because speech without a pause is one spurt.
    static = totals(around_one_place(2, arp={"enabled": False}))
    # DIFS, preamble and 232 bytes at 11 Mb/s take 0.41 ms where the medium is idle.
    assert 0.0804 < static["voice_mouth_to_ear_mean_s"] < 0.0812
    assert many["voice_satisfied_fraction"] == 0.0
    assert many["voice_mos_mean"] < 2.0


def test_calls_have_two_directions_and_ends_of_their_own() -> None:
    fields = {
        "duration_s": 20.0,
        "movement": {"waypoint": {"nodes": 20}},
        "traffic": {"random": {"tcp": 1, "calls": 3, "call_codec": "opus", "cbr": 1}},
    }
    flows = Scenario.build(fields).resolve().flows
    assert [flow["kind"] for flow in flows] == ["tcp", *["voice"] * 6, "cbr"]
    voice = flows[1:7]
    assert [flow["call"] for flow in voice] == [0, 0, 1, 1, 2, 2]
    for there, back in zip(voice[::2], voice[1::2], strict=True):
        assert (there["src"], there["dst"]) == (back["dst"], back["src"])
        assert there["start_s"] == back["start_s"]
        assert there["codec"] == back["codec"] == "opus"
    ends = [node for flow in flows[0:1] + voice[::2] for node in (flow["src"], flow["dst"])]
    assert len(set(ends)) == 8
    # They are those that as many TCP flows have.
    tcp = Scenario.build({**fields, "traffic": {"random": {"tcp": 4, "cbr": 1}}}).resolve().flows
    assert [(flow["src"], flow["dst"]) for flow in flows[0:1] + voice[::2]] == [
        (flow["src"], flow["dst"]) for flow in tcp[:4]
    ]
    with pytest.raises(InputError, match="too few nodes"):
        Scenario.build({**fields, "traffic": {"random": {"calls": 11}}}).resolve()


def test_a_longer_playout_buffer_loses_less_and_delays_more() -> None:
    def over_four_hops(playout_ms: float) -> dict[str, Any]:
        flow = {"kind": "voice", "src": 0, "dst": 4, "start_s": 1.0, "playout_ms": playout_ms}
        cross = {"kind": "cbr", "src": 2, "dst": 3, "start_s": 1.0, "bytes": 1000, "interval_s": 0.007}
        chain = {"movement": {"chain": {"nodes": 5}}, "routing": "static", "duration_s": 60.0}
        return run(Scenario.build({**chain, "traffic": {"flows": [flow, {**cross, "random": True}]}})).flows[
            0
        ]

    short, long = over_four_hops(5.0), over_four_hops(500.0)
    assert short["messages_made"] == long["messages_made"]
    assert short["voice_packets_late"] > 10 > long["voice_packets_late"]
    assert short["voice_mouth_to_ear_s"] + 0.4 < long["voice_mouth_to_ear_s"]
    assert short["voice_lost_fraction"] > long["voice_lost_fraction"]


def group(**changes: Any) -> dict[str, Any]:
    """Node 0 speaks to three others, all within reach of each other."""
    speech = {"kind": "voice", "src": 0, "dst": [1, 2, 3], "start_s": 1.0, "stop_s": 4.0, "codec": "g729"}
    places = [[0, 0], [10, 0], [0, 10], [10, 10]]
    return {
        "duration_s": 6.0,
        "routing": "static",
        "movement": {"positions": places},
        "traffic": {"flows": [{**speech, **changes}, {"kind": "cbr", "src": 3, "dst": 1, **CBR}]},
    }


CBR = {"start_s": 5.0, "bytes": 50, "interval_s": 0.5}


def test_push_to_talk_has_a_copy_of_the_same_speech_for_each_listener() -> None:
    result = run(Scenario.build(group()), record=True)
    heard = result.flows[:3]
    assert {flow["kind"] for flow in heard} == {"voice"}
    assert [(flow["src"], flow["dst"]) for flow in heard] == [(0, 1), (0, 2), (0, 3)]
    # 3 s of speech without a pause in packets of 20 ms.
    assert [flow["messages_made"] for flow in heard] == [150] * 3
    assert (result.totals["voice_calls"], result.totals["voice_satisfied_fraction"]) == (3, 1.0)
    # The copies of a packet follow each other on the air.
    delays = [flow["voice_mouth_to_ear_s"] for flow in heard]
    assert max(delays) - min(delays) < 0.02
    assert result.flows[3]["kind"] == "cbr"
    # Written out it is the same scenario, and so the same run.
    again = Scenario.build(Scenario.build(group()).to_dict())
    assert run(again).hash == result.hash


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"dst": [1, 1]}, "each once"),
        ({"dst": []}, "one or more nodes"),
        ({"dst": [0, 1]}, "a destination other than the source"),
        ({"off_s": 1.0}, "without a pause"),
        ({"call": 1}, "no call"),
        ({"kind": "cbr", **CBR, "stop_s": 9.0}, 'only flows of kind "voice"'),
    ],
)
def test_groups_that_cannot_be_are_refused(changes: dict[str, Any], told: str) -> None:
    fields = group(**changes)
    if changes.get("kind") == "cbr":
        del fields["traffic"]["flows"][0]["codec"]
    with pytest.raises(InputError) as error:
        Scenario.build(fields)
    assert told in str(error.value)


def test_the_page_has_the_values_of_the_codecs() -> None:
    text = (ROOT / "docs/models/voice.md").read_text()
    rows = re.findall(r"\| `([\w-]+)` \| (\d+) B \| ([\d.]+) ms \| ([\d.]+) \| ([\d.]+) \|", text)
    told = [(name, int(size), float(ms), float(ie), float(bpl)) for name, size, ms, ie, bpl in rows]
    known = [(name, size, round(ms, 6), ie, bpl) for name, size, ms, ie, bpl in _core.codecs()]
    assert told == known
