//! TCP-F, TCP-Feedback (Chandran, Raghunathan, Venkatesan and Prakash, *A feedback based scheme for improving
//! TCP performance in ad-hoc wireless networks*, ICDCS 1998): a sender that is told of a failure snoozes
//! until it is told of a route.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | established | TCP | route failure notification → snooze |
//! | snooze | nothing | route re-establishment notification, or the guard timer → established |
//!
//! An ACK from before the failure ends no snooze.
//!
//! *Implemented:* the snooze with window, timeout and timer frozen; the guard timer (`route_guard_s`); the
//! window sent again at the end.
//!
//! *Not implemented*, *deviations:* 17, 19 and 20 in docs/models/tcp.md.

use super::{Resend, RouteFailure, Step, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;

pub(super) struct TcpF {
    guard: Span,
}

impl TcpF {
    pub(super) fn new(params: &TcpParams) -> TcpF {
        TcpF { guard: Span::from_secs(params.route_guard_s) }
    }
}

impl RouteFailure for TcpF {
    fn heeds_notices(&self) -> bool {
        true
    }

    fn handle_route_failed(&mut self, _: &mut View<'_>) -> Step {
        Step::Freeze { wake: self.guard }
    }

    fn handle_route_found(&mut self, view: &mut View<'_>) -> Step {
        view.frozen
            .map_or(Step::Nothing, |frozen| Step::Resume { timer: frozen.remaining, resend: Resend::Window })
    }

    fn handle_wake(&mut self, view: &mut View<'_>) -> Step {
        self.handle_route_found(view)
    }
}
