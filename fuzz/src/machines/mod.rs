//! Any order of calls to a state machine, decoded from bytes.
//!
//! Each function of this module takes bytes, makes one machine with parameters drawn from within their
//! ranges, and calls it as a network may: frames and packets with any header, timers, link failures, notices,
//! time that goes on by nanoseconds or by seconds. It panics if the machine breaks its contract:
//!
//! - it asks to be woken in the past, or again and again at one instant;
//! - an early timeout does something;
//! - a packet comes out twice, or disappears;
//! - an action cannot be: a packet to itself, a frame while another is on the air, a window that is no number.
//!
//! The targets of libFuzzer call these functions, and `crates/core/tests/machines.rs` does so in `make test`
//! with bytes at random and with the seeds.

mod flow;
mod input;
mod link;
mod mac;
mod messages;
mod params;
mod routing;
mod stage;
mod transport;

pub use flow::flow;
pub use link::{arp, queue};
pub use mac::mac;
pub use routing::routing;
pub use stage::stage;
pub use transport::{adp, rtp, tcp};

/// A state machine's target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 9] = [
    ("adp", adp),
    ("arp", arp),
    ("flow", flow),
    ("mac", mac),
    ("queue", queue),
    ("routing", routing),
    ("rtp", rtp),
    ("stage", stage),
    ("tcp", tcp),
];
