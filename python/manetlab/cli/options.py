"""Options that several commands share, and how they become a scenario."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manetlab.cli import choices
from manetlab.errors import InputError

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.campaign.results import Results
    from manetlab.recording import RecordTo
    from manetlab.scenario import Scenario

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What `click.option` and `click.argument` return."""

PATH = click.Path(path_type=Path)
"""A file or folder that is read, or the store that a command continues."""


class WrittenPath(click.Path):
    """A file that a command writes: what has its name is replaced, so it must be none that is read."""


class FolderPath(click.Path):
    """A folder that a command writes to: only what the command itself has written there is replaced."""


WRITTEN = WrittenPath(path_type=Path)
FOLDER = FolderPath(path_type=Path)

SCENARIO = click.argument(
    "scenario", type=PATH, metavar="SCENARIO.toml", help="A scenario in TOML, or a script of ns-2."
)
ROUTING = click.option(
    "--routing",
    metavar="PROTOCOL[:SET]",
    help="Routing protocol, with or without a parameter set; see `manetlab list protocols`. [aodv]",
    shell_complete=choices.complete("protocols", "sets"),
)
TCP = click.option(
    "--tcp",
    metavar="SENDER",
    help="TCP sender; see `manetlab list senders`. [reno]",
    shell_complete=choices.complete("senders"),
)
PROFILE = click.option(
    "--profile",
    metavar="PROFILE",
    help="Set of defaults; see `manetlab list profiles`. [rfc]",
    shell_complete=choices.complete("profiles"),
)
PRESET = click.option(
    "--preset",
    help="A scenario that has a name: conference, event, disaster or disaster_area.",
    shell_complete=choices.complete("presets"),
)
DURATION = click.option("--duration", "duration_s", type=float, help="Length of the run, s.")
WARMUP = click.option("--warmup", "warmup_s", type=float, help="Start of the measurement, s. [0]")
SEED = click.option("--seed", type=int, help="Seed of all random streams. [1]")
SET = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change a field of the scenario, dotted as a campaign's factors are: tcp.window=8; may be repeated.",
    shell_complete=choices.complete_changes,
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
JOBS = click.option("--jobs", type=click.IntRange(min=1), help="Number of parallel runs. [number of cores]")


def movement(required: bool = False) -> Decorator:
    """The option ``--movement`` of commands that read such a file."""
    return click.option(
        "--movement",
        type=PATH,
        required=required,
        help="Movement file: of ns-2 (setdest), SUMO, GPX, CSV and others.",
    )


def traffic(required: bool = False) -> Decorator:
    """The option ``--traffic`` of commands that read such a file."""
    return click.option("--traffic", type=PATH, required=required, help="Traffic file of ns-2 (cbrgen.tcl).")


def output(what: str, required: bool = False, kind: click.Path = WRITTEN) -> Decorator:
    """The option ``--output`` of a command that writes a file or a folder; ``what`` is its help."""
    return click.option("--output", "-o", type=kind, required=required, help=what)


def check_written(
    *scenarios: Scenario, inputs: Iterable[Path | None] = (), also: Mapping[str, Path | None] | None = None
) -> None:
    """The check that every command makes before it works: what it writes replaces nothing that it reads.

    It knows the paths on the command line by the types of their options, so that none is forgotten.

    Args:
        *scenarios: Those that the command reads, with all files that they name.
        inputs: What else is read and not named on the command line.
        also: Outputs that are not named there, or are under names made of one that is.

    Raises:
        InputError: An output cannot be written, or takes the place of an input or of another output.
    """
    from manetlab.files import check_outputs

    context = click.get_current_context()
    given = [(each, context.params.get(each.name or "")) for each in context.command.params]
    written = {each.opts[0]: path for each, path in given if isinstance(each.type, WrittenPath)}
    found = [value for each, value in given if each.type is PATH]
    read = [path for value in found for path in (value if isinstance(value, tuple) else (value,))]
    named = [path for scenario in scenarios for path in scenario.inputs]
    check_outputs({**written, **(also or {})}, [*read, *named, *inputs])


def renamed(old: str, new: str) -> Decorator:
    """An option under its former name, which is refused with a hint at the name that it has."""

    def refuse(_: click.Context, __: click.Parameter, value: object) -> None:
        if value is not None:
            raise InputError("no such option", "command line", old, new, f"{old} is now {new}")

    name = "former" + old.replace("-", "_")
    return click.option(old, name, hidden=True, expose_value=False, callback=refuse)


def together(*decorators: Decorator) -> Decorator:
    """One decorator for several options, which help shows in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


DESCRIBED = together(PRESET, movement(), traffic(), ROUTING, TCP, PROFILE, DURATION, WARMUP, SEED)
"""What describes a scenario beside its file."""
ANY_SCENARIO = together(
    click.argument(
        "scenario",
        type=PATH,
        required=False,
        metavar="[SCENARIO.toml]",
        help="A scenario in TOML, or a script of ns-2.",
    ),
    DESCRIBED,
)
"""Everything but ``--set`` that says what to run; its values are those of `scenario_from`."""


def scenario_from(
    scenario: Path | None = None,
    movement: Path | None = None,
    traffic: Path | None = None,
    changes: Sequence[str] = (),
    needs_traffic: bool = True,
    **fields: Any,
) -> Scenario:
    """The scenario that a command line describes.

    Movement alone is enough: the run is then as long as the movement, with the flows of `DEFAULT_TRAFFIC` if
    any are needed, and a line on standard error says so.

    Args:
        scenario: A TOML file, or None.
        movement: A movement file, or None.
        traffic: A traffic file, or None.
        changes: Changed fields as ``FIELD=VALUE``.
        needs_traffic: Whether flows are needed; else there are none unless they are given.
        **fields: Further fields of the scenario; None stands for not given.

    Raises:
        InputError: Something is missing, unknown or not allowed.
    """
    from manetlab import movement_files, presets
    from manetlab.scenario import Scenario
    from manetlab.scenario_data import assign

    written: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name, path in (("movement", movement), ("traffic", traffic)):
        if path is not None:
            # Relative to where the command runs, not to the TOML file's folder.
            given = str(path if scenario is None else path.absolute())
            several = name == "movement" and bool(movement_files.SPECIAL & set(given)) and not path.exists()
            written[name] = {"files": [given]} if several else given
    assignments = assigned(changes)
    if scenario is not None and is_script(scenario):
        return _of_script(scenario, written, assignments)
    if scenario is not None:
        return Scenario.load(scenario, written, assignments)
    written = presets.expanded(written, "command line")
    for name, value in assignments.items():
        written = assign(written, name, value, "--set")
    if "movement" not in written:
        hint = "or give a scenario in TOML; `manetlab docs scenarios` describes them"
        why = "the movement of the nodes, as a file"
        raise InputError("--movement is missing", "command line", "nothing", why, hint)
    return Scenario.build(_completed(written, needs_traffic), "command line")


DEFAULT_TRAFFIC = {"random": {"cbr": 5}}
"""What is sent over movement that is given alone."""
DEFAULT_S = 100.0
"""The length of a run over movement that has no end, in s."""


def _completed(written: dict[str, Any], needs_traffic: bool) -> dict[str, Any]:
    """A scenario of movement alone with what it lacks; a line on standard error says what that is."""
    from manetlab.scenario import Scenario

    made, told = dict(written), []
    if "traffic" not in made:
        made["traffic"] = DEFAULT_TRAFFIC if needs_traffic else {"flows": []}
        if needs_traffic:
            load = "5 CBR flows of 512 bytes four times a second, between nodes drawn from the seed"
            told.append(f"{load} (--traffic FILE, --set traffic.random.cbr=N)")
    if "duration_s" not in made:
        alone = {"movement": made["movement"], "traffic": {"flows": []}, "duration_s": 1.0}
        ends_s = Scenario.build(alone, "command line").resolve().movement.ends_s
        made["duration_s"] = math.ceil(ends_s) if ends_s > 0 else DEFAULT_S
        told.append(f"{made['duration_s']:g} s, as long as the movement (--duration S)")
    if told:
        print(f"note: not given, so taken: {'; '.join(told)}", file=sys.stderr)
    return made


MOST_NOTES = 8
"""The maximum number of notes on a script that a command prints which only runs it."""


def is_script(path: Path) -> bool:
    """Whether a file is a script of ns-2."""
    from manetlab import file_kinds
    from manetlab.files import head_of

    try:
        return file_kinds.is_script(head_of(path, "scenario file"))
    except InputError:
        # Whoever reads it says what is wrong with it.
        return False


def _of_script(path: Path, written: dict[str, Any], assignments: dict[str, Any]) -> Scenario:
    from manetlab import script_scenario

    scenario, imported = script_scenario.scenario(path, written, assignments)
    notes = imported.notes
    for note in notes[:MOST_NOTES]:
        print(f"note: {note}", file=sys.stderr)
    if (more := len(notes) - MOST_NOTES) > 0:
        print(f"note: and {more} more; `manetlab scenario import {path}` lists them", file=sys.stderr)
    return scenario


TRUST = click.option(
    "--trust",
    is_flag=True,
    help="Import the code that the store names, and read its files wherever they are.",
)


PYTHON = click.option(
    "--python",
    is_flag=True,
    help="The page holds Python, so that its text may say whatever a scenario's file may. Adds 8 MB, which "
    "are downloaded once.",
)


def campaign_file(source: Path) -> Path | None:
    """The campaign's own file, if the user has named that."""
    return source if source.suffix == ".toml" and source.is_file() else None


def store_of(source: Path) -> Path:
    """The store that a command reads: the file itself, or the one beside a campaign's TOML file.

    Raises:
        InputError: The TOML file is a scenario, or asks for advice or a capacity, which have other stores.
    """
    if source.suffix != ".toml":
        return source
    store = source.with_suffix(".db")
    if not store.exists():
        from manetlab import file_kinds

        file_kinds.refuse_scenario(source)
        file_kinds.refuse_capacity(source, str(source), "a campaign that has been run")
    return store


def inputs_of_store(results: Results) -> list[Path]:
    """All files that the campaign of a store reads, and those of the campaign's file beside it."""
    from manetlab.campaign import Campaign

    found = results.campaign.inputs
    beside = [path for path in found if path.suffix == ".toml" and path.is_file()]
    for path in beside:
        with contextlib.suppress(InputError):
            found += Campaign.load(path).inputs
    return found


def results_of(
    source: Path, store: Path | None = None, trust: bool = False, of_flows: Sequence[str] | None = None
) -> Results:
    """The results of a store, with the question, metrics and comparison that a campaign's TOML file has now.

    Raises:
        InputError: The store or the file cannot be used.
    """
    from manetlab.campaign import Results

    place = store or store_of(source)
    results = Results.load(place, campaign_file=campaign_file(source), trust=trust, of_flows=of_flows)
    asked = campaign_now(source, results.campaign, results.store)
    return results if asked is None else results.asked_by(asked)


def campaign_now(source: Path, kept: Campaign, store: Path | None) -> Campaign | None:
    """What a campaign's TOML file now says of the campaign in a store; None if it has other runs.

    Raises:
        InputError: The file cannot be used.
    """
    from manetlab.campaign import Campaign

    if source.suffix != ".toml":
        return None
    campaign = Campaign.load(source)
    same = (json.dumps([each.to_dict()[key] for key in ("factors", "base")]) for each in (campaign, kept))
    if len(set(same)) > 1:
        told = f"{source} now has other factors or another base than the runs in {store}"
        print(
            f"warning: {told}; shown is what was run; `manetlab campaign run` makes the rest",
            file=sys.stderr,
        )
        return None
    return campaign


def assigned(changes: Sequence[str]) -> dict[str, Any]:
    """Values by field of what ``FIELD=VALUE`` changes; values are written as in TOML.

    Raises:
        InputError: A change is not of that form, or no scenario has the field.
    """
    if not changes:
        return {}
    from manetlab import parameters, scenario_fields

    values = dict(map(parsed, changes))
    for path in values:
        section, dot, _ = path.partition(".")
        # The scenario itself says what is wrong with a parameter, as it does when a file names it.
        is_parameter = bool(dot) and section in parameters.sections()
        if not is_parameter and path not in scenario_fields.REPLICATED:
            scenario_fields.check(path, "--set")
    return values


def parsed(change: str) -> tuple[str, Any]:
    """Name and value of ``FIELD=VALUE``; a value that is not TOML is text.

    Raises:
        InputError: It is not of that form, or its number is too long.
    """
    import tomllib

    from manetlab.errors import shown

    key, equals, text = change.partition("=")
    key = key.strip()
    if not (equals and key and text.strip() and len(change.splitlines()) == 1):
        hint = "for example --set mac.slot_us=9"
        raise InputError("not a change of a field", "--set", shown(change), "FIELD=VALUE in one line", hint)
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return key, text.strip()
    except ValueError:
        found, hint = f"{len(text)} characters", "no field needs more than 20 digits"
        raise InputError("the number is too long", f"--set {key}", found, "a number", hint) from None


def tell_warnings(warnings: Iterable[str]) -> None:
    """Reports on standard error what speaks against a scenario, and what is worth a note."""
    from manetlab.topology import with_kind

    for warning in warnings:
        print(with_kind(warning), file=sys.stderr)


def _numbers(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Numbers with commas between them."""
    if value is None:
        return None
    try:
        return tuple(int(number) for number in value.split(","))
    except ValueError:
        where = parameter.opts[0]
        raise InputError("not a list of numbers", where, value, "for example 0,3,7") from None


def _names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Names with commas between them."""
    return None if value is None else tuple(name.strip() for name in value.split(","))


RECORD = together(
    click.option(
        "--record", type=WRITTEN, help="Write the recording to this file; one named .jsonl gets JSON lines."
    ),
    click.option("--record-nodes", metavar="0,3,…", callback=_numbers, help="Record only at these nodes."),
    click.option(
        "--record-flows", metavar="0,2,…", callback=_numbers, help="Record only what these flows send."
    ),
    click.option(
        "--record-kinds",
        metavar="KIND,…",
        callback=_names,
        help="Record only these kinds, for example frame,dropped.",
    ),
    click.option("--record-from", type=float, help="Record from this time on, s."),
    click.option("--record-until", type=float, help="Record until this time, s."),
)


def record_to(path: Path | None, described: dict[str, Any]) -> RecordTo | None:
    """What the options of `RECORD` ask for; takes those but the first out of ``described``."""
    parts = {name: described.pop(f"record_{name}") for name in ("nodes", "flows", "kinds", "from", "until")}
    if path is not None:
        from manetlab.recording import RecordTo

        times = {"from_s": parts.pop("from"), "until_s": parts.pop("until")}
        return RecordTo(path, **parts, **times)
    for name, value in parts.items():
        if value is not None:
            hint = "for example --record run.mlrec"
            raise InputError("nothing is recorded", f"--record-{name}", "no --record", "--record FILE", hint)
    return None
