"""Groups of commands."""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click

from manetlab.errors import InputError


class Group(click.Group):
    """A group that shows its commands in the order in which they were given to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """The names of the commands, in order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands with a line each, under the headings that `Commands` has."""
        if not isinstance(self.commands, Commands):
            super().format_commands(ctx, formatter)
            return
        widest = max(map(len, self.commands))
        room = formatter.width - widest - BESIDE
        for heading, names in self.commands.headings().items():
            rows = [
                (name.ljust(widest), command.get_short_help_str(room))
                for name in names
                if (command := self.get_command(ctx, name)) is not None
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises:
            InputError: It is a command of a distribution that is not installed.
        """
        name = args[0]
        if isinstance(self.commands, Commands) and name in ELSEWHERE and name not in self.commands:
            distribution, hint = ELSEWHERE[name]
            raise InputError("no such command", "command line", name, f"{distribution}, installed", hint)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; one that is interrupted ends as shells tell it, 128 and the signal's number.

        It says what was kept, if the `KeyboardInterrupt` has a sentence about that, or that nothing was.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            kept = stopped.args[0] if stopped.args else "nothing was written"
            print(f"stopped; {kept}", file=sys.stderr)
            raise click.exceptions.Exit(130) from None


BESIDE = 6
"""Columns of a line of help that hold neither the command nor what it does."""
INSTALLED = "manetlab.commands"
"""The group of entry points by which other distributions add commands."""
FROM_OTHERS = "From other packages"
"""The heading of those commands."""
ELSEWHERE = {
    "papers": (
        "the distribution manetlab-papers",
        "it reproduces the experiments of five papers, and is the folder papers of the sources: "
        "pip install ./papers",
    ),
}
"""Commands of distributions that are not always there: the distribution, and what it is."""


class Commands(UserDict[str, Any]):
    """Commands by name, each imported when it is looked up: a command waits for no other's imports.

    It is made of headings with the places where their commands are, written as ``module:attribute``. Commands
    of other installed distributions are looked for only when a name is not among these, or all are listed:
    reading what is installed takes longer than a short command.
    """

    def __init__(self, places: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__({name: place for below in places.values() for name, place in below.items()})
        self._headings = {heading: list(below) for heading, below in places.items()}

    def headings(self) -> dict[str, list[str]]:
        """The names of the commands under their headings, in order."""
        own = {name for names in self._headings.values() for name in names}
        others = [name for name in self if name not in own]
        return {**self._headings, **({FROM_OTHERS: others} if others else {})}

    def __getitem__(self, name: str) -> Any:
        if name not in self.data:
            self._add_installed()
        module, _, attribute = super().__getitem__(name).partition(":")
        return getattr(import_module(module), attribute)

    def __contains__(self, name: object) -> bool:
        if name not in self.data:
            self._add_installed()
        return name in self.data

    def __iter__(self) -> Iterator[str]:
        self._add_installed()
        return super().__iter__()

    def _add_installed(self) -> None:
        from importlib.metadata import entry_points

        for entry in entry_points(group=INSTALLED):
            self.data.setdefault(entry.name, entry.value)
