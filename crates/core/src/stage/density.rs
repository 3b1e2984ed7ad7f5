//! The path density protocol (Osipov and Tschudin, *A Path Density Protocol for MANETs*, 2006, as far as its
//! abstract and section II.C of their paper on ingress throttling tell of it): how sources learn their
//! shares.
//!
//! **Implemented.** A node on the path of a flow announces the flows that it carries to its neighbours. So it
//! knows the flows of the L-region around it, and the share that the region grants: one over their number
//! (`equal`), or what is left by those that other regions hold back, divided among the rest (`max-min`). It
//! announces that share, too, since a flow is in the regions of all carriers that hear one of its nodes. For
//! each flow it announces the smallest share and the hops from itself to the destination, as the next node of
//! the path has announced them, so that they come back to the source node by node, whatever the routing
//! protocol is.
//!
//! **Not published**, and therefore our own: formats, times, the way back, `max-min`.
//!
//! **Deviations**: docs/models/throttling.md.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::params::{Sharing, ThrottleParams};
use crate::kernel::{Span, Stream, Time};
use crate::wire::NodeId;
use crate::wire::density::{Announcement, Bound, Downstream, Entry, FlowKey};

/// A way that seems to be longer is a loop.
const MOST_HOPS: u8 = 64;
/// The part of the time between announcements, and of the least time between them, that is drawn.
const JITTER: f64 = 0.1;

/// Where a node's packets of a flow go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// Not known yet, or nowhere: this is the destination.
    Unknown,
    To(NodeId),
    /// To all neighbours, as in flooding.
    All,
}

/// A flow whose packets come through here.
struct Carried {
    used: Time,
    previous: Option<NodeId>,
    next: Next,
}

/// What a neighbour announced.
struct Heard {
    until: Time,
    announcement: Arc<Announcement>,
}

/// One node's part in the protocol. Calls come in order of time.
pub(super) struct Density {
    node: NodeId,
    sharing: Sharing,
    period: Span,
    lifetime: Span,
    gap: Span,
    change: f32,
    stream: Stream,
    carried: BTreeMap<FlowKey, Carried>,
    heard: BTreeMap<NodeId, Heard>,
    /// What there is to announce.
    now_known: Announcement,
    told: Arc<Announcement>,
    told_at: Option<Time>,
    /// When to announce next, and whether that is because something has changed.
    due: Time,
    is_triggered: bool,
    /// When the first of what is known lapses.
    lapse: Time,
}

impl Density {
    pub(super) fn new(node: NodeId, params: &ThrottleParams, stream: Stream) -> Density {
        let sharing = params.shares;
        let nothing = Announcement { share: 1.0, flows: Vec::new(), has_bounds: sharing == Sharing::MaxMin };
        Density {
            node,
            sharing,
            period: Span::from_secs(params.announce_s),
            lifetime: Span::from_secs(params.lifetime_s),
            gap: Span::from_secs(params.announce_gap_s),
            change: params.announce_change as f32,
            stream,
            carried: BTreeMap::new(),
            heard: BTreeMap::new(),
            told: Arc::new(nothing.clone()),
            now_known: nothing,
            told_at: None,
            due: Time::NEVER,
            is_triggered: false,
            lapse: Time::NEVER,
        }
    }

    /// A packet of a flow came from a neighbour.
    pub(super) fn handle_received(&mut self, now: Time, key: FlowKey, from: NodeId) {
        let carried = self.carry(now, key);
        if carried.previous.replace(from) != Some(from) || self.now_known.entry(key).is_none() {
            self.review(now);
        }
    }

    /// A packet of a flow goes to a neighbour, or to all.
    pub(super) fn handle_sent(&mut self, now: Time, key: FlowKey, to: NodeId) {
        let next = if to.is_broadcast() { Next::All } else { Next::To(to) };
        let carried = self.carry(now, key);
        if std::mem::replace(&mut carried.next, next) != next || self.now_known.entry(key).is_none() {
            self.review(now);
        }
    }

    /// A neighbour has announced its flows: all of them, in place of what it announced before.
    pub(super) fn handle_announcement(&mut self, now: Time, from: NodeId, announcement: Arc<Announcement>) {
        if announcement.flows.is_empty() {
            self.heard.remove(&from);
        } else {
            self.heard.insert(from, Heard { until: now + self.lifetime, announcement });
        }
        self.review(now);
    }

    /// Returns the announcement that is to be made now.
    pub(super) fn handle_timeout(&mut self, now: Time) -> Option<Arc<Announcement>> {
        if now >= self.lapse {
            self.review(now);
        }
        (now >= self.due).then(|| self.announce(now))
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.due.min(self.lapse)
    }

    /// Routing sends a broadcast: what is announced with it, if it is time.
    pub(super) fn ride(&mut self, now: Time) -> Option<Arc<Announcement>> {
        let is_early = self.told_at.is_some_and(|told_at| now < told_at + self.gap);
        let has_news = !self.now_known.flows.is_empty() || self.is_triggered;
        (has_news && !is_early).then(|| self.announce(now))
    }

    /// What this node knows of a flow that it carries.
    pub(super) fn entry(&self, key: FlowKey) -> Option<&Entry> {
        self.now_known.entry(key)
    }

    fn carry(&mut self, now: Time, key: FlowKey) -> &mut Carried {
        let new = Carried { used: now, previous: None, next: Next::Unknown };
        let carried = self.carried.entry(key).or_insert(new);
        carried.used = now;
        carried
    }

    fn announce(&mut self, now: Time) -> Arc<Announcement> {
        self.review(now);
        self.told = Arc::new(self.now_known.clone());
        self.told_at = Some(now);
        self.is_triggered = false;
        // The last announcement says that there is nothing left.
        self.due = match self.told.flows.is_empty() {
            true => Time::NEVER,
            false => now + (self.period - self.drawn(self.period)),
        };
        Arc::clone(&self.told)
    }

    /// Computes what there is to announce anew, and announces it soon if it has changed much.
    fn review(&mut self, now: Time) {
        let lifetime = self.lifetime;
        self.heard.retain(|_, heard| heard.until > now);
        self.carried.retain(|_, carried| carried.used + lifetime > now);
        let heard_until = self.heard.values().map(|heard| heard.until);
        let carried_until = self.carried.values().map(|carried| carried.used + lifetime);
        self.lapse = heard_until.chain(carried_until).min().unwrap_or(Time::NEVER);
        self.now_known.share = self.regional_share();
        let here = self.bound_here();
        self.now_known.flows =
            self.carried.iter().map(|(&key, carried)| self.known_of(key, carried, here)).collect();
        if !self.is_triggered && self.has_news() {
            let earliest = self.told_at.map_or(now, |told_at| now.max(told_at + self.gap));
            self.due = self.due.min(earliest + self.drawn(self.gap));
            self.is_triggered = true;
        }
    }

    fn drawn(&mut self, span: Span) -> Span {
        self.stream.span_below(Span((span.0 as f64 * JITTER) as u64))
    }

    /// The share that the region around this node grants each flow that nothing else holds back.
    fn regional_share(&self) -> f32 {
        let mut flows: BTreeMap<FlowKey, Bound> = BTreeMap::new();
        let announced = self.heard.values().flat_map(|heard| &heard.announcement.flows);
        let own = self.now_known.flows.iter().filter(|entry| self.carried.contains_key(&entry.key));
        for entry in announced.chain(own) {
            let bound = entry.bound();
            flows.entry(entry.key).and_modify(|known| *known = known.min(bound)).or_insert(bound);
        }
        for &key in self.carried.keys() {
            flows.entry(key).or_insert(Bound { share: 1.0, centre: self.node });
        }
        match self.sharing {
            Sharing::Equal => 1.0 / flows.len().max(1) as f32,
            Sharing::MaxMin => {
                let elsewhere = flows.values().filter(|bound| bound.centre != self.node);
                share_of_rest(flows.len(), elsewhere.map(|bound| bound.share).collect())
            }
        }
    }

    /// The smallest share of the regions that this node is in: its own, and those around carriers that it
    /// hears.
    fn bound_here(&self) -> Bound {
        let own = Bound { share: self.now_known.share, centre: self.node };
        let around =
            self.heard.iter().map(|(&centre, heard)| Bound { share: heard.announcement.share, centre });
        around.fold(own, Bound::min)
    }

    fn known_of(&self, key: FlowKey, carried: &Carried, here: Bound) -> Entry {
        let announced = |node: NodeId| self.heard.get(&node)?.announcement.entry(key);
        let before = match (carried.previous, carried.next) {
            // Copies of a packet come from all sides.
            (_, Next::All) => None,
            (previous, _) => previous.and_then(announced),
        };
        let after = match carried.next {
            Next::Unknown => None,
            Next::To(next) => announced(next).and_then(|entry| entry.downstream),
            Next::All => {
                let ways = self.heard.values().filter_map(|heard| heard.announcement.entry(key)?.downstream);
                ways.min_by_key(|way| way.hops)
            }
        };
        let downstream = match after {
            _ if key.dst == self.node => Some(Downstream { hops: 0, bound: here }),
            Some(way) if way.hops < MOST_HOPS => {
                Some(Downstream { hops: way.hops + 1, bound: way.bound.min(here) })
            }
            _ => None,
        };
        let upstream = before.map_or(here, |entry| entry.upstream.min(here));
        Entry { key, upstream, downstream }
    }

    /// Is what there is to announce different enough from what was announced last?
    fn has_news(&self) -> bool {
        let (told, known) = (&self.told, &self.now_known);
        let differ = |told: f32, known: f32| (told - known).abs() > self.change * told;
        told.flows.len() != known.flows.len()
            || (!known.flows.is_empty() && differ(told.share, known.share))
            || told.flows.iter().zip(&known.flows).any(|(told, known)| {
                let of_way = match (&told.downstream, &known.downstream) {
                    (Some(told), Some(known)) => {
                        told.hops != known.hops || differ(told.bound.share, known.bound.share)
                    }
                    (told, known) => told.is_some() != known.is_some(),
                };
                let of_origin =
                    self.sharing == Sharing::MaxMin && differ(told.upstream.share, known.upstream.share);
                told.key != known.key || of_way || of_origin
            })
    }
}

/// What each of `flows` flows gets of a region of load 1 if some of them get no more than these shares, and
/// the others divide what is left: shares that are not smaller than that hold nobody back. If all are held
/// back, each may have what is left beside its own.
fn share_of_rest(flows: usize, mut elsewhere: Vec<f32>) -> f32 {
    elsewhere.sort_unstable_by(f32::total_cmp);
    let (mut left, mut open) = (1.0, flows);
    for &share in &elsewhere {
        if open == 0 || share >= left / open as f32 {
            break;
        }
        left -= share;
        open -= 1;
    }
    match open {
        0 => (left + elsewhere.last().copied().unwrap_or_default()).min(1.0),
        _ => left / open as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Purpose, Streams};
    use crate::wire::FlowId;
    use proptest::prelude::*;

    fn s(secs: f64) -> Time {
        Time::from_secs(secs)
    }

    fn params(shares: Sharing) -> ThrottleParams {
        ThrottleParams { shares, ..ThrottleParams::default() }
    }

    fn key() -> FlowKey {
        FlowKey { src: NodeId(0), dst: NodeId(9), flow: FlowId(0) }
    }

    fn node(number: u32) -> Density {
        let stream = Streams::new(1, 0).stream(number, Purpose::Shares);
        Density::new(NodeId(number), &params(Sharing::MaxMin), stream)
    }

    #[test]
    fn a_way_of_64_hops_is_told_and_a_longer_one_is_taken_for_a_loop() {
        let hops_behind = |hops| {
            let mut node = node(1);
            node.handle_sent(s(0.0), key(), NodeId(2));
            let bound = Bound { share: 0.5, centre: NodeId(2) };
            let entry = Entry { key: key(), upstream: bound, downstream: Some(Downstream { hops, bound }) };
            let announcement = Announcement { share: 0.5, flows: vec![entry], has_bounds: true };
            node.handle_announcement(s(0.1), NodeId(2), Arc::new(announcement));
            node.entry(key()).expect("it carries the flow").downstream.map(|way| way.hops)
        };
        assert_eq!([62, 63, 64].map(hops_behind), [Some(63), Some(64), None]);
    }

    /// `announce_s` is 3 s: up to a tenth of it is drawn off.
    #[test]
    fn the_time_between_announcements_is_drawn_from_its_last_tenth() {
        let mut node = node(1);
        let mut times = Vec::new();
        node.handle_sent(s(0.0), key(), NodeId(2));
        while times.len() < 300 {
            let due = node.next_timeout();
            // The flow goes on, so that there is always something to announce.
            node.handle_sent(due, key(), NodeId(2));
            times.extend(node.handle_timeout(due).map(|_| due));
        }
        let mut gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
        gaps.sort_by(f64::total_cmp);
        let (shortest, longest) = (gaps[0], gaps[gaps.len() - 1]);
        // 299 draws miss a tenth of the range with a chance of 2e-14.
        assert!((2.7..2.73).contains(&shortest) && (2.97..=3.0).contains(&longest), "{shortest} {longest}");
    }

    /// Nodes that hear each other's announcements at once if they are linked, and flows that send a packet
    /// along their paths twice a second.
    struct Field {
        nodes: Vec<Density>,
        links: Vec<(usize, usize)>,
        paths: Vec<Vec<usize>>,
        now: Time,
        next_packets: Time,
        announcements: usize,
    }

    impl Field {
        fn new(links: &[(usize, usize)], paths: &[&[usize]], params: &ThrottleParams) -> Field {
            let nodes = 1 + links.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(0);
            let density =
                |node| Density::new(NodeId(node), params, Streams::new(1, 0).stream(node, Purpose::Shares));
            Field {
                nodes: (0..nodes as u32).map(density).collect(),
                links: links.to_vec(),
                paths: paths.iter().map(|path| path.to_vec()).collect(),
                now: Time::ZERO,
                next_packets: Time::ZERO,
                announcements: 0,
            }
        }

        fn hears(&self, node: usize) -> Vec<usize> {
            let other = |&(a, b): &(usize, usize)| match node {
                _ if a == node => Some(b),
                _ if b == node => Some(a),
                _ => None,
            };
            self.links.iter().filter_map(other).collect()
        }

        fn key(&self, flow: usize) -> FlowKey {
            let path = &self.paths[flow];
            FlowKey {
                src: NodeId(path[0] as u32),
                dst: NodeId(path[path.len() - 1] as u32),
                flow: FlowId(flow as u32),
            }
        }

        fn run_until(&mut self, end: Time) {
            loop {
                let due = self.nodes.iter().map(Density::next_timeout).min().expect("there are nodes");
                let next = due.min(self.next_packets);
                if next > end {
                    self.now = end;
                    return;
                }
                assert!(next >= self.now, "woken in the past");
                self.now = next;
                if next == self.next_packets {
                    self.send_packets();
                    self.next_packets = next + Span::from_millis(500);
                    continue;
                }
                for node in 0..self.nodes.len() {
                    if self.nodes[node].next_timeout() > next {
                        continue;
                    }
                    if let Some(announcement) = self.nodes[node].handle_timeout(next) {
                        self.announcements += 1;
                        for other in self.hears(node) {
                            let copy = Arc::clone(&announcement);
                            self.nodes[other].handle_announcement(next, NodeId(node as u32), copy);
                        }
                    }
                    assert!(self.nodes[node].next_timeout() > next, "again at the same instant");
                }
            }
        }

        fn send_packets(&mut self) {
            for flow in 0..self.paths.len() {
                let key = self.key(flow);
                for at in 1..self.paths[flow].len() {
                    let (from, to) = (self.paths[flow][at - 1], self.paths[flow][at]);
                    self.nodes[from].handle_sent(self.now, key, NodeId(to as u32));
                    self.nodes[to].handle_received(self.now, key, NodeId(from as u32));
                }
            }
        }

        /// Hops and share that the source of a flow knows.
        fn known(&self, flow: usize) -> Option<(u8, f32)> {
            let entry = self.nodes[self.paths[flow][0]].entry(self.key(flow))?;
            entry.downstream.map(|way| (way.hops, entry.bound().share))
        }

        fn shares(&self) -> Vec<f32> {
            (0..self.paths.len()).map(|flow| self.known(flow).map_or(0.0, |(_, share)| share)).collect()
        }

        /// The shares by progressive filling, from the whole topology.
        fn fair_shares(&self) -> Vec<f32> {
            let mut carriers: Vec<usize> = self.paths.concat();
            carriers.sort_unstable();
            carriers.dedup();
            let regions = carriers.iter().map(|&centre| {
                let around = [self.hears(centre), vec![centre]].concat();
                let is_in = |flow: &usize| self.paths[*flow].iter().any(|node| around.contains(node));
                (0..self.paths.len()).filter(is_in).collect::<Vec<usize>>()
            });
            let mut regions: Vec<(f32, Vec<usize>)> = regions.map(|flows| (1.0, flows)).collect();
            let mut shares = vec![0.0; self.paths.len()];
            while let Some((left, flows)) = regions
                .iter()
                .filter(|(_, flows)| !flows.is_empty())
                .min_by(|(a, of_a), (b, of_b)| (a / of_a.len() as f32).total_cmp(&(b / of_b.len() as f32)))
            {
                let (share, full) = (left / flows.len() as f32, flows.clone());
                for (left, flows) in &mut regions {
                    let before = flows.len();
                    flows.retain(|flow| !full.contains(flow));
                    *left -= share * (before - flows.len()) as f32;
                }
                full.iter().for_each(|&flow| shares[flow] = share);
            }
            shares
        }
    }

    fn assert_near(found: &[f32], wanted: &[f32]) {
        let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
        assert!(
            found.len() == wanted.len() && found.iter().zip(wanted).all(is_near),
            "found {found:?}, wanted {wanted:?}"
        );
    }

    /// Osipov and Tschudin 2006, Fig. 2: A, B, C and D meet in one region, D, E and F in another.
    fn figure_2(params: &ThrottleParams) -> Field {
        let links = [
            (0, 1),
            (2, 3),
            (4, 5),
            (6, 7),
            (7, 8),
            (9, 10),
            (11, 12),
            (0, 2),
            (0, 4),
            (0, 6),
            (2, 4),
            (2, 6),
            (4, 6),
            (8, 9),
            (8, 11),
            (9, 11),
        ];
        Field::new(&links, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7, 8], &[9, 10], &[11, 12]], params)
    }

    #[test]
    fn figure_2_has_equal_shares_with_one_and_max_min_shares_with_the_other() {
        let third = 1.0 / 3.0;
        let mut equal = figure_2(&params(Sharing::Equal));
        equal.run_until(s(9.0));
        assert_near(&equal.shares(), &[0.25, 0.25, 0.25, 0.25, third, third]);
        let mut fair = figure_2(&params(Sharing::MaxMin));
        fair.run_until(s(9.0));
        assert_near(&fair.shares(), &[0.25, 0.25, 0.25, 0.25, 0.375, 0.375]);
        assert_eq!(fair.known(3), Some((2, 0.25)));
    }

    #[test]
    fn figure_2_settles_within_three_refreshes_and_news_settle_it_within_one() {
        let periodic = ThrottleParams { announce_gap_s: 3.0, ..params(Sharing::MaxMin) };
        let mut field = figure_2(&periodic);
        field.run_until(s(0.5 + 3.0 * 3.0));
        assert_near(&field.shares(), &field.fair_shares());
        let mut field = figure_2(&params(Sharing::MaxMin));
        field.run_until(s(3.0));
        assert_near(&field.shares(), &field.fair_shares());
    }

    #[test]
    fn a_quiet_field_announces_once_a_period() {
        let mut field = figure_2(&params(Sharing::MaxMin));
        field.run_until(s(30.0));
        let before = field.announcements;
        field.run_until(s(60.0));
        // 13 nodes, and periods from 2.7 to 3 s.
        let found = field.announcements - before;
        assert!((13 * 9..=13 * 12).contains(&found), "{found}");
    }

    #[test]
    fn a_source_learns_hops_and_the_narrowest_region_of_a_long_path() {
        // A chain of seven nodes; at its far end three more flows are heard by the last but one only.
        let mut links: Vec<(usize, usize)> = (0..6).map(|node| (node, node + 1)).collect();
        links.extend([(5, 7), (7, 8), (5, 9), (9, 10), (5, 11), (11, 12)]);
        let paths: [&[usize]; 4] = [&[0, 1, 2, 3, 4, 5, 6], &[7, 8], &[9, 10], &[11, 12]];
        for shares in [Sharing::Equal, Sharing::MaxMin] {
            let mut field = Field::new(&links, &paths, &params(shares));
            field.run_until(s(10.0));
            assert_eq!(field.known(0), Some((6, 0.25)));
        }
    }

    #[test]
    fn what_a_flow_leaves_is_shared_when_its_last_packets_lapse() {
        let mut field = figure_2(&params(Sharing::MaxMin));
        field.run_until(s(10.0));
        field.paths.swap(3, 5);
        field.paths.truncate(5);
        // D, the flow that was in both regions, is gone; F now has its number, and so another name.
        field.run_until(s(10.0 + 6.0 + 1.0));
        assert_near(&field.shares()[..3], &[1.0 / 3.0; 3]);
        assert_near(&field.shares()[3..], &[0.5, 0.5]);
    }

    #[test]
    fn the_last_announcement_of_a_node_is_empty() {
        let mut node =
            Density::new(NodeId(1), &params(Sharing::MaxMin), Streams::new(1, 0).stream(1, Purpose::Shares));
        let key = FlowKey { src: NodeId(1), dst: NodeId(2), flow: FlowId(0) };
        assert_eq!((node.ride(s(0.5)), node.next_timeout()), (None, Time::NEVER));
        node.handle_sent(s(1.0), key, NodeId(2));
        let mut told = Vec::new();
        while node.next_timeout() != Time::NEVER {
            let due = node.next_timeout();
            told.extend(node.handle_timeout(due).map(|announcement| (due, announcement.flows.len())));
        }
        let counts: Vec<usize> = told.iter().map(|&(_, flows)| flows).collect();
        assert_eq!(counts, [1, 1, 1, 0]);
        // The third was made less than half a second before.
        assert!(told[3].0 >= s(7.0) && told[3].0 < s(7.6), "{told:?}");
    }

    #[test]
    fn broadcasts_of_routing_carry_announcements_but_not_too_many() {
        let mut node =
            Density::new(NodeId(1), &params(Sharing::Equal), Streams::new(1, 0).stream(1, Purpose::Shares));
        let key = FlowKey { src: NodeId(1), dst: NodeId(2), flow: FlowId(0) };
        node.handle_sent(s(1.0), key, NodeId(2));
        let ridden = node.ride(s(1.0)).expect("there is something to announce");
        // 8 bytes, and 17 for a flow; with bounds 29.
        assert_eq!((ridden.flows.len(), ridden.bytes()), (1, 25));
        assert_eq!(Announcement { has_bounds: true, ..(*ridden).clone() }.bytes(), 37);
        assert!(node.next_timeout() >= s(1.0 + 2.7), "the timer begins anew");
        assert_eq!(node.ride(s(1.4)), None);
        assert!(node.ride(s(1.5)).is_some());
    }

    #[test]
    fn in_a_flood_the_shortest_way_that_is_heard_counts() {
        let own = params(Sharing::Equal);
        let mut node = Density::new(NodeId(1), &own, Streams::new(1, 0).stream(1, Purpose::Shares));
        let key = FlowKey { src: NodeId(0), dst: NodeId(9), flow: FlowId(0) };
        node.handle_received(s(1.0), key, NodeId(0));
        node.handle_sent(s(1.0), key, NodeId::BROADCAST);
        let bound = Bound { share: 0.5, centre: NodeId(4) };
        for (from, hops) in [(4, 3), (5, 1), (6, 2)] {
            let downstream = Some(Downstream { hops, bound });
            let flows = vec![Entry { key, upstream: bound, downstream }];
            let announcement = Announcement { share: 0.5, flows, has_bounds: false };
            node.handle_announcement(s(1.1), NodeId(from), Arc::new(announcement));
        }
        assert_eq!(node.entry(key).and_then(|entry| entry.downstream).map(|way| way.hops), Some(2));
    }

    #[test]
    fn what_is_left_is_divided_among_those_that_are_not_held_back() {
        let shares = [
            share_of_rest(4, vec![]),
            share_of_rest(3, vec![0.25]),
            // Who is held back less than this region does is not held back.
            share_of_rest(3, vec![0.5]),
            share_of_rest(2, vec![0.25, 0.125]),
            share_of_rest(0, vec![]),
        ];
        assert_near(&shares, &[0.25, 0.375, 1.0 / 3.0, 0.875, 1.0]);
    }

    proptest! {
        #[test]
        fn shares_become_max_min_fair_in_any_network(
            places in prop::collection::vec((0.0..3.0f64, 0.0..3.0f64), 4..14),
            ends in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
        ) {
            let near = |a: usize, b: usize| {
                let (x, y) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                x * x + y * y <= 1.3 * 1.3
            };
            let count = places.len();
            let links: Vec<(usize, usize)> =
                (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).filter(|&(a, b)| near(a, b)).collect();
            let paths: Vec<Vec<usize>> = ends
                .iter()
                .filter_map(|(src, dst)| shortest(&links, count, src.index(count), dst.index(count)))
                .collect();
            let paths: Vec<&[usize]> = paths.iter().map(Vec::as_slice).collect();
            if !paths.is_empty() {
                let mut field = Field::new(&links, &paths, &params(Sharing::MaxMin));
                field.run_until(s(90.0));
                assert_near(&field.shares(), &field.fair_shares());
            }
        }
    }

    /// A shortest path of at least one link.
    fn shortest(links: &[(usize, usize)], nodes: usize, src: usize, dst: usize) -> Option<Vec<usize>> {
        let mut before = vec![None; nodes];
        let mut open = std::collections::VecDeque::from([src]);
        while let Some(at) = open.pop_front() {
            for &(a, b) in links {
                let next = if a == at {
                    b
                } else if b == at {
                    a
                } else {
                    continue;
                };
                if next != src && before[next].is_none() {
                    before[next] = Some(at);
                    open.push_back(next);
                }
            }
        }
        let mut path = vec![dst];
        while let Some(previous) = before[path[path.len() - 1]] {
            path.push(previous);
        }
        path.reverse();
        (path.len() > 1 && path[0] == src).then_some(path)
    }
}
