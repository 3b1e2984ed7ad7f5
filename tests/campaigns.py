"""Small campaigns that tests start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from manetlab import Campaign
from manetlab.campaign.results import Results

BASE: dict[str, Any] = {
    "movement": {"chain": {"nodes": 3}},
    "traffic": {"random": {"tcp": 1, "cbr": 1, "cbr_start_within_s": 0.5}},
    "duration_s": 1.0,
}
MEASURED = ("runs", "flows", "drops", "failed")
"""Exported tables that hold nothing but what was measured."""


def small(**changes: Any) -> Campaign:
    """Two senders, two loads, three replications of a second each."""
    load = [
        {"label": "low", "fields": {"traffic.random.cbr": 1}},
        {"label": "high", "fields": {"traffic.random.cbr": 4, "traffic.random.cbr_bytes": 256}},
    ]
    asked: dict[str, Any] = {
        "name": "small",
        "base": BASE,
        "factors": {"tcp": ["reno", "reno-f"], "load": load},
        "replications": 3,
        "metrics": ["tcp_throughput_bps"],
    }
    return Campaign(**{**asked, **changes})


def exported(results: Results, folder: Path) -> dict[str, bytes]:
    """The exported files that must not depend on how a campaign was run, by their names."""
    results.export(folder)
    names = ["campaign.json", *(f"{table}.{suffix}" for table in MEASURED for suffix in ("csv", "parquet"))]
    return {name: (folder / name).read_bytes() for name in names}
