"""Tables beside the papers' tables and figures, from the same quantities as rules.

A table is shown `for` some experiments. Its `rows` are a loop over levels, or cases; its `columns`
quantities, or one quantity `across` a loop; of several `panels` each makes a table. A column `printed`
shows the numbers of a claim, or of one claim a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from manetlab.tables import Table
from manetlab_papers.campaigns import every
from manetlab_papers.ledger import Data, Experiment
from manetlab_papers.quantities import COMPARISONS, Evaluator, TooFew, exact, mean, shown
from manetlab_papers.samples import NotRun

TABLES: dict[str, Callable[[Evaluator, Data], list[Table]]] = {}
"""Tables that are made by a function, by its name."""


def tables_of(experiment: Experiment, evaluator: Evaluator) -> Iterator[Table]:
    """The tables that are shown for an experiment."""
    for data in evaluator.ledger.tables:
        if experiment.id in data["for"]:
            if "function" in data:
                yield from TABLES[data["function"]](evaluator, data)
                continue
            for panel in data.get("panels", [{}]):
                # A quick reproduction may leave out all that a table shows.
                with suppress(NotRun):
                    table = _table(evaluator, _laid(data, panel), data["title"], panel.get("title", ""))
                    if table.rows:
                        yield table


def _laid(under: Data, over: Data) -> dict[str, Any]:
    """A quantity laid over another, whose function's arguments are kept."""
    made = {**under, **over}
    if "with" in under and "with" in over:
        made["with"] = {**under["with"], **over["with"]}
    return made


def _table(evaluator: Evaluator, data: Data, title: str, panel: str) -> Table:
    words = ("for", "title", "head", "rows", "columns", "across", "panels", "at", "notes", "text_columns")
    common = evaluator.table(_laid(data.get("at", {}), {k: v for k, v in data.items() if k not in words}))
    rows = (
        [({"label": each.get("label", "")}, each) for each in data["rows"]]
        if isinstance(data["rows"], list)
        else [(chosen, chosen) for chosen in _loop(evaluator, data["rows"], common)]
    )
    columns = data.get("columns") or [
        {"head": _text(chosen), **chosen} for chosen in _loop(evaluator, data["across"], common)
    ]
    heads = [data["head"], *(column["head"] for column in columns)]
    table = Table(f"{title}: {panel}" if panel else title, heads, text_columns=1)
    for names, row in rows:
        quantity = _laid(common, {key: value for key, value in row.items() if key != "label"})
        cells = [_cell(evaluator, quantity, column, _text(names)) for column in columns]
        if any(cell != "–" for cell in cells):
            table.add(_text(names), *cells)
    table.notes.extend(data.get("notes", []))
    return table


def _loop(evaluator: Evaluator, loops: Data, common: Data) -> list[dict[str, Any]]:
    return list(
        every({name: list(evaluator.labels(name, wanted, [common])) for name, wanted in loops.items()})
    )


def _text(chosen: Data) -> str:
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in chosen.values())


def _cell(evaluator: Evaluator, row: Data, column: Data, name: str) -> str:
    """A cell; a dash where nothing was run, or too few scenarios have a value."""
    if "printed" in column:
        printed = column["printed"]
        claim = evaluator.ledger.claims[printed if isinstance(printed, str) else printed[name]]
        place = column.get("element", name)
        return (
            f"{claim.value[claim.at.index(place) if claim.at else 0]:g}"
            if place in (claim.at or place)
            else "–"
        )
    own = {key: value for key, value in column.items() if key not in ("head", "against", "as")}
    quantity = _laid(row, own)
    sides = [quantity, *([{**quantity, **column["against"]}] if "against" in column else [])]
    try:
        if "as" in column:
            return shown(COMPARISONS[column["as"]](*map(evaluator.values, sides)))
        found = evaluator.computed(quantity)
        if isinstance(found, list):
            return shown(mean(found))
        return shown(exact(found) if isinstance(found, int | float) else found)
    except (NotRun, TooFew):
        return "–"
