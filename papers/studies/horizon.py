"""How many flows a network carries well under each routing protocol, speed and way to throttle.

    python -m studies.horizon --store out/horizon.db --replications 10
    python -m studies.horizon

The first runs what is missing and keeps it in papers/studies/kept; both write the page and its figure from
what is kept, in out/pages (``--pages``). The networks are the areas of Osipov and Tschudin (2006, Fig. 3),
150 m apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd

from manetlab.campaign import Campaign
from manetlab.cli import options
from manetlab.files import write_text
from manetlab.stats import effective_horizon, mean_interval, paired_difference, unfairness
from manetlab.tables import Table
from studies import PAGES_OPTION
from studies.pages import words
from studies.runs import write_kept

HERE = Path(__file__).parent
WORDS = HERE / "horizon-words.md"
KEPT = HERE / "kept" / "horizon.parquet"
BESIDE = HERE / "kept" / "horizon-beside.parquet"
PAGE, FIGURE = Path("horizon.md"), Path("figures/horizon.svg")
"""The page and its figure, in the folder of the studies' pages."""

ROUTINGS = {
    "AODV (RFC 3561)": "aodv",
    "AODV-UU, link-layer feedback": "aodv:aodv-uu-ll",
    "AODV-UU, HELLO": "aodv:aodv-uu-hello",
    "LUNAR": "lunar",
    "LUNAR, opportunistic": "lunar:opportunistic",
    "DSR": "dsr",
    "DSDV": "dsdv",
    "ADV": "adv",
}
STATIC = "static routes"
SPEEDS_MPS = (0.0, 1.0, 5.0)
WAYS = ("off", "preset", "equal", "max-min")
FLOWS, FORWARDERS = (2, 4), (2, 14, 26)
LOW_M, HIGH_M = 100.0, 250.0
"""Extent of the areas from south to north, in m: links never break in the first, and do in the second."""
UNSMOOTHNESS, UNFAIRNESS = 1.0, 0.1
"""The paper's bounds of what is admissible."""
BASE: dict[str, Any] = {
    "profile": "ns-2.27",
    "duration_s": 120.0,
    "warmup_s": 12.0,
    "mac": {"rts_threshold_bytes": 2347},
    "tcp": {"sender": "newreno", "allowed_pause_s": 3.0},
}
COLUMNS = [
    *("part", "routing", "speed_mps", "throttle", "flows", "nodes", "replication", "seed"),
    *("total_bps", "unsmoothness", "unfairness", "result_hash", "code", "cpu_time_s"),
]
BESIDE_COLUMNS = [
    *("routing", "asked_kbps", "throttle", "replication", "seed", "tcp_bps", "unsmoothness"),
    *(
        "cbr_bps",
        "cbr_delivery",
        "video_bps",
        "video_delivery",
        "decodable",
        "result_hash",
        "code",
        "cpu_time_s",
    ),
]
CBR_KBPS = (32, 200)
"""What CBR asks for beside TCP and video, in kb/s: less than its share, and more."""
MORE_RUNS = 10
"""Runs of each point of the two smaller campaigns."""
START_ROUTING = "AODV-UU, link-layer feedback"
BESIDE_ROUTINGS = ("AODV (RFC 3561)", "AODV-UU, HELLO", "DSR")


@click.command()
@click.option("--store", type=options.PATH, help="Run what is missing, with this store, and keep it.")
@click.option("--replications", type=click.IntRange(4), default=10, help="Runs of each point.")
@PAGES_OPTION
@options.JOBS
def main(store: Path | None, replications: int, pages: Path, jobs: int | None) -> None:
    """Run the campaigns, and write their page and figure."""
    if store is not None:
        keep(store, replications, jobs)
    if not KEPT.exists():
        raise click.UsageError("nothing is kept: run the campaigns with --store FILE")
    runs, beside = pd.read_parquet(KEPT), pd.read_parquet(BESIDE)
    (pages / FIGURE).parent.mkdir(parents=True, exist_ok=True)
    draw(runs, pages / FIGURE)
    write_text(pages / PAGE, page(runs, beside))


def keep(store: Path, replications: int, jobs: int | None) -> None:
    """Runs what is missing of all campaigns, and keeps it."""
    store.parent.mkdir(parents=True, exist_ok=True)
    how: dict[str, Any] = {"store": store, "jobs": jobs}
    alone = alone_campaign(replications).run(**how)
    made = [_rows(alone, "alone", None)]
    whole_bps = whole(made[0])
    for part, campaign in (("areas", areas_campaign), ("high", high_campaign)):
        made.append(_rows(campaign(whole_bps, replications).run(**how), part, whole_bps))
    made.append(_rows(start_campaign(whole_bps).run(**how), "start", whole_bps))
    KEPT.parent.mkdir(exist_ok=True)
    write_kept(pd.concat(made)[COLUMNS], KEPT)
    beside = _beside_rows(beside_campaign(MORE_RUNS).run(**how))
    write_kept(beside[BESIDE_COLUMNS], BESIDE)


def areas(flows: int, forwarders: int, height_m: float = LOW_M) -> dict[str, Any]:
    """The fields of a network."""
    fields = {
        "sources": flows,
        "sinks": flows,
        "forwarders": forwarders,
        "spacing_m": 150.0,
        "height_m": height_m,
    }
    return {f"movement.areas.{name}": value for name, value in fields.items()}


def transfers(flows: int, **further: Any) -> list[dict[str, Any]]:
    """TCP flows, each with a source and a sink of its own, that begin a second apart."""
    return [
        {"kind": "tcp", "src": each, "dst": flows + each, "start_s": float(each), "segment_bytes": 600}
        | further
        for each in range(flows)
    ]


def throttled(flows: int, way: str, whole_bps: float) -> dict[str, Any]:
    """The fields of a way to throttle: whoever has all for itself carries `whole_bps`."""
    if way == "off":
        return {"traffic.flows": transfers(flows), "throttle.mode": "off"}
    if way == "preset":
        rate = [[0.0, whole_bps / flows]]
        return {"traffic.flows": transfers(flows, throttle_bps=rate), "throttle.mode": "preset"}
    fields = {"throttle.mode": "density", "throttle.shares": way}
    if way == "oracle":
        fields = {"throttle.mode": "oracle"}
    return {"traffic.flows": transfers(flows, alone_bps=[whole_bps]), **fields}


def alone_campaign(replications: int) -> Campaign:
    """One flow for itself, unthrottled."""
    return _campaign(
        "horizon-alone",
        "What does one flow carry alone under each routing protocol?",
        {
            "routing": _levels({**ROUTINGS, STATIC: "static"}),
            "movement.areas.speed_mps": list(SPEEDS_MPS),
            "network": [
                {
                    "label": f"off, 1, {2 + forwarders}",
                    "fields": {**areas(1, forwarders), "traffic.flows": transfers(1)},
                }
                for forwarders in FORWARDERS
            ],
        },
        replications,
    )


def areas_campaign(whole_bps: float, replications: int) -> Campaign:
    """All routing protocols, speeds, ways to throttle, numbers of flows and sizes."""
    networks = [(way, flows, each) for way in WAYS for flows in FLOWS for each in FORWARDERS]
    return _campaign(
        "horizon-areas",
        "How many flows does a network carry well under each routing protocol?",
        {
            "routing": _levels(ROUTINGS),
            "movement.areas.speed_mps": list(SPEEDS_MPS),
            "network": [_network(*each, whole_bps, LOW_M) for each in networks],
        },
        replications,
    )


def high_campaign(whole_bps: float, replications: int) -> Campaign:
    """Four flows where movement breaks links."""
    return _campaign(
        "horizon-high",
        "What do four flows get where movement breaks links?",
        {
            "routing": _levels(ROUTINGS),
            "movement.areas.speed_mps": list(SPEEDS_MPS),
            "network": [_network(way, 4, 14, whole_bps, HIGH_M) for way in ("off", "preset")],
        },
        replications,
    )


def start_campaign(whole_bps: float) -> Campaign:
    """Four flows with rates that are right from the start, follow the flows as they begin, or are learned."""
    networks = [_network(way, 4, 14, whole_bps, LOW_M) for way in ("preset", "oracle", "equal", "max-min")]
    factors: dict[str, list[Any]] = {
        "routing": _levels({START_ROUTING: ROUTINGS[START_ROUTING]}),
        "movement.areas.speed_mps": [0.0],
        "network": networks,
    }
    return _campaign("horizon-start", "What do rates that change cost in smoothness?", factors, MORE_RUNS)


def beside_campaign(replications: int) -> Campaign:
    """CBR and video beside TCP."""
    ways: dict[str, dict[str, Any]] = {
        "off": {"throttle.mode": "off"},
        "oracle": {"throttle.mode": "oracle"},
        "equal": {"throttle.mode": "density", "throttle.shares": "equal"},
        "max-min": {"throttle.mode": "density", "throttle.shares": "max-min"},
    }
    return _campaign(
        "horizon-beside",
        "What does throttling do to CBR and video beside TCP?",
        {
            "routing": _levels({name: ROUTINGS[name] for name in BESIDE_ROUTINGS}),
            "asked": [
                {"label": kbps, "fields": {**areas(4, 14), "traffic.flows": mixed(kbps)}} for kbps in CBR_KBPS
            ],
            "throttle": [{"label": name, "fields": fields} for name, fields in ways.items()],
        },
        replications,
    )


def mixed(cbr_kbps: int) -> list[dict[str, Any]]:
    """Two TCP flows, one of CBR and one of video."""
    cbr: dict[str, Any] = {"kind": "cbr", "bytes": 600, "interval_s": 8 * 600 / (1e3 * cbr_kbps)}
    others: list[dict[str, Any]] = [cbr, {"kind": "video"}]
    return transfers(4)[:2] + [
        {**each, "src": number, "dst": 4 + number, "start_s": float(number)}
        for number, each in enumerate(others, 2)
    ]


def _network(way: str, flows: int, forwarders: int, whole_bps: float, height_m: float) -> dict[str, Any]:
    fields = {**areas(flows, forwarders, height_m), **throttled(flows, way, whole_bps)}
    return {"label": f"{way}, {flows}, {2 * flows + forwarders}", "fields": fields}


def _levels(routings: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"label": name, "fields": {"routing": each}} for name, each in routings.items()]


def _campaign(name: str, question: str, factors: Mapping[str, list[Any]], replications: int) -> Campaign:
    # What all networks have in common; the factors say the rest.
    base = {
        **BASE,
        "movement": {"areas": {"sources": 1, "sinks": 1, "forwarders": 2}},
        "traffic": {"flows": transfers(1)},
    }
    metrics = ["tcp_throughput_bps", "tcp_unsmoothness_max"]
    return Campaign(
        name=name,
        question=question,
        base=base,
        factors=dict(factors),
        replications=replications,
        metrics=metrics,
        where=name,
    )


def _rows(results: Any, part: str, whole_bps: float | None) -> pd.DataFrame:
    """A line for each run; unfairness if it is known what one flow carries alone."""
    runs: pd.DataFrame = results.runs.merge(
        results.machines[["point", "replication", "code"]], on=["point", "replication"]
    )
    split = runs["network"].str.split(", ", expand=True)
    runs["throttle"], runs["flows"], runs["nodes"] = split[0], split[1].astype(int), split[2].astype(int)
    runs["part"] = part
    runs = runs.rename(
        columns={
            "movement.areas.speed_mps": "speed_mps",
            "tcp_throughput_bps": "total_bps",
            "tcp_unsmoothness_max": "unsmoothness",
        }
    )
    got = results.flows.sort_values("flow").groupby(["point", "replication"])["throughput_bps"].agg(list)
    runs["unfairness"] = [
        None if whole_bps is None else unfairness(actual, [whole_bps / len(actual)] * len(actual))
        for actual in (got[each] for each in zip(runs["point"], runs["replication"], strict=True))
    ]
    return runs


def _beside_rows(results: Any) -> pd.DataFrame:
    runs: pd.DataFrame = results.runs.merge(
        results.machines[["point", "replication", "code"]], on=["point", "replication"]
    )
    by_run = results.flows.set_index(["point", "replication", "flow"])

    def of(flow: int, column: str) -> list[Any]:
        places = zip(runs["point"], runs["replication"], strict=True)
        return [by_run.loc[(*place, flow), column] for place in places]

    runs["asked_kbps"] = runs["asked"]
    runs["tcp_bps"], runs["unsmoothness"] = runs["tcp_throughput_bps"], runs["tcp_unsmoothness_max"]
    runs["cbr_bps"], runs["cbr_delivery"] = of(2, "throughput_bps"), of(2, "delivery_fraction")
    runs["video_bps"], runs["video_delivery"] = of(3, "throughput_bps"), of(3, "message_delivery_fraction")
    runs["decodable"] = of(3, "decodable_fraction")
    return runs


def whole(alone: pd.DataFrame) -> float:
    """What one flow carries alone with static routes in the smallest network that stands still, in bit/s.

    It is the mean of the first runs, so that it stays when there are more.
    """
    runs = alone[(alone["routing"] == STATIC) & (alone["speed_mps"] == 0.0)]
    first = runs[(runs["nodes"] == runs["nodes"].min()) & (runs["replication"] < 4)]
    return round(float(first["total_bps"].mean()), -2)


def page(runs: pd.DataFrame, beside: pd.DataFrame) -> str:
    """The page, in Markdown."""
    said = words(WORDS)
    facts = {
        "runs": len(runs) + len(beside),
        "beside_runs": beside["replication"].nunique(),
        "replications": runs[runs["part"] == "areas"]["replication"].nunique(),
        "minutes": f"{(runs['cpu_time_s'].sum() + beside['cpu_time_s'].sum()) / 60:.0f}",
        # Version, commit, and the digest of the modules that a run uses.
        "code": ", ".join(sorted({each.split()[-1] for each in [*runs["code"], *beside["code"]]})),
        "whole_kbps": f"{whole(runs[runs['part'] == 'alone']) / 1e3:.1f}",
        "tcp_cost": f"{100 * _cost(beside):.0f} %",
    }
    speeding = speeds(runs)
    changes = [cell for row in speeding.rows for cell in row[3:]]
    facts |= {"speed_cells": len(changes), "speed_clear": sum(map(_is_clear, changes))}
    tables = {
        "alone": horizons(runs),
        "ranges": ranges(runs),
        "gains": gains(runs),
        "start": starts(runs),
        "speeds": speeding,
        "high": high(runs),
        "beside": besides(beside),
    }
    parts = [said["head"].format(**facts)]
    for name, table in tables.items():
        parts += [table.to_markdown().rstrip(), said[name].format(**facts)]
        if name == "ranges":
            parts.append(f"![{said['figure']}]({FIGURE})")
    return "\n\n".join([*parts, said["limits"]]) + "\n"


def horizons(runs: pd.DataFrame) -> Table:
    """What one flow carries alone, and how many could have 30 kb/s each."""
    alone = runs[runs["part"] == "alone"]
    sizes = sorted(set(alone["nodes"]))
    shown = (sizes[0], sizes[-1])
    columns = [f"{nodes} nodes, {speed:g} m/s" for nodes in shown for speed in SPEEDS_MPS]
    table = Table("One flow alone, in kb/s, and the effective horizon in flows", ["routing", *columns])
    for routing in [*ROUTINGS, STATIC]:
        cells = []
        for nodes in shown:
            for speed in SPEEDS_MPS:
                found = mean_interval(list(_of(alone, routing, speed, nodes=nodes)["total_bps"]))
                horizon = effective_horizon(found.mean)
                cells.append(f"{found.mean / 1e3:.0f} ± {found.half_width / 1e3:.0f} ({horizon})")
        table.add(routing, *cells)
    return table


def ranges(runs: pd.DataFrame) -> Table:
    """The largest network up to which all are admissible."""
    columns = [f"{flows} flows, {way}" for flows in FLOWS for way in WAYS]
    table = Table("Right borders, in nodes", ["routing", "m/s", *columns])
    for routing in ROUTINGS:
        for speed in SPEEDS_MPS:
            cells = [border(runs, routing, speed, flows, way) for flows in FLOWS for way in WAYS]
            table.add(routing, f"{speed:g}", *cells)
    return table


def border(runs: pd.DataFrame, routing: str, speed_mps: float, flows: int, way: str) -> str:
    """The right border: a number of nodes, with a plus if it is beyond the largest network; or a dash."""
    found = _of(runs[runs["part"] == "areas"], routing, speed_mps, flows=flows, throttle=way)
    reached = "–"
    for nodes in sorted(set(found["nodes"])):
        if not is_admissible(found[found["nodes"] == nodes]):
            return reached
        reached = f"{nodes:d}"
    return f"{reached}+"


def is_admissible(runs: pd.DataFrame) -> bool:
    """Whether these runs of one network keep all bounds of the paper."""
    served = bool(runs["unsmoothness"].notna().all())
    smooth = bool(runs["unsmoothness"].mean() < UNSMOOTHNESS)
    return served and smooth and bool(runs["unfairness"].max() < UNFAIRNESS)


MEASURES = {
    "total, kb/s": ("total_bps", 1e-3, 1),
    "worst unsmoothness": ("unsmoothness", 1.0, 2),
    "unfairness": ("unfairness", 1.0, 3),
}


def gains(runs: pd.DataFrame) -> Table:
    """What four flows gain by throttling, over all speeds and sizes."""
    ways = WAYS[1:]
    table = Table("What throttling changes, four flows", ["routing", "measure", "off", *ways], text_columns=2)
    found = runs[(runs["part"] == "areas") & (runs["flows"] == 4)]
    for routing in ROUTINGS:
        for name, measure in MEASURES.items():
            of_way = {way: _means(_of(found, routing, throttle=way), measure[0]) for way in WAYS}
            cells = [_difference(of_way[way], of_way["off"], *measure[1:]) for way in ways]
            off = sum(of_way["off"]) / len(of_way["off"]) * measure[1]
            table.add(routing, name, f"{off:.{measure[2]}f}", *cells)
    return table


def starts(runs: pd.DataFrame) -> Table:
    """What rates that change, and rates that are learned, cost in smoothness."""
    columns = ("rates", "unsmoothness of the worst flow", "unfairness")
    table = Table("Four flows in 22 nodes with AODV-UU and link-layer feedback, standing", columns)
    for way in ("preset", "oracle", "equal", "max-min"):
        chosen = _of(runs[runs["part"] == "start"], START_ROUTING, throttle=way)
        worst, unfair = (mean_interval(_means(chosen, each)) for each in ("unsmoothness", "unfairness"))
        table.add(
            way,
            f"{worst.mean:.2f} ± {worst.half_width:.2f}",
            f"{unfair.mean:.3f} ± {unfair.half_width:.3f}",
        )
    return table


def speeds(runs: pd.DataFrame) -> Table:
    """What movement changes for four flows, over all ways to throttle and sizes."""
    moving = SPEEDS_MPS[1:]
    columns = ["routing", "measure", "0 m/s", *(f"{speed:g} m/s" for speed in moving)]
    table = Table("What movement changes where no link breaks, four flows", columns, text_columns=2)
    found = runs[(runs["part"] == "areas") & (runs["flows"] == 4)]
    for routing in ROUTINGS:
        for name, measure in MEASURES.items():
            of_speed = {speed: _means(_of(found, routing, speed), measure[0]) for speed in SPEEDS_MPS}
            still = of_speed[0.0]
            cells = [_difference(of_speed[speed], still, *measure[1:]) for speed in moving]
            mean = sum(still) / len(still) * measure[1]
            table.add(routing, name, f"{mean:.{measure[2]}f}", *cells)
    return table


def high(runs: pd.DataFrame) -> Table:
    """Four flows in areas in which links break: total and worst unsmoothness at each speed."""
    found = runs[runs["part"] == "high"]
    columns = [f"{way}, {speed:g} m/s" for way in ("off", "preset") for speed in SPEEDS_MPS]
    table = Table("Where links break: total in kb/s, unsmoothness of the worst flow", ["routing", *columns])
    for routing in ROUTINGS:
        cells = []
        for way in ("off", "preset"):
            for speed in SPEEDS_MPS:
                chosen = _of(found, routing, speed, throttle=way)
                total = mean_interval([each / 1e3 for each in _means(chosen, "total_bps")])
                worst = mean_interval(_means(chosen, "unsmoothness"))
                cells.append(f"{total.mean:.0f} ± {total.half_width:.0f}, {worst.mean:.1f}")
        table.add(routing, *cells)
    return table


def besides(beside: pd.DataFrame) -> Table:
    """CBR and video beside TCP."""
    columns = [
        *("routing", "CBR asks for, kb/s", "throttle", "TCP, kb/s", "TCP's worst unsmoothness"),
        *("CBR delivered", "video delivered", "frames decodable"),
    ]
    table = Table("Two TCP flows, one CBR flow and one of video", columns, text_columns=3)
    for routing in BESIDE_ROUTINGS:
        for asked in CBR_KBPS:
            for way in ("off", "oracle", "equal", "max-min"):
                chosen = beside[
                    (beside["routing"] == routing)
                    & (beside["asked_kbps"] == asked)
                    & (beside["throttle"] == way)
                ]
                tcp = mean_interval([each / 1e3 for each in _means(chosen, "tcp_bps")])
                worst = mean_interval(_means(chosen, "unsmoothness"))
                shares = [
                    mean_interval(_means(chosen, each))
                    for each in ("cbr_delivery", "video_delivery", "decodable")
                ]
                table.add(
                    *(routing, str(asked), way, f"{tcp.mean:.0f} ± {tcp.half_width:.0f}"),
                    f"{worst.mean:.1f} ± {worst.half_width:.1f}",
                    *(f"{100 * each.mean:.0f} ± {100 * each.half_width:.0f} %" for each in shares),
                )
    return table


def _cost(beside: pd.DataFrame) -> float:
    """The part of TCP's throughput that throttling costs where CBR asks for little, with AODV."""
    little = _of(beside, BESIDE_ROUTINGS[0], asked_kbps=CBR_KBPS[0])
    off, oracle = (
        float(_of(little, BESIDE_ROUTINGS[0], throttle=way)["tcp_bps"].mean()) for way in ("off", "oracle")
    )
    return 1.0 - oracle / off


def _of(runs: pd.DataFrame, routing: str, speed_mps: float | None = None, **wanted: Any) -> pd.DataFrame:
    """The runs of a routing protocol that also have these values."""
    chosen = runs["routing"] == routing
    if speed_mps is not None:
        chosen &= runs["speed_mps"] == speed_mps
    for column, value in wanted.items():
        chosen &= runs[column] == value
    return runs[chosen]


LONGEST = BASE["duration_s"] / BASE["tcp"]["allowed_pause_s"]
"""The unsmoothness of a flow of which nothing arrives: it stands still for the whole run."""


def _means(runs: pd.DataFrame, column: str) -> list[float]:
    """A value for each replication, the mean over all points; the same networks for all that is compared."""
    values = runs[column].astype(float)
    values = values.fillna(LONGEST if column == "unsmoothness" else 0.0)
    by_replication = values.groupby(runs["replication"]).mean()
    return [float(each) for each in by_replication.sort_index()]


def _difference(values: Sequence[float], others: Sequence[float], factor: float, digits: int) -> str:
    found = paired_difference(values, others).difference
    return f"{found.mean * factor:+.{digits}f} ± {found.half_width * factor:.{digits}f}".replace("-", "−")


def _is_clear(difference: str) -> bool:
    """Whether the interval of a difference, as it is written, is without zero."""
    mean, half = difference.replace("−", "-").split(" ± ")
    return abs(float(mean)) > float(half)


def draw(runs: pd.DataFrame, path: Path) -> None:
    """Draws the worst flow's unsmoothness of four flows in the middle size, by routing, way and speed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullFormatter

    from manetlab import palette
    from manetlab.plots import MARKERS, STYLE

    found = runs[(runs["part"] == "areas") & (runs["flows"] == 4) & (runs["nodes"] == 22)]
    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams
        settings.update(STYLE)
        settings["svg.hashsalt"] = "manetlab"
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        panels = figure.subplots(1, len(SPEEDS_MPS), sharex=True, sharey=True)
        rows = range(len(ROUTINGS))
        for axes, speed in zip(panels, SPEEDS_MPS, strict=True):
            for place, way in enumerate(WAYS):
                intervals = [
                    mean_interval(_means(_of(found, routing, speed, throttle=way), "unsmoothness"))
                    for routing in ROUTINGS
                ]
                means = [each.mean for each in intervals]
                ends = [
                    [mean - max(each.low, 0.05) for mean, each in zip(means, intervals, strict=True)],
                    [each.high - mean for mean, each in zip(means, intervals, strict=True)],
                ]
                heights = [row + 0.18 * (place - 1.5) for row in rows]
                style: dict[str, Any] = {"color": palette.ON_LIGHT[place], "marker": MARKERS[place]}
                axes.errorbar(means, heights, xerr=ends, linestyle="none", markersize=3.5, label=way, **style)
            axes.axvline(UNSMOOTHNESS, color="#404040", linewidth=0.8, linestyle="--")
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(FixedLocator([0.1, 0.3, 1, 3, 10, 30]))
            axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_title(f"{speed:g} m/s")
        panels[0].set_yticks(list(rows), list(ROUTINGS))
        panels[0].invert_yaxis()
        panels[1].set_xlabel("unsmoothness of the worst of four flows, 22 nodes")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(WAYS), title="throttle")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
