"""How much of a run's beginning to discard: MSER-5."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manetlab.errors import InputError, shown
from manetlab.stats import checks

if TYPE_CHECKING:
    from manetlab.running import Result

BATCH = 5
"""Values of a batch, the 5 of MSER-5."""
LEAST_BATCHES = 10
"""Fewest batches from which anything can be said."""


LAST_BATCHES = 5
"""Batches at the end that are never the only ones left."""


@dataclass(frozen=True)
class Truncation:
    """What to discard of a series.

    Attributes:
        values: How many values to discard from the beginning, a multiple of 5 and at most half of them.
        kept: How many are left.
        mean: The mean of those.
        settled: Whether the series has been seen to settle: False where MSER-5 would discard more than half
            or leave only the last 5 batches, so that `values` says too little and the series is too short.
    """

    values: int
    kept: int
    mean: float
    settled: bool


def mser5(series: Iterable[float]) -> Truncation:
    """The truncation that MSER-5 chooses for a series of equally spaced observations.

    MSER-5 (White, Cobb and Spratt 2000) takes means of batches of 5 and discards the first d of the m batches
    for which Σ(z − mean)² / (m − d)² over the others is least: as many as make the mean of the rest most
    certain. The last 5 batches are never the only ones left, as so few can agree by chance (Hoad, Robinson
    and Davies 2010).

    Args:
        series: The observations, the first one first, 50 or more: at best the mean of several replications'
            series, as noise hides a transient. Values at the end that fill no batch are left out.

    Raises:
        InputError: There are fewer than 50 values, or one is not finite.
    """
    import numpy as np

    listed = np.array(checks.numbers(series, "mser5", least=BATCH * LEAST_BATCHES))
    batches = len(listed) // BATCH
    means = listed[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    # Sums from the end over values around zero, so that squares do not swamp what they differ by.
    centred = (means - means.mean())[::-1]
    counts = np.arange(1, batches + 1)
    squares = np.cumsum(centred**2) - np.cumsum(centred) ** 2 / counts
    # At rounding's level all of a series' truncations are equally good, and the shortest is wanted.
    noise = 1e-12 * float(np.sum(centred**2)) + 1e-24 * float(np.max(means**2))
    errors = (np.where(squares > noise, squares, 0.0) / counts**2)[::-1]
    # The best of all is looked for one batch further than may be discarded: there the series has not settled.
    best = int(np.argmin(errors[: batches - LAST_BATCHES + 1]))
    candidates = errors[: batches - LAST_BATCHES]
    half = batches // 2
    chosen = int(np.argmin(candidates[: half + 1]))
    discarded = chosen * BATCH
    return Truncation(
        values=discarded,
        kept=len(listed) - discarded,
        mean=math.fsum(listed[discarded:]) / (len(listed) - discarded),
        settled=best <= half and best < len(candidates),
    )


def warmup_warning(series: Iterable[float], step_s: float, warmup_s: float) -> str | None:
    """A sentence if the chosen warm-up is too short for this series, by MSER-5, else None.

    Args:
        series: What was observed from time zero on, warm-up included, every ``step_s``.
        step_s: Simulated time between observations, in s.
        warmup_s: The warm-up chosen, in s.

    Raises:
        InputError: There are fewer than 50 values, one is not finite, or an argument is not allowed.
    """
    listed = checks.numbers(series, "warmup_warning", least=BATCH * LEAST_BATCHES)
    step_s = checks.above_zero(step_s, "warmup_warning: step_s")
    checks.within(warmup_s, 0.0, math.inf, "warmup_warning: warmup_s")
    found = mser5(listed)
    if not found.settled:
        return (
            f"the series does not settle in the first half of its {len(listed) * step_s:g} s: the run is too "
            "short to say how long a warm-up it needs (MSER-5)"
        )
    needed_s = found.values * step_s
    if needed_s <= warmup_s:
        return None
    return (
        f"the warm-up of {warmup_s:g} s is too short: the series settles after about {needed_s:g} s "
        "(MSER-5), so what was measured before still depends on how the run began"
    )


def warmup_check(
    results: Sequence[Result], columns: Sequence[str] = ("tcp_delivered_bytes", "cbr_received")
) -> dict[str, str]:
    """Warnings about the warm-up of replications of one scenario that were run with ``series_s``.

    The replications' series are averaged, instant by instant, before MSER-5 looks at them (Welch's way to see
    a transient through noise). A column that is zero throughout, as that of a kind of traffic that is not
    there, is passed over; but not all of them.

    Args:
        results: The replications, each with a series of the same step and length.
        columns: The columns of the series to look at.

    Returns:
        The warnings, by column; a column without one is not in it.

    Raises:
        InputError: There are no results, one has no series, they differ in step, length or warm-up, they
            have fewer than 50 steps, or all the columns are zero throughout.
    """
    totals, step_s, warmup_s = _series_of(results)
    warnings, seen = {}, False
    for column in columns:
        if column not in totals[0]:
            wanted = ", ".join(totals[0])
            raise InputError("the series has no such column", "warmup_check", shown(column), wanted)
        lists = [series[column] for series in totals]
        averaged = [math.fsum(values) / len(values) for values in zip(*lists, strict=True)]
        if not any(averaged):
            continue
        seen = True
        if (warning := warmup_warning(averaged, step_s, warmup_s)) is not None:
            warnings[column] = warning
    if not seen:
        wanted = "a column that counts the traffic of these runs"
        hint = 'columns=["mac_frames"] counts all frames'
        raise InputError("nothing to look at", "warmup_check", f"zeros in {', '.join(columns)}", wanted, hint)
    return warnings


def _series_of(results: Sequence[Result]) -> tuple[list[Mapping[str, list[float]]], float, float]:
    """The totals of the results' series, the step and the warm-up that all share."""
    totals: list[Mapping[str, Any]] = []
    shared: set[tuple[float, float, int]] = set()
    for number, result in enumerate(results):
        if result.series is None:
            hint = "run(scenario, series_s=1.0)"
            where = f"warmup_check: result {number}"
            raise InputError("the result has no series", where, "None", "a series", hint)
        total = result.series["totals"]
        totals.append(total)
        resolved = result.provenance["scenario"]
        shared.add((total["time_s"][0], resolved["warmup_s"], len(total["time_s"])))
    if len(shared) != 1:
        found = "nothing" if not shared else f"{len(shared)} kinds"
        wanted = "replications of one scenario with the same series_s"
        raise InputError("the results do not belong together", "warmup_check", found, wanted)
    step_s, warmup_s, _ = shared.pop()
    return totals, step_s, warmup_s
