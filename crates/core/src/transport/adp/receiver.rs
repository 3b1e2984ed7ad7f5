//! The receiving end: what is acknowledged when.
//! *Deviation*: 6 in docs/models/adp.md.

use super::{AdpParams, Output};
use crate::kernel::{Span, Time};
use crate::wire::IP_HEADER_BYTES;
use crate::wire::adp::{HEADER_BYTES, Segment};

/// What a receiver has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiverCounters {
    /// Acknowledgements sent.
    pub acks_sent: u64,
}

/// Packets that arrived and are not answered yet.
#[derive(Clone, Copy)]
struct Unanswered {
    count: u32,
    newest: u32,
    /// The time stamp of the first of them.
    echo: Time,
    deadline: Time,
}

/// The receiving end of a flow.
pub struct Receiver {
    ack_every: u32,
    ack_delay: Span,
    ack_bytes: u32,
    vector_bits: u32,
    /// The greatest number that has arrived, and bit k for the arrival of the one k below it.
    arrived: Option<(u32, u64)>,
    unanswered: Option<Unanswered>,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A receiver that has seen nothing. `params` must be within their ranges.
    pub fn new(params: &AdpParams) -> Receiver {
        Receiver {
            ack_every: params.ack_every,
            ack_delay: Span::from_secs(params.ack_delay_s),
            ack_bytes: IP_HEADER_BYTES + HEADER_BYTES + params.ack_vector_bits.div_ceil(8),
            vector_bits: params.ack_vector_bits,
            arrived: None,
            unanswered: None,
            counters: ReceiverCounters::default(),
        }
    }

    /// A data packet arrives; the application has its payload already.
    pub fn handle_data(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let &Segment::Data { number, sent, .. } = segment else { return };
        self.note(number);
        let deadline = if self.ack_delay == Span::ZERO { Time::NEVER } else { now + self.ack_delay };
        let first = Unanswered { count: 0, newest: number, echo: sent, deadline };
        let waiting = self.unanswered.get_or_insert(first);
        waiting.count += 1;
        waiting.newest = number;
        if waiting.count >= self.ack_every {
            self.answer(out);
        }
    }

    /// The delay of an acknowledgement is over. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.next_timeout() {
            self.answer(out);
        }
    }

    /// When an acknowledgement must be sent at the latest.
    pub fn next_timeout(&self) -> Time {
        self.unanswered.map_or(Time::NEVER, |waiting| waiting.deadline)
    }

    /// What it has done so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    fn note(&mut self, number: u32) {
        let (newest, bits) = self.arrived.unwrap_or((number, 0));
        self.arrived = Some(if number >= newest {
            (number, bits.checked_shl(number - newest).unwrap_or(0) | 1)
        } else {
            (newest, bits | 1u64.checked_shl(newest - number).unwrap_or(0))
        });
    }

    fn answer(&mut self, out: &mut Vec<Output>) {
        let Some(waiting) = self.unanswered.take() else { return };
        self.counters.acks_sent += 1;
        let vector = self.vector_before(waiting.newest);
        let ack = Segment::Ack { number: waiting.newest, count: waiting.count, echo: waiting.echo, vector };
        out.push(Output::Send(ack, self.ack_bytes));
    }

    /// The status of the packets before `number`, nearest first.
    fn vector_before(&self, number: u32) -> u32 {
        let Some((newest, bits)) = self.arrived else { return 0 };
        let before = bits.checked_shr((newest - number).saturating_add(1)).unwrap_or(0);
        (before & ((1u64 << self.vector_bits) - 1)) as u32
    }
}
