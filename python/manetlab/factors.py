"""How factors and their levels are named and written in reports and plots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from manetlab import parameters, scenario_fields

NAMES = {
    "routing": "routing protocol",
    "tcp": "TCP sender",
    "tcp.sender": "TCP sender",
    "profile": "profile",
    "movement": "movement",
    "traffic": "traffic",
    "traffic.random.tcp": "TCP flows",
    "traffic.random.cbr": "CBR flows",
    "duration_s": "duration",
    "warmup_s": "warm-up",
}
ENDINGS = {"s": "_s", "m": "_m", "bit/s": "_bps", "byte": "_bytes", "m/s": "_mps", "µs": "_us", "ms": "_ms"}
"""How names end by the unit of what they name; a label whose unit stands behind it is without."""


@dataclass(frozen=True)
class Factor:
    """What was varied in a campaign.

    Attributes:
        key: The scenario field, dotted where it is nested.
        label: Its name in words.
        unit: The unit of its levels; empty if they have none.
        levels: The labels of its levels, in the campaign's order.
        numbers: The levels as numbers, if all of them are.
    """

    key: str
    label: str
    unit: str
    levels: tuple[str, ...]
    numbers: tuple[float, ...] | None

    @classmethod
    def of(cls, key: str, levels: Iterable[object]) -> Factor:
        """The factor with these levels, each given by its label."""
        values = list(levels)
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        numbers = tuple(float(value) for value in values) if numeric else None  # type: ignore[arg-type]
        return cls(key, *_name(key), tuple(level(value) for value in values), numbers)

    @property
    def heading(self) -> str:
        """Name and unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def setting(self, level: str) -> str:
        """One level in words: ``speed_max = 5 m/s``."""
        return f"{self.label} = {level} {self.unit}".rstrip()


def _name(key: str) -> tuple[str, str]:
    """A factor's label and unit, as the scenario's field declares them; other factors have only a name."""
    unit = scenario_fields.units().get(scenario_fields.general(key), "")
    if key in NAMES:
        return NAMES[key], unit
    section, _, name = key.rpartition(".")
    parent, _, table = section.partition(".")
    of_draw = parameters.movement_schema().get(table, {}) if parent == "movement" else {}
    if section == "traffic.web":
        of_draw = parameters.web_schema()
    if name in of_draw:
        return _spoken(of_draw[name].meaning), unit
    if (known := parameters.schema().get(section, {}).get(name)) is not None:
        return known.key, unit
    return (name or key).removesuffix(ENDINGS.get(unit, "")), unit


def _spoken(meaning: str) -> str:
    """The first sentence of a parameter's meaning, as a name: ``Maximum speed.`` as ``maximum speed``."""
    return (meaning[:1].lower() + meaning[1:]).partition(".")[0]


def level(value: object) -> str:
    """A level's label as text; whole numbers without a point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)
