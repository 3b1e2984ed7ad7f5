//! ELFN, explicit link failure notification (Holland and Vaidya, *Analysis of TCP performance over mobile ad
//! hoc networks*, MobiCom 1999): a sender that hears of a failure freezes and probes until an ACK comes.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP | route failure → frozen |
//! | frozen | a probe every `elfn_probe_interval_s` | any ACK → working |
//!
//! *Implemented:* the freeze, the probe at a constant interval, window and timeout restored or begun anew.
//!
//! *Not implemented*, *deviations:* 17 and 18 in docs/models/tcp.md.

use super::{RouteFailure, Step, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::AckSigns;

pub(super) struct Elfn {
    probe_interval: Span,
    restores_window: bool,
    restores_rto: bool,
}

impl Elfn {
    pub(super) fn new(params: &TcpParams) -> Elfn {
        Elfn {
            probe_interval: Span::from_secs(params.elfn_probe_interval_s),
            restores_window: params.elfn_restore_window,
            restores_rto: params.elfn_restore_rto,
        }
    }
}

impl RouteFailure for Elfn {
    fn heeds_notices(&self) -> bool {
        true
    }

    fn handle_route_failed(&mut self, _: &mut View<'_>) -> Step {
        Step::Freeze { wake: self.probe_interval }
    }

    fn handle_wake(&mut self, _: &mut View<'_>) -> Step {
        Step::Probe { wake: self.probe_interval }
    }

    fn handle_ack(&mut self, _: &AckSigns, view: &mut View<'_>) -> Step {
        if view.frozen.is_none() {
            return Step::Nothing;
        }
        if !self.restores_window {
            view.window.cwnd = 1.0;
        }
        if self.restores_rto {
            return view.thaw();
        }
        view.rto.restart();
        Step::Thaw { timer: view.rto.value() }
    }
}
