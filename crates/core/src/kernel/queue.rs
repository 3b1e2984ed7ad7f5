//! The event queue: one deadline per slot, earliest first.
//!
//! **Order.** Deadlines fire in order of time; equal times fire in order of slots, that is in the order in which
//! their owners were made. This order is part of a run's definition. It does not depend on when a deadline was
//! set, so an owner may set one too early, or move it back and forth, without changing what happens.
//!
//! **Shape.** A binary tournament: the leaves are the slots' deadlines, and each node above holds the earlier of
//! the two below it, so that moving a deadline recomputes the nodes above it as far as they change, and nothing is
//! ever cancelled lazily. One deadline that is earlier than all others stands apart, at the front: it is often the
//! next to be popped, and then the tree never knows of it. Slots are handed out once and live as long as their
//! owner.

use super::Time;

/// Names one deadline in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// No slot stands at the front.
const NOBODY: Slot = Slot(u32::MAX);

/// See the module's head.
pub struct EventQueue {
    /// Node 1 is the root, 2n and 2n + 1 are below node n; the second half are the leaves, by slot.
    tree: Vec<Time>,
    slots: u32,
    front: Slot,
    front_time: Time,
    /// The leaf that was popped last, if the nodes above it do not know yet. Most owners set their next deadline
    /// when one has come, and one way up serves both.
    popped: Option<usize>,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            tree: vec![Time::NEVER; 2],
            slots: 0,
            front: NOBODY,
            front_time: Time::NEVER,
            popped: None,
        }
    }
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> EventQueue {
        EventQueue::default()
    }

    /// A new slot, without a deadline.
    pub fn add_slot(&mut self) -> Slot {
        let slot = Slot(self.slots);
        self.slots += 1;
        if self.slots as usize > self.leaves() {
            self.grow();
        }
        slot
    }

    /// Sets the slot's deadline; [`Time::NEVER`] takes it out of the queue.
    pub fn set(&mut self, slot: Slot, time: Time) {
        if slot == self.front {
            if time < self.earliest_in_tree() {
                self.front_time = time;
                return;
            }
            (self.front, self.front_time) = (NOBODY, Time::NEVER);
        } else if self.tree[self.leaves() + slot.0 as usize] == Time::NEVER && time < self.peek_time() {
            if self.front != NOBODY {
                self.put(self.front, self.front_time);
            }
            (self.front, self.front_time) = (slot, time);
            return;
        }
        self.put(slot, time);
    }

    /// The earliest deadline, [`Time::NEVER`] if there is none.
    #[inline]
    pub fn peek_time(&mut self) -> Time {
        self.front_time.min(self.earliest_in_tree())
    }

    /// Takes the earliest deadline out of the queue.
    pub fn pop(&mut self) -> Option<(Time, Slot)> {
        let time = self.earliest_in_tree();
        if self.front_time < time {
            return self.pop_front();
        }
        if time == Time::NEVER {
            return None;
        }
        let mut node = 1;
        while node < self.leaves() {
            node *= 2;
            node += usize::from(self.tree[node] != time);
        }
        let slot = Slot((node - self.leaves()) as u32);
        if self.front_time == time && self.front < slot {
            return self.pop_front();
        }
        self.tree[node] = Time::NEVER;
        self.popped = Some(node);
        Some((time, slot))
    }

    fn pop_front(&mut self) -> Option<(Time, Slot)> {
        let front = (self.front_time, self.front);
        (self.front, self.front_time) = (NOBODY, Time::NEVER);
        Some(front)
    }

    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    #[inline]
    fn earliest_in_tree(&mut self) -> Time {
        if let Some(leaf) = self.popped.take() {
            self.update_above(leaf);
        }
        self.tree[1]
    }

    fn put(&mut self, slot: Slot, time: Time) {
        let leaf = self.leaves() + slot.0 as usize;
        if let Some(popped) = self.popped.take()
            && popped != leaf
        {
            self.update_above(popped);
        }
        self.tree[leaf] = time;
        self.update_above(leaf);
    }

    fn update_above(&mut self, mut node: usize) {
        while node > 1 {
            let earlier = self.tree[node].min(self.tree[node ^ 1]);
            node /= 2;
            if self.tree[node] == earlier {
                break;
            }
            self.tree[node] = earlier;
        }
    }

    /// Doubles the number of leaves.
    fn grow(&mut self) {
        let leaves = self.leaves();
        let mut tree = vec![Time::NEVER; 4 * leaves];
        tree[2 * leaves..3 * leaves].copy_from_slice(&self.tree[leaves..]);
        for node in (1..2 * leaves).rev() {
            tree[node] = tree[2 * node].min(tree[2 * node + 1]);
        }
        self.tree = tree;
        self.popped = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_fire_in_order_of_slots() {
        let mut queue = EventQueue::new();
        let slots: Vec<Slot> = (0..5).map(|_| queue.add_slot()).collect();
        for &i in &[3, 1, 4, 0, 2] {
            queue.set(slots[i], Time(10));
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, slot)| slot.0).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    /// The plain reference: a list that is searched for its least (time, slot).
    #[derive(Default)]
    struct Plain(Vec<(Time, Slot)>);

    impl Plain {
        fn set(&mut self, slot: Slot, time: Time) {
            self.0.retain(|entry| entry.1 != slot);
            if time != Time::NEVER {
                self.0.push((time, slot));
            }
        }

        fn pop(&mut self) -> Option<(Time, Slot)> {
            let least = *self.0.iter().min()?;
            self.0.retain(|entry| entry != &least);
            Some(least)
        }

        fn peek_time(&self) -> Time {
            self.0.iter().min().map_or(Time::NEVER, |entry| entry.0)
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_searched_list(
            steps in prop::collection::vec((0u32..12, 0u64..40, any::<bool>()), 1..300),
        ) {
            let mut queue = EventQueue::new();
            let mut plain = Plain::default();
            let mut slots = vec![queue.add_slot()];
            for (slot, time, peek) in steps {
                let slot = slots[slot as usize % slots.len()];
                match time {
                    0..=6 => prop_assert_eq!(queue.pop(), plain.pop()),
                    7 => slots.push(queue.add_slot()),
                    8 | 9 => {
                        queue.set(slot, Time::NEVER);
                        plain.set(slot, Time::NEVER);
                    }
                    _ => {
                        queue.set(slot, Time(time));
                        plain.set(slot, Time(time));
                    }
                }
                if peek {
                    prop_assert_eq!(queue.peek_time(), plain.peek_time());
                }
            }
            while let Some(expected) = plain.pop() {
                prop_assert_eq!(queue.pop(), Some(expected));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
