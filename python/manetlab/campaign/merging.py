"""Makes one store of several, each of which has a part of the same campaign's runs.

Every row is checked against its digest before it is taken over. A run is kept under a hash of its scenario
and its code, and each store is taken over in one transaction: merging twice, or after a kill, changes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from manetlab.campaign.elimination import is_asked
from manetlab.campaign.results import Results
from manetlab.campaign.series import take_over
from manetlab.campaign.store import RUN, Store
from manetlab.errors import InputError, shown
from manetlab.files import check_outputs

BLOCK = 200
"""How many runs are read at a time: their flows may be large."""


@dataclass(frozen=True)
class Merged:
    """What has been taken over.

    Attributes:
        path: The store that has it all.
        campaign: The campaign's name.
        runs: Runs that were not there before.
        known: Runs that were there before.
        done: Runs of the campaign that are there now.
        failed: Runs of the campaign that failed in every store that tried them.
        total: Runs of the campaign.
    """

    path: Path
    campaign: str
    runs: int
    known: int
    done: int
    failed: int
    total: int


def merge(target: str | Path, sources: Sequence[str | Path], *, allow_other_version: bool = False) -> Merged:
    """Takes the runs of several stores over into one, which is made if it is not there.

    Args:
        target: The store that shall have all runs.
        sources: The stores of the campaign's parts; they are only read.
        allow_other_version: The runs may be of several versions of the code.

    Raises:
        InputError: A store cannot be read or is damaged; the stores answer different questions, are of
            different code, or have different results of the same run; or the target cannot be written.
    """
    place, given = Path(target), [Path(each) for each in sources]
    if not given:
        raise InputError("there is nothing to merge", str(target), "no stores", "the stores of the parts")
    check_outputs({"--output": place}, given)
    stores = [*given, *([place] if _has_campaign(place) else [])]
    _check_same_question(stores)
    if not allow_other_version:
        _check_same_code(stores)
    taken = known = 0
    with Store.open(place) as into:
        for path in given:
            with Store.read(path) as part:
                take_over(path, place, part.all_series_files())
                with into.transaction():
                    new, old = _take_over(part, into)
            taken, known = taken + new, known + old
        number, campaign, reached = into.definition()
        settled, failed = len(into.settled(number)), into.failure_count(number, reached)
    total = campaign.point_count * reached
    if is_asked(campaign):
        found = Results.load(place, trust=True)
        return Merged(place, campaign.name, taken, known, found.done, len(found.failed), found.planned)
    return Merged(place, campaign.name, taken, known, settled - failed, failed, total)


def _has_campaign(path: Path) -> bool:
    """Is there a store already, other than one that was left empty by a merge that was killed?"""
    if not path.exists():
        return False
    with Store.open(path) as store:
        return bool(store.rows("SELECT EXISTS (SELECT 1 FROM campaign)")[0][0])


def _check_same_question(paths: Sequence[Path]) -> None:
    """Checks that stores have the same campaign, and only this one."""
    first: tuple[str, dict[str, object]] | None = None
    for path in paths:
        with Store.read(path) as store:
            count, campaign, _ = store.definition()
            [[campaigns]] = store.rows("SELECT count(*) FROM campaign")
            [[identity]] = store.rows("SELECT id FROM campaign WHERE number = ?", (count,))
        if campaigns > 1:
            hint = "merge stores that `manetlab campaign run --shard` made"
            found = f"{campaigns} campaigns"
            raise InputError("the store has several campaigns", str(path), found, "one", hint)
        asked = (str(identity), campaign.to_dict())
        if first is None:
            first = asked
        elif asked[0] != first[0]:
            found = f'"{campaign.name}", whose runs are others than those of {paths[0]}'
            hint = "run all parts from the same campaign file, with the same files beside it"
            raise InputError("the stores are of different campaigns", str(path), found, "the same", hint)
        elif asked[1] != first[1]:
            keys = [key for key in {**asked[1], **first[1]} if asked[1].get(key) != first[1].get(key)]
            hint = "run the part again with the campaign file of the others: only the question changes"
            found = f"another {', '.join(keys)} than in {paths[0]}"
            raise InputError("the stores ask different questions", str(path), found, "the same", hint)


def _check_same_code(paths: Sequence[Path]) -> None:
    """Checks that the runs of stores are of the same code."""
    of: dict[str, Path] = {}
    for path in paths:
        with Store.read(path) as store:
            for (code,) in store.rows("SELECT DISTINCT code FROM run ORDER BY code"):
                of.setdefault(code, path)
    if len(of) > 1:
        found = "; ".join(f"{code} in {path}" for code, path in of.items())
        hint = "run all parts with the same version, or mix them with --allow-other-version"
        raise InputError("the stores are of different code", str(paths[0]), found, "one version", hint)


def _take_over(part: Store, into: Store) -> tuple[int, int]:
    """Takes a store's rows over; returns how many runs are new, and how many were there.

    Must be called within a transaction of the store that takes them.
    """
    theirs, _, _ = part.definition()
    number = into.adopt_campaign(part, theirs)
    new = known = 0
    last = ""
    columns = ", ".join(RUN)
    while rows := part.rows(
        f"SELECT {columns}, digest FROM run WHERE key > ? ORDER BY key LIMIT {BLOCK}", (last,)
    ):
        part.verify_all(rows, lambda run: f"the run {shown(run[0])}")
        for *values, digest in rows:
            if into.adopt_run(values, digest):
                new += 1
            else:
                known += 1
        last = str(rows[-1][0])
    into.adopt_tasks(part, theirs, number)
    into.adopt_sessions(part, theirs, number)
    return new, known
