//! ADV, the Adaptive Distance Vector protocol.
//!
//! Read first: chapter 3 of Dyer, "Design and Analysis of Adaptive Routing and Transport Protocols in Mobile
//! Ad Hoc Networks" (dissertation, University of Texas at San Antonio, 2002); the protocol was published by
//! Boppana and Konduru: "An Adaptive Distance Vector Routing Algorithm for Mobile, Ad Hoc Networks" (INFOCOM
//! 2001). Sections below are those of the dissertation.
//!
//! Only routes to *active receivers*, the destinations of open connections, are advertised, and only when
//! somebody needs it: events raise a trigger meter, and an update goes out when it passes a threshold.
//!
//! | what | section | file |
//! |---|---|---|
//! | connections: four floods | 3.1, 3.5 | `connections.rs` |
//! | sending updates | 3.2.4 | `sending.rs` |
//! | processing updates | 3.2.5, Table 3.4 | `receiving.rs`, `decision.rs` |
//! | data packets, link failures | 3.2.6 | `forwarding.rs` |
//! | trigger meter, trigger threshold, speed | 3.2.2, 3.2.7 | `trigger.rs` |
//!
//! **Implemented.** All of sections 3.1, 3.2 and 3.5. What 3.5 changed is a switch each, so that before and
//! after can be compared, and so is the line of Table 3.4 that contradicts it.
//!
//! **Not implemented.** Rollover of the 16-bit sequence numbers: a run is too short for it.
//!
//! **Deviations**: how the model decides where the text contradicts itself (1 to 6) and what it leaves open
//! (7 to 20) is numbered in docs/models/adv.md.

mod connections;
mod decision;
mod forwarding;
mod receiving;
mod route;
mod sending;
#[cfg(test)]
mod tests;
mod trigger;

use std::collections::BTreeMap;

use self::connections::Connection;
use self::route::Route;
use self::sending::Scheduled;
use self::trigger::{Mobility, Trigger};
use crate::kernel::{Span, Stream, Time};
use crate::params::params;
use crate::routing::buffer::PacketBuffer;
use crate::routing::table::Table;
use crate::routing::{Action, Changes, ConnectionEvent, Routing, relay};
use crate::wire::adv::Message;
use crate::wire::{NodeId, Packet, Payload};

params! {
    /// The parameters of ADV.
    pub struct AdvParams in "adv" {
        /// TRGMETER_FULL: the increase of the trigger meter for an active receiver that is called
        /// unreachable. At or above it, a full update is due.
        trgmeter_full: u32 = 50, "", "Dyer 2002, 3.2.3", [1.0, 1e6];
        /// TRGMETER_HIGH: the increase for an entry with expected response HIGH. Also the first trigger
        /// threshold, and that of non-active nodes at low speed.
        trgmeter_high: u32 = 20, "", "Dyer 2002, 3.2.3", [0.0, 1e6];
        /// TRGMETER_MED: the increase for an entry with expected response MEDIUM, for fresh routes and for
        /// buffered packets. Also the threshold of non-active nodes at high speed.
        trgmeter_med: u32 = 8, "", "Dyer 2002, 3.2.3", [0.0, 1e6];
        /// TRGMETER_LOW: the increase for an entry with expected response LOW. Also the minimum threshold.
        trgmeter_low: u32 = 5, "", "Dyer 2002, 3.2.3", [0.0, 1e6];
        /// The increase of the trigger meter for a route that is new from a connection's flood; 0: nothing,
        /// as before section 3.5.
        trgmeter_new_route: u32 = 8, "", "Dyer 2002, 3.5, amount assumed", [0.0, 1e6];
        /// Minimum time between two updates of a node.
        min_update_gap_s: f64 = 0.5, "s", "Dyer 2002, 3.2.3", [0.001, 1e4];
        /// Time between periodic full updates; 0: there are none.
        full_update_interval_s: f64 = 0.0, "s", "Dyer 2002, 3.2.4 and Table 3.6", [0.0, 1e6];
        /// Neighbour changes at or above which a network counts as HIGH_SPEED.
        high_speed_changes: u32 = 8, "", "Dyer 2002, 3.2.3", [1.0, 1e6];
        /// Number of full updates over which neighbour changes are counted.
        speed_window_updates: u32 = 6, "", "Dyer 2002, 3.2.3", [1.0, 1e6];
        /// Time after which the count restarts even without that number of full updates.
        speed_window_s: f64 = 60.0, "s", "assumed", [0.001, 1e6];
        /// A node counts as gone out of one hop's range when it is heard again after its metric rose from 1,
        /// as the text says; off: as soon as the metric rises.
        departures_when_heard: bool = true, "", "Dyer 2002, 3.2.2 (on)";
        /// A forwarding node whose link breaks raises the trigger meter by TRGMETER_MED at either speed; off:
        /// only at HIGH_SPEED.
        urgent_breaks_at_low_speed: bool = true, "", "Dyer 2002, 3.2.2 (on); Table 3.4 on updates (off)";
        /// A forwarding node raises the trigger meter by TRGMETER_MED for a fresh or invalid route in an
        /// update at either speed; off: only at HIGH_SPEED.
        urgent_entries_at_low_speed: bool = false, "", "Dyer 2002, 3.2.2 (on); 3.2.5, Table 3.4 (off)";
        /// BUFFER_THRESHOLD: number of packets in the buffer at and above which another one increases the
        /// trigger meter.
        buffer_threshold: u32 = 2, "packet", "Dyer 2002, 3.2.3", [1.0, 100_000.0];
        /// Maximum number of packets that a node holds while it has no route; the oldest is dropped first.
        buffer_packets: u32 = 64, "packet", "Dyer 2002, Table 3.6", [1.0, 100_000.0];
        /// BUFFER_TIMEOUT for TCP's packets.
        tcp_buffer_timeout_s: f64 = 30.0, "s", "Dyer 2002, 4.5", [0.001, 1e6];
        /// BUFFER_TIMEOUT for all other packets.
        other_buffer_timeout_s: f64 = 1.0, "s", "Dyer 2002, 4.5", [0.001, 1e6];
        /// A source that opens a connection discards a route that it has not used for this time, or never;
        /// 0: it keeps such routes.
        unused_route_s: f64 = 15.0, "s", "Dyer 2002, 3.2.3", [0.0, 1e6];
        /// A node no longer treats a destination as an active receiver after sending nothing to it for this
        /// time; 0: only floods end that.
        active_route_timeout_s: f64 = 0.0, "s", "Dyer 2002, 3.1 (30 s as an alternative)", [0.0, 1e6];
        /// A connection that closes stays open for this time, in case another one follows.
        linger_s: f64 = 30.0, "s", "assumed", [0.0, 1e6];
        /// A destination that still has other connections answers end-connection with a receiver-alert; off:
        /// it stops being a receiver with the first.
        alert_after_end: bool = true, "", "assumed";
        /// A destination that is already an active receiver sends a full update for a new source; off: it
        /// does nothing.
        update_for_new_source: bool = false, "", "assumed";
        /// A node that cannot answer an entry with expected response HIGH forwards it; off: only the
        /// neighbours of a node with waiting packets receive it.
        pass_on_requests: bool = false, "", "assumed";
        /// init-connection makes a reverse route to the source; off: only receiver-alert makes routes.
        reverse_route_to_source: bool = true, "", "Dyer 2002, 3.5";
        /// The source of a two-way connection is an active receiver; off: only its destination is.
        two_way_sources_receive: bool = true, "", "Dyer 2002, 3.5";
        /// A source that opens a connection ignores its route to a destination that was not an active
        /// receiver.
        ignore_former_non_receivers: bool = true, "", "Dyer 2002, 3.5";
        /// The sender of an equally fresh and equally short route becomes the next hop; off: the next hop
        /// stays.
        switch_next_hop_on_tie: bool = false, "", "Dyer 2002, Table 3.4 (on) and 3.5 (off)";
        /// A route is replaced by a longer one with the same sequence number, as Table 3.4 prints; off: by a
        /// shorter one, as section 3.5 says.
        literal_metric_rule: bool = false, "", "Dyer 2002, Table 3.4 (on) and 3.5 (off)";
        /// Every broadcast waits a time uniform below this, so that neighbours do not collide.
        broadcast_jitter_ms: f64 = 10.0, "ms", "assumed", [0.0, 1e4];
        /// Gap between packets released from the buffer: ARP holds only one packet per neighbour.
        release_spacing_ms: f64 = 10.0, "ms", "assumed", [0.0, 1e4];
    }
}

impl AdvParams {
    /// The names of the parameter sets that [`AdvParams::set`] knows.
    pub const SETS: &'static [&'static str] =
        &["dyer-2002", "dyer-2002-ch4", "dyer-2002-ch3-1s", "dyer-2002-ch3-5s"];

    /// The parameter set of this name.
    pub fn set(name: &str) -> Option<AdvParams> {
        match name {
            "dyer-2002" => Some(AdvParams::dyer_2002()),
            "dyer-2002-ch4" => Some(AdvParams { other_buffer_timeout_s: 30.0, ..AdvParams::dyer_2002() }),
            "dyer-2002-ch3-1s" => Some(AdvParams::before_tuning(1.0)),
            "dyer-2002-ch3-5s" => Some(AdvParams::before_tuning(5.0)),
            _ => None,
        }
    }

    /// ADV as tuned for TCP in section 3.5, with the buffer timeouts of chapters 5 and 6; the same as
    /// [`AdvParams::default`]. Chapter 4 holds all packets for 30 s.
    pub fn dyer_2002() -> AdvParams {
        AdvParams::default()
    }

    /// ADV of chapter 3, with one buffer timeout for all packets and without what section 3.5 changed.
    fn before_tuning(buffer_timeout_s: f64) -> AdvParams {
        AdvParams {
            trgmeter_new_route: 0,
            tcp_buffer_timeout_s: buffer_timeout_s,
            other_buffer_timeout_s: buffer_timeout_s,
            reverse_route_to_source: false,
            two_way_sources_receive: false,
            ignore_former_non_receivers: false,
            switch_next_hop_on_tie: true,
            ..AdvParams::dyer_2002()
        }
    }

    /// How long this packet may wait for a route (3.2.6).
    fn buffer_timeout(&self, packet: &Packet) -> Span {
        let is_tcp = matches!(packet.payload, Payload::Tcp(..));
        Span::from_secs(if is_tcp { self.tcp_buffer_timeout_s } else { self.other_buffer_timeout_s })
    }

    /// What an entry adds to the trigger meter, in order of its expected response.
    fn trgmeter_by_response(&self) -> [u32; 4] {
        [0, self.trgmeter_low, self.trgmeter_med, self.trgmeter_high]
    }

    fn min_update_gap(&self) -> Span {
        Span::from_secs(self.min_update_gap_s)
    }
}

/// One node's ADV. `stream` is used for jitter only.
pub fn new(node: NodeId, params: &AdvParams, stream: Stream) -> Box<dyn Routing> {
    Box::new(Adv::new(node, params.clone(), stream))
}

/// The state of one node.
struct Adv {
    node: NodeId,
    params: AdvParams,
    stream: Stream,
    /// Its own sequence number, always even.
    seqno: u32,
    /// Is it an active receiver itself?
    is_receiver: bool,
    /// When it last received data, or became an active receiver.
    received_at: Time,
    table: Table<Route>,
    buffer: PacketBuffer,
    trigger: Trigger,
    mobility: Mobility,
    /// The update that will be sent.
    scheduled: Option<Scheduled>,
    /// The earliest time of the next update.
    next_update_at: Time,
    /// When a full update is due that nothing triggered.
    full_update_at: Time,
    next_flood: u32,
    /// Floods seen, and until when they are remembered.
    seen: BTreeMap<(NodeId, u32), Time>,
    /// Connections of which this node is the source, by destination.
    outgoing: BTreeMap<NodeId, Connection>,
    /// Sources that have, or had, a connection to this node: is it open?
    incoming: BTreeMap<NodeId, bool>,
}

impl Adv {
    fn new(node: NodeId, params: AdvParams, stream: Stream) -> Adv {
        Adv {
            node,
            stream,
            seqno: 0,
            is_receiver: false,
            received_at: Time::ZERO,
            table: Table::default(),
            buffer: PacketBuffer::new(params.buffer_packets),
            trigger: Trigger::new(&params),
            mobility: Mobility::default(),
            scheduled: None,
            next_update_at: Time::ZERO,
            full_update_at: Time::NEVER,
            next_flood: 1,
            seen: BTreeMap::new(),
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            params,
        }
    }

    fn jitter(&mut self) -> Span {
        self.stream.span_below(Span::from_secs(self.params.broadcast_jitter_ms * 1e-3))
    }

    fn control(&self, now: Time, bytes: u32, message: Message) -> Packet {
        Packet::control(now, self.node, NodeId::BROADCAST, 1, bytes, Payload::Adv(message))
    }
}

impl Routing for Adv {
    fn handle_start(&mut self, now: Time, _actions: &mut Vec<Action>) {
        self.trigger.start(now);
        self.mobility.start(now);
        if self.params.full_update_interval_s > 0.0 {
            let interval = Span::from_secs(self.params.full_update_interval_s);
            self.full_update_at = now + self.stream.span_below(interval);
        }
    }

    fn handle_connection(&mut self, now: Time, event: ConnectionEvent, actions: &mut Vec<Action>) {
        match event {
            ConnectionEvent::Opened { dst, two_way } => self.open(now, dst, two_way, actions),
            ConnectionEvent::Closed { dst, .. } => self.close(now, dst, actions),
            ConnectionEvent::RetransmissionTimeout { .. } => return,
        }
        self.check_meter(now);
    }

    fn handle_outgoing(&mut self, now: Time, packet: Packet, actions: &mut Vec<Action>) {
        if packet.dst == self.node {
            actions.push(Action::Deliver(packet));
        } else if packet.dst.is_broadcast() {
            let delay = self.jitter();
            actions.push(Action::Broadcast { packet, delay });
        } else {
            if packet.src == self.node {
                self.open_for(now, &packet, actions);
            }
            self.forward(now, packet, actions);
            self.check_meter(now);
        }
    }

    fn handle_incoming(&mut self, now: Time, packet: Packet, from: NodeId, actions: &mut Vec<Action>) {
        if let Payload::Adv(message) = &packet.payload {
            match message.clone() {
                Message::Update(update) => {
                    actions.push(Action::Consume(packet));
                    self.receive_update(now, &update, from, actions);
                }
                Message::Flood(flood) => self.receive_flood(now, packet, &flood, from, actions),
            }
        } else {
            if packet.is_for(self.node) {
                self.note_received(now, &packet, actions);
            }
            if let Some(packet) = relay::accept(self.node, packet, actions) {
                self.forward(now, packet, actions);
            }
        }
        self.check_meter(now);
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        packet: Packet,
        next_hop: NodeId,
        actions: &mut Vec<Action>,
    ) {
        self.lose_neighbour(now, next_hop, actions);
        actions.push(Action::FlushQueue(next_hop));
        self.forward(now, packet, actions);
        self.check_meter(now);
    }

    fn handle_flushed(&mut self, now: Time, packet: Packet, _next_hop: NodeId, actions: &mut Vec<Action>) {
        match &packet.payload {
            Payload::Adv(message) => {
                let message = message.clone();
                self.take_back(packet, &message, actions);
            }
            _ if packet.dst.is_broadcast() => {
                actions.push(Action::Broadcast { packet, delay: Span::ZERO });
            }
            _ => self.forward(now, packet, actions),
        }
        self.check_meter(now);
    }

    /// Timers that are due together fire in the order of this function.
    fn handle_timeout(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.buffer.expire(now, actions);
        self.end_lingering(now, actions);
        if self.full_update_at <= now {
            self.full_update_at = now + Span::from_secs(self.params.full_update_interval_s);
            self.schedule(now, true);
        }
        if self.scheduled.as_ref().is_some_and(|scheduled| scheduled.due <= now) {
            self.update_is_due(now, actions);
        }
    }

    fn next_timeout(&self) -> Time {
        let lingering = self.outgoing.values().map(|connection| connection.ends_at);
        let scheduled = self.scheduled.as_ref().map(|scheduled| scheduled.due);
        lingering.chain(scheduled).fold(self.buffer.next_expiry().min(self.full_update_at), Time::min)
    }

    fn buffered(&self, visit: &mut dyn FnMut(&Packet)) {
        self.buffer.iter().for_each(visit);
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
