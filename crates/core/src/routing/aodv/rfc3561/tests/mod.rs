//! Sequences that RFC 3561 prescribes, each on one node with a virtual clock.

mod ns_2_27;

use std::sync::Arc;

use crate::drops::DropReason;
use crate::kernel::{Purpose, Span, Streams, Time};
use crate::routing::aodv::probe::{
    ME, Probe, errors, messages, replies, requests, rerr, rrep, rreq, sent, start,
};
use crate::routing::aodv::{self, AodvParams, control};
use crate::routing::testbench::{at, data};
use crate::routing::{Action, Notice};
use crate::wire::NodeId;
use crate::wire::aodv::{Hello, Message, Rrep, Rreq};

/// Nodes 1 and 4 ask for node 9, which alone may answer and gives both the same number.
#[test]
fn the_answer_to_a_second_source_is_passed_on() {
    for (pass_known_rreps, wanted) in [(true, vec![(4, 7)]), (false, vec![])] {
        let mut probe = start(&AodvParams { pass_known_rreps, ..rfc() });
        let asked = |id, origin| Message::Rreq(Rreq { destination_only: true, ..rreq(id, origin, 3, 9, 1) });
        probe.hear(at(1.0), 1, 9, asked(1, 1));
        let first = replies(&probe.hear(at(1.1), 2, WHOLE, Message::Rrep(rrep(9, 7, 1, 1))));
        assert_eq!(first.iter().map(|(to, rrep)| (*to, rrep.dst_seqno)).collect::<Vec<_>>(), [(1, 7)]);
        probe.hear(at(2.0), 4, 9, asked(1, 4));
        let second = replies(&probe.hear(at(2.1), 2, WHOLE, Message::Rrep(rrep(9, 7, 4, 1))));
        assert_eq!(second.iter().map(|(to, rrep)| (*to, rrep.dst_seqno)).collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn a_reply_that_tells_nothing_new_is_not_passed_on_without_a_route() {
    let mut probe = with_route(&rfc(), at(1.0), 3);
    probe.hear(at(1.1), 4, 9, Message::Rreq(Rreq { destination_only: true, ..rreq(1, 4, 3, 9, 1) }));
    // The route breaks, and its number counts as newer than the reply's.
    probe.fail_data(at(1.2), ME.0, 9, 2, 1);
    assert_eq!(replies(&probe.hear(at(1.3), 5, WHOLE, Message::Rrep(rrep(9, 7, 4, 1)))), []);
}

/// The greatest TTL.
const WHOLE: u32 = 35;

fn rfc() -> AodvParams {
    AodvParams::rfc()
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A node with a route to 9 over neighbour 2, `hops` hops long, sequence number 7, until 6 s after `now`. It
/// asked for the route itself, so nobody is a precursor.
fn with_route(params: &AodvParams, now: Time, hops: u8) -> Probe {
    let mut probe = start(params);
    probe.hear(now, 2, WHOLE, Message::Rrep(rrep(9, 7, ME.0, hops - 1)));
    probe
}

/// Likewise, and the route was given to neighbour 1, who asks for node 5 five hops away.
fn between(params: &AodvParams, now: Time, hops: u8) -> Probe {
    let mut probe = start(params);
    probe.hear(now, 1, WHOLE, Message::Rreq(rreq(1, 5, 3, 9, 4)));
    probe.hear(now, 2, WHOLE, Message::Rrep(rrep(9, 7, 5, hops - 1)));
    probe
}

fn is_drop(action: &Action, wanted: DropReason) -> bool {
    matches!(action, Action::Drop(_, reason) if *reason == wanted)
}

fn notices(actions: &[Action]) -> Vec<Notice> {
    let notices = actions.iter().filter_map(|action| match action {
        Action::Notify(notice) => Some(*notice),
        _ => None,
    });
    notices.collect()
}

/// Searches for 9 and returns when requests went out, in ms, and with what TTL; then when the packet died.
fn search(probe: &mut Probe) -> (Vec<(u64, u8)>, Option<u64>) {
    let first = probe.send(Time::ZERO, 9);
    let mut all: Vec<(Time, Action)> = first.into_iter().map(|action| (Time::ZERO, action)).collect();
    all.extend(probe.run_until(at(29.0)));
    let millis = |time: &Time| time.0 / 1_000_000;
    let sends = all.iter().flat_map(|(time, action)| {
        let ttls = requests(std::slice::from_ref(action)).into_iter().map(|(ttl, _)| ttl);
        ttls.map(|ttl| (millis(time), ttl)).collect::<Vec<_>>()
    });
    let died = all.iter().find(|(_, action)| is_drop(action, DropReason::NoRoute));
    (sends.collect(), died.map(|(time, _)| millis(time)))
}

#[test]
fn rings_grow_to_the_threshold_and_then_the_whole_network_is_asked_with_backoff() {
    // §6.4: RING_TRAVERSAL_TIME = 2 * 40 ms * (TTL + 2); §6.3: NET_TRAVERSAL_TIME = 2.8 s, then twice that.
    let (sends, died) = search(&mut start(&rfc()));
    assert_eq!(sends, [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35)]);
    assert_eq!(died, Some(10_320));
}

#[test]
fn without_rings_the_whole_network_is_asked_three_times() {
    // §6.3: RREQ_RETRIES additional attempts after the first, waits 2.8, 5.6 and 11.2 s.
    let params = AodvParams { expanding_ring: false, ..rfc() };
    let (sends, died) = search(&mut start(&params));
    assert_eq!(sends, [(0, 35), (2800, 35), (8400, 35)]);
    assert_eq!(died, Some(19_600));
}

#[test]
fn a_lost_route_is_sought_a_little_beyond_its_last_length() {
    // §6.4: TTL = hop count + TTL_INCREMENT, while the entry is remembered (DELETE_PERIOD is 15 s).
    let mut probe = with_route(&rfc(), Time::ZERO, 4);
    assert_eq!(requests(&probe.send(at(7.0), 9))[0].0, 6);
    let mut probe = with_route(&rfc(), Time::ZERO, 6);
    assert_eq!(requests(&probe.send(at(7.0), 9))[0].0, 35, "8 is beyond the threshold");
    let mut probe = with_route(&rfc(), Time::ZERO, 4);
    assert_eq!(requests(&probe.send(at(21.0), 9))[0].0, 1, "the length is forgotten 15 s after 6 s");
}

#[test]
fn each_request_has_a_new_id_and_a_new_own_number_and_asks_for_what_is_known() {
    // §6.1, §6.3.
    let mut probe = start(&rfc());
    let actions = probe.send(Time::ZERO, 9);
    assert_eq!(messages(&actions)[0].bytes, 20 + 24, "§5.1");
    let first = requests(&actions).remove(0).1;
    assert_eq!((first.id, first.origin_seqno, first.dst_seqno, first.hop_count), (1, 1, None, 0));
    let all: Vec<Action> = probe.run_until(at(0.3)).into_iter().map(|(_, action)| action).collect();
    let second = requests(&all).remove(0).1;
    assert_eq!((second.id, second.origin_seqno), (2, 2));
    // A route of number 7 that has expired is asked for with 8.
    let mut probe = with_route(&rfc(), Time::ZERO, 3);
    assert_eq!(requests(&probe.send(at(7.0), 9))[0].1.dst_seqno, Some(8));
}

#[test]
fn a_destination_answers_with_the_greater_number() {
    // §6.1, §6.6.1: hop count 0, lifetime MY_ROUTE_TIMEOUT.
    let mut probe = start(&rfc());
    let asked = Rreq { dst_seqno: Some(12), ..rreq(1, 5, 3, ME.0, 4) };
    let (to, answer) = replies(&probe.hear(at(1.0), 1, 9, Message::Rreq(asked))).remove(0);
    assert_eq!((to, answer.dst, answer.origin), (1, ME, NodeId(5)));
    assert_eq!((answer.dst_seqno, answer.hop_count, answer.lifetime), (12, 0, ms(6000)));
    let older = Rreq { dst_seqno: Some(4), ..rreq(2, 5, 4, ME.0, 4) };
    let (_, answer) = replies(&probe.hear(at(1.0), 1, 9, Message::Rreq(older))).remove(0);
    assert_eq!(answer.dst_seqno, 12, "its own number does not go back");
}

#[test]
fn a_request_leaves_a_route_back_that_lives_as_long_as_a_reply_may_take() {
    // §6.5: 2 * NET_TRAVERSAL_TIME - 2 * HopCount * NODE_TRAVERSAL_TIME = 5.6 s - 5 * 80 ms = 5.2 s.
    let mut probe = start(&rfc());
    probe.hear(at(1.0), 1, 9, Message::Rreq(rreq(1, 5, 3, 9, 4)));
    assert_eq!(probe.next_hop(Time(6_199_999_999), 5), Some(1));
    assert_eq!(probe.next_hop(at(6.2), 5), None);
    assert_eq!(probe.next_hop(at(3.9), 1), Some(1), "and one to the neighbour, for ACTIVE_ROUTE_TIMEOUT");
    assert_eq!(probe.next_hop(at(4.0), 1), None);
}

#[test]
fn a_request_is_passed_on_once_with_the_greatest_number_known() {
    // §6.5.
    let mut probe = with_route(&AodvParams { destination_only: true, ..rfc() }, at(1.0), 3);
    let asked = Rreq { dst_seqno: Some(9), ..rreq(1, 5, 3, 9, 4) };
    let actions = probe.hear(at(1.0), 1, 9, Message::Rreq(asked.clone()));
    let (ttl, passed) = requests(&actions).remove(0);
    assert_eq!((ttl, passed.hop_count, passed.dst_seqno), (8, 5, Some(9)));
    assert!(messages(&actions)[0].delay < ms(10));
    let again = probe.hear(at(1.5), 3, 9, Message::Rreq(asked));
    assert!(matches!(again[..], [Action::Consume(_)]), "seen within PATH_DISCOVERY_TIME");
    // §6.5: a number that this node knows to be greater takes the place of the one asked for.
    let unknown = Rreq { destination_only: true, ..rreq(2, 5, 4, 9, 4) };
    let passed = requests(&probe.hear(at(1.5), 1, 9, Message::Rreq(unknown))).remove(0).1;
    assert_eq!(passed.dst_seqno, Some(7));
}

#[test]
fn a_request_ends_with_its_time_to_live() {
    let mut probe = start(&rfc());
    let actions = probe.hear(at(1.0), 1, 1, Message::Rreq(rreq(1, 5, 3, 9, 4)));
    assert!(is_drop(&actions[0], DropReason::TtlExpired));
}

#[test]
fn a_node_on_the_way_answers_if_its_route_is_as_fresh_as_asked() {
    // §6.6 (ii), §6.6.2: hop count and remaining lifetime are those of its route.
    let mut probe = with_route(&rfc(), at(1.0), 3);
    let fresh = Rreq { dst_seqno: Some(7), ..rreq(1, 5, 3, 9, 4) };
    let actions = probe.hear(at(2.0), 1, 9, Message::Rreq(fresh));
    let (to, answer) = replies(&actions).remove(0);
    assert_eq!((to, answer.dst_seqno, answer.hop_count, answer.lifetime), (1, 7, 3, ms(5000)));
    assert!(requests(&actions).is_empty(), "an answered request is not passed on");
    let fresher = Rreq { dst_seqno: Some(8), ..rreq(2, 5, 4, 9, 4) };
    assert!(replies(&probe.hear(at(2.0), 1, 9, Message::Rreq(fresher))).is_empty());
    let destination_only = Rreq { destination_only: true, ..rreq(3, 5, 5, 9, 4) };
    assert!(replies(&probe.hear(at(2.0), 1, 9, Message::Rreq(destination_only))).is_empty());
}

#[test]
fn a_gratuitous_reply_tells_the_destination_the_way_back() {
    // §6.6.3.
    let mut probe = with_route(&rfc(), at(1.0), 3);
    let asked = Rreq { gratuitous: true, ..rreq(1, 5, 3, 9, 4) };
    let answers = replies(&probe.hear(at(2.0), 1, 9, Message::Rreq(asked)));
    let (to, told) = &answers[1];
    assert_eq!((*to, told.dst, told.origin), (2, NodeId(5), NodeId(9)));
    assert_eq!((told.dst_seqno, told.hop_count, told.lifetime), (3, 5, ms(5200)));
}

#[test]
fn a_reply_is_passed_on_if_it_made_the_route_better() {
    // §6.7, by the letter.
    let mut probe = start(&AodvParams { pass_known_rreps: false, ..rfc() });
    probe.hear(at(1.0), 1, 9, Message::Rreq(rreq(1, 5, 3, 9, 4)));
    let (to, passed) = replies(&probe.hear(at(1.1), 2, WHOLE, Message::Rrep(rrep(9, 7, 5, 2)))).remove(0);
    assert_eq!((to, passed.hop_count, passed.dst_seqno), (1, 3, 7));
    let same = probe.hear(at(1.2), 3, WHOLE, Message::Rrep(rrep(9, 7, 5, 2)));
    assert!(matches!(same[..], [Action::Consume(_)]));
    let shorter = probe.hear(at(1.2), 3, WHOLE, Message::Rrep(rrep(9, 7, 5, 1)));
    assert_eq!(replies(&shorter)[0].1.hop_count, 2);
    let nobody_asked = probe.hear(at(1.2), 3, WHOLE, Message::Rrep(rrep(9, 8, 6, 1)));
    assert!(is_drop(&nobody_asked[0], DropReason::NoRoute), "there is no route to originator 6");
}

/// A link breaks, which raises the destination's number by one, and its own reply to the next request has
/// just that number.
#[test]
fn a_destinations_own_reply_is_passed_on_after_a_break() {
    let mut probe = start(&rfc());
    for (now, request, number) in [(1.0, 1, 7), (3.0, 2, 8)] {
        probe.hear(at(now), 1, 9, Message::Rreq(rreq(request, 5, 3 + request, 2, 4)));
        let answers = replies(&probe.hear(at(now + 0.1), 2, WHOLE, Message::Rrep(rrep(2, number, 5, 0))));
        assert_eq!(answers.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [1], "number {number}");
        probe.fail_data(at(now + 1.0), 5, 2, 2, 5);
    }
}

/// §6.2, §6.7 (i): the way to a lost destination that is heard again has no valid sequence number: its reply
/// is taken whatever the hop count, and passed on; before that nobody is given the route, for its number may
/// be one that the destination never had.
#[test]
fn a_destination_that_was_heard_since_the_break_still_has_its_reply_passed_on() {
    let mut probe = start(&rfc());
    probe.hear(at(1.0), 1, 9, Message::Rreq(rreq(1, 5, 3, 2, 4)));
    probe.hear(at(1.1), 2, WHOLE, Message::Rrep(rrep(2, 7, 5, 0)));
    assert_eq!(errors(&probe.fail_data(at(2.0), 5, 2, 2, 5)), [(Some(1), vec![(2, 8)])]);
    // It asks for another node; that is a route to it.
    probe.hear(at(2.5), 2, 1, Message::Rreq(rreq(9, 8, 1, 77, 1)));
    assert_eq!(probe.next_hop(at(2.5), 2), Some(2));
    let passed = probe.hear(at(3.0), 1, 9, Message::Rreq(rreq(2, 5, 4, 2, 4)));
    assert_eq!((replies(&passed), requests(&passed)[0].1.dst_seqno), (vec![], Some(8)));
    let older = probe.hear(at(3.1), 4, WHOLE, Message::Rrep(rrep(2, 7, 5, 3)));
    assert_eq!(replies(&older), [], "an older number than is known");
    let answers = replies(&probe.hear(at(3.1), 2, WHOLE, Message::Rrep(rrep(2, 8, 5, 0))));
    assert_eq!(answers.iter().map(|(to, rrep)| (*to, rrep.dst_seqno)).collect::<Vec<_>>(), [(1, 8)]);
    // Now the number is the route's, and others are given it.
    let given = replies(&probe.hear(at(3.2), 1, 9, Message::Rreq(rreq(3, 5, 5, 2, 4))));
    assert_eq!(given.iter().map(|(to, rrep)| (*to, rrep.dst_seqno)).collect::<Vec<_>>(), [(1, 8)]);
    let again = replies(&probe.hear(at(3.3), 2, WHOLE, Message::Rrep(rrep(2, 8, 5, 0))));
    assert_eq!(again.iter().map(|(to, rrep)| (*to, rrep.dst_seqno)).collect::<Vec<_>>(), [(1, 8)]);
}

/// §6.11: a number that is not valid is not raised by a further break.
#[test]
fn a_destination_that_was_only_heard_breaks_with_the_number_that_it_had() {
    let mut probe = with_route(&rfc(), at(1.0), 1);
    probe.hear(at(1.0), 1, WHOLE, Message::Rreq(rreq(1, 5, 3, 9, 4)));
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    for (now, heard) in [(2.5, true), (3.0, false)] {
        if heard {
            probe.hear(at(now), 9, 1, Message::Rreq(rreq(9, 8, 1, 77, 1)));
        }
        probe.fail_data(at(now + 0.1), 5, 9, 9, 5);
        let asked = requests(&probe.hear(at(now + 0.2), 1, 9, Message::Rreq(rreq(now as u32, 5, 9, 9, 4))));
        let numbers: Vec<Option<u32>> = asked.iter().map(|(_, rreq)| rreq.dst_seqno).collect();
        assert_eq!(numbers, [Some(8)]);
    }
}

#[test]
fn buffered_packets_leave_in_order_when_the_reply_comes() {
    // §6.3.
    let mut probe = start(&rfc());
    for _ in 0..3 {
        probe.send(Time::ZERO, 9);
    }
    let actions = probe.hear(at(0.1), 2, WHOLE, Message::Rrep(rrep(9, 7, ME.0, 2)));
    assert_eq!(sent(&actions), [(2, ms(0)), (2, ms(10)), (2, ms(20))]);
    assert!(probe.run_until(at(20.0)).is_empty(), "the search is over");
}

#[test]
fn use_prolongs_the_routes_both_ways() {
    // §6.2: destination, next hop, source and previous hop live ACTIVE_ROUTE_TIMEOUT from now.
    let mut probe = between(&rfc(), at(1.0), 3);
    probe.relay(at(3.9), 5, 9, 1, 5);
    for (dst, next_hop) in [(9, 2), (2, 2), (5, 1), (1, 1)] {
        assert_eq!(probe.next_hop(at(6.8), dst), Some(next_hop), "route to {dst}");
    }
}

#[test]
fn a_break_is_told_to_a_single_precursor_alone() {
    // §6.11 case (i): number raised, unicast to the one precursor.
    let mut probe = between(&rfc(), at(1.0), 3);
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    assert_eq!(errors(&actions), [(Some(1), vec![(2, 0), (9, 8)])]);
    let gone = |dst| Notice::RouteFailed { dst: NodeId(dst), told: false };
    assert_eq!(notices(&actions), [gone(2), gone(9)]);
    assert!(actions.iter().any(|action| is_drop(action, DropReason::LinkFailure)));
    assert_eq!(actions.last(), Some(&Action::FlushQueue(NodeId(2))));
    assert_eq!(probe.next_hop(at(2.0), 9), None);
}

#[test]
fn a_break_is_broadcast_to_several_precursors_and_told_to_nobody_if_there_are_none() {
    // §6.11.
    let mut probe = between(&rfc(), at(1.0), 3);
    probe.hear(at(1.5), 3, 9, Message::Rreq(rreq(1, 6, 3, 9, 1)));
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    assert_eq!(errors(&actions), [(None, vec![(2, 0), (9, 8)])]);
    assert_eq!(messages(&actions)[0].ttl, 1);
    assert_eq!(messages(&actions)[0].bytes, 20 + 4 + 2 * 8);
    let mut alone = with_route(&rfc(), at(1.0), 3);
    assert!(errors(&alone.fail_data(at(2.0), 0, 9, 2, 0)).is_empty());
}

#[test]
fn a_route_error_counts_only_from_the_next_hop() {
    // §6.11 case (iii).
    let mut probe = between(&rfc(), at(1.0), 3);
    probe.hear(at(1.5), 3, 1, Message::Rerr(rerr(&[(9, 8)])));
    assert_eq!(probe.next_hop(at(1.5), 9), Some(2));
    let actions = probe.hear(at(1.5), 2, 1, Message::Rerr(rerr(&[(9, 12), (77, 3)])));
    assert_eq!(errors(&actions), [(Some(1), vec![(9, 12)])]);
    assert_eq!(notices(&actions), [Notice::RouteFailed { dst: NodeId(9), told: true }]);
    assert_eq!(probe.next_hop(at(1.5), 9), None);
}

#[test]
fn an_old_route_error_breaks_the_route_but_lowers_no_number() {
    let mut probe = between(&rfc(), at(1.0), 3);
    let actions = probe.hear(at(1.5), 2, 1, Message::Rerr(rerr(&[(9, 0)])));
    assert_eq!(errors(&actions), [(Some(1), vec![(9, 8)])]);
}

#[test]
fn a_route_that_comes_back_is_told() {
    let mut probe = between(&rfc(), at(1.0), 3);
    probe.hear(at(1.5), 2, 1, Message::Rerr(rerr(&[(9, 8)])));
    let actions = probe.hear(at(1.6), 3, WHOLE, Message::Rrep(rrep(9, 8, ME.0, 1)));
    assert_eq!(notices(&actions), [Notice::RouteFound { dst: NodeId(9) }]);
}

#[test]
fn a_packet_without_a_route_is_refused_to_the_neighbour_that_sent_it() {
    // §6.11 case (ii).
    let mut probe = start(&rfc());
    let actions = probe.relay(at(1.0), 5, 9, 1, 5);
    assert_eq!(errors(&actions), [(Some(1), vec![(9, 0)])]);
    assert!(is_drop(&actions[1], DropReason::NoRoute));
}

#[test]
fn ten_requests_a_second_and_the_eleventh_waits() {
    // §6.3, RREQ_RATELIMIT; 30 ms apart so that no ring times out meanwhile.
    let mut probe = start(&AodvParams { expanding_ring: false, ..rfc() });
    for number in 0..12u32 {
        let actions = probe.send(at(0.03 * f64::from(number)), 100 + number);
        assert_eq!(requests(&actions).len(), usize::from(number < 10));
    }
    let waited: Vec<(Time, Action)> = probe.run_until(at(1.5));
    assert_eq!(waited.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [at(1.0), at(1.03)]);
}

#[test]
fn ten_route_errors_a_second() {
    // §6.11, RERR_RATELIMIT.
    let mut probe = start(&rfc());
    let told = |probe: &mut Probe, time| errors(&probe.relay(time, 5, 9, 1, 5)).len();
    let count: usize = (0..15).map(|n| told(&mut probe, at(1.0 + 0.01 * f64::from(n)))).sum();
    assert_eq!(count, 10);
    assert_eq!(told(&mut probe, at(2.0)), 1);
}

fn repairing() -> AodvParams {
    AodvParams { local_repair: true, ..rfc() }
}

#[test]
fn a_near_destination_is_repaired_where_the_route_broke() {
    // §6.12: TTL = max(3 hops left, 0.5 * 5 hops to the source) + LOCAL_ADD_TTL, number raised.
    let mut probe = between(&repairing(), at(1.0), 3);
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    let (ttl, request) = requests(&actions).remove(0);
    assert_eq!((ttl, request.dst_seqno), (5, Some(8)));
    assert!(errors(&actions).is_empty());
    assert_eq!(probe.buffered(), 1);
    probe.relay(at(2.1), 5, 9, 1, 5);
    assert_eq!(probe.buffered(), 2, "packets wait during the repair");
    // The new route has 2 hops, no more than the old one: nothing to tell.
    let actions = probe.hear(at(2.2), 3, WHOLE, Message::Rrep(rrep(9, 8, ME.0, 1)));
    assert_eq!(sent(&actions), [(3, ms(0)), (3, ms(10))]);
    assert!(errors(&actions).is_empty());
}

#[test]
fn a_repaired_route_that_is_longer_is_told_with_the_n_flag() {
    // §6.12.
    let mut probe = between(&repairing(), at(1.0), 3);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    let actions = probe.hear(at(2.2), 3, WHOLE, Message::Rrep(rrep(9, 8, ME.0, 4)));
    let told = messages(&actions).into_iter().find_map(|out| match out.message {
        Message::Rerr(rerr) => Some((out.to, rerr.no_delete)),
        _ => None,
    });
    assert_eq!(told, Some((Some(1), true)));
    // A node that hears it keeps its route and passes it on.
    let mut upstream = between(&rfc(), at(1.0), 4);
    let repaired = crate::wire::aodv::Rerr { no_delete: true, ..rerr(&[(9, 8)]) };
    let actions = upstream.hear(at(2.3), 2, 1, Message::Rerr(repaired));
    assert_eq!(upstream.next_hop(at(2.3), 9), Some(2));
    assert_eq!(errors(&actions).len(), 1);
}

#[test]
fn a_repair_without_an_answer_ends_in_a_route_error() {
    // §6.12: after the discovery period, 2 * 40 ms * (5 + 2) = 560 ms.
    let mut probe = between(&repairing(), at(1.0), 3);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    let actions = probe.run_until(at(3.0));
    assert!(actions.iter().all(|(time, _)| *time == at(2.56)));
    let actions: Vec<Action> = actions.into_iter().map(|(_, action)| action).collect();
    assert_eq!(errors(&actions), [(Some(1), vec![(9, 8)])]);
    assert!(actions.iter().any(|action| is_drop(action, DropReason::LinkFailure)));
    assert_eq!(notices(&actions), [Notice::RouteFailed { dst: NodeId(9), told: false }]);
}

#[test]
fn a_far_destination_and_ones_own_packets_are_not_repaired() {
    // §6.12: MAX_REPAIR_TTL = 0.3 * 35 = 10 hops.
    let mut far = between(&repairing(), at(1.0), 11);
    assert!(requests(&far.fail_data(at(2.0), 5, 9, 2, 5)).is_empty());
    let mut near = between(&repairing(), at(1.0), 10);
    assert_eq!(requests(&near.fail_data(at(2.0), 5, 9, 2, 5)).len(), 1, "10 hops are near enough");
    let mut source = with_route(&repairing(), at(1.0), 3);
    assert!(requests(&source.fail_data(at(2.0), 0, 9, 2, 0)).is_empty());
}

#[test]
fn queued_packets_share_the_fate_of_the_one_that_failed() {
    let mut probe = between(&repairing(), at(1.0), 3);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    probe.flushed(at(2.0), data(50, 5, 9, 5), 2);
    assert_eq!(probe.buffered(), 2);
    let mut probe = between(&rfc(), at(1.0), 3);
    probe.fail_data(at(2.0), 5, 9, 2, 5);
    assert!(is_drop(&probe.flushed(at(2.0), data(50, 5, 9, 5), 2)[0], DropReason::LinkFailure));
}

#[test]
fn requests_from_a_neighbour_that_a_reply_could_not_reach_are_ignored() {
    // §6.8; BLACKLIST_TIMEOUT with rings is (3 + 1 + 2) * 2.8 s = 16.8 s (§10).
    let mut probe = start(&rfc());
    let lost = control(at(1.0), ME, NodeId(5), WHOLE, 40, Message::Rrep(rrep(0, 1, 5, 0)));
    let actions = probe.fail(at(1.0), lost, 1);
    assert!(is_drop(&actions[0], DropReason::LinkFailure));
    let ask = |probe: &mut Probe, time, id, from| {
        replies(&probe.hear(time, from, 9, Message::Rreq(rreq(id, 5, id, ME.0, 4)))).len()
    };
    assert_eq!(ask(&mut probe, at(17.7), 1, 1), 0);
    assert_eq!(ask(&mut probe, at(17.7), 1, 3), 1, "the same request by a better way");
    assert_eq!(ask(&mut probe, at(17.8), 2, 1), 1);
}

#[test]
fn replies_that_could_not_be_delivered_matter_to_the_blacklist_alone() {
    for blacklist in [false, true] {
        let params = Arc::new(AodvParams { blacklist, ..rfc() });
        let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
        assert_eq!(aodv::new(ME, &params, stream).takes_back_control(), blacklist);
    }
}

/// §5.4, §6.7, §6.8; NEXT_HOP_WAIT is 40 + 10 ms (§10).
#[test]
fn a_neighbour_that_does_not_acknowledge_a_reply_is_blacklisted() {
    let ask = |probe: &mut Probe, time, id| {
        replies(&probe.hear(time, 1, 9, Message::Rreq(rreq(id, 5, id, ME.0, 4))))
    };
    let params = AodvParams { rrep_ack: true, unicast_jitter_ms: 0.0, ..rfc() };
    let mut probe = start(&params);
    assert!(ask(&mut probe, at(1.0), 1)[0].1.acknowledge, "the A flag");
    assert_eq!(probe.hear(at(1.049), 1, 1, Message::RrepAck).len(), 1, "consumed");
    assert_eq!(probe.run_until(at(2.0)), []);
    assert_eq!(ask(&mut probe, at(2.0), 2).len(), 1);
    // Another neighbour's acknowledgement does not count.
    probe.hear(at(2.01), 3, 1, Message::RrepAck);
    assert_eq!(ask(&mut probe, at(2.04), 3).len(), 1, "not yet overdue");
    probe.run_until(at(2.05));
    assert_eq!(ask(&mut probe, at(2.06), 4), [], "the first reply was not acknowledged");
    assert_eq!(ask(&mut probe, at(18.849), 5), []);
    assert_eq!(ask(&mut probe, at(18.85), 6).len(), 1, "after BLACKLIST_TIMEOUT");
    assert!(!ask(&mut start(&rfc()), at(1.0), 1)[0].1.acknowledge);
}

#[test]
fn a_reply_with_the_a_flag_is_acknowledged_by_every_node() {
    // Whether or not it asks for acknowledgements itself, and whether or not the reply is of use.
    for number in [7, 6] {
        let mut probe = between(&AodvParams { pass_known_rreps: false, ..rfc() }, at(1.0), 3);
        let marked = Rrep { acknowledge: true, ..rrep(9, number + 1, 5, 4) };
        let out = messages(&probe.hear(at(1.1), 2, WHOLE, Message::Rrep(marked)));
        assert_eq!(
            (out[0].to, out[0].ttl, out[0].bytes, out[0].message.clone()),
            (Some(2), 1, 22, Message::RrepAck)
        );
        assert_eq!(out.len(), if number == 7 { 2 } else { 1 });
        if let Some(passed) = out.get(1) {
            assert!(
                matches!(&passed.message, Message::Rrep(rrep) if !rrep.acknowledge),
                "each hop for itself"
            );
        }
    }
    let plain =
        messages(&between(&rfc(), at(1.0), 3).hear(at(1.1), 2, WHOLE, Message::Rrep(rrep(9, 8, 5, 1))));
    assert_eq!(plain.len(), 1);
}

fn with_hello() -> AodvParams {
    AodvParams { hello: true, link_layer_feedback: false, ..rfc() }
}

#[test]
fn a_node_on_an_active_route_says_hello_each_second_unless_it_broadcasts() {
    // §6.9.
    let mut probe = with_route(&with_hello(), Time::ZERO, 3);
    assert!(probe.run_until(at(1.0)).is_empty(), "not on an active route yet");
    probe.send(at(1.0), 9);
    let hellos = probe.run_until(at(10.0));
    assert_eq!(hellos.len(), 3, "until ACTIVE_ROUTE_TIMEOUT after the last packet");
    let gaps = hellos.windows(2).map(|pair| pair[1].0.since(pair[0].0));
    assert!(gaps.into_iter().all(|gap| gap == ms(1000)));
    let out = messages(&[hellos[0].1.clone()]).remove(0);
    assert_eq!((out.to, out.ttl, out.bytes), (None, 1, 40));
    let Message::Hello(hello) = out.message else { panic!("a hello") };
    assert_eq!((hello.node, hello.lifetime), (ME, ms(2000)));
}

#[test]
fn a_neighbour_that_falls_silent_is_lost_after_two_hellos() {
    // §6.9: ALLOWED_HELLO_LOSS * HELLO_INTERVAL after its last packet of any kind.
    let mut probe = between(&with_hello(), at(1.0), 3);
    let hello = Hello { node: NodeId(2), seqno: 4, lifetime: ms(2000), heard: None };
    probe.hear(at(1.0), 2, 1, Message::Hello(hello));
    probe.relay(at(2.5), 9, 5, 2, 2);
    let all = probe.run_until(at(5.0));
    let told: Vec<(Time, usize)> =
        all.into_iter().map(|(time, action)| (time, errors(&[action]).len())).filter(|e| e.1 > 0).collect();
    assert_eq!(told, [(at(4.5), 1)]);
}

#[test]
fn without_feedback_a_failed_packet_is_only_dropped() {
    let mut probe = between(&with_hello(), at(1.0), 3);
    let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
    assert_eq!(actions.len(), 1);
    assert!(is_drop(&actions[0], DropReason::LinkFailure));
    assert_eq!(probe.next_hop(at(2.0), 9), Some(2));
}

#[test]
fn without_precursor_lists_every_break_is_broadcast() {
    let mut probe = with_route(&AodvParams { precursors: false, ..rfc() }, at(1.0), 3);
    assert_eq!(errors(&probe.fail_data(at(2.0), 0, 9, 2, 0)), [(None, vec![(2, 0), (9, 8)])]);
    let mut mute = between(&AodvParams { rerr: false, ..rfc() }, at(1.0), 3);
    assert!(errors(&mute.fail_data(at(2.0), 5, 9, 2, 5)).is_empty());
}

#[test]
fn after_a_reboot_a_node_listens_for_delete_period() {
    // §6.13; DELETE_PERIOD = 5 * 3 s.
    let mut probe = start(&rfc());
    probe.restart(at(100.0));
    let asked = Rreq { dst_seqno: Some(12), ..rreq(1, 5, 3, ME.0, 4) };
    assert!(messages(&probe.hear(at(101.0), 1, 9, Message::Rreq(asked))).is_empty());
    assert!(messages(&probe.hear(at(101.0), 1, 9, Message::Rreq(rreq(2, 5, 4, 9, 4)))).is_empty());
    // Data for others is refused by broadcast, and the wait begins anew.
    assert_eq!(errors(&probe.relay(at(102.0), 7, 8, 1, 1)), [(None, vec![(8, 0)])]);
    assert!(requests(&probe.send(at(103.0), 9)).is_empty());
    let all = probe.run_until(at(117.0));
    assert_eq!(all[0].0, at(117.0));
    let request = requests(&[all[0].1.clone()]).remove(0).1;
    assert_eq!(request.origin_seqno, 13, "its own number was learned from the request that it heard");
}

#[test]
fn data_ends_with_its_time_to_live_and_at_its_source() {
    let mut probe = between(&rfc(), at(1.0), 3);
    let mut old = data(50, 5, 9, 5);
    old.ttl = 1;
    assert!(is_drop(&probe.incoming(at(1.0), old, 1)[0], DropReason::TtlExpired));
    let back = probe.incoming(at(1.0), data(51, ME.0, 9, 5), 1);
    assert!(is_drop(&back[0], DropReason::RoutingLoop));
}

/// What AODV-UU does otherwise than the standard, beside it.
mod aodv_uu {
    use super::*;

    fn hello(node: u32, heard: Option<&[u32]>) -> Message {
        let heard = heard.map(|nodes| nodes.iter().map(|node| NodeId(*node)).collect());
        Message::Hello(Hello { node: NodeId(node), seqno: 4, lifetime: ms(2000), heard })
    }

    #[test]
    fn its_rings_and_waits_are_its_own() {
        // 2 * 40 ms * (TTL + 2), also for the two network-wide requests; then the search ends.
        let (sends, died) = search(&mut start(&AodvParams::aodv_uu_hello()));
        assert_eq!(sends, [(0, 2), (320, 4), (800, 6), (1440, 8), (2240, 35), (5200, 35)]);
        assert_eq!(died, Some(8160));
        let (sends, _) = search(&mut start(&AodvParams::aodv_uu_ll()));
        assert_eq!(sends, [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4880, 35)]);
    }

    #[test]
    fn idle_nodes_say_hello_too() {
        let mut probe = start(&AodvParams::aodv_uu_hello());
        let hellos = probe.run_until(at(10.0));
        assert_eq!(hellos.len(), 9, "the first interval counts from the start");
        let silent = AodvParams { hello_when_idle: false, ..AodvParams::aodv_uu_hello() };
        assert!(start(&silent).run_until(at(10.0)).is_empty());
    }

    #[test]
    fn a_neighbour_may_be_late_by_the_slack() {
        let mut probe = between(&AodvParams::aodv_uu_hello(), at(1.0), 3);
        probe.hear(at(1.0), 2, 1, hello(2, None));
        let lost_at = |probe: &mut Probe| {
            let all = probe.run_until(at(5.0)).into_iter();
            all.filter(|(_, action)| !errors(std::slice::from_ref(action)).is_empty())
                .map(|(time, _)| time)
                .next()
        };
        assert_eq!(lost_at(&mut probe), Some(at(3.05)), "allowed loss of 2 s and 50 ms");
    }

    #[test]
    fn a_neighbour_counts_after_so_many_hellos_in_a_row() {
        let mut probe = start(&AodvParams { hellos_before_neighbour: 3, ..with_hello() });
        for (time, known) in [(1.0, false), (2.0, false), (4.0, false), (5.0, false), (6.0, true)] {
            probe.hear(at(time), 2, 1, hello(2, None));
            assert_eq!(probe.next_hop(at(time), 2).is_some(), known, "{time} s");
        }
    }

    #[test]
    fn whoever_does_not_hear_the_node_is_no_neighbour() {
        let mut probe = start(&AodvParams { hello_two_way: true, ..with_hello() });
        let asks = |probe: &mut Probe, time, id| {
            !messages(&probe.hear(time, 2, 9, Message::Rreq(rreq(id, 5, 3, 9, 1)))).is_empty()
        };
        probe.run_until(at(1.0));
        probe.hear(at(1.0), 2, 1, hello(2, Some(&[7])));
        assert_eq!(probe.next_hop(at(1.0), 2), None);
        let own: Vec<_> = probe.run_until(at(2.0)).into_iter().map(|(_, action)| action).collect();
        let Message::Hello(own) = messages(&own).remove(0).message else { panic!("a hello") };
        assert_eq!(own.heard.as_deref(), Some(&[NodeId(2)][..]), "it names whom it hears");
        assert!(!asks(&mut probe, at(2.1), 1), "a request that could not be answered is not passed on");
        probe.hear(at(2.5), 2, 1, hello(2, Some(&[7, ME.0])));
        assert_eq!(probe.next_hop(at(2.5), 2), Some(2));
        assert!(asks(&mut probe, at(2.6), 2));
    }

    #[test]
    fn a_node_that_starts_again_takes_part_at_once() {
        let mut probe = start(&AodvParams::aodv_uu_ll());
        probe.restart(at(100.0));
        assert_eq!(requests(&probe.send(at(101.0), 9)).len(), 1);
    }

    #[test]
    fn replies_to_one_neighbour_are_jittered() {
        let mut probe = start(&AodvParams::aodv_uu_ll());
        let delays: Vec<Span> = (1..=50)
            .map(|id| {
                let asked = rreq(id, 5, id, ME.0, 1);
                messages(&probe.hear(at(f64::from(id)), 1, 9, Message::Rreq(asked)))[0].delay
            })
            .collect();
        assert!(delays.iter().all(|delay| *delay < ms(30)));
        assert!(delays.iter().any(|delay| *delay > ms(15)));
    }
}

#[test]
fn missing_hellos_are_repaired_like_a_failed_frame_if_others_send_through_the_node() {
    let repairing = AodvParams { local_repair: true, ..with_hello() };
    let lose = |mut probe: Probe| {
        let hello = Hello { node: NodeId(2), seqno: 4, lifetime: ms(2000), heard: None };
        probe.hear(at(1.0), 2, 1, Message::Hello(hello));
        let actions: Vec<Action> = probe.run_until(at(3.2)).into_iter().map(|(_, action)| action).collect();
        let told = actions
            .iter()
            .any(|action| matches!(action, Action::Notify(Notice::RouteFailed { dst, .. }) if dst.0 == 9));
        (probe, told)
    };
    let (mut probe, told) = lose(between(&repairing, at(1.0), 3));
    assert!(!told, "the route is not given up yet");
    assert_eq!(requests(&probe.relay(at(3.3), 5, 9, 1, 2)).len(), 1, "data for it is reason to repair it");
    let (_, told) = lose(with_route(&repairing, at(1.0), 3));
    assert!(told, "a source alone searches anew");
}
