//! Wired links in whole runs: beside their closed form, and before a hop of the radio.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::mobility::Trajectory;
use manetlab_core::observe::{FlowMeasures, RunResult, TcpMeasures};
use manetlab_core::scenario::{Flow, FlowKind, Scenario, WiredLink};
use manetlab_core::simulation::run;
use manetlab_core::transport::tcp::BaseStationMode;

use common::{chain, flow};

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
    let scenario = behind_a_base_station(vec![flow(0, 1, 0.0, cbr(972, 0.1))], 10.0);
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
    let scenario = behind_a_base_station(vec![flow(0, 1, 0.0, cbr(972, 0.0064))], 100.0);
    let measured = result(&Scenario { warmup_s: 10.0, ..scenario });
    let packets = measured.totals.cbr_throughput_bps.expect("CBR") * 90.0 / (8.0 * 972.0);
    assert!((packets - 90.0 / 0.008).abs() <= 1.0, "{packets}");
    let latency_s = measured.totals.cbr_latency_p50_s.expect("packets arrived");
    assert!((0.013 + 19.0 * 0.008..=0.013 + 20.0 * 0.008).contains(&latency_s), "{latency_s}");
    assert!(measured.drops.iter().all(|drop| drop.reason.name() == "queue-full"), "{:?}", measured.drops);
}

#[test]
fn the_two_directions_do_not_disturb_each_other() {
    let both = vec![flow(0, 1, 0.0, cbr(972, 0.008)), flow(1, 0, 0.0, cbr(972, 0.008))];
    let totals = result(&behind_a_base_station(both, 10.0)).totals;
    let latency_s = totals.cbr_latency_p99_s.expect("packets arrived");
    assert!((latency_s - 0.013).abs() < 1e-9, "{latency_s}");
}

#[test]
fn routes_go_over_the_wire_and_the_radio() {
    let tcp = FlowKind::Tcp { bytes: Some(200_000), window: None, segment_bytes: None };
    let measured = result(&behind_a_base_station(vec![flow(0, 2, 0.0, tcp)], 20.0));
    assert_eq!(measured.totals.hops_mean, Some(2.0));
    let FlowMeasures::Tcp(tcp) = &measured.flows[0].measures else { panic!("it is TCP") };
    assert_eq!(tcp.delivered_bytes, 200_000);
    assert!(tcp.completed_s.is_some_and(|end_s| end_s > 1.6), "the wire alone takes 1.6 s");
}

/// Two nodes that hear each other use the wire between them, and a run ends with packets on it.
#[test]
fn a_wire_comes_before_the_radio() {
    let mut scenario = chain(1, vec![flow(0, 1, 0.0, cbr(972, 0.01))], 0.1015);
    scenario.wired = vec![link(1, 0)];
    let measured = result(&scenario);
    assert_eq!(measured.audit.data.in_flight, 2, "those made at 90 and 100 ms");
    assert_eq!(measured.audit.data.delivered, 9);
}

/// An endless transfer over 50 ms of wire and a radio that loses 2.3 % of its segments and never repeats a
/// data frame. A window that closes costs throughput here: 100 ms are twelve segments.
fn over_a_lossy_hop(sender: &str, mode: BaseStationMode) -> TcpMeasures {
    let tcp = FlowKind::Tcp { bytes: None, window: Some(40), segment_bytes: Some(1400) };
    let mut scenario = behind_a_base_station(vec![flow(0, 2, 0.0, tcp)], 120.0);
    scenario.wired = vec![WiredLink { rate_bps: 1e7, delay_s: 0.05, queue_packets: 50, ..link(0, 1) }];
    scenario.params.radio.bit_error_rate = 2e-6;
    (scenario.params.mac.rts_threshold_bytes, scenario.params.mac.long_retry_limit) = (0, 1);
    assert!(scenario.params.tcp.apply_sender(sender));
    scenario.params.tcp.base_station = mode;
    match result(&scenario).flows.remove(0).measures {
        FlowMeasures::Tcp(tcp) => tcp,
        other => panic!("it is TCP: {other:?}"),
    }
}

/// What guesses are compared with: a wire's short queue is congestion, errors of bits are not. Only who
/// guesses is measured.
#[test]
fn guesses_are_compared_with_what_lost_the_segments() {
    let guessed = |sender: &str, bit_error_rate, queue_packets| {
        let tcp = FlowKind::Tcp { bytes: None, window: Some(40), segment_bytes: Some(1400) };
        let mut scenario = behind_a_base_station(vec![flow(0, 2, 0.0, tcp)], 60.0);
        scenario.wired = vec![WiredLink { rate_bps: 1e6, delay_s: 0.02, queue_packets, ..link(0, 1) }];
        scenario.params.radio.bit_error_rate = bit_error_rate;
        scenario.params.mac.repeats_damaged = false;
        assert!(scenario.params.tcp.apply_sender(sender));
        let result = result(&scenario);
        assert_eq!(result.flows[0].guesses.is_some(), result.totals.guesses.is_some());
        result.flows[0].guesses
    };
    assert_eq!(guessed("newreno", 2e-6, 10), None);
    for sender in ["predict-vegas", "predict-ndg", "predict-ntg", "predict-arrivals"] {
        let radio = guessed(sender, 2e-6, 100).expect("it guesses");
        assert!(radio.judged_wireless_losses > 20, "{sender}: {radio:?}");
        assert_eq!((radio.judged_congestion_losses, radio.congestion_accuracy), (0, None), "{sender}");
        let queue = guessed(sender, 0.0, 10).expect("it guesses");
        assert!(queue.judged_congestion_losses > 20, "{sender}: {queue:?}");
        assert_eq!((queue.judged_wireless_losses, queue.wireless_accuracy), (0, None), "{sender}");
    }
}

/// Snoop hides the losses of the radio from the sender; a link layer that lets duplicate ACKs pass repairs
/// them, and so does the sender; with explicit notification the sender repairs them with its window open.
#[test]
fn a_base_station_hides_or_explains_what_its_radio_loses() {
    let alone = over_a_lossy_hop("reno", BaseStationMode::None);
    let arq = over_a_lossy_hop("reno", BaseStationMode::Arq);
    let snoop = over_a_lossy_hop("reno", BaseStationMode::Snoop);
    let eln = over_a_lossy_hop("eln", BaseStationMode::Eln);
    assert!(alone.timeouts > 5 && alone.fast_retransmits > 50, "{alone:?}");
    assert!(arq.timeouts == 0 && arq.fast_retransmits > 50, "{arq:?}");
    assert_eq!((snoop.timeouts, snoop.retransmissions), (0, 0), "{snoop:?}");
    assert!(snoop.throughput_bps > 1.2 * arq.throughput_bps, "{snoop:?} {arq:?}");
    assert!(eln.throughput_bps > 1.2 * alone.throughput_bps, "{eln:?} {alone:?}");
    // In order and in time: there are no duplicate ACKs that the sender could take for congestion.
    let airmail = over_a_lossy_hop("reno", BaseStationMode::Airmail);
    assert_eq!((airmail.timeouts, airmail.retransmissions), (0, 0), "{airmail:?}");
    assert!(airmail.throughput_bps > 1.2 * arq.throughput_bps, "{airmail:?} {arq:?}");
}

/// AIRMAIL serves datagrams as well: what the radio loses arrives, once. Its packets of parity stay behind
/// the data of which they are the parity, though they are no data; without losses there are none.
#[test]
fn airmail_brings_datagrams_that_the_radio_loses() {
    let measured = |mode, bit_error_rate| {
        let mut scenario = behind_a_base_station(vec![flow(0, 2, 0.0, cbr(1000, 0.02))], 60.0);
        scenario.wired = vec![WiredLink { rate_bps: 1e7, queue_packets: 50, ..link(0, 1) }];
        scenario.params.radio.bit_error_rate = bit_error_rate;
        scenario.params.mac.repeats_damaged = false;
        scenario.params.tcp.base_station = mode;
        result(&scenario)
    };
    let alone = measured(BaseStationMode::None, 1e-5).totals.cbr_delivery_fraction.expect("CBR");
    assert!((0.88..0.95).contains(&alone), "8 % are to be lost: {alone}");
    let airmail = measured(BaseStationMode::Airmail, 1e-5);
    let delivered = airmail.totals.cbr_delivery_fraction.expect("CBR");
    assert!((0.9995..=1.0).contains(&delivered), "but for those under way at the end: {delivered}");
    // A packet and its status, each with its acknowledgement.
    let clean = measured(BaseStationMode::Airmail, 0.0);
    assert_eq!(clean.drops, []);
    assert!((clean.totals.mac_frames_per_s - 200.0).abs() < 1.0, "{}", clean.totals.mac_frames_per_s);
}
