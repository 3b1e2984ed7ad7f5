//! Adaptive Auto Rate Fallback, for one link: ARF that probes less and less often while probes fail.
//!
//! Read first: M. Lacage, M. H. Manshaei and T. Turletti, "IEEE 802.11 rate adaptation: a practical
//! approach", MSWiM 2004.
//! *Implemented*: a failed probe doubles the number of ACKs that raise the rate, up to a limit; a fallback
//! after consecutive missing ACKs sets it back.
//! *Not implemented*: nothing of it.
//! *Deviations*: the timer grows by the same ratio. If it did not, it would go on to raise the rate at short
//! intervals, and the number of ACKs would decide nothing.

use super::arf::{Arf, Fallback};
use crate::kernel::{Span, Time};
use crate::mac::MacParams;

/// See the module's head.
#[derive(Debug)]
pub(super) struct Aarf {
    arf: Arf,
    /// What a fallback after consecutive missing ACKs sets back to.
    first_up_after: u32,
    first_timer: Span,
    factor: u32,
    max_up_after: u32,
}

impl Aarf {
    pub(super) fn new(step: usize, steps: usize, params: &MacParams) -> Aarf {
        let arf = Arf::new(step, steps, params);
        Aarf {
            first_up_after: arf.up_after,
            first_timer: arf.timer,
            factor: params.aarf_factor,
            max_up_after: params.aarf_max_up_after.max(arf.up_after),
            arf,
        }
    }

    /// The step of the frame that is about to be sent.
    pub(super) fn step(&mut self, now: Time) -> usize {
        self.arf.step(now)
    }

    pub(super) fn handle_ack(&mut self) {
        self.arf.handle_ack();
    }

    pub(super) fn handle_missing_ack(&mut self, now: Time) {
        let up_after = match self.arf.handle_missing_ack(now) {
            Fallback::None => return,
            Fallback::FromProbe => self.arf.up_after.saturating_mul(self.factor).min(self.max_up_after),
            Fallback::AfterFailures => self.first_up_after,
        };
        self.arf.up_after = up_after;
        self.arf.timer =
            Span(self.first_timer.0.saturating_mul(up_after.into()) / u64::from(self.first_up_after));
        self.arf.start_timer(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// How many ACKs raise the rate from the lowest step; the probe that follows fails.
    fn acks_to_a_failed_probe(aarf: &mut Aarf) -> u32 {
        let acks = (1..1000).find(|_| {
            aarf.handle_ack();
            aarf.step(ms(0)) == 1
        });
        aarf.handle_missing_ack(ms(0));
        assert_eq!(aarf.step(ms(0)), 0);
        acks.expect("ACKs raise the rate")
    }

    #[test]
    fn each_failed_probe_doubles_the_acks_that_the_next_takes_up_to_fifty() {
        let mut aarf = Aarf::new(0, 4, &MacParams::default());
        let taken: Vec<u32> = (0..5).map(|_| acks_to_a_failed_probe(&mut aarf)).collect();
        assert_eq!(taken, [10, 20, 40, 50, 50]);
    }

    #[test]
    fn two_missing_acks_in_a_row_set_it_back() {
        let mut aarf = Aarf::new(0, 4, &MacParams::default());
        acks_to_a_failed_probe(&mut aarf);
        acks_to_a_failed_probe(&mut aarf);
        aarf.handle_missing_ack(ms(0));
        aarf.handle_missing_ack(ms(0));
        assert_eq!(acks_to_a_failed_probe(&mut aarf), 10);
    }

    #[test]
    fn the_timer_grows_with_the_number_of_acks() {
        let mut aarf = Aarf::new(0, 4, &MacParams::default());
        acks_to_a_failed_probe(&mut aarf);
        acks_to_a_failed_probe(&mut aarf);
        // 50 ms for 10 ACKs, so 200 ms for 40.
        assert_eq!(aarf.step(ms(199)), 0);
        assert_eq!(aarf.step(ms(200)), 1);
    }
}
