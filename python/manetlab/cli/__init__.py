"""The command line. Data goes to stdout, progress and errors to stderr.

Exit status: 0 done, 1 a fault of manetlab, 2 unusable input (nothing was run), or an output that could
not be written.
"""

from __future__ import annotations

import os
import shlex
import sys

import click

import manetlab
from manetlab import interrupts
from manetlab.cli import streams
from manetlab.cli.groups import Commands, Group
from manetlab.errors import InputError, ManetlabError, ProtocolFailed, RunFailed

COMMANDS = Commands(
    {
        "Simulate": {
            "demo": "manetlab.cli.demos:demo",
            "run": "manetlab.cli.runs:run",
            "scenario": "manetlab.cli.scenarios:app",
            "profile": "manetlab.cli.profiles:app",
            "emulate": "manetlab.cli.emulations:emulate",
            "list": "manetlab.cli.choices:list_names",
        },
        "Answer a question with many runs": {
            "campaign": "manetlab.cli.campaigns:app",
            "report": "manetlab.cli.reports:report",
            "advise": "manetlab.cli.advices:advise",
            "capacity": "manetlab.cli.capacities:capacity",
            "range": "manetlab.cli.ranges:range_",
        },
        "Look into a run": {
            "view": "manetlab.cli.views:view",
            "recording": "manetlab.cli.recordings:app",
            "dissector": "manetlab.cli.dissectors:dissector",
            "course": "manetlab.cli.courses:course",
            "lab": "manetlab.cli.labs:lab",
        },
        "Fair rates": {
            "shares": "manetlab.cli.shares:shares",
            "chain-throughput": "manetlab.cli.shares:chain_throughput",
        },
        "Help": {
            "docs": "manetlab.cli.documentation:docs",
            "completion": "manetlab.cli.completion:completion",
        },
    }
)


# All commands below have these settings too.
SETTINGS = {"show_default": True, "help_option_names": ["-h", "--help"]}


@click.group(cls=Group, commands=COMMANDS, no_args_is_help=True, context_settings=SETTINGS)
@click.version_option(
    manetlab.__version__,
    prog_name="manetlab",
    message="%(prog)s %(version)s",
    help="Print the version and exit.",
)
def app() -> None:
    """Packet-level simulation of mobile ad hoc networks."""


def main() -> None:
    """What the command ``manetlab`` calls."""
    try:
        streams.write_what_can_be_written()
        interrupts.bring_back()
        if sys.stdout is None:
            raise _unwritable("standard output is closed")
        _run_app()
    except ManetlabError as error:
        if isinstance(error, RunFailed):
            error.hint = f"please report this; to reproduce it: {shlex.join(['manetlab', *sys.argv[1:]])}"
        if isinstance(error, ProtocolFailed) and not isinstance(error.__cause__, ManetlabError):
            _print_traceback(error.__cause__)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except (AttributeError, ImportError, KeyError, TypeError):
        _blame_extension()
        raise
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: nothing more to say.
        _drop_output()
        sys.exit(1)


def _blame_extension() -> None:
    """Ends with an error if what went wrong is likely to come of an extension older than its sources."""
    from manetlab import extension

    if extension.is_older_than_its_sources():
        print("error: the compiled extension is older than its sources", file=sys.stderr)
        print(f"  hint:   {extension.HINT}", file=sys.stderr)
        sys.exit(1)


def _print_traceback(error: BaseException | None) -> None:
    """Where in the user's own code an exception comes from."""
    import traceback

    traceback.print_exception(error)


def _run_app() -> None:
    """Runs the command and writes out all that it has printed while a failure can still be told."""
    try:
        try:
            if "_MANETLAB_COMPLETE" in os.environ:
                from manetlab.cli import completion  # noqa: F401 (it tells click of the shells)
            app(prog_name="manetlab")
        except SystemExit:
            sys.stdout.flush()
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        _drop_output()
        raise _unwritable(error.strerror or str(error)) from None


def _unwritable(found: str) -> InputError:
    hint = "check where the output is redirected to"
    return InputError("the output cannot be written", "standard output", found, "a place to write", hint)


def _drop_output() -> None:
    """Forgets what is not yet written; Python would try once more at its end, and fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
