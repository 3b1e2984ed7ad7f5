"""Runs of campaigns with two factors: how they are kept, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from manetlab.campaign import Campaign
from manetlab.stats import compare_with_best, mean_interval
from manetlab.tables import Table
from studies.runs import with_code

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Ask:
    """A table of a study: a measure, by the levels of two factors."""

    study: str
    column: str
    row: str
    title: str
    measure: str
    scale: float = 1.0
    digits: int = 1
    is_more_better: bool | None = None


def columns_of(measures: Sequence[str]) -> list[str]:
    """What is kept of each run with these measures."""
    return [
        *("study", "column", "row", "replication", "seed"),
        *(*measures, "result_hash", "code", "cpu_time_s"),
    ]


def made(
    study: str, column: str, row: str, measures: Sequence[str], stores: Path, jobs: int | None
) -> pd.DataFrame:
    """The runs of a study, as they are kept; ``column`` and ``row`` are its factors."""
    runs = with_code(Campaign.load(HERE / f"{study}.toml").run(stores / f"{study}.db", jobs=jobs))
    labels = runs.rename(columns={column: "column", row: "row"}).assign(study=study)
    return labels.reindex(columns=columns_of(measures))


def facts(runs: pd.DataFrame) -> dict[str, object]:
    """What words say of runs: how many, of how many networks, how long they took, and their code."""
    seconds = runs["cpu_time_s"].sum()
    return {
        "runs": len(runs),
        "replications": runs["replication"].nunique(),
        "seconds": seconds,
        "minutes": seconds / 60,
        "code": str(runs["code"].iloc[0]).split()[-1][:8],
    }


def table(runs: pd.DataFrame, ask: Ask) -> Table:
    """A measure by two factors, with 95 % intervals; what can be the best of its column is bold."""
    columns, rows = (list(dict.fromkeys(runs[factor])) for factor in ("column", "row"))
    shown = Table(ask.title, (ask.row, *columns))
    best = {column: can_be_best(runs, ask, column) for column in columns}
    for row in rows:
        cells = []
        for column in columns:
            values = values_of(runs, ask, column, row)
            if not values:
                cells.append("–")
                continue
            found = mean_interval([ask.scale * each for each in values])
            text = f"{found.mean:.{ask.digits}f} ± {found.half_width:.{ask.digits}f}"
            cells.append(f"**{text}**" if row in best[column] else text)
        shown.add(row, *cells)
    return shown


def values_of(runs: pd.DataFrame, ask: Ask, column: str, row: str) -> list[float]:
    """The values of a cell, in order of networks; none where the measure does not apply."""
    found = runs[(runs["column"] == column) & (runs["row"] == row)].sort_values("replication")
    return [float(each) for each in found[ask.measure].dropna()]


def can_be_best(runs: pd.DataFrame, ask: Ask, column: str) -> set[str]:
    """The rows that no other is shown to be better than; none of a measure that has no direction here."""
    if ask.is_more_better is None:
        return set()
    values = {row: values_of(runs, ask, column, row) for row in dict.fromkeys(runs["row"])}
    found = compare_with_best(values, higher_is_better=ask.is_more_better)
    return {each.name for each in found if each.verdict != "worse"}
