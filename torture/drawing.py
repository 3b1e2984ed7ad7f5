"""Draws random scenarios over what a scenario offers: protocols, senders, sources, movement, parameters.

What there is to draw comes from the schemas of parameters and flows, so a new parameter, choice, set,
profile, sender or carrier is drawn without a change here. A new kind of flow needs its lines in `_Drawing`.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manetlab import _core, flows, parameters
from manetlab.chain_throughput import Key, packaged
from manetlab.parameters import Parameter, Params
from manetlab.radio_units import STANDARDS
from torture.relations import RELATIONS

Fields = dict[str, Any]

ROUTINGS = [
    *_core.routings(),
    *(f"{routing}:{name}" for routing in _core.routings() for name in _core.routing_sets(routing)),
]
"""Every way to name a routing protocol in Rust."""
IN_PYTHON = ["python:manetlab.examples.flooding.Flooding", "python:manetlab.examples.greedy.Greedy"]
"""Protocols in Python that take packets of any length: a path in a header can make them too long."""
IN_PYTHON_SHARE = 0.01
"""The share of scenarios with such a protocol, which takes ten times as long as one in Rust."""
NO_TCP = "none"
"""What stands for the sender of a scenario that has no flow over TCP."""
SENDERS = [*_core.tcp_senders(), NO_TCP]
PAIRS = [(routing, sender) for sender in SENDERS for routing in ROUTINGS]
"""Every protocol with every sender. They come in turns."""
LARGE_NODES, LARGE_S = 20, 30.0
"""Every other scenario has at least so many nodes and lasts at least so long, in s."""
COMMON_SECTIONS = {
    "radio": 1, "mac": 2, "queue": 1, "arp": 1, "network": 1, "tcp": 3, "adp": 1, "psp": 1, "video": 1,
    "rtp": 1, "throttle": 1,
}  # fmt: skip
"""Sections that matter whatever the protocol is, and how often each is chosen, relative to the others."""
OWN_SECTION = 4
"""How often the section of the protocol is chosen, which only its own scenarios have."""
NEAR, EXTREME = "near", "extreme"
"""How parameters are changed: a few of them to other values near the default, or one to four to the ends of
their range or anywhere between."""
RATES_SHARE = 0.15
"""The share of scenarios in which nodes or links have a rate of their own."""
RATES_BPS = (1e6, 2e6, 5.5e6, 11e6)
"""The rates of 802.11b."""
OFDM_BPS = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
RATES_OF = {
    "802.11b": RATES_BPS,
    "802.11a": OFDM_BPS,
    "802.11g": tuple(sorted((*RATES_BPS, *OFDM_BPS))),
}
"""The rates of each standard."""
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
FROM_TABLE = ("oracle", "density")
"""Modes of throttling that need to know what a flow carries alone."""
ORACLE_STEPS = 400
"""How often an oracle looks at moving nodes at most: each look takes as long as many events."""
RELATION_SHARE = 0.25
"""The share of scenarios whose run is held against others that ask the same in another way."""
LIGHT_S_PER_M = 1e6 / 299_792_458.0
"""Travel time of light, in µs a metre."""


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


class _Drawing:
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
        self.row: Key | None = None
        if self.throttled in FROM_TABLE:
            self.row = self.rng.choice([each for each in packaged().rows if each.traffic == "tcp"])
            self.profile = self.row.profile
        low, high = (LARGE_S, 1.2 * LARGE_S) if self.large else (0.5, 12.0)
        self.duration_s = round(self.rng.uniform(low, high), 3)
        self.extremes: list[str] = []

    def draw(self) -> Drawn:
        rng = self.rng
        changes = self._changes()
        has_places = rng.random() < PLACES_SHARE
        if has_places:
            changes["radio"] = {**changes.get("radio", {}), **self._places()}
        self._throttle(changes)
        self._share_medium(changes)
        self.values = _values(self.profile, self.routing, self.sender, changes)
        _fit_code(changes, self.values)
        has_rates = rng.random() < RATES_SHARE
        self.range_m = _fit(changes, self.values, has_rates)
        warmup_s = round(rng.choice([0.0, 0.0, 0.25, 0.9]) * self.duration_s, 3)
        movement = self._movement()
        fields: Fields = {
            "duration_s": self.duration_s,
            "warmup_s": warmup_s,
            "seed": rng.choice([rng.randrange(10**6), 2**64 - 1]),
            "replication": rng.randrange(4),
            "routing": self.routing,
            "profile": self.profile,
            "movement": movement,
            "traffic": self._traffic(next(iter(movement))),
            **changes,
        }
        if has_rates:
            fields["rates"] = self._rates()
        if has_places and rng.random() < 0.4:
            fields["walls"] = self._walls()
        if has_places and rng.random() < 0.4:
            fields["radios"] = self._radios()
        if rng.random() < FAILURES_SHARE:
            fields["failures"] = self._failures()
        if rng.random() < ENERGY_SHARE:
            fields["energy"] = self._energy()
        tcp = self.values["tcp"]
        splits_web = tcp["base_station"] in ("split", "m-tcp") and "web" in _carriers(fields["traffic"])
        has_oracle = tcp["route_failure"] == "freeze-tcp" and tcp["freeze_foresight"] == "oracle"
        knows_no_wires = self._measures_paths() or has_oracle or splits_web
        if self.routing == "static" and self.throttled == "off" and not knows_no_wires:
            fields["wired"] = self._wired()
        if self.sender != NO_TCP:
            fields["tcp"] = {"sender": self.sender, **fields.get("tcp", {})}
        self._reserve(fields)
        again = rng.choices(["", "repeated", "recorded"], [7, 2, 1])[0]
        carriers = _carriers(fields["traffic"])
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
            value = self._value(each, defaults[each.section][each.name], how)
            found.setdefault(each.section, {})[each.name] = value
        return found

    def _value(self, parameter: Parameter, default: Any, how: str) -> Any:
        """Another value of a parameter."""
        rng = self.rng
        if parameter.choices:
            return rng.choice(list(parameter.choices))
        if parameter.range is None:
            return not default if isinstance(default, bool) else default
        low, high = parameter.range
        place = rng.random() if how == EXTREME else 1.0
        if place < 0.7:
            value = low if place < 0.35 else high
            self.extremes.append(f"{parameter.key}={'low' if value == low else 'high'}")
        elif how == EXTREME:
            value = _between(rng, low, high)
        else:
            value = min(max(default * 2 ** rng.uniform(-2, 2), low), high)
        return round(value) if parameter.kind == "integer" else value

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
            given.setdefault("rate_bps", self._rate_bps())
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

    def _rate_bps(self) -> float:
        """A rate to throttle to, mostly one that networks can carry, in bit/s."""
        rng = self.rng
        exponent = rng.uniform(3, 6.5) if rng.random() < 0.9 else rng.uniform(-3, 12)
        return _within(10**exponent, 1e-3, 1e12)

    def _own_rates(self) -> Fields:
        """Rates that a flow is throttled to, or none."""
        rng = self.rng
        if self.throttled == "off" or rng.random() > (0.7 if self.throttled == "preset" else 0.1):
            return {}
        times_s = sorted({round(rng.uniform(0, self.duration_s), 3) for _ in range(rng.randint(1, 4))})
        if rng.random() < 0.5:
            times_s[0] = 0.0
        return {"throttle_bps": [[from_s, self._rate_bps()] for from_s in times_s]}

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

    def _alone(self) -> Fields:
        """What a flow carries alone, where something must know it: no table fits all parameters."""
        if self.throttled not in FROM_TABLE:
            return {}
        return {"alone_bps": [self.rng.choice([1e5, 1e6, 5e6]) / hops for hops in range(1, 11)]}

    def _rates(self) -> list[Fields]:
        """Some nodes and links with a rate of their own."""
        rng = self.rng
        nodes = range(self.nodes)
        of_nodes = [{"src": node} for node in rng.sample(nodes, min(self.nodes, rng.randint(1, 4)))]
        pairs = {tuple(rng.sample(nodes, 2)) for _ in range(rng.randint(0, 4))}
        of_links = [{"src": src, "dst": dst} for src, dst in sorted(pairs)]
        rates_bps = RATES_OF[self.values["mac"]["standard"]]
        return [{**each, "rate_bps": rng.choice(rates_bps)} for each in (*of_nodes, *of_links)]

    def _places(self) -> Fields:
        """Parameters of a radio of real places that go together."""
        rng = self.rng
        errors = rng.choice(["thresholds", "by-rate"])
        captures = ["pairwise", "sinr", "locking", *(["as-noise"] if errors == "by-rate" else [])]
        return {
            "path_loss": rng.choice(["friis", "two-ray", "log-distance", "three-slopes"]),
            "path_loss_exponent": rng.choice([2.0, 3.0, 4.0]),
            "shadowing_db": rng.choice([0.0, 4.0, 8.0]),
            "shadowing_distance_m": rng.choice([1.0, 20.0, 500.0]),
            "shadowing_limit": rng.choice([0.5, 1.0, 2.0]),
            "fading": rng.choice(["none", "rayleigh", "rice", "nakagami"]),
            "fading_limit_db": rng.choice([0.0, 3.0, 6.0]),
            "field_drift_m_s": rng.choice([0.0, 0.5]),
            "errors": errors,
            "capture": rng.choice(captures),
            "carrier_sense_threshold_w": 10 ** rng.uniform(-13, -10),
        }

    def _walls(self) -> list[Fields]:
        """Walls and buildings among the nodes, or around none of them."""
        rng = self.rng
        reach_m = _within(3 * self.range_m, 1.0, 1e5)

        def corner() -> list[float]:
            return [round(rng.uniform(-0.5, 1.5) * reach_m), round(rng.uniform(-0.5, 1.5) * reach_m)]

        made: list[Fields] = []
        for _ in range(rng.choice([1, 5, 60])):
            if rng.random() < 0.5:
                made.append({"points": [corner(), corner()], "db": rng.choice([0.0, 6.9])})
                continue
            (x, y), side_m = corner(), max(1.0, 0.2 * reach_m)
            corners = [[x, y], [x + side_m, y], [x + side_m, y + side_m], [x, y + side_m]]
            made.append({"points": corners, "db": 9.0, "db_per_m": 0.4, "building": True})
        if rng.random() < 0.3:
            made[0]["opaque"] = True
        return made

    def _radios(self) -> list[Fields]:
        """Some nodes with a radio of their own, which reaches no farther than the MAC waits."""
        rng = self.rng
        power_w = self.values["radio"]["transmit_power_w"]
        nodes = rng.sample(range(self.nodes), min(self.nodes, rng.randint(1, 4)))
        return [
            {"node": node, "transmit_power_w": _within(power_w * 10 ** rng.uniform(-3, 0), 1e-9, 1e3)}
            for node in sorted(nodes)
        ]

    def _failures(self) -> list[Fields]:
        """Nodes fail for a while or for good, by area, and by chance."""
        rng, side_m = self.rng, 2 * self.range_m
        area = [[0.0, 0.0], [side_m, 0.0], [side_m, side_m], [0.0, side_m]]
        kinds: list[Fields] = [
            {"node": rng.randrange(self.nodes), "at_s": rng.choice([0.0, 1.0, rng.uniform(0.0, 5.0)])},
            {"area": [[_within(each, -1e5, 1e5) for each in corner] for corner in area], "at_s": 1.0},
            {"up_mean_s": rng.uniform(0.5, 10.0), "down_mean_s": rng.uniform(0.1, 5.0)},
        ]
        if rng.random() < 0.7:
            for kind in kinds[:2]:
                kind["for_s"] = rng.choice([1e-3, 1.0, 20.0])
        for kind in kinds:
            kind["kind"] = rng.choice(["radio-off", "crash"])
        return rng.sample(kinds, rng.randint(1, 3))

    def _energy(self) -> Fields:
        """Batteries that hold out, that are empty on the way, and that are empty at once."""
        rng = self.rng
        made: Fields = {"radio": rng.choice(["wavelan", "ns-3"])}
        if rng.random() < 0.3:
            made |= {"idle_a": rng.choice([0.0, 1e-6, 1.0]), "rx_a": rng.choice([0.0, 0.2])}
        if rng.random() < 0.7:
            made["battery_j"] = rng.choice([1e-6, rng.uniform(0.01, 10.0), 1e6])
        return made

    def _measures_paths(self) -> bool:
        return bool(self.values["network"]["measure_path_hops"])

    def _wired(self) -> list[Fields]:
        """Some wired links, or none."""
        rng = self.rng
        pairs = {tuple(sorted(rng.sample(range(self.nodes), 2))) for _ in range(rng.randint(0, 3))}
        return [
            {
                "nodes": list(pair),
                # A faster one, without delay, makes a sender without limit outlast every sitting.
                "rate_bps": rng.choice([1e3, 1e6, 10e6, 1e10]),
                "delay_s": rng.choice([0.0, 0.001, 10.0]),
                "queue_packets": rng.choice([0, 1, 50]),
            }
            for pair in sorted(pairs)
        ]

    # Movement.

    def _movement(self) -> Fields:
        rng = self.rng
        nodes = rng.randint(LARGE_NODES, 2 * LARGE_NODES) if self.large else rng.randint(2, 18)
        # Networks are mostly connected whatever the radio reaches, and sometimes in pieces.
        spacing_m = _within(rng.uniform(0.5, 1.05) * self.range_m, 1e-3, 1e5)
        kinds = {"waypoint": 4, "chain": 1, "grid": 1, "positions": 1, "areas": 1, "tracks": 2, "model": 4}
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        match kind:
            case "areas":
                return {"areas": self._areas(max(nodes, 3), spacing_m)}
            case "chain":
                self.nodes = nodes
                return {"chain": {"nodes": nodes, "spacing_m": spacing_m}}
            case "grid":
                columns = rng.randint(2, 8)
                rows = max(1, math.ceil(nodes / columns))
                self.nodes = columns * rows
                return {"grid": {"columns": columns, "rows": rows, "spacing_m": spacing_m}}
        degree = rng.uniform(4, 14)
        side_m = _within(self.range_m * math.sqrt(math.pi * nodes / degree), 1.0, 5e5)
        ratio = rng.choice([1.0, 1.0, 0.3])
        width_m, height_m = _within(side_m / ratio, 1, 1e6), max(side_m * ratio, 1.0)
        self.nodes = nodes
        if kind == "tracks":
            return self._tracks(width_m, height_m)
        if kind == "model":
            return self._model(nodes, width_m, height_m)
        if kind == "positions":
            places = [
                [round(rng.uniform(-0.5, 0.5) * width_m, 1), round(rng.uniform(0, 1) * height_m, 1)]
                for _ in range(nodes)
            ]
            return {"positions": places}
        waypoint: Fields = {
            "nodes": nodes,
            "width_m": width_m,
            "height_m": height_m,
            "speed_max": round(rng.uniform(2, 40), 1),
            "pause_s": rng.choice([0.0, 0.0, 2.0, 30.0]),
        }
        waypoint |= self._changed(
            parameters.movement_schema()["waypoint"], parameters.movement_defaults()["waypoint"], waypoint
        )
        waypoint["speed_min"] = min(waypoint.get("speed_min", 1.0), waypoint["speed_max"])
        if waypoint["speed_min"] == 0.0:
            waypoint["start"] = "uniform"
        if waypoint.get("boundary") == "wrap":
            waypoint["height_m"] = waypoint["width_m"]
        return {"waypoint": waypoint}

    def _model(self, nodes: int, width_m: float, height_m: float) -> Fields:
        """One of the other movement models, in a field that has room for what it needs."""
        model = self.rng.choice([name for name in parameters.movement_schema() if name != "waypoint"])
        side_m = max(width_m, height_m, 50.0)
        given: Fields = {"nodes": nodes, "width_m": side_m, "height_m": side_m}
        defaults = parameters.movement_defaults()[model]
        given |= self._changed(parameters.movement_schema()[model], defaults, given)
        full = {**defaults, **given}
        # What has to fit the rest; steps are not so short that there is nothing but steps.
        if {"speed_min", "speed_max"} <= full.keys():
            given["speed_min"] = min(full["speed_min"], full["speed_max"])
        given |= {name: max(full[name], 0.5) for name in ("step_s", "leg_s", "step_m") if name in full}
        given |= {name: min(full[name], 40.0) for name in ("speed_mean", "speed_sd") if name in full}
        given |= {name: min(full[name], nodes - 1) for name in ("at_entrance", "vehicles") if name in full}
        given |= {
            name: min(full[name], 0.4 * side_m)
            for name in ("max_distance_m", "radius_m", "stage_m", "spread_m")
            if name in full
        }
        if model == "disaster_area":
            given["clearance_m"] = min(full["clearance_m"], 4 / 350 * side_m, 3 / 200 * side_m)
            names = ("vehicle_speed_min", "vehicle_speed_max")
            given |= dict(zip(names, sorted(full[name] for name in names), strict=True))
        if model == "disaster":
            # Most legs have to end within the circle.
            given["leg_s"] = min(given["leg_s"], 40.0 * given["radius_m"] / full["speed_max"])
        return {model: given}

    def _tracks(self, width_m: float, height_m: float) -> Fields:
        """Where nodes are seen: with names, often with heights, and often they join and leave."""
        rng = self.rng
        is_flat = self.values["radio"]["path_loss"] == "two-ray"
        has_heights, comes_and_goes = rng.random() < 0.5, rng.random() < 0.6
        made: Fields = {"tracks": []}
        for node in range(self.nodes):
            samples = rng.choice([1, 2, 3, 12])
            times = sorted({round(rng.uniform(0, 1.2) * self.duration_s, 3) for _ in range(samples)})
            # Slow enough for a walk, or from one end of the field to the other.
            step = rng.choice([0.01, 0.1, 1.0])
            x_m, y_m = ([rng.uniform(0, length_m)] for length_m in (width_m, height_m))
            for _ in times[1:]:
                x_m.append(round(x_m[-1] + step * rng.uniform(-1, 1) * width_m, 2))
                y_m.append(round(y_m[-1] + step * rng.uniform(-1, 1) * height_m, 2))
            track: Fields = {"label": rng.choice(["", "n ", "Jörg "]) + str(node), "t_s": times}
            track |= {"x_m": x_m, "y_m": y_m}
            if has_heights:
                track["z_m"] = [round(rng.uniform(-0.2, 1.0) * min(self.range_m, 1e4), 1) for _ in times]
            if comes_and_goes and rng.random() < 0.5:
                track["present_s"] = self._presence()
            made["tracks"].append(track)
        if has_heights and (is_flat or rng.random() < 0.1):
            made["flat"] = True
        return made

    def _presence(self) -> list[list[float]]:
        """When a node is there: some times one after the other, perhaps after the end of the run."""
        rng = self.rng
        times = {round(rng.choice([0.0, 1.0, rng.uniform(0, 1.3)]) * self.duration_s, 3) for _ in range(6)}
        edges = sorted(times)[: 2 * rng.randint(1, 3)]
        edges = edges[: len(edges) // 2 * 2] or [0.0, self.duration_s]
        return [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)]

    def _areas(self, nodes: int, spacing_m: float) -> Fields:
        """Sources, sinks and forwarders in areas that lie so far apart."""
        rng = self.rng
        self.nodes = nodes
        hops = rng.choice([2, 3, 3, 4, 7])
        hops = min(hops, nodes - 1)
        forwarders = rng.randint(hops - 1, nodes - 2)
        sources = rng.randint(1, nodes - forwarders - 1)
        given: Fields = {"sources": sources, "sinks": nodes - forwarders - sources, "forwarders": forwarders}
        drawn = {
            "hops": hops,
            "spacing_m": spacing_m,
            "height_m": rng.choice([0.0, 0.5 * spacing_m, 3.0 * spacing_m]),
            "end_width_m": rng.choice([0.0, 0.05 * spacing_m, spacing_m]),
            "band_width_m": rng.choice([0.0, 0.1 * spacing_m, spacing_m]),
        }
        extents = ("height_m", "end_width_m", "band_width_m")
        if min(drawn[name] for name in extents) >= 1.0:
            drawn["speed_mps"] = rng.choice([0.0, 1.0, 5.0, 30.0])
        return given | drawn

    def _changed(
        self, schema: Mapping[str, Parameter], defaults: Mapping[str, Any], given: Mapping[str, Any]
    ) -> Fields:
        """Other values for some of the parameters that are not of the kind that makes a run large."""
        sizes = {"nodes", "width_m", "height_m", "clients", "servers", "cycles", "after_warmup_s"}
        names = [name for name in schema if name not in sizes]
        count = self.rng.choice([0, 0, 0, 1, 1, 2])
        how = self.rng.choice([NEAR, EXTREME])
        return {
            name: self._value(schema[name], given.get(name, defaults[name]), how)
            for name in self.rng.sample(names, count)
        }

    # Traffic.

    def _traffic(self, kind_of_movement: str) -> Fields:
        rng = self.rng
        over_tcp = self.sender != NO_TCP
        kind = rng.choices(["flows", "random", "web"], [8, 1, 1 if over_tcp else 0])[0]
        if self.throttled in FROM_TABLE:
            # Only a flow that is written down says what it carries alone.
            kind = "flows"
        if kind == "web" and self.nodes >= 2:
            return {"web": self._web()}
        if kind == "random" and self.nodes >= 8:
            has_draws = kind_of_movement in parameters.movement_schema()
            return {"random": self._random(over_tcp=over_tcp, has_draws=has_draws)}
        listed = [self._flow(over_tcp=False) for _ in range(rng.randint(0 if over_tcp else 1, 5))]
        if over_tcp:
            listed += [self._flow(over_tcp=True) for _ in range(rng.choice([1, 1, 2, 4]))]
        rng.shuffle(listed)
        return {"flows": listed}

    def _web(self) -> Fields:
        rng = self.rng
        servers = rng.randint(1, max(1, min(3, self.nodes - 1)))
        given: Fields = {
            "clients": rng.randint(1, max(1, min(3, self.nodes - servers))),
            "servers": servers,
            "cycles": rng.randint(1, 3),
            "distributions": rng.choice(["mah", "parametric"]),
            "think_max_s": rng.choice([1.0, 3.0, 15.0]),
            "after_warmup_s": rng.choice([0.0, 0.0, round(0.01 * self.duration_s, 6)]),
        }
        schema, defaults = parameters.web_schema(), json.loads(_core.web_defaults())
        given |= self._changed(schema, defaults, given)
        values = {**defaults, **given}
        if values["reply_min_bytes"] >= values["reply_max_bytes"]:
            given |= {"reply_min_bytes": 1000, "reply_max_bytes": 2000}
        return given

    def _random(self, *, over_tcp: bool, has_draws: bool) -> Fields:
        rng = self.rng
        late_s = round(self.duration_s - rng.uniform(0.1, 0.99) * min(self.duration_s, 20.0), 3)
        given: Fields = {
            "tcp": rng.randint(1, 2) if over_tcp else 0,
            "cbr": rng.randint(0 if over_tcp else 1, 4),
            "adp": rng.choice([0, 0, 1]),
            "calls": 0 if over_tcp else rng.choice([0, 0, 1]),
            "tcp_start_s": late_s,
            "cbr_bytes": rng.choice([1, 64, 512, 4000]),
            "cbr_interval_s": self._interval_s(self.duration_s),
            "cbr_ends": rng.choice(["any", "distinct-pairs", "apart"]),
        }
        if 2 * (given["tcp"] + given["adp"] + given["calls"] + given["cbr"]) > self.nodes:
            given["cbr_ends"] = "any"
        if self.nodes >= 20 and rng.random() < 0.2:
            given |= {
                "video": 1,
                "video_transport": rng.choice(["udp", "adp", *(["tcp"] if over_tcp else [])]),
            }
        if rng.random() < 0.2:
            given["cbr_start_within_s"] = round(rng.uniform(0, 1) * self.duration_s, 3)
        if self.row is not None:
            given["cbr_bytes"] = self.row.segment_bytes
        if given["cbr_ends"] == "any" and rng.random() < 0.1:
            given["cbr_within_hops"] = rng.choice([1, 2, 255])
        # One pair that keeps its hops for a while is found soon, many that keep them long perhaps never.
        if has_draws and given["tcp"] + given["adp"] == 1 and "video" not in given and rng.random() < 0.5:
            given |= {
                "hops": rng.choice([1, 2, 3]),
                "hops_share": rng.choice([0.01, 0.1, 0.3]),
                "hops_draws": rng.choice([200, 10_000]),
            }
        return given

    def _flow(self, *, over_tcp: bool) -> Fields:
        """A flow that loads the network for a while."""
        rng = self.rng
        src, dst = rng.sample(range(self.nodes), 2)
        kinds = ["tcp"] * 4 if over_tcp else ["cbr", "adp"]
        others = ["web"] if over_tcp else ["voice"]
        kind = rng.choice([*kinds, "on-off", "poisson", "trace", "video", *others])
        span_s = self.duration_s * rng.uniform(0.1, 0.99)
        if kind in ("adp", "video", "voice") or (kind == "tcp" and rng.random() < 0.4):
            span_s = min(span_s, self._busy_s(kind))
            given = self._named(kind, over_tcp)
        else:
            given = self._counted(kind, span_s, over_tcp=over_tcp)
        span_s = min(span_s, 0.99 * self.duration_s)
        # To the end of the run, or not as far.
        start_s = self.duration_s - span_s
        flow: Fields = {"kind": kind, "src": src, "dst": dst, "start_s": round(start_s, 6)}
        if rng.random() < 0.7:
            flow["start_s"] = round(rng.uniform(0, start_s), 6)
            flow["stop_s"] = round(flow["start_s"] + span_s, 6)
        return flow | given | self._own_rates() | self._alone()

    def _busy_s(self, kind: str) -> float:
        """For how long a source without an end may send, in s."""
        rng, values = self.rng, self.values
        packets = self._packets()
        if kind == "video":
            rate = values["video"]["frames_per_s"] * (
                1 + max(values["video"][f"{letter}_mean_bytes"] for letter in "ipb") / 1460
            )
            return max(0.05, float(packets / rate))
        if kind == "voice":
            return max(0.05, packets / 50.0)
        size = values["tcp"]["segment_bytes"] if kind == "tcp" else values["adp"]["packet_bytes"]
        # What the radio can carry over one hop at most.
        airtime_s = 8 * size / values["mac"]["data_rate_bps"] + values["mac"]["slot_us"] * 1e-6 + 1e-4
        return max(0.02, min(float(packets * airtime_s * 4), rng.uniform(0.2, 30.0)))

    def _named(self, kind: str, over_tcp: bool) -> Fields:
        """What a source is given that has no end of its own."""
        rng = self.rng
        if kind == "video":
            return {"transport": self._carrier(over_tcp)}
        if kind == "voice":
            return {
                "codec": rng.choice([name for name, *_ in _core.codecs()]),
                "on_s": rng.choice([0.01, 1.004, 30.0]),
                "off_s": rng.choice([0.0, 1.587]),
                "playout_ms": rng.choice([0.0, 60.0, 60_000.0]),
                **({"call": rng.randint(0, 3)} if rng.random() < 0.5 else {}),
            }
        if kind == "tcp" and rng.random() < 0.2:
            return {"window": rng.choice([1, 2, 10, 65536])}
        return {}

    def _counted(self, kind: str, span_s: float, *, over_tcp: bool) -> Fields:
        """What a source is given that makes so many packets in so long a time."""
        rng = self.rng
        payload = rng.choice([1, 64, 512, 512, 1460, 5000, 65507 if not self.large else 3000])
        if self.row is not None:
            payload = self.row.segment_bytes
        interval_s = self._interval_s(span_s)
        sent: Fields = {"bytes": payload, "interval_s": interval_s}
        carried = {"transport": self._carrier(over_tcp)}
        match kind:
            case "tcp":
                segment = min(self.values["tcp"]["segment_bytes"], 65495)
                given: Fields = {"bytes": rng.randint(1, self._packets()) * segment}
                if rng.random() < 0.1 and self.row is None:
                    given |= {"segment_bytes": rng.choice([1, 100, 65495])}
                    given["bytes"] = rng.randint(1, 20) * given["segment_bytes"]
                return given
            case "cbr":
                ends = {"max_packets": rng.randint(1, 50)} if rng.random() < 0.3 else {}
                return sent | {"random": rng.random() < 0.5} | ends
            case "poisson":
                ends = {"max_packets": rng.randint(1, 50)} if rng.random() < 0.3 else {}
                return sent | carried | ends
            case "on-off":
                lengths = {"on_s": _within(span_s / 5, 1e-6, 1e6), "off_s": rng.choice([0.0, span_s / 5])}
                shape = {"shape": rng.choice([1.01, 1.5, 100.0])} if rng.random() < 0.5 else {}
                durations = {"durations": rng.choice(["exponential", "pareto"])}
                return sent | carried | lengths | durations | shape
            case "trace":
                gaps = sorted(rng.uniform(0, span_s) for _ in range(rng.randint(1, 30)))
                packets = [[round(gap, 6), rng.choice([1, 40, 700, 3000, payload])] for gap in gaps]
                return carried | {"packets": packets}
        cycles = [
            {
                "think_s": round(rng.uniform(0, span_s / 4), 3),
                "request_bytes": rng.choice([1, 300, 3000]),
                "server_delay_s": rng.choice([0.0, 0.1]),
                "replies_bytes": [rng.choice([1, 500, 9000, 40000]) for _ in range(rng.randint(1, 3))],
            }
            for _ in range(rng.randint(1, 3))
        ]
        return {"cycles": cycles}

    def _carrier(self, over_tcp: bool) -> str:
        """What carries messages."""
        choices = flows_carriers()
        return "tcp" if over_tcp else self.rng.choice([each for each in choices if each != "tcp"])

    def _packets(self) -> int:
        """How many packets a flow may make: few in large networks, so that many of these can be run."""
        most = 4000 if self.large else 10000
        return int(10 ** self.rng.uniform(1.0, math.log10(most)))

    def _interval_s(self, span_s: float) -> float:
        return _within(round(span_s / self._packets(), 7), 1e-6, 1e6)


def flows_carriers() -> list[str]:
    """What may carry messages."""
    kinds: list[dict[str, Any]] = json.loads(_core.flow_schema()[1])
    return next(
        list(field["choices"]) for kind in kinds for field in kind["fields"] if field["name"] == "transport"
    )


def _carriers(traffic: Fields) -> tuple[str, ...]:
    """What carries flows, TCP left out: udp, adp, rtp-udp, rtp-adp; and web."""
    found = {"web"} if "web" in traffic else set()
    random_flows = traffic.get("random", {})
    found |= {
        carrier
        for name, carrier in (("adp", "adp"), ("cbr", "udp"), ("calls", "rtp-udp"))
        if random_flows.get(name)
    }
    found |= {random_flows["video_transport"]} if "video_transport" in random_flows else set()
    for flow in traffic.get("flows", []):
        by_kind = {"cbr": "udp", "tcp": "tcp", "adp": "adp", "web": "web", "voice": "rtp-udp"}
        found.add(by_kind.get(flow["kind"], flow.get("transport", "udp")))
    return tuple(sorted(found - {"tcp"}))


def _set_by(sender: str) -> tuple[str, ...]:
    return parameters.set_by_sender(sender)


def _between(rng: random.Random, low: float, high: float) -> float:
    """Anywhere in a range, small values as likely as large ones."""
    least = low if low > 0 else min(1e-6, high) if high < 1 else 1e-3
    return _within(math.exp(rng.uniform(math.log(least), math.log(high))), low, high)


def _within(value: float, low: float, high: float) -> float:
    """The number of the range that is nearest."""
    return min(max(value, low), high)


def _values(profile: str, routing: str, sender: str, changes: Mapping[str, Fields]) -> Params:
    """Every parameter's value."""
    values = parameters.profile(profile)
    protocol, _, name = routing.partition(":")
    if name and protocol != parameters.PYTHON:
        values = parameters.apply_routing_set(values, protocol, name, "")
    if sender != NO_TCP:
        values = parameters.apply_sender(values, sender, "")
    return {section: {**held, **changes.get(section, {})} for section, held in values.items()}


def _rates_of_80211b(values: Params, has_rates: bool) -> dict[str, float]:
    """The rates to change where something is asked for that only 802.11b's rates have."""
    mac, radio = values["mac"], values["radio"]
    basic = mac["response_rate"] == "basic"
    asked = basic or has_rates or mac["preamble"] == "short" or mac["rate_control"] != "fixed"
    asked = asked or "ladder" in (radio["ranges"], radio["capture_ratios"])
    asked = asked or mac["standard"] != "802.11b" or radio["errors"] == "by-rate"
    rates_bps = RATES_OF[mac["standard"]]
    highest = float(mac["basic_rates"].split("-")[-1]) * 1e6 if basic else rates_bps[-1]
    highest_bps = {"data_rate_bps": rates_bps[-1], "control_rate_bps": highest, "broadcast_rate_bps": highest}
    fitting = {
        name: min(
            (rate for rate in rates_bps if rate <= highest_bps[name] or rate in OFDM_BPS),
            key=lambda rate: abs(rate - mac[name]),
        )
        for name in highest_bps
    }
    # Slower rates stand for the radios before 802.11; faster ones that 802.11b lacks are refused.
    return {
        name: rate
        for name, rate in fitting.items()
        if rate != mac[name] and (asked or mac[name] > RATES_BPS[0])
    }


SLOPE_STARTS = ("reference_distance_m", "slope_2_from_m", "slope_3_from_m")


def _ranges(values: Params) -> tuple[float, float]:
    """How far data frames reach, and how far any frame with the greatest gain there is, in m."""
    range_m, farthest_m, _ = _core.radio_ranges(json.dumps(values))
    return range_m, max(farthest_m, _core.farthest_link_m(json.dumps(values["radio"])))


def _fit_code(changes: dict[str, Fields], values: Params) -> None:
    """Leaves a code out that is refused: of blocks without data, or where noise decides about frames."""
    mac, radio = values["mac"], values["radio"]
    # Noise that others add to is in the errors by rate.
    counts_noise = radio["errors"] == "by-rate" or radio["capture"] == "as-noise"
    if mac["fec_parity_bytes"] >= mac["fec_block_bytes"] or (mac["fec_parity_bytes"] and counts_noise):
        mac["fec_parity_bytes"] = changes.setdefault("mac", {})["fec_parity_bytes"] = 0


def _fit(changes: dict[str, Fields], values: Params, has_rates: bool) -> float:
    """Changes what was drawn so that it fits together, and returns the radio's range in m."""

    def change(section: str, name: str, value: Any) -> None:
        changes.setdefault(section, {})[name] = value
        values[section][name] = value

    mac, queue, radio = values["mac"], values["queue"], values["radio"]
    for name, value in STANDARDS.get(mac["standard"], {}).items():
        if name not in changes.get("mac", {}):
            change("mac", name, value)
    if radio["capture"] == "as-noise" and radio["errors"] != "by-rate":
        change("radio", "errors", "by-rate")
    starts_m = sorted(radio[name] for name in SLOPE_STARTS)
    for name, start_m in zip(SLOPE_STARTS, starts_m, strict=True):
        if radio[name] != start_m:
            change("radio", name, start_m)
    for name, rate_bps in _rates_of_80211b(values, has_rates).items():
        change("mac", name, rate_bps)
    if (
        mac["response_rate"] != "basic"
        and mac["basic_rates"] != parameters.profile("rfc")["mac"]["basic_rates"]
    ):
        # Otherwise basic rates would change nothing, which is refused.
        change("mac", "response_rate", "basic")
        for name, rate_bps in _rates_of_80211b(values, has_rates).items():
            change("mac", name, rate_bps)
    if values["tcp"]["spurious"] == "eifel" and not values["tcp"]["timestamps"]:
        change("tcp", "timestamps", True)
    for name in ("dsack", "smart"):
        if values["tcp"][name] and not values["tcp"]["sack"]:
            change("tcp", name, False)
    if values["tcp"]["loss_predictor"].startswith("coherence") and not values["tcp"]["ecn"]:
        change("tcp", "ecn", True)
    if values["tcp"]["loss_predictor"] == "coherence-receiver" and values["tcp"]["dupack_delay_s"] == 0.0:
        change("tcp", "dupack_delay_s", 0.2)
    if 0.0 < values["tsr"]["probe_interval_s"] < 0.01:
        change("tsr", "probe_interval_s", 0.01)
    stays_at_1 = mac["data_rate_bps"] == RATES_BPS[0] and mac["rate_control"] == "fixed"
    if mac["preamble"] == "short" and stays_at_1:
        change("mac", "preamble", "long")
    if mac["cw_min"] > mac["cw_max"]:
        other = "cw_max" if "cw_min" in changes.get("mac", {}) else "cw_min"
        change("mac", other, mac["cw_min"] if other == "cw_max" else mac["cw_max"])
    if mac["cca_time_us"] > mac["slot_us"]:
        other = "slot_us" if "cca_time_us" in changes.get("mac", {}) else "cca_time_us"
        change("mac", other, mac["cca_time_us"] if other == "slot_us" else mac["slot_us"])
    for least, most, highest, step in (
        ("red_min_threshold", "red_max_threshold", 999_999.0, 1.0),
        ("nred_min_threshold", "nred_max_threshold", 0.99, 0.01),
    ):
        if queue[most] <= queue[least]:
            low = min(queue[least], queue[most], highest)
            change("queue", least, low)
            change("queue", most, low + step)
    range_m, farthest_m = _ranges(values)
    allowed = parameters.schema()["mac"]["propagation_allowance_us"].range
    assert allowed is not None
    needed_us = math.ceil(min(farthest_m, 1e9) * LIGHT_S_PER_M)
    if needed_us > allowed[1]:
        # No MAC could wait for so long: this radio cannot be used.
        defaults = {**values["radio"], **parameters.profile("rfc")["radio"]}
        values["radio"] = defaults
        changes["radio"] = dict(defaults)
        range_m, farthest_m = _ranges(values)
        needed_us = math.ceil(farthest_m * LIGHT_S_PER_M)
    if mac["propagation_allowance_us"] < needed_us:
        change("mac", "propagation_allowance_us", float(needed_us))
    return float(range_m)


__all__ = [
    "IN_PYTHON",
    "NO_TCP",
    "PAIRS",
    "ROUTINGS",
    "SENDERS",
    "Drawn",
    "Fields",
    "drawn",
    "flows",
    "scenario",
]
