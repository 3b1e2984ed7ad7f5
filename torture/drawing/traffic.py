"""Draws what flows there are, and what they carry."""

from __future__ import annotations

import json
import math
from typing import Any

from manetlab import _core, parameters
from torture.drawing.state import FROM_TABLE, NO_TCP, Fields, State, within


class Traffic(State):
    """A scenario that gets its flows."""

    def traffic(self, kind_of_movement: str) -> Fields:
        """Flows that are written down, random ones, or Web sessions."""
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
        given |= self.changed(schema, defaults, given)
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
                lengths = {"on_s": within(span_s / 5, 1e-6, 1e6), "off_s": rng.choice([0.0, span_s / 5])}
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
        return within(round(span_s / self._packets(), 7), 1e-6, 1e6)

    def _own_rates(self) -> Fields:
        """Rates that a flow is throttled to, or none."""
        rng = self.rng
        if self.throttled == "off" or rng.random() > (0.7 if self.throttled == "preset" else 0.1):
            return {}
        times_s = sorted({round(rng.uniform(0, self.duration_s), 3) for _ in range(rng.randint(1, 4))})
        if rng.random() < 0.5:
            times_s[0] = 0.0
        return {"throttle_bps": [[from_s, self.rate_bps()] for from_s in times_s]}

    def rate_bps(self) -> float:
        """A rate to throttle to, mostly one that networks can carry, in bit/s."""
        rng = self.rng
        exponent = rng.uniform(3, 6.5) if rng.random() < 0.9 else rng.uniform(-3, 12)
        return within(10**exponent, 1e-3, 1e12)

    def _alone(self) -> Fields:
        """What a flow carries alone, where something must know it: no table fits all parameters."""
        if self.throttled not in FROM_TABLE:
            return {}
        return {"alone_bps": [self.rng.choice([1e5, 1e6, 5e6]) / hops for hops in range(1, 11)]}


def flows_carriers() -> list[str]:
    """What may carry messages."""
    kinds: list[dict[str, Any]] = json.loads(_core.flow_schema()[1])
    return next(
        list(field["choices"]) for kind in kinds for field in kind["fields"] if field["name"] == "transport"
    )


def carriers_of(traffic: Fields) -> tuple[str, ...]:
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
