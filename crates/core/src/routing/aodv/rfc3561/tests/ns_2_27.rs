//! What AODV-UU's port to ns-2.27 does otherwise than its parameter sets without it, rule by rule: each rule
//! beside the one that it replaces.

use super::*;
use crate::wire::tcp::Segment;
use crate::wire::{FlowId, Packet, Payload};

fn ll() -> AodvParams {
    AodvParams::set("aodv-uu-ll-2.27").expect("a set")
}

fn with_hellos() -> AodvParams {
    AodvParams::set("aodv-uu-hello-2.27").expect("a set")
}

fn hello(node: u32) -> Message {
    Message::Hello(Hello { node: NodeId(node), seqno: 4, lifetime: ms(2000), heard: None })
}

/// When hellos leave until then, in ms.
fn hellos(probe: &mut Probe, until: f64) -> Vec<u64> {
    let all = probe.run_until(at(until));
    let only = all.iter().filter(|(_, action)| {
        messages(std::slice::from_ref(action)).iter().any(|out| matches!(out.message, Message::Hello(_)))
    });
    only.map(|(time, _)| time.0 / 1_000_000).collect()
}

#[test]
fn the_last_ring_is_beyond_the_threshold() {
    let lost = |params: &AodvParams, hops| {
        let mut probe = with_route(params, Time::ZERO, hops);
        let (sends, _) = search_from(&mut probe, at(7.0));
        sends.into_iter().map(|(_, ttl)| ttl).collect::<Vec<_>>()
    };
    assert_eq!(lost(&ll(), 2), [4, 6, 8, 35, 35]);
    assert_eq!(lost(&AodvParams::aodv_uu_ll(), 2), [4, 6, 35, 35]);
    assert_eq!(lost(&ll(), 3), [5, 7, 35, 35]);
}

/// What a search for 9 that begins at `now` sends: when, in ms after that, and with what TTL.
fn search_from(probe: &mut Probe, now: Time) -> (Vec<(u64, u8)>, usize) {
    let first = probe.send(now, 9).into_iter().map(|action| (now, action));
    let all: Vec<(Time, Action)> = first.chain(probe.run_until(now + ms(20_000))).collect();
    let sends = all.iter().flat_map(|(time, action)| {
        let asked = requests(std::slice::from_ref(action)).into_iter();
        asked.map(|(ttl, _)| (time.since(now).0 / 1_000_000, ttl)).collect::<Vec<_>>()
    });
    (sends.collect(), probe.buffered())
}

#[test]
fn the_tenth_request_of_a_second_is_not_sent_and_its_search_goes_on() {
    let mut probe = start(&ll());
    let sent: Vec<usize> = (0..10).map(|dst| requests(&probe.send(Time::ZERO, 20 + dst)).len()).collect();
    assert_eq!(sent, [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    // Its first ring would have ended after 240 ms, and so it does. All nine places are taken until 1 s.
    let all = probe.run_until(at(0.9));
    assert!(all.iter().all(|(_, action)| requests(std::slice::from_ref(action)).is_empty()));
    let later: Vec<Action> = probe.run_until(at(1.3)).into_iter().map(|(_, action)| action).collect();
    let ttls: Vec<u8> = requests(&later).into_iter().map(|(ttl, _)| ttl).collect();
    assert_eq!(ttls, [7; 9], "at 1.2 s; the tenth is beyond the limit again");
    assert_eq!(probe.buffered(), 10);
    // Without the rule searches wait where they are, for the next request that may be sent.
    let mut waiting = start(&AodvParams { rreq_limit_drops: false, ..ll() });
    (0..10).for_each(|dst| drop(waiting.send(Time::ZERO, 20 + dst)));
    let turn: Vec<Action> = waiting.run_until(at(1.0)).into_iter().map(|(_, action)| action).collect();
    assert_eq!(requests(&turn).into_iter().map(|(ttl, _)| ttl).collect::<Vec<_>>(), [3; 9]);
}

#[test]
fn requests_that_are_passed_on_count_and_are_not_passed_on_beyond_the_limit() {
    let passed = |params: &AodvParams| {
        let mut probe = start(params);
        let ask = |id| Message::Rreq(rreq(id, 5, id, 9, 1));
        let passed = (1..=11).filter(|id| !requests(&probe.hear(at(1.0), 1, 9, ask(*id))).is_empty()).count();
        (passed, requests(&probe.send(at(1.5), 9)).len(), requests(&probe.send(at(2.0), 8)).len())
    };
    assert_eq!(passed(&ll()), (9, 0, 1));
    assert_eq!(passed(&AodvParams::aodv_uu_ll()), (11, 1, 1));
}

#[test]
fn a_tcp_segment_asks_for_a_gratuitous_reply_and_its_ack_does_not() {
    let asks = |params: &AodvParams, segment: Segment| {
        let mut probe = start(params);
        let packet = Packet { payload: Payload::Tcp(FlowId(0).into(), segment), ..data(50, ME.0, 9, 0) };
        let mut all: Vec<Action> = probe.go_on(Time::ZERO, packet);
        all.extend(probe.run_until(at(0.3)).into_iter().map(|(_, action)| action));
        requests(&all).into_iter().map(|(_, rreq)| rreq.gratuitous).collect::<Vec<_>>()
    };
    let segment =
        || Segment::Data { number: 1, payload: 600, sent: Time::ZERO, retransmission: false, cwr: false };
    let ack = || Segment::Ack { next: 2, sack: Default::default(), signs: Default::default() };
    assert_eq!(asks(&ll(), segment()), [true, true], "each request of the search");
    assert_eq!(asks(&ll(), ack()), [false, false]);
    assert_eq!(asks(&AodvParams::aodv_uu_ll(), segment()), [false, false]);
}

/// A reply came from 2 and went to 1; data goes either way, and the link back to 1 breaks.
#[test]
fn a_failure_of_the_route_back_is_told_to_where_the_reply_came_from() {
    let told = |params: &AodvParams| {
        let mut probe = between(params, at(1.0), 3);
        errors(&probe.fail_data(at(2.0), 9, 5, 1, 2))
    };
    assert_eq!(told(&ll()), [(Some(2), vec![(5, 4)])]);
    assert_eq!(told(&AodvParams::aodv_uu_ll()), []);
}

#[test]
fn a_frame_that_fails_on_a_link_its_route_has_left_breaks_nothing() {
    let fail = |params: &AodvParams| {
        let mut probe = between(params, at(1.0), 3);
        // A shorter route to 9 over 3; the routes to 2 and 5 stay.
        probe.hear(at(1.5), 3, WHOLE, Message::Rrep(rrep(9, 7, 5, 1)));
        let actions = probe.fail_data(at(2.0), 5, 9, 2, 5);
        assert!(actions.iter().any(|action| is_drop(action, DropReason::LinkFailure)));
        let flushes = actions.iter().any(|action| matches!(action, Action::FlushQueue(_)));
        (probe.next_hop(at(2.0), 2), flushes)
    };
    assert_eq!(fail(&ll()), (Some(2), false));
    assert_eq!(fail(&AodvParams::aodv_uu_ll()), (None, true));
}

#[test]
fn a_frame_without_route_breaks_nothing_but_takes_the_queue_with_it() {
    let mut probe = between(&ll(), at(1.0), 3);
    let actions = probe.fail_data(at(2.0), 5, 77, 2, 5);
    assert!(is_drop(&actions[0], DropReason::LinkFailure));
    assert!(matches!(actions[1..], [Action::FlushQueue(NodeId(2))]));
    assert_eq!(probe.next_hop(at(2.0), 9), Some(2));
}

#[test]
fn a_frame_that_fails_while_its_destination_is_sought_waits_for_the_answer() {
    let fail = |params: &AodvParams| {
        let mut probe = start(params);
        probe.hear(at(1.0), 2, WHOLE, Message::Rrep(rrep(8, 7, ME.0, 1)));
        probe.send(at(1.0), 9);
        let actions = probe.fail_data(at(1.1), ME.0, 9, 2, 0);
        (actions.is_empty(), probe.buffered(), probe.next_hop(at(1.1), 8))
    };
    assert_eq!(fail(&ll()), (true, 2, Some(2)));
    assert_eq!(fail(&AodvParams::aodv_uu_ll()), (false, 1, None));
    let mut probe = start(&ll());
    probe.send(at(1.0), 9);
    probe.fail_data(at(1.1), ME.0, 9, 2, 0);
    let released = probe.hear(at(1.2), 3, WHOLE, Message::Rrep(rrep(9, 7, ME.0, 1)));
    assert_eq!(sent(&released), [(3, ms(0)), (3, ms(5))]);
}

#[test]
fn hellos_begin_after_one_interval_and_follow_the_last_broadcast() {
    let mut probe = start(&with_hellos());
    assert_eq!(hellos(&mut probe, 2.5), [1000, 2000]);
    // A request of another is passed on at 2.6 s, and leaves after up to 20 ms.
    let passed = messages(&probe.hear(at(2.6), 1, 9, Message::Rreq(rreq(1, 5, 3, 9, 4))));
    assert!(passed[0].delay < ms(20));
    assert_eq!(hellos(&mut probe, 5.0), [3600, 4600]);
}

#[test]
fn data_does_not_keep_a_neighbour_whose_hellos_are_missing() {
    let lost_at = |params: &AodvParams, heard: &dyn Fn(&mut Probe)| {
        let mut probe = between(params, at(1.0), 3);
        probe.hear(at(1.0), 2, 1, hello(2));
        heard(&mut probe);
        let all = probe.run_until(at(6.0));
        let told = all.into_iter().filter(|(_, action)| !errors(std::slice::from_ref(action)).is_empty());
        told.map(|(time, _)| time.0 / 1_000_000).collect::<Vec<_>>()
    };
    let data = |probe: &mut Probe| drop(probe.relay(at(2.5), 9, 5, 2, 2));
    let message = |probe: &mut Probe| drop(probe.hear(at(2.5), 2, 9, Message::Rreq(rreq(7, 2, 5, 66, 0))));
    assert_eq!(lost_at(&with_hellos(), &data), [3050]);
    assert_eq!(lost_at(&with_hellos(), &message), [4550]);
    assert_eq!(lost_at(&AodvParams::aodv_uu_hello(), &data), [4550]);
}

#[test]
fn messages_to_one_neighbour_leave_at_once() {
    let mut probe = start(&ll());
    let answered = messages(&probe.hear(at(1.0), 1, 9, Message::Rreq(rreq(1, 5, 1, ME.0, 1))));
    assert_eq!((answered[0].to, answered[0].delay), (Some(1), ms(0)));
}
