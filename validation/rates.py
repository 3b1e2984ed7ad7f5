"""802.11b's rates over one hop, beside the closed form: each rate, several sizes, both preambles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manetlab import parameters
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table
from validation.check import Check, verdict
from validation.theory import Frames, one_sender_bps

RATES_BPS = (1e6, 2e6, 5.5e6, 11e6)
PREAMBLES = ("long", "short")
PAYLOADS = (64, 600, 1000, 1460)
TOLERANCE = 0.003
DURATION_S = 210.0
WARMUP_S = 10.0
INTERVAL_S = 5e-4
"""Shorter than the shortest exchange: the sender always has a packet."""


def check(_folder: Path, _seeds: int) -> Check:
    """One sender that always has a packet, under the profile ``rfc`` with ACKs at basic rates."""
    cases = [
        (rate_bps, preamble, payload)
        for rate_bps in RATES_BPS
        for preamble in PREAMBLES
        # 802.11b has no short preamble at 1 Mb/s.
        if not (rate_bps == RATES_BPS[0] and preamble == "short")
        for payload in PAYLOADS
    ]

    def evaluate(results: list[Result]) -> list[Table]:
        columns = (
            "preamble", "rate (Mb/s)", "payload (byte)", "simulated", "closed form", "difference", "verdict",
        )  # fmt: skip
        table = Table("UDP goodput over one hop with 802.11b, Mb/s", columns, text_columns=1)
        for (rate_bps, preamble, payload), result in zip(cases, results, strict=True):
            simulated = result.totals["cbr_throughput_bps"]
            expected = expectation(rate_bps, preamble, payload)
            off = simulated / expected - 1
            figures = (f"{simulated / 1e6:.4f}", f"{expected / 1e6:.4f}", f"{off:+.3%}")
            table.add(preamble, f"{rate_bps / 1e6:g}", str(payload), *figures, verdict(abs(off) <= TOLERANCE))
        return [table]

    return Check([scenario(*case) for case in cases], evaluate)


def scenario(rate_bps: float, preamble: str, payload_bytes: int) -> Scenario:
    """Two nodes, one flow that offers more than the link carries."""
    flow = {
        "kind": "cbr",
        "src": 0,
        "dst": 1,
        "start_s": 0.0,
        "bytes": payload_bytes,
        "interval_s": INTERVAL_S,
    }
    return Scenario.build(
        {
            "movement": {"chain": {"nodes": 2, "spacing_m": 10.0}},
            "traffic": {"flows": [flow]},
            "duration_s": DURATION_S,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "rfc",
            "mac": mac(rate_bps, preamble),
            "arp": {"enabled": False},
        }
    )


def mac(rate_bps: float, preamble: str) -> dict[str, Any]:
    """802.11b at this rate: ACKs at 1 or 2 Mb/s."""
    return {"data_rate_bps": rate_bps, "preamble": preamble, "response_rate": "basic"}


def expectation(rate_bps: float, preamble: str, payload_bytes: int) -> float:
    """The closed form, bit/s."""
    overrides = {"mac": mac(rate_bps, preamble)}
    params = parameters.apply_overrides(parameters.profile("rfc"), overrides, "validation")
    return one_sender_bps(Frames.of(params, payload_bytes), payload_bytes)
