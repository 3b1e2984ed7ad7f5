//! What the ns-2 model does, event by event, on one node with a virtual clock.

use proptest::prelude::*;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::aodv::AodvParams;
use crate::routing::aodv::probe::{
    ME, Probe, errors, messages, replies, requests, rerr, rrep, rreq, sent, start,
};
use crate::routing::testbench::{at, data};
use crate::routing::{Action, Notice};
use crate::wire::NodeId;
use crate::wire::aodv::{Hello, Message, Rrep, Rreq};

fn ns2() -> AodvParams {
    AodvParams::ns_2_35()
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A reply that gives a route to 9 with 100 s to live; the model counts hops from one.
fn to_nine(seqno: u32, origin: u32, hops: u8) -> Message {
    Message::Rrep(Rrep { lifetime: ms(100_000), ..rrep(9, seqno, origin, hops) })
}

/// A node with a route to 9 over neighbour 2, sequence number 8.
fn with_route(params: &AodvParams, now: Time, hops: u8) -> Probe {
    let mut probe = start(params);
    probe.hear(now, 2, 30, to_nine(8, ME.0, hops));
    probe
}

/// Likewise, and the reply was passed on to neighbour 1, for node 5 who had asked.
fn between(params: &AodvParams, now: Time, hops: u8) -> Probe {
    let mut probe = start(params);
    probe.hear(now, 1, 30, Message::Rreq(asking(1, 5, 4, 9, 5)));
    probe.hear(now, 2, 30, to_nine(8, 5, hops));
    probe
}

/// A request of the model, which has no flag for an unknown number.
fn asking(id: u32, origin: u32, origin_seqno: u32, dst: u32, hop_count: u8) -> Rreq {
    Rreq { dst_seqno: Some(0), ..rreq(id, origin, origin_seqno, dst, hop_count) }
}

fn is_drop(action: &Action, wanted: DropReason) -> bool {
    matches!(action, Action::Drop(_, reason) if *reason == wanted)
}

/// Sends a packet to 9 at 1 s, and returns when requests went out in ms, with their TTL, and when it died.
fn search(probe: &mut Probe, end: f64) -> (Vec<(u64, u8)>, Option<u64>) {
    let mut all = probe.run_until(at(0.9));
    all.extend(probe.send(at(1.0), 9).into_iter().map(|action| (at(1.0), action)));
    all.extend(probe.run_until(at(end)));
    let millis = |time: &Time| time.0 / 1_000_000;
    let sends = all.iter().flat_map(|(time, action)| {
        let ttls = requests(std::slice::from_ref(action)).into_iter().map(|(ttl, _)| ttl);
        ttls.map(|ttl| (millis(time), ttl)).collect::<Vec<_>>()
    });
    let died = all.iter().find(|(_, action)| is_drop(action, DropReason::NoRoute));
    (sends.collect(), died.map(|(time, _)| millis(time)))
}

#[test]
fn an_unknown_destination_is_sought_network_wide_four_times() {
    // Waits of 2 * 30 * 30 ms times 1, 2, 3, 4 (1.8, 3.6, 5.4, 7.2 s), each to the next purge.
    let (sends, died) = search(&mut start(&ns2()), 29.0);
    assert_eq!(sends, [(1000, 30), (3000, 30), (7000, 30), (12_500, 30)]);
    assert_eq!(died, Some(20_000));
}

#[test]
fn after_the_last_wait_the_node_pauses_for_ten_seconds() {
    let mut probe = start(&ns2());
    search(&mut probe, 20.0);
    assert!(requests(&probe.send(at(29.9), 9)).is_empty());
    assert_eq!(requests(&probe.send(at(30.0), 9)).len(), 1);
}

#[test]
fn rings_for_unknown_destinations_are_dyers_way() {
    // Waits 2 * TTL * 30 ms: 60, 180, 300, 420 ms, each to the next purge, then as above.
    let (sends, _) = search(&mut start(&AodvParams::dyer_2002()), 21.0);
    let ttls: Vec<u8> = sends.iter().map(|(_, ttl)| *ttl).collect();
    assert_eq!(ttls, [1, 3, 5, 7, 30, 30, 30, 30]);
    assert_eq!(sends[..5], [(1000, 1), (1500, 3), (2000, 5), (2500, 7), (3000, 30)]);
    let (sends, _) = search(&mut start(&AodvParams { ring_for_unknown: true, ..ns2() }), 3.0);
    assert_eq!(sends, [(1000, 5), (1500, 7), (2000, 30)]);
}

#[test]
fn a_lost_route_is_sought_two_hops_beyond_its_length() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    probe.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    let (ttl, request) = requests(&probe.send(at(1.2), 9)).remove(0);
    assert_eq!((ttl, request.dst_seqno), (5, Some(9)));
    let mut far = with_route(&ns2(), at(1.0), 7);
    far.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    assert_eq!(requests(&far.send(at(1.2), 9))[0].0, 30);
}

#[test]
fn the_wait_follows_the_measured_time_per_hop() {
    // The reply of 3 hops took 600 ms: 200 ms per hop; the next search with TTL 5 waits 2 * 5 * 200 ms.
    let mut probe = start(&ns2());
    probe.run_until(at(1.0));
    let made = requests(&probe.send(at(1.0), 9)).remove(0).1.made;
    assert_eq!(made, at(1.0));
    let answer = Rrep { made, lifetime: ms(100_000), ..rrep(9, 8, ME.0, 3) };
    probe.hear(at(1.6), 2, 30, Message::Rrep(answer));
    probe.hear(at(1.7), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    assert_eq!(requests(&probe.send(at(1.8), 9)).len(), 1);
    assert!(requests(&probe.send(at(3.79), 9)).is_empty());
    assert_eq!(requests(&probe.send(at(3.8), 9)).len(), 1);
}

#[test]
fn own_sequence_numbers_are_even_and_grow_by_two_with_each_request() {
    let mut probe = start(&ns2());
    let first = requests(&probe.send(at(1.0), 9)).remove(0).1;
    let second = requests(&probe.send(at(1.0), 8)).remove(0).1;
    assert_eq!((first.id, first.origin_seqno, first.hop_count, first.dst_seqno), (1, 4, 1, Some(0)));
    assert_eq!((second.id, second.origin_seqno), (2, 6));
}

#[test]
fn a_request_by_this_node_is_not_jittered_and_counts_48_bytes() {
    let mut probe = start(&ns2());
    let out = messages(&probe.send(at(1.0), 9)).remove(0);
    assert_eq!((out.to, out.delay, out.bytes), (None, Span::ZERO, 48));
}

#[test]
fn a_destination_answers_with_an_even_number_above_both() {
    let mut probe = start(&ns2());
    let asked = Rreq { dst_seqno: Some(9), ..asking(1, 5, 4, ME.0, 5) };
    let out = messages(&probe.hear(at(1.0), 1, 9, Message::Rreq(asked))).remove(0);
    assert_eq!((out.to, out.ttl, out.bytes, out.delay), (Some(1), 30, 44, Span::ZERO));
    let Message::Rrep(answer) = out.message else { panic!("a reply") };
    assert_eq!((answer.dst_seqno, answer.hop_count, answer.lifetime), (10, 1, ms(10_000)));
    let asked = Rreq { dst_seqno: Some(0), ..asking(2, 5, 6, ME.0, 5) };
    let answer = replies(&probe.hear(at(1.0), 1, 9, Message::Rreq(asked))).remove(0).1;
    assert_eq!(answer.dst_seqno, 12);
}

#[test]
fn a_request_is_passed_on_once_jittered_with_the_greatest_number() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    let asked = Rreq { dst_seqno: Some(10), ..asking(1, 5, 4, 9, 5) };
    let actions = probe.hear(at(1.0), 1, 9, Message::Rreq(asked.clone()));
    let out = messages(&actions).remove(0);
    assert!(out.to.is_none() && out.delay > Span::ZERO && out.delay < ms(10));
    let Message::Rreq(passed) = out.message else { panic!("a request") };
    assert_eq!((out.ttl, passed.hop_count, passed.dst_seqno), (8, 6, Some(10)));
    let again = probe.hear(at(1.5), 3, 9, Message::Rreq(asked));
    assert!(matches!(again[..], [Action::Consume(_)]));
    let last = probe.hear(at(1.5), 1, 1, Message::Rreq(asking(2, 5, 6, 8, 5)));
    assert!(is_drop(&last[0], DropReason::TtlExpired));
}

#[test]
fn a_request_is_forgotten_at_the_purge_after_six_seconds() {
    // Heard at 1 s, kept until 7 s, purged at 12 s.
    let mut probe = start(&ns2());
    let pass = |probe: &mut Probe, time: f64| {
        probe.run_until(at(time));
        requests(&probe.hear(at(time), 1, 9, Message::Rreq(asking(1, 5, 4, 9, 5)))).len()
    };
    assert_eq!([pass(&mut probe, 1.0), pass(&mut probe, 11.9), pass(&mut probe, 12.1)], [1, 0, 1]);
}

#[test]
fn a_node_on_the_way_answers_with_its_hops_plus_one_and_whole_seconds_left() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    let asked = Rreq { dst_seqno: Some(8), ..asking(1, 5, 4, 9, 5) };
    let (to, answer) = replies(&probe.hear(at(1.5), 1, 9, Message::Rreq(asked))).remove(0);
    assert_eq!((to, answer.dst_seqno, answer.hop_count), (1, 8, 4));
    assert_eq!(answer.lifetime, ms(99_000));
    let fresher = Rreq { dst_seqno: Some(10), ..asking(2, 5, 6, 9, 5) };
    assert!(replies(&probe.hear(at(1.5), 1, 9, Message::Rreq(fresher))).is_empty());
}

#[test]
fn a_reply_is_passed_on_only_if_it_is_fresher_or_shorter() {
    let mut probe = between(&ns2(), at(1.0), 3);
    assert_eq!(probe.next_hop(at(1.0), 9), Some(2));
    let same = probe.hear(at(1.1), 3, 30, to_nine(8, 5, 3));
    assert!(matches!(same[..], [Action::Consume(_)]));
    let (to, passed) = replies(&probe.hear(at(1.1), 3, 30, to_nine(8, 5, 2))).remove(0);
    assert_eq!((to, passed.hop_count), (1, 3));
    assert_eq!(probe.next_hop(at(1.1), 9), Some(3));
    let stray = probe.hear(at(1.1), 3, 30, to_nine(10, 77, 2));
    assert!(is_drop(&stray[0], DropReason::NoRoute));
}

#[test]
fn buffered_packets_leave_ten_milliseconds_apart_on_a_reply_and_at_once_on_a_reverse_route() {
    let mut probe = start(&ns2());
    for _ in 0..3 {
        probe.send(at(1.0), 9);
    }
    let actions = probe.hear(at(1.1), 2, 30, to_nine(8, ME.0, 3));
    assert_eq!(sent(&actions), [(2, ms(0)), (2, ms(10)), (2, ms(20))]);
    let mut probe = start(&ns2());
    for _ in 0..2 {
        probe.send(at(1.0), 9);
    }
    let actions = probe.hear(at(1.1), 2, 9, Message::Rreq(asking(1, 9, 4, 77, 1)));
    assert_eq!(sent(&actions), [(2, ms(0)), (2, ms(0))]);
}

#[test]
fn data_gets_a_time_to_live_of_thirty_and_is_dropped_when_it_returns() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    let Action::Send { packet, .. } = &probe.send(at(1.0), 9)[0] else { panic!("it is sent") };
    assert_eq!(packet.ttl, 30);
    assert!(is_drop(&probe.relay(at(1.0), ME.0, 9, 1, 4)[0], DropReason::RoutingLoop));
    let mut old = data(50, 5, 9, 5);
    old.ttl = 1;
    assert!(is_drop(&probe.incoming(at(1.0), old, 1)[0], DropReason::TtlExpired));
}

#[test]
fn an_unused_route_goes_down_at_the_purge_after_ten_seconds() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    probe.run_until(at(1.2));
    probe.send(at(1.2), 9);
    probe.run_until(at(11.2));
    assert_eq!(probe.next_hop(at(11.2), 9), Some(2));
    probe.run_until(at(11.5));
    assert_eq!(probe.next_hop(at(11.5), 9), None);
    assert_eq!(requests(&probe.send(at(11.5), 9))[0].1.dst_seqno, Some(9), "odd after the expiry");
}

#[test]
fn a_packet_to_relay_without_a_route_is_refused_by_broadcast() {
    let mut probe = start(&ns2());
    let actions = probe.relay(at(1.0), 5, 9, 1, 5);
    assert_eq!(errors(&actions), [(None, vec![(9, 0)])]);
    let out = messages(&actions).remove(0);
    assert_eq!((out.ttl, out.bytes, out.delay), (1, 32, Span::ZERO));
    assert!(is_drop(&actions[1], DropReason::NoRoute));
}

#[test]
fn a_break_in_the_first_half_takes_all_routes_over_the_neighbour_down() {
    let mut probe = between(&ns2(), at(1.0), 5);
    probe.hear(at(1.0), 2, 30, Message::Rrep(rrep(7, 20, ME.0, 2)));
    // Five hops travelled, five left: not past the middle.
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    assert!(is_drop(&actions[0], DropReason::LinkFailure));
    assert_eq!(actions[1], Action::FlushQueue(NodeId(2)));
    let gone = |dst| Action::Notify(Notice::RouteFailed { dst: NodeId(dst), told: false });
    assert_eq!(actions[2..4], [gone(7), gone(9)]);
    assert_eq!(errors(&actions), [(None, vec![(7, 21), (9, 9)])]);
    assert_eq!(messages(&actions)[0].delay, Span::ZERO);
    assert_eq!(probe.next_hop(at(2.0), 9), None);
    assert!(is_drop(&probe.flushed(at(2.0), data(50, 5, 9, 5), 2)[0], DropReason::LinkFailure));
    // The set of neighbours has changed: 2 + 2 for the break, + 2 for the next request.
    assert_eq!(requests(&probe.send(at(2.0), 9))[0].1.origin_seqno, 6);
}

#[test]
fn a_break_past_the_middle_is_repaired_until_twice_the_time() {
    let mut probe = between(&ns2(), at(1.0), 4);
    probe.run_until(at(2.0));
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    // The route has not been down before, so the search is network-wide; it waits 2 * 30 * 30 ms = 1.8 s.
    assert_eq!(requests(&actions)[0].0, 30);
    assert_eq!(actions.len(), 1, "no route error, no flushing");
    assert_eq!(probe.buffered(), 1);
    probe.relay(at(2.1), 5, 9, 1, 5);
    assert_eq!(probe.buffered(), 2);
    // The timer was given 3.8 s as a delay.
    let all = probe.run_until(at(6.0));
    let failed = all.iter().find(|(_, action)| matches!(action, Action::Notify(_)));
    let told = Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: false });
    assert_eq!(failed, Some(&(at(5.8), told)));
    let all: Vec<Action> = all.into_iter().map(|(_, action)| action).collect();
    assert!(errors(&all).is_empty());
}

#[test]
fn a_route_in_repair_is_offered_with_a_wrapped_lifetime() {
    let mut probe = between(&ns2(), at(1.0), 4);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    let (to, answer) = replies(&probe.hear(at(3.5), 3, 9, Message::Rreq(asking(1, 6, 4, 9, 1)))).remove(0);
    assert_eq!((to, answer.hop_count), (3, 5));
    assert_eq!(answer.lifetime, Span((u64::from(u32::MAX) - 2) * 1_000_000_000));
}

#[test]
fn a_repaired_route_carries_the_waiting_packets() {
    let mut probe = between(&ns2(), at(1.0), 4);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    probe.relay(at(2.1), 5, 9, 1, 5);
    let actions = probe.hear(at(2.2), 3, 30, to_nine(10, ME.0, 2));
    assert_eq!(sent(&actions), [(3, ms(0)), (3, ms(10))]);
    assert!(probe.run_until(at(60.0)).iter().all(|(_, action)| !matches!(action, Action::Notify(_))));
}

#[test]
fn a_route_error_is_passed_on_jittered_if_there_are_precursors() {
    let mut probe = between(&ns2(), at(1.0), 3);
    assert!(errors(&probe.hear(at(1.1), 3, 1, Message::Rerr(rerr(&[(9, 9)])))).is_empty());
    assert!(errors(&probe.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 7)])))).is_empty(), "older");
    assert_eq!(probe.next_hop(at(1.1), 9), Some(2));
    let actions = probe.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    assert_eq!(errors(&actions), [(None, vec![(9, 9)])]);
    let delay = messages(&actions)[0].delay;
    assert!(delay > Span::ZERO && delay < ms(10));
    assert!(actions.contains(&Action::FlushQueue(NodeId(2))));
    assert!(actions.contains(&Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: true })));
    let mut source = with_route(&ns2(), at(1.0), 3);
    assert!(errors(&source.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 9)])))).is_empty());
    assert_eq!(source.next_hop(at(1.1), 9), None);
}

#[test]
fn routes_that_come_back_are_told_once() {
    let mut probe = with_route(&ns2(), at(1.0), 3);
    probe.hear(at(1.1), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    let found = Action::Notify(Notice::RouteFound { dst: NodeId(9) });
    assert!(probe.hear(at(1.2), 3, 30, to_nine(10, ME.0, 3)).contains(&found));
    assert!(!probe.hear(at(1.3), 3, 30, to_nine(12, ME.0, 3)).contains(&found));
}

#[test]
fn with_hello_neighbours_are_lost_after_four_and_a_half_seconds() {
    let params = AodvParams { hello: true, link_layer_feedback: false, ..ns2() };
    let mut probe = between(&params, at(1.0), 3);
    let hello = Hello { node: NodeId(2), seqno: 4, lifetime: ms(4000), heard: None };
    probe.hear(at(1.2), 2, 1, Message::Hello(hello));
    let only_dropped = probe.fail_data(at(1.5), 5, 9, 2, 1);
    assert!(only_dropped.len() == 1 && is_drop(&only_dropped[0], DropReason::LinkFailure));
    let all = probe.run_until(at(7.0));
    let broken = all.iter().find(|(_, action)| !errors(std::slice::from_ref(action)).is_empty());
    assert_eq!(broken.map(|(time, _)| *time), Some(at(6.0)), "the check each second after 5.7 s");
    let hellos: Vec<Time> = all
        .iter()
        .filter(|(_, action)| messages(std::slice::from_ref(action)).iter().any(|out| out.bytes == 44))
        .map(|(time, _)| *time)
        .collect();
    assert!(hellos.windows(2).all(|pair| (750..1250).contains(&(pair[1].since(pair[0]).0 / 1_000_000))));
}

proptest! {
    /// Whatever a node hears, its own sequence number in requests and replies is even and never goes back.
    #[test]
    fn own_sequence_numbers_never_go_back(
        steps in prop::collection::vec((0u32..6, 1u32..6, 0u32..40, 1u8..8), 1..120),
    ) {
        let mut probe = start(&ns2());
        let (mut now, mut last) = (at(0.1), 0);
        for (number, (kind, node, seqno, hops)) in steps.into_iter().enumerate() {
            now += ms(330);
            let mut actions: Vec<Action> =
                probe.run_until(now).into_iter().map(|(_, action)| action).collect();
            let asked = Rreq { dst_seqno: Some(seqno), ..asking(number as u32, node, seqno, ME.0, hops) };
            actions.extend(match kind {
                0 => probe.send(now, node),
                1 => probe.hear(now, node, 9, Message::Rreq(asked)),
                2 => probe.hear(now, node, 9, Message::Rrep(rrep(9, seqno, ME.0, hops))),
                3 => probe.hear(now, node, 1, Message::Rerr(rerr(&[(9, seqno)]))),
                4 => probe.fail_data(now, 8, 9, node, hops),
                _ => probe.relay(now, 8, 9, node, hops),
            });
            let own = requests(&actions).into_iter().filter(|(_, rreq)| rreq.origin == ME);
            let replied = replies(&actions).into_iter().filter(|(_, rrep)| rrep.dst == ME);
            let numbers = own.map(|(_, rreq)| rreq.origin_seqno);
            for seqno in numbers.chain(replied.map(|(_, rrep)| rrep.dst_seqno)) {
                prop_assert!(seqno >= last && seqno % 2 == 0, "{seqno} after {last}");
                last = seqno;
            }
        }
    }
}
