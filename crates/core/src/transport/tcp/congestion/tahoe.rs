//! Tahoe (Jacobson 1988): opens as Reno does, and starts slowly again after every loss.

use super::{CongestionControl, Load, Progress, Window, reno::Reno};

pub(super) struct Tahoe;

impl CongestionControl for Tahoe {
    fn handle_progress(&mut self, window: &mut Window, progress: &Progress) {
        Reno.handle_progress(window, progress);
    }

    fn handle_loss(&mut self, window: &mut Window, load: Load) {
        window.collapse(load, false);
    }

    // Nothing was lost, so there is nothing to start from again.
    fn handle_mark(&mut self, window: &mut Window, load: Load) {
        window.halve(load);
    }
}
