//! manetlab's simulator: a run is a pure function of (version, scenario, seed).
//!
//! No I/O, no clock, no thread, no global. [`run`](network::run) takes a [`Scenario`](scenario::Scenario) and
//! returns a [`RunResult`](observe::RunResult).

pub mod arp;
pub mod drops;
pub mod flow;
pub mod ifq;
pub mod ip;
pub mod kernel;
pub mod mac;
pub mod mobility;
pub mod network;
pub mod observe;
pub mod params;
pub mod profile;
pub mod radio;
pub mod routing;
pub mod scenario;
pub mod sections;
pub mod stage;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod wire;
