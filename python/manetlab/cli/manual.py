"""Man pages, made from the commands themselves: ``python -m manetlab.cli.manual FOLDER``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import manetlab

FILES = """.SH FILES
Scenarios and campaigns are TOML files; a campaign NAME.toml keeps its results in NAME.db beside it.
.SH EXIT STATUS
0 if it is done, 1 after a fault of manetlab or a failed run, 2 if the input cannot be used (nothing was run
and nothing was written), 130 if it was interrupted.
"""


def write(folder: Path) -> list[Path]:
    """Writes a page for each command into a folder, and returns the files."""
    from manetlab.cli import app

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for context in _contexts(click.Context(app, info_name="manetlab", **app.context_settings)):
        path = folder / f"{_name(context)}.1"
        path.write_text(page(context), encoding="utf-8")
        written.append(path)
    return written


def page(context: click.Context) -> str:
    """The page of a command, in the macros of man(7)."""
    command, name = context.command, _name(context)
    text = " ".join((command.help or "").split("\b")[0].split())
    head, _, _ = text.partition(".")
    lines = [
        f'.TH "{name.upper()}" "1" "" "manetlab {manetlab.__version__}" "manetlab"',
        ".SH NAME",
        _roff(f"{name} - {head[:1].lower()}{head[1:]}"),
        ".SH SYNOPSIS",
        rf"\fB{_roff(context.command_path)}\fR {_roff(' '.join(command.collect_usage_pieces(context)))}",
        ".SH DESCRIPTION",
        _roff(text),
    ]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for below in _below(context):
            lines += [".TP", rf"\fB{_roff(below.command.name or '')}\fR", _roff(_line(below.command))]
    for heading, kind in (("ARGUMENTS", click.Argument), ("OPTIONS", click.Option)):
        records = [
            each.get_help_record(context) for each in command.get_params(context) if isinstance(each, kind)
        ]
        shown = [record for record in records if record is not None and record[1]]
        if shown:
            lines.append(f".SH {heading}")
        for names, told in shown:
            lines += [".TP", rf"\fB{_roff(names)}\fR", _roff(told)]
    related = [_name(each) for each in (*_below(context), *([context.parent] if context.parent else []))]
    lines += [FILES.rstrip()]
    if related:
        lines += [".SH SEE ALSO", ", ".join(rf"\fB{_roff(each)}\fR(1)" for each in related)]
    return "\n".join(lines) + "\n"


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """A command's context and those of all commands below it."""
    yield context
    for below in _below(context):
        yield from _contexts(below)


def _below(context: click.Context) -> list[click.Context]:
    group = context.command
    if not isinstance(group, click.Group):
        return []
    commands = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [
        click.Context(each, info_name=name, parent=context)
        for name, each in commands
        if each and not each.hidden
    ]


def _line(command: click.Command) -> str:
    return " ".join((command.help or "").split("\b")[0].split())


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _roff(text: str) -> str:
    """Text with what troff would take for its own escaped."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
