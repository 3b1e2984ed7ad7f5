//! Between routing and the MAC: address resolution and the interface queue.

use manetlab_core::arp::{Arp, ArpAction, ArpParams};
use manetlab_core::ifq::{Admission, InterfaceQueue, Outgoing, QueueParams};
use manetlab_core::kernel::{Purpose, Time};
use manetlab_core::wire::arp::ArpMessage;
use manetlab_core::wire::mac::Body;
use manetlab_core::wire::tcp::{AckSigns, Segment};
use manetlab_core::wire::{Ecn, FlowId, Packet, Payload};

use super::input::{Input, ME};
use super::params;

fn packet(uid: u64, input: &mut Input<'_>) -> Packet {
    let payload = match input.below(3) {
        0 => Payload::Nothing,
        1 => {
            let ack = Segment::Ack { next: 0, sack: Default::default(), signs: AckSigns::default() };
            Payload::Tcp(FlowId(0).into(), ack)
        }
        _ => Payload::Udp(FlowId(0), uid),
    };
    let mut packet = Packet::control(Time::ZERO, ME, input.other(), 1, 40, payload);
    (packet.uid, packet.ecn) = (uid, input.pick(&[Ecn::NotEct, Ecn::Ect, Ecn::Ce]));
    packet
}

/// Any order of packets and messages to address resolution: each packet is held, sent, replaced or given up,
/// and never two of these.
pub fn arp(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input);
    params::vary(&mut input, ArpParams::SCHEMA, &mut params.arp);
    let mut arp = Arp::new(ME, &params.arp, input.stream(Purpose::Arp));
    let (mut given, mut now) = (0, Time::ZERO);
    while !input.is_over() {
        let mut before: Vec<u64> = arp.held().map(|packet| packet.uid).collect();
        let mut actions = Vec::new();
        now += input.span();
        match input.below(4) {
            0 => {
                given += 1;
                before.push(given);
                let next_hop = input.other();
                arp.handle_outgoing(now, packet(given, &mut input), next_hop, &mut actions);
            }
            1 => {
                let message = ArpMessage::Request { from: input.other(), wanted: input.node() };
                arp.handle_message(message, &mut actions);
            }
            2 => {
                arp.handle_timeout(now, &mut actions);
                assert!(arp.next_timeout() > now);
            }
            _ => {
                arp.handle_message(ArpMessage::Reply { from: input.other(), to: input.node() }, &mut actions);
            }
        }
        let mut after: Vec<u64> = arp.held().map(|packet| packet.uid).collect();
        for action in actions {
            match action {
                ArpAction::Send { to, body: Body::Ip(packet) } => {
                    assert!(to != ME && !to.is_broadcast());
                    after.push(packet.uid);
                }
                ArpAction::Ask { request: ArpMessage::Request { from, wanted }, .. } => {
                    assert!(from == ME && wanted != ME);
                }
                ArpAction::Ask { .. }
                | ArpAction::Send { body: Body::Arp(ArpMessage::Request { .. }), .. } => {
                    panic!("{action:?}");
                }
                ArpAction::Send { to, body: Body::Arp(ArpMessage::Reply { from, to: asked }) } => {
                    assert!(from == ME && to == asked && to != ME);
                }
                ArpAction::Replaced(packet) | ArpAction::Unresolved { packet, .. } => after.push(packet.uid),
            }
        }
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }
}

/// Any order of calls to the interface queue, with every discipline and priority.
pub fn queue(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input);
    params.queue.packets = 1 + input.below(64);
    params::vary(&mut input, QueueParams::SCHEMA, &mut params.queue);
    let stream = input.stream(Purpose::Queue);
    let Some(scenario) = params::scenario(params, None, None) else { return };
    let params = scenario.params.queue;
    let mut queue = InterfaceQueue::new(&params, stream);
    let (mut now, mut given, mut out) = (Time::ZERO, 0, 0);
    while !input.is_over() {
        match input.below(8) {
            0 => now += input.span(),
            1 => {
                if let Some(popped) = queue.pop() {
                    assert!(matches!(popped.body, Body::Ip(_) | Body::Arp(_)));
                    out += 1;
                } else {
                    queue.begin_idle(now);
                }
            }
            2 => {
                let neighbour = input.other();
                let mut taken = Vec::new();
                queue.flush(neighbour, &mut taken);
                assert!(taken.iter().all(|one| one.to == neighbour));
                out += taken.len();
            }
            _ => {
                given += 1;
                let to = input.other();
                let body = if input.once_in(8) {
                    Body::Arp(ArpMessage::Request { from: ME, wanted: to })
                } else {
                    Body::Ip(packet(given as u64, &mut input))
                };
                let mut outgoing = Outgoing { to, body };
                let before = ecn(&outgoing);
                match queue.admit(now, &mut outgoing) {
                    Admission::Refused => out += 1,
                    admission => {
                        // A packet that came with a mark may be marked again.
                        assert!(admission == Admission::Marked || ecn(&outgoing) == before);
                        out += usize::from(queue.push(outgoing).is_some());
                    }
                }
            }
        }
        let waiting = queue.iter().count();
        assert_eq!(waiting, given - out, "each that went in came out once, or waits");
        assert_eq!(queue.is_empty(), waiting == 0);
        assert!(waiting <= 3 * params.packets as usize, "{waiting} wait for {} places", params.packets);
    }
    while queue.pop().is_some() {
        out += 1;
    }
    assert_eq!(given, out);
}

fn ecn(outgoing: &Outgoing) -> Ecn {
    match &outgoing.body {
        Body::Ip(packet) => packet.ecn,
        Body::Arp(_) => Ecn::NotEct,
    }
}
