//! Packets do not go in circles in whole networks either: the global loop detector over random mobile
//! networks.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::kernel::{Span, Streams};
use manetlab_core::mobility::waypoint::{self, WaypointParams};
use manetlab_core::observe::returns::{returns, steps};
use manetlab_core::profile::profile;
use manetlab_core::scenario::{FlowKind, Params, RoutingKind, Scenario};
use manetlab_core::simulation::run;

use common::{chain, flow};

/// Twenty-five nodes in a field in which routes break all the time, with six CBR flows.
fn network(routing: RoutingKind, params: Params, seed: u64) -> Scenario {
    const DURATION_S: f64 = 60.0;
    let field = WaypointParams { nodes: 25, width_m: 1100.0, height_m: 500.0, ..WaypointParams::default() };
    let movement = waypoint::generate(&field, Span::from_secs(DURATION_S), &Streams::new(seed, 0));
    let cbr = |src: u32| {
        let kind = FlowKind::Cbr { bytes: 512, interval_s: 0.2, random: false, max_packets: None };
        flow(src, src + 12, 1.0 + f64::from(src), kind)
    };
    let movement = movement.expect("a usable field");
    Scenario { seed, routing, params, movement, ..chain(0, (0..6).map(cbr).collect(), DURATION_S) }
}

/// How long a packet may be away from a node to which it comes back, by the protocol's own constants, in s.
fn bound_s(routing: RoutingKind, params: &Params) -> f64 {
    match routing {
        RoutingKind::Aodv if params.aodv.local_repair => params.aodv.buffer_timeout_s,
        // NET_TRAVERSAL_TIME: what waits on the way waits in interface queues.
        RoutingKind::Aodv => 2.0 * params.aodv.node_traversal_ms * 1e-3 * f64::from(params.aodv.net_diameter),
        // What has no route waits at any node until an update brings one.
        RoutingKind::Dsdv => f64::from(params.dsdv.missed_updates) * params.dsdv.update_interval_s,
        // TSR holds packets in the buffer of DSR.
        RoutingKind::Dsr | RoutingKind::Tsr => params.dsr.buffer_timeout_s,
        RoutingKind::Adv => params.adv.other_buffer_timeout_s,
        // Nodes that know different topologies send packets around until their time to live ends.
        // So do nodes that count to infinity, and those that have not heard of a reversal yet.
        RoutingKind::Olsr | RoutingKind::Batman | RoutingKind::Rip | RoutingKind::Tora => {
            64.0 * params.aodv.node_traversal_ms * 1e-3
        }
        _ => 0.0,
    }
}

#[test]
fn no_packet_visits_a_node_twice_for_longer_than_its_protocols_bound() {
    for &routing in RoutingKind::ALL {
        let base = profile("rfc").expect("the profile exists");
        let named = Params::routing_sets(routing)
            .iter()
            .map(|&set| (set, base.clone().with_routing_set(routing, set).expect("a listed set")));
        for (set, params) in std::iter::once(("as it is", base.clone())).chain(named) {
            for seed in 1..=3 {
                let outcome = run(&network(routing, params.clone(), seed), true).expect("the books balance");
                let steps = steps(&outcome.recording.expect("asked for"));
                // Flooding sends nothing to one neighbour.
                let carries = steps.len() > 500 || routing == RoutingKind::Flooding;
                assert!(carries, "{routing:?} {set}: the network carries packets");
                let away = returns(&steps).iter().map(|back| back.away().as_secs()).fold(0.0, f64::max);
                let bound = bound_s(routing, &params);
                assert!(
                    away <= bound,
                    "{routing:?} {set}, seed {seed}: {away} s, and the bound is {bound} s"
                );
            }
        }
    }
}
