"""CBR flows over all routing protocols by offered load: Figs 3.1 to 3.6 of the dissertation.

The six figures show two sets of runs, with 25 and with 50 connections in the square.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Level, Pairs, Ruled, Values, percent, shown
from manetlab.papers.experiments import several_tcp
from manetlab.papers.experiments.by_load import (
    ADV_1,
    ADV_5,
    ADVS,
    AODV,
    BYTES,
    DELIVERY,
    DSDV,
    DSR,
    FEW,
    FRAMES,
    LATENCY,
    ON_DEMAND,
    PACKETS,
    SHARE,
    THROUGHPUT,
    Loads,
)
from manetlab.papers.experiments.ftp import RENO_F, pool
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.study import Found, Runs
from manetlab.papers.verdicts import Finding, Outcome, banded, change, level, ruled_by
from manetlab.stats import Interval, mean_interval, paired_interval, paired_ratio

QUICK = f"20 of the 30 scenarios, the first {SHARE:.0%} of the measured time; with 50 connections fewer loads"
AT_MAC = ("link-failure", "queue-full", "arp-hold-replaced")
"""Why packets die below routing: the MAC gave up, the interface queue was full, ARP waited for an answer."""


def delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.1: latency and delivery with 25 connections."""
    few = Loads(runs[FEW])
    top = ledger.claim("D3-12").value[0]
    low_load = few.loads[0]
    others = (ADV_1, ADV_5, AODV, DSR)

    def peaks(*names: str) -> dict[str, Interval]:
        return {name: mean_interval(few.peak(name, DELIVERY)) for name in names}

    order = [(ADV_5, AODV), (ADV_5, ADV_1), (AODV, DSR), (ADV_1, DSR), (DSR, DSDV)]
    return {
        "D3-01": Pairs(
            {
                f"{p} > DSDV, {load:g}": (few.at(p, load, LATENCY), few.at(DSDV, load, LATENCY))
                for p in others
                for load in few.loads
            }
        ),
        "D3-02": _most_loads(ledger.claim("D3-02"), few),
        "D3-03": Pairs(
            {
                what: (few.over(ADV_5, metric, high=top), few.over(ADV_1, metric, high=top))
                for what, metric in (("delivery", DELIVERY), ("latency", LATENCY))
            }
        ),
        "D3-04": _crossing(ledger.claim("D3-04"), few),
        "D3-05": _constant(ledger.claim("D3-05"), few),
        "D3-06": Level(peaks(ADV_5)),
        "D3-07": Level(peaks(AODV, ADV_1), also=[Also("both protocols", True)]),
        "D3-08": Level(peaks(DSR)),
        "D3-09": Pairs({f"{a} > {b}": (few.peak(a, DELIVERY), few.peak(b, DELIVERY)) for a, b in order}),
        "D3-10": _rises(ledger.claim("D3-10"), few, others),
        "D3-11": _saturate(ledger, ledger.claim("D3-11"), few, ON_DEMAND),
        "D3-12": _saturate(ledger, ledger.claim("D3-12"), few, (*ADVS, DSDV)),
        "D3-13": _at_mac(ledger.claim("D3-13"), few),
        "D3-41": Pairs(
            {
                f"{p} > {adv}, {low_load:g}": (few.at(p, low_load, DELIVERY), few.at(adv, low_load, DELIVERY))
                for p in ON_DEMAND
                for adv in ADVS
            }
        ),
    }


def _most_loads(claim: Claim, few: Loads) -> Ruled:
    """ADV with 1 s below both on-demand protocols at the share of the loads that the claim names."""
    found = re.search(r"(\d)/(\d)", claim.tolerance)
    if found is None:
        raise ValueError(f"{claim.id}: no share of loads")
    wanted = int(found[1]) / int(found[2])
    listed = few.between(*wording.two(claim.tolerance, "and", "Kbps"))
    outcomes = []
    for load in listed:
        pairs = [few.at(p, load, LATENCY) for p in ON_DEMAND]
        differences = [paired_interval(each, few.at(ADV_1, load, LATENCY)) for each in pairs]
        outcomes.append(
            (all(each.low > 0 for each in differences), any(each.high < 0 for each in differences))
        )
    held = sum(holds for holds, _ in outcomes) / len(listed)
    reversed_at = sum(reverse for _, reverse in outcomes) / len(listed)
    text = f"lowest at {sum(holds for holds, _ in outcomes)} of {len(listed)} loads"
    return Ruled(text, satisfied=held >= wanted, broken=reversed_at > 1 - wanted)


def _crossing(claim: Claim, few: Loads) -> Ruled:
    """The load at which DSR's latency comes to exceed AODV's."""
    differences = [
        paired_interval(few.at(DSR, load, LATENCY), few.at(AODV, load, LATENCY)) for load in few.loads
    ]
    low, high = claim.band()
    crossed = [
        (a + (b - a) * before.mean / (before.mean - after.mean))
        for a, b, before, after in zip(few.loads, few.loads[1:], differences, differences[1:], strict=False)
        if before.mean < 0 <= after.mean
    ]
    inside = any(low <= load <= high for load in crossed)
    within = [each for load, each in zip(few.loads, differences, strict=True) if low <= load <= high]
    one_sign = all(each.low > 0 for each in within) or all(each.high < 0 for each in within)
    text = ", ".join(
        f"{load:g}: {1000 * each.mean:+.0f} ms" for load, each in zip(few.loads, differences, strict=True)
    )
    return Ruled(f"DSR − AODV at {text}", satisfied=inside, broken=one_sign)


def _constant(claim: Claim, few: Loads) -> Ruled:
    """DSDV's mean over loads in the band, and its spread below the bound."""
    low, high = wording.two(claim.tolerance, "-", "Kbps")
    means = [mean_interval(few.at(DSDV, load, DELIVERY)).mean for load in few.between(low, high)]
    overall = mean_interval(few.over(DSDV, DELIVERY, low, high))
    spread, most = max(means) - min(means), wording.after(claim.tolerance, "<")
    outcome, _ = level(overall, *claim.band())
    return Ruled(
        f"{shown(overall)}, spread {spread:.3f}",
        satisfied=outcome is Outcome.REPRODUCED and spread < most,
        broken=outcome is Outcome.CONTRADICTED or spread > 2 * most,
    )


def _rises(claim: Claim, few: Loads, names: Sequence[str]) -> Ruled:
    """More is delivered at the load that the claim names than at the lowest."""
    moderate = wording.number(claim.tolerance, "Kbps")
    of = {
        name: paired_interval(few.at(name, moderate, DELIVERY), few.at(name, few.loads[0], DELIVERY)).scaled(
            100
        )
        for name in names
    }
    text = "; ".join(f"{name}: {shown(each)}" for name, each in of.items())
    return Ruled(
        f"{text} points",
        satisfied=all(each.mean > 0 for each in of.values()),
        broken=any(each.high < 0 for each in of.values()),
    )


def _saturate(ledger: Ledger, claim: Claim, few: Loads, names: Sequence[str]) -> Ruled:
    """The saturation loads within the band."""
    points = wording.number(ledger.claim("D3-11").tolerance, "points below")
    found = {name: few.saturation_kbps(name, points) for name in names}
    low, high = claim.band()
    text = "; ".join(f"{name}: {load:g}" for name, load in found.items())
    return Ruled(
        text.replace("inf", f"above {few.loads[-1]:g}"),
        satisfied=all(low <= x <= high for x in found.values()),
    )


def _at_mac(claim: Claim, few: Loads) -> Ruled:
    """Which share of DSDV's lost CBR packets dies at the MAC, and whether a buffer overflows."""
    samples = few.samples

    def lost(load: float) -> Values:
        """Packets that were dropped, or came too late to count."""
        sent, received = (
            samples.of_flows(metric, routing=DSDV, load=load) for metric in ("sent", "received")
        )
        missing = [sum(a) - sum(b) for a, b in zip(sent, received, strict=True)]
        return list(map(max, missing, samples.dropped("cbr", routing=DSDV, load=load)))

    def dropped(reasons: Sequence[str]) -> Values:
        return pool([samples.dropped("cbr", reasons, routing=DSDV, load=load) for load in few.loads])

    share = paired_ratio(dropped(AT_MAC), pool([lost(load) for load in few.loads]))
    overflows = sum(dropped(["buffer-full"]))
    outcome, _ = level(share, claim.band()[0], float("inf"), must_lie=True)
    return Ruled(
        f"{shown(share)}, {overflows:g} drops of full buffers",
        satisfied=outcome is Outcome.REPRODUCED and not overflows,
        broken=outcome is Outcome.CONTRADICTED or overflows > 0,
    )


def throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.3: throughput with 25 connections."""
    few = Loads(runs[FEW])
    low, high = wording.two(ledger.claim("D3-19").tolerance, "-", "Kbps")
    saturated = ledger.claim("D3-11").value[0]

    def pairs(listed: Sequence[tuple[str, str]], start: float, end: float) -> Pairs:
        return Pairs(
            {
                f"{a} > {b}": (few.over(a, THROUGHPUT, start, end), few.over(b, THROUGHPUT, start, end))
                for a, b in listed
            }
        )

    ranked = pairs([(ADV_5, ADV_1), (ADV_5, AODV), (ADV_1, DSR), (AODV, DSR)], low, high)
    figures = several_tcp.Figures(ledger, runs)
    tcp = figures.values(figures.most(several_tcp.FEW), AODV, RENO_F)
    both = {"CBR": mean_interval(few.peak(AODV, THROUGHPUT, 1e-3)), "TCP": mean_interval(tcp).scaled(1e-6)}
    return {
        "D3-19": Pairs(
            ranked.of, also=[Also(f"over the loads from {low:g} to {high:g} kb/s together", True)]
        ),
        "D3-20": Pairs({"": (_decline(few, ADV_5), _decline(few, ADV_1))}),
        "D3-21": pairs([(p, DSDV) for p in (*ADVS, *ON_DEMAND)], 0, saturated),
        "D3-22": Level({"": mean_interval(few.peak(DSR, THROUGHPUT, 1e-3))}),
        "D3-23": Level({"": mean_interval(few.peak(AODV, THROUGHPUT, 1e-3))}),
        "D3-24": _kept(ledger.claim("D3-24"), few),
        "D3-39": pairs([(adv, DSDV) for adv in ADVS], 0, few.loads[-1]),
        "D3-40": pairs([(adv, p) for adv in ADVS for p in ON_DEMAND], saturated, few.loads[-1]),
        "D5-06": banded(ledger.claim("D5-06"), both),
    }


def _decline(few: Loads, name: str) -> Values:
    """By how much throughput falls from its peak to the highest load, in percent of the peak's mean."""
    peak, last = few.peak(name, THROUGHPUT), few.at(name, few.loads[-1], THROUGHPUT)
    mean = sum(peak) / len(peak)
    return [100 * (a - b) / mean for a, b in zip(peak, last, strict=True)]


def _kept(claim: Claim, few: Loads) -> Ruled:
    """AODV keeps its peak beyond saturation, and ADV with 5 s loses most."""
    least = wording.after(claim.tolerance, "AODV ratio >=")
    kept = {
        name: paired_ratio(few.at(name, few.loads[-1], THROUGHPUT), few.peak(name, THROUGHPUT))
        for name in (ADV_1, ADV_5, AODV, DSR, DSDV)
    }
    text = "; ".join(f"{name}: {shown(each)}" for name, each in kept.items())
    smallest = min(kept, key=lambda name: kept[name].mean)
    return Ruled(
        text,
        satisfied=kept[AODV].mean >= least and smallest == ADV_5,
        broken=kept[AODV].high < least or kept[smallest].high < kept[ADV_5].low,
    )


def overhead_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 3.5: routing overhead with 25 connections."""
    few = Loads(runs[FEW])
    saturated = ledger.claim("D3-11").value[0]
    beyond = few.between(saturated + 1, few.loads[-1])

    def over(name: str, metric: str) -> Values:
        return few.over(name, metric, beyond[0], beyond[-1])

    def ratio(name: str, metric: str) -> Values:
        return [a / b for a, b in zip(few.over(name, metric), few.over(ADV_1, metric), strict=True)]

    volume = [(DSDV, adv) for adv in ADVS] + [(adv, p) for adv in ADVS for p in ON_DEMAND]
    by_bytes = {f"{a} > {b}": (few.over(a, BYTES), few.over(b, BYTES)) for a, b in volume}
    ratios = {f"{p}/ADV": paired_ratio(over(p, PACKETS), over(ADV_1, PACKETS)) for p in (DSR, AODV)}
    means = few.means(DSDV, PACKETS)
    steady = wording.after(ledger.claim("D3-28").tolerance, "<")
    most = max(max(few.at(adv, load, PACKETS)) for adv in ADVS for load in few.loads)
    limit = ledger.claim("D3-33").band()[1]
    return {
        "D3-28": Ruled(f"{max(means) / min(means):.3f}", satisfied=max(means) / min(means) < steady),
        "D3-29": Pairs(by_bytes),
        "D3-30": _ceiling(ledger.claim("D3-30"), few),
        "D3-31": banded(ledger.claim("D3-31"), ratios),
        "D3-32": Pairs({name: pair for name, pair in by_bytes.items() if not name.startswith(DSDV)}),
        # The count has floods in it, so a run above the limit does not break the rule.
        "D3-33": Ruled(f"at most {most:.1f}, floods included", satisfied=most <= limit, broken=False),
        "D3-38": Pairs({p: (ratio(p, FRAMES), ratio(p, PACKETS)) for p in ON_DEMAND}),
    }


def _ceiling(claim: Claim, few: Loads) -> Ruled:
    """ADV's packets rise up to the load of the claim, and no further."""
    bend, most = wording.after(claim.tolerance, "below"), wording.number(claim.tolerance, "%")
    findings: list[tuple[str, Finding]] = []
    texts = []
    for adv in ADVS:
        rise = paired_interval(few.at(adv, bend, PACKETS), few.at(adv, few.loads[0], PACKETS))
        after = percent(few.at(adv, few.loads[-1], PACKETS), few.at(adv, bend, PACKETS))
        findings.append((f"{adv} below", change(rise, 0.0, float("inf"), +1)))
        findings.append((f"{adv} beyond", level(after, -most, most)))
        texts.append(f"{adv}: {shown(rise, ' /s')}, then {shown(after, ' %')}")
    return ruled_by("; ".join(texts), findings)
