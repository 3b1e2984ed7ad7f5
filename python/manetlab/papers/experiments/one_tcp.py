"""One TCP connection over a mobile network with CBR background, under combinations of techniques.

Tables 4.2 and 4.3, Figs 4.4, B.1, B.3 and B.4 of the dissertation, as far as they speak of AODV.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Also, Change, Evidence, Level, percent, shown
from manetlab.papers.ledger import Claim, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import ROUTINGS, Fields, background, base, mobile, tcp, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.stats import mean_interval, paired_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

AODV = "AODV"
RENO, SACK, RENO_F = "Reno", "SACK + delayed ACKs", "SACK + fixed RTO + delayed ACKs"
METRIC = "tcp_throughput_bps"
TABLES = ("dyer2002/table-4.2", "dyer2002/table-4.3")
NO_PROTOCOL = "only AODV is run"
NO_HOLD_DOWN = "the hold-down timer is not run here yet"
QUICK = "20 of the 50 scenarios; each as long as the paper's"


def techniques(ledger: Ledger) -> list[str]:
    """The columns of the dissertation's tables that this TCP has, as the claims name them."""
    axis = [label.partition(" (=")[0] for label in ledger.experiments["dyer2002/table-4.2"].axis]
    return [label for label in axis if technique(label) is not None]


def mobile_base(ledger: Ledger, key: str, *more: Fields) -> Fields:
    """One TCP flow over AODV in the dissertation's square, with the background that the set-up names."""
    experiment = ledger.experiments[key]
    fields: Fields = {"routing": ROUTINGS[AODV], "traffic.random.tcp": 1}
    load = experiment.setup["background"]
    if load != "none":
        # Where the set-up gives no packet size it is that of the chapter's tables.
        sized = load if "byte" in load else ledger.experiments["dyer2002/table-4.2"].setup["background"]
        fields |= background(load, wording.whole(sized, "byte"))
    return base(ledger, experiment, mobile(experiment), tcp(experiment), fields, *more)


def campaign(ledger: Ledger, scale: Scale, key: str, labels: list[str]) -> Campaign:
    """The runs of one set-up under some techniques."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[key]
    setup = experiment.setup
    times = scale.times(setup["warmup_s"], setup["duration_s"])
    return Campaign(
        name=key,
        question="How does the throughput change with TCP's techniques?",
        base=mobile_base(ledger, key, times),
        factors={"technique": [{"label": label, "fields": technique(label)} for label in labels]},
        replications=scale.scenarios(ledger, setup["scenarios"]),
        metrics=[METRIC],
    )


def gain(samples: Samples, label: str) -> Change:
    """The change of throughput from Reno to a technique, in percent."""
    of = percent(samples.values(METRIC, technique=label), samples.values(METRIC, technique=RENO))
    return Change({"": of})


def table_study(key: str) -> Study:
    """Table 4.2 or 4.3."""

    def evidence(ledger: Ledger, runs: Runs) -> Found:
        found: dict[str, Evidence] = {}
        for claim in ledger.claims_of(ledger.experiments[key]):
            if claim.kind == "change" and claim.systems[0] == AODV and claim.systems[1] in techniques(ledger):
                found[claim.id] = gain(runs[key], claim.systems[1])
        return found

    return Study(
        key,
        lambda ledger, scale: [campaign(ledger, scale, key, techniques(ledger))],
        evidence,
        lambda ledger, runs: [throughput_table(ledger, runs[key], key)],
        quick=QUICK,
        untested=_untested(key),
    )


def _untested(key: str) -> dict[str, str]:
    from manetlab.papers import ledger

    loaded = ledger.load()
    return {
        claim.id: NO_HOLD_DOWN if claim.systems[0] == AODV and "hold-down" in claim.statement else NO_PROTOCOL
        for claim in loaded.claims_of(loaded.experiments[key])
    }


def throughput_table(ledger: Ledger, samples: Samples, key: str) -> Table:
    """Throughput by technique, with the change from Reno beside the printed one."""
    title = f"{ledger.experiments[key].title}: AODV"
    columns = ("technique", "throughput, kb/s", "change, %", "printed, %", "goodput, %", "routing packets/s")
    table = Table(title, columns)
    printed = {claim.systems[1:]: claim.expected for claim in _aodv_changes(ledger, key)}
    for label in techniques(ledger):
        values = [each / 1e3 for each in samples.values(METRIC, technique=label)]
        change = "–" if label == RENO else shown(gain(samples, label).of[""])
        goodput = mean_interval([100 * each for each in samples.values("tcp_goodput", technique=label)])
        overhead = mean_interval(samples.values("routing_packets_per_s", technique=label))
        cells = (shown(mean_interval(values)), change, printed.get((label,), "–"), shown(goodput))
        table.add(label, *cells, shown(overhead))
    return table


def _aodv_changes(ledger: Ledger, key: str) -> list[Claim]:
    claims = ledger.claims_of(ledger.experiments[key])
    return [claim for claim in claims if claim.systems[0] == AODV and claim.kind == "change"]


LOADS = ("dyer2002/table-4.2", "dyer2002/fig-B.1", "dyer2002/fig-B.3")
"""Ten CBR flows, by load."""
MANY = ("dyer2002/table-4.3", "dyer2002/fig-B.4")
"""Forty CBR flows at the least and the greatest load."""


def gains_campaigns(ids: Sequence[str]) -> Callable[[Ledger, Scale], list[Campaign]]:
    """All techniques in a table's set-up, those that the claims need in the others."""

    def made(ledger: Ledger, scale: Scale) -> list[Campaign]:
        labels = {key: techniques(ledger) if key in TABLES else [RENO, SACK, RENO_F] for key in ids}
        return [campaign(ledger, scale, key, labels[key]) for key in ids]

    return made


def technique_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. 4.4: goodput and overhead under all techniques."""
    samples, labels = runs["dyer2002/table-4.2"], techniques(ledger)
    goodput = {
        label: [100 * each for each in samples.values("tcp_goodput", technique=label)] for label in labels
    }
    overhead = {label: samples.values("routing_packets_per_s", technique=label) for label in labels}
    changes = {label: percent(overhead[label], overhead[RENO]) for label in labels if label != RENO}
    return {
        "D4-40": Level({label: mean_interval(each) for label, each in goodput.items()}, part=AODV),
        "D4-41": Change({"": paired_interval(goodput[RENO_F], goodput[RENO])}, part=AODV),
        "D4-43": Change(changes, part=AODV),
    }


def few_flows_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.3: the gains with ten CBR flows."""
    fixed = {_load(ledger, key): gain(runs[key], RENO_F).of[""] for key in LOADS}
    return {"D4-32": Change(fixed)}


def sack_evidence(ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.1: the gain of SACK and delayed ACKs at the higher loads."""
    return {
        "D4-45": Change({_load(ledger, key): gain(runs[key], SACK).of[""] for key in LOADS[1:]}, part=AODV)
    }


def many_flows_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """Fig. B.4: the gain at the greatest load, and that it is above that at the least."""
    low, high = (gain(runs[key], RENO_F).of[""] for key in MANY)
    text = f"gain(200) > gain(50), which is {shown(low)}"
    return {"D4-33": Change({"": high}, also=[Also(text, high.mean > low.mean)])}


def _load(ledger: Ledger, key: str) -> str:
    load = ledger.experiments[key].setup["background"]
    return f"{wording.whole(load, 'Kbps')} kb/s from {wording.whole(load, 'CBR connections')}"


def gains_table(ledger: Ledger, runs: Runs, ids: Sequence[str]) -> Table:
    """Reno and Reno-F by load."""
    table = Table("Reno-F over AODV by background", ("background", "Reno, kb/s", "Reno-F, kb/s", "change, %"))
    for key in ids:
        values = [runs[key].values(METRIC, technique=label) for label in (RENO, RENO_F)]
        means = (shown(mean_interval(each).scaled(1e-3)) for each in values)
        table.add(_load(ledger, key), *means, shown(gain(runs[key], RENO_F).of[""]))
    return table


def _study(key: str, loads: Sequence[str], evidence: Callable[[Ledger, Runs], Found]) -> Study:
    return Study(
        key,
        gains_campaigns(loads),
        evidence,
        lambda ledger, runs: [gains_table(ledger, runs, loads)],
        quick=QUICK,
        untested=_untested(key),
    )


STUDIES = (
    *(table_study(key) for key in TABLES),
    _study("dyer2002/fig-4.4", LOADS[:1], technique_evidence),
    _study("dyer2002/fig-B.1", LOADS[1:], sack_evidence),
    _study("dyer2002/fig-B.3", LOADS, few_flows_evidence),
    _study("dyer2002/fig-B.4", MANY, many_flows_evidence),
)
