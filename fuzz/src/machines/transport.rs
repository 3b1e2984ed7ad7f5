//! The ends of TCP, ADP and RTP, each alone, with any segment, report and timer.

use manetlab_core::kernel::{Purpose, Span, Time};
use manetlab_core::transport::tcp::{Output, ReceiverOutput, TcpParams};
use manetlab_core::transport::{adp as adp_ends, rtp as rtp_ends, tcp as tcp_ends};
use manetlab_core::wire::tcp::{AckOrder, AckSigns, Segment, WHOLE_WINDOW};
use manetlab_core::wire::{Ecn, IP_HEADER_BYTES, NodeId, adp as adp_wire, rtp as rtp_wire};

use super::input::Input;
use super::params;

/// The longest IP packet, with the longest headers that parameters allow beyond it.
const LONGEST: u32 = 65_535 + 200;
/// Timeouts that one input may fire.
const TIMEOUTS: u32 = 1000;

/// A clock that fires what is due on its way.
struct Clock {
    now: Time,
    timeouts: u32,
}

impl Clock {
    fn new() -> Clock {
        Clock { now: Time::ZERO, timeouts: 0 }
    }

    /// Lets `span` pass: `next` says when the machine wants to be woken, `fire` wakes it.
    fn pass<M>(
        &mut self,
        span: Span,
        machine: &mut M,
        next: impl Fn(&M) -> Time,
        fire: impl Fn(&mut M, Time),
    ) {
        let until = self.now + span;
        let mut at_once = 0;
        while next(machine) <= until && self.timeouts < TIMEOUTS {
            let due = next(machine);
            assert!(due >= self.now, "woken at {due:?}, which is before {:?}", self.now);
            at_once = if due == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 10, "the machine stands still at {due:?}");
            self.now = due;
            self.timeouts += 1;
            fire(machine, due);
        }
        if self.timeouts < TIMEOUTS {
            self.now = until;
        }
        assert!(next(machine) >= self.now);
    }

    /// A time that a header may carry: past, present, or none.
    fn stamp(&self, input: &mut Input<'_>) -> Time {
        match input.below(4) {
            0 => Time::NEVER,
            1 => self.now,
            _ => Time(self.now.0.saturating_sub(input.span().0)),
        }
    }
}

/// The lengths at the IP layer of what a sender sends.
fn of_sender(out: &[Output]) -> Vec<Option<u32>> {
    out.iter()
        .map(|output| if let Output::Send { bytes, .. } = output { Some(*bytes) } else { None })
        .collect()
}

/// Those of what a receiver sends.
fn of_receiver(out: &[ReceiverOutput]) -> Vec<Option<u32>> {
    let bytes = |output: &ReceiverOutput| match output {
        ReceiverOutput::Send { bytes, .. } => Some(*bytes),
        ReceiverOutput::InOrder(_) | ReceiverOutput::Judged(_) => None,
    };
    out.iter().map(bytes).collect()
}

fn check_tcp(lengths: &[Option<u32>], params: &TcpParams) {
    // A window of segments, an ACK or a probe each, and what is told with them.
    assert!(lengths.len() <= 4 * params.window as usize + 8, "{} outputs in one call", lengths.len());
    // The length of the headers is a parameter, and may be none.
    assert!(lengths.iter().flatten().all(|&bytes| bytes <= LONGEST), "{lengths:?}");
}

/// A TCP sender, of any kind and with any answer to route failures, and a TCP receiver.
pub fn tcp(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input);
    params.tcp.apply_sender(input.pick(tcp_ends::SENDER_NAMES));
    params::vary(&mut input, TcpParams::SCHEMA, &mut params.tcp);
    // Windows of tens of thousands of segments make inputs slow, and nothing more likely to go wrong.
    params.tcp.window = params.tcp.window.min(256);
    let Some(scenario) = params::scenario(params, None, None) else { return };
    let params = scenario.params.tcp;
    let phase = Span(input.span().0 % Span::from_micros(params.tick_ms * 1e3).0.max(1));
    if input.once_in(4) {
        tcp_receiver(&params, &mut input);
    } else {
        tcp_sender(&params, phase, &mut input);
    }
}

fn tcp_sender(params: &TcpParams, phase: Span, input: &mut Input<'_>) {
    let (mut clock, mut sender) = (Clock::new(), tcp_ends::Sender::new(params, phase));
    let mut written = 0_u64;
    while !input.is_over() && clock.timeouts < TIMEOUTS {
        let mut out = Vec::new();
        let now = clock.now;
        match input.below(10) {
            0..=1 => clock.pass(input.span(), &mut sender, tcp_ends::Sender::next_timeout, |sender, due| {
                let mut out = Vec::new();
                sender.handle_timeout(due, &mut out);
                check_tcp(&of_sender(&out), params);
            }),
            2 => {
                let bytes = (!input.once_in(4)).then(|| 1 + 100 * u64::from(input.number()));
                written = written.saturating_add(bytes.unwrap_or(u64::MAX));
                sender.handle_write(now, bytes, &mut out);
            }
            3 if input.once_in(4) => sender.handle_close(),
            4 => sender.handle_route_failed(now, &mut out),
            5 => sender.handle_route_found(now, &mut out),
            6 => {
                let segment = notification(input);
                sender.handle_notification(now, &segment, &mut out);
            }
            _ => {
                let segment = ack(&sender, &clock, input);
                sender.handle_ack(now, &segment, &mut out);
            }
        }
        check_tcp(&of_sender(&out), params);
        assert!(sender.next_timeout() >= clock.now, "a deadline in the past");
        let (cwnd, ssthresh) = (sender.cwnd(), sender.ssthresh());
        // ns-2 halves a window of one to none until recovery ends.
        assert!(cwnd.is_finite() && cwnd >= 0.0, "a window of {cwnd}");
        assert!(ssthresh > 0.0, "a threshold of {ssthresh}");
        assert!(sender.rto() > Span::ZERO);
        let counters = sender.counters();
        assert!(counters.bytes_acked <= written, "{} of {written} bytes acknowledged", counters.bytes_acked);
        assert!(counters.segments_acked <= counters.segments_sent);
    }
}

fn notification(input: &mut Input<'_>) -> Segment {
    let dst = NodeId(1);
    if input.once_in(2) {
        return Segment::Erdn { dst };
    }
    let kept = (0..input.below(4)).map(|_| (input.number(), input.number())).collect();
    Segment::Ersn { dst, kept }
}

fn ack(sender: &tcp_ends::Sender, clock: &Clock, input: &mut Input<'_>) -> Segment {
    let acked = sender.counters().segments_acked as u32;
    let next = match input.below(8) {
        0 => input.number(),
        // The next few, and duplicates.
        1..=4 => acked.saturating_add(input.below(6)),
        _ => acked,
    };
    let sack = (0..input.below(4)).map(|_| {
        let low = if input.once_in(4) { input.number() } else { next.saturating_add(input.below(8)) };
        (low, if input.once_in(4) { input.number() } else { low.saturating_add(input.below(4)) })
    });
    let sack = sack.collect();
    let signs = AckSigns {
        echo: clock.stamp(input),
        order: AckOrder::new(input.number(), input.once_in(4)),
        window: if input.once_in(2) { input.below(6) as u16 } else { WHOLE_WINDOW },
        ece: input.once_in(4),
        eln: false,
    };
    Segment::Ack { next, sack, signs }
}

fn tcp_receiver(params: &TcpParams, input: &mut Input<'_>) {
    let (mut clock, mut receiver) = (Clock::new(), tcp_ends::Receiver::new(params));
    let mut in_order = 0;
    let mut arrived = 0;
    while !input.is_over() && clock.timeouts < TIMEOUTS {
        let mut out = Vec::new();
        if input.once_in(4) {
            clock.pass(input.span(), &mut receiver, tcp_ends::Receiver::next_timeout, |receiver, due| {
                let mut out = Vec::new();
                receiver.handle_timeout(due, &mut out);
                check_tcp(&of_receiver(&out), params);
            });
            continue;
        }
        let payload = 1 + input.number() % params.segment_bytes.max(1);
        arrived += u64::from(payload);
        let segment = Segment::Data {
            number: input.number(),
            payload,
            sent: Time(clock.now.0.saturating_sub(input.span().0)),
            retransmission: input.once_in(2),
            cwr: input.once_in(4),
        };
        let ecn = input.pick(&[Ecn::NotEct, Ecn::Ect, Ecn::Ce]);
        receiver.handle_data(clock.now, &segment, ecn, &mut out);
        check_tcp(&of_receiver(&out), params);
        for output in &out {
            if let ReceiverOutput::InOrder(bytes) = output {
                assert!(*bytes > in_order, "delivered bytes only grow");
                in_order = *bytes;
            }
        }
        assert!(in_order <= arrived, "{in_order} bytes delivered of {arrived}");
        assert!(receiver.next_timeout() >= clock.now, "a deadline in the past");
    }
}

fn check_adp(out: &[adp_ends::Output]) {
    assert!(out.len() <= 4096, "{} outputs in one call", out.len());
    for output in out {
        if let adp_ends::Output::Send(_, bytes) = output {
            assert!((IP_HEADER_BYTES..=65_535).contains(bytes), "{output:?}");
        }
    }
}

/// An ADP sender and an ADP receiver.
pub fn adp(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input).adp;
    params::vary(&mut input, adp_ends::AdpParams::SCHEMA, &mut params);
    if input.once_in(4) {
        adp_receiver(&params, &mut input);
    } else {
        adp_sender(&params, &mut input);
    }
}

fn adp_sender(params: &adp_ends::AdpParams, input: &mut Input<'_>) {
    let is_endless = input.once_in(4);
    let (mut clock, mut sender) = (Clock::new(), adp_ends::Sender::new(params, 1000, is_endless));
    let mut messages = 0;
    while !input.is_over() && clock.timeouts < TIMEOUTS {
        let mut out = Vec::new();
        match input.below(6) {
            0 | 1 => clock.pass(input.span(), &mut sender, adp_ends::Sender::next_timeout, |sender, due| {
                let mut out = Vec::new();
                sender.handle_timeout(due, &mut out);
                check_adp(&out);
            }),
            2 if is_endless => sender.handle_start(clock.now, &mut out),
            2 => {
                messages += 1;
                sender.handle_message(clock.now, messages, 1 + input.number() % 100_000, &mut out);
            }
            3 if input.once_in(8) => sender.handle_close(),
            _ => {
                let segment = adp_wire::Segment::Ack {
                    number: input.number(),
                    count: input.number(),
                    echo: clock.stamp(input),
                    vector: input.word(),
                };
                sender.handle_ack(clock.now, &segment, &mut out);
            }
        }
        check_adp(&out);
        assert!(sender.next_timeout() >= clock.now, "a deadline in the past");
        let window = sender.window();
        assert!(window.is_finite() && window > 0.0, "a window of {window}");
        assert!(sender.tto() > Span::ZERO);
    }
}

fn adp_receiver(params: &adp_ends::AdpParams, input: &mut Input<'_>) {
    let (mut clock, mut receiver) = (Clock::new(), adp_ends::Receiver::new(params));
    while !input.is_over() && clock.timeouts < TIMEOUTS {
        if input.once_in(4) {
            clock.pass(input.span(), &mut receiver, adp_ends::Receiver::next_timeout, |receiver, due| {
                let mut out = Vec::new();
                receiver.handle_timeout(due, &mut out);
                check_adp(&out);
            });
            continue;
        }
        let segment = adp_wire::Segment::Data {
            number: input.number(),
            sent: Time(clock.now.0.saturating_sub(input.span().0)),
            message: input.number(),
            payload: input.number(),
        };
        let mut out = Vec::new();
        receiver.handle_data(clock.now, &segment, &mut out);
        check_adp(&out);
        assert!(receiver.next_timeout() >= clock.now, "a deadline in the past");
    }
}

fn sender_report(now: Time, input: &mut Input<'_>) -> rtp_wire::SenderReport {
    rtp_wire::SenderReport {
        sent: Time(now.0.saturating_sub(input.span().0)),
        timestamp: input.word(),
        packets: input.word(),
        octets: input.word(),
    }
}

/// Both ends of RTP.
pub fn rtp(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input).rtp;
    params::vary(&mut input, rtp_ends::RtpParams::SCHEMA, &mut params);
    let mut stream = input.stream(Purpose::Transport);
    let reports = input.stream(Purpose::Reports);
    let mut clock = Clock::new();
    let mut sender = rtp_ends::Sender::new(&params, 28, &mut stream, reports);
    let mut receiver = rtp_ends::Receiver::new(&params, 28, stream);
    let mut next = 0;
    while !input.is_over() && clock.timeouts < TIMEOUTS {
        match input.below(8) {
            0 => {
                let mut ends = (&mut sender, &mut receiver);
                clock.pass(
                    input.span(),
                    &mut ends,
                    |ends| ends.0.next_timeout().min(ends.1.next_timeout()),
                    |ends, due| {
                        if ends.0.next_timeout() <= due {
                            ends.0.handle_timeout(due);
                        } else if let Some(report) = ends.1.handle_timeout(due) {
                            ends.0.handle_report(due, &report);
                        }
                    },
                );
            }
            1 => {
                let made = Time(clock.now.0.saturating_sub(input.span().0));
                sender.header(clock.now, input.number(), made, input.once_in(2));
            }
            2 => {
                let last_sender_report = input.once_in(2).then(|| (input.word(), input.word()));
                let report = rtp_wire::Report {
                    fraction_lost: input.byte(),
                    cumulative_lost: input.word() as i32,
                    highest: input.word(),
                    jitter: input.word(),
                    last_sender_report,
                };
                sender.handle_report(clock.now, &report);
            }
            3 => {
                let report = sender_report(clock.now, &mut input);
                if input.once_in(8) {
                    receiver.handle_bye(clock.now, &report);
                } else {
                    receiver.handle_sender_report(clock.now, &report);
                }
            }
            4 if input.once_in(16) => {
                sender.handle_end(clock.now);
            }
            _ => {
                let sequence = if input.once_in(4) { input.word() as u16 } else { next };
                next = sequence.wrapping_add(1);
                let header = rtp_wire::Header { sequence, timestamp: input.word(), marker: input.once_in(2) };
                receiver.handle_packet(clock.now, &header);
            }
        }
        let jitter = receiver.jitter_s();
        assert!(jitter.is_finite() && jitter >= 0.0, "a jitter of {jitter} s");
        assert!(sender.round_trip_mean_s().is_none_or(|mean| mean.is_finite() && mean >= 0.0));
        let (expected, lost) = receiver.losses();
        assert!(lost <= expected, "{lost} lost of {expected}");
        assert!(sender.next_timeout().min(receiver.next_timeout()) >= clock.now, "a deadline in the past");
    }
}
