"""Why segments were lost, as senders and receivers guess it: ``python -m studies.loss_causes``.

It writes the page from the kept results in papers/studies/kept. With ``--stores`` it first runs what is
missing, and keeps it.
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
WORDS, KEPT, PAGE = (
    HERE / "loss-causes-words.md",
    HERE / "kept" / "loss-causes.parquet",
    Path("loss-causes.md"),
)
MEASURES = [
    "tcp_throughput_bps",
    "tcp_timeouts",
    "tcp_congestion_accuracy",
    "tcp_wireless_accuracy",
    "tcp_judged_congestion_losses",
    "tcp_judged_wireless_losses",
    "tcp_judged_others",
]
TO_MOBILE = ("loss-to-mobile", "loss", "sender")
FROM_MOBILE = ("loss-from-mobile", "loss", "sender")
AD_HOC = ("loss-ad-hoc", "speed", "sender")
FEWEST_GUESSES = 5
"""With fewer of them in a run a share says too little."""
STUDIES = {"to": TO_MOBILE, "from": FROM_MOBILE, "ad hoc": AD_HOC}
"""By the part of the page: the study, and its two factors."""


def asks(study: tuple[str, str, str]) -> list[Ask]:
    """The tables of a study."""
    return [
        Ask(*study, "A_c + A_w − 1: 0 is a coin, 1 is always right", "beyond_coin", 1.0, 2),
        Ask(*study, "A_c, %", "tcp_congestion_accuracy", 100.0, 0),
        Ask(*study, "1 − A_w, %", "wireless_mistaken", 100.0, 0),
        Ask(*study, "Guesses about congestion losses", "tcp_judged_congestion_losses", 1.0, 0),
        Ask(*study, "Guesses about wireless losses", "tcp_judged_wireless_losses", 1.0, 0),
        Ask(*study, "TCP throughput, kb/s", "tcp_throughput_bps", 1e-3, 0, True),
        Ask(*study, "Timeouts", "tcp_timeouts", 1.0, 0),
    ]


@click.command()
@click.option(
    "--stores", type=options.PATH, help="Run what is missing, with stores in this folder, and keep it."
)
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(stores: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaigns, and write the page."""
    if stores is not None:
        runs = pd.concat([crosses.made(*study, MEASURES, stores, jobs) for study in STUDIES.values()])
        write_kept(runs, KEPT)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT)))


def page(runs: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    right = known(runs, "tcp_congestion_accuracy", "tcp_judged_congestion_losses")
    mistaken = 1.0 - known(runs, "tcp_wireless_accuracy", "tcp_judged_wireless_losses")
    runs = runs.assign(
        tcp_congestion_accuracy=right, wireless_mistaken=mistaken, beyond_coin=right - mistaken
    )
    parts = [said["head"]]
    for part, study in STUDIES.items():
        of_part = runs[runs["study"] == study[0]]
        parts.append(said[part].format(**crosses.facts(of_part)))
        parts += [crosses.table(of_part, ask).to_markdown() for ask in asks(study)]
        parts.append(said[f"{part} read"])
    return "\n\n".join(part.strip() for part in parts) + "\n"


def known(runs: pd.DataFrame, share: str, guesses: str) -> pd.Series:
    """A share where all runs of a cell have enough guesses to say it; none elsewhere."""
    fewest = runs.groupby(["study", "column", "row"])[guesses].transform("min")
    return runs[share].where(fewest >= FEWEST_GUESSES)


if __name__ == "__main__":
    main()
