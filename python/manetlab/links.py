"""What the links of a scenario are like in an instant, before any protocol has run.

A link is good, grey or bad by the share of data frames that are decoded over it where no other frame is on
the air; shadows, walls and single radios are in it, and fading by its distribution.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from manetlab import _core
from manetlab.errors import InputError, shown
from manetlab.resolving import Resolved
from manetlab.topology import MOST_LINKED_NODES

GREY = _core.GREY
"""Shares of delivered frames between which a link is neither good nor bad."""
CLASSES = 12
"""How many classes of distances are told."""


@dataclass(frozen=True)
class Link:
    """One node's link to another.

    Attributes:
        src: The node that sends.
        dst: The node that receives.
        distance_m: Their distance, in m.
        power_dbm: The received power without fading, in dBm.
        delivery: The share of data frames of 1058 bytes that are decoded, from 0 to 1.
    """

    src: int
    dst: int
    distance_m: float
    power_dbm: float
    delivery: float


@dataclass(frozen=True)
class Distances:
    """Pairs of nodes so far from each other.

    Attributes:
        from_m: The lower end of the class, in m.
        to_m: Its upper end, in m.
        pairs: How many directed pairs of nodes there are.
        delivery: The mean share of frames that are decoded between them, from 0 to 1.
        good: How many of them are good links.
        grey: How many are grey ones.
    """

    from_m: float
    to_m: float
    pairs: int
    delivery: float
    good: int
    grey: int


def is_beyond_distance(resolved: Resolved) -> bool:
    """Does more than the distance decide about links: walls, shadows or single radios?"""
    about = resolved.core
    return bool(about.get("walls") or about.get("radios") or resolved.params["radio"]["shadowing_db"] > 0)


def links(resolved: Resolved, at_s: float = 0.0) -> list[Link]:
    """All links over which any frame may be decoded, in both directions, in order of their nodes.

    Raises:
        InputError: There are too many nodes, or the time is not in the run.
    """
    nodes, duration_s = resolved.movement.nodes, resolved.scenario.duration_s
    if nodes > MOST_LINKED_NODES:
        raise InputError(
            "the links cannot be told", "links", f"{nodes} nodes", f"up to {MOST_LINKED_NODES} nodes"
        )
    if not 0 <= at_s <= duration_s:
        wanted = f"0 to {duration_s:g} s, the run's length"
        raise InputError("the time is not allowed", "links: at_s", shown(at_s), wanted)
    found = _core.radio_links(json.dumps(resolved.core), resolved.movement, at_s)
    return [
        Link(src, dst, distance_m, 10 * math.log10(power_w) + 30, delivery)
        for src, dst, distance_m, power_w, delivery in found
    ]


def is_grey(link: Link) -> bool:
    """Is the link neither good nor bad?"""
    return GREY[0] <= link.delivery <= GREY[1]


def is_good(link: Link) -> bool:
    """Do nearly all frames arrive?"""
    return link.delivery > GREY[1]


def by_distance(resolved: Resolved, found: list[Link], at_s: float = 0.0) -> list[Distances]:
    """Delivery against distance, in classes up to the farthest link."""
    if not found:
        return []
    width_m = max(link.distance_m for link in found) / CLASSES * (1 + 1e-9)
    places = resolved.movement.positions(at_s)
    pairs = [0] * CLASSES
    for at, (x, y) in enumerate(places):
        for other_x, other_y in places[at + 1 :]:
            place = int(math.hypot(x - other_x, y - other_y) / width_m)
            if place < CLASSES:
                pairs[place] += 2
    classes: list[list[Link]] = [[] for _ in range(CLASSES)]
    for link in found:
        classes[int(link.distance_m / width_m)].append(link)
    return [
        Distances(
            at * width_m,
            (at + 1) * width_m,
            pairs[at],
            sum(link.delivery for link in of_class) / pairs[at] if pairs[at] else 0.0,
            sum(map(is_good, of_class)),
            sum(map(is_grey, of_class)),
        )
        for at, of_class in enumerate(classes)
    ]


def one_way(found: list[Link]) -> int:
    """How many good links have no good one back."""
    good = {(link.src, link.dst) for link in found if is_good(link)}
    return sum((dst, src) not in good for src, dst in good)


def summary(resolved: Resolved, at_s: float = 0.0) -> dict[str, Any]:
    """What `manetlab scenario links` tells: links by kind, delivery against distance, all links."""
    found = links(resolved, at_s)
    good, grey = sum(map(is_good, found)), sum(map(is_grey, found))
    return {
        "at_s": at_s,
        "nodes": resolved.movement.nodes,
        "good": good,
        "grey": grey,
        "grey_share": grey / (grey + good) if grey + good else None,
        "one_way": one_way(found),
        "distances": [asdict(each) for each in by_distance(resolved, found, at_s)],
        "links": [asdict(link) for link in found],
    }
