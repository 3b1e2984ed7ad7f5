//! What ends a run.

use super::{Network, Options, RunError};
use crate::mobility::Trajectory;
use crate::profile::profile;
use crate::scenario::{Flow, FlowKind, RoutingKind, Scenario};
use crate::wire::adp::Segment;
use crate::wire::{FlowId, NodeId, Packet, Payload};

/// An ADP packet reaches a CBR flow: the run ends at that instant, and says where and why.
#[test]
fn a_broken_invariant_ends_the_run() {
    let kind = FlowKind::Cbr { bytes: 512, interval_s: 0.25, random: false, max_packets: None };
    let scenario = Scenario {
        duration_s: 10.0,
        warmup_s: 0.0,
        seed: 1,
        replication: 0,
        routing: RoutingKind::Static,
        params: profile("rfc").expect("the profile exists"),
        flows: vec![Flow { src: 0, dst: 1, start_s: 1.0, stop_s: None, throttle_bps: None, kind }],
        rates: Vec::new(),
        movement: vec![Trajectory::fixed(0.0, 0.0), Trajectory::fixed(100.0, 0.0)],
    };
    let mut network = Network::new(&scenario, Options::default(), None);
    let ack = Segment::Ack { number: 0, count: 1, echo: network.now, vector: 0 };
    let payload = Payload::Adp(FlowId(0), ack, None);
    let mut packet = Packet::control(network.now, NodeId(0), NodeId(1), 64, 36, payload);
    packet.uid = network.audit.make(Some(FlowId(0)));
    network.deliver(1, &packet);
    let what = "a CBR flow gets a packet that is not its own";
    let wanted = RunError::Broken { what, node: 0, at_s: 0.0 };
    assert_eq!(network.run_to_end(&mut || true), Err(wanted.clone()));
    assert_eq!(wanted.to_string(), format!("at 0 s, node 0: {what}"));
}
