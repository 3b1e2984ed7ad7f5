//! When segments were sent, and when the sender's timers fire.

use std::collections::VecDeque;

use crate::kernel::{Span, Time};

/// A sender's clockwork.
pub(super) struct Timing {
    /// When the retransmission timer fires; it runs while anything is outstanding.
    pub(super) deadline: Time,
    /// When the hold-down timer ends, [`Time::NEVER`] if it does not run.
    pub(super) hold_until: Time,
    /// Has this very ACK's mark started the wait?
    pub(super) holds_for_mark: bool,
    /// When the last outstanding segment was acknowledged.
    pub(super) idle_since: Time,
    /// The one segment whose round trip is measured, and when it was sent.
    timed: Option<(u32, Time)>,
    /// When each outstanding segment was sent last, and was that a retransmission?
    times: VecDeque<(Time, bool)>,
}

impl Timing {
    /// No timer runs, and nothing was sent.
    pub(super) fn new() -> Timing {
        Timing {
            deadline: Time::NEVER,
            hold_until: Time::NEVER,
            holds_for_mark: false,
            idle_since: Time::ZERO,
            timed: None,
            times: VecDeque::new(),
        }
    }

    /// Segment `number` is sent for the first time: its round trip is measured unless another's is.
    pub(super) fn measure(&mut self, number: u32, now: Time) {
        self.timed = self.timed.or(Some((number, now)));
    }

    /// The measurement ends without a sample.
    pub(super) fn stop_measuring(&mut self) {
        self.timed = None;
    }

    /// Segment `number` is sent again: its ACK would not say which transmission it answers (Karn; RFC 6298
    /// §3).
    pub(super) fn resent(&mut self, number: u32) {
        self.timed.take_if(|(timed, _)| *timed == number);
    }

    /// When the measured segment was sent, if it is below `una`. Then the measurement is over.
    pub(super) fn measured(&mut self, una: u32) -> Option<Time> {
        self.timed.take_if(|(number, _)| *number < una).map(|(_, sent)| sent)
    }

    /// Notes the time of the outstanding segment at this place, counted from the first.
    pub(super) fn note(&mut self, place: u32, now: Time, retransmission: bool) {
        match self.times.get_mut(place as usize) {
            Some(time) => *time = (now, retransmission),
            None => self.times.push_back((now, retransmission)),
        }
    }

    /// The first `acked` segments are acknowledged.
    pub(super) fn forget(&mut self, acked: u32) {
        let acked = (acked as usize).min(self.times.len());
        self.times.drain(..acked);
    }

    /// The round trip of the last of the first `acked` segments, if it was sent once.
    pub(super) fn round_trip(&self, now: Time, acked: u32) -> Option<Span> {
        let at = acked.checked_sub(1)? as usize;
        self.times.get(at).filter(|(_, again)| !again).map(|(sent, _)| now.since(*sent))
    }

    /// How long ago the first outstanding segment was sent last, as far as noted.
    pub(super) fn age_of_first(&self, now: Time) -> Option<Span> {
        self.times.front().map(|(sent, _)| now.since(*sent))
    }
}
