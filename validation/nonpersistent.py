"""``python -m validation.nonpersistent``: CSMA beside Kleinrock and Tobagi's formula, and hidden terminals.

Kleinrock and Tobagi (IEEE Trans. Communications 1975) give the throughput of non-persistent CSMA over the
rate at which stations sense the medium, both in frames a time on the air:
S = G e^-aG / (G (1 + 2a) + e^-aG). Here *a* is the time from sensing to transmitting, `mac.cca_time_us`. The
rate at which stations sense is not what a user sets: frames are sent once, so that what is set is the rate of
transmissions. Of these 1 + aG begin in a busy period, and the first does not collide with probability e^-aG.
The comparison is at the loads that belong to G.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from manetlab import parameters
from manetlab.cli import options
from manetlab.cli.progress import run_with_bar
from manetlab.errors import ManetlabError
from manetlab.files import check_writable, write_text
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table, stdout_console
from validation.check import verdict
from validation.theory import Frames

PAYLOAD_BYTES = 1000
STATIONS = 100
"""Enough to stand for the many stations of the theory: one in a hundred is on the air itself."""
RADIUS_M = 10.0
SHARES = (0.01, 0.1)
"""*a*: the time from sensing to transmitting, over a frame's on the air."""
SENSING_RATES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""*G*: how often the stations sense the medium in the time of a frame."""
DELAY_FRAMES = 4.0
"""Mean time until a station senses again, in times of a frame."""
TOLERANCE = 0.03
DURATION_S, WARMUP_S = 510.0, 10.0

APART_M = 200.0
"""From the receiver to each of the two senders that cannot sense each other."""
SENSE_M = 250.0
OFFERED = (0.1, 0.2, 0.4, 0.6)
"""Frames that both senders offer together in the time of a frame."""
SHORT_DELAY_MS = 0.1
"""CSMA's random time there: so short that it does not keep the senders apart."""
PROTOCOLS: dict[str, dict[str, Any]] = {
    "csma": {"access_protocol": "csma", "csma_delay_ms": SHORT_DELAY_MS},
    "fama": {"access_protocol": "fama"},
    "dcf": {},
    "dcf with RTS": {"rts_threshold_bytes": 0},
}
HIDDEN_S = 210.0


def frame_s() -> float:
    """A data frame with the payload on the air, in s."""
    return Frames.of(parameters.profile("rfc"), PAYLOAD_BYTES).data


def busy_and_idle(share: float, sensing: float) -> float:
    """Mean length of a busy period and the idle one behind it, in frames."""
    return 1 + 2 * share + math.exp(-share * sensing) / sensing


def throughput(share: float, sensing: float) -> float:
    """Kleinrock and Tobagi's S: the share of the time in which a frame is on the air that arrives."""
    return math.exp(-share * sensing) / busy_and_idle(share, sensing)


def load(share: float, sensing: float) -> float:
    """The transmissions in the time of a frame at which stations sense the medium that often."""
    return (1 + share * sensing) / busy_and_idle(share, sensing)


def in_one_cell(share: float, sensing: float, duration_s: float = DURATION_S) -> Scenario:
    """Stations on a circle, which send packets at random times to the node at its centre."""
    angles = [2 * math.pi * station / STATIONS for station in range(STATIONS)]
    around = [(RADIUS_M * math.cos(angle), RADIUS_M * math.sin(angle)) for angle in angles]
    sensing_us = share * frame_s() * 1e6
    flows = [_poisson(station + 1, 0, load(share, sensing) / STATIONS) for station in range(STATIONS)]
    return Scenario.build(
        {
            "movement": {"positions": [(0.0, 0.0), *around]},
            "traffic": {"flows": flows},
            "duration_s": duration_s,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "rfc",
            "mac": {
                "access_protocol": "csma",
                "csma_delay_ms": DELAY_FRAMES * frame_s() * 1e3,
                "cca_time_us": sensing_us,
                "slot_us": max(20.0, sensing_us),
            },
            "arp": {"enabled": False},
        }
    )


def hidden(protocol: str, offered: float, duration_s: float = HIDDEN_S) -> Scenario:
    """Two senders that cannot sense each other, and between them their receiver."""
    return Scenario.build(
        {
            "movement": {"positions": [(0.0, 0.0), (-APART_M, 0.0), (APART_M, 0.0)]},
            "traffic": {"flows": [_poisson(sender, 0, offered / 2) for sender in (1, 2)]},
            "duration_s": duration_s,
            "warmup_s": WARMUP_S,
            "routing": "static",
            "profile": "rfc",
            "radio": {"carrier_sense_range_m": SENSE_M},
            "mac": PROTOCOLS[protocol],
            "arp": {"enabled": False},
        }
    )


def _poisson(src: int, dst: int, per_frame: float) -> dict[str, Any]:
    """Packets at random times, so many in the time of a frame."""
    ends = {"kind": "poisson", "src": src, "dst": dst, "start_s": 0.0}
    return {**ends, "bytes": PAYLOAD_BYTES, "interval_s": frame_s() / per_frame}


def carried_between_hidden(offered: float) -> float:
    """What CSMA carries: a frame arrives if the other sender is neither on the air nor begins meanwhile."""
    of_each = offered / 2
    return offered * (1 - of_each) * math.exp(-of_each)


def carried(result: Result) -> float:
    """The share of the time in which a frame is on the air that arrives."""
    packets_per_s = sum(flow["throughput_bps"] for flow in result.flows) / (8 * PAYLOAD_BYTES)
    return float(packets_per_s * frame_s())


def cell_table(cases: Sequence[tuple[float, float]], results: Sequence[Result]) -> Table:
    """Throughput in one cell, beside the formula."""
    table = Table(
        f"Non-persistent CSMA, {STATIONS} stations in one cell, shares of the time",
        ("a", "G", "load", "simulated", "Kleinrock and Tobagi", "off", "verdict"),
    )
    for (share, sensing), result in zip(cases, results, strict=True):
        simulated, expected = carried(result), throughput(share, sensing)
        off = simulated / expected - 1
        figures = (f"{load(share, sensing):.3f}", f"{simulated:.4f}", f"{expected:.4f}", f"{off:+.1%}")
        table.add(f"{share:g}", f"{sensing:g}", *figures, verdict(abs(off) <= TOLERANCE))
    return table


def hidden_table(cases: Sequence[tuple[str, float]], results: Sequence[Result]) -> Table:
    """What two senders that are hidden from each other bring to their receiver."""
    table = Table(
        "Two senders hidden from each other, shares of the time",
        ("protocol", "offered", "carried", "expected of CSMA", "packets that arrive"),
    )
    for (protocol, offered), result in zip(cases, results, strict=True):
        counts = ("messages_made", "messages_delivered")
        made, arrived = (sum(flow[name] for flow in result.flows) for name in counts)
        expected = f"{carried_between_hidden(offered):.4f}" if protocol == "csma" else ""
        table.add(protocol, f"{offered:g}", f"{carried(result):.4f}", expected, f"{arrived / made:.1%}")
    return table


@click.command()
@click.option("--markdown", type=options.PATH, help="Write the tables here too, as Markdown.")
@options.JOBS
def main(markdown: Path | None, jobs: int | None) -> None:
    """Compare CSMA with theory, and CSMA, FAMA and the DCF between hidden terminals."""
    if markdown is not None:
        check_writable(markdown)
    cells = [(share, sensing) for share in SHARES for sensing in SENSING_RATES]
    pairs = [(protocol, offered) for protocol in PROTOCOLS for offered in OFFERED]
    scenarios = [in_one_cell(*case) for case in cells] + [hidden(*case) for case in pairs]
    results = run_with_bar(scenarios, "non-persistent", jobs)
    tables = [cell_table(cells, results[: len(cells)]), hidden_table(pairs, results[len(cells) :])]
    for table in tables:
        table.print(stdout_console())
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in tables))


if __name__ == "__main__":
    try:
        main(prog_name="python -m validation.nonpersistent")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
