//! Which of the ways that queries have found the destination takes.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::wire::NodeId;
use crate::wire::abr::Hop;

/// A way from the maker of a query, which is the first hop, to the destination, which is the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Way {
    pub(super) hops: Arc<[Hop]>,
}

impl Way {
    fn links(&self) -> &[Hop] {
        self.hops.get(1..).unwrap_or_default()
    }

    /// Those between the ends: the ends carry the route's packets anyhow.
    fn relays(&self) -> &[Hop] {
        let links = self.links();
        &links[..links.len().saturating_sub(1)]
    }

    pub(super) fn nodes(&self) -> Arc<[NodeId]> {
        self.hops.iter().map(|hop| hop.node).collect()
    }

    /// Is this way better? The first of two equal ones is taken.
    pub(super) fn is_better_than(&self, other: &Way, threshold_ticks: u32, max_load: u32) -> bool {
        let stable = |way: &Way| way.links().iter().filter(|hop| hop.ticks >= threshold_ticks).count();
        let spared = |way: &Way| way.relays().iter().all(|hop| u32::from(hop.load) < max_load);
        let load = |way: &Way| way.relays().iter().map(|hop| u32::from(hop.load)).sum::<u32>();
        // The share of stable links, as a fraction.
        let stability = (stable(self) * other.links().len()).cmp(&(stable(other) * self.links().len()));
        let rest = spared(self).cmp(&spared(other));
        let hops = other.links().len().cmp(&self.links().len());
        stability.then(rest).then(hops).then(load(other).cmp(&load(self))) == Ordering::Greater
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way by the ticks of its links and the loads of its relays.
    fn way(ticks: &[u32], loads: &[u16]) -> Way {
        let first = Hop { node: NodeId(0), ticks: 0, load: 99 };
        let loads = loads.iter().copied().chain([99]);
        let hop = |(ticks, load): (&u32, u16)| Hop { node: NodeId(1), ticks: *ticks, load };
        Way { hops: [first].into_iter().chain(ticks.iter().zip(loads).map(hop)).collect() }
    }

    /// Each way is better than all after it.
    #[test]
    fn stability_comes_first_then_load_that_is_not_too_large_then_hops_then_load() {
        let ways = [
            way(&[50, 70, 50], &[1, 4]),
            way(&[60, 60, 60], &[2, 4]),
            way(&[60, 60, 60, 60], &[0, 0, 0]),
            way(&[90, 90], &[5]),
            way(&[60, 60, 49], &[0, 0]),
            way(&[99, 49], &[0]),
            way(&[49], &[]),
        ];
        for (place, one) in ways.iter().enumerate() {
            for (other_place, other) in ways.iter().enumerate() {
                let is_better = one.is_better_than(other, 50, 5);
                assert_eq!(is_better, place < other_place, "{one:?} and {other:?}");
            }
        }
    }
}
