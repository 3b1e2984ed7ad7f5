"""Tables, once described, shown on a terminal or as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 130
"""Width of tables that go into a file or a pipe, in characters."""
NARROW = 120
"""Terminals of fewer characters show tables without their spare columns."""
NUMBER_WIDTH = 24
"""What is longer than this, in characters, is no number: it is text, which may go on in the next line."""


@dataclass
class Table:
    """A table of text.

    Attributes:
        title: What it shows.
        columns: The headings.
        rows: The cells, row by row.
        text_columns: How many columns from the left hold text; the others hold numbers.
        notes: Sentences below the table.
        spare: How many columns at the right are left out on a terminal too narrow for them.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    text_columns: int = 1
    notes: list[str] = field(default_factory=list)
    spare: int = 0

    def add(self, *cells: str) -> None:
        """Adds a row."""
        self.rows.append(cells)

    def to_markdown(self) -> str:
        """The table in Markdown, with its title as a heading."""
        marks = ["---" if index < self.text_columns else "---:" for index in range(len(self.columns))]
        lines = [f"### {self.title}", "", _row(self.columns), _row(marks)]
        lines += [_row(cells) for cells in self.rows]
        lines += [line for note in self.notes for line in ("", note)]
        return "\n".join(lines) + "\n"

    def print(self, console: Console) -> None:
        """Shows the table on a terminal."""
        from rich.box import SIMPLE_HEAD
        from rich.cells import cell_len
        from rich.table import Table as RichTable
        from rich.text import Text

        shown = RichTable(
            title=self.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
        )
        count = len(self.columns) - (self.spare if console.width < NARROW else 0)
        for index, heading in enumerate(self.columns[:count]):
            is_text = index < self.text_columns
            longest = max((cell_len(cells[index]) for cells in self.rows), default=0)
            # Names and numbers stay whole: a part of one would be taken for another.
            least = longest if index == 0 or (not is_text and longest <= NUMBER_WIDTH) else None
            justify: Literal["left", "right"] = "left" if is_text else "right"
            shown.add_column(Text(heading), justify=justify, overflow="fold", min_width=least)
        for cells in self.rows:
            shown.add_row(*(Text(cell, overflow="fold") for cell in cells[:count]))
        console.print(shown)
        for note in self.notes:
            console.print(Text(note))
        if self.notes:
            console.print()


def stdout_console() -> Console:
    """The console of data: as wide as the terminal, or wide enough for every table in a file or pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False, emoji=False, markup=False)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
