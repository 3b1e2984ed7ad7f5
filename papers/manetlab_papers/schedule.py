"""In which order experiments are run, and what that costs: the important first, of these the cheapest.

Experiments share campaigns. An experiment costs what the campaigns cost that none before it has run, from the
processor time of kept runs. Where only runs of another length are kept, time grows with what is simulated
and as it did for campaigns of the same kind that are kept at both lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab_papers.campaigns import Part, Scale, needed
from manetlab_papers.functions import load_all
from manetlab_papers.kept_runs import load
from manetlab_papers.ledger import Experiment, Ledger
from manetlab_papers.reproduce import Keeping, Reproduction
from manetlab_papers.result_files import path_of, read

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.scenario import Scenario


@dataclass(frozen=True)
class WorkLeft:
    """What a campaign costs of which not all runs are kept and current at this scale.

    Attributes:
        runs: The runs that are left; 0 if all are kept and current.
        cpu_time_s: Their processor time, in s, as far as kept runs tell.
    """

    runs: int
    cpu_time_s: float


@dataclass(frozen=True)
class Step:
    """An experiment in its place.

    Attributes:
        experiment: The experiment.
        cost: What it costs after those before it.
    """

    experiment: Experiment
    cost: WorkLeft


def planned(
    ledger: Ledger, experiments: Sequence[Experiment], scale: Scale, folder: Path | None
) -> list[Step]:
    """The experiments in the order in which they are best run.

    Args:
        ledger: The ledger.
        experiments: The experiments.
        scale: How much is run.
        folder: The folder of kept results; nothing is known of costs without it.

    Raises:
        InputError: Results that are kept cannot be read.
    """
    open_ones = remaining(ledger, experiments, scale, folder)
    costs, names = open_ones.costs, open_ones.campaigns
    left, ran, steps = list(experiments), set[str](), list[Step]()
    while left:
        added = {each.id: _sum(costs[name] for name in names[each.id] - ran) for each in left}
        best = min(left, key=lambda each: (each.priority, added[each.id].cpu_time_s, added[each.id].runs))
        left.remove(best)
        ran |= names[best.id]
        steps.append(Step(best, added[best.id]))
    return steps


@dataclass(frozen=True)
class Remaining:
    """What is left to run of experiments.

    Attributes:
        costs: What each campaign costs, by its name.
        campaigns: The names of the campaigns of each experiment, by its id.
    """

    costs: Mapping[str, WorkLeft]
    campaigns: Mapping[str, set[str]]

    def of(self, experiments: Iterable[Experiment]) -> WorkLeft:
        """What some experiments together cost, each campaign once."""
        names = {name for each in experiments for name in self.campaigns.get(each.id, ())}
        return _sum(self.costs[name] for name in names)


def remaining(
    ledger: Ledger, experiments: Sequence[Experiment], scale: Scale, folder: Path | None
) -> Remaining:
    """What is left to run of experiments: what is not kept, not current, or lacks values that rules read.

    The arguments are those of `planned`.

    Raises:
        InputError: Results that are kept cannot be read.
    """
    load_all()
    parts = _parts(ledger, experiments, scale)
    others = _parts(ledger, experiments, Scale(full=not scale.full))
    left = {name: _missing(folder, scale, part) for name, part in parts.items()}
    names = {each.id: {part.campaign.name for part in needed(ledger, each, scale)} for each in experiments}
    whole = [each for each in experiments if not any(left[name] for name in names[each.id])]
    if folder is not None:
        for family in _lacking(ledger, whole, scale, folder):
            # Which of its runs rules read is known only when they are read: all are made again.
            again = {
                name: range(part.campaign.point_count)
                for name, part in parts.items()
                if part.family == family
            }
            left |= again
    return Remaining(_costs(parts, left, others, scale, folder), names)


def _lacking(ledger: Ledger, experiments: Iterable[Experiment], scale: Scale, folder: Path) -> set[str]:
    """The ledger's campaigns whose runs are kept and current, but without values that rules read by now."""
    kept = Reproduction(ledger, scale, folder, keeping=Keeping(folder))
    found = (kept.lacking(each) for each in experiments)
    return {family for family in found if family is not None}


def _parts(ledger: Ledger, experiments: Iterable[Experiment], scale: Scale) -> dict[str, Part]:
    """The campaigns of experiments by their names."""
    of = (part for each in experiments for part in needed(ledger, each, scale))
    return {part.campaign.name: part for part in of}


def _sum(costs: Iterable[WorkLeft]) -> WorkLeft:
    listed = list(costs)
    return WorkLeft(sum(each.runs for each in listed), sum(each.cpu_time_s for each in listed))


def _costs(
    wanted: Mapping[str, Part],
    left: Mapping[str, Sequence[int]],
    others: Mapping[str, Part],
    scale: Scale,
    folder: Path | None,
) -> dict[str, WorkLeft]:
    """What each campaign costs.

    Args:
        wanted: The campaigns.
        left: The points that are left to run of each.
        others: Those of the other scale, of which runs may be kept.
        scale: The campaigns' scale.
        folder: The folder of kept results.
    """
    other = Scale(full=not scale.full)
    kept = {name: _times(folder, scale, name) for name in wanted}
    elsewhere = {name: _times(folder, other, name) for name in others}
    here = {name: _speed(wanted[name].campaign, times) for name, times in kept.items() if times}
    there = {name: _speed(others[name].campaign, times) for name, times in elsewhere.items() if times}
    # Shorter runs have no traffic for a larger part of their time; what is kept of both tells how much.
    ratios = {name: here[name] / there[name] for name in here if there.get(name)}
    speeds = {name: speed * _like(name, ratios, 1.0) for name, speed in there.items()} | here
    costs = {}
    for name, part in wanted.items():
        campaign, missing = part.campaign, left[name]
        simulated_s = campaign.replications * sum(campaign.scenario(each, 0).duration_s for each in missing)
        speed = speeds.get(name, _like(name, speeds, 0.0))
        costs[name] = WorkLeft(len(missing) * campaign.replications, speed * simulated_s)
    return costs


def _missing(folder: Path | None, scale: Scale, part: Part) -> Sequence[int]:
    """The points whose runs are not kept or, by a change of code or set-up, not current."""
    found = None if folder is None else load(folder, scale.name, part)
    return range(part.campaign.point_count) if found is None else found.missing


def _like(name: str, values: Mapping[str, float], without: float) -> float:
    """The mean over campaigns of the same kind; over all if there is none of it; else `without`.

    Campaigns are of the same kind if their names are the same up to the first comma.
    """
    kind = name.partition(",")[0]
    alike = [value for each, value in values.items() if each.partition(",")[0] == kind]
    return _mean(alike or list(values.values()) or [without])


def _speed(campaign: Campaign, times: Sequence[float]) -> float:
    """Processor time for each simulated second."""
    return _mean(times) / _mean([each.duration_s for each in _scenarios(campaign)])


def _scenarios(campaign: Campaign) -> list[Scenario]:
    """The first scenario of each point."""
    return [each.scenario(0) for each in campaign.points]


def _times(folder: Path | None, scale: Scale, name: str) -> list[float]:
    """The processor time of each kept run of a campaign, current or not, in s."""
    found = None if folder is None else read(path_of(folder, scale.name, name))
    return [] if found is None else [float(each) for each in found.columns["cpu_time_s"]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
