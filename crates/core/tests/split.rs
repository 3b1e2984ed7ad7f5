//! Base stations that split connections (I-TCP, M-TCP), in whole runs.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Presence, Trajectory};
use manetlab_core::observe::{FlowMeasures, RunResult, TcpMeasures};
use manetlab_core::scenario::{FlowKind, Scenario, WiredLink};
use manetlab_core::simulation::run;
use manetlab_core::transport::tcp::{BaseStationMode, SplitSender};

use common::{chain, flow};

/// A transfer between a host, which has a wire of this rate and 20 ms to a base station, and a mobile node
/// 100 m from that.
fn transfer((src, dst): (u32, u32), rate_bps: f64, bytes: Option<u64>, mode: BaseStationMode) -> Scenario {
    let tcp = FlowKind::Tcp { bytes, window: Some(40), segment_bytes: None };
    let movement = [-50_000.0, 0.0, 100.0].map(|x| Trajectory::fixed(x, 0.0)).to_vec();
    let wire = WiredLink { nodes: [0, 1], rate_bps, delay_s: 0.02, queue_packets: 100 };
    let mut scenario =
        Scenario { movement, wired: vec![wire], ..chain(2, vec![flow(src, dst, 0.0, tcp)], 60.0) };
    scenario.params.tcp.base_station = mode;
    scenario
}

fn lossy(mut scenario: Scenario) -> Scenario {
    scenario.params.radio.bit_error_rate = 5e-6;
    scenario.params.mac.repeats_damaged = false;
    scenario
}

fn result(scenario: &Scenario) -> RunResult {
    run(scenario, false).expect("the scenario runs, and its books balance").result
}

fn tcp(result: &RunResult) -> &TcpMeasures {
    match &result.flows[0].measures {
        FlowMeasures::Tcp(tcp) => tcp,
        other => panic!("it is TCP: {other:?}"),
    }
}

fn acked_undelivered(result: &RunResult) -> (u64, u64) {
    let split = result.flows[0].split.expect("a base station splits it");
    (split.acked_undelivered_bytes, split.acked_undelivered_max_bytes)
}

/// Without losses a split connection carries what the slower side carries: the radio alone, or the wire,
/// whose segments of 1460 bytes take 40 bytes more.
#[test]
fn without_losses_the_slower_side_decides() {
    let alone = result(&transfer((1, 2), 1e7, None, BaseStationMode::Split));
    assert_eq!(alone.flows[0].split, None, "a base station's own flows are not split");
    let radio_bps = tcp(&alone).throughput_bps;
    for ends in [(0, 2), (2, 0)] {
        let fast = result(&transfer(ends, 1e7, None, BaseStationMode::Split));
        assert!((tcp(&fast).throughput_bps / radio_bps - 1.0).abs() < 0.02, "{radio_bps} {fast:?}");
        let slow = result(&transfer(ends, 3e5, None, BaseStationMode::Split));
        let wire_bps = 3e5 * 1460.0 / 1500.0;
        assert!((tcp(&slow).throughput_bps / wire_bps - 1.0).abs() < 0.02, "{wire_bps} {slow:?}");
    }
    for rate_bps in [1e7, 3e5] {
        let split = result(&transfer((0, 2), rate_bps, None, BaseStationMode::Split));
        let supervised = result(&transfer((0, 2), rate_bps, None, BaseStationMode::MTcp));
        let ratio = tcp(&supervised).throughput_bps / tcp(&split).throughput_bps;
        assert!((ratio - 1.0).abs() < 0.02, "{split:?} {supervised:?}");
    }
}

/// The radio's losses are repaired at the base station: a host on the wire never sends anything twice, and so
/// never halves its window.
#[test]
fn the_wired_side_learns_nothing_of_losses_on_the_radio() {
    let split = result(&lossy(transfer((0, 2), 1e7, None, BaseStationMode::Split)));
    let whole = result(&lossy(transfer((0, 2), 1e7, None, BaseStationMode::None)));
    let calm = tcp(&split);
    assert_eq!((calm.retransmissions, calm.timeouts, calm.fast_retransmits), (0, 0, 0));
    assert!(tcp(&whole).retransmissions > 20, "{whole:?}");
    assert!(calm.throughput_bps > 1.2 * tcp(&whole).throughput_bps, "{split:?} {whole:?}");
}

/// A buffer of ten segments bounds what is acknowledged and not delivered; it is full while the radio is
/// the slower side, and empty when a transfer has come to its end.
#[test]
fn what_is_acknowledged_and_not_delivered_is_in_the_buffer() {
    let mut endless = transfer((0, 2), 1e7, None, BaseStationMode::Split);
    endless.params.tcp.split_buffer_bytes = 14_600;
    let (at_end, most) = acked_undelivered(&result(&endless));
    assert!(at_end > 0 && at_end <= most && most <= 14_600, "{at_end} {most}");
    let short = result(&lossy(transfer((0, 2), 1e7, Some(300_000), BaseStationMode::Split)));
    assert_eq!(tcp(&short).delivered_bytes, 300_000);
    let (at_end, most) = acked_undelivered(&short);
    assert!(at_end == 0 && most > 14_600 && most <= 65_536, "{at_end} {most}");
    let whole = result(&transfer((0, 2), 1e7, Some(300_000), BaseStationMode::Snoop));
    assert_eq!(whole.flows[0].split, None);
}

/// The source is told that its transfer is complete, and the mobile never has what was in the buffer when the
/// base station crashed.
#[test]
fn a_crash_loses_what_was_acknowledged() {
    let mut scenario = transfer((0, 2), 1e7, Some(60_000), BaseStationMode::Split);
    let whole = result(&scenario);
    let acked_s = tcp(&whole).completed_s.expect("the transfer ends");
    scenario.movement[1].crashes = vec![Time::from_secs(acked_s + 0.001)];
    let crashed = result(&scenario);
    assert_eq!(tcp(&crashed).completed_s, Some(acked_s));
    let (lost, _) = acked_undelivered(&crashed);
    assert!(lost > 0, "{crashed:?}");
    assert_eq!(tcp(&crashed).delivered_bytes + lost, 60_000);
}

/// With a second sender that has SACK the mobile's ACKs carry it; the host has Reno.
#[test]
fn the_second_connection_may_have_another_sender() {
    let with = |sender| {
        let mut scenario = lossy(transfer((0, 2), 1e7, None, BaseStationMode::Split));
        scenario.params.tcp.split_sender = sender;
        scenario.params.radio.bit_error_rate = 1e-5;
        tcp(&result(&scenario)).throughput_bps
    };
    assert!(with(SplitSender::Sack) > 1.1 * with(SplitSender::Tahoe));
}

/// The mobile is off for ten seconds. With M-TCP the host has no timeout, and data flow again a second after
/// the mobile is back at the latest; nothing is acknowledged that has not arrived, where I-TCP's buffer is
/// full at that time.
#[test]
fn a_disconnection_costs_a_supervised_host_its_time_alone() {
    let interrupted = |mode| {
        let mut scenario = transfer((0, 2), 1e7, None, mode);
        let there =
            |from_s, until_s| Presence { from: Time::from_secs(from_s), until: Time::from_secs(until_s) };
        scenario.movement[2].present = vec![there(0.0, 20.0), there(30.0, 1000.0)];
        result(&scenario)
    };
    let [whole, split, supervised] =
        [BaseStationMode::None, BaseStationMode::Split, BaseStationMode::MTcp].map(interrupted);
    let (price, ours) = (acked_undelivered(&split), acked_undelivered(&supervised));
    assert!(price.1 > 50_000 && ours == (0, 0), "{price:?} {ours:?}");
    let calm = tcp(&supervised);
    assert_eq!((calm.timeouts, calm.fast_retransmits), (0, 0));
    assert!(tcp(&whole).timeouts >= 3, "{whole:?}");
    let gap_s = calm.longest_gap_s;
    assert!((10.0..11.1).contains(&gap_s), "{gap_s}");
    assert!(calm.delivered_bytes > tcp(&whole).delivered_bytes, "{supervised:?} {whole:?}");
}

/// The last segment waits for the release, and the source has all acknowledgements that the transfer needs.
#[test]
fn a_supervised_transfer_ends_when_the_last_segment_is_released() {
    let completed_s = |release_s| {
        let mut scenario = transfer((0, 2), 1e7, Some(300_000), BaseStationMode::MTcp);
        scenario.params.tcp.m_tcp_release_s = release_s;
        let ended = result(&scenario);
        assert_eq!(tcp(&ended).delivered_bytes, 300_000);
        tcp(&ended).completed_s.expect("the transfer ends")
    };
    let waits_s = completed_s(0.4) - completed_s(0.1);
    assert!((waits_s - 0.3).abs() < 0.05, "{waits_s}");
}

/// Whatever the radio loses, M-TCP's acknowledgements keep their meaning. Flows from the mobile pass.
#[test]
fn losses_do_not_change_what_a_supervised_acknowledgement_means() {
    let supervised = result(&lossy(transfer((0, 2), 1e7, None, BaseStationMode::MTcp)));
    assert_eq!(acked_undelivered(&supervised), (0, 0));
    let whole = result(&lossy(transfer((0, 2), 1e7, None, BaseStationMode::None)));
    assert_eq!((tcp(&supervised).timeouts, tcp(&supervised).fast_retransmits), (0, 0));
    assert!(tcp(&supervised).throughput_bps > tcp(&whole).throughput_bps, "{supervised:?} {whole:?}");
    let upwards = |mode| result(&transfer((2, 0), 1e7, None, mode));
    let (passing, none) = (upwards(BaseStationMode::MTcp), upwards(BaseStationMode::None));
    assert_eq!(passing.flows[0].split, None);
    assert_eq!(tcp(&passing), tcp(&none));
}
