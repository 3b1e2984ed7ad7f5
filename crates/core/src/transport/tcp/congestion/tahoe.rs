//! Tahoe (Jacobson 1988): opens as Reno does, and starts slowly again after every loss.

use super::{Ack, CongestionControl, Load, Window, reno::Reno};

pub(super) struct Tahoe;

impl CongestionControl for Tahoe {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        Reno.on_ack(window, ack);
    }

    fn on_loss(&mut self, window: &mut Window, load: Load) {
        window.collapse(load, false);
    }

    // Nothing was lost, so there is nothing to start from again.
    fn on_mark(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
    }

    fn has_fast_recovery(&self) -> bool {
        false
    }
}
