//! Table 3.4: what a node does with one entry of a received update.

use super::AdvParams;

/// A route as the table sees it: mine, or the received one. An invalid route has no metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) seqno: u32,
    pub(super) metric: Option<u8>,
}

/// What the table says. All but the last raise or lower the advertisement count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// Update my entry, a fresh route: count up, and the trigger meter too at a forwarding node at high speed.
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

/// The row of Table 3.4 that applies. `from_next_hop`: is the sender of the update my next hop? The row of a node that
/// hears itself called unreachable is not here: a node has no route to itself.
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
