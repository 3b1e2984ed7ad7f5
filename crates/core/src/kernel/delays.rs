//! Things that are held back: in lines of one constant delay each, or each for a time of its own.

use std::collections::{BTreeMap, VecDeque};

use super::{Clock, EventQueue, Slot, Span, Time};

/// A constant delay: what goes in first comes out first, so one entry of the event queue is enough.
struct Line<T> {
    delay: Span,
    slot: Slot,
    waiting: VecDeque<(Time, T)>,
}

/// All that is held back.
pub struct Delays<T> {
    lines: Vec<Line<T>>,
    /// What has a delay of its own, by time; equal times in the order in which they were held.
    held: BTreeMap<(Time, u64), T>,
    held_slot: Slot,
    /// How many things had a delay of their own so far.
    count: u64,
}

impl<T> Delays<T> {
    /// No lines yet. What has a delay of its own waits for the deadline of `held_slot`.
    pub fn new(held_slot: Slot) -> Delays<T> {
        Delays { lines: Vec::new(), held: BTreeMap::new(), held_slot, count: 0 }
    }

    /// Adds a line of this delay, which waits for the deadline of `slot`; its number is that of lines before.
    pub fn add_line(&mut self, delay: Span, slot: Slot) {
        self.lines.push(Line { delay, slot, waiting: VecDeque::new() });
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Puts `what` into the line of this delay, or holds it by itself if there is none. It comes back at once
    /// if it need not wait.
    #[inline]
    pub fn put(&mut self, agenda: &mut EventQueue, now: Time, delay: Span, what: T) -> Option<T> {
        let Some(line) = self.lines.iter_mut().find(|line| line.delay == delay) else {
            return self.hold(agenda, now, delay, what);
        };
        let due = now + delay;
        if line.waiting.is_empty() {
            agenda.set(line.slot, due);
        }
        line.waiting.push_back((due, what));
        None
    }

    /// The first in a line, which is due.
    pub fn pop(&mut self, line: u32) -> Option<T> {
        self.lines[line as usize].waiting.pop_front().map(|(_, what)| what)
    }

    /// Moves on to when the next in a line is due, if the clock is free until then; otherwise the line's
    /// deadline is set.
    #[inline]
    pub fn move_on(&self, clock: &mut Clock, line: u32) -> bool {
        let line = &self.lines[line as usize];
        line.waiting.front().is_some_and(|&(due, _)| clock.move_on_to(due, line.slot))
    }

    /// Holds `what` for a time of its own. It comes back at once if that is zero.
    pub fn hold(&mut self, agenda: &mut EventQueue, now: Time, delay: Span, what: T) -> Option<T> {
        if delay == Span::ZERO {
            return Some(what);
        }
        self.held.insert((now + delay, self.count), what);
        self.count += 1;
        self.set_deadline(agenda);
        None
    }

    /// The first of what has a delay of its own, which is due.
    pub fn release(&mut self, agenda: &mut EventQueue) -> Option<T> {
        let (_, what) = self.held.pop_first()?;
        self.set_deadline(agenda);
        Some(what)
    }

    /// Takes out all of a kind, lines first, each in order of time.
    pub fn extract(&mut self, agenda: &mut EventQueue, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut taken = Vec::new();
        for line in &mut self.lines {
            for (due, what) in std::mem::take(&mut line.waiting) {
                if is_meant(&what) { taken.push(what) } else { line.waiting.push_back((due, what)) }
            }
            agenda.set(line.slot, line.waiting.front().map_or(Time::NEVER, |&(due, _)| due));
        }
        for (key, what) in std::mem::take(&mut self.held) {
            if is_meant(&what) {
                taken.push(what);
            } else {
                self.held.insert(key, what);
            }
        }
        self.set_deadline(agenda);
        taken
    }

    fn set_deadline(&mut self, agenda: &mut EventQueue) {
        let next = self.held.first_key_value().map_or(Time::NEVER, |(&(due, _), _)| due);
        agenda.set(self.held_slot, next);
    }

    /// All that is held back now.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let in_lines = self.lines.iter().flat_map(|line| &line.waiting).map(|(_, what)| what);
        in_lines.chain(self.held.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line of 10 ns, what has delays of its own, and their slots.
    fn delays() -> (Clock, Delays<&'static str>, Slot, Slot) {
        let mut clock = Clock::new(Time(100));
        let (held, line) = (clock.agenda.add_slot(), clock.agenda.add_slot());
        let mut delays = Delays::new(held);
        delays.add_line(Span(10), line);
        (clock, delays, held, line)
    }

    #[test]
    fn a_line_has_one_deadline_that_of_its_first() {
        let (mut clock, mut delays, _, line) = delays();
        assert_eq!(delays.put(&mut clock.agenda, Time(0), Span(10), "a"), None);
        assert_eq!(delays.put(&mut clock.agenda, Time(4), Span(10), "b"), None);
        assert_eq!(clock.agenda.pop(), Some((Time(10), line)));
        assert_eq!((clock.agenda.pop(), delays.pop(0)), (None, Some("a")));
        assert_eq!((delays.move_on(&mut clock, 0), clock.now), (true, Time(14)));
        assert_eq!((delays.pop(0), delays.move_on(&mut clock, 0)), (Some("b"), false));
        assert_eq!(clock.agenda.pop(), None);
    }

    #[test]
    fn what_follows_in_a_line_waits_for_whatever_is_due_before() {
        let (mut clock, mut delays, held, line) = delays();
        delays.put(&mut clock.agenda, Time(0), Span(10), "a");
        delays.put(&mut clock.agenda, Time(4), Span(10), "b");
        delays.hold(&mut clock.agenda, Time(0), Span(14), "c");
        assert_eq!((clock.agenda.pop(), delays.pop(0)), (Some((Time(10), line)), Some("a")));
        assert!(!delays.move_on(&mut clock, 0));
        assert_eq!(clock.agenda.pop(), Some((Time(14), held)), "equal times fire in order of slots");
        assert_eq!(clock.agenda.pop(), Some((Time(14), line)));
    }

    #[test]
    fn what_is_taken_out_leaves_the_deadlines_of_the_rest() {
        let (mut clock, mut delays, held, line) = delays();
        delays.put(&mut clock.agenda, Time(0), Span(10), "a");
        delays.put(&mut clock.agenda, Time(4), Span(10), "b");
        delays.hold(&mut clock.agenda, Time(0), Span(5), "a");
        delays.hold(&mut clock.agenda, Time(0), Span(7), "b");
        assert_eq!(delays.extract(&mut clock.agenda, |&what| what == "a"), ["a", "a"]);
        assert_eq!(clock.agenda.pop(), Some((Time(7), held)));
        assert_eq!(
            (delays.release(&mut clock.agenda), clock.agenda.pop()),
            (Some("b"), Some((Time(14), line)))
        );
        assert_eq!(delays.extract(&mut clock.agenda, |_| true), ["b"]);
        assert_eq!(clock.agenda.pop(), None);
    }

    #[test]
    fn what_is_held_by_itself_comes_in_order_of_time_then_of_holding() {
        let (mut clock, mut delays, held, _) = delays();
        assert_eq!(delays.hold(&mut clock.agenda, Time(0), Span::ZERO, "now"), Some("now"));
        assert_eq!(delays.put(&mut clock.agenda, Time(0), Span(7), "no line has this delay"), None);
        delays.hold(&mut clock.agenda, Time(0), Span(5), "a");
        delays.hold(&mut clock.agenda, Time(2), Span(3), "b");
        assert_eq!(delays.iter().count(), 3);
        for (due, what) in [(5, "a"), (5, "b"), (7, "no line has this delay")] {
            assert_eq!(clock.agenda.pop(), Some((Time(due), held)));
            assert_eq!(delays.release(&mut clock.agenda), Some(what));
        }
        assert_eq!((clock.agenda.pop(), delays.release(&mut clock.agenda)), (None, None));
    }
}
