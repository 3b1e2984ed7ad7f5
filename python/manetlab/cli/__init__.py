"""The command line. Data goes to stdout, progress and errors to stderr.

Exit status: 0 done, 1 a fault of manetlab, 2 unusable input (nothing was run and nothing was written).
"""

from __future__ import annotations

import os
import shlex
import sys

import typer

import manetlab
from manetlab.cli import experiments, profiles, runs, scenarios
from manetlab.errors import ManetlabError, RunFailed

app = typer.Typer(
    help="Packet-level simulation of mobile ad hoc networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(runs.run)
app.add_typer(scenarios.app, name="scenario")
app.add_typer(profiles.app, name="profile")
app.command("demo")(experiments.demo)
app.command("validate")(experiments.validate)


def _version(asked: bool) -> None:
    if asked:
        print(f"manetlab {manetlab.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Packet-level simulation of mobile ad hoc networks."""


def main() -> None:
    """What the command ``manetlab`` calls."""
    # Pydantic would look for plugins in every installed package, which takes longer than all else here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        app()
    except ManetlabError as error:
        if isinstance(error, RunFailed):
            error.hint = f"please report this; to repeat it: {shlex.join(['manetlab', *sys.argv[1:]])}"
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
