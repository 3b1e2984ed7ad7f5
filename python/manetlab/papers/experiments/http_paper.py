"""Dyer and Boppana's article on HTTP: Figs 6 to 8, longer sessions, and the RTO that grows by a fraction."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Change, Level, Order, Pairs, Ruled, Values, percent, shown
from manetlab.papers.experiments import http
from manetlab.papers.experiments.http import COMBINED, SERVICE, TCPS
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import ADV_BUFFERING_ALL, ROUTINGS, Fields, nested
from manetlab.papers.study import Found, Runs, Scale, Study, one_table
from manetlab.papers.verdicts import level, ruled_by
from manetlab.scenario import Scenario
from manetlab.stats import mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FREE, LOADED, BY_PAIR = "dyer2003/fig-6", "dyer2003/fig-7", "dyer2003/fig-8"
LONGER, FRACTION = "dyer2003/sec-4-long", "dyer2003/sec-6-fractional"
ADV, AODV, DSR, ADV_SHORT = "ADV", "AODV", "DSR", "ADV 30s/1s"
PROTOCOLS = (ADV, ADV_SHORT, AODV, DSR)
TIMEOUTS = 10
"""The ten timeouts of §6."""
FAR_M, LONG_S = 1e5, 1000.0
"""A distance that no radio spans, and a time in which every policy times out often enough, in m and s."""
FTP = "dyer2003/sec-4-long/ftp"


def protocol_rows() -> list[Fields]:
    """The routing protocols as the article has them; plain ADV lets all packets wait equally long."""
    names = {
        ADV: ADV_BUFFERING_ALL,
        ADV_SHORT: ROUTINGS["ADV"],
        AODV: ROUTINGS["AODV"],
        DSR: ROUTINGS["DSR"],
    }
    return [{"label": label, "fields": {"routing": name}} for label, name in names.items()]


def campaign(ledger: Ledger, scale: Scale, key: str) -> Campaign:
    """All sessions of a figure over every routing protocol and TCP."""
    return http.campaign(ledger, scale, key, protocol_rows())


class Figures(http.Figures):
    """The runs beside one background, with what the article asks of them."""

    def leads(self, first: str, rivals: tuple[str, ...]) -> dict[str, tuple[Values, Values]]:
        """The throughput of one protocol beside that of others, under Reno."""
        return {f"{first} > {name}": (self.of(COMBINED, first), self.of(COMBINED, name)) for name in rivals}


def free_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6: without background."""
    figures = Figures(runs[FREE])
    return {
        "H-04": figures.gain(SERVICE, AODV),
        "H-05": figures.gain(COMBINED, AODV),
        "H-06": figures.gain(COMBINED, DSR),
        "H-07": figures.gain(SERVICE, DSR),
        "H-08": figures.gain(COMBINED, ADV),
        "H-09": Order({name: figures.of(COMBINED, name) for name in (ADV, AODV, DSR)}),
        "H-10": same(figures),
    }


def same(figures: Figures) -> Ruled:
    """In how many runs both times for which ADV buffers UDP's packets give the same."""
    equal, count = 0, 0
    for tcp in TCPS:
        for metric in (SERVICE, COMBINED):
            both = (figures.of(metric, name, tcp) for name in (ADV, ADV_SHORT))
            for first, second in zip(*both, strict=True):
                equal, count = equal + (first == second), count + 1
    return Ruled(f"{equal} of {count} values are identical", satisfied=equal == count)


def loaded_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 7: beside CBR."""
    free, loaded = Figures(runs[FREE]), Figures(runs[LOADED])
    costs = {
        name: [
            100 * (after / before - 1)
            for after, before in zip(loaded.of(COMBINED, name), free.of(COMBINED, name), strict=True)
        ]
        for name in (DSR, ADV, AODV)
    }
    return {
        "H-11": ahead(ledger.claim("H-11"), loaded),
        "H-12": loaded.gain(COMBINED, DSR),
        "H-13": loaded.gain(SERVICE, DSR),
        "H-14": Change({name: loaded.gain(COMBINED, name).of[""] for name in (AODV, ADV)}),
        "H-15": Order(costs),
        "H-16": Order({name: loaded.of(COMBINED, name) for name in (ADV, AODV, DSR)}),
        "H-23": Pairs(loaded.leads(ADV, (AODV, DSR)), may_tie=True),
    }


def ahead(claim: Claim, figures: Figures) -> Ruled:
    """ADV's lead over each rival under each TCP."""
    texts, findings = [], []
    for rival in (AODV, DSR):
        for tcp in TCPS:
            lead = percent(figures.of(COMBINED, ADV, tcp), figures.of(COMBINED, rival, tcp))
            texts.append(f"{rival}, {tcp}: {shown(lead)} %")
            findings.append((texts[-1], level(lead, *claim.band(), must_lie=True)))
    return ruled_by("; ".join(texts), findings)


def pair_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 8: session by session."""
    samples, figures = runs[LOADED], Figures(runs[LOADED])
    return {
        "H-17": shortest(ledger.claim("H-17"), samples),
        "H-18": Level({"": mean_interval(dsr_ahead(samples))}),
        "H-19": figures.lead(SERVICE, ADV_SHORT, ADV),
    }


def by_session(samples: Samples, protocol: str, tcp: str = "Reno") -> list[list[float]]:
    """The service times of each scenario's sessions."""
    return samples.of_flows("service_time_s", protocol=protocol, tcp=tcp, kind="web")


def shortest(claim: Claim, samples: Samples) -> Ruled:
    """In how many sessions ADV's mean service time is below both others', under Reno."""
    least = wording.after(claim.tolerance, "At least")
    of = {name: list(zip(*by_session(samples, name), strict=True)) for name in (ADV, AODV, DSR)}
    rivals = (AODV, DSR)
    numbers = range(len(of[ADV]))
    count = sum(
        all(mean_interval(of[ADV][n]).mean < mean_interval(of[name][n]).mean for name in rivals)
        for n in numbers
    )
    possible = sum(all(paired_interval(of[ADV][n], of[name][n]).low <= 0 for name in rivals) for n in numbers)
    return Ruled(f"{count} of {len(of[ADV])}", satisfied=count >= least, broken=possible < least)


def dsr_ahead(samples: Samples) -> Values:
    """In how many sessions of a scenario DSR is faster than AODV, with Reno-F."""
    both = (by_session(samples, name, "Reno-F") for name in (DSR, AODV))
    return [
        float(sum(dsr < aodv for dsr, aodv in zip(of_dsr, of_aodv, strict=True)))
        for of_dsr, of_aodv in zip(*both, strict=True)
    ]


def longer(ledger: Ledger, scale: Scale) -> Campaign:
    """AODV beside CBR, measured for longer."""
    made = campaign(ledger, scale, LOADED)
    lengths_s = wording.listed(ledger.assumptions["longer-sessions"].text, "s measured")
    warmup_s = ledger.experiments[LOADED].setup["warmup_s"]
    rows = [
        {"label": length_s, "fields": {"duration_s": scale.times(warmup_s, length_s)["duration_s"]}}
        for length_s in (lengths_s if scale.full else lengths_s[:1])
    ]
    aodv = [row for row in protocol_rows() if row["label"] == AODV]
    return made.changed(
        name=LONGER,
        question="Does Reno-F help longer sessions?",
        factors={"protocol": aodv, "tcp": made.factors["tcp"], "measured_s": rows},
    )


def transfers(ledger: Ledger, scale: Scale) -> Campaign:
    """FTP transfers over Reno-F in place of the sessions, as the earlier study had them."""
    [text] = [each for each in ledger.experiments[LONGER].systems if "FTP" in each]
    made = campaign(ledger, scale, LOADED)
    traffic = dict(made.base["traffic"])
    traffic["random"] = {**traffic["random"], "tcp": wording.whole(text, "FTP")}
    traffic.pop("web")
    reno_f = [row for row in made.factors["tcp"] if row["label"] == "Reno-F"]
    return made.changed(
        name=FTP,
        question="What do transfers carry where sessions were?",
        base={**made.base, "traffic": traffic},
        factors={"protocol": protocol_rows(), "tcp": reno_f},
        metrics=["tcp_throughput_bps"],
    )


def longer_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """§4: longer sessions, and transfers in their place."""
    samples = runs[LONGER]
    pairs = {}
    for length_s in samples.labels("measured_s"):
        at = {"protocol": AODV, "measured_s": length_s}
        reno, reno_f = (samples.values(COMBINED, tcp=tcp, **at) for tcp in TCPS)
        pairs[f"{length_s} s: Reno-F > Reno"] = (reno_f, reno)
    of = {name: runs[FTP].values("tcp_throughput_bps", protocol=name) for name in (ADV, AODV, DSR)}
    transferred = {f"{name} > {ADV}": (of[name], of[ADV]) for name in (AODV, DSR)}
    return {"H-21": Pairs(pairs), "H-22": Pairs(transferred)}


def send_times_s(policy: Fields) -> list[float]:
    """When a sender sends its first segment, again and again, to a node that nothing reaches."""
    from manetlab.running import run

    flow = {"kind": "tcp", "src": 0, "dst": 1, "start_s": 0.0}
    places = {"positions": [[0.0, 0.0], [FAR_M, 0.0]]}
    result = run(
        Scenario.build(
            {"movement": places, "traffic": {"flows": [flow]}, "routing": "static", "duration_s": LONG_S}
            | nested(policy)
        ),
        record=True,
    )
    assert result.recording is not None
    events = (json.loads(line) for line in result.recording.splitlines()[1:])
    return [event["t"] for event in events if event["event"] == "made"]


def saved(growth: float, timeouts: int) -> float:
    """By how much a growing RTO lowers the rate of retransmissions over so many timeouts, in percent."""
    fixed = send_times_s({"tcp.rto_policy": "fixed"})
    grown = send_times_s({"tcp.rto_policy": "growth", "tcp.rto_growth": growth})
    # The first timeout comes after the initial RTO, which both have.
    return 100 * (1 - (fixed[timeouts + 1] - fixed[1]) / (grown[timeouts + 1] - grown[1]))


def fraction_evidence(ledger: Ledger, _runs: Runs) -> Found:
    """§6: an RTO that grows by a fraction."""
    claim = ledger.claim("H-20")
    wording.require(claim.statement, "after ten timeouts")
    simulated = saved(wording.number(claim.statement, "%") / 100, TIMEOUTS)
    low, high = claim.band()
    return {"H-20": Ruled(f"{simulated:.1f} %", satisfied=low <= simulated <= high)}


def table(ledger: Ledger, runs: Runs, key: str) -> Table:
    """Service times and throughputs of a figure; what is shown pair by pair is that with CBR."""
    shown_key = LOADED if key == BY_PAIR else key
    return http.table(ledger.experiments[shown_key].title, runs[shown_key], PROTOCOLS)


def _campaigns(*keys: str) -> Callable[[Ledger, Scale], list[Campaign]]:
    return lambda ledger, scale: [campaign(ledger, scale, key) for key in keys]


def longer_table(_ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput and service time by the measured time."""
    made = Table("AODV beside CBR", ("measured, TCP", "combined, kb/s", "service time, s"))
    for length_s in runs[LONGER].labels("measured_s"):
        for tcp in TCPS:
            at = {"measured_s": length_s, "tcp": tcp}
            cells = (mean_interval(runs[LONGER].values(COMBINED, **at)).scaled(1e-3),)
            service = mean_interval(runs[LONGER].values(SERVICE, **at))
            made.add(f"{length_s} s, {tcp}", *map(shown, (*cells, service)))
    return [made]


STUDIES = (
    one_table(FREE, _campaigns(FREE), free_evidence, table, http.QUICK),
    one_table(LOADED, _campaigns(FREE, LOADED), loaded_evidence, table, http.QUICK),
    one_table(BY_PAIR, _campaigns(LOADED), pair_evidence, table, http.QUICK),
    Study(
        LONGER,
        lambda ledger, scale: [longer(ledger, scale), transfers(ledger, scale)],
        longer_evidence,
        longer_table,
        quick="20 of the 50 scenarios, 200 s measured",
    ),
    Study(
        FRACTION,
        lambda _ledger, _scale: [],
        fraction_evidence,
        lambda _ledger, _runs: [],
        quick="the same as in full",
    ),
)
