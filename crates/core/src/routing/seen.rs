//! The requests that a node has seen, by originator and ID.

use rustc_hash::FxHashMap;

use crate::kernel::Time;
use crate::wire::NodeId;

/// What names a request.
type Name = (NodeId, u32);

/// The copies of a request come one soon after the other, so most questions are about the last few. Those
/// stand together; in a large network a walk to the map at each would be a wait for memory.
const LAST: usize = 4;

/// Requests, each held until a time.
pub(super) struct SeenRequests {
    /// All of them. Nothing depends on its order.
    until: FxHashMap<Name, Time>,
    /// Some of them once more: those that were added last.
    last: [(Name, Time); LAST],
    /// Where the next one goes.
    next: u8,
}

impl Default for SeenRequests {
    fn default() -> SeenRequests {
        SeenRequests { until: FxHashMap::default(), last: [((NodeId(0), 0), Time::ZERO); LAST], next: 0 }
    }
}

impl SeenRequests {
    /// How many are held.
    pub(super) fn len(&self, now: Time) -> usize {
        self.until.values().filter(|until| **until > now).count()
    }

    /// Is this request held until after `now`? At [`Time::ZERO`] all are that have not been forgotten.
    pub(super) fn holds(&self, now: Time, name: Name) -> bool {
        self.last.iter().any(|&(last, until)| last == name && until > now)
            || self.until.get(&name).is_some_and(|&until| until > now)
    }

    /// Holds a request until a time. Those that are held until `now` at most may be forgotten; at
    /// [`Time::ZERO`] none is.
    pub(super) fn add(&mut self, now: Time, name: Name, until: Time) {
        if self.until.len() == self.until.capacity() {
            self.forget(now);
            // Room for a few more, or the next ones would have to look through them again.
            self.until.reserve(self.until.len() / 4 + 1);
        }
        self.until.insert(name, until);
        self.last[usize::from(self.next)] = (name, until);
        self.next = (self.next + 1) % LAST as u8;
    }

    /// Forgets what is held until `now` at most.
    pub(super) fn forget(&mut self, now: Time) {
        self.until.retain(|_, until| *until > now);
        for (_, until) in &mut self.last {
            if *until <= now {
                *until = Time::ZERO;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::kernel::Span;

    proptest! {
        /// Held is what was added, until the time that was said last.
        #[test]
        fn requests_are_held_until_their_time(
            steps in prop::collection::vec((0u8..8, 0u32..3, 0u32..8, 0u64..20, 1u64..400), 1..400),
        ) {
            let (mut seen, mut plain) = (SeenRequests::default(), BTreeMap::new());
            let mut now = Time(1);
            for (step, origin, id, passed, held) in steps {
                now += Span(passed);
                let name = (NodeId(origin), id);
                match step {
                    0 => seen.forget(now),
                    1..4 => {
                        let until = now + Span(held);
                        // A request that is held is not added again.
                        if !seen.holds(now, name) {
                            seen.add(now, name, until);
                            plain.insert(name, until);
                        }
                    }
                    _ => {}
                }
                for origin in 0..3 {
                    for id in 0..8 {
                        let name = (NodeId(origin), id);
                        let expected = plain.get(&name).is_some_and(|&until| until > now);
                        prop_assert_eq!(seen.holds(now, name), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_passed_makes_room() {
        let mut seen = SeenRequests::default();
        for id in 0..100_000 {
            let now = Time(u64::from(id));
            seen.add(now, (NodeId(1), id), now + Span(100));
        }
        assert!(seen.until.capacity() <= 250, "room for {} when 100 are held", seen.until.capacity());
    }
}
