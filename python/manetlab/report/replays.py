"""Which runs to look at: the median and the worst of each setting, and the commands that make their pages."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from manetlab.metrics import Metric
from manetlab.report.page import Part
from manetlab.report.study import Point, Study
from manetlab.report.tables import Cell, Column, DataTable
from manetlab.stalls import CAUSES

MOST_COMMANDS = 40
"""Most commands of a page; a campaign with more settings lists those of its first ones."""


class Played(NamedTuple):
    """A run that was repeated: its page, and what held its flows up, as parts of their lives."""

    page: str
    held: Mapping[str, float]


AllPlayed = Mapping[tuple[int, int], Played]
"""By point and replication."""


def part(study: Study, played: AllPlayed | None) -> Part | None:
    """The commands that make replays, and links if they have been made; None without a store of the runs."""
    store = study.results.store
    if store is None or not study.wanted:
        return None
    metric = study.wanted[0]
    worst = "highest" if metric.better == "lower" else "lowest"
    caption = f"Median and worst replication of each setting, by {metric.label} ({worst} is worst)"
    columns = (
        *(Column(factor.heading, factor.key, is_text=True) for factor in study.factors),
        Column("replication", "which", is_text=True),
        Column(metric.heading, metric.key),
        Column("command", "command", is_text=True, is_long=True),
    )
    table = DataTable("replays", caption, columns)
    for point in study.points[: MOST_COMMANDS // 2]:
        for which, replication, value in chosen(study, point, metric):
            shown = Cell(metric.show({metric.key: value}), value)
            line = command(Path(store).name, point.number, replication)
            text = f"{which}: {replication}"
            named = Cell(text, text, link="" if played is None else file_name(point.number, replication))
            table.add(*point.levels, named, shown, Cell(line, line, is_code=True))
    if len(study.points) > MOST_COMMANDS // 2:
        table.notes.append(f"The first {MOST_COMMANDS // 2} of {len(study.points)} settings.")
    table.notes.append(
        "Each command repeats the run and writes a page that plays it, which opens offline. Run it in the "
        "folder of the campaign's store."
    )
    if played is None:
        table.notes.append("With --replays, the report has these pages beside it.")
        return Part("See single runs", tables=[table])
    held = [_held(study, metric, played)] if any(each.held for each in played.values()) else []
    return Part("See single runs", tables=[table, *held])


def _held(study: Study, metric: Metric, played: AllPlayed) -> DataTable:
    """What held the flows of each replayed run up."""
    causes = [cause for cause in CAUSES if any(each.held.get(cause) for each in played.values())]
    columns = (
        *(Column(factor.heading, factor.key, is_text=True) for factor in study.factors),
        Column("replication", "which", is_text=True),
        *(Column(f"{cause.replace('-', ' ')} (%)", cause) for cause in causes),
    )
    table = DataTable("held-up", "What held flows up, as parts of the lives of all flows of the run", columns)
    for point in study.points[: MOST_COMMANDS // 2]:
        for which, replication, _ in chosen(study, point, metric):
            held = played[point.number, replication].held
            text = f"{which}: {replication}"
            named = Cell(text, text, link=file_name(point.number, replication))
            shares = [held.get(cause, 0.0) for cause in causes]
            table.add(*point.levels, named, *(Cell(f"{100 * each:.1f}", each) for each in shares))
    table.notes.append(
        "On the air: a frame is sent for a packet of the flow. No path: no chain of nodes within range leads "
        "to the destination. Lost: nothing is on its way since a packet was lost. Idle: there is nothing to "
        "carry. The pages show this flow by flow beside the time."
    )
    return table


def chosen(study: Study, point: Point, metric: Metric) -> list[tuple[str, int, float]]:
    """The median and the worst replication of a point, each with its value; none if no run has one."""
    replications, values = study.results.values_at(point.number, metric.key)
    # Equal values in order of replications, so that the choice does not depend on chance.
    ranked = sorted(zip(values, replications, strict=True))
    if not ranked:
        return []
    middle = ranked[(len(ranked) - 1) // 2]
    last = ranked[-1] if metric.better == "lower" else ranked[0]
    return [("median", middle[1], middle[0]), ("worst", last[1], last[0])]


def runs(study: Study) -> list[tuple[int, int]]:
    """Point and replication of each run that has a command."""
    if study.results.store is None or not study.wanted:
        return []
    return [
        (point.number, replication)
        for point in study.points[: MOST_COMMANDS // 2]
        for _, replication, _ in chosen(study, point, study.wanted[0])
    ]


def file_name(point: int, replication: int) -> str:
    """Where a run's replay is, from the report's page."""
    return f"replays/{point}-{replication}.html"


def command(store: str, point: int, replication: int) -> str:
    """The command that makes the replay of a run."""
    options = ["--point", str(point), "--replication", str(replication)]
    return shlex.join(["manetlab", "view", store, *options, "-o", f"replay-{point}-{replication}.html"])
