"""What radios of real places cost beside the disc: noise, shadowing, fading, and walls."""

import math
import random
import statistics
from typing import Any

from benches.measuring import in_turn, progress, ratios, spread
from manetlab import Scenario, run
from manetlab.resolving import Resolved
from manetlab.tables import Table

NODES_PER_KM2 = 50
WALLS = 10_000
Fields = dict[str, Any]
Cost = tuple[float, int]
"""CPU time of the run alone in s, and arrivals of frames at receivers."""

LOG_DISTANCE: Fields = {
    "path_loss": "log-distance",
    "path_loss_exponent": 3.0,
    "transmit_power_w": 8.4,
    "carrier_sense_threshold_w": 3.43e-11,
}
"""As much power arrives at 250 m as on the disc, and frames are sensed as far."""
NOISE: Fields = {**LOG_DISTANCE, "errors": "by-rate", "noise_w": 2.61e-10}
"""A tenth of the frames of 1058 bytes at 2 Mb/s is lost at 250 m."""
SHADOWED: Fields = {**NOISE, "shadowing_db": 6.0, "shadowing_distance_m": 20.0}
RADIOS: dict[str, Fields] = {
    "log-distance": LOG_DISTANCE,
    "and errors by noise": NOISE,
    "and shadowing of 6 dB": SHADOWED,
    "and Rayleigh fading": {**SHADOWED, "fading": "rayleigh"},
}
"""Each with all that stands above it."""


def cost(resolved: Resolved) -> Cost:
    """A run's."""
    origin = run(resolved).provenance
    return float(origin["cpu_time_s"]), int(origin["arrivals"])


def standard(radio: Fields, nodes: int = 50, duration_s: float = 100.0) -> Resolved:
    """The standard scenario, or a network of its density with as many flows for each node."""
    side_m = 1000.0 * math.sqrt(nodes / NODES_PER_KM2)
    fields: Fields = {
        "duration_s": duration_s,
        "warmup_s": duration_s / 10,
        "radio": radio,
        "movement": {"waypoint": {"nodes": nodes, "width_m": side_m, "height_m": side_m, "speed_max": 20.0}},
        "traffic": {"random": {"cbr": nodes // 5, "cbr_bytes": 512, "cbr_interval_s": 0.4096}},
    }
    if nodes == 50:
        fields["traffic"]["random"].update(tcp=10, tcp_start_s=duration_s / 10)
    return Scenario.build(fields).resolve()


def table(rounds: int) -> Table:
    """CPU time an arrival, over the disc's in the same round."""
    progress(f"radios of real places, {rounds} rounds")
    columns = ("radio", "CPU time an arrival", "÷ disc", "arrivals")
    shown = Table(f"Radios of real places in the standard scenario, 100 s, {rounds} rounds", columns)
    scenarios = [standard({}), *(standard(radio) for radio in RADIOS.values())]
    found = in_turn(rounds, *(lambda resolved=resolved: cost(resolved) for resolved in scenarios))
    _add(shown, ["disc", *RADIOS], found)
    return shown


def growth(rounds: int) -> Table:
    """The same for networks that grow, beside the disc of the same size."""
    columns = ("radio", "CPU time an arrival", "÷ disc", "arrivals")
    shown = Table(f"Radios of real places as networks grow, 3 s, {rounds} rounds", columns)
    for nodes in (100, 1000, 3000):
        progress(f"{nodes} nodes, {rounds} rounds")
        chosen = {"disc": {}, **{name: RADIOS[name] for name in list(RADIOS)[2:]}}
        scenarios = [standard(radio, nodes, 3.0) for radio in chosen.values()]
        found = in_turn(rounds, *(lambda resolved=resolved: cost(resolved) for resolved in scenarios))
        _add(shown, [f"{nodes} nodes, {name}" for name in chosen], found)
    return shown


def _add(shown: Table, names: list[str], found: list[list[Cost]]) -> None:
    disc = [seconds / arrivals for seconds, arrivals in found[0]]
    for name, costs in zip(names, found, strict=True):
        each = [seconds / arrivals for seconds, arrivals in costs]
        nanoseconds = spread([1e9 * value for value in each], 0, " ns")
        shown.add(name, nanoseconds, spread(ratios(each, disc)), f"{costs[0][1]:,}")


def walls_of(kind: str, side_m: float) -> list[Fields]:
    """10,000 walls: pieces of 10 m anywhere, or four around each of 2,500 houses that stand in rows."""
    draws = random.Random(5)
    if kind == "walls":
        made = []
        for _ in range(WALLS):
            x, y = (side_m * draws.random() for _ in range(2))
            angle = 2 * math.pi * draws.random()
            to = [x + 10 * math.cos(angle), y + 10 * math.sin(angle)]
            made.append({"points": [[x, y], to], "db": 3.0})
        return made
    rows = math.isqrt(WALLS // 4)
    lot_m = side_m / rows
    house_m = 0.6 * lot_m
    places = [(column * lot_m, row * lot_m) for column in range(rows) for row in range(rows)]
    around = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    return [
        {
            "points": [[x + right * house_m, y + up * house_m] for right, up in around],
            "building": True,
            "db": 6.0,
            "db_per_m": 0.4,
        }
        for x, y in places
    ]


def town(kind: str, nodes: int, speed: float, routing: str) -> Resolved:
    """People in a town: each sends ten frames a second to all, or some talk over AODV."""
    side_m = 1000.0 * math.sqrt(nodes / NODES_PER_KM2)
    fields: Fields = {
        "duration_s": 20.0,
        "warmup_s": 2.0,
        "routing": routing,
        "movement": {"waypoint": {"nodes": nodes, "width_m": side_m, "height_m": side_m, "speed_max": 1.5}},
        "walls": walls_of(kind, side_m) if kind else [],
    }
    if not speed:
        draws = random.Random(3)
        places = [[round(side_m * draws.random(), 1) for _ in range(2)] for _ in range(nodes)]
        fields["movement"] = {"positions": places}
    if routing == "flooding":
        fields["flooding"] = {"ttl": 1}
        flows = [
            {"kind": "cbr", "src": node, "dst": (node + 1) % nodes, "start_s": 1 + node / 997, "bytes": 64}
            for node in range(nodes)
        ]
        fields["traffic"] = {"flows": [{**flow, "interval_s": 0.1} for flow in flows]}
    else:
        fields["traffic"] = {"random": {"cbr": nodes // 5, "cbr_bytes": 512, "cbr_interval_s": 0.25}}
    return Scenario.build(fields).resolve()


def walls(rounds: int) -> Table:
    """What walls cost: over the arrivals that there are without them, and over those that are left."""
    columns = ("nodes", "", "walls", "CPU time", "÷ none", "arrivals left", "CPU time an arrival, ÷ none")
    shown = Table(f"10,000 walls, 20 s, {rounds} rounds", columns, text_columns=3)
    cases = [(nodes, speed, "flooding") for nodes in (50, 200, 500) for speed in (1.5, 0.0)]
    for nodes, speed, routing in [*cases, (50, 1.5, "aodv"), (200, 1.5, "aodv")]:
        progress(f"{nodes} nodes at {speed:g} m/s over {routing}, {rounds} rounds")
        scenarios = [town(kind, nodes, speed, routing) for kind in ("", "walls", "houses")]
        none, *found = in_turn(rounds, *(lambda resolved=resolved: cost(resolved) for resolved in scenarios))
        what = (
            f"{'1.5 m/s' if speed else 'static'}, {'10 frames/s each' if routing == 'flooding' else 'AODV'}"
        )
        times = [seconds for seconds, _ in none]
        shown.add(str(nodes), what, "none", spread(times, 3, " s"), "1", "100 %", "1")
        for kind, costs in zip(("3 dB", "houses, 6 dB and 0.4 dB/m"), found, strict=True):
            left = statistics.mean(after[1] / before[1] for after, before in zip(costs, none, strict=True))
            over = ratios([seconds for seconds, _ in costs], times)
            shown.add(
                str(nodes),
                what,
                kind,
                spread([seconds for seconds, _ in costs], 3, " s"),
                spread(over),
                f"{100 * left:.0f} %",
                spread([value / left for value in over]),
            )
    return shown
