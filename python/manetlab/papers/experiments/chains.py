"""Nodes in a line and around a node, with flows, as levels of a campaign's factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from manetlab.papers import wording
from manetlab.papers.ledger import Ledger
from manetlab.papers.setup import Fields

Flow = dict[str, Any]


def tcp(src: int, dst: int) -> Flow:
    """An endless transfer from time 0."""
    return {"kind": "tcp", "src": src, "dst": dst, "start_s": 0.0}


def cbr(src: int, dst: int, packet_bytes: int, interval_s: float, number: int = 0, of: int = 1) -> Flow:
    """A CBR flow; ``of`` flows that are numbered start at even distances within one interval."""
    start_s = interval_s * number / of
    return {
        "kind": "cbr",
        "src": src,
        "dst": dst,
        "start_s": start_s,
        "bytes": packet_bytes,
        "interval_s": interval_s,
    }


def level(label: object, hops: int, flows: Sequence[Flow], spacing_m: float, **more: Any) -> dict[str, Any]:
    """A chain of so many hops with these flows."""
    fields: Fields = {
        "movement.chain.nodes": hops + 1,
        "movement.chain.spacing_m": spacing_m,
        "traffic.flows": list(flows),
    }
    return {"label": label, "fields": fields | more}


def star(flows: int, radius_m: float) -> list[list[float]]:
    """Places of one node and, on a circle around it, the sources and sinks of flows across it.

    The shared node is number 0. Flow k goes from node 2k + 1 to node 2k + 2, which are opposite each other:
    beyond each other's range, and with no other node in range of both, if the range is below √2 radii.
    """
    places = [[radius_m, radius_m]]
    for index in range(flows):
        angle = math.pi * index / flows
        places += [
            [radius_m * (1 + math.cos(turn)), radius_m * (1 + math.sin(turn))]
            for turn in (angle, angle + math.pi)
        ]
    return places


def spacing_m(ledger: Ledger, name: str) -> float:
    """The distance of neighbours that an assumption gives."""
    return wording.number(ledger.assumptions[name].text, "m")
