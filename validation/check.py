"""What the parts of the validation have in common."""

from __future__ import annotations

import json
import lzma
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
"""The interface queue without which ns-2.35's DSR does not run."""


NS_2_35 = "2.35"
"""The version of ns-2 whose measurements do not name theirs."""


@dataclass(frozen=True)
class Check:
    """Scenarios to run, and what their results say.

    Attributes:
        scenarios: What to run.
        evaluate: Makes the tables from the results, which come in the order of the scenarios.
    """

    scenarios: list[Scenario]
    evaluate: Callable[[list[Result]], list[Table]]

    def then(self, *others: Check) -> Check:
        """This check and others after it, as one."""
        parts = (self, *others)

        def evaluate(results: list[Result]) -> list[Table]:
            left = iter(results)
            return [table for part in parts for table in part.evaluate([next(left) for _ in part.scenarios])]

        return Check([scenario for part in parts for scenario in part.scenarios], evaluate)


def verdict(holds: bool) -> str:
    """How tables say whether a tolerance is kept."""
    return "holds" if holds else "OUTSIDE"


def replications(scenario: Scenario, count: int) -> list[Scenario]:
    """The same scenario with other draws of MAC and protocols."""
    return [scenario.changed(replication=number) for number in range(count)]


def groups(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """``values`` in consecutive pieces of ``size``."""
    return (values[start : start + size] for start in range(0, len(values), size))


def ns2_file(folder: Path, protocol: str = "AODV", version: str = NS_2_35) -> Path:
    """The file of ns-2's measurements with a protocol: packed lines of JSON."""
    end = "" if version == NS_2_35 else f"-{version}"
    return folder / f"{protocol.lower()}{end}.jsonl.xz"


def read_runs(file: Path) -> list[dict[str, Any]]:
    """All runs of a file of ns-2's measurements, one mapping each; validation/ns2/README.md explains them."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ns2_runs(folder: Path, protocol: str = "AODV", version: str = NS_2_35) -> list[dict[str, Any]]:
    """ns-2's measurements with a protocol, one mapping a finished run."""
    return [run for run in read_runs(ns2_file(folder, protocol, version)) if "error" not in run]


SENDERS = {"TCP/Reno": "reno", "TCP/Sack1": "sack", "TCP/Vegas": "vegas"}
"""What ns-2's agents are called here."""


def as_ns2_ran(run: dict[str, Any], profile: str = "") -> Scenario:
    """The scenario of one of ns-2's runs, under the profile of its version if none is named."""
    folder = networks.unpacked()
    version = run.get("ns", NS_2_35)
    return Scenario.build(
        {
            "movement": str(folder / run["scen"]),
            "traffic": str(folder / run["traffic"]),
            "duration_s": float(run["stop"]),
            "warmup_s": float(run["warm"]),
            "routing": run["rp"].lower(),
            "profile": profile or f"ns-{version}",
            "tcp": {
                "sender": SENDERS[run.get("tcp", "TCP/Reno")],
                "delayed_ack": run.get("sink", "TCPSink").endswith("/DelAck"),
                # ns-2's Vegas connects without a SYN, and its segments are as long as their payload.
                **({"connection_setup": False, "header_bytes": 0} if run.get("tcp") == "TCP/Vegas" else {}),
            },
            "mac": {"rts_threshold_bytes": run.get("rts", 0)},
            "queue": CMU_QUEUE if run["rp"] == "DSR" and version == NS_2_35 else {},
            **({"aodv": {"local_repair": True}} if run.get("local_repair") else {}),
        }
    )
