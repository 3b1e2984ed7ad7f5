"""From a script of ns-2 to a scenario.

The script is evaluated (`_core.read_script`): what comes out is what it says to which object, when and on
which line. Here that becomes movement, flows and parameters. What has no counterpart is listed; it is an
error where results would change without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from manetlab import _core, ns2_terms
from manetlab.errors import InputError
from manetlab.files import printable, read_bytes
from manetlab.origin import Origin

MOST_FILES = 50
"""The maximum number of files that a script sources."""

_UNITS = {"": 1.0, "s": 1.0, "b": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_UNITS |= {
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
    "kb": 1e3,
    "mb": 1e6,
    "gb": 1e9,
    "kbps": 1e3,
    "mbps": 1e6,
    "bps": 1.0,
}


class Call(NamedTuple):
    """What the script says to an object or a class."""

    file: int
    line: int
    at_s: float | None
    object: int | None
    kind: str
    words: list[str]
    made: int | None


@dataclass
class Imported:
    """A scenario that a script asks for.

    Attributes:
        data: The scenario, without its movement where nodes move.
        movement: Where the nodes start and go.
        notes: What is left out, with its line, and changes no result.
        unknown: What has no counterpart here although results depend on it, with its line.
        files: The files that it sources.
        where: The script.
    """

    data: dict[str, Any]
    movement: _core.Movement
    notes: list[str]
    unknown: list[str]
    files: list[str]
    where: str

    def check(self) -> None:
        """Checks that all that results depend on has a counterpart.

        Raises:
            InputError: Something has none.
        """
        if not self.unknown:
            return
        first, *rest = self.unknown
        more = f", and {len(rest)} more" if rest else ""
        raise InputError(
            "parts of the script have no counterpart here",
            self.where,
            first + more,
            "a script of which all that results depend on is simulated here",
            "`manetlab scenario import SCRIPT.tcl --anyway` lists all of them and leaves them out",
        )


def read(
    path: Path, arguments: Sequence[str] = (), duration_s: float | None = None, origin: Origin | None = None
) -> Imported:
    """What a script asks for.

    Args:
        path: The script. Files that it sources are looked for in its folder.
        arguments: Those of the command line, ``$argv``.
        duration_s: When the run ends; None: as the script says.
        origin: What the script may read; None: what is in its folder.

    Raises:
        InputError: It cannot be evaluated, has no nodes, or does not say when it ends.
    """
    where = printable(path)
    found, movement = evaluated(read_bytes(path, "script"), where, arguments, origin or Origin(path.parent))
    if movement is None:
        if not found["ran"]:
            raise _ended_early(where)
        hint = "wired networks are not simulated; see `manetlab docs bring-your-own`"
        raise InputError("the script makes no nodes", where, "no `$ns node`", "mobile nodes", hint)
    return _Reading(where, found).imported(movement, duration_s)


def _ended_early(where: str) -> InputError:
    """What is said of a script that ends before it runs, as scripts do that miss an argument."""
    hint = 'does it print how it is called? then give its arguments: --arguments "…"'
    return InputError("the script ends before it runs", where, "no `$ns run`", "a script that runs", hint)


def movement_of(content: bytes, where: str, origin: Origin) -> _core.Movement:
    """Where the nodes of a script start and go.

    Raises:
        InputError: It cannot be evaluated, or has no nodes.
    """
    movement = evaluated(content, where, (), origin)[1]
    if movement is None:
        raise InputError(
            "the script makes no nodes", where, "no `$ns node`", "mobile nodes", "is it of a wired network?"
        )
    return movement


def evaluated(
    content: bytes, where: str, arguments: Sequence[str], origin: Origin
) -> tuple[dict[str, Any], _core.Movement | None]:
    """What a script says, and the movement of its nodes.

    Raises:
        InputError: It cannot be evaluated, or a file that it sources cannot be read.
    """
    files: dict[str, bytes] = {}
    while True:
        said, movement, missing = _core.read_script(content, where, files, list(arguments))
        if said is not None:
            found: dict[str, Any] = json.loads(said)
            return found, movement
        assert missing is not None
        name, error = missing
        if len(files) == MOST_FILES:
            raise InputError("the script sources too many files", where, name, f"at most {MOST_FILES}", "")
        # A file by the same name beside the script is what is meant by a path of another machine.
        candidates = [*([] if Path(name).is_absolute() else [name]), Path(name).name]
        there = next((each for each in candidates if origin.path(each).is_file()), None)
        if there is None:
            raise error
        files[name] = origin.read(there, "file that the script sources")


@dataclass
class _App:
    kind: str
    agent: int | None = None
    rate_bps: float | None = None
    attributes: dict[str, tuple[str, int]] = field(default_factory=dict)
    events: list[tuple[float, str, list[str], str]] = field(default_factory=list)


class _Reading:
    """A script's calls on their way to a scenario."""

    def __init__(self, where: str, found: Mapping[str, Any]) -> None:
        self.where = where
        self.found = found
        self.calls = [Call(*call) for call in found["calls"]]
        self.number = {node: number for number, node in enumerate(found["nodes"])}
        self.notes: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self.kinds: dict[int, str] = {}
        self.classes: dict[tuple[str, str], tuple[str, str]] = {}
        self.own: dict[tuple[int, str], tuple[str, str]] = {}
        self.config: dict[str, tuple[str, str]] = {}
        self.node_config: dict[str, tuple[str, str]] | None = None
        self.on_node: dict[int, int] = {}
        self.peer: dict[int, int] = {}
        self.apps: dict[int, _App] = {}
        self.fields: dict[str, Any] = {}
        self.senders: dict[str, str] = {}

    def place(self, call: Call) -> str:
        """Where a call stands, for lists."""
        if call.file == 0:
            return f"line {call.line}"
        return f"{self.found['files'][call.file - 1]} line {call.line}"

    def note(self, place: str, what: str) -> None:
        self.notes.setdefault(f"{place}: {what}")

    def has_none(self, place: str, what: str) -> None:
        """Something that results depend on has no counterpart."""
        self.unknown.setdefault(f"{place}: {what}")

    def imported(self, movement: _core.Movement, duration_s: float | None) -> Imported:
        for file, line, about in self.found["notes"]:
            self.note(self.place(Call(file, line, None, None, "", [], None)), about)
        for call in self.calls:
            self._take(call)
        end_s = self._duration(duration_s)
        self._nodes(end_s)
        flows = list(self._flows(end_s))
        self._parameters()
        data: dict[str, Any] = {"duration_s": end_s, "profile": "ns-2.35", **_tree(self.fields)}
        if movement.last_command_s == 0 and not (movement.has_heights or movement.has_presence):
            data["movement"] = {"positions": [list(place) for place in movement.positions(0.0)]}
        data["traffic"] = {"flows": flows}
        return Imported(data, movement, list(self.notes), list(self.unknown), self.found["files"], self.where)

    def _duration(self, given_s: float | None) -> float:
        end_s = given_s if given_s is not None else self.found["ended_s"]
        if end_s is not None and end_s > 0:
            return float(end_s)
        if not self.found["ran"] and given_s is None:
            raise _ended_early(self.where)
        hint = "give --duration; ns-2 would not end either"
        raise InputError(
            "the script does not say when it ends",
            self.where,
            "no `$ns halt` or `exit` at a time",
            "one",
            hint,
        )

    # What is said, call by call.

    def _take(self, call: Call) -> None:
        verb, rest = call.words[0], call.words[1:]
        if call.kind == "Simulator":
            self._simulator(call, verb, rest)
        elif verb == "new" and call.object is None and call.made is not None:
            self.kinds[call.made] = call.kind
            if call.kind.startswith("Application/"):
                self.apps[call.made] = _App(call.kind)
        elif call.object is None:
            self._class(call, verb, rest)
        elif call.kind == "Node":
            self._node(call, verb, rest)
        elif call.kind.startswith("Agent/"):
            self._agent(call, verb, rest)
        elif call.kind.startswith("Application/"):
            self._app(call, verb, rest)
        elif call.kind == "RoutingAgent":
            self.has_none(self.place(call), f"the routing protocol is told {' '.join(call.words)}")
        elif verb == "set" and len(rest) == 2:
            self.own[call.object, rest[0]] = (rest[1], self.place(call))

    def _simulator(self, call: Call, verb: str, rest: list[str]) -> None:
        place = self.place(call)
        if verb == "node-config":
            self._configure(rest, place)
        elif verb == "node":
            self._add_node(place)
        elif verb == "attach-agent" and len(rest) == 2:
            node, agent = (_object(word) for word in rest)
            if node in self.number and agent is not None:
                self.on_node[agent] = self.number[node]
        elif verb == "connect" and len(rest) == 2:
            self._connect(*(_object(word) for word in rest))
        elif verb == "create-connection" and len(rest) >= 4 and call.made is not None:
            # The sink has no name: it is numbered from below.
            source, sink = call.made, -call.made - 1
            self.kinds[source], self.kinds[sink] = f"Agent/{rest[0]}", f"Agent/{rest[2]}"
            for agent, word in ((source, rest[1]), (sink, rest[3])):
                node = _object(word)
                if node in self.number:
                    self.on_node[agent] = self.number[node]
            self._connect(source, sink)
        elif verb not in ns2_terms.SAYS_NOTHING["Simulator"] and verb != "new":
            self.has_none(place, f"$ns {' '.join(call.words)[:60]}")

    def _connect(self, first: int | None, second: int | None) -> None:
        if first is not None and second is not None:
            self.peer[first], self.peer[second] = second, first

    def _configure(self, words: list[str], place: str) -> None:
        for option, value in zip(words[::2], words[1::2], strict=False):
            self.config[option.removeprefix("-")] = (value, place)

    def _add_node(self, place: str) -> None:
        relevant = {name: value for name, value in self.config.items() if not ns2_terms.changes_nothing(name)}
        if self.node_config is None:
            self.node_config = relevant
        elif {k: v[0] for k, v in relevant.items()} != {k: v[0] for k, v in self.node_config.items()}:
            changed = [k for k in relevant if self.node_config.get(k, ("", ""))[0] != relevant[k][0]]
            self.has_none(place, f"a node of another kind: -{', -'.join(changed or ['…'])} differ")

    def _class(self, call: Call, verb: str, rest: list[str]) -> None:
        place = self.place(call)
        if verb == "set" and len(rest) == 2:
            self.classes[call.kind, rest[0]] = (rest[1], place)
        elif call.kind not in ("Trace", "Simulator", "God", "Node"):
            self.has_none(place, f"{call.kind} {' '.join(call.words)[:60]}")

    def _node(self, call: Call, verb: str, rest: list[str]) -> None:
        place = self.place(call)
        if verb == "random-motion":
            if rest[:1] not in (["0"], ["off"]):
                self.has_none(place, "random motion, which ns-2 draws while it runs")
        elif verb not in ns2_terms.SAYS_NOTHING["Node"]:
            self.has_none(place, f"$node {' '.join(call.words)[:60]}")

    def _agent(self, call: Call, verb: str, rest: list[str]) -> None:
        assert call.object is not None
        place = self.place(call)
        self.kinds.setdefault(call.object, call.kind)
        if verb in ("attach-app", "attach-source") and call.made is not None:
            self.apps[call.made] = _App(f"Application/{rest[0]}", call.object)
        elif verb == "set" and len(rest) == 2:
            self.own[call.object, rest[0]] = (rest[1], place)
        elif verb in (
            "attach",
            "trace",
            "tracevar",
            "attach-trace",
            "namattach",
            "add-var-trace",
            "add-agent-trace",
        ):
            pass
        elif call.at_s is not None or verb in ("send", "sendmsg", "start", "advance", "advanceby"):
            if verb == "send" and call.kind.startswith("Agent/TCP") and rest and rest[0].isdigit():
                app = _App("Application/FTP", call.object)
                app.events.append((call.at_s or 0.0, "send", rest, place))
                self.apps[-1000 - len(self.apps)] = app
            elif verb not in ("clear", "reset"):
                self.has_none(place, f"the agent {call.kind} is told {' '.join(call.words)[:60]}")

    def _app(self, call: Call, verb: str, rest: list[str]) -> None:
        assert call.object is not None
        place = self.place(call)
        app = self.apps.setdefault(call.object, _App(call.kind))
        if verb == "attach-agent" and rest:
            app.agent = _object(rest[0])
        elif verb == "set" and len(rest) == 2:
            app.attributes[rest[0]] = (rest[1], call.line)
            self.own[call.object, rest[0]] = (rest[1], place)
            if rest[0] == "interval_" and (interval_s := self._value(rest[1], place)):
                # To ns-2 an interval means a rate at the packet size that holds at this line.
                app.rate_bps = self._size(call.object, app, place) * 8 / interval_s
            elif rest[0] == "rate_":
                app.rate_bps = self._value(rest[1], place)
        elif verb in ("start", "stop", "produce", "producemore", "send"):
            app.events.append((call.at_s or 0.0, verb, rest, place))
        elif verb not in ("reset", "set"):
            self.has_none(place, f"the application {call.kind} is told {' '.join(call.words)[:60]}")

    # What it adds up to.

    def _value(self, text: str, place: str) -> float:
        """A number with ns-2's units."""
        if (flag := text.strip().lower()) in ("true", "false"):
            return float(flag == "true")
        found = re.fullmatch(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zA-Z/]*)\s*", text)
        try:
            if found and (unit := _UNITS.get(found[2].lower())) is not None:
                # MB is a million bytes to ns-2.
                return float(found[1]) * unit * (8 if found[2].endswith("B") else 1)
        except ValueError:
            pass
        self.has_none(place, f"`{text[:40]}` is not a number")
        return 0.0

    def _attribute(self, obj: int, kind: str, name: str) -> tuple[str, str] | None:
        """The value of a variable: the object's, its class's, or one of a class above."""
        if (own := self.own.get((obj, name))) is not None:
            return own
        parts = kind.split("/")
        for length in range(len(parts), 0, -1):
            above = "/".join(parts[:length])
            if (given := self.classes.get((above, name))) is not None:
                return given
            if (default := ns2_terms.DEFAULTS.get((above, name))) is not None:
                return default, ""
        return None

    def _number(self, obj: int, kind: str, name: str) -> float | None:
        given = self._attribute(obj, kind, name)
        return None if given is None else self._value(*given)

    def _size(self, obj: int, app: _App, place: str) -> float:
        del place
        return self._number(obj, app.kind, "packetSize_") or 0.0

    def _nodes(self, end_s: float) -> None:
        config = self.node_config or {}
        routing, place = config.get("adhocRouting", ("", "the script"))
        if routing.lower() in _core.routings():
            self.fields["routing"] = routing.lower()
        elif routing:
            self.has_none(place, f"the routing protocol {routing}")
        else:
            self.note(place, "it sets no routing protocol (-adhocRouting); AODV is taken")
        for option, (value, place) in config.items():
            if option in ns2_terms.CLASSES:
                if value not in ns2_terms.CLASSES[option]:
                    self.has_none(place, f"-{option} {value}")
            elif option == "propInstance":
                kind = self.kinds.get(_object(value) or -1, value)
                if kind not in ns2_terms.CLASSES["propType"]:
                    self.has_none(place, f"-propInstance {kind}")
            elif option == "ifqType":
                if value not in ns2_terms.QUEUES:
                    self.has_none(place, f"-ifqType {value}")
                for key, held in ns2_terms.QUEUES.get(value, {}).items():
                    self.fields[f"queue.{key}"] = held
            elif option == "ifqLen":
                # ns-2's queue refuses a packet when it would become that long.
                self.fields["queue.packets"] = max(1, round(self._value(value, place)) - 1)
            elif option in ("wiredRouting", "mobileIP"):
                if value.upper() == "ON":
                    self.has_none(place, f"-{option} ON")
            elif option.lower() in ("incomingerrproc", "outgoingerrproc") and value:
                self.has_none(place, f"-{option}: losses of a model")
            elif option != "adhocRouting" and not ns2_terms.changes_nothing(option):
                self.has_none(place, f"-{option} {value}")
        self._energy(end_s)

    def _energy(self, end_s: float) -> None:
        """A battery changes nothing unless it can run out."""
        if "energyModel" not in self.config or not self.config["energyModel"][0]:
            return
        place = self.config["energyModel"][1]
        given = {
            name: self._value(*self.config[name])
            for name in ns2_terms.ENERGY & set(self.config)
            if name != "energyModel"
        }
        most_w = max(
            [given.get("rxPower", 0.2818), given.get("txPower", 0.2818), given.get("idlePower", 0.0)]
        )
        if given.get("initialEnergy", 0.0) <= most_w * end_s:
            self.has_none(place, "batteries, which can run out in this run")
        else:
            self.note(place, "batteries do not run out in this run and are left out")

    def _flows(self, end_s: float) -> Iterator[dict[str, Any]]:
        for number, app in self.apps.items():
            started = [event for event in app.events if event[1] not in ns2_terms.STOPS]
            if not started:
                continue
            place = started[0][3]
            ends = self._ends(app, place)
            if ends is None:
                continue
            for at_s, verb, rest, place in started:
                stops = [each[0] for each in app.events if each[1] in ns2_terms.STOPS and each[0] > at_s]
                times: dict[str, Any] = {"src": ends[0], "dst": ends[1], "start_s": at_s}
                if stops and min(stops) < end_s:
                    times["stop_s"] = min(stops)
                if at_s >= end_s:
                    self.note(place, f"a flow that begins at {at_s:g} s, after the end, is left out")
                    continue
                if (flow := self._flow(number, app, verb, rest, place)) is not None:
                    yield {"kind": flow.pop("kind"), **times, **flow}

    def _ends(self, app: _App, place: str) -> tuple[int, int] | None:
        """Source and destination of an application."""
        agent = app.agent
        peer = None if agent is None else self.peer.get(agent)
        if agent is None or peer is None:
            self.has_none(
                place, f"an application without {'an agent' if agent is None else 'a peer'} is started"
            )
            return None
        ends = self.on_node.get(agent), self.on_node.get(peer)
        if ends[0] is None or ends[1] is None:
            self.has_none(place, "an agent that is on no node")
            return None
        if ends[0] == ends[1]:
            self.note(place, "a flow from a node to itself is left out")
            return None
        kind, sink = self.kinds.get(agent, ""), self.kinds.get(peer, "")
        if kind in ns2_terms.SENDERS and sink in ns2_terms.TCP_SINKS:
            self._tcp(agent, kind, sink, place)
            return ends[0], ends[1]
        if kind == "Agent/UDP" and sink in ns2_terms.UDP_SINKS:
            return ends[0], ends[1]
        self.has_none(place, f"{kind or 'an agent'} to {sink or 'no agent'}")
        return None

    def _tcp(self, agent: int, kind: str, sink: str, place: str) -> None:
        """Parameters that a scenario has for all TCP flows."""
        wanted: dict[str, Any] = {
            "tcp.sender": ns2_terms.SENDERS[kind],
            "tcp.delayed_ack": ns2_terms.TCP_SINKS[sink],
        }
        for name, term in ns2_terms.TCP.items():
            if (value := self._number(agent, kind, name)) is not None:
                wanted[term.fields[0]] = term.convert(value)
        for name, value in wanted.items():
            if self.fields.setdefault(name, value) != value:
                self.has_none(
                    place, f"TCP flows of several kinds: {name} = {value} here, {self.fields[name]} before"
                )

    def _flow(self, number: int, app: _App, verb: str, rest: list[str], place: str) -> dict[str, Any] | None:
        agent = app.agent
        assert agent is not None
        kind = self.kinds.get(agent, "")
        if app.kind == "Application/FTP" and kind in ns2_terms.SENDERS:
            return self._transfer(number, app, agent, kind, verb, rest, place)
        known = {"Application/Traffic/CBR", "Application/Traffic/Exponential", "Application/Traffic/Pareto"}
        if app.kind not in known or verb != "start":
            self.has_none(place, f"{app.kind} {verb}")
            return None
        size = round(self._size(number, app, place))
        rate_bps = app.rate_bps or self._class_rate(app, size)
        if not size or not rate_bps:
            self.has_none(place, "packets without a length or a rate")
            return None
        made: dict[str, Any] = {"bytes": size, "interval_s": size * 8 / rate_bps}
        if kind == "Agent/UDP" and size > (self._number(agent, kind, "packetSize_") or 1000):
            self.note(place, f"packets of {size} bytes are one datagram here; ns-2 sends several")
        if app.kind == "Application/Traffic/CBR":
            if kind != "Agent/UDP":
                self.has_none(place, "CBR over TCP")
                return None
            made |= {"random": True} if self._number(number, app.kind, "random_") else {}
            most = self._number(number, app.kind, "maxpkts_")
            # ns-2's default is the greatest number that there is.
            made |= {"max_packets": round(most)} if most and most < 2**28 else {}
            return {"kind": "cbr", **made}
        made |= {
            "on_s": self._number(number, app.kind, "burst_time_"),
            "off_s": self._number(number, app.kind, "idle_time_"),
        }
        if app.kind.endswith("Pareto"):
            made |= {"durations": "pareto", "shape": self._number(number, app.kind, "shape_")}
        return {"kind": "on-off", "transport": "udp" if kind == "Agent/UDP" else "tcp", **made}

    def _class_rate(self, app: _App, size: int) -> float:
        """The rate of a source that sets none itself."""
        if (interval := self.classes.get((app.kind, "interval_"))) is not None:
            return size * 8 / (self._value(*interval) or 1.0)
        return self._number(-1, app.kind, "rate_") or 0.0

    def _transfer(
        self, number: int, app: _App, agent: int, kind: str, verb: str, rest: list[str], place: str
    ) -> dict[str, Any]:
        made: dict[str, Any] = {"kind": "tcp"}
        segment = self._number(agent, kind, "packetSize_") or 1000.0
        made["segment_bytes"] = round(segment)
        if (window := self._number(agent, kind, "window_")) is not None:
            made["window"] = round(window)
        packets = self._number(number, app.kind, "maxpkts_") if verb == "start" else None
        if verb in ("produce", "producemore") and rest:
            packets = self._value(rest[0], place)
        if packets:
            made["bytes"] = round(packets * segment)
        elif verb == "send" and rest:
            made["bytes"] = round(self._value(rest[0], place))
        return made

    def _parameters(self) -> None:
        """What classes are told, as parameters."""
        # ns-2.35's own default; the profile has that of the scripts of CMU.
        self.fields.setdefault("mac.data_rate_bps", 1e6)
        preamble: dict[str, float] = {}
        for (kind, name), (value, place) in self.classes.items():
            term = ns2_terms.PARAMETERS.get((kind, name))
            if term is not None:
                number = term.convert(self._value(value, place))
                self.fields |= dict.fromkeys(term.fields, number)
            elif kind == "Mac/802_11" and name in ("PreambleLength_", "PLCPHeaderLength_"):
                preamble[name] = self._value(value, place)
            elif name == "Prefer_Routing_Protocols":
                if not self._value(value, place):
                    self.fields["queue.routing_priority"] = "none"
            elif not self._is_silent(kind, name):
                self.has_none(place, f"{kind} set {name} {value}")
        if preamble:
            bits = preamble.get("PreambleLength_", 144) + preamble.get("PLCPHeaderLength_", 48)
            self.fields["mac.plcp_bits"] = round(bits)
        for (obj, name), (value, place) in self.own.items():
            kind = self.kinds.get(obj, "")
            if kind in ns2_terms.SENDERS and not self._is_silent(kind, name) and obj in self.peer:
                self.has_none(place, f"{kind} set {name} {value}")

    def _is_silent(self, kind: str, name: str) -> bool:
        """Whether a variable has been read elsewhere, or changes nothing."""
        if name in ns2_terms.LABELS or (kind, name) in ns2_terms.UNUSED:
            return True
        if kind.startswith(
            ("Trace", "Simulator", "Node", "God", "Topography", "RandomVariable", "RNG", "Channel")
        ):
            return True
        if kind.startswith("Agent/TCP"):
            return name in ns2_terms.TCP or name in ("window_", "packetSize_", "interval_", "maxSackBlocks_")
        read = (
            "packetSize_",
            "interval_",
            "rate_",
            "random_",
            "maxpkts_",
            "burst_time_",
            "idle_time_",
            "shape_",
        )
        return kind.startswith(("Application/", "Agent/UDP")) and name in read


def _object(word: str) -> int | None:
    """The object that a word names."""
    return int(word[2:]) if re.fullmatch(r"_o\d{1,7}", word) else None


def _tree(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by dotted names as tables."""
    made: dict[str, Any] = {}
    for name, value in fields.items():
        section, dot, key = name.partition(".")
        if dot:
            made.setdefault(section, {})[key] = value
        else:
            made[name] = value
    return made
