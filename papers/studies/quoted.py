"""What the papers quote of other studies, asked here: ``python -m studies.quoted``.

It writes the page from the kept results in papers/studies/kept. With ``--stores`` it first runs what is
missing, of all studies or of one, and keeps it.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from manetlab.cli import options
from manetlab.files import write_text
from studies import crosses
from studies.crosses import Ask
from studies.pages import words
from studies.runs import write_kept

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


TORA = ("quoted-tora", "sources", "protocol")
TCP = ("quoted-tcp", "speed", "protocol")
EIFEL = ("quoted-eifel", "protocol", "sender")
ACCESS = ("quoted-access", "hops", "access")
STUDIES = (TORA, TCP, EIFEL, ACCESS)
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
    "access": [
        Ask(*ACCESS, "TCP throughput, kb/s, by hops", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*ACCESS, "Timeouts in 120 s, by hops", "tcp_timeouts", 1.0, 0),
    ],
}
"""By the part of the page: its tables."""


@click.command()
@click.option(
    "--stores", type=options.PATH, help="Run what is missing, with stores in this folder, and keep it."
)
@click.option("--study", type=click.Choice([study[0] for study in STUDIES]), help="Run this one alone.")
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(stores: Path | None, study: str | None, docs: Path, jobs: int | None) -> None:
    """Run the campaigns, and write the page."""
    if stores is not None:
        kept = pd.read_parquet(KEPT)
        runs = [
            crosses.made(*each, MEASURES, stores, jobs)
            if study in (None, each[0])
            else kept[kept["study"] == each[0]]
            for each in STUDIES
        ]
        write_kept(pd.concat(runs), KEPT)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT)))


def page(runs: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    parts = [said["head"]]
    for part, asks in ASKS.items():
        of_part = runs[runs["study"] == asks[0].study]
        parts.append(said[part].format(**crosses.facts(of_part)))
        parts += [crosses.table(of_part, ask).to_markdown() for ask in asks]
        parts.append(said[f"{part} read"])
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    main()
