"""UDP over one hop, beside the closed form."""

from __future__ import annotations

from pathlib import Path

from manetlab import parameters
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table
from validation.check import Check, verdict
from validation.theory import Frames, one_sender_bps

PROFILES = ("rfc", "ns-2.35", "cmu-1998")
PAYLOADS = (64, 512, 1000, 1460)
TOLERANCE = 0.005
DURATION_S = 110.0
WARMUP_S = 10.0


def check(_folder: Path, _seeds: int) -> Check:
    """One sender that always has a packet, under several profiles, with and without RTS."""
    cases = [(profile, rts, payload) for profile in PROFILES for rts in (False, True) for payload in PAYLOADS]

    def evaluate(results: list[Result]) -> list[Table]:
        columns = ("profile", "access", "payload (byte)", "simulated", "closed form", "difference", "verdict")
        table = Table("UDP goodput over one hop, Mb/s", columns, text_columns=2)
        for (profile, rts, payload), result in zip(cases, results, strict=True):
            simulated = result.totals["cbr_throughput_bps"]
            expected = expectation(profile, rts, payload)
            off = simulated / expected - 1
            access = "RTS/CTS" if rts else "basic"
            figures = (f"{simulated / 1e6:.4f}", f"{expected / 1e6:.4f}", f"{off:+.2%}")
            table.add(profile, access, str(payload), *figures, verdict(abs(off) <= TOLERANCE))
        return [table]

    return Check([scenario(*case) for case in cases], evaluate)


def scenario(profile: str, rts: bool, payload_bytes: int) -> Scenario:
    """Two nodes, one flow that offers more than the link carries."""
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.0, "bytes": payload_bytes, "interval_s": 1e-3}
    return Scenario.build(
        {
            "movement": {"chain": {"nodes": 2, "spacing_m": 10.0}},
            "traffic": {"flows": [flow]},
            "duration_s": DURATION_S,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": profile,
            "mac": {"rts_threshold_bytes": 0 if rts else 2347},
            "arp": {"enabled": False},
        }
    )


def expectation(profile: str, rts: bool, payload_bytes: int) -> float:
    """The closed form, bit/s."""
    overrides = {"mac": {"rts_threshold_bytes": 0 if rts else 2347}}
    params = parameters.apply_overrides(parameters.profile(profile), overrides, "validation")
    return one_sender_bps(Frames.of(params, payload_bytes), payload_bytes)
