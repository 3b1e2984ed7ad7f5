"""Tables beside the papers' tables and figures, from the same quantities as rules.

A table is shown `for` some experiments. Its `rows` are a loop over levels, or cases; its `columns`
quantities, or one quantity `across` a loop; of several `panels` each makes a table, and is drawn `on` the
experiment that shows it if it is not the table's first. A column `printed` shows the numbers of a claim, or
of one claim a row, where it has one. Figures are drawn of the same grids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from manetlab.stats import Interval
from manetlab.tables import Table
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Claim, Data, Experiment
from manetlab_papers.quantities import COMPARISONS, Evaluator, TooFew, exact, mean, shown
from manetlab_papers.samples import NotRun

OPERATIONS = ("ratio", "difference", "sum", "relative", "in_parts_of")
TABLES: dict[str, Callable[[Evaluator, Data], list[Table]]] = {}
"""Tables that are made by a function, by its name."""


GRIDS: dict[str, Callable[[Evaluator, Data], list[Grid]]] = {}
"""Grids that are made by a function, by its name."""


@dataclass(frozen=True)
class Printed:
    """A number that a paper prints.

    Attributes:
        claim: The claim that has it.
        index: Which of its numbers.
    """

    claim: Claim
    index: int = 0

    @property
    def value(self) -> float | None:
        """The number; None if the claim has none but a band."""
        values = self.claim.value
        return values[self.index if len(values) > 1 else 0] if values else None

    @property
    def band(self) -> tuple[float, float]:
        """What is accepted; infinite where it is open."""
        return self.claim.band(self.index if max(len(self.claim.lo), len(self.claim.hi)) > 1 else 0)


Cell = Interval | Printed | None
"""What we measured, what a paper prints, or nothing."""


@dataclass(frozen=True)
class Row:
    """A row of a grid: the levels or the label that it is of, its name, and its cells."""

    levels: Data
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """What a table shows and a figure draws.

    Attributes:
        title: Its title.
        panel: Which of several panels it is; empty if there is one.
        head: What the rows are.
        heads: What the columns are.
        rows: The rows that have something.
        notes: What is said below.
        kinds: What each column measures: equal where columns have one scale.
        is_mixed: Whether its rows measure different quantities.
        across: The factor whose levels the columns are; empty if they are given one by one.
        bound: A value at which something changes, with what it is, drawn as a line; none if there is none.
        on: The experiment that it is drawn on; empty for the first that its table is for.
    """

    title: str
    panel: str
    head: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    is_mixed: bool = False
    across: str = ""
    bound: tuple[float, str] | None = None
    on: str = ""

    def table(self) -> Table:
        """The grid as a table."""
        title = f"{self.title}: {self.panel}" if self.panel else self.title
        table = Table(title, [self.head, *self.heads], text_columns=1)
        for row in self.rows:
            table.add(row.name, *map(_cell_text, row.cells))
        table.notes.extend(self.notes)
        return table


def tables_of(experiment: Experiment, evaluator: Evaluator) -> Iterator[Table]:
    """The tables that are shown for an experiment."""
    for data in evaluator.ledger.tables:
        if experiment.id in data["for"]:
            if data.get("function") in TABLES:
                yield from TABLES[data["function"]](evaluator, data)
            else:
                yield from (grid.table() for grid in grids_of(data, evaluator))


def grids_of(data: Data, evaluator: Evaluator) -> Iterator[Grid]:
    """The grids of a table: one, or one a panel. A quick reproduction may leave out all that one shows."""
    if "function" in data:
        yield from GRIDS[data["function"]](evaluator, data)
        return
    for panel in data.get("panels", [{}]):
        with suppress(NotRun):
            grid = _grid(evaluator, _laid(data, panel), data["title"], panel.get("title", ""))
            if grid.rows:
                yield replace(grid, on=panel.get("on", ""))


def with_panels_on(data: Data, experiment: str) -> Data:
    """A table with those of its panels that name an experiment, which is not its first, to be drawn on."""
    return {**data, "panels": [each for each in data.get("panels", ()) if each.get("on") == experiment]}


def _laid(under: Data, over: Data) -> dict[str, Any]:
    """A quantity laid over another, whose function's arguments are kept."""
    made = {**under, **over}
    if "with" in under and "with" in over:
        made["with"] = {**under["with"], **over["with"]}
    return made


def _grid(evaluator: Evaluator, data: Data, title: str, panel: str) -> Grid:
    words = (
        "for",
        "title",
        "head",
        "rows",
        "columns",
        "across",
        "panels",
        "on",
        "at",
        "notes",
        "text_columns",
        "bound",
    )
    common = evaluator.table(_laid(data.get("at", {}), {k: v for k, v in data.items() if k not in words}))
    rows = (
        [({"label": each.get("label", "")}, each) for each in data["rows"]]
        if isinstance(data["rows"], list)
        else [(chosen, chosen) for chosen in _loop(evaluator, data["rows"], common)]
    )
    columns = data.get("columns") or [
        {"head": _text(chosen), **chosen} for chosen in _loop(evaluator, data["across"], common)
    ]
    made = []
    for levels, row in rows:
        quantity = _laid(common, {key: value for key, value in row.items() if key != "label"})
        cells = tuple(_cell(evaluator, quantity, column, _text(levels)) for column in columns)
        if any(cell is not None for cell in cells):
            made.append(Row(levels, _text(levels), cells))
    heads = tuple(str(column["head"]) for column in columns)
    kinds = tuple(_measures(evaluator, _laid(common, column), column) for column in columns)
    mixed = len({_measures(evaluator, {**row, "with": None}, {}) for _, row in rows}) > 1
    across = ", ".join(data.get("across", ()))
    notes = tuple(data.get("notes", []))
    bound = (float(data["bound"]["value"]), data["bound"]["text"]) if "bound" in data else None
    return Grid(title, panel, data["head"], heads, tuple(made), notes, kinds, mixed, across, bound)


def _measures(evaluator: Evaluator, quantity: Data, column: Data) -> str:
    """What a quantity measures and how it is compared, whatever the levels."""
    words = ("measure", "kind", "drops", "reasons", "function", "with", "times", "per", *OPERATIONS)
    made = evaluator.table({key: value for key, value in quantity.items() if key not in ("head", "as")})
    return json.dumps([column.get("as"), *(made.get(word) for word in words)], default=str)


def _loop(evaluator: Evaluator, loops: Data, common: Data) -> list[dict[str, Any]]:
    return list(
        every({name: list(evaluator.labels(name, wanted, [common])) for name, wanted in loops.items()})
    )


def _text(chosen: Data) -> str:
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in chosen.values())


def _cell(evaluator: Evaluator, row: Data, column: Data, name: str) -> Cell:
    """A cell; nothing where nothing was run, or too few scenarios have a value."""
    if "printed" in column:
        printed = column["printed"]
        of_row = printed if isinstance(printed, str) else printed.get(name)
        if of_row is None:
            return None
        claim = evaluator.ledger.claims[of_row]
        place = column.get("element", name)
        if place not in (claim.at or place):
            return None
        return Printed(claim, claim.at.index(place) if claim.at else 0)
    own = {key: value for key, value in column.items() if key not in ("head", "against", "as")}
    quantity = _laid(row, own)
    sides = [quantity, *([{**quantity, **column["against"]}] if "against" in column else [])]
    try:
        if "as" in column:
            return COMPARISONS[column["as"]](*map(evaluator.values, sides))
        found = evaluator.computed(quantity)
        if isinstance(found, list):
            return mean(found)
        return exact(found) if isinstance(found, int | float) else found
    except (NotRun, TooFew):
        return None


def _cell_text(cell: Cell) -> str:
    if isinstance(cell, Printed):
        return "–" if cell.value is None else f"{cell.value:g}"
    return "–" if cell is None else shown(cell)
