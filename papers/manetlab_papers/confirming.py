"""Kept runs of earlier code that this code repeats bit by bit: some runs of each point are made again.

A change to the simulator makes kept runs stale, also where it changes no result. If every run that is made
again, of every stale point of a campaign, has the result hash that was kept, the others are taken to be the
same, too, and the file says by which code and from how many runs a point. One hash that differs confirms
nothing of its campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from manetlab import provenance
from manetlab_papers.keeping import Identity, KeptPart, identities, only
from manetlab_papers.kept import HASH_DIGITS, Kept, Maker

if TYPE_CHECKING:
    from manetlab.campaign import Campaign, Results


@dataclass(frozen=True)
class Confirmation:
    """What came of repeating runs of a campaign.

    Attributes:
        campaign: The campaign's name.
        points: The points that were stale.
        runs: The runs that were made again.
        differing: The points of which a run came out otherwise, by their labels.
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
    """Makes some runs of each stale point again, and compares their result hashes with the kept ones.

    Args:
        found: What is kept of a campaign.
        run: Makes the runs of a campaign.
        runs: Runs of each point, at most as many as are kept; at least 2.

    Raises:
        ManetlabError: A run failed.
    """
    campaign, points = found.part.campaign, stale_points(found)
    runs = min(runs, campaign.replications)
    again = run(only(campaign, points).changed(replications=runs))
    hashes = {
        (points[int(row["point"])], int(row["replication"])): str(row["result_hash"])[:HASH_DIGITS]
        for row in again.runs.to_dict("records")
    }
    differing = [number for number in points if _kept_hashes(found, number, runs) != _at(hashes, number)]
    text = f"{provenance.code_identity()}, {runs} of {campaign.replications} runs of each point made again"
    return Confirmation(
        campaign.name,
        len(points),
        len(hashes),
        [
            ", ".join(f"{name}={label}" for name, label in campaign.points[each].levels.items())
            for each in differing
        ],
        None if differing else _confirmed(found, points, identities(campaign), text),
    )


def _at(hashes: dict[tuple[int, int], str], number: int) -> list[str]:
    return [made for (point, _), made in sorted(hashes.items()) if point == number]


def _kept_hashes(found: KeptPart, number: int, runs: int) -> list[str]:
    pick = found.picks[number]
    assert pick is not None
    return [str(found.kept.columns["result_hash"][place]) for place in pick.places[:runs]]


def _confirmed(found: KeptPart, points: Collection[int], now: Sequence[Identity], text: str) -> Kept | None:
    """The content of the file with today's keys and digests; None if points share runs no longer."""
    kept = found.kept
    makers, made_by = list(kept.makers), list(kept.columns["made_by"])
    keys: dict[int, str] = {}
    renewed: dict[tuple[int, str], int] = {}
    for number in points:
        pick = found.picks[number]
        assert pick is not None
        row = kept.columns["point"][pick.places[0]]
        if keys.setdefault(row, now[number].key) != now[number].key:
            return None
        units = dict(sorted(now[number].units.items()))
        for place in pick.places:
            old = kept.columns["made_by"][place]
            maker = replace(kept.makers[old], units=units, confirmed=text)
            made_by[place] = renewed.setdefault((old, repr(units)), len(makers))
            if made_by[place] == len(makers):
                makers.append(maker)
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
