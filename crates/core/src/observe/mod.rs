//! What a run measures: per flow, in total, where packets died, and whether the books balance.
//!
//! Definitions with formulas and units stand in docs/metrics.md. All measures cover packets made, and events
//! that happen, in the window from `warmup_s` to `duration_s`, unless said otherwise.

mod accounts;
mod audit;
mod cached_routes;
mod costs;
mod flow_events;
mod hash;
mod loss_guesses;
pub mod measures;
mod messages;
mod meter;
mod outages;
mod outcome;
mod progress;
mod recorder;
mod recording;
mod reservations;
pub mod returns;
mod routes;
mod series;
mod shares;
mod statistics;
mod timeliness;
mod voice;
mod watch;
mod watching;
mod web;

pub(crate) use accounts::Accounts;
pub use audit::{Audit, AuditReport, Unbalanced};
pub use cached_routes::{CachedRouteTotals, CachedRoutes, HoldTotals};
pub use costs::{CostTotals, FlowCost, LoadTotals, MacCount};
pub use flow_events::{Delivery, FlowEvent};
pub use hash::{FORM, Measures};
pub use loss_guesses::{GuessCounts, GuessMeasures, GuessTotals, LossGuesses};
pub use messages::{MessageLog, MessageMeasures, MessageTotals, VideoMeasures};
pub use meter::{Meter, Receptions};
pub use outages::{Outage, Outages};
pub use outcome::{Options, Outcome, RunError, WORK_BETWEEN_QUESTIONS};
pub use progress::{Progress, ProgressMeasures, ProgressTotals};
pub use recorder::{Event, FlowStep, PacketRef, Reach, Reception, Recorder, Recorders, Sending, flow_ends};
pub use recording::{
    PacketNote, RECORDING_VERSION, Record, RecordKind, RecordQueue, Recording, json_head, json_line,
};
pub use reservations::{ReservationLog, ReservationMeasures, ReservationTotals};
pub use routes::{RouteMeasures, Routes};
pub use series::{FlowSample, MessageSample, PathSample, RepairSample, RunningCounts, Sampler, Series};
pub use shares::{RateMeasures, ShareLog, ShareTotals};
pub use timeliness::{DelayHistogram, Delays, TimelinessMeasures, TimelinessTotals, Timely};
pub use voice::{SATISFIED_R, VoiceMeasures, VoiceSpec, VoiceTotals};
pub(crate) use watching::Watching;
pub use web::{WebCounters, WebLog, WebMeasures, WebTotals, overlap};

use serde::Serialize;

use watch::Watch;

use crate::drops::{DropReason, Layer};
use crate::topology::PathMeasures;

pub use crate::radio::EnergyTotals;

/// The measures of one flow.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowResult {
    /// The flow's number in the scenario.
    pub id: u32,
    /// Source node.
    pub src: u32,
    /// Destination node.
    pub dst: u32,
    /// When it began, in s.
    pub start_s: f64,
    /// Its kind and the measures of that kind.
    #[serde(flatten)]
    pub measures: FlowMeasures,
    /// What is measured of a flow that is one TCP connection; left out of others.
    #[serde(flatten)]
    pub connection: Option<ConnectionMeasures>,
    /// What RTP measures; left out where the flow has none.
    #[serde(flatten)]
    pub rtp: Option<RtpMeasures>,
    /// What is measured of its progress; left out where that was not asked for.
    #[serde(flatten)]
    pub progress: Option<ProgressMeasures>,
    /// Its spurious retransmissions; left out where its sender looks for none.
    #[serde(flatten)]
    pub spurious: Option<SpuriousMeasures>,
    /// What was acknowledged of it and has not arrived; left out where no base station splits it.
    #[serde(flatten)]
    pub split: Option<SplitMeasures>,
    /// How well it guesses why segments were lost; left out where it does not guess.
    #[serde(flatten)]
    pub guesses: Option<GuessMeasures>,
    /// What of it comes in time; left out where it has no deadline.
    #[serde(flatten)]
    pub timeliness: Option<TimelinessMeasures>,
    /// What it cost at the MACs.
    #[serde(flatten)]
    pub cost: FlowCost,
    /// Its shortest path; left out where that is not measured.
    #[serde(flatten)]
    pub path: Option<PathMeasures>,
    /// The route that its source held; left out where that is not measured.
    #[serde(flatten)]
    pub route: Option<RouteMeasures>,
    /// How far its rates are from an oracle's; left out where that is not measured.
    #[serde(flatten)]
    pub rates: Option<RateMeasures>,
    /// What it had of the reservation that it asked for; left out if it asked for none, or nodes reserve
    /// nothing.
    #[serde(flatten)]
    pub reservation: Option<ReservationMeasures>,
}

/// What the sender of a TCP flow found to be sent again in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SpuriousMeasures {
    /// Time-outs in the window.
    pub spurious_timeouts: u64,
    /// Fast retransmits in the window.
    pub spurious_fast_retransmits: u64,
}

/// What the senders of all TCP flows found to be sent again in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SpuriousTotals {
    /// Sum of their `spurious_timeouts`.
    pub tcp_spurious_timeouts: u64,
    /// Sum of their `spurious_fast_retransmits`.
    pub tcp_spurious_fast_retransmits: u64,
}

impl SpuriousTotals {
    /// The totals of these flows; none without a flow.
    pub fn of(flows: impl Iterator<Item = SpuriousMeasures>) -> Option<SpuriousTotals> {
        flows.fold(None, |totals: Option<SpuriousTotals>, flow| {
            let SpuriousTotals { tcp_spurious_timeouts, tcp_spurious_fast_retransmits } =
                totals.unwrap_or_default();
            Some(SpuriousTotals {
                tcp_spurious_timeouts: tcp_spurious_timeouts + flow.spurious_timeouts,
                tcp_spurious_fast_retransmits: tcp_spurious_fast_retransmits + flow.spurious_fast_retransmits,
            })
        })
    }
}

/// What was acknowledged of a TCP flow that a base station splits, and has not arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SplitMeasures {
    /// Payload bytes at the end of the run.
    pub acked_undelivered_bytes: u64,
    /// The most payload bytes at any time.
    pub acked_undelivered_max_bytes: u64,
}

/// The same of all TCP flows that base stations split.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SplitTotals {
    /// Sum of their `acked_undelivered_bytes`.
    pub tcp_acked_undelivered_bytes: u64,
    /// The highest of their `acked_undelivered_max_bytes`.
    pub tcp_acked_undelivered_max_bytes: u64,
}

impl SplitTotals {
    /// The totals of these flows; none without a flow.
    pub fn of(flows: impl Iterator<Item = SplitMeasures>) -> Option<SplitTotals> {
        flows.fold(None, |totals: Option<SplitTotals>, flow| {
            let SplitTotals { tcp_acked_undelivered_bytes, tcp_acked_undelivered_max_bytes } =
                totals.unwrap_or_default();
            Some(SplitTotals {
                tcp_acked_undelivered_bytes: tcp_acked_undelivered_bytes + flow.acked_undelivered_bytes,
                tcp_acked_undelivered_max_bytes: tcp_acked_undelivered_max_bytes
                    .max(flow.acked_undelivered_max_bytes),
            })
        })
    }
}

/// What is measured of one TCP connection, whatever it carries.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ConnectionMeasures {
    /// Choi and Yoo 2004, eq. 2, in bit/s: the number of the last segment that arrived, times its payload,
    /// over the duration of the run.
    pub eq2_goodput_bps: f64,
    /// Retransmission time-outs in the window that followed another without an acknowledgement of new data in
    /// between.
    pub backoffs: u64,
}

/// The measures of all flows that are one TCP connection each.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ConnectionTotals {
    /// Mean of their `eq2_goodput_bps`, bit/s.
    pub eq2_goodput_bps: f64,
    /// Sum of their `backoffs`.
    pub tcp_backoffs: u64,
}

impl ConnectionTotals {
    /// Of these flows; none if there are none.
    pub fn of(flows: &[FlowResult]) -> Option<ConnectionTotals> {
        let all: Vec<&ConnectionMeasures> =
            flows.iter().filter_map(|flow| flow.connection.as_ref()).collect();
        let goodputs: Vec<f64> = all.iter().map(|each| each.eq2_goodput_bps).collect();
        Some(ConnectionTotals {
            eq2_goodput_bps: statistics::mean(&goodputs)?,
            tcp_backoffs: all.iter().map(|each| each.backoffs).sum(),
        })
    }
}

/// What the ends of an RTP flow know, of the whole run unless said otherwise.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RtpMeasures {
    /// Packets that the sequence numbers say were sent, from the first to the last that arrived.
    pub rtp_packets_expected: i64,
    /// Those of them that did not arrive, less copies.
    pub rtp_packets_lost: i64,
    /// `rtp_packets_lost` over `rtp_packets_expected`; zero if copies make the former negative.
    pub rtp_loss_fraction: Option<f64>,
    /// Interarrival jitter at the end, s.
    pub rtp_jitter_s: f64,
    /// Receiver reports sent.
    pub rtp_reports_sent: u64,
    /// Those that reached the sender, copies included: reports have no numbers.
    pub rtp_reports_received: u64,
    /// Mean of the fractions lost that they say; none if none came.
    pub rtp_reported_loss_mean: Option<f64>,
    /// Sender reports sent, the one with the BYE among them.
    pub rtp_sender_reports_sent: u64,
    /// Those that reached the receiver, copies included.
    pub rtp_sender_reports_received: u64,
    /// Packets sent, as the last of them to arrive says; none if none came.
    pub rtp_reported_packets: Option<u64>,
    /// Bytes of payload in them, likewise.
    pub rtp_reported_bytes: Option<u64>,
    /// Mean round trip that receiver reports told the sender, s; none if none did.
    pub rtp_round_trip_mean_s: Option<f64>,
    /// Of the messages made in the window, those delivered whole and before the playout deadline.
    pub rtp_in_time_fraction: Option<f64>,
}

/// The measures that depend on the kind of flow.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowMeasures {
    /// TCP.
    Tcp(TcpMeasures),
    /// CBR over UDP.
    Cbr(CbrMeasures),
    /// Bursts and silences.
    OnOff(MessageMeasures),
    /// A Poisson process.
    Poisson(MessageMeasures),
    /// A list of packets.
    Trace(MessageMeasures),
    /// Video.
    Video(VideoMeasures),
    /// One direction of a call.
    Voice(VoiceMeasures),
    /// Endless data over ADP.
    Adp(MessageMeasures),
    /// A Web session.
    Web(WebMeasures),
}

/// Measures of a TCP flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TcpMeasures {
    /// New data delivered in order in the window, per second of the window, bit/s.
    pub throughput_bps: f64,
    /// New payload bytes delivered in order in the window.
    pub delivered_bytes: u64,
    /// Delivered new payload over transmitted payload in the window; none if nothing was transmitted.
    pub goodput: Option<f64>,
    /// From the flow's start to the arrival of its first data packet, s (whole run); none if none arrived.
    pub connect_time_s: Option<f64>,
    /// Data segments sent in the window, retransmissions included.
    pub segments_sent: u64,
    /// Retransmitted segments in the window.
    pub retransmissions: u64,
    /// Retransmission time-outs in the window.
    pub timeouts: u64,
    /// Fast retransmits in the window.
    pub fast_retransmits: u64,
    /// When all data was acknowledged, s; none for transfers that are endless, unfinished or cut off.
    pub completed_s: Option<f64>,
    /// Mean number of links that delivered data segments crossed; none if none was delivered.
    pub hops_mean: Option<f64>,
    /// One-way delay of data segments delivered: mean, s.
    pub latency_mean_s: Option<f64>,
    /// Times that the route to the destination broke and routing at the source had one again (whole run).
    pub route_repairs: u64,
    /// Mean time from the one to the other, s; none if there was no repair.
    pub route_repair_mean_s: Option<f64>,
    /// The longest of these times, s.
    pub route_repair_max_s: Option<f64>,
    /// The longest time without new data at the receiver, s (whole run).
    pub longest_gap_s: f64,
    /// Most time-outs without an acknowledgement of new data in between (whole run).
    pub timeouts_in_row: u64,
}

/// Measures of a CBR flow. All but `throughput_bps` count packets that were made in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CbrMeasures {
    /// Packets made.
    pub sent: u64,
    /// Different packets delivered.
    pub received: u64,
    /// Packets delivered a second time.
    pub duplicates: u64,
    /// `received` over `sent`; none if nothing was sent.
    pub delivery_fraction: Option<f64>,
    /// Time from source application to destination application: mean, s.
    pub latency_mean_s: Option<f64>,
    /// Its median, s.
    pub latency_p50_s: Option<f64>,
    /// Its 95th percentile, s.
    pub latency_p95_s: Option<f64>,
    /// Its 99th percentile, s.
    pub latency_p99_s: Option<f64>,
    /// Payload delivered in the window, per second of the window, bit/s.
    pub throughput_bps: f64,
    /// Mean number of links that delivered packets crossed.
    pub hops_mean: Option<f64>,
}

/// Measures over all flows and all nodes. Those of a kind of flow have no value where there is none of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Totals {
    /// Sum of the TCP flows' throughput, bit/s.
    pub tcp_throughput_bps: Option<f64>,
    /// Delivered new payload over transmitted payload, all TCP flows.
    pub tcp_goodput: Option<f64>,
    /// Mean connect time of the TCP flows that connected, s.
    pub tcp_connect_time_mean_s: Option<f64>,
    /// TCP retransmissions.
    pub tcp_retransmissions: Option<u64>,
    /// TCP retransmission time-outs.
    pub tcp_timeouts: Option<u64>,
    /// CBR packets made.
    pub cbr_sent: Option<u64>,
    /// Different CBR packets delivered.
    pub cbr_received: Option<u64>,
    /// `cbr_received` over `cbr_sent`.
    pub cbr_delivery_fraction: Option<f64>,
    /// The same of packets that were made while both ends of their flow were there; left out where nobody
    /// joins, leaves or fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cbr_both_up_delivery_fraction: Option<f64>,
    /// Mean latency of the delivered CBR packets, s.
    pub cbr_latency_mean_s: Option<f64>,
    /// Median latency, s.
    pub cbr_latency_p50_s: Option<f64>,
    /// 95th percentile of the latency, s.
    pub cbr_latency_p95_s: Option<f64>,
    /// 99th percentile of the latency, s.
    pub cbr_latency_p99_s: Option<f64>,
    /// CBR payload delivered in the window, bit/s.
    pub cbr_throughput_bps: Option<f64>,
    /// Routing packets sent or sent on at the IP layer, each hop counted, per second.
    pub routing_packets_per_s: f64,
    /// Their bytes, IP headers included, per second.
    pub routing_bytes_per_s: f64,
    /// Frames on the air that carry routing packets or belong to their exchange (RTS, CTS, ACK), per second.
    pub routing_mac_frames_per_s: f64,
    /// Their bytes, MAC headers included, per second.
    pub routing_mac_bytes_per_s: f64,
    /// Frames on the air of all kinds, per second.
    pub mac_frames_per_s: f64,
    /// Their bytes, per second.
    pub mac_bytes_per_s: f64,
    /// Mean number of links that delivered data packets crossed (TCP data segments and CBR).
    pub hops_mean: Option<f64>,
    /// Share of the frames that reached a node that they were meant for, strong enough to be decoded, that
    /// collisions destroyed, over the whole run.
    pub collision_fraction: Option<f64>,
    /// Share of the frames that reached a node that they were meant for, strong enough to be decoded, in
    /// which bits were wrong, over the whole run; left out where `radio.bit_error_rate` is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bit_error_fraction: Option<f64>,
}

/// The totals of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct RunTotals {
    /// What every run has.
    #[serde(flatten)]
    pub common: Totals,
    /// The measures of the flows that send messages; left out where there are none.
    #[serde(flatten)]
    pub messages: Option<MessageTotals>,
    /// The measures of calls; left out where there are none.
    #[serde(flatten)]
    pub voice: Option<VoiceTotals>,
    /// The measures of the Web sessions; left out where there are none.
    #[serde(flatten)]
    pub web: Option<WebTotals>,
    /// The measures of the flows that are one TCP connection each; left out where there are none.
    #[serde(flatten)]
    pub connections: Option<ConnectionTotals>,
    /// What became of the routes from caches; left out where protocols know no source routes.
    #[serde(flatten)]
    pub routes: Option<CachedRouteTotals>,
    /// TSR's holds; left out of runs without TSR.
    #[serde(flatten)]
    pub holds: Option<HoldTotals>,
    /// What is measured of the progress of TCP flows; left out where that was not asked for.
    #[serde(flatten)]
    pub progress: Option<ProgressTotals>,
    /// The spurious retransmissions of TCP flows; left out where no sender looks for them.
    #[serde(flatten)]
    pub spurious: Option<SpuriousTotals>,
    /// What was acknowledged of TCP flows and has not arrived; left out where no base station splits one.
    #[serde(flatten)]
    pub split: Option<SplitTotals>,
    /// How well TCP flows guess why segments were lost; left out where none guesses.
    #[serde(flatten)]
    pub guesses: Option<GuessTotals>,
    /// What of the flows with a deadline comes in time; left out where none has one.
    #[serde(flatten)]
    pub timeliness: Option<TimelinessTotals>,
    /// What nodes announced of their flows; left out where they announce nothing.
    #[serde(flatten)]
    pub shares: Option<ShareTotals>,
    /// What flows had of the reservations that they asked for; left out where nodes reserve nothing.
    #[serde(flatten)]
    pub reservations: Option<ReservationTotals>,
    /// What nodes spent of their batteries; left out where that is not counted. No part of the result hash.
    #[serde(flatten)]
    pub energy: Option<EnergyTotals>,
    /// What the data cost at the MAC.
    #[serde(flatten)]
    pub costs: CostTotals,
    /// What routing cost.
    #[serde(flatten)]
    pub loads: LoadTotals,
}

impl RunTotals {
    /// Payload that all flows deliver in a window of this length, in bytes.
    pub fn delivered_bytes(&self, window_s: f64) -> f64 {
        let of_messages = self.messages.as_ref().map(|messages| messages.message_throughput_bps);
        let rates_bps = [self.common.tcp_throughput_bps, self.common.cbr_throughput_bps, of_messages];
        let of_web = self.web.as_ref().map_or(0.0, |web| web.web_delivered_bytes as f64);
        rates_bps.into_iter().flatten().sum::<f64>() * window_s / 8.0 + of_web
    }
}

impl std::ops::Deref for RunTotals {
    type Target = Totals;

    fn deref(&self) -> &Totals {
        &self.common
    }
}

/// Packets dropped for one reason, in the window.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DropCount {
    /// The layer.
    pub layer: Layer,
    /// The reason.
    pub reason: DropReason,
    /// `tcp` (data segments), `ack`, `cbr`, `routing`, `arp`, `udp` (other datagrams), `adp`, `adp-ack`,
    /// `rtcp`, `psp`, `psp-ack` or `qos-report`.
    pub packets: &'static str,
    /// How many.
    pub count: u64,
}

/// Packets of flows that were lost for one reason over the whole run: no copy arrived, and none was left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LossCount {
    /// The layer; none where no copy was dropped.
    pub layer: Option<Layer>,
    /// Why the last copy was dropped; none where no copy was, as of a broadcast that nobody heard.
    pub reason: Option<DropReason>,
    /// The kind of packets, as in [`DropCount`].
    pub packets: Option<&'static str>,
    /// How many packets.
    pub count: u64,
}

/// Everything that a run returns. A function of version, scenario and seed only.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunResult {
    /// Each flow, in the scenario's order.
    pub flows: Vec<FlowResult>,
    /// All together.
    pub totals: RunTotals,
    /// Where packets died, most frequent first.
    pub drops: Vec<DropCount>,
    /// Which of the drops were losses: each lost packet of a flow once, most frequent first.
    pub losses: Vec<LossCount>,
    /// How long the datagrams of each flow took that has a deadline; nothing of others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<DelayHistogram>,
    /// The books of the whole run.
    pub audit: AuditReport,
    /// Events that the kernel carried out.
    pub events: u64,
    /// Arrivals of frames at receivers.
    pub arrivals: u64,
    /// Hash over all measures, which the two counters of work and the views `losses` and `delays` are not: 32
    /// hexadecimal digits, see [`Measures`].
    pub result_hash: String,
}
