"""What the runs of video say: Tables 5.5 and 5.6, Figs 5.6 to 5.13 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Level, Pairs, Trend, Trends, Values, percent, shown
from manetlab.papers.experiments import video
from manetlab.papers.experiments.datagrams import PROTOCOLS
from manetlab.papers.experiments.datagrams import QUICK as SAME
from manetlab.papers.experiments.video import (
    ADP,
    BACKLOG,
    BUSY,
    DOUBLING,
    FIXED,
    FLOWS,
    FTP,
    LENGTHS,
    TTO,
    UDP,
    UNLIMITED,
    mbps,
    percent_of,
)
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.study import Found, Runs, Scale, Study, no_claims, one_table
from manetlab.papers.verdicts import banded, change, level, ordering, ruled_by
from manetlab.stats import Interval, mean_interval, paired_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign
    from manetlab.papers.evidence import Ruled

ADV, AODV = PROTOCOLS
DELIVERY, THROUGHPUT = "message_delivery_fraction", "message_throughput_bps"
DELIVERY_TABLE = "dyer2002/table-5.6"
SHORT, NONE = "5 s frame buffer", "unlimited"
"""How the claims of Tables 5.5 and 5.6 name the buffers."""
BUFFERS = {SHORT: ADP, NONE: UNLIMITED}
LOSSES = ("dyer2002/fig-5.8", "dyer2002/fig-5.9", "dyer2002/fig-5.11", "dyer2002/fig-5.12")
RATES = ("dyer2002/fig-5.10", "dyer2002/fig-5.13")
QUICK = f"{video.QUICK}; of the frame buffers those of 5 s and without limit"


class Figures:
    """The runs by number of flows.

    Args:
        ledger: The ledger.
        samples: Those of `video.by_flows`.
    """

    def __init__(self, ledger: Ledger, samples: Samples) -> None:
        self.numbers = video.numbers(ledger)
        self.samples = samples

    def delivered(self, protocol: str, transport: str, flows: int) -> Values:
        """Frames delivered in every scenario, in percent of those made."""
        return percent_of(self.samples, DELIVERY, **self._at(protocol, transport, flows))

    def mbps(self, protocol: str, transport: str, flows: int) -> Values:
        """What all flows deliver in every scenario, in Mb/s."""
        return mbps(self.samples, **self._at(protocol, transport, flows))

    def sum(self, metric: str, protocol: str, transport: str, flows: int) -> Values:
        """A count over all flows in every scenario."""
        return self.samples.values(metric, **self._at(protocol, transport, flows))

    def gain(self, protocol: str, transport: str, flows: int) -> Interval:
        """The change of throughput from UDP, in percent."""
        return percent(self.mbps(protocol, transport, flows), self.mbps(protocol, UDP, flows))

    @staticmethod
    def _at(protocol: str, transport: str, flows: int) -> dict[str, Any]:
        return {"protocol": protocol, "sender": transport, "traffic.random.video": flows}


def timeout_evidence(claims: Sequence[str], values: Callable[..., Values]) -> Callable[[Ledger, Runs], Found]:
    """Table 5.5 or 5.6: levels by protocol and buffer, under a fixed timeout and a doubling one."""

    def made(ledger: Ledger, runs: Runs) -> Found:
        found: dict[str, Level] = {}
        for key in claims:
            claim = ledger.claim(key)
            protocol = next(name for name in PROTOCOLS if wording.says(claim.statement, name))
            [transport] = [BUFFERS[name] for name in BUFFERS if name in claim.statement]
            of = {
                name: mean_interval(
                    values(runs[TTO], protocol=protocol, sender=transport, **{"adp.tto_policy": name})
                )
                for name in (FIXED, DOUBLING)
            }
            found[key] = Level(of, also=_ceiling(ledger, claim, of))
        return dict(found)

    return made


def _ceiling(ledger: Ledger, claim: Claim, of: Mapping[str, Interval]) -> list[Also]:
    """That no mean is above what the source makes, where the tolerance asks for it."""
    if "Ceiling is the offered rate" not in claim.tolerance:
        return []
    traffic = ledger.experiments[TTO].setup["traffic"]
    offered = 8e-6 * wording.number(traffic, "packets/s") * wording.after(traffic, "mean")
    holds = all(each.low <= offered for each in of.values())
    return [Also(f"no throughput above the offered {offered:.4f} Mb/s", holds)]


def throughput_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Table 5.5."""
    claims = ("D5-19", "D5-20", "D5-21", "D5-22")
    return {**timeout_evidence(claims, mbps)(ledger, runs), "D5-27": fixing_helps(ledger, runs[TTO])}


def delivery_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Table 5.6."""

    def delivered(samples: Samples, **levels: object) -> Values:
        return percent_of(samples, DELIVERY, **levels)

    return timeout_evidence(("D5-23", "D5-24", "D5-25", "D5-26"), delivered)(ledger, runs)


def fixing_helps(ledger: Ledger, samples: Samples) -> Ruled:
    """Over ADV a fixed timeout gains; over AODV it does not gain more."""

    def of(protocol: str, policy: str) -> Values:
        return mbps(samples, protocol=protocol, sender=ADP, **{"adp.tto_policy": policy})

    gains = {name: percent(of(name, FIXED), of(name, DOUBLING)) for name in PROTOCOLS}
    claim = ledger.claim("D5-27")
    not_more = level(gains[AODV], float("-inf"), gains[ADV].mean, must_lie=True)
    findings = [(ADV, change(gains[ADV], *claim.band(), 1)), (AODV, not_more)]
    return ruled_by("; ".join(f"{name}: {shown(each)} %" for name, each in gains.items()), findings)


def flows_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 5.6."""
    figures = Figures(ledger, runs[FLOWS])
    least, two, five, most = figures.numbers
    return {
        "D5-31": _of_both(lambda name: _delivery_gain(figures, name, least)),
        "D5-32": _of_both(lambda name: _delivery_gain(figures, name, most)),
        "D5-33": lost_in_network(figures),
        "D5-34": _of_both(lambda name: figures.gain(name, ADP, five)),
        "D5-35": _of_both(lambda name: figures.gain(name, ADP, most)),
        "D5-36": _of_both(lambda name: figures.gain(name, ADP, two)),
        "D5-37": unlimited_gain(ledger, figures, (two, most)),
        "D5-38": protocols_by_flows(figures, few=(least, two), many=most),
        "D5-39": Level(
            {
                "Kbps": mean_interval(figures.mbps(ADV, ADP, five)).scaled(1e3),
                "ratio": paired_ratio(figures.mbps(ADV, UDP, five), figures.mbps(ADV, UDP, most)),
            }
        ),
        "D5-40": growing(runs[BACKLOG]),
    }


def _of_both(of: Callable[[str], Interval]) -> Change:
    return Change({name: of(name) for name in PROTOCOLS})


def _delivery_gain(figures: Figures, protocol: str, flows: int) -> Interval:
    return percent(figures.delivered(protocol, ADP, flows), figures.delivered(protocol, UDP, flows))


def lost_in_network(figures: Figures) -> Level:
    """Frames that the network lost, in percent of those made, over ADP with the 75-frame buffer."""
    of = {}
    for name in PROTOCOLS:
        for flows in figures.numbers:
            lost = figures.sum("messages_lost", name, ADP, flows)
            made = figures.sum("messages_made", name, ADP, flows)
            shares = [100 * part / whole for part, whole in zip(lost, made, strict=True)]
            of[f"{name}, {flows}"] = mean_interval(shares)
    return Level(of)


def unlimited_gain(ledger: Ledger, figures: Figures, flows: Sequence[int]) -> Ruled:
    """The gain over UDP without a limit of the buffer, at two numbers of flows with a band each."""
    claim = ledger.claim("D5-37")
    texts, findings = [], []
    for index, number in enumerate(flows):
        for name in PROTOCOLS:
            gain = figures.gain(name, UNLIMITED, number)
            texts.append(f"{name}, {number}: {shown(gain)}")
            findings.append((texts[-1], level(gain, *claim.band(index))))
    return ruled_by("; ".join(texts), findings)


def protocols_by_flows(figures: Figures, few: Sequence[int], many: int) -> Pairs:
    """AODV before ADV with few flows, ADV before AODV with many, over ADP."""

    def pair(first: str, second: str, flows: int) -> tuple[Values, Values]:
        return figures.mbps(first, ADP, flows), figures.mbps(second, ADP, flows)

    of = {f"{flows}: AODV > ADV": pair(AODV, ADV, flows) for flows in few}
    return Pairs({**of, f"{many}: ADV > AODV": pair(ADV, AODV, many)})


def growing(samples: Samples) -> Trends:
    """What waits without a limit, over the measured time."""
    of = {}
    for name in PROTOCOLS:
        for flows in BUSY:
            runs = samples.rows_of("message_flows", protocol=name, **{"traffic.random.video": flows})
            sums: dict[float, dict[int, float]] = {}
            for replication, rows in runs.items():
                for row in rows:
                    at = sums.setdefault(row["time_s"], {})
                    at[replication] = at.get(replication, 0.0) + row["waiting_messages"]
            along = [list(sums[time].values()) for time in sorted(sums)]
            of[f"{name}, {flows}"] = Trend(along, +1)
    return Trends(of)


def transfers_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 5.7."""
    figures = Figures(ledger, runs[FLOWS])
    least, two, _, most = figures.numbers

    def both(name: str, flows: int) -> tuple[Values, Values]:
        ftp = mbps(runs[FTP], "tcp_throughput_bps", protocol=name, **{"traffic.random.tcp": flows})
        return ftp, figures.mbps(name, UNLIMITED, flows)

    texts, findings, ratios = [], [], []
    for name in PROTOCOLS:
        for flows in figures.numbers:
            ftp, adp = both(name, flows)
            texts.append(f"{name}, {flows}: FTP {_mean(ftp)}, ADP {_mean(adp)}")
            if flows in (least, two):
                tie = wording.number(ledger.policy["tie"], "%")
                findings.append((texts[-1], ordering([("FTP", ftp), ("ADP", adp)], tie)))
            else:
                difference = paired_interval(adp, ftp)
                findings.append((texts[-1], level(difference, 0.0, float("inf"))))
        ftp, adp = both(name, most)
        adp_share = paired_ratio(adp, ftp)
        share_least = wording.after(ledger.claim("D5-56").tolerance, ">=")
        ratios.append(
            (f"{name}: {shown(adp_share)}", level(adp_share, share_least, float("inf"), must_lie=True))
        )
    return {
        "D5-41": ruled_by("; ".join(texts) + " Mb/s", findings),
        "D5-56": ruled_by("; ".join(text for text, _ in ratios), ratios),
    }


def _mean(values: Values) -> str:
    return f"{mean_interval(values).mean:.3f}"


def losses_evidence(ledger: Ledger, runs: Runs) -> dict[str, Found]:
    """Figs 5.8, 5.9, 5.11 and 5.12, by figure."""
    figures = Figures(ledger, runs[FLOWS])
    one, two, five, ten = LOSSES
    along = {
        name: Trend([figures.delivered(name, ADP, flows) for flows in figures.numbers], -1)
        for name in PROTOCOLS
    }
    return {
        one: {"D5-42": Level({"": mean_interval(figures.delivered(AODV, ADP, figures.numbers[0]))})},
        two: {"D5-43": adv_ahead(figures)},
        five: {"D5-44": Trends(along)},
        ten: {"D5-45": dropped_at_source(ledger, figures)},
    }


def adv_ahead(figures: Figures) -> Pairs:
    """ADV delivers more frames than AODV with five flows and with ten; with two it may be a tie."""

    def pair(flows: int) -> tuple[Values, Values]:
        return figures.delivered(ADV, ADP, flows), figures.delivered(AODV, ADP, flows)

    few = figures.numbers[1]
    difference = paired_interval(*pair(few))
    text = f"with {few} flows AODV may be level: ADV minus AODV {shown(difference)} points"
    of = {f"{flows}: ADV > AODV": pair(flows) for flows in BUSY}
    return Pairs(of, also=[Also(text, difference.high >= 0)])


def dropped_at_source(ledger: Ledger, figures: Figures) -> Ruled:
    """Of the frames that are not delivered, the share that the sender's buffer dropped."""
    of = {}
    for name in PROTOCOLS:
        for flows in BUSY:
            dropped = figures.sum("messages_dropped", name, ADP, flows)
            lost = figures.sum("messages_lost", name, ADP, flows)
            shares = [part / (part + rest) for part, rest in zip(dropped, lost, strict=True)]
            of[f"{name}, {flows}"] = mean_interval(shares)
    return banded(ledger.claim("D5-45"), of)


def timeout_table(ledger: Ledger, runs: Runs, key: str) -> Table:
    """Table 5.5 or 5.6 with our values."""
    is_delivery = key == DELIVERY_TABLE
    columns = ("protocol, buffer", "fixed", "printed", "doubling", "printed")
    table = Table(ledger.experiments[key].title, columns)
    for claim in ledger.claims_of(ledger.experiments[key]):
        if claim.at != (FIXED, DOUBLING):
            continue
        protocol = next(name for name in PROTOCOLS if wording.says(claim.statement, name))
        [buffer] = [name for name in BUFFERS if name in claim.statement]
        cells = []
        for policy, printed in zip(claim.at, claim.value, strict=True):
            at = {"protocol": protocol, "sender": BUFFERS[buffer], "adp.tto_policy": policy}
            values = percent_of(runs[TTO], DELIVERY, **at) if is_delivery else mbps(runs[TTO], **at)
            cells += [shown(mean_interval(values)), f"{printed:g}"]
        table.add(f"{protocol}, {buffer}", *cells)
    return table


def flows_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Frame delivery and throughput by number of flows."""
    figures = Figures(ledger, runs[FLOWS])
    made = []
    shows: list[tuple[str, Callable[[str, str, int], Values]]] = [
        ("frames delivered, %", figures.delivered),
        ("throughput, Mb/s", figures.mbps),
    ]
    for what, of in shows:
        table = Table(f"Video: {what}", ("protocol, transport", *map(str, figures.numbers)))
        for name in PROTOCOLS:
            for transport in (UDP, ADP, UNLIMITED):
                cells = (shown(mean_interval(of(name, transport, flows))) for flows in figures.numbers)
                table.add(f"{name}, {transport}", *cells)
        made.append(table)
    return made


def transfers_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """FTP over Reno-F beside video over ADP without a limit."""
    figures = Figures(ledger, runs[FLOWS])
    table = Table("Throughput, Mb/s", ("protocol", *map(str, figures.numbers)))
    for name in PROTOCOLS:
        ftp = (
            mbps(runs[FTP], "tcp_throughput_bps", protocol=name, **{"traffic.random.tcp": flows})
            for flows in figures.numbers
        )
        table.add(f"{name}, FTP over Reno-F", *(shown(mean_interval(each)) for each in ftp))
        adp = (figures.mbps(name, UNLIMITED, flows) for flows in figures.numbers)
        table.add(f"{name}, video over ADP", *(shown(mean_interval(each)) for each in adp))
    return [table]


def length_tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Frame delivery, losses in the network and throughput by length of the buffer."""
    figures = Figures(ledger, runs[FLOWS])
    made = []
    for flows in figures.numbers:
        columns = ("protocol, buffer", "frames delivered, %", "lost in the network, %", "throughput, Mb/s")
        table = Table(f"{flows} video flows", columns)
        for name in PROTOCOLS:
            of = {transport: (runs[FLOWS], transport) for transport in (UDP, ADP, UNLIMITED)}
            if LENGTHS in runs:
                of |= {f"{each} s": (runs[LENGTHS], f"{each} s") for each in video.lengths(ledger)}
            for label, (samples, transport) in of.items():
                at: dict[str, Any] = {
                    "protocol": name,
                    "sender": transport,
                    "traffic.random.video": flows,
                }
                lost, whole = (samples.values(f"messages_{each}", **at) for each in ("lost", "made"))
                shares = [100 * part / total for part, total in zip(lost, whole, strict=True)]
                cells = (percent_of(samples, DELIVERY, **at), shares, mbps(samples, **at))
                table.add(f"{name}, {label}", *(shown(mean_interval(each)) for each in cells))
        made.append(table)
    return made


def _flows(ledger: Ledger, scale: Scale) -> list[Campaign]:
    # Those with series first: what they ran serves the others, but not the other way round.
    return [video.in_time(ledger, scale), video.backlog(ledger, scale), video.by_flows(ledger, scale)]


def _lengths(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [*_flows(ledger, scale), *([video.by_length(ledger, scale)] if scale.full else [])]


def _timeouts(ledger: Ledger, scale: Scale) -> list[Campaign]:
    return [video.by_timeout(ledger, scale)]


def _losses(key: str) -> Study:
    return Study(
        key,
        _lengths,
        lambda ledger, runs: losses_evidence(ledger, runs)[key],
        length_tables,
        quick=QUICK,
    )


STUDIES = (
    one_table(TTO, _timeouts, throughput_evidence, timeout_table, SAME),
    one_table(DELIVERY_TABLE, _timeouts, delivery_evidence, timeout_table, SAME),
    Study(FLOWS, _flows, flows_evidence, flows_tables, quick=video.QUICK),
    Study(
        FTP,
        lambda ledger, scale: [*_flows(ledger, scale), video.transfers(ledger, scale)],
        transfers_evidence,
        transfers_tables,
        quick=video.QUICK,
    ),
    *(_losses(key) for key in LOSSES),
    *(Study(key, _lengths, no_claims, length_tables, quick=QUICK) for key in RATES),
)
