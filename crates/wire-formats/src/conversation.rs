//! Which bytes the segments of a TCP connection are.
//!
//! A run numbers segments; the sequence numbers of the standard count bytes. Every connection begins at
//! sequence number 0 on both sides: its SYN, simulated or not, is number 0 and its first byte number 1.

use manetlab_core::kernel::Time;
use manetlab_core::wire::tcp::Segment;

/// Segments in a row that are equally long.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The number of the first.
    first: u32,
    /// The sequence number of its first byte.
    seq: u32,
    /// The bytes of each; 1 for a SYN.
    bytes: u32,
}

/// One connection, as far as its segments have been made.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// In order. Most connections have one or two, as segments are full.
    runs: Vec<Run>,
    /// The number of the next new segment.
    next: u32,
    /// Did it begin with a SYN?
    has_syn: bool,
    /// When the first data was made.
    first_data: Option<Time>,
}

impl Conversation {
    /// The sender makes a segment at `now`; those that are not new change nothing.
    pub fn note(&mut self, now: Time, segment: &Segment) {
        let &Segment::Data { number, payload, .. } = segment else { return };
        if number != self.next {
            return;
        }
        let is_syn = number == 0 && payload == 0;
        let bytes = if is_syn { 1 } else { payload };
        if self.runs.last().is_none_or(|run| run.bytes != bytes || (self.has_syn && number == 1)) {
            let seq = if is_syn { 0 } else { self.seq(number) };
            self.runs.push(Run { first: number, seq, bytes });
        }
        self.next = number.wrapping_add(1);
        self.has_syn |= is_syn;
        if !is_syn {
            self.first_data.get_or_insert(now);
        }
    }

    /// The sequence number of a segment's first byte.
    pub fn seq(&self, number: u32) -> u32 {
        let after = self.runs.partition_point(|run| run.first <= number);
        let Some(run) = after.checked_sub(1).map(|place| self.runs[place]) else { return 1 };
        run.seq.wrapping_add((number - run.first).wrapping_mul(run.bytes))
    }

    /// Is the segment the SYN?
    pub fn is_syn(&self, number: u32) -> bool {
        self.has_syn && number == 0
    }

    /// Does an ACK made at `made`, which waits for segment `next`, answer the SYN? Until the sender has such
    /// an ACK it makes no data.
    pub fn answers_syn(&self, made: Time, next: u32) -> bool {
        self.has_syn && next == 1 && self.first_data.is_none_or(|data| made < data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(number: u32, payload: u32) -> Segment {
        Segment::Data { number, payload, sent: Time::ZERO, retransmission: false, cwr: false }
    }

    fn after(payloads: &[u32]) -> Conversation {
        let mut conversation = Conversation::default();
        for (number, &payload) in (0..).zip(payloads) {
            conversation.note(Time(number.into()), &data(number, payload));
        }
        conversation
    }

    #[test]
    fn segments_of_any_lengths_follow_each_other_without_gaps() {
        let payloads = [0, 1000, 1000, 1000, 10, 1000, 1, 1, 7];
        let conversation = after(&payloads);
        let mut seq = 1;
        for (number, payload) in (1..).zip(&payloads[1..]) {
            assert_eq!(conversation.seq(number), seq);
            seq += payload;
        }
        assert_eq!(conversation.seq(9), seq, "what an ACK of everything waits for");
        assert_eq!((conversation.seq(0), conversation.is_syn(0)), (0, true));
    }

    #[test]
    fn without_a_syn_the_first_byte_is_still_number_one() {
        let conversation = after(&[512, 512, 100]);
        assert_eq!([0, 1, 2, 3].map(|number| conversation.seq(number)), [1, 513, 1025, 1125]);
        assert!(!conversation.is_syn(0) && !conversation.answers_syn(Time(0), 1));
    }

    #[test]
    fn retransmissions_change_nothing() {
        let mut conversation = after(&[0, 1000, 500]);
        conversation.note(Time(9), &data(1, 1000));
        assert_eq!([1, 2, 3].map(|number| conversation.seq(number)), [1, 1001, 1501]);
    }

    #[test]
    fn acks_of_the_syn_come_before_data() {
        let conversation = after(&[0, 1000]);
        assert!(conversation.answers_syn(Time(0), 1));
        assert!(!conversation.answers_syn(Time(2), 1), "the first segment of data is missing");
        assert!(!conversation.answers_syn(Time(0), 2));
    }
}
