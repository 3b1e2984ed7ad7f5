//! What SACK blocks have told the sender, and what RFC 6675 concludes from it.
//! *Deviations*: 5 and 6 in docs/models/tcp.md.

use smallvec::SmallVec;

/// The segments beyond the cumulative acknowledgement that the receiver is known to hold.
#[derive(Default)]
pub(super) struct Scoreboard {
    /// Half-open, disjoint, not touching, ascending.
    held: SmallVec<[(u32, u32); 8]>,
}

impl Scoreboard {
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

    /// Is `number` lost, seen from `threshold` segments held above it (RFC 6675 §4, `IsLost`)?
    pub(super) fn is_lost(&self, number: u32, threshold: u32) -> bool {
        !self.holds(number) && self.held_above(number) >= threshold
    }

    /// Segments in the network (RFC 6675 §4, `SetPipe`): of `una..sent_end`, each that is not held counts
    /// once unless it is lost, and once more if it lies below `rexmit_end` and so has been sent again.
    pub(super) fn pipe(&self, una: u32, sent_end: u32, rexmit_end: u32, threshold: u32) -> u32 {
        let in_network =
            |number| u32::from(!self.is_lost(number, threshold)) + u32::from(number < rexmit_end);
        (una..sent_end).filter(|&number| !self.holds(number)).map(in_network).sum()
    }

    /// The least segment from `from` on that is not held and lies below one that is (RFC 6675 §4, `NextSeg`
    /// rules 1.a and 1.b).
    pub(super) fn hole(&self, from: u32) -> Option<u32> {
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
        let mut board = Scoreboard::default();
        board.update(0, 100, blocks);
        board
    }

    #[test]
    fn a_segment_is_lost_when_three_above_it_are_held() {
        let board = board(&[(2, 3), (4, 6)]);
        assert!(board.is_lost(0, 3));
        assert!(board.is_lost(1, 3));
        assert!(!board.is_lost(2, 3), "it is held");
        assert!(!board.is_lost(3, 3), "only two are held above it");
    }

    #[test]
    fn the_pipe_counts_what_is_under_way() {
        // Of 0..8: 0, 1 lost; 3 not lost; 6, 7 under way; 0 sent again.
        assert_eq!(board(&[(2, 3), (4, 6)]).pipe(0, 8, 1, 3), 1 + 1 + 2);
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
            let mut board = Scoreboard::default();
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
