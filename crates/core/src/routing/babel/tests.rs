//! One node's Babel on a virtual clock, networks on the bench, and all of it in the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{
    Bench, Pace, a_restarted_node_forwards_again, at, data, loops_in_random_networks, suite_at_pace,
};

/// Links are good after a few Hellos; a break is noticed after 1.5 to 3.5 of them at either end, and a better
/// route must have been better for half a minute.
const PACE: Pace = Pace { settled_s: 40.0, recovered_s: 80.0 };

fn maker(params: BabelParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn quick(params: &BabelParams) -> BabelParams {
    BabelParams {
        hello_interval_s: 1.0,
        update_interval_s: 4.0,
        triggered_s: 1.0,
        smoothing_s: 1.0,
        ..params.clone()
    }
}

#[test]
fn it_passes_the_suite() {
    suite_at_pace(&maker(BabelParams::default()), PACE);
    suite_at_pace(&maker(BabelParams::babeld()), PACE);
    suite_at_pace(&maker(quick(&BabelParams { link_feedback: true, ..BabelParams::default() })), PACE);
    suite_at_pace(
        &maker(BabelParams { over: Carrier::Ipv4, packet_bytes: 300, ..BabelParams::default() }),
        PACE,
    );
}

/// RFC 8966 §2.4: no loop at any instant, whatever becomes of links and of the order of messages.
#[test]
fn it_never_loops() {
    for params in [BabelParams::default(), BabelParams::babeld()] {
        loops_in_random_networks(&maker(params.clone()), 0..8, true);
        loops_in_random_networks(&maker(quick(&params)), 8..16, true);
        let eager = BabelParams { smoothing_s: 0.0, link_feedback: true, ..quick(&params) };
        loops_in_random_networks(&maker(eager), 16..32, true);
    }
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    a_restarted_node_forwards_again(maker(quick(&BabelParams::default())));
    a_restarted_node_forwards_again(maker(BabelParams::babeld()));
}

/// The node under test; the others are whoever the tests say.
const ME: NodeId = NodeId(0);

fn node(params: BabelParams) -> Babel {
    let mut node = Babel::new(ME, Arc::new(params), Streams::new(1, 0).stream(0, Purpose::Routing));
    node.handle_start(at(0.0), &mut Vec::new());
    node
}

/// What the node does with a packet of `from`.
fn hear(node: &mut Babel, seconds: f64, from: u32, tlvs: &[Tlv]) -> Vec<Action> {
    let packet =
        Babel::new(NodeId(from), Arc::clone(&node.params), Streams::new(1, 0).stream(0, Purpose::Routing))
            .packet(at(seconds), NodeId::BROADCAST, tlvs.to_vec());
    let mut actions = Vec::new();
    node.handle_incoming(at(seconds), packet, NodeId(from), &mut actions);
    actions
}

fn wake(node: &mut Babel, seconds: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    while node.next_timeout() <= at(seconds) {
        let due = node.next_timeout();
        node.handle_timeout(due, &mut actions);
    }
    actions
}

/// RFC 8966 §3.2.4. A node that is asked for its routes answers before its first Hello is due.
#[test]
fn what_a_neighbour_says_before_its_first_hello_counts_once_the_link_does() {
    let mut me = node(BabelParams::default());
    hear(
        &mut me,
        0.1,
        1,
        &[&[Tlv::Ihu { to: ME, link_local: true, rxcost: 256, interval: 1200 }], &update(1, 0, 0)[..]]
            .concat(),
    );
    assert_eq!(me.next_hop(at(0.1), NodeId(1)), None);
    hear(&mut me, 2.0, 1, &[Tlv::Hello { seqno: 7, interval: 400 }]);
    assert_eq!(me.next_hop(at(2.0), NodeId(1)), Some(NodeId(1)));
}

#[test]
fn a_neighbour_that_never_greets_is_forgotten() {
    let mut me = node(BabelParams::default());
    hear(&mut me, 0.1, 1, &update(1, 0, 0));
    assert_eq!(me.neighbours.len(), 1);
    let (all, _) = sent(&wake(&mut me, 5.9));
    assert!(all.iter().any(|tlv| matches!(tlv, Tlv::Hello { .. })), "{all:?}");
    assert!(all.iter().all(|tlv| !matches!(tlv, Tlv::Ihu { .. })), "nothing is heard yet: {all:?}");
    wake(&mut me, 6.2);
    assert_eq!(me.neighbours.len(), 0);
}

/// What was sent to all, and to single neighbours.
fn sent(actions: &[Action]) -> (Vec<Tlv>, Vec<(NodeId, Tlv)>) {
    let (mut all, mut single) = (Vec::new(), Vec::new());
    for action in actions {
        let Some(Payload::Babel(content)) = action.packet().map(|packet| &packet.payload) else { continue };
        match action {
            Action::Broadcast { .. } => all.extend(content.tlvs.iter().copied()),
            Action::Send { next_hop, .. } => single.extend(content.tlvs.iter().map(|tlv| (*next_hop, *tlv))),
            _ => {}
        }
    }
    (all, single)
}

fn update(prefix: u32, seqno: u16, metric: u16) -> [Tlv; 2] {
    let prefix = NodeId(prefix);
    [Tlv::RouterId(prefix), Tlv::Update { prefix, interval: 1600, seqno, metric }]
}

/// Makes neighbours of these nodes, on good links, which stay good for a long time.
fn meet(node: &mut Babel, neighbours: &[u32]) {
    for &from in neighbours {
        let hellos: Vec<Tlv> = (1..=16).map(|seqno| Tlv::Hello { seqno, interval: u16::MAX }).collect();
        hear(node, 0.0, from, &hellos);
        hear(node, 0.0, from, &[Tlv::Ihu { to: ME, link_local: true, rxcost: 256, interval: u16::MAX }]);
    }
}

/// What it tells of a destination when it next has reason to: number and metric.
fn told(actions: &[Action], of: u32) -> Vec<(u16, u16)> {
    let updates = sent(actions).0.into_iter().filter_map(|tlv| match tlv {
        Tlv::Update { prefix, seqno, metric, .. } if prefix == NodeId(of) => Some((seqno, metric)),
        _ => None,
    });
    updates.collect()
}

#[test]
fn the_first_packet_says_hello_and_voids_what_was_told_before() {
    let mut node = node(BabelParams::default());
    let (tlvs, _) = sent(&wake(&mut node, 4.0));
    let own = [
        Tlv::NextHop(ME),
        Tlv::RouterId(ME),
        Tlv::Update { prefix: ME, interval: 1600, seqno: 0, metric: 0 },
    ];
    let start =
        [Tlv::Hello { seqno: 1, interval: 400 }, Tlv::RetractAll { interval: 1600 }, Tlv::RouteRequest(None)];
    assert_eq!(tlvs[..6], [&start[..], &own[..]].concat());
}

/// RFC 8966 §3.4: a neighbour is told that it is heard; routes count when it says the same.
#[test]
fn a_route_needs_a_link_in_both_directions() {
    let mut node = node(BabelParams { asks_neighbours: true, request_s: 0.2, ..BabelParams::babeld() });
    wake(&mut node, 4.0);
    hear(&mut node, 4.0, 1, &[&[Tlv::Hello { seqno: 9, interval: 400 }], &update(1, 3, 0)[..]].concat());
    let (all, _) = sent(&wake(&mut node, 5.3));
    let ihu = Tlv::Ihu { to: NodeId(1), link_local: true, rxcost: 1023, interval: 1200 };
    assert!(all.contains(&ihu), "{all:?}");
    assert_eq!(node.next_hop(at(5.3), NodeId(1)), None);
    let actions =
        hear(&mut node, 5.3, 1, &[Tlv::Ihu { to: ME, link_local: true, rxcost: 1023, interval: 1200 }]);
    assert_eq!(node.next_hop(at(5.3), NodeId(1)), Some(NodeId(1)));
    assert!(actions.contains(&Action::Notify(Notice::RouteFound { dst: NodeId(1) })));
    let later = wake(&mut node, 5.6);
    assert_eq!(
        sent(&later).1,
        [(NodeId(1), Tlv::RouteRequest(None))],
        "the neighbour is asked for its routes"
    );
    assert_eq!(told(&later, 1), [(3, 4088)]);
}

/// RFC 8966 §3.5.1, §3.8.2.1: what was told forbids what is no better; the destination is asked for a number.
#[test]
fn a_node_that_lost_its_route_waits_for_a_new_number() {
    let mut node = node(BabelParams::default());
    wake(&mut node, 4.0);
    meet(&mut node, &[1, 2]);
    hear(&mut node, 4.0, 1, &update(9, 5, 256));
    wake(&mut node, 4.3);
    hear(&mut node, 4.3, 2, &update(9, 5, 600));
    assert_eq!(node.next_hop(at(4.3), NodeId(9)), Some(NodeId(1)));
    let lost = [Tlv::Update { prefix: NodeId(9), interval: 1600, seqno: 0, metric: INFINITY }];
    hear(&mut node, 5.0, 1, &lost);
    assert_eq!(node.next_hop(at(5.0), NodeId(9)), None, "600 is not below 512, which it told");
    let soon = wake(&mut node, 5.3);
    let asks = Tlv::SeqnoRequest { prefix: NodeId(9), seqno: 6, hop_count: 64, router: NodeId(9) };
    assert!(sent(&soon).1.contains(&(NodeId(2), asks)), "who has the best route that may not be used");
    assert_eq!(told(&soon, 9)[0], (0, INFINITY), "and tells its neighbours at once");
    let later = wake(&mut node, 7.5);
    assert!(sent(&later).0.contains(&asks), "the request is repeated, to all");
    hear(&mut node, 7.6, 2, &update(9, 6, 700));
    assert_eq!(node.next_hop(at(7.6), NodeId(9)), Some(NodeId(2)));
    assert_eq!(told(&wake(&mut node, 8.0), 9), [(6, 956)]);
    assert_eq!(node.requests.len(), 0);
}

/// RFC 8966 §4.6.9.
#[test]
fn a_retraction_of_everything_ends_all_routes_of_its_sender() {
    let mut node = node(BabelParams::default());
    wake(&mut node, 4.0);
    meet(&mut node, &[1, 2]);
    for (prefix, from) in [(7, 2), (8, 1), (9, 1)] {
        hear(&mut node, 4.0, from, &update(prefix, 5, 256));
    }
    let ways = |node: &Babel| [7, 8, 9].map(|dst| node.next_hop(at(5.0), NodeId(dst)).map(|way| way.0));
    assert_eq!(ways(&node), [Some(2), Some(1), Some(1)]);
    hear(&mut node, 5.0, 1, &[Tlv::RetractAll { interval: 1600 }]);
    assert_eq!(ways(&node), [Some(2), None, None]);
}

/// RFC 8966 §3.8.1.2: requests for others go on, for the node itself raise its number by one.
#[test]
fn a_request_for_a_number_goes_to_the_destination() {
    let mut node = node(BabelParams::default());
    wake(&mut node, 4.0);
    meet(&mut node, &[1, 2]);
    hear(&mut node, 4.0, 1, &update(9, 5, 256));
    let request =
        |seqno, hop_count| Tlv::SeqnoRequest { prefix: NodeId(9), seqno, hop_count, router: NodeId(9) };
    wake(&mut node, 5.0);
    let passed = |node: &mut Babel, seconds, tlv| {
        hear(node, seconds, 2, &[tlv]);
        sent(&wake(node, seconds + 0.3)).1
    };
    assert_eq!(passed(&mut node, 5.0, request(6, 1)), [], "no farther");
    assert_eq!(passed(&mut node, 5.4, request(6, 10)), [(NodeId(1), request(6, 9))]);
    assert_eq!(passed(&mut node, 6.6, request(6, 7)), [], "once, whoever sends it and whenever");
    hear(&mut node, 7.0, 1, &update(9, 6, 256));
    assert_eq!(
        told(&wake(&mut node, 7.3), 9),
        [(6, 512)],
        "who asked is told, though the metric is the same"
    );
    hear(&mut node, 8.0, 2, &[request(6, 10)]);
    assert_eq!(told(&wake(&mut node, 8.3), 9), [(6, 512)], "a number that is known");
    let mine = |seqno| Tlv::SeqnoRequest { prefix: ME, seqno, hop_count: 3, router: ME };
    hear(&mut node, 9.0, 2, &[mine(40)]);
    assert_eq!(told(&wake(&mut node, 9.3), 0), [(1, 0)], "by one only");
    hear(&mut node, 10.0, 2, &[mine(1)]);
    assert_eq!(told(&wake(&mut node, 10.3), 0), [(1, 0)]);
}

/// RFC 8966 §3.5.3; babeld follows the update all the same.
#[test]
fn an_update_of_the_route_in_use_that_is_not_feasible_is_ignored_or_followed() {
    for (params, metric) in [(BabelParams::default(), 512), (BabelParams::babeld(), 856)] {
        let mut node = node(params);
        wake(&mut node, 4.0);
        meet(&mut node, &[1]);
        hear(&mut node, 4.0, 1, &update(9, 5, 256));
        assert_eq!(told(&wake(&mut node, 10.0), 9)[0], (5, 512), "600 is not feasible from here on");
        hear(&mut node, 10.0, 1, &update(9, 5, 600));
        assert_eq!(node.table.get(NodeId(9)).and_then(|each| each.used()), Some((NodeId(1), metric)));
        let asked = sent(&wake(&mut node, 12.0)).1;
        if metric == 512 {
            assert!(matches!(asked[..], [(NodeId(1), Tlv::SeqnoRequest { seqno: 6, .. })]), "{asked:?}");
        } else {
            assert_eq!(asked, [], "the route is kept");
        }
        assert_eq!(node.requests.len(), 0, "it is not asked again: the neighbour will tell more");
    }
}

/// babeld 1.14 takes a route of the same metric whose metric has been the better one for some time.
#[test]
fn a_route_that_is_as_good_is_taken_by_babeld_if_it_has_proved_better() {
    let stays = BabelParams { switches_to_equal: false, ..BabelParams::babeld() };
    for (params, via) in [(BabelParams::babeld(), 2), (stays, 1)] {
        let mut node = node(params);
        wake(&mut node, 4.0);
        meet(&mut node, &[1, 2]);
        for from in [1, 2] {
            hear(&mut node, 4.0, from, &update(9, 5, 256));
        }
        wake(&mut node, 70.0);
        // For a second the route in use costs more: too short to leave it, but it is remembered.
        hear(&mut node, 70.0, 1, &update(9, 6, 600));
        assert_eq!(node.next_hop(at(70.0), NodeId(9)), Some(NodeId(1)));
        hear(&mut node, 71.0, 1, &update(9, 7, 256));
        assert_eq!(node.next_hop(at(71.0), NodeId(9)), Some(NodeId(via)));
    }
}

#[test]
fn nothing_outlives_its_time() {
    let mut node = node(BabelParams::default());
    wake(&mut node, 4.0);
    hear(&mut node, 4.0, 1, &[Tlv::Hello { seqno: 9, interval: 400 }]);
    hear(&mut node, 4.0, 1, &[Tlv::Ihu { to: ME, link_local: true, rxcost: 256, interval: 1200 }]);
    hear(&mut node, 4.0, 1, &update(9, 5, 256));
    assert_eq!(node.next_hop(at(4.0), NodeId(9)), Some(NodeId(1)));
    let actions = wake(&mut node, 100.0);
    assert!(actions.contains(&Action::Notify(Notice::RouteFailed { dst: NodeId(9), told: true })));
    assert_eq!((node.neighbours.len(), node.requests.len(), node.retractions.len()), (0, 0, 0));
    assert!(node.table.get_mut(NodeId(9)).routes().is_empty());
}

#[test]
fn without_a_route_data_are_dropped() {
    let mut node = node(BabelParams::default());
    let mut actions = Vec::new();
    node.handle_outgoing(at(1.0), data(7, 0, 9, 0), &mut actions);
    assert_eq!(actions, [Action::Drop(data(7, 0, 9, 0), DropReason::NoRoute)]);
}

/// docs/models/babel.md: what a cell costs, over IPv6.
#[test]
fn a_cell_costs_what_its_hellos_and_updates_cost() {
    const NODES: u32 = 8;
    // babeld's full updates go with a Hello, and have no headers of their own.
    for (params, headers) in [(BabelParams::default(), 60.0), (BabelParams::babeld(), 8.0)] {
        let mut bench = Bench::new(NODES, maker(params));
        (0..NODES).for_each(|a| (0..a).for_each(|b| bench.link(a, b)));
        bench.run_until(at(460.0));
        let bytes: u32 =
            bench.control_by(3).filter(|(time, _)| *time >= at(60.0)).map(|(_, packet)| packet.bytes).sum();
        let (neighbours, nodes) = (f64::from(NODES - 1), f64::from(NODES));
        let wanted = (60.0 + 16.0 * neighbours / 3.0) / 4.0 + (headers + 28.0 * nodes) / 16.0;
        let found = f64::from(bytes) / 400.0;
        assert!((found / wanted - 1.0).abs() < 0.06, "{found} bytes a second, not {wanted}");
    }
}

/// babeld: a full update waits for a Hello, unless a neighbour has asked for it.
#[test]
fn a_full_update_waits_for_a_hello_but_not_who_asks() {
    let alone = |params: BabelParams| {
        let mut node = node(params);
        wake(&mut node, 30.0);
        let mut alone = 0;
        for due in 30..400 {
            for action in wake(&mut node, f64::from(due)) {
                let (tlvs, _) = sent(&[action]);
                let says = |kind: fn(&Tlv) -> bool| tlvs.iter().any(kind);
                let tells = says(|tlv| matches!(tlv, Tlv::Update { .. }));
                alone += u32::from(tells && !says(|tlv| matches!(tlv, Tlv::Hello { .. })));
            }
        }
        alone
    };
    let quick = quick(&BabelParams::babeld());
    assert!(alone(BabelParams { dumps_wait: false, ..quick.clone() }) > 70);
    assert!(alone(quick) < 30);
    // Whoever asks waits as long as for any update that is not urgent, and not for the next full one.
    let rare = BabelParams { update_interval_s: 100.0, ..BabelParams::babeld() };
    let (mut asked, mut unasked) = (node(rare.clone()), node(rare));
    wake(&mut asked, 30.0);
    wake(&mut unasked, 30.0);
    hear(&mut asked, 30.5, 1, &[Tlv::RouteRequest(None)]);
    assert_eq!(told(&wake(&mut asked, 35.6), 0).len(), 1);
    assert_eq!(told(&wake(&mut unasked, 35.6), 0).len(), 0);
}
