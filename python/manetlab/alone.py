"""What a flow carries alone in a scenario: which row of the table says it, and whether it speaks of this one.

A row was measured with a profile, a sender and changes of parameters. What it says holds for a scenario with
the same values of all parameters that a chain's throughput depends on, and for links of its rate. Every
parameter counts that is not in `IRRELEVANT`, or of a section in `IRRELEVANT_SECTIONS`; both give the reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from manetlab import _core, parameters, radio_units
from manetlab.chain_throughput import Key, ThroughputRow, ThroughputTable, is_announced, packaged
from manetlab.errors import InputError

IRRELEVANT_SECTIONS = {
    "throttle": "it says how flows keep to their rates",
    "adp": "the measure of a region's load is TCP, for flows of ADP as well",
    "rtp": "reports are few, and the measure of a region's load is the data",
}
"""Sections that do not change what a chain carries, beside those of routing protocols: routes are static."""
IRRELEVANT = {
    "mac.data_rate_bps": "it is what a row is for, as the rate of the path's links",
    "mac.rts_threshold_bytes": "which frames are announced counts, not the threshold itself",
    "mac.broadcast_rate_bps": "over static routes only ARP broadcasts, once for each hop",
    "arp.enabled": "addresses are resolved once, before the measurement",
    "arp.max_requests": "addresses are resolved once, before the measurement",
    "arp.request_jitter_ms": "addresses are resolved once, before the measurement",
    "arp.retry_interval_ms": "addresses are resolved once, before the measurement",
    "arp.learns_from_all": "addresses are resolved once, before the measurement",
    "arp.delay_us": "addresses are resolved once, before the measurement",
    "network.cbr_late_after_s": "it only counts packets",
    "network.deadline_ms": "it only measures",
    "network.measure_path_hops": "it only measures",
    "network.measure_route_hops": "it only measures",
    "queue.routing_priority": "static routes send no routing packets",
    "tcp.allowed_pause_s": "it only measures",
    "tcp.segment_bytes": "it is what a row is for",
    "video.frames_per_s": "it is what is varied to find how much is carried",
    "video.random_phase": "it decides where in a group of pictures a flow begins",
    "video.playout_deadline_s": "it only counts frames",
}
"""Parameters that do not change what a chain carries, or that a row's key has, each with the reason."""
MOST_NAMED = 5
"""How many differences are named."""
NO_PARAMETERS = ("duration_s", "warmup_s", "seed")
"""Fields that a row may have been measured with beside parameters."""
HINT = (
    "give the flow alone_bps (`manetlab shares SCENARIO --measured` measures it), or a table of "
    "`manetlab chain-throughput` made with the same --set; `manetlab range` has --measured"
)


@dataclass(frozen=True)
class Alone:
    """What a flow carries alone over one hop, two and so on.

    Attributes:
        bps: The throughputs, in bit/s; None if they are not known.
        key: The row that says it, or that is missing.
        differences: In what the scenario differs from the rows that there are, if none fits.
    """

    bps: tuple[float, ...] | None
    key: Key
    differences: tuple[str, ...] = ()

    def error(self, where: str) -> InputError:
        """The error for a flow of which no row speaks because of `differences`."""
        named = "; ".join(self.differences[:MOST_NAMED])
        more = len(self.differences) - MOST_NAMED
        found = f"{named}; and {more} more" if more > 0 else named
        what = "what the flow carries alone was measured with other parameters"
        return InputError(what, where, found, f"the parameters of the row: {self.key}", HINT)


def alone_bps(
    flow: Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    profile: str,
    table: ThroughputTable | None = None,
    *,
    rate_bps: float | None = None,
    where: str = "what a flow carries alone",
) -> list[float] | None:
    """What a flow carries alone over one hop, two, …, in bit/s; a share of it is a rate.

    Args:
        flow: The flow.
        params: The parameters of all sections.
        profile: The name of the profile, for the table of what flows carry alone.
        table: What flows carry alone; the package's table if not given.
        rate_bps: The rate of the links of its path, in bit/s; `mac.data_rate_bps` if not given.
        where: What errors name as their place.

    Returns:
        The throughputs that the flow has of its own, or those of the table; None for flows whose packets
        differ in size, if the table does not have the rows from which it follows.

    Raises:
        InputError: The table does not say what the flow carries alone.
    """
    known = packaged() if table is None else table
    found = find(flow, params, profile, known, rate_bps)
    if found.differences:
        raise found.error(where)
    if found.bps is None and payload_bytes(flow, params) is not None:
        known.row(found.key)
    return None if found.bps is None else list(found.bps)


def find(
    flow: Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    profile: str,
    table: ThroughputTable,
    rate_bps: float | None = None,
) -> Alone:
    """What a flow carries alone as it says itself or as the table says; see `alone_bps`."""
    size, mean_bytes = payload_bytes(flow, params), mean_payload_bytes(flow, params)
    rate_bps = float(params["mac"]["data_rate_bps"] if rate_bps is None else rate_bps)
    key, of_tcp = (
        replace(Key.of(profile, params, round(mean_bytes), kind), data_rate_bps=rate_bps)
        for kind in (_kind(flow), "tcp")
    )
    if (given := flow.get("alone_bps")) is not None:
        return Alone(tuple(given), key)
    tcp_counts = _sends_tcp(flow)
    if key.traffic != "tcp":
        found = _of_datagrams(key, mean_bytes, table, params)
        if found.bps is not None or found.differences:
            return found
    # A table without rows for datagrams has what TCP carries, which is less: its ACKs take time as well.
    if size is None:
        return replace(_of_mixed(of_tcp, mean_bytes, table, params, tcp_counts), key=key)
    row, differences = _fitting(table.alike(of_tcp), params, tcp_counts)
    return Alone(None if row is None else row.throughput_bps, key, differences)


def _of_datagrams(key: Key, mean_bytes: float, table: ThroughputTable, params: Any) -> Alone:
    """By the row of the flow's own kind and size, or by rows of CBR of two other sizes."""
    if own := table.alike(key):
        row, differences = _fitting(own, params, tcp_counts=False)
        return Alone(None if row is None else row.throughput_bps, key, differences)
    return replace(_of_mixed(replace(key, traffic="cbr"), mean_bytes, table, params, False), key=key)


def _of_mixed(key: Key, mean_bytes: float, table: ThroughputTable, params: Any, tcp_counts: bool) -> Alone:
    """By rows of two sizes, of those that fit."""
    sizes = {each.segment_bytes for each in table.rows if each.is_like(key)}
    fitting: dict[Key, ThroughputRow] = {}
    unlike: tuple[str, ...] = ()
    for size in sorted(sizes):
        of_size = replace(key, segment_bytes=size)
        row, differing = _fitting(table.alike(of_size), params, tcp_counts)
        unlike = unlike or differing
        if row is not None:
            fitting[of_size] = row
    bps = ThroughputTable(fitting, table.where).of_mixed(key, mean_bytes)
    return Alone(bps, key, unlike if bps is None and len(sizes) >= 2 else ())


def _fitting(
    rows: Iterable[tuple[Key, ThroughputRow]], params: Any, tcp_counts: bool
) -> tuple[ThroughputRow | None, tuple[str, ...]]:
    """The first row that was measured with these parameters; else how the nearest differs."""
    nearest: tuple[str, ...] | None = None
    for key, row in rows:
        differing = differences(key, row, params, tcp_counts=tcp_counts)
        if not differing:
            return row, ()
        nearest = differing if nearest is None or len(differing) < len(nearest) else nearest
    return None, nearest or ()


def differences(key: Key, row: ThroughputRow, params: Any, *, tcp_counts: bool = True) -> tuple[str, ...]:
    """In what a scenario's parameters differ from those that a row was measured with.

    A row that does not say with what changes of its profile it was measured is taken at its word.

    Args:
        key: What the row is for.
        row: The row.
        params: The scenario's parameters of all sections.
        tcp_counts: Does the section ``tcp`` count? It does not for flows that only borrow a row of TCP.
    """
    if (changes := row.made_with.get("changes")) is None:
        return ()
    odd = sorted(name for name in changes if name not in (*parameters.own_sections(), *NO_PARAMETERS))
    found = [f"{name}: given for the row only" for name in odd]
    made = {name: changes[name] for name in changes if name in parameters.own_sections()}
    measured = _params_of_row(key.profile, str(row.made_with.get("sender", "")), json.dumps(made))
    for section, known in parameters.schema().items():
        if section in _core.routings() or section in IRRELEVANT_SECTIONS:
            continue
        if (section == "tcp" and not (tcp_counts and key.traffic == "tcp")) or (
            section == "video" and key.traffic != "video"
        ):
            continue
        for name in known:
            theirs, ours = measured[section][name], params[section][name]
            if f"{section}.{name}" not in IRRELEVANT and theirs != ours:
                found.append(f"{section}.{name} is {_shown(ours)}, in the row {_shown(theirs)}")
    if key.traffic == "tcp" and tcp_counts:
        theirs, ours = (is_announced(each, each["tcp"]["ack_bytes"]) for each in (measured, params))
        if theirs != ours:
            found.append(f"ACKs go {_with(ours)} RTS, in the row {_with(theirs)}")
    mac, radio = params["mac"], params["radio"]
    if mac["rate_control"] != "fixed" and radio["ranges"] != "equal":
        spacing = f"{float(row.made_with.get('spacing_m', math.nan)):g} m"
        found.append(
            f"mac.rate_control is {mac['rate_control']}: rates follow distances, the row's are {spacing}"
        )
    return tuple(found)


@cache
def _params_of_row(profile: str, sender: str, changes: str) -> parameters.Params:
    """The parameters that a row was measured with; its changes as JSON."""
    overrides: dict[str, dict[str, Any]] = {name: dict(each) for name, each in json.loads(changes).items()}
    where = "the table of throughputs"
    params = parameters.profile(profile, where)
    own = str(overrides.get("tcp", {}).pop("sender", sender))
    if own:
        params = parameters.apply_sender(params, own, where)
    radio = overrides.get("radio", {})
    overrides["mac"] = {
        **radio_units.needed_of_mac(radio, overrides.get("mac", {})),
        **overrides.get("mac", {}),
    }
    overrides["radio"] = radio_units.in_watts(radio, params["radio"], where)
    return parameters.apply_overrides(params, overrides, where)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _with(announced: bool) -> str:
    return "with" if announced else "without"


def link_rates(
    path: Sequence[int],
    params: Mapping[str, Mapping[str, Any]],
    rates: Sequence[Mapping[str, Any]],
    *,
    both_ways: bool,
) -> dict[tuple[int, int], float]:
    """The rate of each link of a path, in bit/s.

    Args:
        path: The nodes of the path.
        params: The parameters of all sections.
        rates: Nodes and links with a rate of their own.
        both_ways: Are there data frames in the other direction as well, as those of TCP's ACKs?
    """
    own = {(rate["src"], rate.get("dst")): float(rate["rate_bps"]) for rate in rates}
    usual = float(params["mac"]["data_rate_bps"])
    links = list(pairwise(path))
    links += [(dst, src) for src, dst in links] if both_ways else []
    return {link: own.get(link, own.get((link[0], None), usual)) for link in links}


def common_rate(
    flow: Mapping[str, Any], rates_bps: Mapping[tuple[int, int], float], where: str
) -> float | None:
    """The one rate of a flow's links, in bit/s; None if there are no links.

    Raises:
        InputError: They have different rates, of which no row of the table speaks, and the flow does not say
            what it carries alone.
    """
    found = sorted(set(rates_bps.values()))
    if len(found) > 1 and flow.get("alone_bps") is None:
        listed = ", ".join(f"{src} to {dst}: {bps / 1e6:g} Mb/s" for (src, dst), bps in rates_bps.items())
        what = "the links of the flow's path have different rates, for which the table has no rows"
        wanted = "links of one rate in both directions, or alone_bps of the flow"
        raise InputError(what, where, listed, wanted, HINT)
    return found[0] if found else None


def _kind(flow: Mapping[str, Any]) -> str:
    """The kind of traffic that a flow is in the table: datagrams are sent without waiting for anything."""
    if is_answered(flow):
        return "tcp"
    return "video" if flow["kind"] == "video" else "cbr"


def is_answered(flow: Mapping[str, Any]) -> bool:
    """Whether packets come back for those of a flow, as TCP's ACKs do."""
    return flow["kind"] in ("tcp", "web", "adp") or flow.get("transport", "udp") in (
        "tcp",
        "adp",
        "psp",
        "rtp-adp",
    )


def _sends_tcp(flow: Mapping[str, Any]) -> bool:
    return flow["kind"] in ("tcp", "web") or flow.get("transport") == "tcp"


def payload_bytes(flow: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]]) -> int | None:
    """The payload of a flow's packets, in bytes; None if they differ in size."""
    if flow["kind"] in ("tcp", "web"):
        given = flow.get("segment_bytes")
        return int(params["tcp"]["segment_bytes"] if given is None else given)
    if flow["kind"] == "voice":
        payloads = {name: size for name, size, *_ in _core.codecs()}
        return payloads[flow.get("codec", next(iter(payloads)))]
    return int(flow["bytes"]) if "bytes" in flow else None


def mean_payload_bytes(flow: Mapping[str, Any], params: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean payload of the packets of a flow, in bytes; of video by the mean lengths of its frames."""
    if (size := payload_bytes(flow, params)) is not None:
        return float(size)
    if flow["kind"] == "adp":
        return float(params["adp"]["packet_bytes"])
    transport = flow.get("transport", "udp")
    most = math.inf
    if transport == "tcp":
        most = params["tcp"]["segment_bytes"]
    elif flow["kind"] == "video" and params["video"]["packet_bytes"]:
        most = params["video"]["packet_bytes"]
    lengths = _frames(params["video"]) if flow["kind"] == "video" else [each[1] for each in flow["packets"]]
    return float(sum(lengths)) / sum(math.ceil(each / most) or 1 for each in lengths)


def video_bps(video: Mapping[str, Any]) -> float:
    """The mean rate of a video source with these parameters, in bit/s."""
    lengths = _frames(video)
    return 8.0 * float(video["frames_per_s"]) * sum(lengths) / len(lengths)


def _frames(video: Mapping[str, Any]) -> list[float]:
    """The mean lengths of the frames of a group of pictures, in bytes."""
    spacing = video["b_frames"] + 1
    kinds = ["i", *("b" if place % spacing else "p" for place in range(1, video["gop_frames"]))]
    return [float(video[f"{kind}_mean_bytes"]) for kind in kinds]
