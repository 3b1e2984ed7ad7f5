//! What SACK blocks have told the sender, and what RFC 6675 or SMART concludes from it.
//! *Deviations*: 5 and 6 in docs/models/tcp.md.

use smallvec::SmallVec;

use super::TcpParams;
use super::order::Order;

/// The segments beyond the cumulative acknowledgement that the receiver is known to hold.
pub(super) struct Scoreboard {
    /// Half-open, disjoint, not touching, ascending.
    held: SmallVec<[(u32, u32); 8]>,
    /// So many segments held above another tell that it is lost (RFC 6675 §2, `DupThresh`).
    threshold: u32,
    /// What tells instead which segments are lost (SMART); none: the number held above them.
    order: Option<Order>,
}

impl Scoreboard {
    /// Nothing is held, and nothing was sent.
    pub(super) fn new(params: &TcpParams) -> Scoreboard {
        Scoreboard {
            held: SmallVec::new(),
            threshold: params.dupack_threshold,
            order: (params.sack && params.smart).then(Order::default),
        }
    }

    /// A segment is sent, for the first time or again. Then `sent_end` is one past the greatest number sent.
    pub(super) fn note_sent(&mut self, number: u32, sent_end: u32) {
        if let Some(order) = &mut self.order {
            order.note_sent(number, sent_end);
        }
    }

    /// Takes in an ACK (RFC 6675 §4, `Update`). Blocks outside `una..sent_end` are cut. Did it tell of a
    /// segment that was not known to be held?
    pub(super) fn update(&mut self, una: u32, sent_end: u32, blocks: &[(u32, u32)]) -> bool {
        self.acknowledge(una);
        let mut news = false;
        for &(start, end) in blocks {
            let (start, end) = (start.max(una), end.min(sent_end));
            news |= start < end && self.add(start, end);
        }
        news
    }

    /// Forgets everything (RFC 2018 §8, after a timeout).
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }

    fn acknowledge(&mut self, una: u32) {
        if let Some(order) = &mut self.order {
            order.forget_below(una);
        }
        self.held.retain(|range| range.1 > una);
        if let Some(first) = self.held.first_mut() {
            first.0 = first.0.max(una);
        }
    }

    fn add(&mut self, mut start: u32, mut end: u32) -> bool {
        if self.held.iter().any(|range| range.0 <= start && end <= range.1) {
            return false;
        }
        self.held.retain(|range| {
            let touches = range.0 <= end && start <= range.1;
            if touches {
                (start, end) = (start.min(range.0), end.max(range.1));
            }
            !touches
        });
        let at = self.held.partition_point(|range| range.0 < start);
        self.held.insert(at, (start, end));
        true
    }

    /// Is `number` lost: are enough segments held above it (RFC 6675 §4, `IsLost`), or, in SMART, has one
    /// arrived that was sent after it?
    fn is_lost(&self, number: u32) -> bool {
        let is_lost = match &self.order {
            Some(order) => self.held.last().is_some_and(|last| order.is_overtaken(number, last.1)),
            None => self.held_above(number) >= self.threshold,
        };
        is_lost && !self.holds(number)
    }

    /// Does the latest of `dupacks` duplicate ACKs tell that the first outstanding segment is lost (RFC 6675
    /// §5, steps 1 and 2)? In SMART the order alone tells.
    pub(super) fn tells_of_loss(&self, una: u32, dupacks: u32) -> bool {
        (self.order.is_none() && dupacks >= self.threshold) || self.is_lost(una)
    }

    /// Does an ACK of new data tell that the first outstanding segment is lost? RFC 6675 §5 asks for a
    /// duplicate ACK; in SMART a gap is a gap.
    pub(super) fn tells_of_gap(&self, una: u32) -> bool {
        self.order.is_some() && self.is_lost(una)
    }

    /// Segments in the network (RFC 6675 §4, `SetPipe`): of `una..sent_end`, each that is not held counts
    /// once unless it is lost, and once more if it lies below `rexmit_end` and so has been sent again. In
    /// SMART what has been sent again is no longer lost.
    pub(super) fn pipe(&self, una: u32, sent_end: u32, rexmit_end: u32) -> u32 {
        let rexmit_end = if self.order.is_some() { una } else { rexmit_end };
        let in_network = |number| u32::from(!self.is_lost(number)) + u32::from(number < rexmit_end);
        (una..sent_end).filter(|&number| !self.holds(number)).map(in_network).sum()
    }

    /// The next segment to send again, and is it lost (RFC 6675 §4, `NextSeg` rules 1 and 3)? From
    /// `rexmit_end` on; but in SMART the first that is lost, for the second time or not.
    pub(super) fn next_hole(&self, una: u32, rexmit_end: u32) -> Option<(u32, bool)> {
        match &self.order {
            Some(order) => {
                order.outstanding().find(|&number| self.is_lost(number)).map(|number| (number, true))
            }
            None => self.hole(rexmit_end.max(una)).map(|number| (number, self.is_lost(number))),
        }
    }

    /// The least segment from `from` on that is not held and lies below one that is (RFC 6675 §4, `NextSeg`
    /// rules 1.a and 1.b).
    fn hole(&self, from: u32) -> Option<u32> {
        let mut hole = from;
        for &(start, end) in &self.held {
            if hole < start {
                return Some(hole);
            }
            hole = hole.max(end);
        }
        None
    }

    fn holds(&self, number: u32) -> bool {
        self.held.iter().any(|range| range.0 <= number && number < range.1)
    }

    fn held_above(&self, number: u32) -> u32 {
        self.held.iter().map(|range| range.1.saturating_sub(range.0.max(number + 1))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(blocks: &[(u32, u32)]) -> Scoreboard {
        let mut board = Scoreboard::new(&TcpParams::rfc());
        board.update(0, 100, blocks);
        board
    }

    #[test]
    fn a_segment_is_lost_when_three_above_it_are_held() {
        let board = board(&[(2, 3), (4, 6)]);
        assert!(board.is_lost(0));
        assert!(board.is_lost(1));
        assert!(!board.is_lost(2), "it is held");
        assert!(!board.is_lost(3), "only two are held above it");
    }

    #[test]
    fn the_pipe_counts_what_is_under_way() {
        // Of 0..8: 0, 1 lost; 3 not lost; 6, 7 under way; 0 sent again.
        assert_eq!(board(&[(2, 3), (4, 6)]).pipe(0, 8, 1), 1 + 1 + 2);
    }

    #[test]
    fn old_news_is_no_news() {
        let mut board = board(&[(3, 6)]);
        assert!(!board.update(0, 100, &[(4, 5)]));
        assert!(board.update(0, 100, &[(5, 7)]));
        assert!(!board.update(8, 100, &[(3, 7)]));
        assert_eq!(board.hole(8), None);
    }

    proptest! {
        /// Against a plain set of numbers.
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((0u32..30, 0u32..60, 0u32..8), 1..40)) {
            let mut board = Scoreboard::new(&TcpParams::rfc());
            let mut plain = std::collections::BTreeSet::new();
            let mut una = 0;
            for (advance, start, length) in steps {
                una += advance / 25;
                let before = plain.len();
                plain.retain(|&number| number >= una);
                let kept = plain.len();
                plain.extend((start..start + length).filter(|&number| (una..50).contains(&number)));
                let news = board.update(una, 50, &[(start, start + length)]);
                prop_assert!(before >= kept);
                prop_assert_eq!(news, plain.len() > kept);
                for number in una..50 {
                    prop_assert_eq!(board.holds(number), plain.contains(&number));
                    prop_assert_eq!(board.held_above(number) as usize, plain.range(number + 1..).count());
                    let hole = (number..50).find(|n| !plain.contains(n) && plain.range(n..).next().is_some());
                    prop_assert_eq!(board.hole(number), hole);
                }
            }
        }
    }
}
