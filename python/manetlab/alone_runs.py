"""Measures what each flow of a scenario carries when it has this very network for itself.

Where no row of the table speaks of a scenario, because its parameters or the rates of its links are others,
the scenario itself says it: with static routes, nodes that stand still, and one flow at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from manetlab import _core, alone
from manetlab.chain_runs import DURATION_S, WARMUP_S, highest_carried
from manetlab.errors import InputError
from manetlab.resolving import Resolved, canonical
from manetlab.running import run_many
from manetlab.shares import check_network, stands

SEEDS = 5
"""Runs of each flow, those of the packaged table."""


def measure(resolved: Resolved, *, seeds: int = SEEDS, jobs: int | None = None) -> list[float | None]:
    """What each flow carries alone over its path, in bit/s, on average over the runs.

    A TCP flow, an ADP flow and a Web session are measured by an endless TCP transfer, CBR, video and other
    datagrams by the highest rate of which at least 99 % of the packets arrive.

    Args:
        resolved: The scenario.
        seeds: Number of runs, with the seeds from 1 on.
        jobs: How many runs at a time; by default the number of cores.

    Returns:
        The throughputs; None for flows without a path, and those that say themselves what they carry.

    Raises:
        InputError: Nodes move or come and go, or there are wired links.
    """
    check_network(resolved)
    if not stands(resolved.movement, resolved.core["duration_s"]):
        wanted = "nodes that stand still, so that a flow has one path"
        hint = "measure chains with `manetlab chain-throughput`, and name its table with --table"
        where = f"{resolved.scenario.where}: movement"
        raise InputError(
            "what flows carry alone cannot be measured here", where, "nodes that move", wanted, hint
        )
    ends = [(flow["src"], flow["dst"]) for flow in resolved.flows]
    paths = _core.shortest_paths(*resolved.links_json(), resolved.movement, ends, 0.0)
    known: dict[str, float] = {}
    found: list[float | None] = []
    for flow, path in zip(resolved.flows, paths, strict=True):
        if path is None or flow.get("alone_bps") is not None:
            found.append(None)
            continue
        name = canonical([flow[each] for each in ("src", "dst")] + [_like(flow, resolved)])
        if name not in known:
            values = _of_flow(resolved, flow, seeds, jobs)
            known[name] = sum(values) / len(values)
        found.append(known[name])
    return found


def _like(flow: Mapping[str, Any], resolved: Resolved) -> dict[str, Any]:
    """The flow that stands for one: of its kind and size, from the start on, without an end."""
    size = round(alone.mean_payload_bytes(flow, resolved.params))
    if alone.is_answered(flow):
        return {"kind": "tcp", "segment_bytes": size}
    return {"kind": "video"} if flow["kind"] == "video" else {"kind": "cbr", "bytes": size}


def _of_flow(resolved: Resolved, flow: Mapping[str, Any], seeds: int, jobs: int | None) -> list[float]:
    ends = {"src": flow["src"], "dst": flow["dst"], "start_s": 0.0}
    like = {**ends, **_like(flow, resolved)}
    if like["kind"] == "tcp":
        made = [_alone(resolved, like, seed) for seed in range(1, seeds + 1)]
        return [result.totals["tcp_throughput_bps"] for result in run_many(made, jobs=jobs)]
    make: Callable[[int, float], Resolved]
    if like["kind"] == "cbr":

        def make(seed: int, rate_bps: float) -> Resolved:
            return _alone(resolved, {**like, "interval_s": 8 * like["bytes"] / rate_bps}, seed)
    else:
        video = resolved.params["video"]

        def make(seed: int, rate_bps: float) -> Resolved:
            frames_per_s = video["frames_per_s"] * rate_bps / alone.video_bps(video)
            return _alone(resolved, like, seed, {"video": {**video, "frames_per_s": frames_per_s}})

    top_bps = max([resolved.params["mac"]["data_rate_bps"], *(each["rate_bps"] for each in _rates(resolved))])
    top_bps = top_bps if resolved.params["mac"]["rate_control"] == "fixed" else 11e6
    carried = highest_carried(make, list(range(1, seeds + 1)), top_bps, like["kind"], jobs)
    return list(carried.values())


def _rates(resolved: Resolved) -> Sequence[Mapping[str, Any]]:
    return resolved.scenario.rates or []


def _alone(
    resolved: Resolved, flow: Mapping[str, Any], seed: int, sections: Mapping[str, Any] | None = None
) -> Resolved:
    """The scenario with nothing but this flow, over static routes, unthrottled."""
    params = {**resolved.params, **(sections or {})}
    params["throttle"] = {**params["throttle"], "mode": "off"}
    core = {
        **resolved.core,
        "routing": "static",
        "flows": [flow],
        "params": params,
        "seed": seed,
        "warmup_s": WARMUP_S,
        "duration_s": DURATION_S,
    }
    complete = json.loads(_core.normalize(canonical(core), resolved.movement, resolved.scenario.where))
    return Resolved(resolved.scenario, resolved.movement, complete)
