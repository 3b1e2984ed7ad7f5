//! Exact sequences of SSA, the shared suite, and how long the links of its routes live.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::mobility::waypoint::{self, WaypointParams};
use crate::mobility::{Path, Trajectory};
use crate::routing::testbench::{Bench, at, data, loops_in_random_networks, suite};
use crate::topology::Graph;

const ME: NodeId = NodeId(1);
/// Ample and insufficient for a strong link with the defaults of the radio, whose threshold is 3.65e-10 W.
const STRONG_W: f64 = 9e-10;
const WEAK_W: f64 = 8e-10;

fn maker(params: SsaParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let (params, radio) = (Arc::new(params), Arc::new(RadioParams::default()));
    move |node| new(node, &params, &radio, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn stronger_first() -> SsaParams {
    SsaParams { second_search: params::SecondSearch::StrongPreferred, ..SsaParams::default() }
}

fn machine(params: SsaParams) -> Ssa {
    let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
    let mut node = Ssa::new(ME, Arc::new(params), &RadioParams::default(), stream);
    node.handle_start(at(0.0), &mut Vec::new());
    node
}

/// A node that has heard five beacons, up to 5 s, of strong neighbours 2 and 3 and of a weak one, 4.
fn among_neighbours(params: SsaParams) -> Ssa {
    let mut node = machine(params);
    for second in 1..=5 {
        for (from, power_w) in [(2, STRONG_W), (3, STRONG_W), (4, WEAK_W)] {
            let now = at(f64::from(second));
            node.handle_rx_power(now, NodeId(from), power_w);
            assert_eq!(hear(&mut node, now, from, beacon(from)), []);
        }
    }
    node
}

fn message(kind: Kind, (source, destination): (u32, u32), number: u32, nodes: &[u32]) -> Message {
    Message {
        kind,
        preference: Preference::StrongOnly,
        ttl: if kind == Kind::Search { 35 } else { 1 },
        source: NodeId(source),
        destination: NodeId(destination),
        number,
        nodes: nodes.iter().map(|node| NodeId(*node)).collect(),
    }
}

fn beacon(from: u32) -> Message {
    message(Kind::Beacon, (from, NodeId::BROADCAST.0), 0, &[])
}

/// What the machine does when a message comes from a neighbour.
fn hear(node: &mut Ssa, now: Time, from: u32, message: Message) -> Vec<Action> {
    let packet = Packet { uid: 77, ..Packet::control(now, NodeId(from), ME, 1, 60, Payload::Ssa(message)) };
    let mut actions = Vec::new();
    node.handle_incoming(now, packet, NodeId(from), &mut actions);
    assert!(matches!(actions.remove(0), Action::Consume(_)));
    actions
}

/// What is sent: to whom, and what.
fn sent(actions: &[Action]) -> Vec<(NodeId, Message)> {
    let content = |packet: &Packet| match &packet.payload {
        Payload::Ssa(message) => {
            assert_eq!(packet.bytes, 36 + 4 * message.nodes.len() as u32);
            Some((packet.dst, message.clone()))
        }
        _ => None,
    };
    actions.iter().filter_map(Action::packet).filter_map(content).collect()
}

fn transport_sends(node: &mut Ssa, now: Time, dst: u32) -> Vec<Action> {
    let mut actions = Vec::new();
    node.handle_outgoing(now, data(1, ME.0, dst, 0), &mut actions);
    actions
}

/// All that the machine does by itself after `now` and up to `until`, but for its beacons.
fn wait(node: &mut Ssa, until: Time) -> Vec<(Time, Action)> {
    let mut all = Vec::new();
    while node.next_timeout() <= until {
        let (now, mut actions) = (node.next_timeout(), Vec::new());
        node.handle_timeout(now, &mut actions);
        actions.retain(|action| action.packet().is_none_or(|packet| packet.name() != "beacon"));
        all.extend(actions.into_iter().map(|action| (now, action)));
    }
    all
}

/// Nodes that rest at these points, on the air.
fn resting(points: &[(f64, f64)], params: SsaParams) -> Bench {
    let paths = points.iter().map(|(x, y)| Path::new(&Trajectory::fixed(*x, *y))).collect();
    Bench::on_the_air(paths, maker(params))
}

fn way(bench: &Bench, src: u32, dst: u32) -> Option<Vec<u32>> {
    bench.way(src, dst).map(|way| way.iter().map(|node| node.0).collect())
}

#[test]
fn ssa_passes_the_suite_whatever_its_second_search() {
    suite(&maker(SsaParams::default()));
    suite(&maker(stronger_first()));
}

#[test]
fn next_hops_never_lead_in_circles() {
    assert_eq!(loops_in_random_networks(&maker(SsaParams::default()), 0..24, true), Vec::<u64>::new());
}

#[test]
fn only_searches_over_strong_links_are_passed_on_and_once() {
    let mut node = among_neighbours(SsaParams::default());
    let search = |nodes: &[u32]| message(Kind::Search, (5, 9), 7, nodes);
    assert_eq!(hear(&mut node, at(5.1), 4, search(&[5, 4])), [], "over a weak link");
    assert_eq!(hear(&mut node, at(5.1), 6, search(&[5, 6])), [], "from a node of which nothing is known");
    assert_eq!(hear(&mut node, at(5.1), 2, search(&[5, 1, 2])), [], "it has been here");
    let actions = hear(&mut node, at(5.2), 2, search(&[5, 2]));
    let passed_on = Message { ttl: 34, ..search(&[5, 2, 1]) };
    assert_eq!(sent(&actions), [(NodeId::BROADCAST, passed_on)]);
    assert_eq!(hear(&mut node, at(5.3), 3, search(&[5, 3])), [], "the first copy counts");
    let last = Message { ttl: 1, ..message(Kind::Search, (5, 9), 8, &[5, 2]) };
    assert_eq!(hear(&mut node, at(5.4), 2, last), [], "it may cross no more links");
    // The first strong copy came at 5.2 s, so the second search, which takes any link, is another one.
    let any = Message { preference: Preference::Any, ..message(Kind::Search, (5, 9), 9, &[5, 4]) };
    assert_eq!(sent(&hear(&mut node, at(6.2), 4, any)).len(), 1);
}

#[test]
fn the_destination_answers_the_first_search_over_a_strong_link() {
    let mut node = among_neighbours(SsaParams::default());
    let search = |number, nodes: &[u32]| message(Kind::Search, (5, 1), number, nodes);
    assert_eq!(hear(&mut node, at(5.1), 4, search(7, &[5, 4])), [], "over a weak link");
    let reply = |number, nodes: &[u32]| Message { ttl: 35, ..message(Kind::Reply, (5, 1), number, nodes) };
    let answered = sent(&hear(&mut node, at(5.2), 2, search(7, &[5, 6, 2])));
    assert_eq!(answered, [(NodeId(2), reply(5200, &[5, 6, 2, 1]))]);
    assert_eq!(hear(&mut node, at(5.2), 3, search(7, &[5, 3])), [], "shorter, but later");
    let next = sent(&hear(&mut node, at(5.2), 3, search(8, &[5, 3])));
    assert_eq!(next, [(NodeId(3), reply(5201, &[5, 3, 1]))], "numbers grow in the same millisecond, too");
}

#[test]
fn a_search_in_vain_is_followed_by_one_over_other_links_and_by_none() {
    for (params, preference) in
        [(SsaParams::default(), Preference::Any), (stronger_first(), Preference::StrongPreferred)]
    {
        let mut node = machine(params);
        let mut all: Vec<(Time, Action)> =
            transport_sends(&mut node, at(1.0), 9).into_iter().map(|action| (at(1.0), action)).collect();
        assert_eq!(transport_sends(&mut node, at(1.5), 9), [], "one search at a time");
        all.extend(wait(&mut node, at(60.0)));
        let first = message(Kind::Search, (1, 9), 1, &[1]);
        let second = Message { preference, number: 2, ..first.clone() };
        let asked: Vec<(Time, Message)> = all
            .iter()
            .flat_map(|(time, action)| {
                sent(std::slice::from_ref(action)).into_iter().map(|(_, m)| (*time, m))
            })
            .collect();
        assert_eq!(asked, [(at(1.0), first), (at(2.0), second)]);
        let dropped = all.iter().filter(|(time, action)| {
            *time == at(3.0) && matches!(action, Action::Drop(_, DropReason::NoRoute))
        });
        assert_eq!(dropped.count(), 2);
    }
}

/// A weak copy of a search that prefers strong links waits 40 ms, and is of no use if a strong one comes.
#[test]
fn a_search_that_prefers_strong_links_waits_for_them() {
    let search = |nodes: &[u32]| Message {
        preference: Preference::StrongPreferred,
        ..message(Kind::Search, (5, 9), 7, nodes)
    };
    for is_strong_later in [false, true] {
        let mut node = among_neighbours(stronger_first());
        assert_eq!(hear(&mut node, at(5.1), 4, search(&[5, 4])), []);
        let mut passed = Vec::new();
        if is_strong_later {
            passed = sent(&hear(&mut node, at(5.12), 2, search(&[5, 2])));
            assert_eq!(passed.len(), 1);
        }
        for (time, action) in wait(&mut node, at(5.2)) {
            assert_eq!(time, at(5.14));
            passed.extend(sent(&[action]));
        }
        let over = if is_strong_later { 2 } else { 4 };
        let wanted = Message { ttl: 34, ..search(&[5, over, 1]) };
        assert_eq!(passed, [(NodeId::BROADCAST, wanted)]);
    }
}

#[test]
fn a_reply_makes_the_route_and_goes_back_along_the_list() {
    let mut node = machine(SsaParams::default());
    let reply = message(Kind::Reply, (5, 9), 4000, &[5, 1, 2, 9]);
    assert_eq!(hear(&mut node, at(4.1), 3, reply.clone()), [], "from a node that is not the next one");
    assert_eq!(sent(&hear(&mut node, at(4.1), 2, reply.clone())), [(NodeId(5), reply)]);
    let route = node.route_now(at(4.1), NodeId(9));
    assert_eq!(route, Some(RouteNow { next_hop: NodeId(2), hops: Some(2), until: at(14.1) }));
    let older = message(Kind::Reply, (6, 9), 3999, &[6, 1, 3, 9]);
    assert_eq!(sent(&hear(&mut node, at(4.2), 3, older)).len(), 1, "the source is served all the same");
    assert_eq!(node.next_hop(at(4.2), NodeId(9)), Some(NodeId(2)));
}

/// Node 1 sends to 9 over 2 and relays for 5, whose packets come over 3.
fn with_two_flows() -> Ssa {
    let mut node = machine(SsaParams::default());
    transport_sends(&mut node, at(4.0), 9);
    let actions = hear(&mut node, at(4.1), 2, message(Kind::Reply, (1, 9), 4000, &[1, 2, 9]));
    assert!(matches!(&actions[..], [Action::Send { next_hop: NodeId(2), .. }]), "{actions:?}");
    let mut actions = Vec::new();
    node.handle_incoming(at(4.2), data(2, 5, 9, 2), NodeId(3), &mut actions);
    assert!(matches!(&actions[..], [Action::Send { next_hop: NodeId(2), .. }]), "{actions:?}");
    node
}

#[test]
fn a_break_is_told_to_sources_and_the_node_itself_searches_anew() {
    let mut node = with_two_flows();
    let mut actions = Vec::new();
    node.handle_link_failure(at(5.0), data(3, 1, 9, 0), NodeId(2), &mut actions);
    assert_eq!(actions[0], Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: false }));
    let error = Message { preference: Preference::Any, ..message(Kind::Error, (5, 9), 4000, &[1, 2]) };
    let search = message(Kind::Search, (1, 9), 2, &[1]);
    assert_eq!(sent(&actions), [(NodeId::BROADCAST, search), (NodeId(3), error)]);
    assert!(actions.contains(&Action::FlushQueue(NodeId(2))));
    assert_eq!(node.next_hop(at(5.0), NodeId(9)), None);
    // What still comes of the other flow is answered by an error, too: the route ends here.
    let mut actions = Vec::new();
    node.handle_incoming(at(5.1), data(4, 5, 9, 2), NodeId(3), &mut actions);
    let error = Message { preference: Preference::Any, ..message(Kind::Error, (5, 9), 4000, &[1]) };
    assert_eq!(sent(&actions), [(NodeId(3), error)]);
    assert!(matches!(actions.last(), Some(Action::Drop(_, DropReason::NoRoute))));
    // The old reply, had it been late, would not be believed; the new one ends the search.
    hear(&mut node, at(5.2), 2, message(Kind::Reply, (5, 9), 4000, &[5, 3, 1, 2, 9]));
    assert_eq!(node.next_hop(at(5.2), NodeId(9)), None);
    let actions = hear(&mut node, at(5.3), 3, message(Kind::Reply, (1, 9), 5250, &[1, 3, 9]));
    assert_eq!(actions, [Action::Notify(Notice::RouteFound { dst: NodeId(9) })]);
}

#[test]
fn an_error_is_passed_on_or_makes_the_source_erase_and_search() {
    let mut node = with_two_flows();
    let error = |source, number| message(Kind::Error, (source, 9), number, &[2, 9]);
    assert_eq!(hear(&mut node, at(5.0), 3, error(1, 4000)), [], "not of the next hop");
    let passed_on = sent(&hear(&mut node, at(5.0), 2, error(5, 4000)));
    assert_eq!(passed_on, [(NodeId(3), error(5, 4000))]);
    assert_eq!(hear(&mut node, at(5.0), 2, error(1, 3999)), [], "of a route that is replaced");
    let actions = hear(&mut node, at(5.1), 2, error(1, 4000));
    assert_eq!(actions[0], Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: true }));
    let erase = message(Kind::Erase, (1, 9), 4000, &[]);
    let search = message(Kind::Search, (1, 9), 2, &[1]);
    assert_eq!(sent(&actions), [(NodeId(2), erase), (NodeId::BROADCAST, search)]);
    assert_eq!(hear(&mut node, at(5.2), 2, error(1, 4000)), [], "it is known");
}

#[test]
fn an_erased_route_is_given_up_unless_it_is_newer() {
    let mut node = with_two_flows();
    assert_eq!(hear(&mut node, at(5.0), 3, message(Kind::Erase, (5, 9), 3999, &[])), []);
    let erase = message(Kind::Erase, (5, 9), 4000, &[]);
    let actions = hear(&mut node, at(5.0), 3, erase.clone());
    assert_eq!(sent(&actions), [(NodeId(2), erase)]);
    assert_eq!(node.next_hop(at(5.0), NodeId(9)), None);
    assert_eq!(sent(&transport_sends(&mut node, at(5.1), 9)).len(), 1, "its own next packet searches");
}

/// Five nodes in a row whose fourth link breaks at 20 s: the error goes back over three hops, the erasure
/// follows it, and two searches find nobody.
#[test]
fn a_break_far_away_is_told_erased_and_searched_around() {
    let mut bench = Bench::new(5, maker(SsaParams::default()));
    bench.chain(5);
    bench.flow(0, 4, 10.0, 20.5);
    bench.unlink_at(at(20.1), 3, 4);
    bench.run_until(at(24.0));
    let told = |node: u32| -> Vec<&str> {
        let since = bench.control_by(node).filter(|(time, _)| *time > at(20.1));
        since.map(|(_, packet)| packet.name()).filter(|name| *name != "beacon").collect()
    };
    assert_eq!(told(0)[..3], ["erase", "rreq", "rreq"]);
    assert_eq!(told(1)[..4], ["rerr", "erase", "rreq", "rreq"]);
    assert_eq!(told(3)[..3], ["rerr", "rreq", "rreq"], "the erasure ends where the route does");
    assert_eq!(way(&bench, 1, 4), None);
    bench.assert_balanced();
}

/// Over two links of 240 m, or over three of 176 m: 200 m are strong.
#[test]
fn strong_links_are_preferred_to_few_and_weak_ones_serve_where_there_are_no_others() {
    let points = [(0.0, 0.0), (240.0, 0.0), (160.0, 74.0), (320.0, 74.0), (480.0, 0.0)];
    let mut bench = resting(&points, SsaParams::default());
    bench.send_at(at(10.0), 0, 4);
    bench.run_until(at(10.9));
    assert_eq!((bench.delivered(0, 4), way(&bench, 0, 4)), (1, Some(vec![0, 2, 3, 4])));
    let mut bench = resting(&[points[0], points[1], points[4]], SsaParams::default());
    bench.send_at(at(10.0), 0, 2);
    bench.run_until(at(10.9));
    assert_eq!(way(&bench, 0, 2), None, "the first search is for strong links only");
    bench.run_until(at(11.1));
    assert_eq!((bench.delivered(0, 2), way(&bench, 0, 2)), (1, Some(vec![0, 1, 2])));
}

/// A neighbour that goes away is missed after three beacons, without a packet that fails.
#[test]
fn a_silent_neighbour_is_a_broken_link() {
    let mut node = among_neighbours(SsaParams::default());
    transport_sends(&mut node, at(5.0), 2);
    hear(&mut node, at(5.1), 2, message(Kind::Reply, (1, 2), 5050, &[1, 2]));
    let failed: Vec<Time> = wait(&mut node, at(9.0))
        .into_iter()
        .filter(|(_, action)| *action == Action::Notify(Notice::RouteFailed { dst: NodeId(2), told: false }))
        .map(|(time, _)| time)
        .collect();
    assert_eq!(failed, [at(8.5)]);
}

const RANGE_M: f64 = 250.0;

/// For how long from `now` on the links of a way hold, on average, in s.
fn link_life_s(paths: &[Path], now: Time, way: &[u32]) -> f64 {
    let life = |ends: &[u32]| {
        let [a, b] = [ends[0], ends[1]].map(|node| &paths[node as usize]);
        let times = (0..1000).map(|tenth| now + Span::from_millis(100 * tenth));
        let mut held = times.take_while(|time| a.position(*time).distance(b.position(*time)) <= RANGE_M);
        held.by_ref().count() as f64 / 10.0
    };
    way.windows(2).map(life).sum::<f64>() / (way.len() - 1) as f64
}

/// A way of the fewest hops, of several the one over the lowest numbers.
fn shortest_way(paths: &[Path], now: Time, src: u32, dst: u32) -> Option<Vec<u32>> {
    let graph = Graph::of(paths, now, RANGE_M);
    let mut before = vec![None; graph.nodes()];
    before[src as usize] = Some(src);
    let mut waiting = std::collections::VecDeque::from([src]);
    while let Some(node) = waiting.pop_front() {
        for &next in graph.neighbours(node) {
            if before[next as usize].is_none() {
                before[next as usize] = Some(node);
                waiting.push_back(next);
            }
        }
    }
    let mut way = vec![dst];
    while *way.last()? != src {
        way.push(before[*way.last()? as usize]?);
    }
    way.reverse();
    Some(way)
}

/// Forty nodes that move at 1 to 20 m/s; every 2 s a packet from a random node to another.
#[test]
fn links_of_its_routes_live_longer_than_those_of_shortest_ways() {
    let field = WaypointParams { nodes: 40, width_m: 1500.0, height_m: 300.0, ..WaypointParams::default() };
    let mut gains = Vec::new();
    for run in 0..6 {
        let streams = Streams::new(5, run);
        let movement = waypoint::generate(&field, Span::from_secs(200.0), &streams).expect("a field");
        let paths: Arc<[Path]> = movement.iter().map(Path::new).collect();
        let mut bench = Bench::on_the_air(Arc::clone(&paths), maker(SsaParams::default()));
        bench.watch_loops = false;
        let mut draws = streams.stream(0, Purpose::Traffic);
        for second in (20..80).step_by(2) {
            let (src, dst, now) = (draws.below(40), draws.below(40), at(f64::from(second)));
            if src == dst {
                continue;
            }
            bench.send_at(now, src, dst);
            bench.run_until(now + Span::from_millis(1900));
            let ways = (way(&bench, src, dst), shortest_way(&paths, now, src, dst));
            if let (Some(chosen), Some(shortest)) = ways {
                gains.push(link_life_s(&paths, now, &chosen) - link_life_s(&paths, now, &shortest));
            }
        }
    }
    let (n, sum) = (gains.len() as f64, gains.iter().sum::<f64>());
    let mean = sum / n;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(n > 100.0 && mean > 3.0 * error, "links live {mean} s longer, give or take {error}, of {n}");
}

#[test]
fn nothing_is_remembered_for_longer_than_its_time() {
    let mut node = with_two_flows();
    hear(
        &mut node,
        at(5.0),
        3,
        Message { preference: Preference::Any, ..message(Kind::Search, (5, 8), 1, &[5, 3]) },
    );
    hear(&mut node, at(5.0), 3, beacon(3));
    assert_eq!(node.remembered(at(5.0)), Some(5), "a route, two flows, a search, a neighbour");
    wait(&mut node, at(60.0));
    assert_eq!(node.remembered(at(60.0)), Some(0));
}
