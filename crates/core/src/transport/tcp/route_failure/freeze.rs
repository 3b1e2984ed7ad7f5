//! Freeze-TCP (Goff, Moronski, Phatak and Gupta, *Freeze-TCP: a true end-to-end TCP enhancement mechanism for
//! mobile environments*, INFOCOM 2000): the receiver foresees a break and closes its window, which freezes
//! the sender.
//!
//! | state | meanwhile | left by |
//! |---|---|---|
//! | working | TCP | an ACK with a closed window → frozen |
//! | frozen | a probe at the RTO, at intervals that double | an ACK with an open window → working |
//!
//! *Implemented:* all timers stand still and the window stays, also while data is outstanding; the receiver
//! opens its window with three copies of its last ACK (`receiver.rs`), and foresees breaks as an oracle or
//! by the power of what it hears (`foresight.rs`).
//!
//! *Not implemented*, *deviations:* 18, 43 and 44 in docs/models/tcp.md.

use super::{RouteFailure, Step, View};
use crate::kernel::Span;
use crate::transport::tcp::TcpParams;
use crate::wire::tcp::AckSigns;

pub(super) struct Freeze {
    /// Is the sender also frozen while data is outstanding? Otherwise its retransmission timer runs on.
    freezes_timers: bool,
    probe_interval: Span,
    probe_interval_max: Span,
}

impl Freeze {
    pub(super) fn new(params: &TcpParams) -> Freeze {
        Freeze {
            freezes_timers: params.freeze_timers,
            probe_interval: Span::ZERO,
            probe_interval_max: Span::from_secs(params.persist_max_s),
        }
    }
}

impl RouteFailure for Freeze {
    fn handle_ack(&mut self, signs: &AckSigns, view: &mut View<'_>) -> Step {
        match (signs.window, view.frozen) {
            (0, None) if self.freezes_timers => {
                self.probe_interval = view.rto.value().min(self.probe_interval_max);
                Step::Freeze { wake: self.probe_interval }
            }
            (0, _) => Step::Nothing,
            _ => view.thaw(),
        }
    }

    fn handle_wake(&mut self, _: &mut View<'_>) -> Step {
        self.probe_interval = Span(self.probe_interval.0.saturating_mul(2)).min(self.probe_interval_max);
        Step::Probe { wake: self.probe_interval }
    }
}
