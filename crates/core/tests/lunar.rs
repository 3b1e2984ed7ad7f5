//! LUNAR in whole networks: with a MAC, an interface queue and transports.

#![expect(clippy::expect_used, reason = "a test may say what it takes for granted, its helpers too")]

mod common;

use manetlab_core::kernel::Time;
use manetlab_core::mobility::{Command, Point, Trajectory};
use manetlab_core::observe::RecordKind;
use manetlab_core::scenario::{Flow, FlowKind, RoutingKind, Scenario};
use manetlab_core::simulation::{Outcome, run};
use manetlab_core::wire::mac::Class;

use common::{chain, flow};

/// When the diamond's first middle leaves, in s; the second has been there for a second.
const BREAK_S: f64 = 20.0;

fn lunar(set: &str, scenario: Scenario) -> Scenario {
    let params = scenario.params.clone().with_routing_set(RoutingKind::Lunar, set).expect("a listed set");
    Scenario { routing: RoutingKind::Lunar, params, ..scenario }
}

fn recorded(scenario: &Scenario) -> Outcome {
    run(scenario, true).expect("it runs, and its books balance")
}

fn cbr(dst: u32, interval_s: f64) -> Flow {
    let kind = FlowKind::Cbr { bytes: 512, interval_s, random: false, max_packets: None };
    flow(0, dst, 1.0, kind)
}

fn tcp(dst: u32) -> Flow {
    let kind = FlowKind::Tcp { bytes: None, window: Some(8), segment_bytes: Some(600) };
    flow(0, dst, 1.0, kind)
}

/// From 0 to 3 over one of two nodes in the middle, the first of which leaves when the second has come.
fn diamond(flow: Flow) -> Scenario {
    let jump = |at_s: f64, x: f64, y: f64| Command::Jump { at: Time::from_secs(at_s), to: Point { x, y } };
    let away = jump(BREAK_S, 9000.0, 0.0);
    let comes = jump(BREAK_S - 1.0, 180.0, -100.0);
    let movement = vec![
        Trajectory::fixed(0.0, 0.0),
        Trajectory { commands: vec![away], ..Trajectory::fixed(180.0, 100.0) },
        Trajectory { commands: vec![comes], ..Trajectory::fixed(9500.0, 0.0) },
        Trajectory::fixed(360.0, 0.0),
    ];
    Scenario { movement, ..chain(3, vec![flow], 60.0) }
}

/// When data packets reached node 3, in s.
fn arrivals(outcome: &Outcome) -> Vec<f64> {
    let records = outcome.recording.as_ref().expect("asked for").records();
    let arrived = records.iter().filter(|record| {
        record.node.0 == 3 && matches!(&record.kind, RecordKind::Delivered(note) if note.is_data())
    });
    arrived.map(|record| record.time.as_secs()).collect()
}

fn longest_gap(times: &[f64]) -> f64 {
    times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
}

/// Requests that each node sent.
fn requests(outcome: &Outcome, nodes: u32) -> Vec<usize> {
    let records = outcome.recording.as_ref().expect("asked for").records();
    let is_request = |kind: &RecordKind| matches!(kind, RecordKind::SentDown(note, to) if !note.is_data() && to.is_broadcast());
    (0..nodes)
        .map(|node| records.iter().filter(|record| record.node.0 == node && is_request(&record.kind)).count())
        .collect()
}

/// Of a chain of four: one flood for a flow every 3 s and a round trip, in which both nodes in the middle
/// repeat the request; with data that flows, one flood in all of the opportunistic variant.
#[test]
fn a_chain_is_flooded_every_three_seconds_or_once() {
    for (set, floods) in [("standard", 10), ("opportunistic", 1)] {
        let outcome = recorded(&lunar(set, chain(3, vec![cbr(3, 0.1)], 31.0)));
        assert_eq!(requests(&outcome, 4), [floods, floods, floods, 0], "{set}");
        assert_eq!(arrivals(&outcome).len(), 300, "{set}: all that was sent arrives");
    }
}

#[test]
fn addresses_come_with_requests_and_replies_so_that_nobody_asks_arp() {
    let outcome = recorded(&lunar("standard", chain(3, vec![tcp(3)], 10.0)));
    let records = outcome.recording.as_ref().expect("asked for").records();
    let is_arp = |kind: &RecordKind| matches!(kind, RecordKind::Frame { class: Class::Arp, .. });
    assert!(!records.iter().any(|record| is_arp(&record.kind)));
    assert!(arrivals(&outcome).len() > 100, "TCP's data arrives all the same");
    let plain = Scenario { routing: RoutingKind::Aodv, ..chain(3, vec![tcp(3)], 10.0) };
    let of_aodv = recorded(&plain).recording.expect("asked for");
    assert!(of_aodv.records().iter().any(|record| is_arp(&record.kind)), "the frames would be seen");
}

#[test]
fn an_outage_of_udp_lasts_three_seconds_and_a_discovery() {
    let arrived = arrivals(&recorded(&lunar("standard", diamond(cbr(3, 0.05)))));
    assert!(*arrived.last().expect("some") > 59.0);
    assert!(longest_gap(&arrived) < 3.2, "{} s", longest_gap(&arrived));
}

/// Its source's packets keep the path alive that is broken.
#[test]
fn opportunistic_lunar_does_not_recover_under_udp() {
    for interval_s in [0.05, 2.5] {
        let arrived = arrivals(&recorded(&lunar("opportunistic", diamond(cbr(3, interval_s)))));
        assert!(arrived.len() > 5 && *arrived.last().expect("some") < BREAK_S + 0.1, "{arrived:?}");
    }
    let slow = arrivals(&recorded(&lunar("opportunistic", diamond(cbr(3, 3.5)))));
    assert!(*slow.last().expect("some") > 55.0, "slower than one packet in 3 s it does");
}

/// The retransmission timeout doubles until two segments are 3 s apart; the path has gone by then.
#[test]
fn opportunistic_lunar_recovers_under_tcp_after_three_seconds_of_silence() {
    let arrived = arrivals(&recorded(&lunar("opportunistic", diamond(tcp(3)))));
    let gap = longest_gap(&arrived);
    assert!(*arrived.last().expect("some") > 59.9);
    // Timeouts of 1, 2 and 4 s after the break: the third is the first that finds the path gone.
    assert!((3.0..8.5).contains(&gap), "{gap} s");
}

/// What TCP-BuS keeps on the way goes on from there, and finds its own path.
#[test]
fn packets_that_a_stage_has_kept_go_on() {
    for sender in ["tcp-bus", "elfn", "reno"] {
        let mut scenario = lunar("standard", diamond(tcp(3)));
        assert!(scenario.params.tcp.apply_sender(sender), "{sender}");
        assert!(*arrivals(&recorded(&scenario)).last().expect("some") > 59.0, "{sender}");
    }
}
