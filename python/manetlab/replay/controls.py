"""The controls of a page that makes runs: what can be changed, within which bounds, and what that changes.

A *free* control is one value of what the engine runs, and takes any value within its bounds. Every other
field, from the number of nodes to the radio's range in m, decides several values, which only Python can work
out: of such a control the page offers a *list*, and holds what each combination of choices makes of it all.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from manetlab import flows, parameters, scenario_fields
from manetlab.campaign.levels import level_of
from manetlab.errors import InputError, shown
from manetlab.input_tables import Place
from manetlab.live_page import Control
from manetlab.resolving import canonical
from manetlab.scenario import Scenario
from manetlab.scenario_data import assign
from manetlab.sources import LATEST_S
from manetlab.value_types import ValueType

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

MOST_COMBINATIONS = 400
"""Most combinations of listed choices, those of all draws together."""
CHAIN_NODES = "movement.chain.nodes"
MOST_CHAIN_NODES = 10
"""Longest chain that a page offers by itself."""
FEW_FLOWS = 3
"""Up to this many flows have start times among the default controls."""
BESIDE = ("routing", "tcp.sender", "seed")
"""Fields that every live page has choices for."""
LABELS = {
    "mac.rts_threshold_bytes": "RTS threshold",
    "mac.data_rate_bps": "Data rate",
    "tcp.window": "TCP window limit",
    "traffic.flows.*.interval_s": "CBR interval",
    "traffic.flows.*.bytes": "CBR packet",
    CHAIN_NODES: "Nodes in the chain",
    "movement.chain.spacing_m": "Spacing",
    "duration_s": "Duration",
}
"""What pages call fields; others have their dotted names."""
OF_FLOW = {
    "start_s": "Start",
    "stop_s": "End",
    "interval_s": "Interval",
    "bytes": "Bytes",
    "window": "Window",
}
"""What pages call fields of one flow."""
TIMES = {
    "duration_s": ValueType(kind="number", range=(0, LATEST_S), unit="s", above=True),
    "warmup_s": ValueType(kind="number", range=(0, LATEST_S), unit="s"),
}
WRONG = object()
"""A value that no field has: its error says in words what is wanted."""


@dataclass(frozen=True)
class Free:
    """A control that takes any value within its bounds.

    Attributes:
        name: The field's dotted name.
        label: What the page calls it.
        path: Where its value is in what the engine runs.
        of: What values are allowed.
        value: The scenario's own.
        wrong: The command line's error for a value that is not allowed; ``{found}`` stands for the value.
        meaning: What the field means.
    """

    name: str
    label: str
    path: tuple[str, ...]
    of: ValueType
    value: Any
    wrong: str
    meaning: str

    def to_dict(self) -> dict[str, Any]:
        """The fields of ``Control`` in viewer/src/controls.ts."""
        return {
            "name": self.name,
            "label": self.label,
            "unit": self.of.unit,
            "kind": self.of.kind,
            "choices": list(self.of.choices),
            "range": list(self.of.range) if self.of.range is not None else None,
            "above": self.of.above,
            "value": canonical(self.value),
            "path": list(self.path),
            "wrong": self.wrong,
            "meaning": self.meaning,
        }


@dataclass(frozen=True)
class Listed:
    """A control that offers a list; each option is the fields that it sets. Option ``own`` sets nothing."""

    name: str
    label: str
    unit: str
    options: tuple[tuple[str, Mapping[str, Any]], ...]
    own: int

    def to_dict(self) -> dict[str, Any]:
        """The fields of ``Listed`` in viewer/src/controls.ts."""
        options = [label for label, _ in self.options]
        return {
            "name": self.name,
            "label": self.label,
            "unit": self.unit,
            "options": options,
            "own": self.own,
        }


def found(resolved: Resolved) -> tuple[list[Free], list[Listed]]:
    """The controls that the scenario names; or sensible ones, if it names none.

    Raises:
        InputError: A field does not exist, or cannot be a control.
    """
    page = resolved.scenario.live
    asked = page.controls if page is not None else None
    if asked is None:
        return _by_default(resolved)
    free, listed = [], []
    for number, control in enumerate(asked):
        place = f"{resolved.scenario.where}: live.controls[{number}]"
        if control.field in BESIDE:
            continue
        made = _made(resolved, control, place)
        if isinstance(made, Free):
            free.append(made)
        else:
            listed.append(made)
    return free, listed


def _by_default(resolved: Resolved) -> tuple[list[Free], list[Listed]]:
    kinds = {flow["kind"] for flow in resolved.flows}
    names = ["mac.rts_threshold_bytes", "mac.data_rate_bps"]
    names += ["tcp.window"] if kinds & {"tcp", "web"} else []
    names += ["traffic.flows.*.interval_s", "traffic.flows.*.bytes"] if kinds == {"cbr"} else []
    if len(resolved.flows) <= FEW_FLOWS:
        names += [f"traffic.flows.{number}.start_s" for number in range(len(resolved.flows))]
    names.append("duration_s")
    made = (_free(resolved, name, LABELS.get(name, name)) for name in names)
    free = [each for each in made if each is not None]
    is_chain = resolved.scenario.movement.chain is not None
    listed = _listed(resolved, Control(field=CHAIN_NODES), "") if is_chain else None
    return free, [listed] if listed is not None and len(listed.options) > 1 else []


def _made(resolved: Resolved, control: Control, place: str) -> Free | Listed:
    name = control.field
    if name is not None:
        scenario_fields.check(name, place)
        if name == "profile":
            hint = "the page's protocols and senders belong to the scenario's profile; make a page for each"
            raise InputError("the profile cannot be a control", place, name, "another field", hint)
        if control.values is None and (free := _free(resolved, name, _label(control))) is not None:
            return free
    listed = _listed(resolved, control, place)
    if listed is not None:
        return listed
    wanted = "a field with a single value that the scenario gives, or a list of values"
    hint = f'for example {{ field = "{name}", values = [1, 2] }}'
    raise InputError("this field cannot be a control by itself", place, str(name), wanted, hint)


def _label(control: Control) -> str:
    name = control.field or ""
    return control.label or LABELS.get(scenario_fields.general(name), LABELS.get(name, name))


def _free(resolved: Resolved, name: str, label: str) -> Free | None:
    """The control of a field that is one value of what the engine runs; none if it is not."""
    section, _, rest = name.partition(".")
    if _is_drawn_from(resolved, name):
        return None
    if name in TIMES:
        return _checked(resolved, Free(name, label, (name,), TIMES[name], resolved.core[name], "", ""))
    if section in parameters.schema() and rest in parameters.schema()[section]:
        parameter = parameters.schema()[section][rest]
        value = resolved.params[section][rest]
        return _checked(
            resolved,
            Free(name, label, ("params", section, rest), parameter, value, "", parameter.meaning),
        )
    return _of_flow(resolved, name, label)


def _is_drawn_from(resolved: Resolved, name: str) -> bool:
    """Can movement or flows depend on a field, even where a single other value changes neither?"""
    scenario = resolved.scenario
    pattern = scenario.traffic.random
    if name in TIMES:
        return scenario.is_drawn or scenario.traffic_file is not None
    is_selected = pattern is not None and (pattern.hops is not None or pattern.cbr_within_hops is not None)
    return is_selected or resolved.params["throttle"]["mode"] != "off"


def depends_on_time(resolved: Resolved) -> bool:
    """Can movement or flows depend on the duration?"""
    return _is_drawn_from(resolved, "duration_s")


def _of_flow(resolved: Resolved, name: str, label: str) -> Free | None:
    parts = name.split(".")
    if len(parts) != 4 or parts[:2] != ["traffic", "flows"]:
        return None
    number, field = parts[2:]
    having = [
        flow
        for index, flow in enumerate(resolved.flows)
        if number in ("*", str(index)) and flow.get(field) is not None
    ]
    if not having or field in ("kind", "src", "dst"):
        return None
    flow = having[0]
    of = flows.parameter(flow["kind"], field)
    if of.kind not in ("number", "integer", "boolean", "choice"):
        return None
    try:
        flows.checked({**_given(flow), field: WRONG}, Place("", f"traffic.flows[{number}]"))
    except InputError as error:
        wrong = _words(error, f"traffic.flows[{number}].{field}")
        one = f"{OF_FLOW.get(field, field)} of {'every flow' if number == '*' else f'flow {number}'}"
        shown_as = label if label != name else one
        return Free(name, shown_as, ("flows", number, field), of, flow[field], wrong, of.meaning)
    return None


def _given(flow: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flow.items() if value is not None}


def _words(error: InputError, place: str) -> str:
    """An error in a line, with a place for the value that was found."""
    start = error.what if place in error.what else f"{place}: {error.what}"
    hint = f" {error.hint}" if error.hint else ""
    return f"{start}: found {{found}}, wanted {error.wanted}.{hint}"


def _checked(resolved: Resolved, control: Free) -> Free | None:
    """The control with the words of its error, if another value changes that value and nothing else."""
    scenario = resolved.scenario
    try:
        _assigned(scenario, {control.name: WRONG}).resolve()
        return None
    except InputError as error:
        wrong = _words(error, control.name)
        meaning = control.meaning or error.hint
    for value in _others(control):
        try:
            other = _assigned(scenario, {control.name: value}).resolve()
        except InputError:
            continue
        wanted = _with(resolved.core, control.path, value)
        is_alone = other.core == wanted and other.movement.digest == resolved.movement.digest
        return replace(control, wrong=wrong, meaning=meaning) if is_alone else None
    return None


def _with(core: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    head, *rest = path
    return {**core, head: _with(core[head], rest, value) if rest else value}


def _others(control: Free) -> list[Any]:
    """Values other than the scenario's own, of which the first that is allowed will do."""
    of, value = control.of, control.value
    if of.kind == "boolean":
        return [not value]
    if of.kind == "choice":
        return [each for each in of.choices if each != value]
    if of.kind == "text":
        return []
    near = [value * 2, value + 1, value / 2, value - 1, *(of.range or ())]
    typed = [int(each) if of.kind == "integer" else float(each) for each in near]
    return [each for each in typed if each != value and of.taken(each) is not None]


def _assigned(scenario: Scenario, fields: Mapping[str, Any]) -> Scenario:
    data: Mapping[str, Any] = scenario.to_dict()
    for name, value in fields.items():
        data = assign(data, name, value, scenario.where)
    return Scenario.build(data, scenario.where, scenario.origin)


def _listed(resolved: Resolved, control: Control, place: str) -> Listed | None:
    """A control with its values, or with some around the scenario's own; none if there are none."""
    name = control.field or ""
    own = _own(resolved.scenario, name) if name else None
    values = control.values if control.values is not None else _around(name, own)
    if not values:
        return None
    options: list[tuple[str, Mapping[str, Any]]] = []
    own_at = -1
    for value in values:
        level = level_of(name, value)
        for field in level.fields:
            scenario_fields.check(field, place)
        fields = dict(level.fields)
        if level.fields == {CHAIN_NODES: value}:
            fields |= _moved_ends(resolved.scenario, value)
        try:
            is_own = _same(resolved, _assigned(resolved.scenario, fields))
        except InputError as error:
            if control.values is None:
                continue
            raise InputError(
                error.what, f"{place}, value {shown(value)}", error.found, error.wanted, error.hint
            ) from None
        own_at = len(options) if is_own and own_at < 0 else own_at
        options.append((str(level.label), fields))
    if own_at < 0:
        options.insert(0, ("as made", {}))
        own_at = 0
    unit = scenario_fields.units().get(scenario_fields.general(name), "")
    return Listed(name, _label(control), unit, tuple(options), own_at)


def _same(resolved: Resolved, other: Scenario) -> bool:
    made = other.resolve()
    return made.core == resolved.core and made.movement.digest == resolved.movement.digest


def _own(scenario: Scenario, name: str) -> Any:
    node: Any = scenario.to_dict()
    for part in name.split("."):
        if isinstance(node, Mapping):
            node = node.get(part)
        elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
            node = node[int(part)]
        else:
            return None
    return node


def _around(name: str, own: Any) -> list[Any]:
    if name == CHAIN_NODES and own is not None:
        return sorted({*range(2, MOST_CHAIN_NODES + 1), own})
    if isinstance(own, bool):
        return [False, True]
    if isinstance(own, int):
        return sorted({own // 2, own, own * 2})
    if isinstance(own, float):
        return sorted({own / 2, own, own * 2})
    return []


def _moved_ends(scenario: Scenario, nodes: Any) -> dict[str, Any]:
    """A flow with an end at the chain's last node keeps it there."""
    last = _own(scenario, CHAIN_NODES)
    if not isinstance(nodes, int) or not isinstance(last, int):
        return {}
    return {
        f"traffic.flows.{number}.{end}": nodes - 1
        for number, flow in enumerate(scenario.traffic.flows or [])
        for end in ("src", "dst")
        if flow[end] == last - 1
    }


def combinations(listed: Sequence[Listed]) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
    """Each combination of options but the scenario's own: their numbers, and the fields that they set."""
    if not listed:
        return []
    every = itertools.product(*(range(len(control.options)) for control in listed))
    own = tuple(control.own for control in listed)
    made = []
    for numbers in every:
        if numbers != own:
            chosen = [control.options[number][1] for control, number in zip(listed, numbers, strict=True)]
            made.append((numbers, {name: value for fields in chosen for name, value in fields.items()}))
    return made


def assigned(scenario: Scenario, fields: Mapping[str, Any], seed: int) -> Resolved:
    """The scenario with these fields and this seed, resolved.

    Raises:
        InputError: It cannot be had.
    """
    return _assigned(scenario, fields).changed(seed=seed).resolve()
