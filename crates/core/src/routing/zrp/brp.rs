//! BRP, the bordercast resolution protocol: brings queries to the borders of zones, and not to where they
//! have been.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::iarp::Zone;
use crate::kernel::Time;
use crate::wire::NodeId;
use crate::wire::zrp::{Name, Query};

/// What a node knows of the spread of a query.
struct Coverage {
    /// Nodes whose zones the query has reached: its senders.
    by: BTreeSet<NodeId>,
    /// Was this node asked to bordercast it?
    is_target: bool,
    /// Has this node sent it?
    is_sent: bool,
    until: Time,
}

/// The queries that a node has heard.
#[derive(Default)]
pub(super) struct Brp {
    coverage: BTreeMap<Name, Coverage>,
}

impl Brp {
    /// A query that this node makes.
    pub(super) fn originate(&mut self, name: Name, until: Time) {
        let (by, is_target, is_sent) = (BTreeSet::new(), true, false);
        self.coverage.insert(name, Coverage { by, is_target, is_sent, until });
    }

    /// A query from a neighbour. Returns whether IERP has not had it yet.
    pub(super) fn receive(&mut self, name: Name, from: NodeId, is_target: bool, until: Time) -> bool {
        let mut is_new = false;
        let coverage = self.coverage.entry(name).or_insert_with(|| {
            is_new = true;
            Coverage { by: BTreeSet::new(), is_target: false, is_sent: false, until }
        });
        coverage.by.insert(from);
        coverage.is_target |= is_target;
        is_new
    }

    /// Was this node asked to bordercast the query, and has not done so?
    pub(super) fn is_due(&self, name: Name) -> bool {
        self.coverage.get(&name).is_some_and(|coverage| coverage.is_target && !coverage.is_sent)
    }

    /// The neighbours that are to have the query, if this node is to send it and there is a border of its
    /// zone that was not covered.
    pub(super) fn bordercast(&mut self, zone: &Zone, query: &Query) -> Option<Arc<[NodeId]>> {
        let coverage = self.coverage.get_mut(&query.name())?;
        if !coverage.is_target || coverage.is_sent {
            return None;
        }
        coverage.is_sent = true;
        let mut uncovered = zone.peripherals();
        for node in &coverage.by {
            let covered = zone.zone_of(*node);
            uncovered.retain(|node| !covered.contains(node));
        }
        // Who has had it needs no copy.
        uncovered.retain(|node| !query.path.contains(node));
        let targets = relays(zone, uncovered);
        (!targets.is_empty()).then(|| targets.into())
    }

    pub(super) fn forget(&mut self, now: Time) {
        self.coverage.retain(|_, coverage| coverage.until > now);
    }

    pub(super) fn next_expiry(&self) -> Time {
        self.coverage.values().map(|coverage| coverage.until).min().unwrap_or(Time::NEVER)
    }

    pub(super) fn len(&self) -> usize {
        self.coverage.len()
    }
}

/// Neighbours on shortest ways to all of these borders: at each step the one that serves most.
fn relays(zone: &Zone, mut uncovered: BTreeSet<NodeId>) -> Vec<NodeId> {
    let rims: Vec<(NodeId, BTreeSet<NodeId>)> =
        zone.first_hops().into_iter().map(|neighbour| (neighbour, zone.rim_of(neighbour))).collect();
    let mut targets = Vec::new();
    while !uncovered.is_empty() {
        let served = |rim: &BTreeSet<NodeId>| rim.intersection(&uncovered).count();
        let best = rims.iter().rev().max_by_key(|(_, rim)| served(rim));
        let Some((neighbour, rim)) = best.filter(|(_, rim)| served(rim) > 0) else { break };
        uncovered.retain(|node| !rim.contains(node));
        targets.push(*neighbour);
    }
    targets
}
