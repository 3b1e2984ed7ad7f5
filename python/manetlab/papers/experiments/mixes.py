"""Web sessions and video together: Figs 6.7 to 6.12 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import (
    Also,
    Change,
    Level,
    Order,
    Pairs,
    Ruled,
    Trend,
    Trends,
    Values,
    percent,
    shown,
)
from manetlab.papers.experiments import http, video
from manetlab.papers.experiments.datagrams import PROTOCOLS, protocol_rows, setting
from manetlab.papers.experiments.http import COMBINED, SERVICE, TCPS, segments, sessions, tcp_rows
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import banded, level, ruled_by, trend
from manetlab.stats import Interval, mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ADV, AODV = PROTOCOLS
FREE, LOADED = "dyer2002/fig-6.7", "dyer2002/fig-6.9"
FREE_F, LOADED_F = "dyer2002/fig-6.8", "dyer2002/fig-6.10"
SERVICE_FREE, SERVICE_LOADED = "dyer2002/fig-6.11", "dyer2002/fig-6.12"
ALONE = {FREE: http.FREE, LOADED: http.LOADED}
"""The figures of sessions without video beside the same background."""
SHARE = 0.5
"""What share of the paper's measured time ``--quick`` runs."""
VIDEO = "message_throughput_bps"
QUICK = "20 of the 50 scenarios; 100 s of the measured 200 s"


def mixes(ledger: Ledger) -> dict[str, Fields]:
    """What is mixed, by the names of the figures' axis: flows and their transport, by dotted name."""
    experiment = ledger.experiments[FREE]
    transports = video.transports(ledger)
    kinds = {"UDP": video.UDP, "ADP": video.ADP, "unlimited": video.UNLIMITED}
    made = {}
    for label in experiment.axis:
        [transport] = [name for word, name in kinds.items() if word in label][-1:]
        fields = {**transports[transport], **segments(ledger, experiment)}
        fields["traffic.random.video"] = _count(label, ("UDP", "ADP"))
        if "HTTP" in label:
            fields |= sessions(ledger, experiment, _count(label, ("HTTP",)))
        else:
            # The ledger's assumptions give parameters of sessions; without any there are none.
            fields["traffic.web"] = None
        made[label] = fields
    return made


def _count(label: str, words: Sequence[str]) -> int:
    return next(wording.whole(label, word) for word in words if word in label)


def campaign(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """All mixes of a figure over every routing protocol and TCP."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[key]
    levels = [{"label": label, "fields": fields} for label, fields in mixes(ledger).items()]
    return Campaign(
        name=key,
        question="How do Web sessions and video share the network?",
        base=setting(ledger, scale, key, _final_adp(), quick=SHARE),
        factors={"protocol": protocol_rows(experiment), "tcp": tcp_rows(), "mix": levels},
        replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
        metrics=[VIDEO],
    )


def alone(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """The sessions of a figure without video, measured for as long as the mixes."""
    made = http.campaign(ledger, scale, ALONE[key], quick=SHARE)
    return made.changed(name=alone_name(key))


def alone_name(key: str) -> str:
    """The name of the campaign without video that belongs to a figure."""
    return f"{key}/alone"


def _final_adp() -> Fields:
    """ADP as chapter 5 ends with it, by dotted name."""
    return {"adp.variant": "ack-clocked", "adp.tto_policy": video.FIXED}


class Figures:
    """The mixes beside one background.

    Args:
        ledger: The ledger.
        mixed: The runs of `campaign`.
        alone: Ten sessions without video.
    """

    def __init__(self, ledger: Ledger, mixed: Samples, alone: Samples) -> None:
        self.mixed, self.sessions = mixed, http.Figures(alone)
        names = list(mixes(ledger))
        self.udp, self.adp, self.with_udp, self.with_adp, self.with_unlimited = names

    def video(self, protocol: str, mix: str, tcp: str = "Reno") -> Values:
        """Throughput of all video flows in every scenario, in bit/s."""
        return self.mixed.values(VIDEO, protocol=protocol, mix=mix, tcp=tcp)

    def web(self, protocol: str, mix: str, tcp: str = "Reno", metric: str = COMBINED) -> Values:
        """A total of the sessions in every scenario."""
        return self.mixed.values(metric, protocol=protocol, mix=mix, tcp=tcp)

    def both(self, protocol: str, mix: str) -> Values:
        """Throughput of video and sessions together, in bit/s."""
        flows, web = self.video(protocol, mix), self.web(protocol, mix)
        return [first + second for first, second in zip(flows, web, strict=True)]

    def web_share(self, protocol: str, mix: str) -> Interval:
        """The sessions' part of the throughput of a mix."""
        return paired_ratio(self.web(protocol, mix), self.both(protocol, mix))


def figures_of(ledger: Ledger, runs: Runs, key: str) -> Figures:
    """The runs of a figure."""
    return Figures(ledger, runs[key], runs[alone_name(key)])


def free_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.7: without background."""
    it = figures_of(ledger, runs, FREE)
    gains = {name: percent(it.video(name, it.adp), it.video(name, it.udp)) for name in PROTOCOLS}
    more = Also(f"AODV carries more, too: {shown(gains[AODV])} %", gains[AODV].low > 0)
    half = {name: paired_ratio(it.video(name, it.with_udp), it.video(name, it.udp)) for name in PROTOCOLS}
    return {
        "D6-25": Change({ADV: gains[ADV]}, also=[more]),
        "D6-28": Order({it.with_udp: it.both(ADV, it.with_udp), it.udp: it.video(ADV, it.udp)}),
        "D6-29": Level({"UDP 5/10": half[ADV], "HTTP share": it.web_share(ADV, it.with_udp)}),
        "D6-30": _aodv_beside_udp(ledger, it, half[AODV]),
        "D6-31": Level({"": paired_ratio(it.both(ADV, it.with_adp), it.video(ADV, it.adp))}),
        "D6-37": Pairs(
            {name: (it.web(name, it.with_adp), it.web(name, it.with_unlimited)) for name in PROTOCOLS}
        ),
    }


def _aodv_beside_udp(ledger: Ledger, it: Figures, half: Interval) -> Ruled:
    claim = ledger.claim("D6-30")
    shares = {name: it.web_share(name, it.with_udp) for name in PROTOCOLS}
    whole = paired_ratio(it.both(AODV, it.with_udp), it.video(AODV, it.udp))
    findings = [
        ("UDP 5/10", level(half, *claim.band())),
        ("HTTP share", level(shares[AODV], 0.0, shares[ADV].mean, must_lie=True)),
        ("mix", level(whole, *wording.bounds(claim.tolerance))),
    ]
    text = (
        f"UDP 5/10 {shown(half)}; HTTP share {shown(shares[AODV])}, ADV {shown(shares[ADV])}; "
        f"mix / 10 UDP {shown(whole)}"
    )
    return ruled_by(text, findings)


def unaffected_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.8: TCP's technique is nothing to flows without TCP."""
    same, count = 0, 0
    for key in (FREE, LOADED):
        it = figures_of(ledger, runs, key)
        for name in PROTOCOLS:
            for mix in (it.udp, it.adp):
                both = (it.video(name, mix, tcp) for tcp in TCPS)
                for first, second in zip(*both, strict=True):
                    same, count = same + (first == second), count + 1
    return {"D6-27": Ruled(f"{same} of {count} runs are identical", satisfied=same == count)}


def loaded_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.9: beside CBR."""
    free, it = (figures_of(ledger, runs, key) for key in (FREE, LOADED))
    drops = {}
    for name in PROTOCOLS:
        of = [
            [
                1e-3 * (before - after)
                for before, after in zip(free.video(name, mix), it.video(name, mix), strict=True)
            ]
            for mix in (it.udp, it.adp)
        ]
        drops[name] = Trend(of, +1)
    lowered = all(mean_interval(each).low > 0 for trend_of in drops.values() for each in trend_of.along)
    adp = it.video(ADV, it.with_adp)
    return {
        "D6-26": Trends(drops, also=[Also("both are lowered under both protocols", lowered)]),
        "D6-32": Level(
            {
                "Kbps": mean_interval(adp).scaled(1e-3),
                "share": paired_ratio(adp, it.video(ADV, it.adp)),
            }
        ),
        "D6-33": _share_of_sessions(ledger, it),
        "D6-34": Order({f"with {name}": it.web(ADV, mix) for name, mix in _beside(it)}),
        "D6-35": Order({f"beside {name}": it.web(AODV, mix) for name, mix in _beside(it)}),
    }


def _beside(it: Figures) -> list[tuple[str, str]]:
    return [("ADP", it.with_adp), ("UDP", it.with_udp)]


def _share_of_sessions(ledger: Ledger, it: Figures) -> Ruled:
    """What five sessions beside ADP carry of what ten carry alone; the level depends on the stand-in."""
    web = it.web(ADV, it.with_adp)
    share = paired_ratio(web, it.sessions.of(COMBINED, ADV))
    found = banded(ledger.claim("D6-33"), {"share": share})
    text = f"{found.found}; {shown(mean_interval(web).scaled(1e-3))} kb/s"
    return Ruled(text, satisfied=found.satisfied, broken=found.broken)


def reno_f_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.10: what Reno-F does for the sessions in the mixes."""
    return {"D6-36": _of_reno_f(figures_of(ledger, runs, LOADED), COMBINED, +1)}


def _of_reno_f(it: Figures, metric: str, sign: int) -> Ruled:
    """A change of a total by Reno-F in one direction over AODV, in all mixes, and none over ADV."""
    texts, findings = [], []
    for name in PROTOCOLS:
        for mix in (it.with_udp, it.with_adp, it.with_unlimited):
            along = [it.web(name, mix, tcp, metric) for tcp in TCPS]
            change = percent(along[1], along[0])
            texts.append(f"{name}, {mix}: {shown(change)} %")
            found = trend(along, sign) if name == AODV else level(change, 0.0, 0.0)
            findings.append((texts[-1], found))
    return ruled_by("; ".join(texts), findings)


def service_free_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.11: service times alone, beside ADP and beside UDP, without background."""
    it = figures_of(ledger, runs, FREE)
    pairs = {}
    for name in PROTOCOLS:
        udp, adp = (it.web(name, mix, metric=SERVICE) for mix in (it.with_udp, it.with_adp))
        pairs[f"{name}: + UDP > + ADP"] = (udp, adp)
        pairs[f"{name}: + ADP > alone"] = (adp, it.sessions.of(SERVICE, name))
    return {"D6-38": Pairs(pairs)}


def service_loaded_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.12: service times beside video with Reno-F."""
    return {"D6-39": _of_reno_f(figures_of(ledger, runs, LOADED), SERVICE, -1)}


def table(ledger: Ledger, runs: Runs, key: str) -> Table:
    """Throughputs and service times of the mixes."""
    it = figures_of(ledger, runs, key)
    columns = ("routing, TCP, mix", "video, kb/s", "sessions, kb/s", "service time, s")
    made = Table(ledger.experiments[key].title.partition(",")[0] + f" ({key.partition('/')[2]})", columns)
    for name in PROTOCOLS:
        for tcp in TCPS:
            for mix in (it.udp, it.adp, it.with_udp, it.with_adp, it.with_unlimited):
                cells = [shown(mean_interval(it.video(name, mix, tcp)).scaled(1e-3))]
                if mix in (it.udp, it.adp):
                    cells += ["–", "–"]
                else:
                    cells.append(shown(mean_interval(it.web(name, mix, tcp)).scaled(1e-3)))
                    cells.append(shown(mean_interval(it.web(name, mix, tcp, SERVICE))))
                made.add(f"{name}, {tcp}, {mix}", *cells)
    return made


def _campaigns(*keys: str) -> Callable[[Ledger, Scale], list[Campaign]]:
    return lambda ledger, scale: [made(ledger, scale, key) for key in keys for made in (alone, campaign)]


def _study(key: str, evidence: Callable[[Ledger, Runs], Found], *of: str) -> Study:
    return Study(
        key,
        _campaigns(*of),
        evidence,
        lambda ledger, runs: [table(ledger, runs, each) for each in of],
        quick=QUICK,
    )


STUDIES = (
    _study(FREE, free_evidence, FREE),
    _study(FREE_F, unaffected_evidence, FREE, LOADED),
    _study(LOADED, loaded_evidence, FREE, LOADED),
    _study(LOADED_F, reno_f_evidence, LOADED),
    _study(SERVICE_FREE, service_free_evidence, FREE),
    _study(SERVICE_LOADED, service_loaded_evidence, LOADED),
)
