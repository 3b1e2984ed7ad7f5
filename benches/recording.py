"""What recording costs: time, memory, bytes, and seeking in what was recorded."""

import json
import struct
import time
from pathlib import Path

from benches import scenarios
from benches.measuring import OUT, in_turn, measured, must, progress, ratios, spread
from manetlab import recording
from manetlab.tables import Table

DURATION_S = 1000.0
WARMUP_S = 50.0
PLACES = 9
"""Instants of which the state is looked up."""
FILE_HEAD, CHUNK_HEAD = 16, 16
"""Bytes before the first chunk, and before what a chunk stores."""


def table(rounds: int) -> Table:
    """The standard scenario over AODV and DSR, with and without a recording, in turn."""
    files = scenarios.standard(DURATION_S, WARMUP_S, "standard")
    columns = (
        "over",
        "CPU time of the run",
        "÷ without",
        "memory ÷ without",
        "events",
        "file",
        "bytes an event",
        "before compression",
        "seek",
    )
    shown = Table(f"Recording the standard scenario, {DURATION_S:g} s, {rounds} rounds", columns)
    for routing in ("aodv", "dsr"):
        progress(f"recording over {routing}, {rounds} rounds")
        path = OUT / f"{routing}.mlrec"
        command = files.for_manetlab(seed=1, warmup_s=WARMUP_S, routing=routing)
        plain, recorded = in_turn(
            rounds,
            lambda command=command: must(measured(command)),
            lambda command=command, path=path: must(measured([*command, "--record", path])),
        )
        with_ = [json.loads(cost.output)["provenance"]["cpu_time_s"] for cost in recorded]
        without = [json.loads(cost.output)["provenance"]["cpu_time_s"] for cost in plain]
        events = sum(recording.open(path).index["events"].to_pylist())
        memory = ratios([cost.peak_mb for cost in recorded], [cost.peak_mb for cost in plain])
        shown.add(
            routing.upper(),
            spread(with_, unit=" s"),
            spread(ratios(with_, without)),
            spread(memory),
            f"{events / 1e6:.2f} million",
            f"{path.stat().st_size / 1e6:.1f} MB",
            f"{path.stat().st_size / events:.2f}",
            f"{_raw_bytes(path) / events:.2f}",
            spread(_seeks(path), 0, " ms"),
        )
    shown.notes.append(
        "What became of a frame at its receivers belongs to the event that is its start. "
        f"Seek: from a closed file to the state at one of {PLACES} instants as tables."
    )
    return shown


def _raw_bytes(path: Path) -> int:
    """The bytes of all blocks before compression, as the heads of their chunks say (docs/recording.md)."""
    content, at, raw_bytes = path.read_bytes(), FILE_HEAD, 0
    while at + CHUNK_HEAD <= len(content):
        kind, stored, raw = struct.unpack_from("<4sII", content, at)
        raw_bytes += raw if kind == b"BLCK" else 0
        at += CHUNK_HEAD + stored
        if kind == b"INDX":
            break
    return raw_bytes


def _seeks(path: Path) -> list[float]:
    """How long it takes to learn the state at an instant, in ms."""
    times = []
    for number in range(PLACES):
        started = time.perf_counter()
        recording.open(path).state(DURATION_S * (number + 0.5) / PLACES)
        times.append(1e3 * (time.perf_counter() - started))
    return times
