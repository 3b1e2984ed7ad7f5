//! The receiver's window as its ACKs tell it, and the probes of a closed one (RFC 9293 §3.8.6, RFC 1122
//! §4.2.2.17).
//! *Deviation*: 42 in docs/models/tcp.md.

use super::Sender;
use crate::kernel::{Span, Time};
use crate::transport::tcp::Output;
use crate::wire::Ecn;
use crate::wire::tcp::{Segment, WHOLE_WINDOW};

/// What the sender knows of the receiver's window.
pub(super) struct Offered {
    /// The segments beyond `una` for which the receiver has room; all that there are in its whole window.
    segments: u32,
    /// When the closed window is probed, [`Time::NEVER`] if it is open or nothing waits for it.
    pub(super) probe_at: Time,
    interval: Span,
}

impl Offered {
    /// Nothing has been heard of the receiver: its window is the whole one.
    pub(super) fn new() -> Offered {
        Offered { segments: u32::MAX, probe_at: Time::NEVER, interval: Span::ZERO }
    }
}

impl Sender {
    /// An ACK that is not older than what is known says how much room the receiver has. Has that changed?
    pub(super) fn note_window(&mut self, window: u16) -> bool {
        let segments = if window == WHOLE_WINDOW { u32::MAX } else { window.into() };
        std::mem::replace(&mut self.offered.segments, segments) != segments
    }

    /// One past the last number that the receiver's window allows. What has been sent was within it once.
    pub(super) fn window_end(&self) -> u32 {
        self.una.saturating_add(self.offered.segments).max(self.sent_end)
    }

    // RFC 1122 §4.2.2.17: the first probe when the window has been closed for a timeout.
    pub(super) fn update_persist(&mut self, now: Time) {
        if !self.persists() {
            self.offered.probe_at = Time::NEVER;
        } else if self.offered.probe_at == Time::NEVER {
            self.offered.interval = self.rto.value();
            self.offered.probe_at = now + self.offered.interval;
        }
    }

    /// Is the window closed, nothing outstanding whose ACK could open it, and does data wait?
    fn persists(&self) -> bool {
        self.offered.segments == 0 && self.una == self.sent_end && self.una < self.backlog.end()
    }

    /// Probes the closed window if it is time.
    pub(super) fn probe_window(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.offered.probe_at {
            return;
        }
        self.update_persist(now);
        if self.offered.probe_at == Time::NEVER {
            return;
        }
        let max = Span::from_secs(self.params.persist_max_s);
        self.offered.interval = Span(self.offered.interval.0.saturating_mul(2)).min(max);
        self.offered.probe_at = now + self.offered.interval;
        self.counters.window_probes += 1;
        self.counters.segments_sent += 1;
        let number = self.una.saturating_sub(1);
        out.push(Output::Send {
            segment: Segment::Data { number, payload: 0, sent: now, retransmission: true, cwr: false },
            bytes: self.params.header_bytes + self.stamp_bytes(),
            ecn: Ecn::NotEct,
        });
    }
}
