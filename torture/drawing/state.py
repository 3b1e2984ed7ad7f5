"""What is known of a scenario while it is drawn, and how the value of a parameter is drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from manetlab.chain_throughput import Key
from manetlab.parameters import Parameter, Params

Fields = dict[str, Any]
NO_TCP = "none"
"""What stands for the sender of a scenario that has no flow over TCP."""
LARGE_NODES, LARGE_S = 20, 30.0
"""Every other scenario has at least so many nodes and lasts at least so long, in s."""
NEAR, EXTREME = "near", "extreme"
"""How parameters are changed: a few of them to other values near the default, or one to four to the ends of
their range or anywhere between."""
FROM_TABLE = ("oracle", "density")
"""Modes of throttling that need to know what a flow carries alone."""


class State:
    """A scenario that is being drawn.

    Attributes:
        number: Its number, from which it is drawn.
        rng: All draws but those that have their own.
        large: Has it as many nodes, and does it last as long, as a large one?
        sender: The sender of its flows over TCP, or `NO_TCP`.
        throttled: Who says how fast sources may send.
        row: What says what a flow carries alone, where something must know it.
        extremes: The parameters that are at an end of their range, as section.name=value.
        values: Every parameter's value, as soon as they are drawn.
        range_m: How far the radio reaches.
        nodes: How many nodes there are, as soon as they move.
    """

    number: int
    rng: random.Random
    large: bool
    routing: str
    sender: str
    profile: str
    throttled: str
    row: Key | None
    duration_s: float
    extremes: list[str]
    values: Params
    range_m: float
    nodes: int

    def value(self, parameter: Parameter, default: Any, how: str) -> Any:
        """Another value of a parameter."""
        rng = self.rng
        if parameter.choices:
            return rng.choice(list(parameter.choices))
        if parameter.range is None:
            return not default if isinstance(default, bool) else default
        low, high = parameter.range
        place = rng.random() if how == EXTREME else 1.0
        if place < 0.7:
            value = low if place < 0.35 else high
            self.extremes.append(f"{parameter.key}={'low' if value == low else 'high'}")
        elif how == EXTREME:
            value = between(rng, low, high)
        else:
            value = min(max(default * 2 ** rng.uniform(-2, 2), low), high)
        return round(value) if parameter.kind == "integer" else value

    def changed(
        self, schema: Mapping[str, Parameter], defaults: Mapping[str, Any], given: Mapping[str, Any]
    ) -> Fields:
        """Other values for some of the parameters that are not of the kind that makes a run large."""
        sizes = {"nodes", "width_m", "height_m", "clients", "servers", "cycles", "after_warmup_s"}
        names = [name for name in schema if name not in sizes]
        count = self.rng.choice([0, 0, 0, 1, 1, 2])
        how = self.rng.choice([NEAR, EXTREME])
        return {
            name: self.value(schema[name], given.get(name, defaults[name]), how)
            for name in self.rng.sample(names, count)
        }


def between(rng: random.Random, low: float, high: float) -> float:
    """Anywhere in a range, small values as likely as large ones."""
    least = low if low > 0 else min(1e-6, high) if high < 1 else 1e-3
    return within(math.exp(rng.uniform(math.log(least), math.log(high))), low, high)


def within(value: float, low: float, high: float) -> float:
    """The number of the range that is nearest."""
    return min(max(value, low), high)
