//! Table 3.4: what a node does with one entry of a received update.
//!
//! **Deviations** (docs/models/adv.md): 1 and 2 (rows 2 and 3), 17 (unlisted cases).

use super::AdvParams;

/// A route as the table sees it: mine, or the received one. An invalid route has no metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) seqno: u32,
    pub(super) metric: Option<u8>,
}

/// What the table says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// Update my entry, a fresh route: count up, and the trigger meter too at a forwarding node at high
    /// speed.
    AdoptFresher,
    /// Update my entry, a route as fresh: count up.
    AdoptShorter,
    /// The neighbour knows as much: count down.
    KnowsAsMuch,
    /// The neighbour knows less, I could help it: count up.
    KnowsLess,
    /// Invalidate my entry: count up, and the trigger meter too at a forwarding node at high speed.
    Invalidate,
    /// Copy the sequence number.
    CopyNumber,
    /// Do nothing. So too in all cases that the table does not list.
    Nothing,
}

impl Decision {
    /// What it adds to the advertisement count.
    pub(super) fn count(self) -> i32 {
        match self {
            Decision::AdoptFresher | Decision::AdoptShorter | Decision::KnowsLess | Decision::Invalidate => 1,
            Decision::KnowsAsMuch => -1,
            Decision::CopyNumber | Decision::Nothing => 0,
        }
    }
}

/// The row of Table 3.4 that applies. `from_next_hop`: is the sender of the update my next hop? The row of a
/// node that hears itself called unreachable is not here: a node has no route to itself.
pub(super) fn decide(mine: View, received: View, from_next_hop: bool, params: &AdvParams) -> Decision {
    match (mine.metric, received.metric) {
        (Some(my_metric), Some(metric)) => both_valid(mine, my_metric, received, metric, params),
        (Some(_), None) if mine.seqno < received.seqno && from_next_hop => Decision::Invalidate,
        (Some(_), None) if mine.seqno > received.seqno => Decision::KnowsLess,
        (None, Some(_)) if mine.seqno < received.seqno => Decision::AdoptFresher,
        (None, None) if mine.seqno < received.seqno => Decision::CopyNumber,
        _ => Decision::Nothing,
    }
}

fn both_valid(mine: View, my_metric: u8, received: View, metric: u8, params: &AdvParams) -> Decision {
    let (my_metric, through_sender) = (u32::from(my_metric), u32::from(metric) + 1);
    // Printed with the sign reversed; section 3.5 speaks of a shorter distance.
    let better =
        if params.literal_metric_rule { my_metric < through_sender } else { my_metric > through_sender };
    if mine.seqno < received.seqno {
        Decision::AdoptFresher
    } else if mine.seqno > received.seqno {
        Decision::KnowsLess
    } else if better {
        Decision::AdoptShorter
    } else if my_metric == through_sender {
        Decision::KnowsAsMuch
    } else if my_metric + 2 < u32::from(metric) {
        Decision::KnowsLess
    } else {
        Decision::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Decision::*;

    fn valid(seqno: u32, metric: u8) -> View {
        View { seqno, metric: Some(metric) }
    }

    fn invalid(seqno: u32) -> View {
        View { seqno, metric: None }
    }

    /// As tuned in 3.5, and as printed.
    fn both(mine: View, received: View, from_next_hop: bool) -> [Decision; 2] {
        let literal = AdvParams { literal_metric_rule: true, ..AdvParams::default() };
        [AdvParams::default(), literal].map(|params| decide(mine, received, from_next_hop, &params))
    }

    #[test]
    fn row_1_both_valid_and_the_received_number_is_higher() {
        for (mine, received) in [(valid(4, 1), valid(6, 9)), (valid(4, 9), valid(6, 1))] {
            assert_eq!(both(mine, received, false), [AdoptFresher; 2]);
            assert_eq!(both(mine, received, true), [AdoptFresher; 2]);
        }
    }

    #[test]
    fn row_2_both_valid_equal_numbers_and_another_distance_through_the_sender() {
        // Mine 4; through the sender 3, 4, 5.
        let through = |metric| both(valid(4, 4), valid(4, metric), false);
        assert_eq!(through(2), [AdoptShorter, Nothing]);
        assert_eq!(through(3), [KnowsAsMuch; 2]);
        assert_eq!(through(4), [Nothing, AdoptShorter]);
    }

    #[test]
    fn row_3_both_valid_equal_numbers_and_the_same_distance_through_the_sender() {
        assert_eq!(both(valid(4, 3), valid(4, 2), false), [KnowsAsMuch; 2]);
        assert_eq!(both(valid(4, 3), valid(4, 2), true), [KnowsAsMuch; 2]);
    }

    #[test]
    fn row_4_both_valid_and_mine_is_fresher_or_more_than_two_hops_shorter() {
        assert_eq!(both(valid(6, 9), valid(4, 1), false), [KnowsLess; 2]);
        let tuned = |metric| both(valid(4, 2), valid(4, metric), false)[0];
        assert_eq!([2, 3, 4, 5, 6].map(tuned), [Nothing, Nothing, Nothing, KnowsLess, KnowsLess]);
    }

    #[test]
    fn row_5_valid_and_invalid_a_higher_number_from_my_next_hop() {
        assert_eq!(both(valid(4, 3), invalid(5), true), [Invalidate; 2]);
        assert_eq!(both(valid(4, 3), invalid(5), false), [Nothing; 2]);
        assert_eq!(both(valid(4, 3), invalid(4), true), [Nothing; 2]);
    }

    #[test]
    fn row_6_valid_and_invalid_my_number_is_higher() {
        assert_eq!(both(valid(6, 3), invalid(5), false), [KnowsLess; 2]);
        assert_eq!(both(valid(6, 3), invalid(5), true), [KnowsLess; 2]);
    }

    #[test]
    fn rows_8_and_9_invalid_and_valid() {
        assert_eq!(both(invalid(5), valid(6, 200), false), [AdoptFresher; 2]);
        assert_eq!(both(invalid(5), valid(4, 1), false), [Nothing; 2]);
        assert_eq!(both(invalid(4), valid(4, 1), false), [Nothing; 2]);
    }

    #[test]
    fn rows_10_and_11_both_invalid() {
        assert_eq!(both(invalid(5), invalid(7), false), [CopyNumber; 2]);
        assert_eq!(both(invalid(7), invalid(5), true), [Nothing; 2]);
        assert_eq!(both(invalid(5), invalid(5), true), [Nothing; 2]);
    }
}
