"""What a value may be, and the one check of numbers, switches, choices and texts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ValueType:
    """A kind of value and its bounds.

    Attributes:
        kind: ``number``, ``integer``, ``boolean``, ``choice`` or ``text``.
        choices: The values of a ``choice``.
        range: Smallest and largest allowed value of a number or an integer.
        above: Is the smallest itself excluded?
        unit: The unit; empty for counts, switches, choices and texts.
    """

    kind: str
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    above: bool = False
    unit: str = ""

    @property
    def wanted(self) -> str:
        """What values are allowed, in words."""
        if self.kind == "choice":
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        named = {"boolean": "true or false", "integer": "a whole number", "text": "text"}
        kind = named.get(self.kind, "a number" if self.range else "a finite number")
        if self.range is None:
            return kind
        low, high = (str(end) if isinstance(end, int) else f"{end:.10g}" for end in self.range)
        bounds = f"above {low}, up to {high}" if self.above else f"from {low} to {high}"
        return f"{kind} {bounds} {self.unit}".rstrip()

    def taken(self, value: object) -> bool | int | float | str | None:
        """The value in its type, whole numbers for numbers among them; None if it is not allowed."""
        typed = self._typed(value)
        if typed is None or isinstance(typed, str) or self._is_within(typed):
            return typed
        return None

    def _is_within(self, value: float) -> bool:
        if self.range is None:
            return isinstance(value, int) or math.isfinite(value)
        low, high = self.range
        return low <= value <= high and not (self.above and value == low)

    def _typed(self, value: object) -> bool | int | float | str | None:
        match self.kind, value:
            case ("boolean", bool()):
                return value
            case ("choice", str()) if value in self.choices:
                return value
            case ("text", str()) if _is_text(value):
                return value
            case (("number" | "integer"), bool()):
                return None
            case ("number", int() | float()):
                try:
                    return float(value)
                except OverflowError:
                    return None
            case ("integer", int()):
                return value
        return None


def _is_text(value: str) -> bool:
    """Names of files that are not UTF-8 look like text to Python and cannot be kept with a result."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
