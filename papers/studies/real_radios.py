"""What radios that are not discs do to routing: ``python -m studies.real_radios``.

It writes the page and its figure from the kept results in papers/studies/kept. With ``--store`` it first runs
what is missing, looks into recordings, and keeps all of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd

from manetlab import palette
from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.links import is_good, is_grey, links
from manetlab.running import run
from manetlab.stats import mean_interval, paired_difference
from manetlab.tables import Table, with_minus
from studies.pages import chart, words
from studies.runs import with_code, write_kept

HERE = Path(__file__).parent
CAMPAIGN, WORDS = HERE / "real-radios.toml", HERE / "real-radios-words.md"
KEPT, LOOKS = HERE / "kept" / "real-radios.parquet", HERE / "kept" / "real-radios-looks.csv"
DOCS = HERE.parents[1] / "docs"
PAGE, FIGURE = Path("real-radios.md"), Path("figures/real-radios.svg")
MEASURES = [
    "cbr_delivery_fraction",
    "cbr_latency_mean_s",
    "hops_mean",
    "normalised_routing_load",
    "frames_per_delivered_packet",
]
COLUMNS = ["surroundings", "system", "replication", "seed", *MEASURES, "result_hash", "code", "cpu_time_s"]
LOOKED_AT = 2
"""How many replications are looked into."""
REFERENCE = "AODV, link feedback"


@click.command()
@click.option("--store", type=options.PATH, help="Run what is missing, with this store, and keep it.")
@click.option("--docs", type=options.PATH, default=DOCS, help="Folder of the page.")
@options.JOBS
def main(store: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaign, and write its page and figure."""
    if store is not None:
        keep(store, jobs)
    runs, looks = pd.read_parquet(KEPT), pd.read_csv(LOOKS)
    draw(runs, docs / FIGURE)
    write_text(docs / PAGE, page(runs, looks))


def keep(store: Path, jobs: int | None) -> None:
    """Runs what is missing, looks into recordings, and keeps what comes out."""
    campaign = Campaign.load(CAMPAIGN)
    results = campaign.run(store, jobs=jobs)
    runs = with_code(results)
    KEPT.parent.mkdir(exist_ok=True)
    write_kept(runs[COLUMNS], KEPT)
    pd.DataFrame(looks(campaign)).to_csv(LOOKS, index=False, float_format="%.6g")


def looks(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """What the recordings of the first replications show, a row each."""
    levels = [[level["label"] for level in campaign.factors[name]] for name in ("surroundings", "system")]
    labels = [(one, other) for one in levels[0] for other in levels[1]]
    for point, (surroundings, system) in enumerate(labels):
        for replication in range(LOOKED_AT):
            yield {
                "surroundings": surroundings,
                "system": system,
                "replication": replication,
                **look(campaign, point, replication),
            }


def look(campaign: Campaign, point: int, replication: int) -> dict[str, float]:
    """One run: how long hops are, how many frames arrive, how often links are given up; its links."""
    resolved = campaign.scenario(point, replication).resolve()
    recording = run(resolved, record=True).recording
    assert recording is not None
    warmup_s, duration_s = resolved.scenario.warmup_s, resolved.scenario.duration_s
    frames = received = given_up = 0
    lengths_m: list[float] = []
    for line in recording.splitlines()[1:]:
        event = json.loads(line)
        if event["t"] < warmup_s:
            continue
        kind = event["event"]
        if kind == "frame" and event["kind"] == "data" and event["for"] == "data":
            frames += 1
            received += event["receivers"].get(str(event["to"])) == "received"
            places = resolved.movement.positions(round(event["t"], 1))
            lengths_m.append(math.dist(places[event["node"]], places[event["to"]]))
        given_up += kind == "route-failed" and not event["told"]
    found = links(resolved, duration_s / 2)
    nodes = resolved.movement.nodes
    return {
        "neighbours": sum(each.delivery for each in found) / nodes,
        "grey_links": sum(map(is_grey, found)) / max(1, sum(map(is_grey, found)) + sum(map(is_good, found))),
        "hop_m": sum(lengths_m) / max(1, len(lengths_m)),
        "frames_received": received / max(1, frames),
        "failures_per_minute": 60.0 * given_up / (duration_s - warmup_s),
    }


def page(runs: pd.DataFrame, looked: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    facts = {
        "runs": len(runs),
        "replications": runs["replication"].nunique(),
        "seconds": f"{runs['cpu_time_s'].sum():.0f}",
        "looked_at": LOOKED_AT,
    }
    parts = [
        said["head"].format(**facts),
        f"![Share of CBR packets that arrive, by surroundings and protocol]({FIGURE})",
        delivery(runs).to_markdown(),
        said["reading"],
        costs(runs).to_markdown(),
        said["looks"].format(**facts),
        recorded(looked).to_markdown(),
        said["why"],
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _of(runs: pd.DataFrame, surroundings: str, system: str, measure: str) -> list[float]:
    found = runs[(runs["surroundings"] == surroundings) & (runs["system"] == system)]
    return [float(value) for value in found.sort_values("replication")[measure]]


def _levels(runs: pd.DataFrame) -> tuple[list[str], list[str]]:
    return list(dict.fromkeys(runs["surroundings"])), list(dict.fromkeys(runs["system"]))


def delivery(runs: pd.DataFrame) -> Table:
    """The share of packets that arrive, with the rank, and the difference to the reference."""
    surroundings, systems = _levels(runs)
    table = Table("CBR packets that arrive", ("protocol", *surroundings))
    means = {
        (place, system): mean_interval(_of(runs, place, system, MEASURES[0]))
        for place in surroundings
        for system in systems
    }
    for system in systems:
        cells = []
        for place in surroundings:
            order = sorted(systems, key=lambda each: -means[place, each].mean)
            mean, half = means[place, system].mean, means[place, system].half_width
            text = f"{order.index(system) + 1}. {100 * mean:.1f} ± {100 * half:.1f} %"
            if system != REFERENCE:
                ours, theirs = (_of(runs, place, each, MEASURES[0]) for each in (system, REFERENCE))
                gap = paired_difference(ours, theirs).difference
                text += f" ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
            cells.append(with_minus(text))
        table.add(system, *cells)
    return table


def costs(runs: pd.DataFrame) -> Table:
    """What delivery costs."""
    surroundings, systems = _levels(runs)
    columns = ("surroundings, protocol", "hops", "delay, ms", "routing packets a packet", "frames a packet")
    table = Table("What it costs", columns)
    for place in surroundings:
        for system in systems:
            latency, hops, load, frames = (
                mean_interval(_of(runs, place, system, measure)).mean for measure in MEASURES[1:]
            )
            table.add(
                f"{place}, {system}", f"{hops:.2f}", f"{1e3 * latency:.0f}", f"{load:.2f}", f"{frames:.2f}"
            )
    return table


def recorded(looked: pd.DataFrame) -> Table:
    """What the recordings show."""
    columns = (
        "surroundings, protocol",
        "receivers of a frame",
        "grey links",
        "length of a hop, m",
        "data frames that arrive",
        "routes given up a minute",
    )
    table = Table("What the recordings show", columns)
    measures = ["neighbours", "grey_links", "hop_m", "frames_received", "failures_per_minute"]
    for (place, system), found in looked.groupby(["surroundings", "system"], sort=False):
        neighbours, grey, hop_m, share, failures = (found[name].mean() for name in measures)
        shown = (
            f"{neighbours:.1f}",
            f"{100 * grey:.0f} %",
            f"{hop_m:.0f}",
            f"{100 * share:.0f} %",
            f"{failures:.0f}",
        )
        table.add(f"{place}, {system}", *shown)
    return table


def draw(runs: pd.DataFrame, path: Path) -> None:
    """Draws the share of packets that arrive, by surroundings and protocol."""
    from manetlab.plots import MARKERS

    surroundings, systems = _levels(runs)
    with chart(path, 6.4, 3.4) as figure:
        axes = figure.subplots()
        for place, system in enumerate(systems):
            found = [mean_interval(_of(runs, each, system, MEASURES[0])) for each in surroundings]
            at = [index + 0.08 * (place - 1.5) for index in range(len(surroundings))]
            axes.errorbar(
                at,
                [100 * each.mean for each in found],
                yerr=[100 * each.half_width for each in found],
                color=palette.ON_LIGHT[place],
                marker=MARKERS[place],
                markersize=4,
                label=system,
            )
        axes.set_xticks(range(len(surroundings)), surroundings)
        axes.set_ylabel("CBR packets that arrive, %")
        axes.legend()


if __name__ == "__main__":
    main()
