"""``python -m validation.daemons``: routing protocols beside the daemons that people run, on the same field.

The daemons run over the simulated channel (`manetlab emulate`), the protocols in the simulator. Of both are
asked: how long after its last node has sent its first message a chain of five has all routes; which next
hops these have; how many bytes of routing a node sends; and in a ring of five of which one node fails, how
long after that the others have routes around it.
"""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import click

import manetlab
from manetlab.errors import InputError, ManetlabError
from manetlab.files import check_writable, write_text
from manetlab.tables import Table, stdout_console

NODES = 5
CUT_S = 30.0
"""When a node of the ring fails, in s."""
CUT_NODE = 1
SETTLED_S = 15.0
"""From when on bytes are counted in the chain, in s: routes and what follows their change are complete."""
CHAIN_S, RING_S = 45.0, 70.0
"""How long the experiments last, in s."""
SIDE_M = 200.0
"""The distance of neighbours, in m; the radio reaches 250 m."""
BYTES_WITHIN = 0.05
"""By how much bytes may differ."""

Routes = dict[tuple[int, int], int]
"""Next hops, by node and destination."""


@dataclass(frozen=True)
class Daemon:
    """A daemon and the protocol that is compared with it.

    Attributes:
        program: What must be installed.
        package: The Debian package that has it.
        script: What runs it at a node, for `sh`.
        port: The UDP port of its messages.
        routing: The protocol in the simulator.
        params: The protocol's parameters, as the script sets the daemon's.
    """

    program: str
    package: str
    script: str
    port: int
    routing: str
    params: Mapping[str, Mapping[str, float]]


BABEL = {"babel": {"hello_interval_s": 1.0, "update_interval_s": 4.0, "triggered_s": 1.0}}
DAEMONS = {
    "babeld": Daemon(
        "babeld",
        "babeld",
        """exec babeld -I '' -S '' -C 'interface manet0 type wireless hello-interval 1 update-interval 4' \\
            -C 'redistribute local ip 10.0.0.0/8 ge 32' -C 'redistribute local deny'""",
        6696,
        "babel:babeld",
        {"babel": {**BABEL["babel"], "request_s": 0.25}},
    ),
    "bird": Daemon(
        "bird",
        "bird2",
        """cat > /run/bird.conf <<END
router id $MANETLAB_ADDRESS;
protocol device { }
protocol static { ipv4; route $MANETLAB_ADDRESS/32 via "lo"; }
protocol kernel { ipv4 { export where source = RTS_BABEL; }; }
protocol babel {
    ipv4 { import all; export where source = RTS_STATIC || source = RTS_BABEL; };
    interface "manet0" { type wireless; hello interval 1 s; update interval 4 s; };
}
END
exec bird -f -c /run/bird.conf -s /run/bird.ctl""",
        6696,
        "babel:rfc8966",
        BABEL,
    ),
    "batmand": Daemon("batmand", "batmand", "batmand manet0; wait", 4305, "batman:batmand", {}),
}


@dataclass(frozen=True)
class Change:
    """A node has another next hop to a destination from now on, or none."""

    time_s: float
    node: int
    dst: int
    next_hop: int | None


@dataclass(frozen=True)
class Seen:
    """What was seen in an experiment: changes of routes in order of time, and messages sent.

    Attributes:
        sent: When, by which node, and how many bytes at IP.
        beyond_slot: The share of frames that were late by more than a slot, of emulations.
    """

    changes: list[Change]
    sent: list[tuple[float, int, int]]
    beyond_slot: float | None = None

    def complete_after_s(self, alive: Iterable[int], since_s: float = 0.0) -> float:
        """How long after an instant all nodes that are alive have routes over each other to each other."""
        nodes, routes = list(alive), Routes()
        earlier = [change for change in self.changes if change.time_s <= since_s]
        for change in earlier:
            apply(change, routes)
        if is_complete(nodes, routes):
            return 0.0
        for change in self.changes[len(earlier) :]:
            apply(change, routes)
            if is_complete(nodes, routes):
                return change.time_s - since_s
        return math.inf

    def all_speak_s(self) -> float:
        """When the last node sends its first message."""
        first: dict[int, float] = {}
        for time_s, node, _ in self.sent:
            first.setdefault(node, time_s)
        return max(first.values())

    def routes(self) -> Routes:
        """The next hops at the end."""
        last = {(each.node, each.dst): each.next_hop for each in self.changes}
        return {pair: next_hop for pair, next_hop in last.items() if next_hop is not None}

    def bytes_per_node_s(self, since_s: float, until_s: float) -> float:
        """Bytes of routing at IP, a node and second."""
        return sum(size for time_s, _, size in self.sent if since_s <= time_s < until_s) / (
            NODES * (until_s - since_s)
        )


def apply(change: Change, routes: Routes) -> None:
    """Changes the next hops."""
    if change.next_hop is None:
        routes.pop((change.node, change.dst), None)
    else:
        routes[change.node, change.dst] = change.next_hop


def is_complete(nodes: Sequence[int], routes: Routes) -> bool:
    """Do the next hops lead from each node to each other, over these nodes only?"""
    for node in nodes:
        for dst in nodes:
            at = node
            for _ in nodes:
                if at == dst:
                    break
                at = routes.get((at, dst), -1)
                if at not in nodes:
                    return False
            if at != dst:
                return False
    return True


def chain(nodes: int = NODES, duration_s: float = CHAIN_S) -> str:
    """Nodes in a row, as a scenario in TOML."""
    where = f"movement.chain = {{ nodes = {nodes}, spacing_m = {SIDE_M} }}"
    return f"duration_s = {duration_s}\n{where}\ntraffic.flows = []\n"


def ring() -> str:
    """Nodes in a circle of which one fails, as a scenario in TOML."""
    radius_m = SIDE_M / (2 * math.sin(math.pi / NODES))
    angles = [2 * math.pi * node / NODES for node in range(NODES)]
    positions = [
        [round(radius_m * (1 + function(angle)), 3) for function in (math.cos, math.sin)] for angle in angles
    ]
    failure = f"[[failures]]\nnode = {CUT_NODE}\nat_s = {CUT_S}\n"
    return f"duration_s = {RING_S}\nmovement.positions = {positions}\ntraffic.flows = []\n{failure}"


def simulated(daemon: Daemon, scenario: str, seed: int) -> Seen:
    """The protocol in the simulator."""
    field: dict[str, Any] = tomllib.loads(scenario)
    nodes = manetlab.Scenario(**field).resolve().movement.nodes
    # Recorded are routes to the ends of flows; these send nothing before all is over.
    ends = [(node, (node + 1) % nodes) for node in range(nodes)]
    start_s = field["duration_s"] - 0.001
    flows = [
        {"kind": "cbr", "src": src, "dst": dst, "start_s": start_s, "bytes": 64, "interval_s": 1.0}
        for src, dst in ends
    ]
    field |= {"traffic": {"flows": flows}, **daemon.params}
    run = manetlab.run(**field, routing=daemon.routing, seed=seed, record=True)
    assert run.recording is not None
    events = [json.loads(line) for line in run.recording.splitlines()[1:]]
    changes = [
        Change(each["t"], each["node"], each["dst"], each.get("next_hop"))
        for each in events
        if each["event"] == "route"
    ]
    sent = [(each["t"], each["node"], each["bytes"]) for each in events if each["event"] == "sent"]
    return Seen([each for each in changes if each.node != each.dst], sent)


def emulated(daemon: Daemon, scenario: str) -> Seen:
    """The daemon over the same channel, in real time.

    Raises:
        InputError: Network namespaces are forbidden, or the daemon is not installed.
    """
    for program, package in ((daemon.program, daemon.package), ("ip", "iproute2")):
        if shutil.which(program) is None:
            hint = f"apt install {package}"
            raise InputError(f"{program} is missing", "daemons", "nothing", "the program", hint)
    script = f"ip -ts monitor route &\n{daemon.script}"
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write_text(place / "s.toml", scenario)
        command = [sys.executable, "-m", "manetlab", "emulate", "s.toml", "--json", "--logs", "logs"]
        command += ["--capture", "air.pcapng", "--", "sh", "-c", script]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise InputError("the emulation failed", "daemons", done.stderr, "an emulation")
        told = json.loads(done.stdout)
        if told["stopped"]:
            raise InputError(f"{daemon.program} ended", "daemons", done.stderr, "a daemon that goes on")
        changes = [
            change
            for node in range(len(told["nodes"]))
            for change in monitored(
                (place / "logs" / f"node-{node}.log").read_text(), node, told["began_at_s"]
            )
        ]
        sent = list(datagrams((place / "air.pcapng").read_bytes(), daemon.port))
    return Seen(sorted(changes, key=lambda each: each.time_s), sent, told["lateness"]["beyond_slot"])


def monitored(log: str, node: int, began_at_s: float) -> Iterator[Change]:
    """The changes that ``ip -ts monitor route`` wrote down, of routes to nodes."""
    used: dict[int, int] = {}
    for line in log.splitlines():
        stamp, _, rest = line.partition("] ")
        words = rest.removeprefix("Deleted ").split()
        if (
            not stamp.startswith("[")
            or not words
            or not words[0].startswith("10.0.0.")
            or "manet0" not in words
        ):
            continue
        if "/" in words[0] or words[0] == f"10.0.0.{node + 1}":
            continue
        time_s = datetime.fromisoformat(stamp[1:]).timestamp() - began_at_s
        via = words[words.index("via") + 1] if "via" in words else words[0]
        dst, next_hop = node_of(words[0]), node_of(via)
        if not rest.startswith("Deleted "):
            used[dst] = next_hop
            yield Change(time_s, node, dst, next_hop)
        elif used.get(dst) == next_hop:
            # Some daemons add the new route before they delete the old one.
            del used[dst]
            yield Change(time_s, node, dst, None)


def node_of(address: str) -> int:
    """The node that has an address."""
    return int(address.rpartition(".")[2]) - 1


INTERFACE_BLOCK, PACKET_BLOCK = 1, 6
"""Types of pcapng's blocks: descriptions of interfaces, and packets."""
RADIOTAP = 127
"""The link type of radios; what nodes drop is on interfaces of another."""
DOT11_BYTES, LLC_BYTES, DATA = 24, 8, 0x08
TRANSMITTER_END = 15
"""The last byte of the transmitter's address: node 0 has 1."""


def datagrams(capture: bytes, port: int) -> Iterator[tuple[float, int, int]]:
    """When the UDP datagrams from a port went on the air, from which node, and with how many bytes at IP."""
    at, link_types = 0, list[int]()
    while at + 12 <= len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == INTERFACE_BLOCK:
            link_types.append(struct.unpack_from("<H", capture, at + 8)[0])
        elif kind == PACKET_BLOCK and link_types[struct.unpack_from("<I", capture, at + 8)[0]] == RADIOTAP:
            high, low, captured = struct.unpack_from("<III", capture, at + 12)
            packet = capture[at + 28 : at + 28 + captured]
            frame = packet[struct.unpack_from("<H", packet, 2)[0] :]
            ip = frame[DOT11_BYTES + LLC_BYTES :]
            if frame[0] == DATA and (size := size_of(ip, port)) is not None:
                yield ((high << 32) + low) / 1e9, frame[TRANSMITTER_END] - 1, size
        at += length


def size_of(ip: bytes, port: int) -> int | None:
    """The length of an IP packet if it is a UDP datagram from this port."""
    if ip[0] >> 4 == 6:
        is_udp, head, size = ip[6] == 17, 40, 40 + struct.unpack_from(">H", ip, 4)[0]
    else:
        is_udp, head, size = ip[9] == 17, 4 * (ip[0] & 15), struct.unpack_from(">H", ip, 2)[0]
    return size if is_udp and struct.unpack_from(">H", ip, head)[0] == port else None


@dataclass(frozen=True)
class Measured:
    """The values of several runs of one kind."""

    converged_s: list[float]
    healed_s: list[float]
    bytes_per_node_s: list[float]
    routes: list[Routes]

    @staticmethod
    def of(chains: Sequence[Seen], rings: Sequence[Seen]) -> Measured:
        """Of the experiments in chain and ring."""
        others = [node for node in range(NODES) if node != CUT_NODE]
        return Measured(
            [seen.complete_after_s(range(NODES), seen.all_speak_s()) for seen in chains],
            [seen.complete_after_s(others, CUT_S) for seen in rings],
            [seen.bytes_per_node_s(SETTLED_S, CHAIN_S) for seen in chains],
            [seen.routes() for seen in chains],
        )


def compare(name: str, emulations: Measured, simulations: Measured, late: Sequence[float]) -> Table:
    """The table of a daemon."""
    daemon, runs = DAEMONS[name], f"{len(emulations.converged_s)} emulations"
    title = f"{name} and {daemon.routing}: {runs}, {len(simulations.converged_s)} simulations"
    table = Table(title, ("what", name, "range", daemon.routing, "range", "verdict"))
    for what, attribute in (
        ("complete after all have spoken, s", "converged_s"),
        ("around a failed node after, s", "healed_s"),
        ("bytes a node and second", "bytes_per_node_s"),
    ):
        real, ours = getattr(emulations, attribute), getattr(simulations, attribute)
        if attribute == "bytes_per_node_s":
            ratio = fmean(ours) / fmean(real) - 1
            verdict = f"{ratio:+.1%}, " + ("within" if abs(ratio) <= BYTES_WITHIN else "NOT within") + " 5 %"
        else:
            verdict = "in the range" if min(real) <= fmean(ours) <= max(real) else "NOT in the range"
        table.add(what, *cells(real), *cells(ours), verdict)
    wanted = [routes == emulations.routes[0] for routes in [*emulations.routes, *simulations.routes]]
    same = f"{sum(wanted)} of {len(wanted)} the same"
    table.add("next hops in the chain", "", "", "", "", same)
    table.notes.append(
        f"Frames of emulations later than a slot: {min(late):.2%} to {max(late):.2%} of those on the air."
    )
    return table


def cells(values: Sequence[float]) -> tuple[str, str]:
    """Mean and range."""
    return f"{fmean(values):.1f}", f"{min(values):.1f} to {max(values):.1f}"


def table_of(name: str, runs: int, at_once: int) -> Table:
    """Runs the experiments of a daemon."""
    daemon = DAEMONS[name]
    fields = [chain()] * runs + [ring()] * runs
    with ThreadPoolExecutor(at_once) as pool:
        real = list(pool.map(lambda scenario: emulated(daemon, scenario), fields))
    ours = [simulated(daemon, scenario, 1 + number % runs) for number, scenario in enumerate(fields)]
    late = [seen.beyond_slot or 0.0 for seen in real]
    return compare(name, Measured.of(real[:runs], real[runs:]), Measured.of(ours[:runs], ours[runs:]), late)


@click.command()
@click.argument("names", nargs=-1, metavar="[DAEMON]...", type=click.Choice(list(DAEMONS)))
@click.option("--runs", type=click.IntRange(1, 100), default=5, show_default=True, help="Runs of each kind.")
@click.option(
    "--at-once", type=click.IntRange(1, 20), default=2, show_default=True, help="Emulations at once."
)
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the tables here too, as Markdown.")
def main(names: tuple[str, ...], runs: int, at_once: int, markdown: Path | None) -> None:
    """Compare routing protocols with the daemons that people run. A run of each kind takes two minutes."""
    if markdown is not None:
        check_writable(markdown)
    tables = []
    for name in names or DAEMONS:
        tables.append(table_of(name, runs, at_once))
        tables[-1].print(stdout_console())
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in tables))


if __name__ == "__main__":
    try:
        main(prog_name="python -m validation.daemons")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
