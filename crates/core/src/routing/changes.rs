//! Which routes may have changed: told by tables when they are borrowed for a change, so that a recorder need
//! not look up all routes after each call of a protocol, and no change can be forgotten.

use std::iter;
use std::ops::{Deref, DerefMut};

use crate::wire::NodeId;

/// A set of destinations that has each that was added, and perhaps others: those whose numbers are equal
/// modulo 64 are added together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes(u64);

impl Changes {
    /// No destination.
    pub const NONE: Changes = Changes(0);
    /// Every destination.
    pub const ALL: Changes = Changes(u64::MAX);

    /// Adds a destination.
    #[inline]
    pub fn add(&mut self, dst: NodeId) {
        self.0 |= 1 << Changes::group_of(dst);
    }

    /// How many groups of destinations there are that are added together.
    pub const GROUPS: usize = u64::BITS as usize;

    /// The destination's group.
    #[inline]
    pub fn group_of(dst: NodeId) -> usize {
        dst.index() % Changes::GROUPS
    }

    /// The groups that were added.
    pub fn groups(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            first
        })
    }

    /// Is no destination among them?
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those of both sets.
    #[must_use]
    pub fn and_those_of(self, other: Changes) -> Changes {
        Changes(self.0 | other.0)
    }

    /// Takes all out.
    #[inline]
    pub fn take(&mut self) -> Changes {
        std::mem::take(self)
    }
}

/// A value that knows whether it was borrowed for a change.
#[derive(Debug, Default)]
pub(super) struct Tracked<T> {
    value: T,
    changes: Changes,
}

impl<T> Tracked<T> {
    /// All destinations if the value may have been changed since this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

impl<T> Deref for Tracked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Tracked<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changes = Changes::ALL;
        &mut self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_empty_until_something_is_added_and_once_it_is_taken() {
        let mut changes = Changes::NONE;
        assert!(changes.is_empty());
        changes.add(NodeId(70));
        assert!(!changes.is_empty());
        assert_eq!(changes.take().groups().collect::<Vec<_>>(), [6]);
        assert!(changes.is_empty());
    }
}
