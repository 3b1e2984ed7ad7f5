//! Auto Rate Fallback: the rate control of WaveLAN-II, for one link.
//!
//! Read first: A. Kamerman and L. Monteban, "WaveLAN-II: a high-performance wireless LAN for the unlicensed
//! band", Bell Labs Technical Journal 2(3), 1997.
//! *Implemented*: down after consecutive missing ACKs; up after consecutive ACKs or when the timer expires;
//! down at once if the first frame after going up is not acknowledged.
//! *Not implemented*: nothing of it.
//! *Deviations*: the length of the timer, which the paper does not give, is a parameter (`mac.arf_timer_ms`).
//! A missing CTS is no missing ACK: RTS has its own rate.

use crate::kernel::{Span, Time};
use crate::mac::MacParams;

/// Why the rate was lowered, if it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fallback {
    /// It was not, or there is none lower.
    None,
    /// The first frame after going up was not acknowledged.
    FromProbe,
    /// So many frames in a row were not.
    AfterFailures,
}

/// See the module's head. Rates are steps of the standard's ladder.
#[derive(Debug)]
pub(super) struct Arf {
    step: usize,
    /// How many there are.
    steps: usize,
    /// ACKs in a row at this rate.
    acks: u32,
    /// Missing ACKs in a row.
    failures: u32,
    /// Has the rate just been raised, so that the next frame decides whether it stays?
    probing: bool,
    /// When the rate is raised without regard to ACKs.
    raise_at: Time,
    /// So many ACKs in a row raise the rate.
    pub(super) up_after: u32,
    /// How long after a fallback the timer raises it.
    pub(super) timer: Span,
    down_after: u32,
}

impl Arf {
    pub(super) fn new(step: usize, steps: usize, params: &MacParams) -> Arf {
        Arf {
            step,
            steps,
            acks: 0,
            failures: 0,
            probing: false,
            raise_at: Time::NEVER,
            up_after: params.arf_up_after,
            timer: Span::from_micros(params.arf_timer_ms * 1e3),
            down_after: params.arf_down_after,
        }
    }

    /// The step of the frame that is about to be sent.
    pub(super) fn step(&mut self, now: Time) -> usize {
        if self.raise_at <= now {
            self.raise();
        }
        self.step
    }

    pub(super) fn handle_ack(&mut self) {
        self.failures = 0;
        self.probing = false;
        self.acks += 1;
        if self.acks >= self.up_after {
            self.raise();
        }
    }

    pub(super) fn handle_missing_ack(&mut self, now: Time) -> Fallback {
        self.acks = 0;
        self.failures += 1;
        let fallback = if self.probing {
            Fallback::FromProbe
        } else if self.failures >= self.down_after {
            Fallback::AfterFailures
        } else {
            return Fallback::None;
        };
        self.failures = 0;
        self.probing = false;
        self.step = self.step.saturating_sub(1);
        self.start_timer(now);
        fallback
    }

    pub(super) fn start_timer(&mut self, now: Time) {
        self.raise_at = now + self.timer;
    }

    /// Goes up, if there is a higher rate, and cancels the timer.
    fn raise(&mut self) {
        self.acks = 0;
        self.raise_at = Time::NEVER;
        if self.step + 1 < self.steps {
            self.step += 1;
            self.failures = 0;
            self.probing = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: usize = 3;

    fn at(step: usize) -> Arf {
        Arf::new(step, TOP + 1, &MacParams::default())
    }

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn two_missing_acks_in_a_row_lower_the_rate_and_one_does_not() {
        let mut arf = at(TOP);
        arf.handle_missing_ack(ms(1));
        arf.handle_ack();
        arf.handle_missing_ack(ms(2));
        assert_eq!(arf.step(ms(2)), TOP);
        assert_eq!(arf.handle_missing_ack(ms(3)), Fallback::AfterFailures);
        assert_eq!(arf.step(ms(3)), TOP - 1);
    }

    #[test]
    fn ten_acks_in_a_row_raise_the_rate() {
        let mut arf = at(0);
        (0..9).for_each(|_| arf.handle_ack());
        assert_eq!(arf.step(ms(1)), 0);
        arf.handle_ack();
        assert_eq!(arf.step(ms(1)), 1);
    }

    #[test]
    fn the_first_frame_after_going_up_decides() {
        let mut arf = at(0);
        (0..10).for_each(|_| arf.handle_ack());
        assert_eq!(arf.handle_missing_ack(ms(1)), Fallback::FromProbe);
        assert_eq!(arf.step(ms(1)), 0);
        (0..10).for_each(|_| arf.handle_ack());
        arf.handle_ack();
        assert_eq!(arf.handle_missing_ack(ms(2)), Fallback::None);
        assert_eq!(arf.step(ms(2)), 1);
    }

    #[test]
    fn the_timer_raises_the_rate_after_a_fallback_whatever_the_acks() {
        let mut arf = at(TOP);
        arf.handle_missing_ack(ms(0));
        arf.handle_missing_ack(ms(10));
        assert_eq!(arf.step(ms(59)), TOP - 1);
        assert_eq!(arf.step(ms(60)), TOP);
        // The frame that follows is a probe; its failure starts the timer again.
        assert_eq!(arf.handle_missing_ack(ms(61)), Fallback::FromProbe);
        assert_eq!(arf.step(ms(110)), TOP - 1);
        assert_eq!(arf.step(ms(111)), TOP);
    }

    #[test]
    fn acks_cancel_the_timer_when_they_raise_the_rate() {
        let mut arf = at(1);
        arf.handle_missing_ack(ms(0));
        arf.handle_missing_ack(ms(0));
        (0..10).for_each(|_| arf.handle_ack());
        assert_eq!(arf.step(ms(1)), 1);
        assert_eq!(arf.step(ms(100)), 1);
    }

    #[test]
    fn there_is_nothing_above_the_highest_and_below_the_lowest_rate() {
        let mut arf = at(TOP);
        (0..25).for_each(|_| arf.handle_ack());
        assert_eq!(arf.step(ms(1)), TOP);
        let mut arf = at(0);
        (0..5).for_each(|_| {
            arf.handle_missing_ack(ms(1));
        });
        assert_eq!(arf.step(ms(1)), 0);
    }
}
