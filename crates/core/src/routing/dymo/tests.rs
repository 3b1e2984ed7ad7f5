//! Exact sequences of DYMO, and the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{Bench, at, data, loops_in_random_networks, suite};

const ME: NodeId = NodeId(1);

fn maker(params: DymoParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn machine(params: DymoParams) -> Dymo {
    Dymo::new(ME, Arc::new(params), Streams::new(1, 0).stream(ME.0, Purpose::Routing))
}

fn known(node: u32, seqno: u16) -> Known {
    Known { node: NodeId(node), seqno }
}

/// A request of node 5, number 7, for `target`, which these have passed on.
fn request(target: u32, hop_limit: u8, passed: &[(u32, u16)]) -> Content {
    let passed: Vec<Known> = passed.iter().map(|(node, seqno)| known(*node, *seqno)).collect();
    let hop_count = passed.len() as u8;
    let path = [vec![known(5, 7)], passed].concat().into();
    Content::Rreq(RouteMessage { hop_limit, hop_count, target: NodeId(target), target_seqno: 0, path })
}

/// What the machine does when a message comes from a neighbour.
fn hear(node: &mut Dymo, now: Time, from: u32, content: Content) -> Vec<Action> {
    let lengths = node.params.lengths(&content);
    let payload = Payload::Dymo(Message { lengths, content });
    let packet = Packet { uid: 77, ..Packet::control(now, NodeId(from), NodeId::BROADCAST, 1, 60, payload) };
    let mut actions = Vec::new();
    node.handle_incoming(now, packet, NodeId(from), &mut actions);
    assert!(matches!(actions.remove(0), Action::Consume(_)));
    actions
}

/// What is sent: to whom, and what.
fn sent(actions: &[Action]) -> Vec<(NodeId, Content)> {
    let content = |packet: &Packet| match &packet.payload {
        Payload::Dymo(message) => {
            assert_eq!(packet.bytes, 28 + message.bytes());
            Some((packet.dst, message.content.clone()))
        }
        _ => None,
    };
    actions.iter().filter_map(Action::packet).filter_map(content).collect()
}

/// The requests that a machine sends for a destination that nobody knows: when, links, number of the target.
fn requests(params: DymoParams) -> Vec<(f64, u8, u16)> {
    let mut node = machine(params);
    node.handle_start(at(0.0), &mut Vec::new());
    // It knows an old number of 9.
    node.table.offer(
        at(0.0),
        Span::from_millis(500),
        Offer { dst: NodeId(9), seqno: 4, hops: 3, next_hop: NodeId(2) },
    );
    let mut actions = Vec::new();
    let mut now = at(1.0);
    node.handle_outgoing(now, data(1, 1, 9, 0), &mut actions);
    let mut found = Vec::new();
    while now < at(40.0) {
        for (_, content) in sent(&actions) {
            let Content::Rreq(asked) = content else { continue };
            assert_eq!(asked.path.len(), 1);
            found.push((now.as_secs() - 1.0, asked.hop_limit, asked.target_seqno));
        }
        actions.clear();
        now = node.next_timeout();
        node.handle_timeout(now, &mut actions);
    }
    found
}

#[test]
fn dymo_passes_the_suite_with_and_without_hellos() {
    suite(&maker(DymoParams::default()));
    suite(&maker(DymoParams::set("dymo-hello").expect("a set")));
    suite(&maker(DymoParams::aodvv2()));
}

#[test]
fn next_hops_never_lead_in_circles() {
    for set in DymoParams::SETS {
        let params = DymoParams::set(set).expect("a listed set");
        assert_eq!(loops_in_random_networks(&maker(params), 0..12, true), Vec::<u64>::new(), "{set}");
    }
}

#[test]
fn a_search_reaches_farther_with_each_request_and_asks_for_any_answer_at_last() {
    assert_eq!(requests(DymoParams::default()), [(0.0, 5, 4), (2.0, 7, 4), (4.0, 10, 0)]);
    assert_eq!(requests(DymoParams::aodvv2()), [(0.0, 5, 4), (3.0, 6, 4), (7.0, 8, 0)]);
}

#[test]
fn after_a_search_in_vain_packets_are_dropped_for_a_while() {
    let mut node = machine(DymoParams::aodvv2());
    let mut actions = Vec::new();
    node.handle_outgoing(at(1.0), data(1, 1, 9, 0), &mut actions);
    for seconds in [4.0, 8.0, 10.0] {
        assert_eq!(node.next_timeout(), at(seconds));
        node.handle_timeout(at(seconds), &mut actions);
    }
    let dropped = Action::Drop(data(1, 1, 9, 0), DropReason::NoRoute);
    assert!(actions.contains(&dropped) && sent(&actions).len() == 3);
    actions.clear();
    node.handle_outgoing(at(19.9), data(2, 1, 9, 0), &mut actions);
    assert_eq!(actions, [Action::Drop(data(2, 1, 9, 0), DropReason::NoRoute)]);
    node.handle_outgoing(at(20.0), data(3, 1, 9, 0), &mut actions);
    assert_eq!(sent(&actions).len(), 1, "ten seconds later it asks again");
}

#[test]
fn a_node_originates_three_requests_at_once_and_ten_in_a_second() {
    let mut node = machine(DymoParams::default());
    node.handle_start(at(0.0), &mut Vec::new());
    let mut actions = Vec::new();
    for dst in 10..20 {
        node.handle_outgoing(at(1.0), data(u64::from(dst), 1, dst, 0), &mut actions);
    }
    assert_eq!(sent(&actions).len(), 3);
    while node.next_timeout() < at(1.55) {
        node.handle_timeout(node.next_timeout(), &mut actions);
    }
    assert_eq!(sent(&actions).len(), 8);
}

#[test]
fn a_request_is_passed_on_once_and_again_only_if_it_is_better() {
    let mut node = machine(DymoParams::default());
    let actions = hear(&mut node, at(1.0), 3, request(9, 5, &[(2, 1), (3, 1)]));
    let [(to, Content::Rreq(passed))] = &sent(&actions)[..] else { panic!("{actions:?}") };
    assert!(to.is_broadcast());
    assert_eq!((passed.hop_limit, passed.hop_count), (4, 3));
    assert_eq!(*passed.path, [known(5, 7), known(2, 1), known(3, 1), known(1, 1)]);
    assert_eq!(hear(&mut node, at(1.1), 4, request(9, 5, &[(2, 1), (4, 1)])), [], "as long");
    assert_eq!(sent(&hear(&mut node, at(1.2), 2, request(9, 6, &[(2, 1)]))).len(), 1, "shorter");
    assert_eq!(hear(&mut node, at(1.3), 2, request(8, 1, &[(2, 1)])), [], "it may cross no more links");
    let routes = [5, 2, 3].map(|dst| node.route_hops(at(1.3), NodeId(dst)));
    assert_eq!(routes, [Some(2), Some(1), Some(1)], "to all of the path");
}

#[test]
fn the_target_answers_with_a_number_beyond_that_which_is_asked_for() {
    let mut node = machine(DymoParams::default());
    let Content::Rreq(asked) = request(1, 5, &[(2, 1)]) else { unreachable!() };
    let actions = hear(&mut node, at(1.0), 2, Content::Rreq(RouteMessage { target_seqno: 40, ..asked }));
    let [(to, Content::Rrep(reply))] = &sent(&actions)[..] else { panic!("{actions:?}") };
    assert_eq!((*to, reply.target, reply.hop_limit), (NodeId(2), NodeId(5), 2));
    assert_eq!(*reply.path, [known(1, 41)]);
}

/// After one discovery on a chain everybody has routes to everybody on it; without accumulation only to the
/// ends.
#[test]
fn a_discovery_makes_routes_to_all_nodes_of_the_path() {
    for (params, wanted) in [(DymoParams::default(), 4), (DymoParams::aodvv2(), 2)] {
        let mut bench = Bench::new(5, maker(params));
        bench.chain(5);
        bench.send_at(at(1.0), 0, 4);
        bench.run_until(at(2.0));
        assert_eq!(bench.delivered(0, 4), 1);
        let of_middle = (0..5).filter(|dst| *dst != 2 && bench.route_hops(2, *dst).is_some()).count();
        assert_eq!(of_middle, wanted);
        // One request by each node but the target, a reply by each but the source.
        assert_eq!(bench.control_sent(), 4 + 4);
    }
}

#[test]
fn a_break_is_told_to_those_that_used_the_link() {
    let mut node = machine(DymoParams::default());
    hear(&mut node, at(1.0), 3, request(9, 5, &[(3, 2)]));
    let error = |seqno: u16| Content::Rerr { hop_limit: 10, unreachable: [known(5, seqno)].into() };
    assert_eq!(hear(&mut node, at(1.1), 4, error(7)), [], "of no next hop");
    assert_eq!(hear(&mut node, at(1.1), 3, error(6)), [], "of an older route");
    let actions = hear(&mut node, at(1.2), 3, error(7));
    let [(_, Content::Rerr { hop_limit: 9, unreachable })] = &sent(&actions)[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(**unreachable, [known(5, 7)]);
    assert_eq!(actions[0], Action::Notify(Notice::RouteFailed { dst: NodeId(5), told: true }));
    // The routes to both neighbours break with their links; only that which data goes over is named.
    hear(&mut node, at(1.2), 4, Content::Hello(known(4, 2)));
    assert_eq!(node.route_hops(at(1.2), NodeId(4)), Some(1));
    let mut actions = Vec::new();
    node.handle_link_failure(at(1.2), data(1, 1, 4, 0), NodeId(4), &mut actions);
    assert!(sent(&actions).is_empty(), "{actions:?}");
    assert_eq!(node.route_hops(at(1.2), NodeId(4)), None);
    node.handle_outgoing(at(1.3), data(1, 1, 3, 0), &mut Vec::new());
    let mut actions = Vec::new();
    node.handle_link_failure(at(1.3), data(1, 1, 3, 0), NodeId(3), &mut actions);
    let [(_, Content::Rerr { hop_limit: 10, unreachable })] = &sent(&actions)[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(**unreachable, [known(3, 2)]);
    assert!(actions.contains(&Action::FlushQueue(NodeId(3))));
}

#[test]
fn hellos_are_said_while_data_goes_through_and_their_silence_breaks_links() {
    let params = DymoParams::set("dymo-hello").expect("a set");
    let mut bench = Bench::new(4, maker(params));
    bench.chain(4);
    bench.flow(0, 3, 5.0, 30.0);
    bench.unlink_at(at(20.0), 1, 2);
    bench.run_until(at(60.0));
    let hellos = |bench: &Bench, from, until| {
        let of_node = bench
            .control_by(1)
            .filter(|(time, packet)| packet.name() == "hello" && *time > at(from) && *time < at(until));
        of_node.count()
    };
    assert_eq!((hellos(&bench, 0.0, 4.9), hellos(&bench, 40.0, 60.0)), (0, 0), "nothing to keep alive");
    assert!((9..=11).contains(&hellos(&bench, 8.0, 18.0)));
    let error = bench.control_by(1).find(|(time, packet)| packet.name() == "rerr" && *time > at(20.0));
    let after_s = error.map(|(time, _)| time.as_secs() - 20.0);
    assert!(after_s.is_some_and(|seconds| seconds < 2.1), "{after_s:?}");
    bench.assert_balanced();
}

#[test]
fn any_packet_keeps_a_neighbour_or_messages_of_dymo_alone() {
    for (data_counts_as_hello, lost_at) in [(true, 4.5), (false, 3.0)] {
        let mut node = machine(DymoParams { hello: true, data_counts_as_hello, ..DymoParams::default() });
        node.handle_incoming(at(0.5), data(1, 4, 1, 3), NodeId(3), &mut Vec::new());
        assert!(node.neighbours.is_empty(), "data alone makes no neighbour");
        hear(&mut node, at(1.0), 3, Content::Hello(known(3, 1)));
        node.handle_incoming(at(2.5), data(2, 4, 1, 3), NodeId(3), &mut Vec::new());
        assert_eq!(node.neighbours[&NodeId(3)], at(lost_at));
        let mut actions = Vec::new();
        node.handle_timeout(at(lost_at), &mut actions);
        assert!(actions.contains(&Action::Notify(Notice::RouteFailed { dst: NodeId(3), told: false })));
    }
}

/// RFC 3561 §6.9: a request that the node knows already, and takes no further notice of, is a packet, too.
#[test]
fn a_repeated_request_keeps_a_neighbour() {
    let mut node = machine(DymoParams { hello: true, ..DymoParams::default() });
    hear(&mut node, at(1.0), 3, Content::Hello(known(3, 1)));
    hear(&mut node, at(1.1), 4, request(9, 10, &[]));
    let content = request(9, 10, &[(3, 1)]);
    let payload = Payload::Dymo(Message { lengths: node.params.lengths(&content), content });
    let packet = Packet::control(at(2.5), NodeId(3), NodeId::BROADCAST, 1, 60, payload);
    assert!(node.suppress_duplicate(at(2.5), &packet, NodeId(3), &mut Vec::new()));
    assert_eq!(node.neighbours[&NodeId(3)], at(4.5));
}

/// docs/models/dymo.md, deviation 4; MAX_SEQNUM_LIFETIME of AODVv2.
#[test]
fn an_idle_route_of_aodvv2_lives_for_205_s_and_its_number_for_300_more() {
    let mut node = machine(DymoParams::aodvv2());
    hear(&mut node, at(1.0), 3, request(9, 5, &[(3, 2)]));
    assert!(node.knows_route_hops());
    assert_eq!([205.9, 206.1].map(|time| node.route_hops(at(time), NodeId(5))), [Some(2), None]);
    for (until, seqno) in [(505.9, 7), (600.0, 0)] {
        while node.next_timeout() < at(until) {
            node.handle_timeout(node.next_timeout(), &mut Vec::new());
        }
        assert_eq!(node.table.seqno(NodeId(5)), seqno, "at {until} s");
    }
}

#[test]
fn nothing_is_remembered_for_longer_than_its_time() {
    let mut node = machine(DymoParams::default());
    hear(&mut node, at(1.0), 3, request(9, 5, &[(3, 2)]));
    assert_eq!(node.remembered(at(1.0)), Some(3));
    while node.next_timeout() < at(60.0) {
        node.handle_timeout(node.next_timeout(), &mut Vec::new());
    }
    assert_eq!((node.remembered(at(60.0)), node.next_timeout()), (Some(0), Time::NEVER));
}
