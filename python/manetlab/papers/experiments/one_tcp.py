"""One TCP connection over a mobile network with CBR background, under combinations of techniques.

Tables 4.2 and 4.3, Figs 4.4 to 4.9 and B.1 to B.4 of the dissertation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manetlab.papers.evidence import (
    Also,
    Change,
    Evidence,
    Level,
    Pairs,
    Ruled,
    Values,
    percent,
    points,
    shown,
)
from manetlab.papers.experiments import ftp
from manetlab.papers.experiments.ftp import (
    ADV,
    AODV,
    DSR,
    HOLD_DOWN,
    METRIC,
    PROTOCOLS,
    QUICK,
    RENO,
    RENO_F,
    SACK,
    TABLES,
    Cell,
    Measured,
    techniques,
)
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.study import Found, Runs, Study
from manetlab.papers.verdicts import banded
from manetlab.stats import Interval, mean_interval, paired_interval, paired_ratio
from manetlab.tables import Table

FEW, MANY = TABLES
CONNECT = "tcp_connect_time_mean_s"


def gain(measured: Measured, cell: Cell, protocol: str, label: str) -> Interval:
    """The change of throughput from Reno to a technique, in percent."""
    return percent(measured.values(cell, protocol, label), measured.values(cell, protocol, RENO))


def extra(measured: Measured, cell: Cell, protocol: str) -> Interval:
    """What the hold-down timer adds to Reno-F, in points of Reno."""
    return points(*(measured.values(cell, protocol, label) for label in (HOLD_DOWN, RENO_F, RENO)))


def table_evidence(key: str) -> Callable[[Ledger, Runs], Found]:
    """The changes of Table 4.2 or 4.3."""

    def evidence(ledger: Ledger, runs: Runs) -> Found:
        measured = Measured(ledger, runs)
        cell = measured.cell(key)
        found: dict[str, Evidence] = {}
        for claim in ledger.claims_of(ledger.experiments[key]):
            if claim.kind == "change":
                of = gain(measured, cell, *claim.systems)
                shared = not claim.tolerance.startswith("CI must overlap")
                found[claim.id] = Change({"": of}) if shared else clear_loss(claim, of)
        if key == FEW:
            found["D4-36"] = largest_gain(ledger.claim("D4-36"), measured, cell)
            found["D4-46"] = share_of_fixing(ledger.claim("D4-46"), measured, cell)
        return found

    return evidence


def clear_loss(claim: Claim, of: Interval) -> Ruled:
    """A loss for which there is no mechanism: nothing is inconclusive, only a clear gain contradicts."""
    low, high = claim.band()
    return Ruled(shown(of), satisfied=of.high < 0 and of.low <= high and of.high >= low, broken=of.low > 0)


def largest_gain(claim: Claim, measured: Measured, cell: Cell) -> Ruled:
    """No technique gains ADV more than that."""
    most = claim.band()[1]
    gains = {label: gain(measured, cell, ADV, label) for label in techniques(measured.ledger)[1:]}
    text = "; ".join(f"{label}: {shown(each)}" for label, each in gains.items())
    over = any(each.low > most for each in gains.values())
    return Ruled(text, satisfied=max(each.mean for each in gains.values()) <= most, broken=over)


def share_of_fixing(claim: Claim, measured: Measured, cell: Cell) -> Ruled:
    """Is so much of DSR's gain that of fixing the RTO?"""
    reno, sack, fixed = (measured.values(cell, DSR, label) for label in (RENO, SACK, RENO_F))
    share = mean_of(fixed, sack) / mean_of(fixed, reno)
    least = claim.band()[0]
    more = mean_interval([f - s - least * (f - r) for f, s, r in zip(fixed, sack, reno, strict=True)])
    return Ruled(f"{share:.2f}", satisfied=more.mean >= 0, broken=more.high < 0)


def mean_of(a: Values, b: Values) -> float:
    """The mean difference."""
    return paired_interval(a, b).mean


def few_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.4: all techniques with ten CBR flows."""
    measured = Measured(ledger, runs)
    cell, labels = measured.cell(FEW), techniques(ledger)
    reno = {protocol: measured.values(cell, protocol, RENO) for protocol in PROTOCOLS}
    connect = {label: _connect(measured, cell, label) for label in (RENO, RENO_F)}
    reduction = paired_ratio(connect[RENO], connect[RENO_F])
    return {
        "D4-25": _extremes(ledger.claim("D4-25"), [each / 1e6 for each in reno[DSR]], _scenarios(ledger)),
        "D4-26": _longest(ledger.claim("D4-26"), connect[RENO], _scenarios(ledger)),
        "D4-27": Level({f"DSR/{rival}": paired_ratio(reno[DSR], reno[rival]) for rival in (ADV, AODV)}),
        "D4-28": banded(ledger.claim("D4-28"), {"": reduction}),
        "D4-30": banded(ledger.claim("D4-30"), {cell.load: extra(measured, cell, DSR)}, +1),
        "D4-37": _beats(measured, cell, ADV, labels, METRIC, may_tie=True),
        **_overheads(measured, cell, labels),
    }


def _overheads(measured: Measured, cell: Cell, labels: Sequence[str]) -> Found:
    """Goodput and routing overhead in Fig. 4.4."""

    def goodput(protocol: str, label: str) -> Values:
        return [100 * each for each in measured.values(cell, protocol, label, "tcp_goodput")]

    def packets(protocol: str, label: str, metric: str = "routing_packets_per_s") -> Values:
        return measured.values(cell, protocol, label, metric)

    frames = "routing_mac_frames_per_s"
    return {
        "D4-40": Level(
            {f"{p}, {label}": mean_interval(goodput(p, label)) for p in PROTOCOLS for label in labels}
        ),
        "D4-41": Change({p: paired_interval(goodput(p, RENO_F), goodput(p, RENO)) for p in PROTOCOLS}),
        "D4-42": Change(
            {
                label: percent(packets(DSR, label, frames), packets(DSR, RENO, frames))
                for label in (RENO_F, HOLD_DOWN)
            }
        ),
        "D4-43": Change(
            {
                f"{p}, {label}": percent(packets(p, label), packets(p, RENO))
                for p in (ADV, AODV)
                for label in labels[1:]
            }
        ),
        "D4-44": Pairs(
            {
                f"DSR > {rival}, {label}": (packets(DSR, label, frames), packets(rival, label, frames))
                for rival in (AODV, ADV)
                for label in labels
            }
        ),
    }


def _connect(measured: Measured, cell: Cell, label: str) -> Values:
    """Connect times of DSR; where nothing was delivered, the time that was measured."""
    samples = measured.samples(cell, DSR)
    longest = max(samples.values(CONNECT, technique=label))
    return samples.present(CONNECT, longest, technique=label)


def _scenarios(ledger: Ledger) -> int:
    scenarios: int = ledger.experiments[FEW].setup["scenarios"]
    return scenarios


def _extremes(claim: Claim, values: Values, wanted: int) -> Ruled:
    """Are least and greatest value within their bands? Those of fewer scenarios lie less far out."""
    ends = (min(values), max(values))
    bands = [claim.band(place) for place in range(2)]
    inside = all(low <= end <= high for end, (low, high) in zip(ends, bands, strict=True))
    beyond = ends[0] < bands[0][0] or ends[1] > bands[1][1]
    return Ruled(
        f"{ends[0]:.4g} to {ends[1]:.4g}",
        satisfied=inside,
        broken=beyond or (not inside and len(values) >= wanted),
    )


def _longest(claim: Claim, values: Values, wanted: int) -> Ruled:
    reached = max(values) >= claim.band()[0]
    return Ruled(f"{max(values):.4g}", satisfied=reached, broken=not reached and len(values) >= wanted)


def _beats(
    measured: Measured, cell: Cell, first: str, labels: Sequence[str], metric: str, *, may_tie: bool = False
) -> Pairs:
    """A protocol against both others under some techniques."""
    rivals = [each for each in PROTOCOLS if each != first]
    return Pairs(
        {
            f"{first} > {rival}, {label}": (
                measured.values(cell, first, label, metric),
                measured.values(cell, rival, label, metric),
            )
            for rival in rivals
            for label in labels
        },
        may_tie=may_tie,
    )


def many_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.5: all techniques with forty CBR flows."""
    measured = Measured(ledger, runs)
    packets = [
        measured.values(measured.cell(key), AODV, RENO, "routing_packets_per_s") for key in (MANY, FEW)
    ]
    return {
        "D4-34": Change({"": percent(*packets)}),
        "D4-38": _beats(measured, measured.cell(MANY), ADV, techniques(ledger), METRIC),
    }


def sack_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.1: the gain of SACK and delayed ACKs at the higher loads."""
    measured = Measured(ledger, runs)
    higher = [measured.cell(key) for key in ("dyer2002/fig-B.1", "dyer2002/fig-B.3")]
    of = {f"{p}, {cell.load}": gain(measured, cell, p, SACK) for p in (AODV, DSR) for cell in higher}
    return {"D4-45": Change(of)}


def advantage_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.2: how far ADV is ahead of the others."""
    measured, claim = Measured(ledger, runs), ledger.claim("D4-39")
    cell = measured.cell("dyer2002/fig-B.2")
    ahead = {
        f"{rival}, {label}": percent(measured.values(cell, ADV, label), measured.values(cell, rival, label))
        for rival in (AODV, DSR)
        for label in techniques(ledger)
    }
    ends = sorted(ahead, key=lambda name: ahead[name].mean)
    of = {ends[0]: ahead[ends[0]], ends[-1]: ahead[ends[-1]]}
    low, high = claim.band()
    inside = all(low <= each.mean <= high for each in of.values())
    broken = any(each.high < 0 or each.low > high for each in ahead.values())
    text = "; ".join(f"over {name}: {shown(each)}" for name, each in of.items())
    return {"D4-39": Ruled(text, satisfied=inside, broken=broken)}


def few_flows_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.3: AODV's gains with ten CBR flows."""
    measured = Measured(ledger, runs)
    loads = [measured.cell(key) for key in (FEW, "dyer2002/fig-B.1", "dyer2002/fig-B.3")]
    return {"D4-32": Change({cell.load: gain(measured, cell, AODV, RENO_F) for cell in loads})}


def all_loads_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.7: DSR's gain at all loads."""
    measured = Measured(ledger, runs)
    of = {cell.load: gain(measured, cell, DSR, RENO_F) for cell in measured.cells("dyer2002/fig-4.7")}
    return {"D4-29": banded(ledger.claim("D4-29"), of)}


def many_flows_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.4: gains at the greatest load, and beside those at the least."""
    measured = Measured(ledger, runs)
    low, high = (measured.cell(key) for key in (MANY, "dyer2002/fig-B.4"))
    least, most = (gain(measured, cell, AODV, RENO_F) for cell in (low, high))
    text = f"gain(200) > gain(50), which is {shown(least)}"
    added = percent(measured.values(high, AODV, HOLD_DOWN), measured.values(high, AODV, RENO_F))
    return {
        "D4-31": _falling(ledger.claim("D4-31"), [extra(measured, cell, DSR) for cell in (low, high)]),
        "D4-33": Change({"": most}, also=[Also(text, most.mean > least.mean)]),
        "D4-35": Change({"": added}),
    }


def _falling(claim: Claim, of: Sequence[Interval]) -> Ruled:
    """Both positive, and the first greater than the second."""
    text = "; ".join(f"{name}: {shown(each)}" for name, each in zip(claim.at, of, strict=True))
    first, second = of
    holds = first.mean > second.mean > 0
    return Ruled(text, satisfied=holds, broken=any(each.high < 0 for each in of) or first.high < second.low)


def tables_of(*keys: str) -> Callable[[Ledger, Runs], list[Table]]:
    """Throughput and what comes with it, by protocol and technique, for each set-up of some figures."""

    def made(ledger: Ledger, runs: Runs) -> list[Table]:
        measured = Measured(ledger, runs)
        listed = dict.fromkeys(cell for key in keys for cell in measured.cells(key))
        return [_cell_table(measured, cell) for cell in listed]

    return made


def _cell_table(measured: Measured, cell: Cell) -> Table:
    columns = (
        "technique",
        "throughput, kb/s",
        "change, %",
        "connect, s",
        "goodput, %",
        "routing packets/s",
        "CBR, %",
    )
    what = "one transfer" if cell.transfers == 1 else f"{cell.transfers} transfers"
    table = Table(f"{what} beside {cell.load} CBR flows", ("protocol", *columns), text_columns=2)
    scales = {METRIC: 1e-3, CONNECT: 1.0, "tcp_goodput": 100.0, "routing_packets_per_s": 1.0}
    scales["cbr_delivery_fraction"] = 100.0
    for protocol in PROTOCOLS:
        if cell.name(protocol) not in measured.runs:
            continue
        for label in measured.samples(cell, protocol).labels("technique"):
            cells = [
                shown(mean_interval(measured.values(cell, protocol, str(label), name)).scaled(factor))
                for name, factor in scales.items()
            ]
            change = "–" if label == RENO else shown(gain(measured, cell, protocol, str(label)))
            table.add(protocol, str(label), cells[0], change, *cells[1:])
    return table


def study(key: str, needs: Sequence[str], evidence: Callable[[Ledger, Runs], Found]) -> Study:
    """A figure made of the set-ups of some figures."""
    return Study(
        key,
        lambda ledger, scale: ftp.campaigns(ledger, scale, needs),
        evidence,
        tables_of(*needs),
        quick=QUICK,
    )


def nothing(_ledger: Ledger, _runs: Runs) -> Found:
    """A figure from which no claim is drawn."""
    return {}


STUDIES = (
    *(study(key, [key], table_evidence(key)) for key in TABLES),
    study("dyer2002/fig-4.4", [FEW], few_evidence),
    study("dyer2002/fig-4.5", [MANY, FEW], many_evidence),
    study("dyer2002/fig-4.6", ["dyer2002/fig-4.6"], nothing),
    study("dyer2002/fig-4.7", ["dyer2002/fig-4.7"], all_loads_evidence),
    study("dyer2002/fig-4.8", ["dyer2002/fig-4.8"], nothing),
    study("dyer2002/fig-4.9", ["dyer2002/fig-4.9"], nothing),
    study("dyer2002/fig-B.1", ["dyer2002/fig-B.1", "dyer2002/fig-B.3"], sack_evidence),
    study("dyer2002/fig-B.2", ["dyer2002/fig-B.2"], advantage_evidence),
    study("dyer2002/fig-B.3", [FEW, "dyer2002/fig-B.1", "dyer2002/fig-B.3"], few_flows_evidence),
    study("dyer2002/fig-B.4", [MANY, "dyer2002/fig-B.4"], many_flows_evidence),
)
