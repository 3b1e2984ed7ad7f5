//! The sending end: what is sent when.
//! *Deviations*: 1 to 7 in docs/models/adp.md.

use std::collections::{BTreeSet, VecDeque};

use super::{AdpParams, AdpVariant, Output, TtoPolicy, data_bytes};
use crate::kernel::{Span, Time};
use crate::wire::adp::Segment;

/// What a sender has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SenderCounters {
    /// Packets handed to IP.
    pub packets_sent: u64,
    /// Bytes of payload handed to IP.
    pub bytes_sent: u64,
    /// Acknowledgements that arrived.
    pub acks_received: u64,
    /// Expiries of the transmit timer.
    pub timeouts: u64,
}

/// A message in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiting {
    message: u32,
    /// Bytes that have not been sent yet.
    left: u32,
}

/// Packets that one ACK answers at most: the range of `ack_every` ends here. A header that says more would
/// release as many at once.
const MOST_ANSWERED: u32 = 64;

/// The sending end of a flow. Calls come in order of time.
pub struct Sender {
    variant: AdpVariant,
    policy: TtoPolicy,
    initial: Span,
    min: Span,
    max: Span,
    /// Messages in the buffer at most.
    limit: usize,
    /// Payload of a packet at most.
    packet_bytes: u32,
    /// Is there always a message to send?
    endless: bool,
    closed: bool,

    buffer: VecDeque<Waiting>,
    /// The next sequence number.
    next: u32,
    /// The next message of an endless source.
    next_message: u32,
    /// Packets that may be sent as soon as there are any (ACK-clocked).
    permissions: u32,
    /// The congestion window in packets (windowed).
    window: f64,
    /// The first packet sent since the last timeout, and since the one before it.
    left_edge: u32,
    previous_left_edge: u32,
    /// Packets from `previous_left_edge` on that are not acknowledged.
    unacknowledged: BTreeSet<u32>,

    /// Smoothed round-trip time and its mean deviation, in ns.
    estimate: Option<(u64, u64)>,
    back_off: u64,
    deadline: Time,
    counters: SenderCounters,
}

impl Sender {
    /// A sender without data. Messages are cut into packets of at most `packet_bytes`; an `endless` one makes
    /// its messages itself, one a packet. `params` must be within their ranges.
    pub fn new(params: &AdpParams, packet_bytes: u32, endless: bool) -> Sender {
        Sender {
            variant: params.variant,
            policy: params.tto_policy,
            initial: Span::from_secs(params.tto_initial_s),
            min: Span::from_secs(params.tto_min_s),
            max: Span::from_secs(params.tto_max_s),
            limit: if params.buffer_frames == 0 { usize::MAX } else { params.buffer_frames as usize },
            packet_bytes,
            endless,
            closed: false,
            buffer: VecDeque::new(),
            next: 0,
            next_message: 0,
            permissions: 1,
            window: 1.0,
            left_edge: 0,
            previous_left_edge: 0,
            unacknowledged: BTreeSet::new(),
            estimate: None,
            back_off: 1,
            deadline: Time::NEVER,
            counters: SenderCounters::default(),
        }
    }

    /// The application hands over a message of `bytes`, which is sent, waits, or pushes the oldest out.
    pub fn handle_message(&mut self, now: Time, message: u32, bytes: u32, out: &mut Vec<Output>) {
        if self.buffer.len() >= self.limit
            && let Some(oldest) = self.buffer.pop_front()
        {
            out.push(Output::Dropped(oldest.message));
        }
        self.buffer.push_back(Waiting { message, left: bytes });
        self.transmit(now, out);
    }

    /// A source with endless data begins.
    pub fn handle_start(&mut self, now: Time, out: &mut Vec<Output>) {
        self.transmit(now, out);
    }

    /// A source with endless data ends.
    pub fn handle_close(&mut self) {
        self.closed = true;
        if self.endless {
            self.deadline = Time::NEVER;
        }
    }

    /// An acknowledgement arrives: whichever it is, it cancels the timer.
    pub fn handle_ack(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let &Segment::Ack { number, count, echo, vector } = segment else { return };
        if number >= self.next {
            return;
        }
        self.counters.acks_received += 1;
        self.deadline = Time::NEVER;
        self.back_off = 1;
        self.sample(now.since(echo));
        let known = self.acknowledge(number, vector);
        match self.variant {
            AdpVariant::AckClocked => self.release(count.min(MOST_ANSWERED).max(known)),
            AdpVariant::Windowed => {
                for _ in 0..known {
                    self.window += 1.0 / self.window;
                }
            }
        }
        self.transmit(now, out);
        if self.variant == AdpVariant::Windowed && self.outstanding() > 0 && self.deadline == Time::NEVER {
            self.deadline = now + self.tto();
        }
    }

    /// The transmit timer: one new packet is sent. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.deadline {
            return;
        }
        self.deadline = Time::NEVER;
        self.counters.timeouts += 1;
        self.back_off = match self.policy {
            TtoPolicy::Doubling => self.back_off.saturating_mul(2),
            TtoPolicy::Fixed => 2,
            TtoPolicy::Constant => 1,
        };
        // Both edges collapse onto the packet that is sent next; late ACKs of the packets before it still
        // count.
        self.previous_left_edge = self.left_edge;
        self.left_edge = self.next;
        self.unacknowledged = self.unacknowledged.split_off(&self.previous_left_edge);
        self.window = 1.0;
        self.permissions = 1;
        self.transmit(now, out);
    }

    /// When the transmit timer fires; [`Time::NEVER`] if it does not run.
    pub fn next_timeout(&self) -> Time {
        self.deadline
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The messages that wait, also those of which a part has been sent.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.buffer.iter().map(|waiting| waiting.message)
    }

    /// The transmit timeout now, doubling included.
    pub fn tto(&self) -> Span {
        let base = self.estimate.map_or(self.initial, |(srtt, deviation)| Span(srtt + 4 * deviation));
        (base.max(self.min) * self.back_off).min(self.max)
    }

    /// The congestion window of the windowed variant, in packets.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Packets sent since the last timeout and not acknowledged.
    pub fn outstanding(&self) -> usize {
        self.unacknowledged.range(self.left_edge..).count()
    }

    /// As TCP does (RFC 6298 §2.2 and §2.3); the time stamp makes every ACK a sample.
    fn sample(&mut self, rtt: Span) {
        self.estimate = Some(match self.estimate {
            Some((srtt, deviation)) => ((7 * srtt + rtt.0) / 8, (3 * deviation + srtt.abs_diff(rtt.0)) / 4),
            None => (rtt.0, rtt.0 / 2),
        });
    }

    /// Marks a packet and those that the vector tells of. Returns how many were not known to have arrived: of
    /// those of the vector only ones that were sent since the last timeout.
    fn acknowledge(&mut self, number: u32, vector: u32) -> u32 {
        let mut known = u32::from(self.unacknowledged.remove(&number));
        for back in 1..=32 {
            if vector & (1 << (back - 1)) != 0
                && let Some(earlier) = number.checked_sub(back)
                && self.unacknowledged.remove(&earlier)
                && earlier >= self.left_edge
            {
                known += 1;
            }
        }
        // What is far behind an ACK is lost or will be told by no vector.
        if self.variant == AdpVariant::AckClocked {
            self.unacknowledged = self.unacknowledged.split_off(&number.saturating_sub(64));
        }
        known
    }

    /// Permits `count` packets; what finds nothing to send is remembered once.
    fn release(&mut self, count: u32) {
        self.permissions = self.permissions.max(count);
    }

    fn may_send(&self) -> bool {
        match self.variant {
            AdpVariant::AckClocked => self.permissions > 0,
            AdpVariant::Windowed => ((self.outstanding() + 1) as f64) <= self.window,
        }
    }

    fn transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        while self.may_send() {
            let Some((message, payload)) = self.take_packet() else {
                self.permissions = self.permissions.min(1);
                return;
            };
            let number = self.next;
            self.next += 1;
            self.permissions = self.permissions.saturating_sub(1);
            self.unacknowledged.insert(number);
            self.counters.packets_sent += 1;
            self.counters.bytes_sent += u64::from(payload);
            self.deadline = now + self.tto();
            out.push(Output::Send(
                Segment::Data { number, sent: now, message, payload },
                data_bytes(payload),
            ));
        }
    }

    /// The next packet's message and payload.
    fn take_packet(&mut self) -> Option<(u32, u32)> {
        if self.endless {
            let message = self.next_message;
            self.next_message += u32::from(!self.closed);
            return (!self.closed).then_some((message, self.packet_bytes));
        }
        let first = self.buffer.front_mut()?;
        let payload = first.left.min(self.packet_bytes);
        let message = first.message;
        first.left -= payload;
        if first.left == 0 {
            self.buffer.pop_front();
        }
        Some((message, payload))
    }
}
