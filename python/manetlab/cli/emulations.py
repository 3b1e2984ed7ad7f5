"""``manetlab emulate``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options

if TYPE_CHECKING:
    from manetlab.emulation import Emulation


INTERRUPTED = 130
"""The exit status of what Ctrl-C has ended."""


@click.command()
@options.SCENARIO
@click.argument(
    "command",
    nargs=-1,
    required=True,
    metavar="-- COMMAND...",
    help="The program that runs at each node, and its arguments.",
)
@options.DURATION
@options.SET
@click.option("--capture", type=options.WRITTEN, help="Write a capture for Wireshark to this file (pcapng).")
@click.option("--logs", type=options.FOLDER, help="Write the programs' output to node-0.log and so on here.")
@options.JSON
def emulate(
    scenario: Path,
    command: tuple[str, ...],
    capture: Path | None,
    logs: Path | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Run real programs over a scenario's channel, in real time.

    Each node is a network namespace with one interface, manet0; MAC and radio of the simulator are between
    them. COMMAND runs once at each node: {node} in it stands for the node's number, {address} for its IPv4
    address. The scenario's own routing and flows take no part. Linux only.
    """
    from manetlab import emulation

    asked = options.scenario_from(scenario, needs_traffic=False, **described)
    options.check_written(asked)
    resolved = asked.resolve()
    if resolved.flows:
        print("note: the scenario's flows are not sent; the programs send", file=sys.stderr)
    made = emulation.emulate(resolved, command, capture=capture, logs=logs)
    if as_json:
        print(json.dumps(made.to_dict()))
    else:
        _show(made)
    for program in made.failed:
        told = f"node {program['node']}: {program['command'][0]} {_end(program['ended'])}"
        print(f"warning: {told}", file=sys.stderr)
    if not made.lateness["trusted"]:
        late = f"{made.lateness['beyond_slot']:.2%} of the frames were late by more than a slot"
        print(f"warning: do not trust this emulation: {late}", file=sys.stderr)
    if made.interrupted:
        sys.exit(INTERRUPTED)


def _end(ended: dict[str, Any]) -> str:
    how = f"by {ended['signal']}" if ended["signal"] else f"with exit status {ended['status']}"
    return f"ended {how} after {ended['at_s']:.1f} s"


def _show(made: Emulation) -> None:
    """Prints an emulation for people."""
    from manetlab.tables import Table, stdout_console

    console, lateness = stdout_console(), made.lateness
    headings = ("node", "sent", "bytes", "received", "lost")
    passed = Table("Frames between programs and channel", headings, text_columns=0)
    for node, each in enumerate(made.nodes):
        lost = each["refused"] + each["unknown"]
        passed.add(str(node), *(str(each[key]) for key in ("sent", "sent_bytes", "received")), str(lost))
    passed.notes.append(
        "Lost: not taken by the node's own kernel, or sent to a MAC address that is no other node's."
    )
    passed.print(console)
    if made.drops:
        dropped = Table("Frames dropped on the way", ("layer", "reason", "frames"), text_columns=2)
        for drop in made.drops:
            dropped.add(str(drop["layer"]), str(drop["reason"]), str(drop["count"]))
        dropped.print(console)
    late = Table("Lateness, µs", ("of frames", "frames", "median", "99.9 % within", "maximum"))
    for name, of in (("on the air", "on_air"), ("handed to programs", "handed_over")):
        measured = (lateness[of][key] for key in ("median_s", "p999_s", "max_s"))
        late.add(name, str(lateness[of]["frames"]), *map(_micros, measured))
    priority = "with" if made.realtime else "without"
    stopped = ", stopped before its time" if made.stopped else ""
    late.notes += [
        f"{lateness['beyond_slot']:.3%} of the frames on the air were later than a slot of "
        f"{_micros(lateness['slot_s'])} µs.",
        f"Emulated {made.lasted_s:.1f} s{stopped}, {priority} real-time priority; the simulator took "
        f"{made.cpu_share:.0%} of a processor.",
    ]
    late.print(console)


def _micros(time_s: float | None) -> str:
    return "-" if time_s is None else f"{time_s * 1e6:.0f}"
