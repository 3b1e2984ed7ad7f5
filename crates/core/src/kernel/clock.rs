//! A run's clock: the time, the end, and what is due in between.

use super::{EventQueue, Time};

/// See the module's head. Whoever moves `now` on keeps to the order of the event queue.
pub struct Clock {
    /// The time.
    pub now: Time,
    /// When the run ends: what is due then no longer happens.
    pub end: Time,
    /// What is due.
    pub agenda: EventQueue,
}

impl Clock {
    /// At time zero, with nothing due before `end`.
    pub fn new(end: Time) -> Clock {
        Clock { now: Time::ZERO, end, agenda: EventQueue::new() }
    }

    /// Is nothing due up to this time, which is before the end?
    #[inline]
    pub fn is_free_until(&mut self, time: Time) -> bool {
        time < self.agenda.peek_time().min(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_free_before_what_is_due_first_and_before_the_end() {
        let mut clock = Clock::new(Time(10));
        assert!(clock.is_free_until(Time(9)) && !clock.is_free_until(Time(10)));
        let slot = clock.agenda.add_slot();
        clock.agenda.set(slot, Time(5));
        assert!(clock.is_free_until(Time(4)) && !clock.is_free_until(Time(5)));
    }
}
