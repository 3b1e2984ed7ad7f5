"""Options that several commands share, and how they become a scenario."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.scenario import Scenario

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What `click.option` and `click.argument` return."""

PATH = click.Path(path_type=Path)

SCENARIO = click.argument("scenario", type=PATH, metavar="SCENARIO.toml", help="A scenario in TOML.")
ROUTING = click.option(
    "--routing",
    help="Routing protocol (docs/scenarios.md lists them), or PROTOCOL:SET for a parameter set. [aodv]",
)
TCP = click.option("--tcp", help="TCP sender: reno, sack, cubic, reno-f, elfn, … [reno]")
PROFILE = click.option("--profile", help="Set of defaults; see `manetlab profile list`. [rfc]")
DURATION = click.option("--duration", "duration_s", type=float, help="Length of the run, s.")
WARMUP = click.option("--warmup", "warmup_s", type=float, help="Start of the measurement, s. [0]")
SEED = click.option("--seed", type=int, help="Seed of all random streams. [1]")
SET = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="SECTION.NAME=VALUE",
    help="Change a parameter; may be repeated.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
JOBS = click.option("--jobs", type=click.IntRange(min=1), help="Number of parallel runs. [number of cores]")


def movement(required: bool = False) -> Decorator:
    """The option ``--movement`` of commands that read such a file."""
    return click.option("--movement", type=PATH, required=required, help="Movement file of ns-2 (setdest).")


def traffic(required: bool = False) -> Decorator:
    """The option ``--traffic`` of commands that read such a file."""
    return click.option("--traffic", type=PATH, required=required, help="Traffic file of ns-2 (cbrgen.tcl).")


def together(*decorators: Decorator) -> Decorator:
    """One decorator for several options, which help shows in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


ANY_SCENARIO = together(
    click.argument(
        "scenario", type=PATH, required=False, metavar="[SCENARIO.toml]", help="A scenario in TOML."
    ),
    movement(),
    traffic(),
    ROUTING,
    TCP,
    PROFILE,
    DURATION,
    WARMUP,
    SEED,
)
"""Everything but ``--set`` that says what to run; its values are those of `scenario_from`."""


def scenario_from(
    scenario: Path | None = None,
    movement: Path | None = None,
    traffic: Path | None = None,
    changes: Sequence[str] = (),
    **fields: Any,
) -> Scenario:
    """The scenario that a command line describes.

    Args:
        scenario: A TOML file, or None.
        movement: A movement file, or None.
        traffic: A traffic file, or None.
        changes: Changed parameters as ``SECTION.NAME=VALUE``.
        **fields: Further fields of the scenario; None stands for not given.

    Raises:
        InputError: Something is missing, unknown or not allowed.
    """
    from manetlab.scenario import Scenario
    from manetlab.scenario_data import merged

    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name, path in (("movement", movement), ("traffic", traffic)):
        if path is not None:
            # Relative to where the command runs, not to the TOML file's folder.
            given[name] = str(path if scenario is None else path.absolute())
    given = merged(given, parsed(changes))
    if scenario is not None:
        return Scenario.load(scenario, given)
    for name, why in (
        ("movement", "where the nodes are and go"),
        ("traffic", "who talks to whom"),
        ("duration_s", "the length of the run; ns-2's files do not contain it"),
    ):
        if name not in given:
            option = "--" + name.removesuffix("_s")
            hint = "or give a TOML scenario instead of the two files"
            raise InputError(f"{option} is missing", "command line", "nothing", why, hint)
    return Scenario.build(given, "command line")


def parsed(changes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """``SECTION.NAME=VALUE`` as values by section and name; values are written as in TOML."""
    if not changes:
        return {}
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
            raise InputError("not a change of a parameter", "--set", shown(change), wanted, hint)
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


def tell_warnings(found: Iterable[str]) -> None:
    """Reports on standard error what speaks against a scenario."""
    for each in found:
        print(f"warning: {each}", file=sys.stderr)
