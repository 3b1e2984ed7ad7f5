"""Places of nodes with flows between them, and speeds, as levels of a campaign's factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Data = Mapping[str, Any]
Fields = dict[str, Any]


def tcp(src: int, dst: int, start_s: float = 0.0) -> Fields:
    """An endless transfer, from time 0 unless told otherwise."""
    return {"kind": "tcp", "src": src, "dst": dst, "start_s": start_s}


def cbr(src: int, dst: int, data: Data, number: int = 0, of: int = 1) -> Fields:
    """A CBR flow; ``of`` flows that are numbered start at even distances within one interval."""
    interval_s = 8 * data["bytes"] / (1000 * data["kbps"])
    ends = {"src": src, "dst": dst, "start_s": interval_s * number / of}
    return {"kind": "cbr", **ends, "bytes": data["bytes"], "interval_s": interval_s}


def chain(label: Any, data: Data) -> Fields:
    """A chain with one flow over all of it, as long as the label says or the table does.

    The table has `spacing_m` and, for CBR, `bytes` and `kbps`; `hops` and further `fields` by label.
    """
    hops = _hops(label, data)
    flow = cbr(0, hops, data) if "kbps" in data else tcp(0, hops)
    return {**_chain(hops, [flow], data), **data.get("fields_of", {}).get(label, {})}


def _hops(label: Any, data: Data) -> int:
    hops = data.get("hops", label)
    return int(hops[label] if isinstance(hops, Mapping) else hops)


def chain_of_segments(label: Any, data: Data) -> Fields:
    """A chain with one flow over all of it, whose keys beyond its ends are in `flow`."""
    return _chain(int(label), [{**tcp(0, int(label)), **data["flow"]}], data)


def both_ways(label: Any, data: Data) -> Fields:
    """A chain with CBR one way, or both ways if the label says so."""
    hops = data["hops"]
    flows = [cbr(0, hops, data), cbr(hops, 0, data, 1, 2)]
    return _chain(hops, flows[: data["flows"][label]], data)


def from_one_end(label: Any, data: Data) -> Fields:
    """A chain with transfers from its first node to nodes at the distances that `hops` lists by label."""
    lengths = data["hops"][label]
    return _chain(max(lengths), [tcp(0, hops) for hops in lengths], data)


def _chain(hops: int, flows: list[Fields], data: Data) -> Fields:
    return {
        "movement": {"chain": {"nodes": hops + 1, "spacing_m": data["spacing_m"]}},
        "traffic": {"flows": flows},
    }


CUTS_BEGIN_S, PIPE_WHOLE_S, PIPE_LASTS_S = 10.0, 10.0, 600.0


def cut_pipe(label: Any, _data: Data) -> Fields:
    """A path of two hops that is cut for as long as the label says, in s, each time after 10 s in one piece.

    The movement is that of `cut_movement`, as a file among the data.
    """
    return {
        "movement": {"file": f"pipe-{label:g}.mov"},
        "traffic": {"flows": [tcp(0, 2, 3.0)]},
    }


def cut_movement(cut_s: float) -> str:
    """Three nodes in a row as an ns-2 movement file; the middle one is out of reach for so long at a time."""
    lines = [f"# Node 1 is out of reach for {cut_s:g} s, each time after {PIPE_WHOLE_S:g} s."]
    for node, x_m in enumerate((100, 300, 500)):
        lines += [f"$node_({node}) set X_ {x_m}", f"$node_({node}) set Y_ 100"]
    time_s = CUTS_BEGIN_S
    while time_s < PIPE_LASTS_S:
        for y_m, lasts_s in ((9100, cut_s), (100, PIPE_WHOLE_S)):
            lines.append(f'$ns_ at {time_s:g} "$node_(1) setdest 300 {y_m} 100000"')
            time_s += lasts_s
    return "\n".join(lines) + "\n"


def star(label: Any, data: Data) -> Fields:
    """Flows across one node, as many as the label says, between nodes on a circle around it.

    The shared node is number 0. Flow k goes from node 2k + 1 to node 2k + 2, which are opposite each other:
    out of each other's range, and with no other node in range of both, if the range is below √2 radii. TCP
    flows start 0.1 s apart: without random slots, stations that begin at once collide at every attempt.
    """
    count, radius_m = int(label), data["spacing_m"]
    places = [[radius_m, radius_m]]
    for index in range(count):
        angle = math.pi * index / count
        places += [
            [radius_m * (1 + math.cos(turn)), radius_m * (1 + math.sin(turn))]
            for turn in (angle, angle + math.pi)
        ]
    ends = [(2 * number + 1, 2 * number + 2) for number in range(count)]
    flows = [
        cbr(*pair, data, number, count) if "kbps" in data else tcp(*pair, number / 10)
        for number, pair in enumerate(ends)
    ]
    return {"movement": {"positions": places}, "traffic": {"flows": flows}}


def speeds(label: Any, data: Data) -> Fields:
    """Random waypoint at a mean speed in m/s, each leg's uniform within a share (`within`) of it."""
    waypoint = {
        "speed_min": round((1 - data["within"]) * label, 9),
        "speed_max": round((1 + data["within"]) * label, 9),
    }
    return {"movement": {"waypoint": waypoint}}


def areas(label: Any, data: Data) -> Fields:
    """Sources, forwarders and sinks in areas, with as many flows as the label says, each with its own ends.

    Flows start 1 s apart. If the table has `alone_kbps`, what one flow carries alone in this network, the
    rate to which sources may be throttled is an equal part of it.
    """
    count = int(label)
    ends = [{**tcp(number, count + number, float(number)), **data["flow"]} for number in range(count)]
    rate = {"throttle": {"rate_bps": 1e3 * data["alone_kbps"] / count}} if "alone_kbps" in data else {}
    return {
        "movement": {"areas": {"sources": count, "sinks": count}},
        "traffic": {"flows": ends},
        **rate,
    }


def rows_of_flows(label: Any, data: Data) -> Fields:
    """Chains side by side, each with one flow from end to end and nodes of its own rate.

    `rates_mbps` are those of the rows, from the south. Of a label in `only` just the flow of that row is
    there. Rows are `apart_m` from each other: too far for a hop from one to the next node of another.
    """
    hops, rates = data["hops"], data["rates_mbps"]
    places = [
        [data["spacing_m"] * step, data["apart_m"] * row]
        for row in range(len(rates))
        for step in range(hops + 1)
    ]
    listed = [
        {**tcp((hops + 1) * row, (hops + 1) * row + hops, float(row)), **data["flow"]}
        for row in range(len(rates))
    ]
    of_rows = [
        {"src": (hops + 1) * row + step, "rate_bps": 1e6 * rate}
        for row, rate in enumerate(rates)
        for step in range(hops + 1)
    ]
    throttle: Fields = {"mode": "off"}
    if label in data.get("throttled", []):
        throttle = {"mode": "preset"}
        for flow, alone_kbps in zip(listed, data["alone_kbps"], strict=True):
            flow["throttle_bps"] = [[0.0, 1e3 * alone_kbps / len(rates)]]
    rows = data.get("only", {})
    chosen = [listed[rows[label]]] if label in rows else listed
    return {
        "movement": {"positions": places},
        "traffic": {"flows": chosen},
        "rates": of_rows,
        "throttle": throttle,
    }


def shared_chain(label: Any, data: Data) -> Fields:
    """A chain with as many flows over it as the label says, throttled to equal parts of `alone_kbps`."""
    count = int(label)
    flows = [{**tcp(0, data["hops"], number / 2), **data["flow"]} for number in range(count)]
    return {
        **_chain(data["hops"], flows, data),
        "throttle": {"mode": "preset", "rate_bps": 1e3 * data["alone_kbps"] / count},
    }


def batches(_label: Any, data: Data) -> Fields:
    """Flows of all connections, interval by interval within each.

    The connections are the same in all scenarios: nodes that move at random are alike, whichever talk.
    """
    size = data["connections_of_a_batch"]
    gap_s = 8 * data["bytes"] / (1000 * (data["kbps_of_a_batch"] / size))
    ends = [float(end) for end in data["interval_ends_s"]]
    draw, flows = Random(f"{data['draw']}, phases"), []
    for number, (src, dst) in enumerate(_connections(data)):
        first_s, phase_s = float(data["batch_starts_s"][number // size]), draw.random() * gap_s
        for begin, end in zip([0.0, *ends], ends, strict=False):
            if begin >= first_s:
                # The first packet of an interval is the next of the connection's.
                missed = -(-(begin - first_s - phase_s) // gap_s) if begin > first_s else 0
                start_s = round(first_s + phase_s + max(missed, 0) * gap_s, 6)
                place = {"src": src, "dst": dst, "start_s": start_s, "stop_s": end}
                flows.append({"kind": "cbr", **place, "bytes": data["bytes"], "interval_s": gap_s})
    return {"traffic": {"flows": flows}}


def _connections(data: Data) -> list[tuple[int, int]]:
    nodes, count = data["nodes"], data["connections_of_a_batch"] * len(data["batch_starts_s"])
    pairs = [(src, dst) for src in range(nodes) for dst in range(nodes) if src != dst]
    Random(data["draw"]).shuffle(pairs)
    return pairs[:count]


LAYOUTS: dict[str, Callable[[Any, Data], Fields]] = {
    "chain": chain,
    "both-ways": both_ways,
    "from-one-end": from_one_end,
    "cut-pipe": cut_pipe,
    "star": star,
    "speeds": speeds,
    "areas": areas,
    "chain-of-segments": chain_of_segments,
    "rows-of-flows": rows_of_flows,
    "shared-chain": shared_chain,
    "batches": batches,
}
"""By the names that campaigns give them."""


def layout(label: Any, data: Data) -> Fields:
    """The fields of a level, or of a campaign, that names its layout."""
    return LAYOUTS[data["layout"]](label, data)
