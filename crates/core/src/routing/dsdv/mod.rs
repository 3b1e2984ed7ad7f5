//! DSDV, Destination-Sequenced Distance Vector routing, as the CMU Monarch project modelled it.
//!
//! Read first: Perkins, Bhagwat: "Highly Dynamic Destination-Sequenced Distance-Vector Routing (DSDV) for
//! Mobile Computers" (SIGCOMM 1994), and section 4.1 of Broch, Maltz, Johnson, Hu, Jetcheva: "A Performance
//! Comparison of Multi-Hop Wireless Ad Hoc Network Routing Protocols" (MobiCom 1998), which fixes what the
//! first leaves open.
//!
//! **Implemented.** Sequence numbers, even from the destination and odd from a node that found a link broken;
//! full dumps at intervals and incremental dumps when something changed; incremental dumps that grow into
//! full ones; weighted settling times; neighbours lost after missed updates or by link-layer feedback; a
//! buffer of a few packets for each destination; the full dump of a node that hears itself called
//! unreachable.
//!
//! **Not implemented.** Dumps of several packets (a dump of any length is one packet, as in ns-2), layer-2
//! addresses in updates, stable storage of the settling time table.
//!
//! **Deviations**: numbered in docs/models/dsdv.md, 1 to 4 where the model departs from the paper and so does
//! this file, 5 to 7 from ns-2.35.

mod route;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::route::Route;
use crate::drops::DropReason;
use crate::kernel::{Span, Stream, Time};
use crate::params::params;
use crate::routing::table::Table;
use crate::routing::{Action, Changes, Notice, Routing, relay};
use crate::wire::dsdv::{Entry, INFINITE, Update};
use crate::wire::{IP_HEADER_BYTES, NodeId, Packet, Payload};

params! {
    /// The parameters of DSDV.
    pub struct DsdvParams in "dsdv" {
        /// Time between full updates; each interval is drawn between this and three quarters of it.
        update_interval_s: f64 = 15.0, "s", "Broch et al. 1998, Table 1", [0.1, 1e4];
        /// Number of update intervals without an update from a neighbour after which it is lost.
        missed_updates: u32 = 3, "", "Broch et al. 1998, Table 1", [1.0, 100.0];
        /// Minimum time between an update and a following incremental one.
        min_update_gap_s: f64 = 1.0, "s", "Broch et al. 1998, Table 1", [0.0, 1e4];
        /// Settling time of a new destination.
        initial_settling_s: f64 = 6.0, "s", "Broch et al. 1998, Table 1", [0.0, 1e4];
        /// Weight of the past in the settling time.
        settling_weight: f64 = 0.875, "", "Broch et al. 1998, Table 1", [0.0, 1.0];
        /// Number of settling times that a new metric waits before it is advertised.
        settling_factor: f64 = 2.0, "", "ns-2.35 dsdv.cc", [0.0, 100.0];
        /// A new sequence number alone triggers an incremental update (Broch's DSDV-SQ); off: only a new
        /// metric does.
        trigger_on_seqno: bool = false, "", "Broch et al. 1998, section 4.1";
        /// Incremental updates that would carry more than this share of the table, and more than three
        /// entries, are full ones.
        full_update_share: f64 = 0.333_333_333_333_333_3, "", "ns-2.35 dsdv.cc", [0.0, 1.0];
        /// A frame that the MAC cannot deliver breaks the link; off: only the packet is dropped.
        link_layer_feedback: bool = false, "", "Broch et al. 1998, section 4.1";
        /// Maximum number of packets that a node holds for a destination without a route; the oldest is
        /// dropped first.
        buffer_packets: u32 = 5, "packet", "Broch et al. 1998, Table 1", [0.0, 100_000.0];
        /// Maximum TTL of data packets, where `network.data_ttl` allows more.
        data_ttl: u32 = 32, "hop", "ns-2.35 dsdv.cc", [1.0, 255.0];
        /// The first update waits a time uniform below this.
        start_jitter_s: f64 = 2.0, "s", "ns-2.35 dsdv.cc", [0.0, 1e4];
        /// Every update waits a time uniform below this, so that neighbours do not collide.
        broadcast_jitter_ms: f64 = 10.0, "ms", "ns-2.35 dsdv.cc", [0.0, 1e4];
        /// Give TCP's packets an IP header of 20 bytes beside the one that their length includes, as ns-2's
        /// DSDV does.
        second_ip_header: bool = false, "", "ns-2.35 dsdv.cc";
    }
}

impl DsdvParams {
    /// The names of the parameter sets that [`DsdvParams::set`] knows.
    pub const SETS: &'static [&'static str] = &["ns-2.35", "broch-1998"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<DsdvParams> {
        match name {
            "ns-2.35" => Some(DsdvParams::ns_2_35()),
            "broch-1998" => Some(DsdvParams::broch_1998()),
            _ => None,
        }
    }

    /// ns-2.35 as it is shipped: [`DsdvParams::default`] with the second IP header of TCP's packets.
    pub fn ns_2_35() -> DsdvParams {
        DsdvParams { second_ip_header: true, ..DsdvParams::default() }
    }

    /// Broch and others, 1998: DSDV-SQ, the variant behind the figures of that study.
    pub fn broch_1998() -> DsdvParams {
        DsdvParams { trigger_on_seqno: true, ..DsdvParams::default() }
    }

    fn min_update_gap(&self) -> Span {
        Span::from_secs(self.min_update_gap_s)
    }

    /// How long a neighbour may be silent.
    fn neighbour_timeout(&self) -> Span {
        Span::from_secs(f64::from(self.missed_updates) * self.update_interval_s)
    }

    fn broadcast_jitter(&self) -> Span {
        Span::from_secs(self.broadcast_jitter_ms * 1e-3)
    }

    /// How long a route waits to be advertised.
    fn settling(&self, settling_s: f64) -> Span {
        Span::from_secs(settling_s * self.settling_factor)
    }
}

/// One node's DSDV. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &DsdvParams, stream: Stream) -> Box<dyn Routing> {
    Box::new(Dsdv::new(node, params.clone(), stream))
}

/// The state of one node.
struct Dsdv {
    node: NodeId,
    params: DsdvParams,
    stream: Stream,
    /// Always even.
    seqno: u32,
    table: Table<Route>,
    /// When the last update was made.
    last_update: Option<Time>,
    full_update_at: Time,
    /// The earliest deadline of all.
    deadline: Time,
}

impl Dsdv {
    fn new(node: NodeId, params: DsdvParams, stream: Stream) -> Dsdv {
        let mut table = Table::default();
        table.insert(Route::own(node));
        Dsdv {
            node,
            params,
            stream,
            seqno: 0,
            table,
            last_update: None,
            full_update_at: Time::NEVER,
            deadline: Time::NEVER,
        }
    }
}

impl Routing for Dsdv {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        let jitter = self.stream.span_below(Span::from_secs(self.params.start_jitter_s));
        self.full_update_at = now + jitter;
        self.set_deadline();
    }

    fn handle_outgoing(&mut self, now: Time, mut packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            let delay = self.stream.span_below(self.params.broadcast_jitter());
            actions.push(Action::Broadcast { packet, delay });
        } else {
            if packet.src == self.node {
                packet.ttl = packet.ttl.min(self.params.data_ttl as u8);
            }
            self.forward(now, packet, actions);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Dsdv(update) = &packet.payload {
            let entries = Arc::clone(&update.entries);
            actions.push(Action::Consume(packet));
            self.receive_update(now, &entries, from, actions);
        } else if let Some(packet) = relay::accept(self.node, packet, actions) {
            self.forward(now, packet, actions);
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        if !self.params.link_layer_feedback || !packet.is_data() {
            actions.push(Action::Drop(packet, DropReason::LinkFailure));
            return;
        }
        self.lose_neighbour(now, next_hop, actions);
        self.set_deadline();
        self.forward(now, packet, actions);
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.deadline > now {
            return;
        }
        if self.full_update_at <= now {
            self.send_update(now, true, actions);
        }
        let silent = self.table.iter().filter(|route| route.lost_at <= now).map(|route| route.dst);
        for neighbour in silent.collect::<Vec<_>>() {
            self.lose_neighbour(now, neighbour, actions);
        }
        self.fire_triggers(now, actions);
        self.set_deadline();
    }

    fn next_timeout(&self) -> Time {
        self.deadline
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.table.iter().flat_map(|route| &route.waiting).for_each(visit);
    }

    fn next_hop(&self, _now: Time, dst: NodeId) -> Option<NodeId> {
        self.table.get(dst).filter(|route| route.is_valid()).map(|route| route.next_hop)
    }

    fn route_hops(&self, _now: Time, dst: NodeId) -> Option<u32> {
        self.table.get(dst).filter(|route| route.is_valid()).map(|route| u32::from(route.metric))
    }

    fn knows_route_hops(&self) -> bool {
        true
    }

    fn take_route_changes(&mut self) -> Changes {
        self.table.take_changes()
    }
}

/// Data.
impl Dsdv {
    /// Sends a data packet on, or keeps it until there is a route.
    fn forward(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        let limit = self.params.buffer_packets as usize;
        let settling_s = self.params.initial_settling_s;
        let unknown = || Route::unknown(packet.dst, now, settling_s);
        let route = self.table.get_or_insert_with(packet.dst, unknown);
        if route.is_valid() {
            actions.push(Action::Send { packet, next_hop: route.next_hop, delay: Span::ZERO });
            return;
        }
        route.waiting.push_back(packet);
        while route.waiting.len() > limit
            && let Some(oldest) = route.waiting.pop_front()
        {
            actions.push(Action::Drop(oldest, DropReason::BufferFull));
        }
    }

    /// Sends all packets that wait for a destination that has a route now.
    fn release(route: &mut Route, actions: &mut Vec<Action>) {
        let next_hop = route.next_hop;
        let sends =
            route.waiting.drain(..).map(|packet| Action::Send { packet, next_hop, delay: Span::ZERO });
        actions.extend(sends);
    }
}

/// Sending updates.
impl Dsdv {
    /// Makes and sends an update. An incremental one that has too much to say becomes a full one, and one
    /// that has nothing to say is not sent.
    fn send_update(&mut self, now: Time, mut full: bool, actions: &mut Vec<Action>) {
        let news = self.table.iter().filter(|route| route.is_news(now)).count();
        full |= news as f64 > self.table.len() as f64 * self.params.full_update_share && news > 3;
        if full {
            self.seqno += 2;
            if let Some(own) = self.table.get_mut(self.node) {
                own.seqno = self.seqno;
            }
            let share = self.stream.uniform(0.75, 1.0);
            self.full_update_at = now + Span::from_secs(self.params.update_interval_s * share);
        } else if news == 0 {
            return;
        }
        let mut entries = Vec::with_capacity(self.table.len());
        for route in self.table.iter_mut() {
            if route.advertise_at <= now && (full || route.seqno_news || route.metric_news) {
                entries.push(Entry { dst: route.dst, metric: route.metric, seqno: route.seqno });
                route.advertised_metric = route.metric;
                route.seqno_news = false;
                // An incremental update leaves the metric on the list until the next full one.
                route.metric_news &= !full;
            }
        }
        self.last_update = Some(now);
        let packet = self.packet(now, Update { full, entries: entries.into() });
        let delay = self.stream.span_below(self.params.broadcast_jitter());
        actions.push(Action::Broadcast { packet, delay });
    }

    fn packet(&self, now: Time, update: Update) -> Packet {
        let bytes = IP_HEADER_BYTES + update.bytes();
        Packet::control(now, self.node, NodeId::BROADCAST, 1, bytes, Payload::Dsdv(update))
    }

    /// Each trigger that is due sends an incremental update, unless the last update is too young: then it is
    /// put off, and all triggers up to that time are one with it. So triggers that fall together make one
    /// update at once and another after the gap, which repeats the metrics.
    fn fire_triggers(&mut self, now: Time, actions: &mut Vec<Action>) {
        loop {
            let due = self.table.iter().filter(|route| route.trigger_at <= now);
            let Some(first) = due.min_by_key(|route| route.trigger_at).map(|route| route.dst) else { return };
            let possible = self.last_update.map_or(Time::ZERO, |last| last + self.params.min_update_gap());
            if now >= possible {
                self.send_update(now, false, actions);
            }
            for route in self.table.iter_mut() {
                if route.dst == first {
                    route.trigger_at = if now < possible { possible } else { Time::NEVER };
                } else if now < possible && route.trigger_at < possible {
                    route.trigger_at = Time::NEVER;
                }
            }
        }
    }

    fn set_deadline(&mut self) {
        let routes = self.table.iter().map(|route| route.lost_at.min(route.trigger_at));
        self.deadline = routes.fold(self.full_update_at, Time::min);
    }
}

/// Receiving updates, losing neighbours.
impl Dsdv {
    fn receive_update(&mut self, now: Time, entries: &[Entry], from: NodeId, actions: &mut Vec<Action>) {
        for entry in entries {
            if entry.dst == self.node {
                self.hear_of_itself(now, *entry);
            } else {
                self.learn(now, *entry, from, actions);
            }
        }
        let (silence, settling_s) = (self.params.neighbour_timeout(), self.params.initial_settling_s);
        // An incremental update need not name its sender.
        let unnamed = || Route::unnamed(from, now, settling_s);
        self.table.get_or_insert_with(from, unnamed).lost_at = now + silence;
        self.set_deadline();
    }

    /// Nobody else has the last word about this node: it says at once that it is here.
    fn hear_of_itself(&mut self, now: Time, entry: Entry) {
        self.seqno = self.seqno.max(entry.seqno & !1);
        if entry.metric == INFINITE {
            self.full_update_at = now;
        }
    }

    /// Believes an entry that is fresher, or as fresh and shorter.
    fn learn(&mut self, now: Time, entry: Entry, from: NodeId, actions: &mut Vec<Action>) {
        let metric = entry.metric.saturating_add(1);
        let params = &self.params;
        let Some(route) = self.table.get_mut(entry.dst) else {
            self.meet(now, Entry { metric, ..entry }, from, actions);
            return;
        };
        let fresher = entry.seqno > route.seqno;
        if entry.seqno < route.seqno {
            // A neighbour that wrongly believes the destination lost is told better.
            if metric == INFINITE && route.is_valid() {
                (route.advertise_at, route.trigger_at) = (now, now);
                route.metric_news = true;
            }
            return;
        } else if !fresher && metric >= route.metric {
            return;
        }
        if fresher {
            route.end_measurement(now, params.settling_weight);
        }
        let was_valid = route.is_valid();
        route.adopt(now, from, metric, entry.seqno);
        // Bad news, and good news after bad, wait for nothing.
        let settles = was_valid && route.is_valid();
        route.advertise_at = if settles { now + params.settling(route.settling_s) } else { now };
        route.seqno_news |= fresher;
        route.metric_news = metric != route.advertised_metric;
        let tell = if fresher { params.trigger_on_seqno } else { route.metric_news };
        if tell {
            route.trigger_at = route.advertise_at;
        }
        match (was_valid, route.is_valid()) {
            (true, false) => actions.push(Action::Notify(Notice::RouteFailed { dst: entry.dst, told: true })),
            (false, true) => {
                actions.push(Action::Notify(Notice::RouteFound { dst: entry.dst }));
                Dsdv::release(route, actions);
            }
            _ => {}
        }
    }

    /// A destination that is new; `entry` has the metric from here.
    fn meet(&mut self, now: Time, entry: Entry, from: NodeId, actions: &mut Vec<Action>) {
        let settling_s = self.params.initial_settling_s;
        let mut route = Route::unknown(entry.dst, now, settling_s);
        route.adopt(now, from, entry.metric, entry.seqno);
        route.advertise_at = now;
        if route.is_valid() {
            route.advertise_at = now + self.params.settling(settling_s);
            route.trigger_at = route.advertise_at;
            route.metric_news = true;
            actions.push(Action::Notify(Notice::RouteFound { dst: entry.dst }));
        }
        self.table.insert(route);
    }

    /// All routes through a neighbour break. The odd number makes the break fresher than the route, and the
    /// destination's next number fresher than the break.
    fn lose_neighbour(&mut self, now: Time, neighbour: NodeId, actions: &mut Vec<Action>) {
        for route in self.table.iter_mut().filter(|route| route.next_hop == neighbour && route.is_valid()) {
            route.metric = INFINITE;
            route.seqno += 1;
            route.advertise_at = now;
            (route.metric_news, route.seqno_news) = (true, true);
            route.trigger_at = now;
            actions.push(Action::Notify(Notice::RouteFailed { dst: route.dst, told: false }));
        }
        if let Some(route) = self.table.get_mut(neighbour) {
            route.lost_at = Time::NEVER;
        }
    }
}
