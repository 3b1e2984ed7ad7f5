"""What every function of this package asks of its arguments."""

from __future__ import annotations

import math
from collections.abc import Iterable

from manetlab.errors import InputError, shown


def numbers(values: Iterable[float], where: str, least: int = 1) -> list[float]:
    """The values as a list of finite floats.

    Args:
        values: Numbers of any kind, numpy's and pandas's among them.
        where: The function, for the error.
        least: How many there must be.

    Raises:
        InputError: There are fewer, or one is not a finite number.
    """
    listed = list(values)
    if len(listed) < least:
        found = "no values" if not listed else f"{len(listed)} values"
        wanted = f"{least} or more"
        hint = "were all replications left out?"
        raise InputError("there are not enough values", where, found, wanted, hint)
    if {*map(type, listed)} <= {float} and all(map(math.isfinite, listed)):
        return listed
    return [_number(value, f"{where}: value {index}") for index, value in enumerate(listed)]


def _number(value: object, where: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        hint = "leave out the replications that have no value, and state how many there are"
        raise InputError("not a valid value", where, shown(value), "a finite number", hint)
    return number


def pairs(a: Iterable[float], b: Iterable[float], where: str) -> tuple[list[float], list[float]]:
    """Both lists, of the same length and not empty.

    Raises:
        InputError: One is longer than the other, or either is not a list of finite numbers.
    """
    left, right = numbers(a, where), numbers(b, where)
    if len(left) != len(right):
        found = f"{len(left)} and {len(right)} values"
        hint = "pair the values by replication first, and leave out those without a partner"
        raise InputError("the values cannot be paired", where, found, "the same number of both", hint)
    return left, right


def share(value: float, where: str) -> float:
    """A number between 0 and 1, neither included.

    Raises:
        InputError: It is something else.
    """
    number = _number(value, where)
    if not 0.0 < number < 1.0:
        hint = "95 % is written 0.95"
        raise InputError(
            "the share is not allowed",
            where,
            shown(value),
            "a number above 0 and below 1",
            hint,
        )
    return number


MOST_CONFIDENCE = 1.0 - 1e-14
"""Beyond it the ends of an interval cannot be told from infinite ones."""


def confidence(value: float, where: str) -> float:
    """The confidence of an interval.

    Raises:
        InputError: It is not between 0 and 1, or too close to 1.
    """
    number = share(value, where)
    if number > MOST_CONFIDENCE:
        wanted, hint = "a number above 0 and at most 1 − 10⁻¹⁴", "95 % is written 0.95"
        raise InputError("the confidence is not allowed", where, shown(value), wanted, hint)
    return number


def above_zero(value: float, where: str) -> float:
    """A number above zero.

    Raises:
        InputError: It is something else.
    """
    number = _number(value, where)
    if number <= 0.0:
        hint = "5 % is written 0.05"
        raise InputError("the value is not allowed", where, shown(value), "a number above 0", hint)
    return number


def within(value: float, low: float, high: float, where: str) -> None:
    """Checks that a number is from ``low`` to ``high``.

    Raises:
        InputError: It is not.
    """
    if not low <= value <= high:
        wanted = f"{low:g} or more" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise InputError("the value is not allowed", where, shown(value), wanted)
