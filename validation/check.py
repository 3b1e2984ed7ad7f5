"""What the parts of the validation have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.tables import Table
from validation import networks

T = TypeVar("T")

CMU_QUEUE = {"packets": 50, "routing_priority": "classes"}
"""The interface queue without which ns-2's DSR does not run."""


@dataclass(frozen=True)
class Check:
    """Scenarios to run, and what their results say.

    Attributes:
        scenarios: What to run.
        evaluate: Makes the tables from the results, which come in the order of the scenarios.
    """

    scenarios: list[Scenario]
    evaluate: Callable[[list[Result]], list[Table]]


def verdict(holds: bool) -> str:
    """How tables say whether a tolerance is kept."""
    return "holds" if holds else "OUTSIDE"


def replications(scenario: Scenario, count: int) -> list[Scenario]:
    """The same scenario with other draws of MAC and protocols."""
    return [scenario.changed(replication=number) for number in range(count)]


def groups(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """``values`` in consecutive pieces of ``size``."""
    return (values[start : start + size] for start in range(0, len(values), size))


def ns2_runs(folder: Path, protocol: str = "AODV") -> list[dict[str, Any]]:
    """ns-2's measurements, one mapping a finished run; validation/ns2/README.md explains the fields."""
    with (folder / f"{protocol.lower()}.jsonl").open(encoding="utf-8") as lines:
        runs = [json.loads(line) for line in lines]
    return [run for run in runs if "error" not in run]


SENDERS = {"TCP/Reno": "reno", "TCP/Sack1": "sack", "TCP/Vegas": "vegas"}
"""What ns-2's agents are called here."""


def as_ns2_ran(run: dict[str, Any]) -> Scenario:
    """The scenario of one of ns-2's runs."""
    folder = networks.unpacked()
    return Scenario.build(
        {
            "movement": str(folder / run["scen"]),
            "traffic": str(folder / run["traffic"]),
            "duration_s": float(run["stop"]),
            "warmup_s": float(run["warm"]),
            "routing": run["rp"].lower(),
            "profile": "ns-2.35",
            "tcp": {
                "sender": SENDERS[run.get("tcp", "TCP/Reno")],
                "delayed_ack": run.get("sink", "TCPSink").endswith("/DelAck"),
                # ns-2's Vegas connects without a SYN, and its segments are as long as their payload.
                **({"connection_setup": False, "header_bytes": 0} if run.get("tcp") == "TCP/Vegas" else {}),
            },
            "mac": {"rts_threshold_bytes": run.get("rts", 0)},
            "queue": CMU_QUEUE if run["rp"] == "DSR" else {},
        }
    )
