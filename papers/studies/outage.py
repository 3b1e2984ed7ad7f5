"""The same outage under each remedy: a hand-made movement, with runs that are recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from manetlab import run
from manetlab.scenario import Scenario
from manetlab.topology import shortest_hops_over_time
from studies.drawing import Timeline

MOVEMENT = Path(__file__).parent / "outage.mov"
STEP_S = 0.1
FROM_S, TO_S = 5.0, 60.0
SEGMENT_BYTES = 1460
QUIET_S = 0.3
"""After so long without new data a transmission is marked: before, it is one of many."""
LOOKS = ("rreq", "probe")
"""The messages of routing by which a source looks for a route."""


@dataclass(frozen=True)
class Outage:
    """One run of the outage.

    Attributes:
        timeline: What is drawn.
        segments: How many segments arrived in order until the end.
        first_gap_s: The longest time without new data around the first break, which leaves another path.
        resumed_s: How long after there is a path again new data arrive; None if they do not.
        timeouts: Expiries of the retransmission timer.
    """

    timeline: Timeline
    segments: int
    first_gap_s: float
    resumed_s: float | None
    timeouts: int


def scenario(fields: Mapping[str, Any]) -> Scenario:
    """The outage under a remedy.

    Args:
        fields: What the remedy sets, by dotted name.
    """
    base = Scenario.build(
        {
            "profile": "cmu-1998",
            "duration_s": TO_S,
            "tcp": {"segment_bytes": SEGMENT_BYTES, "window": 8},
            "movement": {"file": str(MOVEMENT)},
            "traffic": {"flows": [{"kind": "tcp", "src": 0, "dst": 1, "start_s": 1.0}]},
        }
    )
    return base.changed(**nested(fields))


def nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by dotted name as nested tables."""
    made: dict[str, Any] = {}
    for path, value in fields.items():
        *parents, last = path.split(".")
        table = made
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value
    return made


def outage(title: str, fields: Mapping[str, Any]) -> Outage:
    """Runs the outage under a remedy and reads its recording."""
    made = scenario(fields)
    result = run(made, record=True, series_s=STEP_S)
    assert result.series is not None
    assert result.recording is not None
    received = list(_received(result.series["tcp_flows"]))
    news = [
        time_s for (time_s, now), (_, before) in zip(received[1:], received, strict=False) if now > before
    ]
    totals = result.series["totals"]
    expired = [
        time_s for time_s, count in zip(totals["time_s"], totals["tcp_timeouts"], strict=True) if count
    ]
    events = [json.loads(line) for line in result.recording.splitlines()[1:]]
    own = [each for each in events if each["node"] == 0 and each["event"] == "made"]
    apart = list(_apart(made))
    back_s = apart[-1][1]
    after = [each for each in news if each > back_s]
    timeline = Timeline(
        title=title,
        from_s=FROM_S,
        to_s=TO_S,
        received=[point for point in received if point[0] >= FROM_S],
        sent=[each["t"] for each in own if each["what"] == "tcp" and _is_quiet(news, each["t"])],
        timeouts=[each for each in expired if each >= FROM_S],
        routing=[each["t"] for each in _looks(events) if each["t"] >= FROM_S],
        apart=apart,
        top=3000,
    )
    around = [each for each in news if 9.0 < each < 19.0]
    gaps = [later - earlier for earlier, later in pairwise(around)]
    return Outage(
        timeline,
        int(received[-1][1]),
        max(gaps),
        after[0] - back_s if after else None,
        int(result.flows[0]["timeouts"]),
    )


def _received(series: Mapping[str, list[float]]) -> Iterator[tuple[float, float]]:
    """The number of segments that have arrived in order, at the end of each step."""
    count = 0.0
    for time_s, delivered in zip(series["time_s"], series["delivered_bytes"], strict=True):
        count += delivered / SEGMENT_BYTES
        yield time_s, count


def _is_quiet(news: list[float], time_s: float) -> bool:
    """Whether nothing new has arrived for a while."""
    before = [each for each in news if each <= time_s]
    return time_s >= FROM_S and bool(before) and time_s - before[-1] > QUIET_S


def _looks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The source's own requests and probes, as it sends them."""
    return [
        each
        for each in events
        if each["node"] == 0 and each["event"] == "sent" and each["what"] in LOOKS and each["src"] == 0
    ]


def _apart(made: Scenario) -> Iterator[tuple[float, float]]:
    """When there is no path between the two ends."""
    found = shortest_hops_over_time(made, [(0, 1)], STEP_S)
    begin: float | None = None
    for time_s, hops in zip(found.times_s, found.hops[0], strict=True):
        if hops is None and begin is None:
            begin = time_s
        elif hops is not None and begin is not None:
            yield begin, time_s
            begin = None
    if begin is not None:
        yield begin, TO_S
