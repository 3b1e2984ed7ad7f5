"""Kept runs of earlier code that this code repeats value by value: a sample of each point is made again.

A change of the code makes kept runs stale, also where it changes no result. If every run that is made again,
of every stale point of a campaign, has all the values that were kept, the others are taken to be the same,
too, and the file says by which code and from how many runs a point. One value that differs confirms nothing
of its campaign. Result hashes are compared where both have the same form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from manetlab import provenance
from manetlab_papers.kept_runs import KeptPart, key_of, only
from manetlab_papers.result_files import HASH_DIGITS, Kept, Maker, columns_of
from manetlab_papers.samples import Row, Tables

if TYPE_CHECKING:
    from manetlab.campaign import Campaign, Results


@dataclass(frozen=True)
class Confirmation:
    """What came of repeating runs of a campaign.

    Attributes:
        campaign: The campaign's name.
        points: The points that were stale.
        runs: The runs that were made again.
        differing: The points of which a run came out otherwise: their labels, and what differs.
        kept: What is kept from now on; None if nothing is confirmed.
    """

    campaign: str
    points: int
    runs: int
    differing: Sequence[str]
    kept: Kept | None


def stale_points(found: KeptPart) -> list[int]:
    """The points whose runs are kept, but not current."""
    return [number for number, pick in enumerate(found.picks) if pick is not None and pick.changed]


def confirm(found: KeptPart, run: Callable[[Campaign], Results], runs: int) -> Confirmation:
    """Makes some runs of each stale point again, and compares their values with the kept ones.

    Args:
        found: What is kept of a campaign.
        run: Makes the runs of a campaign.
        runs: Runs of each point, at most as many as are kept; at least 1.

    Raises:
        ManetlabError: A run failed.
    """
    campaign, points = found.part.campaign, stale_points(found)
    runs = min(runs, campaign.replications)
    again = Tables.of(found.part, run(only(campaign, points).changed(replications=runs)))
    differing = {}
    for place, number in enumerate(points):
        names = differences(found, number, again, place, range(runs))
        if names:
            differing[number] = names
    text = f"{provenance.code_identity()}, {runs} of {campaign.replications} runs of each point made again"
    return Confirmation(
        campaign.name,
        len(points),
        runs * len(points),
        [f"{_labels(campaign, number)}: {', '.join(names[:3])}" for number, names in differing.items()],
        None if differing else _confirmed(found, points, text),
    )


def _labels(campaign: Campaign, number: int) -> str:
    return ", ".join(f"{name}={label}" for name, label in campaign.points[number].levels.items())


def differences(
    found: KeptPart, number: int, again: Tables, place: int, replications: Sequence[int]
) -> list[str]:
    """The kept columns of which runs that were made again have other values.

    Args:
        found: What is kept of a campaign.
        number: The point.
        again: The runs that were made again.
        place: The point's number among these.
        replications: The replications that were made again, as the kept runs are counted; among the others
            they are counted from 0.
    """
    pick = found.picks[number]
    assert pick is not None
    kept, rows = found.kept, [pick.places[each] for each in replications]
    tables = {table: _of_point(again.rows(table), place) for table in kept.measures}
    at = [(place, each) for each in range(len(replications))]
    made: Mapping[str, Sequence[Any]] = columns_of(tables, kept.measures, at)
    made = {**made, "result_hash": _hashes(kept, rows, _of_point(again.rows("runs"), place))}
    return [
        name
        for name, values in made.items()
        if any(not _same(kept.columns[name][row], value) for row, value in zip(rows, values, strict=True))
    ]


def _of_point(rows: Sequence[Row], place: int) -> list[Row]:
    return [row for row in rows if int(row["point"]) == place]


def _hashes(kept: Kept, rows: Sequence[int], made: Sequence[Row]) -> list[str]:
    """The result hashes, to be held against the kept ones; those themselves where the forms differ."""
    of = {int(row["replication"]): str(row["result_hash"])[:HASH_DIGITS] for row in made}
    forms = [kept.makers[kept.columns["made_by"][row]].form for row in rows]
    return [
        of[each] if form == provenance.hash_form() else kept.columns["result_hash"][row]
        for each, (row, form) in enumerate(zip(rows, forms, strict=True))
    ]


def _same(one: Any, other: Any) -> bool:
    """Whether two values, or lists of them, are the same; no value is the same as none."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) or (_is_none(one) and _is_none(other))


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _confirmed(found: KeptPart, points: Collection[int], text: str) -> Kept | None:
    """The content of the file with today's keys and digest; None if points share runs no longer."""
    kept = found.kept
    makers, made_by = list(kept.makers), list(kept.columns["made_by"])
    keys: dict[int, str] = {}
    renewed: dict[int, int] = {}
    for number in points:
        pick = found.picks[number]
        assert pick is not None
        row, key = kept.columns["point"][pick.places[0]], key_of(found.part.campaign, number)
        if keys.setdefault(row, key) != key:
            return None
        for place in pick.places:
            old = kept.columns["made_by"][place]
            if renewed.setdefault(old, len(makers)) == len(makers):
                digest = provenance.source_digest()
                makers.append(replace(kept.makers[old], digest=digest, confirmed=text))
            made_by[place] = renewed[old]
    rows = [replace(each, key=keys.get(row, each.key)) for row, each in enumerate(kept.points)]
    return _without_unused(replace(kept, points=rows), makers, made_by)


def _without_unused(kept: Kept, makers: Sequence[Maker], made_by: Sequence[int]) -> Kept:
    """The content with the makers that made a run of it, each once."""
    numbers: dict[str, int] = {}
    listed: list[Maker] = []
    for each in made_by:
        if numbers.setdefault(repr(makers[each]), len(listed)) == len(listed):
            listed.append(makers[each])
    columns = {**kept.columns, "made_by": [numbers[repr(makers[each])] for each in made_by]}
    return replace(kept, makers=listed, columns=columns)
