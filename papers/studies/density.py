"""How near the path density protocol comes to an oracle, and what it gains where nobody presets anything.

    python -m studies.density errors --replications 5
    python -m studies.density gains --replications 10

print the tables of docs/models/throttling.md, which say with how many replications they were made.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from manetlab import Result, Scenario, run
from manetlab.resolving import Resolved
from manetlab.scenario_data import merged
from manetlab.shares import rates_over_time
from manetlab.stats import mean_interval, paired_difference, unfairness

WARMUP_S, DURATION_S = 20.0, 120.0
BASE: dict[str, Any] = {
    "profile": "ns-2.35",
    "duration_s": DURATION_S,
    "warmup_s": WARMUP_S,
    "mac": {"rts_threshold_bytes": 2347},
    "tcp": {"sender": "newreno", "segment_bytes": 600, "allowed_pause_s": 3.0},
}


def areas(flows: int) -> dict[str, Any]:
    """The paper's topology: sources, sinks, and two forwarders for each flow."""
    listed = [{"kind": "tcp", "src": each, "dst": flows + each, "start_s": 0.0} for each in range(flows)]
    return {
        "movement": {"areas": {"sources": flows, "sinks": flows, "forwarders": 2 * flows}},
        "traffic": {"flows": listed},
    }


def field(speed: float, flows: int = 4) -> dict[str, Any]:
    """Nodes in a field of several hops at a constant speed, in m/s; at 0 they stand still."""
    moving = {"speed_min": speed, "speed_max": speed} if speed else {"pause_s": 1e6, "start": "uniform"}
    return {
        "movement": {"waypoint": {"nodes": 30, "width_m": 1000.0, "height_m": 400.0, **moving}},
        "traffic": {"random": {"tcp": flows, "tcp_start_s": 0.0}},
    }


NETWORKS: dict[str, dict[str, Any]] = {
    "areas, 4 flows": areas(4),
    "field, 0 m/s": field(0.0),
    "field, 1 m/s": field(1.0),
    "field, 5 m/s": field(5.0),
}
CROWDS: dict[str, dict[str, Any]] = {
    "areas, 4 flows": areas(4),
    "areas, 9 flows": areas(9),
    "field, 4 flows, 0 m/s": field(0.0),
    "field, 8 flows, 0 m/s": field(0.0, 8),
    "field, 8 flows, 1 m/s": field(1.0, 8),
    "field, 8 flows, 5 m/s": field(5.0, 8),
}
WAYS: dict[str, dict[str, Any]] = {
    "off": {"mode": "off"},
    "oracle": {"mode": "oracle"},
    "equal": {"mode": "density", "shares": "equal"},
    "max-min": {"mode": "density", "shares": "max-min"},
}


def scenario(network: Mapping[str, Any], seed: int, **changes: Any) -> Scenario:
    """One replication of a network."""
    return Scenario.build(merged(merged(BASE, network), {"seed": seed, **changes}))


def errors(replications: int) -> Iterator[str]:
    """The table of errors of the learned rates, line by line."""
    yield "| network | routing | shares | mean error | worst flow | greatest | unknown | announcements |"
    yield "|---|---|---|---:|---:|---:|---:|---:|"
    for name, network in NETWORKS.items():
        stands = name.endswith((" 0 m/s", "4 flows"))
        for routing in ["aodv", "dsr", "dsdv", *(["static"] if stands else [])]:
            for shares in ("equal", "max-min"):
                throttle = {"mode": "density", "shares": shares, "measure_error": True}
                results = [
                    run(scenario(network, seed, routing=routing, throttle=throttle))
                    for seed in range(1, replications + 1)
                ]
                label = "static" if routing == "static" else routing.upper()
                yield f"| {name} | {label} | {shares} | {_error_cells(results)} |"


def _error_cells(results: Sequence[Result]) -> str:
    compared = [flow for result in results for flow in result.flows if "throttle_error_mean" in flow]
    means = [flow["throttle_error_mean"] for flow in compared if flow["throttle_error_mean"] is not None]
    greatest = [flow["throttle_error_max"] for flow in compared if flow["throttle_error_max"] is not None]
    unknown = [flow["throttle_unknown_share"] or 0.0 for flow in compared]
    seconds = len(results) * (DURATION_S - WARMUP_S)
    per_s = sum(result.totals["announcements"] for result in results) / seconds
    mean, unlearned = sum(means) / len(means), sum(unknown) / len(unknown)
    return f"{mean:.1%} | {max(means):.0%} | {max(greatest):.0%} | {unlearned:.1%} | {per_s:.1f}/s"


def gains(replications: int) -> Iterator[str]:
    """The table of what throttling gains over AODV, line by line."""
    yield "| network | measure | off | oracle | equal | max-min |"
    yield "|---|---|---:|---:|---:|---:|"
    for name, network in CROWDS.items():
        runs = {
            way: [_one(network, seed, throttle) for seed in range(1, replications + 1)]
            for way, throttle in WAYS.items()
        }
        for measure, (digits, of_run) in MEASURES.items():
            values = {way: [of_run(each) for each in found] for way, found in runs.items()}
            off = mean_interval(values["off"]).mean
            cells = [
                _difference(values[way], values["off"], digits) for way in ("oracle", "equal", "max-min")
            ]
            yield f"| {name} | {measure} | {off:.{digits}f} | {' | '.join(cells)} |"


def _difference(values: Sequence[float], off: Sequence[float], digits: int) -> str:
    found = paired_difference(values, off).difference
    return f"{found.mean:+.{digits}f} ± {found.half_width:.{digits}f}"


def _one(network: Mapping[str, Any], seed: int, throttle: Mapping[str, Any]) -> tuple[Resolved, Result]:
    resolved = scenario(network, seed, routing="aodv", throttle=throttle).resolve()
    return resolved, run(resolved)


def _total_kbps(one: tuple[Resolved, Result]) -> float:
    return float(one[1].totals["tcp_throughput_bps"]) / 1e3


def _unfairness(one: tuple[Resolved, Result]) -> float:
    """Equation 2, with the oracle's rates averaged over the window."""
    resolved, result = one
    plain = [{key: each for key, each in flow.items() if key != "throttle_bps"} for flow in resolved.flows]
    movement, profile = resolved.movement, resolved.scenario.profile
    found = rates_over_time(movement, plain, resolved.params, [], profile, DURATION_S, 1.0)
    fair = [_mean_bps(rates or [(0.0, 0.0)]) for rates in found]
    return unfairness([flow["throughput_bps"] for flow in result.flows], fair)


def _mean_bps(rates: Sequence[tuple[float, float]]) -> float:
    """The mean of rates over the window; a flow without a path has none, and then keeps the last."""
    ends = [*(from_s for from_s, _ in rates[1:]), DURATION_S]
    pieces = [
        (max(0.0, end_s - max(from_s, WARMUP_S)), bps)
        for (from_s, bps), end_s in zip(rates, ends, strict=True)
    ]
    return sum(length_s * bps for length_s, bps in pieces) / (DURATION_S - WARMUP_S)


def _unsmoothness(one: tuple[Resolved, Result]) -> float:
    """That of the flows on average; one of which nothing arrived stands still for the whole run."""
    longest = DURATION_S / BASE["tcp"]["allowed_pause_s"]
    found = [flow["unsmoothness"] for flow in one[1].flows]
    return sum(longest if each is None else float(each) for each in found) / len(found)


MEASURES: dict[str, tuple[int, Callable[[tuple[Resolved, Result]], float]]] = {
    "total (kb/s)": (1, _total_kbps),
    "unfairness": (3, _unfairness),
    "unsmoothness": (2, _unsmoothness),
}


def main() -> None:
    """Prints a table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m studies.density", description=__doc__, formatter_class=raw)
    parser.add_argument("table", choices=["errors", "gains"])
    parser.add_argument("--replications", type=int, default=5, help="runs of each point (5)")
    arguments = parser.parse_args()
    lines = {"errors": errors, "gains": gains}[arguments.table]
    for line in lines(arguments.replications):
        print(line, flush=True)


if __name__ == "__main__":
    main()
