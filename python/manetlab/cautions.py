"""What may make a run an artefact of its set-up, deduced from the scenario before it is run.

Flows in lockstep, sources hidden from each other whose phases stay as they are, proactive protocols that have
not converged, AODV whose answers do not arrive, fair rates along paths that are not there, reservations that
nobody makes, base stations that are not there, broken links that nobody reports, movement that ends long
before the run, degrees in place of metres, milliseconds in place of seconds; and what was understood of files
otherwise than it may be meant.
All of it follows from the resolved scenario, so that a check says it without a run and a run pays nothing for
it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise
from typing import TYPE_CHECKING, Any

from manetlab import _core

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

FEWEST_MEETINGS = 3
"""Fewest packets that two flows in lockstep make at the same instants."""
LOCKSTEP_SHARE = 0.2
"""Least share of the packets of one of them that are made at the same instants."""
MOST_INSTANTS = 2000
"""How many packets of a flow are looked at."""
MOST_FLOWS = 400
"""Most flows of which each pair is looked at."""
MOST_NAMED = 4
"""How many pairs of flows are named."""
OVERLAP = 0.05
"""Chance of two packets to overlap, above which the phases of hidden sources matter."""
FIELD_IN_RANGES, FIELD_M = 0.02, 10.0
"""A network smaller than this share of the range, and than this in m, is taken for one in degrees."""
CONVERGES_S = {False: (50.0, 15.0), True: (-30.0, 27.0)}
"""In how many s DSDV knows all routes in nine of ten runs, of no hops and more for each hop: a line through
what was measured on chains of 2 to 6 hops, without and with `dsdv.trigger_on_seqno` (docs/models/dsdv.md)."""
UNKNOWN_SHARE = 0.02
"""Least share of what is measured during which a protocol may not know its routes."""
SPEEDS_MPS = (0.02, 340.0)
"""Where no node of a file is as fast as the first, or one is faster than the second, in m/s, times may be in
another unit."""
LOOKS, PLACES = 50, 100_000
"""At how many instants nodes are looked at, at most, and how many places are looked at in all."""
STILL_SHARE = 0.1
"""Least share of what is measured during which nothing moves any more."""
BEGIN_ONCE = ("tcp", "adp", "video", "voice")
"""Kinds of flows of which only the beginning is looked at: what follows is in step if that is."""
IN_STEP = ("standard", "defer")
"""Values of `mac.access` with which stations send at once on an idle medium, and so at the same instant; with
CSMA and FAMA they always do."""

Pair = tuple[int, int]


def cautions(resolved: Resolved) -> list[str]:
    """What may make the results an artefact, a sentence each."""
    return [found for check in CHECKS if (found := check(resolved)) is not None]


def of_points(points: Sequence[Resolved]) -> list[str]:
    """The same of several scenarios: of each kind the first sentence, and how many scenarios have it."""
    told = []
    for check in CHECKS:
        found = [said for each in points if (said := check(each)) is not None]
        if found:
            which = "the only point" if len(points) == 1 else f"{len(found)} of {len(points)} points"
            told.append(f"{found[0][0].upper()}{found[0][1:]} ({which}).")
    return told


def notes(resolved: Resolved) -> list[str]:
    """How files were understood where that may be a surprise, a sentence each."""
    found = list(resolved.movement.remarks)
    if (unplaced := resolved.movement.unplaced) > 0:
        nodes, are = ("one node", "is") if unplaced == 1 else (f"{unplaced} nodes", "are")
        found.append(f"{nodes} of the movement file {are} given no start and {are} at (0, 0), as in ns-2")
    if (rests := resolved.movement.rests_elsewhere) > 0:
        orders = "one order" if rests == 1 else f"{rests} orders"
        found.append(
            f"the movement has {orders} at speed 0 to a place where the node is not; as in ns-2, the node "
            "stays where it is until its next order"
        )
    if (late := resolved.late_flows) > 0:
        flows, begin = ("one flow", "begins") if late == 1 else (f"{late} flows", "begin")
        found.append(
            f"{flows} of the traffic file {begin} when the run has ended, at "
            f"{resolved.core['duration_s']:g} s, and {'is' if late == 1 else 'are'} left out"
        )
    return found


# Flows in lockstep.


def lockstep(resolved: Resolved) -> str | None:
    """A sentence if senders make their packets at the same instants again and again, else None.

    Where stations send at once on an idle medium, such packets collide every time, and whatever is broadcast
    is lost: requests for routes and addresses among them (Floyd and Jacobson's traffic phase effects).
    """
    params = resolved.params
    mac = params["mac"]
    sends_at_once = mac["access_protocol"] != "dcf" or mac["access"] in IN_STEP
    if params["network"]["start_jitter_ms"] > 0 or not sends_at_once:
        return None
    beats = [_instants(flow, resolved) for flow in resolved.flows[:MOST_FLOWS]]
    by_instant: dict[int, list[int]] = {}
    for number, instants in enumerate(beats):
        for instant in instants:
            by_instant.setdefault(instant, []).append(number)
    meetings: dict[Pair, int] = {}
    for together in by_instant.values():
        for pair in combinations(together, 2):
            meetings[pair] = meetings.get(pair, 0) + 1
    reach_m = sum(_core.radio_ranges(json.dumps(params))[1:])
    places = resolved.movement.positions(0.0)
    found = [
        pair
        for pair, count in sorted(meetings.items())
        if _is_lockstep(count, [(resolved.flows[number], beats[number]) for number in pair])
        and (apart_m := _apart_m(resolved, places, pair)) is not None
        and apart_m <= reach_m
    ]
    if not found:
        return None
    return (
        f"{_named(found)} send at the same nanosecond again and again, from nodes that interfere with each "
        "other: they may block each other for the whole run; set network.start_jitter_ms, or let them begin "
        "at different times"
    )


def _is_lockstep(meetings: int, flows: Sequence[tuple[Mapping[str, Any], Sequence[int]]]) -> bool:
    # A transfer has one beginning; if two are the same, their requests to connect are repeated in step.
    if all(flow["kind"] in BEGIN_ONCE for flow, _ in flows):
        return True
    return meetings >= FEWEST_MEETINGS and meetings >= LOCKSTEP_SHARE * min(len(made) for _, made in flows)


def _instants(flow: Mapping[str, Any], resolved: Resolved) -> list[int]:
    """When a flow makes packets, in ns, as far as that is known before a run; of a transfer its beginning."""
    start = round(flow["start_s"] * 1e9)
    duration_s = resolved.core["duration_s"]
    end = round(min(flow.get("stop_s") or duration_s, duration_s) * 1e9)
    match flow["kind"]:
        case "cbr" if not flow.get("random"):
            times = range(start, end, max(1, round(flow["interval_s"] * 1e9)))
            # Those after all flows have begun, where they all are.
            latest = max(round(other["start_s"] * 1e9) for other in resolved.flows)
            skipped = max(0, -((start - latest) // times.step))
            skipped = min(skipped, max(0, len(times) - MOST_INSTANTS))
            most = flow.get("max_packets") or len(times)
            return list(islice(times, skipped, min(most, skipped + MOST_INSTANTS)))
        case "trace":
            times_s = [time_s for time_s, _ in flow["packets"][:MOST_INSTANTS]]
            return [start + round(time_s * 1e9) for time_s in times_s]
    return [start] if flow["kind"] in BEGIN_ONCE else []


def _apart_m(resolved: Resolved, places: Sequence[tuple[float, float]], pair: Pair) -> float | None:
    """The distance of two flows' sources when the run begins, in m; None if they are one node."""
    first, second = (resolved.flows[number]["src"] for number in pair)
    return None if first == second else math.dist(places[first], places[second])


def _named(pairs: Sequence[Pair]) -> str:
    listed = [f"{first} and {second}" for first, second in pairs[:MOST_NAMED]]
    more = f" (and {len(pairs) - MOST_NAMED} more pairs)" if len(pairs) > MOST_NAMED else ""
    return f"flows {', '.join(listed)}{more}"


# Hidden sources.


def hidden_phases(resolved: Resolved) -> str | None:
    """A sentence if CBR sources that cannot sense each other keep the phase of their packets, else None."""
    movement, params = resolved.movement, resolved.params
    if movement.last_command_s > 0.0 or _all_are_announced(resolved):
        return None
    _, _, sense_m = _core.radio_ranges(json.dumps(params))
    places = movement.positions(0.0)
    found = [pair for pair in _equal_intervals(resolved) if _is_hidden(resolved, places, pair, sense_m)]
    if not found:
        return None
    return (
        f"{_named(found)} have equal intervals and sources that cannot sense each other: whether their "
        "packets overlap is decided once, by when they begin; give random = true, or average over several "
        "seeds"
    )


def _all_are_announced(resolved: Resolved) -> bool:
    """Does an RTS go before each packet of CBR?"""
    mac = resolved.params["mac"]
    if mac["access_protocol"] != "dcf":
        return bool(mac["access_protocol"] == "fama")
    least = min((flow["bytes"] for flow in resolved.flows if flow["kind"] == "cbr"), default=math.inf)
    return bool(mac["rts_threshold_bytes"] < least)


def _equal_intervals(resolved: Resolved) -> Iterator[Pair]:
    """The pairs of CBR flows whose packets often overlap if their sources do not sense each other."""
    rate_bps = resolved.params["mac"]["data_rate_bps"]
    regular = [
        number
        for number, flow in enumerate(resolved.flows[:MOST_FLOWS])
        if flow["kind"] == "cbr"
        and not flow.get("random")
        and 2 * 8 * flow["bytes"] / rate_bps / flow["interval_s"] > OVERLAP
    ]
    for first, second in combinations(regular, 2):
        if resolved.flows[first]["interval_s"] == resolved.flows[second]["interval_s"]:
            yield first, second


def _is_hidden(resolved: Resolved, places: Sequence[tuple[float, float]], pair: Pair, sense_m: float) -> bool:
    """Do the sources not sense each other, and does one disturb the other's direct neighbour?"""
    apart_m = _apart_m(resolved, places, pair)
    if apart_m is None or apart_m <= sense_m:
        return False
    first, second = (resolved.flows[number] for number in pair)
    return any(
        math.dist(places[one["src"]], places[other["dst"]]) <= sense_m
        for one, other in ((first, second), (second, first))
    )


# Proactive protocols.


def unconverged(resolved: Resolved) -> str | None:
    """A sentence if a proactive protocol may not know the flows' routes when they are measured, else None."""
    routing = resolved.core["routing"]
    if routing not in CONVERGES or not resolved.flows:
        return None
    duration_s = resolved.core["duration_s"]
    begins_s = max(resolved.core["warmup_s"], min(flow["start_s"] for flow in resolved.flows))
    hops = _most_hops(resolved)
    if hops < 1 or begins_s >= duration_s:
        return None
    name, converges_s = CONVERGES[routing]
    needed_s = converges_s(resolved.params[routing], hops)
    if min(needed_s, duration_s) - begins_s <= UNKNOWN_SHARE * (duration_s - begins_s):
        return None
    return (
        f"{name} needs about {needed_s:.0f} s until it knows routes of {hops} hop{'s' if hops > 1 else ''}, "
        f"and what is measured begins at {begins_s:.4g} s: part of every result is that it has not "
        f"converged; give a warmup_s of at least {needed_s:.0f}"
    )


def dsdv_converges_s(dsdv: Mapping[str, Any], hops: int) -> float:
    """In how many s DSDV knows routes of this many hops in nine of ten runs, where nodes stand still."""
    if hops < 2:
        # Neighbours know each other at once.
        return 0.0
    least_s, of_hop_s = CONVERGES_S[dsdv["trigger_on_seqno"]]
    # Routes settle hop by hop with triggers, and wait for full updates without them.
    settling_s = dsdv["initial_settling_s"] * dsdv["settling_factor"] / 12.0
    slower = settling_s if dsdv["trigger_on_seqno"] else max(settling_s, dsdv["update_interval_s"] / 15.0)
    return float(slower * (least_s + of_hop_s * hops))


def olsr_converges_s(olsr: Mapping[str, Any], hops: int) -> float:
    """The same of OLSR: links have to be symmetric, and to be worth something where they have a cost."""
    least_s, of_hop_s = (6.0, 1.7) if olsr["metric"] == "etx" else (3.0, 1.5)
    return float(olsr["hello_interval_s"] / 2.0 * (least_s + of_hop_s * hops))


def babel_converges_s(babel: Mapping[str, Any], hops: int) -> float:  # noqa: ARG001 (as the others)
    """The same of Babel: a neighbour that was missed at first is told everything by the next full update."""
    return float(babel["update_interval_s"] + babel["hello_interval_s"])


def batman_converges_s(batman: Mapping[str, Any], hops: int) -> float:
    """The same of B.A.T.M.A.N.: qualities have to be counted hop after hop, over IP from few messages."""
    least, of_hop = (20.0, 8.0) if batman["layer"] == "ip" and hops > 1 else (0.0, 3.0)
    return float(batman["ogm_interval_s"] * (least + of_hop * hops))


def rip_converges_s(rip: Mapping[str, Any], hops: int) -> float:
    """The same of RIP: each hop waits for a triggered update, or for a regular one if that was lost."""
    of_hop_s = 0.75 * rip["triggered_max_s"] if rip["triggered_updates"] else rip["update_interval_s"]
    first_s = 0.0 if rip["asks_at_start"] else rip["update_interval_s"]
    return float(max(first_s, of_hop_s * hops if hops > 1 else 0.0))


CONVERGES: Mapping[str, tuple[str, Callable[[Mapping[str, Any], int], float]]] = {
    "dsdv": ("DSDV", dsdv_converges_s),
    "olsr": ("OLSR", olsr_converges_s),
    "babel": ("Babel", babel_converges_s),
    "batman": ("B.A.T.M.A.N.", batman_converges_s),
    "rip": ("RIP", rip_converges_s),
}
"""Names of protocols, and in how many s one with these parameters knows routes of this many hops in nine of
ten runs, as measured on chains of 1 to 6 hops that nothing else burdens."""


def _most_hops(resolved: Resolved) -> int:
    """The hops of the longest of the flows' shortest paths when the run begins."""
    pairs = list(dict.fromkeys((flow["src"], flow["dst"]) for flow in resolved.flows))[:MOST_FLOWS]
    # One instant only: that at the start.
    step_s = float(resolved.core["duration_s"])
    hops = _core.shortest_hops(resolved.core_json(), resolved.movement, pairs, step_s)
    return max((each[0] or 0 for each in hops), default=0)


# Degrees.


def degrees(resolved: Resolved) -> str | None:
    """A sentence if the nodes' places look like degrees of longitude and latitude, else None."""
    places = resolved.movement.positions(0.0)
    if len(places) < 2:
        return None
    widths_m = [max(axis) - min(axis) for axis in zip(*places, strict=True)]
    range_m = _core.radio_ranges(json.dumps(resolved.params))[0]
    extent_m = max(widths_m)
    if not 0.0 < extent_m <= min(FIELD_M, FIELD_IN_RANGES * range_m):
        return None
    values = [value for place in places for value in place]
    finer = sum(abs(value * 100 - round(value * 100)) > 1e-6 for value in values)
    if 2 * finer <= len(values) or any(abs(x) > 180 or abs(y) > 90 for x, y in places):
        return None
    return (
        f"all nodes start within {_two_digits(extent_m)} m of each other, at places such as "
        f"{places[0][0]:g}, {places[0][1]:g}: are these degrees? Places are in metres; project them first "
        "(UTM, for example)"
    )


# Movement that ends.


def standing(resolved: Resolved) -> str | None:
    """A sentence if movement from files ends long before the run does, else None."""
    movement, duration_s = resolved.movement, resolved.core["duration_s"]
    ends_s, begins_s = movement.ends_s, resolved.core["warmup_s"]
    source = resolved.scenario.movement
    if ends_s == 0.0 or source.drawn is not None or source.areas is not None:
        return None
    share = (duration_s - max(ends_s, begins_s)) / (duration_s - begins_s)
    if share <= STILL_SHARE:
        return None
    return (
        f"the movement ends at {ends_s:g} s and the run at {duration_s:g} s: nothing moves for "
        f"{100 * share:.0f} % of what is measured; give a duration_s of {ends_s:g}, or longer movement"
    )


# Times in another unit.


def speeds(resolved: Resolved) -> str | None:
    """A sentence if nodes of a file move as nobody does, because times may be in another unit, else None."""
    movement, source = resolved.movement, resolved.scenario.movement
    ends_s = min(movement.ends_s, resolved.core["duration_s"])
    if ends_s <= 0.0 or source.drawn is not None or source.areas is not None:
        return None
    looks = max(2, min(LOOKS, PLACES // movement.nodes))
    step_s = ends_s / looks
    places = [movement.positions(number * step_s) for number in range(looks + 1)]
    fastest_mps = max(
        math.dist(before, after) / step_s
        for earlier, later in pairwise(places)
        for before, after in zip(earlier, later, strict=True)
    )
    slow_mps, fast_mps = SPEEDS_MPS
    if fastest_mps == 0.0 or slow_mps <= fastest_mps <= fast_mps:
        return None
    told, unit = (
        ("no node is faster than", "milliseconds") if fastest_mps < slow_mps else ("nodes move at", "minutes")
    )
    return (
        f"{told} {_two_digits(fastest_mps)} m/s over {ends_s:g} s of movement: are its times in {unit}? "
        "Times are in seconds, places in metres"
    )


def _two_digits(value: float) -> str:
    """A number to two digits, without an exponent where people would write none."""
    return f"{float(f'{value:.2g}'):g}"


# Replies that go no farther.


def kept_replies(resolved: Resolved) -> str | None:
    """A sentence if AODV's destinations alone answer and nodes on the way keep what they know, else None."""
    aodv = resolved.params["aodv"]
    keeps = aodv["behaviour"] == "rfc-3561" and not aodv["pass_known_rreps"]
    if resolved.core["routing"] != "aodv" or not keeps or not aodv["destination_only"]:
        return None
    return (
        "with aodv.destination_only and without aodv.pass_known_rreps, nodes that know a destination keep "
        "its answers to others, who never get a route; set aodv.pass_known_rreps"
    )


# Fair rates along paths that are not there.


def absent_on_paths(resolved: Resolved) -> str | None:
    """A sentence if sources learn fair rates of paths over nodes that are away at times, else None."""
    if resolved.params["throttle"]["mode"] != "oracle":
        return None
    from manetlab.shares import nodes_away

    if not (away := nodes_away(resolved)):
        return None
    nodes = "node" if len(away) == 1 else "nodes"
    which = ", ".join(map(str, away[:MOST_NAMED])) + (" and others" if len(away) > MOST_NAMED else "")
    return (
        f'the rates of throttle.mode = "oracle" follow neither joining nor leaving nor failures: paths over '
        f"{nodes} {which} count also while {'it is' if len(away) == 1 else 'they are'} away"
    )


def unreserved(resolved: Resolved) -> str | None:
    """A sentence if flows ask for reservations that no node makes, or nodes make some that none asks for."""
    is_on = resolved.params["insignia"]["mode"] == "on"
    asking = [number for number, flow in enumerate(resolved.flows) if flow.get("reserve_bps") is not None]
    if is_on and not asking:
        return "no flow has reserve_bps: nothing is reserved, although insignia.mode is on"
    if is_on or not asking:
        return None
    which = ", ".join(map(str, asking[:MOST_NAMED])) + (" and others" if len(asking) > MOST_NAMED else "")
    flows, ask = ("flow", "asks") if len(asking) == 1 else ("flows", "ask")
    return (
        f"{flows} {which} {ask} for a reservation (reserve_bps), and nodes make none: set insignia.mode to on"
    )


def without_wire(resolved: Resolved) -> str | None:
    """A sentence if base stations are to help TCP and no node is one, for want of a wired link, else None."""
    help_of = resolved.params["tcp"]["base_station"]
    if help_of == "none" or resolved.core.get("wired"):
        return None
    return (
        f'tcp.base_station = "{help_of}" does nothing: a base station is a node with a wired link, and there '
        "is none; `wired` adds some"
    )


# Broken links that nobody reports.


def unreported(resolved: Resolved) -> str | None:
    """A sentence if a protocol learns of broken links from the MAC alone, and that is CSMA, else None."""
    routing = resolved.core["routing"]
    says_hello = resolved.params.get(routing, {}).get("hello", False)
    if resolved.params["mac"]["access_protocol"] != "csma" or routing not in TOLD_BY_MAC or says_hello:
        return None
    from manetlab.shares import nodes_away

    if resolved.movement.last_command_s == 0.0 and not nodes_away(resolved):
        return None
    hello = (
        f"set {routing}.hello" if routing in ("aodv", "dymo") else "choose a protocol with hellos or beacons"
    )
    return (
        f"{TOLD_BY_MAC[routing]} learns of broken links from the MAC, and CSMA reports none: packets go on "
        f'to neighbours that have left; {hello}, or mac.access_protocol = "fama", which reports nodes that '
        "do not answer"
    )


TOLD_BY_MAC = {"aodv": "AODV", "dymo": "DYMO", "dsr": "DSR", "tsr": "TSR", "adv": "ADV"}
"""Protocols that have no other sign of a broken link; AODV and DYMO have with hellos."""

CHECKS: Sequence[Callable[[Resolved], str | None]] = (
    lockstep,
    hidden_phases,
    unconverged,
    standing,
    speeds,
    degrees,
    kept_replies,
    absent_on_paths,
    unreserved,
    without_wire,
    unreported,
)
