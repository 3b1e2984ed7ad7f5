"""The radio as people state it: distances in metres, powers in dBm, devices by name.

The simulator has powers in watts, which are what is run, hashed and recorded. A scenario may give instead, in
its section ``radio``, what `FIELDS` lists, or start from a device (`DEVICES`); both become watts here. What
is said twice must say the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from manetlab import _core
from manetlab.errors import InputError, shown
from manetlab.parameters import unknown
from manetlab.value_types import ValueType

LIGHT_M_PER_S = 3e8
"""What the simulator computes wavelengths with: docs/models/radio.md, deviation 2."""
EXACT_LIGHT_M_PER_S = 299_792_458.0
ENVIRONMENT = {"path_loss", "path_loss_exponent", "shadowing_db", "fading", "errors"}
"""Parameters that move ranges beyond those of flat ground: with them the MAC's allowance follows."""
OPEN_FIELD: Mapping[str, Any] = {"seed": 0, "replication": 0, "radios": [], "walls": []}
"""What decides about links beside parameters, rates and wires: here nothing does."""
MOST_US = 1000.0
"""The longest allowance for propagation, in µs."""
CLOSE = 1e-3
"""Two statements of one threshold or power agree if they differ by no more than this share."""
MARGIN = 1e-12
"""Thresholds are lower by this share, so that a node at exactly the distance is within range."""
DEVICE = "device"


@dataclass(frozen=True)
class Device:
    """A radio that can be named.

    Attributes:
        meaning: What it is, in a line.
        source: Where its values come from.
        values: What it sets, as a scenario writes it.
        mac: What it needs of the MAC: time for signals to reach the edge of its range.
    """

    meaning: str
    source: str
    values: Mapping[str, Any]
    mac: Mapping[str, Any] = field(default_factory=dict)


DEVICES: Mapping[str, Device] = {
    "wavelan-914": Device(
        "Lucent WaveLAN DSSS card at 914 MHz, 24.5 dBm: 250 m to receive, 550 m to sense, at all rates",
        "ns-2 Phy/WirelessPhy; the default",
        {
            "transmit_power_w": 0.28183815,
            "frequency_hz": 914e6,
            "receive_threshold_w": 3.652e-10,
            "carrier_sense_threshold_w": 1.559e-11,
            "ranges": "equal",
            "capture_ratios": "equal",
        },
    ),
    "orinoco-gold": Device(
        "802.11b card at 2.437 GHz, 15 dBm, -94 to -82 dBm: 796, 670, 532, 399 m at 1, 2, 5.5, 11 Mb/s over "
        "flat open ground without fading; the maker is said to state 550, 400, 270, 160 m in the open, which "
        "radio.link_margin_db = 12.7 gives at 11 Mb/s",
        "sensitivities of the Orinoco Gold card as commonly quoted",
        {
            "transmit_power_dbm": 15.0,
            "frequency_hz": 2.437e9,
            "receive_threshold_dbm": -91.0,
            "carrier_sense_threshold_dbm": -94.0,
            "ranges": "ladder",
            "capture_ratios": "ladder",
            "step_1_db": -3.0,
            "step_5_5_db": 4.0,
            "step_11_db": 9.0,
        },
        {"propagation_allowance_us": 3.0},
    ),
    "802.11b-minimum": Device(
        "The least that 802.11b allows, at 2.437 GHz and 20 dBm: -80 dBm up to 2 Mb/s, -76 dBm above, over "
        "flat open ground without fading",
        "IEEE Std 802.11b-1999 receiver sensitivity at 2 and 11 Mb/s, 8 % frame errors of 1024 bytes",
        {
            "transmit_power_dbm": 20.0,
            "frequency_hz": 2.437e9,
            "receive_threshold_dbm": -80.0,
            "carrier_sense_threshold_dbm": -80.0,
            "ranges": "ladder",
            "capture_ratios": "ladder",
            "step_1_db": 0.0,
            "step_5_5_db": 4.0,
            "step_11_db": 4.0,
        },
    ),
    "ns-2-11mbps": Device(
        "11 Mb/s card of an example script of ns-2, at 2.472 GHz and 15 dBm, all rates alike",
        "ns-2.35 tcl/ex/wireless-scripts/mtp.tcl",
        {
            "transmit_power_w": 0.0316,
            "frequency_hz": 2.472e9,
            "receive_threshold_w": 5.83e-9,
            "carrier_sense_threshold_w": 5.01e-12,
            "ranges": "equal",
            "capture_ratios": "equal",
        },
    ),
    "orinoco-gold-noise": Device(
        "The Orinoco Gold card with errors by noise: a tenth of the frames of 1058 bytes is lost at about "
        "-94, -91, -87 and -82 dBm at 1, 2, 5.5 and 11 Mb/s",
        "noise figure of ns-3; what the receiver loses is set so that the quoted sensitivities are met",
        {
            "transmit_power_dbm": 15.0,
            "frequency_hz": 2.437e9,
            "carrier_sense_threshold_dbm": -96.0,
            "errors": "by-rate",
            "capture": "locking",
            "capture_ratios": "ladder",
            "step_1_db": -3.0,
            "step_5_5_db": 4.0,
            "step_11_db": 9.0,
            "loss_1_db": 2.6,
            "loss_2_db": 1.0,
            "loss_5_5_db": 2.5,
            "loss_11_db": 4.5,
        },
    ),
    "802.11g-minimum": Device(
        "The least that 802.11g allows, at 2.437 GHz and 20 dBm: -82 dBm at 6 to -65 dBm at 54 Mb/s, "
        "over flat open ground without fading",
        "IEEE Std 802.11-2007 receiver sensitivity, clauses 17.3.10.1 and 18.4.8.1",
        {
            "transmit_power_dbm": 20.0,
            "frequency_hz": 2.437e9,
            "receive_threshold_dbm": -80.0,
            "carrier_sense_threshold_dbm": -82.0,
            "ranges": "ladder",
            "capture_ratios": "ladder",
            "step_1_db": 0.0,
            "step_5_5_db": 4.0,
            "step_11_db": 4.0,
            "step_6_db": -2.0,
        },
        {"standard": "802.11g"},
    ),
    "802.11a-minimum": Device(
        "The least that 802.11a allows, at 5.18 GHz and 20 dBm: -82 dBm at 6 to -65 dBm at 54 Mb/s, "
        "over flat open ground without fading",
        "IEEE Std 802.11-2007 receiver sensitivity, clause 17.3.10.1",
        {
            "transmit_power_dbm": 20.0,
            "frequency_hz": 5.18e9,
            "receive_threshold_dbm": -82.0,
            "carrier_sense_threshold_dbm": -82.0,
            "ranges": "ladder",
            "capture_ratios": "ladder",
            "step_1_db": 0.0,
            "step_5_5_db": 0.0,
            "step_11_db": 0.0,
            "step_6_db": 0.0,
        },
        {"standard": "802.11a"},
    ),
    "802.11g-noise": Device(
        "802.11g card at 2.437 GHz and 16 dBm with errors by noise, figure 7 dB, and nothing lost beside it",
        "ns-3 WifiPhy: power and noise figure",
        {
            "transmit_power_dbm": 16.0206,
            "frequency_hz": 2.437e9,
            "carrier_sense_threshold_dbm": -96.0,
            "errors": "by-rate",
            "capture": "locking",
            "capture_ratios": "ladder",
            "step_6_db": -2.0,
        },
        {"standard": "802.11g"},
    ),
}

STANDARD = "standard"
STANDARDS: Mapping[str, Mapping[str, Any]] = {
    "802.11a": {
        "slot_us": 9.0,
        "sifs_us": 16.0,
        "cca_time_us": 4.0,
        "cw_min": 15,
        "data_rate_bps": 54e6,
        "control_rate_bps": 6e6,
        "broadcast_rate_bps": 6e6,
        "rate_control": "minstrel",
    },
    "802.11g": {
        "slot_us": 9.0,
        "sifs_us": 10.0,
        "cca_time_us": 4.0,
        "cw_min": 15,
        "data_rate_bps": 54e6,
        "control_rate_bps": 6e6,
        "broadcast_rate_bps": 6e6,
        "rate_control": "minstrel",
    },
}
"""What belongs to a standard of OFDM (IEEE 802.11-2007 §17.4.4, §19.8.4). A scenario may state others."""

RATE_CONTROL = "aarf"
"""What a device with a range for each rate has unless the scenario says otherwise, as real cards do."""
MARGIN_DB = "link_margin_db"
"""What is added to the receive threshold, in dB."""

WITHOUT_NOISE = {"range_m", "receive_threshold_dbm", MARGIN_DB}
"""Keys that set thresholds, which decide nothing where errors come by rate."""

_POWER = ValueType(kind="number", range=(-170.0, 60.0), unit="dBm")
_RANGE = ValueType(kind="number", range=(0.1, 1e6), unit="m")


@dataclass(frozen=True)
class Stated:
    """Another way to state a parameter of the radio.

    Attributes:
        parameter: The parameter, in the simulator's unit.
        value: What it may be.
        meaning: What it means.
    """

    parameter: str
    value: ValueType
    meaning: str


FIELDS: Mapping[str, Stated] = {
    "range_m": Stated(
        "receive_threshold_w",
        _RANGE,
        "Distance up to which frames are received; with ranges by rate at 2 Mb/s.",
    ),
    "carrier_sense_range_m": Stated(
        "carrier_sense_threshold_w", _RANGE, "Distance up to which a transmission is sensed."
    ),
    "transmit_power_dbm": Stated("transmit_power_w", _POWER, "Transmitted power."),
    "receive_threshold_dbm": Stated(
        "receive_threshold_w", _POWER, "Receiver sensitivity; with ranges by rate at 2 Mb/s."
    ),
    "carrier_sense_threshold_dbm": Stated(
        "carrier_sense_threshold_w", _POWER, "Minimum power that is sensed as a busy medium."
    ),
    "noise_dbm": Stated("noise_w", _POWER, "Noise power for the `sinr` rule."),
    MARGIN_DB: Stated(
        "receive_threshold_w",
        ValueType(kind="number", range=(0.0, 60.0), unit="dB"),
        "Power above the sensitivity that a link needs, for fading, obstacles and bodies.",
    ),
    "antenna_gain_dbi": Stated(
        "antenna_gain", ValueType(kind="number", range=(-30.0, 40.0), unit="dBi"), "Gain of each antenna."
    ),
}
"""What a scenario's section ``radio`` may have beside the simulator's parameters."""


def decided_by(section: Mapping[str, Any], parameter: str) -> str | None:
    """The field of a section that decides a parameter which it does not name itself; None if none does."""
    for name, stated in FIELDS.items():
        if name in section and stated.parameter == parameter:
            return name
    named = DEVICES.get(str(section.get(DEVICE)))
    if named is None:
        return None
    given = {FIELDS[name].parameter if name in FIELDS else name for name in named.values}
    return DEVICE if parameter in given else None


def needed_of_mac(section: Mapping[str, Any], mac: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of the MAC that its standard and the device of a section ``radio`` need."""
    named = DEVICES.get(str(section.get(DEVICE)))
    of_device = dict(named.mac) if named is not None else {}
    if named is not None:
        ranges = section.get("ranges", named.values.get("ranges"))
        errors = section.get("errors", named.values.get("errors"))
        if ranges == "ladder" or errors == "by-rate":
            of_device = {"rate_control": RATE_CONTROL, **of_device}
    standard = mac.get(STANDARD, of_device.get(STANDARD))
    return {**of_device, **STANDARDS.get(str(standard), {})}


def needed_by(section: Mapping[str, Any], name: str) -> str:
    """What asks for a parameter of `needed_of_mac`, in words."""
    named = DEVICES.get(str(section.get(DEVICE)))
    is_of_device = named is not None and (name in named.mac or name == "rate_control")
    return "scenario (radio.device)" if is_of_device else "scenario (mac.standard)"


def allowance(
    section: Mapping[str, Any],
    radio: Mapping[str, Any],
    radios: Sequence[Mapping[str, Any]],
    usual_us: float,
) -> Mapping[str, Any]:
    """The allowance for propagation that the MAC needs where shadows, fading or path loss move ranges.

    Args:
        section: The section as it is written.
        radio: The complete one.
        radios: Nodes with a radio of their own.
        usual_us: What is allowed otherwise.
    """
    if not section.keys() & ENVIRONMENT and radio["errors"] == "thresholds" and not radios:
        return {}
    # Two nodes that are both the strongest there is.
    strongest = {
        name: max([radio[name], *(own[name] for own in radios if own.get(name) is not None)])
        for name in ("transmit_power_w", "antenna_gain", "antenna_height_m")
    }
    farthest_m = _core.farthest_link_m(json.dumps({**radio, **strongest}))
    # Nothing waits longer than a millisecond, which the simulator then says.
    needed_us = math.ceil(min(farthest_m, 1e6) / EXACT_LIGHT_M_PER_S * 1e6 * 10) / 10
    return {"propagation_allowance_us": min(needed_us, MOST_US)} if needed_us > usual_us else {}


def in_watts(section: Mapping[str, Any], usual: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A section ``radio`` of a scenario with nothing but the simulator's parameters.

    Args:
        section: The section as it is written.
        usual: The parameters of the profile.
        where: What errors name as their place.

    Raises:
        InputError: A key or a device is unknown, a value is not allowed, or two statements contradict each
            other.
    """
    names = (DEVICE, *FIELDS, *usual)
    for key in section:
        if key not in names:
            raise unknown("parameter in [radio]", key, names, where)
    if not (section.keys() & {*FIELDS, DEVICE}):
        return dict(section)
    if section.get("errors", usual["errors"]) == "by-rate" and (has := section.keys() & WITHOUT_NOISE):
        found, wanted = (
            f"radio.{min(has)} and errors by rate",
            "one of them: noise decides how far frames reach",
        )
        hint = "radio.transmit_power_dbm, radio.noise_figure_db and radio.noise_dbm move ranges"
        raise InputError("the range is stated twice", f"{where}: radio", found, wanted, hint)
    made: dict[str, Any] = {}
    if (name := section.get(DEVICE)) is not None:
        if name not in DEVICES:
            raise unknown("radio", str(name), DEVICES, f"{where}: radio.{DEVICE}", "radios")
        made = _plain(DEVICES[name].values, usual, where)
    own = {key: value for key, value in section.items() if key not in (DEVICE, MARGIN_DB)}
    made |= _plain(own, {**usual, **made}, where)
    if MARGIN_DB in section:
        made["receive_threshold_w"] = _with_margin(section, {**usual, **made}, where)
    return made


def _with_margin(section: Mapping[str, Any], radio: Mapping[str, Any], where: str) -> float:
    """The receive threshold with the link margin of a section on top, in W."""
    margin_db = _number(MARGIN_DB, section[MARGIN_DB], where)
    if "range_m" in section:
        found, wanted = "range_m and link_margin_db", "one of them: a stated range is what links reach"
        raise InputError("the range is stated twice", f"{where}: radio", found, wanted)
    return float(radio["receive_threshold_w"]) * 10 ** (margin_db / 10)


def _plain(section: Mapping[str, Any], usual: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The parameters of a section without device, in the simulator's units."""
    plain = {name: value for name, value in section.items() if name not in FIELDS}
    said: dict[str, str] = {name: name for name in plain}
    # Distances come last: they depend on power, gain, height and frequency.
    for name in sorted(section.keys() & FIELDS.keys(), key=lambda name: name.endswith("_m")):
        stated, number = FIELDS[name], _number(name, section[name], where)
        if name.endswith("_m"):
            value = power_at({**usual, **plain}, number) * (1 - MARGIN)
        else:
            value = 10 ** (number / 10) * (1.0 if name.endswith("_dbi") else 1e-3)
        if (before := said.get(stated.parameter)) is not None:
            _check_same(plain[stated.parameter], value, (before, name), where)
        else:
            plain[stated.parameter] = value
            said[stated.parameter] = name
    return plain


def _number(name: str, written: object, where: str) -> float:
    """What a field of `FIELDS` says."""
    stated = FIELDS[name]
    if (taken := stated.value.taken(written)) is None:
        place, what = f"{where}: radio.{name}", f"radio.{name} cannot have this value"
        raise InputError(what, place, shown(written), stated.value.wanted, stated.meaning)
    return float(taken)


def _check_same(first: Any, second: float, names: tuple[str, str], where: str) -> None:
    if isinstance(first, int | float) and math.isclose(first, second, rel_tol=CLOSE):
        return
    found = f"{names[0]} says {shown(first)}, {names[1]} says {second:.4g}"
    hint = f"give one of {names[0]} and {names[1]}"
    what = "the radio is stated twice, and differently"
    raise InputError(what, f"{where}: radio", found, "the same from both, or one of them", hint)


def power_at(radio: Mapping[str, Any], distance_m: float) -> float:
    """The received power in W at a distance, by the radio's path loss alone."""
    wavelength_m = LIGHT_M_PER_S / float(radio["frequency_hz"])
    gain, height_m = float(radio["antenna_gain"]), float(radio["antenna_height_m"])
    radiated_w = float(radio["transmit_power_w"]) * gain * gain / float(radio["system_loss"])
    kind = radio.get("path_loss", "two-ray")
    if kind == "two-ray" and distance_m >= 4 * math.pi * height_m**2 / wavelength_m:
        return radiated_w * height_m**4 / distance_m**4
    if kind in ("two-ray", "friis"):
        return radiated_w * (wavelength_m / (4 * math.pi * distance_m)) ** 2
    reference_m = float(radio["reference_distance_m"])
    power_w = radiated_w * (wavelength_m / (4 * math.pi * reference_m)) ** 2
    slopes = [(reference_m, float(radio["path_loss_exponent"]))]
    if kind == "three-slopes":
        starts_m = [reference_m, float(radio["slope_2_from_m"]), float(radio["slope_3_from_m"])]
        slopes = [(start, float(radio[f"slope_{at}_exponent"])) for at, start in enumerate(starts_m, 1)]
    ends_m = [start for start, _ in slopes[1:]] + [math.inf]
    for (start_m, exponent), end_m in zip(slopes, ends_m, strict=True):
        if distance_m > start_m:
            power_w *= (min(distance_m, end_m) / start_m) ** -exponent
    return power_w
