"""Sequential elimination: alternatives that are shown to be worse than another get no more replications.

All pairs of alternatives are compared in common random numbers, as `compare_with_best` does it, at a few
looks whose errors add up to the family's (`Looks`). So all intervals of all pairs at all looks hold together
with the stated confidence, and whatever is given up at a look, and why, changes nothing of that: what is said
of a pair is what its last look said. docs/decisions.md says why it is not the procedure of Kim and Nelson
(2001).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from manetlab.stats.families import WithBest, compare_with_best
from manetlab.stats.looks import Looks

Name = TypeVar("Name", str, int)


@dataclass(frozen=True)
class Eliminated(Generic[Name]):
    """Which alternatives got no more replications.

    Attributes:
        given_up: Those that were given up, with the replications that they had.
        alone: What was left when all others were given up, with the replications that it had; empty if more
            than one are left.
    """

    given_up: Mapping[Name, int]
    alone: Mapping[Name, int]

    @property
    def ended(self) -> dict[Name, int]:
        """The alternatives that got no more replications, with those that they had."""
        return {**self.given_up, **self.alone}


def eliminated(
    names: Iterable[Name],
    looks: Iterable[int],
    settled: Callable[[int, Mapping[Name, int]], Collection[Name] | None],
    stop_alone: bool = True,
) -> Eliminated[Name]:
    """What is given up, look by look.

    Args:
        names: The alternatives.
        looks: After how many replications they are looked at.
        settled: The alternatives of which nothing is open any more, from the replications so far and what was
            given up before.
        stop_alone: Whether an alternative that is left alone gets no more replications either.
    """
    every = list(names)
    given_up: dict[Name, int] = {}
    for n in looks:
        if (out := settled(n, dict(given_up))) is None:
            break
        given_up |= {name: n for name in every if name in out and name not in given_up}
        left = [name for name in every if name not in given_up]
        if stop_alone and len(left) == 1 and len(every) > 1:
            return Eliminated(given_up, {left[0]: n})
    return Eliminated(given_up, {})


def eliminate(
    measures: Mapping[str, Mapping[str, Sequence[float]]],
    looks: Looks,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    margin: float | None = None,
    share: float | None = None,
    families: int | None = None,
) -> tuple[Eliminated[str], dict[str, list[WithBest]]]:
    """Sequential elimination where all values are there: what it would have left out, and its answer.

    Args:
        measures: For each measure the values of each alternative, the same scenarios in the same order.
        looks: The looks; the last has as many replications as there are values.
        higher_is_better: Which way is better.
        confidence: The confidence that all statements of all measures hold, at all looks.
        margin: An alternative that is worse than the best by less than this is practically as good.
        share: In place of a margin, one that is worse by less than this share of the best's mean.
        families: How many questions are answered together; the measures if not given.

    Returns:
        What was given up, and for each measure the comparisons with the best from the values that are left.

    Raises:
        InputError: The alternatives cannot be compared.
    """

    def found(n: int, ended: Mapping[str, int], now: Looks) -> dict[str, list[WithBest]]:
        return {
            measure: compare_with_best(
                {name: _cut(of, ended.get(name, n), n) for name, of in values.items()},
                higher_is_better=higher_is_better,
                families=families or len(measures),
                confidence=confidence,
                margin=margin,
                share=share,
                looks=now,
                ended=ended,
            )
            for measure, values in measures.items()
        }

    def settled(n: int, ended: Mapping[str, int]) -> set[str]:
        known = [{each.name for each in of if each.is_settled} for of in found(n, ended, looks).values()]
        return set.intersection(*known)

    names = next(iter(measures.values()))
    made = eliminated(names, looks.before, settled)
    return made, found(looks.last, made.ended, looks)


def _cut(values: Sequence[float], n: int, length: int) -> list[float | None]:
    """The first values, and None for the others up to a length."""
    return [value if place < n else None for place, value in enumerate(values[:length])]
