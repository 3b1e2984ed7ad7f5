"""What the words of ns-2's scripts are here: classes, variables and options, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Number = Callable[[float], float | int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _same(value: float) -> float:
    return value


def _whole(value: float) -> int:
    return round(value)


def _micros(seconds: float) -> float:
    return seconds * 1e6


def _millis(seconds: float) -> float:
    return seconds * 1e3


@dataclass(frozen=True)
class Term:
    """The parameter that a variable of a class is."""

    fields: tuple[str, ...]
    convert: Number = _same


def _term(field: str, convert: Number = _same) -> Term:
    return Term(tuple(field.split()), convert)


PARAMETERS: dict[tuple[str, str], Term] = {
    ("Phy/WirelessPhy", "Pt_"): _term("radio.transmit_power_w"),
    ("Phy/WirelessPhy", "freq_"): _term("radio.frequency_hz"),
    ("Phy/WirelessPhy", "L_"): _term("radio.system_loss"),
    ("Phy/WirelessPhy", "RXThresh_"): _term("radio.receive_threshold_w"),
    ("Phy/WirelessPhy", "CSThresh_"): _term("radio.carrier_sense_threshold_w"),
    ("Phy/WirelessPhy", "CPThresh_"): _term("radio.capture_ratio"),
    ("Antenna/OmniAntenna", "Z_"): _term("radio.antenna_height_m"),
    ("Antenna/OmniAntenna", "Gt_"): _term("radio.antenna_gain"),
    ("Antenna/OmniAntenna", "Gr_"): _term("radio.antenna_gain"),
    ("Mac/802_11", "dataRate_"): _term("mac.data_rate_bps"),
    ("Mac/802_11", "basicRate_"): _term("mac.control_rate_bps mac.broadcast_rate_bps"),
    ("Mac/802_11", "PLCPDataRate_"): _term("mac.plcp_rate_bps"),
    ("Mac/802_11", "RTSThreshold_"): _term("mac.rts_threshold_bytes", _whole),
    ("Mac/802_11", "CWMin_"): _term("mac.cw_min", _whole),
    ("Mac/802_11", "CWMax_"): _term("mac.cw_max", _whole),
    ("Mac/802_11", "SlotTime_"): _term("mac.slot_us", _micros),
    ("Mac/802_11", "SIFS_"): _term("mac.sifs_us", _micros),
    ("Mac/802_11", "ShortRetryLimit_"): _term("mac.short_retry_limit", _whole),
    ("Mac/802_11", "LongRetryLimit_"): _term("mac.long_retry_limit", _whole),
    ("LL", "delay_"): _term("network.link_layer_delay_us", _micros),
}
"""Variables that are parameters."""

TCP: dict[str, Term] = {
    "minrto_": _term("tcp.rto_min_s"),
    "maxrto_": _term("tcp.rto_max_s"),
    "rtxcur_init_": _term("tcp.rto_initial_s"),
    "tcpTick_": _term("tcp.tick_ms", _millis),
    "numdupacks_": _term("tcp.dupack_threshold", _whole),
    "windowInit_": _term("tcp.initial_window", _whole),
}
"""Variables of TCP agents that are parameters of all TCP flows."""

SENDERS = {
    "Agent/TCP": "tahoe",
    "Agent/TCP/Reno": "reno",
    "Agent/TCP/Newreno": "newreno",
    "Agent/TCP/Sack1": "sack",
    "Agent/TCP/Vegas": "vegas",
}
"""The senders of TCP."""

TCP_SINKS = {"Agent/TCPSink": False, "Agent/TCPSink/DelAck": True, "Agent/TCPSink/Sack1": False}
TCP_SINKS["Agent/TCPSink/Sack1/DelAck"] = True
"""Whether TCP's receivers delay their acknowledgements."""

UDP_SINKS = _words("Agent/Null Agent/LossMonitor Agent/UDP")

DEFAULTS: dict[tuple[str, str], str] = {
    ("Application/Traffic/CBR", "packetSize_"): "210",
    ("Application/Traffic/CBR", "rate_"): "448kb",
    ("Application/Traffic/CBR", "random_"): "0",
    ("Application/Traffic/Exponential", "packetSize_"): "210",
    ("Application/Traffic/Exponential", "rate_"): "64kb",
    ("Application/Traffic/Exponential", "burst_time_"): ".5",
    ("Application/Traffic/Exponential", "idle_time_"): ".5",
    ("Application/Traffic/Pareto", "packetSize_"): "210",
    ("Application/Traffic/Pareto", "rate_"): "64kb",
    ("Application/Traffic/Pareto", "burst_time_"): "500ms",
    ("Application/Traffic/Pareto", "idle_time_"): "500ms",
    ("Application/Traffic/Pareto", "shape_"): "1.5",
    ("Agent/TCP", "packetSize_"): "1000",
    ("Agent/UDP", "packetSize_"): "1000",
}
"""Values of ns-2.35 where a script sets none."""

LABELS = _words(
    "fid_ class_ prio_ color_ sport_ dport_ flags_ tracevar_ trace_all_oneline_ nam_tracevar_ "
    "verbose_ debug_ bytes_ nlost_ npkts_ lastPktTime_ expected_ useHeaders_ logTarget_ overhead_ "
    "syn_"
)
"""Variables that name packets, are written to traces or are reset results."""

UNUSED: frozenset[tuple[str, str]] = frozenset(
    {
        ("LL", "mindelay_"),
        ("LL", "bandwidth_"),
        ("Mac", "bandwidth_"),
        ("Mac/802_11", "bandwidth_"),
        ("Phy/WirelessPhy", "bandwidth_"),
        ("Phy/WirelessPhy", "Rb_"),
        ("Antenna/OmniAntenna", "X_"),
        ("Antenna/OmniAntenna", "Y_"),
        ("Agent/DSR", "sport_"),
        ("Queue", "limit_"),
        ("Queue/DropTail", "drop_front_"),
        ("Queue/DropTail", "drop_prio_"),
        ("Queue/DropTail", "mean_pktsize_"),
    }
)
"""Variables that change nothing in ns-2.35."""

QUEUES = {
    "Queue/DropTail/PriQueue": {},
    "CMUPriQueue": {"routing_priority": "classes"},
    "Queue/DropTail": {"routing_priority": "none"},
    "Queue/RED": {"routing_priority": "none", "discipline": "red"},
}
"""Interface queues."""

CLASSES = {
    "llType": ("LL",),
    "macType": ("Mac/802_11",),
    "antType": ("Antenna/OmniAntenna",),
    "propType": ("Propagation/TwoRayGround",),
    "phyType": ("Phy/WirelessPhy",),
    "channelType": ("Channel/WirelessChannel", "Channel"),
}
"""Options of `node-config` that name a class, with those that are here."""

TRACES = _words(
    "agentTrace routerTrace macTrace movementTrace phyTrace ifqTrace eotTrace toraDebug IMEPFlag "
    "channel topoInstance addressType toraTrace namtrace routingTrace"
)
"""Options of `node-config` that change no result."""

ENERGY = _words(
    "energyModel initialEnergy rxPower txPower idlePower sleepPower transitionPower transitionTime sleepTime"
)


def changes_nothing(option: str) -> bool:
    """Whether an option of `node-config` changes no result: traces, by whatever name, and batteries."""
    return option in TRACES | ENERGY or option.endswith("Trace")


SAYS_NOTHING: dict[str, frozenset[str]] = {
    "Simulator": _words(
        "trace-all namtrace-all namtrace-all-wireless use-newtrace color flush-trace initial_node_pos run "
        "set-address-format use-scheduler nam-end-wireless trace-queue eventtrace-all puts-nam-traceall "
        "puts-nam-config monitor-queue rtproto set use-taggedtrace dumpq clearMemTrace gen-map trace- "
        "annotate use-newtrace_ nam-end-wireless_ namtrace-queue cancel"
    ),
    "Node": _words(
        "color label shape label-color label-at reset add-mark delete-mark topography log-movement radius "
        "set namattach node-label start change-color trace attach-agent agent entry namlog"
    ),
    "God": _words("set-dist new num_nodes load_grid setDist off_prune on_filter"),
}
"""What may be said to an object without a result changing."""

STARTS = frozenset(["start"])
STOPS = frozenset(["stop"])
