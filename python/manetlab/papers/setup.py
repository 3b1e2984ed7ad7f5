"""From a ledger's set-up to the fields of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetlab.papers import assumptions, wording
from manetlab.papers.ledger import Experiment, Ledger

Fields = dict[str, Any]

ROUTINGS = {
    "AODV": "aodv:dyer-2002",
    "DSR": "dsr:broch-1998",
    "DSDV": "dsdv:broch-1998",
    "ADV": "adv:dyer-2002",
    "ADV-1sec": "adv:dyer-2002-ch3-1s",
    "ADV-5sec": "adv:dyer-2002-ch3-5s",
}
"""What routing protocols are called in the papers, and how a scenario names them."""
ADV_BUFFERING_ALL = "adv:dyer-2002-ch4"
"""ADV as chapter 4 of the dissertation has it: all packets may wait equally long."""


def routing(experiment: Experiment, protocol: str) -> str:
    """How a scenario names a protocol of an experiment."""
    if protocol == "ADV" and "for all packets" in experiment.setup["routing"]:
        return ADV_BUFFERING_ALL
    return ROUTINGS[protocol]


def lateness(ledger: Ledger) -> Fields:
    """From which age on the dissertation counts CBR packets as lost, by dotted name."""
    metrics = " ".join(ledger.experiments["dyer2002/fig-3.1"].metrics)
    return {"network.cbr_late_after_s": wording.after(metrics, "at most")}


def nested(fields: Mapping[str, Any]) -> Fields:
    """Fields by dotted name as nested tables; a table of parameters keeps what it has."""
    tables: Fields = {}
    for path, value in fields.items():
        *parents, name = path.split(".")
        table = tables
        for parent in parents:
            table = table.setdefault(parent, {})
        table[name] = value
    return tables


def mobile(experiment: Experiment, field: str | None = None) -> Fields:
    """Field, nodes, speeds and pause of an experiment that moves at random waypoint, by dotted name.

    What the edge of the field does is among the assumptions.

    Args:
        experiment: The ledger's entry.
        field: One of the fields that the entry names; its only one if not given.
    """
    setup = experiment.setup
    wording.require(setup["mobility"], "random waypoint")
    if setup["boundary"] != "bounce":
        wording.require(setup["boundary"], "wrap-around")
    width_m, height_m = wording.two(field or setup["field"], "m x", "m")
    return {
        "movement.waypoint.nodes": setup["nodes"],
        "movement.waypoint.width_m": width_m,
        "movement.waypoint.height_m": height_m,
        "movement.waypoint.speed_max": wording.two(setup["mobility"], "-", "m/s")[1],
        "movement.waypoint.pause_s": wording.after(setup["mobility"], "pause"),
    }


def tcp(experiment: Experiment) -> Fields:
    """Segment and window of an experiment's TCP, by dotted name."""
    transport = experiment.setup["transport"]
    return {
        "tcp.segment_bytes": wording.whole(transport, "byte"),
        "tcp.window": int(wording.after(transport, "at most")),
    }


def background(text: str, packet_bytes: int) -> Fields:
    """The CBR flows that ``50 Kbps from 10 CBR connections`` asks for, by dotted name.

    The load is that of the payload, in equal parts.

    Args:
        text: The load.
        packet_bytes: Payload of a packet.
    """
    flows = wording.whole(text, "CBR connections")
    return {
        "traffic.random.cbr": flows,
        "traffic.random.cbr_bytes": packet_bytes,
        "traffic.random.cbr_interval_s": interval_s(packet_bytes, wording.number(text, "Kbps") / flows),
    }


def interval_s(packet_bytes: int, kbps: float) -> float:
    """The time between packets of a CBR flow, in s."""
    return 8 * packet_bytes / (1000 * kbps)


def technique(label: str) -> Fields:
    """The sender that a column of the dissertation's tables names."""
    return {
        "tcp.sender": "reno",
        "tcp.sack": "SACK" in label,
        "tcp.rto_policy": "fixed" if "fixed RTO" in label else "exponential",
        "tcp.hold_down": "hold-down" in label,
        "tcp.delayed_ack": "delayed ACKs" in label,
    }


def base(ledger: Ledger, experiment: Experiment, *more: Mapping[str, Any]) -> Fields:
    """A scenario's fields, nested: the assumptions', then ``more``."""
    fields = assumptions.fields(ledger, experiment)
    for each in more:
        fields |= each
    return nested(fields)
