"""Tables, once described, shown on a terminal or as Markdown."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

PIPE_WIDTH = 130
"""Width of tables that go into a file or a pipe, in characters."""
NUMBER_WIDTH = 24
"""What is longer than this, in characters, is no number: it is text, which may go on in the next line."""
TEXT_WIDTH = 16
"""The least width of a column whose text goes on in the next line, in characters."""
GAP = 2
"""Characters between two columns."""
MINUS = re.compile(r"(?<![\w.)\]-])-(?=[\d∞])")
"""A hyphen that stands for a minus: before a number, and after nothing that it could join to it."""
FRAME = 2 - GAP
"""Characters around a table, which has no gap after its last column."""


@dataclass
class Table:
    """A table of text.

    Attributes:
        title: What it shows.
        columns: The headings; a table of which all are empty is shown without them.
        rows: The cells, row by row.
        text_columns: How many columns from the left hold text; the others hold numbers.
        keys: How many columns from the left say what a row is about: a table too wide for the terminal is
            shown in parts, each of which has them.
        whole: Which other columns hold text that must stay in one line, such as drawings.
        notes: Sentences below the table.
    """

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    text_columns: int = 1
    keys: int = 1
    whole: frozenset[int] = frozenset()
    notes: list[str] = field(default_factory=list)

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
        """Shows the table on a terminal: whole columns and words, in parts where it is too wide for one."""
        from rich.text import Text

        for number, columns in enumerate(self._parts(console.width)):
            console.print(Text(self.title if number == 0 else f"{self.title} (continued)", style="bold"))
            console.print(self._part(columns, console.width))
        for note in self.notes:
            console.print(Text(note))
        if self.notes:
            console.print()

    def _part(self, columns: Sequence[int], width: int) -> RichTable:
        """Some of the columns as a table of Rich."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        has_head = any(self.columns)
        shown = RichTable(box=SIMPLE_HEAD, show_header=has_head, padding=(0, 1, 0, 0), pad_edge=False)
        for index, chars in self._widths(columns, width).items():
            justify: Literal["left", "right"] = "left" if index < self.text_columns else "right"
            shown.add_column(Text(self.columns[index]), justify=justify, overflow="fold", width=chars)
        for cells in self.rows:
            texts = (
                cells[index] if index < self.text_columns else with_minus(cells[index]) for index in columns
            )
            shown.add_row(*(Text(text, overflow="fold") for text in texts))
        return shown

    def _parts(self, width: int) -> list[list[int]]:
        """The columns of each part that fits into so many characters, the keys' in each."""
        keys = list(range(self.keys))
        room = width - FRAME - sum(self._least(index, width) + GAP for index in keys)
        parts, used = [list(keys)], 0
        for index in range(self.keys, len(self.columns)):
            needed = self._least(index, width) + GAP
            if used and used + needed > room:
                parts.append(list(keys))
                used = 0
            parts[-1].append(index)
            used += needed
        return parts

    def _widths(self, columns: Sequence[int], width: int) -> dict[int, int]:
        """How wide each of these columns is in a terminal of that width, in characters."""
        widths = {index: self._least(index, width) for index in columns}
        room = width - FRAME - sum(chars + GAP for chars in widths.values())
        while room > 0:
            wanting = [
                index
                for index, chars in widths.items()
                if any(_length(cells[index]) > chars for cells in (self.columns, *self.rows))
            ]
            if not wanting:
                break
            for index in wanting[:room]:
                widths[index] += 1
            room -= len(wanting)
        return widths

    def _least(self, index: int, width: int) -> int:
        """How narrow a column may be in a terminal of that width, in characters.

        Names and numbers stay whole, as a part of one would be taken for another, and so do the words of
        headings. Only a name that would take more than half of the terminal goes on in the next line.
        """
        longest = max((_length(cells[index]) for cells in self.rows), default=0)
        word = max(map(_length, self.columns[index].split()), default=0)
        if index in self.whole:
            return max(word, longest)
        is_whole = index < self.keys or (index >= self.text_columns and longest <= NUMBER_WIDTH)
        return max(word, min(longest, width // 2 if is_whole else TEXT_WIDTH))


def with_minus(text: str) -> str:
    """A number or more, with the minus signs that prose has."""
    return MINUS.sub("−", text)


def _length(text: str) -> int:
    """How many characters the longest line of a text takes on a terminal."""
    from rich.cells import cell_len

    return max(map(cell_len, text.splitlines()), default=0)


def stdout_console() -> Console:
    """The console of data: as wide as the terminal, or wide enough for every table in a file or pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False, emoji=False, markup=False)


def shown_value(value: object) -> str:
    """A parameter's value as TOML writes it, numbers short."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.10g}"
    return str(value)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
