"""What one flow carries alone: the measurement, the table that is kept of it, and the paper's one figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from manetlab import InputError, alone, chain_runs, chain_throughput
from manetlab.chain_throughput import Key
from tests.conftest import Cli

PAPER = {"profile": "ns-2.35", "mac": {"rts_threshold_bytes": 2347}}
"""What is nearest to the paper's ns-2.27 without RTS."""
SHORT = "manetlab.chain_runs.DURATION_S"
ROW = """
[[row]]
profile = "rfc"
rts = false
data_rate_bps = 2e6
segment_bytes = 600
throughput_bps = [1000, 500]
half_width_95_bps = [1, 2]
commit = "abc"
"""


def test_nine_hops_carry_what_the_paper_prints() -> None:
    # Osipov and Tschudin 2006, III.C.1: 144 kb/s over nine hops of 130 m at 2 Mb/s, MSS 600, one flow alone.
    found = [
        chain_runs.run_many([chain_runs.chain(PAPER, 9, 600).changed(seed=seed).resolve()])[0]
        for seed in (1, 2, 3)
    ]
    mean = sum(result.totals["tcp_throughput_bps"] for result in found) / 3
    assert mean == pytest.approx(144e3, rel=0.03)


def test_one_hop_carries_what_its_frames_take(monkeypatch: pytest.MonkeyPatch) -> None:
    # A data frame, SIFS, ACK and on average 15.5 slots of backoff after DIFS; the same for TCP's ACK. Each
    # waits for the other's end, so that nothing overlaps but backoffs.
    monkeypatch.setattr(SHORT, 30.0)
    key, row = chain_runs.measure(PAPER, 600, 1, 2)
    assert key == Key("ns-2.35", False, 2e6, 600)
    plcp_us, header, ack_us = 192.0, 34 + 40, 192.0 + 14 * 8
    data_us = plcp_us + (600 + header) * 8 / 2 + 10 + ack_us
    tcp_ack_us = plcp_us + header * 8 / 2 + 10 + ack_us
    contention_us = 2 * 50 + 2 * 15.5 * 20
    slowest = 600 * 8 / (data_us + tcp_ack_us + contention_us)
    fastest = 600 * 8 / (data_us + tcp_ack_us + contention_us / 2)
    assert 1e6 * slowest < row.throughput_bps[0] < 1e6 * fastest


def test_cbr_over_one_hop_carries_what_its_frames_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SHORT, 60.0)
    key, row = chain_runs.measure(PAPER, 600, 1, 2, traffic="cbr")
    assert key == Key("ns-2.35", False, 2e6, 600, "cbr")
    # DIFS, 15.5 slots of backoff on average, data frame (IP header of 20 bytes, none of UDP), SIFS, ACK.
    frame_us = 192 + (600 + 20 + 34) * 8 / 2 + 10 + 192 + 14 * 8 + 50 + 15.5 * 20
    whole_bps = 1e6 * 600 * 8 / frame_us
    # At most 1 % may be lost: of a rate that is too high, what does not fit is.
    assert 0.995 * whole_bps < row.throughput_bps[0] < 1.02 * whole_bps
    assert row.made_with["most_lost"] == chain_runs.MOST_LOST


def test_video_over_more_hops_carries_less_and_is_found_by_its_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SHORT, 40.0)
    key, row = chain_runs.measure(PAPER, 600, 2, 2, traffic="video")
    assert key == Key("ns-2.35", False, 2e6, 1211, "video")
    assert 1.6 < row.throughput_bps[0] / row.throughput_bps[1] < 2.4
    made = chain_runs.datagrams(PAPER, 1, "video", 3e5).resolve()
    assert alone.video_bps(made.params["video"]) == pytest.approx(3e5)


def test_other_kinds_of_traffic_are_refused() -> None:
    with pytest.raises(InputError, match="not a kind of traffic") as caught:
        chain_runs.measure({}, 600, 1, 2, traffic="voice")
    assert "tcp, cbr, video" in caught.value.wanted


def test_more_hops_carry_less_and_faster_radios_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SHORT, 22.0)
    slow, fast = (
        chain_runs.measure({"mac": {"data_rate_bps": rate}}, 1000, 3, 2)[1].throughput_bps
        for rate in (1e6, 11e6)
    )
    assert slow[0] > slow[1] > slow[2]
    assert all(high > 2 * low for high, low in zip(fast, slow, strict=True))


def test_a_chain_whose_hops_can_be_skipped_is_refused() -> None:
    with pytest.raises(InputError, match="within range") as caught:
        chain_runs.measure({}, 600, 2, 2, spacing_m=125.0)
    assert "half of the receive range" in caught.value.wanted
    with pytest.raises(InputError, match="within range"):
        chain_runs.measure({}, 600, 1, 2, spacing_m=251.0)


def test_one_run_is_too_few() -> None:
    with pytest.raises(InputError, match="too few runs"):
        chain_runs.measure({}, 600, 1, 1)


def test_a_table_is_read_and_longer_paths_have_its_last_value(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(ROW)
    table = chain_throughput.read(path)
    key = Key("rfc", False, 2e6, 600)
    assert [table.bps(key, hops) for hops in (1, 2, 3, 50)] == [1000.0, 500.0, 500.0, 500.0]
    assert table.rows[key].made_with == {"commit": "abc"}
    other = Key("rfc", True, 2e6, 600)
    assert table.find(other, 1) is None
    with pytest.raises(InputError, match="with RTS, segments of 600 bytes") as caught:
        table.bps(other, 1)
    assert "chain-throughput" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("row = [", "not TOML"),
        ("x = 1", "empty"),
        ("row = []", "empty"),
        ("row = [1]", "not a row"),
        (ROW.replace("throughput_bps", "bps"), "no throughput_bps"),
        (ROW.replace("[1000, 500]", "[]"), "not a row"),
        (ROW.replace("[1000, 500]", '[1000, "500"]'), "not a row"),
        (ROW.replace("[1000, 500]", "[-1, 500]"), "not a row"),
        (ROW.replace("600", '"many"'), "not a row"),
        (ROW + 'traffic = "voice"\n', "not a row"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        chain_throughput.read(path)


def test_the_key_says_whether_frames_are_announced() -> None:
    resolved = chain_runs.chain({"profile": "ns-2.35"}, 1, 600).resolve()
    assert Key.of("ns-2.35", resolved.params, 600).rts
    # Payload, TCP and IP headers of 40 bytes, MAC header of 34: the threshold itself is not exceeded.
    for threshold, rts in ((674, False), (673, True)):
        resolved = resolved.scenario.changed(mac={"rts_threshold_bytes": threshold}).resolve()
        assert Key.of("ns-2.35", resolved.params, 600).rts is rts


@pytest.mark.parametrize("parity_bytes", [0, 2, 32])
def test_frames_are_as_long_as_in_a_run_and_announced_as_there(parity_bytes: int) -> None:
    made = chain_runs.datagrams({"mac": {"fec_parity_bytes": parity_bytes}}, 1, "cbr", 1e5, 600)
    made = made.changed(duration_s=14.0)
    packet_bytes = 600 + 20 + 8
    length = chain_throughput.frame_bytes(made.resolve().params, packet_bytes)
    for threshold, frames in ((length, 2), (length - 1, 4)):
        resolved = made.changed(mac={"rts_threshold_bytes": threshold}).resolve()
        [result] = chain_runs.run_many([resolved])
        # Of data and ACK, or of RTS, CTS, data and ACK.
        assert result.totals["frames_per_delivered_packet"] == frames
        assert result.totals["mac_bytes_per_delivered_byte"] == length / 600
        assert chain_throughput.is_announced(resolved.params, packet_bytes) is (frames == 4)
        assert Key.of("rfc", resolved.params, 600, "cbr").rts is (frames == 4)


def test_the_command_adds_rows_to_a_table(cli: Cli, tmp_path: Path) -> None:
    command = ("chain-throughput", "--hops", 2, "--seeds", 2, "-o", "table.toml")
    (tmp_path / "table.toml").write_text(ROW)
    done = cli(*command, "--rate-mbps", 1, "--rate-mbps", 2, "--set", "tcp.window=4")
    assert done.returncode == 0, done.stderr
    table = chain_throughput.read(tmp_path / "table.toml")
    assert [key.data_rate_bps for key in table.rows] == [2e6, 1e6]
    for key, row in table.rows.items():
        assert all(f"{mean / 1e3:.1f}" in done.stdout for mean in row.throughput_bps), key
        assert row.made_with["seeds"] == 2
        assert row.made_with["changes"]["tcp"] == {"window": 4}
        assert row.made_with["spacing_m"] == 130.0


def test_the_command_measures_cbr_and_video(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(ROW)
    for traffic in ("cbr", "video"):
        command = ("chain-throughput", "--traffic", traffic, "--hops", 1, "--seeds", 2, "-o", "table.toml")
        done = cli(*command)
        assert done.returncode == 0, done.stderr
        assert f"one {'CBR' if traffic == 'cbr' else 'video'} flow alone" in done.stdout
    keys = list(chain_throughput.read(tmp_path / "table.toml").rows)
    assert [(key.traffic, key.segment_bytes) for key in keys] == [("tcp", 600), ("cbr", 600), ("video", 1211)]


def test_packets_of_different_sizes_take_time_by_their_mean() -> None:
    # Each packet takes 2 ms and 8 µs a byte over one hop, and twice as long over two.
    sizes = {
        Key("rfc", False, 2e6, size): chain_throughput.ThroughputRow(
            tuple(8 * size / (hops * (2e-3 + 8e-6 * size)) for hops in (1, 2)), (0.0, 0.0), {}
        )
        for size in (500, 1500)
    }
    table = chain_throughput.ThroughputTable(sizes, "here")
    found = table.of_mixed(Key("rfc", False, 2e6, 0), 800.0)
    assert found == pytest.approx((8 * 800 / (2e-3 + 6.4e-3), 4 * 800 / (2e-3 + 6.4e-3)))
    assert table.of_mixed(Key("rfc", False, 2e6, 0), 500.0) == pytest.approx(
        sizes[Key("rfc", False, 2e6, 500)].throughput_bps
    )
    assert table.of_mixed(Key("rfc", True, 2e6, 0), 800.0) is None
