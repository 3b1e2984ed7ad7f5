"""How many networks a campaign's replications are: one track is one, whatever is drawn of the traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from manetlab.movement_files import expanded
from manetlab.scenario_warnings import topology_of
from manetlab.topology import MOST_PARTITIONED

if TYPE_CHECKING:
    from manetlab.report.study import Study
    from manetlab.scenario import Scenario

TRACKS = ("file", "files", "tracks")
"""Movement that comes from somewhere else, of which there may be more of the same kind."""
MOST_TRACKS = 10
"""How many tracks of a point are looked at."""


def about(study: Study) -> list[str]:
    """What the intervals do not cover because movements are the same in several replications."""
    scenarios = list(study.scenarios.values())
    found = []
    single = [each for each in scenarios if not each.has_movements]
    if single and not all(each.is_drawn for each in single):
        found.append(
            "Movement and traffic are the same in all replications: the intervals apply to these "
            "networks only, not to others of the same kind."
        )
    elif single:
        found.append(_one_network(study, single))
    if (cycled := _cycled(study)) is not None:
        found.append(cycled)
    return found


def partitioned(study: Study) -> list[str]:
    """What the tracks after the first leave without a path, where the first has nothing to tell of."""
    numbers = [number for number in study.resolved if files_of(study.scenarios[number])]
    if not numbers or study.topologies[numbers[0]].flow_partitioned is None:
        return []
    made = study.replications_of(numbers[0])[:MOST_TRACKS]
    shares = []
    for replication in made:
        report = topology_of(study.campaign.scenario(numbers[0], int(replication)).resolve())
        shares.append(report.flow_partitioned or 0.0)
    cut = sum(each > MOST_PARTITIONED for each in shares)
    if not cut or shares[0] > MOST_PARTITIONED:
        return []
    return [
        f"{cut} of the {'first ' if len(made) == MOST_TRACKS else ''}{len(shares)} tracks leave more than "
        f"{100 * MOST_PARTITIONED:g} % of the flows' node pairs without a path, up to "
        f"{100 * max(shares):.1f} %: there results say more about partitions than about protocols."
    ]


def _one_network(study: Study, single: list[Scenario]) -> str:
    tracks = [each for each in single if any(getattr(each.movement, name) is not None for name in TRACKS)]
    if not tracks:
        return (
            "All replications have the same placement of nodes, whatever is drawn of the traffic: the "
            "intervals apply to this placement only, not to others of the same kind."
        )
    distinct = {str(each.movement.to_dict()) for each in tracks}
    which = "this track" if len(distinct) == 1 else f"these {len(distinct)} tracks"
    told = (
        "One track is one network, whatever is drawn of the traffic: the movement is the same in all "
        f"replications of a point, so the intervals apply to {which} only, not to others of the same kind."
    )
    factors = deciding(study)
    if not factors:
        return told
    of = " and of ".join(f"“{name}”" for name in factors)
    return (
        f"{told} Each level of {of} has a track of its own, so differences between them may be differences "
        "between single tracks. movement.files takes a track a replication."
    )


def deciding(study: Study) -> list[str]:
    """The factors whose levels have different movements."""
    return [
        factor.label
        for index, factor in enumerate(study.factors)
        if len({frozenset(each) for each in _movements_by_level(study, index).values()}) > 1
    ]


def _movements_by_level(study: Study, index: int) -> Mapping[str, set[str]]:
    by_level: dict[str, set[str]] = {}
    for point in study.points:
        movement: dict[str, Any] = study.scenarios[point.number].movement.to_dict()
        by_level.setdefault(point.levels[index], set()).add(str(movement))
    return by_level


def _cycled(study: Study) -> str | None:
    """What is to be known if files are taken again."""
    counts = [count for each in study.scenarios.values() if (count := files_of(each))]
    replications = int(study.runs.groupby("point").size().max())
    fewest = min(counts, default=replications)
    if fewest >= replications:
        return None
    files = "file" if fewest == 1 else "files"
    return (
        f"{replications} replications share {fewest} movement {files} (movement.cycle): there are no more "
        "networks than files, the replications depend on each other, and the intervals are too narrow."
    )


def files_of(scenario: Scenario) -> int:
    """How many movement files there are for the replications; 0 if they have none of their own."""
    if scenario.movement.files is None:
        return 0
    return len(expanded(scenario.movement.files, scenario.where, scenario.origin))
