"""``manetlab range``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options

if TYPE_CHECKING:
    from manetlab.operation_range import Border, OperationRange, Size


@click.command("range")
@options.SCENARIO
@click.option("--routing", multiple=True, help="Routing protocol; may be repeated. [the scenario's]")
@click.option("--flows", default="2..9", help="Numbers of flows: 2..9, or 2,4,6.")
@click.option("--nodes", type=click.IntRange(4, 100_000), default=60, help="Largest network, nodes.")
@click.option("--step", type=click.IntRange(1, 100_000), help="Forwarders added at a time. [1 in each band]")
@click.option("--runs", type=click.IntRange(1, 100_000), default=30, help="Runs of each size.")
@click.option(
    "--unsmoothness", type=float, default=1.0, help="Bound on the worst flow's unsmoothness, mean over runs."
)
@click.option("--unfairness", type=float, default=0.1, help="Bound on the worst run's unfairness.")
@click.option("--stagger", type=float, default=0.1, help="Time between the starts of two flows, s.")
@click.option("--all", "every_size", is_flag=True, help="Run all sizes, also those beyond the range.")
@click.option("--load", "with_load", is_flag=True, help="Also compute the equivalent routing load.")
@click.option(
    "--measured", is_flag=True, help="First measure the throughput of a single flow in this scenario."
)
@click.option(
    "--table",
    type=options.PATH,
    help="Throughputs of single flows, a table of `chain-throughput`. [built-in]",
)
@click.option("--store", type=options.PATH, help="The store. [beside the scenario, NAME.range.db]")
@click.option("--allow-other-version", is_flag=True, help="Also use runs of another version or commit.")
@options.JOBS
@options.SET
@options.JSON
@click.option("--csv", type=options.WRITTEN, help="Write all sizes to this file.")
@click.option("--plot", type=options.WRITTEN, help="Draw the ranges in this file, .svg or .png.")
def range_(
    scenario: Path,
    routing: tuple[str, ...],
    flows: str,
    table: Path | None,
    store: Path | None,
    changes: tuple[str, ...],
    as_json: bool,
    csv: Path | None,
    plot: Path | None,
    **how: Any,
) -> None:
    """Find how many TCP flows a network carries well.

    For each number of flows: up to which size of the network they stay smooth and fair. The search can be
    interrupted; the same command continues it.
    """
    from manetlab import chain_throughput
    from manetlab.files import check_apart
    from manetlab.operation_range import flows_of_text, write_csv

    place = store or scenario.with_suffix(".range.db")
    if plot is not None:
        from manetlab.report.ranges import check_plot

        check_plot(plot, "--plot")
    counts = flows_of_text(flows)
    known = None if table is None else chain_throughput.read(table)
    asked = [options.scenario_from(scenario, changes=changes, routing=name) for name in routing or (None,)]
    options.check_written(*asked, inputs=[place])
    check_apart({"--store": place}, (scenario, table, *(path for each in asked for path in each.inputs)))
    found = _search(asked, place, {"flows": counts, "table": known, **how})
    if csv is not None:
        write_csv(csv, found)
    if plot is not None:
        from manetlab.report.ranges import draw

        draw(found, plot)
    if as_json:
        print(json.dumps({"ranges": [each.to_dict() for each in found]}))
        return
    for each in found:
        _print(each)


def _search(asked: list[Any], place: Path, how: dict[str, Any]) -> list[OperationRange]:
    from manetlab.cli.progress import kept_in, shown_progress
    from manetlab.operation_range import Bounds, find

    most_nodes, stagger_s = how.pop("nodes"), how.pop("stagger")
    bounds = Bounds(how.pop("unsmoothness"), how.pop("unfairness"))
    found = []
    for each in asked:
        with kept_in(place), shown_progress(each.routing) as progress:
            given = {"most_nodes": most_nodes, "stagger_s": stagger_s, "bounds": bounds}
            found.append(find(each, store=place, progress=progress, **given, **how))
    return found


def _print(found: OperationRange) -> None:
    from manetlab.tables import Table, stdout_console

    columns = ["flows", "range, nodes", "outside", "unsmoothness", "unfairness", "total, kb/s"]
    has_load = any(border.without_routing_bps for border in found.borders)
    columns += ["static routes, kb/s", "routing load, %"] if has_load else []
    table = Table(f"Admissible operation range of {found.routing}", columns, text_columns=3)
    for border in found.borders:
        last = border.last
        cells = [
            str(border.flows),
            "–" if last is None else f"{border.left_nodes} to {last.nodes}",
            _outside(border),
            "–" if last is None else _unsmoothness(last),
            "–" if last is None else f"{last.unfairness:.3f}",
            "–" if last is None else f"{last.total_bps / 1e3:.1f}",
        ]
        table.add(*cells, *(_load(border) if has_load else []))
    table.notes += [
        "Of the right border: mean unsmoothness of the worst flow, unfairness of the worst run, mean total.",
        f"Admissible: unsmoothness below {found.bounds.unsmoothness:g}, unfairness below "
        f"{found.bounds.unfairness:g}, and every flow served, in {found.runs} runs.",
    ]
    table.print(stdout_console())


def _outside(border: Border) -> str:
    """The first size that is not admissible, and why."""
    for size in border.sizes:
        if not size.admissible:
            return f"{size.nodes} nodes: {_broken(size)}"
    return "beyond the largest size"


def _broken(size: Size) -> str:
    said = {
        "unserved": f"a flow got nothing in {size.unserved} of {size.runs} runs",
        "unsmoothness": f"unsmoothness {_unsmoothness(size)}",
        "unfairness": f"unfairness {size.unfairness:.3f}",
    }
    return ", ".join(said[name] for name in size.breaks)


def _unsmoothness(size: Size) -> str:
    return "–" if size.unsmoothness is None else f"{size.unsmoothness:.2f}"


def _load(border: Border) -> list[str]:
    bps, load = border.without_routing_bps, border.routing_load
    return ["–" if bps is None else f"{bps / 1e3:.1f}", "–" if load is None else f"{100 * load:.1f}"]
