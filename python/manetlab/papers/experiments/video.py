"""Video over UDP and ADP in the dissertation's square: the runs of its §5.1.2 and §5.2.

All figures are made of the same runs: so many video flows beside the CBR background, over a routing protocol
and a transport. `video_figures` and `video_costs` say what they show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manetlab.papers import wording
from manetlab.papers.evidence import Values
from manetlab.papers.experiments.datagrams import protocol_rows, setting
from manetlab.papers.ledger import Experiment, Ledger
from manetlab.papers.samples import Samples
from manetlab.papers.setup import Fields, technique
from manetlab.papers.study import Scale

if TYPE_CHECKING:
    from manetlab.campaign import Campaign

FLOWS, TTO, FTP, IN_TIME = (
    "dyer2002/fig-5.6",
    "dyer2002/table-5.5",
    "dyer2002/fig-5.7",
    "dyer2002/fig-5.14",
)
"""The campaigns: video flows by number, by timeout policy, transfers beside them, and with time series."""
BACKLOG, LENGTHS = "dyer2002/fig-5.6/backlog", "dyer2002/fig-5.8/lengths"
UDP, ADP, UNLIMITED = "UDP", "ADP", "ADP, no limit"
FIXED, DOUBLING = "fixed", "doubling"
SHARE = 0.25
"""What share of the paper's measured time ``--quick`` runs, but for one flow under both timeout policies."""
QUICK = "225 s of the measured 900 s; as many scenarios as in full"
SERIES_S, BACKLOG_S = 1.0, 25.0
"""The steps of time series: a second, as Fig. 5.14 counts, and often enough to see a backlog grow."""
BUSY = (5, 10)
"""The numbers of flows of which the text says that they ask for more than the network has."""


def buffer_frames(ledger: Ledger) -> int:
    """The length of the frame buffer that the figures take, in frames."""
    return wording.whole(", ".join(ledger.experiments[FLOWS].systems), "frame buffer")


def buffer_fields(frames: int) -> Fields:
    """ADP's frame buffer, by dotted name; zero for no limit."""
    return {"traffic.random.video_transport": "adp", "adp.buffer_frames": frames}


def transports(ledger: Ledger) -> dict[str, Fields]:
    """UDP and ADP with both buffers, by dotted name."""
    return {
        UDP: {"traffic.random.video_transport": "udp"},
        ADP: buffer_fields(buffer_frames(ledger)),
        UNLIMITED: buffer_fields(0),
    }


def final_sender(experiment: Experiment) -> Fields:
    """ADP as the figures of §5.2 have it, by dotted name."""
    wording.require(experiment.setup["transport"], "ADP (ACK-clocked, fixed TTO)")
    return {"adp.variant": "ack-clocked", "adp.tto_policy": FIXED}


def numbers(ledger: Ledger) -> list[int]:
    """The numbers of video flows."""
    return [int(each) for each in ledger.experiments[FLOWS].axis]


def _levels(labelled: dict[str, Fields]) -> list[Fields]:
    return [{"label": label, "fields": fields} for label, fields in labelled.items()]


def _scenarios(ledger: Ledger, scale: Scale) -> int:
    return scale.scenarios(ledger, ledger.experiments[FLOWS].setup["scenarios"])


def by_flows(ledger: Ledger, scale: Scale) -> Campaign:
    """Every number of flows over every transport and protocol."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[FLOWS]
    return Campaign(
        name=FLOWS,
        question="What becomes of video over UDP and over ADP?",
        base=setting(ledger, scale, FLOWS, final_sender(experiment), quick=SHARE),
        factors={
            "protocol": protocol_rows(experiment),
            "sender": _levels(transports(ledger)),
            "traffic.random.video": numbers(ledger),
        },
        replications=_scenarios(ledger, scale),
        metrics=["message_delivery_fraction", "message_throughput_bps"],
    )


def by_timeout(ledger: Ledger, scale: Scale) -> Campaign:
    """One flow whose transmit timeout is fixed or doubles, with both buffers."""
    experiment = ledger.experiments[TTO]
    return by_flows(ledger, scale).changed(
        name=TTO,
        question="Does a fixed transmit timeout help?",
        base=setting(ledger, scale, TTO, final_sender(experiment), {"traffic.random.video": 1}),
        factors={
            "protocol": protocol_rows(experiment),
            "sender": _levels({name: transports(ledger)[name] for name in (ADP, UNLIMITED)}),
            "adp.tto_policy": [FIXED, DOUBLING],
        },
    )


def transfers(ledger: Ledger, scale: Scale) -> Campaign:
    """As many FTP transfers over Reno-F between the nodes of the video flows."""
    from manetlab.campaign import Campaign

    experiment = ledger.experiments[FTP]
    return Campaign(
        name=FTP,
        question="What do transfers carry where video goes?",
        base=setting(ledger, scale, FTP, transfer(ledger), quick=SHARE),
        factors={"protocol": protocol_rows(experiment), "traffic.random.tcp": numbers(ledger)},
        replications=_scenarios(ledger, scale),
        metrics=["tcp_throughput_bps"],
    )


def transfer(ledger: Ledger) -> Fields:
    """The TCP of chapter 4 with all techniques of Reno-F, by dotted name."""
    from manetlab.papers.experiments.ftp import RENO_F, SQUARE
    from manetlab.papers.setup import tcp

    return technique(RENO_F) | tcp(ledger.experiments[SQUARE])


def in_time(ledger: Ledger, scale: Scale) -> Campaign:
    """The most flows over AODV, with what each delivers second by second."""
    experiment = ledger.experiments[IN_TIME]
    flows = wording.whole(experiment.setup["traffic"], "flows of VBR video")
    return by_flows(ledger, scale).changed(
        name=IN_TIME,
        question="When does a flow deliver?",
        factors={
            "protocol": protocol_rows(experiment, ("AODV",)),
            "sender": _levels({name: transports(ledger)[name] for name in (UDP, ADP)}),
            "traffic.random.video": [flows],
        },
        series_s=SERIES_S,
    )


def backlog(ledger: Ledger, scale: Scale) -> Campaign:
    """More flows than the network carries, without a limit of their buffers, with what waits over time."""
    experiment = ledger.experiments[FLOWS]
    return by_flows(ledger, scale).changed(
        name=BACKLOG,
        question="How much video waits?",
        factors={
            "protocol": protocol_rows(experiment),
            "sender": _levels({UNLIMITED: transports(ledger)[UNLIMITED]}),
            "traffic.random.video": list(BUSY),
        },
        series_s=BACKLOG_S,
    )


def by_length(ledger: Ledger, scale: Scale) -> Campaign:
    """All lengths of the frame buffer that the ledger assumes, but those that `by_flows` has."""
    experiment = ledger.experiments[FLOWS]
    per_s = wording.number(experiment.setup["traffic"], "packets/s")
    lengths_s = [float(each) for each in lengths(ledger)]
    return by_flows(ledger, scale).changed(
        name=LENGTHS,
        question="What does a longer buffer bring?",
        factors={
            "protocol": protocol_rows(experiment),
            "sender": [
                {"label": f"{length_s:g} s", "fields": buffer_fields(round(length_s * per_s))}
                for length_s in lengths_s
            ],
            "traffic.random.video": numbers(ledger),
        },
    )


def lengths(ledger: Ledger) -> list[int]:
    """The lengths of the frame buffer that figures go along, in s, but for none."""
    return wording.listed(ledger.assumptions["buffer-lengths"].text, "s, unlimited")


def percent_of(samples: Samples, metric: str, **levels: object) -> Values:
    """A fraction in every scenario, in percent."""
    return [100 * each for each in samples.values(metric, **levels)]


def mbps(samples: Samples, metric: str = "message_throughput_bps", **levels: object) -> Values:
    """A throughput in every scenario, in Mb/s."""
    return [each / 1e6 for each in samples.values(metric, **levels)]
