"""What runs say about a claim, before it is held against the claim's band."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from manetlab.stats import Interval, paired_ratio

Values = Sequence[float]
"""One value a scenario; of two sequences, equal places are the same scenario."""


@dataclass(frozen=True)
class Also:
    """A further condition that a tolerance names beside its band.

    Attributes:
        text: The condition and what was found.
        holds: Whether it holds; None if the runs do not tell.
    """

    text: str
    holds: bool | None


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """What all evidence can carry.

    Attributes:
        also: The further conditions of the claim's tolerance.
        part: Which part of the claim this is, if it is not all of it.
        remark: What a reader should know beside the figures.
    """

    also: Sequence[Also] = ()
    part: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Level(_Evidence):
    """Means of a quantity, each with its interval, in the unit of the claim.

    Attributes:
        of: By the claim's labels (`Claim.at`) or, if it has none, by what they are of.
    """

    of: Mapping[str, Interval]


@dataclass(frozen=True)
class Change(_Evidence):
    """The paired change from one system to another, in the unit of the claim.

    Attributes:
        of: By the condition, where the claim speaks of several; all have the same band.
    """

    of: Mapping[str, Interval]


@dataclass(frozen=True)
class Single(_Evidence):
    """One scenario that was chosen by the paper's rule, and the ensemble that it was chosen from.

    Attributes:
        chosen: The chosen scenario's value, by the claim's labels.
        ensemble: Every scenario's value, by the same labels.
        overall: Of a claim on a change, the paired change over the ensemble.
        complete: Of a claim on an extreme scenario, whether it was chosen from as many as the paper's; None
            of an average one.
    """

    chosen: Mapping[str, float]
    ensemble: Mapping[str, Values]
    overall: Interval | None = None
    complete: bool | None = None


@dataclass(frozen=True)
class Order(_Evidence):
    """Systems from the one that the paper has first to the one that it has last.

    Attributes:
        of: Every scenario's value of each system; the first is said to be greatest.
    """

    of: Mapping[str, Values]


@dataclass(frozen=True)
class Pairs(_Evidence):
    """Pairs of systems of which the first is said to be greater.

    Attributes:
        of: Every scenario's value of the first and of the second, by the pair's name.
        may_tie: The paper says that the second may be equal.
    """

    of: Mapping[str, tuple[Values, Values]]
    may_tie: bool = False


@dataclass(frozen=True)
class Trend(_Evidence):
    """A quantity along an axis.

    Attributes:
        along: Every scenario's value at each place of the axis, in its order.
        sign: +1 if it is said to rise, -1 if to fall.
    """

    along: Sequence[Values]
    sign: int


@dataclass(frozen=True)
class Trends(_Evidence):
    """Several quantities along an axis.

    Attributes:
        of: Each by its name.
    """

    of: Mapping[str, Trend]


@dataclass(frozen=True)
class Ruled(_Evidence):
    """A rule that the ledger gives in prose, carried out by the experiment.

    Attributes:
        found: What was found.
        satisfied: Whether the rule holds; None if the runs do not tell.
        broken: Whether the runs exclude that it holds. If not given, they do where it does not hold.
    """

    found: str
    satisfied: bool | None
    broken: bool | None = None


Evidence = Level | Change | Single | Order | Pairs | Trend | Trends | Ruled


@dataclass(frozen=True)
class Untested:
    """Nothing was run for this claim.

    Attributes:
        why: What it would take.
    """

    why: str
    also: Sequence[Also] = field(default=(), init=False)


def percent(a: Values, b: Values) -> Interval:
    """The change of the mean from b to a in percent of b, for paired values, with its 95 % interval."""
    quotient = paired_ratio(a, b)
    return Interval(100 * (quotient.mean - 1), 100 * quotient.half_width, quotient.n)


def points(a: Values, b: Values, base: Values) -> Interval:
    """The difference a − b in percent of the mean of ``base``, for paired values, with its 95 % interval."""
    quotient = paired_ratio([first - second for first, second in zip(a, b, strict=True)], base)
    return quotient.scaled(100)


def shown(interval: Interval, unit: str = "") -> str:
    """An interval as tables show it."""
    half = "∞" if math.isinf(interval.half_width) else f"{interval.half_width:.3g}"
    return f"{interval.mean:.4g} ± {half}{unit}"
