"""``python -m validation.olsr_ns3``: OLSR beside ns-3.37's on random static networks, not part of the CI.

Debian's libns3-dev is needed (benches/install_simulators.sh). Both get the same links, those of a disc
around each node, and lose no packet. What each node knows after a while is compared set by set. What RFC 3626
lets differ is held against it: which relays a node chooses, and what TCs tell, which follows from it.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from manetlab.errors import InputError, ManetlabError
from manetlab.files import check_writable, write_text
from manetlab.tables import Table, stdout_console
from validation.ns3_radio import compiled

ROOT = Path(__file__).resolve().parents[1]
OURS = ROOT / "target" / "developer" / "without_radio"
NODES = (5, 25)
"""Nodes of the smallest and of the largest network."""
NEIGHBOURS = (4.0, 12.0)
"""Neighbours of a node on average, were there no rim: of the thinnest and of the densest network."""
SETTLED_S = 60.0
"""When the sets are looked at. Nothing that was said at the start holds then: it ends after 15 s."""
TRIES = 10_000
"""How often positions are drawn at most until a network is connected."""

Link = tuple[int, int]
Lines = frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Network:
    """Nodes from 0 on, and the links between them."""

    nodes: int
    links: frozenset[Link]

    def neighbours(self) -> dict[int, frozenset[int]]:
        """By node."""
        found: dict[int, set[int]] = {node: set() for node in range(self.nodes)}
        for one, other in self.links:
            found[one].add(other)
            found[other].add(one)
        return {node: frozenset(others) for node, others in found.items()}

    def hops(self, start: int) -> dict[int, int]:
        """The fewest hops to every other node that can be reached."""
        near, found, edge = self.neighbours(), {start: 0}, [start]
        while edge:
            reached = {other for node in edge for other in near[node]} - found.keys()
            hops = found[edge[0]] + 1
            found |= dict.fromkeys(reached, hops)
            edge = sorted(reached)
        del found[start]
        return found


@dataclass(frozen=True)
class Known:
    """What all nodes of a network know: each line begins with the node that knows it."""

    neighbours: Lines
    two_hop: Lines
    relays: Lines
    topology: Lines
    routes: Lines

    @staticmethod
    def read(text: str) -> Known:
        """From the lines of ``without_radio sets`` or of ns-3's program."""
        lines: dict[str, set[tuple[int, ...]]] = defaultdict(set)
        for line in text.splitlines():
            kind, *numbers = line.split()
            lines[kind].add(tuple(map(int, numbers)))
        kinds = ("neighbour", "two-hop", "relay", "topology", "route")
        return Known(*(frozenset(lines[kind]) for kind in kinds))

    def relays_of(self, node: int) -> frozenset[int]:
        """The relays that a node has chosen."""
        return frozenset(relay for chooser, relay in self.relays if chooser == node)


def drawn(number: int) -> Network:
    """The connected network of this number."""
    source = random.Random(number)
    nodes = source.randint(*NODES)
    radius = math.sqrt(source.uniform(*NEIGHBOURS) / (math.pi * nodes))
    for _ in range(TRIES):
        places = [(source.random(), source.random()) for _ in range(nodes)]
        pairs = ((one, other) for other in range(nodes) for one in range(other))
        network = Network(
            nodes, frozenset(pair for pair in pairs if math.dist(places[pair[0]], places[pair[1]]) < radius)
        )
        if len(network.hops(0)) == nodes - 1:
            return network
    raise ValueError(f"no connected network of {nodes} nodes with a radius of {radius}")


def expected(network: Network) -> tuple[Lines, Lines, Lines]:
    """The neighbour sets, two-hop sets and routes by RFC 3626 for these links, when all has settled."""
    near = network.neighbours()
    pairs = frozenset((node, other) for node, others in near.items() for other in others)
    two_hop = frozenset((node, via, far) for node, via in pairs for far in near[via] if far != node)
    every = range(network.nodes)
    return pairs, two_hop, frozenset((node, *route) for node in every for route in network.hops(node).items())


def told(relays: Lines, nodes: int) -> Lines:
    """The topology sets that follow from a choice of relays: each tells all others who has chosen it."""
    return frozenset(
        (node, relay, chooser) for chooser, relay in relays for node in range(nodes) if node != relay
    )


def choices(near: Mapping[int, Collection[int]], node: int, by_degree: bool) -> Iterator[frozenset[int]]:
    """The sets of relays that RFC 3626 §8.3.1 allows a node, where all are equally willing.

    Args:
        near: The neighbours of each node.
        node: The node that chooses.
        by_degree: Of those that reach equally many nodes, only those with the highest degree (step 4); off:
            any of them.
    """
    direct = set(near[node])
    reach = {via: frozenset(near[via]) - direct - {node} for via in direct}
    count = Counter(far for others in reach.values() for far in others)
    alone = frozenset(via for via, others in reach.items() if any(count[far] == 1 for far in others))
    seen: set[frozenset[int]] = set()
    open_sets = [alone]
    while open_sets:
        chosen = open_sets.pop()
        left = count.keys() - {far for via in chosen for far in reach[via]}
        if not left:
            yield chosen
            continue
        rank = {via: (len(others & left), by_degree * len(others)) for via, others in reach.items()}
        best = max(rank.values())
        following = {chosen | {via} for via in reach if rank[via] == best} - seen
        seen |= following
        open_sets += following


@dataclass
class Tally:
    """Over how many networks and nodes what was equal, and why what was not."""

    networks: int = 0
    nodes: int = 0
    count: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def add(self, number: int, network: Network, ours: Known, theirs: Known) -> None:
        """Compares what two implementations know of a network."""
        self.networks += 1
        self.nodes += network.nodes
        neighbours, two_hop, routes = expected(network)
        for name, wanted, kind in (
            ("neighbours", neighbours, "neighbours"),
            ("two-hop", two_hop, "two_hop"),
            ("routes", routes, "routes"),
        ):
            for who, known in (("manetlab", ours), ("ns-3", theirs)):
                self.lines(f"{name} of {who}", number, getattr(known, kind), wanted)
        self.relays(number, network, ours, theirs)
        for who, known in (("manetlab", ours), ("ns-3", theirs)):
            self.lines(f"topology of {who}", number, known.topology, told(known.relays, network.nodes))
        same_relays = ours.relays == theirs.relays
        self.count["topology, networks with the same relays"] += same_relays
        self.count["topology, the same there"] += same_relays and ours.topology == theirs.topology

    def lines(self, what: str, number: int, found: Lines, wanted: Lines) -> None:
        """Counts entries that are as wanted, and keeps those that are not."""
        self.count[f"{what}, wanted"] += len(wanted)
        self.count[f"{what}, found"] += len(wanted & found)
        if found != wanted:
            missing, extra = sorted(wanted - found)[:3], sorted(found - wanted)[:3]
            self.unexplained.append(f"network {number}: {what}: missing {missing}, unexpected {extra}")

    def relays(self, number: int, network: Network, ours: Known, theirs: Known) -> None:
        """Counts the nodes by how their relays compare."""
        near = network.neighbours()
        for node in range(network.nodes):
            mine, other = ours.relays_of(node), theirs.relays_of(node)
            allowed = set(choices(near, node, by_degree=True))
            if mine not in allowed:
                self.unexplained.append(f"network {number}: manetlab's relays of node {node}: {sorted(mine)}")
            if mine == other:
                self.count["relays, the same"] += 1
            elif other in allowed:
                self.count["relays, a tie"] += 1
            elif other in set(choices(near, node, by_degree=False)):
                self.count["relays, without the degree"] += 1
            else:
                self.unexplained.append(f"network {number}: ns-3's relays of node {node}: {sorted(other)}")


def table_of(tally: Tally) -> Table:
    """What was found."""
    title = f"OLSR beside ns-3.37 in {tally.networks} networks with {tally.nodes} nodes"
    table = Table(title, ("set", "entries", "manetlab", "ns-3", "what it is held against"), text_columns=1)
    for name, against in (
        ("neighbours", "the links"),
        ("two-hop", "the links"),
        ("topology", "the relays that the same implementation chose"),
        ("routes", "the fewest hops"),
    ):
        wanted = [tally.count[f"{name} of {who}, wanted"] for who in ("manetlab", "ns-3")]
        shares = [
            f"{tally.count[f'{name} of {who}, found']} of {count}"
            for who, count in zip(("manetlab", "ns-3"), wanted, strict=True)
        ]
        entries = str(wanted[0]) if wanted[0] == wanted[1] else f"{wanted[0]} and {wanted[1]}"
        table.add(name, entries, *shares, against)
    for name, note in (
        ("the same", "nodes chose the same relays"),
        ("a tie", "nodes chose others of equal rank, which the RFC leaves open"),
        ("without the degree", "nodes chose others in ns-3 because it takes the degree D(y) for zero"),
    ):
        table.notes.append(f"{tally.count[f'relays, {name}']} {note}.")
    same, of = (
        tally.count[f"topology, {each}"] for each in ("the same there", "networks with the same relays")
    )
    table.notes.append(
        f"In {of} networks all nodes chose the same relays; there the topology sets are equal in {same}."
    )
    table.notes.append(f"Differences that none of this explains: {len(tally.unexplained)}.")
    return table


def ours_program() -> Path:
    """``without_radio`` of crates/promises, compiled."""
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "developer", "-p", "manetlab-promises"]
    try:
        subprocess.run(command, cwd=ROOT, check=True)
    except FileNotFoundError:
        raise InputError(
            "Rust is missing", "cargo", "nothing", "the program", "see CONTRIBUTING.md"
        ) from None
    return OURS


def said(command: Sequence[object], network: Network, seed: int) -> Known:
    """What a program says of a network."""
    links = [end for link in sorted(network.links) for end in link]
    words = [*command, SETTLED_S, seed, network.nodes, *links]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    return Known.read(done.stdout)


@click.command()
@click.option("--networks", type=click.IntRange(1, 10_000), default=200, show_default=True)
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the table here too, as Markdown.")
def compare(networks: int, first: int, markdown: Path | None) -> None:
    """Compare what OLSR knows with ns-3.37. The exit status is 1 if a difference is not explained."""
    if markdown is not None:
        check_writable(markdown)
    theirs, ours = compiled("olsr", ("core", "internet", "network", "olsr")), ours_program()
    tally = Tally()
    for number in range(first, first + networks):
        network, seed = drawn(number), number + 1
        tally.add(number, network, said([ours, "sets"], network, seed), said([theirs], network, seed))
    table = table_of(tally)
    table.print(stdout_console())
    if markdown is not None:
        write_text(markdown, table.to_markdown())
    for each in tally.unexplained:
        print(each, file=sys.stderr)
    sys.exit(1 if tally.unexplained else 0)


if __name__ == "__main__":
    try:
        compare(prog_name="python -m validation.olsr_ns3")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
