//! TCP-BuS at a node of a path: node 1 of a connection from node 0 to node 9.

use proptest::prelude::*;

use super::tcp_bus::TcpBus;
use super::{Interceptor, InterceptorAction, Splits, Wires};
use crate::drops::DropReason::{self, BufferTimeout, LinkFailure, NoRoute, QueueFull};
use crate::kernel::{Span, Time};
use crate::routing::Notice;
use crate::transport::tcp::{BaseStationMode, SENDER_NAMES, TcpParams};
use crate::wire::tcp::{AckSigns, SackBlocks, Segment, SegmentRanges};
use crate::wire::{ConnectionId, FlowId, NodeId, Packet, Payload};

const MS: u64 = 1_000_000;

const CONNECTION: ConnectionId = ConnectionId { flow: FlowId(7), number: 0 };
const SOURCE: NodeId = NodeId(0);
const DST: NodeId = NodeId(9);

fn ms(millis: u64) -> Time {
    Time(millis * MS)
}

fn data(number: u32) -> Segment {
    Segment::Data { number, payload: 1000, sent: Time::ZERO, retransmission: false, cwr: false }
}

/// Segment `number`; its number as a packet is one hundred more.
fn packet(number: u32) -> Packet {
    let payload = Payload::Tcp(CONNECTION, data(number));
    let packet = Packet::control(Time::ZERO, SOURCE, DST, 30, 1040, payload);
    Packet { uid: u64::from(number) + 100, ..packet }
}

fn notification(segment: Segment) -> Packet {
    Packet::control(Time::ZERO, NodeId(5), SOURCE, 30, 40, Payload::Tcp(CONNECTION, segment))
}

fn ersn(kept: &[(u32, u32)]) -> Segment {
    Segment::Ersn { dst: DST, kept: SegmentRanges::from_slice(kept) }
}

/// What a node asks for, in words of its own.
#[derive(PartialEq, Debug)]
enum Said {
    Erdn,
    Ersn(Vec<(u32, u32)>, u32),
    Route(u32),
    Drop(u32, DropReason),
}

/// A node and its clock.
struct OnTheWay {
    stage: TcpBus,
    now: Time,
}

impl OnTheWay {
    fn with(params: &TcpParams) -> OnTheWay {
        OnTheWay { stage: TcpBus::new(NodeId(1), params), now: Time::ZERO }
    }

    fn new() -> OnTheWay {
        OnTheWay::with(&TcpParams::rfc())
    }

    /// A node that holds segments 1 to `last`: routing has the first.
    fn keeping(last: u32) -> OnTheWay {
        let mut node = OnTheWay::new();
        assert_eq!(node.give_up(1, LinkFailure), (true, vec![Said::Erdn, Said::Route(1)]));
        for number in 2..=last {
            assert_eq!(node.give_up(number, LinkFailure), (true, vec![]));
        }
        node
    }

    fn tell(
        &mut self,
        call: impl FnOnce(&mut dyn Interceptor, Time, &mut Vec<InterceptorAction>),
    ) -> Vec<Said> {
        let mut out = Vec::new();
        call(&mut self.stage, self.now, &mut out);
        out.into_iter().map(said).collect()
    }

    /// Is the segment kept, and what is asked for?
    fn give_up(&mut self, number: u32, reason: DropReason) -> (bool, Vec<Said>) {
        let mut kept = false;
        let said = self
            .tell(|stage, now, out| kept = stage.handle_given_up(now, packet(number), reason, out).is_none());
        (kept, said)
    }

    fn forward(&mut self, number: u32) -> (bool, Vec<Said>) {
        let mut kept = false;
        let said =
            self.tell(|stage, now, out| kept = stage.handle_outgoing(now, packet(number), out).is_none());
        (kept, said)
    }

    fn take(&mut self, number: u32) -> Vec<Said> {
        self.tell(|stage, now, out| stage.handle_taken(now, &packet(number), out))
    }

    /// A notification passes; what of it goes on, and its length.
    fn pass(&mut self, segment: Segment) -> (Vec<Said>, Packet) {
        let mut passing = notification(segment);
        (self.tell(|stage, now, out| stage.handle_incoming(now, &mut passing, out)), passing)
    }

    /// The next deadline comes: after how many milliseconds, and what then?
    fn wait(&mut self) -> (u64, Vec<Said>) {
        let before = self.now;
        self.now = self.stage.next_timeout();
        let said = self.tell(|stage, now, out| stage.handle_timeout(now, out));
        (self.now.since(before).0 / MS, said)
    }

    fn find_route(&mut self, dst: NodeId) -> Vec<Said> {
        self.tell(|stage, now, out| stage.handle_notice(now, Notice::RouteFound { dst }, out))
    }

    fn kept(&self) -> Vec<u64> {
        let mut kept = Vec::new();
        self.stage.kept(&mut |packet| kept.push(packet.uid - 100));
        kept
    }
}

fn said(action: InterceptorAction) -> Said {
    let number = |packet: &Packet| packet.uid as u32 - 100;
    match action {
        InterceptorAction::Route(packet) => Said::Route(number(&packet)),
        InterceptorAction::Drop(packet, reason) => Said::Drop(number(&packet), reason),
        InterceptorAction::Deliver(_)
        | InterceptorAction::Up(..)
        | InterceptorAction::Send { .. }
        | InterceptorAction::Served { .. } => panic!("nothing of TCP-BuS: {action:?}"),
        InterceptorAction::Tell { connection, source, segment, bytes } => {
            assert_eq!((connection, source), (CONNECTION, SOURCE));
            match segment {
                Segment::Erdn { dst: DST } => Said::Erdn,
                Segment::Ersn { dst: DST, kept } => Said::Ersn(kept.to_vec(), bytes),
                other => panic!("not a notification about {DST:?}: {other:?}"),
            }
        }
    }
}

/// Kim, Toh and Choi 2000: the pivoting node tells the source, seeks a way, keeps what follows, and tells it
/// again.
#[test]
fn the_pivoting_node_keeps_seeks_and_tells() {
    let mut node = OnTheWay::keeping(3);
    assert_eq!(node.forward(5), (true, vec![]), "routing sends on, but others wait");
    assert_eq!(node.forward(1), (false, vec![]), "this one was asked for");
    assert_eq!(node.take(4), [], "a packet that was on its way already");
    let all = vec![(1, 4), (5, 6)];
    let told = [Said::Ersn(all, 40 + 2 * 8), Said::Route(2), Said::Route(3), Said::Route(5)];
    assert_eq!(node.take(1), told);
    assert!(node.stage.is_idle() && node.stage.next_timeout() == Time::NEVER);
    assert_eq!(node.forward(6), (false, vec![]));
}

#[test]
fn a_search_in_vain_is_repeated_after_a_rest_or_when_routing_has_a_route() {
    let mut node = OnTheWay::keeping(2);
    assert_eq!(node.give_up(1, NoRoute), (true, vec![]));
    assert_eq!(node.kept(), [1, 2], "it is the first again");
    assert_eq!(node.wait(), (1000, vec![Said::Route(1)]));
    node.give_up(1, LinkFailure);
    assert_eq!(node.find_route(NodeId(8)), []);
    assert_eq!(node.find_route(DST), [Said::Route(1)]);
    assert_eq!(node.find_route(DST), [], "one at a time");
    // The one that was asked for is lost elsewhere: the next one's turn.
    node.tell(|stage, now, out| stage.handle_dropped(now, &packet(1), QueueFull, out));
    assert_eq!(node.wait(), (1000, vec![Said::Route(2)]));
    assert_eq!(node.give_up(2, QueueFull), (false, vec![]), "no sign of a lost way");
    assert_eq!(node.wait(), (1000, vec![]));
    assert!(node.stage.is_idle(), "nothing is left to ask with");
}

#[test]
fn a_source_that_goes_on_sending_is_told_again() {
    let mut node = OnTheWay::keeping(1);
    node.now = ms(999);
    assert_eq!(node.forward(2), (true, vec![]));
    node.now = ms(1000);
    assert_eq!(node.forward(3), (true, vec![Said::Erdn]));
    assert_eq!(node.forward(4), (true, vec![]));
}

/// Upstream nodes keep and wait: the pivoting node seeks. Its ERSN learns what they keep.
#[test]
fn a_node_that_an_erdn_passes_waits_for_the_ersn() {
    let mut node = OnTheWay::new();
    assert_eq!(node.pass(Segment::Erdn { dst: DST }).0, []);
    assert_eq!(node.give_up(6, NoRoute), (true, vec![]));
    assert_eq!(node.forward(8), (true, vec![]));
    let (said, passed) = node.pass(ersn(&[(2, 4), (5, 6)]));
    assert_eq!(said, [Said::Route(6)]);
    assert_eq!(passed, Packet { bytes: 40 + 8, ..notification(ersn(&[(2, 4), (5, 7), (8, 9)])) });
    assert_eq!(node.forward(9), (true, vec![]), "they stay in order, and the source need not stop again");
    assert_eq!(node.take(6), [Said::Route(8), Said::Route(9)], "its source knows already");
    assert!(node.stage.is_idle());
}

#[test]
fn an_ersn_that_does_not_come_is_not_waited_for() {
    for with_segment in [false, true] {
        let mut node = OnTheWay::new();
        node.pass(Segment::Erdn { dst: DST });
        let asked = if with_segment { vec![Said::Route(6)] } else { vec![] };
        if with_segment {
            node.forward(6);
        }
        assert_eq!(node.wait(), (5000, asked));
        assert_eq!(node.stage.is_idle(), !with_segment);
    }
    let mut node = OnTheWay::new();
    node.pass(Segment::Erdn { dst: DST });
    node.pass(ersn(&[(2, 4)]));
    assert!(node.stage.is_idle(), "nothing waits here");
}

#[test]
fn a_segment_is_kept_for_its_time_and_no_more_than_there_is_room() {
    let mut node =
        OnTheWay::with(&TcpParams { bus_buffer_packets: 2, bus_query_interval_s: 60.0, ..TcpParams::rfc() });
    node.give_up(1, LinkFailure);
    node.now = ms(1000);
    for number in [2, 3] {
        assert_eq!(node.give_up(number, LinkFailure), (true, vec![]));
    }
    assert_eq!(node.give_up(4, LinkFailure), (false, vec![]));
    assert_eq!(node.forward(4), (false, vec![]));
    assert_eq!(node.wait(), (30_000, vec![Said::Drop(2, BufferTimeout), Said::Drop(3, BufferTimeout)]));
    // The first had its time before.
    assert_eq!(node.give_up(1, NoRoute), (false, vec![]));
}

/// The source has its data anyway, and routing there seeks a way for whatever is sent.
#[test]
fn a_source_keeps_what_failed_at_its_own_link_only() {
    let mut stage = TcpBus::new(SOURCE, &TcpParams::rfc());
    let mut out = Vec::new();
    assert!(stage.handle_given_up(ms(0), packet(1), NoRoute, &mut out).is_some() && out.is_empty());
    assert!(stage.handle_given_up(ms(0), packet(1), LinkFailure, &mut out).is_none());
    let told: Vec<Said> = out.into_iter().map(said).collect();
    assert_eq!(told, [Said::Erdn, Said::Route(1)]);
}

#[test]
fn only_data_segments_are_kept() {
    let mut node = OnTheWay::keeping(1);
    let acknowledgement = Segment::Ack { next: 1, sack: SackBlocks::new(), signs: AckSigns::default() };
    let answer = Packet { payload: Payload::Tcp(CONNECTION, acknowledgement), ..packet(2) };
    let datagram = Packet { payload: Payload::Udp(FlowId(7), 1), ..packet(2) };
    for other in [answer, datagram] {
        let mut out = Vec::new();
        assert_eq!(
            node.stage.handle_given_up(node.now, other.clone(), LinkFailure, &mut out),
            Some(other.clone())
        );
        assert_eq!(node.stage.handle_outgoing(node.now, other.clone(), &mut out), Some(other));
        assert_eq!(out, []);
    }
}

#[test]
fn only_networks_of_tcp_bus_with_buffers_have_an_interceptor() {
    for name in SENDER_NAMES {
        let mut params = TcpParams::rfc();
        assert!(params.apply_sender(name));
        let has_one = |params: &TcpParams| super::interceptor(NodeId(1), params, None).is_some();
        assert_eq!(has_one(&params), *name == "tcp-bus", "{name}");
        params.bus_buffer_packets = 0;
        assert!(!has_one(&params));
    }
}

#[test]
fn base_stations_do_their_part_only_where_there_are_wires() {
    let wires = || Wires { hosts: vec![NodeId(0)], cell: vec![NodeId(2)], splits: Splits::new() };
    let at = |params: &TcpParams, is_wired: bool| super::interceptor(NodeId(1), params, is_wired.then(wires));
    let mut params = TcpParams { base_station: BaseStationMode::Snoop, ..TcpParams::rfc() };
    assert!(at(&params, true).is_some());
    assert!(at(&params, false).is_none());
    params.base_station = BaseStationMode::None;
    assert!(at(&params, true).is_none());
}

/// Notifications that end here are the transport's.
#[test]
fn a_notification_for_this_node_is_not_on_its_way() {
    let mut stage = TcpBus::new(SOURCE, &TcpParams::rfc());
    let mut out = Vec::new();
    stage.handle_incoming(ms(0), &mut notification(Segment::Erdn { dst: DST }), &mut out);
    assert!(out.is_empty() && stage.next_timeout() == Time::NEVER);
}

#[test]
fn a_crash_loses_what_waits_and_forgets_the_outage() {
    let mut node = OnTheWay::keeping(3);
    let lost = [2, 3].map(|number| Said::Drop(number, DropReason::Absent));
    assert_eq!(node.tell(|stage, _, out| stage.handle_crash(out)), lost);
    assert!(node.stage.is_idle());
    assert_eq!(node.stage.next_timeout(), Time::NEVER);
    assert_eq!(node.forward(4), (false, vec![]), "nothing is known of an outage any more");
}

proptest! {
    /// Whatever happens, every packet is in one place: here, with routing, or gone.
    #[test]
    fn no_packet_is_lost_or_doubled(steps in prop::collection::vec((0u8..7, 0usize..8, 0u64..3000), 1..200)) {
        let mut node = OnTheWay::with(&TcpParams { bus_buffer_packets: 5, ..TcpParams::rfc() });
        let (mut with_routing, mut made, mut gone) = (Vec::new(), 0, 0);
        for (kind, which, pause_ms) in steps {
            let due = node.now + Span::from_millis(pause_ms);
            let mut said = Vec::new();
            while node.stage.next_timeout() <= due {
                said.extend(node.wait().1);
                prop_assert!(node.stage.next_timeout() > node.now, "a deadline that does not go away");
            }
            node.now = due;
            let old = |with_routing: &mut Vec<u32>| {
                (!with_routing.is_empty()).then(|| with_routing.remove(which % with_routing.len()))
            };
            let kept_before = node.kept().len();
            match kind {
                0 | 1 => {
                    made += 1;
                    let keeps = kind == 0 || !node.stage.is_idle();
                    let (kept, also) =
                        if kind == 0 { node.give_up(made, LinkFailure) } else { node.forward(made) };
                    prop_assert_eq!(kept, keeps && kept_before < 5);
                    gone += usize::from(!kept);
                    said.extend(also);
                }
                2 => if let Some(number) = old(&mut with_routing) {
                    let (kept, also) = node.give_up(number, NoRoute);
                    gone += usize::from(!kept);
                    said.extend(also);
                },
                3 => if let Some(number) = old(&mut with_routing) {
                    said.extend(node.take(number));
                    gone += 1;
                },
                4 => said.extend(node.pass(Segment::Erdn { dst: DST }).0),
                5 => said.extend(node.pass(ersn(&[])).0),
                _ => said.extend(node.find_route(DST)),
            }
            for said in said {
                match said {
                    Said::Route(number) => with_routing.push(number),
                    Said::Drop(..) => gone += 1,
                    Said::Erdn | Said::Ersn(..) => {}
                }
            }
            let mut places: Vec<u64> = with_routing.iter().map(|number| u64::from(*number)).collect();
            places.extend(node.kept());
            prop_assert_eq!(places.len() + gone, made as usize);
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len() + gone, made as usize, "a packet is in two places");
        }
    }
}
