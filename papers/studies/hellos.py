"""What HELLOs do to TCP, over DYMO as over AODV: ``python -m studies.hellos``.

It writes the page and its figure from the kept results in papers/studies/kept. With ``--store`` it first runs
what is missing, and keeps it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pandas as pd

from manetlab import palette
from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.stats import mean_interval, paired_difference, unfairness
from manetlab.tables import Table, with_minus
from studies.horizon import is_admissible
from studies.pages import chart, words
from studies.runs import with_code, write_kept

HERE = Path(__file__).parent
CAMPAIGN, WORDS, KEPT = HERE / "hellos.toml", HERE / "hellos-words.md", HERE / "kept" / "hellos.parquet"
DOCS = HERE.parents[1] / "docs"
PAGE, FIGURE = Path("hellos.md"), Path("figures/hellos.svg")
PLACES = ["system", "flows", "nodes", "replication"]
COLUMNS = [
    *PLACES,
    *("seed", "total_bps", "unsmoothness", "unfairness", "routing_packets_per_s"),
    *("result_hash", "code", "cpu_time_s"),
]
WHOLE_BPS = 360_600.0
"""What one flow carries alone, of which the rates in the campaign are equal parts, in bit/s."""
FORWARDERS = "movement.areas.forwarders"
WITHOUT = {
    "DYMO, HELLO": "DYMO, link feedback",
    "DYMO, HELLO only": "DYMO, link feedback",
    "AODV, HELLO only": "AODV, link feedback",
}
"""The protocol without HELLOs that each with HELLOs is compared with."""


@click.command()
@click.option("--store", type=options.PATH, help="Run what is missing, with this store, and keep it.")
@click.option("--docs", type=options.PATH, default=DOCS, help="Folder of the page.")
@options.JOBS
def main(store: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaign, and write its page and figure."""
    if store is not None:
        keep(store, jobs)
    runs = pd.read_parquet(KEPT)
    draw(runs, docs / FIGURE)
    write_text(docs / PAGE, page(runs))


def keep(store: Path, jobs: int | None) -> None:
    """Runs what is missing, and keeps a line for each run."""
    results = Campaign.load(CAMPAIGN).run(store, jobs=jobs)
    runs = with_code(results)
    runs = runs.rename(columns={"tcp_throughput_bps": "total_bps", "tcp_unsmoothness_max": "unsmoothness"})
    runs["nodes"] = 2 * runs["flows"].astype(int) + runs[FORWARDERS].astype(int)
    got = results.flows.sort_values("flow").groupby(["point", "replication"])["throughput_bps"].agg(list)
    runs["unfairness"] = [
        unfairness(rates, [WHOLE_BPS / len(rates)] * len(rates))
        for rates in (got[each] for each in zip(runs["point"], runs["replication"], strict=True))
    ]
    write_kept(runs[COLUMNS], KEPT)


def page(runs: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    facts = {
        "runs": f"{len(runs):,}",
        "replications": runs["replication"].nunique(),
        "seconds": f"{runs['cpu_time_s'].sum():.0f}",
    }
    parts = [said["head"].format(**facts), f"![Unsmoothness of the worst flow, by network size]({FIGURE})"]
    parts += [smoothness(runs, flows).to_markdown() for flows in _all(runs, "flows")]
    parts += [said["reading"].format(**facts)]
    parts += [throughput(runs, flows).to_markdown() for flows in _all(runs, "flows")]
    return "\n\n".join(part.strip() for part in [*parts, said["why"]]) + "\n"


def _all(runs: pd.DataFrame, column: str) -> list[Any]:
    """The levels of a factor, in the order of the campaign."""
    return list(dict.fromkeys(runs[column]))


def _of(runs: pd.DataFrame, system: str, flows: int, nodes: int) -> pd.DataFrame:
    found = runs[(runs["system"] == system) & (runs["flows"] == flows) & (runs["nodes"] == nodes)]
    return found.sort_values("replication")


def _sizes(runs: pd.DataFrame, flows: int) -> list[int]:
    return sorted(set(runs[runs["flows"] == flows]["nodes"]))


def smoothness(runs: pd.DataFrame, flows: int) -> Table:
    """Unsmoothness and unfairness by size; what the paper calls admissible is bold."""
    sizes = _sizes(runs, flows)
    columns = (f"{flows} flows: unsmoothness, unfairness", *(f"{nodes} nodes" for nodes in sizes))
    table = Table(f"Unsmoothness with {flows} flows", columns)
    for system in _all(runs, "system"):
        cells = []
        for nodes in sizes:
            found = _of(runs, system, flows, nodes)
            served = found["unsmoothness"].dropna()
            mean = mean_interval([float(each) for each in served])
            text = f"{mean.mean:.2f} ± {mean.half_width:.2f}, {found['unfairness'].max():.2f}"
            if stuck := len(found) - len(served):
                text += f"; {stuck} got nothing"
            cells.append(f"**{text}**" if is_admissible(found) else text)
        table.add(system, *cells)
    return table


def throughput(runs: pd.DataFrame, flows: int) -> Table:
    """The throughput of all flows, and what HELLOs change of it."""
    sizes = _sizes(runs, flows)
    columns = (f"{flows} flows: throughput, kb/s", *(f"{nodes} nodes" for nodes in sizes))
    table = Table(f"Throughput with {flows} flows", columns)
    for system in _all(runs, "system"):
        cells = []
        for nodes in sizes:
            ours = [1e-3 * float(each) for each in _of(runs, system, flows, nodes)["total_bps"]]
            mean = mean_interval(ours)
            text = f"{mean.mean:.0f} ± {mean.half_width:.0f}"
            if other := WITHOUT.get(system):
                theirs = [1e-3 * float(each) for each in _of(runs, other, flows, nodes)["total_bps"]]
                gap = paired_difference(ours, theirs).difference
                text += f" ({gap.low:+.0f} to {gap.high:+.0f})"
            cells.append(with_minus(text))
        table.add(system, *cells)
    return table


def draw(runs: pd.DataFrame, path: Path) -> None:
    """Draws unsmoothness by size, a field for each number of flows."""
    from manetlab.plots import MARKERS

    with chart(path, 7.2, 3.4) as figure:
        fields = figure.subplots(1, 2, sharey=True)
        for axes, flows in zip(fields, _all(runs, "flows"), strict=True):
            sizes = _sizes(runs, flows)
            for place, system in enumerate(_all(runs, "system")):
                values = [_of(runs, system, flows, nodes)["unsmoothness"].dropna() for nodes in sizes]
                found = [mean_interval([float(one) for one in each]) for each in values]
                axes.errorbar(
                    [nodes + 0.25 * (place - 2) for nodes in sizes],
                    [each.mean for each in found],
                    yerr=[each.half_width for each in found],
                    color=palette.ON_LIGHT[place],
                    marker=MARKERS[place],
                    markersize=4,
                    label=system,
                )
            axes.axhline(1.0, color="0.6", linewidth=0.8, linestyle="--")
            axes.set_xlabel(f"nodes, {flows} flows")
        fields[0].set_ylabel("unsmoothness of the worst flow")
        fields[0].legend(fontsize=7)


if __name__ == "__main__":
    main()
