"""``manetlab recording``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from manetlab.cli import options
from manetlab.cli.groups import Group

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
