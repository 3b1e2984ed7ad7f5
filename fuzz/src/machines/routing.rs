//! One node's routing protocol among neighbours that say anything.

use std::sync::Arc;

use manetlab_core::drops::DropReason;
use manetlab_core::kernel::{Purpose, Span, Time};
use manetlab_core::mobility::{Command, Path, Point, Trajectory};
use manetlab_core::routing::{Action, ConnectionEvent, Place, Routing, StaticRoutes, aodv, shortest_hops};
use manetlab_core::scenario::{Params, RoutingKind};
use manetlab_core::wire::ConnectionId;
use manetlab_core::wire::tcp::{AckSigns, SackBlocks, Segment};
use manetlab_core::wire::{
    Ecn, FlowId, IP_HEADER_BYTES, NodeId, Packet, Payload, RoutingHeader, abr as abr_wire, adv as adv_wire,
    aodv as aodv_wire, babel as babel_wire, batman as batman_wire, cedar as cedar_wire, dsdv as dsdv_wire,
    dsr as dsr_wire, dymo as dymo_wire, lunar as lunar_wire, olsr as olsr_wire, rip as rip_wire,
    ssa as ssa_wire, tora as tora_wire, tsr as tsr_wire, zrp as zrp_wire,
};

use super::input::{Input, ME, NODES};
use super::params;

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
            payload: transport(self.now, input),
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
                let mut header = dsr_header(input);
                if is_data {
                    // Requests and replies have packets of their own.
                    (header.request, header.reply, header.tsr) = (None, None, None);
                }
                packet.put_header(RoutingHeader::Dsr(header));
                Some(Payload::Nothing)
            }
            RoutingKind::Aodv => Some(Payload::Aodv(aodv_message(self.now, self.wraps, input))),
            RoutingKind::Dsdv => Some(Payload::Dsdv(dsdv_update(input))),
            RoutingKind::Adv => Some(Payload::Adv(adv_message(input))),
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
            RoutingKind::Olsr => Some(Payload::Olsr(olsr_packet(input))),
            RoutingKind::Dymo => Some(Payload::Dymo(dymo_message(input))),
            RoutingKind::Tora => Some(Payload::Tora(tora_packet(self.now, input).into())),
            RoutingKind::Abr => Some(Payload::Abr(abr_message(input))),
            RoutingKind::Ssa => Some(Payload::Ssa(ssa_message(input))),
            RoutingKind::Babel => Some(Payload::Babel(babel_packet(input))),
            RoutingKind::Batman => {
                if is_data && !input.once_in(4) {
                    let header = batman_wire::Unicast { ttl: input.byte(), dst: packet.dst };
                    packet.put_header(RoutingHeader::Batman(header));
                }
                Some(Payload::Batman(batman_packet(input)))
            }
            RoutingKind::Cedar => {
                if is_data && !input.once_in(4) {
                    let route: cedar_wire::Nodes = (0..input.below(6)).map(|_| input.node()).collect();
                    let at = input.byte() % 8;
                    packet.put_header(RoutingHeader::Cedar(cedar_wire::SourceRoute { route, at }));
                }
                Some(Payload::Cedar(Arc::new(cedar_message(input))))
            }
            RoutingKind::Rip => Some(Payload::Rip(rip_message(input))),
            RoutingKind::Zrp => {
                if is_data && !input.once_in(4) {
                    packet.put_header(RoutingHeader::Zrp(zrp_wire::SourceRoute { path: zrp_nodes(input) }));
                }
                Some(Payload::Zrp(Arc::new(zrp_message(input))))
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

/// What a data packet carries: TCP's, which protocols may treat otherwise, or another's.
fn transport(now: Time, input: &mut Input<'_>) -> Payload {
    let connection = ConnectionId { flow: FlowId(0), number: 0 };
    match input.below(3) {
        0 => {
            let (number, payload, sent) = (u32::from(input.byte()), 1460, now);
            let segment = Segment::Data { number, payload, sent, retransmission: false, cwr: false };
            Payload::Tcp(connection, segment)
        }
        1 => {
            let segment = Segment::Ack {
                next: u32::from(input.byte()),
                sack: SackBlocks::new(),
                signs: AckSigns::default(),
            };
            Payload::Tcp(connection, segment)
        }
        _ => Payload::Udp(FlowId(0), u64::from(input.byte())),
    }
}

/// What a neighbour makes of a packet that it repeats: a hop farther, with another time to live.
fn echo(mut packet: Packet, input: &mut Input<'_>) -> Packet {
    packet.hops = packet.hops.saturating_add(1);
    packet.ttl = if input.once_in(2) { input.byte() } else { packet.ttl.saturating_sub(1) };
    packet
}

fn aodv_message(now: Time, wraps: bool, input: &mut Input<'_>) -> aodv_wire::Message {
    use aodv_wire::{Hello, Message, Rerr, Rrep, Rreq, Unreachable};
    let number = |input: &mut Input<'_>| if wraps { input.number() } else { seqno(input) };
    let made = Time(now.0.saturating_sub(input.span().0));
    match input.below(5) {
        0 => Message::Rreq(Rreq {
            id: input.number(),
            origin: input.node(),
            origin_seqno: number(input),
            dst: input.node(),
            dst_seqno: (!input.once_in(2)).then(|| number(input)),
            hop_count: input.number().min(255) as u8,
            gratuitous: input.once_in(2),
            destination_only: input.once_in(2),
            made,
        }),
        1 => Message::Rrep(Rrep {
            dst: input.node(),
            dst_seqno: number(input),
            origin: input.node(),
            hop_count: input.number().min(255) as u8,
            lifetime: input.span(),
            acknowledge: input.once_in(2),
            made,
        }),
        2 => Message::RrepAck,
        3 => {
            let no_delete = input.once_in(4);
            let unreachable =
                (0..input.below(4)).map(|_| Unreachable { dst: input.node(), seqno: number(input) });
            Message::Rerr(Rerr { no_delete, unreachable: unreachable.collect() })
        }
        _ => Message::Hello(Hello {
            node: input.node(),
            seqno: number(input),
            lifetime: input.span(),
            heard: input.once_in(2).then(|| (0..input.below(4)).map(|_| input.node()).collect()),
        }),
    }
}

fn dsdv_update(input: &mut Input<'_>) -> dsdv_wire::Update {
    let entry = |input: &mut Input<'_>| dsdv_wire::Entry {
        dst: input.node(),
        metric: metric(input),
        seqno: seqno(input),
    };
    dsdv_wire::Update { full: input.once_in(2), entries: (0..input.below(6)).map(|_| entry(input)).collect() }
}

fn batman_packet(input: &mut Input<'_>) -> batman_wire::Packet {
    let ogm = |input: &mut Input<'_>| batman_wire::Ogm {
        origin: input.node(),
        previous: input.node(),
        seqno: input.number(),
        ttl: input.byte(),
        tq: input.byte(),
        is_direct: input.once_in(2),
        is_not_best: input.once_in(4),
    };
    let ogms = (0..=input.below(4)).map(|_| ogm(input)).collect();
    batman_wire::Packet { form: batman_wire::Form::Adv { tvlv_bytes: 28 }, ogms }
}

fn dymo_message(input: &mut Input<'_>) -> dymo_wire::Message {
    use dymo_wire::{Content, Known, Lengths, Message, RouteMessage};
    let known = |input: &mut Input<'_>| Known { node: input.node(), seqno: input.number() as u16 };
    let route = |input: &mut Input<'_>| RouteMessage {
        hop_limit: input.byte(),
        hop_count: input.byte(),
        target: if input.once_in(2) { ME } else { input.node() },
        target_seqno: input.number() as u16,
        path: (0..input.below(5)).map(|_| known(input)).collect(),
    };
    let content = match input.below(5) {
        0 | 1 => Content::Rreq(route(input)),
        2 => Content::Rrep(route(input)),
        3 => {
            let unreachable = (0..input.below(4)).map(|_| known(input)).collect();
            Content::Rerr { hop_limit: input.byte(), unreachable }
        }
        _ => Content::Hello(known(input)),
    };
    Message { lengths: Lengths { header: 13, node: 10 }, content }
}

fn tora_packet(now: Time, input: &mut Input<'_>) -> tora_wire::Packet {
    use tora_wire::{Ack, Block, Height, Level, Message, Packet};
    let me_or_other = |input: &mut Input<'_>| if input.once_in(2) { ME } else { input.node() };
    let level = |input: &mut Input<'_>| Level {
        tau: Time(now.0.min(input.number().into())),
        oid: me_or_other(input),
        reflected: input.once_in(2),
    };
    let object = |input: &mut Input<'_>| {
        let dst = me_or_other(input);
        match input.below(4) {
            0 => Message::Qry { dst },
            1 => {
                let Level { tau, oid, .. } = level(input);
                Message::Clr { dst, tau, oid }
            }
            _ if input.once_in(4) => Message::Upd { dst, height: None },
            _ => {
                let (level, delta, id) = (level(input), input.number() as i32, input.node());
                Message::Upd { dst, height: Some(Height { level, delta, id }) }
            }
        }
    };
    let hellos = (0..input.below(3)).map(|_| me_or_other(input)).collect();
    let acks = (0..input.below(3)).map(|_| Ack { to: me_or_other(input), seqno: input.byte() }).collect();
    let block = input.once_in(2).then(|| Block {
        seqno: input.byte(),
        responders: (0..input.below(3)).map(|_| me_or_other(input)).collect(),
        objects: (0..input.below(4)).map(|_| object(input)).collect(),
    });
    Packet { is_new: input.once_in(4), hellos, acks, block }
}

fn ssa_message(input: &mut Input<'_>) -> ssa_wire::Message {
    use ssa_wire::{Kind, Message, Preference};
    let kinds = [Kind::Beacon, Kind::Search, Kind::Reply, Kind::Error, Kind::Erase];
    let preferences = [Preference::StrongOnly, Preference::StrongPreferred, Preference::Any];
    Message {
        kind: kinds[input.below(5) as usize],
        preference: preferences[input.below(3) as usize],
        ttl: input.byte(),
        source: if input.once_in(2) { ME } else { input.node() },
        destination: input.node(),
        number: input.number(),
        nodes: (0..input.below(5)).map(|_| if input.once_in(3) { ME } else { input.node() }).collect(),
    }
}

fn abr_message(input: &mut Input<'_>) -> abr_wire::Message {
    use abr_wire::{Hop, Kind, Message};
    let kinds = [Kind::Bq, Kind::Lq, Kind::Reply, Kind::RnBack, Kind::RnToSource, Kind::RnErase, Kind::Rd];
    let node = |input: &mut Input<'_>| if input.once_in(3) { ME } else { input.node() };
    let hop = |input: &mut Input<'_>| {
        let (node, ticks) = (input.node(), input.number());
        Hop { node, ticks, load: input.number() as u16 }
    };
    Message {
        kind: if input.once_in(8) { Kind::Beacon } else { kinds[input.below(7) as usize] },
        ttl: input.byte(),
        before: input.byte(),
        source: node(input),
        destination: node(input),
        number: input.number(),
        hops: (0..input.below(5)).map(|_| hop(input)).collect(),
        nodes: (0..input.below(5)).map(|_| node(input)).collect(),
    }
}

fn cedar_message(input: &mut Input<'_>) -> cedar_wire::Message {
    use cedar_wire::{Beacon, Content, Message, Near, Nodes, Question};
    let nodes = |input: &mut Input<'_>| -> Nodes { (0..input.below(5)).map(|_| input.node()).collect() };
    let question = Question { source: input.node(), target: input.node(), id: input.number() };
    let content = match input.below(10) {
        0..3 => Content::Beacon(Beacon {
            effective_degree: input.number() as u16,
            dominator: input.once_in(2).then(|| input.node()),
            // Mostly of one that hears the machine.
            neighbours: if input.once_in(4) { nodes(input) } else { [ME, input.node()].into() },
            heard: nodes(input),
            near: (0..input.below(4)).map(|_| Near { core: input.node(), over: input.node() }).collect(),
        }),
        3 => Content::Join,
        4 => Content::Ask(question),
        5 => Content::Find { question, core_path: nodes(input), served: nodes(input) },
        6 => Content::Found { question, core_path: nodes(input) },
        7 => Content::Build { question, core_path: nodes(input), route: nodes(input) },
        8 => Content::Reply { question, route: nodes(input) },
        _ => Content::Error { link: [input.node(), input.node()] },
    };
    let to = match content {
        Content::Beacon(_) => [].into(),
        _ if input.once_in(2) => [[].into()].into(),
        _ => (0..input.below(4)).map(|_| nodes(input)).collect(),
    };
    Message { to, content }
}

fn rip_message(input: &mut Input<'_>) -> rip_wire::Message {
    if input.once_in(8) {
        return rip_wire::Message::Request;
    }
    let entry = |input: &mut Input<'_>| rip_wire::Entry {
        dst: input.node(),
        next_hop: input.once_in(2).then(|| input.node()),
        metric: input.byte() % 20,
    };
    rip_wire::Message::Response((0..input.below(6)).map(|_| entry(input)).collect())
}

fn zrp_nodes(input: &mut Input<'_>) -> zrp_wire::Nodes {
    (0..input.below(6)).map(|_| input.node()).collect()
}

fn zrp_message(input: &mut Input<'_>) -> zrp_wire::Message {
    use zrp_wire::{Back, LinkState, Message, Query};
    // What is read from bytes has a source.
    let path = |input: &mut Input<'_>| [input.node()].iter().chain(&*zrp_nodes(input)).copied().collect();
    match input.below(6) {
        0 => Message::Beacon,
        1 | 2 => Message::LinkState(LinkState {
            origin: input.node(),
            seqno: input.number(),
            ttl: input.byte().into(),
            neighbours: zrp_nodes(input),
        }),
        3 => Message::Query {
            query: Query { id: input.number(), dst: input.node(), path: path(input) },
            targets: if input.once_in(4) { zrp_nodes(input) } else { [ME].into() },
        },
        4 => Message::Reply(Back { content: input.number(), path: path(input), to: input.node() }),
        _ => {
            let content = [input.node(), input.node()];
            Message::Error(Back { content, path: path(input), to: input.node() })
        }
    }
}

fn babel_packet(input: &mut Input<'_>) -> babel_wire::Packet {
    babel_wire::Packet { tlvs: (0..=input.below(6)).map(|_| babel_tlv(input)).collect() }
}

fn babel_tlv(input: &mut Input<'_>) -> babel_wire::Tlv {
    use babel_wire::Tlv;
    let number = |input: &mut Input<'_>| input.number() as u16;
    match input.below(10) {
        0 | 1 => Tlv::Hello { seqno: number(input), interval: number(input) },
        2 => Tlv::Ihu { to: ME, link_local: true, rxcost: number(input), interval: number(input) },
        3 => Tlv::RouterId(input.node()),
        4 | 5 => Tlv::Update {
            prefix: input.node(),
            interval: number(input),
            seqno: number(input),
            metric: number(input),
        },
        6 => Tlv::RetractAll { interval: number(input) },
        7 => Tlv::RouteRequest(input.once_in(2).then(|| input.node())),
        8 => Tlv::NextHop(input.node()),
        _ => Tlv::SeqnoRequest {
            prefix: input.node(),
            seqno: number(input),
            hop_count: input.byte(),
            router: input.node(),
        },
    }
}

fn olsr_packet(input: &mut Input<'_>) -> olsr_wire::Packet {
    let number = input.number() as u16;
    olsr_wire::Packet { number, messages: (0..=input.below(3)).map(|_| olsr_message(input)).collect() }
}

fn olsr_message(input: &mut Input<'_>) -> olsr_wire::Message {
    use olsr_wire::{Content, Hello, LinkType, Listed, Message, NeighbourType, Qualities, Tc, TimeCode};
    let links = [LinkType::Unspecified, LinkType::Asymmetric, LinkType::Symmetric, LinkType::Lost];
    let neighbours = [NeighbourType::Not, NeighbourType::Symmetric, NeighbourType::Mpr];
    let qualities = |input: &mut Input<'_>| Qualities { here: input.byte(), there: input.byte() };
    let has_qualities = input.once_in(2);
    let content = if input.once_in(2) {
        let listed = |input: &mut Input<'_>| Listed {
            node: input.node(),
            link: input.pick(&links),
            neighbour: input.pick(&neighbours),
            qualities: qualities(input),
        };
        Content::Hello(Hello {
            interval: TimeCode(input.byte()),
            willingness: input.byte(),
            has_qualities,
            listed: (0..input.below(5)).map(|_| listed(input)).collect(),
        })
    } else {
        let ansn = input.number() as u16;
        let advertised = (0..input.below(5)).map(|_| (input.node(), qualities(input))).collect();
        Content::Tc(Tc { ansn, has_qualities, advertised })
    };
    Message {
        validity: TimeCode(input.byte()),
        origin: input.other(),
        ttl: input.byte(),
        hops: input.byte(),
        number: input.number() as u16,
        content,
    }
}

/// A sequence number of a protocol that counts up from zero and never goes around.
fn seqno(input: &mut Input<'_>) -> u32 {
    input.number() / 2
}

fn metric(input: &mut Input<'_>) -> u8 {
    if input.once_in(4) { dsdv_wire::INFINITE } else { input.byte() }
}

fn adv_message(input: &mut Input<'_>) -> adv_wire::Message {
    use adv_wire::{Entry, Flood, FloodKind, Message, Response, Update};
    if input.once_in(2) {
        let kinds = [
            FloodKind::InitConnection,
            FloodKind::ReceiverAlert,
            FloodKind::EndConnection,
            FloodKind::NonReceiverAlert,
        ];
        return Message::Flood(Flood {
            kind: input.pick(&kinds),
            origin: input.node(),
            seqno: seqno(input),
            id: input.number(),
            receiver: input.node(),
            two_way: input.once_in(2),
            hops: input.byte(),
        });
    }
    let responses = [Response::Zero, Response::Low, Response::Medium, Response::High];
    let entry = |input: &mut Input<'_>| Entry {
        dst: input.node(),
        seqno: seqno(input),
        metric: metric(input),
        is_receiver: input.once_in(2),
        expected_response: input.pick(&responses),
    };
    Message::Update(Update {
        full: input.once_in(2),
        entries: (0..input.below(6)).map(|_| entry(input)).collect(),
    })
}

fn dsr_header(input: &mut Input<'_>) -> dsr_wire::Header {
    // No node is named twice: requests go on only where their route has not been.
    let route = |input: &mut Input<'_>| {
        let mut route = dsr_wire::Route::new();
        for _ in 0..input.below(7) {
            let node = input.node();
            if !route.contains(&node) {
                route.push(node);
            }
        }
        route
    };
    dsr_wire::Header {
        request: input.once_in(3).then(|| dsr_wire::Request {
            id: input.number(),
            target: input.node(),
            forwarders: input.number(),
        }),
        reply: input.once_in(3).then(|| route(input)),
        errors: (0..input.below(3))
            .map(|_| dsr_wire::LinkError { tell: input.node(), from: input.node(), to: input.node() })
            .collect(),
        route: route(input),
        salvaged: input.byte(),
        reply_fixed_bytes: input.pick(&[3, 4]),
        shortens: input.once_in(4),
        copy_of: input.once_in(4).then(|| u64::from(input.number())),
        stale_bytes: 4 * u16::from(input.byte()),
        flow: match input.below(6) {
            0 => Some(dsr_wire::FlowMark::Establishes(input.number() as u16)),
            1 => Some(dsr_wire::FlowMark::Member(input.number() as u16)),
            2 => Some(dsr_wire::FlowMark::Default),
            _ => None,
        },
        unknown_flows: (0..input.below(2)).map(|_| unknown_flow(input)).collect(),
        tsr: match input.below(6) {
            0 => Some(tsr_wire::Mark::Probe { id: input.number() }),
            1 => Some(tsr_wire::Mark::Reply { id: input.number() }),
            2 => Some(tsr_wire::Mark::TargetOnly),
            _ => None,
        },
    }
}

fn unknown_flow(input: &mut Input<'_>) -> dsr_wire::UnknownFlow {
    let id = input.once_in(2).then(|| input.number() as u16);
    dsr_wire::UnknownFlow { src: input.node(), dst: input.node(), id }
}
