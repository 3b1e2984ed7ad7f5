"""Links against geometric mobility, and routing protocols in three settings: ``python -m studies.movement``.

It writes the page from the kept results in papers/studies/kept. With ``--store`` it first runs what is
missing and looks at the links again, and keeps both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd

from manetlab.campaign import Campaign, Results
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.scenario import Scenario
from manetlab.stats import compare_with_best, mean_interval
from manetlab.tables import Table
from manetlab.topology import report
from studies.pages import words
from studies.runs import with_code, write_kept

HERE = Path(__file__).parent
CAMPAIGN, WORDS = HERE / "movement.toml", HERE / "movement-words.md"
KEPT, LINKS = HERE / "kept" / "movement.parquet", HERE / "kept" / "movement-links.csv"
LOSSES = HERE / "kept" / "movement-losses.csv"
PAGE = Path("movement.md")
PLACES = ["preset", "protocol"]
MEASURES = ["cbr_delivery_fraction", "cbr_latency_mean_s", "normalised_routing_load", "hops_mean"]
COLUMNS = [*PLACES, "replication", "seed", *MEASURES, "result_hash", "code", "cpu_time_s"]
NODES, SIDE_M, RANGE_M, DURATION_S, SEEDS = 50, 1000.0, 250.0, 600.0, 5
SPEEDS_MPS = (1.0, 5.0, 20.0)
"""The mean speed of nodes, or nearly."""
MODELS: dict[str, str] = {
    "random waypoint": "waypoint",
    "random walk": "random_walk",
    "random direction": "random_direction",
    "Gauss-Markov": "gauss_markov",
    "Manhattan": "manhattan",
    "groups of 10 within 100 m": "rpgm",
}
CAUSES: dict[str, tuple[str, ...]] = {
    "no route": ("no-route",),
    "waits too long": ("buffer-full", "buffer-timeout", "arp-hold-replaced", "arp-unresolved"),
    "link fails": ("link-failure", "retry-limit"),
    "queue full": ("queue-full",),
    "circles": ("routing-loop", "ttl-expired"),
    "every copy ends": ("already-seen",),
}
"""Reasons for drops, as the page sums them up."""


@click.command()
@click.option("--store", type=options.PATH, help="Run what is missing, with this store, and keep it.")
@click.option("--docs", type=options.PATH, default=HERE, help="Folder of the page.")
@options.JOBS
def main(store: Path | None, docs: Path, jobs: int | None) -> None:
    """Run the campaign, look at links, and write the page."""
    if store is not None:
        pd.DataFrame(links()).to_csv(LINKS, index=False, float_format="%.6g")
        results = Campaign.load(CAMPAIGN).run(store, jobs=jobs)
        write_kept(with_code(results)[COLUMNS], KEPT)
        losses(results).to_csv(LOSSES, index=False)
    write_text(docs / PAGE, page(pd.read_parquet(KEPT), pd.read_csv(LINKS), pd.read_csv(LOSSES)))


def losses(results: Results) -> pd.DataFrame:
    """Why CBR packets end that never arrive: their number by place and reason, over all runs of a place."""
    ends = results.end_counts
    lost = ends[(ends["end"] == "lost") & (ends["packets"] == "cbr")]
    return lost.groupby([*PLACES, "reason"], sort=False)["count"].sum().reset_index()


def model_at(model: str, speed_mps: float) -> dict[str, Any]:
    """The parameters of a model in the field, with about this mean speed."""
    given: dict[str, Any] = {"nodes": NODES, "width_m": SIDE_M, "height_m": SIDE_M}
    match model:
        case "gauss_markov":
            return {**given, "speed_mean": 0.9 * speed_mps, "speed_sd": 0.3 * speed_mps}
        case "manhattan":
            return {**given, "speed_mean": speed_mps, "speed_sd": 0.2 * speed_mps, "speed_min": 0.5}
        case "rpgm":
            groups = {"group_size_mean": 10.0, "group_size_sd": 0.0, "max_distance_m": 100.0}
            return {**given, **groups, "speed_min": 0.5 * speed_mps, "speed_max": 1.5 * speed_mps}
    return {**given, "speed_min": 0.5 * speed_mps, "speed_max": 1.5 * speed_mps}


def links() -> Iterator[dict[str, Any]]:
    """Geometric mobility and link changes of each model at each speed and seed, and of the presets."""
    for label, model in MODELS.items():
        for speed_mps in SPEEDS_MPS:
            movement = {model: model_at(model, speed_mps)}
            fields = {"movement": movement, "traffic": {"flows": []}, "duration_s": DURATION_S}
            yield from looked_at(label, speed_mps, fields)
    for preset in ("conference", "event", "disaster"):
        yield from looked_at(preset, None, {"preset": preset, "traffic": {"flows": []}})


def looked_at(label: str, speed_mps: float | None, fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each seed."""
    for seed in range(1, SEEDS + 1):
        found = report(Scenario.build({**fields, "seed": seed}))
        yield {
            "movement": label,
            "speed_mps": speed_mps,
            "seed": seed,
            "geometric_mobility": found.geometric_mobility,
            "link_changes_per_s": found.link_changes_per_s,
            "degree_mean": found.degree_mean,
            "link_lifetime_s": found.link_lifetime_s,
            "partitioned_pairs": found.partitioned_pairs,
            "hops_mean": found.hops_mean,
        }


def page(runs: pd.DataFrame, seen: pd.DataFrame, lost: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    facts = {
        "runs": f"{len(runs):,}",
        "replications": runs["replication"].nunique(),
        "minutes": f"{runs['cpu_time_s'].sum() / 60:.0f}",
        "seeds": SEEDS,
        "protocols": runs["protocol"].nunique(),
        "commit": ", ".join(sorted({code.split()[-1][:8] for code in runs["code"]})),
    }
    parts = [said["head"], said["links"].format(**facts), link_table(seen).to_markdown(), said["links read"]]
    parts += [said["presets"].format(**facts), preset_table(seen).to_markdown(), said["runs"].format(**facts)]
    parts += [
        table(runs, "CBR packets that arrive, %", "cbr_delivery_fraction", 100.0, True).to_markdown(),
        table(runs, "Mean delay of CBR packets, ms", "cbr_latency_mean_s", 1e3, False).to_markdown(),
        said["causes"],
        load_table(runs).to_markdown(),
        *(loss_table(lost, preset).to_markdown() for preset in _all(runs, "preset")),
        said["reading"],
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def rate_of_uniform_places(mobility_mps: float) -> float:
    """Link changes a second of nodes at uniform places of the square, which go wherever they are alike.

    The density of the distance of two such nodes at the range, for a range up to the side, times the mean
    speed at which they come nearer or go apart, 2/π of their relative speed.
    """
    pairs, share = NODES * (NODES - 1) / 2, RANGE_M / SIDE_M
    density = 2 * share * (math.pi - 4 * share + share**2) / SIDE_M
    return pairs * density * 2 / math.pi * mobility_mps


def link_table(seen: pd.DataFrame) -> Table:
    """Link changes over geometric mobility, by model and speed."""
    columns = (
        "movement",
        "speed, m/s",
        "geometric mobility, m/s",
        "link changes, 1/s",
        "of uniform places, 1/s",
        "share",
    )
    table = Table("Changes by movement and speed", columns, text_columns=1)
    for label in MODELS:
        for speed_mps in SPEEDS_MPS:
            rows = seen[(seen["movement"] == label) & (seen["speed_mps"] == speed_mps)]
            mobility, changes = rows["geometric_mobility"].mean(), rows["link_changes_per_s"].mean()
            wanted = rate_of_uniform_places(mobility)
            table.add(
                label,
                f"{speed_mps:g}",
                f"{mobility:.2f}",
                f"{changes:.2f}",
                f"{wanted:.2f}",
                f"{changes / wanted:.2f}",
            )
    return table


def preset_table(seen: pd.DataFrame) -> Table:
    """What the presets' movement makes of their networks."""
    columns = (
        *("preset", "geometric mobility, m/s", "link changes, 1/s", "neighbours", "hops"),
        "pairs without a path, %",
    )
    table = Table("Their networks", columns)
    for preset in ("conference", "event", "disaster"):
        rows = seen[seen["movement"] == preset]
        table.add(
            preset,
            of_seeds(rows["geometric_mobility"], 3),
            of_seeds(rows["link_changes_per_s"], 2),
            of_seeds(rows["degree_mean"], 1),
            of_seeds(rows["hops_mean"], 1),
            of_seeds(100 * rows["partitioned_pairs"], 0),
        )
    return table


def of_seeds(values: pd.Series[float], digits: int) -> str:
    """Mean and 95 % interval over seeds."""
    found = mean_interval([float(each) for each in values])
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}"


def table(runs: pd.DataFrame, title: str, measure: str, scale: float, is_more_better: bool) -> Table:
    """A measure by protocol and setting; what can be the best of its column is bold."""
    presets, protocols = _all(runs, "preset"), _all(runs, "protocol")
    made = Table(title, ("protocol", *presets))
    best = {preset: _can_be_best(runs, preset, measure, is_more_better) for preset in presets}
    for protocol in protocols:
        cells = []
        for preset in presets:
            found = mean_interval([scale * each for each in _values(runs, preset, protocol, measure)])
            text = f"{found.mean:.1f} ± {found.half_width:.1f}"
            cells.append(f"**{text}**" if protocol in best[preset] else text)
        made.add(protocol, *cells)
    return made


def load_table(runs: pd.DataFrame) -> Table:
    """Routing packets for each CBR packet that arrives, by protocol and setting."""
    presets = _all(runs, "preset")
    made = Table("Routing packets sent for each packet that arrives", ("protocol", *presets))
    for protocol in _all(runs, "protocol"):
        cells = (_values(runs, preset, protocol, "normalised_routing_load") for preset in presets)
        made.add(protocol, *(of_seeds(pd.Series(values), 1) for values in cells))
    return made


def loss_table(lost: pd.DataFrame, preset: str) -> Table:
    """Why packets are lost in a setting, by protocol."""
    made = Table(f"{preset}: why packets are lost, % of those lost", ("protocol", *CAUSES, "other"))
    here = lost[lost["preset"] == preset]
    for protocol in _all(lost, "protocol"):
        counts = here[here["protocol"] == protocol].groupby("reason")["count"].sum()
        of_causes = [counts.reindex(list(reasons), fill_value=0).sum() for reasons in CAUSES.values()]
        shares = [*of_causes, counts.sum() - sum(of_causes)]
        made.add(protocol, *(f"{100 * each / counts.sum():.0f}" for each in shares))
    return made


def _all(runs: pd.DataFrame, column: str) -> list[Any]:
    return list(dict.fromkeys(runs[column]))


def _values(runs: pd.DataFrame, preset: str, protocol: str, measure: str) -> list[float]:
    found = runs[(runs["preset"] == preset) & (runs["protocol"] == protocol)]
    return [float(each) for each in found.sort_values("replication")[measure]]


def _can_be_best(runs: pd.DataFrame, preset: str, measure: str, is_more_better: bool) -> set[str]:
    """The protocols that no other is shown to be better than."""
    values = {each: _values(runs, preset, each, measure) for each in _all(runs, "protocol")}
    found = compare_with_best(values, higher_is_better=is_more_better)
    return {each.name for each in found if each.verdict != "worse"}


if __name__ == "__main__":
    main()
