"""The simulator's parameters: their schema, the profiles, and the changes that a scenario makes to them.

The schema's one home is the Rust core; here it is read, searched and used to check values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from manetlab import _core, extension, unimplemented
from manetlab.errors import InputError, shown
from manetlab.value_types import ValueType

Params = dict[str, dict[str, Any]]
"""Values by section and name."""


extension.check()


@dataclass(frozen=True, kw_only=True)
class Parameter(ValueType):
    """What the core says of a parameter, or of a field of a flow, beside what values it may have.

    Attributes:
        section: The section, for example ``mac``; empty for a field.
        name: Its name, within the section if there is one.
        source: The standard's clause or the publication that defines it; empty for a field.
        meaning: Its meaning.
        required: Must it be given? A parameter has a default.
        items: The fields of each table of a list, or the values of each of its rows in order.
    """

    section: str
    name: str
    source: str
    meaning: str
    required: bool = False
    items: tuple[Parameter, ...] = ()

    @classmethod
    def of_core(cls, info: Mapping[str, Any]) -> Parameter:
        """What an object of the core's schema says."""
        # JSON has the ends of all ranges as numbers with a fraction.
        ends = info["range"] and [int(end) if "integer" in info["kind"] else end for end in info["range"]]
        return cls(
            **{
                **info,
                "choices": tuple(info["choices"]),
                "range": tuple(ends) if ends else None,
                "meaning": " ".join(info["meaning"].split()),
                "items": tuple(map(cls.of_core, info["items"])),
            }
        )

    @property
    def key(self) -> str:
        """Section and name, as the command line writes them."""
        return f"{self.section}.{self.name}"

    def check(self, value: object, where: str) -> bool | int | float | str:
        """Returns ``value`` in the parameter's type.

        Args:
            value: The value to check; whole numbers are taken for numbers.
            where: What an error names as its place.

        Raises:
            InputError: The value has the wrong type or is outside the range.
        """
        taken = self.taken(value)
        if taken is None:
            what = f"{self.key} cannot have this value"
            raise InputError(what, where, shown(value), self.wanted, self.meaning)
        return taken


@cache
def schema() -> dict[str, dict[str, Parameter]]:
    """All parameters of the simulator by section and name."""
    return _by_section(_infos())


@cache
def _infos() -> list[dict[str, Any]]:
    infos: list[dict[str, Any]] = json.loads(_core.schema())
    return infos


MOST_NAMED = 20
"""Errors name all known names, if they are no more than these."""
PARAMETERS = "`manetlab docs parameters`"
"""What lists the parameters of a section."""
PYTHON = "python"
"""What a scenario calls routing protocols in Python, and the section of their parameters."""


def sections() -> tuple[str, ...]:
    """The names of all sections of a scenario, that of a routing protocol in Python among them."""
    return (*own_sections(), PYTHON)


@cache
def own_sections() -> tuple[str, ...]:
    """The names of the sections of the simulator's own parameters, without looking at these."""
    return tuple(_core.sections())


@cache
def movement_schema() -> dict[str, dict[str, Parameter]]:
    """The parameters of each movement model by name."""
    return _by_section(json.loads(_core.movement_schema()))


@cache
def movement_defaults() -> dict[str, dict[str, Any]]:
    """The defaults of each movement model by name."""
    defaults: dict[str, dict[str, Any]] = json.loads(_core.movement_defaults())
    return defaults


@cache
def web_schema() -> dict[str, Parameter]:
    """The parameters that draw Web sessions by name."""
    return _by_section(json.loads(_core.web_schema()))["web"]


def _by_section(infos: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Parameter]]:
    sections: dict[str, dict[str, Parameter]] = {}
    for info in infos:
        sections.setdefault(info["section"], {})[info["name"]] = Parameter.of_core(info)
    return sections


def profile(name: str, where: str = "profile") -> Params:
    """The parameters of a profile.

    Args:
        name: The profile's name.
        where: What an error names as its place.

    Raises:
        InputError: There is no such profile.
    """
    known = _core.profiles()
    if name not in known:
        raise unknown("profile", name, known, where, "profiles")
    values: Params = json.loads(_core.profile(name))
    return values


def apply_routing_set(params: Params, protocol: str, name: str, where: str) -> Params:
    """The same parameters with the section of a routing protocol replaced by a named set.

    Args:
        params: The parameters to start from.
        protocol: The protocol's name, which is its section's too.
        name: The set's name.
        where: What an error names as its place.

    Raises:
        InputError: There is no such set.
    """
    known = _core.routing_sets(protocol)
    if name not in known:
        raise unknown(f"parameter set of {protocol}", name, known, where, "sets")
    return {**params, protocol: json.loads(_core.routing_set(protocol, name))}


def apply_sender(params: Params, name: str, where: str) -> Params:
    """The same parameters with the TCP section changed to a named sender.

    Args:
        params: The parameters to start from.
        name: The sender's name.
        where: What an error names as its place.

    Raises:
        InputError: There is no such sender.
    """
    if name not in _core.tcp_senders():
        raise unknown("TCP sender", name, _core.tcp_senders(), where, "senders")
    return {**params, "tcp": json.loads(_core.apply_tcp_sender(name, json.dumps(params["tcp"])))}


def set_by_sender(name: str) -> tuple[str, ...]:
    """The names of the TCP parameters that a sender sets."""
    return tuple(dict.fromkeys(_core.tcp_sender_sets(name)))


def apply_overrides(params: Params, overrides: Mapping[str, Mapping[str, object]], where: str) -> Params:
    """The same parameters with single values replaced.

    Args:
        params: The parameters to start from.
        overrides: New values by section and name.
        where: What an error names as its place.

    Raises:
        InputError: A key is unknown, or a value is not allowed.
    """
    changed = {section: dict(values) for section, values in params.items()}
    for section, values in overrides.items():
        for name, value in values.items():
            changed[section][name] = find(section, name, where).check(value, where)
    return changed


def find(section: str, name: str, where: str) -> Parameter:
    """The parameter of that section and name.

    Raises:
        InputError: There is none; the error names the nearest.
    """
    sections = schema()
    if section not in sections:
        raise unknown("section", section, sections, where)
    if name not in sections[section]:
        raise unknown(f"parameter in [{section}]", name, sections[section], where)
    return sections[section][name]


def check_movement(model: str, values: Mapping[str, object], where: str) -> dict[str, Any]:
    """The same parameters of a movement model, each in its type.

    Raises:
        InputError: A key is unknown, or a value is not allowed.
    """
    return _check_all(values, movement_schema()[model], f"movement.{model}", where)


def check_web(values: Mapping[str, object], where: str) -> dict[str, Any]:
    """The same parameters of Web sessions, each in its type.

    Raises:
        InputError: A key is unknown, or a value is not allowed.
    """
    return _check_all(values, web_schema(), "traffic.web", where)


def _check_all(
    values: Mapping[str, object], known: Mapping[str, Parameter], section: str, where: str
) -> dict[str, Any]:
    for name in values:
        if name not in known:
            raise unknown(f"parameter in [{section}]", name, known, where)
    return {name: known[name].check(value, where) for name, value in values.items()}


def unknown(kind: str, found: str, known: Iterable[str], where: str, listed: str = "") -> InputError:
    """The error for a name that is not among the known ones.

    Args:
        kind: What it names, for the error.
        found: The name.
        known: Those that there are.
        where: What the error names as its place.
        listed: What ``manetlab list`` calls such names, if it lists them.
    """
    known = list(known)
    same = [name for name in known if name.lower() == found.lower()]
    near = same or nearest(found, known)
    command = f"`manetlab list {listed}`"
    hint = f'did you mean "{near[0]}"?' if near else f"see {command}" if listed else "check the spelling"
    if len(known) <= MOST_NAMED:
        wanted = "one of " + ", ".join(sorted(known))
    elif near:
        wanted = f"for example {near[0]}"
    else:
        place = command if listed else PARAMETERS if kind.startswith("parameter in") else ""
        wanted = f"one of {len(known)} names" + (f"; {place} lists them" if place else "")
    if (instead := unimplemented.instead_of(found)) is not None and not same:
        return InputError(f"{found} is not implemented in manetlab", where, f'"{found}"', wanted, instead)
    return InputError(f"no such {kind}", where, f'"{found}"', wanted, hint)


def nearest(found: str, known: Iterable[str]) -> list[str]:
    """The known name that is most likely meant, if any is near: by the fewest slips of the pen.

    A slip is a letter too many, too few, wrong, or exchanged with the next one (optimal string alignment). Of
    names that are equally near, one with as many letters is the likelier.
    """
    # Imported where a name is wrong: no run needs it.
    import difflib

    near = difflib.get_close_matches(found.lower(), list(known), n=8, cutoff=0.6)
    return sorted(near, key=lambda name: (_slips(found.lower(), name.lower()), abs(len(name) - len(found))))[
        :1
    ]


def _slips(a: str, b: str) -> int:
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (x != y))
            if i and j and x == b[j - 1] and y == a[i - 1]:
                best = min(best, rows[i - 1][j - 1] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def diff(a: Params, b: Params) -> list[tuple[Parameter, Any, Any]]:
    """The parameters in which two sets of values differ, with both values."""
    return [
        (parameter, a[section][name], b[section][name])
        for section, parameters in schema().items()
        for name, parameter in parameters.items()
        if a[section][name] != b[section][name]
    ]
