"""The methods table: what Kurkowski, Camp and Colagrosso (MC2R 9(4), 2005) found missing in most studies.

Every line is generated from the resolved scenarios and the provenance, so none can be forgotten or be wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab import _core, parameters, tables, traffic
from manetlab.movement_files import expanded
from manetlab.report import networks
from manetlab.report.quantities import listed
from manetlab.report.study import Study
from manetlab.report.tables import Column, DataTable

if TYPE_CHECKING:
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario
    from manetlab.topology import TopologyReport

STATIC = "none: nodes stand still"
OF_FIELD = ("nodes", "width_m", "height_m")
"""Parameters of movement models that have lines of their own."""
MOST_FILES_NAMED = 20
"""Most movement files that the table names one by one."""


@dataclass(frozen=True)
class Item:
    """A line of the table that the scenario decides.

    Attributes:
        name: What it is called.
        text: What it says about one point.
    """

    name: str
    text: Callable[[Resolved], str]


def table(study: Study) -> DataTable:
    """The methods table of a campaign."""
    columns = (Column("item", "item", is_text=True), Column("value", "value", is_text=True, is_long=True))
    data_table = DataTable("methods", "How the results were made", columns)
    for name, text in _of_campaign(study):
        data_table.add(name, text)
    if study.unresolved is not None:
        data_table.add("set-up", f"cannot be determined here: {study.unresolved}")
        return data_table
    hops = {number: _hops(each) for number, each in study.topologies.items()}
    data_table.add("topology (first replication)", _over_points(study, hops))
    for item in ITEMS:
        texts = {number: item.text(each) for number, each in study.resolved.items()}
        data_table.add(item.name, _over_points(study, texts))
    return data_table


def _of_campaign(study: Study) -> list[tuple[str, str]]:
    known = study.results.provenance_in_short
    counts = sorted({int(n) for n in study.runs.groupby("point").size()})
    each = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    seeds = study.runs["seed"]
    stopping = study.campaign.until
    until = (
        ""
        if stopping is None
        else (
            f"; replicated until each metric's interval is within ±{stopping:.3g} of its mean "
            f"(at least {study.campaign.replications}, at most {study.campaign.max_replications})"
        )
    )
    varied = [f"{factor.heading}: {', '.join(factor.levels)}" for factor in study.factors]
    return [
        ("simulator", f"manetlab {listed(known['code'])} (packet level, discrete events)"),
        ("platform", listed(known["platforms"])),
        ("varied", "; ".join(varied) or "nothing"),
        ("replications", f"{_replications(study, each)} of each of {len(study.points)} points{until}"),
        ("failed runs", str(len(study.failed))),
        (
            "random numbers",
            "ChaCha8, with a stream of its own for each node, flow and purpose, keyed by the seed; "
            "replications with the same number have the same seed at every point (common random numbers)",
        ),
        ("seeds", f"{seeds.min()} to {seeds.max()}"),
        (
            "statistics",
            f"mean over replications with a score interval at {study.confidence * 100:.4g} % confidence "
            f"within the metric's bounds{_adjusted(study)}{_comparison(study)}",
        ),
        (
            "costs",
            "routing packets and bytes at IP, each hop counted, with routing headers of data in the bytes; "
            "per delivered data packet and payload byte they are the normalised routing load (Broch et al. "
            "1998; Das, Perkins and Royer 2000); frames and bytes on the air are those of all kinds, with "
            "retries, RTS, CTS, ACK and ARP",
        ),
    ]


def _replications(study: Study, each: str) -> str:
    """How many replications there are, and of how many networks."""
    scenarios = list(study.scenarios.values())
    if all(scenario.has_movements for scenario in scenarios):
        fewest = min(
            (count for scenario in scenarios if (count := networks.files_of(scenario))), default=None
        )
        if fewest is not None and fewest < int(study.runs.groupby("point").size().max()):
            return f"{each} replications, which take {fewest} movement files in turn,"
        return f"{each} independent replications"
    if all(scenario.is_drawn or scenario.has_movements for scenario in scenarios):
        return f"{each} replications, all with the same movement and only the traffic drawn anew,"
    return f"{each} replications with the same movement and traffic"


def _adjusted(study: Study) -> str:
    if not study.campaign.adjusted:
        return ""
    return (
        "; beside it means adjusted for the movement: regression estimates with double sampling (Cochran "
        "1977, chapter 12)"
    )


def _comparison(study: Study) -> str:
    """What is compared, in which measures, and how that is adjusted."""
    family = study.family
    if family is None:
        return ""
    what = {
        "best": "every alternative with the best of the others",
        "pairs": "every alternative with every other",
        "control": f"every alternative with {family.control}",
    }[family.kind]
    measures = listed([metric.label for metric in study.primary])
    margins = (
        "; two one-sided tests of equivalence with stated margins" if family.margins or family.shares else ""
    )
    return (
        f"; {what} by {measures}: paired differences, paired t tests, {family.size} comparisons adjusted by "
        f"Bonferroni’s method{_elimination(study)}; also Wilcoxon’s signed rank test, unadjusted{margins}"
    )


def _elimination(study: Study) -> str:
    """How alternatives were eliminated, if they were."""
    looks = study.results.looks
    if looks is None:
        return ""
    if not looks.before:
        return "; no look before the last, so that no alternative was eliminated"
    parts = [f"{study.alpha * looks.part(n):.2g} after {n}" for n in (*looks.before, looks.last)]
    return (
        "; sequential elimination: an alternative that is worse in some primary measure and can be the best "
        "in none gets no more replications at that setting, and the error is shared out over the looks "
        f"({listed(parts)} replications)"
    )


def _over_points(study: Study, texts: dict[int, str]) -> str:
    """One text if all points agree; else the texts by the level of the factors that decide them."""
    distinct = list(dict.fromkeys(texts.values()))
    if len(distinct) == 1:
        return distinct[0]
    for index, factor in enumerate(study.factors):
        by_level: dict[str, set[str]] = {}
        for point in study.points:
            by_level.setdefault(point.levels[index], set()).add(texts[point.number])
        if all(len(found) == 1 for found in by_level.values()):
            grouped: dict[str, list[str]] = {}
            for name, found in by_level.items():
                grouped.setdefault(next(iter(found)), []).append(name)
            return "\n".join(f"{factor.label} {', '.join(names)}: {text}" for text, names in grouped.items())
    return "\n".join(f"{_points_with(study, texts, text)}: {text}" for text in distinct)


def _points_with(study: Study, texts: dict[int, str], text: str) -> str:
    named = [study.point_in_words(point) for point in study.points if texts[point.number] == text]
    return " | ".join(named)


def _kind(resolved: Resolved) -> str:
    finite = [flow for flow in resolved.flows if flow.get("bytes") and flow["kind"] == "tcp"]
    if resolved.flows and len(finite) == len(resolved.flows):
        return "terminating: transfers of finite length"
    if resolved.core["warmup_s"] > 0:
        return "steady state: what happens during the warm-up is not counted"
    return "terminating: a fixed time, starting with an empty network; nothing is left out"


def _times(resolved: Resolved) -> str:
    begin, end = resolved.core["warmup_s"], resolved.core["duration_s"]
    return f"{end:g} s, measured from {begin:g} s ({end - begin:g} s)"


def _field(resolved: Resolved) -> str:
    drawn = resolved.scenario.movement.drawn
    if drawn is not None:
        full = all_of(*drawn)
        return f"{full['width_m']:g} m × {full['height_m']:g} m"
    width, height = resolved.movement.bounds
    return f"positions and destinations up to {width:g} m × {height:g} m"


def all_of(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a movement model, with the defaults of those that are not given."""
    checked = parameters.check_movement(model, given, f"movement.{model}")
    return {**parameters.movement_defaults()[model], **checked}


def _mobility(resolved: Resolved) -> str:
    source = resolved.scenario.movement
    if source.waypoint is not None:
        full = all_of("waypoint", source.waypoint)
        return f"random waypoint, boundary {full['boundary']}, {full['start']} start"
    if (drawn := source.drawn) is not None:
        return f"{drawn[0].replace('_', ' ')}: {_values(*drawn, are_speeds=False)}"
    if source.file is not None:
        return f"one track: ns-2 file {source.file}, SHA-256 {resolved.movement.digest[:16]}…"
    if source.files is not None:
        return _files(resolved.scenario)
    if source.tracks is not None:
        return f"tracks of {len(source.tracks)} nodes, SHA-256 {resolved.movement.digest[:16]}…"
    if source.chain is not None:
        return f"{STATIC}, in a chain {source.chain.spacing_m:g} m apart"
    if source.grid is not None:
        grid = source.grid
        return f"{STATIC}, in a grid of {grid.columns} × {grid.rows}, {grid.spacing_m:g} m apart"
    if source.areas is not None:
        areas = source.areas
        nodes = f"{areas.sources} sources, {areas.forwarders} forwarders, {areas.sinks} sinks"
        placed = (
            f"{STATIC}, drawn in areas" if not areas.speed_mps else "random waypoint, bouncing within areas"
        )
        return f"{placed} {areas.spacing_m:g} m apart: {nodes}; {areas.hops} hops"
    return f"{STATIC}, at given positions"


def _values(model: str, given: dict[str, Any], *, are_speeds: bool) -> str:
    """The values of a movement model's parameters: those that are speeds, or all others but the field."""
    full, known = all_of(model, given), parameters.movement_schema()[model]
    return ", ".join(
        f"{name} {tables.shown_value(full[name])} {each.unit}".rstrip()
        for name, each in known.items()
        if (each.unit == "m/s") == are_speeds and name not in OF_FIELD
    )


def _files(scenario: Scenario) -> str:
    """The movement files of the replications, each with the digest of its content."""
    names = expanded(scenario.movement.files or [], scenario.where, scenario.origin)
    digests = [hashlib.sha256(scenario.origin.read(name, "movement file")).hexdigest() for name in names]
    if len(names) > MOST_FILES_NAMED:
        of_all = hashlib.sha256("".join(digests).encode()).hexdigest()
        listed_files = f"{names[0]} to {names[-1]}, SHA-256 of their SHA-256 {of_all[:16]}…"
    else:
        listed_files = ", ".join(
            f"{name} (SHA-256 {digest[:16]}…)" for name, digest in zip(names, digests, strict=True)
        )
    turn = ", taken again from the first on" if scenario.movement.cycle else ""
    return f"{len(names)} tracks, a file for each replication{turn}: {listed_files}"


def _speed(resolved: Resolved) -> str:
    source = resolved.scenario.movement
    if (drawn := source.drawn) is not None and drawn[0] != "waypoint":
        return _values(*drawn, are_speeds=True)
    if source.waypoint is not None:
        full = all_of("waypoint", source.waypoint)
        return f"{full['speed_min']:g} to {full['speed_max']:g} m/s, uniform; pause {full['pause_s']:g} s"
    if source.areas is not None:
        return f"{source.areas.speed_mps:g} m/s"
    if source.tracks is not None:
        return "as in the tracks"
    if source.files is not None:
        return "as in the files"
    return "as in the file" if source.file is not None else "0 m/s"


def _hops(found: TopologyReport) -> str:
    """The measures that Kurkowski, Navidi and Camp (2006) hold scenarios to, and the neighbours."""
    hops = "–" if found.hops_mean is None else f"{found.hops_mean:.2f}"
    apart = "–" if found.partitioned_pairs is None else f"{100 * found.partitioned_pairs:.1f} %"
    return (
        f"{hops} hops on average on shortest paths, {apart} of the node pairs without a path, "
        f"{found.degree_mean:.1f} neighbours, {found.link_changes_per_s:.2f} link changes per second"
    )


def _traffic(resolved: Resolved) -> str:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for flow in resolved.flows:
        kinds.setdefault(flow["kind"], []).append(flow)
    if resolved.scenario.traffic.random is not None:
        return _drawn_traffic(resolved, kinds)
    parts = [f"{len(flows)} {_described(kind, flows)}, {_when(flows)}" for kind, flows in kinds.items()]
    file = resolved.scenario.traffic.file
    return ("; ".join(parts) or "none") + (f"; file {file}" if file else "")


def _drawn_traffic(resolved: Resolved, kinds: dict[str, list[dict[str, Any]]]) -> str:
    """Traffic between random nodes; its times are drawn anew in each replication."""
    pattern = resolved.scenario.traffic.random
    assert pattern is not None
    parts = []
    for kind, flows in kinds.items():
        when = _when(flows)
        if kind == "cbr":
            within_s = traffic.start_within_s(pattern.cbr_start_within_s, resolved.core["duration_s"])
            when = f"each starting at a time uniform from 0 to {within_s:g} s"
        parts.append(f"{len(flows)} {_described(kind, flows)}, {when}")
    return "; ".join([*parts, "end points drawn from the seed"]) if parts else "none"


def _when(flows: list[dict[str, Any]]) -> str:
    """When flows begin; of times that are drawn, those of the first replication."""
    starts = sorted(flow["start_s"] for flow in flows)
    if starts[0] == starts[-1]:
        return f"starting at {starts[0]:.4g} s"
    return f"starting between {starts[0]:.4g} and {starts[-1]:.4g} s"


def _described(kind: str, flows: list[dict[str, Any]]) -> str:
    """What flows of one kind send."""
    if kind == "tcp":
        return _transfers(flows)
    if kind == "cbr":
        return _streams(flows)
    if kind == "adp":
        return "endless ADP flows"
    if kind == "web":
        return _sessions(flows)
    if kind == "voice":
        return _calls(flows)
    transports = listed(sorted({flow["transport"].upper() for flow in flows}))
    return f"{kind} flows over {transports}"


def _calls(flows: list[dict[str, Any]]) -> str:
    """Directions of calls, and what the E-model is told of their codecs."""
    used = {flow["codec"] for flow in flows}
    codecs = [f"{name}, I_e {ie:g}, B_pl {bpl:g}" for name, _, _, ie, bpl in _core.codecs() if name in used]
    playout = listed(sorted({f"{flow['playout_ms']:g} ms" for flow in flows}))
    return f"voice flows over RTP and UDP ({'; '.join(codecs)}; playout after {playout}; ITU-T G.107)"


def _sessions(flows: list[dict[str, Any]]) -> str:
    servers = {flow["dst"] for flow in flows}
    cycles = sum(len(flow["cycles"]) for flow in flows) / len(flows)
    return f"Web sessions with {len(servers)} servers, {cycles:.4g} request–reply cycles each"


def _transfers(flows: list[dict[str, Any]]) -> str:
    sizes = sorted({flow["bytes"] for flow in flows if flow.get("bytes")})
    size = listed([f"{size} B" for size in sizes[:4]]) if sizes else "endless"
    return f"TCP file transfers ({size})"


def _streams(flows: list[dict[str, Any]]) -> str:
    forms = dict.fromkeys(f"{flow['bytes']} B every {flow['interval_s']:g} s" for flow in flows)
    shown = list(forms)[:3]
    return f"CBR flows over UDP ({listed(shown)}{' and others' if len(forms) > 3 else ''})"


def _routing(resolved: Resolved) -> str:
    name = resolved.scenario.routing
    protocol = name.partition(":")[0]
    behaviour = resolved.params.get(protocol, {}).get("behaviour")
    return f"{name.upper() if ':' not in name else name}" + (f", behaviour {behaviour}" if behaviour else "")


def _routing_parameters(resolved: Resolved) -> str:
    """Every parameter of the protocol, also those that are the profile's."""
    if resolved.protocol is not None:
        own = resolved.protocol.parameters
    else:
        own = resolved.params.get(resolved.scenario.routing.partition(":")[0], {})
    return ", ".join(f"{name} = {_shown(value)}" for name, value in own.items()) or "none"


def _transport(resolved: Resolved) -> str:
    tcp = resolved.params["tcp"]
    sender = resolved.scenario.tcp.get("sender", tcp["variant"])
    sack = " with SACK" if tcp["sack"] else ""
    rto = f"{tcp['rto_policy']} retransmission timeout" + (" and hold-down timer" if tcp["hold_down"] else "")
    return f"sender {sender}{sack}, {rto}, window {tcp['window']} segments of {tcp['segment_bytes']} B"


def _mac(resolved: Resolved) -> str:
    mac = resolved.params["mac"]
    data, control = (f"{mac[f'{kind}_rate_bps'] / 1e6:g} Mb/s" for kind in ("data", "control"))
    ack = {"frame": data, "control": control}.get(
        mac["response_rate"], f"highest of {mac['basic_rates']} Mb/s up to the data rate"
    )
    match mac["access_protocol"]:
        case "csma":
            return f"non-persistent CSMA, {mac['preamble']} preamble, data {data}, no RTS, no ACK"
        case "fama":
            return f"FAMA-NCS, {mac['preamble']} preamble, data {data}, RTS and CTS {control}, no ACK"
    rates = f"{mac['preamble']} preamble, data {data}, RTS and CTS {control}, ACK {ack}"
    return f"IEEE 802.11 DCF, {rates}, RTS for unicast frames above {mac['rts_threshold_bytes']} B"


def _range(resolved: Resolved) -> str:
    link, farthest, sense = _core.radio_ranges(json.dumps(resolved.params))
    slower = f", slower frames up to {farthest:.0f} m" if farthest > link else ""
    return f"{link:.0f} m{slower} (sensed up to {sense:.0f} m), two-ray ground"


def _different(resolved: Resolved) -> str:
    """The parameters that differ from the profile; what the profile has is in docs/parameters.md."""
    base = parameters.profile(resolved.scenario.profile)
    found = [
        f"{parameter.key} = {_shown(value)} (profile: {_shown(usual)})"
        for parameter, usual, value in parameters.diff(base, resolved.params)
    ]
    return ", ".join(found) or "none"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


ITEMS = (
    Item("kind of simulation", _kind),
    Item("simulated time and warm-up", _times),
    Item("number of nodes", lambda resolved: str(resolved.movement.nodes)),
    Item("field", _field),
    Item("mobility model", _mobility),
    Item("speed and pause", _speed),
    Item("traffic", _traffic),
    Item("transmission range", _range),
    Item("MAC", _mac),
    Item("routing", _routing),
    Item("parameters of routing", _routing_parameters),
    Item("transport", _transport),
    Item("profile of parameters", lambda resolved: resolved.scenario.profile),
    Item("parameters that differ from the profile", _different),
)
