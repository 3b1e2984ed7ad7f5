"""The scenarios of the benches, made by the simulator's own generators and written as ns-2's files."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.measuring import MANETLAB, OUT, ROOT
from manetlab import Scenario, _core
from manetlab.files import write_text
from validation.check import CMU_QUEUE

TOP_SPEED_M_PER_S = 20.0
NODES_PER_KM2 = 50


@dataclass(frozen=True)
class Files:
    """A scenario as files: movement and traffic for us and ns-2, movement and flows for ns-3, and what
    the bare engine takes."""

    movement: Path
    traffic: Path
    flows: Path
    core: Path
    nodes: int
    side_m: float
    duration_s: float

    def for_manetlab(self, seed: int, warmup_s: float = 0.0, routing: str = "aodv") -> list[object]:
        """The command that runs it here, by the profile that is ns-2's."""
        files = ["--movement", self.movement, "--traffic", self.traffic]
        times = ["--duration", self.duration_s, "--warmup", warmup_s]
        queue = CMU_QUEUE if routing == "dsr" else {}
        chosen = ["--routing", routing]
        for name, value in queue.items():
            chosen += ["--set", f"queue.{name}={value}"]
        return [*MANETLAB, "run", *files, *times, "--seed", seed, "--profile", "ns-2.35", *chosen, "--json"]

    def for_ns2(self, seed: int, routing: str = "aodv", traces: bool = False) -> list[object]:
        """The command that runs it in ns-2, with or without the traces that its figures are computed from."""
        # ns-2 takes no place on the edge of its field.
        side = math.ceil(self.side_m) + 1
        script = ROOT / "benches" / "ns2.tcl"
        scenario = [self.movement, self.traffic, self.nodes, self.duration_s]
        return ["ns", script, *scenario, seed, side, routing.upper(), "ON" if traces else "OFF"]

    def for_ns3(self, program: Path, seed: int) -> list[object]:
        """The command that runs it in ns-3, by what benches/ns3.cc was compiled to."""
        return [program, self.movement, self.flows, self.nodes, self.duration_s, seed]


def standard(duration_s: float, tcp_start_s: float, name: str) -> Files:
    """The standard scenario: 50 nodes that ``setdest`` could have moved, 10 TCP and 10 CBR flows.

    Rates, sizes and windows are those of ns-2's measurements in validation/ns2.
    """
    random = {"tcp": 10, "cbr": 10, "tcp_start_s": tcp_start_s, "cbr_bytes": 512, "cbr_interval_s": 0.4096}
    return _written(name, 50, 1000.0, duration_s, random, seed=1, pause_s=0.0)


def growing(nodes: int, duration_s: float, seed: int, pause_s: float) -> Files:
    """So many nodes in a field of constant density, a fifth of them with traffic to others near by."""
    side_m = 1000.0 * math.sqrt(nodes / NODES_PER_KM2)
    random = {"cbr": nodes // 5, "cbr_bytes": 512, "cbr_interval_s": 0.5, "cbr_within_hops": 3}
    kind = "standing" if pause_s else "moving"
    return _written(f"{kind}-{nodes}-{seed}", nodes, side_m, duration_s, random, seed, pause_s)


def _written(
    name: str, nodes: int, side_m: float, duration_s: float, random: dict[str, Any], seed: int, pause_s: float
) -> Files:
    """As ``setdest`` moves them: from uniform places, speeds uniform from 0 (excluded) to the greatest."""
    waypoint = {
        "nodes": nodes,
        "width_m": side_m,
        "height_m": side_m,
        "speed_min": 0.0,
        "speed_max": TOP_SPEED_M_PER_S,
        "pause_s": pause_s,
        "start": "uniform",
    }
    fields = {"movement": {"waypoint": waypoint}, "traffic": {"random": random}, "seed": seed}
    drawn = Scenario.build({**fields, "duration_s": duration_s, "profile": "ns-2.35"}).resolve()
    for flow in drawn.flows:
        if flow["kind"] == "tcp":
            flow.update(window=8, segment_bytes=1460)
    OUT.mkdir(parents=True, exist_ok=True)
    endings = ("mov.tcl", "traffic.tcl", "flows", "json")
    movement, traffic, flows, core = (OUT / f"{name}-{duration_s:g}.{ending}" for ending in endings)
    write_text(movement, drawn.movement.to_ns2())
    write_text(traffic, _core.write_traffic(json.dumps(drawn.flows)))
    write_text(flows, "".join(_for_ns3(flow) for flow in drawn.flows))
    files = {"movement": {"file": str(movement)}, "traffic": {"file": str(traffic)}, "profile": "ns-2.35"}
    write_text(core, Scenario.build({**files, "duration_s": duration_s, "seed": seed}).resolve().core_json())
    return Files(movement, traffic, flows, core, nodes, side_m, duration_s)


def _for_ns3(flow: dict[str, Any]) -> str:
    """A flow as a line for benches/ns3.cc."""
    own = ("window", "segment_bytes") if flow["kind"] == "tcp" else ("interval_s", "bytes")
    words = ("kind", "src", "dst", "start_s", *own)
    return " ".join(str(flow[word]) for word in words) + "\n"
