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


COLUMN_PT = 252.0
"""Width in points of one column of a paper that has two (IEEE's; 3.5 inches)."""
SIZES = ((r"\small", 9.0), (r"\footnotesize", 8.0), (r"\scriptsize", 7.0))
"""Sizes of letters in points, the first of which fits is taken."""
EM, GAP_PT = 0.55, 6.0
"""What a letter takes on average, as a share of its size (digits of Computer Modern have 0.53), and the space
between two columns in points."""
LEAST_LONG_PT = 100.0
"""Width in points below which text of several lines has no column beside others."""
MOST_BESIDE, MOST_LINES = 4, 50
"""Rows that stand beside each other as columns, and lines of one float."""


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
        link: Where it leads in the page: a file beside it; nowhere if empty.
    """

    shown: str
    raw: object = None
    is_code: bool = False
    link: str = ""


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
        """The table as LaTeX floats that fit one column of a paper, and need the package booktabs.

        Where the columns do not fit beside each other, what is in brackets has a line of its own. If that is
        not enough, each row is a column, with the headings on the left, and as many stand beside each other
        as fit. What is too long for one float goes on in another.
        """
        floats = self._upright() or self._lying()
        head = "% Needs \\usepackage{booktabs}.\n"
        return head + "".join(
            self._float(size, letters, lines, number) for number, (size, letters, lines) in enumerate(floats)
        )

    def _upright(self) -> list[_Float] | None:
        """One line a row, or two with what is in brackets in the second, if that fits."""
        columns = self.shown_columns
        cells = [
            [each.heading for each in columns],
            *([cell.shown for cell in row] for row in self.shown_rows),
        ]
        long = [column.is_long for column in columns]
        for halves in (False, True):
            lines = [[row] for row in cells]
            if halves:
                lines = [_headings_in_halves(cells[0]), *map(_halves, cells[1:])]
            for size, points in SIZES:
                short = [
                    [cell for cell, is_long in zip(row, long, strict=True) if not is_long]
                    for of in lines
                    for row in of
                ]
                left = COLUMN_PT - _width_pt(short, points)
                each_pt = left / sum(long) - GAP_PT if any(long) else 0.0
                if left < 0.0 or (any(long) and (halves or each_pt < LEAST_LONG_PT)):
                    continue
                letters = "".join(
                    f"p{{{each_pt:.0f}pt}}" if each.is_long else "l" if each.is_text else "r"
                    for each in columns
                )
                head, *rows = [[_latex_row(row) for row in of] for of in lines]
                each = MOST_LINES // (2 if halves else 1) - 1
                pieces = [rows[at : at + each] for at in range(0, len(rows), each)] or [[]]
                return [
                    (size, letters, [*head, MIDRULE, *(line for of in piece for line in of)])
                    for piece in pieces
                ]
        return None

    def _lying(self) -> list[_Float]:
        """The rows beside each other, as many as fit."""
        headings = [each.heading for each in self.shown_columns]
        rows = [[cell.shown for cell in row] for row in self.shown_rows]
        size, points = SIZES[1]
        beside = 1
        if not any(each.is_long for each in self.shown_columns):
            beside = next(
                (
                    count
                    for count in range(min(MOST_BESIDE, len(rows)), 1, -1)
                    if _width_pt(_beside(headings, rows, count), points) <= COLUMN_PT
                ),
                1,
            )
        letters = "l" + beside * "r"
        if beside == 1:
            longest = max(map(len, headings)) * EM * points
            left = min(longest, 0.45 * COLUMN_PT)
            letters = f"p{{{left:.0f}pt}}p{{{COLUMN_PT - left - 2 * GAP_PT:.0f}pt}}"
        blocks = []
        for at in range(0, len(rows), beside):
            lines = [
                _latex_row([heading, *cells, *[""] * (beside - len(cells))])
                for heading, *cells in _transposed(headings, rows[at : at + beside])
            ]
            blocks.append([*lines[: self.heads], MIDRULE, *lines[self.heads :]])
        each = max(1, MOST_LINES // len(headings))
        return [
            (size, letters, [line for block in blocks[at : at + each] for line in (MIDRULE, *block)][1:])
            for at in range(0, len(blocks), each)
        ]

    def _float(self, size: str, letters: str, lines: Sequence[str], number: int) -> str:
        caption = latex(self.caption) + (" (continued)" if number else "")
        return "\n".join(
            [
                r"\begin{table}",
                rf"  \centering{size}\setlength{{\tabcolsep}}{{{GAP_PT / 2:g}pt}}",
                rf"  \caption{{{caption}}}",
                *([] if number else [rf"  \label{{tab:{self.name}}}"]),
                rf"  \begin{{tabular}}{{{letters}}}",
                r"    \toprule",
                *lines,
                r"    \bottomrule",
                r"  \end{tabular}",
                "\\end{table}\n",
            ]
        )


_Float = tuple[str, str, list[str]]
"""The size of the letters, the columns, and the lines between the rules."""
MIDRULE = r"    \midrule"


def _halves(cells: Sequence[str]) -> list[list[str]]:
    """A row as two: what is before the brackets of each cell, and the brackets with what follows them."""
    places = [cell.find(" (") for cell in cells]
    return [
        [cell if at < 0 else cell[:at] for cell, at in zip(cells, places, strict=True)],
        ["" if at < 0 else cell[at + 1 :] for cell, at in zip(cells, places, strict=True)],
    ]


def _headings_in_halves(headings: Sequence[str]) -> list[list[str]]:
    """Headings in two lines: the unit is in the second, or the last word where there is no unit."""
    first, second = _halves(headings)
    for place, heading in enumerate(headings):
        if not second[place] and " " in heading:
            first[place], _, second[place] = heading.rpartition(" ")
    return [first, second]


def _transposed(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """One line for each heading, with the cells of these rows."""
    return [[heading, *(row[place] for row in rows)] for place, heading in enumerate(headings)]


def _beside(headings: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    """The lines of all blocks of ``count`` rows that stand beside each other."""
    blocks = [rows[at : at + count] for at in range(0, len(rows), count)]
    return [line + [""] * (count + 1 - len(line)) for of in blocks for line in _transposed(headings, of)]


def _width_pt(lines: Sequence[Sequence[str]], points: float) -> float:
    """About how wide columns with these cells are, in points."""
    letters = sum(max(map(len, column)) for column in zip(*lines, strict=True))
    return EM * points * letters + GAP_PT * len(lines[0])


def latex(text: str) -> str:
    """The text as LaTeX sets it letter by letter; lines are joined by semicolons."""
    return "; ".join(text.splitlines()).translate(_TO_LATEX)


def slug(text: str) -> str:
    """The text as a part of a file name: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def _latex_row(cells: Sequence[str]) -> str:
    return "    " + " & ".join(latex(cell) for cell in cells) + r" \\"
