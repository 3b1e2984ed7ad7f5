"""How often sequential elimination is right: experiments with alternatives whose means are known.

``python -m validation.elimination`` makes the table of docs/statistics.md, from 2,000 experiments a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import click
import numpy as np
from numpy.typing import NDArray

from manetlab.stats import Looks, compare_with_best, eliminate, mean_interval, paired_interval
from manetlab.stats.looks import doubling
from manetlab.tables import Table
from validation.intervals import BEYOND, KINDS, Kind

EXPERIMENTS = 2_000
"""Experiments of a line: a coverage of 95 % then has a standard error of half a per cent."""
MOST = 40
"""Replications of what is not given up."""
CONFIDENCE = 0.95
SEED = 31
BEHIND = (1.0, 1.0, 0.95, 0.8)
"""What the alternatives have of the mean where two lead."""
SPREADS = (0.2, 1.0, 3.0, 0.3)
"""The standard deviations of normal alternatives around their network: those of pairs differ widely."""

Values = NDArray[np.float64]
"""Of one experiment: a line a replication, a column an alternative."""


@dataclass(frozen=True)
class Case:
    """Alternatives in common random numbers.

    Attributes:
        name: What the values are called.
        truth: Which of them are as good as each other.
        means: The mean of each.
        draw: Draws the values of an experiment.
    """

    name: str
    truth: str
    means: tuple[float, ...]
    draw: Callable[[np.random.Generator], Values]


def _normal(gains: tuple[float, ...]) -> Callable[[np.random.Generator], Values]:
    def draw(random: np.random.Generator) -> Values:
        shared = random.normal(0.0, 5.0, (MOST, 1))
        return np.asarray(shared + random.normal(gains, SPREADS, (MOST, len(gains))))

    return draw


def _halves(kind: Kind, shares: tuple[float, ...], steady: int) -> Callable[[np.random.Generator], Values]:
    """Values one half of which is the network's, and the other the alternative's or, if steady, the mean."""

    def draw(random: np.random.Generator) -> Values:
        network = kind.draw(random, (MOST, 1))
        own = kind.draw(random, (MOST, len(shares)))
        own[:, len(shares) - steady :] = kind.mean
        return np.asarray((network + own) / 2 * np.array(shares))

    return draw


def cases() -> list[Case]:
    """Normal values as the tests have them, and what replications look like: bounded and skewed."""
    made = []
    for gains, truth in (
        ((0.0, 0.0, 0.0, 0.0), "all alike"),
        ((0.0, 0.5, 1.0, 1.0), "two lead"),
        ((0.0, 0.0, 0.0, 2.0), "one leads"),
    ):
        made.append(Case("normal, unequal variances", truth, gains, _normal(gains)))
    for kind in (*KINDS, *BEYOND):
        same, behind = (kind.mean,) * 4, tuple(kind.mean * share for share in BEHIND)
        made.append(Case(kind.name, "all alike, two steady", same, _halves(kind, (1.0,) * 4, 2)))
        made.append(Case(kind.name, "two lead", behind, _halves(kind, BEHIND, 0)))
    return made


@dataclass(frozen=True)
class Found:
    """What came out of many experiments, as shares of them.

    Attributes:
        right: No alternative that is as good as the best was given up or called worse.
        held: The intervals of all pairs held, each at the look that was its last.
        right_with_all: The first without elimination.
        held_with_all: The second without elimination.
        replications: The replications that were made, of those of all alternatives.
        of_losers: The 95 % intervals of the means of what was given up that hold the mean, of all such.
    """

    right: float
    held: float
    right_with_all: float
    held_with_all: float
    replications: float
    of_losers: float


def tried(case: Case, experiments: int = EXPERIMENTS) -> Found:
    """Eliminates alternatives many times."""
    looks = Looks.among(doubling(MOST))
    counts, made, losers = [0, 0, 0, 0], 0, [0, 0]
    best = max(case.means)
    good = {str(place) for place, mean in enumerate(case.means) if mean == best}
    for number in range(experiments):
        rows = case.draw(np.random.default_rng((SEED, number)))
        values = {str(place): rows[:, place].tolist() for place in range(len(case.means))}
        found, standing = eliminate({"m": values}, looks)
        worse = {each.name for each in standing["m"] if each.verdict == "worse"} | {*found.given_up}
        counts[0] += not worse & good
        counts[1] += _all_hold(case, values, looks, found.ended)
        counts[2] += not {e.name for e in compare_with_best(values) if e.verdict == "worse"} & good
        counts[3] += _all_hold(case, values, Looks((), MOST), {})
        made += sum(found.ended.get(name, MOST) for name in values)
        for name, n in found.given_up.items():
            losers[0] += mean_interval(values[name][:n]).holds(case.means[int(name)])
            losers[1] += 1
    right, held, right_with_all, held_with_all = (count / experiments for count in counts)
    whole = experiments * MOST * len(case.means)
    of_losers = losers[0] / losers[1] if losers[1] else math.nan
    return Found(right, held, right_with_all, held_with_all, made / whole, of_losers)


def _all_hold(
    case: Case, values: Mapping[str, Sequence[float]], looks: Looks, ended: Mapping[str, int]
) -> bool:
    """Does the interval of every pair hold the difference of the means?"""
    pairs = list(combinations(values, 2))
    for a, b in pairs:
        n = min(ended.get(a, MOST), ended.get(b, MOST))
        missed = (1.0 - CONFIDENCE) / len(pairs) * looks.part(n)
        found = paired_interval(values[a][:n], values[b][:n], 1.0 - missed)
        if not found.holds(case.means[int(a)] - case.means[int(b)]):
            return False
    return True


def table(experiments: int = EXPERIMENTS, jobs: int = 1) -> Table:
    """A line for each case."""
    heads = (
        *("values", "truth", "choice right", "all intervals hold", "without: choice", "without: intervals"),
        *("replications", "means of losers"),
    )
    made = Table("", heads, text_columns=2)
    listed = cases()
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(_numbered, [(place, experiments) for place in range(len(listed))])
        for case, each in zip(listed, found, strict=True):
            shares = (each.right, each.held, each.right_with_all, each.held_with_all)
            shown = [f"{100 * share:.1f} %" for share in shares]
            of_losers = "–" if math.isnan(each.of_losers) else f"{100 * each.of_losers:.0f} %"
            made.add(case.name, case.truth, *shown, f"{100 * each.replications:.0f} %", of_losers)
    return made


def _numbered(task: tuple[int, int]) -> Found:
    place, experiments = task
    return tried(cases()[place], experiments)


@click.command()
@click.option("--experiments", type=click.IntRange(1), default=EXPERIMENTS, help="Experiments a line.")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Processes at a time.")
def main(experiments: int, jobs: int) -> None:
    """Print the table of docs/statistics.md."""
    print(table(experiments, jobs).to_markdown(), end="")


if __name__ == "__main__":
    main()
