"""From what is asked to what is run: every parameter's value, every flow, the movement.

What is asked has been checked: it is a [`Scenario`][manetlab.Scenario], or ns-2's two files with a few values
(`manetlab.two_files`). Nothing here needs pydantic.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from manetlab import _core, parameters
from manetlab.errors import InputError
from manetlab.files import read_bytes
from manetlab.parameters import PYTHON, Params

if TYPE_CHECKING:
    from manetlab.routing import PythonProtocol
    from manetlab.scenario import Scenario

DEFAULT_ROUTING = "aodv"
DEFAULT_PROFILE = "rfc"
"""What the standards say. Nobody is given ns-2's departures from them without asking for them by name."""
DEFAULT_SEED = 1
SEEDS = 2**64
"""Seeds and numbers of replications are below this."""
MOST_SECONDS = 1e6
"""Latest time of a scenario, in s."""

Section = dict[str, Any]


class Asked(Protocol):
    """What `resolve` needs to know of a scenario."""

    @property
    def duration_s(self) -> float:
        """The length of the run, in s."""

    @property
    def warmup_s(self) -> float:
        """When measurement begins, in s."""

    @property
    def seed(self) -> int:
        """The seed of all random streams."""

    @property
    def replication(self) -> int:
        """The number of the replication."""

    @property
    def routing(self) -> str:
        """The routing protocol, maybe with a parameter set."""

    @property
    def profile(self) -> str:
        """The named set of defaults."""

    @property
    def where(self) -> str:
        """What errors name as their place."""

    @property
    def place_of_flows(self) -> str:
        """What errors about flows name as their place."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that the movement and the traffic are read from."""

    def section(self, name: str) -> Section:
        """The changed parameters of a section."""

    def make_movement(self) -> _core.Movement:
        """Where the nodes start and go."""

    def make_flows(self, movement: _core.Movement, radio: Section) -> list[dict[str, Any]]:
        """All flows, in order."""

    def resolve(self) -> Resolved:
        """The complete scenario, as the function `resolve` makes it."""

    def as_scenario(self) -> Scenario:
        """The same with all of a scenario's fields."""


def resolve(asked: Asked) -> Resolved:
    """The complete scenario: every parameter's value, every flow, the movement.

    Raises:
        InputError: A file cannot be used, or a name or a value is not allowed.
    """
    params = _params(asked)
    protocol = _python_protocol(asked)
    movement = asked.make_movement()
    core = {
        "duration_s": asked.duration_s,
        "warmup_s": asked.warmup_s,
        "seed": asked.seed,
        "replication": asked.replication,
        "routing": "custom" if protocol else asked.routing.partition(":")[0],
        "params": params,
        "flows": asked.make_flows(movement, params["radio"]),
    }
    complete = json.loads(_core.normalize(canonical(core), movement, asked.place_of_flows))
    return Resolved(asked, movement, complete, protocol)


def is_in_python(asked: Asked) -> bool:
    """Whether the routing protocol is written in Python."""
    return asked.routing.partition(":")[0] == PYTHON


def _python_protocol(asked: Asked) -> PythonProtocol | None:
    if not is_in_python(asked):
        return None
    from manetlab.routing import protocol_of

    given = asked.section(PYTHON)
    try:
        canonical(given)
    except (TypeError, ValueError) as error:
        hint = "results are told apart by the parameters that made them"
        wanted = "texts, numbers, true or false, and lists and tables of these"
        place = f"{asked.where}: python"
        raise InputError("the parameters cannot be written down", place, str(error), wanted, hint) from None
    return protocol_of(asked.routing, given, asked.where)


def set_by(asked: Asked, section: str, name: str) -> str:
    """What gives a parameter its value: the profile, a named set, or the scenario itself."""
    if name in asked.section(section):
        return "scenario"
    layers = _layers(asked)
    for index in range(len(layers) - 1, 0, -1):
        label, params = layers[index]
        if params[section][name] != layers[index - 1][1][section][name]:
            return label
    return layers[0][0]


def _layers(asked: Asked) -> list[tuple[str, Params]]:
    """The parameters as they become: the profile's, then after each named set, with its name."""
    layers = [(f"profile {asked.profile}", parameters.profile(asked.profile, asked.where))]
    protocol, colon, routing_set = asked.routing.partition(":")
    if is_in_python(asked):
        colon = ""
    elif protocol not in _core.routings():
        error = parameters.unknown("routing protocol", protocol, _core.routings(), asked.where)
        error.wanted = f"{error.wanted}, or python:MODULE.CLASS"
        raise error
    if colon and not _core.routing_sets(protocol):
        raise InputError(
            f"{protocol} has no parameter sets",
            asked.where,
            f'"{asked.routing}"',
            f'"{protocol}"',
            "other protocols have: aodv:dyer-2002",
        )
    if colon:
        before = layers[-1][1]
        after = parameters.apply_routing_set(before, protocol, routing_set, asked.where)
        layers.append((asked.routing, after))
    if (sender := asked.section("tcp").get("sender")) is not None:
        layers.append((f"sender {sender}", parameters.apply_sender(layers[-1][1], str(sender), asked.where)))
    return layers


def _params(asked: Asked) -> Params:
    overrides = {section: asked.section(section) for section in parameters.own_sections()}
    overrides["tcp"] = {name: value for name, value in asked.section("tcp").items() if name != "sender"}
    return parameters.apply_overrides(_layers(asked)[-1][1], overrides, asked.where)


def read_movement(path: Path) -> _core.Movement:
    """The movement in a file of ns-2.

    Raises:
        InputError: The file cannot be used.
    """
    return _core.Movement.read(read_bytes(path, "movement file"), str(path))


def read_flows(path: Path) -> list[dict[str, Any]]:
    """The flows in a traffic file of ns-2.

    Raises:
        InputError: The file cannot be used.
    """
    flows: list[dict[str, Any]] = json.loads(_core.read_traffic(read_bytes(path, "traffic file"), str(path)))
    return flows


@dataclass(frozen=True)
class Resolved:
    """A scenario in which nothing is left to defaults, files or draws.

    Attributes:
        asked: What it was resolved from.
        movement: Where the nodes start and go.
        core: The rest, as the simulator takes it: times, seed, routing, every parameter, every flow.
        protocol: The routing protocol if it is one in Python.
    """

    asked: Asked
    movement: _core.Movement
    core: dict[str, Any]
    protocol: PythonProtocol | None = None

    @property
    def scenario(self) -> Scenario:
        """What it was resolved from, as a scenario."""
        return self.asked.as_scenario()

    @property
    def params(self) -> Params:
        """Every parameter's value, by section and name."""
        params: Params = self.core["params"]
        return params

    @property
    def flows(self) -> list[dict[str, Any]]:
        """Every flow, in order."""
        flows: list[dict[str, Any]] = self.core["flows"]
        return flows

    @cached_property
    def _core_parts(self) -> dict[str, str]:
        """The canonical JSON of each of the core's fields: they are part of two texts, and long."""
        return {key: canonical(value) for key, value in self.core.items()}

    def of(self, scenario: Scenario) -> Resolved:
        """The same for a scenario that is `alike` and not drawn from its seed: nothing is read again."""
        seeds = {"seed": scenario.seed, "replication": scenario.replication}
        other = Resolved(scenario, self.movement, {**self.core, **seeds}, self.protocol)
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
        return beside

    @cached_property
    def hash(self) -> str:
        """SHA-256 of `to_dict` as canonical JSON, 64 hexadecimal digits."""
        beside = {key: canonical(value) for key, value in self._beside_core().items()}
        return hashlib.sha256(_joined({**self._core_parts, **beside}).encode()).hexdigest()


def canonical(value: object) -> str:
    """A value as JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _joined(parts: Mapping[str, str]) -> str:
    """What `canonical` makes of a mapping, of its values' canonical JSON."""
    return "{" + ",".join(f'"{key}":{parts[key]}' for key in sorted(parts)) + "}"
