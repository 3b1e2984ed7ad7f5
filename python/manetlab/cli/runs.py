"""``manetlab run``."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.captures import Capture, Ns2Trace
    from manetlab.running import Result
    from manetlab.scenario import Scenario
    from manetlab.stats import Interval
    from manetlab.tables import Table

MAX_SEEDS = 100_000
"""The maximum number of replications of one command."""


@click.command()
@options.ANY_SCENARIO
@click.option("--seeds", type=click.IntRange(1, MAX_SEEDS), default=1, help="Number of replications.")
@options.JOBS
@options.SET
@options.JSON
@options.RECORD
@click.option("--pcap", type=options.WRITTEN, help="Write a capture for Wireshark to this file (pcapng).")
@click.option("--pcap-nodes", metavar="NODES", help="Capture only at these nodes, such as 0,3. [all]")
@click.option("--pcap-receptions", is_flag=True, help="Also capture what the nodes receive.")
@click.option("--ns2-trace", type=options.WRITTEN, help="Write a trace in ns-2's format to this file.")
@click.option("--ns2-trace-format", help="The format of its lines: old or new. [old]")
@click.option("--series", type=float, help="Record time series with this step, s.")
@click.option(
    "--series-output", type=options.WRITTEN, help="Write the time series to this file, .csv or .parquet."
)
@options.renamed("--series-out", "--series-output")
def run(
    scenario: Path | None,
    seeds: int,
    jobs: int | None,
    as_json: bool,
    record: Path | None,
    pcap: Path | None,
    pcap_nodes: str | None,
    pcap_receptions: bool,
    ns2_trace: Path | None,
    ns2_trace_format: str | None,
    series: float | None,
    series_output: Path | None,
    **described: Any,
) -> None:
    """Run a scenario and show the results.

    The scenario is a TOML file, or a movement file and a traffic file of ns-2.
    """
    from manetlab.cautions import notes
    from manetlab.cli.progress import waiting
    from manetlab.running import run as run_one
    from manetlab.scenario_warnings import after_run, before_run

    to_file = options.record_to(record, described)
    _check_series(series, series_output, as_json)
    capture = _capture(pcap, pcap_nodes, pcap_receptions)
    trace = _trace(ns2_trace, ns2_trace_format)
    written: dict[str, Path | None] = {"--record": record, "--pcap": pcap, "--ns2-trace": ns2_trace}
    _check_one_run(seeds, {**written, "--series": series})
    asked = options.scenario_from(scenario, **described)
    options.check_written(asked, also=_beside(series_output))
    resolved = asked.resolve()
    with waiting("topology"):
        found = before_run(resolved)
    options.tell_warnings(found)
    if seeds > 1:
        results = _replications(asked, seeds, jobs)
        options.tell_warnings(after_run(results))
        _show_many(results, as_json)
        return
    if (last := resolved.movement.last_command_s) > asked.duration_s:
        note = f"note: the movement goes on to {last:g} s, but the run ends at {asked.duration_s:g} s"
        print(note, file=sys.stderr)
    for said in notes(resolved):
        print(f"note: {said}", file=sys.stderr)
    if resolved.selection is not None:
        print(f"note: {resolved.selection.note}", file=sys.stderr)
    with waiting("run"):
        result = run_one(resolved, record=to_file or False, series_s=series, pcap=capture, ns2_trace=trace)
    options.tell_warnings(after_run([result]))
    if series_output is not None and result.series is not None:
        from manetlab.series_files import write_series

        write_series(series_output, result.series)
    if as_json:
        print(result.to_json())
    else:
        show(result)


def _capture(path: Path | None, nodes: str | None, receptions: bool) -> Capture | None:
    if path is None:
        for option, given in (("--pcap-nodes", nodes is not None), ("--pcap-receptions", receptions)):
            if given:
                raise InputError("the capture has no file", option, "no --pcap", "--pcap FILE")
        return None
    from manetlab.captures import Capture

    return Capture(path, None if nodes is None else _nodes(nodes), receptions)


def _nodes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        hint = "separate them by commas"
        wanted = "numbers of nodes, such as 0,3"
        raise InputError("these are not nodes", "--pcap-nodes", repr(text), wanted, hint) from None


def _trace(path: Path | None, form: str | None) -> Ns2Trace | None:
    if path is None:
        if form is not None:
            raise InputError(
                "the trace has no file", "--ns2-trace-format", "no --ns2-trace", "--ns2-trace FILE"
            )
        return None
    from manetlab.captures import Ns2Trace

    return Ns2Trace(path, form or "old")


def _check_series(step_s: float | None, path: Path | None, as_json: bool) -> None:
    from manetlab.running import check_series_step

    check_series_step(step_s, "--series")
    if path is not None:
        from manetlab.series_files import check_series_file

        check_series_file(path, "--series-output")
        if step_s is None:
            hint = "for example --series 1 for steps of a second"
            raise InputError(
                "the time series have no step", "--series-output", "no --series", "--series S", hint
            )
    elif step_s is not None and not as_json:
        wanted = "--series-output FILE.csv, or --json"
        raise InputError(
            "the time series would not be written anywhere", "--series", "no --series-output", wanted
        )


def _beside(path: Path | None) -> dict[str, Path | None]:
    """The files beside the one of ``--series-output`` that series go to, by what an error calls them."""
    if path is None:
        return {}
    from manetlab.series_files import series_paths

    paths = series_paths(path).items()
    return {f"--series-output, {name}:": each for name, each in paths if name != "totals"}


def _check_one_run(seeds: int, outputs: dict[str, object]) -> None:
    for option, value in outputs.items():
        if value is not None and seeds > 1:
            hint = f"leave out {option}, or run the seeds one by one"
            raise InputError(
                "this option works with a single run only", option, f"--seeds {seeds}", "--seeds 1", hint
            )


def _replications(scenario: Scenario, count: int, jobs: int | None) -> list[Result]:
    from rich.console import Console
    from rich.progress import Progress

    from manetlab.running import run_many

    first = scenario.replication
    wanted = [scenario.changed(replication=first + number) for number in range(count)]
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replications", total=count)
        return run_many(wanted, jobs=jobs, progress=lambda _, __: bar.advance(task))


def _show_many(results: list[Result], as_json: bool) -> None:
    from manetlab.metrics import applying, by_key
    from manetlab.tables import Table, stdout_console

    summary = summarize(results)
    if as_json:
        intervals = {key: _as_json(interval) for key, interval in summary.items()}
        print(json.dumps({"summary": intervals, "replications": [result.to_dict() for result in results]}))
        return
    table = Table(f"{len(results)} replications: mean and 95 % interval", ("metric", "value", "n"))
    applies = {metric.key for result in results for metric in applying(result.totals, result.flows)}
    for metric in (by_key(key) for key in summary if key in applies):
        interval = summary[metric.key]
        table.add(metric.heading, metric.show_interval(interval), str(interval.n))
    table.notes += [
        "Intervals over replications. Where n is smaller, the other replications have no value. What is 0 "
        "in all has no interval.",
        provenance_of_all(results),
    ]
    table.print(stdout_console())


def provenance_of_all(results: list[Result]) -> str:
    """Where the results of several replications come from, in one line."""
    first, last = results[0].provenance, results[-1].provenance
    head, _, dirty = (first["commit"] or "no commit").partition("-")
    commit = head[:12] + ("-dirty" if dirty else "")
    events = sum(result.provenance["events"] for result in results)
    return (
        f"manetlab {first['version']} ({commit}), profile {first['profile']}, {len(results)} runs, scenarios "
        f"{first['scenario_hash'][:12]} to {last['scenario_hash'][:12]}, {events} events in all"
    )


def _as_json(interval: Interval) -> dict[str, float | int | None]:
    """Mean and ends of an interval; JSON has no infinity, so an end that is unbounded is null."""
    ends = {"low": interval.low, "high": interval.high}
    return {
        "mean": interval.mean,
        **{name: end if math.isfinite(end) else None for name, end in ends.items()},
        "n": interval.n,
    }


def summarize(results: list[Result]) -> dict[str, Interval]:
    """Mean and interval of each total over replications that have it, if two or more have."""
    from manetlab.metrics import interval_of

    columns: dict[str, list[float]] = {}
    for result in results:
        for key, value in result.totals.items():
            if value is not None:
                columns.setdefault(key, []).append(float(value))
    return {key: interval_of(key, values) for key, values in columns.items() if len(values) > 1}


TITLES = {"tcp": "TCP", "cbr": "CBR", "adp": "ADP"}
"""Kinds of flows that are abbreviations."""
ABOUT_RTP = (
    "RTP counts the whole run, warm-up included, from the first packet that arrives (RFC 3550); "
    'only "in time" is of the measurement window.'
)
"""Why the table of RTP has more packets than that of its flows."""


def show(result: Result) -> None:
    """Prints a result for people."""
    from rich.text import Text

    from manetlab.metrics import COMPLETED, FLOWS, PROGRESS, RTP_FLOW
    from manetlab.tables import Table, stdout_console

    console, names = stdout_console(), result.provenance.get("labels")
    shown = [
        (
            f"{TITLES.get(kind, kind.capitalize())} flows",
            metrics,
            [flow for flow in result.flows if flow["kind"] == kind],
        )
        for kind, metrics in FLOWS.items()
    ]
    shown.append(("Transfers that are complete", COMPLETED, _completed(result)))
    shown.append(("RTP", RTP_FLOW, [flow for flow in result.flows if "rtp_jitter_s" in flow]))
    shown.append(("Progress", PROGRESS, [flow for flow in result.flows if "unsmoothness" in flow]))
    for title, metrics, flows in shown:
        if flows:
            headings = (metric.heading for metric in metrics)
            table = Table(title, ("flow", "from", "to", *headings), text_columns=0, keys=3)
            if metrics is RTP_FLOW:
                table.notes.append(ABOUT_RTP)
            for flow in flows:
                ends = (str(names[flow[key]]) if names else str(flow[key]) for key in ("src", "dst"))
                table.add(str(flow["id"]), *ends, *(metric.show(flow) for metric in metrics))
            table.print(console)
    _totals(result).print(console)
    for table in drop_tables(result):
        table.print(console)
    console.print(Text(audit_line(result)), Text(provenance_line(result)), sep="\n")


def drop_tables(result: Result) -> list[Table]:
    """The flows' packets that were lost, each once with what lost it, and all other drops."""
    from manetlab.tables import Table

    keys = ("layer", "reason", "packets")
    copies = {tuple(drop[key] for key in keys): drop["count"] for drop in result.drops}
    lost = Table("Packets of flows that were lost", (*keys, "lost", "copies dropped"), text_columns=3)
    for loss in result.losses:
        dropped = copies.pop(tuple(loss[key] for key in keys), 0)
        lost.add(*(loss[key] or "not heard" for key in keys), str(loss["count"]), str(dropped))
    lost.add("all", "", "", str(sum(flow["lost"] for flow in result.audit["flows"])), "")
    lost.notes.append(
        "Each packet once, over the whole run, by what ended its last copy; copies in the measurement window."
    )
    other = Table("Drops that lost no packet of a flow", (*keys, "copies dropped"), text_columns=3)
    for what, count in copies.items():
        other.add(*map(str, what), str(count))
    return [table for table, is_there in ((lost, result.losses), (other, other.rows)) if is_there]


def _completed(result: Result) -> list[dict[str, Any]]:
    """The finite transfers that are complete, with the time that each took."""
    return [
        {**flow, "took_s": flow["completed_s"] - flow["start_s"]}
        for flow in result.flows
        if flow["kind"] == "tcp" and flow.get("completed_s") is not None
    ]


def _totals(result: Result) -> Table:
    """The totals that apply to the run; one that applies and has no value is a dash."""
    from manetlab.metrics import TOTALS, applying
    from manetlab.tables import Table

    shown = applying(result.totals, result.flows)
    made = Table("Totals", ("metric", "value"))
    for metric in shown:
        made.add(metric.heading, metric.show(result.totals))
    if hidden := len(TOTALS) - len(shown):
        made.notes.append(
            f"{hidden} measures of other protocols, flows and options do not apply here. "
            "`manetlab list measures` lists all."
        )
    return made


def audit_line(result: Result) -> str:
    """The books in one line."""
    data: dict[str, Any] = result.audit["data"]
    state = "balances" if result.audit["balanced"] else "DOES NOT BALANCE"
    return f"audit {state}: data packets " + ", ".join(f"{key.replace('_', ' ')} {data[key]}" for key in data)


def provenance_line(result: Result) -> str:
    """Where the result comes from, in one line."""
    origin = result.provenance
    head, _, dirty = (origin["commit"] or "no commit").partition("-")
    commit = head[:12] + ("-dirty" if dirty else "")
    return (
        f"manetlab {origin['version']} ({commit}), profile {origin['profile']}, seed {origin['seed']}, "
        f"scenario {origin['scenario_hash'][:12]}, result {origin['result_hash'][:12]}, "
        f"{origin['events']} events in {origin['wall_time_s']:.2f} s"
    )
