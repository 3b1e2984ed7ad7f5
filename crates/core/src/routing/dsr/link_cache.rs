//! The link cache (RFC 4728 §4.1): a map of the network, from which paths are computed.
//!
//! Every link that was learned is kept, whoever told of it, until it is reported dead or the timeout passes.
//! A path is one of fewest hops; of equally short ones the one whose nodes have the smaller numbers, from the
//! destination backwards. Hu and Johnson (MobiCom 2000) compare such caches with path caches.
//!
//! *Not implemented*: their adaptive link lifetimes (RFC 4728 Appendix A).

use std::collections::{BTreeMap, VecDeque};

use crate::kernel::{Span, Time};
use crate::wire::NodeId;
use crate::wire::dsr::Route;

/// See the module's head.
#[derive(Debug)]
pub(super) struct LinkCache {
    node: NodeId,
    /// By link, in its direction: when it was last learned.
    links: BTreeMap<(NodeId, NodeId), Time>,
    timeout: Option<Span>,
    /// The path that was found last.
    found: Route,
}

impl LinkCache {
    pub(super) fn new(node: NodeId, timeout: Option<Span>) -> LinkCache {
        LinkCache { node, links: BTreeMap::new(), timeout, found: Route::new() }
    }

    /// All links of a path.
    pub(super) fn add(&mut self, now: Time, path: &[NodeId]) {
        for link in path.windows(2) {
            self.links.insert((link[0], link[1]), now);
        }
    }

    /// A path of fewest hops to `dst`.
    pub(super) fn find(&mut self, now: Time, dst: NodeId) -> Option<&[NodeId]> {
        self.found = self.path(now, dst)?;
        Some(&self.found)
    }

    pub(super) fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        self.path(now, dst)?.get(1).copied()
    }

    pub(super) fn remove_link(&mut self, from: NodeId, to: NodeId) {
        self.links.remove(&(from, to));
    }

    /// Breadth first from this node.
    fn path(&self, now: Time, dst: NodeId) -> Option<Route> {
        let mut before: BTreeMap<NodeId, NodeId> = BTreeMap::from([(self.node, self.node)]);
        let mut queue = VecDeque::from([self.node]);
        while let Some(node) = queue.pop_front() {
            if node == dst {
                return Some(self.trace_back(&before, dst));
            }
            let from_node = (node, NodeId(0))..=(node, NodeId::BROADCAST);
            for (&(_, next), &learned) in self.links.range(from_node) {
                let fresh = self.timeout.is_none_or(|timeout| now <= learned + timeout);
                if fresh && !before.contains_key(&next) {
                    before.insert(next, node);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn trace_back(&self, before: &BTreeMap<NodeId, NodeId>, dst: NodeId) -> Route {
        let mut path = Route::from_slice(&[dst]);
        let mut node = dst;
        while node != self.node {
            node = before[&node];
            path.push(node);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;

    fn path(nodes: &[u32]) -> Vec<NodeId> {
        nodes.iter().map(|node| NodeId(*node)).collect()
    }

    fn found(cache: &mut LinkCache, now: f64, dst: u32) -> Option<Vec<u32>> {
        let path = cache.find(at(now), NodeId(dst))?;
        Some(path.iter().map(|node| node.0).collect())
    }

    #[test]
    fn links_of_different_paths_join() {
        let mut cache = LinkCache::new(NodeId(0), None);
        cache.add(at(0.0), &path(&[0, 1, 2]));
        cache.add(at(0.0), &path(&[5, 2, 9]));
        assert_eq!(found(&mut cache, 1.0, 9), Some(vec![0, 1, 2, 9]), "no path was told as a whole");
        assert_eq!(found(&mut cache, 1.0, 5), None, "links have a direction");
        assert_eq!(cache.next_hop(at(1.0), NodeId(9)), Some(NodeId(1)));
    }

    #[test]
    fn the_fewest_hops_win_and_a_dead_link_is_walked_around() {
        let mut cache = LinkCache::new(NodeId(0), None);
        cache.add(at(0.0), &path(&[0, 1, 2, 9]));
        cache.add(at(0.0), &path(&[0, 3, 9]));
        assert_eq!(found(&mut cache, 1.0, 9), Some(vec![0, 3, 9]));
        cache.remove_link(NodeId(3), NodeId(9));
        assert_eq!(found(&mut cache, 1.0, 9), Some(vec![0, 1, 2, 9]));
    }

    #[test]
    fn links_age_one_by_one() {
        let mut cache = LinkCache::new(NodeId(0), Some(Span::from_secs(300.0)));
        cache.add(at(0.0), &path(&[0, 1, 2]));
        cache.add(at(200.0), &path(&[0, 1]));
        assert_eq!(found(&mut cache, 301.0, 2), None);
        assert_eq!(found(&mut cache, 301.0, 1), Some(vec![0, 1]));
    }
}
