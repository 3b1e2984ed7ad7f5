//! The receiving end: it counts, and acknowledges about once in a round-trip time.
//! *Deviations*: 2 to 4 in docs/models/psp.md.

use super::{Output, PspParams, packet_bytes};
use crate::kernel::{Span, Time};
use crate::wire::psp::Segment;

/// What a receiver has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiverCounters {
    /// Acknowledgements sent.
    pub acks_sent: u64,
}

/// The receiving end of a flow.
pub struct Receiver {
    /// The sender's estimate of the round-trip time, as it told last.
    rtt: Span,
    /// The greatest number that has arrived, and when.
    newest: Option<(u32, Time)>,
    /// One more than the greatest number at the last acknowledgement.
    acknowledged: u32,
    /// When that was sent.
    acknowledged_at: Option<Time>,
    /// Packets that have arrived since then.
    received: u32,
    counters: ReceiverCounters,
}

impl Receiver {
    /// A receiver that has seen nothing. `params` must be within their ranges.
    pub fn new(params: &PspParams) -> Receiver {
        Receiver {
            rtt: Span::from_secs(params.rtt_initial_s),
            newest: None,
            acknowledged: 0,
            acknowledged_at: None,
            received: 0,
            counters: ReceiverCounters::default(),
        }
    }

    /// A data packet arrives; the application has its payload already.
    pub fn handle_data(&mut self, now: Time, segment: &Segment, out: &mut Vec<Output>) {
        let &Segment::Data { number, rtt, .. } = segment else { return };
        self.rtt = rtt;
        self.received = self.received.saturating_add(1);
        if self.newest.is_none_or(|(newest, _)| number > newest) {
            self.newest = Some((number, now));
        }
        self.handle_timeout(now, out);
    }

    /// The time of an acknowledgement has come. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some((newest, arrived)) = self.newest.filter(|_| now >= self.next_timeout()) else { return };
        let next = newest.saturating_add(1);
        let sent = next.saturating_sub(self.acknowledged);
        let ack = Segment::Ack { newest, held: now.since(arrived), sent, received: self.received };
        self.counters.acks_sent += 1;
        self.acknowledged = self.acknowledged.max(next);
        self.acknowledged_at = Some(now);
        self.received = 0;
        out.push(Output::Send(ack, packet_bytes(0)));
    }

    /// When an acknowledgement is due: a round-trip time after the last, if anything has arrived since.
    pub fn next_timeout(&self) -> Time {
        match (self.received, self.acknowledged_at) {
            (0, _) => Time::NEVER,
            (_, None) => Time::ZERO,
            (_, Some(last)) => last + self.rtt,
        }
    }

    /// What it has done so far.
    pub fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }
}
