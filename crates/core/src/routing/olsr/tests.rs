//! One node's OLSR on a virtual clock, networks on the bench, and all of it in the shared suite.

use std::collections::{BTreeMap, VecDeque};

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{
    Bench, Pace, a_restarted_node_forwards_again, at, data, loops_in_random_networks, suite_at_pace,
};
use crate::wire::olsr::{LinkType, Listed, NeighbourType};

/// Three HELLOs until links are symmetric and relays chosen, two TCs until all is known; a neighbour is lost
/// after 6 s, and TCs that no longer hold after 15 s at most.
const PACE: Pace = Pace { settled_s: 30.0, recovered_s: 40.0 };
/// olsrd believes HELLOs for 20 s.
const SLOW: Pace = Pace { settled_s: 60.0, recovered_s: 100.0 };

fn maker(params: OlsrParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

#[test]
fn it_passes_the_suite() {
    suite_at_pace(&maker(OlsrParams::default()), PACE);
    suite_at_pace(&maker(OlsrParams { hysteresis: true, ..OlsrParams::default() }), PACE);
    suite_at_pace(
        &maker(OlsrParams { link_feedback: true, triggered_tc: true, ..OlsrParams::default() }),
        PACE,
    );
    suite_at_pace(&maker(OlsrParams { tc_redundancy: 2, mpr_coverage: 3, ..OlsrParams::default() }), PACE);
    suite_at_pace(&maker(OlsrParams::olsrd()), SLOW);
    suite_at_pace(&maker(OlsrParams::olsrd_mobile()), PACE);
    suite_at_pace(&maker(OlsrParams::link_state()), PACE);
}

/// RFC 3626 promises no freedom from loops while nodes know different topologies; no run breaks the books.
#[test]
fn it_survives_random_networks() {
    for params in [OlsrParams::default(), OlsrParams::olsrd_mobile()] {
        loops_in_random_networks(&maker(params), 0..5, false);
    }
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    a_restarted_node_forwards_again(maker(OlsrParams::default()));
}

/// The node under test; the others are whoever the tests say.
const ME: NodeId = NodeId(0);

fn node(params: OlsrParams) -> Olsr {
    let mut node = Olsr::new(ME, Arc::new(params), Streams::new(1, 0).stream(0, Purpose::Routing));
    node.handle_start(at(0.0), &mut Vec::new());
    node
}

fn listed(node: u32, link: LinkType, neighbour: NeighbourType) -> Listed {
    Listed { node: NodeId(node), link, neighbour, qualities: Qualities::default() }
}

fn symmetric(node: u32) -> Listed {
    listed(node, LinkType::Symmetric, NeighbourType::Symmetric)
}

fn packet(number: u16, message: Message) -> OlsrPacket {
    OlsrPacket { number, messages: [message].into() }
}

/// A HELLO of `from`, valid for 6 s, in the packet with this number.
fn hello(from: u32, number: u16, neighbours: &[Listed]) -> OlsrPacket {
    let hello =
        Hello { interval: TimeCode(0x05), willingness: 3, has_qualities: false, listed: neighbours.into() };
    let content = Content::Hello(hello);
    packet(
        number,
        Message { validity: TimeCode(0x86), origin: NodeId(from), ttl: 1, hops: 0, number, content },
    )
}

/// A TC of `origin`, valid for 15 s.
fn tc(origin: u32, number: u16, ansn: u16, to: &[u32]) -> OlsrPacket {
    let advertised = to.iter().map(|node| (NodeId(*node), Qualities::default())).collect();
    let content = Content::Tc(Tc { ansn, has_qualities: false, advertised });
    packet(
        number,
        Message { validity: TimeCode(0xe7), origin: NodeId(origin), ttl: 255, hops: 0, number, content },
    )
}

/// What the node does with a packet of `from`.
fn hear(node: &mut Olsr, seconds: f64, from: u32, content: OlsrPacket) -> Vec<Action> {
    let bytes = IP_HEADER_BYTES + UDP_HEADER_BYTES + content.bytes();
    let payload = Payload::Olsr(content);
    let packet = Packet::control(at(seconds), NodeId(from), NodeId::BROADCAST, 1, bytes, payload);
    let mut actions = Vec::new();
    node.handle_incoming(at(seconds), packet, NodeId(from), &mut actions);
    actions
}

fn wake(node: &mut Olsr, seconds: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    while node.next_timeout() <= at(seconds) {
        let due = node.next_timeout();
        node.handle_timeout(due, &mut actions);
    }
    actions
}

/// The messages that were sent.
fn sent(actions: &[Action]) -> Vec<Message> {
    let packets = actions.iter().filter_map(|action| match action {
        Action::Broadcast { packet, .. } => Some(&packet.payload),
        _ => None,
    });
    let contents =
        packets.map(|payload| if let Payload::Olsr(content) = payload { content } else { panic!() });
    contents.flat_map(|content| content.messages.iter().cloned()).collect()
}

/// What the last HELLO among these says.
fn said(actions: &[Action]) -> Vec<(u32, LinkType, NeighbourType)> {
    let hellos = sent(actions).into_iter().filter_map(|message| match message.content {
        Content::Hello(hello) => Some(hello),
        Content::Tc(_) => None,
    });
    let last = hellos.last().expect("a HELLO");
    last.listed.iter().map(|listed| (listed.node.0, listed.link, listed.neighbour)).collect()
}

fn hops(node: &Olsr, dst: u32) -> Option<u32> {
    node.route_hops(Time::ZERO, NodeId(dst))
}

/// RFC 3626 §7.1.1: heard, then named, then lost.
#[test]
fn a_link_is_asymmetric_then_symmetric_then_lost() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[]));
    assert_eq!(said(&wake(&mut node, 2.0)), [(1, LinkType::Asymmetric, NeighbourType::Not)]);
    assert_eq!(hops(&node, 1), None);
    let found = hear(&mut node, 2.0, 1, hello(1, 2, &[listed(0, LinkType::Asymmetric, NeighbourType::Not)]));
    assert_eq!(found[1], Action::Notify(Notice::RouteFound { dst: NodeId(1) }));
    assert_eq!(hops(&node, 1), Some(1));
    assert_eq!(said(&wake(&mut node, 4.0)), [(1, LinkType::Symmetric, NeighbourType::Symmetric)]);
    // It is heard for 6 s, and remembered for 6 s more.
    let lost = wake(&mut node, 10.5);
    assert!(lost.contains(&Action::Notify(Notice::RouteFailed { dst: NodeId(1), told: false })));
    assert_eq!(said(&lost), [(1, LinkType::Lost, NeighbourType::Not)]);
    assert_eq!(said(&wake(&mut node, 16.5)), []);
}

#[test]
fn a_neighbour_that_calls_the_link_lost_is_believed() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[symmetric(0)]));
    assert_eq!(hops(&node, 1), Some(1));
    hear(&mut node, 1.0, 1, hello(1, 2, &[listed(0, LinkType::Lost, NeighbourType::Not)]));
    assert_eq!(hops(&node, 1), None);
}

/// RFC 3626 §13.
#[test]
fn a_link_that_the_mac_found_broken_stays_lost_whatever_is_heard() {
    let mut node = node(OlsrParams { link_feedback: true, ..OlsrParams::default() });
    hear(&mut node, 0.0, 1, hello(1, 1, &[symmetric(0), symmetric(5)]));
    hear(&mut node, 0.1, 2, hello(2, 1, &[symmetric(0), symmetric(5)]));
    assert_eq!(node.next_hop(at(0.2), NodeId(5)), Some(NodeId(1)));
    let mut actions = Vec::new();
    node.handle_link_failure(at(1.0), data(7, 0, 5, 0), NodeId(1), &mut actions);
    let again = Action::Send { packet: data(7, 0, 5, 0), next_hop: NodeId(2), delay: Span::ZERO };
    assert_eq!(actions.last(), Some(&again), "the packet takes the other way");
    hear(&mut node, 2.0, 1, hello(1, 2, &[symmetric(0)]));
    assert_eq!(hops(&node, 1), None);
    hear(&mut node, 7.1, 1, hello(1, 3, &[symmetric(0)]));
    assert_eq!(hops(&node, 1), Some(1));
}

#[test]
fn without_feedback_only_the_packet_is_lost() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[symmetric(0)]));
    let mut actions = Vec::new();
    node.handle_link_failure(at(1.0), data(7, 0, 1, 0), NodeId(1), &mut actions);
    node.handle_outgoing(at(1.0), data(8, 0, 9, 0), &mut actions);
    let dropped = |uid, dst, reason| Action::Drop(data(uid, 0, dst, 0), reason);
    assert_eq!(actions, [dropped(7, 1, DropReason::LinkFailure), dropped(8, 9, DropReason::NoRoute)]);
    assert_eq!(hops(&node, 1), Some(1));
}

/// How many TCs a node sends in a minute, and how many of them in a packet without a HELLO.
fn tcs_and_lone_ones(tcs_wait: bool) -> (usize, usize) {
    let mut node =
        node(OlsrParams { tcs_wait, tc_redundancy: 2, forward_jitter_s: 1e4, ..OlsrParams::default() });
    let mut lists_of_kinds = Vec::new();
    for round in 0..30_u16 {
        let seconds = 2.0 * f64::from(round);
        hear(&mut node, seconds, 1, hello(1, round + 1, &[symmetric(0)]));
        for action in wake(&mut node, seconds + 1.999) {
            let messages = sent(&[action]);
            lists_of_kinds
                .push(messages.iter().map(|each| matches!(each.content, Content::Tc(_))).collect::<Vec<_>>());
        }
    }
    let tcs = lists_of_kinds.iter().flatten().filter(|is_tc| **is_tc).count();
    let lone = lists_of_kinds.iter().filter(|list| list.contains(&true) && !list.contains(&false)).count();
    (tcs, lone)
}

#[test]
fn own_tcs_go_when_they_are_due_and_those_of_olsrd_with_the_next_hello() {
    let (tcs, lone) = tcs_and_lone_ones(false);
    assert!((11..=14).contains(&tcs) && lone == tcs, "{tcs} {lone}");
    let (tcs, lone) = tcs_and_lone_ones(true);
    assert!((11..=14).contains(&tcs) && lone == 0, "{tcs} {lone}");
}

/// After 32 TCs that go everywhere one in eight does, in the order of olsrd 0.9.8.
#[test]
fn most_tcs_of_olsrd_go_a_few_hops_only() {
    let mut node = node(OlsrParams { metric: Metric::Hops, ..OlsrParams::olsrd() });
    let mut ttls = Vec::new();
    for round in 0..150_u16 {
        let seconds = 2.0 * f64::from(round);
        hear(&mut node, seconds, 1, hello(1, round + 1, &[symmetric(0)]));
        let messages = sent(&wake(&mut node, seconds + 1.999));
        let tcs = messages.iter().filter(|each| matches!(each.content, Content::Tc(_)));
        ttls.extend(tcs.map(|each| each.ttl));
    }
    assert_eq!(ttls[..32], [255; 32]);
    assert_eq!(ttls[32..50], [[2, 8, 2, 16, 2, 8, 2, 255]; 3].concat()[..18]);
}

/// olsrd 0.9.8 looks at all links once a second; where nothing has changed routes stay.
#[test]
fn a_second_without_a_change_of_quality_changes_nothing() {
    let mut near = neighbours::Neighbours::new(ME, &OlsrParams::olsrd());
    assert_eq!(near.end_second(at(1.0)), neighbours::Change::default());
}

/// RFC 3626 §3.4.1, §8.4.1: only those who chose this node as relay have their messages passed on, once.
#[test]
fn a_tc_is_passed_on_once_and_for_selectors_only() {
    let mut node = node(OlsrParams::default());
    let chosen = listed(0, LinkType::Symmetric, NeighbourType::Mpr);
    hear(&mut node, 0.0, 1, hello(1, 1, &[chosen]));
    hear(&mut node, 0.0, 2, hello(2, 1, &[symmetric(0)]));
    hear(&mut node, 0.1, 1, tc(8, 1, 1, &[9]));
    hear(&mut node, 0.1, 1, tc(8, 1, 1, &[9]));
    let passed: Vec<_> =
        sent(&wake(&mut node, 1.0)).into_iter().filter(|each| each.origin == NodeId(8)).collect();
    assert_eq!(passed.iter().map(|each| (each.ttl, each.hops)).collect::<Vec<_>>(), [(254, 1)]);
    // The first copy comes from one that is no selector: the standard records it all the same.
    hear(&mut node, 1.0, 2, tc(8, 2, 1, &[9]));
    hear(&mut node, 1.0, 1, tc(8, 2, 1, &[9]));
    // From who is no symmetric neighbour it is neither used nor recorded.
    hear(&mut node, 1.0, 3, tc(8, 3, 2, &[4]));
    assert_eq!(node.topology.len(), 1);
    hear(&mut node, 1.0, 1, tc(8, 3, 2, &[4]));
    let numbers: Vec<u16> = sent(&wake(&mut node, 1.9))
        .iter()
        .filter(|each| each.origin == NodeId(8))
        .map(|each| each.number)
        .collect();
    assert_eq!(numbers, [3]);
}

/// olsrd records what it passes on only.
#[test]
fn olsrd_passes_on_what_a_selector_sends_later() {
    let mut node = node(OlsrParams { duplicate_window: true, ..OlsrParams::default() });
    hear(&mut node, 0.0, 1, hello(1, 1, &[listed(0, LinkType::Symmetric, NeighbourType::Mpr)]));
    hear(&mut node, 0.0, 2, hello(2, 1, &[symmetric(0)]));
    for from in [2, 1, 1] {
        hear(&mut node, 0.1, from, tc(8, 2, 1, &[9]));
    }
    let passed = sent(&wake(&mut node, 1.0)).into_iter().filter(|each| each.origin == NodeId(8)).count();
    assert_eq!(passed, 1);
}

/// RFC 3626 §9.3: TCs while there are selectors, then empty ones for as long as the last one holds.
#[test]
fn a_node_that_lost_its_selectors_says_so_for_a_while() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[listed(0, LinkType::Symmetric, NeighbourType::Mpr)]));
    let told: Vec<(u16, usize)> = sent(&wake(&mut node, 40.0))
        .into_iter()
        .filter_map(|message| match message.content {
            Content::Tc(tc) => Some((tc.ansn, tc.advertised.len())),
            Content::Hello(_) => None,
        })
        .collect();
    let full = told.iter().take_while(|(_, links)| *links == 1).count();
    assert!(full >= 1 && told[..full].iter().all(|(ansn, _)| *ansn == 1), "{told:?}");
    assert!((2..=4).contains(&(told.len() - full)), "empty ones for 15 s: {told:?}");
    assert!(told[full..].iter().all(|told| *told == (2, 0)));
}

/// RFC 3626 §9.3: the next TC does not wait for its time.
#[test]
fn a_selector_that_the_mac_found_lost_is_told_at_once() {
    let feedback = OlsrParams { link_feedback: true, triggered_tc: true, ..OlsrParams::default() };
    let mut node = node(feedback);
    for from in [1, 2, 3] {
        hear(&mut node, 0.0, from, hello(from, 1, &[listed(0, LinkType::Symmetric, NeighbourType::Mpr)]));
    }
    let told = |actions: &[Action]| -> Vec<usize> {
        let links = |message: Message| match message.content {
            Content::Tc(tc) => Some(tc.advertised.len()),
            Content::Hello(_) => None,
        };
        sent(actions).into_iter().filter_map(links).collect()
    };
    let first = node.tc_at.as_secs();
    assert_eq!(told(&wake(&mut node, first + 0.1)), [3]);
    node.handle_link_failure(at(first + 0.5), data(7, 0, 1, 0), NodeId(1), &mut Vec::new());
    assert_eq!(told(&wake(&mut node, first + 0.5)), [2]);
}

/// RFC 3626 §10: by hops, and never over a node that does not want to relay.
#[test]
fn routes_follow_the_links_that_are_told() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[symmetric(0), symmetric(2), symmetric(0)]));
    hear(&mut node, 0.0, 1, tc(2, 2, 1, &[3]));
    hear(&mut node, 0.0, 1, tc(3, 3, 1, &[2, 4]));
    hear(&mut node, 0.0, 1, tc(6, 4, 1, &[7]));
    let found = [1, 2, 3, 4, 6, 7].map(|dst| hops(&node, dst));
    assert_eq!(found, [Some(1), Some(2), Some(3), Some(4), None, None]);
    assert_eq!(node.next_hop(at(0.0), NodeId(4)), Some(NodeId(1)));
    let known = node.known_links(at(0.0)).expect("a protocol that knows links");
    assert_eq!((&known.neighbours[..], &known.relays[..]), (&[NodeId(1)][..], &[NodeId(1)][..]));
    assert_eq!(known.two_hop, [[1, 2].map(NodeId)]);
    assert_eq!(known.topology, [[2, 3], [3, 2], [3, 4], [6, 7]].map(|link| link.map(NodeId)));
}

#[test]
fn nothing_outlives_its_time() {
    let mut node = node(OlsrParams::default());
    hear(&mut node, 0.0, 1, hello(1, 1, &[symmetric(0), symmetric(2)]));
    hear(&mut node, 0.0, 1, tc(2, 2, 1, &[3]));
    assert_eq!(node.remembered(at(0.0)), Some(3), "a neighbour, a link, a message");
    wake(&mut node, 30.0);
    assert_eq!((node.near.candidates().len(), node.topology.len(), node.routes().iter().count()), (0, 0, 0));
    assert_eq!(node.near.next_timeout().min(node.topology.next_timeout()), Time::NEVER);
}

/// Links of a random connected graph.
fn random_links(nodes: u32, run: u64) -> Vec<(u32, u32)> {
    let mut stream = Streams::new(5, run).stream(0, Purpose::Mobility);
    let tree = (1..nodes).map(|node| (stream.below(node), node)).collect::<Vec<_>>();
    let more =
        (0..stream.below(nodes)).map(|_| (stream.below(nodes), stream.below(nodes))).collect::<Vec<_>>();
    tree.into_iter().chain(more.into_iter().filter(|(a, b)| a != b)).collect()
}

fn distances(nodes: u32, links: &[(u32, u32)], from: u32) -> Vec<u32> {
    let mut found = vec![u32::MAX; nodes as usize];
    found[from as usize] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for &(a, b) in links.iter().filter(|(a, b)| *a == node || *b == node) {
            let next = (a + b - node) as usize;
            if found[next] == u32::MAX {
                found[next] = found[node as usize] + 1;
                queue.push_back(next as u32);
            }
        }
    }
    found
}

/// Nodes that hear each other over these links alone.
fn linked(nodes: u32, links: &[(u32, u32)], params: OlsrParams) -> Bench {
    let mut bench = Bench::on_a_ring(nodes, maker(params));
    (0..nodes).for_each(|node| {
        bench.unlink_at(Time::ZERO, node, (node + 1) % nodes);
    });
    links.iter().for_each(|(a, b)| bench.link_at(at(0.0), *a, *b));
    bench
}

/// Three HELLOs and two TCs, each at its longest, and how long TCs wait on the way.
#[test]
fn every_node_knows_the_shortest_way_to_every_other() {
    const NODES: u32 = 10;
    let both = [OlsrParams::default(), OlsrParams::link_state()];
    for (run, params) in (0..40).flat_map(|run| both.clone().map(|params| (run, params))) {
        let links = random_links(NODES, run);
        let mut bench = linked(NODES, &links, params);
        bench.run_until(at(3.0 * 2.0 + 2.0 * 5.0 + 0.5 * f64::from(NODES)));
        for from in 0..NODES {
            let wanted = distances(NODES, &links, from);
            for to in (0..NODES).filter(|to| *to != from) {
                let found = bench.route_hops(from, to);
                assert_eq!(found, Some(wanted[to as usize]), "run {run}: from {from} to {to} over {links:?}");
            }
        }
    }
}

/// Of the TCs that a minute brings after the network has settled: who tells of whom, and how often each is on
/// the air.
#[test]
fn in_pure_link_state_routing_everybody_tells_of_all_links_and_passes_everything_on_once() {
    const NODES: u32 = 10;
    for run in 0..10 {
        let mut links = random_links(NODES, run);
        links.iter_mut().for_each(|link| *link = (link.0.min(link.1), link.0.max(link.1)));
        links.sort_unstable();
        links.dedup();
        let mut bench = linked(NODES, &links, OlsrParams::link_state());
        bench.run_until(at(90.0));
        let mut senders = BTreeMap::<(u32, u16), Vec<u32>>::new();
        for node in 0..NODES {
            let packets = bench.control_by(node).filter(|(time, _)| *time > at(20.0));
            let sent = packets.flat_map(|(_, packet)| match &packet.payload {
                Payload::Olsr(packet) => packet.messages.to_vec(),
                other => panic!("not OLSR's: {other:?}"),
            });
            for Message { origin, number, content, .. } in sent {
                let Content::Tc(tc) = content else { continue };
                let mut told: Vec<u32> = tc.advertised.iter().map(|(node, _)| node.0).collect();
                told.sort_unstable();
                let near = |&(a, b): &(u32, u32)| (a == origin.0 || b == origin.0).then(|| a + b - origin.0);
                let mut wanted: Vec<u32> = links.iter().filter_map(near).collect();
                wanted.sort_unstable();
                assert_eq!(told, wanted, "run {run}: a TC of {origin:?}");
                senders.entry((origin.0, number)).or_default().push(node);
            }
        }
        // The first ones are on their way when counting begins, and the last ones when it ends.
        let all: Vec<u32> = (0..NODES).collect();
        let whole = senders.values().filter(|nodes| **nodes == all).count();
        assert!(senders.values().all(|nodes| nodes.is_sorted_by(|a, b| a < b)), "run {run}: {senders:?}");
        assert!(senders.len() - whole <= 2 * NODES as usize, "run {run}: {senders:?}");
        assert!(whole >= 10 * NODES as usize, "run {run}: {whole}");
    }
}

/// Neighbours come, go, choose this node and give it up again; each time that somebody asks, routes that
/// waited are those that were computed at every change.
#[test]
fn routes_that_wait_are_those_that_do_not() {
    for params in [OlsrParams::default(), OlsrParams { hysteresis: true, ..OlsrParams::default() }] {
        for run in 0..200 {
            let stream = &mut Streams::new(run, 0).stream(1, Purpose::Traffic);
            let (mut eager, mut idle) = (node(params.clone()), node(params.clone()));
            idle.compute_when_asked();
            let mut seconds = 0.0;
            for number in 0..120 {
                seconds += stream.uniform(0.0, 0.4);
                let from = 1 + stream.below(4);
                let chosen = [NeighbourType::Symmetric, NeighbourType::Mpr][stream.below(2) as usize];
                let others = (5..10).filter(|_| stream.below(2) == 0).collect::<Vec<_>>();
                let content = if stream.below(3) == 0 {
                    tc(5 + stream.below(5), number, number, &others)
                } else {
                    let me = listed(0, LinkType::Symmetric, chosen);
                    let near = others.into_iter().map(symmetric).chain([me]);
                    hello(from, number, &near.collect::<Vec<_>>())
                };
                for node in [&mut eager, &mut idle] {
                    wake(node, seconds);
                    hear(node, seconds, from, content.clone());
                }
                if stream.below(8) == 0 {
                    for dst in (1..10).map(NodeId) {
                        let found = [&eager, &idle]
                            .map(|node| (node.next_hop(at(seconds), dst), node.route_hops(at(seconds), dst)));
                        assert_eq!(found[0], found[1], "run {run}, {seconds} s, to {dst:?}");
                    }
                }
            }
        }
    }
}

/// docs/models/olsr.md: what a node sends in a cell of *n* neighbours in which nobody is a relay.
#[test]
fn a_cell_costs_what_its_hellos_cost() {
    const NODES: u32 = 8;
    let mut bench = Bench::new(NODES, maker(OlsrParams::default()));
    (0..NODES).for_each(|a| (0..a).for_each(|b| bench.link(a, b)));
    bench.run_until(at(220.0));
    let counted = bench.control_by(3).filter(|(time, _)| *time >= at(20.0));
    let (packets, bytes) =
        counted.fold((0, 0), |(packets, bytes), (_, packet)| (packets + 1, bytes + packet.bytes));
    let hello_bytes = 48 + 4 + 4 * (NODES - 1);
    assert_eq!(bytes, packets * hello_bytes);
    // An interval is between 1.5 and 2 s, 1.75 s on average.
    assert!((107..=122).contains(&packets), "{packets} HELLOs in 200 s");
}
