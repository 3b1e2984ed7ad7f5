//! Routing tables: entries in order of destination.

use crate::packet::NodeId;

/// An entry of a routing table.
pub(super) trait Entry {
    /// The destination, which does not change.
    fn dst(&self) -> NodeId;
}

/// Entries in order of destination, so that going through them never depends on how they came in.
#[derive(Debug)]
pub(super) struct Table<E>(Vec<E>);

impl<E> Default for Table<E> {
    fn default() -> Table<E> {
        Table(Vec::new())
    }
}

impl<E: Entry> Table<E> {
    /// Where the entry is, or where it would be. Where all nodes are known, or all but the table's own, its place is its
    /// number or the one before.
    fn find(&self, dst: NodeId) -> Result<usize, usize> {
        let guess = dst.index();
        for place in [guess.wrapping_sub(1), guess] {
            if self.0.get(place).is_some_and(|entry| entry.dst() == dst) {
                return Ok(place);
            }
        }
        self.0.binary_search_by_key(&dst, E::dst)
    }

    pub(super) fn get(&self, dst: NodeId) -> Option<&E> {
        self.find(dst).ok().map(|at| &self.0[at])
    }

    pub(super) fn get_mut(&mut self, dst: NodeId) -> Option<&mut E> {
        self.find(dst).ok().map(|at| &mut self.0[at])
    }

    pub(super) fn get_or_insert_with(&mut self, dst: NodeId, make: impl FnOnce() -> E) -> &mut E {
        let at = self.find(dst).unwrap_or_else(|at| {
            self.0.insert(at, make());
            at
        });
        &mut self.0[at]
    }

    /// Adds an entry; one of the same destination stays as it is.
    pub(super) fn insert(&mut self, entry: E) {
        self.get_or_insert_with(entry.dst(), || entry);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.0.iter_mut()
    }
}
