"""The results that the repository keeps are what this code gives: some runs are made again, hash by hash.

Points that are stale by now are passed over: `manetlab papers` says of them that they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from manetlab.running import run
from manetlab_papers import ledger
from manetlab_papers.campaigns import Part, Scale, needed
from manetlab_papers.keeping import load
from manetlab_papers.kept import HASH_DIGITS, path_of
from manetlab_papers.special import load_all

if TYPE_CHECKING:
    from manetlab.scenario import Scenario

FOLDER = Path(__file__).parents[1] / "kept"
CAMPAIGNS = 8
"""As many campaigns of each scale are looked at, one run of each."""
LONGEST_S = 0.5
"""No run is chosen that took more processor time than this."""


def drawn(text: str) -> str:
    """A number that follows from a text and looks like chance."""
    return hashlib.sha256(text.encode()).hexdigest()


def campaigns(scale: Scale) -> list[Part]:
    """Campaigns of which results are kept; which ones changes when any of their files does."""
    load_all()
    loaded = ledger.load()
    of = (part for each in loaded.runnable.values() for part in needed(loaded, each, scale))
    parts = {part.campaign.name: part for part in of}
    paths = {name: path_of(FOLDER, scale.name, name) for name in parts}
    there = {
        name: drawn(name + drawn(str(path.stat().st_size))) for name, path in paths.items() if path.exists()
    }
    return [parts[name] for name in sorted(there, key=there.__getitem__)[:CAMPAIGNS]]


def runs(scale: Scale) -> Iterator[tuple[str, Scenario, str]]:
    """One current run of each campaign: what it is, its scenario, the kept hash."""
    for part in campaigns(scale):
        found = load(FOLDER, scale.name, part)
        assert found is not None
        columns = found.kept.columns
        short = [
            (number, place)
            for number, pick in enumerate(found.picks)
            if pick is not None and not pick.changed
            for place in pick.places
            if columns["cpu_time_s"][place] <= LONGEST_S
        ]
        if short:
            name = part.campaign.name
            number, place = min(short, key=lambda each: drawn(f"{name} {each}"))
            replication = columns["replication"][place]
            scenario = part.campaign.points[number].scenario(replication)
            yield f"{name}, point {number}, run {replication}", scenario, columns["result_hash"][place]


@pytest.mark.parametrize("scale", [Scale(), Scale(full=True)], ids=lambda each: each.name)
def test_kept_runs_come_out_the_same_when_they_are_made_again(scale: Scale) -> None:
    chosen = list(runs(scale))
    if not chosen:
        pytest.skip("all kept results are stale: `manetlab papers confirm` makes some of their runs again")
    differing = [what for what, scenario, kept in chosen if run(scenario).hash[:HASH_DIGITS] != kept]
    assert not differing
