"""Which routing protocol for people on foot, vehicles and drones: ``python -m studies.which_protocol``.

It writes the page and its figure from the kept results in papers/studies/kept. With ``--store`` it first
draws the movement, runs what is missing, looks into recordings, and keeps all of it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd

from manetlab import palette, recording
from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.links import is_good, is_grey, links
from manetlab.recording import RecordTo
from manetlab.running import run
from manetlab.stats import WithBest, compare_with_best, mean_interval
from manetlab.tables import Table
from studies.pages import chart, words
from studies.runs import with_code, write_kept
from studies.streets_and_flights import Flights, Streets, write

HERE = Path(__file__).parent
CAMPAIGN, WORDS = HERE / "which-protocol.toml", HERE / "which-protocol-words.md"
KEPT, LOOKS = HERE / "kept" / "which-protocol.parquet", HERE / "kept" / "which-protocol-looks.csv"
DOCS = HERE.parents[1] / "docs"
MOVEMENT = HERE.parents[1] / "out" / "which-protocol"
PAGE, FIGURE = Path("which-protocol.md"), Path("figures/which-protocol.svg")
PLACES = ["who", "load", "protocol"]
MEASURES = [
    "cbr_delivery_fraction",
    "cbr_latency_mean_s",
    "cbr_latency_p95_s",
    "tcp_throughput_bps",
    "hops_mean",
    "normalised_routing_load",
]
COLUMNS = [*PLACES, "replication", "seed", *MEASURES, "result_hash", "code", "cpu_time_s"]
LOOKED_AT = 3
"""How many replications are looked into."""
TOWN = Streets(40, (8, 4), 100.0, (5.0, 15.0), wait_share=0.3, wait_s=20.0)
SKY = Flights(40, (3500.0, 2000.0), (40.0, 120.0), speed_mps=15.0, speed_spread_mps=3.0, memory=0.85)
DURATION_S = 120.0
GAP_S = 0.5
"""Two packets in a row of a CBR flow: what is shorter than this is a lost packet, not a gap."""


@dataclass(frozen=True)
class Ask:
    """What is asked for: a measure under one load, and how a table writes it."""

    title: str
    load: str
    measure: str
    unit: str
    text: Callable[[float], str]
    is_more_better: bool = True


ASKS = (
    Ask("CBR packets that arrive, alone", "CBR", "cbr_delivery_fraction", "%", lambda x: f"{100 * x:.1f}"),
    Ask("TCP throughput, alone", "TCP", "tcp_throughput_bps", "kb/s", lambda x: f"{1e-3 * x:.0f}"),
    Ask(
        "CBR packets that arrive beside TCP",
        "mixed",
        "cbr_delivery_fraction",
        "%",
        lambda x: f"{100 * x:.1f}",
    ),
    Ask("TCP throughput beside CBR", "mixed", "tcp_throughput_bps", "kb/s", lambda x: f"{1e-3 * x:.0f}"),
    Ask("Delay of CBR packets, alone", "CBR", "cbr_latency_mean_s", "ms", lambda x: f"{1e3 * x:.0f}", False),
)


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


def campaign() -> Campaign:
    """The campaign, whose movement files are drawn first."""
    write(TOWN.tracks, DURATION_S, MOVEMENT / "vehicles", 8)
    write(SKY.tracks, DURATION_S, MOVEMENT / "drones", 8)
    return Campaign.load(CAMPAIGN)


def keep(store: Path, jobs: int | None) -> None:
    """Runs the protocols that are not kept, looks into recordings, and keeps what comes out."""
    whole = campaign()
    kept = pd.read_parquet(KEPT) if KEPT.exists() else None
    missing = [each for each in whole.factors["protocol"] if not _is_kept(kept, whole, each["label"])]
    if not missing:
        return
    made = whole.changed(factors={**whole.factors, "protocol": missing})
    results = made.run(store, jobs=jobs)
    runs = with_code(results)
    KEPT.parent.mkdir(exist_ok=True)
    write_kept(_joined(whole, kept, runs[COLUMNS]), KEPT)
    looked = pd.read_csv(LOOKS) if LOOKS.exists() else None
    new = pd.DataFrame(looks(made))
    _joined(whole, looked, new).to_csv(LOOKS, index=False, float_format="%.6g")


def _is_kept(runs: pd.DataFrame | None, whole: Campaign, protocol: str) -> bool:
    if runs is None:
        return False
    wanted = math.prod(len(levels) for name, levels in whole.factors.items() if name != "protocol")
    return len(runs[runs["protocol"] == protocol]) == wanted * whole.replications


def _joined(whole: Campaign, kept: pd.DataFrame | None, new: pd.DataFrame) -> pd.DataFrame:
    """Both, in the order of the campaign; what is new takes the place of what was kept."""
    old = [] if kept is None else [kept[~kept["protocol"].isin(set(new["protocol"]))]]
    both = pd.concat([*old, new], ignore_index=True)
    orders = {
        name: {each["label"]: place for place, each in enumerate(whole.factors[name])} for name in PLACES
    }
    places = pd.DataFrame({name: both[name].map(orders[name]) for name in PLACES})
    places["replication"] = both["replication"]
    return both.loc[places.sort_values([*PLACES, "replication"]).index].reset_index(drop=True)


def looks(made: Campaign) -> Iterator[dict[str, Any]]:
    """What the recordings of the first replications with CBR alone show, a row each."""
    for point in made.points:
        if point.levels["load"] == "CBR":
            for replication in range(LOOKED_AT):
                levels = {name: point.levels[name] for name in PLACES}
                yield {**levels, "replication": replication, **look(made, point.number, replication)}


def look(made: Campaign, point: int, replication: int) -> dict[str, float]:
    """One run: how the air is used, for how long nothing of a flow arrives, and what its links are."""
    resolved = made.scenario(point, replication).resolve()
    warmup_s, duration_s = resolved.scenario.warmup_s, resolved.scenario.duration_s
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "look.mlrec"
        run(resolved, record=RecordTo(file, kinds=("made", "delivered", "frame"), from_s=warmup_s))
        opened = recording.open(file)
        frames = opened.events("frame").to_pandas()
        packets = {kind: opened.events(kind).to_pandas() for kind in ("made", "delivered")}
    air_s = frames.groupby("for")["airtime_s"].sum() / (duration_s - warmup_s)
    gaps_s = list(gaps(packets["made"], packets["delivered"]))
    found = links(resolved, duration_s / 2)
    nodes = resolved.movement.nodes
    return {
        "air_data": float(air_s.get("data", 0.0)),
        "air_routing": float(air_s.get("routing", 0.0)),
        "gaps": len(gaps_s),
        "gap_median_s": float(pd.Series(gaps_s).median()) if gaps_s else math.nan,
        "gap_share": sum(gaps_s) / (duration_s - warmup_s) / max(1, _flows(packets["made"])),
        "good_links": sum(map(is_good, found)) / nodes,
        "grey_links": sum(map(is_grey, found)) / nodes,
    }


def _flows(made: pd.DataFrame) -> int:
    cbr = made[made["what"] == "cbr"]
    return len(cbr.groupby(["src", "dst"]))


def gaps(made: pd.DataFrame, delivered: pd.DataFrame) -> Iterator[float]:
    """How long nothing of a CBR flow arrived, in s: from the first packet lost to the next that arrives.

    A gap begins with the making of the first of at least two packets in a row that are lost. One that lasts
    to the end of the run is counted up to the last packet.
    """
    cbr = made[made["what"] == "cbr"]
    arrived = set(delivered.loc[delivered["what"] == "cbr", "uid"])
    for _, flow in cbr.groupby(["src", "dst"]):
        since: float | None = None
        for time_s, uid in zip(flow["time_s"], flow["uid"], strict=True):
            if uid in arrived:
                if since is not None and time_s - since >= GAP_S - 1e-9:
                    yield time_s - since
                since = None
            elif since is None:
                since = time_s
        last_s = flow["time_s"].iloc[-1]
        if since is not None and last_s - since >= GAP_S - 1e-9:
            yield last_s - since


def page(runs: pd.DataFrame, looked: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    facts = {
        "runs": len(runs),
        "replications": runs["replication"].nunique(),
        "minutes": f"{runs['cpu_time_s'].sum() / 60:.0f}",
        "looked_at": LOOKED_AT,
        "pairs": math.comb(len(_levels(runs, "protocol")), 2),
    }
    parts = [
        said["head"].format(**facts),
        links_table(looked).to_markdown(),
        said["best"].format(**facts),
        f"![CBR packets that arrive and TCP throughput, by who moves and protocol]({FIGURE})",
        *(asked(runs, each).to_markdown() for each in ASKS),
        said["reading"],
        said["looks"].format(**facts),
        gaps_table(looked).to_markdown(),
        air_table(looked).to_markdown(),
        said["why"],
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _levels(runs: pd.DataFrame, factor: str) -> list[str]:
    return list(dict.fromkeys(runs[factor]))


def values(runs: pd.DataFrame, who: str, ask: Ask) -> dict[str, list[float]]:
    """The measure of every replication, by protocol.

    Raises:
        ValueError: Replications of a protocol are missing.
    """
    chosen = runs[(runs["who"] == who) & (runs["load"] == ask.load)].sort_values("replication")
    made = {
        str(protocol): [float(value) for value in found[ask.measure]]
        for protocol, found in chosen.groupby("protocol", sort=False)
    }
    if len({len(found) for found in made.values()}) != 1:
        raise ValueError("runs are missing: run the campaign first")
    return made


def standing(runs: pd.DataFrame, who: str, ask: Ask) -> dict[str, WithBest]:
    """Each protocol beside the best of the others; the statements on one column hold together, at 95 %."""
    made = compare_with_best(values(runs, who, ask), higher_is_better=ask.is_more_better)
    return {each.name: each for each in made}


def asked(runs: pd.DataFrame, ask: Ask) -> Table:
    """One measure of all protocols; those that can be the best stand out."""
    whos = _levels(runs, "who")
    table = Table(f"{ask.title}, {ask.unit}", ("protocol", *whos))
    standings = {who: standing(runs, who, ask) for who in whos}
    for protocol in _levels(runs, "protocol"):
        cells = []
        for who in whos:
            mean = mean_interval(values(runs, who, ask)[protocol])
            text = f"{ask.text(mean.mean)} ± {ask.text(mean.half_width)}"
            cells.append(text if standings[who][protocol].verdict == "worse" else f"**{text}**")
        table.add(protocol, *cells)
    return table


def links_table(looked: pd.DataFrame) -> Table:
    """What the links are like."""
    columns = ("who", "good links of a node", "grey links of a node")
    table = Table("Links, at half time", columns)
    for who, found in looked.groupby("who", sort=False):
        table.add(str(who), f"{found['good_links'].mean():.1f}", f"{found['grey_links'].mean():.1f}")
    return table


def gaps_table(looked: pd.DataFrame) -> Table:
    """For how long nothing arrives, with CBR alone."""
    return _looked(
        looked,
        "Gaps of CBR flows, alone: median in s (share of the time)",
        lambda found: f"{found['gap_median_s'].mean():.1f} ({100 * found['gap_share'].mean():.0f} %)",
    )


def air_table(looked: pd.DataFrame) -> Table:
    """What fills the air, with CBR alone."""
    return _looked(
        looked,
        "Air time with CBR alone, in seconds a second: data (routing)",
        lambda found: f"{found['air_data'].mean():.2f} ({found['air_routing'].mean():.3f})",
    )


def _looked(looked: pd.DataFrame, title: str, text: Callable[[pd.DataFrame], str]) -> Table:
    whos = _levels(looked, "who")
    table = Table(title, ("protocol", *whos))
    for protocol in _levels(looked, "protocol"):
        own = looked[looked["protocol"] == protocol]
        table.add(protocol, *(text(own[own["who"] == who]) for who in whos))
    return table


def draw(runs: pd.DataFrame, path: Path) -> None:
    """Draws what arrives with one kind of traffic alone, by who moves and protocol."""
    from manetlab.plots import MARKERS

    whos, protocols = _levels(runs, "who"), _levels(runs, "protocol")
    with chart(path, 7.2, 3.8) as figure:
        panels = figure.subplots(1, 2)
        for axes, ask, scale, label in zip(
            panels,
            ASKS[:2],
            (100.0, 1e-3),
            ("CBR packets that arrive, %", "TCP throughput, kb/s"),
            strict=True,
        ):
            for place, protocol in enumerate(protocols):
                found = [mean_interval(values(runs, who, ask)[protocol]) for who in whos]
                axes.errorbar(
                    [index + 0.08 * (place - 4) for index in range(len(whos))],
                    [scale * each.mean for each in found],
                    yerr=[scale * each.half_width for each in found],
                    color=palette.ON_LIGHT[place % len(palette.ON_LIGHT)],
                    marker=MARKERS[place % len(MARKERS)],
                    markerfacecolor="white" if place >= len(palette.ON_LIGHT) else None,
                    markersize=4,
                    linestyle="none",
                    label=protocol,
                )
            axes.set_xticks(range(len(whos)), whos)
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0.0)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)


if __name__ == "__main__":
    main()
