"""Charts of grids, with what the papers print over what was measured, and the strips of claims.

A printed value is drawn at the cell whose measured value is the one that the claim's rule compares: both come
from the same quantity of the same runs, so they are equal to the last digit but for the unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from manetlab.stats import Interval
from manetlab_papers import record
from manetlab_papers.charts import Bound, Chart, Point, Printed, Series, Strip
from manetlab_papers.ledger import Claim, Ledger
from manetlab_papers.outcomes import Measured, Outcome
from manetlab_papers.tables import Cell, Grid, Row
from manetlab_papers.tables import Printed as PrintedCell

UNITS = (1.0, 1e3, 1e-3, 1e6, 1e-6, 100.0, 0.01)
"""By what a table's unit may differ from the claim's."""
KINDS = {
    "within": "good",
    "reproduced": "good",
    "touches": "near",
    "contradicted": "bad",
    "inconclusive": "open",
    "by construction": "open",
    "not tested": "open",
}
"""How a verdict's word is coloured."""


@dataclass(frozen=True)
class Overlay:
    """What a claim prints of a measured value."""

    claim: str
    printed: Printed


Overlays = Mapping[tuple[str, str, int], list[tuple[Interval, float, Overlay]]]


def word(entry: record.Entry) -> str:
    """A verdict in a word: of a reproduced claim with a band, how the interval lies to it."""
    if entry.outcome == str(Outcome.REPRODUCED) and entry.fit in ("within", "touches"):
        return entry.fit
    return entry.outcome


def strip(ledger: Ledger, entry: record.Entry, *, words: bool = False) -> Strip:
    """The strip of a claim, with its statement if wanted."""
    said, claim = word(entry), ledger.claims[entry.claim]
    is_quick = bool(entry.size) and record.size(entry) == "quick"
    return Strip(
        *(entry.claim, said, KINDS[said], points(claim, entry), is_quick),
        claim.statement if words else "",
    )


def points(claim: Claim, entry: record.Entry) -> tuple[Point, ...]:
    """What was compared for a claim, each with the band that it was held against."""
    return tuple(
        Point(0.0, each.interval.mean, each.interval.low, each.interval.high, printed_of(claim, each))
        for each in entry.compared
    )


def printed_of(claim: Claim, measured: Measured) -> Printed:
    """The band of what was compared, with the number that the paper prints for it, if it prints one."""
    found = claim.printed_at(measured.name, measured.low, measured.high)
    one = found[0] if found is not None and found[0] == found[1] else None
    return Printed(one, measured.low, measured.high)


def overlays(ledger: Ledger, entries: Iterable[record.Entry]) -> Overlays:
    """What the claims print of what was measured, by the measured value in every unit."""
    found: dict[tuple[str, str, int], list[tuple[Interval, float, Overlay]]] = {}
    for entry in entries:
        claim = ledger.claims[entry.claim]
        for each in entry.compared:
            printed = printed_of(claim, each)
            if printed.value is None or each.interval.n < 2:
                continue
            for unit in UNITS:
                key = _key(each.interval.scaled(unit))
                found.setdefault(key, []).append((each.interval, unit, Overlay(claim.id, printed)))
    return found


def _key(interval: Interval) -> tuple[str, str, int]:
    return f"{interval.mean:.9g}", f"{interval.half_width:.6g}", interval.n


def printed_at(cell: Cell, known: Overlays) -> Overlay | None:
    """What is printed of a cell, in the cell's unit."""
    if not isinstance(cell, Interval):
        return None
    for _, unit, overlay in known.get(_key(cell), ()):
        value, low, high = overlay.printed.value, overlay.printed.low, overlay.printed.high
        scaled = Printed(None if value is None else value * unit, low * unit, high * unit)
        return Overlay(overlay.claim, scaled)
    return None


def charts_of(grid: Grid, known: Overlays) -> Iterator[tuple[Chart, list[str]]]:
    """The charts of a grid, one for each quantity, each with the claims whose printed values are drawn."""
    if grid.is_mixed:
        for row in grid.rows:
            found = _of_row(grid, row, known)
            if found is not None:
                yield found
        return
    own = [
        place
        for place in range(len(grid.heads))
        if not any(isinstance(row.cells[place], PrintedCell) for row in grid.rows)
    ]
    for kind in dict.fromkeys(grid.kinds[place] for place in own):
        columns = [place for place in own if grid.kinds[place] == kind]
        found = _of_columns(grid, columns, known)
        if found is not None:
            yield found


UNIT = re.compile(r",? (?:in )?(?:kb/s|Mb/s|bytes|%|nodes|s|ms)$")
"""How titles end that have a unit."""


def _title_of(grid: Grid, heads: Sequence[str]) -> str:
    """What some columns measure: the head of one, what several heads begin with, or the grid's title."""
    if len(heads) == 1 and heads[0] != "ours":
        head = f"{grid.panel}: {heads[0]}" if grid.panel else heads[0]
        whole = grid.title.partition(": ")[2] if grid.title.startswith(("Fig.", "Table")) else grid.title
        return f"{head}: {whole}" if UNIT.search(whole) and not UNIT.search(head) else head
    return _first_words(heads) or grid.panel or grid.title


def _first_words(heads: Sequence[str]) -> str:
    """The parts, between commas, that several heads begin with; each has one more."""
    if len(heads) < 2:
        return ""
    columns = zip(*(head.split(", ")[:-1] for head in heads), strict=False)
    return ", ".join(each[0] for each in takewhile(lambda parts: len(set(parts)) == 1, columns))


def _of_columns(grid: Grid, columns: Sequence[int], known: Overlays) -> tuple[Chart, list[str]] | None:
    numbers = [_number(row) for row in grid.rows]
    is_axis = None not in numbers and len(numbers) > 2
    claims: list[str] = []
    series = []
    for column in columns:
        points = []
        for at, (row, number) in enumerate(zip(grid.rows, numbers, strict=True)):
            point = _point(row, column, float(number or 0) if is_axis else float(at), known, claims)
            if point is not None:
                points.append(point)
        if points:
            series.append(Series(_series_name(grid, column), tuple(points)))
    if not series:
        return None
    title = _title_of(grid, [grid.heads[place] for place in columns])
    if title == _first_words([grid.heads[place] for place in columns]):
        series = [Series(each.name.removeprefix(f"{title}, "), each.points) for each in series]
    rows = () if is_axis else tuple(row.name for row in grid.rows)
    bound = None if grid.bound is None else Bound(*grid.bound)
    return Chart(title, grid.head, tuple(series), rows, bound), claims


COUNTED = {
    "traffic.random.video": "flow",
    "traffic.random.tcp": "transfer",
    "traffic.web.clients": "session",
    "movement.areas.forwarders": "forwarder",
}
"""What a bare number is a number of, by the field that it sets."""


def _series_name(grid: Grid, column: int) -> str:
    """The head of a column; a bare number with what it is a number of."""
    head = grid.heads[column]
    is_number = head.replace(".", "", 1).isdigit()
    if not is_number or not grid.across:
        return head
    if grid.across in COUNTED:
        return f"{head} {COUNTED[grid.across]}{'' if head == '1' else 's'}"
    return f"{head} {grid.across}" if grid.across.endswith("s") else f"{grid.across} {head}"


def _of_row(grid: Grid, row: Row, known: Overlays) -> tuple[Chart, list[str]] | None:
    """A row that has a quantity of its own: its columns below each other."""
    claims: list[str] = []
    points: list[Point] = []
    names: list[str] = []
    for column, head in enumerate(grid.heads):
        if isinstance(row.cells[column], PrintedCell):
            continue
        point = _point(row, column, float(len(names)), known, claims)
        if point is not None:
            points.append(point)
            names.append(head)
    if not points:
        return None
    return Chart(row.name, "system", (Series("", tuple(points)),), tuple(names)), claims


def _point(row: Row, column: int, x: float, known: Overlays, claims: list[str]) -> Point | None:
    cell = row.cells[column]
    if not isinstance(cell, Interval) or not math.isfinite(cell.mean):
        return None
    beside = row.cells[column + 1] if column + 1 < len(row.cells) else None
    overlay = printed_at(cell, known)
    printed = None
    if isinstance(beside, PrintedCell) and (beside.value is not None or any(map(math.isfinite, beside.band))):
        printed = Printed(beside.value, *beside.band)
        claims.append(beside.claim.id)
    elif overlay is not None:
        printed = overlay.printed
        claims.append(overlay.claim)
    low, high = cell.low, cell.high
    return Point(x, cell.mean, *((low, high) if cell.n > 1 else (cell.mean, cell.mean)), printed)


def _number(row: Row) -> float | None:
    """The place of a row on an axis; None if it has none."""
    values = list(row.levels.values())
    if len(values) != 1 or isinstance(values[0], bool):
        return None
    text = str(values[0]).removeprefix("until ")
    for end in (" hops", " hop", " s", " kb/s", " TCP", " m/s"):
        text = text.removesuffix(end)
    try:
        return float(text)
    except ValueError:
        return None
