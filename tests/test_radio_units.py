"""The radio in metres, dBm and by device is the same radio in watts."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetlab import InputError, Scenario, _core, run
from manetlab.radio_units import DEVICES, FIELDS, in_watts, power_at
from manetlab.scenario_warnings import before_run, fast_and_far, grey_zone, short_of_data
from tests.conftest import Cli
from tests.examples import chain


def params(**radio: Any) -> dict[str, dict[str, Any]]:
    return chain(radio=radio).resolve().params


def ranges_m(**radio: Any) -> tuple[float, float, float]:
    """How far data frames, the frames that reach farthest, and carrier sense reach."""
    made = params()
    made["radio"] |= in_watts(radio, made["radio"], "test")
    return _core.radio_ranges(json.dumps(made))


@given(st.floats(1, 3000), st.floats(1, 3), st.floats(0.5, 30), st.floats(-5, 30))
def test_a_range_in_metres_is_the_range_of_the_simulator(
    range_m: float, farther: float, height_m: float, gain_dbi: float
) -> None:
    sense_m = range_m * farther
    stated = {"range_m": range_m, "carrier_sense_range_m": sense_m}
    found = ranges_m(**stated, antenna_height_m=height_m, antenna_gain_dbi=gain_dbi)
    assert found[0] == pytest.approx(range_m, rel=1e-9) and found[0] >= range_m
    assert found[2] == pytest.approx(sense_m, rel=1e-9) and found[2] >= sense_m


def test_powers_in_dbm_are_those_in_watts() -> None:
    radio = params(transmit_power_dbm=20, receive_threshold_dbm=-60, noise_dbm=-100, antenna_gain_dbi=3)[
        "radio"
    ]
    assert radio["transmit_power_w"] == pytest.approx(0.1)
    assert radio["receive_threshold_w"] == pytest.approx(1e-9)
    assert radio["noise_w"] == pytest.approx(1e-13)
    assert radio["antenna_gain"] == pytest.approx(1.9953, rel=1e-4)


def test_nothing_changes_where_nothing_is_stated_so() -> None:
    usual = chain().resolve()
    assert chain(radio={"device": "wavelan-914"}).resolve().hash == usual.hash
    radio = usual.params["radio"]
    assert power_at(radio, 250.0) == pytest.approx(radio["receive_threshold_w"], rel=1e-3)
    assert power_at(radio, 550.0) == pytest.approx(radio["carrier_sense_threshold_w"], rel=1e-3)


def test_a_misspelt_power_leads_to_the_one_in_its_unit() -> None:
    with pytest.raises(InputError) as caught:
        params(tx_power_dbm=15)
    assert 'did you mean "transmit_power_dbm"?' in str(caught.value)
    with pytest.raises(InputError, match="no such parameter in \\[radio\\]"):
        params(x=1)


def test_the_same_said_twice_is_taken_and_a_contradiction_is_not() -> None:
    power_w = power_at(params()["radio"], 100.0)
    both = params(range_m=100.0, receive_threshold_w=power_w)["radio"]
    assert both["receive_threshold_w"] == power_w
    for contradicting in (
        {"range_m": 100.0, "receive_threshold_w": 3.652e-10},
        {"range_m": 100.0, "receive_threshold_dbm": -90},
        {"transmit_power_w": 0.1, "transmit_power_dbm": 15},
    ):
        with pytest.raises(InputError, match="stated twice") as caught:
            params(**contradicting)
        assert all(name in caught.value.found for name in contradicting)


def test_devices_reach_as_far_as_they_say() -> None:
    assert ranges_m(device="wavelan-914")[0] == pytest.approx(250, abs=0.1)
    assert ranges_m(device="wavelan-914")[2] == pytest.approx(550, abs=0.1)
    for rate_bps, range_m in ((1e6, 796), (2e6, 670), (5.5e6, 532), (11e6, 399)):
        mac = {"data_rate_bps": rate_bps, "rate_control": "fixed"}
        made = chain(radio={"device": "orinoco-gold"}, mac=mac).resolve()
        assert _core.radio_ranges(json.dumps(made.params))[0] == pytest.approx(range_m, abs=1)
        assert str(range_m) in DEVICES["orinoco-gold"].meaning
    assert ranges_m(device="ns-2-11mbps")[0] == pytest.approx(22.5, abs=0.1)
    assert all(device.source for device in DEVICES.values())


def test_a_device_can_be_changed_and_says_what_it_set() -> None:
    made = chain(radio={"device": "orinoco-gold", "range_m": 120.0}, mac={"rate_control": "fixed"})
    assert _core.radio_ranges(json.dumps(made.resolve().params))[0] == pytest.approx(120.0)
    assert made.set_by("radio", "frequency_hz") == "scenario (radio.device)"
    assert made.set_by("radio", "receive_threshold_w") == "scenario (radio.range_m)"
    assert made.set_by("radio", "capture").startswith("profile")
    with pytest.raises(InputError, match="no such radio") as caught:
        params(device="Orinoco-Gold")
    assert "orinoco-gold" in caught.value.hint


@pytest.mark.parametrize("name", FIELDS)
def test_values_that_no_radio_has_are_refused(name: str) -> None:
    for value in (math.nan, 1e12, "far", None, True):
        with pytest.raises(InputError, match=f"radio.{name} cannot have this value"):
            params(**{name: value})


def test_fast_frames_that_reach_far_are_told_unless_that_is_said() -> None:
    def told(radio: dict[str, Any], **mac: Any) -> str | None:
        return fast_and_far(chain(radio=radio, mac=mac).resolve())

    assert told({}) is None
    assert "11 Mb/s reach 250 m" in str(told({}, data_rate_bps=11e6))
    assert "11 Mb/s" in str(told({"range_m": 100}, rate_control="arf"))
    assert told({"ranges": "equal"}, data_rate_bps=11e6) is None
    assert told({"ranges": "ladder"}, data_rate_bps=11e6) is None
    assert told({"device": "orinoco-gold"}, data_rate_bps=11e6) is None
    resolved = chain(mac={"data_rate_bps": 11e6}).resolve()
    assert fast_and_far(resolved) in before_run(resolved)


def test_a_device_with_several_rates_adapts_them_unless_the_scenario_says_otherwise() -> None:
    def control(radio: dict[str, Any], **mac: Any) -> str:
        return str(chain(radio=radio, mac=mac).resolve().params["mac"]["rate_control"])

    assert control({"device": "orinoco-gold"}) == "aarf"
    assert control({"device": "orinoco-gold"}, data_rate_bps=11e6) == "aarf"
    assert control({"device": "orinoco-gold"}, rate_control="fixed") == "fixed"
    assert control({"device": "orinoco-gold", "ranges": "equal"}) == "fixed"
    assert control({"device": "wavelan-914"}) == control({"ranges": "ladder"}) == "fixed"
    made = chain(radio={"device": "orinoco-gold"})
    assert made.set_by("mac", "rate_control") == "scenario (radio.device)"


def test_broadcasts_that_reach_farther_than_data_are_told() -> None:
    def told(radio: dict[str, Any], routing: str = "aodv", **fields: Any) -> str | None:
        return grey_zone(chain(radio=radio, routing=routing, **fields).resolve())

    card = {"device": "orinoco-gold"}
    fast = {"data_rate_bps": 11e6, "rate_control": "fixed"}
    found = str(told(card, mac=fast))
    assert found.startswith(
        "broadcasts reach 796 m, data 399 m: routes are found over links that carry no data"
    )
    assert "mac.rate_control" in found and "mac.broadcast_rate_bps" in found
    assert told(card, mac={"data_rate_bps": 11e6}) is None
    assert told(card, mac={**fast, "broadcast_rate_bps": 11e6}) is None
    # Static routes take links that carry data, flooding sends data as broadcasts.
    assert told(card, "static", mac=fast) is None and told(card, "flooding", mac=fast) is None
    assert told({}, mac=fast) is None
    ladder = {"ranges": "ladder"}
    assert "data 149 m" in str(told(ladder, rates=[{"src": 0, "rate_bps": 11e6}]))
    resolved = chain(radio=card, mac=fast, routing="dsr").resolve()
    assert grey_zone(resolved) in before_run(resolved)


def test_data_that_reaches_farther_than_what_every_link_needs_is_told() -> None:
    def made(routing: str = "aodv", profile: str = "rfc", **mac: Any) -> Scenario:
        # Neighbours are 200 m apart: 6 Mb/s reach 149 m, and the slowest rate that Minstrel has 297 m.
        fields: dict[str, Any] = {"radio": {"ranges": "ladder"}, "mac": {"standard": "802.11g", **mac}}
        return chain(routing=routing, profile=profile, **fields)

    def told(scenario: Scenario) -> str:
        found = str(short_of_data(scenario.resolve()))
        delivered = run(scenario).totals["cbr_delivery_fraction"]
        assert delivered == 0.0 if found != "None" else delivered > 0.9
        return found

    for routing in ("aodv", "static", "flooding"):
        assert told(made(routing)).startswith(
            "broadcasts reach 149 m, data 297 m: no link of more than 149 m"
        )
    assert told(made(broadcast_rate_bps=1e6)) == "None"
    # In the profiles of ns-2 ACKs have the rate of control frames.
    assert told(made(profile="ns-2.35")).startswith("broadcasts and ACKs reach 149 m")
    assert told(made(profile="ns-2.35", broadcast_rate_bps=1e6)).startswith("ACKs reach 149 m")
    assert told(made(profile="ns-2.35", broadcast_rate_bps=1e6, control_rate_bps=1e6)) == "None"
    # Static routes without ARP need no broadcast.
    assert told(made("static").changed(arp={"enabled": False})) == "None"
    resolved = made().resolve()
    assert short_of_data(resolved) in before_run(resolved)


def test_a_link_margin_shortens_links_and_not_what_is_sensed() -> None:
    plain, with_margin = ranges_m(**(card := {"device": "orinoco-gold"})), ranges_m(**card, link_margin_db=12)
    # Two-ray ground: 12 dB are half the distance.
    assert with_margin[1] == pytest.approx(plain[1] / 10 ** (12 / 40), rel=1e-6)
    assert with_margin[2] == plain[2]
    slowed = chain(
        radio={**card, "link_margin_db": 12.7}, mac={"data_rate_bps": 11e6, "rate_control": "fixed"}
    )
    assert _core.radio_ranges(json.dumps(slowed.resolve().params))[0] == pytest.approx(160, abs=2)
    assert ranges_m(link_margin_db=0.0)[0] == ranges_m()[0]
    with pytest.raises(InputError, match="stated twice"):
        params(range_m=100.0, link_margin_db=3)


def test_factors_and_the_command_line_take_metres(cli: Cli) -> None:
    from manetlab import Campaign

    campaign = Campaign(base=chain().to_dict(), factors={"radio.range_m": [210, 300]}, replications=1)
    found = [
        _core.radio_ranges(json.dumps(campaign.scenario(point, 0).resolve().params))[0] for point in (0, 1)
    ]
    assert found == pytest.approx([210, 300])
    done = cli("list", "radios")
    assert all(name in done.stdout for name in DEVICES)


def test_a_scenario_keeps_what_was_written() -> None:
    made = Scenario.build({**chain().to_dict(), "radio": {"range_m": 100}})
    assert made.to_dict()["radio"] == {"range_m": 100}
