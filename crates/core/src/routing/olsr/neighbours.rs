//! What a node knows of the nodes around it: the link, neighbour, two-hop neighbour and MPR selector sets of
//! RFC 3626 §4. With one interface a node, a link is a neighbour: each has one entry for all four.

use std::collections::BTreeMap;

use super::mpr::Candidate;
use super::params::OlsrParams;
use super::quality::{self, Cost, Received, Steadiness, Thresholds};
use crate::kernel::{Span, Time};
use crate::wire::NodeId;
use crate::wire::olsr::{Hello, LinkType, Listed, NeighbourType, Qualities, TimeCode};

/// A node within two hops, as a neighbour tells of it.
#[derive(Clone, Copy, Debug)]
struct TwoHop {
    node: NodeId,
    until: Time,
    /// Of the neighbour's link to it.
    cost: Cost,
}

/// A neighbour.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    /// L_SYM_time, L_ASYM_time, L_LOST_LINK_time and L_time of RFC 3626 §4.2.1 and §13; the past if they do
    /// not run.
    symmetric_until: Time,
    heard_until: Time,
    lost_until: Time,
    until: Time,
    /// The number of its last packet.
    last_packet: u16,
    steadiness: Steadiness,
    hello_interval: Span,
    received: Received,
    /// As they are, and as they are used until they differ enough.
    qualities: Qualities,
    used: Qualities,
    willingness: u8,
    /// Was the link symmetric when the node looked last?
    symmetric: bool,
    /// In the order of their numbers.
    two_hop: Vec<TwoHop>,
    /// Until when this node is its relay.
    selects_until: Time,
}

/// A symmetric neighbour, as far as routes over it need it.
pub(super) struct Relay<'a> {
    pub(super) node: NodeId,
    pub(super) willingness: u8,
    /// Has it chosen this node as a relay?
    pub(super) selects: bool,
    two_hop: &'a [TwoHop],
}

impl Relay<'_> {
    /// Its symmetric neighbours, this node not among them.
    pub(super) fn neighbours(&self) -> impl Iterator<Item = NodeId> {
        self.two_hop.iter().map(|each| each.node)
    }
}

/// What a change means for the rest of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Change {
    /// Neighbours, or nodes two hops away, are others than before.
    pub(super) near: bool,
    /// A neighbour was lost.
    pub(super) lost: bool,
}

impl Change {
    pub(super) fn add(&mut self, other: Change) {
        self.near |= other.near;
        self.lost |= other.lost;
    }
}

impl Neighbour {
    fn link_type(&self, now: Time) -> Option<LinkType> {
        if self.lost_until > now {
            Some(LinkType::Lost)
        } else if self.steadiness.is_pending {
            None
        } else if self.symmetric_until > now {
            Some(LinkType::Symmetric)
        } else if self.heard_until > now {
            Some(LinkType::Asymmetric)
        } else {
            Some(LinkType::Lost)
        }
    }

    /// Sets what follows from the times (RFC 3626 §8.1, §8.5).
    fn look(&mut self, now: Time) -> Change {
        let symmetric = self.until > now && self.link_type(now) == Some(LinkType::Symmetric);
        let was = std::mem::replace(&mut self.symmetric, symmetric);
        if was && !symmetric {
            self.two_hop.clear();
            self.selects_until = Time::ZERO;
        }
        Change { near: was != symmetric, lost: was && !symmetric }
    }

    fn cost(&self, by_quality: bool) -> Cost {
        if by_quality { Cost::of(self.used) } else { Cost::HOP }
    }
}

/// See the module's head.
pub(super) struct Neighbours {
    node: NodeId,
    by_quality: bool,
    hysteresis: Option<Thresholds>,
    hold: Span,
    all: BTreeMap<NodeId, Neighbour>,
    /// Nothing ends before.
    look_at: Time,
}

impl Neighbours {
    pub(super) fn new(node: NodeId, params: &OlsrParams) -> Neighbours {
        let thresholds = Thresholds {
            scaling: params.hysteresis_scaling,
            high: params.hysteresis_high,
            low: params.hysteresis_low,
        };
        Neighbours {
            node,
            by_quality: params.has_qualities(),
            hysteresis: params.hysteresis.then_some(thresholds),
            hold: params.neighbour_hold(),
            all: BTreeMap::new(),
            look_at: Time::NEVER,
        }
    }

    /// Neighbours, or nodes that were.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// When something ends.
    pub(super) fn next_timeout(&self) -> Time {
        self.look_at
    }

    pub(super) fn is_symmetric(&self, node: NodeId) -> bool {
        self.all.get(&node).is_some_and(|each| each.symmetric)
    }

    /// Has the symmetric neighbour chosen this node as a relay?
    pub(super) fn selects(&self, now: Time, node: NodeId) -> bool {
        self.all.get(&node).is_some_and(|each| each.symmetric && each.selects_until > now)
    }

    /// Does a HELLO choose this node as a relay, which its sender had not chosen?
    pub(super) fn is_chosen_anew(&self, now: Time, from: NodeId, hello: &Hello) -> bool {
        let is_me = |listed: &&Listed| listed.node == self.node;
        let chosen = hello.listed.iter().find(is_me).is_some_and(|me| me.neighbour == NeighbourType::Mpr);
        chosen && !self.selects(now, from)
    }

    /// The symmetric neighbours.
    pub(super) fn symmetric(&self) -> impl Iterator<Item = (NodeId, Cost)> {
        let all = self.all.iter().filter(|(_, each)| each.symmetric);
        all.map(|(node, each)| (*node, each.cost(self.by_quality)))
    }

    /// The symmetric neighbours with the two-hop neighbours that RFC 3626 §4.3.2 has tuples for.
    pub(super) fn relays(&self, now: Time) -> impl Iterator<Item = Relay<'_>> {
        let all = self.all.iter().filter(|(_, each)| each.symmetric);
        all.map(move |(node, each)| Relay {
            node: *node,
            willingness: each.willingness,
            selects: each.selects_until > now,
            two_hop: &each.two_hop,
        })
    }

    /// What the choice of relays needs.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let all = self.all.iter().filter(|(_, each)| each.symmetric);
        let candidate = |(node, each): (&NodeId, &Neighbour)| Candidate {
            node: *node,
            willingness: each.willingness,
            cost: each.cost(self.by_quality),
            neighbours: each.two_hop.iter().map(|two_hop| (two_hop.node, two_hop.cost)).collect(),
        };
        all.map(candidate).collect()
    }

    /// What a HELLO lists (RFC 3626 §6.2), in the order of its groups.
    pub(super) fn listed(&self, now: Time, is_mpr: impl Fn(NodeId) -> bool) -> Vec<Listed> {
        let listed = |(&node, each): (&NodeId, &Neighbour)| {
            let link = each.link_type(now)?;
            let neighbour = match each.symmetric {
                true if is_mpr(node) => NeighbourType::Mpr,
                true => NeighbourType::Symmetric,
                false => NeighbourType::Not,
            };
            let qualities = if self.by_quality { each.qualities } else { Qualities::default() };
            Some(Listed { node, link, neighbour, qualities })
        };
        let mut all: Vec<Listed> = self.all.iter().filter_map(listed).collect();
        all.sort_by_key(|each| (each.neighbour, each.link, each.node));
        all
    }

    /// The symmetric neighbours whose links a TC tells of (RFC 3626 §15.1): by which of them, and how good
    /// they are. Links that carry nothing are left out.
    pub(super) fn advertised(
        &self,
        is_told: impl Fn(NodeId, bool) -> bool,
        now: Time,
    ) -> Vec<(NodeId, Qualities)> {
        let told = |(&node, each): (&NodeId, &Neighbour)| {
            let selects = each.selects_until > now;
            let usable = !each.cost(self.by_quality).is_broken();
            let qualities = if self.by_quality { each.used } else { Qualities::default() };
            (each.symmetric && usable && is_told(node, selects)).then_some((node, qualities))
        };
        self.all.iter().filter_map(told).collect()
    }
}

/// What comes in.
impl Neighbours {
    /// A packet of a neighbour, whatever it carries: it tells how steady and how good the link is.
    pub(super) fn packet(&mut self, now: Time, from: NodeId, number: u16) -> Change {
        let Some(each) = self.all.get_mut(&from) else { return Change::default() };
        let gap = number.wrapping_sub(each.last_packet);
        each.last_packet = number;
        each.received.packet(Some(gap));
        let Some(thresholds) = self.hysteresis else { return Change::default() };
        if gap > 0 {
            each.steadiness.packet(thresholds, gap, now + each.hello_interval);
            self.look_at = self.look_at.min(each.steadiness.silent_at);
        }
        each.look(now)
    }

    /// Link sensing and what follows (RFC 3626 §7.1.1, §8.1 to §8.4). `number` is the packet's.
    pub(super) fn hello(
        &mut self,
        now: Time,
        from: NodeId,
        (validity, hello, number): (TimeCode, &Hello, u16),
    ) -> Change {
        let until = now + validity.span();
        let interval = hello.interval.span();
        let (hold, hysteresis, by_quality) = (self.hold, self.hysteresis, self.by_quality);
        let each = self.all.entry(from).or_insert_with(|| {
            let mut received = Received::new(now, interval);
            received.packet(None);
            let steadiness = hysteresis
                .map_or_else(Steadiness::always, |thresholds| Steadiness::new(thresholds, now + interval));
            Neighbour {
                symmetric_until: Time::ZERO,
                heard_until: Time::ZERO,
                lost_until: Time::ZERO,
                until,
                last_packet: number,
                steadiness,
                hello_interval: interval,
                received,
                qualities: Qualities::default(),
                used: Qualities::default(),
                willingness: 0,
                symmetric: false,
                two_hop: Vec::new(),
                selects_until: Time::ZERO,
            }
        });
        each.heard_until = until;
        each.hello_interval = interval;
        each.received.hello(now, interval);
        let me = hello.listed.iter().find(|listed| listed.node == self.node);
        match me.map(|me| me.link) {
            Some(LinkType::Lost) => each.symmetric_until = Time::ZERO,
            Some(LinkType::Symmetric | LinkType::Asymmetric) => {
                each.symmetric_until = until;
                each.until = until + hold;
            }
            Some(LinkType::Unspecified) | None => {}
        }
        each.until = each.until.max(each.heard_until);
        let willingness_changed = each.willingness != hello.willingness;
        each.willingness = hello.willingness;
        // RFC 3626 §13: a link that the MAC found broken stays lost, whatever is heard.
        let mut change = each.look(now);
        change.near |= willingness_changed && each.symmetric;
        if let (Some(me), true) = (me, by_quality) {
            each.qualities.there = me.qualities.here;
        }
        if each.symmetric {
            change.near |= each.learn_two_hop(self.node, until, hello);
            if me.is_some_and(|me| me.neighbour == NeighbourType::Mpr) {
                each.selects_until = until;
            }
        }
        let soonest = each.soonest(now);
        self.look_at = self.look_at.min(soonest);
        change.near |= self.use_qualities();
        change
    }

    /// The MAC could not reach the neighbour (RFC 3626 §13).
    pub(super) fn fail(&mut self, now: Time, node: NodeId) -> Change {
        let Some(each) = self.all.get_mut(&node) else { return Change::default() };
        (each.lost_until, each.until) = (now + self.hold, now + self.hold);
        let change = each.look(now);
        self.look_at = self.look_at.min(each.soonest(now));
        change
    }

    /// What has ended by now.
    pub(super) fn expire(&mut self, now: Time) -> Change {
        let mut change = Change::default();
        if self.look_at > now {
            return change;
        }
        for each in self.all.values_mut() {
            if let Some(thresholds) = self.hysteresis {
                while each.steadiness.silent_at <= now && each.until > now {
                    each.miss_packet(thresholds, self.hold);
                }
            }
            change.add(each.look(now));
            let before = each.two_hop.len();
            each.two_hop.retain(|two_hop| two_hop.until > now);
            change.near |= each.two_hop.len() != before;
        }
        self.all.retain(|_, each| each.until > now);
        self.look_at = self.all.values().map(|each| each.soonest(now)).min().unwrap_or(Time::NEVER);
        change
    }

    /// A second is over (olsrd 0.9.8). Do routes change?
    pub(super) fn end_second(&mut self, now: Time) -> Change {
        for each in self.all.values_mut() {
            each.qualities.here = each.received.end_second(now);
        }
        Change { near: self.use_qualities(), lost: false }
    }

    /// If the qualities of one link differ enough from those in use, all are used as they are now.
    fn use_qualities(&mut self) -> bool {
        let changed =
            self.by_quality && self.all.values().any(|each| quality::differ(each.used, each.qualities));
        if changed {
            self.all.values_mut().for_each(|each| each.used = each.qualities);
        }
        changed
    }
}

impl Neighbour {
    /// The two-hop neighbour set (RFC 3626 §8.2.1). Is it another than before?
    fn learn_two_hop(&mut self, me: NodeId, until: Time, hello: &Hello) -> bool {
        let mut changed = false;
        for listed in hello.listed.iter().filter(|listed| listed.node != me) {
            let place = self.two_hop.binary_search_by_key(&listed.node, |each| each.node);
            if listed.neighbour == NeighbourType::Not {
                if let Ok(place) = place {
                    self.two_hop.remove(place);
                    changed = true;
                }
                continue;
            }
            let cost = if hello.has_qualities { Cost::of(listed.qualities) } else { Cost::HOP };
            let told = TwoHop { node: listed.node, until, cost };
            match place {
                Ok(place) => {
                    let before = std::mem::replace(&mut self.two_hop[place], told);
                    changed |= before.cost != cost;
                }
                Err(place) => {
                    self.two_hop.insert(place, told);
                    changed = true;
                }
            }
        }
        changed
    }

    fn miss_packet(&mut self, thresholds: Thresholds, hold: Span) {
        let (due, was_pending) = (self.steadiness.silent_at, self.steadiness.is_pending);
        // An interval of nothing would be missed for ever.
        self.steadiness.silence(thresholds, self.hello_interval.max(Span::from_millis(1)));
        if self.steadiness.is_pending && !was_pending {
            self.lost_until = self.until.min(due + hold);
        }
    }

    /// The first time after `now` at which something ends.
    fn soonest(&self, now: Time) -> Time {
        let links = [self.symmetric_until, self.lost_until, self.until, self.steadiness.silent_at];
        let two_hop = self.two_hop.iter().map(|each| each.until);
        links.into_iter().chain(two_hop).filter(|time| *time > now).min().unwrap_or(Time::NEVER)
    }
}
