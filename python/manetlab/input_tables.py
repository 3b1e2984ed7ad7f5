"""Tables that a user writes: their fields as data, and the one check of them.

An [`InputTable`][manetlab.input_tables.InputTable] lists its fields once, each with what it may be, its unit,
its default and its meaning; the check, the words of its errors and the documentation come from that list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

from manetlab.errors import InputError, shown
from manetlab.parameters import unknown
from manetlab.value_types import ValueType

REQUIRED: Any = object()
"""The default of a field that must be given."""


@dataclass(frozen=True)
class Place:
    """Where a value is: the file or the command, and the keys and indices that lead to it."""

    where: str
    path: str = ""

    def at(self, part: str | int) -> Place:
        """The place of an entry of this table, or of an item of this list."""
        if isinstance(part, int):
            return Place(self.where, f"{self.path}[{part}]")
        return Place(self.where, f"{self.path}.{part}" if self.path else part)

    def __str__(self) -> str:
        """The place as errors name it."""
        return f"{self.where}: {self.path}" if self.path else self.where


@dataclass(frozen=True)
class Field:
    """One field of a table.

    Attributes:
        meaning: What it means; the hint of errors about it.
        take: Makes the value of what was written, at a place; the third argument is the hint of its errors.
        default: The value if it is not given; `REQUIRED` if it must be.
        unit: The unit; empty for what has none.
    """

    meaning: str
    take: Callable[[object, Place, str], Any]
    default: Any = REQUIRED
    unit: str = ""

    def checked(self, written: object, place: Place) -> Any:
        """The value of what was written.

        Raises:
            InputError: It is not allowed.
        """
        # Whoever builds a scenario in Python may write None for what is not given.
        if written is None and self.default is None:
            return None
        return self.take(written, place, self.meaning)


def refuse(place: Place, found: object, wanted: str, hint: str) -> NoReturn:
    """Raises the error for a value that is not allowed."""
    raise InputError("the value is not allowed", str(place), shown(found), wanted, hint)


def checked_table(written: object, fields: Mapping[str, Field], place: Place, hint: str) -> dict[str, Any]:
    """The values of the fields that a table gives.

    Args:
        written: The table.
        fields: The fields that it may have, by name.
        place: Where it is.
        hint: The hint if it is no table.

    Raises:
        InputError: It is no table, a key is unknown, a value is not allowed, or a needed one is missing.
    """
    if not isinstance(written, Mapping):
        refuse(place, written, "a table with " + ", ".join(fields), hint)
    # First, because a misspelt key explains what is missing.
    for key in written:
        if key not in fields:
            raise unknown("key", str(key), fields, str(place.at(str(key))))
    values = {
        name: field.checked(written[name], place.at(name))
        for name, field in fields.items()
        if name in written
    }
    for name, field in fields.items():
        if field.default is REQUIRED and name not in values:
            missing = place.at(name)
            wanted = f"a value for {missing.path}"
            raise InputError("missing key", str(missing), "nothing", wanted, field.meaning)
    return values


class InputTable:
    """A table with fixed fields, each a class attribute that is a `Field`; it does not change once made."""

    fields: ClassVar[Mapping[str, Field]] = {}
    _given: frozenset[str]

    def __init_subclass__(cls) -> None:
        cls.fields = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}
        described = (f"    {name}: {field.meaning}" for name, field in cls.fields.items())
        cls.__doc__ = "\n".join([(cls.__doc__ or "").rstrip(), "", "Attributes:", *described])

    def __init__(self, **written: Any) -> None:
        """Checks the fields and keeps them; see `checked`."""
        self._keep(written, Place(type(self).__name__), "")

    @classmethod
    def checked(cls, written: object, place: Place, hint: str = "") -> Self:
        """The record that a table describes.

        Raises:
            InputError: As `checked_table`, or the values contradict each other.
        """
        if isinstance(written, cls):
            return written
        made = object.__new__(cls)
        made._keep(written, place, hint)
        return made

    def _keep(self, written: object, place: Place, hint: str) -> None:
        values = checked_table(written, self.fields, place, hint)
        for name, field in self.fields.items():
            # A default that is a table is nobody's to share.
            default = dict(field.default) if isinstance(field.default, dict) else field.default
            self.__dict__[name] = values.get(name, default)
        self.__dict__["_given"] = frozenset(values)
        self._check(place)

    def _check(self, place: Place) -> None:
        """Raises an InputError if the values contradict each other."""

    def _with(self, **values: Any) -> Self:
        """The same record with other values, which are not checked."""
        made = object.__new__(type(self))
        given = self._given | (values.keys() & self.fields.keys())
        made.__dict__.update(self.__dict__, **values, _given=given)
        return made

    def to_dict(self) -> dict[str, Any]:
        """What was given, as plain data."""
        given = {name: getattr(self, name) for name in self.fields if name in self._given}
        return {name: _as_data(value) for name, value in given.items()}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; {name} belongs to a new one")

    def _values(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_given"}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={shown(value)}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({fields})"


def _as_data(value: Any) -> Any:
    if isinstance(value, InputTable):
        return value.to_dict()
    if isinstance(value, list) and value and isinstance(value[0], InputTable):
        return [each.to_dict() for each in value]
    return value


# The functions below make fields. Their type is that of the table's attribute of the field's name.


def value(meaning: str, of: ValueType, default: Any = REQUIRED) -> Any:
    """A field with a single value."""

    def take(written: object, place: Place, hint: str) -> Any:
        taken = of.taken(written)
        return refuse(place, written, of.wanted, hint) if taken is None else taken

    return Field(meaning, take, default, of.unit)


def number(
    meaning: str, low: float, high: float, unit: str = "", default: Any = REQUIRED, above: bool = False
) -> Any:
    """A field with a number within bounds."""
    return value(meaning, ValueType(kind="number", range=(low, high), unit=unit, above=above), default)


def integer(meaning: str, low: int, high: int, default: Any = REQUIRED) -> Any:
    """A field with a whole number within bounds."""
    return value(meaning, ValueType(kind="integer", range=(low, high)), default)


def text(meaning: str, default: Any = REQUIRED) -> Any:
    """A field with a text."""
    return value(meaning, ValueType(kind="text"), default)


def flag(meaning: str, default: Any = REQUIRED) -> Any:
    """A field that is true or false."""
    return value(meaning, ValueType(kind="boolean"), default)


def choice(meaning: str, *choices: str, default: Any = REQUIRED) -> Any:
    """A field with one of these texts."""
    return value(meaning, ValueType(kind="choice", choices=choices), default)


def table(meaning: str, of: type[InputTable], default: Any = REQUIRED) -> Any:
    """A field with a table of its own fields."""
    return Field(meaning, of.checked, default)


def section(meaning: str, default: Any = REQUIRED) -> Any:
    """A field with a section of parameters, whose names and values are checked with the profile."""
    return Field(meaning, _taken_section, default)


def _taken_section(written: object, place: Place, hint: str) -> dict[str, Any]:
    if not isinstance(written, Mapping):
        refuse(place, written, "a table of parameters", hint)
    for key in written:
        if not isinstance(key, str):
            refuse(place, key, "names of parameters", hint)
    return dict(written)


def list_of(
    meaning: str, item: Field, least: int = 0, default: Any = REQUIRED, *, most: int | None = None
) -> Any:
    """A field with a list of what another field may be."""

    def take(written: object, place: Place, hint: str) -> list[Any]:
        if not isinstance(written, list):
            refuse(place, written, "a list", hint)
        if len(written) < least:
            refuse(place, written, f"at least {least}", hint)
        if most is not None and len(written) > most:
            refuse(place, len(written), f"at most {most}", hint)
        return [item.checked(each, place.at(index)) for index, each in enumerate(written)]

    return Field(meaning, take, default)


def joined(lists: Field) -> Any:
    """A field whose value is what a field with a list of lists has, as one list."""

    def take(written: object, place: Place, hint: str) -> list[Any]:
        return [each for part in lists.take(written, place, hint) for each in part]

    return replace(lists, take=take)


def row(meaning: str, items: tuple[Field, ...], wanted: str) -> Any:
    """A field with a list of a fixed length, such as a place ``[x, y]``; ``wanted`` describes it."""

    def take(written: object, place: Place, hint: str) -> tuple[Any, ...]:
        if not isinstance(written, list | tuple) or len(written) != len(items):
            refuse(place, written, wanted, hint)
        return tuple(
            item.checked(each, place.at(index))
            for index, (item, each) in enumerate(zip(items, written, strict=True))
        )

    return Field(meaning, take)
