"""The performance anomaly: stations of several rates in one cell, beside Bianchi's model for them.

DCF gives all stations the same number of attempts, so a slow one takes the time of the fast (Heusse and
others, INFOCOM 2003). ACKs have 1 Mb/s, the rate that EIFS counts on: with faster ones stations that collided
go on counting slots earlier than the others, which is no matter of rates.

The model lets all stations go on at the same time after a collision. In the standard's basic access they do
not: whoever sent the shorter frame waits DIFS after the longer one, which it cannot have noticed, and the
others wait EIFS or for an ACK. They do where such frames cause EIFS, as in ns-2, and where RTS collide, which
all last equally long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manetlab import parameters
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table
from validation.check import Check, verdict
from validation.theory import Frames, several_rates_bps

CELLS_MBPS: tuple[tuple[float, ...], ...] = (
    (11, 11),
    (11, 1),
    (11, 5.5, 2),
    (11, 11, 11, 1),
    (11, 5.5, 2, 1),
    (*(11,) * 9, 1),
)
"""The rate of each station, cell by cell."""
PAYLOAD_BYTES = 1000
TOLERANCE = 0.01
RADIUS_M = 10.0
OVERLOAD = 3.0
"""Offered load of a station over its share: its queue is then never empty."""
DURATION_S = 310.0
WARMUP_S = 10.0
MAC: dict[str, Any] = {"response_rate": "basic", "basic_rates": "1", "data_rate_bps": 11e6}
ACCESS: dict[str, dict[str, Any]] = {
    "basic": {},
    "basic, EIFS after missed frames": {"eifs_after_missed_frames": True},
    "RTS/CTS": {"rts_threshold_bytes": 0},
}
"""How stations contend, and what of the MAC differs."""


def check(_folder: Path, _seeds: int) -> Check:
    """The cells of `CELLS_MBPS` under the profile ``rfc``, with each way of `ACCESS`."""
    cases = [(access, mbps) for access in ACCESS for mbps in CELLS_MBPS]

    def evaluate(results: list[Result]) -> list[Table]:
        figures = ("simulated", "model", "off", "verdict", "share of the slowest", "equal share")
        title = f"Performance anomaly, Mb/s of a station, {PAYLOAD_BYTES} bytes"
        table = Table(title, ("access", "rates (Mb/s)", *figures), text_columns=2)
        for (access, mbps), result in zip(cases, results, strict=True):
            total_bps = result.totals["cbr_throughput_bps"]
            simulated, expected = total_bps / len(mbps), expectation(access, mbps)
            off = simulated / expected - 1
            slowest = result.flows[mbps.index(min(mbps))]["throughput_bps"] / total_bps
            shown = (f"{simulated / 1e6:.4f}", f"{expected / 1e6:.4f}", f"{off:+.2%}")
            shares = (f"{slowest:.1%}", f"{1 / len(mbps):.1%}")
            table.add(access, _named(mbps), *shown, verdict(abs(off) <= TOLERANCE), *shares)
        return [table]

    return Check([scenario(*case) for case in cases], evaluate)


def scenario(access: str, mbps: Sequence[float]) -> Scenario:
    """Stations on a circle, all sending to the node at its centre more than the cell can carry."""
    angles = [2 * math.pi * station / len(mbps) for station in range(len(mbps))]
    around = [(RADIUS_M * math.cos(angle), RADIUS_M * math.sin(angle)) for angle in angles]
    interval_s = PAYLOAD_BYTES * 8 / (OVERLOAD * expectation(access, mbps))
    flows = [
        {
            "kind": "cbr",
            "src": station + 1,
            "dst": 0,
            # Not all at once: the queues need not fill in step.
            "start_s": interval_s * station / len(mbps),
            "bytes": PAYLOAD_BYTES,
            "interval_s": interval_s,
        }
        for station in range(len(mbps))
    ]
    return Scenario.build(
        {
            "movement": {"positions": [(0.0, 0.0), *around]},
            "traffic": {"flows": flows},
            "rates": [{"src": station + 1, "rate_bps": rate * 1e6} for station, rate in enumerate(mbps)],
            "duration_s": DURATION_S,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "rfc",
            "mac": {**MAC, **ACCESS[access]},
            "arp": {"enabled": False},
        }
    )


def expectation(access: str, mbps: Sequence[float]) -> float:
    """The model's goodput of each station, bit/s."""
    return several_rates_bps(frames(access, mbps), PAYLOAD_BYTES)


def frames(access: str, mbps: Sequence[float]) -> list[Frames]:
    """The times of each station's exchange."""
    overrides = {"mac": {**MAC, **ACCESS[access]}}
    params = parameters.apply_overrides(parameters.profile("rfc"), overrides, "validation")
    return [Frames.of(params, PAYLOAD_BYTES, rate * 1e6) for rate in mbps]


def _named(mbps: Sequence[float]) -> str:
    counts = {rate: list(mbps).count(rate) for rate in mbps}
    return ", ".join(f"{rate:g}" if count == 1 else f"{count} × {rate:g}" for rate, count in counts.items())
