"""Looks at a family of comparisons while replications are made, and the part of its error that each has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from manetlab.errors import InputError, shown

LEAST = 10
"""Replications before the first look: from fewer, intervals at the levels of large families say nothing."""
BEFORE = 0.5
"""The part of the error that all looks before the last have together, however many they are."""


@dataclass(frozen=True)
class Looks:
    """After how many replications alternatives are looked at, and how the error is shared out.

    The looks before the last have the parts 1/4, 1/12, 1/24, … of the error: look *l* has
    ½ · 1/(*l* (*l* + 1)), which add up to one half at most. The last has what is left. As the part of a look
    does not depend on how many follow, replications that are added later change nothing that was decided
    before (the spending of error in Lan and DeMets 1983, with Bonferroni's inequality in place of the joint
    distribution).

    Attributes:
        before: The looks before the last, in ascending order.
        last: The replications at the end.
    """

    before: tuple[int, ...]
    last: int

    def __post_init__(self) -> None:
        known = (0, *self.before, self.last)
        if any(low >= high for low, high in pairwise(known)):
            wanted = "numbers of replications in ascending order, the last one the greatest"
            raise InputError("the looks are not in order", "Looks", shown(list(known[1:])), wanted)

    @classmethod
    def among(cls, rounds: Iterable[int]) -> Looks:
        """The looks in rounds of replications: the first with 10, then whenever they have doubled.

        Args:
            rounds: The replications after each round, in ascending order; the last is the last look.
        """
        listed = list(rounds)
        before: list[int] = []
        for n in listed[:-1]:
            if n >= (2 * before[-1] if before else LEAST):
                before.append(n)
        return cls(tuple(before), listed[-1])

    def part(self, replications: int) -> float:
        """The part of the error that a comparison has which ended after that many replications.

        Raises:
            InputError: There is no look after that many.
        """
        if replications == self.last:
            # The looks before have had 1/2 · (1 − 1/(k + 1)) together, the sum of their parts.
            return 1.0 - BEFORE * len(self.before) / (len(self.before) + 1)
        if replications not in self.before:
            wanted = f"one of {', '.join(map(str, (*self.before, self.last)))}"
            raise InputError("there is no look", "Looks.part", shown(replications), wanted)
        number = self.before.index(replications) + 1
        return BEFORE / (number * (number + 1))


def doubling(most: int) -> list[int]:
    """Rounds of replications that double: 10, 20, 40, … and the greatest number."""
    rounds, n = [], LEAST
    while n < most:
        rounds.append(n)
        n *= 2
    return [*rounds, most]
