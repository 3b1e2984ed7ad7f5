"""Campaigns: a question asked of many runs, from one file or a few lines of Python to an answer.

`plan` says what is to be run: a base scenario, factors, replications. `store` keeps what was asked, run and
measured. `execution` runs what is missing, with threads of this process or on a cluster. `results` makes
tables of what came out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manetlab.campaign.levels import Level
    from manetlab.campaign.plan import Campaign, Point
    from manetlab.campaign.results import Results

_HOMES = {
    "Campaign": "manetlab.campaign.plan",
    "Level": "manetlab.campaign.levels",
    "Point": "manetlab.campaign.plan",
    "Results": "manetlab.campaign.results",
}

__all__ = ["Campaign", "Level", "Point", "Results"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'manetlab.campaign' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
