"""What sittings found, added up over a file of JSON lines: a line for every few hundred scenarios."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manetlab import parameters
from torture import drawing
from torture.trial import FAILED, RAN, REFUSED, STOPPED


@dataclass
class Tally:
    """Counts over scenarios.

    Attributes:
        commits: Scenarios by the commit of the code.
        next_number: The number after the last scenario.
        seconds: Time that it took, in s.
        cpu_s: CPU time of the workers at it, in s.
        counts: Scenarios by what became of them, and those that were large, repeated and recorded among
            those that ran.
        refused: Refused ones by reason.
        failed: Failed ones by what failed.
        relations: Those that ran, by the relation to other runs that was checked.
        pairs: Those that ran, by protocol and sender.
        extremes: Those that ran, by the parameters that were at an end of their range.
        slowest: CPU time in s and number of the slowest run.
        largest: Memory that it took in MB and number of the largest.
        latest: CPU time in s after which a run ended that was told to stop, and its number, at most.
    """

    commits: Counter[str] = field(default_factory=Counter)
    next_number: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    extremes: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    largest: tuple[float, int] = (0.0, -1)
    latest: tuple[float, int] = (0.0, -1)

    def add(self, outcome: dict[str, Any], commit: str) -> None:
        """Counts what became of a scenario."""
        number, status = outcome["number"], outcome["status"]
        self.commits[commit] += 1
        self.next_number = max(self.next_number, number + 1)
        self.cpu_s += outcome.get("total_cpu_s", 0.0)
        self.counts[status] += 1
        self.slowest = max(self.slowest, (outcome.get("cpu_s", 0.0), number))
        if "latency_s" in outcome:
            self.counts["told to stop"] += 1
            self.latest = max(self.latest, (outcome["latency_s"], number))
        self.largest = max(self.largest, (outcome.get("grown_bytes", 0) / 1e6, number))
        if status == REFUSED:
            self.refused[outcome["why"]] += 1
        elif status == FAILED:
            self.failed[outcome["why"]] += 1
        elif status == RAN:
            self.counts["large"] += outcome["is_large"]
            self.counts[outcome["again"] or "once"] += 1
            if outcome["relation"]:
                self.relations[outcome["relation"]] += 1
            self.extremes.update(outcome["extremes"])
            self.pairs.update(f"{outcome['routing']} {sender}" for sender in outcome["senders"])

    def merge(self, other: Tally) -> None:
        """Adds the counts of another one."""
        for name, value in vars(other).items():
            own = getattr(self, name)
            if isinstance(value, Counter):
                own.update(value)
            elif isinstance(value, tuple) or name == "next_number":
                setattr(self, name, max(own, value))
            else:
                setattr(self, name, own + value)

    def append(self, path: Path) -> None:
        """Writes it as a line at the end of a file."""
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(vars(self), sort_keys=True) + "\n")

    @classmethod
    def read(cls, path: Path) -> Tally:
        """All lines of a file together; nothing if there is none."""
        total = cls()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            written: dict[str, Any] = json.loads(line)
            kept: dict[str, Any] = {
                name: Counter(value) if isinstance(value, dict) else value for name, value in written.items()
            }
            kept |= {name: tuple(kept[name]) for name in ("slowest", "largest", "latest")}
            total.merge(cls(**kept))
        return total

    @property
    def fewest(self) -> tuple[int, str]:
        """How often the rarest pair of protocol and sender ran, and which it is."""
        return min(
            (self.pairs[f"{routing} {sender}"], f"{routing} {sender}") for routing, sender in drawing.PAIRS
        )

    def summary(self) -> str:
        """The counts in words."""
        drawn = sum(self.counts[status] for status in (RAN, REFUSED, STOPPED, FAILED))
        ran = self.counts[RAN]
        ends = {f"{each.key}={end}" for section in parameters.schema().values() for each in section.values()
                if each.range is not None for end in ("low", "high")}  # fmt: skip
        least_end = min(((self.extremes[end], end) for end in ends), default=(0, ""))
        pairs = {" ".join(pair) for pair in drawing.PAIRS}
        others = [count for pair, count in self.pairs.items() if pair not in pairs]
        lines = [
            f"drawn {drawn}, ran {ran}, refused {self.counts[REFUSED]}, stopped {self.counts[STOPPED]}, "
            f"failed {self.counts[FAILED]}",
            f"large (at least {drawing.LARGE_NODES} nodes and {drawing.LARGE_S:g} s): {self.counts['large']} "
            f"({self.counts['large'] / max(ran, 1):.1%})",
            f"repeated {self.counts['repeated']}, recorded with time series {self.counts['recorded']}",
            "held against other runs: "
            + (", ".join(f"{name} {count}" for name, count in sorted(self.relations.items())) or "none"),
            f"pairs of protocol and sender: {len(drawing.PAIRS)}, each at least {self.fewest[0]} times "
            f"({self.fewest[1]}); with other protocols or carriers {len(others)}, at least "
            f"{min(others, default=0)} times",
            f"ends of parameters' ranges: {len(ends)}, each at least {least_end[0]} times ({least_end[1]})",
            f"{self.seconds:.0f} s, {drawn / max(self.seconds, 1e-9):.1f} a second, "
            f"{self.cpu_s / max(drawn, 1):.4f} s of CPU each",
            f"slowest: {self.slowest[0]:.2f} s of CPU (number {self.slowest[1]}); most memory: "
            f"{self.largest[0]:.0f} MB (number {self.largest[1]})",
            f"told to stop half-way {self.counts['told to stop']}; the latest obeyed after "
            f"{self.latest[0]:.3f} s of CPU (number {self.latest[1]})",
            "commits: " + ", ".join(f"{commit} ({count})" for commit, count in self.commits.items()),
        ]
        lines += [f"refused {count}: {why}" for why, count in self.refused.most_common()]
        lines += [f"FAILED {count}: {why}" for why, count in self.failed.most_common()]
        return "\n".join(lines)
