//! The heuristic of Bansal and Barua (2003): two timeouts without any ACK between mean that the route has
//! failed.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP | timeout → silent |
//! | silent | the moderated timer runs | any ACK → working; timeout → frozen |
//! | frozen | a probe at the moderated timeout | any ACK → working |
//!
//! *Implemented:* the freeze at the second timeout; the timeout moderated into [α, β] (`moderated_rto_min_s`,
//! `moderated_rto_max_s`).
//!
//! *Not implemented:* nothing known.
//!
//! *Deviations:* 18, 32 and 33 in docs/models/tcp.md.

use super::{Loss, LossSign, RouteFailure, Step, Verdict, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::AckSigns;

pub(super) struct BansalBarua {
    /// α.
    min: Span,
    /// β.
    max: Span,
    /// Has no ACK arrived since the last timeout?
    is_silent: bool,
}

impl BansalBarua {
    pub(super) fn new(params: &TcpParams) -> BansalBarua {
        BansalBarua {
            min: Span::from_secs(params.moderated_rto_min_s),
            max: Span::from_secs(params.moderated_rto_max_s),
            is_silent: false,
        }
    }

    fn moderated(&self, rto: Span) -> Span {
        rto.min(self.max).max(self.min)
    }
}

impl RouteFailure for BansalBarua {
    fn handle_wake(&mut self, view: &mut View<'_>) -> Step {
        Step::Probe { wake: self.moderated(view.rto.value()) }
    }

    fn handle_ack(&mut self, _: &AckSigns, view: &mut View<'_>) -> Step {
        self.is_silent = false;
        view.thaw()
    }

    fn judge_loss(&mut self, loss: Loss, view: &mut View<'_>) -> Verdict {
        if loss.sign == LossSign::DuplicateAcks {
            return Verdict::Congestion;
        }
        if self.is_silent {
            return Verdict::RouteFailure { wake: self.moderated(view.rto.value()) };
        }
        self.is_silent = true;
        Verdict::Congestion
    }

    fn timer_after_timeout(&self, rto: Span) -> Span {
        self.moderated(rto)
    }
}
