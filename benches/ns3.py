"""The beginning of the standard scenario beside ns-3 on the same movement and flows."""

import json
import shutil
import subprocess
from pathlib import Path

from benches import scenarios
from benches.measuring import OUT, ROOT, in_turn, measured, must, progress, ratios, spread
from benches.standard import SHORT_S, WARMUP_S
from manetlab.tables import Table

MOST_ROUNDS = 3
"""A round of ns-3 takes minutes."""
MODULES = ("aodv", "applications", "core", "internet", "mobility", "network", "traffic-control", "wifi")


def table(rounds: int) -> Table:
    """CPU time of both, in turn, on one core, and what each simulated; a note if there is no ns-3."""
    rounds = min(rounds, MOST_ROUNDS)
    shown = Table(
        f"Standard scenario beside ns-3, {SHORT_S:g} s, {rounds} rounds",
        ("", "manetlab", "ns-3", "quotient"),
    )
    program, version = _compiled()
    if program is None:
        shown.notes.append(
            "Not measured: there is no ns-3 here. benches/install_simulators.sh installs Debian's."
        )
        return shown
    files = scenarios.standard(SHORT_S, WARMUP_S, "standard")
    progress(f"standard scenario beside ns-3, {rounds} rounds")
    ours, theirs = in_turn(
        rounds,
        lambda: must(measured(files.for_manetlab(seed=1))),
        lambda: must(measured(files.for_ns3(program, seed=1))),
    )
    whole, ns3 = [cost.cpu_s for cost in ours], [cost.cpu_s for cost in theirs]
    result = json.loads(ours[0].output)
    alone = [json.loads(cost.output)["provenance"]["cpu_time_s"] for cost in ours]
    words = theirs[0].output.split()
    printed = {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}
    totals = result["totals"]
    frames = totals["mac_frames_per_s"] * SHORT_S
    quotient = printed["frames"] / frames
    shown.add(
        "CPU time, whole command",
        spread(whole, unit=" s"),
        spread(ns3, 1, " s"),
        spread(ratios(ns3, whole), 0),
    )
    shown.add("CPU time, our run alone", spread(alone, unit=" s"), "", spread(ratios(ns3, alone), 0))
    shown.add("frames", f"{frames:,.0f}", f"{printed['frames']:,.0f}", f"{quotient:.2f}")
    shown.add(
        "CPU time a frame, whole command",
        spread([value / frames * 1e6 for value in whole], 1, " µs"),
        spread([value / printed["frames"] * 1e6 for value in ns3], 0, " µs"),
        spread([value / quotient for value in ratios(ns3, whole)], 0),
    )
    tcp_bytes = sum(flow["delivered_bytes"] for flow in result["flows"] if flow["kind"] == "tcp")
    tcp_mbps = tcp_bytes * 8e-6 / (SHORT_S - WARMUP_S), printed["tcp_bps"] * 1e-6
    shown.add(
        "TCP, all flows", *(f"{value:.2f} Mb/s" for value in tcp_mbps), f"{tcp_mbps[1] / tcp_mbps[0]:.2f}"
    )
    delivered = totals["cbr_delivery_fraction"], printed["cbr_delivered"]
    shown.add(
        "CBR packets delivered",
        *(f"{value:.2f}" for value in delivered),
        f"{delivered[1] / delivered[0]:.2f}",
    )
    shown.notes.append(f"ns-3 {version}, in the manner in which its package was built.")
    return shown


def _compiled() -> tuple[Path | None, str]:
    """benches/ns3.cc as a program, and the version of ns-3; no program if ns-3 is missing."""
    names = [f"ns3-{module}" for module in MODULES]
    if (
        shutil.which("pkg-config") is None
        or subprocess.run(["pkg-config", "--exists", *names]).returncode != 0
    ):
        return None, ""
    flags = _said(["pkg-config", "--cflags", "--libs", *names]).split()
    version = _said(["pkg-config", "--modversion", names[0]]).strip()
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / "ns3"
    source = ROOT / "benches" / "ns3.cc"
    subprocess.run(["g++", "-O2", "-std=c++17", source, "-o", program, *flags], check=True)
    return program, version


def _said(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
