//! One node's DSDV on a virtual clock, and all of it in the shared suite.

use super::*;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{
    Bench, Pace, a_restarted_node_forwards_again, at, data, loops_in_random_networks, suite_at_pace,
};

/// Four hops that wait 12 s each until they are told on, and neighbours that are lost after 45 s.
const PACE: Pace = Pace { settled_s: 100.0, recovered_s: 100.0 };

fn maker(params: DsdvParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

#[test]
fn it_passes_the_suite() {
    suite_at_pace(&maker(DsdvParams::ns_2_35()), PACE);
    suite_at_pace(&maker(DsdvParams::broch_1998()), PACE);
    suite_at_pace(&maker(DsdvParams { link_layer_feedback: true, ..DsdvParams::ns_2_35() }), PACE);
}

#[test]
fn it_never_loops() {
    let quick = DsdvParams {
        update_interval_s: 3.0,
        initial_settling_s: 0.1,
        link_layer_feedback: true,
        trigger_on_seqno: true,
        ..DsdvParams::default()
    };
    loops_in_random_networks(&maker(quick), 0..30, true);
    loops_in_random_networks(&maker(DsdvParams::ns_2_35()), 0..30, true);
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    let quick = DsdvParams {
        update_interval_s: 5.0,
        initial_settling_s: 0.1,
        start_jitter_s: 0.1,
        ..DsdvParams::default()
    };
    a_restarted_node_forwards_again(maker(quick));
}

#[test]
fn what_nodes_send_does_not_depend_on_the_traffic() {
    let sent = |flows: u32| {
        let mut bench = Bench::new(5, maker(DsdvParams::ns_2_35()));
        bench.chain(5);
        (0..flows).for_each(|src| bench.flow(src, 4, 100.0, 200.0));
        bench.run_until(at(200.0));
        bench.control_sent()
    };
    assert!(sent(0) > 5 * 13, "{} updates of five nodes in 200 s", sent(0));
    assert_eq!(sent(0), sent(3));
}

/// The node under test; the others are whoever the tests say.
struct Node {
    machine: Dsdv,
    uid: u64,
}

const INF: u8 = INFINITE;

/// An update as it goes out: is it full, and its entries as (destination, metric, number).
type Sent = (bool, Vec<(u32, u8, u32)>);

impl Node {
    fn new(params: &DsdvParams) -> Node {
        let stream = Streams::new(1, 0).stream(0, Purpose::Routing);
        let mut machine = Dsdv::new(NodeId(0), params.clone(), stream);
        machine.handle_start(Time::ZERO, &mut Vec::new());
        Node { machine, uid: 0 }
    }

    /// A node without jitter, whose first full update is out of the way.
    fn started(params: &DsdvParams) -> Node {
        let mut node = Node::new(&DsdvParams { start_jitter_s: 0.0, ..params.clone() });
        assert_eq!(updates(&node.wake(Time::ZERO)), [(true, vec![(0, 0, 2)])]);
        node
    }

    fn wake(&mut self, now: Time) -> Vec<Action> {
        let mut actions = Vec::new();
        self.machine.handle_timeout(now, &mut actions);
        actions
    }

    fn hear(&mut self, now: Time, from: u32, entries: &[(u32, u8, u32)]) -> Vec<Action> {
        let entry = |&(dst, metric, seqno): &(u32, u8, u32)| Entry { dst: NodeId(dst), metric, seqno };
        let update = Update { full: false, entries: entries.iter().map(entry).collect() };
        let mut packet = self.machine.packet(now, update);
        packet.src = NodeId(from);
        let mut actions = Vec::new();
        self.machine.handle_incoming(now, packet, NodeId(from), &mut actions);
        actions
    }

    fn send(&mut self, now: Time, dst: u32) -> Vec<Action> {
        self.uid += 1;
        let mut actions = Vec::new();
        self.machine.handle_outgoing(now, data(self.uid, 0, dst, 0), &mut actions);
        actions
    }

    /// Next hop, metric and number of a destination.
    fn route(&self, dst: u32) -> (u32, u8, u32) {
        let route = self.machine.table.get(NodeId(dst)).expect("a known destination");
        (route.next_hop.0, route.metric, route.seqno)
    }

    /// Wakes the node whenever it wants; the updates up to and including `end`.
    fn run_until(&mut self, end: Time) -> Vec<(Time, Sent)> {
        let mut all = Vec::new();
        while self.machine.next_timeout() <= end {
            let now = self.machine.next_timeout();
            let actions = self.wake(now);
            all.extend(updates(&actions).into_iter().map(|update| (now, update)));
        }
        all
    }
}

fn updates(actions: &[Action]) -> Vec<Sent> {
    let sent = |action: &Action| match action {
        Action::Broadcast { packet, .. } => match &packet.payload {
            Payload::Dsdv(update) => {
                assert_eq!(packet.bytes, 20 + 12 * update.entries.len() as u32);
                let entries = update.entries.iter().map(|entry| (entry.dst.0, entry.metric, entry.seqno));
                Some((update.full, entries.collect()))
            }
            _ => None,
        },
        _ => None,
    };
    actions.iter().filter_map(sent).collect()
}

/// Next hops of the data packets that go out.
fn sends(actions: &[Action]) -> Vec<(u64, u32)> {
    let send = |action: &Action| match action {
        Action::Send { packet, next_hop, .. } => Some((packet.uid, next_hop.0)),
        _ => None,
    };
    actions.iter().filter_map(send).collect()
}

#[test]
fn full_updates_come_at_the_interval_and_raise_the_number_by_two() {
    let mut node = Node::new(&DsdvParams::ns_2_35());
    let sent = node.run_until(at(300.0));
    assert!(sent[0].0 < at(2.0));
    for (count, pair) in sent.windows(2).enumerate() {
        let gap = pair[1].0.since(pair[0].0).as_secs();
        assert!((11.25..15.0).contains(&gap), "{gap}");
        assert_eq!(pair[1].1, (true, vec![(0, 0, 2 * (count as u32 + 2))]));
    }
    assert!(sent.len() >= 20);
}

#[test]
fn a_fresher_number_wins_over_a_shorter_way_and_a_shorter_way_over_an_equal_number() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(1.0), 1, &[(9, 3, 10)]);
    assert_eq!(node.route(9), (1, 4, 10));
    node.hear(at(2.0), 2, &[(9, 3, 10)]);
    assert_eq!(node.route(9), (1, 4, 10), "as long as before");
    node.hear(at(2.0), 2, &[(9, 2, 10)]);
    assert_eq!(node.route(9), (2, 3, 10), "shorter");
    node.hear(at(2.0), 3, &[(9, 0, 8)]);
    assert_eq!(node.route(9), (2, 3, 10), "older");
    node.hear(at(2.0), 3, &[(9, 7, 12)]);
    assert_eq!(node.route(9), (3, 8, 12), "fresher");
    node.hear(at(2.0), 3, &[(9, INF, 13)]);
    assert_eq!(node.route(9), (3, INF, 13), "broken, and fresher");
    node.hear(at(2.0), 2, &[(9, 1, 12)]);
    assert_eq!(node.route(9), (3, INF, 13), "older than the break");
}

#[test]
fn a_new_route_is_advertised_after_twice_the_settling_time() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(0.5), 1, &[(1, 0, 4)]);
    let sent = node.run_until(at(13.0));
    let of_one: Vec<_> = sent.iter().filter(|(_, sent)| sent.1.iter().any(|entry| entry.0 == 1)).collect();
    assert_eq!(of_one[0].0, at(12.5));
    let fulls: Vec<_> = sent.iter().filter(|(time, sent)| sent.0 && *time < at(12.5)).collect();
    assert!(fulls.iter().all(|(_, sent)| sent.1.len() == 1), "full updates leave it out too");
}

#[test]
fn the_settling_time_is_a_weighted_mean() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    // Of number 4 the best way came 2 s after the first.
    node.hear(at(1.0), 1, &[(9, 5, 4)]);
    node.hear(at(3.0), 2, &[(9, 1, 4)]);
    node.hear(at(8.0), 2, &[(9, 2, 6)]);
    let route = node.machine.table.get(NodeId(9)).expect("known");
    assert_eq!(Span::from_secs(route.settling_s), Span::from_millis(5500), "7/8 of 6 s and 1/8 of 2 s");
    assert_eq!(route.advertise_at, at(8.0 + 2.0 * 5.5));
    // Nothing better came for number 6.
    node.hear(at(20.0), 2, &[(9, 2, 8)]);
    let settling_s = node.machine.table.get(NodeId(9)).expect("known").settling_s;
    assert_eq!(Span::from_secs(settling_s), Span::from_micros(0.875 * 5.5e6));
}

#[test]
fn a_fresh_number_alone_asks_for_no_update_unless_told_so() {
    for (trigger_on_seqno, wanted) in [(false, Time::NEVER), (true, at(60.0 + 2.0 * 6.0 * 0.875))] {
        let params = DsdvParams { trigger_on_seqno, update_interval_s: 1000.0, ..DsdvParams::ns_2_35() };
        let mut node = Node::started(&params);
        node.hear(at(1.0), 1, &[(9, 1, 4)]);
        assert_eq!(node.run_until(at(50.0)).len(), 1);
        node.hear(at(60.0), 1, &[(9, 1, 6)]);
        assert_eq!(node.machine.table.get(NodeId(9)).expect("known").trigger_at, wanted);
    }
}

#[test]
fn a_way_back_to_the_advertised_metric_asks_for_no_update() {
    let mut node = Node::started(&DsdvParams { update_interval_s: 1000.0, ..DsdvParams::ns_2_35() });
    node.hear(at(1.0), 1, &[(9, 1, 4)]);
    node.run_until(at(50.0));
    node.hear(at(51.0), 1, &[(9, 3, 6)]);
    node.hear(at(52.0), 2, &[(9, 1, 6)]);
    let route = node.machine.table.get(NodeId(9)).expect("known");
    assert_eq!((route.metric, route.metric_news, route.trigger_at), (2, false, Time::NEVER));
}

#[test]
fn a_neighbour_is_lost_after_three_silent_intervals() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(1.0), 1, &[(1, 0, 4), (9, 1, 6)]);
    node.run_until(at(45.9));
    assert_eq!(node.route(9), (1, 2, 6));
    let last = node.run_until(at(46.0));
    assert_eq!((node.route(1), node.route(9)), ((1, INF, 5), (1, INF, 7)));
    let (_, told) = last.last().expect("the break is told at once");
    assert!(told.1.contains(&(1, INF, 5)) && told.1.contains(&(9, INF, 7)));
}

#[test]
fn triggers_that_fall_together_make_an_update_at_once_and_one_after_the_gap() {
    let params = DsdvParams { update_interval_s: 1000.0, missed_updates: 1, ..DsdvParams::ns_2_35() };
    let mut node = Node::started(&params);
    node.hear(at(1.0), 1, &[(7, 1, 4), (8, 1, 4), (9, 1, 4), (10, 1, 4)]);
    let times: Vec<Time> = node.run_until(at(100.0)).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [at(13.0)], "four of six routes are reason for a full update, which says all");
    node.hear(at(200.0), 1, &[(7, 2, 6), (8, INF, 7), (9, INF, 7)]);
    node.hear(at(200.5), 2, &[(8, 1, 3), (9, INF, 3), (10, INF, 3)]);
    let sent = node.run_until(at(300.0));
    assert_eq!(sent[0], (at(200.5), (false, vec![(8, INF, 7), (9, INF, 7), (10, 2, 4)])));
    assert_eq!(sent.len(), 1, "one trigger, one update: numbers that are new do not ask");

    let mut node = Node::started(&params);
    node.hear(at(1.0), 1, &[(7, 1, 4), (8, 1, 4)]);
    let sent = node.run_until(at(100.0));
    let both = (false, vec![(7, 2, 4), (8, 2, 4)]);
    assert_eq!(sent, [(at(13.0), both.clone()), (at(14.0), both)]);
}

#[test]
fn an_update_waits_until_the_gap_after_the_last_has_passed() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(0.2), 1, &[(9, 1, 4)]);
    node.hear(at(0.3), 2, &[(9, INF, 3)]);
    let sent = node.run_until(at(2.0));
    assert_eq!(sent, [(at(1.0), (false, vec![(9, 2, 4)]))], "a neighbour in error is told better");
}

#[test]
fn an_incremental_update_that_says_much_is_a_full_one() {
    let params = DsdvParams { update_interval_s: 1000.0, ..DsdvParams::ns_2_35() };
    for (known, full) in [(10, true), (11, false)] {
        let mut node = Node::started(&params);
        let routes: Vec<_> = (2..=known).map(|dst| (dst, 1, 4)).collect();
        node.hear(at(1.0), 1, &routes);
        node.run_until(at(50.0));
        node.machine.send_update(at(60.0), true, &mut Vec::new());
        // Four of `known` + 1 entries: the node itself, its neighbour and the routes.
        node.hear(at(70.0), 1, &[(2, INF, 5), (3, INF, 5), (4, INF, 5), (5, INF, 5)]);
        let mut actions = Vec::new();
        node.machine.send_update(at(71.0), false, &mut actions);
        assert_eq!(updates(&actions)[0].0, full, "{known}");
    }
}

#[test]
fn a_node_that_is_called_lost_says_at_once_that_it_is_here() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(3.0), 1, &[(0, INF, 3)]);
    assert_eq!(node.machine.next_timeout(), at(3.0));
    assert_eq!(updates(&node.wake(at(3.0))), [(true, vec![(0, 0, 4)])]);
}

#[test]
fn a_node_that_started_again_goes_on_from_its_own_last_number() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    node.hear(at(3.0), 1, &[(0, INF, 501)]);
    assert_eq!(updates(&node.wake(at(3.0))), [(true, vec![(0, 0, 502)])]);
}

#[test]
fn packets_wait_for_a_route_and_the_oldest_goes_when_there_are_too_many() {
    let mut node = Node::started(&DsdvParams::ns_2_35());
    for _ in 0..5 {
        assert!(node.send(at(1.0), 9).is_empty());
    }
    let dropped = node.send(at(1.0), 9);
    assert!(matches!(&dropped[..], [Action::Drop(packet, DropReason::BufferFull)] if packet.uid == 1));
    assert!(sends(&node.hear(at(2.0), 1, &[(9, INF, 3)])).is_empty());
    let released = sends(&node.hear(at(2.0), 1, &[(9, 2, 4)]));
    assert_eq!(released, [(2, 1), (3, 1), (4, 1), (5, 1), (6, 1)]);
    assert_eq!(sends(&node.send(at(3.0), 9)), [(7, 1)]);
}

#[test]
fn a_failed_packet_is_dropped_or_breaks_the_link() {
    let fail = |link_layer_feedback| {
        let mut node = Node::started(&DsdvParams { link_layer_feedback, ..DsdvParams::ns_2_35() });
        node.hear(at(1.0), 1, &[(1, 0, 4), (9, 1, 6)]);
        let mut actions = Vec::new();
        node.machine.handle_link_failure(at(5.0), data(1, 0, 9, 0), NodeId(1), &mut actions);
        (node.route(9).1, actions, node.run_until(at(5.0)).len())
    };
    let (metric, actions, sent) = fail(false);
    assert_eq!((metric, sent), (2, 0));
    assert!(matches!(&actions[..], [Action::Drop(_, DropReason::LinkFailure)]));
    let (metric, actions, sent) = fail(true);
    assert_eq!((metric, sent), (INF, 1));
    assert!(actions.iter().all(|action| matches!(action, Action::Notify(_))), "the packet waits");
}
