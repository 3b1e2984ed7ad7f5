//! A run's clock: the time, the end, and what is due in between.

use super::{EventQueue, Slot, Time};

/// See the module's head. Whoever moves `now` on keeps to the order of the event queue.
pub struct Clock {
    /// The time.
    pub now: Time,
    /// When the run ends: what is due then no longer happens.
    pub end: Time,
    /// When somebody wants to look at what there is, or the end: nothing moves past it but from the agenda.
    pause: Time,
    /// How often a pause alone left to the agenda what would have been moved on to.
    halts: u64,
    /// What is due.
    pub agenda: EventQueue,
}

impl Clock {
    /// At time zero, with nothing due before `end`.
    pub fn new(end: Time) -> Clock {
        Clock { now: Time::ZERO, end, pause: end, halts: 0, agenda: EventQueue::new() }
    }

    /// Is nothing due up to this time, which is before the end and the next pause?
    #[inline]
    pub fn is_free_until(&mut self, time: Time) -> bool {
        time < self.agenda.peek_time().min(self.pause)
    }

    /// Moves on to `time` if the clock is free until then; otherwise sets the deadline of `slot` and returns
    /// false.
    #[inline]
    pub fn move_on_to(&mut self, time: Time, slot: Slot) -> bool {
        debug_assert!(time >= self.now, "time would run backwards");
        let is_free = self.is_free_until(time);
        if is_free {
            self.now = time;
        } else {
            self.halts += u64::from(time < self.agenda.peek_time().min(self.end));
            self.agenda.set(slot, time);
        }
        is_free
    }

    /// How many deadlines there were only because somebody wanted to look at what there is.
    pub fn halts(&self) -> u64 {
        self.halts
    }

    /// When somebody next wants to look at what there is; the end if nobody does before.
    #[inline]
    pub fn pause(&self) -> Time {
        self.pause
    }

    /// Somebody wants to look at `time`, and nobody before.
    pub fn set_pause(&mut self, time: Time) {
        self.pause = time.min(self.end);
    }

    /// The run ends at `time`, or when it would have ended if that is earlier.
    pub fn end_by(&mut self, time: Time) {
        self.end = self.end.min(time);
        self.pause = self.pause.min(self.end);
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

    #[test]
    fn only_what_a_pause_alone_holds_up_is_a_halt() {
        let mut clock = Clock::new(Time(10));
        let (slot, other) = (clock.agenda.add_slot(), clock.agenda.add_slot());
        clock.set_pause(Time(4));
        assert!(clock.move_on_to(Time(3), slot));
        assert_eq!((clock.now, clock.halts()), (Time(3), 0));
        assert!(!clock.move_on_to(Time(4), slot));
        assert_eq!((clock.now, clock.halts(), clock.agenda.pop()), (Time(3), 1, Some((Time(4), slot))));
        clock.agenda.set(other, Time(5));
        assert!(!clock.move_on_to(Time(6), slot) && !clock.move_on_to(Time(12), slot));
        assert_eq!(clock.halts(), 1);
    }

    #[test]
    fn nothing_moves_past_a_pause_or_an_end_that_comes_earlier() {
        let mut clock = Clock::new(Time(10));
        clock.set_pause(Time(7));
        assert!(clock.is_free_until(Time(6)) && !clock.is_free_until(Time(7)));
        clock.set_pause(Time(20));
        assert_eq!(clock.pause(), Time(10));
        clock.end_by(Time(3));
        assert!(clock.is_free_until(Time(2)) && !clock.is_free_until(Time(3)));
        clock.end_by(Time(9));
        assert_eq!(clock.end, Time(3));
    }
}
