"""Table 5.1 of the dissertation: ten connections over TCP Reno, Reno-F and UDP, with AODV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Level, Order, Ruled, Values, shown
from manetlab.papers.experiments.ftp import AODV, RENO, RENO_F
from manetlab.papers.experiments.outages import QUICK
from manetlab.papers.ledger import Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import ROUTINGS, Fields, base, interval_s, mobile, technique
from manetlab.papers.study import Found, Runs, Scale, Study
from manetlab.papers.verdicts import Outcome, level
from manetlab.stats import mean_interval, paired_ratio
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

ID = "dyer2002/table-5.1"
SENDERS = {"TCP Reno": RENO, "TCP Reno-F": RENO_F}
UDP = "UDP"


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """The three transports between the same nodes."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[ID]
    connections = wording.whole(experiment.setup["traffic"], "connections")
    packet_bytes = wording.whole(ledger.assumptions["packet-size"].text, "bytes")
    total_kbps = 1000 * wording.number(experiment.setup["traffic"], "Mbps")
    # Window and chapter are those of the other tables; this one's set-up names only the senders.
    window = wording.after(ledger.experiments["dyer2002/table-4.2"].setup["transport"], "at most")
    udp: Fields = {
        "traffic.random.tcp": 0,
        "traffic.random.cbr": connections,
        "traffic.random.cbr_bytes": packet_bytes,
        "traffic.random.cbr_interval_s": interval_s(packet_bytes, total_kbps / connections),
    }
    rows = []
    for label in experiment.axis:
        fields = udp if label == UDP else technique(SENDERS[label])
        rows.append(
            {
                "label": label,
                "fields": fields if label == UDP else {"traffic.random.tcp": connections} | fields,
            }
        )
    fixed: Fields = {
        "routing": ROUTINGS[AODV],
        "tcp.segment_bytes": packet_bytes,
        "tcp.window": int(window),
        "traffic.random.cbr_ends": "apart",
    }
    scenarios, times = _lengths(ledger, scale)
    return [
        Campaign(
            name=ID,
            question="What do ten connections carry over TCP, and what over UDP at the same rate?",
            base=base(ledger, experiment, mobile(experiment), fixed, times),
            factors={"transport": rows},
            replications=scenarios,
            metrics=["tcp_throughput_bps", "cbr_throughput_bps"],
        )
    ]


def _lengths(ledger: Ledger, scale: Scale) -> tuple[int, dict[str, float]]:
    """The number of scenarios, warm-up and duration that the assumption lists in this order."""
    text = ledger.assumptions["scenarios-warm-up-duration"].text
    scenarios = wording.whole(text, "scenarios")
    warmup_s, measured_s = (float(each) for each in re.findall(r"(\d+) s(?!\w)", text))
    return scale.scenarios(ledger, scenarios), scale.times(warmup_s, measured_s)


def throughput(samples: Samples) -> dict[str, Values]:
    """Combined throughput in Mb/s of every scenario, by transport."""
    metric = dict.fromkeys(SENDERS, "tcp_throughput_bps") | {UDP: "cbr_throughput_bps"}
    return {
        label: [each / 1e6 for each in samples.values(name, transport=label)]
        for label, name in metric.items()
    }


def evidence(ledger: Ledger, runs: Runs) -> Found:
    """What the runs say of the table."""
    values = throughput(runs[ID])
    claim = ledger.claim("D5-04")
    ratio = paired_ratio(values["TCP Reno"], values[UDP])
    least = wording.after(claim.tolerance, "exceed")
    outcome = level(ratio, *claim.band(claim.at.index(AODV)))[0]
    return {
        "D5-01": Level({AODV: mean_interval(values["TCP Reno"])}, part=AODV),
        "D5-02": Level({AODV: mean_interval(values["TCP Reno-F"])}, part=AODV),
        "D5-03": Level({AODV: mean_interval(values[UDP])}, part=AODV),
        "D5-04": Ruled(
            shown(ratio),
            satisfied=outcome is Outcome.REPRODUCED and ratio.mean > least,
            broken=outcome is Outcome.CONTRADICTED or ratio.high < least,
            part=AODV,
        ),
        "D5-05": Order({label: values[label] for label in ledger.claim("D5-05").order}, part=AODV),
    }


def tables(ledger: Ledger, runs: Runs) -> list[Table]:
    """Ours beside the printed column of AODV."""
    table = Table("Table 5.1, AODV: Mb/s", ("transport", "ours", "printed"))
    for (label, values), key in zip(throughput(runs[ID]).items(), ("D5-01", "D5-02", "D5-03"), strict=True):
        claim = ledger.claim(key)
        table.add(label, shown(mean_interval(values)), f"{claim.value[claim.at.index(AODV)]:g}")
    return [table]


STUDIES = (Study(ID, campaigns, evidence, tables, quick=QUICK, untested={"D5-06": "only AODV is run"}),)
