//! Exact sequences of ABR, and the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{Bench, at, data, random_network, suite};

const ME: NodeId = NodeId(1);

fn maker(params: AbrParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn machine(params: AbrParams) -> Abr {
    let mut node = Abr::new(ME, Arc::new(params), Streams::new(1, 0).stream(ME.0, Purpose::Routing));
    node.handle_start(at(0.0), &mut Vec::new());
    node
}

fn hop(node: u32, ticks: u32, load: u16) -> Hop {
    Hop { node: NodeId(node), ticks, load }
}

/// A message of the route from 5 to 9.
fn of_route(kind: Kind, number: u32) -> Message {
    message(kind, (NodeId(5), NodeId(9)), number)
}

fn query(kind: Kind, (source, destination): (u32, u32), ttl: u8, hops: &[Hop]) -> Message {
    let ends = (NodeId(source), NodeId(destination));
    Message { ttl, hops: hops.into(), ..message(kind, ends, 7) }
}

fn reply(ends: (u32, u32), before: u8, number: u32, nodes: &[u32]) -> Message {
    let nodes = nodes.iter().map(|node| NodeId(*node)).collect();
    Message { before, nodes, ..message(Kind::Reply, (NodeId(ends.0), NodeId(ends.1)), number) }
}

/// What the machine does when a message comes from a neighbour.
fn hear(node: &mut Abr, now: Time, from: u32, message: Message) -> Vec<Action> {
    let packet = Packet { uid: 77, ..Packet::control(now, NodeId(from), ME, 1, 60, Payload::Abr(message)) };
    let mut actions = Vec::new();
    node.handle_incoming(now, packet, NodeId(from), &mut actions);
    assert!(matches!(actions.remove(0), Action::Consume(_)));
    actions
}

fn hear_beacon(node: &mut Abr, now: Time, from: u32) {
    assert_eq!(hear(node, now, from, message(Kind::Beacon, (NodeId(from), NodeId::BROADCAST), 0)), []);
}

/// What is sent: to whom, and what.
fn sent(actions: &[Action]) -> Vec<(NodeId, Message)> {
    let content = |packet: &Packet| match &packet.payload {
        Payload::Abr(message) => {
            let nodes = 12 * message.hops.len() + 4 * message.nodes.len();
            assert_eq!(packet.bytes as usize, 36 + nodes);
            Some((packet.dst, message.clone()))
        }
        _ => None,
    };
    actions.iter().filter_map(Action::packet).filter_map(content).collect()
}

fn relay_data(node: &mut Abr, now: Time, from: u32) -> Vec<Action> {
    let mut actions = Vec::new();
    node.handle_incoming(now, data(2, 5, 9, 2), NodeId(from), &mut actions);
    actions
}

/// All that the machine does by itself up to `until`, but for its beacons.
fn wait(node: &mut Abr, until: Time) -> Vec<(Time, Action)> {
    let mut all = Vec::new();
    while node.next_timeout() <= until {
        let (now, mut actions) = (node.next_timeout(), Vec::new());
        node.handle_timeout(now, &mut actions);
        actions.retain(|action| action.packet().is_none_or(|packet| packet.name() != "beacon"));
        all.extend(actions.into_iter().map(|action| (now, action)));
    }
    all
}

/// The kinds of messages that a node has sent since then, but for beacons.
fn told(bench: &Bench, node: u32, since: f64) -> Vec<(Kind, u8)> {
    let later = bench.control_by(node).filter(|(time, _)| *time > at(since));
    let kinds = later.filter_map(|(_, packet)| match &packet.payload {
        Payload::Abr(message) if message.kind != Kind::Beacon => Some((message.kind, message.ttl)),
        _ => None,
    });
    kinds.collect()
}

/// The links that data packets from `src` have crossed since then, in order.
fn links_of(bench: &Bench, src: u32, since: f64) -> Vec<(u32, u32)> {
    let crossings = bench.crossings().iter();
    let of_flow = crossings.filter(|(_, _, packet)| packet.src.0 == src && packet.created >= at(since));
    of_flow.map(|(from, to, _)| (from.0, to.0)).collect()
}

#[test]
fn abr_passes_the_suite_with_and_without_route_delete() {
    suite(&maker(AbrParams::default()));
    suite(&maker(AbrParams { route_delete: true, ..AbrParams::default() }));
}

#[test]
fn no_packet_comes_back_to_a_node() {
    for run in 0..24 {
        assert_eq!(random_network(maker(AbrParams::default()), run, false).returns(), [], "network {run}");
    }
}

#[test]
fn ticks_count_beacons_and_end_with_the_neighbour() {
    let mut node = machine(AbrParams::default());
    for second in 1..=4 {
        hear_beacon(&mut node, at(f64::from(second)), 2);
    }
    hear_beacon(&mut node, at(6.0), 2);
    assert_eq!(node.ticks.of(NodeId(2)), 5, "one that is missed ends nothing");
    wait(&mut node, at(8.4));
    assert_eq!((node.ticks.of(NodeId(2)), node.ticks.next_loss()), (5, at(8.5)));
    wait(&mut node, at(8.5));
    assert_eq!(node.ticks.of(NodeId(2)), 0);
    hear_beacon(&mut node, at(9.0), 2);
    assert_eq!(node.ticks.of(NodeId(2)), 1);
}

#[test]
fn a_query_is_passed_on_once_with_ticks_and_load() {
    let mut node = machine(AbrParams::default());
    hear_beacon(&mut node, at(0.5), 2);
    hear_beacon(&mut node, at(1.5), 2);
    hear(&mut node, at(1.6), 4, reply((6, 8), 0, 1000, &[6, 1, 4, 8]));
    let asked = [hop(5, 0, 0), hop(2, 60, 1)];
    let passed = sent(&hear(&mut node, at(2.0), 2, query(Kind::Bq, (5, 9), 35, &asked)));
    let wanted = query(Kind::Bq, (5, 9), 34, &[asked[0], asked[1], hop(1, 2, 1)]);
    assert_eq!(passed, [(NodeId::BROADCAST, wanted)]);
    assert_eq!(hear(&mut node, at(2.1), 3, query(Kind::Bq, (5, 9), 35, &[asked[0], hop(3, 9, 0)])), []);
    let last = Message { number: 8, ..query(Kind::Bq, (5, 9), 1, &asked) };
    assert_eq!(hear(&mut node, at(2.2), 2, last), [], "it may cross no more links");
}

#[test]
fn the_destination_waits_and_takes_the_most_stable_way() {
    let mut node = machine(AbrParams { threshold_ticks: 2, ..AbrParams::default() });
    for (second, from) in [(1, 2), (1, 3), (2, 3)] {
        hear_beacon(&mut node, at(f64::from(second)), from);
    }
    let asked = |via: &[Hop]| query(Kind::Bq, (5, 1), 30, &[&[hop(5, 0, 0)], via].concat());
    assert_eq!(hear(&mut node, at(2.0), 2, asked(&[hop(2, 1, 0)])), []);
    assert_eq!(hear(&mut node, at(2.02), 3, asked(&[hop(6, 5, 0), hop(3, 5, 0)])), []);
    assert_eq!(node.next_timeout().min(at(2.05)), node.next_timeout(), "50 ms after the first");
    let answers: Vec<(Time, Action)> = wait(&mut node, at(2.1));
    let [(time, action)] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(*time, at(2.05));
    let wanted = reply((5, 1), 0, 2050, &[5, 6, 3, 1]);
    assert_eq!(sent(std::slice::from_ref(action)), [(NodeId(3), wanted)]);
    assert_eq!(hear(&mut node, at(2.2), 3, asked(&[hop(3, 9, 0)])), [], "it has chosen");
    assert_eq!(wait(&mut node, at(2.6)), []);
}

/// Node 1 relays from 5 to 9, two links after the source, three before the destination.
fn relaying() -> Abr {
    let mut node = machine(AbrParams::default());
    let through = reply((5, 9), 0, 1000, &[5, 3, 1, 2, 4, 9]);
    let actions = hear(&mut node, at(1.0), 2, through.clone());
    assert_eq!(sent(&actions), [(NodeId(3), through)]);
    let actions = relay_data(&mut node, at(1.1), 3);
    assert!(matches!(&actions[..], [Action::Send { next_hop: NodeId(2), .. }]), "{actions:?}");
    node
}

#[test]
fn a_node_tells_of_its_own_routes_alone() {
    let mut node = relaying();
    assert_eq!(node.next_hop(at(1.2), NodeId(9)), None, "this is the route of 5");
    hear(&mut node, at(1.2), 2, reply((1, 9), 0, 1000, &[1, 2, 9]));
    assert_eq!(node.next_hop(at(1.2), NodeId(9)), Some(NodeId(2)));
    let route = node.route_now(at(1.2), NodeId(9)).expect("a route");
    assert_eq!((route.next_hop, route.hops), (NodeId(2), Some(2)));
}

#[test]
fn the_node_before_a_break_asks_as_far_as_the_destination_was_and_keeps_what_comes() {
    let mut node = relaying();
    let mut actions = Vec::new();
    node.handle_link_failure(at(2.0), data(3, 5, 9, 2), NodeId(2), &mut actions);
    assert_eq!(actions[0], Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: false }));
    let asked = Message { before: 2, number: 1, ..query(Kind::Lq, (5, 9), 3, &[hop(1, 0, 0)]) };
    assert_eq!(sent(&actions), [(NodeId::BROADCAST, asked)]);
    assert_eq!(relay_data(&mut node, at(2.1), 3), [], "it waits");
    let actions = hear(&mut node, at(2.2), 7, reply((5, 9), 2, 2150, &[1, 7, 9]));
    assert_eq!(actions[0], Action::Notify(Notice::RouteFound { dst: NodeId(9) }));
    assert!(matches!(&actions[1..], [Action::Send { next_hop: NodeId(7), packet, .. }] if packet.is_data()));
    let route = *node.routes.valid(at(2.2), (NodeId(5), NodeId(9))).expect("a route");
    assert_eq!((route.upstream, route.before, route.hops), (NodeId(3), 2, 2));
}

#[test]
fn a_query_in_vain_goes_back_towards_the_source() {
    let mut node = relaying();
    node.handle_link_failure(at(2.0), data(3, 5, 9, 2), NodeId(2), &mut Vec::new());
    relay_data(&mut node, at(2.1), 3);
    let told: Vec<(Time, Action)> = wait(&mut node, at(3.0));
    // Three links at 0.2 s, and the destination's wait.
    assert!(told.iter().all(|(time, _)| *time == at(2.65)));
    let actions: Vec<Action> = told.into_iter().map(|(_, action)| action).collect();
    assert!(matches!(&actions[0], Action::Drop(_, DropReason::NoRoute)));
    assert_eq!(sent(&actions), [(NodeId(3), of_route(Kind::RnBack, 1000))]);
}

#[test]
fn a_node_that_is_asked_to_repair_does_so_up_to_the_middle_of_the_route() {
    // Two links from the source, three from the destination: beyond the middle.
    let mut node = relaying();
    assert_eq!(hear(&mut node, at(2.0), 3, of_route(Kind::RnBack, 1000)), [], "not from the next hop");
    let told = sent(&hear(&mut node, at(2.0), 2, of_route(Kind::RnBack, 1000)));
    assert_eq!(told, [(NodeId(3), of_route(Kind::RnToSource, 1000))]);
    // As many links from the source as from the destination.
    let mut node = machine(AbrParams::default());
    hear(&mut node, at(1.0), 2, reply((5, 9), 0, 1000, &[5, 3, 1, 2, 9]));
    let told = sent(&hear(&mut node, at(2.0), 2, of_route(Kind::RnBack, 1100)));
    assert!(matches!(&told[..], [(NodeId::BROADCAST, asked)] if (asked.kind, asked.ttl) == (Kind::Lq, 2)));
}

#[test]
fn the_node_after_a_break_erases_the_route_towards_the_destination() {
    let mut node = relaying();
    hear_beacon(&mut node, at(1.2), 3);
    let told: Vec<(Time, Action)> = wait(&mut node, at(4.0));
    let [(time, action)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*time, at(3.7));
    assert_eq!(sent(std::slice::from_ref(action)), [(NodeId(2), of_route(Kind::RnErase, 1000))]);
    assert_eq!(node.routes.valid(at(3.7), (NodeId(5), NodeId(9))), None);
    // And so does the next, but for a newer route.
    let mut node = relaying();
    assert_eq!(hear(&mut node, at(2.0), 3, of_route(Kind::RnErase, 999)), []);
    let told = sent(&hear(&mut node, at(2.0), 3, of_route(Kind::RnErase, 1000)));
    assert_eq!(told, [(NodeId(2), of_route(Kind::RnErase, 1000))]);
}

#[test]
fn a_node_before_the_break_takes_no_part_in_its_repair() {
    let mut node = relaying();
    let asked = |ttl| Message { number: u32::from(ttl), ..query(Kind::Lq, (5, 9), ttl, &[hop(6, 0, 0)]) };
    assert_eq!(hear(&mut node, at(2.0), 6, asked(2)), [], "of a node two links before the destination");
    assert_eq!(sent(&hear(&mut node, at(2.0), 6, asked(4))).len(), 1, "of one before this node");
}

#[test]
fn the_source_seeks_three_times_and_gives_up() {
    let mut node = machine(AbrParams::default());
    let mut actions = Vec::new();
    node.handle_outgoing(at(1.0), data(1, 1, 9, 0), &mut actions);
    let mut all: Vec<(Time, Action)> = actions.into_iter().map(|action| (at(1.0), action)).collect();
    all.extend(wait(&mut node, at(30.0)));
    let asked = all.iter().filter(|(_, action)| !sent(std::slice::from_ref(action)).is_empty());
    assert_eq!(asked.map(|(time, _)| *time).collect::<Vec<_>>(), [1.0, 2.0, 3.0].map(at));
    assert_eq!(all.last().map(|(time, _)| *time), Some(at(4.0)));
    assert!(matches!(all.last(), Some((_, Action::Drop(_, DropReason::NoRoute)))));
}

/// At rest every link has ticks enough after a minute, and the routes are those of the fewest hops.
#[test]
fn at_rest_all_links_are_stable_and_routes_are_the_shortest() {
    let mut bench = Bench::on_a_ring(9, maker(AbrParams::default()));
    bench.link(0, 3);
    for (src, dst) in [(0, 4), (1, 5), (8, 2)] {
        bench.flow(src, dst, 70.0, 75.0);
    }
    bench.run_until(at(74.9));
    let hops = [(0, 4), (1, 5), (8, 2)].map(|(src, dst)| bench.route_hops(src, dst));
    assert_eq!(hops, [Some(2), Some(4), Some(3)]);
    let queries = (0..9).flat_map(|node| bench.control_by(node).map(|(_, packet)| packet));
    let mut ticks: Vec<u32> = Vec::new();
    for packet in queries {
        if let Payload::Abr(Message { kind: Kind::Bq, hops, .. }) = &packet.payload {
            ticks.extend(hops[1..].iter().map(|hop| hop.ticks));
        }
    }
    assert!(ticks.len() > 20 && ticks.iter().all(|ticks| *ticks >= 50), "{ticks:?}");
}

/// From 0 to 3 over 1, which is new here, or over 2, which has been here for long: over as many hops, and
/// over one more.
#[test]
fn a_node_that_moves_is_avoided_where_all_others_rest() {
    for ways in [[(0, 1), (1, 3), (0, 2), (2, 3)].as_slice(), &[(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)]] {
        let mut bench = Bench::new(5, maker(AbrParams::default()));
        for &(a, b) in ways {
            if a == 1 || b == 1 {
                bench.link_at(at(80.0), a, b);
            } else {
                bench.link(a, b);
            }
        }
        bench.flow(0, 3, 90.0, 92.0);
        bench.run_until(at(93.0));
        assert_eq!(bench.delivered(0, 3), 8);
        let links = links_of(&bench, 0, 90.0);
        assert!(links.iter().all(|&(from, to)| from != 1 && to != 1), "{links:?}");
    }
}

/// Six nodes in a row: a break at hop k of 5 makes a query that may cross 5 − k links.
#[test]
fn a_break_at_hop_k_of_n_is_asked_around_over_n_minus_k_links() {
    for k in 1..4 {
        let mut bench = Bench::new(6, maker(AbrParams::default()));
        bench.chain(6);
        bench.flow(0, 5, 10.0, 30.0);
        bench.unlink_at(at(20.1), k, k + 1);
        bench.run_until(at(40.0));
        let asked = told(&bench, k, 20.1).into_iter().find(|(kind, _)| *kind == Kind::Lq);
        assert_eq!(asked, Some((Kind::Lq, 5 - k as u8)), "hop {k}");
        bench.assert_balanced();
    }
    // The source itself floods.
    let mut bench = Bench::new(6, maker(AbrParams::default()));
    bench.chain(6);
    bench.flow(0, 5, 10.0, 30.0);
    bench.unlink_at(at(20.1), 0, 1);
    bench.run_until(at(22.0));
    assert_eq!(told(&bench, 0, 20.1)[0], (Kind::Bq, 35));
}

/// 0 - 1 - 2 - 3 - 4, and 2 - 5 - 4: when 3 goes, 2 repairs the route over 5, and the source hears nothing.
#[test]
fn a_repair_on_the_way_stays_there() {
    let mut bench = Bench::new(6, maker(AbrParams::default()));
    bench.chain(5);
    bench.link_at(at(15.0), 2, 5);
    bench.link_at(at(15.0), 5, 4);
    bench.flow(0, 4, 10.0, 30.0);
    bench.unlink_at(at(20.1), 2, 3);
    bench.run_until(at(40.0));
    assert_eq!(told(&bench, 0, 20.1), []);
    assert_eq!(links_of(&bench, 0, 29.7), [(0, 1), (1, 2), (2, 5), (5, 4)]);
    assert!(bench.delivered(0, 4) >= 79, "{} of 80", bench.delivered(0, 4));
    bench.assert_balanced();
}

#[test]
fn a_route_is_deleted_with_the_last_flow_if_asked() {
    for (route_delete, is_left) in [(true, false), (false, true)] {
        let mut bench = Bench::new(4, maker(AbrParams { route_delete, ..AbrParams::default() }));
        bench.chain(4);
        bench.flow(0, 3, 10.0, 20.0);
        bench.flow(0, 3, 10.0, 30.0);
        bench.run_until(at(29.0));
        assert!(bench.route_hops(0, 3).is_some(), "one flow goes on");
        bench.run_until(at(31.0));
        assert_eq!((bench.route_hops(0, 3).is_some(), bench.delivered(0, 3)), (is_left, 120));
        let floods = (0..4).filter(|node| told(&bench, *node, 29.0).contains(&(Kind::Rd, 35 - *node as u8)));
        assert_eq!(floods.count(), if route_delete { 4 } else { 0 });
    }
}

#[test]
fn nothing_is_remembered_for_longer_than_its_time() {
    let mut node = relaying();
    hear_beacon(&mut node, at(1.2), 3);
    hear(&mut node, at(1.2), 3, query(Kind::Bq, (6, 8), 35, &[hop(6, 0, 0), hop(3, 1, 0)]));
    assert_eq!(node.remembered(at(1.2)), Some(3), "a route, a neighbour, a query");
    hear(&mut node, at(1.2), 3, query(Kind::Bq, (8, 1), 35, &[hop(8, 0, 0), hop(3, 1, 0)]));
    assert_eq!(node.remembered(at(1.2)), Some(5), "a query that this node will answer");
    node.handle_outgoing(at(1.2), data(9, 1, 7, 0), &mut Vec::new());
    assert_eq!(node.remembered(at(1.2)), Some(6), "a route that it seeks");
    wait(&mut node, at(60.0));
    assert_eq!(node.remembered(at(60.0)), Some(0));
}
