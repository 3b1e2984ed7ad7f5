//! The path cache (RFC 4728 §4.1): whole paths from this node, as they were learned.
//!
//! Two parts, as in Broch et al. 1998: the *primary* part holds paths that this node asked for or uses, the
//! *secondary* part those that it overheard. A secondary path that is used moves to the primary part. Paths
//! do not age unless a timeout is set; they go when a link of theirs is reported dead, or round-robin when
//! their part is full.
//!
//! *Deviations* (docs/models/dsr.md): 4 (paths are truncated).

use crate::kernel::{Span, Time};
use crate::routing::{Changes, RouteNow};
use crate::wire::NodeId;
use crate::wire::dsr::Route;

use super::path_index::{Cached, PLACES, PathIndex};

/// One of the two parts. Places are numbered across its indexes.
#[derive(Debug)]
struct Part {
    indexes: Vec<PathIndex>,
    limit: usize,
    victim: usize,
    /// Does a path go to a free place even if a later place holds it already?
    fills_gaps: bool,
    /// After this time paths are too old.
    timeout: Option<Span>,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct PathCache {
    primary: Part,
    secondary: Part,
}

impl PathCache {
    pub(super) fn new(primary: u32, secondary: u32, timeout: Option<Span>) -> PathCache {
        let part = |limit| Part { timeout, ..Part::new(limit) };
        PathCache { primary: part(primary), secondary: part(secondary) }
    }

    /// A path goes to a free place even if a later place holds it already.
    pub(super) fn filling_gaps(mut self, fills_gaps: bool) -> PathCache {
        self.primary.fills_gaps = fills_gaps;
        self.secondary.fills_gaps = fills_gaps;
        self
    }

    /// A path that this node asked for or knows to be good.
    pub(super) fn add(&mut self, now: Time, path: &[NodeId]) {
        self.primary.add(now, path);
    }

    /// A path that was overheard.
    pub(super) fn notice(&mut self, now: Time, path: &[NodeId]) {
        self.secondary.add(now, path);
    }

    /// The shortest path to `dst`; of equally short ones one that is in the primary part. `for_use` moves it
    /// there.
    pub(super) fn find(&mut self, now: Time, dst: NodeId, for_use: bool) -> Option<&[NodeId]> {
        let ours = self.primary.shortest(now, dst);
        let (place, last) = match (ours, self.secondary.shortest(now, dst)) {
            (ours, Some(other)) if ours.is_none_or(|ours| other.1 < ours.1) => {
                if !for_use {
                    return Some(&self.secondary.get(other.0).path[..=other.1]);
                }
                let moved = self.secondary.take(other.0);
                let place = self.primary.add(moved.learned, &moved.path);
                // Perhaps it has renewed one that was too old.
                self.primary.indexes[place / PLACES].note_change(place % PLACES);
                (place, other.1)
            }
            (ours, _) => ours?,
        };
        Some(&self.primary.get(place).path[..=last])
    }

    /// At most `count` different paths to `dst`, the shortest first; of equally short ones those of the
    /// primary part, in order of their places.
    pub(super) fn alternatives(&self, now: Time, dst: NodeId, count: usize) -> Vec<Route> {
        let parts = [&self.primary, &self.secondary];
        let mut known: Vec<Route> = parts.iter().flat_map(|part| part.all(now, dst)).collect();
        known.sort_by_key(|path| path.len());
        let mut different: Vec<Route> = Vec::new();
        for path in known {
            if different.len() < count && !different.contains(&path) {
                different.push(path);
            }
        }
        different
    }

    /// The path that [`PathCache::find`] would give, as a route from this node.
    pub(super) fn route(&self, now: Time, dst: NodeId) -> Option<RouteNow> {
        let (ours, other) = (self.primary.shortest(now, dst), self.secondary.shortest(now, dst));
        let (part, (place, hops)) = match (ours, other) {
            (ours, Some(other)) if ours.is_none_or(|ours| other.1 < ours.1) => (&self.secondary, other),
            (ours, _) => (&self.primary, ours?),
        };
        let cached = part.get(place);
        let until = part.timeout.map_or(Time::NEVER, |timeout| cached.learned + timeout + Span(1));
        Some(RouteNow { next_hop: *cached.path.get(1)?, hops: Some(hops as u32), until })
    }

    /// The destinations to which paths may have come, gone or been renewed since this was asked last.
    pub(super) fn take_changes(&mut self) -> Changes {
        let indexes = self.primary.indexes.iter_mut().chain(&mut self.secondary.indexes);
        indexes.fold(Changes::NONE, |all, index| all.and_those_of(index.take_changes()))
    }

    /// The link failed: paths end before it.
    pub(super) fn remove_link(&mut self, from: NodeId, to: NodeId) {
        self.primary.remove_link(from, to);
        self.secondary.remove_link(from, to);
    }

    /// The paths of both parts in order of their places.
    #[cfg(test)]
    pub(super) fn paths(&self) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let plain = |part: &Part| {
            let all = (0..part.limit.min(part.indexes.len() * PLACES)).map(|place| &part.get(place).path);
            let used = all.filter(|path| !path.is_empty());
            used.map(|path| path.iter().map(|node| node.0).collect()).collect()
        };
        (plain(&self.primary), plain(&self.secondary))
    }
}

impl Part {
    fn new(limit: u32) -> Part {
        Part { indexes: Vec::new(), limit: limit as usize, victim: 0, fills_gaps: false, timeout: None }
    }

    fn get(&self, place: usize) -> &Cached {
        self.indexes[place / PLACES].get(place % PLACES)
    }

    fn put(&mut self, place: usize, path: Route, learned: Time) -> Cached {
        self.indexes[place / PLACES].put(place % PLACES, path, learned)
    }

    fn take(&mut self, place: usize) -> Cached {
        self.put(place, Route::new(), Time::ZERO)
    }

    /// Adds a path; returns its place. A path that continues a cached one takes its place, one that is the
    /// beginning of a cached one only renews it.
    fn add(&mut self, now: Time, path: &[NodeId]) -> usize {
        let gap = if self.fills_gaps { self.first_gap() } else { None };
        for (number, index) in self.indexes.iter_mut().enumerate() {
            for place in index.prefixes_and_extensions_of(path) {
                if let Some(gap) = gap
                    && gap < number * PLACES + place
                {
                    self.put(gap, Route::from_slice(path), now);
                    return gap;
                }
                let cached = index.get(place);
                let shared = cached.path.len().min(path.len());
                if cached.path[..shared] == path[..shared] {
                    if shared < path.len() {
                        index.put(place, Route::from_slice(path), cached.learned);
                    }
                    if self.timeout.is_some_and(|timeout| now > index.get(place).learned + timeout) {
                        index.note_change(place);
                    }
                    index.renew(place, now);
                    return number * PLACES + place;
                }
            }
        }
        let place = self.free_place();
        self.put(place, Route::from_slice(path), now);
        place
    }

    fn is_fresh(&self, now: Time, cached: &Cached) -> bool {
        self.timeout.is_none_or(|timeout| now <= cached.learned + timeout)
    }

    /// The first free place before the last index ends.
    fn first_gap(&self) -> Option<usize> {
        let free_on = |(number, index): (usize, &PathIndex)| Some(number * PLACES + index.first_free()?);
        self.indexes.iter().enumerate().find_map(free_on)
    }

    /// The first free place; if there is none the next one in turn.
    fn free_place(&mut self) -> usize {
        if let Some(free) = self.first_gap() {
            return free;
        }
        let places = self.indexes.len() * PLACES;
        if places < self.limit {
            self.indexes.push(PathIndex::new(PLACES.min(self.limit - places)));
            return places;
        }
        let place = self.victim;
        self.victim = (self.victim + 1) % self.limit;
        place
    }

    /// The place of the shortest path to `dst`, and how many hops it has; of equally short ones the first.
    fn shortest(&self, now: Time, dst: NodeId) -> Option<(usize, usize)> {
        let known = self.indexes.iter().enumerate().flat_map(|(number, index)| {
            index.over(dst).filter_map(move |place| {
                let cached = index.get(place);
                let hops = cached.path.iter().position(|node| *node == dst)?;
                self.is_fresh(now, cached).then_some((number * PLACES + place, hops))
            })
        });
        known.min_by_key(|(_, hops)| *hops)
    }

    /// The paths to `dst` in order of their places.
    fn all(&self, now: Time, dst: NodeId) -> impl Iterator<Item = Route> + '_ {
        let cached = self.indexes.iter().flat_map(move |index| index.over(dst).map(|place| index.get(place)));
        cached.filter(move |cached| self.is_fresh(now, cached)).filter_map(move |cached| {
            let last = cached.path.iter().position(|node| *node == dst)?;
            Some(Route::from_slice(&cached.path[..=last]))
        })
    }

    fn remove_link(&mut self, from: NodeId, to: NodeId) {
        for index in &mut self.indexes {
            for place in index.over_both(from, to) {
                let Cached { path, learned } = index.get(place);
                if let Some(at) = path.windows(2).position(|link| link[0] == from && link[1] == to) {
                    // What is left of a path that fails at its first link is this node alone.
                    let kept = if at == 0 { 0 } else { at + 1 };
                    index.put(place, Route::from_slice(&path[..kept]), *learned);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
    fn alternatives_are_different_and_the_shortest_come_first() {
        let mut cache = PathCache::new(4, 4, Some(Span::from_secs(10.0)));
        let plain = |paths: Vec<Route>| -> Vec<Vec<u32>> {
            paths.iter().map(|path| path.iter().map(|node| node.0).collect()).collect()
        };
        cache.add(at(0.0), &path(&[0, 8, 9]));
        cache.add(at(1.0), &path(&[0, 1, 2, 9, 4]));
        cache.add(at(1.0), &path(&[0, 3, 4, 9]));
        cache.notice(at(1.0), &path(&[0, 5, 9]));
        cache.notice(at(1.0), &path(&[0, 3, 4, 9, 7]));
        assert_eq!(plain(cache.alternatives(at(1.0), NodeId(9), 2)), [vec![0, 8, 9], vec![0, 5, 9]]);
        let all = [vec![0, 5, 9], vec![0, 1, 2, 9], vec![0, 3, 4, 9]];
        assert_eq!(plain(cache.alternatives(at(10.5), NodeId(9), 9)), all, "one is too old, one is known");
        assert!(cache.alternatives(at(1.0), NodeId(6), 9).is_empty());
        assert_eq!(cache.paths().1.len(), 2, "who only asks moves no path to the primary part");
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

    /// ns-2.35 takes the first place that is free or has to do with the path.
    #[test]
    fn a_path_may_be_cached_twice_if_gaps_are_filled_first() {
        for (fills_gaps, twice) in [(true, true), (false, false)] {
            let mut cache = PathCache::new(4, 4, None).filling_gaps(fills_gaps);
            cache.add(at(0.0), &path(&[0, 1, 4]));
            cache.add(at(0.0), &path(&[0, 2, 9]));
            cache.remove_link(NodeId(0), NodeId(1));
            cache.add(at(1.0), &path(&[0, 2, 9]));
            assert_eq!(cache.paths().0, vec![vec![0, 2, 9]; 1 + usize::from(twice)]);
            cache.add(at(1.0), &path(&[0, 2]));
            assert_eq!(
                cache.paths().0.len(),
                1 + usize::from(twice),
                "before the gaps there is a longer one"
            );
        }
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
                        cache.route(at(1.0), NodeId(dst)).map(|route| route.next_hop.0), path.map(|path| path[1])
                    );
                }
            }
        }
    }

    /// A part as a plain list of paths, each with the time when it was learned.
    struct Plain {
        places: Vec<(Vec<u32>, Time)>,
        limit: usize,
        victim: usize,
        fills_gaps: bool,
    }

    impl Plain {
        fn add(&mut self, now: Time, path: &[u32]) {
            let akin_or_free =
                |cached: &&(Vec<u32>, Time)| path.starts_with(&cached.0) || cached.0.starts_with(path);
            if self.fills_gaps
                && self.places.iter().find(akin_or_free).is_some_and(|cached| cached.0.is_empty())
                && let Some(gap) = self.places.iter_mut().find(|cached| cached.0.is_empty())
            {
                *gap = (path.to_vec(), now);
                return;
            }
            let akin = |cached: &&mut (Vec<u32>, Time)| {
                !cached.0.is_empty() && (path.starts_with(&cached.0) || cached.0.starts_with(path))
            };
            if let Some(cached) = self.places.iter_mut().find(akin) {
                if path.len() > cached.0.len() {
                    cached.0 = path.to_vec();
                }
                cached.1 = cached.1.max(now);
            } else if let Some(free) = self.places.iter_mut().find(|cached| cached.0.is_empty()) {
                *free = (path.to_vec(), now);
            } else if self.places.len() < self.limit {
                self.places.push((path.to_vec(), now));
            } else {
                self.places[self.victim] = (path.to_vec(), now);
                self.victim = (self.victim + 1) % self.limit;
            }
        }

        /// The number of hops to `dst`, and the place.
        fn shortest(&self, now: Time, dst: u32) -> Option<(usize, usize)> {
            let fresh = self.places.iter().enumerate().filter(|(_, cached)| now <= cached.1 + TIMEOUT);
            let hops = |cached: &(Vec<u32>, Time)| cached.0.iter().position(|node| *node == dst);
            fresh.filter_map(|(place, cached)| Some((hops(cached)?, place))).min()
        }

        fn remove_link(&mut self, from: u32, to: u32) {
            for (path, _) in &mut self.places {
                match path.windows(2).position(|link| link == [from, to]) {
                    Some(0) => path.clear(),
                    Some(at) => path.truncate(at + 1),
                    None => {}
                }
            }
        }

        fn paths(&self) -> Vec<Vec<u32>> {
            self.places.iter().map(|cached| cached.0.clone()).filter(|path| !path.is_empty()).collect()
        }
    }

    const TIMEOUT: Span = Span::from_millis(60_000);

    /// The path that two plain parts give; `for_use` moves it from the second to the first.
    fn find_plainly(parts: &mut [Plain; 2], now: Time, dst: u32, for_use: bool) -> Option<Vec<u32>> {
        let [ours, other] = [&parts[0], &parts[1]].map(|part| part.shortest(now, dst));
        let from = usize::from(other.is_some_and(|other| ours.is_none_or(|ours| other.0 < ours.0)));
        let (hops, place) = [ours, other][from]?;
        let (path, learned) = parts[from].places[place].clone();
        if from == 1 && for_use {
            parts[1].places[place].0.clear();
            parts[0].add(learned, &path);
        }
        Some(path[..=hops].to_vec())
    }

    /// What a recorder knows: the answer to each destination, and until when it need not ask again.
    type Known = BTreeMap<NodeId, (Option<(NodeId, Option<u32>)>, Time)>;

    /// Asks for all routes; each that is another than before was told of, or has ended by itself.
    fn check_changes(cache: &mut PathCache, now: Time, known: &mut Known) {
        let changed: Vec<usize> = cache.take_changes().groups().collect();
        for dst in (1..140).map(NodeId) {
            let route = cache.route(now, dst);
            let answer = route.map(|route| (route.next_hop, route.hops));
            let (before, until) = known.get(&dst).copied().unwrap_or((None, Time::NEVER));
            if changed.contains(&Changes::group_of(dst)) || now >= until {
                known.insert(dst, (answer, route.map_or(Time::NEVER, |route| route.until)));
            } else {
                assert_eq!(answer, before, "to {dst:?} at {now:?}");
            }
        }
    }

    proptest! {
        /// Place for place, in caches that overflow, with nodes that share a set of the index, and with more
        /// than one index.
        #[test]
        fn it_holds_what_plain_lists_would(
            limit in prop_oneof![1u32..6, 60u32..70],
            fills_gaps: bool,
            steps in prop::collection::vec(
                (0u32..6, prop::collection::vec(prop_oneof![1u32..5, 64u32..69, 70u32..140], 1..7), 0u64..2_000),
                1..400,
            ),
        ) {
            let mut cache = PathCache::new(limit, limit + 1, Some(TIMEOUT)).filling_gaps(fills_gaps);
            let mut plain = [limit, limit + 1]
                .map(|limit| Plain { places: Vec::new(), limit: limit as usize, victim: 0, fills_gaps });
            let (mut now, mut known) = (Time::ZERO, Known::new());
            for (kind, mut nodes, pause_ms) in steps {
                now += Span::from_millis(pause_ms);
                let mut seen = Vec::new();
                nodes.retain(|node| !seen.contains(node) && { seen.push(*node); true });
                nodes.insert(0, 0);
                let [.., from, to] = nodes[..] else { unreachable!("a path has two nodes") };
                match kind {
                    0 => {
                        cache.add(now, &path(&nodes));
                        plain[0].add(now, &nodes);
                    }
                    1..=3 => {
                        cache.notice(now, &path(&nodes));
                        plain[1].add(now, &nodes);
                    }
                    4 => {
                        cache.remove_link(NodeId(from), NodeId(to));
                        plain.iter_mut().for_each(|part| part.remove_link(from, to));
                    }
                    _ => {
                        let wanted = find_plainly(&mut plain, now, to, true);
                        let path = cache.find(now, NodeId(to), true);
                        prop_assert_eq!(path.map(|path| path.iter().map(|node| node.0).collect()), wanted);
                    }
                }
                prop_assert_eq!(cache.paths(), (plain[0].paths(), plain[1].paths()));
                check_changes(&mut cache, now, &mut known);
                let wanted = find_plainly(&mut plain, now, to, false);
                let next_hop = wanted.as_ref().map(|path| path[1]);
                prop_assert_eq!(cache.route(now, NodeId(to)).map(|route| route.next_hop.0), next_hop);
                let path = cache.find(now, NodeId(to), false);
                prop_assert_eq!(path.map(|path| path.iter().map(|node| node.0).collect()), wanted);
            }
        }
    }
}
