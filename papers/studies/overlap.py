"""How many flows share a node: by the routes that nodes hold, and by the paths that packets took.

Bansal and Barua (2003) measure the "average maximum no. of connections that shared the node in the path",
weighted by how long a path lasts. `by_routes` is what the papers' claims take: where packets would go at the
end of each step. Of DSR, that counts routes that are no longer true. `by_packets` takes the path of the last
packet of each flow that arrived in a step, so that only what carried something counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from manetlab import recording, run
from manetlab.recording import RecordTo
from manetlab.scenario import Scenario

STEP_S = 10.0
DATA = ("tcp", "cbr")


def by_routes(scenario: Scenario) -> float:
    """The mean over the flows that have a path at the end of each step."""
    series = run(scenario, series_s=STEP_S).series
    assert series is not None
    paths = series["paths"]
    steps = [
        (flows, shared) for flows, shared in zip(paths["flows"], paths["shared_mean"], strict=True) if flows
    ]
    counted = sum(flows for flows, _ in steps)
    return sum(flows * shared for flows, shared in steps) / counted if counted else math.nan


def by_packets(scenario: Scenario) -> float:
    """The mean over the flows of which a packet arrives in each step."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "paths.mlrec"
        run(scenario, record=RecordTo(path, kinds=("sent", "delivered")))
        events = recording.open(path)
        hops: dict[int, set[int]] = {}
        for event in events.events("sent").to_pylist():
            if event["what"] in DATA:
                hops.setdefault(event["uid"], set()).add(event["node"])
        last: dict[int, dict[tuple[int, int], set[int]]] = {}
        for event in events.events("delivered").to_pylist():
            if event["what"] in DATA:
                step = last.setdefault(int(event["time_s"] // STEP_S), {})
                step[event["src"], event["dst"]] = {*hops.get(event["uid"], ()), event["node"]}
    shared = [count for step in last.values() for count in most_shared(step.values())]
    return sum(shared) / len(shared) if shared else math.nan


def most_shared(paths: Iterable[set[int]]) -> list[int]:
    """Of each path how many paths are on the node of it where most are, itself included."""
    paths = list(paths)
    flows = Counter(node for path in paths for node in path)
    return [max(flows[node] for node in path) for path in paths]


OF: Mapping[str, Callable[[Scenario], float]] = {"routes": by_routes, "packets": by_packets}
