"""Scenarios: everything that a run depends on, as a user writes it, and resolved.

A [`Scenario`][manetlab.Scenario] is what a TOML file or a Python script says; most of it is optional. A
[`Resolved`][manetlab.resolving.Resolved] scenario has every parameter's value, the flows one by one and the
movement; it is what is run, hashed and kept with the result.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from manetlab import _core, parameters, traffic, web
from manetlab.errors import InputError, shown
from manetlab.files import read_bytes
from manetlab.flows import FLOWS, MAX_NODES, STRICT, AnyFlow, Seconds, TraceFlow, WebCycle
from manetlab.resolving import (
    DEFAULT_PROFILE,
    DEFAULT_ROUTING,
    DEFAULT_SEED,
    MOST_SECONDS,
    SEEDS,
    Resolved,
    Section,
    is_in_python,
    read_flows,
    read_movement,
    resolve,
    set_by,
)
from manetlab.routing import name_of
from manetlab.scenario_data import SHORT_FORMS, as_plain, merged

Nodes = Annotated[int, Field(ge=1, le=MAX_NODES)]
Metres = Annotated[float, Field(gt=0, le=1e7)]
Coordinate = Annotated[float, Field(ge=-1e7, le=1e7)]
Place = Annotated[tuple[Coordinate, Coordinate], Field(strict=False)]
Seed = Annotated[int, Field(ge=0, lt=SEEDS)]


class _Model(BaseModel):
    model_config = STRICT


class Chain(_Model):
    """Nodes that stand in a line.

    Attributes:
        nodes: Number of nodes.
        spacing_m: Distance between neighbours, in m.
    """

    nodes: Nodes
    spacing_m: Metres = 200.0


class Grid(_Model):
    """Nodes that stand in a grid, numbered along the rows.

    Attributes:
        columns: Nodes to the east.
        rows: Nodes to the north.
        spacing_m: Distance between neighbours, in m.
    """

    columns: Annotated[int, Field(ge=1, le=MAX_NODES)]
    rows: Annotated[int, Field(ge=1, le=MAX_NODES)]
    spacing_m: Metres = 200.0

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if self.columns * self.rows > MAX_NODES:
            raise ValueError(f"columns × rows must be at most {MAX_NODES} nodes")
        return self


class _OneOf(_Model):
    """Exactly one of the fields is given."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"exactly one of {names} must be given, not {len(given)}")
        return self


class MovementSource(_OneOf):
    """Where the nodes are and go: exactly one of these.

    Attributes:
        file: A movement file of ns-2 (``setdest``).
        waypoint: Random waypoint movement made from the seed; its parameters are those of the section
            ``waypoint`` (`manetlab scenario generate --help` lists them).
        positions: Nodes that stand still: a list of ``[x, y]`` in m.
        chain: Nodes that stand in a line.
        grid: Nodes that stand in a grid.
    """

    file: str | None = None
    waypoint: Section | None = None
    positions: Annotated[list[Place], Field(min_length=1)] | None = None
    chain: Chain | None = None
    grid: Grid | None = None


class RandomTraffic(_Model):
    """Flows between random nodes, drawn from the seed's traffic stream.

    TCP, ADP and video flows have all different end points; as many flows of one of these kinds alone have
    those that the others would have. Those of the CBR flows are as ``cbr_ends`` says.

    Attributes:
        tcp: Number of endless TCP flows.
        adp: Number of endless ADP flows.
        video: Number of video flows.
        video_transport: What carries the video: ``udp``, ``adp`` or ``tcp``.
        cbr: Number of CBR flows.
        tcp_start_s: When the TCP, ADP and video flows begin, in s; with the measurement if not given.
        cbr_bytes: Payload of a CBR packet.
        cbr_interval_s: Time between the packets of a CBR flow, in s.
        cbr_start_within_s: CBR flows begin at uniformly drawn times from 0 to this, in s; if not given, 20 s,
            or the run's duration where that is shorter.
        cbr_within_hops: CBR flows go to a node that is at most so many hops away when the run begins, by a
            shortest path over links that the radio can receive over; if not given, to any node.
        cbr_ends: ``any``: a CBR flow goes from any node to any other. ``distinct-pairs``: and no two of them
            have the same source and destination. ``apart``: all flows, of whatever kind, have all different
            end points; if all are CBR, they have those that as many TCP flows would have.
    """

    tcp: Annotated[int, Field(ge=0, le=MAX_NODES // 2)] = 0
    adp: Annotated[int, Field(ge=0, le=MAX_NODES // 2)] = 0
    video: Annotated[int, Field(ge=0, le=MAX_NODES // 2)] = 0
    video_transport: Literal["udp", "adp", "tcp"] = "udp"
    cbr: Annotated[int, Field(ge=0, le=MAX_NODES)] = 0
    tcp_start_s: Seconds | None = None
    cbr_bytes: Annotated[int, Field(ge=1, le=65_507)] = 512
    cbr_interval_s: Annotated[float, Field(ge=1e-6, le=1e6)] = 0.25
    cbr_start_within_s: Seconds | None = None
    cbr_within_hops: Annotated[int, Field(ge=1, le=255)] | None = None
    cbr_ends: Literal["any", "distinct-pairs", "apart"] = "any"

    @model_validator(mode="after")
    def _one_rule_for_ends(self) -> Self:
        if self.cbr_within_hops is not None and self.cbr_ends != "any":
            raise ValueError('cbr_within_hops goes with cbr_ends = "any" only')
        return self


class TrafficSource(_Model):
    """Who talks to whom: exactly one of file, flows and random, or Web sessions, or both.

    Attributes:
        file: A traffic file of ns-2 (``cbrgen.tcl``).
        flows: The flows one by one.
        random: Flows between random nodes.
        web: Web sessions: ``sessions`` names the file that holds them, or they are drawn from the seed; their
            parameters are those of the section ``web`` (docs/parameters.md).
    """

    file: str | None = None
    flows: list[Annotated[AnyFlow, Field(discriminator="kind")]] | None = None
    random: RandomTraffic | None = None
    web: Section | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        given = [name for name in ("file", "flows", "random") if getattr(self, name) is not None]
        if len(given) > 1 or (not given and self.web is None):
            names = "exactly one of file, flows, random must be given"
            raise ValueError(f"{names}, not {len(given)}; web may stand beside it or alone")
        return self


class Scenario(_Model):
    """Who moves where, who talks to whom, which protocols every node runs, for how long.

    Attributes:
        movement: Where the nodes are and go. A string is the name of an ns-2 file.
        traffic: Who talks to whom. A string is the name of an ns-2 file.
        duration_s: The length of the run, in s.
        warmup_s: When measurement begins, in s.
        seed: The seed of all random streams.
        replication: The number of the replication, part of every stream's name.
        routing: ``aodv``, ``dsdv``, ``dsr``, ``adv``, ``flooding`` or ``static``; ``PROTOCOL:SET`` names a
            parameter set. A protocol in Python is given as its class, a subclass of
            [`Routing`][manetlab.Routing], or as ``python:module.Class``.
        profile: The named set of defaults that all parameters start from.
        radio: Changed parameters of the radio channel.
        mac: Changed parameters of the MAC.
        queue: Changed parameters of the interface queue.
        arp: Changed parameters of address resolution.
        network: Changed parameters of IP and link layer.
        tcp: Changed parameters of TCP; ``sender`` names the sender (``reno``, ``tahoe``, ``reno-f``, …), and
            a string alone is that name.
        aodv: Changed parameters of AODV.
        dsdv: Changed parameters of DSDV.
        dsr: Changed parameters of DSR.
        adv: Changed parameters of ADV.
        adp: Changed parameters of ADP.
        video: Changed parameters of video traffic.
        rtp: Changed parameters of RTP.
        flooding: Changed parameters of flooding.
        python: Parameters of a protocol in Python: keyword arguments of its class.
    """

    movement: MovementSource
    traffic: TrafficSource
    duration_s: Annotated[float, Field(gt=0, le=MOST_SECONDS)]
    warmup_s: Seconds = 0.0
    seed: Seed = DEFAULT_SEED
    replication: Seed = 0
    routing: str = DEFAULT_ROUTING
    profile: str = DEFAULT_PROFILE
    radio: Section = {}
    mac: Section = {}
    queue: Section = {}
    arp: Section = {}
    network: Section = {}
    tcp: Section = {}
    aodv: Section = {}
    dsdv: Section = {}
    dsr: Section = {}
    adv: Section = {}
    adp: Section = {}
    video: Section = {}
    rtp: Section = {}
    flooding: Section = {}
    python: Section = {}

    _where: str = PrivateAttr(default="scenario")
    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        full = dict(data)
        for key, name in SHORT_FORMS.items():
            if isinstance(full.get(key), str | Path):
                full[key] = {name: str(full[key])}
        if isinstance(full.get("routing"), type):
            full["routing"] = name_of(full["routing"])
        return full

    @classmethod
    def build(cls, data: Mapping[str, Any], where: str = "scenario", folder: Path = Path()) -> Scenario:
        """A scenario from a mapping with the same keys.

        Args:
            data: The keys and values.
            where: What errors name as their place.
            folder: Where the names of files start from.

        Raises:
            InputError: A key is unknown or missing, or a value is not allowed.
        """
        if not isinstance(data, Mapping):
            wanted = "a mapping from fields to values"
            raise InputError("this is no scenario", where, shown(data), wanted, "see the fields of Scenario")
        try:
            scenario = cls.model_validate(as_plain(data))
        except ValidationError as error:
            raise _clear(error, where) from None
        if scenario.warmup_s >= scenario.duration_s:
            wanted = f"less than the duration, {scenario.duration_s:g} s"
            hint = "nothing would be measured"
            raise InputError(
                "the warm-up is not allowed", f"{where}: warmup_s", f"{scenario.warmup_s:g} s", wanted, hint
            )
        scenario = scenario._with_traces(folder)._with_sessions(where, folder)
        scenario._where, scenario._folder = where, folder
        return scenario

    def _with_traces(self, folder: Path) -> Scenario:
        """The same with the packets of the traces that it names: it no longer depends on their files."""
        flows = self.traffic.flows or []
        if not any(isinstance(flow, TraceFlow) and flow.file for flow in flows):
            return self
        read = [flow.read(folder) if isinstance(flow, TraceFlow) else flow for flow in flows]
        return self.model_copy(update={"traffic": self.traffic.model_copy(update={"flows": read})})

    def _with_sessions(self, where: str, folder: Path) -> Scenario:
        """The same with its Web sessions read from their file, or the parameters that draw them checked."""
        if self.traffic.web is None:
            return self
        read = {"web": web.given(self.traffic.web, where, folder)}
        return self.model_copy(update={"traffic": self.traffic.model_copy(update=read)})

    @classmethod
    def load(cls, path: str | Path, changes: Mapping[str, Any] | None = None) -> Scenario:
        """A scenario from a TOML file.

        Args:
            path: The file. Names of files within it start from its folder.
            changes: Keys that replace the file's; of a section of parameters, only the parameters named.

        Raises:
            InputError: The file cannot be read or does not hold a scenario.
        """
        import tomllib

        path = Path(path)
        content = read_bytes(path, "scenario file")
        try:
            data = tomllib.loads(content.decode("utf-8"))
        except UnicodeDecodeError as error:
            hint = "is this a scenario at all?"
            raise InputError(
                "the scenario file is not text", str(path), str(error), "TOML in UTF-8", hint
            ) from None
        except (ValueError, RecursionError) as error:
            # A plain ValueError is Python's, of a number with thousands of digits.
            hint = "ns-2 files are given with --movement and --traffic"
            raise InputError("the scenario file is not TOML", str(path), str(error), "TOML", hint) from None
        return cls.build(merged(data, changes or {}), str(path), path.parent)

    def changed(self, **changes: Any) -> Scenario:
        """The same scenario with other values for some of its fields.

        A section of parameters changes only the parameters that it names.

        Raises:
            InputError: A field is unknown, or a value is not allowed.
        """
        data = self.model_dump(exclude_unset=True)
        return Scenario.build(merged(data, changes), self._where, self._folder)

    @property
    def can_be_drawn_badly(self) -> bool:
        """Whether a seed can draw what cannot be used although another seed's draw can."""
        hops = self.traffic.random and self.traffic.random.cbr_within_hops
        return self.movement.waypoint is not None and hops is not None

    @property
    def is_drawn(self) -> bool:
        """Whether movement or traffic depend on the seed, so that each replication has its own."""
        sessions_drawn = self.traffic.web is not None and web.SESSIONS not in self.traffic.web
        drawn = self.movement.waypoint is not None or self.traffic.random is not None
        return drawn or sessions_drawn

    @property
    def alike(self) -> Scenario:
        """The same for all scenarios that differ in nothing but seed and replication."""
        return self.model_copy(update={"seed": 0, "replication": 0})

    @property
    def files(self) -> list[Path]:
        """The files that the movement and the traffic are read from."""
        named = (self.movement.file, self.traffic.file)
        return [self._folder / name for name in named if name is not None]

    @property
    def where(self) -> str:
        """What errors name as their place."""
        return self._where

    @property
    def place_of_flows(self) -> str:
        """What errors about flows name as their place."""
        return str(self._folder / self.traffic.file) if self.traffic.file else self._where

    @property
    def is_in_python(self) -> bool:
        """Whether the routing protocol is written in Python."""
        return is_in_python(self)

    def section(self, name: str) -> Section:
        """The changed parameters of a section."""
        section: Section = getattr(self, name)
        return section

    def as_scenario(self) -> Scenario:
        """The scenario itself."""
        return self

    def resolve(self) -> Resolved:
        """The complete scenario: every parameter's value, every flow, the movement.

        Raises:
            InputError: A file cannot be used, or a name or a value is not allowed.
        """
        return resolve(self)

    def set_by(self, section: str, name: str) -> str:
        """What gives a parameter its value: the profile, a named set, or the scenario itself."""
        return set_by(self, section, name)

    def make_movement(self) -> _core.Movement:
        """Where the nodes start and go.

        Raises:
            InputError: The file cannot be used, or a parameter is not allowed.
        """
        source = self.movement
        if source.file is not None:
            return read_movement(self._folder / source.file)
        if source.waypoint is not None:
            checked = parameters.check_waypoint(source.waypoint, self._where)
            return _core.Movement.waypoint(json.dumps(checked), self.duration_s, self.seed, self.replication)
        if source.chain is not None:
            return _core.Movement.grid(source.chain.nodes, 1, source.chain.spacing_m)
        if source.grid is not None:
            return _core.Movement.grid(source.grid.columns, source.grid.rows, source.grid.spacing_m)
        assert source.positions is not None
        return _core.Movement.fixed(source.positions)

    def make_flows(self, movement: _core.Movement, radio: Section) -> list[dict[str, Any]]:
        """All flows; Web sessions come last, so that they change no other flow's number.

        Args:
            movement: Where the nodes are.
            radio: The parameters of the radio, of which random traffic may depend.

        Raises:
            InputError: The file cannot be used, or the flows cannot be drawn.
        """
        flows = self._flows_but_web(movement, radio)
        if self.traffic.web is None:
            return flows
        streams = (self.seed, self.replication)
        return flows + web.flows(self.traffic.web, movement.nodes, self.warmup_s, streams)

    def _flows_but_web(self, movement: _core.Movement, radio: Section) -> list[dict[str, Any]]:
        source = self.traffic
        if source.file is not None:
            return read_flows(self._folder / source.file)
        if source.random is not None:
            drawn = traffic.Pattern(**source.random.model_dump())
            times = (self.warmup_s, self.duration_s)
            streams = (self.seed, self.replication)
            return traffic.draw(drawn, movement, radio, times, streams, self._where)
        return [_core_form(flow) for flow in source.flows or []]


def _core_form(flow: AnyFlow) -> dict[str, Any]:
    """A flow as the simulator takes it; a trace has been read."""
    return flow.model_dump(exclude={"file"} if isinstance(flow, TraceFlow) else None)


def _clear(error: ValidationError, where: str) -> InputError:
    """The first of pydantic's complaints, in manetlab's form; a misspelt key explains what is missing."""
    complaints = error.errors()
    first = next((each for each in complaints if each["type"] == "extra_forbidden"), complaints[0])
    path = first["loc"]
    field = ".".join(str(part) for part in path)
    place = f"{where}: {field}" if field else where
    hint = _explanation(path)
    match first["type"]:
        case "extra_forbidden":
            *parents, key = (str(part) for part in path)
            return parameters.unknown("key", key, _model_at(parents).model_fields, place)
        case "value_error" if path[:-1] and path[-1] in FLOWS and "destination" in first["msg"]:
            hint = "a flow goes from one node to another"
        case "missing" if isinstance(path[-1], str):
            return InputError("a needed value is missing", place, "nothing", f"a value for {field}", hint)
    found = shown(first["input"]) if first["type"] != "missing" else "nothing"
    return InputError("the value is not allowed", place, found, _wanted(first), hint)


def _wanted(complaint: ErrorDetails) -> str:
    """What would have been right, in manetlab's words."""
    path, about = complaint["loc"], complaint.get("ctx", {})
    match complaint["type"]:
        case _ if path[-2:-1] == ("flows",):
            return "kind = " + " or ".join(f'"{kind}"' for kind in FLOWS)
        case "model_type" | "model_attributes_type" | "dict_type":
            fields = _model_at([str(part) for part in path]).model_fields
            is_section = bool(path) and path[-1] in (*parameters.sections(), "waypoint", "web")
            return "a table of parameters" if is_section else "a table with " + ", ".join(fields)
        case "tuple_type" | "missing":
            return "a place [x, y] in m"
        case "too_short" | "too_long" if "positions" in path[:-1]:
            return "a place [x, y] in m"
        case "too_short":
            return f"at least {about['min_length']}"
    named = {
        "bool_type": "true or false",
        "finite_number": "a finite number",
        "float_type": "a number",
        "int_type": "a whole number",
        "list_type": "a list",
        "string_type": "text",
    }
    message = complaint["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return named.get(complaint["type"], message)


def _explanation(path: tuple[int | str, ...]) -> str:
    """What the documentation of the model says of the field at the end of ``path``."""
    names = [str(part) for part in path if isinstance(part, str)]
    if not names:
        return "see `manetlab run --help`"
    text = inspect.getdoc(_model_at(names[:-1])) or ""
    found = re.search(rf"^    {re.escape(names[-1])}: (.*(?:\n     .*)*)", text, re.MULTILINE)
    return " ".join(found[1].split()) if found else f"see the fields of {names[0]}"


def _model_at(names: Sequence[str]) -> type[BaseModel]:
    """The model that is found by following these keys from the scenario."""
    nested: dict[str, type[BaseModel]] = {
        "movement": MovementSource,
        "traffic": TrafficSource,
        "chain": Chain,
        "grid": Grid,
        "random": RandomTraffic,
        "cycles": WebCycle,
        **FLOWS,
    }
    return next((nested[name] for name in reversed(names) if name in nested), Scenario)
