//! Routing tables: entries in order of destination.

use super::Changes;
use crate::wire::NodeId;

/// An entry of a routing table.
pub(super) trait Entry {
    /// The destination, which does not change.
    fn dst(&self) -> NodeId;
}

/// Entries in order of destination, so that going through them never depends on how they came in.
#[derive(Debug)]
pub(super) struct Table<E> {
    entries: Vec<E>,
    /// Where each node's entry is, by node up to the last one with an entry: updates name many nodes, and a
    /// search for each costs more than all that is done with what it finds.
    places: Vec<u32>,
    /// Entries that were lent for a change.
    changes: Changes,
}

/// A node without an entry.
const NOWHERE: u32 = u32::MAX;

impl<E> Default for Table<E> {
    fn default() -> Table<E> {
        Table { entries: Vec::new(), places: Vec::new(), changes: Changes::NONE }
    }
}

impl<E: Entry> Table<E> {
    fn find(&self, dst: NodeId) -> Option<usize> {
        self.places.get(dst.index()).filter(|place| **place != NOWHERE).map(|place| *place as usize)
    }

    /// Makes room in the list of places and puts the entry in its order; there must be none of its
    /// destination.
    fn add(&mut self, entry: E) -> usize {
        let dst = entry.dst();
        debug_assert!(!dst.is_broadcast(), "the list of places would have one for every number");
        let place = self.entries.partition_point(|other| other.dst() < dst);
        self.entries.insert(place, entry);
        if self.places.len() <= dst.index() {
            self.places.resize(dst.index() + 1, NOWHERE);
        }
        for (place, entry) in self.entries.iter().enumerate().skip(place) {
            self.places[entry.dst().index()] = place as u32;
        }
        place
    }

    pub(super) fn get(&self, dst: NodeId) -> Option<&E> {
        self.find(dst).map(|place| &self.entries[place])
    }

    pub(super) fn get_mut(&mut self, dst: NodeId) -> Option<&mut E> {
        let place = self.find(dst)?;
        self.changes.add(dst);
        Some(&mut self.entries[place])
    }

    pub(super) fn get_or_insert_with(&mut self, dst: NodeId, make: impl FnOnce() -> E) -> &mut E {
        self.changes.add(dst);
        let place = self.find(dst).unwrap_or_else(|| self.add(make()));
        &mut self.entries[place]
    }

    /// Adds an entry; one of the same destination stays as it is.
    pub(super) fn insert(&mut self, entry: E) {
        self.get_or_insert_with(entry.dst(), || entry);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.entries.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.changes = Changes::ALL;
        self.entries.iter_mut()
    }

    /// The destinations whose entries may be others than when this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }
}
