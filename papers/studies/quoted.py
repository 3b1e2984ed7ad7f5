"""What the papers quote of other studies, asked here: ``python -m studies.quoted``.

It writes the page from the kept results in papers/studies/kept. With ``--stores`` it first runs what is
missing, and keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd

from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.stats import compare_with_best, mean_interval
from manetlab.tables import Table
from studies.pages import words
from studies.runs import with_code

HERE = Path(__file__).parent
WORDS, KEPT, PAGE = HERE / "quoted-words.md", HERE / "kept" / "quoted.parquet", Path("quoted.md")
MEASURES = [
    "cbr_delivery_fraction",
    "tcp_throughput_bps",
    "tcp_timeouts",
    "tcp_spurious_timeouts",
    "mac_frames_per_s",
    "hops_mean",
]
COLUMNS = ["study", "column", "row", "replication", "seed", *MEASURES, "result_hash", "code", "cpu_time_s"]


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


TORA = ("quoted-tora", "sources", "protocol")
TCP = ("quoted-tcp", "speed", "protocol")
EIFEL = ("quoted-eifel", "protocol", "sender")
ASKS = {
    "tora": [
        Ask(*TORA, "CBR packets that arrive, %, by sources", "cbr_delivery_fraction", 100.0, 1, True),
        Ask(*TORA, "Frames a second, all kinds, by sources", "mac_frames_per_s", 1.0, 0),
    ],
    "tcp": [
        Ask(*TCP, "TCP throughput, kb/s, by highest speed in m/s", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*TCP, "Timeouts, by highest speed in m/s", "tcp_timeouts", 1.0, 0),
        Ask(*TCP, "Hops, by highest speed in m/s", "hops_mean", 1.0, 2),
    ],
    "eifel": [
        Ask(*EIFEL, "TCP throughput, kb/s, by routing protocol", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*EIFEL, "Timeouts, by routing protocol", "tcp_timeouts", 1.0, 0),
        Ask(*EIFEL, "Timeouts found spurious, by routing protocol", "tcp_spurious_timeouts", 1.0, 1),
    ],
}
"""By the part of the page: its tables."""


@click.command()
@click.option(
    "--stores", type=options.PATH, help="Run what is missing, with stores in this folder, and keep it."
)
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(stores: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaigns, and write the page."""
    if stores is not None:
        runs = pd.concat([made(*study, stores, jobs) for study in (TORA, TCP, EIFEL)])
        runs.to_parquet(KEPT, compression="zstd", index=False)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT)))


def made(study: str, column: str, row: str, stores: Path, jobs: int | None) -> pd.DataFrame:
    """The runs of a study, as they are kept."""
    runs = with_code(Campaign.load(HERE / f"{study}.toml").run(stores / f"{study}.db", jobs=jobs))
    labels = runs.rename(columns={column: "column", row: "row"}).assign(study=study)
    return labels.reindex(columns=COLUMNS)


def page(runs: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    parts = [said["head"]]
    for part, asks in ASKS.items():
        of_part = runs[runs["study"] == asks[0].study]
        facts = {
            "runs": f"{len(of_part):,}",
            "replications": of_part["replication"].nunique(),
            "minutes": f"{of_part['cpu_time_s'].sum() / 60:.0f}",
            "code": str(of_part["code"].iloc[0]).split()[-1][:8],
        }
        parts.append(said[part].format(**facts))
        parts += [table(of_part, ask).to_markdown() for ask in asks]
        parts.append(said[f"{part} read"])
    return "\n\n".join(part.strip() for part in parts) + "\n"


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


if __name__ == "__main__":
    main()
