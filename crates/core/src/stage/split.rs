//! A base station that makes two connections of one: indirect TCP (I-TCP).
//!
//! *Source:* Bakre and Badrinath, *I-TCP: indirect TCP for mobile hosts*, ICDCS 1995. Summaries of it were
//! read, not the paper: a connection is split at the base station, each half has a transport of its own, and
//! what the base station has acknowledged may never arrive.
//!
//! ```text
//!  source ── segments ──► receiver │ buffer │ sender ── segments ──► destination
//!         ◄─ ACKs, room ─          │        │        ◄─ ACKs ───────
//! ```
//!
//! **Implemented.** The base station answers the source in the name of the destination, and sends to the
//! destination in the name of the source. The SYN passes through: the source's is answered when the
//! destination has answered that of the base station. What arrives in order is written to the second
//! connection, and takes room in the buffer until the destination acknowledges it. The window towards the
//! source is the room that is left (RFC 9293 §3.8.6). Either end may be the mobile one. A base station that
//! crashes forgets its connections; what the source sends on them afterwards is dropped, where a host would
//! answer with a reset.
//!
//! **Not implemented.** Hand-off to another base station, as static routes never change; Web sessions, whose
//! connections close before everything has arrived.
//!
//! *Deviations*: in docs/models/wired-links.md.

use std::collections::{BTreeMap, BTreeSet};

use super::{Interceptor, InterceptorAction};
use crate::drops::DropReason;
use crate::kernel::{Span, Time};
use crate::transport::tcp::{Output, Receiver, ReceiverOutput, Sender, TcpParams};
use crate::wire::tcp::Segment;
use crate::wire::{ConnectionId, Ecn, FlowId, NodeId, Packet, Payload};

/// A flow whose connection is split here.
#[derive(Clone, PartialEq, Debug)]
pub struct SplitFlow {
    /// Where its data come from.
    pub src: NodeId,
    /// Where they go.
    pub dst: NodeId,
    /// The TTL of what is sent here.
    pub ttl: u8,
    /// The parameters of the receiver towards the source.
    pub receiver: TcpParams,
    /// The parameters of the sender towards the destination.
    pub sender: TcpParams,
}

/// The flows whose connections are split at a node. Each has one connection.
pub type Splits = BTreeMap<FlowId, SplitFlow>;

/// The two halves of a connection.
struct Halves {
    receiver: Receiver,
    sender: Sender,
    /// The source's SYN, until the destination has answered.
    syn: Option<(Segment, Ecn)>,
    /// Payload bytes that the sender has been given so far.
    written: u64,
}

impl Halves {
    fn new(flow: &SplitFlow) -> Halves {
        Halves {
            receiver: Receiver::new(&flow.receiver).of_relay(),
            // The ticks of its clock, if it has any, begin with the run.
            sender: Sender::new(&flow.sender, Span::ZERO),
            syn: None,
            written: 0,
        }
    }

    /// A segment comes from the source.
    fn take_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, is_syn: bool, out: &mut Outputs) {
        if is_syn && self.sender.counters().segments_acked == 0 {
            self.syn = Some((segment.clone(), ecn));
            self.sender.handle_open(now, &mut out.sender);
            return;
        }
        self.receiver.handle_data(now, segment, ecn, &mut out.receiver);
        let arrived = self.receiver.counters().bytes_in_order;
        if arrived > self.written {
            self.sender.handle_write(now, Some(arrived - self.written), &mut out.sender);
            self.written = arrived;
        }
    }

    /// An ACK comes from the destination.
    fn take_ack(&mut self, now: Time, segment: &Segment, out: &mut Outputs) {
        self.sender.handle_ack(now, segment, &mut out.sender);
        if self.sender.counters().segments_acked > 0
            && let Some((syn, ecn)) = self.syn.take()
        {
            self.receiver.handle_data(now, &syn, ecn, &mut out.receiver);
        }
        self.receiver.handle_read(self.sender.counters().bytes_acked, &mut out.receiver);
    }

    fn next_timeout(&self) -> Time {
        self.sender.next_timeout().min(self.receiver.next_timeout())
    }
}

/// What the two halves ask for.
#[derive(Default)]
struct Outputs {
    sender: Vec<Output>,
    receiver: Vec<ReceiverOutput>,
}

impl Outputs {
    /// Segments go to the destination and ACKs to the source, as if each came from the other.
    fn send(self, now: Time, id: FlowId, flow: &SplitFlow, out: &mut Vec<InterceptorAction>) {
        let connection = ConnectionId::from(id);
        let packet = |(src, dst), segment, bytes, ecn| {
            let payload = Payload::Tcp(connection, segment);
            InterceptorAction::Route(Packet {
                ecn,
                ..Packet::control(now, src, dst, flow.ttl, bytes, payload)
            })
        };
        for output in self.receiver {
            if let ReceiverOutput::Send { segment, bytes, ecn } = output {
                out.push(packet((flow.dst, flow.src), segment, bytes, ecn));
            }
        }
        for output in self.sender {
            if let Output::Send { segment, bytes, ecn } = output {
                out.push(packet((flow.src, flow.dst), segment, bytes, ecn));
            }
        }
    }
}

/// One base station. See the module's head. Calls come in order of time.
pub(super) struct Split {
    flows: Splits,
    halves: BTreeMap<FlowId, Halves>,
    /// Whose connections a crash has made it forget.
    forgotten: BTreeSet<FlowId>,
}

impl Split {
    /// A base station that splits these flows.
    pub(super) fn new(flows: Splits) -> Split {
        Split { flows, halves: BTreeMap::new(), forgotten: BTreeSet::new() }
    }
}

impl Interceptor for Split {
    fn handle_outgoing(
        &mut self,
        now: Time,
        packet: Packet,
        out: &mut Vec<InterceptorAction>,
    ) -> Option<Packet> {
        let &Payload::Tcp(ConnectionId { flow: id, .. }, ref segment) = &packet.payload else {
            return Some(packet);
        };
        // What was made here has no number yet.
        let Some(flow) = self.flows.get(&id).filter(|_| packet.uid != Packet::UNNUMBERED) else {
            return Some(packet);
        };
        if self.forgotten.contains(&id) {
            out.push(InterceptorAction::Drop(packet, DropReason::FlowEnded));
            return None;
        }
        let mut outputs = Outputs::default();
        match segment {
            &Segment::Data { number, .. } => {
                let halves = self.halves.entry(id).or_insert_with(|| Halves::new(flow));
                let is_syn = number == 0 && flow.receiver.connection_setup;
                halves.take_data(now, segment, packet.ecn, is_syn, &mut outputs);
            }
            Segment::Ack { .. } => {
                if let Some(halves) = self.halves.get_mut(&id) {
                    halves.take_ack(now, segment, &mut outputs);
                }
            }
            Segment::Erdn { .. } | Segment::Ersn { .. } => return Some(packet),
        }
        out.push(InterceptorAction::Deliver(packet));
        outputs.send(now, id, flow, out);
        None
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<InterceptorAction>) {
        for (&id, halves) in &mut self.halves {
            if halves.next_timeout() > now {
                continue;
            }
            let mut outputs = Outputs::default();
            halves.sender.handle_timeout(now, &mut outputs.sender);
            halves.receiver.handle_timeout(now, &mut outputs.receiver);
            outputs.send(now, id, &self.flows[&id], out);
        }
    }

    fn handle_crash(&mut self) {
        self.forgotten.extend(std::mem::take(&mut self.halves).into_keys());
    }

    fn next_timeout(&self) -> Time {
        self.halves.values().map(Halves::next_timeout).min().unwrap_or(Time::NEVER)
    }

    // The buffer holds bytes; what carried them has arrived.
    fn kept(&self, _visit: &mut dyn FnMut(&Packet)) {}
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::transport::tcp::{RouteFailureScheme, SplitSender, TcpVariant};

    const ID: FlowId = FlowId(3);
    const HOST: NodeId = NodeId(0);
    const MOBILE: NodeId = NodeId(2);

    fn flow(params: &TcpParams) -> SplitFlow {
        SplitFlow {
            src: HOST,
            dst: MOBILE,
            ttl: 64,
            receiver: params.of_relay(),
            sender: params.of_second_connection(),
        }
    }

    /// Three segments of a thousand bytes fit the buffer, and ACKs are not delayed.
    fn small() -> TcpParams {
        TcpParams { segment_bytes: 1000, split_buffer_bytes: 3999, delayed_ack: false, ..TcpParams::rfc() }
    }

    /// A segment on either half, in short.
    #[derive(Clone, PartialEq, Debug)]
    enum Seg {
        /// From the base station to the mobile.
        Data(u32),
        /// From the base station to the host: the number that it asks for, and the window.
        Ack(u32, u16),
    }

    /// A base station between a host and a mobile, and its clock.
    struct Bench {
        station: Split,
        now: Time,
    }

    impl Bench {
        fn new(params: &TcpParams) -> Bench {
            Bench { station: Split::new(Splits::from([(ID, flow(params))])), now: Time::ZERO }
        }

        fn carry(&mut self, src: NodeId, dst: NodeId, segment: Segment) -> Vec<InterceptorAction> {
            let packet = Packet::control(self.now, src, dst, 60, 1040, Payload::Tcp(ID.into(), segment));
            let mut out = Vec::new();
            let passed = self.station.handle_outgoing(self.now, Packet { uid: 1, ..packet }, &mut out);
            assert_eq!(passed, None, "the connection ends here");
            out
        }

        /// The host sends a segment; what the base station sends.
        fn host(&mut self, number: u32) -> Vec<Seg> {
            let payload = if number == 0 { 0 } else { 1000 };
            let (sent, retransmission) = (self.now, false);
            said(self.carry(
                HOST,
                MOBILE,
                Segment::Data { number, payload, sent, retransmission, cwr: false },
            ))
        }

        /// The mobile acknowledges all before `next`.
        fn mobile(&mut self, next: u32) -> Vec<Seg> {
            let (sack, signs) = Default::default();
            said(self.carry(MOBILE, HOST, Segment::Ack { next, sack, signs }))
        }

        fn wait(&mut self) -> Vec<Seg> {
            let mut out = Vec::new();
            self.now = self.station.next_timeout();
            self.station.handle_timeout(self.now, &mut out);
            sent(out)
        }
    }

    /// What is sent, after the packet that has arrived.
    fn said(mut out: Vec<InterceptorAction>) -> Vec<Seg> {
        assert!(matches!(out.remove(0), InterceptorAction::Deliver(packet) if packet.uid == 1));
        sent(out)
    }

    fn sent(out: Vec<InterceptorAction>) -> Vec<Seg> {
        let short = |action| {
            let InterceptorAction::Route(packet) = action else { panic!("not sent: {action:?}") };
            assert_eq!(packet.uid, Packet::UNNUMBERED);
            match (packet.src, packet.dst, packet.payload) {
                (HOST, MOBILE, Payload::Tcp(_, Segment::Data { number, .. })) => Seg::Data(number),
                (MOBILE, HOST, Payload::Tcp(_, Segment::Ack { next, signs, .. })) => {
                    Seg::Ack(next, signs.window)
                }
                other => panic!("not a segment of the connection: {other:?}"),
            }
        };
        out.into_iter().map(short).collect()
    }

    /// ```text
    /// host     SYN       1          2     3           ...
    ///           |   1   2|   2         3      4           opens
    /// mobile   SYN  |ACK 1         (no ACK)        ACK 2
    /// ```
    #[test]
    fn the_syn_passes_through_and_the_buffer_is_the_window() {
        let mut bench = Bench::new(&small());
        assert_eq!(bench.host(0), [Seg::Data(0)]);
        assert_eq!(bench.host(0), [], "sent again before the mobile has answered");
        assert_eq!(bench.mobile(1), [Seg::Ack(1, 3)]);
        assert_eq!(bench.host(0), [Seg::Ack(1, 3)], "its answer was lost");
        assert_eq!(bench.host(1), [Seg::Ack(2, 2), Seg::Data(1)]);
        assert_eq!(bench.host(2), [Seg::Ack(3, 1), Seg::Data(2)]);
        assert_eq!(bench.host(3), [Seg::Ack(4, 0), Seg::Data(3)]);
        assert_eq!(bench.host(4), [Seg::Ack(4, 0)], "there is no room");
        assert_eq!(bench.mobile(3), [Seg::Ack(4, 2)], "two have left, and the window opens");
        assert_eq!(bench.host(4), [Seg::Ack(5, 1), Seg::Data(4)]);
    }

    /// The base station repairs the loss alone: its ACKs to the host ask for nothing again.
    #[test]
    fn what_the_radio_loses_is_sent_again_from_the_buffer() {
        let mut bench = Bench::new(&TcpParams { split_buffer_bytes: 65_536, ..small() });
        bench.host(0);
        bench.mobile(1);
        (1..=5).for_each(|number| drop(bench.host(number)));
        assert_eq!(bench.mobile(2), [Seg::Data(4), Seg::Data(5)]);
        assert_eq!([bench.mobile(2), bench.mobile(2)], [[], []]);
        assert_eq!(bench.mobile(2), [Seg::Data(2)], "the third duplicate");
        assert_eq!(bench.mobile(6), []);
        assert_eq!(bench.station.next_timeout(), Time::NEVER, "the buffer is empty");
        bench.host(6);
        assert_eq!((bench.wait(), bench.now.as_secs()), (vec![Seg::Data(6)], 1.0), "its own timer");
    }

    #[test]
    fn the_second_connection_has_parameters_of_its_own() {
        let own = TcpParams { split_sender: SplitSender::Sack, split_rto_min_s: 0.2, ..small() };
        assert!(own.of_second_connection().sack && !own.of_relay().sack);
        assert_eq!(own.of_second_connection().rto_min_s.to_bits(), 0.2_f64.to_bits());
        assert_eq!(own.of_relay().rto_min_s.to_bits(), own.rto_min_s.to_bits());
        let same = TcpParams { variant: TcpVariant::Cubic, route_failure: RouteFailureScheme::Elfn, ..own };
        let same = TcpParams { split_sender: SplitSender::Same, ..same }.of_second_connection();
        assert_eq!((same.variant, same.route_failure), (TcpVariant::Cubic, RouteFailureScheme::None));
    }

    #[test]
    fn a_crash_forgets_the_buffer_and_the_connection() {
        let mut bench = Bench::new(&small());
        bench.host(0);
        bench.mobile(1);
        bench.host(1);
        bench.station.handle_crash();
        assert_eq!(bench.station.next_timeout(), Time::NEVER);
        let segment =
            Segment::Data { number: 2, payload: 1000, sent: bench.now, retransmission: false, cwr: false };
        let out = bench.carry(HOST, MOBILE, segment);
        assert!(matches!(out[..], [InterceptorAction::Drop(_, DropReason::FlowEnded)]), "{out:?}");
    }

    #[test]
    fn other_packets_pass() {
        let mut station = Split::new(Splits::from([(ID, flow(&small()))]));
        let signs = Segment::Ack { next: 1, sack: Default::default(), signs: Default::default() };
        let other = |payload| Packet { uid: 1, ..Packet::control(Time::ZERO, HOST, MOBILE, 9, 40, payload) };
        for packet in [
            other(Payload::Tcp(FlowId(4).into(), signs.clone())),
            other(Payload::Nothing),
            Packet { uid: Packet::UNNUMBERED, ..other(Payload::Tcp(ID.into(), signs)) },
        ] {
            let mut out = Vec::new();
            assert_eq!(station.handle_outgoing(Time::ZERO, packet.clone(), &mut out), Some(packet));
            assert_eq!(out, []);
        }
    }

    /// A host, a base station and a mobile; segments and ACKs take 10 ms a hop.
    struct Line {
        host: Sender,
        station: Split,
        mobile: Receiver,
        /// What is under way: when it arrives, whether at the base station, and whether it is a datum.
        under_way: VecDeque<(Time, bool, Packet)>,
        now: Time,
        /// Which of the next packets on a hop are lost, used up one by one.
        losses: VecDeque<bool>,
    }

    impl Line {
        fn put(&mut self, to_station: bool, packet: Packet) {
            if !self.losses.pop_front().unwrap_or(false) {
                self.under_way.push_back((self.now + Span::from_millis(10), to_station, packet));
            }
        }

        fn host_sends(&mut self, out: Vec<Output>) {
            for output in out {
                if let Output::Send { segment, bytes, .. } = output {
                    let payload = Payload::Tcp(ID.into(), segment);
                    let packet = Packet::control(self.now, HOST, MOBILE, 64, bytes, payload);
                    self.put(true, Packet { uid: 1, ..packet });
                }
            }
        }

        fn mobile_sends(&mut self, out: Vec<ReceiverOutput>) {
            for output in out {
                if let ReceiverOutput::Send { segment, bytes, .. } = output {
                    let payload = Payload::Tcp(ID.into(), segment);
                    let packet = Packet::control(self.now, MOBILE, HOST, 64, bytes, payload);
                    self.put(true, Packet { uid: 1, ..packet });
                }
            }
        }

        fn station_sends(&mut self, out: Vec<InterceptorAction>) {
            for action in out {
                if let InterceptorAction::Route(packet) = action {
                    self.put(false, packet);
                }
            }
        }

        fn arrive(&mut self, to_station: bool, packet: Packet) {
            let Payload::Tcp(_, segment) = &packet.payload else { panic!("not TCP: {packet:?}") };
            if to_station {
                let mut out = Vec::new();
                self.station.handle_outgoing(self.now, packet, &mut out);
                self.station_sends(out);
            } else if packet.dst == MOBILE {
                let mut out = Vec::new();
                self.mobile.handle_data(self.now, segment, Ecn::NotEct, &mut out);
                self.mobile_sends(out);
            } else {
                let mut out = Vec::new();
                self.host.handle_ack(self.now, segment, &mut out);
                self.host_sends(out);
            }
        }

        /// The next thing happens; false if nothing ever will.
        fn step(&mut self) -> bool {
            let timers = [self.host.next_timeout(), self.station.next_timeout(), self.mobile.next_timeout()];
            let first = self.under_way.front().map_or(Time::NEVER, |&(at, ..)| at);
            self.now = timers.into_iter().fold(first, Time::min);
            if self.now == Time::NEVER {
                return false;
            }
            if first == self.now
                && let Some((_, to_station, packet)) = self.under_way.pop_front()
            {
                self.arrive(to_station, packet);
                return true;
            }
            let (mut host, mut station, mut mobile) = (Vec::new(), Vec::new(), Vec::new());
            self.host.handle_timeout(self.now, &mut host);
            self.station.handle_timeout(self.now, &mut station);
            self.mobile.handle_timeout(self.now, &mut mobile);
            self.host_sends(host);
            self.station_sends(station);
            self.mobile_sends(mobile);
            true
        }

        /// Bytes in = bytes out + buffer, what is out has arrived, and what is acknowledged is in.
        fn check(&self) -> Result<(), TestCaseError> {
            let Some(halves) = self.station.halves.get(&ID) else { return Ok(()) };
            let (came, left) =
                (halves.receiver.counters().bytes_in_order, halves.sender.counters().bytes_acked);
            prop_assert_eq!(came, halves.written);
            prop_assert_eq!(came, left + halves.receiver.unread_bytes());
            prop_assert!(halves.receiver.unread_bytes() <= 3999);
            let arrived = self.mobile.counters().bytes_in_order;
            prop_assert!(left <= arrived && arrived <= came);
            prop_assert!(self.host.counters().bytes_acked <= came);
            Ok(())
        }
    }

    proptest! {
        /// Whatever is lost on either side, and however small the buffer is.
        #[test]
        fn bytes_in_are_bytes_out_and_the_buffer(
            losses in prop::collection::vec(prop::bool::weighted(0.2), 0..400),
            bytes in 1u64..30_000,
        ) {
            let params = small();
            let mut line = Line {
                host: Sender::new(&params, Span::ZERO),
                station: Split::new(Splits::from([(ID, flow(&params))])),
                mobile: Receiver::new(&params.of_second_connection()),
                under_way: VecDeque::new(),
                now: Time::ZERO,
                losses: losses.into(),
            };
            let mut out = Vec::new();
            line.host.handle_write(line.now, Some(bytes), &mut out);
            line.host_sends(out);
            while line.step() {
                line.check()?;
                prop_assert!(line.now < Time::from_secs(100_000.0), "it does not come to its end");
            }
            prop_assert_eq!(line.host.counters().bytes_acked, bytes);
            prop_assert_eq!(line.mobile.counters().bytes_in_order, bytes);
        }
    }
}
