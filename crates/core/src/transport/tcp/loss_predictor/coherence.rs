//! The receiver's guess, from marks of congestion (Liu and Jain 2001).
//!
//! Congestion does not come and go within one packet: where a queue overflows, it has marked the packets
//! around the one that it drops. At the third duplicate ACK the segment before the hole and the three nearest
//! after it are looked at. If none of them had a mark, the radio is blamed.

use std::collections::VecDeque;

/// Segments of which it is remembered whether they had a mark: a few more than are looked at.
const REMEMBERED: usize = 8;

/// Segments after the hole that are looked at.
const AFTER: usize = 3;

/// What a receiver knows that goes by coherence.
#[derive(Default)]
pub(in super::super) struct Coherence {
    /// The last segments that arrived, and did they have a mark?
    arrived: VecDeque<(u32, bool)>,
    /// Is congestion blamed for the hole at hand?
    pub(in super::super) is_congestion: bool,
}

impl Coherence {
    /// A segment arrives.
    pub(in super::super) fn handle_data(&mut self, number: u32, is_marked: bool) {
        if self.arrived.len() == REMEMBERED {
            self.arrived.pop_front();
        }
        self.arrived.push_back((number, is_marked));
    }

    /// Guesses why `next` is missing: true if congestion is blamed.
    pub(in super::super) fn judge(&mut self, next: u32) -> bool {
        let mut after: Vec<(u32, bool)> =
            self.arrived.iter().copied().filter(|&(number, _)| number > next).collect();
        after.sort_by_key(|&(number, _)| number);
        let before = self.arrived.iter().filter(|&&(number, _)| number.checked_add(1) == Some(next));
        self.is_congestion = before.chain(after.iter().take(AFTER)).any(|&(_, is_marked)| is_marked);
        self.is_congestion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These segments arrive; is congestion blamed for the loss of 4?
    fn judged(arrivals: &[(u32, bool)]) -> bool {
        let mut seen = Coherence::default();
        arrivals.iter().for_each(|&(number, is_marked)| seen.handle_data(number, is_marked));
        seen.judge(4)
    }

    #[test]
    fn a_mark_next_to_the_hole_is_congestion() {
        let arrivals = [2, 3, 5, 6, 7, 8];
        let marked = |which: u32| judged(&arrivals.map(|number| (number, number == which)));
        assert_eq!(arrivals.map(marked), [false, true, true, true, true, false]);
    }

    #[test]
    fn the_three_nearest_that_have_arrived_count_in_whatever_order() {
        assert!(judged(&[(3, false), (9, false), (8, true), (6, false)]), "5 and 7 are missing, too");
        assert!(!judged(&[(9, true), (8, false), (7, false), (6, false)]));
    }

    #[test]
    fn a_mark_is_forgotten_after_eight_arrivals() {
        let arrivals: Vec<(u32, bool)> =
            [(3, true)].into_iter().chain((5..12).map(|number| (number, false))).collect();
        assert!(judged(&arrivals));
        assert!(!judged(&[&arrivals[..], &[(12, false)]].concat()));
    }
}
