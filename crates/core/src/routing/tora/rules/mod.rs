//! TORA's rules: how heights are made, changed and erased, as Park and Corson (1997) are
//! remembered and CMU built it for ns-2 (docs/models/tora.md).

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::kernel::{Span, Time};
use crate::routing::tora::heights::Heights;
use crate::routing::tora::params::ToraParams;
use crate::wire::NodeId;
use crate::wire::tora::{Height, Level, Message};

/// A route is required, and a query was sent for it.
#[derive(Clone, Copy, Debug)]
struct Query {
    last: Time,
    /// When it is sent again; never if nothing new makes it worth while.
    again_at: Time,
    /// Was it sent once more since there was something new?
    is_repeated: bool,
}

/// What is known of a destination.
struct Destination {
    heights: Heights,
    /// There is one as long as the route-required flag is set.
    query: Option<Query>,
    /// When the node's height was told last.
    told_at: Option<Time>,
}

/// Why a node has no link down any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    LinkFailure,
    Update,
}

/// The rules of one node, for all destinations. Messages to be sent are pushed to `out`.
pub(super) struct Rules {
    node: NodeId,
    params: Arc<ToraParams>,
    /// The neighbours, and since when their links are up.
    links: BTreeMap<NodeId, Time>,
    destinations: BTreeMap<NodeId, Destination>,
    /// Destinations for which something may have changed.
    touched: BTreeSet<NodeId>,
}

impl Rules {
    pub(super) fn new(node: NodeId, params: Arc<ToraParams>) -> Rules {
        let (links, destinations) = (BTreeMap::new(), BTreeMap::new());
        Rules { node, params, links, destinations, touched: BTreeSet::new() }
    }

    /// The lowest neighbour to which the link leads down. A neighbour is reached without asking.
    pub(super) fn next_hop(&self, dst: NodeId) -> Option<NodeId> {
        match self.destinations.get(&dst) {
            Some(known) => known.heights.lowest_down().map(|height| height.id),
            None => self.links.contains_key(&dst).then_some(dst),
        }
    }

    /// The destinations for which something may have changed since this was asked last.
    pub(super) fn take_touched(&mut self) -> BTreeSet<NodeId> {
        std::mem::take(&mut self.touched)
    }

    /// When a query is sent again.
    pub(super) fn next_query(&self) -> Time {
        let queries = self.destinations.values().filter_map(|known| known.query);
        queries.map(|query| query.again_at).min().unwrap_or(Time::NEVER)
    }

    /// From now on heights are kept for this destination.
    pub(super) fn know(&mut self, dst: NodeId) {
        if !self.destinations.contains_key(&dst) {
            self.destination(dst);
            self.touched.insert(dst);
        }
    }

    /// A packet needs a route, and no link leads down.
    pub(super) fn require_route(&mut self, now: Time, dst: NodeId, out: &mut Vec<Message>) {
        let pause = self.repeat_pause();
        let known = self.destination(dst);
        if known.query.is_none() {
            known.ask(now, pause, 1, out);
        }
    }

    pub(super) fn link_up(&mut self, now: Time, neighbour: NodeId, out: &mut Vec<Message>) {
        self.links.insert(neighbour, now);
        let pause = Span::from_secs(self.params.query_pause_s);
        for (&dst, known) in &mut self.destinations {
            known.heights.add_neighbour(neighbour, now);
            self.touched.insert(dst);
            if neighbour == dst && known.query.is_some() {
                known.adopt(now, Height::zero(dst), out);
            } else if let Some(query) = &mut known.query {
                query.again_at = query.again_at.min(now.max(query.last + pause));
                query.is_repeated = false;
            }
        }
    }

    pub(super) fn link_down(&mut self, now: Time, neighbour: NodeId, out: &mut Vec<Message>) {
        self.links.remove(&neighbour);
        for (&dst, known) in &mut self.destinations {
            known.heights.remove_neighbour(neighbour);
            self.touched.insert(dst);
            known.maintain(now, Cause::LinkFailure, out);
        }
    }

    /// A message from a neighbour; what others say is not heeded.
    pub(super) fn receive(&mut self, now: Time, from: NodeId, message: Message, out: &mut Vec<Message>) {
        if !self.links.contains_key(&from) {
            return;
        }
        let (pause, memory) = (self.repeat_pause(), Span::from_secs(self.params.update_memory_s));
        self.touched.insert(message.dst());
        let known = self.destination(message.dst());
        match message {
            Message::Qry { .. } => known.receive_query(now, from, (pause, memory), out),
            Message::Upd { height, .. } => known.receive_update(now, from, height, out),
            Message::Clr { tau, oid, .. } => {
                known.receive_clear(now, from, Level { tau, oid, reflected: true }, out);
            }
        }
    }

    /// Sends the queries that are due.
    pub(super) fn repeat_queries(&mut self, now: Time, out: &mut Vec<Message>) {
        let pause = self.repeat_pause();
        for known in self.destinations.values_mut() {
            known.repeat_query(now, pause, out);
        }
    }

    fn repeat_pause(&self) -> Option<Span> {
        let seconds = self.params.query_repeat_s;
        (seconds > 0.0).then(|| Span::from_secs(seconds))
    }

    /// What is known of a destination; at first only which neighbours there are.
    fn destination(&mut self, dst: NodeId) -> &mut Destination {
        self.destinations.entry(dst).or_insert_with(|| {
            let mut heights = Heights::new(self.node, dst);
            self.links.iter().for_each(|(&neighbour, &since)| heights.add_neighbour(neighbour, since));
            Destination { heights, query: None, told_at: None }
        })
    }
}

/// Route creation.
impl Destination {
    fn dst(&self) -> NodeId {
        self.heights.dst()
    }

    /// Sets the route-required flag, and asks if there are so many neighbours.
    fn ask(&mut self, now: Time, pause: Option<Span>, neighbours: usize, out: &mut Vec<Message>) {
        let has_asked = self.heights.count() >= neighbours;
        let again_at = pause.filter(|_| has_asked).map_or(Time::NEVER, |pause| now + pause);
        self.query = Some(Query { last: now, again_at, is_repeated: false });
        if has_asked {
            out.push(Message::Qry { dst: self.dst() });
        }
    }

    fn repeat_query(&mut self, now: Time, pause: Option<Span>, out: &mut Vec<Message>) {
        let Some(query) = self.query.filter(|query| query.again_at <= now) else { return };
        let again_at = pause.filter(|_| !query.is_repeated).map_or(Time::NEVER, |pause| now + pause);
        self.query = Some(Query { last: now, again_at, is_repeated: true });
        if self.heights.count() > 0 {
            out.push(Message::Qry { dst: self.dst() });
        }
    }

    fn receive_query(
        &mut self,
        now: Time,
        from: NodeId,
        (pause, memory): (Option<Span>, Span),
        out: &mut Vec<Message>,
    ) {
        if self.query.is_some() {
            return;
        }
        if self.heights.own().is_some_and(|own| !own.level.reflected) {
            if !self.has_been_told(now, from, memory) {
                self.tell(now, out);
            }
        } else if let Some(lowest) = self.heights.lowest_unreflected() {
            self.adopt(now, lowest, out);
        } else {
            self.ask(now, pause, 2, out);
        }
    }

    /// Was the height told while the link to the neighbour was up, and not long ago?
    fn has_been_told(&self, now: Time, neighbour: NodeId, memory: Span) -> bool {
        self.told_at.is_some_and(|told_at| {
            self.heights.since(neighbour).is_some_and(|since| since < told_at) && now <= told_at + memory
        })
    }

    /// Takes the height above that of a neighbour: there is a route.
    fn adopt(&mut self, now: Time, lower: Height, out: &mut Vec<Message>) {
        self.heights.set_own(Some(self.heights.above(lower)));
        self.query = None;
        self.tell(now, out);
    }

    fn tell(&mut self, now: Time, out: &mut Vec<Message>) {
        self.told_at = Some(now);
        if self.heights.count() > 0 {
            out.push(Message::Upd { dst: self.dst(), height: self.heights.own() });
        }
    }

    fn receive_update(&mut self, now: Time, from: NodeId, height: Option<Height>, out: &mut Vec<Message>) {
        self.heights.set(from, height);
        let is_sought =
            |height: &Height| self.query.is_some() && height.id == from && !height.level.reflected;
        match height.filter(is_sought) {
            Some(height) => self.adopt(now, height, out),
            None => self.maintain(now, Cause::Update, out),
        }
    }
}

/// Route maintenance and erasure.
impl Destination {
    /// If no link leads down any more, the node reverses its links, or finds itself in a partition.
    fn maintain(&mut self, now: Time, cause: Cause, out: &mut Vec<Message>) {
        let Some(own) = self.heights.own() else { return };
        if own.id == self.dst() || self.heights.lowest_down().is_some() {
            return;
        }
        let Some(lowest) = self.heights.lowest_of_highest() else {
            self.heights.set_own(None);
            self.tell(now, out);
            return;
        };
        let (delta, id) = (0, own.id);
        let generated = Level { tau: now, oid: id, reflected: false };
        let height = match self.heights.common_level() {
            // Case 1, generate.
            _ if cause == Cause::LinkFailure => Height { level: generated, delta, id },
            // Case 2, propagate.
            None => Height { level: lowest.level, delta: lowest.delta.saturating_sub(1), id },
            // Case 3, reflect.
            Some(level) if !level.reflected => {
                Height { level: Level { reflected: true, ..level }, delta, id }
            }
            // Case 4, detect.
            Some(level) if level.oid == id => return self.clear(level, out),
            // Case 5, generate.
            Some(_) => Height { level: generated, delta, id },
        };
        self.heights.set_own(Some(height));
        self.tell(now, out);
    }

    /// The destination is in another partition: erases all heights, and says so.
    fn clear(&mut self, level: Level, out: &mut Vec<Message>) {
        self.heights.set_own(None);
        self.heights.erase(|_| true);
        out.push(Message::Clr { dst: self.dst(), tau: level.tau, oid: level.oid });
    }

    fn receive_clear(&mut self, now: Time, from: NodeId, level: Level, out: &mut Vec<Message>) {
        if self.heights.own().is_some_and(|own| own.level == level) {
            self.clear(level, out);
            return;
        }
        self.heights.erase(|height| height.level == level || height.id == from);
        self.heights.renew(from, now);
        self.maintain(now, Cause::LinkFailure, out);
    }
}
