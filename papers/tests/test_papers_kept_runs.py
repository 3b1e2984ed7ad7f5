"""The results that the repository keeps are what this code gives: some runs are made again, value by value.

They are made whatever the digests of the code say: a change of the code is what they are for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from manetlab_papers import ledger
from manetlab_papers.campaigns import Scale, needed
from manetlab_papers.confirmation import differences
from manetlab_papers.functions import load_all
from manetlab_papers.kept_runs import KeptPart, load, only
from manetlab_papers.samples import Tables

FOLDER = Path(__file__).parents[1] / "kept"
SEED = "1"
"""With another one other runs are made."""
CAMPAIGNS = 24
"""One run of each."""
LONGEST_S = 1.5
"""No run is chosen that took more processor time than this when it was kept."""


@dataclass(frozen=True)
class Again:
    """A run that is made again: the campaign, the point, and which of its replications."""

    found: KeptPart
    point: int
    replication: int


def drawn(text: str) -> str:
    """A number that follows from a text and looks like chance."""
    return hashlib.sha256(f"{SEED} {text}".encode()).hexdigest()


def chosen() -> Iterator[Again]:
    """One run of each of some campaigns; first one campaign of each family, so that experiments differ."""
    load_all()
    loaded, scale = ledger.load(), Scale(full=True)
    of = (part for each in loaded.runnable.values() for part in needed(loaded, each, scale))
    parts = {part.campaign.name: part for part in of}
    by_family = {
        part.family: part for part in sorted(parts.values(), key=lambda each: drawn(each.campaign.name))
    }
    count = 0
    for part in sorted(by_family.values(), key=lambda each: drawn(each.family)):
        found = load(FOLDER, scale.name, part)
        assert found is not None and found.is_complete, part.campaign.name
        short = [
            Again(found, number, replication)
            for number, pick in enumerate(found.picks)
            if pick is not None
            for replication, place in enumerate(pick.places)
            if found.kept.columns["cpu_time_s"][place] <= LONGEST_S
        ]
        if short and count < CAMPAIGNS:
            count += 1
            yield min(short, key=lambda each: drawn(f"{part.campaign.name} {each.point} {each.replication}"))


def made_again(run: Again, folder: Path) -> list[str]:
    """The kept columns that have other values when a run is made again."""
    campaign = run.found.part.campaign
    alone = only(campaign, [run.point]).changed(
        replications=1, first_seed=campaign.first_seed + run.replication
    )
    # Time series need a store in a file.
    store = None if campaign.series_s is None else folder / f"{drawn(campaign.name)[:12]}.db"
    again = Tables.of(run.found.part, alone.run(store, jobs=1))
    return differences(run.found, run.point, again, 0, [run.replication])


def test_kept_runs_come_out_the_same_when_they_are_made_again(tmp_path: Path) -> None:
    runs = list(chosen())
    assert len(runs) == CAMPAIGNS
    assert {
        f"{run.found.part.campaign.name}, point {run.point}, run {run.replication}": names
        for run in runs
        if (names := made_again(run, tmp_path))
    } == {}
