"""The cheap part of the validation, with the tolerances of the whole; `make validate` runs all of it."""

import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean

import pytest

from manetlab import parameters, run, run_many
from manetlab.capacity import TABLE_1_1_BPS
from manetlab.papers import capacity, ledger
from manetlab.stats import Interval, mean_interval
from validation import REFERENCE, chains, mobile, one_hop, saturation, table_1_1
from validation.check import as_ns2_ran, ns2_runs, replications
from validation.theory import Frames, attempt_probability, one_sender_bps


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_short_chains_agree_with_ns2(hops: int) -> None:
    theirs = [run for run in ns2_runs(REFERENCE) if run["scen"] == f"chain{hops}.tcl"]
    results = run_many(replications(as_ns2_ran(REFERENCE, theirs[0]), 5))
    ours = mean_interval([result.totals["tcp_throughput_bps"] / 1e6 for result in results])
    assert chains.agrees(hops, ours.mean, mean_interval([run["tcp_mbps"] for run in theirs]))


def test_mobile_networks_are_near_ns2() -> None:
    # Three scenarios cannot meet tolerances made for means of fifteen; a broken protocol misses these.
    check = mobile.check(REFERENCE, seeds=1, scenarios_per_group=3)
    results = run_many(check.scenarios)
    assert len(check.evaluate(results)) == 3
    theirs = [
        run
        for group in mobile.GROUPS
        for run in [r for r in ns2_runs(REFERENCE) if r["id"].endswith(f"{group}-AODV")][:3]
    ]
    for ours, run_of_ns2 in zip(results, theirs, strict=True):
        assert ours.totals["cbr_delivery_fraction"] == pytest.approx(run_of_ns2["cbr_delivery"], rel=0.25)
        assert ours.totals["routing_packets_per_s"] == pytest.approx(
            run_of_ns2["routing_pkts_per_s"], rel=0.35
        )


def test_dsr_in_mobile_networks_is_near_ns2() -> None:
    check = mobile.check(REFERENCE, seeds=1, scenarios_per_group=5, protocol="DSR")
    results = run_many(check.scenarios)
    assert len(check.evaluate(results)) == 2
    runs = ns2_runs(REFERENCE, "DSR")
    theirs = [run for group in ("1tcp", "cbr25") for run in [r for r in runs if group in r["id"]][:5]]
    for ours, run_of_ns2 in zip(results, theirs, strict=True):
        assert ours.totals["cbr_delivery_fraction"] == pytest.approx(run_of_ns2["cbr_delivery"], rel=0.10)
    # What single networks need varies by a factor of two from seed to seed, the mean does not.
    routing = fmean(ours.totals["routing_packets_per_s"] for ours in results)
    assert routing == pytest.approx(fmean(run["routing_pkts_per_s"] for run in theirs), rel=0.20)


def test_dsdv_in_mobile_networks_is_near_ns2() -> None:
    check = mobile.check(REFERENCE, seeds=1, scenarios_per_group=5, protocol="DSDV")
    results = run_many(check.scenarios)
    assert len(check.evaluate(results)) == 2
    runs = ns2_runs(REFERENCE, "DSDV")
    theirs = [run for group in ("1tcp", "cbr25") for run in [r for r in runs if group in r["id"]][:5]]
    for ours, run_of_ns2 in zip(results, theirs, strict=True):
        assert ours.totals["cbr_delivery_fraction"] == pytest.approx(run_of_ns2["cbr_delivery"], rel=0.15)
        assert ours.totals["routing_packets_per_s"] == pytest.approx(
            run_of_ns2["routing_pkts_per_s"], rel=0.15
        )


@pytest.mark.parametrize("rts", [False, True])
@pytest.mark.parametrize("stations", [5, 10])
def test_saturation_agrees_with_bianchi(rts: bool, stations: int) -> None:
    result = run(saturation.scenario(rts, stations))
    for model in saturation.MODELS:
        expected = model(saturation.frames(rts), saturation.PAYLOAD_BYTES, stations)
        assert result.totals["cbr_throughput_bps"] == pytest.approx(expected, rel=saturation.TOLERANCE)


@pytest.mark.parametrize("profile", one_hop.PROFILES)
@pytest.mark.parametrize("rts", [False, True])
def test_one_hop_agrees_with_the_closed_form(profile: str, rts: bool) -> None:
    result = run(one_hop.scenario(profile, rts, 1000))
    expected = one_hop.expectation(profile, rts, 1000)
    assert result.totals["cbr_throughput_bps"] == pytest.approx(expected, rel=one_hop.TOLERANCE)


def test_the_closed_form_gives_the_published_values() -> None:
    # IEEE 802.11-1999 at 2 Mb/s with RTS, 40 bytes of headers: 1.06, 1.38 and 1.53 Mb/s.
    params = parameters.apply_overrides(
        parameters.profile("rfc"),
        {"mac": {"rts_threshold_bytes": 0}, "network": {"udp_header_bytes": 20}},
        "test",
    )
    values = [one_sender_bps(Frames.of(params, payload), payload) / 1e6 for payload in (512, 1000, 1460)]
    assert values == pytest.approx([1.06, 1.38, 1.53], abs=0.006)


def test_bianchis_fixed_point() -> None:
    # One window for all attempts: tau = 2 / (W + 1), however many stations there are.
    assert attempt_probability((32,) * 7, 10) == pytest.approx(2 / 33)
    # One station never collides: only the first window counts.
    assert attempt_probability((32, 64, 128), 1) == pytest.approx(2 / 33)


@pytest.mark.parametrize("rts", [False, True])
@pytest.mark.parametrize("stations", [2, 10])
def test_the_models_agree_with_stations_that_count_slots(rts: bool, stations: int) -> None:
    frames = saturation.frames(rts)
    for model, frozen in zip(saturation.MODELS, (False, True), strict=True):
        counted = count_slots(frames, 1000, stations, frozen)
        assert model(frames, 1000, stations) == pytest.approx(counted, rel=0.01)


def count_slots(frames: Frames, payload_bytes: int, stations: int, frozen: bool) -> float:
    """Bianchi's stations one by one, bit/s; does a busy period leave the counters as they are?"""
    draw = random.Random(1)
    attempts = [0] * stations
    counters = [draw.randrange(frames.windows[0]) for _ in attempts]
    time_s, successes = 0.0, 0
    for _ in range(40_000):
        idle = min(counters)
        senders = [station for station, counter in enumerate(counters) if counter == idle]
        success = len(senders) == 1
        successes += success
        time_s += idle * frames.slot + (frames.success if success else frames.collision)
        counters = [counter - idle - (not frozen) for counter in counters]
        for station in senders:
            attempts[station] = 0 if success else (attempts[station] + 1) % len(frames.windows)
            counters[station] = draw.randrange(frames.windows[attempts[station]])
    return successes * payload_bytes * 8 / time_s


def test_a_comparison_agrees_within_its_tolerance_or_when_zero_is_in_a_narrow_interval() -> None:
    measure = mobile.MEASURES[0]
    near = mobile.Comparison(ours=0.92, theirs=1.0, difference=Interval(-0.08, 0.02, 15))
    narrow = mobile.Comparison(ours=0.88, theirs=1.0, difference=Interval(-0.12, 0.14, 15))
    wide = mobile.Comparison(ours=0.88, theirs=1.0, difference=Interval(-0.12, 0.20, 15))
    off = mobile.Comparison(ours=0.88, theirs=1.0, difference=Interval(-0.12, 0.05, 15))
    assert [c.agrees(measure) for c in (near, narrow, wide, off)] == [True, True, False, False]
    assert not narrow.agrees(replace(measure, zero_suffices=False))


PRINTED_MBPS = capacity.table_mbps(ledger.load())


def by_hops(values: Iterable[float]) -> dict[int, list[float]]:
    return {hops: [value, value] for hops, value in enumerate(values, 1)}


def test_the_claims_on_table_1_1_hold_for_the_printed_values_and_not_for_others() -> None:
    def verdicts(values: list[float]) -> list[str]:
        return [row[-1] for row in table_1_1.claims(by_hops(values)).rows]

    assert verdicts(list(PRINTED_MBPS)) == ["holds"] * 4
    assert verdicts([1.0] * 10) == ["OUTSIDE", "holds", "OUTSIDE", "holds"]
    rising = [*PRINTED_MBPS[:9], 0.25]
    assert verdicts(rising) == ["holds", "OUTSIDE", "holds", "OUTSIDE"]


def test_capacity_is_estimated_from_the_printed_values() -> None:
    assert tuple(1e6 * mbps for mbps in PRINTED_MBPS) == TABLE_1_1_BPS


def test_a_scale_for_plcp_accounting_is_reported() -> None:
    found = table_1_1.claims(by_hops(value / 0.78 for value in PRINTED_MBPS)).rows[0]
    assert "after scaling all by" in found[2]
    assert found[3] == "holds"


def test_the_reference_is_complete() -> None:
    assert len(ns2_runs(REFERENCE)) == 85
    assert len(ns2_runs(REFERENCE, "DSDV")) == 27


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chain"], "no such part of the validation"),
        (["--reference", "."], "ns-2's measurements are missing"),
        (["--markdown", str(REFERENCE / "p01.mov")], "would overwrite another file"),
    ],
)
def test_what_cannot_be_asked_is_told(arguments: list[str], told: str) -> None:
    command = [sys.executable, "-m", "validation", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REFERENCE.parents[1])
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
