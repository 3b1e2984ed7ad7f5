"""Results of campaigns that were never run: a function makes what they measured, so the answer is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from manetlab import InputError
from manetlab.campaign import Campaign, Results
from manetlab.campaign.columns import Runs
from manetlab.campaign.snapshot import Snapshot
from manetlab.campaign.store import RUN

BASE = {
    "movement": {"waypoint": {"nodes": 10, "width_m": 500.0, "height_m": 400.0}},
    "traffic": {"random": {"tcp": 2, "cbr": 2}},
    "duration_s": 30.0,
    "warmup_s": 5.0,
    "profile": "ns-2.35",
}
SENDERS_AND_SPEEDS = {"tcp": ["reno", "reno-f"], "movement.waypoint.speed_max": [5.0, 20.0]}

Totals = Mapping[str, float | None]
Measure = Callable[[Mapping[str, Any], int], Totals]
"""What a run measured, from the levels of its point and the number of its replication."""


def throughput(levels: Mapping[str, Any], replication: int) -> Totals:
    """Reno-F gains 50 kb/s at 5 m/s, beyond doubt, and loses as often as it gains at 20 m/s."""
    noise = (replication * 7 % 10) * 1000.0
    if levels.get("tcp") != "reno-f":
        gain = 0.0
    elif levels["movement.waypoint.speed_max"] == 5.0:
        gain = 50_000.0 + (replication % 3) * 100.0
    else:
        gain = 4000.0 if replication % 2 else -4000.0
    return {"tcp_throughput_bps": 100_000.0 + noise + gain, "cbr_delivery_fraction": 0.9}


def results(
    measure: Measure = throughput,
    *,
    failed: Sequence[tuple[int, int, str]] = (),
    code: Sequence[str] = ("0.1.0 abc",),
    series: Any = None,
    drops: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list,
    **fields: Any,
) -> Results:
    """The results of a campaign with these fields.

    Args:
        measure: What each run measured.
        failed: Point, replication and error of the runs that failed.
        code: The versions that made the runs, in turn.
        series: The table of time series, if the runs kept any.
        drops: What becomes of each run's drops.
        **fields: Fields of the campaign; two senders at two speeds, ten times each, if not given.
    """
    campaign = Campaign(
        **{
            "name": "made",
            "question": "Is it so?",
            "base": BASE,
            "factors": SENDERS_AND_SPEEDS,
            "metrics": ["tcp_throughput_bps"],
            **fields,
        }
    )
    missing = {(point, replication) for point, replication, _ in failed}
    places = [
        (point.number, replication)
        for point in campaign.points
        for replication in range(campaign.replications)
        if (point.number, replication) not in missing
    ]
    runs = Runs(*map(list, zip(*places, strict=True))) if places else Runs([], [])
    for at, (point, replication) in enumerate(places):
        totals = measure(campaign.points[point].levels, replication)
        made_by, scenario_hash = code[replication % len(code)], _hash(campaign, point, replication)
        runs.put([at], [_run(point, replication, totals, made_by, scenario_hash, drops)])
    kept = [] if series is None else [("key", "totals", "file", "digest")]
    made = Results(campaign, campaign.replications, None, Snapshot(runs, list(failed), kept, []))
    if series is not None:
        made.series = lambda _: series  # type: ignore[method-assign]
    return made


def _hash(campaign: Campaign, point: int, replication: int) -> str:
    """What the run's scenario has; later replications', which nobody looks at, are made up."""
    try:
        return campaign.scenario(point, 0).resolve().hash if replication == 0 else f"{point}/{replication}"
    except InputError:
        return "of a scenario that cannot be resolved"


def _run(
    point: int,
    replication: int,
    totals: Totals,
    code: str,
    scenario_hash: str,
    changed: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
) -> list[Any]:
    """The columns of a run."""
    share = totals["tcp_throughput_bps"] or 0.0
    flows = [
        {"id": 0, "kind": "tcp", "src": 0, "dst": 1, "throughput_bps": share * 0.75},
        {"id": 1, "kind": "tcp", "src": 2, "dst": 3, "throughput_bps": share * 0.25},
    ]
    no_route = {"layer": "routing", "reason": "no-route", "packets": "tcp"}
    nothing = {"layer": None, "reason": None, "packets": None}
    drops = [
        {**no_route, "count": 3 + replication},
        {"layer": "mac", "reason": "duplicate", "packets": "ack", "count": 7},
        {"end": "delivered", **nothing, "count": 90},
        {"end": "under way", **nothing, "count": 1},
        {"end": "lost", **no_route, "count": 2 + replication},
        {"end": "lost", **nothing, "count": 1},
    ]
    columns = {
        "key": f"{point}/{replication}",
        "scenario_hash": scenario_hash,
        "code": code,
        "seed": str(1 + replication),
        "result_hash": f"{point:016x}{replication:016x}",
        "events": 1000,
        "arrivals": 1000,
        "totals": json.dumps(totals),
        "flows": json.dumps(flows),
        "drops": json.dumps(changed(drops)),
        "audit": "{}",
        "cpu_time_s": 0.5,
        "wall_time_s": 0.5,
        "platform": "Linux-6-x86_64",
        "python": "3.11.0",
        "host": "here",
        "ended": "2026-01-01T00:00:00Z",
    }
    return [columns[name] for name in RUN]
