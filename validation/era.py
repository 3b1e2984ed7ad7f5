"""``python -m validation.era``: ns-2.1b8a beside ns-2.35 and two profiles, on the same files.

The profile ``cmu-1998`` was inferred from change notes and later copies; ``ns-2.1b8a`` was read in the code
of June 2001. The tables say how far either is from measurements of that program, and how far ns-2.35 is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from manetlab.cli import options
from manetlab.cli.progress import run_with_bar
from manetlab.errors import ManetlabError
from manetlab.files import write_text
from manetlab.running import Result
from manetlab.scenario import Scenario
from manetlab.stats import paired_interval
from manetlab.tables import Table, stdout_console
from validation import REFERENCE
from validation.chains import HOPS
from validation.check import NS_2_35, as_ns2_ran, ns2_runs, replications
from validation.mobile import GROUPS, MEASURES, OF_2001, Measure, by_network

VERSION = "2.1b8a"
PROFILES = ("cmu-1998", "ns-2.1b8a")
LOADS: Mapping[str, str] = {"cbr25": "200", "cbr25L300": "300", "cbr25L400": "400"}
"""What 25 CBR flows offer in kb/s, by the end of the load's name."""
COLUMNS = ("", "ns-2.1b8a", "ns-2.35", *(f"profile {each}" for each in PROFILES))

Runs = Sequence[Mapping[str, Any]]
Place = tuple[str, str, str]
"""A profile, a load with its protocol, and a network; or "chain" and the hops."""


def theirs(folder: Path, protocol: str, load: str, version: str) -> dict[str, Runs]:
    """ns-2's runs of a load, by network."""
    found = by_network(ns2_runs(folder, protocol, version), f"{load}-{protocol}")
    return {str(runs[0]["scen"]): runs for runs in found}


def chains_of(folder: Path, version: str) -> dict[int, list[float]]:
    """What ns-2's runs carry over chains in Mb/s, by hops."""
    runs = ns2_runs(folder, version=version)
    of = {hops: [run["tcp_mbps"] for run in runs if run["scen"] == f"chain{hops}.tcl"] for hops in HOPS}
    return {hops: values for hops, values in of.items() if values}


def scenarios(folder: Path, seeds: int) -> Iterator[tuple[Place, Scenario]]:
    """All that is run, with its place."""
    chain = {run["scen"]: run for run in ns2_runs(folder, version=VERSION) if "chain" in run["scen"]}
    for profile in PROFILES:
        for protocol in ("AODV", "DSR"):
            for load in OF_2001:
                for network, runs in theirs(folder, protocol, load, VERSION).items():
                    made = as_ns2_ran(dict(runs[0]), profile)
                    yield from (
                        ((profile, f"{load}-{protocol}", network), each) for each in replications(made, seeds)
                    )
        for network, run in chain.items():
            made = as_ns2_ran(dict(run), profile)
            yield from (((profile, "chain", network), each) for each in replications(made, max(seeds, 3)))


def tables(folder: Path, places: Sequence[Place], results: Sequence[Result]) -> list[Table]:
    """Networks over each protocol, higher loads, and chains."""
    ours = {
        place: [result for _, result in of]
        for place, of in groupby(zip(places, results, strict=True), key=lambda each: each[0])
    }
    made = [_networks(folder, protocol, ours) for protocol in ("AODV", "DSR")]
    return [*made, _loads(folder, ours), _chains(folder, ours)]


def _networks(folder: Path, protocol: str, ours: Mapping[Place, Sequence[Result]]) -> Table:
    """Each measure of each load, with the paired difference from ns-2.1b8a over the networks."""
    table = Table(f"Mobile networks over {protocol} (paired difference from ns-2.1b8a, 95 %)", COLUMNS)
    for load in GROUPS:
        first = theirs(folder, protocol, load, VERSION)
        later = theirs(folder, protocol, load, NS_2_35)
        networks = [each for each in first if each in later]
        for measure in MEASURES:
            yardstick = [_of_ns2(first[each], measure) for each in networks]
            if not networks or any(map(math.isnan, yardstick)):
                continue
            columns = [[_of_ns2(later[each], measure) for each in networks]]
            columns += [
                [_of_ours(ours[profile, f"{load}-{protocol}", each], measure) for each in networks]
                for profile in PROFILES
            ]
            cells = (_beside(values, yardstick) for values in columns)
            table.add(f"{load}: {measure.label}", _number(_mean(yardstick)), *cells)
    return table


def _loads(folder: Path, ours: Mapping[Place, Sequence[Result]]) -> Table:
    """Delivery and latency of CBR flows that offer more and more, in the networks that have all loads."""
    columns = ("", "kb/s", *COLUMNS[1:])
    table = Table("25 CBR flows that offer more: delivery fraction; mean latency, s", columns, text_columns=1)
    measures = [each for each in MEASURES if each.ours.startswith("cbr")]
    for protocol in ("AODV", "DSR"):
        networks = theirs(folder, protocol, "cbr25L400", VERSION)
        for load, offered in LOADS.items():
            cells = []
            for version in (VERSION, NS_2_35):
                of = theirs(folder, protocol, load, version)
                known = all(each in of for each in networks)
                cells.append(
                    [_mean([_of_ns2(of[n], m) for n in networks]) for m in measures] if known else []
                )
            for profile in PROFILES:
                of_ours = [ours[profile, f"{load}-{protocol}", each] for each in networks]
                cells.append([_mean([_of_ours(each, m) for each in of_ours]) for m in measures])
            table.add(protocol, offered, *("; ".join(map(_number, each)) or "–" for each in cells))
    return table


def _chains(folder: Path, ours: Mapping[Place, Sequence[Result]]) -> Table:
    table = Table("TCP throughput over chains, Mb/s", ("hops", *COLUMNS[1:]))
    first, later = chains_of(folder, VERSION), chains_of(folder, NS_2_35)
    for hops, values in first.items():
        carried = [
            _mean([r.totals["tcp_throughput_bps"] / 1e6 for r in ours[profile, "chain", f"chain{hops}.tcl"]])
            for profile in PROFILES
        ]
        table.add(str(hops), *map(_number, (_mean(values), _mean(later.get(hops, [])), *carried)))
    return table


def _of_ns2(runs: Runs, measure: Measure) -> float:
    return _mean([float(run[measure.theirs]) for run in runs if run[measure.theirs] is not None])


def _of_ours(results: Sequence[Result], measure: Measure) -> float:
    values = [result.totals[measure.ours] for result in results]
    return _mean([float(each) * measure.factor for each in values if each is not None])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _beside(values: Sequence[float], yardstick: Sequence[float]) -> str:
    """A mean with its paired difference from ns-2.1b8a in per cent."""
    difference, mean = paired_interval(values, yardstick), _mean(yardstick)
    change, half = 100 * difference.mean / mean, 100 * difference.half_width / mean
    return f"{_number(_mean(values))} ({round(change):+d} ± {half:.0f} %)"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"


@click.command()
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True, help="Runs of a network.")
@click.option("--markdown", type=options.PATH, help="Write the tables here too, as Markdown.")
@options.JOBS
def main(seeds: int, markdown: Path | None, jobs: int | None) -> None:
    """Compare ns-2.1b8a with ns-2.35 and two profiles."""
    listed = list(scenarios(REFERENCE, seeds))
    results = run_with_bar([each for _, each in listed], "ns-2.1b8a", jobs)
    made = tables(REFERENCE, [place for place, _ in listed], results)
    for table in made:
        table.print(stdout_console())
    if markdown is not None:
        write_text(markdown, "\n".join(table.to_markdown() for table in made))


if __name__ == "__main__":
    try:
        main(prog_name="python -m validation.era")
    except ManetlabError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
