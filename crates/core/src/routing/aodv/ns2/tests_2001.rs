//! What the model of June 2001 (ns-2.1b8a) does that ns-2.35 does not, event by event.

use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::routing::aodv::probe::{
    ME, Probe, errors, messages, replies, requests, rerr, rrep, rreq, sent, start,
};
use crate::routing::aodv::{AodvParams, new};
use crate::routing::testbench::{at, data};
use crate::wire::NodeId;
use crate::wire::aodv::{Message, Rrep, Rreq};

fn old() -> AodvParams {
    AodvParams::ns_2_1b8a()
}

/// A reply about 9 that was asked for at `made`.
fn to_nine(seqno: u32, origin: u32, hops: u8, made: Time) -> Message {
    let lifetime = Span::from_millis(60_000);
    Message::Rrep(Rrep { lifetime, made, ..rrep(9, seqno, origin, hops) })
}

fn asking(id: u32, origin: u32, dst_seqno: u32) -> Message {
    Message::Rreq(Rreq { dst_seqno: Some(dst_seqno), ..rreq(id, origin, 4, 9, 0) })
}

/// A node between 5, from which neighbour 1 brings packets, and 9, to which neighbour 2 leads.
fn between(params: &AodvParams) -> Probe {
    let mut probe = start(params);
    probe.hear(at(1.0), 1, 30, asking(1, 5, 0));
    probe.hear(at(1.0), 2, 30, to_nine(8, 5, 3, at(1.0)));
    probe.relay(at(1.1), 5, 9, 1, 1);
    probe
}

/// A node with a route to 9 over neighbour 2, by a discovery that took half a second over so many nodes
/// between.
fn after_discovery(params: &AodvParams, nodes_between: u8) -> Probe {
    let mut probe = start(params);
    probe.send(at(1.0), 9);
    probe.hear(at(1.5), 2, 30, to_nine(8, ME.0, nodes_between, at(1.0)));
    probe
}

#[test]
fn a_request_counts_52_bytes_and_no_hop() {
    let out = messages(&start(&old()).send(at(1.0), 9)).remove(0);
    let Message::Rreq(asked) = out.message else { panic!("a request") };
    assert_eq!((out.bytes, asked.hop_count, out.ttl), (52, 0, 1));
}

#[test]
fn a_destination_answers_with_no_hop_and_a_minute_to_live() {
    let mut probe = start(&old());
    let asked = Rreq { dst_seqno: Some(0), ..rreq(1, 5, 4, ME.0, 0) };
    let out = messages(&probe.hear(at(1.0), 5, 9, Message::Rreq(asked))).remove(0);
    let Message::Rrep(answer) = out.message else { panic!("a reply") };
    assert_eq!((out.bytes, answer.hop_count, answer.lifetime), (44, 0, Span::from_millis(60_000)));
}

#[test]
fn hops_are_told_as_they_are() {
    assert_eq!(after_discovery(&old(), 0).route_hops(at(1.5), 9), Some(1));
    assert_eq!(after_discovery(&AodvParams::ns_2_35(), 1).route_hops(at(1.5), 9), Some(1));
}

/// The gap between the first two requests of a search that begins at 2 s, to the millisecond.
fn first_wait_ms(probe: &mut Probe) -> u64 {
    probe.run_until(at(1.9));
    probe.hear(at(1.9), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
    let mut all: Vec<(Time, Action)> = vec![];
    all.extend(probe.send(at(2.0), 9).into_iter().map(|action| (at(2.0), action)));
    all.extend(probe.run_until(at(20.0)));
    let times: Vec<u64> = all
        .iter()
        .filter(|(_, action)| !requests(std::slice::from_ref(action)).is_empty())
        .map(|(time, _)| time.0 / 1_000_000)
        .collect();
    times[1] - times[0]
}

#[test]
fn after_a_discovery_over_one_hop_the_wait_is_the_cap() {
    // TTL 1; 10 s, and then the next purge.
    assert_eq!(first_wait_ms(&mut after_discovery(&old(), 0)), 10_000);
    // The time of one hop is 0.5 s, so that TTL 1 waits 1 s.
    let by_hops = AodvParams { wait_by_nodes_between: false, ..old() };
    assert_eq!(first_wait_ms(&mut after_discovery(&by_hops, 0)), 1000);
    // Two nodes between: 0.25 s for each; TTL 2 + 2, so 2 s.
    assert_eq!(first_wait_ms(&mut after_discovery(&old(), 2)), 2000);
}

#[test]
fn three_longer_discoveries_end_the_waits_at_the_cap() {
    let mut probe = after_discovery(&old(), 0);
    for second in [2_u32, 3, 4] {
        let asked = at(f64::from(second));
        probe.run_until(asked);
        let seqno = 8 + 2 * second;
        probe.hear(asked, 2, 1, Message::Rerr(rerr(&[(9, seqno - 1)])));
        probe.send(asked, 9);
        let answered = at(f64::from(second) + 0.1);
        probe.hear(answered, 2, 30, to_nine(seqno, ME.0, 1, asked));
    }
    probe.hear(at(4.2), 2, 1, Message::Rerr(rerr(&[(9, 17)])));
    assert_eq!(requests(&probe.send(at(4.2), 9)).len(), 1);
    // TTL 3 and 0.1 s each: 0.6 s.
    assert!(requests(&probe.send(at(4.7), 9)).is_empty());
    assert_eq!(requests(&probe.send(at(4.8), 9)).len(), 1);
}

#[test]
fn a_break_takes_only_the_packets_route_down_and_tells_who_used_it() {
    let mut probe = between(&old());
    probe.hear(at(1.1), 2, 30, Message::Rrep(rrep(7, 20, ME.0, 2)));
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 1);
    assert_eq!(errors(&actions), [(Some(1), vec![(9, 9)])]);
    let out = &messages(&actions)[0];
    assert_eq!((out.bytes, out.delay), (44, Span::ZERO));
    assert!(actions.iter().any(|action| matches!(action, Action::Drop(_, DropReason::LinkFailure))));
    assert_eq!((probe.next_hop(at(2.0), 9), probe.next_hop(at(2.0), 7)), (None, Some(2)));
}

#[test]
fn who_used_a_route_is_told_for_fifty_seconds() {
    for (seconds, told) in [(50.0, 1), (52.0, 0)] {
        let mut probe = between(&old());
        // The route is kept up by another neighbour's data.
        for half in 1..=2 {
            probe.run_until(at(25.0 * f64::from(half)));
            probe.relay(at(25.0 * f64::from(half)), 6, 9, 3, 1);
        }
        let told_by = errors(&probe.fail_data(at(seconds), 6, 9, 2, 1));
        assert_eq!(told_by.iter().filter(|(to, _)| *to == Some(1)).count(), told, "{seconds} s");
        assert_eq!(told_by.iter().filter(|(to, _)| *to == Some(3)).count(), 1, "{seconds} s");
    }
}

#[test]
fn node_0_is_told_of_breaks_of_a_nodes_own_routes() {
    let other = NodeId(4);
    let break_own = |params: &AodvParams| {
        let mut probe = Probe::new(|_, stream| new(other, &Arc::new(params.clone()), stream));
        probe.go_on(at(1.0), data(50, other.0, 9, 0));
        probe.hear(at(1.1), 2, 30, to_nine(8, other.0, 3, at(1.0)));
        errors(&probe.fail_data(at(2.0), other.0, 9, 2, 0))
    };
    assert_eq!(break_own(&old()), [(Some(0), vec![(9, 9)])]);
    assert!(break_own(&AodvParams { errors_to_node_0: false, ..old() }).is_empty());
}

#[test]
fn an_own_packet_returns_to_the_buffer_and_is_sought_for() {
    let mut probe = after_discovery(&old(), 3);
    let actions = probe.fail_data(at(2.0), ME.0, 9, 2, 0);
    assert_eq!((probe.buffered(), requests(&actions).len()), (1, 1));
    assert!(actions.contains(&Action::FlushQueue(NodeId(2))));
    let waited = probe.flushed(at(2.0), data(50, ME.0, 9, 0), 2);
    assert!(waited.is_empty(), "the search goes on");
    assert_eq!(probe.buffered(), 2);
    let of_others = probe.flushed(at(2.0), data(51, 5, 9, 1), 2);
    assert!(matches!(of_others[..], [Action::Drop(_, DropReason::LinkFailure)]));
    let lost = AodvParams { rebuffer_own_packets: false, ..old() };
    let mut probe = after_discovery(&lost, 3);
    probe.fail_data(at(2.0), ME.0, 9, 2, 0);
    assert_eq!(probe.buffered(), 0);
}

#[test]
fn an_error_is_passed_on_to_who_used_the_route() {
    let mut probe = between(&old());
    assert!(errors(&probe.hear(at(1.2), 3, 1, Message::Rerr(rerr(&[(9, 9)])))).is_empty(), "not over 3");
    let told = errors(&probe.hear(at(1.2), 2, 1, Message::Rerr(rerr(&[(9, 9)]))));
    assert_eq!(told, [(Some(1), vec![(9, 9)])]);
    assert_eq!(probe.next_hop(at(1.2), 9), None);
}

#[test]
fn a_packet_without_a_route_is_refused_to_the_neighbour_that_brought_it() {
    let mut probe = start(&old());
    assert_eq!(errors(&probe.relay(at(1.0), 5, 9, 1, 1)), [(Some(1), vec![(9, 0)])]);
}

#[test]
fn without_a_route_older_information_is_accepted() {
    let accepts = |params: &AodvParams| {
        let mut probe = after_discovery(params, 3);
        probe.hear(at(1.6), 2, 1, Message::Rerr(rerr(&[(9, 9)])));
        probe.hear(at(1.7), 3, 30, to_nine(6, ME.0, 3, at(1.6)));
        probe.next_hop(at(1.7), 9)
    };
    assert_eq!(accepts(&old()), Some(3));
    assert_eq!(accepts(&AodvParams { accept_any_when_down: false, ..old() }), None);
    let mut up = after_discovery(&old(), 3);
    up.hear(at(1.7), 3, 30, to_nine(6, ME.0, 1, at(1.6)));
    assert_eq!(up.next_hop(at(1.7), 9), Some(2));
}

#[test]
fn a_reply_that_changes_nothing_is_passed_on() {
    let mut probe = between(&old());
    let (to, passed) = replies(&probe.hear(at(1.1), 3, 30, to_nine(8, 5, 3, at(1.0)))).remove(0);
    assert_eq!((to, passed.hop_count), (1, 4));
    assert_eq!(probe.next_hop(at(1.1), 9), Some(2));
}

#[test]
fn a_request_that_changes_nothing_does_not_prolong_the_route() {
    // The reverse route to 5 lives 10 s from 1 s on. At 8 s another request by 5 arrives on a longer way.
    let lives = |params: &AodvParams| {
        let mut probe = start(params);
        probe.hear(at(1.0), 1, 30, asking(1, 5, 0));
        probe.run_until(at(8.0));
        let longer = Rreq { dst_seqno: Some(0), ..rreq(2, 5, 4, 9, 3) };
        probe.hear(at(8.0), 3, 30, Message::Rreq(longer));
        probe.run_until(at(12.0));
        probe.next_hop(at(12.0), 5)
    };
    assert_eq!(lives(&old()), None);
    assert_eq!(lives(&AodvParams { requests_prolong_routes: true, ..old() }), Some(1));
}

#[test]
fn packets_outlast_the_last_retry_until_they_are_too_old() {
    let deaths = |params: &AodvParams| {
        let mut probe = start(params);
        probe.send(at(1.0), 9);
        let mut all = probe.run_until(at(35.0));
        // Whatever touches the buffer removes what is too old.
        all.extend(probe.send(at(35.0), 8).into_iter().map(|action| (at(35.0), action)));
        let died = all.into_iter().filter_map(|(time, action)| match action {
            Action::Drop(_, reason) => Some((time.0 / 1_000_000_000, reason)),
            _ => None,
        });
        died.collect::<Vec<_>>()
    };
    let early = AodvParams { keep_packets_after_retries: false, ..old() };
    assert_eq!(deaths(&early), [(22, DropReason::NoRoute)]);
    assert_eq!(deaths(&old()), [(35, DropReason::BufferTimeout)]);
}

#[test]
fn buffered_packets_leave_ten_milliseconds_apart() {
    let mut probe = start(&old());
    probe.send(at(1.0), 9);
    probe.send(at(1.0), 9);
    let actions = probe.hear(at(1.1), 2, 30, to_nine(8, ME.0, 1, at(1.0)));
    assert_eq!(sent(&actions), [(2, Span::ZERO), (2, Span::from_millis(10))]);
}
