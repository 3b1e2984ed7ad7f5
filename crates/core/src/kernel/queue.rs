//! The event queue: one deadline per slot, earliest first.
//!
//! **Order.** Deadlines fire in order of time; equal times fire in order of slots, that is in the order in
//! which their owners were made. This order is part of a run's definition. It does not depend on when a
//! deadline was set, so an owner may set one too early, or move it back and forth, without changing what
//! happens.
//!
//! **Shape.** A tournament: the leaves are the slots' deadlines, and each node above holds the earliest of
//! the four below it, so that moving a deadline recomputes the nodes above it as far as they change, and
//! nothing is ever cancelled lazily. One deadline that is earlier than all others stands apart, at the front:
//! it is often the next to be popped, and then the tree never knows of it. Slots are handed out once and live
//! as long as their owner.

use super::Time;

/// Names one deadline in the queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// No slot stands at the front.
const NOBODY: Slot = Slot(u32::MAX);

const ARITY: usize = 4;

/// See the module's head.
pub struct EventQueue {
    /// Nodes in groups of siblings, from the top; the node with number n is above group n + 1. The last
    /// `leaves` nodes are the slots' deadlines, in order of slots.
    groups: Vec<[Time; ARITY]>,
    leaves: usize,
    /// The node of the first slot.
    first_leaf: usize,
    slots: u32,
    /// The earliest deadline in the tree.
    root: Time,
    front: Slot,
    front_time: Time,
    /// The group of the leaf that was popped last, if the nodes above it do not know yet. Most owners set
    /// their next deadline when one has come, and one way up serves both.
    popped: Option<usize>,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            groups: vec![[Time::NEVER; ARITY]],
            leaves: ARITY,
            first_leaf: 0,
            slots: 0,
            root: Time::NEVER,
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
        if self.slots as usize > self.leaves {
            self.grow();
        }
        slot
    }

    /// Sets the slot's deadline; [`Time::NEVER`] takes it out of the queue.
    pub fn set(&mut self, slot: Slot, time: Time) {
        let before = *self.leaf(slot);
        if slot == self.front {
            if time < self.earliest_in_tree() {
                self.front_time = time;
                return;
            }
            (self.front, self.front_time) = (NOBODY, Time::NEVER);
        } else if before == time {
            return;
        } else if before == Time::NEVER && time < self.peek_time() {
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
        let (mut group, mut node) = (0, 0);
        while group < self.groups.len() {
            let [a, b, c, _] = self.groups[group].map(|sibling| sibling != time);
            node = ARITY * group + usize::from(a) + usize::from(a & b) + usize::from(a & b & c);
            group = node + 1;
        }
        let slot = Slot((node - self.first_leaf) as u32);
        if self.front_time == time && self.front < slot {
            return self.pop_front();
        }
        *self.leaf(slot) = Time::NEVER;
        self.popped = Some(node / ARITY);
        Some((time, slot))
    }

    fn pop_front(&mut self) -> Option<(Time, Slot)> {
        let front = (self.front_time, self.front);
        (self.front, self.front_time) = (NOBODY, Time::NEVER);
        Some(front)
    }

    #[inline]
    fn leaf(&mut self, slot: Slot) -> &mut Time {
        let node = self.first_leaf + slot.0 as usize;
        &mut self.groups[node / ARITY][node % ARITY]
    }

    #[inline]
    fn earliest_in_tree(&mut self) -> Time {
        if let Some(group) = self.popped.take() {
            self.update_from(group);
        }
        self.root
    }

    fn put(&mut self, slot: Slot, time: Time) {
        let group = (self.first_leaf + slot.0 as usize) / ARITY;
        if let Some(popped) = self.popped.take()
            && popped != group
        {
            self.update_from(popped);
        }
        *self.leaf(slot) = time;
        self.update_from(group);
    }

    /// A node of the group has changed: recomputes those above it.
    fn update_from(&mut self, mut group: usize) {
        loop {
            let [a, b, c, d] = self.groups[group];
            let earliest = a.min(b).min(c.min(d));
            if group == 0 {
                self.root = earliest;
                return;
            }
            let above = group - 1;
            group = above / ARITY;
            let above = &mut self.groups[group][above % ARITY];
            if *above == earliest {
                return;
            }
            *above = earliest;
        }
    }

    /// Makes room for four times as many slots.
    fn grow(&mut self) {
        let deadlines: Vec<Time> =
            (0..self.slots - 1).map(|slot| std::mem::replace(self.leaf(Slot(slot)), Time::NEVER)).collect();
        self.leaves *= ARITY;
        // All nodes above the leaves: 1 + 4 + 16 + …, less the root.
        let groups = (self.leaves - 1) / (ARITY - 1);
        self.groups = vec![[Time::NEVER; ARITY]; groups];
        self.first_leaf = ARITY * groups - self.leaves;
        (self.popped, self.root) = (None, Time::NEVER);
        for (slot, &time) in deadlines.iter().enumerate() {
            self.put(Slot(slot as u32), time);
        }
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
            steps in prop::collection::vec((0u32..40, 0u64..60, any::<bool>()), 1..500),
        ) {
            let mut queue = EventQueue::new();
            let mut plain = Plain::default();
            let mut slots = vec![queue.add_slot()];
            for (slot, time, peek) in steps {
                let slot = slots[slot as usize % slots.len()];
                match time {
                    0..=6 => prop_assert_eq!(queue.pop(), plain.pop()),
                    7..=9 => slots.push(queue.add_slot()),
                    10 | 11 => {
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
