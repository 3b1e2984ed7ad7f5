"""``manetlab shares`` and ``manetlab chain-throughput``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.cli.progress import waiting
from manetlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from manetlab.chain_throughput import Key, ThroughputRow, ThroughputTable
    from manetlab.resolving import Resolved
    from manetlab.scenario import Scenario
    from manetlab.shares import Shares

MOST_HOPS = 100
"""Maximum length of a chain, in hops."""
MOST_SEEDS = 10_000
"""Maximum number of runs of a chain."""


@click.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
@click.option("--at", type=float, help="Instant, s. [the first of the measurement with every flow started]")
@click.option("--range", "range_m", type=float, help="Radius of a region, m. [receive range of the radio]")
@click.option(
    "--table",
    type=options.PATH,
    help="Throughputs of single flows, a table of `chain-throughput`. [built-in]",
)
@click.option("--measured", is_flag=True, help="Measure first what each flow carries alone here.")
@click.option("--run", "runs", is_flag=True, help="Run the scenario too, and show what each flow gets.")
@options.JOBS
def shares(
    scenario: Path | None,
    as_json: bool,
    at: float | None,
    range_m: float | None,
    table: Path | None,
    measured: bool,
    runs: bool,
    jobs: int | None,
    **described: Any,
) -> None:
    """Compute each flow's max-min fair share and rate.

    The share is that of the flow's bottleneck region.
    """
    from manetlab.chain_throughput import read
    from manetlab.shares import at_instant

    if measured and table is not None:
        found, wanted = "--table and --measured", "one of them"
        raise InputError("what flows carry alone is given twice", "shares", found, wanted)
    known = None if table is None else read(table)
    made = options.scenario_from(scenario, **described)
    with waiting("shares"):
        resolved = _measured(made, jobs) if measured else made.resolve()
        found_shares = at_instant(resolved, at, range_m=range_m, table=known)
        for each in found_shares.flows:
            if each.error is not None:
                raise each.error
        got = _Got.of(resolved, found_shares, known, is_instant=at is not None) if runs else None
    if as_json:
        print(json.dumps(_as_dict(found_shares, got)))
    else:
        _print_shares(found_shares, got, resolved.name_of)


def _measured(scenario: Scenario, jobs: int | None) -> Resolved:
    """The scenario whose flows say what they carry alone, as measured."""
    from manetlab import alone_runs

    resolved = scenario.changed(throttle={"mode": "off"}).resolve()
    carried = alone_runs.measure(resolved, jobs=jobs)
    flows = [
        flow if bps is None else {**flow, "alone_bps": [bps]}
        for flow, bps in zip(resolved.flows, carried, strict=True)
    ]
    mode = scenario.section("throttle").get("mode", "off")
    return scenario.changed(traffic={"flows": flows}, throttle={"mode": mode}).resolve()


@dataclass(frozen=True)
class _Got:
    """What flows get in a run, beside what they should.

    Attributes:
        actual_bps: What each flow gets, in bit/s.
        mean_bps: The fair rates on average over the measurement, in bit/s, if they change in it.
        unfairness: The unfairness; None if a flow has no fair rate.
    """

    actual_bps: list[float | None]
    mean_bps: list[float] | None
    unfairness: float | None

    @classmethod
    def of(
        cls, resolved: Resolved, found: Shares, table: ThroughputTable | None, *, is_instant: bool
    ) -> _Got:
        """Runs the scenario; rates that change in the measurement count by their means."""
        from manetlab.running import run
        from manetlab.shares import mean_rates, varies
        from manetlab.stats import unfairness

        actual = [flow.get("throughput_bps") for flow in run(resolved).flows]
        got = [each or 0.0 for each in actual]
        if varies(resolved) and not is_instant:
            fair = mean_rates(resolved, table=table)
            return cls(actual, fair, unfairness(got, fair) if any(fair) else None)
        if any(each.rate_bps is None for each in found.flows):
            return cls(actual, None, None)
        return cls(actual, None, found.unfairness(got))


def _as_dict(found: Shares, got: _Got | None) -> dict[str, Any]:
    data = found.to_dict()
    if got is not None:
        for place, flow in enumerate(data["flows"]):
            flow["actual_bps"] = got.actual_bps[place]
            if got.mean_bps is not None:
                flow["mean_rate_bps"] = got.mean_bps[place]
        data["unfairness"] = got.unfairness
    return data


def _print_shares(found: Shares, got: _Got | None, name_of: Callable[[int], str]) -> None:
    from manetlab.tables import Table, stdout_console

    columns = ["flow", "path", "bottleneck", "share", "alone, kb/s", "rate, kb/s"]
    if got is not None:
        columns += [*([] if got.mean_bps is None else ["mean rate, kb/s"]), "actual, kb/s"]
    table = Table("Max-min fair shares", columns, text_columns=2)
    for each in found.flows:
        cells = [
            str(each.flow),
            " → ".join(map(name_of, (each.src, each.dst) if each.path is None else each.path)),
            "–" if each.bottleneck is None else f"node {name_of(each.bottleneck)}",
            "–" if each.share is None else str(each.share),
            _kbps(each.alone_bps),
            _kbps(each.rate_bps),
        ]
        if got is not None:
            cells += [] if got.mean_bps is None else [_kbps(got.mean_bps[each.flow])]
            cells.append(_kbps(got.actual_bps[each.flow]))
        table.add(*cells)
        if each.note:
            table.notes.append(f"Flow {each.flow}: {each.note}.")
    table.notes.insert(0, f"At {found.time_s:g} s; regions have a radius of {found.range_m:.1f} m.")
    if got is not None:
        if got.mean_bps is not None:
            table.notes.append(
                "Fair rates change in the measurement: flows are judged by their means over it."
            )
        table.notes.append("Unfairness: " + ("–" if got.unfairness is None else f"{got.unfairness:.3f}."))
    table.print(stdout_console())


def _kbps(bps: float | None) -> str:
    return "–" if bps is None else f"{bps / 1e3:.1f}"


@click.command("chain-throughput")
@click.option("--hops", type=click.IntRange(1, MOST_HOPS), default=10, help="Hops of the longest chain.")
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
    help="Kind of the flow. For CBR and video: the highest rate of which 99 % arrives.",
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
    """Measure the throughput of a single flow over chains."""
    from manetlab import chain_runs
    from manetlab import chain_throughput as tables
    from manetlab.files import write_text
    from manetlab.scenario_data import assign, merged

    options.check_written()
    known = tables.read(output).rows if output is not None and output.exists() else {}
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

        write_text(output, tomli_w.dumps(tables.ThroughputTable({**known, **rows}, str(output)).to_dict()))


def _print_rows(rows: Mapping[Key, ThroughputRow]) -> None:
    from manetlab.tables import Table, stdout_console

    for key, row in rows.items():
        title = {"tcp": "TCP flow", "cbr": "CBR flow", "video": "video flow"}[key.traffic]
        table = Table(f"Throughput of one {title} alone", ("hops", "throughput, kb/s", "± 95 %, kb/s"))
        for place, (mean, half) in enumerate(zip(row.throughput_bps, row.half_width_95_bps, strict=True), 1):
            table.add(str(place), f"{mean / 1e3:.1f}", f"{half / 1e3:.1f}")
        table.notes.append(f"With {key}; {row.made_with['seeds']} runs of each chain.")
        table.print(stdout_console())
