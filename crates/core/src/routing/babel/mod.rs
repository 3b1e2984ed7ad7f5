//! Babel (RFC 8966): distance vectors that never loop, because a node follows only what is better than all
//! that it has ever told.
//!
//! Read first: RFC 8966 §2 for the idea, then §3.5 (routes), §3.7 (updates), §3.8 (requests). For babeld: its
//! sources, version 1.14.
//!
//! **Implemented.** Hellos and their history, IHUs, costs of links (§3.4, appendix A); sources, feasibility,
//! routes, selection with smoothed metrics (§3.5, §3.6); full and triggered updates, retractions (§3.7);
//! requests for routes and for sequence numbers, passed on and repeated (§3.8).
//!
//! **Not implemented.** Acknowledgements, unicast Hellos, several interfaces, prefixes of others than nodes,
//! compression of addresses, extensions (source-specific routing, MACs, delays).
//!
//! **Deviations**: numbered in docs/models/babel.md.

mod links;
mod params;
mod requests;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::links::Neighbour;
pub use self::params::{BabelParams, Carrier, LinkCost};
use self::params::{of_centis, roughly};
use self::requests::{Pending, Repeats, Requests};
use self::table::{Route, Table, is_newer};
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::babel::{INFINITY, PACKET_HEADER_BYTES, Packet as BabelPacket, Tlv};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload, UDP_HEADER_BYTES};

/// Bytes of an IPv6 header (RFC 8200 §3).
const IPV6_HEADER_BYTES: u32 = 40;
/// What babeld 1.14 holds for a change worth telling: less is left to the next full update.
const SMALL_CHANGE: u16 = 384;
const SMALL_GAIN: u16 = 1024;
/// A loss that is told at once, if the route was good before. For a small one neighbours are asked.
const BIG_LOSS: u16 = 512;
const GOOD: u16 = 1536;
/// What babeld 1.14 takes for at once, in s.
const AT_ONCE_S: f64 = 0.01;
/// A route that is so much worse than one that is not feasible is worth a request (babeld 1.14).
const WORTH_ASKING: u16 = 512;
/// Numbers that are farther behind are not asked for (babeld 1.14).
const FAR_BEHIND: u16 = 100;
/// Routes that were worse are not asked for when they are lost (babeld 1.14).
const HOPELESS: u16 = 32_767;

/// One node's Babel. `stream` is used for jitter and for the pace of smoothing.
pub fn new(node: NodeId, params: &Arc<BabelParams>, stream: Stream) -> Box<dyn Routing> {
    Box::new(Babel::new(node, Arc::clone(params), stream))
}

/// The state of one node.
struct Babel {
    node: NodeId,
    params: Arc<BabelParams>,
    stream: Stream,
    seqno: u16,
    hello_seqno: u16,
    /// Neighbours, with the costs that routes have been computed with.
    neighbours: BTreeMap<NodeId, (Neighbour, u16)>,
    table: Table,
    requests: Requests,
    /// Retractions that are sent again.
    retractions: BTreeMap<NodeId, Repeats>,
    /// Routes whose changes were not asked for yet.
    changes: Changes,
    hello_at: Time,
    /// When all routes are told, and when they were; the first time says that all before is void.
    dump_at: Time,
    dumped: Option<Time>,
    /// Did somebody ask for all routes? Then they do not wait for a Hello.
    dump_is_wanted: bool,
    /// Destinations to tell of, and when.
    news: BTreeSet<NodeId>,
    news_at: Time,
    /// Neighbours to tell that they are heard, requests to send, and when.
    heard: BTreeSet<NodeId>,
    asked: Vec<Tlv>,
    others_at: Time,
    /// Requests that are for one neighbour, and when they go.
    for_one: BTreeMap<NodeId, (Time, Vec<Tlv>)>,
}

impl Babel {
    fn new(node: NodeId, params: Arc<BabelParams>, stream: Stream) -> Babel {
        Babel {
            node,
            params,
            stream,
            seqno: 0,
            hello_seqno: 0,
            neighbours: BTreeMap::new(),
            table: Table::default(),
            requests: Requests::default(),
            retractions: BTreeMap::new(),
            changes: Changes::NONE,
            hello_at: Time::NEVER,
            dump_at: Time::NEVER,
            dumped: None,
            dump_is_wanted: false,
            news: BTreeSet::new(),
            news_at: Time::NEVER,
            heard: BTreeSet::new(),
            asked: Vec::new(),
            others_at: Time::NEVER,
            for_one: BTreeMap::new(),
        }
    }
}

impl Routing for Babel {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.hello_at = now + self.stream.span_below(Span::from_secs(self.params.hello_interval_s));
        self.dump_at = self.hello_at;
    }

    fn handle_outgoing(&mut self, _now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        } else {
            self.forward(packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Babel(content) = &packet.payload {
            let tlvs = Arc::clone(&content.tlvs);
            actions.push(Action::Consume(packet));
            self.receive(now, &tlvs, from, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(packet, actions);
        }
    }

    /// With feedback the packet takes another route, if there is one.
    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.link_feedback || !packet.is_data() {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        }
        if let Some((neighbour, _)) = self.neighbours.get_mut(&next_hop) {
            neighbour.lose_ihu();
        }
        self.follow_cost(now, next_hop, actions);
        self.forward(packet, actions);
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        for (node, lost) in self.silent_neighbours(now) {
            if lost {
                self.lose_neighbour(now, node, actions);
            } else {
                self.follow_cost(now, node, actions);
            }
        }
        for prefix in self.table.expire(now) {
            self.reselect(now, prefix, actions);
        }
        for (prefix, pending) in self.requests.fire(now) {
            self.ask_all(now, prefix, pending.seqno);
        }
        self.repeat_retractions(now);
        self.send_what_is_due(now, actions);
        self.send_requests(now, actions);
    }

    fn next_timeout(&self) -> Time {
        let links = self.neighbours.values().map(|(each, _)| each.missed_at.min(each.ihu_until));
        let again = self.retractions.values().map(Repeats::at);
        let mine = [self.hello_at, self.dump_at, self.news_at, self.others_at];
        let tables = [self.table.next_timeout(), self.requests.next_timeout()];
        let for_one = self.for_one.values().map(|(at, _)| *at);
        links.chain(again).chain(for_one).chain(mine).chain(tables).min().unwrap_or(Time::NEVER)
    }

    fn buffered(&self, _visit: &mut dyn FnMut(&Packet)) {}

    fn remembered(&self, now: Time) -> Option<usize> {
        // Its own address, which waits to be told for ever, is none of what it knows of others.
        let news = self.news.iter().filter(|prefix| **prefix != self.node).count();
        let waiting =
            self.retractions.len() + news + self.heard.len() + self.asked.len() + self.for_one.len();
        Some(self.neighbours.len() + self.table.len(now) + self.requests.len() + waiting)
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.table.get(dst)?.selected().map(|(next_hop, _)| next_hop)
    }

    fn take_route_changes(&mut self) -> Changes {
        self.changes.take()
    }
}

/// Data.
impl Babel {
    fn forward(&self, packet: Packet, actions: &mut Vec<Action>) {
        let selected = self.table.get(packet.dst).and_then(|each| each.selected());
        actions.push(match selected {
            Some((next_hop, _)) => Action::Send { packet, next_hop, delay: Span::ZERO },
            None => Action::Drop(packet, DropReason::NoRoute),
        });
    }
}

/// What comes in.
impl Babel {
    fn receive(&mut self, now: Time, tlvs: &[Tlv], from: NodeId, actions: &mut Vec<Action>) {
        self.meet(now, from);
        // RFC 8966 §4.5: what updates say is in part said before them.
        let mut router = None;
        for tlv in tlvs {
            match *tlv {
                Tlv::Hello { seqno, interval } => self.receive_hello(now, from, (seqno, interval), actions),
                Tlv::Ihu { to, rxcost, interval, .. } if to == self.node => {
                    let until = now + of_centis(interval.max(1)).scaled(self.params.ihu_hold);
                    if let Some((neighbour, _)) = self.neighbours.get_mut(&from) {
                        neighbour.ihu(rxcost, until);
                        self.follow_cost(now, from, actions);
                    }
                }
                Tlv::Ihu { .. } | Tlv::NextHop(_) => {}
                Tlv::RouterId(node) => router = Some(node),
                Tlv::Update { prefix, interval, seqno, metric } => {
                    if metric == INFINITY || router == Some(prefix) {
                        self.receive_update(now, from, prefix, (seqno, metric, interval), actions);
                    }
                }
                Tlv::RetractAll { .. } => self.retract_all_of(now, from, actions),
                Tlv::RouteRequest(Some(prefix)) if prefix.is_broadcast() => {}
                Tlv::RouteRequest(Some(prefix)) => self.tell_soon(now, prefix, self.params.triggered_s),
                Tlv::RouteRequest(None) => self.dump_soon(now),
                Tlv::SeqnoRequest { prefix, seqno, hop_count, .. } => {
                    self.receive_seqno_request(now, from, prefix, (seqno, hop_count));
                }
            }
        }
    }

    /// RFC 8966 §3.2.4: whoever sends a packet is a neighbour. What it says before its first Hello is kept,
    /// and counts as soon as the link can be used.
    fn meet(&mut self, now: Time, from: NodeId) -> &mut Neighbour {
        let hello_interval = Span::from_secs(self.params.hello_interval_s);
        let unknown = || (Neighbour::new(now, hello_interval), INFINITY);
        &mut self.neighbours.entry(from).or_insert_with(unknown).0
    }

    /// RFC 8966 §3.4.1. A new neighbour is told soon that it is heard.
    fn receive_hello(
        &mut self,
        now: Time,
        from: NodeId,
        (seqno, interval): (u16, u16),
        actions: &mut Vec<Action>,
    ) {
        if self.neighbours.get(&from).is_some_and(|(each, _)| each.has_restarted(seqno)) {
            self.lose_neighbour(now, from, actions);
        }
        let neighbour = self.meet(now, from);
        let is_first = !neighbour.has_greeted();
        neighbour.hello(now, seqno, interval);
        if is_first {
            self.heard.insert(from);
            self.others_by(now, self.params.hello_interval_s / 4.0);
        }
        self.follow_cost(now, from, actions);
    }

    /// RFC 8966 §3.5.3.
    fn receive_update(
        &mut self,
        now: Time,
        from: NodeId,
        prefix: NodeId,
        (seqno, metric, interval): (u16, u16, u16),
        actions: &mut Vec<Action>,
    ) {
        let Some(&(_, cost)) = self.neighbours.get(&from) else { return };
        if prefix == self.node || prefix.is_broadcast() {
            return;
        }
        let until = now + of_centis(interval.max(1)).scaled(self.params.route_hold);
        let destination = self.table.get_mut(prefix);
        let is_feasible = destination.is_feasible(now, seqno, metric);
        let is_selected = destination.selected().is_some_and(|(node, _)| node == from);
        match destination.routes().get_mut(from) {
            None if metric == INFINITY => return,
            None => {
                destination.routes().insert(from, Route::new(now, seqno, metric, cost, until));
            }
            Some(_) if is_selected && !is_feasible && !self.params.keeps_unfeasible => {}
            Some(route) => {
                route.smooth(now, self.params.smoothing_s, &mut self.stream);
                route.adopt(seqno, metric, cost, until);
            }
        }
        if metric < INFINITY {
            self.table.ends(until);
        }
        self.reselect(now, prefix, actions);
        if !is_feasible {
            self.ask_for_feasible(now, from, prefix, (seqno, metric.saturating_add(cost)));
        } else if metric < INFINITY
            && self.requests.answered(prefix, seqno).is_some_and(|each| each.requester.is_some())
        {
            self.tell_soon(now, prefix, self.params.urgent_s);
        }
    }

    /// RFC 8966 §3.8.2.2, with what babeld 1.14 asks: is the route worth it?
    fn ask_for_feasible(&mut self, now: Time, from: NodeId, prefix: NodeId, (seqno, metric): (u16, u16)) {
        let Some(destination) = self.table.get(prefix) else { return };
        let Some(known) = destination.seqno(now) else { return };
        let used = match destination.selected() {
            // Where the route is kept nothing is lost: babeld does not ask.
            Some((node, _)) if node == from && self.params.keeps_unfeasible => return,
            Some((node, route)) if node != from => route.metric,
            _ => INFINITY,
        };
        if metric == INFINITY || used < metric.saturating_add(WORTH_ASKING) {
            return;
        }
        if known.wrapping_sub(seqno) <= FAR_BEHIND {
            // Once: the neighbour's next update that is not feasible asks again.
            self.send_to(now, from, self.request(prefix, known.wrapping_add(1)));
        }
    }

    /// RFC 8966 §3.8.1.2.
    fn receive_seqno_request(
        &mut self,
        now: Time,
        from: NodeId,
        prefix: NodeId,
        (seqno, hop_count): (u16, u8),
    ) {
        if prefix == self.node {
            if is_newer(seqno, self.seqno) {
                self.seqno = self.seqno.wrapping_add(1);
            }
            self.tell_soon(now, prefix, self.params.urgent_s);
            return;
        }
        let Some(destination) = self.table.get(prefix) else { return };
        let selected = destination.selected().map(|(node, route)| (node, route.seqno));
        if selected.is_some_and(|(_, known)| !is_newer(seqno, known)) {
            self.tell_soon(now, prefix, self.params.urgent_s);
            return;
        }
        let towards = selected.map(|(node, _)| node).filter(|node| *node != from);
        let towards = towards.or_else(|| destination.next_best(now, Some(from)));
        if hop_count >= 2
            && !self.requests.is_redundant(prefix, seqno)
            && let Some(towards) = towards
        {
            let until = now + Span::from_secs(self.params.request_memory_s);
            self.requests.add(prefix, Pending::passed_on(seqno, from, until));
            let tlv = Tlv::SeqnoRequest { prefix, seqno, hop_count: hop_count - 1, router: prefix };
            self.send_to(now, towards, tlv);
        }
    }

    /// A wildcard retraction: the neighbour has started again.
    fn retract_all_of(&mut self, now: Time, from: NodeId, actions: &mut Vec<Action>) {
        for prefix in self.table.set_cost(from, None) {
            self.reselect(now, prefix, actions);
        }
    }
}

/// Links.
impl Babel {
    /// Neighbours from whom something is overdue, and whether nothing speaks for them any more.
    fn silent_neighbours(&mut self, now: Time) -> Vec<(NodeId, bool)> {
        let mut silent = Vec::new();
        for (node, (neighbour, _)) in &mut self.neighbours {
            let is_due = neighbour.missed_at.min(neighbour.ihu_until) <= now;
            let mut is_gone = false;
            while neighbour.missed_at <= now && !is_gone {
                is_gone = neighbour.miss_hello();
            }
            if neighbour.ihu_until <= now {
                neighbour.lose_ihu();
            }
            if is_due {
                silent.push((*node, is_gone));
            }
        }
        silent
    }

    /// The cost of the link may be another one: if so, routes over it are, too.
    fn follow_cost(&mut self, now: Time, node: NodeId, actions: &mut Vec<Action>) {
        let Some((neighbour, used)) = self.neighbours.get_mut(&node) else { return };
        let cost = neighbour.cost(now, self.params.link_cost);
        let before = std::mem::replace(used, cost);
        if before == cost {
            return;
        }
        self.table.smooth(now, node, self.params.smoothing_s, &mut self.stream);
        for prefix in self.table.set_cost(node, Some(cost)) {
            self.reselect(now, prefix, actions);
        }
        if before == INFINITY && self.params.asks_neighbours {
            self.send_to(now, node, Tlv::RouteRequest(None));
        }
    }

    fn lose_neighbour(&mut self, now: Time, node: NodeId, actions: &mut Vec<Action>) {
        self.neighbours.remove(&node);
        self.heard.remove(&node);
        self.for_one.remove(&node);
        for prefix in self.table.set_cost(node, None) {
            self.reselect(now, prefix, actions);
        }
    }
}

/// Routes.
impl Babel {
    /// Selects the route anew, and does what follows from it (RFC 8966 §3.6, §3.7.2).
    fn reselect(&mut self, now: Time, prefix: NodeId, actions: &mut Vec<Action>) {
        let destination = self.table.get_mut(prefix);
        let before = destination.used();
        destination.select(now, &self.params, &mut self.stream);
        let (after, told) = (destination.used(), destination.told.unwrap_or(INFINITY));
        if before.map(|(node, _)| node) != after.map(|(node, _)| node) {
            self.changes.add(prefix);
        }
        match (before, after) {
            (None, None) => {}
            (None, Some(_)) => {
                actions.push(Action::Notify(Notice::RouteFound { dst: prefix }));
                self.retractions.remove(&prefix);
                self.tell_soon(now, prefix, self.params.urgent_s);
            }
            (Some((_, metric)), None) => {
                actions.push(Action::Notify(Notice::RouteFailed { dst: prefix, told: true }));
                self.lose_route(now, prefix, metric);
            }
            (Some((_, old)), Some((_, metric))) => {
                self.tell_change(now, prefix, told, metric);
                if metric >= old.saturating_add(SMALL_CHANGE) {
                    self.tell_first(now);
                    self.asked.push(Tlv::RouteRequest(Some(prefix)));
                    self.others_by(now, self.params.request_s);
                }
            }
        }
    }

    /// No feasible route is left: the neighbours are told, and the destination is asked for a new number
    /// (RFC 8966 §3.8.2.1).
    fn lose_route(&mut self, now: Time, prefix: NodeId, metric: u16) {
        // What was never told need not be taken back, and forbids nothing.
        let Some(destination) = self.table.get(prefix).filter(|each| each.told.is_some()) else { return };
        let (number, to) = (destination.seqno(now), destination.next_best(now, None));
        self.tell_soon(now, prefix, self.params.urgent_s);
        let wait = Span::from_secs(self.params.request_wait_s);
        self.retractions.insert(prefix, Repeats::new(now, self.params.request_repeats, wait));
        if metric <= HOPELESS
            && let Some(number) = number
        {
            self.ask_for_number(now, prefix, number.wrapping_add(1), to);
        }
    }

    /// What is told of a route that has become better or worse (babeld 1.14).
    fn tell_change(&mut self, now: Time, prefix: NodeId, told: u16, metric: u16) {
        let (loss, gain) = (metric.saturating_sub(told), told.saturating_sub(metric));
        if loss >= BIG_LOSS && told < GOOD {
            self.tell_soon(now, prefix, self.params.urgent_s);
        } else if loss >= SMALL_CHANGE || gain >= SMALL_GAIN {
            self.tell_soon(now, prefix, self.params.triggered_s);
        }
    }

    /// Asks for a number, of a neighbour or of all, and again until an answer comes.
    fn ask_for_number(&mut self, now: Time, prefix: NodeId, seqno: u16, to: Option<NodeId>) {
        if self.requests.is_redundant(prefix, seqno) {
            return;
        }
        let wait = Span::from_secs(self.params.request_wait_s);
        let repeats = Repeats::new(now, self.params.request_repeats, wait);
        self.requests.add(prefix, Pending::own(seqno, repeats));
        match to {
            Some(to) => self.send_to(now, to, self.request(prefix, seqno)),
            None => self.ask_all(now, prefix, seqno),
        }
    }

    /// A request of this node's own.
    fn request(&self, prefix: NodeId, seqno: u16) -> Tlv {
        Tlv::SeqnoRequest { prefix, seqno, hop_count: self.params.request_hops as u8, router: prefix }
    }

    fn ask_all(&mut self, now: Time, prefix: NodeId, seqno: u16) {
        self.tell_first(now);
        self.asked.push(self.request(prefix, seqno));
        self.others_by(now, self.params.request_s);
    }

    fn repeat_retractions(&mut self, now: Time) {
        let mut again = Vec::new();
        self.retractions.retain(|prefix, repeats| {
            if repeats.at() > now {
                return true;
            }
            let fires = repeats.fire();
            if fires {
                again.push(*prefix);
            }
            fires
        });
        for prefix in again {
            self.tell_soon(now, prefix, self.params.urgent_s);
        }
    }
}

/// When things are sent.
impl Babel {
    fn tell_soon(&mut self, now: Time, prefix: NodeId, within_s: f64) {
        self.news.insert(prefix);
        self.news_at = self.news_at.min(now + roughly(within_s, &mut self.stream));
    }

    /// Who is asked should know what the node has to tell.
    fn tell_first(&mut self, now: Time) {
        if self.params.tells_first && !self.news.is_empty() {
            self.news_at = self.news_at.min(now + roughly(AT_ONCE_S, &mut self.stream));
        }
    }

    fn others_by(&mut self, now: Time, within_s: f64) {
        self.others_at = self.others_at.min(now + roughly(within_s, &mut self.stream));
    }

    /// RFC 8966 §3.8.1.1: all routes, unless they have just been told.
    fn dump_soon(&mut self, now: Time) {
        let interval = Span::from_secs(self.params.hello_interval_s);
        if self.dumped.is_none_or(|dumped| dumped + interval <= now) {
            let soon = now + roughly(self.params.triggered_s, &mut self.stream);
            self.dump_at = self.dump_at.min(soon);
            self.dump_is_wanted = true;
        }
    }
}

/// What goes out.
impl Babel {
    /// If anything is due, all that waits goes with it.
    fn send_what_is_due(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.params.dumps_wait && !self.dump_is_wanted && self.dumped.is_some() && self.dump_at <= now {
            self.news = self.all_told(now);
            self.news_at = self.news_at.min(now + roughly(self.params.triggered_s, &mut self.stream));
        }
        let is_due =
            [self.hello_at, self.dump_at, self.news_at, self.others_at].into_iter().any(|at| at <= now);
        if !is_due {
            return;
        }
        let mut pieces = self.hellos(now);
        if self.dumped.is_none() {
            pieces.push(vec![Tlv::RetractAll { interval: self.params.update_centis() }]);
            pieces.push(vec![Tlv::RouteRequest(None)]);
        }
        pieces.extend(std::mem::take(&mut self.asked).into_iter().map(|tlv| vec![tlv]));
        self.others_at = Time::NEVER;
        let told = if self.dump_at <= now { self.all_told(now) } else { std::mem::take(&mut self.news) };
        self.news_at = Time::NEVER;
        for prefix in told {
            pieces.push(self.update(now, prefix));
        }
        self.send(now, pieces, actions);
    }

    /// The Hello, if it is due, and what neighbours are told with it.
    fn hellos(&mut self, now: Time) -> Vec<Vec<Tlv>> {
        let mut told = std::mem::take(&mut self.heard);
        let mut pieces = Vec::new();
        if self.hello_at <= now {
            self.hello_seqno = self.hello_seqno.wrapping_add(1);
            let interval = self.params.hello_centis();
            pieces.push(vec![Tlv::Hello { seqno: self.hello_seqno, interval }]);
            self.hello_at = now + self.params.until_hello(&mut self.stream);
            let greeted = self.neighbours.iter_mut().filter(|(_, (neighbour, _))| neighbour.has_greeted());
            for (node, (neighbour, _)) in greeted {
                if neighbour.hellos_until_ihu == 0 || neighbour.is_marginal() {
                    told.insert(*node);
                } else {
                    neighbour.hellos_until_ihu -= 1;
                }
            }
        }
        for to in told {
            let Some((neighbour, _)) = self.neighbours.get_mut(&to) else { continue };
            neighbour.hellos_until_ihu = self.params.hellos_per_ihu - 1;
            let rxcost = neighbour.rxcost(now, self.params.link_cost);
            let link_local = self.params.over == Carrier::Ipv6;
            pieces.push(vec![Tlv::Ihu { to, link_local, rxcost, interval: self.params.ihu_centis() }]);
        }
        pieces
    }

    /// All that a full update tells.
    fn all_told(&mut self, now: Time) -> BTreeSet<NodeId> {
        self.dumped = Some(now);
        self.dump_is_wanted = false;
        self.dump_at = now + self.params.until_update(&mut self.stream);
        let mut told = std::mem::take(&mut self.news);
        told.extend(
            self.table.iter().filter(|(_, each)| each.selected().is_some()).map(|(prefix, _)| prefix),
        );
        told.insert(self.node);
        told
    }

    /// An update (RFC 8966 §3.7.3): the feasibility distance comes first.
    fn update(&mut self, now: Time, prefix: NodeId) -> Vec<Tlv> {
        let interval = self.params.update_centis();
        if prefix == self.node {
            return vec![
                Tlv::RouterId(prefix),
                Tlv::Update { prefix, interval, seqno: self.seqno, metric: 0 },
            ];
        }
        let hold = self.params.source_hold();
        let destination = self.table.get_mut(prefix);
        let Some((seqno, metric)) = destination.selected().map(|(_, route)| (route.seqno, route.metric))
        else {
            destination.told = Some(INFINITY);
            return vec![Tlv::Update { prefix, interval, seqno: 0, metric: INFINITY }];
        };
        destination.tell(now, hold, seqno, metric);
        destination.told = Some(metric);
        vec![Tlv::RouterId(prefix), Tlv::Update { prefix, interval, seqno, metric }]
    }

    /// Sends pieces, as many together as a packet has room for.
    fn send(&mut self, now: Time, pieces: Vec<Vec<Tlv>>, actions: &mut Vec<Action>) {
        let over_ipv6 = self.params.over == Carrier::Ipv6;
        let room = self.params.packet_bytes.saturating_sub(self.header_bytes());
        let mut tlvs: Vec<Tlv> = Vec::new();
        let mut bytes = 0;
        for piece in pieces {
            let is_update = matches!(piece[0], Tlv::RouterId(_));
            let next_hop = Tlv::NextHop(self.node);
            let needs_next_hop = over_ipv6 && is_update && !tlvs.contains(&next_hop);
            let more =
                piece.iter().map(Tlv::bytes).sum::<u32>() + u32::from(needs_next_hop) * next_hop.bytes();
            if !tlvs.is_empty() && bytes + more > room {
                let packet = self.packet(now, NodeId::BROADCAST, std::mem::take(&mut tlvs));
                actions.push(Action::Broadcast { packet, delay: Span::ZERO });
                bytes = 0;
            }
            if over_ipv6 && is_update && !tlvs.contains(&next_hop) {
                tlvs.push(next_hop);
                bytes += next_hop.bytes();
            }
            bytes += piece.iter().map(Tlv::bytes).sum::<u32>();
            tlvs.extend(piece);
        }
        if !tlvs.is_empty() {
            let packet = self.packet(now, NodeId::BROADCAST, tlvs);
            actions.push(Action::Broadcast { packet, delay: Span::ZERO });
        }
    }

    /// Sends a request to one neighbour soon, with others that are for it.
    fn send_to(&mut self, now: Time, to: NodeId, tlv: Tlv) {
        self.tell_first(now);
        let at = now + roughly(self.params.request_s, &mut self.stream);
        let (due, waiting) = self.for_one.entry(to).or_insert((at, Vec::new()));
        *due = at.min(*due);
        if !waiting.contains(&tlv) {
            waiting.push(tlv);
        }
    }

    /// What is for one neighbour only, if its time has come.
    fn send_requests(&mut self, now: Time, actions: &mut Vec<Action>) {
        let due: Vec<NodeId> =
            self.for_one.iter().filter(|(_, (at, _))| *at <= now).map(|(to, _)| *to).collect();
        for to in due {
            let Some((_, tlvs)) = self.for_one.remove(&to) else { continue };
            let room = self.params.packet_bytes.saturating_sub(self.header_bytes());
            let most = (room / tlvs.iter().map(Tlv::bytes).max().unwrap_or(1)).max(1);
            for together in tlvs.chunks(most as usize) {
                let packet = self.packet(now, to, together.to_vec());
                actions.push(Action::Send { packet, next_hop: to, delay: Span::ZERO });
            }
        }
    }

    fn header_bytes(&self) -> u32 {
        let ip = match self.params.over {
            Carrier::Ipv6 => IPV6_HEADER_BYTES,
            Carrier::Ipv4 => IP_HEADER_BYTES,
        };
        ip + UDP_HEADER_BYTES + PACKET_HEADER_BYTES
    }

    fn packet(&self, now: Time, dst: NodeId, tlvs: Vec<Tlv>) -> Packet {
        let content = BabelPacket { tlvs: tlvs.into() };
        let bytes = self.header_bytes() - PACKET_HEADER_BYTES + content.bytes();
        Packet::control(now, self.node, dst, 1, bytes, Payload::Babel(content))
    }
}
