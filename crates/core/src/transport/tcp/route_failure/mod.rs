//! What a sender knows of route failures: the contract, and one file a scheme.
//!
//! A scheme hears of notices from routing, notifications from nodes on the way, ACKs, losses, and progress.
//! It answers with a [`Step`], which the sender carries out, and with a [`Verdict`] about a loss. What a
//! scheme remembers is in the scheme; what most of them share is the frozen sender, [`Frozen`].
//!
//! | scheme | a failure is known by | meanwhile | it ends with |
//! |---|---|---|---|
//! | ELFN (Holland and Vaidya 1999) | routing's notice | a probe at a constant interval | any ACK |
//! | TCP-F (Chandran and others 1998) | notice (RFN) | nothing | notice (RRN), guard timer |
//! | TCP-BuS (Kim, Toh and Choi 2000) | ERDN, notice | a probe whenever the guard timer fires | ERSN, notice, an ACK after a probe |
//! | ATCP (Liu and Singh 2001) | notice (ICMP unreachable) | probes, ever rarer | any ACK |
//! | Bansal and Barua 2003 | two timeouts without any ACK | a probe at the moderated timeout | any ACK |
//! | Freeze-TCP (Goff and others 2000) | the receiver, which closes its window | probes, ever rarer | an ACK with an open window |
//! | TCP-DOOR (Wang and Zhang 2002) | segments or ACKs out of order | no reduction for T1 | T1 |
//! | M-TCP's base station (Brown and Singh 1997) | being told | a probe at a constant interval | being told |
//! | ELN (Balakrishnan and others 1997) | not at all: a base station tells of losses | no reduction | an ACK without the sign |
//!
//! *Deviations*: 17 to 33, 43 and 44 in docs/models/tcp.md.
//!
//! A further scheme is a file here, its line in [`new`], and its name in `params.rs`.

mod atcp;
mod bansal_barua;
mod elfn;
mod eln;
mod freeze;
mod none;
mod polls;
mod tcp_bus;
mod tcp_door;
mod tcp_f;
#[cfg(test)]
mod tests;

pub(super) use polls::Polls;

use super::congestion::Window;
use super::rto::Rto;
use super::{RouteFailureScheme, TcpParams};
use crate::kernel::{Span, Time};
use crate::wire::tcp::{AckSigns, Segment, SegmentRanges};

/// The scheme that `params` ask for.
pub(super) fn new(params: &TcpParams) -> Box<dyn RouteFailure> {
    match params.route_failure {
        RouteFailureScheme::None => Box::new(none::Unaware),
        RouteFailureScheme::Elfn => Box::new(elfn::Elfn::new(params)),
        RouteFailureScheme::TcpF => Box::new(tcp_f::TcpF::new(params)),
        RouteFailureScheme::TcpBus => Box::new(tcp_bus::TcpBus::new(params)),
        RouteFailureScheme::Atcp => Box::new(atcp::Atcp::new(params)),
        RouteFailureScheme::TcpDoor => Box::new(tcp_door::TcpDoor::new(params)),
        RouteFailureScheme::BansalBarua => Box::new(bansal_barua::BansalBarua::new(params)),
        RouteFailureScheme::Eln => Box::new(eln::Eln::default()),
        RouteFailureScheme::Freeze => Box::new(freeze::Freeze::new(params)),
    }
}

/// A sender that is frozen: it sends nothing but probes, and its retransmission timer does not run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frozen {
    pub(super) since: Time,
    /// What was left of the retransmission timer.
    pub(super) remaining: Span,
    /// When the scheme is woken.
    pub(super) wake: Time,
    pub(super) has_probed: bool,
}

/// What a scheme sees of its sender, and what of it a scheme may change.
pub(super) struct View<'a> {
    pub(super) now: Time,
    pub(super) window: &'a mut Window,
    pub(super) rto: &'a mut Rto,
    /// None unless the sender is frozen.
    pub(super) frozen: Option<Frozen>,
    /// The first segment that is not acknowledged.
    pub(super) una: u32,
    /// The segment to send next.
    pub(super) next: u32,
}

impl View<'_> {
    /// A frozen sender goes on with the timer as it was.
    fn thaw(&self) -> Step {
        self.frozen.map_or(Step::Nothing, |frozen| Step::Thaw { timer: frozen.remaining })
    }
}

/// What a scheme has its sender do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Nothing.
    Nothing,
    /// Freeze, and wake the scheme after this long. Has no effect if the sender is frozen or nothing is
    /// outstanding.
    Freeze { wake: Span },
    /// Send the first segment, stay frozen, and wake the scheme again after this long.
    Probe { wake: Span },
    /// Go on as at the freeze, with the retransmission timer at `timer`. Sends nothing: for an ACK, which
    /// does.
    Thaw { timer: Span },
    /// The same, and send.
    Resume { timer: Span, resend: Resend },
}

/// What is sent again when a frozen sender resumes, before new data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Resend {
    Nothing,
    /// All that is outstanding, as far as the window allows, as if no ACK told of it.
    Window,
    /// These segments. Duplicate ACKs for what was outstanding start no fast retransmit.
    Segments(SegmentRanges),
}

/// A loss that the sender has detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Loss {
    pub(super) sign: LossSign,
    /// Has the first segment timed out before?
    pub(super) again: bool,
}

/// How a loss was detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LossSign {
    DuplicateAcks,
    Timeout,
}

/// What a loss means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Congestion: the window closes, and a timeout backs off.
    Congestion,
    /// Not congestion: the first segment is sent again, and nothing else changes.
    Accident,
    /// Not congestion: the loss is repaired as any other, and the window stays as it is.
    Spared,
    /// The route has failed: the sender freezes and probes at once; the scheme is woken after this long.
    RouteFailure { wake: Span },
}

/// One sender's scheme. The defaults are those of a sender that knows nothing of routes.
pub(super) trait RouteFailure: Send {
    /// Do routing's notices change what it does?
    fn heeds_notices(&self) -> bool {
        false
    }

    /// Routing at the source tells that the route failed. Only when something is outstanding and the sender
    /// not frozen.
    fn handle_route_failed(&mut self, _view: &mut View<'_>) -> Step {
        Step::Nothing
    }

    /// Routing at the source tells that it has a route again. Only when the sender is frozen.
    fn handle_route_found(&mut self, _view: &mut View<'_>) -> Step {
        Step::Nothing
    }

    /// A node on the way tells something.
    fn handle_notification(&mut self, _segment: &Segment, _view: &mut View<'_>) -> Step {
        Step::Nothing
    }

    /// The time set with [`Step::Freeze`] or [`Step::Probe`] is over.
    fn handle_wake(&mut self, _view: &mut View<'_>) -> Step {
        Step::Nothing
    }

    /// Any ACK, new, duplicate or old, before the sender looks at it.
    fn handle_ack(&mut self, _signs: &AckSigns, _view: &mut View<'_>) -> Step {
        Step::Nothing
    }

    /// The sender has detected a loss.
    fn judge_loss(&mut self, _loss: Loss, _view: &mut View<'_>) -> Verdict {
        Verdict::Congestion
    }

    /// Would a loss that duplicate ACKs tell of now be [`Verdict::Spared`]?
    fn spares_losses(&self) -> bool {
        false
    }

    /// How long the retransmission timer runs after a timeout that meant congestion, if the policy says
    /// `rto`.
    fn timer_after_timeout(&self, rto: Span) -> Span {
        rto
    }

    /// New data is acknowledged.
    fn handle_progress(&mut self) {}

    /// New data is sent.
    fn handle_new_data(&mut self) {}

    /// Shall the sender send nothing beside what repairs a loss?
    fn holds_back(&self) -> bool {
        false
    }

    /// The state it is in, as its file calls it.
    #[cfg(test)]
    fn state(&self) -> &'static str {
        ""
    }
}
