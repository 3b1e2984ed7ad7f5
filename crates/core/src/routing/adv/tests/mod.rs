//! The rules of chapter 3 on one node with a virtual clock, and the protocol in the shared suite.
//!
//! A test that is named for a rule or a row of Table 3.4 shows that one; the rows alone are in `decision.rs`,
//! the computation of the threshold in `trigger.rs`.

mod received_updates;

use super::trigger::Speed;
use super::*;
use crate::drops::DropReason;
use crate::kernel::{Purpose, Streams};
use crate::routing::testbench::{
    Bench, a_restarted_node_forwards_again, at, data, loops_in_random_networks, suite,
};
use crate::wire::FlowId;
use crate::wire::adv::{Entry, Flood, FloodKind, INFINITE, Response, Update};
use crate::wire::tcp::Segment;

fn maker(params: AdvParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

/// With requests passed on, or with the full updates at regular intervals that 3.2.4 provides for.
#[test]
fn it_passes_the_suite() {
    for name in AdvParams::SETS {
        let set = AdvParams::set(name).expect("listed");
        suite(&maker(AdvParams { pass_on_requests: true, ..set.clone() }));
        suite(&maker(AdvParams { full_update_interval_s: 5.0, ..set }));
    }
    let timed = AdvParams { active_route_timeout_s: 30.0, linger_s: 0.0, ..AdvParams::default() };
    suite(&maker(AdvParams { pass_on_requests: true, ..timed }));
}

/// The letter of chapter 3: when the only flow is cut off nobody makes updates any more but its source and
/// the neighbours, and so nobody learns that the partition has healed.
#[test]
fn a_lone_flow_does_not_find_its_way_back_by_itself() {
    let mut bench = Bench::new(5, maker(AdvParams::dyer_2002()));
    bench.chain(5);
    bench.flow(0, 4, 5.0, 120.0);
    bench.unlink_at(at(20.0), 2, 3);
    bench.link_at(at(60.0), 2, 3);
    bench.run_until(at(150.0));
    assert_eq!(bench.delivered_of(0, 4, at(20.0)), 0);
    bench.assert_balanced();
}

#[test]
fn it_never_loops() {
    loops_in_random_networks(&maker(AdvParams::dyer_2002()), 0..30, true);
    let asking = AdvParams { pass_on_requests: true, ..AdvParams::dyer_2002() };
    loops_in_random_networks(&maker(asking), 0..30, true);
    loops_in_random_networks(&maker(AdvParams::before_tuning(1.0)), 0..30, true);
    let short = AdvParams {
        linger_s: 0.0,
        active_route_timeout_s: 3.0,
        unused_route_s: 0.001,
        ..AdvParams::default()
    };
    loops_in_random_networks(&maker(short), 0..30, true);
}

/// The line as Table 3.4 prints it makes a route longer with every update: what it does is a reason to read
/// it otherwise.
#[test]
fn with_the_metric_rule_as_printed_routes_loop() {
    let params = AdvParams { literal_metric_rule: true, ..AdvParams::default() };
    assert!(!loops_in_random_networks(&maker(params), 0..10, false).is_empty());
}

#[test]
fn it_recovers_from_a_node_that_forgot_everything() {
    a_restarted_node_forwards_again(maker(AdvParams::dyer_2002()));
}

/// The node under test is 0; the others are whoever the tests say.
struct Node {
    machine: Adv,
    uid: u64,
    actions: Vec<Action>,
}

const INF: u8 = INFINITE;
const ZERO: Response = Response::Zero;

impl Node {
    fn new(params: &AdvParams) -> Node {
        let stream = Streams::new(1, 0).stream(0, Purpose::Routing);
        let params = AdvParams { broadcast_jitter_ms: 0.0, ..params.clone() };
        let mut machine = Adv::new(NodeId(0), params, stream);
        machine.handle_start(Time::ZERO, &mut Vec::new());
        Node { machine, uid: 0, actions: Vec::new() }
    }

    fn tuned() -> Node {
        Node::new(&AdvParams::dyer_2002())
    }

    /// What `input` makes the node do.
    fn act(&mut self, input: impl FnOnce(&mut Adv, &mut Vec<Action>)) -> Vec<Action> {
        input(&mut self.machine, &mut self.actions);
        std::mem::take(&mut self.actions)
    }

    fn packet(&mut self, src: u32, dst: u32) -> Packet {
        self.uid += 1;
        data(self.uid, src, dst, 0)
    }

    fn segment(&mut self, src: u32, dst: u32) -> Packet {
        let segment =
            Segment::Data { number: 1, payload: 512, sent: Time::ZERO, retransmission: false, cwr: false };
        Packet { payload: Payload::Tcp(FlowId(0).into(), segment), ..self.packet(src, dst) }
    }

    fn hear(&mut self, now: Time, from: u32, message: Message) -> Vec<Action> {
        let mut packet = self.machine.control(now, 100, message);
        packet.src = NodeId(from);
        self.act(|machine, actions| machine.handle_incoming(now, packet, NodeId(from), actions))
    }

    fn update(&mut self, now: Time, from: u32, entries: &[Entry]) -> Vec<Action> {
        self.hear(now, from, Message::Update(Update { full: false, entries: entries.into() }))
    }

    fn flood(&mut self, now: Time, from: u32, flood: Flood) -> Vec<Action> {
        self.hear(now, from, Message::Flood(flood))
    }

    /// A packet on its way from node 8 to `dst` comes by.
    fn relay(&mut self, now: Time, dst: u32) -> Vec<Action> {
        let packet = self.packet(8, dst);
        self.act(|machine, actions| machine.handle_incoming(now, packet, NodeId(8), actions))
    }

    fn send(&mut self, now: Time, packet: Packet) -> Vec<Action> {
        self.act(|machine, actions| machine.handle_outgoing(now, packet, actions))
    }

    fn open(&mut self, now: Time, dst: u32, two_way: bool) -> Vec<Action> {
        let event = ConnectionEvent::Opened { dst: NodeId(dst), two_way };
        self.act(|machine, actions| machine.handle_connection(now, event, actions))
    }

    fn close(&mut self, now: Time, dst: u32) -> Vec<Action> {
        let event = ConnectionEvent::Closed { dst: NodeId(dst), two_way: false };
        self.act(|machine, actions| machine.handle_connection(now, event, actions))
    }

    fn route(&mut self, dst: u32) -> &mut Route {
        self.machine.table.get_mut(NodeId(dst)).expect("a known destination")
    }

    /// Next hop, metric and number of a destination.
    fn way(&mut self, dst: u32) -> (u32, u8, u32) {
        let route = self.route(dst);
        (route.next_hop.0, route.metric, route.seqno)
    }

    fn meter(&self) -> u32 {
        self.machine.trigger.meter
    }

    /// Gives it a route that is in use: two packets handled.
    fn with_route(mut self, dst: u32, next_hop: u32, metric: u8, seqno: u32) -> Node {
        self.machine.adopt(Time::ZERO, NodeId(dst), NodeId(next_hop), metric, seqno, &mut Vec::new());
        self.route(dst).handled = 2;
        self.route(dst).is_receiver = true;
        self
    }

    fn at_high_speed(mut self) -> Node {
        self.machine.mobility.speed = Speed::High;
        self
    }

    /// Wakes the node whenever it wants; the updates up to and including `end`.
    fn run_until(&mut self, end: Time) -> Vec<(Time, Update)> {
        let mut all = Vec::new();
        while self.machine.next_timeout() <= end {
            let now = self.machine.next_timeout();
            let actions = self.act(|machine, actions| machine.handle_timeout(now, actions));
            all.extend(updates(&actions).into_iter().map(|update| (now, update)));
        }
        all
    }
}

fn entry(dst: u32, seqno: u32, metric: u8, is_receiver: bool, expected_response: Response) -> Entry {
    Entry { dst: NodeId(dst), seqno, metric, is_receiver, expected_response }
}

/// A flood as its originator's neighbour hears it.
fn flood(kind: FloodKind, origin: u32, seqno: u32, id: u32, receiver: u32) -> Flood {
    let (origin, receiver) = (NodeId(origin), NodeId(receiver));
    Flood { kind, origin, seqno, id, receiver, two_way: false, hops: 0 }
}

fn broadcasts(actions: &[Action]) -> impl Iterator<Item = &Packet> {
    actions.iter().filter_map(|action| match action {
        Action::Broadcast { packet, .. } => Some(packet),
        _ => None,
    })
}

fn updates(actions: &[Action]) -> Vec<Update> {
    let update = |packet: &Packet| match &packet.payload {
        Payload::Adv(Message::Update(update)) => {
            assert_eq!(packet.bytes, 20 + 4 + 8 * update.entries.len() as u32);
            Some(update.clone())
        }
        _ => None,
    };
    broadcasts(actions).filter_map(update).collect()
}

fn floods(actions: &[Action]) -> Vec<Flood> {
    let flood = |packet: &Packet| match &packet.payload {
        Payload::Adv(Message::Flood(flood)) => Some(*flood),
        _ => None,
    };
    broadcasts(actions).filter_map(flood).collect()
}

fn kinds(actions: &[Action]) -> Vec<FloodKind> {
    floods(actions).iter().map(|flood| flood.kind).collect()
}

/// Packets that go out, with next hop and delay in ms.
fn sends(actions: &[Action]) -> Vec<(u64, u32, u64)> {
    let send = |action: &Action| match action {
        Action::Send { packet, next_hop, delay } => Some((packet.uid, next_hop.0, delay.0 / 1_000_000)),
        _ => None,
    };
    actions.iter().filter_map(send).collect()
}

// Making routes active and inactive (3.1).

#[test]
fn rule_3_1_a_source_that_opens_a_connection_floods_init_connection() {
    let mut node = Node::tuned();
    let sent = floods(&node.open(at(1.0), 9, false));
    let init = flood(FloodKind::InitConnection, 0, 2, 1, 9);
    assert_eq!(sent, [init]);
    assert!(node.route(9).is_receiver && node.route(9).advertise == 1);
    assert!(node.open(at(2.0), 9, false).is_empty(), "one connection for all flows of a pair");
}

#[test]
fn rule_3_1_a_node_that_hears_init_connection_sets_the_flag_and_sends_it_on_once() {
    let mut node = Node::tuned();
    let init = flood(FloodKind::InitConnection, 7, 6, 3, 9);
    let sent = floods(&node.flood(at(1.0), 7, init));
    assert_eq!(sent, [Flood { hops: 1, ..init }]);
    assert!(node.route(9).is_receiver && node.route(9).advertise == 1);
    let again = node.flood(at(1.1), 8, Flood { hops: 4, ..init });
    assert!(matches!(&again[..], [Action::Notify(_), Action::Consume(_)]), "{again:?}");
}

#[test]
fn rule_3_1_a_destination_answers_init_connection_unless_it_is_a_receiver() {
    let mut node = Node::tuned();
    let first = node.flood(at(1.0), 7, flood(FloodKind::InitConnection, 7, 6, 3, 0));
    assert_eq!(kinds(&first), [FloodKind::ReceiverAlert, FloodKind::InitConnection]);
    assert_eq!(floods(&first)[0].seqno, 2, "its own number is raised");
    let second = node.flood(at(2.0), 6, flood(FloodKind::InitConnection, 6, 4, 1, 0));
    assert_eq!(kinds(&second), [FloodKind::InitConnection]);
    assert_eq!(node.meter(), 2 * 8, "for the two new routes, and nothing for the new source");
}

#[test]
fn a_destination_can_be_told_to_make_an_update_for_a_new_source() {
    let mut node = Node::new(&AdvParams { update_for_new_source: true, ..AdvParams::default() });
    node.flood(at(1.0), 7, flood(FloodKind::InitConnection, 7, 6, 3, 0));
    assert!(node.run_until(at(2.0)).is_empty());
    node.flood(at(2.0), 6, flood(FloodKind::InitConnection, 6, 4, 1, 0));
    let sent = node.run_until(at(3.0));
    assert!(matches!(&sent[..], [(_, Update { full: true, .. })]), "{sent:?}");
}

#[test]
fn rule_3_1_receiver_alert_makes_a_reverse_route_to_the_destination() {
    let mut node = Node::tuned();
    let alert = Flood { hops: 2, ..flood(FloodKind::ReceiverAlert, 9, 6, 1, 9) };
    let sent = floods(&node.flood(at(1.0), 5, alert));
    assert_eq!(sent, [Flood { hops: 3, ..alert }]);
    assert_eq!(node.way(9), (5, 3, 6));
    assert!(node.route(9).is_receiver);
}

#[test]
fn rule_3_1_end_connection_and_non_receiver_alert_clear_the_flag() {
    for kind in [FloodKind::EndConnection, FloodKind::NonReceiverAlert] {
        let mut node = Node::tuned().with_route(9, 5, 3, 6);
        let origin = if kind == FloodKind::EndConnection { 7 } else { 9 };
        node.flood(at(1.0), 5, flood(kind, origin, 8, 1, 9));
        assert!(!node.route(9).is_receiver, "{kind:?}");
    }
}

#[test]
fn a_source_keeps_the_flag_of_a_destination_while_its_own_connection_is_open() {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    node.open(at(1.0), 9, false);
    node.flood(at(1.0), 5, flood(FloodKind::EndConnection, 7, 8, 1, 9));
    node.update(at(1.0), 5, &[entry(9, 100, 1, false, ZERO)]);
    assert!(node.route(9).is_receiver);
}

#[test]
fn rule_3_1_a_destination_without_other_connections_floods_non_receiver_alert() {
    let mut node = Node::tuned();
    node.flood(at(1.0), 7, flood(FloodKind::InitConnection, 7, 6, 1, 0));
    node.flood(at(1.0), 6, flood(FloodKind::InitConnection, 6, 6, 1, 0));
    let first = node.flood(at(2.0), 7, flood(FloodKind::EndConnection, 7, 8, 2, 0));
    assert_eq!(kinds(&first), [FloodKind::ReceiverAlert, FloodKind::EndConnection], "it has another");
    let second = node.flood(at(3.0), 6, flood(FloodKind::EndConnection, 6, 8, 2, 0));
    assert_eq!(kinds(&second), [FloodKind::NonReceiverAlert, FloodKind::EndConnection]);
    assert!(!node.machine.is_receiver);
}

#[test]
fn without_the_answer_a_destination_falls_silent_with_its_first_connection() {
    let mut node = Node::new(&AdvParams { alert_after_end: false, ..AdvParams::default() });
    node.flood(at(1.0), 7, flood(FloodKind::InitConnection, 7, 6, 1, 0));
    node.flood(at(1.0), 6, flood(FloodKind::InitConnection, 6, 6, 1, 0));
    let first = node.flood(at(2.0), 7, flood(FloodKind::EndConnection, 7, 8, 2, 0));
    assert_eq!(kinds(&first), [FloodKind::EndConnection]);
}

#[test]
fn a_connection_ends_after_its_linger_unless_another_flow_follows() {
    let mut node = Node::tuned();
    node.open(at(1.0), 9, false);
    node.close(at(10.0), 9);
    assert!(node.open(at(39.0), 9, false).is_empty(), "no flood: nobody was notified of the end");
    assert_eq!(node.machine.next_timeout(), Time::NEVER);
    node.close(at(40.0), 9);
    let ended = node.act(|machine, actions| machine.handle_timeout(at(70.0), actions));
    assert_eq!(kinds(&ended), [FloodKind::EndConnection]);
    assert!(!node.route(9).is_receiver);
    let mut hasty = Node::new(&AdvParams { linger_s: 0.0, ..AdvParams::default() });
    hasty.open(at(1.0), 9, false);
    hasty.open(at(1.0), 9, false);
    assert!(hasty.close(at(2.0), 9).is_empty(), "one of two flows");
    assert_eq!(kinds(&hasty.close(at(2.0), 9)), [FloodKind::EndConnection]);
}

#[test]
fn rule_3_1_an_unused_route_is_not_advertised_after_the_active_route_timeout() {
    let mut node = Node::new(&AdvParams { active_route_timeout_s: 30.0, ..AdvParams::default() })
        .with_route(9, 5, 3, 6)
        .with_route(7, 5, 3, 6);
    node.open(at(1.0), 7, false);
    node.relay(at(10.0), 9);
    node.machine.schedule(at(39.0), true);
    assert_eq!(named(&node.run_until(at(39.5))[0].1), [0, 7, 9]);
    node.machine.schedule(at(40.0), true);
    assert_eq!(named(&node.run_until(at(40.5))[0].1), [0, 7], "the source's own connection is open");
}

fn named(update: &Update) -> Vec<u32> {
    update.entries.iter().map(|entry| entry.dst.0).collect()
}

#[test]
fn a_packet_without_an_announced_connection_opens_one() {
    let mut node = Node::tuned();
    let packet = node.packet(0, 9);
    assert_eq!(kinds(&node.send(at(1.0), packet)), [FloodKind::InitConnection]);
    let packet = node.packet(0, 9);
    assert!(node.send(at(1.0), packet).is_empty());
    // The announcement that comes late adds no second flow.
    node.open(at(2.0), 9, false);
    node.close(at(3.0), 9);
    assert_eq!(node.machine.outgoing[&NodeId(9)].ends_at, at(33.0));
}

#[test]
fn data_from_an_unknown_source_make_a_receiver() {
    let mut node = Node::tuned();
    let packet = node.packet(7, 0);
    let actions = node.act(|machine, actions| machine.handle_incoming(at(1.0), packet, NodeId(5), actions));
    assert_eq!(kinds(&actions), [FloodKind::ReceiverAlert]);
    node.flood(at(2.0), 7, flood(FloodKind::EndConnection, 7, 8, 2, 0));
    let packet = node.packet(7, 0);
    let actions = node.act(|machine, actions| machine.handle_incoming(at(3.0), packet, NodeId(5), actions));
    assert!(kinds(&actions).is_empty(), "a late packet of a connection that has ended");
}

// Sending updates (3.2.4).

#[test]
fn rule_3_2_4_a_full_update_has_all_active_receivers_and_a_partial_one_those_to_be_advertised() {
    let node = || {
        let mut node = Node::tuned().with_route(7, 5, 3, 6).with_route(8, 5, 3, 6).with_route(9, 5, 3, 6);
        node.route(7).is_receiver = false;
        (node.route(7).advertise, node.route(8).advertise, node.route(9).advertise) = (3, 0, 2);
        node
    };
    for (full, wanted) in [(true, vec![0, 8, 9]), (false, vec![0, 9])] {
        let mut node = node();
        node.machine.schedule(at(1.0), full);
        let sent = node.run_until(at(2.0));
        assert_eq!((sent[0].1.full, named(&sent[0].1)), (full, wanted), "itself always, receiver or not");
        assert_eq!((node.route(8).advertise, node.route(9).advertise), (0, 1), "counted down, not below 0");
    }
}

trait Routes {
    fn triple(&mut self) -> [u32; 3];
}

impl Routes for Node {
    fn triple(&mut self) -> [u32; 3] {
        [7, 8, 9].map(|dst| self.route(dst).handled)
    }
}

#[test]
fn rule_3_2_1_packets_handled_are_halved_by_an_update_that_names_the_destination() {
    let mut node = Node::tuned().with_route(7, 5, 3, 6).with_route(8, 5, 3, 6).with_route(9, 5, 3, 6);
    (node.route(7).handled, node.route(8).handled, node.route(9).handled) = (5, 1, 4);
    node.route(9).is_receiver = false;
    node.machine.schedule(at(1.0), true);
    node.run_until(at(1.1));
    assert_eq!(node.triple(), [2, 0, 4]);
}

#[test]
fn rule_3_2_4_every_update_has_a_higher_number_and_so_has_every_flood() {
    let mut node = Node::tuned();
    let mut last = 0;
    for second in 1..5 {
        node.machine.schedule(at(f64::from(second)), second % 2 == 0);
        let sent = node.run_until(at(f64::from(second) + 0.1));
        let own = sent[0].1.entries[0];
        assert_eq!((own.dst, own.metric, own.seqno), (NodeId(0), 0, last + 2));
        let flooded = floods(&node.open(at(f64::from(second) + 0.2), 10 + second, false));
        assert_eq!(flooded[0].seqno, last + 4);
        last += 4;
    }
}

#[test]
fn rule_3_2_4_the_expected_response_is_high_for_queued_packets_and_else_as_the_speed_says() {
    let expected = |speed, handled, queued| {
        let mut node = Node::tuned().with_route(9, 5, 3, 6);
        node.machine.mobility.speed = speed;
        node.route(9).handled = handled;
        if queued {
            node.route(9).invalidate();
            node.relay(at(1.0), 9);
        }
        node.machine.schedule(at(1.0), true);
        node.run_until(at(1.1))[0].1.entries[1].expected_response
    };
    for speed in [Speed::Low, Speed::High] {
        assert_eq!(expected(speed, 0, true), Response::High);
        assert_eq!(expected(speed, 3, true), Response::High);
        assert_eq!(expected(speed, 0, false), ZERO);
    }
    assert_eq!(expected(Speed::High, 1, false), Response::Medium);
    assert_eq!(expected(Speed::Low, 1, false), Response::Low);
}

#[test]
fn rule_3_2_4_half_a_second_passes_between_two_updates() {
    let mut node = Node::tuned();
    node.machine.schedule(at(1.0), false);
    assert_eq!(node.run_until(at(1.1)).len(), 1);
    node.machine.trigger.meter = 21;
    node.machine.check_meter(at(1.2));
    assert_eq!(node.meter(), 0, "the meter begins anew when the update is scheduled");
    // One nanosecond goes to asking the interface queue.
    let first = at(1.0) + Span(1);
    assert_eq!(node.machine.next_timeout(), first + Span::from_millis(500));
    node.machine.trigger.meter = 50;
    node.machine.check_meter(at(1.3));
    let sent = node.run_until(at(3.0));
    assert_eq!(sent.len(), 1, "all that is triggered in between is one update");
    assert!(sent[0].1.full, "full if any of it is");
    assert_eq!(sent[0].0, first + Span::from_millis(500) + Span(1));
}

#[test]
fn rule_3_2_4_an_update_that_still_waits_in_the_interface_queue_is_merged() {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    node.route(9).advertise = 1;
    node.machine.schedule(at(1.0), true);
    let waiting = node.run_until(at(1.1)).remove(0).1;
    node.machine.schedule(at(2.0), false);
    let asked = node.act(|machine, actions| machine.handle_timeout(at(2.0), actions));
    assert_eq!(asked, [Action::FlushQueue(NodeId::BROADCAST)]);
    let packet = node.machine.control(at(1.0), 36, Message::Update(waiting));
    let taken = node.act(|machine, actions| {
        machine.handle_flushed(at(2.0), packet, NodeId::BROADCAST, actions);
    });
    assert!(matches!(&taken[..], [Action::Consume(_)]));
    let sent = node.run_until(at(2.1));
    assert!(sent.len() == 1 && sent[0].1.full, "full if either was");
    assert_eq!(named(&sent[0].1), [0, 9]);
}

#[test]
fn a_merged_partial_update_names_what_the_waiting_one_named() {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    node.route(9).advertise = 1;
    node.machine.schedule(at(1.0), false);
    let waiting = node.run_until(at(1.1)).remove(0).1;
    assert_eq!((named(&waiting), node.route(9).advertise), (vec![0, 9], 0));
    node.machine.schedule(at(2.0), false);
    node.act(|machine, actions| machine.handle_timeout(at(2.0), actions));
    let packet = node.machine.control(at(1.0), 36, Message::Update(waiting));
    node.act(|machine, actions| machine.handle_flushed(at(2.0), packet, NodeId::BROADCAST, actions));
    assert_eq!(named(&node.run_until(at(2.1))[0].1), [0, 9]);
}

#[test]
fn a_flood_that_comes_back_from_the_interface_queue_goes_out_again() {
    let mut node = Node::tuned();
    let sent = flood(FloodKind::InitConnection, 7, 6, 1, 9);
    let packet = node.machine.control(at(1.0), 40, Message::Flood(sent));
    let actions = node.act(|machine, actions| {
        machine.handle_flushed(at(1.0), packet, NodeId::BROADCAST, actions);
    });
    assert_eq!(floods(&actions), [sent]);
}

/// A table has a place for each node up to the last one: one for the broadcast address would take 16 GB.
#[test]
fn a_broadcast_of_data_that_comes_back_from_the_interface_queue_goes_out_again() {
    let mut node = Node::tuned();
    node.machine.schedule(at(1.0), false);
    node.act(|machine, actions| machine.handle_timeout(at(1.0), actions));
    let packet = Packet { dst: NodeId::BROADCAST, ..node.packet(0, 9) };
    let back = packet.clone();
    let actions =
        node.act(|machine, actions| machine.handle_flushed(at(1.0), back, NodeId::BROADCAST, actions));
    assert_eq!(actions, [Action::Broadcast { packet, delay: Span::ZERO }]);
}

#[test]
fn rule_3_2_4_nothing_is_periodic_unless_asked_for() {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    assert_eq!(node.machine.next_timeout(), Time::NEVER);
    assert!(node.run_until(at(1000.0)).is_empty());
    let mut periodic = Node::new(&AdvParams { full_update_interval_s: 15.0, ..AdvParams::default() });
    let sent = periodic.run_until(at(1000.0));
    assert!((66..=67).contains(&sent.len()) && sent.iter().all(|(_, update)| update.full));
}

// Data packets (3.2.6) and broken links.

#[test]
fn rule_3_2_6_a_packet_with_a_route_is_forwarded_and_counted() {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    assert_eq!(sends(&node.relay(at(1.0), 9)), [(1, 5, 0)]);
    assert_eq!(node.route(9).handled, 3);
}

#[test]
fn rule_3_2_6_packets_are_buffered_at_any_node_and_raise_the_meter_from_the_second_on() {
    let mut node = Node::tuned();
    let meters: Vec<u32> = (0..3)
        .map(|_| {
            assert!(node.relay(at(1.0), 9).is_empty());
            node.meter()
        })
        .collect();
    assert_eq!(meters, [0, 8, 16]);
    node.relay(at(1.0), 8);
    let sent = node.run_until(at(1.5));
    assert_eq!(named(&sent[0].1), [0, 8, 9], "24 is beyond the threshold, and both are asked for");
    assert!(sent[0].1.entries[1..].iter().all(|entry| entry.expected_response == Response::High));
}

#[test]
fn rule_3_2_6_packets_that_wait_too_long_are_dropped() {
    let mut node = Node::tuned();
    node.relay(at(1.0), 9);
    let segment = node.segment(8, 9);
    node.act(|machine, actions| machine.handle_incoming(at(1.0), segment, NodeId(8), actions));
    let mut dropped_at = |now| {
        let actions = node.act(|machine, actions| machine.handle_timeout(now, actions));
        actions.iter().filter(|action| matches!(action, Action::Drop(_, DropReason::BufferTimeout))).count()
    };
    let times = [at(2.0), at(2.0) + Span(1), at(31.0), at(31.0) + Span(1)];
    assert_eq!(times.map(&mut dropped_at), [0, 1, 0, 1]);
}

#[test]
fn a_broken_link_invalidates_its_routes_and_its_packets_wait() {
    // At either speed, as in 3.2.2, or only at HIGH_SPEED. Two forwarded routes are broken, and the second
    // packet that waits counts.
    for (at_low_speed, high, meter) in
        [(true, false, 2 * 8 + 8), (true, true, 2 * 8 + 8), (false, false, 8), (false, true, 2 * 8 + 8)]
    {
        let params = AdvParams { urgent_breaks_at_low_speed: at_low_speed, ..AdvParams::default() };
        let node = Node::new(&params).with_route(5, 5, 1, 4).with_route(8, 5, 3, 6).with_route(9, 5, 3, 6);
        let node = node.with_route(7, 4, 3, 6);
        let mut node = if high { node.at_high_speed() } else { node };
        node.route(5).handled = 0;
        let failed = node.packet(3, 9);
        let changes = node.machine.mobility.changes;
        let actions =
            node.act(|machine, actions| machine.handle_link_failure(at(1.0), failed, NodeId(5), actions));
        assert!(actions.contains(&Action::FlushQueue(NodeId(5))));
        assert_eq!((node.way(8), node.way(9), node.way(5)), ((5, INF, 7), (5, INF, 7), (5, INF, 5)));
        assert_eq!(node.way(7), (4, 3, 6));
        assert_eq!(node.machine.mobility.changes, changes + 1);
        assert_eq!((node.route(8).advertise, node.route(9).advertise), (1, 1));
        let queued = node.packet(3, 9);
        node.act(|machine, actions| machine.handle_flushed(at(1.0), queued, NodeId(5), actions));
        assert_eq!(node.machine.buffer.len(), 2);
        let scheduled: u32 = node.machine.scheduled.is_some().into();
        // The threshold is 20.
        assert_eq!((node.meter(), scheduled), if meter > 20 { (0, 1) } else { (meter, 0) });
    }
}

/// What the count of neighbour changes is after each of four updates.
fn neighbour_changes(departures_when_heard: bool) -> [u32; 4] {
    let mut node = Node::new(&AdvParams { departures_when_heard, ..AdvParams::default() });
    let own = |seqno| entry(5, seqno, 0, false, ZERO);
    let mut changes = |now, from, entries: &[Entry]| {
        node.update(at(now), from, entries);
        node.machine.mobility.changes
    };
    [
        changes(1.0, 5, &[own(2)]),
        changes(2.0, 5, &[own(4)]),
        changes(3.0, 6, &[entry(6, 2, 0, false, ZERO), entry(5, 6, 3, true, ZERO)]),
        changes(4.0, 5, &[own(8)]),
    ]
}

#[test]
fn rule_3_2_2_nodes_that_come_within_one_hop_and_leave_it_are_neighbour_changes() {
    // 5 comes and stays; 6 comes and gives it a longer metric; 5 comes back. That it had gone is counted when
    // it is heard again, or when its metric rises.
    assert_eq!(neighbour_changes(true), [1, 1, 2, 4]);
    assert_eq!(neighbour_changes(false), [1, 1, 3, 4]);
    let mut node = Node::tuned();
    node.flood(at(5.0), 7, flood(FloodKind::ReceiverAlert, 7, 6, 1, 7));
    assert_eq!(node.machine.mobility.changes, 1, "connection control packets count too");
}

// Tuning for TCP (3.5).

#[test]
fn rule_3_5_init_connection_makes_a_reverse_route_to_the_source_and_raises_the_meter() {
    let init = Flood { hops: 3, ..flood(FloodKind::InitConnection, 7, 6, 1, 9) };
    let mut node = Node::tuned();
    node.flood(at(1.0), 5, init);
    assert_eq!((node.way(7), node.meter()), ((5, 4, 6), 8));
    let mut before = Node::new(&AdvParams::before_tuning(1.0));
    before.flood(at(1.0), 5, init);
    assert!(before.machine.table.get(NodeId(7)).is_none() && before.meter() == 0);
}

#[test]
fn rule_3_5_the_source_of_a_two_way_connection_is_an_active_receiver() {
    let mut source = Node::tuned();
    let sent = floods(&source.open(at(1.0), 9, true));
    assert!(sent[0].two_way && source.machine.is_receiver);
    let init = Flood { two_way: true, ..flood(FloodKind::InitConnection, 7, 6, 1, 9) };
    let mut node = Node::tuned();
    node.flood(at(1.0), 7, init);
    assert!(node.route(7).is_receiver && node.route(9).is_receiver);
    node.flood(at(2.0), 7, Flood { kind: FloodKind::EndConnection, seqno: 8, id: 2, ..init });
    assert!(!node.route(7).is_receiver && !node.route(9).is_receiver);
    let mut before = Node::new(&AdvParams::before_tuning(1.0));
    assert!(!floods(&before.open(at(1.0), 9, true))[0].two_way && !before.machine.is_receiver);
}

#[test]
fn rule_3_5_answers_of_a_two_way_connection_open_none_of_their_own() {
    let init = Flood { two_way: true, ..flood(FloodKind::InitConnection, 7, 6, 1, 0) };
    for (params, opens) in [(AdvParams::dyer_2002(), false), (AdvParams::before_tuning(1.0), true)] {
        let mut node = Node::new(&params);
        node.flood(at(1.0), 7, init);
        let ack = node.segment(0, 7);
        let opened = kinds(&node.send(at(1.0), ack)).contains(&FloodKind::InitConnection);
        assert_eq!(opened, opens);
    }
}

#[test]
fn rule_3_5_a_source_that_still_receives_by_another_connection_says_so_at_the_end() {
    let mut node = Node::new(&AdvParams { linger_s: 0.0, ..AdvParams::default() });
    node.open(at(1.0), 9, true);
    node.open(at(1.0), 8, true);
    assert!(!floods(&node.close(at(2.0), 9))[0].two_way);
    assert!(node.machine.is_receiver);
    assert!(floods(&node.close(at(2.0), 8))[0].two_way);
    assert!(!node.machine.is_receiver);
}

#[test]
fn rule_3_5_a_source_ignores_what_it_knows_of_a_former_neighbour() {
    let valid_after_opening = |params: &AdvParams, was_receiver, used_at: Option<Time>| {
        let mut node = Node::new(params).with_route(9, 9, 1, 6);
        node.route(9).is_receiver = was_receiver;
        node.route(9).used_at = used_at;
        node.open(at(100.0), 9, false);
        node.route(9).is_valid()
    };
    let (tuned, before) = (AdvParams::dyer_2002(), AdvParams::before_tuning(1.0));
    let recently = Some(at(90.0));
    assert!(!valid_after_opening(&tuned, false, recently));
    assert!(valid_after_opening(&tuned, true, recently));
    assert!(valid_after_opening(&before, false, recently), "used, if stale");
    // 3.2.3: a route that was not used in the last 15 s is discarded.
    assert!(valid_after_opening(&before, true, Some(at(85.001))));
    assert!(!valid_after_opening(&before, true, Some(at(85.0))));
    assert!(!valid_after_opening(&before, true, None));
    // A former neighbour's route was never used, so that only without this rule the other one is seen.
    let keeping = |params: AdvParams| AdvParams { unused_route_s: 0.0, ..params };
    assert!(valid_after_opening(&keeping(before), false, None));
    assert!(!valid_after_opening(&keeping(tuned), false, None));
}

#[test]
fn the_sets_are_those_of_the_chapters() {
    let timeouts = |name| {
        let set = AdvParams::set(name).expect("listed");
        (set.tcp_buffer_timeout_s as u32, set.other_buffer_timeout_s as u32, set.switch_next_hop_on_tie)
    };
    assert_eq!(timeouts("dyer-2002"), (30, 1, false));
    assert_eq!(timeouts("dyer-2002-ch4"), (30, 30, false));
    assert_eq!(timeouts("dyer-2002-ch3-1s"), (1, 1, true));
    assert_eq!(timeouts("dyer-2002-ch3-5s"), (5, 5, true));
}
