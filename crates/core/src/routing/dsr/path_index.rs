//! 64 places for paths, with an index of the nodes on them.
//!
//! A node asks its caches about every packet that it overhears, and few of the paths there have the nodes
//! concerned. So for each node there is the set of the places with a path over it, a word with a bit for each
//! place: the paths with both ends of a link are found by one operation instead of a walk along all of them.
//! Nodes whose numbers are equal modulo 64 share a set. The index names places that may be meant; the paths
//! themselves decide.

use crate::kernel::Time;
use crate::routing::Changes;
use crate::wire::NodeId;
use crate::wire::dsr::Route;

/// Places in an index: as many as a word has bits.
pub(super) const PLACES: usize = u64::BITS as usize;

/// Sets that the nodes share.
const SETS: usize = 64;

/// A set of places, which hands them out in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places(u64);

impl Iterator for Places {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = (self.0 != 0).then(|| self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        first
    }
}

/// A path and when it was last learned.
#[derive(Clone, Default, Debug)]
pub(super) struct Cached {
    /// Empty: a free place.
    pub(super) path: Route,
    pub(super) learned: Time,
}

/// The places with paths over a node.
#[derive(Clone, Copy, Default, Debug)]
struct PathsOver {
    /// Anywhere on the path.
    somewhere: u64,
    /// At its end.
    at_end: u64,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct PathIndex {
    places: Vec<Cached>,
    free: u64,
    paths_over: [PathsOver; SETS],
    /// Nodes on paths that came or went.
    changes: Changes,
}

impl PathIndex {
    /// An empty index of at most [`PLACES`] places.
    pub(super) fn new(places: usize) -> PathIndex {
        let free = if places < PLACES { (1 << places) - 1 } else { u64::MAX };
        let paths_over = [PathsOver::default(); SETS];
        PathIndex { places: vec![Cached::default(); places], free, paths_over, changes: Changes::NONE }
    }

    /// The path at a place.
    pub(super) fn get(&self, place: usize) -> &Cached {
        &self.places[place]
    }

    /// The first free place.
    pub(super) fn first_free(&self) -> Option<usize> {
        Places(self.free).next()
    }

    /// Where there may be paths over the node.
    pub(super) fn over(&self, node: NodeId) -> Places {
        Places(self.paths_over[set_of(node)].somewhere)
    }

    /// Where there may be paths over both nodes.
    pub(super) fn over_both(&self, one: NodeId, other: NodeId) -> Places {
        Places(self.paths_over[set_of(one)].somewhere & self.paths_over[set_of(other)].somewhere)
    }

    /// Where there may be paths that continue this one, or that it continues.
    pub(super) fn prefixes_and_extensions_of(&self, path: &[NodeId]) -> Places {
        let (mut over_all_so_far, mut beginnings) = (u64::MAX, 0);
        for node in path {
            let over = self.paths_over[set_of(*node)];
            over_all_so_far &= over.somewhere;
            beginnings |= over_all_so_far & over.at_end;
        }
        Places(beginnings | over_all_so_far)
    }

    /// The path at a place has been learned again.
    pub(super) fn renew(&mut self, place: usize, now: Time) {
        let learned = &mut self.places[place].learned;
        *learned = now.max(*learned);
    }

    /// The path at a place was too old, and is not any more.
    pub(super) fn note_change(&mut self, place: usize) {
        self.places[place].path.iter().for_each(|node| self.changes.add(*node));
    }

    /// The destinations to which paths may have come or gone since this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }

    /// Changes the path at a place; an empty one frees it. Returns the path that was there.
    pub(super) fn put(&mut self, place: usize, path: Route, learned: Time) -> Cached {
        let bit = 1 << place;
        let before = std::mem::replace(&mut self.places[place], Cached { path, learned });
        for node in &before.path {
            let over = &mut self.paths_over[set_of(*node)];
            over.somewhere &= !bit;
            over.at_end &= !bit;
        }
        self.free |= bit;
        for node in &self.places[place].path {
            self.paths_over[set_of(*node)].somewhere |= bit;
        }
        if let Some(last) = self.places[place].path.last() {
            self.paths_over[set_of(*last)].at_end |= bit;
            self.free &= !bit;
        }
        let after = &self.places[place];
        // To the nodes at which both begin, the path is the same as before.
        let shared = before.path.iter().zip(&after.path).take_while(|(old, new)| old == new).count();
        let from = if before.learned == learned { shared } else { 0 };
        let different = before.path.iter().skip(from).chain(after.path.iter().skip(from));
        different.for_each(|node| self.changes.add(*node));
        before
    }
}

fn set_of(node: NodeId) -> usize {
    node.index() % SETS
}
