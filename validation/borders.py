"""How often the search for the largest load is right: experiments with loads whose border is known.

``python -m validation.borders`` makes the table of docs/statistics.md, from 500 experiments a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import click
import numpy as np

from manetlab.stats.borders import BorderSearch, Limit
from manetlab.tables import Table

EXPERIMENTS = 500
"""Experiments of a line: a coverage of 95 % then has a standard error of one per cent."""
LEVELS = range(1, 31)
MOST = 64
SEED = 26
SHARE = Limit(0.9, at_least=True, least=0.0, most=1.0)
DELAY = Limit(0.15, at_least=False, least=0.0)

Value = Callable[[float, np.random.Generator], float]


@dataclass(frozen=True)
class Load:
    """What a measure does as the load grows.

    Attributes:
        name: What it is called.
        limit: The limit of its mean.
        mean: Its mean at a level.
        value: A replication, given the mean.
    """

    name: str
    limit: Limit
    mean: Callable[[float], float]
    value: Value

    @property
    def border(self) -> int:
        """The greatest level whose mean keeps to the limit; 0 if none does."""
        return max((level for level in LEVELS if self.limit.is_kept_by(self.mean(level))), default=0)


def _falls(middle: float, width: float) -> Callable[[float], float]:
    return lambda level: 1.0 / (1.0 + math.exp((level - middle) / width))


def _beta(size: float) -> Value:
    return lambda mean, random: float(random.beta(mean * size, (1.0 - mean) * size))


def _of_calls(count: int) -> Value:
    return lambda mean, random: float(random.binomial(count, mean)) / count


def _gamma(shape: float) -> Value:
    return lambda mean, random: float(random.gamma(shape, mean / shape))


LOADS = (
    Load("delivery falls slowly, little noise", SHARE, _falls(20, 4), _beta(50)),
    Load("delivery falls slowly, much noise", SHARE, _falls(20, 4), _beta(5)),
    Load("delivery falls at once", SHARE, _falls(15, 0.7), _beta(5)),
    Load("already the first level fails", SHARE, _falls(5, 4), _beta(5)),
    Load("all levels hold", SHARE, lambda _: 0.97, _beta(10)),
    Load(
        "eight levels lie on the limit",
        SHARE,
        lambda level: 0.97 if level < 8 else 0.9 if level < 16 else 0.6,
        _beta(10),
    ),
    Load("share of ten calls", SHARE, _falls(20, 4), _of_calls(10)),
    Load("all calls or none", SHARE, _falls(20, 4), _of_calls(1)),
    Load("delay grows by a tenth a level", DELAY, lambda level: 0.02 * 1.1**level, _gamma(4.0)),
    Load("the same, with a heavy tail", DELAY, lambda level: 0.02 * 1.1**level, _gamma(0.5)),
)
"""Loads as networks have them: slow and sudden, with little and much noise, and at the ends."""


@dataclass(frozen=True)
class Found:
    """What came out of many searches.

    Attributes:
        covered: The share of intervals that hold the border.
        width: Mean width of the intervals, in levels.
        error: Mean distance of the number within from the border, in levels.
        runs: Mean replications, as a share of the replications of all levels.
    """

    covered: float
    width: float
    error: float
    runs: float


def searched(load: Load, experiments: int = EXPERIMENTS) -> Found:
    """Searches the border of a load many times."""
    true, covered, width, error, runs = load.border, 0, 0.0, 0.0, 0.0
    for number in range(experiments):
        random = np.random.default_rng((SEED, number))
        search = BorderSearch(LEVELS, load.limit, MOST)
        while (wanted := search.wanted()) is not None:
            level, n = wanted
            values = search.values.setdefault(level, [])
            values += [load.value(load.mean(level), random) for _ in range(n - len(values))]
        found = search.border()
        low, high = found.low or 0, found.high or 0
        covered += low <= true <= high
        width += high - low
        error += abs((found.estimate or 0) - true)
        runs += found.replications
    whole = experiments * len(LEVELS) * MOST
    return Found(covered / experiments, width / experiments, error / experiments, runs / whole)


def table(experiments: int = EXPERIMENTS) -> Table:
    """A line for each kind of load."""
    heads = ("load", "border", "covers", "width", "error", "replications")
    made = Table("", heads, text_columns=1)
    for load in LOADS:
        found = searched(load, experiments)
        shares = (f"{100 * found.covered:.1f} %", f"{found.width:.1f}", f"{found.error:.1f}")
        made.add(load.name, str(load.border), *shares, f"{100 * found.runs:.0f} %")
    return made


@click.command()
@click.option("--experiments", type=click.IntRange(1), default=EXPERIMENTS, help="Experiments a line.")
def main(experiments: int) -> None:
    """Print the table of docs/statistics.md."""
    print(table(experiments).to_markdown(), end="")


if __name__ == "__main__":
    main()
