"""``python -m validation.ns3_radio``: frames, noise and the MAC of OFDM beside ns-3.37, not part of the CI.

Debian's libns3-dev is needed (benches/install_simulators.sh). Both simulators get the same frames at the same
powers: ns-3 as losses between stations, manetlab as distances over which its path loss leaves them.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from manetlab import Scenario, run
from manetlab.errors import InputError, ManetlabError
from manetlab.files import write_text
from manetlab.tables import Table, stdout_console
from validation.check import verdict

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "out" / "ns3-radio"
MODULES = ("core", "mobility", "network", "propagation", "wifi")
NOISE_DBM = {"Dsss": -93.55, "Ofdm": -93.96}
"""Over 22 and 20 MHz, at 290 K, with a noise figure of 7 dB."""
RATES = {
    "DsssRate1Mbps": (1e6, -4.0),
    "DsssRate2Mbps": (2e6, 0.5),
    "DsssRate5_5Mbps": (5.5e6, 3.1),
    "DsssRate11Mbps": (11e6, 6.1),
    "OfdmRate6Mbps": (6e6, 3.4),
    "OfdmRate9Mbps": (9e6, 6.2),
    "OfdmRate12Mbps": (12e6, 6.4),
    "OfdmRate18Mbps": (18e6, 9.2),
    "OfdmRate24Mbps": (24e6, 12.9),
    "OfdmRate36Mbps": (36e6, 16.0),
    "OfdmRate48Mbps": (48e6, 20.7),
    "OfdmRate54Mbps": (54e6, 21.9),
}
"""Rates as ns-3 names them, in bit/s, and the ratio to noise at which half of the frames arrive, in dB."""
FRAME_BYTES = 1058
ABOVE_MAC_BYTES = 64
"""UDP, IP, LLC and the MAC's header and FCS, which a frame has beside its payload."""
STEPS_DB = tuple(0.5 * step for step in range(-5, 6))
OVER_NOISE_DB = 10.0
"""How far the other station's frame is above noise."""
LATER_US = {"Dsss": 400.0, "Ofdm": 50.0}
"""So much later it begins, behind the wanted frame's header."""
INTERVAL_S = 0.05
TOLERANCE_DB = 0.5
TOLERANCE = 0.01
HIDDEN_TOLERANCE = 0.1
FREQUENCY_HZ = 2.437e9
EXPONENT = 3.0
SATURATED = {
    "DsssRate2Mbps": (2e6, "DsssRate1Mbps"),
    "DsssRate11Mbps": (11e6, "DsssRate1Mbps"),
    "OfdmRate6Mbps": (6e6, "ErpOfdmRate6Mbps"),
    "OfdmRate24Mbps": (24e6, "ErpOfdmRate6Mbps"),
    "OfdmRate54Mbps": (54e6, "ErpOfdmRate6Mbps"),
}
"""Rates of saturated stations in bit/s, and what ns-3 sends control frames with."""
CLOSED_US = {"OfdmRate6Mbps": (2078, 50), "OfdmRate24Mbps": (542, 34), "OfdmRate54Mbps": (254, 34)}
"""How long a data frame of 1536 bytes and its ACK last, in µs, with the extension of 6 µs."""
PAYLOAD_BYTES = 1472
UDP_IP_BYTES = 28
SATURATED_DBM = -50.0
DURATION_S = 11.0


def compiled(name: str, modules: Sequence[str]) -> Path:
    """A program of validation/ns3, compiled for ns-3 with these modules.

    Raises:
        InputError: ns-3 is not installed.
    """
    names = [f"ns3-{module}" for module in modules]
    try:
        asked = ["pkg-config", "--cflags", "--libs", *names]
        flags = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        wanted, hint = "Debian's libns3-dev", "run benches/install_simulators.sh"
        raise InputError("ns-3 is missing", "pkg-config", f"no {names[-1]}", wanted, hint) from None
    program = ROOT / "out" / f"ns3-{name}"
    program.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).parent / "ns3" / f"{name}.cc"
    subprocess.run(["g++", "-O2", "-std=c++17", source, "-o", program, *flags], check=True)
    return program


def said(*words: object) -> list[float]:
    """What ns-3 prints."""
    command = [str(PROGRAM), *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def metres_at(dbm: float) -> float:
    """The distance over which 0 dBm become so little, log-distance."""
    at_1_m_db = 20 * math.log10(4 * math.pi * FREQUENCY_HZ / 3e8)
    return float(10 ** ((-dbm - at_1_m_db) / (10 * EXPONENT)))


def radio() -> dict[str, Any]:
    """Noise as ns-3 has it, and others count as noise."""
    return {
        "path_loss": "log-distance",
        "path_loss_exponent": EXPONENT,
        "frequency_hz": FREQUENCY_HZ,
        "transmit_power_dbm": 0.0,
        "carrier_sense_threshold_dbm": -120.0,
        "errors": "by-rate",
        "capture": "as-noise",
    }


def mac(name: str, bps: float) -> dict[str, Any]:
    """The MAC of a rate, without rate control."""
    standard = {} if name.startswith("Dsss") else {"standard": "802.11g", "rate_control": "fixed"}
    return {**standard, "data_rate_bps": bps, "response_rate": "frame", "propagation_allowance_us": 3.0}


def frames(name: str, dbm: float, count: int, other_dbm: float | None) -> Scenario:
    """A station that broadcasts frames to a second; a third, which does not hear it, follows each of them."""
    bps, _ = RATES[name]
    west_m = metres_at(dbm)
    positions, walls = [[0.0, 0.0], [-west_m, 0.0]], []
    flow = {"kind": "cbr", "dst": 0, "bytes": FRAME_BYTES - ABOVE_MAC_BYTES, "interval_s": INTERVAL_S}
    end_s = 1.0 + count * INTERVAL_S - INTERVAL_S / 2
    flows = [{**flow, "src": 1, "start_s": 1.0, "stop_s": end_s}]
    if other_dbm is not None:
        north_m = metres_at(other_dbm)
        positions.append([0.0, north_m])
        # Between the two stations, and in nobody else's way.
        between = [[-0.75 * west_m, 0.75 * north_m], [-0.25 * west_m, 0.25 * north_m]]
        walls.append({"points": between, "opaque": True})
        flows.append({**flow, "src": 2, "start_s": 1.0 + 1e-6 * LATER_US[name[:4]], "stop_s": end_s})
    return Scenario.build(
        {
            "duration_s": end_s + 1.0,
            "warmup_s": 0.5,
            "routing": "flooding",
            "flooding": {"ttl": 1},
            "network": {"start_jitter_ms": 0.0},
            "movement": {"positions": positions},
            "traffic": {"flows": flows},
            "walls": walls,
            "radio": radio(),
            "mac": {**mac(name, bps), "broadcast_rate_bps": bps},
        }
    )


def shares(name: str, powers_dbm: Sequence[float], count: int, other_dbm: float | None) -> list[float]:
    """Which share of the frames arrives here."""
    found = []
    for dbm in powers_dbm:
        result = run(frames(name, dbm, count, other_dbm))
        found.append(float(result.flows[0]["received"]) / count)
    return found


def shares_of_ns3(name: str, powers_dbm: Sequence[float], count: int, other_dbm: float | None) -> list[float]:
    """Which share of the frames arrives in ns-3."""
    later_us = -1.0 if other_dbm is None else LATER_US[name[:4]]
    return said("frames", name, FRAME_BYTES, count, 1, later_us, other_dbm or 0.0, *powers_dbm)


def crossing(powers_dbm: Sequence[float], found: Sequence[float], share: float) -> float:
    """The power at which this share of the frames arrives: between two that were measured, by logits."""

    def logit(value: float) -> float:
        value = min(max(value, 1e-3), 1 - 1e-3)
        return math.log(value / (1 - value))

    for at in range(1, len(found)):
        low, high = logit(found[at - 1]), logit(found[at])
        if low < logit(share) <= high:
            part = (logit(share) - low) / (high - low)
            return powers_dbm[at - 1] + part * (powers_dbm[at] - powers_dbm[at - 1])
    raise ValueError(f"no share of {share} among {found}")


def frame_table(count: int, has_other: bool) -> Table:
    """Where half and nine tenths of the frames arrive."""
    columns = ("rate", "half", "ns-3", "difference", "nine tenths", "ns-3", "difference", "verdict")
    what = f"another frame follows {OVER_NOISE_DB:g} dB over noise" if has_other else "noise alone"
    table = Table(
        f"Power at which frames of {FRAME_BYTES} bytes arrive, dBm, {what}", columns, text_columns=1
    )
    for name, (bps, needed_db) in RATES.items():
        noise_dbm = NOISE_DBM[name[:4]]
        other_dbm = noise_dbm + OVER_NOISE_DB if has_other else None
        # Noise and the other frame together are so much above noise.
        above_db = 10 * math.log10(1 + 10 ** (OVER_NOISE_DB / 10)) if has_other else 0.0
        powers_dbm = [noise_dbm + needed_db + above_db + step for step in STEPS_DB]
        ours = shares(name, powers_dbm, count, other_dbm)
        theirs = shares_of_ns3(name, powers_dbm, count, other_dbm)
        cells, differences = [], []
        for share in (0.5, 0.9):
            here, there = crossing(powers_dbm, ours, share), crossing(powers_dbm, theirs, share)
            differences.append(here - there)
            cells += [f"{here:.2f}", f"{there:.2f}", f"{here - there:+.2f} dB"]
        holds = all(abs(each) <= TOLERANCE_DB for each in differences)
        table.add(f"{bps / 1e6:g} Mb/s", *cells, verdict(holds))
    return table


def saturated(name: str, senders: int) -> Scenario:
    """Stations that always have a frame for the first, and do not hear each other."""
    bps, to_first_m = SATURATED[name][0], metres_at(SATURATED_DBM)
    flow = {"kind": "cbr", "dst": 0, "start_s": 0.5, "bytes": PAYLOAD_BYTES, "interval_s": 2e-4}
    between = [[-0.75 * to_first_m, 0.75 * to_first_m], [-0.25 * to_first_m, 0.25 * to_first_m]]
    return Scenario.build(
        {
            "duration_s": DURATION_S,
            "warmup_s": 1.0,
            "routing": "static",
            "arp": {"enabled": False},
            "movement": {"positions": [[0.0, 0.0], [-to_first_m, 0.0], [0.0, to_first_m]][: 1 + senders]},
            "traffic": {"flows": [{**flow, "src": 1 + at} for at in range(senders)]},
            "walls": [{"points": between, "opaque": True}],
            "radio": radio(),
            "mac": mac(name, bps),
        }
    )


def closed_form_bps(data_us: float, ack_us: float) -> float:
    """One station of 802.11g alone: DIFS, 7.5 slots on average, the frame, SIFS, the ACK."""
    return 8e6 * PAYLOAD_BYTES / (28 + 7.5 * 9 + data_us + 10 + ack_us)


def carried(name: str, senders: int, seeds: int) -> tuple[float, float]:
    """Payload per second here and in ns-3, on average over replications."""
    scenario = saturated(name, senders)
    runs = [run(scenario.changed(replication=number)) for number in range(seeds)]
    ours = [float(result.totals["cbr_throughput_bps"]) for result in runs]
    packet = PAYLOAD_BYTES + UDP_IP_BYTES
    asked = (name.replace("Ofdm", "ErpOfdm"), SATURATED[name][1], packet, senders, SATURATED_DBM)
    theirs = [said("saturated", *asked, 1 + number, DURATION_S)[0] for number in range(seeds)]
    return sum(ours) / seeds, sum(theirs) / seeds * PAYLOAD_BYTES / packet


def hop_table(seeds: int) -> Table:
    """One station that always has a frame, beside the closed form too."""
    columns = ("rate", "manetlab", "ns-3", "difference", "closed form", "difference", "verdict")
    table = Table(f"One hop of 802.11g, payload of {PAYLOAD_BYTES} bytes, Mb/s", columns, text_columns=1)
    for name, times_us in CLOSED_US.items():
        ours, theirs = carried(name, 1, seeds)
        closed = closed_form_bps(*times_us)
        figures = [f"{ours / 1e6:.3f}", f"{theirs / 1e6:.3f}", f"{ours / theirs - 1:+.2%}"]
        figures += [f"{closed / 1e6:.3f}", f"{ours / closed - 1:+.2%}"]
        holds = max(abs(ours / theirs - 1), abs(ours / closed - 1)) <= TOLERANCE
        table.add(f"{SATURATED[name][0] / 1e6:g} Mb/s", *figures, verdict(holds))
    return table


def hidden_table(seeds: int) -> Table:
    """Two stations that always have a frame for a third and do not hear each other."""
    columns = ("rate", "manetlab", "ns-3", "difference", "verdict")
    table = Table("Two saturated stations hidden from each other, Mb/s together", columns, text_columns=1)
    for name in SATURATED:
        ours, theirs = carried(name, 2, seeds)
        off = ours / theirs - 1
        figures = (f"{ours / 1e6:.3f}", f"{theirs / 1e6:.3f}", f"{off:+.1%}")
        table.add(f"{SATURATED[name][0] / 1e6:g} Mb/s", *figures, verdict(abs(off) <= HIDDEN_TOLERANCE))
    return table


@click.command()
@click.option("--frames", "count", type=click.IntRange(100, 100_000), default=1000, show_default=True)
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True)
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the tables here too, as Markdown.")
def compare(count: int, seeds: int, markdown: Path | None) -> None:
    """Compare frames, noise and the MAC of OFDM with ns-3.37."""
    compiled("radio", MODULES)
    console = stdout_console()
    parts: list[Callable[[], Table]] = [
        lambda: hop_table(seeds),
        lambda: hidden_table(seeds),
        lambda: frame_table(count, has_other=False),
        lambda: frame_table(count, has_other=True),
    ]
    tables = []
    for part in parts:
        tables.append(part())
        tables[-1].print(console)
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in tables))


if __name__ == "__main__":
    try:
        compare(prog_name="python -m validation.ns3_radio")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
