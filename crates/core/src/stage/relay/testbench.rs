//! A base station between a host on a wire and a mobile node, for the tests of both relays.

use std::collections::VecDeque;

use super::{Relay, SplitFlow, Splits, Station};
use crate::kernel::{Span, Time};
use crate::stage::{Interceptor, InterceptorAction};
use crate::transport::tcp::{Output, Receiver, ReceiverOutput, Sender, TcpParams};
use crate::wire::tcp::Segment;
use crate::wire::{Ecn, FlowId, NodeId, Packet, Payload};

pub(crate) const ID: FlowId = FlowId(3);
pub(crate) const HOST: NodeId = NodeId(0);
pub(crate) const MOBILE: NodeId = NodeId(2);

/// The connection of the host and the mobile, whose receiver at the base station has these parameters.
pub(crate) fn flow(params: &TcpParams, receiver: TcpParams) -> SplitFlow {
    SplitFlow { src: HOST, dst: MOBILE, ttl: 64, receiver, sender: params.of_second_connection() }
}

/// Three segments of a thousand bytes fit the buffer, and ACKs are not delayed.
pub(crate) fn small() -> TcpParams {
    TcpParams { segment_bytes: 1000, split_buffer_bytes: 3999, delayed_ack: false, ..TcpParams::rfc() }
}

/// A segment on either half, in short.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seg {
    /// From the base station to the mobile.
    Data(u32),
    /// From the base station to the host: the number that it asks for, and the window.
    Ack(u32, u16),
}

/// A base station between a host and a mobile, and its clock.
pub(crate) struct Bench<R> {
    pub(crate) station: Station<R>,
    pub(crate) now: Time,
}

impl<R: Relay> Bench<R> {
    pub(crate) fn new(flow: SplitFlow) -> Bench<R> {
        Bench { station: Station::new(Splits::from([(ID, flow)])), now: Time::ZERO }
    }

    pub(crate) fn carry(&mut self, src: NodeId, dst: NodeId, segment: Segment) -> Vec<InterceptorAction> {
        let packet = Packet::control(self.now, src, dst, 60, 1040, Payload::Tcp(ID.into(), segment));
        let mut out = Vec::new();
        let passed = self.station.handle_outgoing(self.now, Packet { uid: 1, ..packet }, &mut out);
        assert_eq!(passed, None, "the connection ends here");
        out
    }

    /// The host sends a segment; what the base station sends.
    pub(crate) fn host(&mut self, number: u32) -> Vec<Seg> {
        self.host_sends(number, if number == 0 { 0 } else { 1000 })
    }

    /// The host sends a segment of this payload; what the base station sends.
    pub(crate) fn host_sends(&mut self, number: u32, payload: u32) -> Vec<Seg> {
        let (sent, retransmission) = (self.now, false);
        said(self.carry(HOST, MOBILE, Segment::Data { number, payload, sent, retransmission, cwr: false }))
    }

    /// The mobile acknowledges all before `next`.
    pub(crate) fn mobile(&mut self, next: u32) -> Vec<Seg> {
        let (sack, signs) = Default::default();
        said(self.carry(MOBILE, HOST, Segment::Ack { next, sack, signs }))
    }

    pub(crate) fn wait(&mut self) -> Vec<Seg> {
        let mut out = Vec::new();
        self.now = self.station.next_timeout();
        self.station.handle_timeout(self.now, &mut out);
        sent(out)
    }
}

/// What is sent, after the packet that has arrived.
pub(crate) fn said(mut out: Vec<InterceptorAction>) -> Vec<Seg> {
    assert!(matches!(out.remove(0), InterceptorAction::Deliver(packet) if packet.uid == 1));
    sent(out)
}

fn sent(out: Vec<InterceptorAction>) -> Vec<Seg> {
    let short = |action| {
        let InterceptorAction::Route(packet) = action else { panic!("not sent: {action:?}") };
        assert_eq!(packet.uid, Packet::UNNUMBERED);
        match (packet.src, packet.dst, packet.payload) {
            (HOST, MOBILE, Payload::Tcp(_, Segment::Data { number, .. })) => Seg::Data(number),
            (MOBILE, HOST, Payload::Tcp(_, Segment::Ack { next, signs, .. })) => Seg::Ack(next, signs.window),
            other => panic!("not a segment of the connection: {other:?}"),
        }
    };
    out.into_iter().map(short).collect()
}

/// A host, a base station and a mobile; segments and ACKs take 10 ms a hop.
pub(crate) struct Line<R> {
    pub(crate) host: Sender,
    pub(crate) station: Station<R>,
    pub(crate) mobile: Receiver,
    /// What is under way: when it arrives, whether at the base station, and the packet.
    under_way: VecDeque<(Time, bool, Packet)>,
    pub(crate) now: Time,
    /// Which of the next packets on a hop are lost, used up one by one.
    losses: VecDeque<bool>,
    /// When the mobile is out of reach: what is then sent by it or to it is lost.
    outages: Vec<(Time, Time)>,
}

impl<R: Relay> Line<R> {
    pub(crate) fn new(
        host: Sender,
        flow: SplitFlow,
        losses: Vec<bool>,
        outages: Vec<(Time, Time)>,
    ) -> Line<R> {
        Line {
            host,
            mobile: Receiver::new(&flow.sender),
            station: Station::new(Splits::from([(ID, flow)])),
            under_way: VecDeque::new(),
            now: Time::ZERO,
            losses: losses.into(),
            outages,
        }
    }

    /// The host's application writes so many bytes, or data without end.
    pub(crate) fn write(&mut self, bytes: Option<u64>) {
        let mut out = Vec::new();
        self.host.handle_write(self.now, bytes, &mut out);
        self.host_sends(out);
    }

    /// Is the mobile out of reach?
    pub(crate) fn is_out(&self) -> bool {
        self.outages.iter().any(|&(from, to)| from <= self.now && self.now < to)
    }

    fn put(&mut self, over_radio: bool, to_station: bool, packet: Packet) {
        let is_lost = self.losses.pop_front().unwrap_or(false);
        if is_lost || (over_radio && self.is_out()) {
            return;
        }
        self.under_way.push_back((self.now + Span::from_millis(10), to_station, packet));
    }

    fn host_sends(&mut self, out: Vec<Output>) {
        for output in out {
            if let Output::Send { segment, bytes, .. } = output {
                let payload = Payload::Tcp(ID.into(), segment);
                let packet = Packet::control(self.now, HOST, MOBILE, 64, bytes, payload);
                self.put(false, true, Packet { uid: 1, ..packet });
            }
        }
    }

    fn mobile_sends(&mut self, out: Vec<ReceiverOutput>) {
        for output in out {
            if let ReceiverOutput::Send { segment, bytes, .. } = output {
                let payload = Payload::Tcp(ID.into(), segment);
                let packet = Packet::control(self.now, MOBILE, HOST, 64, bytes, payload);
                self.put(true, true, Packet { uid: 1, ..packet });
            }
        }
    }

    fn station_sends(&mut self, out: Vec<InterceptorAction>) {
        for action in out {
            if let InterceptorAction::Route(packet) = action {
                self.put(packet.dst == MOBILE, false, packet);
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
    pub(crate) fn step(&mut self) -> bool {
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
}
