//! One node's B.A.T.M.A.N. on a virtual clock, networks on the bench, and all of it in the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{
    Bench, Pace, a_restarted_node_forwards_again, at, data, loops_in_random_networks, suite_at_pace,
};
use crate::wire::batman::Form;

/// Routes are there after a few messages; a way that carries none any more loses its rank in five.
const PACE: Pace = Pace { settled_s: 20.0, recovered_s: 60.0 };

fn maker(params: BatmanParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

#[test]
fn it_passes_the_suite() {
    suite_at_pace(&maker(BatmanParams::default()), PACE);
    suite_at_pace(&maker(BatmanParams::batmand()), PACE);
    suite_at_pace(&maker(BatmanParams { aggregation_ms: 0.0, ..BatmanParams::default() }), PACE);
}

/// B.A.T.M.A.N. promises no freedom from loops while messages spread; no run breaks the books.
#[test]
fn it_survives_random_networks() {
    for params in [BatmanParams::default(), BatmanParams::batmand()] {
        loops_in_random_networks(&maker(params), 0..3, false);
    }
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    a_restarted_node_forwards_again(maker(BatmanParams::default()));
}

/// The node under test; the others are whoever the tests say.
const ME: NodeId = NodeId(0);

fn node(params: BatmanParams) -> Batman {
    let mut node = Batman::new(ME, Arc::new(params), Streams::new(1, 0).stream(0, Purpose::Routing));
    node.handle_start(at(0.0), &mut Vec::new());
    node
}

/// A message of `origin` as `previous`'s neighbour passes it on, or the originator itself sends it.
fn ogm(origin: u32, previous: u32, seqno: u32, tq: u8) -> Ogm {
    let (origin, previous) = (NodeId(origin), NodeId(previous));
    Ogm { origin, previous, seqno, ttl: 50, tq, is_direct: false, is_not_best: false }
}

/// This node's own message as its neighbour echoes it.
fn echo(seqno: u32) -> Ogm {
    Ogm { is_direct: true, ttl: 49, ..ogm(0, 0, seqno, 200) }
}

fn hear(node: &mut Batman, seconds: f64, from: u32, ogms: &[Ogm]) {
    let content = BatmanPacket { form: Form::Adv { tvlv_bytes: 28 }, ogms: ogms.into() };
    let (bytes, payload) = (content.bytes(), Payload::Batman(content));
    let packet = Packet::control(at(seconds), NodeId(from), NodeId::BROADCAST, 1, bytes, payload);
    node.handle_incoming(at(seconds), packet, NodeId(from), &mut Vec::new());
}

/// The messages that were sent until then.
fn sent(node: &mut Batman, seconds: f64) -> Vec<Ogm> {
    let mut actions = Vec::new();
    while node.next_timeout() <= at(seconds) {
        let due = node.next_timeout();
        node.handle_timeout(due, &mut actions);
    }
    let contents = actions.iter().filter_map(|action| match action.packet().map(|packet| &packet.payload) {
        Some(Payload::Batman(content)) => Some(content.ogms.iter().copied()),
        _ => None,
    });
    contents.flatten().collect()
}

/// Makes neighbours of these nodes on links that have been good for a minute; the time is then 64 s.
fn meet(node: &mut Batman, neighbours: &[u32]) {
    for second in 1..=64 {
        sent(node, f64::from(second));
        let seqno = node.seqno;
        for &from in neighbours {
            hear(node, f64::from(second), from, &[ogm(from, from, second, BEST), echo(seqno)]);
        }
    }
}

fn mean(node: &Batman, origin: u32, over: u32) -> u8 {
    node.originators.get(NodeId(origin)).map_or(0, |each| each.mean_over(NodeId(over)))
}

/// Every message of a neighbour goes back to it, so that it learns how well it is heard.
#[test]
fn a_neighbour_is_echoed_and_reached_when_it_echoes() {
    let mut node = node(BatmanParams::default());
    sent(&mut node, 1.0);
    hear(&mut node, 1.1, 1, &[ogm(1, 1, 7, BEST)]);
    assert_eq!(node.next_hop(at(1.1), NodeId(1)), None, "nothing says that it hears this node");
    let echoed = sent(&mut node, 1.3).into_iter().find(|ogm| ogm.origin == NodeId(1)).expect("an echo");
    assert_eq!(
        (echoed.is_direct, echoed.is_not_best, echoed.ttl, echoed.previous),
        (true, true, 49, NodeId(1))
    );
    let seqno = node.seqno;
    hear(&mut node, 1.4, 1, &[echo(seqno)]);
    hear(&mut node, 2.1, 1, &[ogm(1, 1, 8, BEST)]);
    assert_eq!(node.next_hop(at(2.1), NodeId(1)), Some(NodeId(1)));
    let echoed: Vec<Ogm> = sent(&mut node, 2.3).into_iter().filter(|ogm| ogm.seqno == 8).collect();
    assert!(matches!(echoed[..], [Ogm { is_direct: true, is_not_best: false, .. }]), "{echoed:?}");
}

/// Quality on links of which messages come back less and less, or of which few have come.
#[test]
fn quality_falls_with_echoes_and_on_links_that_are_heard_little() {
    let heard = [64, 51, 32, 16, 8, 1].map(|heard| {
        let mut node = node(BatmanParams::default());
        let link = node.originators.entry(at(0.0), NodeId(1), Span::from_secs(200.0));
        for seqno in 1..=heard {
            link.note(at(0.0), &ogm(1, 1, seqno, BEST), NodeId(1), &BatmanParams::default());
            link.await_echo();
            link.echo(0);
        }
        node.quality(BEST, NodeId(1))
    });
    assert_eq!(heard, [255, 253, 224, 148, 85, 12]);
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1]);
    assert_eq!(node.quality(BEST, NodeId(1)), 255);
    (0..32).for_each(|_| node.originators.iter_mut().for_each(originators::Originator::await_echo));
    assert_eq!(node.quality(BEST, NodeId(1)), 127);
}

/// docs/models/batman.md: the quality of far nodes over perfect links.
#[test]
fn quality_falls_with_every_hop() {
    let over_hops = |params: &BatmanParams, hops: usize| {
        let mut qualities = vec![BEST];
        while qualities.len() < hops {
            let here = *qualities.last().expect("one");
            let here = if params.half_duplex { params.penalised(here) } else { here };
            qualities.push(params.penalised(here));
        }
        qualities
    };
    let radio = [255, 198, 153, 119, 92, 71, 54, 41, 31, 23, 17, 13, 9, 6, 4, 2, 0];
    assert_eq!(over_hops(&BatmanParams::default(), 17), radio);
    let wired = BatmanParams { half_duplex: false, ..BatmanParams::default() };
    assert_eq!(over_hops(&wired, 9), [255, 225, 198, 174, 153, 135, 119, 105, 92]);
    assert_eq!(over_hops(&BatmanParams::batmand(), 5), [255, 245, 235, 225, 216]);
    // A chain of nodes makes them.
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1]);
    hear(&mut node, 64.1, 1, &[ogm(9, 2, 5, 198)]);
    assert_eq!(mean(&node, 9, 1), 198);
    let passed = sent(&mut node, 64.3).into_iter().find(|ogm| ogm.origin == NodeId(9)).expect("passed on");
    assert_eq!((passed.tq, passed.previous, passed.ttl, passed.is_direct), (153, NodeId(1), 49, false));
}

#[test]
fn the_better_way_is_taken_and_only_its_messages_go_on() {
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1, 2]);
    hear(&mut node, 64.1, 1, &[ogm(9, 3, 5, 100)]);
    assert_eq!(node.next_hop(at(64.1), NodeId(9)), Some(NodeId(1)));
    hear(&mut node, 64.2, 2, &[ogm(9, 4, 5, 200)]);
    assert_eq!(node.next_hop(at(64.2), NodeId(9)), Some(NodeId(2)), "the same message, better");
    sent(&mut node, 65.0);
    for (from, previous) in [(1, 3), (2, 4), (2, 4)] {
        hear(&mut node, 65.1, from, &[ogm(9, previous, 6, 200)]);
    }
    let passed: Vec<Ogm> = sent(&mut node, 65.5).into_iter().filter(|ogm| ogm.origin == NodeId(9)).collect();
    assert_eq!(passed.iter().map(|ogm| ogm.previous).collect::<Vec<_>>(), [NodeId(2)], "from the best, once");
    // A message that would lead back is not followed: 2 has it from 1, and 1 is the way to 8.
    hear(&mut node, 66.0, 1, &[ogm(8, 5, 1, 150)]);
    hear(&mut node, 66.0, 2, &[ogm(8, 1, 2, 255)]);
    assert_eq!(node.next_hop(at(66.0), NodeId(8)), Some(NodeId(1)));
    assert_eq!(mean(&node, 8, 2), 0);
}

/// Five new messages over another neighbour push the old qualities out.
#[test]
fn a_way_that_carries_nothing_loses_its_rank() {
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1, 2]);
    hear(&mut node, 64.1, 1, &[ogm(9, 3, 5, 250)]);
    for seqno in 6..12 {
        hear(&mut node, 64.2, 2, &[ogm(9, 4, seqno, 50)]);
        let router = if seqno < 10 { NodeId(1) } else { NodeId(2) };
        assert_eq!(node.next_hop(at(64.2), NodeId(9)), Some(router), "after message {seqno}");
    }
}

#[test]
fn a_jump_of_numbers_is_believed_once_in_thirty_seconds() {
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1]);
    let mut seqno = |seconds, number| {
        hear(&mut node, seconds, 1, &[ogm(9, 3, number, 200)]);
        let params = BatmanParams::default();
        let entry = node.originators.get_mut(NodeId(9)).expect("known");
        entry.note(at(seconds), &ogm(9, 3, number, 200), NodeId(1), &params) == Arrival::RepeatedHere
    };
    assert!(seqno(64.0, 100_000) && seqno(65.0, 5) && !seqno(66.0, 100_000) && seqno(95.1, 100_000));
}

/// Nothing has come over the router for 200 s; another neighbour has told of the originator a second later.
#[test]
fn a_router_that_is_forgotten_is_followed_by_the_next_best_way() {
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1, 2]);
    hear(&mut node, 64.1, 1, &[ogm(9, 3, 5, 200)]);
    hear(&mut node, 65.0, 2, &[ogm(9, 4, 5, 100)]);
    sent(&mut node, 264.0);
    node.take_route_changes();
    assert_eq!(node.next_hop(at(264.0), NodeId(9)), Some(NodeId(1)));
    sent(&mut node, 264.5);
    assert_eq!(node.next_hop(at(264.5), NodeId(9)), Some(NodeId(2)));
    let changed: Vec<usize> = node.take_route_changes().groups().collect();
    assert!(changed.contains(&Changes::group_of(NodeId(9))), "{changed:?}");
}

/// A node that is gone stays in the tables for 200 s.
#[test]
fn nothing_outlives_its_time() {
    let mut node = node(BatmanParams::default());
    meet(&mut node, &[1]);
    hear(&mut node, 64.0, 1, &[ogm(9, 3, 5, 200)]);
    sent(&mut node, 263.0);
    assert_eq!(node.next_hop(at(263.0), NodeId(9)), Some(NodeId(1)));
    sent(&mut node, 264.5);
    assert_eq!((node.originators.len(), node.next_hop(at(264.5), NodeId(9))), (0, None));
}

/// Data of batman-adv have a header, which ends their way after 50 hops; those of batmand have none.
#[test]
fn data_have_the_header_of_their_layer() {
    for (params, bytes) in [(BatmanParams::default(), 532 + 24), (BatmanParams::batmand(), 532)] {
        let mut node = node(params);
        meet(&mut node, &[1]);
        hear(&mut node, 64.0, 1, &[ogm(9, 3, 5, 200)]);
        let mut actions = Vec::new();
        node.handle_outgoing(at(64.0), data(7, 0, 9, 0), &mut actions);
        let [Action::Send { packet, next_hop: NodeId(1), .. }] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(packet.bytes, bytes);
        let mut last = data(8, 5, 9, 1);
        last.put_header(RoutingHeader::Batman(Unicast { ttl: 1, dst: NodeId(9) }));
        let mut actions = Vec::new();
        node.handle_incoming(at(64.0), last, NodeId(1), &mut actions);
        assert!(matches!(actions[..], [Action::Drop(_, DropReason::TtlExpired)]));
        let mut mine = data(9, 5, 0, 1);
        mine.put_header(RoutingHeader::Batman(Unicast { ttl: 3, dst: ME }));
        let mut actions = Vec::new();
        node.handle_incoming(at(64.0), mine, NodeId(1), &mut actions);
        assert_eq!(actions, [Action::Deliver(data(9, 5, 0, 1))], "without the header");
    }
}

/// docs/models/batman.md: in a cell every node passes on every other's messages once.
#[test]
fn a_cell_costs_what_its_messages_cost() {
    const NODES: u32 = 8;
    let mut bench = Bench::new(NODES, maker(BatmanParams::default()));
    (0..NODES).for_each(|a| (0..a).for_each(|b| bench.link(a, b)));
    bench.run_until(at(160.0));
    let sent = bench.control_by(3).filter(|(time, _)| *time >= at(60.0));
    let bytes: u32 = sent.map(|(_, packet)| packet.bytes).sum();
    let found = f64::from(bytes) / 100.0;
    let wanted = f64::from(NODES * 52);
    assert!((found / wanted - 1.0).abs() < 0.05, "{found} bytes a second, not {wanted}");
}
