"""``manetlab scenario``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from manetlab.cli import options
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.scenario import Resolved
    from manetlab.topology import TopologyReport

app = typer.Typer(
    help="Show, check, make and convert scenarios.", no_args_is_help=True, rich_markup_mode=None
)

Output = Annotated[Path | None, typer.Option("--output", "-o", help="TOML file to write. [standard output]")]


@app.command()
def show(
    scenario: options.File = None,
    movement: options.MovementFile = None,
    traffic: options.TrafficFile = None,
    routing: options.Routing = None,
    tcp: options.Tcp = None,
    profile: options.Profile = None,
    duration: options.Duration = None,
    warmup: options.Warmup = None,
    seed: options.Seed = None,
    changes: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Print the resolved scenario: every parameter's value, unit and where it comes from."""
    asked = options.scenario_from(
        scenario,
        movement,
        traffic,
        changes,
        routing=routing,
        tcp=tcp,
        profile=profile,
        duration_s=duration,
        warmup_s=warmup,
        seed=seed,
    )
    resolved = asked.resolve()
    if as_json:
        print(json.dumps({**resolved.to_dict(), "hash": resolved.hash}))
    else:
        _print(resolved)


@app.command()
def report(
    scenario: options.File = None,
    movement: options.MovementFile = None,
    traffic: options.TrafficFile = None,
    routing: options.Routing = None,
    tcp: options.Tcp = None,
    profile: options.Profile = None,
    duration: options.Duration = None,
    warmup: options.Warmup = None,
    seed: options.Seed = None,
    changes: options.Set = None,
    as_json: options.Json = False,
    step: Annotated[float, typer.Option(help="Time between the instants looked at, s.")] = 1.0,
) -> None:
    """Say what the movement makes of the network: hops, partitions, neighbours, links; and warn."""
    from manetlab import topology

    asked = options.scenario_from(
        scenario,
        movement,
        traffic,
        changes,
        routing=routing,
        tcp=tcp,
        profile=profile,
        duration_s=duration,
        warmup_s=warmup,
        seed=seed,
    )
    found = topology.report(asked, step)
    if as_json:
        print(json.dumps(found.to_dict()))
    else:
        _print_report(found)


@app.command()
def capacity(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario in TOML.")],
    seed: options.Seed = None,
    changes: options.Set = None,
    step: Annotated[float, typer.Option(help="Time between the instants looked at, s.")] = 0.1,
    out: Annotated[Path | None, typer.Option(help="A .csv or .parquet file to write it to.")] = None,
) -> None:
    """Estimate what each flow could carry alone over the shortest path at each instant."""
    from manetlab.capacity import capacity_over_time
    from manetlab.files import check_apart
    from manetlab.series_files import check_columns_file, write_columns
    from manetlab.tables import Table, stdout_console

    asked = options.scenario_from(scenario, None, None, changes, seed=seed)
    check_apart({"--out": out}, (scenario, *asked.files))
    if out is not None:
        check_columns_file(out, "--out")
    resolved = asked.resolve()
    found = capacity_over_time(resolved, step_s=step)
    from_s = resolved.core["warmup_s"]
    rows = zip(found.pairs, found.means_bps(from_s), found.without_path(from_s), strict=True)
    table = Table("Estimated capacity in the window", ("flow", "nodes", "mean, kb/s", "no path, % of time"))
    for flow, ((src, dst), mean_bps, apart) in enumerate(rows):
        table.add(str(flow), f"{src} → {dst}", f"{mean_bps / 1e3:.1f}", f"{100 * apart:.1f}")
    table.print(stdout_console())
    if out is not None:
        write_columns(out, found.columns())


@app.command()
def check(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario in TOML.")],
) -> None:
    """Check a scenario without running it."""
    resolved = options.scenario_from(scenario, None, None, None).resolve()
    size = f"{resolved.movement.nodes} nodes, {len(resolved.flows)} flows"
    print(f"{scenario}: {size}, scenario {resolved.hash[:12]}: usable")


@app.command()
def generate(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")],
    duration: Annotated[float, typer.Option(help="Length of the movement, s.")],
    width: Annotated[float, typer.Option(help="The field's extent to the east, m.")] = 1000.0,
    height: Annotated[float, typer.Option(help="The field's extent to the north, m.")] = 1000.0,
    speed_min: Annotated[float, typer.Option(help="Least speed, m/s.")] = 1.0,
    speed_max: Annotated[float, typer.Option(help="Greatest speed, m/s.")] = 20.0,
    pause: Annotated[float, typer.Option(help="Rest at each waypoint, s.")] = 0.0,
    boundary: Annotated[
        Literal["classic", "wrap", "bounce"], typer.Option(help="At the field's edge.")
    ] = "classic",
    start: Annotated[
        Literal["stationary", "uniform"], typer.Option(help="How the movement begins.")
    ] = "stationary",
    tcp_flows: Annotated[int, typer.Option(help="Number of TCP flows.")] = 1,
    cbr_flows: Annotated[int, typer.Option(help="Number of CBR flows.")] = 10,
    cbr_bytes: Annotated[int, typer.Option(help="Payload of a CBR packet, bytes.")] = 512,
    cbr_interval: Annotated[float, typer.Option(help="Time between a CBR flow's packets, s.")] = 0.25,
    cbr_within_hops: Annotated[
        int | None, typer.Option(help="CBR goes at most so many hops, as the nodes start. [any]")
    ] = None,
    tcp_start: Annotated[
        float | None, typer.Option(help="When TCP begins, s. [with the measurement]")
    ] = None,
    warmup: Annotated[float, typer.Option(help="Measurement begins here, s.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of movement and traffic.")] = 1,
    movement: Annotated[Path | None, typer.Option(help="Movement file of ns-2 to write.")] = None,
    traffic: Annotated[Path | None, typer.Option(help="Traffic file of ns-2 to write.")] = None,
    output: Output = None,
) -> None:
    """Make a random waypoint scenario: as ns-2's files, or as TOML that holds the recipe."""
    from manetlab.scenario import Scenario

    waypoint = {
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
    fields = {
        "duration_s": duration,
        "warmup_s": warmup,
        "seed": seed,
        "movement": {"waypoint": waypoint},
        "traffic": {"random": pattern},
    }
    resolved = Scenario.build(fields, "command line").resolve()
    if movement is None and traffic is None:
        _write_toml(fields, output)
        return
    if output is not None:
        wanted = "--output, or --movement and --traffic"
        hint = "make the scenario twice; the same seed gives the same scenario"
        raise InputError("the output is either ns-2's files or TOML", "--output", str(output), wanted, hint)
    _write_ns2(resolved, movement, traffic)


@app.command()
def sessions(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario in TOML.")],
    seed: options.Seed = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write. [standard output]")
    ] = None,
) -> None:
    """Write a scenario's Web sessions to a file, which `traffic.web.sessions` reads again."""
    from manetlab import web
    from manetlab.files import check_apart, write_text

    check_apart({"--output": output}, (scenario,))
    resolved = options.scenario_from(scenario, None, None, None, seed=seed).resolve()
    if not any(flow["kind"] == "web" for flow in resolved.flows):
        hint = "for example [traffic.web] with clients = 10 in it"
        raise InputError("the scenario has no Web sessions", str(scenario), "none", "traffic.web", hint)
    text = web.text(resolved.flows)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)


@app.command("import")
def import_(
    movement: Annotated[Path, typer.Option(help="Movement file of ns-2 (setdest).")],
    traffic: Annotated[Path, typer.Option(help="Traffic file of ns-2 (cbrgen.tcl).")],
    duration: Annotated[float, typer.Option(help="Length of the run, s.")],
    warmup: options.Warmup = None,
    routing: options.Routing = None,
    tcp: options.Tcp = None,
    profile: options.Profile = None,
    seed: options.Seed = None,
    output: Output = None,
) -> None:
    """Make a TOML scenario from ns-2's files: flows one by one, the movement by the name of its file."""
    from manetlab.files import check_apart
    from manetlab.scenario import Scenario

    check_apart({"--output": output}, (movement, traffic))
    asked = options.scenario_from(
        None,
        movement,
        traffic,
        None,
        routing=routing,
        tcp=tcp,
        profile=profile,
        duration_s=duration,
        warmup_s=warmup,
        seed=seed,
    )
    resolved = asked.resolve()
    folder = (output.absolute().parent if output else Path.cwd()).resolve()
    place = movement.resolve()
    kept = asked.model_dump(exclude_unset=True, exclude={"movement", "traffic"})
    flows = [{key: value for key, value in flow.items() if value is not None} for flow in resolved.flows]
    name = str(place.relative_to(folder)) if place.is_relative_to(folder) else str(place)
    made = {**kept, "movement": {"file": name}, "traffic": {"flows": flows}}
    # ns-2's files may hold values that a scenario does not allow: told here, not when the TOML is read.
    Scenario.build(made, str(traffic))
    _write_toml(made, output)


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
    from manetlab.files import check_apart, check_writable, write_text

    texts = [
        (movement, resolved.movement.to_ns2),
        (traffic, lambda: _core.write_traffic(json.dumps(resolved.flows))),
    ]
    check_apart({"--movement": movement, "--traffic": traffic})
    ready = [(path, make()) for path, make in texts if path is not None]
    for path, _ in ready:
        check_writable(path)
    for path, text in ready:
        write_text(path, text)


def _print(resolved: Resolved) -> None:
    from manetlab import parameters
    from manetlab.cli.profiles import shown
    from manetlab.tables import Table, stdout_console

    console = stdout_console()
    asked = resolved.scenario
    head = Table(f"Scenario {resolved.hash}", ("what", "value"), text_columns=2)
    for key in ("duration_s", "warmup_s", "seed", "replication", "routing"):
        head.add(key, shown(resolved.core[key]))
    head.add("profile", asked.profile)
    head.add("movement", f"{resolved.movement.nodes} nodes, SHA-256 {resolved.movement.digest}")
    head.print(console)
    flows = Table("Flows", ("flow", "kind", "from", "to", "starts (s)", "what"), text_columns=2)
    for number, flow in enumerate(resolved.flows):
        rest = {k: v for k, v in flow.items() if k not in ("kind", "src", "dst", "start_s") and v is not None}
        if cycles := rest.pop("cycles", None):
            rest["cycles"] = len(cycles)
        what = ", ".join(f"{key} = {shown(value)}" for key, value in rest.items())
        flows.add(str(number), flow["kind"], str(flow["src"]), str(flow["dst"]), shown(flow["start_s"]), what)
    flows.print(console)
    table = Table("Parameters", ("parameter", "value", "unit", "set by", "source"), text_columns=5, spare=1)
    for section, known in parameters.schema().items():
        for parameter in known.values():
            value = shown(resolved.params[section][parameter.name])
            set_by = asked.set_by(section, parameter.name)
            table.add(parameter.key, value, parameter.unit, set_by, parameter.source)
    table.print(console)


def _print_report(found: TopologyReport) -> None:
    from manetlab.tables import Table, stdout_console

    def number(value: float | None, digits: int = 2) -> str:
        return "–" if value is None else f"{value:.{digits}f}"

    def percent(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.1f}"

    table = Table("Topology", ("what", "value", "unit"))
    for what, value, unit in (
        ("nodes", str(found.nodes), ""),
        ("range of a frame", number(found.range_m, 1), "m"),
        ("field", f"{found.width_m:.0f} × {found.height_m:.0f}", "m"),
        ("area of the field over area in range", number(found.area_in_discs), ""),
        ("diagonal of the field over range", number(found.diagonal_in_ranges), ""),
        ("shortest path, mean", number(found.hops_mean), "hops"),
        ("shortest path of a flow, mean", number(found.flow_hops_mean), "hops"),
        ("node pairs without a path", percent(found.partitioned_pairs), "%"),
        ("flows without a path", percent(found.flow_partitioned), "%"),
        ("time in which the network is partitioned", percent(found.partitioned_time), "%"),
        ("neighbours of a node, mean", number(found.degree_mean), ""),
        ("link changes", number(found.link_changes_per_s), "1/s"),
        ("lifetime of a link, mean", number(found.link_lifetime_s, 1), "s"),
        ("lifetime of a flow's shortest path, mean", number(found.path_lifetime_s, 1), "s"),
    ):
        table.add(what, value, unit)
    searched = "all nodes" if found.sources == found.nodes else f"{found.sources} nodes in turns"
    instants = f"{found.instants} instants {found.step_s:g} s apart, paths searched from {searched}"
    table.notes += [
        f"{instants}; links followed exactly.",
        *(f"warning: {warning}" for warning in found.warnings),
    ]
    table.print(stdout_console())
