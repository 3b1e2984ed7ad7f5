//! Wired links in whole runs: beside their closed form, and before a hop of the radio.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::mobility::Trajectory;
use manetlab_core::network::run;
use manetlab_core::observe::{FlowMeasures, RunResult};
use manetlab_core::scenario::{Flow, FlowKind, Scenario, WiredLink};

use common::chain;

fn flow(src: u32, dst: u32, kind: FlowKind) -> Flow {
    Flow { src, dst, start_s: 0.0, stop_s: None, throttle_bps: None, alone_bps: None, oracle_bps: None, kind }
}

fn cbr(bytes: u32, interval_s: f64) -> FlowKind {
    FlowKind::Cbr { bytes, interval_s, random: false, max_packets: None }
}

fn link(a: u32, b: u32) -> WiredLink {
    WiredLink { nodes: [a, b], rate_bps: 1e6, delay_s: 0.005, queue_packets: 20 }
}

/// A host on the wire far from a base station, which has a mobile node 100 m from it.
fn behind_a_base_station(flows: Vec<Flow>, duration_s: f64) -> Scenario {
    let movement = [-50_000.0, 0.0, 100.0].map(|x| Trajectory::fixed(x, 0.0)).to_vec();
    Scenario { movement, wired: vec![link(0, 1)], ..chain(2, flows, duration_s) }
}

fn result(scenario: &Scenario) -> RunResult {
    run(scenario, false).expect("the scenario runs, and its books balance").result
}

/// A packet of 972 bytes and 28 of IP and UDP takes 8 ms at 1 Mb/s, and 5 ms to the other end.
#[test]
fn a_packet_takes_what_rate_and_delay_say() {
    let scenario = behind_a_base_station(vec![flow(0, 1, cbr(972, 0.1))], 10.0);
    let totals = result(&scenario).totals;
    assert_eq!(totals.cbr_delivery_fraction, Some(1.0));
    for latency_s in [totals.cbr_latency_mean_s, totals.cbr_latency_p99_s] {
        assert!((latency_s.expect("packets arrived") - 0.013).abs() < 1e-9, "{latency_s:?}");
    }
    assert_eq!(totals.mac_frames_per_s.to_bits(), 0.0f64.to_bits(), "nothing goes over the radio");
}

/// At 1.25 times the rate a fifth of the packets finds the queue full; the others have waited for 20 before
/// them, but for those that came before it was.
#[test]
fn an_overloaded_wire_carries_its_rate() {
    let scenario = behind_a_base_station(vec![flow(0, 1, cbr(972, 0.0064))], 100.0);
    let measured = result(&Scenario { warmup_s: 10.0, ..scenario });
    let packets = measured.totals.cbr_throughput_bps * 90.0 / (8.0 * 972.0);
    assert!((packets - 90.0 / 0.008).abs() <= 1.0, "{packets}");
    let latency_s = measured.totals.cbr_latency_p50_s.expect("packets arrived");
    assert!((0.013 + 19.0 * 0.008..=0.013 + 20.0 * 0.008).contains(&latency_s), "{latency_s}");
    assert!(measured.drops.iter().all(|drop| drop.reason.name() == "queue-full"), "{:?}", measured.drops);
}

#[test]
fn the_two_directions_do_not_disturb_each_other() {
    let both = vec![flow(0, 1, cbr(972, 0.008)), flow(1, 0, cbr(972, 0.008))];
    let totals = result(&behind_a_base_station(both, 10.0)).totals;
    let latency_s = totals.cbr_latency_p99_s.expect("packets arrived");
    assert!((latency_s - 0.013).abs() < 1e-9, "{latency_s}");
}

#[test]
fn routes_go_over_the_wire_and_the_radio() {
    let tcp = FlowKind::Tcp { bytes: Some(200_000), window: None, segment_bytes: None };
    let measured = result(&behind_a_base_station(vec![flow(0, 2, tcp)], 20.0));
    assert_eq!(measured.totals.hops_mean, Some(2.0));
    let FlowMeasures::Tcp(tcp) = &measured.flows[0].measures else { panic!("it is TCP") };
    assert_eq!(tcp.delivered_bytes, 200_000);
    assert!(tcp.completed_s.is_some_and(|end_s| end_s > 1.6), "the wire alone takes 1.6 s");
}

/// Two nodes that hear each other use the wire between them, and a run ends with packets on it.
#[test]
fn a_wire_comes_before_the_radio() {
    let mut scenario = chain(1, vec![flow(0, 1, cbr(972, 0.01))], 0.1015);
    scenario.wired = vec![link(1, 0)];
    let measured = result(&scenario);
    assert_eq!(measured.audit.data.in_flight, 2, "those made at 90 and 100 ms");
    assert_eq!(measured.audit.data.delivered, 9);
}
