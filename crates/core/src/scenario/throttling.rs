//! What a scenario says of the rates at which sources may send.

use super::Scenario;
use crate::kernel::Time;
use crate::stage::{OwnFlow, Rates, ThrottleMode, ThrottleParams};
use crate::wire::{FlowId, NodeId};

impl Scenario {
    /// The flows that begin at a node and are throttled, with what is known of their rates.
    pub(crate) fn own_flows(&self, node: u32) -> Vec<OwnFlow> {
        let ThrottleParams { mode, rate_bps, .. } = self.params.throttle;
        let common = (mode == ThrottleMode::Preset && rate_bps > 0.0).then(|| vec![(Time::ZERO, rate_bps)]);
        let flows = (0..).map(FlowId).zip(&self.flows).filter(|(_, flow)| flow.src == node);
        flows
            .filter_map(|(id, flow)| {
                let rates = flow.throttle_bps.as_deref().map(timed).or_else(|| common.clone());
                let alone_bps = flow.alone_bps.clone().filter(|_| mode == ThrottleMode::Density);
                let alone_bps = alone_bps.unwrap_or_default();
                let is_throttled = rates.is_some() || !alone_bps.is_empty();
                is_throttled.then_some(OwnFlow { flow: id, dst: NodeId(flow.dst), rates, alone_bps })
            })
            .collect()
    }
}

/// Rates as a scenario says them, seconds and bit/s.
pub(crate) fn timed(given: &[(f64, f64)]) -> Rates {
    given.iter().map(|&(from_s, bps)| (Time::from_secs(from_s), bps)).collect()
}
