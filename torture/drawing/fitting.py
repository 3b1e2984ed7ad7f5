"""Makes what was drawn fit together, where a combination of parameters is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from manetlab import _core, parameters
from manetlab.parameters import Params
from manetlab.radio_units import STANDARDS
from torture.drawing.state import NO_TCP, Fields

RATES_BPS = (1e6, 2e6, 5.5e6, 11e6)
"""The rates of 802.11b."""
OFDM_BPS = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
RATES_OF = {
    "802.11b": RATES_BPS,
    "802.11a": OFDM_BPS,
    "802.11g": tuple(sorted((*RATES_BPS, *OFDM_BPS))),
}
"""The rates of each standard."""
SLOPE_STARTS = ("reference_distance_m", "slope_2_from_m", "slope_3_from_m")
LIGHT_S_PER_M = 1e6 / 299_792_458.0
"""Travel time of light, in µs a metre."""


def values_of(profile: str, routing: str, sender: str, changes: Mapping[str, Fields]) -> Params:
    """Every parameter's value."""
    values = parameters.profile(profile)
    protocol, _, name = routing.partition(":")
    if name and protocol != parameters.PYTHON:
        values = parameters.apply_routing_set(values, protocol, name, "")
    if sender != NO_TCP:
        values = parameters.apply_sender(values, sender, "")
    return {section: {**held, **changes.get(section, {})} for section, held in values.items()}


def fit_code(changes: dict[str, Fields], values: Params) -> None:
    """Leaves a code out that is refused: of blocks without data, or where noise decides about frames."""
    mac, radio = values["mac"], values["radio"]
    # Noise that others add to is in the errors by rate.
    counts_noise = radio["errors"] == "by-rate" or radio["capture"] == "as-noise"
    if mac["fec_parity_bytes"] >= mac["fec_block_bytes"] or (mac["fec_parity_bytes"] and counts_noise):
        mac["fec_parity_bytes"] = changes.setdefault("mac", {})["fec_parity_bytes"] = 0


def fit(changes: dict[str, Fields], values: Params, has_rates: bool) -> float:
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


def _ranges(values: Params) -> tuple[float, float]:
    """How far data frames reach, and how far any frame with the greatest gain there is, in m."""
    range_m, farthest_m, _ = _core.radio_ranges(json.dumps(values))
    return range_m, max(farthest_m, _core.farthest_link_m(json.dumps(values["radio"])))
