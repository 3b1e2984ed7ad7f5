//! The associativity table: how many beacons of each neighbour were heard in a row.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::wire::NodeId;

/// What is known of a neighbour.
#[derive(Clone, Copy, Debug)]
struct Associativity {
    ticks: u32,
    /// When it is lost if it is not heard before.
    lost_at: Time,
}

/// See the module's head.
#[derive(Default)]
pub(super) struct Ticks(BTreeMap<NodeId, Associativity>);

impl Ticks {
    /// A beacon; the neighbour is lost if it is not heard again for so long.
    pub(super) fn hear(&mut self, now: Time, from: NodeId, patience: Span) {
        let ticks = self.of(from).saturating_add(1);
        self.0.insert(from, Associativity { ticks, lost_at: now + patience });
    }

    /// The ticks of a neighbour; 0 of a node that is none.
    pub(super) fn of(&self, node: NodeId) -> u32 {
        self.0.get(&node).map_or(0, |known| known.ticks)
    }

    /// When the next neighbour is lost.
    pub(super) fn next_loss(&self) -> Time {
        self.0.values().map(|known| known.lost_at).min().unwrap_or(Time::NEVER)
    }

    /// The neighbours that were not heard in time.
    pub(super) fn lost(&self, now: Time) -> Vec<NodeId> {
        self.0.iter().filter(|(_, known)| known.lost_at <= now).map(|(node, _)| *node).collect()
    }

    pub(super) fn remove(&mut self, node: NodeId) {
        self.0.remove(&node);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
