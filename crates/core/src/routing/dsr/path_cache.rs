//! The path cache (RFC 4728 §4.1): whole paths from this node, as they were learned.
//!
//! Two parts, as in Broch et al. 1998: the *primary* part holds paths that this node asked for or uses, the
//! *secondary* part those that it overheard. A secondary path that is used moves to the primary part. Paths do
//! not age unless a timeout is set; they go when a link of theirs is reported dead, or round-robin when their part
//! is full.

use crate::kernel::{Span, Time};
use crate::packet::NodeId;

use super::header::Route;

/// A path and when it was last learned.
#[derive(Clone, Debug)]
struct Cached {
    /// This node first; empty: a free place.
    path: Route,
    learned: Time,
}

/// One of the two parts.
#[derive(Debug)]
struct Part {
    places: Vec<Cached>,
    limit: usize,
    victim: usize,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct PathCache {
    primary: Part,
    secondary: Part,
    timeout: Option<Span>,
}

impl PathCache {
    pub(super) fn new(primary: u32, secondary: u32, timeout: Option<Span>) -> PathCache {
        PathCache { primary: Part::new(primary), secondary: Part::new(secondary), timeout }
    }

    /// A path that this node asked for or knows to be good.
    pub(super) fn add(&mut self, now: Time, path: &[NodeId]) {
        self.primary.add(now, path);
    }

    /// A path that was overheard.
    pub(super) fn notice(&mut self, now: Time, path: &[NodeId]) {
        self.secondary.add(now, path);
    }

    /// The shortest path to `dst`; of equally short ones one that is in the primary part. `for_use` moves it there.
    pub(super) fn find(&mut self, now: Time, dst: NodeId, for_use: bool) -> Option<&[NodeId]> {
        let ours = self.primary.shortest(now, dst, self.timeout);
        let (place, last) = match (ours, self.secondary.shortest(now, dst, self.timeout)) {
            (ours, Some(other)) if ours.is_none_or(|ours| other.1 < ours.1) => {
                if !for_use {
                    return Some(&self.secondary.places[other.0].path[..=other.1]);
                }
                let moved = std::mem::take(&mut self.secondary.places[other.0].path);
                (self.primary.add(self.secondary.places[other.0].learned, &moved), other.1)
            }
            (ours, _) => ours?,
        };
        Some(&self.primary.places[place].path[..=last])
    }

    /// The next hop of the path that [`PathCache::find`] would give.
    pub(super) fn next_hop(&self, now: Time, dst: NodeId) -> Option<NodeId> {
        let ours = self.primary.shortest(now, dst, self.timeout);
        let other = self.secondary.shortest(now, dst, self.timeout);
        match (ours, other) {
            (ours, Some(other)) if ours.is_none_or(|ours| other.1 < ours.1) => {
                self.secondary.places[other.0].path.get(1).copied()
            }
            (ours, _) => self.primary.places[ours?.0].path.get(1).copied(),
        }
    }

    /// The link failed: paths end before it.
    pub(super) fn remove_link(&mut self, from: NodeId, to: NodeId) {
        self.primary.remove_link(from, to);
        self.secondary.remove_link(from, to);
    }

    #[cfg(test)]
    pub(super) fn paths(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let plain = |part: &Part| {
            let used = part.places.iter().filter(|place| !place.path.is_empty());
            used.map(|place| place.path.iter().map(|node| node.0).collect()).collect()
        };
        (plain(&self.primary), plain(&self.secondary))
    }
}

impl Part {
    fn new(limit: u32) -> Part {
        Part { places: Vec::new(), limit: limit as usize, victim: 0 }
    }

    /// Adds a path; returns its place. A path that continues a cached one takes its place, one that is the beginning
    /// of a cached one only renews it.
    fn add(&mut self, now: Time, path: &[NodeId]) -> usize {
        // All paths begin at this node; nearly all that differ do so at the next.
        let next_hop = path.get(1);
        for (place, cached) in self.places.iter_mut().enumerate() {
            if next_hop.is_some_and(|hop| cached.path.get(1).is_some_and(|other| other != hop)) {
                continue;
            }
            let shared = cached.path.len().min(path.len());
            if shared > 0 && cached.path[..shared] == path[..shared] {
                cached.path.extend_from_slice(&path[shared..]);
                cached.learned = cached.learned.max(now);
                return place;
            }
        }
        let new = Cached { path: Route::from_slice(path), learned: now };
        let place = self.free_place();
        match self.places.get_mut(place) {
            Some(cached) => *cached = new,
            None => self.places.push(new),
        }
        place
    }

    fn free_place(&mut self) -> usize {
        if let Some(free) = self.places.iter().position(|cached| cached.path.is_empty()) {
            return free;
        }
        if self.places.len() < self.limit {
            return self.places.len();
        }
        let place = self.victim;
        self.victim = (self.victim + 1) % self.limit;
        place
    }

    /// The place of the shortest path to `dst`, and how many hops it has; of equally short ones the first.
    fn shortest(&self, now: Time, dst: NodeId, timeout: Option<Span>) -> Option<(usize, usize)> {
        let fresh = |cached: &Cached| timeout.is_none_or(|timeout| now <= cached.learned + timeout);
        let known = self.places.iter().enumerate().filter_map(|(place, cached)| {
            let hops = cached.path.iter().position(|node| *node == dst)?;
            fresh(cached).then_some((place, hops))
        });
        known.min_by_key(|(_, hops)| *hops)
    }

    fn remove_link(&mut self, from: NodeId, to: NodeId) {
        for cached in &mut self.places {
            if let Some(at) = cached.path.windows(2).position(|link| link[0] == from && link[1] == to) {
                // What is left of a path that fails at its first link is this node alone.
                cached.path.truncate(if at == 0 { 0 } else { at + 1 });
            }
        }
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

    fn found(cache: &mut PathCache, dst: u32, for_use: bool) -> Option<Vec<u32>> {
        let path = cache.find(at(1.0), NodeId(dst), for_use)?;
        Some(path.iter().map(|node| node.0).collect())
    }

    #[test]
    fn the_shortest_path_wins_and_the_primary_part_at_equal_length() {
        let mut cache = PathCache::new(4, 4, None);
        cache.notice(at(0.0), &path(&[0, 5, 9]));
        cache.add(at(0.0), &path(&[0, 1, 2, 9]));
        assert_eq!(found(&mut cache, 9, false), Some(vec![0, 5, 9]));
        cache.add(at(0.0), &path(&[0, 3, 9]));
        assert_eq!(found(&mut cache, 9, false), Some(vec![0, 3, 9]));
        assert_eq!(found(&mut cache, 2, false), Some(vec![0, 1, 2]), "nodes on the way are destinations too");
        assert_eq!(found(&mut cache, 7, false), None);
    }

    #[test]
    fn only_use_moves_a_path_to_the_primary_part() {
        let mut cache = PathCache::new(4, 4, None);
        cache.notice(at(0.0), &path(&[0, 1, 2]));
        found(&mut cache, 2, false);
        assert_eq!(cache.paths(), (vec![], vec![vec![0, 1, 2]]));
        found(&mut cache, 2, true);
        assert_eq!(cache.paths(), (vec![vec![0, 1, 2]], vec![]));
    }

    #[test]
    fn a_longer_path_takes_the_place_of_its_beginning() {
        let mut cache = PathCache::new(4, 4, None);
        cache.add(at(0.0), &path(&[0, 1]));
        cache.add(at(0.0), &path(&[0, 1, 2]));
        cache.add(at(0.0), &path(&[0, 1]));
        assert_eq!(cache.paths().0, [[0, 1, 2]]);
    }

    #[test]
    fn a_dead_link_truncates_paths_in_its_direction() {
        let mut cache = PathCache::new(8, 8, None);
        cache.add(at(0.0), &path(&[0, 1, 2, 3]));
        cache.add(at(0.0), &path(&[0, 3, 2, 1]));
        cache.notice(at(0.0), &path(&[0, 1, 4]));
        cache.remove_link(NodeId(2), NodeId(3));
        assert_eq!(cache.paths().0, [vec![0, 1, 2], vec![0, 3, 2, 1]]);
        cache.remove_link(NodeId(0), NodeId(1));
        assert_eq!(cache.paths(), (vec![vec![0, 3, 2, 1]], vec![]));
    }

    #[test]
    fn a_full_part_loses_its_paths_in_turn() {
        let mut cache = PathCache::new(2, 1, None);
        for first in 1..=3 {
            cache.add(at(0.0), &path(&[0, first, 9]));
        }
        assert_eq!(cache.paths().0, [[0, 3, 9], [0, 2, 9]]);
        cache.add(at(0.0), &path(&[0, 4, 9]));
        assert_eq!(cache.paths().0, [[0, 3, 9], [0, 4, 9]]);
    }

    #[test]
    fn without_a_timeout_paths_stay_and_with_one_they_age_unless_learned_again() {
        let mut forever = PathCache::new(4, 4, None);
        forever.add(at(0.0), &path(&[0, 1]));
        assert!(forever.find(at(1e5), NodeId(1), true).is_some());
        let mut cache = PathCache::new(4, 4, Some(Span::from_secs(300.0)));
        cache.add(at(0.0), &path(&[0, 1]));
        assert!(cache.find(at(300.0), NodeId(1), true).is_some());
        assert!(cache.find(at(300.1), NodeId(1), true).is_none(), "use alone does not renew");
        cache.notice(at(300.1), &path(&[0, 1]));
        assert!(cache.find(at(600.0), NodeId(1), true).is_some());
    }

    proptest! {
        /// Against a plain list of all that was learned, in a cache that never overflows.
        #[test]
        fn it_knows_all_and_only_what_was_learned_and_has_not_died(
            steps in prop::collection::vec((0u32..4, prop::collection::vec(1u32..7, 1..5)), 1..40),
        ) {
            let mut cache = PathCache::new(64, 64, None);
            let mut plain: Vec<Vec<u32>> = Vec::new();
            for (kind, mut nodes) in steps {
                let mut seen = Vec::new();
                nodes.retain(|node| !seen.contains(node) && { seen.push(*node); true });
                nodes.insert(0, 0);
                match kind {
                    0 => cache.add(at(0.0), &path(&nodes)),
                    1 => cache.notice(at(0.0), &path(&nodes)),
                    2 => { found(&mut cache, nodes[1], true); }
                    _ => {
                        let (from, to) = (nodes[nodes.len() - 2], nodes[nodes.len() - 1]);
                        cache.remove_link(NodeId(from), NodeId(to));
                        for known in &mut plain {
                            if let Some(cut) = known.windows(2).position(|link| link == [from, to]) {
                                known.truncate(cut + 1);
                            }
                        }
                    }
                }
                if kind < 2 {
                    plain.push(nodes);
                }
                for dst in 1..7 {
                    let shortest = plain.iter().filter_map(|known| known.iter().position(|n| *n == dst)).min();
                    let path = found(&mut cache, dst, false);
                    prop_assert_eq!(path.as_ref().map(|path| path.len() - 1), shortest, "to {}", dst);
                    prop_assert_eq!(
                        cache.next_hop(at(1.0), NodeId(dst)).map(|hop| hop.0), path.map(|path| path[1])
                    );
                }
            }
        }
    }
}
