//! 802.11b's rates and preambles over one hop, beside what the standard's numbers say.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::mac::{MacParams, Preamble, ResponseRate};
use manetlab_core::mobility::Trajectory;
use manetlab_core::network::run;
use manetlab_core::scenario::{Flow, FlowKind, Scenario};

use common::chain;

const RUN_S: f64 = 10.0;
const SLOT_S: f64 = 20e-6;
/// A backoff is uniform over 0 to 31 slots.
const BACKOFFS: f64 = 32.0;

/// One sender that always has a packet for its neighbour.
fn one_hop(payload: u32, mac: MacParams) -> Scenario {
    let kind = FlowKind::Cbr { bytes: payload, interval_s: 2e-4, random: false, max_packets: None };
    let flow = Flow { src: 0, dst: 1, start_s: 0.0, stop_s: None, throttle_bps: None, kind };
    let mut scenario = Scenario { warmup_s: 1.0, ..chain(1, vec![flow], RUN_S + 1.0) };
    // One metre: what propagation takes is not in the closed form.
    scenario.movement[1] = Trajectory::fixed(1.0, 0.0);
    scenario.params.mac = mac;
    scenario
}

/// The mean length of an exchange in s: DIFS, half of the largest backoff, data, SIFS and an ACK at 1 or 2
/// Mb/s. The frame has 28 bytes of MAC header and FCS, 8 of LLC and SNAP, 28 of IP and UDP.
fn exchange_s(payload: u32, mbps: f64, preamble: Preamble) -> f64 {
    let plcp_us = |mbps: f64| if preamble == Preamble::Short && mbps > 1.0 { 96.0 } else { 192.0 };
    let frame_us = |bytes: u32, mbps: f64| plcp_us(mbps) + f64::from(8 * bytes) / mbps;
    let ack_us = frame_us(14, mbps.min(2.0));
    (50.0 + 15.5 * 20.0 + frame_us(payload + 64, mbps) + 10.0 + ack_us) * 1e-6
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
                let (data_rate_bps, response_rate) = (mbps * 1e6, ResponseRate::Basic);
                let mac = MacParams { data_rate_bps, response_rate, preamble, ..MacParams::default() };
                let found = run(&one_hop(payload, mac), false).expect("the scenario runs").result;
                let exchange_s = exchange_s(payload, mbps, preamble);
                let off = found.totals.cbr_throughput_bps * exchange_s / f64::from(8 * payload) - 1.0;
                assert!(off.abs() < tolerance(exchange_s), "{preamble:?} {mbps} Mb/s {payload} B: {off:+.5}");
            }
        }
    }
}
