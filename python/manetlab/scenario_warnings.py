"""Whether a scenario tests the question at all: what stands before any result.

A network without paths, with paths of one hop, or one that is overloaded says little about protocols, and
alternatives that differ in more than what is compared say little about that. Command line, reports and Python
use these functions, so that they say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from manetlab import _core, cautions, parameters, topology

if TYPE_CHECKING:
    from manetlab.resolving import Resolved
    from manetlab.running import Result
    from manetlab.topology import TopologyReport

MOST_LOST_IN_QUEUES = 0.05
"""Share of the CBR packets lost in full interface queues above which the network counts as saturated."""
INSTANTS, LEAST_INSTANTS, NODE_INSTANTS = 100, 5, 20_000
"""How many instants of a movement are examined, and the minimum for a large network."""
SLOW_BPS = 2e6
"""Rate in bit/s up to which one range for all rates goes without saying: the card of ns-2 has no higher."""
CLOSE = 1e-6
"""Ranges that differ by no more than this share are the same."""
SHORTEST_STEP_S = 1e-3
"""Minimum time between two instants, in s."""
SHORTEST_S = 0.1
"""A measurement shorter than this, in s, is reported instead of the topology."""
MOST_NAMED = 8
"""How many settings that differ are named."""
IDENTITY = {"variant"}
"""Parameters that are what a protocol's name stands for."""


def topology_of(resolved: Resolved) -> TopologyReport:
    """What the movement makes of the network, at up to a hundred instants a second or more apart."""
    window_s = resolved.core["duration_s"] - resolved.core["warmup_s"]
    instants = max(LEAST_INSTANTS, min(INSTANTS, NODE_INSTANTS // resolved.movement.nodes))
    step_s = min(window_s, max(1.0, window_s / instants))
    return topology.report(resolved, max(SHORTEST_STEP_S, step_s))


def before_run(resolved: Resolved) -> list[str]:
    """What speaks against a scenario before it is run, a sentence each."""
    window_s = resolved.core["duration_s"] - resolved.core["warmup_s"]
    if window_s < SHORTEST_S:
        return [f"the measurement lasts only {window_s:g} s, in which next to nothing can happen"]
    # What is known of the topology is that of the radio alone.
    found = [] if resolved.scenario.wired else topology_of(resolved).warnings
    return [*about_rates(resolved), *cautions.cautions(resolved), *found]


def about_rates(resolved: Resolved) -> list[str]:
    """What speaks against the ranges and rates of a scenario, a sentence each."""
    found = (fast_and_far(resolved), grey_zone(resolved), short_of_data(resolved))
    return [each for each in found if each is not None]


def grey_zone(resolved: Resolved) -> str | None:
    """A sentence if broadcasts reach farther than data, so that routes carry none, else None."""
    params = resolved.params
    if resolved.core["routing"] in ("static", "flooding"):
        return None
    broadcast_m = _reach_m(params, params["mac"]["broadcast_rate_bps"])
    own = {rate["rate_bps"] for rate in resolved.scenario.rates or []}
    data_m = min([_core.radio_ranges(json.dumps(params))[0], *(_reach_m(params, bps) for bps in own)])
    if broadcast_m <= data_m * (1 + CLOSE):
        return None
    return (
        f"broadcasts reach {broadcast_m:.0f} m, data {data_m:.0f} m: routes are found over links that carry "
        'no data; set mac.rate_control = "aarf", or mac.broadcast_rate_bps to the rate of the data'
    )


def short_of_data(resolved: Resolved) -> str | None:
    """A sentence if data reaches farther than broadcasts and ACKs, which every link needs, else None."""
    params, mac = resolved.params, resolved.params["mac"]
    needed = {"broadcasts": "broadcast_rate_bps", "ACKs": "control_rate_bps"}
    if resolved.core["routing"] == "static" and not params["arp"]["enabled"]:
        del needed["broadcasts"]
    if mac["response_rate"] != "control":
        del needed["ACKs"]
    data_m = _core.radio_ranges(json.dumps(params))[0]
    reach_m = {what: _reach_m(params, mac[rate]) for what, rate in needed.items()}
    short = [what for what, metres in reach_m.items() if metres < data_m * (1 - CLOSE)]
    if not short:
        return None
    least = f"{min(reach_m[what] for what in short):.0f} m"
    return (
        f"{' and '.join(short)} reach {least}, data {data_m:.0f} m: no link of more than {least} is used, "
        "although hops, paths and partitions are counted over all links that carry data; set "
        f"{' and '.join(f'mac.{needed[what]}' for what in short)} to the slowest rate of the data"
    )


def _reach_m(params: Mapping[str, Mapping[str, Any]], rate_bps: float) -> float:
    """How far frames of a rate are received, in m."""
    at_rate = {**params["mac"], "rate_control": "fixed", "data_rate_bps": rate_bps}
    return _core.radio_ranges(json.dumps({**params, "mac": at_rate}))[0]


def fast_and_far(resolved: Resolved) -> str | None:
    """A sentence if fast frames reach as far as slow ones without anybody having said so, else None."""
    scenario, params = resolved.scenario, resolved.params
    mac, radio = params["mac"], params["radio"]
    rates_bps = [rate["rate_bps"] for rate in scenario.rates or []] + [mac["data_rate_bps"]]
    top_bps = 11e6 if mac["standard"] == "802.11b" else 54e6
    fastest_bps = top_bps if mac["rate_control"] != "fixed" else max(rates_bps)
    is_said = scenario.radio.keys() & {"ranges", "device"}
    if radio["ranges"] != "equal" or radio["errors"] != "thresholds" or fastest_bps <= SLOW_BPS or is_said:
        return None
    range_m = _core.radio_ranges(json.dumps(params))[0]
    return (
        f"frames at {fastest_bps / 1e6:g} Mb/s reach {range_m:.0f} m, as far as those at 1 Mb/s, which no "
        'real card does; give radio.ranges = "ladder" for ranges by rate, or "equal" to say that it is meant'
    )


def after_run(results: Iterable[Result]) -> list[str]:
    """What runs of one scenario show against it, a sentence each."""
    lost = sent = 0.0
    emptied: list[str] = []
    for result in results:
        lost += lost_in_queues(result.drops)
        sent += result.totals["cbr_sent"] or 0.0
        if not emptied and (sentence := empty_batteries(result)) is not None:
            emptied.append(sentence)
    found = saturation(lost, sent)
    return emptied if found is None else [found, *emptied]


def empty_batteries(result: Result) -> str | None:
    """A sentence if half of all batteries are empty before the run ends, or all of them, else None."""
    half_s = result.totals.get("energy_half_dead_s")
    if half_s is None:
        return None
    scenario = result.provenance["scenario"]
    nodes, end_s = scenario["movement"]["nodes"], scenario["duration_s"]
    dead = result.totals["energy_dead_nodes"]
    which = "all batteries are" if dead == nodes else f"the batteries of {dead} of {nodes} nodes are"
    return (
        f"{which} empty before the run ends, half of them at {half_s:.4g} s of {end_s:g} s: what is measured "
        "after that is a network that has died; give more energy.battery_j, or a shorter duration_s"
    )


def lost_in_queues(drops: Iterable[Mapping[str, Any]]) -> float:
    """The CBR packets that full interface queues dropped, of a list of drops."""
    return float(
        sum(
            drop["count"]
            for drop in drops
            if (drop["layer"], drop["reason"], drop["packets"]) == ("interface-queue", "queue-full", "cbr")
        )
    )


def saturation(lost: float, sent: float) -> str | None:
    """A sentence if the network is saturated, else None.

    Args:
        lost: CBR packets that full interface queues dropped.
        sent: CBR packets sent.
    """
    if sent <= 0.0 or lost / sent <= MOST_LOST_IN_QUEUES:
        return None
    return (
        f"full interface queues drop {100 * lost / sent:.1f} % of the CBR packets; above "
        f"{100 * MOST_LOST_IN_QUEUES:g} % the network is saturated, and results say more about its overload "
        "than about protocols"
    )


def different_settings(
    alternatives: Mapping[str, Resolved], factor: str, own: Iterable[str] = ()
) -> str | None:
    """A sentence if alternatives differ in more than what is compared, else None.

    Routing protocols are compared by parameters of the same name in the sections of each. Senders and other
    alternatives differ by what a level changes besides: one parameter is taken for the one that is compared.

    Args:
        alternatives: The scenario of each alternative, otherwise the same.
        factor: The factor that is compared.
        own: Parameters that the campaign itself varies, as ``section.name``.
    """
    if factor == "profile" or len(alternatives) < 2:
        return None
    protocols = {name: each.scenario.routing.partition(":")[0] for name, each in alternatives.items()}
    found = _of_protocols(alternatives, protocols) if len(set(protocols.values())) > 1 else {}
    others = _of_sections(alternatives, {factor, *own}, skipped=set(protocols.values()) if found else set())
    # The one parameter that differs between senders is what is compared.
    found |= others if len(others) > 1 or len(set(protocols.values())) > 1 else {}
    if not found:
        return None
    named = [f"{name} ({_by_value(values)})" for name, values in found.items()]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    many = f"{len(named)} parameters" if len(named) > 1 else "a parameter"
    return (
        f"the alternatives also differ in {many}, and part of every difference may be due to that: "
        f"{'; '.join(named[:MOST_NAMED])}{more}"
    )


def _of_protocols(
    alternatives: Mapping[str, Resolved], protocols: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Parameters that several of the protocols have, with different values."""
    known: dict[str, dict[str, Any]] = {}
    for name, resolved in alternatives.items():
        for key, value in resolved.params.get(protocols[name], {}).items():
            known.setdefault(key, {})[name] = value
    return {key: values for key, values in known.items() if _differ(values)}


def _of_sections(
    alternatives: Mapping[str, Resolved], own: set[str], skipped: set[str]
) -> dict[str, dict[str, Any]]:
    """Parameters of the sections that differ between alternatives."""
    found = {}
    for section, known in parameters.schema().items():
        for key in known if section not in skipped else ():
            values = {name: each.params[section].get(key) for name, each in alternatives.items()}
            if key not in IDENTITY and f"{section}.{key}" not in own and _differ(values):
                found[f"{section}.{key}"] = values
    return found


def _differ(values: Mapping[str, Any]) -> bool:
    return len(set(map(str, values.values()))) > 1


def _by_value(values: Mapping[str, Any]) -> str:
    """Which alternatives have which value: ``true with aodv, false with dsdv and dsr``."""
    grouped: dict[str, list[str]] = {}
    for name, value in values.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        text = text.lower() if isinstance(value, bool) else text
        grouped.setdefault(text, []).append(name)
    return ", ".join(f"{text} with {_listed(names)}" for text, names in grouped.items())


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
