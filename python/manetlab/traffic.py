"""Random traffic patterns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import floor
from typing import TYPE_CHECKING, Any

from manetlab import _core
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.sources import RandomTraffic

CBR_START_WITHIN_S = 20.0
"""CBR flows begin within this time, in s, if neither the pattern nor a shorter run says otherwise."""
TCP_START_WITHIN_S = 1.0
"""And all other flows within this time from when they may begin, where starts are jittered."""


def draw(
    pattern: RandomTraffic,
    movement: _core.Movement,
    params: Mapping[str, Any],
    times: tuple[float, float],
    streams: tuple[int, int],
    where: str,
    ends: list[tuple[int, int]] | None = None,
) -> list[dict[str, Any]]:
    """The flows of a pattern.

    Args:
        pattern: How many flows of which kind.
        movement: The nodes.
        params: The parameters, which say how far a link reaches.
        times: When measurement begins, as all but CBR flows do if the pattern does not say it, and when the
            run ends, both in s.
        streams: The seed of the run and the number of its replication.
        where: What an error names as its place.
        ends: The ends of the flows that have all different ones, if they are not to be drawn.

    Raises:
        InputError: There are too few nodes for that many flows, CBR flows might begin after the run, or no
            two nodes are in range of each other.
    """
    nodes = movement.nodes
    check_nodes(pattern, nodes, f"{where}: traffic.random")
    _, duration_s = times
    within_s = start_within_s(pattern.cbr_start_within_s, duration_s)
    if pattern.cbr and within_s > duration_s:
        place = f"{where}: traffic.random.cbr_start_within_s"
        wanted = f"at most the duration, {duration_s:g} s"
        hint = "omit it, or make the run longer"
        raise InputError("CBR flows might start after the run", place, f"{within_s:g} s", wanted, hint)
    # One list of draws in a fixed order: 2 for each flow that is not CBR, at most 3 for each CBR flow, and
    # the starts of those that are not CBR.
    kinds = _kinds(pattern)
    of_ends = 2 * len(kinds) + 3 * pattern.cbr
    drawn = _core.traffic_draws(*streams, of_ends + len(kinds))
    units, of_starts = iter(drawn[:of_ends]), drawn[of_ends:]
    starts = _starts(pattern, of_starts, params, times)
    drawn_ends = _apart(units, _flows_apart(pattern), nodes)
    apart_ends = drawn_ends if ends is None else ends
    flows: list[dict[str, Any]] = []
    for kind, start_s, (src, dst) in zip(kinds, starts, apart_ends, strict=False):
        flows.append({**kind, "src": src, "dst": dst, "start_s": start_s})
        if kind["kind"] == "voice":
            flows.append({**kind, "src": dst, "dst": src, "start_s": start_s})
    for src, dst, unit in _cbr_draws(pattern, units, apart_ends[len(kinds) :], movement, params, where):
        drawn_s = unit * within_s
        flows.append(
            {
                "kind": "cbr",
                "src": src,
                "dst": dst,
                "start_s": _in_microseconds(drawn_s, duration_s),
                "bytes": pattern.cbr_bytes,
                "interval_s": pattern.cbr_interval_s,
                **_lateness(pattern),
            }
        )
    return flows


def start_within_s(asked_s: float | None, duration_s: float) -> float:
    """Before which time CBR flows begin, in s: what was asked for, or the default, within the run."""
    return min(CBR_START_WITHIN_S, duration_s) if asked_s is None else asked_s


def _starts(
    pattern: RandomTraffic, units: list[float], params: Mapping[str, Any], times: tuple[float, float]
) -> list[float]:
    """When the flows begin that are not CBR, in s: all at once, or at drawn times of a window."""
    warmup_s, duration_s = times
    from_s, within_s = pattern.tcp_start_s, pattern.tcp_start_within_s
    if within_s is None:
        # A start that is stated, or an old profile: all flows begin together, as the scenario says.
        is_spread = from_s is None and params["network"]["start_jitter_ms"] > 0
        within_s = TCP_START_WITHIN_S if is_spread else 0.0
    begins_s = warmup_s if from_s is None else from_s
    if within_s == 0 or begins_s >= duration_s:
        return [begins_s] * len(units)
    window_s = min(within_s, duration_s - begins_s)
    return [_in_microseconds(begins_s + unit * window_s, duration_s) for unit in units]


def _in_microseconds(time_s: float, duration_s: float) -> float:
    """A time that every file format keeps, before the run ends, where the nearest may be."""
    nearest_s = round(time_s, 6)
    return nearest_s if nearest_s < duration_s else floor(time_s * 1e6) / 1e6


def _kinds(pattern: RandomTraffic) -> list[dict[str, Any]]:
    """What the flows are that are not CBR, in their order; of a call the flow of one direction."""
    late = _lateness(pattern)
    video: dict[str, Any] = {"kind": "video", "transport": pattern.video_transport}
    if pattern.video_transport != "tcp":
        video |= late
    made = [{"kind": "tcp"}] * pattern.tcp + [{"kind": "adp", **late}] * pattern.adp + [video] * pattern.video
    voice = {"kind": "voice", "codec": pattern.call_codec, **late}
    return [*made, *({**voice, "call": call} for call in range(pattern.calls))]


def _lateness(pattern: RandomTraffic) -> dict[str, Any]:
    """When the pattern's datagrams are late, and what their deadline is, as fields of flows."""
    ages = {"late_after_s": pattern.late_after_s, "deadline_ms": pattern.deadline_ms}
    return {name: age for name, age in ages.items() if age is not None}


def _flows_apart(pattern: RandomTraffic) -> int:
    """How many flows, or pairs of a call, share no end point with any of each other."""
    return len(_kinds(pattern)) + (pattern.cbr if pattern.cbr_ends == "apart" else 0)


def units_of_ends(pattern: RandomTraffic, streams: tuple[int, int]) -> list[tuple[float, float]]:
    """The two draws, uniform on [0, 1), from which each flow has its ends that shares them with no other."""
    count = _flows_apart(pattern)
    units = _core.traffic_draws(*streams, 2 * count)
    return list(zip(units[::2], units[1::2], strict=True))


def check_nodes(pattern: RandomTraffic, nodes: int, where: str) -> None:
    """Are there nodes enough for the pattern?"""
    needed = max(2 * _flows_apart(pattern), 2 if pattern.cbr else 0)
    if nodes < needed:
        hint = 'flows with cbr_ends = "apart", and all flows except CBR, need different end points'
        found, wanted = f"{nodes} node{'s' if nodes != 1 else ''}", f"at least {needed} nodes"
        raise InputError("too few nodes for the traffic", where, found, wanted, hint)
    pairs = nodes * (nodes - 1)
    if pattern.cbr_ends == "distinct-pairs" and pattern.cbr > pairs:
        hint = "no two CBR flows have the same source and destination"
        found, wanted = f"{pattern.cbr} flows", f"at most {pairs}, the pairs of {nodes} nodes"
        raise InputError("too few nodes for the traffic", where, found, wanted, hint)


def _apart(units: Iterator[float], flows: int, nodes: int) -> list[tuple[int, int]]:
    """The ends of flows that share no node; a flow's do not depend on how many follow it."""
    ends = _distinct([next(units) for _ in range(2 * flows)], nodes)
    return list(zip(ends[::2], ends[1::2], strict=True))


def _cbr_draws(
    pattern: RandomTraffic,
    units: Iterator[float],
    apart_ends: list[tuple[int, int]],
    movement: _core.Movement,
    params: Mapping[str, Any],
    where: str,
) -> list[tuple[int, int, float]]:
    """Source, destination and draw of the beginning of each CBR flow."""
    nodes = movement.nodes
    if pattern.cbr_ends == "apart":
        return [(src, dst, next(units)) for src, dst in apart_ends]
    if pattern.cbr_ends == "distinct-pairs":
        numbers = _distinct([next(units) for _ in range(pattern.cbr)], nodes * (nodes - 1))
        split = [divmod(number, nodes - 1) for number in numbers]
        return [(src, _other(src, rest), next(units)) for src, rest in split]
    drawn = [(next(units), next(units), next(units)) for _ in range(pattern.cbr)]
    starts = [start for _, _, start in drawn]
    if pattern.cbr_within_hops is None:
        split = [(int(first * nodes), int(second * (nodes - 1))) for first, second, _ in drawn]
        pairs = [(src, _other(src, rest)) for src, rest in split]
    else:
        ends = [(first, second) for first, second, _ in drawn]
        pairs = movement.pairs_within_hops(json.dumps(params), pattern.cbr_within_hops, ends)
        if len(pairs) < pattern.cbr:
            place = f"{where}: traffic.random.cbr_within_hops"
            found, wanted = "no two nodes in range when the run begins", "two nodes in range of each other"
            hint = "place the nodes closer together, or omit cbr_within_hops"
            raise InputError("no node has a neighbour", place, found, wanted, hint)
    return [(src, dst, start) for (src, dst), start in zip(pairs, starts, strict=True)]


def _other(node: int, number: int) -> int:
    """The node of this number among all but ``node``: those from it on count one higher."""
    return number + (number >= node)


def _distinct(units: list[float], count: int) -> list[int]:
    """As many different numbers below ``count`` as there are draws, by the shuffle of Fisher and Yates."""
    places: dict[int, int] = {}
    chosen = []
    for index, unit in enumerate(units):
        other = index + int(unit * (count - index))
        chosen.append(places.get(other, other))
        places[other] = places.get(index, index)
    return chosen


def video_frames(
    video: Mapping[str, Any], count: int, streams: tuple[int, int] = (1, 0), flow: int = 0
) -> tuple[list[float], str, list[int]]:
    """The first frames of a video source: their times in s, a letter each for their types, their sizes in B.

    Args:
        video: The parameters of the section ``video``, all of them.
        count: How many frames.
        streams: The seed of the run and the number of its replication.
        flow: The number of the source's flow.
    """
    return _core.video_frames(json.dumps(dict(video)), streams, flow, count)
