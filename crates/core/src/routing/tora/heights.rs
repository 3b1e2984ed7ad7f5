//! What a node knows of heights for one destination: its own and those of its neighbours.
//!
//! A height that is not known is NULL. A neighbour's link leads up if its height is above the node's own,
//! down if it is below or if the node's own is NULL, and nowhere if the neighbour's is NULL.

use std::collections::BTreeMap;

use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::tora::{Height, Level};

/// A neighbour.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    height: Option<Height>,
    /// Since when it has been told all that the node said.
    since: Time,
}

/// See the module's head.
#[derive(Clone, Debug)]
pub(super) struct Heights {
    node: NodeId,
    dst: NodeId,
    own: Option<Height>,
    neighbours: BTreeMap<NodeId, Neighbour>,
}

impl Heights {
    /// All are NULL but the destination's.
    pub(super) fn new(node: NodeId, dst: NodeId) -> Heights {
        let own = (node == dst).then(|| Height::zero(dst));
        Heights { node, dst, own, neighbours: BTreeMap::new() }
    }

    pub(super) fn dst(&self) -> NodeId {
        self.dst
    }

    pub(super) fn own(&self) -> Option<Height> {
        self.own
    }

    /// A destination's own height stays as it is.
    pub(super) fn set_own(&mut self, height: Option<Height>) {
        if self.node != self.dst {
            self.own = height;
        }
    }

    /// The height above that of a neighbour, in its level.
    pub(super) fn above(&self, height: Height) -> Height {
        Height { level: height.level, delta: height.delta.saturating_add(1), id: self.node }
    }

    pub(super) fn add_neighbour(&mut self, node: NodeId, since: Time) {
        let height = (node == self.dst).then(|| Height::zero(self.dst));
        self.neighbours.insert(node, Neighbour { height, since });
    }

    pub(super) fn remove_neighbour(&mut self, node: NodeId) {
        self.neighbours.remove(&node);
    }

    pub(super) fn count(&self) -> usize {
        self.neighbours.len()
    }

    /// What a neighbour says of its height; that of another node is none.
    pub(super) fn set(&mut self, node: NodeId, height: Option<Height>) {
        if let Some(neighbour) = self.neighbours.get_mut(&node).filter(|_| node != self.dst) {
            neighbour.height = height.filter(|height| height.id == node);
        }
    }

    /// Makes the heights NULL that `is_wrong` names. The destination's is always known.
    pub(super) fn erase(&mut self, is_wrong: impl Fn(Height) -> bool) {
        for (node, neighbour) in &mut self.neighbours {
            if *node != self.dst && neighbour.height.is_some_and(&is_wrong) {
                neighbour.height = None;
            }
        }
    }

    /// The neighbour has forgotten what it was told.
    pub(super) fn renew(&mut self, node: NodeId, since: Time) {
        if let Some(neighbour) = self.neighbours.get_mut(&node) {
            neighbour.since = since;
        }
    }

    pub(super) fn since(&self, node: NodeId) -> Option<Time> {
        self.neighbours.get(&node).map(|neighbour| neighbour.since)
    }

    /// The heights of neighbours that are not NULL.
    pub(super) fn known(&self) -> impl Iterator<Item = Height> + '_ {
        self.neighbours.values().filter_map(|neighbour| neighbour.height)
    }

    /// The lowest neighbour to which the link leads down.
    pub(super) fn lowest_down(&self) -> Option<Height> {
        self.known().min().filter(|lowest| self.own.is_none_or(|own| *lowest < own))
    }

    /// The lowest neighbour whose level has not been reflected.
    pub(super) fn lowest_unreflected(&self) -> Option<Height> {
        self.known().filter(|height| !height.level.reflected).min()
    }

    /// The reference level that all known neighbours have.
    pub(super) fn common_level(&self) -> Option<Level> {
        let mut levels = self.known().map(|height| height.level);
        let first = levels.next()?;
        levels.all(|level| level == first).then_some(first)
    }

    /// The lowest neighbour in the highest level.
    pub(super) fn lowest_of_highest(&self) -> Option<Height> {
        let highest = self.known().map(|height| height.level).max()?;
        self.known().filter(|height| height.level == highest).min()
    }
}
