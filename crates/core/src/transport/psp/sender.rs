//! The sending end: what is sent when.
//! *Deviations*: 1, 4 to 8 in docs/models/psp.md.

use std::collections::VecDeque;

use super::{Output, PspParams, packet_bytes};
use crate::kernel::{Span, Time};
use crate::wire::psp::Segment;

/// What a sender has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SenderCounters {
    /// How often the spacing grew because nothing came back.
    pub silences: u64,
}

/// A message in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Waiting {
    message: u32,
    /// Bytes that have not been sent yet.
    left: u32,
}

/// Packets whose times of sending are remembered at most; older ones give no sample.
const REMEMBERED: usize = 4096;

/// The sending end of a flow. Calls come in order of time.
pub struct Sender {
    params: PspParams,
    /// Messages in the buffer at most.
    limit: usize,
    /// Payload of a packet at most.
    packet_bytes: u32,
    buffer: VecDeque<Waiting>,
    /// The next sequence number.
    next: u32,
    /// Time between packets.
    spacing: Span,
    /// The next packet may be sent from then on.
    free_at: Time,
    /// Packets that may still be acknowledged, and when they were sent.
    sent: VecDeque<(u32, Time)>,
    /// One more than the greatest number that was acknowledged.
    acknowledged: u32,
    /// The smoothed round-trip time.
    rtt: Option<Span>,
    /// When the spacing grows unless something comes back; never if nothing is to come back.
    silent_at: Time,
    /// Was a packet sent since the spacing grew like that, or something acknowledged?
    has_sent: bool,
    counters: SenderCounters,
}

impl Sender {
    /// A sender without data. Messages are cut into packets of at most `packet_bytes`. `params` must be
    /// within their ranges.
    pub fn new(params: &PspParams, packet_bytes: u32) -> Sender {
        Sender {
            limit: if params.buffer_frames == 0 { usize::MAX } else { params.buffer_frames as usize },
            packet_bytes,
            buffer: VecDeque::new(),
            next: 0,
            spacing: Span::from_secs(params.spacing_min_ms * 1e-3),
            free_at: Time::ZERO,
            sent: VecDeque::new(),
            acknowledged: 0,
            rtt: None,
            silent_at: Time::NEVER,
            has_sent: false,
            counters: SenderCounters::default(),
            params: params.clone(),
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

    /// An acknowledgement arrives; one that is older than another, or repeats it, changes nothing.
    pub fn handle_ack(&mut self, now: Time, segment: &Segment) {
        let &Segment::Ack { newest, held, sent, received } = segment else { return };
        if newest >= self.next || newest < self.acknowledged {
            return;
        }
        self.acknowledged = newest + 1;
        self.sample(now, newest, held);
        let (sent, received) = (f64::from(sent.max(1)), f64::from(received));
        if received < (1.0 - self.params.tolerated_loss) * sent {
            self.stretch(sent / received.max(sent / self.params.growth_max));
        } else if received >= sent {
            self.stretch(self.params.shrinkage);
        }
        self.has_sent = true;
        let waits = self.acknowledged < self.next;
        self.silent_at = if waits { now + self.patience() } else { Time::NEVER };
    }

    /// A packet may be sent, or nothing has come back for too long. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.silent_at {
            self.counters.silences += 1;
            self.stretch(self.params.growth_max);
            // Without new packets nothing more is to be learned.
            self.silent_at = if self.has_sent { now + self.rtt() } else { Time::NEVER };
            self.has_sent = false;
        }
        self.transmit(now, out);
    }

    /// When [`Sender::handle_timeout`] has something to do.
    pub fn next_timeout(&self) -> Time {
        let send_at = if self.buffer.is_empty() { Time::NEVER } else { self.free_at };
        send_at.min(self.silent_at)
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// The messages that wait, also those of which a part has been sent.
    pub fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.buffer.iter().map(|waiting| waiting.message)
    }

    /// Time between packets now.
    pub fn spacing(&self) -> Span {
        self.spacing
    }

    /// The estimate of the round-trip time.
    pub fn rtt(&self) -> Span {
        self.rtt.unwrap_or_else(|| Span::from_secs(self.params.rtt_initial_s))
    }

    fn patience(&self) -> Span {
        self.rtt().scaled(self.params.silence_rtts)
    }

    /// The time that an acknowledged packet took, without what the receiver held its answer back.
    fn sample(&mut self, now: Time, newest: u32, held: Span) {
        while self.sent.front().is_some_and(|(number, _)| *number < newest) {
            self.sent.pop_front();
        }
        let Some((_, sent)) = self.sent.pop_front_if(|(number, _)| *number == newest) else { return };
        let rtt = now.since(sent).saturating_sub(held).max(Span(1));
        self.rtt = Some(self.rtt.map_or(rtt, |known| Span((7 * known.0 + rtt.0) / 8)));
    }

    fn stretch(&mut self, factor: f64) {
        let [min, max] = [self.params.spacing_min_ms, self.params.spacing_max_ms];
        let [min, max] = [min, max.max(min)].map(|ms| Span::from_secs(ms * 1e-3));
        self.spacing = self.spacing.scaled(factor).clamp(min, max);
    }

    fn transmit(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.free_at {
            return;
        }
        let Some(first) = self.buffer.front_mut() else { return };
        let (message, payload) = (first.message, first.left.min(self.packet_bytes));
        first.left -= payload;
        if first.left == 0 {
            self.buffer.pop_front();
        }
        let number = self.next;
        self.next += 1;
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((number, now));
        self.free_at = now + self.spacing;
        self.has_sent = true;
        if self.silent_at == Time::NEVER {
            self.silent_at = now + self.patience();
        }
        let segment = Segment::Data { number, rtt: self.rtt(), message, payload };
        out.push(Output::Send(segment, packet_bytes(payload)));
    }
}
