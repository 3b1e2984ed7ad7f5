"""Tables that can be read by people and by programs: HTML, LaTeX and CSV from one description."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from manetlab.files import for_spreadsheet

LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "µ": r"\textmu{}",
    "α": r"$\alpha$",
    "→": r"$\rightarrow$",
    "“": "``",
    "”": "''",
    "’": "'",
    "…": r"\ldots{}",
    "\u00a0": "~",
}
_TO_LATEX = str.maketrans(LATEX_SPECIAL)


MOST_IN_A_COLUMN = 5
"""Columns of a table that one column of a paper holds."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        heading: Its heading, with the unit.
        key: Its name in CSV files.
        is_text: Whether it holds text, which is set flush left, or numbers.
        is_long: Whether its text goes over several lines.
        is_shown: Whether people see it; programs do in any case.
    """

    heading: str
    key: str
    is_text: bool = False
    is_long: bool = False
    is_shown: bool = True


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        shown: What people read.
        raw: What programs read: numbers with all digits, in base units. None stands for no value.
        is_code: Whether it is a command or a hash, which is set in a typewriter's letters.
    """

    shown: str
    raw: object = None
    is_code: bool = False


@dataclass
class DataTable:
    """A table.

    Attributes:
        name: The stem of its files, and its anchor on the page.
        caption: What it shows, with the number of replications and the confidence where that applies.
        columns: The columns.
        rows: The cells, row by row.
        heads: How many columns from the left name the row.
        notes: Sentences below it.
        is_by_row: Whether each row stands by itself where there is no room beside each other.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: list[list[Cell]] = field(default_factory=list)
    heads: int = 1
    notes: list[str] = field(default_factory=list)
    is_by_row: bool = False

    def add(self, *cells: Cell | str) -> None:
        """Adds a row; a string stands for a cell that shows what it holds."""
        self.rows.append([Cell(each, each) if isinstance(each, str) else each for each in cells])

    @property
    def shown_columns(self) -> list[Column]:
        """The columns that people see."""
        return [column for column in self.columns if column.is_shown]

    @property
    def shown_rows(self) -> list[list[Cell]]:
        """The cells that people see."""
        return [
            [cell for cell, column in zip(row, self.columns, strict=True) if column.is_shown]
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """The table as CSV (RFC 4180) with a line of column names; no value is an empty field.

        Text that a spreadsheet would take for a formula begins with an apostrophe.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(for_spreadsheet(column.key) for column in self.columns)
        writer.writerows(
            ["" if cell.raw is None else for_spreadsheet(cell.raw) for cell in row] for row in self.rows
        )
        return text.getvalue()

    def to_latex(self) -> str:
        """The table as a LaTeX float that needs the package booktabs."""
        columns = self.shown_columns
        # More columns than one column of a paper holds go over both.
        star, size = ("*", r"\footnotesize\setlength{\tabcolsep}{3pt}")
        if len(columns) <= MOST_IN_A_COLUMN:
            star, size = "", r"\small"
        share = 0.7 / max(1, sum(column.is_long for column in columns))
        long = rf"p{{{share:.2f}\linewidth}}"
        letters = "".join(long if each.is_long else "l" if each.is_text else "r" for each in columns)
        lines = [
            "% Needs \\usepackage{booktabs}.",
            rf"\begin{{table{star}}}",
            rf"  \centering{size}",
            rf"  \caption{{{latex(self.caption)}}}",
            rf"  \label{{tab:{self.name}}}",
            rf"  \begin{{tabular}}{{{letters}}}",
            r"    \toprule",
            _latex_row([column.heading for column in columns]),
            r"    \midrule",
            *(_latex_row([cell.shown for cell in row]) for row in self.shown_rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            rf"\end{{table{star}}}",
        ]
        return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """The text as LaTeX sets it letter by letter; lines are joined by semicolons."""
    return "; ".join(text.splitlines()).translate(_TO_LATEX)


def slug(text: str) -> str:
    """The text as a part of a file name: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def _latex_row(cells: Sequence[str]) -> str:
    return "    " + " & ".join(latex(cell) for cell in cells) + r" \\"
