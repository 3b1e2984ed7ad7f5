//! What the movement alone says of a scenario's flows.

use super::Scenario;
use crate::kernel::{Span, Time};
use crate::topology::{HopTimes, LinkRule, PathMeasures, Query, hop_times};

/// How far ahead links are looked for; it decides about the work only.
const STEP: Span = Span::from_millis(1000);

impl Scenario {
    /// The measures of each flow's shortest path in the window, nothing if they are not wanted; none if
    /// `go_on` says no.
    pub(crate) fn paths_of_flows(&self, go_on: &mut dyn FnMut() -> bool) -> Option<Vec<PathMeasures>> {
        if !self.params.network.measure_path_hops {
            return Some(Vec::new());
        }
        let pairs: Vec<(u32, u32)> = self.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
        let window = (Time::from_secs(self.warmup_s), Time::from_secs(self.duration_s));
        Some(self.hop_times(&pairs, window, go_on)?.iter().map(HopTimes::measures).collect())
    }

    /// When the ends of a flow have no path to each other, from and to, in order, as the movement alone says.
    pub(crate) fn breaks(&self, (src, dst): (u32, u32)) -> Vec<(Time, Time)> {
        let window = (Time::ZERO, Time::from_secs(self.duration_s));
        let times = self.hop_times(&[(src, dst)], window, &mut || true).unwrap_or_default();
        let gaps = times.iter().flat_map(HopTimes::gaps_s);
        gaps.map(|&(from_s, to_s)| (Time::from_secs(from_s), Time::from_secs(to_s))).collect()
    }

    fn hop_times(
        &self,
        pairs: &[(u32, u32)],
        window: (Time, Time),
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<HopTimes>> {
        let links = self.links();
        let query = Query {
            movement: &self.movement,
            range_m: self.params.link_range_m(),
            rule: links.as_ref().map(|links| links as &dyn LinkRule),
            window,
            step: STEP,
            pairs,
        };
        hop_times(&query, go_on)
    }
}
