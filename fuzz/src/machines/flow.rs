//! A whole flow, source and both ends of its transport, over a pipe that loses, doubles, delays and rewrites.

use std::collections::{BTreeMap, BTreeSet};

use manetlab_core::flow::{End, Flow, FlowAction, build};
use manetlab_core::kernel::{Span, Time};
use manetlab_core::observe::{Meter, RunningCounts};
use manetlab_core::routing::Notice;
use manetlab_core::scenario::{Carrier, FlowKind};
use manetlab_core::traffic::{Codec, Durations, VideoParams, WebCycle};
use manetlab_core::transport::tcp::{SENDER_NAMES, TcpParams};
use manetlab_core::transport::{adp::AdpParams, psp::PspParams, rtp::RtpParams};
use manetlab_core::wire::tcp::{AckOrder, Segment};
use manetlab_core::wire::{ConnectionId, Ecn, FlowId, NodeId, Packet, Payload, adp, rtp};

use super::input::Input;
use super::params;

/// Things that may happen in one input: a flow may make a million packets a second.
const EVENTS: u32 = 1500;
const FLOW: FlowId = FlowId(0);

/// Any kind of flow, over any carrier.
///
/// What a network can do to packets (lose, double, delay, reorder, mark) breaks no invariant of a flow. If
/// the first byte says so, packets are also rewritten: then the flow may say that it is broken, but not
/// panic.
pub fn flow(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let is_hostile = input.once_in(2);
    let Some(mut bench) = Bench::new(&mut input) else { return };
    while !input.is_over() && bench.events < EVENTS && bench.broken.is_none() {
        bench.step(&mut input, is_hostile);
    }
    assert!(is_hostile || bench.broken.is_none(), "broken: {:?}", bench.broken);
    bench.flow.report(&bench.meter, bench.now);
    bench.flow.snapshot(&mut RunningCounts::default());
}

fn kind(input: &mut Input<'_>) -> FlowKind {
    let carriers = [Carrier::Udp, Carrier::Adp, Carrier::Psp, Carrier::Tcp, Carrier::RtpUdp, Carrier::RtpAdp];
    let transport = input.pick(&carriers);
    let bytes = 1 + input.number() % 65_507;
    let interval_s = input.span().0.max(1000) as f64 * 1e-9;
    let max_packets = input.once_in(2).then(|| 1 + u64::from(input.byte()));
    match input.below(9) {
        0 => FlowKind::Cbr { bytes, interval_s, random: input.once_in(2), max_packets },
        1 => FlowKind::OnOff {
            transport,
            bytes,
            interval_s,
            on_s: input.span().0.max(1000) as f64 * 1e-9,
            off_s: input.span().0 as f64 * 1e-9,
            durations: input.pick(&[Durations::Exponential, Durations::Pareto]),
            shape: 1.5,
        },
        2 => FlowKind::Poisson { transport, bytes, interval_s, max_packets },
        3 => {
            let mut time_s = 0.0;
            let packets = (0..input.below(8)).map(|_| {
                time_s += input.span().0 as f64 * 1e-9;
                (time_s, 1 + input.number() % 65_507)
            });
            FlowKind::Trace { transport, packets: packets.collect() }
        }
        4 => FlowKind::Video { transport },
        5 => FlowKind::Adp {},
        7 => FlowKind::Voice {
            codec: input.pick(&[Codec::G711, Codec::G711Plc, Codec::G729, Codec::Opus]),
            on_s: input.span().0.max(1000) as f64 * 1e-9,
            off_s: input.span().0 as f64 * 1e-9,
            playout_ms: f64::from(input.byte()),
            call: input.once_in(2).then(|| input.below(3)),
        },
        6 => {
            let cycle = |input: &mut Input<'_>| WebCycle {
                think_s: input.span().0 as f64 * 1e-9,
                request_bytes: 1 + u64::from(input.number()),
                server_delay_s: input.span().0 as f64 * 1e-9,
                replies_bytes: (0..1 + input.below(3)).map(|_| 1 + u64::from(input.number())).collect(),
            };
            FlowKind::Web { cycles: (0..1 + input.below(3)).map(|_| cycle(input)).collect() }
        }
        _ => FlowKind::Tcp {
            bytes: input.once_in(2).then(|| 1 + u64::from(input.number())),
            window: input.once_in(2).then(|| 1 + input.below(64)),
            segment_bytes: input.once_in(4).then(|| 1 + input.number() % 65_495),
        },
    }
}

struct Bench {
    flow: Box<dyn Flow>,
    meter: Meter,
    now: Time,
    events: u32,
    made: u64,
    delivered: BTreeSet<u64>,
    under_way: BTreeMap<(Time, u64), Packet>,
    broken: Option<&'static str>,
}

impl Bench {
    fn new(input: &mut Input<'_>) -> Option<Bench> {
        let mut params = params::of_a_profile(input);
        params.tcp.apply_sender(input.pick(SENDER_NAMES));
        params::vary(input, TcpParams::SCHEMA, &mut params.tcp);
        params::vary(input, AdpParams::SCHEMA, &mut params.adp);
        params::vary(input, PspParams::SCHEMA, &mut params.psp);
        params::vary(input, RtpParams::SCHEMA, &mut params.rtp);
        params::vary(input, VideoParams::SCHEMA, &mut params.video);
        params.tcp.window = params.tcp.window.min(256);
        let kind = kind(input);
        let stop_s = input.once_in(2).then(|| 0.5 + input.span().0.max(1) as f64 * 1e-9);
        let scenario = params::scenario(params, Some(kind), stop_s)?;
        let flow = build::make(&scenario, FLOW);
        let mut meter = Meter::new(&scenario, false);
        if flow.has_outages() {
            meter.outages.add(FLOW, NodeId(0), NodeId(1), Time::from_secs(0.5));
        }
        let (delivered, under_way) = (BTreeSet::new(), BTreeMap::new());
        let mut bench =
            Bench { flow, meter, now: Time::ZERO, events: 0, made: 0, delivered, under_way, broken: None };
        bench.pass(Time::from_secs(0.5).since(Time::ZERO));
        Some(bench)
    }

    fn step(&mut self, input: &mut Input<'_>, is_hostile: bool) {
        match input.below(12) {
            0..=3 => self.pass(input.span()),
            4 => self.touch(input, |_, _| None),
            5 => {
                let later = input.span();
                self.touch(input, |(due, packet), _| Some((due + later, packet)));
            }
            6 => {
                let later = input.span();
                self.double(later, input);
            }
            7 => self.touch(input, |(due, mut packet), _| {
                packet.ecn = if packet.ecn == Ecn::NotEct { Ecn::NotEct } else { Ecn::Ce };
                Some((due, packet))
            }),
            8 if is_hostile => {
                self.touch(input, |(due, packet), input| Some((due, rewritten(packet, input))));
            }
            8 | 9 => {
                let at = if input.once_in(2) { End::Source } else { End::Destination };
                let dst = NodeId(u32::from(at == End::Source));
                let notice = match input.below(3) {
                    0 => Notice::RouteFound { dst },
                    told => Notice::RouteFailed { dst, told: told == 1 },
                };
                self.call(|flow, now, actions| flow.handle_notice(now, at, notice, actions));
            }
            10 if input.once_in(4) => self.flow.handle_warmup_end(),
            _ => self.wake_early(),
        }
    }

    fn next_event(&self) -> Time {
        let arrival = self.under_way.keys().next().map_or(Time::NEVER, |key| key.0);
        self.flow.timers().iter().map(|&timer| self.flow.next_timeout(timer)).fold(arrival, Time::min)
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        let mut at_once = 0;
        while self.next_event() <= until && self.events < EVENTS && self.broken.is_none() {
            let due = self.next_event();
            assert!(due >= self.now, "woken at {due:?}, which is before {:?}", self.now);
            at_once = if due == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 1000, "the flow stands still at {due:?}");
            (self.now, self.events) = (due, self.events + 1);
            if self.under_way.first_key_value().is_some_and(|(key, _)| key.0 == due) {
                self.deliver();
            } else {
                let is_due = |timer: &&_| self.flow.next_timeout(**timer) <= due;
                let timer = *self.flow.timers().iter().find(is_due).expect("a timer is due");
                self.call(|flow, now, actions| flow.handle_timeout(now, timer, actions));
            }
        }
        if self.events < EVENTS && self.broken.is_none() {
            self.now = until;
        }
    }

    /// An early timeout asks for nothing.
    fn wake_early(&mut self) {
        for &timer in self.flow.timers() {
            if self.flow.next_timeout(timer) > self.now {
                let mut actions = Vec::new();
                self.flow.handle_timeout(self.now, timer, &mut actions);
                // The window may be recorded again, as it was.
                actions.retain(|action| !matches!(action, FlowAction::Window { .. }));
                assert!(actions.is_empty(), "an early timeout does nothing, not {actions:?}");
            }
        }
    }

    /// Does something to one of the packets that are under way.
    fn touch(
        &mut self,
        input: &mut Input<'_>,
        change: impl FnOnce((Time, Packet), &mut Input<'_>) -> Option<(Time, Packet)>,
    ) {
        if let Some(key) = self.one_under_way(input)
            && let Some(packet) = self.under_way.remove(&key)
            && let Some((due, packet)) = change((key.0, packet), input)
        {
            self.under_way.insert((due, packet.uid), packet);
        }
    }

    fn double(&mut self, later: Span, input: &mut Input<'_>) {
        if let Some(key) = self.one_under_way(input)
            && let Some(packet) = self.under_way.get(&key)
        {
            let copy = packet.clone();
            self.under_way.insert((key.0 + later, copy.uid), copy);
        }
    }

    fn one_under_way(&self, input: &mut Input<'_>) -> Option<(Time, u64)> {
        let at = input.byte() as usize % self.under_way.len().max(1);
        self.under_way.keys().nth(at).copied()
    }

    fn deliver(&mut self) {
        let Some((_, mut packet)) = self.under_way.pop_first() else { return };
        packet.hops = 1;
        if !self.flow.expects(&packet.payload) {
            return;
        }
        let is_first = self.delivered.insert(packet.uid);
        self.call(|flow, now, actions| flow.handle_packet(now, &packet, is_first, actions));
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn Flow, Time, &mut Vec<FlowAction>)) {
        let mut actions = Vec::new();
        call(self.flow.as_mut(), self.now, &mut actions);
        assert!(actions.len() <= 10_000, "{} actions in one call", actions.len());
        for action in actions {
            match action {
                FlowAction::Send { from, bytes, payload, ecn } => self.send(from, bytes, payload, ecn),
                FlowAction::Window { cwnd, ssthresh, rto, .. } => {
                    assert!(cwnd.is_finite() && cwnd >= 0.0, "a window of {cwnd}");
                    assert!(ssthresh > 0.0 && rto > Span::ZERO, "{ssthresh} segments, {rto:?}");
                }
                FlowAction::Count(event) => self.meter.count(self.now, FLOW, event),
                FlowAction::Broken(what) => self.broken = Some(what),
                FlowAction::RetransmissionTimeout { rto, .. } => assert!(rto > Span::ZERO, "{rto:?}"),
                FlowAction::Opened { .. } | FlowAction::Closed { .. } | FlowAction::Judged { .. } => {}
            }
        }
        for &timer in self.flow.timers() {
            let next = self.flow.next_timeout(timer);
            assert!(next >= self.now || self.broken.is_some(), "{} at {next:?}", timer.name());
        }
    }

    fn send(&mut self, from: End, bytes: u32, payload: Payload, ecn: Ecn) {
        // Lengths of headers are parameters.
        assert!(bytes <= 65_535 + 200, "{bytes} bytes of {payload:?}");
        let (src, dst) = match from {
            End::Source => (NodeId(0), NodeId(1)),
            End::Destination => (NodeId(1), NodeId(0)),
        };
        let mut packet = Packet::control(self.now, src, dst, 64, bytes, payload);
        (packet.uid, packet.ecn) = (self.made, ecn);
        self.made += 1;
        self.under_way.insert((self.now + Span::from_millis(10), packet.uid), packet);
    }
}

/// The packet with other fields of the same kind.
fn rewritten(mut packet: Packet, input: &mut Input<'_>) -> Packet {
    let number = |old: u32, input: &mut Input<'_>| match input.below(3) {
        0 => old,
        1 => old.wrapping_add(input.below(8)).wrapping_sub(4),
        _ => input.number(),
    };
    match &mut packet.payload {
        Payload::Tcp(ConnectionId { number: connection, .. }, segment) => {
            *connection = if input.once_in(8) { input.number() } else { *connection };
            match segment {
                Segment::Data { number: at, retransmission, cwr, .. } => {
                    *at = number(*at, input);
                    (*retransmission, *cwr) = (input.once_in(2), input.once_in(2));
                }
                Segment::Ack { next, sack, signs } => {
                    *next = number(*next, input);
                    *sack = (0..input.below(4)).map(|_| (input.number(), input.number())).collect();
                    signs.order = AckOrder::new(input.number(), input.once_in(2));
                    (signs.ece, signs.window) = (input.once_in(2), input.number() as u16);
                }
                Segment::Erdn { .. } | Segment::Ersn { .. } => {}
            }
        }
        Payload::Adp(_, adp::Segment::Data { number: at, .. }, header) => {
            *at = number(*at, input);
            rewrite_header(header, input);
        }
        Payload::Adp(_, adp::Segment::Ack { number: at, count, vector, .. }, _) => {
            (*at, *count, *vector) = (number(*at, input), input.number(), input.word());
        }
        Payload::Datagram(_, datagram) => rewrite_header(&mut datagram.rtp, input),
        Payload::Rtcp(_, rtp::Rtcp::Receiver(report)) => {
            report.last_sender_report = Some((input.word(), input.word()));
            (report.highest, report.cumulative_lost) = (input.word(), input.word() as i32);
        }
        Payload::Rtcp(_, rtp::Rtcp::Sender(report) | rtp::Rtcp::Bye(report)) => {
            (report.timestamp, report.packets, report.octets) = (input.word(), input.word(), input.word());
        }
        _ => {}
    }
    packet
}

fn rewrite_header(header: &mut Option<rtp::Header>, input: &mut Input<'_>) {
    if let Some(header) = header {
        header.sequence = input.word() as u16;
        header.timestamp = input.word();
    }
}
