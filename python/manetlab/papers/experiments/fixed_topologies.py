"""The fixed topologies of Bansal and Barua: segments and windows, hops, a shared node, opposite flows.

The article does not say what segment and window its chains had when it varied neither. Those of its random
topologies are taken (Table 2's set-up); by its own finding the window matters little here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Change, Order, Ruled, Trend, Values, percent, shown
from manetlab.papers.experiments import chains
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.setup import Fields, base, interval_s
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.stats import Interval, mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

SEGMENTS, HOPS, SHARED = "bansal2003/sec-segwin", "bansal2003/fig-1", "bansal2003/fig-2"
OPPOSITE = "bansal2003/sec-cbr-opposite"
TCP, CBR = "tcp_throughput_bps", "cbr_throughput_bps"
QUICK = "the same as in full"


def campaign(
    ledger: Ledger, scale: Scale, key: str, name: str, factors: dict[str, list[Any]], *more: Fields
) -> Campaign:
    """Runs over static routes of the length and number that the ledger gives for this article."""
    from manetlab.campaign import Campaign

    length = ledger.assumptions["run-length-2"].text
    times = scale.times(wording.number(length, "s warm-up"), wording.number(length, "s after"))
    transport = ledger.experiments["bansal2003/table-2"].setup["transport"]
    usual: Fields = {
        "routing": "static",
        "tcp.segment_bytes": wording.whole(transport, "byte"),
        "tcp.window": wording.whole(transport, "segments"),
    }
    return Campaign(
        name=name,
        question=ledger.experiments[key].title,
        base=base(ledger, ledger.experiments[key], usual, times, *more),
        factors=factors,
        replications=scale.seeds(wording.whole(length, "seeds")),
        metrics=[TCP, CBR],
    )


def packet_bytes(ledger: Ledger) -> int:
    """The size of the article's CBR packets."""
    return wording.whole(ledger.experiments["bansal2003/table-2"].setup["traffic"], "bytes")


def spacing_m(ledger: Ledger) -> float:
    """The distance of neighbours."""
    return chains.spacing_m(ledger, "spacing")


# Segment and window size.


def segment_levels(ledger: Ledger) -> tuple[list[int], list[int]]:
    """Segments in bytes and windows in segments, as the x axis lists them."""
    axis = ledger.experiments[SEGMENTS].axis
    sizes = [wording.whole(label, "B") for label in axis if label.endswith(" B")]
    windows = [int(label.removesuffix(" segments")) for label in axis[len(sizes) :]]
    return sizes, windows


def segment_campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Chains of the ledger's lengths with every segment and window."""
    sizes, windows = segment_levels(ledger)
    first, last = wording.span(ledger.assumptions["hops"].text)
    metres = spacing_m(ledger)
    hops = [chains.level(each, each, [chains.tcp(0, each)], metres) for each in range(first, last + 1)]
    factors: dict[str, list[Any]] = {"hops": hops, "tcp.segment_bytes": sizes, "tcp.window": windows}
    return [campaign(ledger, scale, SEGMENTS, SEGMENTS, factors)]


def segment_evidence(ledger: Ledger, runs: Runs) -> Found:
    """What segment and window do to throughput."""
    samples = runs[SEGMENTS]
    sizes, windows = segment_levels(ledger)
    lengths = range(*_half_open(ledger.assumptions["hops"].text))
    claim = ledger.claim("B-02")
    most = int(wording.two(claim.tolerance, "-", "hop chains")[1])
    by_size = {
        f"{size} B": _sums(
            [samples.values(TCP, hops=hops, **{"tcp.segment_bytes": size}) for hops in lengths]
        )
        for size in sizes
    }
    spreads = {
        f"{hops} hops, {size} B": spread(
            [
                samples.values(TCP, hops=hops, **{"tcp.segment_bytes": size, "tcp.window": window})
                for window in windows
            ]
        )
        for hops in lengths
        if hops <= most
        for size in sizes
    }
    return {
        "B-01": Order({label: by_size[label] for label in ledger.claim("B-01").order}),
        "B-02": below(claim, spreads),
    }


def _half_open(text: str) -> tuple[int, int]:
    first, last = wording.span(text)
    return first, last + 1


def _sums(values: Sequence[Values]) -> list[float]:
    """The sum over chains, seed by seed (and window by window)."""
    return [sum(each) for each in zip(*values, strict=True)]


def spread(values: Sequence[Values]) -> Interval:
    """(max − min) / max of the means, in percent, with the interval of that paired difference."""
    means = [mean_interval(each).mean for each in values]
    most, least = values[means.index(max(means))], values[means.index(min(means))]
    ratio = paired_ratio(least, most)
    return Interval(100 * (1 - ratio.mean), 100 * ratio.half_width, ratio.n)


def below(claim: Claim, spreads: dict[str, Interval]) -> Ruled:
    """Every spread at most the claim's upper end."""
    high = claim.band()[1]
    name, greatest = max(spreads.items(), key=lambda each: each[1].mean)
    where = f" ({name})" if name else ""
    return Ruled(
        f"greatest spread {shown(greatest, ' %')}{where}",
        satisfied=greatest.mean <= high,
        broken=any(each.low > high for each in spreads.values()),
    )


def segment_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput by segment, window and hops."""
    sizes, windows = segment_levels(ledger)
    lengths = range(*_half_open(ledger.assumptions["hops"].text))
    table = Table(
        "TCP over static chains, kb/s", ("segment, B", "window", *(f"{hops} hops" for hops in lengths))
    )
    for size in sizes:
        for window in windows:
            at = {"tcp.segment_bytes": size, "tcp.window": window}
            means = (mean_interval(runs[SEGMENTS].values(TCP, hops=hops, **at)).mean for hops in lengths)
            table.add(str(size), str(window), *(f"{mean / 1e3:.1f}" for mean in means))
    return [table]


# Number of hops.


def hop_campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """One flow over 1 to 8 hops: TCP, and CBR below the capacity."""
    metres, size = spacing_m(ledger), packet_bytes(ledger)
    interval = interval_s(size, wording.number(ledger.assumptions["cbr-rate"].text, "kb/s"))
    axis = ledger.experiments[HOPS].axis
    over = {
        "TCP": [chains.level(hops, hops, [chains.tcp(0, hops)], metres) for hops in axis],
        "CBR": [chains.level(hops, hops, [chains.cbr(0, hops, size, interval)], metres) for hops in axis],
    }
    return [
        campaign(ledger, scale, HOPS, f"{HOPS}/{kind}", {"hops": levels}) for kind, levels in over.items()
    ]


def hop_values(ledger: Ledger, runs: Runs, kind: str) -> dict[int, Values]:
    """Throughput of every seed by hops."""
    metric = TCP if kind == "TCP" else CBR
    axis = ledger.experiments[HOPS].axis
    return {hops: runs[f"{HOPS}/{kind}"].values(metric, hops=hops) for hops in axis}


def hop_evidence(ledger: Ledger, runs: Runs) -> Found:
    """TCP falls, then hardly; CBR does not change."""
    tcp = hop_values(ledger, runs, "TCP")
    claim = ledger.claim("B-04")
    first, last = (int(each) for each in wording.two(claim.tolerance, "to", "hops"))
    least, beyond = wording.number(claim.tolerance, "%"), int(wording.after(claim.tolerance, "beyond"))
    most = wording.number(claim.tolerance.partition("beyond")[2], "%")
    fall = percent(tcp[last], tcp[first])
    later = [percent(tcp[hops + 1], tcp[hops]) for hops in tcp if hops >= beyond and hops + 1 in tcp]
    steepest = min(later, key=lambda each: each.mean)
    broken = -fall.low < least or any(-each.high > most for each in later)
    found = f"{first} to {last} hops {shown(fall, ' %')}; "
    found += f"steepest step beyond {beyond} hops {shown(steepest, ' %')}"
    spreads = {"": spread(list(hop_values(ledger, runs, "CBR").values()))}
    return {
        "B-04": Ruled(found, satisfied=-fall.mean >= least and -steepest.mean <= most, broken=broken),
        "B-05": below(ledger.claim("B-05"), spreads),
    }


def hop_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput by hops."""
    table = Table("Fig. 1: throughput by hops, kb/s", ("hops", "TCP", "CBR"))
    tcp, cbr = (hop_values(ledger, runs, kind) for kind in ("TCP", "CBR"))
    for hops in tcp:
        table.add(str(hops), *(shown(mean_interval(each[hops]).scaled(1e-3)) for each in (tcp, cbr)))
    return [table]


# Connections that share a node.


def shared_campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """Flows across one node."""
    metres, size = spacing_m(ledger), packet_bytes(ledger)
    interval = interval_s(size, wording.number(ledger.assumptions["cbr-rate-per-flow"].text, "kb/s"))

    def level(kind: str, count: int) -> dict[str, Any]:
        ends = [(2 * number + 1, 2 * number + 2) for number in range(count)]
        flows = [
            chains.tcp(*pair) if kind == "TCP" else chains.cbr(*pair, size, interval, number, count)
            for number, pair in enumerate(ends)
        ]
        fields = {"movement.positions": chains.star(count, metres), "traffic.flows": flows}
        return {"label": count, "fields": fields}

    axis = ledger.experiments[SHARED].axis
    return [
        campaign(
            ledger, scale, SHARED, f"{SHARED}/{kind}", {"connections": [level(kind, count) for count in axis]}
        )
        for kind in ("TCP", "CBR")
    ]


def shared_values(ledger: Ledger, runs: Runs, kind: str) -> dict[int, Values]:
    """Total throughput of every seed by the number of connections."""
    metric = TCP if kind == "TCP" else CBR
    axis = ledger.experiments[SHARED].axis
    return {count: runs[f"{SHARED}/{kind}"].values(metric, connections=count) for count in axis}


def shared_evidence(ledger: Ledger, runs: Runs) -> Found:
    """TCP's total stays, each one's part falls; CBR's total grows in proportion."""
    tcp, cbr = (shared_values(ledger, runs, kind) for kind in ("TCP", "CBR"))
    per_flow = [[each / count for each in values] for count, values in tcp.items()]
    claim = ledger.claim("B-08")
    needed = wording.after(claim.tolerance, "origin")
    means = {count: mean_interval(values).mean for count, values in cbr.items()}
    fit = through_origin(means)
    return {
        "B-06": below(ledger.claim("B-06"), {"": spread(list(tcp.values()))}),
        "B-07": Trend(per_flow, -1),
        "B-08": Ruled(f"R² {fit:.4f}", satisfied=fit > needed),
    }


def through_origin(points: dict[int, float]) -> float:
    """R² of a line through the origin: 1 − residuals² / deviations² from the mean."""
    slope = sum(x * y for x, y in points.items()) / sum(x * x for x in points)
    mean = sum(points.values()) / len(points)
    residual = sum((y - slope * x) ** 2 for x, y in points.items())
    return 1 - residual / sum((y - mean) ** 2 for y in points.values())


def shared_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Totals by connections."""
    table = Table("Fig. 2: total throughput by connections, kb/s", ("connections", "TCP", "CBR"))
    tcp, cbr = (shared_values(ledger, runs, kind) for kind in ("TCP", "CBR"))
    for count in tcp:
        table.add(str(count), *(shown(mean_interval(each[count]).scaled(1e-3)) for each in (tcp, cbr)))
    return [table]


# Opposite directions.


def opposite_campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """CBR over a chain one way, and both ways."""
    text = ledger.assumptions["rate"].text
    size, hops = packet_bytes(ledger), wording.whole(text, "hops")
    interval, metres = interval_s(size, wording.number(text, "kb/s")), spacing_m(ledger)
    there, back = chains.cbr(0, hops, size, interval), chains.cbr(hops, 0, size, interval, 1, 2)
    one, both = ledger.experiments[OPPOSITE].axis
    levels = [chains.level(one, hops, [there], metres), chains.level(both, hops, [there, back], metres)]
    return [campaign(ledger, scale, OPPOSITE, OPPOSITE, {"directions": levels})]


def opposite_evidence(ledger: Ledger, runs: Runs) -> Found:
    """The change of the first flow when the second is there."""
    one, both = (
        [each or 0.0 for each in runs[OPPOSITE].flow("throughput_bps", directions=label)]
        for label in ledger.experiments[OPPOSITE].axis
    )
    return {"B-09": Change({"": percent(both, one)})}


def opposite_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput of each flow."""
    table = Table("CBR one way and both ways, kb/s", ("directions", "each flow"), text_columns=2)
    for label in ledger.experiments[OPPOSITE].axis:
        flows = zip(*runs[OPPOSITE].of_flows("throughput_bps", directions=label), strict=True)
        table.add(label, "; ".join(shown(mean_interval(each).scaled(1e-3)) for each in flows))
    return [table]


STUDIES = (
    Study(
        SEGMENTS,
        segment_campaigns,
        segment_evidence,
        segment_tables,
        QUICK,
        {"B-03": "lengths of interface queues are not measured"},
    ),
    Study(HOPS, hop_campaigns, hop_evidence, hop_tables, QUICK),
    Study(SHARED, shared_campaigns, shared_evidence, shared_tables, QUICK),
    Study(OPPOSITE, opposite_campaigns, opposite_evidence, opposite_tables, QUICK),
)
