"""What ten video flows cost over AODV: Fig. 5.14 and Table 5.8; and their source: Fig. 5.5 and Table 5.7."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Level, Ruled, Values, percent, shown
from manetlab.papers.experiments import outages, video
from manetlab.papers.experiments.datagrams import QUICK as SAME
from manetlab.papers.experiments.video import ADP, IN_TIME, QUICK, SERIES_S, UDP
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import level, ruled_by
from manetlab.scenario import Scenario
from manetlab.stats import mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.papers.evidence import Single

COSTS = "dyer2002/table-5.8"
PATTERN, SIZES = "dyer2002/fig-5.5", "dyer2002/table-5.7"
CHOSEN = 0
"""The scenario that stands for the dissertation's, which it does not name: the first of the ten."""
MBYTE = 2**20
BOTH = (UDP, ADP)


def of_flows(samples: Samples, measure: str, transport: str) -> Values:
    """A count over the video flows in every scenario."""
    return samples.summed(measure, "video", sender=transport)


def quotient(first: Values, second: Values) -> Values:
    """Quotients, scenario by scenario."""
    return [a / b for a, b in zip(first, second, strict=True)]


def added(first: Values, second: Values) -> Values:
    """Sums, scenario by scenario."""
    return [a + b for a, b in zip(first, second, strict=True)]


def hops(samples: Samples, transport: str) -> Values:
    """Mean hops of the delivered packets of all video flows in every scenario."""
    found = []
    counts, means = (
        samples.of_flows(name, sender=transport, kind="video") for name in ("packets_received", "hops_mean")
    )
    for of_counts, of_means in zip(counts, means, strict=True):
        crossed = sum(n * mean for n, mean in zip(of_counts, of_means, strict=True) if n)
        found.append(crossed / sum(of_counts))
    return found


def figures(samples: Samples, transport: str, divisor: float) -> dict[str, Values]:
    """Table 5.8 in every scenario, row by row.

    Args:
        samples: The runs.
        transport: UDP or ADP.
        divisor: What the printed throughput is of ours, because it divides by a longer time.
    """

    def of(measure: str) -> Values:
        return of_flows(samples, measure, transport)

    packets, acks = of("mac_packets"), of("mac_ack_packets")
    mac_bytes = added(of("mac_bytes"), of("mac_ack_bytes"))
    measured_s, printed_s = _times_s(samples)
    delivered_bytes = [each * measured_s / 8 for each in of("throughput_bps")]
    delivered = of("packets_received")
    # Counts of a shorter run are those of the paper's time.
    longer = printed_s / measured_s
    return {
        "throughput, Mb/s": [divisor * each / 1e6 for each in of("throughput_bps")],
        "packets delivered": [each * longer for each in delivered],
        "hops per delivered packet": hops(samples, transport),
        "data packets at the MAC per delivered packet": quotient(packets, delivered),
        "ACKs at the MAC per data packet there": quotient(acks, packets),
        "packets at the MAC per delivered packet": quotient(added(packets, acks), delivered),
        "MBytes delivered": [each * longer / MBYTE for each in delivered_bytes],
        "MBytes at the MAC per delivered MByte": quotient(mac_bytes, delivered_bytes),
    }


def _times_s(samples: Samples) -> tuple[float, float]:
    """The measured time of the runs, frames of a flow over frames a second, and the paper's, in s."""
    from manetlab.papers import ledger

    setup = ledger.load().experiments[COSTS].setup
    made = samples.of_flows("messages_made", sender=UDP, kind="video")[CHOSEN][0]
    return made / wording.number(setup["traffic"], "packets/s"), setup["duration_s"]


def divisor(ledger: Ledger) -> float:
    """What the printed throughput is of ours, as the tolerance of D5-46 says it."""
    return wording.after(ledger.claim("D5-46").tolerance, "Multiply ours by")


def costs_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Table 5.8."""
    samples = runs[IN_TIME]
    rows = {transport: figures(samples, transport, divisor(ledger)) for transport in BOTH}
    names = list(rows[UDP])

    def row(number: int) -> dict[str, Values]:
        return {transport: rows[transport][names[number]] for transport in BOTH}

    scaled = Also("ours multiplied so, as the printed value divides by 1000 s", True)
    received = (of_flows(samples, "packets_received", each) for each in reversed(BOTH))
    rate = (of_flows(samples, "throughput_bps", each) for each in reversed(BOTH))
    return {
        "D5-46": _of_scenario(row(0), scaled),
        "D5-47": _of_scenario(row(1)),
        "D5-48": _lower(row(2)),
        "D5-49": Level({name: mean_interval(each) for name, each in row(3).items()}),
        "D5-50": Level({"": mean_interval(row(4)[ADP])}),
        "D5-51": _lower(row(5)),
        "D5-52": _of_scenario(row(6)),
        "D5-53": _lower(row(7)),
        "D5-54": Change({"packets": percent(*received), "throughput": percent(*rate)}),
    }


def _of_scenario(values: Mapping[str, Values], *also: Also) -> Single:
    from dataclasses import replace

    made = outages.single(CHOSEN, values, f"The scenario is that of replication {CHOSEN}")
    return replace(made, also=also)


def _lower(values: Mapping[str, Values]) -> Level:
    """Means, and that ADP's is the lower."""
    difference = paired_interval(values[ADP], values[UDP])
    lower = Also(f"ADP is the lower: ADP minus UDP {shown(difference)}", difference.high < 0)
    return Level({name: mean_interval(each) for name, each in values.items()}, also=[lower])


def in_time_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 5.14: what a flow delivers in a second against the length of its shortest path then."""
    of = {transport: correlations(runs[IN_TIME], transport) for transport in BOTH}
    adp, more = mean_interval(of[ADP]), paired_interval(of[ADP], of[UDP])
    text = f"ADP {shown(adp)}, UDP {shown(mean_interval(of[UDP]))}; ADP minus UDP {shown(more)}"
    below_zero = [(name, level(each, float("-inf"), 0.0)) for name, each in (("ADP", adp), ("more", more))]
    holds = adp.high < 0 and more.mean < 0
    return {"D5-55": Ruled(text, satisfied=holds, broken=not holds and ruled_by(text, below_zero).broken)}


def correlations(samples: Samples, transport: str) -> Values:
    """The correlation of frames delivered in a second with hops, over flows and seconds, by scenario."""
    found = []
    for replication, rows in samples.rows_of("message_flows", sender=transport).items():
        paths, from_s = shortest_paths(replication)
        pairs = []
        for row in rows:
            began_s = row["time_s"] - SERIES_S
            path = paths[int(row["flow"])][round(began_s / SERIES_S)]
            if began_s >= from_s and path is not None:
                pairs.append((float(row["delivered_messages"]), float(path)))
        found.append(correlation(pairs))
    return found


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Pearson's, NaN where one side does not vary."""
    count = len(pairs)
    if not count:
        return math.nan
    mean_x, mean_y = (sum(pair[side] for pair in pairs) / count for side in (0, 1))
    cov = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    var_x, var_y = sum((x - mean_x) ** 2 for x, _ in pairs), sum((y - mean_y) ** 2 for _, y in pairs)
    return cov / math.sqrt(var_x * var_y) if var_x and var_y else math.nan


@cache
def shortest_paths(replication: int) -> tuple[list[list[int | None]], float]:
    """Hops of each flow's shortest path second by second, and when measurement begins, in s."""
    from manetlab.papers import ledger
    from manetlab.topology import shortest_hops_over_time

    scenario = video.in_time(ledger.load(), Scale()).points[0].scenario(replication)
    return shortest_hops_over_time(scenario, step_s=SERIES_S).hops, scenario.warmup_s


def costs_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Table 5.8: the chosen scenario and all of them."""
    columns = ("", *(f"{name}, {of}" for name in BOTH for of in (f"scenario {CHOSEN}", "all")))
    table = Table("Ten video flows over AODV", columns)
    rows = {transport: figures(runs[IN_TIME], transport, divisor(ledger)) for transport in BOTH}
    for name in rows[UDP]:
        cells = []
        for transport in BOTH:
            values = rows[transport][name]
            cells += [f"{values[CHOSEN]:.4g}", shown(mean_interval(values))]
        table.add(name, *cells)
    return [table]


def in_time_tables(_ledger: Ledger, runs: Runs) -> list[Table]:
    """Frames a second by length of the path."""
    table = Table("Frames delivered in a second, by hops of the shortest path", ("hops", *BOTH))
    sums: dict[str, dict[int, list[float]]] = {name: {} for name in BOTH}
    for name in BOTH:
        for replication, rows in runs[IN_TIME].rows_of("message_flows", sender=name).items():
            paths, from_s = shortest_paths(replication)
            for row in rows:
                began_s = row["time_s"] - SERIES_S
                path = paths[int(row["flow"])][round(began_s / SERIES_S)] or 0
                if began_s >= from_s:
                    sums[name].setdefault(path, []).append(float(row["delivered_messages"]))
    for path in sorted(sums[UDP]):
        means = (f"{sum(sums[name][path]) / len(sums[name][path]):.2f}" for name in BOTH)
        table.add(str(path) if path else "none", *means)
    return [table]


@cache
def frames(count: int) -> tuple[list[float], dict[str, list[int]]]:
    """The first frames of a video flow: their times in s, and their sizes in bytes by type.

    The parameters are those of the profile, which are the dissertation's.
    """
    from manetlab import _core

    still = {"movement": {"chain": {"nodes": 2}}, "duration_s": 1.0}
    flow = {"kind": "video", "src": 0, "dst": 1, "start_s": 0.0}
    params = Scenario.build({**still, "traffic": {"flows": [flow]}}).resolve().params["video"]
    times_s, kinds, sizes = _core.video_frames(json.dumps(params), (1, 0), 0, count)
    by_type: dict[str, list[int]] = {"all": sizes}
    for kind, size in zip(kinds, sizes, strict=True):
        by_type.setdefault(kind, []).append(size)
    return times_s, by_type


def sample_size(ledger: Ledger) -> int:
    """How many frames the ledger asks for."""
    return int(10 ** wording.after(ledger.claim("D5-28").tolerance, "10^"))


def pattern_evidence(ledger: Ledger, _runs: Runs) -> Found:
    """Fig. 5.5: frames a second and their mean size."""
    times_s, sizes = frames(sample_size(ledger))
    rate = (len(times_s) - 1) / (times_s[-1] - times_s[0])
    claim = ledger.claim("D5-30")
    # The interval of two frames is a whole number of nanoseconds.
    return {"D5-30": within(claim, {"frames/s": round(rate, 6), "bytes": mean(sizes["all"])})}


def sizes_evidence(ledger: Ledger, _runs: Runs) -> Found:
    """Table 5.7: means and deviations by type."""
    _, sizes = frames(sample_size(ledger))
    means, spreads = ledger.claim("D5-28"), ledger.claim("D5-29")
    tested = [kind for kind in spreads.at if kind != "all"]
    return {
        means.id: within(means, {kind: mean(sizes[kind]) for kind in means.at}),
        spreads.id: within(spreads, {kind: deviation(sizes[kind]) for kind in tested}),
    }


def within(claim: Claim, values: Mapping[str, float]) -> Ruled:
    """Values that must lie in the claim's bands: exact ones, or those of a large sample."""
    places = {name: claim.at.index(name) if claim.at else place for place, name in enumerate(values)}
    bands = {name: claim.band(place) for name, place in places.items()}
    holds = all(low <= values[name] <= high for name, (low, high) in bands.items())
    return Ruled("; ".join(f"{name}: {value:.6g}" for name, value in values.items()), satisfied=holds)


def mean(values: Sequence[float]) -> float:
    """The mean."""
    return sum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    centre = mean(values)
    return math.sqrt(sum((each - centre) ** 2 for each in values) / (len(values) - 1))


def sizes_tables(ledger: Ledger, _runs: Runs) -> list[Table]:
    """Table 5.7 with our values."""
    _, sizes = frames(sample_size(ledger))
    means, spreads = ledger.claim("D5-28"), ledger.claim("D5-29")
    table = Table("Frame sizes, bytes", ("frames", "mean", "printed", "deviation", "printed"))
    for place, kind in enumerate(means.at):
        cells: tuple[Any, ...] = (
            mean(sizes[kind]),
            means.value[place],
            deviation(sizes[kind]),
            spreads.value[place],
        )
        table.add(kind, *(f"{each:.1f}" for each in cells))
    return [table]


def _in_time(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [video.in_time(ledger, scale)]


def _none(_ledger: Ledger, _scale: Scale) -> list[Campaign]:
    return []


STUDIES = (
    Study(IN_TIME, _in_time, in_time_evidence, in_time_tables, quick=QUICK),
    Study(COSTS, _in_time, costs_evidence, costs_tables, quick=QUICK),
    Study(PATTERN, _none, pattern_evidence, lambda _ledger, _runs: [], quick=SAME),
    Study(SIZES, _none, sizes_evidence, sizes_tables, quick=SAME),
)
