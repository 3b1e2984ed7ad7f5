//! Step by step at one node, the state diagram of Fig. 2, and whole networks on the bench.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::drops::DropReason;
use crate::kernel::{Purpose, Streams, Time};
use crate::routing::testbench::{Bench, Pace, at, data, suite_at_pace};
use crate::routing::{Action, ConnectionEvent, HoldStep, Notice};
use crate::wire::dsr::{Header, LinkError, Request, Route};
use crate::wire::tcp::{AckSigns, SackBlocks, Segment};
use crate::wire::tsr::Mark;
use crate::wire::{ConnectionId, FlowId, IP_HEADER_BYTES, Packet, Payload, RoutingHeader};

const ME: NodeId = NodeId(0);
/// The destination of TCP's data.
const DST: u32 = 9;

/// DSR that only knows what it is told: no timeout of its cache, no jitter, no gap between released packets.
fn quiet() -> DsrParams {
    DsrParams {
        reply_jitter_ms: 0.0,
        request_jitter_ms: 0.0,
        release_spacing_ms: 0.0,
        cache_timeout_s: 0.0,
        ..DsrParams::default()
    }
}

fn path(nodes: &[u32]) -> Route {
    nodes.iter().map(|node| NodeId(*node)).collect()
}

fn plain(route: &[NodeId]) -> Vec<u32> {
    route.iter().map(|node| node.0).collect()
}

fn segment(uid: u64, src: u32, dst: u32) -> Packet {
    let connection = ConnectionId { flow: FlowId(0), number: 0 };
    let data_of =
        Segment::Data { number: 1, payload: 512, sent: Time::ZERO, retransmission: false, cwr: false };
    Packet { payload: Payload::Tcp(connection, data_of), ..data(uid, src, dst, 0) }
}

fn ack(uid: u64, src: u32, dst: u32) -> Packet {
    let connection = ConnectionId { flow: FlowId(0), number: 0 };
    let answer = Segment::Ack { next: 1, sack: SackBlocks::new(), signs: AckSigns::default() };
    Packet { payload: Payload::Tcp(connection, answer), ..data(uid, src, dst, 0) }
}

/// What a node does, as far as these tests look: in words.
fn story(actions: &[Action]) -> Vec<String> {
    let of_packet = |packet: &Packet| {
        let header = packet.dsr().expect("all packets have a header");
        let route = plain(&header.route);
        match (&packet.payload, header.tsr) {
            (Payload::Nothing, Some(Mark::Probe { .. })) => format!("probe {route:?}"),
            (Payload::Nothing, Some(Mark::Reply { .. })) => format!("answer {route:?}"),
            (Payload::Nothing, mark) if header.request.is_some() => {
                format!("request{}", if mark.is_some() { " to the target alone" } else { "" })
            }
            (Payload::Nothing, _) => format!("{} {route:?}", header.name()),
            _ => format!("packet {} {route:?}", packet.uid),
        }
    };
    let in_words = |action: &Action| match action {
        Action::Send { packet, .. } | Action::Broadcast { packet, .. } => Some(of_packet(packet)),
        Action::Drop(packet, reason) => Some(format!("drop {} {}", packet.uid, reason.name())),
        Action::Deliver(packet) => Some(format!("deliver {}", packet.uid)),
        Action::Notify(Notice::Hold { step: HoldStep::Probes, .. }) | Action::FlushQueue(_) => None,
        Action::Notify(Notice::Hold { step, .. }) => Some(step.name().to_owned()),
        Action::Notify(Notice::RouteFailed { .. }) => Some("failed".to_owned()),
        Action::Notify(Notice::RouteFound { .. }) => Some("found".to_owned()),
        Action::Consume(_) => None,
    };
    actions.iter().filter_map(in_words).collect()
}

/// One node, which is `ME`.
struct Node {
    machine: Box<dyn Routing>,
    uid: u64,
}

impl Node {
    fn new(params: &TsrParams, dsr: &DsrParams) -> Node {
        let stream = Streams::new(1, 0).stream(ME.0, Purpose::Routing);
        Node { machine: new(ME, params, dsr, stream), uid: 1000 }
    }

    /// That has learned these routes to `DST`, and has sent segment 1 over the first.
    fn knowing(params: &TsrParams, routes: &[&[u32]]) -> Node {
        let mut node = Node::new(params, &quiet());
        for route in routes {
            node.reply(at(1.0), route);
        }
        let wanted = ["found".to_owned(), format!("packet 1 {:?}", routes[0])];
        assert_eq!(node.send(at(1.0), segment(1, 0, DST)), wanted);
        node
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Routing, &mut Vec<Action>)) -> Vec<Action> {
        let mut actions = Vec::new();
        call(self.machine.as_mut(), &mut actions);
        actions
    }

    fn send(&mut self, now: Time, packet: Packet) -> Vec<String> {
        story(&self.call(|machine, actions| machine.handle_outgoing(now, packet, actions)))
    }

    fn receive(&mut self, now: Time, packet: Packet) -> Vec<String> {
        story(&self.call(|machine, actions| machine.handle_incoming(now, packet, NodeId(99), actions)))
    }

    fn message(&mut self, src: u32, dst: u32, header: Header) -> Packet {
        self.uid += 1;
        let (src, dst) = (NodeId(src), NodeId(dst));
        let mut packet = Packet::control(Time::ZERO, src, dst, 255, IP_HEADER_BYTES, Payload::Nothing);
        packet.uid = self.uid;
        packet.put_header(RoutingHeader::Dsr(header));
        packet
    }

    /// A reply of the route's last node.
    fn reply(&mut self, now: Time, offered: &[u32]) -> Vec<String> {
        let route: Route = path(offered).into_iter().rev().collect();
        let header = Header { reply: Some(path(offered)), route, ..Header::default() };
        let packet = self.message(*offered.last().expect("a route"), 0, header);
        self.receive(now, packet)
    }

    /// The destination's answer to a probe along this route.
    fn answer(&mut self, now: Time, probed: &[u32]) -> Vec<String> {
        let route: Route = path(probed).into_iter().rev().collect();
        let tsr = Some(Mark::Reply { id: 1 });
        let header = Header { reply: Some(path(probed)), route, tsr, ..Header::default() };
        let packet = self.message(*probed.last().expect("a route"), 0, header);
        self.receive(now, packet)
    }

    /// An error that comes along `way`.
    fn error(&mut self, now: Time, (from, to): (u32, u32), way: &[u32]) -> Vec<String> {
        let error =
            LinkError { tell: NodeId(*way.last().expect("a way")), from: NodeId(from), to: NodeId(to) };
        let header = Header { errors: [error].into_iter().collect(), route: path(way), ..Header::default() };
        let packet = self.message(way[0], *way.last().expect("a way"), header);
        self.receive(now, packet)
    }

    fn fail(&mut self, now: Time, packet: Packet, next_hop: u32) -> Vec<String> {
        story(&self.call(|machine, actions| {
            machine.handle_link_failure(now, packet, NodeId(next_hop), actions);
        }))
    }

    fn tell_rto(&mut self, now: Time, rto_s: f64) {
        let event = ConnectionEvent::RetransmissionTimeout { dst: NodeId(DST), rto: Span::from_secs(rto_s) };
        self.call(|machine, actions| machine.handle_connection(now, event, actions));
    }

    /// What the node does of itself up to and including `end`, each with its time in ms.
    fn run_until(&mut self, end: Time) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        while self.machine.next_timeout() <= end {
            let now = self.machine.next_timeout();
            let actions = self.call(|machine, actions| machine.handle_timeout(now, actions));
            assert!(self.machine.next_timeout() > now, "wants to be woken again at {now:?}");
            all.extend(story(&actions).into_iter().map(|what| (now.0 / 1_000_000, what)));
        }
        all
    }

    fn held(&self) -> Vec<u64> {
        let mut held = Vec::new();
        self.machine.buffered(&mut |packet| held.push(packet.uid));
        held
    }
}

const SHORT: &[u32] = &[0, 1, 9];
const DEAD: &[u32] = &[0, 2, 3, 9];
const ALIVE: &[u32] = &[0, 4, 5, 6, 9];

/// The route in use fails; of two alternatives the shorter is dead. Probes go out along both, only one is
/// answered, and what was held takes that route, which is not the shortest in the cache.
#[test]
fn the_answered_alternative_is_used_and_not_the_dead_one() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD, ALIVE]);
    let begun = node.error(at(2.0), (1, 9), &[1, 0]);
    assert_eq!(begun, ["failed", "begins", "probe [0, 2, 3, 9]", "probe [0, 4, 5, 6, 9]"]);
    assert!(
        node.send(at(2.1), segment(2, 0, DST)).is_empty()
            && node.send(at(2.2), segment(3, 0, DST)).is_empty()
    );
    assert_eq!(node.held(), [2, 3]);
    let wanted =
        ["answered", "found", "ends-answered", "packet 2 [0, 4, 5, 6, 9]", "packet 3 [0, 4, 5, 6, 9]"];
    assert_eq!(node.answer(at(2.3), ALIVE), wanted);
    assert_eq!(node.send(at(2.4), segment(4, 0, DST)), ["packet 4 [0, 4, 5, 6, 9]"], "the route is kept to");
    assert_eq!(node.run_until(at(60.0)), [], "the timer has gone with the hold");
}

/// The answer to a request was under way when its route broke: it does not end the hold.
#[test]
fn an_answer_over_the_broken_link_is_not_believed() {
    for (answers_avoid_broken, ends) in [(true, false), (false, true)] {
        let params = TsrParams { answers_avoid_broken, ..TsrParams::default() };
        let mut node = Node::knowing(&params, &[SHORT, ALIVE]);
        node.error(at(2.0), (1, 9), &[1, 0]);
        node.send(at(2.1), segment(2, 0, DST));
        let told = node.reply(at(2.2), SHORT);
        assert_eq!(told.iter().any(|what| what == "ends-answered"), ends, "{told:?}");
        if answers_avoid_broken {
            assert_eq!(node.held(), [2]);
            assert!(node.answer(at(2.3), ALIVE).contains(&"packet 2 [0, 4, 5, 6, 9]".to_owned()));
        }
    }
}

/// A second answer only refreshes the cache.
#[test]
fn a_later_answer_changes_no_route() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD, ALIVE]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    node.answer(at(2.1), ALIVE);
    assert_eq!(node.answer(at(2.2), DEAD), ["answered"]);
    assert_eq!(node.send(at(2.3), segment(2, 0, DST)), ["packet 2 [0, 4, 5, 6, 9]"]);
    let again = node.error(at(3.0), (5, 6), &[5, 4, 0]);
    assert_eq!(again, ["failed", "begins", "probe [0, 2, 3, 9]"], "it is in the cache, to be probed again");
}

#[test]
fn without_keeping_the_route_only_what_was_held_takes_it() {
    let params = TsrParams { keep_route: false, ..TsrParams::default() };
    let mut node = Node::knowing(&params, &[SHORT, DEAD, ALIVE]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    node.send(at(2.1), segment(2, 0, DST));
    assert_eq!(node.answer(at(2.3), ALIVE)[3], "packet 2 [0, 4, 5, 6, 9]");
    assert_eq!(node.send(at(2.4), segment(3, 0, DST)), ["packet 3 [0, 2, 3, 9]"]);
}

/// Eq. 1: TTO is the sender's time-out, its back-off included, and one second. Then the node is plain DSR.
#[test]
fn the_timer_ends_a_hold_that_nobody_answers() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    node.tell_rto(at(2.0), 6.4);
    node.send(at(2.1), segment(2, 0, DST));
    let wanted = [(9400, "ends-timed-out"), (9400, "found"), (9400, "packet 2 [0, 2, 3, 9]")];
    assert_eq!(node.run_until(at(30.0)), wanted.map(|(time, what)| (time, what.to_owned())));
    assert_eq!(node.send(at(31.0), segment(3, 0, DST)), ["packet 3 [0, 2, 3, 9]"]);
}

#[test]
fn of_several_connections_the_longest_timeout_counts() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    for rto_s in [0.5, 3.0, 2.0] {
        node.tell_rto(at(2.0), rto_s);
    }
    assert_eq!(node.machine.next_timeout(), at(6.0));
}

#[test]
fn packets_may_be_dropped_when_the_timer_expires() {
    let params = TsrParams { after_timeout: AfterTimeout::Drop, alpha_s: 0.5, ..TsrParams::default() };
    let mut node = Node::knowing(&params, &[SHORT, DEAD]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    node.send(at(2.1), segment(2, 0, DST));
    let wanted = [(3500, "ends-timed-out"), (3500, "drop 2 hold-timeout")];
    assert_eq!(
        node.run_until(at(30.0)),
        wanted.map(|(time, what)| (time, what.to_owned())),
        "no sender: 1 s"
    );
}

/// Without an alternative the destination is asked at once, and nobody else may answer.
#[test]
fn without_an_alternative_the_destination_is_asked() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT]);
    let begun = node.error(at(2.0), (1, 9), &[1, 0]);
    assert_eq!(begun, ["failed", "begins", "request to the target alone"]);
    node.tell_rto(at(2.0), 60.0);
    assert!(node.send(at(2.01), segment(2, 0, DST)).is_empty());
    assert_eq!(node.run_until(at(2.5))[..1], [(2030, "request to the target alone".to_owned())]);
    // A route that another node's packets bring is probed and not used.
    let header = Header { route: path(&[9, 6, 5, 4, 0]), ..Header::default() };
    let mut other = data(700, 9, 0, 4);
    other.put_header(RoutingHeader::Dsr(header));
    assert_eq!(node.receive(at(2.5), other), ["probe [0, 4, 5, 6, 9]", "deliver 700"]);
    assert_eq!(node.held(), [2]);
    let wanted = ["found", "ends-answered", "packet 2 [0, 7, 9]"];
    assert_eq!(node.reply(at(2.6), &[0, 7, 9]), wanted, "the destination itself replied to the request");
}

#[test]
fn without_an_alternative_there_may_be_no_hold() {
    let params = TsrParams { without_alternatives: WithoutAlternatives::Plain, ..TsrParams::default() };
    let mut node = Node::knowing(&params, &[SHORT]);
    assert_eq!(node.error(at(2.0), (1, 9), &[1, 0]), ["failed"]);
    assert_eq!(node.send(at(2.1), segment(2, 0, DST)), ["request"]);
}

/// The source finds out itself: the packet that failed is held, too.
#[test]
fn a_failure_of_the_sources_own_link_begins_a_hold() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD, ALIVE]);
    let mut lost = segment(1, 0, DST);
    lost.put_header(RoutingHeader::Dsr(Header { route: path(SHORT), ..Header::default() }));
    let begun = node.fail(at(2.0), lost, 1);
    assert_eq!(begun, ["failed", "begins", "probe [0, 2, 3, 9]", "probe [0, 4, 5, 6, 9]"]);
    assert_eq!(node.held(), [1]);
}

/// A probe is not salvaged and takes no other route. When it fails here, it is over; the others go on.
#[test]
fn a_probe_that_fails_is_lost() {
    for searches in [false, true] {
        let params = TsrParams { search_after_failed_probes: searches, ..TsrParams::default() };
        let mut node = Node::knowing(&params, &[SHORT, DEAD, ALIVE]);
        node.error(at(2.0), (1, 9), &[1, 0]);
        node.send(at(2.05), segment(2, 0, DST));
        let mark = Some(Mark::Probe { id: 1 });
        let probe = node.message(0, DST, Header { route: path(DEAD), tsr: mark, ..Header::default() });
        assert_eq!(
            node.fail(at(2.1), probe, 2),
            ["drop 1003 link-failure"].map(|_| { format!("drop {} link-failure", node.uid) })
        );
        let after = node.error(at(2.2), (5, 6), &[5, 4, 0]);
        let wanted: &[&str] = if searches { &["request to the target alone"] } else { &[] };
        assert_eq!(after, wanted, "all that were probed have failed");
        assert_eq!(node.held(), [2]);
    }
}

#[test]
fn at_most_n_alternatives_are_probed() {
    let params = TsrParams { probes: 1, ..TsrParams::default() };
    let mut node = Node::knowing(&params, &[SHORT, DEAD, ALIVE]);
    assert_eq!(node.error(at(2.0), (1, 9), &[1, 0]), ["failed", "begins", "probe [0, 2, 3, 9]"]);
}

#[test]
fn probes_may_be_repeated() {
    let params = TsrParams { probe_interval_s: 0.75, ..TsrParams::default() };
    let mut node = Node::knowing(&params, &[SHORT, DEAD]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    let probes = [2750, 3500].map(|time| (time, "probe [0, 2, 3, 9]".to_owned()));
    assert_eq!(node.run_until(at(3.9)), probes);
}

/// III: TSR is for TCP only. Other traffic to the same destination goes on by the cache.
#[test]
fn other_traffic_is_not_held() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD]);
    node.error(at(2.0), (1, 9), &[1, 0]);
    assert_eq!(node.send(at(2.1), data(7, 0, DST, 0)), ["packet 7 [0, 2, 3, 9]"]);
    let mut other = Node::new(&TsrParams::default(), &quiet());
    other.reply(at(1.0), SHORT);
    other.reply(at(1.0), DEAD);
    other.send(at(1.0), data(1, 0, DST, 0));
    assert_eq!(other.error(at(2.0), (1, 9), &[1, 0]), ["failed"], "no TCP, no hold");
}

#[test]
fn acknowledgements_are_held_if_they_are_to() {
    for hold_acks in [true, false] {
        let mut node = Node::new(&TsrParams { hold_acks, ..TsrParams::default() }, &quiet());
        node.reply(at(1.0), SHORT);
        node.reply(at(1.0), DEAD);
        node.send(at(1.0), ack(1, 0, DST));
        let begins = node.error(at(2.0), (1, 9), &[1, 0]).contains(&"begins".to_owned());
        assert_eq!(begins, hold_acks);
        assert_eq!(node.send(at(2.1), ack(2, 0, DST)).is_empty(), hold_acks);
    }
}

#[test]
fn a_connection_that_is_over_begins_no_hold() {
    let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD]);
    let over = ConnectionEvent::Closed { dst: NodeId(DST), two_way: true };
    node.call(|machine, actions| machine.handle_connection(at(1.5), over, actions));
    assert_eq!(node.error(at(2.0), (1, 9), &[1, 0]), ["failed"]);
}

/// III: only the destination answers, and over the reversed route, whatever its cache says.
#[test]
fn the_destination_answers_over_the_reversed_route() {
    let mut node = Node::new(&TsrParams::default(), &quiet());
    node.reply(at(1.0), &[0, 8]);
    let mark = Some(Mark::Probe { id: 5 });
    let probe = node.message(8, 0, Header { route: path(&[8, 3, 2, 0]), tsr: mark, ..Header::default() });
    let actions = node.call(|machine, actions| machine.handle_incoming(at(1.1), probe, NodeId(2), actions));
    assert_eq!(story(&actions), ["answer [0, 2, 3, 8]"]);
    let passing = node.message(8, 7, Header { route: path(&[8, 0, 5, 7]), tsr: mark, ..Header::default() });
    node.reply(at(1.2), &[0, 7]);
    assert_eq!(
        node.receive(at(1.3), passing),
        ["probe [8, 0, 5, 7]"],
        "others forward it, with a route or not"
    );
}

/// A request of a node on hold is not answered from caches; the target answers it.
#[test]
fn a_request_to_the_target_alone_passes_by_caches() {
    let mut node = Node::new(&TsrParams::default(), &quiet());
    node.reply(at(1.0), &[0, 8]);
    let request = |target: u32, id: u32, tsr: Option<Mark>| Header {
        request: Some(Request { id, target: NodeId(target), forwarders: 16 }),
        route: path(&[5]),
        tsr,
        ..Header::default()
    };
    let marked = Some(Mark::TargetOnly);
    let packets = [(8, 1, None), (8, 2, marked), (0, 3, marked)]
        .map(|(target, id, mark)| node.message(5, NodeId::BROADCAST.0, request(target, id, mark)));
    let answers = packets.map(|packet| node.receive(at(1.1), packet));
    assert_eq!(answers, [["rrep [0, 5]"], ["request to the target alone"], ["rrep [0, 5]"]]);
}

/// III, IV.B.4: a node on the way that carries the session holds what it would send over the broken link.
#[test]
fn a_node_on_the_way_may_hold_and_salvage() {
    for on_the_way in [false, true] {
        let mut node = Node::new(&TsrParams { on_the_way, ..TsrParams::default() }, &quiet());
        node.reply(at(1.0), ALIVE);
        let passing = |uid: u64| {
            let mut packet = segment(uid, 8, DST);
            packet.put_header(RoutingHeader::Dsr(Header { route: path(&[8, 0, 1, 9]), ..Header::default() }));
            packet
        };
        assert_eq!(node.receive(at(1.5), passing(1)), ["packet 1 [8, 0, 1, 9]"]);
        let told = node.error(at(2.0), (1, 9), &[1, 0, 8]);
        let forwarded = "rerr [1, 0, 8]".to_owned();
        if !on_the_way {
            assert_eq!(told, [forwarded]);
            assert_eq!(node.receive(at(2.1), passing(2)), ["packet 2 [8, 0, 1, 9]"]);
            continue;
        }
        assert_eq!(told, [forwarded, "begins".to_owned(), "probe [0, 4, 5, 6, 9]".to_owned()]);
        assert!(node.receive(at(2.1), passing(2)).is_empty());
        assert_eq!(node.answer(at(2.2), ALIVE), ["answered", "ends-answered", "packet 2 [0, 4, 5, 6, 9]"]);
    }
}

/// Fig. 2: from each state every input leads where the figure has an arrow, and nowhere else.
#[test]
fn the_states_are_those_of_fig_2() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum State {
        Dsr,
        Hold,
    }
    type Input = fn(&mut Node) -> Vec<String>;
    let inputs: [(&str, Input, [State; 2]); 5] = [
        (
            "route error for TCP's route",
            |node| node.error(at(2.0), (1, 9), &[1, 0]),
            [State::Hold, State::Hold],
        ),
        (
            "route error for another route",
            |node| node.error(at(2.0), (7, 8), &[7, 0]),
            [State::Dsr, State::Hold],
        ),
        ("reply probe", |node| node.answer(at(2.0), ALIVE), [State::Dsr, State::Dsr]),
        ("packet", |node| node.send(at(2.0), segment(5, 0, DST)), [State::Dsr, State::Hold]),
        (
            "TSR timer",
            |node| node.run_until(at(10.0)).into_iter().map(|(_, what)| what).collect(),
            [State::Dsr, State::Dsr],
        ),
    ];
    for (what, input, after) in inputs {
        for (before, after) in [State::Dsr, State::Hold].into_iter().zip(after) {
            let mut node = Node::knowing(&TsrParams::default(), &[SHORT, DEAD, ALIVE]);
            if before == State::Hold {
                node.error(at(1.9), (1, 9), &[1, 0]);
            }
            input(&mut node);
            let is_held = node.send(at(11.0), segment(6, 0, DST)).is_empty();
            let found = if is_held { State::Hold } else { State::Dsr };
            assert_eq!(found, after, "{before:?}: {what}");
        }
    }
}

/// Three ways from 0 to 9: over 1, over 2 and 3, over 4, 5 and 6. TCP's packets go from 0 to 9 from 1 s to 20
/// s, four a second; the links of `dead` break at 5 s, when nobody uses them, that from 1 to 9 at 10.1 s.
fn three_ways(dead: &[(u32, u32)]) -> Bench {
    let mut bench = Bench::new(10, maker(&TsrParams::default(), &quiet()));
    bench.carry(into_segment);
    for route in [SHORT, DEAD, ALIVE] {
        for link in route.windows(2) {
            bench.link(link[0], link[1]);
        }
    }
    for &(a, b) in dead {
        bench.unlink_at(at(5.0), a, b);
    }
    bench.unlink_at(at(10.1), 1, 9);
    bench.flow(0, 9, 1.0, 20.0);
    bench
}

/// TSR's messages that a node put on the air from 10 s on, with their routes.
fn messages_by(bench: &Bench, node: u32) -> Vec<(Time, &'static str, Vec<u32>)> {
    let late = bench.control_by(node).filter(|(time, _)| *time >= at(10.0));
    let with_routes = late.map(|(time, packet)| {
        (time, packet.name(), packet.dsr().map(|header| plain(&header.route)).unwrap_or_default())
    });
    with_routes.collect()
}

fn steps(bench: &Bench) -> Vec<&'static str> {
    let step = |notice| if let Notice::Hold { step, .. } = notice { Some(step.name()) } else { None };
    bench.notices().filter_map(step).collect()
}

/// Probe, silence, reply, escape, over a whole network: of two cached alternatives one is dead.
#[test]
fn an_outage_step_by_step() {
    let mut bench = three_ways(&[(3, 9)]);
    bench.run_until(at(30.0));
    assert_eq!(steps(&bench), ["begins", "probes", "probes", "answered", "ends-answered"]);
    let by_source = messages_by(&bench, 0);
    let probed: Vec<&Vec<u32>> = by_source.iter().map(|(_, _, route)| route).collect();
    assert_eq!(probed, [DEAD, ALIVE]);
    assert!(
        by_source.iter().all(|(time, what, _)| *what == "probe" && *time == by_source[0].0),
        "in parallel"
    );
    // The dead way says so, and nothing else; the destination answers over the other.
    let of_dead: Vec<_> = messages_by(&bench, 3).into_iter().map(|(_, what, route)| (what, route)).collect();
    assert_eq!(of_dead, [("probe", DEAD.to_vec()), ("rerr", vec![3, 2, 0])]);
    let answers = messages_by(&bench, 9);
    assert_eq!(answers.iter().map(|(_, what, _)| *what).collect::<Vec<_>>(), ["probe-reply"]);
    assert_eq!(answers[0].2, [9, 6, 5, 4, 0]);
    // One packet was on its way to the broken link, and its node knew no other.
    assert_eq!((bench.delivered(0, 9), bench.drops(DropReason::NoRoute)), (75, 1));
    bench.assert_balanced();
}

/// Both alternatives are dead: the hold lasts as long as the timer, after which the node is plain DSR and
/// finds the way that is there again.
#[test]
fn an_outage_that_the_timer_ends() {
    let mut bench = three_ways(&[(3, 9), (6, 9)]);
    bench.link_at(at(13.0), 1, 9);
    bench.run_until(at(40.0));
    assert_eq!(steps(&bench), ["begins", "probes", "probes", "ends-timed-out"]);
    assert_eq!(bench.delivered_of(0, 9, at(15.0)), 20, "all that was sent from 15 s on");
    bench.assert_balanced();
}

/// No alternative is left in the cache: the destination is asked, and its reply ends the hold.
#[test]
fn an_outage_without_an_alternative() {
    let mut bench = Bench::new(6, maker(&TsrParams::default(), &quiet()));
    bench.carry(into_segment);
    bench.chain(4);
    bench.flow(0, 3, 1.0, 20.0);
    bench.unlink_at(at(10.1), 2, 3);
    // A way that nobody has seen yet.
    for (a, b) in [(1, 4), (4, 5), (5, 3)] {
        bench.link_at(at(10.0), a, b);
    }
    bench.run_until(at(30.0));
    assert_eq!(steps(&bench), ["begins", "ends-answered"]);
    let asked = bench.control_by(0).filter(|(time, _)| *time >= at(10.0));
    let mut requests = asked.filter(|(_, packet)| packet.name() == "rreq");
    let marked = |packet: &Packet| packet.dsr().is_some_and(|header| header.tsr == Some(Mark::TargetOnly));
    assert!(requests.next().is_some_and(|(_, packet)| marked(packet)));
    assert!(bench.delivered_of(0, 3, at(10.5)) == 38, "{}", bench.delivered_of(0, 3, at(10.5)));
    bench.assert_balanced();
}

/// The bench's packets are TCP's.
fn into_segment(packet: &mut Packet) {
    packet.payload = segment(packet.uid, packet.src.0, packet.dst.0).payload;
}

fn maker(params: &TsrParams, dsr: &DsrParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    let (params, dsr) = (params.clone(), dsr.clone());
    move |node| new(node, &params, &dsr, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

#[test]
fn tsr_passes_the_suite_over_every_set_of_dsr() {
    for name in DsrParams::SETS {
        let dsr = DsrParams::set(name).expect("a listed set");
        suite_at_pace(&maker(&TsrParams::default(), &dsr), Pace { settled_s: 0.0, recovered_s: 40.0 });
    }
}

/// TCP's packets among links that come and go: every packet is accounted for, none wanders, and networks
/// have at least one hold, but for one in a thousand. `MANETLAB_TOPOLOGIES=10000` asks for more networks
/// than these, `MANETLAB_FIRST_TOPOLOGY` for those from this number on. A source route holds no node twice,
/// so a packet comes back to a node only on another one, which a salvage gave it.
#[test]
fn random_topologies_with_breaking_links() {
    let runs = std::env::var("MANETLAB_TOPOLOGIES").map_or(200, |runs| runs.parse().expect("a number"));
    let first = std::env::var("MANETLAB_FIRST_TOPOLOGY").map_or(0, |run| run.parse().expect("a number"));
    let mut drops = BTreeSet::new();
    let mut idle = 0;
    for run in first..runs {
        let (dsr, on_the_way) = (DsrParams::SETS[run as usize % DsrParams::SETS.len()], run % 2 == 0);
        let dsr = DsrParams::set(dsr).expect("a listed set");
        let params = TsrParams { on_the_way, ..TsrParams::default() };
        let bench = breaking_links(maker(&params, &dsr), run);
        bench.assert_balanced();
        let holds =
            bench.notices().filter(|notice| matches!(notice, Notice::Hold { step: HoldStep::Begins, .. }));
        idle += u64::from(holds.count() == 0);
        let mut returns: BTreeMap<(u64, NodeId), u32> = BTreeMap::new();
        for back in bench.returns() {
            *returns.entry((back.uid, back.node)).or_default() += 1;
        }
        let most = returns.into_values().max().unwrap_or(0);
        assert!(most <= dsr.max_salvages, "run {run}: {most} returns of one packet to one node");
        drops.extend(DropReason::ALL.iter().filter(|reason| bench.drops(**reason) > 0).copied());
    }
    println!("networks {first} to {runs}, of which {idle} had no hold");
    assert!(
        idle * 1000 <= runs - first,
        "{idle} networks had no hold: their first flow had no route when it broke"
    );
    assert!(drops.contains(&DropReason::LinkFailure) || drops.contains(&DropReason::NoRoute), "{drops:?}");
}

/// Traffic of TCP's packets over a random network of nine nodes, in which links come and go; the link that
/// the first flow uses breaks for certain.
fn breaking_links(make: impl Fn(NodeId) -> Box<dyn Routing> + 'static, run: u64) -> Bench {
    const NODES: u32 = 9;
    let mut bench = Bench::new(NODES, make);
    bench.carry(into_segment);
    let mut stream = Streams::new(3, run).stream(0, Purpose::Mobility);
    bench.unruly = stream.below(2) == 0;
    // ns-2's rules make storms of errors, which queues end.
    bench.queue_packets = Some(50);
    bench.chain(NODES);
    for _ in 0..stream.below(12) {
        let (a, b) = (stream.below(NODES), stream.below(NODES));
        if a != b {
            bench.link(a, b);
        }
    }
    for _ in 0..60 {
        let (a, b) = (stream.below(NODES), stream.below(NODES));
        let time = at(stream.uniform(3.0, 40.0));
        if a == b {
            continue;
        } else if stream.below(3) == 0 {
            bench.link_at(time, a, b);
        } else {
            bench.unlink_at(time, a, b);
        }
    }
    bench.flow(0, NODES - 1, 1.0, 30.0);
    // All that its source may use: its packets then meet a link that is gone.
    for node in 1..NODES {
        bench.unlink_at(at(20.1), 0, node);
        bench.link_at(at(24.0 + f64::from(node)), 0, node);
    }
    for _ in 0..3 {
        let (src, dst) = (stream.below(NODES), stream.below(NODES));
        let start = stream.uniform(0.0, 20.0);
        if src != dst {
            bench.flow(src, dst, start, start + 15.0);
        }
    }
    bench.run_until(at(60.0));
    bench
}
