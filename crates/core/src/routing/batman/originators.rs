//! What a node knows of the others: which of their messages came over which neighbour, and how good the ways
//! are.

use smallvec::{SmallVec, smallvec};

use super::params::BatmanParams;
use crate::kernel::{Span, Time};
use crate::routing::by_node::ByNode;
use crate::wire::NodeId;
use crate::wire::batman::Ogm;

/// Numbers that a window remembers.
const WINDOW: i64 = 64;
/// A number that is so far ahead belongs to a node that has started again.
const FAR_AHEAD: i64 = 65_536;
/// A second message with the newest number counts if it has gone only so many hops more than the first.
const LATE_HOPS: u8 = 3;

/// Which of an originator's last 64 numbers came; bit *i* is the *i*-th before the newest.
#[derive(Clone, Copy, Debug, Default)]
struct Window(u64);

impl Window {
    fn shift(&mut self, by: i64) {
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        self.0 = self.0.checked_shl(by).unwrap_or(0);
    }

    fn has(self, behind: i64) -> bool {
        (0..WINDOW).contains(&behind) && self.0 >> behind & 1 == 1
    }

    fn set(&mut self, behind: i64) {
        if (0..WINDOW).contains(&behind) {
            self.0 |= 1 << behind;
        }
    }

    fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// The way to an originator over one neighbour.
#[derive(Clone, Debug)]
struct Way {
    neighbour: NodeId,
    came: Window,
    seen: Time,
    /// The last qualities, and where the next one goes; the sum and the number of those that are not zero,
    /// and their mean.
    tqs: SmallVec<[u8; 8]>,
    next: u8,
    count: u8,
    sum: u16,
    mean: u8,
}

impl Way {
    fn new(now: Time, neighbour: NodeId, tq_window: u32) -> Way {
        let tqs = smallvec![0; tq_window as usize];
        Way { neighbour, came: Window::default(), seen: now, tqs, next: 0, count: 0, sum: 0, mean: 0 }
    }

    fn add(&mut self, tq: u8) {
        let before = std::mem::replace(&mut self.tqs[usize::from(self.next)], tq);
        self.next = if usize::from(self.next) + 1 == self.tqs.len() { 0 } else { self.next + 1 };
        if before == tq {
            return;
        }
        self.sum = self.sum + u16::from(tq) - u16::from(before);
        self.count = self.count + u8::from(tq > 0) - u8::from(before > 0);
        self.mean = self.sum.checked_div(self.count.into()).unwrap_or(0) as u8;
    }
}

/// A node of which messages have come.
#[derive(Clone, Debug)]
pub(super) struct Originator {
    seqno: u32,
    ttl: u8,
    /// Until when a jump of its numbers is not believed.
    protected_until: Time,
    /// In the order of their neighbours' numbers.
    ways: Vec<Way>,
    /// The neighbour over which packets to it go.
    pub(super) router: Option<NodeId>,
    seen: Time,
    /// If it is a neighbour: which of this node's own messages came back from it.
    echoes: Window,
}

/// What a message was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    New,
    /// The same number came over another neighbour before.
    Repeated,
    /// It came over this neighbour before.
    RepeatedHere,
    /// Its number is not believed.
    Refused,
}

impl Originator {
    /// Of which nothing is known.
    pub(super) fn new(now: Time) -> Originator {
        Originator {
            seqno: 0,
            ttl: 0,
            protected_until: Time::ZERO,
            ways: Vec::new(),
            router: None,
            seen: now,
            echoes: Window::default(),
        }
    }

    fn place(&self, neighbour: NodeId) -> Result<usize, usize> {
        self.ways.binary_search_by_key(&neighbour, |way| way.neighbour)
    }

    fn way(&self, neighbour: NodeId) -> Option<&Way> {
        self.place(neighbour).ok().map(|place| &self.ways[place])
    }

    /// Notes that a message came over `from` in the windows of all ways.
    pub(super) fn note(&mut self, now: Time, ogm: &Ogm, from: NodeId, params: &BatmanParams) -> Arrival {
        if self.ways.is_empty() {
            self.seqno = ogm.seqno;
        }
        let mut ahead = params.ahead(ogm.seqno, self.seqno);
        if ahead <= -WINDOW || ahead >= FAR_AHEAD {
            if now < self.protected_until {
                return Arrival::Refused;
            }
            self.protected_until = now + Span::from_secs(params.reset_protection_s);
            self.ways.iter_mut().for_each(|way| way.came = Window::default());
            (self.seqno, ahead) = (ogm.seqno, 0);
        }
        self.seen = now;
        let mut arrival = Arrival::New;
        if let Err(place) = self.place(from) {
            self.ways.insert(place, Way::new(now, from, params.tq_window));
        }
        for way in &mut self.ways {
            let is_this = way.neighbour == from;
            if way.came.has(-ahead) {
                arrival = if is_this { Arrival::RepeatedHere } else { arrival.max(Arrival::Repeated) };
            }
            if ahead > 0 {
                way.came.shift(ahead);
            }
            if is_this {
                way.came.set((-ahead).max(0));
                way.seen = now;
            }
        }
        if ahead > 0 {
            self.seqno = ogm.seqno;
        }
        arrival
    }

    /// Its own messages that came over the link to it.
    pub(super) fn heard(&self, this: NodeId) -> u32 {
        self.way(this).map_or(0, |way| way.came.count())
    }

    /// The messages that it has echoed.
    pub(super) fn echoed(&self) -> u32 {
        self.echoes.count()
    }

    /// One of this node's messages has come back from it, `behind` the newest.
    pub(super) fn echo(&mut self, behind: i64) {
        self.echoes.set(behind);
    }

    /// This node has made another message.
    pub(super) fn await_echo(&mut self) {
        self.echoes.shift(1);
    }

    /// May a message change the ranking: a new number, or the newest again over hardly more hops?
    pub(super) fn ranks(&self, ogm: &Ogm, arrival: Arrival) -> bool {
        arrival == Arrival::New || ogm.seqno == self.seqno && self.ttl.saturating_sub(LATE_HOPS) <= ogm.ttl
    }

    /// Takes a quality over `from` into account; one of a new number is none over all other neighbours.
    /// `echoed` says how many messages neighbours have echoed. Returns whether packets go another way now.
    pub(super) fn rank(
        &mut self,
        (ogm, tq): (&Ogm, u8),
        from: NodeId,
        is_new: bool,
        echoed: impl Fn(NodeId) -> u32,
    ) -> bool {
        for way in &mut self.ways {
            if way.neighbour == from {
                way.add(tq);
            } else if is_new {
                way.add(0);
            }
        }
        if is_new {
            self.ttl = ogm.ttl;
        }
        let mean = |node: NodeId| self.way(node).map_or(0, |way| way.mean);
        let is_better = self.router.is_none_or(|router| {
            router != from && (mean(from), echoed(from)) > (mean(router), echoed(router))
        });
        if is_better {
            self.router = Some(from);
        }
        is_better
    }

    /// Forgets ways that nothing came over for `purge`; is the router among them?
    fn expire(&mut self, now: Time, purge: Span) -> bool {
        self.ways.retain(|way| way.seen + purge > now);
        let lost = self.router.is_some_and(|router| self.way(router).is_none());
        if lost {
            let usable = self.ways.iter().filter(|way| way.mean > 0);
            let best = usable.max_by_key(|way| (way.mean, std::cmp::Reverse(way.neighbour)));
            self.router = best.map(|way| way.neighbour);
        }
        lost
    }

    #[cfg(test)]
    pub(super) fn mean_over(&self, neighbour: NodeId) -> u8 {
        self.way(neighbour).map_or(0, |way| way.mean)
    }
}

impl Arrival {
    fn max(self, other: Arrival) -> Arrival {
        if self == Arrival::New { other } else { self }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Originators {
    all: ByNode<Originator>,
    /// Nothing is forgotten before; none if there is nothing.
    look_at: Option<Time>,
}

impl Originators {
    pub(super) fn get(&self, node: NodeId) -> Option<&Originator> {
        self.all.get(node)
    }

    pub(super) fn get_mut(&mut self, node: NodeId) -> Option<&mut Originator> {
        self.all.get_mut(node)
    }

    /// The originator, which may be new; something of it may be forgotten `purge` from now.
    pub(super) fn entry(&mut self, now: Time, node: NodeId, purge: Span) -> &mut Originator {
        self.look_at = Some(self.look_at.unwrap_or(Time::NEVER).min(now + purge));
        self.all.place(node).get_or_insert_with(|| Originator::new(now))
    }

    pub(super) fn router(&self, node: NodeId) -> Option<NodeId> {
        self.all.get(node)?.router
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Originator> {
        self.all.iter_mut().map(|(_, each)| each)
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.look_at.unwrap_or(Time::NEVER)
    }

    /// Forgets what was not heard of for `purge`. The nodes to which packets go another way, or none, now.
    pub(super) fn expire(&mut self, now: Time, purge: Span) -> Vec<NodeId> {
        if self.next_timeout() > now {
            return Vec::new();
        }
        let mut changed = Vec::new();
        self.all.retain(|node, each| {
            let was_routed = each.router.is_some();
            let is_known = each.seen + purge > now;
            if each.expire(now, purge) || (was_routed && !is_known) {
                changed.push(node);
            }
            is_known
        });
        let seen =
            self.all.iter().flat_map(|(_, each)| each.ways.iter().map(|way| way.seen).chain([each.seen]));
        self.look_at = seen.min().map(|seen| seen + purge);
        changed
    }

    pub(super) fn len(&self) -> usize {
        self.all.iter().count()
    }
}
