"""Draws random scenarios over what a scenario offers: protocols, senders, sources, movement, parameters.

What there is to draw comes from the schemas of parameters and flows, so a new parameter, choice, set,
profile, sender or carrier is drawn without a change here. A new kind of flow needs its lines in
`traffic`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from manetlab import _core, flows, parameters
from manetlab.chain_throughput import packaged
from torture.drawing.fitting import fit, fit_code, values_of
from torture.drawing.movement import Movement
from torture.drawing.state import (
    EXTREME,
    FROM_TABLE,
    LARGE_NODES,
    LARGE_S,
    NEAR,
    NO_TCP,
    Fields,
)
from torture.drawing.surroundings import Surroundings
from torture.drawing.traffic import Traffic, carriers_of, flows_carriers
from torture.relations import RELATIONS

ROUTINGS = [
    *_core.routings(),
    *(f"{routing}:{name}" for routing in _core.routings() for name in _core.routing_sets(routing)),
]
"""Every way to name a routing protocol in Rust."""
IN_PYTHON = ["python:manetlab.examples.flooding.Flooding", "python:manetlab.examples.greedy.Greedy"]
"""Protocols in Python that take packets of any length: a path in a header can make them too long."""
IN_PYTHON_SHARE = 0.01
"""The share of scenarios with such a protocol, which takes ten times as long as one in Rust."""
SENDERS = [*_core.tcp_senders(), NO_TCP]
PAIRS = [(routing, sender) for sender in SENDERS for routing in ROUTINGS]
"""Every protocol with every sender. They come in turns."""
COMMON_SECTIONS = {
    "radio": 1, "mac": 2, "queue": 1, "arp": 1, "network": 1, "tcp": 3, "adp": 1, "psp": 1, "video": 1,
    "rtp": 1, "throttle": 1,
}  # fmt: skip
"""Sections that matter whatever the protocol is, and how often each is chosen, relative to the others."""
OWN_SECTION = 4
"""How often the section of the protocol is chosen, which only its own scenarios have."""
RATES_SHARE = 0.15
"""The share of scenarios in which nodes or links have a rate of their own."""
PLACES_SHARE = 0.25
"""The share of scenarios with a radio of real places: shadows, fading, noise, walls, single radios."""
FAILURES_SHARE = 0.1
"""The share of scenarios in which nodes fail."""
ENERGY_SHARE = 0.1
"""The share of scenarios in which energy is counted."""
THROTTLED_SHARE = 0.3
"""The share of scenarios whose sources are throttled."""
RESERVING_SHARE = 0.1
"""The share of scenarios, among those that may, whose nodes reserve capacity for flows."""
WITHOUT_DCF_SHARE = 0.1
"""The share of scenarios whose stations share the medium by CSMA or FAMA."""
ORACLE_STEPS = 400
"""How often an oracle looks at moving nodes at most: each look takes as long as many events."""
RELATION_SHARE = 0.25
"""The share of scenarios whose run is held against others that ask the same in another way."""


@dataclass(frozen=True)
class Drawn:
    """A scenario, and how it is run.

    Attributes:
        number: Its number, from which it is drawn.
        fields: The fields of the scenario.
        again: What is checked beside one run: nothing (""), "repeated", or "recorded": another run with
            recording and time series.
        series_s: Step of the time series of the recorded run, in s.
        extremes: The parameters that are at an end of their range, as section.name=value.
        carriers: What carries its flows, TCP left out.
        relation: The relation to other runs that is checked, see `relations`; none if empty.
    """

    number: int
    fields: Fields
    again: str
    series_s: float
    extremes: tuple[str, ...]
    carriers: tuple[str, ...]
    relation: str = ""

    @property
    def is_large(self) -> bool:
        """Has it as many nodes and does it last as long as a large one?"""
        return self.number % 2 == 0

    def described(self) -> dict[str, Any]:
        """What is counted of it: its number, its protocol and senders, whether it is large."""
        senders = {self.fields["tcp"]["sender"]} if "sender" in self.fields.get("tcp", {}) else {NO_TCP}
        return {
            "number": self.number,
            "routing": self.fields["routing"],
            "senders": sorted(senders | set(self.carriers)),
            "is_large": self.is_large,
            "again": self.again,
            "relation": self.relation,
            "extremes": self.extremes,
        }


def scenario(number: int) -> Fields:
    """The fields of a random scenario, always the same for the same number."""
    return drawn(number).fields


def drawn(number: int) -> Drawn:
    """A random scenario, always the same for the same number."""
    return _Drawing(number).draw()


class _Drawing(Surroundings, Movement, Traffic):
    """One scenario that is being drawn."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rng = random.Random(number)
        self.large = number % 2 == 0
        self.routing, self.sender = PAIRS[number // 2 % len(PAIRS)]
        if self.rng.random() < IN_PYTHON_SHARE:
            self.routing = self.rng.choice(IN_PYTHON)
        self.profile = self.rng.choice(_core.profiles())
        self.throttled = self._throttle_mode()
        self.row = None
        if self.throttled in FROM_TABLE:
            self.row = self.rng.choice([each for each in packaged().rows if each.traffic == "tcp"])
            self.profile = self.row.profile
        low, high = (LARGE_S, 1.2 * LARGE_S) if self.large else (0.5, 12.0)
        self.duration_s = round(self.rng.uniform(low, high), 3)
        self.extremes = []

    def draw(self) -> Drawn:
        rng = self.rng
        changes = self._changes()
        has_places = rng.random() < PLACES_SHARE
        if has_places:
            changes["radio"] = {**changes.get("radio", {}), **self.places()}
        self._throttle(changes)
        self._share_medium(changes)
        self.values = values_of(self.profile, self.routing, self.sender, changes)
        fit_code(changes, self.values)
        has_rates = rng.random() < RATES_SHARE
        self.range_m = fit(changes, self.values, has_rates)
        warmup_s = round(rng.choice([0.0, 0.0, 0.25, 0.9]) * self.duration_s, 3)
        movement = self.movement()
        fields: Fields = {
            "duration_s": self.duration_s,
            "warmup_s": warmup_s,
            "seed": rng.choice([rng.randrange(10**6), 2**64 - 1]),
            "replication": rng.randrange(4),
            "routing": self.routing,
            "profile": self.profile,
            "movement": movement,
            "traffic": self.traffic(next(iter(movement))),
            **changes,
        }
        if has_rates:
            fields["rates"] = self.rates()
        if has_places and rng.random() < 0.4:
            fields["walls"] = self.walls()
        if has_places and rng.random() < 0.4:
            fields["radios"] = self.radios()
        if rng.random() < FAILURES_SHARE:
            fields["failures"] = self.failures()
        if rng.random() < ENERGY_SHARE:
            fields["energy"] = self.energy()
        tcp = self.values["tcp"]
        splits_web = tcp["base_station"] in ("split", "m-tcp") and "web" in carriers_of(fields["traffic"])
        has_oracle = tcp["route_failure"] == "freeze-tcp" and tcp["freeze_foresight"] == "oracle"
        knows_no_wires = self._measures_paths() or has_oracle or splits_web
        if self.routing == "static" and self.throttled == "off" and not knows_no_wires:
            fields["wired"] = self.wired()
        if self.sender != NO_TCP:
            fields["tcp"] = {"sender": self.sender, **fields.get("tcp", {})}
        self._reserve(fields)
        again = rng.choices(["", "repeated", "recorded"], [7, 2, 1])[0]
        carriers = carriers_of(fields["traffic"])
        series_s = rng.choice([0.1, 1.0, 7.3])
        relation = rng.choice(sorted(RELATIONS)) if rng.random() < RELATION_SHARE else ""
        return Drawn(self.number, fields, again, series_s, tuple(self.extremes), carriers, relation)

    # Parameters.

    def _changes(self) -> dict[str, Fields]:
        """Changed parameters by section."""
        rng = self.rng
        sections = {**COMMON_SECTIONS, self.routing.partition(":")[0]: OWN_SECTION}
        defaults = parameters.profile(self.profile)
        open_to_change = [
            each
            for section in sections
            for each in parameters.schema().get(section, {}).values()
            # The name of the sender would not be true any more.
            if not (section == "tcp" and self.sender != NO_TCP and each.name in _set_by(self.sender))
            and each.key != "throttle.mode"
        ]
        how = rng.choices([None, NEAR, EXTREME], [2, 3, 5])[0]
        if how is None:
            return {}
        count = rng.randint(1, 8) if how == NEAR else rng.randint(1, 4)
        held = sorted({each.section for each in open_to_change})
        drawn = [
            rng.choice([each for each in open_to_change if each.section == section])
            for section in rng.choices(held, [sections[section] for section in held], k=count)
        ]
        found: dict[str, Fields] = {}
        for each in drawn:
            value = self.value(each, defaults[each.section][each.name], how)
            found.setdefault(each.section, {})[each.name] = value
        return found

    def _throttle_mode(self) -> str:
        """Who says how fast sources may send."""
        modes = [mode for mode in parameters.schema()["throttle"]["mode"].choices if mode != "off"]
        return self.rng.choice(modes) if self.rng.random() < THROTTLED_SHARE else "off"

    def _throttle(self, changes: dict[str, Fields]) -> None:
        """Changes what decides about throttling."""
        if self.throttled == "off":
            return
        given = changes.setdefault("throttle", {})
        given["mode"] = self.throttled
        if self.throttled == "preset" and self.rng.random() < 0.5:
            given.setdefault("rate_bps", self.rate_bps())
        if self.throttled == "density" and self.rng.random() < 0.4:
            given["measure_error"] = True
        if "step_s" in given:
            given["step_s"] = max(given["step_s"], self.duration_s / ORACLE_STEPS)
        if self.row is not None:
            # All packets of one size have the row's.
            threshold = parameters.schema()["mac"]["rts_threshold_bytes"].range
            assert threshold is not None
            mac, tcp = changes.setdefault("mac", {}), changes.setdefault("tcp", {})
            mac["data_rate_bps"] = self.row.data_rate_bps
            mac["rts_threshold_bytes"] = int(threshold[0] if self.row.rts else threshold[1])
            tcp["segment_bytes"] = self.row.segment_bytes

    def _share_medium(self, changes: dict[str, Fields]) -> None:
        """Lets stations share the medium by another protocol than the DCF."""
        # Draws of its own: all else of a scenario is as with the DCF.
        rng = random.Random(f"access {self.number}")
        if rng.random() < WITHOUT_DCF_SHARE:
            changes.setdefault("mac", {})["access_protocol"] = rng.choice(["csma", "fama"])
        mac = changes.get("mac", {})
        if mac.get("access_protocol", "dcf") != "dcf":
            # Others are refused with them, and standards bring some along.
            mac |= {"rate_control": "fixed", "protection": "none"}

    def _reserve(self, fields: Fields) -> None:
        """Lets nodes reserve for some of the flows, in scenarios where they may."""
        # Draws of its own: all else of a scenario is as without reservations.
        rng = random.Random(f"reservations {self.number}")
        may_not = "wired" in fields or self.values["tcp"]["route_failure"] == "tcp-bus"
        if rng.random() > RESERVING_SHARE or may_not:
            fields.get("insignia", {}).pop("mode", None)
            return
        fields["insignia"] = {**fields.get("insignia", {}), "mode": "on"}
        for flow in fields["traffic"].get("flows", []):
            if rng.random() < 0.6:
                flow["reserve_bps"] = round(10 ** rng.uniform(3.0, 7.0), 1)
                if rng.random() < 0.6:
                    flow["reserve_min_bps"] = max(1e3, round(flow["reserve_bps"] * rng.random(), 1))

    def _measures_paths(self) -> bool:
        return bool(self.values["network"]["measure_path_hops"])

    # Movement.

    # Traffic.


def _set_by(sender: str) -> tuple[str, ...]:
    return parameters.set_by_sender(sender)


__all__ = [
    "IN_PYTHON",
    "LARGE_NODES",
    "LARGE_S",
    "NO_TCP",
    "PAIRS",
    "ROUTINGS",
    "SENDERS",
    "Drawn",
    "Fields",
    "drawn",
    "flows",
    "flows_carriers",
    "scenario",
]
