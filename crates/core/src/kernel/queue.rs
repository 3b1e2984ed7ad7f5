//! The event queue: one deadline per slot, earliest first.
//!
//! **Order.** Deadlines fire in order of time; equal times fire in the order in which they were set. Setting
//! a slot to the deadline that it already has keeps its place. This order is part of a run's definition.
//!
//! **Shape.** A 4-ary heap of (time, sequence number, slot) with each slot's position kept beside it, so that
//! moving a deadline is one sift and nothing is ever cancelled lazily. Slots are handed out once and live as
//! long as their owner; a slot without a deadline is not in the heap. What was popped leaves a hole at the root
//! that the next insertion fills: most owners set their next deadline when one has come, and one sift serves
//! both.

use super::Time;

/// Names one deadline in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

#[derive(Clone, Copy)]
struct Entry {
    /// Time in the high half, sequence number in the low half: one comparison orders entries.
    key: u128,
    slot: u32,
}

impl Entry {
    fn time(&self) -> Time {
        Time((self.key >> 64) as u64)
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
    /// The root was popped and nothing has taken its place yet.
    hole: bool,
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
                let entry = self.entry(slot, time);
                self.insert(entry);
            }
        } else if time == Time::NEVER {
            self.fill_hole();
            self.remove(self.position[slot.0 as usize] as usize);
        } else if self.heap[at as usize].time() != time {
            self.fill_hole();
            let at = self.position[slot.0 as usize] as usize;
            let entry = self.entry(slot, time);
            if time < self.heap[at].time() {
                self.sift_up(at, entry);
            } else {
                self.sift_down(at, entry);
            }
        }
    }

    /// The earliest deadline, [`Time::NEVER`] if there is none.
    pub fn peek_time(&self) -> Time {
        let first = if self.hole {
            self.heap.iter().skip(1).take(ARITY).min_by_key(|entry| entry.key)
        } else {
            self.heap.first()
        };
        first.map_or(Time::NEVER, Entry::time)
    }

    /// Takes the earliest deadline out of the queue.
    pub fn pop(&mut self) -> Option<(Time, Slot)> {
        self.fill_hole();
        let first = *self.heap.first()?;
        self.position[first.slot as usize] = ABSENT;
        self.hole = true;
        Some((first.time(), Slot(first.slot)))
    }

    fn entry(&mut self, slot: Slot, time: Time) -> Entry {
        let key = u128::from(time.0) << 64 | u128::from(self.next_sequence);
        self.next_sequence += 1;
        Entry { key, slot: slot.0 }
    }

    fn insert(&mut self, entry: Entry) {
        if self.hole {
            self.hole = false;
            self.sift_down(0, entry);
        } else {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        }
    }

    fn fill_hole(&mut self) {
        if self.hole {
            self.hole = false;
            self.replace_by_last(0);
        }
    }

    fn remove(&mut self, at: usize) {
        self.position[self.heap[at].slot as usize] = ABSENT;
        self.replace_by_last(at);
    }

    /// Puts the heap's last entry where an entry was taken out.
    fn replace_by_last(&mut self, at: usize) {
        let Some(last) = self.heap.pop() else { return };
        if at == self.heap.len() {
            return;
        }
        if at > 0 && last.key < self.heap[(at - 1) / ARITY].key {
            self.sift_up(at, last);
        } else {
            self.sift_down(at, last);
        }
    }

    /// Places `entry` at `at` or above.
    fn sift_up(&mut self, mut at: usize, entry: Entry) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            let above = self.heap[parent];
            if above.key <= entry.key {
                break;
            }
            self.place(at, above);
            at = parent;
        }
        self.place(at, entry);
    }

    /// Places `entry` at `at` or below.
    fn sift_down(&mut self, mut at: usize, entry: Entry) {
        loop {
            let first = at * ARITY + 1;
            let end = (first + ARITY).min(self.heap.len());
            let Some(children) = self.heap.get(first..end) else { break };
            let mut least = Entry { key: entry.key, slot: 0 };
            let mut least_at = at;
            for (offset, child) in children.iter().enumerate() {
                if child.key < least.key {
                    least = *child;
                    least_at = first + offset;
                }
            }
            if least_at == at {
                break;
            }
            self.place(at, least);
            at = least_at;
        }
        self.place(at, entry);
    }

    fn place(&mut self, at: usize, entry: Entry) {
        self.position[entry.slot as usize] = at as u32;
        self.heap[at] = entry;
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
                    9 => prop_assert_eq!(queue.peek_time(), plain.0.iter().min().map_or(Time::NEVER, |e| e.0)),
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
