"""``manetlab shares`` and ``manetlab chain-throughput``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.cli.progress import waiting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from manetlab.chain_throughput import Key, Row
    from manetlab.resolving import Resolved
    from manetlab.shares import Shares

MOST_HOPS = 100
"""Maximum length of a chain, in hops."""
MOST_SEEDS = 10_000
"""Maximum number of runs of a chain."""


@click.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
@click.option(
    "--at", type=float, help="Instant, s. [first instant of the measurement with every flow started]"
)
@click.option("--range", "range_m", type=float, help="Radius of a region, m. [receive range of the radio]")
@click.option(
    "--table",
    type=options.PATH,
    help="Table of `chain-throughput` with what a flow carries alone. [built-in]",
)
@click.option("--run", "runs", is_flag=True, help="Run the scenario too, and show what each flow gets.")
def shares(
    scenario: Path | None,
    as_json: bool,
    at: float | None,
    range_m: float | None,
    table: Path | None,
    runs: bool,
    **described: Any,
) -> None:
    """Compute each flow's max-min fair share of its bottleneck region, and its fair rate."""
    from manetlab.chain_throughput import read
    from manetlab.shares import at_instant

    known = None if table is None else read(table)
    resolved = options.scenario_from(scenario, **described).resolve()
    with waiting("shares"):
        found = at_instant(resolved, at, range_m=range_m, table=known)
        actual_bps = _actual_bps(resolved) if runs else None
    if as_json:
        print(json.dumps(_as_dict(found, actual_bps)))
    else:
        _print_shares(found, actual_bps)


def _actual_bps(resolved: Resolved) -> list[float | None]:
    """What each flow gets in a run."""
    from manetlab.running import run

    return [flow.get("throughput_bps") for flow in run(resolved).flows]


def _unfairness(found: Shares, actual_bps: list[float | None] | None) -> float | None:
    """The unfairness of what flows get, if all have a fair rate."""
    if actual_bps is None or any(each.rate_bps is None for each in found.flows):
        return None
    return found.unfairness([each or 0.0 for each in actual_bps])


def _as_dict(found: Shares, actual_bps: list[float | None] | None) -> dict[str, Any]:
    data = found.to_dict()
    if actual_bps is not None:
        for flow, actual in zip(data["flows"], actual_bps, strict=True):
            flow["actual_bps"] = actual
        data["unfairness"] = _unfairness(found, actual_bps)
    return data


def _print_shares(found: Shares, actual_bps: list[float | None] | None) -> None:
    from manetlab.tables import Table, stdout_console

    columns = ["flow", "path", "bottleneck", "share", "alone, kb/s", "rate, kb/s"]
    table = Table("Max-min fair shares", columns, text_columns=2)
    for each in found.flows:
        cells = [
            str(each.flow),
            f"{each.src} → {each.dst}" if each.path is None else " → ".join(map(str, each.path)),
            "–" if each.bottleneck is None else f"node {each.bottleneck}",
            "–" if each.share is None else str(each.share),
            _kbps(each.alone_bps),
            _kbps(each.rate_bps),
        ]
        table.add(*cells, *([] if actual_bps is None else [_kbps(actual_bps[each.flow])]))
        if each.note:
            table.notes.append(f"Flow {each.flow}: {each.note}.")
    if actual_bps is not None:
        columns.append("actual, kb/s")
        unfairness = _unfairness(found, actual_bps)
        table.notes.append("Unfairness: " + ("–" if unfairness is None else f"{unfairness:.3f}."))
    table.notes.insert(0, f"At {found.time_s:g} s; regions have a radius of {found.range_m:.1f} m.")
    table.print(stdout_console())


def _kbps(bps: float | None) -> str:
    return "–" if bps is None else f"{bps / 1e3:.1f}"


@click.command("chain-throughput")
@click.option("--hops", type=click.IntRange(1, MOST_HOPS), default=10, help="Length of the longest chain.")
@click.option(
    "--segment-bytes",
    type=click.IntRange(1, 65_495),
    multiple=True,
    default=(600,),
    help="Payload of a TCP segment or a CBR packet, bytes.",
)
@click.option(
    "--traffic",
    type=click.Choice(["tcp", "cbr", "video"]),
    default="tcp",
    help="Kind of the flow. What CBR and video carry is the highest rate of which 99 % arrive.",
)
@click.option(
    "--rate-mbps", type=click.FloatRange(0.001, 1000), multiple=True, default=(2.0,), help="Data rate, Mb/s."
)
@click.option("--spacing", type=float, default=130.0, help="Distance between neighbours, m.")
@click.option("--seeds", type=click.IntRange(2, MOST_SEEDS), default=10, help="Number of runs of each chain.")
@options.PROFILE
@options.SET
@options.JOBS
@options.output("TOML file to add the rows to.")
def chain_throughput(
    hops: int,
    segment_bytes: tuple[int, ...],
    traffic: str,
    rate_mbps: tuple[float, ...],
    spacing: float,
    seeds: int,
    profile: str | None,
    changes: tuple[str, ...],
    jobs: int | None,
    output: Path | None,
) -> None:
    """Measure what one flow carries alone over chains of 1, 2, … hops."""
    from manetlab import chain_runs
    from manetlab import chain_throughput as tables
    from manetlab.files import check_writable, write_text
    from manetlab.scenario_data import assign, merged

    known = tables.read(output).rows if output is not None and output.exists() else {}
    if output is not None:
        check_writable(output)
    base: dict[str, Any] = {} if profile is None else {"profile": profile}
    for name, value in options.assigned(changes).items():
        base = assign(base, name, value, "--set")
    with waiting("chains"):
        rows = dict(
            chain_runs.measure(
                merged(base, {"mac": {"data_rate_bps": 1e6 * rate}}),
                size,
                hops,
                seeds,
                spacing_m=spacing,
                jobs=jobs,
                traffic=traffic,
            )
            for rate in rate_mbps
            for size in (segment_bytes if traffic != "video" else (600,))
        )
    _print_rows(rows)
    if output is not None:
        import tomli_w

        write_text(output, tomli_w.dumps(tables.Table({**known, **rows}, str(output)).to_dict()))


def _print_rows(rows: Mapping[Key, Row]) -> None:
    from manetlab.tables import Table, stdout_console

    for key, row in rows.items():
        title = {"tcp": "TCP flow", "cbr": "CBR flow", "video": "video flow"}[key.traffic]
        table = Table(f"Throughput of one {title} alone", ("hops", "throughput, kb/s", "± 95 %, kb/s"))
        for place, (mean, half) in enumerate(zip(row.throughput_bps, row.half_width_95_bps, strict=True), 1):
            table.add(str(place), f"{mean / 1e3:.1f}", f"{half / 1e3:.1f}")
        table.notes.append(f"With {key}; {row.made_with['seeds']} runs of each chain.")
        table.print(stdout_console())
