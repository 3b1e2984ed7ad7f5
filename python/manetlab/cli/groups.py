"""Groups of commands."""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click


class Group(click.Group):
    """A group that shows its commands in the order in which they were given to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """The names of the commands, in order."""
        return list(self.commands)

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


INSTALLED = "manetlab.commands"
"""The group of entry points by which other distributions add commands."""


class Commands(UserDict[str, Any]):
    """Commands by name, each imported when it is looked up: a command waits for no other's imports.

    It is made of the places where the commands are, written as ``module:attribute``. Commands of other
    installed distributions are looked for only when a name is not among these, or all are listed: reading
    what is installed takes longer than a short command.
    """

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
