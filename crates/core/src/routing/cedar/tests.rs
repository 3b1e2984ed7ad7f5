//! Exact sequences of CEDAR, properties of its core, and the shared suite.

use std::collections::{BTreeSet, VecDeque};

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{at, data, suite};
use crate::wire::cedar::Question;

fn maker(params: CedarParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

/// Machines whose packets arrive at once and are never lost, with a clock.
struct Net {
    nodes: Vec<Cedar>,
    links: BTreeSet<[NodeId; 2]>,
    now: Time,
    /// Messages on the air: by whom, to whom, what.
    sent: Vec<(NodeId, NodeId, Message)>,
    /// Links that data packets crossed.
    crossed: Vec<[NodeId; 2]>,
    delivered: usize,
    dropped: Vec<DropReason>,
}

impl Net {
    fn new(nodes: u32, links: &[(u32, u32)]) -> Net {
        let params = Arc::new(CedarParams::default());
        let make = |node| {
            Cedar::new(NodeId(node), Arc::clone(&params), Streams::new(1, 0).stream(node, Purpose::Routing))
        };
        let mut net = Net {
            nodes: (0..nodes).map(make).collect(),
            links: links
                .iter()
                .flat_map(|&(a, b)| [[NodeId(a), NodeId(b)], [NodeId(b), NodeId(a)]])
                .collect(),
            now: Time::ZERO,
            sent: Vec::new(),
            crossed: Vec::new(),
            delivered: 0,
            dropped: Vec::new(),
        };
        net.nodes.iter_mut().for_each(|node| node.handle_start(Time::ZERO, &mut Vec::new()));
        net
    }

    /// Nodes at random in a square field, linked up to 250 m.
    fn random(nodes: u32, side_m: f64, seed: u64) -> Net {
        let mut stream = Streams::new(seed, 0).stream(0, Purpose::Mobility);
        let points: Vec<(f64, f64)> =
            (0..nodes).map(|_| (stream.uniform(0.0, side_m), stream.uniform(0.0, side_m))).collect();
        let near = |a: u32, b: u32| {
            let ((x, y), (u, v)) = (points[a as usize], points[b as usize]);
            (x - u) * (x - u) + (y - v) * (y - v) <= 250.0 * 250.0
        };
        let pairs = (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b)));
        Net::new(nodes, &pairs.filter(|&(a, b)| near(a, b)).collect::<Vec<_>>())
    }

    fn call(&mut self, node: NodeId, input: impl FnOnce(&mut Cedar, Time, &mut Vec<Action>)) {
        let mut actions = Vec::new();
        input(&mut self.nodes[node.index()], self.now, &mut actions);
        let mut queue: VecDeque<(NodeId, Action)> =
            actions.into_iter().map(|action| (node, action)).collect();
        while let Some((node, action)) = queue.pop_front() {
            let (now, mut actions) = (self.now, Vec::new());
            if let Some(packet) = action.packet()
                && let Payload::Cedar(message) = &packet.payload
                && matches!(action, Action::Send { .. } | Action::Broadcast { .. })
            {
                assert_eq!(packet.bytes, 20 + message.bytes());
                self.sent.push((node, packet.dst, Message::clone(message)));
            }
            match action {
                Action::Broadcast { packet, .. } => {
                    for [_, other] in self.links.iter().filter(|link| link[0] == node) {
                        let other = &mut self.nodes[other.index()];
                        let mut heard = Vec::new();
                        other.handle_incoming(now, packet.clone(), node, &mut heard);
                        queue.extend(heard.into_iter().map(|action| (other.node, action)));
                    }
                }
                Action::Send { packet, next_hop, .. } if self.links.contains(&[node, next_hop]) => {
                    if packet.is_data() {
                        self.crossed.push([node, next_hop]);
                    }
                    self.nodes[next_hop.index()].handle_incoming(now, packet, node, &mut actions);
                    queue.extend(actions.into_iter().map(|action| (next_hop, action)));
                }
                Action::Send { packet, next_hop, .. } => {
                    self.nodes[node.index()].handle_link_failure(now, packet, next_hop, &mut actions);
                    queue.extend(actions.into_iter().map(|action| (node, action)));
                }
                Action::Deliver(_) => self.delivered += 1,
                Action::Drop(packet, reason) if packet.is_data() => self.dropped.push(reason),
                Action::Drop(..) | Action::Consume(_) | Action::FlushQueue(_) | Action::Notify(_) => {}
            }
        }
    }

    fn run_until(&mut self, seconds: f64) {
        loop {
            let next = self.nodes.iter().map(|node| (node.next_timeout(), node.node)).min();
            let Some((time, node)) = next.filter(|(time, _)| *time <= at(seconds)) else { break };
            self.now = time;
            self.call(node, |node, now, actions| node.handle_timeout(now, actions));
        }
        self.now = at(seconds);
    }

    fn send(&mut self, src: u32, dst: u32) {
        self.call(NodeId(src), |node, now, actions| {
            node.handle_outgoing(now, data(1, src, dst, 0), actions);
        });
    }

    fn dominators(&self) -> Vec<u32> {
        let chosen = |node: &Cedar| node.dominator.expect("chosen by now").0;
        self.nodes.iter().map(chosen).collect()
    }

    fn core(&self) -> BTreeSet<NodeId> {
        self.nodes.iter().filter(|node| node.effective_degree() > 0).map(|node| node.node).collect()
    }

    /// Hops from a node to all that can be reached.
    fn distances(&self, from: NodeId) -> BTreeMap<NodeId, usize> {
        let mut found = BTreeMap::from([(from, 0)]);
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            for link in self.links.iter().filter(|link| link[0] == node) {
                if !found.contains_key(&link[1]) {
                    found.insert(link[1], found[&node] + 1);
                    next.push_back(link[1]);
                }
            }
        }
        found
    }

    /// Who sent messages of this kind to whom.
    fn messages(&self, name: &str) -> Vec<(u32, u32)> {
        let wanted = self.sent.iter().filter(|(.., message)| message.name() == name);
        wanted.map(|(from, to, _)| (from.0, to.0)).collect()
    }
}

fn chain(nodes: u32) -> Net {
    Net::new(nodes, &(1..nodes).map(|node| (node - 1, node)).collect::<Vec<_>>())
}

fn nodes(numbers: &[u32]) -> Nodes {
    numbers.iter().map(|number| NodeId(*number)).collect()
}

#[test]
fn cedar_passes_the_suite() {
    suite(&maker(CedarParams::default()));
}

#[test]
fn the_core_dominates_and_is_connected_by_tunnels_of_three_hops() {
    let mut split = 0;
    for seed in 0..40 {
        let mut net = Net::random(30, 900.0, seed);
        net.run_until(15.0);
        let core = net.core();
        for (node, dominator) in net.dominators().into_iter().enumerate() {
            let link = [NodeId(node as u32), NodeId(dominator)];
            assert!(link[0] == link[1] || net.links.contains(&link), "seed {seed}: {link:?}");
            assert!(core.contains(&link[1]), "seed {seed}: {link:?}");
        }
        for node in &net.nodes {
            let reached = net.distances(node.node);
            split += usize::from(reached.len() < net.nodes.len());
            if !core.contains(&node.node) {
                continue;
            }
            let tunnels = node.neighbourhood.tunnels();
            let near: BTreeMap<NodeId, usize> = core
                .iter()
                .filter_map(|core| Some((*core, *reached.get(core)?)))
                .filter(|(_, hops)| (1..=3).contains(hops))
                .collect();
            let lengths: BTreeMap<NodeId, usize> =
                tunnels.iter().map(|(core, path)| (*core, path.len())).collect();
            assert_eq!(lengths, near, "seed {seed}: core nodes near {:?}", node.node);
            for path in tunnels.values() {
                let whole: Vec<NodeId> = [node.node].iter().chain(path).copied().collect();
                assert!(whole.windows(2).all(|pair| net.links.contains(&[pair[0], pair[1]])));
            }
            // Three hops are enough to reach the whole core of this part of the network.
            let mut seen = BTreeSet::from([node.node]);
            let mut next = vec![node.node];
            while let Some(core) = next.pop() {
                for other in net.nodes[core.index()].neighbourhood.tunnels().into_keys() {
                    if seen.insert(other) {
                        next.push(other);
                    }
                }
            }
            assert_eq!(seen, core.iter().filter(|core| reached.contains_key(core)).copied().collect());
        }
    }
    assert!(split > 0, "some of the networks are in parts");
}

/// Two stars whose hubs are two hops apart: 0 with 1 and 2, 4 with 5 and 6, and 3 between them.
fn two_stars() -> Net {
    Net::new(7, &[(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (4, 6)])
}

#[test]
fn nodes_choose_the_neighbour_of_the_largest_degree() {
    let mut net = two_stars();
    net.run_until(10.0);
    let chosen = net.dominators();
    assert_eq!([&chosen[..3], &chosen[4..]].concat(), [0, 0, 0, 4, 4, 4]);
    assert_eq!(net.core(), [NodeId(0), NodeId(4)].into(), "the node between them has chosen one of them");
    let told = |hub: u32, leaf: u32| {
        let joins = net.messages("join");
        joins.iter().filter(|join| **join == (leaf, hub)).count()
    };
    assert_eq!([told(0, 1), told(0, 2), told(4, 5), told(4, 6)], [1; 4], "each tells it once");
    assert_eq!(net.nodes[0].neighbourhood.tunnels()[&NodeId(4)], [NodeId(3), NodeId(4)]);
}

#[test]
fn of_equal_neighbours_a_node_chooses_itself_and_keeps_it() {
    let mut net = Net::new(2, &[(0, 1)]);
    net.run_until(2.9);
    assert_eq!(net.nodes.iter().filter_map(|node| node.dominator).count(), 0, "it listens for three beacons");
    net.run_until(10.0);
    let first = net.dominators()[0];
    assert_eq!(
        net.dominators(),
        [first; 2],
        "the first chooses itself, the other follows its effective degree"
    );
    assert_eq!(net.nodes[0].remembered(net.now), Some(1), "its neighbour");
    net.links.clear();
    net.run_until(20.0);
    assert_eq!(net.dominators(), [0, 1], "who has lost its dominator chooses again");
    assert_eq!(net.nodes[0].remembered(net.now), Some(0));
}

/// Leaf 1 of one star seeks leaf 6 of the other.
#[test]
fn a_search_goes_from_dominator_to_dominator_and_back() {
    let mut net = two_stars();
    net.run_until(10.0);
    net.sent.clear();
    net.send(1, 6);
    assert_eq!(net.delivered, 1);
    let said: Vec<_> = net.sent.iter().map(|(from, to, message)| (from.0, to.0, message.clone())).collect();
    let question = Question { source: NodeId(1), target: NodeId(6), id: 0 };
    let core_path = nodes(&[0, 4]);
    let message = |to: &[u32], content| Message { to: [nodes(to)].into(), content };
    let find = Content::Find { question, core_path: nodes(&[0]), served: nodes(&[4]) };
    let found = Content::Found { question, core_path: core_path.clone() };
    let build = Content::Build { question, core_path, route: nodes(&[1, 0, 3, 4]) };
    let reply = Content::Reply { question, route: nodes(&[1, 0, 3, 4, 6]) };
    let wanted = [
        (1, 0, message(&[], Content::Ask(question))),
        (0, 3, message(&[4], find.clone())),
        (3, 4, message(&[], find)),
        (4, 3, message(&[0], found.clone())),
        (3, 0, message(&[], found)),
        (0, 3, message(&[4], build.clone())),
        (3, 4, message(&[], build)),
        (4, 3, message(&[0, 1], reply.clone())),
        (3, 0, message(&[1], reply.clone())),
        (0, 1, message(&[], reply)),
    ];
    assert_eq!(said, wanted);
    assert_eq!(net.nodes[1].source_route(net.now, NodeId(6)).as_deref(), Some(&*nodes(&[1, 0, 3, 4, 6])));
    let hops: Vec<[u32; 2]> = net.crossed.iter().map(|[a, b]| [a.0, b.0]).collect();
    assert_eq!(hops, [[1, 0], [0, 3], [3, 4], [4, 6]]);
}

/// No node of ours makes such a core path. Who is named again would take the message again, without end.
#[test]
fn a_core_path_that_names_nodes_twice_ends() {
    let mut net = two_stars();
    net.run_until(10.0);
    let question = Question { source: NodeId(1), target: NodeId(9), id: 0 };
    for (core_path, sent) in [(nodes(&[0, 4, 0]), 0), (nodes(&[0, 4, 0, 4]), 2)] {
        net.sent.clear();
        let content = Content::Build { question, core_path, route: nodes(&[1, 0]) };
        net.call(NodeId(0), |node, now, actions| {
            node.pass_on(now, &[nodes(&[])], content, NodeId(1), actions);
        });
        assert_eq!(net.sent.len(), sent);
    }
}

#[test]
fn what_is_near_needs_no_search_and_what_the_dominator_sees_no_core_broadcast() {
    let mut net = Net::new(8, &[(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (4, 6), (2, 7)]);
    net.run_until(10.0);
    net.sent.clear();
    net.send(1, 2);
    assert_eq!((net.delivered, net.sent.len()), (1, 0), "1 knows the neighbours of its neighbour");
    net.send(1, 7);
    assert_eq!((net.delivered, net.messages("ask"), net.messages("rrep")), (2, vec![(1, 0)], vec![(0, 1)]));
    assert!(net.messages("find").is_empty());
}

#[test]
fn a_search_asks_three_times_and_gives_up() {
    let mut net = Net::new(2, &[(0, 1)]);
    net.run_until(10.0);
    net.sent.clear();
    let asker = 1 - net.dominators()[0];
    net.send(asker, 7);
    let mut asked = Vec::new();
    for tenth in 0..100 {
        net.run_until(10.0 + f64::from(tenth) / 10.0);
        while asked.len() < net.messages("ask").len() {
            asked.push(tenth);
        }
        if !net.dropped.is_empty() {
            assert_eq!((asked, tenth, &*net.dropped), (vec![0, 10, 30], 70, &[DropReason::NoRoute][..]));
            return;
        }
    }
    panic!("the search has no end");
}

#[test]
fn a_core_broadcast_reaches_the_whole_core_and_is_passed_on_once_by_each() {
    let (mut found, mut flooded) = (0, 0);
    for seed in 0..40 {
        let mut net = Net::random(50, 900.0, seed);
        net.run_until(15.0);
        net.sent.clear();
        // Nobody is node 99.
        net.send(0, 99);
        let reached = net.distances(NodeId(0));
        let core: BTreeSet<NodeId> =
            net.core().into_iter().filter(|core| reached.contains_key(core)).collect();
        let name = (NodeId(0), 0);
        let has = |node: &&Cedar| node.seen.holds(net.now, name);
        let got: BTreeSet<NodeId> = net.nodes.iter().filter(has).map(|node| node.node).collect();
        assert_eq!(got, core, "seed {seed}");
        let finds = net.messages("find").len();
        assert!(finds < reached.len(), "seed {seed}: {finds} messages, and a flood has {}", reached.len());
        found += finds;
        flooded += reached.len();
    }
    assert!(found < flooded / 2, "{found} and {flooded}");
}

#[test]
fn routes_go_over_links_that_are_known_and_come_to_no_node_twice() {
    let mut arrived = 0;
    for seed in 0..20 {
        let mut net = Net::random(40, 1000.0, seed);
        net.run_until(15.0);
        for dst in 1..40 {
            let before = net.delivered;
            net.send(0, dst);
            let reached = net.distances(NodeId(0)).contains_key(&NodeId(dst));
            assert_eq!(net.delivered - before, usize::from(reached), "seed {seed} to {dst}");
            if let Some(route) = net.nodes[0].source_route(net.now, NodeId(dst)) {
                assert!(route.windows(2).all(|pair| net.links.contains(&[pair[0], pair[1]])));
                assert_eq!(route.iter().collect::<BTreeSet<_>>().len(), route.len());
                arrived += 1;
            }
        }
    }
    assert!(arrived > 400, "{arrived}");
}

/// 0 – 1 – 2 – 3 with 4 beside the link between 1 and 2.
#[test]
fn a_packet_goes_around_a_broken_link_and_its_source_is_told() {
    let mut net = Net::new(5, &[(0, 1), (1, 2), (2, 3), (1, 4), (4, 2)]);
    net.run_until(10.0);
    net.send(0, 3);
    assert_eq!(net.nodes[0].source_route(net.now, NodeId(3)).as_deref(), Some(&*nodes(&[0, 1, 2, 3])));
    net.crossed.clear();
    net.sent.clear();
    net.links.retain(|link| *link != [NodeId(1), NodeId(2)] && *link != [NodeId(2), NodeId(1)]);
    net.send(0, 3);
    let hops: Vec<[u32; 2]> = net.crossed.iter().map(|[a, b]| [a.0, b.0]).collect();
    assert_eq!((hops, net.delivered), (vec![[0, 1], [1, 4], [4, 2], [2, 3]], 2));
    assert_eq!(net.messages("rerr"), [(1, 0)]);
    assert!(net.nodes[0].source_route(net.now, NodeId(3)).is_none());
    // What 1 tells of its links does not make 0 take that link again.
    net.send(0, 3);
    assert_eq!(net.delivered, 3);
    assert!(net.crossed[4..].iter().all(|link| *link != [NodeId(1), NodeId(2)]));
}

#[test]
fn without_rerouting_the_packet_is_lost() {
    let mut net = Net::new(5, &[(0, 1), (1, 2), (2, 3), (1, 4), (4, 2)]);
    for node in &mut net.nodes {
        node.params = Arc::new(CedarParams { reroute: false, ..CedarParams::default() });
    }
    net.run_until(10.0);
    net.send(0, 3);
    net.links.retain(|link| *link != [NodeId(1), NodeId(2)] && *link != [NodeId(2), NodeId(1)]);
    net.send(0, 3);
    assert_eq!((net.delivered, &*net.dropped), (1, &[DropReason::LinkFailure][..]));
}

#[test]
fn a_neighbour_that_does_not_hear_this_node_is_not_used() {
    let mut net = chain(3);
    net.links.remove(&[NodeId(1), NodeId(0)]);
    net.run_until(10.0);
    assert_eq!(net.nodes[1].neighbourhood.one_way().collect::<Vec<_>>(), [NodeId(0)]);
    assert_eq!(net.nodes[0].dominator, Some(NodeId(0)), "0 hears nobody");
    let now = net.now;
    let routes = [[1, 2], [1, 0], [0, 2]].map(|route| nodes(&route));
    let taken = routes.map(|route| net.nodes[1].learn_route(now, route, &mut Vec::new()));
    assert_eq!(taken, [true, false, false], "from 1 itself to a neighbour that hears it");
    net.send(2, 0);
    net.run_until(20.0);
    assert_eq!((net.delivered, &*net.dropped), (0, &[DropReason::NoRoute][..]));
}

#[test]
fn routes_over_a_neighbour_that_no_longer_hears_this_node_are_forgotten() {
    let mut net = Net::new(3, &[(0, 1), (0, 2)]);
    net.run_until(10.0);
    net.send(0, 1);
    net.send(0, 2);
    let beacon = net.nodes[0].neighbourhood.beacon_of(NodeId(1)).expect("a neighbour").clone();
    let beacon = Beacon { neighbours: nodes(&[]), heard: nodes(&[]), ..beacon };
    net.call(NodeId(0), |node, now, actions| node.receive_beacon(now, beacon, NodeId(1), actions));
    let hops = [1, 2].map(|dst| net.nodes[0].route_hops(net.now, NodeId(dst)));
    assert_eq!(hops, [None, Some(1)]);
}
