"""``manetlab profile``."""

from __future__ import annotations

import json

import click

from manetlab.cli import options
from manetlab.cli.groups import Group


@click.group(cls=Group, no_args_is_help=True)
def app() -> None:
    """List, show or compare named sets of defaults."""


@app.command("list")
def list_() -> None:
    """Print the names of the profiles."""
    from manetlab import _core

    print("\n".join(_core.profiles()))


@app.command()
@click.argument("name", help="A profile's name.")
@options.JSON
def show(name: str, as_json: bool) -> None:
    """Print every parameter of a profile with unit and source."""
    from manetlab import parameters
    from manetlab.tables import Table, shown_value, stdout_console

    values = parameters.profile(name)
    if as_json:
        print(json.dumps(values))
        return
    table = Table(f"Profile {name}", ("parameter", "value", "unit", "source"), text_columns=4)
    for section, known in parameters.schema().items():
        for parameter in known.values():
            table.add(
                parameter.key, shown_value(values[section][parameter.name]), parameter.unit, parameter.source
            )
    table.print(stdout_console())


@app.command()
@click.argument("a", help="A profile's name.")
@click.argument("b", help="A profile's name.")
@options.JSON
def diff(a: str, b: str, as_json: bool) -> None:
    """Print the parameters in which two profiles differ."""
    from manetlab import parameters
    from manetlab.tables import Table, shown_value, stdout_console

    differences = parameters.diff(parameters.profile(a), parameters.profile(b))
    if as_json:
        print(json.dumps({parameter.key: {a: of_a, b: of_b} for parameter, of_a, of_b in differences}))
        return
    title = f"{len(differences)} parameters differ between {a} and {b}"
    table = Table(title, ("parameter", a, b, "unit", "meaning", "source"), text_columns=6)
    for parameter, of_a, of_b in differences:
        cells = (shown_value(of_a), shown_value(of_b), parameter.unit, parameter.meaning, parameter.source)
        table.add(parameter.key, *cells)
    table.print(stdout_console())
