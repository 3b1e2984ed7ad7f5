"""``manetlab recording``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import options
from manetlab.cli.groups import Group

if TYPE_CHECKING:
    from manetlab.recording import Recording

FILE = click.argument("file", type=options.PATH, metavar="RECORDING", help="A recording of a run.")


@click.group(cls=Group, no_args_is_help=True)
def app() -> None:
    """Describe or convert the recording of a run."""


@app.command()
@FILE
@options.JSON
def show(file: Path, as_json: bool) -> None:
    """Print the run that a recording is of, and its number of events."""
    from manetlab import recording

    opened = recording.open(file)
    events = sum(opened.index["events"].to_pylist())
    last_s = max(opened.index["last_s"].to_pylist(), default=0.0)
    if as_json:
        told = {"complete": opened.complete, "events": events, "last_s": last_s}
        print(json.dumps({**told, "head": {k: v for k, v in opened.head.items() if k != "tables"}}))
        return
    head = opened.head
    state = "complete" if opened.complete else f"cut off after {last_s:.6g} s"
    print(f"{file}: {head['made_by']}, {head['nodes']} nodes, {head['duration_s']:g} s, seed {head['seed']}")
    print(f"{state}; {events} events in {len(opened.index)} blocks, {file.stat().st_size} bytes")


@app.command()
@FILE
@click.option("--json-lines", is_flag=True, help="To JSON lines, the only format so far.")
@click.option("--output", "-o", type=options.WRITTEN, help="The file to write. [RECORDING.jsonl]")
def export(file: Path, json_lines: bool, output: Path | None) -> None:
    """Convert a recording to JSON lines."""
    from manetlab import _core
    from manetlab.errors import InputError
    from manetlab.files import completed

    if not json_lines:
        raise InputError("the format is missing", "recording export", "no option", "--json-lines")
    target = output or file.with_name(f"{file.name}.jsonl")
    options.check_written(also={"--output": target})
    with completed([target]) as places:
        _core.Recording(file).export_lines(places[target])
    print(target)


@app.command()
@FILE
@click.option("--flow", type=click.IntRange(min=0), help="Number of the flow. [all flows together]")
@click.option("--compare", type=options.PATH, metavar="OTHER", help="Another recording, beside it.")
@options.JSON
def stalls(file: Path, flow: int | None, compare: Path | None, as_json: bool) -> None:
    """Print what held flows up, and for how long.

    Each instant of a flow's life has one cause: no path, the search for a route, a queue, tries of the MAC, a
    loss, a timeout.
    """
    from manetlab import recording, tables

    paths = [file] if compare is None else [file, compare]
    shares = [_shares(recording.open(path), flow) for path in paths]
    if as_json:
        print(
            json.dumps(
                [
                    {"recording": str(path), "stalls": [*of.values()]}
                    for path, of in zip(paths, shares, strict=True)
                ]
            )
        )
        return
    keys = sorted(
        {key for of in shares for key in of},
        key=lambda key: -max(of[key]["share"] for of in shares if key in of),
    )
    named = [""] if compare is None else [f"{path.name}: " for path in paths]
    headings = [f"{name}{what}" for name in named for what in ("time (s)", "share (%)")]
    title = "What held the flows up" if flow is None else f"What held flow {flow} up"
    table = tables.Table(title, ["cause", "node", "lost because", *headings], text_columns=3, keys=3)
    for key in keys:
        found = [of.get(key, {"time_s": 0.0, "share": 0.0}) for of in shares]
        numbers = [text for each in found for text in (f"{each['time_s']:.3f}", f"{100 * each['share']:.1f}")]
        table.add(*("" if each is None else str(each) for each in key), *numbers)
    table.print(tables.stdout_console())


def _shares(opened: Recording, flow: int | None) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows: list[dict[str, Any]] = opened.stall_shares(flow).to_pylist()
    return {(row["cause"], row["node"], row["reason"]): row for row in rows}
