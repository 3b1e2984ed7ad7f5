"""Routing protocols in Python: the contract, the examples, and where a class can go."""

import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import manetlab
from manetlab import Campaign, InputError, Packet, ProtocolFailed, Routing, Scenario, run, run_many
from manetlab.examples.flooding import Flooding
from manetlab.examples.greedy import Greedy
from manetlab.examples.sourced import Sourced
from manetlab.links import links
from manetlab.routing import name_of
from tests.examples import CBR_FLOW, chain, mobile


class Relay(Routing):
    """Sends to the next node of a chain, and does what `misdeed` says at node 1."""

    misdeed: Callable[[Routing, Packet], object] | None = None

    def handle_outgoing(self, packet: Packet) -> None:
        assert packet.destination is not None
        self.send(packet, self.node + (1 if packet.destination > self.node else -1))

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        if self.node == 1 and type(self).misdeed is not None:
            type(self).misdeed(self, packet)
        elif packet.destination == self.node:
            self.deliver(packet)
        else:
            self.handle_outgoing(packet)


class Patient(Relay):
    """Keeps every packet for half a second at each node."""

    def __init__(self, wait_s: float = 0.5) -> None:
        self.wait_s = wait_s
        self.due: list[float] = []

    def next_timeout(self) -> float | None:
        return self.due[0] if self.due else None

    def handle_outgoing(self, packet: Packet) -> None:
        self.keep(packet)
        self.due.append(self.now + self.wait_s)

    def handle_timeout(self) -> None:
        self.due.pop(0)
        super().handle_outgoing(self.kept[0])


class Sleepless(Relay):
    """Wants to be woken again in the instant in which it was woken."""

    def next_timeout(self) -> float | None:
        return 1.0


class Chatter(Routing):
    """Every node says once what it has heard, in a list that it goes on changing."""

    heard: list[list[int]]

    def __init__(self) -> None:
        self.heard = []
        self.table = [self.node]

    def next_timeout(self) -> float | None:
        return None if self.table == [] else 0.1 * (self.node + 1)

    def handle_timeout(self) -> None:
        self.broadcast(self.make_packet(self.table, payload_bytes=4), delay=0.01)
        self.table.clear()

    def handle_outgoing(self, packet: Packet) -> None:
        self.drop(packet, "no-route")

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        assert packet.payload == [previous_hop], "the sender's own list has been cleared"
        packet.payload.append(self.node)
        assert packet.payload == [previous_hop, self.node], "each receiver has one copy"
        self.consume(packet)


class Listener(Relay):
    """Counts what it overhears, all nodes together."""

    overheard: ClassVar[Counter[tuple[int, int, int]]] = Counter()

    def handle_overheard(self, packet: Packet, sender: int, receiver: int) -> None:
        Listener.overheard[self.node, sender, receiver] += 1
        with pytest.raises(InputError, match="for another node"):
            self.drop(packet, "no-route")


class Tracing(Relay):
    """Writes into a header of the packet which nodes it has left, and notes what each node sees."""

    read: ClassVar[list[tuple[int, list[int], int]]] = []

    def handle_outgoing(self, packet: Packet) -> None:
        trace = packet.header or []
        # The header that the packet has keeps its content until another one is put on.
        trace.append(self.node)
        packet.put_header(trace, header_bytes=4 * len(trace))
        trace.append("not on the air")
        super().handle_outgoing(packet)

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        Tracing.read.append((self.node, list(packet.header), packet.header_bytes))
        super().handle_incoming(packet, previous_hop)

    def handle_overheard(self, packet: Packet, sender: int, receiver: int) -> None:
        Tracing.read.append((self.node, list(packet.header), packet.header_bytes))
        with pytest.raises(InputError, match="for another node"):
            packet.remove_header()


class Redirecting(Relay):
    """Told of a broken link, takes what waits for it out of the queue; says so to the other layers."""

    def handle_link_failure(self, packet: Packet, next_hop: int) -> None:
        self.notify_route_failed(next_hop)
        self.flush_queue(next_hop)
        self.drop(packet, "no-route")

    def handle_flushed(self, packet: Packet, next_hop: int | None) -> None:
        assert next_hop is not None
        self.drop(packet, "buffer-timeout")


def one_way(**changes: Any) -> Scenario:
    """Packets from node 0 to node 2 of a chain of three."""
    flow = {**CBR_FLOW, "src": 0, "dst": 2}
    return chain(**{"traffic": {"flows": [flow]}, "duration_s": 2.0, **changes})


def with_misdeed(monkeypatch: pytest.MonkeyPatch, misdeed: Callable[[Any, Packet], object]) -> ProtocolFailed:
    monkeypatch.setattr(Relay, "misdeed", misdeed)
    with pytest.raises(ProtocolFailed) as failed:
        run(one_way(), routing=Relay)
    return failed.value


def twice(protocol: Routing, packet: Packet) -> None:
    protocol.drop(packet, "no-route")
    protocol.send(packet, 2)


def of_another_node(protocol: Routing, packet: Packet) -> None:
    protocol.position(3)


def too_short(protocol: Routing, packet: Packet) -> None:
    packet.put_header("trace", header_bytes=8)
    packet.bytes = 27


MISDEEDS: dict[str, tuple[Callable[[Any, Packet], object], str]] = {
    "lost": (lambda protocol, packet: None, "a packet is lost"),
    "twice": (twice, "was dropped before"),
    "unknown": (lambda protocol, packet: protocol.send(packet, 3), "a node from 0 to 2"),
    "negative": (lambda protocol, packet: protocol.send(packet, -1), "a node from 0 to 2"),
    "itself": (lambda protocol, packet: protocol.send(packet, 1), "another node"),
    "past": (lambda protocol, packet: protocol.send(packet, 2, delay=-0.1), "-0.1 s"),
    "never": (lambda protocol, packet: protocol.broadcast(packet, delay=math.nan), "NaN s"),
    "delivered": (lambda protocol, packet: protocol.deliver(packet), "data for this node"),
    "consumed": (lambda protocol, packet: protocol.consume(packet), "deliver or drop data"),
    "reason": (lambda protocol, packet: protocol.drop(packet, "boredom"), "no-route"),
    "mac's reason": (lambda protocol, packet: protocol.drop(packet, "retry-limit"), "no-route"),
    "place": (of_another_node, "a node from 0 to 2"),
    "ttl": (lambda protocol, packet: setattr(packet, "ttl", 256), "0 to 255 hops"),
    "bytes": (lambda protocol, packet: setattr(packet, "bytes", 19), "20 to 65535 bytes"),
    "payload": (lambda protocol, packet: setattr(packet, "payload", 1), "a message of the protocol"),
    "header": (lambda protocol, packet: packet.put_header("trace", -1), "0 to 65515 bytes"),
    "long header": (lambda protocol, packet: packet.put_header("trace", 65_004), "65536"),
    "too short": (too_short, "28 bytes or more"),
    "long": (lambda protocol, packet: protocol.make_packet(None, 65_516), "65536"),
    "new": (lambda protocol, packet: protocol.keep(protocol.make_packet(None, 4)), "has come in"),
}


@pytest.mark.parametrize(("misdeed", "said"), MISDEEDS.values(), ids=MISDEEDS)
def test_what_breaks_the_contract_is_named_with_node_and_time(
    misdeed: Callable[[Any, Packet], object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = with_misdeed(monkeypatch, misdeed)
    assert failed.where.startswith("handle_incoming of node 1 at 0.5")
    assert said in str(failed)
    assert isinstance(failed.__cause__, InputError)


def test_an_exception_of_the_protocol_is_the_cause_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = with_misdeed(monkeypatch, lambda protocol, packet: {}["no such key"])
    assert isinstance(failed.__cause__, KeyError)
    assert failed.found.startswith("KeyError: 'no such key' (") and "test_routing.py, line" in failed.found
    assert (failed.exit_status, failed.where[:26]) == (2, "handle_incoming of node 1 ")


def test_a_misdeed_that_is_caught_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgiving(protocol: Any, packet: Packet) -> None:
        with pytest.raises(InputError):
            protocol.send(packet, 99)
        protocol.send(packet, 2)

    monkeypatch.setattr(Relay, "misdeed", forgiving)
    assert run(one_way(), routing=Relay).totals["cbr_delivery_fraction"] == 1.0


def test_a_run_after_a_failed_one_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(one_way(), routing=Relay).hash
    with_misdeed(monkeypatch, twice)
    monkeypatch.setattr(Relay, "misdeed", None)
    assert run(one_way(), routing=Relay).hash == before


def test_ctrl_c_within_a_protocol_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(protocol: Any, packet: Packet) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Relay, "misdeed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(one_way(), routing=Relay)


def test_waking_in_the_same_instant_for_ever_is_an_error() -> None:
    with pytest.raises(ProtocolFailed, match="woken in the past") as failed:
        run(one_way(), routing=Sleepless)
    assert failed.value.where == "handle_timeout of node 0 at 1 s"


def test_static_routes_and_the_same_in_python_make_the_same_run() -> None:
    static, relayed = run(one_way(routing="static")), run(one_way(), routing=Relay)
    assert static.hash == relayed.hash
    assert static.provenance["scenario_hash"] != relayed.provenance["scenario_hash"]


def test_kept_packets_go_on_later_or_are_in_flight_at_the_end() -> None:
    result = run(one_way(), routing=Patient)
    latency = result.flows[0]["latency_mean_s"]
    assert 1.0 < latency < 1.1, "half a second at the source and half at the relay"
    books = result.audit["flows"][0]
    assert (books["made"], books["delivered"], books["in_flight"]) == (15, 5, 10)
    held = run(one_way(), routing=Patient, python={"wait_s": 100.0}).audit["flows"][0]
    assert (held["made"], held["in_flight"]) == (15, 15)


def test_messages_are_copies_and_are_recorded() -> None:
    result = run(one_way(), routing=Chatter, record=True)
    assert result.totals["routing_packets_per_s"] * 2.0 == 3
    assert result.audit["routing"]["consumed"] == 4, "the middle hears two nodes, the ends one each"
    lines = [json.loads(line) for line in str(result.recording).splitlines()]
    said = [
        (line["node"], line["bytes"], line["next_hop"]) for line in lines if line.get("what") == "message"
    ]
    assert said == [(node, 24, "broadcast") for node in range(3)]


def test_a_header_goes_with_its_packet_as_a_copy_at_each_node_and_counts_on_the_air() -> None:
    Tracing.read.clear()
    flow = {**CBR_FLOW, "src": 0, "dst": 2, "max_packets": 1}
    result = run(one_way(traffic={"flows": [flow]}), routing=Tracing, record=True)
    assert Tracing.read == [(1, [0], 4), (0, [0, 1], 8), (2, [0, 1], 8)]
    lines = [json.loads(line) for line in str(result.recording).splitlines()]
    plain = 512 + 20
    sent = [(line["node"], line["bytes"]) for line in lines if line.get("event") == "sent"]
    assert sent == [(0, plain + 4), (1, plain + 8)]
    mac_header = 34
    frames = [line["bytes"] for line in lines if (line.get("kind"), line.get("for")) == ("data", "data")]
    assert [length - mac_header for length in frames] == [plain + 4, plain + 8]
    assert result.totals["routing_bytes_per_s"] * 2.0 == 4 + 8
    assert result.totals["cbr_delivery_fraction"] == 1.0 and result.audit["balanced"]


def test_a_header_that_is_taken_off_leaves_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(one_way(), routing=Relay)

    def passing(protocol: Any, packet: Packet) -> None:
        assert (packet.header, packet.header_bytes) == (None, 0)
        length = packet.bytes
        packet.put_header({"mode": "perimeter"}, header_bytes=12)
        packet.put_header({"mode": "greedy"}, header_bytes=30)
        assert (packet.header, packet.bytes) == ({"mode": "greedy"}, length + 30)
        packet.remove_header()
        packet.remove_header()
        assert (packet.header, packet.bytes) == (None, length)
        protocol.send(packet, 2)

    monkeypatch.setattr(Relay, "misdeed", passing)
    assert run(one_way(), routing=Relay).hash == before.hash


def test_source_routes_in_headers_lead_along_shortest_paths() -> None:
    flows = [
        {**CBR_FLOW, "src": 0, "dst": node, "start_s": 0.1 * node, "max_packets": 2} for node in (4, 18, 19)
    ]
    scenario = chain(movement={"grid": {"columns": 5, "rows": 4}}, traffic={"flows": flows}, duration_s=5.0)
    result = run(scenario, routing=Sourced)
    assert [flow["hops_mean"] for flow in result.flows] == [4, 6, 7]
    lengths = [sum(4 + 4 * left for left in range(hops)) for hops in (4, 6, 7)]
    assert result.totals["routing_bytes_per_s"] * 5.0 == pytest.approx(2 * sum(lengths), rel=1e-12)


def test_a_source_route_without_room_in_the_packet_is_no_route() -> None:
    # 20 bytes of IP and 8 of UDP; three nodes are left to name at the first hop.
    longest = 65_535 - 20 - 8 - (4 + 4 * 3)
    for length, delivered in ((longest, 1.0), (longest + 1, 0.0), (65_507, 0.0)):
        flow = {**CBR_FLOW, "src": 0, "dst": 4, "bytes": length, "interval_s": 3.0, "max_packets": 2}
        asked = chain(movement={"chain": {"nodes": 5}}, traffic={"flows": [flow]}, profile="rfc")
        result = run(asked, routing=Sourced)
        assert result.flows[0]["sent"] > 1
        assert result.totals["cbr_delivery_fraction"] == delivered
        assert {drop["reason"] for drop in result.drops} == (set() if delivered else {"no-route"})


def test_overheard_packets_are_for_others_and_only_shown() -> None:
    Listener.overheard.clear()
    result = run(one_way(), routing=Listener)
    assert result.hash == run(one_way(), routing=Relay).hash
    assert Listener.overheard == {(0, 1, 2): 15}


def test_a_broken_link_comes_back_with_what_waits_for_it() -> None:
    places = [(0.0, 0.0), (200.0, 0.0), (900.0, 0.0)]
    flow = {**CBR_FLOW, "src": 0, "dst": 2, "interval_s": 0.005}
    result = run(
        one_way(movement={"positions": places}, arp={"enabled": False}, traffic={"flows": [flow]}),
        routing=Redirecting,
        record=True,
    )
    reasons = {drop["reason"] for drop in result.drops}
    assert reasons >= {"no-route", "buffer-timeout"}
    assert '"event":"route-failed","dst":2,"told":false' in str(result.recording)


# The examples.


@pytest.mark.parametrize("profile", ["rfc", "ns-2.35"])
def test_flooding_in_python_is_flooding_in_rust_run_for_run(profile: str) -> None:
    for seed in range(1, 4):
        scenario = mobile(profile=profile, seed=seed, duration_s=8.0)
        assert run(scenario, routing=Flooding).hash == run(scenario, routing="flooding").hash


def test_parameters_of_a_python_protocol_are_those_of_the_same_in_rust() -> None:
    values = {"ttl": 2, "jitter_s": 0.05}
    of_python = run(mobile(duration_s=8.0), routing=Flooding, python=values)
    of_rust = run(mobile(duration_s=8.0), routing="flooding", flooding=values)
    assert of_python.hash == of_rust.hash != run(mobile(duration_s=8.0), routing="flooding").hash


@pytest.mark.parametrize("routing", ["flooding", Flooding])
def test_flooding_reaches_every_node_of_a_connected_network(routing: Any) -> None:
    flows = [
        {**CBR_FLOW, "src": 0, "dst": node, "start_s": 1.0 + 2.0 * node, "max_packets": 1}
        for node in range(1, 25)
    ]
    scenario = chain(
        movement={"grid": {"columns": 5, "rows": 5}},
        traffic={"flows": flows},
        duration_s=60.0,
        routing=routing,
    )
    jitter = {"jitter_s": 0.2}
    result = run(scenario, flooding=jitter, python=jitter, record=True)
    assert [flow["received"] for flow in result.flows] == [1] * 24
    lines = (json.loads(line) for line in str(result.recording).splitlines())
    sent = Counter((line["uid"], line["node"]) for line in lines if line.get("event") == "sent")
    assert set(sent.values()) == {1}, "no node broadcasts a packet twice"
    senders = Counter(uid for uid, _ in sent)
    assert set(senders.values()) == {24}, "every node but the destination broadcasts it"


def test_greedy_takes_as_many_hops_as_the_grid_has_steps() -> None:
    columns, rows = 5, 4
    pairs = [(0, 19), (4, 15), (2, 17), (10, 14), (19, 0), (7, 8)]
    flows = [
        {**CBR_FLOW, "src": src, "dst": dst, "start_s": 5.0 + number, "interval_s": 1.0, "max_packets": 3}
        for number, (src, dst) in enumerate(pairs)
    ]
    movement = {"grid": {"columns": columns, "rows": rows}}
    result = run(chain(movement=movement, traffic={"flows": flows}, duration_s=20.0), routing=Greedy)
    steps = [abs(src % columns - dst % columns) + abs(src // columns - dst // columns) for src, dst in pairs]
    assert [flow["received"] for flow in result.flows] == [3] * len(pairs)
    assert [flow["hops_mean"] for flow in result.flows] == steps


def test_greedy_drops_at_a_local_maximum() -> None:
    """Node 0 is nearer to node 3 than its only neighbour is, and the way round leads away first."""
    places = [(0.0, 0.0), (-150.0, 180.0), (50.0, 300.0), (300.0, 0.0), (250.0, 200.0)]
    flow = {**CBR_FLOW, "src": 0, "dst": 3, "start_s": 5.0}
    scenario = chain(movement={"positions": places}, traffic={"flows": [flow]})
    result = run(scenario, routing=Greedy)
    assert run(scenario, routing="static").totals["cbr_delivery_fraction"] == 1.0, "there is a way"
    assert result.totals["cbr_delivery_fraction"] == 0.0
    assert [(drop["reason"], drop["count"]) for drop in result.drops] == [("local-maximum", 50)]


@pytest.mark.parametrize("routing", [Flooding, Greedy])
def test_the_books_balance_in_mobile_networks(routing: type[Routing]) -> None:
    seeds = random.Random(7).sample(range(10_000), 20)
    for result in run_many([mobile(routing=routing, seed=seed, duration_s=6.0) for seed in seeds]):
        assert result.audit["balanced"]
        for books in result.audit["flows"]:
            assert books["made"] == books["delivered"] + books["lost"] + books["in_flight"]
        assert result.audit["data"]["delivered"] > 0


@pytest.mark.parametrize("routing", [Flooding, Greedy])
def test_the_same_run_in_other_processes(routing: type[Routing]) -> None:
    program = (
        "from tests.examples import mobile; from manetlab import run; "
        f"print(run(mobile(duration_s=6.0), routing={name_of(routing)!r}).hash)"
    )
    hashes = {run(mobile(duration_s=6.0), routing=routing).hash}
    for hash_seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        hashes.add(done.stdout.strip())
    assert len(hashes) == 1


# Where a class can go.


def test_a_run_says_which_class_made_it_and_is_repeated_from_that() -> None:
    result = run(mobile(duration_s=4.0), routing=Flooding, python={"jitter_s": 0.02})
    kept = json.loads(result.to_json())["provenance"]["scenario"]
    assert kept["routing"] == "python:manetlab.examples.flooding.Flooding"
    assert kept["python"] == {"jitter_s": 0.02}
    assert len(kept["python_source_sha256"]) == 64
    again = run(mobile(duration_s=4.0), routing=kept["routing"], python=kept["python"])
    assert again.provenance["scenario_hash"] == result.provenance["scenario_hash"]
    assert again.hash == result.hash


def test_however_the_class_is_given_the_scenario_is_the_same() -> None:
    fields = {"movement": {"chain": {"nodes": 3}}, "traffic": {"flows": []}, "duration_s": 1.0}
    ways = [
        Scenario(**fields, routing=Flooding),  # type: ignore[arg-type]
        Scenario.build({**fields, "routing": Flooding}),
        Scenario.build(fields).changed(routing=Flooding),
        Scenario.build({**fields, "routing": name_of(Flooding)}),
    ]
    assert len({scenario.resolve().hash for scenario in ways}) == 1


def test_another_source_is_another_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = Path(manetlab.examples.flooding.__file__).read_text()
    hashes = []
    for number, text in enumerate([source, source, source + "# changed\n"]):
        (tmp_path / f"mine{number}.py").write_text(text)
        resolved = mobile(routing=f"python:mine{number}.Flooding").resolve()
        hashes.append(resolved.to_dict()["python_source_sha256"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_classes_that_cannot_be_found_again_are_refused() -> None:
    class Local(Relay):
        pass

    bad: list[tuple[Any, str]] = [
        (Local, "cannot be imported by its name"),
        (int, "not a routing protocol"),
        ("python:no_such_module.Flooding", "No module named"),
        ("python:manetlab.examples.flooding.Floodin", "has no attribute"),
        ("python:Flooding", "does not name a module"),
        ("python:manetlab.running.Result", "not a routing protocol"),
        ("python", "does not name a module"),
        # Relative to nothing.
        ("python:.flooding.Flooding", "does not name a module"),
        ("python:..Flooding", "does not name a module"),
    ]
    for routing, said in bad:
        with pytest.raises(InputError, match=said):
            run(chain(), routing=routing)


def test_a_name_that_is_nobodys_tells_of_both_kinds_of_protocols() -> None:
    with pytest.raises(InputError, match="no such routing protocol") as refused:
        run(chain(), routing="dsrr")
    assert refused.value.hint == 'did you mean "dsr"?'
    assert "aodv" in refused.value.wanted
    assert refused.value.wanted.endswith("python:MODULE.CLASS")


def test_parameters_that_the_class_does_not_take_are_refused() -> None:
    with pytest.raises(InputError, match="jitters_s") as refused:
        run(chain(), routing=Flooding, python={"jitters_s": 1.0})
    assert "jitter_s: float = 0.01" in refused.value.wanted
    with pytest.raises(InputError, match="cannot be stored"):
        run(chain(), routing=Flooding, python={"jitter_s": math.inf})
    assert "python" not in run(chain(), python={"jitter_s": 1.0}).provenance["scenario"]


def test_a_campaign_compares_a_class_with_a_protocol_of_the_simulator(tmp_path: Path) -> None:
    fields = mobile(duration_s=4.0).to_dict()
    campaign = Campaign(
        base=fields,
        factors={"routing": ["flooding", Flooding], "python.jitter_s": [0.01, 0.05]},
        replications=2,
    )
    results = campaign.run(tmp_path / "runs.db", jobs=2)
    hashes = results.runs.groupby(["routing", "python.jitter_s"])["result_hash"].agg(tuple).to_dict()
    own = name_of(Flooding)
    assert hashes["flooding", 0.01] == hashes["flooding", 0.05] == hashes[own, 0.01] != hashes[own, 0.05]
    assert len(campaign.run(tmp_path / "runs.db").runs) == 8, "nothing is run again"


def test_a_campaign_keeps_what_a_protocol_did_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Relay, "misdeed", twice)
    fields = one_way().to_dict()
    results = Campaign(base={**fields, "routing": Relay}, replications=1).run()
    assert ["was dropped before" in error for error in results.failed["error"]] == [True]


def test_a_cluster_refuses_protocols_in_python() -> None:
    fields = one_way().to_dict()
    campaign = Campaign(base=fields, factors={"routing": ["aodv", Flooding]}, replications=1)
    with pytest.raises(InputError, match="cannot run a protocol in Python"):
        campaign.run(scheduler="tcp://127.0.0.1:1")


def test_the_command_line_runs_a_protocol_in_python(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(
        "duration_s = 2\nmovement = { chain = { nodes = 3 } }\n"
        "traffic = { random = { cbr = 2, cbr_start_within_s = 1 } }\n"
    )
    named = [f"--routing={name_of(Flooding)}", "--set", "python.jitter_s=0.02", "--json"]
    command = [sys.executable, "-m", "manetlab", "run", "chain.toml", *named]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    origin = json.loads(done.stdout)["provenance"]
    assert (
        origin["result_hash"]
        == run(tmp_path / "chain.toml", routing="flooding", flooding={"jitter_s": 0.02}).hash
    )


def test_the_command_line_shows_where_a_protocol_failed(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import manetlab\nclass Broken(manetlab.Routing):\n    def handle_start(self):\n        1 / 0\n"
    )
    (tmp_path / "chain.toml").write_text(
        "duration_s = 2\nmovement = { chain = { nodes = 3 } }\ntraffic = { flows = [] }\n"
        'routing = "python:broken.Broken"\n'
    )
    environment = {**os.environ, "PYTHONPATH": ":".join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "manetlab", "run", "chain.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'broken.py", line 4, in handle_start' in done.stderr
    assert "error: handle_start of node 0 at 0 s: the routing protocol failed" in done.stderr


def test_randomness_is_the_nodes_own_stream() -> None:
    draws = {node: [protocol.random.unit() for _ in range(3)] for node, protocol in made_of(Drawing).items()}
    assert len({tuple(values) for values in draws.values()}) == len(draws)
    assert all(0.0 <= value < 1.0 for value in itertools.chain(*draws.values()))


class Drawing(Relay):
    """Leaves its objects behind, for tests to look at."""

    made: ClassVar[dict[int, Routing]] = {}

    def __init__(self) -> None:
        Drawing.made[self.node] = self


def made_of(kind: type[Drawing]) -> dict[int, Routing]:
    kind.made.clear()
    run(one_way(), routing=kind)
    return kind.made


class Listening(Routing):
    """The node next to the end of a chain notes how strong the frames are that it receives and overhears."""

    heard: ClassVar[list[tuple[str, int, float | None]]] = []

    def handle_outgoing(self, packet: Packet) -> None:
        self._note("outgoing", self.node)
        self.send(packet, self.node + 1)

    def handle_incoming(self, packet: Packet, previous_hop: int) -> None:
        self._note("incoming", previous_hop)
        if packet.destination == self.node:
            self.deliver(packet)
        else:
            self.send(packet, self.node + 1)

    def handle_overheard(self, packet: Packet, sender: int, receiver: int) -> None:
        self._note("overheard", sender)

    def _note(self, what: str, sender: int) -> None:
        if self.node == 1:
            type(self).heard.append((what, sender, self.rx_power_w))


def test_what_comes_in_has_its_received_power() -> None:
    Listening.heard.clear()
    positions = [[0.0, 0.0], [60.0, 0.0], [240.0, 0.0], [400.0, 0.0]]
    flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 64, "interval_s": 0.5}
    made = Scenario(
        movement={"positions": positions},
        traffic={"flows": [flow, {**flow, "src": 1}]},
        duration_s=4.0,
        routing=f"python:{__name__}.Listening",
        radio={"shadowing_db": 2.0},
    )
    power_w = {(each.src, each.dst): 10 ** (each.power_dbm / 10 - 3) for each in links(made.resolve(), 0.0)}
    run(made)
    by_kind = {
        what: {each for each in Listening.heard if each[0] == what} for what in ("incoming", "overheard")
    }
    assert {each[2] for each in Listening.heard if each[0] == "outgoing"} == {None}
    assert [power for _, _, power in by_kind["incoming"]] == [pytest.approx(power_w[0, 1], rel=1e-9)]
    assert [power for _, _, power in by_kind["overheard"]] == [pytest.approx(power_w[2, 1], rel=1e-9)]
