//! Flow state, and what else ns-2.35 does that the standard does not, step by step on a virtual clock.

use smallvec::SmallVec;

use super::DsrParams;
use super::probe::{ME, Probe, Sent, only, plain, sent};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::routing::Action;
use crate::routing::testbench::at;
use crate::wire::dsr::{FlowMark, Header, LinkError, UnknownFlow};
use crate::wire::{NodeId, Packet, RoutingHeader};

fn ns_2() -> DsrParams {
    DsrParams::ns_2_35()
}

fn with_header(packet: Packet, change: impl FnOnce(&mut Header)) -> Packet {
    let mut header = packet.dsr().expect("a header").clone();
    change(&mut header);
    let mut packet = packet;
    packet.put_header(RoutingHeader::Dsr(header));
    packet
}

/// A packet that establishes the flow `id` along `nodes`.
fn establishing(probe: &mut Probe, id: u16, nodes: &[u32]) -> Packet {
    with_header(probe.on_route(nodes), |header| header.flow = Some(FlowMark::Establishes(id)))
}

/// A packet from 5 to 9 that says no more of its way than this.
fn marked(probe: &mut Probe, mark: FlowMark) -> Packet {
    with_header(probe.on_route(&[5, 9]), |header| {
        header.flow = Some(mark);
        header.route.clear();
    })
}

fn marks(all: &[Sent]) -> Vec<(Option<FlowMark>, Vec<u32>)> {
    all.iter().map(|sent| (sent.header().flow, sent.route())).collect()
}

fn dropped(actions: &[Action]) -> Vec<DropReason> {
    let reason = |action: &Action| if let Action::Drop(_, reason) = action { Some(*reason) } else { None };
    actions.iter().filter_map(reason).collect()
}

/// A node that knows a way to 9, and what it sends there at these times.
fn source(routes: &[&[u32]], times: &[f64]) -> (Probe, Vec<Sent>) {
    let mut probe = Probe::new(&ns_2());
    for route in routes {
        probe.reply(at(0.5), route);
    }
    let out = times.iter().map(|time| only(&probe.send(at(*time), 9))).collect();
    (probe, out)
}

/// §3.5.1, §3.5.2: the source route of two hops takes 12 bytes, the flow and its time-out 8.
#[test]
fn three_packets_establish_a_flow_and_others_carry_nothing() {
    let (_, out) = source(&[&[ME, 2, 9]], &[1.0, 1.1, 1.2, 1.3, 6.2, 6.3, 6.4]);
    let carried: Vec<(Option<FlowMark>, u32)> =
        out.iter().map(|sent| (sent.header().flow, sent.packet.bytes)).collect();
    let (full, bare) = ((Some(FlowMark::Establishes(1)), 532 + 12 + 8), (Some(FlowMark::Default), 532));
    assert_eq!(carried, [full, full, full, bare, bare, full, bare], "again after more than 5 s");
    assert!(out.iter().all(|sent| sent.to == Some(2)));
}

#[test]
fn without_flow_state_every_packet_carries_its_source_route() {
    let mut probe = Probe::new(&DsrParams { flow_state: false, ..ns_2() });
    probe.reply(at(0.5), &[ME, 2, 9]);
    for _ in 0..5 {
        let sent = only(&probe.send(at(1.0), 9));
        assert_eq!((sent.header().flow, sent.route()), (None, vec![ME, 2, 9]));
    }
}

/// A flow that is at most as long as the cached route is kept; over a shorter route a new one begins, which
/// becomes the default; the packets of the older one then carry its number.
#[test]
fn a_shorter_route_is_another_flow() {
    let (mut probe, _) = source(&[&[ME, 4, 6, 9]], &[1.0, 1.0, 1.0, 1.0]);
    probe.reply(at(2.0), &[ME, 2, 9]);
    let other = only(&probe.send(at(2.1), 9));
    assert_eq!(marks(&[other]), [(Some(FlowMark::Establishes(3)), vec![ME, 2, 9])]);
    probe.reply(at(2.2), &[ME, 3, 9]);
    assert_eq!(only(&probe.send(at(2.3), 9)).route(), [ME, 2, 9], "the default flow is as short");
    let error = probe.error_packet(&[(5, 2, 9), (5, 3, 9)], &[7, ME]);
    probe.receive(at(2.4), error);
    let back = only(&probe.send(at(2.5), 9));
    assert_eq!((back.header().flow, back.route(), back.to), (Some(FlowMark::Member(1)), vec![], Some(4)));
    assert_eq!(back.packet.bytes, 532 + 4);
}

#[test]
fn a_flow_that_rested_for_a_minute_begins_anew() {
    let (_, out) = source(&[&[ME, 2, 9]], &[1.0, 1.0, 1.0, 61.0, 121.1]);
    let flows: Vec<_> = out.iter().map(|sent| sent.header().flow).collect();
    let first = Some(FlowMark::Establishes(1));
    assert_eq!(flows, [first, first, first, first, Some(FlowMark::Establishes(3))]);
}

#[test]
fn a_node_on_the_way_forwards_what_belongs_to_a_known_flow() {
    let mut probe = Probe::new(&ns_2());
    let first = establishing(&mut probe, 7, &[5, 3, ME, 2, 9]);
    let ttl = first.ttl;
    let on = only(&probe.receive(at(1.0), first));
    assert_eq!((on.to, on.route()), (Some(2), vec![5, 3, ME, 2, 9]));
    for mark in [FlowMark::Member(7), FlowMark::Default] {
        let packet = marked(&mut probe, mark);
        let on = only(&probe.receive(at(100.0), packet));
        assert_eq!((on.to, on.packet.ttl, on.header().flow), (Some(2), ttl - 1, Some(mark)));
    }
    // An older flow does not take the place of the default one; numbers go round.
    for (id, default) in [(5, 2), (9, 4), (65_531, 4)] {
        let packet = establishing(&mut probe, id, &[5, 3, ME, 4, 9]);
        probe.receive(at(101.0), packet);
        let packet = marked(&mut probe, FlowMark::Default);
        assert_eq!(only(&probe.receive(at(101.0), packet)).to, Some(default), "after {id}");
    }
}

/// The packet is salvaged, and its source told, by a packet that is itself the first of a flow.
#[test]
fn a_flow_that_is_not_known_is_reported_and_its_packet_salvaged() {
    let unknown = |mark: FlowMark, ttl_off: u8| {
        let mut probe = Probe::new(&ns_2());
        probe.reply(at(0.5), &[ME, 4, 9]);
        probe.reply(at(0.5), &[ME, 3, 5]);
        let first = establishing(&mut probe, 7, &[5, 3, ME, 2, 9]);
        probe.receive(at(1.0), first);
        let packet = marked(&mut probe, mark);
        let ttl = packet.ttl - ttl_off;
        sent(&probe.receive(at(2.0), Packet { ttl, ..packet }))
    };
    for (mark, ttl_off, id) in [(FlowMark::Member(9), 0, Some(9)), (FlowMark::Default, 1, None)] {
        let out = unknown(mark, ttl_off);
        let [salvaged, error] = &out[..] else { panic!("{out:?}") };
        assert_eq!((salvaged.header().salvaged, salvaged.header().flow), (1, None));
        assert_eq!(salvaged.route()[0], ME);
        assert_eq!((error.packet.dst, error.route()), (NodeId(5), vec![ME, 3, 5]));
        let told = UnknownFlow { src: NodeId(5), dst: NodeId(9), id };
        assert_eq!(
            (&error.header().unknown_flows[..], error.header().flow),
            (&[told][..], Some(FlowMark::Establishes(1)))
        );
    }
}

/// ns-2.35 acts on a number only: what it hears of default flows changes nothing.
#[test]
fn a_source_that_hears_of_an_unknown_flow_establishes_it_again() {
    for (id, next) in [(Some(1), Some(FlowMark::Establishes(1))), (None, Some(FlowMark::Default))] {
        let (mut probe, _) = source(&[&[ME, 2, 9]], &[1.0; 4]);
        let error = probe.error_packet(&[], &[2, ME]);
        let told = UnknownFlow { src: NodeId(ME), dst: NodeId(9), id };
        let error = with_header(error, |header| header.unknown_flows = SmallVec::from_elem(told, 1));
        assert!(matches!(probe.receive(at(1.5), error)[..], [Action::Consume(_)]));
        let flows: Vec<_> = (0..4).map(|_| only(&probe.send(at(2.0), 9)).header().flow).collect();
        assert_eq!(flows, [next, next, next, Some(FlowMark::Default)]);
    }
}

/// The message goes on to the others that it is for.
#[test]
fn nested_messages_about_flows_are_unwrapped() {
    let (mut probe, _) = source(&[&[ME, 2, 9], &[ME, 4, 5]], &[1.0]);
    let error = probe.error_packet(&[], &[2, ME]);
    let told = |src| UnknownFlow { src: NodeId(src), dst: NodeId(9), id: Some(1) };
    let error = with_header(error, |header| header.unknown_flows = [told(5), told(ME)].into_iter().collect());
    let on = only(&probe.receive(at(1.5), error));
    assert_eq!((on.packet.src, on.packet.dst), (NodeId(ME), NodeId(5)));
    assert_eq!(on.header().unknown_flows[..], [told(5)]);
}

#[test]
fn a_packet_of_a_flow_that_cannot_be_delivered_gets_its_source_route_back() {
    let (mut probe, mut out) = source(&[&[ME, 2, 9], &[ME, 4, 6, 9]], &[1.0; 4]);
    let last = out.remove(3);
    assert_eq!(last.header().flow, Some(FlowMark::Default));
    let again = only(&probe.fail(at(1.5), last.packet, 2));
    assert_eq!((again.header().flow, again.route()), (Some(FlowMark::Establishes(3)), vec![ME, 4, 6, 9]));
    assert_eq!(probe.next_hop(at(1.5), 2), None);

    let mut probe = Probe::new(&ns_2());
    probe.reply(at(0.5), &[ME, 4, 9]);
    let first = establishing(&mut probe, 7, &[5, 3, ME, 2, 9]);
    probe.receive(at(1.0), first);
    let packet = marked(&mut probe, FlowMark::Member(7));
    let out = sent(&probe.fail(at(1.5), packet, 2));
    let [salvaged, error] = &out[..] else { panic!("{out:?}") };
    assert_eq!((salvaged.route(), salvaged.header().flow), (vec![ME, 4, 9], None));
    let told = LinkError { tell: NodeId(5), from: NodeId(ME), to: NodeId(2) };
    assert_eq!((error.route(), &error.header().errors[..]), (vec![ME, 3, 5], &[told][..]));
}

/// ns-2.35: its link is not taken for broken then.
#[test]
fn a_packet_whose_flow_has_ended_meanwhile_is_lost() {
    let (mut probe, mut out) = source(&[&[ME, 2, 9]], &[1.0; 4]);
    let error = probe.error_packet(&[(ME, 2, 9)], &[2, ME]);
    probe.receive(at(1.2), error);
    let actions = probe.fail(at(1.5), out.remove(3).packet, 2);
    assert_eq!((dropped(&actions), actions.len()), (vec![DropReason::LinkFailure], 1));
    assert_eq!(probe.next_hop(at(1.5), 2), Some(2));
}

#[test]
fn nothing_is_learned_from_a_packet_of_a_flow() {
    let mut probe = Probe::new(&ns_2());
    let packet = with_header(probe.on_route(&[5, 3, 4, 9]), |header| {
        header.flow = Some(FlowMark::Default);
        header.route.clear();
    });
    assert!(probe.overhear(at(1.0), &packet, 3, 4).is_empty());
    assert_eq!(probe.next_hop(at(1.0), 9), None);
    // It is not remembered either: the same packet, salvaged, is heard as a new one.
    let salvaged = with_header(packet, |header| {
        header.flow = None;
        header.route = [4, 7, 9].map(NodeId).into_iter().collect();
    });
    probe.overhear(at(1.1), &salvaged, 4, 7);
    assert_eq!(probe.next_hop(at(1.1), 9), Some(4));
}

/// §3.4.4 has errors spread by the node that they were sent to. In ns-2.35 it need not have come yet.
#[test]
fn an_overheard_error_to_this_node_is_handled_as_if_it_had_come() {
    for (params, spread) in [(ns_2(), 1), (DsrParams { handle_overheard_errors: false, ..ns_2() }, 0)] {
        let mut probe = Probe::new(&params);
        let error = probe.error_packet(&[(ME, 2, 9)], &[2, 7, ME]);
        assert!(sent(&probe.overhear(at(1.0), &error, 2, 7)).is_empty());
        assert_eq!(only(&probe.send(at(1.1), 8)).header().errors.len(), spread);
    }
}

#[test]
fn an_overheard_nested_error_is_unwrapped_then_and_on_arrival() {
    let mut probe = Probe::new(&ns_2());
    probe.reply(at(0.5), &[ME, 4, 5]);
    let error = probe.error_packet(&[(5, ME, 9), (ME, 2, 5)], &[2, 7, ME]);
    let inner = LinkError { tell: NodeId(5), from: NodeId(ME), to: NodeId(9) };
    let first = only(&probe.overhear(at(1.0), &error, 2, 7));
    assert_eq!((first.packet.uid, first.packet.dst), (Packet::UNNUMBERED, NodeId(5)));
    let second = only(&probe.receive(at(1.1), error));
    for unwrapped in [first, second] {
        assert_eq!((&unwrapped.header().errors[..], unwrapped.route()), (&[inner][..], vec![ME, 4, 5]));
        assert_eq!(unwrapped.header().flow, None, "errors about links carry their source route");
    }
}

/// Does a node that has overheard the nested error learn from the inner one, which another node sends on?
#[test]
fn an_unwrapped_copy_of_an_overheard_error_is_no_news_to_those_who_heard_that_error() {
    let apart = DsrParams { unwrapped_copies_count_as_heard: false, ..ns_2() };
    for (params, known) in [(ns_2(), Some(7)), (apart, None)] {
        let mut probe = Probe::new(&params);
        probe.reply(at(0.5), &[ME, 4, 5]);
        let nested = probe.error_packet(&[(5, 3, 9), (ME, 2, 5)], &[2, 7, ME]);
        let copy = only(&probe.overhear(at(1.0), &nested, 2, 7)).packet;

        let mut other = Probe::new(&params);
        other.overhear(at(1.0), &nested, 2, 7);
        other.reply(at(1.1), &[ME, 7, 3, 9]);
        other.overhear(at(1.2), &Packet { uid: 1_000_000, src: NodeId(6), ..copy }, 6, 4);
        assert_eq!(other.next_hop(at(1.3), 9), known);
    }
}

/// What becomes of the reply of 9 to 5 that offers these nodes, comes along 9 → ME → 2 → 6 → 5 and is taken
/// out of the queue for 2: the route along which it is sent again, or the reason of its end.
fn queued_reply(params: &DsrParams, offered: &[u32]) -> Result<Vec<u32>, DropReason> {
    let mut probe = Probe::new(params);
    probe.reply(at(0.5), &[ME, 4, 5]);
    let failed = probe.on_route(&[8, ME, 2, 7]);
    probe.fail(at(1.0), failed, 2);
    let reply = probe.reply_packet(offered, &[9, ME, 2, 6, 5]);
    let actions = probe.flushed(at(1.0), reply, 2);
    match (&sent(&actions)[..], &dropped(&actions)[..]) {
        ([again], []) => {
            assert_eq!((again.reply(), again.header().salvaged), (offered.to_vec(), 1));
            Ok(again.route())
        }
        ([], [reason]) => Err(*reason),
        _ => panic!("{actions:?}"),
    }
}

/// The link that failed is ME → 2. In ns-2.35 replies that waited for it are checked for ME → 6, past the
/// next hop on their way, and the one whose transmission failed for ME → 2.
#[test]
fn in_the_ns_2_set_queued_replies_are_checked_for_a_link_past_the_next_hop() {
    let checked = DsrParams { check_queued_replies: true, ..ns_2() };
    let (salvaged, dropped) = (Ok(vec![ME, 4, 5]), Err(DropReason::LinkFailure));
    for (offered, of_ns_2, of_checked) in [
        (&[5, 3, 2, ME, 9][..], &salvaged, &dropped),
        (&[5, 3, ME, 2, 9], &salvaged, &dropped),
        (&[5, 6, 2, ME, 9], &salvaged, &dropped),
        (&[5, 6, ME, 9], &dropped, &salvaged),
        (&[5, ME, 6, 9], &dropped, &salvaged),
        (&[5, 6, ME, 2, 9], &dropped, &dropped),
        (&[5, 6, 2, 9], &salvaged, &salvaged),
    ] {
        assert_eq!(&queued_reply(&ns_2(), offered), of_ns_2, "{offered:?} in the set");
        assert_eq!(&queued_reply(&checked, offered), of_checked, "{offered:?}, checked");
    }
}

/// There is no node past the last one.
#[test]
fn in_the_ns_2_set_a_queued_reply_whose_next_hop_is_its_end_is_salvaged() {
    for (params, salvaged) in [(ns_2(), 1), (DsrParams { check_queued_replies: true, ..ns_2() }, 0)] {
        let mut probe = Probe::new(&params);
        let failed = probe.on_route(&[8, ME, 5, 7]);
        probe.fail(at(1.0), failed, 5);
        probe.reply(at(1.0), &[ME, 4, 5]);
        let reply = probe.reply_packet(&[5, ME, 9], &[9, ME, 5]);
        assert_eq!(sent(&probe.flushed(at(1.0), reply, 5)).len(), salvaged);
    }
}

#[test]
fn inner_errors_for_the_same_node_are_left_out_of_what_goes_on() {
    let mut probe = Probe::new(&DsrParams::default());
    probe.reply(at(0.5), &[ME, 4, 5]);
    let error = probe.error_packet(&[(5, ME, 9), (ME, 3, 8), (ME, 2, 5)], &[2, ME]);
    let on = only(&probe.receive(at(1.0), error));
    let inner = LinkError { tell: NodeId(5), from: NodeId(ME), to: NodeId(9) };
    assert_eq!((on.packet.dst, &on.header().errors[..]), (NodeId(5), &[inner][..]));
    let request = only(&probe.send(at(1.1), 8));
    assert_eq!((request.header().errors[0].from, request.header().errors[0].to), (NodeId(3), NodeId(8)));
}

#[test]
fn what_a_look_at_the_buffer_releases_leaves_at_once() {
    for (params, gap) in [(ns_2(), 0), (DsrParams { space_all_releases: true, ..ns_2() }, 30)] {
        let mut probe = Probe::new(&params);
        (0..3).for_each(|_| drop(probe.send(at(1.0), 9)));
        let packet = probe.on_route(&[5, 3, 4, 9]);
        probe.overhear(at(1.01), &packet, 3, 4);
        let out: Vec<(Time, Sent)> = probe.sent_until(at(1.1));
        let delays: Vec<Span> = out.iter().map(|(_, sent)| sent.delay).collect();
        assert_eq!(delays, [0, gap, 2 * gap].map(Span::from_millis));
    }
}

/// With room for one path that the node asked for, the way of its own reply is still known from the other
/// part of the cache.
#[test]
fn a_target_learns_from_its_own_reply() {
    for (params, known) in [(ns_2(), Some(3)), (DsrParams { learn_own_replies: false, ..ns_2() }, None)] {
        let mut probe = Probe::new(&DsrParams { primary_paths: 1, ..params });
        probe.request(at(1.0), 7, ME, &[5, 3], 16);
        probe.reply(at(1.1), &[ME, 4, 9]);
        assert_eq!(probe.next_hop(at(1.1), 5), known);
    }
}

/// ns-2.35 writes the time of a new route into the place after its own.
#[test]
fn gratuitous_replies_are_held_back_by_route() {
    let mut probe = Probe::new(&ns_2());
    let mut hear = |now: f64, nodes: &[u32]| {
        let packet = probe.on_route(nodes);
        let out = sent(&probe.overhear(at(now), &packet, 3, 4));
        out.first().map(|sent| plain(sent.header().reply.as_ref().expect("a reply")))
    };
    let (one, other) = ([5, 3, 4, 6, ME, 9], [5, 3, 4, 7, ME, 9]);
    assert_eq!(hear(10.0, &one), Some(vec![5, 3, ME, 9]));
    assert_eq!(hear(10.1, &one), Some(vec![5, 3, ME, 9]), "its time is not where it is looked for");
    assert_eq!(hear(10.2, &one), None);
    assert_eq!(hear(10.3, &other), Some(vec![5, 3, ME, 9]), "another route of the same user");
    assert_eq!(hear(10.4, &other), None, "the time of the first route was written here");
    assert_eq!(hear(11.1, &one), Some(vec![5, 3, ME, 9]));
}

/// Lengths as in traces of ns-2.35: requests of 32 bytes at their source have 48, 68 and 92 bytes at the
/// next three nodes. By the standard each node adds an address.
#[test]
fn a_request_on_its_way_keeps_the_length_of_all_headers_that_it_had() {
    for (params, lengths) in [(ns_2(), [48, 68, 92]), (plain_lengths(), [36, 40, 44])] {
        let mut packet = None;
        let mut passed = vec![3];
        for (hop, bytes) in lengths.into_iter().enumerate() {
            let mut probe = Probe::new(&params);
            let actions = match packet.take() {
                None => probe.request(at(1.0), 1, 9, &passed, 15),
                Some(request) => probe.receive(
                    at(1.0),
                    with_header(request, |header| {
                        // Another node of the same number: what it calls itself does not matter for lengths.
                        *header.route.last_mut().expect("a route") = NodeId(20 + hop as u32);
                    }),
                ),
            };
            let on = only(&actions);
            assert_eq!(on.packet.bytes, bytes, "after {passed:?}");
            passed.push(20);
            packet = Some(on.packet);
        }
    }
}

fn plain_lengths() -> DsrParams {
    DsrParams { keep_stale_header_bytes: false, ..ns_2() }
}

/// Traces of ns-2.35: after waiting for a route a packet has the header of 20 bytes that it came with and 16
/// for the route of four nodes that it got. One that is salvaged at once has only the latter.
#[test]
fn a_packet_that_waited_to_be_salvaged_keeps_the_length_of_its_old_route() {
    for (params, kept) in [(ns_2(), 4 + 4 * 4), (plain_lengths(), 0)] {
        let mut probe = Probe::new(&params);
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        let bare = packet.bytes - (4 + 4 * 4);
        probe.fail(at(1.0), packet, 2);
        let found = probe.reply_packet(&[ME, 4, 6, 9], &[9, 6, 4, ME]);
        let salvaged = only(&probe.receive(at(1.01), found));
        assert_eq!((salvaged.route(), salvaged.packet.bytes), (vec![ME, 4, 6, 9], bare + kept + 4 + 3 * 4));

        let again = with_header(salvaged.packet, |header| {
            header.route = [5, ME, 4, 9].map(NodeId).into_iter().collect();
        });
        probe.reply(at(1.3), &[ME, 2, 7, 9]);
        let at_once = sent(&probe.fail(at(1.4), again, 4));
        assert_eq!(at_once[0].packet.bytes, bare + kept + 4 + 3 * 4, "salvaged without waiting");
    }
}

/// Traces of ns-2.35: an error of 64 bytes with another one in it, along three nodes, becomes one of 100
/// bytes along five.
#[test]
fn an_unwrapped_error_keeps_the_length_of_the_header_that_it_came_in() {
    for (params, bytes) in [(ns_2(), 100), (plain_lengths(), 56)] {
        let mut probe = Probe::new(&params);
        probe.reply(at(0.5), &[ME, 7, 8, 6, 5]);
        let nested = probe.error_packet(&[(5, 3, 9), (ME, 2, 5)], &[2, 7, ME]);
        assert_eq!(nested.bytes, 64);
        assert_eq!(only(&probe.receive(at(1.0), nested)).packet.bytes, bytes);
    }
}
