//! A scenario: everything that a run depends on, checked and complete.

use serde::{Deserialize, Serialize};

use crate::kernel::{MAX_TIME_S, Span, Time};
use crate::mac::{AccessProtocol, Protection, RateControl};
use crate::mobility::{Trajectory, heights_differ};
use crate::params::OutOfRange;
use crate::radio::{
    Capture, EnergySpec, Errors, NodeRadio, PathLossKind, Propagation, Surroundings, WallSpec,
};

use crate::stage::InsigniaMode;
use crate::transport::tcp::{FreezeForesight, LossPredictor, RouteFailureScheme, SpuriousDetection};

mod flow;
mod line;
mod links;
mod parts;
mod paths;
mod rates;
mod splits;
mod surroundings;
mod throttling;
mod wired;

pub use crate::sections::{Params, RoutingKind, RoutingMaker};
pub use flow::{Carrier, Flow, FlowKind, KindInfo, MAX_DATAGRAM_BYTES, MAX_WINDOW};
pub(crate) use line::Line;
pub use links::{GREY, LINK_FRAME_BYTES, Links, RadioLink, grey_share};
pub use rates::LinkRate;
pub(crate) use throttling::timed;
pub use wired::WiredLink;

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
    /// Nodes and links whose unicast data frames have a rate of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<LinkRate>,
    /// Nodes with a radio of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<NodeRadio>,
    /// Walls and buildings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<WallSpec>,
    /// What radios take from their batteries, if that is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySpec>,
    /// Links that are not the radio's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wired: Vec<WiredLink>,
    /// Where the nodes start and go; one trajectory a node.
    #[serde(skip)]
    pub movement: Vec<Trajectory>,
}

/// What an unusable value is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// A node that a flow names.
    Node,
    /// The two ends of a flow, which must differ.
    Ends,
    /// When a flow begins or ends.
    Times,
    /// The number of nodes.
    Nodes,
    /// The heights of nodes.
    Heights,
    /// Anything else.
    Value,
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
        /// What kind of value it is.
        about: About,
        /// The field, with its index where it stands in a list.
        field: String,
        /// The value found.
        found: String,
        /// What would be right.
        wanted: String,
    },
}

/// The shortest interval at which a node on hold may repeat its probes, in s.
const LEAST_PROBE_INTERVAL_S: f64 = 0.01;

/// Most nodes of a run.
pub const MAX_NODES: usize = 100_000;

impl Scenario {
    /// Checks everything that can be wrong with a scenario.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.params.check()?;
        self.check_radio()?;
        self.check_surroundings()?;
        self.check_mac()?;
        self.check_access_protocol()?;
        self.check_queue()?;
        self.check_tcp()?;
        self.check_probing()?;
        self.check_insignia()?;
        let wrong = |field: &str, found: String, wanted: String| {
            let about = if field == "nodes" { About::Nodes } else { About::Value };
            Err(ScenarioError::Unusable { about, field: field.to_owned(), found, wanted })
        };
        if !(self.duration_s > 0.0 && self.duration_s <= MAX_TIME_S) {
            return wrong(
                "duration_s",
                self.duration_s.to_string(),
                format!("above 0, up to {MAX_TIME_S} s"),
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
        self.check_heights()?;
        self.check_rates()?;
        self.check_wired()?;
        let nodes = self.movement.len();
        self.flows.iter().enumerate().try_for_each(|(index, flow)| {
            let unusable = |(about, field, found, wanted)| {
                let field = format!("flows[{index}].{field}");
                ScenarioError::Unusable { about, field, found, wanted }
            };
            flow.check(nodes, self.duration_s).map_err(unusable)
        })
    }

    /// Checks that the caller brings a protocol along if and only if the scenario's is
    /// [`RoutingKind::Custom`].
    ///
    /// # Errors
    /// It does not.
    pub fn check_own_protocol(&self, is_brought: bool) -> Result<(), ScenarioError> {
        if is_brought == (self.routing == RoutingKind::Custom) {
            return Ok(());
        }
        let wanted = "a protocol that the caller brings along for `custom`, and for nothing else".to_owned();
        let found = format!("{:?}", self.routing).to_lowercase();
        Err(ScenarioError::Unusable { about: About::Value, field: "routing".to_owned(), found, wanted })
    }

    /// Values of the radio that fit their ranges and not each other.
    fn check_radio(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: String, wanted: String| {
            Err(ScenarioError::Unusable { about: About::Value, field: field.to_owned(), found, wanted })
        };
        let radio = &self.params.radio;
        if radio.path_loss == PathLossKind::ThreeSlopes {
            for (field, from_m, least_m) in [
                ("radio.slope_2_from_m", radio.slope_2_from_m, radio.reference_distance_m),
                ("radio.slope_3_from_m", radio.slope_3_from_m, radio.slope_2_from_m),
            ] {
                if from_m < least_m {
                    return wrong(
                        field,
                        from_m.to_string(),
                        format!("at least {least_m} m, where the slope before begins"),
                    );
                }
            }
        }
        if radio.capture == Capture::AsNoise && radio.errors != Errors::ByRate {
            let wanted = "another rule, or radio.errors = \"by-rate\" with it: others count in those errors";
            return wrong("radio.capture", "as-noise".to_owned(), wanted.to_owned());
        }
        Ok(())
    }

    /// Values of the MAC that fit their ranges and not each other.
    fn check_mac(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, found: f64, wanted: String| {
            let (about, field) = (About::Value, field.to_owned());
            Err(ScenarioError::Unusable { about, field, found: found.to_string(), wanted })
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
        if mac.fec_parity_bytes >= mac.fec_block_bytes {
            let wanted = format!("less than mac.fec_block_bytes, {}", mac.fec_block_bytes);
            return wrong("mac.fec_parity_bytes", mac.fec_parity_bytes.into(), wanted);
        }
        if mac.fec_parity_bytes > 0 && self.params.radio.errors == Errors::ByRate {
            let wanted =
                "0 with radio.errors = \"by-rate\": only errors of radio.bit_error_rate are corrected";
            return wrong("mac.fec_parity_bytes", mac.fec_parity_bytes.into(), wanted.to_owned());
        }
        // Walls only take away.
        let open_field = Surroundings { walls: &[], ..self.surroundings() };
        let range_m = self.params.radio.farthest_link_m(&open_field);
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

    /// Rates are learnt from ACKs, and what protects frames of OFDM belongs to the DCF.
    fn check_access_protocol(&self) -> Result<(), ScenarioError> {
        let mac = &self.params.mac;
        let (field, found, wanted) = if mac.access_protocol == AccessProtocol::Dcf {
            return Ok(());
        } else if mac.rate_control != RateControl::Fixed {
            let found = format!("{:?}", mac.rate_control).to_lowercase();
            (
                "mac.rate_control",
                found,
                "\"fixed\" with mac.access_protocol = \"csma\" or \"fama\", which have no ACKs",
            )
        } else if mac.protection != Protection::None {
            let found = if mac.protection == Protection::RtsCts { "rts-cts" } else { "cts-to-self" };
            ("mac.protection", found.to_owned(), "\"none\" with mac.access_protocol = \"csma\" or \"fama\"")
        } else {
            return Ok(());
        };
        let (about, field, wanted) = (About::Value, field.to_owned(), wanted.to_owned());
        Err(ScenarioError::Unusable { about, field, found, wanted })
    }

    /// Two-ray ground is for antennas at one height over a flat field.
    fn check_heights(&self) -> Result<(), ScenarioError> {
        let is_two_ray = self.params.radio.path_loss == PathLossKind::TwoRay;
        if !is_two_ray || !heights_differ(self.movement.iter().map(|node| &node.heights[..])) {
            return Ok(());
        }
        Err(ScenarioError::Unusable {
            about: About::Heights,
            field: "radio.path_loss".to_owned(),
            found: "two-ray ground, which is for antennas at one height, and nodes at heights that differ"
                .to_owned(),
            wanted: "radio.path_loss = \"friis\" or another that takes heights, or movement.flat = true, \
                     which leaves them out"
                .to_owned(),
        })
    }

    /// Probes are repeated at an interval that does not fill the network with them, or not at all.
    fn check_probing(&self) -> Result<(), ScenarioError> {
        let interval_s = self.params.tsr.probe_interval_s;
        if interval_s == 0.0 || interval_s >= LEAST_PROBE_INTERVAL_S {
            return Ok(());
        }
        Err(ScenarioError::Unusable {
            about: About::Value,
            field: "tsr.probe_interval_s".to_owned(),
            found: interval_s.to_string(),
            wanted: format!("0 for probes that are not repeated, or at least {LEAST_PROBE_INTERVAL_S} s"),
        })
    }

    /// One thing alone stands between routing and the link layer, and reservations are of the radio.
    fn check_insignia(&self) -> Result<(), ScenarioError> {
        let wanted = if self.params.insignia.mode == InsigniaMode::Off {
            return Ok(());
        } else if !self.wired.is_empty() {
            "off, as there are wired links: nodes reserve what their radios can send"
        } else if self.params.tcp.route_failure == RouteFailureScheme::TcpBus {
            "off with tcp.route_failure = \"tcp-bus\", whose nodes keep packets at the same place"
        } else {
            return Ok(());
        };
        Err(ScenarioError::Unusable {
            about: About::Value,
            field: "insignia.mode".to_owned(),
            found: "on".to_owned(),
            wanted: wanted.to_owned(),
        })
    }

    /// Eifel looks at time stamps, coherence at marks, and D-SACK and SMART are forms of SACK.
    fn check_tcp(&self) -> Result<(), ScenarioError> {
        let tcp = &self.params.tcp;
        let predictor = tcp.loss_predictor;
        let coheres = match predictor {
            LossPredictor::CoherenceReceiver => Some("coherence-receiver"),
            LossPredictor::CoherenceSender => Some("coherence-sender"),
            _ => None,
        };
        let (field, found, wanted) = if tcp.spurious == SpuriousDetection::Eifel && !tcp.timestamps {
            ("tcp.spurious", "eifel", "tcp.timestamps = true with it, or \"f-rto\", which needs none")
        } else if tcp.dsack && !tcp.sack {
            ("tcp.dsack", "true", "tcp.sack = true with it")
        } else if tcp.smart && !tcp.sack {
            ("tcp.smart", "true", "tcp.sack = true with it, as --tcp smart has it")
        } else if let Some(name) = coheres.filter(|_| !tcp.ecn) {
            ("tcp.loss_predictor", name, "tcp.ecn = true with it, as it looks at marks")
        } else if predictor == LossPredictor::CoherenceReceiver && tcp.dupack_delay_s == 0.0 {
            (
                "tcp.dupack_delay_s",
                "0",
                "above 0 with coherence-receiver, whose guesses are duplicate ACKs that wait",
            )
        } else if tcp.route_failure == RouteFailureScheme::Freeze
            && tcp.freeze_foresight == FreezeForesight::Oracle
            && !self.wired.is_empty()
        {
            (
                "tcp.route_failure",
                "freeze-tcp",
                "tcp.freeze_foresight = \"power\" with wired links, of which the oracle knows nothing",
            )
        } else {
            return Ok(());
        };
        let (found, wanted) = (found.to_owned(), wanted.to_owned());
        Err(ScenarioError::Unusable { about: About::Value, field: field.to_owned(), found, wanted })
    }

    /// Thresholds of RED and of neighbourhood RED fit each other.
    fn check_queue(&self) -> Result<(), ScenarioError> {
        let queue = &self.params.queue;
        for (name, min, max, unit) in [
            ("red", queue.red_min_threshold, queue.red_max_threshold, " packets"),
            ("nred", queue.nred_min_threshold, queue.nred_max_threshold, ""),
        ] {
            if max <= min {
                return Err(ScenarioError::Unusable {
                    about: About::Value,
                    field: format!("queue.{name}_max_threshold"),
                    found: max.to_string(),
                    wanted: format!("above queue.{name}_min_threshold, {min}{unit}"),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Durations;

    pub(super) fn scenario() -> Scenario {
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
                late_after_s: None,
                deadline_ms: None,
                throttle_bps: None,
                alone_bps: None,
                oracle_bps: None,
                reserve_bps: None,
                reserve_min_bps: None,
                kind: FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: None },
            }],
            rates: Vec::new(),
            radios: Vec::new(),
            walls: Vec::new(),
            energy: None,
            wired: Vec::new(),
            movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
        }
    }

    pub(super) fn complaint(change: impl FnOnce(&mut Scenario)) -> String {
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
        assert!(
            complaint(|s| s.params.tsr.probe_interval_s = 1e-5)
                .starts_with("tsr.probe_interval_s: found 0.00001")
        );
        assert!(complaint(|s| s.flows[0].start_s = 10.0).starts_with("flows[0].start_s"));
        assert!(complaint(|s| s.params.mac.slot_us = -1.0).starts_with("mac.slot_us"));
        assert!(complaint(|s| s.params.mac.cw_min = 2000).starts_with("mac.cw_min"));
        assert!(
            complaint(|s| s.params.queue.red_min_threshold = 15.0).starts_with("queue.red_max_threshold")
        );
        assert!(
            complaint(|s| s.params.queue.nred_min_threshold = 0.96)
                .starts_with("queue.nred_max_threshold: found 0.96, wanted above")
        );
        let beside_bus = |s: &mut Scenario| {
            s.params.insignia.mode = InsigniaMode::On;
            s.params.tcp.route_failure = RouteFailureScheme::TcpBus;
        };
        assert!(complaint(beside_bus).starts_with("insignia.mode: found on, wanted off with tcp.route"));
        let reserve =
            |max, min| complaint(|s| (s.flows[0].reserve_bps, s.flows[0].reserve_min_bps) = (max, min));
        assert!(reserve(Some(10.0), None).starts_with("flows[0].reserve_bps: found 10 bit/s, wanted from"));
        assert!(reserve(Some(1e4), Some(2e4)).starts_with("flows[0].reserve_min_bps: found 20000 bit/s"));
        assert!(reserve(None, Some(2e4)).ends_with("wanted reserve_bps with it"));
        assert!(complaint(|s| s.params.tcp.dsack = true).starts_with("tcp.dsack: found true"));
        assert!(complaint(|s| s.params.tcp.smart = true).starts_with("tcp.smart: found true"));
        let eifel = |s: &mut Scenario| s.params.tcp.spurious = SpuriousDetection::Eifel;
        assert!(complaint(eifel).starts_with("tcp.spurious: found eifel, wanted tcp.timestamps"));
        let coheres = |s: &mut Scenario| s.params.tcp.loss_predictor = LossPredictor::CoherenceSender;
        assert!(complaint(coheres).starts_with("tcp.loss_predictor: found coherence-sender, wanted tcp.ecn"));
        let waits_for_nothing = |s: &mut Scenario| {
            assert!(s.params.tcp.apply_sender("coherence-receiver"));
            s.params.tcp.dupack_delay_s = 0.0;
        };
        assert!(complaint(waits_for_nothing).starts_with("tcp.dupack_delay_s: found 0, wanted above 0"));
        assert!(complaint(|s| s.params.mac.cca_time_us = 21.0).starts_with("mac.cca_time_us"));
        let without_acks = |s: &mut Scenario| {
            (s.params.mac.access_protocol, s.params.mac.rate_control) =
                (AccessProtocol::Csma, RateControl::Aarf);
        };
        assert!(complaint(without_acks).starts_with("mac.rate_control: found aarf, wanted \"fixed\" with"));
        let protected = |s: &mut Scenario| {
            (s.params.mac.access_protocol, s.params.mac.protection) =
                (AccessProtocol::Fama, Protection::CtsToSelf);
        };
        assert!(complaint(protected).starts_with("mac.protection: found cts-to-self, wanted \"none\" with"));
        let all_parity = |s: &mut Scenario| {
            (s.params.mac.fec_block_bytes, s.params.mac.fec_parity_bytes) = (32, 32);
        };
        assert!(complaint(all_parity).starts_with("mac.fec_parity_bytes: found 32, wanted less than"));
        let by_rate = |s: &mut Scenario| {
            (s.params.mac.fec_parity_bytes, s.params.radio.errors) = (32, Errors::ByRate);
        };
        assert!(complaint(by_rate).starts_with("mac.fec_parity_bytes: found 32, wanted 0 with radio.errors"));
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
    fn only_datagrams_can_be_late() {
        let late = |kind: FlowKind, age_s| {
            complaint(|s| (s.flows[0].kind, s.flows[0].late_after_s) = (kind.clone(), Some(age_s)))
        };
        let tcp = FlowKind::Tcp { bytes: None, window: None, segment_bytes: None };
        for kind in [tcp, FlowKind::Video { transport: Carrier::Tcp }] {
            let said = late(kind, 5.0);
            assert!(said.starts_with("flows[0].late_after_s: found 5 s, wanted none"), "{said}");
        }
        let video = FlowKind::Video { transport: Carrier::RtpAdp };
        let said = late(video.clone(), 0.0);
        assert!(said.starts_with("flows[0].late_after_s: found 0 s, wanted from"), "{said}");
        let mut usable = scenario();
        (usable.flows[0].kind, usable.flows[0].late_after_s) = (video, Some(5.0));
        assert_eq!(usable.check(), Ok(()));
    }

    #[test]
    fn only_datagrams_have_a_deadline_and_their_own_comes_before_that_of_all() {
        let tcp = FlowKind::Tcp { bytes: None, window: None, segment_bytes: None };
        let video = FlowKind::Video { transport: Carrier::Udp };
        let with = |kind: FlowKind, ms| {
            complaint(|s| (s.flows[0].kind, s.flows[0].deadline_ms) = (kind.clone(), Some(ms)))
        };
        let said = with(tcp.clone(), 150.0);
        assert!(said.starts_with("flows[0].deadline_ms: found 150 ms, wanted none"), "{said}");
        let said = with(video.clone(), 0.0);
        assert!(said.starts_with("flows[0].deadline_ms: found 0 ms, wanted from"), "{said}");
        let mut usable = scenario();
        usable.flows[0].kind = video;
        let deadline = |s: &Scenario| s.flows[0].deadline_s(&s.params.network);
        assert_eq!(deadline(&usable), None);
        usable.params.network.deadline_ms = 500.0;
        assert_eq!(deadline(&usable), Some(0.5));
        usable.flows[0].deadline_ms = Some(250.0);
        assert_eq!((deadline(&usable), usable.check()), (Some(0.25), Ok(())));
        (usable.flows[0].kind, usable.flows[0].deadline_ms) = (tcp, None);
        assert_eq!(deadline(&usable), None);
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
