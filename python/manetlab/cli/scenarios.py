"""``manetlab scenario``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import choices, options
from manetlab.cli.groups import Group
from manetlab.cli.progress import waiting
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.contents import Contents
    from manetlab.resolving import Resolved
    from manetlab.topology import SelectionReport, TopologyReport

OUTPUT = options.output("TOML file to write. [standard output]")


@click.group(cls=Group, no_args_is_help=True)
def app() -> None:
    """Show, check, generate and convert scenarios."""


@app.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
def show(scenario: Path | None, as_json: bool, **described: Any) -> None:
    """Print the resolved scenario.

    That is every parameter with its value, unit and origin.
    """
    resolved = options.scenario_from(scenario, **described).resolve()
    if as_json:
        print(json.dumps({**resolved.to_dict(), "hash": resolved.hash}))
    else:
        _print(resolved)


@app.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
@click.option("--step", type=float, default=1.0, help="Time between two instants, s.")
def report(scenario: Path | None, as_json: bool, step: float, **described: Any) -> None:
    """Analyse the topology: hops, partitions, links."""
    from manetlab import topology

    base = options.scenario_from(scenario, needs_traffic=False, **described)
    with waiting("topology"):
        topology_report = topology.report(base, step)
    if as_json:
        print(json.dumps(topology_report.to_dict()))
    else:
        _print_report(topology_report)


@app.command()
@options.SCENARIO
@options.SEED
@options.SET
@options.JSON
@click.option("--hops", type=int, required=True, help="Hop count that the flows' shortest paths keep.")
@click.option(
    "--share", type=float, default=1.0, help="Minimum share of the measurement for which they keep it."
)
@click.option("--count", type=int, default=20, help="Number of scenarios to find.")
@click.option("--draws", type=int, default=10_000, help="Maximum number of draws for each scenario.")
@options.output("File to write the draws to, .csv or .parquet.")
@options.renamed("--out", "--output")
def search(
    scenario: Path,
    seed: int | None,
    changes: tuple[str, ...],
    as_json: bool,
    hops: int,
    share: float,
    count: int,
    draws: int,
    output: Path | None,
) -> None:
    """Find scenarios whose paths keep their hop count.

    The movement and the flows of these scenarios are compared with those of an unselected sample.
    """
    from manetlab import topology
    from manetlab.series_files import check_columns_file, write_columns

    base = options.scenario_from(scenario, changes=changes, seed=seed)
    options.check_written(base)
    if output is not None:
        check_columns_file(output, "--output")
    with waiting("search"):
        selection = topology.search(base, hops, share, count, draws)
    if as_json:
        print(json.dumps(selection.to_dict()))
    else:
        _print_selection(selection)
    if output is not None:
        rows = [
            (each.replication, each.draw, src, dst, held)
            for each in selection.found
            for (src, dst), held in zip(each.pairs, each.shares, strict=True)
        ]
        names = ("replication", "draw", "src", "dst", "share")
        write_columns(output, {name: [row[at] for row in rows] for at, name in enumerate(names)})


@app.command()
@options.SCENARIO
@options.SEED
@options.SET
@click.option("--step", type=float, default=0.1, help="Time between two instants, s.")
@options.output("File to write it to, .csv or .parquet.")
@options.renamed("--out", "--output")
def capacity(
    scenario: Path, seed: int | None, changes: tuple[str, ...], step: float, output: Path | None
) -> None:
    """Estimate each flow's capacity over time.

    That is what it could carry alone over the shortest path at each instant.
    """
    from manetlab.capacity import capacity_over_time
    from manetlab.series_files import check_columns_file, write_columns
    from manetlab.tables import Table, stdout_console

    base = options.scenario_from(scenario, changes=changes, seed=seed)
    options.check_written(base)
    if output is not None:
        check_columns_file(output, "--output")
    resolved = base.resolve()
    with waiting("capacity"):
        capacities = capacity_over_time(resolved, step_s=step)
    from_s = resolved.core["warmup_s"]
    rows = zip(capacities.pairs, capacities.means_bps(from_s), capacities.without_path(from_s), strict=True)
    table = Table(
        "Estimated capacity in the measurement window",
        ("flow", "nodes", "mean, kb/s", "time without a path, %"),
    )
    for flow, ((src, dst), mean_bps, apart) in enumerate(rows):
        ends = f"{resolved.name_of(src)} → {resolved.name_of(dst)}"
        table.add(str(flow), ends, f"{mean_bps / 1e3:.1f}", f"{100 * apart:.1f}")
    table.print(stdout_console())
    if output is not None:
        write_columns(output, capacities.columns())


@app.command()
@options.ANY_SCENARIO
@options.SET
@click.option(
    "--what",
    type=click.Choice(["topology", "links", "delivery", "movement", "connectivity"]),
    default="topology",
    help="Links and the flows' paths at an instant; good and grey links; their delivery against distance; "
    "the nodes' tracks; neighbours and partitions over time.",
)
@click.option("--at", "at_s", type=float, default=0.0, help="The instant of the topology, s.")
@click.option(
    "--step", "step_s", type=float, default=1.0, help="Time between the instants of connectivity, s."
)
@options.output("Picture to write, .svg, .pdf or .png.", required=True)
def plot(
    scenario: Path | None, what: str, at_s: float, step_s: float, output: Path, **described: Any
) -> None:
    """Draw a scenario: topology, links, movement, or connectivity."""
    from manetlab import pictures

    base = options.scenario_from(scenario, needs_traffic=False, **described)
    options.check_written(base)
    pictures.save(base, output, what, at_s=at_s, step_s=step_s)
    print(f"{output}: {what} of {scenario or described['movement']}")


@app.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
@click.option("--at", "at_s", type=float, default=0.0, help="The instant, s.")
def links(scenario: Path | None, as_json: bool, at_s: float, **described: Any) -> None:
    """Tell what the links are like: delivery against distance.

    `scenario plot --what links` and `--what delivery` draw them.
    """
    from manetlab.links import summary

    resolved = options.scenario_from(scenario, **described).resolve()
    with waiting("links"):
        told = summary(resolved, at_s)
    if as_json:
        print(json.dumps(told))
    else:
        _print_links(told)


def _print_links(told: dict[str, Any]) -> None:
    from manetlab.tables import Table, stdout_console

    columns = ("distance (m)", "pairs", "good links", "grey links", "delivered frames (%)")
    table = Table(f"Links at {told['at_s']:g} s", columns)
    for each in told["distances"]:
        distance = f"{each['from_m']:.0f}–{each['to_m']:.0f}"
        delivered = f"{100 * each['delivery']:.1f}" if each["pairs"] else "–"
        table.add(distance, str(each["pairs"]), str(each["good"]), str(each["grey"]), delivered)
    good, one_way, grey = told["good"], told["one_way"], told["grey"]
    table.notes += [
        f"{told['nodes']} nodes, {good} good links (each way counts), {one_way} of them without a good one "
        f"back, {grey} grey ones, over which 10 to 90 % of the frames arrive.",
        "Data frames of 1058 bytes at the data rate, or with rate control at the slowest; no other frame.",
    ]
    table.print(stdout_console())


@app.command()
@options.ANY_SCENARIO
@options.SET
@options.JSON
def check(scenario: Path | None, as_json: bool, **described: Any) -> None:
    """Check a scenario without running it, and say what is in it.

    That is the nodes, the field, the network over time, and what each flow can deliver at most. A scenario
    can be valid and still not test protocols: warnings say why.
    """
    from manetlab.cautions import notes
    from manetlab.contents import contents
    from manetlab.scenario_warnings import before_run

    resolved = options.scenario_from(scenario, needs_traffic=False, **described).resolve()
    with waiting("topology"):
        found = contents(resolved)
    if as_json:
        print(json.dumps({**found.to_dict(), "warnings": before_run(resolved), "notes": notes(resolved)}))
        return
    flows = len(resolved.flows)
    size = f"{resolved.movement.nodes} nodes, {flows} flow{'' if flows == 1 else 's'}"
    print(f"{scenario or described['movement']}: {size}, scenario {resolved.hash[:12]}: usable")
    _print_contents(found)
    for said in notes(resolved):
        print(f"note: {said}", file=sys.stderr)
    with waiting("topology"):
        warnings = before_run(resolved)
    options.tell_warnings(warnings)


@app.command()
@click.option(
    "--model",
    default="waypoint",
    metavar="NAME",
    help="Movement model; `manetlab docs parameters` lists the parameters of each, which --set changes.",
    shell_complete=choices.complete("models"),
)
@click.option("--nodes", type=int, required=True, help="Number of nodes.")
@click.option("--duration", type=float, required=True, help="Length of the movement, s.")
@click.option("--width", type=float, help="Width of the field, m. [the model's: 1000]")
@click.option("--height", type=float, help="Height of the field, m. [the model's: 1000]")
@click.option("--speed-min", type=float, help="Minimum speed, m/s. [the model's: 1]")
@click.option("--speed-max", type=float, help="Maximum speed, m/s. [the model's: 20]")
@click.option("--pause", type=float, help="Pause at each waypoint, s. [0]")
@click.option(
    "--boundary",
    type=click.Choice(["classic", "wrap", "bounce"]),
    help="Rule for the edge of the field. [classic]",
)
@click.option(
    "--start",
    type=click.Choice(["stationary", "uniform"]),
    help="Initial state of the movement. [stationary]",
)
@click.option("--tcp-flows", type=int, default=1, help="Number of TCP flows.")
@click.option("--cbr-flows", type=int, default=10, help="Number of CBR flows.")
@click.option("--cbr-bytes", type=int, default=512, help="Payload of a CBR packet, bytes.")
@click.option("--cbr-interval", type=float, default=0.25, help="Time between a CBR flow's packets, s.")
@click.option(
    "--cbr-within-hops", type=int, help="Maximum number of hops of a CBR flow when the run begins. [any]"
)
@click.option("--tcp-start", type=float, help="Start of the TCP flows, s. [start of the measurement]")
@click.option("--warmup", type=float, default=0.0, help="Start of the measurement, s.")
@click.option("--seed", type=int, default=1, help="Seed of movement and traffic.")
@click.option("--movement", type=options.WRITTEN, help="Movement file of ns-2 to write.")
@click.option("--traffic", type=options.WRITTEN, help="Traffic file of ns-2 to write.")
@options.SET
@OUTPUT
def generate(
    model: str,
    nodes: int,
    duration: float,
    width: float | None,
    height: float | None,
    speed_min: float | None,
    speed_max: float | None,
    pause: float | None,
    boundary: str | None,
    start: str | None,
    tcp_flows: int,
    cbr_flows: int,
    cbr_bytes: int,
    cbr_interval: float,
    cbr_within_hops: int | None,
    tcp_start: float | None,
    warmup: float,
    seed: int,
    movement: Path | None,
    traffic: Path | None,
    changes: tuple[str, ...],
    output: Path | None,
) -> None:
    """Generate a scenario of random waypoint or another movement model.

    It is written as TOML with its parameters, or as ns-2's files.
    """
    from manetlab.scenario import Scenario
    from manetlab.scenario_data import assign

    options.check_written()
    given = {
        "nodes": nodes,
        "width_m": width,
        "height_m": height,
        "speed_min": speed_min,
        "speed_max": speed_max,
        "pause_s": pause,
        "boundary": boundary,
        "start": start,
    }
    pattern: dict[str, Any] = {
        "tcp": tcp_flows,
        "cbr": cbr_flows,
        "cbr_bytes": cbr_bytes,
        "cbr_interval_s": cbr_interval,
    }
    if cbr_within_hops is not None:
        pattern["cbr_within_hops"] = cbr_within_hops
    if tcp_start is not None:
        pattern["tcp_start_s"] = tcp_start
    fields: dict[str, Any] = {
        "duration_s": duration,
        "warmup_s": warmup,
        "seed": seed,
        "movement": {model: _of_model(model, given)},
        "traffic": {"random": pattern},
    }
    for name, value in options.assigned(changes).items():
        fields = assign(fields, name, value, "--set")
    resolved = Scenario.build(fields, "command line").resolve()
    if movement is None and traffic is None:
        _write_toml(fields, output)
        return
    if output is not None:
        wanted = "--output, or --movement and --traffic"
        hint = "generate the scenario twice; the same seed gives the same scenario"
        raise InputError("the output is either ns-2's files or TOML", "--output", str(output), wanted, hint)
    _write_ns2(resolved, movement, traffic)


def _of_model(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a movement model that are given; of random waypoint, with all that can be given."""
    from manetlab import parameters

    if model not in (models := parameters.movement_defaults()):
        raise parameters.unknown("movement model", model, models, "--model", "models")
    drawn = {name: value for name, value in given.items() if value is not None}
    if model == "waypoint":
        return {name: drawn.get(name, models[model][name]) for name in given}
    return drawn


@app.command()
@options.SCENARIO
@options.SEED
@options.output("File to write. [standard output]")
def sessions(scenario: Path, seed: int | None, output: Path | None) -> None:
    """Write a scenario's Web sessions to a file.

    `traffic.web.sessions` reads such files.
    """
    from manetlab import web
    from manetlab.files import write_text

    asked = options.scenario_from(scenario, seed=seed)
    options.check_written(asked)
    resolved = asked.resolve()
    if not any(flow["kind"] == "web" for flow in resolved.flows):
        hint = "for example [traffic.web] with clients = 10"
        raise InputError("the scenario has no Web sessions", str(scenario), "none", "traffic.web", hint)
    text = web.text(resolved.flows)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)


@app.command("import")
@click.argument("script", type=options.PATH, required=False, metavar="[SCRIPT.tcl]", help="A script of ns-2.")
@options.movement()
@options.traffic()
@options.DURATION
@options.WARMUP
@options.ROUTING
@options.TCP
@options.PROFILE
@options.SEED
@click.option("--arguments", metavar="TEXT", help="The script's arguments ($argv), parted by blanks.")
@click.option("--anyway", is_flag=True, help="Leave out what has no counterpart here.")
@OUTPUT
def import_(
    script: Path | None,
    movement: Path | None,
    traffic: Path | None,
    arguments: str | None,
    anyway: bool,
    output: Path | None,
    **described: Any,
) -> None:
    """Convert a script of ns-2, or its files, to a TOML scenario.

    It lists the flows one by one, and names the movement file or, where nodes move, the script. What of a
    script has no counterpart is listed on standard error, by line.
    """
    from manetlab.scenario import Scenario

    options.check_written()
    if script is not None:
        if movement is not None or traffic is not None:
            wanted, hint = "a script, or --movement and --traffic", "a script says both"
            raise InputError("a script has its own movement and traffic", str(script), "both", wanted, hint)
        _import_script(script, (arguments or "").split(), anyway, output, described)
        return
    asked = options.scenario_from(movement=movement, traffic=traffic, **described)
    options.check_written(asked)
    assert movement is not None
    resolved = asked.resolve()
    kept = {key: value for key, value in asked.to_dict().items() if key not in ("movement", "traffic")}
    flows = [{key: value for key, value in flow.items() if value is not None} for flow in resolved.flows]
    made = {**kept, "movement": {"file": _name_from(output, movement)}, "traffic": {"flows": flows}}
    # ns-2's files may hold values that a scenario does not allow: told here, not when the TOML is read.
    Scenario.build(made, str(traffic))
    _write_toml(made, output)


def _import_script(
    script: Path, arguments: list[str], anyway: bool, output: Path | None, described: dict[str, Any]
) -> None:
    from manetlab import script_scenario

    written = {name: value for name, value in described.items() if value is not None}
    scenario, imported = script_scenario.scenario(script, written, arguments=arguments, anyway=anyway)
    for note in imported.notes:
        print(f"note: {note}", file=sys.stderr)
    for left_out in imported.unknown:
        print(f"warning: left out, results depend on it: {left_out}", file=sys.stderr)
    made = scenario.to_dict()
    if "file" in made["movement"]:
        made["movement"] = {"file": _name_from(output, script)}
    _write_toml(made, output)


def _name_from(output: Path | None, path: Path) -> str:
    """The name of a file for a TOML file that is written there: relative if it is in its folder."""
    folder = (output.absolute().parent if output else Path.cwd()).resolve()
    place = path.resolve()
    return str(place.relative_to(folder)) if place.is_relative_to(folder) else str(place)


def _write_toml(fields: dict[str, Any], output: Path | None) -> None:
    import tomli_w

    from manetlab.files import write_text

    text = tomli_w.dumps(fields)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)


def _write_ns2(resolved: Resolved, movement: Path | None, traffic: Path | None) -> None:
    from manetlab import _core
    from manetlab.files import write_files
    from manetlab.movement_files import check_in_ns2_form

    if movement is not None:
        check_in_ns2_form(resolved.movement, "--movement")
    texts = [
        (movement, resolved.movement.to_ns2),
        (traffic, lambda: _core.write_traffic(json.dumps(resolved.flows))),
    ]
    write_files([(path, make().encode()) for path, make in texts if path is not None])


def _print(resolved: Resolved) -> None:
    from manetlab import parameters
    from manetlab.tables import Table, stdout_console
    from manetlab.tables import shown_value as shown

    console = stdout_console()
    scenario = resolved.scenario
    summary = Table(f"Scenario {resolved.hash}", ("what", "value"), text_columns=2)
    for key in ("duration_s", "warmup_s", "seed", "replication", "routing"):
        summary.add(key, shown(resolved.core[key]))
    summary.add("profile", scenario.profile)
    summary.add("movement", f"{resolved.movement.nodes} nodes, SHA-256 {resolved.movement.digest}")
    summary.print(console)
    flows = Table("Flows", ("flow", "kind", "from", "to", "starts (s)", "what"), text_columns=2)
    for number, flow in enumerate(resolved.flows):
        fields = {
            k: v for k, v in flow.items() if k not in ("kind", "src", "dst", "start_s") and v is not None
        }
        if cycles := fields.pop("cycles", None):
            fields["cycles"] = len(cycles)
        what = ", ".join(f"{key} = {shown(value)}" for key, value in fields.items())
        ends = (resolved.name_of(flow[end]) for end in ("src", "dst"))
        flows.add(str(number), flow["kind"], *ends, shown(flow["start_s"]), what)
    flows.print(console)
    table = Table("Parameters", ("parameter", "value", "unit", "set by", "source"), text_columns=5)
    for section, parameters_of_section in parameters.schema().items():
        for parameter in parameters_of_section.values():
            value = shown(resolved.params[section][parameter.name])
            set_by = scenario.set_by(section, parameter.name)
            table.add(parameter.key, value, parameter.unit, set_by, parameter.source)
    table.print(console)


def _print_selection(selection: SelectionReport) -> None:
    from manetlab.metrics import Metric
    from manetlab.stats import mean_interval
    from manetlab.tables import Table, stdout_console
    from manetlab.topology import NO_RANDOM_SAMPLE

    for_share = (
        "all of the time" if selection.share == 1 else f"at least {100 * selection.share:g} % of the time"
    )
    table = Table(
        f"{len(selection.found)} scenarios with {selection.hops} hops for {for_share}",
        ("what", "selected", "unselected", "unit"),
    )

    def shown(values: list[float]) -> str:
        if len(values) < 2:
            return f"{values[0]:.2f}" if values else "–"
        return Metric("", "", digits=2).show_interval(mean_interval(values))

    for key, what, unit in (
        ("degree_mean", "mean number of neighbours", ""),
        ("flow_degree_mean", "mean number of neighbours of the flows' ends", ""),
        ("speed_mean", "mean speed", "m/s"),
        ("flow_speed_mean", "mean speed of the flows' ends", "m/s"),
        ("flow_hops_mean", "mean shortest path of a flow", "hops"),
    ):
        table.add(what, shown(selection.selected[key]), shown(selection.unselected[key]), unit)
    lifetimes = ["–" if each is None else f"{each:.1f}" for each in selection.lifetimes_s]
    table.add("mean lifetime of a flow's shortest path", *lifetimes, "s")
    draws = [each.draw for each in selection.found]
    draws_note = f"Mean and 95 % interval over scenarios; {sum(draws) + len(draws)} draws examined for these."
    table.notes += [draws_note, NO_RANDOM_SAMPLE]
    if selection.missing:
        table.notes.append(
            f"No draw of {selection.draws} was found for {len(selection.missing)} of "
            f"{len(selection.missing) + len(selection.found)} scenarios."
        )
    table.print(stdout_console())


def _print_contents(found: Contents) -> None:
    from manetlab.tables import Table, stdout_console

    def percent(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.1f}"

    for line in found.lines:
        print(line)
    over_time = Table(
        "The network over time", ("from, s", "to, s", "neighbours", "node pairs without a path, %")
    )
    for part in found.over_time:
        row = (f"{part.from_s:g}", f"{part.until_s:g}", f"{part.degree_mean:.1f}")
        over_time.add(*row, percent(part.partitioned_pairs))
    over_time.print(stdout_console())
    if found.ceilings:
        headings = ("flow", "from", "to", "path when sent, %", "can arrive in 30 s, %", "ceiling, %")
        table = Table("What the movement lets arrive of each flow", headings, keys=3)
        for each in found.ceilings:
            shares = map(percent, (each.with_path, each.held, each.ceiling))
            table.add(str(each.flow), found.name(each.src), found.name(each.dst), *shares)
        table.notes.append(
            "Ceiling: what can arrive before the run ends if every node keeps what it cannot pass on; no "
            "protocol delivers more. One that keeps no packets delivers at most about what has a path when "
            "it is sent."
        )
        table.print(stdout_console())


def _print_report(report: TopologyReport) -> None:
    from manetlab.tables import Table, stdout_console
    from manetlab.topology import with_kind

    def number(value: float | None, digits: int = 2) -> str:
        return "–" if value is None else f"{value:.{digits}f}"

    def percent(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.1f}"

    table = Table("Topology", ("what", "value", "unit"))
    for what, value, unit in (
        ("nodes", str(report.nodes), ""),
        ("receive range", number(report.range_m, 1), "m"),
        ("field", f"{report.width_m:.0f} × {report.height_m:.0f}", "m"),
        ("area of the field / area in range", number(report.area_in_discs), ""),
        ("diagonal of the field / range", number(report.diagonal_in_ranges), ""),
        ("mean shortest path", number(report.hops_mean), "hops"),
        ("mean shortest path of a flow", number(report.flow_hops_mean), "hops"),
        ("node pairs without a path", percent(report.partitioned_pairs), "%"),
        ("flows without a path", percent(report.flow_partitioned), "%"),
        ("time with a partitioned network", percent(report.partitioned_time), "%"),
        ("mean number of neighbours", number(report.degree_mean), ""),
        ("mean number of neighbours of the flows' ends", number(report.flow_degree_mean), ""),
        ("mean speed", number(report.speed_mean), "m/s"),
        ("mean speed of the flows' ends", number(report.flow_speed_mean), "m/s"),
        ("geometric mobility", number(report.geometric_mobility), "m/s"),
        ("link changes", number(report.link_changes_per_s), "1/s"),
        ("mean lifetime of a link", number(report.link_lifetime_s, 1), "s"),
        ("grey links, when the measurement begins", percent(report.grey_links), "%"),
        ("mean lifetime of a flow's shortest path", number(report.path_lifetime_s, 1), "s"),
    ):
        table.add(what, value, unit)
    searched = (
        "all nodes" if report.sources == report.nodes else f"{report.sources} nodes at a time, in rotation"
    )
    instants = f"{report.instants} instants {report.step_s:g} s apart, paths searched from {searched}"
    table.notes += [
        f"{instants}; links are followed exactly.",
        *map(with_kind, report.warnings),
    ]
    table.print(stdout_console())
