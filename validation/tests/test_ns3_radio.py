"""What ns-3.37 said of frames and noise, held against this simulator; and how the comparison reads it."""

from __future__ import annotations

import math

import pytest

from validation import ns3_radio

NS_3_HALF_DBM = {
    "DsssRate1Mbps": -87.19,
    "DsssRate2Mbps": -82.67,
    "DsssRate5_5Mbps": -80.11,
    "DsssRate11Mbps": -77.20,
    "OfdmRate6Mbps": -80.21,
    "OfdmRate12Mbps": -77.20,
    "OfdmRate24Mbps": -70.75,
    "OfdmRate54Mbps": -61.72,
}
"""Where half of the frames arrive in ns-3 while another frame is on the air, 10 dB over noise."""


@pytest.mark.parametrize("name", NS_3_HALF_DBM)
def test_half_of_the_frames_arrive_within_half_a_db_of_ns_3(name: str) -> None:
    half_dbm = NS_3_HALF_DBM[name]
    other_dbm = ns3_radio.NOISE_DBM[name[:4]] + ns3_radio.OVER_NOISE_DB
    powers_dbm = [half_dbm + off for off in (-ns3_radio.TOLERANCE_DB, ns3_radio.TOLERANCE_DB)]
    fewer, more = ns3_radio.shares(name, powers_dbm, 200, other_dbm)
    assert fewer < 0.4 and more > 0.6


def test_the_power_between_two_shares_is_where_their_logits_say() -> None:
    shares = [0.0, 0.1, 0.5, 0.9, 1.0]
    assert ns3_radio.crossing([-5.0, -4.0, -3.0, -2.0, -1.0], shares, 0.5) == pytest.approx(-3.0)
    assert ns3_radio.crossing([0.0, 1.0], [0.2, 0.8], 0.5) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no share"):
        ns3_radio.crossing([0.0, 1.0], [0.2, 0.4], 0.5)


def test_distances_are_those_over_which_the_power_is_left() -> None:
    # 40.2 dB in the first metre, 30 dB for each factor of ten.
    assert ns3_radio.metres_at(-100.2) == pytest.approx(100.0, rel=0.01)
    assert math.log10(ns3_radio.metres_at(-90.0) / ns3_radio.metres_at(-60.0)) == pytest.approx(1.0)
