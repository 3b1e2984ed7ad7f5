//! Searches for neighbours on a virtual clock: when requests go out, and what becomes of the packets.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::wire::{FlowId, Payload};

const ME: NodeId = NodeId(0);
const PEER: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

fn arp(params: &ArpParams) -> Arp {
    Arp::new(ME, params, Streams::new(1, 0).stream(ME.0, Purpose::Arp))
}

fn packet(number: u64) -> Packet {
    Packet::control(Time::ZERO, ME, PEER, 64, 100, Payload::Udp(FlowId(0), number))
}

fn at_ms(ms: f64) -> Time {
    Time::from_secs(ms * 1e-3)
}

/// What ARP does with a packet for the peer.
fn offered(arp: &mut Arp, ms: f64, number: u64) -> Vec<ArpAction> {
    let mut actions = Vec::new();
    arp.handle_outgoing(at_ms(ms), packet(number), PEER, &mut actions);
    actions
}

/// What ARP does at its next deadline, and that in ms.
fn at_deadline(arp: &mut Arp) -> (u64, Vec<ArpAction>) {
    let (now, mut actions) = (arp.next_timeout(), Vec::new());
    arp.handle_timeout(now, &mut actions);
    ((now.as_secs() * 1e3).round() as u64, actions)
}

fn answered(arp: &mut Arp) -> Vec<ArpAction> {
    let mut actions = Vec::new();
    arp.handle_message(ArpMessage::Reply { from: PEER, to: ME }, &mut actions);
    actions
}

fn asks(actions: &[ArpAction]) -> bool {
    matches!(actions, [ArpAction::Ask { request: ArpMessage::Request { from: ME, wanted: PEER }, .. }])
}

/// RFC 826, Packet Reception: a new entry only if "I am the target protocol address".
#[test]
fn only_the_target_of_a_request_learns_its_sender() {
    let knows_peer_after = |params: &ArpParams, message| {
        let mut arp = arp(params);
        arp.handle_message(message, &mut Vec::new());
        arp.resolved.contains(&PEER)
    };
    let standard = ArpParams::default();
    assert!(knows_peer_after(&standard, ArpMessage::Request { from: PEER, wanted: ME }));
    assert!(!knows_peer_after(&standard, ArpMessage::Request { from: PEER, wanted: OTHER }));
    assert!(knows_peer_after(&ArpParams::ns_2(), ArpMessage::Request { from: PEER, wanted: OTHER }));
}

/// A single packet is enough: it waits until the third request is answered.
#[test]
fn a_request_is_repeated_by_the_timer() {
    let mut arp = arp(&ArpParams::default());
    assert_eq!(arp.next_timeout(), Time::NEVER);
    assert!(asks(&offered(&mut arp, 0.0, 0)));
    for deadline_ms in [100, 200] {
        let (ms, actions) = at_deadline(&mut arp);
        assert_eq!(ms, deadline_ms);
        assert!(asks(&actions));
    }
    assert_eq!(answered(&mut arp), [ArpAction::Send { to: PEER, body: Body::Ip(packet(0)) }]);
    assert_eq!(arp.next_timeout(), Time::NEVER);
}

#[test]
fn the_last_request_is_given_an_interval_to_be_answered() {
    let mut arp = arp(&ArpParams::default());
    offered(&mut arp, 0.0, 0);
    at_deadline(&mut arp);
    at_deadline(&mut arp);
    let (ms, actions) = at_deadline(&mut arp);
    assert_eq!(ms, 300);
    assert_eq!(actions, [ArpAction::Unresolved { next_hop: PEER, packet: packet(0) }]);
    assert_eq!(arp.next_timeout(), Time::NEVER);
    assert!(asks(&offered(&mut arp, 400.0, 1)), "the next packet begins a new search");
}

#[test]
fn a_packet_that_comes_during_a_search_replaces_the_one_that_waits_and_asks_nobody() {
    let mut arp = arp(&ArpParams::default());
    offered(&mut arp, 0.0, 0);
    for number in 1..20 {
        let actions = offered(&mut arp, number as f64, number);
        assert_eq!(actions, [ArpAction::Replaced(packet(number - 1))]);
    }
    assert_eq!(arp.next_timeout(), at_ms(100.0));
    assert_eq!(answered(&mut arp), [ArpAction::Send { to: PEER, body: Body::Ip(packet(19)) }]);
}

#[test]
fn an_early_call_does_nothing() {
    let mut arp = arp(&ArpParams::default());
    offered(&mut arp, 0.0, 0);
    let mut actions = Vec::new();
    arp.handle_timeout(at_ms(99.9), &mut actions);
    assert!(actions.is_empty());
    assert_eq!(arp.next_timeout(), at_ms(100.0));
}

/// ns-2: a request for each packet; the fourth packet and the one that waits are failures.
#[test]
fn without_a_timer_each_packet_asks() {
    let mut arp = arp(&ArpParams::ns_2());
    let ask = ArpAction::Ask { request: ArpMessage::Request { from: ME, wanted: PEER }, delay: Span::ZERO };
    assert_eq!(offered(&mut arp, 0.0, 0), std::slice::from_ref(&ask));
    for number in [1, 2] {
        let wanted = [ArpAction::Replaced(packet(number - 1)), ask.clone()];
        assert_eq!(offered(&mut arp, 0.0, number), wanted);
    }
    assert_eq!(arp.next_timeout(), Time::NEVER);
    let failed = |number| ArpAction::Unresolved { next_hop: PEER, packet: packet(number) };
    assert_eq!(offered(&mut arp, 0.0, 3), [failed(2), failed(3)]);
    assert_eq!(offered(&mut arp, 0.0, 4), [ask]);
}

#[test]
fn requests_are_jittered() {
    let delays: BTreeSet<u64> = (0..50)
        .map(|node| {
            let stream = Streams::new(1, 0).stream(node, Purpose::Arp);
            let mut arp = Arp::new(NodeId(node), &ArpParams::default(), stream);
            let mut actions = Vec::new();
            arp.handle_outgoing(Time::ZERO, packet(0), NodeId(100), &mut actions);
            match actions[..] {
                [ArpAction::Ask { delay, .. }] => delay.0,
                _ => panic!("{actions:?}"),
            }
        })
        .collect();
    assert_eq!(delays.len(), 50, "no two nodes ask at the same instant");
    assert!(delays.iter().all(|&delay| delay < 10_000_000));
    assert!(delays.last().is_some_and(|&delay| delay > 8_000_000));
}
