//! One flow of a scenario: what its source sends to whom, from when on.
//!
//! `flow_kinds!` is the one home of what each kind of flow may be given: name, type, default, unit, range and
//! meaning of every field. The declaration gives serialisation, the range check, and the schema by which
//! Python checks what a user wrote.

use serde::{Deserialize, Serialize};

use super::{About, MAX_NODES};
use crate::ip::NetworkParams;
use crate::kernel::MAX_TIME_S;
use crate::params::{OutOfRange, ParamInfo, ParamValue, choices, field_info, outside, range_of};
use crate::traffic::{Codec, Durations, WebCycle};
use crate::transport::tcp::TcpParams;
use crate::wire::insignia::RATES_KBPS;

/// Most payload of a UDP datagram, in bytes (RFC 791 §3.1, RFC 768).
pub const MAX_DATAGRAM_BYTES: u32 = 65_507;
/// Largest receiver window, in segments.
pub const MAX_WINDOW: u32 = 65_536;
/// Both as bounds of ranges.
const DATAGRAM_BOUND: f64 = MAX_DATAGRAM_BYTES as f64;
const WINDOW_BOUND: f64 = MAX_WINDOW as f64;
/// Longest transfer, in bytes or packets: whole numbers up to here are read from every format.
const MAX_COUNT: f64 = 9e18;
/// Highest number of a node.
const MAX_NODE: f64 = (MAX_NODES - 1) as f64;
/// Shortest and longest time between events, in s.
const INTERVALS: (f64, f64) = (1e-6, 1e6);
/// Least and greatest age at which a datagram is late, in s.
const LATE_AFTER: (f64, f64) = (1e-6, 1e6);
/// Shortest and longest deadline, in ms.
const DEADLINE_MS: (f64, f64) = (1e-3, 1e9);
/// Lowest and highest rate that can be reserved, in bit/s.
const RESERVES: (f64, f64) = (1e3 * RATES_KBPS.0 as f64, 1e3 * RATES_KBPS.1 as f64);
/// Lowest and highest rate of a throttle, in bit/s.
const RATES: (f64, f64) = (1e-3, 1e12);

choices! {
    /// What carries the messages of a source.
    pub enum Carrier {
        /// One or more datagrams for each message.
        Udp = "udp",
        /// The Adaptive Datagram Protocol.
        Adp = "adp",
        /// The packet spacing protocol.
        Psp = "psp",
        /// One write for each message.
        Tcp = "tcp",
        /// RTP over UDP.
        RtpUdp = "rtp-udp",
        /// RTP over ADP.
        RtpAdp = "rtp-adp",
    }
}

/// One flow of traffic. Its kind refuses unknown fields; serde cannot refuse them beside a flattened field.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// The source node.
    pub src: u32,
    /// The destination node.
    pub dst: u32,
    /// When the source begins, in s.
    pub start_s: f64,
    /// When the source stops making new data, in s; none: with the run.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// The age at which a datagram that arrives has come too late, in s: it counts as lost. None: that of
    /// CBR's packets is `network.cbr_late_after_s`, and nothing else is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_after_s: Option<f64>,
    /// The age up to which a datagram comes in time, in ms. None: `network.deadline_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<f64>,
    /// The rates that its source throttles its data to: from when on in s, and bit/s of payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_bps: Option<Vec<(f64, f64)>>,
    /// What it carries alone over a path of one hop, two, …, in bit/s of payload; longer paths have the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_bps: Option<Vec<f64>>,
    /// The rates that an oracle gives it, as [`Flow::throttle_bps`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle_bps: Option<Vec<(f64, f64)>>,
    /// What nodes shall reserve for its packets with `insignia.mode` on, in bit/s at the IP layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_bps: Option<f64>,
    /// What they shall reserve at least. None: `reserve_bps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_min_bps: Option<f64>,
    /// What it sends.
    #[serde(flatten)]
    pub kind: FlowKind,
}

/// What there is to know of a kind of flow.
#[derive(Clone, Debug, Serialize)]
pub struct KindInfo {
    /// Its name.
    pub kind: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its fields beside those of every flow ([`Flow::SCHEMA`]).
    pub fields: &'static [ParamInfo],
}

/// Declares the kinds of flows. A kind: `Kind = "name" { … }`, each field
/// `name: Type [= "default's function"], "unit" [, [low, high]];`, both with their meaning as the doc
/// comment.
macro_rules! flow_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal {
        $($(#[doc = $meaning:literal])+
          $field:ident : $type:ty $(= $default:literal)?, $unit:literal $(, [$low:expr, $high:expr])?;)*
    })+) => {
        /// What a flow sends.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum FlowKind {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $kind {
                $($(#[doc = $meaning])+ $(#[serde(default = $default)])? $field: $type,)*
            },)+
        }

        impl FlowKind {
            /// What there is to know of each kind.
            pub const SCHEMA: &'static [KindInfo] = &[$(KindInfo {
                kind: $name,
                meaning: concat!($($doc),+).trim_ascii(),
                fields: &[$(field_info!(
                    $field: $type $(= $default)?, $unit, concat!($($meaning),+) $(, [$low, $high])?
                ),)*],
            },)+];

            /// The first field with a value outside its range.
            fn outside(&self) -> Option<OutOfRange> {
                match self {
                    $(FlowKind::$kind { $($field),* } => None$(.or_else(|| {
                        outside(stringify!($field), $field, range_of!($($low, $high)?), $unit)
                    }))*,)+
                }
            }
        }
    };
}

flow_kinds! {
    /// A file transfer over TCP.
    Tcp = "tcp" {
        /// Bytes to transfer; endless if not given.
        bytes: Option<u64>, "byte", [1.0, MAX_COUNT];
        /// The receiver's window; `tcp.window` if not given.
        window: Option<u32>, "segment", [1.0, WINDOW_BOUND];
        /// Payload of a segment; `tcp.segment_bytes` if not given.
        segment_bytes: Option<u32>, "byte", [1.0, 65_495.0];
    }
    /// Constant bit rate over UDP.
    Cbr = "cbr" {
        /// Payload of a packet.
        bytes: u32, "byte", [1.0, DATAGRAM_BOUND];
        /// Time between packets.
        interval_s: f64, "s", [INTERVALS.0, INTERVALS.1];
        /// Is each interval varied uniformly by up to half of it either way (ns-2's `random_`)?
        random: bool = "bool::default", "";
        /// Packets until the source stops; endless if not given.
        max_packets: Option<u64>, "packet", [1.0, MAX_COUNT];
    }
    /// Packets at an even pace in bursts of random length, with silences between them.
    OnOff = "on-off" {
        /// What carries the packets.
        transport: Carrier = "udp", "";
        /// Payload of a packet.
        bytes: u32, "byte", [1.0, DATAGRAM_BOUND];
        /// Time between packets of a burst.
        interval_s: f64, "s", [INTERVALS.0, INTERVALS.1];
        /// Mean length of a burst.
        on_s: f64, "s", [INTERVALS.0, INTERVALS.1];
        /// Mean length of a silence.
        off_s: f64, "s", [0.0, MAX_TIME_S];
        /// The distribution of both lengths.
        durations: Durations = "exponential", "";
        /// The shape of a Pareto distribution; below 2 its variance is infinite, at 1 or less it has no mean.
        shape: f64 = "pareto_shape", "", [1.01, 100.0];
    }
    /// Packets at the events of a Poisson process.
    Poisson = "poisson" {
        /// What carries the packets.
        transport: Carrier = "udp", "";
        /// Payload of a packet.
        bytes: u32, "byte", [1.0, DATAGRAM_BOUND];
        /// Mean time between packets.
        interval_s: f64, "s", [INTERVALS.0, INTERVALS.1];
        /// Packets until the source stops; endless if not given.
        max_packets: Option<u64>, "packet", [1.0, MAX_COUNT];
    }
    /// Packets at the times that a list gives.
    Trace = "trace" {
        /// What carries the packets.
        transport: Carrier = "udp", "";
        /// The packets: time since the flow's start in s, never falling, and bytes of payload of each.
        packets: Vec<(f64, u32)>, "";
    }
    /// Video of variable bit rate; see the section `video`.
    Video = "video" {
        /// What carries the frames.
        transport: Carrier = "udp", "";
    }
    /// One direction of a call, in packets of 20 ms over RTP and UDP: talk spurts with silences between them.
    Voice = "voice" {
        /// What codes the speech.
        codec: Codec = "concealing", "";
        /// Mean length of a talk spurt.
        on_s: f64 = "spurt_s", "s", [INTERVALS.0, INTERVALS.1];
        /// Mean length of a silence; 0 for speech without a pause.
        off_s: f64 = "silence_s", "s", [0.0, MAX_TIME_S];
        /// How long after its arrival the first packet of a talk spurt is played; later packets are lost.
        playout_ms: f64 = "playout_ms", "ms", [0.0, 60_000.0];
        /// The number of the call; flows of the same number are its directions.
        call: Option<u32>, "", [0.0, 1e6];
    }
    /// Endless data over ADP; see the section `adp`.
    Adp = "adp" {}
    /// A Web session: the source is the client, the destination the server.
    Web = "web" {
        /// What the session consists of, turn by turn.
        cycles: Vec<WebCycle>, "";
    }
}

impl ParamValue for Vec<(f64, f64)> {
    const KIND: &'static str = "rows";
    const ITEMS: &'static [ParamInfo] = &[
        field_info!(from_s: f64, "s", "When the rate begins, since the start of the run.", [0.0, MAX_TIME_S]),
        field_info!(rate_bps: f64, "bit/s", "The rate, in payload.", [RATES.0, RATES.1]),
    ];
}

impl ParamValue for Vec<(f64, u32)> {
    const KIND: &'static str = "rows";
    const ITEMS: &'static [ParamInfo] = &[
        field_info!(time_s: f64, "s", "When the packet is made.", [0.0, MAX_TIME_S]),
        field_info!(bytes: u32, "byte", "Payload of the packet.", [1.0, DATAGRAM_BOUND]),
    ];
}

fn udp() -> Carrier {
    Carrier::Udp
}

fn exponential() -> Durations {
    Durations::Exponential
}

/// What phones do: a receiver plays something in place of a lost packet.
fn concealing() -> Codec {
    Codec::G711Plc
}

/// ITU-T P.59.
fn spurt_s() -> f64 {
    1.004
}

/// ITU-T P.59.
fn silence_s() -> f64 {
    1.587
}

/// Enough for the jitter of a few hops.
fn playout_ms() -> f64 {
    60.0
}

/// ns-2's `Traffic/Pareto`: infinite variance.
fn pareto_shape() -> f64 {
    1.5
}

/// What a value is about, its field, the value, and what would be right.
type Unusable = (About, String, String, String);

impl Flow {
    /// What there is to know of the fields of every flow. The number of nodes and the length of the run bound
    /// them.
    pub const SCHEMA: &'static [ParamInfo] = &[
        field_info!(src: u32, "", "The source node; of a Web session the client.", [0.0, MAX_NODE]),
        field_info!(dst: u32, "", "The destination node; of a Web session the server.", [0.0, MAX_NODE]),
        field_info!(start_s: f64, "s", "When the source begins.", [0.0, MAX_TIME_S]),
        field_info!(stop_s: Option<f64>, "s", "When the source stops making new data; with the run if not given."),
        field_info!(late_after_s: Option<f64>, "s", "Datagrams that are older than this when they arrive count as lost: their bytes are no throughput, and a message or frame that lacks one is not delivered. Age counts from when IP at the source gets the packet. Flows over TCP have no datagrams. If not given, that of CBR packets is `network.cbr_late_after_s`, and nothing else is late.", [LATE_AFTER.0, LATE_AFTER.1]),
        field_info!(deadline_ms: Option<f64>, "ms", "Datagrams, or messages of several, that take up to this come in time: with a deadline, the share of these is measured, and how much delays vary. It changes nothing that happens. Flows over TCP have no datagrams. If not given, it is `network.deadline_ms`.", [DEADLINE_MS.0, DEADLINE_MS.1]),
        field_info!(throttle_bps: Option<Vec<(f64, f64)>>, "", "The rates that the source throttles the flow's data to, with `throttle.mode` on."),
        field_info!(alone_bps: Option<Vec<f64>>, "bit/s", "What the flow carries alone over a path of one hop, two, …, of payload; longer paths have the last. With `throttle.mode` density; from the packaged table if not given.", [RATES.0, RATES.1]),
        field_info!(oracle_bps: Option<Vec<(f64, f64)>>, "", "The rates with which `throttle.measure_error` compares those that the source has learned; made for each flow if not given."),
        field_info!(reserve_bps: Option<f64>, "bit/s", "What nodes shall reserve for the packets that its source sends, at the IP layer, with `insignia.mode` on; in whole kb/s, rounded up.", [RESERVES.0, RESERVES.1]),
        field_info!(reserve_min_bps: Option<f64>, "bit/s", "What nodes shall reserve at least where there is less than `reserve_bps`; packets beyond this rate go without a reservation there. `reserve_bps` if not given: all or nothing.", [RESERVES.0, RESERVES.1]),
    ];

    /// Checks everything that can be wrong with a flow in a network of `nodes` for `duration_s`.
    pub(super) fn check(&self, nodes: usize, duration_s: f64) -> Result<(), Unusable> {
        for (field, node) in [("src", self.src), ("dst", self.dst)] {
            if node as usize >= nodes {
                let wanted = format!("a node from 0 to {}", nodes - 1);
                return Err((About::Node, field.to_owned(), node.to_string(), wanted));
            }
        }
        if self.src == self.dst {
            let wanted = "another node than the source".to_owned();
            return Err((About::Ends, "dst".to_owned(), self.dst.to_string(), wanted));
        }
        if !(self.start_s >= 0.0 && self.start_s < duration_s) {
            let wanted = format!("from 0 to less than the duration, {duration_s} s");
            return Err((About::Times, "start_s".to_owned(), self.start_s.to_string(), wanted));
        }
        if let Some(stop_s) = self.stop_s
            && !(stop_s.is_finite() && stop_s > self.start_s)
        {
            let wanted = format!("a time after the flow's start, {} s", self.start_s);
            return Err((About::Times, "stop_s".to_owned(), stop_s.to_string(), wanted));
        }
        let ages = [
            ("late_after_s", self.late_after_s, LATE_AFTER, "s"),
            ("deadline_ms", self.deadline_ms, DEADLINE_MS, "ms"),
        ];
        if let Some(wrong) = ages.into_iter().find_map(|age| self.unusable_age(age)) {
            return Err((About::Value, wrong.field, wrong.found, wrong.wanted));
        }
        let lists = [("throttle_bps", &self.throttle_bps), ("oracle_bps", &self.oracle_bps)];
        let rates = lists.iter().find_map(|(field, rates)| unusable_rate(field, rates.as_deref()?));
        let alone = || self.alone_bps.as_deref().and_then(unusable_alone);
        if let Some(wrong) = rates.or_else(alone) {
            return Err((About::Value, wrong.field, wrong.found, wrong.wanted));
        }
        if let Some(wrong) = self.unusable_reserve() {
            return Err((About::Value, wrong.field, wrong.found, wrong.wanted));
        }
        let wrong = self.kind.outside().or_else(|| match &self.kind {
            FlowKind::Trace { packets, .. } => unusable_packet(packets),
            FlowKind::Web { cycles } => unusable_cycle(cycles),
            _ => None,
        });
        wrong.map_or(Ok(()), |wrong| Err((About::Value, wrong.field, wrong.found, wrong.wanted)))
    }
}

impl Flow {
    /// Is its data sent in datagrams, each of which arrives for itself?
    pub fn has_datagrams(&self) -> bool {
        match self.kind {
            FlowKind::Tcp { .. } | FlowKind::Web { .. } => false,
            FlowKind::Cbr { .. } | FlowKind::Adp {} | FlowKind::Voice { .. } => true,
            FlowKind::OnOff { transport, .. }
            | FlowKind::Poisson { transport, .. }
            | FlowKind::Trace { transport, .. }
            | FlowKind::Video { transport } => transport != Carrier::Tcp,
        }
    }

    /// TCP's parameters for it, where `params` are those of the scenario.
    pub(crate) fn tcp(&self, params: TcpParams) -> TcpParams {
        let FlowKind::Tcp { window, segment_bytes, .. } = self.kind else { return params };
        TcpParams {
            window: window.unwrap_or(params.window),
            segment_bytes: segment_bytes.unwrap_or(params.segment_bytes),
            ..params
        }
    }

    /// The deadline of its datagrams, in s; none if it has none.
    pub fn deadline_s(&self, usual: &NetworkParams) -> Option<f64> {
        let deadline_ms = self.deadline_ms.unwrap_or(usual.deadline_ms);
        (deadline_ms > 0.0 && self.has_datagrams()).then_some(1e-3 * deadline_ms)
    }

    /// What nodes shall reserve for it, and what at least, in kb/s; none if it asks for nothing.
    pub(crate) fn reserve_kbps(&self) -> Option<(u16, u16)> {
        let max_bps = self.reserve_bps?;
        let kbps = |bps: f64| (1e-3 * bps).ceil() as u16;
        Some((kbps(max_bps), kbps(self.reserve_min_bps.unwrap_or(max_bps))))
    }

    /// The first rate that cannot be reserved.
    fn unusable_reserve(&self) -> Option<OutOfRange> {
        let (least, most) = RESERVES;
        let rates = [("reserve_bps", self.reserve_bps), ("reserve_min_bps", self.reserve_min_bps)];
        let outside = rates.into_iter().find_map(|(field, bps)| {
            let wrong = bps.filter(|bps| !(least..=most).contains(bps))?;
            Some((field, wrong, format!("from {least} to {most} bit/s")))
        });
        let unfit = || {
            let min_bps = self.reserve_min_bps.filter(|&min| self.reserve_bps.is_none_or(|max| min > max))?;
            let wanted = self.reserve_bps.map(|max| format!("at most reserve_bps, {max} bit/s"));
            Some(("reserve_min_bps", min_bps, wanted.unwrap_or_else(|| "reserve_bps with it".to_owned())))
        };
        let (field, found, wanted) = outside.or_else(unfit)?;
        Some(OutOfRange { field: field.to_owned(), found: format!("{found} bit/s"), wanted })
    }

    /// Whether an age of datagrams cannot be used: its field, its value, its range, and its unit.
    fn unusable_age(
        &self,
        (field, age, (least, most), unit): (&str, Option<f64>, (f64, f64), &str),
    ) -> Option<OutOfRange> {
        let age = age?;
        let wanted = if !self.has_datagrams() {
            "none for a flow over TCP, which delivers every byte".to_owned()
        } else if !(least..=most).contains(&age) {
            format!("from {least} to {most} {unit}")
        } else {
            return None;
        };
        Some(OutOfRange { field: field.to_owned(), found: format!("{age} {unit}"), wanted })
    }
}

/// The first part of a Web session that cannot be.
fn unusable_cycle(cycles: &[WebCycle]) -> Option<OutOfRange> {
    let none = |field: &str, wanted: &str| OutOfRange {
        field: field.to_owned(),
        found: "none".to_owned(),
        wanted: wanted.to_owned(),
    };
    if cycles.is_empty() {
        return Some(none("cycles", "at least one cycle"));
    }
    cycles.iter().enumerate().find_map(|(place, cycle)| {
        let has_none = || cycle.replies_bytes.is_empty().then(|| none("replies_bytes", "at least one reply"));
        let wrong = cycle.outside().or_else(has_none)?;
        Some(OutOfRange { field: format!("cycles[{place}].{}", wrong.field), ..wrong })
    })
}

/// The first throughput that a flow cannot have.
fn unusable_alone(alone_bps: &[f64]) -> Option<OutOfRange> {
    if alone_bps.is_empty() {
        let wanted = "at least one throughput".to_owned();
        return Some(OutOfRange { field: "alone_bps".to_owned(), found: "none".to_owned(), wanted });
    }
    let place = alone_bps.iter().position(|bps| !(RATES.0..=RATES.1).contains(bps))?;
    let wanted = format!("from {} to {} bit/s", RATES.0, RATES.1);
    Some(OutOfRange {
        field: format!("alone_bps[{place}]"),
        found: format!("{} bit/s", alone_bps[place]),
        wanted,
    })
}

/// The first rate of a field that a source cannot be throttled to.
fn unusable_rate(field: &str, rates: &[(f64, f64)]) -> Option<OutOfRange> {
    if rates.is_empty() {
        let wanted = "at least one rate".to_owned();
        return Some(OutOfRange { field: field.to_owned(), found: "none".to_owned(), wanted });
    }
    let mut latest_s = 0.0;
    rates.iter().enumerate().find_map(|(place, &(from_s, rate_bps))| {
        let (found, wanted) = if !(latest_s..=MAX_TIME_S).contains(&from_s) {
            let wanted = format!("a time not before the rate before it, up to {MAX_TIME_S} s");
            (format!("{from_s} s"), wanted)
        } else if !(RATES.0..=RATES.1).contains(&rate_bps) {
            (format!("{rate_bps} bit/s"), format!("from {} to {} bit/s", RATES.0, RATES.1))
        } else {
            latest_s = from_s;
            return None;
        };
        Some(OutOfRange { field: format!("{field}[{place}]"), found, wanted })
    })
}

/// The first packet of a list that cannot be sent.
fn unusable_packet(packets: &[(f64, u32)]) -> Option<OutOfRange> {
    let mut latest_s = 0.0;
    packets.iter().enumerate().find_map(|(place, &(time_s, bytes))| {
        let (found, wanted) = if !(latest_s..=MAX_TIME_S).contains(&time_s) {
            let wanted = format!("a time not before the packet before it, up to {MAX_TIME_S} s");
            (format!("{time_s} s"), wanted)
        } else if !(1..=MAX_DATAGRAM_BYTES).contains(&bytes) {
            (format!("{bytes} bytes"), format!("from 1 to {MAX_DATAGRAM_BYTES} bytes"))
        } else {
            latest_s = time_s;
            return None;
        };
        Some(OutOfRange { field: format!("packets[{place}]"), found, wanted })
    })
}
