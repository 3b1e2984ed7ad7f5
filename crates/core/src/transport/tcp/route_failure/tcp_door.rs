//! TCP-DOOR, detection of out-of-order and response (Wang and Zhang, *Improving TCP performance over mobile
//! ad-hoc networks with out-of-order detection and response*, MobiHoc 2002): segments or ACKs out of order
//! mean a route change, so recent reductions were no congestion, and there will be none for a while.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP; each reduction is remembered | something out of order → steady |
//! | steady | a loss closes nothing and backs nothing off | T1 (`door_steady_s`) over → working |
//!
//! *Implemented:* detection at both ends, T1, and instant recovery: a reduction made within T2
//! (`door_recovery_s`) is undone.
//!
//! *Not implemented*, *deviations:* 30 and 31 in docs/models/tcp.md.

use super::{Loss, RouteFailure, Step, Verdict, View};
use crate::kernel::{Span, Time};
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::AckSigns;

/// Window and threshold before a reduction.
struct Reduction {
    at: Time,
    cwnd: f64,
    ssthresh: f64,
}

pub(super) struct TcpDoor {
    /// T1.
    steady: Span,
    /// T2.
    recovery: Span,
    steady_until: Time,
    last_reduction: Option<Reduction>,
    /// The greatest number of an ACK so far.
    latest_ack: u32,
}

impl TcpDoor {
    pub(super) fn new(params: &TcpParams) -> TcpDoor {
        TcpDoor {
            steady: Span::from_secs(params.door_steady_s),
            recovery: Span::from_secs(params.door_recovery_s),
            steady_until: Time::ZERO,
            last_reduction: None,
            latest_ack: 0,
        }
    }
}

impl RouteFailure for TcpDoor {
    fn handle_ack(&mut self, signs: &AckSigns, view: &mut View<'_>) -> Step {
        let count = signs.order.count();
        let overtaken = count < self.latest_ack;
        self.latest_ack = self.latest_ack.max(count);
        if !overtaken && !signs.order.is_out_of_order() {
            return Step::Nothing;
        }
        self.steady_until = view.now + self.steady;
        if let Some(before) = self.last_reduction.take()
            && view.now.since(before.at) <= self.recovery
        {
            (view.window.cwnd, view.window.ssthresh) = (before.cwnd, before.ssthresh);
            view.rto.end_back_off();
        }
        Step::Nothing
    }

    fn judge_loss(&mut self, loss: Loss, view: &mut View<'_>) -> Verdict {
        if view.now < self.steady_until {
            return Verdict::Accident;
        }
        // Timeouts in a row are one reduction: what counts is the state before the first.
        if self.last_reduction.is_none() || !loss.again {
            let (cwnd, ssthresh) = (view.window.cwnd, view.window.ssthresh);
            self.last_reduction = Some(Reduction { at: view.now, cwnd, ssthresh });
        }
        Verdict::Congestion
    }
}
