"""From a scenario to what is run: every parameter's value, every flow, the movement."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from manetlab import (
    _core,
    extension,
    file_kinds,
    movement_files,
    parameters,
    radio_units,
    traffic,
    web,
)
from manetlab.errors import InputError, shown
from manetlab.files import printable
from manetlab.flows import with_numbers
from manetlab.input_tables import Place
from manetlab.parameters import PYTHON, Params
from manetlab.sources import WALL_LOSSES

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from manetlab.movement_selection import Selection
    from manetlab.routing import PythonProtocol
    from manetlab.scenario import Scenario

MOST_KNOWN = 128
"""Sets of parameters that are kept for scenarios that have the same."""
MOST_POSITIONS = 20_000_000
"""Most rows of a table of positions."""

Ends = list[tuple[int, int]] | None
"""Source and destination of flows, if they are not to be drawn."""


def resolve(scenario: Scenario) -> Resolved:
    """The complete scenario: every parameter's value, every flow, the movement.

    Raises:
        InputError: A file cannot be used, or a name or a value is not allowed.
    """
    extension.check_sections(scenario.section_names(), parameters.sections())
    params, text = _known_params(scenario)
    protocol = _python_protocol(scenario)
    movement, selected, ends = _movement(scenario, params)
    walls = _walls(scenario, movement)
    if scenario.failures:
        movement = movement.with_failures(
            canonical([_failure(each) for each in scenario.failures]),
            scenario.seed,
            scenario.replication,
            scenario.duration_s,
            printable(scenario.where),
        )
    given = _flows(scenario, movement, params, ends)
    in_time = _in_time(scenario, given)
    flows = _throttled(scenario, movement, params, in_time, walls)
    core = {
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "seed": scenario.seed,
        "replication": scenario.replication,
        "routing": "custom" if protocol else scenario.routing.partition(":")[0],
        "params": params,
        "flows": flows,
        "rates": scenario.rates or [],
        "radios": scenario.radios or [],
        "walls": walls,
        "wired": scenario.wired or [],
        "energy": None if scenario.energy is None else scenario.energy.in_core(),
    }
    place = printable(scenario.traffic_file or scenario.where)
    complete, text = _normalized(core, text, movement, place)
    resolved = Resolved(scenario, movement, complete, protocol, selected, len(given) - len(in_time))
    resolved.know_params(text)
    return resolved


class _Normal:
    """What the core makes of a set of parameters.

    Attributes:
        written: As the core writes it.
        params: The parameters.
        text: As canonical JSON.
    """

    def __init__(self, written: str, params: Params) -> None:
        self.written, self.params, self.text = written, params, canonical(params)


_PARAMS: dict[str, tuple[Params, str]] = {}
"""Parameters, and the same as canonical JSON, by what of a scenario decides them."""
_NORMAL: dict[str, _Normal] = {}
"""What the core makes of parameters, by their canonical JSON."""
_IN_CORE = '"params":'


def _kept(known: dict[str, Any], key: str, value: Any) -> None:
    """Keeps a value; all others go where they are too many. Threads may do so at once."""
    if len(known) >= MOST_KNOWN:
        known.clear()
    known[key] = value


def _known_params(scenario: Scenario) -> tuple[Params, str]:
    """The parameters, also as canonical JSON: replications of a point have the same, which nobody changes."""
    deciding = [scenario.profile, scenario.routing, scenario.radio, scenario.radios]
    deciding.append({name: scenario.section(name) for name in parameters.own_sections()})
    try:
        key = canonical(deciding)
    except (TypeError, ValueError):
        # What is wrong with it is told by the check.
        return (params := _params(scenario)), canonical(params)
    if (known := _PARAMS.get(key)) is None:
        params = _params(scenario)
        known = params, canonical(params)
        _kept(_PARAMS, key, known)
    return known


def _copied(params: Params) -> Params:
    """Parameters whose change changes no others; each of them is one value."""
    return {section: dict(values) for section, values in params.items()}


def _normalized(
    core: dict[str, Any], text: str, movement: _core.Movement, place: str
) -> tuple[dict[str, Any], str]:
    """The core's fields with every value written out, and the parameters among them as canonical JSON.

    Parameters that are known are not read again.

    Args:
        core: The fields.
        text: The parameters among them as canonical JSON.
        movement: Where the nodes start and go.
        place: What errors name as the scenario's place.
    """
    parts = {key: text if key == "params" else canonical(value) for key, value in core.items()}
    written = _core.normalize(_joined(parts), movement, place)
    begin = written.index(_IN_CORE) + len(_IN_CORE)
    normal = _NORMAL.get(text)
    if normal is None or not written.startswith(normal.written, begin):
        found, end = json.JSONDecoder().raw_decode(written, begin)
        normal = _Normal(written[begin:end], found)
        _kept(_NORMAL, text, normal)
    complete = json.loads(f"{written[:begin]}null{written[begin + len(normal.written) :]}")
    complete["params"] = _copied(normal.params)
    return complete, normal.text


def _walls(scenario: Scenario, movement: _core.Movement) -> list[dict[str, Any]]:
    """The walls, in m."""
    if isinstance(scenario.walls, dict):
        from manetlab import wall_files

        place = f"{printable(scenario.where)}: walls"
        return wall_files.load(scenario.origin, scenario.walls, WALL_LOSSES, movement.plane, place)
    return scenario.walls or []


def _failure(written: Mapping[str, Any]) -> dict[str, Any]:
    """A failure as the core has it."""
    said = ("kind", "distribution")
    return {
        **{name: value for name, value in written.items() if value is not None and name not in said},
        "fixed": written.get("distribution") == "fixed",
        "crash": written.get("kind") == "crash",
    }


def _python_protocol(scenario: Scenario) -> PythonProtocol | None:
    if not scenario.is_in_python:
        return None
    from manetlab.routing import protocol_of

    scenario.origin.check_code(scenario.routing)
    given = scenario.section(PYTHON)
    try:
        canonical(given)
    except (TypeError, ValueError) as error:
        hint = "results are identified by their parameters"
        wanted = "strings, numbers, true, false, and lists and tables of these"
        place = f"{scenario.where}: python"
        raise InputError("the parameters cannot be stored", place, str(error), wanted, hint) from None
    return protocol_of(scenario.routing, given, scenario.where)


def set_by(scenario: Scenario, section: str, name: str) -> str:
    """What gives a parameter its value: the profile, a named set, or the scenario itself."""
    if name in scenario.section(section):
        return "scenario"
    if section == "mac" and name in radio_units.needed_of_mac(scenario.radio, scenario.section("mac")):
        return radio_units.needed_by(scenario.radio, name)
    if section == "radio" and (field := radio_units.decided_by(scenario.radio, name)) is not None:
        return f"scenario (radio.{field})"
    layers = _layers(scenario)
    for index in range(len(layers) - 1, 0, -1):
        label, params = layers[index]
        if params[section][name] != layers[index - 1][1][section][name]:
            return label
    return layers[0][0]


def _layers(scenario: Scenario) -> list[tuple[str, Params]]:
    """The parameters as they become: the profile's, then after each named set, with its name."""
    layers = [(f"profile {scenario.profile}", parameters.profile(scenario.profile, scenario.where))]
    protocol, colon, routing_set = scenario.routing.partition(":")
    if scenario.is_in_python:
        colon = ""
    elif protocol not in _core.routings():
        known = _core.routings()
        error = parameters.unknown("routing protocol", protocol, known, scenario.where, "protocols")
        error.wanted = f"{error.wanted}, or python:MODULE.CLASS"
        sets = [f"{name}:{protocol}" for name in known if protocol in _core.routing_sets(name)]
        if sets:
            error.hint = f'it is a parameter set: did you mean "{sets[0]}"?'
        raise error
    if colon and not _core.routing_sets(protocol):
        raise InputError(
            f"{protocol} has no parameter sets",
            scenario.where,
            f'"{scenario.routing}"',
            f'"{protocol}"',
            "other protocols have: aodv:dyer-2002",
        )
    if colon:
        before = layers[-1][1]
        after = parameters.apply_routing_set(before, protocol, routing_set, scenario.where)
        layers.append((scenario.routing, after))
    if (sender := scenario.section("tcp").get("sender")) is not None:
        changed = parameters.apply_sender(layers[-1][1], str(sender), scenario.where)
        layers.append((f"sender {sender}", changed))
    return layers


def _params(scenario: Scenario) -> Params:
    overrides = {section: scenario.section(section) for section in parameters.own_sections()}
    layers = _layers(scenario)
    overrides["radio"] = radio_units.in_watts(overrides["radio"], layers[-1][1]["radio"], scenario.where)
    needed = radio_units.needed_of_mac(scenario.radio, overrides["mac"])
    usual = {**layers[-1][1]["mac"], **needed}
    radio = {**layers[-1][1]["radio"], **overrides["radio"]}
    usual_us = usual["propagation_allowance_us"]
    allowance = radio_units.allowance(scenario.radio, radio, scenario.radios or [], usual_us)
    overrides["mac"] = {**needed, **allowance, **overrides["mac"]}
    overrides["tcp"] = {name: value for name, value in scenario.section("tcp").items() if name != "sender"}
    return parameters.apply_overrides(layers[-1][1], overrides, scenario.where)


def _movement(scenario: Scenario, params: Params) -> tuple[_core.Movement, Selection | None, Ends]:
    """Where the nodes start and go, what they were selected for, and the ends of the flows that follow."""
    pattern = scenario.traffic.random
    if pattern is None or pattern.hops is None:
        return _movement_given(scenario), None, None
    scenario.origin.check_draws(pattern.hops_draws)
    from manetlab import movement_selection

    source: tuple[str, dict[str, Any]] | _core.Movement
    if (drawn := scenario.movement.drawn) is None:
        source = _movement_given(scenario)
        nodes = source.nodes
    else:
        source = (drawn[0], parameters.check_movement(*drawn, scenario.where))
        nodes = {**parameters.movement_defaults()[drawn[0]], **source[1]}["nodes"]
    traffic.check_nodes(pattern, nodes, f"{scenario.where}: traffic.random")
    window_s, streams = (scenario.warmup_s, scenario.duration_s), (scenario.seed, scenario.replication)
    return movement_selection.find(pattern, source, params, window_s, streams, scenario.where)


def _movement_given(scenario: Scenario) -> _core.Movement:
    """Where the nodes start and go, if nothing is searched for."""
    movement = _movement_of_source(scenario)
    return movement.flattened() if scenario.movement.flat else movement


def _movement_of_source(scenario: Scenario) -> _core.Movement:
    source = scenario.movement
    if (name := scenario.movement_name) is not None:
        return movement_files.load(scenario.origin, name)
    if source.tracks is not None:
        return movement_files.of_tracks(source.tracks, f"{scenario.where}: movement.tracks")
    if (drawn := source.drawn) is not None:
        checked = parameters.check_movement(*drawn, scenario.where)
        streams = (scenario.seed, scenario.replication)
        return _core.Movement.drawn(drawn[0], json.dumps(checked), scenario.duration_s, *streams)
    if source.chain is not None:
        return _core.Movement.grid(source.chain.nodes, 1, source.chain.spacing_m)
    if source.grid is not None:
        return _core.Movement.grid(source.grid.columns, source.grid.rows, source.grid.spacing_m)
    if (areas := source.areas) is not None:
        counts = (areas.sources, areas.sinks, areas.forwarders)
        lengths_m = (areas.spacing_m, areas.height_m, areas.end_width_m, areas.band_width_m)
        streams = (scenario.seed, scenario.replication)
        walk = (areas.speed_mps, scenario.duration_s)
        return _core.Movement.areas(counts, areas.hops, lengths_m, *walk, streams)
    assert source.positions is not None
    return _core.Movement.fixed(source.positions)


def _flows(scenario: Scenario, movement: _core.Movement, params: Params, ends: Ends) -> list[dict[str, Any]]:
    """All flows; Web sessions come last, so that they change no other flow's number."""
    flows = _flows_but_web(scenario, movement, params, ends)
    if scenario.traffic.web is None:
        return flows
    streams = (scenario.seed, scenario.replication)
    return flows + web.drawn_flows(scenario.traffic.web, movement.nodes, scenario.warmup_s, streams)


def _in_time(scenario: Scenario, flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The flows that begin before the run ends: traffic files are often drawn for a longer one."""
    if scenario.traffic_file is None:
        return flows
    return [flow for flow in flows if flow["start_s"] < scenario.duration_s]


def _throttled(
    scenario: Scenario,
    movement: _core.Movement,
    params: Params,
    flows: list[dict[str, Any]],
    walls: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """The flows with the rates of an oracle, or with what their sources need in order to learn them."""
    throttle = params["throttle"]
    mode = throttle["mode"]
    given = [number for number, flow in enumerate(flows) if flow.get("throttle_bps") is not None]
    if mode == "off" and given:
        where, wanted = (
            f"{scenario.where}: traffic.flows[{given[0]}].throttle_bps",
            "no rates, as nothing is throttled",
        )
        hint = 'set throttle.mode to "preset" to use them'
        raise InputError("the flow has rates, but throttling is off", where, "throttle_bps", wanted, hint)
    if mode not in ("oracle", "density"):
        return flows
    from manetlab import shares

    around = {
        "seed": scenario.seed,
        "replication": scenario.replication,
        "radios": scenario.radios or [],
        "walls": walls,
    }
    about = (params, scenario.rates or [], scenario.profile, scenario.duration_s, throttle["step_s"])
    made = flows
    if mode == "density":
        # A flow with rates of its own needs no others.
        needing = [flow for flow in flows if flow.get("throttle_bps") is None]
        learned = iter(shares.alone_over_time(movement, needing, *about, around))
        alone = [None if flow.get("throttle_bps") is not None else next(learned) for flow in flows]
        made = _with_missing(flows, "alone_bps", alone)
    if mode == "density" and not throttle["measure_error"]:
        return made
    # The rate of a flow that has its own is not asked for, but its share counts.
    asked = [flow if flow.get("throttle_bps") is None else {**flow, "alone_bps": [1.0]} for flow in made]
    found = shares.rates_over_time(movement, asked, *about, around=around)
    return _with_missing(made, "throttle_bps" if mode == "oracle" else "oracle_bps", found)


def _with_missing(flows: list[dict[str, Any]], field: str, found: Sequence[Any]) -> list[dict[str, Any]]:
    """The flows with what was found for those that do not have this field."""
    return [
        flow if each is None or flow.get(field) is not None else {**flow, field: each}
        for flow, each in zip(flows, found, strict=True)
    ]


def _flows_but_web(
    scenario: Scenario, movement: _core.Movement, params: Params, ends: Ends
) -> list[dict[str, Any]]:
    source = scenario.traffic
    if (path := scenario.traffic_file) is not None:
        content = scenario.origin.read(source.file or "", "traffic file")
        try:
            read: list[dict[str, Any]] = json.loads(_core.read_traffic(content, printable(path)))
        except InputError as error:
            raise file_kinds.explained(error, content, file_kinds.TRAFFIC) from None
        return _by_label(read, movement, path)
    if source.random is not None:
        times, streams = (scenario.warmup_s, scenario.duration_s), (scenario.seed, scenario.replication)
        return traffic.draw(source.random, movement, params, times, streams, scenario.where, ends)
    place = Place(scenario.where, "traffic")
    return [
        with_numbers(flow, movement.labels, place.at("flows").at(number))
        for number, flow in enumerate(source.flows or [])
    ]


def _by_label(flows: list[dict[str, Any]], movement: _core.Movement, path: Path) -> list[dict[str, Any]]:
    """The flows of a traffic file, where the movement file has other numbers of nodes than 0, 1, 2 …."""
    labels = movement.labels
    if labels is None or not all(label.isdigit() for label in labels):
        return flows
    numbers = {label: number for number, label in enumerate(labels)}
    for number, flow in enumerate(flows):
        for end in ("src", "dst"):
            if (node := str(flow[end])) not in numbers:
                wanted = f"one of the {len(labels)} nodes of the movement, {labels[0]} to {labels[-1]}"
                hint = "movement and traffic have the same numbers of nodes"
                raise InputError(f"flow {number}: no such node", printable(path), node, wanted, hint)
            flow[end] = numbers[node]
    return flows


@dataclass(frozen=True, repr=False)
class Resolved:
    """A scenario in which nothing is left to defaults, files or draws.

    Attributes:
        scenario: What it was resolved from.
        movement: Where the nodes start and go.
        core: The rest, as the simulator takes it: times, seed, routing, every parameter, every flow.
        protocol: The routing protocol if it is one in Python.
        selection: What the movement was selected for, if it was.
        late_flows: How many flows of a traffic file begin after the end, and are left out.
    """

    scenario: Scenario
    movement: _core.Movement
    core: dict[str, Any]
    protocol: PythonProtocol | None = None
    selection: Selection | None = None
    late_flows: int = 0

    def __repr__(self) -> str:
        """What is run, in a line."""
        core = self.core
        size = f"{self.movement.nodes} nodes, {len(self.flows)} flows, {core['duration_s']:g} s"
        return f"<Resolved scenario {self.hash[:12]}: {self.scenario.routing}, {size}, seed {core['seed']}>"

    @property
    def params(self) -> Params:
        """Every parameter's value, by section and name."""
        params: Params = self.core["params"]
        return params

    def name_of(self, node: int) -> str:
        """What a node is called: by its label in the movement, or by its number."""
        labels = self.movement.labels
        return str(node) if labels is None else labels[node]

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Every flow, in order."""
        flows: list[dict[str, Any]] = self.core["flows"]
        return flows

    def positions(self, step_s: float = 1.0) -> pd.DataFrame:
        """Where the nodes are at equally spaced instants; see `Scenario.positions`.

        Raises:
            InputError: The step is not above 0, or there would be too many rows.
        """
        import pandas as pd

        duration_s = float(self.core["duration_s"])
        if not 0 < step_s < float("inf") or duration_s / step_s * self.movement.nodes > MOST_POSITIONS:
            wanted = f"a number above 0 with at most {MOST_POSITIONS} positions"
            raise InputError("the step is not allowed", "positions: step_s", shown(step_s), wanted)
        times_s = [step_s * number for number in range(math.ceil(duration_s / step_s))]
        rows = [
            (time_s, node, *place)
            for time_s in times_s
            for node, place in enumerate(self.movement.positions(time_s))
        ]
        return pd.DataFrame.from_records(rows, columns=["time_s", "node", "x_m", "y_m"])

    def links_json(self) -> tuple[str, str, str, str]:
        """What says where links are: parameters, rates of nodes and links, wired links, surroundings."""
        return (
            canonical(self.params),
            canonical(self.core.get("rates", [])),
            canonical(self.core.get("wired", [])),
            canonical(self.surroundings),
        )

    @property
    def surroundings(self) -> dict[str, Any]:
        """What decides about links beside parameters, rates and wires."""
        return {name: self.core.get(name, usual) for name, usual in radio_units.OPEN_FIELD.items()}

    @cached_property
    def _core_parts(self) -> dict[str, str]:
        """The canonical JSON of each of the core's fields: they are part of two texts, and long."""
        return {key: canonical(value) for key, value in self.core.items()}

    def know_params(self, text: str) -> None:
        """Takes the parameters' canonical JSON from where it is known."""
        parts = {key: text if key == "params" else canonical(value) for key, value in self.core.items()}
        # Where `cached_property` looks first.
        self.__dict__["_core_parts"] = parts

    def of(self, scenario: Scenario) -> Resolved:
        """The same for a scenario that is `alike` and not drawn from its seed: nothing is read again."""
        seeds = {"seed": scenario.seed, "replication": scenario.replication}
        core = {**self.core, **seeds}
        other = Resolved(scenario, self.movement, core, self.protocol, self.selection, self.late_flows)
        parts = {**self._core_parts, **{key: canonical(value) for key, value in seeds.items()}}
        # Where `cached_property` looks first.
        other.__dict__["_core_parts"] = parts
        return other

    def core_json(self) -> str:
        """The scenario as the simulator takes it; the movement goes beside it."""
        return _joined(self._core_parts)

    def to_dict(self) -> dict[str, Any]:
        """Everything that the run depends on; the movement by the SHA-256 hash of its ns-2 form."""
        return {**self.core, **self._beside_core()}

    def _beside_core(self) -> dict[str, Any]:
        """What the run depends on and the simulator does not read: movement, a protocol in Python."""
        beside: dict[str, Any] = {"movement": {"nodes": self.movement.nodes, "sha256": self.movement.digest}}
        if self.protocol is not None:
            beside["routing"] = self.protocol.name
            beside["python"] = dict(self.protocol.parameters)
            beside["python_source_sha256"] = self.protocol.source_sha256
        if self.selection is not None:
            beside["selection"] = self.selection.to_dict()
        return beside

    @cached_property
    def hash(self) -> str:
        """SHA-256 of `to_dict` as canonical JSON, 64 hexadecimal digits."""
        beside = {key: canonical(value) for key, value in self._beside_core().items()}
        return _core.sha256(_joined({**self._core_parts, **beside}).encode())


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """A value as JSON in the one form that is hashed."""
    return _CANONICAL.encode(value)


def _joined(parts: Mapping[str, str]) -> str:
    """What `canonical` makes of a mapping, of its values' canonical JSON."""
    return "{" + ",".join(f'"{key}":{parts[key]}' for key in sorted(parts)) + "}"
