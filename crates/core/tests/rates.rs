//! 802.11b's rates and preambles over one hop, beside what the standard's numbers say.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::mac::{MacParams, Preamble, RateControl, ResponseRate};
use manetlab_core::mobility::Trajectory;
use manetlab_core::observe::RecordKind;
use manetlab_core::radio::ByRate;
use manetlab_core::scenario::{FlowKind, LinkRate, RoutingKind, Scenario};
use manetlab_core::simulation::run;
use manetlab_core::wire::NodeId;
use manetlab_core::wire::mac::FrameKind;

use common::{chain, flow};

const RUN_S: f64 = 10.0;
const SLOT_S: f64 = 20e-6;
/// A backoff is uniform over 0 to 31 slots.
const BACKOFFS: f64 = 32.0;

/// One sender that always has a packet for its neighbour.
fn one_hop(payload: u32, mac: MacParams) -> Scenario {
    let kind = FlowKind::Cbr { bytes: payload, interval_s: 2e-4, random: false, max_packets: None };
    let mut scenario = Scenario { warmup_s: 1.0, ..chain(1, vec![flow(0, 1, 0.0, kind)], RUN_S + 1.0) };
    // One metre: what propagation takes is not in the closed form.
    scenario.movement[1] = Trajectory::fixed(1.0, 0.0);
    scenario.params.mac = mac;
    scenario
}

fn frame_us(bytes: u32, mbps: f64, preamble: Preamble) -> f64 {
    let plcp_us = if preamble == Preamble::Short && mbps > 1.0 { 96.0 } else { 192.0 };
    plcp_us + f64::from(8 * bytes) / mbps
}

/// The mean length of an exchange in s: DIFS, half of the largest backoff, data, SIFS and an ACK at 1 or 2
/// Mb/s. The frame has 28 bytes of MAC header and FCS, 8 of LLC and SNAP, 28 of IP and UDP.
fn exchange_s(payload: u32, mbps: f64, preamble: Preamble) -> f64 {
    let ack_us = frame_us(14, mbps.min(2.0), preamble);
    (50.0 + 15.5 * 20.0 + frame_us(payload + 64, mbps, preamble) + 10.0 + ack_us) * 1e-6
}

fn basic(data_rate_bps: f64) -> MacParams {
    MacParams { data_rate_bps, response_rate: ResponseRate::Basic, ..MacParams::default() }
}

/// The goodput of the only flow, in bit/s.
fn goodput_bps(scenario: &Scenario) -> f64 {
    run(scenario, false).expect("the scenario runs").result.totals.cbr_throughput_bps.expect("CBR")
}

fn check_goodput(scenario: &Scenario, payload: u32, mean_s: f64, what: &str) {
    let off = goodput_bps(scenario) * mean_s / f64::from(8 * payload) - 1.0;
    assert!(off.abs() < tolerance(mean_s), "{what}, {payload} B: {off:+.5}");
}

/// Four standard deviations of the number of exchanges in a run, relative to its mean, and one exchange that
/// the ends of the run cut: exchanges are a renewal process whose only random part is the backoff.
fn tolerance(exchange_s: f64) -> f64 {
    let deviation_s = SLOT_S * ((BACKOFFS * BACKOFFS - 1.0) / 12.0).sqrt();
    let exchanges = RUN_S / exchange_s;
    4.0 * deviation_s / exchange_s / exchanges.sqrt() + 1.0 / exchanges
}

#[test]
fn goodput_over_one_hop_is_the_closed_form_at_each_rate_size_and_preamble() {
    for preamble in [Preamble::Long, Preamble::Short] {
        for mbps in [1.0, 2.0, 5.5, 11.0] {
            if mbps < 2.0 && preamble == Preamble::Short {
                continue;
            }
            for payload in [64, 600, 1460] {
                let scenario = one_hop(payload, MacParams { preamble, ..basic(mbps * 1e6) });
                let mean_s = exchange_s(payload, mbps, preamble);
                check_goodput(&scenario, payload, mean_s, &format!("{preamble:?} at {mbps} Mb/s"));
            }
        }
    }
}

#[test]
fn a_link_has_the_rate_of_its_own_before_that_of_its_node_and_of_all() {
    let own = |dst, rate_bps| LinkRate { src: 0, dst, rate_bps };
    for (rates, mbps) in [
        (vec![own(None, 5.5e6)], 5.5),
        (vec![own(Some(1), 11e6), own(None, 5.5e6)], 11.0),
        (vec![own(None, 5.5e6), own(Some(1), 11e6)], 11.0),
        (vec![LinkRate { src: 1, dst: None, rate_bps: 11e6 }], 2.0),
    ] {
        let what = format!("{rates:?}");
        let scenario = Scenario { rates, ..one_hop(600, basic(2e6)) };
        check_goodput(&scenario, 600, exchange_s(600, mbps, Preamble::Long), &what);
    }
}

fn on_the_ladder(distance_m: f64, mac: MacParams) -> Scenario {
    let mut scenario = one_hop(600, mac);
    scenario.movement[1] = Trajectory::fixed(distance_m, 0.0);
    scenario.params.radio.ranges = ByRate::Ladder;
    scenario
}

/// AODV's request is a broadcast at 1 Mb/s and arrives; its reply has the data rate. Beyond that rate's
/// range the two know of each other, and nothing gets through: the grey zone.
#[test]
fn neighbours_known_by_broadcast_may_be_out_of_the_reach_of_data() {
    for (mbps, range_m) in [(1.0, 297.1), (2.0, 250.0), (5.5, 198.6), (11.0, 148.9)] {
        for (distance_m, arrives) in [(range_m - 0.5, true), (range_m + 0.5, false)] {
            let mut scenario = on_the_ladder(distance_m, basic(mbps * 1e6));
            scenario.routing = RoutingKind::Aodv;
            scenario.params.arp.enabled = false;
            scenario.flows[0].kind =
                FlowKind::Cbr { bytes: 600, interval_s: 0.25, random: false, max_packets: None };
            let outcome = run(&scenario, true).expect("the scenario runs");
            let delivery = outcome.result.totals.cbr_delivery_fraction;
            assert_eq!(delivery, Some(if arrives { 1.0 } else { 0.0 }), "{mbps} Mb/s over {distance_m} m");
            let recording = outcome.recording.expect("it was asked for");
            let answers = recording.records().iter().any(|record| {
                let is_unicast =
                    |kind: &RecordKind| matches!(kind, RecordKind::Frame { kind: FrameKind::Data, to, .. } if *to == NodeId(0));
                record.node == NodeId(1) && is_unicast(&record.kind)
            });
            assert_eq!(answers, distance_m < 297.0, "{mbps} Mb/s over {distance_m} m");
        }
    }
}

/// At 180 m 5.5 Mb/s arrives and 11 Mb/s does not. ARF then repeats: ten ACKs, and a frame at 11 Mb/s that is
/// sent again at 5.5 Mb/s from the doubled window. AARF, once it has learnt, waits for fifty ACKs.
#[test]
fn rate_control_finds_the_rate_of_the_distance_and_costs_its_probes() {
    let (payload, preamble) = (600, Preamble::Long);
    let exchange_s = exchange_s(payload, 5.5, preamble);
    // DIFS, a backoff and the frame, and no ACK within the time that it would take and twice 2 µs.
    let ack_us = 10.0 + frame_us(14, 2.0, preamble) + 4.0;
    let probe_s = (50.0 + 310.0 + frame_us(payload + 64, 11.0, preamble) + ack_us) * 1e-6;
    let longer_backoff_s = 16.0 * SLOT_S;
    for (rate_control, acks) in [(RateControl::Arf, 10.0), (RateControl::Aarf, 50.0)] {
        let mac = MacParams { rate_control, ..basic(1e6) };
        let mut scenario = on_the_ladder(180.0, mac);
        scenario.warmup_s = 2.0;
        scenario.duration_s = RUN_S + 2.0;
        let mean_s = exchange_s + (probe_s + longer_backoff_s) / acks;
        check_goodput(&scenario, payload, mean_s, &format!("{rate_control:?}"));
    }
}
