"""``manetlab demo``."""

from __future__ import annotations

import click

from manetlab.cli import options


@click.command()
@options.JOBS
def demo(jobs: int | None) -> None:
    """Compare three TCP senders over AODV in ten networks.

    They are Reno, Reno with a fixed retransmission timeout, and Reno-F, which also has SACK and
    delayed ACKs.
    """
    from manetlab import demo as experiment
    from manetlab.cli.progress import run_with_bar
    from manetlab.tables import stdout_console

    results = run_with_bar(experiment.scenarios(), "runs", jobs)
    experiment.table(results).print(stdout_console())
