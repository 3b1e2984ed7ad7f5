"""manetlab: packet-level simulation of mobile ad hoc networks.

    >>> import manetlab
    >>> flow = {"kind": "cbr", "src": 0, "dst": 3, "start_s": 1.0, "bytes": 512, "interval_s": 0.25}
    >>> chain = manetlab.Scenario(
    ...     duration_s=10.0, movement={"chain": {"nodes": 4}}, traffic={"flows": [flow]}, seed=7
    ... )
    >>> result = manetlab.run(chain, routing="aodv")
    >>> result.totals["cbr_sent"], result.totals["cbr_received"]
    (36, 36)

`run` makes one run, `run_many` several at a time on all cores; `Scenario` is what they take, `Result` what
they return. `Campaign` asks a question of many runs, `Results` is what came out. `Routing` is what a routing
protocol in Python subclasses. The command line, ``manetlab``, does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manetlab import processor

__version__ = "0.1.0"

__path__[:0] = processor.folders(__path__[0])

if TYPE_CHECKING:
    from manetlab._core import Packet
    from manetlab.campaign.plan import Campaign
    from manetlab.campaign.results import Results
    from manetlab.capacity import capacity_over_time
    from manetlab.errors import InputError, ManetlabError, ProtocolFailed, RunFailed
    from manetlab.replay import view
    from manetlab.routing import Routing
    from manetlab.running import Result, run, run_many
    from manetlab.scenario import Scenario
    from manetlab.tracks import Tracks

# What needs the compiled core is imported when it is first used: `import manetlab` and
# `manetlab --help` stay fast.
_HOMES = {
    "Campaign": "manetlab.campaign.plan",
    "InputError": "manetlab.errors",
    "ManetlabError": "manetlab.errors",
    "Packet": "manetlab._core",
    "ProtocolFailed": "manetlab.errors",
    "Result": "manetlab.running",
    "Results": "manetlab.campaign.results",
    "Routing": "manetlab.routing",
    "RunFailed": "manetlab.errors",
    "Scenario": "manetlab.scenario",
    "Tracks": "manetlab.tracks",
    "capacity_over_time": "manetlab.capacity",
    "run": "manetlab.running",
    "run_many": "manetlab.running",
    "view": "manetlab.replay",
}

__all__ = [
    "Campaign",
    "InputError",
    "ManetlabError",
    "Packet",
    "ProtocolFailed",
    "Result",
    "Results",
    "Routing",
    "RunFailed",
    "Scenario",
    "Tracks",
    "__version__",
    "capacity_over_time",
    "run",
    "run_many",
    "view",
]


# Modules for users, which are attributes of the package without being imported by name.
_MODULES = {
    "campaign",
    "capacity",
    "captures",
    "errors",
    "metrics",
    "operation_range",
    "parameters",
    "pictures",
    "recording",
    "replay",
    "report",
    "routing",
    "scenario",
    "scenario_warnings",
    "shares",
    "stats",
    "topology",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name not in _MODULES:
        raise AttributeError(f"module 'manetlab' has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"manetlab.{name}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
