"""Which runs of a campaign are kept, which of these are current, and how they are kept and taken again.

A point's key is the digest of all that its runs depend on besides the code and the seed. A kept run is
current if it was made or confirmed by this code, and its point's key is the same; else it is stale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manetlab import provenance
from manetlab.errors import InputError
from manetlab_papers.campaigns import Part
from manetlab_papers.page import Cost
from manetlab_papers.result_files import (
    HASH_DIGITS,
    PLACES,
    Kept,
    KeptPoint,
    Maker,
    columns_of,
    path_of,
    read,
    write,
)
from manetlab_papers.samples import Row, Tables

if TYPE_CHECKING:
    from manetlab.campaign import Campaign, Results


CHOSEN = "chosen point"
"""The factor of a campaign that runs some points of another."""
_KEYS: dict[str, str] = {}
"""Keys by what a campaign asks: to say what that comes to takes long."""


def key_of(campaign: Campaign, point: int) -> str:
    """The key of a point.

    Its first replication stands for all: the others differ in their seeds, and in what the code draws from
    these.
    """
    asked = campaign.fields_of(point, 0)
    text = json.dumps([asked, campaign.series_s, str(campaign.folder)], sort_keys=True)
    if text not in _KEYS:
        _KEYS[text] = _key_of(campaign, point, asked)
    return _KEYS[text]


def _key_of(campaign: Campaign, point: int, asked: Mapping[str, Any]) -> str:
    decides = {
        **campaign.scenario(point, 0).resolve().to_dict(),
        # What other seeds draw from it may differ although this one's is the same.
        "drawn from": [asked.get("movement"), asked.get("traffic")],
        "series_s": campaign.series_s,
    }
    text = json.dumps(decides, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def keys_of(campaign: Campaign) -> list[str]:
    """The keys of a campaign's points."""
    return [key_of(campaign, point.number) for point in campaign.points]


@dataclass(frozen=True)
class Pick:
    """The kept runs of a point.

    Attributes:
        places: Their places in the file, in order of replications.
        makers: What made them.
        changed: What has changed since: ``code`` or ``set-up``; nothing if they are current.
    """

    places: Sequence[int]
    makers: Collection[int]
    changed: Collection[str]


@dataclass(frozen=True)
class KeptPart:
    """What is kept of a campaign.

    Attributes:
        part: The campaign.
        kept: The file's content.
        picks: The runs of each point; None if not as many are kept as are wanted.
    """

    part: Part
    kept: Kept
    picks: Sequence[Pick | None]

    @property
    def is_complete(self) -> bool:
        """Are all runs kept, be they current or not?"""
        return None not in self.picks

    @property
    def missing(self) -> list[int]:
        """The points that must be run: of which runs are not kept, or are stale."""
        return [number for number, pick in enumerate(self.picks) if pick is None or pick.changed]

    @property
    def stale(self) -> dict[str, list[str]]:
        """By what made stale runs: what has changed since."""
        found: dict[str, set[str]] = {}
        for pick in self.picks:
            if pick is not None and pick.changed:
                for maker in pick.makers:
                    found.setdefault(self.kept.makers[maker].origin, set()).update(pick.changed)
        return {code: sorted(changed) for code, changed in sorted(found.items())}

    def rows(self, table: str, points: Collection[int]) -> list[Row]:
        """The rows of a table at some points."""
        rows: list[Row] = []
        for number in points:
            pick = self.picks[number]
            assert pick is not None
            levels = self.part.campaign.points[number].levels
            for place in pick.places:
                at = {name: self.kept.columns[name][place] for name in ("replication", "seed")}
                more = (
                    {name: self.kept.columns[name][place] for name in ("result_hash", "cpu_time_s")}
                    if table == "runs"
                    else {}
                )
                rows += [
                    {"point": number, **levels, **at, **more, **row} for row in self.kept.rows(table, place)
                ]
        return rows

    def tables(self, fresh: Tables | None = None, points: Collection[int] = ()) -> Tables:
        """The tables of all runs: of those that are kept, and at some points of those that were made now.

        Args:
            fresh: The tables of the runs that were made, whose points are counted from 0.
            points: Which points these are.
        """
        others = [number for number in range(self.part.campaign.point_count) if number not in points]
        numbers = list(points)

        def rows(table: str) -> list[Row]:
            made = [] if fresh is None else fresh.rows(table)
            both = [*self.rows(table, others), *(self._renumbered(row, numbers) for row in made)]
            return sorted(both, key=lambda row: (row["point"], row["replication"]))

        return Tables(self.part.labels, rows("runs"), rows("flows"), rows("drops"), rows, self.kept.measures)

    def _renumbered(self, row: Row, numbers: Sequence[int]) -> Row:
        number = numbers[int(row["point"])]
        rest = {name: value for name, value in row.items() if name not in ("point", CHOSEN)}
        return {"point": number, **self.part.campaign.points[number].levels, **rest}

    def cost(self, points: Collection[int]) -> Cost:
        """What the runs of some points cost when they were made."""
        picks = [pick for number in points if (pick := self.picks[number]) is not None]
        makers = [self.kept.makers[number] for number in {each for pick in picks for each in pick.makers}]
        times = self.kept.columns["cpu_time_s"]
        return Cost(
            sum(len(pick.places) for pick in picks),
            sum(times[place] for pick in picks for place in pick.places),
            frozenset(each.platform for each in makers),
            frozenset(each.origin for each in makers),
            frozenset(each.day for each in makers),
        )


def load(folder: Path, scale: str, part: Part) -> KeptPart | None:
    """What a folder keeps of a campaign; None if it keeps nothing.

    Raises:
        InputError: The file is not what was written.
    """
    path = path_of(folder, scale, part.campaign.name)
    kept = read(path)
    if kept is None:
        return None
    if (kept.campaign, kept.scale) != (part.campaign.name, scale):
        found = f"{kept.campaign}, {kept.scale}"
        wanted, hint = f"{part.campaign.name}, {scale}", "a file of kept results goes by its campaign's name"
        raise InputError("kept results of another campaign", str(path), found, wanted, hint)
    return KeptPart(part, kept, [_pick(kept, part.campaign, each.number) for each in part.campaign.points])


def _pick(kept: Kept, campaign: Campaign, number: int) -> Pick | None:
    """The kept runs of a point: those at its levels, or of its key if it has other labels by now."""
    levels = campaign.points[number].levels
    found = [place for place, each in enumerate(kept.points) if each.levels == levels]
    if not found:
        key = key_of(campaign, number)
        found = [place for place, each in enumerate(kept.points) if each.key == key]
    if not found:
        return None
    at = {
        kept.columns["replication"][place]: place
        for place, point in enumerate(kept.columns["point"])
        if point == found[0] and kept.columns["replication"][place] < campaign.replications
    }
    if len(at) < campaign.replications:
        return None
    places = [at[replication] for replication in sorted(at)]
    makers = {kept.columns["made_by"][place] for place in places}
    if any(kept.makers[maker].digest != provenance.source_digest() for maker in makers):
        return Pick(places, makers, {"code"})
    # A key says nothing across changes of the code, and takes its time.
    is_same = kept.points[found[0]].key == key_of(campaign, number)
    return Pick(places, makers, set() if is_same else {"set-up"})


def only(campaign: Campaign, points: Sequence[int]) -> Campaign:
    """A campaign of some points of another; each scenario is the same as there."""
    levels = list(campaign.levels.values())
    chosen = []
    for number in points:
        labels = campaign.points[number].levels.values()
        fields: dict[str, Any] = {}
        for label, listed in zip(labels, levels, strict=True):
            [level] = [each for each in listed if each.label == label]
            fields |= level.fields
        chosen.append({"label": number, "fields": fields})
    return campaign.changed(factors={CHOSEN: chosen})


@dataclass(frozen=True, eq=False)
class Ran:
    """Runs that were made here and may be kept.

    Attributes:
        part: The campaign.
        tables: The tables of all its runs, kept ones included.
        made: The results of the runs that were made; None if all were kept.
        points: The points that were made, in order of the results' points.
        before: What was kept, from which the other points are.
    """

    part: Part
    tables: Tables
    made: Results | None
    points: Sequence[int]
    before: KeptPart | None


def keep(folder: Path, scale: str, ran: Ran) -> bool:
    """Keeps the runs of a campaign; returns whether the file is another than before.

    Args:
        folder: The folder of kept results.
        scale: ``full`` or ``quick``.
        ran: The runs; of their tables what rules, tables and figures have read is kept.

    Raises:
        InputError: The file cannot be written.
    """
    campaign = ran.part.campaign
    points = [KeptPoint(key_of(campaign, point.number), point.levels) for point in campaign.points]
    makers, made_by = _makers(ran)
    rows = sorted(ran.tables.rows("runs"), key=lambda row: (row["point"], row["replication"]))
    places = [(int(row["point"]), int(row["replication"])) for row in rows]
    columns: dict[str, list[Any]] = {
        "point": [point for point, _ in places],
        "replication": [replication for _, replication in places],
        "seed": [int(row["seed"]) for row in rows],
        "made_by": [made_by[place] for place in places],
        "result_hash": [str(row["result_hash"])[:HASH_DIGITS] for row in rows],
        "cpu_time_s": [round(float(row["cpu_time_s"]), 3) for row in rows],
    }
    path = path_of(folder, scale, campaign.name)
    wanted = _wanted(ran)
    for table, names in _measures_before(path).items():
        # Rules of other experiments read these.
        if table in ("runs", "flows", "drops") or campaign.series_s is not None:
            there = {name for row in ran.tables.rows(table)[:1] for name in row}
            wanted.setdefault(table, set()).update(names & there)
    of = {table: ran.tables.rows(table) for table in wanted}
    kept = Kept(campaign.name, scale, makers, points, {**columns, **columns_of(of, wanted, places)})
    return write(path, kept)


def _measures_before(path: Path) -> Mapping[str, set[str]]:
    """The columns of the file that is replaced; none if it cannot be read, since nothing of it is used."""
    with suppress(InputError):
        before = read(path)
        return {} if before is None else before.measures
    return {}


def _wanted(ran: Ran) -> dict[str, set[str]]:
    """The columns that were read, by table."""
    levels = {*PLACES, "key", *ran.part.campaign.factors, *ran.part.labels}
    wanted: dict[str, set[str]] = {"runs": set()}
    for table, names in ran.tables.read.items():
        if "*" in names:
            names = {name for row in ran.tables.rows(table) for name in row}
        wanted.setdefault(table, set()).update(names - levels)
    if "flows" in wanted:
        # What a row of a flow is known by.
        wanted["flows"] |= {"flow", "kind"}
    return wanted


def _makers(ran: Ran) -> tuple[list[Maker], dict[tuple[int, int], int]]:
    """What made the runs, and which of these made each."""
    found: dict[str, tuple[int, Maker]] = {}
    made_by: dict[tuple[int, int], int] = {}

    def note(place: tuple[int, int], maker: Maker) -> None:
        number, _ = found.setdefault(repr(maker), (len(found), maker))
        made_by[place] = number

    if ran.before is not None:
        columns = ran.before.kept.columns
        for number, pick in enumerate(ran.before.picks):
            if number not in ran.points and pick is not None:
                for place in pick.places:
                    maker = ran.before.kept.makers[columns["made_by"][place]]
                    note((number, columns["replication"][place]), maker)
    if ran.made is not None:
        of = provenance.source_digest(), provenance.hash_form()
        for row in ran.made.machines.to_dict("records"):
            maker = Maker(str(row["code"]), str(row["platform"]), str(row["ended"])[:10], *of)
            note((ran.points[int(row["point"])], int(row["replication"])), maker)
    return [maker for _, maker in found.values()], made_by
