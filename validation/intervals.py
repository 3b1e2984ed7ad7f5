"""How often the intervals of means cover the mean: experiments with values whose mean is known.

``python -m validation.intervals`` makes the table of docs/statistics.md, from 2,000 experiments a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import click
import numpy as np
from numpy.typing import NDArray

from manetlab.stats import bounded_interval, mean_interval
from manetlab.tables import Table

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
EXPERIMENTS = 2_000
"""Experiments of a cell: its coverage then has a standard error of half a per cent."""
SIZES = (5, 10, 30)
"""Replications of an experiment."""
SEED = 20


@dataclass(frozen=True)
class Kind:
    """Values of a distribution.

    Attributes:
        name: What it is called.
        mean: Its mean.
        most: Its upper bound; infinite if it has none. The lower one is 0.
        draw: Draws values of a shape.
    """

    name: str
    mean: float
    most: float
    draw: Draw


def _mixed(share: float, bound: float, draw: Draw) -> Draw:
    """Values that are a bound with some probability."""
    return lambda random, shape: np.where(random.random(shape) < share, bound, draw(random, shape))


def _beta(a: float, b: float) -> Draw:
    return lambda random, shape: random.beta(a, b, shape)


def _gamma(shape: float) -> Draw:
    return lambda random, size: random.gamma(shape, 1.0, size)


KINDS = (
    Kind("fractions, beta(5, 5)", 0.5, 1.0, _beta(5, 5)),
    Kind("fractions, beta(8, 2)", 0.8, 1.0, _beta(8, 2)),
    Kind("fractions, beta(19, 1)", 0.95, 1.0, _beta(19, 1)),
    Kind("fractions, beta(99, 1)", 0.99, 1.0, _beta(99, 1)),
    Kind("fractions, beta(½, ½)", 0.5, 1.0, _beta(0.5, 0.5)),
    Kind("fractions, 30 % are 1", 0.3 + 0.7 * 0.8, 1.0, _mixed(0.3, 1.0, _beta(8, 2))),
    Kind("fractions, 70 % are 1", 0.7 + 0.3 * 0.8, 1.0, _mixed(0.7, 1.0, _beta(8, 2))),
    Kind("fractions, 90 % are 1", 0.9 + 0.1 * 0.8, 1.0, _mixed(0.9, 1.0, _beta(8, 2))),
    Kind("fractions, 50 % are 0", 0.5 * 0.2, 1.0, _mixed(0.5, 0.0, _beta(2, 8))),
    Kind("rates, gamma(16)", 16.0, math.inf, _gamma(16.0)),
    Kind("rates, gamma(4)", 4.0, math.inf, _gamma(4.0)),
    Kind("rates, gamma(4), 30 % are 0", 0.7 * 4.0, math.inf, _mixed(0.3, 0.0, _gamma(4.0))),
    Kind("rates, gamma(4), 70 % are 0", 0.3 * 4.0, math.inf, _mixed(0.7, 0.0, _gamma(4.0))),
    Kind("times, exponential", 1.0, math.inf, _gamma(1.0)),
    Kind("times, log-normal, σ = ½", math.exp(0.125), math.inf, lambda r, size: r.lognormal(0, 0.5, size)),
    Kind("counts, Poisson(1)", 1.0, math.inf, lambda r, size: r.poisson(1.0, size).astype(float)),
)
"""What replications look like: fractions near and far from their bounds, rates, times and counts."""
BEYOND = (
    Kind(
        "fractions, each 0 or 1, 50 % are 1", 0.5, 1.0, lambda r, size: (r.random(size) < 0.5).astype(float)
    ),
    Kind(
        "fractions, each 0 or 1, 95 % are 1", 0.95, 1.0, lambda r, size: (r.random(size) < 0.95).astype(float)
    ),
    Kind("times, log-normal, σ = 1", math.exp(0.5), math.inf, lambda r, size: r.lognormal(0, 1, size)),
)
"""Where no interval of so few values can have its coverage: few possible samples, or a heavy tail."""
ALWAYS = (
    Kind("fractions, all are 1", 1.0, 1.0, lambda _, size: np.ones(size)),
    Kind("rates, all are 0", 0.0, math.inf, lambda _, size: np.zeros(size)),
)
"""Values that are certain: every interval must hold them."""


def coverage(kind: Kind, n: int, experiments: int, seed: int = SEED) -> tuple[float, float]:
    """The shares of experiments of ``n`` values whose intervals cover the mean: ours, and Student's."""
    rows = kind.draw(np.random.default_rng(seed), (experiments, n)).tolist()
    ours = sum(bounded_interval(row, 0.0, kind.most).holds(kind.mean) for row in rows)
    students = sum(mean_interval(row).holds(kind.mean) for row in rows)
    return ours / experiments, students / experiments


def table(experiments: int = EXPERIMENTS) -> Table:
    """The coverage of all kinds of values."""
    columns = ("values", *(f"n = {n}" for n in SIZES), *(f"Student, n = {n}" for n in SIZES))
    shown = Table(f"Coverage of 95 % intervals, {experiments} experiments a cell", columns)
    for kind in (*KINDS, *ALWAYS, *BEYOND):
        cells = [coverage(kind, n, experiments) for n in SIZES]
        shown.add(
            kind.name, *(f"{100 * ours:.1f} %" for ours, _ in cells), *(f"{100 * s:.1f} %" for _, s in cells)
        )
    return shown


@click.command()
@click.option("--experiments", type=click.IntRange(1), default=EXPERIMENTS, help="Experiments of a cell.")
def main(experiments: int) -> None:
    """Print the table in Markdown."""
    print(table(experiments).to_markdown(), end="")


if __name__ == "__main__":
    main()
