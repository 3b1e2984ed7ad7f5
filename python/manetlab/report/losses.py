"""Tables of what was lost: packets by reason, and runs that failed."""

from __future__ import annotations

from manetlab.report.outcomes import factor_columns, finite, levels_cells
from manetlab.report.quantities import number
from manetlab.report.study import Study
from manetlab.report.tables import Cell, Column, DataTable


def drop_table(study: Study) -> DataTable:
    """Mean dropped packets of a run by layer, reason and kind, one column a point, most frequent first."""
    points = study.points
    columns = [
        Column("layer", "layer", is_text=True),
        Column("reason", "reason", is_text=True),
        Column("packets", "packets", is_text=True),
        *(Column(", ".join(point.levels) or "packets of a run", f"point_{point.number}") for point in points),
    ]
    table = DataTable(
        "drops", "Packets dropped in a run’s measurement window, mean over the replications", columns, heads=3
    )
    runs = {point.number: int((study.runs["point"] == point.number).sum()) for point in points}
    counts: dict[tuple[str, str, str], dict[int, int]] = {}
    for row in study.drops.to_dict("records"):
        at = counts.setdefault((row["layer"], row["reason"], row["packets"]), {})
        at[row["point"]] = at.get(row["point"], 0) + int(row["count"])
    for reason in sorted(counts, key=lambda each: (-sum(counts[each].values()), each)):
        means = (counts[reason].get(number, 0) / n if n else None for number, n in runs.items())
        table.add(*reason, *(Cell("–" if mean is None else f"{mean:.1f}", mean) for mean in means))
    table.notes.append(
        "The page Metrics of the documentation (`manetlab docs metrics`) explains each reason, and which of "
        "them are not losses."
    )
    return table


def failure_table(study: Study) -> DataTable:
    """The runs that failed, each with the command that repeats it."""
    columns = [
        *factor_columns(study.factors),
        Column("replication", "replication"),
        Column("seed", "seed"),
        Column("error", "error", is_text=True, is_long=True),
        Column("command", "command", is_text=True, is_long=True),
    ]
    table = DataTable("failed", "Runs that failed", columns, heads=1 + len(study.factors))
    for row in study.failed.to_dict("records"):
        levels = tuple(str(row[factor.key]) for factor in study.factors)
        table.add(
            *levels_cells(levels),
            Cell(str(row["replication"]), row["replication"]),
            Cell(str(row["seed"]), row["seed"]),
            Cell(str(row["error"]), row["error"]),
            Cell(str(row["command"]), row["command"], is_code=True),
        )
    return table


def run_table(study: Study) -> DataTable:
    """Every run with its seed and its wanted metrics: what the means were made of."""
    columns = [
        *factor_columns(study.factors),
        Column("replication", "replication"),
        Column("seed", "seed"),
        *(Column(metric.heading, metric.key) for metric in study.measured),
        Column("result", "result_hash", is_text=True),
    ]
    table = DataTable("runs", "All finished runs", columns)
    for row in study.runs.to_dict("records"):
        table.add(
            *levels_cells(tuple(row[factor.key] for factor in study.factors)),
            Cell(str(row["replication"]), row["replication"]),
            Cell(str(row["seed"]), row["seed"]),
            *(Cell(number(row[metric.key], metric), finite(row[metric.key])) for metric in study.measured),
            Cell(str(row["result_hash"]), row["result_hash"], is_code=True),
        )
    return table
