//! When a station may transmit: deferral and backoff, IEEE 802.11-1999 clauses 9.2.4 and 9.2.5.

use super::{Backoff, Dcf, State};
use crate::kernel::Time;
use crate::mac::{Access, MacAction, Timing};

impl Dcf {
    /// Begins to contend for the medium with the current frame.
    pub(super) fn contend(&mut self, now: Time, timing: &Timing, out: &mut Vec<MacAction>) {
        let idle_at = self.idle_at();
        if idle_at > now {
            self.start_backoff(now, timing);
            return;
        }
        match timing.params().access {
            Access::Standard if now >= idle_at + timing.difs => {
                self.transmit_current(now, false, timing, out);
            }
            Access::Standard => {
                self.backoff =
                    Some(Backoff { slots: 0, idle_from: idle_at, undrawn: true, committed: false });
            }
            Access::AlwaysBackoff => self.start_backoff(now, timing),
            Access::DeferRandom | Access::Defer => self.start_deferral(now, timing),
        }
    }

    /// ns-2's wait without a backoff, which does not freeze.
    pub(super) fn start_deferral(&mut self, now: Time, timing: &Timing) {
        let random = timing.params().access == Access::DeferRandom;
        let slots = if random { self.draw_slots(timing) } else { 0 };
        self.defer = now + timing.difs + timing.slot * u64::from(slots);
    }

    fn draw_slots(&mut self, timing: &Timing) -> u32 {
        self.stream.below(self.cw + u32::from(timing.params().backoff_includes_cw))
    }

    /// §9.2.5.2: draws a backoff; it counts from when the medium is idle, not before now.
    pub(super) fn start_backoff(&mut self, now: Time, timing: &Timing) {
        let slots = self.draw_slots(timing);
        let idle_from = self.idle_at().max(now);
        self.backoff = Some(Backoff { slots, idle_from, undrawn: false, committed: false });
    }

    /// A frame begins to arrive: does the backoff end before carrier sense can report it? Then the station
    /// transmits, as all stations do whose backoffs end in the same slot (§9.2.10).
    pub(super) fn commits(&mut self, now: Time, timing: &Timing) -> bool {
        let Some(mut backoff) = self.backoff else { return false };
        backoff.idle_from = self.goes_on(&backoff);
        backoff.committed |= backoff.expiry(timing) < now + timing.cca;
        self.backoff = Some(backoff);
        backoff.committed
    }

    /// From when the backoff goes on: `idle_from`, or later if the station has overheard frames since.
    pub(super) fn goes_on(&self, backoff: &Backoff) -> Time {
        if backoff.committed { backoff.idle_from } else { backoff.idle_from.max(self.idle_at()) }
    }

    /// Tells the medium how long the backoff does not mind arrivals: until it goes on, no slots are counted.
    pub(super) fn mark_patience(&mut self) {
        self.medium.patient_until = match &self.backoff {
            None => Time::NEVER,
            Some(backoff) if backoff.committed || backoff.idle_from == Time::NEVER => Time::ZERO,
            Some(backoff) => backoff.idle_from,
        };
    }

    /// The medium gets busy now: slots that have passed are counted.
    pub(super) fn suspend_backoff(&mut self, now: Time, timing: &Timing) {
        let Some(mut backoff) = self.backoff else { return };
        let idle_from = self.goes_on(&backoff);
        if backoff.idle_from == Time::NEVER {
            return;
        }
        let counts_from = idle_from + timing.difs;
        if backoff.undrawn {
            // §9.2.5.1: the medium got busy before DIFS was over.
            backoff.slots = self.draw_slots(timing);
            backoff.undrawn = false;
        } else if now > counts_from {
            let counted = (now.0 - counts_from.0) / timing.slot.0;
            backoff.slots -= counted.min(u64::from(backoff.slots)) as u32;
        }
        // The forecast that follows sets when it goes on.
        self.backoff = Some(Backoff { idle_from: Time::NEVER, committed: false, ..backoff });
    }

    /// Sets from when a suspended backoff goes on, as far as can be known now.
    pub(super) fn forecast_backoff(&mut self, now: Time) {
        let idle_at = self.idle_at();
        if let Some(backoff) = &mut self.backoff
            && !backoff.committed
            && (backoff.idle_from == Time::NEVER || backoff.idle_from < idle_at)
        {
            backoff.idle_from = if idle_at == Time::NEVER { idle_at } else { idle_at.max(now) };
        }
    }

    /// From when the medium is idle and the station is in no exchange.
    pub(super) fn idle_at(&self) -> Time {
        if self.state == State::Idle { self.medium.idle_at() } else { Time::NEVER }
    }

    pub(super) fn is_idle(&self, now: Time) -> bool {
        self.state == State::Idle && self.medium.is_idle(now)
    }

    /// §9.2.4: the contention window grows as 2·cw + 1 up to its maximum.
    pub(super) fn grow_cw(&mut self, timing: &Timing) {
        self.cw = (2 * self.cw + 1).min(timing.params().cw_max);
    }
}
