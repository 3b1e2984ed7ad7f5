"""Groups of commands."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import click


class Group(click.Group):
    """A group that shows its commands in the order in which they were given to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's)
        """The names of the commands, in order."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; one that is interrupted ends as shells tell it, 128 and the signal's number."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


class Commands(UserDict[str, Any]):
    """Commands by name, each imported when it is looked up: a command waits for no other's imports.

    It is made of the places where the commands are, written as ``module:attribute``.
    """

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = super().__getitem__(name).partition(":")
        return getattr(import_module(module), attribute)
