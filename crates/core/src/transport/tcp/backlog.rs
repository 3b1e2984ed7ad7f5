//! What the application has handed over, cut into segments.
//! *Deviation*: 1 in docs/models/tcp.md.

use std::collections::VecDeque;

/// One write of the application: full segments and a last one that may be shorter.
struct Write {
    /// One past the number of its last segment.
    end: u32,
    /// Bytes in its last segment.
    last_payload: u32,
}

/// The application's data that is not acknowledged yet, as segments.
pub(super) struct Backlog {
    /// In order of their ends; those wholly acknowledged are gone.
    writes: VecDeque<Write>,
    segment_bytes: u32,
    /// Is segment 0 a SYN?
    syn: bool,
    /// One past the last segment that may be sent; zero before the first write.
    end: u32,
    closed: bool,
    cut_off: bool,
}

impl Backlog {
    pub(super) fn new(segment_bytes: u32, syn: bool) -> Backlog {
        Backlog { writes: VecDeque::new(), segment_bytes, syn, end: 0, closed: false, cut_off: false }
    }

    /// Nothing is written yet, but the SYN may be sent.
    pub(super) fn open(&mut self) {
        self.end = self.end.max(u32::from(self.syn));
    }

    /// Adds `bytes`, or data without end. Data after a close, or after data without end, is ignored.
    pub(super) fn write(&mut self, bytes: Option<u64>) {
        if self.closed || bytes == Some(0) {
            return;
        }
        let first = self.end.max(u32::from(self.syn));
        let full = u64::from(self.segment_bytes);
        let segments = bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(full));
        let last = bytes.map_or(full, |bytes| bytes - (segments - 1) * full);
        self.end = u32::try_from(segments).map_or(u32::MAX, |segments| first.saturating_add(segments));
        self.writes.push_back(Write { end: self.end, last_payload: last as u32 });
    }

    /// Nothing from number `unsent` on will be sent any more.
    pub(super) fn close(&mut self, unsent: u32) {
        self.cut_off |= unsent < self.end;
        self.end = self.end.min(unsent);
        self.closed = true;
    }

    /// Has a close left out what had been written?
    pub(super) fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// One past the last segment that may be sent.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Bytes of payload of segment `number`, which must be below [`Backlog::end`] and not acknowledged.
    pub(super) fn payload(&self, number: u32) -> u32 {
        if self.syn && number == 0 {
            return 0;
        }
        let at = self.writes.partition_point(|write| write.end <= number);
        match self.writes.get(at) {
            Some(write) if write.end == number + 1 => write.last_payload,
            _ => self.segment_bytes,
        }
    }

    /// Everything below `next` is acknowledged.
    pub(super) fn acknowledge(&mut self, next: u32) {
        while self.writes.front().is_some_and(|write| write.end <= next) {
            self.writes.pop_front();
        }
    }
}
