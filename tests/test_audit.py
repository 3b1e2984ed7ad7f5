"""The books balance, also in runs that are cut off while packets are in the air."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetlab import _core, run
from tests.examples import mobile


@settings(max_examples=25, deadline=None)
@given(
    duration_s=st.floats(2.5, 6.0),
    seed=st.integers(0, 1000),
    profile=st.sampled_from(["rfc", "ns-2.35", "cmu-1998"]),
)
def test_cut_off_in_mid_air(duration_s: float, seed: int, profile: str) -> None:
    result = run(mobile(duration_s=duration_s, seed=seed, profile=profile))
    assert result.audit["balanced"]
    books = result.audit["data"]
    assert books["made"] > 0


ROUTINGS = [
    *_core.routings(),
    "aodv:rfc-3561",
    "aodv:dyer-2002",
    "dsdv:broch-1998",
    "dsr:ns-2.35",
    "adv:dyer-2002-ch3-5s",
]


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("sender", ["reno", "tahoe", "sack", "fixed-rto", "reno-f", "cubic", "elfn"])
def test_every_protocol(routing: str, sender: str) -> None:
    result = run(mobile(routing=routing, tcp=sender, duration_s=8.0))
    assert result.audit["balanced"]
    flows = result.audit["flows"]
    assert all(flow["made"] == flow["delivered"] + flow["lost"] + flow["in_flight"] for flow in flows)
    received = [flow.get("received", 0) <= flow.get("sent", 0) for flow in result.flows]
    assert all(received)
