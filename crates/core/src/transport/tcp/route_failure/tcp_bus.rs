//! TCP-BuS at the source (Kim, Toh and Choi, *TCP-BuS: improving TCP performance in wireless ad hoc
//! networks*, ICC 2000): silent from the notification of the break (ERDN) to that of the new way (ERSN),
//! while nodes on the way keep what is outstanding. Their part is the stage `stage/tcp_bus.rs`.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP | ERDN, route failure → silent |
//! | silent | a probe every `route_guard_s` | ERSN, route found, an ACK after a probe → working |
//!
//! *Implemented:* the silence; after an ERSN the selective request, which is that what lies below the last
//! segment kept and was kept nowhere is sent again without closing the window; twice the timeout for what was
//! kept.
//!
//! *Not implemented*, *deviations:* 17, 18 and 21 to 27 in docs/models/tcp.md.

use super::{Resend, RouteFailure, Step, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::{AckSigns, Segment, SegmentRanges};

pub(super) struct TcpBus {
    guard: Span,
}

impl TcpBus {
    pub(super) fn new(params: &TcpParams) -> TcpBus {
        TcpBus { guard: Span::from_secs(params.route_guard_s) }
    }
}

/// What waits along the path takes longer than what is sent now.
fn timer(view: &View<'_>) -> Span {
    view.rto.value() * 2
}

/// Selective retransmission request: what was sent before the last segment that was kept, and is not kept
/// itself, had passed the break or was lost at it. Segments after that may be on their way to where the
/// others waited.
fn missing(kept: &[(u32, u32)], view: &View<'_>) -> SegmentRanges {
    let mut missing = SegmentRanges::new();
    let end = kept.last().map_or(view.una, |&(_, to)| to.min(view.next));
    let mut from = view.una;
    for &(first, past) in kept {
        if from < first.min(end) {
            missing.push((from, first.min(end)));
        }
        from = from.max(past);
    }
    missing
}

impl RouteFailure for TcpBus {
    fn heeds_notices(&self) -> bool {
        true
    }

    fn handle_route_failed(&mut self, _: &mut View<'_>) -> Step {
        Step::Freeze { wake: self.guard }
    }

    /// Sending again is left to the nodes that kept the segments, and to the timer.
    fn handle_route_found(&mut self, view: &mut View<'_>) -> Step {
        Step::Resume { timer: timer(view), resend: Resend::Nothing }
    }

    fn handle_notification(&mut self, segment: &Segment, view: &mut View<'_>) -> Step {
        match (segment, view.frozen) {
            (Segment::Erdn { .. }, None) => self.handle_route_failed(view),
            (Segment::Ersn { kept, .. }, Some(frozen)) => {
                let was_long = view.now.since(frozen.since) >= view.rto.value();
                let again = if was_long { missing(kept, view) } else { SegmentRanges::new() };
                Step::Resume { timer: timer(view), resend: Resend::Segments(again) }
            }
            _ => Step::Nothing,
        }
    }

    fn handle_wake(&mut self, _: &mut View<'_>) -> Step {
        Step::Probe { wake: self.guard }
    }

    /// An ACK tells nothing of the way, unless it may be the answer to a probe.
    fn handle_ack(&mut self, _: &AckSigns, view: &mut View<'_>) -> Step {
        match view.frozen {
            Some(frozen) if frozen.has_probed => Step::Thaw { timer: timer(view) },
            _ => Step::Nothing,
        }
    }
}
