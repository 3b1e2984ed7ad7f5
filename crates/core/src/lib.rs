//! manetlab's simulator: a run is a pure function of (version, scenario, seed).
//!
//! No I/O, no clock, no thread, no global. [`simulation::run`] takes a [`Scenario`](scenario::Scenario) and
//! returns a [`Result`] with the [`Outcome`](observe::Outcome), or the [`RunError`](observe::RunError) that
//! ended the run.
//!
//! Two nodes, 200 m apart, and four packets a second from one to the other for ten seconds:
//!
//! ```
//! use manetlab_core::mobility::Trajectory;
//! use manetlab_core::simulation;
//! use manetlab_core::profile::profile;
//! use manetlab_core::scenario::{Flow, FlowKind, RoutingKind, Scenario};
//!
//! let scenario = Scenario {
//!     duration_s: 10.0,
//!     warmup_s: 0.0,
//!     seed: 1,
//!     replication: 0,
//!     routing: RoutingKind::Aodv,
//!     params: profile("rfc").unwrap(),
//!     flows: vec![Flow {
//!         src: 0,
//!         dst: 1,
//!         start_s: 1.0,
//!         stop_s: Some(9.0),
//!         late_after_s: None,
//!         deadline_ms: None,
//!         throttle_bps: None,
//!         alone_bps: None,
//!         oracle_bps: None,
//!         reserve_bps: None,
//!         reserve_min_bps: None,
//!         kind: FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: None },
//!     }],
//!     rates: Vec::new(),
//!     radios: Vec::new(),
//!     walls: Vec::new(),
//!     energy: None,
//!     wired: Vec::new(),
//!     movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(200.0, 0.0)],
//! };
//! let outcome = simulation::run(&scenario, false)?;
//! assert_eq!(outcome.result.totals.common.cbr_delivery_fraction, Some(1.0));
//! # Ok::<(), manetlab_core::observe::RunError>(())
//! ```
//!
//! # A tour
//!
//! Modules are layers: each uses those above it in this list and its own row, and none below.
//!
//! - [`kernel`]: integer time, the event queue, random streams. [`wire`]: the types of headers and messages.
//!   [`params`] and [`drops`]: how a parameter is declared, why packets end.
//! - [`mobility`] and [`radio`]: where nodes are, whom a transmission reaches and at what power.
//!   [`topology`]: what the movement alone determines.
//! - [`mac`], [`ifq`], [`arp`], [`ip`]: 802.11 DCF, the interface queue, address resolution, IP and UDP.
//! - [`routing`], [`transport`], [`traffic`]: the protocols, each a state machine without I/O; each module's
//!   head has its contract.
//! - [`stage`]: what may stand around routing.
//! - [`sections`], [`scenario`], [`profile`]: all parameters in one table, the input of a run, named sets of
//!   values.
//! - [`observe`]: measures, the packet audit, the recording.
//! - [`flow`]: source, transport and accounts of a flow, as one state machine. `channel`: frames on the air,
//!   and the MACs that hear them.
//! - `station`: what makes the parts of a node, also again after a crash.
//! - `network`: the only module that knows all layers. It hands each layer's actions to the next.
//! - [`simulation`]: runs of a scenario, to their end or driven from outside.
//!
//! To read on, follow a packet: *One packet's journey* in ARCHITECTURE.md.

pub mod arp;
mod channel;
pub mod drops;
pub mod flow;
pub mod ifq;
pub mod ip;
pub mod kernel;
pub mod mac;
pub mod mobility;
mod network;
pub mod observe;
pub mod params;
pub mod profile;
pub mod radio;
pub mod routing;
pub mod scenario;
pub mod sections;
pub mod simulation;
pub mod stage;
mod station;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod wire;
