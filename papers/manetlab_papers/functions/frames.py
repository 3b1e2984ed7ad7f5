"""The frames that a video source makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from manetlab.scenario import Scenario
from manetlab.traffic import video_frames
from manetlab_papers.ledger import Data
from manetlab_papers.quantities import Evaluator, quantity


@cache
def frames(count: int) -> tuple[list[float], dict[str, list[int]]]:
    """The first frames of the profile's source: their times in s, their sizes in bytes by type."""
    flow = {"kind": "video", "src": 0, "dst": 1, "start_s": 0.0}
    fields = {"movement": {"chain": {"nodes": 2}}, "duration_s": 1.0, "traffic": {"flows": [flow]}}
    times_s, kinds, sizes = video_frames(Scenario.build(fields).resolve().params["video"], count)
    by_type: dict[str, list[int]] = {"all": sizes}
    for kind, size in zip(kinds, sizes, strict=True):
        by_type.setdefault(kind, []).append(size)
    return times_s, by_type


@quantity("frames")
def of_frames(_evaluator: Evaluator, _data: Data, arguments: Data) -> float:
    """The rate of frames in 1/s, or mean or deviation of a type's sizes, over a sample (`frames`)."""
    return _of_frames(arguments["frames"], arguments["statistic"], arguments.get("type", "all"))


@cache
def _of_frames(count: int, statistic: str, kind: str) -> float:
    times_s, sizes = frames(count)
    if statistic == "rate":
        # The interval of two frames is a whole number of nanoseconds.
        return round((len(times_s) - 1) / (times_s[-1] - times_s[0]), 6)
    of = sizes[kind]
    return _deviation(of) if statistic == "deviation" else sum(of) / len(of)


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    centre = sum(values) / len(values)
    return math.sqrt(sum((each - centre) ** 2 for each in values) / (len(values) - 1))
