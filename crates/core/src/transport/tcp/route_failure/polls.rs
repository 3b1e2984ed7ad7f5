//! A sender that is told when the other end is out of reach and when it is back, as the one at a base station
//! of M-TCP is (Brown and Singh, *M-TCP: TCP for mobile cellular networks*, Computer Communication Review
//! 27(5), 1997). Nobody chooses it by name.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP | told that the other end is out of reach → frozen |
//! | frozen | a probe every `m_tcp_poll_s` | told that it is back → working |
//!
//! An ACK alone ends nothing: the base station hears it first, and tells. Then all that is outstanding is
//! sent again, with window, timeout and timer as they were.

use super::{Resend, RouteFailure, Step, View};
use crate::kernel::Span;

pub(in crate::transport::tcp) struct Polls {
    interval: Span,
}

impl Polls {
    pub(in crate::transport::tcp) fn new(interval: Span) -> Polls {
        Polls { interval }
    }
}

impl RouteFailure for Polls {
    fn handle_route_failed(&mut self, _: &mut View<'_>) -> Step {
        Step::Freeze { wake: self.interval }
    }

    fn handle_route_found(&mut self, view: &mut View<'_>) -> Step {
        view.frozen
            .map_or(Step::Nothing, |frozen| Step::Resume { timer: frozen.remaining, resend: Resend::Window })
    }

    fn handle_wake(&mut self, _: &mut View<'_>) -> Step {
        Step::Probe { wake: self.interval }
    }
}
