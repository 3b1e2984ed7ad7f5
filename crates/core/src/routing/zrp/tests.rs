//! ZRP on the bench: the shared suite, zones, queries and routes.

use std::collections::BTreeMap;

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{Bench, at, data, random_network, suite};

const ME: NodeId = NodeId(1);

fn with_radius(radius: u32) -> ZrpParams {
    ZrpParams { radius, ..ZrpParams::default() }
}

fn maker(params: ZrpParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn machine(params: ZrpParams) -> Zrp {
    Zrp::new(ME, Arc::new(params), Streams::new(1, 0).stream(ME.0, Purpose::Routing))
}

fn nodes(numbers: &[u32]) -> Arc<[NodeId]> {
    numbers.iter().map(|number| NodeId(*number)).collect()
}

fn list(origin: u32, neighbours: &[u32]) -> Message {
    Message::LinkState(LinkState { origin: NodeId(origin), seqno: 1, ttl: 1, neighbours: nodes(neighbours) })
}

fn query(dst: u32, path: &[u32], targets: &[u32]) -> Message {
    let query = Query { id: 7, dst: NodeId(dst), path: nodes(path) };
    Message::Query { query, targets: nodes(targets) }
}

/// What the machine does when a message comes from a neighbour.
fn hear(node: &mut Zrp, seconds: f64, from: u32, message: Message) -> Vec<Action> {
    let packet =
        Packet { uid: 77, ..messages::packet(message, at(seconds), NodeId(from), NodeId::BROADCAST) };
    let mut actions = Vec::new();
    node.handle_incoming(at(seconds), packet, NodeId(from), &mut actions);
    assert!(matches!(actions.remove(0), Action::Consume(_)));
    actions
}

/// All that the machine does by itself from now on until a time.
fn run(node: &mut Zrp, until: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    while node.next_timeout() <= at(until) {
        node.handle_timeout(node.next_timeout(), &mut actions);
    }
    actions
}

/// The messages that are sent, and to whom.
fn sent(actions: &[Action]) -> Vec<(NodeId, Message)> {
    let message = |packet: &Packet| match &packet.payload {
        Payload::Zrp(message) => Some((packet.dst, (**message).clone())),
        _ => None,
    };
    actions.iter().filter_map(Action::packet).filter_map(message).collect()
}

/// Node 1 in the middle of the chain 3, 2, 1, 4, 5, with lists up to the ends.
fn middle(params: ZrpParams) -> Zrp {
    let mut node = machine(params);
    for (origin, neighbours, from) in
        [(2, vec![1, 3], 2), (4, vec![1, 5], 4), (3, vec![2, 6], 2), (5, vec![4, 7], 4)]
    {
        hear(&mut node, 1.0, from, list(origin, &neighbours));
    }
    // It tells its own list.
    run(&mut node, 1.02);
    node
}

#[test]
fn zrp_passes_the_suite_with_small_and_large_zones() {
    for radius in [1, 2, 3, 8] {
        suite(&maker(with_radius(radius)));
    }
}

#[test]
fn packets_are_accounted_for_among_links_that_come_and_go() {
    for radius in [1, 2, 4] {
        for run in 0..6 {
            random_network(maker(with_radius(radius)), run, false);
        }
    }
}

#[test]
fn a_zone_has_the_nodes_up_to_its_radius_and_the_ways_to_them() {
    let node = middle(with_radius(2));
    let reach = |dst| node.zone.reach(NodeId(dst)).map(|reach| (reach.hops, reach.next_hop.0));
    assert_eq!([2, 3, 4, 5].map(reach), [Some((1, 2)), Some((2, 2)), Some((1, 4)), Some((2, 4))]);
    assert_eq!([1, 6, 7].map(reach), [None; 3]);
    assert_eq!(node.zone.way(NodeId(5)), Some(nodes(&[1, 4, 5]).to_vec()));
    assert_eq!(node.zone.peripherals(), BTreeSet::from([NodeId(3), NodeId(5)]));
}

#[test]
fn a_neighbour_that_does_not_hear_this_node_is_not_used() {
    let mut node = machine(with_radius(2));
    hear(&mut node, 1.0, 2, Message::Beacon);
    assert_eq!(node.next_hop(at(1.0), NodeId(2)), Some(NodeId(2)));
    hear(&mut node, 1.1, 2, list(2, &[3]));
    assert_eq!(node.next_hop(at(1.1), NodeId(2)), None);
}

#[test]
fn a_list_is_passed_on_as_far_as_the_radius_and_once() {
    let mut node = machine(with_radius(3));
    let state =
        |seqno, ttl| Message::LinkState(LinkState { origin: NodeId(5), seqno, ttl, neighbours: nodes(&[4]) });
    let actions = hear(&mut node, 1.0, 2, state(3, 2));
    assert_eq!(sent(&actions), [(NodeId::BROADCAST, state(3, 1))]);
    assert_eq!(hear(&mut node, 1.1, 4, state(3, 2)), [], "known");
    assert_eq!(hear(&mut node, 1.1, 4, state(2, 2)), [], "older");
    assert_eq!(hear(&mut node, 1.1, 4, state(4, 1)), [], "as far as it goes");
}

#[test]
fn neighbours_are_told_when_they_change_and_every_ten_seconds() {
    let mut node = machine(with_radius(2));
    node.handle_start(at(0.0), &mut Vec::new());
    run(&mut node, 10.0);
    hear(&mut node, 10.5, 2, Message::Beacon);
    let told = |actions: &[Action]| {
        let lists = sent(actions).into_iter().filter_map(|(_, message)| match message {
            Message::LinkState(state) => Some(state.neighbours.to_vec()),
            _ => None,
        });
        lists.collect::<Vec<_>>()
    };
    let list = nodes(&[2]).to_vec();
    assert_eq!(told(&run(&mut node, 10.51)), [list]);
    // Three beacons of at most 1.1 s.
    assert_eq!(told(&run(&mut node, 13.799)), [] as [Vec<NodeId>; 0]);
    assert_eq!(told(&run(&mut node, 13.82)), [vec![]]);
    assert_eq!(told(&run(&mut node, 34.0)).len(), 2);
}

#[test]
fn a_query_goes_to_the_relays_of_borders_that_it_has_not_covered() {
    let mut node = middle(with_radius(2));
    // 3 has sent it to 2, which relays it: 5 is left, behind 4.
    assert_eq!(hear(&mut node, 2.0, 2, query(9, &[3, 2], &[1])), []);
    let passed = query(9, &[3, 2, 1], &[4]);
    assert_eq!(sent(&run(&mut node, 2.01)), [(NodeId::BROADCAST, passed)]);
    assert_eq!(hear(&mut node, 2.1, 4, query(9, &[3, 2, 1, 4], &[5])), []);
    assert_eq!(sent(&run(&mut node, 2.5)), [], "it has been here");
}

#[test]
fn a_query_is_bordercast_by_those_that_are_asked_to_even_if_they_knew_it() {
    let mut node = middle(with_radius(2));
    hear(&mut node, 2.0, 2, query(9, &[3, 2], &[8]));
    assert_eq!(sent(&run(&mut node, 2.1)), [], "8 was asked");
    hear(&mut node, 2.2, 2, query(9, &[6, 2], &[8]));
    assert_eq!(sent(&run(&mut node, 2.3)).len(), 0, "another one, and again not asked");
    hear(&mut node, 2.4, 2, query(9, &[3, 2], &[1]));
    assert_eq!(sent(&run(&mut node, 2.5)).len(), 1);
}

#[test]
fn who_has_the_destination_in_its_zone_answers_for_it() {
    let mut node = middle(with_radius(2));
    hear(&mut node, 2.0, 2, query(5, &[8, 2], &[1]));
    let reply = Message::Reply(Back { content: 7, path: nodes(&[8, 2, 1, 4, 5]), to: NodeId(2) });
    assert_eq!(sent(&run(&mut node, 2.01)), [(NodeId(2), reply)]);
}

#[test]
fn at_most_three_replies_go_back_and_around_a_link_that_is_gone() {
    let reply = |to| Message::Reply(Back { content: 7, path: nodes(&[8, 6, 1, 4, 5]), to: NodeId(to) });
    let mut node = middle(with_radius(2));
    // 6 is no neighbour, and is not in the zone; 8 is neither.
    assert_eq!(hear(&mut node, 2.0, 4, reply(1)), []);
    hear(
        &mut node,
        2.1,
        2,
        Message::LinkState(LinkState { origin: NodeId(2), seqno: 2, ttl: 1, neighbours: nodes(&[1, 3, 6]) }),
    );
    for _ in 0..2 {
        assert_eq!(sent(&hear(&mut node, 2.2, 4, reply(1))), [(NodeId(2), reply(6))]);
    }
    assert_eq!(hear(&mut node, 2.3, 4, reply(1)), [], "the fourth");
    assert_eq!(sent(&hear(&mut node, 2.3, 4, reply(6))), [(NodeId(2), reply(6))], "on its way to another");
}

#[test]
fn packets_carry_the_route_of_a_reply() {
    let mut node = middle(with_radius(2));
    let mut actions = Vec::new();
    node.handle_outgoing(at(2.0), data(1, 1, 9, 0), &mut actions);
    assert!(
        matches!(&sent(&actions)[..], [(_, Message::Query { targets, .. })] if **targets == *nodes(&[2, 4]))
    );
    let path = nodes(&[1, 4, 5, 7, 9]);
    let reply = Message::Reply(Back { content: 1, path: Arc::clone(&path), to: ME });
    let actions = hear(&mut node, 2.1, 4, reply);
    let [Action::Send { packet, next_hop: NodeId(4), .. }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((path_of(packet), packet.bytes), (Some(path), 532 + 4 + 5 * 4));
    let hops = |node: &Zrp, seconds: f64| node.route_hops(at(seconds), NodeId(9));
    assert_eq!((hops(&node, 2.1), hops(&node, 12.1)), (Some(4), None));
    node.handle_outgoing(at(12.0), data(2, 1, 9, 0), &mut Vec::new());
    assert_eq!((hops(&node, 21.9), hops(&node, 22.0)), (Some(4), None), "it lives on when it is used");
}

#[test]
fn a_search_asks_three_times_and_then_drops_what_waits() {
    let mut node = middle(with_radius(2));
    node.handle_outgoing(at(2.0), data(1, 1, 9, 0), &mut Vec::new());
    let mut asked = Vec::new();
    let mut dropped = None;
    while node.next_timeout() < at(20.0) {
        let (now, mut actions) = (node.next_timeout(), Vec::new());
        // Neighbours are still there.
        [2, 4].iter().for_each(|from| _ = hear(&mut node, now.as_secs(), *from, Message::Beacon));
        node.handle_timeout(now, &mut actions);
        asked.extend(
            sent(&actions)
                .iter()
                .filter(|(_, message)| matches!(message, Message::Query { .. }))
                .map(|_| now),
        );
        if actions.iter().any(|action| matches!(action, Action::Drop(_, DropReason::NoRoute))) {
            dropped = Some(now);
        }
    }
    assert_eq!((asked, dropped), (vec![at(3.0), at(5.0)], Some(at(9.0))));
}

/// 1 reaches 5 over 4, and over 8 when 4 is gone.
#[test]
fn a_broken_link_is_replaced_by_a_way_through_the_zone_or_told_to_the_source() {
    let path = nodes(&[3, 2, 1, 4, 5, 7]);
    let fails = |node: &mut Zrp| {
        let mut packet = data(1, 3, 7, 2);
        put_path(&mut packet, &path);
        let mut actions = Vec::new();
        node.handle_link_failure(at(2.0), packet, NodeId(4), &mut actions);
        actions
    };
    let mut node = middle(with_radius(2));
    hear(&mut node, 1.5, 8, list(8, &[1, 5]));
    hear(
        &mut node,
        1.5,
        8,
        Message::LinkState(LinkState { origin: NodeId(5), seqno: 2, ttl: 1, neighbours: nodes(&[4, 7, 8]) }),
    );
    let actions = fails(&mut node);
    let [Action::FlushQueue(NodeId(4)), Action::Send { packet, next_hop: NodeId(8), .. }] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(path_of(packet), Some(nodes(&[3, 2, 1, 8, 5, 7])));
    let actions = fails(&mut middle(with_radius(2)));
    let error = Message::Error(Back { content: [ME, NodeId(4)], path: Arc::clone(&path), to: NodeId(2) });
    assert_eq!(sent(&actions), [(NodeId(2), error)]);
    assert!(matches!(actions.last(), Some(Action::Drop(_, DropReason::LinkFailure))));
}

#[test]
fn an_error_ends_the_routes_over_its_link_at_their_source() {
    let mut node = middle(with_radius(2));
    let path = nodes(&[1, 4, 5, 7, 9]);
    hear(&mut node, 2.0, 4, Message::Reply(Back { content: 1, path: Arc::clone(&path), to: ME }));
    let error =
        |link: [u32; 2]| Message::Error(Back { content: link.map(NodeId), path: Arc::clone(&path), to: ME });
    assert_eq!(hear(&mut node, 2.1, 4, error([7, 5])), [], "the other direction");
    let failed = Notice::RouteFailed { dst: NodeId(9), told: true };
    assert_eq!(hear(&mut node, 2.2, 4, error([5, 7])), [Action::Notify(failed)]);
    assert_eq!(node.next_hop(at(2.2), NodeId(9)), None);
}

/// A grid of five by five, in which a node asks for a node that is not there, when zones are known: how
/// often lists and queries were sent.
fn on_a_grid(radius: u32) -> (usize, usize) {
    let mut bench = Bench::new(25, maker(ZrpParams { query_tries: 1, ..with_radius(radius) }));
    for node in 0..25 {
        if node % 5 < 4 {
            bench.link(node, node + 1);
        }
        if node < 20 {
            bench.link(node, node + 5);
        }
    }
    bench.send_at(at(12.0), 6, 99);
    bench.run_until(at(13.0));
    let sent = (0..25).flat_map(|node| bench.control_by(node)).map(|(_, packet)| packet.name());
    let sent: Vec<&str> = sent.collect();
    let count = |name| sent.iter().filter(|other| **other == name).count();
    (count("link-state"), count("query"))
}

#[test]
fn larger_zones_take_more_lists_and_fewer_queries() {
    let counts = [1, 2, 3].map(on_a_grid);
    assert!(counts.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{counts:?}");
    let (_, queries) = on_a_grid(8);
    assert_eq!(queries, 0, "all nodes are in the zone");
}

/// Whole networks of zones that know all lists, without a clock.
struct Network {
    neighbours: Vec<BTreeSet<u32>>,
    zones: Vec<Zone>,
}

impl Network {
    /// A random connected network of 3 to 14 nodes.
    fn draw(run: u64, radius: u32) -> Network {
        let mut stream = Streams::new(6, run).stream(0, Purpose::Mobility);
        let count = 3 + stream.below(12);
        let mut neighbours = vec![BTreeSet::new(); count as usize];
        let mut link = |a: u32, b: u32| {
            if a != b {
                neighbours[a as usize].insert(b);
                neighbours[b as usize].insert(a);
            }
        };
        for node in 1..count {
            link(node, stream.below(node));
        }
        for _ in 0..stream.below(count + 1) {
            link(stream.below(count), stream.below(count));
        }
        let mut network = Network { neighbours, zones: Vec::new() };
        network.zones = (0..count).map(|node| network.zone(node, radius)).collect();
        network
    }

    /// A node's zone with the lists that reach it: those of nodes up to the radius.
    fn zone(&self, node: u32, radius: u32) -> Zone {
        let mut zone = Zone::new(NodeId(node), &with_radius(radius));
        self.neighbours[node as usize].iter().for_each(|other| _ = zone.hear(NodeId(*other), Time::NEVER));
        for (origin, _) in
            self.hops(node).into_iter().filter(|(other, hops)| *other != node && *hops <= radius)
        {
            let neighbours = self.neighbours[origin as usize].iter().map(|other| NodeId(*other)).collect();
            let state = LinkState { origin: NodeId(origin), seqno: 1, ttl: 1, neighbours };
            zone.learn(&state, Time::NEVER);
        }
        zone
    }

    /// Hops from a node to all others, by repeated spreading.
    fn hops(&self, from: u32) -> BTreeMap<u32, u32> {
        let mut hops = BTreeMap::from([(from, 0)]);
        for round in 1..=self.neighbours.len() as u32 {
            let last: Vec<u32> =
                hops.iter().filter(|(_, far)| **far == round - 1).map(|(node, _)| *node).collect();
            for next in last.iter().flat_map(|node| &self.neighbours[*node as usize]) {
                hops.entry(*next).or_insert(round);
            }
        }
        hops
    }

    /// A query of node 0 for nobody, which nodes take up in an order by chance: who has had it, and how often
    /// it was sent.
    fn spread(&self, run: u64) -> (BTreeSet<u32>, usize) {
        let mut stream = Streams::new(7, run).stream(0, Purpose::Channel);
        let mut brps: Vec<Brp> = self.zones.iter().map(|_| Brp::default()).collect();
        let first = Query { id: 1, dst: NodeId(99), path: nodes(&[0]) };
        brps[0].originate(first.name(), Time::NEVER);
        let mut waiting = vec![(0_u32, first)];
        let (mut had, mut sent) = (BTreeSet::from([0]), 0);
        while !waiting.is_empty() {
            let (node, query) = waiting.swap_remove(stream.below(waiting.len() as u32) as usize);
            let Some(targets) = brps[node as usize].bordercast(&self.zones[node as usize], &query) else {
                continue;
            };
            sent += 1;
            for &other in &self.neighbours[node as usize] {
                let is_target = targets.contains(&NodeId(other));
                brps[other as usize].receive(query.name(), NodeId(node), is_target, Time::NEVER);
                had.insert(other);
                if is_target && !query.path.contains(&NodeId(other)) {
                    let path = query.path.iter().copied().chain([NodeId(other)]).collect();
                    waiting.push((other, Query { path, ..query.clone() }));
                }
            }
        }
        (had, sent)
    }
}

#[test]
fn zones_are_all_nodes_up_to_their_radius_by_shortest_ways() {
    for run in 0..300 {
        let radius = 1 + (run % 5) as u32;
        let network = Network::draw(run, radius);
        for (node, zone) in network.zones.iter().enumerate() {
            for (other, hops) in network.hops(node as u32) {
                let reach = zone.reach(NodeId(other)).map(|reach| reach.hops);
                let wanted = (1..=radius).contains(&hops).then_some(hops);
                assert_eq!(reach, wanted, "network {run}, radius {radius}: {node} to {other}");
                let way = wanted.map(|_| zone.way(NodeId(other)).expect("a way").len() as u32 - 1);
                assert_eq!(way, wanted);
            }
        }
    }
}

/// Whoever is sought is found: each node is in the zone of one that has the query. With zones of neighbours
/// only it is a flood, and with zones as large as the network nothing is sent.
#[test]
fn a_query_reaches_the_zone_of_every_node() {
    for run in 0..1_000 {
        for radius in 1..=4 {
            let network = Network::draw(run, radius);
            let (had, sent) = network.spread(run);
            let found = |node: u32| had.iter().any(|other| network.zones[*other as usize].has(NodeId(node)));
            let missed = (0..network.zones.len() as u32).find(|node| !found(*node));
            assert_eq!(missed, None, "network {run}, radius {radius}: {had:?}");
            let farthest = network.hops(0).into_values().max().unwrap_or_default();
            assert_eq!(sent == 0, farthest < radius, "network {run}, radius {radius}: {sent}");
            if radius == 1 {
                assert_eq!(had.len(), network.zones.len(), "a flood, network {run}");
            }
        }
    }
}
