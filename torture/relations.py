"""What must hold between a run and another that asks the same in another way.

Each relation takes a scenario, makes what it needs of it, and yields what is wrong in lines that begin with
the relation's name. A relation that says nothing about a scenario yields nothing.
"""

from __future__ import annotations

import copy
import json
import random
import re
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w

import manetlab
from manetlab import Result, Scenario, metrics, topology
from manetlab.replay import page
from manetlab.resolving import Resolved

Fields = dict[str, Any]
PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
SHARE_KEPT = 0.6
"""The part of a run that a shorter one has."""
GRID_M = 0.125
"""Coordinates on this grid, and their differences, are exact in binary."""
SHIFT_M = (4096.0, -1024.0)
NOISY = 1e-4
"""Bit errors that destroy every third frame of 512 bytes."""
SAY_DELIVERY = ("cbr_received", "cbr_throughput_bps", "tcp_throughput_bps", "messages_delivered")
"""Measures that grow with what is delivered, if it is less of every flow."""
HOST = Path(__file__).resolve().parents[1] / "tests" / "engine_host.mjs"
FAR_S = 300.0
"""How long an engine in Node may take, in s."""


@dataclass(frozen=True)
class Case:
    """A scenario and its run.

    Attributes:
        fields: The scenario as written.
        resolved: The same, complete.
        result: Its run.
        run: Makes another run.
    """

    fields: Fields
    resolved: Resolved
    result: Result
    run: Callable[..., Result]

    @property
    def is_in_python(self) -> bool:
        """Is the routing protocol one in Python?"""
        return self.resolved.protocol is not None

    @property
    def has_fields(self) -> bool:
        """Does anything depend on where nodes are, and not on their distances alone: shadows, walls?"""
        radio = self.resolved.params["radio"]
        has_places = "walls" in self.fields or any("area" in each for each in self.fields.get("failures", []))
        return bool(has_places or radio["shadowing_db"] > 0.0 or radio["fading"] != "none")


def _is_in_ns2_form(case: Case) -> bool:
    """Does ns-2's form say all of the movement: no heights that differ, nobody who joins or leaves?"""
    movement = case.resolved.movement
    return not (movement.has_heights or movement.has_presence)


def outputs(case: Case) -> Iterator[str]:
    """A recording, a capture, a trace and time series change no measure, and are there."""
    with tempfile.TemporaryDirectory() as folder:
        names = {name: Path(folder, name) for name in ("run.manetlab", "run.pcapng", "run.tr")}
        recording, pcap, trace = names.values()
        # Packets of a protocol in Python have no bytes that a capture could hold.
        captured = {} if case.is_in_python else {"pcap": pcap, "ns2_trace": trace}
        again = case.run(case.resolved, record=recording, series_s=1.0, **captured)
        if again.hash != case.result.hash:
            yield "outputs: another hash with all outputs"
        if again.provenance["events"] != case.result.provenance["events"]:
            yield "outputs: other events with all outputs"
        if captured and pcap.read_bytes()[:4] != PCAPNG_MAGIC:
            yield "outputs: the capture does not begin like one"
        if not recording.stat().st_size:
            yield "outputs: the recording is empty"


def prefix(case: Case) -> Iterator[str]:
    """A shorter run is the beginning of the longer one, event by event."""
    core = case.resolved.core
    end_s = SHARE_KEPT * core["duration_s"]
    # A flow is part of both runs, or its number, from which its draws come, would be another's.
    latest_s = max((flow["start_s"] for flow in core["flows"]), default=0.0)
    # A start is at most a tenth of what is left of the run later, if that is less than its window.
    latest_s += 10.0 * core["params"]["network"]["start_jitter_ms"] / 1e3
    if latest_s >= end_s or core["warmup_s"] >= end_s or case.is_in_python:
        return
    shorter = replace(case.resolved, core={**core, "duration_s": end_s})
    long = case.run(case.resolved, record=True).recording
    short = case.run(shorter, record=True).recording
    assert long is not None
    assert short is not None
    for one, other in zip(_events(long, end_s), _events(short, end_s), strict=False):
        if one != other:
            yield f"prefix: {one} in the longer run, {other} in the shorter"
            return
    counts = [sum(1 for _ in _events(text, end_s)) for text in (long, short)]
    if counts[0] != counts[1]:
        yield f"prefix: {counts[0]} events in the longer run, {counts[1]} in the shorter"


def _events(recording: str, end_s: float) -> Iterator[str]:
    """The events before an instant, without frames that are on the air then: their outcome is not known."""
    for line in recording.splitlines()[1:]:
        event = json.loads(line)
        if event["t"] + event.get("airtime_s", 0.0) + 1e-3 < end_s:
            yield line


def mirrored(case: Case) -> Iterator[str]:
    """East and north exchanged: all distances stay, and so does every measure."""
    if case.is_in_python or case.has_fields or not _is_in_ns2_form(case):
        return
    exchanged = _exchanged(case.resolved.movement.to_ns2())
    again = case.run(_with_movement(case, exchanged))
    if again.hash != case.result.hash:
        yield "mirrored: another hash with x and y exchanged"


def _exchanged(movement: str) -> str:
    """A movement of ns-2 with x and y exchanged."""
    turned = re.sub(r" set ([XY])_ ", lambda found: f" set {'YX'['XY'.index(found[1])]}_ ", movement)
    return re.sub(r"setdest (\S+) (\S+) ", r"setdest \2 \1 ", turned)


def shifted(case: Case) -> Iterator[str]:
    """The whole field elsewhere: nodes that do not move, on a grid on which arithmetic is exact."""
    if case.is_in_python or case.has_fields or not _is_in_ns2_form(case):
        return
    if "setdest" in case.resolved.movement.to_ns2():
        return
    places = [
        [round(value / GRID_M) * GRID_M for value in place] for place in case.resolved.movement.positions(0.0)
    ]
    moved = [[value + by for value, by in zip(place, SHIFT_M, strict=True)] for place in places]
    here, there = (case.run(_with_movement(case, _standing(listed))) for listed in (places, moved))
    if here.hash != there.hash:
        yield f"shifted: another hash with the field {SHIFT_M} m away"


def _standing(places: list[list[float]]) -> str:
    """Nodes that stay at these places, as ns-2 writes them."""
    return "".join(
        f"$node_({node}) set X_ {x!r}\n$node_({node}) set Y_ {y!r}\n$node_({node}) set Z_ 0.0\n"
        for node, (x, y) in enumerate(places)
    )


def permuted(case: Case) -> Iterator[str]:
    """Other numbers for the nodes change nothing of what the movement alone says of a pair's paths."""
    pairs = sorted({(flow["src"], flow["dst"]) for flow in case.resolved.flows})
    if not pairs or case.is_in_python or "failures" in case.fields or not _is_in_ns2_form(case):
        return
    order = list(range(case.resolved.movement.nodes))
    random.Random(case.resolved.hash).shuffle(order)
    text = re.sub(
        r"\$node_\((\d+)\)", lambda found: f"$node_({order[int(found[1])]})", case.resolved.movement.to_ns2()
    )
    # Links with rates or radios of their own reach as far as these do, and would have to be numbered anew.
    plain = replace(case.resolved, core={**case.resolved.core, "rates": [], "wired": [], "radios": []})
    other = replace(plain, movement=_with_movement(case, text).movement)
    before = topology.path_hops(plain, pairs)
    after = topology.path_hops(other, [(order[src], order[dst]) for src, dst in pairs])
    for one, two in zip(before, after, strict=True):
        if one.shares != two.shares or one.partitioned != two.partitioned:
            yield f"permuted: other paths after other numbers: {one} and {two}"


def rewritten(case: Case) -> Iterator[str]:
    """The same scenario from TOML, and with movement and flows written out, has the same hash."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scenario.toml")
        path.write_text(tomli_w.dumps(case.fields), encoding="utf-8")
        loaded = Scenario.load(path).resolve()
        if loaded.hash != case.resolved.hash:
            yield "rewritten: another scenario from TOML"
    first = {name: case.fields[name] for name in ("duration_s", "movement", "traffic")}
    rest = {name: value for name, value in case.fields.items() if name not in first}
    try:
        changed = Scenario.build(first).changed(**rest).resolve()
    except manetlab.InputError:
        # What is left out is needed, as a rate for the sake of a profile.
        changed = case.resolved
    if changed.hash != case.resolved.hash:
        yield "rewritten: another scenario by changes"
    if case.resolved.selection is None and not case.is_in_python and _is_in_ns2_form(case):
        explicit = _written(case, case.resolved.movement.to_ns2())
        if case.run(explicit).hash != case.result.hash:
            yield "rewritten: another hash with movement and flows written out"


def _written(case: Case, movement: str) -> Resolved:
    """The scenario with this movement as a file, and its flows one by one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "movement")
        path.write_text(movement, encoding="utf-8")
        flows = [
            {name: value for name, value in flow.items() if value is not None} for flow in case.resolved.flows
        ]
        fields = copy.deepcopy(case.fields) | {"movement": str(path), "traffic": {"flows": flows}}
        return Scenario.build(fields).resolve()


def _with_movement(case: Case, movement: str) -> Resolved:
    """The resolved scenario with another movement."""
    return replace(case.resolved, movement=_written(case, movement).movement)


def in_browser(case: Case) -> Iterator[str]:
    """The engine of live pages gives the same hash, where it has been built and Node is there."""
    engine = engine_of_pages()
    # What ns-2's form of a movement lacks a page does not have either.
    if engine is None or case.is_in_python or not _is_in_ns2_form(case):
        return
    request = (
        f'{{"scenario":{case.resolved.core_json()},'
        f'"movement":{json.dumps(case.resolved.movement.to_ns2())},"record":false}}'
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "request.json")
        path.write_text(request, encoding="utf-8")
        printed = printed_by(["node", str(HOST), str(engine), str(path)])
    answer = json.loads(printed)
    if answer.get("hash") != case.result.hash:
        yield f"in_browser: {answer} instead of {case.result.hash}"


def printed_by(command: list[str]) -> str:
    """What a program prints that may reserve as much memory as it likes, which a worker may not."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=FAR_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (hard, hard)),
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


@cache
def engine_of_pages() -> Path | None:
    """The engine of WebAssembly, if it has been built."""
    path = Path(page.__file__).parent / "assets" / "engine.wasm"
    return path if path.exists() else None


def ranked(case: Case) -> Iterator[str]:
    """A network that delivers less of every flow is not better by every measure."""
    rate = max(10 * case.resolved.params["radio"]["bit_error_rate"], NOISY)
    noisy = replace(case.resolved, core=_with_bit_errors(case.resolved.core, rate))
    less = case.run(noisy)
    if not less.flows or any(
        _delivered(one) <= _delivered(other) for one, other in zip(case.result.flows, less.flows, strict=True)
    ):
        return
    preferred = []
    for metric in metrics.applying(case.result.totals, case.result.flows):
        one, other = case.result.totals[metric.key], less.totals.get(metric.key)
        if not metric.better or one is None or other is None or one == other:
            continue
        preferred.append((metric.key, (one > other) == (metric.better == "higher")))
    if not any(of_more for _, of_more in preferred):
        yield f"ranked: {[name for name, _ in preferred]} all prefer the network that delivers less"
    for name, of_more in preferred:
        if name in SAY_DELIVERY and not of_more:
            yield f"ranked: {name} prefers the network that delivers less"


def _with_bit_errors(core: Mapping[str, Any], rate: float) -> dict[str, Any]:
    params = {**core["params"], "radio": {**core["params"]["radio"], "bit_error_rate": rate}}
    return {**core, "params": params}


def _delivered(flow: Mapping[str, Any]) -> float:
    """What has arrived of a flow, in packets, messages or bytes."""
    return float(flow.get("received", flow.get("messages_delivered", flow.get("delivered_bytes", 0))))


RELATIONS: Mapping[str, Callable[[Case], Iterator[str]]] = {
    each.__name__: each for each in (outputs, prefix, mirrored, shifted, permuted, rewritten, in_browser)
}
"""All of them, by name."""
