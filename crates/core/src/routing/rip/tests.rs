//! One node's RIP on a virtual clock, networks on the bench, and all of it in the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{Bench, Pace, a_restarted_node_forwards_again, at, data, suite_at_pace};

/// A route over a lost neighbour times out after 180 s; what was told of it in circles needs some more.
const PACE: Pace = Pace { settled_s: 40.0, recovered_s: 400.0 };
const QUICK: Pace = Pace { settled_s: 10.0, recovered_s: 60.0 };

fn maker(params: RipParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let params = Arc::new(params);
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn with(split_horizon: SplitHorizon) -> RipParams {
    RipParams { split_horizon, ..RipParams::default() }
}

#[test]
fn it_passes_the_suite() {
    suite_at_pace(&maker(RipParams::default()), PACE);
    suite_at_pace(&maker(with(SplitHorizon::Simple)), PACE);
    suite_at_pace(&maker(RipParams { switches_to_equal: true, ..RipParams::default() }), PACE);
    suite_at_pace(&maker(RipParams::quick()), QUICK);
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    a_restarted_node_forwards_again(maker(RipParams::quick()));
}

/// The node under test; the others are whoever the tests say.
const ME: u32 = 1;

fn node(params: RipParams) -> Rip {
    node_with(ME, params)
}

fn node_with(number: u32, params: RipParams) -> Rip {
    let stream = Streams::new(1, 0).stream(number, Purpose::Routing);
    let mut node = Rip::new(NodeId(number), Arc::new(params), stream);
    node.handle_start(at(0.0), &mut Vec::new());
    // No regular update comes between those of the tests.
    node.update_at = at(1000.0);
    node
}

/// A route as it is told: destination, metric, next hop.
type Told = (u32, u8, Option<u32>);

fn hear(node: &mut Rip, seconds: f64, from: u32, told: &[Told]) -> Vec<Action> {
    let entry = |&(dst, metric, next): &Told| Entry { dst: NodeId(dst), next_hop: next.map(NodeId), metric };
    let message = Message::Response(told.iter().map(entry).collect());
    let packet = node_with(from, RipParams::default()).packet(at(seconds), NodeId::BROADCAST, message);
    let mut actions = Vec::new();
    node.handle_incoming(at(seconds), packet, NodeId(from), &mut actions);
    actions
}

fn wake(node: &mut Rip, seconds: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    while node.next_timeout() <= at(seconds) {
        let due = node.next_timeout();
        node.handle_timeout(due, &mut actions);
    }
    actions
}

/// The routes of each response.
fn responses(actions: &[Action]) -> Vec<Vec<Told>> {
    let of = |message: &Message| match message {
        Message::Request => panic!("an update"),
        Message::Response(entries) => {
            entries.iter().map(|each| (each.dst.0, each.metric, each.next_hop.map(|next| next.0))).collect()
        }
    };
    let packets = actions.iter().filter_map(Action::packet);
    packets
        .filter_map(|packet| match &packet.payload {
            Payload::Rip(message) => Some(of(message)),
            _ => None,
        })
        .collect()
}

/// Metric and next hop.
fn route(node: &Rip, dst: u32) -> Option<(u8, u32)> {
    node.routes.get(&NodeId(dst)).map(|route| (route.metric, route.next_hop.0))
}

fn told_now(node: &mut Rip, seconds: f64) -> Vec<Told> {
    let mut actions = Vec::new();
    node.tell(at(seconds), false, &mut actions);
    responses(&actions).concat()
}

/// RFC 2453 §3.9.2: a new route, a better one, a worse one of the same neighbour, a worse one of another.
#[test]
fn it_believes_what_is_better_and_whatever_its_next_hop_says() {
    let mut me = node(RipParams::default());
    hear(&mut me, 1.0, 2, &[(2, 1, None), (9, 4, None)]);
    assert_eq!((route(&me, 2), route(&me, 9)), (Some((2, 2)), Some((5, 2))));
    assert_eq!(me.route_hops(at(1.0), NodeId(2)), Some(1), "a neighbour is one hop away");
    hear(&mut me, 2.0, 3, &[(9, 4, None)]);
    assert_eq!(route(&me, 9), Some((5, 2)), "no better");
    hear(&mut me, 3.0, 3, &[(9, 3, None)]);
    assert_eq!(route(&me, 9), Some((4, 3)));
    hear(&mut me, 4.0, 2, &[(9, 9, None)]);
    assert_eq!(route(&me, 9), Some((4, 3)), "not its next hop");
    hear(&mut me, 5.0, 3, &[(9, 9, None)]);
    assert_eq!(route(&me, 9), Some((10, 3)), "its next hop knows");
    hear(&mut me, 6.0, 3, &[(9, 15, None)]);
    assert_eq!((route(&me, 9), me.next_hop(at(6.0), NodeId(9))), (Some((16, 3)), None));
    // What was never known is not lost either, nor is nonsense believed.
    hear(&mut me, 7.0, 3, &[(8, 16, None), (7, 0, None), (6, 17, None), (ME, 3, None)]);
    assert_eq!([8, 7, 6, ME].map(|dst| route(&me, dst)), [None; 4]);
}

#[test]
fn a_route_times_out_is_told_as_lost_and_is_deleted() {
    let mut me = node(RipParams::default());
    hear(&mut me, 1.0, 2, &[(9, 1, None)]);
    wake(&mut me, 1.0);
    hear(&mut me, 100.0, 2, &[(9, 1, None)]);
    assert!(wake(&mut me, 279.9).is_empty());
    let actions = wake(&mut me, 280.1);
    assert_eq!(responses(&actions), [[(9, 16, None)]]);
    let lost = Notice::RouteFailed { dst: NodeId(9), told: false };
    assert!(actions.contains(&Action::Notify(lost)));
    // To hear that it is lost does not put off its deletion.
    assert!(hear(&mut me, 350.0, 2, &[(9, 16, None)]).len() == 1);
    wake(&mut me, 399.9);
    assert_eq!(route(&me, 9), Some((16, 2)));
    wake(&mut me, 400.1);
    assert_eq!((route(&me, 9), me.remembered(at(400.1))), (None, Some(0)));
}

/// §3.10.1: the first change at once, what follows within a random time of 1 to 5 s in one.
#[test]
fn triggered_updates_are_spaced() {
    let mut me = node(RipParams::default());
    hear(&mut me, 10.0, 2, &[(9, 1, None)]);
    assert_eq!(responses(&wake(&mut me, 10.0)), [[(9, 2, Some(2))]]);
    hear(&mut me, 10.2, 2, &[(8, 1, None)]);
    hear(&mut me, 10.3, 2, &[(9, 3, None)]);
    assert!(wake(&mut me, 10.99).is_empty());
    let due = me.next_timeout();
    assert!((at(11.0)..=at(15.0)).contains(&due));
    assert_eq!(responses(&wake(&mut me, 15.0)), [[(8, 2, Some(2)), (9, 4, Some(2))]]);
    // A regular update tells it all, and the triggered one that was held back has nothing left to tell.
    hear(&mut me, 15.1, 2, &[(7, 1, None)]);
    me.update_at = at(15.2);
    let all = [(ME, 1, None), (7, 2, Some(2)), (8, 2, Some(2)), (9, 4, Some(2))];
    assert_eq!(responses(&wake(&mut me, 21.0)), [all]);
}

#[test]
fn changes_wait_for_the_regular_update_if_none_may_trigger_one() {
    let mut me = node(RipParams { triggered_updates: false, ..RipParams::default() });
    hear(&mut me, 10.0, 2, &[(9, 1, None)]);
    assert!(wake(&mut me, 100.0).is_empty());
}

/// Three nodes in a row, 0, 1 and 2, of which 0 goes. §3.4.2: without split horizon each believes that the
/// other has a way, which is two longer each time, until it is as long as infinity.
#[test]
fn without_split_horizon_two_nodes_count_to_infinity() {
    let params = RipParams { triggered_updates: false, ..with(SplitHorizon::None) };
    let (mut one, mut two) = (node_with(1, params.clone()), node_with(2, params));
    hear(&mut one, 0.0, 0, &[(0, 1, None)]);
    let all = told_now(&mut one, 1.0);
    hear(&mut two, 1.0, 1, &all);
    assert_eq!((route(&one, 0), route(&two, 0)), (Some((2, 0)), Some((3, 1))));
    // 1 has not heard of 0 for 180 s, and tells of it after 2 has.
    one.expire(at(180.0), &mut Vec::new());
    let mut counted = Vec::new();
    for round in 0..8 {
        let seconds = 181.0 + 30.0 * f64::from(round);
        let all = told_now(&mut two, seconds);
        hear(&mut one, seconds, 2, &all);
        let all = told_now(&mut one, seconds);
        hear(&mut two, seconds, 1, &all);
        counted.push((route(&one, 0).expect("it is kept").0, route(&two, 0).expect("it is kept").0));
    }
    let wanted = [(4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15), (16, 16), (16, 16)];
    assert_eq!(counted, wanted);
}

#[test]
fn with_split_horizon_nobody_takes_a_route_that_leads_back() {
    for split_horizon in [SplitHorizon::Simple, SplitHorizon::PoisonedReverse] {
        let params = RipParams { triggered_updates: false, ..with(split_horizon) };
        let (mut one, mut two) = (node_with(1, params.clone()), node_with(2, params));
        hear(&mut one, 0.0, 0, &[(0, 1, None)]);
        let all = told_now(&mut one, 1.0);
        hear(&mut two, 1.0, 1, &all);
        one.expire(at(180.0), &mut Vec::new());
        let all = told_now(&mut two, 181.0);
        assert!(all.contains(&(0, 3, Some(1))), "for others it is a route");
        hear(&mut one, 181.0, 2, &all);
        assert_eq!(route(&one, 0), Some((16, 0)));
        let all = told_now(&mut one, 182.0);
        hear(&mut two, 182.0, 1, &all);
        assert_eq!(route(&two, 0), Some((16, 1)));
    }
}

/// Two nodes that route over each other, whatever has made them: §3.4.3 says that only poison ends this.
#[test]
fn poison_ends_a_circle_of_two_at_once_and_silence_does_not() {
    for (split_horizon, metric) in [(SplitHorizon::Simple, 6), (SplitHorizon::PoisonedReverse, 16)] {
        let mut me = node(with(split_horizon));
        hear(&mut me, 1.0, 2, &[(9, 5, None)]);
        hear(&mut me, 2.0, 2, &[(9, 7, Some(ME))]);
        assert_eq!(route(&me, 9), Some((metric, 2)));
    }
}

/// What 3 sends to 0 over a chain of four after the link to 0 has gone: packets go back and forth while 1 and
/// 2 count, if nothing keeps them from it. The RFC's triggered updates are off: they win most such races.
#[test]
fn packets_circle_while_a_chain_counts() {
    let circled = |split_horizon: SplitHorizon| {
        let params = RipParams { triggered_updates: false, ..with(split_horizon) };
        let mut bench = Bench::new(4, maker(params));
        bench.chain(4);
        bench.flow(3, 0, 200.0, 900.0);
        bench.unlink_at(at(250.0), 0, 1);
        bench.run_until(at(1000.0));
        bench.assert_balanced();
        assert_eq!(bench.delivered(3, 0), 4 * 50, "while the link was there");
        assert_eq!(bench.route_hops(3, 0), None, "in the end all know");
        bench.drops(DropReason::TtlExpired) + bench.drops(DropReason::RoutingLoop)
    };
    assert!(circled(SplitHorizon::None) > 100);
    assert_eq!(circled(SplitHorizon::Simple), 0);
    assert_eq!(circled(SplitHorizon::PoisonedReverse), 0);
}

/// Metric 15 is the longest route: a node 14 hops away is found, and one 15 hops away is not.
#[test]
fn fifteen_hops_are_too_many() {
    let mut bench = Bench::new(16, maker(RipParams::quick()));
    bench.chain(16);
    bench.run_until(at(60.0));
    assert_eq!((bench.route_hops(0, 14), bench.route_hops(0, 15)), (Some(14), None));
    assert_eq!(bench.route_hops(1, 15), Some(14));
}

/// §3.9.1, and §3.6: 25 routes a message.
#[test]
fn a_request_is_answered_to_who_asks_with_all_routes() {
    let mut me = node(RipParams::default());
    let many: Vec<Told> = (10..36).map(|dst| (dst, 1, None)).collect();
    hear(&mut me, 1.0, 2, &many);
    wake(&mut me, 1.0);
    let packet = node_with(3, RipParams::default()).packet(at(2.0), NodeId::BROADCAST, Message::Request);
    let mut actions = Vec::new();
    me.handle_incoming(at(2.0), packet, NodeId(3), &mut actions);
    assert!(matches!(actions.remove(0), Action::Consume(_)));
    let to: Vec<u32> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Send { next_hop, .. } => Some(next_hop.0),
            _ => None,
        })
        .collect();
    assert_eq!(to, [3, 3]);
    let answers = responses(&actions);
    assert_eq!((answers[0].len(), answers[1].len(), answers[0][0]), (25, 2, (ME, 1, None)));
    let bytes: Vec<u32> = actions.iter().filter_map(Action::packet).map(|packet| packet.bytes).collect();
    assert_eq!(bytes, [20 + 8 + 4 + 25 * 20, 20 + 8 + 4 + 2 * 20]);
}

#[test]
fn a_failed_frame_ends_the_routes_over_its_neighbour_if_the_mac_is_asked() {
    for (link_feedback, metric) in [(false, 2), (true, 16)] {
        let mut me = node(RipParams { link_feedback, ..RipParams::default() });
        hear(&mut me, 1.0, 2, &[(9, 1, None)]);
        hear(&mut me, 1.0, 3, &[(8, 1, None)]);
        let mut actions = Vec::new();
        me.handle_link_failure(at(5.0), data(1, ME, 9, 0), NodeId(2), &mut actions);
        assert_eq!((route(&me, 9), route(&me, 8)), (Some((metric, 2)), Some((2, 3))));
        assert!(matches!(actions.last(), Some(Action::Drop(_, DropReason::LinkFailure))));
    }
}
