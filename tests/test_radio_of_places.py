"""The radio of real places in whole runs: path loss, shadows, fading, noise, and the rates of OFDM."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from manetlab import Scenario, _core, run
from manetlab.errors import InputError
from manetlab.links import links, summary
from manetlab.radio_units import DEVICES, STANDARDS
from manetlab.running import Result
from tests.conftest import Cli


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


def test_noise_far_below_changes_nothing() -> None:
    """Where every frame that is sensed is decoded, noise that destroys none leaves the run as it was."""
    threshold_w = chain_params()["carrier_sense_threshold_w"]
    disc = run(walkers(radio={"receive_threshold_w": threshold_w}))
    noisy = run(walkers(radio={"receive_threshold_w": threshold_w, "errors": "by-rate", "noise_w": 1e-20}))
    assert noisy.totals["bit_error_fraction"] == 0.0
    without = {"bit_error_fraction", "collision_fraction"}
    told = [
        {name: value for name, value in result.totals.items() if name not in without}
        for result in (disc, noisy)
    ]
    assert told[0] == told[1]
    assert disc.flows == noisy.flows


def chain_params() -> dict[str, Any]:
    return dict(hop().resolve().params["radio"])


def test_walls_take_from_links_and_an_opaque_ring_partitions_the_network() -> None:
    ring = [[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0]]
    open_field = hop(100.0)
    shut = hop(100.0, walls=[{"points": ring, "building": True, "opaque": True}])
    assert carried_kbps(open_field) > 100.0
    assert carried_kbps(shut) == 0.0
    assert len(links(open_field.resolve())) == 2
    assert links(shut.resolve()) == []
    # 30 dB at the fourth power: a link of 100 m is as one of 562 m.
    behind = hop(100.0, walls=[{"points": ring, "db": 30.0, "building": True}])
    assert carried_kbps(behind) == 0.0


def test_a_wall_of_0_db_changes_no_result() -> None:
    wall = [{"points": [[100.0, 0.0], [100.0, 300.0]]}]
    plain, walled = run(walkers()), run(walkers(walls=wall))
    assert plain.totals == walled.totals
    assert plain.flows == walled.flows


def test_static_routes_go_round_a_wall() -> None:
    positions = [[0.0, 0.0], [200.0, 0.0], [100.0, 150.0]]
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 0.5, "bytes": 512, "interval_s": 0.1}
    fields: dict[str, Any] = {"movement": {"positions": positions}, "traffic": {"flows": [flow]}}
    wall = [{"points": [[100.0, -50.0], [100.0, 50.0]], "opaque": True}]
    direct, round_it = run(hop(**fields)), run(hop(**fields, walls=wall))
    assert direct.flows[0]["hops_mean"] == 1.0
    assert round_it.flows[0]["hops_mean"] == 2.0


def test_a_stronger_node_is_heard_and_does_not_hear() -> None:
    scenario = hop(400.0, radios=[{"node": 0, "transmit_power_w": 4.5}])
    found = links(scenario.resolve())
    assert [(link.src, link.dst) for link in found] == [(0, 1)]
    # Frames arrive, and no answer comes back.
    result = run(scenario.changed(routing="aodv"))
    assert result.totals["cbr_received"] == 0


def test_aodv_goes_round_a_link_that_goes_one_way_by_its_blacklist() -> None:
    """The first node of a chain reaches past its neighbour: no answer comes from there (RFC 3561 §6.8)."""
    positions = [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0]]
    flow = {"kind": "cbr", "src": 0, "dst": 2, "start_s": 0.5, "bytes": 256, "interval_s": 0.25}
    fields: dict[str, Any] = {
        "duration_s": 30.0,
        "movement": {"positions": positions},
        "traffic": {"flows": [flow]},
        "routing": "aodv",
        "radios": [{"node": 0, "transmit_power_w": 4.5}],
    }
    told = run(hop(**fields, aodv={"blacklist": True}))
    forgotten = run(hop(**fields, aodv={"blacklist": False}))
    assert told.totals["cbr_delivery_fraction"] > 0.9
    assert told.flows[0]["hops_mean"] == 2.0
    assert forgotten.totals["cbr_received"] == 0


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("walls", [{"points": [[0.0, 0.0]]}], "walls[0].points"),
        ("walls", [{"points": [[0.0, 0.0], [math.nan, 1.0]]}], "walls[0].points[1]"),
        ("walls", [{"points": [[0, 0], [1, 1], [1, 0], [0, 1]], "building": True}], "edges 0 and 2 cross"),
        ("walls", [{"points": [[0, 0], [1, 1]], "db": -3.0}], "walls[0].db"),
        ("walls", [{"points": [[0, 0], [1, 1]], "db_per_m": 1.0}], "building = true"),
        ("radios", [{"node": 7}], "radios[0].node"),
        ("radios", [{"node": 0, "transmit_power_w": 0.0}], "radios[0].transmit_power_w"),
    ],
)
def test_walls_and_radios_that_cannot_be_used_are_told(field: str, value: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        hop(**{field: value}).resolve()
    assert told in str(caught.value)


def test_too_many_walls_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        hop(walls=[{"points": [[0.0, 0.0], [1.0, 1.0]]}] * 200_001)
    assert caught.value.where.endswith("walls")
    assert (caught.value.found, caught.value.wanted) == ("200001", "at most 200000")


def test_links_are_good_grey_and_bad_by_distance() -> None:
    radio = {"device": "orinoco-gold-noise", "path_loss": "log-distance", "shadowing_db": 6.0}
    resolved = walkers(radio={**radio, "fading": "rayleigh"}).resolve()
    told = summary(resolved)
    assert told["good"] and told["grey"]
    deliveries = [each["delivery"] for each in told["distances"] if each["pairs"] > 10]
    assert deliveries[0] > deliveries[-1]
    assert sum(each["good"] for each in told["distances"]) == told["good"]
    # On the disc every link is good, and its way back as well.
    plain = summary(walkers().resolve())
    assert plain["grey"] == plain["one_way"] == 0


WALLED = """
duration_s = 10.0
radio = { shadowing_db = 6.0, path_loss = "log-distance", range_m = 150.0 }
movement.waypoint = { nodes = 15, width_m = 500.0, height_m = 300.0 }
traffic.random.cbr = 3

[[walls]]
points = [[100.0, 0.0], [100.0, 300.0]]
db = 9.0
"""


def test_the_command_tells_and_draws_links(cli: Cli, tmp_path: Path) -> None:
    file, picture = tmp_path / "walls.toml", tmp_path / "links.svg"
    file.write_text(WALLED, encoding="utf-8")
    assert "good links" in cli("scenario", "links", str(file)).stdout
    cli("scenario", "plot", str(file), "--what", "delivery", "-o", str(tmp_path / "delivery.svg"))
    cli("scenario", "plot", str(file), "--what", "links", "-o", str(picture))
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert picture.read_text(encoding="utf-8").count("stroke: #7b5e57") == 1
    assert "grey links" in cli("scenario", "report", str(file)).stdout
