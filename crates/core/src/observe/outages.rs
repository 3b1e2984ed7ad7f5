//! What a TCP flow goes through when its route breaks: how long routing takes to have one again, how long
//! nothing new arrives, how often the timer expires in a row. Definitions stand in docs/metrics.md.
//!
//! All cover the whole run: an outage that the end of the warm-up cuts in two would be two shorter ones.

use std::collections::BTreeMap;

use crate::kernel::{Span, Time};
use crate::routing::Notice;
use crate::wire::{FlowId, NodeId};

use super::RepairSample;

/// The outages of all TCP flows.
#[derive(Default)]
pub struct Outages {
    /// The flows between two nodes, by source and destination.
    by_ends: BTreeMap<(NodeId, NodeId), Vec<FlowId>>,
    flows: BTreeMap<FlowId, Outage>,
    /// Every repair in order of time, if the time series are wanted.
    kept: Option<Vec<RepairSample>>,
}

/// The outages of one flow.
#[derive(Clone, Debug)]
pub struct Outage {
    broken_since: Option<Time>,
    repairs: u64,
    repair_sum: Span,
    repair_longest: Span,
    last_progress: Time,
    longest_gap: Span,
    timeouts_now: u64,
    timeouts_most: u64,
    backoffs: u64,
}

impl Outages {
    /// No flows yet. `keep` asks for every repair, beside the sums.
    pub fn new(keep: bool) -> Outages {
        Outages { kept: keep.then(Vec::new), ..Outages::default() }
    }

    /// Every repair in order of time; none if they were not asked for.
    pub fn all_repairs(&self) -> impl Iterator<Item = RepairSample> + '_ {
        self.kept.iter().flatten().copied()
    }

    /// A TCP flow that starts at `start`.
    pub fn add(&mut self, flow: FlowId, src: NodeId, dst: NodeId, start: Time) {
        self.by_ends.entry((src, dst)).or_default().push(flow);
        let outage = Outage {
            broken_since: None,
            repairs: 0,
            repair_sum: Span::ZERO,
            repair_longest: Span::ZERO,
            last_progress: start,
            longest_gap: Span::ZERO,
            timeouts_now: 0,
            timeouts_most: 0,
            backoffs: 0,
        };
        self.flows.insert(flow, outage);
    }

    /// Routing at `node` told the other layers.
    pub fn noticed(&mut self, now: Time, node: NodeId, notice: Notice) {
        for flow in self.by_ends.get(&(node, notice.dst())).into_iter().flatten() {
            let Some(outage) = self.flows.get_mut(flow) else { continue };
            match notice {
                Notice::RouteFailed { .. } => {
                    outage.broken_since.get_or_insert(now);
                }
                Notice::RouteFound { .. } => {
                    if let (Some(lasted), Some(kept)) = (outage.repaired(now), &mut self.kept) {
                        kept.push(RepairSample { at: now, flow: flow.0, lasted_s: lasted.as_secs() });
                    }
                }
                Notice::Hold { .. } => {}
            }
        }
    }

    /// New data reached the receiver in order.
    pub fn progressed(&mut self, now: Time, flow: FlowId) {
        if let Some(outage) = self.flows.get_mut(&flow) {
            outage.longest_gap = outage.longest_gap.max(now.since(outage.last_progress));
            outage.last_progress = now;
        }
    }

    /// The sender's retransmission timer expired, in the window or before.
    pub fn timed_out(&mut self, flow: FlowId, in_window: bool) {
        if let Some(outage) = self.flows.get_mut(&flow) {
            outage.backoffs += u64::from(in_window && outage.timeouts_now > 0);
            outage.timeouts_now += 1;
            outage.timeouts_most = outage.timeouts_most.max(outage.timeouts_now);
        }
    }

    /// An acknowledgement of new data reached the sender.
    pub fn acknowledged(&mut self, flow: FlowId) {
        if let Some(outage) = self.flows.get_mut(&flow) {
            outage.timeouts_now = 0;
        }
    }

    /// The outages of a flow.
    pub fn of(&self, flow: FlowId) -> Option<&Outage> {
        self.flows.get(&flow)
    }
}

impl Outage {
    /// There is a route; returns how long there was none, if it had broken.
    fn repaired(&mut self, now: Time) -> Option<Span> {
        let lasted = now.since(self.broken_since.take()?);
        self.repairs += 1;
        self.repair_sum = self.repair_sum + lasted;
        self.repair_longest = self.repair_longest.max(lasted);
        Some(lasted)
    }

    /// Routes that broke and were there again.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// Mean time that a repair took, s.
    pub fn repair_mean_s(&self) -> Option<f64> {
        (self.repairs > 0).then(|| self.repair_sum.as_secs() / self.repairs as f64)
    }

    /// The longest of them, s.
    pub fn repair_max_s(&self) -> Option<f64> {
        (self.repairs > 0).then(|| self.repair_longest.as_secs())
    }

    /// The longest time without new data from the flow's start to `end`, or to that of its connection.
    pub fn longest_gap(&self, end: Time, has_ended: bool) -> Span {
        let open =
            if has_ended || end < self.last_progress { Span::ZERO } else { end.since(self.last_progress) };
        self.longest_gap.max(open)
    }

    /// Timeouts in the window that followed another without an acknowledgement of new data in between.
    pub fn backoffs(&self) -> u64 {
        self.backoffs
    }

    /// Most timeouts without an acknowledgement of new data in between.
    pub fn timeouts_in_row(&self) -> u64 {
        self.timeouts_most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId(3);
    const ENDS: (NodeId, NodeId) = (NodeId(1), NodeId(2));
    const FAILED: Notice = Notice::RouteFailed { dst: ENDS.1, told: true };
    const FOUND: Notice = Notice::RouteFound { dst: ENDS.1 };

    fn at(seconds: u64) -> Time {
        Time::from_secs(seconds as f64)
    }

    fn outages() -> Outages {
        let mut outages = Outages::default();
        outages.add(FLOW, ENDS.0, ENDS.1, at(10));
        outages
    }

    #[test]
    fn a_repair_lasts_from_the_first_failure_until_there_is_a_route() {
        let mut outages = outages();
        for (time, notice) in
            [(20, FAILED), (22, FAILED), (25, FOUND), (26, FOUND), (30, FAILED), (31, FOUND)]
        {
            outages.noticed(at(time), ENDS.0, notice);
        }
        let flow = outages.of(FLOW).expect("the flow is known");
        assert_eq!((flow.repairs(), flow.repair_mean_s(), flow.repair_max_s()), (2, Some(3.0), Some(5.0)));
    }

    #[test]
    fn every_repair_is_kept_if_it_is_asked_for() {
        let mut outages = Outages::new(true);
        outages.add(FLOW, ENDS.0, ENDS.1, at(10));
        for (time, notice) in
            [(20, FAILED), (25, FOUND), (26, FOUND), (30, FAILED), (31, FOUND), (40, FAILED)]
        {
            outages.noticed(at(time), ENDS.0, notice);
        }
        let kept: Vec<(u32, Time, f64)> =
            outages.all_repairs().map(|repair| (repair.flow, repair.at, repair.lasted_s)).collect();
        assert_eq!(kept, [(3, at(25), 5.0), (3, at(31), 1.0)]);
    }

    #[test]
    fn an_outage_that_lasts_to_the_end_is_no_repair() {
        let mut outages = outages();
        outages.noticed(at(20), ENDS.0, FAILED);
        assert_eq!(outages.of(FLOW).expect("the flow is known").repair_mean_s(), None);
    }

    #[test]
    fn notices_at_other_nodes_and_of_other_destinations_do_not_count() {
        let mut outages = outages();
        outages.noticed(at(20), ENDS.1, FAILED);
        outages.noticed(at(20), ENDS.0, Notice::RouteFailed { dst: NodeId(7), told: false });
        outages.noticed(at(25), ENDS.0, FOUND);
        assert_eq!(outages.of(FLOW).expect("the flow is known").repairs(), 0);
    }

    #[test]
    fn a_gap_may_stand_at_the_start_in_between_and_at_the_end() {
        let mut outages = outages();
        for time in [14, 15, 22] {
            outages.progressed(at(time), FLOW);
        }
        let flow = outages.of(FLOW).expect("the flow is known");
        assert_eq!(flow.longest_gap(at(24), false), Span::from_secs(7.0));
        assert_eq!(flow.longest_gap(at(40), false), Span::from_secs(18.0));
        assert_eq!(flow.longest_gap(at(40), true), Span::from_secs(7.0));
    }

    #[test]
    fn a_flow_that_never_began_has_no_gap() {
        assert_eq!(
            outages().of(FLOW).expect("the flow is known").longest_gap(at(5), false),
            Span::from_secs(0.0)
        );
    }

    #[test]
    fn timeouts_count_in_a_row_until_new_data_is_acknowledged() {
        let mut outages = outages();
        for _ in 0..3 {
            outages.timed_out(FLOW, true);
        }
        outages.acknowledged(FLOW);
        outages.timed_out(FLOW, true);
        let flow = outages.of(FLOW).expect("the flow is known");
        assert_eq!((flow.timeouts_in_row(), flow.backoffs()), (3, 2));
    }

    #[test]
    fn a_backoff_in_the_window_may_follow_a_timeout_before_it() {
        let mut outages = outages();
        for in_window in [false, false, true] {
            outages.timed_out(FLOW, in_window);
        }
        assert_eq!(outages.of(FLOW).expect("the flow is known").backoffs(), 1);
    }
}
