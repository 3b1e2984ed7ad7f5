//! A scenario: everything that a run depends on, checked and complete.

use serde::{Deserialize, Serialize};

use crate::kernel::{Span, Time};
use crate::mobility::Trajectory;
use crate::params::{OutOfRange, choices};
use crate::radio::Propagation;
use crate::traffic::{Durations, WebCycle};

pub use crate::sections::{Params, RoutingKind, RoutingMaker};

choices! {
    /// What carries the messages of a source.
    pub enum Carrier {
        /// One or more datagrams for each message.
        Udp = "udp",
        /// The Adaptive Datagram Protocol.
        Adp = "adp",
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
    /// What it sends.
    #[serde(flatten)]
    pub kind: FlowKind,
}

/// What a flow sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FlowKind {
    /// A file transfer over TCP.
    Tcp {
        /// Bytes to transfer; none: endless.
        #[serde(default)]
        bytes: Option<u64>,
        /// Receiver window in segments; none: the scenario's `tcp.window`.
        #[serde(default)]
        window: Option<u32>,
        /// Payload of a segment in bytes; none: the scenario's `tcp.segment_bytes`.
        #[serde(default)]
        segment_bytes: Option<u32>,
    },
    /// Constant bit rate over UDP.
    Cbr {
        /// Payload of a packet, in bytes.
        bytes: u32,
        /// Time between packets, in s.
        interval_s: f64,
        /// Vary each interval uniformly by up to half of it either way (ns-2's `random_`).
        #[serde(default)]
        random: bool,
        /// Packets until the source stops; none: endless.
        #[serde(default)]
        max_packets: Option<u64>,
    },
    /// Packets at an even pace in bursts of random length, with silences between them.
    OnOff {
        /// What carries them.
        #[serde(default = "udp")]
        transport: Carrier,
        /// Payload of a packet, in bytes.
        bytes: u32,
        /// Time between packets of a burst, in s.
        interval_s: f64,
        /// Mean length of a burst, in s.
        on_s: f64,
        /// Mean length of a silence, in s.
        off_s: f64,
        /// The distribution of both lengths.
        #[serde(default = "exponential")]
        durations: Durations,
        /// The shape of a Pareto distribution.
        #[serde(default = "pareto_shape")]
        shape: f64,
    },
    /// Packets at the events of a Poisson process.
    Poisson {
        /// What carries them.
        #[serde(default = "udp")]
        transport: Carrier,
        /// Payload of a packet, in bytes.
        bytes: u32,
        /// Mean time between packets, in s.
        interval_s: f64,
        /// Packets until the source stops; none: endless.
        #[serde(default)]
        max_packets: Option<u64>,
    },
    /// Packets as a list says.
    Trace {
        /// What carries them.
        #[serde(default = "udp")]
        transport: Carrier,
        /// Time since the flow's start, in s, never falling, and bytes of payload.
        packets: Vec<(f64, u32)>,
    },
    /// Video of variable bit rate; see the section `video`.
    Video {
        /// What carries the frames.
        #[serde(default = "udp")]
        transport: Carrier,
    },
    /// Endless data over ADP; see the section `adp`.
    Adp {},
    /// A Web session: the source is the client, the destination the server.
    Web {
        /// What the session consists of.
        cycles: Vec<WebCycle>,
    },
}

fn udp() -> Carrier {
    Carrier::Udp
}

fn exponential() -> Durations {
    Durations::Exponential
}

/// ns-2's `Traffic/Pareto`: infinite variance.
fn pareto_shape() -> f64 {
    1.5
}

/// Everything that a run depends on, besides the version of the code.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The length of the run, in s.
    pub duration_s: f64,
    /// Measurement begins here, in s.
    pub warmup_s: f64,
    /// The seed of all random streams.
    pub seed: u64,
    /// The number of the replication, from 0; part of every stream's name.
    #[serde(default)]
    pub replication: u64,
    /// The routing protocol.
    pub routing: RoutingKind,
    /// All parameters.
    pub params: Params,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Where the nodes start and go; one trajectory a node.
    #[serde(skip)]
    pub movement: Vec<Trajectory>,
}

/// Why a scenario cannot be run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A parameter is outside its range.
    #[error("{0}")]
    OutOfRange(#[from] OutOfRange),
    /// Another value is unusable.
    #[error("{field}: found {found}, wanted {wanted}")]
    Unusable {
        /// The field, with its index where it stands in a list.
        field: String,
        /// The value found.
        found: String,
        /// What would be right.
        wanted: String,
    },
}

/// Longest run, in s: nanoseconds stay exact in every intermediate float.
pub const MAX_DURATION_S: f64 = 1e6;
/// Most payload of a UDP datagram, in bytes (RFC 791 §3.1, RFC 768).
pub const MAX_DATAGRAM_BYTES: u32 = 65_507;
/// Greatest receiver window, in segments.
pub const MAX_WINDOW: u32 = 65_536;
/// Most nodes of a run.
pub const MAX_NODES: usize = 100_000;

impl Scenario {
    /// Checks everything that can be wrong with a scenario.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.params.check()?;
        self.check_mac()?;
        self.check_queue()?;
        let wrong = |field: &str, found: String, wanted: String| {
            Err(ScenarioError::Unusable { field: field.to_owned(), found, wanted })
        };
        if !(self.duration_s > 0.0 && self.duration_s <= MAX_DURATION_S) {
            return wrong(
                "duration_s",
                self.duration_s.to_string(),
                format!("above 0, up to {MAX_DURATION_S} s"),
            );
        }
        // Compared as the run counts time: a window of less than a nanosecond has no rates.
        let window = Time::from_secs(self.duration_s).since(Time::from_secs(self.warmup_s));
        if !(self.warmup_s >= 0.0 && window > Span::ZERO) {
            return wrong(
                "warmup_s",
                self.warmup_s.to_string(),
                format!("from 0 to less than the duration, {} s", self.duration_s),
            );
        }
        if self.movement.is_empty() || self.movement.len() > MAX_NODES {
            return wrong("nodes", self.movement.len().to_string(), format!("from 1 to {MAX_NODES}"));
        }
        self.flows.iter().enumerate().try_for_each(|(index, flow)| self.check_flow(index, flow))
    }

    /// Values of the MAC that fit their ranges and not each other.
    fn check_mac(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: f64, wanted: String| {
            Err(ScenarioError::Unusable { field: field.to_owned(), found: found.to_string(), wanted })
        };
        let mac = &self.params.mac;
        if mac.cw_min > mac.cw_max {
            return wrong("mac.cw_min", mac.cw_min.into(), format!("at most mac.cw_max, {}", mac.cw_max));
        }
        if mac.cca_time_us > mac.slot_us {
            return wrong(
                "mac.cca_time_us",
                mac.cca_time_us,
                format!("at most mac.slot_us, {} µs", mac.slot_us),
            );
        }
        let range_m = Propagation::new(&self.params.radio).receive_range_m();
        let needed_us = Propagation::travel_ns(range_m * range_m).floor() * 1e-3;
        if mac.propagation_allowance_us < needed_us {
            let wanted = format!(
                "at least {needed_us:.3} µs: a signal takes that long to the edge of the receive range, {range_m:.0} m, \
                 and answers would come after their time-outs"
            );
            return wrong("mac.propagation_allowance_us", mac.propagation_allowance_us, wanted);
        }
        Ok(())
    }

    /// RED's thresholds fit each other.
    fn check_queue(&self) -> Result<(), ScenarioError> {
        let queue = &self.params.queue;
        if queue.red_max_threshold > queue.red_min_threshold {
            return Ok(());
        }
        Err(ScenarioError::Unusable {
            field: "queue.red_max_threshold".to_owned(),
            found: queue.red_max_threshold.to_string(),
            wanted: format!("above queue.red_min_threshold, {} packets", queue.red_min_threshold),
        })
    }

    fn check_flow(&self, index: usize, flow: &Flow) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: String, wanted: &str| {
            Err(ScenarioError::Unusable {
                field: format!("flows[{index}].{field}"),
                found,
                wanted: wanted.to_owned(),
            })
        };
        let nodes = self.movement.len();
        for (field, node) in [("src", flow.src), ("dst", flow.dst)] {
            if node as usize >= nodes {
                return wrong(field, node.to_string(), &format!("a node from 0 to {}", nodes - 1));
            }
        }
        if flow.src == flow.dst {
            return wrong("dst", flow.dst.to_string(), "another node than the source");
        }
        if !(flow.start_s >= 0.0 && flow.start_s < self.duration_s) {
            let wanted = format!("from 0 to less than the duration, {} s", self.duration_s);
            return wrong("start_s", flow.start_s.to_string(), &wanted);
        }
        if let Some(stop) = flow.stop_s
            && !(stop.is_finite() && stop > flow.start_s)
        {
            return wrong(
                "stop_s",
                stop.to_string(),
                &format!("a time after the flow's start, {} s", flow.start_s),
            );
        }
        match &flow.kind {
            FlowKind::Tcp { bytes: Some(0), .. } => wrong("bytes", "0".to_owned(), "at least 1 byte"),
            FlowKind::Tcp { window: Some(window), .. } if !(1..=MAX_WINDOW).contains(window) => {
                wrong("window", window.to_string(), "from 1 to 65536 segments")
            }
            FlowKind::Tcp { segment_bytes: Some(size), .. } if !(1..=65_495).contains(size) => {
                wrong("segment_bytes", size.to_string(), "from 1 to 65495 bytes")
            }
            FlowKind::Cbr { bytes, .. } | FlowKind::OnOff { bytes, .. } | FlowKind::Poisson { bytes, .. }
                if !(1..=MAX_DATAGRAM_BYTES).contains(bytes) =>
            {
                wrong("bytes", bytes.to_string(), "from 1 to 65507 bytes")
            }
            FlowKind::Cbr { interval_s, .. }
            | FlowKind::OnOff { interval_s, .. }
            | FlowKind::Poisson { interval_s, .. }
                if !(1e-6..=1e6).contains(interval_s) =>
            {
                wrong("interval_s", interval_s.to_string(), "from 1 µs to 1000000 s")
            }
            FlowKind::OnOff { on_s, .. } if !(1e-6..=1e6).contains(on_s) => {
                wrong("on_s", on_s.to_string(), "from 1 µs to 1000000 s")
            }
            FlowKind::OnOff { off_s, .. } if !(0.0..=1e6).contains(off_s) => {
                wrong("off_s", off_s.to_string(), "from 0 to 1000000 s")
            }
            FlowKind::OnOff { shape, .. } if !(1.01..=100.0).contains(shape) => {
                wrong("shape", shape.to_string(), "from 1.01 to 100; at 1 or less there is no mean")
            }
            FlowKind::Trace { packets, .. } => match first_unusable(packets) {
                Some((at, found, wanted)) => wrong(&format!("packets[{at}]"), found, wanted),
                None => Ok(()),
            },
            FlowKind::Web { cycles } => match first_unusable_cycle(cycles) {
                Some((at, found, wanted)) => wrong(&at, found, wanted),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// The first part of a Web session that cannot be: where it is, what it is and what was wanted.
fn first_unusable_cycle(cycles: &[WebCycle]) -> Option<(String, String, &'static str)> {
    const LENGTH: &str = "from 1 to 1000000000000 bytes";
    let is_length = |bytes: &u64| (1..=1_000_000_000_000).contains(bytes);
    let is_time = |time_s: f64| (0.0..=MAX_DURATION_S).contains(&time_s);
    if cycles.is_empty() {
        return Some(("cycles".to_owned(), "none".to_owned(), "at least one cycle"));
    }
    cycles.iter().enumerate().find_map(|(at, cycle)| {
        let wrong =
            |field: &str, found: String, wanted| Some((format!("cycles[{at}].{field}"), found, wanted));
        if let Some((field, found)) = [("think_s", cycle.think_s), ("server_delay_s", cycle.server_delay_s)]
            .into_iter()
            .find(|&(_, time_s)| !is_time(time_s))
        {
            return wrong(field, format!("{found} s"), "from 0 to 1000000 s");
        }
        if !is_length(&cycle.request_bytes) {
            return wrong("request_bytes", format!("{} bytes", cycle.request_bytes), LENGTH);
        }
        if cycle.replies_bytes.is_empty() {
            return wrong("replies_bytes", "none".to_owned(), "at least one reply");
        }
        let short = cycle.replies_bytes.iter().position(|bytes| !is_length(bytes))?;
        let found = format!("{} bytes", cycle.replies_bytes[short]);
        wrong(&format!("replies_bytes[{short}]"), found, LENGTH)
    })
}

/// The first packet of a list that cannot be sent: its place, what it is and what was wanted.
fn first_unusable(packets: &[(f64, u32)]) -> Option<(usize, String, &'static str)> {
    let mut latest_s = 0.0;
    packets.iter().enumerate().find_map(|(at, &(time_s, bytes))| {
        if !(latest_s..=MAX_DURATION_S).contains(&time_s) {
            return Some((
                at,
                format!("{time_s} s"),
                "a time not before the packet before it, up to 1000000 s",
            ));
        }
        latest_s = time_s;
        let fits = (1..=MAX_DATAGRAM_BYTES).contains(&bytes);
        (!fits).then(|| (at, format!("{bytes} bytes"), "from 1 to 65507 bytes"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        Scenario {
            duration_s: 10.0,
            warmup_s: 0.0,
            seed: 1,
            replication: 0,
            routing: RoutingKind::Aodv,
            params: Params::default(),
            flows: vec![Flow {
                src: 0,
                dst: 1,
                start_s: 1.0,
                stop_s: None,
                kind: FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: None },
            }],
            movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
        }
    }

    fn complaint(change: impl FnOnce(&mut Scenario)) -> String {
        let mut changed = scenario();
        change(&mut changed);
        changed.check().expect_err("the change makes the scenario unusable").to_string()
    }

    #[test]
    fn a_usable_scenario_passes() {
        assert_eq!(scenario().check(), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(complaint(|s| s.duration_s = f64::NAN).starts_with("duration_s: found NaN"));
        assert!(complaint(|s| s.warmup_s = 10.0).starts_with("warmup_s: found 10"));
        assert!(complaint(|s| s.movement.clear()).starts_with("nodes: found 0"));
        assert!(complaint(|s| s.flows[0].dst = 0).starts_with("flows[0].dst: found 0, wanted another node"));
        assert!(
            complaint(|s| s.flows[0].src = 9).starts_with("flows[0].src: found 9, wanted a node from 0 to 1")
        );
        assert!(complaint(|s| s.flows[0].start_s = -1.0).starts_with("flows[0].start_s"));
        assert!(complaint(|s| s.flows[0].start_s = 10.0).starts_with("flows[0].start_s"));
        assert!(complaint(|s| s.params.mac.slot_us = -1.0).starts_with("mac.slot_us"));
        assert!(complaint(|s| s.params.mac.cw_min = 2000).starts_with("mac.cw_min"));
        assert!(
            complaint(|s| s.params.queue.red_min_threshold = 15.0).starts_with("queue.red_max_threshold")
        );
        assert!(complaint(|s| s.params.mac.cca_time_us = 21.0).starts_with("mac.cca_time_us"));
        let wide = FlowKind::Tcp { bytes: None, window: Some(100_000), segment_bytes: None };
        assert!(complaint(|s| s.flows[0].kind = wide.clone()).starts_with("flows[0].window: found 100000"));
        assert!(complaint(|s| s.warmup_s = 10.0 - 1e-10).starts_with("warmup_s"));
        assert!(complaint(|s| s.flows[0].stop_s = Some(0.5)).starts_with("flows[0].stop_s: found 0.5"));
    }

    /// A kilometre takes 3.3 µs, and the default allows for 2 µs.
    #[test]
    fn a_range_that_outlasts_the_time_outs_is_refused() {
        let far = |s: &mut Scenario| s.params.radio.transmit_power_w *= 256.0;
        assert!(complaint(far).contains("at least 3.3"), "{}", complaint(far));
        let mut patient = scenario();
        far(&mut patient);
        patient.params.mac.propagation_allowance_us = 4.0;
        assert_eq!(patient.check(), Ok(()));
    }

    #[test]
    fn sources_that_cannot_send_are_refused() {
        let trace =
            |packets: &[(f64, u32)]| FlowKind::Trace { transport: Carrier::Udp, packets: packets.to_vec() };
        let with = |kind: FlowKind| complaint(|s| s.flows[0].kind = kind);
        assert!(with(trace(&[(1.0, 5), (0.5, 5)])).starts_with("flows[0].packets[1]: found 0.5 s"));
        assert!(with(trace(&[(1.0, 0)])).starts_with("flows[0].packets[0]: found 0 bytes"));
        assert!(with(trace(&[(f64::NAN, 5)])).starts_with("flows[0].packets[0]: found NaN s"));
        let on_off = |on_s, off_s, shape| FlowKind::OnOff {
            transport: Carrier::Adp,
            bytes: 100,
            interval_s: 0.1,
            on_s,
            off_s,
            durations: Durations::Pareto,
            shape,
        };
        assert!(with(on_off(0.0, 1.0, 1.5)).starts_with("flows[0].on_s"));
        assert!(with(on_off(1.0, -1.0, 1.5)).starts_with("flows[0].off_s"));
        assert!(with(on_off(1.0, 1.0, 1.0)).starts_with("flows[0].shape"));
    }

    #[test]
    fn flows_read_as_flat_tables() {
        let flow: Flow = serde_json::from_str(
            r#"{"kind": "cbr", "src": 0, "dst": 1, "start_s": 1, "bytes": 512, "interval_s": 0.25}"#,
        )
        .expect("a valid flow");
        assert_eq!(flow, scenario().flows[0]);
    }
}
