//! The receiver's guess, from the times between arrivals (Biaz and Vaidya 1999).
//!
//! It supposes that the last hop is the radio and the slowest of all, so that segments arrive one after the
//! other, at the shortest interval T while the radio is busy. If n segments are missing between two that
//! arrive g apart, the radio has sent them, and lost them, if (n + 1)·T ≤ g < (n + 1 + s)·T, where s is
//! `tcp.predictor_gap_slack`. Were they lost before it, it had nothing to send in their place, and the gap is
//! another one.

use std::collections::VecDeque;

use super::super::TcpParams;
use crate::kernel::{Span, Time};

/// What a receiver knows that guesses.
pub(in super::super) struct Arrivals {
    slack: f64,
    /// The greatest number that has arrived, and when.
    highest: Option<(u32, Time)>,
    /// The shortest time between two segments in sequence.
    shortest: Span,
    /// Segments that the radio is blamed for, as half-open ranges in ascending order.
    blamed: VecDeque<(u32, u32)>,
}

impl Arrivals {
    /// Nothing has arrived.
    pub(in super::super) fn new(params: &TcpParams) -> Arrivals {
        Arrivals {
            slack: params.predictor_gap_slack,
            highest: None,
            shortest: Span(u64::MAX),
            blamed: VecDeque::new(),
        }
    }

    /// A segment arrives. If it leaves a gap: the missing segments, from the first to before the last, and is
    /// the radio blamed for them?
    pub(in super::super) fn handle_data(&mut self, now: Time, number: u32) -> Option<(u32, u32, bool)> {
        let Some((highest, at)) = self.highest else {
            self.highest = Some((number, now));
            return None;
        };
        if number <= highest {
            return None;
        }
        self.highest = Some((number, now));
        let (gap, missing) = (now.since(at), number - highest - 1);
        if missing == 0 {
            self.shortest = self.shortest.min(gap);
            return None;
        }
        let places = gap.0 as f64 / self.shortest.0 as f64;
        let filled = f64::from(missing + 1);
        let is_radio = filled <= places && places < filled + self.slack;
        if is_radio {
            self.blamed.push_back((highest + 1, number));
        }
        Some((highest + 1, number, is_radio))
    }

    /// Is the radio blamed for the loss of `next`, the first segment that has not arrived?
    pub(in super::super) fn blames_radio_for(&mut self, next: u32) -> bool {
        while self.blamed.front().is_some_and(|&(_, end)| end <= next) {
            self.blamed.pop_front();
        }
        self.blamed.front().is_some_and(|&(start, _)| start <= next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These segments arrive at these milliseconds; what is found at the last.
    fn found(arrivals: &[(u32, u64)]) -> (Arrivals, Option<(u32, u32, bool)>) {
        let mut seen = Arrivals::new(&TcpParams::default());
        let judged =
            arrivals.iter().map(|&(number, ms)| seen.handle_data(Time(ms * 1_000_000), number)).last();
        (seen, judged.flatten())
    }

    /// ```text
    /// ms       0   10   20   30   40   50
    /// arrives  1   2              5         two missing in three intervals: the radio sent them
    /// arrives  1   2    5                   they were never there to send
    /// arrives  1   2                   5    as late as one more would be
    /// ```
    #[test]
    fn a_gap_as_long_as_the_missing_segments_is_the_radios() {
        let mut of = |ms| found(&[(1, 0), (2, 10), (5, ms)]).1;
        assert_eq!(
            [39, 40, 49, 50].map(&mut of),
            [false, true, true, false].map(|radio| Some((3, 5, radio)))
        );
        assert_eq!(of(20), Some((3, 5, false)));
    }

    #[test]
    fn the_shortest_interval_is_that_of_segments_in_sequence() {
        // The 5 ms between 3 and the late 2 are no interval.
        let arrivals = [(0, 0), (1, 10), (3, 30), (2, 35), (4, 50)];
        assert_eq!(found(&arrivals).1, None);
        assert_eq!(found(&[&arrivals[..], &[(6, 70)]].concat()).1, Some((5, 6, true)));
    }

    #[test]
    fn a_receiver_that_knows_no_interval_blames_congestion() {
        assert_eq!(found(&[(0, 0), (2, 10)]).1, Some((1, 2, false)));
        assert_eq!(found(&[(7, 10)]).1, None);
    }

    #[test]
    fn only_what_is_missing_and_blamed_is_said_to_be() {
        let (mut seen, judged) = found(&[(0, 0), (1, 10), (3, 15), (4, 25), (7, 55)]);
        assert_eq!(judged, Some((5, 7, true)));
        assert_eq!([2, 5, 6, 8].map(|next| seen.blames_radio_for(next)), [false, true, true, false]);
        assert!(seen.blamed.is_empty());
    }
}
