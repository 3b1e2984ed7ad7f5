"""Which modules of the simulator a scenario uses, each with the digest of its source.

The compiled core knows the digests of its modules: of what the compiler sees of them, without comments,
documentation and tests. A *unit* is a group of modules that a scenario uses together or not at all. Whatever
is not in `OPTIONAL` counts for every scenario, so that a module which is new cannot be forgotten.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from manetlab import _core

if TYPE_CHECKING:
    from manetlab.resolving import Resolved

DIGITS = 16
"""Hexadecimal digits of a digest."""


@dataclass(frozen=True)
class Use:
    """What of a scenario decides which modules it uses.

    Attributes:
        routing: The routing protocol.
        kinds: The kinds of its flows.
        carriers: What carries the messages of its flows.
        congestion: The congestion control of its TCP senders; empty without TCP.
        route_failure: How its TCP senders treat route failures; empty without TCP.
        drawn: What is drawn from its seed: ``waypoint``, ``areas``, ``random``, ``web`` and, where paths keep
            their hops, ``hops``.
        path_hops: Whether the flows' shortest paths are measured.
        throttled: Whether sources throttle their flows.
    """

    routing: str
    kinds: frozenset[str]
    carriers: frozenset[str]
    congestion: str
    route_failure: str
    drawn: frozenset[str]
    path_hops: bool = False
    throttled: bool = False

    @classmethod
    def of(cls, resolved: Resolved) -> Use:
        """That of a resolved scenario."""
        kinds = frozenset(flow["kind"] for flow in resolved.flows)
        carriers = frozenset(flow["transport"] for flow in resolved.flows if "transport" in flow)
        tcp = resolved.params["tcp"]
        has_tcp = bool(kinds & {"tcp", "web"}) or "tcp" in carriers
        movement, source = resolved.scenario.movement, resolved.scenario.traffic
        areas = movement.areas
        drawn = {
            # Nodes that move within areas walk as random waypoint has it.
            "waypoint": movement.waypoint is not None or (areas is not None and areas.speed_mps > 0),
            "areas": areas is not None,
            "random": source.random is not None,
            "hops": source.random is not None and source.random.hops is not None,
            "web": source.web is not None,
        }
        return cls(
            resolved.core["routing"],
            kinds,
            carriers,
            str(tcp["variant"]) if has_tcp else "",
            str(tcp["route_failure"]) if has_tcp else "",
            frozenset(name for name, is_drawn in drawn.items() if is_drawn),
            bool(resolved.params["network"]["measure_path_hops"]),
            resolved.params["throttle"]["mode"] != "off",
        )

    @property
    def tcp(self) -> bool:
        """Is there a TCP connection?"""
        return bool(self.congestion)

    @property
    def adp(self) -> bool:
        """Is there a flow over ADP?"""
        return "adp" in self.kinds or bool(self.carriers & {"adp", "rtp-adp"})

    @property
    def rtp(self) -> bool:
        """Is there a flow over RTP?"""
        return bool(self.carriers & {"rtp-udp", "rtp-adp"})

    @property
    def udp(self) -> bool:
        """Are there messages over UDP?"""
        return bool(self.carriers & {"udp", "rtp-udp"})

    @property
    def sections(self) -> frozenset[str]:
        """The sections of parameters that only some scenarios use, and this one does."""
        used = {
            "tcp": self.tcp,
            "adp": self.adp,
            "rtp": self.rtp,
            "video": "video" in self.kinds,
            "dsr": self.routing == "tsr",
            "throttle": self.throttled,
            self.routing: True,
        }
        return frozenset(name for name, is_used in used.items() if is_used)


Condition = Callable[[Use], bool]


def _routed(name: str) -> Condition:
    return lambda use: use.routing == name


def _congestion(name: str) -> Condition:
    return lambda use: use.congestion == name


def _route_failure(name: str) -> Condition:
    return lambda use: use.route_failure == name


def _kind(name: str) -> Condition:
    return lambda use: name in use.kinds


def _drawn(name: str) -> Condition:
    return lambda use: name in use.drawn


def _never(_: Use) -> bool:
    return False


_THROTTLE = ("stage/density", "stage/params", "stage/throttle", "observe/shares")
OPTIONAL: Mapping[str, Condition] = {
    **{
        f"{folder}/{name}": _routed(name)
        for name in ("adv", "aodv", "dsdv", "lunar")
        for folder in ("routing", "wire")
    },
    # TSR is made of DSR's parts, and says in DSR's headers what it adds.
    **{name: lambda use: use.routing in ("dsr", "tsr") for name in ("routing/dsr", "wire/dsr", "wire/tsr")},
    "routing/tsr": _routed("tsr"),
    "routing/flooding": _routed("flooding"),
    "routing/static_routes": _routed("static"),
    "topology": lambda use: use.routing == "static" or use.path_hops or "hops" in use.drawn,
    **{name: _routed("custom") for name in ("wire/custom", "py/routing")},
    **{name: lambda use: use.tcp for name in ("transport/tcp", "flow/connection")},
    # Rules of AODV-UU and TSR ask what a segment is.
    "wire/tcp": lambda use: use.tcp or use.routing in ("aodv", "tsr"),
    **{f"transport/tcp/congestion/{name}": _congestion(name) for name in ("cubic", "tahoe", "vegas")},
    **{
        f"transport/tcp/route_failure/{name.replace('-', '_')}": _route_failure(name)
        for name in ("atcp", "bansal-barua", "elfn", "eln", "none", "tcp-bus", "tcp-door", "tcp-f")
    },
    "stage/tcp_bus": _route_failure("tcp-bus"),
    **{name: lambda use: use.throttled for name in _THROTTLE},
    **{name: lambda use: use.adp for name in ("transport/adp", "wire/adp", "flow/over_adp")},
    # Whatever carries messages may carry them as RTP.
    **{name: lambda use: use.rtp or use.adp or use.udp for name in ("transport/rtp", "wire/rtp", "flow/rtp")},
    "flow/over_udp": lambda use: use.udp,
    "flow/over_tcp": lambda use: "tcp" in use.carriers,
    "flow/transfer": _kind("tcp"),
    **{name: _kind("cbr") for name in ("flow/cbr", "traffic/cbr")},
    **{name: _kind("web") for name in ("flow/web", "traffic/web", "observe/web")},
    "traffic/on_off": _kind("on-off"),
    "traffic/poisson": _kind("poisson"),
    "traffic/trace": _kind("trace"),
    "traffic/video": _kind("video"),
    **{f"mobility/{name}": _drawn(name) for name in ("areas", "waypoint")},
    "py/traffic": lambda use: bool(use.drawn & {"random", "web"}),
    "python/selection": _drawn("hops"),
    "python/traffic": _drawn("random"),
    "python/web": _drawn("web"),
    # A resolved scenario says what these have made of it; or they only show results.
    **dict.fromkeys(("lib", "profile", "py/lib", "py/errors", "py/topology"), _never),
}
"""The units that not every scenario uses, and which do."""
IN_PYTHON = ("selection", "traffic", "web")
"""Modules in Python that draw what a run is; what the others decide is in the resolved scenario."""


@cache
def units() -> dict[str, str]:
    """The digest of each unit of the code that is installed, by name."""
    modules = [*_core.modules(), *((f"python/{name}", _of_python(name)) for name in IN_PYTHON)]
    found: dict[str, list[str]] = {}
    for name, digest in modules:
        found.setdefault(unit_of(name), []).append(f"{name} {digest}")
    return {unit: _digest("\n".join(listed)) for unit, listed in sorted(found.items())}


def unit_of(module: str) -> str:
    """The unit to which a module belongs: the longest of `OPTIONAL` that holds it, or its folder."""
    holding = [unit for unit in OPTIONAL if f"{module}/".startswith(f"{unit}/")]
    return max(holding, key=len) if holding else module.partition("/")[0]


def used_by(resolved: Resolved) -> dict[str, str]:
    """The digests of the units that a resolved scenario uses, by name."""
    use = Use.of(resolved)
    return {unit: digest for unit, digest in units().items() if unit not in OPTIONAL or OPTIONAL[unit](use)}


def unused_sections(resolved: Resolved) -> frozenset[str]:
    """The sections of parameters that a resolved scenario does not use."""
    optional = {"tcp", "adp", "rtp", "video", "throttle", *_core.routings()}
    return frozenset(optional - Use.of(resolved).sections)


def _of_python(name: str) -> str:
    """The digest of a module's syntax tree without documentation."""
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]
    return _digest(ast.dump(tree))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
