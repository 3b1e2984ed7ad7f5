//! One node's routing protocol among neighbours that say anything.

use std::sync::Arc;

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::{Purpose, Span, Time};
use manetlab_core::mobility::{Command, Path, Point, Trajectory};
use manetlab_core::routing::{Action, ConnectionEvent, Place, Routing, StaticRoutes, aodv, shortest_hops};
use manetlab_core::scenario::{Params, RoutingKind};
use manetlab_core::wire::{
    Ecn, IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader, batman as batman_wire, cedar as cedar_wire,
    lunar as lunar_wire, zrp as zrp_wire,
};

use super::input::{Input, ME, NODES};
use super::{messages, params};

/// Timeouts that one input may fire: protocols may be asked to beacon every millisecond.
const TIMEOUTS: u32 = 2000;
/// More of them at one instant are taken for a machine that stands still.
const AT_ONE_INSTANT: u32 = 100;

/// Any order of calls to any routing protocol.
pub fn routing(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let kind = input.pick(RoutingKind::ALL);
    let (machine, wraps) = machine(kind, &mut input);
    let mut bench = Bench::new(kind, machine, wraps);
    bench.call(None, |machine, now, _, actions| machine.handle_start(now, actions));
    while !input.is_over() && bench.timeouts < TIMEOUTS {
        bench.step(&mut input);
    }
}

/// A node's protocol, and whether its sequence numbers go around (RFC 3561 §6.1; ns-2's do not).
fn machine(kind: RoutingKind, input: &mut Input<'_>) -> (Box<dyn Routing>, bool) {
    let mut params = params::of_a_profile(input);
    let sets = Params::routing_sets(kind);
    if !sets.is_empty() && input.once_in(2) {
        let set = input.pick(sets);
        params = params.with_routing_set(kind, set).expect("the set exists");
    }
    let stream = input.stream(Purpose::Routing);
    if kind == RoutingKind::Tsr {
        params::vary_section(input, "dsr", &mut params);
    }
    if kind != RoutingKind::Static {
        params::vary_section(input, kind.name(), &mut params);
    }
    let wraps = kind == RoutingKind::Aodv && params.aodv.behaviour == aodv::Behaviour::Rfc3561;
    let machine = match kind.maker(&params) {
        Some(mut make) => make(place(), stream),
        None => {
            let positions: Vec<Point> = (0..NODES).map(|node| Point { x: f64::from(node), y: 0.0 }).collect();
            let all: Vec<NodeId> = (0..NODES).map(NodeId).collect();
            Box::new(StaticRoutes::new(ME, Arc::new(shortest_hops(&positions, 1.0, &all))))
        }
    };
    (machine, wraps)
}

/// The machine's place: nodes stand on a line, and one of them moves.
fn place() -> Place {
    let goes = Command::GoTo { at: Time::ZERO, to: Point { x: 0.0, y: 1e3 }, speed: 10.0 };
    let commands = |node| if node == 1 { vec![goes] } else { Vec::new() };
    let trajectory =
        |node| Trajectory { commands: commands(node), ..Trajectory::fixed(200.0 * f64::from(node), 0.0) };
    Place::new(ME, (0..NODES).map(|node| Path::new(&trajectory(node))).collect())
}

struct Bench {
    kind: RoutingKind,
    machine: Box<dyn Routing>,
    /// Do sequence numbers go around?
    wraps: bool,
    now: Time,
    next_uid: u64,
    timeouts: u32,
    /// Packets that the machine has put on the air, each with its next hop.
    sent: Vec<(Packet, Option<NodeId>)>,
}

impl Bench {
    fn new(kind: RoutingKind, machine: Box<dyn Routing>, wraps: bool) -> Bench {
        Bench { kind, machine, wraps, now: Time::ZERO, next_uid: 0, timeouts: 0, sent: Vec::new() }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(12) {
            0 | 1 => self.pass(input.span()),
            2 => self.time_out_early(),
            3 => {
                let packet = self.data(ME, input.node(), input);
                self.call(Some(packet), |machine, now, packet, actions| {
                    machine.handle_outgoing(now, packet.expect("given"), actions);
                });
            }
            4 | 5 => {
                let packet = self.any_packet(input);
                self.arrive(packet, input);
            }
            6 => {
                if let Some((packet, _)) = self.sent(input) {
                    let packet = echo(packet, input);
                    self.arrive(packet, input);
                }
            }
            7 | 8 => self.fail(input),
            9 => {
                let packet = match self.sent(input) {
                    Some((packet, _)) if input.once_in(2) => echo(packet, input),
                    _ => self.any_packet(input),
                };
                let (from, to) = (input.other(), input.other());
                if self.machine.wants_overheard() && from != to {
                    self.call(None, |machine, now, _, actions| {
                        machine.handle_overheard(now, &packet, from, to, actions);
                    });
                }
            }
            10 => {
                let (dst, two_way) = (input.other(), input.once_in(2));
                let event = match input.below(3) {
                    0 => ConnectionEvent::Closed { dst, two_way },
                    1 => ConnectionEvent::Opened { dst, two_way },
                    _ => ConnectionEvent::RetransmissionTimeout { dst, rto: input.span() },
                };
                self.call(None, |machine, now, _, actions| machine.handle_connection(now, event, actions));
            }
            _ => {
                let dst = input.node();
                let next_hop = self.machine.next_hop(self.now, dst);
                assert!(next_hop.is_none_or(|next| !next.is_broadcast()), "no next hop is all nodes");
            }
        }
    }

    /// Time goes on, and what is due on the way fires.
    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        let mut at_once = 0;
        while self.machine.next_timeout() <= until && self.timeouts < TIMEOUTS {
            let due = self.machine.next_timeout();
            at_once = if due == self.now { at_once + 1 } else { 0 };
            assert!(at_once < AT_ONE_INSTANT, "the machine stands still at {due:?}");
            self.now = due;
            self.timeouts += 1;
            self.call(None, |machine, now, _, actions| machine.handle_timeout(now, actions));
        }
        if self.timeouts < TIMEOUTS {
            self.now = until;
        }
    }

    fn time_out_early(&mut self) {
        if self.machine.next_timeout() <= self.now {
            return;
        }
        let mut actions = Vec::new();
        self.machine.handle_timeout(self.now, &mut actions);
        assert!(actions.is_empty(), "an early timeout does nothing, not {actions:?}");
        assert!(self.machine.next_timeout() >= self.now, "a deadline in the past");
    }

    fn arrive(&mut self, packet: Packet, input: &mut Input<'_>) {
        let from = input.other();
        let is_broadcast = input.once_in(2);
        self.call(Some(packet), |machine, now, packet, actions| {
            let mut packet = packet.expect("given");
            if is_broadcast && machine.suppress_duplicate(now, &packet, from, actions) {
                actions.push(Action::Consume(packet));
            } else {
                packet.hops = packet.hops.saturating_add(1);
                machine.handle_incoming(now, packet, from, actions);
            }
        });
    }

    /// A packet that went to a neighbour comes back; with it, perhaps, others for that neighbour.
    fn fail(&mut self, input: &mut Input<'_>) {
        let which = self.sent.iter().position(|(_, to)| to.is_some());
        let Some((packet, Some(next_hop))) = which.map(|at| self.sent.remove(at)) else { return };
        if packet.is_data() || self.machine.takes_back_control() {
            self.call(Some(packet), |machine, now, packet, actions| {
                machine.handle_link_failure(now, packet.expect("given"), next_hop, actions);
            });
        }
        if input.once_in(2) {
            self.pass(Span(1));
        }
    }

    fn flush(&mut self, next_hop: NodeId) {
        let wanted = if next_hop.is_broadcast() { None } else { Some(next_hop) };
        let at = self.sent.iter().position(|(packet, to)| *to == wanted && packet.is_data());
        if let Some(at) = at {
            let (packet, _) = self.sent.remove(at);
            self.call(Some(packet), |machine, now, packet, actions| {
                machine.handle_flushed(now, packet.expect("given"), next_hop, actions);
            });
        }
    }

    /// One of the packets that the machine sent, as a copy with a number of its own.
    fn sent(&mut self, input: &mut Input<'_>) -> Option<(Packet, Option<NodeId>)> {
        if self.sent.is_empty() {
            return None;
        }
        let at = input.byte() as usize % self.sent.len();
        let (mut packet, to) = self.sent[at].clone();
        packet.uid = self.number();
        Some((packet, to))
    }

    fn number(&mut self) -> u64 {
        self.next_uid += 1;
        self.next_uid
    }

    /// Calls the machine and audits the call: what went in or was held comes out once, or is held.
    fn call(
        &mut self,
        packet: Option<Packet>,
        input: impl FnOnce(&mut dyn Routing, Time, Option<Packet>, &mut Vec<Action>),
    ) {
        let mut before: Vec<u64> = packet.iter().map(|packet| packet.uid).collect();
        self.machine.buffered(&mut |packet| before.push(packet.uid));
        let mut actions = Vec::new();
        input(self.machine.as_mut(), self.now, packet, &mut actions);
        let mut after: Vec<u64> =
            actions.iter().filter_map(Action::packet).map(|packet| packet.uid).collect();
        after.retain(|uid| *uid != Packet::UNNUMBERED);
        self.machine.buffered(&mut |packet| after.push(packet.uid));
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(after, before, "packets that came out or stayed are those that went in or were held");
        assert!(actions.len() <= 4 * before.len() + 1000, "{} actions in one call", actions.len());
        let next = self.machine.next_timeout();
        assert!(next >= self.now, "woken at {next:?}, which is before {:?}", self.now);
        for action in actions {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Send { packet, next_hop, .. } => {
                assert!(next_hop != ME && !next_hop.is_broadcast(), "sent to {next_hop:?}");
                self.keep(packet, Some(next_hop));
            }
            Action::Broadcast { packet, .. } => self.keep(packet, None),
            Action::Deliver(packet) => assert!(packet.is_for(ME), "delivered what is for {:?}", packet.dst),
            Action::Consume(packet) => assert!(!packet.is_data(), "data is not consumed"),
            Action::FlushQueue(next_hop) => self.flush(next_hop),
            Action::Drop(packet, reason) => {
                // batman-adv counts hops in a header of its own.
                let header = packet.routing_header.as_deref().and_then(RoutingHeader::as_batman);
                let hops_left = header.map_or(packet.ttl, |header| packet.ttl.min(header.ttl));
                assert!(reason != DropReason::TtlExpired || hops_left <= 1, "it had hops left");
            }
            Action::Notify(_) => {}
        }
    }

    fn keep(&mut self, mut packet: Packet, to: Option<NodeId>) {
        let header = packet.routing_header.as_ref().map_or(0, |header| header.bytes());
        assert!(packet.bytes >= IP_HEADER_BYTES + header, "{} bytes with {packet:?}", packet.bytes);
        if packet.uid == Packet::UNNUMBERED {
            packet.uid = self.number();
        }
        if self.sent.len() >= 16 {
            self.sent.remove(0);
        }
        self.sent.push((packet, to));
    }

    fn data(&mut self, src: NodeId, dst: NodeId, input: &mut Input<'_>) -> Packet {
        Packet {
            uid: self.number(),
            src,
            dst: if dst == src { NodeId(1) } else { dst },
            ttl: 64,
            hops: 0,
            bytes: 532,
            created: self.now,
            payload: messages::transport(self.now, input),
            ecn: Ecn::NotEct,
            routing_header: None,
            announcement: None,
            service: None,
        }
    }

    /// A packet from a neighbour: data or a message of the protocol, with any fields.
    fn any_packet(&mut self, input: &mut Input<'_>) -> Packet {
        let (src, dst) = (input.node(), input.node());
        let mut packet = self.data(src, dst, input);
        (packet.ttl, packet.hops) = (input.number().min(255) as u8, input.number().min(255) as u8);
        let is_data = input.once_in(3);
        let payload = match self.kind {
            RoutingKind::Dsr | RoutingKind::Tsr => {
                let mut header = messages::dsr_header(input);
                if is_data {
                    // Requests and replies have packets of their own.
                    (header.request, header.reply, header.tsr) = (None, None, None);
                }
                packet.put_header(RoutingHeader::Dsr(header));
                Some(Payload::Nothing)
            }
            RoutingKind::Aodv => Some(Payload::Aodv(messages::aodv(self.now, self.wraps, input))),
            RoutingKind::Dsdv => Some(Payload::Dsdv(messages::dsdv(input))),
            RoutingKind::Adv => Some(Payload::Adv(messages::adv(input))),
            RoutingKind::Lunar => {
                if is_data && !input.once_in(4) {
                    let label = lunar_wire::Label { selector: self.selector(input), bytes: 12 };
                    packet.put_header(RoutingHeader::Lunar(label));
                }
                let message = if input.once_in(2) {
                    lunar_wire::Message::Rreq(self.lunar_request(input))
                } else {
                    lunar_wire::Message::Rrep(self.lunar_reply(input))
                };
                Some(Payload::Lunar(message))
            }
            RoutingKind::Olsr => Some(Payload::Olsr(messages::olsr(input))),
            RoutingKind::Dymo => Some(Payload::Dymo(messages::dymo(input))),
            RoutingKind::Tora => Some(Payload::Tora(messages::tora(self.now, input).into())),
            RoutingKind::Abr => Some(Payload::Abr(messages::abr(input))),
            RoutingKind::Ssa => Some(Payload::Ssa(messages::ssa(input))),
            RoutingKind::Babel => Some(Payload::Babel(messages::babel(input))),
            RoutingKind::Batman => {
                if is_data && !input.once_in(4) {
                    let header = batman_wire::Unicast { ttl: input.byte(), dst: packet.dst };
                    packet.put_header(RoutingHeader::Batman(header));
                }
                Some(Payload::Batman(messages::batman(input)))
            }
            RoutingKind::Cedar => {
                if is_data && !input.once_in(4) {
                    let route: cedar_wire::Nodes = (0..input.below(6)).map(|_| input.node()).collect();
                    let at = input.byte() % 8;
                    packet.put_header(RoutingHeader::Cedar(cedar_wire::SourceRoute { route, at }));
                }
                Some(Payload::Cedar(Arc::new(messages::cedar(input))))
            }
            RoutingKind::Rip => Some(Payload::Rip(messages::rip(input))),
            RoutingKind::Zrp => {
                if is_data && !input.once_in(4) {
                    packet.put_header(RoutingHeader::Zrp(zrp_wire::SourceRoute {
                        path: messages::zrp_nodes(input),
                    }));
                }
                Some(Payload::Zrp(Arc::new(messages::zrp(input))))
            }
            // Others have no messages, or those of `Payload::Custom`, which only they themselves make.
            _ => None,
        };
        if let Some(payload) = payload.filter(|_| !is_data) {
            packet.payload = payload;
            if input.once_in(2) {
                packet.dst = NodeId::BROADCAST;
            }
        }
        packet
    }
}

/// What LUNAR's neighbours say.
impl Bench {
    /// Mostly one that the machine has told its neighbours.
    fn selector(&self, input: &mut Input<'_>) -> lunar_wire::Selector {
        let told = |(packet, _): &(Packet, Option<NodeId>)| match packet.payload {
            Payload::Lunar(lunar_wire::Message::Rreq(rreq)) => Some(rreq.reply_to),
            Payload::Lunar(lunar_wire::Message::Rrep(rrep)) => Some(rrep.forward),
            _ => None,
        };
        let told: Vec<_> = self.sent.iter().filter_map(told).collect();
        if told.is_empty() || input.once_in(8) {
            lunar_wire::Selector(u64::from(input.number()))
        } else {
            input.pick(&told)
        }
    }

    fn lunar_request(&self, input: &mut Input<'_>) -> lunar_wire::Rreq {
        lunar_wire::Rreq {
            series: lunar_wire::Series { origin: input.node(), number: input.number() },
            target: input.node(),
            reply_to: self.selector(input),
            hops_left: input.byte(),
        }
    }

    fn lunar_reply(&self, input: &mut Input<'_>) -> lunar_wire::Rrep {
        lunar_wire::Rrep {
            series: lunar_wire::Series { origin: ME, number: input.number() },
            reply_to: self.selector(input),
            forward: lunar_wire::Selector(u64::from(input.number())),
        }
    }
}

/// What a neighbour makes of a packet that it repeats: a hop farther, with another time to live.
fn echo(mut packet: Packet, input: &mut Input<'_>) -> Packet {
    packet.hops = packet.hops.saturating_add(1);
    packet.ttl = if input.once_in(2) { input.byte() } else { packet.ttl.saturating_sub(1) };
    packet
}
