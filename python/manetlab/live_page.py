"""The table ``[live]`` of a scenario: which fields its live page lets people change.

It says nothing about what is run, and is no part of what is hashed or stored.
"""

from __future__ import annotations

from typing import Any

from manetlab.input_tables import Field, InputTable, Place, list_of, refuse, text

KEY = "live"
"""What a scenario calls the table."""
MOST_VALUES = 100
"""Most values of one control."""


class Control(InputTable):
    """A control: a field of the scenario, or levels that each set several fields."""

    field: str | None = text("Dotted name of a field of the scenario, for example tcp.window.", None)
    label: str | None = text("What the page calls it; by default the field's name.", None)
    values: list[Any] | None = Field(
        "The values that are offered; or levels, each { label = …, fields = { … } }, as in campaigns.",
        lambda written, place, hint: _taken_values(written, place, hint),
        None,
    )  # type: ignore[assignment]

    def _check(self, place: Place) -> None:
        if self.field is None and (self.label is None or self.values is None):
            wanted = "a field; or a label, and levels as values"
            refuse(place, self.to_dict(), wanted, "for example { field = 'tcp.window', values = [1, 4, 8] }")


def _taken_values(written: object, place: Place, hint: str) -> list[Any]:
    if not isinstance(written, list) or not 0 < len(written) <= MOST_VALUES:
        refuse(place, written, f"a list of 1 to {MOST_VALUES} values", hint)
    return list(written)


def _taken_control(written: object, place: Place, hint: str) -> Control:
    return Control.checked({"field": written} if isinstance(written, str) else written, place, hint)


class LivePage(InputTable):
    """What a scenario says of its live page."""

    controls: list[Control] | None = list_of(
        "The fields that the page lets people change: dotted names, or tables of field, label and values.",
        Field("A dotted name, or a table of field, label and values.", _taken_control),
        default=None,
    )
