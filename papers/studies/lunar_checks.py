"""How LUNAR compares with AODV-UU in Figs 10 and 11 of Osipov, Tschudin: ``python -m studies.lunar_checks``.

It prints the tables of docs/models/lunar.md about this from the runs that are kept at the paper's size.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from manetlab.stats import mean_interval
from manetlab.tables import Table
from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale, parts
from manetlab_papers.kept_runs import KeptPart, load
from manetlab_papers.ledger import Ledger
from manetlab_papers.reproduce import kept_folder
from manetlab_papers.samples import Tables
from studies.lunar_guesses import APART, CAMPAIGNS, CLAIMS, OTHERS, ROUTING, evaluator, judged, show

FULL = Scale(full=True)
CHOSEN = {variant: variant for variant in ROUTING}
SYSTEMS = (*OTHERS, *ROUTING)
FLOWS = (2, 4, 6, 8)


@click.command()
def main() -> None:
    """Compare LUNAR and AODV-UU in the networks of the paper's Figs 10 and 11."""
    loaded = ledger.load()
    runs = {name: part.tables() for name, part in kept(loaded).items()}
    for table in tables(loaded, runs):
        click.echo(table.to_markdown())


def kept(loaded: Ledger) -> dict[str, KeptPart]:
    """What is kept of the campaigns at the paper's size, by their names."""
    folder = kept_folder()
    found = {}
    for name in (f"{name}{end}" for end in APART.values() for name in CAMPAIGNS):
        for part in parts(loaded, name, FULL):
            runs = None if folder is None else load(folder, FULL.name, part)
            if runs is None or not runs.is_complete:
                hint = "manetlab papers reproduce osipov2007 --full --keep"
                raise click.UsageError(f"not all runs of {name} are kept: {hint}")
            found[name] = runs
    return found


def tables(loaded: Ledger, runs: Mapping[str, Tables]) -> list[Table]:
    """The tables of docs/models/lunar.md."""
    return [borders(loaded, runs), loads(loaded, runs), verdicts(loaded, runs)]


def borders(loaded: Ledger, runs: Mapping[str, Tables]) -> Table:
    """The right borders of all protocols."""
    heads = [f"{flows} flows, {apart} m" for apart in APART for flows in FLOWS]
    table = Table("Right border, nodes", ("routing", *heads), text_columns=1)
    for system in SYSTEMS:
        found = [
            evaluator(loaded, runs, apart, CHOSEN).computed(
                {"quantity": "osipov-border", "system": system, "flows": flows}
            )
            for apart in APART
            for flows in FLOWS
        ]
        table.add(system, *(f"{each:.0f}" if each else "none" for each in found))
    return table


def loads(loaded: Ledger, runs: Mapping[str, Tables]) -> Table:
    """The equivalent routing loads of all protocols."""
    heads = [f"{flows} flows, {apart} m" for apart in APART for flows in FLOWS]
    table = Table("Equivalent routing load, %", ("routing", *heads), text_columns=1)
    for system in SYSTEMS:
        found = [
            mean_interval(
                evaluator(loaded, runs, apart, CHOSEN).values(
                    {"quantity": "osipov-load", "system": system, "flows": flows}
                )
            )
            for apart in APART
            for flows in FLOWS
        ]
        table.add(system, *(show(each, 1) for each in found))
    table.notes.append("At the right border; where there is none, in the smallest network.")
    return table


def verdicts(loaded: Ledger, runs: Mapping[str, Tables]) -> Table:
    """The paper's claims about LUNAR, judged at both distances."""
    table = Table("Verdicts", ("areas", *CLAIMS), text_columns=1 + len(CLAIMS))
    for apart in APART:
        table.add(f"{apart} m apart", *judged(loaded, runs, apart, CHOSEN).values())
    return table


if __name__ == "__main__":
    main()
