"""``manetlab profile``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from manetlab.cli import options

app = typer.Typer(help="Named sets of defaults.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="A profile's name.")]


@app.command("list")
def list_() -> None:
    """Print the names of the profiles."""
    from manetlab import _core

    print("\n".join(_core.profiles()))


@app.command()
def show(name: Name, as_json: options.Json = False) -> None:
    """Print every parameter of a profile with unit and source."""
    from manetlab import parameters
    from manetlab.tables import Table, stdout_console

    values = parameters.profile(name)
    if as_json:
        print(json.dumps(values))
        return
    table = Table(f"Profile {name}", ("parameter", "value", "unit", "source"), text_columns=4, spare=1)
    for section, known in parameters.schema().items():
        for parameter in known.values():
            table.add(parameter.key, shown(values[section][parameter.name]), parameter.unit, parameter.source)
    table.print(stdout_console())


@app.command()
def diff(a: Name, b: Name, as_json: options.Json = False) -> None:
    """Print the parameters in which two profiles differ."""
    from manetlab import parameters
    from manetlab.tables import Table, stdout_console

    differences = parameters.diff(parameters.profile(a), parameters.profile(b))
    if as_json:
        print(json.dumps({parameter.key: {a: of_a, b: of_b} for parameter, of_a, of_b in differences}))
        return
    title = f"{len(differences)} parameters differ between {a} and {b}"
    table = Table(title, ("parameter", a, b, "unit", "meaning", "source"), text_columns=6, spare=2)
    for parameter, of_a, of_b in differences:
        cells = (shown(of_a), shown(of_b), parameter.unit, parameter.meaning, parameter.source)
        table.add(parameter.key, *cells)
    table.print(stdout_console())


def shown(value: object) -> str:
    """A parameter's value as TOML writes it, numbers short."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.10g}"
    return str(value)
