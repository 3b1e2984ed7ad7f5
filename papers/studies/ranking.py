"""Which of several systems carries most: means over speeds, gains over Reno, and which can be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from manetlab.stats import Interval, WithBest, adjusted_pair, compare_with_best, mean_interval

MEASURE = "tcp_throughput_bps"
KBPS = 1e-3
PLAIN = "Reno"
"""What the remedies of one routing protocol are compared with."""


@dataclass(frozen=True)
class Standing:
    """One system at one number of sessions.

    Attributes:
        system: Routing and remedy.
        kbps: The throughput in kb/s, mean and 95 % interval over scenarios.
        gain: What it carries more than Reno over the same routing, in kb/s; an interval that holds together
            with the others. None for Reno.
        percent: The same in percent of what Reno carries; None for Reno.
        p: The p-value of the gain, adjusted for all gains; None for Reno.
        verdict: ``best``, ``not distinguishable`` (from the best) or ``worse``.
        best: The comparison with the best of the others.
    """

    system: str
    kbps: Interval
    gain: Interval | None
    percent: float | None
    p: float | None
    verdict: str
    best: WithBest


def scenarios(runs: pd.DataFrame, sessions: int, speeds: Sequence[int]) -> dict[str, list[float]]:
    """The throughput of every replication by system, in kb/s: the mean over speeds.

    Raises:
        ValueError: Runs of a system are missing.
    """
    chosen = runs[(runs["sessions"] == sessions) & runs["speed"].isin(list(speeds))]
    table = chosen.pivot_table(index="replication", columns=["system", "speed"], values=MEASURE) * KBPS
    if table.isna().any().any():
        raise ValueError("runs are missing: run the campaign first")
    systems = list(dict.fromkeys(chosen["system"]))
    return {system: list(table[system].mean(axis=1)) for system in systems}


def standings(
    runs: pd.DataFrame, sessions: int, speeds: Sequence[int], families: int, gains: int
) -> list[Standing]:
    """All systems at one number of sessions, the greatest throughput first.

    Args:
        runs: All runs.
        sessions: The number of sessions.
        speeds: The speeds over which means are taken.
        families: How many such rankings are read together.
        gains: How many gains are read together.
    """
    values = scenarios(runs, sessions, speeds)
    against_best = {each.name: each for each in compare_with_best(values, families=families)}
    made = []
    for system, own in values.items():
        routing, _, remedy = system.partition(", ")
        gain, percent, p = None, None, None
        if remedy != PLAIN:
            pair = adjusted_pair(own, values[f"{routing}, {PLAIN}"], gains)
            gain, percent, p = pair.difference, 100 * (pair.ratio.mean - 1), pair.p_adjusted
        best = against_best[system]
        made.append(Standing(system, mean_interval(own), gain, percent, p, best.verdict, best))
    return sorted(made, key=lambda each: -each.kbps.mean)


def can_be_best(listed: Sequence[Standing]) -> list[str]:
    """The systems that can be the best."""
    return [each.system for each in listed if each.verdict != "worse"]
