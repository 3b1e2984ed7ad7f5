"""Options that several commands share, and how they become a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.scenario import Scenario

File = Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", help="A scenario in TOML.")]
MovementFile = Annotated[Path | None, typer.Option("--movement", help="Movement file of ns-2 (setdest).")]
TrafficFile = Annotated[Path | None, typer.Option("--traffic", help="Traffic file of ns-2 (cbrgen.tcl).")]
Routing = Annotated[
    str | None,
    typer.Option(
        help="A protocol (docs/scenarios.md names them), or PROTOCOL:SET for a parameter set. [aodv]"
    ),
]
Tcp = Annotated[str | None, typer.Option(help="TCP sender: reno, sack, cubic, reno-f, elfn, … [reno]")]
Profile = Annotated[str | None, typer.Option(help="Set of defaults; see `manetlab profile list`. [rfc]")]
Duration = Annotated[float | None, typer.Option(help="Length of the run, s.")]
Warmup = Annotated[float | None, typer.Option(help="Measurement begins here, s. [0]")]
Seed = Annotated[int | None, typer.Option(help="Seed of all random streams. [1]")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.NAME=VALUE", help="Change a parameter; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def scenario_from(
    file: Path | None,
    movement: Path | None,
    traffic: Path | None,
    changes: list[str] | None,
    **fields: Any,
) -> Scenario:
    """The scenario that a command line describes.

    Args:
        file: A TOML file, or None.
        movement: A movement file, or None.
        traffic: A traffic file, or None.
        changes: Changed parameters as ``SECTION.NAME=VALUE``.
        **fields: Further fields of the scenario; None stands for not given.

    Raises:
        InputError: Something is missing, unknown or not allowed.
    """
    from manetlab.scenario import Scenario, merged

    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name, path in (("movement", movement), ("traffic", traffic)):
        if path is not None:
            # Relative to where the command runs, not to the TOML file's folder.
            given[name] = str(path if file is None else path.absolute())
    given = merged(given, _parsed(changes or []))
    if file is not None:
        return Scenario.load(file, given)
    for name, why in (
        ("movement", "where the nodes are and go"),
        ("traffic", "who talks to whom"),
        ("duration_s", "how long the run is; ns-2's files do not say it"),
    ):
        if name not in given:
            option = "--" + name.removesuffix("_s")
            hint = "or give a scenario in TOML instead of the two files"
            raise InputError(f"{option} is missing", "command line", "nothing", why, hint)
    return Scenario.build(given, "command line")


def _parsed(changes: list[str]) -> dict[str, dict[str, Any]]:
    """``SECTION.NAME=VALUE`` as values by section and name; values are written as in TOML."""
    import tomllib

    from manetlab import parameters
    from manetlab.errors import shown

    sections: dict[str, dict[str, Any]] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        section, dot, name = key.strip().partition(".")
        one_line = len(change.splitlines()) == 1
        if not (equals and dot and section and name and text.strip() and one_line):
            hint = "for example --set mac.slot_us=9"
            wanted = "SECTION.NAME=VALUE in one line"
            raise InputError("this changes no parameter", "--set", shown(change), wanted, hint)
        if section not in parameters.sections():
            raise parameters.unknown("section", section, parameters.sections(), "--set")
        try:
            value: Any = tomllib.loads(f"value = {text}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            value = text.strip()
        except ValueError:
            hint = "no parameter needs more than 20 digits"
            raise InputError(
                "the number is too long", f"--set {key.strip()}", f"{len(text)} characters", "a number", hint
            ) from None
        sections.setdefault(section, {})[name] = value
    return sections
