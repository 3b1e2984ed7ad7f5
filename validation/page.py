"""The results on docs/validation.md: tables, and a sentence that counts their verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from manetlab.tables import Table

HEADING = "## Results"
OUTSIDE = "OUTSIDE"


def lines_outside(tables: Iterable[Table]) -> Iterator[str]:
    """What is outside its tolerance: the table and the name of the line."""
    for table in tables:
        names = [cells[0] for cells in table.rows]
        for cells in table.rows:
            if OUTSIDE in cells:
                name = cells[0] if names.count(cells[0]) == 1 else f"{cells[0]}, {cells[1]}"
                yield f"{table.title.split(':')[0]}, {name}"


def summary(tables: Sequence[Table]) -> str:
    """How many lines hold, and which do not."""
    verdicts = [
        cell for table in tables for cells in table.rows for cell in cells if cell in ("holds", OUTSIDE)
    ]
    outside = list(lines_outside(tables))
    if not outside:
        return f"All {len(verdicts)} lines hold."
    return f"{len(verdicts) - len(outside)} of {len(verdicts)} lines hold. OUTSIDE: {'; '.join(outside)}."


def renewed(page: str, made: str, tables: Sequence[Table]) -> str:
    """The page with these results in place of the former.

    Args:
        page: The page's text.
        made: How, when and from what the results were made.
        tables: All results.
    """
    before, heading, _ = page.partition(HEADING)
    results = "\n".join(table.to_markdown() for table in tables)
    return f"{before}{heading or HEADING}\n\n{made} {summary(tables)}\n\n{results}"
