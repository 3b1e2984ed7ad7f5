"""How the ledger's assumptions enter a scenario.

Each assumption that an experiment here needs has one entry: the fields of the scenario that it sets, read
from its words, or how it is met otherwise. An experiment whose assumptions are not all listed cannot be run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from manetlab.errors import InputError
from manetlab.papers import wording
from manetlab.papers.ledger import Assumption, Experiment, Ledger

Fields = dict[str, Any]


@dataclass(frozen=True)
class Applied:
    """An assumption as it was applied.

    Attributes:
        how: In words.
        fields: Fields of the scenario by dotted name.
    """

    how: str
    fields: Fields = field(default_factory=dict)


def applied(ledger: Ledger, experiment: Experiment) -> dict[str, Applied]:
    """How each of an experiment's assumptions is applied.

    Raises:
        InputError: One has no entry here, or its words are not understood.
    """
    return {name: _apply(ledger.assumptions[name]) for name in experiment.unstated}


def fields(ledger: Ledger, experiment: Experiment) -> Fields:
    """The fields of the scenario that an experiment's assumptions set, by dotted name."""
    merged: Fields = {}
    for each in applied(ledger, experiment).values():
        merged |= each.fields
    return merged


def _apply(assumption: Assumption) -> Applied:
    if assumption.name not in _APPLIED:
        hint = "say in papers/assumptions.py how it is met"
        place, wanted = f"ledger: {assumption.name}", "an entry for it"
        raise InputError("nobody has said how to meet this assumption", place, assumption.text, wanted, hint)
    made = _APPLIED[assumption.name]
    return Applied(made) if isinstance(made, str) else made(assumption.text)


def _set(how: str, made: Callable[[str], Mapping[str, Any]]) -> Callable[[str], Applied]:
    return lambda text: Applied(how, dict(made(text)))


def _rto(text: str) -> Fields:
    return {
        "tcp.tick_ms": 1000 * wording.after(text, "tick"),
        "tcp.rto_min_s": wording.after(text, "min"),
        "tcp.rto_initial_s": wording.after(text, "initial"),
        "tcp.rto_backoff_cap": int(wording.after(text, "multiplier")),
    }


def _delayed_ack(text: str) -> Fields:
    wording.require(text, "every second segment")
    return {"tcp.delayed_ack_segments": 2, "tcp.delayed_ack_timeout_s": wording.number(text, "ms") / 1000}


def _speed(text: str) -> Fields:
    return {"movement.waypoint.speed_min": wording.two(text, ",", "] m/s")[0]}


def _wrap(text: str) -> Fields:
    wording.require(text, "coordinates modulo L")
    return {"movement.waypoint.boundary": "wrap"}


def _bounce(text: str) -> Fields:
    # Nodes whose waypoints are in the field meet no edge, so the guard has nothing to do.
    wording.require(text, "waypoint inside the field")
    return {"movement.waypoint.boundary": "classic"}


def _placement(text: str) -> Fields:
    wording.require(text, "uniform over the field")
    return {"movement.waypoint.start": "uniform"}


def _ends(text: str) -> Fields:
    wording.require(text, "distinct pairs")
    return {"traffic.random.cbr_ends": "distinct-pairs"}


def _starts(text: str) -> Fields:
    return {"traffic.random.cbr_start_within_s": wording.number(text, "s of warm-up")}


def _variant(text: str) -> Fields:
    return {"tcp.sender": text.lower()}


def _whole_frames(text: str) -> Fields:
    wording.require(text, "no fragmentation")
    return {"video.packet_bytes": 0}


def _phase(text: str) -> Fields:
    wording.require(text, "random per flow")
    return {"video.random_phase": True}


def _clip(text: str) -> Fields:
    wording.require(text, "clip")
    return {"traffic.web.think_truncation": "clip"}


_PLAN = "the experiment's plan reads it"
_APPLIED: dict[str, str | Callable[[str], Applied]] = {
    "node-spacing": _PLAN,
    "spacing": _PLAN,
    "duration": _PLAN,
    "run-length": _PLAN,
    "run-length-2": _PLAN,
    "run-length-3": "shares are compared, for which the run length of the paper's other chains is enough",
    "run-length-when-started-at-0": _PLAN,
    "scenarios-warm-up-duration": _PLAN,
    "scenario-choice": "chosen among the scenarios that were run, by AODV alone",
    "hops": _PLAN,
    "hop-range": _PLAN,
    "range-of-n": _PLAN,
    "cbr-rate": _PLAN,
    "cbr-rate-per-flow": _PLAN,
    "rate": _PLAN,
    "path-length": "sources and sinks on a circle around the shared node, opposite each other",
    "topology": _PLAN,
    "packet-size": _PLAN,
    "no-path": "the capacity is zero then",
    "more-than-10-hops": "the capacity is that of the table's last entry",
    "sampling": "ten times a second",
    "adv-buffer-times": "parameters of ADV only",
    "window": _set("`tcp.window`", lambda text: {"tcp.window": wording.whole(text, "packets")}),
    "carrier-sense-range-capture-threshold": "the profile's radio",
    "link-rate-range": "the profile's MAC and radio",
    "slot-sifs-cw-retries": "the profile's MAC",
    "interface-queue": "the profile's queue (ns-2's limit of 50 admits 49)",
    "plcp-and-control-frame-rate-accounting": _set("profile `cmu-1998`", lambda _: {"profile": "cmu-1998"}),
    "rto-granularity-minimum-initial-maximum": _set(
        "`tcp.tick_ms`, `tcp.rto_min_s`, `tcp.rto_initial_s`, `tcp.rto_backoff_cap`", _rto
    ),
    "lower-speed-bound": _set("`waypoint.speed_min`", _speed),
    "waypoint-selection-with-wrap-around": _set('`waypoint.boundary = "wrap"`', _wrap),
    "bounce-rule": _set('`waypoint.boundary = "classic"`', _bounce),
    "initial-placement": _set('`waypoint.start = "uniform"`', _placement),
    "cbr-end-points": _set('`traffic.random.cbr_ends = "distinct-pairs"`', _ends),
    "cbr-start-times": _set("`traffic.random.cbr_start_within_s`", _starts),
    "delayed-ack-rule": _set("`tcp.delayed_ack_segments`, `tcp.delayed_ack_timeout_s`", _delayed_ack),
    "sack-recovery-details": "the model of SACK is that",
    "connection-set-up": _set("`tcp.connection_setup`", lambda _: {"tcp.connection_setup": True}),
    "hold-down-with-fixed-rto": "the model's hold-down timer is that",
    "does-the-5-s-lateness-rule-apply": _set(
        "`network.cbr_late_after_s`, from the entry of Fig. 3.1", lambda _: {}
    ),
    "whether-the-hold-down-variant-is-include": "run with several transfers where a claim speaks of it",
    "low-and-high": _PLAN,
    **dict.fromkeys(("failure-period-tcp-f", "timing", "bit-error-process", "wired-part"), "not run"),
    "whole-experiment": "the set-up of chapter 4's tables",
    **dict.fromkeys(("field", "speed", "run-length-4", "cbr-rate-2", "alpha-and-beta", "scenarios"), _PLAN),
    "probe-interval-and-frozen-state": "as the model of the heuristic has it",
    "units": "those of the table here",
    "offered-loads-on-the-x-axis": _PLAN,
    "adv-variant": "the original in these figures; what section 3.5 changed is compared by itself",
    "exact-start-of-the-batches": _PLAN,
    "metrics-of-an-interval": "a flow for each connection and interval",
    "20-connections-which-interval": _PLAN,
    "tie-rule": "the rule of the claims",
    "packet-size-2": _set(
        "`adp.packet_bytes`", lambda text: {"adp.packet_bytes": wording.whole(text, "bytes")}
    ),
    "scenarios-duration": "the set-up says so, too",
    "frames-above-the-802-11-limit": _set("`video.packet_bytes = 0`", _whole_frames),
    "gop-phase": _set("`video.random_phase`", _phase),
    "adp-details": _set(
        "`adp.tto_min_s`; the rest is the model's", lambda text: {"adp.tto_min_s": wording.after(text, "min")}
    ),
    "rounding": "the model's",
    "scenario": "that of replication 0",
    "adp-buffer": _PLAN,
    "buffer-lengths": _PLAN,
    "buffer-lengths-2": "those of the figures of frame delivery, which are the same",
    "divisor-of-throughput": "the claim's rule says by what ours is multiplied",
    "http-distributions": _set(
        '`traffic.web.distributions = "parametric"`', lambda _: {"traffic.web.distributions": "parametric"}
    ),
    "cycles-per-session": _set(
        "`traffic.web.cycles`", lambda text: {"traffic.web.cycles": int(wording.number(text, ", then tuned"))}
    ),
    "client-to-server-assignment": "the model's",
    "connections-per-cycle": "the model's",
    "segment-size": _PLAN,
    "truncation-of-think-time": _set("`traffic.web.think_truncation`", _clip),
    "two-throughput-forms": "`web_throughput_bps` and `web_combined_throughput_bps`; levels: the latter",
    "reno-f-content": "the dissertation's; fixed RTO alone beside it",
    "routing-parameters": "the protocols' sets of these tables",
    "longer-sessions": _PLAN,
    "do-mac-counts-include-mac-retries-rts-ct": "`mac_packets` and `mac_bytes` of the flows count so",
    "tcp-variant": _set("`tcp.sender`", _variant),
}
