"""Saturated stations in one cell, beside Bianchi's model.

The verdict is on Bianchi's model as published, with this MAC's times and retry limits. Beside it stands the
model that also knows the standard's freezing of the backoff: a slot in which somebody sends is not counted.
"""

from __future__ import annotations

import math
from pathlib import Path

from manetlab import parameters
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table
from validation.check import Check, verdict
from validation.theory import Frames, saturation_bps, saturation_with_freezing_bps

STATIONS = (2, 3, 5, 10, 20, 30, 50)
PAYLOAD_BYTES = 1000
TOLERANCE = 0.02
MODELS = (saturation_bps, saturation_with_freezing_bps)
RADIUS_M = 10.0
OVERLOAD = 3.0
"""Offered load of a station over its fair share: its queue is then never empty."""
DURATION_S = 210.0
WARMUP_S = 10.0


def check(_folder: Path, _seeds: int) -> Check:
    """The stations of `STATIONS`, with and without RTS, under the profile ``rfc``."""
    cases = [(rts, stations) for rts in (False, True) for stations in STATIONS]

    def evaluate(results: list[Result]) -> list[Table]:
        columns = ("access", "stations", "simulated", "Bianchi", "off", "verdict", "with freezing", "off")
        table = Table(f"Saturation throughput in one cell, Mb/s, {PAYLOAD_BYTES} bytes", columns)
        for (rts, stations), result in zip(cases, results, strict=True):
            simulated = result.totals["cbr_throughput_bps"]
            plain, frozen = (model(frames(rts), PAYLOAD_BYTES, stations) for model in MODELS)
            off = [simulated / expected - 1 for expected in (plain, frozen)]
            figures = (f"{simulated / 1e6:.4f}", f"{plain / 1e6:.4f}", f"{off[0]:+.2%}")
            refined = (f"{frozen / 1e6:.4f}", f"{off[1]:+.2%}")
            access = "RTS/CTS" if rts else "basic"
            table.add(access, str(stations), *figures, verdict(abs(off[0]) <= TOLERANCE), *refined)
        return [table]

    return Check([scenario(*case) for case in cases], evaluate)


def scenario(rts: bool, stations: int) -> Scenario:
    """Stations on a circle, all sending to the node at its centre more than the cell can carry."""
    angles = [2 * math.pi * station / stations for station in range(stations)]
    around = [(RADIUS_M * math.cos(angle), RADIUS_M * math.sin(angle)) for angle in angles]
    share_bps = saturation_bps(frames(rts), PAYLOAD_BYTES, stations) / stations
    interval_s = PAYLOAD_BYTES * 8 / (OVERLOAD * share_bps)
    flows = [
        {
            "kind": "cbr",
            "src": station + 1,
            "dst": 0,
            # Not all at once: the queues need not fill in step.
            "start_s": interval_s * station / stations,
            "bytes": PAYLOAD_BYTES,
            "interval_s": interval_s,
        }
        for station in range(stations)
    ]
    return Scenario.build(
        {
            "movement": {"positions": [(0.0, 0.0), *around]},
            "traffic": {"flows": flows},
            "duration_s": DURATION_S,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "rfc",
            "mac": _overrides(rts),
            "arp": {"enabled": False},
        }
    )


def frames(rts: bool) -> Frames:
    """The times of the exchange that the stations repeat."""
    params = parameters.apply_overrides(parameters.profile("rfc"), {"mac": _overrides(rts)}, "validation")
    return Frames.of(params, PAYLOAD_BYTES)


def _overrides(rts: bool) -> dict[str, int]:
    return {"rts_threshold_bytes": 0 if rts else 2347}
