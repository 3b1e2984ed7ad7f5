//! The event queue: one deadline per slot, earliest first.
//!
//! **Order.** Deadlines fire in order of time; equal times fire in the order in which they were set. Setting
//! a slot to the deadline that it already has keeps its place. This order is part of a run's definition.
//!
//! **Shape.** A 4-ary heap of (time, sequence number, slot) with each slot's position kept beside it, so that
//! moving a deadline is one sift and nothing is ever cancelled lazily. Slots are handed out once and live as
//! long as their owner; a slot without a deadline is not in the heap.

use super::Time;

/// Names one deadline in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

#[derive(Clone, Copy)]
struct Entry {
    time: Time,
    sequence: u64,
    slot: u32,
}

impl Entry {
    fn before(&self, other: &Entry) -> bool {
        (self.time, self.sequence) < (other.time, other.sequence)
    }
}

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// See the module's head.
#[derive(Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    position: Vec<u32>,
    next_sequence: u64,
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> EventQueue {
        EventQueue::default()
    }

    /// A new slot, without a deadline.
    pub fn add_slot(&mut self) -> Slot {
        self.position.push(ABSENT);
        Slot((self.position.len() - 1) as u32)
    }

    /// Sets the slot's deadline; [`Time::NEVER`] takes it out of the queue.
    pub fn set(&mut self, slot: Slot, time: Time) {
        let at = self.position[slot.0 as usize];
        if at == ABSENT {
            if time != Time::NEVER {
                self.insert(slot, time);
            }
        } else if time == Time::NEVER {
            self.remove(at as usize);
        } else if self.heap[at as usize].time != time {
            let earlier = time < self.heap[at as usize].time;
            self.heap[at as usize].time = time;
            self.heap[at as usize].sequence = self.next_sequence;
            self.next_sequence += 1;
            if earlier {
                self.sift_up(at as usize);
            } else {
                self.sift_down(at as usize);
            }
        }
    }

    /// The earliest deadline, [`Time::NEVER`] if there is none.
    pub fn peek_time(&self) -> Time {
        self.heap.first().map_or(Time::NEVER, |entry| entry.time)
    }

    /// Takes the earliest deadline out of the queue.
    pub fn pop(&mut self) -> Option<(Time, Slot)> {
        let first = *self.heap.first()?;
        self.remove(0);
        Some((first.time, Slot(first.slot)))
    }

    fn insert(&mut self, slot: Slot, time: Time) {
        self.heap.push(Entry { time, sequence: self.next_sequence, slot: slot.0 });
        self.next_sequence += 1;
        self.sift_up(self.heap.len() - 1);
    }

    fn remove(&mut self, at: usize) {
        self.position[self.heap[at].slot as usize] = ABSENT;
        let last = self.heap.pop().expect("the entry to remove is in the heap");
        if at < self.heap.len() {
            self.heap[at] = last;
            self.position[last.slot as usize] = at as u32;
            self.sift_down(at);
            self.sift_up(at);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !entry.before(&self.heap[parent]) {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, entry);
    }

    fn sift_down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = at * ARITY + 1;
            let Some(least) = (first..(first + ARITY).min(self.heap.len()))
                .reduce(|a, b| if self.heap[b].before(&self.heap[a]) { b } else { a })
            else {
                break;
            };
            if !self.heap[least].before(&entry) {
                break;
            }
            self.place(at, self.heap[least]);
            at = least;
        }
        self.place(at, entry);
    }

    fn place(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.position[entry.slot as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_fire_in_the_order_in_which_they_were_set() {
        let mut queue = EventQueue::new();
        let slots: Vec<Slot> = (0..5).map(|_| queue.add_slot()).collect();
        for &i in &[3, 1, 4, 0, 2] {
            queue.set(slots[i], Time(10));
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, slot)| slot.0).collect();
        assert_eq!(order, [3, 1, 4, 0, 2]);
    }

    #[test]
    fn the_same_deadline_again_keeps_its_place() {
        let mut queue = EventQueue::new();
        let (a, b) = (queue.add_slot(), queue.add_slot());
        queue.set(a, Time(5));
        queue.set(b, Time(5));
        queue.set(a, Time(5));
        assert_eq!(queue.pop(), Some((Time(5), a)));
    }

    /// The plain reference: a list that is searched for its least (time, order of setting).
    #[derive(Default)]
    struct Plain(Vec<(Time, u64, u32)>, u64);

    impl Plain {
        fn set(&mut self, slot: u32, time: Time) {
            if self.0.iter().any(|e| e.2 == slot && e.0 == time) {
                return;
            }
            self.0.retain(|e| e.2 != slot);
            if time != Time::NEVER {
                self.0.push((time, self.1, slot));
                self.1 += 1;
            }
        }

        fn pop(&mut self) -> Option<(Time, Slot)> {
            let least = *self.0.iter().min()?;
            self.0.retain(|e| e != &least);
            Some((least.0, Slot(least.2)))
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_searched_list(steps in prop::collection::vec((0u32..12, 0u64..40), 1..300)) {
            let mut queue = EventQueue::new();
            let mut plain = Plain::default();
            for _ in 0..12 {
                queue.add_slot();
            }
            for (slot, time) in steps {
                match time {
                    0..=4 => prop_assert_eq!(queue.pop(), plain.pop()),
                    5..=8 => {
                        queue.set(Slot(slot), Time::NEVER);
                        plain.set(slot, Time::NEVER);
                    }
                    _ => {
                        queue.set(Slot(slot), Time(time));
                        plain.set(slot, Time(time));
                    }
                }
            }
            while let Some(expected) = plain.pop() {
                prop_assert_eq!(queue.pop(), Some(expected));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
