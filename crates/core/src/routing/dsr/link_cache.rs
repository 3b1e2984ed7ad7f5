//! The link cache (RFC 4728 §4.1): a map of the network, from which paths are computed.
//!
//! Every link that was learned is kept, whoever told of it, until it is reported dead or the timeout passes.
//! A path is one of fewest hops; of equally short ones the one whose nodes have the smaller numbers, from the
//! destination backwards. Hu and Johnson (MobiCom 2000) compare such caches with path caches.
//!
//! *Not implemented*: their adaptive link lifetimes (RFC 4728 Appendix A).

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use crate::kernel::{Span, Time};
use crate::routing::{Changes, RouteNow};
use crate::wire::NodeId;
use crate::wire::dsr::Route;

/// The paths of fewest hops to all nodes, as long as the links are the same.
#[derive(Debug)]
struct Tree {
    /// The node before each on its path.
    before: BTreeMap<NodeId, NodeId>,
    /// When the first of the links that were in use becomes too old.
    valid_until: Time,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct LinkCache {
    node: NodeId,
    /// By link, in its direction: when it was last learned.
    links: BTreeMap<(NodeId, NodeId), Time>,
    timeout: Option<Span>,
    /// The search that was made last, until a link comes or goes.
    tree: RefCell<Option<Tree>>,
    /// All destinations when a link came or went.
    changes: Changes,
    /// The path that was found last.
    found: Route,
}

impl LinkCache {
    pub(super) fn new(node: NodeId, timeout: Option<Span>) -> LinkCache {
        let (links, tree) = (BTreeMap::new(), RefCell::new(None));
        LinkCache { node, links, timeout, tree, changes: Changes::NONE, found: Route::new() }
    }

    /// All links of a path.
    pub(super) fn add(&mut self, now: Time, path: &[NodeId]) {
        for link in path.windows(2) {
            let before = self.links.insert((link[0], link[1]), now);
            if !before.is_some_and(|learned| self.is_fresh(now, learned)) {
                self.note_change();
            }
        }
    }

    fn note_change(&mut self) {
        self.tree = RefCell::new(None);
        self.changes = Changes::ALL;
    }

    /// A path of fewest hops to `dst`.
    pub(super) fn find(&mut self, now: Time, dst: NodeId) -> Option<&[NodeId]> {
        self.found = self.path(now, dst)?;
        Some(&self.found)
    }

    /// At most `count` paths to `dst` that share no link: the shortest, the shortest without its links, and
    /// so on.
    pub(super) fn alternatives(&self, now: Time, dst: NodeId, count: usize) -> Vec<Route> {
        let mut rest = LinkCache { links: self.links.clone(), ..LinkCache::new(self.node, self.timeout) };
        let mut paths = Vec::new();
        while paths.len() < count
            && let Some(path) = rest.path(now, dst)
        {
            for link in path.windows(2) {
                rest.remove_link(link[0], link[1]);
            }
            paths.push(path);
        }
        paths
    }

    /// The path that [`LinkCache::find`] would give, as a route from this node.
    pub(super) fn route(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let path = self.path(now, dst)?;
        let last = self.with_tree(now, |tree| tree.valid_until);
        let until = if last == Time::NEVER { last } else { last + Span(1) };
        Some(RouteNow { next_hop: *path.get(1)?, hops: Some(path.len() as u32 - 1), until })
    }

    pub(super) fn remove_link(&mut self, from: NodeId, to: NodeId) {
        if self.links.remove(&(from, to)).is_some() {
            self.note_change();
        }
    }

    /// The destinations to which the paths may be others than when this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        self.changes.take()
    }

    fn is_fresh(&self, now: Time, learned: Time) -> bool {
        self.timeout.is_none_or(|timeout| now <= learned + timeout)
    }

    fn path(&self, now: Time, dst: NodeId) -> Option<Route> {
        let mut path = Route::from_slice(&[dst]);
        let mut node = dst;
        self.with_tree(now, |tree| {
            while node != self.node {
                node = *tree.before.get(&node)?;
                path.push(node);
            }
            path.reverse();
            Some(path)
        })
    }

    fn with_tree<T>(&self, now: Time, look: impl FnOnce(&Tree) -> T) -> T {
        let mut kept = self.tree.borrow_mut();
        let old = kept.take().filter(|tree| now <= tree.valid_until);
        look(kept.insert(old.unwrap_or_else(|| self.search(now))))
    }

    /// Breadth first from this node.
    fn search(&self, now: Time) -> Tree {
        let mut before: BTreeMap<NodeId, NodeId> = BTreeMap::from([(self.node, self.node)]);
        let mut queue = VecDeque::from([self.node]);
        let mut valid_until = Time::NEVER;
        while let Some(node) = queue.pop_front() {
            let from_node = (node, NodeId(0))..=(node, NodeId::BROADCAST);
            for (&(_, next), &learned) in self.links.range(from_node) {
                if !self.is_fresh(now, learned) {
                    continue;
                }
                if let Some(timeout) = self.timeout {
                    valid_until = valid_until.min(learned + timeout);
                }
                if let Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(node);
                    queue.push_back(next);
                }
            }
        }
        Tree { before, valid_until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testbench::at;
    use proptest::prelude::*;

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
        assert_eq!(cache.route(at(1.0), NodeId(9)).map(|route| route.next_hop), Some(NodeId(1)));
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

    proptest! {
        /// The search that is kept gives what a search at every call would give.
        #[test]
        fn a_kept_search_is_as_good_as_a_new_one(
            timeout in prop::option::of(1u32..30),
            steps in prop::collection::vec((0u8..4, 0u32..6, 0u32..6, 0u32..8), 1..80),
        ) {
            let mut cache = LinkCache::new(NodeId(0), timeout.map(|timeout| Span::from_secs(timeout.into())));
            let mut now = 0.0;
            for (what, from, to, pause) in steps {
                now += f64::from(pause);
                match what {
                    0 => cache.remove_link(NodeId(from), NodeId(to)),
                    1 => cache.add(at(now), &path(&[from, to])),
                    2 => cache.add(at(now), &path(&[0, from, to])),
                    _ => {}
                }
                let mut fresh = LinkCache::new(NodeId(0), cache.timeout);
                fresh.links = cache.links.clone();
                for dst in 0..6 {
                    prop_assert_eq!(found(&mut cache, now, dst), found(&mut fresh, now, dst));
                }
            }
        }
    }
}
