//! IARP, the intrazone routing protocol: neighbours by their beacons, their lists by flooding within the
//! zone, and the shortest ways in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::params::ZrpParams;
use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::zrp::LinkState;

/// What another node has told.
struct Told {
    seqno: u32,
    neighbours: Arc<[NodeId]>,
    until: Time,
}

/// How a node of the zone is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    pub(super) hops: u32,
    /// The node before it on the way.
    before: NodeId,
    pub(super) next_hop: NodeId,
}

/// A zone, as its node knows it.
pub(super) struct Zone {
    node: NodeId,
    radius: u32,
    /// Neighbours, and when they are lost.
    neighbours: BTreeMap<NodeId, Time>,
    told: BTreeMap<NodeId, Told>,
    reach: BTreeMap<NodeId, Reach>,
    seqno: u32,
}

impl Zone {
    pub(super) fn new(node: NodeId, params: &ZrpParams) -> Zone {
        let (neighbours, told, reach) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Zone { node, radius: params.radius, neighbours, told, reach, seqno: 0 }
    }

    /// The neighbour is there until a time, unless it is heard again. Returns whether it is new.
    pub(super) fn hear(&mut self, node: NodeId, until: Time) -> bool {
        let is_new = self.neighbours.insert(node, until).is_none();
        if is_new {
            self.recompute();
        }
        is_new
    }

    pub(super) fn is_neighbour(&self, node: NodeId) -> bool {
        self.neighbours.contains_key(&node)
    }

    /// Returns whether the node was a neighbour.
    pub(super) fn lose(&mut self, node: NodeId) -> bool {
        let was_there = self.neighbours.remove(&node).is_some();
        if was_there {
            self.recompute();
        }
        was_there
    }

    /// Forgets lists that are too old, and returns neighbours that are lost.
    pub(super) fn expire(&mut self, now: Time) -> Vec<NodeId> {
        let lost: Vec<NodeId> =
            self.neighbours.iter().filter(|(_, until)| **until <= now).map(|(node, _)| *node).collect();
        let known = self.told.len();
        self.neighbours.retain(|_, until| *until > now);
        self.told.retain(|_, told| told.until > now);
        if !lost.is_empty() || self.told.len() < known {
            self.recompute();
        }
        lost
    }

    pub(super) fn next_expiry(&self) -> Time {
        let told = self.told.values().map(|told| told.until);
        self.neighbours.values().copied().chain(told).min().unwrap_or(Time::NEVER)
    }

    /// The node's own list, to be flooded.
    pub(super) fn link_state(&mut self) -> LinkState {
        self.seqno += 1;
        let neighbours = self.neighbours.keys().copied().collect();
        LinkState { origin: self.node, seqno: self.seqno, ttl: self.radius, neighbours }
    }

    /// Stores a list that is newer than what is known, and returns whether it is.
    pub(super) fn learn(&mut self, state: &LinkState, until: Time) -> bool {
        let known = self.told.get(&state.origin);
        if state.origin == self.node || known.is_some_and(|known| known.seqno >= state.seqno) {
            return false;
        }
        let is_changed = known.is_none_or(|known| known.neighbours != state.neighbours);
        let told = Told { seqno: state.seqno, neighbours: Arc::clone(&state.neighbours), until };
        self.told.insert(state.origin, told);
        if is_changed {
            self.recompute();
        }
        true
    }

    /// How many nodes and lists are known.
    pub(super) fn len(&self) -> usize {
        self.neighbours.len() + self.told.len()
    }

    /// How a node of the zone is reached; none for others.
    pub(super) fn reach(&self, node: NodeId) -> Option<Reach> {
        self.reach.get(&node).copied()
    }

    /// Is the node in the zone, this node itself included?
    pub(super) fn has(&self, node: NodeId) -> bool {
        node == self.node || self.reach.contains_key(&node)
    }

    /// The way to a node of the zone, from this node to that.
    pub(super) fn way(&self, node: NodeId) -> Option<Vec<NodeId>> {
        let mut way = vec![node];
        while let Some(&last) = way.last()
            && last != self.node
        {
            way.push(self.reach.get(&last)?.before);
        }
        way.reverse();
        Some(way)
    }

    /// The nodes at the border of the zone: as far away as its radius.
    pub(super) fn peripherals(&self) -> BTreeSet<NodeId> {
        self.reach.iter().filter(|(_, reach)| reach.hops == self.radius).map(|(node, _)| *node).collect()
    }

    /// The neighbours over which links work, as far as is known.
    pub(super) fn first_hops(&self) -> Vec<NodeId> {
        self.reach.iter().filter(|(_, reach)| reach.hops == 1).map(|(node, _)| *node).collect()
    }

    /// The nodes that another node has in its zone, as far as this one knows its links.
    pub(super) fn zone_of(&self, node: NodeId) -> BTreeSet<NodeId> {
        self.ball(node, self.radius).into_keys().collect()
    }

    /// The nodes at exactly one hop less than the radius from a neighbour.
    pub(super) fn rim_of(&self, neighbour: NodeId) -> BTreeSet<NodeId> {
        let reach = self.ball(neighbour, self.radius - 1);
        reach.iter().filter(|(_, reach)| reach.hops == self.radius - 1).map(|(node, _)| *node).collect()
    }

    fn recompute(&mut self) {
        self.reach = self.ball(self.node, self.radius);
        self.reach.remove(&self.node);
    }

    /// All nodes up to so many hops from one, breadth first, in the order of their numbers.
    fn ball(&self, centre: NodeId, radius: u32) -> BTreeMap<NodeId, Reach> {
        let mut reached = BTreeMap::from([(centre, Reach { hops: 0, before: centre, next_hop: centre })]);
        let mut queue = VecDeque::from([centre]);
        while let Some(node) = queue.pop_front() {
            let of_node = reached[&node];
            if of_node.hops == radius {
                break;
            }
            for next in self.links(node) {
                reached.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    let next_hop = if of_node.hops == 0 { next } else { of_node.next_hop };
                    Reach { hops: of_node.hops + 1, before: node, next_hop }
                });
            }
        }
        reached
    }

    /// A node's links: those that it tells, unless the other end tells otherwise.
    fn links(&self, node: NodeId) -> Vec<NodeId> {
        let told = self.told.get(&node).map(|told| &told.neighbours[..]).unwrap_or_default();
        let own = if node == self.node { self.neighbours.keys().copied().collect() } else { Vec::new() };
        let all = own.into_iter().chain(told.iter().copied());
        all.filter(|other| self.hears(*other, node).unwrap_or(true)).collect()
    }

    /// Does a node say that it hears another? None if it says nothing.
    fn hears(&self, node: NodeId, other: NodeId) -> Option<bool> {
        if node == self.node {
            return Some(self.neighbours.contains_key(&other));
        }
        self.told.get(&node).map(|told| told.neighbours.contains(&other))
    }
}
