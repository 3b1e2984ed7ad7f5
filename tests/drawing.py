"""Draws random scenarios over what a scenario offers: protocols, senders, sources, movement, parameters."""

from __future__ import annotations

import random
from typing import Any

from manetlab import _core, parameters
from manetlab.parameters import Parameter

Fields = dict[str, Any]

SETS = [
    *(f"{routing}:{name}" for routing in _core.routings() for name in _core.routing_sets(routing)),
    *(routing for routing in _core.routings()),
]
"""Every way to name a routing protocol."""
SECTIONS = {"mac", "queue", "arp", "tcp", "adp", "video", "rtp"}
"""Sections of which parameters are changed, beside the protocol's own. A radio of another range would leave
most networks in pieces."""
TRANSPORTS = ("udp", "adp", "tcp", "rtp-udp", "rtp-adp")
CHANGED = 0.04
"""The share of parameters that a scenario changes."""


def scenario(number: int, *, seconds: float = 20.0) -> Fields:
    """The fields of a random scenario, always the same for the same number.

    Protocols and senders come in turns: as many scenarios in a row as there are pairs have all pairs.

    Args:
        number: Names the scenario.
        seconds: The longest duration, in s.
    """
    rng = random.Random(number)
    senders = _core.tcp_senders()
    routing, sender = SETS[number % len(SETS)], senders[number // len(SETS) % len(senders)]
    profile = rng.choice(_core.profiles())
    duration_s = round(rng.uniform(0.3, 1.0) * seconds, 3)
    movement, nodes = _movement(rng, static=routing == "static")
    fields: Fields = {
        "duration_s": duration_s,
        "warmup_s": round(rng.choice([0.0, 0.25]) * duration_s, 3),
        "seed": rng.randrange(1, 10**6),
        "replication": rng.randrange(4),
        "routing": routing,
        "profile": profile,
        "movement": movement,
        "traffic": _traffic(rng, nodes, duration_s),
    }
    fields |= _changes(rng, SECTIONS | {routing.split(":")[0]}, profile)
    fields["tcp"] = {**fields.get("tcp", {}), "sender": sender}
    return fields


def _movement(rng: random.Random, *, static: bool) -> tuple[Fields, int]:
    kind = rng.choice(
        ["chain", "grid", "positions"] if static else ["waypoint"] * 5 + ["chain", "grid", "positions"]
    )
    spacing_m = round(rng.uniform(150.0, 245.0), 1)
    match kind:
        case "chain":
            nodes = rng.randint(2, 10)
            return {"chain": {"nodes": nodes, "spacing_m": spacing_m}}, nodes
        case "grid":
            columns, rows = rng.randint(2, 6), rng.randint(2, 5)
            return {"grid": {"columns": columns, "rows": rows, "spacing_m": spacing_m}}, columns * rows
        case "positions":
            nodes = rng.randint(2, 20)
            places = [[round(rng.uniform(0, 700), 1), round(rng.uniform(0, 500), 1)] for _ in range(nodes)]
            return {"positions": places}, nodes
    nodes = rng.randint(8, 40)
    waypoint: Fields = {
        "nodes": nodes,
        "width_m": round(rng.uniform(500, 1500), 0),
        "height_m": round(rng.uniform(300, 900), 0),
        "speed_max": round(rng.uniform(2, 40), 1),
        "pause_s": rng.choice([0.0, 0.0, 2.0, 30.0]),
    }
    return {"waypoint": waypoint}, nodes


def _traffic(rng: random.Random, nodes: int, duration_s: float) -> Fields:
    if nodes >= 12 and rng.random() < 0.15:
        clients = rng.randint(1, 3)
        return {"web": {"clients": clients, "servers": rng.randint(1, 2), "cycles": rng.randint(2, 12)}}
    return {"flows": [_flow(rng, nodes, duration_s) for _ in range(rng.randint(1, 6))]}


def _flow(rng: random.Random, nodes: int, duration_s: float) -> Fields:
    src, dst = rng.sample(range(nodes), 2)
    flow: Fields = {"src": src, "dst": dst, "start_s": round(rng.uniform(0, 0.4) * duration_s, 3)}
    if rng.random() < 0.2:
        flow["stop_s"] = round(rng.uniform(0.6, 0.95) * duration_s, 3)
    payload, interval_s = rng.choice([64, 512, 1460]), round(10 ** rng.uniform(-2.2, -0.3), 4)
    transport = rng.choice(TRANSPORTS)
    packets = [[round(0.1 * at, 3), rng.choice([40, 700, 3000])] for at in range(rng.randint(1, 40))]
    kinds: list[Fields] = [
        {"kind": "tcp"},
        {"kind": "tcp", "bytes": rng.randrange(1, 400_000), "window": rng.randint(1, 40)},
        {"kind": "cbr", "bytes": payload, "interval_s": interval_s, "random": rng.random() < 0.5},
        {"kind": "adp"},
        {"kind": "poisson", "bytes": payload, "interval_s": interval_s, "transport": transport},
        {"kind": "video", "transport": transport},
        {"kind": "trace", "packets": packets, "transport": transport},
        {
            "kind": "on-off",
            "bytes": payload,
            "interval_s": interval_s,
            "on_s": 1.0,
            "off_s": 0.7,
            "durations": rng.choice(["exponential", "pareto"]),
            "transport": transport,
        },
    ]
    return flow | rng.choice([kinds[0], kinds[0], kinds[0], *kinds])


def _changes(rng: random.Random, sections: set[str], profile: str) -> dict[str, Fields]:
    defaults = parameters.profile(profile)
    found: dict[str, Fields] = {}
    for section in sorted(sections & set(defaults)):
        for each in parameters.schema()[section].values():
            if rng.random() < CHANGED:
                found.setdefault(section, {})[each.name] = _value(rng, each, defaults[section][each.name])
    return found


def _value(rng: random.Random, parameter: Parameter, default: Any) -> Any:
    if parameter.choices:
        return rng.choice(list(parameter.choices))
    if isinstance(default, bool):
        return not default
    assert parameter.range is not None
    low, high = parameter.range
    value = min(max(default * 2 ** rng.uniform(-2, 2), low), high)
    return round(value) if isinstance(default, int) else value
