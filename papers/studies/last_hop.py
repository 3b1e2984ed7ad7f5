"""What helps TCP over a lossy last hop, split connections among it: ``python -m studies.last_hop``.

It writes the page from the kept results in papers/studies/kept. With ``--stores`` it first runs what is
missing, and keeps it.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from manetlab.cli import options
from manetlab.files import write_text
from manetlab.stats import paired_ratio
from manetlab.tables import Table
from studies import crosses
from studies.crosses import Ask
from studies.pages import words
from studies.runs import write_kept

HERE = Path(__file__).parent
WORDS, KEPT, PAGE = HERE / "last-hop-words.md", HERE / "kept" / "last-hop.parquet", Path("last-hop.md")
MEASURES = [
    "tcp_throughput_bps",
    "tcp_goodput",
    "tcp_timeouts",
    "tcp_retransmissions",
    "tcp_acked_undelivered_bytes",
    "tcp_acked_undelivered_max_bytes",
]
ERRORS = ("last-hop", "errors", "scheme")
DELAYS = ("last-hop-delays", "delay", "scheme")
M_TCP = ("last-hop-m-tcp", "errors", "scheme")
OUTAGES = ("last-hop-outages", "off", "scheme")
STUDIES = (ERRORS, DELAYS, M_TCP, OUTAGES)
ASKS = {
    "errors": [
        Ask(*ERRORS, "TCP throughput, kb/s, by bit error rate", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*ERRORS, "Timeouts of the source, by bit error rate", "tcp_timeouts", 1.0, 1),
    ],
    "delays": [
        Ask(*DELAYS, "TCP throughput, kb/s, by the wire's delay in ms", "tcp_throughput_bps", 1e-3, 0, True),
    ],
    "price": [
        Ask(
            *ERRORS,
            "Acknowledged and not delivered at the end of the run, kB, by bit error rate",
            "tcp_acked_undelivered_bytes",
            1e-3,
            1,
        ),
        Ask(
            *ERRORS,
            "The maximum of that in a run, kB, by bit error rate",
            "tcp_acked_undelivered_max_bytes",
            1e-3,
            1,
        ),
    ],
    "m-tcp": [
        Ask(*M_TCP, "TCP throughput, kb/s, by bit error rate", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*OUTAGES, "TCP throughput, kb/s, by the mean time off in s", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*OUTAGES, "Timeouts of the source, by the mean time off in s", "tcp_timeouts", 1.0, 1),
        Ask(
            *OUTAGES,
            "The maximum acknowledged and not delivered in a run, kB, by the mean time off in s",
            "tcp_acked_undelivered_max_bytes",
            1e-3,
            1,
        ),
    ],
}
"""By the part of the page: its tables."""
QUOTED = [
    ("SACK over Reno", "SACK", "Reno", "24"),
    ("ELN over Reno", "ELN", "Reno", "25"),
    ("snoop over link-layer ARQ", "snoop", "link-layer ARQ", "10 to 30"),
]
"""What the dissertation quotes: the name, a scheme, that which it is compared with, and the gain in %."""


@click.command()
@click.option(
    "--stores", type=options.PATH, help="Run what is missing, with stores in this folder, and keep it."
)
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(stores: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaigns, and write the page."""
    if stores is not None:
        runs = pd.concat([crosses.made(*study, MEASURES, stores, jobs) for study in STUDIES])
        write_kept(runs, KEPT)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT)))


def page(runs: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    parts = [said["head"].format(**crosses.facts(runs)), quoted(runs).to_markdown(), said["quoted read"]]
    for part, asks in ASKS.items():
        parts.append(said[part])
        for ask in asks:
            # Only split connections have a price.
            shown = runs[(runs["study"] == ask.study) & runs[ask.measure].notna()]
            parts.append(crosses.table(shown, ask).to_markdown())
        parts.append(said[f"{part} read"])
    return "\n\n".join(part.strip() for part in parts) + "\n"


def quoted(runs: pd.DataFrame) -> Table:
    """What is quoted beside the gains at the quoted study's error rate, by the wire's delay."""
    of_delays = runs[runs["study"] == DELAYS[0]]
    delays = list(dict.fromkeys(of_delays["column"]))
    shown = Table(
        "Gains in throughput, %, at 1.9 × 10⁻⁶, by the wire's delay in ms", ("gain", "quoted", *delays)
    )
    for name, scheme, other, gain in QUOTED:
        shown.add(name, gain, *(gain_in_percent(of_delays, delay, scheme, other) for delay in delays))
    return shown


def gain_in_percent(runs: pd.DataFrame, column: str, scheme: str, other: str) -> str:
    """How much more a scheme carries than another, in %, with its interval."""
    ours, theirs = (crosses.values_of(runs, ASKS["delays"][0], column, row) for row in (scheme, other))
    ratio = paired_ratio(ours, theirs)
    mean, low, high = (100 * (each - 1) for each in (ratio.mean, ratio.low, ratio.high))
    return f"{mean:+.0f} ({low:+.0f} to {high:+.0f})"


if __name__ == "__main__":
    main()
