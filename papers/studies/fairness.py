"""Throttled sources against neighbourhood RED: ``python -m studies.fairness``.

It writes the page from the kept results in papers/studies/kept. With ``--stores`` it first runs what is
missing, and keeps it, with what held the flows up in a few recorded runs.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pandas as pd

import manetlab
from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.stats import jain, unfairness
from manetlab.tables import Table
from studies import crosses
from studies.crosses import Ask
from studies.pages import words
from studies.runs import with_code, write_kept

HERE = Path(__file__).parent
WORDS, PAGE = HERE / "fairness-words.md", Path("fairness.md")
KEPT, KEPT_STALLS = HERE / "kept" / "fairness.parquet", HERE / "kept" / "fairness-stalls.parquet"

AREAS, PAIRS = "fairness", "fairness-pairs"
WHOLE_BPS = {(AREAS, "150 m"): 360_600.0, (AREAS, "200 m"): 346_600.0, PAIRS: 1_043_000.0}
"""What one flow carries alone, of which flows have equal parts; of the areas it is what the paper's figure
has here (papers/manetlab_papers/data/17-osipov.toml)."""

STANDSTILL = 108.0 / 3.0
"""The unsmoothness of a flow of which nothing arrives: the window in allowed pauses."""

MEASURES = [
    *("tcp_throughput_bps", "jain", "unfairness", "tcp_unsmoothness_max", "tcp_timeouts"),
    *("tcp_retransmissions", "routing_packets_per_s", "least_bps"),
]
SHOWN = [
    ("Total, kb/s", "tcp_throughput_bps", 1e-3, 0, True),
    ("The flow that has least, kb/s", "least_bps", 1e-3, 1, True),
    ("Jain index", "jain", 1.0, 3, True),
    ("Unfairness", "unfairness", 1.0, 3, False),
    ("Unsmoothness of the worst flow", "tcp_unsmoothness_max", 1.0, 2, False),
    ("Timeouts", "tcp_timeouts", 1.0, 0, None),
]
"""The tables: title, measure, scale, digits, and whether more of it is better."""

RECORDED = [
    *((AREAS, {"areas": "150 m", "flows": "8", "sharing": sharing}) for sharing in ("nothing", "NRED, 0.14")),
    *((PAIRS, {"rows": "240 m", "sharing": sharing}) for sharing in ("nothing", "throttling", "NRED, 0.05")),
]
"""Points of which a run is recorded, to see what held its flows up."""


@click.command()
@click.option(
    "--stores", type=options.PATH, help="Run what is missing, with stores in this folder, and keep it."
)
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(stores: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaigns, and write the page."""
    if stores is not None:
        runs = pd.concat([made(study, stores, jobs) for study in (AREAS, PAIRS)])
        write_kept(runs, KEPT)
        write_kept(stalls(), KEPT_STALLS)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT), pd.read_parquet(KEPT_STALLS)))


def made(study: str, stores: Path, jobs: int | None) -> pd.DataFrame:
    """The runs of a study, as they are kept."""
    results = Campaign.load(HERE / f"{study}.toml").run(stores / f"{study}.db", jobs=jobs)
    runs = with_code(results)
    of_flows = results.flows.sort_values("flow").groupby(["point", "replication"])["throughput_bps"].agg(list)
    rates = [of_flows[key] for key in zip(runs["point"], runs["replication"], strict=True)]
    runs["jain"] = [jain(each) for each in rates]
    runs["least_bps"] = [min(each) for each in rates]
    if study == AREAS:
        wholes = [WHOLE_BPS[AREAS, areas] for areas in runs["areas"]]
        runs["column"] = [
            f"{areas}, {flows}" for areas, flows in zip(runs["areas"], runs["flows"], strict=True)
        ]
    else:
        wholes, runs["column"] = [WHOLE_BPS[PAIRS]] * len(runs), runs["rows"]
    runs["unfairness"] = [
        unfairness(each, [whole / len(each)] * len(each)) for each, whole in zip(rates, wholes, strict=True)
    ]
    # A flow of which nothing arrives stands still for the whole window.
    runs["tcp_unsmoothness_max"] = runs["tcp_unsmoothness_max"].fillna(STANDSTILL)
    labels: pd.DataFrame = runs.assign(study=study, row=runs["sharing"])
    return labels.reindex(columns=crosses.columns_of(MEASURES))


def stalls() -> pd.DataFrame:
    """What held the flows of recorded runs up, as parts of their lives."""
    found = []
    for study, levels in RECORDED:
        campaign = Campaign.load(HERE / f"{study}.toml")
        point = next(each for each in campaign.points if each.levels == levels)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run.mlrec"
            manetlab.run(campaign.scenario(point.number, 0), record=str(path))
            shares = manetlab.recording.open(path).stall_shares().to_pandas()
        by_cause = (
            shares.assign(reason=shares["reason"].fillna("")).groupby(["cause", "reason"])["share"].sum()
        )
        column = ", ".join(levels[name] for name in levels if name != "sharing")
        where = {"study": study, "column": column, "row": levels["sharing"]}
        found.append(by_cause.reset_index().assign(**where))
    whole: pd.DataFrame = pd.concat(found)
    return whole


def page(runs: pd.DataFrame, held: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    parts = [said["head"]]
    for study in (AREAS, PAIRS):
        of_part = runs[runs["study"] == study]
        parts.append(said[study].format(**crosses.facts(of_part)))
        asks = [Ask(study, "column", "sharing", *shown) for shown in SHOWN]
        parts += [crosses.table(of_part, ask).to_markdown() for ask in asks]
        parts.append(said[f"{study} read"])
    parts += [said["held"], held_table(held).to_markdown(), said["held read"]]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def held_table(held: pd.DataFrame) -> Table:
    """What held flows up: the causes that take a hundredth of their lives somewhere."""
    places = list(dict.fromkeys(zip(held["study"], held["column"], held["row"], strict=True)))
    shown = Table(
        "What held the flows up, % of their lives, one run each",
        (
            "cause",
            *(f"{'areas' if study == AREAS else 'pairs'}, {column}: {row}" for study, column, row in places),
        ),
    )
    for cause, reason in sorted(set(zip(held["cause"], held["reason"], strict=True))):
        of_cause = held[(held["cause"] == cause) & (held["reason"] == reason)]
        if of_cause["share"].max() < 0.01:
            continue
        cells = []
        for study, column, row in places:
            here = (of_cause["study"] == study) & (of_cause["column"] == column) & (of_cause["row"] == row)
            cells.append(f"{100 * of_cause[here]['share'].sum():.1f}")
        shown.add(f"{cause}, {reason}" if reason else cause, *cells)
    return shown


if __name__ == "__main__":
    main()
