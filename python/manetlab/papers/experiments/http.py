"""Web sessions in the dissertation's square: Figs 6.2 to 6.6 and what §6.2.2 says of timeouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Level, Pairs, Ruled, Trend, Trends, Values, percent, shown
from manetlab.papers.experiments.datagrams import PROTOCOLS, protocol_rows, setting
from manetlab.papers.experiments.ftp import RENO, RENO_F
from manetlab.papers.ledger import Claim, Experiment, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import level, ruled_by
from manetlab.stats import mean_interval, paired_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ADV, AODV = PROTOCOLS
FREE, LOADED = "dyer2002/fig-6.2", "dyer2002/fig-6.3"
SERVICE_BY_PAIR, RESPONSE_BY_PAIR = "dyer2002/fig-6.4", "dyer2002/fig-6.5"
CBR, TIMEOUTS = "dyer2002/fig-6.6", "dyer2002/sec-6.2.2-timeouts"
FEW = "dyer2002/fig-6.3/few"
TCPS = {"Reno": RENO, "Reno-F": RENO_F}
SERVICE, COMBINED = "web_service_time_mean_s", "web_combined_throughput_bps"
"""Percent changes of the throughput are the same in both forms; levels are of the combined one."""
QUICK = "20 of the 50 scenarios, each as long as the paper's"


def sessions(ledger: Ledger, experiment: Experiment, clients: int | None = None) -> Fields:
    """The Web sessions of a set-up, by dotted name.

    Args:
        ledger: The ledger.
        experiment: The experiment.
        clients: How many, if not as many as the dissertation's.
    """
    text = ledger.experiments[FREE].setup["traffic"]
    return {
        "traffic.web.clients": wording.whole(text, "Web sessions") if clients is None else clients,
        "traffic.web.servers": wording.whole(text, "other server nodes"),
        "traffic.web.think_max_s": wording.number(text, "s, pre-generated files"),
        **segments(ledger, experiment),
    }


def segments(ledger: Ledger, experiment: Experiment) -> Fields:
    """Segment and window of the TCP that carries the sessions, by dotted name."""
    transport = experiment.setup["transport"]
    named = transport if "window" in transport else ledger.experiments[FREE].setup["transport"]
    return {
        "tcp.segment_bytes": wording.whole(ledger.assumptions["segment-size"].text, "bytes"),
        "tcp.window": int(wording.after(named, "window")),
    }


def tcp_rows(tcps: Mapping[str, str] = TCPS) -> list[Fields]:
    """The TCPs as levels of a factor."""
    return [{"label": name, "fields": technique(label)} for name, label in tcps.items()]


def campaign(
    ledger: Ledger, scale: Scale, key: str, rows: list[Fields] | None = None, quick: float = 1.0
) -> Campaign:
    """All sessions of a figure over every routing protocol and TCP.

    Args:
        ledger: The ledger.
        scale: How much is run.
        key: The figure.
        rows: The routing protocols, if not ADV and AODV as the dissertation has them.
        quick: What share of the paper's measured time is run if not all is.
    """
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[key]
    return Campaign(
        name=key,
        question="How long do Web sessions take, and what do they carry?",
        base=setting(ledger, scale, key, sessions(ledger, experiment), quick=quick),
        factors={"protocol": rows or protocol_rows(experiment), "tcp": tcp_rows()},
        replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
        metrics=[SERVICE, COMBINED],
    )


def few(ledger: Ledger, scale: Scale) -> Campaign:
    """Fewer sessions without background, as a claim's note asks for."""
    counts = wording.listed(ledger.claim("D6-40").note.partition(":")[2], "HTTP sessions")
    made = campaign(ledger, scale, FREE)
    factors = {key: values for key, values in made.factors.items() if key != "tcp"}
    base = {**made.base, "tcp": {**made.base["tcp"], **_plain(technique(RENO))}}
    return made.changed(name=FEW, base=base, factors={**factors, "traffic.web.clients": counts})


def _plain(fields: Fields) -> Fields:
    """Fields of the section ``tcp`` without the section's name."""
    return {name.removeprefix("tcp."): value for name, value in fields.items()}


def transfers(ledger: Ledger, scale: Scale) -> Campaign:
    """Ten FTP transfers over Reno-F in place of the sessions."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[TIMEOUTS]
    count = next(wording.whole(each, "FTP flows") for each in experiment.axis if "FTP" in each)
    fields = {**segments(ledger, experiment), **technique(RENO_F), "traffic.random.tcp": count}
    return Campaign(
        name=TIMEOUTS,
        question="How often do transfers time out?",
        base=setting(ledger, scale, TIMEOUTS, fields),
        factors={"protocol": protocol_rows(experiment)},
        replications=scale.scenarios(ledger, experiment.setup["scenarios"]),
        metrics=["tcp_throughput_bps", "tcp_timeouts"],
    )


class Figures:
    """The runs of one background, by protocol and TCP."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def of(self, metric: str, protocol: str, tcp: str = "Reno") -> Values:
        """A total in every scenario."""
        return self.samples.values(metric, protocol=protocol, tcp=tcp)

    def gain(self, metric: str, protocol: str) -> Change:
        """The change of a total from Reno to Reno-F, in percent."""
        both = (self.of(metric, protocol, tcp) for tcp in ("Reno-F", "Reno"))
        return Change({"": percent(*both)})

    def lead(self, metric: str, first: str, second: str, tcp: str = "Reno") -> Change:
        """The change of a total from the second protocol to the first, in percent."""
        return Change({"": percent(self.of(metric, first, tcp), self.of(metric, second, tcp))})


def free_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.2: without background."""
    figures = Figures(runs[FREE])
    adv, aodv = (figures.gain(COMBINED, name).of[""] for name in (ADV, AODV))
    smaller = Also(f"smaller than AODV's, which is {shown(aodv)}", adv.mean < aodv.mean)
    return {
        "D6-01": figures.gain(SERVICE, AODV),
        "D6-02": figures.gain(COMBINED, AODV),
        "D6-03": Change({"": adv}, also=[smaller]),
    }


def loaded_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.3: beside CBR."""
    free, loaded = Figures(runs[FREE]), Figures(runs[LOADED])

    def added(metric: str) -> Change:
        return Change({"": percent(loaded.of(metric, AODV), free.of(metric, AODV))})

    unfinished = {
        f"{protocol} + {tcp}": mean_interval(
            [
                float(done < begun)
                for done, begun in zip(
                    loaded.of("web_sessions_finished", protocol, tcp),
                    loaded.of("web_sessions", protocol, tcp),
                    strict=True,
                )
            ]
        )
        for protocol in PROTOCOLS
        for tcp in TCPS
    }
    return {
        "D6-04": added(COMBINED),
        "D6-05": added(SERVICE),
        "D6-06": loaded.gain(SERVICE, AODV),
        "D6-07": loaded.gain(COMBINED, AODV),
        "D6-08": loaded.gain(COMBINED, ADV),
        "D6-09": loaded.lead(COMBINED, ADV, AODV),
        "D6-10": loaded.lead(SERVICE, ADV, AODV),
        "D6-11": loaded.lead(COMBINED, ADV, AODV, "Reno-F"),
        "D6-24": Level(unfinished, also=[Also("a check of the stand-in for the distributions", True)]),
        "D6-40": protocols_by_load(runs[FEW], free, loaded),
    }


def protocols_by_load(fewer: Samples, free: Figures, loaded: Figures) -> Pairs:
    """ADV ahead with all sessions; with few of them neither."""

    def pair(figures: Figures) -> tuple[Values, Values]:
        return figures.of(COMBINED, ADV), figures.of(COMBINED, AODV)

    also = []
    for count in fewer.labels("traffic.web.clients"):
        at: dict[str, Any] = {"traffic.web.clients": count}
        adv, aodv = (fewer.values(COMBINED, protocol=name, **at) for name in (ADV, AODV))
        difference = percent(adv, aodv)
        text = f"{count} sessions: ADV is on par, {shown(difference)} %"
        also.append(Also(text, difference.holds_zero))
    return Pairs({"without CBR": pair(free), "beside CBR": pair(loaded)}, also=also)


def by_pair(samples: Samples, measure: str, tcp: str) -> list[tuple[Values, Values]]:
    """ADV's and AODV's values of each session in the scenarios in which both have one."""
    sessions_of = {
        name: samples.of_flows(measure, protocol=name, tcp=tcp, kind="web") for name in (ADV, AODV)
    }
    found: list[tuple[Values, Values]] = []
    for number in range(len(sessions_of[ADV][0])):
        both = [
            (adv[number], aodv[number])
            for adv, aodv in zip(sessions_of[ADV], sessions_of[AODV], strict=True)
            if adv[number] == adv[number] and aodv[number] == aodv[number]
        ]
        found.append(([adv for adv, _ in both], [aodv for _, aodv in both]))
    return found


def shorter(claim: Claim, samples: Samples, measure: str, *also: Also) -> Ruled:
    """In how many sessions ADV's mean is the shorter, under both TCPs."""
    least = wording.after(claim.tolerance, "At least")
    texts, counts, possible = [], [], []
    for tcp in TCPS:
        of = by_pair(samples, measure, tcp)
        counts.append(sum(mean_interval(adv).mean < mean_interval(aodv).mean for adv, aodv in of))
        # A session may yet be one in which ADV is shorter, unless AODV is with significance.
        possible.append(sum(paired_interval(adv, aodv).low <= 0 for adv, aodv in of))
        texts.append(f"{tcp}: {counts[-1]} of {len(of)}")
    texts += [each.text for each in also]
    holds = min(counts) >= least and all(each.holds for each in also)
    return Ruled("; ".join(texts), satisfied=holds, broken=min(possible) < least)


def service_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.4."""
    return {"D6-12": shorter(ledger.claim("D6-12"), runs[LOADED], "service_time_s")}


def response_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.5."""
    gaps = {}
    for tcp in TCPS:
        of = by_pair(runs[LOADED], "response_time_mean_s", tcp)
        gaps[tcp] = sum(mean_interval(aodv).mean - mean_interval(adv).mean for adv, aodv in of) / len(of)
    text = f"mean gap {gaps['Reno']:.3g} s with Reno, {gaps['Reno-F']:.3g} s with Reno-F"
    smaller = Also(text, gaps["Reno-F"] < gaps["Reno"])
    return {"D6-13": shorter(ledger.claim("D6-13"), runs[LOADED], "response_time_mean_s", smaller)}


def cbr_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 6.6: what becomes of the CBR flows."""
    figures = Figures(runs[LOADED])
    latency, rate = "cbr_latency_mean_s", "cbr_throughput_bps"
    acks = percent(*(runs[LOADED].summed("mac_ack_packets", "web", protocol=ADV, tcp=tcp) for tcp in _DOWN))
    cycles = "web_cycles_completed"
    along = {name: Trend([figures.of(cycles, name, tcp) for tcp in TCPS], +1) for name in PROTOCOLS}
    return {
        "D6-18": _losses(ledger, figures),
        "D6-19": Pairs({"ADV > AODV": (figures.of(latency, ADV), figures.of(latency, AODV))}),
        "D6-20": figures.gain(latency, ADV),
        "D6-21": Change({"": acks}),
        "D6-22": Trends(along),
        "D6-23": Change({name: figures.gain(rate, name).of[""] for name in PROTOCOLS}),
    }


_DOWN = ("Reno-F", "Reno")


def _losses(ledger: Ledger, figures: Figures) -> Ruled:
    claim = ledger.claim("D6-18")
    texts, findings = [], []
    for name in PROTOCOLS:
        lost = mean_interval([100 * (1 - each) for each in figures.of("cbr_delivery_fraction", name)])
        took = mean_interval(figures.of("cbr_latency_mean_s", name)).scaled(1e3)
        texts.append(f"{name}: {shown(lost)} %, {shown(took)} ms")
        for label, each in (("loss", lost), ("latency", took)):
            findings.append((f"{name}, {label}", level(each, *claim.band(claim.at.index(label)))))
    return ruled_by("; ".join(texts), findings)


def timeouts_evidence(ledger: Ledger, runs: Runs) -> Found:
    """§6.2.2: sessions beside transfers."""
    figures, ftp = Figures(runs[LOADED]), runs[TIMEOUTS]
    share = paired_ratio(figures.of(COMBINED, ADV, "Reno-F"), ftp.values("tcp_throughput_bps", protocol=ADV))
    combined = Also("the combined form is taken", True)
    open_s = figures.of("web_connection_time_s", AODV, "Reno-F")
    of_http = [
        count / time for count, time in zip(figures.of("web_timeouts", AODV, "Reno-F"), open_s, strict=True)
    ]
    more = percent(of_http, [each / _open_s(ledger) for each in ftp.values("tcp_timeouts", protocol=AODV)])
    least = ledger.claim("D6-17").band()[0]
    return {
        "D6-14": Level({"": share}, also=[combined]),
        "D6-16": request_packets(ledger),
        "D6-17": Ruled(f"{shown(more)} %", satisfied=more.mean >= least, broken=more.high < least),
    }


def _open_s(ledger: Ledger) -> float:
    """The time for which all transfers together are open within the measured one, in s."""
    base = transfers(ledger, Scale()).base
    flows = base["traffic"]["random"]["tcp"]
    return float(flows * (base["duration_s"] - base["warmup_s"]))


def request_packets(ledger: Ledger) -> Ruled:
    """The mean length of the requests that sessions draw, in packets."""
    made = campaign(ledger, Scale(), FREE)
    lengths = []
    for replication in range(made.replications):
        resolved = made.points[0].scenario(replication).resolve()
        segment = resolved.params["tcp"]["segment_bytes"]
        for flow in resolved.flows:
            if flow["kind"] == "web":
                lengths += [-(-cycle["request_bytes"] // segment) for cycle in flow["cycles"]]
    mean = sum(lengths) / len(lengths)
    low, high = ledger.claim("D6-16").band()
    return Ruled(f"{mean:.3f} over {len(lengths)} requests", satisfied=low <= mean <= high)


def table(title: str, samples: Samples, protocols: tuple[str, ...] = PROTOCOLS) -> Table:
    """Service times and throughputs of a figure."""
    columns = (
        *("routing, TCP", "service time, s", "session time, s", "response time, s"),
        *("combined, kb/s", "per session, kb/s", "cycles completed", "timeouts"),
    )
    made = Table(title, columns)
    metrics = (
        *((SERVICE, 1.0), ("web_session_time_mean_s", 1.0), ("web_response_time_mean_s", 1.0)),
        *((COMBINED, 1e-3), ("web_throughput_bps", 1e-3), ("web_cycles_completed", 1.0)),
        ("web_timeouts", 1.0),
    )
    for protocol in protocols:
        for tcp in TCPS:
            at = {"protocol": protocol, "tcp": tcp}
            cells = (mean_interval(samples.values(name, **at)).scaled(factor) for name, factor in metrics)
            made.add(f"{protocol}, {tcp}", *map(shown, cells))
    return made


def _campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, FREE), campaign(ledger, scale, LOADED), few(ledger, scale)]


def _loaded(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [campaign(ledger, scale, LOADED)]


def _study(key: str, evidence: Callable[[Ledger, Runs], Found]) -> Study:
    return Study(
        key,
        _loaded,
        evidence,
        lambda ledger, runs: [table(ledger.experiments[LOADED].title, runs[LOADED])],
        quick=QUICK,
    )


STUDIES = (
    Study(
        FREE,
        lambda ledger, scale: [campaign(ledger, scale, FREE)],
        free_evidence,
        lambda ledger, runs: [table(ledger.experiments[FREE].title, runs[FREE])],
        quick=QUICK,
    ),
    Study(
        LOADED,
        _campaigns,
        loaded_evidence,
        lambda ledger, runs: [table(ledger.experiments[LOADED].title, runs[LOADED])],
        quick=QUICK,
    ),
    _study(SERVICE_BY_PAIR, service_evidence),
    _study(RESPONSE_BY_PAIR, response_evidence),
    _study(CBR, cbr_evidence),
    Study(
        TIMEOUTS,
        lambda ledger, scale: [campaign(ledger, scale, LOADED), transfers(ledger, scale)],
        timeouts_evidence,
        lambda ledger, runs: [table(ledger.experiments[LOADED].title, runs[LOADED])],
        quick=QUICK,
    ),
)
