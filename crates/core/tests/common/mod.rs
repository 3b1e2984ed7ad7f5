//! What several tests of whole runs begin with.

use manetlab_core::mobility::Trajectory;
use manetlab_core::profile::profile;
use manetlab_core::scenario::{Flow, FlowKind, Params, RoutingKind, Scenario};

/// The profile `rfc`, in which flows, requests and answers wait for no random time: these tests say to the
/// millisecond what happens when.
fn punctual() -> Params {
    let mut params = profile("rfc").expect("the profile exists");
    params.network.start_jitter_ms = 0.0;
    params.arp.request_jitter_ms = 0.0;
    params.aodv.unicast_jitter_ms = 0.0;
    params
}

/// Nodes that stand 200 m apart in a line, with fixed routes.
pub(crate) fn chain(hops: u32, flows: Vec<Flow>, duration_s: f64) -> Scenario {
    Scenario {
        duration_s,
        warmup_s: 0.0,
        seed: 1,
        replication: 0,
        routing: RoutingKind::Static,
        params: punctual(),
        flows,
        rates: Vec::new(),
        radios: Vec::new(),
        walls: Vec::new(),
        energy: None,
        wired: Vec::new(),
        movement: (0..=hops).map(|i| Trajectory::fixed(200.0 * f64::from(i), 0.0)).collect(),
    }
}

/// A flow to the end of the run that nobody throttles.
pub(crate) fn flow(src: u32, dst: u32, start_s: f64, kind: FlowKind) -> Flow {
    Flow {
        src,
        dst,
        start_s,
        stop_s: None,
        late_after_s: None,
        deadline_ms: None,
        throttle_bps: None,
        alone_bps: None,
        oracle_bps: None,
        reserve_bps: None,
        reserve_min_bps: None,
        kind,
    }
}
