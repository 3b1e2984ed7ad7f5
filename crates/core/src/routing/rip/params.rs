//! The parameters of RIP.

use crate::kernel::{Span, Stream};
use crate::params::{choices, params};

choices! {
    /// What a neighbour is told of routes that go over itself.
    pub enum SplitHorizon {
        /// The same as others: it may take them, and count to infinity.
        None = "none",
        /// Nothing.
        Simple = "simple",
        /// That they cannot be used.
        PoisonedReverse = "poisoned-reverse",
    }
}

params! {
    /// The parameters of RIP.
    pub struct RipParams in "rip" {
        /// Time between regular updates.
        update_interval_s: f64 = 30.0, "s", "RFC 2453 §3.8", [0.05, 1e4];
        /// Each interval is shorter or longer by a random time up to this.
        update_spread_s: f64 = 5.0, "s", "RFC 2453 §3.8", [0.0, 1e4];
        /// How long a route is believed after the last update that named it.
        timeout_s: f64 = 180.0, "s", "RFC 2453 §3.8", [0.1, 1e5];
        /// How long a lost route is told as such before it is deleted.
        garbage_s: f64 = 120.0, "s", "RFC 2453 §3.8", [0.0, 1e5];
        /// Minimum time between a triggered update and the next one, drawn for each.
        triggered_min_s: f64 = 1.0, "s", "RFC 2453 §3.10.1", [0.0, 1e4];
        /// The maximum of it.
        triggered_max_s: f64 = 5.0, "s", "RFC 2453 §3.10.1", [0.0, 1e4];
        /// Does a change of a route trigger an update? Off: it waits for the next regular one.
        triggered_updates: bool = true, "", "RFC 2453 §3.4.4";
        /// What an update says to a neighbour about the routes over that neighbour.
        split_horizon: SplitHorizon = SplitHorizon::PoisonedReverse, "", "RFC 2453 §3.4.3";
        /// Ask all neighbours for their tables at the start.
        asks_at_start: bool = true, "", "RFC 2453 §3.9.1";
        /// Take another way of the same metric when half of the timeout has passed.
        switches_to_equal: bool = false, "", "RFC 2453 §3.9.2 (optional)";
        /// A frame that the MAC cannot deliver ends all routes over that neighbour; off: only the packet is
        /// dropped.
        link_feedback: bool = false, "", "this model";
        /// Every message waits a time uniform below this, so that neighbours do not collide.
        broadcast_jitter_ms: f64 = 10.0, "ms", "this model", [0.0, 1e4];
    }
}

impl RipParams {
    /// The names of the parameter sets that [`RipParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["rfc2453", "quick"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<RipParams> {
        match name {
            "rfc2453" => Some(RipParams::default()),
            "quick" => Some(RipParams::quick()),
            _ => None,
        }
    }

    /// For nodes that move: all times a tenth of the RFC's, and feedback from the MAC. A choice of this
    /// model.
    pub fn quick() -> RipParams {
        RipParams {
            update_interval_s: 3.0,
            update_spread_s: 0.5,
            timeout_s: 18.0,
            garbage_s: 12.0,
            triggered_min_s: 0.1,
            triggered_max_s: 0.5,
            link_feedback: true,
            ..RipParams::default()
        }
    }

    pub(super) fn until_update(&self, stream: &mut Stream) -> Span {
        let seconds = self.update_interval_s + self.update_spread_s * stream.uniform(-1.0, 1.0);
        // Also where the spread is longer than the interval time goes on.
        Span::from_secs(seconds.max(0.01))
    }

    /// How long triggered updates wait after one.
    pub(super) fn hold(&self, stream: &mut Stream) -> Span {
        let longest = self.triggered_max_s.max(self.triggered_min_s);
        Span::from_secs(stream.uniform(self.triggered_min_s, longest))
    }

    pub(super) fn timeout(&self) -> Span {
        Span::from_secs(self.timeout_s)
    }

    pub(super) fn garbage(&self) -> Span {
        Span::from_secs(self.garbage_s)
    }

    pub(super) fn jitter(&self, stream: &mut Stream) -> Span {
        stream.span_below(Span::from_secs(self.broadcast_jitter_ms * 1e-3))
    }
}
