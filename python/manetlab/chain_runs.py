"""Measures what one TCP flow carries alone over chains of nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from manetlab import _core, provenance
from manetlab.chain_throughput import Key, Row
from manetlab.errors import InputError
from manetlab.running import run_many
from manetlab.scenario import Scenario
from manetlab.scenario_data import merged

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

WARMUP_S, DURATION_S = 12.0, 120.0
"""The paper's warm-up and length of a run, in s (Osipov and Tschudin 2006, section III)."""
SPACING_M = 130.0
"""Distance between neighbours, in m, of the paper's example of nine hops (section III.C.1)."""
SENDER = "newreno"
"""The paper's TCP."""


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
    fields = {
        "tcp": {"sender": SENDER},
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
) -> tuple[Key, Row]:
    """What one TCP flow carries alone over chains of 1, 2, … hops.

    Args:
        base: Further fields of the scenario, as for `chain`.
        segment_bytes: Payload of a segment, in bytes.
        hops: Length of the longest chain.
        seeds: How many runs of each, with seeds from 1 on; at least 2.
        spacing_m: Distance between neighbours, in m.
        jobs: How many runs at a time; as many as there are cores if not given.

    Raises:
        InputError: A field is not allowed, the chains do not have so many hops, or there are too few seeds.
    """
    from manetlab.stats import mean_interval

    if seeds < 2:
        raise InputError("too few runs for an interval", "chain_runs.measure: seeds", str(seeds), "2 or more")
    resolved = [chain(base, length, segment_bytes, spacing_m).resolve() for length in range(1, hops + 1)]
    _check_range(resolved[-1], hops, spacing_m)
    scenarios = [of.of(of.scenario.changed(seed=seed)) for of in resolved for seed in range(1, seeds + 1)]
    found = [result.totals["tcp_throughput_bps"] for result in run_many(scenarios, jobs=jobs)]
    intervals = [mean_interval(found[at : at + seeds]) for at in range(0, len(found), seeds)]
    origin = provenance.of_code()
    row = Row(
        tuple(each.mean for each in intervals),
        tuple(each.half_width for each in intervals),
        {
            "version": origin["version"],
            "commit": origin["commit"] or "unknown",
            "changes": {name: base[name] for name in base if name != "profile"},
            "spacing_m": spacing_m,
            "sender": resolved[0].scenario.section("tcp")["sender"],
            "routing": "static",
            "warmup_s": WARMUP_S,
            "duration_s": DURATION_S,
            "seeds": seeds,
        },
    )
    return Key.of(resolved[0].scenario.profile, resolved[0].params, segment_bytes), row


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
