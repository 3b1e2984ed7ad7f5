"""Which runs to look at: the median and the worst of each setting, and the commands that make their pages."""

from __future__ import annotations

import shlex
from pathlib import Path

from manetlab.metrics import Metric
from manetlab.report.page import Part
from manetlab.report.study import Point, Study
from manetlab.report.tables import Cell, Column, DataTable

MOST_COMMANDS = 40
"""Most commands of a page; a campaign with more settings lists those of its first ones."""


def part(study: Study, are_made: bool) -> Part | None:
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
            named = Cell(text, text, link=file_name(point.number, replication) if are_made else "")
            table.add(*point.levels, named, shown, Cell(line, line, is_code=True))
    if len(study.points) > MOST_COMMANDS // 2:
        table.notes.append(f"The first {MOST_COMMANDS // 2} of {len(study.points)} settings.")
    table.notes.append(
        "Each command repeats the run and writes a page that plays it, which opens offline. Run it in the "
        "folder of the campaign's store."
    )
    if not are_made:
        table.notes.append("With --replays, the report has these pages beside it.")
    return Part("See single runs", tables=[table])


def chosen(study: Study, point: Point, metric: Metric) -> list[tuple[str, int, float]]:
    """The median and the worst replication of a point, each with its value; none if no run has one."""
    runs = study.runs[(study.runs["point"] == point.number) & study.runs[metric.key].notna()]
    # Equal values in order of replications, so that the choice does not depend on chance.
    ranked = sorted(zip(runs[metric.key].astype(float), runs["replication"].astype(int), strict=True))
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
