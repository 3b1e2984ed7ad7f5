"""Measures what one flow carries alone over chains of nodes.

A TCP flow finds it by itself. A source of datagrams sends at a rate that is given: what it carries is the
highest rate of which at least 99 % of the packets arrive.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from manetlab import _core, alone, provenance
from manetlab.chain_throughput import SENDER, TRAFFIC, Key, ThroughputRow
from manetlab.errors import InputError, shown
from manetlab.running import run_many
from manetlab.scenario import Scenario
from manetlab.scenario_data import merged

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

Place = TypeVar("Place", bound=Hashable)

WARMUP_S, DURATION_S = 12.0, 120.0
"""The paper's warm-up and length of a run, in s (Osipov and Tschudin 2006, section III)."""
SPACING_M = 130.0
"""Distance between neighbours, in m, of the paper's example of nine hops (section III.C.1)."""
MOST_LOST = 0.01
"""Highest share of the packets of CBR or video that may be lost."""
SLOWEST_BPS = 1e3
"""Lowest rate of CBR or video that is looked at, in bit/s."""
PRECISION = 1.002
"""Factor between the highest rate at which enough packets arrive and a rate at which too many are lost."""


def chain(base: Mapping[str, Any], hops: int, segment_bytes: int, spacing_m: float = SPACING_M) -> Scenario:
    """One endless TCP flow from end to end of a chain, with static routes.

    Args:
        base: Further fields of the scenario, such as profile and sections of parameters.
        hops: Length of the chain.
        segment_bytes: Payload of a segment, in bytes.
        spacing_m: Distance between neighbours, in m.

    Raises:
        InputError: A field is not allowed.
    """
    flow = {"kind": "tcp", "src": 0, "dst": hops, "start_s": 0.0, "segment_bytes": segment_bytes}
    return _chain(merged({"tcp": {"sender": SENDER}}, base), hops, flow, spacing_m)


def datagrams(
    base: Mapping[str, Any],
    hops: int,
    traffic: str,
    rate_bps: float,
    payload_bytes: int = 0,
    spacing_m: float = SPACING_M,
) -> Scenario:
    """CBR or video over UDP from end to end of a chain, with static routes.

    Args:
        base: Further fields of the scenario, such as profile and sections of parameters.
        hops: Length of the chain.
        traffic: ``cbr`` or ``video``.
        rate_bps: Payload that the source makes, in bit/s, with video on average: by the number of frames a
            second.
        payload_bytes: Payload of a CBR packet, in bytes; the frames of video are those of its model.
        spacing_m: Distance between neighbours, in m.

    Raises:
        InputError: A field is not allowed.
    """
    flow: dict[str, Any] = {"kind": traffic, "src": 0, "dst": hops, "start_s": 0.0}
    if traffic == "cbr":
        flow |= {"bytes": payload_bytes, "interval_s": 8 * payload_bytes / rate_bps}
        return _chain(base, hops, flow, spacing_m)
    made = _chain(base, hops, flow, spacing_m)
    video = made.resolve().params["video"]
    frames_per_s = video["frames_per_s"] * rate_bps / alone.video_bps(video)
    return made.changed(video={"frames_per_s": frames_per_s})


def _chain(base: Mapping[str, Any], hops: int, flow: Mapping[str, Any], spacing_m: float) -> Scenario:
    fields = {
        "movement": {"chain": {"nodes": hops + 1, "spacing_m": spacing_m}},
        "traffic": {"flows": [flow]},
        "routing": "static",
        "warmup_s": WARMUP_S,
        "duration_s": DURATION_S,
    }
    return Scenario.build(merged(fields, base), "chain")


def measure(
    base: Mapping[str, Any],
    segment_bytes: int,
    hops: int,
    seeds: int,
    *,
    spacing_m: float = SPACING_M,
    jobs: int | None = None,
    traffic: str = "tcp",
) -> tuple[Key, ThroughputRow]:
    """What one flow carries alone over chains of 1, 2, … hops.

    Args:
        base: Further fields of the scenario, as for `chain`.
        segment_bytes: Payload of a segment of TCP or a CBR packet, in bytes; that of video packets follows
            from the parameters.
        hops: Length of the longest chain.
        seeds: How many runs of each, with seeds from 1 on; at least 2.
        spacing_m: Distance between neighbours, in m.
        jobs: How many runs at a time; by default the number of cores.
        traffic: The kind of the flow: ``tcp``, ``cbr`` or ``video``.

    Raises:
        InputError: A field is not allowed, the chains do not have so many hops, or there are too few seeds.
    """
    from manetlab.stats import mean_interval

    if seeds < 2:
        raise InputError("too few runs for an interval", "chain_runs.measure: seeds", str(seeds), "2 or more")
    if traffic not in TRAFFIC:
        where, wanted = "chain_runs.measure: traffic", f"one of {', '.join(TRAFFIC)}"
        raise InputError("not a kind of traffic", where, shown(traffic), wanted)
    longest = chain(base, hops, segment_bytes, spacing_m).resolve()
    _check_range(longest, hops, spacing_m)
    if traffic == "video":
        segment_bytes = round(alone.mean_payload_bytes({"kind": "video"}, longest.params))
    settings: dict[str, Any]
    if traffic == "tcp":
        found = _of_tcp(base, segment_bytes, hops, seeds, spacing_m, jobs)
        settings = {"sender": longest.scenario.section("tcp")["sender"]}
    else:
        top_bps = float(longest.params["mac"]["data_rate_bps"])
        found = _of_datagrams(base, traffic, segment_bytes, hops, seeds, spacing_m, top_bps, jobs)
        settings = {"most_lost": MOST_LOST, "precision": PRECISION}
    intervals = [mean_interval(of_length) for of_length in found]
    origin = provenance.of_code()
    row = ThroughputRow(
        tuple(each.mean for each in intervals),
        tuple(each.half_width for each in intervals),
        {
            "version": origin["version"],
            "commit": origin["commit"] or "unknown",
            "changes": {name: base[name] for name in base if name != "profile"},
            "spacing_m": spacing_m,
            **settings,
            "routing": "static",
            "warmup_s": WARMUP_S,
            "duration_s": DURATION_S,
            "seeds": seeds,
        },
    )
    key = Key.of(longest.scenario.profile, longest.params, segment_bytes, traffic)
    return replace(key, sender=str(settings.get("sender", SENDER))), row


def _of_tcp(
    base: Mapping[str, Any], segment_bytes: int, hops: int, seeds: int, spacing_m: float, jobs: int | None
) -> list[list[float]]:
    """The throughputs of TCP, for each length those of all seeds, in bit/s."""
    resolved = [chain(base, length, segment_bytes, spacing_m).resolve() for length in range(1, hops + 1)]
    scenarios = [of.of(of.scenario.changed(seed=seed)) for of in resolved for seed in range(1, seeds + 1)]
    found = [result.totals["tcp_throughput_bps"] for result in run_many(scenarios, jobs=jobs)]
    return [found[at : at + seeds] for at in range(0, len(found), seeds)]


def _of_datagrams(
    base: Mapping[str, Any],
    traffic: str,
    payload_bytes: int,
    hops: int,
    seeds: int,
    spacing_m: float,
    top_bps: float,
    jobs: int | None,
) -> list[list[float]]:
    """The highest rates at which enough arrives, for each length those of all seeds, in bit/s."""

    def make(place: tuple[int, int], rate_bps: float) -> Resolved:
        length, seed = place
        chain = datagrams(base, length, traffic, rate_bps, payload_bytes, spacing_m)
        return chain.changed(seed=seed).resolve()

    places = [(length, seed) for length in range(1, hops + 1) for seed in range(1, seeds + 1)]
    found = highest_carried(make, places, top_bps, traffic, jobs)
    return [[found[length, seed] for seed in range(1, seeds + 1)] for length in range(1, hops + 1)]


def highest_carried(
    make: Callable[[Place, float], Resolved],
    places: Sequence[Place],
    top_bps: float,
    traffic: str,
    jobs: int | None,
) -> dict[Place, float]:
    """The highest rate at which enough packets arrive, for each of several scenarios, in bit/s.

    All are searched at the same time: a step halves, on a logarithmic scale, what is between a rate at which
    enough arrives and one at which too much is lost.

    Args:
        make: Makes a scenario with one flow of a rate in bit/s.
        places: What names the scenarios.
        top_bps: A rate that is above what can be carried, in bit/s.
        traffic: The kind of the flow: ``cbr`` or ``video``.
        jobs: How many runs at a time; by default the number of cores.
    """
    low = dict.fromkeys(places, SLOWEST_BPS)
    high = dict.fromkeys(places, top_bps)
    while any(high[place] > PRECISION * low[place] for place in places):
        middle = {place: math.sqrt(low[place] * high[place]) for place in places}
        resolved = [make(place, middle[place]) for place in places]
        for place, result in zip(places, run_many(resolved, jobs=jobs), strict=True):
            [flow] = result.flows
            arrived = flow["delivery_fraction" if traffic == "cbr" else "packet_delivery_fraction"]
            is_carried = arrived is not None and arrived >= 1.0 - MOST_LOST
            (low if is_carried else high)[place] = middle[place]
    return low


def _check_range(resolved: Resolved, hops: int, spacing_m: float) -> None:
    """Checks that the shortest path of a chain has as many hops as the chain."""
    ends = [(0, hops)]
    [path] = _core.shortest_paths(*resolved.links_json(), resolved.movement, ends, 0.0)
    if path is None or len(path) != hops + 1:
        receive_m, _, _ = _core.radio_ranges(json.dumps(resolved.params))
        found, wanted = (
            f"{spacing_m:g} m",
            f"more than half of the receive range, {receive_m:.0f} m, and at most it",
        )
        raise InputError("neighbours only must be within range", "chain: spacing_m", found, wanted)
