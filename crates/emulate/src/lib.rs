//! The simulator's channel for programs that people run: routing daemons, `ping`, `iperf3`.
//!
//! Every node is a network namespace with one TAP device. What a program there sends goes, byte by byte,
//! through interface queue, MAC and radio of the core, and comes out of the TAP devices of those who receive
//! it. The core has no clock; this crate has: it asks the run when something is due, waits for that or for a
//! frame from a TAP, and tells the run what came and when.
//!
//! - [`station`]: a node's end of the run, the routing protocol that is outside.
//! - [`driver`]: the loop, and [`lateness`], how far it lags behind the clock.
//! - [`namespace`]: namespaces and TAP devices, with [`netlink`]; [`programs`]: what runs in them.
//!
//! Read [`driver`] first.

#![cfg(target_os = "linux")]

pub mod driver;
pub mod lateness;
pub mod namespace;
mod netlink;
pub mod programs;
pub mod station;
