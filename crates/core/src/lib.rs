//! manetlab's simulator: a run is a pure function of (version, scenario, seed).
//!
//! No I/O, no clock, no thread, no global. [`run`](network::run) takes a [`Scenario`](scenario::Scenario) and
//! returns a [`RunResult`](observe::RunResult).

pub mod drops;
pub mod kernel;
pub mod mobility;
pub mod packet;
pub mod params;
pub mod routing;
pub mod transport;
