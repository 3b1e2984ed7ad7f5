"""Static networks at light load, in which every routing protocol has to deliver what static routes deliver.

    python -m torture.light --networks 200
    python -m torture.light --show 17 > scenario.toml

A network is drawn connected, its flows send a few packets a second, and no link ever breaks: what a protocol
does not deliver there is its own doing. One that delivers less than `SHARE` of what static routes deliver
fails, unless `REASONS` names why and it is rare. Flows begin together, a whole second apart or anywhere,
so that senders in phase are among them.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w

import manetlab
from manetlab import Result, Scenario, _core, topology
from torture.drawing import Fields
from torture.relations import Case, ranked

SHARE = 0.95
"""What a protocol delivers at least of what static routes deliver."""
PROFILE = "rfc"
"""Old profiles keep what ns-2 does to senders in phase."""
CONVERGED_S = 120.0
"""When flows begin: protocols that advertise know all routes by then, or are too slow for the network."""
LASTS_S = 60.0
MOST_NODES = 16
FLOODS = ("flooding",)
"""Protocols that are not tried: their data are broadcasts, which nobody acknowledges, and copies collide."""
REASONS: Mapping[str, str] = {
    "adv": "its init-connection is flooded once; if that is lost, the receiver stays inactive",
    "lunar": "a source repeats its request without jitter: it may keep in step with a CBR flow",
    "dsdv": "it may take longer than the warm-up until a far node is known, see docs/models/dsdv.md",
    "aodv:ns-2.35": "as ns-2, without jitter for answers and HELLOs",
    "aodv:dyer-2002": "as ns-2, without jitter for answers and HELLOs",
    "aodv:aodv-uu-ll-2.27": "as ns-2.27, without jitter for answers",
    "aodv:aodv-uu-hello-2.27": "as ns-2.27, without jitter for answers; HELLOs break working links",
}
"""What is known to make a protocol, or a set of it, deliver less in some networks: it is printed, and fails
only above `MOST_NAMED`."""
MOST_NAMED = 0.1
"""The share of networks in which a reason may be the cause."""


@dataclass(frozen=True)
class Loss:
    """A network in which a protocol delivers too little.

    Attributes:
        number: The network.
        routing: The protocol.
        delivered: The share of packets that it delivers.
        wanted: The share that static routes deliver.
        by_flow: The share of each flow, by its number.
    """

    number: int
    routing: str
    delivered: float
    wanted: float
    by_flow: tuple[float, ...]

    def __str__(self) -> str:
        """In a line."""
        flows = ", ".join(f"{each:.2f}" for each in self.by_flow)
        return (
            f"network {self.number}, {self.routing}: {self.delivered:.3f} delivered where static routes "
            f"deliver {self.wanted:.3f} (flows {flows})"
        )


def routings() -> list[str]:
    """Every protocol and every set of it."""
    return [
        *_core.routings(),
        *(f"{routing}:{name}" for routing in _core.routings() for name in _core.routing_sets(routing)),
    ]


def network(number: int) -> Fields:
    """A connected network with its flows, always the same for the same number; without a protocol."""
    rng = random.Random(f"light {number}")
    while True:
        fields = _drawn(rng)
        report = topology.report(Scenario.build({**fields, "routing": "static"}))
        if report.partitioned_pairs == 0.0:
            return fields


def _drawn(rng: random.Random) -> Fields:
    """A network, perhaps in pieces."""
    nodes = rng.randint(3, MOST_NODES)
    side_m = 250.0 * (nodes / rng.uniform(0.6, 2.5)) ** 0.5
    places = [[round(rng.uniform(0, side_m), 1), round(rng.uniform(0, side_m), 1)] for _ in range(nodes)]
    interval_s = rng.choice([0.25, 0.5, 1.0])
    together = rng.choice(["together", "seconds apart", "anywhere"])
    flows = []
    for index in range(rng.randint(1, min(4, nodes - 1))):
        src, dst = rng.sample(range(nodes), 2)
        later_s = {"together": 0.0, "seconds apart": float(index), "anywhere": rng.uniform(0, 5)}[together]
        flows.append(
            {
                "kind": "cbr", "src": src, "dst": dst, "start_s": round(CONVERGED_S + later_s, 6),
                "bytes": rng.choice([64, 512]), "interval_s": interval_s,
            }
        )  # fmt: skip
    return {
        "duration_s": CONVERGED_S + LASTS_S,
        "warmup_s": CONVERGED_S,
        "seed": rng.randrange(10**6),
        "profile": PROFILE,
        "movement": {"positions": places},
        "traffic": {"flows": flows},
    }


def delivered(result: Result) -> tuple[float, tuple[float, ...]]:
    """The share of packets that was delivered, of all flows and of each."""
    shares = tuple(flow["received"] / max(1, flow["sent"]) for flow in result.flows)
    sent = sum(flow["sent"] for flow in result.flows)
    return sum(flow["received"] for flow in result.flows) / max(1, sent), shares


def reason_of(name: str) -> str | None:
    """What is known to make it deliver less, if something is."""
    return REASONS.get(name, REASONS.get(name.partition(":")[0]))


def losses(number: int, names: list[str]) -> Iterator[Loss]:
    """The protocols that deliver too little in a network."""
    fields = network(number)
    wanted, _ = delivered(manetlab.run(Scenario.build({**fields, "routing": "static"})))
    for name in names:
        if name.partition(":")[0] in (*FLOODS, "static"):
            continue
        share, by_flow = delivered(manetlab.run(Scenario.build({**fields, "routing": name})))
        if share < SHARE * wanted:
            yield Loss(number, name, share, wanted, by_flow)


def ranking(number: int) -> Iterator[str]:
    """What is wrong with the directions of measures, from the same network with bit errors."""
    fields = {**network(number), "routing": "static"}
    resolved = Scenario.build(fields).resolve()
    for fault in ranked(Case(fields, resolved, manetlab.run(resolved), manetlab.run)):
        yield f"network {number}, {fault}"


def verdicts(bad: Mapping[str, int], networks: int) -> Iterator[tuple[bool, str]]:
    """For each protocol that delivered too little somewhere: whether that is a failure, and a line."""
    for name, count in sorted(bad.items()):
        reason = reason_of(name)
        fails = reason is None or count > max(1, MOST_NAMED * networks)
        known = "" if reason is None else f" (known: {reason})"
        yield fails, f"{'FAILED' if fails else 'named'}: {name} in {count} of {networks} networks{known}"


def main() -> int:
    """Tries networks; 1 if a protocol delivers too little somewhere."""
    parser = argparse.ArgumentParser(
        "python -m torture.light", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--networks", type=int, default=100, help="how many networks (100)")
    parser.add_argument("--first", type=int, default=0, help="number of the first network (0)")
    parser.add_argument("--routing", action="append", help="this protocol only; may be repeated")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print this network, for static routes")
    arguments = parser.parse_args()
    if arguments.show is not None:
        shown: dict[str, Any] = {**network(arguments.show), "routing": "static"}
        print(tomli_w.dumps(shown), end="")
        return 0
    names = arguments.routing or routings()
    bad: Counter[str] = Counter()
    upside_down = []
    for number in range(arguments.first, arguments.first + arguments.networks):
        for fault in ranking(number):
            upside_down.append(fault)
            print(fault, flush=True)
        for loss in losses(number, names):
            bad[loss.routing] += 1
            print(loss, flush=True)
    tried = [name for name in names if name.partition(":")[0] not in (*FLOODS, "static")]
    said = list(verdicts(bad, arguments.networks))
    print(f"{arguments.networks} networks × {len(tried)} protocols and sets")
    print("\n".join(line for _, line in said))
    return int(bool(upside_down) or any(fails for fails, _ in said))


if __name__ == "__main__":
    sys.exit(main())
