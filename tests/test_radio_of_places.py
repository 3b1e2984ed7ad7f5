"""The radio of real places in whole runs: path loss, shadows, fading, noise, and the rates of OFDM."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from manetlab import Scenario, _core, run
from manetlab.errors import InputError
from manetlab.radio_units import DEVICES, STANDARDS
from manetlab.running import Result


def hop(metres: float = 10.0, **changes: Any) -> Scenario:
    """A saturated hop: datagrams of 1472 bytes, as many as the MAC carries."""
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 1472, "interval_s": 0.0002}
    fields: dict[str, Any] = {
        "duration_s": 6.0,
        "warmup_s": 1.0,
        "routing": "static",
        "movement": {"positions": [[0.0, 0.0], [metres, 0.0]]},
        "traffic": {"flows": [flow]},
    }
    return Scenario(**{**fields, **changes})


def carried_kbps(scenario: Scenario) -> float:
    result: Result = run(scenario)
    return float(result.totals["cbr_throughput_bps"] or 0.0) / 1e3


def walkers(**changes: Any) -> Scenario:
    fields: dict[str, Any] = {
        "duration_s": 30.0,
        "warmup_s": 2.0,
        "routing": "aodv",
        "movement": {"waypoint": {"nodes": 15, "width_m": 500.0, "height_m": 300.0, "speed_max": 5.0}},
        "traffic": {"random": {"cbr": 4}},
    }
    return Scenario(**{**fields, **changes})


@pytest.mark.parametrize(("mbps", "data_us", "ack_us"), [(6, 2078, 50), (24, 542, 34), (54, 254, 34)])
def test_a_hop_of_802_11g_carries_what_the_standards_times_allow(
    mbps: int, data_us: float, ack_us: float
) -> None:
    mac = {"rate_control": "fixed", "data_rate_bps": mbps * 1e6}
    carried = carried_kbps(hop(radio={"device": "802.11g-minimum"}, mac=mac))
    # DIFS, 7.5 slots on average, the frame, SIFS, the ACK.
    closed_kbps = 1472 * 8e3 / (28 + 7.5 * 9 + data_us + 10 + ack_us)
    assert carried == pytest.approx(closed_kbps, rel=0.01)


def test_protection_costs_its_frames() -> None:
    def carried(protection: str) -> float:
        mac = {"rate_control": "fixed", "data_rate_bps": 54e6, "protection": protection}
        return carried_kbps(hop(radio={"device": "802.11g-minimum"}, mac=mac))

    # A CTS at 6 Mb/s and a SIFS: 50 + 10 µs; with an RTS 58 + 10 µs more.
    base_us = 28 + 7.5 * 9 + 254 + 10 + 34
    assert carried("cts-to-self") == pytest.approx(1472 * 8e3 / (base_us + 60), rel=0.01)
    assert carried("rts-cts") == pytest.approx(1472 * 8e3 / (base_us + 128), rel=0.01)


def test_a_standard_brings_its_values_and_a_scenario_changes_them() -> None:
    made = hop(mac={"standard": "802.11g", "cw_min": 31}).resolve()
    wanted = {**STANDARDS["802.11g"], "cw_min": 31, "standard": "802.11g"}
    assert {name: made.params["mac"][name] for name in wanted} == wanted


def test_54_mbps_under_802_11b_is_refused_and_says_where_it_is() -> None:
    with pytest.raises(InputError) as caught:
        hop(mac={"data_rate_bps": 54e6}).resolve()
    assert 'mac.standard must be "802.11g"' in str(caught.value)


def test_minstrel_comes_near_the_best_rate_of_a_link() -> None:
    def carried(metres: float, **mac: Any) -> float:
        radio = {"device": "802.11g-minimum"}
        return carried_kbps(hop(metres, radio=radio, mac=mac))

    for metres, best_bps in ((30.0, 54e6), (150.0, 24e6)):
        fixed = carried(metres, rate_control="fixed", data_rate_bps=best_bps)
        assert carried(metres) > 0.85 * fixed, metres


@pytest.mark.parametrize("capture", ["pairwise", "sinr", "locking", "as-noise"])
@pytest.mark.parametrize("fading", ["rayleigh", "rice", "nakagami"])
def test_books_balance_and_runs_repeat_under_every_rule(capture: str, fading: str) -> None:
    radio = {
        "device": "orinoco-gold-noise",
        "capture": capture,
        "path_loss": "log-distance",
        "shadowing_db": 6.0,
        "fading": fading,
    }
    scenario = walkers(radio=radio)
    first, again = run(scenario), run(scenario)
    assert first.hash == again.hash
    assert first.totals["cbr_received"] > 0


def test_a_range_stays_what_it_is_whatever_the_path_loss() -> None:
    for path_loss in ("friis", "two-ray", "log-distance", "three-slopes"):
        near, far = (
            hop(metres, radio={"path_loss": path_loss, "range_m": 200.0, "carrier_sense_range_m": 300.0})
            for metres in (199.9, 200.1)
        )
        assert carried_kbps(near) > 100.0
        assert carried_kbps(far) == 0.0


def test_a_range_in_metres_is_refused_where_noise_decides() -> None:
    with pytest.raises(InputError) as caught:
        hop(radio={"errors": "by-rate", "range_m": 100.0}).resolve()
    assert "radio.range_m" in caught.value.found


def test_the_allowance_for_propagation_follows_the_longest_link_unless_it_is_stated() -> None:
    radio = {"shadowing_db": 6.0, "path_loss": "log-distance", "range_m": 250.0}
    made = hop(radio=radio).resolve().params["mac"]["propagation_allowance_us"]
    # 18 dB at an exponent of 3: four times as far.
    assert made == pytest.approx(250 * 10**0.6 / 299.792458, abs=0.1)
    with pytest.raises(InputError):
        hop(radio=radio, mac={"propagation_allowance_us": 1.0}).resolve()
    plain = hop().resolve().params["mac"]["propagation_allowance_us"]
    assert plain == 2.0


def test_cards_with_noise_reach_as_far_as_their_sensitivities_say() -> None:
    radio = {"device": "orinoco-gold-noise", "path_loss": "log-distance", "path_loss_exponent": 3.0}
    for bps, dbm in ((1e6, -94.0), (2e6, -91.0), (5.5e6, -87.0), (11e6, -82.0)):
        mac = {"rate_control": "fixed", "data_rate_bps": bps}
        reach_m = _core.radio_ranges(json.dumps(hop(radio=radio, mac=mac).resolve().params))[0]
        loss_db = 15.0 - dbm
        wanted_m = 10 ** ((loss_db - 20 * math.log10(4 * math.pi * 2.437e9 / 3e8)) / 30)
        assert reach_m == pytest.approx(wanted_m, rel=0.05), bps


def test_every_device_resolves() -> None:
    for name in DEVICES:
        hop(radio={"device": name}).resolve()
