"""Results of others that the dissertation quotes in its chapter 2, as far as their set-ups are stated.

Explicit link failure notification is tried as its authors did: one transfer over DSR in a long field, beside
plain Reno and beside DSR without replies from caches. DSDV's overhead is that of the runs of Fig. 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import assumptions, wording
from manetlab.papers.evidence import Also, Change, Pairs, Values, percent, points, shown
from manetlab.papers.experiments.by_load import BYTES, DSDV, FEW, ON_DEMAND, PACKETS, Loads, campaign, tables
from manetlab.papers.experiments.ftp import METRIC, SQUARE
from manetlab.papers.ledger import Ledger
from manetlab.papers.setup import ROUTINGS, base
from manetlab.papers.study import Found, Runs, Scale, Study, without_runs
from manetlab.papers.verdicts import level, ruled_by
from manetlab.stats import mean_interval
from manetlab.tables import Table

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FEEDBACK, ROUTING, ONE_HOP = (
    f"dyer2002/sec-{name}" for name in ("2.2.3-feedback", "2-cited-routing", "2.2.2-onehop")
)
RENO, ELFN, NO_REPLIES = "Reno", "ELFN", "Reno, no replies from caches"
SYSTEMS = {
    RENO: {"tcp.sender": "reno"},
    ELFN: {"tcp.sender": "elfn"},
    NO_REPLIES: {"tcp.sender": "reno", "dsr.reply_from_cache": False},
}
DURATION_S = 120.0
"""Not stated by the dissertation; what Holland and Vaidya (1999) ran."""
SPREAD = 0.1
"""Not stated either: their speeds are uniform within so much of the mean."""
PIPE = "TCP-F was tried over a pipe of a given bit rate that fails and returns; all links here are radio"
NO_WIRE = "wired links, base stations and errors of single bits are not among the models here"
NO_SSA = "SSA is not among the protocols here, and the quoted study's set-up is not stated"


def campaigns(ledger: Ledger, scale: Scale) -> list[Campaign]:
    """One transfer over DSR: plain, told of link failures, without replies from caches."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[FEEDBACK]
    setup = experiment.setup
    wording.require(setup["boundary"], "waypoint inside field")
    wording.require(setup["mobility"], "no pause")
    mean = wording.after(setup["mobility"], "mean speed")
    width_m, height_m = wording.two(setup["field"], "m x", "m")
    _, _, transport = setup["transport"].partition("ELFN")
    return [
        Campaign(
            name=FEEDBACK,
            question="Does it help TCP more to know of stale routes, or to have none?",
            base=base(
                ledger,
                experiment,
                assumptions.fields(ledger, ledger.experiments[SQUARE]),
                {
                    "routing": ROUTINGS["DSR"],
                    "movement.waypoint.nodes": int(wording.after(setup["nodes"], "ELFN")),
                    "movement.waypoint.width_m": width_m,
                    "movement.waypoint.height_m": height_m,
                    "movement.waypoint.speed_min": (1 - SPREAD) * mean,
                    "movement.waypoint.speed_max": (1 + SPREAD) * mean,
                    "movement.waypoint.pause_s": 0.0,
                    "movement.waypoint.boundary": "classic",
                    "tcp.segment_bytes": wording.whole(transport, "byte"),
                    "tcp.window": int(wording.after(transport, "window")),
                    "traffic.random.tcp": 1,
                    "traffic.random.cbr": 0,
                    "warmup_s": 0.0,
                    "duration_s": DURATION_S * scale.duration_share,
                },
            ),
            factors={"system": [{"label": label, "fields": fields} for label, fields in SYSTEMS.items()]},
            replications=scale.scenarios(ledger, int(wording.after(setup["scenarios"], "ELFN"))),
            metrics=[METRIC],
        )
    ]


def _throughput(runs: Runs) -> dict[str, Values]:
    return {label: runs[FEEDBACK].values(METRIC, system=label) for label in SYSTEMS}


def feedback_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """§2.2.3: ELFN, and DSR without replies from caches."""
    of = _throughput(runs)
    more = points(of[NO_REPLIES], of[ELFN], of[RENO])
    return {
        "D2-04": Change({"": percent(of[ELFN], of[RENO])}),
        "D2-05": Change({"": percent(of[NO_REPLIES], of[RENO])}),
        "D2-06": ruled_by(
            f"{shown(more)} points more", [("", level(more, 0.0, float("inf"), must_lie=True))]
        ),
    }


def feedback_tables(_ledger: Ledger, runs: Runs) -> list[Table]:
    """Throughput of each system."""
    title = f"One TCP over DSR for {DURATION_S:g} s, speeds within {SPREAD:.0%} of the mean"
    table = Table(title, ("system", "throughput, kb/s"))
    for label, values in _throughput(runs).items():
        table.add(label, shown(mean_interval(values).scaled(1e-3)))
    return [table]


def routing_evidence(_ledger: Ledger, runs: Runs) -> Found:
    """§2.1: how much DSDV sends beside on-demand protocols."""
    few = Loads(runs[FEW])
    packets, volume = ({p: few.over(p, metric) for p in (DSDV, *ON_DEMAND)} for metric in (PACKETS, BYTES))
    rate = {p: mean_interval(values).mean for p, values in packets.items()}
    size = {p: mean_interval(values).mean / rate[p] for p, values in volume.items()}
    fewer = all(rate[DSDV] < rate[p] and size[DSDV] > size[p] for p in ON_DEMAND)
    sizes = ", ".join(f"{p}: {rate[p]:.0f}/s of {size[p]:.0f} bytes" for p in size)
    return {
        "D2-11": Pairs(
            {f"{DSDV} > {p}": (volume[DSDV], volume[p]) for p in ON_DEMAND},
            also=[Also(f"fewer and bigger packets ({sizes})", fewer)],
            part="without TORA, in the set-up of Fig. 3.1",
        )
    }


STUDIES = (
    Study(
        FEEDBACK,
        campaigns,
        feedback_evidence,
        feedback_tables,
        quick="20 of the 50 scenarios; each as long as in full",
        untested=dict.fromkeys(("D2-01", "D2-02", "D2-03"), PIPE),
    ),
    Study(
        ROUTING,
        lambda ledger, scale: [campaign(ledger, scale, FEW)],
        routing_evidence,
        lambda ledger, runs: tables(FEW, ledger, runs),
        quick="as of Fig. 3.1",
        untested={"D2-07": NO_SSA},
    ),
    without_runs(ONE_HOP, dict.fromkeys(("D2-08", "D2-09", "D2-10"), NO_WIRE)),
)
