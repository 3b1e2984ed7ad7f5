//! Explicit loss notification (Balakrishnan and others, *A comparison of mechanisms for improving TCP
//! performance over wireless links*, IEEE/ACM Transactions on Networking 5(6), 1997, §III.A): an ACK says
//! that the segment that it waits for was lost on the radio.
//!
//! *Implemented:* what duplicate ACKs with the sign say was lost is repaired as any loss is, and the window
//! stays as it is; so does what RFC 6582 §3.2, step 2, remembers lest a window is halved twice, and several
//! losses of one window are repaired one after the other. A timeout means congestion. The base station that
//! gives the sign is
//! `stage/base_station.rs`.
//!
//! *Not implemented*, *deviations:* in docs/models/wired-links.md.

use super::{Loss, LossSign, RouteFailure, Step, Verdict, View};
use crate::wire::tcp::AckSigns;

/// A sender that heeds the sign.
#[derive(Default)]
pub(super) struct Eln {
    /// Did the last ACK have it?
    is_told: bool,
}

impl RouteFailure for Eln {
    fn handle_ack(&mut self, signs: &AckSigns, _view: &mut View<'_>) -> Step {
        self.is_told = signs.eln;
        Step::Nothing
    }

    fn spares_losses(&self) -> bool {
        self.is_told
    }

    fn judge_loss(&mut self, loss: Loss, _view: &mut View<'_>) -> Verdict {
        if loss.sign == LossSign::DuplicateAcks && self.is_told {
            Verdict::Spared
        } else {
            Verdict::Congestion
        }
    }
}
