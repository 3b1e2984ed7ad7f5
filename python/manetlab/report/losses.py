"""Tables of what was lost: packets by reason, and runs that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manetlab.report.figures import Series, Stacks
from manetlab.report.outcomes import factor_columns, finite, levels_cells
from manetlab.report.quantities import number
from manetlab.report.study import Point, Study
from manetlab.report.tables import Cell, Column, DataTable

if TYPE_CHECKING:
    import pandas as pd


MOST_PARTS = 4
"""Reasons for losses that have a part of their own in a figure; the others are one."""
MOST_RUNS, SAMPLED = 2000, 1000
"""Finished runs that the page lists, and failed ones; and how many of the finished ones if they are more."""
What = tuple[str, str, str]
"""Layer, reason and kind of packets."""


def loss_table(study: Study) -> DataTable | None:
    """Mean packets of flows that a run loses, each once, by what lost it; None of stores that do not know."""
    if study.ends.empty:
        return None
    lost = study.ends[study.ends["end"] == "lost"]
    table = _by_reason(
        study, lost, "lost", "Packets of flows that were lost in a run, mean over the replications", True
    )
    table.notes.append(
        "A packet is lost when no copy of it arrives and none is left. It counts once, over the whole run, "
        "by what ended its last copy. Packets of flows are data and acknowledgements of the transport."
    )
    return table


def drop_table(study: Study) -> DataTable:
    """Mean copies that a run drops without a loss; all drops of stores that do not know what was lost."""
    import pandas as pd

    known = study.ends[study.ends["end"] == "lost"]
    losses = set(zip(known["layer"], known["reason"], known["packets"], strict=True))
    what = list(zip(study.drops["layer"], study.drops["reason"], study.drops["packets"], strict=True))
    # With their index: a bare list that is empty would choose columns.
    is_no_loss = pd.Series([each not in losses for each in what], index=study.drops.index, dtype=bool)
    no_losses = study.drops[is_no_loss]
    has_ends = not study.ends.empty
    caption = "Drops that lost no packet of a flow" if has_ends else "Copies of packets dropped"
    table = _by_reason(
        study, no_losses, "drops", f"{caption}, in a run’s measurement window, mean over the replications"
    )
    table.notes.append(
        "The page Metrics of the documentation (`manetlab docs metrics`) explains each reason."
        + (" Here are further copies, ends of request rings, routing and ARP." if has_ends else "")
    )
    return table


def ends_figure(study: Study) -> Stacks | None:
    """Where the packets of flows ended, in shares of all; None of stores that do not know."""
    ends = study.ends
    if ends.empty:
        return None
    names = [", ".join(point.levels) or "all" for point in study.points]
    sums = ends[ends["end"] == "lost"].groupby("reason", dropna=False)["count"].sum()
    reasons = [None if reason != reason else reason for reason in sums.sort_values(ascending=False).index]
    first, others = reasons[:MOST_PARTS], reasons[MOST_PARTS:]
    parts = [("delivered", ends["end"] == "delivered")]
    parts += [(_lost_by(reason), _is_lost(study, [reason])) for reason in first]
    parts += [("lost: other reasons", _is_lost(study, others))] if others else []
    parts.append(("still under way", ends["end"] == "under way"))
    totals = ends.groupby("point")["count"].sum()
    series = []
    for name, is_part in parts:
        counts = ends[is_part].groupby("point")["count"].sum()
        shares = tuple(_percent(counts, totals, point.number) for point in study.points)
        nothing = (None,) * len(shares)
        series.append(Series(name, tuple(names), shares, nothing, nothing, (0,) * len(shares)))
    if not any(any(each.y) for each in series):
        # No flow has sent anything.
        return None
    return Stacks(
        name="ends",
        title="Where packets ended",
        x_title=", ".join(factor.heading for factor in study.factors),
        y_title="packets of flows (%)",
        caption="Shares of all packets of flows, data and acknowledgements, of all runs of a point.",
        table="lost",
        series=tuple(each for each in series if any(each.y)),
    )


def _percent(counts: pd.Series[Any], totals: pd.Series[Any], point: int) -> float:
    total = float(totals.get(point, 0))
    return 100.0 * float(counts.get(point, 0)) / total if total else 0.0


def _lost_by(reason: str | None) -> str:
    return "lost: " + ("not heard" if reason is None else reason.replace("-", " "))


def _is_lost(study: Study, reasons: Sequence[str | None]) -> pd.Series[bool]:
    """Which rows of the ends are losses for one of these reasons."""
    given = study.ends["reason"]
    is_any = given.isin([each for each in reasons if each is not None])
    return (study.ends["end"] == "lost") & (is_any | given.isna() if None in reasons else is_any)


def _levels(study: Study) -> Sequence[str]:
    return study.compared.levels if study.compared is not None else ("",)


def _by_reason(
    study: Study, rows: pd.DataFrame, name: str, caption: str, has_sums: bool = False
) -> DataTable:
    """Means of a run by setting, layer, reason and kind, one column a level of what is compared."""
    columns = [
        *factor_columns(study.others),
        Column("layer", "layer", is_text=True),
        Column("reason", "reason", is_text=True),
        Column("packets", "packets", is_text=True),
        *(Column(each or "packets of a run", f"level_{at}") for at, each in enumerate(_levels(study))),
    ]
    table = DataTable(name, caption, columns, heads=3 + len(study.others))
    keys = ["layer", "reason", "packets"]
    for setting in study.settings:
        points = [study.point_at(setting, level) for level in _levels(study)]
        here = rows[rows["point"].isin([point.number for point in points if point is not None])]
        counts = here.fillna(dict.fromkeys(keys, "not heard")).groupby(keys, sort=True)
        for what, found in sorted(counts, key=lambda each: -each[1]["count"].sum()):
            table.add(
                *levels_cells(setting),
                *map(str, what),
                *(_cell(_mean(study, found, point)) for point in points),
            )
        if has_sums:
            sums = (_mean(study, here, point) for point in points)
            table.add(*levels_cells(setting), "all", "", "", *map(_cell, sums))
    return table


def _mean(study: Study, rows: pd.DataFrame, point: Point | None) -> float | None:
    """The mean count of a run at a point."""
    runs = 0 if point is None else study.results.run_count(point.number)
    if point is None or not runs:
        return None
    return float(rows[rows["point"] == point.number]["count"].sum()) / runs


def _cell(mean: float | None) -> Cell:
    return Cell("–" if mean is None else f"{mean:.1f}", mean)


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
    if len(study.failed) > MOST_RUNS:
        table.notes.append(
            f"The first {MOST_RUNS} of {len(study.failed)}; `manetlab campaign export` writes all."
        )
    for row in study.failed.head(MOST_RUNS).to_dict("records"):
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
    """Every run with its seed and its wanted metrics, what the means were made of; of very many, some."""
    columns = [
        *factor_columns(study.factors),
        Column("replication", "replication"),
        Column("seed", "seed"),
        *(Column(metric.heading, metric.key, is_shown=metric in study.wanted) for metric in study.measured),
        Column("result", "result_hash", is_text=True),
    ]
    runs, per_point = study.results.tables.first_runs(MOST_RUNS, SAMPLED)
    caption = "All finished runs" if per_point is None else f"{len(runs)} of {len(study.runs)} finished runs"
    table = DataTable("runs", caption, columns)
    if per_point is None:
        table.notes.append("The CSV file has all metrics of each run.")
    else:
        table.notes.append(
            f"These are a sample: the first {per_point} replications of each point, which are as random as "
            "any. The CSV file has all their metrics; `manetlab campaign export` writes those of all runs. "
            "Means, intervals and comparisons are of all runs."
        )
    for row in study.with_levels(runs).to_dict("records"):
        table.add(
            *levels_cells(tuple(row[factor.key] for factor in study.factors)),
            Cell(str(row["replication"]), row["replication"]),
            Cell(str(row["seed"]), row["seed"]),
            *(Cell(number(row[metric.key], metric), finite(row[metric.key])) for metric in study.measured),
            Cell(str(row["result_hash"]), row["result_hash"], is_code=True),
        )
    return table
