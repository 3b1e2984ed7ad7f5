"""What radios take from their batteries, and what follows when these are empty."""

from __future__ import annotations

import math
from typing import Any

import pytest

from manetlab import run
from manetlab.errors import InputError
from manetlab.scenario_warnings import after_run
from tests.test_failures import chain

LAYERS = ("data", "routing", "arp", "mac", "busy", "idle")


def test_ten_joules_of_idling_last_12_21_s() -> None:
    result = run(chain(traffic={"flows": []}, energy={"radio": "ns-3", "battery_j": 10.0}))
    assert result.totals["energy_first_death_s"] == pytest.approx(10.0 / (0.273 * 3.0), abs=2e-9)
    assert result.totals["energy_dead_nodes"] == 3
    assert result.totals["energy_j"] == pytest.approx(30.0, abs=1e-9)
    assert result.totals["energy_idle_j"] == pytest.approx(30.0, abs=1e-9)


def test_counting_changes_nothing_and_the_layers_add_up() -> None:
    plain, counted = run(chain()), run(chain(energy={}))
    assert counted.hash == plain.hash
    assert "energy_j" not in plain.totals
    totals = counted.totals
    by_layer = {name: totals[f"energy_{name}_j"] for name in LAYERS}
    assert totals["energy_j"] == pytest.approx(sum(by_layer.values()))
    without = sum(by_layer[name] for name in ("data", "routing", "arp", "mac"))
    assert totals["energy_without_idle_j"] == pytest.approx(without)
    assert all(spent > 0.0 for spent in by_layer.values())
    # Three radios that idle at 178 mA and 4.74 V.
    assert by_layer["idle"] == pytest.approx(3 * 41.0 * 0.178 * 4.74, rel=0.1)
    delivered_kb = totals["cbr_received"] * 0.256
    assert totals["energy_per_delivered_kb_j"] == pytest.approx(totals["energy_j"] / delivered_kb)
    assert totals["energy_first_death_s"] is None


def test_energy_of_transmission_is_power_times_airtime() -> None:
    energy = {"voltage_v": 2.0, "tx_a": 0.5, "rx_a": 0.0, "busy_a": 0.0, "idle_a": 0.0}
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0, "bytes": 1000, "interval_s": 100.0}
    result = run(chain(2, routing="static", traffic={"flows": [flow]}, energy=energy, warmup_s=0.0))
    assert result.totals["cbr_received"] == 1
    # 1 W: 192 µs of preamble and header at 1 Mb/s, then 1000 bytes, 28 of UDP and IP, 8 of LLC and 28 of the
    # MAC at 2 Mb/s.
    assert result.totals["energy_data_j"] == pytest.approx(192e-6 + 1064 * 8 / 2e6, abs=1e-12)


@pytest.mark.parametrize(
    ("battery_j", "told"),
    [
        (1.0, "all batteries are empty before the run ends, half of them at 1.185 s of 41 s"),
        (20.0, "all batteries are empty"),
        (1e6, None),
        (None, None),
    ],
)
def test_batteries_that_are_empty_before_the_end_are_told(battery_j: float | None, told: str | None) -> None:
    result = run(chain(energy={} if battery_j is None else {"battery_j": battery_j}))
    found = after_run([result, result])
    assert [told in each for each in found] == ([] if told is None else [True])


def test_half_of_the_batteries_are_told_too() -> None:
    absent = [{"node": 1, "at_s": 0.0}]
    result = run(chain(traffic={"flows": []}, energy={"battery_j": 10.0}, failures=absent))
    assert "the batteries of 2 of 3 nodes are empty" in after_run([result])[0]


def test_a_relay_with_an_empty_battery_is_as_one_that_has_failed() -> None:
    """It is empty at 20 s; only the relay transmits that much, as the others idle for nothing."""
    energy = {"voltage_v": 1.0, "tx_a": 1.0, "rx_a": 0.0, "busy_a": 0.0, "idle_a": 0.0, "battery_j": 0.3}
    result = run(chain(energy=energy, warmup_s=0.0))
    death_s = result.totals["energy_first_death_s"]
    assert 5.0 < death_s < 35.0
    failed = run(chain(warmup_s=0.0, failures=[{"node": 1, "at_s": death_s}]))
    assert failed.totals["cbr_received"] == pytest.approx(result.totals["cbr_received"], abs=1)
    assert result.totals["cbr_received"] == pytest.approx(10 * (death_s - 1.0), abs=4)
    assert result.totals["cbr_both_up_delivery_fraction"] >= result.totals["cbr_delivery_fraction"]


def test_a_frame_that_is_on_the_air_when_the_battery_is_empty_is_lost() -> None:
    flow = {"kind": "cbr", "src": 0, "dst": 1, "start_s": 1.0, "bytes": 1500, "interval_s": 100.0}
    made: dict[str, Any] = {"traffic": {"flows": [flow]}, "routing": "static", "nodes": 2, "warmup_s": 0.0}
    free = {"voltage_v": 1.0, "tx_a": 1.0, "rx_a": 0.0, "busy_a": 0.0, "idle_a": 0.0}
    whole = run(chain(**made, energy=free))
    assert whole.totals["cbr_received"] == 1
    # ARP and RTS leave enough for half of the data frame.
    needed_j = whole.totals["energy_j"] - whole.totals["energy_data_j"] / 2
    cut = run(chain(**made, energy={**free, "battery_j": needed_j / 2}))
    assert cut.totals["energy_dead_nodes"] >= 1
    assert cut.totals["cbr_received"] == 0


def test_all_batteries_empty_balances_the_books() -> None:
    result = run(chain(energy={"battery_j": 1e-6}))
    assert result.totals["energy_dead_nodes"] == 3
    assert result.totals["energy_half_dead_s"] < 1e-5
    assert result.totals["cbr_received"] == 0
    assert result.totals["cbr_sent"] > 0
    assert result.totals["energy_per_delivered_kb_j"] is None


def test_a_node_that_is_away_spends_nothing() -> None:
    result = run(
        chain(traffic={"flows": []}, energy={"battery_j": 10.0}, failures=[{"node": 1, "at_s": 0.0}])
    )
    assert result.totals["energy_dead_nodes"] == 2
    assert result.totals["energy_j"] == pytest.approx(20.0, abs=1e-9)


@pytest.mark.parametrize(
    ("energy", "told"),
    [
        ({"battery_j": 0.0}, "energy.battery_j"),
        ({"battery_j": math.nan}, "energy.battery_j"),
        ({"tx_a": -0.1}, "energy.tx_a"),
        ({"voltage_v": 0.0}, "energy.voltage_v"),
        ({"radio": "torch"}, "wavelan"),
        ({"batery_j": 1.0}, "batery_j"),
    ],
)
def test_batteries_that_cannot_be_are_told(energy: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        chain(energy=energy).resolve()
    assert told in str(caught.value)
