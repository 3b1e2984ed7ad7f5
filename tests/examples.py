"""Small scenarios that tests start from."""

from typing import Any

from manetlab import Scenario

TCP_FLOW = {"kind": "tcp", "src": 0, "dst": 2, "start_s": 1.0}
CBR_FLOW = {"kind": "cbr", "src": 2, "dst": 0, "start_s": 0.5, "bytes": 512, "interval_s": 0.1}


def chain(**changes: Any) -> Scenario:
    """Three nodes in a chain, one TCP flow one way and one CBR flow the other, 10 s."""
    fields = {
        "movement": {"chain": {"nodes": 3}},
        "traffic": {"flows": [TCP_FLOW, CBR_FLOW]},
        "duration_s": 10.0,
        "profile": "ns-2.35",
    }
    return Scenario.build({**fields, **changes})


def mobile(**changes: Any) -> Scenario:
    """Twenty nodes that move in a small field, random traffic, 20 s."""
    waypoint = {"nodes": 20, "width_m": 600.0, "height_m": 600.0, "speed_max": 20.0}
    return chain(
        **{
            "movement": {"waypoint": waypoint},
            "traffic": {"random": {"tcp": 1, "cbr": 3, "tcp_start_s": 2.0, "cbr_start_within_s": 2.0}},
            "duration_s": 20.0,
            **changes,
        }
    )
